"""Attempts in their order → rates by position, first@k, tests and estimates of every model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import DataError, ParameterError
from passk_cli.estimators.metric import Metric
from passk_cli.estimators.order import (
    attempts_used,
    changes,
    first_pass,
    lag_of_trend,
    lag_one,
    rates_between,
    trend_scores,
    unsolved,
)
from passk_cli.inference.intervals import THESE_TASKS, Sample, interval
from passk_cli.inference.multiplicity import ADJUSTMENTS
from passk_cli.inference.order_laws import trend_variance
from passk_cli.inference.order_tests import (
    OrderTest,
    Pairs,
    copies_test,
    neighbour_test,
    trend_test,
)
from passk_cli.inference.stopping import FIRST_PASS, LEVEL, stopping
from passk_cli.report.estimate import evaluate
from passk_cli.report.model import Estimate
from passk_cli.report.ranked import best_first
from passk_cli.report.samples import (
    Measured,
    Uncertainty,
    cluster_codes,
    measure,
    multisets,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.model import Counts

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

# More positions than this are put together in so many stretches of equal length.
_POSITIONS = 20
# Outcomes that never vary within a task deserve a word from this many tasks on, when this many of
# them always pass and as many never do.
_TASKS, _OF_EITHER, _ATTEMPTS = 20, 5, 3


STOPPED = "attempts were made until the first pass"


@dataclass(frozen=True)
class Ordered:
    """One model (and group) with its attempts in the order they were made.

    tasks : indices into Counts.tasks.  n, c : attempts and passes of each.
    start, passed : rows of attempts, as in `estimators.order`.
    """

    series: tuple[str, ...]
    tasks: Ints
    n: Ints
    c: Ints
    start: Ints
    passed: Ints

    @property
    def name(self) -> str:
        """The model and its groups, for people."""
        return " ".join(part or '""' for part in self.series)


@dataclass(frozen=True)
class Rate:
    """The pass rate of the attempts at positions first … last, from 1."""

    first: int
    last: int
    estimate: Estimate
    tasks: int
    flaw: str = ""


@dataclass(frozen=True)
class Beside:
    """first@k beside pass@k, their difference, and the attempts used when one stops at success.

    used : mean attempts with a budget of k; undefined where some unsolved task has fewer, unless
        such tasks are dropped from the others: then it counts them until their last attempt.
    flaws : what is special about the intervals of first@k and pass@k.
    """

    k: int
    first: Estimate
    any: Estimate
    difference: Estimate
    used: Estimate
    tasks: int
    flaws: tuple[str, str]


@dataclass(frozen=True)
class Findings:
    """What the order of one model's attempts shows.

    stopped : attempts were made until the first pass, so that nothing can be said about order.
    slope : change of the pass rate per attempt.  lag : correlation of neighbours; None where no
    task has both outcomes.  lag_of_trend : what of it a straight trend alone brings about.
    p : adjusted p-values of trend, neighbours, copies; NaN where nothing can be said.
    survival : share of tasks unsolved after 0, 1, … attempts.  never : tasks never solved.
    """

    ordered: Ordered
    rates: tuple[Rate, ...]
    beside: tuple[Beside, ...]
    slope: Estimate
    trend: OrderTest
    neighbours: OrderTest
    lag: float | None
    lag_of_trend: float | None
    pairs: Pairs
    stopped: bool
    survival: Floats
    never: int
    p: tuple[float, float, float] = (math.nan, math.nan, math.nan)

    @property
    def mixed(self) -> int:
        """Tasks with passes and failures."""
        return self.trend.tasks

    @property
    def constant(self) -> bool:
        """Outcomes never vary within a task, in more tasks than can be left without a word."""
        n, c = self.ordered.n, self.ordered.c
        often = n >= _ATTEMPTS
        always, ever = int((often & (c == n)).sum()), int((often & (c > 0)).sum())
        enough = min(always, int(often.sum()) - ever) >= _OF_EITHER
        return self.mixed == 0 and int(often.sum()) >= _TASKS and enough


def in_order(counts: Counts) -> list[Ordered]:
    """Every series with its attempts in order; the best first.

    Errors: DataError where attempts at the same time (or number) have different outcomes;
    ParameterError when the counts were read without the order of attempts.
    """
    found = []
    for s in best_first(counts):
        series, rows = counts.series[s], counts.rows_of(s)
        known = multisets(counts, "attempt", rows)
        tied = np.flatnonzero((known.passed > 0) & (known.passed < known.count))
        tasks, n, c = counts.task_codes[rows], counts.n[rows], counts.c[rows]
        if len(tied):
            task = tasks[np.searchsorted(known.start, tied[0], side="right") - 1]
            raise DataError(
                " ".join(series),
                f"attempts at task {counts.tasks[task]} came at the same time, some passed and some"
                " failed",
                "name a column that tells them apart with --field attempt=…",
            )
        # Attempts at the same time that end alike may stand in any order.
        passed = np.repeat((known.passed > 0).astype(np.int64), known.count)
        start = np.concatenate([[0], np.cumsum(n)])
        found.append(Ordered(series, tasks, n, c, start, passed))
    return found


def choose_ks(counts: Counts, asked: Sequence[int]) -> tuple[int, ...]:
    """The k's asked for, or 1, 2, 4, … and the most attempts that every task has.

    Errors: ParameterError for a k that no task has attempts for.
    """
    most = int(counts.n.max())
    for k in asked:
        if k > most:
            raise ParameterError(f"first@{k} needs {k} attempts; the most any task has is {most}")
    if asked:
        return tuple(dict.fromkeys(asked))
    top = max(int(counts.n[counts.rows_of(s)].min()) for s in range(len(counts.series)))
    return tuple(dict.fromkeys([*(1 << i for i in range(top.bit_length()) if 1 << i < top), top]))


def examine(
    counts: Counts,
    orders: Sequence[Ordered],
    ks: Sequence[int],
    how: Uncertainty,
    *,
    adjust: str = "holm",
    short_tasks: str = "empty",
) -> list[Findings]:
    """Every series examined; p-values adjusted over all tests of all of them.

    Errors: ParameterError for an adjustment or interval there is not.
    """
    if adjust not in ADJUSTMENTS:
        raise ParameterError(f"--adjust {adjust}: it is one of {', '.join(ADJUSTMENTS)}")
    if how.population == THESE_TASKS and how.method == "percentile":
        raise ParameterError("percentile draws new attempts, which have no order; use jackknife")
    metrics = [Metric(family, k) for k in ks for family in ("first@", "pass@")]
    by_series: dict[tuple[str, ...], list[Measured]] = {}
    for one in measure(counts, metrics, short_tasks):
        by_series.setdefault(one.series, []).append(one)
    edges = _edges(int(counts.n.max()))
    found = [_examined(counts, o, by_series[o.series], edges, how) for o in orders]
    raw = [
        [math.nan] * 3 if one.stopped else [one.trend.p, one.neighbours.p, one.pairs.smallest]
        for one in found
    ]
    adjusted = ADJUSTMENTS[adjust](np.array(raw)).tolist()
    return [replace(one, p=tuple(p)) for one, p in zip(found, adjusted, strict=True)]


def _examined(
    counts: Counts, one: Ordered, measured: Sequence[Measured], edges: Ints, how: Uncertainty
) -> Findings:
    slope, stopped = _slope(counts, one, how), _stopped(one)
    lag = lag_one(changes(one.start, one.passed), one.n, one.c)
    explained = lag_of_trend(slope.value or 0.0, one.n, one.c)
    untold = stopped or math.isnan(lag)
    return Findings(
        one,
        _rates(counts, one, edges, how),
        tuple(
            _beside(counts, one, first, any_k, how)
            for first, any_k in zip(measured[::2], measured[1::2], strict=True)
        ),
        Estimate(None, reason=STOPPED) if stopped else slope,
        trend_test(one.start, one.passed),
        neighbour_test(one.start, one.passed),
        None if untold else lag,
        None if untold else explained,
        copies_test(one.start, one.passed),
        stopped,
        unsolved(*first_pass(one.start, one.passed)),
        int((one.c == 0).sum()),
    )


def _stopped(one: Ordered) -> bool:
    """Whether attempts were made until the first pass, by their order."""
    found = stopping(one.n, one.c, last=one.passed[one.start[1:] - 1])
    return found is not None and found.kind == FIRST_PASS and found.chance < LEVEL


def _edges(longest: int) -> Ints:
    """Where stretches of positions begin, and the end: one position each, or equal stretches."""
    width = -(-longest // _POSITIONS)
    return np.append(np.arange(0, longest, width), longest)


def _rates(counts: Counts, one: Ordered, edges: Ints, how: Uncertainty) -> tuple[Rate, ...]:
    # An outcome's variance p(1−p), without bias from all attempts of its task.
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = one.c * (one.n - one.c) / (one.n * (one.n - 1.0))
    found = []
    stretches = rates_between(one.start, one.passed, edges)
    for (tasks, attempts, values), low, high in zip(stretches, edges, edges[1:], strict=False):
        if not len(tasks):
            break
        sample = Sample(
            values,
            attempts=attempts,
            within=spread[tasks] / attempts,
            clusters=cluster_codes(counts, one.tasks[tasks]),
            resamples=how.resamples,
            seed=how.seed,
        )
        estimate, flaw = _estimated(sample, how)
        found.append(Rate(int(low) + 1, int(high), estimate, len(tasks), flaw))
    return tuple(found)


def _slope(counts: Counts, one: Ordered, how: Uncertainty) -> Estimate:
    """ΣS/ΣQ as a mean over tasks, each weighted by Q: how much it can say about a slope."""
    several = one.n > 1
    if not several.any():
        return Estimate(None, reason="one attempt per task")
    scores, sizes = (each[several] for each in trend_scores(one.start, one.passed))
    n, c, scale = one.n[several], one.c[several], int(several.sum()) / sizes.sum()
    # The steepest outcomes: failures first, passes last, half and half.
    bound = float((n**2 // 4).max()) / 2 * scale
    sample = Sample(
        scores * scale,
        low=-bound,
        high=bound,
        within=trend_variance(n, c) * scale**2,
        clusters=cluster_codes(counts, one.tasks[several]),
        resamples=how.resamples,
        seed=how.seed,
    )
    estimate, _ = _estimated(sample, how.for_differences(), signed=True)
    return estimate


def _used(counts: Counts, one: Ordered, any_k: Measured, how: Uncertainty) -> Estimate:
    """Attempts per task when one stops at the first pass, or after k."""
    k = any_k.metric.k
    attempts, solved = first_pass(one.start, one.passed)
    value = attempts_used(unsolved(attempts, solved), k)
    if math.isnan(value):
        return Estimate(None, reason="no task has so many attempts", share=False)
    if not np.all(solved | (one.n >= k)):
        if any_k.values is None:
            return Estimate(None, reason=any_k.reason, share=False)
        return Estimate(value, reason="some tasks have fewer attempts: no interval", share=False)
    if k == 1:
        return Estimate(value, reason="k = 1: always one", share=False)
    sample = Sample(
        np.minimum(attempts, k).astype(np.float64),
        low=1.0,
        high=float(k),
        clusters=cluster_codes(counts, one.tasks),
        resamples=how.resamples,
        seed=how.seed,
    )
    estimate, _ = _estimated(sample, how)
    return replace(estimate, share=False)


def _beside(
    counts: Counts, one: Ordered, first: Measured, any_k: Measured, how: Uncertainty
) -> Beside:
    k = any_k.metric.k
    lines = [evaluate(counts, measured, how) for measured in (first, any_k)]
    difference = Estimate(None, reason=any_k.reason)
    if first.values is not None and any_k.values is not None:
        if np.all(any_k.n == k):
            difference = Estimate(0.0, reason="k = n: they are the same", signed=True)
        else:
            sample = Sample(
                first.values - any_k.values,
                low=-1.0,
                # Given c, first@k of a random order is 1 with probability pass@k.
                within=any_k.values * (1 - any_k.values),
                mixed=int(any_k.mixed.sum()),
                clusters=cluster_codes(counts, any_k.tasks),
                resamples=how.resamples,
                seed=how.seed,
            )
            differences = how.for_differences()
            difference, _ = _estimated(sample, differences, any_k.reason, signed=True)
    used, flaws = _used(counts, one, any_k, how), (lines[0].flaw, lines[1].flaw)
    return Beside(k, lines[0].estimate, lines[1].estimate, difference, used, len(any_k.n), flaws)


def _estimated(
    sample: Sample, how: Uncertainty, reason: str = "", *, signed: bool = False
) -> tuple[Estimate, str]:
    """A mean over tasks with its interval (or standard error), and what is special about it."""
    if how.method == "none":
        se = sample.se
        if how.population == THESE_TASKS:
            variance = math.nan if sample.within is None else float(sample.within.sum())
            se = None if math.isnan(variance) else math.sqrt(variance) / len(sample.values)
        return Estimate(sample.mean, se, reason=reason, signed=signed), ""
    found = interval(sample, how.method, how.level, how.population)
    if found.low is None:
        reason = "; ".join(filter(None, (reason, found.reason)))
    estimate = Estimate(sample.mean, None, found.low, found.high, reason, signed=signed)
    return estimate, found.reason
