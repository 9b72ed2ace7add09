"""Pairs of models, task by task: difference, interval, p-value and a verdict in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import DataError
from passk_cli.inference.intervals import Interval, Sample, interval
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.study.values import NOTHING, TaskValues

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.study.confidence import Confidence

TESTS = ("sign-flip", "mid-p", "t")
UNPAIRED = ("drop", "error")
BETTER, WORSE, EQUIVALENT, UNDECIDED = "better", "worse", "equivalent", "undecided"


@dataclass(frozen=True)
class Comparison:
    """One model against another at one metric, on the tasks both have.

    first, second : the two; difference = first − second.  d : its value at each shared task.
    only_first, only_second : tasks that the other one lacks, left out.
    interval : of the mean difference.  p, adjusted : of no difference.  test : which.
    verdict : of the first: better, worse, equivalent, undecided; "" when nothing can be said.
    """

    first: TaskValues
    second: TaskValues
    tasks: NDArray[np.int64]
    values: tuple[NDArray[np.float64], NDArray[np.float64]]
    only_first: int
    only_second: int
    clusters: NDArray[np.int64] | None = None
    reason: str = ""
    interval: Interval | None = None
    p: float = math.nan
    adjusted: float = math.nan
    test: str = ""
    verdict: str = ""

    @property
    def d(self) -> NDArray[np.float64]:
        """The difference at each shared task."""
        return self.values[0] - self.values[1]

    @property
    def estimates(self) -> tuple[float | None, float | None]:
        """Both means on the shared tasks."""
        if self.reason:
            return None, None
        return float(self.values[0].mean()), float(self.values[1].mean())

    @property
    def difference(self) -> float | None:
        """The mean difference."""
        return None if self.reason else float(self.d.mean())


def difference_interval(comparison: Comparison, confidence: Confidence) -> Interval:
    """The interval of the mean difference, which lies in ±(high − low)."""
    low, high = comparison.first.bounds(confidence)
    within = None
    if confidence.population != NEW_TASKS:
        shared = comparison.tasks
        within = sum(
            (m.within[np.isin(m.tasks, shared)] for m in (comparison.first, comparison.second)),
            np.zeros(len(shared)),
        )
    sample = Sample(
        comparison.d,
        low=low - high,
        high=high - low,
        within=within,
        clusters=comparison.clusters,
        resamples=confidence.resamples,
        seed=confidence.seed,
    )
    method = confidence.for_differences().method
    return interval(sample, method, confidence.level, confidence.population)


def match(first: TaskValues, second: TaskValues, unpaired: str = "drop") -> Comparison:
    """The two on the tasks both have; unpaired tasks are counted, or refused with "error"."""
    shared = np.intersect1d(first.tasks, second.tasks)
    only = (len(first.tasks) - len(shared), len(second.tasks) - len(shared))
    if any(only) and unpaired == "error":
        raise DataError(
            f"{' '.join(first.series)} against {' '.join(second.series)}",
            f"{only[0]} tasks only the first has, {only[1]} only the second",
            "compare on the shared ones with --unpaired drop",
        )
    reason = ""
    for one in (first, second):
        if not one.there:
            reason = f"{' '.join(one.series)}: {one.reason}"
    if not len(shared):
        reason = "no task that both have"
    if reason:
        return Comparison(first, second, shared, (NOTHING, NOTHING), *only, reason=reason)
    here = np.isin(first.tasks, shared)
    values = first.values[here], second.values[np.isin(second.tasks, shared)]
    clusters = None
    if first.clusters is not None:
        clusters = np.unique(first.clusters[here], return_inverse=True)[1]
    return Comparison(first, second, shared, values, *only, clusters)
