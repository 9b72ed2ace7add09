"""passk compare: which model is better."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from passk_cli.cli.options import (
    Adjusting,
    Certainty,
    Choice,
    Interval,
    Reading,
    not_empty,
    option,
    with_model,
)
from passk_cli.cli.output import Charting, Output


@dataclass(frozen=True)
class Judging:
    """How pairs are made and judged."""

    baseline: Annotated[
        str | None,
        option("--baseline", metavar="NAME", help="Compare each model with this one only."),
    ] = None
    test: Annotated[
        str | None,
        option(
            "--test",
            metavar="sign-flip|mid-p|t|interval|within-tasks",
            help="Paired by task. Default: sign-flip (McNemar's exact test where n = 1), interval"
            " where attempts differ, within-tasks for these tasks. mid-p counts ties by half: more"
            " power, less guarantee.",
        ),
    ] = None
    family: Annotated[
        str,
        option(
            "--family",
            metavar="primary|all",
            show_default=True,
            help="Adjust over the pairs at the first metric, other metrics each by itself; or over"
            " all metrics together.",
        ),
    ] = "primary"
    margin: Annotated[
        float,
        option("--margin", metavar="X", help="Differences inside ±X are equivalent."),
    ] = 0.0
    unpaired: Annotated[
        str,
        option(
            "--unpaired",
            metavar="drop|error",
            show_default=True,
            help="Tasks that only one of two models has.",
        ),
    ] = "drop"
    crossings: Annotated[
        bool, option("--crossings", help="The k at which one model overtakes another.")
    ] = False
    sensitivity: Annotated[
        str | None,
        option(
            "--sensitivity",
            metavar="COLUMN",
            help="Do verdicts survive without each group, and with half the attempts?",
        ),
    ] = None


def compare(
    reading: Reading,
    choice: Choice,
    judging: Judging,
    adjusting: Adjusting,
    method: Interval,
    certainty: Certainty,
    charting: Charting,
    output: Output,
) -> None:
    """Which model is better; which cannot be told apart.

    Example: passk compare runs/*.jsonl --baseline gpt-4 -k 1,10 --margin 0.02
    """
    from passk_cli.report.compare import compare_report
    from passk_cli.report.pairs import Rules
    from passk_cli.report.sensitivity import sensitivity_table

    output.check(reading.files, charting=charting)
    rules = Rules(
        judging.test, adjusting.adjust, judging.margin, judging.unpaired, judging.family
    ).checked()
    how = certainty.how(method.interval, required=True)
    split = judging.sensitivity
    not_empty("--baseline", [] if judging.baseline is None else [judging.baseline])
    reading = replace(reading, models=with_model(reading.models, judging.baseline))
    more_by = (split,) if split else ()
    read = reading.counts(cluster=certainty.cluster, more_by=more_by, **choice.known)
    counts = read.without_group(split) if split else read
    metrics = choice.of(counts)
    extra = None
    if split:
        extra = sensitivity_table(
            read, split, metrics, how, rules, judging.baseline, choice.short_tasks
        )
    report = compare_report(
        counts,
        metrics,
        how,
        rules,
        baseline=judging.baseline,
        short_tasks=choice.short_tasks,
        crossings=judging.crossings,
        extra=extra,
    )
    output.write(report, charting)
