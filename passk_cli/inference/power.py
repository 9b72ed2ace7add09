"""Power of the paired test of two models: what a design detects, and what a detection needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from passk_cli.inference.roots import find_root

_MOST_TASKS = 10**9
# Points of the trapezoidal rule; and its range, which ends at exp(−_NEGLIGIBLE).
_POINTS, _NEGLIGIBLE = 2001, 40.0
_MOST_CHOSEN = 30


@dataclass(frozen=True)
class PairedTest:
    """The two-sided test that two models are alike on the same tasks, as it is planned.

    It rejects with probability P(|t'| > t_{1−α/2, T−1}), where t' is noncentral t with T − 1
    degrees of freedom and noncentrality (|δ| − step/T) √(T / (variance (1 − bend δ²))).

    variance : of one task's difference, ≥ 0; NaN if it is unknown.  level : 1 − α.
    step : 0 for the paired t-test. The sign-flip test loses power if sums of differences are on a
        lattice, since ties count against it; its step is half the distance of two such sums,
        `lattice_step`.
    bend : how much the variance falls as the models move apart; 0 if it was measured on two models.
        For similar models around a common value E it is 1 / (4 E (1−E)): the variance of values in
        [0, 1] is proportional to their mean times its complement, which averages E (1−E) − δ²/4 at
        E ± δ/2.
    Source: Student's t; Miller 2024, section 5 (with the normal).

    >>> test = PairedTest(1.0)
    >>> round(test.power(0.5, 34), 4), test.tasks_needed(0.5, 0.8)
    (0.8078, 34)
    >>> round(test.detectable_difference(34, 0.8), 3)
    0.495
    """

    variance: float
    level: float = 0.95
    step: float = 0.0
    bend: float = 0.0

    def power(self, difference: float, tasks: int) -> float:
        """P(rejected) if the models differ by this much in the mean.

        NaN for fewer than two tasks or an unknown variance. 1 − level for a difference within
        step/T of 0, for which the sign-flip test rejects less often.
        """
        if tasks < 2 or math.isnan(self.variance):
            return math.nan
        away = max(abs(difference) - self.step / tasks, 0.0)
        variance = self.variance * max(1.0 - self.bend * difference**2, 0.0)
        if variance <= 0.0:
            return 1.0 if away > 0 else 1.0 - self.level
        return _rejection_chance(away * math.sqrt(tasks / variance), tasks - 1, self.level)

    def tasks_needed(self, difference: float, target_power: float) -> int | None:
        """The fewest tasks with at least this power; None above a billion, or if it is unknown.

        difference : δ > 0.  target_power : in (1 − level, 1).
        """
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
        """The smallest difference that is rejected with this power; NaN as in `power`.

        target_power : in (1 − level, 1). The result may be larger than any possible difference.
        """
        if tasks < 2 or math.isnan(self.variance):
            return math.nan
        shift = self.step / tasks
        if self.variance == 0.0:
            return shift
        noncentrality = _noncentrality(tasks - 1, self.level, target_power)
        # (δ − shift)² scale = 1 − bend δ²
        scale = tasks / (self.variance * noncentrality**2)
        square_term = scale + self.bend
        inside = (scale * shift) ** 2 - square_term * (scale * shift**2 - 1.0)
        return (scale * shift + math.sqrt(max(inside, 0.0))) / square_term


def lattice_step(n: int, k: int) -> float:
    """Half the step of the test statistic for metrics that count subsets: 1 / C(n, k).

    pass@k, pass^k and gpass@k are counts of subsets divided by C(n, k). With n attempts of either
    model, a sum of ± differences therefore moves in steps of 2 / C(n, k). That is 2 for n = k (the
    test is then McNemar's, and this its continuity correction), 2/n for k = 1, and next to nothing
    otherwise.

    >>> lattice_step(5, 5), lattice_step(5, 1)
    (1.0, 0.2)
    """
    # For larger numbers C(n, k) exceeds any float, and the step is 0.
    return 1.0 / math.comb(n, k) if min(k, n - k) <= _MOST_CHOSEN else 0.0


def _rejection_chance(away: float, degrees: int, level: float) -> float:
    """P(|Z + away| > t·S), S² = χ²/degrees: |t'| beyond its critical value.

    The mean of Φ(away − tS) + Φ(−away − tS) by the trapezoidal rule over u = log S, whose density
    ∝ exp(ν (u − e^{2u}/2)) falls fast on both sides.  (`nctdtr` of scipy 1.17 is NaN in places.)
    """
    from passk_cli.scipy_special import ndtr, stdtrit

    reach = math.sqrt(_NEGLIGIBLE / degrees)
    u = np.linspace(-max(reach, _NEGLIGIBLE / degrees), reach, _POINTS)
    weights = np.exp(degrees * (u - np.expm1(2.0 * u) / 2.0))
    bar = stdtrit(degrees, (1.0 + level) / 2.0) * np.exp(u)
    return float(weights @ (ndtr(away - bar) + ndtr(-away - bar)) / weights.sum())


@lru_cache(maxsize=1024)
def _noncentrality(degrees: int, level: float, target_power: float) -> float:
    """The noncentrality that is rejected with this power, from a cache, since designs share it."""

    def lacking(away: float) -> float:
        return _rejection_chance(away, degrees, level) - target_power

    high = 4.0
    while lacking(high) < 0:
        high *= 2.0
    return find_root(lacking, 0.0, high, 1e-12)
