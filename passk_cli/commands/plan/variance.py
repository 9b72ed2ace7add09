"""Variance components, assumed or estimated, of a metric and of differences between models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from passk_cli.arrays import group_by
from passk_cli.commands.plan.interval_widths import guard_interval_widths
from passk_cli.errors import ParameterError
from passk_cli.inference.bootstrap_weights import cluster_contributions_to_means
from passk_cli.inference.design import (
    AssumedMetricMoments,
    PilotEstimate,
    PlannedDifferenceMoments,
    cluster_excess_variance,
    true_difference_variance,
)
from passk_cli.inference.difference import difference_distribution
from passk_cli.inference.intervals import IntervalData
from passk_cli.inference.power import PairedTest, half_lattice_distance
from passk_cli.limits import refuse_many_attempts, refuse_many_pairs
from passk_cli.metrics.registry import Metric
from passk_cli.report.phrases import SeriesName, plural
from passk_cli.study.analysis import Analysis
from passk_cli.study.values import TaskValues
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix

USUAL_CORRELATION = 0.5
MEASURED, ASSUMED, UNKNOWN = "measured", "assumed", "unknown"
_SUBSET_COUNTING_METRIC_FAMILIES = ("pass@", "pass^", "gpass@")
# The predicted power is only approximate if a mean is within 0.1 of 0 or 1 (benchmarks/plan.md).
_NEAR_0_OR_1_MEAN_DISTANCE = 0.1
# A variance up to 1e-15 counts as 0, because it is a rounding error for values from 0 to 1.
_NEGLIGIBLE_VARIANCE = 1e-15
_ONE_ATTEMPT_REASON = "the pilot has one attempt per task, which cannot separate chance from spread"


@dataclass(frozen=True, eq=False)
class VarianceComponents:
    """The variance of a metric over tasks and attempts, and of the difference between two models.

    series : the model and its groups. If there are several models, this is the model with the most
        variable values.
    model_pair : the two models with the most variable difference; None if the second model is
        assumed to be similar to the first model.
    difference_variance_limits : 95 % limits of the variance of true differences over tasks; None if
        not estimated.
    cluster_excess_variances : variance that clusters of tasks add to the value and to the
        difference at a task.
    cluster_size_of_average_task : number of tasks in the cluster of an average task; 1 without
        clusters.
    cluster_codes : for each task of the pilot, the code of its cluster; empty without clusters.
    correlation : correlation of the true values of two models over tasks; None if unknown.
    """

    metric: Metric
    metric_moments: AssumedMetricMoments | PilotEstimate
    model_difference_moments: PlannedDifferenceMoments
    correlation: float | None
    series: tuple[str, ...] = ("",)
    model_pair: tuple[str, str] | None = None
    difference_variance_limits: tuple[float, float] | None = None
    cluster_excess_variances: tuple[float, float] = (0.0, 0.0)
    cluster_size_of_average_task: float = 1.0
    cluster_codes: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return SeriesName(self.series)

    @property
    def pilot(self) -> PilotEstimate | None:
        """The estimate from the pilot; None if there is no pilot."""
        return self.metric_moments if isinstance(self.metric_moments, PilotEstimate) else None

    @property
    def correlation_source(self) -> str:
        if self.correlation is None:
            return UNKNOWN
        return ASSUMED if self.model_pair is None else MEASURED

    def with_true_difference_variance(self, between: float) -> VarianceComponents:
        """A copy with `between` as the variance of true differences over tasks."""
        return replace(
            self,
            model_difference_moments=replace(
                self.model_difference_moments, estimated_between_variance=between
            ),
        )

    @property
    def model_correlation_limits(self) -> tuple[float, float] | None:
        """95 % limits of the correlation; None if the correlation was not estimated."""
        if self.difference_variance_limits is None or self.correlation is None:
            return None
        high, low = (
            self.with_true_difference_variance(end).model_difference_moments.correlation
            for end in self.difference_variance_limits
        )
        return (low or 0.0), (high or 0.0)

    @property
    def true_value_standard_deviation(self) -> float | None:
        """The standard deviation of the true values over tasks; None if unknown."""
        variance = self.metric_moments.between_variance
        return None if math.isnan(variance) else math.sqrt(variance)

    @property
    def has_mean_near_0_or_1(self) -> bool:
        """Whether the mean of a model is so close to 0 or 1 that power is uncertain."""
        means = (
            self.model_difference_moments.first_model.expected,
            self.model_difference_moments.second_model.expected,
        )
        return not all(
            _NEAR_0_OR_1_MEAN_DISTANCE <= mean <= 1.0 - _NEAR_0_OR_1_MEAN_DISTANCE for mean in means
        )

    @property
    def pilot_size_and_error_uncertainty(self) -> tuple[str, float]:
        """The size of the pilot, and the relative uncertainty of planned standard errors.

        The size is the number of tasks or, if the pilot has clusters, the number of clusters.
        """
        if self.pilot is None:
            return "", 0.0
        clusters = np.array(self.cluster_codes) if self.cluster_codes else None
        values = cluster_contributions_to_means(self.pilot.task_values[:, None], clusters)[:, 0]
        noun = "task" if clusters is None else "cluster"
        return plural(len(values), noun), float(
            difference_distribution(values).relative_error_of_standard_error[0]
        )

    def needs_beta_rate_assumption(self, attempts: Sequence[int]) -> bool:
        """Whether designs with these numbers of attempts assume Beta-distributed success rates."""
        if self.pilot is None or self.pilot.fitted_beta_rates is None:
            return False
        beyond = any(not self.pilot.is_variance_measured_at(n) for n in attempts)
        return beyond or (self.model_pair is None and not self.pilot.is_between_variance_measured)

    def data_source_of_standard_error(self, n: int) -> str:
        """The source of the standard error: "assumed", "pilot" or "pilot and model"."""
        if self.pilot is None:
            return ASSUMED
        return "pilot" if self.pilot.is_variance_measured_at(n) else "pilot and model"

    def reason_standard_error_unknown(self, n: int) -> str:
        """The reason why the standard error at n attempts is unknown, or "" if it is known."""
        if n < self.metric.k:
            return f"n={n} < k={self.metric.k}"
        return _ONE_ATTEMPT_REASON if math.isnan(self.variances(n)[0]) else ""

    def reason_difference_unknown(self, n: int) -> str:
        """The reason why the standard error of a difference is unknown, or "" if it is known."""
        return self.reason_standard_error_unknown(n) or (
            _ONE_ATTEMPT_REASON if math.isnan(self.variances(n)[1]) else ""
        )

    @property
    def largest_difference(self) -> float:
        expected = self.metric_moments.expected
        return 1.0 if self.model_pair else 2.0 * min(expected, 1.0 - expected)

    def paired_test(self, n: int, level: float) -> PairedTest:
        odds = self.metric_moments.expected * (1.0 - self.metric_moments.expected)
        bend = 0.0 if self.model_pair or odds <= 0.0 else 1.0 / (4.0 * odds)
        step = (
            half_lattice_distance(n, self.metric.k)
            if self.metric.family in _SUBSET_COUNTING_METRIC_FAMILIES
            else 0.0
        )
        return PairedTest(self.variances(n)[1], level, step, bend)

    def variances(self, n: int) -> tuple[float, float]:
        """The variances of the value and of the difference at a task with n attempts.

        Each variance is T times the variance of a mean over T tasks, and includes the variance that
        clusters add. More attempts do not reduce the variance that clusters add, because tasks in
        the same cluster have similar true values.
        """
        if n not in self._variances_by_attempt_count:
            sampling_variances = (
                self.metric_moments.variance(n),
                self.model_difference_moments.variance(n),
            )
            value, difference = (
                0.0 if variance + excess <= _NEGLIGIBLE_VARIANCE else variance + excess
                for variance, excess in zip(
                    sampling_variances, self.cluster_excess_variances, strict=True
                )
            )
            self._variances_by_attempt_count[n] = value, difference
        return self._variances_by_attempt_count[n]

    def interval_widths(self, n: int, tasks: Sequence[int], level: float) -> list[float | None]:
        """The width of the default interval for each number of tasks, or None if it is unknown."""
        if self.reason_standard_error_unknown(n) or self.metric.bounds is None:
            return [None] * len(tasks)
        values, shares = self.metric_moments.distribution(n)
        widths: list[float | None] = guard_interval_widths(
            values, shares, np.array(tasks), level,
            bounds=self.metric.bounds, variance=self.variances(n)[0],
            unit=self.cluster_size_of_average_task,
        ).tolist()  # fmt: skip
        return widths

    @cached_property
    def _variances_by_attempt_count(self) -> dict[int, tuple[float, float]]:
        return {}


def similar_model_components(
    metric: Metric,
    values: AssumedMetricMoments | PilotEstimate,
    correlation: float | None = None,
    series: tuple[str, ...] = ("",),
) -> VarianceComponents:
    """The variance components of two models with correlated values of the same distribution."""
    correlation = USUAL_CORRELATION if correlation is None else correlation
    difference = PlannedDifferenceMoments(values, values, correlation * values.between_variance)
    return VarianceComponents(metric, values, difference, correlation, series)


@dataclass(frozen=True)
class PilotAnalysis:
    """The variance components that a pilot shows, and the metrics that cannot be planned.

    unusable_values_by_reason : maps each reason to the values that cannot be used in a plan for
        this reason.
    cluster_design_effect : factor by which clusters increase the number of tasks that the first
        metric needs; None without clusters.
    """

    variance_components: list[VarianceComponents]
    unusable_values_by_reason: dict[str, list[TaskValues]]
    cluster_design_effect: float | None


def analyse_pilot(study: Analysis, correlation: float | None) -> PilotAnalysis:
    """Estimate the variance components of each metric of a pilot.

    correlation : assumed correlation, only for a pilot with one model.
    Errors: ParameterError if a correlation is given although the pilot has several models.
    """
    refuse_many_attempts("the pilot", int(study.counts.n.max()))
    silent = group_by(study.task_values(), _reason_unusable)
    usable = group_by(silent.pop("", ()), lambda values: values.metric.name)
    metric_components = []
    for metric in study.metrics:
        if estimable := usable.get(metric.name):
            metric_components.append(_components_of_most_variable_model(estimable, correlation))
    clustering = None
    if metric_components and study.counts.clusters is not None:
        first = metric_components[0]
        values = next(v for v in usable[first.metric.name] if v.series == first.series)
        clustering = 1.0 + first.cluster_excess_variances[0] / float(values.values.var(ddof=1))
    return PilotAnalysis(metric_components, silent, clustering)


def _reason_unusable(values: TaskValues) -> str:
    """The reason why a plan cannot use these values, or "" if a plan can use them."""
    if not values.has_values:
        return values.reason
    if len(values.values) < 2:
        return "one task does not show how tasks differ"
    if _are_all_in_one_cluster(values):
        return "one cluster does not show how clusters differ"
    if IntervalData(values.values).all_equal:
        same = f"every task has the value {values.values[0]:g}"
        return f"{same}, so the spread of new tasks is unknown"
    return ""


def _are_all_in_one_cluster(values: TaskValues) -> bool:
    return values.clusters is not None and bool(np.ptp(values.clusters) == 0)


def _components_of_most_variable_model(
    usable: Sequence[TaskValues], correlation: float | None
) -> VarianceComponents:
    """Estimate the variance components of a metric for the most variable model and pair of models.

    With one attempt per task, the correlation is unknown. The plan then has only designs with one
    attempt per task, which need no correlation.
    """
    widest = max(usable, key=lambda values: float(values.values.var()))
    values, clusters = PilotEstimate(widest.metric, widest.n, widest.c), widest.clusters
    components = similar_model_components(widest.metric, values, correlation, widest.series)
    if pairs := _pairs_with_varying_difference(usable):
        if correlation is not None:
            raise ParameterError(
                OptionWithValue("--correlation"),
                "this pilot has several models, so passk computes the correlation from the pilot",
                name="contradicting-options", settles=[
                    SuggestedFix({"--correlation": None}),
                    SuggestedFix({"--model": (widest.series[0],)}, "plans with one model"),
                ],
            )  # fmt: skip
        first_model, second_model = max(pairs, key=_observed_difference_variance)
        names = (first_model.name, second_model.name)
        first, second = (
            PilotEstimate(model.metric, model.n, model.c) for model in (first_model, second_model)
        )
        covariance = float(np.cov(first.task_values, second.task_values)[0, 1])
        variance, *ends = true_difference_variance(first, second)
        estimated = None if math.isnan(variance) else variance
        difference = PlannedDifferenceMoments(first, second, covariance, estimated)
        components = VarianceComponents(
            widest.metric, values, difference, difference.correlation, widest.series, names,
            None if estimated is None else (ends[0], ends[1]),
        )  # fmt: skip
    if clusters is None:
        return components
    value_excess = cluster_excess_variance(widest.values, clusters)
    difference_excess = 2.0 * (1.0 - (components.correlation or 0.0)) * value_excess
    if components.model_pair is not None:
        difference_excess = cluster_excess_variance(
            first_model.values - second_model.values, first_model.clusters
        )
    size = IntervalData(widest.values, clusters=clusters).guard_atom_size_in_tasks
    codes = tuple(clusters.tolist())
    return replace(
        components,
        cluster_excess_variances=(value_excess, difference_excess),
        cluster_size_of_average_task=size,
        cluster_codes=codes,
    )


def _pairs_with_varying_difference(
    usable: Sequence[TaskValues],
) -> list[tuple[TaskValues, TaskValues]]:
    """Pairs of models in one group with differences that vary over the shared tasks."""
    groups = group_by(usable, lambda values: values.series[1:])
    refuse_many_pairs(
        max(map(len, groups.values())), sum(math.comb(len(models), 2) for models in groups.values())
    )
    pairs = []
    for group in groups.values():
        for first, second in combinations(group, 2):
            if not np.array_equal(first.tasks, second.tasks):
                shared = np.intersect1d(first.tasks, second.tasks)
                first, second = first.restrict(shared), second.restrict(shared)
            if (
                len(first.tasks) >= 2
                and not _are_all_in_one_cluster(first)
                and _observed_difference_variance((first, second)) > 0
            ):
                pairs.append((first, second))
    return pairs


def _observed_difference_variance(pair: tuple[TaskValues, TaskValues]) -> float:
    first, second = pair
    return float((first.values - second.values).var())
