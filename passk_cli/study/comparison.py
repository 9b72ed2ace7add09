"""Compares two models task by task, and computes the mean difference and its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from passk_cli.arrays import Floats, Ints, arrays_equal, group_by, group_pairs, row_blocks
from passk_cli.errors import DataError
from passk_cli.inference.discordance import score_limits
from passk_cli.inference.hull_interval import MetricCounts
from passk_cli.inference.intervals import (
    GUARDED_T,
    PAIRED_SCORE,
    Interval,
    IntervalData,
    equivalence_p_values,
    intervals,
)
from passk_cli.inference.judge_correction import MODEL_COMPARISON_MIN_TASKS
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.inference.sampling_variance import difference_variance_floor
from passk_cli.metrics.registry import MetricChange
from passk_cli.report.data_types import Cell, Estimate, number_or_range_cell
from passk_cli.study.result import Result, SampleSize
from passk_cli.study.significance_options import ALL
from passk_cli.study.values import EMPTY_TASK_INDEX_ARRAY, EMPTY_VALUE_ARRAY, TaskValues
from passk_cli.suggested_fix import SuggestedFix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from passk_cli.inference.cost_per_success import RatioInterval
    from passk_cli.inference.difference import StudentDifferenceDistribution
    from passk_cli.outcomes.attempts import AttemptValuesByCell
    from passk_cli.study.confidence import Confidence

    TaskIndicesOrSlice = Ints | slice

# One computation of intervals contains at most _MAX_VALUES_PER_BATCH differences, which limits the
# memory.
_MAX_VALUES_PER_BATCH = 1 << 21
# One computation of variance floors contains at most _MAX_COUNTS_PER_BATCH counts, so that the
# counts fit into the CPU cache.
_MAX_COUNTS_PER_BATCH = 1 << 17
_ALL_TASKS = slice(None)

Value = TypeVar("Value")


class _CachedProperty(Generic[Value]):
    """A cached property that needs 1.5 kB less per comparison than `cached_property`."""

    def __init__(self, compute: Callable[[Comparison], Value]) -> None:
        self._compute, self._name = compute, compute.__name__

    def __get__(self, comparison: Comparison, owner: type) -> Value:
        cache = comparison.cache
        if cache.setdefault("values", comparison.values) is not comparison.values:
            return self._compute(comparison)
        if self._name not in cache:
            cache[self._name] = self._compute(comparison)
        value: Value = cache[self._name]
        return value


@dataclass(frozen=True)
class Comparison:
    """The comparison of two models by one metric, on the tasks that both models have.

    first, second : the task values of both models.  The difference is first − second.
    shared_task_indices : indices of the shared tasks in `first` and in `second`.
    only_in_first_count, only_in_second_count : number of tasks that only one model has.
    p, adjusted : the p-value of the hypothesis that there is no difference, and the adjusted
        p-value, or NaN if there is no test.
    smallest_p : the smallest p-value that the test can give.
    test : name of the test.
    adjustment : the adjustment of p ("min-p", "holm", "bh" or "none"), or "" if there is no p.
    alpha : the largest p that is significant after the adjustment.  The level of the interval is
        1 − alpha.
    equivalence : adjusted p-value of the equivalence tests, or NaN if there is no margin.
    family : the tests that are adjusted together: "all", "primary" or "secondary" (by metric).
    verdict : verdict on the first model ("better", "worse", "equivalent" or "tied"), or "".
    missing_bounds : if missing outcomes may pass or fail, the two comparisons with the lowest and
        the highest difference.  The difference is lowest if missing outcomes of the first model
        fail and missing outcomes of the second model pass.
    comparison_at_opposite_bound : for one of the two comparisons in `missing_bounds`, the other
        comparison.
    variance_floor : the smallest possible variance of the mean difference, or None if it is not yet
        computed.
    distribution : the distribution from which the test computes p, and the row of the distribution
        for this comparison, or None if the test has no distribution.
    ratio : the mean of the first model divided by the mean of the second model, with limits.
    cache : computed properties, which comparisons with the same values share.
    """

    first: TaskValues
    second: TaskValues
    tasks: Ints
    values: tuple[Floats, Floats]
    shared_task_indices: tuple[TaskIndicesOrSlice, TaskIndicesOrSlice]
    only_in_first_count: int
    only_in_second_count: int
    clusters: Ints | None = None
    reason: str = ""
    interval: Interval | None = None
    p: float = math.nan
    smallest_p: float = math.nan
    adjusted: float = math.nan
    test: str = ""
    adjustment: str = ""
    alpha: float = math.nan
    equivalence: float = math.nan
    equivalent: bool = False
    family: str = ALL
    verdict: str = ""
    missing_bounds: tuple[Comparison, ...] = ()
    comparison_at_opposite_bound: Comparison | None = None
    variance_floor: float | None = None
    distribution: tuple[StudentDifferenceDistribution, int] | None = None
    ratio: RatioInterval | None = None
    cache: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    factor_of_second: float = 1.0

    def with_scaled_second_values(self, share: float) -> Comparison:
        """The comparison after the values of the second model are multiplied by a factor.

        The interval of the new difference excludes 0 if the ratio of the two means differs
        significantly from the factor.
        """
        first, second = self.values
        return self.with_changes(
            values=(first, second * (share / self.factor_of_second)),
            factor_of_second=share,
            distribution=None,
            cache={"why_not_binary": "values of a scaled comparison are not differences"},
        )  # fmt: skip

    def with_changes(self, **results: Any) -> Comparison:
        """A copy of the comparison with some changed attributes, for example p or the interval, and
        with the same cache."""
        assert all(hasattr(self, name) for name in results), results
        comparison = object.__new__(Comparison)
        comparison.__dict__.update(self.__dict__, **results)
        return comparison

    @property
    def differences(self) -> Floats:
        """The difference between the values of the two models at each shared task."""
        return self.values[0] - self.values[1]

    @property
    def label_variance_and_degrees(self) -> tuple[float, int | None]:
        """The variance that the correction by labels adds to the mean difference, and the degrees
        of freedom of this variance.

        The degrees of freedom are None if they depend on the number of tasks; see `Corrected`.
        """
        first, second = self.first, self.second
        degrees = first.label_degrees_of_freedom
        if degrees is None or (
            second.label_degrees_of_freedom is not None
            and second.label_degrees_of_freedom < degrees
        ):
            degrees = second.label_degrees_of_freedom
        return first.hidden_variance + self.factor_of_second**2 * second.hidden_variance, degrees

    @property
    def task_differences_at_missing_bounds(self) -> tuple[Floats, Floats] | None:
        """The lowest and the highest difference at each task, or None if no outcomes are
        missing."""
        if self.comparison_at_opposite_bound is None:
            return None
        return np.minimum(
            self.differences, self.comparison_at_opposite_bound.differences
        ), np.maximum(self.differences, self.comparison_at_opposite_bound.differences)

    @_CachedProperty
    def estimates(self) -> tuple[Cell, Cell]:
        """The mean of each model's values on the shared tasks."""
        if self.reason:
            return None, None
        if self.missing_bounds:
            low, high = self.missing_bounds
            value_pairs = zip(
                (low.values[0], high.values[1]), (high.values[0], low.values[1]), strict=True
            )
            unit = self.first.metric.unit
            first_range, second_range = (
                number_or_range_cell(float(a.mean()), float(b.mean()), unit) for a, b in value_pairs
            )
            return first_range, second_range
        if self._same_tasks:
            return self.first.mean, self.second.mean
        return float(self.values[0].mean()), float(self.values[1].mean())

    @property
    def n(self) -> tuple[Ints, Ints]:
        """The number of attempts of each model at each shared task."""
        return self.first.n[self.shared_task_indices[0]], self.second.n[self.shared_task_indices[1]]

    @property
    def c(self) -> tuple[Ints, Ints]:
        """The number of passes of each model at each shared task."""
        return self.first.c[self.shared_task_indices[0]], self.second.c[self.shared_task_indices[1]]

    @property
    def attempts(self) -> tuple[AttemptValuesByCell, AttemptValuesByCell]:
        """The attempts of each model at the shared tasks, for metrics that use single attempts."""
        bags = [rates.restrict(self.tasks).attempts for rates in (self.first, self.second)]
        first, second = (bag for bag in bags if bag is not None)
        return first, second

    @property
    def attempts_range(self) -> tuple[int | None, int | None]:
        """The smallest and the largest number of attempts at a shared task, or None if no task is
        shared."""
        if self._same_tasks:
            ends = [*self.first.attempts_range, *self.second.attempts_range]
        else:
            ends = [int(end) for n in self.n if len(n) for end in (n.min(), n.max())]
        return min(ends, default=None), max(ends, default=None)

    @_CachedProperty
    def discordant_counts(self) -> tuple[int, int]:
        """The number of tasks that only the first model passes, and the number of tasks that only
        the second model passes."""
        d = self.differences
        return int(np.count_nonzero(d > 0)), int(np.count_nonzero(d < 0))

    @_CachedProperty
    def attempts_differ(self) -> bool:
        """Whether the numbers of attempts of the two models differ at one or more shared tasks."""
        return not np.array_equal(*self.n)

    @property
    def is_binary(self) -> bool:
        """Whether each value can only be 0 or 1, and the tasks have no clusters."""
        return not self.why_not_binary

    @_CachedProperty
    def why_not_binary(self) -> str:
        """The reason why `is_binary` is False, or "" if `is_binary` is True."""
        metric = self.first.metric
        if self.label_variance_and_degrees[1] is not None:
            return "values are corrected by labels"
        if isinstance(metric, MetricChange):
            return f"values of {metric.name} can lie between −1 and 1"
        if self.clusters is not None:
            return "tasks have clusters"
        ordered = metric.family == "first@"
        sides = [
            side if self._same_tasks or (side.has_one_or_k_attempts and side.is_binary)
            else side.restrict(self.tasks)
            for side in (self.first, self.second)
        ]  # fmt: skip
        if not ordered and not all(side.has_one_or_k_attempts for side in sides):
            return f"values of {metric.name} can lie between 0 and 1 (neither n = 1 nor k = n)"
        if metric.unit != "share" or not all(side.is_binary for side in sides):
            return f"values of {metric.name} are not all 0 or 1"
        return ""

    @property
    def _same_tasks(self) -> bool:
        return isinstance(self.shared_task_indices[0], slice)

    @property
    def has_p_value(self) -> bool:
        """Whether the comparison has a p-value."""
        return not math.isnan(self.p)

    @property
    def excludes_zero(self) -> bool | None:
        """Whether the interval of the difference excludes 0, or None if there is no interval."""
        limits = self.interval
        if limits is None or limits.low is None or limits.high is None:
            return None
        return limits.low > 0 or limits.high < 0

    @_CachedProperty
    def difference(self) -> float | None:
        """The mean difference, or the lower end of the range if missing outcomes make it a
        range."""
        if self.missing_bounds:
            return self.missing_bounds[0].difference
        if self.distribution is not None:
            return float(self.distribution[0].estimate[self.distribution[1]])
        if not self.reason and self.is_binary:
            only_first, only_second = self.discordant_counts
            return (only_first - only_second) / len(self.tasks)
        return None if self.reason else float(self.differences.mean())

    @property
    def difference_sign(self) -> int:
        """The sign of the mean difference: 1 or −1, or 0 if the mean difference is 0 or a range
        that contains 0."""
        low, high = (end.difference or 0.0 for end in self.missing_bounds or (self, self))
        return int(min(low, high) > 0) - int(max(low, high) < 0)

    def result(self, confidence: Confidence, **more: Cell) -> Result:
        """The mean difference (first model minus second model) as a result with limits, p-value and
        verdict."""
        metric, first, second = self.first.metric, self.first, self.second
        testable, limits = self.has_p_value, self.interval
        if limits is None:
            method = confidence.for_differences().method
            limits = Interval(None, None, confidence.level, method, confidence.population)
        estimate = Estimate(
            self.difference, low=limits.low, high=limits.high, reason=self.reason, signed=True,
            unit=metric.unit, range_upper_end=self.missing_bounds[1].difference
            if self.missing_bounds
            else None,
        )  # fmt: skip
        return Result(
            first.series, metric.name, metric.k, estimate, against=second.series[0],
            size=SampleSize(len(self.tasks), *self.attempts_range),
            method=limits.method, level=limits.level,
            interval_flaw=limits.reason,
            p=self.p if testable else None, p_adjusted=self.adjusted if testable else None,
            verdict=self.verdict, extra_fields={"test": self.test, "adjustment": self.adjustment,
                **more},
        )  # fmt: skip


def difference_intervals(
    comparisons: Sequence[Comparison], confidence: Confidence
) -> list[Interval]:
    """The intervals of the mean differences.  The confidence level applies to all intervals
    together.

    The level of each interval is 1 − alpha, and alpha is the largest p-value that is significant
    after the adjustment.  If missing outcomes make the mean difference a range, the interval covers
    the intervals at both ends of the range.
    """
    confidence = confidence.for_differences()
    plain = [end for c in comparisons for end in c.missing_bounds or (c,)]
    if any(c.missing_bounds for c in comparisons):
        confidence.require_valid_for_missing_outcomes()
    alphas = [c.alpha for c in comparisons for _ in c.missing_bounds or (c,)]
    answers: dict[int, Interval] = {}
    alphas = [1.0 - confidence.level if math.isnan(alpha) else alpha for alpha in alphas]
    levels = [1.0 - alpha for alpha in alphas]
    limits_by_alpha: dict[tuple[int, float], list[list[float]]] = {}
    scored: dict[tuple[int, float], list[int]] = {}
    about = confidence.level, GUARDED_T, confidence.population
    for at, (c, alpha) in enumerate(zip(plain, alphas, strict=True)):
        method = _interval_method(c, confidence)
        if method == PAIRED_SCORE and confidence.population == NEW_TASKS and c.is_binary:
            tasks, (b, m) = len(c.tasks), c.discordant_counts
            if tasks not in (b, m, tasks - b - m):
                scored.setdefault((tasks, levels[at]), []).append(at)
        if (
            c.distribution is None
            or c.distribution[0].is_constant[c.distribution[1]]
            or method != GUARDED_T
        ):
            continue
        (law, row), key = c.distribution, (id(c.distribution[0]), alpha)
        if key not in limits_by_alpha:
            limits_by_alpha[key] = [ends.tolist() for ends in law.limits(alpha)]
        answers[at] = Interval(limits_by_alpha[key][0][row], limits_by_alpha[key][1][row], *about)
    for (tasks, level), part in scored.items():
        b, m = np.array([plain[at].discordant_counts for at in part]).T
        ends = zip(*(limit.tolist() for limit in score_limits(tasks, b, m, level)), strict=True)
        for at, (low, high) in zip(part, ends, strict=True):
            answers[at] = Interval(low, high, confidence.level, PAIRED_SCORE, confidence.population)
    remaining = [at for at in range(len(plain)) if at not in answers]
    for part, method, level in _batches_by_method_and_level(plain, remaining, levels, confidence):
        samples = difference_interval_data([plain[at] for at in part], confidence)
        limits = intervals(samples, method, level, confidence.population)
        answers |= {
            at: replace(interval, level=confidence.level)
            for at, interval in zip(part, limits, strict=True)
        }
    in_order = iter(answers[at] for at in range(len(plain)))
    return [
        next(in_order).hull(next(in_order)) if c.missing_bounds else next(in_order)
        for c in comparisons
    ]


def relative_change(c: Comparison, confidence: Confidence) -> Estimate:
    """The relative difference x̄/ȳ − 1 between the first mean x̄ and the second mean ȳ, with
    limits.

    A factor ρ is plausible if the mean of x − ρy has an interval that contains 0.  The interval of
    the relative difference contains ρ − 1 for every plausible ρ.  Source: Fieller 1954.
    """
    from scipy.optimize import brentq

    first, second = c.with_scaled_second_values(1.0).values
    if not second.any():
        return Estimate(None, reason="the baseline is 0")
    value = float(first.mean() / second.mean())

    def limits(share: float) -> Interval:
        return difference_intervals([c.with_scaled_second_values(share)], confidence)[0]

    def lower(share: float) -> float:
        return limits(share).low or 0.0

    def upper(share: float) -> float:
        return limits(share).high or 0.0

    def root(limit: Callable[[float], float], end: float) -> float:
        # If all differences at the estimate are 0, the signs of the limits are rounding errors.
        same = limit(value) * limit(end) >= 0
        return value if same else float(brentq(limit, *sorted((value, end)), xtol=1e-9))

    if limits(value).low is None:
        return Estimate(value - 1.0, reason=limits(value).reason, signed=True, unit="%")
    low = root(lower, 0.0) if value and lower(0.0) > 0 else 0.0
    most = next((s for s in (2.0**i * (value + 0.01) for i in range(1, 12)) if upper(s) < 0), None)
    high = math.inf if most is None else root(upper, most)
    return Estimate(value - 1.0, low=low - 1.0, high=high - 1.0, signed=True, unit="%")


def equivalence_test_p_values(
    comparisons: Sequence[Comparison], confidence: Confidence, margin: float
) -> list[float]:
    """The p-value of each comparison from two one-sided tests of whether the mean difference is
    between −margin and +margin.

    The tests use the same distribution as the interval.  If missing outcomes make the mean
    difference a range, p is the larger of the p-values at the two ends of the range.
    """
    confidence = confidence.for_differences()
    plain = [end for c in comparisons for end in c.missing_bounds or (c,)]
    answers: dict[int, float] = {}
    for part, method, _ in _batches_by_method_and_level(
        plain, range(len(plain)), [0.0] * len(plain), confidence
    ):
        samples = difference_interval_data([plain[at] for at in part], confidence)
        tests = equivalence_p_values(samples, margin, method, confidence.population)
        answers |= zip(part, tests, strict=True)
    in_order = iter(answers[at] for at in range(len(plain)))
    return [
        max(next(in_order), next(in_order)) if c.missing_bounds else next(in_order)
        for c in comparisons
    ]


def _interval_method(comparison: Comparison, confidence: Confidence) -> str:
    by_default = confidence.uses_default_difference_method and confidence.population == NEW_TASKS
    return PAIRED_SCORE if by_default and comparison.is_binary else confidence.method


def _batches_by_method_and_level(
    plain: Sequence[Comparison], places: Iterable[int], levels: Sequence[float],
    confidence: Confidence,
) -> Iterator[tuple[list[int], str, float]]:  # fmt: skip
    together = group_by(places, lambda at: (_interval_method(plain[at], confidence), levels[at]))
    for (method, level), members in together.items():
        size = max(1, _MAX_VALUES_PER_BATCH // max(len(plain[at].tasks) for at in members))
        for first in range(0, len(members), size):
            yield members[first : first + size], method, level


def difference_interval_data(
    comparisons: Sequence[Comparison], confidence: Confidence
) -> list[IntervalData]:
    """The data for intervals and tests: the differences at the tasks of each comparison."""
    samples = []
    for c in with_computed_variance_floors(comparisons, confidence):
        low, high = c.first.bounds(confidence)
        within, mixed = None, 0
        passes: tuple[MetricCounts, ...] = ()
        if confidence.population != NEW_TASKS:
            sides = [side.restrict(c.tasks) for side in (c.first, c.second)]
            within = (
                sides[0].variance_within_each_task
                + c.factor_of_second**2 * sides[1].variance_within_each_task
            )
            mixed = int((sides[0].mixed_task_mask | sides[1].mixed_task_mask).sum())
            passes = (
                (*sides[0].hull_interval_counts, *sides[1].hull_interval_counts)
                if c.factor_of_second == 1.0
                else ()
            )
        samples.append(
            IntervalData(
                c.differences,
                difference_bounds_with_missing=c.task_differences_at_missing_bounds,
                variance_floor=c.variance_floor or 0.0,
                lower_bound=low - high,
                upper_bound=high - low,
                hidden_variance=c.label_variance_and_degrees[0],
                label_degrees_of_freedom=c.label_variance_and_degrees[1],
                attempt_variances=within,
                mixed_task_count=mixed,
                metrics_with_attempt_counts=passes if len(passes) == 2 else (),
                clusters=c.clusters,
                resamples=confidence.resamples,
                seed=confidence.seed,
            )
        )
    return samples


def with_computed_variance_floors(
    comparisons: Sequence[Comparison], confidence: Confidence
) -> list[Comparison]:
    """The comparisons with the attribute `variance_floor`, which is the smallest possible variance
    of the mean difference."""
    floored = list(comparisons)
    if confidence.population != NEW_TASKS:
        return floored
    groups = group_pairs(
        ((c.first.metric, len(c.tasks), c.comparison_at_opposite_bound is not None), at)
        for at, c in enumerate(comparisons)
        if c.variance_floor is None and not c.first.metric.definition.required_attempt_data
        and c.label_variance_and_degrees[1] is None and not c.is_binary
    )  # fmt: skip
    for (metric, tasks, between), places in groups.items():
        size = max(1, _MAX_COUNTS_PER_BATCH // tasks)
        for first in range(0, len(places), size):
            part = [comparisons[at] for at in places[first : first + size]]
            n, c = (
                _stack_counts([comparison.n for comparison in part]),
                _stack_counts([comparison.c for comparison in part]),
            )
            largest = None
            if between:
                opposite_c = _stack_counts(
                    [
                        comparison.comparison_at_opposite_bound.c
                        for comparison in part
                        if comparison.comparison_at_opposite_bound
                    ]
                )
                c, largest = np.minimum(c, opposite_c), np.maximum(c, opposite_c)
            floors = difference_variance_floor(metric, n, c, largest).tolist()
            for at, floor in zip(places[first : first + size], floors, strict=True):
                floored[at] = floored[at].with_changes(variance_floor=floor)
    return floored


def _stack_counts(sides: Sequence[tuple[Ints, Ints]]) -> Ints:
    arrays = [side[place] for place in (0, 1) for side in sides]
    return np.concatenate(arrays).reshape(2, len(sides), -1)


def count_discordant_per_comparison(comparisons: Sequence[Comparison]) -> tuple[Ints, Ints]:
    """For each comparison, the number of tasks that only the first model passes, and the number of
    tasks that only the second model passes.  All comparisons must have the same number of tasks."""
    tasks, counts = len(comparisons[0].tasks), np.empty((2, len(comparisons)), dtype=np.int64)
    for block in row_blocks(len(comparisons), tasks, _MAX_VALUES_PER_BATCH):
        value_pairs = [c.values for c in comparisons[block]]
        models = {id(values): values for pair in value_pairs for values in pair}
        rows = {key: row for row, key in enumerate(models)}
        passed = np.stack([values > 0 for values in models.values()])
        places = np.array([[rows[id(values)] for values in pair] for pair in value_pairs])
        first, second = passed[places[:, 0]], passed[places[:, 1]]
        counts[0, block] = np.count_nonzero(first & ~second, axis=1)
        counts[1, block] = np.count_nonzero(second & ~first, axis=1)
    for c, numbers in zip(comparisons, zip(*counts.tolist(), strict=True), strict=True):
        c.cache["discordant_counts"] = numbers
    return counts[0], counts[1]


def comparison_on_shared_tasks(
    first: TaskValues, second: TaskValues, unpaired_policy: str = "drop"
) -> Comparison:
    """The comparison of two models on the tasks that both models have.

    unpaired : what to do with tasks that only one model has: "drop" leaves these tasks out, and
        "error" raises DataError.
    """
    same_tasks = arrays_equal(first.tasks, second.tasks)
    shared = first.tasks if same_tasks else np.intersect1d(first.tasks, second.tasks)
    only = (len(first.tasks) - len(shared), len(second.tasks) - len(shared))
    if any(only) and unpaired_policy == "error":
        raise DataError(
            f"{' '.join(first.series)} against {' '.join(second.series)}",
            f"only the first model has {only[0]} of the tasks, and only the second model has"
            f" {only[1]}",
            name="different-tasks",
            settles=[SuggestedFix({"--unpaired": "drop"}, "compares on the shared tasks")],
        )
    reason, sides = "", (first, second)
    corrected = (
        first.label_degrees_of_freedom is not None or second.label_degrees_of_freedom is not None
    )
    if (first.metric.definition.is_ratio_of_means or corrected) and not same_tasks:
        # Ratios and label-based corrections depend on all tasks, so passk recomputes both if it
        # uses only some of the tasks.
        sides = first.restrict(shared), second.restrict(shared)
    for rates in sides:
        if not rates.has_values:
            reason = f"{' '.join(rates.series)}: {rates.reason}"
        by_task = rates.labels is not None and rates.labels.min_labels_per_labelled_task > 0
        if (
            by_task
            and rates.label_degrees_of_freedom is not None
            and rates.label_degrees_of_freedom + 1 < MODEL_COMPARISON_MIN_TASKS
        ):
            few = rates.label_degrees_of_freedom + 1
            reason = f"labels of {few} tasks; a difference needs {MODEL_COMPARISON_MIN_TASKS}"
    if not len(shared):
        reason = "the models share no task"
    if reason:
        nothing = (
            (EMPTY_VALUE_ARRAY, EMPTY_VALUE_ARRAY),
            (EMPTY_TASK_INDEX_ARRAY, EMPTY_TASK_INDEX_ARRAY),
        )
        return Comparison(first, second, shared, *nothing, *only, reason=reason)
    ends: tuple[Comparison, ...] = ()
    if first.values_if_missing_pass is not None or second.values_if_missing_pass is not None:
        (low, high), (other_low, other_high) = first.missing_bounds, second.missing_bounds
        lowest, highest = (
            comparison_on_shared_tasks(low, other_high),
            comparison_on_shared_tasks(high, other_low),
        )
        ends = (
            lowest.with_changes(comparison_at_opposite_bound=highest),
            highest.with_changes(comparison_at_opposite_bound=lowest),
        )
    at: tuple[TaskIndicesOrSlice, TaskIndicesOrSlice] = (_ALL_TASKS, _ALL_TASKS)
    values = first.values, second.values
    if not same_tasks:
        at = np.searchsorted(first.tasks, shared), np.searchsorted(second.tasks, shared)
        values = first.values[at[0]], second.values[at[1]]
    if first.metric.definition.is_ratio_of_means or corrected:
        first, second = sides
        values, at = (first.values, second.values), (_ALL_TASKS, _ALL_TASKS)
    clusters = first.clusters
    if clusters is not None:
        clusters = np.unique(clusters[at[0]], return_inverse=True)[1]
    return Comparison(first, second, shared, values, at, *only, clusters, missing_bounds=ends)
