"""Options that words of another command name: a reader of the page is told whose they are."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from passk_cli.commands import command_of
from passk_cli.report.model import Note, Report

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")


def with_options_named(report: Report, command: str) -> Report:
    """The report of a command; notes and caption say which options `passk report` does not have.

    >>> from passk_cli.report.model import Table
    >>> plan = Report((), Table((), ()), notes=(Note("--max-tasks limits the tasks"),))
    >>> with_options_named(plan, "plan").notes[0].text
    '--max-tasks limits the tasks (--max-tasks: an option of passk plan)'
    """
    notes = tuple(
        Note(f"{note.text} ({words})" if words else note.text, note.level)
        for note in report.notes
        for words in [_whose(note.text, command)]
    )
    words = _whose(report.caption, command)
    caption = f"{report.caption} · {words}" if words else report.caption
    return replace(report, notes=notes, caption=caption)


def _whose(text: str, command: str) -> str:
    """Whose the options in a text are, where they are not the page's."""
    named = list(dict.fromkeys(_OPTION.findall(text)))
    foreign = [name for name in named if name not in _own()]
    if not foreign:
        return ""
    plural = len(foreign) > 1
    return f"{' and '.join(foreign)}: {'options' if plural else 'an option'} of passk {command}"


@cache
def _own() -> frozenset[str]:
    """The options of `passk report`."""
    spellings = (option.flags.split() for _, option, *_ in command_of("report").options())
    return frozenset(name for names in spellings for name in names)
