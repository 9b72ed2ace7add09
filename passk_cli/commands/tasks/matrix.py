"""All tasks and all models at once: pass rates, both sorted so that structure shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.commands.tasks.classes import TaskRates, rates_by_task
from passk_cli.commands.tasks.listing import Listing, listing_report, natural_ranks
from passk_cli.report.model import Cell, Column, Report, Table
from passk_cli.report.plot import Plot, heat
from passk_cli.report.words import plural, series_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.counts import Counts
    from passk_cli.study.study import Study
    from passk_cli.study.values import Series

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

# Cells of a heat map across, and in all; tasks share cells where there are more.
_ACROSS, _IN_ALL, _FEWEST = 160, 8_000, 50


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


def matrices(counts: Counts) -> list[Matrix]:
    """A matrix per group.

    Models are sorted by their mean rate, tasks by theirs; tasks that are equally hard by which
    models pass them, so that those with one pattern stand together.

    >>> from passk_cli.outcomes.counts import Counts
    >>> cells = [("m", "a", 2, 0), ("m", "b", 2, 2), ("o", "a", 2, 1), ("o", "b", 2, 2)]
    >>> (matrix,) = matrices(Counts.from_cells(cells))
    >>> matrix.models, matrix.tasks, matrix.rates.tolist()
    (('o', 'm'), ('b', 'a'), [[1.0, 1.0], [0.5, 0.0]])
    """
    by_group: dict[Series, list[TaskRates]] = {}
    for each in rates_by_task(counts):
        by_group.setdefault(each.series[1:], []).append(each)
    return [_sorted(counts, groups, models) for groups, models in by_group.items()]


def _sorted(counts: Counts, groups: Series, models: Sequence[TaskRates]) -> Matrix:
    rates = np.stack([model.rates for model in models], axis=1)
    best = np.argsort(-np.nanmean(rates, axis=0), kind="stable")
    rates = rates[:, best]
    filled = np.nan_to_num(rates)
    # A pass of a better model weighs more, each model more than all that are worse together.
    pattern = filled @ 0.5 ** np.arange(min(rates.shape[1], 1000))[: rates.shape[1]]
    ranks = natural_ranks(counts.tasks)[models[0].tasks]
    hard = np.lexsort((ranks, -pattern, -np.round(np.nanmean(rates, axis=1), 12)))
    return Matrix(
        groups,
        tuple(models[i].series[0] for i in best.tolist()),
        tuple(counts.tasks[t] for t in models[0].tasks[hard].tolist()),
        rates[hard],
    )


def matrix_report(study: Study, rows: int) -> Report:
    """A row per task and a column per model."""
    every = matrices(study.counts)
    total = sum(len(matrix.tasks) for matrix in every)
    data = _table(study, every, total)
    return listing_report(
        study,
        Listing((_table(study, every, rows, joint=True),), data, total, min(rows, total)),
        answer=_answer(every),
        context=("pass rates; models: the best first; tasks: the easiest first",),
        plots=partial(heat_maps, study),
    )


def _table(study: Study, every: Sequence[Matrix], rows: int, *, joint: bool = False) -> Table:
    """The first rows; joint : with the mean over the models behind the task."""
    models = list(dict.fromkeys(model for matrix in every for model in matrix.models))
    heads = [*study.counts.group_names, "task", *["models' mean"] * joint]
    names = [f"{model} (model)" if model in heads else model for model in models]
    columns = [*(Column(name) for name in (*study.counts.group_names, "task"))]
    columns += [Column("models' mean", "share")] * joint
    columns += [Column(name, "share") for name in names]
    return Table(tuple(columns), tuple(_rows(every, models, rows, joint)))


def _rows(
    every: Sequence[Matrix], models: Sequence[str], rows: int, joint: bool
) -> Iterator[tuple[Cell, ...]]:
    left = rows
    for matrix in every:
        places = [matrix.models.index(m) if m in matrix.models else -1 for m in models]
        values = np.column_stack([matrix.rates, np.full(len(matrix.tasks), np.nan)])[:, places]
        shown = min(left, len(matrix.tasks))
        left -= shown
        means = matrix.mean[:shown].tolist()
        for task, mean, row in zip(
            matrix.tasks[:shown], means, values[:shown].tolist(), strict=True
        ):
            cells = [None if value != value else value for value in row]
            yield (*matrix.groups, task, *[mean] * joint, *cells)


def _answer(every: Sequence[Matrix]) -> tuple[tuple[str, ...], ...]:
    solved = sum(int((matrix.mean == 1).sum()) for matrix in every)
    never = sum(int((matrix.mean == 0).sum()) for matrix in every)
    tasks = sum(len(matrix.tasks) for matrix in every)
    models = len({model for matrix in every for model in matrix.models})
    return (
        (
            f"{plural(models, 'model')} at {plural(tasks, 'task')}: {solved:,} every model always"
            f" passes so far, {never:,} no model ever passed.",
        ),
    )


def heat_maps(study: Study) -> tuple[Plot, ...]:
    """The pass rates as colours: models down, tasks across; a panel per group."""
    every = matrices(study.counts)
    grouped = bool(study.counts.group_names)
    rows = [
        {**cell, "group": series_name(matrix.groups)} if grouped else cell
        for matrix in every
        for cell in _cells(matrix)
    ]
    most = max(len(matrix.tasks) for matrix in every)
    across = max(_across(matrix) for matrix in every)
    together = f"about {most / across:.0f} tasks share a cell" if most > across else ""
    return (
        heat(
            rows, label="model", low="from", high="to", value="pass rate", words="tasks",
            facet="group" if grouped else "", title="Pass rate of each model at each task",
            subtitle=" · ".join(filter(None, (plural(most, "task"), together))),
            x_title="tasks, from the easiest to the hardest",
        ),
    )  # fmt: skip


def _across(matrix: Matrix) -> int:
    """How many cells a model has."""
    most = max(_FEWEST, min(_ACROSS, _IN_ALL // len(matrix.models)))
    return min(len(matrix.tasks), most)


def _cells(matrix: Matrix) -> Iterator[dict[str, object]]:
    """A cell per model and task, or per model and several neighbouring tasks."""
    ends = np.linspace(0, len(matrix.tasks), _across(matrix) + 1).round().astype(int)
    there = ~np.isnan(matrix.rates)
    sums = np.add.reduceat(np.where(there, matrix.rates, 0.0), ends[:-1], axis=0)
    numbers = np.add.reduceat(there, ends[:-1], axis=0, dtype=np.int64)
    means = np.full(sums.shape, np.nan)
    np.divide(sums, numbers, out=means, where=numbers > 0)
    cells = [
        {"from": low, "to": high,
         "tasks": matrix.tasks[low] if high == low + 1 else f"{high - low} tasks"}
        for low, high in pairwise(ends.tolist())
    ]  # fmt: skip
    for model, rates in zip(matrix.models, means.T.tolist(), strict=True):
        for cell, rate in zip(cells, rates, strict=True):
            yield {"model": model, **cell, "pass rate": None if rate != rate else rate}
