"""The report of `passk bootstrap`: limits of every interval method, the answer, and the chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from passk_cli.arrays import group_by
from passk_cli.commands.bootstrap import BootstrapOptions
from passk_cli.commands.bootstrap.distribution import (
    MetricDistribution,
    applicable_methods,
    bootstrap_distributions,
    choose_methods,
    resample_columns,
)
from passk_cli.commands.question import Question, SharedOptions
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import ParameterError, refuse_if_any
from passk_cli.inference.intervals import GUARDED_METHODS, LOGIT_T
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.inference.rounding import ROUNDING
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
from passk_cli.report.phrases import SeriesName, plural, results_of_models_text
from passk_cli.report.plot import Plot, densities
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer, first_true
from passk_cli.study.result import Result
from passk_cli.study.section import GROUPS, MODEL, Section, build_report, data_field
from passk_cli.study.value_range import range_sentence
from passk_cli.study.values import TaskValues
from passk_cli.suggested_fix import OptionValue, Placeholder, SuggestedFix

WITHOUT_BOUNDS = DiagnosticType(
    "methods-without-bounds", NOTE,
    "there is no {methods} interval of {metrics}, because the range of scores is unknown",
    SuggestedFix({"--bounds": Placeholder("LOW,HIGH")}, "sets it"),
    "A guard interval needs the lowest and highest possible value of the metric. If the range of a"
    " score is unknown, passk shows a BCa interval instead.",
    why="BCa limits are less reliable if there are few tasks.",
    advice="If you know the range of the scores, set it with `--bounds`, for example `--bounds"
    " 0,10`.",
    example="passk bootstrap sample_data/cyber.csv.gz -m best@1\n"
    "note[methods-without-bounds]: there is no guard interval of best@1, because the range of"
    " scores is unknown; --bounds LOW,HIGH sets it",
)  # fmt: skip
PARTICULAR_INTERVALS = DiagnosticType(
    "particular-intervals", NOTE, "read the {methods} intervals of {numbers} with caution ({flaw})",
    meaning="The message reports why passk computed some intervals in a special way, or could not"
    " compute them.",
    why="Do not compare the limits of such intervals with limits of the same method for other"
    " metrics.",
    advice="Read the reason at the end of the message. If all tasks have the same value, you need"
    " more tasks or attempts for an ordinary interval.",
    example="passk bootstrap sample_data/agents.jsonl -k 1\n"
    "note[particular-intervals]: read the guard, percentile, bca, t intervals of pass@1 of"
    " claude-opus-4-8, claude-sonnet-5, gpt-5.3-codex and 4 more with caution (every task has the"
    " value 1: the interval is one-sided)",
)  # fmt: skip
FEWER_SHARED = DiagnosticType(
    "first-on-shared-tasks", WARNING,
    'for {metrics}, the column "first in resamples" uses only the {shared:task} of {every} that all'
    ' models have{?group| in {group}}',
    meaning="passk can compare models only on tasks that all models attempted. In contrast, the"
    " estimates and intervals use all tasks of each model.",
    why="Estimates and resamples use different tasks, so they may disagree.",
    advice="Run the missing tasks, or keep only the models that have all tasks with `--model`.",
    example='passk bootstrap sample_data/cyber.csv.gz -m best@1\n'
    'warning[first-on-shared-tasks]: for best@1, the column "first in resamples" uses only the 136'
    ' tasks of 291 that all models have',
)  # fmt: skip
UNEQUAL_ATTEMPTS = DiagnosticType(
    "first-with-unequal-attempts", NOTE,
    'the column "first in resamples" is empty, because models have different numbers of attempts',
    meaning="A model with fewer attempts has fewer possible values and more ties. A model with"
    " fewer attempts would come first in too many or too few resamples.",
    why="With unequal numbers of attempts, the column would compare the numbers of attempts and not"
        " the models.",
    advice="Use `passk compare`, which has tests that are valid for unequal numbers of attempts."
    " Alternatively, make the same number of attempts with each model.",
    example='note[first-with-unequal-attempts]: the column "first in resamples" is empty, because'
    ' models have different numbers of attempts',
)  # fmt: skip

_BIAS = "Mean of the resamples minus the estimate."


class MethodGap(NamedTuple):
    """The largest difference between the limits of two interval methods, on the same side."""

    size: float
    values: TaskValues
    least: Result
    most: Result


class MethodComparison:
    """The intervals of one metric by several methods, and the largest gap between their limits."""

    def __init__(self, metric: Metric, models: Sequence[MetricDistribution]) -> None:
        self.metric, self.models = metric, models
        gaps: list[MethodGap] = []
        for d in models:
            bounded = [fact for fact in d.estimates if fact.estimate.low is not None]
            for end in ("low", "high") if len(bounded) > 1 else ():
                limits = [float(getattr(fact.estimate, end)) for fact in bounded]
                least, most = limits.index(min(limits)), limits.index(max(limits))
                gap = limits[most] - limits[least]
                gaps.append(MethodGap(gap, d.values, bounded[least], bounded[most]))
        self.gap = max(gaps, key=lambda gap: round(gap.size, 12), default=None)

    @property
    def fields(self) -> dict[str, Any]:
        first, gap, unit = self.models[0], self.gap, self.metric.unit
        fields: dict[str, Any] = {
            "metric": self.metric.name, "model": first.values.name, "unit": unit,
            "estimate": first.estimates[0].estimate, "method": first.estimates[0].method,
            "se": Estimate(first.se, unit=unit),
        }  # fmt: skip
        if gap is not None:
            fields |= {"model": gap.values.name, "gap": Estimate(gap.size, unit=unit)}
            for place, fact in (("least", gap.least), ("most", gap.most)):
                limits = Limits(fact.estimate.low, fact.estimate.high)
                fields |= {place: fact.method, f"{place}_limits": limits}
        return fields


METHOD_ANSWERS = (
    Answer("one-method", lambda comparison: comparison.gap is None,
           "{metric} of {model} is {estimate} ({method}), with standard error {se}."),
    Answer("methods-agree", lambda comparison: comparison.gap.size <= ROUNDING,
           "The interval method does not matter: all intervals of {metric} are equal."),
    Answer("methods-differ", lambda comparison: True,
           "The interval method changes a limit of {metric} by at most {gap}"
           " ({model}: {least} {least_limits:=@unit}, {most} {most_limits:=@unit})."),
)  # fmt: skip


@dataclass(frozen=True)
class DistributionTable(Section[MetricDistribution]):
    """Estimates with the limits of every interval method, with one table per metric."""

    lines: Sequence[Result]
    methods: tuple[str, ...]
    kind: str
    metric: Metric | None = None

    columns = (
        MODEL, GROUPS,
        Column("estimate", "share", meaning="Mean over tasks.",
               cell=lambda d: Estimate(d.values.mean, unit=d.values.metric.unit)),
        data_field("bias", _BIAS, lambda d: d.bias),
        Column("bias", "fine", shown=FULL, cell=lambda d, unit: d.bias, meaning=_BIAS,
               across=lambda section: section.units("fine"), units=lambda section, unit: unit),
        Column("se", "fine", shown=FULL, cell=lambda d, unit: d.se,
               across=lambda section: section.units("fine"), units=lambda section, unit: unit,
               meaning="Standard deviation of the resamples."),
        Column("{0}", "share", meaning="Limits of the {0} interval.", example="METHOD",
               cell=lambda d, method: next(
                   (Limits(fact.estimate.low, fact.estimate.high, fact.flaw)
                    for fact in d.estimates if fact.method == method), None),
               across=lambda section: section.applicable,
               units=lambda section, method: section.units("share")[0]),
        Column("first in resamples", "share", name="leads", shown=FULL, cell=lambda d: d.leads,
               where=lambda section: any(d.leads is not None for d in section.records),
               meaning="Share of the resamples in which the model is first. Ties are split. This"
               " share is neither a test nor the probability of being best."),
        Column("from tasks", "share", name="share_tasks", shown=FULL,
               cell=lambda d: d.variance_shares[0],
               meaning="Share of the variance that comes from differences between tasks."),
        Column("from attempts", "share", name="share_attempts", shown=FULL,
               cell=lambda d: d.variance_shares[1],
               meaning="Share of the variance that comes from differences between attempts at one"
               " task."),
    )  # fmt: skip

    @property
    def applicable(self) -> tuple[str, ...]:
        metric = self.metric or self.study.metrics[0]
        return applicable_methods(metric, self.methods, self.study.confidence)

    def units(self, share: str) -> tuple[str]:
        unit = (self.metric or self.study.metrics[0]).unit
        return (share if unit == "share" else unit,)

    def facts_of(self, record: MetricDistribution) -> Iterator[Result]:
        return (replace(fact, se=record.se) for fact in record.estimates)

    def tables(self) -> Iterator[Table]:
        metrics = [metric for metric in self.study.metrics if self._metric_records(metric)]
        for at, metric in enumerate(metrics):
            models = self._metric_records(metric)
            models.sort(key=lambda d: (-d.values.ranking_score, d.series))
            part = replace(self, records=models, metric=metric)
            table = part.table(models, metric.name if len(metrics) > 1 else "")
            yield replace(table, shown=FULL) if at else table

    def _metric_records(self, metric: Metric) -> list[MetricDistribution]:
        return [d for d in self.records if d.values.metric == metric]

    def answer(self) -> Iterator[AnswerSentence]:
        if not self.records:
            yield range_sentence(self.lines[:1], self.study.counts.group_names)
            return
        metric = next(metric for metric in self.study.metrics if self._metric_records(metric))
        yield from first_true(
            METHOD_ANSWERS, MethodComparison(metric, self._metric_records(metric))
        )

    @property
    def resampled_units(self) -> str:
        return "tasks" if self.study.confidence.population == NEW_TASKS else "attempts"

    def context(self) -> Iterator[str | OptionHint]:
        confidence = self.study.confidence
        yield self.study.sizes(self.lines)
        yield f"{confidence.resamples:,} resamples of {self.resampled_units}"
        yield f"{100 * confidence.level:g} %"
        if len({d.values.metric for d in self.records}) > 1:
            yield OptionHint("all metrics")

    def details(self) -> Iterator[str]:
        confidence = self.study.confidence
        yield f"{self.kind} weights, seed {confidence.seed}"
        yield f"clustered by {confidence.cluster}" if confidence.cluster else ""

    def messages(self) -> Iterator[Diagnostic]:
        confidence = self.study.confidence
        metrics = [
            metric.name
            for metric in self.study.metrics
            if applicable_methods(metric, self.methods, confidence) != self.methods
        ]
        if metrics:
            yield WITHOUT_BOUNDS(
                metrics=metrics, methods=[m for m in self.methods if m in GUARDED_METHODS]
            )
        flawed = [fact for d in self.records for fact in d.estimates if fact.flaw]
        for flaw, facts in group_by(flawed, lambda fact: fact.flaw).items():
            pairs = dict.fromkeys((fact.name, SeriesName(fact.series)) for fact in facts)
            methods = list(dict.fromkeys(fact.method for fact in facts))
            numbers = results_of_models_text(list(pairs))
            yield PARTICULAR_INTERVALS(methods=methods, numbers=numbers, flaw=flaw)
        fewer: dict[tuple[str, int, int], dict[str, None]] = {}
        for d in self.records:
            if (
                d.leads is not None
                and d.shared_tasks < d.total_tasks
                and self.resampled_units == "tasks"
            ):
                size = " ".join(d.series[1:]), d.shared_tasks, d.total_tasks
                fewer.setdefault(size, {})[d.values.metric.name] = None
        for (group, shared, total), names in fewer.items():
            yield FEWER_SHARED(metrics=list(names), shared=shared, group=group, every=total)
        if any(d.leads is None and d.rivals > 1 for d in self.records):
            yield UNEQUAL_ATTEMPTS()

    def plots(self) -> tuple[Plot, ...]:
        if not self.records:
            return ()
        first = {d.series: d for d in reversed(self.records)}
        series = sorted(first, key=lambda model: (-first[model].values.mean, model))
        metrics, ks = list(self.study.metrics), [metric.k for metric in self.study.metrics]
        rows = [
            {
                "model": d.values.name, "metric": d.values.metric.name, "draws": d.draws,
                "estimate": d.estimates[0].estimate.value, "low": d.estimates[0].estimate.low,
                "high": d.estimates[0].estimate.high,
                **({"within": (0.0, 1.0)} if d.values.metric.unit == "share" else {}),
            }
            for d in sorted(
                self.records,
                key=lambda d: (metrics.index(d.values.metric), series.index(d.series)),
            )
            if self.study.is_k_in_short_table(d.values.metric.k, ks)
        ]  # fmt: skip
        confidence = self.study.confidence
        subtitle = (
            f"{self.study.sizes(self.lines)} · {plural(confidence.resamples, 'resample')} of"
            f" {self.resampled_units} · {100 * confidence.level:g} % {self.methods[0]} intervals"
        )
        chart = densities(
            rows, label="model", draws="draws", within="within", value="estimate", low="low",
            high="high", facet="metric", title="Bootstrap distributions", subtitle=subtitle,
        )  # fmt: skip
        return (chart,)


class BootstrapQuestion(Question, BootstrapOptions):
    sections = (DistributionTable,)

    uncorrected = ""
    unbounded: ClassVar[str] = (
        "the bootstrap needs one number per model, but bounds of missing outcomes are two numbers:"
        " with all missing outcomes failing and with all passing; passk estimate shows the interval"
        " of both numbers"
    )

    def metrics_of(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        metrics: tuple[Metric, ...] = super().metrics_of(options, counts)
        if ratio := next((metric.name for metric in metrics if metric.kind.ratio), ""):
            raise ParameterError(
                OptionValue("-m", ratio), "a ratio of means has no values per task that could be"
                " resampled",
                name="unknown-metric", settles=[SuggestedFix({}, "has its interval", "estimate")],
            )  # fmt: skip
        return metrics

    def report(self, study: Analysis) -> Report:
        confidence = study.confidence
        methods = choose_methods(study.counts, self.interval, confidence)
        if confidence.method_overrides == {LOGIT_T: ("all",)}:
            refuse_if_any("invalid-method", (
                self.interval, OptionValue("--interval"),
                f"corrected numbers always have {LOGIT_T} intervals",
                (SuggestedFix({"--interval": None}),),
            ))  # fmt: skip
            methods = (LOGIT_T,)
        plain = replace(study, confidence=replace(confidence, interval="none"))
        values = plain.values()
        lines = [plain.result(model_values) for model_values in values]
        records = bootstrap_distributions(study, values, methods, self.weights)
        method_names = dict.fromkeys(fact.method for d in records for fact in d.estimates)
        report = build_report(
            plain, [DistributionTable(study, records, lines, methods, self.weights)],
            messages=plain.messages(lines), interval=None, intervals=",".join(method_names),
            level=confidence.level, population=confidence.population, weights=self.weights,
            cluster=confidence.cluster, bounds=confidence.signature()["bounds"],
            resamples=confidence.resamples, seed=confidence.seed,
        )  # fmt: skip
        columns = (
            {} if self.draws is None else {self.draws: resample_columns(study.counts, records)}
        )
        return replace(report, exports=columns)
