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
from passk_cli.commands.compare.headline import (
    CHANGE_COMPARISON_ANSWERS,
    PLACE_ANSWERS,
    REVERSAL_ANSWERS,
    TWO_MODEL_ANSWERS,
    LeaderSummary,
    OrderReversals,
    TwoModelDifference,
    baseline_fields,
    count_differing,
    pairs_to_test,
)
from passk_cli.commands.compare.influence import fragile_differences
from passk_cli.commands.compare.integrity import IntegrityTable, text_reader
from passk_cli.commands.compare.noise import NoiseTable, noisy_pairs
from passk_cli.commands.compare.one_model_runs import OneModelRuns
from passk_cli.commands.compare.pairs import (
    ModelRank,
    Pair,
    first_metric,
    metric_change_values,
    model_pairs_for_flips,
    models_by_rank,
    pairs_at_first_metric,
    ranked_pairs,
)
from passk_cli.commands.compare.range_comparison import FIRST, CoverPairTable, cover_pairs
from passk_cli.commands.compare.sensitivity import SensitivityTable, verdict_stabilities
from passk_cli.commands.question import Question, ReadCounts, SharedOptions
from passk_cli.commands.tasks.flips import FlippedPairTable, FlippedTaskTable
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import ParameterError, refuse_if_any
from passk_cli.files.request import Request
from passk_cli.inference.intervals import PAIRED_SCORE
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.inference.ranking import letter_ranges
from passk_cli.limits import MOST_GROUPS
from passk_cli.metrics.registry import Metric, MetricChange, parse_change
from passk_cli.option import changed_options
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
from passk_cli.study.adjustment import VERDICT_DISAGREEMENT, Adjustment
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer, first_true
from passk_cli.study.baseline import RunAndBaseline, baseline_label, join_baseline
from passk_cli.study.benchmarks import benchmark_disagreement_warning
from passk_cli.study.comparison import Comparison
from passk_cli.study.data_notes import (
    NO_INTERVAL,
    SHORT_TASKS,
    SPECIAL_INTERVAL,
    lacking_tasks_message,
    largest_allowed_k,
    one_task_warning,
    reading_notes,
)
from passk_cli.study.duplicate_runs import require_no_copies
from passk_cli.study.flips import find_flips, flip_results
from passk_cli.study.pairwise_tests import (
    BETTER,
    WORSE,
    OneModelError,
    choose_pairs,
    compare_pairs,
    require_several_models,
)
from passk_cli.study.rank_resampling import find_ranks
from passk_cli.study.result import Result, ratio_estimate
from passk_cli.study.section import (
    AGAINST,
    GROUPS,
    MODEL,
    NumberColumn,
    Record,
    Section,
    build_report,
    data_field,
)
from passk_cli.study.significance_options import UNADJUSTED
from passk_cli.study.values import Series, TaskValues, TooFewAttempts, common_reason
from passk_cli.suggested_fix import OptionValue, SuggestedFix

_METRIC = NumberColumn("METRIC", "Estimate of a metric that you name with -k or -m.", "share")
# The table of changes shows at most _FIRST rows.
_FIRST = 28
# A chart of all pairs shows at most _MOST_DRAWN models. If there are more models, a chart of all
# pairs shows only the pairs with the leader.
_MOST_DRAWN = 8
# The chart of a ranking shows at most _MOST_RANKED models.
_MOST_RANKED = 60
_SIGNIFICANT = (BETTER, WORSE)
# A larger value of a metric is not necessarily better, so the verdicts on changes are "higher" and
# "lower" instead of "better" and "worse".
_OF_CHANGES = {BETTER: "higher", WORSE: "lower"}

NOT_COMPARED = DiagnosticType(
    "pairs-not-compared", WARNING, "{pairs:pair} cannot be compared at {metric}: {reason}",
    meaning="For some pairs of models, the result contains no difference and no test at this"
    " metric. passk cannot compare two models if they share no task, or if one model has fewer than"
    " k attempts at some task.",
    why="The ranking and the number of tests include only the pairs that passk can compare.",
    advice="If models have too few attempts at some tasks, `--short-tasks drop` compares the other"
    " tasks. If the models share no task, check with `passk describe` whether the files use the"
    " same task names.",
    example="passk compare sample_data/costs.csv sample_data/agents.jsonl -k 1\n"
    "warning[pairs-not-compared]: 24 pairs cannot be compared at pass@1: the models share no"
    " task",
)  # fmt: skip
NOT_IN_GROUPS = DiagnosticType(
    "baseline-not-in-groups", WARNING, "passk compares no models in the groups {groups}, because"
                                       " they contain no attempts of {baseline}",
    meaning="With --by, passk compares models within each group. Some groups contain no attempts of"
    " the baseline.",
    why="The result contains no difference for a group without the baseline, even if the group"
    " contains all other models.",
    advice="Run the baseline on the groups that lack it, or choose a baseline that is in all"
        " groups.",
    example="passk compare sample_data/cruxeval.jsonl.gz -k 1 --by temperature --baseline"
    " codellama-7b --where \"temperature < 0.5 OR model <> 'codellama-7b'\"\n"
    "warning[baseline-not-in-groups]: passk compares no models in the groups 0.8, because they"
    " contain no attempts of codellama-7b",
)  # fmt: skip
FEW_TASKS_DECIDE = DiagnosticType(
    "few-tasks-decide", WARNING,
    "few tasks decide the verdict about {pair} at {metric}: without {tasks}, the difference is"
    " {rest:=share} and not significant{?more|; likewise {more:more difference}}",
    meaning="If about 1 % of the tasks were left out, a significant difference would lose half of"
    " its size and would no longer be significant.",
    why="If the deciding tasks are mislabelled, or of a kind that is rare in the benchmark, the"
    " difference shows little about the models.",
    advice="Look at the attempts at the deciding tasks before you report the difference."
    " `--exclude-task TASKS` shows the result without the tasks that you name.",
    example="warning[few-tasks-decide]: few tasks decide the verdict about alpha against beta at"
    " pass@1: without t7, the difference is 0.012 and not significant",
)  # fmt: skip
MANY_GROUPS = DiagnosticType(
    "unadjusted-groups", NOTE,
    "{groups:group} are compared without adjustment, so expect false positives",
    meaning="passk compares the models of each group separately, without an adjustment of p-values"
    " for the number of groups.",
    why="With every further group, it becomes more likely that two models differ significantly by"
    " chance. With 20 groups and a significance level of 5 %, you can expect one false positive.",
    advice="Use `--adjust min-p`, which limits false positives over all groups together.",
    example="passk compare sample_data/cruxeval.jsonl.gz -k 1 --by temperature --adjust none\n"
    "note[unadjusted-groups]: 2 groups are compared without adjustment, so expect false positives",
)  # fmt: skip
POWERLESS = DiagnosticType(
    "powerless-tests", NOTE,
    "none of {tests:test} at {metric} can be significant with so few tasks",
    meaning="With this number of tasks, even the smallest possible p-value is above the"
    " significance level.",
    why="Every pair of models is reported as a tie, even if the two models differ a lot. With so"
    " few tasks, a tie is not evidence that the models are equally good.",
    advice="Use more tasks. `passk plan` computes how many tasks a difference needs.",
    example="passk compare sample_data/agents.jsonl -k 1 --only-task 01-interval-merge\n"
    "note[powerless-tests]: none of 28 tests at pass@1 can be significant with so few tasks",
)  # fmt: skip


def _significance_level_text(section: Section[Pair] | RankingTable | BaselineTable) -> str:
    return f"{100 * (1 - section.study.confidence.level):g} %"


def _mean_estimate(cell: Cell, metric: Metric, letters: str = "") -> Estimate:
    if isinstance(cell, Estimate):
        return replace(cell, letters=letters)
    value = cell if isinstance(cell, float) else None
    return Estimate(value, unit=metric.unit, letters=letters)


def _why_untested(pairs: Sequence[Pair]) -> str:
    lacking = [pair.comparison for pair in pairs if pair.comparison.reason]
    limits = pairs[0].comparison.interval
    reason = (limits and limits.reason) or "a test without p"
    return next((reason for reason, *_ in _reasons_not_compared(lacking)), reason)


NO_TEST = Answer("no-test", lambda pairs: not pairs_to_test(pairs),
                 "No test is possible: {reason}.",
                 lambda pairs: {"reason": _why_untested(pairs)})  # fmt: skip


_LETTERED = Column(
    "{0.name}", meaning="{0.meaning} Models that share a letter do not differ significantly.",
    cell=lambda standing, metric: _mean_estimate(
        rank.values.estimate, metric, letter_ranges(rank.letters or "")
    ) if (rank := standing.ranks.get(metric)) else Estimate(None),
    units=lambda _, metric: metric.unit, example=_METRIC)  # fmt: skip


_PLAIN = replace(
    _LETTERED, meaning="{0.meaning}",
    cell=lambda standing, metric: _mean_estimate(
        getattr(standing.ranks.get(metric), "values", None)
        and standing.ranks[metric].values.estimate, metric))  # fmt: skip
_FURTHER: tuple[tuple[str, Callable[[RankedModelTable[Any]], list[Metric]]], ...] = (
    (ALWAYS, lambda section: section.brief_metrics),
    (FULL, lambda section: section.full_metrics),
)


def shown_in_brief(study: Analysis, metric: Metric | MetricChange) -> bool:
    """Whether the tables show a metric without --full."""
    return isinstance(metric, MetricChange) or study.is_k_in_short_table(
        metric.k, [m.k for m in study.metrics]
    )


def draws_ranking(study: Analysis) -> bool:
    """Whether the chart shows the ranking. With --by, each group would have its own ranking."""
    models = {series[0] for series in study.counts.series}
    return not study.counts.group_names and 2 < len(models) <= _MOST_RANKED


@dataclass(frozen=True)
class RankedModelTable(Section[Record]):
    """A row per model: details of the first metric, and one number per further metric."""

    pairs: Sequence[Pair]

    @property
    def metric(self) -> Metric:
        return first_metric(self.pairs)

    @property
    def other_metrics(self) -> list[Metric]:
        return [metric for metric in self.study.metrics if metric != self.metric]

    @property
    def brief_metrics(self) -> list[Metric]:
        return [m for m in self.other_metrics if shown_in_brief(self.study, m)]

    @property
    def full_metrics(self) -> list[Metric]:
        return [m for m in self.other_metrics if not shown_in_brief(self.study, m)]


@dataclass(frozen=True, eq=False, repr=False)
class IntervalsOfModels:
    """The intervals of all models at one metric, computed when the first interval is drawn."""

    study: Analysis
    values: Sequence[TaskValues]
    name: str

    def of(self, series: Series) -> Estimate:
        return self._estimates.get(series, Estimate(None))

    @cached_property
    def results(self) -> list[Result]:
        """The results of all models that have a value."""
        metrics = [values.metric for values in self.values[:1]]
        confidence = self.study.confidence.for_single_models().for_metrics(metrics)
        return self.study.results(self.values, confidence)

    @cached_property
    def _estimates(self) -> dict[Series, Estimate]:
        return {fact.series: fact.estimate for fact in self.results}


@dataclass(frozen=True)
class RankingTable(RankedModelTable[ModelRank]):
    """The models in the order of the first metric. Models that tie share a letter."""

    columns = (
        Column("rank", meaning="Possible ranks at the first metric: a number, or a range.",
               cell=lambda standing: standing.first.places),
        MODEL, GROUPS,
        replace(_LETTERED, across=lambda section: [section.metric]),
        Column("interval of {0.name}", shown=WIDE, across=lambda section: [section.intervals],
               meaning="Interval of the model's {0.name} as a bar on a common scale; only in"
               " terminals with at least 110 columns.",
               cell=lambda standing, intervals: intervals.of(standing.series), example=_METRIC),
        Column(
            "ahead of next", "share",
            meaning="Difference to the model in the next row, on the tasks that both models have,"
            " with its interval; ~ not significant, = equivalent.",
            cell=lambda standing: standing.ahead.difference if standing.ahead else ""),
        Column("tasks", meaning="Number of tasks with attempts of the model.",
               cell=lambda standing: str(len(standing.first.values.tasks)),
               where=lambda section: section.has_different_tasks),
        *(replace(_PLAIN, shown=shown, across=across) for shown, across in _FURTHER),
        Column("rank at {0.name}", shown=FULL, meaning="Possible ranks at {0.name}.",
               cell=lambda standing, metric: getattr(standing.ranks.get(metric), "places", None),
               across=lambda section: section.other_metrics, example=_METRIC),
        Column("ties at {0.name}", shown=FULL, across=lambda section: section.other_metrics,
               meaning="Models that share a letter do not differ significantly at {0.name}.",
               cell=lambda standing, metric: letter_ranges(
                   getattr(standing.ranks.get(metric), "letters", None) or ""), example=_METRIC),
        Column("first in resamples ({0.name})", "share", shown=FULL,
               meaning="Share of the resamples of the tasks in which the model comes first at"
               " {0.name}. Ties are split. This share is neither a test nor the probability of"
               " being best.",
               cell=lambda standing, metric: standing.ranks[metric].leads
               if metric in standing.ranks else None,
               across=lambda section: [section.metric, *section.other_metrics], example=_METRIC),
    )  # fmt: skip

    single_model: bool = False

    @cached_property
    def intervals(self) -> IntervalsOfModels:
        values = [rank.ranks[self.metric].values for rank in self.records
                  if self.metric in rank.ranks]  # fmt: skip
        return IntervalsOfModels(self.study, values, self.metric.name)

    @property
    def has_different_tasks(self) -> bool:
        return len({standing.first.values.tasks.tobytes() for standing in self.records}) > 1

    def tables(self) -> Iterator[Table]:
        possible_firsts = [
            (rank.first.places or "").partition("–")[0] == "1" for rank in self.records
        ]
        leaders = sum(possible_firsts)
        tied = leaders > 1 and all(possible_firsts[:leaders])
        for table in super().tables():
            shown = FULL if self.single_model else ALWAYS
            yield replace(table, shown=shown, leaders=leaders if tied else 0)

    def plots(self) -> tuple[Plot, ...]:
        if not draws_ranking(self.study):
            return ()
        estimates = [self.intervals.of(standing.series) for standing in self.records]
        if not estimates or any(estimate.upper is not None for estimate in estimates):
            return ()
        (table,) = self.tables()
        rows = [
            {
                "model": SeriesName(standing.series), self.metric.name: estimate.value,
                "low": estimate.low, "high": estimate.high, "places": standing.first.places,
                "letters": letter_ranges(standing.first.letters or ""),
                "tied": at < max(table.leaders, standing.first.places == "1"),
            }
            for at, (standing, estimate) in enumerate(zip(self.records, estimates, strict=True))
        ]  # fmt: skip
        level = self.study.confidence.interval_level
        shaded = "shaded: tied for first" if table.leaders else ""
        parts = (self.study.sizes(self.intervals.results),
                 f"bars: {100 * level:g} % intervals of each model" if level else "",
                 f"same letter: tied at {_significance_level_text(self)}", shaded)  # fmt: skip
        chart = ranking(rows, label="model", value=self.metric.name, low="low", high="high",
                        place="places", letters="letters", tied="tied", x_title=self.metric.name,
                        subtitle=" · ".join(filter(None, parts)))  # fmt: skip
        unit = self.metric.unit
        return (
            replace(chart, unit="share" if unit == "share" else "", x_unit="$" * (unit == "$")),
        )

    def context(self) -> Iterator[str]:
        if not self.single_model:
            yield f"~ or same letter: tied at {_significance_level_text(self)}"

    def answer(self) -> Iterator[AnswerSentence]:
        groups = self.study.counts.group_names
        places = LeaderSummary(self.records, self.pairs, self.metric, groups)
        if places.tested and not self.single_model:
            yield from first_true(PLACE_ANSWERS, places)


@dataclass(frozen=True)
class BaselineRow:
    """A model compared with the baseline, or the baseline itself."""

    series: Series
    pairs: Mapping[Metric, Pair]
    baseline_values: Mapping[Metric, TaskValues]

    def difference(self, metric: Metric) -> Estimate:
        if metric in self.pairs:
            return self.pairs[metric].difference
        values = self.baseline_values.get(metric)
        return _mean_estimate(values.estimate if values and values.has_values else None, metric)

    def of(self, metric: Metric, value: Callable[[Pair], Cell]) -> Cell:
        """The cell that `value` returns for the pair at a metric; "" for the baseline itself."""
        return value(self.pairs[metric]) if metric in self.pairs else ""


_TO_BASELINE = Column(
    "{0.name}", meaning="Difference to the baseline at {0.name}. The row of the baseline shows its"
    " estimate. ~ not significant, = equivalent.",
    cell=lambda line, metric: line.difference(metric),
    units=lambda _, metric: metric.unit, example=_METRIC)  # fmt: skip


@dataclass(frozen=True)
class BaselineTable(RankedModelTable[BaselineRow]):
    """A row per model with the difference to the baseline, on the tasks that both have."""

    view = "with --baseline"
    columns = (
        MODEL, GROUPS,
        replace(_TO_BASELINE, across=lambda section: [section.metric]),
        Column("p", "p", joined=True, meaning="p-value, adjusted for the number of tests.",
               cell=lambda line, metric: line.of(metric, lambda pair: pair.fact.p_adjusted),
               across=lambda section: [section.metric], example=_METRIC),
        Column("verdict", joined=True, meaning="better, worse, equivalent (with --margin) or tied.",
               cell=lambda line, metric: line.of(metric, _verdict) if line.pairs else "baseline",
               across=lambda section: [section.metric], example=_METRIC),
        *(replace(_TO_BASELINE, shown=shown, across=across,
                  cell=lambda line, metric: line.difference(metric).without_interval)
          for shown, across in _FURTHER),
        Column("tasks", meaning="Number of tasks that both models have. The row of the baseline"
               " shows the number of its tasks.",
               cell=lambda line: _tasks_text(
                   [len(pair.comparison.tasks) for pair in line.pairs.values()]
                   or [len(values.tasks) for values in line.baseline_values.values()]),
               where=lambda section: any(pair.comparison.only_second for pair in section.pairs)),
    )  # fmt: skip

    baseline: str

    def tables(self) -> Iterator[Table]:
        yield self.table(self.records, f"Difference to {self.baseline}")

    def context(self) -> Iterator[str]:
        yield f"~ tied at {_significance_level_text(self)}"

    answers = (
        Answer("against-baseline", lambda section: bool(pairs_to_test(pairs_at_first_metric(
        section.pairs))),
               "Against {baseline} at {metric}: {verdicts}"
               "{?best|; {direction:highest|lowest}: {best} {difference}}.",
               lambda section: baseline_fields(section.baseline, pairs_to_test(
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
    return pair.fact.verdict


def _tasks_text(sizes: Sequence[int]) -> str:
    return number_range(min(sizes), max(sizes))


_DIFFERENCE = Column(
    "difference", "share", meaning="Estimate of the model minus estimate of the other model, on the"
    " tasks that both models have, with its interval; ~ not significant, = equivalent.",
    cell=lambda pair: pair.difference,
)  # fmt: skip
_RATIO = Column(
    "ratio", "ratio", meaning="Value of the model divided by the value of the other model, with its"
    " interval, for a ratio of means such as cost-per-success.",
    cell=lambda pair: ratio_estimate(pair.comparison.ratio, "ratio")
    if pair.comparison.ratio else "",
    where=lambda section: any(pair.comparison.ratio for pair in section.records))  # fmt: skip
_P = Column("p", "p", joined=True, meaning="p-value, adjusted for the number of tests.",
            cell=lambda pair: pair.fact.p_adjusted)  # fmt: skip
_P_EQUIVALENCE = Column(
    "p equivalence", "p", joined=True, cell=lambda pair: pair.equivalence_p,
    meaning="p-value of two one-sided tests that the difference is within the margin.",
    where=lambda section: bool(section.study.rules.margin))  # fmt: skip
_SHARED = Column(
    "tasks", meaning="Tasks that both models have.",
    cell=lambda pair: str(len(pair.comparison.tasks)),
    where=lambda section: len({len(pair.comparison.tasks) for pair in section.records}) > 1,
)  # fmt: skip


def _model_column(place: int) -> Column:
    return Column(
        "{}", "share",
        meaning=f"Estimate of the {('model', 'other model')[place]} on the tasks that both models"
        " have.",
        cell=lambda pair, _: _mean_estimate(pair.comparison.estimates[place], pair.metric),
        across=lambda section: [section.names[place]],
        example=("estimate", "of other")[place],
    )  # fmt: skip


_FIELDS = (
    data_field("estimate_model", "Estimate of the model on the tasks that both models have.",
               lambda pair: pair.comparison.estimates[0]),
    data_field("estimate_against", "Estimate of the other model on the tasks that both models"
               " have.",
               lambda pair: pair.comparison.estimates[1]),
    data_field("p_equivalence", _P_EQUIVALENCE.meaning, lambda pair: pair.equivalence_p),
    data_field("family", "Family of tests that are adjusted together: primary, secondary or all.",
               lambda pair: pair.comparison.family if pair.comparison.test else None),
    data_field("only_model", "Number of tasks left out because the other model lacks them.",
               lambda pair: pair.comparison.only_first),
    data_field("only_against", "Number of tasks left out because the model lacks them.",
               lambda pair: pair.comparison.only_second),
    data_field("letters", "Models that share a letter do not differ significantly.",
               lambda pair: getattr(pair.ranks[0], "letters", None)),
    data_field("letters_against", "Letters of the other model.",
               lambda pair: getattr(pair.ranks[1], "letters", None)),
    data_field("leads", "Share of the resamples of the tasks in which the model comes first. Ties"
               " are split. Empty if the models share no task, or if they have different numbers of"
               " attempts, which would favour one of the models.",
               lambda pair: getattr(pair.ranks[0], "leads", None)),
    data_field("leads_against", "Share of the resamples of the tasks in which the other model comes"
                                " first.",
               lambda pair: getattr(pair.ranks[1], "leads", None)),
    data_field("rank_low", "Best rank of the model that the tests do not exclude.",
               lambda pair: getattr(pair.ranks[0], "low", None)),
    data_field("rank_high", "Worst rank of the model that the tests do not exclude.",
               lambda pair: getattr(pair.ranks[0], "high", None)),
    data_field("crosses_at", "First k at which the other model overtakes the model (--crossings).",
               lambda pair: pair.crossing_k("k")),
    data_field("crosses_low", "Lower limit of the k"
                              " in crosses_at.", lambda pair: pair.crossing_k("low")),
    data_field("crosses_high", "Upper limit of the k"
                               " in crosses_at.", lambda pair: pair.crossing_k("high")),
)  # fmt: skip


class PairSection(Section[Pair]):
    """A section about pairs of models, with messages about pairs without a test or interval."""

    @property
    def names(self) -> tuple[str, str]:
        return "estimate", "of other"

    def facts_of(self, record: Pair) -> Iterator[Result]:
        fact = record.fact
        if isinstance(record.metric, MetricChange):
            verdict = _OF_CHANGES.get(fact.verdict, fact.verdict)
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
            for cause in _reasons_not_compared(comparisons)
        )
        for (reason, count, short), names in causes.items():
            k = largest_allowed_k(names, short)
            diagnostic = NOT_COMPARED(pairs=count, metric=", ".join(names), reason=reason)
            drop = SHORT_TASKS(numbers="", reason="", k=k).settles if short else ()
            yield replace(diagnostic, settles=drop)
        usual = self.study.confidence.method, PAIRED_SCORE
        flawed = [
            (c.first.metric.name, c.interval) for c in compared if c.interval and (
                c.interval.low is None or (c.interval.method not in usual and c.interval.reason))
        ]  # fmt: skip
        reasons = group_pairs(
            ((limits.reason, limits.low is None), name) for name, limits in flawed
        )
        for (reason, empty), names in reasons.items():
            message = NO_INTERVAL if empty else SPECIAL_INTERVAL
            yield message(numbers=", ".join(dict.fromkeys(names)), reason=reason)


@dataclass(frozen=True)
class PairTable(PairSection):
    """A row per pair of models and metric with the difference and its test."""

    title = "Pairs"
    columns = (
        replace(MODEL, where=lambda section: not section.single_model),
        replace(AGAINST, where=lambda section: not section.single_model),
        GROUPS,
        Column("metric", meaning="Name of the"
               " metric, as in `-m`.", cell=lambda pair: pair.metric.name),
        _model_column(0), _model_column(1), _DIFFERENCE, _RATIO, _P, _P_EQUIVALENCE,
        Column("verdict", joined=True, meaning="better, worse, equivalent (with --margin) or tied.",
               cell=_verdict, where=lambda section: not section.single_model),
        _SHARED, *_FIELDS,
        data_field("test", "Name of the test."),
        data_field("adjustment", "Adjustment of the p-value for the number of tests."),
    )  # fmt: skip

    adjustment: Adjustment
    baseline: str = ""
    single_model: bool = False
    draws_differences: bool = True

    @property
    def names(self) -> tuple[str, str]:
        first = self.records[0]
        return (first.series[0], first.against) if self.single_model else super().names

    def tables(self) -> Iterator[Table]:
        records = self.records if self.single_model else ()
        brief = [p for p in records if shown_in_brief(self.study, p.metric)]
        if brief and len(brief) < len(self.records):
            yield replace(self.table(brief, ""), shown=BRIEF)
        visibility = ALWAYS if len(brief) == len(self.records) else FULL
        yield replace(
            self.table(self.records, "" if self.single_model else self.title), shown=visibility
        )

    def answer(self) -> Iterator[AnswerSentence]:
        first = pairs_at_first_metric(self.records)
        if not pairs_to_test(first):
            yield NO_TEST.sentence_about(first)
            return
        if self.single_model:
            yield from first_true(TWO_MODEL_ANSWERS, TwoModelDifference(first[0]))
        yield from first_true(REVERSAL_ANSWERS, OrderReversals(self.records))

    def context(self) -> Iterator[str | OptionHint]:
        confidence, margin = self.study.confidence, self.study.rules.margin
        if self.single_model:
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
        if not self.single_model:
            yield OptionHint("pairs")

    def details(self) -> list[str]:
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
            yield NOT_IN_GROUPS(baseline=self.baseline, groups=groups)
        yield from one_task_warning(study.counts, study.confidence)
        yield from lacking_tasks_message(study.counts)
        yield from super().messages()
        first = [pair.comparison for pair in pairs_at_first_metric(self.records)]
        yield from benchmark_disagreement_warning(study.counts, first)
        if few := list(fragile_differences(compared, study.confidence)):
            c = few[0].comparison
            yield FEW_TASKS_DECIDE(
                pair=f"{c.first.name} against {c.second.name}", metric=c.first.metric.name,
                tasks=[study.counts.tasks[t] for t in few[0].tasks],
                rest=few[0].remaining_difference, more=len(few) - 1,
            )  # fmt: skip
        tested = pairs_to_test(pairs_at_first_metric(self.records))
        least = min((pair.comparison.smallest for pair in tested), default=0.0)
        if least > 1 - study.confidence.level + 1e-12:
            yield POWERLESS(tests=len(tested), metric=tested[0].metric.name)
        if study.counts.group_names and study.rules.adjust == UNADJUSTED:
            yield MANY_GROUPS(groups=len({c.first.series[1:] for c in compared}))
        if fields := self.adjustment.disagreement_fields:
            yield VERDICT_DISAGREEMENT(**fields)

    def plots(self) -> tuple[Plot, ...]:
        brief = [pair for pair in self.records if shown_in_brief(self.study, pair.metric)]
        differing = sorted(brief, key=lambda pair: pair.winner is None)
        names = all_pairs = list(dict.fromkeys(pair.models for pair in differing))
        part = ""
        if not self.baseline and len({model for pair in names for model, *_ in pair}) > _MOST_DRAWN:
            leaders: dict[tuple[str, ...], Series] = {}
            for pair in self.records:
                leaders.setdefault(pair.series[1:], pair.series)
            names = [pair for pair in all_pairs if leaders[pair[0][1:]] in pair]
            of = first_few([SeriesName(series) for series in leaders.values()])
            part = f"the {plural(len(names), 'pair')} of {of}, of {len(all_pairs):,}"
        chart_pairs = [pair for pair in brief if pair.models in names]
        # If a difference is a range, the chart draws a point at each end of the range.
        points = [
            (pair.fact, value)
            for pair in chart_pairs
            for value in dict.fromkeys(pair.fact.estimate.ends)
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
                    "filled": fact.verdict in _SIGNIFICANT,
                }
            )  # fmt: skip
        margin, level = self.study.rules.margin, self.study.confidence.interval_level
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
        return (replace(chart, full=not self.baseline and draws_ranking(self.study)),)


@dataclass(frozen=True)
class ChangeTable(PairSection):
    """A row per pair: the change of each model between two metrics, and how much they differ."""

    view = "with --change"
    columns = (
        MODEL, AGAINST, GROUPS, _model_column(0), _model_column(1), _DIFFERENCE, _P, _P_EQUIVALENCE,
        _SHARED,
        *_FIELDS,
    )  # fmt: skip

    change: MetricChange

    @property
    def names(self) -> tuple[str, str]:
        return "change", "change of other"

    def tables(self) -> Iterator[Table]:
        title = f"Change from {self.change.start.name} to {self.change.end.name}"
        yield replace(self.table(self.records, title), first=_FIRST)

    answers = CHANGE_COMPARISON_ANSWERS

    @property
    def tested_pairs(self) -> list[Pair]:
        return pairs_to_test(self.records)

    @property
    def verdict(self) -> str:
        return self.tested_pairs[0].fact.verdict if len(self.tested_pairs) == 1 else ""

    @property
    def fields(self) -> Mapping[str, Any]:
        tested = self.tested_pairs
        first = tested[0]
        return {
            **TwoModelDifference(first).fields, "start": self.change.start.name,
            "end": self.change.end.name,
            "differ": count_differing(tested), "pairs": len(tested),
            "equivalent": sum(pair.comparison.equivalent for pair in tested),
        }  # fmt: skip


def _no_shared_tasks_error(counts: Counts, pair: Comparison) -> ParameterError:
    tasks = (
        f"{rates.name} has {first_few([counts.tasks[t] for t in rates.tasks])}"
        for rates in (pair.first, pair.second)
    )
    return ParameterError(
        f"nothing to compare: no two models share a task; {'; '.join(tasks)}",
        name="nothing-to-compare",
    )


def _reasons_not_compared(
    lacking: Sequence[Comparison],
) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    short, models, other_reasons = list[str](), dict[Series, str](), list[str]()
    for c in lacking:
        valueless = [r for r in (c.first, c.second) if not r.has_values]
        few = [r for r in valueless if isinstance(r.reason, TooFewAttempts)]
        (short if few else other_reasons).append(c.reason)
        models |= {rates.series: rates.reason for rates in few}
    all_reasons = tuple(models.values())
    if short:
        yield short[0] if len(models) == 1 else common_reason(all_reasons), len(short), all_reasons
    for reason, count in Counter(other_reasons).items():
        yield reason, count, ()


def _incomplete_results(compared: Sequence[Comparison]) -> Iterator[Result]:
    values = {
        (r.series, r.metric): r for c in compared for r in (c.first, c.second) if r.has_values
    }
    for rates in values.values():
        if rates.reason:
            estimate = Estimate(rates.mean, reason=rates.reason)
            yield Result(rates.series, rates.metric.name, rates.metric.k, estimate)


def parse_change_name(value: Any) -> str:
    """Check that the text is a change such as "pass@1:pass@100", and return the text."""
    try:
        parse_change(value)
    except ParameterError as error:
        raise ParameterError(OptionValue("--change", value), str(error)) from None
    return str(value)


class CompareQuestion(Question, CompareOptions):
    """Reads the data of `passk compare` and computes its report."""

    pairs: ClassVar[type[PairTable]] = PairTable
    most_groups = MOST_GROUPS
    sampled = True
    ranged = True

    sections = (
        RankingTable, BaselineTable, PairTable, ChangeTable, CrossingTable, FlippedPairTable,
        FlippedTaskTable,
        SensitivityTable, CoverPairTable, NoiseTable, IntegrityTable,
    )  # fmt: skip

    unbounded_options: ClassVar[Mapping[OptionValue, str]] = {
        OptionValue(
            "--change"
        ): "a change may be largest if some missing outcomes pass and others fail",
        OptionValue("--crossings"): "curves are ranges, which do not cross at a single k",
        OptionValue("--flips"): "each missing outcome may make a task flip",
    }

    uncorrected = ""
    uncorrected_options: ClassVar[Mapping[str, str]] = {
        option: f"{subject} uses the verdicts of attempts, which labels do not change"
        for option, subject in (
            ("--crossings", "the k of a crossing"), ("--flips", "a flip"),
            ("--sensitivity", "half of the attempts"),
        )
    }  # fmt: skip

    def request(self, options: SharedOptions) -> Request:
        request = super().request(self._options_with_change(options))
        groups = (self.sensitivity,) if self.sensitivity else ()
        return replace(request, by=tuple(dict.fromkeys((*request.by, *groups))))

    def metrics_of(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        all_counts = self._without_sensitivity_groups(counts)
        if self._change is None:
            return super().metrics_of(options, all_counts)
        metrics = super().metrics_of(self._options_with_change(options), all_counts)
        names_metrics = options.metrics.k or options.metrics.metrics
        return super().metrics_of(options, all_counts) if names_metrics else metrics

    def study(self, options: SharedOptions, read: ReadCounts) -> Analysis:
        confidence = options.confidence.require_intervals().for_differences()
        options = replace(options, confidence=confidence)
        runs = RunAndBaseline(None)
        if self.baseline is not None:
            runs = RunAndBaseline.from_arguments(options.files, self.baseline)
        if runs.baseline is None:
            study = super().study(
                options,
                lambda request, source=None: read(request.with_model(self.baseline), source),
            )
            require_no_copies(study.counts, options.request.models)
            request = self.request(options)
            texts = None if options.read_once else text_reader(study.counts, request, read)
            return replace(study, texts=texts)
        label = baseline_label(runs.baseline)
        baseline_data = runs.read_baseline(read, self.request(options))
        counts, counts_of_baseline = join_baseline(
            read(self.request(options), runs.files), baseline_data, label
        )
        study = super().study(options, lambda request, source=None: counts)
        notes = (note.with_prefix(f"baseline {label}") for note in reading_notes(baseline_data))
        return replace(study, baseline=counts_of_baseline, reading=(*runs.notes, *notes))

    def report_from(self, options: SharedOptions, read: ReadCounts) -> Report:
        """The report. For data with one model, the error suggests how to compare its runs."""
        try:
            return super().report_from(options, read)
        except OneModelError as error:
            if options.read_once or self.baseline is not None:
                raise
            request = self.request(options)
            raise OneModelRuns(error.counts, options.files, request, read).explained_error(
                error
            ) from None

    def require(self, options: SharedOptions, counts: Counts) -> None:
        if (
            self.baseline is None
            or RunAndBaseline.from_arguments(options.files, self.baseline).baseline is None
        ):
            require_several_models(self._without_sensitivity_groups(counts))

    def report(self, study: Analysis) -> Report:
        baseline, change = self.baseline, self._change
        if study.baseline is not None:
            baseline = study.baseline.series[0][0]
        metrics = study.metrics
        tested = tuple(metric for metric in metrics if not metric.kind.ranged)
        if not tested:
            return self._range_report(study, baseline)
        study, stability = replace(study, metrics=tested), []
        if self.sensitivity:
            stability = list(verdict_stabilities(study, self.sensitivity, baseline))
        study = replace(study, counts=self._without_sensitivity_groups(study.counts))
        confidence, rules = study.confidence, study.rules
        changes = list(metric_change_values(study, change)) if change else []
        chosen_pairs = choose_pairs(study, baseline, changes)
        compared = compare_pairs(chosen_pairs, confidence, rules)
        if not any(len(c.tasks) for c in compared):
            raise _no_shared_tasks_error(study.counts, compared[0])
        comparisons = [c for c in compared if c.first.metric != change]
        crossings = find_crossings(comparisons, confidence) if self.crossings else {}
        if self.crossings and not crossings:
            raise ParameterError(
                OptionValue("--crossings"),
                "crossings need two models with shared tasks, and a metric that depends on k, for"
                " example pass@k",
                settles=[
                    SuggestedFix({"-m": ("pass@1",)}, "adds a metric"),
                    SuggestedFix({"--crossings": None}),
                ],
            )
        ranks = [] if baseline is not None else list(find_ranks(comparisons, confidence))
        all_pairs = ranked_pairs(compared, ranks, crossings, confidence)
        metric_pairs = [pair for pair in all_pairs if pair.metric != change]
        change_pairs = [pair for pair in all_pairs if pair.metric == change]
        adjustment = Adjustment(compared, confidence.level, rules)
        study = replace(study, confidence=confidence.with_methods_used(adjustment.methods))
        single_model = (
            not study.counts.group_names and len({pair.models for pair in metric_pairs}) == 1
        )
        sections: list[Section[Any]] = [
            self.pairs(study, metric_pairs, adjustment, baseline or "", single_model, not crossings)
        ]
        if baseline is None:
            standings = models_by_rank(ranks, metric_pairs)
            sections.insert(0, RankingTable(study, standings, metric_pairs, single_model))
        elif not single_model:
            rows = baseline_rows(metric_pairs, baseline)
            sections.insert(0, BaselineTable(study, rows, metric_pairs, baseline))
        if change:
            sections.append(ChangeTable(study, change_pairs, change))
        if self.crossings:
            sections.append(CrossingTable(study, list(crossings.values())))
        if self.flips:
            flipped = find_flips(model_pairs_for_flips(study, comparisons), confidence.level)
            sections.append(FlippedPairTable(study, flipped))
            sections.append(FlippedTaskTable(study, flip_results(flipped)))
        if self.sensitivity:
            sections.append(SensitivityTable(study, stability, self.sensitivity))
        ranged = replace(study, metrics=metrics)
        if len(tested) < len(metrics):
            sections.append(CoverPairTable(ranged, cover_pairs(ranged, baseline), first=FIRST))
        sections.append(NoiseTable(study, noisy_pairs(study, comparisons)))
        sections.append(IntegrityTable.from_study(study))
        return build_report(
            ranged, sections, messages=study.messages((), short=list(_incomplete_results(
            compared))),
            resamples=confidence.resamples, seed=confidence.seed, **adjustment.signature,
            family=rules.family, margin=rules.margin or None,
            change=f"{change.start.name}:{change.end.name}" if change else None,
            baseline=baseline, unpaired=rules.unpaired,
        )  # fmt: skip

    def _range_report(self, study: Analysis, baseline: str | None) -> Report:
        name = study.metrics[0].name
        options_set = [*changed_options(self), *changed_options(study.rules)]
        problem = f"{name} is a range, which has no test; add another metric, for example pass@1"
        untested = [o for o in options_set if o not in ("--baseline", "--unpaired")]
        refuse_if_any("contradicting-options", *(
            (True, OptionValue(option), problem, ()) for option in untested
        ))  # fmt: skip
        pairs = cover_pairs(study, baseline)
        if not any(len(pair.comparison.tasks) for pair in pairs):
            raise _no_shared_tasks_error(study.counts, pairs[0].comparison)
        section = CoverPairTable(study, pairs, first=FIRST)
        return build_report(
            study, [section],
            messages=(*study.messages(()), *lacking_tasks_message(study.counts)),
            baseline=baseline, unpaired=study.rules.unpaired,
        )  # fmt: skip

    @property
    def _change(self) -> MetricChange | None:
        return None if self.change is None else parse_change(self.change)

    def _options_with_change(self, options: SharedOptions) -> SharedOptions:
        if (change := self._change) is None:
            return options
        metrics = (*options.metrics.metrics, change.start, change.end)
        return replace(options, metrics=replace(options.metrics, metrics=metrics))

    def _without_sensitivity_groups(self, counts: Counts) -> Counts:
        return counts.without_group(self.sensitivity) if self.sensitivity else counts


class UnlistedPairsSection(PairTable):
    """The answer about all pairs of models, without a table that lists the pairs."""

    def tables(self) -> Iterator[Table]:
        return iter(())

    def facts_of(self, record: Pair) -> Iterator[Result]:
        return iter(())


class CompareWithoutPairsQuestion(CompareQuestion):
    """The comparison of many models, with a ranking but without a table of all pairs."""

    pairs = UnlistedPairsSection
