"""Counts → every metric of every model, as a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from passk_cli.errors import ParameterError
from passk_cli.inference.intervals import interval
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.metrics.registry import Metric, default_ks, standard_metrics
from passk_cli.report.model import Cell, Column, Estimate, Note, Report, Table
from passk_cli.report.notes import first_few, plural, reading_notes
from passk_cli.report.pairs import difference_interval, match
from passk_cli.report.samples import Measured, Uncertainty, measure
from passk_cli.report.signature import signature, span

if TYPE_CHECKING:
    from passk_cli.outcomes.counts import Counts

# Shares of the variance from which on a note says where the uncertainty comes from.
_MOSTLY_TASKS, _MOSTLY_ATTEMPTS = 0.9, 0.5


@dataclass(frozen=True)
class Line:
    """One model (and group) × metric with its estimate: a row of the tidy table.

    se : standard error; inside the estimate as well where that is what is shown.
    flaw : what is special about the interval, or why there is none.
    method : of the interval.
    """

    measured: Measured
    estimate: Estimate
    se: float | None = None
    flaw: str = ""
    method: str = ""

    @property
    def series(self) -> tuple[str, ...]:
        """The model, and its group values."""
        return self.measured.series

    @property
    def size(self) -> tuple[int, int, int]:
        """Tasks used, and the fewest and most attempts among them."""
        n = self.measured.n
        return len(n), int(n.min()), int(n.max())


def choose_metrics(
    counts: Counts, ks: Sequence[int] = (), metrics: Sequence[Metric] = ()
) -> tuple[Metric, ...]:
    """The metrics asked for, or the standard ones for the k's that the data supports.

    Errors: ParameterError when a metric asked for is supported by no task at all.
    """
    chosen = tuple(metrics)
    if ks or not chosen:
        chosen = (*standard_metrics(ks or default_ks(supported_k(counts))), *chosen)
    most = int(counts.n.max())
    for metric in chosen:
        if metric.k > most:
            raise ParameterError(
                f"{metric.name} needs {plural(metric.k, 'attempt')} per task;"
                f" the most any task has is {most}"
            )
    return tuple(dict.fromkeys(chosen))


def supported_k(counts: Counts) -> int:
    """The largest k that every task of at least one model supports."""
    return max(int(counts.n[counts.rows_of(s)].min()) for s in range(len(counts.series)))


def estimate_report(
    counts: Counts,
    metrics: Sequence[Metric],
    how: Uncertainty | None = None,
    *,
    short_tasks: str = "empty",
    sort: str = "",
    hint: str = "",
) -> Report:
    """Every metric of every model: the mean over tasks, and how sure it is.

    short_tasks : "empty" leaves a metric without value when a task has n < k; "drop" computes it
        on the tasks with n ≥ k and says how many those are.
    sort : a column to order models by; the first metric when empty.
    hint : a word on the metrics that are not there, for the caption.
    """
    how = (how or Uncertainty()).knowing(metrics)
    lines = [evaluate(counts, one, how) for one in measure(counts, metrics, short_tasks)]
    if how.method != "none":
        lines = _mark_best(counts, lines, how)
    order = _order(counts, metrics, lines, sort)
    place = {counts.series[s]: at for at, s in enumerate(order)}
    lines.sort(key=lambda line: place[line.series])
    notes = (*reading_notes(counts), *short_notes(lines, short_tasks), *flaw_notes(lines))
    shown = short_tasks if short_tasks != "empty" else None
    return Report(
        tables=(_pivot(counts, metrics, lines),),
        data=_tidy(counts, lines, how),
        caption=" · ".join(filter(None, (sizes_caption(lines), how.words(), hint))),
        notes=(*notes, *_source_notes(lines, how)),
        signature=signature(counts, metrics, **how.signature(), **{"short tasks": shown}),
    )


def evaluate(counts: Counts, one: Measured, how: Uncertainty) -> Line:
    """A measured metric with its standard error and interval."""
    if one.values is None:
        return Line(one, Estimate(None, reason=one.reason))
    sample = one.sample(counts, how)
    se = sample.se
    if how.population == THESE_TASKS:
        variance = float(one.within.sum())
        se = None if math.isnan(variance) else math.sqrt(variance) / len(one.values)
    estimate = Estimate(sample.mean, reason=one.reason, share=one.metric.unit == "share")
    if how.method == "none":
        return Line(one, replace(estimate, se=se), se, method="none")
    found = interval(sample, how.method, how.level, how.population)
    estimate = replace(estimate, low=found.low, high=found.high)
    return Line(one, estimate, se, found.reason, found.method)


def _mark_best(counts: Counts, lines: Sequence[Line], how: Uncertainty) -> list[Line]:
    """Mark the best model at each metric (of a group) when it is told apart from the second."""
    marked: list[Line] = list(lines)
    rivals: dict[tuple[object, ...], list[int]] = {}
    for i, line in enumerate(lines):
        if line.measured.values is not None:
            rivals.setdefault((line.measured.metric, *line.series[1:]), []).append(i)
    for places in rivals.values():
        places.sort(key=lambda i: -(lines[i].estimate.value or 0.0))
        if len(places) < 2:
            continue
        pair = match(lines[places[0]].measured, lines[places[1]].measured)
        limits = None if pair.reason else difference_interval(counts, pair, how)
        if limits is not None and limits.low is not None and limits.low > 0:
            best = lines[places[0]]
            marked[places[0]] = replace(best, estimate=replace(best.estimate, marked=True))
    return marked


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
        value = {line.series: float(line.size[0]) for line in lines}
    elif column in {m.name for m in metrics}:
        value = {
            line.series: -math.inf if line.estimate.value is None else line.estimate.value
            for line in lines
            if line.measured.metric.name == column
        }
    else:
        known = ", ".join((*names, *(m.name for m in metrics), "tasks"))
        raise ParameterError(f"--sort {sort}: no such column; there are {known}")
    return sorted(series, key=lambda s: (-value[counts.series[s]], counts.series[s]))


def _pivot(counts: Counts, metrics: Sequence[Metric], lines: Sequence[Line]) -> Table:
    """Models down, metrics across; tasks and attempts beside them where they differ."""
    differ = len({line.size for line in lines}) > 1
    head = [Column("model"), *(Column(g) for g in counts.group_names)]
    head += [Column(m.name, m.unit) for m in metrics]
    head += [Column("tasks"), Column("attempts")] if differ else []
    rows: list[tuple[Cell, ...]] = []
    for start in range(0, len(lines), len(metrics)):
        mine = lines[start : start + len(metrics)]
        row: list[Cell] = [*mine[0].series, *(line.estimate for line in mine)]
        if differ:
            tasks, fewest, most = zip(*(line.size for line in mine), strict=True)
            row += [span(min(tasks), max(tasks)), span(min(fewest), max(most))]
        rows.append(tuple(row))
    return Table(tuple(head), tuple(rows))


def _tidy(counts: Counts, lines: Sequence[Line], how: Uncertainty) -> Table:
    columns = [
        "model", *counts.group_names, "metric", "k", "estimate", "se", "low", "high", "level",
        "interval", "population", "tasks", "n_min", "n_max", "note",
    ]  # fmt: skip
    level = None if how.method == "none" else how.level
    rows = tuple(
        (
            *line.series, line.measured.metric.name, line.measured.metric.k, line.estimate.value,
            line.se, line.estimate.low, line.estimate.high, level, line.method or how.method,
            how.population, *line.size, "; ".join(filter(None, (line.estimate.reason, line.flaw))),
        )
        for line in lines
    )  # fmt: skip
    return Table(tuple(Column(name) for name in columns), rows)


def sizes_caption(lines: Sequence[Line]) -> str:
    """How many tasks and attempts the lines rest on: "800 tasks, 10 attempts each"."""
    tasks, fewest, most = zip(*(line.size for line in lines), strict=True)
    shown = f"{span(min(tasks), max(tasks))} task{'s' * (max(tasks) != 1)}"
    n = span(min(fewest), max(most))
    return f"{shown}, {n} attempt{'s' * (n != '1')} each"


def short_notes(lines: Sequence[Line], short_tasks: str) -> list[Note]:
    """One warning per model and cause: which metrics some of its tasks are too short for."""
    metrics: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        if line.estimate.reason:
            state = "empty" if line.estimate.value is None else "without those tasks"
            told = f"{state}: {line.estimate.reason}"
            metrics.setdefault((line.measured.name, told), []).append(line.measured.metric.name)
    remedy = "" if short_tasks == "drop" else "; --short-tasks drop uses the tasks with n ≥ k"
    return [
        Note(f"{', '.join(names)} of {who} {told}{remedy}", "warning")
        for (who, told), names in metrics.items()
    ]


def flaw_notes(lines: Sequence[Line]) -> list[Note]:
    """One note per thing that is special about intervals, with the numbers it is said of."""
    said: dict[str, list[str]] = {}
    for line in lines:
        if line.flaw:
            who = f"{line.measured.metric.name} of {line.measured.name}"
            said.setdefault(line.flaw, []).append(who)
    return [Note(f"{first_few(who)}: {flaw}") for flaw, who in said.items()]


def _source_notes(lines: Sequence[Line], how: Uncertainty) -> list[Note]:
    """Where the uncertainty comes from, when one source dominates."""
    if how.population == THESE_TASKS or how.method == "none":
        return []
    shares: dict[str, list[float]] = {}
    noisy: list[tuple[str, float]] = []
    for line in lines:
        within, name = line.measured.share_within, line.measured.metric.name
        shares.setdefault(name, []).append(math.nan if within is None else 1 - within)
        if within is not None and within >= _MOSTLY_ATTEMPTS:
            noisy.append((f"{name} of {line.measured.name}", within))
    notes = []
    if noisy:
        least = math.floor(100 * min(within for _, within in noisy))
        notes.append(
            Note(
                f"{first_few([who for who, _ in noisy])}: {_at_least(least)} of the variance comes"
                " from too few attempts per task; more of them would narrow these intervals"
            )
        )
    sure = {m: min(each) for m, each in shares.items() if all(s >= _MOSTLY_TASKS for s in each)}
    if sure:
        count = max(line.size[0] for line in lines)
        notes.append(
            Note(
                f"{', '.join(sure)}: {_at_least(math.floor(100 * min(sure.values())))} of the"
                f" variance comes from having {plural(count, 'task')};"
                " more tasks narrow these intervals, more attempts will not"
            )
        )
    return notes


def _at_least(percent: int) -> str:
    return "all" if percent >= 100 else f"at least {percent} %"
