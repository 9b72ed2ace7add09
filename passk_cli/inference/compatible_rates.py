"""Compute the range of a mean over all distributions of success rates that are compatible with
counts.

A task has an unknown success rate p, and the rates of the tasks have an unknown distribution G. A
distribution G is compatible with the counts if its log likelihood is close enough to the maximum
over all distributions. The range of a mean over G, such as pass@k = E[1 − (1 − p)^k], extends from
the minimum to the maximum over the compatible distributions. The minimum and the maximum are
solutions of convex programs, which a barrier method finds without random draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from passk_cli.arrays import Floats, Ints

# The grid of rates p has steps between _LEAST_ANGLE and _ANGLE on the scale arcsin √p. Near p = 0,
# the grid has steps of _LOG on the scale log p.
_ANGLE, _LEAST_ANGLE, _LOG = 0.04, 0.004, 0.25
# The smallest rate above 0 on the grid is _SMALLEST_RATE_TIMES_K divided by the largest k. At the
# smallest rate, even k attempts hardly ever contain a pass.
_SMALLEST_RATE_TIMES_K = 0.02
# _BARRIER_SHARPNESS_STEPS lists the weights of the log likelihood in successive steps of the
# barrier method.
_BARRIER_SHARPNESS_STEPS = (1.0, 10.0, 100.0, 1e3, 1e4)
_SMOOTH_MASSES_BARRIER_SHARPNESS = 100.0
# The search takes at most _STEPS Newton steps, and stops if a step gains less than _SMALL_GAIN.
_STEPS, _SMALL_GAIN = 100, 1e-4
# Pass counts are grouped into _BINS bins, or into _EVEN_BINS bins if the metric uses thresholds.
# passk ignores a bin that contains at most the share _UNSEEN of the tasks.
_BINS, _EVEN_BINS, _UNSEEN = 40, 120, 1e-9
# Relative likelihoods with a logarithm below _MIN_LOG_RELATIVE_LIKELIHOOD are set to 0, because
# arithmetic with numbers near the smallest float is slow.
_MIN_LOG_RELATIVE_LIKELIHOOD = -300.0
_FIRST_SLOPE, _MOST_SLOPES = 20.0, 30
# _GAP is the tolerance for the minimum of the mean. _SMALL_SLACK is the tolerance for the
# difference between the log likelihood and its limit.
_GAP, _SMALL_SLACK = 3e-4, 0.05


@dataclass(frozen=True)
class _BarrierFunction:
    """The function that the barrier method minimises over the probability masses of the success
    rates."""

    likelihoods: Floats
    task_counts: Floats
    sharpness: float
    values_at_rates: Floats
    mean_weight: float = 0.0

    def value_at(self, masses: Floats) -> float:
        """The value of the barrier function at the given masses. The value is infinite if a mass is
        not positive."""
        if masses.min() <= 0:
            return math.inf
        fall = self.mean_weight * (self.values_at_rates @ masses) - self.task_counts @ np.log(
            self.likelihoods @ masses
        )
        return float(self.sharpness * fall - np.log(masses).sum())

    def gradient_and_hessian(self, masses: Floats) -> tuple[Floats, Floats]:
        """The gradient and the Hessian matrix of the barrier function at the given masses."""
        fit = self.likelihoods @ masses
        share = self.task_counts / fit
        rise = self.mean_weight * self.values_at_rates - share @ self.likelihoods
        bend = (self.likelihoods.T * (self.sharpness * share / fit)) @ self.likelihoods
        return self.sharpness * rise - 1 / masses, bend + np.diag(masses**-2.0)


def _minimizing_masses(objective: _BarrierFunction, masses: Floats) -> Floats:
    height = objective.value_at(masses)
    for _ in range(_STEPS):
        gradient, bend = objective.gradient_and_hessian(masses)
        right_sides = np.stack([gradient * masses, masses], axis=1)
        solved = np.linalg.solve(bend * np.outer(masses, masses), right_sides)
        solved_gradient, solved_sum = solved.T
        step = masses @ solved_gradient / (masses @ solved_sum) * solved_sum - solved_gradient
        gain = -float(gradient * masses @ step)
        if gain < 2 * _SMALL_GAIN:
            break
        length = 1.0 if gain < 0.1 else min(1.0, 0.99 / max(-float(step.min()), 1e-9))
        best, best_height = masses, height
        while length > 1e-8:
            ahead = masses * (1 + length * step)
            ahead_height = objective.value_at(ahead / ahead.sum())
            if best is not masses and ahead_height >= best_height:
                break
            if ahead_height <= height - 0.1 * length * gain:
                best, best_height = ahead / ahead.sum(), ahead_height
            length /= 2
        if best is masses:
            break
        masses, height = best, best_height
    return masses


def maximum_log_likelihood_and_masses(
    chance: Floats, tasks: Floats
) -> tuple[float, Floats, Floats]:
    """The maximum log likelihood over all distributions of success rates on a grid.

    The function maximises Σ tasks · log(chance @ masses) over the probability masses of the rates.
    The maximum is the nonparametric maximum likelihood of a mixture. The error of the result is at
    most the number of rates divided by 10,000. The function also returns the masses at the maximum,
    and smoother masses.

    chance : an array (pairs × rates) with the likelihood of each pair of counts at each rate. Each
        row contains a positive number.
    tasks : number of tasks with each pair of counts, above 0.
    Source: Kiefer & Wolfowitz 1956; Lindsay 1983.

    >>> two = np.array([[1.0, 0.2], [0.2, 1.0]])
    >>> round(maximum_log_likelihood_and_masses(two, np.array([3.0, 3.0]))[0] / 6, 3)  # log 0.6
    -0.511
    """
    scale = chance.max(axis=1, keepdims=True)
    relative = chance / scale
    smooth = masses = np.full(chance.shape[1], 1 / chance.shape[1])
    for sharpness in _BARRIER_SHARPNESS_STEPS:
        masses = _minimizing_masses(_BarrierFunction(relative, tasks, sharpness, masses), masses)
        smooth = masses if sharpness == _SMOOTH_MASSES_BARRIER_SHARPNESS else smooth
    height = float(tasks @ (np.log(relative @ masses) + np.log(scale[:, 0])))
    return height, masses, smooth


def rate_grid(most_attempts: int, most_k: int) -> Floats:
    """A grid of success rates from 0 to 1 that is fine enough for given attempts and a given k.

    The grid points are evenly spaced in log p near 0, and in arcsin √p at larger rates.
    Neighbouring grid points are at most two standard errors of a task's pass rate apart.

    >>> grid = rate_grid(20, 1_000)
    >>> len(grid), float(grid[0]), float(grid[-1])
    (69, 0.0, 1.0)
    """
    step = max(min(_ANGLE, 1 / math.sqrt(most_attempts)), _LEAST_ANGLE)
    first = 2 * step / _LOG
    angles = np.linspace(first, math.pi / 2, math.ceil((math.pi / 2 - first) / step) + 1)
    common = np.sin(angles) ** 2
    rarest = _SMALLEST_RATE_TIMES_K / max(most_k, most_attempts)
    rare = math.ceil(math.log(common[0] / rarest) / _LOG)
    return np.concatenate([[0.0], np.geomspace(rarest, common[0], rare + 1)[:-1], common])


def relative_count_likelihoods(n: Ints, c: Ints, rates: Floats) -> Floats:
    """The likelihood p^c (1 − p)^(n − c) of each pair (n, c) at each rate p, divided by the maximum
    over all rates. The result is an array (pairs × rates).

    >>> relative_count_likelihoods(np.array([2]), np.array([1]), np.array([0.0, 0.5, 1.0])).tolist()
    [[0.0, 1.0, 0.0]]
    """
    from passk_cli.scipy_special import xlog1py, xlogy

    logs = xlogy(c[:, None], rates) + xlog1py((n - c)[:, None], -rates)
    relative: Floats = np.exp(
        np.maximum(logs - logs.max(axis=1, keepdims=True), _MIN_LOG_RELATIVE_LIKELIHOOD)
    )
    return np.where(relative > math.exp(_MIN_LOG_RELATIVE_LIKELIHOOD), relative, 0.0)


def allowed_log_likelihood_drop(level: float) -> float:
    """The largest drop of the log likelihood below the maximum that a compatible distribution can
    have.

    The largest drop is half the quantile of the χ² distribution with one degree of freedom at the
    confidence level.

    >>> round(allowed_log_likelihood_drop(0.95), 2)
    1.92
    """
    from passk_cli.scipy_special import ndtri

    return float(ndtri((1 + level) / 2)) ** 2 / 2


@dataclass(frozen=True)
class CompatibleRateDistributions:
    """All distributions of success rates that are compatible with counts at a confidence level.

    n, c : attempts and passes of each distinct pair of counts.
    task_counts : number of tasks with each pair (n, c), above 0. With clusters, this is the number
        of independent tasks that contain the same information.
    rate_grid : increasing rates from the function `rate_grid`, and the extra rates.
    level : confidence level; see `allowed_log_likelihood_drop`.
    extra_grid_rates : rates that are added to the grid, because a function of the rate jumps at
        these rates.

    >>> solved = CompatibleRateDistributions.from_tasks(np.full(30, 20), np.arange(30) % 5,
    ...     most_k=100)
    >>> low, high = solved.mean_range(solved.rate_grid)  # pass@1
    >>> bool(low < 0.1 < high)
    True
    """

    n: Ints
    c: Ints
    task_counts: Floats
    rate_grid: Floats
    level: float = 0.95
    extra_grid_rates: tuple[float, ...] = ()

    @classmethod
    def from_tasks(
        cls, n: Ints, c: Ints, *, most_k: int, level: float = 0.95, worth: float = 1.0,
        thresholds: tuple[float, ...] = (),
    ) -> CompatibleRateDistributions:  # fmt: skip
        """The rate distributions that are compatible with the attempts n and the passes c of each
        task.

        most_k : the largest k for which a range will be computed.
        worth : the number of independent tasks that one task is worth. With clusters, the number is
            below 1.
        """
        pairs, tasks = np.unique(np.stack([n, c]), axis=1, return_counts=True)
        worths: Floats = tasks.astype(np.float64) * worth
        grid = np.union1d(rate_grid(int(n.max()), most_k), thresholds)
        return cls(pairs[0], pairs[1], worths, grid, level, thresholds)

    @cached_property
    def likelihoods(self) -> Floats:
        """The likelihood of each pair (n, c) at each rate, up to a factor for each pair."""
        return relative_count_likelihoods(self.n, self.c, self.rate_grid)

    @cached_property
    def _maximum_log_likelihood_and_masses(self) -> tuple[float, Floats, Floats]:
        return maximum_log_likelihood_and_masses(self.likelihoods, self.task_counts)

    @property
    def smooth_masses(self) -> Floats:
        """The masses of a compatible distribution that has a positive mass at every rate of the
        grid."""
        return self._maximum_log_likelihood_and_masses[2]

    @property
    def _log_likelihood_floor(self) -> float:
        return self._maximum_log_likelihood_and_masses[0] - allowed_log_likelihood_drop(self.level)

    def mean_range(self, values: Floats) -> tuple[float, float]:
        """The minimum and the maximum mean of a function of the rate over compatible distributions.

        values : the value of the function a(p) at each rate of the grid. The mean of the function
            is ∫ a(p) dG(p).
        The computed range contains the exact range. It is wider by less than 0.001 times the
        difference between the largest and the smallest value.
        """
        return self.lowest_mean(values), -self.lowest_mean(-values)

    def lowest_mean(self, values: Floats) -> float:
        """The minimum mean of a function of the rate over all compatible distributions.

        The floor is the smallest log likelihood that a compatible distribution can have. For any
        slope w > 0, the minimum of mean − (log likelihood − floor) / w over all distributions is a
        lower bound for the minimum mean. The bound is exact if the log likelihood at this minimum
        equals the floor.
        """
        least, spread = float(values.min()), float(np.ptp(values))
        if spread == 0:
            return least
        scaled, masses, best = (values - least) / spread, self.smooth_masses, 0.0
        low, high, slope = 0.0, math.inf, _FIRST_SLOPE
        for _ in range(_MOST_SLOPES):
            sharpness = len(values) / (_GAP * slope)
            masses = _minimizing_masses(
                _BarrierFunction(self.likelihoods, self.task_counts, sharpness, scaled, slope),
                masses,
            )
            slack = (
                float(self.task_counts @ np.log(self.likelihoods @ masses))
                - self._log_likelihood_floor
            )
            best = max(best, float(scaled @ masses) - slack / slope - _GAP)
            if abs(slack) < _SMALL_SLACK or 0 < slack < _GAP * slope:
                break
            low, high = (slope, high) if slack > 0 else (low, slope)
            drop = allowed_log_likelihood_drop(self.level)
            guess = slope * math.sqrt(drop / max(drop - slack, drop / 100))
            between = math.sqrt(max(low, high / 100) * min(high, low * 100))
            slope = guess if low < guess < high else between
        return least + spread * best

    def compatible_with_more_attempts(self, attempts: int) -> CompatibleRateDistributions:
        """The distributions that are compatible with the expected counts of more attempts."""
        from scipy.stats import binom

        first = np.geomspace(1, attempts, _BINS)
        if self.extra_grid_rates:
            # If a metric uses thresholds, rates far from 0 also affect the result, so every bin is
            # narrow.
            first = attempts * np.sin(np.linspace(0, math.pi / 2, _EVEN_BINS)) ** 2
        first = np.unique(np.concatenate([[0], first.round().astype(np.int64)]))
        least = binom.sf(first[:, None] - 1, attempts, self.rate_grid)
        share = (
            least - np.concatenate([least[1:], np.zeros((1, len(self.rate_grid)))])
        ) @ self.smooth_masses
        likely_bins = share > _UNSEEN
        passes = np.concatenate([(first[:-1] + first[1:] - 1) // 2, first[-1:]])[likely_bins]
        tasks: Floats = self.task_counts.sum() * share[likely_bins] / share[likely_bins].sum()
        grid = rate_grid(attempts, round(_SMALLEST_RATE_TIMES_K / self.rate_grid[1]))
        grid = np.union1d(grid, self.extra_grid_rates)
        n = np.full(len(tasks), attempts)
        return CompatibleRateDistributions(
            n, passes, tasks, grid, self.level, self.extra_grid_rates
        )
