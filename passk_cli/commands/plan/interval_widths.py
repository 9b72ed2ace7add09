"""The expected widths of confidence intervals in a planned run."""

from __future__ import annotations

import math

import numpy as np

from passk_cli.arrays import ArrayLike, Floats
from passk_cli.inference.intervals import guard_atom_weights, total_distances_to_bound
from passk_cli.inference.weighted_means import dirichlet_quantiles

# If there are more than _MAX_ATOMS distinct task values, neighbouring values are merged.
_MAX_ATOMS = 64
# A variance or a number of tasks below 1e-12 counts as 0, because it is a rounding error.
_NEGLIGIBLE_VARIANCE_OR_COUNT = 1e-12


def guard_interval_widths(
    values: Floats, shares: Floats, tasks: ArrayLike, level: float = 0.95, *,
    bounds: tuple[float, float] = (0.0, 1.0), variance: float | None = None, unit: float = 1.0,
) -> Floats:  # fmt: skip
    """Compute the widths of guard intervals for runs with T tasks from the values of single tasks.

    The width is computed as if each value occurred at T·share tasks, even if T·share is not a whole
    number. The mean width of random samples differs from this width by at most 10 %
    (benchmarks/plan.md).

    values, shares : possible values of a task, and the probability of each value.
    tasks : numbers of tasks T > 0, with one number per design.
    bounds : finite lower and upper bound of all values.
    variance : variance of the value of a task; None for the variance of the distribution. If
        `variance` is smaller than the variance of the distribution, values are moved towards the
        mean. If `variance` is larger, the number of independent tasks is reduced.
    unit : number of tasks in the cluster of an average task.

    Returns one width per design, from 0 to the distance between the bounds.

    >>> values, shares = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    >>> guard_interval_widths(values, shares, [10, 1000]).round(4).tolist()
    [0.6227, 0.0628]
    """
    values, shares = _merge_neighbouring_values(values, shares)
    mean = float(shares @ values)
    distribution_variance = float(shares @ (values - mean) ** 2)
    amounts = designs = np.atleast_1d(np.asarray(tasks, dtype=np.float64))[:, None]
    if variance is not None and distribution_variance > _NEGLIGIBLE_VARIANCE_OR_COUNT:
        values = mean + min(math.sqrt(max(variance, 0.0) / distribution_variance), 1.0) * (
            values - mean
        )
        amounts = np.maximum(amounts / max(variance / distribution_variance, 1.0), 1.0)
    tail = (1.0 - level) / 2.0
    counts = amounts * shares
    counts = np.where(counts > _NEGLIGIBLE_VARIANCE_OR_COUNT, counts, 0.0)
    atoms_by_bound = []
    for bound, opposite in (bounds, bounds[::-1]):
        away = np.broadcast_to(
            total_distances_to_bound(values, np.ones_like(values), bound, opposite), counts.shape
        )
        guards = (
            guard_atom_weights(away, np.ones_like(counts), counts)[:, None]
            * unit
            * amounts
            / designs
        )
        atoms = np.broadcast_to(np.append(values, bound), (len(designs), len(values) + 1))
        atoms_by_bound.append((atoms, np.concatenate([counts, guards], axis=1)))
    atoms, weights = map(np.concatenate, zip(*atoms_by_bound, strict=True))
    p = np.repeat([tail, 1.0 - tail], len(designs))
    low, high = np.split(dirichlet_quantiles(atoms, weights, p, np.ones_like(weights)), 2)
    return np.maximum(high - low, 0.0)


def _merge_neighbouring_values(values: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Merge neighbouring values with small probabilities into at most `_MAX_ATOMS` values."""
    order = np.argsort(values, kind="stable")
    values, shares = values[order], shares[order] / shares.sum()
    before = np.cumsum(shares) - shares
    bins = np.clip((before + shares / 2) * _MAX_ATOMS, 0, _MAX_ATOMS - 1).astype(np.int64)
    mass = np.bincount(bins, shares).astype(np.float64)
    sums = np.bincount(bins, shares * values).astype(np.float64)
    occupied = mass > 0.0
    return sums[occupied] / mass[occupied], mass[occupied]
