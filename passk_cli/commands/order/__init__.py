"""The command `passk order`, which tests whether attempts depend on their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import MetricOptions, parse_k_values
from passk_cli.study.significance_options import ComparisonOptions


@dataclass(frozen=True)
class OrderOptions:
    """Test whether attempts depend on their order.

    pass@k assumes that the attempts at a task are independent. The command runs three tests: for a
    trend over attempts, for a correlation of successive attempts, and for pairs of attempts that
    agree more often than independent attempts would.

    # test whether later attempts pass more often
    passk order sample_data/tau_airline.csv

    # test the attempts at one temperature
    passk order sample_data/cruxeval.jsonl.gz --where "temperature > 0.5" -k 1,2,4

    # use the order of lines if attempts have no number
    passk order sample_data/agents.jsonl --order-from-lines
    """

    # fmt: off
    k: Annotated[tuple[int, ...], Option(
        "-k", "1,2,4", "Compare first@k with pass@k at these values of k.", parse=parse_k_values,
        detail="By default, k is 1, 2, 4, … up to the largest k for which all tasks of at least one"
        " model have enough attempts.")] = ()
    order_from_lines: Annotated[bool, Option(
        "--order-from-lines", help="Use the order of lines in the files as the order of attempts.",
        detail="By default, passk orders attempts by number or time. If the number or time is in"
        " another column, name the column with --field attempt=COLUMN.")] = False
    # fmt: on


COMMAND = Command(
    OrderOptions, (Request, MetricOptions, ComparisonOptions, Confidence), has_charts=True,
    excluded_options=("metrics", "test", "family", "margin", "unpaired", "bounds"),
    runner_path="passk_cli.commands.order.view:OrderRunner")  # fmt: skip
