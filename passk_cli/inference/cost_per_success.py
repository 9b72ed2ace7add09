"""Compute limits of the cost per solved task (mean cost divided by pass rate), and compare two
models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from passk_cli.arrays import Bools, Floats, Ints
from passk_cli.inference.bootstrap_weights import cluster_totals_and_sizes
from passk_cli.inference.hull_interval import MetricCounts
from passk_cli.inference.intervals import IntervalData, interval, intervals
from passk_cli.inference.lognormal_mean import (
    amount_limit_distances,
    distance_keeping_limit_positive,
)
from passk_cli.inference.min_p import SharedLevelTests, draw_min_p
from passk_cli.inference.populations import NEW_TASKS, THESE_TASKS
from passk_cli.metrics.registry import Metric

# Limits of success rates are compared with Student's t limits at the confidence level
# _RATE_LIMIT_COMPARISON_LEVEL.
_RATE_LIMIT_COMPARISON_LEVEL = 0.95
# If the effective number of tasks is below _MIN_EFFECTIVE_TASKS, a message warns about the
# confidence limits of the cost per success.
_MIN_EFFECTIVE_TASKS = 10.0


@dataclass(frozen=True, eq=False)
class TaskCosts:
    """Mean cost and pass rate of each task.

    mean_cost : mean cost of the task's attempts, ≥ 0. A missing cost counts as 0.
    pass_rate : mean outcome of the task's attempts.
    attempts : number of attempts per task; None if cost and rate are not means over attempts.
    within_task_covariances : an array (3 × tasks) with the variance of the mean cost, the variance
        of the mean outcome, and the covariance of the two means over repeated attempts. The values
        are NaN at tasks with one attempt. The field is None if `attempts` is None.
    is_cost_missing : whether an attempt at the task has no cost, so that `mean_cost` is a lower
        bound.
    clusters : a code 0 … G−1 per task if clusters are the units; otherwise None.
    """

    mean_cost: Floats
    pass_rate: Floats
    attempts: Ints | None = None
    within_task_covariances: Floats | None = None
    is_cost_missing: Bools | None = None
    clusters: Ints | None = None

    @classmethod
    def from_attempts(
        cls, start: Ints, value: Floats, count: Ints, passed: Ints, clusters: Ints | None = None
    ) -> TaskCosts:
        """Task costs from arrays of attempts as in `outcomes.attempts`. A missing cost is NaN.

        >>> one = np.array([0, 2]), np.array([1.0, 4.0]), np.array([1, 1]), np.array([1, 0])
        >>> spent = TaskCosts.from_attempts(*one)
        >>> spent.mean_cost.tolist(), spent.pass_rate.tolist(), spent.within_task_covariances[:,
        ...     0].tolist()
        ([2.5], [0.5], [2.25, 0.25, -0.75])
        """
        if (value < 0).any():
            raise ValueError("costs must not be negative")
        tasks = len(start) - 1
        task = np.repeat(np.arange(tasks), np.diff(start))
        x = np.where(np.isnan(value), 0.0, value)

        def total(amounts: Floats | Ints) -> Floats:
            return np.bincount(task, amounts, tasks).astype(np.float64)

        n = total(count)
        with np.errstate(invalid="ignore", divide="ignore"):
            cost, rate = total(count * x) / n, total(passed) / n
            x, failed = x - cost[task], count - passed
            squares = (
                total(count * x**2),
                n * rate * (1.0 - rate),
                total(x * (passed * (1.0 - rate[task]) - failed * rate[task])),
            )
            within = np.stack(squares) / np.where(n > 1, n * (n - 1.0), np.nan)
        lacking = total(count * np.isnan(value)) > 0
        missing = lacking if lacking.any() else None
        return cls(cost, rate, n.astype(np.int64), within, missing, clusters)

    @property
    def has_missing_cost(self) -> bool:
        """Whether the cost of any attempt is missing."""
        return self.is_cost_missing is not None and bool(self.is_cost_missing.any())

    @property
    def effective_tasks_if_few(self) -> int:
        """The effective number of tasks if it is too small for limits of a mean cost; else 0.

        The effective number of tasks is (Σx)² / Σx² for the mean costs x of tasks. The effective
        number is too small for limits if it is below 10 and below a quarter of the tasks.

        >>> TaskCosts(np.array([50.0, *[1.0] * 19]), np.ones(20)).effective_tasks_if_few
        2
        """
        square = float(self.mean_cost @ self.mean_cost)
        carrying = float(self.mean_cost.sum()) ** 2 / square if square > 0 else np.inf
        return (
            round(carrying) if carrying < min(_MIN_EFFECTIVE_TASKS, len(self.mean_cost) / 4) else 0
        )

    @property
    def ratio_contribution_variances(self) -> Floats:
        """For each task, the variance over repeated attempts of the contribution to the cost per
        success."""
        passing = float(self.pass_rate.mean())
        if self.within_task_covariances is None or not passing:
            return np.full(len(self.mean_cost), np.nan)
        ratio, (xx, yy, xy) = float(self.mean_cost.mean()) / passing, self.within_task_covariances
        variance: Floats = (xx - 2 * ratio * xy + ratio**2 * yy) / passing**2
        return variance

    @property
    def unit_count(self) -> int:
        """The number of clusters, or the number of tasks if there are no clusters."""
        return len(self.mean_cost) if self.clusters is None else int(self.clusters.max()) + 1

    def residuals(self, *columns: Floats) -> Floats:
        """The contribution of each task or cluster to the error of each column's mean."""
        values = np.stack(columns, axis=1)
        totals, sizes = cluster_totals_and_sizes(values, self.clusters)
        residuals: Floats = totals - sizes[:, None] * values.mean(axis=0)
        return residuals

    def refusal_reason(self, population: str) -> str:
        """The reason why passk cannot compute limits of a cost, or "" if passk can compute them."""
        if population == THESE_TASKS:
            if self.within_task_covariances is None or self.attempts is None:
                return "unknown for these tasks, because the cost is not a mean of attempts"
            return (
                "needs two attempts at every task"
                if np.isnan(self.within_task_covariances).any()
                else ""
            )
        noun = "tasks" if self.clusters is None else "clusters"
        return f"the method needs at least 2 {noun}" if self.unit_count < 2 else ""

    def student_quantile(self, level: float, population: str) -> float:
        """The quantile of Student's t distribution for the limits at a confidence level."""
        from passk_cli.scipy_special import stdtrit

        degrees = self.unit_count - 1
        if population == THESE_TASKS and self.attempts is not None:
            degrees = int((self.attempts - 1).sum())
        return float(-stdtrit(degrees, (1.0 - level) / 2))


@dataclass(frozen=True)
class RatioInterval:
    """A cost per success or a comparison of two costs per success, with limits.

    value : the estimate; None if a model passed no attempt.
    missing_cost_upper_bound : the largest possible value if costs are missing, which is infinite if
        there is no maximum. The field is None if no cost is missing.
    low, high : limits that include `value` and `missing_cost_upper_bound`. If there is no upper
        limit, `high` is infinite, so the interval means "at least `low`".
        If passk cannot compute limits, both limits are None, and `reason` explains why.
    """

    value: float | None
    missing_cost_upper_bound: float | None
    low: float | None
    high: float | None
    reason: str = ""


@dataclass(frozen=True)
class RatioComparison:
    """A comparison of two models' costs per solved task, θ₁ and θ₂, over the same tasks.

    first_index, second_index : indices of the models.
    p : two-sided p-value of the hypothesis θ₁ = θ₂; NaN if there is no test.
    adjusted : p-value adjusted for all pairs of models.  alpha : largest value of p that is
        significant.
    """

    first_index: int
    second_index: int
    difference: RatioInterval
    ratio: RatioInterval
    p: float
    adjusted: float
    alpha: float


class _MeanWithLimitDistances(NamedTuple):
    """A mean over tasks, and the distances of the lower and the upper limit from the mean."""

    mean: float
    below: float
    above: float


def cost_per_success(
    spending: TaskCosts, level: float = 0.95, population: str = NEW_TASKS
) -> RatioInterval:
    """The cost per solved task, including failed attempts: θ = Σ_t mean cost / Σ_t mean outcome.

    The limits come from Fieller's method, with separate limits for each mean and each direction. In
    the formula below, x̄ is the mean cost over tasks, ȳ is the mean outcome over tasks, and r is
    the correlation of these two means. X is the distance from x̄ to a limit of x̄, and Y is the
    distance from ȳ to a limit of ȳ. The limits of θ are roots of this equation:

        (x̄ − θ ȳ)² = X² − 2 r θ X Y + θ² Y²

    For the lower limit of θ, X is the distance to the lower limit of x̄, and Y is the distance to
    the upper limit of ȳ. For the upper limit of θ, X is the distance to the upper limit of x̄, and
    Y is the distance to the lower limit of ȳ. The limits of the mean outcome ȳ come from the
    default interval of pass@1 (`guard` for new tasks, `hull` for these tasks), which is also valid
    near 0. If no attempt passed, the cost per solved task has only a lower limit. The limits of the
    mean cost x̄ come from `amount_limit_distances`.

    The limits are None if there is only one task (or one cluster).
    Limits for these tasks need at least two attempts at each task.
    Coverage: benchmarks/cost.md.
    Source: Fieller 1954; Donner & Zou 2012; Land 1972; Zou, Huo & Taleban 2009.

    >>> spent = TaskCosts(np.array([0.1, 0.3, 0.2, 0.4, 0.1]), np.array([1.0, 0.0, 0.5, 0.0, 1.0]))
    >>> answer = cost_per_success(spent)
    >>> round(answer.value, 3), round(answer.low, 3), round(answer.high, 2)
    (0.44, 0.038, 4.15)
    """
    return _costs_per_success([spending], level, population)[0]


def mean_cost(
    spending: TaskCosts, level: float = 0.95, population: str = NEW_TASKS
) -> RatioInterval:
    """The mean cost of an attempt, averaged over tasks.

    The limits come from `amount_limit_distances` for new tasks, and from the jackknife for these
    tasks.
    """
    limits_over_tasks = _cost_per_success_interval(spending, level, population, None)
    if (
        population != THESE_TASKS
        or spending.within_task_covariances is None
        or limits_over_tasks.low is None
    ):
        return limits_over_tasks
    sample = IntervalData(
        spending.mean_cost,
        upper_bound=np.inf,
        attempt_variances=spending.within_task_covariances[0],
    )
    limits = interval(sample, "jackknife", level, population)
    return replace(
        limits_over_tasks,
        low=limits.low,
        high=limits_over_tasks.missing_cost_upper_bound or limits.high,
    )


def _costs_per_success(
    spendings: Sequence[TaskCosts], level: float, population: str
) -> list[RatioInterval]:
    reaches = _rate_limit_distances(spendings, level, population)
    return [
        _cost_per_success_interval(spending, level, population, reach)
        for spending, reach in zip(spendings, reaches, strict=True)
    ]


def _cost_per_success_interval(
    spending: TaskCosts, level: float, population: str, passing: _MeanWithLimitDistances | None
) -> RatioInterval:
    y, r = passing or _MeanWithLimitDistances(1.0, 0.0, 0.0), 0.0
    value = float(spending.mean_cost.mean()) / y.mean if y.mean > 0 else None
    upper = np.inf if spending.has_missing_cost else None
    if reason := spending.refusal_reason(population):
        return RatioInterval(value, upper, None, None, reason)
    x = _cost_limit_distances(spending, level, population)
    if passing is not None:
        r = _cost_rate_correlation(spending, population)
    low = _fieller_roots(x.mean, y.mean, x.below**2, r * x.below * y.above, y.above**2)[0]
    high = _fieller_roots(x.mean, y.mean, x.above**2, r * x.above * y.below, y.below**2)[1]
    reason = "" if value is not None else "no attempt passed"
    return RatioInterval(value, upper, low, high if upper is None else upper, reason)


def _cost_limit_distances(
    spending: TaskCosts, level: float, population: str
) -> _MeanWithLimitDistances:
    cost = spending.mean_cost
    mean = float(cost.mean())
    if mean == 0.0:
        return _MeanWithLimitDistances(0.0, 0.0, 0.0)
    q = spending.student_quantile(level, population)
    if population == THESE_TASKS and spending.within_task_covariances is not None:
        off = q * float(np.sqrt(spending.within_task_covariances[0].sum())) / len(cost) / mean
        return _MeanWithLimitDistances(
            mean, mean * distance_keeping_limit_positive(off), mean * float(np.expm1(off))
        )
    return _MeanWithLimitDistances(mean, *amount_limit_distances(cost, q, spending.clusters))


def _rate_limit_distances(
    spendings: Sequence[TaskCosts], level: float, population: str
) -> list[_MeanWithLimitDistances]:
    reaches = [
        _MeanWithLimitDistances(float(spending.pass_rate.mean()), 0.0, 0.0)
        for spending in spendings
    ]
    places, samples = (
        [at for at, one in enumerate(spendings) if not one.refusal_reason(population)],
        [],
    )
    for one in (spendings[at] for at in places):
        passes, n = tuple[MetricCounts, ...](), one.attempts
        if population == THESE_TASKS and n is not None:
            passes = (
                MetricCounts(Metric("pass@", 1), n, np.rint(one.pass_rate * n).astype(np.int64)),
            )
        samples.append(
            IntervalData(
                one.pass_rate, attempts=n, clusters=one.clusters, metrics_with_attempt_counts=passes
            )
        )
    for at, limits in zip(places, intervals(samples, None, level, population), strict=True):
        mean, low, high = reaches[at].mean, limits.low or 0.0, limits.high
        above = (1.0 if high is None else high) - mean
        reaches[at] = _MeanWithLimitDistances(mean, max(mean - low, 0.0), max(above, 0.0))
    return reaches


def _cost_rate_correlation(spending: TaskCosts, population: str) -> float:
    if population == THESE_TASKS and spending.within_task_covariances is not None:
        xx, yy, xy = spending.within_task_covariances.sum(axis=1).tolist()
    else:
        x, y = spending.residuals(spending.mean_cost, spending.pass_rate).T
        xx, yy, xy = float(x @ x), float(y @ y), float(x @ y)
    return float(np.clip(xy / np.sqrt(xx * yy), -1.0, 1.0)) if xx > 0 and yy > 0 else 0.0


def _fieller_roots(x: float, y: float, xx: float, xy: float, yy: float) -> tuple[float, float]:
    """The roots θ of (x − θ y)² = xx − 2 θ xy + θ² yy on both sides of x/y. If there is no root
    below x/y, the first result is 0. If there is no root above x/y, the second result is infinite.
    >>> [round(root, 3) for root in _fieller_roots(2.0, 1.0, 0.25, 0.0, 0.04)]
    [1.425, 2.742]
    """
    a, p, c = y * y - yy, x * y - xy, x * x - xx
    root = np.sqrt(max(p * p - a * c, 0.0))
    low = float(c / (p + root)) if c > 0 and p + root > 0 else 0.0
    return low, float((p + root) / a) if a > 0 else np.inf


def compare_costs(
    spendings: Sequence[TaskCosts], pairs: Sequence[tuple[int, int]] | None = None,
    level: float = 0.95, population: str = NEW_TASKS, *, adjust: bool = True,
    resamples: int = 10_000, seed: int = 0,
) -> list[RatioComparison]:  # fmt: skip
    """Compare the costs per solved task of pairs of models, by the difference θ₁ − θ₂ and the ratio
    θ₁/θ₂.

    The limits come from Fieller's method. Let x̄ be the mean cost and ȳ the pass rate of a model.
    The statistic for the ratio ρ is x̄₁ȳ₂ − ρ x̄₂ȳ₁, and the statistic for the difference δ is
    x̄₁ȳ₂ − x̄₂ȳ₁ − δ ȳ₁ȳ₂. The standard error of the statistic is computed from the contributions
    of the tasks, and the distribution is Student's t. If the default limits of a pass rate are
    wider than Student's t limits, the standard error also includes the additional variance. For ρ =
    1 and δ = 0 the two statistics are equal, so the ratio and the difference have the same p-value.

    If Fieller's method gives no limit, passk computes the limit from the limits of both models. The
    limits of a difference are at least as wide as the models' limits imply (`_largest_difference`).

    spendings : costs of each model, at the same tasks in the same order.
    pairs : indices of the two models of each pair; None for all pairs.
    adjust : whether all pairs are one family of tests. For new tasks, the level of the intervals
        then comes from the distribution of the smallest p-value under random sign flips
        (`draw_min_p`). For these tasks, the level comes from Bonferroni's bound. Without
        adjustment, only the two models of each pair must have the same tasks.
    If costs are missing, the limits include the smallest and the largest possible value, and p is
    the largest p-value over all possible costs.
    Source: Fieller 1954; the delta method; Zou & Donner 2008.

    >>> costs = np.array([0.1, 0.2, 0.1, 0.3, 0.2, 0.1])
    >>> cheap = TaskCosts(costs, np.array([1, 0, 1, 0.5, 1, 1.0]))
    >>> dear = TaskCosts(cheap.mean_cost * 5, np.array([1, 0.5, 1, 0.5, 1, 1.0]))
    >>> answer = compare_costs([cheap, dear])[0]
    >>> round(answer.ratio.value, 3), answer.p < 0.05, answer.ratio.high < 1
    (0.222, True, True)
    """
    pairs = list(combinations(range(len(spendings)), 2) if pairs is None else pairs)
    reasons = [spending.refusal_reason(population) for spending in spendings]
    tested = [(i, j) for i, j in pairs if not (reasons[i] or reasons[j])]
    distributions = _cross_product_distributions(spendings, tested, population)
    p = np.array([distribution.p for distribution in distributions])
    alpha, adjusted = 1.0 - level, p
    if adjust and distributions and population == NEW_TASKS:
        columns = np.stack([law.contributions for law in distributions], axis=1)
        # passk scales the contributions of tasks, so that rounding errors do not depend on the
        # currency.
        largest = np.abs(columns).max(axis=0)
        columns /= np.where(largest > 0, largest, 1.0)
        first = spendings[0]
        sizes = cluster_totals_and_sizes(first.mean_cost[:, None], first.clusters)[1]
        tests = SharedLevelTests(columns, sizes, p=p)
        (min_p,) = draw_min_p([tests], alpha=alpha, resamples=resamples, seed=seed)
        alpha, adjusted = min_p.level_per_test(alpha), min_p.adjusted(p)
    elif adjust and distributions:
        alpha, adjusted = alpha / len(distributions), np.minimum(p * len(distributions), 1.0)
    model_limits = _costs_per_success(spendings, 1.0 - alpha, population)
    tests_by_pair = dict(
        zip(tested, zip(distributions, p.tolist(), adjusted.tolist(), strict=True), strict=True)
    )
    answers = []
    for i, j in pairs:
        if (i, j) in tests_by_pair:
            law, pair_p, adjusted_p = tests_by_pair[i, j]
            limits = _difference_and_ratio_intervals(
                law, alpha, pair_p, model_limits[i], model_limits[j]
            )
        else:
            limits = _intervals_without_limits(
                model_limits[i], model_limits[j], reasons[i] or reasons[j]
            )
            pair_p = adjusted_p = np.nan
        answers.append(RatioComparison(i, j, *limits, pair_p, adjusted_p, alpha))
    return answers


def _cross_product_distributions(
    spendings: Sequence[TaskCosts], pairs: Sequence[tuple[int, int]], population: str
) -> list[_CrossProductDistribution]:
    places = sorted({at for pair in pairs for at in pair})
    tested = [spendings[at] for at in places]
    reaches = _rate_limit_distances(tested, _RATE_LIMIT_COMPARISON_LEVEL, population)
    models = {
        at: _ModelMeansWithErrors.from_task_costs(spending, reach, population)
        for at, spending, reach in zip(places, tested, reaches, strict=True)
    }
    return [_CrossProductDistribution(models[i], models[j]) for i, j in pairs]


class _ModelMeansWithErrors(NamedTuple):
    """A model's mean cost and pass rate, with the errors that each unit contributes to the means.

    residuals : an array (units × 2) of errors. The cross products of the errors are the covariances
        of the two means. For these tasks, `residuals` is a square root of the covariance matrix.
    lower_rate_limit_added_variance, upper_rate_limit_added_variance : variances that are added to
        the variance of the pass rate, for lower and for upper limits of the rate.
    degrees : degrees of freedom.  has_shared_units : whether all models have the same units.
    """

    mean_cost: float
    pass_rate: float
    residuals: Floats
    lower_rate_limit_added_variance: float
    upper_rate_limit_added_variance: float
    degrees: int
    has_shared_units: bool
    has_missing_cost: bool

    @classmethod
    def from_task_costs(
        cls, spending: TaskCosts, reach: _MeanWithLimitDistances, population: str
    ) -> _ModelMeansWithErrors:
        """A model's mean cost and pass rate.

        reach : the pass rate, and its distances from the limits at `_RATE_LIMIT_COMPARISON_LEVEL`.
        """
        tasks = len(spending.mean_cost)
        if population == THESE_TASKS and spending.within_task_covariances is not None:
            xx, yy, xy = (spending.within_task_covariances.sum(axis=1) / tasks**2).tolist()
            root, axes = np.linalg.eigh([[xx, xy], [xy, yy]])
            residuals = (axes * np.sqrt(np.maximum(root, 0.0))).T
            degrees = int((np.asarray(spending.attempts) - 1).sum())
        else:
            residuals, units = (
                spending.residuals(spending.mean_cost, spending.pass_rate),
                spending.unit_count,
            )
            residuals = residuals * (np.sqrt(units / (units - 1)) / tasks)
            degrees = units - 1
        q, visible = (
            spending.student_quantile(_RATE_LIMIT_COMPARISON_LEVEL, population),
            float(residuals[:, 1] @ residuals[:, 1]),
        )
        below, above = (max((side / q) ** 2 - visible, 0.0) for side in (reach.below, reach.above))
        return cls(
            float(spending.mean_cost.mean()),
            reach.mean,
            residuals,
            below,
            above,
            degrees,
            population == NEW_TASKS,
            spending.has_missing_cost,
        )


class _CrossProductDistribution(NamedTuple):
    """The distribution of x₁y₂ − x₂y₁ for the mean costs x and the pass rates y of two models."""

    first_model: _ModelMeansWithErrors
    second_model: _ModelMeansWithErrors

    @property
    def product_derivatives(self) -> Floats:
        """The derivatives of x₁y₂, x₂y₁ and y₁y₂ with respect to x₁, y₁, x₂ and y₂: (3 × 4)."""
        (x1, y1, *_), (x2, y2, *_) = self
        return np.array([[y2, 0.0, 0.0, x1], [0.0, x2, y1, 0.0], [0.0, y2, 0.0, y1]])

    @property
    def contributions(self) -> Floats:
        """The contribution of each task (or cluster) to the error of x₁y₂ − x₂y₁."""
        change = self.product_derivatives[0] - self.product_derivatives[1]
        contributions: Floats = (
            np.hstack([self.first_model.residuals, self.second_model.residuals]) @ change
        )
        return contributions

    def product_covariances(self, lower: bool) -> Floats:
        """The covariance matrix of x₁y₂, x₂y₁ and y₁y₂ (3 × 3), for lower or for upper limits."""
        first, second = self.first_model.residuals, self.second_model.residuals
        covariances = np.zeros((4, 4))
        covariances[:2, :2], covariances[2:, 2:] = first.T @ first, second.T @ second
        if self.first_model.has_shared_units:
            covariances[:2, 2:] = first.T @ second
            covariances[2:, :2] = covariances[:2, 2:].T
        covariances[1, 1] += (
            self.first_model.upper_rate_limit_added_variance
            if lower
            else self.first_model.lower_rate_limit_added_variance
        )
        covariances[3, 3] += (
            self.second_model.lower_rate_limit_added_variance
            if lower
            else self.second_model.upper_rate_limit_added_variance
        )
        slopes = self.product_derivatives
        return slopes @ covariances @ slopes.T

    @property
    def cross_product_difference(self) -> float:
        """The difference x₁y₂ − x₂y₁, or 0 if the difference is only a rounding error."""
        first, second = (
            self.first_model.mean_cost * self.second_model.pass_rate,
            self.second_model.mean_cost * self.first_model.pass_rate,
        )
        return 0.0 if abs(first - second) <= 1e-12 * max(first, second) else first - second

    @property
    def p(self) -> float:
        """The two-sided p-value of the hypothesis θ₁ = θ₂. The p-value is 1 if missing costs could
        make θ₁ and θ₂ equal."""
        from passk_cli.scipy_special import stdtr

        away = self.cross_product_difference
        if away == 0.0 or (self.second_model if away > 0 else self.first_model).has_missing_cost:
            return 1.0
        (aa, ab, _), (_, bb, _), _ = self.product_covariances(away > 0)
        error = np.sqrt(max(aa - 2 * ab + bb, 0.0))
        return float(2 * stdtr(self.degrees, -abs(away) / error)) if error > 0 else 0.0

    @property
    def degrees(self) -> int:
        return min(self.first_model.degrees, self.second_model.degrees)


def _intervals_without_limits(
    first: RatioInterval, second: RatioInterval, reason: str
) -> tuple[RatioInterval, RatioInterval]:
    values = _difference_and_ratio_of_values(first.value, second.value)
    difference, ratio = (RatioInterval(value, None, None, None, reason) for value in values)
    return difference, ratio


def _difference_and_ratio_of_values(
    first: float | None, second: float | None
) -> tuple[float | None, float | None]:
    if first is None or second is None:
        return None, None
    return first - second, first / second if second > 0 else None


def _difference_and_ratio_intervals(
    pair: _CrossProductDistribution,
    alpha: float,
    p: float,
    first_limits: RatioInterval,
    second_limits: RatioInterval,
) -> tuple[RatioInterval, RatioInterval]:
    from passk_cli.scipy_special import stdtrit

    first, second = pair.first_model, pair.second_model
    (x1, y1, *_), (x2, y2, *_) = pair
    square = float(stdtrit(pair.degrees, alpha / 2)) ** 2
    (low_1, high_1), (low_2, high_2) = (
        (o.low or 0.0, np.inf if o.high is None else o.high) for o in (first_limits, second_limits)
    )
    ratios, differences = [0.0, np.inf], [-np.inf, np.inf]
    for side, open_end in enumerate((second.has_missing_cost, first.has_missing_cost)):
        if open_end:
            continue
        v = square * pair.product_covariances(side == 0)
        ratio = _fieller_roots(x1 * y2, x2 * y1, v[0, 0], v[0, 1], v[1, 1])[side]
        if np.isinf(ratio) and low_2 > 0:
            ratio = high_1 / low_2
        away = v[0, 0] - 2 * v[0, 1] + v[1, 1], v[0, 2] - v[1, 2], v[2, 2]
        a = (y1 * y2) ** 2 - away[2]
        middle = (x1 * y2 - x2 * y1) * y1 * y2 - away[1]
        end = (x1 * y2 - x2 * y1) ** 2 - away[0]
        if a > 0:
            root = np.sqrt(max(middle**2 - a * end, 0.0))
            difference = (middle + (root if side else -root)) / a
        elif side:
            difference = _smallest_difference(
                1.0 / ratio if ratio > 0 else np.inf, low_2, high_2, low_1
            )
            difference = -max(difference, low_2 - high_1)
        else:
            difference = max(_smallest_difference(ratio, low_1, high_1, low_2), low_1 - high_2)
        if side:
            difference = max(difference, _largest_difference(first, second, high_1, low_2))
        else:
            difference = min(difference, -_largest_difference(second, first, high_2, low_1))
        ratios[side], differences[side] = ratio, difference
    if p > alpha:
        ratios = [min(ratios[0], 1.0), max(ratios[1], 1.0)]
        differences = [min(differences[0], 0.0), max(differences[1], 0.0)]
    reason = "" if y1 > 0 and y2 > 0 else "a model passed no attempt"
    answers = []
    for value, limits, ends in zip(
        _difference_and_ratio_of_values(first_limits.value, second_limits.value),
        (differences, ratios), ((
        -np.inf, np.inf),
        (0.0, np.inf)),
        strict=True,
    ):  # fmt: skip
        low, high = (float(limit) for limit in limits)
        upper = None
        if first.has_missing_cost or second.has_missing_cost:
            upper = ends[1] if first.has_missing_cost else value
            value = ends[0] if second.has_missing_cost and value is not None else value
        answers.append(RatioInterval(value, upper, low, high, reason))
    return answers[0], answers[1]


def _smallest_difference(ratio: float, low_1: float, high_1: float, low_2: float) -> float:
    """The smallest θ₁ − θ₂ if θ₁/θ₂ ≥ ratio and both costs per success are within their limits."""
    if ratio >= 1:
        return max(low_2 * (ratio - 1.0) if low_2 > 0 else 0.0, low_1 * (1.0 - 1.0 / ratio))
    return high_1 * (1.0 - 1.0 / ratio) if ratio > 0 else -np.inf


def _largest_difference(
    dear: _ModelMeansWithErrors, cheap: _ModelMeansWithErrors, high: float, low: float
) -> float:
    """An upper limit of θ₁ − θ₂ if the first model is more expensive, and −∞ if not.

    The limit comes from the MOVER method. This method adds the squared distances of `high` (the
    upper limit of θ₁) and `low` (the lower limit of θ₂) from the estimates. It then subtracts a
    term for the correlation of the two errors.
    The limit is needed because costs are skewed, and Fieller's limits of a difference allow for too
    little of this skewness.
    Source: Zou & Donner 2008.
    """
    if (
        dear.pass_rate == 0
        or cheap.pass_rate == 0
        or dear.mean_cost * cheap.pass_rate <= cheap.mean_cost * dear.pass_rate
    ):
        return -np.inf
    first, second = dear.mean_cost / dear.pass_rate, cheap.mean_cost / cheap.pass_rate
    above, below, shared = high - first, second - low, 0.0
    if dear.has_shared_units and np.isfinite(above):
        dear_errors, cheap_errors = (
            m.residuals @ np.array([1.0, -m.mean_cost / m.pass_rate]) for m in (dear, cheap)
        )
        size = float(np.sqrt((dear_errors @ dear_errors) * (cheap_errors @ cheap_errors)))
        shared = 2.0 * float(dear_errors @ cheap_errors) / size * above * below if size > 0 else 0.0
    return first - second + float(np.sqrt(max(above**2 + below**2 - shared, 0.0)))
