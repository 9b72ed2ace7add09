"""What qualifies numbers: what reading did, how sampling shaped it, what is special about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from passk_cli.files.source import without_suffixes
from passk_cli.message import Said
from passk_cli.report.model import Note
from passk_cli.report.words import first_few, numbers_of_models, plural, series_name
from passk_cli.study.fact import Fact
from passk_cli.study.losses import loss_notes
from passk_cli.study.stopping import stopping_notes
from passk_cli.study.temperature_names import in_name

if TYPE_CHECKING:
    from passk_cli.outcomes.counts import Counts
    from passk_cli.outcomes.provenance import ReadFacts


# What becomes of attempts without one of these.
_VALUELESS = {
    "answer": "they never win",
    "score": "as failures they have the lowest score, LOW of --bounds LOW,HIGH or else 0",
}


def reading_notes(counts: Counts) -> list[Said]:
    """One note for each thing that happened between sampling and the counts."""
    facts = counts.facts
    notes = [Note(text, "warning") for text in facts.warnings]
    notes += [Note(text, "warning") for text in _spellings(counts)]
    notes += [Note(text) for text in facts.remarks]
    notes += _one_model(counts)
    notes += _runs(counts)
    if facts.foreign:
        notes.append(Note(_files(facts.foreign, "without results")))
    if facts.without_outcome:
        notes.append(Note(_files(facts.without_outcome, "without this outcome"), "warning"))
    if facts.skipped:
        notes.append(Note(f"skipped {plural(facts.skipped, 'line')} that held no record"))
    notes += loss_notes(facts)
    if facts.emptied:
        notes.append(
            Note(f"{plural(facts.emptied, 'task')} left without any attempt of a model", "warning")
        )
    if facts.duplicates and facts.duplicates_policy in ("first", "last"):
        policy = facts.duplicates_policy
        notes.append(
            Note(f"{plural(facts.duplicates, 'repeated attempt')} left out, the {policy} one kept")
        )
    if facts.unnumbered:
        notes.append(
            Note(f"{plural(facts.unnumbered, 'attempt')} without a number: not checked for repeats")
        )
    if facts.pooled_unnumbered:
        notes.append(_pooled(facts))
    notes += _roles(counts)
    for name in facts.varying:
        notes.append(
            Note(
                f"attempts differ in {name} and are pooled; --by {name} keeps them apart",
                "warning",
            )
        )
    return notes + stopping_notes(counts)


def _pooled(facts: ReadFacts) -> Said:
    """Several files of one model, without numbers; a warning where their names differ in heat."""
    words = (
        "several files hold unnumbered attempts of one model: they are pooled, and repeats cannot"
        " be found"
    )
    stems = (without_suffixes(name.rsplit("/", 1)[-1]) for name in facts.pooled_unnumbered)
    heats = {says[1] for stem in stems if (says := in_name(stem)) is not None}
    if len(heats) < 2:
        return Note(words)
    return Note(
        f"{words}; their names hold different temperatures, which --by temperature or --path keeps"
        " apart",
        "warning",
    )


def _one_model(counts: Counts) -> Iterator[Said]:
    """Columns of a table that were not understood, where nothing tells its rows apart."""
    for file in counts.facts.inputs:
        if file.unused and not {"model", "attempt", "n"} & set(file.roles):
            yield Note(
                f"{file.name}: all rows are one model's, in no order; not used:"
                f" {first_few(file.unused)}"
            )


def _files(paths: Sequence[str], lacking: str) -> str:
    return f"skipped {plural(len(paths), 'file')} {lacking}: {first_few(paths)}"


def _roles(counts: Counts) -> Iterator[Said]:
    """The columns of what is known of attempts, and the attempts where it is not."""
    facts = counts.facts
    for role, attempts in counts.attempts.items():
        columns = dict.fromkeys(file.roles[role] for file in facts.inputs if role in file.roles)
        if columns:
            verb = "attempts are ordered by" if role == "attempt" else f"{role}s are read from"
            yield Note(f"{verb} {', '.join(columns)}")
        if attempts.valueless:
            none = _VALUELESS.get(role, f"they count as one {role}")
            yield Note(f"{plural(attempts.valueless, 'attempt')} without {role}: {none}")


def _runs(counts: Counts) -> Iterator[Said]:
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
                f"{' and '.join(map(repr, spellings))} count as {len(spellings)} models; if they"
                " are one, give their files one label=path"
            )


def short_notes(facts: Sequence[Fact], short_tasks: str) -> list[Said]:
    """One warning per cause: which metrics of which models have tasks with too few attempts."""
    numbers: dict[tuple[bool, str], list[tuple[str, str]]] = {}
    for fact in facts:
        if fact.estimate.reason:
            cause = fact.estimate.value is None, fact.estimate.reason
            numbers.setdefault(cause, []).append((fact.name, series_name(fact.series)))
    remedy = "" if short_tasks == "drop" else "; --short-tasks drop uses the tasks with n ≥ k"
    return [
        Note(
            f"{numbers_of_models(pairs)} {'empty' if empty else 'without those tasks'}:"
            f" {reason}{remedy}",
            "warning",
        )
        for (empty, reason), pairs in numbers.items()
    ]


def flaw_notes(facts: Sequence[Fact]) -> list[Said]:
    """One note per thing that is special about intervals, with the numbers it is true of.

    A warning where it is why there is none: the caption says which intervals there are to be.
    """
    numbers: dict[tuple[bool, str], list[tuple[str, str]]] = {}
    for fact in facts:
        if fact.flaw:
            cause = fact.estimate.low is None, fact.flaw
            numbers.setdefault(cause, []).append((fact.name, series_name(fact.series)))
    return [
        Note(f"no interval of {numbers_of_models(pairs)}: {flaw}", "warning")
        if without
        else Note(f"{numbers_of_models(pairs)}: {flaw}")
        for (without, flaw), pairs in numbers.items()
    ]
