"""Many pairs at once: tested, adjusted for how many they are, and judged."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from passk_cli.arrays import grouped
from passk_cli.errors import ParameterError
from passk_cli.files.database import quote_text
from passk_cli.inference.adjust import ADJUSTMENTS
from passk_cli.inference.family import SmallestP
from passk_cli.inference.family import family as law_of
from passk_cli.inference.weights import cluster_totals
from passk_cli.limits import refuse_many_pairs
from passk_cli.report.words import DrawnP
from passk_cli.study.comparison import (
    Comparison,
    difference_intervals,
    equivalence_tests,
    match,
    with_floors,
)
from passk_cli.study.confidence import Confidence
from passk_cli.study.paired import Answer, differences_of, run_tests
from passk_cli.study.ratios import compare_ratios, refuse_beside_ratios
from passk_cli.study.rules import ALL, BONFERRONI, MAX_T, PRIMARY, SECONDARY, WITHIN, Rules, T
from passk_cli.study.study import Study
from passk_cli.study.values import TaskValues

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
    place = {rates.series: -rates.merit for rates in values if rates.metric == values[0].metric}
    cells = grouped((*values, *changes), lambda rates: (rates.metric, rates.series[1:]))
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
    limits = iter(
        difference_intervals([c for c in comparisons if not (c.reason or c.interval)], confidence)
    )
    return [c if c.reason or c.interval else c.having(interval=next(limits)) for c in comparisons]


def test_pairs(
    groups: Sequence[Sequence[tuple[TaskValues, TaskValues]]],
    confidence: Confidence,
    rules: Rules,
    *,
    verdicts: bool,
) -> list[list[Comparison]]:
    """Every pair of each group with its p-value, adjusted within the group, without interval.

    verdicts : whether these are all that is asked for, so that adjusted p need not be exact.
    Errors: as of `compare_pairs`; ParameterError for max-T of tests for these tasks.
    """
    every = [[match(first, second, rules.unpaired) for first, second in pairs] for pairs in groups]
    refuse_beside_ratios([c for comparisons in every for c in comparisons], rules)
    estimable = [
        with_floors([c for c in comparisons if not c.reason], confidence) for comparisons in every
    ]
    means = [c for each in estimable for c in each if not c.first.metric.kind.ratio]
    answers = iter(_tested(means, confidence, rules))
    judged: list[Comparison] = []
    for each in estimable:
        tested = [
            c if c.first.metric.kind.ratio else c.having(**next(answers)._asdict()) for c in each
        ]
        if rules.margin:
            tests = equivalence_tests(tested, confidence, rules.margin)
            tested = [c.having(equivalence=p) for c, p in zip(tested, tests, strict=True)]
        places: dict[int, Comparison] = {}
        for name, family in _families(tested, rules):
            members = family
            if family[0].first.metric.kind.ratio:
                members = compare_ratios(family, confidence, rules)
                results = [(c.adjusted, math.nan, c.alpha, c.adjustment) for c in members]
            else:
                if rules.adjust in (None, MAX_T):
                    members = _pooled(family, rules.margin)
                results = list(_adjusted(members, confidence, rules, verdicts=verdicts))
            for untested, c, (adjusted, equivalence, alpha, adjustment) in zip(
                family, members, results, strict=True
            ):
                own = c if c.first.metric.kind.ratio else untested
                verdict, level = UNDECIDED if c.testable else "", 1 - confidence.level + 1e-12
                if equivalence <= level:
                    verdict = EQUIVALENT
                elif adjusted <= level and c.sign:
                    verdict = BETTER if c.sign * c.first.metric.sign > 0 else WORSE
                places[id(untested)] = c.having(
                    p=own.p, adjusted=adjusted, equivalence=equivalence, alpha=alpha, family=name,
                    adjustment=adjustment, verdict=verdict,
                )  # fmt: skip
        judged += [places[id(c)] for c in tested]
    after = iter(judged)
    return [[c if c.reason else next(after) for c in each] for each in every]


def _families(
    tested: Sequence[Comparison], rules: Rules
) -> Iterator[tuple[str, Sequence[Comparison]]]:
    """Comparisons that are adjusted together, with the name of their family."""
    if rules.family == ALL:
        yield from [(ALL, tested)] * bool(tested)
        return
    metrics = grouped(tested, lambda c: c.first.metric)
    for number, family in enumerate(metrics.values()):
        yield SECONDARY if number else PRIMARY, family


def _pooled(family: Sequence[Comparison], margin: float | None) -> Sequence[Comparison]:
    """Comparisons of a family whose laws know of each other's spread, metric by metric.

    Of many pairs some have by chance few differences, and a standard error far too small, so that
    not all intervals hold.  So that of a pair is at least the root mean square of all pairs', as
    far as its own error allows (`DifferenceLaw.at_least`).
    """
    pooled = {id(c): c for c in family}
    bounded = [c for c in family if c.law and math.isfinite(c.law[0].reach)]
    for pairs in grouped(bounded, lambda c: c.first.metric).values():
        laws = grouped([(c, *c.law) for c in pairs if c.law], lambda each: id(each[1]))
        spreads = [law.spread[row] ** 2 * (law.degrees[row] + 1)
                   for each in laws.values() for _, law, row in each]  # fmt: skip
        usual = np.mean(spreads) if np.isfinite(spreads).all() and len(pairs) > 1 else 0.0
        for each in laws.values():
            law, rows = each[0][1], np.array([row for *_, row in each])
            law = law.at_least(rows, np.sqrt(usual / (law.degrees[rows] + 1)))
            p = law.p().tolist()
            alike = law.equivalence(margin).tolist() if margin else [math.nan] * len(p)
            for row, (c, *_) in enumerate(each):
                pooled[id(c)] = c.having(law=(law, row), p=p[row], equivalence=alike[row])
    return list(pooled.values())


def _adjusted(
    family: Sequence[Comparison], confidence: Confidence, rules: Rules, *, verdicts: bool
) -> Iterator[tuple[float, float, float, str]]:
    """Of each comparison of a family: p adjusted, that of equivalence, the largest p that is
    significant, and the adjustment made.

    verdicts : whether p is a bound where that tells the verdict: adjusted p lies between p and
        tests·p, which nearly always does without draws.
    """
    p = np.array([c.p for c in family])
    equivalence = np.array([c.equivalence for c in family])
    alpha, name = 1.0 - confidence.level, rules.adjust or MAX_T
    if any(c.test == WITHIN for c in family):
        name = rules.without_flips()
    if name != MAX_T:
        adjusted = ADJUSTMENTS[name](p, np.array([c.smallest for c in family])).tolist()
        equivalence = ADJUSTMENTS[name](equivalence)
    else:
        tested = p[~np.isnan(p)]
        tests = len(tested)
        unsure = (tested <= alpha + 1e-9) & (tests * tested > alpha - 1e-9)
        if verdicts and not rules.margin and not unsure.any():
            adjusted, alpha = np.minimum(tests * p, 1.0).tolist(), alpha / max(tests, 1)
        else:
            law = _law(family, tested, confidence)
            drawn = zip(law.adjusted(p).tolist(), law.error(p).tolist(), strict=True)
            adjusted = [DrawnP(*pair) if pair[1] else pair[0] for pair in drawn]
            name = BONFERRONI if law.tests > 1 and not len(law.smallest) else MAX_T
            equivalence, alpha = law.adjusted_one_sided(equivalence), law.level(alpha)
    both = zip(adjusted, equivalence.tolist(), strict=True)
    return ((differ, alike, alpha, name) for differ, alike in both)


def _law(
    comparisons: Sequence[Comparison], p: NDArray[np.float64], confidence: Confidence
) -> SmallestP:
    """Of the smallest p: from shared signs, or Bonferroni's bound where there is nothing to sign.

    That is so where outcomes are missing that may pass or fail, and where pairs share different
    tasks of clusters.
    """
    tested = [c for c in comparisons if c.testable]
    first = comparisons[0].tasks
    same = all(np.array_equal(c.tasks, first) for c in comparisons)
    clusters = comparisons[0].clusters
    different = clusters is not None and not same
    if not tested or different or any(c.ends for c in comparisons):
        return SmallestP(len(tested), np.empty(0))
    alpha = 1.0 - confidence.level
    if same:
        sizes = cluster_totals(np.zeros((len(first), 1)), clusters)[1]
        return law_of(differences_of(tested), sizes=sizes, p=p, alpha=alpha, **confidence.draws)
    tasks = np.unique(np.concatenate([c.tasks for c in tested]))
    differences = np.zeros((len(tasks), len(tested)))
    shared = np.zeros(differences.shape, dtype=bool)
    for column, c in enumerate(tested):
        at = np.searchsorted(tasks, c.tasks)
        differences[at, column], shared[at, column] = c.d, True
    return law_of(differences, shared=shared, p=p, alpha=alpha, **confidence.draws)


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
        low, high = next(answers), next(answers)
        p = max(low.p, high.p) if c.sign or math.isnan(low.p + high.p) else 1.0
        worst.append(Answer(low.test, p, min(low.smallest, high.smallest)))
    return worst
