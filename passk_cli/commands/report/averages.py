"""Macro averages of a model over groups of tasks, as benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from passk_cli.inference.macro import macro_average
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.report.model import Cell, Column, Estimate, Panel, Report, Table
from passk_cli.report.words import plural

if TYPE_CHECKING:
    from passk_cli.commands.report.gathered import Gathered

_HOW = (
    "The macro average is the mean of a model's groups, each of which counts the same however many"
    " tasks it has. It is there only for models that have a number in every group."
)


class _Numbers(NamedTuple):
    """One model at one metric: a row of the tidy table for each of its groups."""

    estimates: list[float]
    ses: list[float]
    lows: list[float]
    highs: list[float]


def macro_panel(study: Gathered, whole: Report) -> Panel:
    """The macro average of every model at every metric.

    whole : the estimates of all groups.
    """
    groups = len({series[1:] for series in study.counts.series})
    independent = study.confidence.population == THESE_TASKS or not _shared(study)
    numbers = _by_model(whole.data)
    metrics = list(dict.fromkeys(metric for _, metric in numbers))
    units = {column.header: column.kind for table in whole.tables for column in table.columns}
    rows: list[tuple[Cell, ...]] = []
    for model in study.models:
        row: list[Cell] = [model]
        for metric in metrics:
            own = numbers.get((model, metric))
            share = units.get(metric, "share") == "share"
            row.append(
                _average(own, groups, study.confidence.level, independent=independent, share=share)
            )
        rows.append(tuple(row))
    columns = (Column("model"), *(Column(name, units.get(name, "share")) for name in metrics))
    return Panel(
        "macro",
        "Macro average",
        _HOW,
        Report(
            tables=(Table(columns, tuple(rows)),),
            data=Table(columns, tuple(rows)),
            context=" · ".join(_caption(study, groups, independent=independent)),
        ),
    )


def _caption(study: Gathered, groups: int, *, independent: bool) -> Iterator[str]:
    yield f"mean of {plural(groups, 'group')} of {', '.join(study.counts.group_names)}"
    yield study.confidence.words()
    if independent:
        yield "limits add up as those of independent groups"
    else:
        yield "groups share tasks, so limits are as wide as any correlation can make them"
    yield "–: no number in some group"


def _shared(study: Gathered) -> bool:
    """Whether a task, or a cluster of tasks, is in more than one group."""
    groups: dict[str, set[tuple[str, ...]]] = {}
    clusters = study.counts.clusters
    units = study.counts.tasks if clusters is None else clusters
    pairs = zip(study.counts.series_codes.tolist(), study.counts.task_codes.tolist(), strict=True)
    for series, task in pairs:
        groups.setdefault(units[task], set()).add(study.counts.series[series][1:])
    return any(len(each) > 1 for each in groups.values())


def _by_model(data: Table) -> dict[tuple[str, str], _Numbers]:
    """(model, metric) → its numbers, of the rows that have one with limits."""
    names = [column.header for column in data.columns]
    at = {name: names.index(name) for name in ("model", "metric", "estimate", "se", "low", "high")}
    numbers: dict[tuple[str, str], _Numbers] = {}
    for row in data.rows:
        cells = [row[at[name]] for name in ("estimate", "se", "low", "high")]
        key = (str(row[at["model"]]), str(row[at["metric"]]))
        own = numbers.setdefault(key, _Numbers([], [], [], []))
        if all(isinstance(cell, int | float) for cell in cells):
            for values, cell in zip(own, cells, strict=True):
                values.append(float(cell))  # type: ignore[arg-type]
    return numbers


def _average(
    numbers: _Numbers | None, groups: int, level: float, *, independent: bool, share: bool
) -> Estimate:
    """The macro average; without a value where a group has none."""
    if numbers is None or len(numbers.estimates) < groups:
        return Estimate(None, reason="no number in some group", share=share)
    average = macro_average(*numbers, level=level, independent=independent)
    return Estimate(average.mean, average.se, average.low, average.high, share=share)
