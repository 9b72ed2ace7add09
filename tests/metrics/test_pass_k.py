"""pass@k and pass^k against exact fractions, by law, and on the published numbers."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passk_cli.errors import ParameterError
from passk_cli.metrics.pass_k import pass_at_and_hat_curves, pass_at_k, pass_hat_k, unique_pairs
from passk_cli.metrics.registry import (
    default_ks,
    parse_ks,
    parse_metric,
    parse_metric_list,
    task_values,
)

cells = st.integers(1, 400).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))
)


def exact_hat(n: int, c: int, k: int) -> Fraction:
    """C(c, k) / C(n, k) in integers, by the shorter product so that n = 10⁶ is feasible."""
    m = n - c
    if c < k:
        return Fraction(0)
    above, below = 1, 1
    for j in range(min(m, k)):
        above *= n - j - max(m, k)
        below *= n - j
    return Fraction(above, below)


def relative(value: float, exact: Fraction) -> float:
    return float(abs(Fraction(value) - exact) / exact) if exact else abs(value)


@given(cells)
def test_small_cells_match_binomials(cell: tuple[int, int, int]) -> None:
    n, c, k = cell
    hat = Fraction(comb(c, k), comb(n, k))
    at = 1 - Fraction(comb(n - c, k), comb(n, k))
    assert exact_hat(n, c, k) == hat
    assert relative(float(pass_hat_k(n, c, k)), hat) <= 1e-12
    assert relative(float(pass_at_k(n, c, k)), at) <= 1e-12


@given(st.integers(1, 10**6), st.data())
def test_large_cells_match_exact_fractions_in_both_tails(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, min(n, 2000)) | st.integers(1, n))
    c = data.draw(st.integers(0, n) if k <= 2000 else st.integers(0, min(n, 2000)))
    if data.draw(st.booleans()):
        k, c = min(k, 2000), n - min(c, 2000)
    fail = exact_hat(n, n - c, k)
    assert relative(float(pass_at_k(n, c, k)), 1 - fail) <= 1e-12
    if fail > Fraction(1, 10**300):
        # The chance that all k fail is pass^k with passes and failures exchanged.
        assert relative(float(pass_hat_k(n, n - c, k)), fail) <= 1e-12


def test_a_tiny_failure_probability_is_not_zero() -> None:
    assert float(pass_hat_k(1000, 500, 100)) == pytest.approx(
        float(exact_hat(1000, 500, 100)), rel=1e-12
    )
    assert float(pass_hat_k(1000, 500, 100)) == pytest.approx(3.2e-33, rel=1e-2)


@given(cells)
def test_complement_law(cell: tuple[int, int, int]) -> None:
    n, c, k = cell
    assert float(pass_at_k(n, c, k)) == pytest.approx(1 - float(pass_hat_k(n, n - c, k)), abs=1e-14)


@given(cells)
def test_monotone_in_k_and_c(cell: tuple[int, int, int]) -> None:
    n, c, k = cell
    slack = 1e-13
    if k < n:
        assert pass_at_k(n, c, k + 1) >= pass_at_k(n, c, k) - slack
        assert pass_hat_k(n, c, k + 1) <= pass_hat_k(n, c, k) + slack
    if c < n:
        assert pass_at_k(n, c + 1, k) >= pass_at_k(n, c, k) - slack
        assert pass_hat_k(n, c + 1, k) >= pass_hat_k(n, c, k) - slack


def test_too_few_attempts_is_not_a_number() -> None:
    assert np.isnan(pass_at_k(4, 4, 5))
    assert np.isnan(pass_hat_k(4, 0, 5))


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0), (3.5, 1, 1)])
def test_impossible_counts_are_refused(n: float, c: float, k: int) -> None:
    with pytest.raises(ValueError, match="must"):
        pass_at_k(n, c, k)


@given(st.lists(cells.map(lambda cell: cell[:2]), min_size=1, max_size=30))
def test_curves_and_tables_agree_with_single_values(pairs: list[tuple[int, int]]) -> None:
    n, c = (np.array(column) for column in zip(*pairs, strict=True))
    at, hat = pass_at_and_hat_curves(n, c, 12)
    for k in range(1, 13):
        np.testing.assert_allclose(at[:, k - 1], pass_at_k(n, c, k), rtol=1e-12)
        np.testing.assert_allclose(hat[:, k - 1], pass_hat_k(n, c, k), rtol=1e-12)
        pair = task_values([parse_metric(f"pass@{k}"), parse_metric(f"pass^{k}")], n, c)
        np.testing.assert_array_equal(pair, [pass_at_k(n, c, k), pass_hat_k(n, c, k)])


def test_broadcasting() -> None:
    assert pass_at_k([[4], [8]], 2, [1, 2, 5]).shape == (2, 3)
    assert pass_hat_k(4, [1, 2], 1).tolist() == [0.25, 0.5]


def test_unbiased_by_enumeration() -> None:
    """The estimator's mean over all outcomes of n coins is the probability it estimates."""
    n, p = 6, Fraction(1, 3)
    weights = [comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    for k in range(1, n + 1):
        hats = pass_hat_k(n, np.arange(n + 1), k)
        mean = sum(float(w) * h for w, h in zip(weights, hats, strict=True))
        assert mean == pytest.approx(float(p**k), rel=1e-12)


def test_names() -> None:
    assert [m.name for m in parse_metric_list("pass@1, pass^4,pass@1")] == ["pass@1", "pass^4"]
    assert default_ks(100) == (1, 10, 100)
    assert default_ks(9) == (1, 2, 4, 8, 9)
    for bad in ("pass@0", "pass@", "bestest3", "pass@x", "gpass@8:0", "gpass@8:1.1"):
        with pytest.raises(ParameterError):
            parse_metric(bad)
    for bad in ("0", "-1", "1,x", ""):
        with pytest.raises(ParameterError):
            parse_ks(bad)


@pytest.mark.parametrize(
    ("n", "c", "k"),
    [(10**10, 1, 1), (10**12, 5 * 10**11, 1), (1e10, 1, 1), (10**30, 1, 1), (5, 1, 10**9 + 1)],
)
def test_beyond_what_64_bits_hold_it_refuses(n: float, c: int, k: int) -> None:
    for estimator in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="must be at most 1,000,000,000"):
            estimator(n, c, k)
    if n > 10**9 and n < 2**62:
        with pytest.raises(ValueError, match="must be at most 1,000,000,000"):
            unique_pairs(np.array([int(n), 3]), np.array([c, 1]))


def test_the_largest_n_is_exact() -> None:
    most = 10**9
    assert pass_at_k(most, 1, 1) == 1e-9
    assert pass_at_k([most, 3], [1, 1], [1, 1]).tolist() == pytest.approx([1e-9, 1 / 3])
    exact = 1 - Fraction(comb(most - 7, 3), comb(most, 3))
    assert float(pass_at_k(most, 7, 3)) == pytest.approx(float(exact), rel=1e-12)
    assert pass_hat_k(most, most // 2, 2) == pytest.approx(0.25, rel=1e-8)
