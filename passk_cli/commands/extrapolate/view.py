"""The report of `passk extrapolate`: the tables of predictions, the answer and the chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from passk_cli.activity import items_with_progress
from passk_cli.commands.extrapolate import ExtrapolateOptions
from passk_cli.commands.extrapolate.headline import (
    FEW_SHARED_TASKS_ANSWER_TEMPLATE,
    PREDICTION_ANSWER_TEMPLATES,
    TARGET_K_ANSWERS,
    RankedPredictions,
    RankedTargetKs,
    k_reaching_target_text_parts,
    ranking_value,
)
from passk_cli.commands.extrapolate.prediction import (
    Prediction,
    PredictionRequest,
    UnpredictedCurve,
    predict_curve,
)
from passk_cli.commands.runner import CommandRunner, SharedOptions
from passk_cli.diagnostic import WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError
from passk_cli.inference.extrapolation import (
    MAX_K,
    MAX_RANGE_WIDTH,
    largest_mostly_known_k,
    stopped_on_outcome_reason,
)
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.limits import refuse_many_attempts
from passk_cli.metrics.registry import Metric
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import (
    FULL,
    AnswerSentence,
    Cell,
    Column,
    Estimate,
    Limits,
    OptionHint,
    PhraseCell,
    Report,
    Table,
)
from passk_cli.report.phrases import SeriesName, plural
from passk_cli.report.plot import Plot, ReferenceLine, curves
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import first_true_sentence
from passk_cli.study.data_notes import lacking_tasks_message
from passk_cli.study.result import Result
from passk_cli.study.section import (
    GROUP_VALUES_COLUMN,
    MODEL_COLUMN,
    ReportSection,
    build_report,
    data_field,
)

# The default of `--to` is _DEFAULT_K_MULTIPLE times the number of attempts per task.
_DEFAULT_K_MULTIPLE = 10
# passk draws a line in a chart through _CHART_LINE_POINTS points.
_CHART_LINE_POINTS = 24

OUTCOME_STOPPED_ATTEMPTS_WARNING = DiagnosticType(
    "no-prediction", WARNING, "there is no prediction for {models}: {reason}",
    meaning="If attempts stop at the first pass, the number of attempts depends on the outcomes."
    " passk makes no prediction for a model with attempts that stop at the first pass.",
    why="If attempts stop at the first pass, a prediction would mistake easy tasks for hard tasks.",
    advice="Make the same number of attempts at every task, regardless of the outcomes.",
    example="warning[no-prediction]: there is no prediction for alpha: attempts end with the first"
    " pass",
)  # fmt: skip
HEURISTIC_FIT_WARNING = DiagnosticType(
    "heuristic-fit", WARNING,
    "the log-logit line is a heuristic without an interval; use the range instead",
    meaning="The log-logit line assumes that the logit of pass@k is linear in log k. In a few toy"
    " models, the logit of pass@k is nearly linear in log k.",
    why="On real data with thousands of attempts, the predictions of the log-logit line were often"
    " far too high.",
    advice="Report the range, which does not assume a straight line.",
    example="passk extrapolate sample_data/counts.csv --to 100 --fit log-logit\n"
    "warning[heuristic-fit]: the log-logit line is a heuristic without an interval; use the range"
    " instead",
)  # fmt: skip


@dataclass(frozen=True)
class PredictionTable(ReportSection[Prediction]):
    """One row per model, with the values of a curve at the attempts made and at larger k.

    The model with the highest value comes first.
    """

    metric_family: str
    prediction_request: PredictionRequest
    predictions_of_all_curves: Sequence[Prediction | UnpredictedCurve]
    columns = (
        MODEL_COLUMN,
        GROUP_VALUES_COLUMN,
        Column("n", "count", meaning="Number of attempts that nearly all tasks have.",
               cell_of_record=lambda row: row.known_k,
               exists_in_section=lambda section: section.has_different_attempts),
        Column("{}", "share", meaning="{}, computed from the attempts made.",
               repeated_items=lambda section: [section.measured_metric_name], example="pass@n",
               cell_of_record=lambda row, name: Estimate(row.result_at_known_k.estimate.value)),
        Column("its interval", "share", True, "Confidence interval of the value in the column to"
               " the left.",
               visibility=FULL,
               cell_of_record=lambda row: Limits(row.result_at_known_k.estimate.low,
                                                   row.result_at_known_k.estimate.high)),
        Column("{}", "share", meaning="Range that the counts allow for {}. If the range is at most"
               f" {MAX_RANGE_WIDTH} wide, an estimate comes before the range.",
               repeated_items=lambda section: [f"{section.metric_family}{k}"
                   for k in section.prediction_request.ks],
               example="pass@K",
               cell_of_record=lambda row, name:
               _estimate_or_range(row.results_by_k[int(name[5:])].estimate)),
        Column("{} by log-logit", "share", meaning="{} from a straight line of its logit in log k,"
               " which is a heuristic (`--fit log-logit`).", example="pass@K",
               repeated_items=lambda section: section.log_logit_metric_names,
               cell_of_record=lambda row, name: row.log_logit_estimate(int(name[5:]))),
        Column("k for {:g}", meaning="Range of the smallest k at which the value {:g} is reached. A"
               " k beyond the attempts made is rounded to two digits.",
               repeated_items=lambda section: (section.prediction_request.target
                   and [section.prediction_request.target]) or (),
               example=0.9,
               cell_of_record=lambda row,
               target: PhraseCell(tuple(k_reaching_target_text_parts(row)))),
        Column("never {}", "count", meaning="Number of tasks that never {}. Only these tasks can"
               " change the curve.",
               visibility=FULL,
               repeated_items=lambda section: [section.outcome_word_in_never_header],
               example="passed",
               cell_of_record=lambda row, _: row.curve_changing_task_count),
        data_field("beyond", "Whether k is larger than the number of attempts made: yes or no."),
        data_field("fit_k", "The k of a result by the average or the line. The column k is empty"
                            " for such a result."),
    )  # fmt: skip

    @property
    def is_first_curve(self) -> bool:
        return self.metric_family == self.prediction_request.curve_names[0].removesuffix("k")

    @property
    def outcome_word_in_never_header(self) -> str:
        """The outcome in the header "never …": "passed" for pass@k, and "failed" for pass^k."""
        return "passed" if self.metric_family == "pass@" else "failed"

    @property
    def has_different_attempts(self) -> bool:
        return len({row.known_k for row in self.records}) > 1

    @property
    def measured_metric_name(self) -> str:
        names = [row.result_at_known_k.name for row in self.records]
        return f"{self.metric_family}n" if self.has_different_attempts or not names else names[0]

    @property
    def log_logit_metric_names(self) -> list[str]:
        known_k = max((row.known_k for row in self.records), default=0)
        return [
            f"{self.metric_family}{k}"
            for k in self.prediction_request.ks
            if self.prediction_request.fit_name and k > known_k
        ]

    @property
    def unpredicted_curves(self) -> list[UnpredictedCurve]:
        return [
            r
            for r in self.predictions_of_all_curves
            if isinstance(r, UnpredictedCurve) and r.metric_family == self.metric_family
        ]

    def results(self) -> list[Result]:
        return [
            fact
            for row in self.predictions_of_all_curves
            if row.metric_family == self.metric_family
            for fact in row.results
        ]

    def tables(self) -> Iterator[Table]:
        table = self.table(self.records)
        blank = (None,) * (len(table.columns) - 1 - len(self.study.counts.group_names))
        refused = [
            (*series, *blank) for series in sorted(row.series for row in self.unpredicted_curves)
        ]
        yield replace(table, rows=(*table.rows, *refused))

    def answer(self) -> Iterator[AnswerSentence]:
        models, k = list(self.records), self.prediction_request.ks[-1]
        facts = self.study.results([row.task_values for row in models])
        shared, where = self.study.on_shared_tasks(facts)
        if where:
            predictions = [predict_curve(self.study, fact.values,
                self.prediction_request) for fact in shared
                           if fact.values]  # fmt: skip
            models = [row for row in predictions if isinstance(row, Prediction)]
            models.sort(key=lambda row: ranking_value(row, k), reverse=True)
        if not models:
            if where:
                yield FEW_SHARED_TASKS_ANSWER_TEMPLATE.sentence_about(f"{self.metric_family}{k}")
            return
        where = where.removeprefix(" on ")
        if self.prediction_request.target:
            yield from first_true_sentence(
                TARGET_K_ANSWERS, RankedTargetKs(models, self.prediction_request.target, where)
            )
        else:
            yield from first_true_sentence(
                PREDICTION_ANSWER_TEMPLATES, RankedPredictions(models, k, where)
            )

    def footer_parts(self) -> Iterator[str | OptionHint]:
        if not self.is_first_curve:
            return
        confidence = self.study.confidence
        if self.records:
            yield self.study.sizes_text(row.result_at_known_k for row in self.records)
            if self.unpredicted_curves:
                models_text = plural(len(self.unpredicted_curves) + len(self.records), "model")
                yield f"{len(self.records)} of {models_text} have a prediction"
        sampled = confidence.population == NEW_TASKS
        about = "tasks as a sample" if sampled else "for these tasks"
        clusters = f", clustered by {confidence.cluster}" if confidence.cluster else ""
        yield f"{100 * confidence.level:g} % ranges, {about}{clusters}"
        yield OptionHint("average of models")

    def messages(self) -> Iterator[Diagnostic]:
        for reason in dict.fromkeys(row.reason for row in self.unpredicted_curves):
            names = [
                row.task_values.name for row in self.unpredicted_curves if row.reason == reason
            ]
            yield OUTCOME_STOPPED_ATTEMPTS_WARNING(models=list(dict.fromkeys(names)), reason=reason)
        if self.prediction_request.fit_name and self.is_first_curve:
            yield HEURISTIC_FIT_WARNING()

    def plots(self) -> tuple[Plot, ...]:
        if not self.is_first_curve:
            return ()
        predictions, aim = (
            [row for row in self.predictions_of_all_curves if isinstance(row, Prediction)],
            self.prediction_request,
        )
        known_ks = {row.known_k for row in predictions}
        rules = (
            [ReferenceLine(x=float(max(known_ks)), text="attempts made")]
            if len(known_ks) == 1
            else []
        )
        if aim.target is not None:
            rules.append(ReferenceLine(y=aim.target, text=f"target {aim.target:g}"))
        end = max(*aim.ks, *known_ks)
        rows = [row for prediction in predictions for row in _curve_points(prediction, end)]
        marks = {f * 10**d for d in range(7) for f in (1, 2, 5)}
        points = [row for row in rows if row["k"] in marks | known_ks and row["measured"]]
        names = ", ".join(aim.curve_names)
        chart = curves(
            rows, x="k", y="value", low="low", high="high", colour="model",
            facet="metric" if len(aim.curve_names) > 1 else "",
            points=[{key: row[key] for key in ("model", "metric", "k", "value")} for row in points],
            rules=rules,
            keys={"points": "measured", "line": "average of models", "band": "range"},
            title=f"{names} beyond the attempts made",
            subtitle=" · ".join(part for part in self.footer_parts() if isinstance(part, str)),
            x_title="k (attempts)",
            y_title=names, log_x=True,
        )  # fmt: skip
        return (chart,)


class ModelAverageTable(ReportSection[Result]):
    """One row per prediction: the average of several statistical models, with its interval."""

    title = "Average of models"
    visibility = FULL
    columns = (
        MODEL_COLUMN,
        GROUP_VALUES_COLUMN,
        Column("prediction", meaning="The predicted metric and the method.",
               cell_of_record=lambda fact: fact.name),
        Column("value", "share", meaning="Value and interval if success rates of tasks have a"
               " beta or logit-normal distribution, possibly with many tasks at one rate.",
               cell_of_record=lambda fact: fact.estimate),
    )  # fmt: skip

    def full_footer_parts(self) -> Iterator[str]:
        if self.records:
            yield ("the average assumes beta or logit-normal success rates, possibly with many"
                   " tasks at one rate")  # fmt: skip


def _estimate_or_range(estimate: Estimate) -> Cell:
    return Limits(estimate.low, estimate.high) if estimate.value is None else estimate


def _curve_points(prediction: Prediction, end: int) -> list[dict[str, Any]]:
    least = int(prediction.task_values.n.min())
    ks = np.unique(np.geomspace(1, end, _CHART_LINE_POINTS).round().astype(np.int64)).tolist()
    marks = {f * 10**d for d in range(7) for f in (1, 2, 5) if f * 10**d <= least}
    ks = sorted({*ks, *marks, prediction.known_k})
    return [
        {
            "model": prediction.task_values.name, "metric": f"{prediction.metric_family}k", "k": k,
            "value": number.estimate.value, "low": number.estimate.low,
            "high": number.estimate.high, "measured": k <= prediction.known_k,
        }
        for k in ks
        for number in [prediction.result_at(k)]
    ]  # fmt: skip


class ExtrapolateRunner(CommandRunner, ExtrapolateOptions):
    sections = (PredictionTable, ModelAverageTable)
    checks_independence = True

    reports_metrics: ClassVar[bool] = False

    missing_bounds_refusal: ClassVar[str] = (
        "pass@k beyond the attempts made may be outside the ranges with all missing outcomes"
        " failing and with all passing"
    )

    def require_sufficient_data(self, options: SharedOptions, counts: Counts) -> None:
        rows = [counts.slice_of_series(place) for place in range(len(counts.series))]
        reasons = [stopped_on_outcome_reason(counts.n[part], counts.c[part]) for part in rows]
        if all(reasons):
            raise DataError(SeriesName(counts.series[0]), reasons[0])

    def report(self, study: Analysis) -> Report:
        most, confidence = int(study.counts.n.max()), study.confidence
        refuse_many_attempts("extrapolation", most, remedy="thin out the attempts")
        families = [curve.removesuffix("k") for curve in self.metrics]
        series_values = [
            rates for family in families for rates in study.task_values([Metric(family, 1)])
        ]
        attempts = max(largest_mostly_known_k(rates.n) for rates in series_values)
        to = self.to or (min(_DEFAULT_K_MULTIPLE * attempts, MAX_K),)
        aim = PredictionRequest(self.metrics, to, self.target, self.fit)
        with ThreadPoolExecutor() as pool:
            computed = pool.map(lambda rates: predict_curve(study, rates, aim), series_values)
            results = list(items_with_progress(computed, "computing", "models", len(series_values)))
        predictions = [row for row in results if isinstance(row, Prediction)]
        if not predictions:
            raise DataError(results[0].task_values.name, getattr(results[0], "reason", ""))
        further = [fact for row in predictions for fact in row.model_based_results]
        predictions.sort(key=lambda p: (-ranking_value(p, aim.ks[-1]), p.series))
        sections = [
            PredictionTable(
                study, [p for p in predictions if p.metric_family == family], family, aim, results
            )
            for family in families
        ]
        return build_report(
            study, [*sections, ModelAverageTable(study, further)],
            messages=(*study.messages(()), *lacking_tasks_message(study.counts)),
            extrapolate=",".join(self.metrics), to=",".join(map(str, aim.ks)), target=self.target,
            fit=self.fit, interval=None, level=confidence.level, population=confidence.population,
            cluster=confidence.cluster,
        )  # fmt: skip
