"""A fitted distribution of success rates over tasks, and the errors of estimates in new attempts.

The fitted distribution, named mixing distribution, gives a probability to each rate of a grid. The
grid is even on the logit scale, and includes the rates 0 and 1. Expectation-maximisation fits the
distribution to the counts. One additional task, which is spread evenly over the grid, makes the
distribution smooth. The error of a mean over the tasks (estimate minus truth) has the mean 0. Each
cumulant of this error is a sum over the tasks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.hierarchical_model import CountHistogram
from passk_cli.inference.weighted_means import STANDARD_NORMAL
from passk_cli.metrics.combinatorics import binomial_probabilities

StatisticAndExpectationFunctions = tuple[Callable[[Ints, Ints], Floats], Callable[[Floats], Floats]]
_STEP, _REACH = 0.3, 9.0
# The estimation takes _EM_STEPS expectation-maximisation steps from a uniform start. With more than
# _EM_STEPS steps, the result is less smooth, and with fewer steps, the variance is less accurate.
_EM_STEPS = 80
_MAX_LOGIT_INFORMATION = 25.0
# Two counts are merged if their logits are closer than _COUNT_MERGE_LOGIT_DISTANCE.
_COUNT_MERGE_LOGIT_DISTANCE = 0.1
_LARGER_VARIANCE_PULL_STRENGTHS = 0.02 * 3.0 ** np.arange(5)
_MAX_LOG_LIKELIHOOD_LOSS = 1.5
_BISECTION_STEPS = 6
_VARIANCE_PULL_EM_STEPS = 30
# In a group, the largest number of attempts is at most _MAX_ATTEMPT_RATIO_IN_GROUP times the
# smallest number of attempts.
_MAX_ATTEMPT_RATIO_IN_GROUP = 1.1
# At each rate, at most _MAX_PASS_COUNTS_PER_RATE pass counts are enumerated.
_MAX_PASS_COUNTS_PER_RATE = 160


@dataclass(frozen=True)
class RateGridLikelihoods:
    """The likelihoods of counts on a grid of success rates, and fitted mixing distributions.

    likelihoods : the likelihood of each rate for each pair (n, c), divided by the largest
        likelihood for the pair, (pairs × rates).
    """

    histogram: CountHistogram
    rate_grid: Floats
    likelihoods: Floats

    @cached_property
    def most_likely_weights(self) -> Floats:
        """The smoothed maximum-likelihood mixing distribution, with one weight per rate."""
        even = np.full((1, len(self.rate_grid)), 1.0 / len(self.rate_grid))
        return np.asarray(self._weights_after_em_steps(even, np.zeros(even.shape), _EM_STEPS)[0])

    def _weights_after_em_steps(self, weights: Floats, pull: Floats, steps: int) -> Floats:
        count = self.histogram.task_count
        for _ in range(steps):
            share = (
                (self.histogram.task_counts / (weights @ self.likelihoods.T))
                @ self.likelihoods
                / count
            )
            gain = pull - (weights * pull).sum(axis=1)[:, None]
            weights = weights * np.maximum(share + gain, 0.0) * count + 1.0 / len(self.rate_grid)
            weights /= weights.sum(axis=1)[:, None]
        return weights

    def most_variable_weights(self, variance: Floats) -> Floats:
        """The mixing distribution with the largest variance that the counts allow.

        The data of n attempts determine only the moments of the rates up to order n, but the
        variance at k = n depends on moments up to order 2n. The variance under the most likely
        distribution is therefore too small as often as too large.

        variance : the variance of a task's value at each rate.
        Returns one weight per rate. The log-likelihood of the result is at most 1.5 below the
        maximum.
        """
        top = variance.max()
        pulls = _LARGER_VARIANCE_PULL_STRENGTHS[:, None] * (variance / top if top > 0 else variance)
        best = self.most_likely_weights
        rows = self._weights_after_em_steps(
            np.tile(best, (len(pulls), 1)), pulls, _VARIANCE_PULL_EM_STEPS
        )
        least = self._log_likelihood(best) - _MAX_LOG_LIKELIHOOD_LOSS
        for row in rows:
            if self._log_likelihood(row) < least:
                low, high = 0.0, 1.0
                for _ in range(_BISECTION_STEPS):
                    middle = (low + high) / 2
                    enough = self._log_likelihood(best + middle * (row - best)) >= least
                    low, high = (middle, high) if enough else (low, middle)
                best = best + low * (row - best)
                break
            best = row
        return best

    def _log_likelihood(self, weights: Floats) -> float:
        return float(np.log(self.likelihoods @ weights) @ self.histogram.task_counts)

    def expected_tasks_by_pair_and_rate(self, weights: Floats) -> Floats:
        """The expected number of tasks for each pair (n, c) and success rate, (pairs × rates)."""
        joint = self.likelihoods * weights
        expected: Floats = joint * (self.histogram.task_counts / joint.sum(axis=1))[:, None]
        return expected


@lru_cache(maxsize=64)
def mixing_distribution(tasks: CountHistogram) -> RateGridLikelihoods:
    """The likelihoods of the counts at each success rate of a grid. The result is cached."""
    from passk_cli.scipy_special import expit, xlog1py, xlogy

    reach = max(_REACH, math.log(int(tasks.n.max())) + 3.0)
    many = _fisher_information_of_logit(tasks) > _MAX_LOGIT_INFORMATION
    key = np.full(len(tasks.n), -1.0)
    logit = np.log(tasks.c[many] / (tasks.n[many] - tasks.c[many]))
    sizes = np.floor(np.log(tasks.n[many]) / math.log(_MAX_ATTEMPT_RATIO_IN_GROUP))
    key[many] = 1e4 * sizes + np.round(logit / _COUNT_MERGE_LOGIT_DISTANCE)
    key[~many] = -1.0 - np.arange(np.count_nonzero(~many))
    _, first, index = np.unique(key, return_index=True, return_inverse=True)
    tasks = CountHistogram(
        tasks.n[first], tasks.c[first], np.bincount(index, tasks.task_counts).astype(np.float64)
    )
    passes, failures = tasks.c.astype(np.float64), (tasks.n - tasks.c).astype(np.float64)
    logits = np.linspace(-reach, reach, 2 * round(reach / _STEP) + 1)
    rates = np.concatenate([[0.0], expit(logits), [1.0]])
    logs = xlogy(passes[:, None], rates) + xlog1py(failures[:, None], -rates)
    logs *= np.minimum(
        1.0, _MAX_LOGIT_INFORMATION / np.maximum(_fisher_information_of_logit(tasks), 1e-9)
    )[:, None]
    return RateGridLikelihoods(tasks, rates, np.exp(logs - logs.max(axis=1)[:, None]))


def _fisher_information_of_logit(tasks: CountHistogram) -> Floats:
    """The Fisher information of (n, c) about the logit of the success rate: c (n − c) / n."""
    return tasks.c * ((tasks.n - tasks.c) / tasks.n)


def errors_and_probabilities_by_rate(
    statistics: Sequence[StatisticAndExpectationFunctions], n: int, rates: Floats
) -> tuple[Floats, Floats]:
    """The possible errors of statistics of n attempts at each success rate, with probabilities.

    The function leaves out numbers of passes that are far from the mean. If many numbers remain,
    the function uses only about 160 evenly spaced numbers.
    Returns the errors as an array (statistics × rates × pass counts), and the probabilities as an
    array (rates × pass counts).
    """
    spread = 8.0 * np.sqrt(n * rates * (1.0 - rates)) + 20.0
    first = np.floor(np.clip(n * rates - spread, 0, n))
    last = np.ceil(np.clip(n * rates + spread, 0, n))
    steps = np.maximum(np.ceil((last - first + 1) / _MAX_PASS_COUNTS_PER_RATE), 1.0)
    count = int(((last - first) // steps).max()) + 1
    c = (first[:, None] + steps[:, None] * np.arange(count)).astype(np.int64)
    inside, c = c <= last[:, None], np.minimum(c, n)
    chances = np.where(inside, binomial_probabilities(n, c, rates[:, None]), 0.0)
    distinct, where = np.unique(c, return_inverse=True)
    where = where.reshape(c.shape)
    values = [
        value(np.full(len(distinct), n), distinct)[where] - expected(rates)[:, None]
        for value, expected in statistics
    ]
    return np.stack(values), chances / chances.sum(axis=1)[:, None]


def group_tasks_by_similar_attempts(n: Ints) -> list[tuple[int, Ints]]:
    """Groups of tasks with similar numbers of attempts.

    Returns, for each group, the smallest number of attempts and the indices of the tasks.
    """
    groups = []
    remaining = np.unique(n)
    while len(remaining):
        least = int(remaining[0])
        groups.append(
            (least, np.flatnonzero((n >= least) & (n <= _MAX_ATTEMPT_RATIO_IN_GROUP * least)))
        )
        remaining = remaining[remaining > _MAX_ATTEMPT_RATIO_IN_GROUP * least]
    return groups


@dataclass(frozen=True)
class ErrorDistribution:
    """The distribution of an error with mean 0, which is a shifted gamma distribution."""

    variance: float
    third_moment: float

    def quantile(self, p: float) -> float:
        """The p-quantile. For a skewness near 0, the quantile of a normal distribution is used."""
        from passk_cli.scipy_special import gammaincinv

        if self.variance <= 0:
            return 0.0
        sd = math.sqrt(self.variance)
        skew = self.third_moment / sd**3
        if abs(skew) < 0.02:
            return sd * STANDARD_NORMAL.inv_cdf(p)
        shape = 4.0 / skew**2
        reached = float(gammaincinv(shape, p if skew > 0 else 1.0 - p))
        return sd * skew / 2 * (reached - shape)


def error_distribution(
    model: RateGridLikelihoods, statistic: StatisticAndExpectationFunctions
) -> ErrorDistribution:
    """The distribution of the error (estimate minus truth) of a statistic's mean over the tasks."""
    tasks, groups = model.histogram, group_tasks_by_similar_attempts(model.histogram.n)
    moments = np.empty((2, len(groups), len(model.rate_grid)))
    for i, (n, _) in enumerate(groups):
        (errors,), chances = errors_and_probabilities_by_rate([statistic], n, model.rate_grid)
        for power, moment in zip((2, 3), moments, strict=True):
            moment[i] = (errors**power * chances).sum(axis=1)
    shares = np.array([tasks.task_counts[at].sum() for _, at in groups]) / tasks.task_count
    at_rates = model.expected_tasks_by_pair_and_rate(
        model.most_variable_weights(shares @ moments[0])
    )
    expected = np.stack([at_rates[at].sum(axis=0) for _, at in groups])
    variance, third = (moments * expected).sum(axis=(1, 2))
    return ErrorDistribution(
        float(variance) / tasks.task_count**2, float(third) / tasks.task_count**3
    )


def error_covariance(
    model: RateGridLikelihoods, statistics: Sequence[StatisticAndExpectationFunctions]
) -> Floats:
    """The covariance matrix of the errors of several statistics, each averaged over the tasks."""
    at_rates = model.expected_tasks_by_pair_and_rate(model.most_likely_weights)
    total = np.zeros((len(statistics), len(statistics)))
    for n, at in group_tasks_by_similar_attempts(model.histogram.n):
        errors, chances = errors_and_probabilities_by_rate(statistics, n, model.rate_grid)
        weights = np.sqrt(chances * at_rates[at].sum(axis=0)[:, None])
        rows = (errors * weights).reshape(len(statistics), -1)
        total += rows @ rows.T
    return total / model.histogram.task_count**2
