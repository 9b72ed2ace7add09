"""Counts → the bootstrap distribution of every metric of every model, as a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from passk_cli.errors import ParameterError
from passk_cli.metrics.registry import Metric
from passk_cli.inference.intervals import GUARDED, METHODS, NEW_TASKS, Interval, check, interval
from passk_cli.inference.ranking import lead_shares
from passk_cli.inference.weights import KINDS, bootstrap_means
from passk_cli.report.estimate import Line, evaluate, flaw_notes, short_notes, sizes_caption
from passk_cli.report.model import Cell, Column, Limits, Note, Report, Table
from passk_cli.report.notes import plural, reading_notes
from passk_cli.report.plot import Plot, densities
from passk_cli.report.resampled_lead import attempts_agree
from passk_cli.report.samples import Measured, Uncertainty, cluster_codes, measure
from passk_cli.report.signature import signature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.counts import Counts

USUAL = {NEW_TASKS: ("guard", "percentile", "bca", "t")}


@dataclass(frozen=True)
class Distribution:
    """One model × metric: its draws and what follows from them.

    best : share of the draws in which it is the best model at this metric (in its group), ties
        shared; None where attempts differ between the models.
    """

    line: Line
    draws: NDArray[np.float64]
    intervals: tuple[Interval, ...]
    best: float | None = None

    @property
    def bias(self) -> float:
        """Mean of the draws minus the estimate."""
        return float(self.draws.mean()) - (self.line.estimate.value or 0.0)

    @property
    def se(self) -> float:
        """Standard deviation of the draws."""
        return float(self.draws.std(ddof=1))


def choose_methods(counts: Counts, text: str, how: Uncertainty) -> tuple[str, ...]:
    """The interval methods asked for: names, "all" that apply, or the usual ones when empty."""
    population, level = how.population, how.level
    if text == "all":
        single = int(counts.n.max()) == 1 and counts.clusters is None
        known = [m for m, method in METHODS.items() if population in method.populations]
        return tuple(m for m in known if single or m not in ("wilson", "clopper-pearson"))
    if not text:
        return USUAL.get(population, ("jackknife", "percentile"))
    names = dict.fromkeys(part.strip() for part in text.split(","))
    return tuple(check(name, level, population) for name in names)


def applicable(metric: Metric, methods: Sequence[str], how: Uncertainty) -> tuple[str, ...]:
    """The methods that can answer: without known bounds BCa stands in for those that need them."""
    if metric.bounds is not None or how.bounds is not None:
        return tuple(methods)
    return tuple(dict.fromkeys("bca" if m in GUARDED else m for m in methods))


def distributions(
    counts: Counts,
    metrics: Sequence[Metric],
    how: Uncertainty,
    methods: Sequence[str],
    *,
    short_tasks: str = "empty",
    kind: str = "multinomial",
) -> tuple[list[Line], list[Distribution]]:
    """(every line, the distributions of those that have a value), series by series."""
    if kind not in KINDS:
        raise ParameterError(f"--weights {kind}: it is one of {', '.join(KINDS)}")
    measured = measure(counts, metrics, short_tasks)
    plain = replace(how, interval="none")
    lines = [evaluate(counts, one, plain) for one in measured]
    draws = _draws(counts, measured, how, kind)
    best = _best(counts, measured, draws, how, kind)
    found = []
    for place, line in enumerate(lines):
        if line.measured.values is None:
            continue
        intervals = []
        for method in applicable(line.measured.metric, methods, how):
            asked = replace(how, interval=method)
            sample = line.measured.sample(counts, asked)
            intervals.append(interval(sample, method, how.level, how.population))
        found.append(Distribution(line, draws[place], tuple(intervals), best.get(place)))
    return lines, found


def bootstrap_report(
    counts: Counts,
    metrics: Sequence[Metric],
    how: Uncertainty,
    methods: Sequence[str],
    lines: Sequence[Line],
    found: Sequence[Distribution],
    kind: str,
    short_tasks: str = "empty",
) -> Report:
    """Estimate, bias, standard error, intervals side by side, and who is best."""
    notes = [*reading_notes(counts), *short_notes(lines, short_tasks)]
    lacking = [m.name for m in metrics if applicable(m, methods, how) != tuple(methods)]
    if lacking:
        guarded = ", ".join(m for m in methods if m in GUARDED)
        told = f"{guarded} left out, which needs bounds of the scores (--bounds LOW,HIGH)"
        notes.append(Note(f"{', '.join(lacking)}: {told}"))
    flawed = [
        Line(d.line.measured, d.line.estimate, flaw=f"{i.method}: {i.reason}")
        for d in found
        for i in d.intervals
        if i.reason
    ]
    notes += flaw_notes(flawed)
    notes += _unshared_notes([d.line.measured for d in found if d.best is not None], how)
    if any(d.best is None and not _alone(d, found) for d in found):
        notes.append(
            Note("best is empty where attempts differ between models: values are not alike then")
        )
    used = dict.fromkeys(i.method for d in found for i in d.intervals)
    population = how.population.replace("-", " ")
    clustered = f", clustered by {how.cluster}" if how.cluster else ""
    caption = (
        f"{sizes_caption(lines)} · {how.resamples:,} {kind} resamples for {population}{clustered},"
        f" seed {how.seed} · {100 * how.level:g} %"
    )
    return Report(
        tables=tuple(
            _table(counts, metric, mine, applicable(metric, methods, how))
            for metric in metrics
            if (mine := [d for d in found if d.line.measured.metric == metric])
        ),
        data=_tidy(counts, found, how),
        caption=f"{caption} intervals",
        notes=tuple(notes),
        plots=_charts(metrics, found, f"{caption} {methods[0]} intervals"),
        signature=signature(
            counts,
            metrics,
            intervals=f"{','.join(used)} {how.level:g} {how.population}",
            weights=kind,
            cluster=how.cluster,
            bounds=how.bounds_shown,
            resamples=how.resamples,
            seed=how.seed,
            **{"short tasks": short_tasks if short_tasks != "empty" else None},
        ),
    )


def draw_columns(counts: Counts, found: Sequence[Distribution]) -> dict[str, Any]:
    """The draws as columns: resample, model, groups, metric, value; one row per draw."""
    count = len(found[0].draws) if found else 0

    def repeated(texts: list[str]) -> NDArray[np.object_]:
        return np.repeat(np.array(texts, dtype=object), count)

    columns: dict[str, Any] = {"resample": np.tile(np.arange(count), len(found))}
    for place, name in enumerate(("model", *counts.group_names)):
        columns[name] = repeated([d.line.series[place] for d in found])
    columns["metric"] = repeated([d.line.measured.metric.name for d in found])
    columns["value"] = np.concatenate([d.draws for d in found]) if found else np.empty(0)
    return columns


def _draws(
    counts: Counts, measured: Sequence[Measured], how: Uncertainty, kind: str
) -> dict[int, NDArray[np.float64]]:
    """Place in `measured` → draws; lines over the same tasks share their weights."""
    if how.population != NEW_TASKS:
        return {
            i: one.attempt_draws(how) for i, one in enumerate(measured) if one.values is not None
        }
    together: dict[bytes, list[int]] = {}
    for i, one in enumerate(measured):
        if one.values is not None:
            together.setdefault(one.tasks.tobytes(), []).append(i)
    draws: dict[int, NDArray[np.float64]] = {}
    for places in together.values():
        values = np.stack([measured[i].values for i in places], axis=1)  # type: ignore[misc]
        clusters = cluster_codes(counts, measured[places[0]].tasks)
        means = bootstrap_means(values, how.resamples, how.seed, kind=kind, clusters=clusters)
        draws |= {i: means[:, column] for column, i in enumerate(places)}
    return draws


def _unshared_notes(measured: Sequence[Measured], how: Uncertainty) -> list[Note]:
    """A warning for each comparison of models, per metric and group, that leaves tasks out."""
    rivals: dict[tuple[Metric, tuple[str, ...]], list[Measured]] = {}
    for one in measured:
        rivals.setdefault((one.metric, one.series[1:]), []).append(one)
    lost: dict[str, list[str]] = {}
    for (metric, group), models in rivals.items():
        every = set().union(*(one.tasks.tolist() for one in models))
        shared = every.intersection(*(one.tasks.tolist() for one in models))
        if how.population == NEW_TASKS and len(shared) < len(every):
            place = f" in {' '.join(group)}" if group else ""
            told = f"the {plural(len(shared), 'task')} that all models have{place}"
            told += f", of {len(every):,}"
            lost.setdefault(told, []).append(metric.name)
    return [
        Note(f"best at {', '.join(names)} is asked of {told}", "warning")
        for told, names in lost.items()
    ]


def _best(
    counts: Counts,
    measured: Sequence[Measured],
    draws: dict[int, NDArray[np.float64]],
    how: Uncertainty,
    kind: str,
) -> dict[int, float]:
    """Place → share of the draws in which it is the best of its group at its metric.

    Nothing where attempts differ between models: see `resampled_lead.attempts_agree`.
    """
    rivals: dict[tuple[object, ...], list[int]] = {}
    for i in draws:
        rivals.setdefault((measured[i].metric, *measured[i].series[1:]), []).append(i)
    best: dict[int, float] = {}
    for places in rivals.values():
        if len(places) < 2 or not attempts_agree([measured[i] for i in places]):
            continue
        columns = [draws[i] for i in places]
        if how.population == NEW_TASKS and len({measured[i].tasks.tobytes() for i in places}) > 1:
            columns = _on_shared_tasks(counts, [measured[i] for i in places], how, kind)
            if not columns:
                continue
        shares = lead_shares(np.stack(columns, axis=1))
        best |= {i: float(s) for i, s in zip(places, shares, strict=True)}
    return best


def _alone(one: Distribution, found: Sequence[Distribution]) -> bool:
    """Whether no other model of its group has draws at its metric."""
    mine = one.line.measured
    alike = [
        d for d in found
        if d.line.measured.metric == mine.metric
        and d.line.measured.series[1:] == mine.series[1:]
    ]  # fmt: skip
    return len(alike) < 2


def _on_shared_tasks(
    counts: Counts, rivals: Sequence[Measured], how: Uncertainty, kind: str
) -> list[NDArray[np.float64]]:
    shared = rivals[0].tasks
    for one in rivals[1:]:
        shared = np.intersect1d(shared, one.tasks)
    if not len(shared):
        return []
    values = []
    for one in rivals:
        assert one.values is not None
        values.append(one.values[np.isin(one.tasks, shared)])
    clusters = cluster_codes(counts, shared)
    means = bootstrap_means(
        np.stack(values, axis=1), how.resamples, how.seed, kind=kind, clusters=clusters
    )
    return list(means.T)


def _table(
    counts: Counts, metric: Metric, mine: list[Distribution], methods: Sequence[str]
) -> Table:
    unit = metric.unit
    fine = "fine" if unit == "share" else unit
    mine.sort(key=lambda d: (-(d.line.estimate.value or 0.0), d.line.series))
    columns = (
        Column("model"), *(Column(g) for g in counts.group_names), Column("estimate", unit),
        Column("bias", fine), Column("se", fine), *(Column(m, unit) for m in methods),
        Column("best", "share"), Column("from tasks", "share"), Column("from attempts", "share"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for d in mine:
        within = d.line.measured.share_within
        limits = (Limits(i.low, i.high, i.reason) for i in d.intervals)
        rows.append(
            (*d.line.series, d.line.estimate.value, d.bias, d.se, *limits, d.best,
             None if within is None else 1 - within, within)
        )  # fmt: skip
    return Table(columns, tuple(rows), metric.name)


def _charts(
    metrics: Sequence[Metric], found: Sequence[Distribution], caption: str
) -> tuple[Plot, ...]:
    """The densities of the draws, a panel per metric, with estimate and first interval."""
    if not found:
        return ()
    first = {d.line.series: d for d in reversed(found)}
    series = sorted(first, key=lambda s: (-(first[s].line.estimate.value or 0.0), s))
    place = {(d.line.series, d.line.measured.metric): d for d in found}
    rows = []
    for d in (place.get((s, metric)) for metric in metrics for s in series):
        if d is not None:
            limits = d.intervals[0]
            rows.append(
                {
                    "model": d.line.measured.name, "metric": d.line.measured.metric.name,
                    "estimate": d.line.estimate.value, "low": limits.low, "high": limits.high,
                    "draws": d.draws,
                }
            )  # fmt: skip
    chart = densities(
        rows, label="model", draws="draws", value="estimate", low="low", high="high",
        facet="metric", title="Bootstrap distributions", subtitle=caption,
    )  # fmt: skip
    return (chart,)


def _tidy(counts: Counts, found: Sequence[Distribution], how: Uncertainty) -> Table:
    names = (
        "model", *counts.group_names, "metric", "k", "estimate", "bias", "se", "interval", "level",
        "low", "high", "population", "best", "share_tasks", "share_attempts", "tasks", "n_min",
        "n_max", "note",
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for d in found:
        within = d.line.measured.share_within
        between = None if within is None else 1 - within
        head: tuple[Cell, ...] = (
            *d.line.series,
            d.line.measured.metric.name,
            d.line.measured.metric.k,
        )
        size: tuple[Cell, ...] = d.line.size
        tail: tuple[Cell, ...] = (how.population, d.best, between, within, *size)
        for i in d.intervals:
            numbers = (d.line.estimate.value, d.bias, d.se, i.method, i.level, i.low, i.high)
            note = "; ".join(filter(None, (d.line.estimate.reason, i.reason)))
            rows.append((*head, *numbers, *tail, note))
    return Table(tuple(Column(name) for name in names), tuple(rows))
