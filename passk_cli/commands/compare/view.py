"""The report of `passk compare`: ranking, baseline table, pairs of models, and changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from passk_cli.arrays import group_pairs
from passk_cli.commands.compare import CompareOptions
from passk_cli.commands.compare.crossings import CrossingTable, find_crossings
from passk_cli.commands.compare.fragile_differences import fragile_differences
from passk_cli.commands.compare.headline import (
    LEADER_ANSWERS,
    METRIC_CHANGE_ANSWERS,
    REVERSAL_ANSWERS,
    TWO_MODEL_ANSWERS,
    LeaderSummary,
    SignificantOrderReversals,
    TwoModelDifference,
    baseline_answer_fields,
    count_differing,
    pairs_with_p_value,
)
from passk_cli.commands.compare.integrity import IntegrityTable, text_reader
from passk_cli.commands.compare.noise import DifferenceVarianceTable, pair_variances
from passk_cli.commands.compare.one_model_runs import OneModelRuns
from passk_cli.commands.compare.pairs import (
    ModelWithRanks,
    Pair,
    first_tested_metric,
    model_changes_between_metrics,
    model_pairs_for_flips,
    models_in_rank_order,
    pairs_at_first_metric,
    pairs_with_ranks,
)
from passk_cli.commands.compare.range_comparison import (
    MAX_ROWS_IN_SHORT_TABLE,
    CoverPairTable,
    cover_pairs,
)
from passk_cli.commands.compare.sensitivity import SensitivityTable, verdict_stabilities
from passk_cli.commands.runner import CommandRunner, ReadCountsFunction, SharedOptions
from passk_cli.commands.tasks.flips import FlipCountsByPairTable, FlippedTaskTable
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import ParameterError, raise_parameter_error_if_any
from passk_cli.files.request import Request
from passk_cli.inference.intervals import PAIRED_SCORE
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.inference.ranking import abbreviate_tie_letters
from passk_cli.limits import MOST_GROUPS
from passk_cli.metrics.registry import Metric, MetricChange, parse_change
from passk_cli.option import changed_option_names
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import (
    ALWAYS,
    BRIEF,
    FULL,
    WIDE,
    AnswerSentence,
    Cell,
    Column,
    Estimate,
    OptionHint,
    Report,
    Table,
)
from passk_cli.report.phrases import SeriesName, count_range, first_few, number_range, plural
from passk_cli.report.plot import Plot, ReferenceLine, forest, ranking
from passk_cli.study.adjustment_captions import INTERVALS_DISAGREE_WITH_VERDICTS, Adjustment
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer, first_true_sentence
from passk_cli.study.baseline import FilesOfRunAndBaseline, baseline_label, join_baseline
from passk_cli.study.benchmarks import benchmark_disagreement_warning
from passk_cli.study.comparison import Comparison
from passk_cli.study.data_notes import (
    LIMITED_USE_INTERVAL,
    NO_INTERVAL,
    SHORT_TASKS,
    lacking_tasks_message,
    largest_allowed_k_text,
    one_task_warning,
    reading_notes,
)
from passk_cli.study.duplicate_runs import require_no_copies
from passk_cli.study.flips import compute_flips_of_pairs, pass_rate_changes_per_task
from passk_cli.study.pairwise_tests import (
    BETTER,
    WORSE,
    OneModelError,
    choose_pairs,
    compare_pairs,
    require_several_models,
)
from passk_cli.study.rank_resampling import find_ranks_allowed_by_tests
from passk_cli.study.result import Result, ratio_estimate
from passk_cli.study.section import (
    AGAINST_MODEL_COLUMN,
    GROUP_VALUES_COLUMN,
    MODEL_COLUMN,
    MetricColumnItem,
    Record,
    ReportSection,
    build_report,
    data_field,
)
from passk_cli.study.significance_options import UNADJUSTED
from passk_cli.study.values import (
    SeriesKey,
    TaskValues,
    TooFewAttemptsReason,
    first_or_combined_reason,
)
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix

_EXAMPLE_METRIC_COLUMN = MetricColumnItem(
    "METRIC", "Estimate of a metric that you name with -k or -m.", "share"
)
# The table of changes shows at most _MAX_ROWS_OF_METRIC_CHANGES rows.
_MAX_ROWS_OF_METRIC_CHANGES = 28
# If there are more than _ALL_PAIRS_MODEL_LIMIT models, the chart of pairs shows only the pairs
# with the leading model of each group.
_ALL_PAIRS_MODEL_LIMIT = 8
# The chart of a ranking shows at most _MAX_MODELS_IN_RANKING_CHART models.
_MAX_MODELS_IN_RANKING_CHART = 60
_SIGNIFICANT_VERDICTS = (BETTER, WORSE)
# A larger value of a metric is not necessarily better, so the verdicts on changes are "higher" and
# "lower" instead of "better" and "worse".
_CHANGE_WORD_BY_VERDICT = {BETTER: "higher", WORSE: "lower"}

PAIRS_NOT_COMPARED_WARNING = DiagnosticType(
    "pairs-not-compared", WARNING, "{pairs:pair} cannot be compared at {metric}: {reason}",
    meaning="passk does not compare some pairs of models at the metric in the message. passk cannot"
    " compare two models if they share no task, or if one model has fewer than k attempts at some"
    " task.",
    why="The ranking and the number of tests include only the pairs that passk can compare.",
    advice="If models have too few attempts at some tasks, use `--short-tasks drop` to compare the"
    " models on the remaining tasks. If the models share no task, check with `passk describe`"
    " whether the files use the same task names.",
    example="passk compare sample_data/costs.csv sample_data/agents.jsonl -k 1\n"
    "warning[pairs-not-compared]: 24 pairs cannot be compared at pass@1: the models share no"
    " task",
)  # fmt: skip
BASELINE_NOT_IN_GROUPS_WARNING = DiagnosticType(
    "baseline-not-in-groups", WARNING, "passk compares no models in the groups {groups}, because"
                                       " they contain no attempts of {baseline}",
    meaning="With --by, passk compares models within each group. Some groups contain no attempts of"
    " the baseline.",
    why="The result contains no difference for a group without the baseline, even if the group"
    " contains all other models.",
    advice="Add attempts of the baseline to each group, or choose a baseline with attempts in all"
    " groups.",
    example="passk compare sample_data/cruxeval.jsonl.gz -k 1 --by temperature --baseline"
    " codellama-7b --where \"temperature < 0.5 OR model <> 'codellama-7b'\"\n"
    "warning[baseline-not-in-groups]: passk compares no models in the groups 0.8, because they"
    " contain no attempts of codellama-7b",
)  # fmt: skip
FEW_TASKS_DECIDE_WARNING = DiagnosticType(
    "few-tasks-decide", WARNING,
    "few tasks decide the verdict about {pair} at {metric}: without {tasks}, the difference is"
    " {rest:=share} and not significant{?more|; likewise {more:more difference}}",
    meaning="If you left out about 1 % of the tasks, a significant difference would shrink to less"
    " than half of its size and would no longer be significant.",
    why="If the deciding tasks are mislabelled or unusual, the difference is weak evidence that one"
    " model is better.",
    advice="Look at the attempts at the deciding tasks before you report the difference."
    " `--exclude-task TASKS` shows the result without the tasks that you name.",
    example="warning[few-tasks-decide]: few tasks decide the verdict about alpha against beta at"
    " pass@1: without t7, the difference is 0.012 and not significant",
)  # fmt: skip
UNADJUSTED_GROUPS_NOTE = DiagnosticType(
    "unadjusted-groups", NOTE,
    "{groups:group} are compared without adjustment, so expect false positives",
    meaning="passk compares the models of each group separately, without an adjustment of p-values"
    " for the number of groups.",
    why="With every additional group, it becomes more likely that two models differ significantly"
    " by chance. With 20 groups and a significance level of 5 %, you can expect one false"
    " positive.",
    advice="Use `--adjust min-p`, which limits false positives across all groups.",
    example="passk compare sample_data/cruxeval.jsonl.gz -k 1 --by temperature --adjust none\n"
    "note[unadjusted-groups]: 2 groups are compared without adjustment, so expect false positives",
)  # fmt: skip
POWERLESS_TESTS_NOTE = DiagnosticType(
    "powerless-tests", NOTE,
    "none of {tests:test} at {metric} can be significant, because there are too few tasks",
    meaning="With this number of tasks, even the smallest possible p-value is above the"
    " significance level.",
    why="Every pair of models is reported as a tie, even if the two models differ a lot. With too"
    " few tasks, a tie is not evidence that the models are equally good.",
    advice="Use more tasks. `passk plan` computes how many tasks you need to detect a difference.",
    example="passk compare sample_data/agents.jsonl -k 1 --only-task 01-interval-merge\n"
    "note[powerless-tests]: none of 28 tests at pass@1 can be significant, because there are too"
    " few tasks",
)  # fmt: skip


def _significance_level_text(section: ReportSection[Pair] | RankingTable | BaselineTable) -> str:
    return f"{100 * (1 - section.study.confidence.level):g} %"


def _estimate_from_cell(cell: Cell, metric: Metric, letters: str = "") -> Estimate:
    if isinstance(cell, Estimate):
        return replace(cell, tie_letters=letters)
    value = cell if isinstance(cell, float) else None
    return Estimate(value, unit=metric.unit, tie_letters=letters)


def _reason_untested(pairs: Sequence[Pair]) -> str:
    lacking = [pair.comparison for pair in pairs if pair.comparison.reason]
    limits = pairs[0].comparison.interval
    reason = (limits and limits.reason) or "a test without p"
    return next((reason for reason, *_ in _reasons_with_pair_counts(lacking)), reason)


NO_TEST_ANSWER = Answer("no-test", lambda pairs: not pairs_with_p_value(pairs),
                 "No test is possible: {reason}.",
                 lambda pairs: {"reason": _reason_untested(pairs)})  # fmt: skip


_LETTERED_METRIC_ESTIMATE_COLUMN = Column(
    "{0.name}", meaning="{0.meaning} Models that share a letter do not differ significantly.",
    cell_of_record=lambda standing, metric: _estimate_from_cell(
        rank.values.estimate, metric, abbreviate_tie_letters(rank.tie_letters or "")
    ) if (rank := standing.ranks.get(metric)) else Estimate(None),
    kind_of_item=lambda _, metric: metric.unit, example=_EXAMPLE_METRIC_COLUMN)  # fmt: skip


_UNLETTERED_METRIC_ESTIMATE_COLUMN = replace(
    _LETTERED_METRIC_ESTIMATE_COLUMN, meaning="{0.meaning}",
    cell_of_record=lambda standing, metric: _estimate_from_cell(
        getattr(standing.ranks.get(metric), "values", None)
        and standing.ranks[metric].values.estimate, metric))  # fmt: skip
_FURTHER_METRICS_BY_VISIBILITY: tuple[
    tuple[str, Callable[[OneRowPerModelTable[Any]], list[Metric]]], ...
] = (
    (ALWAYS, lambda section: section.brief_metrics),
    (FULL, lambda section: section.full_only_metrics),
)


def shown_in_brief(study: Analysis, metric: Metric | MetricChange) -> bool:
    """Whether the tables show a metric without --full."""
    return isinstance(metric, MetricChange) or study.is_k_in_short_table(
        metric.k, [m.k for m in study.metrics]
    )


def draws_ranking(study: Analysis) -> bool:
    """Whether passk draws a chart of the ranking.

    With --by, passk does not draw this chart, because each group would have its own ranking.
    """
    models = {series[0] for series in study.counts.series}
    return not study.counts.group_names and 2 < len(models) <= _MAX_MODELS_IN_RANKING_CHART


@dataclass(frozen=True)
class OneRowPerModelTable(ReportSection[Record]):
    """Base class of tables with one row per model.

    A row contains details of the first metric and one number per further metric.
    """

    pairs: Sequence[Pair]

    @property
    def first_metric(self) -> Metric:
        return first_tested_metric(self.pairs)

    @property
    def other_metrics(self) -> list[Metric]:
        return [metric for metric in self.study.metrics if metric != self.first_metric]

    @property
    def brief_metrics(self) -> list[Metric]:
        return [m for m in self.other_metrics if shown_in_brief(self.study, m)]

    @property
    def full_only_metrics(self) -> list[Metric]:
        return [m for m in self.other_metrics if not shown_in_brief(self.study, m)]


@dataclass(frozen=True, eq=False, repr=False)
class IntervalsOfModels:
    """The intervals of all models at one metric, computed when a chart first needs them."""

    study: Analysis
    values: Sequence[TaskValues]
    name: str

    def estimate_of(self, series: SeriesKey) -> Estimate:
        return self._estimates.get(series, Estimate(None))

    @cached_property
    def results(self) -> list[Result]:
        """The results of all models that have a value."""
        metrics = [values.metric for values in self.values[:1]]
        confidence = self.study.confidence.without_difference_method().with_methods_for_metrics(
            metrics
        )
        return self.study.results(self.values, confidence)

    @cached_property
    def _estimates(self) -> dict[SeriesKey, Estimate]:
        return {fact.series: fact.estimate for fact in self.results}


@dataclass(frozen=True)
class RankingTable(OneRowPerModelTable[ModelWithRanks]):
    """The models in order of their ranks at the first metric. Models that tie share a letter."""

    columns = (
        Column("rank", meaning="Possible ranks at the first metric: a number, or a range.",
               cell_of_record=lambda standing: standing.rank_at_first_metric.rank_range_text),
        MODEL_COLUMN, GROUP_VALUES_COLUMN,
        replace(_LETTERED_METRIC_ESTIMATE_COLUMN,
            repeated_items=lambda section: [section.first_metric]),
        Column("interval of {0.name}", visibility=WIDE,
            repeated_items=lambda section: [section.intervals],
               meaning="Interval of the model's {0.name} as a bar on a common scale; only in"
               " terminals with at least 110 columns.",
               cell_of_record=lambda standing, intervals: intervals.estimate_of(standing.series),
               example=_EXAMPLE_METRIC_COLUMN),
        Column(
            "ahead of next", "share",
            meaning="Difference to the model in the next row, on the tasks that both models have,"
            " with its interval; ~ not significant, = equivalent.",
            cell_of_record=lambda standing: standing.pair_with_next.difference
            if standing.pair_with_next else ""),
        Column("tasks", meaning="Number of tasks with attempts of the model.",
               cell_of_record=lambda standing: str(len(standing.rank_at_first_metric.values.tasks)),
               exists_in_section=lambda section: section.has_different_tasks),
        *(replace(_UNLETTERED_METRIC_ESTIMATE_COLUMN, visibility=shown, repeated_items=across)
            for shown,
            across in _FURTHER_METRICS_BY_VISIBILITY),
        Column("rank at {0.name}", visibility=FULL, meaning="Possible ranks at {0.name}.",
               cell_of_record=lambda standing, metric: getattr(standing.ranks.get(metric),
                   "rank_range_text", None),
               repeated_items=lambda section: section.other_metrics,
               example=_EXAMPLE_METRIC_COLUMN),
        Column("ties at {0.name}", visibility=FULL,
            repeated_items=lambda section: section.other_metrics,
               meaning="Models that share a letter do not differ significantly at {0.name}.",
               cell_of_record=lambda standing, metric: abbreviate_tie_letters(
                   getattr(standing.ranks.get(metric), "tie_letters", None) or ""),
                   example=_EXAMPLE_METRIC_COLUMN),
        Column("first in resamples ({0.name})", "share", visibility=FULL,
               meaning="Share of the resamples of the tasks in which the model comes first at"
               " {0.name}. Ties are split. This share is neither a test nor the probability of"
               " being best.",
               cell_of_record=lambda standing, metric: standing.ranks[metric].lead_share
               if metric in standing.ranks else None,
               repeated_items=lambda section: [section.first_metric, *section.other_metrics],
               example=_EXAMPLE_METRIC_COLUMN),
    )  # fmt: skip

    single_pair: bool = False

    @cached_property
    def intervals(self) -> IntervalsOfModels:
        values = [rank.ranks[self.first_metric].values for rank in self.records
                  if self.first_metric in rank.ranks]  # fmt: skip
        return IntervalsOfModels(self.study, values, self.first_metric.name)

    @property
    def has_different_tasks(self) -> bool:
        return (
            len({standing.rank_at_first_metric.values.tasks.tobytes() for standing in self.records})
            > 1
        )

    def tables(self) -> Iterator[Table]:
        possible_firsts = [
            (rank.rank_at_first_metric.rank_range_text or "").partition("–")[0] == "1"
            for rank in self.records
        ]
        leaders = sum(possible_firsts)
        tied = leaders > 1 and all(possible_firsts[:leaders])
        for table in super().tables():
            shown = FULL if self.single_pair else ALWAYS
            yield replace(table, visibility=shown, tied_leader_count=leaders if tied else 0)

    def plots(self) -> tuple[Plot, ...]:
        if not draws_ranking(self.study):
            return ()
        estimates = [self.intervals.estimate_of(standing.series) for standing in self.records]
        if not estimates or any(estimate.range_upper_end is not None for estimate in estimates):
            return ()
        (table,) = self.tables()
        rows = [
            {
                "model": SeriesName(standing.series), self.first_metric.name: estimate.value,
                "low": estimate.low, "high": estimate.high,
                "places": standing.rank_at_first_metric.rank_range_text,
                "letters": abbreviate_tie_letters(standing.rank_at_first_metric.tie_letters or ""),
                "tied": at < max(table.tied_leader_count,
                    standing.rank_at_first_metric.rank_range_text == "1"),
            }
            for at, (standing, estimate) in enumerate(zip(self.records, estimates, strict=True))
        ]  # fmt: skip
        level = self.study.confidence.interval_level
        shaded = "shaded: tied for first" if table.tied_leader_count else ""
        parts = (self.study.sizes_text(self.intervals.results),
                 f"bars: {100 * level:g} % intervals of each model" if level else "",
                 f"same letter: tied at {_significance_level_text(self)}", shaded)  # fmt: skip
        chart = ranking(rows, label="model", value=self.first_metric.name, low="low", high="high",
                        place="places", letters="letters", tied="tied",
                        x_title=self.first_metric.name,
                        subtitle=" · ".join(filter(None, parts)))  # fmt: skip
        unit = self.first_metric.unit
        return (
            replace(chart, unit="share" if unit == "share" else "", x_unit="$" * (unit == "$")),
        )

    def footer_parts(self) -> Iterator[str]:
        if not self.single_pair:
            yield f"~ or same letter: tied at {_significance_level_text(self)}"

    def answer(self) -> Iterator[AnswerSentence]:
        groups = self.study.counts.group_names
        places = LeaderSummary(self.records, self.pairs, self.first_metric, groups)
        if places.tested and not self.single_pair:
            yield from first_true_sentence(LEADER_ANSWERS, places)


@dataclass(frozen=True)
class BaselineRow:
    """A model compared with the baseline, or the baseline itself."""

    series: SeriesKey
    pairs: Mapping[Metric, Pair]
    baseline_values: Mapping[Metric, TaskValues]

    def difference(self, metric: Metric) -> Estimate:
        if metric in self.pairs:
            return self.pairs[metric].difference
        values = self.baseline_values.get(metric)
        return _estimate_from_cell(
            values.estimate if values and values.has_values else None, metric
        )

    def cell_computed_from_pair(self, metric: Metric, value: Callable[[Pair], Cell]) -> Cell:
        """The result of `value` for the pair of this model and the baseline at a metric.

        The result is "" for the baseline itself.
        """
        return value(self.pairs[metric]) if metric in self.pairs else ""


_METRIC_BASELINE_DIFFERENCE_COLUMN = Column(
    "{0.name}", meaning="Difference to the baseline at {0.name}. The row of the baseline shows its"
    " estimate. ~ not significant, = equivalent.",
    cell_of_record=lambda line, metric: line.difference(metric),
    kind_of_item=lambda _, metric: metric.unit, example=_EXAMPLE_METRIC_COLUMN)  # fmt: skip


@dataclass(frozen=True)
class BaselineTable(OneRowPerModelTable[BaselineRow]):
    """A row per model with the difference from the baseline, on the tasks that both models have."""

    shown_when = "with --baseline"
    columns = (
        MODEL_COLUMN, GROUP_VALUES_COLUMN,
        replace(_METRIC_BASELINE_DIFFERENCE_COLUMN,
            repeated_items=lambda section: [section.first_metric]),
        Column("p", "p", stays_with_previous=True,
            meaning="p-value, adjusted for the number of tests.",
               cell_of_record=lambda line, metric: line.cell_computed_from_pair(metric,
                   lambda pair: pair.result.p_adjusted),
               repeated_items=lambda section: [section.first_metric],
               example=_EXAMPLE_METRIC_COLUMN),
        Column("verdict", stays_with_previous=True,
            meaning="better, worse, equivalent (with --margin) or tied.",
               cell_of_record=lambda line, metric: line.cell_computed_from_pair(metric,
                   _verdict) if line.pairs else "baseline",
               repeated_items=lambda section: [section.first_metric],
               example=_EXAMPLE_METRIC_COLUMN),
        *(replace(_METRIC_BASELINE_DIFFERENCE_COLUMN, visibility=shown, repeated_items=across,
                  cell_of_record=lambda line, metric: line.difference(metric).without_interval)
          for shown, across in _FURTHER_METRICS_BY_VISIBILITY),
        Column("tasks", meaning="Number of tasks that both models have. The row of the baseline"
               " shows the number of its tasks.",
               cell_of_record=lambda line: _task_count_range_text(
                   [len(pair.comparison.tasks) for pair in line.pairs.values()]
                   or [len(values.tasks) for values in line.baseline_values.values()]),
               exists_in_section=lambda section: any(pair.comparison.only_in_second_count
                   for pair in section.pairs)),
    )  # fmt: skip

    baseline: str

    def tables(self) -> Iterator[Table]:
        yield self.table(self.records, f"Difference to {self.baseline}")

    def footer_parts(self) -> Iterator[str]:
        yield f"~ tied at {_significance_level_text(self)}"

    answers = (
        Answer("against-baseline", lambda section: bool(pairs_with_p_value(pairs_at_first_metric(
        section.pairs))),
               "Against {baseline} at {metric}: {verdicts}"
               "{?best|; {direction:highest|lowest}: {best} {difference}}.",
               lambda section: baseline_answer_fields(section.baseline, pairs_with_p_value(
               pairs_at_first_metric(section.pairs)),
                                       section.study.counts.group_names)),
    )  # fmt: skip


def baseline_rows(pairs: Sequence[Pair], baseline: str) -> list[BaselineRow]:
    rows: list[BaselineRow] = []
    for group in dict.fromkeys(pair.series[1:] for pair in pairs):
        group_pairs = [pair for pair in pairs if pair.series[1:] == group]
        values = {pair.metric: pair.comparison.second for pair in group_pairs}
        rows.append(BaselineRow((baseline, *group), {}, values))
        for series in dict.fromkeys(pair.series for pair in group_pairs):
            rows.append(
                BaselineRow(series, {p.metric: p for p in group_pairs if p.series == series}, {})
            )
    return rows


def _verdict(pair: Pair) -> str:
    return pair.result.verdict


def _task_count_range_text(sizes: Sequence[int]) -> str:
    return number_range(min(sizes), max(sizes))


_DIFFERENCE_COLUMN = Column(
    "difference", "share", meaning="Estimate of the model minus estimate of the other model, on the"
    " tasks that both models have, with its interval; ~ not significant, = equivalent.",
    cell_of_record=lambda pair: pair.difference,
)  # fmt: skip
_RATIO_COLUMN = Column(
    "ratio", "ratio", meaning="Value of the model divided by the value of the other model, with its"
    " interval, for a ratio of means such as cost-per-success.",
    cell_of_record=lambda pair: ratio_estimate(pair.comparison.ratio, "ratio")
    if pair.comparison.ratio else "",
    exists_in_section=lambda section: any(pair.comparison.ratio
        for pair in section.records))  # fmt: skip
_P_COLUMN = Column("p", "p", stays_with_previous=True,
    meaning="p-value, adjusted for the number of tests.",
            cell_of_record=lambda pair: pair.result.p_adjusted)  # fmt: skip
_EQUIVALENCE_P_COLUMN = Column(
    "p equivalence", "p", stays_with_previous=True, cell_of_record=lambda pair: pair.equivalence_p,
    meaning="p-value of two one-sided tests that the difference is within the margin.",
    exists_in_section=lambda section: bool(section.study.comparison_options.margin))  # fmt: skip
_SHARED_TASKS_COLUMN = Column(
    "tasks", meaning="Tasks that both models have.",
    cell_of_record=lambda pair: str(len(pair.comparison.tasks)),
    exists_in_section=lambda section: len({len(pair.comparison.tasks)
        for pair in section.records}) > 1,
)  # fmt: skip


def _model_estimate_column(place: int) -> Column:
    return Column(
        "{}", "share",
        meaning=f"Estimate of the {('model', 'other model')[place]} on the tasks that both models"
        " have.",
        cell_of_record=lambda pair, _: _estimate_from_cell(pair.comparison.estimates[place],
            pair.metric),
        repeated_items=lambda section: [section.model_estimate_headers[place]],
        example=("estimate", "of other")[place],
    )  # fmt: skip


_PAIR_DATA_FIELDS = (
    data_field("estimate_model", "Estimate of the model on the tasks that both models have.",
               lambda pair: pair.comparison.estimates[0]),
    data_field("estimate_against", "Estimate of the other model on the tasks that both models"
               " have.",
               lambda pair: pair.comparison.estimates[1]),
    data_field("p_equivalence", _EQUIVALENCE_P_COLUMN.meaning, lambda pair: pair.equivalence_p),
    data_field("family", "Family of tests that are adjusted together: primary, secondary or all.",
               lambda pair: pair.comparison.family if pair.comparison.test else None),
    data_field("only_model", "Number of tasks left out because the other model lacks them.",
               lambda pair: pair.comparison.only_in_first_count),
    data_field("only_against", "Number of tasks left out because the model lacks them.",
               lambda pair: pair.comparison.only_in_second_count),
    data_field("letters", "Models that share a letter do not differ significantly.",
               lambda pair: getattr(pair.ranks[0], "tie_letters", None)),
    data_field("letters_against", "Letters of the other model.",
               lambda pair: getattr(pair.ranks[1], "tie_letters", None)),
    data_field("leads", "Share of the resamples of the tasks in which the model comes first. Ties"
               " are split. Empty if the models share no task, or if they have different numbers of"
               " attempts, which would favour one of the models.",
               lambda pair: getattr(pair.ranks[0], "lead_share", None)),
    data_field("leads_against", "Share of the resamples of the tasks in which the other model comes"
                                " first.",
               lambda pair: getattr(pair.ranks[1], "lead_share", None)),
    data_field("rank_low", "Best rank of the model that the tests do not exclude.",
               lambda pair: getattr(pair.ranks[0], "low", None)),
    data_field("rank_high", "Worst rank of the model that the tests do not exclude.",
               lambda pair: getattr(pair.ranks[0], "high", None)),
    data_field("crosses_at", "First k at which the other model overtakes the model (--crossings).",
               lambda pair: pair.finite_crossing_k_or_limit("k")),
    data_field("crosses_low", "Lower limit of the k"
                              " in crosses_at.",
                              lambda pair: pair.finite_crossing_k_or_limit("low")),
    data_field("crosses_high", "Upper limit of the k"
                               " in crosses_at.",
                               lambda pair: pair.finite_crossing_k_or_limit("high")),
)  # fmt: skip


class PairSection(ReportSection[Pair]):
    """A section about pairs of models, with messages about pairs without a test or interval."""

    @property
    def model_estimate_headers(self) -> tuple[str, str]:
        return "estimate", "of other"

    def results_of(self, record: Pair) -> Iterator[Result]:
        fact = record.result
        if isinstance(record.metric, MetricChange):
            verdict = _CHANGE_WORD_BY_VERDICT.get(fact.verdict, fact.verdict)
            fact = replace(fact, k=None, verdict=verdict)
        yield fact
        if ratio := record.comparison.ratio:
            estimate = ratio_estimate(ratio, "ratio")
            yield replace(fact, name=f"{fact.name}-ratio", k=None, estimate=estimate)

    def messages(self) -> Iterator[Diagnostic]:
        compared = [pair.comparison for pair in self.records]
        lacking = group_pairs((c.first.metric.name, c) for c in compared if c.reason)
        causes = group_pairs(
            (cause, name)
            for name, comparisons in lacking.items()
            for cause in _reasons_with_pair_counts(comparisons)
        )
        for (reason, count, short), names in causes.items():
            k = largest_allowed_k_text(names, short)
            diagnostic = PAIRS_NOT_COMPARED_WARNING(
                pairs=count, metric=", ".join(names), reason=reason
            )
            drop = SHORT_TASKS(numbers="", reason="", k=k).fixes if short else ()
            yield replace(diagnostic, fixes=drop)
        usual = self.study.confidence.method, PAIRED_SCORE
        flawed = [
            (c.first.metric.name, c.interval) for c in compared if c.interval and (
                c.interval.low is None or (c.interval.method not in usual and c.interval.reason))
        ]  # fmt: skip
        reasons = group_pairs(
            ((limits.reason, limits.low is None), name) for name, limits in flawed
        )
        for (reason, empty), names in reasons.items():
            message = NO_INTERVAL if empty else LIMITED_USE_INTERVAL
            yield message(numbers=", ".join(dict.fromkeys(names)), reason=reason)


@dataclass(frozen=True)
class PairTable(PairSection):
    """A row per pair of models and metric, with the difference and the test of the difference."""

    title = "Pairs"
    columns = (
        replace(MODEL_COLUMN, exists_in_section=lambda section: not section.single_pair),
        replace(AGAINST_MODEL_COLUMN, exists_in_section=lambda section: not section.single_pair),
        GROUP_VALUES_COLUMN,
        Column("metric", meaning="Name of the"
               " metric, as in `-m`.", cell_of_record=lambda pair: pair.metric.name),
        _model_estimate_column(0), _model_estimate_column(1), _DIFFERENCE_COLUMN, _RATIO_COLUMN,
        _P_COLUMN,
        _EQUIVALENCE_P_COLUMN,
        Column("verdict", stays_with_previous=True,
            meaning="better, worse, equivalent (with --margin) or tied.",
               cell_of_record=_verdict, exists_in_section=lambda section: not section.single_pair),
        _SHARED_TASKS_COLUMN, *_PAIR_DATA_FIELDS,
        data_field("test", "Name of the test."),
        data_field("adjustment", "Adjustment of the p-value for the number of tests."),
    )  # fmt: skip

    adjustment: Adjustment
    baseline: str = ""
    single_pair: bool = False
    draws_differences: bool = True

    @property
    def model_estimate_headers(self) -> tuple[str, str]:
        first = self.records[0]
        return (
            (first.series[0], first.against) if self.single_pair else super().model_estimate_headers
        )

    def tables(self) -> Iterator[Table]:
        records = self.records if self.single_pair else ()
        brief = [p for p in records if shown_in_brief(self.study, p.metric)]
        if brief and len(brief) < len(self.records):
            yield replace(self.table(brief, ""), visibility=BRIEF)
        visibility = ALWAYS if len(brief) == len(self.records) else FULL
        yield replace(
            self.table(self.records, "" if self.single_pair else self.title), visibility=visibility
        )

    def answer(self) -> Iterator[AnswerSentence]:
        first = pairs_at_first_metric(self.records)
        if not pairs_with_p_value(first):
            yield NO_TEST_ANSWER.sentence_about(first)
            return
        if self.single_pair:
            yield from first_true_sentence(TWO_MODEL_ANSWERS, TwoModelDifference(first[0]))
        yield from first_true_sentence(REVERSAL_ANSWERS, SignificantOrderReversals(self.records))

    def footer_parts(self) -> Iterator[str | OptionHint]:
        confidence, margin = self.study.confidence, self.study.comparison_options.margin
        if self.single_pair:
            yield f"~ tied at {_significance_level_text(self)}"
        if margin:
            yield f"= within ±{margin:g}"
        sizes = [len(pair.comparison.tasks) for pair in self.records]
        yield count_range(sizes, "shared task")
        yield self.adjustment.short_text
        if confidence.population == THESE_TASKS:
            yield "for these tasks"
        elif confidence.cluster:
            yield f"clustered by {confidence.cluster}"
        if not self.single_pair:
            yield OptionHint("pairs")

    def full_footer_parts(self) -> list[str]:
        level = _significance_level_text(self)
        tied = f"tied: not significant at the {level} level, {self.adjustment.words}"
        return [tied, self.adjustment.test_words, self.study.confidence.words()]

    def messages(self) -> Iterator[Diagnostic]:
        study, compared = self.study, [pair.comparison for pair in self.records]
        series = study.counts.series
        lacking = {key[1:] for key in series} - {
            key[1:] for key in series if key[0] == self.baseline
        }
        if self.baseline and lacking:
            groups = [SeriesName(group) for group in sorted(lacking)]
            yield BASELINE_NOT_IN_GROUPS_WARNING(baseline=self.baseline, groups=groups)
        yield from one_task_warning(study.counts, study.confidence)
        yield from lacking_tasks_message(study.counts)
        yield from super().messages()
        first = [pair.comparison for pair in pairs_at_first_metric(self.records)]
        yield from benchmark_disagreement_warning(study.counts, first)
        if few := list(fragile_differences(compared, study.confidence)):
            c = few[0].comparison
            yield FEW_TASKS_DECIDE_WARNING(
                pair=f"{c.first.name} against {c.second.name}", metric=c.first.metric.name,
                tasks=[study.counts.tasks[t] for t in few[0].deciding_tasks],
                rest=few[0].remaining_difference, more=len(few) - 1,
            )  # fmt: skip
        tested = pairs_with_p_value(pairs_at_first_metric(self.records))
        least = min((pair.comparison.smallest_p for pair in tested), default=0.0)
        if least > 1 - study.confidence.level + 1e-12:
            yield POWERLESS_TESTS_NOTE(tests=len(tested), metric=tested[0].metric.name)
        if study.counts.group_names and study.comparison_options.adjust == UNADJUSTED:
            yield UNADJUSTED_GROUPS_NOTE(groups=len({c.first.series[1:] for c in compared}))
        if fields := self.adjustment.interval_disagreement_fields:
            yield INTERVALS_DISAGREE_WITH_VERDICTS(**fields)

    def plots(self) -> tuple[Plot, ...]:
        brief = [pair for pair in self.records if shown_in_brief(self.study, pair.metric)]
        differing = sorted(brief, key=lambda pair: pair.winner is None)
        names = all_pairs = list(dict.fromkeys(pair.models for pair in differing))
        part = ""
        if (
            not self.baseline
            and len({model for pair in names for model, *_ in pair}) > _ALL_PAIRS_MODEL_LIMIT
        ):
            leaders: dict[tuple[str, ...], SeriesKey] = {}
            for pair in self.records:
                leaders.setdefault(pair.series[1:], pair.series)
            names = [pair for pair in all_pairs if leaders[pair[0][1:]] in pair]
            of = first_few([SeriesName(series) for series in leaders.values()])
            part = f"the {plural(len(names), 'pair')} of {of}, of {len(all_pairs):,}"
        chart_pairs = [pair for pair in brief if pair.models in names]
        # If a difference is a range, the chart draws a point at each end of the range.
        points = [
            (pair.result, value)
            for pair in chart_pairs
            for value in dict.fromkeys(pair.result.estimate.range_ends)
        ]
        if not self.draws_differences or all(value is None for _, value in points):
            return ()
        rows = []
        for fact, value in points:
            (model, *groups), unit = fact.series, fact.estimate.unit
            is_plain_unit = unit in ("share", "score", fact.name)
            label = model if self.baseline else f"{model} − {fact.against}"
            rows.append(
                {
                    "pair": SeriesName((label, *groups), " · "), "model": SeriesName(fact.series),
                    "head": SeriesName(fact.series), "tail": fact.against,
                    "metric": fact.name if is_plain_unit else f"{fact.name} ({unit})",
                    "unit": unit, "difference": value,
                    "low": fact.estimate.low, "high": fact.estimate.high,
                    "filled": fact.verdict in _SIGNIFICANT_VERDICTS,
                }
            )  # fmt: skip
        margin, level = self.study.comparison_options.margin, self.study.confidence.interval_level
        heads = {} if self.baseline else {"head": "head", "tail": "tail"}
        chart = forest(
            rows, label="pair", value="difference", low="low", high="high", facet="metric",
            filled="filled", colour="model", unit="unit", **heads,
            rules=[ReferenceLine(x=0.0, dashed=False), *(ReferenceLine(x=x) for x in (-margin,
            margin) if x)],
            title=f"Difference to {self.baseline}" if self.baseline
            else "Differences between models",
            subtitle=" · ".join(
                filter(None, [
                    f"○ tied at {_significance_level_text(self)}",
                    f"dashed: ±{margin:g}" if margin else "",
                    self.adjustment.short_text,
                    f"{100 * level:g} % intervals" if level else "",
                    part if len(names) < len(all_pairs) else "",
                ])
            ),
            x_title="difference",
        )  # fmt: skip
        return (replace(chart, only_with_full=not self.baseline and draws_ranking(self.study)),)


@dataclass(frozen=True)
class ChangeComparisonTable(PairSection):
    """A row per pair of models, with the change of each model between two metrics, and the
    difference between the two changes."""

    shown_when = "with --change"
    columns = (
        MODEL_COLUMN, AGAINST_MODEL_COLUMN, GROUP_VALUES_COLUMN, _model_estimate_column(0),
        _model_estimate_column(1),
        _DIFFERENCE_COLUMN, _P_COLUMN, _EQUIVALENCE_P_COLUMN,
        _SHARED_TASKS_COLUMN,
        *_PAIR_DATA_FIELDS,
    )  # fmt: skip

    metric_change: MetricChange

    @property
    def model_estimate_headers(self) -> tuple[str, str]:
        return "change", "change of other"

    def tables(self) -> Iterator[Table]:
        change = self.metric_change
        title = f"Change from {change.start_metric.name} to {change.end_metric.name}"
        yield replace(
            self.table(self.records, title), rows_without_full=_MAX_ROWS_OF_METRIC_CHANGES
        )

    answers = METRIC_CHANGE_ANSWERS

    @property
    def tested_pairs(self) -> list[Pair]:
        return pairs_with_p_value(self.records)

    @property
    def verdict(self) -> str:
        return self.tested_pairs[0].result.verdict if len(self.tested_pairs) == 1 else ""

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        tested = self.tested_pairs
        first = tested[0]
        return {
            **TwoModelDifference(first).sentence_fields,
            "start": self.metric_change.start_metric.name,
            "end": self.metric_change.end_metric.name,
            "differ": count_differing(tested), "pairs": len(tested),
            "equivalent": sum(pair.comparison.equivalent for pair in tested),
        }  # fmt: skip


def _no_shared_tasks_error(counts: Counts, pair: Comparison) -> ParameterError:
    tasks = (
        f"{rates.name} has {first_few([counts.tasks[t] for t in rates.tasks])}"
        for rates in (pair.first, pair.second)
    )
    return ParameterError(
        f"there is nothing to compare, because no two models share a task; {'; '.join(tasks)}",
        name="nothing-to-compare",
    )


def _reasons_with_pair_counts(
    lacking: Sequence[Comparison],
) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    short, models, other_reasons = list[str](), dict[SeriesKey, str](), list[str]()
    for c in lacking:
        valueless = [r for r in (c.first, c.second) if not r.has_values]
        few = [r for r in valueless if isinstance(r.reason, TooFewAttemptsReason)]
        (short if few else other_reasons).append(c.reason)
        models |= {rates.series: rates.reason for rates in few}
    all_reasons = tuple(models.values())
    if short:
        yield (
            short[0] if len(models) == 1 else first_or_combined_reason(all_reasons),
            len(short),
            all_reasons,
        )
    for reason, count in Counter(other_reasons).items():
        yield reason, count, ()


def _results_with_reasons(compared: Sequence[Comparison]) -> Iterator[Result]:
    values = {
        (r.series, r.metric): r for c in compared for r in (c.first, c.second) if r.has_values
    }
    for rates in values.values():
        if rates.reason:
            estimate = Estimate(rates.mean, reason=rates.reason)
            yield Result(rates.series, rates.metric.name, rates.metric.k, estimate)


def checked_change_text(value: Any) -> str:
    """Check that the text is a change such as "pass@1:pass@100", and return the text."""
    try:
        parse_change(value)
    except ParameterError as error:
        raise ParameterError(OptionWithValue("--change", value), str(error)) from None
    return str(value)


class CompareRunner(CommandRunner, CompareOptions):
    """Reads the data of `passk compare` and computes its report."""

    pair_table_class: ClassVar[type[PairTable]] = PairTable
    max_groups = MOST_GROUPS
    checks_independence = True
    supports_range_only_metrics = True

    sections = (
        RankingTable, BaselineTable, PairTable, ChangeComparisonTable, CrossingTable,
        FlipCountsByPairTable,
        FlippedTaskTable,
        SensitivityTable, CoverPairTable, DifferenceVarianceTable, IntegrityTable,
    )  # fmt: skip

    missing_bounds_refusal_by_option: ClassVar[Mapping[OptionWithValue, str]] = {
        OptionWithValue(
            "--change"
        ): "a change may be largest if some missing outcomes pass and others fail",
        OptionWithValue("--crossings"): "curves are ranges, which do not cross at a single k",
        OptionWithValue("--flips"): "each missing outcome may make a task flip",
    }

    label_refusal = ""
    label_refusal_by_option: ClassVar[Mapping[str, str]] = {
        option: f"{subject} uses the verdicts of attempts, which labels do not change"
        for option, subject in (
            ("--crossings", "the k of a crossing"), ("--flips", "a flip"),
            ("--sensitivity", "half of the attempts"),
        )
    }  # fmt: skip

    def request(self, options: SharedOptions) -> Request:
        request = super().request(self._options_with_change_metrics(options))
        groups = (self.sensitivity,) if self.sensitivity else ()
        return replace(request, by=tuple(dict.fromkeys((*request.by, *groups))))

    def selected_metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        all_counts = self._without_sensitivity_groups(counts)
        if self._change is None:
            return super().selected_metrics(options, all_counts)
        metrics = super().selected_metrics(self._options_with_change_metrics(options), all_counts)
        names_metrics = options.metric_options.k or options.metric_options.metrics
        return super().selected_metrics(options, all_counts) if names_metrics else metrics

    def read_analysis(self, options: SharedOptions, read: ReadCountsFunction) -> Analysis:
        confidence = options.confidence.require_intervals().for_differences()
        options = replace(options, confidence=confidence)
        runs = FilesOfRunAndBaseline(None)
        if self.baseline is not None:
            runs = FilesOfRunAndBaseline.from_arguments(options.files, self.baseline)
        if runs.baseline is None:
            study = super().read_analysis(
                options,
                lambda request, source=None: read(
                    request.with_additional_model(self.baseline), source
                ),
            )
            require_no_copies(study.counts, options.request.models)
            request = self.request(options)
            texts = (
                None if options.is_readable_only_once else text_reader(study.counts, request, read)
            )
            return replace(study, read_texts=texts)
        label = baseline_label(runs.baseline)
        baseline_data = runs.read_baseline(read, self.request(options))
        counts, counts_of_baseline = join_baseline(
            read(self.request(options), runs.files), baseline_data, label
        )
        study = super().read_analysis(options, lambda request, source=None: counts)
        notes = (note.with_prefix(f"baseline {label}") for note in reading_notes(baseline_data))
        return replace(study, baseline=counts_of_baseline, reading_messages=(*runs.notes, *notes))

    def read_and_report(self, options: SharedOptions, read: ReadCountsFunction) -> Report:
        """Read the data and compute the report.

        For data with one model, the error suggests how to compare the runs of this model.
        """
        try:
            return super().read_and_report(options, read)
        except OneModelError as error:
            if options.is_readable_only_once or self.baseline is not None:
                raise
            request = self.request(options)
            raise OneModelRuns(error.counts, options.files, request, read).explained_error(
                error
            ) from None

    def require_sufficient_data(self, options: SharedOptions, counts: Counts) -> None:
        if (
            self.baseline is None
            or FilesOfRunAndBaseline.from_arguments(options.files, self.baseline).baseline is None
        ):
            require_several_models(self._without_sensitivity_groups(counts))

    def report(self, study: Analysis) -> Report:
        baseline, change = self.baseline, self._change
        if study.baseline is not None:
            baseline = study.baseline.series[0][0]
        metrics = study.metrics
        tested = tuple(metric for metric in metrics if not metric.definition.is_known_only_as_range)
        if not tested:
            return self._range_report(study, baseline)
        study, stability = replace(study, metrics=tested), []
        if self.sensitivity:
            stability = list(verdict_stabilities(study, self.sensitivity, baseline))
        study = replace(study, counts=self._without_sensitivity_groups(study.counts))
        confidence, rules = study.confidence, study.comparison_options
        changes = list(model_changes_between_metrics(study, change)) if change else []
        chosen_pairs = choose_pairs(study, baseline, changes)
        compared = compare_pairs(chosen_pairs, confidence, rules)
        if not any(len(c.tasks) for c in compared):
            raise _no_shared_tasks_error(study.counts, compared[0])
        comparisons = [c for c in compared if c.first.metric != change]
        crossings = find_crossings(comparisons, confidence) if self.crossings else {}
        if self.crossings and not crossings:
            raise ParameterError(
                OptionWithValue("--crossings"),
                "crossings need two models with shared tasks, and a metric that depends on k, for"
                " example pass@k",
                settles=[
                    SuggestedFix({"-m": ("pass@1",)}, "adds a metric"),
                    SuggestedFix({"--crossings": None}),
                ],
            )
        ranks = (
            []
            if baseline is not None
            else list(find_ranks_allowed_by_tests(comparisons, confidence))
        )
        all_pairs = pairs_with_ranks(compared, ranks, crossings, confidence)
        metric_pairs = [pair for pair in all_pairs if pair.metric != change]
        change_pairs = [pair for pair in all_pairs if pair.metric == change]
        adjustment = Adjustment(compared, confidence.level, rules)
        study = replace(study, confidence=confidence.with_methods_used(adjustment.interval_methods))
        single_model = (
            not study.counts.group_names and len({pair.models for pair in metric_pairs}) == 1
        )
        sections: list[ReportSection[Any]] = [
            self.pair_table_class(
                study, metric_pairs, adjustment, baseline or "", single_model, not crossings
            )
        ]
        if baseline is None:
            standings = models_in_rank_order(ranks, metric_pairs)
            sections.insert(0, RankingTable(study, standings, metric_pairs, single_model))
        elif not single_model:
            rows = baseline_rows(metric_pairs, baseline)
            sections.insert(0, BaselineTable(study, rows, metric_pairs, baseline))
        if change:
            sections.append(ChangeComparisonTable(study, change_pairs, change))
        if self.crossings:
            sections.append(CrossingTable(study, list(crossings.values())))
        if self.flips:
            flipped = compute_flips_of_pairs(
                model_pairs_for_flips(study, comparisons), confidence.level
            )
            sections.append(FlipCountsByPairTable(study, flipped))
            sections.append(FlippedTaskTable(study, pass_rate_changes_per_task(flipped)))
        if self.sensitivity:
            sections.append(SensitivityTable(study, stability, self.sensitivity))
        ranged = replace(study, metrics=metrics)
        if len(tested) < len(metrics):
            sections.append(
                CoverPairTable(
                    ranged, cover_pairs(ranged, baseline), rows_without_full=MAX_ROWS_IN_SHORT_TABLE
                )
            )
        sections.append(DifferenceVarianceTable(study, pair_variances(study, comparisons)))
        sections.append(IntegrityTable.from_study(study))
        return build_report(
            ranged, sections, messages=study.messages((), short=list(_results_with_reasons(
            compared))),
            resamples=confidence.resamples, seed=confidence.seed, **adjustment.signature,
            family=rules.family, margin=rules.margin or None,
            change=f"{change.start_metric.name}:{change.end_metric.name}" if change else None,
            baseline=baseline, unpaired=rules.unpaired,
        )  # fmt: skip

    def _range_report(self, study: Analysis, baseline: str | None) -> Report:
        name = study.metrics[0].name
        options_set = [*changed_option_names(self), *changed_option_names(study.comparison_options)]
        problem = f"{name} is a range, which has no test; add another metric, for example pass@1"
        untested = [o for o in options_set if o not in ("--baseline", "--unpaired")]
        raise_parameter_error_if_any("contradicting-options", *(
            (True, OptionWithValue(option), problem, ()) for option in untested
        ))  # fmt: skip
        pairs = cover_pairs(study, baseline)
        if not any(len(pair.comparison.tasks) for pair in pairs):
            raise _no_shared_tasks_error(study.counts, pairs[0].comparison)
        section = CoverPairTable(study, pairs, rows_without_full=MAX_ROWS_IN_SHORT_TABLE)
        return build_report(
            study, [section],
            messages=(*study.messages(()), *lacking_tasks_message(study.counts)),
            baseline=baseline, unpaired=study.comparison_options.unpaired,
        )  # fmt: skip

    @property
    def _change(self) -> MetricChange | None:
        return None if self.change is None else parse_change(self.change)

    def _options_with_change_metrics(self, options: SharedOptions) -> SharedOptions:
        if (change := self._change) is None:
            return options
        metrics = (*options.metric_options.metrics, change.start_metric, change.end_metric)
        return replace(options, metric_options=replace(options.metric_options, metrics=metrics))

    def _without_sensitivity_groups(self, counts: Counts) -> Counts:
        return counts.merged_over_group_column(self.sensitivity) if self.sensitivity else counts


class PairAnswerWithoutTable(PairTable):
    """The answer about all pairs of models, without a table that lists the pairs."""

    def tables(self) -> Iterator[Table]:
        return iter(())

    def results_of(self, record: Pair) -> Iterator[Result]:
        return iter(())


class CompareWithoutPairTableRunner(CompareRunner):
    """The comparison of many models, with a ranking but without a table of all pairs."""

    pair_table_class = PairAnswerWithoutTable
