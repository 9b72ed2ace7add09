"""Test whether the results of tasks changed between two runs, and compute the changes expected by
chance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from passk_cli.arrays import ArrayLike, Floats, Ints
from passk_cli.inference.roots import parabola_peak_heights
from passk_cli.metrics.combinatorics import binomial_probabilities

# The unknown common pass rate is sin²(θ/2). The grid is evenly spaced in θ, with _STEPS points per
# standard error of a pass rate, and at least _FEWEST points.
_STEPS, _FEWEST = 12, 96
# passk uses Boschloo's test for at most MAX_BOSCHLOO_PASS_COUNT_PAIRS pairs of pass counts, and
# Fisher's test for more pairs.
MAX_BOSCHLOO_PASS_COUNT_PAIRS = 20_000
# Two sums of probabilities with a relative difference below _RELATIVE_TOLERANCE are treated as
# equal.
_RELATIVE_TOLERANCE = 1e-9
_POSSIBLE_PASSES_REACH = 19.0


def flip_signs(n: ArrayLike, c: ArrayLike, n_base: ArrayLike, c_base: ArrayLike) -> Ints:
    """1 if a task flips to passing, −1 if it flips to failing, and 0 if it does not flip.

    A task flips if its pass rates c/n and c₀/n₀ in the two runs differ by more than ½. With one or
    two attempts per run, a flip means that one run always passes and the other run never passes.
    With ten attempts per run, a flip means that the numbers of passes differ by 6 or more.

    >>> flip_signs([1, 2, 10, 4], [1, 1, 8, 0], [1, 2, 10, 4], [0, 0, 2, 3]).tolist()
    [1, 0, 1, -1]
    """
    n, c, n_base, c_base = map(_cast_to_integers, (n, c, n_base, c_base))
    gap = 2 * (c * n_base - c_base * n)
    return np.where(gap > n * n_base, 1, np.where(-gap > n * n_base, -1, 0))


@dataclass(frozen=True)
class FlipChances:
    """The probabilities that the result of each task changes by chance, given the total passes of
    the task.

    changes : probability that the two pass rates differ.
    flips : probability that the two pass rates differ by more than ½.
    flips_favouring_first_run : probability of a flip in favour of the first run.
    """

    changes: Floats
    flips: Floats
    flips_favouring_first_run: Floats


def flip_chances(n: ArrayLike, n_base: ArrayLike, passes: ArrayLike) -> FlipChances:
    """The probabilities that a task's result changes by chance although its pass rate is unchanged.

    If the rate p is the same in both runs, the s = c + c₀ passes of a task are a random subset of
    the n + n₀ attempts. Therefore, c has a hypergeometric distribution for any p, and P(flip | s)
    is an unbiased estimate of P(flip | p). This estimate has the smallest possible variance,
    because the total passes s are a sufficient statistic. The sum of P(flip | s) over tasks
    estimates the expected number of flips. If runs have one attempt per task, this sum always
    equals the observed number of flips, so the sum is not informative.

    n, n_base : numbers of attempts per task, at least 1.  passes : total passes s of each task,
        from 0 to n + n_base.
    Returns one probability per task for each field.
    Source: Fisher 1935; Rao 1945 and Blackwell 1947 for the estimate.

    >>> chances = flip_chances([1, 2, 2], [1, 2, 2], [1, 2, 4])
    >>> chances.flips.round(4).tolist(), chances.changes.round(4).tolist()
    ([1.0, 0.3333, 0.0], [1.0, 0.3333, 0.0])
    """
    triples = np.stack(np.broadcast_arrays(*map(_cast_to_integers, (n, n_base, passes))), axis=-1)
    distinct, place = np.unique(triples.reshape(-1, 3), axis=0, return_inverse=True)
    shape = triples.shape[:-1]
    distinct_chances = np.empty((len(distinct), 3))
    for row, (size, size_base, passed) in zip(distinct_chances, distinct.tolist(), strict=True):
        c, weights = _possible_passes_and_probabilities(size, size_base, passed)
        sign = flip_signs(size, c, size_base, passed - c)
        changed = c * size_base != (passed - c) * size
        row[:] = weights[changed].sum(), weights[sign != 0].sum(), weights[sign > 0].sum()
    task_chances = distinct_chances[place.ravel()].reshape(*shape, 3)
    return FlipChances(task_chances[..., 0], task_chances[..., 1], task_chances[..., 2])


def _possible_passes_and_probabilities(n: int, n_base: int, passes: int) -> tuple[Ints, Floats]:
    from passk_cli.scipy_special import gammaln

    low, high = max(0, passes - n_base), min(n, passes)
    total = n + n_base
    mean = n * passes / total
    reach = 1 + _POSSIBLE_PASSES_REACH * math.sqrt(min(n, n_base, passes, total - passes))
    c = np.arange(max(low, math.floor(mean - reach)), min(high, math.ceil(mean + reach)) + 1)
    base_passes = passes - c
    logs = -(gammaln(c + 1.0) + gammaln(n - c + 1.0) + gammaln(base_passes + 1.0)
             + gammaln(n_base - base_passes + 1.0))  # fmt: skip
    weights = np.exp(logs - logs.max())
    return c, weights / weights.sum()


def poisson_binomial(probabilities: ArrayLike) -> Floats:
    """The exact distribution of the number of independent events that happen: P(N = 0), P(N = 1), …

    probabilities : the probability of each event.
    Returns one probability for each number of events from 0 to the number of all events.

    >>> poisson_binomial([0.5, 0.5]).tolist()
    [0.25, 0.5, 0.25]
    """
    distributions = [
        np.array([1.0 - p, p]) for p in np.asarray(probabilities, dtype=np.float64).tolist()
    ]
    while len(distributions) > 1:
        pairs = [
            np.convolve(a, b) for a, b in zip(distributions[::2], distributions[1::2], strict=False)
        ]
        distributions = pairs + distributions[len(distributions) - len(distributions) % 2 :]
    return distributions[0] if distributions else np.ones(1)


def central_range(distribution: Floats, level: float = 0.95) -> tuple[int, int]:
    """The narrowest range that leaves at most (1 − level)/2 of a distribution on each side.

    >>> central_range(poisson_binomial([0.5] * 10))
    (2, 8)
    """
    share = (1.0 - level) / 2
    below, above = np.cumsum(distribution), np.cumsum(distribution[::-1])[::-1]
    low = int(np.argmax(below > share * (1 + _RELATIVE_TOLERANCE)))
    high = len(distribution) - 1 - int(np.argmax(above[::-1] > share * (1 + _RELATIVE_TOLERANCE)))
    return low, high


def boschloo(n: ArrayLike, c: ArrayLike, n_base: ArrayLike, c_base: ArrayLike) -> Floats:
    """Exact unconditional two-sided p-values of the hypothesis that a task's pass rates are equal.

    The p-value is the maximum of P_π(F ≤ f) over all π in [0, 1]. In this formula, f is Fisher's
    exact p-value for c passes in n attempts against c₀ passes in n₀ attempts. F is Fisher's p-value
    for a random table in which both pass rates are the unknown π. Under the hypothesis, p ≤ α has a
    probability of at most α. The p-value is never above f. For example, for 4 passes in 4 attempts
    against 0 passes in 4 attempts, p is 0.0078 and f is 0.029.

    n, c, n_base, c_base : integer arrays that can be broadcast, with n ≥ 1 and 0 ≤ c ≤ n in both
        runs.
    Returns p-values in the broadcast shape.
    Accuracy: The search for the maximum uses at least 97 values of π (12 per standard error), and
        parabolas between these values. If (n + 1) (n₀ + 1) is above 20,000, the result is Fisher's
        p-value, which is nearly the same.
    Source: Boschloo 1970.

    >>> boschloo([4, 1, 4], [4, 1, 2], [4, 1, 4], [0, 0, 2]).round(4).tolist()
    [0.0078, 1.0, 1.0]
    """
    tables = np.stack(np.broadcast_arrays(*map(_cast_to_integers, (n, c, n_base, c_base))), axis=-1)
    distinct, place = np.unique(tables.reshape(-1, 4), axis=0, return_inverse=True)
    p = np.ones(len(distinct))
    sizes, size_of = np.unique(distinct[:, [0, 2]], axis=0, return_inverse=True)
    for at, (first, second) in enumerate(sizes.tolist()):
        rows = np.flatnonzero(size_of.ravel() == at)
        if (first + 1) * (second + 1) > MAX_BOSCHLOO_PASS_COUNT_PAIRS:
            for row in rows.tolist():
                a, b = distinct[row, [1, 3]].tolist()
                c, p_by_c = _fisher_p_values(first, second, a + b)
                p[row] = p_by_c[a - c[0]] if c[0] <= a <= c[-1] else 0.0
        else:
            p[rows] = _boschloo_table(first, second)[distinct[rows, 1], distinct[rows, 3]]
    return p[place.ravel()].reshape(tables.shape[:-1])


def _fisher_p_values(n: int, n_base: int, passes: int) -> tuple[Ints, Floats]:
    c, weights = _possible_passes_and_probabilities(n, n_base, passes)
    order = np.argsort(weights, kind="stable")
    total = np.cumsum(weights[order])
    last = np.searchsorted(weights[order], weights * (1 + 1e-7), side="right") - 1
    return c, np.minimum(total[last], 1.0)


@lru_cache(maxsize=64)
def _boschloo_table(n: int, n_base: int) -> Floats:
    fisher = np.empty((n + 1, n_base + 1))
    for passes in range(n + n_base + 1):
        c, p_by_c = _fisher_p_values(n, n_base, passes)
        fisher[c, passes - c] = p_by_c
    # Tables are sorted by Fisher's p-value. Two tables with equal p-values have the same tail, so
    # the tail of both ends at the last of the equal tables.
    order = np.argsort(fisher, axis=None, kind="stable")
    ranked = fisher.flat[order]
    last = np.searchsorted(ranked, ranked * (1 + 1e-7), side="right") - 1
    steps = max(_FEWEST, int(np.ceil(_STEPS * np.pi * np.sqrt(n + n_base))))
    steps += steps % 2
    rates = np.sin(np.linspace(0.0, np.pi, steps + 1) / 2) ** 2
    first, second = (
        binomial_probabilities(m, np.arange(m + 1), rates[:, None]) for m in (n, n_base)
    )
    largest = np.zeros(len(order))
    window: list[Floats] = []
    for first_chances, second_chances in zip(first, second, strict=True):
        window = [*window[-2:], np.cumsum(np.outer(first_chances, second_chances).flat[order])]
        np.maximum(largest, window[-1], out=largest)
        if len(window) == 3:
            np.maximum(largest, parabola_peak_heights(*window), out=largest)
    p = np.empty(len(order))
    p[order] = np.minimum(largest[last], 1.0)
    return p.reshape(n + 1, n_base + 1)


def _cast_to_integers(value: ArrayLike) -> Ints:
    return np.asarray(value, dtype=np.int64)
