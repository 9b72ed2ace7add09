"""Ways to continue a run with a budget: new tasks, or more attempts by one or all models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passk_cli.commands.plan.variance import VarianceComponents
from passk_cli.inference.design import PilotEstimate
from passk_cli.report.data_types import Column, Estimate
from passk_cli.study.answer import Answer
from passk_cli.study.result import Result, SampleSize
from passk_cli.study.section import ReportSection, data_field

NO_MORE_ATTEMPTS_WAY = "nothing more"


@dataclass(frozen=True)
class ContinuationStep:
    """A way to continue a run, with the size of the continued run.

    way : what the budget is spent on, in words.
    attempts_per_task : for each model, the number of attempts per task in the continued run.
    total_added_attempt_count : number of attempts to add.
    cost : cost of the added attempts in dollars, or None if the cost is unknown.
    standard_error : standard error of the mean, or of the difference between two models, in the
        continued run.
    """

    way: str
    tasks: int
    attempts_per_task: tuple[int, ...]
    total_added_attempt_count: int
    cost: float | None
    standard_error: float

    @property
    def size_text(self) -> str:
        """Tasks × attempts per task, for example "68 × 3", or "8 × 12 and 3" for two models."""
        return f"{self.tasks:,} × {' and '.join(map(str, dict.fromkeys(self.attempts_per_task)))}"


def ways_to_spend(
    components: VarianceComponents, budget: float | None, prices: Mapping[str, float] | None
) -> list[ContinuationStep]:
    """List the existing run, and then the ways to continue the run.

    The way with the smallest standard error comes first. Each way adds new tasks, or adds attempts
    at all tasks, because the mean would be biased if outcomes decided which tasks get more
    attempts.

    The mean over T tasks with n attempts per task has the variance (σ_b² + σ_w² / n) / T, with the
    variance σ_b² between tasks and the variance σ_w² of attempts within tasks. The difference
    between models A and B has the variance (σ_Δ² + σ_A²(n_A) + σ_B²(n_B)) / T. Here, σ_Δ² is the
    variance of true differences between tasks, and σ_A²(n_A) is the variance of model A within
    tasks.

    budget : budget for all models together, in dollars if there are prices, otherwise in attempts.
        If `budget` is None, the budget is the cost of the existing run.
    prices : maps each model to the cost of an attempt in dollars.
    """
    values = (
        components.model_difference_moments.first_model,
        components.model_difference_moments.second_model,
    )
    pilots = [p for p in values if components.model_pair and isinstance(p, PilotEstimate)]
    if not pilots and isinstance(components.metric_moments, PilotEstimate):
        pilots = [components.metric_moments]
    names = (
        components.model_pair if components.model_pair and len(pilots) == 2 else (components.name,)
    )
    between = (
        components.model_difference_moments.between_variance
        if len(names) == 2
        else pilots[0].between_variance
    )
    between += components.cluster_excess_variances[len(names) == 2]
    tasks, n = len(pilots[0].n), tuple(pilot.fewest_attempts for pilot in pilots)
    unit = [1.0 if prices is None else prices[name] for name in names]
    spend = budget
    if spend is None:
        spend = tasks * sum(price * attempts for price, attempts in zip(unit, n, strict=True))

    def step(way: str, new: int, more: Sequence[int]) -> ContinuationStep:
        after = tuple(attempts + extra for attempts, extra in zip(n, more, strict=True))
        variance = between + sum(p.within_variance(m) for p, m in zip(pilots, after, strict=True))
        new_attempts = [
            (tasks + new) * m - tasks * attempts for m, attempts in zip(after, n, strict=True)
        ]
        cost = (
            None if prices is None else sum(p * m for p, m in zip(unit, new_attempts, strict=True))
        )
        error = math.sqrt(max(variance, 0.0) / (tasks + new))
        return ContinuationStep(way, tasks + new, after, sum(new_attempts), cost, error)

    def affordable(weights: Sequence[float]) -> int:
        price = sum(w * p for w, p in zip(weights, unit, strict=True))
        return math.floor(spend / price * (1 + 1e-12)) if price > 0 else 0

    zeros, units = [0] * len(n), [1] * len(n)
    ways = [step("new tasks", affordable(n), zeros)]
    same = affordable([tasks * weight for weight in units])
    ways.append(step(f"attempts{' of both' * (len(n) == 2)}", 0, [same] * len(n)))
    for at, name in enumerate(names if len(n) == 2 else ()):
        weights = [int(at == index) for index in range(2)]
        affordable_attempts = affordable([tasks * weight for weight in weights])
        ways.append(
            step(f"attempts of {name}", 0, [affordable_attempts * weight for weight in weights])
        )
    ways = [
        candidate
        for candidate in ways
        if candidate.total_added_attempt_count and not math.isnan(candidate.standard_error)
    ]
    return [
        step(NO_MORE_ATTEMPTS_WAY, 0, zeros),
        *sorted(ways, key=lambda candidate: (candidate.standard_error, candidate.way)),
    ]


_ERROR_FALLS_CLAUSE = (
    " The standard error of {?pair|the difference of {pair:and} in }{metric} falls from {before} to"
    " {after}."
)


@dataclass(frozen=True)
class ContinuationTable(ReportSection[ContinuationStep]):
    """One row for the existing run, and one row per way to continue it, with the best way first."""

    components: VarianceComponents
    has_costs: bool = False

    shown_when = "with --next"
    columns = (
        data_field("fact", "Kind of row: next.", lambda step: "next"),
        Column("next", field_name="next",
            meaning="What the budget is spent on: new tasks, with the same"
               " attempts per task as the existing tasks, or attempts at the existing tasks.",
               cell_of_record=lambda step: step.way),
        Column("tasks × attempts", meaning="Size of the continued run. If two models have different"
               " numbers of attempts per task, both numbers are shown.",
               cell_of_record=lambda step: step.size_text),
        Column("more attempts", "count", field_name="attempts_in_all",
            meaning="Number of attempts to"
               " add.",
               cell_of_record=lambda step: step.total_added_attempt_count),
        Column("cost", "$", field_name="cost", meaning="Cost of the added attempts.",
               cell_of_record=lambda step: step.cost,
               exists_in_section=lambda section: section.has_costs),
        Column("standard error", "share", meaning="Standard error of the mean in the continued"
               " run. With two models, the column contains the standard error of the difference.",
               cell_of_record=lambda step: step.standard_error),
    )  # fmt: skip

    def results_of(self, record: ContinuationStep) -> Iterator[Result]:
        components, pair = self.components, self.components.model_pair or ("", "")
        yield Result(
            (pair[0],) if pair[0] else components.series, components.metric.name,
            components.metric.k,
            Estimate(None), se=record.standard_error, against=pair[1],
            size=SampleSize(record.tasks, min(record.attempts_per_task),
                max(record.attempts_per_task)),
        )  # fmt: skip

    answers = (
        Answer("nothing-next", lambda section: len(section.records) == 1,
               "The budget is too small for a new task or for one more attempt at all tasks.",
               lambda _: {}),
        Answer("new-tasks-next", lambda section: section.sentence_fields["new"],
               "The best next step is to add {new:new task}"
               " ({more:attempt})." + _ERROR_FALLS_CLAUSE),
               Answer("attempts-next", lambda _: True,
                      "The best next step is to add {way} ({more:attempt})." + _ERROR_FALLS_CLAUSE),
    )  # fmt: skip

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        now, best = self.records[:2]
        return {
            "way": best.way, "new": best.tasks - now.tasks, "more": best.total_added_attempt_count,
            "metric": self.components.metric.name, "pair": self.components.model_pair or (),
            "before": now.standard_error, "after": best.standard_error,
        }  # fmt: skip
