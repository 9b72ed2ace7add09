"""The distributions of success rates over tasks that counts allow, and ranges of means over them.

A task has an unknown success rate p, and the rates of tasks have an unknown distribution G.  Counts
allow every G whose log likelihood is near enough to the highest that any distribution reaches.  A
mean over G, such as pass@k = E[1 − (1 − p)^k], then is between its lowest and its highest value
over these distributions.  Both are convex programmes, and a barrier method solves them without
random draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from passk_cli.arrays import Floats, Ints

# Steps of the grid of rates: of arcsin √p, and of log p below the smallest of these.
_ANGLE, _LEAST_ANGLE, _LOG = 0.04, 0.004, 0.25
# The smallest rate above 0, times the largest k: so rare a pass and none are the same.
_RAREST = 0.02
# Sharpness of the barrier for the likelihood, step by step.
_SHARPNESS = (1.0, 10.0, 100.0, 1e3, 1e4)
# From a likelihood of this sharpness a search starts: every rate has a share.
_SMOOTH = 100.0
_STEPS, _SMALL_GAIN = 100, 1e-4
# Bins of expected passes, and the share of tasks below which one is left out.
_BINS, _EVEN_BINS, _UNSEEN = 40, 120, 1e-9
# A relative likelihood with a lower logarithm counts as 0: numbers near the smallest are slow.
_NEVER = -300.0
# Slopes of the likelihood along a mean from 0 to 1: the first, and how many are tried.
_FIRST_SLOPE, _MOST_SLOPES = 20.0, 30
# An end is accurate to _GAP. The search stops when the likelihood is this close to its floor.
_GAP, _SMALL_SLACK = 3e-4, 0.05


@dataclass(frozen=True)
class _BarrierFunction:
    """sharpness · (slope · mean of the values − log likelihood) − Σ log masses, to be minimised.

    Its minimum is off that without the logarithms by (rates) / sharpness at most.
    """

    chance: Floats
    tasks: Floats
    sharpness: float
    values: Floats
    slope: float = 0.0

    def height(self, masses: Floats) -> float:
        """The value at masses (rates,); infinite if a mass is not above 0."""
        if masses.min() <= 0:
            return math.inf
        fall = self.slope * (self.values @ masses) - self.tasks @ np.log(self.chance @ masses)
        return float(self.sharpness * fall - np.log(masses).sum())

    def slopes(self, masses: Floats) -> tuple[Floats, Floats]:
        """Gradient (rates,) and Hessian (rates × rates)."""
        fit = self.chance @ masses
        share = self.tasks / fit
        rise = self.slope * self.values - share @ self.chance
        bend = (self.chance.T * (self.sharpness * share / fit)) @ self.chance
        return self.sharpness * rise - 1 / masses, bend + np.diag(masses**-2.0)


def _minimizing_masses(objective: _BarrierFunction, masses: Floats) -> Floats:
    """The masses, of sum 1, at which the barrier function is lowest, by Newton steps from these."""
    height = objective.height(masses)
    for _ in range(_STEPS):
        gradient, bend = objective.slopes(masses)
        # In units of the masses the Hessian is near to the identity.
        right_sides = np.stack([gradient * masses, masses], axis=1)
        solved = np.linalg.solve(bend * np.outer(masses, masses), right_sides)
        solved_gradient, solved_sum = solved.T
        step = masses @ solved_gradient / (masses @ solved_sum) * solved_sum - solved_gradient
        gain = -float(gradient * masses @ step)
        if gain < 2 * _SMALL_GAIN:
            break
        length = 1.0 if gain < 0.1 else min(1.0, 0.99 / max(-float(step.min()), 1e-9))
        best, best_height = masses, height
        # The first length that descends may end near the edge: the lowest of its halves is taken.
        while length > 1e-8:
            ahead = masses * (1 + length * step)
            ahead_height = objective.height(ahead / ahead.sum())
            if best is not masses and ahead_height >= best_height:
                break
            if ahead_height <= height - 0.1 * length * gain:
                best, best_height = ahead / ahead.sum(), ahead_height
            length /= 2
        if best is masses:
            break
        masses, height = best, best_height
    return masses


def maximum_likelihood(chance: Floats, tasks: Floats) -> tuple[float, Floats, Floats]:
    """The highest log likelihood of any masses, accurate to (rates) / 10,000.

    The result also contains these masses, and smooth ones: (rates,) both. max Σ tasks · log(chance
    @ masses) is the nonparametric maximum likelihood of a mixture.

    chance : (pairs × rates) > 0 somewhere in each row.  tasks : (pairs,) > 0.
    Source: Kiefer & Wolfowitz 1956; Lindsay 1983.

    >>> two = np.array([[1.0, 0.2], [0.2, 1.0]])
    >>> round(maximum_likelihood(two, np.array([3.0, 3.0]))[0] / 6, 3)  # log 0.6
    -0.511
    """
    scale = chance.max(axis=1, keepdims=True)
    relative = chance / scale
    smooth = masses = np.full(chance.shape[1], 1 / chance.shape[1])
    for sharpness in _SHARPNESS:
        masses = _minimizing_masses(_BarrierFunction(relative, tasks, sharpness, masses), masses)
        smooth = masses if sharpness == _SMOOTH else smooth
    height = float(tasks @ (np.log(relative @ masses) + np.log(scale[:, 0])))
    return height, masses, smooth


def rate_grid(most_attempts: int, most_k: int) -> Floats:
    """Success rates from 0 to 1, dense enough for these attempts and up to this k: (rates,).

    Even in log p as far as that is denser, then in arcsin √p, by two standard errors or less.

    >>> grid = rate_grid(20, 1_000)
    >>> len(grid), float(grid[0]), float(grid[-1])
    (69, 0.0, 1.0)
    """
    step = max(min(_ANGLE, 1 / math.sqrt(most_attempts)), _LEAST_ANGLE)
    first = 2 * step / _LOG
    angles = np.linspace(first, math.pi / 2, math.ceil((math.pi / 2 - first) / step) + 1)
    common = np.sin(angles) ** 2
    rarest = _RAREST / max(most_k, most_attempts)
    rare = math.ceil(math.log(common[0] / rarest) / _LOG)
    return np.concatenate([[0.0], np.geomspace(rarest, common[0], rare + 1)[:-1], common])


def count_likelihood(n: Ints, c: Ints, rates: Floats) -> Floats:
    """p^c (1 − p)^(n − c), relative to the most that any of the rates gives it: (pairs × rates).

    >>> count_likelihood(np.array([2]), np.array([1]), np.array([0.0, 0.5, 1.0])).tolist()
    [[0.0, 1.0, 0.0]]
    """
    from passk_cli.scipy_special import xlog1py, xlogy

    logs = xlogy(c[:, None], rates) + xlog1py((n - c)[:, None], -rates)
    relative: Floats = np.exp(np.maximum(logs - logs.max(axis=1, keepdims=True), _NEVER))
    return np.where(relative > math.exp(_NEVER), relative, 0.0)


def likelihood_drop(level: float) -> float:
    """How far the log likelihood of an allowed distribution may be below the highest.

    Half the quantile of χ² with one degree of freedom.

    >>> round(likelihood_drop(0.95), 2)
    1.92
    """
    from passk_cli.scipy_special import ndtri

    return float(ndtri((1 + level) / 2)) ** 2 / 2


@dataclass(frozen=True)
class CompatibleRates:
    """All distributions of success rates on a grid that counts allow at a confidence level.

    n, c : (pairs,), attempts and passes.  tasks : (pairs,) > 0, how many tasks have them; with
        clusters, of how many independent tasks they are worth.
    rates : (rates,), of `rate_grid`.  level : confidence level, see `likelihood_drop`.
    thresholds : rates that the grid has in addition, because a mean changes at them by a jump.

    >>> solved = CompatibleRates.from_tasks(np.full(30, 20), np.arange(30) % 5, most_k=100)
    >>> low, high = solved.mean_range(solved.rates)  # pass@1
    >>> bool(low < 0.1 < high)
    True
    """

    n: Ints
    c: Ints
    tasks: Floats
    rates: Floats
    level: float = 0.95
    thresholds: tuple[float, ...] = ()

    @classmethod
    def from_tasks(
        cls, n: Ints, c: Ints, *, most_k: int, level: float = 0.95, worth: float = 1.0,
        thresholds: tuple[float, ...] = (),
    ) -> CompatibleRates:  # fmt: skip
        """The distributions that attempts and passes (tasks,) allow.

        most_k : the largest k for which a range is computed.
        worth : how many independent tasks one task is worth: 1, or with clusters less.
        """
        pairs, tasks = np.unique(np.stack([n, c]), axis=1, return_counts=True)
        worths: Floats = tasks.astype(np.float64) * worth
        grid = np.union1d(rate_grid(int(n.max()), most_k), thresholds)
        return cls(pairs[0], pairs[1], worths, grid, level, thresholds)

    @cached_property
    def chance(self) -> Floats:
        """How likely each pair is at each rate, up to a factor: (pairs × rates)."""
        return count_likelihood(self.n, self.c, self.rates)

    @cached_property
    def _maximum_likelihood(self) -> tuple[float, Floats, Floats]:
        return maximum_likelihood(self.chance, self.tasks)

    @property
    def smooth_masses(self) -> Floats:
        """Masses of an allowed distribution in which every rate has a share: (rates,)."""
        return self._maximum_likelihood[2]

    @property
    def _likelihood_floor(self) -> float:
        return self._maximum_likelihood[0] - likelihood_drop(self.level)

    def mean_range(self, values: Floats) -> tuple[float, float]:
        """The lowest and the highest mean of these values over all allowed distributions.

        values : (rates,), a(p) at each of `rates`; the mean is ∫ a(p) dG(p).
        The interval errs outwards, by less than 0.001 of the values' spread.
        """
        return self.lowest_mean(values), -self.lowest_mean(-values)

    def lowest_mean(self, values: Floats) -> float:
        """The lowest mean of these values over all allowed distributions, see `mean_range`.

        For any slope w > 0 it is at least  min [mean − (log likelihood − floor) / w]  over all
        distributions, and equal to it at the w for which the log likelihood comes to the floor.
        """
        least, spread = float(values.min()), float(np.ptp(values))
        if spread == 0:
            return least
        scaled, masses, best = (values - least) / spread, self.smooth_masses, 0.0
        low, high, slope = 0.0, math.inf, _FIRST_SLOPE
        for _ in range(_MOST_SLOPES):
            sharpness = len(values) / (_GAP * slope)
            masses = _minimizing_masses(
                _BarrierFunction(self.chance, self.tasks, sharpness, scaled, slope), masses
            )
            slack = float(self.tasks @ np.log(self.chance @ masses)) - self._likelihood_floor
            best = max(best, float(scaled @ masses) - slack / slope - _GAP)
            if abs(slack) < _SMALL_SLACK or 0 < slack < _GAP * slope:
                break
            low, high = (slope, high) if slack > 0 else (low, slope)
            # What a slope costs in likelihood grows about as its square.
            drop = likelihood_drop(self.level)
            guess = slope * math.sqrt(drop / max(drop - slack, drop / 100))
            between = math.sqrt(max(low, high / 100) * min(high, low * 100))
            slope = guess if low < guess < high else between
        return least + spread * best

    def with_attempts(self, attempts: int) -> CompatibleRates:
        """What tasks like these would allow with this many attempts per task: expected counts.

        The rates of the tasks come from `smooth_masses`.
        """
        from scipy.stats import binom

        # Small numbers of passes have bins of their own; a wider bin counts as its middle.
        first = np.geomspace(1, attempts, _BINS)
        if self.thresholds:
            # Rates far from 0 matter as well: bins of less than a standard error.
            first = attempts * np.sin(np.linspace(0, math.pi / 2, _EVEN_BINS)) ** 2
        first = np.unique(np.concatenate([[0], first.round().astype(np.int64)]))
        least = binom.sf(first[:, None] - 1, attempts, self.rates)
        share = (
            least - np.concatenate([least[1:], np.zeros((1, len(self.rates)))])
        ) @ self.smooth_masses
        likely_bins = share > _UNSEEN
        passes = np.concatenate([(first[:-1] + first[1:] - 1) // 2, first[-1:]])[likely_bins]
        tasks: Floats = self.tasks.sum() * share[likely_bins] / share[likely_bins].sum()
        grid = rate_grid(attempts, round(_RAREST / self.rates[1]))
        grid = np.union1d(grid, self.thresholds)
        n = np.full(len(tasks), attempts)
        return CompatibleRates(n, passes, tasks, grid, self.level, self.thresholds)
