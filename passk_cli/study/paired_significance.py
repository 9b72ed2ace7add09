"""Runs significance tests of pairs of models, and chooses a test that is valid for each pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from passk_cli.arrays import Floats, group_pairs
from passk_cli.errors import ParameterError
from passk_cli.inference.bootstrap_weights import cluster_totals_and_sizes
from passk_cli.inference.difference import StudentDifferenceDistribution, least_p_for_unit_sizes
from passk_cli.inference.discordance import suissa_shuster
from passk_cli.inference.intervals import difference_distributions
from passk_cli.inference.min_p import ModelValuesAndPairs
from passk_cli.inference.paired_tests import mcnemar, paired_t, sign_flip_test
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.limits import refuse_many_attempts
from passk_cli.option import load_object
from passk_cli.report.phrases import number_range
from passk_cli.study.comparison import (
    Comparison,
    count_discordant_per_comparison,
    difference_interval_data,
)
from passk_cli.study.confidence import Confidence
from passk_cli.study.significance_options import (
    GUARDED_T,
    MID_P,
    SIGN_FLIP,
    SUISSA_SHUSTER,
    TESTS,
    WITHIN,
)
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix

MCNEMAR_TEST_NAME = "mcnemar"
_DEFAULT_TEST_FIX = SuggestedFix({"--test": None}, "uses the valid test")
_NEW_TASKS_FIX = SuggestedFix({"--population": "new-tasks"}, "tests new tasks")


class PairedTestResult(NamedTuple):
    """The result of a paired test.

    test : name of the test, or "" if the name is the key of the test in TESTS.
    p : the p-value, or NaN if passk cannot compute it.
    distribution : the distribution of the mean difference and the row of the distribution for this
        test, or None if the test has no distribution.
    """

    test: str
    p: float
    smallest_p: float
    distribution: tuple[StudentDifferenceDistribution, int] | None = None


def run_unadjusted_tests(
    comparisons: Sequence[Comparison], confidence: Confidence, test: str | None
) -> list[PairedTestResult]:
    """Test each comparison.  Comparisons over the same tasks use the same random draws.

    Errors: ParameterError for a test that is not valid for a comparison.
    """
    together = group_pairs(
        ((_choose_test(c, confidence, test), c.tasks.tobytes(), c.first.bounds(confidence)), i)
        for i, c in enumerate(comparisons)
    )
    answers: dict[int, PairedTestResult] = {}
    for (name, *_), places in together.items():
        results = load_object(TESTS[name].function_path)(
            [comparisons[i] for i in places], confidence
        )
        with_names = (answer._replace(test=answer.test or name) for answer in results)
        answers |= dict(zip(places, with_names, strict=True))
    return [answers[i] for i in range(len(comparisons))]


def _choose_test(comparison: Comparison, confidence: Confidence, test: str | None) -> str:
    if test is not None:
        _require_valid_test(comparison, confidence, test)
        return test
    if confidence.population == THESE_TASKS:
        return WITHIN
    return SUISSA_SHUSTER if comparison.is_binary else GUARDED_T


def _require_valid_test(comparison: Comparison, confidence: Confidence, test: str) -> None:
    settles: tuple[SuggestedFix, ...] = (_DEFAULT_TEST_FIX,)
    problem = ""
    fixed = confidence.population == THESE_TASKS
    if comparison.label_variance_and_degrees[1] is not None and test != GUARDED_T:
        problem = "this test ignores the uncertainty of the labels"
    elif fixed and test != WITHIN:
        problem = "this test is about new tasks; the test for these tasks permutes attempts"
    elif test == WITHIN and not fixed:
        problem = "this test is only about these tasks, not about new tasks"
        settles = (
            SuggestedFix({"--population": THESE_TASKS}, "tests these tasks"),
            _DEFAULT_TEST_FIX,
        )
    elif test == SUISSA_SHUSTER:
        problem = comparison.why_not_binary
    elif test in (SIGN_FLIP, MID_P) and not comparison.is_binary and comparison.attempts_differ:
        first, second = comparison.n
        problem = (
            f"attempts differ at {int((first != second).sum())} of {len(first)} shared tasks"
            f" ({comparison.first.name} n={number_range(int(first.min()), int(first.max()))},"
            f" {comparison.second.name} n={number_range(int(second.min()), int(second.max()))}),"
            " so the values of equal models have different distributions"
        )
    if problem:
        raise ParameterError(
            OptionWithValue("--test", test), problem, name="invalid-method", settles=settles
        )


def run_attempt_permutation_test(
    group: Sequence[Comparison], confidence: Confidence
) -> list[PairedTestResult]:
    """The permutation test that exchanges attempts of the two models within each task."""
    return [_attempt_permutation_result(comparison, confidence) for comparison in group]


def _attempt_permutation_result(comparison: Comparison, confidence: Confidence) -> PairedTestResult:
    from passk_cli.inference.permutation_test import (
        permutation_test_of_attempt_values,
        permutation_test_within_tasks,
    )

    most = max(int(n.max()) for n in comparison.n)
    refuse_many_attempts("the test for these tasks", most, _NEW_TASKS_FIX)
    metric = comparison.first.metric
    if metric.definition.required_attempt_data and not metric.definition.exchangeable:
        problem = f"{metric.name} depends on the order of attempts, and the test for these tasks"
        problem += " permutes attempts"
        raise ParameterError(problem, name="invalid-method", settles=[_NEW_TASKS_FIX])
    if metric.definition.required_attempt_data:
        bag, other_bag = comparison.attempts
        permutation = permutation_test_of_attempt_values(
            metric, bag, other_bag, **confidence.resample_arguments
        )
    else:
        first, second = zip(comparison.n, comparison.c, strict=True)
        permutation = permutation_test_within_tasks(
            metric, first, second, **confidence.resample_arguments
        )
    return PairedTestResult("", permutation.p, permutation.smallest_possible_p)


def run_guarded_t_test(
    group: Sequence[Comparison], confidence: Confidence
) -> list[PairedTestResult]:
    """The guarded t test, which uses the same distribution as the guarded-t interval of the
    difference."""
    codes, tests = group[0].clusters, dict[int, PairedTestResult]()
    least = least_p_for_unit_sizes(
        cluster_totals_and_sizes(group[0].differences[:, None], codes)[1]
    )
    for places, law in difference_distributions(difference_interval_data(group, confidence)):
        for row, (at, p) in enumerate(zip(places, law.p().tolist(), strict=True)):
            tests[at] = PairedTestResult("", p, least, (law, row))
    return [tests[at] for at in range(len(group))]


def run_suissa_shuster_test(
    group: Sequence[Comparison], confidence: Confidence
) -> list[PairedTestResult]:
    """The exact unconditional test of Suissa and Shuster, which is only for task values of 0 and
    1."""
    tasks = len(group[0].tasks)
    p = suissa_shuster(tasks, *count_discordant_per_comparison(group))
    return _results_from_p_values(p, np.minimum(p, 2.0 ** (1 - tasks)))


def run_paired_t_test(
    group: Sequence[Comparison], confidence: Confidence
) -> list[PairedTestResult]:
    """Student's paired t test."""
    return _results_from_p_values(paired_t(_cluster_differences(group)), np.zeros(len(group)))


def run_mid_p_test(group: Sequence[Comparison], confidence: Confidence) -> list[PairedTestResult]:
    """The sign-flip test with the mid-p-value, which counts only half of the probability of the
    observed result."""
    flips = sign_flip_test(_cluster_differences(group), **confidence.resample_arguments, mid=True)
    return _results_from_p_values(flips.p, flips.smallest_possible_p)


def run_sign_flip_test(
    group: Sequence[Comparison], confidence: Confidence
) -> list[PairedTestResult]:
    """The sign-flip test, or McNemar's test if both models have one attempt per task."""
    flips = sign_flip_test(_cluster_differences(group), **confidence.resample_arguments, mid=False)
    answers = _results_from_p_values(flips.p, flips.smallest_possible_p)
    if group[0].clusters is not None:
        return answers
    return [_mcnemar(c) or answer for c, answer in zip(group, answers, strict=True)]


def _cluster_differences(group: Sequence[Comparison]) -> Floats:
    return cluster_totals_and_sizes(
        np.stack([c.differences for c in group], axis=1), group[0].clusters
    )[0]


def shared_differences(group: Sequence[Comparison]) -> Floats | ModelValuesAndPairs:
    """The differences at each task or cluster, for comparisons that have the same tasks or
    clusters.

    The function returns one column per comparison, or one column per model if there are fewer
    models than comparisons.
    """
    codes, places, models_by_id = group[0].clusters, dict[bytes, int](), dict[int, int]()
    models: list[Floats] = []
    sides: list[int] = []
    for values in (side for c in group for side in c.values):
        if id(values) not in models_by_id:
            models_by_id[id(values)] = places.setdefault(values.tobytes(), len(models))
            if models_by_id[id(values)] == len(models):
                models.append(values)
        sides.append(models_by_id[id(values)])
    if len(models) >= len(group):
        return _cluster_differences(group)
    totals = cluster_totals_and_sizes(np.stack(models, axis=1), codes)[0]
    return ModelValuesAndPairs(totals, np.array(sides[::2]), np.array(sides[1::2]))


def _results_from_p_values(p: Floats, smallest: Floats) -> list[PairedTestResult]:
    return [PairedTestResult("", *pair) for pair in zip(p.tolist(), smallest.tolist(), strict=True)]


def _mcnemar(comparison: Comparison) -> PairedTestResult | None:
    if comparison.first.metric.unit != "share" or max(int(n.max()) for n in comparison.n) > 1:
        return None
    d = comparison.differences
    plus, minus = int((d > 0).sum()), int((d < 0).sum())
    return PairedTestResult(
        MCNEMAR_TEST_NAME, float(mcnemar(plus, minus)), min(1.0, 2.0 ** (1 - plus - minus))
    )
