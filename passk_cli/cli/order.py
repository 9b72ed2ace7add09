"""passk order: does the order of attempts matter?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from passk_cli.cli.options import (
    Adjusting,
    Certainty,
    Interval,
    Reading,
    ShortTasks,
    not_empty,
    option,
)
from passk_cli.cli.output import Charting, Output


@dataclass(frozen=True)
class Order:
    """Which order, and for which k."""

    k: Annotated[
        list[str],
        option(
            "-k",
            metavar="1,2,4",
            help="first@k beside pass@k for these k. Default: 1, 2, 4, … and the most attempts that"
            " every task of some model has.",
        ),
    ] = field(default_factory=list)
    short_tasks: ShortTasks = "empty"
    order_from_lines: Annotated[
        bool,
        option(
            "--order-from-lines",
            help="Attempts were made in the order of the lines (of the files, of a list). Default:"
            " by attempt number or time; --field attempt=COLUMN names it.",
        ),
    ] = False


def order(
    reading: Reading,
    order: Order,
    adjusting: Adjusting,
    method: Interval,
    certainty: Certainty,
    charting: Charting,
    output: Output,
) -> None:
    """Does the order of attempts matter: trend, neighbours, copies, first@k.

    Example: passk order runs/*.jsonl --field attempt=trial -k 1,2,4
    """
    from passk_cli.metrics.registry import parse_ks
    from passk_cli.report.order import order_report
    from passk_cli.report.ordered import choose_ks
    from passk_cli.report.samples import check_short_tasks

    output.check(reading.files, charting=charting)
    check_short_tasks(order.short_tasks)
    asked = parse_ks(",".join(not_empty("-k", order.k))) if order.k else ()
    how = certainty.how(method.interval)
    role = "line" if order.order_from_lines else "attempt"
    counts = reading.counts(cluster=certainty.cluster, attempts=(role,))
    report = order_report(
        counts,
        choose_ks(counts, asked),
        how,
        adjust=adjusting.adjust,
        short_tasks=order.short_tasks,
        by_lines=order.order_from_lines,
    )
    output.write(report, charting)
