"""Options that words of another command name: a reader of the page is told whose they are."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from passk_cli.commands import command_of
from passk_cli.report.model import Report

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")


def with_options_named(report: Report, command: str) -> Report:
    """The report of a command; messages say which options `passk report` does not have.

    >>> from passk_cli.message import NOTE, Said
    >>> from passk_cli.report.model import Table
    >>> plan = Report((), Table((), ()), messages=(Said("few", NOTE, "--max-tasks limits it"),))
    >>> with_options_named(plan, "plan").messages[0].text
    '--max-tasks limits it (--max-tasks: an option of passk plan)'
    """

    def named(text: str) -> str:
        options = dict.fromkeys(_OPTION.findall(text))
        foreign = [name for name in options if name not in _own()]
        if not foreign:
            return text
        kind = "options" if len(foreign) > 1 else "an option"
        return f"{text} ({' and '.join(foreign)}: {kind} of passk {command})"

    messages = tuple(message.spelled(named) for message in report.messages)
    return replace(report, messages=messages)


@cache
def _own() -> frozenset[str]:
    """The options of `passk report`."""
    spellings = (option.flags.split() for _, option, *_ in command_of("report").options())
    return frozenset(name for names in spellings for name in names)
