"""Intervals for these tasks: the hull of a posterior interval and a bootstrap pivot interval.

The posterior interval and the pivot interval do not have enough coverage by themselves. The
posterior interval fails if the distribution of the rates differs from the model's assumption,
especially if there are many tasks. The pivot interval fails near 0 and 1 if only a few tasks
determine the value. Both intervals are too narrow if only a few of the tasks never pass. The hull
therefore also includes the values of the metric at the most extreme success rates that the attempts
permit. Coverage: benchmarks/coverage.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.binomial_rate import rate_limits
from passk_cli.inference.hierarchical_model import CountHistogram, count_histogram, rate_posterior
from passk_cli.inference.mixing_distribution import (
    ErrorDistribution,
    error_distribution,
    mixing_distribution,
)
from passk_cli.inference.roots import find_root
from passk_cli.limits import MOST_ATTEMPTS_PROCESSED_SINGLY
from passk_cli.metrics.pass_k import pass_hat_k_per_pair
from passk_cli.metrics.polynomials import SuccessRatePolynomial, pass_hat_k_polynomial, sum_of_terms
from passk_cli.metrics.registry import Metric

# A mean near 0 has a lognormal instead of a Beta distribution if its coefficient of variation is
# above _MIN_LOGNORMAL_VARIATION.
_MIN_LOGNORMAL_VARIATION = 0.5
# A quantile with a logit below _LOWEST or above _HIGHEST is set to 0 or 1.
_LOWEST, _HIGHEST = -80.0, 36.0
# A mean is at least _SMALLEST_MEAN, because the square of a smaller number would be 0 in floating
# point.
_SMALLEST_MEAN = 1e-140


@dataclass(frozen=True)
class PosteriorAndPivotHullInterval:
    """The limits of the mean that a metric would have over these tasks with infinitely many
    attempts.

    estimate : unbiased estimate of the mean.
    error_distribution : distribution of the error, which is the estimate minus the true mean.
    posterior_weights : posterior probability of each grid point.
    posterior_means, metric_variance_by_posterior_point : posterior mean and variance of the mean of
        the metric, at each grid point.
    metric_polynomial : the metric as a polynomial in the success rate.
    describes_complement : whether the fields describe 1 − metric instead of the metric.
    """

    estimate: float
    error_distribution: ErrorDistribution
    posterior_weights: Floats
    posterior_means: Floats
    metric_variance_by_posterior_point: Floats
    histogram: CountHistogram
    metric_polynomial: SuccessRatePolynomial
    describes_complement: bool = False

    def limits(self, tail: float) -> tuple[float, float]:
        """The lower and the upper limit of the hull at a tail probability."""
        ends = self._estimates_at_rate_limits(tail)
        for p in (tail, 1.0 - tail):
            ends += [
                self.estimate - self.error_distribution.quantile(p),
                self._posterior_metric_quantile(p),
            ]
        low, high = max(min(ends), 0.0), min(max(ends), 1.0)
        return (1.0 - high, 1.0 - low) if self.describes_complement else (low, high)

    def _estimates_at_rate_limits(self, tail: float) -> list[float]:
        n, c, times = self.histogram.n, self.histogram.c, self.histogram.task_counts
        reaches = [self.estimate]
        for agree, rate in ((c == 0, 0.0), (c == n, 1.0)):
            if agree.any():
                off = -math.expm1(math.log(tail) / float(n[agree] @ times[agree]))
                change = float(
                    self.metric_polynomial.value_at(abs(rate - off))
                    - self.metric_polynomial.value_at(rate)
                )
                share = float(times[agree].sum()) / self.histogram.task_count
                reaches.append(self.estimate + share * change)
        return reaches

    def _posterior_metric_quantile(self, p: float) -> float:
        from passk_cli.scipy_special import expit, logit

        def excess(at: float) -> float:
            return (
                float(
                    self.posterior_weights
                    @ moment_matched_cdf(
                        float(expit(at)),
                        self.posterior_means,
                        self.metric_variance_by_posterior_point,
                    )
                )
                - p
            )

        mean = float(self.posterior_weights @ self.posterior_means)
        square = float(
            self.posterior_weights
            @ (self.metric_variance_by_posterior_point + (self.posterior_means - mean) ** 2)
        )
        low = high = float(np.clip(logit(mean), _LOWEST, _HIGHEST))
        step = 3.0 * min(math.sqrt(square) / max(mean * (1.0 - mean), 1e-300), 5.0) + 1e-6
        while low > _LOWEST and excess(low) >= 0:
            low, step = low - step, 2 * step
        while high < _HIGHEST and excess(high) <= 0:
            high, step = high + step, 2 * step
        if low <= _LOWEST and excess(_LOWEST) >= 0:
            return 0.0
        if high >= _HIGHEST and excess(_HIGHEST) <= 0:
            return 1.0
        return float(expit(find_root(excess, low, high, 1e-10)))


def posterior_and_pivot_hull_of_mean(
    metric: Metric, tasks: CountHistogram
) -> PosteriorAndPivotHullInterval | None:
    """The hull interval of a metric's mean, from a hierarchical posterior and a bootstrap pivot.

    tasks : attempts n and passes c of the tasks; every n is at least k.
    Returns None if the metric is not a polynomial in the success rate.

    >>> from passk_cli.metrics.registry import parse_metric
    >>> tasks = count_histogram(np.full(50, 4), np.arange(50) % 5)
    >>> bounds = posterior_and_pivot_hull_of_mean(parse_metric("pass@4"), tasks)
    >>> [round(limit, 2) for limit in bounds.limits(0.025)]
    [0.71, 0.9]
    """
    expectation = metric.expectation_polynomial
    if expectation is None:
        return None
    value, complement = expectation

    def statistic(n: Ints, c: Ints) -> Floats:
        # The probability that all k attempts fail is computed directly and not as 1 − pass@k,
        # because pass@k rounds to 1 if this probability is tiny.
        if len(value.terms) == 1 and value.terms[0][2:] == (0, metric.k):
            return pass_hat_k_per_pair(n, n - c, metric.k)
        values = metric.values(n, c)
        return 1.0 - values if complement else values

    estimate = float(statistic(tasks.n, tasks.c) @ tasks.task_counts) / tasks.task_count
    error = error_distribution(mixing_distribution(tasks), (statistic, value.value_at))
    posterior = rate_posterior(tasks)
    return PosteriorAndPivotHullInterval(
        estimate,
        error,
        posterior.posterior_weights,
        *posterior.polynomial_mean_and_variance(value),
        tasks,
        value,
        complement,
    )


@dataclass(frozen=True)
class MetricCounts:
    """A metric, and the numbers of attempts n ≥ k and passes c of each task."""

    metric: Metric
    n: Ints
    c: Ints

    @property
    def mean(self) -> float:
        """The mean of the metric over tasks, in which all tasks have equal weights."""
        return float(self.metric.values(self.n, self.c).mean())

    @property
    def has_hull(self) -> bool:
        """Whether the metric is a polynomial in the success rate and n is at most 100,000."""
        return (
            int(self.n.max()) <= MOST_ATTEMPTS_PROCESSED_SINGLY
            and self.metric.expectation_polynomial is not None
        )

    def limits(self, tail: float) -> tuple[float, float]:
        """The lower and the upper limit of the hull interval at a tail probability; see
        `PosteriorAndPivotHullInterval.limits`.

        If there is only one task, the limits are the values of the metric at the exact limits of
        the success rate (Clopper & Pearson 1934), extended to include the estimate. Each limit is
        on the wrong side of the true value with a probability of at most `tail`.

        >>> from passk_cli.metrics.registry import parse_metric
        >>> one = MetricCounts(parse_metric("pass^2"), np.array([10]), np.array([3]))
        >>> [round(limit**0.5, 3) for limit in one.limits(0.025)]  # of the rate
        [0.067, 0.652]
        """
        expectation = self.metric.expectation_polynomial
        if (
            expectation is not None
            and len(self.n) == 1
            and self.metric.definition.is_monotone_in_passes
        ):
            value, complement = expectation
            rates = np.concatenate(rate_limits(self.n, self.c, 1.0 - 2.0 * tail))
            low, high = (
                (1.0 - value.value_at(rates)) if complement else value.value_at(rates)
            ).tolist()
            return min(low, self.mean), max(high, self.mean)
        return _cached_limits(self.metric, count_histogram(self.n, self.c), tail)


@lru_cache(maxsize=1 << 12)
def _cached_limits(metric: Metric, tasks: CountHistogram, tail: float) -> tuple[float, float]:
    bounds = posterior_and_pivot_hull_of_mean(metric, tasks)
    if bounds is None:
        raise ValueError(f"{metric.name} does not support the hull interval")
    return bounds.limits(tail)


def heterogeneity_gain_hull_limits(
    n: Ints, c: Ints, k: int, gain: float, tail: float
) -> tuple[float, float]:
    """Limits of the gain Δ_k = mean p^k − (mean p)^k over these tasks, by the hull method.

    To first order, Δ_k is a mean over tasks of p^k − s p with s = k μ^(k−1). At a grid point of the
    posterior, Δ_k has approximately a gamma distribution with mean E p^k − μ^k − k (k−1)/2 μ^(k−2)
    Var μ̂.

    n, c : numbers of attempts and passes per task, with n ≥ k.  k : at least 2.  gain : estimate of
        Δ_k.
    Returns two limits, which are at least 0.
    """
    tasks, power = count_histogram(n, c), pass_hat_k_polynomial(k)
    slope = k * float((c / n).mean()) ** (k - 1)
    error = error_distribution(
        mixing_distribution(tasks),
        (lambda n, c: pass_hat_k_per_pair(n, c, k) - slope * c / n, lambda p: p**k - slope * p),
    )
    posterior = rate_posterior(tasks)
    sums, squares = posterior.expectation_sums(
        [power, pass_hat_k_polynomial(1), sum_of_terms((*power.terms, *pass_hat_k_polynomial(
        1).terms)), power.square,
         pass_hat_k_polynomial(2), pass_hat_k_polynomial(k + 1)]
    )  # fmt: skip
    count = tasks.task_count
    products = squares[0], squares[1], (squares[2] - squares[0] - squares[1]) / 2
    spread, rates, covariances = (sums[3:] - np.stack(products)) / count**2
    mean = sums[1] / count
    slopes = k * mean ** (k - 1)
    power_of_mean = mean**k + k * (k - 1) / 2 * mean ** (k - 2) * np.maximum(rates, 0.0)
    middle = np.maximum(sums[0] / count - power_of_mean, _SMALLEST_MEAN)
    variance = np.maximum(spread + slopes**2 * rates - 2 * slopes * covariances, 1e-16 * middle**2)
    ends = [gain, *(gain - error.quantile(p) for p in (tail, 1.0 - tail))]
    ends += [
        _gamma_mixture_quantile(posterior.posterior_weights, middle, variance, p)
        for p in (tail, 1.0 - tail)
    ]
    return max(min(ends), 0.0), max(max(ends), 0.0)


def _gamma_mixture_quantile(weight: Floats, mean: Floats, variance: Floats, p: float) -> float:
    from passk_cli.scipy_special import gammainc

    shape = np.maximum(mean * (mean / variance), 1e-6)

    def excess(log: float) -> float:
        return float(weight @ gammainc(shape, shape / mean * math.exp(log))) - p

    low, high = -300.0, 1.0
    if excess(low) >= 0:
        return 0.0
    return math.exp(find_root(excess, low, high, 1e-10)) if excess(high) > 0 else math.exp(high)


def moment_matched_cdf(x: float, mean: Floats, variance: Floats) -> Floats:
    """The probability P(X ≤ x) for distributions on [0, 1] with the given means and variances.

    The distributions are Beta distributions, with two exceptions. If the mean is near 0 and the
    standard deviation is larger than half the mean, the distribution is lognormal. If the mean is
    near 1 and the standard deviation is larger than half of 1 − mean, the distribution is the
    mirror image of a lognormal distribution.
    """
    below = np.empty(len(mean))
    upper = mean > 0.5
    below[~upper] = _beta_or_lognormal_cdf(x, mean[~upper], variance[~upper])
    below[upper] = 1.0 - _beta_or_lognormal_cdf(1.0 - x, 1.0 - mean[upper], variance[upper])
    return below


def _beta_or_lognormal_cdf(x: float, mean: Floats, variance: Floats) -> Floats:
    from passk_cli.scipy_special import betainc, ndtr

    mean = np.maximum(mean, _SMALLEST_MEAN)
    relative = np.maximum(variance / mean**2, 1e-14)
    scarce = relative > _MIN_LOGNORMAL_VARIATION**2
    size = np.maximum((1.0 - mean) / (mean * relative) - 1.0, 0.1)
    below: Floats = betainc(np.maximum(mean * size, _SMALLEST_MEAN), (1.0 - mean) * size, x)
    if scarce.any() and x > 0:
        spread = np.log1p(relative[scarce])
        distance = np.log(x) - np.log(mean[scarce]) + spread / 2
        below[scarce] = ndtr(distance / np.sqrt(spread))
    return below
