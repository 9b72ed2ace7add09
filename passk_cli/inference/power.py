"""The power of a paired test of two models, and the differences that such a test can detect."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from passk_cli.inference.roots import find_root

_MOST_TASKS = 10**9
_POINTS, _NEGLIGIBLE = 2001, 40.0
_MAX_BINOMIAL_COEFFICIENT_K = 30


@dataclass(frozen=True)
class PairedTest:
    """The planned two-sided test of the hypothesis that two models are equal on the same tasks.

    The power is P(|t'| > t_{1−α/2, T−1}) for T tasks. In this formula, t' has a noncentral t
    distribution with T − 1 degrees of freedom and the noncentrality (|δ| − step/T) √(T / (variance
    (1 − decrease · δ²))).

    variance : variance of the difference at one task, or NaN if it is unknown.
    level : 1 − α for the significance level α.
    continuity_correction : the number `step` in the formula, which is 0 for the paired t-test. The
        sign-flip test has less power if sums of differences are on a lattice. For this test, `step`
        is half the lattice distance (see `half_lattice_distance`).
    variance_drop_per_squared_effect : the number `decrease` in the formula, by which the variance
        decreases per squared difference, or 0 if the variance was measured on two models. For
        similar models with the common mean E, the decrease is 1 / (4 E (1−E)).
    Source: Student's t; Miller 2024, section 5 (with the normal distribution).

    >>> test = PairedTest(1.0)
    >>> round(test.power(0.5, 34), 4), test.tasks_needed(0.5, 0.8)
    (0.8078, 34)
    >>> round(test.detectable_difference(34, 0.8), 3)
    0.495
    """

    variance: float
    level: float = 0.95
    continuity_correction: float = 0.0
    variance_drop_per_squared_effect: float = 0.0

    def power(self, difference: float, tasks: int) -> float:
        """The probability that the test is significant if the models' means differ by `difference`.

        The power is NaN for fewer than two tasks or an unknown variance. If the difference is at
        most step/T, the result is 1 − level, although the sign-flip test is significant less often.
        """
        if tasks < 2 or math.isnan(self.variance):
            return math.nan
        away = max(abs(difference) - self.continuity_correction / tasks, 0.0)
        variance = self.variance * max(
            1.0 - self.variance_drop_per_squared_effect * difference**2, 0.0
        )
        if variance <= 0.0:
            return 1.0 if away > 0 else 1.0 - self.level
        return _rejection_chance(away * math.sqrt(tasks / variance), tasks - 1, self.level)

    def tasks_needed(self, difference: float, target_power: float) -> int | None:
        """The smallest number of tasks with the target power; None if unknown or above 10⁹."""
        if math.isnan(self.variance) or not difference > 0:
            return None
        high = 2
        while self.power(difference, high) < target_power:
            high *= 2
            if high > _MOST_TASKS:
                return None
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            enough = self.power(difference, middle) >= target_power
            low, high = (low, middle) if enough else (middle, high)
        return high

    def detectable_difference(self, tasks: int, target_power: float) -> float:
        """The smallest difference that the test detects with the target power; NaN if unknown."""
        if tasks < 2 or math.isnan(self.variance):
            return math.nan
        shift = self.continuity_correction / tasks
        if self.variance == 0.0:
            return shift
        noncentrality = _noncentrality(tasks - 1, self.level, target_power)
        scale = tasks / (self.variance * noncentrality**2)
        square_term = scale + self.variance_drop_per_squared_effect
        inside = (scale * shift) ** 2 - square_term * (scale * shift**2 - 1.0)
        return (scale * shift + math.sqrt(max(inside, 0.0))) / square_term


def half_lattice_distance(n: int, k: int) -> float:
    """Half the lattice distance of the test statistic, 1 / C(n, k), for metrics that count subsets.

    The values of pass@k, pass^k and gpass@k are numbers of subsets of attempts divided by C(n, k).
    With n attempts by each model, a sum of ± differences therefore changes in steps of 2 / C(n, k).
    This lattice distance is 2 for n = k (McNemar's test with the continuity correction), 2/n for
    k = 1, and close to 0 in other cases.

    >>> half_lattice_distance(5, 5), half_lattice_distance(5, 1)
    (1.0, 0.2)
    """
    return 1.0 / math.comb(n, k) if min(k, n - k) <= _MAX_BINOMIAL_COEFFICIENT_K else 0.0


def _rejection_chance(away: float, degrees: int, level: float) -> float:
    """The probability of a significant result: P(|Z + away| > t·S) with S² = χ²/degrees.

    In this formula, Z is a standard normal variable, and t is the critical value of the test.
    """
    from passk_cli.scipy_special import ndtr, stdtrit

    reach = math.sqrt(_NEGLIGIBLE / degrees)
    u = np.linspace(-max(reach, _NEGLIGIBLE / degrees), reach, _POINTS)
    weights = np.exp(degrees * (u - np.expm1(2.0 * u) / 2.0))
    bar = stdtrit(degrees, (1.0 + level) / 2.0) * np.exp(u)
    return float(weights @ (ndtr(away - bar) + ndtr(-away - bar)) / weights.sum())


@lru_cache(maxsize=1024)
def _noncentrality(degrees: int, level: float, target_power: float) -> float:

    def lacking(away: float) -> float:
        return _rejection_chance(away, degrees, level) - target_power

    high = 4.0
    while lacking(high) < 0:
        high *= 2.0
    return find_root(lacking, 0.0, high, 1e-12)
