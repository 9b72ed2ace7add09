"""passk formats: which files are read, what passes in them, and where that was learnt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from passk_cli.commands.command import Command, Question, SharedOptions

if TYPE_CHECKING:
    from passk_cli.report.model import Report


@dataclass(frozen=True)
class Formats(Question):
    """The formats and harnesses that are recognised.

    For each format: what passes in it, and where its layout was read. A file is recognised by its
    content, whatever its name.

    Example: passk formats

    Example: passk formats -f csv
    """

    def alone(self, asked: SharedOptions) -> Report:
        """The formats in the order in which a file is tried."""
        from passk_cli.report.model import Column, Report, Table

        rows = tuple(_rows())
        shown = tuple(map(Column, ("format", "what passes", "layout from")))
        names = tuple(map(Column, ("format", "passes", "source")))
        return Report(
            (Table(shown, rows),),
            Table(names, rows),
            "a file is recognised by its content, whatever its name; --from NAME forces a format",
        )


COMMAND = Command(Formats, (), without=("digits", "percent", "no_signature"), files="none")


def _rows() -> Iterator[tuple[str, str, str]]:
    """Name, what passes, where the layout was read; harnesses first, tables last."""
    from passk_cli.files.formats import FORMATS
    from passk_cli.files.request import TABLES

    for name, one in FORMATS.items():
        yield name, one.rule, one.source or "scripts write it so; no harness of its own"
    for name, source in TABLES.items():
        yield name, "the outcome column: true/false, 1/0, pass/fail; --threshold of a score", source
