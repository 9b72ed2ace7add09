"""Counts → curves over k with bands, Δ_k, gains and moments, as a report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, repeat
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import ParameterError
from passk_cli.estimators.metric import USUAL_K, Metric
from passk_cli.estimators.pass_k import at_pairs, curve_blocks
from passk_cli.inference.bands import band_level_these_tasks, band_levels_new_tasks, spread_out
from passk_cli.inference.heterogeneity import Question, Spread, both_gains, gains, spread_of_rates
from passk_cli.inference.intervals import NEW_TASKS, THESE_TASKS, Sample, interval
from passk_cli.limits import MOST_CURVE
from passk_cli.report.curve import AT, DEFICIT, DELTA, HAT, Found, Plan, Point, charts, tables, tidy
from passk_cli.report.curve_more import further
from passk_cli.report.curve_notes import (
    UNEVEN,
    captions,
    curve_signature,
    delta_notes,
    length_notes,
)
from passk_cli.report.estimate import Line, evaluate, flaw_notes
from passk_cli.report.heterogeneity import Climb, Moment, Rates
from passk_cli.report.model import Estimate, Report
from passk_cli.report.notes import plural, reading_notes
from passk_cli.report.ranked import best_first
from passk_cli.report.samples import Measured, Uncertainty, cluster_codes
from passk_cli.report.signature import span

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.model import Counts

# k's (tasks × k's without draws) computed at once for Δ_k: bounds the memory.
_BLOCK_KS, _BLOCK_CELLS = 64, 1 << 21
# Models whose curves are resampled at once, for the same reason.
_BATCH = 8


@dataclass(frozen=True)
class Stretch:
    """k's at which one series has values on the same tasks.

    tasks : indices into Counts.tasks.  n, c : their attempts and passes.  pointwise : the level of
    each interval.
    """

    series: tuple[str, ...]
    tasks: NDArray[np.int64]
    n: NDArray[np.int64]
    c: NDArray[np.int64]
    ks: NDArray[np.int64]
    pointwise: float

    @cached_property
    def size(self) -> tuple[int, int, int]:
        """Tasks, fewest and most attempts."""
        return len(self.n), int(self.n.min()), int(self.n.max())


@dataclass(frozen=True)
class Growth(Metric):
    """How much pass@k exceeds pass@start in each task."""

    start: int = 1

    @property
    def name(self) -> str:
        """As the tidy rows call it."""
        return f"pass@{self.k}-pass@{self.start}"

    def values(self, n: NDArray[np.int64], c: NDArray[np.int64]) -> NDArray[np.float64]:
        """Its values at each (n, c) pair, in [0, 1]; NaN where n < k."""
        return at_pairs(n, c, self.k) - at_pairs(n, c, self.start)


def curve_report(counts: Counts, how: Uncertainty, plan: Plan) -> Report:
    """pass@k and pass^k over k for every model, what more attempts gain, and Δ_k when asked for."""
    _require(counts, how, plan)
    by_series = [stretches(counts, s, how, plan) for s in best_first(counts)]
    if plan.band == "simultaneous":
        by_series = _with_bands(counts, by_series, how)
    points: list[Point] = []
    lines: list[Line] = []
    for each in by_series:
        both = [_measured(counts, stretch, how) for stretch in each]
        for place in (0, 1):
            for stretch, measured in zip(each, both, strict=True):
                lines += measured[place]
                points += [_point(line, stretch, how) for line in measured[place]]
        if plan.more:
            place = counts.series.index(each[0].series)
            ks = [k for stretch in each for k in stretch.ks.tolist()]
            for point, line in further(counts, place, ks, how, plan):
                points.append(point)
                lines.append(line)
        if plan.delta:
            added = [p for stretch in each for p in _uneven(counts, stretch, how)]
            points += sorted(added, key=lambda p: p.metric == DEFICIT)
    found = Found(
        points,
        [climb for each in by_series for climb in _climbs(counts, each, how)],
        [_rates(counts, each[0], how, plan.delta) for each in by_series],
        counts.group_names,
        None if how.method == "none" else how.level,
        how.population,
    )
    caption, uneven = captions(by_series, how, plan)
    notes = (*reading_notes(counts), *length_notes(counts, by_series, plan), *flaw_notes(lines))
    return Report(
        tables=tables(found),
        data=tidy(found),
        caption=f"{caption} · Δ_k, deficit, sd, skewness: {uneven}" if plan.delta else caption,
        notes=(*notes, *delta_notes(found)),
        signature=curve_signature(counts, by_series, how, plan),
        charts=charts(found, caption, uneven),
    )


def _require(counts: Counts, how: Uncertainty, plan: Plan) -> None:
    """ParameterError for what these data or this interval cannot give."""
    if plan.band == "simultaneous":
        if how.method == "none":
            raise ParameterError("--band simultaneous needs an interval; leave --interval none out")
        if how.population == THESE_TASKS and how.method != "jackknife":
            raise ParameterError(
                f"--band simultaneous for these tasks is made of jackknife intervals, not"
                f" {how.method}; leave --interval out"
            )
    most = int(counts.n.max())
    if (last := min(plan.max_k or most, most)) > MOST_CURVE:
        raise ParameterError(
            f"k up to {last:,} is too far for a curve of counts; name --max-k, at most"
            f" {MOST_CURVE:,}"
        )
    if plan.max_k is not None and plan.max_k > most:
        raise ParameterError(
            f"--max-k {plan.max_k} needs {plural(plan.max_k, 'attempt')} per task;"
            f" the most any task has is {most}"
        )


def stretches(counts: Counts, s: int, how: Uncertainty, plan: Plan) -> list[Stretch]:
    """The stretches of a series: one, or one per number of tasks left with `drop`."""
    rows = counts.rows_of(s)
    n, c, tasks = counts.n[rows], counts.c[rows], counts.task_codes[rows]
    drop = plan.short_tasks == "drop"
    k_max = int(n.max() if drop else n.min())
    ks = plan.ks(k_max if plan.max_k is None else min(plan.max_k, k_max))
    ends = np.unique(n) if drop else np.array([k_max])
    found = []
    for after, until in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        enough, here = n >= until, ks[(ks > after) & (ks <= until)]
        if len(here):
            kept = (counts.series[s], tasks[enough], n[enough], c[enough], here)
            found.append(Stretch(*kept, how.level))
    return found


def _with_bands(
    counts: Counts, by_series: Sequence[list[Stretch]], how: Uncertainty
) -> list[list[Stretch]]:
    """The stretches, one of each series, at the pointwise levels of simultaneous bands."""
    alone = [each[0] for each in by_series]
    cells = [(one.n, one.c, spread_out(one.ks)) for one in alone]
    resamples, seed = how.resamples, how.seed
    if how.population == THESE_TASKS:
        levels = [
            band_level_these_tasks(*one, how.level, resamples=resamples, seed=seed) for one in cells
        ]
        return [[replace(s, pointwise=at)] for s, at in zip(alone, levels, strict=True)]
    # Models with the same number of tasks (and clusters) share the resampled tasks.
    together: dict[tuple[int, bytes], list[int]] = {}
    for i, one in enumerate(alone):
        codes = cluster_codes(counts, one.tasks)
        key = len(one.tasks), b"" if codes is None else codes.tobytes()
        together.setdefault(key, []).append(i)
    for places in together.values():
        for batch in (places[i : i + _BATCH] for i in range(0, len(places), _BATCH)):
            codes = cluster_codes(counts, alone[batch[0]].tasks)
            some = [cells[i] for i in batch]
            levels = band_levels_new_tasks(
                some, how.level, clusters=codes, resamples=resamples, seed=seed
            )
            for i, level in zip(batch, levels, strict=True):
                alone[i] = replace(alone[i], pointwise=level)
    return [[one] for one in alone]


def _measured(counts: Counts, stretch: Stretch, how: Uncertainty) -> tuple[list[Line], list[Line]]:
    """pass@k and pass^k at each k of a stretch, as `passk estimate` gives them at its level."""
    how = replace(how, level=stretch.pointwise)
    bare = how.method == "none" and how.population == NEW_TASKS and counts.clusters is None
    found: tuple[list[Line], list[Line]] = ([], [])
    for here, *both in curve_blocks(stretch.n, stretch.c, stretch.ks):
        for lines, metric, values in zip(found, (AT, HAT), both, strict=True):
            kept = repeat(None) if bare else values
            given = (stretch.series, stretch.tasks, stretch.n, stretch.c)
            each = [
                Measured(given[0], Metric(metric, k), *given[1:], v)
                for k, v in zip(stretch.ks[here].tolist(), kept, strict=False)
            ]
            if bare:
                lines += _without_intervals(each, values)
                continue
            lines += [_evaluated(counts, one, how) for one in each]
    return found


def _evaluated(counts: Counts, one: Measured, how: Uncertainty) -> Line:
    """As `evaluate`, without the values: those of a long curve would fill the memory."""
    line = evaluate(counts, one, how)
    return replace(line, measured=replace(one, values=None))


def _without_intervals(each: Sequence[Measured], values: NDArray[np.float64]) -> Iterator[Line]:
    """As `_evaluated`, for thousands of k's at once.  values : (k's × tasks)."""
    tasks = values.shape[1]
    means = values.mean(axis=1).tolist()
    errors: list[float | None] = [None] * len(each)
    if tasks > 1:
        errors = (values.std(axis=1, ddof=1) / math.sqrt(tasks)).tolist()
    for one, mean, se in zip(each, means, errors, strict=True):
        yield Line(one, Estimate(mean, se), se, method="none")


def _point(line: Line, stretch: Stretch, how: Uncertainty) -> Point:
    metric = line.measured.metric
    pointwise = None if how.method == "none" else stretch.pointwise
    return Point(
        stretch.series, metric.family, metric.k, line.estimate, line.se, None, stretch.size,
        line.method, pointwise, line.flaw,
    )  # fmt: skip


def _question(counts: Counts, stretch: Stretch, how: Uncertainty) -> Question:
    level = None if how.method == "none" else how.level
    clusters = cluster_codes(counts, stretch.tasks) if how.population == NEW_TASKS else None
    return Question(how.population, level, clusters, how.resamples, how.seed)


def _uneven(counts: Counts, stretch: Stretch, how: Uncertainty) -> Iterator[Point]:
    """Δ_k and the coverage deficit at each k of a stretch."""
    question = _question(counts, stretch, how)
    size = _BLOCK_KS if question.level else max(_BLOCK_KS, _BLOCK_CELLS // len(stretch.n))
    for start in range(0, len(stretch.ks), size):
        ks = stretch.ks[start : start + size]
        both = both_gains(stretch.n, stretch.c, ks, question)
        for metric, found in zip((DELTA, DEFICIT), both, strict=True):
            columns = (found.estimate, found.se, found.low, found.high, found.bound)
            for k, *numbers in zip(ks.tolist(), *(each.tolist() for each in columns), strict=True):
                yield _uneven_point(stretch, metric, k, numbers, question)


def _uneven_point(
    stretch: Stretch, metric: str, k: int, numbers: Sequence[float], question: Question
) -> Point:
    """numbers : estimate, se, low, high and bound; NaN where undefined."""
    value, se, low, high, bound = (None if math.isnan(v) else v for v in numbers)
    note = ""
    if value is None:
        codes = question.clusters
        units = len(stretch.n) if codes is None else int(codes.max()) + 1
        kind = "tasks" if codes is None else "clusters"
        note = f"μ^k needs k different {kind}; there are {units}"
    elif low is None and question.level is not None:
        note = "no attempt can be left out: n = k on some task (it needs n > k)"
    bare = question.level is None
    return Point(
        stretch.series, metric, k, Estimate(value, se if bare else None, low, high, note), se,
        bound, stretch.size, _uneven_method(question), question.level, note,
    )  # fmt: skip


def _uneven_method(question: Question) -> str:
    if question.level is None:
        return "none"
    return UNEVEN[question.population]


def _climbs(counts: Counts, each: Sequence[Stretch], how: Uncertainty) -> Iterator[Climb]:
    """From 1 to 10 to 100, as far as the curve goes; from 1 to its end when that is below 10."""
    k_max = int(each[-1].ks[-1])
    steps = [k for k in USUAL_K if k <= k_max]
    steps = steps if len(steps) > 1 else sorted({1, k_max})
    for start, k in pairwise(steps):
        stretch = next(s for s in each if s.ks[-1] >= k)
        n, c = stretch.n, stretch.c
        growth = Growth(AT, k, start=start)
        given = Measured(stretch.series, growth, stretch.tasks, n, c, growth.values(n, c))
        line = evaluate(counts, given, how)
        question = replace(_question(counts, stretch, how), level=None)
        # Equally hard tasks would lose no coverage: their growth is larger by what is lost more.
        lost = gains(n, n - c, np.array([start, k]), question).estimate
        even = float((line.estimate.value or 0.0) + lost[1] - lost[0])
        yield Climb(
            stretch.series, start, k, line.estimate, line.se, None if math.isnan(even) else even,
            stretch.size, how.method, line.flaw,
        )  # fmt: skip


def _rates(counts: Counts, stretch: Stretch, how: Uncertainty, moments: bool) -> Rates:
    """Shares of tasks observed at 0 and at 1, and the moments of the success rates."""
    n, c = stretch.n, stretch.c
    told: list[Moment] = []
    if moments:
        one = Measured(stretch.series, Metric(AT, 1), stretch.tasks, n, c, at_pairs(n, c, 1))
        mean = evaluate(counts, one, how)
        told.append(Moment("mean", mean.estimate, mean.se, how.method, mean.flaw))
        question = _question(counts, stretch, how)
        for name, spread in zip(("sd", "skewness"), spread_of_rates(n, c, question), strict=True):
            told.append(_moment(name, spread, question))
    return Rates(
        stretch.series,
        _share(counts, stretch, "never", c == 0, how),
        _share(counts, stretch, "always", c == n, how),
        tuple(told),
        span(int(n.min()), int(n.max())),
        stretch.size,
    )


def _moment(name: str, spread: Spread, question: Question) -> Moment:
    bare = question.level is None
    e = Estimate(
        spread.value, spread.se if bare else None, spread.low, spread.high, spread.reason,
        signed=name == "skewness", share=name != "skewness",
    )  # fmt: skip
    return Moment(name, e, spread.se, _uneven_method(question), spread.reason)


def _share(
    counts: Counts, stretch: Stretch, name: str, which: NDArray[np.bool_], how: Uncertainty
) -> Moment:
    """A share of tasks, which has an interval where the tasks are a sample."""
    values = which.astype(np.float64)
    mean = float(values.mean())
    if how.population == THESE_TASKS:
        return Moment(name, Estimate(mean), note="a count of these tasks as they were attempted")
    sample = Sample(
        values, clusters=cluster_codes(counts, stretch.tasks), resamples=how.resamples,
        seed=how.seed,
    )  # fmt: skip
    if how.method == "none":
        return Moment(name, Estimate(mean, sample.se), sample.se)
    found = interval(sample, how.method, how.level, how.population)
    estimate = Estimate(mean, low=found.low, high=found.high)
    return Moment(name, estimate, sample.se, how.method, found.reason)
