"""Prints an error as text on stderr, and also as JSON on stdout if --format is json or jsonl."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from passk_cli.diagnostic import ERROR
from passk_cli.errors import PasskError
from passk_cli.render.csv_json import error_json_document


def print_error_and_return_exit_code(error: PasskError, words: Sequence[str]) -> int:
    """Print an error and return its exit code.

    words : the words of the command line, without the name of the program.
    """
    from passk_cli.cli.fix_commands import add_commands_to_error, error_text_with_commands
    from passk_cli.cli.output import print_message

    add_commands_to_error(error, words)
    print_message(error_text_with_commands(error, words), ERROR)
    form = requested_json_format(words)
    if form is not None:
        sys.stdout.write(error_json_document(error, form))
        sys.stdout.flush()
    return error.exit_code


def requested_json_format(words: Sequence[str]) -> str | None:
    """The value of --format if it is "json" or "jsonl", even if the command line is not valid.

    >>> requested_json_format(["estimate", "x.csv", "-f", "json"]), requested_json_format(["gate",
    ...     "--format=jsonl"])
    ('json', 'jsonl')
    >>> requested_json_format(["estimate", "x.csv", "-qfjson"]), requested_json_format(["estimate",
    ...     "json"])
    ('json', None)
    """
    options = list(words[: words.index("--")] if "--" in words else words)
    text = "\n".join(options)
    formats = re.findall(r"(?m)^(?:--format[=\n]|-[qV]*f\n?)(.*)$", text)
    return formats[-1] if formats and formats[-1] in ("json", "jsonl") else None
