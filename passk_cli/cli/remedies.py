"""Remedies of an error as commands: the caller's own words with the options that settle it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from passk_cli.errors import PasskError
from passk_cli.files.reading.proposal import OF_COLUMNS, words_of
from passk_cli.files.request import Request
from passk_cli.message import Settle
from passk_cli.option import declared
from passk_cli.text import cut, printable, without_secrets


def with_commands(error: PasskError, words: Sequence[str]) -> str:
    """An error, and below it a command for each alternative that settles it.

    words : the command line.
    """
    place, problem, _ = error.parts
    lines = [f"error[{error.name}]: {cut(printable(f'{place}: {problem}'))}"]
    describe = ""
    if error.name in OF_COLUMNS and os.path.exists(place):
        describe = f"other columns: {shlex.join(['passk', 'describe', place])}"
    describe *= words[0] != "describe"
    alone = len(error.settles) == 1
    for settle in error.settles:
        command = shlex.join(["passk", *map(without_secrets, completed(words, settle))])
        lines.append(command if alone or not settle.why else f"{command}  {settle.why}")
    lines.append("; ".join(filter(None, [error.settles[0].why * alone, describe])))
    return "\n  ".join(printable(line) for line in lines if line)


def completed(words: Sequence[str], settle: Settle) -> list[str]:
    """A command line with the options of a remedy.

    A role that was given a column gets the new one, values are added, any other option is replaced.

    >>> settle = Settle({"fields": {"task": "case"}, "records": "runs", "by": ("arm",)})
    >>> given = "estimate a.json --field task=x --records=all --by y -k 1"
    >>> " ".join(completed(given.split(), settle))
    'estimate a.json --by y -k 1 --field task=case --records runs --by arm'
    """
    options = declared(Request)
    own = list(words[: words.index("--")] if "--" in words else words)
    rest = list(words[len(own) :])
    new = [word for option in words_of(settle) for word in option]
    for field, value in settle.options.items():
        flag, base = options[field].option.name, options[field].base
        for place in reversed(range(len(own))):
            name, equals, text = own[place].partition("=")
            if name != flag:
                continue
            width = 1 if equals or base is bool else 2
            text = text if equals else "".join(own[place + 1 : place + width])
            role = text.partition("=")[0]
            replaced = role in value if isinstance(value, dict) else base is not tuple
            repeated = base is tuple and text in value
            if field == "threshold" or repeated or (replaced and field != "where"):
                del own[place : place + width]
    return [*own, *new, *rest]
