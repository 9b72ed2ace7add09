"""Costs of solved tasks, and pass@$b at budgets: the table, the pairs and the chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from passk_cli.arrays import group_by
from passk_cli.commands.cost import CostOptions
from passk_cli.commands.cost.headline import CHEAPEST, FURTHER, cost_fields
from passk_cli.commands.cost.summary import (
    CostComparison,
    CostSummary,
    cost_comparisons,
    cost_summaries,
    frontier_results,
    shared_tasks,
    usual_budgets,
)
from passk_cli.commands.question import Question, ReadCounts, SharedOptions
from passk_cli.diagnostic import WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError
from passk_cli.files.request import Request
from passk_cli.metrics.registry import AMOUNTS, Metric
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import FULL, AnswerSentence, Cell, Column, OptionHint, Report
from passk_cli.report.phrases import SeriesName, amount_text, first_few
from passk_cli.report.plot import Plot, curves
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import all_true, first_true
from passk_cli.study.pairwise_tests import TIED
from passk_cli.study.result import Result
from passk_cli.study.section import (
    AGAINST,
    GROUPS,
    MODEL,
    NumberColumn,
    Section,
    amount_or_minimum,
    build_report,
    data_field,
)
from passk_cli.study.significance_options import GUARDED_T
from passk_cli.study.values import Series
from passk_cli.suggested_fix import OptionValue, SuggestedFix
from passk_cli.text import join_names

_UNITS = {"$": "US dollars", "s": "seconds"}
_FRONTIER, _LOG = ("frontier", "frontier of all groups"), 4
# A chart shows the names of at most _MOST_NAMED models.
_MOST_NAMED = 7
_OWN_TASKS = (
    "Each row of the table uses all tasks of its model. Comparisons of pairs and the frontier use"
    " only the tasks that all models have. If all models share fewer than two tasks, each pair uses"
    " the tasks that both of its models have, and there is no frontier."
)
_CHEAPER_TASKS = "A model that was tested on cheaper tasks looks cheaper."
_SAME_TASKS = (
    "Compare rows only if the models have the same tasks. `--full` shows the pairs on shared tasks."
)
FEW_TASKS_COST = DiagnosticType(
    "few-tasks-cost", WARNING,
    "about {fewest:task} of {tasks} {fewest:causes|cause} most of the cost of {models:and}",
    "limits of costs may be too narrow; add tasks",
    "The effective number of tasks is (Σx)² / Σx², if x is the mean cost of a task. In this data,"
    " the effective number of tasks is below 10 and below a quarter of the number of tasks.",
    why="Your sample of tasks may contain too few of the expensive tasks. In simulations, 1 in 20"
    " or 1 in 50 tasks cost 50 or 100 times as much as an ordinary task. In simulations with a few"
    " expensive tasks, limits of costs contained the true cost in 31 to 66 % of runs with 20 tasks,"
    " 63 to 97 % with 60 tasks and 86 to 96 % with 100 tasks. passk cannot detect this problem if a"
    " run contains no expensive task.",
    advice="Add tasks. More attempts at the same tasks do not make the limits of costs reliable.",
    example="warning[few-tasks-cost]: about 2 tasks of 40 cause most of the cost of alpha; limits"
    " of costs may be too narrow; add tasks",
)  # fmt: skip
UNSHARED_TASKS = DiagnosticType(
    "unshared-tasks", WARNING,
    "some models lack {tasks} of {every} tasks; each row uses all tasks of its model, but tests and"
    " the frontier use only the tasks that all models have",
    meaning=_OWN_TASKS, why=_CHEAPER_TASKS, advice=_SAME_TASKS,
    example="warning[unshared-tasks]: some models lack 20 of 40 tasks; each row uses all tasks of"
    " its model, but tests and the frontier use only the tasks that all models have",
)  # fmt: skip
UNCOMMON_TASKS = DiagnosticType(
    "uncommon-tasks", WARNING,
    "some models lack {tasks} of {every} tasks; each row uses all tasks of its model, but tests use"
    " only the tasks that both models have, and there is no frontier",
    meaning=_OWN_TASKS, why=_CHEAPER_TASKS, advice=_SAME_TASKS,
    example="warning[uncommon-tasks]: some models lack 39 of 40 tasks; each row uses all tasks of"
    " its model, but tests use only the tasks that both models have, and there is no frontier",
)  # fmt: skip
_WITHIN = NumberColumn(
    "pass@$B", "Probability that repeated attempts solve a task before the budget is spent. An"
    " attempt counts only if its full cost is within the budget. The number is a range if the"
    " attempts ended before the budget was spent.", "share",
)  # fmt: skip


_RATE = Column("pass@1", "share", meaning="Probability that an attempt passes.",
               cell=lambda summary: summary.rate.estimate)  # fmt: skip
_COST = Column(
    "{} per attempt", "$", meaning="Mean {} of an attempt. All tasks have equal weights.",
    across=lambda section: [AMOUNTS[section.amount][1]], example="cost",
    units=lambda section, _: AMOUNTS[section.amount][0],
    cell=lambda summary, _: amount_or_minimum(summary.cost.estimate),
)  # fmt: skip
_PER_SUCCESS = Column(
    "per solved task", "$", meaning="Mean cost of an attempt divided by pass@1. This includes the"
    " cost of failed attempts.",
    cell=lambda summary: amount_or_minimum(summary.per_success.estimate),
)  # fmt: skip
_SOLVED = Column(
    "{0.name}", "share", meaning="{0.meaning}", across=lambda section: section.numbers,
    example=_WITHIN, cell=lambda summary, number: next(
        fact.estimate for fact in summary.within if fact.name == number.name),
)  # fmt: skip


@dataclass(frozen=True)
class CostTable(Section[CostSummary]):
    """A row per model with the costs and with pass@$b at each budget. The cheapest comes first."""

    columns = (
        MODEL, GROUPS,
        replace(_PER_SUCCESS, meaning=f"{_PER_SUCCESS.meaning} A ~ marks costs that are not"
                " significantly higher than the lowest cost of the group.",
                across=lambda section: [section.ties], example="",
                cell=lambda summary, ties: amount_or_minimum(summary.per_success.estimate)
                if summary.series not in ties
                else replace(summary.per_success.estimate, verdict="~")),
        _RATE, _COST, _SOLVED,
        Column("frontier", shown=FULL, meaning="Position relative to the frontier of cost per"
               " attempt and pass@1. on: no model is both cheaper and better. behind: another model"
               " is cheaper and better, significantly after adjustment for the number of pairs."
               " undecided: another model is cheaper and better, but not significantly.",
               across=lambda section: [section.frontiers] * bool(section.frontiers), example="",
               cell=lambda summary, facts: _frontier_part(summary, facts, "verdict")),
        Column("in resamples", "share", joined=True, shown=FULL, meaning="Share of the resamples of"
               " the tasks in which the model is on the frontier. This share is not a test.",
               across=lambda section: [section.frontiers] * bool(section.frontiers), example="",
               cell=lambda summary, facts: _frontier_part(summary, facts, "estimate")),
        data_field("budget", "Budget of pass@$b, in the unit of the amount."),
    )  # fmt: skip

    amount: str = "cost"
    budgets_from_data: bool = False
    pairs: Sequence[CostComparison] = ()
    frontiers: Mapping[Series, Result] = field(default_factory=dict)

    @property
    def numbers(self) -> list[NumberColumn]:
        names = [fact.name for fact in self.records[0].within]
        return [
            NumberColumn(name, "" if place else _WITHIN.meaning, "share")
            for place, name in enumerate(names)
        ]

    @cached_property
    def ties(self) -> dict[Series, CostComparison]:
        """Models that tie with the first model of their group, and the comparison with it."""
        first = {
            summary.series[1:]: summary
            for summary in reversed(self.records)
            if summary.has_known_cost
        }
        return {
            pair.second.series: pair for pair in self.pairs
            if pair.first is first.get(pair.first.series[1:]) and pair.second.has_known_cost
            and pair.difference.verdict == TIED
        }  # fmt: skip

    def facts_of(self, record: CostSummary) -> tuple[Result, ...]:
        return record.rate, record.cost, record.per_success, *record.within

    def facts(self) -> list[Result]:
        return [*super().facts(), *self.frontiers.values()]

    def answer(self) -> Iterator[AnswerSentence]:
        fields = cost_fields(self.study, self.records, self.pairs, self.ties, self.amount)
        yield from first_true(CHEAPEST, fields)
        yield from all_true(FURTHER, fields)

    def plots(self) -> tuple[Plot, ...]:
        priced = [
            o for o in self.records if o.cost.estimate.value and o.cost.estimate.upper is None
        ]
        hidden = [SeriesName(summary.series) for summary in self.records if summary not in priced]
        if not priced:
            return ()
        noun, nothing = AMOUNTS[self.amount][1], {"low": None, "high": None}
        frontier = _frontier_points(priced)
        unit = AMOUNTS[self.amount][0]
        costs = [
            end
            for o in priced
            for end in (o.cost.estimate.low, o.cost.estimate.value, o.cost.estimate.high)
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
            cost, name = summary.cost.estimate, SeriesName(summary.series)
            rows += [
                {"model": name, "line": None, "cost": end, "pass@1": summary.rate.estimate.value,
                 **nothing}
                for end in (cost.low, cost.high) if end
            ]  # fmt: skip
        scale = ", ".join(["seconds"] * (unit == "s") + ["log scale"] * log)
        kinds = dict.fromkeys(row["line"] for row in rows if row["line"])
        points = [o.rate.chart_point("pass@1", cost=o.cost.estimate.value) for o in priced]
        chart = curves(
            rows, x="cost", y="pass@1", low="low", high="high", colour="model", dash="line",
            points=points, keys={"line": next(iter(kinds))} if len(kinds) == 1 else {},
            title=f"pass@1 against the {noun} of an attempt",
            subtitle=" · ".join((
                *([f"{noun} not known: {first_few(hidden)}"] if hidden else []),
                *self.study.sizes_and_intervals_text(summary.rate for summary in priced),
            )), shares=True, log_x=log,
            x_title=noun + " of an attempt" * (unit in _UNITS) + f" ({scale})" * bool(scale),
            y_title="pass@1",
        )  # fmt: skip
        places = np.linspace(0, len(frontier) - 1, min(len(frontier), _MOST_NAMED)).round()
        leading = tuple(frontier[int(place)][-1] for place in places)
        return (replace(chart, scattered=True, leading=leading, x_unit="$" * (unit == "$")),)

    def context(self) -> Iterator[str | OptionHint]:
        # Amounts in dollars or seconds already contain their unit, so the header of an amount
        # column does not repeat the unit.
        unit = AMOUNTS[self.amount][0]
        yield "" if unit in _UNITS else unit
        if self.ties:
            of_group = " of its group" if self.study.counts.group_names else ""
            yield f"~ tied with the first{of_group}"
        yield from self.study.sizes_and_intervals_text(summary.rate for summary in self.records)
        if any(fact.estimate.upper is not None for o in self.records for fact in o.within):
            yield "range: attempts ended before the budget was spent"
        elif self.budgets_from_data and self.numbers:
            yield OptionHint("other budgets", OptionValue("--at"))

    def details(self) -> Iterator[str]:
        yield _UNITS.get(AMOUNTS[self.amount][0], "")
        yield "per solved task: Fieller's limits; budgets: a simultaneous band per pair"
        yield "p: Student's t, adjusted for all pairs of a group"

    def messages(self) -> Iterator[Diagnostic]:
        groups = group_by(self.records, lambda summary: summary.series[1:])
        task_counts = [
            len(np.unique(np.concatenate([o.tasks for o in g]))) for g in groups.values()
        ]
        shared = [len(shared_tasks(group)) for group in groups.values()]
        if sum(task_counts) > sum(shared):
            message = UNSHARED_TASKS if min(shared) > 1 else UNCOMMON_TASKS
            yield message(tasks=sum(task_counts) - sum(shared), every=sum(task_counts))
        if few := [summary for summary in self.records if summary.cost_carrying_tasks]:
            least = min(few, key=lambda summary: summary.cost_carrying_tasks)
            names = [SeriesName(summary.series) for summary in few]
            fewest = least.cost_carrying_tasks
            yield FEW_TASKS_COST(models=names, fewest=fewest, tasks=len(least.tasks))
        yield from super().messages()


def _frontier_points(records: Sequence[CostSummary]) -> list[tuple[float, float, str]]:
    points = sorted(
        (
            summary.cost.estimate.value or 0.0,
            -(summary.rate.estimate.value or 0.0),
            summary.series[0],
        )
        for summary in records
    )
    best: list[tuple[float, float, str]] = []
    for cost, rate, model in points:
        if not best or -rate > best[-1][1]:
            best.append((cost, -rate, model))
    return best


def _frontier_part(summary: CostSummary, facts: Mapping[Series, Result], part: str) -> Cell:
    fact = facts.get(summary.series)
    return None if fact is None else getattr(fact, part)


def _budgets_ahead_text(pair: CostComparison, *, first: bool) -> str | None:
    texts = (
        amount_text(float(f"{end:.3g}"), pair.difference.estimate.unit)
        for end in pair.budgets_ahead(first) or ()
    )
    return "–".join(dict.fromkeys(texts)) or None


class CostPairTable(Section[CostComparison]):
    """Comparisons of the cost of a solved task for pairs of models."""

    title = "Cost of a solved task: pairs"
    shown = FULL
    columns = (
        Column("model", cell=lambda pair: pair.first.series[0]),
        Column("against", meaning=AGAINST.meaning, cell=lambda pair: pair.second.series[0]),
        replace(GROUPS, cell=lambda pair, item: pair.first.series[1 + item[0]]),
        Column("difference", "$", meaning="Difference between the costs per solved task, on shared"
               " tasks.",
               cell=lambda pair: pair.difference.estimate),
        Column("ratio", "ratio", meaning="Ratio of the costs per solved task.",
               cell=lambda pair: pair.ratio.estimate),
        Column("p", "p", joined=True, meaning="p-value of the hypothesis that the costs of a solved"
               " task are equal, adjusted for the number of pairs.",
               cell=lambda pair: pair.difference.p_adjusted),
        Column("verdict", joined=True, meaning="Verdict: better (costs less), worse or tied.",
               cell=lambda pair: pair.difference.verdict),
        Column("{} ahead at budgets", meaning="Budgets at which the {} model solves significantly"
               " more tasks. The band for each pair is simultaneous over all budgets.",
               across=lambda section: ("first", "other"), example="first",
               cell=lambda pair, position: _budgets_ahead_text(pair, first=position == "first")),
        Column("crosses at", "$", meaning="Budget at which the lead changes from one model to the"
               " other, with confidence limits.", cell=lambda pair: pair.crossing_budget),
    )  # fmt: skip

    def facts_of(self, record: CostComparison) -> Iterator[Result]:
        yield record.difference
        yield record.ratio
        if record.crossing_budget.value is not None:
            yield replace(
                record.difference, name="crossing-budget", estimate=record.crossing_budget, p=None,
                p_adjusted=None, verdict="", method=GUARDED_T,
            )  # fmt: skip


class CostQuestion(Question, CostOptions):
    sections = (CostTable, CostPairTable)

    unbounded: ClassVar[str] = "costs are used only for attempts with an outcome"

    def request(self, options: SharedOptions) -> Request:
        return replace(options.request, cluster=options.confidence.cluster, attempts=(self.of,))

    def study(self, options: SharedOptions, read: ReadCounts) -> Analysis:
        """Read the data. If the amount is missing, the error names the available amounts."""
        try:
            return super().study(options, read)
        except DataError as error:
            has_fix = any(settle.is_complete for settle in error.settles)
            if has_fix or error.problem != f"no {self.of} column" or options.read_once:
                raise
            try:
                inputs = read(replace(self.request(options), attempts=())).facts.inputs
            except DataError:
                # If passk reads the files a second time and fails for a different reason, passk
                # reports the first error.
                raise error from None
            amounts_in_data = [
                name for name in AMOUNTS if any(name in file.offered for file in inputs)
            ]
            if not amounts_in_data:
                raise
            amounts = [SuggestedFix({"--of": name}) for name in amounts_in_data]
            raise error.with_changes(
                DataError, remedy=f"it has {join_names(amounts_in_data)}", settles=amounts
            ) from None

    def metrics_of(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        return (Metric("pass@", 1),)

    def report(self, study: Analysis) -> Report:
        budgets = self.at or usual_budgets(_mean_attempt_and_task_costs(study.counts, self.of))
        study = replace(study, decided={
            "of": self.of, "at": ",".join(f"{budget:.12g}" for budget in budgets),
        })  # fmt: skip
        summaries = cost_summaries(study, self.of, budgets)
        pairs, budgets_from_data = cost_comparisons(study, summaries), not self.at
        return build_report(
            study, [
                CostTable(study, summaries, amount=self.of, budgets_from_data=budgets_from_data,
                          pairs=pairs, frontiers=frontier_results(study, summaries)),
                CostPairTable(study, pairs),
            ],
            messages=study.messages([summary.rate for summary in summaries]),
        )  # fmt: skip


def _mean_attempt_and_task_costs(counts: Counts, amount: str) -> list[Any]:
    attempts = counts.attempts[amount]
    total = np.bincount(attempts.cell, attempts.count * attempts.value, len(counts.n))
    attempt_counts = np.bincount(attempts.cell, attempts.count, len(counts.n))
    rows = [
        np.flatnonzero(attempt_counts[r]) + r.start
        for r in map(counts.rows_of, range(len(counts.series)))
    ]
    return [
        np.array([(total[r] / attempt_counts[r]).mean(), total[r].mean()]) for r in rows if len(r)
    ]
