"""The analysis of a command, which computes results from data, metrics and options."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.arrays import Floats, Ints, group_by
from passk_cli.diagnostic import Diagnostic
from passk_cli.inference.intervals import FIELLER, RANGE_METHOD, IntervalData, intervals
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.metrics.registry import Metric, default_ks
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Estimate
from passk_cli.report.phrases import SeriesName, count_range, plural, tasks_and_attempts
from passk_cli.study.confidence import Confidence
from passk_cli.study.data_notes import (
    LARGER_K_POSSIBLE,
    MGPASS_BELOW_1_AT_ODD_K,
    STOPPING_MESSAGE_NAMES,
    reading_notes,
    result_notes,
)
from passk_cli.study.metric_selection import largest_k_by_series, largest_k_of_most_models
from passk_cli.study.result import Result, SampleSize, range_result_between, ratio_estimate
from passk_cli.study.significance_options import ComparisonOptions
from passk_cli.study.values import (
    SeriesKey,
    TaskValues,
    cluster_codes,
    compute_values,
    on_shared_tasks,
)
from passk_cli.text import OrderedCategoryValue

if TYPE_CHECKING:
    from passk_cli.study.history import PooledBaseline


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """An analysis of counts, with the metrics to compute and the options that all commands share.

    comparison_options : the test, the adjustment of p-values and the margin of comparisons.
    unavailable_k_hint : a sentence about metrics that need more attempts than the data has.
    baseline : counts of a baseline that was read separately.
    pooled_baseline : the pooled runs of the baseline, if the baseline is a history.
    reading_messages : messages about reading files, in addition to the messages in the counts.
    signature_entries : entries that a command adds to the signature.
    earlier_run_name : the label of the earlier run if there are two runs, or "" without labels.
    read_texts : a function that reads the counts again with the solutions or answers of the
        attempts, or None if the data contains neither solutions nor answers.
    """

    counts: Counts
    metrics: tuple[Metric, ...] = ()
    confidence: Confidence = field(default_factory=Confidence)
    comparison_options: ComparisonOptions = field(default_factory=ComparisonOptions)
    short_tasks: str = "empty"
    unavailable_k_hint: str = ""
    are_metrics_chosen_by_user: bool = True
    baseline: Counts | None = None
    pooled_baseline: PooledBaseline | None = None
    reading_messages: tuple[Diagnostic, ...] = ()
    signature_entries: Mapping[str, object] = field(default_factory=dict)
    earlier_run_name: str = ""
    read_texts: Callable[[], Counts | None] | None = None

    @property
    def has_missing_outcome_ranges(self) -> bool:
        """Whether missing outcomes may pass or fail, so that estimates are ranges."""
        return any(c is not None and c.missing is not None for c in (self.counts, self.baseline))

    @property
    def analyses_at_missing_bounds(self) -> tuple[Analysis, ...]:
        """Two analyses: one in which missing outcomes fail, and one in which they pass."""
        return tuple(
            replace(self, counts=self.counts.with_missing_as(passing=passing))
            for passing in (False, True)
        )

    def is_k_in_short_table(self, k: int | None, shown_ks: Iterable[int | None]) -> bool:
        """Whether a table without --full shows a metric with this k.

        If the user did not choose metrics, the table shows only k = 1 and the largest k.
        """
        return self.are_metrics_chosen_by_user or (k or 1) in (
            1,
            max((shown_k or 1 for shown_k in shown_ks), default=1),
        )

    @property
    def series_indices_by_pass_rate(self) -> list[int]:
        """Indices of the series, sorted by pass rate from the highest to the lowest."""
        places = {series: place for place, series in enumerate(self.counts.series)}
        rates = dict(zip(places, self.mean_pass_rates_of_series, strict=True))
        return [
            places[series]
            for series in series_by_ascending_score({series: -rates[series] for series in places})
        ]

    @property
    def mean_pass_rates_of_series(self) -> list[float]:
        """The pass@1 of each series, which is the mean share of passes over its tasks."""
        counts = self.counts
        rows = map(counts.slice_of_series, range(len(counts.series)))
        return [float((counts.c[cells] / counts.n[cells]).mean()) for cells in rows]

    def task_values(
        self, metrics: Sequence[Metric] | None = None, only: Sequence[int] | None = None
    ) -> list[TaskValues]:
        """The values of the metrics at each task, sorted by series and then by metric."""
        chosen_metrics = self.metrics if metrics is None else metrics
        return compute_values(self.counts, chosen_metrics, self.short_tasks, only)

    def result(self, values: TaskValues, confidence: Confidence | None = None) -> Result:
        """The mean of the task values of one series and metric, with a standard error and an
        interval."""
        return self.results([values], confidence)[0]

    def results(
        self, values: Sequence[TaskValues] | None = None, confidence: Confidence | None = None
    ) -> list[Result]:
        """The mean of the task values for each series and metric, with a standard error and an
        interval."""
        values = self.task_values() if values is None else values
        confidence = confidence or self.confidence
        if any(task_values.values_if_missing_pass is not None for task_values in values):
            return self._results_with_missing_outcomes(values, confidence)
        facts = [
            Result(
                task_values.series, task_values.metric.name, task_values.metric.k,
                Estimate(None, reason=task_values.reason, unit=task_values.metric.unit),
                size=SampleSize(len(task_values.n), int(task_values.n.min()), int(task_values.n.max(
                ))),
                method=confidence.method, level=confidence.interval_level, values=task_values,
                extra_fields={"judged": float(task_values.uncorrected_values.mean())}
                if len(task_values.uncorrected_values) else {
                },
            )
            for task_values in values
        ]  # fmt: skip
        nonempty = [
            at
            for at, task_values in enumerate(values)
            if len(task_values.values) and not task_values.metric.definition.is_known_only_as_range
        ]
        samples = [values[at].interval_data(confidence) for at in nonempty]
        limited = _results_with_limits([facts[at] for at in nonempty], samples, confidence)
        for at, fact in zip(nonempty, limited, strict=True):
            facts[at] = fact
        about = confidence.level, confidence.population
        for at, task_values in enumerate(values if confidence.method != "none" else ()):
            if task_values.metric.definition.is_ratio_of_means and task_values.attempts is not None:
                from passk_cli.inference.cost_per_success import cost_per_success

                ratio = ratio_estimate(
                    cost_per_success(task_values.task_costs, *about), task_values.metric.unit
                )
                flaw = "" if ratio.value is None else ratio.reason
                ratio = replace(ratio, reason=task_values.reason)
                facts[at] = replace(facts[at], estimate=ratio, method=FIELLER, interval_flaw=flaw)
        for at, each in enumerate(values):
            if each.metric.definition.is_known_only_as_range and len(each.values):
                estimate = estimate_of_range_metric(each, confidence.level)
                facts[at] = replace(facts[at], k=None, estimate=estimate, method=RANGE_METHOD)
        return facts

    def on_shared_tasks(self, facts: Sequence[Result]) -> tuple[list[Result], str]:
        """Results on the tasks that all models of a group share, and a phrase about these tasks.

        The phrase is "" if all models have the same tasks.  A group in which models share no task
        has no result.
        """
        shared: list[Result] = []
        for rivals in group_by(facts, lambda fact: (fact.name, fact.series[1:])).values():
            values = [fact.values for fact in rivals if fact.values is not None]
            common = on_shared_tasks(values)
            if all(before is after for before, after in zip(values, common, strict=True)):
                shared += rivals
            elif len(common[0].tasks):
                shared += self.results(common)
        if {*map(id, facts)} == {*map(id, shared)}:
            return shared, ""
        sizes_text = [fact.size.tasks or 0 for fact in shared if fact.name == facts[0].name] or [0]
        k = self.largest_unsupported_k(facts)
        have = f"with {plural(k, 'attempt')} of all models" if k else "that all models have"
        return shared, f" on the {count_range(sizes_text, 'task')} {have}"

    def largest_unsupported_k(self, facts: Sequence[Result]) -> int:
        """The largest k in these results for which a task has too few attempts, or 0 if every task
        has enough attempts."""
        rows = {
            series: self.counts.slice_of_series(s) for s, series in enumerate(self.counts.series)
        }
        fewest = {series: int(self.counts.n[rows[series]].min()) for series in rows}
        ks = [f.k for f in facts if f.k and f.series in rows and fewest[f.series] < f.k]
        return max(ks, default=0)

    def _results_with_missing_outcomes(
        self, values: Sequence[TaskValues], confidence: Confidence
    ) -> list[Result]:
        ranges = [
            task_values for task_values in values if task_values.values_if_missing_pass is not None
        ]
        ends = [end for task_values in ranges for end in task_values.missing_bounds]
        end_results = iter(self.results(ends, confidence.require_valid_for_missing_outcomes()))
        points = iter(
            self.results(
                [
                    task_values
                    for task_values in values
                    if task_values.values_if_missing_pass is None
                ],
                confidence,
            )
        )
        return [
            next(points) if task_values.values_if_missing_pass is None
            else replace(range_result_between(next(end_results), next(end_results)),
                values=task_values)
            for task_values in values
        ]  # fmt: skip

    def mean_result(
        self, series: SeriesKey, name: str, values: Floats, tasks: Ints, n: Ints, *,
        bounds: tuple[float, float] = (0.0, 1.0), attempts: Ints | None = None,
        within: Floats | None = None,
        mixed: int = 0, fixed: str = "no interval for these tasks",
        confidence: Confidence | None = None,
    ) -> Result:  # fmt: skip
        """The mean and the interval of task values that do not come from a metric.

        attempts : if the values are pass rates, the number of attempts for each value.
        within : variance of each value over repeated attempts, for --population these-tasks.
        fixed : the reason why --population these-tasks gives no interval, if `within` is None.
        """
        present = ~np.isnan(values)
        confidence = confidence or self.confidence
        size = SampleSize(int(present.sum()), int(n.min()), int(n.max()))
        nothing = Estimate(None, unit="share" if bounds == (0.0, 1.0) else "score")
        fact = Result(
            series, name, None, nothing, size=size, method=confidence.method,
            level=confidence.interval_level,
        )  # fmt: skip
        if not present.any():
            return replace(fact, estimate=replace(nothing, reason="no task has enough attempts"))
        clusters = cluster_codes(self.counts, tasks[present])
        spread = None if within is None else within[present]
        sample = IntervalData(
            values[present], *bounds, attempts=attempts, attempt_variances=spread,
            mixed_task_count=mixed,
            clusters=clusters, resamples=confidence.resamples, seed=confidence.seed,
        )  # fmt: skip
        if confidence.population == THESE_TASKS and spread is None:
            return replace(fact, estimate=replace(nothing, value=sample.mean, reason=fixed))
        return _results_with_limits([fact], [sample], confidence)[0]

    def messages(
        self, facts: Sequence[Result], short: Sequence[Result] | None = None
    ) -> list[Diagnostic]:
        """The messages about how passk read the data and about special results.

        short : the results for which messages may report too few attempts, or None for all results.
        """
        short = facts if short is None else short
        notes = [*reading_notes(self.counts), *self.reading_messages]
        if self.metrics and all(metric.family == "first@" for metric in self.metrics):
            # The metric first@k has no bias if sampling stops at a pass.
            notes = [note for note in notes if note.name not in STOPPING_MESSAGE_NAMES]
        odd = (m for m in self.metrics if m.family == "mgpass@" and m.k % 2)
        notes += [MGPASS_BELOW_1_AT_ODD_K(metric=m.name, most=f"{1 - 1 / m.k:.3f}") for m in odd]
        if self.counts.read_facts.sampled_rows is not None:
            from passk_cli.study.dependence import attempt_and_cluster_messages

            notes += attempt_and_cluster_messages(self.counts, self.confidence)
        if not self.are_metrics_chosen_by_user:
            notes += self._larger_k_note()
        if any(fact.note for fact in (*facts, *short)):
            ks = {fact.k for fact in facts}
            facts = sorted(facts, key=lambda fact: not self.is_k_in_short_table(fact.k, ks))
            notes += result_notes(facts, short, self.short_tasks)
        return notes

    def _larger_k_note(self) -> Iterator[Diagnostic]:
        allowed, most = (
            largest_k_by_series(self.counts),
            max((m.k for m in self.metrics), default=0),
        )
        k = default_ks(max(allowed))[-1]
        if most and most < k > largest_k_of_most_models(self.counts):
            largest_ks = zip(self.counts.series, allowed, strict=True)
            models = [SeriesName(series) for series, largest in largest_ks if largest >= k]
            yield LARGER_K_POSSIBLE(models=models, count=len(models), k=k)

    def sizes_text(self, facts: Iterable[Result]) -> str:
        """The numbers of tasks and attempts of these results, for example "800 tasks × 10
        attempts"."""
        tasks, fewest, most = zip(*(fact.size for fact in facts), strict=True)
        return tasks_and_attempts(tasks, (*fewest, *most))

    def sizes_and_intervals_text(self, facts: Iterable[Result]) -> tuple[str, str]:
        """Two phrases for the line below a table: one about sizes and one about intervals."""
        return self.sizes_text(facts), self.confidence.words()


def _results_with_limits(
    facts: Sequence[Result], samples: Sequence[IntervalData], confidence: Confidence
) -> list[Result]:
    errors = [sample.se for sample in samples]
    if confidence.population == THESE_TASKS:
        sums = [
            math.nan if s.attempt_variances is None else float(s.attempt_variances.sum())
            for s in samples
        ]
        errors = [None if math.isnan(variance) else math.sqrt(variance) / len(sample.values)
                  for variance, sample in zip(sums, samples, strict=True)]  # fmt: skip
    estimates = [
        replace(fact.estimate, value=sample.mean)
        for fact, sample in zip(facts, samples, strict=True)
    ]
    if confidence.method == "none":
        return [
            replace(fact, estimate=replace(estimate, se=se), se=se)
            for fact, estimate, se in zip(facts, estimates, errors, strict=True)
        ]
    limits = intervals(samples, confidence.method, confidence.level, confidence.population)
    return [
        replace(
            fact, estimate=replace(estimate, low=interval.low, high=interval.high), se=se,
            method=interval.method, interval_flaw=interval.reason,
        )
        for fact, estimate, se, interval in zip(facts, estimates, errors, limits, strict=True)
    ]  # fmt: skip


def estimate_of_range_metric(values: TaskValues, level: float) -> Estimate:
    """The range of a metric that counts determine only as a range, with a value if the range is
    narrow.

    If sampling stopped at a pass, the estimate has neither a range nor a value.
    """
    from passk_cli.inference.extrapolation import stopped_on_outcome_reason

    if reason := stopped_on_outcome_reason(values.n, values.c):
        return Estimate(None, reason=reason)
    cover = values.cover_range(level)
    reason = "" if cover.point_estimate is not None else "the range is too wide for an estimate"
    return Estimate(cover.point_estimate, None, *cover.limits, reason)


def series_by_ascending_score(scores: Mapping[SeriesKey, float]) -> list[SeriesKey]:
    """The series, sorted by score from the lowest to the highest, and by name if scores are equal.

    Scores that differ only by rounding count as equal.  Series with an empty group value come last.
    If the values of a group column have an order, the models are sorted by their lowest score.  The
    series of one model are then sorted by their group values.
    """
    scores = {series: round(score, 12) for series, score in scores.items()}
    if not any(isinstance(part, OrderedCategoryValue) for series in scores for part in series):
        return sorted(scores, key=lambda series: ("" in series[1:], scores[series], series))
    best: dict[str, float] = {}
    for series, score in scores.items():
        best[series[0]] = min(score, best.get(series[0], math.inf))
    return sorted(scores, key=lambda series: (best[series[0]], series))
