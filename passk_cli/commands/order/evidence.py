"""The order of attempts: pass rates by position, first@k and pass@k, tests and verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from passk_cli.activity import items_with_progress
from passk_cli.arrays import Bools, Floats, Ints
from passk_cli.errors import DataError, ParameterError
from passk_cli.inference.adjust import ADJUSTMENTS
from passk_cli.inference.exchangeability import (
    CopiesTest,
    OrderTest,
    copies_test,
    neighbour_test,
    trend_score_variance,
    trend_test,
)
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.inference.stopping import (
    FIRST_PASS,
    OPTIONAL_STOPPING_LEVEL,
    detect_optional_stopping,
)
from passk_cli.inference.weighted_means import STANDARD_NORMAL
from passk_cli.metrics.attempt_order import (
    first_pass,
    mean_attempts_used,
    neighbour_changes,
    neighbour_correlation,
    neighbour_correlation_of_trend,
    rates_by_position_range,
    trend_scores_and_weights,
    unsolved_shares,
)
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Estimate
from passk_cli.report.phrases import SeriesName
from passk_cli.study.analysis import Analysis
from passk_cli.study.result import Result, SampleSize
from passk_cli.study.values import SeriesKey, attempts_of
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix

# If there are more than _MAX_POSITION_RANGES positions of attempts, passk groups the positions into
# ranges of equal length.
_MAX_POSITION_RANGES = 20
_TASKS, _MIN_CONSTANT, _ATTEMPTS = 20, 5, 3
STOPPED_AT_FIRST_PASS_REASON = "attempts were made until the first pass"
FIRST_EQUALS_PASS_AT_K_REASON = "k = n: first@k and pass@k are equal"
DECLINING, IMPROVING, UNCLEAR = "declining", "improving", "unclear"
ALIKE, ALTERNATING = "correlated", "alternating"
COPIES, AGREEING = "copies?", "pairs agree"
NOT_SIGNIFICANT_VERDICTS = ("not significant", "not significant", "none found")
UNTESTABLE = "cannot be tested"
# The power of the test of neighbours is known only if there are at least
# _MIN_NEIGHBOUR_TEST_ATTEMPTS attempts per task.
_MIN_NEIGHBOUR_TEST_ATTEMPTS = 8
DEPENDENT, INDEPENDENT = "not independent", "none found"


@dataclass(frozen=True)
class AttemptsInOrder:
    """The attempts of one model (and group) in the order in which they were made.

    The outcomes of each task are consecutive entries of `passed`, as in `metrics.attempt_order`.
    """

    series: SeriesKey
    task_codes: Ints
    n: Ints
    c: Ints
    task_starts: Ints
    passed: Ints

    @property
    def name(self) -> str:
        return SeriesName(self.series)

    @property
    def size(self) -> SampleSize:
        return SampleSize(len(self.n), int(self.n.min()), int(self.n.max()))

    @cached_property
    def attempts_to_first_pass_and_solved(self) -> tuple[Ints, Bools]:
        """For each task, the attempts up to the first pass, and whether any attempt passed."""
        return first_pass(self.task_starts, self.passed)

    @cached_property
    def unsolved_share_by_attempt(self) -> Floats:
        """The share of tasks that are still unsolved after 0, 1, 2, … attempts."""
        return unsolved_shares(*self.attempts_to_first_pass_and_solved)

    @cached_property
    def stopped_at_first_pass(self) -> bool:
        """Whether the order shows that attempts at a task ended with the first pass."""
        end = detect_optional_stopping(self.n, self.c, last=self.passed[self.task_starts[1:] - 1])
        return (
            end is not None
            and end.kind == FIRST_PASS
            and end.max_data_probability_if_n_fixed < OPTIONAL_STOPPING_LEVEL
        )


class FirstAtKVersusPassAtK(NamedTuple):
    """first@k and pass@k, their difference, and the number of attempts up to the first pass.

    The number of attempts is at most k. It is undefined if an unsolved task has too few attempts.
    The mean number also includes tasks that `--short-tasks drop` leaves out.
    """

    first_at_k: Result
    pass_at_k: Result
    difference: Result
    mean_attempts_to_first_pass: Result

    @property
    def series(self) -> SeriesKey:
        return self.pass_at_k.series


class AttemptPairAgreeingTooOften(NamedTuple):
    """Two attempts with outcomes that agree more often than independent attempts would agree."""

    series: SeriesKey
    model_name: str
    attempt_numbers: tuple[int, int]
    task_count: int
    differing_task_count: int
    expected_differing_tasks: float
    p: float
    p_adjusted: float
    looks_copied: bool


class OrderTestVerdicts(NamedTuple):
    """The verdicts of the tests for a trend, for correlated neighbours, and for agreeing pairs."""

    trend: str
    neighbours: str
    copies: str


@dataclass(frozen=True)
class OrderEvidence:
    """The evidence on whether the attempts of one model are exchangeable.

    neighbour_correlation : correlation of neighbouring attempts.
    correlation_from_trend : correlation that the estimated linear trend would cause.
    trend_test, neighbour_test, copies_test : the three tests, with p-values before the adjustment.
    adjusted_p : the p-values of the three tests, adjusted for all tests of all models.
    alpha : the largest p-value that is significant.
    """

    attempts_in_order: AttemptsInOrder
    position_rates: tuple[Result, ...]
    first_vs_pass_at_k_comparisons: tuple[FirstAtKVersusPassAtK, ...]
    slope: Result
    trend_test: OrderTest
    neighbour_test: OrderTest
    neighbour_correlation: float | None
    correlation_from_trend: float | None
    copies_test: CopiesTest
    adjusted_p: tuple[float | None, ...] = (None, None, None)
    alpha: float = math.nan

    @property
    def series(self) -> SeriesKey:
        return self.attempts_in_order.series

    @property
    def mixed_task_count(self) -> int:
        """The number of tasks that have both passes and failures."""
        return self.trend_test.informative_task_count

    @property
    def unsolved_task_count(self) -> int:
        """The number of tasks that no attempt solved."""
        return int((self.attempts_in_order.c == 0).sum())

    @property
    def unadjusted_p_values(self) -> tuple[float, float, float]:
        """The p-values of the three tests before the adjustment."""
        if self.attempts_in_order.stopped_at_first_pass:
            return math.nan, math.nan, math.nan
        return self.trend_test.p, self.neighbour_test.p, self.copies_test.smallest_p

    @property
    def is_outcome_constant_per_task(self) -> bool:
        """Whether no task has both outcomes, although many tasks pass and many other tasks fail."""
        n, c = self.attempts_in_order.n, self.attempts_in_order.c
        often = n >= _ATTEMPTS
        always, ever = int((often & (c == n)).sum()), int((often & (c > 0)).sum())
        enough = min(always, int(often.sum()) - ever) >= _MIN_CONSTANT
        return self.mixed_task_count == 0 and int(often.sum()) >= _TASKS and enough

    @cached_property
    def verdicts(self) -> OrderTestVerdicts:
        """The verdict of each test, which may be UNTESTABLE.

        The trend test assumes that all orders of the attempts are equally likely. If neighbouring
        attempts are correlated, passk reports a trend only if the interval of the slope also
        excludes 0, because this interval is valid for any dependence.
        """
        correlated = self.neighbour_test.statistic < self.neighbour_test.null_mean
        rejected = (
            DECLINING if self.trend_test.statistic < 0 else IMPROVING,
            ALIKE if correlated else ALTERNATING,
            COPIES if any(pair.looks_copied for pair in self.agreeing_attempt_pairs) else AGREEING,
        )
        trend, neighbours, copies = (
            UNTESTABLE if p is None else significant if p <= self.alpha else not_rejected
            for p, significant, not_rejected in zip(
                self.adjusted_p, rejected, NOT_SIGNIFICANT_VERDICTS, strict=True
            )
        )
        if trend in (DECLINING, IMPROVING) and neighbours == ALIKE and self.slope_may_be_zero:
            trend = UNCLEAR
        return OrderTestVerdicts(
            trend, neighbours, COPIES if self.is_outcome_constant_per_task else copies
        )

    def detectable_effects(self, tests: int) -> tuple[float, float]:
        """The trend per attempt and the lag-1 correlation that the tests find with power 0.8.

        Both effects are z₁₋α/₂ₘ + z₀.₈ times the standard deviation over random orders, for the
        first step of Holm's method with m tests. Correlated attempts leave fewer tasks with both
        outcomes and increase the variance, so passk increases the correlation ρ to ρ (1 + ρ). The
        correlation is NaN if the median task has fewer than 8 attempts, because correlated attempts
        then leave hardly any task with both outcomes (benchmarks/order.md).
        """
        reach = STANDARD_NORMAL.inv_cdf(1 - self.alpha / (2 * tests)) + STANDARD_NORMAL.inv_cdf(0.8)
        sizes = float(
            trend_scores_and_weights(
                self.attempts_in_order.task_starts, self.attempts_in_order.passed
            )[1].sum()
        )
        slope, neighbours, lag = (
            reach * self.trend_test.null_sd / sizes,
            self.neighbour_test,
            math.nan,
        )
        if (
            neighbours.informative_task_count
            and np.median(self.attempts_in_order.n) >= _MIN_NEIGHBOUR_TEST_ATTEMPTS
        ):
            lag = reach * neighbours.null_sd / neighbours.null_mean
        return slope, lag * (1 + lag)

    @property
    def verdict(self) -> str:
        """DEPENDENT if a test is significant, UNTESTABLE if no test is possible, or INDEPENDENT."""
        if set(self.verdicts) - {UNTESTABLE, *NOT_SIGNIFICANT_VERDICTS}:
            return DEPENDENT
        return UNTESTABLE if set(self.verdicts) == {UNTESTABLE} else INDEPENDENT

    def has_only_interval_excluding_zero(self, ks: Sequence[int]) -> bool:
        """Whether no test is significant, but an interval of the slope or a difference excludes 0.

        The differences are first@k − pass@k at the given k's.
        """
        differences = [
            comparison.difference.estimate
            for comparison in self.first_vs_pass_at_k_comparisons
            if comparison.pass_at_k.k in ks
        ]
        estimates = [self.slope.estimate, *differences]
        limits = [(e.low, e.high) for e in estimates if e.low is not None and e.high is not None]
        return self.verdict == INDEPENDENT and any(low > 0 or high < 0 for low, high in limits)

    @cached_property
    def agreeing_attempt_pairs(self) -> list[AttemptPairAgreeingTooOften]:
        pairs, p = self.copies_test, self.adjusted_p[2]
        if p is None or p > self.alpha:
            return []
        return [
            AttemptPairAgreeingTooOften(
                self.series, self.attempts_in_order.name,
                (int(pairs.first_positions_of_pairs[i]) + 1,
                    int(pairs.second_positions_of_pairs[i]) + 1),
                int(pairs.compared_task_counts[i]), int(pairs.differing_task_counts[i]),
                float(pairs.expected_differing_tasks[i]),
                float(pairs.p[i]), float(pairs.adjusted[i]), bool(pairs.are_pairs_copies[i]),
            )
            for i in np.flatnonzero(pairs.adjusted <= self.alpha).tolist()
        ]  # fmt: skip

    @property
    def slope_may_be_zero(self) -> bool:
        """Whether the interval of the slope (± 2 standard errors, if known) includes 0."""
        slope = self.slope.estimate
        low, high = slope.low, slope.high
        if slope.value is not None and slope.se is not None:
            low, high = slope.value - 2 * slope.se, slope.value + 2 * slope.se
        return low is not None and high is not None and low <= 0.0 <= high


def ordered_attempts(counts: Counts, best: Sequence[int]) -> list[AttemptsInOrder]:
    """The attempts of several series, in the order in which they were made.

    best : indices of the series.
    Errors: DataError if attempts with the same time or number have different outcomes.
    """
    orders = []
    for s in best:
        series, rows = counts.series[s], counts.slice_of_series(s)
        bag = attempts_of(counts, "attempt", rows)
        tied = np.flatnonzero((bag.pass_count > 0) & (bag.pass_count < bag.count))
        tasks, n, c = counts.task_codes[rows], counts.n[rows], counts.c[rows]
        if len(tied):
            task = tasks[np.searchsorted(bag.cell_offsets, tied[0], side="right") - 1]
            raise DataError(
                SeriesName(series),
                f"attempts at task {counts.tasks[task]} have the same time or number, but different"
                " outcomes",
                settles=[
                    SuggestedFix({"--field": {"attempt": Placeholder("COLUMN")}}, "orders them")
                ],
            )
        passed = np.repeat((bag.pass_count > 0).astype(np.int64), bag.count)
        start = np.concatenate([[0], np.cumsum(n)])
        orders.append(AttemptsInOrder(series, tasks, n, c, start, passed))
    return orders


def order_evidence(study: Analysis) -> list[OrderEvidence]:
    """The evidence about the order of attempts for all models. The best model comes first.

    The p-values of all models are adjusted together.
    """
    confidence = study.confidence
    if confidence.population == THESE_TASKS and confidence.method == "percentile":
        raise ParameterError(
            OptionWithValue("--interval", "percentile"),
            "percentile intervals come from newly drawn attempts, which have no order; use"
            " jackknife",
        )
    longest, best = int(study.counts.n.max()), study.series_indices_by_pass_rate
    edges = np.append(np.arange(0, longest, -(-longest // _MAX_POSITION_RANGES)), longest)
    orders = ordered_attempts(study.counts, best)
    facts = study.results(study.task_values(only=best))
    metric_count = len(study.metrics)
    evidence = [
        _model_evidence(study, order, facts[i * metric_count : (i + 1) * metric_count], edges)
        for i, order in enumerate(items_with_progress(orders, "computing", "models"))
    ]
    raw = np.array([model.unadjusted_p_values for model in evidence])
    adjusted = ADJUSTMENTS[study.comparison_options.adjustment_without_sign_flips()](raw).tolist()
    alpha = 1 - confidence.level + 1e-12
    return [
        replace(
            model, adjusted_p=tuple(None if math.isnan(p) else p for p in p_values), alpha=alpha
        )
        for model, p_values in zip(evidence, adjusted, strict=True)
    ]


def _model_evidence(
    study: Analysis, order: AttemptsInOrder, facts: Sequence[Result], edges: Ints
) -> OrderEvidence:
    slope = _slope(study, order)
    lag = neighbour_correlation(
        neighbour_changes(order.task_starts, order.passed), order.n, order.c
    )
    of_trend = neighbour_correlation_of_trend(slope.estimate.value or 0.0, order.n, order.c)
    silent = order.stopped_at_first_pass or math.isnan(lag)
    if order.stopped_at_first_pass:
        slope = replace(slope, estimate=Estimate(None, reason=STOPPED_AT_FIRST_PASS_REASON))
    half = len(facts) // 2
    pairs = zip(facts[:half], facts[half:], strict=True)
    return OrderEvidence(
        order, tuple(_rates_by_position_range(study, order, edges)),
        tuple(_compare_first_with_pass_at_k(study, order, *pair) for pair in pairs), slope,
        trend_test(order.task_starts, order.passed), neighbour_test(order.task_starts,
            order.passed),
        None if silent else lag, None if silent else of_trend,
        copies_test(order.task_starts, order.passed),
    )  # fmt: skip


def _rates_by_position_range(
    study: Analysis, order: AttemptsInOrder, edges: Ints
) -> Iterator[Result]:
    # The estimate of the variance p(1 − p) of an outcome uses all attempts at a task, and is
    # unbiased.
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = order.c * (order.n - order.c) / (order.n * (order.n - 1.0))
    stretches = rates_by_position_range(order.task_starts, order.passed, edges)
    for (tasks, attempts, values), low, high in zip(stretches, edges, edges[1:], strict=False):
        if not len(tasks):
            break
        rate = study.mean_result(
            order.series, "rate", values, order.task_codes[tasks], order.n,
            within=spread[tasks] / attempts, attempts=attempts,
        )  # fmt: skip
        yield replace(rate, k=int(low) + 1, extra_fields={"k_to": int(high)})


def _slope(study: Analysis, order: AttemptsInOrder) -> Result:
    several = order.n > 1
    if not several.any():
        nothing = Estimate(None, reason="one attempt per task")
        return Result(order.series, "trend", None, nothing, size=order.size)
    scores, sizes = (
        values[several] for values in trend_scores_and_weights(order.task_starts, order.passed)
    )
    n, c, scale = order.n[several], order.c[several], int(several.sum()) / sizes.sum()
    bound = float((n**2 // 4).max()) / 2 * scale
    slope = study.mean_result(
        order.series, "trend", scores * scale, order.task_codes[several], n, bounds=(-bound, bound),
        within=trend_score_variance(n, c) * scale**2, confidence=study.confidence.for_differences(),
    )  # fmt: skip
    return replace(slope, estimate=replace(slope.estimate, signed=True, unit="share"))


def _mean_attempts_to_first_pass(
    study: Analysis, order: AttemptsInOrder, any_k: Result, k: int
) -> Result:
    attempts, solved = order.attempts_to_first_pass_and_solved
    expected = mean_attempts_used(order.unsolved_share_by_attempt, k)
    value: float | None = expected
    if math.isnan(expected):
        value, reason = None, f"no task has {k} attempts"
    elif not np.all(solved | (order.n >= k)):
        reason = "no interval, because some tasks have fewer attempts"
        if any_k.estimate.value is None:
            value, reason = None, any_k.estimate.reason
    elif k == 1:
        reason = "k = 1: always one attempt"
    else:
        until = np.minimum(attempts, k).astype(np.float64)
        mean = study.mean_result(
            order.series, "attempts used", until, order.task_codes, order.n, bounds=(1.0, float(k)),
            within=np.full(len(until), np.nan),
        )  # fmt: skip
        return replace(mean, k=k)
    estimate = Estimate(value, reason=reason, unit="score")
    return Result(order.series, "attempts used", k, estimate, size=order.size)


def _compare_first_with_pass_at_k(
    study: Analysis, order: AttemptsInOrder, first: Result, any_k: Result
) -> FirstAtKVersusPassAtK:
    k, name = int(any_k.k or 0), f"{first.name} − {any_k.name}"
    difference = Result(order.series, name, k, Estimate(None, reason=any_k.estimate.reason))
    difference = replace(difference, size=any_k.size)
    if first.values is not None and any_k.values is not None and any_k.values.has_values:
        values, n, tasks = any_k.values.values, any_k.values.n, any_k.values.tasks
        first_values = first.values.restrict(tasks)
        if len(tasks) < len(first.values.tasks):
            (first,) = study.results([first_values])
        if np.all(n == k):
            same = Estimate(0.0, reason=FIRST_EQUALS_PASS_AT_K_REASON, signed=True)
            difference = replace(difference, estimate=same)
        else:
            # If a task has c passes in random order, first@k is 1 with probability pass@k.
            mean = study.mean_result(
                order.series, name, first_values.values - values, tasks, n,
                bounds=(-1.0, 1.0), within=values * (1 - values),
                mixed=int(any_k.values.mixed_task_mask.sum()),
                confidence=study.confidence.for_differences(),
            )  # fmt: skip
            reason = "; ".join(filter(None, (any_k.estimate.reason, mean.estimate.reason)))
            estimate = replace(mean.estimate, reason=reason, signed=True, unit="share")
            difference = replace(mean, k=k, estimate=estimate)
    return FirstAtKVersusPassAtK(
        first, any_k, difference, _mean_attempts_to_first_pass(study, order, any_k, k)
    )
