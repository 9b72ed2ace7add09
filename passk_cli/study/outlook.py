"""Outlook: the variation of a metric in a run not yet made, and of the difference of two models;
assumed, or estimated from a pilot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from passk_cli.inference.design import Assumed, Difference, Piloted, relative_error
from passk_cli.inference.power import PairedTest, lattice_step
from passk_cli.inference.rounding import ROUNDING
from passk_cli.inference.weights import unit_values
from passk_cli.inference.widths import guard_widths
from passk_cli.metrics.registry import Metric
from passk_cli.report.words import plural, series_name

USUAL_CORRELATION = 0.5
MEASURED, ASSUMED, UNKNOWN = "measured", "assumed", "unknown"
# Families whose values are numbers of subsets over C(n, k).
_COUNTS_SUBSETS = ("pass@", "pass^", "gpass@")
# Predicted powers are rough nearer to 0 or 1 than this: benchmarks/plan.md.
_ROUGH = 0.1
# A variance of values between 0 and 1 below this is rounding.
_NO_VARIANCE = 1e-15
_ONE_ATTEMPT = "the pilot has one attempt per task, which cannot separate chance from spread"


@dataclass(frozen=True, eq=False)
class Outlook:
    """One metric: the variation of a task's value, and of the difference of two models.

    series : the model and its groups; of several models, the one whose values vary most.
    pair : the two models whose difference varies most; None when a second model like the first,
        with the assumed correlation, stands for all.
    excess : variance that clusters of tasks add, of a task's value and of its difference.
    cluster_size : tasks in the cluster of an average task; 1 without clusters.
    clusters : the cluster of each of the pilot's tasks; none without clusters.
    correlation : of the two models' true values over tasks; None where the pilot cannot tell.
    """

    metric: Metric
    values: Assumed | Piloted
    difference: Difference
    correlation: float | None
    series: tuple[str, ...] = ("",)
    pair: tuple[str, str] | None = None
    excess: tuple[float, float] = (0.0, 0.0)
    cluster_size: float = 1.0
    clusters: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The model and its groups, for people."""
        return series_name(self.series)

    @property
    def pilot(self) -> Piloted | None:
        """The pilot's values, when there is one."""
        return self.values if isinstance(self.values, Piloted) else None

    @property
    def correlation_source(self) -> str:
        """Origin of the correlation: "measured", "assumed", or "unknown" where there is none."""
        if self.correlation is None:
            return UNKNOWN
        return ASSUMED if self.pair is None else MEASURED

    @property
    def deviation(self) -> float | None:
        """Standard deviation of the true values over tasks; None where it is not known."""
        return None if math.isnan(self.values.between) else math.sqrt(self.values.between)

    @property
    def extreme(self) -> bool:
        """Whether a mean is so near to 0 or 1 that predicted powers are rough."""
        means = (self.difference.first.expected, self.difference.second.expected)
        return not all(_ROUGH <= mean <= 1.0 - _ROUGH for mean in means)

    @property
    def uncertainty(self) -> tuple[str, float]:
        """The units that a pilot drew independently, in words, and the relative standard error of
        the standard errors planned from them.

        Units are tasks with their values, or clusters with what each adds.
        """
        if self.pilot is None:
            return "", 0.0
        clusters = np.array(self.clusters) if self.clusters else None
        values = unit_values(self.pilot.values[:, None], clusters)[:, 0]
        noun = "task" if clusters is None else "cluster"
        return plural(len(values), noun), relative_error(values)

    def modelled(self, attempts: Sequence[int]) -> bool:
        """Whether designs with so many attempts rest on Beta rates beside the pilot's values."""
        if self.pilot is None or self.pilot.rates is None:
            return False
        beyond = any(not self.pilot.measured(n) for n in attempts)
        return beyond or (self.pair is None and not self.pilot.measures_between)

    def source(self, n: int) -> str:
        """Origin of the standard error at n attempts: "assumed", "pilot" or "pilot and model"."""
        if self.pilot is None:
            return ASSUMED
        return "pilot" if self.pilot.measured(n) else "pilot and model"

    def unknown(self, n: int) -> str:
        """Why there is no standard error at n attempts; empty when there is one."""
        if n < self.metric.k:
            return f"n={n} < k={self.metric.k}"
        return _ONE_ATTEMPT if math.isnan(self.variances(n)[0]) else ""

    def unknown_difference(self, n: int) -> str:
        """Why there is no standard error of a difference at n attempts; empty when there is one."""
        return self.unknown(n) or (_ONE_ATTEMPT if math.isnan(self.variances(n)[1]) else "")

    @property
    def largest_difference(self) -> float:
        """The largest difference that two models can have, around the expected value or at all."""
        expected = self.values.expected
        return 1.0 if self.pair else 2.0 * min(expected, 1.0 - expected)

    @property
    def can_differ(self) -> bool:
        """Whether two models can differ: not where both pass every attempt, or fail every one."""
        return self.largest_difference > ROUNDING

    def test(self, n: int, level: float) -> PairedTest:
        """The paired test at n attempts of either model."""
        odds = self.values.expected * (1.0 - self.values.expected)
        bend = 0.0 if self.pair or odds <= 0.0 else 1.0 / (4.0 * odds)
        step = lattice_step(n, self.metric.k) if self.metric.family in _COUNTS_SUBSETS else 0.0
        return PairedTest(self.variances(n)[1], level, step, bend)

    def variances(self, n: int) -> tuple[float, float]:
        """Variances of a task's value and of its difference, at n attempts; computed once.

        T times the variance of a mean over T tasks, so with what clusters add to it: what the tasks
        of a cluster share are true values, so more attempts do not make it smaller.  0 where it is
        rounding.
        """
        if n not in self._variances:
            both = (self.values.variance(n), self.difference.variance(n))
            value, difference = (
                0.0 if variance + excess <= _NO_VARIANCE else variance + excess
                for variance, excess in zip(both, self.excess, strict=True)
            )
            self._variances[n] = value, difference
        return self._variances[n]

    def widths(self, n: int, tasks: Sequence[int], level: float) -> list[float | None]:
        """Widths of the default interval for new tasks; None where there is no standard error.

        tasks : of each design.
        """
        if self.unknown(n) or self.metric.bounds is None:
            return [None] * len(tasks)
        values, shares = self.values.law(n)
        widths: list[float | None] = guard_widths(
            values, shares, np.array(tasks), level,
            bounds=self.metric.bounds, variance=self.variances(n)[0], unit=self.cluster_size,
        ).tolist()  # fmt: skip
        return widths

    @cached_property
    def _variances(self) -> dict[int, tuple[float, float]]:
        return {}


def alike(
    metric: Metric,
    values: Assumed | Piloted,
    correlation: float | None = None,
    series: tuple[str, ...] = ("",),
) -> Outlook:
    """A model and a second one similar to it; with the usual correlation where none is given."""
    correlation = USUAL_CORRELATION if correlation is None else correlation
    difference = Difference(values, values, correlation * values.between)
    return Outlook(metric, values, difference, correlation, series)
