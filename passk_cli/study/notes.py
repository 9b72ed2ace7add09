"""What qualifies numbers: what reading did, how sampling shaped it, what is special about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from passk_cli.report.model import Note
from passk_cli.report.words import first_few, plural, series_name
from passk_cli.study.fact import Fact
from passk_cli.study.losses import loss_notes
from passk_cli.study.stopping import stopping_notes

if TYPE_CHECKING:
    from passk_cli.outcomes.counts import Counts


def reading_notes(counts: Counts) -> list[Note]:
    """One note for each thing that happened between sampling and the counts."""
    facts = counts.facts
    notes = [Note(text, "warning") for text in facts.warnings]
    notes += [Note(text, "warning") for text in _spellings(counts)]
    notes += [Note(text) for text in facts.remarks]
    notes += _runs(counts)
    if facts.foreign:
        notes.append(
            Note(
                f"{plural(len(facts.foreign), 'file')} without results passed over:"
                f" {first_few([name.rsplit('/', 1)[-1] for name in facts.foreign])}"
            )
        )
    if facts.without_outcome:
        notes.append(
            Note(
                f"{plural(len(facts.without_outcome), 'file')} without this outcome passed over:"
                f" {first_few([name.rsplit('/', 1)[-1] for name in facts.without_outcome])}",
                "warning",
            )
        )
    if facts.skipped:
        notes.append(Note(f"{plural(facts.skipped, 'line')} skipped that held no record"))
    notes += loss_notes(facts)
    if facts.emptied:
        notes.append(
            Note(f"{plural(facts.emptied, 'task')} left without any attempt of a model", "warning")
        )
    if facts.duplicates and facts.duplicates_policy in ("first", "last"):
        policy = facts.duplicates_policy
        notes.append(
            Note(f"{plural(facts.duplicates, 'repeated attempt')} left out, the {policy} kept")
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
    for role, attempts in counts.attempts.items():
        columns = dict.fromkeys(file.roles[role] for file in facts.inputs if role in file.roles)
        if columns:
            verb = "attempts are ordered by" if role == "attempt" else f"{role}s are read from"
            notes.append(Note(f"{verb} {', '.join(columns)}"))
        if attempts.valueless:
            none = {"answer": "they never win"}.get(role, f"they count as one {role}")
            notes.append(Note(f"{plural(attempts.valueless, 'attempt')} without {role}: {none}"))
    for name in facts.varying:
        notes.append(
            Note(
                f"attempts of one model at one task differ in {name} and are pooled;"
                f" --by {name} keeps them apart",
                "warning",
            )
        )
    return notes + stopping_notes(counts)


def _runs(counts: Counts) -> Iterator[Note]:
    """Runs of one model whose attempts are read as attempts of the same tasks."""
    models: dict[int, list[str]] = {}
    for model in dict.fromkeys(model for model, *_ in counts.series):
        if model in counts.facts.runs:
            models.setdefault(counts.facts.runs[model], []).append(model)
    for runs, names in models.items():
        yield Note(
            f"{plural(runs, 'run')} of {first_few(names)} are pooled: each attempt counts;"
            " --by run keeps runs apart"
        )


def _spellings(counts: Counts) -> Iterator[str]:
    """Models whose names differ in case and signs only: org/alpha and org__alpha."""
    names: dict[str, dict[str, None]] = {}
    for model, *_ in counts.series:
        plain = re.sub(r"[\W_]+", "-", model.casefold())
        names.setdefault(plain, {})[model] = None
    for spellings in names.values():
        if len(spellings) > 1:
            yield (
                f"{' and '.join(map(repr, spellings))} are read as {len(spellings)} models; if they"
                " are one, give their files one label=path"
            )


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
        Note(f"{', '.join(names)} of {name} {cause}{remedy}", "warning")
        for (name, cause), names in metrics.items()
    ]


def flaw_notes(facts: Sequence[Fact]) -> list[Note]:
    """One note per thing that is special about intervals, with the numbers it is true of."""
    numbers: dict[str, list[str]] = {}
    for fact in facts:
        if fact.flaw:
            numbers.setdefault(fact.flaw, []).append(f"{fact.name} of {series_name(fact.series)}")
    return [Note(f"{first_few(names)}: {flaw}") for flaw, names in numbers.items()]
