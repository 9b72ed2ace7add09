"""best@k and worst@k against every subset, exact fractions, and pass@k on 0/1 scores."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passk_cli.metrics.graded import best_at_k, mean_score, worst_at_k
from passk_cli.metrics.pass_k import pass_at_k, pass_hat_k
from tests.metrics.bags import Row, bag, over_subsets

scores = st.floats(-1e3, 1e3, allow_nan=False, width=32)
cells = st.lists(scores, min_size=1, max_size=8).map(
    lambda xs: [(x, xs.count(x), 0) for x in sorted(set(xs))]
)


def exact(cell: list[Row], k: int) -> tuple[Fraction, Fraction]:
    """Σ_j x_j [C(N_j, k) − C(N_{j−1}, k)] / C(n, k), and its mirror."""
    n = sum(count for _, count, _ in cell)
    best = worst = Fraction(0)
    below = 0
    for value, count, _ in cell:
        x, above = Fraction(float(value)), n - below - count
        best += x * (comb(below + count, k) - comb(below, k))
        worst += x * (comb(above + count, k) - comb(above, k))
        below += count
    return best / comb(n, k), worst / comb(n, k)


@given(cells)
def test_every_subset(cell: list[Row]) -> None:
    n = sum(count for _, count, _ in cell)
    width = max(float(cell[-1][0] - cell[0][0]), 1e-300)
    for k in range(1, n + 1):
        best = over_subsets(cell, k, lambda s: Fraction(max(x for x, _, _ in s)))
        worst = over_subsets(cell, k, lambda s: Fraction(min(x for x, _, _ in s)))
        assert exact(cell, k) == (best, worst)
        slack = 1e-12 * width + 1e-13 * abs(float(cell[0][0]))
        assert best_at_k(*bag(cell), k)[0] == pytest.approx(float(best), abs=slack)
        assert worst_at_k(*bag(cell), k)[0] == pytest.approx(float(worst), abs=slack)
    assert np.isnan(best_at_k(*bag(cell), n + 1)[0])
    assert np.isnan(worst_at_k(*bag(cell), n + 1)[0])


@pytest.mark.parametrize("n", [200, 3000])
@pytest.mark.parametrize("part", [0.001, 0.1, 0.5, 0.99, 1])
def test_many_attempts_match_exact_fractions(n: int, part: float) -> None:
    rng = np.random.default_rng(n)
    k = max(1, int(part * n))
    values = np.sort(rng.normal(size=40))
    counts = rng.multinomial(n - 40, np.full(40, 1 / 40)) + 1
    cell = [(x, c, 0) for x, c in zip(values.tolist(), counts.tolist(), strict=True)]
    best, worst = exact(cell, k)
    width = values[-1] - values[0]
    assert best_at_k(*bag(cell), k)[0] == pytest.approx(float(best), abs=1e-12 * width)
    assert worst_at_k(*bag(cell), k)[0] == pytest.approx(float(worst), abs=1e-12 * width)


def test_a_hundred_thousand_attempts() -> None:
    n = 100_000
    start, value, all_ones = np.array([0, n]), np.arange(n) / (n - 1), np.ones(n, dtype=np.int64)
    for k in (1, 50_000, n):
        # The highest of k numbers out of 0 … n−1 is k (n+1)/(k+1) − 1 on average.
        expected = (k * (n + 1) / (k + 1) - 1) / (n - 1)
        assert best_at_k(start, value, all_ones, all_ones, k)[0] == pytest.approx(
            expected, abs=1e-12
        )
        assert worst_at_k(start, value, all_ones, all_ones, k)[0] == pytest.approx(
            1 - expected, abs=1e-12
        )


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), min_size=1, max_size=20))
def test_scores_of_zero_and_one_give_pass_at_k(passes_and_fails: list[tuple[int, int]]) -> None:
    pairs = [(c, f) for c, f in passes_and_fails if c + f > 0]
    if not pairs:
        return
    cells = [[(x, m, x * m) for x, m in ((0.0, f), (1.0, c)) if m] for c, f in pairs]
    c = np.array([c for c, _ in pairs])
    n = c + np.array([f for _, f in pairs])
    for k in (1, 2, 7, 100):
        best, worst = best_at_k(*bag(*cells), k), worst_at_k(*bag(*cells), k)
        np.testing.assert_allclose(best, pass_at_k(n, c, k), rtol=0, atol=1e-14)
        np.testing.assert_allclose(worst, pass_hat_k(n, c, k), rtol=0, atol=1e-14)
    np.testing.assert_allclose(mean_score(*bag(*cells)), c / n, rtol=1e-15)


@given(st.lists(cells, min_size=2, max_size=5), st.integers(1, 8))
def test_properties(many: list[list[Row]], k: int) -> None:
    best, worst = best_at_k(*bag(*many), k), worst_at_k(*bag(*many), k)
    mean = mean_score(*bag(*many), k)
    for i, cell in enumerate(many):
        # One cell's value does not depend on its neighbours.
        np.testing.assert_array_equal(best[i], best_at_k(*bag(cell), k)[0])
        mirrored = [(-x, count, 0) for x, count, _ in reversed(cell)]
        np.testing.assert_allclose(worst[i], -best_at_k(*bag(mirrored), k)[0], atol=1e-9)
    enough = ~np.isnan(best)
    assert np.all(worst[enough] <= mean[enough] + 1e-9)
    assert np.all(mean[enough] <= best[enough] + 1e-9)
    np.testing.assert_allclose(best_at_k(*bag(*many), 1), mean_score(*bag(*many)), atol=1e-9)
