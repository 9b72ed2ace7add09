"""maj@k against every subset, exact fractions, and the size it has to cope with."""

from __future__ import annotations

import time
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passk_cli.metrics.majority import majority_at_k
from tests.metrics.bags import Row, bag, over_subsets, rows


def vote(cell: list[Row]) -> dict[int, Fraction]:
    """Answer → how often it is right."""
    return {value: Fraction(passed, count) for value, count, passed in cell}


def leader_is_right(cell: list[Row], k: int) -> Fraction:
    """By counting every subset."""
    right = vote(cell)

    def of(subset: list[Row]) -> Fraction:
        votes: dict[int, int] = {}
        for value, _, _ in subset:
            if value >= 0:
                votes[value] = votes.get(value, 0) + 1
        leaders = [a for a in votes if votes[a] == max(votes.values())]
        return sum((right[a] for a in leaders), Fraction(0)) / max(len(leaders), 1)

    return over_subsets(cell, k, of)


def exact(cell: list[Row], k: int) -> Fraction:
    """By adding one answer at a time: ways to draw, most votes and leaders so far."""
    right = vote(cell)
    ways = {(0, 0, 0): (1, Fraction(0))}
    for value, count, _ in cell:
        grown: dict[tuple[int, int, int], tuple[int, Fraction]] = {}
        for (draws, most, leaders), (times, good) in ways.items():
            for i in range(min(count, k - draws) + 1):
                if value < 0 or i < most or i == 0:
                    key, wins = (draws + i, most, leaders), good
                elif i == most:
                    key, wins = (draws + i, most, leaders + 1), good + times * right[value]
                else:
                    key, wins = (draws + i, i, 1), times * right[value]
                before = grown.get(key, (0, Fraction(0)))
                times_here = comb(count, i)
                grown[key] = (before[0] + times * times_here, before[1] + wins * times_here)
        ways = grown
    shared = (
        good / leaders for (draws, _, leaders), (_, good) in ways.items() if draws == k and leaders
    )
    return sum(shared, Fraction(0)) / comb(sum(count for _, count, _ in cell), k)


@given(st.sampled_from([-1, 0]).flatmap(lambda first: rows(8, first)))
def test_every_subset(cell: list[Row]) -> None:
    n = sum(count for _, count, _ in cell)
    for k in range(1, n + 1):
        by_counting = leader_is_right(cell, k)
        assert exact(cell, k) == by_counting
        assert majority_at_k(*bag(cell), k)[0] == pytest.approx(float(by_counting), abs=1e-12)
    assert np.isnan(majority_at_k(*bag(cell), n + 1)[0])


def drawn(rng: np.random.Generator, n: int, answers: int, first: int) -> list[Row]:
    """A cell with so many attempts and answers, of which some are always right, some at times."""
    counts = rng.multinomial(n - answers, rng.dirichlet(np.full(answers, 0.5))) + 1
    passed = counts * (rng.random(answers) < 0.4)
    mixed = rng.random(answers) < 0.2
    passed[mixed] = rng.integers(0, counts[mixed] + 1)
    codes = range(first, first + answers)
    return [
        (a, int(m), int(p) if a >= 0 else 0) for a, m, p in zip(codes, counts, passed, strict=True)
    ]


@pytest.mark.parametrize(
    ("n", "answers", "ks"),
    [(10, 4, range(1, 11)), (30, 12, (1, 2, 15, 29, 30)), (64, 40, (7, 64))],
)
def test_exact_fractions(n: int, answers: int, ks: range) -> None:
    rng = np.random.default_rng(n)
    cells = [drawn(rng, n, answers, first) for first in (-1, 0, -1)]
    for k in ks:
        result = majority_at_k(*bag(*cells), k)
        expected = [float(exact(cell, k)) for cell in cells]
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-11)


@settings(max_examples=40)
@given(st.lists(rows(12, -1), min_size=1, max_size=4), st.integers(1, 12))
def test_properties(cells: list[list[Row]], k: int) -> None:
    result = majority_at_k(*bag(*cells), k)
    for i, cell in enumerate(cells):
        np.testing.assert_allclose(result[i], majority_at_k(*bag(cell), k)[0], rtol=0, atol=1e-13)
        n = sum(count for _, count, _ in cell)
        if k == 1:
            # A single attempt is the majority of itself.
            passes = sum(p for value, _, p in cell if value >= 0)
            assert result[i] == pytest.approx(passes / n, abs=1e-13)
        right = [(value, count, count if value >= 0 else 0) for value, count, _ in cell]
        nulls = sum(count for value, count, _ in cell if value < 0)
        if k <= n:
            # Where every answer is right, only k attempts without one can fail.
            sure = majority_at_k(*bag(right), k)[0]
            assert sure == pytest.approx(1 - comb(nulls, k) / comb(n, k), abs=1e-12)


def test_all_attempts_are_the_plain_majority() -> None:
    tied = [(-1, 9, 0), (0, 3, 3), (1, 3, 0), (2, 3, 0), (3, 1, 1)]
    assert majority_at_k(*bag(tied), 19)[0] == pytest.approx(1 / 3, abs=1e-12)


def test_a_thousand_tasks_in_seconds() -> None:
    """A quarter of them here, which take half a second on an idle machine."""
    rng = np.random.default_rng(0)
    cells = [drawn(rng, 256, 30, -1) for _ in range(250)]
    begin = time.process_time()
    majority_at_k(*bag(*cells), 64)
    assert time.process_time() - begin < 4
