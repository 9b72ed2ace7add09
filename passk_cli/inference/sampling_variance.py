"""Variance within tasks: how much a task's value would vary if all attempts were repeated."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.metrics.combinatorics import binomial_probabilities
from passk_cli.metrics.pass_k import cached_values_of_few_pairs, unique_pairs
from passk_cli.metrics.registry import Metric
from passk_cli.outcomes.attempts import AttemptValuesByCell

# A block has at most _MAX_BLOCK_ATTEMPT_ROWS attempts, which limits its memory to about 64 MB.
_MAX_BLOCK_ATTEMPT_ROWS = 1 << 20
# The variance of a metric is computed at the success rates in _RATE_GRID and interpolated between
# these rates.
_RATE_GRID = np.sin(np.linspace(0.0, np.pi / 2, 257)) ** 2
# A binomial distribution is computed only within _BINOMIAL_HALF_WIDTH_SDS standard deviations of
# its mean.
_BINOMIAL_HALF_WIDTH_SDS = 12
# A binomial distribution is computed at no more than _MAX_COMPUTED_PASS_COUNTS pass counts. If
# there are more pass counts, every second or third pass count is enough, because a binomial
# distribution is smooth.
_MAX_COMPUTED_PASS_COUNTS = 1 << 12
# Up to _MAX_FULL_METRIC_TABLE_ATTEMPTS attempts, the metric is computed at all pass counts in one
# call.
_MAX_FULL_METRIC_TABLE_ATTEMPTS = 1 << 16
# In the estimated rate of a task, the overall pass rate has at least the weight of
# _MIN_PRIOR_STRENGTH attempts.
_MIN_PRIOR_STRENGTH = 0.02
# Quantiles of the normal distribution and of Student's t are compared at the tail probability
# _QUANTILE_RATIO_TAIL.
_QUANTILE_RATIO_TAIL = 0.025


def within_variance(metric: Metric, n: Ints, c: Ints) -> Floats:
    """Jackknife estimate of how much a metric's value at each task varies over repeated attempts.

    The variance is (n−1)/n · [c (f(n−1, c−1) − f)² + (n−c) (f(n−1, c) − f)²] for a metric f. There
    are n ways to leave out one attempt: c ways to leave out a pass, and n−c ways to leave out a
    failure. The mean of the metric over all n ways is f(n, c) itself. For k = 1, the variance is
    c (n−c) / (n² (n−1)), the usual unbiased variance of a proportion.

    n, c : number of attempts and of passes at each task.
    Returns one variance per task, (tasks,). The variance is NaN if n ≤ k, because no attempt can be
    left out.
    Source: Efron & Tibshirani 1993, chapter 11.

    >>> from passk_cli.metrics.registry import parse_metric
    >>> within_variance(parse_metric("pass@1"), np.array([4]), np.array([1])).round(12).tolist()
    [0.0625]
    """
    un, uc, index = unique_pairs(n, c)
    variance = cached_values_of_few_pairs(jackknife_variance, metric.values, un, uc)
    return np.where(un > metric.k, variance, np.nan)[index]


def jackknife_variance(values: Callable[[Ints, Ints], Floats], n: Ints, c: Ints) -> Floats:
    """Jackknife variance of a function of n and c, by the formula of `within_variance`.

    values : a function that takes n and c, and returns an array with the cells on the last axis.
    n, c : number of attempts and of passes in each cell.
    Returns one variance per number in the result of `values`.
    """
    fewer, value = np.maximum(n - 1, 0), values(n, c)
    pass_less = values(fewer, np.maximum(c - 1, 0))
    failure_less = values(fewer, np.minimum(c, fewer))
    spread = np.where(c > 0, c * (pass_less - value) ** 2, 0.0)
    spread += np.where(c < n, (n - c) * (failure_less - value) ** 2, 0.0)
    return spread * fewer / np.maximum(n, 1)


def within_variance_from_attempts(
    metric: Metric, attempts: AttemptValuesByCell, values: Floats
) -> Floats:
    """The result of `within_variance` for a metric that needs more than the counts of passes.

    The variance is (n−1)/n Σ_j (f without attempt j − f)² for a metric f. Equal attempts give equal
    terms of this sum. To save time, passk computes such a term only once, and multiplies the term
    by the number of equal attempts.

    values : the value of the metric at each task.
    Returns one variance per task, or NaN if n ≤ k.
    """
    tasks = np.repeat(np.arange(len(values)), np.diff(attempts.cell_offsets))
    n = np.add.reduceat(attempts.count, attempts.cell_offsets[:-1])
    total = np.zeros(len(values))
    enough = (n > metric.k)[tasks]
    for passing in (0, 1):
        weight = enough * (attempts.pass_count if passing else attempts.count - attempts.pass_count)
        rows = np.flatnonzero(weight)
        sizes = np.cumsum(np.diff(attempts.cell_offsets)[tasks[rows]])
        for block in np.split(rows, np.flatnonzero(np.diff(sizes // _MAX_BLOCK_ATTEMPT_ROWS)) + 1):
            if not len(block):
                continue
            copies = attempts.take_cells(tasks[block])
            at = copies.cell_offsets[:-1] + block - attempts.cell_offsets[tasks[block]]
            copies.count[at] -= 1
            copies.pass_count[at] -= passing
            without = metric.values_from_attempts(copies.select_rows(copies.count > 0))
            np.add.at(total, tasks[block], weight[block] * (without - values[tasks[block]]) ** 2)
    return np.where(n > metric.k, total * (n - 1) / n, np.nan)


def difference_variance_floor(metric: Metric, n: Ints, c: Ints, most: Ints | None = None) -> Floats:
    """A lower bound for the variance that attempts cause in the mean difference of two models.

    The bound for T tasks is a w / T · (z₀.₉₇₅ / t₀.₉₇₅)². In this formula, w is the mean variance
    of the difference V_A − V_B over repeated attempts, if both models had the same success rate at
    each task. The factor z / t is needed because limits of the difference use quantiles of
    Student's t distribution. The factor a is 1 if the models' numbers of attempts differ, because
    the differences are then skewed, and a few tasks show too little spread. Otherwise, a is ½, so
    that a few tasks with similar differences do not make the difference seem certain.

    The success rate of a task is estimated as (c + s μ) / (n + s). In this formula, n and c are the
    attempts and passes of both models together, and μ is the pass rate over all tasks. The weight s
    ≤ 1 is as large as the spread of c/n between tasks allows (moments of a beta-binomial
    distribution). The variance at an estimated rate comes from the binomial distribution of the
    passes.

    metric : a metric that needs only n and c.
    n, c : numbers of attempts and of passes of both models, (2 × rows × tasks).
    most : the largest possible numbers of passes if outcomes are missing. In this case, c contains
        the smallest possible numbers. The result is the largest bound for any numbers between c and
        `most`.
    Returns one bound per row, which is 0 if there is only one task.

    >>> from passk_cli.metrics.registry import parse_metric
    >>> n, c = np.full((2, 1, 50), 10), np.full((2, 1, 50), 5)
    >>> (50 * difference_variance_floor(parse_metric("pass@1"), n, c)).round(5).tolist()
    [0.02378]
    """
    from passk_cli.scipy_special import ndtri, stdtrit

    tasks = n.shape[2]
    if tasks < 2:
        return np.zeros(n.shape[1])
    same = (n[0] == n[1]).all(axis=1)
    attempts, passes, share = (
        _counts_with_task_shares(n, c) if most is None else (n, c.sum(axis=0), 1.0 / tasks)
    )
    total_attempts = attempts.sum(axis=0)
    if most is None:
        low = high = _shrunk_rates(total_attempts, passes, share, tasks)
    else:
        ends = [
            [(x + s * overall[:, None]) / (total_attempts + s) for s in (_MIN_PRIOR_STRENGTH, 1.0)]
            for x in (passes, most.sum(axis=0))
            for overall in [(x.sum(axis=1) + 0.5) / (total_attempts.sum(axis=1) + 1.0)]
        ]
        low, high = np.minimum(*ends[0]), np.maximum(*ends[1])
    noise = (share * _largest_variance(metric, attempts[0], low, high)).sum(axis=1)
    noise += (
        noise
        if same.all()
        else (share * _largest_variance(metric, attempts[1], low, high)).sum(axis=1)
    )
    factor = np.where(same, 0.5, 1.0)
    floor: Floats = (
        factor
        * noise
        / tasks
        * (ndtri(_QUANTILE_RATIO_TAIL) / stdtrit(tasks - 1, _QUANTILE_RATIO_TAIL)) ** 2
    )
    return floor


def _counts_with_task_shares(n: Ints, c: Ints) -> tuple[Ints, Ints, Floats | float]:
    rows, tasks = n.shape[1:]
    passes, most = c.sum(axis=0), int(n[:, 0, 0].sum())
    if most >= tasks or not (n == n[:, :1, :1]).all():
        return n, passes, 1.0 / tasks
    places = passes + (most + 1) * np.arange(rows)[:, None]
    tally = np.bincount(places.ravel(), minlength=rows * (most + 1)).reshape(rows, most + 1)
    shape = (rows, most + 1)
    attempts = np.stack([np.broadcast_to(model_attempts, shape) for model_attempts in n[:, 0, 0]])
    return attempts, np.broadcast_to(np.arange(most + 1), shape), tally / tasks


def _shrunk_rates(n: Ints, c: Ints, share: Floats | float, tasks: int) -> Floats:
    total_attempts, passed = (share * n).sum(axis=1) * tasks, (share * c).sum(axis=1) * tasks
    overall = (passed + 0.5) / (total_attempts + 1.0)
    inverse_n, rates = (share / n).sum(axis=1), c / n
    deviation = rates - (share * rates).sum(axis=1)[:, None]
    spread = (share * deviation**2).sum(axis=1) * tasks / (tasks - 1) / (overall * (1.0 - overall))
    correlation = np.clip((spread - inverse_n) / np.maximum(1.0 - inverse_n, 1e-9), 0.5, 1.0)
    strength = np.clip(1.0 / correlation - 1.0, _MIN_PRIOR_STRENGTH, 1.0)[:, None]
    shrunk: Floats = (c + strength * overall[:, None]) / (n + strength)
    return shrunk


def _largest_variance(metric: Metric, n: Ints, low: Floats, high: Floats) -> Floats:
    largest_variance = np.empty(n.shape)
    for size in np.unique(n).tolist():
        of_size, variances = n == size, _variance_by_rate(metric, size)
        largest_variance[of_size] = np.interp(low[of_size], _RATE_GRID, variances)
        if high is not low:
            inside = (low[of_size][:, None] < _RATE_GRID) & (high[of_size][:, None] > _RATE_GRID)
            at_high = np.interp(high[of_size], _RATE_GRID, variances)
            largest = np.where(inside, variances, 0.0).max(axis=1)
            largest_variance[of_size] = np.maximum(
                np.maximum(largest_variance[of_size], at_high), largest
            )
    return largest_variance


@lru_cache(maxsize=256)
def _variance_by_rate(metric: Metric, size: int) -> Floats:
    few = size <= _MAX_FULL_METRIC_TABLE_ATTEMPTS
    all_values = metric.values(np.full(size + 1, size), np.arange(size + 1)) if few else None
    variances = []
    for c, share in _pass_distributions(size):
        values = (
            metric.values(np.full(len(c), size), np.array(c)) if all_values is None
            else all_values[c.start : c.stop : c.step]
        )  # fmt: skip
        variances.append(share @ (values - share @ values) ** 2)
    return np.array(variances)


@lru_cache(maxsize=4)
def _pass_distributions(size: int) -> list[tuple[range, Floats]]:
    distributions = []
    for rate in _RATE_GRID.tolist():
        reach = (
            _BINOMIAL_HALF_WIDTH_SDS * np.sqrt(size * rate * (1 - rate))
            + _BINOMIAL_HALF_WIDTH_SDS**2
        )
        low, high = max(0, int(size * rate - reach)), min(size, int(size * rate + reach) + 1)
        numbers = range(low, high + 1, 1 + (high - low) // _MAX_COMPUTED_PASS_COUNTS)
        c = np.array(numbers)
        share = binomial_probabilities(size, c, rate)
        distributions.append((numbers, share * numbers.step))
    return distributions
