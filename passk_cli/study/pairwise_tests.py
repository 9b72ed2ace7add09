"""Tests of all pairs of models, with adjusted p-values and verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from passk_cli.arrays import Floats, arrays_equal, group_by
from passk_cli.errors import ParameterError
from passk_cli.files.database import quote_text
from passk_cli.files.sources.arguments import missing_baseline_error
from passk_cli.inference.adjust import ADJUSTMENTS
from passk_cli.inference.bootstrap_weights import cluster_totals_and_sizes
from passk_cli.inference.difference import StudentDifferenceDistribution
from passk_cli.inference.min_p import MinPDistribution, SharedLevelTests, draw_min_p
from passk_cli.limits import MOST_CELLS, refuse_many_pairs
from passk_cli.outcomes.counts import Counts
from passk_cli.report.phrases import MonteCarloP
from passk_cli.study.analysis import Analysis
from passk_cli.study.comparison import (
    Comparison,
    comparison_on_shared_tasks,
    difference_intervals,
    equivalence_test_p_values,
    with_computed_variance_floors,
)
from passk_cli.study.confidence import Confidence
from passk_cli.study.paired_significance import (
    PairedTestResult,
    run_unadjusted_tests,
    shared_differences,
)
from passk_cli.study.ratios import compare_ratio_metrics, refuse_options_for_ratios
from passk_cli.study.significance_options import (
    ALL,
    BONFERRONI,
    MIN_P,
    PRIMARY,
    SECONDARY_TEST_FAMILY,
    WITHIN,
    ComparisonOptions,
    T,
)
from passk_cli.study.values import SeriesKey, TaskValues
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix

BETTER, WORSE, EQUIVALENT, TIED = "better", "worse", "equivalent", "tied"
_P_VALUE_ATTRIBUTES = ("p", "equivalence")


def choose_pairs(
    study: Analysis, baseline: str | None, changes: Sequence[TaskValues] = ()
) -> list[tuple[TaskValues, TaskValues]]:
    """The pairs to compare, which are all pairs of models in a group, or each model with the
    baseline.

    The first model of a pair is the model with the better estimate, or the later of two labelled
    runs.

    changes : further values to compare, in addition to the metrics of the analysis.
    Errors: ParameterError if the baseline does not exist, or if there is no pair of models.
    """
    names = sorted({series[0] for series in study.counts.series})
    if baseline is not None and baseline not in names:
        raise missing_baseline_error("--baseline", baseline, names)
    values = study.task_values()
    cells = group_by((*values, *changes), lambda rates: (rates.metric, rates.series[1:]))
    place: dict[SeriesKey, float] = {}
    for (metric, _), rivals in cells.items():
        if metric == values[0].metric:
            place |= {
                series: -score for series, score in mean_ranking_score_by_series(rivals).items()
            }
    if baseline is None:
        sizes = [len(rivals) for rivals in cells.values()]
        refuse_many_pairs(
            max(sizes), sum(size * (size - 1) // 2 for size in sizes),
            SuggestedFix({"--baseline": min(place, key=place.__getitem__)[0]},
            "compares with the best model"),
        )  # fmt: skip
    pairs: list[tuple[TaskValues, TaskValues]] = []
    for rivals in cells.values():
        rivals.sort(key=lambda rates: (
            rates.series[0] == study.earlier_run_name, place[rates.series], rates.series,
        ))  # fmt: skip
        base = [rates for rates in rivals if rates.series[0] == baseline]
        if baseline is None:
            pairs += [(a, b) for i, a in enumerate(rivals) for b in rivals[i + 1 :]]
        else:
            pairs += [(rates, b) for b in base for rates in rivals if rates is not b]
    if not pairs:
        require_several_models(study.counts)
    return pairs


class OneModelError(ParameterError):
    """The error for data with only one model, which passk cannot compare with another model."""

    def __init__(self, counts: Counts, settles: Sequence[SuggestedFix]) -> None:
        self.counts = counts
        problem = (
            "there is only one model, so there is nothing to compare; give files of several models"
        )
        if where := counts.read_facts.where_condition:
            place, problem = (
                OptionWithValue("--where", where),
                "this condition leaves only one model, so there is nothing to compare",
            )
            super().__init__(place, problem, name="nothing-to-compare", settles=settles)
        else:
            super().__init__(problem, name="nothing-to-compare", settles=settles)


def require_several_models(counts: Counts) -> None:
    """Raise ParameterError if no group has two models."""
    if len({series[1:] for series in counts.series}) < len(counts.series):
        return
    has_models = any("model" in file.roles for file in counts.read_facts.file_readings)
    column = SuggestedFix({"--field": {"model": Placeholder("COLUMN")}}, "names a column of models")
    raise OneModelError(counts, [*_groups_as_models_fix(counts), *([] if has_models else [column])])


def mean_ranking_score_by_series(rivals: Sequence[TaskValues]) -> dict[SeriesKey, float]:
    """The score of each model, by which models are ranked.  A larger score is better.

    If all models have the same tasks, the score is the mean of the task values, with the opposite
    sign if smaller values are better.  Otherwise, the score is the average of the mean differences
    between the model and each other model, on the tasks that both models share.  The score is −∞
    for a model without values or without shared tasks.
    """
    valued = [rates for rates in rivals if rates.has_values]
    if all(np.array_equal(rates.tasks, valued[0].tasks) for rates in valued):
        return {rates.series: round(rates.ranking_score, 12) for rates in rivals}
    tasks = np.unique(np.concatenate([rates.tasks for rates in valued]))
    values, has = np.zeros((2, len(valued), len(tasks)))
    for row, rates in enumerate(valued):
        at = np.searchsorted(tasks, rates.tasks)
        values[row, at], has[row, at] = rates.metric.better_sign * rates.values, 1.0
    sums, shared = values @ has.T, has @ has.T
    np.fill_diagonal(shared, 0.0)
    leads = np.divide(sums - sums.T, shared, out=np.zeros_like(sums), where=shared > 0)
    met = (shared > 0).sum(axis=1)
    means = np.divide(leads.sum(axis=1), met, out=np.full(len(valued), -math.inf), where=met > 0)
    scores = zip((rates.series for rates in valued), means.round(12).tolist(), strict=True)
    return {**{rates.series: -math.inf for rates in rivals}, **dict(scores)}


def _groups_as_models_fix(counts: Counts) -> Iterator[SuggestedFix]:
    models, *groups = map(set, zip(*counts.series, strict=True))
    if len(models) > 1 or [len(values) > 1 for values in groups] != [True]:
        return
    options: dict[str, Any] = {"--field": {"model": counts.group_names[0]}, "--by": None}
    column = next((file.roles.get("model") for file in counts.read_facts.file_readings), None)
    if column is not None:
        options |= {"--where": f"{column} = {quote_text(models.pop())}", "--model": None}
    yield SuggestedFix(options, "compares its groups")


def compare_pairs(
    pairs: Sequence[tuple[TaskValues, TaskValues]], confidence: Confidence, rules: ComparisonOptions
) -> list[Comparison]:
    """The comparison of each pair of models, with an interval, an adjusted p-value and a verdict.

    Errors: ParameterError for a test that is not valid for a pair.
    """
    (comparisons,) = comparisons_with_p_values([pairs], confidence, rules, verdicts=False)
    limits = iter(
        difference_intervals([c for c in comparisons if not (c.reason or c.interval)], confidence)
    )
    return [
        c if c.reason or c.interval else c.with_changes(interval=next(limits)) for c in comparisons
    ]


def comparisons_with_p_values(
    groups: Sequence[Sequence[tuple[TaskValues, TaskValues]]],
    confidence: Confidence,
    rules: ComparisonOptions,
    *,
    verdicts: bool,
) -> list[list[Comparison]]:
    """For each group of pairs, the comparisons with adjusted p-values and without intervals.

    verdicts : whether the caller needs only verdicts.  passk may then compute upper limits of the
        adjusted p-values instead of the adjusted p-values.
    Errors: ParameterError for a test that is not valid for a pair, or if the adjustment is min-P
        and the population is these-tasks.
    """
    all_pairs = [
        [comparison_on_shared_tasks(first, second, rules.unpaired) for first, second in pairs]
        for pairs in groups
    ]
    if any(
        c.first.metric.definition.is_ratio_of_means
        for comparisons in all_pairs
        for c in comparisons
    ):
        refuse_options_for_ratios([c for comparisons in all_pairs for c in comparisons], rules)
    estimable = [
        with_computed_variance_floors([c for c in comparisons if not c.reason], confidence)
        for comparisons in all_pairs
    ]
    means = [
        c for group in estimable for c in group if not c.first.metric.definition.is_ratio_of_means
    ]
    answers = iter(_tests_with_missing_outcomes(means, confidence, rules))
    judged: list[Comparison] = []
    for group in estimable:
        tested = [
            c
            if c.first.metric.definition.is_ratio_of_means
            else c.with_changes(**next(answers)._asdict())
            for c in group
        ]
        if rules.margin:
            tests = equivalence_test_p_values(tested, confidence, rules.margin)
            tested = [c.with_changes(equivalence=p) for c, p in zip(tested, tests, strict=True)]
        places: dict[int, Comparison] = {}
        named_families = list(_test_families(tested, rules))
        families = [_moderate_variances(family, rules) for _, family in named_families]
        answers_ = _adjusted_results(families, confidence, rules, verdicts=verdicts)
        for (name, family), moderated, results in zip(
            named_families, families, answers_, strict=True
        ):
            for before, c, result in zip(family, moderated, results, strict=True):
                p, level = result.get("p", c.p), 1 - confidence.level + 1e-12
                verdict = "" if math.isnan(p) else TIED
                equivalent = result.get("equivalence", math.nan) <= level
                if result["adjusted"] <= level and c.difference_sign:
                    verdict = (
                        BETTER if c.difference_sign * c.first.metric.better_sign > 0 else WORSE
                    )
                elif equivalent:
                    verdict = EQUIVALENT
                places[id(before)] = c.with_changes(
                    **result, family=name, verdict=verdict, equivalent=equivalent
                )
        judged += [places[id(c)] for c in tested]
    after = iter(judged)
    return [[c if c.reason else next(after) for c in group] for group in all_pairs]


def _test_families(
    tested: Sequence[Comparison], rules: ComparisonOptions
) -> Iterator[tuple[str, Sequence[Comparison]]]:
    if rules.family == ALL:
        yield from [(ALL, tested)] * bool(tested)
        return
    metrics = group_by(tested, lambda c: c.first.metric)
    for number, family in enumerate(metrics.values()):
        yield SECONDARY_TEST_FAMILY if number else PRIMARY, family


def _moderate_variances(
    comparisons: Sequence[Comparison], rules: ComparisonOptions
) -> list[Comparison]:
    moderated = list(comparisons)
    if rules.adjust not in (None, MIN_P):
        return moderated
    bounded = [(at, *c.distribution) for at, c in enumerate(comparisons) if c.distribution]
    bounded = [entry for entry in bounded if math.isfinite(entry[1].largest_difference)]
    for entries in group_by(bounded, lambda entry: comparisons[entry[0]].first.metric).values():
        parts = group_by(entries, lambda entry: id(entry[1])).values()
        law = StudentDifferenceDistribution.combine_selected_rows(
            [(part[0][1], np.array([row for *_, row in part])) for part in parts]
        ).with_moderated_errors()
        p = law.p().tolist()
        equivalence = law.equivalence_p(rules.margin).tolist() if rules.margin else p
        for row, (at, *_) in enumerate(chain.from_iterable(parts)):
            results = {"equivalence": equivalence[row]} if rules.margin else {}
            moderated[at] = comparisons[at].with_changes(
                distribution=(law, row), p=p[row], **results
            )
    return moderated


def _adjusted_results(
    families: Sequence[Sequence[Comparison]],
    confidence: Confidence,
    rules: ComparisonOptions,
    *,
    verdicts: bool,
) -> Iterator[Iterable[dict[str, Any]]]:
    """Yield, for each family of tests, the adjusted p-values, the largest significant p (alpha) and
    the name of the adjustment of each comparison."""
    alpha, laws = 1.0 - confidence.level, dict[int, MinPDistribution]()
    to_draw: dict[int, SharedLevelTests] = {}
    for at, comparisons in enumerate(families):
        ratio = comparisons[0].first.metric.definition.is_ratio_of_means
        if ratio or rules.adjust not in (None, MIN_P) or any(c.test == WITHIN for c in comparisons):
            continue
        tested = np.array([c.p for c in comparisons if not math.isnan(c.p)])
        unsure = (tested <= alpha + 1e-9) & (len(tested) * tested > alpha - 1e-9)
        if verdicts and not rules.margin and not unsure.any():
            continue
        if together := _min_p_test_data(comparisons, tested):
            to_draw[at] = together
        else:
            laws[at] = MinPDistribution(len(tested), np.empty(0))
    draws = draw_min_p(list(to_draw.values()), alpha=alpha, **confidence.resample_arguments)
    laws |= zip(to_draw, draws, strict=True)
    for at, comparisons in enumerate(families):
        if comparisons[0].first.metric.definition.is_ratio_of_means:
            yield compare_ratio_metrics(comparisons, confidence, rules)
            continue
        p, equivalence = (
            np.array([getattr(c, name) for c in comparisons]) for name in _P_VALUE_ATTRIBUTES
        )
        adjusted, level, name = [], alpha, rules.adjust or MIN_P
        if any(c.test == WITHIN for c in comparisons):
            name = rules.adjustment_without_sign_flips()
        if name != MIN_P:
            least = np.array([c.smallest_p for c in comparisons])
            adjusted = ADJUSTMENTS[name](p, least).tolist()
            equivalence = ADJUSTMENTS[name](equivalence)
        elif at in laws:
            law = laws[at]
            with_errors = zip(
                law.adjusted(p).tolist(), law.adjusted_p_monte_carlo_errors(p).tolist(), strict=True
            )
            adjusted = [MonteCarloP(*pair) if pair[1] else pair[0] for pair in with_errors]
            name = BONFERRONI if law.test_count > 1 and not len(law.draws) else MIN_P
            equivalence, level = law.adjusted_one_sided(equivalence), law.level_per_test(alpha)
        else:
            tests = int(np.count_nonzero(~np.isnan(p)))
            adjusted, level = np.minimum(tests * p, 1.0).tolist(), alpha / max(tests, 1)
        yield (
            {
                "adjusted": p_adjusted,
                "equivalence": p_equivalent,
                "alpha": level,
                "adjustment": name,
            }
            for p_adjusted, p_equivalent in zip(adjusted, equivalence.tolist(), strict=True)
        )


def _min_p_test_data(comparisons: Sequence[Comparison], p: Floats) -> SharedLevelTests | None:
    tested = [c for c in comparisons if c.has_p_value]
    first, clusters = comparisons[0].tasks, comparisons[0].clusters
    shared = all(arrays_equal(c.tasks, first) for c in comparisons)
    if (
        not tested
        or (clusters is not None and not shared)
        or any(c.missing_bounds for c in comparisons)
    ):
        return None
    if shared:
        sizes = cluster_totals_and_sizes(np.zeros((len(first), 1)), clusters)[1]
        return SharedLevelTests(shared_differences(tested), sizes, p=p)
    tasks = np.unique(np.concatenate([c.tasks for c in tested]))
    if len(tasks) * len(tested) > MOST_CELLS:
        # If the tests use many different sets of tasks, the tests are nearly independent, so
        # Bonferroni's method is enough.
        return None
    differences = np.zeros((len(tasks), len(tested)))
    has_task = np.zeros(differences.shape, dtype=bool)
    for column, c in enumerate(tested):
        at = np.searchsorted(tasks, c.tasks)
        differences[at, column], has_task[at, column] = c.differences, True
    return SharedLevelTests(differences, present_units=has_task, p=p)


def _tests_with_missing_outcomes(
    comparisons: Sequence[Comparison], confidence: Confidence, rules: ComparisonOptions
) -> list[PairedTestResult]:
    """The test of each comparison.  If outcomes are missing, the difference is a range, and p is
    the larger p-value of the two ends of the range.

    p is 1 if the differences at the two ends have different signs.  For sign flips, mid-p,
    McNemar's test and Suissa and Shuster's test, no mixture of passes and failures gives a larger
    p.  The reason is that p falls if a difference changes in the direction of the mean.  For other
    tests, a mixture may give a slightly larger p (see benchmarks/missing.md).
    """
    if not any(c.missing_bounds for c in comparisons):
        return run_unadjusted_tests(comparisons, confidence, rules.test)
    if rules.test == T:
        raise ParameterError(
            OptionWithValue("--test", "t"),
            "with missing outcomes, this test has no valid p-value, because p may be largest if"
            " some of them pass and others fail",
            name="no-bounds", settles=[SuggestedFix({"--test": None})],
        )  # fmt: skip
    answers = iter(
        run_unadjusted_tests(
            [end for c in comparisons for end in c.missing_bounds or (c,)], confidence, rules.test
        )
    )
    worst = []
    for c in comparisons:
        if not c.missing_bounds:
            worst.append(next(answers))
            continue
        low, high = next(answers), next(answers)
        p = max(low.p, high.p) if c.difference_sign or math.isnan(low.p + high.p) else 1.0
        worst.append(PairedTestResult(low.test, p, min(low.smallest_p, high.smallest_p)))
    return worst
