"""The costs of models per attempt and per solved task, and pass@$b at several budgets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations

import numpy as np

from passk_cli.arrays import Floats, Ints, group_by
from passk_cli.commands.cost.frontier import LeadCrossings, lead_crossings, pareto_frontier
from passk_cli.inference.cost_per_success import TaskCosts, cost_per_success, mean_cost
from passk_cli.inference.intervals import FIELLER
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.limits import refuse_many_pairs
from passk_cli.metrics.budget import pass_within_budget_limits
from passk_cli.metrics.registry import AMOUNT_UNITS_AND_NOUNS, Metric
from passk_cli.outcomes.attempts import AttemptValuesByCell
from passk_cli.report.data_types import Estimate
from passk_cli.report.phrases import amount_text
from passk_cli.study.analysis import Analysis
from passk_cli.study.pairwise_tests import BETTER, TIED, WORSE
from passk_cli.study.ratios import compare_costs_per_success
from passk_cli.study.result import Result, range_result_between, ratio_estimate
from passk_cli.study.values import (
    UNPRICED_REASON,
    SeriesKey,
    attempts_of,
    cells_with_any_known_amount,
    cluster_codes,
)

FRONTIER_RESULT_NAME = "frontier"
# Default budgets are 1, 2 or 5 times a power of ten.
_ROUND_BUDGET_STEPS = (1.0, 2.0, 5.0, 10.0)
_MIN_DEFAULT_BUDGET_RATIO = 4.0
# passk compares pass@$b of two models at _BUDGETS budgets. In groups of more than _MOST_CROSSED
# models, passk compares pass@$b only for pairs with the cheapest model.
_BUDGETS, _MOST_CROSSED = 48, 8


@dataclass(frozen=True, eq=False)
class CostSummary:
    """The costs of one model per attempt and per solved task, and pass@$b at several budgets.

    The cost of a solved task is the mean cost of an attempt divided by pass@1. pass@$b is a range
    if the attempts ended before the budget b was spent.
    """

    series: SeriesKey
    task_codes: Ints
    attempts: AttemptValuesByCell
    pass_rate: Result
    cost_per_attempt: Result
    cost_per_success: Result
    pass_rates_within_budgets: tuple[Result, ...]

    def attempt_amounts_at(self, tasks: Ints) -> AttemptValuesByCell:
        return self.attempts.take_cells(np.searchsorted(self.task_codes, tasks))

    @property
    def has_only_zero_costs(self) -> bool:
        """Whether every attempt costs 0, or no attempt has a cost."""
        return not self.attempts.value.any()

    @property
    def dominant_cost_task_count(self) -> int:
        """The effective number of tasks that cause most of the cost, or 0 if there are many such
        tasks."""
        return _task_costs(self.attempts, None).effective_tasks_if_few

    @property
    def is_success_cost_known(self) -> bool:
        """Whether at least one attempt passed and every attempt has a cost."""
        estimate = self.cost_per_success.estimate
        return estimate.value is not None and estimate.range_upper_end is None

    def is_lower_limit_below_cost_of(self, rival: CostSummary) -> bool:
        """Whether this model may be cheaper per solved task than the rival.

        The answer is yes only if costs of this model are missing.
        """
        estimate, least = self.cost_per_success.estimate, rival.cost_per_success.estimate.value
        unknown = estimate.range_upper_end is not None and estimate.value is not None
        return unknown and least is not None and (estimate.value or 0.0) < least

    def sort_key(self, shared: float | None) -> tuple[bool, bool, bool, float, SeriesKey]:
        """The key by which models are sorted, from the lowest to the highest cost of a solved task.

        Models with known costs come first. Models with missing costs, models that solved no task,
        and models without a price follow in this order.

        shared : cost of a solved task on the tasks that all models share, or None to use all tasks
            of this model.
        """
        estimate = self.cost_per_success.estimate
        value = estimate.low if estimate.value is None else estimate.value
        nothing, lacking = estimate.value is None, estimate.range_upper_end is not None
        value = value or 0.0 if shared is None else shared
        return self.has_only_zero_costs, nothing, lacking, value, self.series


def cost_summaries(study: Analysis, amount: str, budgets: Sequence[float]) -> list[CostSummary]:
    """The costs of each model, in order of the cost of a solved task on the shared tasks."""
    rates = study.results(study.task_values((Metric("pass@", 1),)))
    summaries = [
        _cost_summary(study, amount, budgets, place, rate) for place, rate in enumerate(rates)
    ]
    shared: dict[SeriesKey, float] = {}
    priced = [summary for summary in summaries if summary.is_success_cost_known]
    for rivals in group_by(priced, lambda summary: summary.series[1:]).values():
        tasks = shared_tasks(rivals)
        if len(tasks) and any(len(rival.task_codes) > len(tasks) for rival in rivals):
            for rival in rivals:
                spent = _task_costs(rival.attempt_amounts_at(tasks), None)
                rate = float(spent.pass_rate.mean())
                shared[rival.series] = float(spent.mean_cost.mean()) / rate if rate else math.inf
    return sorted(summaries, key=lambda summary: summary.sort_key(shared.get(summary.series)))


def _cost_summary(
    study: Analysis, amount: str, budgets: Sequence[float], place: int, rate: Result
) -> CostSummary:
    counts = study.counts
    rows = counts.slice_of_series(place)
    series, attempts = counts.series[place], attempts_of(counts, amount, rows)
    cells, n, _ = cells_with_any_known_amount(attempts)
    tasks, attempts = counts.task_codes[rows][cells], attempts.take_cells(cells)
    spending = _task_costs(attempts, cluster_codes(counts, tasks))
    cost, per_success = _costs_per_attempt_and_success(study, amount, rate, spending)
    within = []
    priced = attempts.value.any()
    solved = (
        pass_within_budget_limits(*_attempt_arrays(attempts), np.array(budgets))
        if priced
        else (budgets, budgets)
    )
    for budget, low, high in zip(budgets, *solved, strict=True):
        name = f"pass@{amount_text(budget, AMOUNT_UNITS_AND_NOUNS[amount][0])}"
        nothing = Estimate(None, reason=per_success.estimate.reason)
        number = replace(per_success, name=name, estimate=nothing, method=study.confidence.method)
        if priced:
            number = range_result_between(*(
                study.mean_result(series, name, values, tasks, n) for values in (low, high)
            ))  # fmt: skip
        within.append(replace(number, extra_fields={"budget": budget}))
    return CostSummary(series, tasks, attempts, rate, cost, per_success, tuple(within))


def _attempt_arrays(attempts: AttemptValuesByCell) -> tuple[Ints, Floats, Ints, Ints]:
    return attempts.cell_offsets, attempts.value, attempts.count, attempts.pass_count


def _task_costs(attempts: AttemptValuesByCell, clusters: Ints | None) -> TaskCosts:
    return TaskCosts.from_attempts(*_attempt_arrays(attempts), clusters)


def _costs_per_attempt_and_success(
    study: Analysis, amount: str, rate: Result, spending: TaskCosts
) -> tuple[Result, Result]:
    confidence, unit = study.confidence, AMOUNT_UNITS_AND_NOUNS[amount][0]
    about = confidence.level, confidence.population
    blank = replace(
        rate, k=None, values=None, interval_flaw="", se=None, method=FIELLER, level=confidence.level
    )
    method = "guard" if confidence.population == NEW_TASKS else "jackknife"
    mean = ratio_estimate(mean_cost(spending, *about), unit)
    cost = replace(blank, name=amount, estimate=mean, method=method)
    if not spending.mean_cost.any() and spending.is_cost_missing is None:
        has_attempts = bool(len(spending.mean_cost))
        reason = (
            UNPRICED_REASON
            if has_attempts
            else f"no attempt has {AMOUNT_UNITS_AND_NOUNS[amount][1]}"
        )
        zero, nothing = (
            Estimate(value, reason=reason, unit=unit)
            for value in (0.0 if has_attempts else None, None)
        )
        return (
            replace(cost, estimate=zero, level=None),
            replace(blank, name=f"{amount}-per-success", estimate=nothing, level=None),
        )
    ratio = cost_per_success(spending, *about)
    return cost, replace(blank, name=f"{amount}-per-success", estimate=ratio_estimate(ratio, unit))


def default_budgets(costs: Sequence[Floats]) -> tuple[float, ...]:
    """Up to three round budgets that suit the costs of the models.

    The budgets range from the lowest mean cost of an attempt to the highest mean cost of all
    attempts at a task.

    costs : for each model, the mean cost of an attempt and the mean cost of all attempts at a task.

    >>> default_budgets([np.array([0.27, 0.8]), np.array([2.1, 6.2])])
    (0.2, 1.0, 5.0)
    """
    priced = [
        model_costs
        for model_costs in costs
        if model_costs[0] > 0 and np.isfinite(model_costs).all()
    ]
    if not priced:
        return ()
    low, high = (
        min(model_costs[0] for model_costs in priced),
        max(model_costs[1] for model_costs in priced),
    )
    high = max(high, _MIN_DEFAULT_BUDGET_RATIO * low)
    budgets = []
    for amount in (low, math.sqrt(low * high), high):
        power = 10.0 ** math.floor(math.log10(amount))
        nearest = min(_ROUND_BUDGET_STEPS, key=lambda step: abs(math.log(step * power / amount)))
        budgets.append(float(f"{nearest * power:.3g}"))
    return tuple(dict.fromkeys(budgets))


@dataclass(frozen=True)
class CostComparison:
    """The difference and the ratio between the costs per solved task of two models.

    The models are compared on the tasks that all models of the group share. If there are fewer than
    two such tasks, the models are compared on the tasks that both models have.
    """

    first: CostSummary
    second: CostSummary
    difference: Result
    ratio: Result
    lead_crossings: LeadCrossings | None = None

    @property
    def is_significant(self) -> bool:
        return self.difference.verdict in (BETTER, WORSE)

    @property
    def crossing_budget(self) -> Estimate:
        """The lowest budget at which the lead in solved tasks changes, with confidence limits."""
        unit = self.difference.estimate.unit
        if self.lead_crossings is None or not self.lead_crossings.crossing_budgets:
            return Estimate(None, unit=unit)
        at = self.lead_crossings.crossing_budgets[0]
        limits = [
            (s.low, s.high) for s in self.lead_crossings.crossing_ranges if s.low <= at <= s.high
        ]
        low, high = limits[0] if limits else (None, None)
        return Estimate(at, low=low, high=high, unit=unit)

    def budget_range_ahead(self, first: bool) -> tuple[float, float] | None:
        """The lowest and highest budget at which a model solves significantly more tasks, or None.

        first : whether the model is the first or the second model of the comparison.
        """
        leads = [] if self.lead_crossings is None else [
            lead for lead in self.lead_crossings.lead_ranges if lead.leader_sign == (1
                if first else -1)
        ]  # fmt: skip
        return (leads[0].low, leads[-1].high) if leads else None


def cost_comparisons(study: Analysis, summaries: Sequence[CostSummary]) -> list[CostComparison]:
    """Compare the costs of all pairs of models in each group.  Models without costs are left out.

    Errors: ParameterError if there are too many pairs.
    """
    priced = [summary for summary in summaries if not summary.has_only_zero_costs]
    groups = group_by(priced, lambda summary: summary.series[1:])
    sizes = [len(rivals) for rivals in groups.values()] or [0]
    refuse_many_pairs(max(sizes), sum(size * (size - 1) // 2 for size in sizes))
    return [rivalry for rivals in groups.values() for rivalry in _group_comparisons(study, rivals)]


def _group_comparisons(study: Analysis, rivals: Sequence[CostSummary]) -> Iterator[CostComparison]:
    """Compare all pairs of models in a group on the tasks that all models have.

    The comparisons are one family of tests. If all models share fewer than two tasks, each pair
    uses the tasks that both models have. The p-values are then multiplied by the number of pairs
    (Bonferroni).
    """
    confidence, common = study.confidence, shared_tasks(rivals)
    pairs = list(combinations(rivals, 2))
    together = len(common) > 1 or len(pairs) == 1
    shared = [(pair, common if together else shared_tasks(pair)) for pair in pairs]
    shared = [(pair, tasks) for pair, tasks in shared if len(tasks)]
    tests = 1 if together else max(len(shared), 1)
    compared = compare_costs_per_success(
        [(*pair, tasks) for pair, tasks in shared],
        lambda rival, tasks: _task_costs(
            rival.attempt_amounts_at(tasks), cluster_codes(study.counts, tasks)
        ),
        confidence, tests, together=together,
    )  # fmt: skip
    leads = _lead_crossings(study, shared, rivals, together=together)
    for ((first, second), tasks), result, lead in zip(shared, compared, leads, strict=True):
        p = None if math.isnan(result.p) else result.p
        adjusted = None if math.isnan(result.adjusted) else min(result.adjusted * tests, 1.0)
        verdict = TIED if adjusted is not None else ""
        if adjusted is not None and adjusted <= 1 - confidence.level + 1e-12:
            less = (result.difference.high or 0.0) <= 0
            verdict = BETTER if less else WORSE
        blank = replace(
            first.cost_per_success, against=second.series[0], p=p, p_adjusted=adjusted,
            verdict=verdict,
            size=first.cost_per_success.size._replace(tasks=len(tasks)),
        )  # fmt: skip
        per_success, ratio = first.cost_per_success, ratio_estimate(result.ratio, "ratio")
        difference = ratio_estimate(result.difference, per_success.estimate.unit, signed=True)
        yield CostComparison(
            first, second, replace(blank, estimate=difference),
            replace(blank, name=f"{per_success.name}-ratio", estimate=ratio), lead,
        )  # fmt: skip


def shared_tasks(rivals: Sequence[CostSummary]) -> Ints:
    return reduce(np.intersect1d, [rival.task_codes for rival in rivals])


def _lead_crossings(
    study: Analysis, shared: Sequence[tuple[tuple[CostSummary, CostSummary], Ints]],
    rivals: Sequence[CostSummary], *,
    together: bool,
) -> Iterator[LeadCrossings | None]:  # fmt: skip
    """For each pair of models, the ranges of budgets in which one model solves more tasks, or None.

    The result is None if the tasks are not a random sample, or if the models share fewer than two
    tasks. In large groups, the result is also None for pairs without the cheapest model.
    """
    confidence = study.confidence
    solved: dict[SeriesKey, tuple[Floats, Floats]] = {}
    budgets = np.empty(0)
    for pair, tasks in shared:
        many = len(rivals) > _MOST_CROSSED and rivals[0] not in pair
        if many or confidence.population != NEW_TASKS or len(tasks) < 2:
            yield None
            continue
        if not together:
            solved = {}
        if not solved:
            group_attempts = [
                rival.attempt_amounts_at(tasks) for rival in (rivals if together else pair)
            ]
            least = min(
                model_attempts.value[model_attempts.value > 0].min()
                for model_attempts in group_attempts
            )
            most = max(
                np.bincount(
                    model_attempts.row_cell_indices,
                    model_attempts.count * np.nan_to_num(model_attempts.value),
                ).max()
                for model_attempts in group_attempts
            )
            budgets = np.geomspace(least, most, _BUDGETS)
        for rival in pair:
            if rival.series not in solved:
                solved[rival.series] = pass_within_budget_limits(
                    *_attempt_arrays(rival.attempt_amounts_at(tasks)), budgets
                )
        (first, most), (second, second_most) = (solved[rival.series] for rival in pair)
        yield lead_crossings(
            budgets, first, second, confidence.level, cluster_codes(study.counts, tasks),
            highest=(most, second_most), **confidence.resample_arguments,
        )  # fmt: skip


def frontier_results(study: Analysis, summaries: Sequence[CostSummary]) -> dict[SeriesKey, Result]:
    """For each model, the share of resamples in which the model is on the frontier.

    The frontier of a group contains only models with known costs, and is computed on the tasks that
    these models share. A small p-value means that a rival is significantly cheaper and better.
    """
    priced = [
        o
        for o in summaries
        if not o.has_only_zero_costs and o.cost_per_attempt.estimate.range_upper_end is None
    ]
    groups = group_by(priced, lambda summary: summary.series[1:])
    facts = {}
    for rivals in groups.values():
        shared = shared_tasks(rivals)
        if len(rivals) < 2 or len(shared) < 2:
            continue
        clusters = cluster_codes(study.counts, shared)
        spent = [_task_costs(rival.attempt_amounts_at(shared), clusters) for rival in rivals]
        rates = [rival.pass_rate.values for rival in rivals]
        cost = np.stack([spending.mean_cost for spending in spent], axis=1)
        rate = np.stack(
            [values.restrict(shared).values for values in rates if values is not None], axis=1
        )
        frontier = pareto_frontier(
            cost, rate, clusters, study.confidence.resamples, study.confidence.seed
        )
        for rival, on, share, p in zip(
            rivals,
            frontier.on_frontier,
            frontier.resample_share.tolist(),
            frontier.p.tolist(),
            strict=True,
        ):
            behind = p <= 1 - study.confidence.level + 1e-12
            facts[rival.series] = replace(
                rival.pass_rate, name=FRONTIER_RESULT_NAME, k=None, estimate=Estimate(share),
                se=None, p=p,
                method="none", level=None, values=None, interval_flaw="",
                verdict="behind" if behind else "on" if on else "undecided",
                size=rival.pass_rate.size._replace(tasks=len(shared)),
            )  # fmt: skip
    return facts
