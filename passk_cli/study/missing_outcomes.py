"""Attempts without an outcome: their models and reasons, and models that lose more than others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.files.request import BOUNDS
from passk_cli.inference.adjust import holm
from passk_cli.inference.difference import difference_distribution
from passk_cli.outcomes.missing_outcomes import MissingOutcomes
from passk_cli.outcomes.provenance import ReadFacts
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import plural

# Significance level of the test of uneven losses, adjusted for all pairs of models.
LEVEL = 0.05
# Policy → its treatment of an attempt without an outcome, in words.
BECAME = {"fail": "counted as failures", "drop": "left out", BOUNDS: "tried as pass and as fail"}
# Reasons that are nouns with a plural.
_NOUNS = ("timeout", "error", "crash")
MISSING_COUNTED = DiagnosticType(
    "missing-counted", NOTE,
    "{missing:attempt} without an outcome {missing:counts|count} as failed: {lost}",
    meaning="These attempts have no outcome, for example because of a timeout, a crash or an"
    " empty cell. With `--missing fail` they count as failures.",
    why="A missing outcome is neither a pass nor a failure, and how you count it changes every"
    " number. Most benchmarks count it as a failure.",
    advice="`--missing bounds` shows by how much the missing outcomes can change the numbers.",
    example="note[missing-counted]: 41 attempts without an outcome count as failed: b 41 of 200"
    " (30 timeouts, 11 crashes)",
)  # fmt: skip
MISSING_DROPPED = DiagnosticType(
    "missing-dropped", NOTE, "{missing:attempt} without an outcome left out: {lost}",
    meaning="These attempts have no outcome, for example because of a timeout, a crash or an"
    " empty cell. With `--missing drop` they are left out.",
    why="That is fair only if the reason has nothing to do with the task. Otherwise the hard"
    " tasks lose attempts, and rates are too high.",
    advice="`--missing bounds` shows by how much the missing outcomes can change the numbers.",
    example="note[missing-dropped]: 41 attempts without an outcome left out: b 41 of 200 (30"
    " timeouts, 11 crashes)",
)  # fmt: skip
MISSING_BOUNDED = DiagnosticType(
    "missing-bounded", NOTE,
    "{missing:attempt} without an outcome {missing:is|are} tried as pass and as fail: {lost}",
    meaning="These attempts have no outcome, for example because of a timeout, a crash or an"
    " empty cell. With `--missing bounds` passk tries them as passes and as failures.",
    why="Every number is a range, from all of them failing to all of them passing. Its interval"
    " contains the intervals at both ends.",
    advice="If the ranges are too wide to decide, complete the missing attempts.",
    example="note[missing-bounded]: 41 attempts without an outcome are tried as pass and as"
    " fail: b 41 of 200 (30 timeouts, 11 crashes)",
)  # fmt: skip
UNEVEN_LOSSES = DiagnosticType(
    "uneven-losses", WARNING,
    "models lose attempts unevenly ({first} {first_lost} of {first_made}, {second} {second_lost}"
    " of {second_made}, p {p}{?others|; {others:more pair}}), which by itself may make them differ",
    SuggestedFix({"--missing": BOUNDS}, "shows by how much"),
    meaning="One model has significantly more attempts without an outcome than another model."
    " The test is that of `passk compare`, on the share of attempts lost per task, adjusted for"
    " all pairs of models. The message names the pair with the smallest p.",
    why="However --missing counts these attempts, it favours one of the models.",
    advice="`--missing bounds` shows by how much the difference can change. Complete the"
    " missing attempts if you can.",
    example="warning[uneven-losses]: models lose attempts unevenly (b 41 of 200, a 2 of 200, p"
    " = 0.0003), which by itself may make them differ; --missing bounds shows by how much",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class UnevenMissingOutcomes:
    """Two models of which the first loses a larger share of its attempts than the second.

    p : p-value of no difference in the mean share lost per task, adjusted for all pairs of models.
    """

    first: str
    second: str
    p: float


def missing_outcome_notes(facts: ReadFacts) -> Iterator[Diagnostic]:
    """Messages about attempts without an outcome and their treatment, and about uneven losses."""
    if facts.missing_outcomes is None:
        return
    became = {"fail": MISSING_COUNTED, "drop": MISSING_DROPPED, BOUNDS: MISSING_BOUNDED}
    if message := became.get(facts.missing_policy):
        yield message(
            missing=facts.missing,
            lost=list(missing_outcome_words(facts.missing_outcomes, facts.reasons)),
        )
    if message or facts.missing_policy == "error":
        # `passk describe` reads data with the policy error, too.
        yield from uneven_missing_notes(facts.missing_outcomes, facts.missing_policy)


def missing_outcome_words(
    losses: MissingOutcomes, reasons: Mapping[str, Mapping[str, int]] | None = None
) -> Iterator[str]:
    """The losses of each model, the largest first: "b 41 of 200 (30 timeouts)"."""
    lost = {model: losses.missing_and_attempts_of_model(model) for model in losses.models}
    for model, (missing, attempts) in sorted(lost.items(), key=lambda item: (-item[1][0], item[0])):
        if not missing:
            continue
        why = sorted((reasons or {}).get(model, {}).items(), key=lambda item: (-item[1], item[0]))
        kinds = ", ".join(
            plural(count, reason) if reason in _NOUNS else f"{count:,} {reason}"
            for reason, count in why
        )
        yield f"{model} {missing:,} of {attempts:,}{f' ({kinds})' if kinds else ''}"


def uneven_missing_notes(
    losses: MissingOutcomes, policy: str, label: str = ""
) -> Iterator[Diagnostic]:
    """A warning if two models lose attempts unevenly, with the pair of the smallest p.

    policy : the treatment of missing outcomes; bounds have no warning, because ranges already
        contain the difference.
    label : a prefix of models; only their pairs with other models are tested.
    """
    pairs = [
        pair
        for pair in uneven_missing_pairs(losses)
        if not label or pair.first.startswith(label) != pair.second.startswith(label)
    ]
    if not pairs or policy == BOUNDS:
        return
    worst = pairs[0]
    (first_lost, first_made), (second_lost, second_made) = map(
        losses.missing_and_attempts_of_model, (worst.second, worst.first)
    )
    yield UNEVEN_LOSSES(
        first=worst.second, first_lost=first_lost, first_made=first_made,
        second=worst.first, second_lost=second_lost, second_made=second_made,
        p="< 0.0001" if worst.p < 1e-4 else f"= {worst.p:.4f}", others=len(pairs) - 1,
    )  # fmt: skip


def uneven_missing_pairs(losses: MissingOutcomes) -> list[UnevenMissingOutcomes]:
    """Pairs of models that lose attempts unevenly, those with the smallest p first.

    d_t is the share of the attempts at task t that one model lost, minus that of the other model,
    over the tasks that both have.  The test of a mean of 0 is that of `passk compare`, so that one
    task that lost all its attempts is not significant.  p is adjusted by Holm over all pairs; it is
    1 if no share differs.
    """
    tests, shares = [], losses.missing / losses.attempts
    for pair in combinations(losses.models, 2):
        first, second = map(losses.rows_of_model, pair)
        _, first_places, second_places = np.intersect1d(
            losses.unit_codes[first], losses.unit_codes[second], return_indices=True
        )
        d = shares[first[first_places]] - shares[second[second_places]]
        loser, rival = pair if d.sum() >= 0 else pair[::-1]
        p = float(difference_distribution(d, reach=1.0).p()[0]) if d.any() else 1.0
        tests.append(UnevenMissingOutcomes(loser, rival, p))
    if not tests:
        return []
    adjusted = holm(np.array([test.p for test in tests])).tolist()
    pairs = [replace(test, p=p) for test, p in zip(tests, adjusted, strict=True) if p <= LEVEL]
    return sorted(pairs, key=lambda pair: (pair.p, pair.first, pair.second))


def left_out_words(facts: ReadFacts, series: Sequence[str]) -> list[str]:
    """Words for attempts of a series that reading left out, or counted without an outcome."""
    missing, emptied = facts.missing, facts.emptied
    if facts.missing_outcomes is not None:
        own_missing, own_emptied = facts.missing_outcomes.missing_in_series(series) or (
            missing,
            emptied,
        )
        missing, emptied = own_missing, own_emptied if emptied else 0
    became = BECAME.get(facts.missing_policy)
    words = {
        f"{plural(facts.skipped, 'line')} skipped": facts.skipped,
        f"{plural(facts.empty_files, 'empty file')} skipped": facts.empty_files,
        f"{plural(missing, 'attempt')} without an outcome {became}": missing and became,
        f"{plural(emptied, 'task')} left without any attempt": emptied,
    }
    return [phrase for phrase, number in words.items() if number]
