"""Success rates of any shape whose tail of hard tasks goes on smoothly: a power law that may bend.

A task's hardness is x = −log odds of its success rate, for hard tasks −log p.  The hazard h(x) is
the chance per unit of x that a task which is at least so hard is no harder: h = b all along is the
power law P(rate < p) = p^b, which makes 1 − pass@k fall as k^−b.  Here log h is a smooth curve:
independent steps among the easy tasks, of which there is data enough, and beyond an onset
increments that remember the one before, so that the curve goes on as it went, ever less surely.
Hardness is cut into cells; how much the curve bends and where the onset lies is weighed by the
evidence (Laplace's approximation), small bends being likelier from the start.

No data tells a task that is never solved from one of p ≪ 1/n.  So a part of the fits, small as it
is, takes some of the unsolved tasks, anything from none to all of them, for never solvable.
Source: Schaeffer et al. 2025 (power laws in k come from power-law tails in p); Kazdan et al. 2025.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from passk_cli.arrays import Bools, Floats, Ints
from passk_cli.laws.likelihood import Likelihood

CELL = 0.5
# Hardness below which tasks are alike (p = 0.95), how far beyond 1/n cells are fitted, and where
# tasks count as never solved (p = 1e-14).
_EASIEST, _BEYOND, _HARDEST = -3.0, 5.0, 32.0
_POINTS = 8  # of a cell, that likelihoods are averaged over
# Standard deviation per unit of hardness of the slope of log h beyond the onset; the onset as a
# share of log n; how far (in hardness) the slope remembers.
SPREADS, ONSETS, MEMORY = (0.1, 0.3, 1.0, 2.0), (0.2, 0.45, 0.7, 0.95), 3.0
# The calmest curve that draws take for each onset: the less of it can be seen before 1/n, the
# less can calm be counted on beyond.
_CALMEST = (0.1, 0.3, 1.0, 1.0)
# log h of the easiest cell and its standard deviation, and that of a unit's steps up to the onset.
_LEVEL, _LEVEL_SD, _STEP_SD = float(np.log(0.3)), 1.5, 2.0
_HIGHEST_LOG = 3.0
# The part of the fits that doubt, and the shares of the unsolved tasks the estimate's doubt takes.
DOUBT, _DOUBTED = 0.1, (0.1, 0.3, 0.5, 0.7, 0.9)
_LONGEST_STEP = 2.0
_BLOCK = 1 << 21  # numbers that a block of fits holds per array


@dataclass(frozen=True)
class Tails:
    """Fitted hazards: (fits × cells) logarithms, what follows beyond them, and a mass at p = 0.

    beyond : (fits × further cells) logarithms of the hazard up to p = 1e-14.
    never : (fits,) share of tasks with p = 0.
    """

    edges: Floats
    log_hazard: Floats
    beyond: Floats
    never: Floats

    def failure(self, ks: ArrayLike) -> Floats:
        """E (1 − p)^k, the probability that all of k attempts at a random task fail: (fits × k)."""
        edges = np.append(self.edges[:-1], _further(self.edges))
        points = edges[:-1, None] + CELL * (np.arange(_POINTS) + 0.5) / _POINTS
        log_fail = -np.logaddexp(0.0, -points)  # log(1 − p)
        fails = np.stack([np.exp(k * log_fail).mean(axis=1) for k in np.asarray(ks, float)], axis=1)
        mass = _masses(np.concatenate([self.log_hazard, self.beyond], axis=1))
        solvable = mass[:, :-1] @ fails + mass[:, -1:]
        never = self.never[:, None]
        failures: Floats = never + (1 - never) * solvable
        return failures


@dataclass(frozen=True)
class Average:
    """Several fits in one, each with its share."""

    tails: Tails
    shares: Floats

    def failure(self, ks: ArrayLike) -> Floats:
        """E (1 − p)^k: (1 × k)."""
        return self.shares[None] @ self.tails.failure(ks)


def _further(edges: Floats) -> Floats:
    """Edges from where the fitted cells end to where tasks count as never solved."""
    start = float(edges[-1])
    count = int(np.ceil((_HARDEST - start) / CELL))
    return np.asarray(start + CELL * np.arange(count + 1), dtype=np.float64)


def _masses(log_hazard: Floats) -> Floats:
    """Probability of each cell, and of what lies beyond the last: (fits × (cells + 1))."""
    hazard = np.exp(log_hazard) * CELL
    survival = np.exp(-np.cumsum(hazard, axis=1))
    before = np.column_stack([np.ones(len(survival)), survival[:, :-1]])
    return np.column_stack([before * -np.expm1(-hazard), survival[:, -1]])


@dataclass(frozen=True)
class SmoothTail:
    """The model for one set of cells (n, c): arrays of equal length, best the distinct pairs.

    >>> model = SmoothTail(np.full(5, 20), np.array([0, 1, 2, 5, 20]))
    >>> tasks = np.array([[30.0, 10.0, 7.0, 10.0, 43.0]])
    >>> model.mean(tasks, model.settle(tasks)).failure([20, 1000]).round(2).tolist()
    [[0.31, 0.1]]
    """

    n: Ints
    c: Ints

    @cached_property
    def edges(self) -> Floats:
        """Where the cells of hardness begin, and where the last one ends."""
        reach = np.log(self.n.max()) + _BEYOND
        count = int(np.ceil((reach - _EASIEST) / CELL))
        return np.asarray(_EASIEST + CELL * np.arange(count + 1), dtype=np.float64)

    @cached_property
    def likelihood(self) -> Floats:
        """(pairs × (cells + 1)): of the counts in each cell, and with p = 0; scaled by row."""
        n, c = self.n[:, None], self.c[:, None]
        logs = np.full((len(self.n), len(self.edges) - 1), -np.inf)
        for point in (np.arange(_POINTS) + 0.5) / _POINTS:
            x = self.edges[:-1] + CELL * point
            one = -c * np.logaddexp(0.0, x) - (n - c) * np.logaddexp(0.0, -x)
            logs = np.logaddexp(logs, one - np.log(_POINTS))
        never = np.where(self.c == 0, 0.0, -np.inf)
        logs = np.column_stack([logs, never])
        scaled: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
        return scaled

    @cached_property
    def priors(self) -> Priors:
        """One for each onset and spread."""
        top = float(np.log(self.n.max()))
        each = list(product(zip(ONSETS, _CALMEST, strict=True), SPREADS))
        roots = [_root(self.edges, spread, share * top) for (share, _), spread in each]
        return Priors(
            np.array([spread for _, spread in each]),
            np.array([spread >= calmest for (_, calmest), spread in each]),
            np.stack([root.T @ root for root in roots]),
            np.stack([np.linalg.inv(root) for root in roots]),
            np.array([np.log(np.abs(np.diag(root))).sum() for root in roots]),
        )

    def settle(self, weights: Floats) -> Settled:
        """The fit under each prior to one weighting (1 × pairs), and how much each is worth."""
        priors = self.priors
        which = np.arange(len(priors.spread))
        every = np.repeat(weights, len(which), axis=0)
        fits = self.fit(every, which, np.full((len(which), len(self.edges) - 1), _LEVEL))
        law = _HazardLikelihood(
            every, self.likelihood, priors.precision, np.full_like(fits, _LEVEL),
            np.zeros((len(fits), 1)),
        )  # fmt: skip
        # Laplace's approximation of the probability of the data under each prior.
        height, *seen = law.look(fits)
        volume = np.maximum(np.linalg.eigvalsh(law.slopes(fits, *seen)[1]), 1e-6)
        logs = height - np.log(volume).sum(axis=1) / 2
        logs += priors.log_root
        evidence = np.exp(logs - logs.max())
        calm, wary = evidence / priors.spread, evidence * priors.seen
        return Settled(fits, calm / calm.sum(), wary / wary.sum())

    def mean(self, weights: Floats, settled: Settled) -> Average:
        """The estimate: the average over priors and doubts, every hazard going on as it went."""
        priors = len(self.priors.spread)
        unsolved = float(weights[0] @ (self.c == 0) / weights.sum())
        never = np.repeat([0.0, *_DOUBTED], priors) * unsolved
        which = np.tile(np.arange(priors), 1 + len(_DOUBTED))
        start = settled.log_hazard[which]
        fits = self.fit(np.repeat(weights, len(which), axis=0), which, start, 0.0, never)
        beyond = _wander(fits[:, -2:], np.zeros(len(fits)), len(_further(self.edges)) - 1, None)
        parts = np.array([1 - DOUBT, *[DOUBT / len(_DOUBTED)] * len(_DOUBTED)])
        shares = np.outer(parts, settled.calm).ravel()
        return Average(Tails(self.edges, fits, beyond, never), shares)

    def draws(self, weights: Floats, settled: Settled, rng: Generator) -> Tails:
        """A fit for each weighting (fits × pairs) that differs as the prior lets it.

        Every fit is drawn towards a curve taken from its prior, so that where the data says
        nothing the fits differ as such curves do.
        """
        count, cells = len(weights), len(self.edges) - 1
        unsolved = weights @ (self.c == 0) / weights.sum(axis=1)
        never = np.where(rng.random(count) < DOUBT, rng.random(count), 0.0) * unsolved
        which = rng.choice(len(settled.wary), size=count, p=settled.wary)
        noise = rng.standard_normal((count, cells))
        offsets = np.empty_like(noise)
        for i in np.unique(which):
            offsets[which == i] = noise[which == i] @ self.priors.spread_root[i].T
        fits = self.fit(weights, which, settled.log_hazard[which], offsets, never)
        spread = self.priors.spread[which]
        beyond = _wander(fits[:, -2:], spread, len(_further(self.edges)) - 1, rng)
        return Tails(self.edges, fits, beyond, never)

    def fit(
        self, weights: Floats, which: Ints, start: Floats, offsets: Floats | float = 0.0,
        never: Floats | float = 0.0,
    ) -> Floats:  # fmt: skip
        """Logarithms of the hazard (fits × cells) of highest penalised likelihood.

        which : the prior of each fit.  offsets : what the curves are drawn towards.
        """
        curves, rows = start.copy(), max(1, _BLOCK // (len(self.n) * start.shape[1]))
        centre = np.broadcast_to(_LEVEL + np.asarray(offsets), start.shape)
        zero = np.broadcast_to(np.asarray(never)[..., None], (len(start), 1))
        for first in range(0, len(start), rows):
            here = slice(first, first + rows)
            precision = self.priors.precision[which[here]]
            law = _HazardLikelihood(
                weights[here], self.likelihood, precision, centre[here], zero[here]
            )
            law.climb(curves[here])
        return curves


@dataclass(frozen=True)
class _HazardLikelihood(Likelihood):
    """The penalised log-likelihood of hazards under several weightings and priors at once."""

    steps: ClassVar[int] = 60
    small_gain: ClassVar[float] = 1e-3
    damping: ClassVar[tuple[float, float]] = (0.0, 1e6)

    likelihood: Floats
    precision: Floats
    centre: Floats
    never: Floats

    def only(self, fits: Bools) -> Self:
        """Some of the fits."""
        names = ("weights", "precision", "centre", "never")
        return replace(self, **{name: getattr(self, name)[fits] for name in names})

    def look(self, place: Floats) -> tuple[Floats, Floats, Floats]:
        """Penalised log-likelihood, mass of each cell, chance of each pair's counts."""
        mass = (1 - self.never) * _masses(place)
        chance = mass @ self.likelihood.T + self.never * self.likelihood[:, -1]
        away = place - self.centre
        fitted = (self.weights * np.log(chance)).sum(axis=1)
        penalty = np.einsum("fi,fij,fj->f", away, self.precision, away) / 2
        return fitted - penalty, mass, chance

    def step(self, place: Floats, damping: Floats, *seen: Floats) -> Floats:
        """A step that is not too long; damped where it did not climb."""
        slope, bends, usual = self.slopes(place, *seen)
        at = np.arange(place.shape[1])
        bends[:, at, at] += damping[:, None] * usual
        step = np.linalg.solve(bends, slope[..., None])[..., 0]
        step *= np.minimum(1.0, _LONGEST_STEP / np.abs(step).max(axis=1, keepdims=True))
        return np.minimum(place + step, _HIGHEST_LOG)

    def damped(self, damping: Floats, up: Bools) -> Floats:
        """Ten times less after a step up; after another four times more, or 1."""
        return np.where(up, damping / 10, np.maximum(4 * damping, 1.0))

    def slopes(self, curve: Floats, mass: Floats, chance: Floats) -> tuple[Floats, Floats, Floats]:
        """Gradient, minus the Hessian, and the diagonal of its part that is never negative.

        The last is the curvature there would be, were each task's cell known.
        """
        own = mass[:, None] * self.likelihood / chance[..., None]  # fits × pairs × cells
        harder = own[..., ::-1].cumsum(axis=-1)[..., ::-1][..., 1:]
        hazard = np.exp(curve) * CELL
        pull = hazard / np.expm1(hazard)
        scores = own[..., :-1] * pull[:, None] - harder * hazard[:, None]
        total = np.einsum("fu,fui->fi", self.weights, own[..., :-1])
        above = np.einsum("fu,fui->fi", self.weights, harder) * hazard
        slope = total * pull - above
        slope -= np.einsum("fij,fj->fi", self.precision, curve - self.centre)
        upper = np.triu(hazard[:, :, None] * (total * pull - above)[:, None], 1)
        weighted = scores * self.weights[..., None]
        bends = self.precision + upper + upper.transpose(0, 2, 1)
        bends += weighted.transpose(0, 2, 1) @ scores
        at = np.arange(curve.shape[1])
        bends[:, at, at] -= total * pull * (1 - hazard) + above * (hazard - 1)
        usual = np.maximum(above - total * pull * (1 - hazard - pull), 1e-8)
        return slope, bends, usual


@dataclass(frozen=True)
class Settled:
    """Fits under every prior (priors × cells), and the priors' shares of the evidence.

    calm : for the estimate; the less a curve bends, the likelier it was from the start.
    wary : for draws; only priors whose calm can be seen before 1/n, all alike from the start.
    """

    log_hazard: Floats
    calm: Floats
    wary: Floats


class Priors(NamedTuple):
    """Gaussian laws of log h: independent steps up to the onset, remembered ones beyond.

    spread : of the slope.  seen : whether so calm a curve can be seen before 1/n.
    precision, spread_root : (priors × cells × cells), inverse of the covariance, and its root.
    log_root : half the log of the determinant of the precision.
    """

    spread: Floats
    seen: Bools
    precision: Floats
    spread_root: Floats
    log_root: Floats


def _root(edges: Floats, spread: float, onset: float) -> Floats:
    """(cells × cells): each row a combination of the cells that is standard normal."""
    cells = len(edges) - 1
    root = np.zeros((cells, cells))
    root[0, 0] = 1 / _LEVEL_SD
    memory, before = np.exp(-CELL / MEMORY), False
    for j in range(1, cells):
        step = np.zeros(cells)
        step[j - 1 : j + 1] = -1, 1
        if edges[j] < onset:
            root[j] = step / (_STEP_SD * np.sqrt(CELL))
            continue
        root[j] = step / (spread * CELL)
        if before:
            last = np.zeros(cells)
            last[j - 2 : j] = -1, 1
            root[j] = (step - memory * last) / (spread * CELL * np.sqrt(1 - memory**2))
        before = True
    return root


def _wander(last: Floats, spread: Floats, cells: int, rng: Generator | None) -> Floats:
    """log h beyond the fitted cells, from its last two values: (fits × cells).

    Without a generator it goes on as it went.
    """
    memory = np.exp(-CELL / MEMORY)
    noise = np.zeros((cells, len(last)))
    if rng is not None:
        noise = rng.standard_normal(noise.shape) * spread * CELL * np.sqrt(1 - memory**2)
    step = last[:, 1] - last[:, 0]
    value, beyond = last[:, 1], np.empty((len(last), cells))
    for j in range(cells):
        step = memory * step + noise[j]
        value = np.minimum(value + step, _HIGHEST_LOG)
        beyond[:, j] = value
    return beyond
