"""Was a column laid out over the cells, as a setting, or did it happen, as a consequence?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from passk_cli.arrays import Floats, Ints

# Random deals that an observed layout is compared with; cells and rows that are looked at.
SHUFFLES, _MOST_CELLS, _MOST_ROWS = 200, 500, 20_000
# Share of the cells in which a setting takes several values.
VARYING_SHARE = 0.2
# Ratio to random deals below which a column was certainly, or likely, laid out; cells that are
# enough to be certain, and where its values are shared out without any exception.
_CERTAIN_RATIO, _LIKELY_RATIO, _ENOUGH_CELLS, _FEW_CELLS = 0.35, 0.6, 8, 3
# Rows that are enough to say that numbers go up in each cell, beside the first one of each.
_ENOUGH_STEPS = 8


class Evenness(NamedTuple):
    """How evenly the values of a column lie over cells.

    ratio : dispersion of the counts against the median of random deals: 0 laid out, 1 by chance,
        more where cells differ.  below : whether it lies below every deal.
    p : share of deals that are as even or more.
    varies : share of the cells in which the column takes several values.
    cells : with several rows.  once : share of (cell, value) pairs with one row.
    """

    ratio: float
    is_below_all: bool
    p: float
    varying_share: float
    cells: int
    share_once: float

    @property
    def is_certain(self) -> bool:
        """Whether the column was certainly laid out."""
        enough = self.cells >= _ENOUGH_CELLS or (self.cells >= _FEW_CELLS and self.ratio == 0)
        return (
            enough
            and self.varying_share >= VARYING_SHARE
            and self.ratio < _CERTAIN_RATIO
            and self.is_below_all
        )

    @property
    def is_likely(self) -> bool:
        """Whether the column was likely laid out; few cells decide by the share of the deals."""
        few = self.cells < _ENOUGH_CELLS and self.ratio < _CERTAIN_RATIO and self.p <= 0.05
        return self.varying_share >= VARYING_SHARE and (
            few or (self.ratio < _LIKELY_RATIO and self.is_below_all)
        )


def column_evenness(cell: Ints, value: Ints, deals: int = SHUFFLES) -> Evenness:
    """How evenly the values of a column lie over cells, against deals of them to the rows.

    D = mean over the (cell, value) pairs that occur of (n(cell, value) − mean n of the value)².
    Dealt at random to the rows, D has another law: a setting that was laid out has less.  Deals end
    early where one of the first is more even than what was observed.

    cell, value : codes, one per row; a value of −1 is one of its own, a cell of −1 is none.
    At most 500 cells and 20,000 rows are looked at, the first in the order of their codes.

    >>> cell, value = np.repeat(np.arange(12), 4), np.tile([0, 0, 1, 1], 12)
    >>> column_evenness(cell, value)[:2]
    (0.0, True)
    >>> column_evenness(cell, np.random.default_rng(1).permutation(value)).is_below_all
    False
    """
    sizes = np.bincount(cell[cell >= 0], minlength=1)
    is_used = (cell >= 0) & (sizes[np.maximum(cell, 0)] > 1)
    if not is_used.any():
        return Evenness(1.0, False, 1.0, 0.0, 0, 0.0)
    _, cell = np.unique(cell[is_used], return_inverse=True)
    # Codes of cells are in no order of the rows, so that the first are any.
    ends = np.cumsum(np.bincount(cell))
    cells = min(
        _MOST_CELLS, max(int(np.searchsorted(ends, _MOST_ROWS, side="right")), 8), len(ends)
    )
    first = cell < cells
    cell = cell[first]
    _, value = np.unique(value[is_used][first], return_inverse=True)
    # The order of rows, as of files of an attempt each, must not decide.
    order = np.lexsort((value, cell))
    cell, value = cell[order], value[order]
    values = int(value.max()) + 1
    counts = np.bincount(cell * values + value, minlength=cells * values).reshape(cells, values)
    observed = _dispersion(counts)
    rng = np.random.default_rng(0)
    dispersions: list[float] = []
    for number in range(deals):
        shuffled = rng.permutation(value)
        table = np.bincount(cell * values + shuffled, minlength=cells * values)
        dispersions.append(_dispersion(table.reshape(cells, values)))
        # Neither verdict can come out any more.
        if number >= 20 and np.mean(np.array(dispersions) <= observed) > 0.3:
            break
    chance = np.array(dispersions)
    occurs = counts > 0
    return Evenness(
        observed / max(float(np.median(chance)), 1e-9) if observed > 1e-12 else 0.0,
        bool(observed < chance.min()),
        float(np.mean(chance <= observed)),
        float(np.mean(occurs.sum(1) > 1)),
        cells,
        float(np.mean(counts[occurs] == 1)),
    )


def _dispersion(counts: Ints) -> float:
    """Mean squared deviation of a value's count in the cells in which it occurs.

    counts : (cells, values).
    """
    occurs = counts > 0
    mean = counts.sum(0) / np.maximum(occurs.sum(0), 1)
    deviations: Floats = ((counts - mean) ** 2) * occurs
    return float(deviations.sum() / max(int(occurs.sum()), 1))


def counts_up(cell: Ints, numbers: Floats) -> bool:
    """Whether whole numbers go up by 1 from 0 or 1 in every cell, each once.

    cell : codes, one per row, −1 for none.  numbers : NaN where there is none.
    Edge cases: False where cells have one row each, or where fewer than 8 rows follow a first one.

    >>> cell = np.repeat(np.arange(5), 3)
    >>> counts_up(cell, np.tile([1.0, 2.0, 3.0], 5)), counts_up(cell, np.tile([1.0, 2.0, 4.0], 5))
    (True, False)
    """
    is_present = cell >= 0
    n = np.bincount(np.unique(cell[is_present], return_inverse=True)[1], minlength=1)
    if not np.isfinite(numbers[is_present]).all() or int(is_present.sum()) - len(n) < _ENOUGH_STEPS:
        return False
    # In the order of the rows of each cell, the smallest first.
    order = np.lexsort((numbers[is_present], cell[is_present]))
    places = np.arange(len(order)) - np.repeat(np.cumsum(n) - n, n)
    first = numbers[is_present][order] - places
    return bool(n.max() > 1 and np.all(first == first[0]) and first[0] in (0, 1))
