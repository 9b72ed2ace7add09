"""The noise of a mean difference, split into a part due to tasks and a part due to attempts."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.design import cluster_excess_variance
from passk_cli.inference.random_streams import named_generator
from passk_cli.inference.weighted_means import STANDARD_NORMAL

# A block of draws has at most _BLOCK values, and passk draws _RESAMPLES resamples of tasks.
_BLOCK, _RESAMPLES = 1 << 20, 2000


class TaskAndAttemptVariance(NamedTuple):
    """The variance of a mean difference between success rates, in two parts.

    variance_due_to_tasks : the part that would remain with infinitely many attempts at these tasks.
    variance_due_to_attempts : the part that more attempts per task would reduce.
    """

    variance_due_to_tasks: float
    variance_due_to_attempts: float

    @property
    def share_of_attempts(self) -> float:
        """Share of the variance that is due to attempts; NaN if the whole variance is 0."""
        total = self.variance_due_to_tasks + self.variance_due_to_attempts
        return self.variance_due_to_attempts / total if total > 0 else math.nan

    def se(self, attempts: float = 1.0, tasks: float = 1.0) -> float:
        """The standard error if the data had `attempts` times the attempts and `tasks` times the
        tasks."""
        return math.sqrt(
            (self.variance_due_to_tasks + self.variance_due_to_attempts / attempts) / tasks
        )


def noise_split(
    first: tuple[Ints, Ints], second: tuple[Ints, Ints], clusters: Ints | None = None
) -> TaskAndAttemptVariance:
    """The variance of the mean difference of two pass rates over T tasks, in two parts.

    The difference at task t is d_t = c_t/n_t − c′_t/n′_t. The total variance is s²/T, and s² is the
    variance of d_t over tasks (for clusters, see `cluster_excess_variance`). An unbiased estimate
    of the part due to attempts is Σ_t [c(n − c)/(n²(n − 1)) + the same term of the second model] /
    T². The part due to tasks is the rest of the total variance, but at least 0.

    first, second : for each model, the numbers of attempts (n ≥ 2) and of passes (c) at the same
        T ≥ 2 tasks.

    >>> n = np.array([2, 2, 2])
    >>> split = noise_split((n, np.array([2, 2, 0])), (n, np.array([1, 0, 0])))
    >>> round(split.variance_due_to_tasks, 12), round(split.variance_due_to_attempts, 12)
    (0.055555555556, 0.027777777778)
    """
    (n, c), (m, b) = first, second
    d, tasks = c / n - b / m, len(n)
    luck = c * (n - c) / (n**2 * (n - 1.0)) + b * (m - b) / (m**2 * (m - 1.0))
    attempts = float(luck.sum()) / tasks**2
    total = (float(d.var(ddof=1)) + cluster_excess_variance(d, clusters)) / tasks
    return TaskAndAttemptVariance(max(total - attempts, 0.0), attempts)


def noise_floor(n: Ints, c: Ints, attempts: float = 1.0, level: float = 0.95) -> float:
    """The noise floor: the largest difference in pass@1 between two runs that chance may explain.

    The noise floor is d = z √(2 Σ v_t / m) / T, but at most 1. In this formula, z is the normal
    quantile of (1 + level) / 2, m is the number of attempts at each of T tasks, and
    v_t = c_t (n_t − c_t) / (n_t (n_t − 1)) estimates the variance of an attempt at task t.

    n, c : number of attempts (n ≥ 2) and of passes at each task, in earlier runs of one model.
    attempts : m, the planned number of attempts per task in a run.
    level : share of pairs of runs with a difference of at most d. benchmarks/noise.md shows how
        accurate this share is.

    >>> round(noise_floor(np.array([4, 4]), np.array([2, 4])), 6)  # v = 1/3 and 0
    0.800152
    """
    return min(_one_attempt_noise_floor(n, c, level) / math.sqrt(attempts), 1.0)


def attempts_for_noise(n: Ints, c: Ints, difference: float, level: float = 0.95) -> int:
    """The smallest number of attempts per task for which the noise floor is at most `difference`.

    >>> n, c = np.array([4, 4]), np.array([2, 4])
    >>> [round(noise_floor(n, c, attempts), 4) for attempts in (7, 8)]
    [0.3024, 0.2829]
    >>> attempts_for_noise(n, c, 0.3)
    8
    """
    return max(
        math.ceil((_one_attempt_noise_floor(n, c, level) / difference) ** 2 * (1 - 1e-12)), 1
    )


def _one_attempt_noise_floor(n: Ints, c: Ints, level: float) -> float:
    """The noise floor z √(2 Σ v_t) / T for one attempt per task, which may be above 1."""
    spread = float((c * (n - c) / (n * (n - 1.0))).sum())
    return STANDARD_NORMAL.inv_cdf((1.0 + level) / 2.0) * math.sqrt(2.0 * spread) / len(n)


def intraclass_correlation(n: Ints, c: Ints, level: float = 0.95) -> tuple[float, float, float]:
    """The intraclass correlation of outcomes at the same task, with a lower and an upper limit.

    The correlation is ρ = (B − W) / (B + (m − 1) W). The mean square between tasks is B = Σ n_t
    (p_t − p)² / (T − 1). The mean square within tasks is W = Σ n_t p_t (1 − p_t) / (N − T). In
    these formulas, N = Σ n_t, p = Σ c_t / N, and m = (N − Σ n_t² / N) / (T − 1). The limits are
    quantiles over resamples of the tasks.

    n, c : number of attempts and of passes at each of T ≥ 2 tasks.
    Returns NaN if no task has two attempts, or if all outcomes are equal.
    Source: Ridout, Demétrio & Firth 1999, "Estimating intraclass correlation for binary data".

    >>> n = np.array([2, 2, 2, 2])
    >>> round(intraclass_correlation(n, np.array([2, 2, 0, 1]))[0], 6)  # B = 11/24, W = 1/8
    0.571429
    """
    # Tasks with equal counts are drawn together, which is fast for any number of tasks.
    (n, c), repeats = np.unique(np.stack([n, c]), axis=1, return_counts=True)
    value = float(_correlation_per_weight_row(n, c, repeats[None].astype(np.float64))[0])
    if math.isnan(value):
        return value, value, value
    rng, tasks, resampled = (
        named_generator(0, "intraclass correlation"),
        int(repeats.sum()),
        list[Floats](),
    )
    block = max(1, _BLOCK // len(n))
    for first in range(0, _RESAMPLES, block):
        rows = min(block, _RESAMPLES - first)
        weights = rng.multinomial(tasks, repeats / tasks, size=rows)
        resampled.append(_correlation_per_weight_row(n, c, weights.astype(np.float64)))
    draws = np.concatenate(resampled)
    draws = draws[~np.isnan(draws)]
    low, high = _quantiles(draws, np.array([(1 - level) / 2, (1 + level) / 2])).tolist()
    return value, low, high


def _quantiles(values: Floats, shares: Floats) -> Floats:
    """The quantiles that `np.quantile` returns, but without the slow import of numpy.ma.

    >>> _quantiles(np.array([3.0, 1.0, 2.0]), np.array([0.0, 0.25, 1.0])).tolist()
    [1.0, 1.5, 3.0]
    """
    ordered, place = np.sort(values), shares * (len(values) - 1)
    below = np.floor(place).astype(np.int64)
    low, high, part = ordered[below], ordered[np.minimum(below + 1, len(values) - 1)], place - below
    found: Floats = np.where(
        part < 0.5, low + (high - low) * part, high - (high - low) * (1 - part)
    )
    return found


def _correlation_per_weight_row(n: Ints, c: Ints, weights: Floats) -> Floats:
    sums = weights @ np.stack([n, c, n**2.0, c**2.0 / n], axis=1)
    (attempts, passes, squares, between), tasks = sums.T, weights.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        outer = (between - passes**2 / attempts) / (tasks - 1)
        inner = (passes - between) / (attempts - tasks)
        size = (attempts - squares / attempts) / (tasks - 1)
        correlations: Floats = (outer - inner) / (outer + (size - 1) * inner)
    return correlations
