"""The report on a judge: errors per model, corrected numbers, and attempts to label next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from passk_cli.arrays import group_by
from passk_cli.commands.judge import JudgeOptions
from passk_cli.commands.runner import CommandRunner, ReadCountsFunction, SharedOptions
from passk_cli.diagnostic import WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError, ParameterError, raise_parameter_error_if_any
from passk_cli.files.request import Request
from passk_cli.files.roles import TRUTH_ROLE, normalized_column_name
from passk_cli.inference.adjust import ADJUSTMENTS
from passk_cli.inference.intervals import LOGIT_T, interval
from passk_cli.inference.judge_correction import (
    FEWEST_TASKS,
    ErrorClustering,
    JudgeLabels,
    VarianceByLabelCount,
    cohens_kappa_scaled_to_0_1,
    error_clustering,
    error_rate,
    variance_by_label_count,
    verdict_and_truth_share,
)
from passk_cli.outcomes.counts import Counts
from passk_cli.outcomes.provenance import UnlabelledAttempt
from passk_cli.report.data_types import FULL, Cell, Column, Estimate, Report
from passk_cli.report.phrases import SeriesName, plural
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer, true_sentences
from passk_cli.study.metric_selection import judge_labels_of_each_series
from passk_cli.study.result import Result, SampleSize
from passk_cli.study.section import (
    GROUP_VALUES_COLUMN,
    MODEL_COLUMN,
    ReportSection,
    build_report,
    data_field,
)
from passk_cli.study.value_range import name_with_groups
from passk_cli.study.values import SeriesKey
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix

CONCENTRATED_LABELS_WARNING = DiagnosticType(
    "concentrated-labels", WARNING,
    "the labels of {models} cover fewer than half as many tasks as randomly drawn labels would"
    " cover",
    meaning="The labelled attempts belong to only a few tasks.",
    why="The correction is valid only if you label randomly chosen attempts, or at least k attempts"
    " at each of several randomly chosen tasks. Labels of a few selected tasks do not show how"
    " often the judge makes mistakes on other tasks.",
    advice="Label randomly drawn attempts. `passk judge --list FILE` writes randomly drawn attempts"
    " to a file.",
    example="warning[concentrated-labels]: the labels of m1 cover fewer than half as many tasks as"
    " randomly drawn labels would cover",
)  # fmt: skip
CHOSEN_LABELS_WARNING = DiagnosticType(
    "chosen-labels", WARNING,
    "the share of labelled attempts of {models} depends on how often the judge passes the task",
    meaning="Labels are significantly more frequent at tasks that the judge often passes, or at"
    " tasks that the judge often fails (p < 0.001).",
    why="If you label attempts because the verdict looks wrong or the task looks easy, the labels"
    " do not show how often the judge is wrong overall.",
    advice="Label randomly drawn attempts. `passk judge --list FILE` writes randomly drawn attempts"
    " to a file.",
    example="warning[chosen-labels]: the share of labelled attempts of m1 depends on how often the"
    " judge passes the task",
)  # fmt: skip
_ERROR_KINDS = ("false passes", "false failures")
_VERDICTS, _TRUTHS = ("judge fails", "judge passes"), ("truly fails", "truly passes")
# If a p-value is below _MAX_LABEL_SELECTION_P, passk warns that labels were probably not drawn at
# random.
_MAX_LABEL_SELECTION_P = 1e-3
# By default, passk lists _DEFAULT_LISTED_ATTEMPT_COUNT attempts per model that you should label.
_DEFAULT_LISTED_ATTEMPT_COUNT = 100
# In each stratum, passk lists at least _MIN_LISTED_PER_STRATUM attempts that you should label, so
# that attempts with both verdicts of the judge get labels.
_MIN_LISTED_PER_STRATUM = 10
# passk suggests that a column contains labels if its name contains a word in _LABEL_COLUMN_WORDS.
_LABEL_COLUMN_WORDS = frozenset(
    "truth label labels human gold annotation annotator annotated".split()
)


@dataclass(frozen=True)
class JudgeErrorRates:
    """The error rates of the judge for one model, estimated from labelled attempts of the model.

    p_equal_rates : p-value of the hypothesis that the judge has the same error rates for this model
        and for all other models in the group, adjusted for the number of models (Holm).
    """

    series: SeriesKey
    labels: JudgeLabels
    rates: tuple[Result, Result]
    error_clustering: ErrorClustering
    kappa: Result
    confusion_shares: tuple[Result, ...]
    p_equal_rates: float | None = None

    @property
    def results(self) -> Iterator[Result]:
        more: dict[str, Cell] = {
            "labels": int(self.labels.label_counts.sum()),
            "error_pairs": self.error_clustering.error_pairs,
            "error_pairs_expected": self.error_clustering.expected_error_pair_count,
            "p_together": self.error_clustering.p,
            "p_alike": self.p_equal_rates,
        }  # fmt: skip
        return (
            replace(fact, extra_fields=more)
            for fact in (*self.rates, self.kappa, *self.confusion_shares)
        )


def _error_rate_result(
    study: Analysis, series: SeriesKey, labels: JudgeLabels, truth: int
) -> Result:
    confidence, sample = study.confidence, error_rate([labels], truth)
    labels_per_task = labels.label_tables_by_task[:, :, truth].sum(axis=1)
    size = SampleSize(
        int(np.count_nonzero(labels_per_task)),
        int(labels_per_task.min()),
        int(labels_per_task.max()),
    )
    if sample is None:
        reason = f"no labelled attempt {'passes' if truth else 'fails'}"
        return Result(series, _ERROR_KINDS[truth], None, Estimate(None, reason=reason), size=size)
    limits = interval(sample, LOGIT_T, confidence.level)
    return Result(
        series, _ERROR_KINDS[truth], None, Estimate(sample.mean, None, limits.low, limits.high),
        sample.se, size, LOGIT_T, confidence.level, limits.reason,
    )  # fmt: skip


def _kappa_result(study: Analysis, series: SeriesKey, labels: JudgeLabels) -> Result:
    level, sample = study.confidence.level, cohens_kappa_scaled_to_0_1(labels)
    size = SampleSize(int(np.count_nonzero(labels.label_counts)))
    if sample is None:
        reason = "the judge and the labels contain only one verdict"
        return Result(series, "kappa", None, Estimate(None, reason=reason, unit="score"), size=size)
    limits = interval(sample, LOGIT_T, level)
    low, high = (None if end is None else 2 * end - 1 for end in (limits.low, limits.high))
    estimate = Estimate(2 * sample.mean - 1, None, low, high, unit="score")
    return Result(series, "kappa", None, estimate, size=size, method=LOGIT_T, level=level)


def _confusion_share_results(
    study: Analysis, series: SeriesKey, labels: JudgeLabels
) -> tuple[Result, ...]:
    level, size, facts = (
        study.confidence.level,
        SampleSize(int(np.count_nonzero(labels.label_counts))),
        [],
    )
    for verdict, says in enumerate(_VERDICTS):
        for truth, true in enumerate(_TRUTHS):
            sample, name = verdict_and_truth_share(labels, verdict, truth), f"{says}, {true}"
            if sample is None:
                facts.append(
                    Result(series, name, None, Estimate(None, reason="no label"), size=size)
                )
                continue
            limits = interval(sample, LOGIT_T, level)
            estimate = Estimate(sample.mean, None, limits.low, limits.high)
            facts.append(
                Result(series, name, None, estimate, size=size, method=LOGIT_T, level=level)
            )
    return tuple(facts)


def judge_error_rates(study: Analysis) -> list[JudgeErrorRates]:
    counts, draws = study.counts, study.confidence.resample_arguments
    labels_by_series = dict(zip(counts.series, judge_labels_of_each_series(counts), strict=True))
    rows = [
        JudgeErrorRates(
            series, labels,
            (_error_rate_result(study, series, labels, 0), _error_rate_result(study, series, labels,
                1)),
            error_clustering(labels, **draws), _kappa_result(study, series, labels),
            _confusion_share_results(study, series, labels),
        )
        for series, labels in labels_by_series.items()
    ]  # fmt: skip
    p = []
    for series in labels_by_series:
        rivals = [
            rival
            for name, rival in labels_by_series.items()
            if name != series and name[1:] == series[1:]
        ]
        p.append(_equal_rates_p(labels_by_series[series], rivals) if rivals else math.nan)
    adjusted = ADJUSTMENTS["holm"](np.array(p)).tolist()
    return [
        replace(row, p_equal_rates=None if math.isnan(p_value) else p_value)
        for row, p_value in zip(rows, adjusted, strict=True)
    ]


def _equal_rates_p(labels: JudgeLabels, rivals: Sequence[JudgeLabels]) -> float:
    """The p-value of the hypothesis that a judge has equal error rates for a model and its rivals.

    The result is twice the smaller p-value of two Welch t-tests, one for false passes and one for
    false failures. The p-value is NaN if neither test has enough labels.
    """
    from passk_cli.scipy_special import stdtr

    least = math.nan
    for truth in (0, 1):
        sides = error_rate([labels], truth), error_rate(rivals, truth)
        first, second = (side for side in sides)
        if first is None or second is None or first.se is None or second.se is None:
            continue
        error = math.hypot(first.se, second.se)
        degrees = min(side.label_degrees_of_freedom or 1 for side in (first, second))
        p = 2 * float(stdtr(degrees, -abs(first.mean - second.mean) / error)) if error else 1.0
        least = min(p, least) if least == least else p
    return min(2 * least, 1.0)


class CorrectedMetric(NamedTuple):
    """One metric of one model, without and with the correction by labels."""

    corrected_result: Result
    judged_result: Result
    variance_model_by_label_count: VarianceByLabelCount | None
    labels_or_tasks_for_width: int | None

    @property
    def series(self) -> SeriesKey:
        return self.corrected_result.series

    @property
    def width_ratio(self) -> float | None:
        width, plain = map(_interval_width, (self.corrected_result, self.judged_result))
        return width / plain if width and plain else None


def _interval_width(fact: Result) -> float:
    low, high = fact.estimate.low, fact.estimate.high
    return 0.0 if low is None or high is None else high - low


def corrected_and_judged_metrics(study: Analysis, width: float | None) -> list[CorrectedMetric]:
    """All metrics of all models, without and with the correction by labels."""
    all_values = study.task_values()
    plain = [
        replace(
            v,
            values=v.uncorrected_values,
            hidden_variance=0.0,
            label_degrees_of_freedom=None,
            labelled_values_near_bound=None,
            labels=None,
        )
        for v in all_values
    ]
    judged = study.results(
        [v for v in plain if v.has_values], replace(study.confidence, metrics_by_method_override={})
    )
    by_name = {(fact.series, fact.name): fact for fact in judged}
    rows = []
    for fact in study.results(all_values):
        values, need, labels = fact.values, None, None
        if values is not None and values.labels is not None and len(values.values) > 1:
            need = variance_by_label_count(values.metric, values.labels)
            if (
                width
                and values.label_degrees_of_freedom is not None
                and _interval_width(fact)
                and fact.se
            ):
                labels = need.labels_for_variance((fact.se * width / _interval_width(fact)) ** 2)
        nothing = replace(fact, estimate=Estimate(None))
        rows.append(
            CorrectedMetric(fact, by_name.get((fact.series, fact.name), nothing), need, labels)
        )
    return rows


class JudgeErrorTable(ReportSection[JudgeErrorRates]):
    """A row per model: how often the judge errs, and whether its errors cluster within tasks."""

    columns = (
        MODEL_COLUMN,
        GROUP_VALUES_COLUMN,
        Column("labels", "count", field_name="labels", meaning="Number of labelled attempts.",
               cell_of_record=lambda row: int(row.labels.label_counts.sum())),
        Column("false passes", "share", cell_of_record=lambda row: row.rates[0].estimate,
               meaning="Share of truly failing attempts that the judge passes."),
        Column("false failures", "share", cell_of_record=lambda row: row.rates[1].estimate,
               meaning="Share of truly passing attempts that the judge fails."),
        Column("kappa", "score", cell_of_record=lambda row: row.kappa.estimate,
               meaning="Cohen's κ: agreement of the judge with the labels beyond chance (1 is"
               " perfect)."),
        Column("p (equal rates)", "p", cell_of_record=lambda row: row.p_equal_rates,
            field_name="p_alike",
               meaning="p-value of the hypothesis that the judge has equal error rates for this"
               " model and for all other models, adjusted (Holm). If it is small, the judge errs"
               " differently about this model.",
               exists_in_section=lambda section: len(section.records) > 1),
        Column("errors of one task", "count",
            cell_of_record=lambda row: row.error_clustering.error_pairs,
               field_name="error_pairs",
               meaning="Number of pairs of errors of the judge at the same"
                                           " task.",
               exists_in_section=lambda section: section.has_tasks_with_several_labels),
        Column("expected", "amount", True,
            cell_of_record=lambda row: row.error_clustering.expected_error_pair_count,
               field_name="error_pairs_expected",
               exists_in_section=lambda section: section.has_tasks_with_several_labels,
               meaning="Expected number of pairs of errors at the same task if errors did not"
               " depend on the task."),
        Column("p (together)", "p", cell_of_record=lambda row: row.error_clustering.p,
            field_name="p_together",
               meaning="p-value of the hypothesis that errors do not depend on the task. If it is"
               " small, errors cluster within tasks.",
               exists_in_section=lambda section: section.has_tasks_with_several_labels),
    )  # fmt: skip

    @property
    def has_tasks_with_several_labels(self) -> bool:
        return any(row.labels.same_task_label_pair_count for row in self.records)

    def results_of(self, record: JudgeErrorRates) -> Iterator[Result]:
        return record.results

    answers = (
        Answer("judge-errs", lambda section: section.models_with_error_rate
            and section.sentence_fields["failed"],
               "The judge passes {passed} of the attempts of {model} that truly fail, and fails"
               " {failed} of the attempts that truly pass."),
        Answer("judge-passes-failures", lambda section: section.models_with_error_rate,
               "The judge passes {passed} of the attempts of {model} that truly fail."),
    )  # fmt: skip
    further_answers = (
        Answer("judge-differs", lambda section: section.models_with_error_rate
            and section.models_differing_from_others,
               "The judge makes different errors for {model} than for other models.",
               lambda section: {"model": section.name_of(section.models_differing_from_others[0]),
                                "p": section.models_differing_from_others[0].p_equal_rates}),
    )  # fmt: skip

    @property
    def models_with_error_rate(self) -> list[JudgeErrorRates]:
        """The models with a known rate of false passes, with the highest rate first."""
        rows = [row for row in self.records if row.rates[0].estimate.value is not None]
        return sorted(rows, key=lambda row: -(row.rates[0].estimate.value or 0.0))

    @property
    def models_differing_from_others(self) -> list[JudgeErrorRates]:
        """The models with significantly different error rates, with the smallest p-value first."""
        rows = [
            row
            for row in self.records
            if row.p_equal_rates is not None and row.p_equal_rates <= 0.05
        ]
        return sorted(rows, key=lambda row: row.p_equal_rates or 0.0)

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        passed, failed = (rate.estimate for rate in self.models_with_error_rate[0].rates)
        return {"model": self.name_of(self.models_with_error_rate[0]), "passed": passed,
                "failed": None if failed.value is None else failed}  # fmt: skip

    def name_of(self, row: JudgeErrorRates) -> str:
        return name_with_groups(row.series, self.study.counts.group_names)

    def messages(self) -> Iterator[Diagnostic]:
        for message, rows in (
            (CONCENTRATED_LABELS_WARNING, [row for row in self.records
                if row.labels.covers_unusually_few_tasks]),
            (CHOSEN_LABELS_WARNING, [row for row in self.records
                if row.labels.selection_p < _MAX_LABEL_SELECTION_P
                             and not row.labels.min_labels_per_labelled_task]),
        ):  # fmt: skip
            if rows:
                yield message(models=[*map(self.name_of, rows)])

    def footer_parts(self) -> Iterator[str]:
        level = 100 * self.study.confidence.level
        yield f"{level:g} % {LOGIT_T} intervals, tasks as a sample"


class ConfusionShareRow(NamedTuple):
    """One row of the confusion table: a model and a verdict of the judge."""

    series: SeriesKey
    verdict: str
    share_of_all_truly_failing: Result
    share_of_all_truly_passing: Result


class ConfusionShareTable(ReportSection[ConfusionShareRow]):
    """Two rows per model: the judge's verdicts by true outcome, as shares of all attempts."""

    title = "Confusion table"
    visibility = FULL
    columns = (
        MODEL_COLUMN,
        GROUP_VALUES_COLUMN,
        Column("verdict", cell_of_record=lambda row: row.verdict, meaning="Verdict of the judge."),
        Column("truly fails", "share",
            cell_of_record=lambda row: row.share_of_all_truly_failing.estimate,
               meaning="Share of all attempts that have this verdict and truly fail."),
        Column("truly passes", "share",
            cell_of_record=lambda row: row.share_of_all_truly_passing.estimate,
               meaning="Share of all attempts that have this verdict and truly pass."),
    )  # fmt: skip

    @classmethod
    def from_judge_error_rates(
        cls, study: Analysis, errors: Sequence[JudgeErrorRates]
    ) -> ConfusionShareTable:
        return cls(study, [
            ConfusionShareRow(row.series, says, row.confusion_shares[2 * place],
                row.confusion_shares[2 * place + 1])
            for row in errors for place, says in enumerate(_VERDICTS)
        ])  # fmt: skip


@dataclass(frozen=True)
class CorrectionTable(ReportSection[CorrectedMetric]):
    """A row per model and metric, with uncorrected and corrected values, and the labels needed."""

    title = "Corrected"
    columns = (
        MODEL_COLUMN,
        GROUP_VALUES_COLUMN,
        Column("metric", cell_of_record=lambda row: row.corrected_result.name,
            meaning="Name of the metric."),
        Column("judged", "share", cell_of_record=lambda row: row.judged_result.estimate,
               meaning="The value computed from the verdicts of the judge."),
        Column("corrected", "share", cell_of_record=lambda row: row.corrected_result.estimate,
               meaning="The value corrected for the errors of the judge."),
        data_field("judged", "The value computed from the verdicts of the judge, uncorrected.",
                   lambda row: row.judged_result.estimate.value),
        Column("times as wide", "amount", cell_of_record=lambda row: row.width_ratio,
            field_name="times_as_wide",
               meaning="Width of the corrected interval divided by the width of the uncorrected"
               " interval."),
        Column("for --width", cell_of_record=lambda row: _labels_for_width_text(row),
            exists_in_section=lambda s: s.width,
               meaning='Total number of labels per model for an interval of this width, at'
               ' scattered attempts ("212 labels") or per task ("3 in each of 80 tasks").'),
        data_field("labels_needed", "Total number of labels per model for an interval of the width"
                                    " in --width.",
                   lambda r: _total_labels_for_width(r)),
    )  # fmt: skip

    width: float | None = None

    def results_of(self, record: CorrectedMetric) -> tuple[Result]:
        return (replace(record.corrected_result, extra_fields={}),)


def _total_labels_for_width(row: CorrectedMetric) -> int | None:
    per_task = (
        row.variance_model_by_label_count.labels_per_task
        if row.variance_model_by_label_count
        else 0
    )
    return (
        None
        if row.labels_or_tasks_for_width is None
        else row.labels_or_tasks_for_width * max(per_task, 1)
    )


def _labels_for_width_text(row: CorrectedMetric) -> str:
    if row.variance_model_by_label_count is None:
        k = row.corrected_result.k or 1
        return f"{k} in each of {FEWEST_TASKS} tasks to begin with"
    if row.labels_or_tasks_for_width is None:
        return "more tasks"
    if row.labels_or_tasks_for_width <= row.variance_model_by_label_count.current_label_count:
        return "enough"
    per_task = row.variance_model_by_label_count.labels_per_task
    return (
        f"{per_task} in each of {row.labels_or_tasks_for_width:,} tasks"
        if per_task
        else plural(row.labels_or_tasks_for_width, "label")
    )


def attempts_to_label(
    counts: Counts, per_task: int, labels_needed: Mapping[SeriesKey, int], number: int | None
) -> list[UnlabelledAttempt]:
    """The attempts to label next, in the order of models and tasks.

    If `per_task` is 1, the attempts are spread over strata. A stratum contains the attempts with
    one verdict, either at tasks that mostly pass or at other tasks. Each stratum gets a number of
    labels in proportion to its size, but at least _MIN_LISTED_PER_STRATUM.
    """
    attempts = []
    for series, rows in group_by(
        counts.read_facts.unlabelled_attempts, lambda row: row.series
    ).items():
        target = number or labels_needed.get(series) or _DEFAULT_LISTED_ATTEMPT_COUNT
        if per_task > 1:
            # Tasks that already have some labels come first, so that every labelled task gets
            # enough labels.
            open_ = [
                row
                for row in rows
                if row.random_position_in_task <= per_task - row.task_label_count
            ]
            order = sorted({(row.task_label_count == 0, row.random_task_position) for row in open_})
            begun = sum(not new for new, _ in order)
            tasks = {place for _, place in order[: max(begun, math.ceil(target / per_task))]}
            attempts += [row for row in open_ if row.random_task_position in tasks]
            continue
        sizes = {row.stratum: row.stratum_size for row in rows}
        share = target / sum(sizes.values())
        least = {
            stratum: max(math.ceil(size * share), _MIN_LISTED_PER_STRATUM)
            for stratum, size in sizes.items()
        }
        attempts += [row for row in rows if row.random_position_in_stratum <= least[row.stratum]]
    return sorted(attempts, key=lambda row: (row.series, row.task, row.random_position_in_task))


def _label_file_columns(counts: Counts, attempts: Sequence[UnlabelledAttempt]) -> dict[str, Any]:
    names = ("model", *counts.group_names)
    columns = {name: [row.series[at] for row in attempts] for at, name in enumerate(names)}
    columns |= {"task": [row.task for row in attempts]}
    columns |= {
        "attempt": [row.attempt or "" for row in attempts],
        TRUTH_ROLE: [""] * len(attempts),
    }
    return {name: np.array(values, dtype=object) for name, values in columns.items()}


def _no_labels_error(counts: Counts, *, numbered: bool = True) -> ParameterError:
    unread = dict.fromkeys(
        column for file in counts.read_facts.file_readings for column in file.unused_columns
    )
    label_columns = [
        column
        for column in unread
        if {*normalized_column_name(column).split("_")} & _LABEL_COLUMN_WORDS
    ]
    return ParameterError(
        "the data contains no labels of true outcomes; without labels, nobody can know how often a"
        " judge errs, even if two judges agree",
        name="no-labels",
        settles=[
            *(
                SuggestedFix({"--field": {TRUTH_ROLE: column}}, "reads the labels")
                for column in label_columns
            ),
            *[SuggestedFix({"--field": {TRUTH_ROLE: Placeholder("COLUMN")}}, "sets their column")]
            * (not label_columns),
            *[SuggestedFix({"--list": Placeholder("FILE")}, "writes attempts to label")] * numbered,
        ],
    )


def _require_labels_per_judge_verdict(errors: Sequence[JudgeErrorRates]) -> None:
    for row in errors:
        if verdict := row.labels.unlabelled_verdict:
            raise DataError(
                SeriesName(row.series),
                f"no attempt that the judge {verdict} has a label, so the judge's error rate is"
                " unknown",
                name="missing-labels",
                settles=[
                    SuggestedFix(
                        {"--list": Placeholder("FILE")}, "writes attempts with both verdicts"
                    )
                ],
            )


TO_LABEL_ANSWER_TEMPLATES = (
    Answer("nothing-to-label", lambda fields: not fields["attempts"],
           "Every attempt has a label."),
    Answer("to-label", lambda fields: fields["attempts"],
           "{file} contains {attempts:attempt} at {tasks:task} to label. Fill in the column 'truth'"
           " of the file, and then read the file with --truth."),
    Answer("more-to-label",
           lambda fields: 0 < fields["number"] * fields["models"] < fields["attempts"],
           "The file contains more than {number:attempt} per model, because passk lists at least"
           " ten attempts per verdict at tasks that mostly pass, and ten at other tasks."),
)  # fmt: skip


class JudgeRunner(CommandRunner, JudgeOptions):
    sections = (JudgeErrorTable, ConfusionShareTable, CorrectionTable)
    label_refusal = ""
    missing_bounds_refusal = (
        "passk judge compares labels with verdicts, and a missing outcome has no verdict"
    )

    def request(self, options: SharedOptions) -> Request:
        raise_parameter_error_if_any("contradicting-options", (
            options.request.truth_from is not None, OptionWithValue("--truth-from"),
            "passk judge needs labels of the attempts in the data",
            (SuggestedFix({"--truth-from": None}),),
        ))  # fmt: skip
        labelling = None if self.to_label is None else options.confidence.seed
        return replace(super().request(options), labelling_seed=labelling)

    def read_analysis(self, options: SharedOptions, read: ReadCountsFunction) -> Analysis:
        if options.request.has_correcting_labels:
            return super().read_analysis(options, read)
        request = self.request(options)
        counts = read(request)
        if self.to_label is None:
            try:
                numbered = options.is_readable_only_once or bool(
                    read(replace(request, labelling_seed=0))
                )
            except DataError:
                numbered = False
            raise _no_labels_error(counts, numbered=numbered)
        return Analysis(counts, confidence=options.confidence)

    def require_sufficient_data(self, options: SharedOptions, counts: Counts) -> None:
        if self.to_label is None and not options.request.has_correcting_labels:
            raise _no_labels_error(counts)

    def report(self, study: Analysis) -> Report:
        sections: list[ReportSection[Any]] = []
        corrected: list[CorrectedMetric] = []
        labels_needed: dict[SeriesKey, int] = {}
        if TRUTH_ROLE in study.counts.attempts:
            corrected = corrected_and_judged_metrics(study, self.width)
            errors = judge_error_rates(study)
            _require_labels_per_judge_verdict(errors)
            sections = [
                JudgeErrorTable(study, errors),
                ConfusionShareTable.from_judge_error_rates(study, errors),
                CorrectionTable(study, corrected, self.width),
            ]  # fmt: skip
            for row in corrected:
                more = (row.labels_or_tasks_for_width or 0) - (
                    row.variance_model_by_label_count.current_label_count
                    if row.variance_model_by_label_count
                    else 0
                )
                more *= max(
                    row.variance_model_by_label_count.labels_per_task
                    if row.variance_model_by_label_count
                    else 0,
                    1,
                )
                labels_needed[row.series] = max(labels_needed.get(row.series, 0), more)
        report = build_report(
            study, sections, messages=study.messages([row.corrected_result for row in corrected]),
            resamples=study.confidence.resamples, seed=study.confidence.seed,
        )  # fmt: skip
        if self.to_label is None:
            return report
        attempts = attempts_to_label(study.counts, self.each, labels_needed, self.number)
        fields = {
            "attempts": len(attempts), "tasks": len({row.task for row in attempts}),
            "file": self.to_label, "number": self.number or 0, "models": len(study.counts.series),
        }  # fmt: skip
        sentences = true_sentences(TO_LABEL_ANSWER_TEMPLATES, fields)
        exports = {self.to_label: _label_file_columns(study.counts, attempts)}
        return replace(report, answer=(*report.answer, *sentences), exports=exports)
