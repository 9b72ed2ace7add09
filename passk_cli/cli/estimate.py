"""passk estimate: every metric of every model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.cli.options import Certainty, Choice, Interval, Reading, option
from passk_cli.cli.output import Output


@dataclass(frozen=True)
class Order:
    """The order of the models."""

    sort: Annotated[
        str,
        option(
            "--sort",
            metavar="COLUMN",
            help="Order by model, a group, a metric or tasks. Default: the first metric.",
        ),
    ] = ""


def estimate(
    reading: Reading,
    choice: Choice,
    order: Order,
    method: Interval,
    certainty: Certainty,
    output: Output,
) -> None:
    """pass@k and pass^k of every model, and how sure they are.

    Example: passk estimate runs/*.jsonl -k 1,5 --by temperature
    """
    from passk_cli.report.estimate import estimate_report

    output.check(reading.files)
    how = certainty.how(method.interval)
    counts = reading.counts(cluster=certainty.cluster, **choice.known)
    report = estimate_report(
        counts,
        choice.of(counts),
        how,
        short_tasks=choice.short_tasks,
        sort=order.sort,
        hint=choice.hint(counts),
    )
    output.write(report)
