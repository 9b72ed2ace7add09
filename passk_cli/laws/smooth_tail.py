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

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import ArrayLike, NDArray

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
_STEPS, _LONGEST_STEP = 60, 2.0
# A fit is done when a step gains less than this in log-likelihood.
_SMALL_GAIN = 1e-3
_BLOCK = 1 << 21  # numbers that a block of fits holds per array


@dataclass(frozen=True)
class Tails:
    """Fitted hazards: (fits × cells) logarithms, what follows beyond them, and a mass at p = 0.

    beyond : (fits × further cells) logarithms of the hazard up to p = 1e-14.
    never : (fits,) share of tasks with p = 0.
    """

    edges: NDArray[np.float64]
    log_hazard: NDArray[np.float64]
    beyond: NDArray[np.float64]
    never: NDArray[np.float64]

    def failure(self, ks: ArrayLike) -> NDArray[np.float64]:
        """E (1 − p)^k, the probability that all of k attempts at a random task fail: (fits × k)."""
        edges = np.append(self.edges[:-1], _further(self.edges))
        points = edges[:-1, None] + CELL * (np.arange(_POINTS) + 0.5) / _POINTS
        log_fail = -np.logaddexp(0.0, -points)  # log(1 − p)
        fails = np.stack([np.exp(k * log_fail).mean(axis=1) for k in np.asarray(ks, float)], axis=1)
        mass = _masses(np.concatenate([self.log_hazard, self.beyond], axis=1))
        solvable = mass[:, :-1] @ fails + mass[:, -1:]
        never = self.never[:, None]
        failures: NDArray[np.float64] = never + (1 - never) * solvable
        return failures


@dataclass(frozen=True)
class Average:
    """Several fits in one, each with its share."""

    tails: Tails
    shares: NDArray[np.float64]

    def failure(self, ks: ArrayLike) -> NDArray[np.float64]:
        """E (1 − p)^k: (1 × k)."""
        failures: NDArray[np.float64] = self.shares[None] @ self.tails.failure(ks)
        return failures


def _further(edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edges from where the fitted cells end to where tasks count as never solved."""
    start = float(edges[-1])
    count = int(np.ceil((_HARDEST - start) / CELL))
    return np.asarray(start + CELL * np.arange(count + 1), dtype=np.float64)


def _masses(log_hazard: NDArray[np.float64]) -> NDArray[np.float64]:
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

    n: NDArray[np.int64]
    c: NDArray[np.int64]

    @cached_property
    def edges(self) -> NDArray[np.float64]:
        """Where the cells of hardness begin, and where the last one ends."""
        reach = np.log(self.n.max()) + _BEYOND
        count = int(np.ceil((reach - _EASIEST) / CELL))
        return np.asarray(_EASIEST + CELL * np.arange(count + 1), dtype=np.float64)

    @cached_property
    def likelihood(self) -> NDArray[np.float64]:
        """(pairs × (cells + 1)): of the counts in each cell, and with p = 0; scaled by row."""
        n, c = self.n[:, None], self.c[:, None]
        logs = np.full((len(self.n), len(self.edges) - 1), -np.inf)
        for point in (np.arange(_POINTS) + 0.5) / _POINTS:
            x = self.edges[:-1] + CELL * point
            one = -c * np.logaddexp(0.0, x) - (n - c) * np.logaddexp(0.0, -x)
            logs = np.logaddexp(logs, one - np.log(_POINTS))
        never = np.where(self.c == 0, 0.0, -np.inf)
        logs = np.column_stack([logs, never])
        scaled: NDArray[np.float64] = np.exp(logs - logs.max(axis=1, keepdims=True))
        return scaled

    @cached_property
    def priors(self) -> tuple[_Prior, ...]:
        """One for each spread and onset."""
        top = float(np.log(self.n.max()))
        return tuple(
            _Prior(self.edges, s, share * top, seen=s >= calmest)
            for (share, calmest), s in product(zip(ONSETS, _CALMEST, strict=True), SPREADS)
        )

    def settle(self, weights: NDArray[np.float64]) -> Settled:
        """The fit under each prior to one weighting (1 × pairs), and how much each is worth."""
        which = np.arange(len(self.priors))
        start = np.full((len(which), len(self.edges) - 1), _LEVEL)
        fits = self.fit(np.repeat(weights, len(which), axis=0), which, start)
        law = _HazardLikelihood(
            self.likelihood,
            np.repeat(weights, len(which), axis=0),
            np.stack([p.precision for p in self.priors]),
            np.full_like(fits, _LEVEL),
            np.zeros(len(which)),
        )
        # Laplace's approximation of the probability of the data under each prior.
        volume = np.maximum(np.linalg.eigvalsh(law.slopes(fits)[1]), 1e-6)
        logs = law.height(fits) - np.log(volume).sum(axis=1) / 2
        logs += np.array([p.log_root for p in self.priors])
        evidence = np.exp(logs - logs.max())
        calm = evidence / np.array([p.spread for p in self.priors])
        wary = evidence * [p.seen for p in self.priors]
        return Settled(fits, calm / calm.sum(), wary / wary.sum())

    def mean(self, weights: NDArray[np.float64], settled: Settled) -> Average:
        """The estimate: the average over priors and doubts, every hazard going on as it went."""
        priors = len(self.priors)
        unsolved = float(weights[0] @ (self.c == 0) / weights.sum())
        never = np.repeat([0.0, *_DOUBTED], priors) * unsolved
        which = np.tile(np.arange(priors), 1 + len(_DOUBTED))
        start = settled.log_hazard[which]
        fits = self.fit(np.repeat(weights, len(which), axis=0), which, start, 0.0, never)
        beyond = _wander(fits[:, -2:], np.zeros(len(fits)), len(_further(self.edges)) - 1, None)
        parts = np.array([1 - DOUBT, *[DOUBT / len(_DOUBTED)] * len(_DOUBTED)])
        shares = np.outer(parts, settled.calm).ravel()
        return Average(Tails(self.edges, fits, beyond, never), shares)

    def draws(self, weights: NDArray[np.float64], settled: Settled, rng: Generator) -> Tails:
        """A fit for each weighting (fits × pairs) that differs as the prior lets it.

        Every fit is drawn towards a curve taken from its prior, so that where the data says
        nothing the fits differ as such curves do.
        """
        count, cells = len(weights), len(self.edges) - 1
        unsolved = weights @ (self.c == 0) / weights.sum(axis=1)
        never = np.where(rng.random(count) < DOUBT, rng.random(count), 0.0) * unsolved
        which = rng.choice(len(self.priors), size=count, p=settled.wary)
        noise = rng.standard_normal((count, cells))
        offsets = np.empty_like(noise)
        for i in np.unique(which):
            offsets[which == i] = noise[which == i] @ self.priors[i].spread_root.T
        fits = self.fit(weights, which, settled.log_hazard[which], offsets, never)
        spread = np.array([p.spread for p in self.priors])[which]
        beyond = _wander(fits[:, -2:], spread, len(_further(self.edges)) - 1, rng)
        return Tails(self.edges, fits, beyond, never)

    def fit(
        self,
        weights: NDArray[np.float64],
        which: NDArray[np.int64],
        start: NDArray[np.float64],
        offsets: NDArray[np.float64] | float = 0.0,
        never: NDArray[np.float64] | float = 0.0,
    ) -> NDArray[np.float64]:
        """Logarithms of the hazard (fits × cells) of highest penalised likelihood.

        which : the prior of each fit.  offsets : what the curves are drawn towards.
        """
        fits, cells = start.shape
        centre = np.broadcast_to(_LEVEL + np.asarray(offsets, float), start.shape)
        zero = np.broadcast_to(np.asarray(never, float), (fits,))
        curves = np.empty_like(start)
        rows = max(1, _BLOCK // (len(self.n) * cells))
        for first in range(0, fits, rows):
            here = slice(first, first + rows)
            precision = np.stack([p.precision for p in self.priors])[which[here]]
            law = _HazardLikelihood(
                self.likelihood, weights[here], precision, centre[here], zero[here]
            )
            curves[here] = law.climb(start[here])
        return curves


class _HazardLikelihood:
    """The penalised log-likelihood of hazards under several weightings and priors at once."""

    def __init__(
        self,
        likelihood: NDArray[np.float64],
        weights: NDArray[np.float64],
        precision: NDArray[np.float64],
        centre: NDArray[np.float64],
        never: NDArray[np.float64],
    ) -> None:
        self.likelihood, self.weights = likelihood, weights
        self.precision, self.centre, self.never = precision, centre, never[:, None]

    def only(self, rows: NDArray[np.int64]) -> _HazardLikelihood:
        """Some of the fits."""
        parts = (self.weights, self.precision, self.centre, self.never[:, 0])
        return _HazardLikelihood(self.likelihood, *(part[rows] for part in parts))

    def climb(self, start: NDArray[np.float64]) -> NDArray[np.float64]:
        """Newton steps from `start` (fits × cells), damped where they do not climb."""
        curve, open_, law = start.copy(), np.arange(len(start)), self
        height, damping = law.height(curve), np.zeros(len(start))
        for _ in range(_STEPS):
            here = curve[open_]
            slope, bends, usual = law.slopes(here)
            at = np.arange(here.shape[1])
            bends[:, at, at] += damping[open_, None] * usual
            step = np.linalg.solve(bends, slope[..., None])[..., 0]
            step *= np.minimum(1.0, _LONGEST_STEP / np.abs(step).max(axis=1, keepdims=True))
            curve_next = np.minimum(here + step, _HIGHEST_LOG)
            height_next = law.height(curve_next)
            gain = height_next - height[open_]
            up = gain > 0
            curve[open_[up]], height[open_[up]] = curve_next[up], height_next[up]
            damping[open_] = np.where(up, damping[open_] / 10, np.maximum(4 * damping[open_], 1.0))
            stuck = ~up & (damping[open_] > 1e6)
            stay = ~(stuck | (up & (gain < _SMALL_GAIN)))
            if not stay.any():
                break
            if not stay.all():
                open_ = open_[stay]
                law = self.only(open_)
        return curve

    def _chances(
        self, curve: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mass of each cell among all tasks, and the chance of each pair's counts."""
        mass = (1 - self.never) * _masses(curve)
        return mass, mass @ self.likelihood.T + self.never * self.likelihood[:, -1]

    def height(self, curve: NDArray[np.float64]) -> NDArray[np.float64]:
        """(fits,) penalised log-likelihood."""
        away = curve - self.centre
        fitted = (self.weights * np.log(self._chances(curve)[1])).sum(axis=1)
        penalised: NDArray[np.float64] = (
            fitted - np.einsum("fi,fij,fj->f", away, self.precision, away) / 2
        )
        return penalised

    def slopes(
        self, curve: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Gradient, minus the Hessian, and the diagonal of its part that is never negative.

        The last is the curvature there would be, were each task's cell known.
        """
        mass, chance = self._chances(curve)
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

    log_hazard: NDArray[np.float64]
    calm: NDArray[np.float64]
    wary: NDArray[np.float64]


class _Prior:
    """A Gaussian law of log h: independent steps up to the onset, remembered ones beyond."""

    def __init__(
        self, edges: NDArray[np.float64], spread: float, onset: float, *, seen: bool
    ) -> None:
        self.spread, self.seen = spread, seen
        cells = len(edges) - 1
        root = np.zeros((cells, cells))  # each row a standard normal combination of the cells
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
        self.precision = root.T @ root
        self.spread_root = np.linalg.inv(root)
        self.log_root = float(np.log(np.abs(np.diag(root))).sum())


def _wander(
    last: NDArray[np.float64], spread: NDArray[np.float64], cells: int, rng: Generator | None
) -> NDArray[np.float64]:
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
