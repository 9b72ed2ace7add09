"""Ways to continue a run with a budget: new tasks, or more attempts of one or all models."""

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
from passk_cli.study.section import Section, data_field

NOW = "nothing more"


@dataclass(frozen=True)
class ContinuationStep:
    """A way to continue a run, with the size of the continued run.

    way : what the budget is spent on, in words.  n : attempts per task of each model.
    more : number of attempts to add.  cost : cost of the added attempts in dollars, if known.
    error : standard error of the mean, or of the difference of two models, in the continued run.
    """

    way: str
    tasks: int
    n: tuple[int, ...]
    more: int
    cost: float | None
    error: float

    @property
    def size(self) -> str:
        """Tasks × attempts per task, for example "68 × 3", or "8 × 12 and 3" for two models."""
        return f"{self.tasks:,} × {' and '.join(map(str, dict.fromkeys(self.n)))}"


def ways_to_spend(
    components: VarianceComponents, budget: float | None, prices: Mapping[str, float] | None
) -> list[ContinuationStep]:
    """The existing run, then the ways to continue the run, with the smallest error first.

    A mean over T tasks with n attempts per task has the variance (σ_b² + σ_w² / n) / T. The
    difference of two models has the variance (σ_Δ² + σ_A²(n_A) + σ_B²(n_B)) / T. A step adds new
    tasks or adds attempts at all tasks. Choosing tasks by outcomes would make the mean wrong.

    budget : for all models together, in dollars if there are prices, otherwise in attempts; None
        for the cost of the existing run.  prices : model → cost of an attempt in dollars.
    """
    values = (components.difference.first, components.difference.second)
    pilots = [p for p in values if components.pair and isinstance(p, PilotEstimate)]
    if not pilots and isinstance(components.values, PilotEstimate):
        pilots = [components.values]
    names = components.pair if components.pair and len(pilots) == 2 else (components.name,)
    between = (
        components.difference.between_variance if len(names) == 2 else pilots[0].between_variance
    )
    between += components.excess[len(names) == 2]
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
    ways = [candidate for candidate in ways if candidate.more and not math.isnan(candidate.error)]
    return [
        step(NOW, 0, zeros),
        *sorted(ways, key=lambda candidate: (candidate.error, candidate.way)),
    ]


_FALLS = (
    " The standard error of {?pair|the difference of {pair:and} in }{metric} falls from {before} to"
    " {after}."
)


@dataclass(frozen=True)
class ContinuationTable(Section[ContinuationStep]):
    """A row for the existing run and a row per way to continue the run, the best way first."""

    components: VarianceComponents
    costs: bool = False

    view = "with --next"
    columns = (
        data_field("fact", "Kind of row: next.", lambda step: "next"),
        Column("next", name="next", meaning="What the budget is spent on: new tasks, with the same"
               " attempts per task as the existing tasks, or attempts at the existing tasks.",
               cell=lambda step: step.way),
        Column("tasks × attempts", meaning="Size of the continued run. If two models have different"
               " numbers of attempts per task, both numbers are shown.",
               cell=lambda step: step.size),
        Column("more attempts", "count", name="attempts_in_all", meaning="Number of attempts to"
               " add.",
               cell=lambda step: step.more),
        Column("cost", "$", name="cost", meaning="Cost of the added attempts.",
               cell=lambda step: step.cost,
               where=lambda section: section.costs),
        Column("standard error", "share", meaning="Standard error of the mean in the continued run;"
               " with two models, standard error of their difference.",
               cell=lambda step: step.error),
    )  # fmt: skip

    def facts_of(self, record: ContinuationStep) -> Iterator[Result]:
        components, pair = self.components, self.components.pair or ("", "")
        yield Result(
            (pair[0],) if pair[0] else components.series, components.metric.name,
            components.metric.k,
            Estimate(None), se=record.error, against=pair[1],
            size=SampleSize(record.tasks, min(record.n), max(record.n)),
        )  # fmt: skip

    answers = (
        Answer("nothing-next", lambda section: len(section.records) == 1,
               "The budget is too small for a new task or for one more attempt at all tasks.",
               lambda _: {}),
        Answer("new-tasks-next", lambda section: section.fields["new"],
               "The best next step is to add {new:new task} ({more:attempt})." + _FALLS),
               Answer("attempts-next", lambda _: True,
                      "The best next step is to add {way} ({more:attempt})." + _FALLS),
    )  # fmt: skip

    @property
    def fields(self) -> Mapping[str, Any]:
        now, best = self.records[:2]
        return {
            "way": best.way, "new": best.tasks - now.tasks, "more": best.more,
            "metric": self.components.metric.name, "pair": self.components.pair or (),
            "before": now.error, "after": best.error,
        }  # fmt: skip
