"""passk plan: how many tasks, how many attempts."""

from __future__ import annotations

from passk_cli.cli.options import Choice, OptionalReading, not_empty
from passk_cli.cli.output import Charting, Output
from passk_cli.cli.plan_options import Assuming, Designing
from passk_cli.errors import ParameterError


def plan(
    pilot: OptionalReading,
    assuming: Assuming,
    choice: Choice,
    designing: Designing,
    charting: Charting,
    output: Output,
) -> None:
    """How many tasks and attempts: standard errors, what they detect, what they cost.

    Example: passk plan pilot.jsonl -k 1,5 --detect 0.03 --budget 5000
    """
    from passk_cli.report.basis import assumed_metrics, assumed_rates, check_metrics
    from passk_cli.report.plan import plan_report

    output.check(pilot.files, charting=charting)
    aims = designing.aims()
    rates = assumed_rates(assuming.mean, assuming.spread, bool(pilot.files))
    check_metrics(choice.named)
    if rates and (pilot != OptionalReading() or choice.short_tasks != "empty"):
        raise ParameterError("without a pilot there is nothing to read or leave out; name its FILE")
    counts = None if rates else pilot.counts()
    ks = ",".join(not_empty("-k", choice.k))
    report = plan_report(
        choice.of(counts) if counts else assumed_metrics(ks, choice.named),
        aims,
        counts=counts,
        rates=rates,
        correlation=assuming.correlation,
        short_tasks=choice.short_tasks,
        few=not (choice.k or choice.metrics) and counts is not None,
    )
    output.write(report, charting)
