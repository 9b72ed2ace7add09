"""Doubts about a reading: each one a declaration, with its test, its words and what settles it.

Nothing else guesses.  A doubt that is certain is an error that asks; one that is likely, a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from passk_cli.errors import DataError
from passk_cli.files.reading.doubts import attacks, errors, files, rows, settings, steps, tasks
from passk_cli.files.reading.doubts.grounds import Doubt, Finding, Grounds
from passk_cli.files.reading.doubts.settings import APART, number
from passk_cli.files.reading.layout import Batch
from passk_cli.files.roles import find
from passk_cli.message import Said

# Tasks that are enough for a test, of files larger than a sample.
CELLS = 500
_OF_ANY = (
    *tasks.DOUBTS,
    *rows.DOUBTS,
    *errors.DOUBTS,
    *attacks.DOUBTS,
    *steps.DOUBTS,
    *settings.DOUBTS,
)
DOUBTS: tuple[Doubt, ...] = (*_OF_ANY, *files.DOUBTS)

__all__ = [
    "APART",
    "CELLS",
    "DOUBTS",
    "Doubt",
    "Finding",
    "Grounds",
    "asked",
    "findings",
    "number",
    "warned",
]  # fmt: skip


def findings(grounds: Grounds) -> Iterator[Finding]:
    """Findings that contradict a reading, or make it unlikely."""
    doubts = DOUBTS if len(grounds.sources) > 1 else _OF_ANY
    for test in dict.fromkeys(doubt.test for doubt in doubts):
        yield from test(grounds)


def asked(finding: Finding, batches: Sequence[Batch]) -> DataError:
    """The error that asks what a doubt is about, of the file it names, or the first that has its
    column."""
    said, column = finding.message(**finding.fields), finding.fields.get("column", "").strip("'")
    having = [batch for batch in batches if find(column, batch.layout.kinds)] or batches
    place = finding.place or having[0].sources[0].name
    return DataError(place, said.text, name=said.name, settles=finding.settles)


def warned(finding: Finding) -> Said:
    """The warning that says a doubt."""
    return replace(finding.message(**finding.fields), settles=finding.settles)
