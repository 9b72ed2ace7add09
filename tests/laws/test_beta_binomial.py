"""The beta-binomial law against scipy, exact fractions, a published fit and a plain optimiser."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import betaln, comb
from scipy.stats import betabinom

from passk_cli.laws.beta_binomial import BetaBinomial, _BetaLikelihood, fit

# Boys among the first 12 children of 6,115 families of 13 in Saxony, 1876–1885 (Geissler 1889), and
# the fit by maximum likelihood: Lindsey & Altham 1998; Wikipedia, "Beta-binomial distribution".
BOYS = [3, 24, 104, 286, 670, 1033, 1343, 1112, 829, 478, 181, 45, 7]
PUBLISHED = (34.09558, 31.5715)
PUBLISHED_LOG_LIKELIHOOD = -12492.9


def law(a: float, b: float, never: float = 0.0, always: float = 0.0) -> BetaBinomial:
    return BetaBinomial(*(np.array([x]) for x in (a, b, never, always, 0.0)))


@given(st.integers(2, 60), st.integers(0, 2**32 - 1))
def test_likelihood_is_scipys(n: int, seed: int) -> None:
    c = np.arange(n + 1)
    weights = np.random.default_rng(seed).gamma(0.5, 5.0, (1, n + 1))
    found = fit(np.full(n + 1, n), c, weights)
    logs = betabinom.logpmf(c, n, found.a[0], found.b[0]) - np.log(comb(n, c))
    assert found.log_likelihood[0] == pytest.approx(float(weights[0] @ logs), rel=1e-8)


def test_failure_is_a_product_of_fractions() -> None:
    a, b, k = Fraction(3, 10), Fraction(2), 500
    exact = Fraction(1)
    for i in range(k):
        exact *= (b + i) / (a + b + i)
    assert law(0.3, 2.0).failure([k])[0, 0] == pytest.approx(float(exact), rel=1e-11)
    mixed = law(0.3, 2.0, 0.1, 0.2).failure([0, k])[0]
    assert mixed[0] == pytest.approx(
        0.1 + 0.7
    )  # tasks that always pass never fail, not even 0 of 0
    assert mixed[1] == pytest.approx(0.1 + 0.7 * float(exact), rel=1e-11)


@pytest.mark.parametrize("masses", [0, 1, 2])
def test_slopes_are_those_of_the_likelihood(masses: int) -> None:
    """Gradient and Hessian against central differences."""
    c, weights, h = np.arange(4), np.array([[3.0, 2.0, 1.0, 4.0]]), 1e-5
    likelihood = _BetaLikelihood(weights, np.full(4, 3), c, [c == 0, c == 3][:masses])

    def at(place: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        value, own = likelihood.look(place[None])
        gradient, hessian = likelihood.slopes(place[None], own)
        return value[0], gradient[0], hessian[0]

    place = np.array([0.3, -0.2, -1.0, -2.0])[: 2 + masses]
    _, gradient, hessian = at(place)
    for i, step in enumerate(h * np.eye(len(place))):
        (above, up, _), (below, down, _) = at(place + step), at(place - step)
        assert gradient[i] == pytest.approx((above - below) / (2 * h), abs=1e-8)
        assert hessian[i] == pytest.approx((up - down) / (2 * h), abs=1e-8)


def test_published_fit() -> None:
    c = np.arange(13)
    found = fit(np.full(13, 12), c, np.array([BOYS], float))
    # The published optimiser stopped a little below the maximum.
    assert (found.a[0], found.b[0]) == pytest.approx(PUBLISHED, rel=5e-4)
    whole = found.log_likelihood[0] + np.dot(BOYS, np.log(comb(12, c)))
    assert whole >= np.dot(BOYS, betabinom.logpmf(c, 12, *PUBLISHED))
    assert whole == pytest.approx(PUBLISHED_LOG_LIKELIHOOD, abs=0.05)


@pytest.mark.parametrize(("never", "always"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("seed", range(3))
def test_no_optimiser_finds_more(never: bool, always: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = rng.choice([20, 30], 150)
    rates = rng.beta(0.4, 1.5, 150)
    rates[:30], rates[30:45] = 0.0, 1.0
    c = rng.binomial(n, rates)
    found = fit(n, c, np.ones((1, 150)), never=never, always=always)

    def loss(place: np.ndarray) -> float:
        a, b = np.exp(place[:2])
        odds = np.exp(place[2:])
        shares = odds / (1 + odds.sum())
        f = np.exp(betaln(a + c, b + n - c) - betaln(a, b)) / (1 + odds.sum())
        f = f + (shares[0] * (c == 0) if never else 0) + (shares[-1] * (c == n) if always else 0)
        return -float(np.log(f).sum())

    start = np.array([-1.0, 0.0, *[-2.0] * (never + always)])
    how = {"maxiter": 5000, "maxfev": 5000, "xatol": 1e-6, "fatol": 1e-9}
    best = minimize(loss, start, method="Nelder-Mead", options=how)
    assert found.log_likelihood[0] >= -best.fun - 1e-4


def test_many_weightings_at_once_are_many_fits() -> None:
    rng = np.random.default_rng(0)
    n, c = np.full(21, 20), np.arange(21)
    weights = rng.gamma(1.0, 5.0, (6, 21))
    together = fit(n, c, weights, never=True)
    warm = fit(n, c, weights, never=True, start=fit(n, c, weights[:1], never=True))
    for i in range(6):
        alone = fit(n, c, weights[i : i + 1], never=True)
        for found in (together, warm):
            assert found.log_likelihood[i] == pytest.approx(alone.log_likelihood[0], abs=1e-4)
    tripled = fit(np.repeat(n, 3), np.repeat(c, 3), np.repeat(weights, 3, axis=1) / 3, never=True)
    np.testing.assert_allclose(tripled.a, together.a, rtol=1e-6)


def test_large_counts_take_special_functions_and_agree_with_sums() -> None:
    """Few cells of many attempts go another way than many cells of few."""
    rng = np.random.default_rng(1)
    n = np.full(12, 5000)
    c = rng.binomial(n, rng.beta(1, 3, 12))
    found = fit(n, c, np.ones((1, 12)))
    padded = fit(
        np.concatenate([n, np.full(3000, 5000)]),
        np.concatenate([c, np.arange(3000)]),
        np.concatenate([np.ones(12), np.zeros(3000)])[None],
    )
    assert (padded.a[0], padded.b[0]) == pytest.approx((found.a[0], found.b[0]), rel=1e-5)


def test_masses_are_found() -> None:
    rng = np.random.default_rng(2)
    rates = rng.beta(2, 3, 4000)
    rates[:800], rates[800:1200] = 0.0, 1.0
    c = rng.binomial(50, rates)
    cells, tasks = np.unique(c, return_counts=True)
    n = np.full(len(cells), 50)
    found = fit(n, cells, tasks[None].astype(float), never=True, always=True)
    assert (found.never[0], found.always[0]) == pytest.approx((0.2, 0.1), abs=0.03)
    assert (found.a[0], found.b[0]) == pytest.approx((2, 3), rel=0.15)


def test_equal_rates_go_to_the_binomial() -> None:
    n, c = np.full(11, 10), np.arange(11)
    weights = comb(10, c)[None] / 2**10 * 500
    found = fit(n, c, weights)
    assert found.a[0] > 1000
    assert found.a[0] / (found.a[0] + found.b[0]) == pytest.approx(0.5, abs=1e-6)
    assert found.failure([10])[0, 0] == pytest.approx(2**-10, rel=0.05)
