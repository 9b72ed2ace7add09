"""passk formats: which files are read, what passes in them, and where that was learnt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from passk_cli.commands.command import Command, Question, SharedOptions

if TYPE_CHECKING:
    from passk_cli.report.model import Report, Sentence


@dataclass(frozen=True)
class Formats(Question):
    """The formats and harnesses that are recognised.

    For each format: what passes in it, and the source of its layout. A file is recognised by its
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
            "--from NAME reads files as one of these; refused: recognised, but without the outcomes"
            " of independent attempts",
            answer=(formats_answer(rows),),
        )


COMMAND = Command(Formats, (), without=("digits", "percent", "no_signature"), files="none")


def formats_answer(rows: Sequence[tuple[str, str, str]]) -> Sentence:
    """How many formats are read, and by what they are recognised."""
    refused = sum(passes.startswith("refused") for _, passes, _ in rows)
    return (
        f"{len(rows) - refused} formats are read; each file is recognised by its content, whatever"
        " its name.",
    )


def _rows() -> Iterator[tuple[str, str, str]]:
    """Name, what passes, where the layout was read; harnesses first, tables last."""
    from passk_cli.files.formats import FORMATS
    from passk_cli.files.request import TABLES

    for name, one in FORMATS.items():
        yield name, one.rule, one.source or "written by scripts, not by one harness"
    for name, source in TABLES.items():
        yield name, "outcome column: true/false, 1/0, pass/fail; scores need --threshold", source
