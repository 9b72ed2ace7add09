"""Success rates whose hardness is ex-Gaussian: the posterior of the law, and a check of its fit.

A task's hardness is x = −log odds of its success rate, for hard tasks −log p.  Here x = μ + σZ + τE
with Z normal and E exponential: a bell whose hard side is an exponential tail, so that P(rate < p)
falls about as p^(1/τ).  A share ν of the tasks is never solved.  Counts of n attempts say little of
hardness beyond log n; there the priors speak: log σ ~ N(log 1.43, 0.8), log τ ~ N(log 2.86, 0.8),
ν ~ Beta(¼, 3.9), μ flat on [−4, 15].  Their centres are means over published domains: puzzles,
mathematics, jailbreaks.

Nor do such counts tell an exponential tail from none.  So draws for intervals are, as the evidence
has it and with even odds before it, from this law or from the bell alone, τ ≈ 0, with
log σ ~ N(log √(1.43² + 2.86²), 0.5): the same spread of hardness, a lighter tail.

The posterior of (μ, σ, τ, ν) is computed on a grid whose box closes in on where the posterior is:
no chain, no seed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from passk_cli.arrays import Bools, Floats, Ints
from passk_cli.laws.hardness import (
    CELL,
    CENTRES,
    EDGES,
    bin_likelihood,
    bins,
    failure,
    free_likelihood,
    likelihood,
)

# Coordinates of a law: μ; log σ and log τ in standard deviations of their priors from their means;
# the prior probability that ν is smaller.  The box at its widest, and points of the grid in it.
_LOWEST, _HIGHEST = np.array([-4.0, -3.0, -3.0, 0.0]), np.array([15.0, 3.0, 3.0, 1.0])
_POINTS = (16, 12, 12, 32)
_SD, _NEVER, _BELL_SD = 0.8, 0.25, 0.5
# The box by whether it is of bells without a tail, which have one τ, 0.26.
_ENDS = {False: (_LOWEST, _HIGHEST), True: (_LOWEST, np.array([15.0, 3.0, -3.0, 1.0]))}
# The box is laid so many times, each time around the points whose log posterior is at most so far
# below the highest; in the end points are dropped that hold this much of the posterior together.
_LOOKS, _DEPTH, _DROPPED = 3, 12.0, 1e-4
_TINY = 1e-300
_FAR = 8.5  # log Φ is 0 from here on
# Degrees of freedom that bins lose to the law.  Not derived (five would be the textbook's: four
# parameters and the sum): chosen so that simulated laws exceed the limit about as often as meant.
_FIXED = 4


@dataclass(frozen=True)
class PriorCentres:
    """Where the priors lie: medians of σ and τ, and the b of ν ~ Beta(¼, b)."""

    sigma: float
    tau: float
    never: float

    @property
    def bell(self) -> float:
        """The median σ of a bell without a tail: of the law's standard deviation."""
        return float(np.hypot(self.sigma, self.tau))


# From all domains; `benchmarks/extrapolation.py` leaves one out at a time.
PRIOR = PriorCentres(1.43, 2.86, 3.9)


@dataclass(frozen=True)
class Misfit:
    """2 (ℓ of the best spread of any shape − ℓ of the best law), and what it exceeds by chance.

    excess : ≥ 0.  limit : the 0.95 quantile of χ² with as many degrees of freedom as there are
        bins, less four.
    """

    excess: float
    limit: float

    @property
    def fails(self) -> bool:
        """Whether the counts speak against the law."""
        return self.excess > self.limit


@dataclass(frozen=True)
class ExGaussian:
    """Laws of hardness, one a row, and how much of the posterior each holds.

    points : (laws × 4) coordinates.  shares : (laws,), of sum 1.
    steps : (4,) of the grid.  evidence : log of the chance of the counts under the prior, up to a
        term that a law and a bell share.
    """

    points: Floats
    shares: Floats
    steps: Floats
    evidence: float

    @cached_property
    def never(self) -> Floats:
        """ν, the share of tasks never solved: (laws,)."""
        return _never(self.points[:, 3])

    @cached_property
    def mass(self) -> tuple[Floats, Ints]:
        """Mass of each distinct (μ, σ, τ) in each cell, and which of them each law has."""
        shapes, law = np.unique(self.points[:, :3], axis=0, return_inverse=True)
        return _masses(shapes), law.ravel()

    def failure(self, ks: ArrayLike) -> Floats:
        """E (1 − p)^k, the chance that all of k attempts at a random task fail: (laws × k)."""
        mass, law = self.mass
        solvable = (mass @ failure(ks))[law]
        never = self.never[:, None]
        return never + (1 - never) * solvable

    def draws(self, count: int, rng: Generator) -> ExGaussian:
        """`count` laws from the posterior, each anywhere in the grid's cell around its point."""
        chosen = rng.choice(len(self.shares), size=count, p=self.shares)
        away = (rng.random((count, 4)) - 0.5) * self.steps
        points = np.clip(self.points[chosen] + away, _LOWEST, _HIGHEST)
        return ExGaussian(points, np.full(count, 1 / count), self.steps, self.evidence)


def posterior(
    n: Ints, c: Ints, tasks: Floats, *, most: int | None = None, bell: bool = False
) -> ExGaussian:
    """The laws that counts and priors together leave.

    n, c : (pairs,), attempts and passes, best distinct.  tasks : (pairs,) ≥ 0, how many have them;
        need not be whole.
    most : ≥ 0; of tasks with more passes it only counts that they have more.  None: no such limit.
    bell : without the exponential tail.
    Edge cases: counts of a single success rate push σ and τ to the small end of their priors, where
    the law is about a point.  No task at all gives the priors.

    >>> law = posterior(np.full(4, 50), np.array([0, 1, 9, 50]), np.array([60.0, 20, 10, 10]))
    >>> beyond = law.failure([50, 1000])
    >>> round(float(law.shares @ (beyond[:, 1] / beyond[:, 0])), 1)
    0.7
    """
    there = tasks > 0
    n, c, tasks = n[there], c[there], tasks[there]
    if most is not None:
        pairs, tasks = _merged(np.stack([n, np.minimum(c, most + 1)], axis=1), tasks)
        n, c = pairs[:, 0], pairs[:, 1]
    chance = likelihood(n, c)
    if most is not None and np.any(more := c > most):
        ends = np.stack([c[more], n[more]], axis=1)
        chance[more] = bin_likelihood(n[more], ends)
    points = (*_POINTS[:2], 1, _POINTS[3]) if bell else _POINTS
    low, high = lowest, highest = _ENDS[bell]
    for look in range(_LOOKS):
        axes, steps = _grid(low, high, points)
        mass = _widest(points, bell, PRIOR) if look == 0 else _masses(_shapes(axes))
        height = _heights(axes, mass, chance, c == 0, tasks, bell)
        # The next box holds the points that are not far below the highest, and a step around them.
        inside = np.argwhere(height > height.max() - _DEPTH)
        low = np.array([axis[at] for axis, at in zip(axes, inside.min(axis=0), strict=True)])
        high = np.array([axis[at] for axis, at in zip(axes, inside.max(axis=0), strict=True)])
        low, high = np.maximum(low - steps, lowest), np.minimum(high + steps, highest)
    shares = np.exp(height - height.max()).ravel()
    volume = float(np.log(steps[steps > 0]).sum())
    evidence = float(height.max()) + math.log(shares.sum()) + volume
    shares /= shares.sum()
    order = np.argsort(shares, kind="stable")
    support = np.sort(order[np.cumsum(shares[order]) > _DROPPED])
    laws = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 4)
    return ExGaussian(laws[support], shares[support] / shares[support].sum(), steps, evidence)


def either(law: ExGaussian, bell: ExGaussian, count: int, rng: Generator) -> ExGaussian:
    """`count` draws from a law and from a bell, of even odds before the counts."""
    of_bell = 1 / (1 + np.exp(np.clip(law.evidence - bell.evidence, -700, 700)))
    chosen = (rng.random(count) < of_bell)[:, None]
    points = np.where(chosen, bell.draws(count, rng).points, law.draws(count, rng).points)
    return ExGaussian(points, np.full(count, 1 / count), law.steps, law.evidence)


def misfit(law: ExGaussian, n: Ints, c: Ints, tasks: Floats, worth: float = 1.0) -> Misfit:
    """How much likelier the counts, in `hardness.bins`, are under the best spread of any shape.

    law : of `posterior` for these counts.  worth : of how many independent tasks each says as
    much.  How often it exceeds its limit where the law is right:
    `benchmarks/extrapolation.md`.
    """
    from scipy.special import chdtri

    there = tasks > 0
    size = np.concatenate([n[there, None], bins(n[there], c[there])], axis=1)
    distinct, counts = _merged(size, tasks[there])
    chance = bin_likelihood(distinct[:, 0], distinct[:, 1:])
    free = free_likelihood(chance, counts)
    mass, place = law.mass
    never, unsolved = law.never[:, None], distinct[:, 2] == 0
    own = (1 - never) * (mass @ chance.T)[place] + never * unsolved
    log_likelihood = float((np.log(np.maximum(own, _TINY)) @ counts).max())
    freedom = max(1, len(np.unique(bins(int(n.max()), np.arange(n.max() + 1)), axis=0)) - _FIXED)
    return Misfit(worth * max(0.0, 2 * (free - log_likelihood)), float(chdtri(freedom, 0.05)))


def _merged(rows: Ints, tasks: Floats) -> tuple[Ints, Floats]:
    """The distinct rows, and how many tasks have them."""
    distinct, index = np.unique(rows, axis=0, return_inverse=True)
    return distinct, np.bincount(index.ravel(), tasks).astype(np.float64)


def _grid(low: Floats, high: Floats, points: tuple[int, ...]) -> tuple[list[Floats], Floats]:
    """The axes of the grid in this box, and its steps."""
    steps = (high - low) / points
    axes = [
        start + step * (np.arange(count) + 0.5)
        for start, step, count in zip(low, steps, points, strict=True)
    ]
    return axes, steps


def _shapes(axes: list[Floats]) -> Floats:
    """(μ, σ, τ) in coordinates, of every shape on the axes: (shapes × 3)."""
    return np.stack(np.meshgrid(*axes[:3], indexing="ij"), axis=-1).reshape(-1, 3)


@lru_cache(maxsize=2)
def _widest(points: tuple[int, ...], bell: bool, prior: PriorCentres) -> Floats:
    """The masses of the box at its widest, which every posterior starts from.

    points : of its grid.  prior : the one in force, PRIOR.
    """
    return _masses(_shapes(_grid(*_ENDS[bell], points)[0]))


def _heights(
    axes: list[Floats], mass: Floats, chance: Floats, unsolved: Bools, tasks: Floats, bell: bool
) -> Floats:
    """Log-likelihood and log of the prior's density together, over the grid of these axes."""
    own = np.maximum(mass @ chance.T, _TINY)  # shapes × pairs
    never, solved = _never(axes[3]), ~unsolved
    log_likelihood = (np.log(own[:, solved]) @ tasks[solved])[:, None]
    log_likelihood = log_likelihood + tasks[solved].sum() * np.log1p(-never)
    for pair in np.flatnonzero(unsolved):
        log_likelihood += tasks[pair] * np.log(never + (1 - never) * own[:, pair, None])
    sigma, tau = axes[1][:, None, None], axes[2][:, None]
    prior = _log_normal(sigma, 0.0, 1.0) + _log_normal(tau, 0.0, 1.0)
    if bell:
        wider = math.log(PRIOR.bell / PRIOR.sigma) / _SD
        prior = _log_normal(sigma, wider, _BELL_SD / _SD)
    height: Floats = log_likelihood.reshape([len(axis) for axis in axes]) + prior
    return height


def _log_normal(z: Floats, mean: float, sd: float) -> Floats:
    """The logarithm of the normal density."""
    return -(((z - mean) / sd) ** 2) / 2 - math.log(sd * math.sqrt(math.tau))


def _never(below: Floats) -> Floats:
    """ν from the prior probability that it is smaller."""
    from scipy.special import betaincinv

    share: Floats = betaincinv(_NEVER, PRIOR.never, below)
    return np.minimum(share, 1 - 1e-12)


def _masses(shapes: Floats) -> Floats:
    """Mass of each shape in each cell: (shapes × (cells + 1)).

    shapes : (shapes × 3) coordinates.  What lies below the cells counts in the first one, what lies
    above them as never solved.
    """
    from scipy.special import log_ndtr, ndtr

    mu = shapes[:, :1]
    sigma = PRIOR.sigma * np.exp(_SD * shapes[:, 1:2])
    tau = PRIOR.tau * np.exp(_SD * shapes[:, 2:])

    def density(x: Floats) -> Floats:
        z = (x - mu) / sigma - sigma / tau
        bell, near = np.zeros_like(z), z < _FAR
        bell[near] = log_ndtr(z[near])
        return np.exp(bell + (sigma / tau) ** 2 / 2 - (x - mu) / tau) / tau

    mass = CELL * density(CENTRES)
    first, last = EDGES[:1], EDGES[-1:]
    mass[:, :1] += np.maximum(ndtr((first - mu) / sigma) - tau * density(first), 0.0)
    beyond = ndtr((mu - last) / sigma) + tau * density(last)
    whole = np.concatenate([mass, beyond], axis=1)
    probability: Floats = whole / whole.sum(axis=1, keepdims=True)
    return probability
