"""The command `passk estimate`, which estimates metrics of each model with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import MetricOptions


@dataclass(frozen=True, eq=False, repr=False)
class EstimateOptions:
    """Estimate pass@k and pass^k, with intervals.

    pass@k is the probability that at least one of k attempts passes, and pass^k is the probability
    that all k pass. The table has one row per model and one column per metric. Each estimate has a
    95 % confidence interval.

    # estimate pass@k and pass^k of every model
    passk estimate sample_data/tau_airline.csv

    # estimate pass@1 and pass@5 at each temperature
    passk estimate sample_data/cruxeval.jsonl.gz -k 1,5 --by temperature

    # draw the estimates with their intervals
    passk estimate sample_data/agents.jsonl -k 1 --chart estimates.svg
    """

    # fmt: off
    sort: Annotated[str, Option(
        "--sort", "COLUMN", "Sort rows by a column (default: the first metric).",
        detail="COLUMN can be model, tasks, a group or a metric. A minus before the name of a"
        " column reverses the order.")] = ""
    # fmt: on


COMMAND = Command(
    EstimateOptions, (Request, MetricOptions, Confidence), has_charts=True, has_methods_text=True,
    runner_path="passk_cli.commands.estimate.view:EstimateRunner")  # fmt: skip
