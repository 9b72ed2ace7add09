"""Test whether the values of a column were planned, like a setting, or differ by chance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from passk_cli.arrays import Floats, Ints

# The test of evenness uses SHUFFLES shuffles, at most _MOST_CELLS cells and at most _MOST_ROWS
# rows.
SHUFFLES, _MOST_CELLS, _MOST_ROWS = 200, 500, 20_000
MIN_VARYING_CELL_SHARE_IF_PLANNED = 0.2
_CERTAIN_RATIO, _LIKELY_RATIO, _ENOUGH_CELLS, _FEW_CELLS = 0.35, 0.6, 8, 3
_MIN_NON_FIRST_CELL_ROW_COUNT = 8


class ValueEvennessOverCells(NamedTuple):
    """Measures of how evenly the values of a column are distributed over cells.

    dispersion_to_shuffled_ratio : the dispersion of the counts divided by the median dispersion of
        the shuffles. The ratio is 0 if the values are planned, about 1 if the values differ by
        chance, and larger than 1 if the cells differ more than by chance.
    is_below_all_shuffles : whether the dispersion is smaller than the dispersion in every shuffle.
    p : the share of the shuffles in which the values are at least as evenly distributed as in the
        data.
    cell_share_with_several_values : the share of the cells in which the column has several values.
    cell_count : the number of cells with several rows.
    single_row_cell_value_pair_share : the share of the (cell, value) pairs that have exactly one
        row.
    """

    dispersion_to_shuffled_ratio: float
    is_below_all_shuffles: bool
    p: float
    cell_share_with_several_values: float
    cell_count: int
    single_row_cell_value_pair_share: float

    @property
    def are_values_certainly_planned(self) -> bool:
        """Whether the values are distributed so evenly that they were certainly planned."""
        enough = self.cell_count >= _ENOUGH_CELLS or (
            self.cell_count >= _FEW_CELLS and self.dispersion_to_shuffled_ratio == 0
        )
        return (
            enough
            and self.cell_share_with_several_values >= MIN_VARYING_CELL_SHARE_IF_PLANNED
            and self.dispersion_to_shuffled_ratio < _CERTAIN_RATIO
            and self.is_below_all_shuffles
        )

    @property
    def are_values_likely_planned(self) -> bool:
        """Whether the values of the column were likely planned. If there are few cells, a p-value
        of at most 0.05 can be sufficient."""
        few = (
            self.cell_count < _ENOUGH_CELLS
            and self.dispersion_to_shuffled_ratio < _CERTAIN_RATIO
            and self.p <= 0.05
        )
        return self.cell_share_with_several_values >= MIN_VARYING_CELL_SHARE_IF_PLANNED and (
            few
            or (self.dispersion_to_shuffled_ratio < _LIKELY_RATIO and self.is_below_all_shuffles)
        )


def column_evenness(cell: Ints, value: Ints, deals: int = SHUFFLES) -> ValueEvennessOverCells:
    """Measure how evenly values are distributed over cells, compared with shuffles of the rows.

    The dispersion D is the mean of (n − m)² over the (cell, value) pairs that occur. For each pair,
    n is the number of rows, and m is the mean of n over all pairs with the same value. A planned
    setting has a smaller dispersion D than shuffled values. The function stops early if many of the
    first shuffles are at least as even as the column.

    cell, value : one integer code per row. In `value`, the code −1 counts as a value. Rows with the
        code −1 in `cell` are left out. Only the first 500 cells and 20,000 rows are used, in the
        order of the cell codes.

    >>> cell, value = np.repeat(np.arange(12), 4), np.tile([0, 0, 1, 1], 12)
    >>> column_evenness(cell, value)[:2]
    (0.0, True)
    >>> column_evenness(cell, np.random.default_rng(1).permutation(value)).is_below_all_shuffles
    False
    """
    sizes = np.bincount(cell[cell >= 0], minlength=1)
    is_used = (cell >= 0) & (sizes[np.maximum(cell, 0)] > 1)
    if not is_used.any():
        return ValueEvennessOverCells(1.0, False, 1.0, 0.0, 0, 0.0)
    _, cell = np.unique(cell[is_used], return_inverse=True)
    ends = np.cumsum(np.bincount(cell))
    cells = min(
        _MOST_CELLS, max(int(np.searchsorted(ends, _MOST_ROWS, side="right")), 8), len(ends)
    )
    first = cell < cells
    cell = cell[first]
    _, value = np.unique(value[is_used][first], return_inverse=True)
    # The rows are sorted, so that the result of a check does not depend on the order of the files.
    order = np.lexsort((value, cell))
    cell, value = cell[order], value[order]
    values = int(value.max()) + 1
    counts = np.bincount(cell * values + value, minlength=cells * values).reshape(cells, values)
    observed = _mean_squared_count_deviation(counts)
    rng = np.random.default_rng(0)
    dispersions: list[float] = []
    for number in range(deals):
        shuffled = rng.permutation(value)
        table = np.bincount(cell * values + shuffled, minlength=cells * values)
        dispersions.append(_mean_squared_count_deviation(table.reshape(cells, values)))
        if number >= 20 and np.mean(np.array(dispersions) <= observed) > 0.3:
            break
    chance = np.array(dispersions)
    occurs = counts > 0
    return ValueEvennessOverCells(
        observed / max(float(np.median(chance)), 1e-9) if observed > 1e-12 else 0.0,
        bool(observed < chance.min()),
        float(np.mean(chance <= observed)),
        float(np.mean(occurs.sum(1) > 1)),
        cells,
        float(np.mean(counts[occurs] == 1)),
    )


def _mean_squared_count_deviation(counts: Ints) -> float:
    """The mean of (n − m)² over the (cell, value) pairs that occur. For each pair, n is the number
    of rows, and m is the mean of n over all pairs with the same value.

    counts : the number of rows per cell and value, with shape (cells, values).
    """
    occurs = counts > 0
    mean = counts.sum(0) / np.maximum(occurs.sum(0), 1)
    deviations: Floats = ((counts - mean) ** 2) * occurs
    return float(deviations.sum() / max(int(occurs.sum()), 1))


def is_consecutive(cell: Ints, numbers: Floats) -> bool:
    """Whether the numbers in every cell count up by 1, either from 0 or from 1 in all cells.

    The result is False if each cell has only one row. The result is also False if fewer than 8 rows
    follow another row of the same cell.

    cell : one code per row, or −1 for a row without a cell.
    numbers : one number per row, or NaN for a row without a number.

    >>> cell = np.repeat(np.arange(5), 3)
    >>> (is_consecutive(cell, np.tile([1.0, 2.0, 3.0], 5)),
    ...  is_consecutive(cell, np.tile([1.0, 2.0, 4.0], 5)))
    (True, False)
    """
    is_present = cell >= 0
    n = np.bincount(np.unique(cell[is_present], return_inverse=True)[1], minlength=1)
    if (
        not np.isfinite(numbers[is_present]).all()
        or int(is_present.sum()) - len(n) < _MIN_NON_FIRST_CELL_ROW_COUNT
    ):
        return False
    order = np.lexsort((numbers[is_present], cell[is_present]))
    places = np.arange(len(order)) - np.repeat(np.cumsum(n) - n, n)
    first = numbers[is_present][order] - places
    return bool(n.max() > 1 and np.all(first == first[0]) and first[0] in (0, 1))
