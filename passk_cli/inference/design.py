"""Variance of a metric's task values in a planned evaluation, from assumptions or a pilot run.

A design has T tasks with n attempts per task. The estimate is the mean of T independent task values
V, so its standard error is √(Var V / T). Planning needs the variance of V as a function of n:

    Var V = between + within(n)

In this formula, `between` is the variance of the tasks' true values, and `within` is the variance
that the random outcomes of attempts add. The variance of the difference between two models at a
task also has these two parts. The module also computes the correlation of two models' true values
over tasks, and splits a budget of attempts into tasks and attempts per task.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from passk_cli.arrays import Floats, Ints, row_blocks
from passk_cli.errors import ParameterError
from passk_cli.inference.hierarchical_model import count_histogram
from passk_cli.metrics.combinatorics import hypergeometric_probabilities, log_choose
from passk_cli.metrics.pass_k import unique_pairs
from passk_cli.metrics.registry import Metric

# A matrix of probabilities has at most _BLOCK_ELEMENTS elements, which limits its memory to 32 MB.
_BLOCK_ELEMENTS = 1 << 22
# Users enter rounded numbers, so a spread may exceed the largest possible spread √(m(1−m)) by the
# relative tolerance _SPREAD_EXCESS_TOLERANCE.
_SPREAD_EXCESS_TOLERANCE = 1e-6
# A share of a variance up to _ROUNDING_ERROR_VARIANCE_SHARE can be a rounding error.
_ROUNDING_ERROR_VARIANCE_SHARE = 1e-9
# Budget splits are treated as equally good if their standard errors are within 1 % of the smallest
# standard error. Among equally good splits, passk chooses the split with the most tasks.
_EQUALLY_GOOD_ERROR_RATIO = 1.01

BudgetSplit = tuple[int, int]


@dataclass(frozen=True)
class BetaRates:
    """Success rates that have a Beta distribution over tasks, with a given mean and spread.

    mean : mean of the rates over tasks, in (0, 1).
    spread : standard deviation of the rates over tasks, from 0 (all rates are equal) to √(mean (1 −
        mean)) (every rate is 0 or 1). For a spread in between, the rates have the distribution
        Beta(a, b) with a + b = mean (1 − mean) / spread² − 1 and a = mean (a + b).
    Errors: ParameterError if the mean or the spread is outside the possible range.

    >>> BetaRates(0.5, 0.5).pass_count_probabilities(3).tolist()
    [0.5, 0.0, 0.0, 0.5]
    >>> BetaRates(0.5, 12**-0.5).pass_count_probabilities(3).round(12).tolist()  # uniform rates
    [0.25, 0.25, 0.25, 0.25]
    """

    mean: float
    spread: float

    def __post_init__(self) -> None:
        if not 0.0 < self.mean < 1.0:
            raise ParameterError(
                "the mean success rate must be above 0 and below 1 (for example 0.6);"
                f" got {self.mean:g}"
            )
        largest = math.sqrt(self.mean * (1.0 - self.mean))
        if not 0.0 <= self.spread <= largest * (1.0 + _SPREAD_EXCESS_TOLERANCE):
            raise ParameterError(
                f"the spread of rates with a mean of {self.mean:g} must be between 0 (all rates are"
                f" the same) and {largest:.4g} (all rates are 0 or 1); got {self.spread:g}"
            )

    @property
    def intraclass_correlation(self) -> float:
        """Correlation of two attempts at the same task, in [0, 1]: 1 / (a + b + 1)."""
        share = self.spread**2 / (self.mean * (1.0 - self.mean))
        return 1.0 if share > 1.0 - _SPREAD_EXCESS_TOLERANCE else share

    def pass_count_probabilities(self, n: int) -> Floats:
        """The beta-binomial probabilities that c of n attempts at a random task pass, for c = 0 …
        n.

        The probability is C(n, c) Π_{i<c} (mr + is) Π_{i<n−c} ((1−m)r + is) / Π_{i<n} (r + is) with
        the mean m, s = `intraclass_correlation` and r = 1 − s. The formula is also valid for the
        smallest and for the largest spread.
        """
        correlation = self.intraclass_correlation
        if correlation == 1.0:
            ends = np.zeros(n + 1)
            ends[0], ends[n] = 1.0 - self.mean, self.mean
            return ends
        complement, i = 1.0 - correlation, np.arange(n) * correlation
        passing, failing, either = (
            _running_sums(np.log(share * complement + i))
            for share in (self.mean, 1.0 - self.mean, 1.0)
        )
        c = np.arange(n + 1)
        logs = log_choose(n, c) + passing + failing[::-1] - either[n]
        return np.asarray(np.exp(logs))


@dataclass(frozen=True)
class AssumedMetricMoments:
    """Exact moments of a metric's task values if the success rates have an assumed distribution.

    >>> from passk_cli.metrics.registry import parse_metric
    >>> values = AssumedMetricMoments(parse_metric("pass@1"), BetaRates(0.6, 0.3))
    >>> round(values.expected, 12), round(values.variance(5), 12)  # 0.3² + (0.24 − 0.3²) / 5
    (0.6, 0.12)
    """

    metric: Metric
    rates: BetaRates

    @cached_property
    def expected(self) -> float:
        """The mean of the metric over tasks."""
        k = self.metric.k
        return float(self.rates.pass_count_probabilities(k) @ _values_by_passes(self.metric, k))

    @cached_property
    def between_variance(self) -> float:
        """The variance of the metric's true values over tasks."""
        square = expected_product_of_two_groups(
            self.metric, self.rates.pass_count_probabilities(2 * self.metric.k)
        )
        return max(square - self.expected**2, 0.0)

    def within_variance(self, n: int) -> float:
        """The mean variance of a task's value if n attempts are repeated; NaN if n < k."""
        return max(self.variance(n) - self.between_variance, 0.0)

    def variance(self, n: int) -> float:
        """Variance of the value of a random task with n attempts; NaN if n < k."""
        if n < self.metric.k:
            return math.nan
        values, weights = self.distribution(n)
        return float(weights @ (values - self.expected) ** 2)

    def distribution(self, n: int) -> tuple[Floats, Floats]:
        """The possible values of a random task with n ≥ k attempts, and their probabilities."""
        return _values_by_passes(self.metric, n), self.rates.pass_count_probabilities(n)


@dataclass(frozen=True)
class PilotEstimate:
    """Moments of a metric's task values, estimated from the counts of a pilot run.

    Let n₀ be the smallest number of attempts per task in the pilot. For n ≤ n₀, the estimate of the
    variance E V² − (E V)² needs no model and is unbiased. E V² is estimated by the mean over all
    subsets of n attempts (hypergeometric). The square (E V)² is estimated by the mean product of
    the values of two different tasks. If n₀ ≥ 2k, `between_variance` needs no model either. The
    square of a task's true value is then estimated by the product of the values of two separate
    groups of k attempts.

    For n > n₀, `within_variance` decreases by the same factor as in a Beta model with the pilot's
    mean and spread. If n₀ < 2k, `between_variance` is a share of the variance at n₀ attempts. This
    share is the same as in the Beta model. For k = 1 and n₀ ≥ 2, `within_variance` is proportional
    to 1/n for any success rates.

    n, c : numbers of attempts and passes per task, for at least 2 tasks, with n ≥ k. If no task has
        two attempts, `between_variance` and all variances at n > 1 are NaN.
    """

    metric: Metric
    n: Ints
    c: Ints

    @cached_property
    def fewest_attempts(self) -> int:
        """The smallest number of attempts at any task of the pilot (n₀ in the formulas)."""
        return int(self.n.min())

    @property
    def is_between_variance_measured(self) -> bool:
        """Whether the pilot measures `between_variance` without a model."""
        return self.fewest_attempts >= 2 * self.metric.k

    def is_variance_measured_at(self, n: int) -> bool:
        """Whether the pilot measures the variance at n attempts without a model."""
        return n <= self.fewest_attempts or (self.metric.k == 1 and self.fewest_attempts >= 2)

    @cached_property
    def task_values(self) -> Floats:
        """The value of the metric in each task of the pilot."""
        un, uc, index = unique_pairs(self.n, self.c)
        return self.metric.values(un, uc)[index]

    @cached_property
    def expected(self) -> float:
        """The mean of the metric over the tasks of the pilot."""
        return float(self.task_values.mean())

    @cached_property
    def fitted_beta_rates(self) -> BetaRates | None:
        """The Beta model that is used for more attempts than the pilot has; None if it cannot be
        estimated."""
        return fitted_beta_rates(self.n, self.c)

    @cached_property
    def between_variance(self) -> float:
        """The variance of the tasks' true values, in [0, `largest_between_variance`]."""
        raw = self.raw_between_variance
        return (
            min(max(raw, 0.0), self.largest_between_variance) if not math.isnan(raw) else math.nan
        )

    @property
    def largest_between_variance(self) -> float:
        """Largest `between_variance` that the metric's bounds allow: (high − mean) (mean − low)."""
        low, high = self.metric.bounds or (-math.inf, math.inf)
        return (high - self.expected) * (self.expected - low)

    @cached_property
    def raw_between_variance(self) -> float:
        """The estimate of `between_variance` before it is limited. It can be negative if tasks
        hardly differ."""
        if self.is_between_variance_measured:
            halves = subset_pass_count_probabilities(self.n, self.c, 2 * self.metric.k)
            return (
                expected_product_of_two_groups(self.metric, halves)
                - self._unbiased_squared_metric_mean
            )
        if self._beta_model is None:
            return math.nan
        total = self._beta_model.variance(self.fewest_attempts)
        return self._model_free_task_value_variance(self.fewest_attempts) * (
            self._beta_model.between_variance / total if total > 0 else 1.0
        )

    @property
    def attempt_variances(self) -> Floats:
        """An unbiased estimate of the variance of each task's value over repeated attempts.

        If n₀ < 2k, every task gets the mean variance.
        """
        if not self.is_between_variance_measured:
            return np.full(len(self.n), self.within_variance(self.fewest_attempts))
        un, uc, index = unique_pairs(self.n, self.c)
        squares = np.zeros(len(un))
        for at in np.unique(index).tolist():
            chances = subset_pass_count_probabilities(
                un[at : at + 1], uc[at : at + 1], 2 * self.metric.k
            )
            squares[at] = expected_product_of_two_groups(self.metric, chances)
        variances: Floats = self.task_values**2 - squares[index]
        return variances

    def within_variance(self, n: int) -> float:
        """The mean variance of a task's value if n attempts are repeated; NaN if n < k."""
        if n < self.metric.k:
            return math.nan
        if n <= self.fewest_attempts:
            return max(self._model_free_task_value_variance(n) - self.between_variance, 0.0)
        if self._beta_model is None:
            return math.nan
        if n not in self._cached_within_variances:
            start = self._beta_within_variance_at_min_attempts
            share = (
                self._beta_model.within_variance(n) / start
                if start > 0
                else self.fewest_attempts / n
            )
            self._cached_within_variances[n] = self.within_variance(self.fewest_attempts) * share
        return self._cached_within_variances[n]

    def variance(self, n: int) -> float:
        """The variance of a random task's value with n attempts; NaN if n < k or if unknown."""
        if self.metric.k <= n <= self.fewest_attempts:
            return self._model_free_task_value_variance(n)
        return self.between_variance + self.within_variance(n)

    def distribution(self, n: int) -> tuple[Floats, Floats]:
        """Possible values of a random task with min(n, n₀) attempts, and their probabilities."""
        size = min(n, self.fewest_attempts)
        return _values_by_passes(self.metric, size), subset_pass_count_probabilities(
            self.n, self.c, size
        )

    @cached_property
    def _cached_within_variances(self) -> dict[int, float]:
        return {}

    @cached_property
    def _beta_model(self) -> AssumedMetricMoments | None:
        return (
            None
            if self.fitted_beta_rates is None
            else AssumedMetricMoments(self.metric, self.fitted_beta_rates)
        )

    @cached_property
    def _beta_within_variance_at_min_attempts(self) -> float:
        """The Beta model's `within_variance` at n₀ attempts, or 0 if it is proportional to 1/n."""
        if self._beta_model is None or self.metric.k == 1:
            return 0.0
        start = self._beta_model.within_variance(self.fewest_attempts)
        return (
            start
            if start
            > _ROUNDING_ERROR_VARIANCE_SHARE * self._beta_model.variance(self.fewest_attempts)
            else 0.0
        )

    @cached_property
    def _unbiased_squared_metric_mean(self) -> float:
        """An unbiased estimate of (E V)²: the mean product of the values of two different tasks."""
        tasks, square = len(self.task_values), float((self.task_values**2).mean())
        return (tasks * self.expected**2 - square) / (tasks - 1)

    def _model_free_task_value_variance(self, n: int) -> float:
        values, weights = self.distribution(n)
        return float(weights @ values**2) - self._unbiased_squared_metric_mean


@dataclass(frozen=True)
class PlannedDifferenceMoments:
    """The variance of the difference between two models at a task, if each model makes n attempts.

    covariance : covariance of the two models' true values over tasks.
    estimated_between_variance : estimate of `between_variance` from the differences of a pilot.
    """

    first_model: AssumedMetricMoments | PilotEstimate
    second_model: AssumedMetricMoments | PilotEstimate
    covariance: float
    estimated_between_variance: float | None = None

    @property
    def between_variance(self) -> float:
        """The variance of the true differences over tasks, at least 0; NaN if it is unknown."""
        if self.estimated_between_variance is not None:
            return self.estimated_between_variance
        raw = (
            self.first_model.between_variance
            + self.second_model.between_variance
            - 2.0 * self.covariance
        )
        return raw if not raw < 0 else 0.0

    @property
    def correlation(self) -> float | None:
        """The correlation of two models' true values over tasks, in [−1, 1]; None if unknown."""
        variances = self.first_model.between_variance, self.second_model.between_variance
        scale = 2.0 * math.sqrt(variances[0] * variances[1])
        if not scale > 0:
            return None
        return min(max((sum(variances) - self.between_variance) / scale, -1.0), 1.0)

    def within_variance(self, n: int) -> float:
        """The mean variance of a task's difference if both models repeat their n attempts."""
        return self.first_model.within_variance(n) + self.second_model.within_variance(n)

    def variance(self, n: int) -> float:
        """Variance of the difference at a random task, with n attempts by each model."""
        if math.isnan(self.between_variance):
            return (
                self.first_model.variance(n) + self.second_model.variance(n) - 2.0 * self.covariance
            )
        return self.between_variance + self.within_variance(n)


def fitted_beta_rates(n: Ints, c: Ints) -> BetaRates | None:
    """The Beta model with the mean and the spread of the true success rates, estimated from a
    pilot.

    The squared spread of the success rates p is E p − (E p)² − E p(1−p). The last term is estimated
    by the mean of c(n−c)/(n(n−1)) over tasks with two or more attempts. The estimate of each term
    is unbiased, and the spread is limited to the possible range.

    n, c : numbers of attempts and passes per task, for at least 2 tasks.
    Returns None if no task has two attempts, or if all outcomes are equal.

    >>> rates = fitted_beta_rates(np.array([4, 4, 4]), np.array([0, 2, 4]))
    >>> rates.mean, round(rates.spread, 6)
    (0.5, 0.471405)
    """
    rate = c / n
    mean, twice = float(rate.mean()), n >= 2
    if not 0.0 < mean < 1.0 or not twice.any():
        return None
    n_, c_ = n[twice], c[twice]
    luck = float((c_ * (n_ - c_) / (n_ * (n_ - 1))).mean())
    squared = (len(n) * mean**2 - float((rate**2).mean())) / (len(n) - 1)
    return BetaRates(mean, math.sqrt(min(max(mean - squared - luck, 0.0), mean * (1.0 - mean))))


def cluster_excess_variance(values: Floats, clusters: Ints | None) -> float:
    """The variance that clusters of similar tasks add to the value of a task.

    The result is max(0, Σ_g (Σ_{t∈g} d_t)² / (T − m_g) − Σ_t d_t² / (T−1)). In this formula, d_t is
    the deviation of a task value from the mean of all T values, and cluster g has m_g tasks. The
    difference in the formula is the variance with clusters minus the variance with independent
    tasks. The variance due to clusters does not depend on the number of attempts.

    values : task values of at least 2 tasks.
    clusters : cluster codes 0 … G−1 without gaps, for at least 2 clusters, or None. Without
        clusters, the added variance is 0.
    Source: Miller 2024, "Adding error bars to evals", equation 4; Bell & McCaffrey 2002 for T −
    m_g.

    >>> values = np.array([0.0, 0.0, 1.0, 1.0])
    >>> (round(cluster_excess_variance(values, np.array([0, 0, 1, 1])), 3),
    ...  cluster_excess_variance(values, None))
    (0.667, 0.0)
    """
    if clusters is None:
        return 0.0
    off, tasks = values - values.mean(), len(values)
    totals, sizes = np.bincount(clusters, off), np.bincount(clusters)
    clustered = float((totals**2 / (tasks - sizes)).sum())
    return max(clustered - float(off @ off) / (tasks - 1), 0.0)


def _values_by_passes(metric: Metric, n: int) -> Floats:
    return metric.values(np.full(n + 1, n), np.arange(n + 1))


def expected_product_of_two_groups(metric: Metric, weights: Floats) -> float:
    """The expected product of a metric's values in two separate groups of k attempts at a task.

    weights : the probabilities that s of 2k attempts at a task pass, for s = 0 … 2k.
    If both groups together have s passes, the first group has x passes with the hypergeometric
    probability C(k, x) C(k, s−x) / C(2k, s).
    """
    k = metric.k
    values, c = _values_by_passes(metric, k), np.arange(k + 1)
    ways = log_choose(k, c)
    log_subsets = log_choose(2 * k, np.arange(2 * k + 1))
    total = 0.0
    for x in np.flatnonzero(values).tolist():
        share = np.exp(ways[x] + ways - log_subsets[x : x + k + 1])
        total += float(values[x] * (values * share) @ weights[x : x + k + 1])
    return total


def subset_pass_count_probabilities(n: Ints, c: Ints, size: int) -> Floats:
    """The probabilities that x of `size` random attempts at a random task pass, for x = 0 …
    `size`."""
    tasks, total = count_histogram(n, c), np.zeros(size + 1)
    for block in row_blocks(len(tasks.n), size + 1, _BLOCK_ELEMENTS):
        total += tasks.task_counts[block] @ hypergeometric_probabilities(
            tasks.n[block], tasks.c[block], size
        )
    return total / len(n)


def _running_sums(terms: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(terms)])


def true_difference_variance(
    first: PilotEstimate, second: PilotEstimate
) -> tuple[float, float, float]:
    """Variance over tasks of the true difference between two models, with 95 % limits.

    Each task t contributes h_t = (d_t − d̄)² T / (T − 1) − v_t. In this formula, d_t is the
    observed difference, and v_t is the variance of d_t due to the attempts of both models. The mean
    D̂ of all contributions is an unbiased estimate, but it is negative for some pairs of similar
    models. Therefore, passk uses a normal distribution with the mean D̂ and the standard error s =
    sd(h) / √T, truncated at 0. The estimate is the mean of the truncated distribution, D̂ + s
    φ(D̂/s) / Φ(D̂/s). The upper limit is the 97.5 % quantile of the truncated distribution. The
    lower limit comes from the normal distribution without truncation and may be 0, so that
    identical models are not excluded.

    >>> n = np.full(4, 4)
    >>> passes = np.array([0, 1, 3, 4]), np.array([0, 2, 3, 3])
    >>> pilots = [PilotEstimate(Metric("pass@", 1), n, c) for c in passes]
    >>> [round(each, 4) for each in true_difference_variance(*pilots)]
    [0.0157, 0.0, 0.0505]
    """
    from passk_cli.scipy_special import ndtr, ndtri

    d = first.task_values - second.task_values
    h = (
        (d - d.mean()) ** 2 * (len(d) / (len(d) - 1))
        - first.attempt_variances
        - second.attempt_variances
    )
    estimate, error = float(h.mean()), float(h.std(ddof=1)) / math.sqrt(len(h))
    if not error > 0:
        return (estimate if math.isnan(estimate) else max(estimate, 0.0),) * 3
    ratio = max(estimate / error, -30.0)
    chance_above = float(ndtr(ratio))
    mean = ratio + math.exp(-(ratio**2) / 2) / math.sqrt(2 * math.pi) / chance_above
    ends = ratio + float(ndtri(0.025)), ratio - float(ndtri(0.025 * chance_above))
    mean, low, high = (error * max(limit, 0.0) for limit in (mean, *ends))
    return mean, low, high


def budget_splits(budget: int, least: int, most_tasks: int | None = None) -> list[BudgetSplit]:
    """The ways to split a budget of attempts into (tasks, attempts per task), with at least two
    tasks.

    The attempts per task increase in steps of 5 % from `least` to 200 or to 4 times `least`,
    whichever is larger. More attempts would hardly reduce the noise. The splits also include the
    largest number of attempts per task that the budget allows for `most_tasks` tasks. If a split
    leaves a remainder of the budget, the remainder is not used.

    >>> budget_splits(10, 2)
    [(5, 2), (3, 3), (2, 4), (2, 5)]
    """
    steps = math.ceil(math.log(max(4.0, 200.0 / least)) / math.log(1.05))
    ns = {math.floor(least * 1.05**i) for i in range(steps + 1)}
    if most_tasks is not None:
        ns.add(budget // most_tasks)
    pairs = ((min(budget // n, most_tasks or budget), n) for n in sorted(ns) if n >= least)
    return [(tasks, n) for tasks, n in pairs if tasks >= 2]


def best_split_by_metric(
    options: Sequence[BudgetSplit], errors: Mapping[str, Sequence[float]]
) -> dict[str, BudgetSplit]:
    """The best split for each metric, and the best compromise between all metrics under the key
    "all".

    The best split is the split with the smallest standard error. Among the splits within 1 % of the
    smallest error, passk chooses the split with the most tasks. If several of these splits have the
    same number of tasks, passk chooses the split with the fewest attempts. For the compromise, the
    errors of each metric are divided by the smallest error of the metric. The compromise minimises
    the largest of these ratios over all metrics.

    options : the splits, as pairs (tasks, attempts per task).
    errors : for each metric, the standard error of each split. An unknown error is infinite. If a
        metric has no finite error, there is no best split for this metric, and no compromise.

    >>> best_split_by_metric([(10, 1), (5, 2)], {"pass@1": [0.1, 0.12], "pass@2": [math.inf, 0.2]})
    {'pass@1': (10, 1), 'pass@2': (5, 2), 'all': (5, 2)}
    """
    best: dict[str, BudgetSplit] = {}
    excess = [0.0] * len(options)
    for name, metric_errors in errors.items():
        least = min(metric_errors, default=math.inf)
        if math.isfinite(least):
            best[name] = _near_best_split_with_most_tasks(options, metric_errors)
        ratios = [error / least if math.isfinite(least) else math.inf for error in metric_errors]
        excess = [max(pair) for pair in zip(excess, ratios, strict=True)]
    if len(errors) > 1 and math.isfinite(min(excess, default=math.inf)):
        best["all"] = _near_best_split_with_most_tasks(options, excess)
    return best


def _near_best_split_with_most_tasks(
    options: Sequence[BudgetSplit], errors: Sequence[float]
) -> BudgetSplit:
    least = min(errors)
    good = [
        o for o, e in zip(options, errors, strict=True) if e <= _EQUALLY_GOOD_ERROR_RATIO * least
    ]
    return min(good, key=lambda option: (-option[0], option[1]))
