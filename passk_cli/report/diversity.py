"""passk diversity: how different the attempts of a model are, and what that leaves of pass@k."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import ParameterError
from passk_cli.metrics.diversity import agreement, distinct, duplicates
from passk_cli.metrics.registry import Metric
from passk_cli.metrics.pass_k import pass_at_k, pass_hat_k
from passk_cli.inference.intervals import NEW_TASKS, Sample, interval
from passk_cli.report.estimate import (
    Line,
    choose_metrics,
    evaluate,
    flaw_notes,
    short_notes,
    sizes_caption,
    supported_k,
)
from passk_cli.report.model import Cell, Column, Estimate, Note, Report, Table
from passk_cli.report.notes import plural, reading_notes
from passk_cli.report.plot import Plot, curves
from passk_cli.report.ranked import best_first
from passk_cli.report.samples import Uncertainty, cluster_codes, measure, multisets
from passk_cli.report.signature import signature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.counts import Counts

DISTINCT, CORRECT = "distinct@", "distinct-correct@"
# distinct@1 is 1 for everyone.
USUAL_K = (2, 10, 100)
# Variety within a tenth of the least that a gain can come with is little, unless little more than
# that least is possible: then within a tenth of what is possible beyond it.
_LITTLE = 0.1
FLAG = "little variety"
_CURVE_POINTS = 16
_TITLES = (
    "different solutions; effective: 1 / chance that two attempts agree",
    "different correct solutions; effective where two pass, duplicates where one does",
    "what k attempts gain over one, and the variety of solutions that comes with it",
)

Lines = Mapping[tuple[tuple[str, ...], str], Line]
Gains = Mapping[tuple[str, ...], Sequence["Gain"]]


@dataclass(frozen=True)
class Fact:
    """One number about the solutions of a series as they are, not at some k.

    name : "distinct", "effective" or "duplicates", of passing attempts with " correct" after it.
    tasks : how many it is the mean over.
    """

    name: str
    estimate: Estimate
    se: float | None = None
    tasks: int = 0


@dataclass(frozen=True)
class Gain:
    """What k attempts gain, and how many different solutions come with it.

    variety : distinct@k, each task weighted by its gain; None where nothing is gained.
    least : the same of different verdicts, pass@k + 1 − pass^k: one solution that passes and one
        that does not are the least that a gain can come with.
    flag : FLAG, or nothing.
    """

    k: int
    variety: float | None
    least: float | None
    flag: str = ""


def diversity_ks(counts: Counts, asked: Sequence[int] = ()) -> tuple[int, ...]:
    """The k's asked for; else those of 2, 10, 100 that every task of some model supports, and half
    and all of its attempts where these are fewer than three.

    Errors: ParameterError where no model has two attempts at every task.
    """
    if asked:
        return tuple(asked)
    most = supported_k(counts)
    if most < 2:
        raise ParameterError("one attempt at a task is not diverse; this needs at least two each")
    usual = {k for k in USUAL_K if k <= most}
    return tuple(sorted(usual if len(usual) == len(USUAL_K) else usual | {max(most // 2, 2), most}))


def diversity_report(
    counts: Counts,
    ks: Sequence[int],
    how: Uncertainty | None = None,
    *,
    short_tasks: str = "empty",
    same: str = "",
    drawn: bool = False,
) -> Report:
    """How many different (correct) solutions k attempts hold, and whether pass@k's gain needs them.

    counts : read with attempts=["solution"].
    same : when two solutions are the same, for the caption and the signature.
    drawn : whether to make the chart, which takes an interval at every point.
    Errors: ParameterError for a k that no task supports, or counts read without solutions.
    """
    how = how or Uncertainty()
    metrics = choose_metrics(counts, (), _metrics(ks))
    order = best_first(counts)
    measured = measure(counts, metrics, short_tasks, only=order)
    lines = {(m.series, m.metric.name): evaluate(counts, m, how) for m in measured}
    facts = {counts.series[s]: _facts(counts, s, how) for s in order}
    gains = {series: [_gain(lines, series, k) for k in ks if k > 1] for series in facts}
    asked = [Metric(family, k) for family in (DISTINCT, CORRECT) for k in ks]
    shown = [lines[series, m.name] for series in facts for m in metrics if m in asked]
    every = list(lines.values())
    compared = f"solutions compared {same}" if same else ""
    caption = (sizes_caption(every), how.words(), compared, _meaning(gains))
    return Report(
        tables=tuple(_tables(counts, ks, lines, facts, gains)),
        data=_tidy(counts, lines, facts, gains, how),
        caption=" · ".join(filter(None, caption)),
        notes=(
            *reading_notes(counts),
            *short_notes(shown, short_tasks),
            *flaw_notes(every),
            *_notes(counts, facts, gains),
        ),
        signature=signature(
            counts,
            metrics,
            **how.signature(),
            **{"short tasks": short_tasks if short_tasks != "empty" else None, "solutions": same},
        ),
        plots=(_chart(counts, how, short_tasks),) if drawn else (),
    )


def _metrics(ks: Sequence[int]) -> list[Metric]:
    """distinct@k and distinct-correct@k; for k > 1 what is gained."""
    beyond = [k for k in ks if k > 1]
    return [
        *(Metric(DISTINCT, k) for k in ks),
        *(Metric(CORRECT, k) for k in ks),
        *([Metric("pass@", 1)] if beyond else []),
        *(Metric(f, k) for f in ("pass@", "gain@", "distinct-pass@") for k in beyond),
    ]


def _facts(counts: Counts, s: int, how: Uncertainty) -> list[Fact]:
    """Solutions per task, their effective number and the share of repeats; of passes as well."""
    rows = counts.rows_of(s)
    bag, tasks = multisets(counts, "solution", rows), counts.task_codes[rows]
    most = float(counts.n[rows].max())
    found = []
    for which, times, least in (("", bag.count, 1.0), (" correct", bag.passed, 0.0)):
        kinds = distinct(bag.start, times).astype(np.float64)
        # Two attempts agree, or one repeats another: nothing to say of tasks with too few passes.
        pairs, repeats = agreement(bag.start, times), duplicates(bag.start, times)
        found += [
            _fact(counts, tasks, f"distinct{which}", kinds, how, (least, most)),
            _inverse(_fact(counts, tasks, f"effective{which}", pairs, how, (0.0, 1.0))),
            _fact(counts, tasks, f"duplicates{which}", repeats, how, (0.0, 1.0)),
        ]
    return found


def _fact(
    counts: Counts,
    tasks: NDArray[np.int64],
    name: str,
    values: NDArray[np.float64],
    how: Uncertainty,
    bounds: tuple[float, float],
) -> Fact:
    """The mean over the tasks that have a value."""
    known = ~np.isnan(values)
    share = bounds == (0.0, 1.0)
    if not known.any():
        return Fact(name, Estimate(None, reason="no task has enough attempts", share=share))
    codes = cluster_codes(counts, tasks[known])
    sample = Sample(
        values[known], *bounds, clusters=codes, resamples=how.resamples, seed=how.seed
    )  # fmt: skip
    count = int(known.sum())
    if how.population != NEW_TASKS:
        reason = "no interval for these tasks"
        return Fact(name, Estimate(sample.mean, reason=reason, share=share), None, count)
    if how.method == "none":
        return Fact(name, Estimate(sample.mean, sample.se, share=share), sample.se, count)
    found = interval(sample, how.method, how.level, how.population)
    estimate = Estimate(
        sample.mean, low=found.low, high=found.high, reason=found.reason, share=share
    )
    return Fact(name, estimate, sample.se, count)


def _inverse(fact: Fact) -> Fact:
    """The effective number of solutions, from the chance that two attempts agree."""
    chance = fact.estimate
    if chance.value is None:
        return Fact(fact.name, Estimate(None, reason=chance.reason, share=False))
    if chance.value == 0:
        told = "all solutions differ: no two attempts agree"
        return Fact(fact.name, Estimate(None, reason=told, share=False), None, fact.tasks)
    low, high = (1 / limit if limit else None for limit in (chance.high, chance.low))
    open_ = "no upper limit: two attempts may never agree" if chance.low == 0 else ""
    reason = "; ".join(filter(None, (chance.reason, open_)))
    estimate = Estimate(1 / chance.value, low=low, high=high, reason=reason, share=False)
    return Fact(fact.name, estimate, None, fact.tasks)


def _gain(lines: Lines, series: tuple[str, ...], k: int) -> Gain:
    """The variety that comes with a model's gain from k attempts."""
    gain, kinds = (lines[series, f"{family}{k}"] for family in ("gain@", DISTINCT))
    values, weight = kinds.measured.values, gain.measured.values
    if values is None or weight is None or weight.sum() <= 0:
        return Gain(k, None, None)
    n, c = gain.measured.n, gain.measured.c
    verdicts = pass_at_k(n, c, k) + 1 - pass_hat_k(n, c, k)
    variety, least = (float((weight * v).sum() / weight.sum()) for v in (values, verdicts))
    sure = gain.estimate.low is not None and gain.estimate.low > 0
    little = variety < least + _LITTLE * min(least, k - least) - 1e-12
    return Gain(k, variety, least, FLAG if sure and little else "")


def _tables(
    counts: Counts,
    ks: Sequence[int],
    lines: Lines,
    facts: Mapping[tuple[str, ...], Sequence[Fact]],
    gains: Gains,
) -> Iterator[Table]:
    """Different solutions, different correct ones, and what is gained with them."""
    head = (Column("model"), *(Column(g) for g in counts.group_names))
    for place, family in enumerate((DISTINCT, CORRECT)):
        columns = (
            *head, *(Column(f"{family}{k}", "score") for k in ks),
            Column("per task", "score"), Column("effective", "score"),
            Column("duplicates", "share"),
        )  # fmt: skip
        rows = tuple(
            (
                *series,
                *(lines[series, f"{family}{k}"].estimate for k in ks),
                *(fact.estimate.value for fact in facts[series][3 * place :][:3]),
            )
            for series in facts
        )
        yield Table(columns, rows, _TITLES[place])
    columns = (
        *head, Column("k"), Column("pass@1", "share"), Column("pass@k", "share"),
        Column("gain", "share"), Column("variety", "score"), Column("least", "score"),
        Column("distinct-pass@k", "share"),
    )  # fmt: skip
    flagged = _flagged(gains)
    found: list[tuple[Cell, ...]] = []
    for series, steps in gains.items():
        for one in steps:
            mine = {f: lines[series, f"{f}{one.k}"] for f in ("pass@", "gain@", "distinct-pass@")}
            found.append(
                (
                    *series, str(one.k), lines[series, "pass@1"].estimate.value,
                    mine["pass@"].estimate.value, mine["gain@"].estimate, one.variety, one.least,
                    mine["distinct-pass@"].estimate.value, *([one.flag] if flagged else []),
                )
            )  # fmt: skip
    if found:
        flag = (Column("flag"),) if flagged else ()
        yield Table((*columns, *flag), tuple(found), _TITLES[2])


def _flagged(gains: Gains) -> bool:
    return any(one.flag for found in gains.values() for one in found)


def _meaning(gains: Gains) -> str:
    """What the columns of the last table mean, for the caption; nothing without that table."""
    if not any(gains.values()):
        return ""
    told = (
        "variety: distinct@k, each task weighted by its gain; least: the same with one solution"
        " that passes and one that fails, the fewest that a gain can come with"
    )
    if _flagged(gains):
        told += f"; {FLAG}: a gain whose interval lies above 0, with at most a tenth more than that"
    return told


def _tidy(
    counts: Counts,
    lines: Lines,
    facts: Mapping[tuple[str, ...], Sequence[Fact]],
    gains: Gains,
    how: Uncertainty,
) -> Table:
    columns = [
        "model", *counts.group_names, "metric", "k", "estimate", "se", "low", "high", "level",
        "interval", "population", "tasks", "n_min", "n_max", "note",
    ]  # fmt: skip
    level = None if how.method == "none" else how.level
    rows: list[tuple[Cell, ...]] = []
    for series in facts:
        mine = [line for (who, _), line in lines.items() if who == series]
        size = mine[0].size
        for line in mine:
            shown, metric = line.estimate, line.measured.metric
            note = "; ".join(filter(None, (shown.reason, line.flaw)))
            rows.append(
                (*series, metric.name, metric.k, shown.value, line.se, shown.low, shown.high, level,
                 line.method or how.method, how.population, *line.size, note)
            )  # fmt: skip
        for one in gains[series]:
            tasks = lines[series, f"gain@{one.k}"].size
            for name, value in (("variety", one.variety), ("least variety", one.least)):
                rows.append(
                    (*series, f"{name}@{one.k}", one.k, value, None, None, None, None, "none",
                     how.population, *tasks, one.flag)
                )  # fmt: skip
        for fact in facts[series]:
            shown = fact.estimate
            rows.append(
                (*series, fact.name, None, shown.value, fact.se, shown.low, shown.high, level,
                 how.method, how.population, fact.tasks, *size[1:], shown.reason)
            )  # fmt: skip
    return Table(tuple(Column(name) for name in columns), tuple(rows))


def _notes(
    counts: Counts,
    facts: Mapping[tuple[str, ...], Sequence[Fact]],
    gains: Gains,
) -> Iterator[Note]:
    """What to know of these numbers, and who gains without variety."""
    known = counts.attempts["solution"]
    if known.unparsed:
        who = plural(known.unparsed, "attempt")
        yield Note(f"{who} with a solution that is no Python: compared with single spaces")
    mixed = int(((known.passed > 0) & (known.passed < known.count)).sum())
    if mixed:
        yield Note(
            f"{plural(mixed, 'solution')} passed in some attempts and failed in others: in"
            " distinct-pass@k each passes with the share of its attempts that did"
        )
    if len(set(counts.n.tolist())) > 1:
        yield Note(
            "tasks have different numbers of attempts: solutions per task and duplicates grow with"
            " them, distinct@k and the effective number do not"
        )
    for series, mine in facts.items():
        for fact in mine:
            if fact.estimate.value is None:
                yield Note(f"{fact.name} of {_name(series)}: {fact.estimate.reason}")
    for series, found in gains.items():
        flagged = [
            f"{one.variety:.2f} of {one.k} (at least {one.least:.2f})"
            for one in found
            if one.flag and one.variety is not None
        ]
        if flagged:
            yield Note(
                f"{_name(series)} gains from further attempts with little variety; different"
                f" solutions that come with the gain: {', '.join(flagged)}",
                "warning",
            )


def _name(series: tuple[str, ...]) -> str:
    return " ".join(part or '""' for part in series)


def _chart(counts: Counts, how: Uncertainty, short_tasks: str) -> Plot:
    """distinct@k and distinct-correct@k over k."""
    top, points = supported_k(counts), np.arange(1, _CURVE_POINTS + 1)
    if top > _CURVE_POINTS:
        points = np.unique(np.geomspace(1, top, _CURVE_POINTS).round().astype(int))
    ks = points[points <= top].tolist()
    metrics = [Metric(family, k) for family in (DISTINCT, CORRECT) for k in ks]
    rows = []
    for one in measure(counts, metrics, short_tasks, only=best_first(counts)):
        line = evaluate(counts, one, how)
        rows.append(
            {"k": one.metric.k, "solutions": line.estimate.value, "low": line.estimate.low,
             "high": line.estimate.high, "model": one.name, "kind": f"{one.metric.family}k"}
        )  # fmt: skip
    return curves(
        rows, x="k", y="solutions", low="low", high="high", colour="model", facet="kind",
        title="Different solutions among k attempts", subtitle=how.words(), x_title="k",
        y_title="solutions", y_domain=None,
    )  # fmt: skip
