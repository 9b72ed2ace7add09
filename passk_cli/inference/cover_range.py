"""Range for the share of tasks with a true success rate of at least a threshold.

A task with 4 passes in 4 attempts may have a success rate of 0.5, so the share of tasks with c / n
≥ τ is a biased estimate. The counts determine only a range, from the minimum to the maximum of the
share over all compatible distributions of rates (`compatible_rates`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.compatible_rates import CompatibleRateDistributions
from passk_cli.inference.extrapolation import (
    MAX_RANGE_WIDTH,
    largest_mostly_known_k,
    round_to_two_digits,
)

# passk predicts the range for numbers of attempts or tasks that are larger by the factors in
# _TIMES, up to _MOST_ATTEMPTS attempts per task.
_TIMES, _MOST_ATTEMPTS = (1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100), 1_000
# The target width is below the maximum width, because the width for future data is uncertain.
_TARGET_FUTURE_RANGE_WIDTH = 0.9 * MAX_RANGE_WIDTH


class DataNeededForPointEstimate(NamedTuple):
    """The number of attempts or tasks for which the range is narrow enough for a point estimate.

    attempts : number of attempts per task, with the same tasks.
    tasks : number of tasks, with the same attempts per task.
    At most one of the two fields is a number. Both fields are None if neither more attempts nor
    more tasks are enough.
    """

    attempts: int | None
    tasks: int | None


def share_above_threshold_range(
    rates: CompatibleRateDistributions, threshold: float
) -> tuple[float, float]:
    """The minimum and the maximum share of tasks with a rate of at least the threshold.

    A rate exactly at the threshold is included only in the maximum, because a rate just below the
    threshold is equally compatible with the counts.

    threshold : one of the rates in `rates.rate_grid`.
    """
    above: Floats = (rates.rate_grid > threshold).astype(np.float64)
    reached: Floats = (rates.rate_grid >= threshold).astype(np.float64)
    return max(0.0, rates.lowest_mean(above)), min(1.0, -rates.lowest_mean(-reached))


@dataclass(frozen=True, eq=False)
class ShareAboveThresholdRange:
    """The range for the share of tasks with a success rate of at least a threshold.

    n, c : numbers of attempts and passes per task.  threshold : success rate in (0, 1].
    level : confidence level.
    clusters : a cluster code 0 … G−1 per task, or None. With clusters of m tasks, the log
        likelihood is multiplied by Σm / Σm², as if all tasks of a cluster were identical.

    >>> n = np.full(200, 40)
    >>> c = np.repeat([4, 38], [150, 50])  # a quarter of the tasks pass nearly always
    >>> share = ShareAboveThresholdRange(n, c, 0.7)
    >>> low, high = share.limits
    >>> bool(low < 0.25 < high), share.point_estimate is not None
    (True, True)
    """

    n: Ints
    c: Ints
    threshold: float
    level: float = 0.95
    clusters: Ints | None = None

    @cached_property
    def _compatible_distributions(self) -> CompatibleRateDistributions:
        worth = 1.0
        if self.clusters is not None:
            worth = len(self.n) / float((np.bincount(self.clusters) ** 2).sum())
        return CompatibleRateDistributions.from_tasks(
            self.n, self.c, most_k=1, level=self.level, worth=worth, thresholds=(self.threshold,)
        )

    @cached_property
    def limits(self) -> tuple[float, float]:
        """The minimum and the maximum share of tasks over all compatible distributions of rates."""
        return share_above_threshold_range(self._compatible_distributions, self.threshold)

    @property
    def point_estimate(self) -> float | None:
        """The share of tasks in the fitted distribution of rates; None if the range is too wide.

        The share includes half of the tasks with a rate exactly at the threshold, and is limited to
        the range.
        """
        low, high = self.limits
        if high - low > MAX_RANGE_WIDTH:
            return None
        rates, masses = (
            self._compatible_distributions.rate_grid,
            self._compatible_distributions.smooth_masses,
        )
        fitted = (masses[rates > self.threshold].sum() + masses[rates >= self.threshold].sum()) / 2
        return min(max(float(fitted), low), high)

    @property
    def mostly_available_attempt_count(self) -> int:
        """The largest number of attempts that at least nine in ten tasks have."""
        return largest_mostly_known_k(self.n)

    @cached_property
    def data_needed(self) -> DataNeededForPointEstimate:
        """The number of attempts or tasks for which the range is narrow enough, if new data are
        similar."""
        attempts = (
            round_to_two_digits(self.mostly_available_attempt_count * times, up=True)
            for times in _TIMES
        )
        for more in (n for n in attempts if n <= _MOST_ATTEMPTS):
            if self._is_share_range_narrow_enough(
                self._compatible_distributions.compatible_with_more_attempts(more)
            ):
                return DataNeededForPointEstimate(more, None)
        for times in _TIMES:
            if self._is_share_range_narrow_enough(
                replace(
                    self._compatible_distributions,
                    task_counts=self._compatible_distributions.task_counts * times,
                )
            ):
                return DataNeededForPointEstimate(
                    None, round_to_two_digits(math.ceil(len(self.n) * times), up=True)
                )
        return DataNeededForPointEstimate(None, None)

    def _is_share_range_narrow_enough(self, rates: CompatibleRateDistributions) -> bool:
        low, high = share_above_threshold_range(rates, self.threshold)
        return high - low <= _TARGET_FUTURE_RANGE_WIDTH
