"""Time horizons: the task length at which attempts succeed with a given probability.

The success rate is the curve P(x) = g(a + b·x), in which x is the log₂ of the task length in
minutes. The curve is fitted by weighted maximum likelihood with a small penalty on b. With the
weights of `task_weights`, the logistic curve and the bootstrap of `resampled_counts`, the results
are METR's time horizons (arXiv 2503.14499).
Source: compute_task_weights.py, logistic.py and bootstrap.py (MIT) in
github.com/METR/eval-analysis-public.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.random_streams import named_generator

# The penalty λ/2·b² is added to the mean loss, and λ is SLOPE_PENALTY. The penalty keeps b finite
# if all short tasks pass and all long tasks fail. For other data, the penalty SLOPE_PENALTY changes
# horizons by less than 0.1 %.
SLOPE_PENALTY = 1e-5
_STEPS, _HALVINGS, _CONVERGED = 60, 30, 1e-6
# A block contains _BLOCK resamples. A horizon of minutes with |log₂| above _LONGEST is reported as
# 0 or as infinite.
_BLOCK, _LONGEST = 512, 30.0


class LinkFunction(NamedTuple):
    """A function from a linear predictor η to a success rate P, and the inverse function.

    rates_of_predictor : function from η to log P, log(1 − P), P, and dP/dη divided by P·(1 − P).
    predictor_of_rate : function from P to η.
    """

    rates_of_predictor: Callable[[Floats], tuple[Floats, Floats, Floats, Floats]]
    predictor_of_rate: Callable[[float], float]


def _logistic_rates(eta: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    small = np.exp(-np.abs(eta))
    success = np.minimum(eta, 0.0) - np.log1p(small)
    rate = np.where(eta < 0, small, 1.0) / (1.0 + small)
    return success, success - eta, rate, np.ones_like(eta)


def _weibull_rates(eta: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    hazard = np.exp(-np.clip(eta, -6.0, 300.0))
    failing = -np.expm1(-hazard)
    return -hazard, np.log(failing), 1.0 - failing, hazard / failing


LOGISTIC_LINK_FUNCTION = LinkFunction(_logistic_rates, lambda p: math.log(p / (1.0 - p)))
# WEIBULL_LINK_FUNCTION uses the survival function of a Weibull time to failure, P =
# exp(−(t/scale)^shape).
WEIBULL_LINK_FUNCTION = LinkFunction(_weibull_rates, lambda p: -math.log(-math.log(p)))


def task_weights(families: Ints) -> Floats:
    """The weights of tasks. The sum of all weights is 1. In a family of m tasks, each task has a
    weight proportional to 1/√m.

    >>> task_weights(np.array([0, 0, 0, 0, 1])).round(3).tolist()
    [0.167, 0.167, 0.167, 0.167, 0.333]
    """
    weights = 1.0 / np.sqrt(np.bincount(families)[families])
    return np.asarray(weights / weights.sum())


def fit_curves(
    x: Floats, passed: Floats, failed: Floats, shape: LinkFunction = LOGISTIC_LINK_FUNCTION,
    start: tuple[float, float] = (0.0, 0.0), penalty: float = SLOPE_PENALTY,
) -> tuple[Floats, Floats]:  # fmt: skip
    """The coefficients a and b of the curve g(a + b·x) with the highest likelihood, for each row.

    Fisher scoring with step halving maximizes the likelihood. If no attempt fails, the coefficient
    a is infinite. If no attempt passes, the coefficient a is minus infinity.

    x : log₂ of the length of each task in minutes.
    passed, failed : arrays (rows × tasks) with the weights of passes and of failures. Each row is a
        resample.
    start : values of a and b at which the search begins.  penalty : factor λ of the penalty, see
        `SLOPE_PENALTY`.

    >>> passed = np.array([[4.0, 3.0, 1.0, 0.0]]) / 16
    >>> a, b = fit_curves(np.arange(4.0), passed, 0.25 - passed)
    >>> (-a / b).round(2).tolist()
    [1.5]
    """
    some = passed.sum(axis=1) > 0
    a, b = np.where(some, math.inf, -math.inf), np.zeros(len(passed))
    rows = np.flatnonzero(some & (failed.sum(axis=1) > 0))
    order = np.argsort(x, kind="stable")
    x, first = np.unique(x[order], return_index=True)
    up, down = (np.add.reduceat(each[rows][:, order], first, axis=1) for each in (passed, failed))
    middle = float((up + down).sum(axis=0) @ x / max((up + down).sum(), 1e-300))
    z, reach = x - middle, float(np.abs(x - middle).max())
    p = np.repeat([[start[0] + start[1] * middle], [start[1]]], len(rows), axis=1)

    def evaluated(at: Ints | slice, p: Floats) -> tuple[Floats, Floats, Floats]:
        success, failure, rate, weight = shape.rates_of_predictor(p[0][:, None] + p[1][:, None] * z)
        loss = -(up[at] * success + down[at] * failure).sum(axis=1) + penalty / 2 * p[1] ** 2
        return loss, rate, weight

    loss, rate, weight = evaluated(slice(None), p)
    for _ in range(_STEPS):
        score = (up - (up + down) * rate) * weight
        info = (up + down) * rate * (1.0 - rate) * weight**2
        g0, g1 = score.sum(axis=1), score @ z - penalty * p[1]
        i0, i1, i2 = info.sum(axis=1) + 1e-12, info @ z, info @ z**2 + penalty
        step = np.stack([i2 * g0 - i1 * g1, i0 * g1 - i1 * g0]) / (i0 * i2 - i1**2)
        left = np.abs(step[0]) + np.abs(step[1]) * reach >= _CONVERGED
        a[rows[~left]], b[rows[~left]] = p[:, ~left]
        rows, up, down, p, step, old = (
            rows[left], up[left], down[left], p[:, left], step[:, left], loss[left])  # fmt: skip
        if not len(rows):
            break
        loss, rate, weight = evaluated(slice(None), p + step)
        for _ in range(_HALVINGS):
            worse = np.flatnonzero(~(loss <= old + 1e-12))
            if not len(worse):
                break
            step[:, worse] /= 2
            loss[worse], rate[worse], weight[worse] = evaluated(worse, (p + step)[:, worse])
        p = p + step
    a[rows], b[rows] = p
    return a - b * middle, b


def log2_horizons(
    a: Floats, b: Floats, rate: float, shape: LinkFunction = LOGISTIC_LINK_FUNCTION
) -> Floats:
    """The log₂ of the task length at which a curve has a given success rate.

    The result is infinite if all attempts pass, minus infinity if none passes, and NaN if the
    success rate does not fall with length.
    """
    falls = b < -1e-9
    with np.errstate(invalid="ignore"):
        log2 = np.where(
            falls, (shape.predictor_of_rate(rate) - a) / np.where(falls, b, -1.0), math.nan
        )
    return np.where(np.isinf(a), a, log2)


def isotonic_fit(x: Floats, passed: Floats, failed: Floats) -> tuple[Floats, Floats]:
    """Fit the best curve that never rises. The result is the sorted distinct values of x, and the
    rate at each value.

    The algorithm is the pool-adjacent-violators algorithm (PAVA).

    passed, failed : weights of passes and of failures of each task.

    >>> passed, failed = np.array([0.5, 0.9, 0.2]), np.array([0.5, 0.1, 0.8])
    >>> isotonic_fit(np.array([1.0, 2.0, 3.0]), passed, failed)
    (array([1., 2., 3.]), array([0.7, 0.7, 0.2]))
    """
    at, place = np.unique(x, return_inverse=True)
    weights = np.bincount(place, passed + failed)
    blocks: list[tuple[float, float, int]] = []
    for rate, weight in zip(np.bincount(place, passed) / weights, weights, strict=True):
        blocks.append((float(rate), float(weight), 1))
        while len(blocks) > 1 and blocks[-1][0] > blocks[-2][0]:
            (r1, w1, n1), (r0, w0, n0) = blocks.pop(), blocks.pop()
            blocks.append(((r0 * w0 + r1 * w1) / (w0 + w1), w0 + w1, n0 + n1))
    rates, _, sizes = zip(*blocks, strict=True)
    return at, np.repeat(rates, sizes)


def isotonic_log2_horizon(at: Floats, rates: Floats, rate: float) -> float:
    """The log₂ of the horizon. It is halfway between the last x that reaches the given rate and the
    next x.

    The result is infinite if all x reach the given rate, and minus infinity if no x reaches it.
    """
    reached = int((rates >= rate - 1e-9).sum())
    if reached in (0, len(at)):
        return math.inf if reached else -math.inf
    return float(at[reached - 1] + at[reached]) / 2


def resampled_counts(
    n: Ints, c: Ints, families: Ints, resamples: int, seed: int
) -> Iterator[tuple[Floats, Floats]]:
    """Yield the passes and the failures of tasks in bootstrap resamples, in arrays (rows × tasks).

    A resample first draws families with replacement. Then it draws tasks of each family with
    replacement, and finally attempts at each task. Models that have the same tasks get the same
    random draws of tasks.
    """
    members = [np.flatnonzero(families == family) for family in range(int(families.max()) + 1)]
    for block in range(-(-resamples // _BLOCK)):
        rows = min(_BLOCK, resamples - block * _BLOCK)
        tasks = named_generator(seed, "horizon tasks", block)
        drawn = tasks.multinomial(len(members), np.full(len(members), 1 / len(members)), rows)
        made = np.zeros((rows, len(n)), dtype=np.int64)
        for family, own in enumerate(members):
            even = np.full(len(own), 1 / len(own))
            made[:, own] = tasks.multinomial(drawn[:, family] * len(own), even) * n[own]
        attempts = named_generator(seed, "horizon attempts", block)
        passed = attempts.binomial(made, c / n).astype(np.float64)
        yield passed, made - passed


def resampled_log2_horizons(draws: Floats, rate: float, middle: float) -> Floats:
    """The log₂ horizons of all resamples, from the columns a and b of `draws`.

    If a curve does not fall, the horizon is the limit for falling curves that become flatter and
    flatter. This limit is infinite if the success rate at `middle` is above `rate`, and minus
    infinity otherwise.

    middle : mean of x over the tasks, with x in log₂ minutes.
    """
    a, b = draws.T
    log2 = log2_horizons(a, b, rate)
    flat = np.copysign(math.inf, a + b * middle - LOGISTIC_LINK_FUNCTION.predictor_of_rate(rate))
    return np.where(np.isnan(log2), flat, log2)


def percentile_limits(draws: Floats, level: float) -> tuple[float, float]:
    """Percentile limits that are valid for any numbers in place of NaN. A NaN draw widens both
    limits."""
    tail = (1.0 - level) / 2
    low = np.quantile(np.where(np.isnan(draws), -math.inf, draws), tail, method="lower")
    high = np.quantile(np.where(np.isnan(draws), math.inf, draws), 1 - tail, method="higher")
    return float(low), float(high)


def minutes_from_log2(log2: float) -> float:
    """The task length in minutes for a given log₂; 0 or infinite if |log₂| is above 30."""
    return 2.0**log2 if not abs(log2) > _LONGEST else math.inf if log2 > 0 else 0.0


def doublings_per_day(dates: Floats, log2: Floats) -> Floats:
    """The doublings of the horizon per day for each row. They are the least-squares slopes of log₂
    horizons over dates.

    dates : release date of each model, in days.
    log2 : an array (rows × models) of log₂ horizons. Values that are not finite are left out. The
        slope of a row is NaN if fewer than two different dates remain.

    >>> doublings_per_day(np.array([0.0, 100.0, 200.0]), np.array([[1.0, 2.0, 3.0]])).tolist()
    [0.01]
    """
    there = np.isfinite(log2)
    count, y = np.maximum(there.sum(axis=1), 1), np.where(there, log2, 0.0)
    away = np.where(there, dates - ((there @ dates) / count)[:, None], 0.0)
    square = (away**2).sum(axis=1)
    return np.where(square > 0, (away * y).sum(axis=1) / np.where(square > 0, square, 1), math.nan)


def frontier_models(dates: Sequence[float], log2: Sequence[float]) -> list[int]:
    """Indices of the models that had the longest horizon of all models when they were released."""
    pairs = [*zip(dates, log2, strict=True)]
    return [place for place, (date, length) in enumerate(pairs)
            if all(length >= other for day, other in pairs if day <= date)]  # fmt: skip
