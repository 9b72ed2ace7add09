"""Group-sequential boundaries: how large |z| must be for a verdict at an interim look.

Each look at a test of level α is another chance of a false alarm, so all looks share one α. When a
share t of the planned tasks is complete, the looks have spent at most α*(t) = min(4 (1 −
Φ(z_{1−α/4} / √t)), α) of α. This spending function of the O'Brien–Fleming type (Lan & DeMets 1983)
is tiny at early looks and close to α near the end.

The method treats the score statistic of the completed tasks as a Brownian motion. Between two
looks, the statistic changes by a normal increment, which comes from the tasks between the looks.
The boundary b_i at look i is chosen so that the probability of a first crossing at look i equals
the part of α that look i may spend. At look i, use the ordinary intervals and tests at level 1 − 2
(1 − Φ(b_i)). The error rate over all looks is then at most α, if the times of the looks do not
depend on the results.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache, partial

import numpy as np

from passk_cli.arrays import Floats
from passk_cli.inference.roots import find_root
from passk_cli.inference.weighted_means import STANDARD_NORMAL

# An interim look has a significance level of at least SMALLEST_LOOK_ALPHA. A look with a level
# below SMALLEST_LOOK_ALPHA leaves its share of α to later looks, because intervals at such small
# levels have not been checked by simulation.
SMALLEST_LOOK_ALPHA = 1e-6
# A boundary of |z| is at most _LARGEST_BOUNDARY, because P(|Z| ≥ 6) is only 2e-9.
_LARGEST_BOUNDARY = 6.0
# _NODES is the number of quadrature nodes per standard deviation of the increment between interim
# looks. The total number of quadrature nodes is rounded up to a multiple of _FEWEST. With _NODES
# nodes per standard deviation, the integral is exact to 1e-12.
_NODES, _FEWEST = 4.0, 32
_BOUNDARY_DECIMALS = 6


def alpha_spent(share: float, alpha: float) -> float:
    """The part of α that looks may spend until the given share of the tasks is complete.

    >>> [round(alpha_spent(share, 0.05), 7) for share in (0.2, 0.6, 1.0)]
    [1.1e-06, 0.0076161, 0.05]
    """
    if share >= 1:
        return alpha
    return min(
        4 * _upper_normal_tail(STANDARD_NORMAL.inv_cdf(1 - alpha / 4) / math.sqrt(share)), alpha
    )


@lru_cache(maxsize=64)
def z_boundaries(shares: tuple[float, ...], alpha: float) -> list[float]:
    """The boundary of |z| at each look; infinite if a look may spend less than
    `SMALLEST_LOOK_ALPHA`.

    shares : the share of the planned tasks that is complete at each look. The shares increase, and
        are above 0 and at most 1.
    alpha : two-sided significance level, in (0, 1).
    Boundaries are rounded up to 6 decimals, so that results do not depend on the processor's
    rounding errors.
    Source: Lan & DeMets 1983; Armitage, McPherson & Rowe 1969 for the recursion.

    >>> [round(b, 3) for b in z_boundaries((0.2, 0.4, 0.6, 0.8, 1.0), 0.05)]
    [4.877, 3.357, 2.68, 2.29, 2.031]
    """
    limits, spent, last = [], 0.0, 0.0
    nodes_before, weights = np.zeros(1), np.ones(1)
    for share in shares:
        budget, step = alpha_spent(share, alpha) - spent, math.sqrt(share - last)
        if budget < SMALLEST_LOOK_ALPHA:
            limits.append(math.inf)
            continue
        beyond = partial(
            _boundary_crossing_chance, nodes_before / step, weights, math.sqrt(share) / step
        )
        b = find_root(
            lambda b, f=beyond, budget=budget: f(b) - budget,  # type: ignore[misc]
            0.0, _LARGEST_BOUNDARY, 1e-9,
        )  # fmt: skip
        b = math.ceil(b * 10**_BOUNDARY_DECIMALS) / 10**_BOUNDARY_DECIMALS
        spent, edge = spent + beyond(b), b * math.sqrt(share)
        nodes, node_weights = _quadrature_nodes_and_weights(
            math.ceil(_NODES * edge / step / _FEWEST) * _FEWEST
        )
        positions = nodes * edge
        density = np.exp(-0.5 * ((positions[:, None] - nodes_before) / step) ** 2) @ weights
        nodes_before, weights, last = (
            positions,
            node_weights * edge * density / (step * math.sqrt(2 * math.pi)),
            share,
        )
        limits.append(b)
    return limits


def _boundary_crossing_chance(places: Floats, weights: Floats, scale: float, b: float) -> float:
    from passk_cli.scipy_special import ndtr

    out = ndtr(places - b * scale) + ndtr(-b * scale - places)
    return float(out @ weights)


@cache
def _quadrature_nodes_and_weights(nodes: int) -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(nodes)


def confidence_level_at_boundary(limit: float) -> float:
    """The confidence level of the ordinary interval for a boundary b: 1 − 2 (1 − Φ(b)).

    >>> round(confidence_level_at_boundary(1.959964), 6)
    0.95
    """
    return 1 - 2 * _upper_normal_tail(limit)


def pass_fail_chances_at_last_look(
    distance: float, error: float, share: float, final: float, prior: float
) -> tuple[float, float]:
    """The probability that a rule passes at the last planned look, and the probability that it
    fails.

    The true distance from the limit of the rule has the prior distribution N(0, prior²). Given the
    completed tasks, the true distance has the distribution N(κ d, κ s²) with κ = 1 / (1 + (s /
    prior)²). The function adds the sampling error of the remaining tasks to this distribution. At
    the last look, the rule gets a verdict if the estimate is at least `final` standard errors away
    from the limit.

    distance : d, the estimate minus the limit of the rule.  error : s > 0, the standard error of d.
    share : share of the planned tasks that is complete, in (0, 1).  final : boundary of |z| at the
        last look.
    prior : standard deviation of plausible distances; infinite if every distance is plausible.

    >>> [round(chance, 2) for chance in pass_fail_chances_at_last_look(0.05, 0.05, 0.5, 2.0, 0.1)]
    [0.22, 0.0]
    """
    shrinkage = 1.0 if math.isinf(prior) else 1 / (1 + (error / prior) ** 2)
    mean = share * distance + (1 - share) * shrinkage * distance
    sd = (1 - share) * error * math.sqrt(shrinkage + share / (1 - share))
    limit = final * error * math.sqrt(share)
    return _upper_normal_tail((limit - mean) / sd), _upper_normal_tail((limit + mean) / sd)


def _upper_normal_tail(z: float) -> float:
    return 0.5 * math.erfc(z / math.sqrt(2))
