"""Intervals of the heterogeneity gain Δ_k, the coverage deficit and the moments of success rates.

The limits for new tasks come from a Bayesian bootstrap over tasks (or clusters). Like the `guard`
interval of a mean, the bootstrap adds a guard atom: an imaginary task with half the weight of a
task and the worst possible value. The draws of the bootstrap are shifted by the difference between
the bias-corrected and the plain estimate. For these tasks, the interval is the hull of a posterior
interval and a pivot interval, as for a mean. The limits of the skewness for these tasks are normal
limits, with a standard error from the jackknife over attempts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.bootstrap_weights import bootstrap_means, cluster_contributions_to_means
from passk_cli.inference.hull_interval import heterogeneity_gain_hull_limits
from passk_cli.inference.intervals import IntervalData
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.inference.random_streams import named_generator
from passk_cli.inference.sampling_variance import jackknife_variance
from passk_cli.inference.weighted_means import STANDARD_NORMAL
from passk_cli.metrics.heterogeneity import (
    RateMoments,
    moments_new_tasks,
    moments_these_tasks,
    power_of_mean_rate_new_tasks,
    power_of_mean_rate_these_tasks,
)
from passk_cli.metrics.pass_k import pass_at_and_hat_curve_blocks

FunctionOfMeans = Callable[[Floats], Floats]
InfluenceFunction = Callable[[Ints, Ints], Floats]


@dataclass(frozen=True)
class IntervalSetting:
    """The settings of an interval: population, confidence level, clusters and bootstrap draws.

    level : confidence level; None if only standard errors are needed.
    clusters : a code 0 … G−1 per task, or None.
    """

    population: str = NEW_TASKS
    level: float | None = 0.95
    clusters: Ints | None = None
    resamples: int = 10_000
    seed: int = 0

    @property
    def tail(self) -> float:
        """The probability outside the interval on each side, (1 − level)/2."""
        return (1.0 - (self.level or 0.0)) / 2.0


@dataclass(frozen=True)
class HeterogeneityGains:
    """The heterogeneity gains Δ_k with standard errors and limits. Each array has one element per
    k.

    Elements that are not defined are NaN.

    estimate : estimate of each gain Δ_k.  largest_possible : estimate of the largest possible gain,
        which is μ − μ^k.
    """

    estimate: Floats
    largest_possible: Floats
    se: Floats
    low: Floats
    high: Floats


def pass_hat_k_heterogeneity_gains(
    n: Ints, c: Ints, ks: Ints, setting: IntervalSetting
) -> HeterogeneityGains:
    """The heterogeneity gains Δ_k = pass^k − μ^k for the mean success rate μ, with intervals.

    The estimates of μ^k do not have the bias of the plain power μ̂^k. The coverage deficit is the
    gain Δ_k of the failures: `pass_hat_k_heterogeneity_gains(n, n − c, ks, …)`. For new tasks, μ^k
    is estimated from k different tasks (or clusters). The estimate is NaN if there are fewer than k
    tasks (or clusters). For these tasks, μ^k is estimated from tasks that are drawn with
    replacement. If k = n, Δ_k has an interval but no standard error. The true Δ_k cannot be
    negative, so limits below 0 are set to 0. Estimates of Δ_k may be negative.

    n, c : numbers of attempts and passes per task.  ks : increasing values of k, which are at most
        the smallest n.

    >>> n, c, ks = np.full(4, 4), np.array([0, 4, 0, 4]), np.array([1, 2])
    >>> delta = pass_hat_k_heterogeneity_gains(n, c, ks, IntervalSetting())
    >>> delta.estimate.round(6).tolist(), delta.largest_possible.round(6).tolist()
    ([0.0, 0.333333], [0.0, 0.333333])
    """
    return gains_for_several_pass_arrays(n, (c,), ks, setting)[0]


def gains_for_several_pass_arrays(
    n: Ints, passes: Sequence[Ints], ks: Ints, setting: IntervalSetting
) -> list[HeterogeneityGains]:
    """The results of `pass_hat_k_heterogeneity_gains` for several arrays of passes.

    All arrays use the same random draws.
    """
    new = setting.population == NEW_TASKS
    all_gains, jobs = [], []
    for c in passes:
        rates, powers = c / n, _pass_hat_k_values(n, c, ks)
        mean = float(rates.mean())
        if new:
            even = power_of_mean_rate_new_tasks(
                cluster_contributions_to_means(rates[:, None], setting.clusters)[:, 0], ks
            )
        else:
            even = power_of_mean_rate_these_tasks(n, c, ks)
        even[ks == 1] = mean
        estimate = powers.mean(axis=1) - even
        slope = (ks * mean ** (ks - 1.0))[:, None]

        def influence(n: Ints, c: Ints, slope: Floats = slope) -> Floats:
            return _pass_hat_k_values(n, c, ks) - slope * (c / np.maximum(n, 1))

        se = _standard_errors(influence, n, c, setting)
        se[np.isnan(estimate)] = np.nan
        low, high = np.full((2, len(ks)), np.nan)
        if setting.level is not None and not new:
            for i, (k, gain) in enumerate(zip(ks.tolist(), estimate.tolist(), strict=True)):
                if not math.isnan(gain):
                    low[i], high[i] = (
                        heterogeneity_gain_hull_limits(n, c, k, gain, setting.tail)
                        if k > 1
                        else (0, 0)
                    )
        all_gains.append(
            HeterogeneityGains(estimate, mean - even, se, np.maximum(low, 0), np.maximum(high, 0))
        )
        defined = ~np.isnan(estimate)
        jobs.append(_gains_with_guard_atoms(rates, powers[defined], ks[defined], estimate[defined]))
    if setting.level is None or not new or not defined.any():
        return all_gains
    for gains, (lows, highs) in zip(all_gains, guarded_limits(jobs, setting), strict=True):
        gains.low[defined], gains.high[defined] = np.maximum(lows, 0), np.maximum(highs, 0)
    return all_gains


def _pass_hat_k_values(n: Ints, c: Ints, ks: Ints) -> Floats:
    return np.concatenate([hat for _, _, hat in pass_at_and_hat_curve_blocks(n, c, ks)])


def _standard_errors(
    influence: InfluenceFunction, n: Ints, c: Ints, setting: IntervalSetting
) -> Floats:
    if setting.population == NEW_TASKS:
        task_errors = (IntervalData(row, clusters=setting.clusters).se for row in influence(n, c))
        return np.array([math.nan if se is None else se for se in task_errors])
    errors: Floats = np.sqrt(jackknife_variance(influence, n, c).sum(axis=1)) / len(n)
    return errors


@dataclass(frozen=True)
class FunctionalsWithGuardAtoms:
    """Functions of means over tasks, and the guard atoms for the limits of these functions.

    task_values : an array (tasks × variables). The function needs the means of these variables over
        tasks.
    function_of_means : a function from an array of means (draws × variables) to an array of results
        (draws × functionals).
    guard_atoms_for_lower_limits, guard_atoms_for_upper_limits : guard atoms for lower and for upper
        limits, with one value per variable. An atom has half the Dirichlet weight of a task (or
        cluster). If there are several guard atoms, the interval extends to the outermost limit.
    """

    task_values: Floats
    function_of_means: FunctionOfMeans
    guard_atoms_for_lower_limits: Sequence[Floats]
    guard_atoms_for_upper_limits: Sequence[Floats]


def _gains_with_guard_atoms(
    rates: Floats, powers: Floats, ks: Ints, estimate: Floats
) -> FunctionalsWithGuardAtoms:
    mean = float(rates.mean())
    plain = powers.mean(axis=1) - mean**ks

    def functional(means: Floats) -> Floats:
        gains: Floats = means[:, :-1] - means[:, -1:] ** ks + (estimate - plain)
        return gains

    # A task that always or never passes raises Δ_k most, and a task with the mean rate lowers Δ_k
    # most.
    ends = [np.ones(len(ks) + 1), np.zeros(len(ks) + 1)]
    middle = [np.append(mean**ks, mean)]
    return FunctionalsWithGuardAtoms(np.vstack([powers, rates]).T, functional, middle, ends)


def guarded_limits(
    jobs: Sequence[FunctionalsWithGuardAtoms], setting: IntervalSetting
) -> list[tuple[Floats, Floats]]:
    """Limits by a Bayesian bootstrap with guard atoms.

    All functionals use the same bootstrap draws.
    """
    columns = np.hstack([job.task_values for job in jobs])
    means = bootstrap_means(
        columns, setting.resamples, setting.seed, kind="dirichlet", clusters=setting.clusters
    )
    units = len(columns) if setting.clusters is None else int(setting.clusters.max()) + 1
    rng = named_generator(setting.seed, f"guard atom {units}")
    share = rng.beta(0.5, units, len(means))[:, None]
    limits = []
    ends = np.cumsum([job.task_values.shape[1] for job in jobs])[:-1]
    for job, own_means in zip(jobs, np.split(means, ends, axis=1), strict=True):

        def quantile(
            atom: Floats,
            p: float,
            job: FunctionalsWithGuardAtoms = job,
            own_means: Floats = own_means,
        ) -> Floats:
            values = job.function_of_means(own_means + share * (atom - own_means))
            by = np.nanquantile if np.isnan(values).any() else np.quantile
            return np.asarray(by(values, p, axis=0))

        low = np.stack([quantile(atom, setting.tail) for atom in job.guard_atoms_for_lower_limits])
        high = np.stack(
            [quantile(atom, 1 - setting.tail) for atom in job.guard_atoms_for_upper_limits]
        )
        limits.append((low.min(axis=0), high.max(axis=0)))
    return limits


@dataclass(frozen=True)
class RateMomentEstimate:
    """A moment of the success rates with limits, or the reason why the moment or the limits are
    missing."""

    value: float | None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""


def sd_and_skewness_of_rates(
    n: Ints, c: Ints, setting: IntervalSetting
) -> tuple[RateMomentEstimate, RateMomentEstimate]:
    """The standard deviation and the skewness of the true success rates, without the noise of
    attempts.

    n, c : numbers of attempts and passes per task. The standard deviation needs at least 2 tasks,
        and at least 2 attempts at each task. The skewness needs at least 3 tasks, at least 3
        attempts at each task, and a significant standard deviation.

    >>> n, c = np.full(4, 9), np.array([0, 9, 0, 9])
    >>> sd, skewness = sd_and_skewness_of_rates(n, c, IntervalSetting())
    >>> round(sd.value, 3), round(skewness.value, 3)
    (0.577, 0.0)
    """
    if short := _too_few_reason(n, setting, 2):
        return RateMomentEstimate(None, reason=short), RateMomentEstimate(None, reason=short)
    columns = _pass_hat_k_values(n, c, np.array([1, 2, 3])).T
    if setting.population == NEW_TASKS:
        moments = moments_new_tasks(cluster_contributions_to_means(columns, setting.clusters))
    else:
        moments = moments_these_tasks(n, c)
    short = _too_few_reason(n, setting, 3)
    limits: list[tuple[Floats, Floats]] = []
    if setting.level is not None and setting.population == NEW_TASKS:
        rates, squares, _ = columns.T
        variance = np.array([moments.variance])
        jobs = [_gains_with_guard_atoms(rates, squares[None], np.array([2]), variance)]
        jobs += (
            [] if short or moments.variance <= 0 else [_skewness_with_guard_atoms(columns, moments)]
        )
        limits = guarded_limits(jobs, setting)
    sd = _rate_sd(n, c, moments, setting, limits[:1])
    if short or moments.variance <= 0:
        return sd, RateMomentEstimate(None, reason=short or sd.reason)
    return sd, _rate_skewness(n, c, moments, setting, sd, limits[1:])


def _too_few_reason(n: Ints, setting: IntervalSetting, least: int) -> str:
    if n.min() < least:
        return f"needs {least} attempts at every task"
    unit = "tasks" if setting.clusters is None else "clusters"
    units = len(n) if setting.clusters is None else int(setting.clusters.max()) + 1
    if setting.population == NEW_TASKS and units < least:
        return f"needs {least} {unit}"
    return ""


def _skewness_with_guard_atoms(columns: Floats, moments: RateMoments) -> FunctionalsWithGuardAtoms:
    first, second, third = columns.mean(axis=0)
    plain = RateMoments(first, second - first**2, third - 3 * second * first + 2 * first**3)

    def functional(means: Floats) -> Floats:
        first, second, third = means.T
        spread = second - first**2 + (moments.variance - plain.variance)
        third_moment = (
            third
            - 3 * second * first
            + 2 * first**3
            + (moments.third_central_moment - plain.third_central_moment)
        )
        with np.errstate(invalid="ignore"):
            skewnesses: Floats = np.where(spread > 0, third_moment / spread**1.5, np.nan)
        return skewnesses[:, None]

    ends = [np.ones(3), np.zeros(3)]
    return FunctionalsWithGuardAtoms(columns, functional, ends, ends)


def _rate_sd(
    n: Ints,
    c: Ints,
    moments: RateMoments,
    setting: IntervalSetting,
    limits: Sequence[tuple[Floats, Floats]],
) -> RateMomentEstimate:

    def influence(n: Ints, c: Ints) -> Floats:
        first, second = _pass_hat_k_values(n, c, np.array([1, 2]))
        influences: Floats = (second - 2 * moments.mean * first)[None]
        return influences

    se = float(_standard_errors(influence, n, c, setting)[0])
    reason = "" if moments.variance > 0 else "no spread beyond the noise of the attempts"
    low, high = _moment_limits(moments.variance, se, setting, limits)
    if setting.level is not None and setting.population != NEW_TASKS:
        low, high = heterogeneity_gain_hull_limits(n, c, 2, moments.variance, setting.tail)
    bottom, top = (None if math.isnan(v) else math.sqrt(max(v, 0.0)) for v in (low, high))
    error = se / (2 * moments.sd) if moments.sd > 0 and not math.isnan(se) else None
    return RateMomentEstimate(
        moments.sd, error, bottom, top, reason or ("" if top else _missing_error_reason(se))
    )


def _rate_skewness(
    n: Ints, c: Ints, moments: RateMoments, setting: IntervalSetting, sd: RateMomentEstimate,
    limits: Sequence[tuple[Floats, Floats]],
) -> RateMomentEstimate:  # fmt: skip
    mean, variance, cubed = moments.mean, moments.variance, moments.variance**1.5
    square = variance + mean**2

    def influence(n: Ints, c: Ints) -> Floats:
        first, second, third = _pass_hat_k_values(n, c, np.array([1, 2, 3]))
        third_part = third - 3 * mean * second - 3 * square * first + 6 * mean**2 * first
        second_part = second - 2 * mean * first
        influences: Floats = (third_part / cubed - 1.5 * moments.skewness / variance * second_part)[
            None
        ]
        return influences

    se = float(_standard_errors(influence, n, c, setting)[0])
    error = None if math.isnan(se) else se
    if setting.level is None or error is None:
        return RateMomentEstimate(moments.skewness, error, reason=_missing_error_reason(se))
    if not sd.low:
        # The skewness divides by the spread, so the skewness has no bound if the spread may be 0.
        return RateMomentEstimate(None, reason="the spread does not differ significantly from 0")
    low, high = _moment_limits(moments.skewness, se, setting, limits)
    return RateMomentEstimate(moments.skewness, error, low, high)


def _moment_limits(
    value: float, se: float, setting: IntervalSetting, resampled: Sequence[tuple[Floats, Floats]]
) -> tuple[float, float]:
    if resampled:
        low, high = resampled[0]
        return float(low[0]), float(high[0])
    if setting.level is None:
        return math.nan, math.nan
    reach = STANDARD_NORMAL.inv_cdf(1 - setting.tail) * se
    return value - reach, value + reach


def _missing_error_reason(se: float) -> str:
    return "no attempt can be left out, because n = k at some task" if math.isnan(se) else ""
