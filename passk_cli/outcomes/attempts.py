"""Data of single attempts, for example scores, costs or answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from passk_cli.arrays import Ints, NDArray


@dataclass(frozen=True, eq=False)
class AttemptValuesByCell:
    """The distinct values of the attempts of each cell, and how often each value occurs.

    A cell is one model at one task.

    cell_offsets : the offset of each cell, and one end offset.  The rows cell_offsets[i] …
        cell_offsets[i+1] − 1 belong to cell i and are sorted by value.  An attempt without a known
        amount may have no row.
    value : a score (float), an amount (float ≥ 0, or NaN if unknown), the code of an answer or a
        solution (int, or −1 if missing), or the number or time of an attempt (float).
    count : for each row, the number of attempts of the cell with this value, at least 1.
    pass_count : for each row, the number of attempts of the cell with this value that passed.
    valueless : number of attempts without an answer or a solution (code −1).
    unparsed : number of attempts with a solution that passk could not parse as Python.

    >>> some = AttemptValuesByCell.from_rows([0, 0, 1], [1, 5, 7], [2, 1, 3], [1, 1, 0], cells=2)
    >>> some.cell_offsets.tolist(), some.take_cells(np.array([1, 0])).value.tolist()
    ([0, 2, 3], [7, 1, 5])
    """

    cell_offsets: Ints
    value: NDArray[Any]
    count: Ints
    pass_count: Ints
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
    ) -> AttemptValuesByCell:
        """Make AttemptValuesByCell from rows that are sorted by cell and then by value, with one
        row for each value of a cell.

        cell : for each row, the index of its cell, from 0 to cells − 1.
        """
        value, count, passed = np.asarray(value), np.asarray(count), np.asarray(passed)
        start = np.searchsorted(np.asarray(cell), np.arange(cells + 1))
        return cls(start, value, count, passed, valueless, unparsed)

    @cached_property
    def row_cell_indices(self) -> Ints:
        """For each row, the index of its cell."""
        return np.repeat(np.arange(len(self.cell_offsets) - 1), np.diff(self.cell_offsets))

    def take_cells(self, cells: Ints) -> AttemptValuesByCell:
        """The attempts of the given cells, in the order of these cells.  The same cell may be given
        more than once."""
        sizes = np.diff(self.cell_offsets)[cells]
        start = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.arange(start[-1]) + np.repeat(self.cell_offsets[cells] - start[:-1], sizes)
        return self._with_rows(start, self.value[rows], self.count[rows], self.pass_count[rows])

    def slice_cells(self, cells: slice) -> AttemptValuesByCell:
        """The attempts of a range of cells, as views of the arrays instead of copies."""
        ends = self.cell_offsets[cells.start : cells.stop + 1]
        rows = slice(int(ends[0]), int(ends[-1]))
        return self._with_rows(
            ends - ends[0], self.value[rows], self.count[rows], self.pass_count[rows]
        )

    def select_rows(self, mask: NDArray[np.bool_]) -> AttemptValuesByCell:
        """The attempts in the rows that the mask selects."""
        start = np.concatenate([[0], np.cumsum(mask)])[self.cell_offsets]
        return self._with_rows(start, self.value[mask], self.count[mask], self.pass_count[mask])

    def with_new_cell_indices(self, new_cell: Ints, cells: int) -> AttemptValuesByCell:
        """The same attempts with new indices of their cells.  Cells that get the same new index are
        merged.

        new_cell : new index of each cell, or −1 to drop the cell.  cells : the new number of cells.
        """
        keep = new_cell[self.row_cell_indices] >= 0
        cell, value = new_cell[self.row_cell_indices[keep]], self.value[keep]
        order = np.lexsort((value, cell))
        cell, value = cell[order], value[order]
        first = np.ones(len(cell), dtype=bool)
        # All NaNs of a cell are one value, although NaN is not equal to NaN.
        equal = (value[1:] == value[:-1]) | ((value[1:] != value[1:]) & (value[:-1] != value[:-1]))
        first[1:] = (np.diff(cell) != 0) | ~equal
        at = np.flatnonzero(first)
        count, passed = (
            np.add.reduceat(a[keep][order], at) if len(at) else a[:0]
            for a in (self.count, self.pass_count)
        )
        start = np.searchsorted(cell[first], np.arange(cells + 1))
        return self._with_rows(start, value[first], count, passed)

    @classmethod
    def concatenate(cls, parts: Sequence[AttemptValuesByCell]) -> AttemptValuesByCell:
        """The attempts of several parts together.  No two parts may have attempts in the same cell.

        `valueless` and `unparsed` are copied from the first part.
        """
        order = np.argsort(np.concatenate([part.row_cell_indices for part in parts]), kind="stable")
        value, count, passed = (
            np.concatenate([getattr(part, column) for part in parts])[order]
            for column in ("value", "count", "pass_count")
        )
        start = np.sum([part.cell_offsets for part in parts], axis=0)
        return parts[0]._with_rows(start, value, count, passed)

    def _with_rows(
        self, start: Ints, value: NDArray[Any], count: Ints, passed: Ints
    ) -> AttemptValuesByCell:
        return replace(self, cell_offsets=start, value=value, count=count, pass_count=passed)
