"""Rarefaction and its relatives against every subset."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb, prod

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from passk_cli.metrics.diversity import (
    distinct_at_k,
    distinct_passing_at_k,
    distinct_solution_count,
    duplicate_share,
    pass_at_k_of_distinct_solutions,
    solution_agreement,
)
from passk_cli.metrics.pass_k import pass_at_k
from tests.metrics.bags import Row, bag, over_subsets, rows


@given(rows(8))
@example([(0, 2, 1), (1, 3, 1), (2, 2, 0), (3, 1, 1)])
def test_every_subset(cell: list[Row]) -> None:
    n = sum(count for _, count, _ in cell)
    for k in range(1, n + 1):
        kinds = over_subsets(cell, k, lambda s: Fraction(len({v for v, _, _ in s})))
        passing = over_subsets(cell, k, lambda s: Fraction(len({v for v, _, p in s if p})))
        assert distinct_at_k(*bag(cell), k)[0] == pytest.approx(float(kinds), rel=1e-12)
        result = distinct_passing_at_k(*bag(cell), k)[0]
        assert result == pytest.approx(float(passing), rel=1e-12)
        tries = list(combinations(cell, min(k, len(cell))))
        fails = sum(prod((1 - Fraction(p, m) for _, m, p in s), start=Fraction(1)) for s in tries)
        once = pass_at_k_of_distinct_solutions(*bag(cell), k)[0]
        assert once == pytest.approx(float(1 - fails / len(tries)), abs=1e-13)
    for function in (distinct_at_k, distinct_passing_at_k, pass_at_k_of_distinct_solutions):
        assert np.isnan(function(*bag(cell), n + 1)[0])


@given(rows(9))
def test_pairs_and_repeats(cell: list[Row]) -> None:
    start, _, count, passed = bag(cell)
    n = int(count.sum())
    assert distinct_solution_count(start, count)[0] == len(cell)
    assert duplicate_share(start, count)[0] == pytest.approx(1 - len(cell) / n, rel=1e-12)
    if n == 1:
        assert np.isnan(solution_agreement(start, count)[0])
    else:
        same = over_subsets(cell, 2, lambda s: Fraction(s[0][0] == s[1][0]))
        assert solution_agreement(start, count)[0] == pytest.approx(float(same), abs=1e-13)
        two = distinct_at_k(start, passed, count, passed, 2)[0]
        assert solution_agreement(start, count)[0] == pytest.approx(2 - two, abs=1e-13)
    good = [(value, p, p) for value, _, p in cell if p]
    passes = sum(p for _, p, _ in good)
    assert distinct_solution_count(start, passed)[0] == len(good)
    if passes:
        assert duplicate_share(start, passed)[0] == pytest.approx(1 - len(good) / passes, rel=1e-12)
    else:
        assert np.isnan(duplicate_share(start, passed)[0])
    if passes < 2:
        assert np.isnan(solution_agreement(start, passed)[0])


@settings(max_examples=40)
@given(st.lists(rows(12), min_size=1, max_size=4), st.integers(1, 12))
def test_properties(cells: list[list[Row]], k: int) -> None:
    bags = bag(*cells)
    start, value, count, _ = bags
    kinds, passing, once = (
        f(*bags, k) for f in (distinct_at_k, distinct_passing_at_k, pass_at_k_of_distinct_solutions)
    )
    for i, cell in enumerate(cells):
        for many, single in ((kinds, distinct_at_k), (once, pass_at_k_of_distinct_solutions)):
            np.testing.assert_array_equal(many[i], single(*bag(cell), k)[0])
        n, c = (sum(row[j] for row in cell) for j in (1, 2))
        if n < k:
            continue
        assert 1 - 1e-12 <= kinds[i] <= min(k, len(cell)) + 1e-12
        assert pass_at_k(n, c, k) - 1e-12 <= passing[i] <= kinds[i] + 1e-12
        if k < n:
            # A further attempt brings less and less that is new.
            more = distinct_at_k(*bag(cell), k + 1)[0] - kinds[i]
            assert -1e-12 <= more <= 1 + 1e-12
            if k > 1:
                assert more <= kinds[i] - distinct_at_k(*bag(cell), k - 1)[0] + 1e-12
        if all(count == 1 for _, count, _ in cell):
            assert once[i] == pytest.approx(float(pass_at_k(n, c, k)), abs=1e-12)
    everything = distinct_passing_at_k(start, value, count, count, k)
    np.testing.assert_array_equal(everything, kinds)


@pytest.mark.parametrize("k", [1, 10, 1000, 99_990, 100_000])
def test_many_attempts_match_exact_fractions(k: int) -> None:
    n = 100_000
    counts = [60_000, 39_000, 990, 9, 1]
    cell = [(j, m, 0) for j, m in enumerate(counts)]
    if k in (1, 10, 1000):
        exact = sum(1 - Fraction(comb(n - m, k), comb(n, k)) for m in counts)
    else:  # C(n−m, k)/C(n, k) = C(n−k, m)/C(n, m): few attempts are left out
        exact = sum(1 - Fraction(comb(n - k, m), comb(n, m)) if m < 1000 else 1 for m in counts)
    assert distinct_at_k(*bag(cell), k)[0] == pytest.approx(float(exact), rel=1e-12)


def test_unbiased_agreement() -> None:
    """The mean over all outcomes of four attempts is Σ p²."""
    p = (0.5, 0.3, 0.2)
    mean = 0.0
    for a in range(5):
        for b in range(5 - a):
            times = (a, b, 4 - a - b)
            ways = comb(4, a) * comb(4 - a, b)
            chance = ways * prod(q**m for q, m in zip(p, times, strict=True))
            mean += chance * solution_agreement(np.array([0, 3]), np.array(times))[0]
    assert mean == pytest.approx(sum(q * q for q in p), rel=1e-12)
