"""Extrapolation of pass@k and pass^k above the number of attempts: a range and a point estimate.

The range is valid for every distribution of success rates that is compatible with the counts
(`compatible_rates`). The point estimate is an average of smooth models (`rate_models`), and exists
only if the range is narrow. passk computes pass^k as 1 − pass@k with passes and failures exchanged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.compatible_rates import CompatibleRateDistributions
from passk_cli.inference.rate_models import RateModelAverageOfPassAtK, averaged_pass_at_k
from passk_cli.inference.stopping import has_optional_stopping
from passk_cli.metrics.pass_k import pass_hat_k_per_pair

# passk extrapolates pass@k only up to k = MAX_K.
MAX_K = 1_000_000_000
# passk reports a point estimate only if the extrapolated range is at most MAX_RANGE_WIDTH wide.
MAX_RANGE_WIDTH = 0.4
# A metric at a given k is treated as known if at least _KNOWN_K_TASK_TENTHS tenths of the tasks
# have k attempts.
_KNOWN_K_TASK_TENTHS = 9
# passk predicts the range for numbers of attempts that are larger by the factors in _TIMES, up to
# _MOST_ATTEMPTS attempts per task.
_TIMES, _MOST_ATTEMPTS = (2, 5, 10), 20_000
# The log-logit line is fitted to _LOGIT_LINE_K_COUNT values of k, which are evenly spaced in log k.
_LOGIT_LINE_K_COUNT = 24


@dataclass(frozen=True)
class AttemptsToDetermineK:
    """A number of attempts per task, and the largest k for which these attempts determine
    pass@k."""

    attempts: int
    determined_k: int


@dataclass(frozen=True, eq=False)
class Extrapolation:
    """The range of pass@k (or of pass^k if `for_pass_hat_k`) that the counts imply at each k.

    n, c : numbers of attempts and passes per task.  level : confidence level of the range and of
        the model average.
    clusters : a cluster code 0 … G−1 per task, or None. With clusters of m tasks, the log
        likelihood is multiplied by Σm / Σm², as if all tasks of a cluster were identical.

    >>> rng = np.random.default_rng(0)
    >>> n = np.full(200, 50)
    >>> prediction = Extrapolation(n, rng.binomial(n, rng.beta(0.3, 2, 200)))
    >>> low, high = prediction.range(100)
    >>> point = prediction.point_estimate(100)
    >>> bool(low < point < high), prediction.largest_mostly_known_k
    (True, 50)
    """

    n: Ints
    c: Ints
    for_pass_hat_k: bool = False
    level: float = 0.95
    clusters: Ints | None = None
    _ranges: dict[int, tuple[float, float]] = field(default_factory=dict, repr=False)

    @property
    def largest_mostly_known_k(self) -> int:
        """The largest k for which at least nine in ten tasks have k attempts."""
        return largest_mostly_known_k(self.n)

    @property
    def pass_or_failure_counts(self) -> Ints:
        """The number of passes of each task, or the number of failures if `for_pass_hat_k` is
        true."""
        return self.n - self.c if self.for_pass_hat_k else self.c

    @cached_property
    def _log_likelihood_cluster_factor(self) -> float:
        if self.clusters is None:
            return 1.0
        return len(self.n) / float((np.bincount(self.clusters) ** 2).sum())

    def range(self, k: int) -> tuple[float, float]:
        """The minimum and the maximum of pass@k over all compatible distributions of rates."""
        if k not in self._ranges:
            low, high = _range_at(self._compatible_distributions(k), k)
            self._ranges[k] = (1 - high, 1 - low) if self.for_pass_hat_k else (low, high)
        return self._ranges[k]

    def _compatible_distributions(self, most_k: int) -> CompatibleRateDistributions:
        return CompatibleRateDistributions.from_tasks(
            self.n,
            self.pass_or_failure_counts,
            most_k=most_k,
            level=self.level,
            worth=self._log_likelihood_cluster_factor,
        )

    def is_determined(self, k: int) -> bool:
        """Whether the range at k is narrow enough for a point estimate."""
        low, high = self.range(k)
        return high - low <= MAX_RANGE_WIDTH

    def model_average(self, ks: Ints) -> RateModelAverageOfPassAtK:
        """Means and limits of the average of smooth models, at each k of `ks`."""
        estimate = averaged_pass_at_k(
            self.n,
            self.pass_or_failure_counts,
            ks,
            level=self.level,
            worth=self._log_likelihood_cluster_factor,
        )
        if not self.for_pass_hat_k:
            return estimate
        return RateModelAverageOfPassAtK(
            1 - estimate.posterior_means, 1 - estimate.high, 1 - estimate.low
        )

    def point_estimate(self, k: int) -> float | None:
        """The average of models at k, limited to the range; None if the range is too wide."""
        if not self.is_determined(k):
            return None
        low, high = self.range(k)
        return min(max(float(self.model_average(np.array([k])).posterior_means[0]), low), high)

    def pass_at_k_from_logit_line(self, ks: Ints) -> Floats:
        """Extrapolate pass@k with a line through logit pass@k over log k, which is only a
        heuristic. The result is NaN if there are fewer than two points for the line."""
        from passk_cli.scipy_special import expit, logit

        line_ks = np.unique(
            np.geomspace(1, int(self.n.min()), _LOGIT_LINE_K_COUNT).round().astype(np.int64)
        )
        passing = np.array(
            [
                1 - pass_hat_k_per_pair(self.n, self.n - self.pass_or_failure_counts, k).mean()
                for k in line_ks
            ]
        )
        inside = (passing > 0) & (passing < 1)
        if inside.sum() < 2:
            return np.full(len(ks), math.nan)
        slope, height = np.polyfit(np.log(line_ks[inside]), logit(passing[inside]), 1)
        line: Floats = expit(height + slope * np.log(ks))
        return 1 - line if self.for_pass_hat_k else line

    def attempts_needed(self, k: int) -> AttemptsToDetermineK | None:
        """The number of attempts that would determine pass@k at the given k, or at the largest
        possible k below it.

        The result is None if no number of attempts that passk tries would determine pass@k at a
        larger k, for example because there are few tasks.
        """
        rates = self._compatible_distributions(k)
        attempt_numbers = [min(times * self.largest_mostly_known_k, k) for times in _TIMES]
        if attempt_numbers[-1] > _MOST_ATTEMPTS:
            return None
        for attempts in attempt_numbers:
            future_rates = rates.compatible_with_more_attempts(attempts)
            if _width(future_rates, k) <= MAX_RANGE_WIDTH:
                return AttemptsToDetermineK(attempts, k)
        low, high = attempts, k
        if _width(future_rates, low) > MAX_RANGE_WIDTH:
            return None
        while round_to_two_digits(low, up=True) < high - 1:
            middle = round_to_two_digits(math.sqrt(low * high), up=True)
            if middle >= high:
                break
            low, high = (
                (middle, high) if _width(future_rates, middle) <= MAX_RANGE_WIDTH else (low, middle)
            )
        return AttemptsToDetermineK(attempts, low)


def round_to_two_digits(k: float, *, up: bool = False) -> int:
    """The number k, rounded down (or up) to two significant digits.

    >>> round_to_two_digits(1_287), round_to_two_digits(1_287, up=True), round_to_two_digits(7)
    (1200, 1300, 7)
    """
    unit = 10 ** max(0, math.floor(math.log10(max(k, 1))) - 1)
    return int(unit * (math.ceil if up else math.floor)(k / unit))


def _range_at(rates: CompatibleRateDistributions, k: int) -> tuple[float, float]:
    with np.errstate(divide="ignore"):
        return rates.mean_range(-np.expm1(k * np.log1p(-rates.rate_grid)))


def _width(rates: CompatibleRateDistributions, k: int) -> float:
    low, high = _range_at(rates, k)
    return high - low


def largest_mostly_known_k(n: Ints) -> int:
    """The largest k for which at least nine in ten tasks have k attempts."""
    tasks = -(-_KNOWN_K_TASK_TENTHS * len(n) // 10)
    return int(np.sort(n)[::-1][tasks - 1])


def stopped_on_outcome_reason(n: Ints, c: Ints) -> str:
    """The reason why passk does not extrapolate; "" if there is no reason.

    The only possible reason is that the sampling of attempts stopped at a pass. In this case, the
    number of attempts depends on the outcomes.

    >>> stopped_on_outcome_reason(np.full(12, 4), np.arange(12) % 5)
    ''
    """
    if not has_optional_stopping(n, c):
        return ""
    usable, short = int(n.min()), int((n < n.max()).sum())
    return (
        f"sampling seems to have stopped when a task passed ({short:,} of {len(n):,} tasks have"
        f" fewer than {n.max():,} attempts), so the number of attempts depends on the outcomes;"
        f" use only the first {'attempt' if usable == 1 else f'{usable:,} attempts'} at every task,"
        f" or make {n.max():,} attempts at every task"
    )
