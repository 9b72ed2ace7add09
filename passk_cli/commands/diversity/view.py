"""The report of `passk diversity`: the tables, the answer, messages and the chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from passk_cli.commands.diversity import DiversityOptions
from passk_cli.commands.diversity.variety import (
    CORRECT,
    DISTINCT,
    GAIN_WITH_LITTLE_VARIETY_FLAG,
    diversity_metrics,
    solution_results,
)
from passk_cli.commands.runner import CommandRunner, SharedOptions
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import ParameterError
from passk_cli.files.request import Request
from passk_cli.metrics.registry import Metric
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import ALWAYS, FULL, AnswerSentence, Column, Estimate, Report
from passk_cli.report.phrases import SeriesName
from passk_cli.report.plot import Plot, curves
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer
from passk_cli.study.data_notes import lacking_tasks_message
from passk_cli.study.metric_selection import (
    MetricOptions,
    largest_k_of_any_model,
    largest_k_of_most_models,
)
from passk_cli.study.section import (
    GROUP_VALUES_COLUMN,
    METRIC_VALUES_COLUMN,
    MODEL_COLUMN,
    MetricColumnItem,
    ReportSection,
    SeriesMetricTable,
    SeriesRow,
    build_report,
)
from passk_cli.study.value_range import name_with_groups, range_sentence
from passk_cli.study.values import SeriesKey

_CURVE_POINTS = 16

GAIN_WITH_LITTLE_VARIETY_WARNING = DiagnosticType(
    "little-variety", WARNING,
    "more attempts by {models} increase pass@k, but they add few different solutions",
    meaning="pass@k rises with k, but most tasks with a gain have only one solution that passes"
    " and one solution that fails. passk prints the message if the interval of the gain is above 0"
    " and the solutions have little variety. Little variety means at most 10 % above the smallest"
    " variety with which a gain is possible.",
    why="The model repeats the same guesses and tries few new solutions, so more attempts may add"
    " little.",
    advice="Try a higher temperature. `--full` shows the gains and the variety of the solutions.",
    example="warning[little-variety]: more attempts by alpha increase pass@k, but they add few"
    " different solutions",
)  # fmt: skip
UNPARSED_SOLUTIONS_NOTE = DiagnosticType(
    "unparsed-solutions", NOTE,
    "{attempts:attempt} {attempts:has|have} a solution that is not valid Python; passk compares"
    " invalid programs as text with single spaces",
    meaning="`--normalise python` ignores comments, docstrings and layout when it compares"
    " programs. If Python cannot parse a solution, passk normalises the solution as with"
    " `--normalise space`.",
    why="Two invalid programs that differ only in comments count as different solutions.",
    advice="If the solutions are not Python, use `--normalise space`.",
    example="passk diversity sample_data/cruxeval.jsonl.gz --by temperature --normalise python\n"
    "note[unparsed-solutions]: 471 attempts have a solution that is not valid Python; passk"
    " compares invalid programs as text with single spaces",
)  # fmt: skip
MIXED_OUTCOMES_NOTE = DiagnosticType(
    "mixed-outcomes", NOTE,
    "{solutions:solution} passed in some attempts and failed in others",
    meaning="Equal solutions usually pass or fail together. Some equal solutions passed in one"
    " attempt and failed in another, for example because of flaky tests or time limits."
    " distinct-pass@k counts a solution with mixed outcomes by its share of passes.",
    why="If equal solutions have different outcomes, the outcome depends on the checker and not on"
    " the solution.",
    advice="Check whether the tests of the affected tasks are deterministic.",
    example="note[mixed-outcomes]: 7 solutions passed in some attempts and failed in others",
)  # fmt: skip
DUPLICATES_GROW_WITH_ATTEMPTS_NOTE = DiagnosticType(
    "growing-duplicates", NOTE,
    "tasks have different numbers of attempts, which affect the share of duplicates but not"
    " distinct@k",
    meaning="With more attempts per task, both the number of different solutions and the number of"
    " duplicates increase.",
    why="A model with more attempts has more duplicates even if its solutions are as varied as the"
    " solutions of other models.",
    advice="If models have different numbers of attempts, compare them by distinct@k and by the"
    " effective number of solutions.",
    example="note[growing-duplicates]: tasks have different numbers of attempts, which affect the"
    " share of duplicates but not distinct@k",
)  # fmt: skip

# _RESULT_MEANINGS explains the results that are not metrics, for the output of --full.
_RESULT_MEANINGS = {
    "duplicates": "Share of the attempts that repeat the solution of an earlier attempt.",
    "distinct": "Number of different solutions per task, among all attempts.",
    "effective": "1 divided by the probability that two attempts have the same solution. If all"
    " solutions are equally frequent, the effective number is the number of different solutions.",
    "distinct correct": "Number of different passing solutions per task, among all attempts.",
    "effective correct": "Effective number of passing solutions, at tasks with at"
    " least two passes.",
    "duplicates correct": "Share of the passing attempts that repeat the solution of an earlier"
    " passing attempt.",
}

SOLUTION_COUNT_ANSWER_TEMPLATE = Answer(
    "different-solutions", lambda _: True,
    "{k:attempt} of {model} contain {different} different solutions; {correct} are correct.",
    lambda facts_and_groups: {
        "k": facts_and_groups[0].k,
        "model": name_with_groups(facts_and_groups[0].series, facts_and_groups[2]),
        "different": facts_and_groups[0].estimate, "correct": facts_and_groups[1].estimate,
    },
)  # fmt: skip


@dataclass(frozen=True)
class SolutionVarietyTable(SeriesMetricTable):
    """One row per model: different solutions, different correct solutions, and duplicates."""

    columns = (
        MODEL_COLUMN, GROUP_VALUES_COLUMN,
        replace(METRIC_VALUES_COLUMN,
            repeated_items=lambda section: [n for n in section.metric_columns
            if n.visibility == ALWAYS],
                example=MetricColumnItem("distinct@K, distinct-correct@K, duplicates",
                               "Number of different solutions, number of different passing"
                               " solutions and share of duplicates among K attempts, for the"
                               " largest K.", "score")),
        replace(METRIC_VALUES_COLUMN,
            repeated_items=lambda section: [n for n in section.metric_columns
            if n.visibility == FULL],
                visibility=FULL,
                example=MetricColumnItem("distinct, effective",
                               "Number of different solutions among all attempts, and 1 /"
                               " probability that two attempts have the same solution. The same"
                               " numbers are shown for passing solutions.", "score")),
    )  # fmt: skip
    how_solutions_were_compared: str = ""

    @cached_property
    def headline_metric_names(self) -> tuple[str, str, str]:
        kinds = [fact for fact in self.results() if fact.name.startswith(DISTINCT)]
        valued = [fact for fact in kinds if fact.estimate.value is not None]
        k = max(fact.k or 0 for fact in valued or kinds)
        return f"{DISTINCT}{k}", f"{CORRECT}{k}", "duplicates"

    @cached_property
    def metric_columns(self) -> list[MetricColumnItem]:
        return [
            MetricColumnItem(
                number.name, _RESULT_MEANINGS.get(number.name, number.meaning), number.unit,
                ALWAYS if number.name in self.headline_metric_names else FULL,
            )
            for number in super().metric_columns
            if number.name.startswith((DISTINCT, CORRECT)) or number.name in _RESULT_MEANINGS
        ]  # fmt: skip

    def answer(self) -> Iterator[AnswerSentence]:
        groups = self.study.counts.group_names
        different, correct = (
            [row.result_by_name[n] for row in self.records] for n in self.headline_metric_names[:2]
        )
        if len(different) > 1 or different[0].estimate.value is None:
            yield range_sentence(different, groups)
        else:
            yield SOLUTION_COUNT_ANSWER_TEMPLATE.sentence_about((different[0], correct[0], groups))

    def footer_parts(self) -> Iterator[str]:
        yield from self.study.sizes_and_intervals_text(
            row.result_by_name[name] for row in self.records for name in self.headline_metric_names
        )
        yield f"compared {self.how_solutions_were_compared}"

    def messages(self) -> Iterator[Diagnostic]:
        metrics = [row.result_by_name[m.name] for row in self.records for m in self.study.metrics]
        short = [fact for fact in metrics if fact.name.startswith((DISTINCT, CORRECT))]
        yield from self.study.messages(metrics, short=short)
        yield from lacking_tasks_message(self.study.counts)
        flagged = [
            fact.series
            for fact in self.results()
            if fact.estimate.reason == GAIN_WITH_LITTLE_VARIETY_FLAG
        ]
        if flagged:
            yield GAIN_WITH_LITTLE_VARIETY_WARNING(
                models=[SeriesName(model) for model in dict.fromkeys(flagged)]
            )
        solutions = self.study.counts.attempts["solution"]
        if solutions.unparsed:
            yield UNPARSED_SOLUTIONS_NOTE(attempts=solutions.unparsed)
        mixed = int(((solutions.pass_count > 0) & (solutions.pass_count < solutions.count)).sum())
        if mixed:
            yield MIXED_OUTCOMES_NOTE(solutions=mixed)
        if len(set(self.study.counts.n.tolist())) > 1:
            yield DUPLICATES_GROW_WITH_ATTEMPTS_NOTE()

    def plots(self) -> tuple[Plot, ...]:
        top, points = largest_k_of_any_model(self.study.counts), np.arange(1, _CURVE_POINTS + 1)
        if top > _CURVE_POINTS:
            points = np.unique(np.geomspace(1, top, _CURVE_POINTS).round().astype(int))
        ks = points[points <= top].tolist()
        metrics = [Metric(family, k) for family in (DISTINCT, CORRECT) for k in ks]
        facts = self.study.results(
            self.study.task_values(metrics, self.study.series_indices_by_pass_rate)
        )
        rows = [
            fact.chart_point("solutions", k=fact.k, kind=f"{fact.name.removesuffix(str(fact.k))}k")
            for fact in facts
        ]
        chart = curves(
            rows, x="k", y="solutions", low="low", high="high", colour="model", facet="kind",
            title="Different solutions among k attempts",
            subtitle=" · ".join(self.study.sizes_and_intervals_text(facts)), x_title="k (attempts)",
            y_title="solutions", y_domain=None,
            marked=[k for k in (1, 10, 100, 1000, top) if k in ks],
        )  # fmt: skip
        return (chart,)


class GainVarietyRow(NamedTuple):
    series: SeriesKey
    k: int
    model_results: SeriesRow

    def metric_estimate(self, family: str) -> Estimate:
        return self.model_results.result_by_name[f"{family}@{self.k}"].estimate


class GainVarietyTable(ReportSection[GainVarietyRow]):
    """One row per model and k, with the gain of k attempts and the variety at tasks with a gain."""

    title = "Gain of k attempts over one, and the variety that comes with it"
    visibility = FULL
    columns = (
        MODEL_COLUMN, GROUP_VALUES_COLUMN,
        Column("k", "count", meaning="Number of attempts.", cell_of_record=lambda gain: gain.k),
        Column("pass@k", "share", meaning="Probability that at least one of k attempts passes.",
               cell_of_record=lambda gain: gain.metric_estimate("pass").value),
        Column("gain", "share", meaning="pass@k − pass@1.",
            cell_of_record=lambda gain: gain.metric_estimate("gain")),
        Column("variety", "score", meaning="Mean of distinct@k over tasks, weighted by the gain of"
               " each task.",
               cell_of_record=lambda gain: gain.metric_estimate("variety").value),
        Column("least", "score",
               meaning="The smallest variety with which a gain is possible: one solution passes,"
               " and one solution fails.",
               cell_of_record=lambda gain: gain.metric_estimate("least variety").value),
        Column("distinct-pass@k", "share",
               meaning="Probability that one of k different solutions passes.",
               cell_of_record=lambda gain: gain.metric_estimate("distinct-pass").value),
        Column("flag", cell_of_record=lambda gain: gain.metric_estimate("variety").reason,
               meaning="little variety: the interval of the gain is above 0, and the variety is at"
               " most a tenth above the smallest possible variety."),
    )  # fmt: skip


_NORMALISATION_WORDS = {"none": "as text", "space": "with single spaces", "python": "as Python"}


class DiversityRunner(CommandRunner, DiversityOptions):
    sections = (SolutionVarietyTable, GainVarietyTable)

    missing_bounds_refusal: ClassVar[str] = (
        "the number of different solutions may be outside the range from all missing outcomes"
        " failing to all passing"
    )

    def request(self, options: SharedOptions) -> Request:
        return replace(
            options.request, cluster=options.confidence.cluster, attempts=("solution",),
            normalise=self.normalise, similarity=self.similarity,
        )  # fmt: skip

    def selected_metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        return MetricOptions(metrics=tuple(diversity_metrics(diversity_ks(counts, self.k)))).choose(
            counts
        )

    def report(self, study: Analysis) -> Report:
        study = replace(
            study, signature_entries={"normalise": self.normalise, "similarity": self.similarity}
        )
        similarity_words = "" if self.similarity is None else f", similarity {self.similarity:g}"
        rows = [solution_results(study, place) for place in study.series_indices_by_pass_rate]
        ks = [k for k in diversity_ks(study.counts, self.k) if k > 1]
        gains = [GainVarietyRow(row.series, k, row) for row in rows for k in ks]
        solutions = SolutionVarietyTable(
            study,
            rows,
            how_solutions_were_compared=_NORMALISATION_WORDS[self.normalise] + similarity_words,
        )
        return build_report(study, [solutions, GainVarietyTable(study, gains)])


def diversity_ks(counts: Counts, ks: Sequence[int] = ()) -> tuple[int, ...]:
    """The values of k that -k sets or, by default, each of 2, 10 and 100 that most models allow.

    A model allows a value of k if every task of the model has at least k attempts. If 100 is not
    allowed, passk adds the largest allowed value and half of this value.
    Errors: ParameterError if no model has two attempts at every task.
    """
    if ks:
        return tuple(ks)
    most = max(largest_k_of_most_models(counts), min(largest_k_of_any_model(counts), 2))
    if most < 2:
        raise ParameterError(
            "diversity needs two attempts at every task, but no model has two attempts at every"
            " task; make more attempts",
            name="too-few-attempts",
        )
    # The metric distinct@1 is always 1, so k = 1 is left out.
    usual = {k for k in (2, 10, 100) if k <= most}
    return tuple(sorted(usual if len(usual) == 3 else usual | {max(most // 2, 2), most}))
