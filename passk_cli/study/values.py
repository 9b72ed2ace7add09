"""Computes the values of a metric at each task: one `TaskValues` per series and metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from passk_cli.arrays import Bools, Floats, Ints, NDArray
from passk_cli.errors import DataError, ParameterError, raise_parameter_error_if_any
from passk_cli.files.request import MISSING_COST_FIXES, MISSING_FIXES
from passk_cli.files.roles import TRUTH_ROLE
from passk_cli.inference.bootstrap_weights import fixed_task_bootstrap_means
from passk_cli.inference.intervals import IntervalData
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.inference.sampling_variance import within_variance, within_variance_from_attempts
from passk_cli.limits import refuse_many_attempts
from passk_cli.metrics.registry import (
    AMOUNT_UNITS_AND_NOUNS,
    Metric,
    required_attempt_data,
    task_values,
)
from passk_cli.outcomes.attempts import AttemptValuesByCell
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Cell, number_or_range_cell
from passk_cli.report.phrases import SeriesName, count_range, number_range, plural
from passk_cli.study.confidence import Confidence
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix

if TYPE_CHECKING:
    from passk_cli.inference.cost_per_success import TaskCosts
    from passk_cli.inference.cover_range import ShareAboveThresholdRange
    from passk_cli.inference.hull_interval import MetricCounts
    from passk_cli.inference.judge_correction import JudgeLabels

SeriesKey = tuple[str, ...]
# Rows with averages over all groups have the group name AVERAGE_GROUP.
AVERAGE_GROUP = "average"
EMPTY_VALUE_ARRAY: Floats = np.empty(0)
EMPTY_TASK_INDEX_ARRAY: Ints = np.empty(0, dtype=np.int64)
# UNPRICED_REASON is the reason why the cost of a model is unknown. If all attempts cost 0, the
# price is probably missing.
UNPRICED_REASON = "every attempt costs 0"
NO_PASS_REASON = "no attempt passed"
_USE_JACKKNIFE_FIX = SuggestedFix({"--interval": "jackknife"}, "gives an interval")


class TooFewAttemptsReason(str):
    """A reason as text, which states that some tasks have too few attempts for a metric.

    condition : the condition that the tasks do not meet, for example "k=5".
    least, most : the smallest and the largest number of attempts at the tasks with too few
        attempts.
    short_task_count : number of tasks with too few attempts.
    tasks : number of all tasks.

    >>> TooFewAttemptsReason(5, "", np.array([3, 4]), 10)
    'n=3–4 < k=5 on 2 of 10 tasks'
    """

    condition: str
    least: int
    most: int
    short_task_count: int
    tasks: int

    def __new__(cls, k: int | None, unsolved: str, n: Ints, tasks: int) -> TooFewAttemptsReason:
        """Make the reason from `n`, which is the number of attempts at each task with too few
        attempts."""
        condition, least, most = f"k={k}{unsolved}", int(n.min()), int(n.max())
        tasks_short = f"{len(n)} of {plural(tasks, 'task')}"
        reason = super().__new__(
            cls, f"n={number_range(least, most)} < {condition} on {tasks_short}"
        )
        reason.condition, reason.least, reason.most = condition, least, most
        reason.short_task_count, reason.tasks = len(n), tasks
        return reason


def first_or_combined_reason(reasons: Sequence[str]) -> str:
    """The first of several reasons, or one combined reason if several models have too few attempts.

    >>> attempts = np.array([3, 3]), np.array([4] * 7)
    >>> first_or_combined_reason([TooFewAttemptsReason(5, "", n, 9) for n in attempts])
    'n=3–4 < k=5 on 2 to 7 of 9 tasks, by model'
    """
    first = reasons[0]
    if not isinstance(first, TooFewAttemptsReason):
        return first
    similar = [
        reason
        for reason in reasons
        if isinstance(reason, TooFewAttemptsReason) and reason.condition == first.condition
    ]
    if {*similar} == {first}:
        return first
    n = number_range(
        min(reason.least for reason in similar), max(reason.most for reason in similar)
    )
    few, tasks = (
        [reason.short_task_count for reason in similar],
        [reason.tasks for reason in similar],
    )
    tasks_short = f"{min(few)} to {max(few)}" if min(few) < max(few) else few[0]
    return f"n={n} < {first.condition} on {tasks_short} of {count_range(tasks, 'task')}, by model"


@dataclass(frozen=True, eq=False, repr=False)
class TaskValues:
    """The values of one metric at each task, for one series (a model and its groups).

    tasks : indices of the tasks in Counts.tasks.
    values : the value of the metric at each task, or an empty array if passk cannot compute the
        metric.
    reason : why the metric cannot be computed, or which tasks were left out.
    clusters : for each task, the code of its cluster (from 0 to the number of clusters − 1), or
        None without clusters.
    labels : labels of some attempts, which correct values that come from a judge's verdicts.
    uncorrected_values : the values before the correction by labels or error rates.
    judge_error_rates : the error rates of a judge at other attempts, which correct the values.
    hidden_variance, label_degrees_of_freedom, labelled_values_near_bound : see the class
        `Corrected`.  If all attempts have a label, `label_degrees_of_freedom` is None.
    values_if_missing_pass : the values if all missing outcomes pass, or None if no outcome is
        missing.  The field `values` assumes that all missing outcomes fail.
    """

    series: SeriesKey
    metric: Metric
    tasks: Ints
    n: Ints
    c: Ints
    values: Floats
    reason: str = ""
    clusters: Ints | None = None
    attempts: AttemptValuesByCell | None = None
    labels: JudgeLabels | None = None
    uncorrected_values: Floats = field(default_factory=lambda: EMPTY_VALUE_ARRAY)
    hidden_variance: float = 0.0
    label_degrees_of_freedom: int | None = None
    judge_error_rates: Sequence[tuple[int, int]] = ()
    labelled_values_near_bound: Floats | None = None
    values_if_missing_pass: TaskValues | None = None

    @property
    def missing_bounds(self) -> tuple[TaskValues, TaskValues]:
        """Two TaskValues: the values if missing outcomes fail, and the values if missing outcomes
        pass."""
        failing = replace(self, values_if_missing_pass=None)
        return failing, self.values_if_missing_pass or failing

    @property
    def has_values(self) -> bool:
        """Whether passk could compute the metric."""
        return bool(len(self.values))

    @property
    def name(self) -> str:
        """The name of the model and its groups as reports print it."""
        return SeriesName(self.series)

    @cached_property
    def mean(self) -> float:
        """The mean of the values over the tasks.  Without values, the result is −∞, so that the
        series is sorted last."""
        return float(self.values.mean()) if self.has_values else -math.inf

    @property
    def ranking_score(self) -> float:
        """The mean, with the opposite sign if smaller values of the metric are better, or −∞
        without values."""
        return self.metric.better_sign * self.mean if self.has_values else -math.inf

    @cached_property
    def has_one_or_k_attempts(self) -> bool:
        """Whether each task has one attempt or exactly k attempts, for the k of the metric."""
        return bool(np.all((self.n == 1) | (self.n == self.metric.k)))

    @cached_property
    def is_binary(self) -> bool:
        """Whether every value is 0 or 1."""
        return bool(np.isin(self.values, (0.0, 1.0)).all())

    @cached_property
    def attempts_range(self) -> tuple[int, int]:
        """The smallest and the largest number of attempts at a task."""
        return int(self.n.min()), int(self.n.max())

    @property
    def task_costs(self) -> TaskCosts:
        """The costs and passes at each task, from which a ratio of means is computed.

        Errors: TypeError for a metric that is not a ratio of means.
        """
        from passk_cli.inference.cost_per_success import TaskCosts

        if not self.metric.definition.is_ratio_of_means or self.attempts is None:
            raise TypeError(f"{self.metric.name} is not a ratio of means")
        a = self.attempts
        return TaskCosts.from_attempts(
            a.cell_offsets, a.value, a.count, a.pass_count, self.clusters
        )

    def cover_range(self, level: float) -> ShareAboveThresholdRange:
        """The range of a metric such as cover@0.8 that is compatible with the counts."""
        from passk_cli.inference.cover_range import ShareAboveThresholdRange

        threshold = float(self.metric.share or 0)
        return ShareAboveThresholdRange(self.n, self.c, threshold, level, self.clusters)

    @property
    def estimate(self) -> Cell:
        """The mean of the values, or the range of the mean if missing outcomes may pass or fail."""
        if self.values_if_missing_pass is None:
            return self.mean
        return number_or_range_cell(self.mean, self.values_if_missing_pass.mean, self.metric.unit)

    def restrict(self, tasks: Ints) -> TaskValues:
        """The values of the given tasks only."""
        at = np.searchsorted(self.tasks, tasks)
        codes = None if self.clusters is None else _codes_in_sorted_order(self.clusters[at])
        values = self.values[at] if self.has_values else self.values
        attempts = self.attempts and self.attempts.take_cells(at)
        reason = self.reason
        if self.metric.definition.is_ratio_of_means and attempts is not None:
            values, reason = self.metric.values_from_attempts(attempts), ""
            if np.isnan(values).any():
                values, reason = EMPTY_VALUE_ARRAY, NO_PASS_REASON
        subset = replace(
            self, tasks=tasks, n=self.n[at], c=self.c[at], values=values, clusters=codes,
            attempts=attempts, values_if_missing_pass=self.values_if_missing_pass
            and self.values_if_missing_pass.restrict(tasks), reason=reason,
        )  # fmt: skip
        # Values are corrected again, because a correction may use only the labels of the remaining
        # tasks.
        if self.judge_error_rates:
            return correct_by_error_rates(
                replace(subset, values=self.uncorrected_values[at]), self.judge_error_rates
            )
        return (
            subset if self.labels is None else correct_by_labels(subset, self.labels.for_tasks(at))
        )

    @property
    def variance_within_each_task(self) -> Floats:
        """For each task, the variance of the value over repeated attempts, or NaN if the task has
        at most k attempts."""
        if not self.metric.definition.exchangeable or not self.has_values:
            return np.full(len(self.n), np.nan)
        if self.attempts is None:
            return within_variance(self.metric, self.n, self.c)
        if self.metric.definition.is_ratio_of_means:
            return self.task_costs.ratio_contribution_variances
        return within_variance_from_attempts(self.metric, self.attempts, self.values)

    @property
    def mixed_task_mask(self) -> Bools:
        """For each task, whether attempts differ in the outcome or in the data of the metric."""
        passing: Bools = (self.c > 0) & (self.c < self.n)
        return passing if self.attempts is None else np.diff(self.attempts.cell_offsets) > 1

    @property
    def within_task_variance_share(self) -> float | None:
        """The share of the variance that is due to the limited number of attempts per task, or None
        if unknown.

        passk does not compute this share for metrics that need more data than counts, because the
        computation is slow.
        """
        more = (
            self.attempts is not None
            or self.labels is not None
            or self.values_if_missing_pass is not None
        )
        if more or not len(self.values):
            return None
        within = np.full(len(self.n), np.nan)
        if self.metric.definition.exchangeable:
            within = within_variance(self.metric, self.n, self.c)
        if not within.any() and ((self.c > 0) & (self.c < self.n)).any():
            return None
        return IntervalData(self.values, attempt_variances=within).attempt_variance_share

    def bounds(self, confidence: Confidence) -> tuple[float, float]:
        """The smallest and the largest possible value of the metric, or ±∞ if unknown."""
        return self.metric.bounds or self.metric.bounds_given_scores(confidence.bounds)

    def interval_data(self, confidence: Confidence) -> IntervalData:
        """The values as the data from which an interval is computed.

        Errors: ParameterError for a score outside --bounds.
        """
        fixed = confidence.population == THESE_TASKS
        low, high = self.bounds(confidence)
        if self.metric.bounds is None and self.attempts is not None:
            scores = self.attempts.value
            if scores.min() < low or scores.max() > high:
                raise ParameterError(
                    OptionWithValue("--bounds", f"{low:g},{high:g}"),
                    f"scores of {self.name} range from {scores.min():g} to {scores.max():g}",
                    settles=[SuggestedFix(
                        {"--bounds": f"{min(low, scores.min()):g},{max(high, scores.max()):g}"},
                        "includes all scores",
                    )],
                )  # fmt: skip
        repeated = fixed and confidence.method == "percentile"
        return IntervalData(
            self.values,
            lower_bound=low,
            upper_bound=high,
            attempts=self.n if self.metric.k == 1 and self.attempts is None else None,
            attempt_variances=self.variance_within_each_task if fixed else None,
            clusters=self.clusters,
            resampled_means=self.simulated_means(confidence) if repeated else None,
            mixed_task_count=int(self.mixed_task_mask.sum()) if fixed else 0,
            metrics_with_attempt_counts=self.hull_interval_counts if fixed else (),
            hidden_variance=self.hidden_variance,
            label_degrees_of_freedom=self.label_degrees_of_freedom,
            labelled_values_near_bound=self.labelled_values_near_bound,
            resamples=confidence.resamples,
            seed=confidence.seed,
        )

    @property
    def hull_interval_counts(self) -> tuple[MetricCounts, ...]:
        """The counts that the interval method hull needs, or an empty tuple if hull does not fit
        the metric."""
        from passk_cli.inference.hull_interval import MetricCounts

        passes = MetricCounts(self.metric, self.n, self.c)
        return (passes,) if self.attempts is None and passes.has_hull else ()

    def simulated_means(self, confidence: Confidence) -> Floats:
        """Simulated means of the metric, one per resample, as if the same tasks were attempted
        again.

        Errors: ParameterError for a metric that needs more than counts.
        """
        if self.attempts is not None:
            problem = f"passk cannot resample {self.metric.name} for the population these-tasks"
            raise ParameterError(problem, name="invalid-method", settles=[_USE_JACKKNIFE_FIX])
        refuse_many_attempts("percentile for these tasks", int(self.n.max()), _USE_JACKKNIFE_FIX)
        sizes = np.unique(self.n).tolist()
        tables = [self.metric.values(np.full(s + 1, s), np.arange(s + 1)) for s in sizes]
        draws = confidence.resamples, confidence.seed
        return fixed_task_bootstrap_means(self.n, self.c, [np.concatenate(tables)], *draws)[:, 0]


def on_shared_tasks(rivals: Sequence[TaskValues]) -> list[TaskValues]:
    """The values of each model on the tasks that all models have."""
    if all(np.array_equal(rival.tasks, rivals[0].tasks) for rival in rivals):
        return list(rivals)
    shared = reduce(np.intersect1d, (rival.tasks for rival in rivals))
    return [rival.restrict(shared) for rival in rivals]


def compute_values(
    counts: Counts,
    metrics: Sequence[Metric],
    short_tasks: str = "empty",
    only: Sequence[int] | None = None,
) -> list[TaskValues]:
    """The values of each metric at each task, sorted by series and then by metric.

    short_tasks : what to do if some tasks have n < k: "empty" gives the metric no value, and "drop"
        leaves out these tasks.
    only : indices of the series to compute, or None for all series.
    """
    if counts.missing is not None:
        return _values_with_missing_outcomes(counts, metrics, short_tasks, only)
    all_values: list[TaskValues] = []
    task_arrays: dict[bytes, Ints] = {}
    truth = counts.attempts.get(TRUTH_ROLE)
    for s in range(len(counts.series)) if only is None else only:
        series, rows = counts.series[s], counts.slice_of_series(s)
        n, c, tasks = counts.n[rows], counts.c[rows], counts.task_codes[rows]
        # Models with equal tasks share one array of tasks, so that comparing thousands of pairs is
        # fast.
        tasks = task_arrays.setdefault(tasks.tobytes(), tasks)
        roles = required_attempt_data(metrics)
        attempts = {role: attempts_of(counts, role, rows) for role in roles}
        labels = None
        if truth is not None:
            from passk_cli.inference.judge_correction import JudgeLabels

            labels = JudgeLabels.from_truth(n, c, truth.slice_cells(rows))
        clusters = cluster_codes(counts, tasks)
        gaps = _known_amount_cells_by_role(metrics, attempts, int(n.sum())) if attempts else {}
        computable = [
            metric for metric in metrics if metric.definition.required_attempt_data not in gaps
        ]
        computed = dict(zip(computable, task_values(computable, n, c, attempts), strict=True))
        for metric in metrics:
            bag = attempts.get(metric.definition.required_attempt_data)
            entry = TaskValues(series, metric, tasks, n, c, EMPTY_VALUE_ARRAY, "", clusters, bag)
            if metric in computed:
                entry = replace(entry, values=computed[metric])
            else:
                entry = _from_known_amounts(entry, *gaps[metric.definition.required_attempt_data])
            if entry.reason:
                pass
            elif metric.definition.amount_unit == "$" and bag is not None and not bag.value.any():
                entry = replace(
                    entry, values=EMPTY_VALUE_ARRAY, reason=UNPRICED_REASON, attempts=None
                )
            elif metric.definition.is_ratio_of_means and not entry.c.any():
                entry = replace(entry, values=EMPTY_VALUE_ARRAY, reason=NO_PASS_REASON)
            elif entry.n.min() < metric.k and np.isnan(entry.values).any():
                entry = _with_enough_attempts(entry, short_tasks)
            if labels is not None:
                entry = correct_by_labels(
                    entry, labels.for_tasks(np.searchsorted(tasks, entry.tasks))
                )
            elif counts.read_facts.judge_error_counts:
                entry = correct_by_error_rates(entry, counts.read_facts.judge_error_counts)
            all_values.append(entry)
    return all_values


def _values_with_missing_outcomes(
    counts: Counts, metrics: Sequence[Metric], short_tasks: str, only: Sequence[int] | None
) -> list[TaskValues]:
    require_monotone(metrics)
    failing, passing = (
        compute_values(counts.with_missing_as(passing=end), metrics, short_tasks, only)
        for end in (False, True)
    )
    return [
        low if np.array_equal(low.c, high.c) else replace(low, values_if_missing_pass=high)
        for low, high in zip(failing, passing, strict=True)
    ]


def _known_amount_cells_by_role(
    metrics: Sequence[Metric], attempts: Mapping[str, AttemptValuesByCell], total: int
) -> dict[str, tuple[Ints, Ints, Ints]]:
    for role in {
        metric.definition.required_attempt_data
        for metric in metrics
        if metric.definition.amount_unit
    }:
        if np.isnan(attempts[role].value).any():
            raise ParameterError(
                OptionWithValue("--missing-cost", "bounds"),
                "the mean has no upper limit, because some amounts are not known",
                name="no-bounds",
                settles=MISSING_COST_FIXES,
            )  # fmt: skip
    return {
        role: cells_with_any_known_amount(bag) for role, bag in attempts.items()
        if role in AMOUNT_UNITS_AND_NOUNS and bag.count.sum() < total
    }  # fmt: skip


def _with_enough_attempts(entry: TaskValues, short_tasks: str) -> TaskValues:
    metric, enough = entry.metric, ~np.isnan(entry.values)
    few = entry.n[~enough]
    # A metric such as first@k has a value at a task with too few attempts if one of the attempts
    # passes.
    unsolved = "" if metric.definition.exchangeable else " and no pass"
    reason = TooFewAttemptsReason(metric.k, unsolved, few, len(entry.n))
    if short_tasks == "empty" or not enough.any():
        return replace(entry, values=EMPTY_VALUE_ARRAY, reason=reason, attempts=None)
    return replace(entry.restrict(entry.tasks[enough]), reason=reason)


def correct_by_labels(judged: TaskValues, labels: JudgeLabels) -> TaskValues:
    """Values that come from a judge's verdicts and are corrected by labels.

    If there are too few labels, the result has no values.  If every attempt has a label, passk
    computes the values only from the labels.

    Errors: ParameterError for a metric that needs more data than counts.  DataError if no attempt
        of the model has a label.
    """
    metric = judged.metric
    if metric.definition.required_attempt_data or metric.definition.is_known_only_as_range:
        problem = f"{metric.name}: labels can correct only metrics of passes, for example pass@k"
        raise ParameterError(problem, name="no-labels")
    if not labels.label_counts.any():
        fix = SuggestedFix({"--truth-from": Placeholder("FILE")}, "has labels of other models")
        raise DataError(
            f"labels of {judged.name}", "the data has no labels for this model",
            "label attempts of each model",
            name="missing-labels", settles=[fix],
        )  # fmt: skip
    if not judged.has_values:
        return replace(judged, labels=labels)
    with_labels = replace(
        judged, labels=labels, uncorrected_values=metric.values(labels.n, labels.c)
    )
    if labels.is_complete:
        values = metric.values(labels.n, labels.pass_label_counts_by_task)
        return replace(
            with_labels, c=labels.pass_label_counts_by_task, values=values, hidden_variance=0.0,
            label_degrees_of_freedom=None,
            labelled_values_near_bound=None
        )  # fmt: skip
    if reason := labels.refusal_reason(metric):
        return replace(with_labels, values=EMPTY_VALUE_ARRAY, reason=reason)
    return replace(with_labels, **labels.corrected(metric)._asdict())


def correct_by_error_rates(judged: TaskValues, errors: Sequence[tuple[int, int]]) -> TaskValues:
    """Values of pass@1 that come from a judge's verdicts and are corrected by the judge's error
    rates at other attempts."""
    if judged.metric not in (Metric("pass@", 1), Metric("pass^", 1)):
        reason = "labels of other attempts can correct only metrics with k = 1"
        return replace(judged, values=EMPTY_VALUE_ARRAY, reason=reason, attempts=None)
    from passk_cli.inference.judge_correction import correct_pass_at_1_by_error_rates

    values = correct_pass_at_1_by_error_rates(judged.n, judged.c, errors)
    if values is None:
        reason = "the judge passes correct attempts hardly more often than wrong attempts"
        return replace(judged, values=EMPTY_VALUE_ARRAY, reason=reason)
    return replace(
        judged, uncorrected_values=judged.values, judge_error_rates=errors, **values._asdict()
    )


def cells_with_any_known_amount(attempts: AttemptValuesByCell) -> tuple[Ints, Ints, Ints]:
    """The cells that have attempts with a known amount, and the numbers of attempts and passes
    among these attempts.

    >>> attempts = AttemptValuesByCell.from_rows([0, 2], [0.5, 1.0], [2, 1], [1, 0], cells=3)
    >>> cells_with_any_known_amount(attempts)
    (array([0, 2]), array([2, 1]), array([1, 0]))
    """
    cells = np.flatnonzero(np.diff(attempts.cell_offsets))
    first = attempts.cell_offsets[cells]
    n, c = (
        np.add.reduceat(a, first) if len(cells) else a
        for a in (attempts.count, attempts.pass_count)
    )
    return cells, n, c


def _from_known_amounts(entry: TaskValues, cells: Ints, n: Ints, c: Ints) -> TaskValues:
    metric, bag = entry.metric, entry.attempts
    if bag is None or not len(cells):
        reason = (
            f"no attempt has {AMOUNT_UNITS_AND_NOUNS[metric.definition.required_attempt_data][1]}"
        )
        return replace(entry, attempts=None, reason=reason)
    codes = None if entry.clusters is None else _codes_in_sorted_order(entry.clusters[cells])
    known_attempts = bag.take_cells(cells)
    (values,) = task_values(
        (metric,), n, c, {metric.definition.required_attempt_data: known_attempts}
    )
    return replace(entry, tasks=entry.tasks[cells], n=n, c=c, values=values, clusters=codes,
                   attempts=known_attempts)  # fmt: skip


def require_monotone(metrics: Sequence[Metric]) -> None:
    """Raise ParameterError for a metric that does not rise with every pass.

    If a metric rises with every pass, the value is lowest if all missing outcomes fail, and highest
    if all missing outcomes pass.
    """
    for metric in metrics:
        raise_parameter_error_if_any(
            "no-bounds",
            (metric.definition.required_attempt_data, OptionWithValue("--missing", "bounds"),
             f"{metric.name} needs the {metric.definition.required_attempt_data} of each attempt,"
             f" which"
             " is not known for attempts without an outcome", MISSING_FIXES),
            (metric.definition.is_known_only_as_range, OptionWithValue("--missing", "bounds"),
             f"the value of {metric.name} is already a range, and may not be highest if all missing"
             " outcomes pass", MISSING_FIXES),
            (not metric.definition.is_monotone_in_passes, OptionWithValue("--missing", "bounds"),
             f"{metric.name} may be largest if only some missing outcomes pass; use metrics that"
             " rise with every pass, such as pass@k and pass^k", MISSING_FIXES),
        )  # fmt: skip


def attempts_of(counts: Counts, role: str, cells: slice) -> AttemptValuesByCell:
    """The data of single attempts in some cells, for example scores or answers.

    Errors: DataError if the counts do not contain the requested data.
    """
    if role not in counts.attempts:
        problem = f"these counts were read without the {role} of each attempt"
        remedy = f"read them again with read(…, attempts=[{role!r}])"
        raise DataError("Counts", problem, remedy, name="no-role-column")
    return counts.attempts[role].slice_cells(cells)


def cluster_codes(counts: Counts, tasks: Ints) -> Ints | None:
    """For each task, the code of its cluster (from 0 to the number of clusters − 1), or None
    without clusters."""
    if counts.clusters is None:
        return None
    return _codes_in_sorted_order(np.array(counts.clusters)[tasks])


def _codes_in_sorted_order(names: NDArray[Any]) -> Ints:
    return np.unique(names, return_inverse=True)[1]
