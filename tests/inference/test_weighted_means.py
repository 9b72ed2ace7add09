"""Exact laws against closed forms, finer integration, and a million draws."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy import stats

from benchmarks.guards import dirichlet_cdf
from passk_cli.inference import weighted_means
from passk_cli.inference.weighted_means import (
    OrdinaryBootstrapMeanDistribution,
    dirichlet_quantiles,
)
from passk_cli.metrics.pass_k import pass_at_k
from tests.conftest import long_cases


def dirichlet_quantile(
    totals: ArrayLike, weights: ArrayLike, p: float, sizes: ArrayLike = 1.0
) -> float:
    """The quantile of one law."""
    a, alpha, b = np.broadcast_arrays(*(np.asarray(x, float) for x in (totals, weights, sizes)))
    # Gammas of equal atoms add up; so the package calls it, and thousands of zeros take no time.
    pairs, index = np.unique(np.stack([a, b]), axis=1, return_inverse=True)
    alpha = np.bincount(index.ravel(), alpha)
    return float(dirichlet_quantiles(pairs[:1], alpha[None], p, pairs[1:])[0])


SIZES = (1, 2, 3, 10, 164, 1000, 100_000)


@pytest.mark.parametrize("tasks", [*SIZES[:-1], *long_cases(SIZES[-1])])
@pytest.mark.parametrize("guard", [0.5, *long_cases(1.0)])
def test_zeros_and_ones_are_beta(tasks: int, guard: float) -> None:
    """With 0/1 values the guarded mean is Beta; with guard 1 the limits are Clopper–Pearson's."""
    weights = np.append(np.ones(tasks), guard)
    for passes in sorted({0, 1, tasks // 3, tasks // 2, tasks - 1, tasks}):
        values = np.append(np.ones(passes), np.zeros(tasks - passes))
        for p in (0.005, 0.025, 0.5, 0.975, 0.995):
            if passes < tasks:
                high = dirichlet_quantile(np.append(values, 1.0), weights, p)
                expected = stats.beta.ppf(p, passes + guard, tasks - passes)
                assert high == pytest.approx(expected, abs=1e-11)
            if passes > 0:
                low = dirichlet_quantile(np.append(values, 0.0), weights, p)
                expected = stats.beta.ppf(p, passes, tasks - passes + guard)
                assert low == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("tasks", SIZES)
def test_one_task_away_from_all_equal(tasks: int) -> None:
    """Two distinct values: a shifted and scaled Beta."""
    for first, remainder in ((0.3, 0.9), (0.9, 0.3), (0.5, 0.5 + 1e-6)):
        values = np.append(np.full(tasks, remainder), first)
        for p in (0.025, 0.975):
            result = dirichlet_quantile(values, 1.0, p)
            share = stats.beta.ppf(p if first > remainder else 1 - p, 1, tasks)
            assert result == pytest.approx(remainder + (first - remainder) * share, abs=1e-11)


@pytest.mark.parametrize("scale", [1e-300, 1e-140, 1e-17, 1.0])
def test_tiny_values(scale: float) -> None:
    """pass^100 of weak models: values of 1e-140 beside a guard atom at 1, and beside each other."""
    values = np.append(scale * np.arange(1, 31), 1.0)
    weights = np.append(np.ones(30), 0.5)
    high = dirichlet_quantile(values, weights, 0.975)
    assert high == pytest.approx(stats.beta.ppf(0.975, 0.5, 30), rel=1e-9) or scale == 1.0
    low = dirichlet_quantile(values[:-1] / scale, 1.0, 0.025)
    assert dirichlet_quantile(values[:-1], 1.0, 0.025) == pytest.approx(low * scale, rel=1e-9)


@pytest.mark.parametrize("laws", [20, *long_cases(400)])
def test_few_failures_of_many_tasks_are_beta(laws: int) -> None:
    """Laws of two lumps near their middle, where the bent path once led the integrand upwards."""
    rng = np.random.default_rng(5)
    failures, passes = 10 ** rng.uniform(-0.3, 4, laws), 10 ** rng.uniform(3, 6, laws)
    for a, b in [(20.0, 19980.93), (25.0, 24975.93), *zip(failures, passes, strict=True)]:
        law = stats.beta(b, a)
        for p in (0.025, 0.3, 0.5, 0.55, 0.7, 0.975):
            q = float(law.ppf(p))
            expected = float(law.cdf(q))
            assert dirichlet_cdf([0.0, 1.0], [a, b], q) == pytest.approx(expected, abs=1e-10)
    high = dirichlet_quantiles(
        np.array([[0.0, 1.0]]), np.array([[20.0, 19980.93]]), 0.975, np.ones((1, 2))
    )
    assert high[0] == pytest.approx(stats.beta.ppf(0.975, 19980.93, 20), abs=1e-12)


def test_all_equal_is_a_point() -> None:
    assert dirichlet_quantile([0.4] * 5, 1.0, 0.975) == 0.4
    assert dirichlet_cdf([0.4] * 5, 1.0, 0.39) == 0.0
    assert dirichlet_cdf([0.4] * 5, 1.0, 0.4) == 1.0


def test_step_and_range_of_the_integral_are_fine_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stated bound: 1e-11 against sums that agree to 1e-13 and a range cut at 1e-26."""
    rng = np.random.default_rng(1)
    problems = []
    for _ in range(80):
        tasks = int(10 ** rng.uniform(0, 3.5))
        shape = rng.choice([0.01, 0.3, 1.0, 30.0], 2)
        spread = rng.choice([1.0, 1e-3, 1e-6])
        atoms = [[0.0], [1.0], [-1.0, 1.0]][rng.integers(3)]
        values = np.append(rng.beta(*shape, tasks) * spread, atoms)
        weights = np.append(np.ones(tasks), np.full(len(atoms), rng.choice([0.5, 1.0])))
        sizes = rng.integers(1, 9, len(values)) if rng.random() < 0.3 else 1.0
        totals = values * sizes
        q = values.min() + (values.max() - values.min()) * rng.random() ** rng.choice([1, 6])
        problems.append((totals, weights, q, sizes))
    coarse = [dirichlet_cdf(*problem) for problem in problems]
    monkeypatch.setattr(
        weighted_means, "_FIRST_INTEGRATION_STEP", weighted_means._FIRST_INTEGRATION_STEP / 4
    )
    monkeypatch.setattr(weighted_means, "_INTEGRATION_TOLERANCE", 1e-13)
    monkeypatch.setattr(weighted_means, "_NEGLIGIBLE_EXPONENT", 60.0)
    fine = [dirichlet_cdf(*problem) for problem in problems]
    np.testing.assert_allclose(coarse, fine, atol=1e-11, rtol=0)


def test_atoms_far_out_on_both_sides() -> None:
    """Values near zero between half-weight atoms at −1 and 1: the integrand oscillates far out."""
    rng = np.random.default_rng(5)
    weights = np.append(np.ones(164), [0.5, 0.5])
    gammas = rng.standard_gamma(weights, (100_000, 166))
    for seed in range(4):
        small = pass_at_k(200, np.random.default_rng(seed).binomial(200, 0.02, 164), 100) * 1e-5
        values = np.concatenate([small, [-1.0, 1.0]])
        q = float(small.mean())
        draws = float((gammas @ values <= q * gammas.sum(axis=1)).mean())
        assert dirichlet_cdf(values, weights, q) == pytest.approx(draws, abs=0.005)


def test_dirichlet_mean_against_a_million_draws() -> None:
    rng = np.random.default_rng(2)
    values = np.append(pass_at_k(20, rng.binomial(20, rng.beta(0.3, 0.5, 30)), 5), 1.0)
    weights = np.append(np.ones(30), 0.5)
    gammas = rng.standard_gamma(weights, (1_000_000, 31))
    means = gammas @ values / gammas.sum(axis=1)
    for p in (0.025, 0.5, 0.975):
        q = dirichlet_quantile(values, weights, p)
        assert (means <= q).mean() == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 1e6))


@pytest.mark.parametrize("tasks", [1, 2, 7, 100, 5000, 100_000])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.2, 0.5, 1.0])
def test_bootstrap_of_zeros_and_ones_is_binomial(tasks: int, share: float) -> None:
    passes = round(share * tasks)
    law = OrdinaryBootstrapMeanDistribution(np.append(np.ones(passes), np.zeros(tasks - passes)))
    binomial = stats.binom(tasks, passes / tasks)
    for count in np.unique(np.linspace(0, tasks, 23).astype(int)):
        assert law.cdf(count / tasks) == pytest.approx(binomial.cdf(count), abs=1e-9)
        assert law.cdf(count / tasks, strict=True) == pytest.approx(
            binomial.cdf(count - 1), abs=1e-9
        )
    for p in (0.025, 0.2, 0.975):
        assert law.quantile(p) == pytest.approx(binomial.ppf(p) / tasks, abs=1e-12)


@pytest.mark.parametrize("k", [7, *long_cases(1, 100)])
def test_bootstrap_distribution_against_a_million_draws(k: int) -> None:
    rng = np.random.default_rng(3)
    values = pass_at_k(200, rng.binomial(200, rng.beta(0.3, 0.5, 40)), k)
    law = OrdinaryBootstrapMeanDistribution(values)
    means = values[rng.integers(0, 40, (1_000_000, 40))].mean(axis=1)
    for p in (0.025, 0.5, 0.975):
        q = law.quantile(p)
        assert (means < q - 1e-9).mean() <= p + 0.001
        assert (means <= q + 1e-9).mean() >= p - 0.001


def test_an_odd_value_among_zeros_and_ones() -> None:
    """Nearly a lattice: the fine one must not smear it by more than it says."""
    values = np.array([0.0] * 20 + [1.0] * 20 + [0.9234567891])
    law = OrdinaryBootstrapMeanDistribution(values)
    rng = np.random.default_rng(4)
    means = values[rng.integers(0, 41, (400_000, 41))].mean(axis=1)
    se = values.std() / np.sqrt(41)
    for p in (0.025, 0.31, 0.975):
        assert abs(law.quantile(p) - np.quantile(means, p, method="inverted_cdf")) < 0.03 * se


@pytest.mark.parametrize("p", [0.0005, 0.025, 0.5, 0.975])
def test_quantiles_of_many_distributions_equal_those_of_single_ones(p: float) -> None:
    """Lumps, smooth values, rounding apart, clusters of several sizes, one value, two."""
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 11, (40, 2, 12)) / 10
    laws = [(d, np.ones(12), 1.0) for d in counts[:, 0] - counts[:, 1]]
    laws += [(rng.normal(size=3), np.array([0.5, 1.0, 0.9]), 1.0) for _ in range(10)]
    laws += [(rng.normal(size=9), np.ones(9), rng.integers(1, 5, 9)) for _ in range(10)]
    laws += [(np.full(4, 0.3), np.ones(4), 1.0), (np.array([0.0, 1.0]), np.ones(2), 1.0)]
    laws += laws[:3]
    laws += [(np.append(np.zeros(3000), 1.0), np.ones(3001), 1.0)]
    one_by_one = [dirichlet_quantile(a, alpha, p, b) for a, alpha, b in laws]
    most = max(len(law[0]) for law in laws)
    totals, weights, sizes = np.zeros((3, len(laws), most))
    totals[:], sizes[:] = -7.0, 1.0
    # An atom of weight 0 is none, whatever stands there.
    for row, (a, alpha, b) in enumerate(laws):
        totals[row, : len(a)], weights[row, : len(a)] = a, alpha
        sizes[row, : len(a)] = b
    many = dirichlet_quantiles(totals, weights, p, sizes)
    np.testing.assert_allclose(many, one_by_one, rtol=0, atol=1e-12)
