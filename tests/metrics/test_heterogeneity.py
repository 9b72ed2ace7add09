"""Curves of exact rates, and estimators of powers and moments, by enumeration and by law."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passk_cli.metrics.heterogeneity import (
    RateMoments,
    moments_new_tasks,
    moments_of_rates,
    moments_these_tasks,
    pass_curves_from_rates,
    power_of_mean_rate_new_tasks,
    power_of_mean_rate_these_tasks,
)
from passk_cli.metrics.pass_k import (
    pass_at_and_hat_curve_blocks,
    pass_at_and_hat_curves,
    pass_at_k,
    pass_hat_k,
)
from tests.conftest import long_cases

rates = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=9)
KS = np.arange(1, 13)
FAMILIES = {
    "homogeneous": [0.5] * 6,
    "no skew": [0.2, 0.8] * 3,
    "negative skew": [0.07, 0.715, 0.715] * 2,
    "positive skew": [0.93, 0.285, 0.285] * 2,
}


def exact(p: list[float], k: int) -> tuple[Fraction, Fraction, Fraction]:
    """pass@k, pass^k and μ^k of exact rates, as fractions of the decimals."""
    expected = [Fraction(str(x)) for x in p]
    count = len(expected)
    at = sum((1 - (1 - x) ** k for x in expected), Fraction(0)) / count
    hat = sum((x**k for x in expected), Fraction(0)) / count
    return at, hat, (sum(expected) / count) ** k


@pytest.mark.parametrize("name", FAMILIES)
def test_the_families_of_the_article(name: str) -> None:
    """Numbers of the figures of "Pass@k and Pass^k tell different stories" (2025), exactly."""
    result = pass_curves_from_rates(np.array(FAMILIES[name]), np.arange(1, 9))
    for i, k in enumerate(range(1, 9)):
        at, hat, even = exact(FAMILIES[name], k)
        assert result.pass_at_k[i] == pytest.approx(float(at), rel=1e-14)
        assert result.pass_hat_k[i] == pytest.approx(float(hat), rel=1e-14)
        assert result.pass_hat_k_heterogeneity_gain[i] == pytest.approx(
            float(hat - even), abs=1e-15
        )
        assert (result.pass_hat_k_heterogeneity_gain[i] > 0.03) == (name != "homogeneous" and k > 1)
    if name == "homogeneous":
        assert not result.pass_hat_k_heterogeneity_gain.any()
        assert not result.pass_at_k_heterogeneity_loss.any()


def test_positive_skew_is_more_reliable_and_covers_more() -> None:
    negative, positive = (
        pass_curves_from_rates(np.array(FAMILIES[name]), np.arange(2, 60))
        for name in ("negative skew", "positive skew")
    )
    # Mirror images around one half have the same E p², so k = 2 is a tie: 0.34245 both.
    assert exact(FAMILIES["negative skew"], 2) == exact(FAMILIES["positive skew"], 2)
    np.testing.assert_allclose(
        [negative.pass_hat_k[0], positive.pass_hat_k[0]], 0.34245, rtol=1e-14
    )
    assert np.all(positive.pass_hat_k[1:] > negative.pass_hat_k[1:])
    assert np.all(positive.pass_at_k[1:] > negative.pass_at_k[1:])


def test_the_coin_game() -> None:
    ten = np.array([10])
    assert pass_curves_from_rates(np.array([0.5]), ten).pass_hat_k[0] == 1 / 1024
    assert pass_curves_from_rates(np.array([0.0, 1.0]), ten).pass_hat_k[0] == 1 / 2


@given(rates)
def test_bounds_and_monotone_curves(p: list[float]) -> None:
    result, mean = pass_curves_from_rates(np.array(p), KS), float(np.mean(p))
    slack = 1e-14
    assert np.all(result.pass_at_k >= mean - slack)
    assert np.all(result.pass_at_k <= 1 - (1 - mean) ** KS + slack)
    for gain, bound in (
        (result.pass_hat_k_heterogeneity_gain, result.max_pass_hat_k_heterogeneity_gain),
        (result.pass_at_k_heterogeneity_loss, result.max_pass_at_k_heterogeneity_loss),
    ):
        assert np.all(gain >= 0)
        assert np.all(gain <= bound + slack)
    assert np.all(np.diff(result.pass_at_k) >= -slack)
    assert np.all(np.diff(result.pass_hat_k) <= slack)


@given(st.floats(0, 1), st.integers(1, 30))
def test_equal_rates_have_no_gain_at_all(rate: float, tasks: int) -> None:
    result = pass_curves_from_rates(np.full(tasks, rate), KS)
    assert not result.pass_hat_k_heterogeneity_gain.any()
    assert not result.pass_at_k_heterogeneity_loss.any()


@given(rates)
def test_a_two_point_family_reaches_the_bound(p: list[float]) -> None:
    count, all_ones = len(p), sum(x > 0.5 for x in p)
    result = pass_curves_from_rates(np.array([1.0] * all_ones + [0.0] * (count - all_ones)), KS)
    np.testing.assert_allclose(
        result.pass_hat_k_heterogeneity_gain, result.max_pass_hat_k_heterogeneity_gain, atol=1e-15
    )
    np.testing.assert_allclose(
        result.pass_at_k_heterogeneity_loss, result.max_pass_at_k_heterogeneity_loss, atol=1e-15
    )


@given(st.lists(st.integers(0, 8), min_size=1, max_size=9))
def test_different_tasks_by_enumeration(c: list[int]) -> None:
    p = [Fraction(x, 8) for x in c]
    result = power_of_mean_rate_new_tasks(np.array(c) / 8, np.arange(1, len(c) + 2))
    for k in range(1, len(c) + 1):
        item = [prod(subset) for subset in combinations(p, k)]
        assert result[k - 1] == pytest.approx(float(sum(item, Fraction(0)) / len(item)), rel=1e-13)
    assert np.isnan(result[-1])


@given(st.lists(st.tuples(st.integers(3, 5), st.floats(0, 1)), min_size=1, max_size=4))
def test_tasks_with_repetition_by_enumeration(cells: list[tuple[int, float]]) -> None:
    n = [n for n, _ in cells]
    c = [round(share * n) for n, share in cells]
    result = power_of_mean_rate_these_tasks(np.array(n), np.array(c), np.arange(1, 5))
    for k in range(1, 5):
        if k > min(n):
            assert np.isnan(result[k - 1])
            continue
        total = Fraction(0)
        for draws in product(range(len(n)), repeat=k):
            item = (
                Fraction(comb(c[t], draws.count(t)), comb(n[t], draws.count(t))) for t in set(draws)
            )
            total += prod(item, start=Fraction(1))
        assert result[k - 1] == pytest.approx(float(total / len(n) ** k), rel=1e-12)


@pytest.mark.parametrize("tasks", [1, 20, *long_cases(2)])
def test_tasks_with_repetition_at_ten_thousand_attempts(tasks: int) -> None:
    n = np.full(tasks, 10_000)
    ks = np.array([1, 10, 600, 2000, 5000, 10_000])
    np.testing.assert_allclose(power_of_mean_rate_these_tasks(n, n, ks), 1.0, rtol=1e-12)
    c = np.full(tasks, 9_990)
    result = power_of_mean_rate_these_tasks(n, c, ks)
    # As tasks grow in number, attempts fall on different ones: from pass^k of one task to p^k.
    lower, upper = pass_hat_k(10_000, 9_990, ks), (0.999**ks)
    if tasks == 1:
        np.testing.assert_allclose(result, lower, rtol=1e-11)
    else:
        assert np.all((result >= lower * (1 - 1e-11)) & (result <= upper * (1 + 1e-11)))


def outcomes(p: tuple[Fraction, ...], n: int) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
    """(probability, passes of each task) of everything that n attempts at these tasks can give."""
    for c in product(range(n + 1), repeat=len(p)):
        yield (
            prod(comb(n, x) * q**x * (1 - q) ** (n - x) for q, x in zip(p, c, strict=True)),
            c,
        )


RATES = (Fraction(1, 4), Fraction(1, 2), Fraction(1))
Values = Callable[[np.ndarray, np.ndarray], np.ndarray]


def as_array(result: RateMoments) -> np.ndarray:
    return np.array([result.mean, result.variance, result.third_central_moment])


def expected_new(of: Values, tasks: int, n: int) -> np.ndarray:
    """Mean of an estimator when each task's rate is drawn from RATES."""
    total = 0.0
    for p in product(RATES, repeat=tasks):
        total = total + expected_these(of, p, n) / len(RATES) ** tasks
    return np.asarray(total)


def expected_these(of: Values, p: tuple[Fraction, ...], n: int) -> np.ndarray:
    sizes = np.full(len(p), n)
    return np.sum([float(w) * of(sizes, np.array(c)) for w, c in outcomes(p, n)], axis=0)


def powers(n: np.ndarray, c: np.ndarray) -> np.ndarray:
    return np.stack([pass_hat_k(n, c, k) for k in (1, 2, 3)], axis=1)


def test_unbiased_for_new_tasks() -> None:
    mean = float(sum(RATES, Fraction(0)) / 3)
    ks = np.array([1, 2, 3])
    result = expected_new(lambda n, c: power_of_mean_rate_new_tasks(c / n, ks), tasks=3, n=2)
    np.testing.assert_allclose(result, mean**ks, rtol=1e-12)
    result = expected_new(lambda n, c: as_array(moments_new_tasks(powers(n, c))), tasks=3, n=3)
    deviation = np.array([float(p) for p in RATES]) - mean
    np.testing.assert_allclose(
        result, [mean, (deviation**2).mean(), (deviation**3).mean()], rtol=1e-12
    )


def test_unbiased_for_these_tasks() -> None:
    p = np.array([float(x) for x in RATES])
    ks = np.array([1, 2, 3])
    result = expected_these(lambda n, c: power_of_mean_rate_these_tasks(n, c, ks), RATES, 3)
    np.testing.assert_allclose(result, p.mean() ** ks, rtol=1e-12)
    result = expected_these(lambda n, c: as_array(moments_these_tasks(n, c)), RATES, 3)
    deviation = p - p.mean()
    np.testing.assert_allclose(
        result, [p.mean(), (deviation**2).mean(), (deviation**3).mean()], rtol=1e-12
    )


def test_moments_of_the_families() -> None:
    # Standard deviations as the article's table rounds them; skewness by hand, ±1/√2.
    for name, sd, skewness in (
        ("no skew", 0.30, 0.0), ("negative skew", 0.304056, -(0.5**0.5)),
        ("positive skew", 0.304056, 0.5**0.5),
    ):  # fmt: skip
        result = moments_of_rates(np.array(FAMILIES[name]))
        assert (result.mean, result.sd) == pytest.approx((0.5, sd), abs=1e-6)
        assert result.skewness == pytest.approx(skewness, abs=1e-12)
    assert np.isnan(moments_of_rates(np.array([0.3, 0.3])).skewness)


def test_moments_without_enough_attempts_or_tasks() -> None:
    two = np.array([2, 2])
    result = moments_new_tasks(powers(two, np.array([1, 2])))
    assert (np.isnan(result.variance), np.isnan(result.third_central_moment)) == (False, True)
    assert np.isnan(moments_new_tasks(powers(two[:1], two[:1])).variance)
    assert np.isnan(moments_these_tasks(np.array([1, 1]), np.array([0, 1])).sd)


@given(st.integers(1, 60), st.data())
def test_curve_blocks_equal_single_values(n: int, data: st.DataObject) -> None:
    cells = np.array(data.draw(st.lists(st.integers(0, n), min_size=1, max_size=5)))
    sizes = np.full(len(cells), n)
    ks = np.array(sorted(data.draw(st.sets(st.integers(1, n + 3), min_size=1, max_size=6))))
    for block, at, hat in pass_at_and_hat_curve_blocks(sizes, cells, ks):
        for row, k in enumerate(ks[block].tolist()):
            np.testing.assert_allclose(at[row], pass_at_k(sizes, cells, k), rtol=1e-13)
            np.testing.assert_allclose(hat[row], pass_hat_k(sizes, cells, k), rtol=1e-13)


def test_blocks_carry_on(monkeypatch: pytest.MonkeyPatch) -> None:
    n, c = np.array([5000, 5000, 4000]), np.array([17, 4000, 3999])
    total = pass_at_and_hat_curves(n, c, 5000)
    monkeypatch.setattr("passk_cli.metrics.pass_k._BLOCK_TERMS", 3000)
    blocks = list(pass_at_and_hat_curve_blocks(n, c, np.arange(1, 5001)))
    assert len(blocks) > 30
    for place in (0, 1):
        joined = np.concatenate([block[1 + place] for block in blocks]).T
        np.testing.assert_allclose(joined, total[place], rtol=1e-12, atol=1e-307)
        exactly = (pass_at_k, pass_hat_k)[place](n, c, 3998)
        np.testing.assert_allclose(total[place][:, 3997], exactly, rtol=1e-12)
