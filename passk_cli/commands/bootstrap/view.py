"""The report of `passk bootstrap`: limits of every interval method, the answer, and the chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from passk_cli.arrays import group_by
from passk_cli.commands.bootstrap import BootstrapOptions
from passk_cli.commands.bootstrap.distribution import (
    MetricDistribution,
    choose_interval_methods,
    compute_metric_distributions,
    methods_or_bca_without_bounds,
    resample_file_columns,
)
from passk_cli.commands.runner import CommandRunner, SharedOptions
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import ParameterError, raise_parameter_error_if_any
from passk_cli.inference.intervals import LOGIT_T, METHODS_THAT_NEED_BOUNDS
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.inference.rounding import ROUNDING_TOLERANCE
from passk_cli.metrics.registry import Metric
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import (
    FULL,
    AnswerSentence,
    Column,
    Estimate,
    Limits,
    OptionHint,
    Report,
    Table,
)
from passk_cli.report.phrases import SeriesName, metrics_of_models_text, plural
from passk_cli.report.plot import Plot, densities
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer, first_true_sentence
from passk_cli.study.result import Result
from passk_cli.study.section import (
    GROUP_VALUES_COLUMN,
    MODEL_COLUMN,
    ReportSection,
    build_report,
    data_field,
)
from passk_cli.study.value_range import range_sentence
from passk_cli.study.values import TaskValues
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix

UNKNOWN_SCORE_BOUNDS_NOTE = DiagnosticType(
    "methods-without-bounds", NOTE,
    "there is no {methods} interval of {metrics}, because the range of scores is unknown",
    SuggestedFix({"--bounds": Placeholder("LOW,HIGH")}, "sets it"),
    "A guard interval needs the lowest and highest possible value of the metric. If the range of a"
    " score is unknown, passk shows a BCa interval instead.",
    why="BCa intervals are less reliable if there are few tasks.",
    advice="If you know the range of the scores, set it with `--bounds`, for example `--bounds"
    " 0,10`.",
    example="passk bootstrap sample_data/cyber.csv.gz -m best@1\n"
    "note[methods-without-bounds]: there is no guard interval of best@1, because the range of"
    " scores is unknown; --bounds LOW,HIGH sets it",
)  # fmt: skip
INTERVAL_FLAWS_NOTE = DiagnosticType(
    "particular-intervals", NOTE, "read the {methods} intervals of {numbers} with caution ({flaw})",
    meaning="passk computed some intervals in a special way, or could not compute some intervals."
    " The end of the message gives the reason.",
    why="The limits of an interval that was computed in a special way are not comparable with the"
    " limits of intervals for other metrics.",
    advice="Read the reason at the end of the message. If all tasks have the same value, you need"
    " more tasks or attempts for an ordinary interval.",
    example="passk bootstrap sample_data/agents.jsonl -k 1\n"
    "note[particular-intervals]: read the guard, percentile, bca, t intervals of pass@1 of"
    " claude-opus-4-8, claude-sonnet-5, gpt-5.3-codex and 4 more with caution (every task has the"
    " value 1: the interval is one-sided)",
)  # fmt: skip
FIRST_ON_SHARED_TASKS_WARNING = DiagnosticType(
    "first-on-shared-tasks", WARNING,
    'for {metrics}, the column "first in resamples" uses only the {shared:task} of {every} that all'
    ' models have{?group| in {group}}',
    meaning="passk can compare models only on tasks that all models attempted. The estimates and"
    " intervals use all tasks of each model, including tasks that other models did not attempt.",
    why="The model with the highest estimate may not be first in most resamples, because estimates"
    " and resamples use different tasks.",
    advice="Run the missing tasks, or use `--model` to select only the models that have all tasks.",
    example='passk bootstrap sample_data/cyber.csv.gz -m best@1\n'
    'warning[first-on-shared-tasks]: for best@1, the column "first in resamples" uses only the 136'
    ' tasks of 291 that all models have',
)  # fmt: skip
FIRST_WITH_UNEQUAL_ATTEMPTS_NOTE = DiagnosticType(
    "first-with-unequal-attempts", NOTE,
    'the column "first in resamples" is empty, because models have different numbers of attempts',
    meaning="With fewer attempts, a metric has fewer possible values, so ties are more frequent. In"
    " the resamples, a model with fewer attempts would come first too often or too rarely.",
    why="With unequal numbers of attempts, the values in the column would depend on the numbers of"
    " attempts.",
    advice="Use `passk compare`, which has tests that are valid for unequal numbers of attempts."
    " Alternatively, make the same number of attempts with each model.",
    example='note[first-with-unequal-attempts]: the column "first in resamples" is empty, because'
    ' models have different numbers of attempts',
)  # fmt: skip

_BIAS_MEANING = "Mean of the resamples minus the estimate."


class LimitGapBetweenMethods(NamedTuple):
    """The largest difference between two interval methods in their lower or upper limits."""

    size: float
    task_values: TaskValues
    lowest_result: Result
    highest_result: Result


class IntervalMethodComparison:
    """The intervals of one metric from several methods, and the largest gap between two limits."""

    def __init__(self, metric: Metric, models: Sequence[MetricDistribution]) -> None:
        self.metric, self.models = metric, models
        gaps: list[LimitGapBetweenMethods] = []
        for d in models:
            bounded = [
                fact for fact in d.results_per_interval_method if fact.estimate.low is not None
            ]
            for end in ("low", "high") if len(bounded) > 1 else ():
                limits = [float(getattr(fact.estimate, end)) for fact in bounded]
                least, most = limits.index(min(limits)), limits.index(max(limits))
                gap = limits[most] - limits[least]
                gaps.append(
                    LimitGapBetweenMethods(gap, d.task_values, bounded[least], bounded[most])
                )
        self.gap = max(gaps, key=lambda gap: round(gap.size, 12), default=None)

    @property
    def sentence_fields(self) -> dict[str, Any]:
        first, gap, unit = self.models[0], self.gap, self.metric.unit
        fields: dict[str, Any] = {
            "metric": self.metric.name, "model": first.task_values.name, "unit": unit,
            "estimate": first.results_per_interval_method[0].estimate,
            "method": first.results_per_interval_method[0].method,
            "se": Estimate(first.se, unit=unit),
        }  # fmt: skip
        if gap is not None:
            fields |= {"model": gap.task_values.name, "gap": Estimate(gap.size, unit=unit)}
            for place, fact in (("least", gap.lowest_result), ("most", gap.highest_result)):
                limits = Limits(fact.estimate.low, fact.estimate.high)
                fields |= {place: fact.method, f"{place}_limits": limits}
        return fields


METHOD_ANSWERS = (
    Answer("one-method", lambda comparison: comparison.gap is None,
           "{metric} of {model} is {estimate} ({method}), with standard error {se}."),
    Answer("methods-agree", lambda comparison: comparison.gap.size <= ROUNDING_TOLERANCE,
           "The interval method does not matter: all intervals of {metric} are equal."),
    Answer("methods-differ", lambda comparison: True,
           "The interval method changes a limit of {metric} by at most {gap}"
           " ({model}: {least} {least_limits:=@unit}, {most} {most_limits:=@unit})."),
)  # fmt: skip


@dataclass(frozen=True)
class IntervalMethodTable(ReportSection[MetricDistribution]):
    """The estimates with the limits of every interval method, in one table per metric."""

    point_estimate_results: Sequence[Result]
    interval_methods: tuple[str, ...]
    bootstrap_weights: str
    metric: Metric | None = None

    columns = (
        MODEL_COLUMN, GROUP_VALUES_COLUMN,
        Column("estimate", "share", meaning="Mean over tasks.",
               cell_of_record=lambda d: Estimate(d.task_values.mean,
                   unit=d.task_values.metric.unit)),
        data_field("bias", _BIAS_MEANING, lambda d: d.bias),
        Column("bias", "fine", visibility=FULL, cell_of_record=lambda d, unit: d.bias,
            meaning=_BIAS_MEANING,
               repeated_items=lambda section: section.metric_unit_as_column_kinds("fine"),
               kind_of_item=lambda section, unit: unit),
        Column("se", "fine", visibility=FULL, cell_of_record=lambda d, unit: d.se,
               repeated_items=lambda section: section.metric_unit_as_column_kinds("fine"),
               kind_of_item=lambda section, unit: unit,
               meaning="Standard deviation of the resamples."),
        Column("{0}", "share", meaning="Limits of the {0} interval.", example="METHOD",
               cell_of_record=lambda d, method: next(
                   (Limits(fact.estimate.low, fact.estimate.high, fact.interval_flaw)
                    for fact in d.results_per_interval_method if fact.method == method), None),
               repeated_items=lambda section: section.metric_interval_methods,
               kind_of_item=lambda section,
               method: section.metric_unit_as_column_kinds("share")[0]),
        Column("first in resamples", "share", field_name="leads", visibility=FULL,
            cell_of_record=lambda d: d.first_place_share,
               exists_in_section=lambda section: any(d.first_place_share is not None
                   for d in section.records),
               meaning="Share of the resamples in which the model is first. Ties are split. This"
               " share is neither a test nor the probability of being best."),
        Column("from tasks", "share", field_name="share_tasks", visibility=FULL,
               cell_of_record=lambda d: d.variance_shares[0],
               meaning="Share of the variance that comes from differences between tasks."),
        Column("from attempts", "share", field_name="share_attempts", visibility=FULL,
               cell_of_record=lambda d: d.variance_shares[1],
               meaning="Share of the variance that comes from differences between attempts at one"
               " task."),
    )  # fmt: skip

    @property
    def metric_interval_methods(self) -> tuple[str, ...]:
        metric = self.metric or self.study.metrics[0]
        return methods_or_bca_without_bounds(metric, self.interval_methods, self.study.confidence)

    def metric_unit_as_column_kinds(self, share_kind: str) -> tuple[str]:
        unit = (self.metric or self.study.metrics[0]).unit
        return (share_kind if unit == "share" else unit,)

    def results_of(self, record: MetricDistribution) -> Iterator[Result]:
        return (replace(fact, se=record.se) for fact in record.results_per_interval_method)

    def tables(self) -> Iterator[Table]:
        metrics = [metric for metric in self.study.metrics if self._distributions_of_metric(metric)]
        for at, metric in enumerate(metrics):
            models = self._distributions_of_metric(metric)
            models.sort(key=lambda d: (-d.task_values.ranking_score, d.series))
            part = replace(self, records=models, metric=metric)
            table = part.table(models, metric.name if len(metrics) > 1 else "")
            yield replace(table, visibility=FULL) if at else table

    def _distributions_of_metric(self, metric: Metric) -> list[MetricDistribution]:
        return [d for d in self.records if d.task_values.metric == metric]

    def answer(self) -> Iterator[AnswerSentence]:
        if not self.records:
            yield range_sentence(self.point_estimate_results[:1], self.study.counts.group_names)
            return
        metric = next(
            metric for metric in self.study.metrics if self._distributions_of_metric(metric)
        )
        yield from first_true_sentence(
            METHOD_ANSWERS, IntervalMethodComparison(metric, self._distributions_of_metric(metric))
        )

    @property
    def resampled_unit_noun(self) -> str:
        return "tasks" if self.study.confidence.population == NEW_TASKS else "attempts"

    def footer_parts(self) -> Iterator[str | OptionHint]:
        confidence = self.study.confidence
        yield self.study.sizes_text(self.point_estimate_results)
        yield f"{confidence.resamples:,} resamples of {self.resampled_unit_noun}"
        yield f"{100 * confidence.level:g} %"
        if len({d.task_values.metric for d in self.records}) > 1:
            yield OptionHint("all metrics")

    def full_footer_parts(self) -> Iterator[str]:
        confidence = self.study.confidence
        yield f"{self.bootstrap_weights} weights, seed {confidence.seed}"
        yield f"clustered by {confidence.cluster}" if confidence.cluster else ""

    def messages(self) -> Iterator[Diagnostic]:
        confidence = self.study.confidence
        metrics = [
            metric.name
            for metric in self.study.metrics
            if methods_or_bca_without_bounds(metric, self.interval_methods, confidence)
            != self.interval_methods
        ]
        if metrics:
            yield UNKNOWN_SCORE_BOUNDS_NOTE(
                metrics=metrics,
                methods=[m for m in self.interval_methods if m in METHODS_THAT_NEED_BOUNDS],
            )
        flawed = [
            fact
            for d in self.records
            for fact in d.results_per_interval_method
            if fact.interval_flaw
        ]
        for flaw, facts in group_by(flawed, lambda fact: fact.interval_flaw).items():
            pairs = dict.fromkeys((fact.name, SeriesName(fact.series)) for fact in facts)
            methods = list(dict.fromkeys(fact.method for fact in facts))
            numbers = metrics_of_models_text(list(pairs))
            yield INTERVAL_FLAWS_NOTE(methods=methods, numbers=numbers, flaw=flaw)
        fewer: dict[tuple[str, int, int], dict[str, None]] = {}
        for d in self.records:
            if (
                d.first_place_share is not None
                and d.shared_task_count < d.union_task_count
                and self.resampled_unit_noun == "tasks"
            ):
                size = " ".join(d.series[1:]), d.shared_task_count, d.union_task_count
                fewer.setdefault(size, {})[d.task_values.metric.name] = None
        for (group, shared, total), names in fewer.items():
            yield FIRST_ON_SHARED_TASKS_WARNING(
                metrics=list(names), shared=shared, group=group, every=total
            )
        if any(d.first_place_share is None and d.compared_model_count > 1 for d in self.records):
            yield FIRST_WITH_UNEQUAL_ATTEMPTS_NOTE()

    def plots(self) -> tuple[Plot, ...]:
        if not self.records:
            return ()
        first = {d.series: d for d in reversed(self.records)}
        series = sorted(first, key=lambda model: (-first[model].task_values.mean, model))
        metrics, ks = list(self.study.metrics), [metric.k for metric in self.study.metrics]
        rows = [
            {
                "model": d.task_values.name, "metric": d.task_values.metric.name, "draws": d.draws,
                "estimate": d.results_per_interval_method[0].estimate.value,
                "low": d.results_per_interval_method[0].estimate.low,
                "high": d.results_per_interval_method[0].estimate.high,
                **({"within": (0.0, 1.0)} if d.task_values.metric.unit == "share" else {}),
            }
            for d in sorted(
                self.records,
                key=lambda d: (metrics.index(d.task_values.metric), series.index(d.series)),
            )
            if self.study.is_k_in_short_table(d.task_values.metric.k, ks)
        ]  # fmt: skip
        confidence = self.study.confidence
        subtitle = (
            f"{self.study.sizes_text(self.point_estimate_results)} ·"
            f" {plural(confidence.resamples, 'resample')} of"
            f" {self.resampled_unit_noun} · {100 * confidence.level:g} % {self.interval_methods[0]}"
            f" intervals"
        )
        chart = densities(
            rows, label="model", draws="draws", within="within", value="estimate", low="low",
            high="high", facet="metric", title="Bootstrap distributions", subtitle=subtitle,
        )  # fmt: skip
        return (chart,)


class BootstrapRunner(CommandRunner, BootstrapOptions):
    sections = (IntervalMethodTable,)

    label_refusal = ""
    missing_bounds_refusal: ClassVar[str] = (
        "the bootstrap needs one number per model, but bounds of missing outcomes are two numbers:"
        " with all missing outcomes failing and with all passing; passk estimate shows the interval"
        " of both numbers"
    )

    def selected_metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        metrics: tuple[Metric, ...] = super().selected_metrics(options, counts)
        if ratio := next(
            (metric.name for metric in metrics if metric.definition.is_ratio_of_means), ""
        ):
            raise ParameterError(
                OptionWithValue("-m", ratio),
                "a ratio of means has no values per task that could be resampled",
                name="unknown-metric", settles=[SuggestedFix({}, "has its interval", "estimate")],
            )  # fmt: skip
        return metrics

    def report(self, study: Analysis) -> Report:
        confidence = study.confidence
        methods = choose_interval_methods(study.counts, self.interval, confidence)
        if confidence.metrics_by_method_override == {LOGIT_T: ("all",)}:
            raise_parameter_error_if_any("invalid-method", (
                self.interval, OptionWithValue("--interval"),
                f"corrected numbers always have {LOGIT_T} intervals",
                (SuggestedFix({"--interval": None}),),
            ))  # fmt: skip
            methods = (LOGIT_T,)
        plain = replace(study, confidence=replace(confidence, interval="none"))
        values = plain.task_values()
        lines = [plain.result(model_values) for model_values in values]
        records = compute_metric_distributions(study, values, methods, self.weights)
        method_names = dict.fromkeys(
            fact.method for d in records for fact in d.results_per_interval_method
        )
        report = build_report(
            plain, [IntervalMethodTable(study, records, lines, methods, self.weights)],
            messages=plain.messages(lines), interval=None, intervals=",".join(method_names),
            level=confidence.level, population=confidence.population, weights=self.weights,
            cluster=confidence.cluster, bounds=confidence.signature()["bounds"],
            resamples=confidence.resamples, seed=confidence.seed,
        )  # fmt: skip
        columns = (
            {} if self.draws is None else {self.draws: resample_file_columns(study.counts, records)}
        )
        return replace(report, exports=columns)
