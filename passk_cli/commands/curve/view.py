"""Tables, messages and charts of `passk curve`: pass@k and pass^k over k."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from passk_cli.arrays import group_pairs
from passk_cli.commands.curve import POINTWISE, SIMULTANEOUS, CurveOptions
from passk_cli.commands.curve.cover import CoverBySuccessRateTable, cover_by_success_rate_report
from passk_cli.commands.curve.curves import (
    AT,
    CURVE_NAMES,
    DEFICIT,
    DELTA,
    EXACT_RATES_MARK,
    HAT,
    UNEVENNESS_CURVE_NAMES,
    UNEVENNESS_METHOD_BY_POPULATION,
    CurveComputation,
    GainBetweenKs,
    KGrid,
    ModelCurves,
    exact_curves,
    round_numbers_up_to,
)
from passk_cli.commands.curve.headline import (
    GAIN_ANSWER_TEMPLATES,
    SINGLE_MODEL_ANSWER_TEMPLATES,
    CurvesOfSingleModel,
    ModelGains,
)
from passk_cli.commands.runner import CommandRunner, SharedOptions
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import ParameterError, raise_parameter_error_if_any
from passk_cli.files.exact_rates import TasksWithExactRates, parse_rates, rates_from_option_or_data
from passk_cli.files.request import MISSING_FIXES, Request
from passk_cli.inference.bands import log_spaced_ks
from passk_cli.inference.populations import NEW_TASKS, THESE_TASKS
from passk_cli.metrics.registry import Metric, parse_metric, required_attempt_data
from passk_cli.option import changed_option_names
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import (
    FULL,
    AnswerSentence,
    Cell,
    Column,
    Estimate,
    OptionHint,
    Report,
)
from passk_cli.report.phrases import SeriesName, count_range, number_range
from passk_cli.report.plot import Plot, ReferenceLine, curves
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import first_true_sentence
from passk_cli.study.confidence import Confidence
from passk_cli.study.data_notes import lacking_tasks_message, one_task_warning
from passk_cli.study.result import Result, tidy_rows
from passk_cli.study.section import (
    GROUP_VALUES_COLUMN,
    MODEL_COLUMN,
    MetricColumnItem,
    ReportSection,
    SeriesMetricTable,
    SeriesRow,
    build_report,
    data_field,
)
from passk_cli.study.value_range import (
    NO_SHARED_TASK_ANSWERS,
    range_sentence,
    results_of_named_groups,
)
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix
from passk_cli.suggestions import did_you_mean, respell_metric
from passk_cli.version import VERSION_AND_COMMIT_SIGNATURE

# MU_POWER_K_WORDS_BY_POPULATION maps each population to the words for its estimator of μ^k.
# pass^k would equal μ^k if all tasks were equally hard.
MU_POWER_K_WORDS_BY_POPULATION = {
    NEW_TASKS: "k different tasks",
    THESE_TASKS: "tasks with repetition",
}
# A table has at most _MOST_ACROSS columns for k, and a chart shows at most _MOST_DRAWN values of k.
_MOST_ACROSS, _MOST_DRAWN = 5, 200
_RATES, _ADDED = "Success rates of the tasks", "Reliability added by uneven tasks"

CURVE_ENDS_NOTE = DiagnosticType(
    "curve-ends", NOTE, "the curves of {models} end at k = {k}, before the requested k = {most}",
    meaning="The curve of a model ends at the smallest number of attempts at any task of the"
    " model. If k is larger than the number of attempts at a task, pass@k of this task is"
    " undefined.",
    why="Beyond the end of a curve, you can compare only the models with more attempts.",
    advice="Make more attempts, or use a smaller `--max-k`.",
    example="note[curve-ends]: the curves of alpha end at k = 5, before the requested k = 10",
)  # fmt: skip
CURVE_ENDED_BY_SHORT_TASKS_NOTE = DiagnosticType(
    "short-curve", NOTE,
    "the curves of {models} end at k = {k}, the smallest number of attempts at a task, although"
    " other tasks have up to {most} attempts",
    SuggestedFix({"--short-tasks": "drop"}, "continues the curves with these other tasks"),
    "The curve of a model ends at the smallest number of attempts at any task of the model. All"
    " points of the curve therefore use the same tasks.",
    why="One task with few attempts ends the curve for all tasks.",
    advice="Make more attempts at the tasks with few attempts. `--short-tasks drop` continues the"
    " curve with the tasks that have more attempts. With `--short-tasks drop`, a point at a larger"
    " k may use fewer tasks than a point at a smaller k.",
    example="note[short-curve]: the curves of alpha end at k = 2, the smallest number of attempts"
    " at a task, although other tasks have up to 4 attempts; --short-tasks drop continues the"
    " curves with these other tasks",
)  # fmt: skip
CHANGING_TASKS_WARNING = DiagnosticType(
    "changing-tasks", WARNING,
    "beyond k = {k}, the curves of {models} leave out tasks with too few attempts, so the curves"
    " may change direction",
    meaning="With `--short-tasks drop`, a point at a larger k uses only the tasks with at least k"
    " attempts.",
    why="The tasks with many attempts may be easier or harder than the tasks that are left out. A"
    " jump in the curve may therefore come from a change of tasks and not from a larger k.",
    advice="Look at the column `tasks` in the output of `--full` or in the csv output, or make"
    " more attempts at the tasks with few attempts.",
    example="warning[changing-tasks]: beyond k = 2, the curves of alpha leave out tasks with too"
    " few attempts, so the curves may change direction",
)  # fmt: skip
RANGES_WITHOUT_GAINS_NOTE = DiagnosticType(
    "gains-without-range", NOTE, "gains of pass@k are left out because outcomes are missing",
    tuple(replace(settle, effect="shows the gains") for settle in MISSING_FIXES),
    "With `--missing bounds`, every number is a range. The lower limit of the range counts all"
    " missing outcomes as failures, and the upper limit counts them as passes.",
    why="The true gain of pass@k may be larger or smaller than the gains that passk would compute"
    " from the limits of the ranges. The gain may be largest if only some of the missing outcomes"
    " are passes.",
    example="note[gains-without-range]: gains of pass@k are left out because outcomes are missing;"
    " --missing fail shows the gains; --missing drop shows the gains",
)  # fmt: skip
TOO_FEW_TASKS_FOR_UNEVENNESS_NOTE = DiagnosticType(
    "no-even-tasks", NOTE, "Δ_k and the deficit are empty from k = {k} on: {reason}",
    meaning="Δ_k compares pass^k with μ^k, which pass^k would be if every task had the mean"
    " success rate μ. μ^k is estimated from k attempts at k different tasks.",
    why="An estimate of μ^k needs at least k tasks or clusters.",
    advice="Use a smaller k, or add tasks.",
    example="note[no-even-tasks]: Δ_k and the deficit are empty from k = 5 on: μ^k needs k"
    " different tasks; there are 4",
)  # fmt: skip
MISSING_RATE_MOMENT_NOTE = DiagnosticType(
    "no-moment", NOTE, "{moment} of {models} is missing: {reason}",
    meaning="The standard deviation and the skewness of the tasks' success rates are corrected for"
    " the random variation of the attempts.",
    why="The standard deviation needs at least two attempts at every task, and the skewness needs"
    " at least three attempts. The success rates of the tasks must also differ by more than"
    " expected by chance.",
    advice="Make more attempts at every task.",
    example="note[no-moment]: skewness of alpha is missing: it needs three attempts at every task",
)  # fmt: skip


class CurveColumn(NamedTuple):
    """A column of the curve table: the value of a curve at k, or its change from `start_k` to k."""

    curve_name: str
    k: int
    start_k: int = 0

    @property
    def header(self) -> str:
        """The header of the column, for example "pass@10", or "gain 1 → 10"."""
        if self.start_k:
            return f"{'gain' if self.curve_name == AT else 'change'} {self.start_k} → {self.k}"
        head, sign, tail = self.curve_name.partition("@" if "@" in self.curve_name else "^")
        return f"{head}{sign}{self.k}{tail[1:]}"

    @property
    def meaning(self) -> str:
        if not self.start_k:
            return parse_metric(self.header).meaning
        name, k = self.curve_name, self.k
        return f"{name} at k = {k} minus {name} at k = {self.start_k}, for tasks with n ≥ {k}."

    def result(self, model: ModelCurves) -> Result:
        """The result of a model in this column, or an empty result if the curve ends before k."""
        points = {point.k: point for point in model.results_by_curve[self.curve_name]}
        first, last = points.get(self.start_k or self.k), points.get(self.k)
        if first is None or last is None:
            return Result(model.series, self.header, self.k, Estimate(None))
        if not self.start_k:
            return last
        if self.curve_name == AT:
            for step in model.step_gains:
                if (step.start, step.gain.k) == (self.start_k, self.k):
                    return replace(step.gain, estimate=replace(step.gain.estimate, signed=True))
        change = (last.estimate.value or 0.0) - (first.estimate.value or 0.0)
        return Result(model.series, self.header, self.k, Estimate(change, signed=True))

    def cell_estimate(self, model: ModelCurves) -> Estimate:
        """The estimate for the table cell, with an interval only in columns of gains or changes."""
        fact = self.result(model)
        return fact.estimate if self.start_k else fact.estimate.without_interval


_VALUE_COLUMN_PER_CURVE_AND_K = Column(
    "{0.header}", "share", meaning="{0.meaning}",
    repeated_items=lambda section: section.main_curve_columns_for_ks,
    cell_of_record=lambda model, place: place.cell_estimate(model), example=CurveColumn("pass@k",
        10),
    kind_of_item=lambda section, place: section.curve_unit(place.curve_name))  # fmt: skip


@dataclass(frozen=True)
class CurveTableWithModelRows(ReportSection[ModelCurves]):
    """One row per model: pass@k over k, the gain of more attempts, and pass^k at the last k."""

    grid: KGrid
    levels: Sequence[float] = ()
    chart_curves: Sequence[ModelCurves] = ()
    columns = (
        MODEL_COLUMN,
        GROUP_VALUES_COLUMN,
        _VALUE_COLUMN_PER_CURVE_AND_K,
        replace(_VALUE_COLUMN_PER_CURVE_AND_K,
            repeated_items=lambda section: section.columns_of_gain_from_first_k,
                example=CurveColumn(AT, 10, 1)),
        replace(_VALUE_COLUMN_PER_CURVE_AND_K,
            repeated_items=lambda section: section.other_curve_columns,
                example=CurveColumn(HAT, 10)),
        Column("tasks at k = {0}", "count", example=10,
               meaning="Number of tasks with at least {0} attempts.",
               repeated_items=lambda section: section.last_k_list_if_tasks_missing,
               cell_of_record=lambda model, k: model.result_at(model.main_curve_name,
                   k).size.tasks),
        Column("passed every attempt", "share", visibility=FULL,
               meaning="Share of tasks at which every attempt passed. More attempts at tasks that"
               " always pass gain nothing.",
               cell_of_record=lambda model: model.always_passed_share.estimate),
        Column("failed every attempt", "share", visibility=FULL,
               meaning="Share of tasks at which every attempt failed.",
               cell_of_record=lambda model: model.never_passed_share.estimate),
        data_field("pointwise_level", "Confidence level at each single k of a simultaneous band."),
        data_field("at_most", "Largest possible Δ_k or deficit at this mean success rate."),
    )  # fmt: skip

    def curve_unit(self, name: str) -> str:
        points = (model.results_by_curve[name][0] for model in self.records)
        units = {point.estimate.unit for point in points}
        return units.pop() if len(units) == 1 else "score"

    @cached_property
    def ks(self) -> list[int]:
        """The values of k in the table, which all models share if possible.

        Without -k, only round values and the largest k are shown.
        """
        ks_by_model = [set(model.ks) for model in self.records]
        shared = sorted(set.intersection(*ks_by_model) or set.union(*ks_by_model))
        if self.grid.exclusive_ks:
            return shared
        ks = [k for k in round_numbers_up_to(shared[-1]) if k in shared]
        return ks if len(ks) <= _MOST_ACROSS else [k for k in ks if k not in (2, 5)]

    @property
    def main_curve_columns_for_ks(self) -> list[CurveColumn]:
        """The columns of the main curve, one per k."""
        ks = sorted({*self.ks, *(gain.k for gain in self.columns_of_gain_from_first_k)})
        return [CurveColumn(self.records[0].main_curve_name, k) for k in ks]

    @property
    def other_curve_columns(self) -> list[CurveColumn]:
        """The columns of all other curves, at the last k."""
        return [CurveColumn(name, self.ks[-1]) for name in self.records[0].metric_curve_names[1:]]

    @property
    def columns_of_gain_from_first_k(self) -> list[CurveColumn]:
        """The columns with the gain from the first k to a larger k.

        If there is a single k, or if the values are ranges, the list is empty. Otherwise, the list
        ends with the gain up to the last k. If the models share no task with enough attempts for
        the last k, the list begins with the gain up to the largest k that all tasks support.
        """
        first, last = self.ks[0], self.ks[-1]
        if first == last or self.study.has_missing_outcome_ranges:
            return []
        gain = CurveColumn(self.records[0].main_curve_name, last, first)
        complete_k = min(model.last_complete_k for model in self.records)
        shared, _ = self.study.on_shared_tasks([gain.result(model) for model in self.records])
        early = [] if shared or not first < complete_k < last else [gain._replace(k=complete_k)]
        return [*early, gain]

    @property
    def last_k_list_if_tasks_missing(self) -> list[int]:
        """A list with the last k if some tasks have fewer attempts, otherwise an empty list."""
        return (
            self.ks[-1:]
            if any(model.last_complete_k < self.ks[-1] for model in self.records)
            else []
        )

    def results(self) -> list[Result]:
        models = self.records
        return [
            *(
                point
                for model in models
                for points in model.results_by_curve.values()
                for point in points
            ),
            *(fact for model in models for step in model.step_gains for fact in step[1:]),
            *(
                fact
                for m in models
                for fact in (*m.rate_moments, m.never_passed_share, m.always_passed_share)
            ),
        ]

    def answer(self) -> Iterator[AnswerSentence]:
        """Yield the sentence about the only model, or about the smallest and the largest gain."""
        groups = self.study.counts.group_names
        if len(self.records) == 1:
            yield from first_true_sentence(
                SINGLE_MODEL_ANSWER_TEMPLATES, CurvesOfSingleModel(self.records[0], groups)
            )
            return
        if not self.columns_of_gain_from_first_k:
            last = CurveColumn(self.records[0].main_curve_name, self.ks[-1])
            yield range_sentence([last.result(model) for model in self.records], groups)
            return
        gain, last = self.columns_of_gain_from_first_k[0], self.columns_of_gain_from_first_k[-1]
        of_all = [last.result(model) for model in self.records]
        gains, where = self.study.on_shared_tasks(of_all)
        if not gains:
            yield from first_true_sentence(
                NO_SHARED_TASK_ANSWERS, self.study.largest_unsupported_k(of_all)
            )
        if gain != last:
            gains, where = self.study.on_shared_tasks(
                [gain.result(model) for model in self.records]
            )
        if not gains:
            return
        if not where and gain.curve_name != AT and any(lacking_tasks_message(self.study.counts)):
            # passk can recompute changes of pass@k on the tasks that all models share, but not
            # changes of other metrics.
            where = "each model's own tasks"
        curve_gains = ModelGains(
            results_of_named_groups(gains), gain.curve_name, gain.start_k, gain.k,
            where.removeprefix(" on "),
            gain.curve_name == AT, self.records[0].has_exact_rates, groups,
        )  # fmt: skip
        yield from first_true_sentence(GAIN_ANSWER_TEMPLATES, curve_gains)

    def footer_parts(self) -> Iterator[str | OptionHint]:
        if self.records[0].has_exact_rates:
            sizes = [model.never_passed_share.size.tasks or 0 for model in self.records]
            families = "1 family" if len(self.records) == 1 else f"{len(self.records)} families"
            yield f"{families} of {count_range(sizes, 'task')}"
            yield "exact success rates, so no intervals"
            return
        confidence = self.study.confidence
        yield self.study.sizes_text(
            point for model in self.records for point in model.metric_curve_results
        )
        if not self.levels:
            yield confidence.words()
        else:
            levels = [f"{100 * level:.3g}" for level in (min(self.levels), max(self.levels))]
            yield f"{confidence.words()}, simultaneous"
            yield f"each k: {'–'.join(dict.fromkeys(levels))} %"
        if self.columns_of_gain_from_first_k and self.last_k_list_if_tasks_missing:
            gain = (
                self.columns_of_gain_from_first_k[-1].header
                if len(self.columns_of_gain_from_first_k) > 1
                else "gain"
            )
            yield f"{gain}: on the tasks with n ≥ {self.ks[-1]}"
        if confidence.method != "none":
            yield OptionHint("intervals")

    def full_footer_parts(self) -> Iterator[str]:
        if not self.records[0].has_exact_rates and self.study.confidence.method != "none":
            together = "simultaneous intervals, for both curves of a model at all k together"
            yield together if self.levels else "pointwise intervals"

    def messages(self) -> Iterator[Diagnostic]:
        if self.study.has_missing_outcome_ranges:
            yield RANGES_WITHOUT_GAINS_NOTE()
        ends, most = list[tuple[tuple[DiagnosticType, int, int], str]](), self.grid.max_k
        for model in self.records:
            name, size, last = SeriesName(model.series), model.never_passed_share.size, model.ks[-1]
            low, high = size.n_min or 0, size.n_max or 0
            if most is not None and last < most:
                ends.append(((CURVE_ENDS_NOTE, last, most), name))
            if low < high and (most is None or most > low):
                drop = self.study.short_tasks == "drop"
                ends.append(
                    (
                        (
                            CHANGING_TASKS_WARNING if drop else CURVE_ENDED_BY_SHORT_TASKS_NOTE,
                            low,
                            high,
                        ),
                        name,
                    )
                )
        for (message, k, largest), names in group_pairs(ends).items():
            yield message(models=names, k=k, most=largest)
        models = self.records
        uneven = (
            p
            for model in models
            for name in UNEVENNESS_CURVE_NAMES
            for p in model.results_by_curve.get(name, ())
        )
        moments = (moment for model in models for moment in model.rate_moments)
        empty = group_pairs((p.estimate.reason, p.k or 0) for p in uneven)
        shapes = group_pairs(((m.name, m.estimate.reason), m.series) for m in moments)
        for reason, ks in empty.items():
            if reason:
                yield TOO_FEW_TASKS_FOR_UNEVENNESS_NOTE(k=min(ks), reason=reason)
        for (shape, reason), series in shapes.items():
            if reason:
                yield MISSING_RATE_MOMENT_NOTE(
                    moment=shape, models=[*map(SeriesName, series)], reason=reason
                )

    def plots(self) -> tuple[Plot, ...]:
        models = self.chart_curves or self.records
        names = models[0].metric_curve_names
        main, other_names = ([n for n in names if (n in CURVE_NAMES) == of] for of in (True, False))
        subtitle = " · ".join(map(str, list(self.footer_parts())[:2]))
        rows = _chart_rows(models, main, self.ks)
        low, high = ("low", "high") if any(row["low"] is not None for row in rows) else ("", "")
        draw = partial(
            curves, x="k", y="value", low=low, high=high, colour="model", x_title="k (attempts)",
            subtitle=subtitle, marked=self.ks, rules=[*_lines_at_k_with_fewer_tasks(models)],
        )  # fmt: skip
        titles = {AT: "Coverage", HAT: "Reliability"}
        title = " and ".join(titles[n] for n in main).capitalize()
        pictures = [draw(rows, dash="curve", title=title, y_title=" and ".join(main))]
        if other_names:
            domain = (0.0, 1.0) if all(self.curve_unit(n) == "share" for n in other_names) else None
            more = _chart_rows(models, other_names, self.ks)
            pictures.append(
                draw(more, facet="curve", title="Further curves", y_title="value", y_domain=domain)
            )
        rows = _chart_rows(models, [DELTA], self.ks)
        if any(row["value"] is not None for row in rows):
            how = " · ".join(
                UnevennessEffectTable(
                    self.study, rows_per_model_and_k(models, UNEVENNESS_CURVE_NAMES)
                ).full_footer_parts()
            )
            pictures.append(draw(
                rows, title=_ADDED, y_title="Δ_k = pass^k − μ^k", y_domain=None, shares=True,
                subtitle=how,
            ))  # fmt: skip
        return tuple(pictures)


K_COLUMN = Column("k", "count", meaning="Number of attempts.",
           cell_of_record=lambda row: next(iter(row.result_by_name.values())).k)  # fmt: skip


def rows_per_model_and_k(
    models: Iterable[ModelCurves], names: Sequence[str] = ()
) -> list[SeriesRow]:
    """One row per model and k.

    names : names of the curves in each row; empty for all curves except Δ_k and the deficit.
    """
    return [
        SeriesRow(
            model.series,
            {name: model.result_at(name, k) for name in names or model.metric_curve_names},
        )
        for model in models
        for k in model.table_ks
        if not names or (names[0] in model.results_by_curve and k > 1)
    ]


class EveryKTable(SeriesMetricTable):
    """One row per model and k: every curve with its interval."""

    title = "Every k"
    visibility = FULL
    columns = (MODEL_COLUMN, GROUP_VALUES_COLUMN, K_COLUMN, *SeriesMetricTable.columns[2:])

    def results(self) -> list[Result]:
        return []

    @property
    def metric_columns(self) -> list[MetricColumnItem]:
        numbers = super().metric_columns
        return [
            number._replace(meaning=f"{number.name} at the k of the row.") for number in numbers
        ]


class StepGainTable(ReportSection[GainBetweenKs]):
    """One row per model and step of k: the gain, and the gain if all tasks were equally hard."""

    title = "Gains of pass@k"
    visibility = FULL
    columns = (
        MODEL_COLUMN,
        GROUP_VALUES_COLUMN,
        Column("attempts", meaning="The number of attempts before and after this step.",
               cell_of_record=lambda step: f"{step.start} → {step.gain.k}"),
        Column("gain", "share", meaning="Increase of pass@k in this step.",
               cell_of_record=lambda step: step.gain.estimate),
        Column(
            "if all tasks were equally hard", "share",
            cell_of_record=lambda step: step.equally_hard_gain.estimate.value,
            meaning="Increase that pass@k would have in this step if every task had the mean"
            " success rate."),
    )  # fmt: skip


class UnevennessEffectTable(ReportSection[SeriesRow]):
    """One row per model and k, with the effects of unequal task difficulty on pass^k and pass@k."""

    title = "Uneven tasks: Δ_k = pass^k − μ^k, deficit = 1 − (1−μ)^k − pass@k"
    columns = (
        MODEL_COLUMN,
        GROUP_VALUES_COLUMN,
        K_COLUMN,
        Column("Δ_k", "share", cell_of_record=lambda row: row.result_by_name[DELTA].estimate,
               meaning="Part of pass^k that exists only because tasks differ in difficulty."),
        Column("at most", "share", True,
            cell_of_record=lambda row: row.result_by_name[DELTA].extra_fields["at_most"],
               meaning="Largest possible Δ_k at this mean success rate."),
        Column("deficit", "share", cell_of_record=lambda row: row.result_by_name[DEFICIT].estimate,
               meaning="Amount by which pass@k is lower because tasks differ in difficulty."),
        Column("at most", "share", True,
            cell_of_record=lambda row: row.result_by_name[DEFICIT].extra_fields["at_most"],
               meaning="Largest possible deficit at this mean success rate."),
    )  # fmt: skip

    def full_footer_parts(self) -> Iterator[str]:
        confidence = self.study.confidence
        if (
            not self.records
            or self.records[0].result_by_name[DELTA].interval_flaw == EXACT_RATES_MARK
        ):
            return
        words = (
            f"Δ_k, deficit, sd: μ^k from {MU_POWER_K_WORDS_BY_POPULATION[confidence.population]}"
        )
        if confidence.method != "none":
            words += (
                f", pointwise {UNEVENNESS_METHOD_BY_POPULATION[confidence.population]} intervals"
            )
        yield words


class RateMomentTable(ReportSection[ModelCurves]):
    """One row per model: mean, standard deviation and skewness of the success rates."""

    title = _RATES
    columns = (
        MODEL_COLUMN,
        GROUP_VALUES_COLUMN,
        *(
            Column(name, kind, meaning=meaning, cell_of_record=lambda m, at=at:
            m.rate_moments[at].estimate)
            for at, (name, kind, meaning) in enumerate((
                ("mean", "share", "Mean success rate of the tasks."),
                ("sd", "share", "Standard deviation of the success rates, corrected for noise."),
                ("skewness", "number",
                 "Skewness of the success rates. If the skewness is above 0, few tasks have high"
                 " rates."),
            ))
        ),
        Column("at 0", "share", cell_of_record=lambda model: model.never_passed_share.estimate,
               meaning="Share of tasks with success rate 0, or without a passing attempt."),
        Column("at 1", "share", cell_of_record=lambda model: model.always_passed_share.estimate,
               meaning="Share of tasks with success rate 1, or without a failing attempt."),
    )  # fmt: skip


def curve_sections(
    study: Analysis, models: Sequence[ModelCurves], grid: KGrid, levels: Sequence[float] = (),
    chart_curves: Sequence[ModelCurves] = (),
) -> list[ReportSection[Any]]:  # fmt: skip
    """The sections of the report. The arguments are the fields of `CurveTableWithModelRows`."""
    return [
        CurveTableWithModelRows(study, models, grid, levels, chart_curves),
        EveryKTable(study, rows_per_model_and_k(models)),
        StepGainTable(study, [step for model in models for step in model.step_gains]),
        UnevennessEffectTable(study, rows_per_model_and_k(models, UNEVENNESS_CURVE_NAMES)),
        RateMomentTable(study, [model for model in models if model.rate_moments]),
    ]


def _lines_at_k_with_fewer_tasks(models: Sequence[ModelCurves]) -> Iterator[ReferenceLine]:
    complete_ks = {
        model.last_complete_k for model in models if model.last_complete_k < model.ks[-1]
    }
    if complete_ks:
        later = {
            point.size.tasks or 0 for m in models for point in m.results_by_curve[m.main_curve_name]
        }
        whom = f"{min(later):,} of {max(later):,}" if len(later) == 2 else "fewer"
        yield ReferenceLine(x=min(complete_ks), text=f"beyond: {whom} tasks")


def _chart_rows(
    models: Sequence[ModelCurves], names: Iterable[str], marked: Iterable[int]
) -> list[dict[str, Cell]]:
    """The points of a chart, at the marked values of k and at up to _MOST_DRAWN further values."""
    ks = np.unique([k for model in models for k in model.ks])
    chart_ks = {*log_spaced_ks(ks, _MOST_DRAWN).tolist(), *marked}
    rows: list[dict[str, Cell]] = []
    for model, name in product(models, names):
        before = None
        for point in model.results_by_curve.get(name, ()):
            if point.k in chart_ks:
                row = point.chart_point(
                    "value", model=SeriesName(model.series), curve=name, k=point.k
                )
                if before not in (None, point.size.tasks):
                    # A gap in the line separates values of k that are computed from different sets
                    # of tasks.
                    rows.append({**row, "value": None, "low": None, "high": None})
                rows.append(row)
                before = point.size.tasks
    return rows


_PASS_AT_AND_HAT_FAMILIES = ("pass@", "pass^")


def parse_exact_rates(value: Any) -> tuple[Any, ...]:
    """Parse the value of `--rates`, for example ["mixed=0,1"] or {"mixed": [0, 1]}."""
    if isinstance(value, Mapping):
        value = [f"{name}={','.join(map(str, rates))}" for name, rates in value.items()]
    return parse_rates(value)


def parse_curve_metrics(value: Any) -> tuple[Metric, ...]:
    """Parse the value of `-m`: names such as pass@k become metrics at k = 1.

    The name "cover" means the curve of cover@τ over all thresholds τ.

    >>> [metric.name for metric in parse_curve_metrics("maj@k,gpass@k:0.5,pass@k")]
    ['maj@1', 'gpass@1:0.5', 'pass@1']
    """
    text = value if isinstance(value, str) else ",".join(value)
    metrics = []
    for part in filter(None, (name.strip() for name in text.split(","))):
        if part.lower() == "cover":
            metrics.append(Metric("cover@", 1))
            continue
        match = re.fullmatch(r"([a-z-]+[@^])k(:.*)?", part.lower())
        if match is None and part.lower().startswith("cover"):
            raise ParameterError(
                OptionWithValue("-m", part),
                "the curve of cover already shows all thresholds; write cover without a threshold",
                name="unknown-metric",
            )
        if match is None:
            remedy = "write a curve like pass@k, best@k or gpass@k:0.5"
            if number := re.fullmatch(r"([a-z-]+[@^])\d+(:.*)?", respell_metric(part)):
                remedy = did_you_mean([f"{number[1]}k{number[2] or ''}"])
            raise ParameterError(OptionWithValue("-m", part), remedy, name="unknown-metric")
        metrics.append(parse_metric(f"{match[1]}1{match[2] or ''}"))
    return tuple(dict.fromkeys(metrics))


# If `--max-k` is not set, curves from exact success rates end at k = _EXACT_RATES_DEFAULT_MAX_K.
_EXACT_RATES_DEFAULT_MAX_K = 10


class CurveRunner(CommandRunner, CurveOptions):
    sections = (CurveTableWithModelRows, EveryKTable, StepGainTable, UnevennessEffectTable,
        RateMomentTable,
                CoverBySuccessRateTable)  # fmt: skip
    checks_independence = True

    reports_metrics: ClassVar[bool] = False

    label_refusal = ""
    label_refusal_by_option: ClassVar[Mapping[str, str]] = {
        "--delta": "single tasks are not corrected", "--band": "each k is corrected by itself",
    }  # fmt: skip
    missing_bounds_refusal_by_option: ClassVar[Mapping[OptionWithValue, str]] = {
        OptionWithValue(
            option, value
        ): f"{quantity} need not lie between its values if all missing outcomes fail or all pass"
        for option, value, quantity in (
            ("--delta", None, "the unevenness of tasks"),
            ("--band", SIMULTANEOUS, "the level of a band"),
        )
    }

    @property
    def grid(self) -> KGrid:
        points = None if self.points == "all" else int(self.points)
        return KGrid(points, max(self.k, default=self.max_k), self.k)

    @property
    def further_metrics(self) -> tuple[Any, ...]:
        return tuple(
            metric for metric in self.metrics if metric.family not in _PASS_AT_AND_HAT_FAMILIES
        )

    @property
    def pass_curve_names(self) -> tuple[str, ...]:
        """The names pass@k and pass^k, or only one of these names if `-m` contains only one."""
        families_named = {metric.family for metric in self.metrics}
        return tuple(
            f"{family}k"
            for family in _PASS_AT_AND_HAT_FAMILIES
            if family in families_named or not families_named & set(_PASS_AT_AND_HAT_FAMILIES)
        )

    def request(self, options: SharedOptions) -> Request:
        cluster = options.confidence.cluster
        return replace(
            options.request, cluster=cluster, attempts=required_attempt_data(self.further_metrics)
        )

    def report_without_data(self, options: SharedOptions) -> Report | None:
        """The report on exact success rates, which come from `--rates` or from a column "rate"."""
        self._check_options(options)
        families = rates_from_option_or_data(self.rates, options.source, self.request(options))
        if not families:
            return None
        sampling = "this option needs outcomes, because exact rates have no sampling error"
        raise_parameter_error_if_any(
            "contradicting-options",
            (self.further_metrics, OptionWithValue("-m"), "exact rates contain no attempts",
             (SuggestedFix({"-m": None}),)),
            (self.band != POINTWISE, OptionWithValue("--band"), sampling,
             (SuggestedFix({"--band": None}),)),
            (options.metric_options.short_tasks != "empty", OptionWithValue("--short-tasks"),
             sampling,
             (SuggestedFix({"--short-tasks": None}),)),
        )  # fmt: skip
        return self.exact_report(families)

    def exact_report(self, families: Sequence[TasksWithExactRates]) -> Report:
        grid = self.grid
        last = grid.max_k or _EXACT_RATES_DEFAULT_MAX_K
        models = [
            exact_curves(f, grid, last, self.pass_curve_names, delta=self.delta) for f in families
        ]
        counts = Counts.from_cells([(family.name, "", 1, 0) for family in families])
        study = Analysis(counts, confidence=Confidence("none"))
        sections = curve_sections(study, models, grid)
        signature = {
            **VERSION_AND_COMMIT_SIGNATURE, "curves": ",".join(self.pass_curve_names),
            "max-k": last,
            "points": ",".join(map(str, sorted(self.k))) or self.points,
            "rates": ", ".join(family.name for family in families),
        }  # fmt: skip
        facts = [fact for section in sections for fact in section.results()]
        return replace(build_report(study, sections), make_data_rows=lambda: tidy_rows(facts, (),
            ""),
                       make_signature=lambda: signature, make_methods_text=None)  # fmt: skip

    def _check_options(self, options: SharedOptions) -> None:
        k_options = [
            option for option in ("--max-k", "--points") if option in changed_option_names(self)
        ]
        without = SuggestedFix(dict.fromkeys(k_options[:1]))
        raise_parameter_error_if_any("contradicting-options", (
            self.k and k_options, OptionWithValue("-k"), "this option already sets all k's",
            (without,),
        ))  # fmt: skip
        ranged = any(metric.definition.is_known_only_as_range for metric in self.metrics)
        of_k = [
            (option, (SuggestedFix({option: None}),) * (option != "--rates"))
            for option in changed_option_names(self) if option not in ("-m", "--metric")
        ]  # fmt: skip
        raise_parameter_error_if_any(
            "contradicting-options",
            (ranged and len(self.metrics) > 1, OptionWithValue("-m"),
             "the curve of cover is over success rates and not over k; name only cover", ()),
            *((ranged, OptionWithValue(option), "the curve of cover does not use this option",
               fixes) for option, fixes in of_k),
        )  # fmt: skip
        method, fixed = options.confidence.method, options.confidence.population == THESE_TASKS
        reasons = (
            ("--interval", method == "none", "a band needs an interval method"),
            ("--interval", fixed and method == "percentile",
             "for these tasks, a band needs hull or jackknife intervals, not percentile"),
            ("--short-tasks", options.metric_options.short_tasks == "drop",
             "a band needs the same tasks at every k"),
            ("-m", self.further_metrics, "a band is only for pass@k and pass^k"),
        )  # fmt: skip
        place, without_band = (
            OptionWithValue("--band", SIMULTANEOUS),
            SuggestedFix({"--band": None}),
        )
        raise_parameter_error_if_any("invalid-method", *(
            (self.band == SIMULTANEOUS and holds, place, problem,
             (SuggestedFix({option: None}), without_band))
            for option, holds, problem in reasons
        ))  # fmt: skip

    def report(self, study: Analysis) -> Report:
        if any(metric.definition.is_known_only_as_range for metric in self.metrics):
            return cover_by_success_rate_report(study)
        together, grid, confidence = self.band == SIMULTANEOUS, self.grid, study.confidence
        measurement = CurveComputation(
            study, grid, self.further_metrics, self.pass_curve_names, together, self.delta
        )
        models, chart_curves, levels = measurement.curves()
        sections = curve_sections(study, models, grid, levels, chart_curves)
        ends = [model.ks[-1] for model in models]
        decided: dict[str, Any] = {
            "curves": ",".join(models[0].metric_curve_names),
            "max_k": number_range(min(ends), max(ends)).replace("–", "-"),
            "points": ",".join(map(str, sorted(self.k))) or self.points,
            **confidence.signature(),
        }
        if confidence.method != "none":
            decided["band"] = self.band
            if together or (self.delta and confidence.population != THESE_TASKS):
                decided |= confidence.resample_arguments
        if self.delta:
            decided["delta"] = MU_POWER_K_WORDS_BY_POPULATION[confidence.population]
        messages = study.messages(
            [p for model in models for p in model.metric_curve_results], short=()
        )
        messages += [
            *one_task_warning(study.counts, study.confidence),
            *lacking_tasks_message(study.counts),
        ]
        return build_report(study, sections, messages=messages, **decided)
