"""What reading did to the data, and how sampling shaped it, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_cli.report.model import Note
from passk_cli.report.stopping import stopping_notes
from passk_cli.report.words import first_few as first_few
from passk_cli.report.words import plural as plural

if TYPE_CHECKING:
    from passk_cli.outcomes.model import Counts


def reading_notes(counts: Counts) -> list[Note]:
    """One note for each thing that happened between sampling and the counts."""
    facts = counts.facts
    notes = []
    if facts.skipped:
        notes.append(Note(f"{plural(facts.skipped, 'line')} skipped that held no record"))
    if facts.missing:
        became = {"fail": "counted as failures", "drop": "left out"}.get(facts.missing_policy)
        if became:
            notes.append(Note(f"{plural(facts.missing, 'attempt')} without an outcome {became}"))
    if facts.emptied:
        notes.append(
            Note(f"{plural(facts.emptied, 'task')} left without any attempt of a model", "warning")
        )
    if facts.duplicates and facts.duplicates_policy in ("first", "last"):
        kept = facts.duplicates_policy
        notes.append(
            Note(f"{plural(facts.duplicates, 'repeated attempt')} left out, the {kept} kept")
        )
    if facts.unnumbered:
        notes.append(
            Note(f"{plural(facts.unnumbered, 'attempt')} without a number: not checked for repeats")
        )
    if facts.pooled_unnumbered:
        notes.append(
            Note(
                "several files hold attempts of one model without numbers: they are pooled, and"
                " repeats between them cannot be seen"
            )
        )
    for role, known in counts.attempts.items():
        columns = dict.fromkeys(one.roles[role] for one in facts.inputs if role in one.roles)
        if columns:
            what = "attempts are ordered by" if role == "attempt" else f"{role}s are read from"
            notes.append(Note(f"{what} {', '.join(columns)}"))
        if known.valueless:
            none = {"answer": "they never win", "solution": "they count as one solution"}[role]
            notes.append(Note(f"{plural(known.valueless, 'attempt')} without {role}: {none}"))
    for name in facts.varying:
        notes.append(
            Note(
                f"attempts of one model at one task differ in {name} and are pooled;"
                f" --by {name} keeps them apart",
                "warning",
            )
        )
    return notes + stopping_notes(counts)
