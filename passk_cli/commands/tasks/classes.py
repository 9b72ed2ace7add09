"""Every model at every task: attempts, passes, limits, and what the attempts support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.inference.single import rate_limits
from passk_cli.report.words import series_name
from passk_cli.study.flips import strips_of
from passk_cli.study.values import Series

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.counts import Counts

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

# What a task can be, the one that says most about chance first.
CLASSES = (SOMETIMES, MISSING, NEVER, ALWAYS) = (
    "sometimes", "missing", "never so far", "always so far"
)  # fmt: skip


@dataclass(frozen=True)
class TaskRates:
    """One model (and groups) at every task that some model of its groups has attempts at.

    tasks : indices into Counts.tasks.  n, c : attempts and passes of each; n = 0 where missing.
    low, high : limits of each pass rate, as `inference.single.rate_limits`; 0 and 1 where missing.
    codes : indices into CLASSES.
    strips : its attempts in their order, "+" passed and "-" failed; "" where that is not known, or
        was not asked for.
    """

    series: Series
    tasks: Ints
    n: Ints
    c: Ints
    low: Floats
    high: Floats
    codes: Ints
    strips: tuple[str, ...]

    @property
    def name(self) -> str:
        """The model and its groups, for people."""
        return series_name(self.series)

    @property
    def rates(self) -> Floats:
        """c/n of each task; NaN where missing."""
        return np.where(self.n > 0, self.c / np.maximum(self.n, 1), np.nan)

    def numbers(self) -> dict[str, int]:
        """Class → how many tasks."""
        return dict(zip(CLASSES, np.bincount(self.codes, minlength=4).tolist(), strict=True))


def rates_by_task(
    counts: Counts,
    level: float = 0.95,
    order: Sequence[int] | None = None,
    *,
    strips: bool = False,
) -> list[TaskRates]:
    """Every series at every task of its group.

    level : of the limits, in (0, 1).  order : indices of series; None for all as they are.
    strips : whether those of the result are needed.

    >>> from passk_cli.outcomes.counts import Counts
    >>> (rates,) = rates_by_task(Counts.from_cells([("m", "a", 3, 3), ("m", "b", 3, 1)]))
    >>> [CLASSES[code] for code in rates.codes], rates.low.round(3).tolist()
    (['always so far', 'sometimes'], [0.292, 0.008])
    """
    low, high = rate_limits(counts.n, counts.c, level)
    texts = strips_of(counts) if strips else np.full(len(counts.n), "", dtype=object)
    of_group = _tasks_of_groups(counts)
    every = []
    for s in range(len(counts.series)) if order is None else order:
        series, rows = counts.series[s], counts.rows_of(s)
        tasks = of_group[series[1:]]
        at = np.searchsorted(tasks, counts.task_codes[rows])
        n, c = np.zeros((2, len(tasks)), dtype=np.int64)
        lows, highs = np.zeros(len(tasks)), np.ones(len(tasks))
        n[at], c[at], lows[at], highs[at] = counts.n[rows], counts.c[rows], low[rows], high[rows]
        codes = np.select([n == 0, c == 0, c == n], [1, 2, 3], 0)
        own = np.full(len(tasks), "", dtype=object)
        own[at] = texts[rows]
        every.append(TaskRates(series, tasks, n, c, lows, highs, codes, tuple(own.tolist())))
    return every


def _tasks_of_groups(counts: Counts) -> dict[Series, Ints]:
    """Groups → the tasks that some model of them has attempts at."""
    groups = [series[1:] for series in counts.series]
    names = list(dict.fromkeys(groups))
    codes = np.array([names.index(group) for group in groups], dtype=np.int64)
    of_cell = codes[counts.series_codes]
    return {
        group: np.unique(counts.task_codes[of_cell == place]) for place, group in enumerate(names)
    }
