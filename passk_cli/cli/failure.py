"""An error: a sentence on stderr and, where the result would have been JSON, data on stdout."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from passk_cli.errors import PasskError
from passk_cli.text import printable, strict_json

EXIT_INTERNAL = 4
USAGE = "usage"
SCHEMA = "passk-error/1"


def write_failure(error: PasskError, words: Sequence[str]) -> int:
    """Say an error of ours; its exit code.

    words : the command line, which says whether data is wanted.
    """
    print(f"passk: {error}", file=sys.stderr)
    write_data(error.kind, error.parts, error.exit_code, words)
    return error.exit_code


def write_data(kind: str, parts: Sequence[str], code: int, words: Sequence[str]) -> None:
    """The error on stdout, where the command line asks for JSON; one line where for JSON lines."""
    form = json_form(words)
    if form is None:
        return
    place, problem, remedy = map(printable, parts)
    error = {"kind": kind, "place": place, "problem": problem, "remedy": remedy, "exit": code}
    indent = 2 if form == "json" else None
    sys.stdout.write(strict_json({"schema": SCHEMA, "error": error}, indent=indent) + "\n")
    sys.stdout.flush()


def json_form(words: Sequence[str]) -> str | None:
    """Which JSON a command line asks for, "json" or "jsonl", also one that cannot be understood.

    >>> json_form(["estimate", "x.csv", "-f", "json"]), json_form(["gate", "--format=jsonl"])
    ('json', 'jsonl')
    >>> json_form(["estimate", "x.csv", "-qfjson"]), json_form(["estimate", "json"])
    ('json', None)
    """
    own = list(words[: words.index("--")] if "--" in words else words)
    text = "\n".join(own)
    found = re.findall(r"(?m)^(?:--format[=\n]|-[qV]*f\n?)(.*)$", text)
    return found[-1] if found and found[-1] in ("json", "jsonl") else None
