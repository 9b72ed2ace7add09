"""The toy model of pass@k and temperature, and the exact best temperature for each k.

A generation is an integer g, drawn at temperature T with a probability proportional to
exp(−g² / 2T). A task is an integer c, and a generation passes if g = c. Tasks with a large |c| are
hard. An eval set is a distribution of tasks. If an eval set contains tasks of different difficulty,
the best temperature increases with k.

Source: "Scaling Laws for pass@k and temperature", 2025. The model, the families of tasks and the
grid are from this article.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from passk_cli.arrays import Floats
from passk_cli.errors import ParameterError
from passk_cli.suggestions import did_you_mean_or_list

TASK_FAMILIES = ("gaussian", "exponential", "power-law")
# GRID_TASK_SCALES and GRID_KS are the scales and values of k in the grid of the article "Scaling
# Laws for pass@k and temperature" (2025). In the article, the best temperature T* follows a power
# law if pass@k is in FIT_PASS_AT_K_RANGE.
GRID_TASK_SCALES = tuple(2.0**i for i in range(10))
GRID_KS = (*range(2, 17), *(1 << i for i in range(5, 15)))
FIT_PASS_AT_K_RANGE = (0.03, 0.98)
POWER_LAW_FIT_ABOVE_K = 20
LARGEST_TASK = 1 << 20
# passk refuses values above LARGEST_SPREAD, LARGEST_GAMMA and LARGEST_K, because sums over tasks
# would grow without limit.
LARGEST_SPREAD, LARGEST_GAMMA, LARGEST_K = 16384.0, 20.0, 10**9

# The tasks that passk leaves out have a total weight of _TOTAL_WEIGHT_OF_OMITTED_TASKS, which is
# below the rounding error of a sum.
_TOTAL_WEIGHT_OF_OMITTED_TASKS = 2.0**-60
# The search for the best temperature uses steps of _LOG_TEMPERATURE_STEP in log T, because a peak
# of pass@k is wider than one step.
_LOG_TEMPERATURE_STEP = 0.4
_ALL_PASS_TOLERANCE = 1e-12


@dataclass(frozen=True)
class ToyTasks:
    """An eval set of the toy model: the values |c| in increasing order, and a weight per value.

    The tasks c and −c are equally hard and share one entry. The weights sum to 1.
    """

    absolute_task_integers: Floats
    weights: Floats

    @property
    def spread(self) -> float:
        """The standard deviation of the task integers c, weighted by w: √(Σ w c²)."""
        return math.sqrt(float(self.weights @ self.absolute_task_integers**2))


class BestTemperature(NamedTuple):
    """The temperature T* with the highest pass@k, and pass@k at this temperature.

    T* is 0 if it is best to always generate the likeliest answer. T* is NaN if pass@k is at least
    1 − 1e-12, because T* would then depend on tasks that the computation leaves out.
    """

    temperature: float
    pass_at_k: float


class PowerLawFit(NamedTuple):
    """The power law T* = factor · k^k_exponent · spread^spread_exponent, and the R² of the fit."""

    factor: float
    k_exponent: float
    spread_exponent: float
    r2: float
    point_count: int | None


def log_probability(c: ArrayLike, temperature: float) -> Floats:
    """The logarithm of the probability that a generation is c: −c²/2T − log Σ_g exp(−g²/2T).

    c : an array of any shape.
    temperature : the temperature T, which must be positive and finite.
    Errors: ValueError if T is not positive and finite.

    >>> log_probability([0, 1, 2], 1.0).round(6).tolist()
    [-0.918939, -1.418939, -2.918939]
    """
    t = _checked_positive(temperature)
    return -(np.asarray(c, dtype=np.float64) ** 2) / (2 * t) - _log_sum_and_second_moment(t)[0]


def second_moment_of_generations(temperature: float) -> float:
    """The mean E g² of g² over the generations at temperature T.

    For T ≥ 1, the mean differs from T by at most 3e-7. The derivative of the log-probability of c
    is d/dT log p(c|T) = (c² − E g²) / 2T². A higher T therefore makes a task c easier exactly if
    E g² < c².

    >>> round(second_moment_of_generations(1.0), 6), round(second_moment_of_generations(0.1), 6)
    (1.0, 0.013297)
    """
    return _log_sum_and_second_moment(_checked_positive(temperature))[1]


def temperature_at_second_moment(moment: float) -> float:
    """The temperature T at which `second_moment_of_generations` equals `moment`.

    For the moment c², the result is the best temperature T* of a single task c. For every k,
    pass@k = 1 − (1−p)^k increases with the success rate p. T* of a single task therefore maximises
    p(c|T) and does not depend on k. The temperature is 0 for a moment of 0.

    >>> [round(temperature_at_second_moment(moment), 6) for moment in (0, 1, 30**2)]
    [0.0, 1.0, 900.0]
    """
    from scipy.optimize import brentq

    if moment == 0:
        return 0.0
    if moment >= 2:
        return float(moment)
    low = 0.5 / math.log(4 / moment)
    return float(
        brentq(lambda t: second_moment_of_generations(t) - moment, low, 3.0, xtol=1e-14, rtol=1e-14)
    )


def gaussian_tasks(scale: float) -> ToyTasks:
    """Tasks c with weights proportional to exp(−c² / 2·scale²), for all integers c.
    If the scale is at least 1, the standard deviation of c differs from the scale by at most 2e-7.

    >>> round(gaussian_tasks(16.0).spread, 9)
    16.0
    """
    # Tasks with |c| above `reach` are left out, because their weight is negligible.
    reach = _checked_positive(scale) * math.sqrt(-2 * math.log(_TOTAL_WEIGHT_OF_OMITTED_TASKS))
    return _symmetric_toy_tasks(
        np.arange(math.ceil(reach) + 1.0), lambda c: -(c**2) / (2 * scale**2)
    )


def exponential_tasks(scale: float) -> ToyTasks:
    """Tasks c with weights proportional to exp(−|c| / scale), for all integers c.
    The standard deviation of c (the spread) is 1 / (√2 sinh(1 / 2·scale)).

    >>> round(exponential_tasks(16.0).spread, 6)
    22.623735
    """
    reach = -math.log(_TOTAL_WEIGHT_OF_OMITTED_TASKS) * _checked_positive(scale)
    return _symmetric_toy_tasks(np.arange(math.ceil(reach) + 1.0), lambda c: -c / scale)


def power_law_tasks(gamma: float, largest: int) -> ToyTasks:
    """Tasks c with weights proportional to |c|^−γ, for 1 ≤ |c| ≤ `largest`.
    Without a largest |c|, the variance would be infinite for γ ≤ 3.

    >>> tasks = power_law_tasks(2.0, 2)
    >>> tasks.weights.tolist(), tasks.spread**2
    ([0.8, 0.2], 1.6)
    """
    _checked_positive(gamma)
    return _symmetric_toy_tasks(np.arange(1.0, largest + 1.0), lambda c: -gamma * np.log(c))


def tasks_of_spread(family: str, spread: float, gamma: float = 2.0) -> ToyTasks:
    """The tasks of a family with a given spread, which is the standard deviation of c.

    If the family is a power law, the tasks end at the smallest |c| with which the spread is at
    least the requested spread.
    Errors: ParameterError for an unknown family, a spread outside (0, 16384], an exponent γ outside
    (0, 20], or a spread that no power law with |c| up to 2²⁰ has.

    >>> [round(tasks_of_spread(name, 16.0).spread, 3) for name in TASK_FAMILIES]
    [16.0, 16.0, 16.01]
    """
    if family not in TASK_FAMILIES:
        question = did_you_mean_or_list(family, TASK_FAMILIES)
        raise ParameterError(f"the toy model has no family named {family!r}; {question}")
    if not 0 < spread <= LARGEST_SPREAD:
        raise ParameterError(
            f"the spread must be above 0 and at most {LARGEST_SPREAD:g}; got {spread:g}"
        )
    if not 0 < gamma <= LARGEST_GAMMA:
        raise ParameterError(f"gamma must be above 0 and at most {LARGEST_GAMMA:g}; got {gamma:g}")
    if family == "gaussian":
        return gaussian_tasks(math.sqrt(temperature_at_second_moment(spread**2)))
    if family == "exponential":
        return exponential_tasks(0.5 / math.asinh(math.sqrt(0.5) / spread))
    c = np.arange(1.0, LARGEST_TASK + 1)
    weights = c**-gamma
    variance = np.cumsum(weights * c**2) / np.cumsum(weights)
    largest = 1 + int(np.searchsorted(variance, spread**2))
    if spread < 1 or largest > LARGEST_TASK:
        raise ParameterError(
            f"a power law with gamma {gamma:g} allows a spread from 1 to"
            f" {math.floor(10 * math.sqrt(variance[-1])) / 10:g}; got {spread:g}; choose a smaller"
            " spread or a smaller gamma"
        )
    return power_law_tasks(gamma, largest)


def expected_pass_at_k(tasks: ToyTasks, k: int, temperature: float) -> float:
    """The mean pass@k of the eval set at temperature T: Σ w(c) [1 − (1 − p(c|T))^k].

    The result is accurate even if pass@k is small.

    k : a whole number of at least 1.
    temperature : the temperature T ≥ 0. At T = 0, every generation is 0.

    >>> round(expected_pass_at_k(gaussian_tasks(16.0), 64, 188.2), 4)
    0.6477
    """
    if temperature == 0:
        return float(tasks.weights[tasks.absolute_task_integers == 0].sum())
    # A task with |c| above `reach` passes with a probability of at most 1e-20.
    reach = math.sqrt(2 * temperature * (math.log(k) + 46))
    reached = slice(0, int(np.searchsorted(tasks.absolute_task_integers, reach, side="right")))
    failing = _log_single_failure_probability(tasks.absolute_task_integers[reached], temperature)
    return -float(tasks.weights[reached] @ np.expm1(k * failing))


def best_temperatures(tasks: ToyTasks, ks: Sequence[int]) -> list[BestTemperature]:
    """The best temperature T*(k), which maximises the mean pass@k of the eval set, for each k.

    At every maximum of pass@k, the mean E g² of g² over generations is between the smallest and the
    largest c² of the tasks. Outside this range, moving E g² closer to the range makes all tasks
    easier. The search evaluates pass@k at steps of 0.4 in log T. Near the best step, Brent's method
    finds the zero of the derivative Σ w (1−p)^(k−1) p (c² − E g²). T* is therefore accurate to
    about 1e-12. A search for the maximum would be accurate only to about 1e-6. If all tasks have
    the same |c|, T* is the same for all k (see `temperature_at_second_moment`).

    ks : whole numbers from 1 to 10⁹.
    Errors: ParameterError for a k above 10⁹.

    >>> [round(best.temperature, 2) for best in best_temperatures(gaussian_tasks(16.0), [2, 8, 64])]
    [11.5, 41.78, 188.22]
    """
    if max(ks) > LARGEST_K:
        raise ParameterError(f"k must be at most {LARGEST_K:,} in the toy model; got {max(ks)}")
    c = tasks.absolute_task_integers[tasks.weights > 0]
    low, high = (temperature_at_second_moment(float(end) ** 2) for end in (c[0], c[-1]))
    if low == high:
        return [BestTemperature(low, expected_pass_at_k(tasks, k, low)) for k in ks]
    low = low or 0.5 / math.log(1e18 * max(ks))
    points = 2 + math.ceil(math.log(high / low) / _LOG_TEMPERATURE_STEP)
    scan = np.exp(np.linspace(math.log(low), math.log(high), points))
    values = np.array([[expected_pass_at_k(tasks, k, t) for k in ks] for t in scan])
    return [
        _refined_best_temperature(tasks, k, scan, int(at))
        for k, at in zip(ks, values.argmax(axis=0), strict=True)
    ]


def fit_best_temperature_power_law(
    k: ArrayLike, s: ArrayLike, temperature: ArrayLike
) -> PowerLawFit:
    """Fit a power law to best temperatures T* by linear regression of log T* on log k and log s.

    k, s, temperature : three arrays of positive numbers, with one entry per point. The arrays
        contain k, the spread s of the tasks, and the best temperature T*.
    Errors: ParameterError for fewer than 4 points, or if k and s do not vary independently.

    >>> k, s = np.array([2, 4, 8, 2, 4]), np.array([1, 1, 1, 3, 3])
    >>> fit = fit_best_temperature_power_law(k, s, 0.5 * k**0.7 * s**1.3)
    >>> [round(v, 6) for v in (fit.factor, fit.k_exponent, fit.spread_exponent, fit.r2)]
    [0.5, 0.7, 1.3, 1.0]
    """
    logs = [np.log(np.asarray(v, dtype=np.float64)) for v in (k, s, temperature)]
    design = np.stack([np.ones_like(logs[0]), *logs[:2]], axis=1)
    if len(design) < 4 or np.linalg.matrix_rank(design) < 3:
        raise ParameterError(
            f"{len(design)} points of the grid have 0.03 < pass@k < 0.98, which is too few for a"
            " fit; choose another gamma"
        )
    coefficients = np.linalg.lstsq(design, logs[2], rcond=None)[0]
    residuals = logs[2] - design @ coefficients
    r2 = 1 - float(residuals @ residuals) / float(((logs[2] - logs[2].mean()) ** 2).sum())
    return PowerLawFit(
        math.exp(coefficients[0]), float(coefficients[1]), float(coefficients[2]), r2, len(design)
    )


class BestTemperaturePoint(NamedTuple):
    """The best temperature of one set of tasks for one k, and pass@k at this temperature.

    The temperature is None if pass@k is at least 1 − 1e-12. If the family is not a power law, the
    exponent `gamma` and `largest_task_integer` (the largest |c|) are None.
    """

    family: str
    gamma: float | None
    largest_task_integer: int | None
    spread: float
    k: int
    temperature: float | None
    pass_at_k: float

    @property
    def is_in_fit(self) -> bool:
        """Whether k and pass@k of the point are in the range that the regression uses."""
        scaling = self.largest_task_integer is None or self.k > POWER_LAW_FIT_ABOVE_K
        return scaling and FIT_PASS_AT_K_RANGE[0] < self.pass_at_k < FIT_PASS_AT_K_RANGE[1]


def best_temperature_points(
    family: str, tasks: ToyTasks, ks: Sequence[int], gamma: float
) -> list[BestTemperaturePoint]:
    """The best temperature of a set of tasks for each k.

    gamma : the exponent of the weights, used only if the family is a power law.
    """
    exponent, largest = (
        (gamma, int(tasks.absolute_task_integers[-1])) if family == "power-law" else (None, None)
    )
    spread = tasks.spread
    return [
        BestTemperaturePoint(
            family, exponent, largest, spread, k, None if math.isnan(t) else t, value
        )
        for k, (t, value) in zip(ks, best_temperatures(tasks, ks), strict=True)
    ]


def task_sets_at_grid_scales(family: str, gamma: float) -> list[ToyTasks]:
    """The tasks of a family at each scale of the grid. For a power law, the scales are spreads.
    Spreads that the power law cannot reach are left out."""
    scaled: dict[str, Callable[[float], ToyTasks]] = {
        "gaussian": gaussian_tasks,
        "exponential": exponential_tasks,
    }
    if family in scaled:
        return [scaled[family](scale) for scale in GRID_TASK_SCALES]
    sets = []
    for spread in GRID_TASK_SCALES:
        try:
            sets.append(tasks_of_spread(family, spread, gamma))
        except ParameterError:
            if spread == GRID_TASK_SCALES[0]:
                raise
    return sets


def _checked_positive(value: float) -> float:
    if not 0 < value < math.inf:
        raise ValueError("a temperature, scale or exponent must be positive and finite")
    return value


def _symmetric_toy_tasks(c: Floats, log_weights: Callable[[Floats], Floats]) -> ToyTasks:
    weights = np.exp(log_weights(c))
    weights[c > 0] *= 2
    return ToyTasks(c, weights / weights.sum())


def _log_sum_and_second_moment(t: float) -> tuple[float, float]:
    """The logarithm of Σ_g exp(−g²/2T) over all integers g, and the mean of g² with these weights.

    For T ≥ 1/2π, the sum uses Poisson summation: √(2πT) Σ_m exp(−2π²T m²). For every T, the fourth
    term of the sum is below exp(−16π) = 1.5e-22.
    """
    m = np.arange(1.0, 5.0)
    if t < 1 / (2 * math.pi):
        terms = 2 * np.exp(-(m**2) / (2 * t))
        return math.log1p(terms.sum()), float(m**2 @ terms) / (1 + float(terms.sum()))
    terms = 2 * np.exp(-2 * math.pi**2 * t * m**2)
    total = 1 + float(terms.sum())
    moment = t - (2 * math.pi * t) ** 2 * float(m**2 @ terms) / total
    return 0.5 * math.log(2 * math.pi * t) + math.log(total), moment


def _log_single_failure_probability(c: Floats, t: float) -> Floats:
    """The logarithm of the failure probability 1 − p(c|T), accurate for p near 0 and near 1."""
    logs = log_probability(c, t)
    above_half = logs > -math.log(2)
    failing = np.log1p(-np.exp(np.where(above_half, -math.inf, logs)))
    if above_half.any():
        with np.errstate(divide="ignore"):
            failing[above_half] = np.log(-np.expm1(logs[above_half]))
    return failing


def _refined_best_temperature(tasks: ToyTasks, k: int, scan: Floats, at: int) -> BestTemperature:
    from scipy.optimize import brentq

    around = scan[max(at - 1, 0)], scan[min(at + 1, len(scan) - 1)]
    ends = [_pass_at_k_slope(tasks, k, t) for t in around]
    t = float(scan[at])
    if ends[0] > 0 > ends[1]:
        t = float(brentq(lambda x: _pass_at_k_slope(tasks, k, x), *around, xtol=1e-14, rtol=1e-14))
    value, at_zero = expected_pass_at_k(tasks, k, t), expected_pass_at_k(tasks, k, 0.0)
    if at_zero >= value - 1e-15:
        return BestTemperature(0.0, at_zero)
    return BestTemperature(t if value < 1 - _ALL_PASS_TOLERANCE else math.nan, value)


def _pass_at_k_slope(tasks: ToyTasks, k: int, t: float) -> float:
    logs = log_probability(tasks.absolute_task_integers, t)
    exponents = logs + (k - 1) * _log_single_failure_probability(tasks.absolute_task_integers, t)
    gains = np.exp(exponents - exponents.max()) * (
        tasks.absolute_task_integers**2 - second_moment_of_generations(t)
    )
    return float(tasks.weights @ gains)
