"""Exact limits for a task's pass rate, and the number of passes that would prove a higher rate."""

from __future__ import annotations

import numpy as np

from passk_cli.arrays import ArrayLike, Floats, Ints
from passk_cli.metrics.pass_k import unique_pairs

# The search in `further_passes_needed` stops at MAX_FURTHER_ATTEMPTS attempts.
MAX_FURTHER_ATTEMPTS = 1_000_000_000


def rate_limits(n: ArrayLike, c: ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
    """Exact limits (Clopper–Pearson) of the pass rate p of each task with c passes in n attempts.

    The limits are defined by P(X ≥ c | low) = P(X ≤ c | high) = (1 − level)/2 with X ~ Binomial(n,
    p). If c = n, the upper limit is 1, and if c = 0, the lower limit is 0. The limits contain the
    true pass rate with a probability of at least `level`.

    n, c : integer arrays that can be broadcast, with n ≥ 1 and 0 ≤ c ≤ n.  level : confidence level
        in (0, 1).
    Returns the array of the lower limits and the array of the upper limits, in the broadcast shape.
    Errors: ValueError if c < 0 or c > n for a task.
    Source: Clopper & Pearson 1934.

    >>> low, high = rate_limits([3, 3, 4], [3, 0, 2])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.292, 0.0, 0.068], [1.0, 0.708, 0.932])
    """
    from passk_cli.scipy_special import betaincinv

    n, c, index = unique_pairs(*_checked_counts(n, c))
    tail = (1.0 - level) / 2.0
    passes, fewer = np.maximum(c, 1), np.minimum(c, n - 1)
    low = np.where(c > 0, betaincinv(passes, n - passes + 1, tail), 0.0)
    high = np.where(c < n, betaincinv(fewer + 1, n - fewer, 1.0 - tail), 1.0)
    return low[index], high[index]


def rate_lower_limits(n: ArrayLike, c: ArrayLike, level: float = 0.95) -> Floats:
    """One-sided lower limits of pass rates. They are defined by P(X ≥ c | low) = 1 − level, and are
    0 if c = 0.

    Use one-sided limits only if you chose the direction of the claim before you saw the data, for
    example with --always. `rate_limits` describes the arguments, errors and source.

    >>> rate_lower_limits([3, 59, 10], [3, 59, 9]).round(3).tolist()
    [0.368, 0.95, 0.606]
    """
    from passk_cli.scipy_special import betaincinv

    n, c = _checked_counts(n, c)
    low: Floats = betaincinv(np.maximum(c, 1), n - np.maximum(c, 1) + 1, 1.0 - level)
    return np.where(c > 0, low, 0.0)


def further_passes_needed(n: ArrayLike, c: ArrayLike, rate: float, level: float = 0.95) -> Ints:
    """The number of further attempts that must all pass to show that a pass rate is above `rate`.

    The number is the smallest m ≥ 0 with P(X ≥ c + m | rate) ≤ 1 − level for X ~ Binomial(n + m,
    rate). The one-sided lower limit for c + m passes in n + m attempts then reaches the rate.

    n, c : attempts and passes as for `rate_limits`; n may be 0.  rate : the pass rate to exceed, in
        (0, 1).
    Returns one integer per task.
    Errors: ValueError if c < 0 or c > n for a task, or for a rate outside (0, 1).

    >>> further_passes_needed([0, 3, 59, 10], [0, 3, 59, 9], 0.95).tolist()
    [59, 56, 0, 83]
    """
    from passk_cli.scipy_special import bdtr

    n, c = _checked_counts(n, c, least=0)
    if not 0.0 < rate < 1.0:
        raise ValueError("rate must be above 0 and below 1")
    failures, place = np.unique(n - c, return_inverse=True)
    few, enough = failures - 1, np.full_like(failures, MAX_FURTHER_ATTEMPTS)
    while np.any(enough - few > 1):
        middle = (few + enough) // 2
        shows = bdtr(failures, np.maximum(middle, failures), 1.0 - rate) <= 1.0 - level + 1e-12
        shows &= middle > failures
        enough, few = np.where(shows, middle, enough), np.where(shows, few, middle)
    more: Ints = np.maximum(enough[place].reshape(n.shape) - n, 0)
    return more


def below_rate_p_values(n: ArrayLike, c: ArrayLike, rate: float) -> Floats:
    """One-sided exact p-values of the hypothesis that a pass rate is at least `rate`.

    The p-value of a task is P(X ≤ c | rate) with X ~ Binomial(n, rate).
    n, c : attempts and passes as for `rate_limits`.  rate : pass rate in [0, 1].
    Returns one p-value per task.

    >>> below_rate_p_values([4, 4], [0, 4], 0.5).tolist()
    [0.0625, 1.0]
    """
    from passk_cli.scipy_special import bdtr

    n, c = _checked_counts(n, c)
    return np.where(c >= n, 1.0, bdtr(np.minimum(c, n - 1).astype(float), n, rate))


def _checked_counts(n: ArrayLike, c: ArrayLike, least: int = 1) -> tuple[Ints, Ints]:
    n, c = np.broadcast_arrays(np.asarray(n, dtype=np.int64), np.asarray(c, dtype=np.int64))
    if np.any(n < least) or np.any(c < 0) or np.any(c > n):
        raise ValueError(f"at every task, n must be at least {least}, and c between 0 and n")
    return n, c
