"""What `passk cost` says above its tables: which model solves a task for least."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from passk_cli.arrays import grouped
from passk_cli.commands.cost.outlay import Outlay, Rivalry
from passk_cli.files.attempts.spending import MISSING_COSTS_DROPPED, MISSING_COSTS_ESTIMATED, NOUNS
from passk_cli.metrics.registry import AMOUNTS
from passk_cli.report.model import Estimate
from passk_cli.report.words import p_relation
from passk_cli.study.answer import Answer
from passk_cli.study.extremes import groups_named, named
from passk_cli.study.study import Study
from passk_cli.study.values import Series

# Amount → what a model does that needs least of it for a solved task.
_LEAST = {
    "cost": "is cheapest", "tokens": "needs fewest tokens",
    "tokens_in": "needs fewest input tokens", "tokens_out": "needs fewest output tokens",
    "duration": "is quickest", "turns": "needs fewest turns",
}  # fmt: skip


class Cheapest:
    """The costs of a solved task, the cheapest first.

    pairs : of models that have a price.  ties : the models that tie with the first of their group,
    each with its pair.
    """

    def __init__(
        self, study: Study, records: Sequence[Outlay], pairs: Sequence[Rivalry],
        ties: Mapping[Series, Rivalry], amount: str,
    ) -> None:  # fmt: skip
        self.records, self.pairs, self.amount = records, pairs, amount
        self.groups = study.counts.group_names
        self.said = {message.name for message in study.counts.facts.messages}
        self.known = [outlay for outlay in records if outlay.known]
        best = self.known[0] if self.known else None
        # The cheapest with the others of its group that solved something, the next one first.
        self.own = [pair for pair in pairs if pair.first is best and pair.second.known]
        tested = (pair for pair in self.own if pair.difference.p_adjusted is not None)
        self.second = next(tested, None)
        self.ties = [pair for pair in self.own if pair.second.series in ties]

    @property
    def unpriced(self) -> bool:
        """Whether every attempt costs 0."""
        return all(outlay.unpriced for outlay in self.records)

    @property
    def passed(self) -> bool:
        """Whether an attempt passed."""
        return any(outlay.attempts.passed.any() for outlay in self.records)

    def name(self, outlay: Outlay) -> str:
        """A model with its groups."""
        return named(outlay.series, self.groups)

    @property
    def condition(self) -> dict[str, Any]:
        """What is counted, and which attempts it is about if amounts were missing."""
        noun, least = NOUNS[self.amount], _LEAST[self.amount]
        return {
            "dropped": noun if MISSING_COSTS_DROPPED.name in self.said else "",
            "estimated": noun if MISSING_COSTS_ESTIMATED.name in self.said else "",
            "least": least, "most": least.removeprefix("is ").removeprefix("needs ").capitalize(),
        }  # fmt: skip

    @property
    def of_groups(self) -> dict[str, Any]:
        """The cheapest model of each group: models are not ranked across groups."""
        first = grouped(self.known, lambda outlay: outlay.series[1:])
        leaders = [
            f"{own[0].series[0]} ({groups_named(group, self.groups)})"
            for group, own in first.items()
        ]
        return {**self.condition, "leaders": leaders}

    @property
    def fields(self) -> dict[str, Any]:
        """The cheapest model and its numbers, and the one that it is tested against.

        An estimate that was picked from several has no interval, and none is said of other tasks
        than those of the test.
        """
        best, several = self.known[0], len(self.known) > 1
        apart = any(not np.array_equal(best.tasks, pair.second.tasks) for pair in self.own)
        per_success = best.per_success.estimate
        fields = {
            **self.condition, "model": self.name(best), "cost": best.cost.estimate.bare,
            "rate": best.rate.estimate.bare, "shared": apart, "alike": not apart,
            "estimate": per_success.bare if several else per_success, "others": len(self.own),
            "reason": self.own[0].difference.estimate.reason if self.own else
            "no task that both have",
        }  # fmt: skip
        if self.second is None:
            return fields
        nearest = self.ties[0] if self.ties else self.second
        p = nearest.difference.p_adjusted or 0.0
        times = Estimate(1 / (self.second.ratio.estimate.value or math.inf), unit="ratio")
        tied = [pair.second for pair in self.ties]
        costs = (outlay.per_success.estimate.bare for outlay in tied)
        return {
            **fields, "other": self.name(nearest.second), "p": p, "relation": p_relation(p),
            "times": times, "ties": [*map(self.name, tied)],
            "highest": max(costs, key=lambda cost: cost.value or 0.0, default=None),
        }  # fmt: skip

    @property
    def changed(self) -> tuple[Rivalry, bool] | None:
        """The first pair with a lead that changes significantly with the budget, and whether its
        first model leads at small ones."""
        for pair in self.pairs:
            first, second = pair.ahead(True), pair.ahead(False)
            if first is not None and second is not None:
                return pair, first <= second
        return None

    @property
    def of_budgets(self) -> dict[str, Any]:
        """Who solves more up to which budget, and who from which on."""
        assert self.changed is not None
        pair, first = self.changed
        low, high = sorted(end for end in (pair.ahead(True), pair.ahead(False)) if end)
        models = (pair.first, pair.second) if first else (pair.second, pair.first)
        return {
            "low": low[1], "cheap": self.name(models[0]), "high": high[0],
            "big": self.name(models[1]), "unit": AMOUNTS[self.amount][0],
        }  # fmt: skip

    @property
    def without(self) -> list[str]:
        """The models that have no number, each with the reason."""
        return [
            f"{self.name(o)} ({o.per_success.estimate.reason if o.unpriced else 'no pass'})"
            for o in self.records if o.per_success.estimate.value is None
        ]  # fmt: skip

    @property
    def unsure(self) -> list[str]:
        """The models that may be cheaper than the first, as attempts lack their amount."""
        best = self.known[0]
        return [self.name(o) for o in self.records if o.may_be_below(best)]


_CONDITION = (
    "{?dropped|Of the attempts with a {dropped}, }{?estimated|With means for each missing"
    " {estimated}, }"
)
_CHEAPEST = _CONDITION + "{model} {least} per solved task"
_BY = "{?shared| on shared tasks}{?alike|: {estimate}}"
CHEAPEST = (
    Answer("no-price", lambda found: not found.known and found.unpriced,
           "Every attempt costs 0: without a price a solved task has no cost.", lambda _: {}),
    Answer("no-attempt-passed", lambda found: not found.known and not found.passed,
           "No attempt passed: the cost of a solved task has only a lower limit.", lambda _: {}),
    Answer("costs-not-known", lambda found: not found.known,
           "No model that solved a task has a cost of every attempt: costs have only a lower"
           " limit.", lambda _: {}),
    Answer("cost-of-one", lambda found: len(found.known) == 1,
           _CONDITION + "{model} solves a task for {estimate}: {cost} an attempt, pass@1 {rate}."),
    Answer("cheapest-by-group", lambda found: found.groups,
           _CONDITION + "{most} per solved task: {leaders}.", lambda found: found.of_groups),
    Answer("cheapest-untested", lambda found: found.second is None,
           _CHEAPEST + ": {estimate}; not tested: {reason}."),
    Answer("cheapest", lambda found: not found.ties,
           _CHEAPEST + _BY + "; {other} takes {times} times as much, p {relation}."),
    Answer("cheapest-tie", lambda found: len(found.ties) == 1,
           _CHEAPEST + _BY + "; {other} ties, p {relation}."),
    Answer("cheapest-ties", lambda _: True,
           _CHEAPEST + _BY + "; {ties} tie (up to {highest})."),
)  # fmt: skip
FURTHER = (
    Answer("budgets-decide",
           lambda found: len(found.known) > 1 and not found.groups and found.changed,
           "Up to {low:=@unit} a task {cheap} solves more, from {high:=@unit} on {big}.",
           lambda found: found.of_budgets),
    Answer("no-number", lambda found: found.known and found.without, "No number: {without}.",
           lambda found: {"without": found.without}),
    Answer("may-need-less", lambda found: found.known and found.unsure,
           "{unsure} may need less: attempts lack their {amounts}.",
           lambda found: {"unsure": found.unsure, "amounts": AMOUNTS[found.amount][1]}),
)  # fmt: skip
