"""The command `passk plan`, which shows how many tasks and attempts the next run needs."""

from __future__ import annotations

from dataclasses import dataclass

from passk_cli.commands.command import Command
from passk_cli.commands.plan.parameters import PlanParameters
from passk_cli.files.request import Request
from passk_cli.study.metric_selection import MetricOptions


@dataclass(frozen=True)
class PlanOptions(PlanParameters):
    """Plan the tasks and attempts of the next run.

    From a pilot file or from assumed success rates, the plan shows how many tasks you need to
    detect a difference, which difference and interval width you get with other numbers of tasks and
    attempts, and the best split of a budget.

    # find the number of tasks that detects a difference of 5 points
    passk plan sample_data/tau_airline.csv --detect 0.05

    # find the best split of 5,000 attempts into tasks and repetitions
    passk plan sample_data/tau_airline.csv --budget 5000

    # plan without a pilot, from an assumed mean and spread
    passk plan --mean 0.6 --spread 0.3 --tasks 200,800 --attempts 1,10
    """


COMMAND = Command(
    PlanOptions, (Request, MetricOptions), file_requirement="optional", has_charts=True,
    absent_option_reasons=dict.fromkeys(
        ("--cost-per-label", "cost_per_label"), "passk judge shows how many labels you need"
    ),
    runner_path="passk_cli.commands.plan.view:PlanRunner")  # fmt: skip
