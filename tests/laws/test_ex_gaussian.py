"""The ex-Gaussian law of hardness: posterior against sums by hand, laws, edges, its check."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from passk_cli.laws import ex_gaussian
from passk_cli.laws import hardness as hardness_cells
from passk_cli.laws.ex_gaussian import ExGaussian, either, misfit, posterior

# Tried by .ci/run after the others.
pytestmark = pytest.mark.long


def counts(c: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    passes, tasks = np.unique(c, return_counts=True)
    return np.full(len(passes), n), passes, tasks.astype(float)


def law_of(mu: float, z_sigma: float, z_tau: float, below: float) -> ExGaussian:
    return ExGaussian(np.array([[mu, z_sigma, z_tau, below]]), np.ones(1), np.zeros(4), 0.0)


def hardness(seed: int, size: int, mu: float = 1.0, sigma: float = 1.2, tau: float = 3.0,
             never: float = 0.1) -> np.ndarray:  # fmt: skip
    rng = np.random.default_rng(seed)
    x = mu + sigma * rng.standard_normal(size) + tau * rng.standard_exponential(size)
    return np.where(rng.random(size) < never, np.inf, x)


def beyond(law: ExGaussian, n: int, k: int) -> float:
    failing = law.failure([n, k])
    return float(law.shares @ (failing[:, 1] / failing[:, 0]))


@pytest.mark.parametrize(
    "point", [(1.0, 0.0, 0.0, 0.5), (4.0, 1.0, -1.0, 0.9), (0.0, -2.5, -2.0, 0.1)]
)
def test_failing_against_an_integral(point: tuple[float, float, float, float]) -> None:
    """scipy's exponnorm, (1 − p)^k, and ν by its quantile."""
    mu, z_sigma, z_tau, below = point
    sigma, tau = 1.43 * np.exp(0.8 * z_sigma), 2.86 * np.exp(0.8 * z_tau)
    spread = stats.exponnorm(tau / sigma, loc=mu, scale=sigma)
    never = stats.beta(0.25, 3.9).ppf(below)
    law = law_of(*point)
    assert law.never[0] == pytest.approx(never)
    for k in (1, 30, 10_000):
        fails = integrate.quad(
            lambda x: spread.pdf(x) * (1 - 1 / (1 + np.exp(x))) ** k, mu - 9 * sigma,  # noqa: B023
            mu + 9 * sigma + 40 * tau, limit=500, points=[mu, mu + tau, np.log(k + 1)],
        )[0]  # fmt: skip
        assert law.failure([k])[0, 0] == pytest.approx(never + (1 - never) * fails, abs=2e-4)


@pytest.mark.long
def test_the_posterior_is_that_of_a_plain_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three looks at a closing box against one look at all of a grid four times as fine."""
    rng = np.random.default_rng(1)
    cells = counts(rng.binomial(20, 1 / (1 + np.exp(hardness(1, 60)))), 20)
    closing = posterior(*cells)
    monkeypatch.setattr(ex_gaussian, "_LOOKS", 1)
    monkeypatch.setattr(ex_gaussian, "_POINTS", (40, 24, 24, 40))
    plain = posterior(*cells)
    assert beyond(closing, 20, 1_000) == pytest.approx(beyond(plain, 20, 1_000), abs=0.02)
    assert closing.shares @ closing.points == pytest.approx(plain.shares @ plain.points, abs=0.15)


def test_the_truth_comes_back_from_many_tasks() -> None:
    x = hardness(3, 4_000)
    c = np.random.default_rng(3).binomial(1_000, 1 / (1 + np.exp(x)))
    law = posterior(*counts(c, 1_000))
    mean = law.shares @ law.points
    assert mean[0] == pytest.approx(1.0, abs=0.15)
    assert 1.43 * np.exp(0.8 * mean[1]) == pytest.approx(1.2, rel=0.15)
    assert 2.86 * np.exp(0.8 * mean[2]) == pytest.approx(3.0, rel=0.25)


def test_halves_of_a_cell_are_a_whole() -> None:
    n, c, tasks = counts(np.array([0] * 30 + [1, 1, 4, 9, 20]), 20)
    twice = posterior(np.r_[n, n], np.r_[c, c], np.r_[tasks, tasks] / 2)
    assert beyond(twice, 20, 400) == pytest.approx(beyond(posterior(n, c, tasks), 20, 400))
    assert misfit(twice, np.r_[n, n], np.r_[c, c], np.r_[tasks, tasks] / 2).excess == pytest.approx(
        misfit(posterior(n, c, tasks), n, c, tasks).excess, abs=0.1
    )


def test_tasks_with_more_passes_count_as_such_only() -> None:
    """P(c > 1) by summing the likelihood of each c, on the law's own grid."""
    c = np.array([0] * 9 + [1, 1, 5, 17])
    law = posterior(*counts(c, 20), most=1)
    same = posterior(*counts(np.where(c > 1, 2, c), 20), most=1)
    np.testing.assert_array_equal(law.shares, same.shares)
    mass, place = law.mass
    p = np.append(1 / (1 + np.exp(hardness_cells.CENTRES)), 0.0)
    chance = np.stack([(1 - p) ** 20, 20 * p * (1 - p) ** 19, np.zeros_like(p)])
    chance[2] = 1 - chance[0] - chance[1]
    own = (mass @ chance.T)[place] * (1 - law.never[:, None])
    own[:, 0] += law.never
    prior = -(law.points[:, 1] ** 2 + law.points[:, 2] ** 2) / 2
    height = np.log(own) @ [9.0, 2.0, 2.0] + prior
    by_hand = np.exp(height - height.max())
    np.testing.assert_allclose(law.shares, by_hand / by_hand.sum(), rtol=0.03, atol=1e-6)


@pytest.mark.parametrize(
    ("c", "n"), [([3] * 30, 20), ([0] * 29 + [1], 1), ([0, 10_000, 1], 10_000), ([0] * 20, 5)]
)
def test_edges_are_finite(c: list[int], n: int) -> None:
    """One rate, one attempt, three tasks with as many as there may be, no pass at all."""
    for most in (2, 0, None):
        law = posterior(*counts(np.array(c), n), most=most)
        failing = law.failure([1, n, 10 * n, 10**9])
        assert np.isfinite(failing).all()
        assert np.all(np.diff(failing, axis=1) <= 1e-12)
        assert law.shares.sum() == pytest.approx(1.0)
    check = misfit(law, *counts(np.array(c), n))
    assert 0 <= check.excess < np.inf
    assert check.limit > 0


def test_draws_are_of_the_posterior() -> None:
    law = posterior(*counts(np.random.default_rng(0).binomial(30, 0.1, 50), 30))
    drawn = law.draws(4_000, np.random.default_rng(0))
    assert drawn.points.mean(axis=0) == pytest.approx(law.shares @ law.points, abs=0.1)
    assert beyond(drawn, 30, 300) == pytest.approx(beyond(law, 30, 300), abs=0.02)
    assert drawn.shares == pytest.approx(1 / 4_000)


def test_the_check_holds_where_the_law_is_right_and_fails_on_lumps() -> None:
    right = []
    for seed in range(8):
        c = np.random.default_rng(seed).binomial(100, 1 / (1 + np.exp(hardness(seed, 200))))
        cells = counts(c, 100)
        right.append(misfit(posterior(*cells), *cells).fails)
    assert sum(right) <= 2
    lumps = np.random.default_rng(0).binomial(100, np.repeat([0.6, 0.02, 0.0003], 70))
    cells = counts(lumps, 100)
    check = misfit(posterior(*cells), *cells)
    assert check.fails
    assert check.excess > 3 * check.limit
    assert not misfit(posterior(*cells), *cells, worth=0.01).fails


def test_the_limit_of_the_check_is_that_of_the_most_attempts() -> None:
    law, tasks = law_of(1.0, 0.0, 0.0, 0.5), np.ones(2)
    passes = np.array([1, 3])
    limits = [misfit(law, np.array(n), passes, tasks).limit for n in ((4, 90), (90, 90), (4, 4))]
    assert limits[0] == limits[1] > limits[2]


def test_the_evidence_of_no_counts_is_the_prior() -> None:
    """19 units of μ, what the box holds of the normal priors, all of ν."""
    nothing = np.zeros(0, dtype=int), np.zeros(0, dtype=int), np.zeros(0)
    inside = stats.norm.cdf(3) - stats.norm.cdf(-3)
    wider = np.log(np.hypot(1.43, 2.86) / 1.43) / 0.8
    one_sided = stats.norm.cdf((3 - wider) / 0.625) - stats.norm.cdf((-3 - wider) / 0.625)
    assert posterior(*nothing).evidence == pytest.approx(np.log(19 * inside**2), abs=0.02)
    bell = posterior(*nothing, bell=True)
    assert bell.evidence == pytest.approx(np.log(19 * one_sided), abs=0.02)
    assert set(bell.points[:, 2]) == {-3.0}


def test_many_attempts_tell_a_bell_from_a_tail() -> None:
    rng = np.random.default_rng(5)
    tails = hardness(5, 2_000, sigma=0.7, tau=4.0, never=0.0)
    for x, of_bell in ((rng.normal(4, 3, 2_000), 1), (tails, 0)):
        cells = counts(rng.binomial(1_000, 1 / (1 + np.exp(x))), 1_000)
        law, bell = posterior(*cells), posterior(*cells, bell=True)
        drawn = either(law, bell, 400, rng)
        assert np.mean(drawn.points[:, 2] == -3.0) == pytest.approx(of_bell, abs=0.15)


def test_few_attempts_leave_both_and_the_bell_solves_more() -> None:
    cells = counts(np.array([0] * 100 + [1] * 25 + [2] * 12 + [9] * 25), 60)
    law, bell = (posterior(*cells, most=2, bell=bell) for bell in (False, True))
    share = np.mean(either(law, bell, 4_000, np.random.default_rng(0)).points[:, 2] == -3.0)
    assert share == pytest.approx(1 / (1 + np.exp(law.evidence - bell.evidence)), abs=0.03)
    assert 0.1 < share < 0.9
    assert beyond(bell, 60, 10_000) < beyond(law, 60, 10_000)
