"""All interval methods in one registry, and the function that computes an interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from passk_cli.arrays import Floats, Ints, group_by, row_blocks
from passk_cli.errors import ParameterError
from passk_cli.inference.binomial_rate import rate_limits
from passk_cli.inference.bootstrap_weights import bootstrap_means, cluster_totals_and_sizes
from passk_cli.inference.difference import StudentDifferenceDistribution, difference_distribution
from passk_cli.inference.discordance import score_equivalence_p, score_limits
from passk_cli.inference.lognormal_mean import amount_limit_distances
from passk_cli.inference.populations import NEW_TASKS, THESE_TASKS
from passk_cli.inference.roots import find_root
from passk_cli.inference.rounding import ROUNDING_TOLERANCE
from passk_cli.inference.weighted_means import (
    STANDARD_NORMAL,
    OrdinaryBootstrapMeanDistribution,
    dirichlet_quantiles,
    distinct_values_and_counts_per_row,
)
from passk_cli.suggestions import did_you_mean_or_list

if TYPE_CHECKING:
    from passk_cli.inference.hull_interval import MetricCounts

# The default methods are the narrowest methods with enough coverage in all cases of
# benchmarks/coverage.md. The interval of a difference comes from the distribution of the test
# statistic (benchmarks/difference.md).
DEFAULT_METHOD_BY_POPULATION = {NEW_TASKS: "guard", THESE_TASKS: "hull"}
GUARDED_T = "guarded-t"
DIFFERENCE_METHOD_BY_POPULATION = {NEW_TASKS: GUARDED_T, THESE_TASKS: "hull"}
# PAIRED_SCORE is the interval method for task differences that are −1, 0 or 1.
PAIRED_SCORE = "paired-score"
# LOGIT_T is the interval method for values that are corrected by labels.
LOGIT_T = "logit-t"
# FIELLER is the interval method for ratios of means, and for the test that two ratios are equal.
FIELLER = "fieller"
# RANGE_METHOD is the interval method for quantities for which the counts determine only a range
# (`compatible_rates`).
RANGE_METHOD = "range"
_MAX_BLOCK_VALUES = 1 << 21
# A block has at most _MAX_BLOCK_DIFFERENCES differences, so that the block fits into the
# processor's cache.
_MAX_BLOCK_DIFFERENCES = 1 << 17
# The search for the p-value of equivalence covers p-values from _SMALLEST to _LARGEST.
_SMALLEST, _LARGEST = 1e-8, 0.499


@dataclass(frozen=True, eq=False, repr=False)
class IntervalData:
    """The data for an interval of a metric's mean: the values of the metric at each task.

    values : the value of the metric at each task, which is always finite.
    lower_bound, upper_bound : bounds of the values; infinite if they are unknown.
    attempts : attempts per task if the values come from pass/fail outcomes; otherwise None.
    attempt_variances : for "these tasks", the variance of each value over repeated attempts, or
        None.
    clusters : a code 0 … G−1 per task, or None.
    resampled_means : for "these tasks" and the method `percentile`, the means with resampled
        attempts, or None.
    mixed_task_count : for "these tasks", the number of tasks with both passes and failures.
    metrics_with_attempt_counts : for "these tasks", the counts from which the values were computed.
        The tuple is empty if the metric needs more than counts. A difference has one entry per
        model.
    variance_floor : for differences, the lower bound for the variance of the mean.
    difference_bounds_with_missing : for differences with missing outcomes, the smallest and the
        largest possible values.
    hidden_variance : for corrected values, the part of the variance of the mean that the values do
        not show.
    label_degrees_of_freedom : for corrected values, the degrees of freedom that the labels allow;
        otherwise None.
    labelled_values_near_bound : for corrected values, the values of labelled tasks if nearly all of
        them are at a bound. The interval must then include the limits for these values.
    resamples, seed : the number and the seed of random draws, for methods that need random draws.
    """

    values: Floats
    lower_bound: float = 0.0
    upper_bound: float = 1.0
    attempts: Ints | None = None
    attempt_variances: Floats | None = None
    clusters: Ints | None = None
    resampled_means: Floats | None = None
    mixed_task_count: int = 0
    metrics_with_attempt_counts: tuple[MetricCounts, ...] = ()
    variance_floor: float = 0.0
    difference_bounds_with_missing: tuple[Floats, Floats] | None = None
    hidden_variance: float = 0.0
    label_degrees_of_freedom: int | None = None
    labelled_values_near_bound: Floats | None = None
    resamples: int = 10_000
    seed: int = 0

    @cached_property
    def mean(self) -> float:
        """The mean of the values, in which every task has the same weight."""
        return float(self.values.mean())

    @property
    def is_amount(self) -> bool:
        """Whether the values are amounts, for example costs: at least 0, without an upper bound."""
        return self.lower_bound == 0.0 and math.isinf(self.upper_bound)

    @cached_property
    def unit_totals_and_sizes(self) -> tuple[Floats, Floats]:
        """The sum of the values and the number of tasks in each unit (a cluster or one task)."""
        if self.clusters is None:
            return self.values, np.ones(len(self.values))
        totals, sizes = cluster_totals_and_sizes(self.values[:, None], self.clusters)
        return totals[:, 0], sizes

    @cached_property
    def se(self) -> float | None:
        """Standard error of the mean for new tasks; None if there is only one task or cluster.

        For G clusters with m_g tasks and sums S_g, the standard error is √(G/(G−1) Σ_g (S_g − m_g
        x̄)² / T² + hidden). Without clusters and hidden variance, the standard error is s/√T, with
        the standard deviation s of the values.
        Source: Miller 2024, equation 4.
        """
        totals, sizes = self.unit_totals_and_sizes
        units = len(sizes)
        if units < 2:
            return None
        spread = float(((totals - sizes * self.mean) ** 2).sum())
        visible = math.sqrt(units / (units - 1) * spread) / len(self.values)
        return (
            math.hypot(visible, math.sqrt(self.hidden_variance))
            if self.hidden_variance
            else visible
        )

    @property
    def guard_atom_size_in_tasks(self) -> float:
        """The size of a guard atom in tasks. With clusters of m tasks, the size is Σ m² / Σ m,
        which is the cluster size averaged over tasks.

        The guard atom has the size 1 without clusters, and the size m if all clusters have m tasks.
        The guard atom represents a large cluster, because the error of a mean depends mostly on a
        few large clusters. A guard atom with the average cluster size would give 95 % intervals a
        coverage of only 88 to 95 % if cluster sizes have a lognormal or Pareto distribution
        (benchmarks/coverage.md).
        """
        sizes = self.unit_totals_and_sizes[1]
        return float(sizes @ sizes / sizes.sum())

    @property
    def all_equal(self) -> bool:
        """Whether all values are equal, up to rounding errors."""
        low, high = float(self.values.min()), float(self.values.max())
        return high - low <= ROUNDING_TOLERANCE * max(-low, high)

    @property
    def attempt_variance_share(self) -> float | None:
        """The share of the variance of the mean that is due to random outcomes of attempts.

        This share, in [0, 1], is the mean of `attempt_variances`, divided by the variance of the
        values over tasks. The share is None if there is only one task, if a task has n ≤ k
        attempts, or if all values are equal.

        >>> IntervalData(np.array([0.0, 0.5, 1.0]), attempt_variances=np.array([0.0, 0.375,
        ...     0.0])).attempt_variance_share
        0.5
        """
        if (
            self.attempt_variances is None
            or np.isnan(self.attempt_variances).any()
            or len(self.values) < 2
        ):
            return None
        if self.all_equal:
            return None
        return min(float(self.attempt_variances.mean()) / float(self.values.var(ddof=1)), 1.0)

    @cached_property
    def bootstrap_distribution(self) -> OrdinaryBootstrapMeanDistribution | Floats:
        """The bootstrap distribution of the mean. It is exact without clusters, and consists of
        sorted random draws with clusters."""
        if self.clusters is None:
            return OrdinaryBootstrapMeanDistribution(self.values)
        column = self.values[:, None]
        means = bootstrap_means(column, self.resamples, self.seed, clusters=self.clusters)
        return np.sort(means[:, 0])


@dataclass(frozen=True)
class Interval:
    """The limits of an interval with level, method and population, and a remark about the limits.

    If the limits are None, `reason` explains why. Otherwise `reason` is a remark, or "".
    """

    low: float | None
    high: float | None
    level: float
    method: str
    population: str
    reason: str = ""

    def hull(self, second: Interval) -> Interval:
        """The smallest interval that contains this interval and a second interval of the same kind.

        >>> ends = (0, 2), (1, 3)
        >>> first, second = (Interval(*limits, 0.95, "t", "new-tasks") for limits in ends)
        >>> hull = first.hull(second)
        >>> hull.low, hull.high
        (0, 3)
        """
        low = None if self.low is None or second.low is None else min(self.low, second.low)
        high = None if self.high is None or second.high is None else max(self.high, second.high)
        return replace(self, low=low, high=high, reason=self.reason or second.reason)


Limits = tuple[float, float]

NEEDS_BOUNDS_REASON = "needs the lowest and highest possible score"
# If the bounds of the values are unknown and there are at most FEW_TASKS tasks, passk adds a remark
# about coverage.
FEW_TASKS, WITH_FEW_TASKS = 30, "with 30 tasks or fewer, bca covers 18 to 92 % at a level of 95 %"


def interval(
    sample: IntervalData,
    method: str | None = None,
    level: float = 0.95,
    population: str = NEW_TASKS,
) -> Interval:
    """The interval for the mean of a metric over tasks.

    method : a name in METHODS; None for the default of the population.  level : in (0, 1).
    population : NEW_TASKS or THESE_TASKS.
    Edge cases: If a method cannot compute limits, the limits are None and `reason` explains why. If
        the bounds of scores are unknown, BCa replaces methods that need bounds, and `reason`
        contains a remark. For metrics that need more than counts, the jackknife replaces `hull`.
    Errors: ParameterError if the method does not exist or is not valid for the population.

    >>> limits = interval(IntervalData(np.array([0.0, 0.5, 1.0, 1.0])), "guard")
    >>> round(limits.low, 3), round(limits.high, 3)
    (0.18, 0.946)
    """
    return intervals([sample], method, level, population)[0]


def intervals(
    samples: Sequence[IntervalData],
    method: str | None = None,
    level: float = 0.95,
    population: str = NEW_TASKS,
) -> list[Interval]:
    """The intervals of several samples, like `interval` for one sample.

    If a method is vectorised, the method computes many intervals at once. The other samples then
    change a limit by less than 1e-12.

    >>> values = np.array([0.0, 0.5, -1.0]), np.ones(3)
    >>> samples = [IntervalData(one, lower_bound=-1.0) for one in values]
    >>> [round(limits.low, 3) for limits in intervals(samples, "guard")]
    [-0.871, -0.393]
    """
    name = checked_method_name(method, level, population)
    requested, tail = METHODS[name], (1.0 - level) / 2.0
    places: dict[str, list[int]] = {}
    for at, sample in enumerate(samples):
        bounds = math.isfinite(sample.lower_bound) and math.isfinite(sample.upper_bound)
        bounds |= requested.for_amounts and sample.is_amount
        suits = (bounds or not requested.needs_bounds) and (
            sample.metrics_with_attempt_counts or not requested.needs_counts
        )
        method_name = name if suits else requested.alternative_method
        if sample.label_degrees_of_freedom is not None and not METHODS[name].for_differences:
            method_name = LOGIT_T
        places.setdefault(method_name, []).append(at)
    results: dict[int, Interval] = {}
    for method_name, part in places.items():
        limits = METHODS[method_name].limits_function
        together = (
            limits([samples[at] for at in part], tail) if METHODS[method_name].vectorised else None
        )
        for place, at in enumerate(part):
            sample = samples[at]
            try:
                ends: Limits | _UndefinedLimitsError = (
                    together[place] if together else limits(sample, tail)
                )
                if isinstance(ends, _UndefinedLimitsError):
                    raise ends
                remark = _remark_without_spread(sample, population, method_name, ends)
            except _UndefinedLimitsError as undefined:
                results[at] = Interval(None, None, level, method_name, population, str(undefined))
                continue
            # Amounts have no upper bound, so their intervals need no remark about bounds.
            if (
                requested.needs_bounds
                and method_name not in (name, LOGIT_T)
                and not math.isfinite(sample.lower_bound)
            ):
                instead = f"the interval is {method_name}, because {name} {NEEDS_BOUNDS_REASON}"
                if sample.values.size <= FEW_TASKS:
                    instead += f": {WITH_FEW_TASKS}"
                remark = f"{instead}; {remark}" if remark else instead
            results[at] = Interval(*ends, level, method_name, population, remark)
    return [results[at] for at in range(len(samples))]


def equivalence_p_values(
    samples: Sequence[IntervalData], margin: float, method: str, population: str = NEW_TASKS
) -> list[float]:
    """p-values of the hypothesis that a mean difference is outside ±margin (two one-sided tests).

    The p-value is the smallest significance level α for which the interval of level 1 − 2α is
    within ±margin. If the method has no formula for the p-value, passk searches for this α with a
    relative precision of 1e-6. The result of the search is at least 1e-8. The p-value is 1 if no
    interval is within ±margin, and NaN if there is no interval.

    margin : largest difference that counts as equivalent, above 0.  Source: Schuirmann 1987.

    >>> samples = [IntervalData(np.array([0.1, -0.1, 0.0, 0.05, -0.1, 0.1]), lower_bound=-1.0)]
    >>> [round(p, 4) for p in equivalence_p_values(samples, 0.2, GUARDED_T)]
    [0.0028]
    """
    if method == GUARDED_T:
        answers = np.empty(len(samples))
        for places, law in difference_distributions(samples):
            answers[places] = law.equivalence_p(margin)
        return answers.tolist()
    if method != PAIRED_SCORE:
        return [_equivalence_p(sample, margin, method, population) for sample in samples]
    limits = intervals(samples, method, population=population)
    return [
        math.nan
        if limit.low is None
        else score_equivalence_p(*_task_and_discordant_counts(sample), margin)
        for limit, sample in zip(limits, samples, strict=True)
    ]


def _equivalence_p(sample: IntervalData, margin: float, method: str, population: str) -> float:

    def room(log: float) -> float:
        limits = interval(sample, method, 1.0 - 2 * math.exp(log), population)
        if limits.low is None or limits.high is None:
            return math.nan
        return min(limits.low + margin, margin - limits.high)

    low, high = math.log(_SMALLEST), math.log(_LARGEST)
    least, most = room(low), room(high)
    if math.isnan(least) or math.isnan(most):
        return math.nan
    if most <= 0:
        return 1.0
    return _SMALLEST if least >= 0 else math.exp(find_root(room, low, high, 1e-6))


def checked_method_name(method: str | None, level: float, population: str) -> str:
    """The method's name. Errors: ParameterError for an invalid method, level or population."""
    if population not in DEFAULT_METHOD_BY_POPULATION:
        raise ParameterError(
            f"there is no population named {population!r};"
            f" {did_you_mean_or_list(population, DEFAULT_METHOD_BY_POPULATION)}"
        )
    if not 0.0 < level < 1.0:
        raise ParameterError(
            f"the confidence level must be above 0 and below 1 (for example 0.95); got {level:g}"
        )
    name = method or DEFAULT_METHOD_BY_POPULATION[population]
    if name not in METHODS:
        raise ParameterError(
            f"there is no interval method named {name!r}; {did_you_mean_or_list(name, METHODS)}"
        )
    if population not in METHODS[name].populations:
        fitting = [m for m, method in METHODS.items() if population in method.populations]
        raise ParameterError(
            f"the method {name} is not valid for {population}; use one of {', '.join(fitting)}",
            name="invalid-method",
        )
    return name


class _UndefinedLimitsError(Exception):
    """The error if a method cannot compute limits for a sample. The error message is the reason."""


def _remark_without_spread(
    sample: IntervalData, population: str, method: str, limits: Limits
) -> str:
    if population == THESE_TASKS:
        if METHODS[method].needs_draws and sample.resampled_means is None:
            raise _UndefinedLimitsError(
                f"{method} for these tasks needs newly drawn attempts, which are not available;"
                " use hull"
            )
        if limits[1] - limits[0] <= ROUNDING_TOLERANCE and sample.mixed_task_count:
            tasks = f"{sample.mixed_task_count} task{'s' * (sample.mixed_task_count > 1)}"
            raise _UndefinedLimitsError(
                f"the attempts differ at {tasks}, but too few attempts differ to change the metric,"
                " so there is no spread to measure; make more attempts per task to get an interval"
            )
        if (
            sample.attempt_variances is None
            or sample.attempt_variances.any()
            or sample.mixed_task_count
            or method == "hull"
        ):
            return ""
        return "every task always passes or always fails; a width of 0 does not mean certainty"
    if sample.labelled_values_near_bound is not None:
        off, bound = min(
            (
                int(
                    np.count_nonzero(
                        np.abs(sample.labelled_values_near_bound - bound) > ROUNDING_TOLERANCE
                    )
                ),
                bound,
            )
            for bound in (sample.lower_bound, sample.upper_bound)
        )
        which_tasks = f"all but {off} of" if off else "all"
        return (
            f"{which_tasks} {len(sample.labelled_values_near_bound)} labelled tasks have the value"
            f" {bound:g}, so the interval is as wide as the interval of their labels;"
            " label more tasks"
        )
    if not sample.all_equal:
        return ""
    words = f"every task has the value {sample.values[0]:g}"
    width = sample.upper_bound - sample.lower_bound
    tolerance = ROUNDING_TOLERANCE * width if math.isfinite(width) else 0.0
    distance = np.abs(sample.values[:, None] - [sample.lower_bound, sample.upper_bound]).max(axis=0)
    return f"{words}: the interval is one-sided" if distance.min() <= tolerance else words


# A guard atom has a weight of at most _MAX_GUARD_ATOM_WEIGHT, for values that are concentrated at a
# few numbers such as 0 and 1. For values that vary smoothly, the weight of a guard atom is ½. 0.93
# is the smallest weight for which the exact coverage of 0/1 values is at least 89, 94.5 and 98.9 %
# at levels of 90, 95 and 99 %, for every number of tasks from 2 to 500 and every success rate
# (benchmarks/coverage.md). A weight of 1 would give the Clopper–Pearson interval.
_MAX_GUARD_ATOM_WEIGHT = 0.93
_GUARD_ATOM_WEIGHT_SPREAD_DECAY = 8.0


def guard_atom_weights(distance: Floats, sizes: Floats, counts: Floats) -> Floats:
    """The Dirichlet weight of a guard atom at a bound: ½ for smooth values, up to 0.93 for values
    at two points.

    The weight is ½ + 0.43 exp(−8 ρ). In this formula, ρ measures how far the values x are from two
    points: one at the bound, and one at the distance v from the bound. The value of ρ is the sum of
    the squared distances to the nearer point, divided by v²: ρ = Σ min(y, abs(v − y))² / v². The
    distances are y = abs(x − bound) and v = Σ y² / Σ y. If all values are 0 or 1, or if all values
    are equal, ρ is 0. With clusters, y is a sum over the m tasks of a cluster, v is multiplied by
    m, and distances are measured in units of an average cluster.

    distance : the distance y of each unit from the bound, as computed by
        `total_distances_to_bound`. Only the ratios of the distances are important.
    sizes : number of tasks in each unit.  counts : how often each unit occurs.
    Returns one weight between 0.5 and 0.93 for each row of units.
    Source: benchmarks/coverage.md.

    >>> guard_atom_weights(np.array([0.0, 1.0]), np.ones(2), np.array([1.0, 2.0])).tolist()
    0.93
    >>> distance = np.array([0.0, 0.25, 0.5, 1.0])
    >>> guard_atom_weights(distance, np.ones(4), np.ones(4)).round(2).tolist()
    0.53
    """
    largest = np.where(counts > 0.0, distance, 0.0).max(axis=-1)
    all_on_bound = largest == 0.0
    distance = distance / np.where(all_on_bound, 1.0, largest)[..., None]
    total = (counts * sizes * distance).sum(axis=-1)
    lump = (
        sizes
        * ((counts * distance * distance).sum(axis=-1) / np.where(all_on_bound, 1.0, total))[
            ..., None
        ]
    )
    lump_distance = np.minimum(distance, np.abs(lump - distance))
    unit = (counts * lump).sum(axis=-1) / counts.sum(axis=-1)
    spread = (counts * lump_distance * lump_distance).sum(axis=-1) / np.where(
        all_on_bound, 1.0, unit**2
    )
    return np.where(
        all_on_bound,
        _MAX_GUARD_ATOM_WEIGHT,
        0.5 + (_MAX_GUARD_ATOM_WEIGHT - 0.5) * np.exp(-_GUARD_ATOM_WEIGHT_SPREAD_DECAY * spread),
    )


def total_distances_to_bound(
    totals: Floats, sizes: Floats, bound: Floats | float, opposite: Floats | float
) -> Floats:
    """The distance of each total from `bound` × size, or 0 if it is only a rounding error.

    Rounding errors of distances would change the weight of a guard atom, which depends on ratios of
    distances.

    >>> totals = np.array([1.0 - 1e-16, 0.5])
    >>> total_distances_to_bound(totals, np.ones(2), bound=1.0, opposite=0.0).tolist()
    [0.0, 0.5]
    """
    away = np.abs(totals - sizes * bound)
    return np.where(away > ROUNDING_TOLERANCE * sizes * np.abs(opposite - bound), away, 0.0)


def _guard_method_limits(
    samples: Sequence[IntervalData], tail: float
) -> list[Limits | _UndefinedLimitsError]:
    places = [at for at, sample in enumerate(samples) if not sample.is_amount]
    answers: dict[int, Limits | _UndefinedLimitsError]
    answers = dict(
        zip(places, _bounded_guard_limits([samples[at] for at in places], tail), strict=True)
    )
    for at, sample in enumerate(samples):
        units = len(sample.unit_totals_and_sizes[1])
        if sample.is_amount and units < 2:
            answers[at] = _too_few_units_error(sample)
        elif sample.is_amount:
            from passk_cli.scipy_special import stdtrit

            quantile = float(-stdtrit(units - 1, tail))
            below, above = amount_limit_distances(sample.values, quantile, sample.clusters)
            answers[at] = sample.mean - below, sample.mean + above
    return [answers[at] for at in range(len(samples))]


def _bounded_guard_limits(samples: Sequence[IntervalData], tail: float) -> list[Limits]:
    answers: dict[int, Limits] = {}
    for places in _interval_data_index_batches(
        samples, lambda s: (s.clusters is None, len(s.unit_totals_and_sizes[1]))
    ):
        part = [samples[at] for at in places]
        if part[0].clusters is None:
            atoms, counts = distinct_values_and_counts_per_row(
                np.stack([sample.values for sample in part])
            )
            sizes = np.ones_like(atoms)
            size = np.ones((len(part), 1))
        else:
            atoms, sizes = map(np.stack, zip(*(s.unit_totals_and_sizes for s in part), strict=True))
            counts = np.ones_like(atoms)
            size = np.array([[sample.guard_atom_size_in_tasks] for sample in part])
        low, high = (
            np.array([[getattr(s, end)] for s in part]) for end in ("lower_bound", "upper_bound")
        )
        bound, opposite = np.concatenate([low, high]), np.concatenate([high, low])
        atoms, counts, sizes, size = (np.tile(e, (2, 1)) for e in (atoms, counts, sizes, size))
        away = total_distances_to_bound(atoms, sizes, bound, opposite)
        weight = guard_atom_weights(away, sizes, counts)[:, None]
        a = np.concatenate([size * bound, atoms], axis=1)
        alpha = np.concatenate([weight, counts], axis=1)
        b = np.concatenate([size, sizes], axis=1)
        q = dirichlet_quantiles(a, alpha, np.repeat([tail, 1.0 - tail], len(part)), b)
        limits = np.where(away.max(axis=1) == 0.0, bound[:, 0], q).reshape(2, -1)
        answers |= zip(places, zip(*limits.tolist(), strict=True), strict=True)
    return [answers[at] for at in range(len(samples))]


def _interval_data_index_batches(
    samples: Sequence[IntervalData], key: Callable[[IntervalData], Hashable]
) -> Iterator[list[int]]:
    for group in group_by(range(len(samples)), lambda at: key(samples[at])).values():
        tasks = len(samples[group[0]].values)
        yield from (group[block] for block in row_blocks(len(group), tasks, _MAX_BLOCK_VALUES))


def _bootstrap_quantile(sample: IntervalData, p: float) -> float:
    law = sample.bootstrap_distribution
    if isinstance(law, OrdinaryBootstrapMeanDistribution):
        return law.quantile(p)
    return float(law[min(max(math.ceil(p * len(law)) - 1, 0), len(law) - 1)])


def _percentile_limits(sample: IntervalData, tail: float) -> Limits:
    if sample.resampled_means is not None:
        low, high = np.quantile(sample.resampled_means, [tail, 1 - tail])
        return float(low), float(high)
    return _bootstrap_quantile(sample, tail), _bootstrap_quantile(sample, 1 - tail)


def _bca_limits(sample: IntervalData, tail: float) -> Limits:
    """Bias-corrected and accelerated bootstrap limits.  Source: Efron & Tibshirani 1993, ch. 14."""
    if sample.se is None:
        raise _too_few_units_error(sample)
    law, mean = sample.bootstrap_distribution, sample.mean
    if isinstance(law, OrdinaryBootstrapMeanDistribution):
        below = (law.cdf(mean, strict=True) + law.cdf(mean)) / 2
    else:
        below = float((law < mean).mean() + (law <= mean).mean()) / 2
    if not 0.0 < below < 1.0:
        raise _UndefinedLimitsError(
            "BCa has no limits, because all bootstrap means are on one side of the estimate"
        )
    bias, skew = STANDARD_NORMAL.inv_cdf(below), acceleration(sample)
    limits = []
    for z in (STANDARD_NORMAL.inv_cdf(tail), STANDARD_NORMAL.inv_cdf(1 - tail)):
        deviate = bias + (bias + z) / (1 - skew * (bias + z))
        limits.append(_bootstrap_quantile(sample, STANDARD_NORMAL.cdf(deviate)))
    return limits[0], limits[1]


def acceleration(sample: IntervalData) -> float:
    """The acceleration of a BCa interval, by the jackknife over tasks (or clusters).

    The acceleration is Σ d³ / (6 (Σ d²)^1.5). In this formula, d is the mean of the leave-one-out
    estimates minus each leave-one-out estimate. Without clusters, d is proportional to x − x̄. If
    all differences d are 0, the acceleration is 0.
    """
    totals, sizes = sample.unit_totals_and_sizes
    means = (totals.sum() - totals) / (sizes.sum() - sizes)
    d = means.mean() - means
    largest = float(np.abs(d).max())
    if largest == 0.0:
        return 0.0
    d = d / largest
    square = float((d**2).sum())
    return float((d**3).sum() / (6 * square**1.5))


def _student_t_limits(sample: IntervalData, tail: float) -> Limits:
    """Student's t limits with the standard error, which allows for clusters.

    The limits may be outside the bounds of the values.
    """
    from passk_cli.scipy_special import stdtrit

    if sample.se is None:
        raise _too_few_units_error(sample)
    reach = float(stdtrit(len(sample.unit_totals_and_sizes[1]) - 1, 1 - tail)) * sample.se
    return sample.mean - reach, sample.mean + reach


def _limits_of_corrected_values(
    samples: Sequence[IntervalData], tail: float
) -> list[Limits | _UndefinedLimitsError]:
    limits = [_logit_t_limits(sample, tail) for sample in samples]
    few = {at: IntervalData(sample.labelled_values_near_bound, sample.lower_bound,
                            sample.upper_bound)
           for at, sample in enumerate(samples)
           if sample.labelled_values_near_bound is not None}  # fmt: skip
    for at, (least, most) in zip(few, _bounded_guard_limits([*few.values()], tail), strict=True):
        ends = limits[at]
        if not isinstance(ends, _UndefinedLimitsError):
            limits[at] = min(ends[0], least), max(ends[1], most)
    return limits


def _logit_t_limits(sample: IntervalData, tail: float) -> Limits | _UndefinedLimitsError:
    from passk_cli.scipy_special import stdtrit

    if sample.se is None or not sample.label_degrees_of_freedom:
        return _too_few_units_error(sample)
    width = sample.upper_bound - sample.lower_bound
    share, error = (sample.mean - sample.lower_bound) / width, sample.se / width
    margin = min(max(error, ROUNDING_TOLERANCE), 0.5)
    at = min(max(share, margin), 1.0 - margin)
    degrees = min(sample.label_degrees_of_freedom, len(sample.unit_totals_and_sizes[1]) - 1)
    reach = float(stdtrit(degrees, 1 - tail)) * error / (at * (1.0 - at))
    odds = math.log(at / (1.0 - at))
    low, high = (0.5 + 0.5 * math.tanh((odds + way * reach) / 2) for way in (-1, 1))
    low, high = min(low, max(share, 0.0)), max(high, min(share, 1.0))
    return sample.lower_bound + width * low, sample.lower_bound + width * high


def _jackknife_limits(sample: IntervalData, tail: float) -> Limits:
    if sample.attempt_variances is None or np.isnan(sample.attempt_variances).any():
        raise _UndefinedLimitsError(
            "the jackknife leaves out attempts, so it needs n > k at every task, and a metric that"
            " does not depend on the order of attempts"
        )
    reach = (
        STANDARD_NORMAL.inv_cdf(1 - tail)
        * math.sqrt(float(sample.attempt_variances.sum()))
        / len(sample.values)
    )
    return max(sample.mean - reach, sample.lower_bound), min(
        sample.mean + reach, sample.upper_bound
    )


def _hull_limits(sample: IntervalData, tail: float) -> Limits:
    limits = [passes.limits(tail) for passes in sample.metrics_with_attempt_counts]
    if len(limits) == 1:
        return limits[0]
    (low, high), (other_low, other_high) = limits
    first, second = (passes.mean for passes in sample.metrics_with_attempt_counts)
    difference = first - second
    below = math.hypot(first - low, other_high - second)
    above = math.hypot(high - first, second - other_low)
    return max(difference - below, sample.lower_bound), min(difference + above, sample.upper_bound)


def _wilson_limits(sample: IntervalData, tail: float) -> Limits:
    """Wilson's score interval of a proportion.  Source: Wilson 1927."""
    _require_one_attempt(sample)
    z, count, mean = STANDARD_NORMAL.inv_cdf(1 - tail), len(sample.values), sample.mean
    centre = (mean + z * z / (2 * count)) / (1 + z * z / count)
    inside = mean * (1 - mean) / count + z * z / (4 * count * count)
    reach = z * math.sqrt(inside) / (1 + z * z / count)
    return max(centre - reach, 0.0), min(centre + reach, 1.0)


def _clopper_pearson_limits(sample: IntervalData, tail: float) -> Limits:
    _require_one_attempt(sample)
    passes = round(float(sample.values.sum()))
    low, high = rate_limits([len(sample.values)], [passes], 1 - 2 * tail)
    return float(low[0]), float(high[0])


def _paired_score_limits(
    samples: Sequence[IntervalData], tail: float
) -> list[Limits | _UndefinedLimitsError]:
    answers: dict[int, Limits | _UndefinedLimitsError] = {}
    tables: dict[int, list[tuple[int, int, int]]] = {}
    for at, sample in enumerate(samples):
        tasks, plus, minus = _task_and_discordant_counts(sample)
        size = np.abs(sample.values)
        if sample.clusters is not None or (sample.lower_bound, sample.upper_bound) != (-1.0, 1.0):
            answers[at] = _UndefinedLimitsError(
                "the method needs differences between the passes of two models, and no clusters"
            )
        elif not size.sum() == size @ size == plus + minus:
            answers[at] = _UndefinedLimitsError(
                "the method needs differences of −1, 0 and 1, so n = 1 or k = n"
            )
        else:
            tables.setdefault(tasks, []).append((at, plus, minus))
    for tasks, rows in tables.items():
        places, b, c = zip(*rows, strict=True)
        limits = (ends.tolist() for ends in score_limits(tasks, b, c, 1 - 2 * tail))
        answers |= zip(places, zip(*limits, strict=True), strict=True)
    return [answers[at] for at in range(len(samples))]


def _task_and_discordant_counts(sample: IntervalData) -> tuple[int, int, int]:
    d = sample.values
    return len(d), int(np.count_nonzero(d > 0)), int(np.count_nonzero(d < 0))


def difference_distributions(
    samples: Sequence[IntervalData],
) -> Iterator[tuple[list[int], StudentDifferenceDistribution]]:
    """Distributions of mean differences in batches, with the indices of the samples."""

    def tasks(sample: IntervalData) -> Hashable:
        codes = b"" if sample.clusters is None else sample.clusters.tobytes()
        return (
            len(sample.values),
            codes,
            sample.upper_bound,
            sample.difference_bounds_with_missing is not None,
        )

    for batch in _interval_data_index_batches(samples, tasks):
        for block in row_blocks(len(batch), len(samples[batch[0]].values), _MAX_BLOCK_DIFFERENCES):
            places = batch[block]
            part = [samples[at] for at in places]
            ranges = [
                sample.difference_bounds_with_missing
                for sample in part
                if sample.difference_bounds_with_missing
            ]
            yield (
                places,
                difference_distribution(
                    np.stack([sample.values for sample in part]),
                    part[0].upper_bound,
                    [sample.variance_floor for sample in part],
                    part[0].clusters,
                    np.stack(ranges, axis=1) if ranges else None,
                    [sample.hidden_variance for sample in part],
                    [
                        len(s.values)
                        if s.label_degrees_of_freedom is None
                        else s.label_degrees_of_freedom
                        for s in part
                    ],
                ),
            )


def _guarded_t_limits(
    samples: Sequence[IntervalData], tail: float
) -> list[Limits | _UndefinedLimitsError]:
    answers: dict[int, Limits | _UndefinedLimitsError] = {}
    for at, sample in enumerate(samples):
        if sample.lower_bound != -sample.upper_bound:
            answers[at] = _UndefinedLimitsError("the method needs differences between two models")
        elif math.isinf(sample.upper_bound) and len(sample.unit_totals_and_sizes[1]) < 2:
            answers[at] = _too_few_units_error(sample)
    usable = [at for at in range(len(samples)) if at not in answers]
    for places, law in difference_distributions([samples[at] for at in usable]):
        limits = (ends.tolist() for ends in law.limits(2 * tail))
        answers |= zip((usable[at] for at in places), zip(*limits, strict=True), strict=True)
    return [answers[at] for at in range(len(samples))]


def _too_few_units_error(sample: IntervalData) -> _UndefinedLimitsError:
    return _UndefinedLimitsError(
        f"the method needs at least 2 {'tasks' if sample.clusters is None else 'clusters'}"
    )


def _require_one_attempt(sample: IntervalData) -> None:
    single = sample.attempts is not None and bool(np.all(sample.attempts == 1))
    if not single or sample.clusters is not None:
        raise _UndefinedLimitsError("the method needs k = 1, one attempt per task and no clusters")


@dataclass(frozen=True, eq=False, repr=False)
class IntervalMethodDefinition:
    """An interval method, with a function, a description and requirements.

    limits_function : function of a sample and a tail probability. It may raise
        _UndefinedLimitsError.
    description : name of the method as it appears in a sentence.  citation_keys : keys in
        study/references.bib, separated by spaces.
    populations : populations for which the method is valid.
    vectorised : whether `limits_function` accepts many samples at once. If the limits of a sample
        cannot be computed, the result contains an error instead of these limits.
    needs_draws : whether the method needs random draws for clusters or for "these tasks".
    nearly_monotone_in_values : whether limits never decrease, or hardly decrease, if a value
        increases. The limits of other methods can decrease because the spread changes
        (benchmarks/missing.md).
    needs_bounds : whether the method needs the bounds of the values.
    needs_counts : whether the method needs the passes from which the values were computed.
    alternative_method : the method that is used instead if the required bounds or counts are
        unknown.
    for_amounts : whether the method is valid for amounts, which have no upper bound.
    for_differences : whether the method is for differences between two models.
    needs_pass_fail_differences : whether the method is only for differences of −1, 0 and 1.
    """

    limits_function: Callable[..., Any]
    description: str
    citation_keys: str
    populations: tuple[str, ...] = (NEW_TASKS,)
    vectorised: bool = False
    needs_draws: bool = False
    nearly_monotone_in_values: bool = True
    needs_bounds: bool = False
    needs_counts: bool = False
    alternative_method: str = ""
    for_amounts: bool = False
    for_differences: bool = False
    needs_pass_fail_differences: bool = False


# METHODS maps the name of an interval method to the method. A new method needs one function and one
# entry in METHODS.
METHODS: dict[str, IntervalMethodDefinition] = {
    "guard": IntervalMethodDefinition(
        _guard_method_limits,
        "guard, a Bayesian bootstrap with half a task added at the end of the scale",
        "rubin1981 learnedmiller2019",
        vectorised=True,
        needs_bounds=True,
        for_amounts=True,
        alternative_method="bca",
    ),
    GUARDED_T: IntervalMethodDefinition(
        _guarded_t_limits,
        "Student's t with a guard for few tasks",
        "student1908",
        vectorised=True,
        for_differences=True,
    ),
    "percentile": IntervalMethodDefinition(
        _percentile_limits,
        "the percentile bootstrap",
        "efron1993",
        (NEW_TASKS, THESE_TASKS),
        needs_draws=True,
    ),
    "bca": IntervalMethodDefinition(
        _bca_limits,
        "the BCa bootstrap",
        "efron1993",
        needs_draws=True,
        nearly_monotone_in_values=False,
    ),
    "t": IntervalMethodDefinition(
        _student_t_limits, "Student's t", "student1908", nearly_monotone_in_values=False
    ),
    LOGIT_T: IntervalMethodDefinition(
        _limits_of_corrected_values,
        "Student's t on the logit scale",
        "student1908",
        vectorised=True,
    ),
    "wilson": IntervalMethodDefinition(_wilson_limits, "Wilson's score", "wilson1927"),
    "clopper-pearson": IntervalMethodDefinition(
        _clopper_pearson_limits, "the method of Clopper and Pearson", "clopper1934"
    ),
    PAIRED_SCORE: IntervalMethodDefinition(
        _paired_score_limits,
        "a score interval with the critical value of the exact test",
        "tango1998 suissa1991",
        vectorised=True,
        for_differences=True,
        needs_pass_fail_differences=True,
    ),
    "hull": IntervalMethodDefinition(
        _hull_limits,
        "the hull of a hierarchical posterior and a bootstrap of attempts",
        "",
        (THESE_TASKS,),
        needs_counts=True,
        alternative_method="jackknife",
    ),
    "jackknife": IntervalMethodDefinition(
        _jackknife_limits,
        "the jackknife over attempts",
        "efron1993",
        (THESE_TASKS,),
        nearly_monotone_in_values=False,
    ),
}
# METHOD_CHOICES lists the methods that users can choose.
METHOD_CHOICES = (*(name for name in METHODS if name != LOGIT_T), "none")
# The methods in METHODS_THAT_NEED_BOUNDS have guard atoms at the bounds of the values, so the
# bounds must be known.
METHODS_THAT_NEED_BOUNDS = tuple(name for name, method in METHODS.items() if method.needs_bounds)
