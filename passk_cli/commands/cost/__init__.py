"""passk cost: what a solved task costs, and what a budget solves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

from passk_cli.commands.command import Command
from passk_cli.errors import ParameterError
from passk_cli.files.request import Request
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import AttemptCountOptions
from passk_cli.suggested_fix import OptionWithValue

# The names in AMOUNT_NAMES repeat `metrics.registry.AMOUNT_UNITS_AND_NOUNS`, because importing
# `metrics.registry` would slow down `--help`.
AMOUNT_NAMES = ("cost", "tokens", "tokens_in", "tokens_out", "duration", "turns")


def parse_budgets(value: Any) -> tuple[float, ...]:
    """Parse budgets such as "0.05,$2", and raise ParameterError if a budget is not above 0."""
    text = ",".join(map(str, value))
    try:
        budgets = {float(part.strip().removeprefix("$")) for part in text.split(",")}
    except ValueError:
        budgets = {math.nan}
    if not all(0 < budget < math.inf for budget in budgets):
        problem = "the budgets must be above 0, for example 0.05,0.50,2"
        raise ParameterError(OptionWithValue("--at", text), problem)
    return tuple(sorted(budgets))


@dataclass(frozen=True)
class CostOptions:
    """Measure what a solved task costs.

    The cost per solved task is the mean cost of an attempt divided by pass@1. pass@$b is the
    probability that repeated attempts solve a task before the budget b is spent.

    # compute the cost of a solved task
    passk cost sample_data/costs.csv

    # compute the share of tasks that three budgets solve
    passk cost sample_data/costs.csv --at 0.30,1,2.50

    # use the duration instead of the cost
    passk cost sample_data/costs.csv --of duration
    """

    # fmt: off
    of: Annotated[str, Option(
        "--of", help="The cost or other amount to analyse.", choices=AMOUNT_NAMES,
        detail="cost is in US dollars, and duration is in seconds. If the amount is in another"
               " column, name the column with --field cost=COLUMN.",
    )] = "cost"
    at: Annotated[tuple[float, ...], Option(
        "--at", "B,…", "Budgets per task for pass@$b, such as 0.05,0.50,2.",
        parse=parse_budgets,
        detail="A budget has the unit of the amount that --of sets. By default, passk chooses three"
               " budgets from the data.")] = ()
    # fmt: on


COMMAND = Command(
    CostOptions, (Request, AttemptCountOptions, Confidence),
    excluded_options=("interval", "bounds"),
    has_charts=True,
    absent_option_reasons=dict.fromkeys(("--cascade", "cascade"),
        "cascades of two models were removed"),
    runner_path="passk_cli.commands.cost.view:CostRunner")  # fmt: skip
