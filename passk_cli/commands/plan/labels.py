"""Tasks against labels: how a budget is split where attempts and labels have a price."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from passk_cli.commands.plan.aims import Aims
from passk_cli.errors import ParameterError
from passk_cli.files.request import MORE_LABELS
from passk_cli.inference.labels import need
from passk_cli.report.model import Column, Estimate, Sentence
from passk_cli.settle import Blank, Given, Settle
from passk_cli.study.extremes import named
from passk_cli.study.fact import Fact, Size
from passk_cli.study.section import GROUPS, MODEL, Section
from passk_cli.study.study import Study


def label_splits(study: Study, aims: Aims) -> list[Fact]:
    """Of the first metric of each model: the best split of the budget over tasks and labels, one
    with a label for every attempt, and one with the pilot's tasks.

    The variance is S/T + C (1/r − 1/all) for T tasks and r labels (or labelled tasks), S and C as
    the pilot shows them; with prices a and l of both the best split has r/T = √(C a / (S l)).
    Errors: ParameterError without prices in dollars, or a pilot with labels.
    """
    if not (aims.in_money and aims.unit_cost and aims.cost_per_label):
        prices = {"--budget": Blank("'$N'"), "--cost-per-attempt": Blank("X")}
        raise ParameterError(
            Given("--cost-per-label"),
            "a budget in dollars is split, at the prices of attempts and labels", name="no-pilot",
            settles=[Settle(prices, "gives them")],
        )  # fmt: skip
    facts = study.facts(study.values(study.metrics[:1]))
    if splits := [split for fact in facts for split in _splits_of(fact, aims)]:
        return splits
    raise ParameterError(
        Given("--cost-per-label"), "the pilot has no labels, or too few", name="no-labels",
        settles=[MORE_LABELS],
    )  # fmt: skip


def _splits_of(fact: Fact, aims: Aims) -> Iterator[Fact]:
    """The designs of one model; none without labels that say enough."""
    values = fact.values
    if values is None or values.labels is None or not values.there or values.degrees is None:
        return
    needed, n = need(values.metric, values.labels), float(values.n.mean())
    spread, tasks = needed.least * len(values.n), len(values.n)
    each, in_task = needed.each, max(needed.per_task, 1)
    task, label = n * (aims.unit_cost or 0.0), in_task * (aims.cost_per_label or 0.0)
    whole = n if not needed.per_task else 1.0
    ratio = min(math.sqrt(each * task / (spread * label)), whole)
    designs = {"best split": aims.amount / (task + ratio * label)}
    designs |= {"a label for every attempt": aims.amount / (task + whole * label)}
    designs |= {"the pilot's tasks": min(float(tasks), aims.amount / task)}
    for remark, most in designs.items():
        size = math.floor(most)
        left = (aims.amount - size * task) / label
        made = min(math.floor(left), math.floor(size * whole))
        low, high, width = fact.estimate.low, fact.estimate.high, None
        if made > 1 and size > 1 and low is not None and high is not None and fact.se:
            # In the proportion of standard errors.
            variance = spread / size + each * max(1 / made - 1 / (size * whole), 0.0)
            width = (high - low) * math.sqrt(variance) / fact.se
        more = {"labels": made * in_task, "width": width, "cost": size * task + made * label}
        yield replace(fact, estimate=Estimate(None), size=Size(size, *fact.size[1:]), values=None,
                      flaw=remark, more=more)  # fmt: skip


class LabelSplits(Section[Fact]):
    """How a budget is split over tasks and labels, for the first metric."""

    view = "of a pilot with labels"
    columns = (
        MODEL,
        GROUPS,
        Column("metric", meaning="The metric.", cell=lambda fact: fact.name),
        Column("tasks", "count", meaning="Tasks, with as many attempts as in the pilot.",
               cell=lambda fact: fact.size.tasks),
        Column("labels", "count", name="labels", meaning="Labelled attempts of a model.",
               cell=lambda fact: fact.more["labels"]),
        Column("cost", "$", meaning="Cost of both.", cell=lambda fact: fact.more["cost"]),
        Column("interval width", "share", meaning="Width of the corrected interval.",
               cell=lambda fact: fact.more["width"]),
        Column("remark", meaning="What distinguishes the design.", cell=lambda fact: fact.flaw),
    )  # fmt: skip

    def facts_of(self, record: Fact) -> tuple[Fact]:
        return (record,)

    def answer(self) -> Iterator[Sentence]:
        best = self.records[0]
        yield (
            f"Best split of the budget for {best.name} of"
            f" {named(best.series, self.study.counts.group_names)}: {best.size.tasks:,} tasks and"
            f" {best.more['labels']:,} labels.",
        )
