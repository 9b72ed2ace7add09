"""What the views of tasks share: tables of which people see the first rows, and programs all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.message import Said
from passk_cli.report.model import Cell, Column, Report, Sentence, Table
from passk_cli.report.words import natural
from passk_cli.study.signature import signature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.report.plot import Plot
    from passk_cli.study.study import Study

# Attempts of a strip that people see.
_LONGEST = 24


@dataclass(frozen=True)
class Listing:
    """Tables for people, and all rows.

    rows, shown : how many there are, and how many of them people see.  noun : what a row is.
    """

    tables: tuple[Table, ...]
    data: Table
    rows: int
    shown: int
    noun: str = "task"

    @property
    def words(self) -> str:
        """As "first 30 of 800 tasks; -f csv has all"; "" where all are shown."""
        if self.shown >= self.rows:
            return ""
        return f"first {self.shown:,} of {self.rows:,} {self.noun}s; --rows shows more, -f csv all"


def listing_report(
    study: Study,
    listing: Listing,
    *,
    answer: tuple[Sentence, ...],
    caption: Iterable[str] = (),
    notes: Iterable[Said] = (),
    plots: Callable[[], tuple[Plot, ...]] = tuple,
    **decided: object,
) -> Report:
    """The report of a view, with what reading did and a signature.

    decided : what the numbers depend on besides the data; None leaves an entry out.
    """
    return Report(
        tables=listing.tables,
        data=listing.data,
        context=" · ".join(filter(None, (listing.words, *caption))),
        messages=tuple(dict.fromkeys((*study.messages(()), *notes))),
        signature=signature(study.counts, (), **decided, **study.decided),
        draw=plots,
        answer=answer,
    )


def strip_cell(strip: str) -> str:
    """A strip as people see it: of a long one the first attempts, and how many there are.

    >>> strip_cell("+-" * 2), strip_cell("+" * 50)[-6:]
    ('+-+-', ' of 50')
    """
    if len(strip) <= _LONGEST:
        return strip
    return f"{strip[:_LONGEST]} first {_LONGEST} of {len(strip):,}"


def table_of(columns: Sequence[tuple[str, Sequence[Cell]]]) -> Table:
    """A table of columns, each with its name; a name that comes twice is refused by the report."""
    rows = zip(*(values for _, values in columns), strict=True)
    return Table(tuple(Column(name) for name, _ in columns), tuple(rows))


def natural_ranks(names: Sequence[str]) -> NDArray[np.int64]:
    """The place of each name in that order."""
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[sorted(range(len(names)), key=lambda i: natural(names[i]))] = np.arange(len(names))
    return ranks
