"""Laws of statistics of order when every order of a task's outcomes is as likely as any other.

Given how many of its attempts passed, the order of a task's outcomes is a random permutation, and
tasks are independent: every statistic that adds up over tasks has a law that can be computed.
Nothing is drawn.  Probabilities have an absolute error below 1e-12 (1e-10 at a million tasks).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from passk_cli.arrays import Floats, Ints

#: What a probability below it is given as.
SMALLEST = 1e-12
# Beyond so many standard deviations lies less than 2 exp(−72) = 1e-31 of a sum of rank sums.
_REACH = 12.0
# Frequencies evaluated at once, and the size of a characteristic function that is as good as 0.
_FREQUENCIES = 1 << 7
_VANISHED = 1e-18
# Factors of a characteristic function multiplied at once: 4 MB at so many frequencies.
_STEPS = 1 << 12
# −log of what is neglected in Bernstein's inequality.
_NEGLIGIBLE = 36.0


def trend_variance(n: Ints, c: Ints) -> Floats:
    """Variance of Σ_i (i − (n−1)/2) x_i over the orders of c passes among n: c(n−c)(n+1)/12.

    The mean is 0.  Source: Wilcoxon's rank sum; Lehmann 1975, "Nonparametrics", eq. 1.28.

    >>> trend_variance(np.array([3]), np.array([1])).round(6).tolist()
    [0.666667]
    """
    variance: Floats = c * (n - c) * (n + 1.0) / 12.0
    return variance


def change_moments(n: Ints, c: Ints) -> tuple[Floats, Floats]:
    """(mean, variance) of the neighbours that differ, over the orders of c passes among n.

    2c(n−c)/n and 2c(n−c)(2c(n−c) − n) / (n²(n−1)): the number of runs less one.
    Source: Wald & Wolfowitz 1940, "On a test whether two samples are from the same population".

    >>> [moment.round(6).tolist() for moment in change_moments(np.array([4]), np.array([2]))]
    [[2.0], [0.666667]]
    """
    twice = 2.0 * c * (n - c)
    return twice / n, np.maximum(twice * (twice - n), 0.0) / (n**2.0 * np.maximum(n - 1, 1))


def differing_share(n: Ints, c: Ints) -> Floats:
    """Probability that two given attempts of a task differ: 2c(n−c) / (n(n−1)); n ≥ 2.

    >>> differing_share(np.array([4]), np.array([2])).round(6).tolist()
    [0.666667]
    """
    share: Floats = 2.0 * c * (n - c) / (n * (n - 1.0))
    return share


def rank_sum_tail(n: Ints, c: Ints, score: float) -> float:
    """P(|S| ≥ |score|) for S = Σ_t Σ_i (i − (n_t−1)/2) x_ti over all orders of the outcomes.

    S is a sum of independent centred rank sums.  The generating function of one is a Gaussian
    binomial coefficient, so that its characteristic function is Π_{j≤c} j sin((n−c+j)ω/2) /
    ((n−c+j) sin(jω/2)); their product, inverted on a prime number of frequencies, on which no sine
    vanishes, gives the probability.

    n, c : attempts and passes of each task.  score : a value that S can take.
    Returns a probability; values below 1e-12 are given as 1e-12.

    >>> round(rank_sum_tail(np.array([3, 3]), np.array([1, 1]), 2.0), 12)  # 2 of 9 orders
    0.222222222222
    """
    mixed = (c > 0) & (c < n)
    n, c = n[mixed], c[mixed]
    inner = round(2 * abs(score)) - 1  # how many values of S lie inside (−|score|, |score|)
    if inner <= 0:
        return 1.0
    sd = math.sqrt(float(trend_variance(n, c).sum()))
    # Rank sums are no heavier in the tails than a normal variable of their variance.
    if abs(score) > _REACH * sd:
        return SMALLEST
    values = min(int((c * (n - c)).sum()) + 1, math.ceil(2 * _REACH * sd) + 2)
    count = max(values, int(n.max()) + 1, 3)
    while any(count % divisor == 0 for divisor in range(2, math.isqrt(count) + 1)):
        count += 1
    inside = float(inner)
    for first in range(1, (count + 1) // 2, _FREQUENCIES):
        m = np.arange(first, min(first + _FREQUENCIES, (count + 1) // 2))
        waves = _rank_sum_waves(n, c, m, count)
        inside += 2 * float(waves @ (_sine(inner, m, count) / _sine(1, m, count)))
        if np.abs(waves).max() < _VANISHED:
            break
    return _as_probability(1.0 - inside / count)


def _rank_sum_waves(n: Ints, c: Ints, m: Ints, count: int) -> Floats:
    """The characteristic function of S at the frequencies 2πm/count."""
    waves = np.ones(len(m))
    fewer = np.minimum(c, n - c)
    for size in np.unique(n).tolist():
        times = np.bincount(fewer[n == size])
        wave = np.ones(len(m))
        for first in range(1, len(times), _STEPS):
            j = np.arange(first, min(first + _STEPS, len(times)))
            # From C(n, j−1) to C(n, j), both Gaussian, one after the other.
            up, down = (_sine(each[:, None], m, count) for each in (size - j + 1, j))
            factors = (j / (size - j + 1))[:, None] * up / down
            factors[0] *= wave
            every = np.multiply.accumulate(factors)
            wave = every[-1]
            for row in np.flatnonzero(times[j]).tolist():
                waves *= every[row] ** times[j[row]]
    return waves


def _sine(j: int | Ints, m: Ints, count: int) -> Floats:
    """sin(π j m / count), to full relative precision however large j m is."""
    turn = j * m % (2 * count)
    half = turn % count
    sine = np.sin(np.pi / count * np.minimum(half, count - half))
    return np.where(turn < count, sine, -sine)


def change_law(n: int, c: int) -> Floats:
    """Probabilities of 0, 1, … n−1 neighbours that differ, over the orders of c passes among n.

    r runs of passes and s of failures (s = r, r ± 1) are 2 or 1 ways times C(c−1, r−1) C(f−1, s−1)
    of the C(n, c) orders, f = n − c.  Source: Wald & Wolfowitz 1940.

    >>> change_law(4, 2).round(6).tolist()
    [0.0, 0.333333, 0.333333, 0.333333]
    """
    law, f = np.zeros(n), n - c
    if c == 0 or f == 0:
        law[0] = 1.0
        return law
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])

    def choose(top: int, bottom: Ints) -> Floats:
        logs: Floats = factorials[top] - factorials[bottom] - factorials[top - bottom]
        return logs

    orders = choose(n, np.array([c]))
    r = np.arange(1, min(c, f) + 1)
    law[2 * r - 1] = 2 * np.exp(choose(c - 1, r - 1) + choose(f - 1, r - 1) - orders)
    for more, less in ((c, f), (f, c)):
        r = np.arange(1, min(more - 1, less) + 1)
        law[2 * r] += np.exp(choose(more - 1, r) + choose(less - 1, r - 1) - orders)
    # Rounding in the logarithms would add up over tasks.
    law /= law.sum()
    return law


def law_of_sum(parts: Iterable[tuple[Floats, int]]) -> tuple[int, Floats]:
    """(first value, probabilities) of a sum of independent whole numbers.

    parts : (probabilities of 0, 1, 2, …; how many summands have them).  By FFT, over a window
    beyond which less than 1e-15 lies.

    >>> first, law = law_of_sum([(np.array([0.5, 0.5]), 2)])
    >>> first, law.round(6).tolist()
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
    # Bernstein's inequality, for summands that stay within `width` of their means.
    width = max(len(p) - 1 for p, _ in parts) * _NEGLIGIBLE / 3
    reach = width + math.sqrt(width**2 + 2 * _NEGLIGIBLE * variance)
    points = min(largest + 1, 2 * math.ceil(reach) + 2)
    cells = 1 << max(1, (points - 1).bit_length())
    wave = np.ones(cells // 2 + 1, dtype=np.complex128)
    for p, times in parts:
        wave *= np.fft.rfft(np.bincount(np.arange(len(p)) % cells, p, cells)) ** times
    law = np.maximum(np.fft.irfft(wave, cells), 0.0)
    first = 0 if cells > largest else max(0, round(mean) - cells // 2)
    return first, np.roll(law, -(first % cells))


def tail_beyond(law: tuple[int, Floats], mean: float, value: float) -> float:
    """P(|X − mean| ≥ |value − mean|) for a law of whole numbers; at least 1e-12."""
    first, probabilities = law
    away = np.abs(np.arange(first, first + len(probabilities)) - mean)
    return _as_probability(float(probabilities[away >= abs(value - mean) - 1e-9].sum()))


def tail_below(law: tuple[int, Floats], values: Ints) -> Floats:
    """P(X ≤ value) of each value, for a law of whole numbers; at least 1e-12."""
    first, reached = law[0], np.concatenate([[0.0], np.cumsum(law[1])])
    p: Floats = np.clip(reached[np.clip(values - first + 1, 0, len(law[1]))], SMALLEST, 1.0)
    return p


def _as_probability(p: float) -> float:
    return min(max(p, SMALLEST), 1.0)
