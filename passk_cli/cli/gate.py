"""passk gate: rules for a pipeline, and an exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

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
from passk_cli.cli.process import leave_if_signalled
from passk_cli.errors import PasskError
from passk_cli.files.sources import base_name, is_file_argument, without

if TYPE_CHECKING:
    from passk_cli.report.model import Report


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
    unpaired: Annotated[
        str,
        option(
            "--unpaired",
            metavar="fail|drop",
            show_default=True,
            help="Tasks of the baseline without attempts in the new run: fail, or compare the"
            " others.",
        ),
    ] = "fail"
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
    from passk_cli.report.gate import exit_code

    with visible_failure(output, file=False):
        runs = apart(reading.files, ruling.baseline)
        output.check([*reading.files, *runs.baseline])
    with visible_failure(output):
        report = judge(reading, runs, ruling, choice, adjusting, method, certainty)
    output.write_verdict(report)
    if code := exit_code(report.checks):
        raise typer.Exit(code)


def judge(
    reading: Reading,
    runs: Runs,
    ruling: Ruling,
    choice: Choice,
    adjusting: Adjusting,
    method: Interval,
    certainty: Certainty,
) -> Report:
    """Both sides read, and every rule judged."""
    from passk_cli.metrics.registry import needs, scores_only
    from passk_cli.report.baseline import against, alone, within
    from passk_cli.report.gate import Gate, GateRules, gate_report, parse_limits
    from passk_cli.report.model import Note
    from passk_cli.report.pairs import Rules

    rules = GateRules(
        parse_limits("--max-drop", ruling.max_drop),
        parse_limits("--min", ruling.minimum),
        ruling.no_regression,
        ruling.strict,
        ruling.on_undecided,
        ruling.unpaired,
    ).checked()
    judging = Rules(adjust=adjusting.adjust).checked()
    how = certainty.how(method.interval, required=True)
    metrics = rules.metrics(choice.named)
    standard = rules.no_regression and not choice.named
    asked: dict[str, Any] = {
        "cluster": certainty.cluster,
        "attempts": needs(metrics),
        "scores_only": scores_only(metrics) and not standard,
    }
    name = None if runs.baseline else ruling.baseline
    kept = with_model(reading.models, name)
    counts = replace(reading, files=runs.files, models=kept).counts(**asked)
    if runs.baseline:
        baseline = replace(reading, files=runs.baseline, models=[]).counts(**asked)
        sides = against(counts, baseline, runs.label, reading.models)
    else:
        sides = alone(counts) if name is None else within(counts, name)
    # The baseline says what has to be shown: a new run cut short must not ask for less.
    tested = choice.of(sides.baseline or counts)
    report = gate_report(counts, Gate(sides, rules, how, judging, tested, choice.short_tasks))
    notes = (*(Note(text) for text in runs.notes), *report.notes)
    return replace(report, notes=notes)


@dataclass(frozen=True)
class Runs:
    """The files of the new run and, where it is a file, that of the baseline with its name."""

    files: list[str]
    baseline: list[str] = field(default_factory=list)
    label: str = ""
    notes: tuple[str, ...] = ()


def apart(files: list[str], baseline: str | None) -> Runs:
    """The baseline's file apart from the new run's, whose globs and folders leave it out.

    A file that is both and alone is compared with itself.
    """
    not_empty("--baseline", [] if baseline is None else [baseline])
    if baseline is None or not is_file_argument(baseline):
        return Runs(files)
    others = without(files, baseline)
    name = base_name(baseline)
    if others == files:
        return Runs(files, [baseline], name)
    if not others:
        same = f"no change: {name} is both the new run and the baseline"
        return Runs(files, [baseline], name, (same,))
    left = f"{name} is the baseline, and left out of the new run"
    return Runs(others, [baseline], name, (left,))


@contextmanager
def visible_failure(output: Output, file: bool = True) -> Iterator[None]:
    """An error shows as well where a pipeline looks: GitHub's log, or JUnit's file if allowed."""
    try:
        yield
    except PasskError as error:
        leave_if_signalled()
        output.write_failure(str(error), file=file)
        raise
