"""Permutations of attempts within tasks against full enumeration, by law, and their size."""

from __future__ import annotations

from itertools import combinations, product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from passk_cli.inference import attempt_permutation, permutation_test
from passk_cli.inference.permutation_test import (
    permutation_test_of_attempt_values,
    permutation_test_within_tasks,
)
from passk_cli.metrics.registry import parse_metric
from passk_cli.outcomes.attempts import AttemptValuesByCell
from tests.conftest import long_cases

tasks_of_two = st.lists(
    st.integers(2, 4).flatmap(
        lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(2, 3), st.integers(0, 2))
    ),
    min_size=1,
    max_size=3,
)


def by_enumeration(metric: str, tasks: list[tuple[int, int, int, int]]) -> float:
    """The definition: every way to deal the attempts of each task to the two models."""
    measure = parse_metric(metric)

    def difference(n: int, c: int, m: int, d: int) -> float:
        values = (measure.values(np.array([a]), np.array([b]))[0] for a, b in ((n, c), (m, d)))
        first, second = values
        return float(first - second)

    laws = []
    for n, c, m, d in tasks:
        outcomes = [1] * (c + d) + [0] * (n + m - c - d)
        passes = [sum(outcomes[i] for i in rows) for rows in combinations(range(n + m), n)]
        laws.append(
            [difference(n, passes_first, m, c + d - passes_first) for passes_first in passes]
        )
    sums = np.array([sum(item) for item in product(*laws)])
    observed = sum(difference(*task) for task in tasks)
    tails = [np.mean(sums >= observed - 1e-9), np.mean(sums <= observed + 1e-9)]
    return min(1.0, 2 * min(tails))


def columns(
    tasks: list[tuple[int, int, int, int]],
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    n, c, m, d = np.array(tasks).T
    return (n, c), (m, d)


@settings(deadline=None, max_examples=25)
@given(tasks_of_two, st.sampled_from(["pass@1", "pass@2", "pass^2", "gpass@2:0.75"]))
def test_exact_p_is_the_definition(tasks: list[tuple[int, int, int, int]], metric: str) -> None:
    result = permutation_test_within_tasks(parse_metric(metric), *columns(tasks))
    assert result.exact
    assert result.p == pytest.approx(by_enumeration(metric, tasks), rel=1e-9)
    assert 0 < result.smallest_possible_p <= result.p


def test_one_task_is_fishers_exact_test() -> None:
    first, second = (np.array([12]), np.array([10])), (np.array([9]), np.array([3]))
    one_sided = stats.fisher_exact([[10, 2], [3, 6]], alternative="greater").pvalue
    result = permutation_test_within_tasks(parse_metric("pass@1"), first, second)
    assert result.p == pytest.approx(2 * one_sided, rel=1e-9)


def test_one_attempt_each_is_mcnemar() -> None:
    all_ones = np.ones(20, dtype=np.int64)
    first, second = np.repeat([1, 0], [14, 6]), np.repeat([0, 1, 0], [9, 6, 5])
    result = permutation_test_within_tasks(
        parse_metric("pass@1"), (all_ones, first), (all_ones, second)
    )
    b, c = int((first > second).sum()), int((first < second).sum())
    assert result.p == pytest.approx(stats.binomtest(b, b + c).pvalue, rel=1e-9)
    assert result.smallest_possible_p == pytest.approx(2.0 ** (1 - b - c), rel=1e-9)


def test_drawn_p_is_near_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    n = np.full(20, 8)
    first, second = rng.binomial(8, 0.6, 20), rng.binomial(8, 0.5, 20)
    exact = permutation_test_within_tasks(parse_metric("pass@2"), (n, first), (n, second))
    monkeypatch.setattr(permutation_test, "_EXACT_STEPS", 0)
    draws = permutation_test_within_tasks(
        parse_metric("pass@2"), (n, first), (n, second), resamples=20_000
    )
    assert (exact.exact, draws.exact) == (True, False)
    assert draws.p == pytest.approx(exact.p, abs=5 * sqrt(exact.p / 20_000))
    never = permutation_test_within_tasks(parse_metric("pass@2"), (n, n), (n, 0 * n), resamples=99)
    # 99 draws could not show less than 0.02; Chernoff's bound can, and is no less than the exact p.
    assert never.smallest_possible_p <= never.p <= 3 * never.smallest_possible_p < 1e-80


def test_the_bound_is_no_less_than_the_exact_p(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    n = np.full(8, 5)
    pairs = [(rng.binomial(5, 0.9, 8), rng.binomial(5, 0.2, 8)) for _ in range(20)]
    exact = [
        permutation_test_within_tasks(parse_metric("pass^2"), (n, a), (n, b)).p for a, b in pairs
    ]
    monkeypatch.setattr(permutation_test, "_EXACT_STEPS", 0)
    bounds = [
        permutation_test_within_tasks(parse_metric("pass^2"), (n, a), (n, b), resamples=1).p
        for a, b in pairs
    ]
    assert all(p <= bound <= 30 * p or bound == 1 for p, bound in zip(exact, bounds, strict=True))


def test_swapping_the_models_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    first, second = (np.full(15, 9), rng.binomial(9, 0.5, 15)), (np.full(15, 4), np.full(15, 3))
    left_side = permutation_test_within_tasks(parse_metric("pass@3"), first, second)
    right_side = permutation_test_within_tasks(parse_metric("pass@3"), second, first)
    assert left_side.p == pytest.approx(right_side.p, rel=1e-9)


def test_edges() -> None:
    n = np.array([4, 4])
    assert permutation_test_within_tasks(parse_metric("pass@1"), (n, n), (n, n)).p == 1.0
    nothing = np.empty(0, dtype=np.int64)
    assert (
        permutation_test_within_tasks(
            parse_metric("pass@1"), (nothing, nothing), (nothing, nothing)
        ).p
        == 1.0
    )
    with pytest.raises(
        ValueError, match="cannot be computed from counts of attempts and passes only"
    ):
        permutation_test_within_tasks(parse_metric("maj@3"), (n, n), (n, n))
    bag = AttemptValuesByCell.from_rows([0], [1.0], [3], [3], cells=1)
    for metric in ("pass@1", "first@2"):
        with pytest.raises(ValueError, match="cannot be tested by permuting attempts"):
            permutation_test_of_attempt_values(parse_metric(metric), bag, bag)
    assert permutation_test_of_attempt_values(parse_metric("best@2"), bag, bag).p == 1.0
    empty = AttemptValuesByCell.from_rows([], np.empty(0), [], [], cells=0)
    assert permutation_test_of_attempt_values(parse_metric("best@2"), empty, empty).p == 1.0


OF_ATTEMPTS = ["maj@1", "maj@2", "best@2", "worst@2", "mean", "distinct@2", "distinct-correct@2"]
# An attempt is (value, passed); code −1 is no answer.
some_attempts = st.lists(st.tuples(st.integers(-1, 2), st.booleans()), min_size=2, max_size=4)
hands = st.lists(st.tuples(some_attempts, some_attempts), min_size=1, max_size=2)


def bags(cells: list[list[tuple[int, bool]]]) -> AttemptValuesByCell:
    """The attempts of one model at each task."""
    rows = [
        (cell, value, len(member_rows), sum(passed for _, passed in member_rows if value >= 0))
        for cell, attempts in enumerate(cells)
        for value in sorted({value for value, _ in attempts})
        for member_rows in [[row for row in attempts if row[0] == value]]
    ]
    return AttemptValuesByCell.from_rows(
        *(np.array(column) for column in zip(*rows, strict=True)), len(cells)
    )


def dealt_by_hand(metric: str, tasks: list[tuple[list, list]]) -> float:
    """The definition, attempt by attempt."""
    measure = parse_metric(metric)

    def difference(first: list, second: list) -> float:
        left_side, right_side = (
            measure.values_from_attempts(bags([rows]))[0] for rows in (first, second)
        )
        return float(left_side - right_side)

    laws = []
    for first, second in tasks:
        pooled, law = first + second, []
        for member_rows in combinations(range(len(pooled)), len(first)):
            remainder = [item for i, item in enumerate(pooled) if i not in member_rows]
            law.append(difference([pooled[i] for i in member_rows], remainder))
        laws.append(law)
    sums = np.array([sum(entry) for entry in product(*laws)])
    observed = sum(difference(*task) for task in tasks)
    tails = [np.mean(sums >= observed - 1e-9), np.mean(sums <= observed + 1e-9)]
    return min(1.0, 2 * min(tails))


@settings(deadline=None, max_examples=30)
@given(hands, st.sampled_from(OF_ATTEMPTS))
def test_attempts_of_every_kind_by_enumeration(tasks: list[tuple[list, list]], metric: str) -> None:
    first, second = (bags([task[side] for task in tasks]) for side in (0, 1))
    result = permutation_test_of_attempt_values(parse_metric(metric), first, second)
    assert result.exact
    assert result.p == pytest.approx(dealt_by_hand(metric, tasks), rel=1e-9)
    assert 0 < result.smallest_possible_p <= result.p


def test_answers_keep_apart_whatever_their_codes_are() -> None:
    right, usual, rare = (2, True), (0, False), (1, False)
    task = ([right, right, rare], [usual, usual, right])
    result = permutation_test_of_attempt_values(
        parse_metric("maj@3"), *(bags([rows]) for rows in task)
    )
    assert result.p == pytest.approx(dealt_by_hand("maj@3", [task]), rel=1e-9)


def scores(rng: np.random.Generator, tasks: int, n: int, shift: float = 0.0) -> AttemptValuesByCell:
    """Continuous scores: no two attempts are equal."""
    value = np.sort(rng.normal(np.linspace(-1, 1, tasks)[:, None] + shift, 1.0, (tasks, n)))
    all_ones = np.ones(tasks * n, dtype=np.int64)
    return AttemptValuesByCell.from_rows(
        np.repeat(np.arange(tasks), n), value.ravel(), all_ones, 0 * all_ones, tasks
    )


def test_scores_of_0_and_1_are_passes() -> None:
    rng = np.random.default_rng(3)
    n = np.full(12, 6)
    counts = [rng.binomial(6, p, 12) for p in (0.7, 0.4)]
    graded = [
        bags([[(1, True)] * c + [(0, False)] * (6 - c) for c in rows.tolist()]) for rows in counts
    ]
    for metric, same in (("best@3", "pass@3"), ("worst@2", "pass^2"), ("mean", "pass@1")):
        expected = permutation_test_within_tasks(parse_metric(same), (n, counts[0]), (n, counts[1]))
        result = permutation_test_of_attempt_values(parse_metric(metric), *graded)
        assert result.p == pytest.approx(expected.p, rel=1e-6)


def test_a_sample_of_deals_is_near_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    first, second = scores(rng, 5, 5, 0.5), scores(rng, 5, 5)
    total = permutation_test_of_attempt_values(
        parse_metric("best@2"), first, second, resamples=40_000
    )
    monkeypatch.setattr(attempt_permutation, "_DEALS", 0)
    sample = permutation_test_of_attempt_values(
        parse_metric("best@2"), first, second, resamples=40_000
    )
    assert sample.p == pytest.approx(total.p, abs=0.1)
    assert sample.p != total.p
    assert not sample.exact


@pytest.mark.parametrize(("n", "metric"), [((9, 5), "worst@3"), *long_cases(((6, 6), "best@2"))])
def test_size_and_power_with_samples_of_deals(n: tuple[int, int], metric: str) -> None:
    # C(12, 6) deals of each task, of which 128 at most: the observed one is always among them.
    rng = np.random.default_rng(5)
    shares = []
    for shift in (0.0, 1.2):
        reject = 0
        for run in range(80):
            first, second = scores(rng, 4, n[0], shift), scores(rng, 4, n[1])
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(attempt_permutation, "_DEALS", 0)
                result = permutation_test_of_attempt_values(
                    parse_metric(metric), first, second, resamples=199, seed=run
                )
            reject += result.p <= 0.05
        shares.append(reject / 80)
    assert shares[0] <= 0.05 + 3 * sqrt(0.05 * 0.95 / 80)
    assert shares[1] > 0.5


@pytest.mark.parametrize(("n", "k"), [((6, 6), 1), ((12, 4), 4)])
def test_size_and_power_on_these_tasks(n: tuple[int, int], k: int) -> None:
    # Four tasks: sign flips could never reject at 5 %.
    rng = np.random.default_rng(2)
    rates = np.array([0.2, 0.5, 0.6, 0.9])
    attempts = tuple(np.full(4, m) for m in n)
    shares = []
    for lower in (rates, rates / 4):
        reject = 0
        for _ in range(80):
            counts = [
                (m, rng.binomial(m, p)) for m, p in zip(attempts, (rates, lower), strict=True)
            ]
            reject += permutation_test_within_tasks(parse_metric(f"pass@{k}"), *counts).p <= 0.05
        shares.append(reject / 80)
    assert shares[0] <= 0.05 + 3 * sqrt(0.05 * 0.95 / 80)
    assert shares[1] > 0.5
