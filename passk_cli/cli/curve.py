"""passk curve: coverage and reliability over k."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from passk_cli.cli.options import (
    Certainty,
    Interval,
    OptionalReading,
    ShortTasks,
    not_empty,
    option,
)
from passk_cli.cli.output import Charting, Output
from passk_cli.errors import ParameterError


@dataclass(frozen=True)
class Shape:
    """Which curves."""

    rates: Annotated[
        list[str],
        option(
            "--rates",
            metavar="NAME=P,P,…",
            help="Exact success rates of tasks, as mixed=0,1, instead of files; a file may have"
            " a column rate as well. Repeatable.",
        ),
    ] = field(default_factory=list)
    points: Annotated[
        str,
        option(
            "--points",
            metavar="N|all",
            show_default=True,
            help="Every k where there are no more than N, else about N on a log scale.",
        ),
    ] = "40"
    max_k: Annotated[
        int | None,
        option(
            "--max-k",
            metavar="K",
            help="The last k. Default: the smallest n of each model (the largest with"
            " --short-tasks drop); 10 for exact rates.",
        ),
    ] = None
    band: Annotated[
        str,
        option(
            "--band",
            metavar="pointwise|simultaneous",
            show_default=True,
            help="Intervals for each k by itself, or for both curves of a model at all k.",
        ),
    ] = "pointwise"
    delta: Annotated[
        bool, option("--delta", help="What uneven tasks do: Δ_k, coverage deficit, moments.")
    ] = False
    metrics: Annotated[
        list[str],
        option("-m", "--metric", metavar="NAMES", help="Further curves, as maj@k,gpass@k:0.5."),
    ] = field(default_factory=list)
    short_tasks: ShortTasks = "empty"


def curve(
    reading: OptionalReading,
    shape: Shape,
    method: Interval,
    certainty: Certainty,
    charting: Charting,
    output: Output,
) -> None:
    """Coverage (pass@k) and reliability (pass^k) over k.

    Example: passk curve results.jsonl --delta --chart curves.html
    """
    from passk_cli.files.rates import exact_rates
    from passk_cli.metrics.registry import needs
    from passk_cli.report.curve import Plan
    from passk_cli.report.curve_counts import curve_report
    from passk_cli.report.curve_more import parse_curves
    from passk_cli.report.curve_rates import rates_report

    output.check(reading.files, charting=charting)
    more = parse_curves(",".join(not_empty("-m", shape.metrics)))
    plan = Plan.of(shape.points, shape.max_k, shape.band, shape.delta, shape.short_tasks, more)
    how = certainty.how(method.interval)
    given = not_empty("--rates", shape.rates)
    families = exact_rates(given, reading.files, reading.request(cluster=certainty.cluster))
    if families and more:
        raise ParameterError("-m: exact rates say nothing of what attempts are; leave it out")
    if families:
        report = rates_report(families, plan)
    else:
        counts = reading.counts(cluster=certainty.cluster, attempts=needs(more))
        report = curve_report(counts, how, plan)
    output.write(report, charting)
