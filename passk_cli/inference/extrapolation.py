"""pass@k and pass^k beyond the attempts made: the range that the counts leave, and a point in it.

The range holds for any distribution of success rates that the counts allow (`compatible_rates`).
The point is an average of smooth models (`rate_models`); it exists only if the range is narrow.
pass^k is 1 − pass@k of the failures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.compatible_rates import CompatibleRates
from passk_cli.inference.rate_models import ModelAverage, average_models
from passk_cli.inference.stopping import stopped_on_outcome
from passk_cli.metrics.pass_k import pass_hat_k_pairs

FARTHEST = 1_000_000_000
# A point is given only if the range is at most this wide.
WIDEST = 0.4
# The largest known k is one that this many of ten tasks have enough attempts for.
_MOST_TASKS = 9
# Numbers of attempts that are tried, as multiples of the attempts made, and the largest number.
_TIMES, _MOST_ATTEMPTS = (2, 5, 10), 20_000
# How many k's the log-logit line is laid through, evenly in log k.
_LINE_KS = 24


@dataclass(frozen=True)
class AttemptsNeeded:
    """What more attempts would determine: with `attempts` at each task, pass@k up to `k`."""

    attempts: int
    k: int


@dataclass(frozen=True, eq=False)
class Extrapolation:
    """What attempts and passes imply for pass@k at any k, or with `mirrored` for pass^k.

    n, c : (tasks,), attempts and passes.  level : of the range and of the average's interval.
    clusters : a code 0 … G−1 per task, or None. With clusters of m tasks the log likelihood is
        multiplied by Σm / Σm², as if all tasks of a cluster were identical.

    >>> rng = np.random.default_rng(0)
    >>> n = np.full(200, 50)
    >>> prediction = Extrapolation(n, rng.binomial(n, rng.beta(0.3, 2, 200)))
    >>> low, high = prediction.range(100)
    >>> point = prediction.point_estimate(100)
    >>> bool(low < point < high), prediction.largest_known_k
    (True, 50)
    """

    n: Ints
    c: Ints
    mirrored: bool = False
    level: float = 0.95
    clusters: Ints | None = None
    _ranges: dict[int, tuple[float, float]] = field(default_factory=dict, repr=False)

    @property
    def largest_known_k(self) -> int:
        """The largest k for which nine tasks in ten have enough attempts."""
        return largest_known_k(self.n)

    @property
    def passes(self) -> Ints:
        """The outcomes that count as passes: (tasks,); with `mirrored` the failures."""
        return self.n - self.c if self.mirrored else self.c

    @cached_property
    def _task_weight(self) -> float:
        if self.clusters is None:
            return 1.0
        return len(self.n) / float((np.bincount(self.clusters) ** 2).sum())

    def range(self, k: int) -> tuple[float, float]:
        """The lowest and the highest value at k over all distributions that the counts allow."""
        if k not in self._ranges:
            low, high = _range_at(self._rates(k), k)
            self._ranges[k] = (1 - high, 1 - low) if self.mirrored else (low, high)
        return self._ranges[k]

    def _rates(self, most_k: int) -> CompatibleRates:
        return CompatibleRates.from_tasks(
            self.n, self.passes, most_k=most_k, level=self.level, worth=self._task_weight
        )

    def is_determined(self, k: int) -> bool:
        """Whether the range at k is narrow enough for a point."""
        low, high = self.range(k)
        return high - low <= WIDEST

    def model_average(self, ks: Ints) -> ModelAverage:
        """The average of models at each of ks: mean and limits."""
        estimate = average_models(
            self.n, self.passes, ks, level=self.level, worth=self._task_weight
        )
        if not self.mirrored:
            return estimate
        return ModelAverage(1 - estimate.values, 1 - estimate.high, 1 - estimate.low)

    def point_estimate(self, k: int) -> float | None:
        """The average's mean, moved into the range; None if the range is too wide for a point."""
        if not self.is_determined(k):
            return None
        low, high = self.range(k)
        return min(max(float(self.model_average(np.array([k])).values[0]), low), high)

    def logit_line(self, ks: Ints) -> Floats:
        """A heuristic: the line of logit pass@k in log k, fitted to the measured values: (ks,).

        NaN if fewer than two of its points are strictly between 0 and 1.
        """
        from passk_cli.scipy_special import expit, logit

        line_ks = np.unique(np.geomspace(1, int(self.n.min()), _LINE_KS).round().astype(np.int64))
        passing = np.array(
            [1 - pass_hat_k_pairs(self.n, self.n - self.passes, k).mean() for k in line_ks]
        )
        inside = (passing > 0) & (passing < 1)
        if inside.sum() < 2:
            return np.full(len(ks), math.nan)
        slope, height = np.polyfit(np.log(line_ks[inside]), logit(passing[inside]), 1)
        line: Floats = expit(height + slope * np.log(ks))
        return 1 - line if self.mirrored else line

    def attempts_needed(self, k: int) -> AttemptsNeeded | None:
        """The attempts that would determine k; if none would, the largest k that the most attempts
        would.

        The calculation assumes tasks like the observed ones. None if even the most attempts would
        determine nothing beyond themselves, for example because there are few tasks.
        """
        rates = self._rates(k)
        attempt_numbers = [min(times * self.largest_known_k, k) for times in _TIMES]
        if attempt_numbers[-1] > _MOST_ATTEMPTS:
            return None
        for attempts in attempt_numbers:
            future_rates = rates.with_attempts(attempts)
            if _width(future_rates, k) <= WIDEST:
                return AttemptsNeeded(attempts, k)
        low, high = attempts, k
        if _width(future_rates, low) > WIDEST:
            return None
        while round_to_two_digits(low, up=True) < high - 1:
            middle = round_to_two_digits(math.sqrt(low * high), up=True)
            if middle >= high:
                break
            low, high = (middle, high) if _width(future_rates, middle) <= WIDEST else (low, middle)
        return AttemptsNeeded(attempts, low)


def round_to_two_digits(k: float, *, up: bool = False) -> int:
    """k rounded to two digits, down or up.

    >>> round_to_two_digits(1_287), round_to_two_digits(1_287, up=True), round_to_two_digits(7)
    (1200, 1300, 7)
    """
    unit = 10 ** max(0, math.floor(math.log10(max(k, 1))) - 1)
    return int(unit * (math.ceil if up else math.floor)(k / unit))


def _range_at(rates: CompatibleRates, k: int) -> tuple[float, float]:
    """The range of pass@k."""
    with np.errstate(divide="ignore"):
        return rates.mean_range(-np.expm1(k * np.log1p(-rates.rates)))


def _width(rates: CompatibleRates, k: int) -> float:
    low, high = _range_at(rates, k)
    return high - low


def largest_known_k(n: Ints) -> int:
    """The largest k for which nine tasks in ten have enough attempts."""
    tasks = -(-_MOST_TASKS * len(n) // 10)
    return int(np.sort(n)[::-1][tasks - 1])


def refusal_reason(n: Ints, c: Ints) -> str:
    """Why nothing can be estimated at k beyond the attempts of these tasks; "" if there is no
    reason.

    Only attempts that ended with a pass are refused, since their number depends on the outcomes.

    >>> refusal_reason(np.full(12, 4), np.arange(12) % 5)
    ''
    """
    if not stopped_on_outcome(n, c):
        return ""
    usable, short = int(n.min()), int((n < n.max()).sum())
    return (
        f"sampling seems to have stopped when a task passed ({short:,} of {len(n):,} tasks have"
        f" fewer than {n.max():,} attempts), so the number of attempts depends on the outcomes;"
        f" use only the first {'attempt' if usable == 1 else f'{usable:,} attempts'} at every task,"
        f" or make {n.max():,} attempts at every task"
    )
