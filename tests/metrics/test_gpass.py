"""gpass@k and mgpass@k against exact hypergeometric sums, scorio, and by law."""

from __future__ import annotations

import warnings
from fractions import Fraction
from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import passk_cli
from passk_cli.metrics.gpass import (
    at_least_m_of_k_per_pair,
    gpass_per_pair,
    mgpass_per_pair,
    passes_needed,
)
from passk_cli.metrics.pass_k import pass_at_k_per_pair, pass_hat_k_per_pair

SMALLEST = Fraction(1, 10**307)
shares = st.fractions(0, 1, max_denominator=40)


def cells(largest: int) -> st.SearchStrategy[tuple[int, int, int]]:
    return st.integers(1, largest).flatmap(
        lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))
    )


def exact(n: int, c: int, k: int, least: int) -> Fraction:
    """P(X ≥ least) in integers."""
    above = sum(comb(c, j) * comb(n - c, k - j) for j in range(least, min(c, k) + 1))
    return Fraction(above, comb(n, k))


def first(n: int, c: int, k: int, least: int) -> float:
    return float(at_least_m_of_k_per_pair(np.array([n]), np.array([c]), k, least)[0])


def relative(value: float, expected: Fraction) -> float:
    if expected < SMALLEST:
        return 0.0 if 0 <= value <= 1e-306 else 1.0
    return float(abs(Fraction(value) - expected) / expected)


@given(cells(300), shares)
def test_equal_to_hypergeometric_sums(cell: tuple[int, int, int], share: Fraction) -> None:
    n, c, k = cell
    least = passes_needed(k, share)
    expected = exact(n, c, k, least)
    value = float(gpass_per_pair(np.array([n]), np.array([c]), k, share)[0])
    assert relative(value, expected) <= 1e-12
    # The complement, small where the value is near 1: passes and failures exchanged.
    assert relative(first(n, n - c, k, k - least + 1), 1 - expected) <= 1e-12


@pytest.mark.parametrize(
    ("c", "k", "least"),
    [(5000, 1000, 400), (5000, 1000, 700), (9900, 5000, 4990), (30, 5000, 28), (200, 9000, 150)],
)
def test_ten_thousand_attempts_in_both_tails(c: int, k: int, least: int) -> None:
    n = 10_000
    expected = exact(n, c, k, least)
    assert 0 < expected < 1
    assert relative(first(n, c, k, least), expected) <= 1e-12
    assert relative(first(n, n - c, k, k - least + 1), 1 - expected) <= 1e-12


def test_a_million_attempts() -> None:
    # Half of 10⁶ attempts pass and k is odd: more than half of k pass as often as not.
    assert first(10**6, 500_000, 499_999, 250_000) == pytest.approx(0.5, rel=1e-12)


@given(cells(200))
def test_shares_of_zero_and_one_are_pass_at_k_and_pass_hat_k(cell: tuple[int, int, int]) -> None:
    n, c, k = np.array([cell[0]]), np.array([cell[1]]), cell[2]
    for tiny in (Fraction(0), Fraction(1, 10**9)):
        assert gpass_per_pair(n, c, k, tiny) == pass_at_k_per_pair(n, c, k)
    assert gpass_per_pair(n, c, k, Fraction(1)) == pass_hat_k_per_pair(n, c, k)


@given(cells(200), shares, shares)
def test_monotone_in_the_share_and_in_c(
    cell: tuple[int, int, int], one_share: Fraction, second: Fraction
) -> None:
    n, c, k = cell
    low, high = sorted((one_share, second))
    at = np.array([n])
    easier, harder = (gpass_per_pair(at, np.array([c]), k, share) for share in (low, high))
    assert harder <= easier * (1 + 1e-13)
    if c < n:
        assert gpass_per_pair(at, np.array([c + 1]), k, low) >= easier * (1 - 1e-13)


@given(cells(150))
def test_mgpass_is_the_mean_of_gpass(cell: tuple[int, int, int]) -> None:
    n, c, k = cell
    terms = (exact(n, c, k, i) for i in range(-(-k // 2) + 1, k + 1))
    expected = Fraction(2, k) * sum(terms, Fraction(0))
    assert relative(float(mgpass_per_pair(np.array([n]), np.array([c]), k)[0]), expected) <= 1e-12


def test_the_share_is_exact() -> None:
    assert 0.28 * 25 > 7
    assert passes_needed(25, Fraction("0.28")) == 7
    for k in range(1, 60):
        assert [passes_needed(k, Fraction(i, k)) for i in range(1, k + 1)] == [*range(1, k + 1)]
    assert passes_needed(4, Fraction(0)) == 1


def test_too_few_attempts_and_certain_cells() -> None:
    n, c = np.array([4, 8, 8, 8]), np.array([4, 8, 0, 6])
    np.testing.assert_array_equal(gpass_per_pair(n, c, 5, Fraction("0.6")), [np.nan, 1.0, 0.0, 1.0])
    np.testing.assert_array_equal(mgpass_per_pair(n, c, 5)[:3], [np.nan, 0.8, 0.0])
    np.testing.assert_array_equal(mgpass_per_pair(n[1:], c[1:], 1), [0.0, 0.0, 0.0])


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    c = np.arange(121)
    n = np.full(121, 120)
    total = gpass_per_pair(n, c, 60, Fraction("0.4"))
    monkeypatch.setattr("passk_cli.metrics.gpass._BLOCK_TERMS", 100)
    np.testing.assert_array_equal(gpass_per_pair(n, c, 60, Fraction("0.4")), total)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 24))
def test_agreement_with_scorio(seed: int, tries: int) -> None:
    scorio = pytest.importorskip("scorio.eval")
    rng = np.random.default_rng(seed)
    matrix = rng.binomial(1, rng.beta(0.7, 0.7, (7, 1)), (7, tries))
    k = int(rng.integers(1, tries + 1))
    n, c = np.full(7, tries), matrix.sum(axis=1)
    for text in ("0", "0.25", "0.28", "0.5", "0.75", "1"):
        passk_value = gpass_per_pair(n, c, k, Fraction(text)).mean()
        assert passk_value == pytest.approx(
            scorio.g_pass_at_k_tau(matrix, k, float(text)), rel=1e-10
        )
    passk_value = mgpass_per_pair(n, c, k).mean()
    assert passk_value == pytest.approx(scorio.mg_pass_at_k(matrix, k), rel=1e-10)


@pytest.mark.parametrize(("k", "most"), [(1, 0.0), (2, 1.0), (3, 2 / 3), (5, 0.8)])
def test_mgpass_of_odd_k_warns_and_stays_in_its_range(k: int, most: float) -> None:
    tasks = [f"t{task}" for task in range(20)]
    frame = pd.DataFrame({"model": "m", "task": tasks, "n": 5, "c": 5})
    with warnings.catch_warnings(action="ignore"):
        report = passk_cli.estimate(frame, f"mgpass@{k}")
    (row,) = report.frame.itertuples()
    assert (row.estimate, row.high) == (pytest.approx(most), pytest.approx(most))
    assert ("odd-k" in {message.name for message in report.messages}) == (k % 2 == 1)
