"""The smooth tail: its derivatives, its likelihood, and power laws it has to find again."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import betabinom, binom

from passk_cli.laws import smooth_tail
from passk_cli.laws.beta_binomial import BetaBinomial
from passk_cli.laws.smooth_tail import CELL, SmoothTail, _HazardLikelihood, _masses

N = 100


def counts_of(a: float, b: float, tasks: float = 1e5, n: int = N) -> np.ndarray:
    """Expected numbers of tasks with c passes, rates ~ Beta(a, b)."""
    return betabinom.pmf(np.arange(n + 1), n, a, b)[None] * tasks


def model(n: int = N) -> SmoothTail:
    return SmoothTail(np.full(n + 1, n), np.arange(n + 1))


def test_likelihood_is_an_average_over_the_cell() -> None:
    few = SmoothTail(np.array([20, 20, 7]), np.array([0, 3, 7]))
    edges = few.edges
    for row, (n, c) in enumerate(((20, 0), (20, 3), (7, 7))):
        exact = np.array([
            quad(lambda x, n=n, c=c: binom.pmf(c, n, expit(-x)), low, low + CELL)[0] / CELL
            for low in edges[:-1]
        ])  # fmt: skip
        exact = np.append(exact, float(c == 0))
        found = few.likelihood[row]
        np.testing.assert_allclose(found / found.max(), exact / exact.max(), atol=2e-3)


def test_slopes_are_the_derivatives() -> None:
    rng = np.random.default_rng(0)
    tail = model(20)
    cells = len(tail.edges) - 1
    weights = rng.gamma(1.0, 5.0, (1, 21))
    law = _HazardLikelihood(
        weights, tail.likelihood, tail.priors.precision[4:5], np.zeros((1, cells)),
        np.array([[0.05]]),
    )  # fmt: skip

    def slopes(curve: np.ndarray) -> tuple[np.ndarray, ...]:
        return law.slopes(curve, *law.look(curve)[1:])

    curve = rng.normal(-1.0, 0.5, (1, cells))
    slope, bends, _ = slopes(curve)
    step = 1e-5
    for i in (0, 5, cells - 1):
        up, down = curve.copy(), curve.copy()
        up[0, i] += step
        down[0, i] -= step
        rise = (law.look(up)[0] - law.look(down)[0])[0] / (2 * step)
        assert slope[0, i] == pytest.approx(rise, rel=1e-5, abs=1e-4)
        column = (slopes(down)[0] - slopes(up)[0])[0] / (2 * step)
        np.testing.assert_allclose(bends[0, i], column, rtol=1e-4, atol=1e-3)


def test_masses_add_up() -> None:
    rng = np.random.default_rng(1)
    mass = _masses(rng.normal(-1, 1, (5, 40)))
    assert np.all(mass >= 0)
    np.testing.assert_allclose(mass.sum(axis=1), 1.0)


@pytest.mark.parametrize(("a", "b"), [(0.1, 3.0), (0.3, 1.0), (0.6, 4.0)])
def test_power_laws_go_on(monkeypatch: pytest.MonkeyPatch, a: float, b: float) -> None:
    """With tasks without end, what follows from Beta(a, b) is found without being told the law."""
    monkeypatch.setattr(smooth_tail, "DOUBT", 0.0)
    weights = counts_of(a, b)
    tail = model()
    ks = [10, N, 1_000, 10_000]
    found = tail.mean(weights, tail.settle(weights)).failure(ks)[0]
    true = BetaBinomial(*(np.array([x]) for x in (a, b, 0.0, 0.0, 0.0))).failure(ks)[0]
    np.testing.assert_allclose(found[:2], true[:2], atol=0.002)
    np.testing.assert_allclose(found[2:], true[2:], atol=0.03)


def test_lumps_are_seen() -> None:
    """Half the tasks at p = 0.4, half at 0.003, of which most never pass: all will."""
    c = np.arange(N + 1)
    weights = (binom.pmf(c, N, 0.4) + binom.pmf(c, N, 0.003))[None] * 500
    tail = model()
    found = tail.mean(weights, tail.settle(weights)).failure([N, 10_000])[0]
    assert found[0] == pytest.approx(0.37, abs=0.01)
    assert found[1] < 0.04  # 0.02 of it from fits that doubt


def test_doubt_is_a_part_of_the_fits_and_holds_solutions_back() -> None:
    weights = counts_of(0.5, 3.0, 500)
    tail = model()
    settled = tail.settle(weights)
    many = np.repeat(weights, 300, axis=0)
    draws = tail.draws(many, settled, np.random.default_rng(0))
    assert (draws.never > 0).mean() == pytest.approx(smooth_tail.DOUBT, abs=0.05)
    fails = draws.failure([10**9])[:, 0]
    assert np.all(fails >= draws.never - 1e-12)
    assert fails[draws.never > 0].mean() > 2 * fails[draws.never == 0].mean()


def test_draws_spread_with_distance_and_centre_on_the_mean() -> None:
    weights = counts_of(0.3, 2.0, 300)
    tail = model()
    settled = tail.settle(weights)
    rng = np.random.default_rng(0)
    many = rng.standard_gamma(weights[0], (300, N + 1)) + 1e-9
    ks = [N, 1_000, 10_000, 100_000]
    draws = tail.draws(many, settled, rng).failure(ks)
    spread = np.log(draws).std(axis=0)
    assert np.all(np.diff(spread) > 0)
    mean = tail.mean(weights, settled).failure(ks)[0]
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.03)


def test_failure_falls_from_one() -> None:
    weights = counts_of(0.2, 1.0, 100)
    tail = model()
    fails = tail.mean(weights, tail.settle(weights)).failure([0, 1, 10, 100, 10**6, 10**9])[0]
    assert fails[0] == pytest.approx(1.0)
    assert np.all(np.diff(fails) < 0)
