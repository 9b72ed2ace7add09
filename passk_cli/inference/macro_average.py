"""Macro averages, which are means of group means with equal or given weights."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from passk_cli.arrays import ArrayLike, Floats


class MacroAverage(NamedTuple):
    """The weighted mean of group means, with its standard error and its limits.

    A field is NaN if passk cannot compute the field for one of the groups.
    """

    mean: float
    se: float
    low: float
    high: float


def macro_average(
    means: ArrayLike, ses: ArrayLike, lows: ArrayLike, highs: ArrayLike,
    weights: ArrayLike | None = None, *, level: float = 0.95, independent: bool = True,
) -> MacroAverage:  # fmt: skip
    """The weighted mean of group means, Σ wᵢ mᵢ, with Σ wᵢ = 1.

    If the groups are independent, the variance of the weighted mean is Σ wᵢ² seᵢ². The distances of
    the limits from the group means are combined in the same way (method of variance estimates
    recovery):

        low = m − √(Σ wᵢ² dᵢ²) with dᵢ = max(mᵢ − lᵢ, z seᵢ), and similarly for the upper limit

    The limits of the weighted mean are as asymmetric as the limits [lᵢ, uᵢ] of the groups, and they
    are between Σ wᵢ lᵢ and Σ wᵢ uᵢ. Near 0 and 1, the limit of a group may be closer to the group
    mean than the normal distance z seᵢ.

    Groups that share tasks are not independent. For such groups, passk adds the weighted standard
    errors and distances without squares. The sum is an upper bound for any correlation of the
    groups.

    means, ses, lows, highs : the mean, standard error, lower limit and upper limit of each group. A
    standard error that is NaN is computed from the limits: (u − l) / 2z.
    weights : the weight of each group, at least 0, or None for equal weights. The weights are
        divided by their sum.
    level : confidence level of the limits, in (0, 1). In the formulas, z is the normal quantile of
        this level.
    Errors: ValueError if there is no group, or if weights are negative or all 0.
    Source: Zou, Huang and Zhang (2009), Statistics in Medicine 28, 3202–3213, for sums of limits.

    >>> macro_average([0.2, 0.6], [0.03, 0.04], [0.1, 0.5], [0.3, 0.7])._asdict()["se"]
    0.025
    """
    m, se, low, high = (np.asarray(values, dtype=float) for values in (means, ses, lows, highs))
    w = np.ones_like(m) if weights is None else np.asarray(weights, dtype=float)
    if not len(m) or (w < 0).any() or not w.sum() > 0:
        raise ValueError(
            "a macro average needs at least one group, and weights of at least 0 that are not all 0"
        )
    w = w / w.sum()
    z = NormalDist().inv_cdf((1 + level) / 2)
    se = np.where(np.isnan(se), (high - low) / (2 * z), se)

    def total(distances: Floats) -> float:
        return math.fsum((w * distances).tolist())

    def spread(distances: Floats) -> float:
        return math.hypot(*(w * distances)) if independent else total(distances)

    def reach(distances: Floats) -> float:
        return min(spread(np.maximum(distances, z * se)), total(distances))

    mean = total(m)
    return MacroAverage(mean, spread(se), mean - reach(m - low), mean + reach(high - m))
