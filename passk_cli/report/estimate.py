"""Counts → every metric of every model, as a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import ParameterError
from passk_cli.estimators.metric import (
    Metric,
    default_ks,
    parse_list,
    standard_metrics,
    task_values,
)
from passk_cli.report.model import Cell, Column, Estimate, Note, Report, Table
from passk_cli.report.notes import plural, reading_notes
from passk_cli.report.signature import signature, span

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.model import Counts

SHORT_TASKS = ("empty", "drop")


@dataclass(frozen=True)
class Line:
    """One model (and group) × metric, at full precision: the row of the tidy table."""

    series: tuple[str, ...]
    metric: Metric
    estimate: Estimate
    tasks: int
    n_min: int
    n_max: int


def choose_metrics(counts: Counts, ks: Sequence[int] = (), metrics: str = "") -> tuple[Metric, ...]:
    """The metrics asked for, or the standard ones for the k's that the data supports.

    Errors: ParameterError when a metric asked for is supported by no task at all.
    """
    chosen = parse_list(metrics) if metrics else ()
    if ks or not chosen:
        supported = max(int(counts.n[counts.rows_of(s)].min()) for s in range(len(counts.series)))
        chosen = tuple(dict.fromkeys((*standard_metrics(ks or default_ks(supported)), *chosen)))
    most = int(counts.n.max())
    for metric in chosen:
        if metric.k > most:
            raise ParameterError(
                f"{metric.name} needs {plural(metric.k, 'attempt')} per task;"
                f" the most any task has is {most}"
            )
    return chosen


def estimate_report(
    counts: Counts,
    metrics: Sequence[Metric],
    *,
    short_tasks: str = "empty",
    sort: str = "",
) -> Report:
    """Every metric of every model: the mean over tasks, and how sure it is.

    short_tasks : "empty" leaves a metric without value when a task has n < k; "drop" computes it
        on the tasks with n ≥ k and says how many those are.
    sort : a column to order models by; the first metric when empty.
    """
    lines = [
        line for s in range(len(counts.series)) for line in _lines(counts, s, metrics, short_tasks)
    ]
    order = _order(counts, metrics, lines, sort)
    lines = [line for s in order for line in lines if line.series == counts.series[s]]
    return Report(
        tables=(_pivot(counts, metrics, lines),),
        data=_tidy(counts, lines),
        caption=_caption(counts, lines),
        notes=(*reading_notes(counts), *_short_notes(lines, short_tasks)),
        signature=signature(counts, metrics, interval="none", short=_unless(short_tasks, "empty")),
    )


def _lines(counts: Counts, s: int, metrics: Sequence[Metric], short_tasks: str) -> list[Line]:
    rows = counts.rows_of(s)
    n, c = counts.n[rows], counts.c[rows]
    values = task_values(metrics, n, c)
    found = []
    for metric, value in zip(metrics, values, strict=True):
        enough = n >= metric.k
        used = np.ones_like(enough) if short_tasks == "empty" else enough
        kept = n[used] if used.any() else n
        found.append(
            Line(
                counts.series[s],
                metric,
                _estimate(metric, n, value, short_tasks),
                int(used.sum()),
                int(kept.min()),
                int(kept.max()),
            )
        )
    return found


def _estimate(
    metric: Metric, n: NDArray[np.int64], values: NDArray[np.float64], short_tasks: str
) -> Estimate:
    enough = n >= metric.k
    short = int((~enough).sum())
    reason = ""
    if short:
        few = n[~enough]
        reason = (
            f"n={span(int(few.min()), int(few.max()))} < k={metric.k}"
            f" on {short} of {plural(len(n), 'task')}"
        )
        if short_tasks == "empty" or short == len(n):
            return Estimate(None, reason=reason)
        values = values[enough]
    se = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else None
    return Estimate(float(values.mean()), se, reason=reason)


def _order(
    counts: Counts, metrics: Sequence[Metric], lines: Sequence[Line], sort: str
) -> list[int]:
    """Series in the order of a column: names ascending, numbers descending, empty ones last."""
    column = sort or metrics[0].name
    names = ("model", *counts.group_names)
    series = range(len(counts.series))
    if column in names:
        place = names.index(column)
        return sorted(series, key=lambda s: (counts.series[s][place], counts.series[s]))
    if column == "tasks":
        value = {line.series: float(line.tasks) for line in lines}
    elif column in {m.name for m in metrics}:
        value = {
            line.series: -math.inf if line.estimate.value is None else line.estimate.value
            for line in lines
            if line.metric.name == column
        }
    else:
        known = ", ".join((*names, *(m.name for m in metrics), "tasks"))
        raise ParameterError(f"--sort {sort}: no such column; there are {known}")
    return sorted(series, key=lambda s: (-value[counts.series[s]], counts.series[s]))


def _pivot(counts: Counts, metrics: Sequence[Metric], lines: Sequence[Line]) -> Table:
    """Models down, metrics across; tasks and attempts beside them where they differ."""
    differ = len({(line.tasks, line.n_min, line.n_max) for line in lines}) > 1
    head = [Column("model"), *(Column(g) for g in counts.group_names)]
    head += [Column(m.name, "share") for m in metrics]
    head += [Column("tasks", "text"), Column("attempts", "text")] if differ else []
    rows: list[tuple[Cell, ...]] = []
    for start in range(0, len(lines), len(metrics)):
        mine = lines[start : start + len(metrics)]
        row: list[Cell] = [*mine[0].series, *(line.estimate for line in mine)]
        if differ:
            tasks = [line.tasks for line in mine]
            row.append(span(min(tasks), max(tasks)))
            row.append(span(min(line.n_min for line in mine), max(line.n_max for line in mine)))
        rows.append(tuple(row))
    return Table(tuple(head), tuple(rows))


def _tidy(counts: Counts, lines: Sequence[Line]) -> Table:
    names = (
        "model",
        *counts.group_names,
        "metric",
        "k",
        "estimate",
        "se",
        "low",
        "high",
        "level",
        "interval",
        "tasks",
        "n_min",
        "n_max",
        "note",
    )
    rows = tuple(
        (
            *line.series,
            line.metric.name,
            line.metric.k,
            line.estimate.value,
            line.estimate.se,
            line.estimate.low,
            line.estimate.high,
            None,
            "none",
            line.tasks,
            line.n_min,
            line.n_max,
            line.estimate.reason,
        )
        for line in lines
    )
    return Table(tuple(Column(name) for name in names), rows)


def _caption(counts: Counts, lines: Sequence[Line]) -> str:
    tasks = {line.tasks for line in lines}
    shown = f"{span(min(tasks), max(tasks))} task{'s' * (max(tasks) != 1)}"
    n = span(int(counts.n.min()), int(counts.n.max()))
    return f"{shown}, {n} attempt{'s' * (n != '1')} each · ± one standard error over tasks"


def _short_notes(lines: Sequence[Line], short_tasks: str) -> list[Note]:
    """One warning per model and cause: which metrics some of its tasks are too short for."""
    metrics: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        if line.estimate.reason:
            state = "empty" if line.estimate.value is None else "without those tasks"
            told = f"{state}: {line.estimate.reason}"
            metrics.setdefault((" ".join(line.series), told), []).append(line.metric.name)
    remedy = "" if short_tasks == "drop" else "; --short-tasks drop uses the tasks with n ≥ k"
    return [
        Note(f"{', '.join(names)} of {who} {told}{remedy}", "warning")
        for (who, told), names in metrics.items()
    ]


def _unless(value: str, default: str) -> str | None:
    return None if value == default else value
