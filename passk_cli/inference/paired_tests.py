"""Tests of the hypothesis that two models are equally good, for models with the same tasks.

For the sign-flip test and McNemar's test, both models must have the same number of attempts at each
task.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from passk_cli.arrays import ArrayLike, Bools, Floats, Ints, NDArray, row_blocks
from passk_cli.inference.discordance import checked_whole_counts
from passk_cli.inference.random_streams import named_generator

# Each random stream generates RESAMPLES_PER_RANDOM_STREAM resamples. A different number of
# resamples per stream would change the p-values for a given seed.
RESAMPLES_PER_RANDOM_STREAM = 256
# MAX_RANDOM_SIGNS_PER_THREAD limits the elements of a sign matrix per thread, and
# _MAX_BLOCK_COLUMNS limits the columns that are multiplied by a sign matrix at once. Neither these
# limits on memory nor the number of threads changes a result.
MAX_RANDOM_SIGNS_PER_THREAD = 1 << 21
_MAX_BLOCK_COLUMNS = 512
_THREAD_COUNT = 2
# A lattice on which sign patterns are counted has at most _MAX_LATTICE_STEPS steps. The unit of the
# lattice is the smallest difference divided by 1, 2, 3, … _MAX_LATTICE_UNIT_DIVISOR.
_MAX_LATTICE_STEPS = 1 << 28
_MAX_LATTICE_UNIT_DIVISOR = 24
_TIE_TOLERANCE = 1e-9


@dataclass(frozen=True)
class SignFlipPValues:
    """The p-values of sign-flip tests, one per column of differences.

    p : the p-values, which are NaN for columns that contain a value that is not finite.
    exact : whether p comes from all sign patterns, so that p has no Monte-Carlo error.
    smallest_possible_p : the smallest p that is possible with t nonzero differences, which is
        2^(1−t), or 2^−t for the mid-p.
    """

    p: Floats
    exact: Bools
    smallest_possible_p: Floats


def sign_flip_test(
    differences: ArrayLike, *, resamples: int = 10_000, seed: int = 0, enumerate_up_to: int = 16,
    mid: bool = False,
) -> SignFlipPValues:  # fmt: skip
    """Two-sided sign-flip permutation p-values of the mean difference, for many columns at once.

    For t nonzero differences, there are 2^t patterns of signs. The p-value is the share of patterns
    with |Σ ±d| ≥ |Σ d|. If two equally good models attempt each task equally often, the difference
    at a task is as likely to be d as −d, whatever the differences at other tasks are. For such
    models, the probability of p ≤ α is therefore at most α. With different numbers of attempts, d
    and −d are not equally likely, and the test is not valid. For such data, use
    `difference_distribution`.

    If all differences are multiples of one number (for example for pass@1 with equal numbers of
    attempts), a convolution counts all patterns for any number of tasks.
    Otherwise, for more than `enumerate_up_to` nonzero differences, the test draws m random sign
    patterns. If b of these patterns reach the observed sum, p is (b+1)/(m+1).
    Hoeffding's bound for the exact p is 2 exp(−(Σd)² / 2Σd²). If this bound is below the smallest p
    that m patterns can give, the function returns the bound, because a large family of tests needs
    smaller p-values.

    differences : the difference V_A − V_B at each task, (tasks,) or (tasks × columns), with one
    column per comparison. Use the difference 0 for a task that a pair of models does not have.
    resamples : number m ≥ 1 of random sign patterns.  seed : integer ≥ 0.
    enumerate_up_to : the largest number t of nonzero differences for which the test enumerates all
        sign patterns, from 0 to 40. Time and memory grow with 2^(t/2).
    mid : whether patterns with the observed sum have half the weight (mid-p). If equal sums are
        frequent, the mid-p has more power, but the mid-p does not guarantee the significance level
        (benchmarks/comparison.md).

    The random signs depend on the task's position, the number of tasks and the seed. Two sums that
    differ by at most 1e-9 of Σ|d| are treated as equal.
    Edge cases: If all differences are 0, p is 1 and exact. If a column contains NaN or infinity, p
    is NaN.
    Errors: ValueError if `differences` does not have 1 or 2 dimensions, or if a parameter is out of
    range.
    Source: Fisher 1935; Pagano & Tritchler 1983 (convolution); Dwass 1957; Phipson & Smyth 2010
    ((b+1)/(m+1)); Hoeffding 1963 (bound); Horowitz & Sahni 1974 (counting from two halves).

    >>> sign_flip_test([1, 1, 1, 1, 0, 1])
    SignFlipPValues(p=array([0.0625]), exact=array([ True]), smallest_possible_p=array([0.0625]))
    """
    columns = _as_columns(differences)
    if resamples < 1:
        raise ValueError("resamples must be at least 1")
    if not 0 <= enumerate_up_to <= 40:
        raise ValueError("enumerate_up_to must be between 0 and 40")
    finite = np.isfinite(columns).all(axis=0)
    # Differences are scaled to whole numbers, so that sums are exact, and squares neither overflow
    # nor become 0.
    scaled = np.where(finite, columns, 0.0)
    _, exponent = np.frexp(np.abs(scaled).max(axis=0, initial=0.0))
    room = 51 - math.ceil(math.log2(len(scaled) or 1))
    scaled = np.rint(np.ldexp(scaled, room - exponent))
    observed = np.abs(scaled.sum(axis=0))
    slack = np.floor(_TIE_TOLERANCE * np.abs(scaled).sum(axis=0)) + len(scaled)
    moving = np.count_nonzero(scaled, axis=0)
    exact = moving <= enumerate_up_to
    lattices = _lattice_unit_by_column(scaled, ~exact)
    exact[list(lattices)] = True
    square = np.maximum((scaled**2).sum(axis=0), 1.0)
    p = 2 * np.exp(-(observed**2) / (2 * square))
    undecided = np.flatnonzero(exact | (p >= 1 / (resamples + 1)))
    columns_left = scaled[:, undecided]
    observed, slack, sampled = observed[undecided], slack[undecided], ~exact[undecided]
    on = [lattices.get(column) for column in undecided.tolist()]
    p[undecided] = _share_reaching_threshold(
        columns_left, observed - slack, sampled, on, resamples, seed
    )
    if mid:
        more = _share_reaching_threshold(
            columns_left, observed + slack + 1, sampled, on, resamples, seed
        )
        p[undecided] = (p[undecided] + more) / 2
    smallest = np.minimum(np.exp2(1.0 - moving), 1.0) / (2 if mid else 1)
    return SignFlipPValues(
        np.where(finite, p, np.nan), exact & finite, np.where(finite, smallest, np.nan)
    )


def _share_reaching_threshold(
    scaled: Floats, threshold: Floats, sampled: Bools,
    lattices: Sequence[float | None], resamples: int, seed: int,
) -> Floats:  # fmt: skip
    p = np.empty(sampled.shape)
    for column in np.flatnonzero(~sampled).tolist():
        unit = lattices[column]
        share = _share_of_all_patterns if unit is None else partial(_share_by_convolution, unit)
        p[column] = share(scaled[:, column], threshold[column])
    if sampled.any():
        places = np.flatnonzero(sampled)
        reached = _count_reaching_random_patterns(
            scaled[:, places], threshold[places], resamples, seed
        )
        p[places] = (reached + 1) / (resamples + 1)
    return p


def mcnemar(b: ArrayLike, c: ArrayLike) -> Floats:
    """The exact two-sided p-value of McNemar's test, min(1, 2·P(X ≤ min(b, c))).

    In this formula, X has the distribution Binomial(b + c, ½). The test is for one attempt per
    task. There are b tasks that only the first model passes, and c tasks that only the second model
    passes. The p-value equals the exact p-value of `sign_flip_test`.

    b, c : arrays of integers ≥ 0, which are broadcast.
    Returns an array of p-values, which are 1 if b + c = 0. The relative error is at most 1e-12 down
    to the smallest normal number.
    Errors: ValueError if b or c is negative or not a whole number.
    Source: McNemar 1947, here in the exact binomial form.

    >>> mcnemar([0, 5, 10], [0, 0, 2]).round(6).tolist()
    [1.0, 0.0625, 0.038574]
    """
    b, c = np.broadcast_arrays(checked_whole_counts("b", b), checked_whole_counts("c", c))
    pairs = np.stack([np.minimum(b, c).ravel(), np.maximum(b, c).ravel()])
    unique, index = np.unique(pairs, axis=1, return_inverse=True)
    p = np.array([_binomial_two_sided(int(low), int(high)) for low, high in unique.T])
    return p[index.ravel()].reshape(b.shape) if p.size else np.empty(b.shape)


def paired_t(differences: ArrayLike) -> Floats:
    """The two-sided p-values of paired t-tests, 2·P(t_{T−1} ≥ |d̄| / (s/√T)).

    In this formula, d̄ is the mean of T differences d, and s² is Σ(d − d̄)²/(T−1). The t-test is
    valid for many tasks, or for differences with a normal distribution.

    differences : the difference at each task, (tasks,) or (tasks × columns).
    Returns one p-value per column.
    Edge cases: If all differences are 0, p is 1. If all differences are equal but not 0, t is
    undefined and p is NaN. With fewer than two tasks or a difference that is not finite, p is NaN.
    Errors: ValueError if `differences` does not have 1 or 2 dimensions.
    Source: Student 1908, "The probable error of a mean".

    >>> paired_t([0.1, 0.2, 0.0, 0.3]).round(6).tolist()
    [0.102728]
    """
    from passk_cli.scipy_special import stdtr

    columns = _as_columns(differences)
    tasks = len(columns)
    if tasks < 2:
        return np.full(columns.shape[1], np.nan)
    finite = np.isfinite(columns).all(axis=0)
    largest = np.where(finite, np.abs(columns).max(axis=0), 1.0)
    scaled = np.where(finite, columns, 0.0) / np.where(largest > 0, largest, 1.0)
    spread = np.where(np.ptp(scaled, axis=0) <= 1e-12, np.nan, scaled.std(axis=0, ddof=1))
    t = scaled.mean(axis=0) / (spread / math.sqrt(tasks))
    p = np.asarray(2 * stdtr(tasks - 1, -np.abs(t)), dtype=np.float64)
    return np.where(finite, np.where(largest == 0, 1.0, p), np.nan)


def _as_columns(differences: ArrayLike) -> Floats:
    array = np.asarray(differences, dtype=np.float64)
    if array.ndim not in (1, 2):
        raise ValueError("differences must have the shape (tasks,) or (tasks, columns)")
    return array[:, None] if array.ndim == 1 else array


def _share_of_all_patterns(column: Floats, threshold: float) -> float:
    """The share of sign patterns for which the absolute sum is at least the threshold.

    To save time, the function enumerates the patterns of each half of the column separately.
    """
    sizes = np.abs(column[column != 0])
    if threshold <= 0:
        return 1.0
    first, second = np.zeros((2, 1))
    for size in sizes:
        first, second = second, np.concatenate([first - size, first + size])
    first.sort()
    second.sort()
    patterns = first.size * second.size
    short = int(np.searchsorted(second, threshold - first).sum())
    return 2 * (patterns - short) / patterns


def _lattice_unit_by_column(scaled: Floats, candidates: Bools) -> dict[int, float]:
    lattices, steps = {}, 0.0
    for column in np.flatnonzero(candidates).tolist():
        sizes = np.abs(scaled[scaled[:, column] != 0, column])
        for divisor in range(1, _MAX_LATTICE_UNIT_DIVISOR + 1):
            unit = sizes.min() / divisor
            multiples = sizes / unit
            if np.abs(multiples - np.rint(multiples)).max() < 1e-6:
                steps += len(sizes) * float(multiples.sum())
                if steps <= _MAX_LATTICE_STEPS:
                    lattices[column] = float(unit)
                break
    return lattices


def _share_by_convolution(unit: float, column: Floats, threshold: float) -> float:
    steps = np.rint(np.abs(column[column != 0]) / unit).astype(np.int64)
    if threshold <= 0:
        return 1.0
    reach = int(steps.sum())
    chances = np.zeros(2 * reach + 1)
    chances[reach], so_far = 1.0, 0
    for step in np.sort(steps).tolist():
        halved = chances[reach - so_far : reach + so_far + 1].copy() / 2
        chances[reach - so_far : reach + so_far + 1] = 0.0
        chances[reach - so_far - step : reach + so_far - step + 1] += halved
        chances[reach - so_far + step : reach + so_far + step + 1] += halved
        so_far += step
    first = reach + math.ceil(threshold / unit)
    return min(1.0, 2 * float(chances[first:].sum()))


def _count_reaching_random_patterns(
    scaled: Floats, threshold: Floats, resamples: int, seed: int
) -> Ints:
    tasks, columns = scaled.shape
    doubled, total = 2 * scaled, scaled.sum(axis=0)
    rows = max(1, min(RESAMPLES_PER_RANDOM_STREAM, MAX_RANDOM_SIGNS_PER_THREAD // tasks))

    def count(block: int) -> Ints:
        patterns = min(RESAMPLES_PER_RANDOM_STREAM, resamples - block * RESAMPLES_PER_RANDOM_STREAM)
        packed = random_bits(tasks, seed, block)[:patterns]
        reached = np.zeros(columns, dtype=np.int64)
        for row in range(0, patterns, rows):
            signs = np.unpackbits(packed[row : row + rows], axis=1, count=tasks).astype(np.float64)
            for part in row_blocks(columns, 1, _MAX_BLOCK_COLUMNS):
                sums = signs @ doubled[:, part]
                sums -= total[part]
                np.abs(sums, out=sums)
                reached[part] += np.count_nonzero(sums >= threshold[part], axis=0)
        return reached

    with ThreadPoolExecutor(_THREAD_COUNT) as pool:
        parts = list(pool.map(count, range(-(-resamples // RESAMPLES_PER_RANDOM_STREAM))))
    reached: Ints = np.stack(parts).sum(axis=0)
    return reached


def random_bits(tasks: int, seed: int, block: int) -> NDArray[np.uint8]:
    """Random bits that do not depend on the numpy version, as an array (resamples × bytes)."""
    words = -(-tasks // 64)
    generator = named_generator(seed, f"signs {tasks}", block).bit_generator
    raw: NDArray[np.uint64] = generator.random_raw(RESAMPLES_PER_RANDOM_STREAM * words)
    return raw.astype("<u8").view(np.uint8).reshape(RESAMPLES_PER_RANDOM_STREAM, 8 * words)


def _binomial_two_sided(low: int, high: int) -> float:
    """The two-sided p-value min(1, 2·P(X ≤ low)) for X ~ Binomial(low + high, ½)."""
    if low == high:
        return 1.0
    largest = math.comb(low + high, low) / (1 << (low + high - 1))
    i = np.arange(low)
    return min(1.0, largest * (1.0 + float(np.cumprod((low - i) / (high + 1 + i)).sum())))
