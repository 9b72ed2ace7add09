"""The effects of differences between tasks on pass^k and pass@k, and moments of success rates.

A task has the success rate p, and μ is the mean of p over tasks. If all tasks were equally hard,
every task would have p = μ.

- Δ_k = pass^k − μ^k = E p^k − (E p)^k is the part of pass^k that is due to differences between
  tasks. By Jensen's inequality, Δ_k is between 0 and μ − μ^k.
- The coverage deficit 1 − (1−μ)^k − pass@k = E (1−p)^k − (1−μ)^k is the loss of pass@k due to
  differences between tasks. The coverage deficit equals Δ_k of the failure rates 1 − p.

The k-th power of the estimate of μ is biased upwards. The exact power μ^k is the probability that
k attempts at k independently drawn tasks all pass. If the tasks are a sample, an unbiased estimator
of this probability uses k different tasks (`power_of_mean_rate_new_tasks`). If the tasks are the
whole population, the estimator uses tasks drawn with repetition (`power_of_mean_rate_these_tasks`).
Source: The definitions are from "Pass@k and Pass^k tell different stories from mean success rate"
(2025). The unbiased estimators are U-statistics (Hoeffding 1948).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import Floats, Ints, row_blocks
from passk_cli.metrics.pass_k import pass_hat_k_per_pair, unique_pairs

_MAX_NEGATIVE_LOG_POISSON_CHANCE = 600.0
# A block has at most _BLOCK_TERMS powers, which need about 32 MB.
_BLOCK_TERMS = 1 << 20


@dataclass(frozen=True)
class PassCurvesFromRates:
    """pass@k, pass^k, Δ_k and the coverage deficit of tasks with known success rates, at each k.

    The bounds are the largest possible Δ_k and the largest possible deficit for tasks with the same
    mean success rate.
    """

    pass_at_k: Floats
    pass_hat_k: Floats
    pass_hat_k_heterogeneity_gain: Floats
    max_pass_hat_k_heterogeneity_gain: Floats
    pass_at_k_heterogeneity_loss: Floats
    max_pass_at_k_heterogeneity_loss: Floats


def pass_curves_from_rates(rates: Floats, ks: Ints) -> PassCurvesFromRates:
    """Compute pass@k, pass^k, Δ_k and the coverage deficit from exact success rates.

    rates : the success rate of each task, in [0, 1].  ks : values of k, at least 1.
    Negative values of Δ_k and of the deficit are rounding errors, and are set to 0. If all rates
    are equal, Δ_k and the deficit are exactly 0.

    >>> curves = pass_curves_from_rates(np.array([0.0, 1.0]), np.array([1, 10]))
    >>> (curves.pass_hat_k.tolist(), curves.pass_hat_k_heterogeneity_gain.round(6).tolist(),
    ...  curves.max_pass_hat_k_heterogeneity_gain.round(6).tolist())
    ([0.5, 0.5], [0.0, 0.499023], [0.0, 0.499023])
    """
    parts, mean = [], float(_exact_mean_if_all_equal(rates))
    for block in row_blocks(len(ks), len(rates), _BLOCK_TERMS):
        with np.errstate(divide="ignore"):
            at = _exact_mean_if_all_equal(-np.expm1(ks[block, None] * np.log1p(-rates)))
        hat, even = _mean_power_and_power_of_mean(rates, ks[block])
        fail, even_fail = _mean_power_and_power_of_mean(1.0 - rates, ks[block])
        gains = hat - even, mean - even, fail - even_fail, 1.0 - mean - even_fail
        parts.append([at, hat, *(np.maximum(gain, 0.0) for gain in gains)])
    return PassCurvesFromRates(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _mean_power_and_power_of_mean(rates: Floats, ks: Ints) -> tuple[Floats, Floats]:
    powers = np.append(rates, _exact_mean_if_all_equal(rates)) ** ks[:, None]
    return _exact_mean_if_all_equal(powers[:, :-1]), powers[:, -1]


def _exact_mean_if_all_equal(values: Floats) -> Floats:
    """The mean along the last axis, which is exact if all values are equal."""
    first = values[..., 0]
    mean: Floats = first + (values - first[..., None]).mean(axis=-1)
    return mean


def power_of_mean_rate_new_tasks(values: Floats, ks: Ints) -> Floats:
    """Unbiased estimate of the k-th power of the mean success rate if the tasks are a sample.

    The estimate is the probability that attempts at k different tasks all pass. This probability is
    the mean product of the pass rates over all sets of k tasks, e_k(x_1, …, x_T) / C(T, k), with
    the elementary symmetric polynomial e_k. The recursion uses only weighted means, so no digits
    are lost.

    values : the pass rate c/n of each task. With clusters, use the contributions of the clusters to
    the mean. The estimate is then unbiased for clusters of equal size, and nearly unbiased for
    clusters of different sizes.
    ks : values of k, at least 1.
    Returns one estimate per k, or NaN if k is above the number of tasks (or clusters).

    >>> rates, ks = np.array([0.5, 0.5, 1.0]), np.array([1, 3, 4])
    >>> power_of_mean_rate_new_tasks(rates, ks).round(6).tolist()
    [0.666667, 0.25, nan]
    """
    last = min(int(ks.max()), len(values))
    k = np.arange(1, last + 1)
    means = np.zeros(last + 1)
    means[0] = 1.0
    for count, value in enumerate(values.tolist(), 1):
        means[1:] = ((count - k) * means[1:] + (k * value) * means[:-1]) / count
    return np.where(ks <= last, means[np.minimum(ks, last)], np.nan)


def power_of_mean_rate_these_tasks(n: Ints, c: Ints, ks: Ints) -> Floats:
    """Unbiased estimate of the k-th power of the mean success rate of exactly these tasks.

    The estimate is the probability that k attempts pass if the task of each attempt is drawn, with
    repetition, from all T tasks. The attempts at a task are drawn without repetition. This
    probability is the mean of Π C(c_t, K_t) / C(n_t, K_t) over (K_1, …, K_T) ~ Multinomial(k; 1/T,
    …, 1/T).

    n, c : number of attempts and of passes at each task.  ks : values of k, at least 1.
    Returns one estimate per k, or NaN if k is above the smallest n.

    >>> two, ks = np.array([2, 2]), np.array([1, 2])
    >>> power_of_mean_rate_these_tasks(two, np.array([1, 2]), ks).round(9).tolist()
    [0.75, 0.5]
    """
    powers = np.full(len(ks), np.nan)
    pending = ks <= int(n.min())
    while pending.any():
        # Independent Poisson variables with a given sum are multinomial. One Poisson rate is used
        # for all values of k that have a probability of at least exp(−600) under the rate.
        first = int(ks[pending].min())
        rate = first + max(
            _MAX_NEGATIVE_LOG_POISSON_CHANCE,
            math.sqrt(2 * _MAX_NEGATIVE_LOG_POISSON_CHANCE * first),
        )
        logs = [-rate + k * math.log(rate) - math.lgamma(k + 1) for k in ks.tolist()]
        computable = pending & (np.array(logs) >= -_MAX_NEGATIVE_LOG_POISSON_CHANCE)
        powers[computable] = _all_pass_chances_at_random_tasks(n, c, rate, ks[computable])
        pending &= ~computable
    return powers


def _all_pass_chances_at_random_tasks(n: Ints, c: Ints, rate: float, ks: Ints) -> Floats:
    """For each k, P(all attempts pass | Σ K_t = k) with independent K_t ~ Poisson(rate / tasks)."""
    last = int(ks.max())
    task_rate, most = rate / len(n), max(rate, last) / len(n)
    j = np.arange(min(last, math.ceil(most + 12 * math.sqrt(most) + 30)) + 1)
    log_factorials = np.cumsum(np.log(np.maximum(j, 1)))
    weights = np.exp(j * math.log(task_rate) - task_rate - log_factorials)
    un, uc, index = unique_pairs(n, c)
    passing = np.stack(
        [np.ones(len(un)), *(pass_hat_k_per_pair(un, uc, i) for i in j[1:].tolist())], axis=1
    )
    terms = np.nan_to_num(passing) * weights
    passed = all_chances = np.ones(1)
    for task in index.tolist():
        passed = np.convolve(passed, terms[task])[: last + 1]
        all_chances = np.convolve(all_chances, weights)[: last + 1]
    return passed[ks] / all_chances[ks]


@dataclass(frozen=True)
class RateMoments:
    """Mean, variance and third central moment of the success rates over tasks; NaN if undefined."""

    mean: float
    variance: float
    third_central_moment: float

    @property
    def sd(self) -> float:
        """Standard deviation of the success rates; 0 if the estimated variance is not above 0."""
        return math.sqrt(max(self.variance, 0.0)) if not math.isnan(self.variance) else math.nan

    @property
    def skewness(self) -> float:
        """Third central moment divided by the cubed standard deviation; NaN for variance 0."""
        return self.third_central_moment / self.variance**1.5 if self.variance > 0 else math.nan


def moments_of_rates(rates: Floats) -> RateMoments:
    """Moments of exact success rates over exactly these T tasks, with the divisor T, not T − 1.

    >>> moments_of_rates(np.array([0.2, 0.8])).sd.__round__(6)
    0.3
    """
    mean = float(_exact_mean_if_all_equal(rates))
    deviations = rates - mean
    return RateMoments(mean, float((deviations**2).mean()), float((deviations**3).mean()))


def moments_new_tasks(values: Floats) -> RateMoments:
    """Moments of the success rates in the population from which the tasks are drawn.

    The mean of pass^j over tasks estimates E p^j, and products of such moments are estimated from
    means over different tasks. Therefore the moments do not include the noise of the attempts.

    values : pass^1, pass^2 and pass^3 of each task, (tasks × 3). With clusters, use contributions
        as in `power_of_mean_rate_new_tasks`.
    The variance needs 2 tasks and n ≥ 2, and the third moment needs 3 tasks and n ≥ 3. A moment is
    NaN if there are not enough tasks or attempts.
    """
    count = len(values)
    mean, two, three = values.mean(axis=0)
    first, second = values[:, 0], values[:, 1]
    mixed = math.nan
    if count > 1:
        across_tasks = first.sum() * second.sum() - (first * second).sum()
        mixed = across_tasks / (count * (count - 1))
    square, cube = power_of_mean_rate_new_tasks(first, np.array([2, 3]))
    return RateMoments(float(mean), float(two - square), float(three - 3 * mixed + 2 * cube))


def moments_these_tasks(n: Ints, c: Ints) -> RateMoments:
    """Moments of the success rates of exactly these tasks, without the noise of the attempts.

    n, c : number of attempts and of passes at each task. The variance needs n ≥ 2 at all tasks, and
        the third moment needs n ≥ 3. A moment is NaN if n is too small.
    """
    first, second, third = (pass_hat_k_per_pair(n, c, k) for k in (1, 2, 3))
    mixed = (first.sum() * second.sum() - (first * second).sum() + third.sum()) / len(n) ** 2
    square, cube = power_of_mean_rate_these_tasks(n, c, np.array([2, 3]))
    return RateMoments(
        float(first.mean()),
        float(second.mean() - square),
        float(third.mean() - 3 * mixed + 2 * cube),
    )
