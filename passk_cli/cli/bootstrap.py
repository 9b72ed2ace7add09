"""passk bootstrap: the distribution behind every number."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from passk_cli.cli.options import Certainty, Choice, Reading, option
from passk_cli.cli.output import Charting, Output


@dataclass(frozen=True)
class Draws:
    """Which facts of the distribution, and the draws themselves."""

    interval: Annotated[
        str,
        option(
            "--interval",
            metavar="METHODS|all",
            help="Intervals side by side, as guard,percentile,bca,basic,gaffke,jeffreys,t.",
        ),
    ] = ""
    weights: Annotated[
        str,
        option(
            "--weights",
            metavar="multinomial|dirichlet",
            show_default=True,
            help="The ordinary or the Bayesian bootstrap.",
        ),
    ] = "multinomial"
    draws: Annotated[
        str | None,
        option("--draws", metavar="FILE", help="Write the draws to a .csv or .parquet file."),
    ] = None


def bootstrap(
    reading: Reading,
    choice: Choice,
    wanted: Draws,
    certainty: Certainty,
    charting: Charting,
    output: Output,
) -> None:
    """Bias, errors, every interval side by side, who is best.

    Example: passk bootstrap runs/*.jsonl -k 1,10 --interval all --draws draws.parquet
    """
    from passk_cli.files.export import export_format, write_columns
    from passk_cli.report.bootstrap import (
        bootstrap_report,
        choose_methods,
        distributions,
        draw_columns,
    )

    output.check(reading.files, wanted.draws, charting=charting)
    target = Path(wanted.draws) if wanted.draws else None
    if target is not None:
        export_format(target)
    how = certainty.how()
    counts = reading.counts(cluster=certainty.cluster, **choice.known)
    methods = choose_methods(counts, wanted.interval, how)
    metrics = choice.of(counts)
    lines, found = distributions(
        counts, metrics, how, methods, short_tasks=choice.short_tasks, kind=wanted.weights
    )
    if target is not None:
        write_columns(target, draw_columns(counts, found))
    report = bootstrap_report(
        counts, metrics, how, methods, lines, found, wanted.weights, choice.short_tasks
    )
    output.write(report, charting)
