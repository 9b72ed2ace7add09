"""Exact unconditional test for differences of −1, 0 and 1, and an interval that agrees with it.

In this module, b is the number of tasks that only the first of two models passes, and c is the
number of tasks that only the second model passes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from passk_cli.arrays import ArrayLike, Floats, Ints, row_blocks
from passk_cli.inference.roots import find_root, parabola_peak_heights

# The unknown rate of disagreement is π = sin²(θ/2). The grid of π is evenly spaced in θ, because an
# estimate of θ has the standard error 1/√T at every π. The grid has _STEPS points per standard
# error, and at least _FEWEST points.
_STEPS, _FEWEST = 10, 64
_REACH, _BEYOND_POISSON = 7.0, 40
_BLOCK_RATES = 64
_SHARE, _BEYOND = 0.75, 1.1
# A limit within a distance of _LIMIT_AT_BOUND_TOLERANCE from ±1 is set to ±1.
_LIMIT_AT_BOUND_TOLERANCE = 1e-9
# The search for a limit takes _BISECTION_STEPS bisection steps, which make the limit accurate to
# 2e-15.
_BISECTION_STEPS = 50
# passk caches the distributions for numbers of tasks up to _MAX_CACHED_TASKS, because 100,000 tasks
# would need 170 MB.
_MAX_CACHED_TASKS = 20_000
# Up to _MAX_FLOAT_ROOT_TASKS tasks, a rounded floating-point root is always the right integer.
_MAX_FLOAT_ROOT_TASKS = 100_000
_MAX_BLOCK_CELLS = 1 << 21
_TRIED, _NARROW = 16, 1e-10


def suissa_shuster(tasks: int, b: ArrayLike, c: ArrayLike) -> Floats:
    """Suissa and Shuster's exact two-sided p-value for the numbers b and c of tasks that only one
    model passes.

    The hypothesis is that a task is as likely to be one of the b tasks as one of the c tasks. The
    observed statistic is z = |b − c| / √(b + c). The p-value is the maximum of P_π(Z ≥ z) over all
    π in [0, 1]. In this formula, π is the unknown probability that the models disagree on a task. Z
    is the same statistic for a random table with b* + c* ~ Binomial(T, π) and b* ~ Binomial(b* +
    c*, ½). Under the hypothesis, p ≤ α has a probability of at most α. McNemar's test, which
    conditions on b + c, is significant less often.

    tasks : number of tasks T ≥ 1, including the tasks on which the models agree.
    b, c : integer arrays that can be broadcast, with b ≥ 0, c ≥ 0 and b + c ≤ T.
    Returns p-values in the broadcast shape. The p-value is 1 if b = c. The smallest possible
    p-value for T tasks is 2^(1−T).
    Accuracy: p is at most 0.01 % below the true maximum, because the search uses 31 √T values of π
        and parabolas between them.
    Errors: ValueError if b or c is negative or not a whole number, or if b + c > T.
    Source: Suissa & Shuster 1991.
    >>> suissa_shuster(20, [5, 6, 12], [0, 1, 4]).round(4).tolist()
    [0.0414, 0.0731, 0.0504]
    """
    b, c = np.broadcast_arrays(checked_whole_counts("b", b), checked_whole_counts("c", c))
    if tasks < 1 or np.any(b + c > tasks):
        raise ValueError("the number of tasks must be at least 1, and at least b + c")
    gaps, discordant = np.abs(b - c).ravel(), (b + c).ravel()
    square = gaps * gaps
    divisor = np.maximum(np.gcd(square, discordant), 1)
    ratios = square // divisor * (tasks + 1) + discordant // divisor
    ratios, place = np.unique(ratios, return_inverse=True)
    distinct = np.stack(np.divmod(ratios, tasks + 1))
    p = np.ones(len(ratios))
    discordant_rows = np.flatnonzero(distinct[0])
    n = np.arange(tasks + 1)
    for block in row_blocks(len(discordant_rows), tasks + 1, _MAX_BLOCK_CELLS):
        rows = discordant_rows[block]
        square, discordant = distinct[:, rows, None]
        least = np.ceil(np.sqrt(square * n / discordant)).astype(np.int64)
        if tasks > _MAX_FLOAT_ROOT_TASKS:
            least -= (least > 0) & ((least - 1) ** 2 * discordant >= square * n)
            least += least**2 * discordant < square * n
        p[rows] = _largest_p_values(
            tasks, _tail_chances_by_discordant_count(tasks, _raise_to_parity(least, n))
        )
    return np.minimum(p[place.ravel()], 1.0).reshape(b.shape)


def _raise_to_parity(least: Ints, n: Ints) -> Ints:
    least = least + (least - n) % 2
    least[:, 0] = 2
    return least


def _tail_chances_by_discordant_count(tasks: int, least: Ints) -> Floats:
    """The probabilities P(|b − c| ≥ least | b + c = N) with b ~ Binomial(N, ½), for each table and
    for N = 0 … T."""
    from passk_cli.scipy_special import gammaln

    n = np.arange(tasks + 1)
    factorials = gammaln(n + 1.0)
    most = np.where(least > n, -1, (n - least) // 2)
    edge_passes = np.maximum(most, 0)
    logs = factorials - n * math.log(2.0) - factorials[edge_passes] - factorials[n - edge_passes]
    edge = np.where(most < 0, 0.0, np.exp(logs))
    steps = np.where(np.diff(most, axis=1, prepend=-1) > 0, edge, 0.0)
    steps[:, 1:] -= edge[:, :-1] / 2
    return np.clip(2 * np.cumsum(steps, axis=1, out=steps), 0.0, 1.0, out=steps)


def _largest_p_values(tasks: int, tails: Floats) -> Floats:
    binomials = (
        _cached_probability_blocks(tasks)
        if tasks <= _MAX_CACHED_TASKS
        else _binomial_probability_blocks(tasks)
    )
    means = np.concatenate(
        [tails[:, :1].T, *[law @ tails[:, n].T for n, law in binomials], tails[:, -1:].T]
    )
    maxima: Floats = np.maximum(
        parabola_peak_heights(means[:-2], means[1:-1], means[2:]).max(axis=0),
        np.maximum(means[0], means[-1]),
    )
    return maxima


@lru_cache(maxsize=2)
def _cached_probability_blocks(tasks: int) -> list[tuple[slice, Floats]]:
    return list(_binomial_probability_blocks(tasks))


def _binomial_probability_blocks(tasks: int) -> Iterator[tuple[slice, Floats]]:
    """Yield Binomial(T, π) probabilities for blocks of π on a grid. Each block has a slice of the
    values of N, and an array (π × N)."""
    from passk_cli.scipy_special import gammaln

    points = max(_FEWEST, math.ceil(_STEPS * math.pi * math.sqrt(tasks))) + 1
    rates = np.sin(np.linspace(0.0, math.pi, points)[1:-1] / 2) ** 2
    factorials = gammaln(np.arange(tasks + 1) + 1.0)
    spread = _REACH * np.sqrt(tasks * rates * (1 - rates)) + _BEYOND_POISSON
    for first in range(0, len(rates), _BLOCK_RATES):
        block = slice(first, first + _BLOCK_RATES)
        low = max(0, math.floor((tasks * rates - spread)[block].min()))
        high = min(tasks, math.ceil((tasks * rates + spread)[block].max()))
        n, rate = np.arange(low, high + 1), rates[block, None]
        logs = factorials[-1] - factorials[n] - factorials[tasks - n]
        chances = np.exp(logs + n * np.log(rate) + (tasks - n) * np.log1p(-rate))
        yield slice(low, high + 1), chances


@lru_cache(maxsize=256)
def suissa_shuster_critical_z(tasks: int, level: float) -> float:
    """The critical value of z. The p-value from `suissa_shuster` is at most 1 − level if z is
    larger.

    Only some values of z are possible. The critical value is between two possible values, and
    closer to the higher one, which is the smallest significant z. If no z is significant because
    2^(1−T) > 1 − level, the critical value is above every possible z for T tasks.

    >>> round(suissa_shuster_critical_z(20, 0.95), 3), round(suissa_shuster_critical_z(5, 0.95), 3)
    (2.049, 2.281)
    """
    from passk_cli.scipy_special import ndtri

    alpha = 1.0 - level
    normal = float(ndtri(1.0 - alpha / 2))
    if 2.0 ** (1 - tasks) > alpha * (1 + 1e-12):
        return max(1.02 * math.sqrt(tasks), _BEYOND * normal)
    n = np.arange(tasks + 1)
    low, high = 0.0, math.sqrt(tasks)
    while high - low > _NARROW:
        z = np.linspace(low, high, _TRIED + 2)[1:-1]
        least = _raise_to_parity(np.ceil(z[:, None] * np.sqrt(n)).astype(np.int64), n)
        rejects = _largest_p_values(
            tasks, _tail_chances_by_discordant_count(tasks, least)
        ) <= alpha * (1 + 1e-12)
        first = int(np.argmax(rejects)) if rejects.any() else _TRIED
        low, high = (z[first - 1] if first else low), (z[first] if first < _TRIED else high)
    least = _raise_to_parity(np.ceil(high * np.sqrt(n))[None].astype(np.int64), n)
    attained = (least[0, 1:] / np.sqrt(n[1:]))[least[0, 1:] <= n[1:]]
    return float(low + _SHARE * (attained.min() - low))


def score_limits(
    tasks: int, b: ArrayLike, c: ArrayLike, level: float = 0.95
) -> tuple[Floats, Floats]:  # fmt: skip
    """Score interval for the mean difference p_b − p_c, in agreement with `suissa_shuster`.

    The interval contains a difference δ if |z(δ)| ≤ z* + w(δ), with z(δ) = (b − c − Tδ) / √(T
    s²(δ)). In these formulas, s²(δ) is the maximum-likelihood variance of a task's difference if
    the mean is δ, and z* is the critical value from `suissa_shuster_critical_z`. At δ = 0, |z| is
    |b − c| / √(b + c) and w is 0, so the interval excludes 0 if and only if the test is
    significant. The correction is w(δ) = max(0, (z*² − 1) γ / 6√T) + |δ| / √T. In this formula, γ
    is the skewness of a task's difference in the direction of the limit. Without the correction w,
    the coverage is only 86 % for differences near ±1, because the distribution of z is skewed for
    such differences.

    tasks : number of tasks T.  b, c : integer arrays as for `suissa_shuster`.  level : confidence
        level in (0, 1).
    Returns the array of the lower limits and the array of the upper limits, in [−1, 1].
    Coverage: The exact coverage of 95 % intervals is at least 93.8 % for all rates and T = 2 … 164.
        The coverage is lowest at T = 35, 49 and 56, for models that disagree on nearly every task.
    Edge cases: If b = T, the upper limit is 1, and if c = T, the lower limit is −1.
    Source: Tango 1998; Cornish & Fisher 1937 for the skewness.

    >>> [limit.round(3).tolist() for limit in score_limits(20, [6, 0], [1, 0])]
    [[-0.027, -0.179], [0.518, 0.179]]
    """
    critical, (b, c) = suissa_shuster_critical_z(tasks, level), np.broadcast_arrays(b, c)
    # The upper limit is the negative of the lower limit with b and c exchanged. Each distinct table
    # is computed once, because many pairs of models have equal counts.
    tables = np.concatenate([(b * (tasks + 1) + c).ravel(), (c * (tasks + 1) + b).ravel()])
    tables, place = np.unique(tables, return_inverse=True)
    low, high = np.split(_low_limits(tasks, *np.divmod(tables, tasks + 1), critical)[place], 2)
    return low.reshape(b.shape), -high.reshape(b.shape)


def score_equivalence_p(tasks: int, b: int, c: int, margin: float) -> float:
    """The larger p-value of two one-sided tests. The hypotheses are p_b − p_c ≤ −margin and p_b −
    p_c ≥ margin.

    The result is at most α if and only if the `paired-score` limits of level 1 − 2α are within
    ±margin.

    >>> round(score_equivalence_p(100, 6, 5, 0.1), 4)
    0.0115
    """
    return max(_one_sided_p(tasks, b, c, -margin), _one_sided_p(tasks, c, b, -margin))


def _one_sided_p(tasks: int, b: int, c: int, mean: float) -> float:

    def excess(critical: float) -> float:
        return float(_z_excess(tasks, b, c, np.asarray(mean), critical))

    if excess(0.0) <= 0.0:
        return 1.0
    high = 1.0
    while excess(high) > 0.0:
        high *= 2.0
    return _alpha_of_critical_z(tasks, find_root(excess, 0.0, high, 1e-12)) / 2


def _alpha_of_critical_z(tasks: int, critical: float) -> float:
    from passk_cli.scipy_special import ndtr

    root = np.sqrt(np.arange(tasks + 1))
    least = _raise_to_parity(np.ceil(critical * root)[None].astype(np.int64), np.arange(tasks + 1))
    reached = least[0, 1:] <= root[1:] ** 2 + 0.5
    if not reached.any():
        alpha = float(2 * ndtr(-critical / _BEYOND)) if critical >= 1.02 * root[-1] else 1.0
        return min(alpha, 2.0 ** (1 - tasks))
    high = (least[0, 1:] / root[1:])[reached].min()
    low = ((least[0, 1:] - 2) / root[1:]).max()
    if low <= 0.0:
        return 1.0
    if critical < low + _SHARE * (high - low):
        below = np.ceil(low * (1 - 1e-12) * root)[None].astype(np.int64)
        least = _raise_to_parity(below, np.arange(tasks + 1))
    return min(
        1.0, float(_largest_p_values(tasks, _tail_chances_by_discordant_count(tasks, least))[0])
    )


def _low_limits(tasks: int, b: Ints, c: Ints, critical: float) -> Floats:
    """The lower limit: the difference δ < (b − c)/T at which z reaches the critical value, or −1 if
    there is none."""
    least, mean = -1.0 + _LIMIT_AT_BOUND_TOLERANCE, (b - c) / tasks
    never = (mean <= least) | (_z_excess(tasks, b, c, np.asarray(least), critical) <= 0.0)
    low, high = np.full(mean.shape, least), np.minimum(mean, -least)
    for _ in range(_BISECTION_STEPS):
        middle = low + (high - low) / 2
        beyond = _z_excess(tasks, b, c, middle, critical) > 0.0
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return np.where(never, -1.0, high)


def _z_excess(tasks: int, b: Ints | int, c: Ints | int, mean: Floats, critical: float) -> Floats:
    """The statistic z for the mean difference `mean`, minus the critical value and the correction
    w."""
    linear = (2 * tasks - b + c) * mean - b - c
    root = np.sqrt(np.maximum(linear * linear + 8 * tasks * c * mean * (1 - mean), 0.0))
    differ = mean + (root - linear) / (2 * tasks)
    variance = np.maximum(differ - mean * mean, _LIMIT_AT_BOUND_TOLERANCE**2)
    skewness = (mean - 3 * mean * differ + 2 * mean**3) / variance**1.5
    room = np.maximum((critical * critical - 1) * skewness / 6, 0.0) + np.abs(mean)
    z = (b - c - tasks * mean) / np.sqrt(tasks * variance)
    excess: Floats = z - critical - room / math.sqrt(tasks)
    return excess


def checked_whole_counts(name: str, value: ArrayLike) -> Ints:
    """The given counts as an array of integers.
    Errors: ValueError if a count is negative or a fraction.

    >>> checked_whole_counts("b", [3.0, 4.0]).tolist()
    [3, 4]
    """
    array = np.asarray(value)
    if not np.all(np.equal(np.mod(array, 1), 0)) or np.any(array < 0):
        raise ValueError(f"{name} must be whole numbers of at least 0")
    return array.astype(np.int64)
