"""Attempts: what the attempts of each cell were, besides passing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from passk_cli.arrays import Ints, NDArray


@dataclass(frozen=True, eq=False)
class Attempts:
    """The distinct values of each cell's attempts, and how often each came.

    start : int (cells + 1,); rows start[i] … start[i+1]−1 belong to cell i, sorted by value.  Of
        amounts a cell may have none, or those of some of its attempts: the others are gaps.
    value : a score (float); dollars, tokens, seconds or turns (float ≥ 0; NaN, which comes last,
        for an amount that is not known); the code of an answer or a solution (int, −1 for none); or
        what orders the attempts: their number, or their time in seconds (float).
    count : int ≥ 1, attempts of the cell with this value.  passed : int, how many of those passed.
    valueless : attempts without a value, which have code −1.
    unparsed : attempts whose solution is no Python though it was to be compared as such.

    >>> some = Attempts.from_rows([0, 0, 1], [1, 5, 7], [2, 1, 3], [1, 1, 0], cells=2)
    >>> some.start.tolist(), some.take(np.array([1, 0])).value.tolist()
    ([0, 2, 3], [7, 1, 5])
    """

    start: Ints
    value: NDArray[Any]
    count: Ints
    passed: Ints
    valueless: int = 0
    unparsed: int = 0

    @classmethod
    def from_rows(
        cls,
        cell: Any,
        value: Any,
        count: Any,
        passed: Any,
        cells: int,
        valueless: int = 0,
        unparsed: int = 0,
    ) -> Attempts:
        """From one row per cell and value, sorted by both; cells without a row have no values.

        cell : int in [0, cells).
        """
        value, count, passed = np.asarray(value), np.asarray(count), np.asarray(passed)
        start = np.searchsorted(np.asarray(cell), np.arange(cells + 1))
        return cls(start, value, count, passed, valueless, unparsed)

    @cached_property
    def cell(self) -> Ints:
        """The cell that each row belongs to."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def take(self, cells: Ints) -> Attempts:
        """Those of some cells, in the order given; a cell may come more than once."""
        sizes = np.diff(self.start)[cells]
        start = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.arange(start[-1]) + np.repeat(self.start[cells] - start[:-1], sizes)
        return self._with(start, self.value[rows], self.count[rows], self.passed[rows])

    def cell_slice(self, cells: slice) -> Attempts:
        """Those of neighbouring cells, without copying."""
        ends = self.start[cells.start : cells.stop + 1]
        rows = slice(int(ends[0]), int(ends[-1]))
        return self._with(ends - ends[0], self.value[rows], self.count[rows], self.passed[rows])

    def select_rows(self, mask: NDArray[np.bool_]) -> Attempts:
        """Those of some of the rows."""
        start = np.concatenate([[0], np.cumsum(mask)])[self.start]
        return self._with(start, self.value[mask], self.count[mask], self.passed[mask])

    def reindexed(self, new_cell: Ints, cells: int) -> Attempts:
        """The attempts of other cells: to[i] is the new index of cell i, or −1 to leave it out.

        cells : how many there are then.  Cells moved to one place are put together.
        """
        keep = new_cell[self.cell] >= 0
        cell, value = new_cell[self.cell[keep]], self.value[keep]
        order = np.lexsort((value, cell))
        cell, value = cell[order], value[order]
        first = np.ones(len(cell), dtype=bool)
        # NaN, which no number equals, is one value.
        equal = (value[1:] == value[:-1]) | ((value[1:] != value[1:]) & (value[:-1] != value[:-1]))
        first[1:] = (np.diff(cell) != 0) | ~equal
        at = np.flatnonzero(first)
        count, passed = (
            np.add.reduceat(a[keep][order], at) if len(at) else a[:0]
            for a in (self.count, self.passed)
        )
        start = np.searchsorted(cell[first], np.arange(cells + 1))
        return self._with(start, value[first], count, passed)

    @classmethod
    def concatenate(cls, parts: Sequence[Attempts]) -> Attempts:
        """Those of different cells of the same whole as one; what is said of it is the first's."""
        order = np.argsort(np.concatenate([part.cell for part in parts]), kind="stable")
        value, count, passed = (
            np.concatenate([getattr(part, column) for part in parts])[order]
            for column in ("value", "count", "passed")
        )
        start = np.sum([part.start for part in parts], axis=0)
        return parts[0]._with(start, value, count, passed)

    def _with(self, start: Ints, value: NDArray[Any], count: Ints, passed: Ints) -> Attempts:
        return replace(self, start=start, value=value, count=count, passed=passed)
