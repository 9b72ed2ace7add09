"""Matrices of pass rates (models × tasks), classes of tasks, and tasks that look wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from passk_cli.arrays import Floats, Ints, group_by
from passk_cli.commands.tasks.item_rest_correlations import item_rest_correlations
from passk_cli.inference.adjust import benjamini_hochberg
from passk_cli.inference.binomial_rate import further_passes_needed, rate_limits
from passk_cli.limits import MOST_SPARSE_TABLE_CELLS, refuse_too_many
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Estimate
from passk_cli.report.phrases import natural_key
from passk_cli.study.analysis import Analysis
from passk_cli.study.flips import outcome_strips
from passk_cli.study.result import Result, SampleSize
from passk_cli.study.values import SeriesKey
from passk_cli.suggested_fix import Placeholder, SuggestedFix

# TASK_CLASSES lists the classes of a model's attempts at a task, in the order in which tasks are
# sorted.
TASK_CLASSES = (FLAKY, MISSING, FAILED, PASSED) = (
    "flaky", "missing", "failed every attempt", "passed every attempt"
)  # fmt: skip
# TASK_FINDINGS lists the findings about a task that follow from the pass rates of all models.
TASK_FINDINGS = (SUSPECT, NOBODY, EVERYBODY, PLAIN) = (
    "weaker models pass it more often", "nobody solves it", "everybody solves it", "",
)  # fmt: skip


@dataclass(frozen=True)
class TaskRateMatrix:
    """The matrix of the pass rates of all models of one group at the tasks of the group.

    counts_row_by_cell : for each model and task, the index of the row of Counts, or −1 if the model
        has no attempts at the task.
    """

    counts: Counts
    series_indices: Ints
    tasks: tuple[str, ...]
    counts_row_by_cell: Ints

    @property
    def groups(self) -> SeriesKey:
        return self.counts.series[self.series_indices[0]][1:]

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(self.counts.series[s][0] for s in self.series_indices)

    def as_matrix(self, values: NDArray[Any], missing: Any) -> NDArray[Any]:
        """Arrange values, one per row of the Counts, as a matrix (models × tasks)."""
        return np.where(self.counts_row_by_cell < 0, missing, values[self.counts_row_by_cell])

    @cached_property
    def n(self) -> Ints:
        return self.as_matrix(self.counts.n, 0)

    @cached_property
    def c(self) -> Ints:
        return self.as_matrix(self.counts.c, 0)

    @cached_property
    def rates(self) -> Floats:
        """The matrix of pass rates, which is NaN if the model has no attempts at the task."""
        return self.as_matrix(self.counts.c / self.counts.n, np.nan)

    @property
    def model_task_class_codes(self) -> Ints:
        """The class of each model at each task, as a matrix of indices into TASK_CLASSES."""
        return np.select([self.n == 0, self.c == 0, self.c == self.n], [1, 2, 3], 0)

    def easiest_and_best_first(self) -> TaskRateMatrix:
        """The matrix with the best models and the easiest tasks first.

        Tasks with equal mean rates are sorted by the models that pass them, so that equal columns
        are next to each other.
        """
        rates = self.rates.T.copy()
        best = np.argsort(-np.nanmean(rates, axis=0).round(12), kind="stable")
        rates = rates[:, best]
        means = np.asarray(np.nanmean(rates, axis=1)).round(12).tolist()
        pattern = (np.nan_to_num(rates) @ 0.5 ** np.arange(len(best))).round(12).tolist()
        hard = sorted(
            range(len(means)), key=lambda t: (-means[t], -pattern[t], natural_key(self.tasks[t]))
        )
        return replace(
            self, series_indices=self.series_indices[best], tasks=tuple(self.tasks[t]
                for t in hard),
            counts_row_by_cell=self.counts_row_by_cell[best][:, hard],
        )  # fmt: skip


def task_rate_matrices(counts: Counts) -> list[TaskRateMatrix]:
    """One matrix of pass rates per group.

    >>> from passk_cli.outcomes.counts import Counts
    >>> cells = [("m", "a", 2, 0), ("m", "b", 2, 2), ("o", "a", 2, 1), ("o", "b", 2, 2)]
    >>> (rates,) = task_rate_matrices(Counts.from_cells(cells))
    >>> rates.rates.tolist(), [TASK_CLASSES[code] for code in rates.model_task_class_codes[0]]
    ([[0.0, 1.0], [0.5, 1.0]], ['failed every attempt', 'passed every attempt'])
    >>> rates.easiest_and_best_first().models, rates.easiest_and_best_first().tasks
    (('o', 'm'), ('b', 'a'))

    Errors: ParameterError if a matrix is large and nearly all of its cells are empty.
    """
    by_group = group_by(range(len(counts.series)), lambda s: counts.series[s][1:])
    largest, tasks_in_all = max(map(len, by_group.values())), len(counts.tasks)
    refuse_too_many(
        "pairs of a model and a task",
        largest * tasks_in_all, max(MOST_SPARSE_TABLE_CELLS, 4 * len(counts.n)),
        SuggestedFix({"--model": Placeholder("NAME")}, "names some models"),
        place=f"{largest:,} models at {tasks_in_all:,} tasks",
    )  # fmt: skip
    rates = []
    for group in by_group.values():
        slices = [counts.slice_of_series(s) for s in group]
        rows = [np.arange(part.start, part.stop) for part in slices]
        tasks = np.unique(counts.task_codes[np.concatenate(rows)])
        cells = np.full((len(group), len(tasks)), -1)
        for model_cells, model_rows in zip(cells, rows, strict=True):
            model_cells[np.searchsorted(tasks, counts.task_codes[model_rows])] = model_rows
        names = tuple(counts.tasks[task] for task in tasks.tolist())
        rates.append(TaskRateMatrix(counts, np.array(group), names, cells))
    return rates


@dataclass(frozen=True, eq=False)
class LazyResults(Sequence[Result]):
    """A sequence that computes each result when the result is accessed, to save memory."""

    length: int
    make: Callable[[int], Result]

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, at: Any) -> Any:
        places = range(self.length)[at]
        return self.make(places) if isinstance(places, int) else [*map(self.make, places)]


def results_per_model_and_task(
    study: Analysis, rate: float | None = None, *, by_name: bool = False
) -> Sequence[Result]:
    """One result per model and task.

    With --always, the results are sorted by the number of further passes that are needed. Without
    --always, flaky tasks come first. Tasks of the same class are sorted by rate, with rates near
    0.5 first, and then by number of attempts, with large numbers first.

    rate : the rate of --always, or None.
    by_name : whether to sort by the names of tasks instead.
    """
    counts, level = study.counts, study.confidence.level
    low, high = rate_limits(counts.n, counts.c, level)
    strips = outcome_strips(counts)
    places = np.argsort(study.series_indices_by_pass_rate, kind="stable")
    tasks = sorted(counts.tasks, key=natural_key)
    rank_of = {task: rank for rank, task in enumerate(tasks)}
    parts = []
    for group in task_rate_matrices(counts):
        missing_passes = np.zeros_like(group.n)
        if rate is not None:
            missing_passes = further_passes_needed(group.n, group.c, rate, level)
        columns = (
            group.series_indices[:, None], np.array([rank_of[task] for task in group.tasks]),
            group.n,
            group.c, group.as_matrix(low, 0.0), group.as_matrix(high, 1.0),
            group.model_task_class_codes,
            group.as_matrix(strips, ""),
            missing_passes,
        )  # fmt: skip
        parts.append([np.broadcast_to(column, group.n.shape).ravel() for column in columns])
    all_columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    series, ranks, n, c, _, _, codes, _, missing_passes = all_columns
    varied = np.where(n > 0, np.abs(c / np.maximum(n, 1) - 0.5), 1.0)
    keys = [places[series], ranks, *([] if by_name else [-n, varied, codes, missing_passes])]

    def fact(at: int) -> Result:
        values = (column[at : at + 1].tolist()[0] for column in cells)
        s, rank, n, c, lowest, highest, code, strip, more = values
        fields = {"task": tasks[rank], "passes": c, "class": TASK_CLASSES[code], "attempts": strip}
        if rate is not None:
            fields |= {"above": rate, "above_shown": int(not more), "passes_needed": more}
        return Result(
            counts.series[s], "pass rate", None,
            Estimate(c / n if n else None, low=lowest, high=highest), size=SampleSize(1, n, n),
            method="clopper-pearson", level=level, interval_flaw="" if n else "no attempts",
            extra_fields=fields,
        )  # fmt: skip

    order = np.lexsort(keys)
    cells = [column[order] for column in all_columns]
    return LazyResults(len(n), fact)


class TaskWithItemRestCorrelation(NamedTuple):
    """One task with its item–rest correlation over the models of a group.

    n, c : number of attempts and of passes of all models at the task.
    correlation, low, high, p, smallest_p, between_model_variance_share : fields of
        `ItemRestCorrelations`, or None for NaN.
    adjusted_p : p-value, adjusted for all tasks of all groups (Benjamini–Hochberg).
    """

    groups: SeriesKey
    models_in_group: int
    task: str
    models_with_attempts: int
    n: int
    c: int
    mean: float
    correlation: float | None
    low: float | None
    high: float | None
    p: float | None
    smallest_p: float | None
    between_model_variance_share: float | None
    adjusted_p: float | None
    finding: str
    level: float


def sort_all_tasks_by_suspicion(
    counts: Counts, level: float = 0.95
) -> list[TaskWithItemRestCorrelation]:
    """The tasks of every group, sorted by p-value and then by correlation.

    Undefined correlations come last. A task is suspect if its adjusted p-value is at most 1 −
    level.

    >>> from passk_cli.outcomes.counts import Counts
    >>> cells = [(f"m{i}", t, 1, int(i > 2)) for i in range(5) for t in "abc"]
    >>> first, *_ = sort_all_tasks_by_suspicion(Counts.from_cells(cells))
    >>> first.task, first.correlation, first.finding
    ('a', 1.0, '')
    """
    groups = task_rate_matrices(counts)
    items = [item_rest_correlations(group.rates, level) for group in groups]
    p = benjamini_hochberg(np.concatenate([item.p for item in items]))
    parts = np.split(p, np.cumsum([len(item.p) for item in items])[:-1])
    suspects = []
    for group, item, adjusted in zip(groups, items, parts, strict=True):
        n, c = group.n.sum(axis=0), group.c.sum(axis=0)
        significant = np.nan_to_num(adjusted, nan=1.0) <= 1 - level + 1e-12
        kinds = np.select([significant, c == 0, c == n], TASK_FINDINGS[:3], PLAIN)
        columns = (
            item.model_counts, n, c, np.nanmean(group.rates, axis=0), item.correlation, item.low,
            item.high, item.p, item.smallest_p, item.between_model_variance_share, adjusted, kinds,
        )  # fmt: skip
        for task, *row in zip(group.tasks, *(column.tolist() for column in columns), strict=True):
            cells: Sequence[Any] = [None if cell != cell else cell for cell in (*row, level)]
            suspects.append(
                TaskWithItemRestCorrelation(group.groups, len(group.series_indices), task, *cells)
            )
    return sorted(
        suspects,
        key=lambda task: (
            *(math.inf if number is None else number for number in (task.p, task.correlation)),
            TASK_FINDINGS.index(task.finding), natural_key(task.task),
        ),
    )  # fmt: skip
