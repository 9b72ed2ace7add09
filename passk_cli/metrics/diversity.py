"""How different the solutions of a task are, and the effect of this diversity on pass@k.

A cell is one task of one model. The arrays of a cell have one row per distinct solution, with the
number of attempts (`count`) and of passing attempts (`passed`). `start` contains the offsets of the
cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from passk_cli.arrays import Floats, Ints, NDArray, row_blocks
from passk_cli.metrics.pass_k import pass_at_k

# A block of cells with mixed outcomes has at most _BLOCK_TERMS probabilities, which need about 16
# MB.
_BLOCK_TERMS = 1 << 21


def distinct_at_k(start: Ints, value: NDArray[Any], count: Ints, passed: Ints, k: int) -> Floats:
    """Expected number of different solutions among k attempts drawn without replacement.

    The value is the sum of 1 − C(n − m_j, k) / C(n, k) over the solutions j that occur in m_j of
    the n attempts (rarefaction). `value` is not used.
    Returns one number in [1, k] per cell, or NaN if n < k. The relative error is at most 1e-12.
    Source: Hurlbert 1971, "The nonconcept of species diversity", Ecology 52, equation 14.

    >>> distinct_at_k(np.array([0, 2]), np.array([7, 9]), np.array([2, 1]), np.zeros(2, int), 2)
    array([1.66666667])
    """
    return np.clip(_expected_distinct_solutions(start, count, count, k), 1.0, k)


def distinct_passing_at_k(
    start: Ints, value: NDArray[Any], count: Ints, passed: Ints, k: int
) -> Floats:
    """Expected number of different passing solutions among k attempts ("distinct correct@k").

    The value is the sum of 1 − C(n − p_j, k) / C(n, k) over the solutions j that occur in p_j
    passing attempts. The value is at least pass@k, and equals pass@k if all passing attempts of a
    cell have the same solution.
    Returns one number in [0, k] per cell, or NaN if n < k.

    >>> bag = np.array([0, 2]), np.array([7, 9]), np.array([2, 1]), np.array([2, 0])
    >>> distinct_passing_at_k(*bag, 1)
    array([0.66666667])
    """
    return np.clip(_expected_distinct_solutions(start, count, passed, k), 0.0, k)


def pass_at_k_of_distinct_solutions(
    start: Ints, value: NDArray[Any], count: Ints, passed: Ints, k: int
) -> Floats:
    """Probability that at least one of k different solutions of a cell passes.

    The value is pass@k of the different solutions instead of the attempts. Each solution counts
    once, however often it occurs. If there are at most k different solutions, all of them are
    tried. The value describes the n observed attempts, and increases with n.
    If only some attempts with a solution passed, the solution passes with a probability equal to
    the share of attempts that passed.
    Returns one probability per cell, or NaN if n < k, like pass@k.

    >>> bag = np.array([0, 3]), np.arange(3), np.array([8, 1, 1]), np.array([8, 0, 0])
    >>> [round(float(pass_at_k_of_distinct_solutions(*bag, k)[0]), 6) for k in (1, 2, 3, 10)]
    [0.333333, 0.666667, 1.0, 1.0]
    """
    first = start[:-1]
    n, solutions = np.add.reduceat(count, first), np.diff(start)
    tries = np.minimum(solutions, k)
    result = pass_at_k(solutions, np.add.reduceat((passed == count).astype(np.int64), first), tries)
    mixed = np.flatnonzero(np.logical_or.reduceat((passed > 0) & (passed < count), first))
    mixed = mixed[np.argsort(solutions[mixed], kind="stable")]
    terms = k + int(solutions.max(initial=0)) + 1
    for block in row_blocks(len(mixed), terms, _BLOCK_TERMS):
        cells = mixed[block]
        rows = start[cells][:, None] + np.arange(int(solutions[cells].max()))
        rows = np.minimum(rows, len(count) - 1)
        fails = 1.0 - passed[rows] / count[rows]
        result[cells] = 1.0 - _mean_subset_fail_product(fails, solutions[cells], tries[cells])
    return np.where(n >= k, np.clip(result, 0.0, 1.0), np.nan)


def distinct_solution_count(start: Ints, times: Ints) -> Ints:
    """Number of different solutions of each cell, which increases with the number of attempts.

    times : the number of attempts with each solution: all attempts (`count`), or only passing
        attempts (`passed`).

    >>> distinct_solution_count(np.array([0, 3]), np.array([5, 1, 0]))
    array([2])
    """
    return np.add.reduceat((times > 0).astype(np.int64), start[:-1])


def duplicate_share(start: Ints, times: Ints) -> Floats:
    """Share of a cell's attempts that repeat an earlier solution: 1 − distinct / attempts.

    The share increases with the number of attempts.  The result is NaN for a cell without attempts.

    >>> duplicate_share(np.array([0, 3]), np.array([5, 1, 0])).round(6)
    array([0.666667])
    """
    attempts = np.add.reduceat(times, start[:-1])
    kinds = distinct_solution_count(start, times)
    return np.where(attempts > 0, 1.0 - kinds / np.maximum(attempts, 1), np.nan)


def solution_agreement(start: Ints, times: Ints) -> Floats:
    """Probability that two attempts of a cell have the same solution: Σ m(m−1) / (n(n−1)).

    Each term of the sum is for one solution, which m of the n attempts have. For any n ≥ 2, this
    agreement is an unbiased estimate of Simpson's Σ p², and equals 2 − distinct@2. The inverse of
    the agreement, the effective number of solutions, is biased. Therefore, compute the mean
    agreement over cells first, and the inverse of the mean afterwards. The agreement is NaN for a
    cell with fewer than two attempts.
    Source: Simpson 1949, "Measurement of diversity", Nature 163.

    >>> solution_agreement(np.array([0, 2]), np.array([3, 1]))
    array([0.5])
    """
    n = np.add.reduceat(times, start[:-1])
    pairs = np.add.reduceat(times * (times - 1), start[:-1])
    return np.where(n > 1, pairs / np.maximum(n * (n - 1), 1), np.nan)


def _expected_distinct_solutions(start: Ints, count: Ints, times: Ints, k: int) -> Floats:
    """Expected number of solutions among k attempts, if times_j of n attempts have solution j."""
    n = np.add.reduceat(count, start[:-1])
    return np.add.reduceat(pass_at_k(np.repeat(n, np.diff(start)), times, k), start[:-1])


def _mean_subset_fail_product(fails: Floats, solutions: Ints, tries: Ints) -> Floats:
    """For each row, the mean product of fail rates over all subsets of `tries` columns."""
    sizes = np.arange(int(tries.max()) + 1)
    mean = np.zeros((len(fails), len(sizes)))
    mean[:, 0] = 1.0
    # Each mean over subsets of r columns is a weighted mean of two means over subsets of r−1
    # columns, without and with column r, so no digits are lost.
    for r in range(1, fails.shape[1] + 1):
        joined = np.zeros_like(mean)
        joined[:, 1:] = mean[:, :-1] * fails[:, r - 1 : r]
        share = np.minimum(sizes / r, 1.0)
        mean = np.where((r <= solutions)[:, None], (1 - share) * mean + share * joined, mean)
    return np.take_along_axis(mean, tries[:, None], axis=1)[:, 0]
