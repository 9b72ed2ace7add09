"""Many pairs at once: tested, adjusted for how many they are, and judged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from passk_cli.errors import ParameterError
from passk_cli.study.comparison import (
    Comparison,
    difference_intervals,
    equivalence_tests,
    match,
    with_floors,
)
from passk_cli.study.families import adjust
from passk_cli.study.paired import Answer, run_tests
from passk_cli.study.rules import Rules, T
from passk_cli.study.values import TaskValues

if TYPE_CHECKING:
    from passk_cli.study.confidence import Confidence

BETTER, WORSE, EQUIVALENT, UNDECIDED = "better", "worse", "equivalent", "undecided"


def compare_pairs(
    pairs: Sequence[tuple[TaskValues, TaskValues]], confidence: Confidence, rules: Rules
) -> list[Comparison]:
    """Every pair with its interval, p-value adjusted over its family, and verdict.

    Errors: ParameterError for a test that is not valid for a pair, with the reason.
    """
    (comparisons,) = test_pairs([pairs], confidence, rules, verdicts=False)
    limits = iter(difference_intervals([c for c in comparisons if not c.reason], confidence))
    answered = []
    for c in comparisons:
        if not c.reason:
            c = c.having(interval=next(limits))
        answered.append(c)
    return answered


def test_pairs(
    groups: Sequence[Sequence[tuple[TaskValues, TaskValues]]],
    confidence: Confidence,
    rules: Rules,
    *,
    verdicts: bool,
) -> list[list[Comparison]]:
    """Every pair of each group with its p-value, adjusted within the group, without interval.

    verdicts : whether these are all that is asked for, so that adjusted p need not be exact.
    Errors: as of `compare_pairs`.
    """
    every = [[match(first, second, rules.unpaired) for first, second in pairs] for pairs in groups]
    estimable = [
        with_floors([c for c in comparisons if not c.reason], confidence) for comparisons in every
    ]
    answers = iter(_tested([c for each in estimable for c in each], confidence, rules))
    tested = [[_answered(c, next(answers)) for c in each] for each in estimable]
    if rules.margin:
        tested = [_equivalences(each, confidence, rules.margin) for each in tested]
    adjusted = adjust(tested, confidence, rules, verdicts=verdicts)
    judged = (c.having(verdict=_verdict(c, confidence.level)) for g in adjusted for c in g)
    return [[c if c.reason else next(judged) for c in comparisons] for comparisons in every]


def _answered(comparison: Comparison, answer: Answer) -> Comparison:
    return comparison.having(p=answer.p, smallest=answer.smallest, test=answer.name)


def _equivalences(
    comparisons: Sequence[Comparison], confidence: Confidence, margin: float
) -> list[Comparison]:
    tests = equivalence_tests(comparisons, confidence, margin)
    return [c.having(equivalence=p) for c, p in zip(comparisons, tests, strict=True)]


def _tested(
    comparisons: Sequence[Comparison], confidence: Confidence, rules: Rules
) -> list[Answer]:
    """A test of each; where outcomes are missing that may pass or fail, at both ends.

    Its p is then the larger one, and 1 where the ends do not differ in one direction.  For sign
    flips, mid-p and McNemar's test no fill-in has a larger one: p is twice the chance that the
    flipped differences add up to at least nothing, which falls when one of them grows.  Nor for
    Suissa and Shuster's, whose z grows with each difference.  The other
    tests' may be larger by a little (benchmarks/missing.md).  Adjusted p-values rise with each p,
    so no fill-in of all models together has a larger one than these either.
    """
    if rules.test == T and any(c.ends for c in comparisons):
        raise ParameterError(
            "--test t: with --missing bounds its p may be larger for outcomes between all failing"
            " and all passing; leave --test out",
            name="no-bounds",
        )
    answers = iter(
        run_tests([end for c in comparisons for end in c.ends or (c,)], confidence, rules.test)
    )
    worst = []
    for c in comparisons:
        if not c.ends:
            worst.append(next(answers))
            continue
        one, other = next(answers), next(answers)
        p = max(one.p, other.p) if c.sign or math.isnan(one.p + other.p) else 1.0
        worst.append(replace(one, p=p, smallest=min(one.smallest, other.smallest)))
    return worst


def _verdict(comparison: Comparison, level: float) -> str:
    alpha, sign = 1 - level + 1e-12, comparison.sign
    if comparison.equivalence <= alpha:
        return EQUIVALENT
    if comparison.adjusted <= alpha and sign:
        return BETTER if sign > 0 else WORSE
    return UNDECIDED
