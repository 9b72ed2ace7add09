"""Messages about attempts without an outcome, and a test of whether some models lack more outcomes
than others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.files.request import BOUNDS
from passk_cli.inference.adjust import holm
from passk_cli.inference.difference import difference_distribution
from passk_cli.outcomes.missing_outcomes import MissingOutcomeCounts
from passk_cli.outcomes.provenance import ReadFacts
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import plural

# SIGNIFICANCE_LEVEL is the significance level of the test of whether a model lacks more outcomes
# than another model, over all pairs of models.
SIGNIFICANCE_LEVEL = 0.05
# WORDS_BY_MISSING_POLICY maps each value of --missing to words for how attempts without an outcome
# are treated.
WORDS_BY_MISSING_POLICY = {
    "fail": "counted as failures",
    "drop": "left out",
    BOUNDS: "tried as pass and as fail",
}
_REASONS_WITH_PLURAL = ("timeout", "error", "crash")
MISSING_COUNTED = DiagnosticType(
    "missing-counted", NOTE,
    "{missing:attempt} without an outcome {missing:counts|count} as failed: {lost}",
    meaning="Some attempts have no outcome, for example because of a timeout, a crash or an empty"
    " cell. With `--missing fail`, attempts without an outcome count as failures.",
    why="A missing outcome is neither a pass nor a failure, so every estimate depends on how you"
    " count missing outcomes. Most benchmarks count missing outcomes as failures.",
    advice="If you want to see how much the missing outcomes can change the estimates, use"
    " `--missing bounds`.",
    example="note[missing-counted]: 41 attempts without an outcome count as failed: b 41 of 200"
    " (30 timeouts, 11 crashes)",
)  # fmt: skip
MISSING_DROPPED = DiagnosticType(
    "missing-dropped", NOTE, "{missing:attempt} without an outcome {missing:is|are} left out:"
    " {lost}",
    meaning="Some attempts have no outcome, for example because of a timeout, a crash or an empty"
    " cell. `--missing drop` leaves out attempts without an outcome.",
    why="Leaving out attempts is fair only if the reason for a missing outcome does not depend on"
    " the task. If hard tasks lose more attempts than easy tasks, pass rates are too high.",
    advice="If you want to see how much the missing outcomes can change the estimates, use"
    " `--missing bounds`.",
    example="note[missing-dropped]: 41 attempts without an outcome are left out: b 41 of 200 (30"
    " timeouts, 11 crashes)",
)  # fmt: skip
MISSING_BOUNDED = DiagnosticType(
    "missing-bounded", NOTE,
    "{missing:attempt} without an outcome {missing:counts|count} once as passed and once as failed:"
    " {lost}",
    meaning="Some attempts have no outcome, for example because of a timeout, a crash or an empty"
    " cell. With `--missing bounds`, passk computes every result once with all missing outcomes as"
    " failures, and once with all missing outcomes as passes.",
    why="Every estimate is the range between the two results, and every interval contains the"
    " intervals of both results.",
    advice="If the ranges are too wide for a decision, repeat the attempts that have no outcome.",
    example="note[missing-bounded]: 41 attempts without an outcome count once as passed and"
    " once as failed: b 41 of 200 (30 timeouts, 11 crashes)",
)  # fmt: skip
UNEVEN_MISSING_OUTCOMES = DiagnosticType(
    "uneven-losses", WARNING,
    "models lack outcomes unevenly ({first} {first_lost} of {first_made}, {second} {second_lost} of"
    " {second_made}, p {p}{?others|; {others:more pair}}), which may explain the difference between"
    " the models",
    SuggestedFix({"--missing": BOUNDS}, "shows the possible effect of missing outcomes"),
    meaning="One model has significantly more attempts without an outcome than another model."
    " passk tests the share of attempts without an outcome per task with the test of `passk"
    " compare`. The p-values are adjusted for the number of pairs of models. The message names the"
    " pair of models with the smallest p-value.",
    why="If missing outcomes count as failures, the model with more missing outcomes has a lower"
    " pass rate. If passk leaves missing outcomes out, the pass rate of the model with more missing"
    " outcomes may be too high.",
    advice="If you can, repeat the attempts that have no outcome. If you want to see how much the"
    " missing outcomes can change the difference, use `--missing bounds`.",
    example="warning[uneven-losses]: models lack outcomes unevenly (b 41 of 200, a 2 of 200, p ="
    " 0.0003), which may explain the difference between the models; --missing bounds shows the"
    " possible effect of missing outcomes",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class UnevenMissingOutcomes:
    """A pair of models in which `model_with_more_missing` lacks significantly more outcomes than
    `model_with_fewer_missing`.

    p : p-value of the hypothesis that both models lack the same mean share of outcomes per task,
        adjusted for all pairs of models.
    """

    model_with_more_missing: str
    model_with_fewer_missing: str
    p: float


def missing_outcome_notes(facts: ReadFacts) -> Iterator[Diagnostic]:
    """The messages about attempts without an outcome, and about models that lack outcomes
    unevenly."""
    if facts.missing_outcomes is None:
        return
    became = {"fail": MISSING_COUNTED, "drop": MISSING_DROPPED, BOUNDS: MISSING_BOUNDED}
    if message := became.get(facts.missing_policy):
        yield message(
            missing=facts.missing_outcome_count,
            lost=list(
                missing_outcome_words(facts.missing_outcomes, facts.missing_reasons_by_model)
            ),
        )
    if message or facts.missing_policy == "error":
        # `passk describe` also reads data that other commands refuse because of --missing error.
        yield from uneven_missing_notes(facts.missing_outcomes, facts.missing_policy)


def missing_outcome_words(
    losses: MissingOutcomeCounts, reasons: Mapping[str, Mapping[str, int]] | None = None
) -> Iterator[str]:
    """For each model, a phrase about the attempts without an outcome, for example "b 41 of 200 (30
    timeouts)"."""
    lost = {model: losses.missing_and_attempts_of_model(model) for model in losses.models}
    for model, (missing, attempts) in sorted(lost.items(), key=lambda item: (-item[1][0], item[0])):
        if not missing:
            continue
        why = sorted((reasons or {}).get(model, {}).items(), key=lambda item: (-item[1], item[0]))
        kinds = ", ".join(
            plural(count, reason) if reason in _REASONS_WITH_PLURAL else f"{count:,} {reason}"
            for reason, count in why
        )
        yield f"{model} {missing:,} of {attempts:,}{f' ({kinds})' if kinds else ''}"


def uneven_missing_notes(
    losses: MissingOutcomeCounts, policy: str, label: str = ""
) -> Iterator[Diagnostic]:
    """The warning that two models lack outcomes unevenly.  The warning names the pair with the
    smallest p.

    policy : the value of --missing.  For the value "bounds", there is no warning, because the
        ranges already include all effects of missing outcomes.
    label : a prefix of model names.  passk uses only pairs in which exactly one model has the
        prefix, or all pairs if the prefix is "".
    """
    pairs = [
        pair
        for pair in uneven_missing_pairs(losses)
        if not label
        or pair.model_with_more_missing.startswith(label)
        != pair.model_with_fewer_missing.startswith(label)
    ]
    if not pairs or policy == BOUNDS:
        return
    worst = pairs[0]
    (first_lost, first_made), (second_lost, second_made) = map(
        losses.missing_and_attempts_of_model,
        (worst.model_with_fewer_missing, worst.model_with_more_missing),
    )
    yield UNEVEN_MISSING_OUTCOMES(
        first=worst.model_with_fewer_missing, first_lost=first_lost, first_made=first_made,
        second=worst.model_with_more_missing, second_lost=second_lost, second_made=second_made,
        p="< 0.0001" if worst.p < 1e-4 else f"= {worst.p:.4f}", others=len(pairs) - 1,
    )  # fmt: skip


def uneven_missing_pairs(losses: MissingOutcomeCounts) -> list[UnevenMissingOutcomes]:
    """The pairs in which one model lacks significantly more outcomes, sorted by p.

    The test of `passk compare` is applied to the share of missing outcomes at each shared task.
    Holm's method adjusts the p-values for the number of pairs.
    """
    tests, shares = [], losses.missing_counts / losses.attempt_counts
    for pair in combinations(losses.models, 2):
        first, second = map(losses.row_indices_of_model, pair)
        _, first_places, second_places = np.intersect1d(
            losses.task_and_group_key_codes[first],
            losses.task_and_group_key_codes[second],
            return_indices=True,
        )
        d = shares[first[first_places]] - shares[second[second_places]]
        loser, rival = pair if d.sum() >= 0 else pair[::-1]
        p = float(difference_distribution(d, reach=1.0).p()[0]) if d.any() else 1.0
        tests.append(UnevenMissingOutcomes(loser, rival, p))
    if not tests:
        return []
    adjusted = holm(np.array([test.p for test in tests])).tolist()
    pairs = [
        replace(test, p=p)
        for test, p in zip(tests, adjusted, strict=True)
        if p <= SIGNIFICANCE_LEVEL
    ]
    return sorted(
        pairs,
        key=lambda pair: (pair.p, pair.model_with_more_missing, pair.model_with_fewer_missing),
    )


def skipped_and_missing_phrases(facts: ReadFacts, series: Sequence[str]) -> list[str]:
    """Phrases about skipped lines and files, and about the attempts and tasks of a series that have
    no outcome."""
    missing, emptied = facts.missing_outcome_count, facts.emptied_cell_count
    if facts.missing_outcomes is not None:
        own_missing, own_emptied = facts.missing_outcomes.missing_and_emptied_counts(series) or (
            missing,
            emptied,
        )
        missing, emptied = own_missing, own_emptied if emptied else 0
    became = WORDS_BY_MISSING_POLICY.get(facts.missing_policy)
    words = {
        f"{plural(facts.skipped_lines, 'line')} skipped": facts.skipped_lines,
        f"{plural(facts.empty_file_count, 'empty file')} skipped": facts.empty_file_count,
        f"{plural(missing, 'attempt')} without an outcome {became}": missing and became,
        f"{plural(emptied, 'task')} left without any attempt": emptied,
    }
    return [phrase for phrase, number in words.items() if number]
