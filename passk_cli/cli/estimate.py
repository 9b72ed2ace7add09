"""passk estimate: every metric of every model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.cli.options import Choice, Output, Reading, option


@dataclass(frozen=True)
class Order:
    """How the models are ordered."""

    sort: Annotated[
        str,
        option(
            "--sort",
            metavar="COLUMN",
            help="Order by model, a group, a metric or tasks. Default: the first metric.",
        ),
    ] = ""


def estimate(reading: Reading, choice: Choice, order: Order, output: Output) -> None:
    """pass@k and pass^k of every model.

    Example: passk estimate runs/*.jsonl -k 1,5 --by temperature
    """
    from passk_cli.report.estimate import estimate_report

    output.check()
    counts = reading.counts()
    metrics = choice.of(counts)
    output.write(estimate_report(counts, metrics, short_tasks=choice.short_tasks, sort=order.sort))
