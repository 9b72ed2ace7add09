"""The manual page passk(1), made from the declarations: `python -m docs.renew`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from docs.reference import sections, shared_options
from passk_cli.cli.help_text import FILE_ARGUMENT_HELP, option_row, usage
from passk_cli.cli.overview import ABOUT
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from passk_cli.commands.diagnostic_lookup import all_messages
from passk_cli.option import DeclaredOption
from passk_cli.version import RELEASE

DEMO = "passk demo runs three commands on sample data that passk contains."
PAGE = Path(__file__).parent / "passk.1"
EXITS = {
    "0": "done", "1": "a check failed", "2": "usage: an option or a value that makes no sense",
    "3": "data that cannot be used, or a message that --error made an error",
    "4": "an error of passk itself", "5": "not yet: passk watch, while more of the run may decide",
}  # fmt: skip
VARIABLES = {
    "NO_COLOR": "Colours are left out where it is set.",
    "COLUMNS": "Width of tables and help.",
    "PASSK_DEBUG": "An internal error shows its traceback.",
}


def page() -> str:
    """The page in roff."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH PASSK 1 "" "passk {RELEASE}" "User Commands"'
    yield from (".SH NAME", r"passk \- pass@k and pass^k from evaluation results")
    yield from (".SH SYNOPSIS", r"\fBpassk\fR \fICOMMAND\fR \fIFILE\fR... [\fIOPTIONS\fR]")
    yield from (".br", r"\fBpassk help\fR [\fICOMMAND\fR|\fIMESSAGE\fR|\fIWORD\fR|messages]")
    yield from (".br", r"\fBpassk demo\fR")
    yield from (".SH DESCRIPTION", _text(ABOUT), ".PP", _text(DEMO))
    yield ".SH COMMANDS"
    for name in COMMANDS:
        declaration = load_command(name)
        first, *others = declaration.help_paragraphs
        yield from (f".SS {name}", _bold(usage(name, declaration)), ".PP", _text(first))
        for paragraph in others:
            yield from (".PP", _text(paragraph))
        for title, options in sections(name):
            if title in declaration.option_names_by_title:
                yield from _options(options)
        yield from (".PP", "Examples:", ".EX", *map(_text, chain(*declaration.examples)), ".EE")
    yield from (".SH SHARED OPTIONS", "Options that several commands take.")
    for title, options in shared_options().items():
        yield f".SS {title}"
        yield from _entry("FILE...", FILE_ARGUMENT_HELP) if title == "Input" else ()
        yield from _options(options)
    yield ".SH MESSAGES"
    yield r"\fBpassk help\fR \fINAME\fR says more of each."
    for name, message in all_messages().items():
        yield from _entry(name, f"{message.severity}: {message.readable_template}")
    yield ".SH EXIT STATUS"
    for code, meaning in EXITS.items():
        yield from _entry(code, meaning)
    yield ".SH ENVIRONMENT"
    for name, meaning in VARIABLES.items():
        yield from _entry(name, meaning)


def _options(options: Iterable[DeclaredOption]) -> Iterator[str]:
    for option in options:
        yield from _entry(*option_row(option, full=True))


def _entry(left: str, right: str) -> Iterator[str]:
    yield from (".TP", _bold(left), _text(right))


def _bold(text: str) -> str:
    return rf"\fB{_text(text)}\fR"


def _text(text: str) -> str:
    """Text in which nothing is a command of roff."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("`", r"\(ga")
    text = text.replace("^", r"\(ha").replace("~", r"\(ti").replace("'", r"\(aq")
    return re.sub(r"^\.", r"\\&.", text)
