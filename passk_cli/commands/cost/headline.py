"""The answer of `passk cost`: which model has the lowest cost per solved task."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from passk_cli.arrays import group_by
from passk_cli.commands.cost.summary import CostComparison, CostSummary
from passk_cli.files.attempts.cost_checks import (
    AMOUNT_NOUNS,
    MISSING_COSTS_DROPPED_WARNING,
    MISSING_COSTS_ESTIMATED_WARNING,
)
from passk_cli.metrics.registry import AMOUNT_UNITS_AND_NOUNS
from passk_cli.report.data_types import Estimate
from passk_cli.report.phrases import p_sign_and_number_text
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer
from passk_cli.study.value_range import name_with_groups, named_group_values
from passk_cli.study.values import SeriesKey

_CHEAPEST_PHRASE_BY_AMOUNT = {
    "cost": "is cheapest", "tokens": "needs fewest tokens",
    "tokens_in": "needs fewest input tokens", "tokens_out": "needs fewest output tokens",
    "duration": "is quickest", "turns": "needs fewest turns",
}  # fmt: skip


def cost_sentence_fields(
    study: Analysis, records: Sequence[CostSummary], pairs: Sequence[CostComparison],
    ties: Mapping[SeriesKey, CostComparison], amount: str,
) -> dict[str, Any]:  # fmt: skip
    """The fields of the answer: the cheapest model, tied models, and models without a cost.

    If there are several models, the lowest cost has no interval. If models have different tasks,
    the answer contains only numbers for the shared tasks.
    """
    groups, noun, least = (
        study.counts.group_names,
        AMOUNT_NOUNS[amount],
        _CHEAPEST_PHRASE_BY_AMOUNT[amount],
    )
    message_names = {message.name for message in study.counts.read_facts.messages}

    def name(summary: CostSummary) -> str:
        return name_with_groups(summary.series, groups)

    ranked = [summary for summary in records if summary.is_success_cost_known]
    fields: dict[str, Any] = {
        "known": len(ranked), "groups": groups, "amounts": AMOUNT_UNITS_AND_NOUNS[amount][1],
        "least": least,
        "most": least.removeprefix("is ").removeprefix("needs ").capitalize(),
        "dropped": noun if MISSING_COSTS_DROPPED_WARNING.name in message_names else "",
        "estimated": noun if MISSING_COSTS_ESTIMATED_WARNING.name in message_names else "",
        "unpriced": all(summary.has_only_zero_costs for summary in records),
        "passed": any(summary.attempts.pass_count.any() for summary in records),
        "without": [f"{name(o)}"
            f" ({o.cost_per_success.estimate.reason if o.has_only_zero_costs else 'no pass'})"
                    for o in records if o.cost_per_success.estimate.value is None],
    }  # fmt: skip
    if not ranked:
        return fields
    best, first = ranked[0], group_by(ranked, lambda summary: summary.series[1:])
    best_pairs = [
        pair for pair in pairs if pair.first is best and pair.second.is_success_cost_known
    ]
    tied = [pair for pair in best_pairs if pair.second.series in ties]
    tested = [pair for pair in best_pairs if pair.difference.p_adjusted is not None]
    same_tasks = all(np.array_equal(best.task_codes, pair.second.task_codes) for pair in best_pairs)
    per_success = best.cost_per_success.estimate
    fields |= {
        "model": name(best), "cost": best.cost_per_attempt.estimate.without_interval,
        "rate": best.pass_rate.estimate.without_interval,
        "estimate": per_success if len(ranked) == 1 else per_success.without_interval,
        "alike": same_tasks, "shared": not same_tasks, "tested": bool(tested),
        "ties": [name(pair.second) for pair in tied],
        "reason": best_pairs[0].difference.estimate.reason if best_pairs
        else "no task that both models have",
        "unsure": [name(summary) for summary in records
            if summary.is_lower_limit_below_cost_of(best)],
        "leaders": [f"{models[0].series[0]} ({named_group_values(group, groups)})"
                    for group, models in first.items()] if groups else [],
    }  # fmt: skip
    if tested:
        nearest, second = (tied or tested)[0], tested[0].ratio.estimate.value
        p, prices = nearest.difference.p_adjusted or 0.0, [
            pair.second.cost_per_success.estimate.without_interval for pair in tied
        ]  # fmt: skip
        fields |= {
            "other": name(nearest.second), "p": p, "relation": p_sign_and_number_text(p),
            "times": Estimate(1 / (second or math.inf), unit="ratio"),
            "highest": max(prices, key=lambda price: price.value or 0.0, default=None),
        }  # fmt: skip
    for pair in pairs if len(ranked) > 1 and not groups else ():
        ahead = [
            (pair.budget_range_ahead(True), pair.first),
            (pair.budget_range_ahead(False), pair.second),
        ]
        (low, cheap), (high, big) = sorted(ahead, key=lambda side: side[0] or (math.inf,))
        if low is not None and high is not None:
            return fields | {"low": low[1], "cheap": name(cheap), "high": high[0],
                             "big": name(big),
                             "unit": AMOUNT_UNITS_AND_NOUNS[amount][0]}  # fmt: skip
    return fields


_MISSING_COST_CLAUSE = (
    "{?dropped|For attempts with a {dropped}, }{?estimated|With mean values in place of each"
    " missing {estimated}, }"
)
CHEAPEST_MODEL_ANSWERS = (
    Answer("no-price", lambda fields: not fields["known"] and fields["unpriced"],
           "Every attempt costs 0. Without a price, a solved task has no cost."),
    Answer("no-attempt-passed", lambda fields: not fields["known"] and not fields["passed"],
           "No attempt passed, so only a lower limit of the cost of a solved task is known."),
    Answer("costs-not-known", lambda fields: not fields["known"],
           "Every model that solved a task has attempts without a cost, so only lower limits of the"
           " costs are known."),
    Answer("cost-of-one", lambda fields: fields["known"] == 1,
           _MISSING_COST_CLAUSE + "{model} solves a task for {estimate}: {cost} per attempt,"
               " pass@1 {rate}."),
    Answer("cheapest-by-group", lambda fields: fields["groups"],
           _MISSING_COST_CLAUSE + "{most} per solved task: {leaders}."),
    Answer("cheapest-untested", lambda fields: not fields["tested"],
           _MISSING_COST_CLAUSE + "{model} {least} per solved task: {estimate}. The difference"
           " was not tested: {reason}."),
    Answer("cheapest", lambda fields: not fields["ties"],
           _MISSING_COST_CLAUSE + "{model} {least} per solved task{?shared| on shared tasks}"
           "{?alike|: {estimate}}; {other} needs {times} times as much, p {relation}."),
    Answer("cheapest-tie", lambda fields: len(fields["ties"]) == 1,
           _MISSING_COST_CLAUSE + "{model} {least} per solved task{?shared| on shared tasks}"
           "{?alike|: {estimate}}; {other} is tied with it, p {relation}."),
    Answer("cheapest-ties", lambda _: True,
           _MISSING_COST_CLAUSE + "{model} {least} per solved task{?shared| on shared tasks}"
           "{?alike|: {estimate}}; {ties} are tied with it (up to {highest})."),
)  # fmt: skip
FURTHER_COST_ANSWERS = (
    Answer("budgets-decide", lambda fields: "low" in fields,
           "With a budget of up to {low:=@unit} per task, {cheap} solves more tasks than {big}."
           " With a budget of {high:=@unit} or more, {big} solves more tasks than {cheap}."),
    Answer("no-number", lambda fields: fields["known"] and fields["without"],
           "There is no cost per solved task for {without}."),
    Answer("may-need-less", lambda fields: fields["known"] and fields["unsure"],
           "{unsure} may need less per solved task, because some attempts have no {amounts}."),
)  # fmt: skip
