"""Power of the paired test of two models: what a design detects, and what a detection needs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

_MOST_TASKS = 10**9
# Points of the trapezoidal rule, and the power of e at whose negative its range ends.
_POINTS, _NEGLIGIBLE = 2001, 40.0
_MOST_CHOSEN = 30


def power(
    difference: float, variance: float, tasks: int, *, level: float = 0.95, step: float = 0.0
) -> float:
    """P(the two-sided paired test rejects) when the models differ by so much in the mean.

    P(|t'| > t_{1−α/2, T−1}), t' noncentral t with T − 1 degrees of freedom and noncentrality
    (|δ| − step/T) √(T / variance).  With step 0 it is the paired t-test.  The sign-flip test needs
    more where sums of differences lie on a lattice, since ties count against it: `step` is half
    the distance of two such sums (see `lattice_step`).

    difference : δ.  variance : of one task's difference, > 0.  tasks : T.  level : 1 − α.
    Returns a probability; NaN for fewer than two tasks or an unknown variance, 1 − level for δ
    within step/T of 0 (the sign-flip test then rejects less).
    Source: Student's t; Miller 2024, "Adding error bars to evals", section 5 (with the normal).

    >>> round(power(0.5, 1.0, 34), 4)
    0.8078
    """
    if tasks < 2 or math.isnan(variance):
        return math.nan
    away = max(abs(difference) - step / tasks, 0.0)
    if variance <= 0.0:
        return 1.0 if away > 0 else 1.0 - level
    return _rejects(away * math.sqrt(tasks / variance), tasks - 1, level)


def tasks_needed(
    difference: float, variance: float, wanted: float, *, level: float = 0.95, step: float = 0.0
) -> int | None:
    """The fewest tasks with at least the wanted power; None above a billion or when not known.

    difference : δ > 0.  wanted : in (1 − level, 1).  The rest as in `power`.

    >>> tasks_needed(0.5, 1.0, 0.8)
    34
    """
    if math.isnan(variance) or not difference > 0:
        return None

    def enough(tasks: int) -> bool:
        return power(difference, variance, tasks, level=level, step=step) >= wanted

    high = 2
    while not enough(high):
        high *= 2
        if high > _MOST_TASKS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def detectable(
    variance: float, tasks: int, wanted: float, *, level: float = 0.95, step: float = 0.0
) -> float:
    """The smallest difference that is detected with the wanted power; NaN as in `power`.

    >>> round(detectable(1.0, 34, 0.8), 4)
    0.495
    """
    if tasks < 2 or math.isnan(variance):
        return math.nan
    needed = _root(lambda away: _rejects(away, tasks - 1, level) - wanted)
    return needed * math.sqrt(variance / tasks) + step / tasks


def lattice_step(n: int, k: int) -> float:
    """Half the distance of two sums of ± differences of metrics that count subsets: 1 / C(n, k).

    pass@k, pass^k and gpass@k are counts of subsets divided by C(n, k), so with n attempts for
    either model a sum of ± differences moves in steps of 2 / C(n, k): 2 where n = k (the test is
    then McNemar's, and this its continuity correction), 2/n for k = 1, nothing otherwise.
    """
    # C(n, k) of more is beyond any float, and the step nothing.
    return 1.0 / math.comb(n, k) if min(k, n - k) <= _MOST_CHOSEN else 0.0


def _rejects(away: float, degrees: int, level: float) -> float:
    """P(|Z + away| > t·S), S² = χ²/degrees: |t'| beyond its critical value.

    The mean of Φ(away − tS) + Φ(−away − tS) by the trapezoidal rule over u = log S, whose density
    ∝ exp(ν (u − e^{2u}/2)) falls fast on both sides.  (`nctdtr` of scipy 1.17 is NaN in places.)
    """
    from scipy.special import ndtr, stdtrit

    reach = math.sqrt(_NEGLIGIBLE / degrees)
    u = np.linspace(-max(reach, _NEGLIGIBLE / degrees), reach, _POINTS)
    weights = np.exp(degrees * (u - np.expm1(2.0 * u) / 2.0))
    bar = stdtrit(degrees, (1.0 + level) / 2.0) * np.exp(u)
    return float(weights @ (ndtr(away - bar) + ndtr(-away - bar)) / weights.sum())


def _root(rising: Callable[[float], float]) -> float:
    """Where a rising function that is negative at 0 crosses it."""
    from scipy.optimize import brentq

    high = 4.0
    while rising(high) < 0:
        high *= 2.0
    return float(brentq(rising, 0.0, high, xtol=1e-12))
