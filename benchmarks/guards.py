"""The distributions behind `guard` and `hull` as functions, for simulations of coverage.

A limit is on the right side of a value if and only if the probability at the value is on the right
side of α. This saves the root search and allows more repetitions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import ArrayLike, Floats
from passk_cli.inference import weighted_means
from passk_cli.inference.hull_interval import PosteriorAndPivotHullInterval, moment_matched_cdf
from passk_cli.inference.intervals import IntervalData, guard_atom_weights, total_distances_to_bound


def dirichlet_cdf(totals: ArrayLike, weights: ArrayLike, q: float, sizes: ArrayLike = 1.0) -> float:
    """P(Σ G_i a_i / Σ G_i b_i ≤ q) for independent G_i ~ Gamma(α_i); see `dirichlet_quantiles`.

    totals : a_i.  weights : α_i ≥ ½.  sizes : b_i > 0.
    """
    a, alpha, b = np.broadcast_arrays(*(np.asarray(x, float) for x in (totals, weights, sizes)))
    # Gammas of equal atoms add up.
    pairs, index = np.unique(np.stack([a, b]), axis=1, return_inverse=True)
    alpha = np.bincount(index.ravel(), alpha)
    below, above = (
        float(t[0])
        for t in weighted_means._tail_probabilities_at_zero(
            (pairs[0] - q * pairs[1])[None], alpha[None]
        )
    )
    return below if below <= above else 1.0 - above


@dataclass(frozen=True)
class Guards:
    """The weight of the guard atom at the bound that a limit looks towards."""

    atom_weight: Callable[[Floats, Floats, Floats], Floats]

    def weight(self, sample: IntervalData, bound: float) -> float:
        """Weight of the atom at a bound, for the limit that looks towards it."""
        totals, sizes = sample.unit_totals_and_sizes
        opposite = sample.upper_bound if bound == sample.lower_bound else sample.lower_bound
        return float(
            self.atom_weight(
                total_distances_to_bound(totals, sizes, bound, opposite), sizes, np.ones_like(sizes)
            )
        )

    def tails(self, sample: IntervalData, mean: float) -> tuple[float, float]:
        """(P(≤ mean) with the guard below, P(≥ mean) with the guard above)."""
        # The other tail by its mirror image, which keeps all digits of a small one.
        return (self._below(sample, mean, sample.lower_bound, 1.0),
                self._below(sample, mean, sample.upper_bound, -1.0))  # fmt: skip

    def _below(self, sample: IntervalData, mean: float, bound: float, sign: float) -> float:
        totals, sizes = sample.unit_totals_and_sizes
        size = float(sizes @ sizes / sizes.sum())
        atoms = sign * np.append(totals, size * bound)
        weights = np.append(np.ones_like(totals), self.weight(sample, bound))
        return dirichlet_cdf(atoms, weights, sign * mean, np.append(sizes, size))

    def p(self, sample: IntervalData, mean: float) -> float:
        """Twice the smaller tail beyond a mean. It is ≤ α if the interval at 1 − α excludes the
        mean."""
        return min(1.0, 2 * min(self.tails(sample, mean)))


GUARD = Guards(guard_atom_weights)


def holds(hull: PosteriorAndPivotHullInterval, value: float, tail: float) -> bool:
    """Whether the limits of a hull contain a value (of 1 − metric with `rest`)."""
    side = 1.0 - tail if value < hull.estimate else tail
    ends = [
        hull.estimate - hull.error_distribution.quantile(side),
        *hull._estimates_at_rate_limits(tail),
    ]
    if min(ends) <= value <= max(ends):
        return True
    below = float(
        hull.posterior_weights
        @ moment_matched_cdf(value, hull.posterior_means, hull.metric_variance_by_posterior_point)
    )
    return below >= tail if value < hull.estimate else below <= 1.0 - tail
