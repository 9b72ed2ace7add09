"""Limits for the mean of amounts with a long upper tail, such as costs, tokens and times."""

from __future__ import annotations

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.bootstrap_weights import cluster_totals_and_sizes
from passk_cli.inference.difference import difference_distribution

_LEFT_SKEWNESS_RANGE_IN_SES = 1.0, 2.0
_LOWER_DISTANCE_SOFTENING_START = 0.5


def amount_limit_distances(
    values: Floats, quantile: float, clusters: Ints | None
) -> tuple[float, float]:
    """The distances of the lower and the upper limit from the mean amount.

    The limits come from `difference_distribution`, but a lower limit near or below 0 is replaced by
    a limit above 0. The upper limit is at least the limit of a lognormal mean (Cox). If amounts are
    as skewed as prices, a sample of a few tasks contains too little of the upper tail.

    values : the amount of each task, at least 0.
    quantile : quantile of Student's t. The degrees of freedom are the number of units minus 1.
    clusters : for each task, the code of its cluster (from 0), or None if the units are tasks.
    Source: Land 1972; Zou, Huo & Taleban 2009 (lognormal means); benchmarks/cost.md.

    >>> below, above = amount_limit_distances(np.array([1.0, 1.0, 2.0, 8.0]), 3.182, None)
    >>> below < 3.0, above > 20
    (True, True)
    """
    mean = float(values.mean())
    if mean == 0.0:
        return 0.0, 0.0
    distribution = difference_distribution(values, clusters=clusters)
    below, above = (
        quantile * float(error[0]) / mean
        for error in (
            distribution.lower_limit_standard_error,
            distribution.upper_limit_standard_error,
        )
    )
    totals, sizes = cluster_totals_and_sizes(values[:, None], clusters)
    above = max(above, _lognormal_upper_limit_ratio(totals[:, 0] / sizes, quantile) - 1.0)
    return mean * distance_keeping_limit_positive(below), mean * above


def distance_keeping_limit_positive(off: float) -> float:
    """The distance of a lower limit from a positive mean, reduced so that the limit is above 0.

    off : the distance before the reduction. The argument and the result are divided by the mean.

    >>> distance_keeping_limit_positive(0.3), round(distance_keeping_limit_positive(3.0), 4)
    (0.3, 0.9966)
    """
    return (
        off
        if off <= _LOWER_DISTANCE_SOFTENING_START
        else 1.0
        - _LOWER_DISTANCE_SOFTENING_START
        * float(np.exp(1.0 - off / _LOWER_DISTANCE_SOFTENING_START))
    )


def _lognormal_upper_limit_ratio(values: Floats, q: float) -> float:
    """Cox's upper limit for the mean of lognormal amounts, divided by the mean of the amounts.

    The limit is exp(m + s²/2 + q √(s²/T + s⁴/(2 (T−1)))). In this formula, m and s² are the mean
    and the variance of the logarithms of T amounts, and q is a quantile of Student's t. If the
    logarithms are skewed to the left, m is the median of the logarithms, and s² is the variance of
    the upper half. Amounts of 0 are excluded from the logarithms but included in the mean.
    """
    logs = np.log(values[values > 0])
    units = len(logs)
    if units < 2:
        return 0.0
    middle, square = float(logs.mean()), float(logs.var(ddof=1))
    if units > 2 and square > 0:
        error = np.sqrt(6.0 * units * (units - 1) / ((units - 2) * (units + 1) * (units + 3)))
        skew = float(((logs - middle) ** 3).mean()) / float(logs.std()) ** 3
        start, end = _LEFT_SKEWNESS_RANGE_IN_SES
        share = float(np.clip((-skew / error - start) / (end - start), 0.0, 1.0))
        median = float(np.median(logs))
        upper = 2.0 * float((np.maximum(logs - median, 0.0) ** 2).sum()) / (units - 1)
        middle += share * (median - middle)
        square += share * (min(upper, square) - square)
    spread = np.sqrt(square / units + square**2 / (2 * (units - 1)))
    with np.errstate(over="ignore"):
        limit = np.exp(middle + square / 2 + q * spread) * (units / len(values))
    return float(limit / values.mean())
