"""best@k, worst@k, mean, median and mean per pass of scores, all without random subsets.

A cell is one task of one model. `start` contains the offset of each cell and one end offset. The
rows start[i] … start[i+1] − 1 contain the distinct values of cell i in increasing order, with the
number of attempts (`count`) and of passing attempts (`passed`) per value. Every cell has at least
one row.
"""

from __future__ import annotations

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.metrics.pass_k import (
    MetricOfCountsFunction,
    pass_at_k_per_pair,
    pass_hat_k_per_pair,
    unique_pairs,
)


def best_at_k(start: Ints, value: Floats, count: Ints, passed: Ints, k: int) -> Floats:
    """Expected highest score among k attempts drawn without replacement from n attempts.

    The value is Σ_j x_j [C(N_j, k) − C(N_{j−1}, k)] / C(n, k) over the distinct scores x_1 < x_2 <
    …, with N_j attempts that have a score of at most x_j. passk computes this value as x_1 + Σ_j
    (x_{j+1} − x_j) pass@k(n, n − N_j). If all scores are 0 or 1, best@k therefore equals pass@k to
    the last digit.

    value : the finite score of each row.  `passed` is not used.
    Returns one number per cell, or NaN if n < k. The number is in the range of the cell's scores,
    with an error of at most 1e-12 of this range.

    >>> best_at_k(np.array([0, 3]), np.array([0.0, 0.5, 1.0]), np.ones(3, int), np.zeros(3, int), 2)
    array([0.83333333])
    """
    return _integral_over_thresholds(start, value, count, k, pass_at_k_per_pair)


def worst_at_k(start: Ints, value: Floats, count: Ints, passed: Ints, k: int) -> Floats:
    """Expected lowest score among k attempts drawn without replacement from n attempts.

    The value is x_1 + Σ_j (x_{j+1} − x_j) pass^k(n, n − N_j) for the scores x_j and numbers N_j
    that are defined in `best_at_k`. If all scores are 0 or 1, worst@k equals pass^k.

    >>> worst_at_k(np.array([0, 2]), np.array([0.0, 1.0]), np.array([1, 3]), np.array([0, 3]), 2)
    array([0.5])
    """
    return _integral_over_thresholds(start, value, count, k, pass_hat_k_per_pair)


def mean_score(start: Ints, value: Floats, count: Ints, passed: Ints, k: int = 1) -> Floats:
    """Mean score of a cell's attempts, which equals best@1 and worst@1; NaN if n < k.

    >>> mean_score(np.array([0, 2]), np.array([0.0, 1.0]), np.array([1, 3]), np.array([0, 3]))
    array([0.75])
    """
    first = start[:-1]
    n = np.add.reduceat(count, first)
    mean = np.clip(np.add.reduceat(value * count, first) / n, value[first], value[start[1:] - 1])
    return np.where(n >= k, mean, np.nan)


def median_over_all_attempts(
    start: Ints, value: Floats, count: Ints, passed: Ints, k: int = 1
) -> Floats:
    """Median score of a cell's attempts; for even n, the mean of the two middle scores.

    value : the finite score of each row, increasing within a cell.
    Returns one median per cell, or NaN if n < k.

    >>> n, passed = np.array([3, 1]), np.array([0, 0])
    >>> median_over_all_attempts(np.array([0, 2]), np.array([1.0, 9.0]), n, passed)
    array([1.])
    """
    total = np.concatenate([[0], np.cumsum(count)])
    before, n = total[start[:-1]], np.diff(total[start])
    lower, upper = (
        value[np.searchsorted(total, before + place, side="right") - 1]
        for place in ((n - 1) // 2, n // 2)
    )
    return np.where(n >= k, (lower + upper) / 2, np.nan)


def ratio_to_pass_rate_contributions(
    start: Ints, value: Floats, count: Ints, passed: Ints, k: int = 1
) -> Floats:
    """The contribution of each cell to the ratio θ = Σ mean value / Σ pass rate.

    A cell with the mean value x and the pass rate y contributes θ + (x − θ y) / ȳ. The mean of all
    contributions is θ, and the variance of this mean estimates the variance of θ (delta method).
    The ratio θ is computed from the given cells, so contributions depend on which cells are given.

    value : the finite value of each row.
    Returns one contribution per cell, or NaN if no attempt of any cell passed.

    >>> cells = np.array([0, 1, 2]), np.array([1.0, 3.0]), np.array([1, 2]), np.array([1, 1])
    >>> (ratio_to_pass_rate_contributions(*cells).round(3).tolist(),
    ...  round(float(ratio_to_pass_rate_contributions(*cells).mean()), 3))
    ([0.444, 4.889], 2.667)
    """
    first = start[:-1]
    n = np.add.reduceat(count, first)
    x, y = np.add.reduceat(value * count, first) / n, np.add.reduceat(passed, first) / n
    if not passed.any():
        return np.full(len(n), np.nan)
    ratio = x.mean() / y.mean()
    contributions: Floats = ratio + (x - ratio * y) / y.mean()
    return contributions


def _integral_over_thresholds(
    start: Ints, value: Floats, count: Ints, k: int, form: MetricOfCountsFunction
) -> Floats:
    """Compute x_1 + Σ_j (x_{j+1} − x_j) · form(n, attempts above x_j, k) for every cell."""
    first, last = start[:-1], start[1:] - 1
    below = np.cumsum(count)
    n = np.diff(below[last], prepend=0)
    above = np.repeat(below[last], np.diff(start)) - below
    step = np.append(np.diff(value), 0.0)
    step[last] = 0.0
    un, uc, index = unique_pairs(np.repeat(n, np.diff(start)), above)
    over = value[first] + np.add.reduceat(step * form(un, uc, k)[index], first)
    # Rounding errors must not move a result out of its range.
    return np.clip(over, value[first], value[last])
