"""Pass rates of every model at every task, one by one, in order, and as a matrix per group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from passk_cli.inference.adjust import benjamini_hochberg
from passk_cli.inference.discrimination import item_rest
from passk_cli.inference.single import rate_limits
from passk_cli.outcomes.counts import Counts
from passk_cli.report.words import natural
from passk_cli.study.flips import strips_of
from passk_cli.study.values import Series

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# The classes of a task, the one that says most about chance first.
CLASSES = (FLAKY, MISSING, FAILED, PASSED) = (
    "flaky", "missing", "failed every attempt", "passed every attempt"
)  # fmt: skip
# What a task says of differences between models.
KINDS = (SUSPECT, NOBODY, EVERYBODY, PLAIN) = (
    "weaker models pass it more often", "nobody solves it", "everybody solves it", "",
)  # fmt: skip
# Cells of a heat map across, and in all; tasks share cells where there are more.
_ACROSS, _IN_ALL, _FEWEST = 160, 8_000, 50


@dataclass(frozen=True)
class TaskRates:
    """One model (and groups) at every task that some model of its groups has attempts at.

    names : of all tasks, Counts.tasks.  tasks : indices into them.
    n, c : attempts and passes of each; n = 0 where missing.
    low, high : limits of each pass rate, as `inference.single.rate_limits`; 0 and 1 where missing.
    codes : indices into CLASSES.
    strips : its attempts in their order, "+" passed and "-" failed; "" where that is not known, or
        was not asked for.
    """

    series: Series
    names: Sequence[str]
    tasks: Ints
    n: Ints
    c: Ints
    low: Floats
    high: Floats
    codes: Ints
    strips: tuple[str, ...]

    @property
    def rates(self) -> Floats:
        """c/n of each task; NaN where missing."""
        return np.where(self.n > 0, self.c / np.maximum(self.n, 1), np.nan)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Class → how many tasks."""
        return dict(zip(CLASSES, np.bincount(self.codes, minlength=4).tolist(), strict=True))

    def members(self, name: str) -> list[str]:
        """The tasks of a class, in natural order."""
        tasks = self.tasks[self.codes == CLASSES.index(name)]
        return sorted((self.names[t] for t in tasks.tolist()), key=natural)


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
    (['passed every attempt', 'flaky'], [0.292, 0.008])
    """
    low, high = rate_limits(counts.n, counts.c, level)
    texts = strips_of(counts) if strips else np.full(len(counts.n), "", dtype=object)
    cells: dict[Series, list[Ints]] = {}
    for s, series in enumerate(counts.series):
        cells.setdefault(series[1:], []).append(counts.task_codes[counts.rows_of(s)])
    of_group = {group: np.unique(np.concatenate(codes)) for group, codes in cells.items()}
    every = []
    for s in range(len(counts.series)) if order is None else order:
        series, rows = counts.series[s], counts.rows_of(s)
        tasks = of_group[series[1:]]
        at = np.searchsorted(tasks, counts.task_codes[rows])
        n, c = np.zeros((2, len(tasks)), dtype=np.int64)
        lows, highs = np.zeros(len(tasks)), np.ones(len(tasks))
        n[at], c[at], lows[at], highs[at] = counts.n[rows], counts.c[rows], low[rows], high[rows]
        own = np.full(len(tasks), "", dtype=object)
        own[at] = texts[rows]
        classes = np.select([n == 0, c == 0, c == n], [1, 2, 3], 0)
        every.append(
            TaskRates(series, counts.tasks, tasks, n, c, lows, highs, classes, tuple(own.tolist()))
        )
    return every


def _by_group(rates: Sequence[TaskRates]) -> dict[Series, list[TaskRates]]:
    groups: dict[Series, list[TaskRates]] = {}
    for each in rates:
        groups.setdefault(each.series[1:], []).append(each)
    return groups


def natural_ranks(names: Sequence[str]) -> Ints:
    """The place of each name in natural order."""
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[sorted(range(len(names)), key=lambda i: natural(names[i]))] = np.arange(len(names))
    return ranks


@dataclass(frozen=True)
class Matrix:
    """The pass rates of one group of models.

    groups : values of the group columns.  models : names, the best first.
    tasks : names, the easiest first.  rates : (tasks × models), NaN where missing.
    """

    groups: Series
    models: tuple[str, ...]
    tasks: tuple[str, ...]
    rates: Floats

    @cached_property
    def mean(self) -> Floats:
        """The mean of the models' rates at each task."""
        means: Floats = np.nanmean(self.rates, axis=1)
        return means

    @property
    def across(self) -> int:
        """How many cells of a picture a model has."""
        most = max(_FEWEST, min(_ACROSS, _IN_ALL // len(self.models)))
        return min(len(self.tasks), most)

    def cells(self) -> Iterator[dict[str, object]]:
        """A cell per model and task, or per model and several neighbouring tasks."""
        ends = np.linspace(0, len(self.tasks), self.across + 1).round().astype(int)
        there = ~np.isnan(self.rates)
        sums = np.add.reduceat(np.where(there, self.rates, 0.0), ends[:-1], axis=0)
        numbers = np.add.reduceat(there, ends[:-1], axis=0, dtype=np.int64)
        means = np.full(sums.shape, np.nan)
        np.divide(sums, numbers, out=means, where=numbers > 0)
        cells = [
            {"from": low, "to": high,
             "tasks": self.tasks[low] if high == low + 1 else f"{high - low} tasks"}
            for low, high in pairwise(ends.tolist())
        ]  # fmt: skip
        for model, rates in zip(self.models, means.T.tolist(), strict=True):
            for cell, rate in zip(cells, rates, strict=True):
                yield {"model": model, **cell, "pass rate": None if rate != rate else rate}


def matrices(counts: Counts) -> Iterator[Matrix]:
    """A matrix per group.

    Models are sorted by their mean rate, tasks by theirs; tasks that are equally hard by which
    models pass them, so that those with one pattern stand together.

    >>> from passk_cli.outcomes.counts import Counts
    >>> cells = [("m", "a", 2, 0), ("m", "b", 2, 2), ("o", "a", 2, 1), ("o", "b", 2, 2)]
    >>> (matrix,) = matrices(Counts.from_cells(cells))
    >>> matrix.models, matrix.tasks, matrix.rates.tolist()
    (('o', 'm'), ('b', 'a'), [[1.0, 1.0], [0.5, 0.0]])
    """
    for groups, models in _by_group(rates_by_task(counts)).items():
        rates = np.stack([model.rates for model in models], axis=1)
        best = np.argsort(-np.nanmean(rates, axis=0), kind="stable")
        rates = rates[:, best]
        # A pass of a better model weighs more, each model more than all that are worse together.
        weights = 0.5 ** np.arange(min(rates.shape[1], 1000))[: rates.shape[1]]
        pattern = np.nan_to_num(rates) @ weights
        ranks = natural_ranks(counts.tasks)[models[0].tasks]
        hard = np.lexsort((ranks, -pattern, -np.round(np.nanmean(rates, axis=1), 12)))
        yield Matrix(
            groups,
            tuple(models[i].series[0] for i in best.tolist()),
            tuple(counts.tasks[t] for t in models[0].tasks[hard].tolist()),
            rates[hard],
        )


class SuspectTask(NamedTuple):
    """One task of a group of models, and its evidence of differences between these.

    groups : values of the group columns.  models : of the group; tried : those with attempts.
    n, c : attempts and passes of all of them.  mean : of their pass rates.
    correlation, low, high, p, smallest, share : as in `inference.discrimination.item_rest`; None
        where there is none.
    adjusted : p by Benjamini and Hochberg over all tasks of all groups.  kind : one of KINDS.
    level : of limits and tests.
    """

    groups: Series
    task: str
    models: int
    tried: int
    n: int
    c: int
    mean: float
    correlation: float | None
    low: float | None
    high: float | None
    p: float | None
    smallest: float | None
    share: float | None
    adjusted: float | None
    kind: str
    level: float


def find_suspects(counts: Counts, level: float = 0.95) -> list[SuspectTask]:
    """Every group's tasks: smallest p first, then the lowest correlation, undefined ones last.

    A task is suspect where its adjusted p is at most 1 − level.

    >>> from passk_cli.outcomes.counts import Counts
    >>> cells = [(f"m{i}", t, 1, int(i > 2)) for i in range(5) for t in "abc"]
    >>> first, *_ = find_suspects(Counts.from_cells(cells))
    >>> first.task, first.correlation, first.kind
    ('a', 1.0, '')
    """
    by_group = _by_group(rates_by_task(counts, level))
    rates = [np.stack([model.rates for model in models]) for models in by_group.values()]
    items = [item_rest(each, level) for each in rates]
    names = ("correlation", "low", "high", "p", "smallest", "share")
    numbers = {name: np.concatenate([getattr(item, name) for item in items]) for name in names}
    numbers["adjusted"] = benjamini_hochberg(numbers["p"])
    tasks = np.concatenate([models[0].tasks for models in by_group.values()])
    n, c = (
        np.concatenate([np.sum([getattr(m, name) for m in ms], axis=0) for ms in by_group.values()])
        for name in ("n", "c")
    )
    suspect = np.nan_to_num(numbers["adjusted"], nan=1.0) <= 1 - level + 1e-12
    codes = np.select([suspect, c == 0, c == n], [0, 1, 2], 3)
    order = np.lexsort(
        (natural_ranks(counts.tasks)[tasks], codes, numbers["correlation"], numbers["p"])
    )
    groups = [groups for groups, models in by_group.items() for _ in models[0].tasks]
    sizes = [len(each) for each in rates for _ in each.T]
    tried = np.concatenate([item.models for item in items])
    means = np.concatenate([np.nanmean(each, axis=0) for each in rates])
    return [
        SuspectTask(
            groups[at], counts.tasks[tasks[at]], sizes[at], int(tried[at]), int(n[at]), int(c[at]),
            float(means[at]), kind=KINDS[codes[at]], level=level,
            **{name: None if np.isnan(v[at]) else float(v[at]) for name, v in numbers.items()},
        )
        for at in order.tolist()
    ]  # fmt: skip
