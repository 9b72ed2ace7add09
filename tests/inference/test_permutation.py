"""Permutations of attempts within tasks against full enumeration, by law, and their size."""

from __future__ import annotations

from itertools import combinations, product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from passk_cli.inference import permutation
from passk_cli.inference.permutation import permutation_within_tasks
from passk_cli.metrics.registry import parse

tasks_of_two = st.lists(
    st.integers(2, 4).flatmap(
        lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(2, 3), st.integers(0, 2))
    ),
    min_size=1,
    max_size=3,
)


def by_enumeration(metric: str, tasks: list[tuple[int, int, int, int]]) -> float:
    """The definition: every way to deal the attempts of each task to the two models."""
    chosen = parse(metric)

    def difference(n: int, c: int, m: int, d: int) -> float:
        values = (chosen.values(np.array([a]), np.array([b]))[0] for a, b in ((n, c), (m, d)))
        first, second = values
        return float(first - second)

    laws = []
    for n, c, m, d in tasks:
        outcomes = [1] * (c + d) + [0] * (n + m - c - d)
        passes = [sum(outcomes[i] for i in own) for own in combinations(range(n + m), n)]
        laws.append([difference(n, mine, m, c + d - mine) for mine in passes])
    sums = np.array([sum(each) for each in product(*laws)])
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
    found = permutation_within_tasks(parse(metric), *columns(tasks))
    assert found.exact
    assert found.p == pytest.approx(by_enumeration(metric, tasks), rel=1e-9)
    assert 0 < found.smallest <= found.p


def test_one_task_is_fishers_exact_test() -> None:
    first, second = (np.array([12]), np.array([10])), (np.array([9]), np.array([3]))
    one_sided = stats.fisher_exact([[10, 2], [3, 6]], alternative="greater").pvalue
    found = permutation_within_tasks(parse("pass@1"), first, second)
    assert found.p == pytest.approx(2 * one_sided, rel=1e-9)


def test_one_attempt_each_is_mcnemar() -> None:
    ones = np.ones(20, dtype=np.int64)
    first, second = np.repeat([1, 0], [14, 6]), np.repeat([0, 1, 0], [9, 6, 5])
    found = permutation_within_tasks(parse("pass@1"), (ones, first), (ones, second))
    b, c = int((first > second).sum()), int((first < second).sum())
    assert found.p == pytest.approx(stats.binomtest(b, b + c).pvalue, rel=1e-9)
    assert found.smallest == pytest.approx(2.0 ** (1 - b - c), rel=1e-9)


def test_drawn_p_is_near_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    n = np.full(20, 8)
    first, second = rng.binomial(8, 0.6, 20), rng.binomial(8, 0.5, 20)
    exact = permutation_within_tasks(parse("pass@2"), (n, first), (n, second))
    monkeypatch.setattr(permutation, "_EXACT_STEPS", 0)
    drawn = permutation_within_tasks(parse("pass@2"), (n, first), (n, second), resamples=20_000)
    assert (exact.exact, drawn.exact) == (True, False)
    assert drawn.p == pytest.approx(exact.p, abs=5 * sqrt(exact.p / 20_000))
    never = permutation_within_tasks(parse("pass@2"), (n, n), (n, 0 * n), resamples=99)
    assert never.p == 2 / 100
    assert never.smallest <= never.p


def test_swapping_the_models_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    first, second = (np.full(15, 9), rng.binomial(9, 0.5, 15)), (np.full(15, 4), np.full(15, 3))
    one = permutation_within_tasks(parse("pass@3"), first, second)
    other = permutation_within_tasks(parse("pass@3"), second, first)
    assert one.p == pytest.approx(other.p, rel=1e-9)


def test_edges() -> None:
    n = np.array([4, 4])
    assert permutation_within_tasks(parse("pass@1"), (n, n), (n, n)).p == 1.0
    none = np.empty(0, dtype=np.int64)
    assert permutation_within_tasks(parse("pass@1"), (none, none), (none, none)).p == 1.0
    with pytest.raises(ValueError, match="needs more of the attempts"):
        permutation_within_tasks(parse("maj@3"), (n, n), (n, n))


@pytest.mark.parametrize(("n", "k"), [((6, 6), 1), ((12, 4), 4)])
def test_size_and_power_on_these_tasks(n: tuple[int, int], k: int) -> None:
    # Four tasks: sign flips could never reject at 5 %.
    rng = np.random.default_rng(2)
    rates = np.array([0.2, 0.5, 0.6, 0.9])
    attempts = tuple(np.full(4, m) for m in n)
    shares = []
    for lower in (rates, rates / 4):
        reject = 0
        for _ in range(200):
            counts = [
                (m, rng.binomial(m, p)) for m, p in zip(attempts, (rates, lower), strict=True)
            ]
            reject += permutation_within_tasks(parse(f"pass@{k}"), *counts).p <= 0.05
        shares.append(reject / 200)
    assert shares[0] <= 0.05 + 3 * sqrt(0.05 * 0.95 / 200)
    assert shares[1] > 0.5
