"""The width of the confidence interval of a design before it is run."""

from __future__ import annotations

import math

import numpy as np

from passk_cli.arrays import ArrayLike, Floats
from passk_cli.inference.exact import dirichlet_quantiles
from passk_cli.inference.intervals import distances_to_bound, guard_weights

# The maximum number of distinct values of a distribution. Neighbours beyond that are merged into
# their mean.
_ATOMS = 64
# A smaller variance of shares is only rounding.
_ROUNDING = 1e-12


def guard_widths(
    values: Floats, shares: Floats, tasks: ArrayLike, level: float = 0.95, *,
    bounds: tuple[float, float] = (0.0, 1.0), variance: float | None = None, unit: float = 1.0,
) -> Floats:  # fmt: skip
    """Widths of the guard intervals of T tasks with values that follow their distribution exactly.

    The sample has T·share tasks of each value, which need not be a whole number, because Dirichlet
    weights take any amount. The mean width of random samples is within a tenth of this
    (benchmarks/plan.md).

    values, shares : (atoms,), a task's value and its probability.  tasks : T > 0, (designs,).
    bounds : finite; no value lies beyond them.
    variance : of a task's value, if the distribution does not have it. A smaller variance moves the
        values towards their mean, a larger one means fewer independent tasks.  None for that of the
        distribution.
    unit : tasks in the cluster of an average task, which a guard atom represents.
    Returns widths, from 0 to the distance of the bounds, (designs,).

    >>> guard_widths(np.array([0.0, 1.0]), np.array([0.5, 0.5]), [10, 1000]).round(4).tolist()
    [0.6227, 0.0628]
    """
    values, shares = _merge_atoms(values, shares)
    mean = float(shares @ values)
    distribution_variance = float(shares @ (values - mean) ** 2)
    amounts = designs = np.atleast_1d(np.asarray(tasks, dtype=np.float64))[:, None]
    if variance is not None and distribution_variance > _ROUNDING:
        values = mean + min(math.sqrt(max(variance, 0.0) / distribution_variance), 1.0) * (
            values - mean
        )
        # There is at least one independent task.
        amounts = np.maximum(amounts / max(variance / distribution_variance, 1.0), 1.0)
    tail = (1.0 - level) / 2.0
    counts = amounts * shares
    counts = np.where(counts > _ROUNDING, counts, 0.0)
    atoms_by_bound = []
    for bound, opposite in (bounds, bounds[::-1]):
        away = np.broadcast_to(
            distances_to_bound(values, np.ones_like(values), bound, opposite), counts.shape
        )
        guards = (
            guard_weights(away, np.ones_like(counts), counts)[:, None] * unit * amounts / designs
        )
        atoms = np.broadcast_to(np.append(values, bound), (len(designs), len(values) + 1))
        atoms_by_bound.append((atoms, np.concatenate([counts, guards], axis=1)))
    atoms, weights = map(np.concatenate, zip(*atoms_by_bound, strict=True))
    p = np.repeat([tail, 1.0 - tail], len(designs))
    low, high = np.split(dirichlet_quantiles(atoms, weights, p, np.ones_like(weights)), 2)
    return np.maximum(high - low, 0.0)


def _merge_atoms(values: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Merge neighbours of little probability into their mean, to at most about `_ATOMS` values."""
    order = np.argsort(values, kind="stable")
    values, shares = values[order], shares[order] / shares.sum()
    before = np.cumsum(shares) - shares
    # Rounding below 0 or above 1 would otherwise make extra bins.
    bins = np.clip((before + shares / 2) * _ATOMS, 0, _ATOMS - 1).astype(np.int64)
    mass = np.bincount(bins, shares).astype(np.float64)
    sums = np.bincount(bins, shares * values).astype(np.float64)
    occupied = mass > 0.0
    return sums[occupied] / mass[occupied], mass[occupied]
