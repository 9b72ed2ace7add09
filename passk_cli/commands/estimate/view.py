"""The report of `passk estimate`: the table, its order, the answer and the chart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from passk_cli.commands.estimate import EstimateOptions
from passk_cli.commands.estimate.headline import (
    ANY_AND_ALL_PASS_ANSWER,
    HEADLINE_ANSWERS,
    TABLE_USES_ALL_TASKS_ANSWER,
    Headline,
)
from passk_cli.commands.runner import CommandRunner
from passk_cli.diagnostic import NOTE, Diagnostic, DiagnosticType
from passk_cli.errors import ParameterError
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.metrics.registry import Metric
from passk_cli.report.data_types import (
    ALWAYS,
    FULL,
    AnswerSentence,
    Column,
    Estimate,
    Report,
    Table,
)
from passk_cli.report.phrases import SeriesName, first_few, metrics_of_models_text
from passk_cli.study.analysis import Analysis, series_by_ascending_score
from passk_cli.study.answer import first_true_sentence
from passk_cli.study.cover_ranges import cover_range_sentences
from passk_cli.study.data_notes import (
    SHORT_TASKS,
    lacking_tasks_message,
    largest_allowed_k_text,
    one_task_warning,
)
from passk_cli.study.result import Result
from passk_cli.study.run_to_run_noise import NOISE_FLOOR_ANSWERS, NoiseSummary, SeriesNoiseEstimator
from passk_cli.study.section import (
    MetricColumnItem,
    SeriesMetricTable,
    SeriesRow,
    build_report,
    rows_by_series,
)
from passk_cli.study.value_range import NO_SHARED_TASK_ANSWERS
from passk_cli.study.values import (
    NO_PASS_REASON,
    UNPRICED_REASON,
    SeriesKey,
    TooFewAttemptsReason,
    first_or_combined_reason,
)
from passk_cli.suggested_fix import OptionWithValue
from passk_cli.suggestions import did_you_mean_or_list

if TYPE_CHECKING:
    from passk_cli.report.plot import Plot

# AXIS_TITLE_BY_UNIT maps the unit of a metric to the title of the axis.
AXIS_TITLE_BY_UNIT = {
    "share": "", "score": "score", "$": "US dollars", "tokens": "tokens", "s": "seconds",
    "turns": "turns",
}  # fmt: skip

NOISY_ATTEMPTS_NOTE = DiagnosticType(
    "noisy-attempts", NOTE,
    "{numbers}: one more attempt at every task would narrow the interval more than the same number"
    " of attempts at new tasks", "",
    "The uncertainty of the metric comes mostly from the attempts at each task, and less from the"
    " choice of tasks. The attempts can cause most of the uncertainty if k is large compared with"
    " the number of attempts per task.",
    why="The variance of an estimate has two parts, one from tasks and one from attempts. New tasks"
    " reduce both parts of the variance. More attempts at the same tasks reduce only the part of"
    " the variance that comes from attempts. For the same cost, more attempts reduce the variance"
    " at a large k faster than new tasks do.",
    advice="For a narrower interval, make more attempts at the same tasks. `passk plan` computes"
    " how many tasks and attempts you need to reach a target.",
    example="note[noisy-attempts]: pass@8 of beta: one more attempt at every task would narrow the"
    " interval more than the same number of attempts at new tasks",
)  # fmt: skip


_MAX_CHECKED_ATTEMPTS = 1_000


class EstimateTable(SeriesMetricTable):
    columns = (
        *SeriesMetricTable.columns,
        Column("{0.name} judged", "share",
               meaning="The value computed from the verdicts of the judge, uncorrected.",
               repeated_items=lambda section: section.judged_metric_columns, visibility=FULL,
               field_name="judged",
               cell_of_record=lambda row, number:
               row.result_by_name[number.name].extra_fields.get("judged"),
               example=MetricColumnItem("METRIC", "", "share", FULL)),
        Column("intraclass correlation", "score", visibility=FULL,
               meaning="Correlation of two attempts at one task, with an interval over tasks. If"
               " the correlation is near 1, tasks always pass or always fail, and more attempts add"
               " little information.",
               exists_in_section=lambda section: any(map(_build_series_noise, section.records)),
               cell_of_record=lambda row: _intraclass_correlation(row)),
        Column("noise floor", "points", visibility=FULL,
               meaning="Difference by chance between two runs with one attempt per task, which is"
               " below this limit in 95 % of cases. passk uses the tasks with several attempts. The"
               " cell is empty if the attempts at each task agree.",
               exists_in_section=lambda section: any(map(_build_series_noise, section.records)),
               cell_of_record=lambda row: _noise_floor(row)),
    )  # fmt: skip

    @property
    def judged_metric_columns(self) -> list[MetricColumnItem]:
        judged_names = {fact.name for fact in self.results() if "judged" in fact.extra_fields}
        return [
            number._replace(visibility=FULL)
            for number in self.metric_columns
            if number.name in judged_names
        ]

    def tables(self) -> Iterator[Table]:
        visibility = self.visibility if self.results_with_value else FULL
        yield from (replace(table, visibility=visibility) for table in super().tables())

    @property
    def results_with_value(self) -> list[Result]:
        return [fact for fact in self.results() if fact.estimate.value is not None or fact.is_range]

    def answer(self) -> Iterator[AnswerSentence]:
        facts, metrics = self.results(), self.study.metrics
        ranged = [metric for metric in metrics if metric.definition.is_known_only_as_range]
        if len(ranged) < len(metrics):
            names = [metric.name for metric in ranged]
            headline = Headline(self.study, [fact for fact in facts if fact.name not in names])
            yield from first_true_sentence(HEADLINE_ANSWERS, headline)
            yield from first_true_sentence((ANY_AND_ALL_PASS_ANSWER,), headline)
            if any(
                m.k == 1
                and not m.definition.required_attempt_data
                and not m.definition.is_known_only_as_range
                for m in metrics
            ):
                yield from first_true_sentence(NOISE_FLOOR_ANSWERS, NoiseSummary(self.study))
            yield from first_true_sentence((TABLE_USES_ALL_TASKS_ANSWER,), headline)
            if headline.shares_no_task:
                yield from first_true_sentence(NO_SHARED_TASK_ANSWERS, headline.unreached_k)
        for metric in ranged:
            yield from cover_range_sentences(
                self.study, [fact for fact in facts if fact.name == metric.name]
            )

    def footer_parts(self) -> Iterator[str]:
        yield from self.study.sizes_and_intervals_text(self.results())
        empty = {
            fact.estimate.reason
            for fact in self.results()
            if fact.estimate.value is None and (fact.values is None or fact.values.labels is None)
            and not fact.is_range
        }  # fmt: skip
        if self.results_with_value and empty - {UNPRICED_REASON, NO_PASS_REASON}:
            yield "–: fewer than k attempts"

    def full_footer_parts(self) -> Iterator[str]:
        yield self.study.unavailable_k_hint

    def messages(self) -> Iterator[Diagnostic]:
        confidence = self.study.confidence
        if confidence.population == THESE_TASKS or confidence.method == "none":
            return
        visible_names = {
            number.name for number in self.metric_columns if number.visibility == ALWAYS
        }
        noisy = [
            fact
            for fact in self.results()
            if fact.name in visible_names and _are_attempts_better_than_tasks(fact)
        ]
        if noisy:
            pairs = [(fact.name, SeriesName(fact.series)) for fact in noisy]
            yield NOISY_ATTEMPTS_NOTE(numbers=metrics_of_models_text(pairs))

    def plots(self) -> tuple[Plot, ...]:
        from passk_cli.report.plot import forest

        all_ks = {fact.k for fact in self.results()}
        facts = [
            fact
            for fact in self.results()
            if fact.estimate.value is not None and self.study.is_k_in_short_table(fact.k, all_ks)
        ]
        subtitle = " · ".join(self.study.sizes_and_intervals_text(self.results()))
        pictures = []
        for unit, title in AXIS_TITLE_BY_UNIT.items():
            rows = [
                fact.chart_point("estimate", metric=fact.name, unit=unit)
                for fact in facts
                if fact.estimate.unit == unit
            ]
            if rows:
                chart = forest(
                    rows, label="model", value="estimate", low="low", high="high", facet="metric",
                    unit="unit", rules=(), title="Estimates", subtitle=subtitle, x_title=title,
                )  # fmt: skip
                pictures.append(chart if unit == "share" else replace(chart, unit=""))
        return tuple(pictures)


def _build_series_noise(row: SeriesRow) -> SeriesNoiseEstimator | None:
    all_values = [fact.values for fact in row.result_by_name.values() if fact.values is not None]
    plain = [
        v
        for v in all_values
        if not (
            v.metric.definition.required_attempt_data
            or v.labels
            or v.judge_error_rates
            or v.values_if_missing_pass
        )
    ]
    values = max(plain, key=lambda values: len(values.n), default=None)
    several = values is not None and len(values.n) > 1 and values.n.max() > 1
    return (
        SeriesNoiseEstimator(row.series, values.n, values.c)
        if several and values is not None
        else None
    )


def _intraclass_correlation(row: SeriesRow) -> Estimate:
    noise = _build_series_noise(row)
    return noise.intraclass_correlation if noise else Estimate(None, reason="one attempt per task")


def _noise_floor(row: SeriesRow) -> Estimate:
    noise = _build_series_noise(row)
    return Estimate(noise.noise_floor()) if noise and noise.flaky_task_count else Estimate(None)


def _are_attempts_better_than_tasks(fact: Result) -> bool:
    """Whether one more attempt at each task narrows the interval more than new tasks would.

    One more attempt at each of T tasks costs as much as T / n new tasks. If a single task with n
    attempts has the variance V(n), the mean has the variance V(n) / T. The function therefore
    returns whether V(n + 1) is less than V(n) · n / (n + 1). The result is false for k = 1. For a
    single task, the result is also false, because the variance between tasks is unknown.
    """
    values = fact.values
    if values is None or values.metric.definition.required_attempt_data or len(values.n) < 2:
        return False
    if not 1 < values.metric.k < (n := int(values.n.min())) <= _MAX_CHECKED_ATTEMPTS:
        return False
    from passk_cli.inference.design import PilotEstimate

    pilot = PilotEstimate(values.metric, values.n, values.c)
    return pilot.variance(n + 1) < pilot.variance(n) * n / (n + 1) * (1 - 1e-9)


def sorted_series(study: Analysis, facts: Sequence[Result], sort: str) -> list[SeriesKey]:
    """The models in the order of the column `sort`. A leading "-" reverses the order.

    Names are sorted in ascending order, values from best to worst, and empty values come last.
    """
    name, back = sort.removeprefix("-"), sort.startswith("-")
    if not name:
        return series_by_ascending_score(_sort_value_by_series(facts, study.metrics[0], back))
    names, series = ("model", *study.counts.group_names), sorted(study.counts.series)
    if name in names:
        place = names.index(name)
        return sorted(series, key=lambda row: row[place], reverse=back)
    if name == "tasks":
        sizes = {fact.series: float(fact.size.tasks or 0) for fact in facts}
        return sorted(series, key=lambda row: sizes[row] * (1 if back else -1))
    metric = next((m for m in study.metrics if m.name.lower() == name.lower()), None)
    if metric is None:
        question = did_you_mean_or_list(name, (*names, *(m.name for m in study.metrics), "tasks"))
        raise ParameterError(
            OptionWithValue("--sort", sort),
            f"the table has no such column; {question}",
            name="no-such-column",
        )
    return sorted(series, key=_sort_value_by_series(facts, metric, back).__getitem__)


def _sort_value_by_series(
    facts: Sequence[Result], metric: Metric, back: bool
) -> dict[SeriesKey, float]:
    sign = metric.better_sign * (1 if back else -1)
    values = {
        fact.series: fact.estimate.value_or_midpoint for fact in facts if fact.name == metric.name
    }
    return {series: math.inf if v is None else sign * v for series, v in values.items()}


class EstimateRunner(CommandRunner, EstimateOptions):
    sections = (EstimateTable,)
    checks_independence = True
    supports_range_only_metrics = True
    label_refusal = ""

    def report(self, study: Analysis) -> Report:
        facts = study.results()
        place = {series: at for at, series in enumerate(sorted_series(study, facts, self.sort))}
        facts.sort(key=lambda fact: place[fact.series])
        estimates = EstimateTable(study, rows_by_series(facts))
        reasons = [fact.estimate.reason for fact in facts]
        if not estimates.results_with_value and all(
            isinstance(reason, TooFewAttemptsReason) for reason in reasons
        ):
            names = list(dict.fromkeys(fact.name for fact in facts))
            fields = {"k": largest_allowed_k_text(names, reasons)}
            raise ParameterError(
                f"cannot compute {first_few(names)}: {first_or_combined_reason(reasons)}",
                name="too-few-attempts",
                settles=[*filter(None, (fix.with_fields(fields) for fix in SHORT_TASKS.fixes))],
            )  # fmt: skip
        messages = (
            *study.messages(facts), *one_task_warning(study.counts, study.confidence),
            *lacking_tasks_message(study.counts),
        )  # fmt: skip
        return build_report(study, [estimates], messages=messages)
