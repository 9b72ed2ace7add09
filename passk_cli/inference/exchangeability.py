"""Tests of whether attempts at a task are exchangeable, or show a trend, dependence or copies.

The null hypothesis of each test is that the outcomes of a task are in random order, given the
number of passes, and that tasks are independent. The hypothesis does not depend on the difficulty
of the tasks, so neither a mixture of easy and hard tasks nor clusters of tasks can make a test
significant. passk computes the distribution of each statistic without simulation, so the tests have
no seed and no Monte-Carlo error. The probabilities are accurate to 1e-12 (to 1e-10 for a million
tasks).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import Bools, Floats, Ints
from passk_cli.inference.adjust import holm
from passk_cli.inference.hierarchical_model import count_histogram
from passk_cli.metrics.attempt_order import (
    attempts_and_passes_per_task,
    neighbour_changes,
    trend_scores_and_weights,
    zero_based_positions,
)
from passk_cli.metrics.combinatorics import log_choose

# passk compares at most MAX_POSITIONS_COMPARED_FOR_COPIES attempts per task in pairs, because 1,000
# attempts already have half a million pairs.
MAX_POSITIONS_COMPARED_FOR_COPIES = 1000
# Two attempts look like copies if their outcomes differ at no more than the share COPIED of the
# tasks at which a difference is expected. In addition, their pass rates must imply different
# outcomes on at least _ENOUGH tasks.
COPIED, _ENOUGH = 0.1, 5.0
# p-values of a test that are smaller than SMALLEST_P are raised to SMALLEST_P.
SMALLEST_P = 1e-12
# Beyond _MAX_TAIL_SDS standard deviations, the tail probability of the trend score is negligible.
_MAX_TAIL_SDS = 12.0
_FREQUENCIES_PER_BLOCK = 1 << 7
_NEGLIGIBLE_CHARACTERISTIC_VALUE = 1e-18
_FACTORS_PER_BLOCK = 1 << 12
# Probabilities below exp(−_NEGLIGIBLE_EXPONENT) are neglected in Bernstein's inequality.
_NEGLIGIBLE_EXPONENT = 36.0


def trend_score_variance(n: Ints, c: Ints) -> Floats:
    """Variance of the trend score Σ_i (i − (n−1)/2) x_i over all orders of the outcomes x_i.

    For c passes in n attempts, the variance of the score is c(n−c)(n+1)/12, and the mean is 0.
    Source: Lehmann 1975, "Nonparametrics", equation 1.28.

    >>> trend_score_variance(np.array([3]), np.array([1])).round(6).tolist()
    [0.666667]
    """
    variance: Floats = c * (n - c) * (n + 1.0) / 12.0
    return variance


def neighbour_change_moments(n: Ints, c: Ints) -> tuple[Floats, Floats]:
    """Mean and variance of the number of outcome changes in random orders of a task's outcomes.

    For c passes in n attempts, the mean is 2c(n−c)/n, and the variance is
    2c(n−c)(2c(n−c) − n) / (n²(n−1)).
    Source: Wald & Wolfowitz 1940.

    >>> moments = neighbour_change_moments(np.array([4]), np.array([2]))
    >>> [moment.round(6).tolist() for moment in moments]
    [[2.0], [0.666667]]
    """
    twice = 2.0 * c * (n - c)
    return twice / n, np.maximum(twice * (twice - n), 0.0) / (n**2.0 * np.maximum(n - 1, 1))


def rank_sum_tail(n: Ints, c: Ints, score: float) -> float:
    """The probability P(|S| ≥ |score|) over all orders of the outcomes, for the trend score S.

    The trend score is S = Σ_t Σ_i (i − (n_t−1)/2) x_ti, which is a sum of independent centred rank
    sums. The generating function of a rank sum is a Gaussian binomial coefficient. The
    characteristic function is therefore Π_{j≤c} j sin((n−c+j)ω/2) / ((n−c+j) sin(jω/2)). The
    function inverts the product of the characteristic functions at a prime number of frequencies.

    n, c : attempts and passes of each task.  score : a possible value of S.
    Returns a probability; values below 1e-12 are raised to 1e-12.

    >>> round(rank_sum_tail(np.array([3, 3]), np.array([1, 1]), 2.0), 12)  # 2 of 9 orders
    0.222222222222
    """
    mixed = (c > 0) & (c < n)
    n, c = n[mixed], c[mixed]
    # inner is the number of possible scores strictly between −|score| and |score|.
    inner = round(2 * abs(score)) - 1
    if inner <= 0:
        return 1.0
    sd = math.sqrt(float(trend_score_variance(n, c).sum()))
    # The tails of rank sums are not heavier than the tails of a normal variable with the same
    # variance.
    if abs(score) > _MAX_TAIL_SDS * sd:
        return SMALLEST_P
    values = min(int((c * (n - c)).sum()) + 1, math.ceil(2 * _MAX_TAIL_SDS * sd) + 2)
    count = max(values, int(n.max()) + 1, 3)
    while any(count % divisor == 0 for divisor in range(2, math.isqrt(count) + 1)):
        count += 1
    inside = float(inner)
    for first in range(1, (count + 1) // 2, _FREQUENCIES_PER_BLOCK):
        m = np.arange(first, min(first + _FREQUENCIES_PER_BLOCK, (count + 1) // 2))
        waves = _rank_sum_characteristic_function(n, c, m, count)
        inside += 2 * float(waves @ (_sine(inner, m, count) / _sine(1, m, count)))
        if np.abs(waves).max() < _NEGLIGIBLE_CHARACTERISTIC_VALUE:
            break
    return _clipped_p_value(1.0 - inside / count)


def _rank_sum_characteristic_function(n: Ints, c: Ints, m: Ints, count: int) -> Floats:
    waves = np.ones(len(m))
    fewer = np.minimum(c, n - c)
    for size in np.unique(n).tolist():
        times = np.bincount(fewer[n == size])
        wave = np.ones(len(m))
        for first in range(1, len(times), _FACTORS_PER_BLOCK):
            j = np.arange(first, min(first + _FACTORS_PER_BLOCK, len(times)))
            up, down = (_sine(factor[:, None], m, count) for factor in (size - j + 1, j))
            factors = (j / (size - j + 1))[:, None] * up / down
            factors[0] *= wave
            products = np.multiply.accumulate(factors)
            wave = products[-1]
            for row in np.flatnonzero(times[j]).tolist():
                waves *= products[row] ** times[j[row]]
    return waves


def _sine(j: int | Ints, m: Ints, count: int) -> Floats:
    """sin(π j m / count), with full relative precision for any j m."""
    turn = j * m % (2 * count)
    half = turn % count
    sine = np.sin(np.pi / count * np.minimum(half, count - half))
    return np.where(turn < count, sine, -sine)


def neighbour_change_distribution(n: int, c: int) -> Floats:
    """The probabilities of 0 … n−1 outcome changes in a random order of c passes in n attempts.

    Let f = n − c be the number of failures. Among all C(n, c) orders, C(c−1, r−1) C(f−1, s−1)
    orders have r runs of passes and s = r ± 1 runs of failures. If s = r, there are twice as many
    orders.
    Source: Wald & Wolfowitz 1940.

    >>> neighbour_change_distribution(4, 2).round(6).tolist()
    [0.0, 0.333333, 0.333333, 0.333333]
    """
    probabilities, f = np.zeros(n), n - c
    if c == 0 or f == 0:
        probabilities[0] = 1.0
        return probabilities
    orders = log_choose(n, c)
    r = np.arange(1, min(c, f) + 1)
    probabilities[2 * r - 1] = 2 * np.exp(
        log_choose(c - 1, r - 1) + log_choose(f - 1, r - 1) - orders
    )
    for more, less in ((c, f), (f, c)):
        r = np.arange(1, min(more - 1, less) + 1)
        probabilities[2 * r] += np.exp(
            log_choose(more - 1, r) + log_choose(less - 1, r - 1) - orders
        )
    # Without normalisation, rounding errors of the logarithms would add up over tasks.
    probabilities /= probabilities.sum()
    return probabilities


def sum_distribution(parts: Iterable[tuple[Floats, int]]) -> tuple[int, Floats]:
    """Compute the distribution of a sum of independent whole numbers by FFT. The result is the
    first value, and the probabilities of this value and the following values.

    parts : pairs. The first element contains the probabilities of 0, 1, 2, …, and the second
        element is the number of summands with these probabilities.
    The total probability of all values that are not returned is below 1e-15.

    >>> first, chances = sum_distribution([(np.array([0.5, 0.5]), 2)])
    >>> first, chances.round(6).tolist()
    (0, [0.25, 0.5, 0.25, 0.0])
    """
    parts = list(parts)
    means = [float(p @ np.arange(len(p))) for p, _ in parts]
    spreads = [
        float(p @ (np.arange(len(p)) - mean) ** 2)
        for (p, _), mean in zip(parts, means, strict=True)
    ]
    mean = sum(m * times for m, (_, times) in zip(means, parts, strict=True))
    variance = sum(v * times for v, (_, times) in zip(spreads, parts, strict=True))
    largest = sum((len(p) - 1) * times for p, times in parts)
    width = max(len(p) - 1 for p, _ in parts) * _NEGLIGIBLE_EXPONENT / 3
    reach = width + math.sqrt(width**2 + 2 * _NEGLIGIBLE_EXPONENT * variance)
    points = min(largest + 1, 2 * math.ceil(reach) + 2)
    cells = 1 << max(1, (points - 1).bit_length())
    wave = np.ones(cells // 2 + 1, dtype=np.complex128)
    for p, times in parts:
        wave *= np.fft.rfft(np.bincount(np.arange(len(p)) % cells, p, cells)) ** times
    probabilities = np.maximum(np.fft.irfft(wave, cells), 0.0)
    first = 0 if cells > largest else max(0, round(mean) - cells // 2)
    return first, np.roll(probabilities, -(first % cells))


def lower_tails(distribution: tuple[int, Floats], values: Ints) -> Floats:
    """P(X ≤ value) for each value if X has the given distribution; the result is at least 1e-12."""
    first, reached = distribution[0], np.concatenate([[0.0], np.cumsum(distribution[1])])
    p: Floats = np.clip(
        reached[np.clip(values - first + 1, 0, len(distribution[1]))], SMALLEST_P, 1.0
    )
    return p


def _clipped_p_value(p: float) -> float:
    return min(max(p, SMALLEST_P), 1.0)


@dataclass(frozen=True)
class OrderTest:
    """Result of a test that compares a sum over tasks with the sums for random orders of outcomes.

    null_mean, null_sd : mean and standard deviation of the statistic over all orders of the
        outcomes.
    p : two-sided p-value; NaN if no task is informative.
    informative_task_count : number of informative tasks. Informative tasks have passes, failures
        and (for the test of neighbours) at least 3 attempts.
    """

    statistic: float
    null_mean: float
    null_sd: float
    p: float
    informative_task_count: int


def trend_test(start: Ints, passed: Ints) -> OrderTest:
    """Test of whether later attempts pass more or less often than earlier attempts at a task.

    The statistic S = Σ_t Σ_i (i − (n_t−1)/2) x_ti is positive if later attempts pass more often.
    The p-value P(|S| ≥ |observed|) comes from `rank_sum_tail`. If every task has one pass, the test
    is a test of the positions of these passes. If tasks have many passes, the test is a stratified
    Wilcoxon test.

    start, passed : attempts in the form of `metrics.attempt_order`.
    Source: Cox 1958, "The regression analysis of binary sequences".

    >>> test = trend_test(np.array([0, 3, 6]), np.array([0, 0, 1, 0, 0, 1]))
    >>> test.statistic, round(test.p, 6), test.informative_task_count
    (2.0, 0.222222, 2)
    """
    n, c = attempts_and_passes_per_task(start, passed)
    score = float(trend_scores_and_weights(start, passed)[0].sum())
    tasks = int(((c > 0) & (c < n)).sum())
    p = rank_sum_tail(n, c, score) if tasks else math.nan
    return OrderTest(score, 0.0, math.sqrt(float(trend_score_variance(n, c).sum())), p, tasks)


def neighbour_test(start: Ints, passed: Ints) -> OrderTest:
    """Test whether consecutive attempts at a task are more or less similar than attempts in random
    order.

    The statistic is the number of outcome changes, Σ_t #{i : x_ti ≠ x_t,i+1}. At each task, the
    number of changes is the number of runs of equal outcomes minus one.

    The p-value is P(|changes − mean| ≥ |observed − mean|). A trend of the outcomes can also make
    the test significant.

    start, passed : attempts in the form of `metrics.attempt_order`.
    Source: Wald & Wolfowitz 1940, "On a test whether two samples are from the same population".

    >>> test = neighbour_test(np.array([0, 6]), np.array([0, 0, 0, 1, 1, 1]))
    >>> test.statistic, test.null_mean, round(test.p, 6)
    (1.0, 3.0, 0.2)
    """
    n, c = attempts_and_passes_per_task(start, passed)
    mixed = (c > 0) & (c < n) & (n > 2)
    changed = neighbour_changes(start, passed)[mixed]
    n, c = n[mixed], c[mixed]
    if not len(n):
        return OrderTest(0.0, 0.0, 0.0, math.nan, 0)
    mean, variance = (float(moment.sum()) for moment in neighbour_change_moments(n, c))
    tasks = count_histogram(n, c)
    first, chances = sum_distribution(
        (neighbour_change_distribution(*pair), int(task_count))
        for *pair, task_count in zip(
            tasks.n.tolist(), tasks.c.tolist(), tasks.task_counts, strict=True
        )
    )
    observed, away = float(changed.sum()), np.abs(np.arange(first, first + len(chances)) - mean)
    p = _clipped_p_value(float(chances[away >= abs(observed - mean) - 1e-9].sum()))
    return OrderTest(observed, mean, math.sqrt(variance), p, len(n))


@dataclass(frozen=True)
class CopiesTest:
    """Pairs of attempt positions, and how often the outcomes at the two positions differ.

    first_positions_of_pairs, second_positions_of_pairs : positions of the two attempts, from 0.
    differing_task_counts : number of tasks with different outcomes.
    expected_differing_tasks : mean of `differing_task_counts` over all orders of the outcomes.
    differing_tasks_expected_by_rates : mean of `differing_task_counts` if the attempts at both
        positions keep their pass rates, but pass randomly chosen tasks.
    compared_task_counts : number of tasks that have both attempts, at least one pass and at least
        one failure.
    p : probability of at most `differing_task_counts` differences.  adjusted : p-value adjusted by
        Holm's method.
    """

    first_positions_of_pairs: Ints
    second_positions_of_pairs: Ints
    differing_task_counts: Ints
    expected_differing_tasks: Floats
    differing_tasks_expected_by_rates: Floats
    compared_task_counts: Ints
    p: Floats
    adjusted: Floats

    @property
    def smallest_p(self) -> float:
        """The smallest adjusted p-value of all pairs of attempts; NaN if there are no pairs."""
        return float(self.adjusted.min()) if len(self.adjusted) else math.nan

    @property
    def are_pairs_copies(self) -> Bools:
        """Whether the two attempts of each pair look like copies.

        Two attempts look like copies if they differ on at most a tenth of the expected number of
        tasks. In addition, their pass rates must imply at least five tasks with different outcomes.
        For example, two attempts that pass every task agree, but are not necessarily copies.
        """
        few = self.differing_task_counts <= COPIED * np.minimum(
            self.expected_differing_tasks, self.differing_tasks_expected_by_rates
        )
        return few & (self.differing_tasks_expected_by_rates >= _ENOUGH)


def copies_test(start: Ints, passed: Ints) -> CopiesTest:
    """Test whether two attempts agree on more tasks than expected by chance, as copies would.

    For every pair of positions, the statistic is the number of tasks on which the outcomes differ.
    Over random orders, the outcomes of each task differ independently with probability 2c(n−c) /
    (n(n−1)), so the statistic has a Poisson-binomial distribution. Tasks with only two attempts and
    tasks with equal outcomes of all attempts are not informative. If the pass rate changes with the
    position, some pairs agree more often although they are not copies.
    `CopiesTest.are_pairs_copies` takes the pass rates at the positions into account.

    start, passed : attempts in the form of `metrics.attempt_order`. Only the first 1,000 attempts
        of each task are compared.
    Returns all pairs of attempts in the order of their positions.

    >>> outcomes = np.array([0, 0, 1, 1, 1, 0, 0, 0, 1])
    >>> pairs = copies_test(np.array([0, 3, 6, 9]), outcomes)
    >>> (pairs.differing_task_counts.tolist(), pairs.expected_differing_tasks.tolist(),
    ...  pairs.p.round(6).tolist())
    ([0, 3, 3], [2.0, 2.0, 2.0], [0.037037, 1.0, 1.0])
    """
    n, c = attempts_and_passes_per_task(start, passed)
    mixed = np.flatnonzero((c > 0) & (c < n) & (n > 2))
    n, c = n[mixed], c[mixed]
    width = min(int(n.max(initial=0)), MAX_POSITIONS_COMPARED_FOR_COPIES)
    row = np.full(len(start) - 1, -1)
    row[mixed] = np.arange(len(mixed))
    at, place = np.repeat(row, np.diff(start)), zero_based_positions(start)
    inside = (at >= 0) & (place < width)
    attempted, passes_at = np.zeros((2, len(mixed), width))
    attempted[at[inside], place[inside]] = 1.0
    passes_at[at[inside], place[inside]] = passed[inside]
    differ = passes_at.T @ (attempted - passes_at)
    differ += differ.T
    first, second = np.triu_indices(width, 1)
    p, expected = np.zeros((2, len(first)))
    tasks = (attempted.T @ attempted)[first, second]
    passes = passes_at.T @ attempted
    passes_first, passes_second = passes[first, second], passes[second, first]
    by_rates = (
        passes_first * (tasks - passes_second) + passes_second * (tasks - passes_first)
    ) / np.maximum(tasks, 1)
    share = 2.0 * c * (n - c) / (n * (n - 1.0))
    lengths = np.concatenate([[0], np.unique(np.minimum(n, width))])
    for shorter, longer in zip(lengths[:-1].tolist(), lengths[1:].tolist(), strict=True):
        group = (second >= shorter) & (second < longer)
        shares, times = np.unique(share[n >= longer], return_counts=True)
        distribution = sum_distribution(
            (np.array([1 - q, q]), task_count)
            for q, task_count in zip(shares.tolist(), times.tolist(), strict=True)
        )
        counts = differ[first[group], second[group]].astype(np.int64)
        p[group] = lower_tails(distribution, counts)
        expected[group] = shares @ times
    return CopiesTest(
        first.astype(np.int64), second.astype(np.int64), differ[first, second].astype(np.int64),
        expected, by_rates, tasks.astype(np.int64), p, holm(p),
    )  # fmt: skip
