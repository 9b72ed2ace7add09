"""Point estimates of pass@k within a range, from an average of smooth models of success rates.

A model is a beta or logit-normal distribution of rates, optionally with a point mass: a share of
tasks that never pass, or a share of tasks with one common rate. The weight of each model is the
likelihood of the counts, averaged over wide uniform ranges of the parameters (the evidence for the
model).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import Floats, Ints

# Numbers of passes up to _MAX_PASS_COUNT_WITH_OWN_BIN have their own bins. Tasks with more passes
# share a bin, so that easy tasks do not influence the model of hard tasks.
_MAX_PASS_COUNT_WITH_OWN_BIN = 2
# _PRIOR_WEIGHT_BY_POINT_MASS_KIND maps each kind of point mass (success rates that are exactly
# equal) to its prior weight.
_PRIOR_WEIGHT_BY_POINT_MASS_KIND = {"none": 0.5, "never": 0.25, "rate": 0.25}
# _BETA_PARAMETER_RANGES contains the ranges of log a and of the logit of the mean of a beta
# distribution. _LOGIT_NORMAL_PARAMETER_RANGES contains the ranges of log sd and of the mean of a
# logit-normal distribution.
_BETA_PARAMETER_RANGES = ((math.log(0.03), math.log(30.0)), (-9.0, 5.0))
_LOGIT_NORMAL_PARAMETER_RANGES = ((math.log(0.3), math.log(6.0)), (-14.0, 5.0))
PRIOR_DESCRIPTION = (
    "beta distributions of success rates (log a from {:.2g} to {:.2g} and logit of the mean from"
    " {:g} to {:g}, flat) and logit-normal ones (log sd from {:.2g} to {:.2g} and mean from {:g} to"
    " {:g}, flat), without a lump (prior weight 1/2), with tasks that never pass (1/4), or with"
    " tasks of one rate (1/4), weighted by their evidence"
).format(
    *(end for box in (*_BETA_PARAMETER_RANGES, *_LOGIT_NORMAL_PARAMETER_RANGES) for end in box)
)
# _GRID_SHAPE_BY_PARAMETER_COUNT maps the number of parameters to the number of grid points per
# parameter. The grid is refined _CLOSER times around the points with a log likelihood within _DEPTH
# of the maximum.
_GRID_SHAPE_BY_PARAMETER_COUNT = {2: (40, 40), 3: (26, 26, 24), 4: (22, 22, 16, 14)}
_CLOSER, _DEPTH = 3, 9.0
# _NEGATIVE_LOGIT_GRID_EDGES contains the edges of the bins of task difficulty, which is −logit of
# the success rate.
_NEGATIVE_LOGIT_GRID_EDGES = np.linspace(-8.0, 22.0, 121)
_MIN_POINT_MASS_RATE_TIMES_N = 1e-3
# If tasks have more than _MAX_DISTINCT_ATTEMPT_NUMBERS different numbers of attempts, similar
# numbers are merged.
_MAX_DISTINCT_ATTEMPT_NUMBERS = 16
_SMALLEST_PROBABILITY = 1e-300

_BinAndFailChancesFunction = Callable[[Floats, Floats, int, int, Floats], tuple[Floats, Floats]]


@dataclass(frozen=True)
class RateModelAverageOfPassAtK:
    """The posterior mean of pass@k and its limits at each k, from an average of models."""

    posterior_means: Floats
    low: Floats
    high: Floats


def averaged_pass_at_k(
    n: Ints, c: Ints, ks: Ints, *, level: float = 0.95, worth: float = 1.0
) -> RateModelAverageOfPassAtK:
    """pass@k at each k of `ks`, from the weighted average of all models.

    n, c : number of attempts and of passes at each task.
    worth : the number of independent tasks for which one task counts, which is below 1 if tasks
        have clusters.

    >>> result = averaged_pass_at_k(np.full(60, 20), np.arange(60) % 4, np.array([20, 200]))
    >>> bool(result.low[1] < result.posterior_means[1] < result.high[1])
    True
    """
    bins, at = _task_counts_by_pass_bin(n, c, worth), ks.astype(np.float64)
    rarest = math.log(_MIN_POINT_MASS_RATE_TIMES_N / max(attempts for attempts, _ in bins))
    answers = [
        _model_values_and_log_weights(smooth, box, lump, bins, at, rarest)
        for smooth, box in (
            (_beta_model, _BETA_PARAMETER_RANGES),
            (_logit_normal_model, _LOGIT_NORMAL_PARAMETER_RANGES),
        )
        for lump in _PRIOR_WEIGHT_BY_POINT_MASS_KIND
    ]
    passing = np.concatenate([values for values, _ in answers])
    logs = np.concatenate([weights for _, weights in answers])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    tail = (1 - level) / 2
    limits = []
    for column in passing.T:
        order = np.argsort(column, kind="stable")
        limits.append(np.interp([tail, 1 - tail], np.cumsum(weights[order]), column[order]))
    low, high = np.array(limits).T
    return RateModelAverageOfPassAtK(weights @ passing, low, high)


def _task_counts_by_pass_bin(n: Ints, c: Ints, worth: float) -> list[tuple[int, Floats]]:
    if len(np.unique(n)) > _MAX_DISTINCT_ATTEMPT_NUMBERS:
        steps = np.sort(n)[
            np.linspace(0, len(n) - 1, _MAX_DISTINCT_ATTEMPT_NUMBERS).astype(np.int64)
        ]
        n = steps[np.searchsorted(steps, n, side="right") - 1]
    bins = []
    for attempts in np.unique(n).tolist():
        most = min(_MAX_PASS_COUNT_WITH_OWN_BIN, attempts - 1)
        passes = np.minimum(c[n == attempts], most + 1)
        tasks: Floats = worth * np.bincount(passes, minlength=most + 2).astype(np.float64)
        bins.append((attempts, tasks))
    return bins


def _model_values_and_log_weights(
    smooth: _BinAndFailChancesFunction, box: tuple[tuple[float, float], ...], lump: str,
    bins: list[tuple[int, Floats]], ks: Floats, rarest: float,
) -> tuple[Floats, Floats]:  # fmt: skip
    extra = {"none": (), "never": ((0.0, 1.0),), "rate": ((0.0, 1.0), (rarest, 0.0))}[lump]
    prior = np.array((*box, *extra))
    counts = _GRID_SHAPE_BY_PARAMETER_COUNT[len(prior)]
    within = prior
    for _ in range(_CLOSER):
        searched, step = within, np.ptp(within, axis=1) / counts
        axes = [
            low + width * (np.arange(count) + 0.5)
            for low, width, count in zip(within[:, 0], step, counts, strict=True)
        ]
        likelihood, failing = _log_likelihood_and_fail_chances(smooth, axes, bins, ks)
        likely_points = np.nonzero(likelihood >= likelihood.max() - _DEPTH)
        ends = [
            (axis[at.min()], axis[at.max()]) for axis, at in zip(axes, likely_points, strict=True)
        ]
        within = np.clip(np.array(ends) + np.outer(step, [-1, 1]), prior[:, :1], prior[:, 1:])
    cell = np.log(np.ptp(searched, axis=1) / np.ptp(prior, axis=1) / counts).sum()
    return 1 - failing(likely_points), likelihood[likely_points] + cell + math.log(
        _PRIOR_WEIGHT_BY_POINT_MASS_KIND[lump]
    )


def _log_likelihood_and_fail_chances(
    smooth: _BinAndFailChancesFunction,
    axes: list[Floats],
    bins: list[tuple[int, Floats]],
    ks: Floats,
) -> tuple[Floats, Callable[[tuple[Ints, ...]], Floats]]:
    shape = tuple(map(len, axes))
    first, second = (axis.ravel() for axis in np.meshgrid(axes[0], axes[1], indexing="ij"))
    share = axes[2] if len(axes) > 2 else np.zeros(1)
    rates = np.exp(axes[3]) if len(axes) > 3 else np.zeros(1)
    likelihood = np.zeros((len(first), len(share), len(rates)))
    for attempts, tasks in bins:
        chance, failing = smooth(first, second, attempts, len(tasks), ks)
        lump_chance = _binomial_bin_probabilities(rates, attempts, len(tasks))
        for place in np.flatnonzero(tasks).tolist():
            mixed = np.multiply.outer(chance[:, place], 1 - share)[:, :, None]
            mixed = mixed + np.multiply.outer(share, lump_chance[:, place])
            likelihood += tasks[place] * np.log(np.maximum(mixed, _SMALLEST_PROBABILITY))
    lump_failing = np.exp(np.outer(np.log1p(-rates), ks))

    def failing_at(places: tuple[Ints, ...]) -> Floats:
        row = places[0] * shape[1] + places[1]
        weight = share[places[2]] if len(axes) > 2 else np.zeros(len(row))
        lump = lump_failing[places[3]] if len(axes) > 3 else np.ones((len(row), len(ks)))
        mixed: Floats = (1 - weight)[:, None] * failing[row] + weight[:, None] * lump
        return mixed

    return likelihood.reshape(shape), failing_at


def _append_chance_of_more_passes(chance: Floats) -> Floats:
    more_passes = np.maximum(1 - chance.sum(axis=1, keepdims=True), 1e-12)
    return np.concatenate([chance, more_passes], axis=1)


def _log_choose(n: int, c: Ints) -> Floats:
    from passk_cli.scipy_special import gammaln

    ways: Floats = gammaln(n + 1) - gammaln(c + 1) - gammaln(n - c + 1)
    return ways


def _binomial_bin_probabilities(rates: Floats, n: int, bins: int) -> Floats:
    from passk_cli.scipy_special import xlog1py, xlogy

    c = np.arange(bins - 1)
    return _append_chance_of_more_passes(
        np.exp(_log_choose(n, c) + xlogy(c, rates[:, None]) + xlog1py(n - c, -rates[:, None]))
    )


def _beta_model(
    log_a: Floats, logit: Floats, n: int, bins: int, ks: Floats
) -> tuple[Floats, Floats]:
    """Beta(a, b) distributions of the rates, given log a and the logit of the mean a / (a + b)."""
    from passk_cli.scipy_special import betaln

    a, c = np.exp(log_a)[:, None], np.arange(bins - 1)
    b = a * np.exp(-logit)[:, None]
    log_beta = betaln(a, b)
    chance = np.exp(_log_choose(n, c) + betaln(a + c, b + n - c) - log_beta)
    return _append_chance_of_more_passes(chance), np.exp(betaln(a, b + ks) - log_beta)


def _logit_normal_model(
    log_sd: Floats, mean: Floats, n: int, bins: int, ks: Floats
) -> tuple[Floats, Floats]:
    """Normal distributions of the success rate's logit. Tasks below the rate grid never pass."""
    from passk_cli.scipy_special import expit, ndtr

    below = ndtr((_NEGATIVE_LOGIT_GRID_EDGES + mean[:, None]) / np.exp(log_sd)[:, None])
    masses = np.diff(below, axis=1)
    masses[:, 0] += below[:, 0]
    rates = expit(-(_NEGATIVE_LOGIT_GRID_EDGES[1:] + _NEGATIVE_LOGIT_GRID_EDGES[:-1]) / 2)
    never = 1 - below[:, -1:]
    failing = masses @ np.exp(np.outer(np.log1p(-rates), ks)) + never
    return _append_chance_of_more_passes(
        masses @ _binomial_bin_probabilities(rates, n, bins)[:, :-1]
        + never * (np.arange(bins - 1) == 0)
    ), failing
