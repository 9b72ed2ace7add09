"""What qualifies numbers, in sentences that every command shares."""

from __future__ import annotations

from collections.abc import Sequence

from passk_cli.report.model import Note
from passk_cli.study.fact import Fact
from passk_cli.study.words import first_few, series_name


def short_notes(facts: Sequence[Fact], short_tasks: str) -> list[Note]:
    """One warning per model and cause: which metrics some of its tasks are too short for."""
    metrics: dict[tuple[str, str], list[str]] = {}
    for fact in facts:
        if fact.estimate.reason:
            state = "empty" if fact.estimate.value is None else "without those tasks"
            cause = f"{state}: {fact.estimate.reason}"
            metrics.setdefault((series_name(fact.series), cause), []).append(fact.name)
    remedy = "" if short_tasks == "drop" else "; --short-tasks drop uses the tasks with n ≥ k"
    return [
        Note(f"{', '.join(names)} of {who} {cause}{remedy}", "warning")
        for (who, cause), names in metrics.items()
    ]


def flaw_notes(facts: Sequence[Fact]) -> list[Note]:
    """One note per thing that is special about intervals, with the numbers it is true of."""
    numbers: dict[str, list[str]] = {}
    for fact in facts:
        if fact.flaw:
            numbers.setdefault(fact.flaw, []).append(f"{fact.name} of {series_name(fact.series)}")
    return [Note(f"{first_few(who)}: {flaw}") for flaw, who in numbers.items()]
