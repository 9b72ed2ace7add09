"""How far the mean of amounts may be off: costs, tokens, times, whose distributions have long tails."""

from __future__ import annotations

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.difference import difference_distribution
from passk_cli.inference.weights import cluster_totals

# If the logarithms of amounts are skewed to the left by that many standard errors, they begin not
# to be believed normal; by that many, no more.
_LEFT = 1.0, 2.0
# A lower limit by that many errors is half of the mean; further ones approach 0.
_HALF = 0.5


def amount_reach(values: Floats, quantile: float, clusters: Ints | None) -> tuple[float, float]:
    """How far the limits of the mean of amounts are below and above it.

    By `difference_distribution`, with a lower limit that is bent to stay above 0; above at least as
    far as the limit of a lognormal mean (Cox): if amounts are as skewed as prices are, few tasks
    show too little of the tail.

    values : (tasks,) ≥ 0.  quantile : Student's, at units − 1 degrees of freedom.
    clusters : a code 0 … G−1 per task; then clusters are the units.
    Source: Land 1972; Zou, Huo & Taleban 2009 (lognormal means); benchmarks/cost.md.

    >>> below, above = amount_reach(np.array([1.0, 1.0, 2.0, 8.0]), 3.182, None)
    >>> below < 3.0, above > 20
    (True, True)
    """
    mean = float(values.mean())
    if mean == 0.0:
        return 0.0, 0.0
    law = difference_distribution(values, clusters=clusters)
    below, above = quantile * float(law.below[0]) / mean, quantile * float(law.above[0]) / mean
    totals, sizes = cluster_totals(values[:, None], clusters)
    above = max(above, _lognormal(totals[:, 0] / sizes, quantile) - 1.0)
    return mean * soften_lower_reach(below), mean * above


def soften_lower_reach(off: float) -> float:
    """How far a limit is below a mean that is positive, in units of it: below 1, whatever `off`.

    >>> soften_lower_reach(0.3), round(soften_lower_reach(3.0), 4)
    (0.3, 0.9966)
    """
    return off if off <= _HALF else 1.0 - _HALF * float(np.exp(1.0 - off / _HALF))


def _lognormal(values: Floats, q: float) -> float:
    """The upper limit of the mean of lognormal amounts over their mean, by Cox's method.

    exp(m + s²/2 + q √(s²/T + s⁴/(2 (T−1)))) for the mean m and variance s² of the logarithms.
    If those are skewed to the left, the median and the variance of the upper half come in their
    place.  Amounts of 0 are left out of both and counted.
    """
    logs = np.log(values[values > 0])
    units = len(logs)
    if units < 2:
        return 0.0
    middle, square = float(logs.mean()), float(logs.var(ddof=1))
    if units > 2 and square > 0:
        error = np.sqrt(6.0 * units * (units - 1) / ((units - 2) * (units + 1) * (units + 3)))
        skew = float(((logs - middle) ** 3).mean()) / float(logs.std()) ** 3
        start, end = _LEFT
        share = float(np.clip((-skew / error - start) / (end - start), 0.0, 1.0))
        median = float(np.median(logs))
        upper = 2.0 * float((np.maximum(logs - median, 0.0) ** 2).sum()) / (units - 1)
        middle += share * (median - middle)
        square += share * (min(upper, square) - square)
    spread = np.sqrt(square / units + square**2 / (2 * (units - 1)))
    with np.errstate(over="ignore"):
        limit = np.exp(middle + square / 2 + q * spread) * (units / len(values))
    return float(limit / values.mean())
