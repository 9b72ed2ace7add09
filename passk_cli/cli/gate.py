"""passk gate: rules for a pipeline, and an exit code."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Annotated

import typer

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
from passk_cli.cli.output import Output


@dataclass(frozen=True)
class Ruling:
    """What is asked of the candidates."""

    baseline: Annotated[
        str | None,
        option(
            "--baseline",
            metavar="FILE|NAME",
            help="What to compare with: a file, label=path, or a model in the data.",
        ),
    ] = None
    max_drop: Annotated[
        list[str],
        option("--max-drop", metavar="METRIC=X", help="Fails when the drop is credibly larger."),
    ] = field(default_factory=list)
    minimum: Annotated[
        list[str],
        option("--min", metavar="METRIC=X", help="Fails when the estimate is below."),
    ] = field(default_factory=list)
    strict: Annotated[
        bool, option("--strict", help="--min asks it of the lower limit of the interval.")
    ] = False
    no_regression: Annotated[
        bool, option("--no-regression", help="Fails on any significant drop, adjusted.")
    ] = False
    on_undecided: Annotated[
        str,
        option(
            "--on-undecided",
            metavar="pass|fail",
            show_default=True,
            help="What a rule without enough evidence counts as.",
        ),
    ] = "pass"


def gate(
    reading: Reading,
    ruling: Ruling,
    choice: Choice,
    adjusting: Adjusting,
    method: Interval,
    certainty: Certainty,
    output: Output,
) -> None:
    """Rules for a pipeline: exit 0 when all hold, else 1.

    Example: passk gate new.jsonl --baseline old.jsonl --max-drop pass@1=0.02 --min pass@10=0.8
    """
    from passk_cli.estimators.metric import needs, scores_only
    from passk_cli.report.gate import GateRules, failed, gate_report, parse_limits
    from passk_cli.report.pairs import Rules

    output.check(reading.files)
    rules = GateRules(
        parse_limits("--max-drop", ruling.max_drop),
        parse_limits("--min", ruling.minimum),
        ruling.no_regression,
        ruling.strict,
        ruling.on_undecided,
    ).checked()
    judging = Rules(adjust=adjusting.adjust).checked()
    how = certainty.how(method.interval, required=True)
    files, baseline = with_baseline(reading.files, ruling.baseline)
    kept = with_model(reading.models, baseline)
    metrics = rules.metrics(choice.named)
    standard = rules.no_regression and not choice.named
    counts = replace(reading, files=files, models=kept).counts(
        cluster=certainty.cluster,
        attempts=needs(metrics),
        scores_only=scores_only(metrics) and not standard,
    )
    report = gate_report(
        counts, baseline, rules, how, judging, choice.of(counts), choice.short_tasks
    )
    output.write(report)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if output.format == "github" and summary:
        output.append(report, "markdown", summary)
    if failed(report.checks, rules.on_undecided):
        raise typer.Exit(1)


def with_baseline(files: list[str], baseline: str | None) -> tuple[list[str], str | None]:
    """The files to read and the baseline's name; a baseline that is a file is read too."""
    from passk_cli.outcomes.sources import is_file_argument, with_label

    not_empty("--baseline", [] if baseline is None else [baseline])
    if baseline is None or not is_file_argument(baseline):
        return files, baseline
    name, argument = with_label(baseline, "baseline")
    return [*files, argument], name
