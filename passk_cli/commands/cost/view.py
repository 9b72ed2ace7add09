"""The report of `passk cost`, with the costs of solved tasks and pass@$b at several budgets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from passk_cli.arrays import group_by
from passk_cli.commands.cost import CostOptions
from passk_cli.commands.cost.headline import (
    CHEAPEST_MODEL_ANSWERS,
    FURTHER_COST_ANSWERS,
    cost_sentence_fields,
)
from passk_cli.commands.cost.summary import (
    CostComparison,
    CostSummary,
    cost_comparisons,
    cost_summaries,
    default_budgets,
    frontier_results,
    shared_tasks,
)
from passk_cli.commands.runner import CommandRunner, ReadCountsFunction, SharedOptions
from passk_cli.diagnostic import WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError
from passk_cli.files.request import Request
from passk_cli.metrics.registry import AMOUNT_UNITS_AND_NOUNS, Metric
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import FULL, AnswerSentence, Cell, Column, OptionHint, Report
from passk_cli.report.phrases import SeriesName, amount_text, first_few
from passk_cli.report.plot import Plot, curves
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import first_true_sentence, true_sentences
from passk_cli.study.pairwise_tests import TIED
from passk_cli.study.result import Result
from passk_cli.study.section import (
    AGAINST_MODEL_COLUMN,
    GROUP_VALUES_COLUMN,
    MODEL_COLUMN,
    MetricColumnItem,
    ReportSection,
    amount_or_minimum,
    build_report,
    data_field,
)
from passk_cli.study.significance_options import GUARDED_T
from passk_cli.study.values import SeriesKey
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix
from passk_cli.text import join_names

_UNIT_NAMES = {"$": "US dollars", "s": "seconds"}
_FRONTIER, _LOG = ("frontier", "frontier of all groups"), 4
# A chart shows the names of at most _MAX_NAMED_FRONTIER_MODELS models.
_MAX_NAMED_FRONTIER_MODELS = 7
_WHICH_TASKS_ARE_USED = (
    "Each row of the table uses all tasks of its model. Comparisons of pairs and the frontier use"
    " only the tasks that all models have. If all models share fewer than two tasks, passk compares"
    " each pair on the tasks that both models have, and shows no frontier."
)
_CHEAPER_TASKS_REASON = "A model that was tested on cheaper tasks looks cheaper."
_SAME_TASKS_ADVICE = (
    "Compare rows only if the models have the same tasks. `--full` shows the pairs on shared tasks."
)
FEW_TASKS_COST_WARNING = DiagnosticType(
    "few-tasks-cost", WARNING,
    "about {fewest:task} of {tasks} {fewest:causes|cause} most of the cost of {models:and}",
    "intervals of costs may be too narrow; add tasks",
    "If x is the mean cost of a task, the effective number of tasks is (Σx)² / Σx². In this data,"
    " the effective number of tasks is below 10 and below a quarter of the number of tasks.",
    why="Your sample of tasks may contain too few expensive tasks. In simulations, 1 in 20 or 1 in"
    " 50 tasks cost 50 or 100 times as much as an ordinary task. With 20 tasks, intervals of costs"
    " contained the true cost in 31 to 66 % of the simulated runs. With 60 tasks, intervals"
    " contained the true cost in 63 to 97 % of the simulated runs, and with 100 tasks in 86 to 96"
    " %. If a run contains no expensive task, passk cannot detect that an interval is too narrow.",
    advice="Add tasks. More attempts at the same tasks do not make intervals of costs reliable.",
    example="warning[few-tasks-cost]: about 2 tasks of 40 cause most of the cost of alpha;"
    " intervals of costs may be too narrow; add tasks",
)  # fmt: skip
UNSHARED_TASKS_WARNING = DiagnosticType(
    "unshared-tasks", WARNING,
    "some models lack {tasks} of {every} tasks; each row uses all tasks of its model, but tests and"
    " the frontier use only the tasks that all models have",
    meaning=_WHICH_TASKS_ARE_USED, why=_CHEAPER_TASKS_REASON, advice=_SAME_TASKS_ADVICE,
    example="warning[unshared-tasks]: some models lack 20 of 40 tasks; each row uses all tasks of"
    " its model, but tests and the frontier use only the tasks that all models have",
)  # fmt: skip
FEW_COMMON_TASKS_WARNING = DiagnosticType(
    "uncommon-tasks", WARNING,
    "some models lack {tasks} of {every} tasks; each row uses all tasks of its model, but tests use"
    " only the tasks that both models have, and there is no frontier",
    meaning=_WHICH_TASKS_ARE_USED, why=_CHEAPER_TASKS_REASON, advice=_SAME_TASKS_ADVICE,
    example="warning[uncommon-tasks]: some models lack 39 of 40 tasks; each row uses all tasks of"
    " its model, but tests use only the tasks that both models have, and there is no frontier",
)  # fmt: skip
_PASS_AT_BUDGET_COLUMN = MetricColumnItem(
    "pass@$B", "Probability that repeated attempts solve a task before the budget is spent. An"
    " attempt counts only if its full cost is within the budget. The number is a range if the"
    " attempts ended before the budget was spent.", "share",
)  # fmt: skip


_PASS_RATE_COLUMN = Column("pass@1", "share", meaning="Probability that an attempt passes.",
               cell_of_record=lambda summary: summary.pass_rate.estimate)  # fmt: skip
_COST_PER_ATTEMPT_COLUMN = Column(
    "{} per attempt", "$", meaning="Mean {} of an attempt. All tasks have equal weights.",
    repeated_items=lambda section: [AMOUNT_UNITS_AND_NOUNS[section.amount_name][1]], example="cost",
    kind_of_item=lambda section, _: AMOUNT_UNITS_AND_NOUNS[section.amount_name][0],
    cell_of_record=lambda summary, _: amount_or_minimum(summary.cost_per_attempt.estimate),
)  # fmt: skip
_COST_PER_SUCCESS_COLUMN = Column(
    "per solved task", "$", meaning="Mean cost of an attempt divided by pass@1. This includes the"
    " cost of failed attempts.",
    cell_of_record=lambda summary: amount_or_minimum(summary.cost_per_success.estimate),
)  # fmt: skip
_PASS_RATE_BY_BUDGET_COLUMN = Column(
    "{0.name}", "share", meaning="{0.meaning}",
    repeated_items=lambda section: section.pass_at_budget_columns,
    example=_PASS_AT_BUDGET_COLUMN, cell_of_record=lambda summary, number: next(
        fact.estimate for fact in summary.pass_rates_within_budgets if fact.name == number.name),
)  # fmt: skip


@dataclass(frozen=True)
class CostTable(ReportSection[CostSummary]):
    """A row per model with the costs and with pass@$b at each budget.

    The cheapest model comes first.
    """

    columns = (
        MODEL_COLUMN, GROUP_VALUES_COLUMN,
        replace(_COST_PER_SUCCESS_COLUMN,
            meaning=f"{_COST_PER_SUCCESS_COLUMN.meaning} A ~ marks costs that are not"
            " significantly higher than the lowest cost of the group.",
                repeated_items=lambda section: [section.tie_with_cheapest_by_series], example="",
                cell_of_record=lambda summary, ties:
                amount_or_minimum(summary.cost_per_success.estimate)
                if summary.series not in ties
                else replace(summary.cost_per_success.estimate, tie_or_equivalence_sign="~")),
        _PASS_RATE_COLUMN, _COST_PER_ATTEMPT_COLUMN, _PASS_RATE_BY_BUDGET_COLUMN,
        Column("frontier", visibility=FULL, meaning="Position relative to the frontier of cost per"
               " attempt and pass@1. on: no model is both cheaper and better. behind: another model"
               " is cheaper and better, significantly after adjustment for the number of pairs."
               " undecided: another model is cheaper and better, but not significantly.",
               repeated_items=lambda section: [section.frontier_results]
               * bool(section.frontier_results), example="",
               cell_of_record=lambda summary, facts: _frontier_cell(summary, facts, "verdict")),
        Column("in resamples", "share", stays_with_previous=True, visibility=FULL,
            meaning="Share of the resamples of"
               " the tasks in which the model is on the frontier. This share is not a test.",
               repeated_items=lambda section: [section.frontier_results]
               * bool(section.frontier_results), example="",
               cell_of_record=lambda summary, facts: _frontier_cell(summary, facts, "estimate")),
        data_field("budget", "Budget of pass@$b, in the unit of the amount."),
    )  # fmt: skip

    amount_name: str = "cost"
    has_default_budgets: bool = False
    cost_comparisons: Sequence[CostComparison] = ()
    frontier_results: Mapping[SeriesKey, Result] = field(default_factory=dict)

    @property
    def pass_at_budget_columns(self) -> list[MetricColumnItem]:
        names = [fact.name for fact in self.records[0].pass_rates_within_budgets]
        return [
            MetricColumnItem(name, "" if place else _PASS_AT_BUDGET_COLUMN.meaning, "share")
            for place, name in enumerate(names)
        ]

    @cached_property
    def tie_with_cheapest_by_series(self) -> dict[SeriesKey, CostComparison]:
        """A dict that maps each model that ties with the cheapest model of its group to the
        comparison of the two models."""
        first = {
            summary.series[1:]: summary
            for summary in reversed(self.records)
            if summary.is_success_cost_known
        }
        return {
            pair.second.series: pair for pair in self.cost_comparisons
            if pair.first is first.get(pair.first.series[1:]) and pair.second.is_success_cost_known
            and pair.difference.verdict == TIED
        }  # fmt: skip

    def results_of(self, record: CostSummary) -> tuple[Result, ...]:
        return (
            record.pass_rate,
            record.cost_per_attempt,
            record.cost_per_success,
            *record.pass_rates_within_budgets,
        )

    def results(self) -> list[Result]:
        return [*super().results(), *self.frontier_results.values()]

    def answer(self) -> Iterator[AnswerSentence]:
        fields = cost_sentence_fields(
            self.study,
            self.records,
            self.cost_comparisons,
            self.tie_with_cheapest_by_series,
            self.amount_name,
        )
        yield from first_true_sentence(CHEAPEST_MODEL_ANSWERS, fields)
        yield from true_sentences(FURTHER_COST_ANSWERS, fields)

    def plots(self) -> tuple[Plot, ...]:
        priced = [
            o
            for o in self.records
            if o.cost_per_attempt.estimate.value
            and o.cost_per_attempt.estimate.range_upper_end is None
        ]
        hidden = [SeriesName(summary.series) for summary in self.records if summary not in priced]
        if not priced:
            return ()
        noun, nothing = AMOUNT_UNITS_AND_NOUNS[self.amount_name][1], {"low": None, "high": None}
        frontier = _frontier_points(priced)
        unit = AMOUNT_UNITS_AND_NOUNS[self.amount_name][0]
        costs = [
            end
            for o in priced
            for end in (
                o.cost_per_attempt.estimate.low,
                o.cost_per_attempt.estimate.value,
                o.cost_per_attempt.estimate.high,
            )
            if end
        ]
        log = max(costs) > _LOG * min(costs)
        rows: list[dict[str, Any]] = []
        rows += [
            {"model": None, "line": _FRONTIER[bool(self.study.counts.group_names)], "cost": cost,
             "pass@1": rate, **nothing}
            for cost, rate, _ in frontier
            if len(frontier) > 1
        ]  # fmt: skip
        for summary in priced:
            cost, name = summary.cost_per_attempt.estimate, SeriesName(summary.series)
            rows += [
                {"model": name, "line": None, "cost": end,
                    "pass@1": summary.pass_rate.estimate.value,
                 **nothing}
                for end in (cost.low, cost.high) if end
            ]  # fmt: skip
        scale = ", ".join(["seconds"] * (unit == "s") + ["log scale"] * log)
        kinds = dict.fromkeys(row["line"] for row in rows if row["line"])
        points = [
            o.pass_rate.chart_point("pass@1", cost=o.cost_per_attempt.estimate.value)
            for o in priced
        ]
        chart = curves(
            rows, x="cost", y="pass@1", low="low", high="high", colour="model", dash="line",
            points=points, keys={"line": next(iter(kinds))} if len(kinds) == 1 else {},
            title=f"pass@1 against the {noun} of an attempt",
            subtitle=" · ".join((
                *([f"{noun} not known: {first_few(hidden)}"] if hidden else []),
                *self.study.sizes_and_intervals_text(summary.pass_rate for summary in priced),
            )), shares=True, log_x=log,
            x_title=noun + " of an attempt" * (unit in _UNIT_NAMES) + f" ({scale})" * bool(scale),
            y_title="pass@1",
        )  # fmt: skip
        places = np.linspace(
            0, len(frontier) - 1, min(len(frontier), _MAX_NAMED_FRONTIER_MODELS)
        ).round()
        leading = tuple(frontier[int(place)][-1] for place in places)
        return (
            replace(
                chart, is_scatter_plot=True, leading_models=leading, x_unit="$" * (unit == "$")
            ),
        )

    def footer_parts(self) -> Iterator[str | OptionHint]:
        # Amounts in dollars or seconds are printed with their unit, so the text below the table
        # does not repeat the unit.
        unit = AMOUNT_UNITS_AND_NOUNS[self.amount_name][0]
        yield "" if unit in _UNIT_NAMES else unit
        if self.tie_with_cheapest_by_series:
            of_group = " of its group" if self.study.counts.group_names else ""
            yield f"~ tied with the first{of_group}"
        yield from self.study.sizes_and_intervals_text(
            summary.pass_rate for summary in self.records
        )
        if any(
            fact.estimate.range_upper_end is not None
            for o in self.records
            for fact in o.pass_rates_within_budgets
        ):
            yield "pass@$B is a range if attempts ended before the budget was spent"
        elif self.has_default_budgets and self.pass_at_budget_columns:
            yield OptionHint("other budgets", OptionWithValue("--at"))

    def full_footer_parts(self) -> Iterator[str]:
        yield _UNIT_NAMES.get(AMOUNT_UNITS_AND_NOUNS[self.amount_name][0], "")
        yield "per solved task: Fieller's limits; budgets: a simultaneous band per pair"
        yield "p: Student's t, adjusted for all pairs of a group"

    def messages(self) -> Iterator[Diagnostic]:
        groups = group_by(self.records, lambda summary: summary.series[1:])
        task_counts = [
            len(np.unique(np.concatenate([o.task_codes for o in g]))) for g in groups.values()
        ]
        shared = [len(shared_tasks(group)) for group in groups.values()]
        if sum(task_counts) > sum(shared):
            message = UNSHARED_TASKS_WARNING if min(shared) > 1 else FEW_COMMON_TASKS_WARNING
            yield message(tasks=sum(task_counts) - sum(shared), every=sum(task_counts))
        if few := [summary for summary in self.records if summary.dominant_cost_task_count]:
            least = min(few, key=lambda summary: summary.dominant_cost_task_count)
            names = [SeriesName(summary.series) for summary in few]
            fewest = least.dominant_cost_task_count
            yield FEW_TASKS_COST_WARNING(models=names, fewest=fewest, tasks=len(least.task_codes))
        yield from super().messages()


def _frontier_points(records: Sequence[CostSummary]) -> list[tuple[float, float, str]]:
    points = sorted(
        (
            summary.cost_per_attempt.estimate.value or 0.0,
            -(summary.pass_rate.estimate.value or 0.0),
            summary.series[0],
        )
        for summary in records
    )
    best: list[tuple[float, float, str]] = []
    for cost, rate, model in points:
        if not best or -rate > best[-1][1]:
            best.append((cost, -rate, model))
    return best


def _frontier_cell(summary: CostSummary, facts: Mapping[SeriesKey, Result], part: str) -> Cell:
    fact = facts.get(summary.series)
    return None if fact is None else getattr(fact, part)


def _budgets_ahead_text(pair: CostComparison, *, first: bool) -> str | None:
    texts = (
        amount_text(float(f"{end:.3g}"), pair.difference.estimate.unit)
        for end in pair.budget_range_ahead(first) or ()
    )
    return "–".join(dict.fromkeys(texts)) or None


class CostPairTable(ReportSection[CostComparison]):
    """A row per pair of models, which compares the costs of a solved task."""

    title = "Cost of a solved task: pairs"
    visibility = FULL
    columns = (
        Column("model", cell_of_record=lambda pair: pair.first.series[0]),
        Column("against", meaning=AGAINST_MODEL_COLUMN.meaning,
            cell_of_record=lambda pair: pair.second.series[0]),
        replace(GROUP_VALUES_COLUMN, cell_of_record=lambda pair,
            item: pair.first.series[1 + item[0]]),
        Column("difference", "$", meaning="Difference between the costs per solved task, on shared"
               " tasks.",
               cell_of_record=lambda pair: pair.difference.estimate),
        Column("ratio", "ratio", meaning="Ratio of the costs per solved task.",
               cell_of_record=lambda pair: pair.ratio.estimate),
        Column("p", "p", stays_with_previous=True,
            meaning="p-value of the hypothesis that the costs of a solved"
               " task are equal, adjusted for the number of pairs.",
               cell_of_record=lambda pair: pair.difference.p_adjusted),
        Column("verdict", stays_with_previous=True,
            meaning="Verdict: better (costs less), worse or tied.",
               cell_of_record=lambda pair: pair.difference.verdict),
        Column("{} ahead at budgets", meaning="Budgets at which the {} model solves significantly"
               " more tasks. The band for each pair is simultaneous over all budgets.",
               repeated_items=lambda section: ("first", "other"), example="first",
               cell_of_record=lambda pair, position: _budgets_ahead_text(pair,
                   first=position == "first")),
        Column("crosses at", "$", meaning="Budget at which the lead changes from one model to the"
               " other, with confidence limits.", cell_of_record=lambda pair: pair.crossing_budget),
    )  # fmt: skip

    def results_of(self, record: CostComparison) -> Iterator[Result]:
        yield record.difference
        yield record.ratio
        if record.crossing_budget.value is not None:
            yield replace(
                record.difference, name="crossing-budget", estimate=record.crossing_budget, p=None,
                p_adjusted=None, verdict="", method=GUARDED_T,
            )  # fmt: skip


class CostRunner(CommandRunner, CostOptions):
    sections = (CostTable, CostPairTable)

    missing_bounds_refusal: ClassVar[str] = "costs are used only for attempts with an outcome"

    def request(self, options: SharedOptions) -> Request:
        return replace(options.request, cluster=options.confidence.cluster, attempts=(self.of,))

    def read_analysis(self, options: SharedOptions, read: ReadCountsFunction) -> Analysis:
        """Read the data. If --of names an amount that the data lacks, the error lists the amounts
        that the data contains."""
        try:
            return super().read_analysis(options, read)
        except DataError as error:
            has_fix = any(settle.is_complete for settle in error.fixes)
            if has_fix or error.problem != f"no {self.of} column" or options.is_readable_only_once:
                raise
            try:
                inputs = read(replace(self.request(options), attempts=())).read_facts.file_readings
            except DataError:
                # If the second reading of the files fails for a different reason, passk reports the
                # error of the first reading.
                raise error from None
            amounts_in_data = [
                name
                for name in AMOUNT_UNITS_AND_NOUNS
                if any(name in file.command_data_column_by_role for file in inputs)
            ]
            if not amounts_in_data:
                raise
            amounts = [SuggestedFix({"--of": name}) for name in amounts_in_data]
            raise error.with_changes(
                DataError, remedy=f"it has {join_names(amounts_in_data)}", settles=amounts
            ) from None

    def selected_metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        return (Metric("pass@", 1),)

    def report(self, study: Analysis) -> Report:
        budgets = self.at or default_budgets(_mean_attempt_and_task_costs(study.counts, self.of))
        study = replace(study, signature_entries={
            "of": self.of, "at": ",".join(f"{budget:.12g}" for budget in budgets),
        })  # fmt: skip
        summaries = cost_summaries(study, self.of, budgets)
        pairs, budgets_from_data = cost_comparisons(study, summaries), not self.at
        return build_report(
            study, [
                CostTable(study, summaries, amount_name=self.of,
                    has_default_budgets=budgets_from_data,
                          cost_comparisons=pairs, frontier_results=frontier_results(study,
                              summaries)),
                CostPairTable(study, pairs),
            ],
            messages=study.messages([summary.pass_rate for summary in summaries]),
        )  # fmt: skip


def _mean_attempt_and_task_costs(counts: Counts, amount: str) -> list[Any]:
    attempts = counts.attempts[amount]
    total = np.bincount(attempts.row_cell_indices, attempts.count * attempts.value, len(counts.n))
    attempt_counts = np.bincount(attempts.row_cell_indices, attempts.count, len(counts.n))
    rows = [
        np.flatnonzero(attempt_counts[r]) + r.start
        for r in map(counts.slice_of_series, range(len(counts.series)))
    ]
    return [
        np.array([(total[r] / attempt_counts[r]).mean(), total[r].mean()]) for r in rows if len(r)
    ]
