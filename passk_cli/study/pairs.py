"""Many pairs at once: tested, adjusted for how many they are, and judged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from passk_cli.errors import ParameterError
from passk_cli.files.database import quote_text
from passk_cli.limits import refuse_many_pairs
from passk_cli.metrics.registry import Metric
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
from passk_cli.study.values import Series, TaskValues

if TYPE_CHECKING:
    from passk_cli.study.confidence import Confidence
    from passk_cli.study.study import Study

BETTER, WORSE, EQUIVALENT, UNDECIDED = "better", "worse", "equivalent", "undecided"


def choose_pairs(
    study: Study, baseline: str | None, changes: Sequence[TaskValues] = ()
) -> list[tuple[TaskValues, TaskValues]]:
    """Every pair of models of the same group (better one first), or each against the baseline.

    changes : compared as well, after the metrics of the study.
    Errors: ParameterError for a baseline that is not there, or when there is nothing to pair.
    """
    names = sorted({series[0] for series in study.counts.series})
    if baseline is not None and baseline not in names:
        raise ParameterError(
            f"--baseline {baseline}: no such file, and no such model; there are {', '.join(names)}"
        )
    values = study.values()
    place = {rates.series: -rates.mean for rates in values if rates.metric == values[0].metric}
    cells: dict[tuple[Metric, Series], list[TaskValues]] = {}
    for rates in (*values, *changes):
        cells.setdefault((rates.metric, rates.series[1:]), []).append(rates)
    if baseline is None:
        sizes = [len(rivals) for rivals in cells.values()]
        refuse_many_pairs(
            max(sizes), sum(size * (size - 1) // 2 for size in sizes),
            "compare with one model with --baseline NAME, or keep some with --model",
        )  # fmt: skip
    pairs: list[tuple[TaskValues, TaskValues]] = []
    for rivals in cells.values():
        rivals.sort(key=lambda rates: (place[rates.series], rates.series))
        base = [rates for rates in rivals if rates.series[0] == baseline]
        if baseline is None:
            pairs += [(a, b) for i, a in enumerate(rivals) for b in rivals[i + 1 :]]
        else:
            pairs += [(rates, b) for b in base for rates in rivals if rates is not b]
    if not pairs:
        raise ParameterError(f"nothing to compare: there is one model; {_remedy(study)}")
    return pairs


def _remedy(study: Study) -> str:
    """The way to a second model: more files, or the groups of the only one."""
    counts = study.counts
    models, *groups = map(set, zip(*counts.series, strict=True))
    names = zip(counts.group_names, groups, strict=True)
    group = next((name for name, values in names if len(values) > 1), None)
    if group is None or len(models) > 1:
        return "give files of several"
    remedy = f"its groups are compared with --field model={group} in place of --by {group}"
    column = next((file.roles.get("model") for file in counts.facts.inputs), None)
    if column is None:
        return remedy
    return f'{remedy}, and --where "{column} = {quote_text(models.pop())}" in place of --model'


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
    tested = [
        [
            c.having(p=answer.p, smallest=answer.smallest, test=answer.name)
            for c in each
            for answer in [next(answers)]
        ]
        for each in estimable
    ]
    if rules.margin:
        tested = [_equivalences(each, confidence, rules.margin) for each in tested]
    adjusted = adjust(tested, confidence, rules, verdicts=verdicts)
    judged = (c.having(verdict=_verdict(c, confidence.level)) for g in adjusted for c in g)
    return [[c if c.reason else next(judged) for c in comparisons] for comparisons in every]


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
