"""Intervals of Δ_k, the deficit and the moments: identities, edges, and a short simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from passk_cli.inference.bootstrap_weights import cluster_contributions_to_means
from passk_cli.inference.heterogeneity import (
    IntervalSetting,
    gains_for_several_pass_arrays,
    pass_hat_k_heterogeneity_gains,
    sd_and_skewness_of_rates,
)
from passk_cli.inference.populations import NEW_TASKS, THESE_TASKS

POPULATIONS = (NEW_TASKS, THESE_TASKS)


def data(tasks: int = 40, n: int = 8, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return np.full(tasks, n), rng.binomial(n, rng.beta(0.7, 0.7, tasks))


@pytest.mark.parametrize("population", POPULATIONS)
def test_at_two_both_gains_are_the_variance(population: str) -> None:
    n, c = data()
    for clusters in (None, np.arange(40) // 3):
        setting = IntervalSetting(
            population, clusters=clusters if population == NEW_TASKS else None
        )
        delta, deficit = (
            pass_hat_k_heterogeneity_gains(n, x, np.array([1, 2]), setting) for x in (c, n - c)
        )
        sd = sd_and_skewness_of_rates(n, c, setting)[0]
        assert delta.estimate[0] == deficit.estimate[0] == delta.low[0] == delta.high[0] == 0
        assert delta.estimate[1] == pytest.approx(deficit.estimate[1], rel=1e-9)
        assert sd.value == pytest.approx(math.sqrt(delta.estimate[1]), rel=1e-9)
        assert sd.low == pytest.approx(math.sqrt(delta.low[1]), rel=1e-9)
        assert sd.high == pytest.approx(math.sqrt(delta.high[1]), rel=1e-9)


@pytest.mark.parametrize("population", POPULATIONS)
def test_estimates_are_in_order(population: str) -> None:
    n, c = data()
    result = pass_hat_k_heterogeneity_gains(n, c, np.arange(1, 8), IntervalSetting(population))
    assert np.all(result.low <= result.estimate)
    assert np.all(result.estimate <= result.high)
    assert np.all(result.estimate <= result.largest_possible + 1e-12)
    assert np.all(result.low >= 0)


def test_undefined_with_too_few_tasks_or_attempts() -> None:
    n, c = data(tasks=3)
    new = pass_hat_k_heterogeneity_gains(n, c, np.arange(1, 6), IntervalSetting())
    np.testing.assert_array_equal(np.isnan(new.estimate), [False] * 3 + [True] * 2)
    np.testing.assert_array_equal(np.isnan(new.low), np.isnan(new.estimate))
    fixed_tasks = pass_hat_k_heterogeneity_gains(
        n, c, np.array([7, 8]), IntervalSetting(THESE_TASKS)
    )
    assert not np.isnan(fixed_tasks.estimate).any()
    assert not np.isnan(fixed_tasks.low).any()
    np.testing.assert_array_equal(np.isnan(fixed_tasks.se), [False, True])


@pytest.mark.parametrize("population", POPULATIONS)
def test_both_together_equal_both_separately(population: str) -> None:
    n, c = data()
    ks, setting = np.arange(1, 8), IntervalSetting(population, resamples=500)
    single = (
        pass_hat_k_heterogeneity_gains(n, c, ks, setting),
        pass_hat_k_heterogeneity_gains(n, n - c, ks, setting),
    )
    for first, second in zip(
        gains_for_several_pass_arrays(n, (c, n - c), ks, setting), single, strict=True
    ):
        for name in ("estimate", "largest_possible", "se", "low", "high"):
            np.testing.assert_allclose(getattr(first, name), getattr(second, name), rtol=1e-12)


def test_reasons_of_moments() -> None:
    first = np.ones(5, dtype=np.int64)
    for result in sd_and_skewness_of_rates(first, np.array([0, 1, 1, 0, 1]), IntervalSetting()):
        assert (result.value, result.reason) == (None, "needs 2 attempts at every task")
    sd, skewness = sd_and_skewness_of_rates(2 * first, np.array([0, 1, 2, 0, 2]), IntervalSetting())
    assert sd.value is not None
    assert skewness.reason == "needs 3 attempts at every task"
    sd, skewness = sd_and_skewness_of_rates(4 * first, 2 * first, IntervalSetting())
    assert (sd.value, sd.low) == (0.0, 0.0)
    assert sd.reason == skewness.reason == "no spread beyond the noise of the attempts"
    all_pass, _ = sd_and_skewness_of_rates(4 * first, 4 * first, IntervalSetting())
    assert (all_pass.value, all_pass.reason) == (0.0, sd.reason)
    n, c = np.full(8, 4), np.array([0, 1, 2, 2, 3, 3, 4, 2])
    sd, skewness = sd_and_skewness_of_rates(n, c, IntervalSetting())
    assert (sd.low, skewness.value) == (0.0, None)
    assert skewness.reason == "the spread does not differ significantly from 0"
    codes = np.array([0, 0, 0, 1, 1])
    clustered = sd_and_skewness_of_rates(
        4 * first, np.array([0, 1, 4, 4, 2]), IntervalSetting(clusters=codes)
    )
    assert clustered[1].reason == "needs 3 clusters"


@pytest.mark.parametrize("population", POPULATIONS)
def test_without_a_level_there_are_only_errors(population: str) -> None:
    n, c = data()
    setting = IntervalSetting(population, level=None)
    result = pass_hat_k_heterogeneity_gains(n, c, np.array([3]), setting)
    assert np.isnan(result.low).all()
    assert result.se[0] > 0
    assert all(first.low is None and first.se for first in sd_and_skewness_of_rates(n, c, setting))


def test_standard_errors_against_simulation() -> None:
    """The mean of the errors reported is the spread of the estimates; the jackknife over attempts
    errs on the safe side (Efron & Stein 1981)."""
    rng = np.random.default_rng(1)
    ks = np.array([2, 5])
    fixed = rng.beta(1.2, 0.8, 60)
    for population in POPULATIONS:
        setting = IntervalSetting(population, level=None)
        values, errors = [], []
        for _ in range(120):
            p = rng.beta(1.2, 0.8, 60) if population == NEW_TASKS else fixed
            n, c = np.full(60, 10), rng.binomial(10, p)
            result = pass_hat_k_heterogeneity_gains(n, c, ks, setting)
            sd = sd_and_skewness_of_rates(n, c, setting)[0]
            values.append([*result.estimate, sd.value])
            errors.append([*result.se, sd.se])
        ratio = np.mean(errors, axis=0) / np.std(values, axis=0)
        # The spread of 120 values is itself known to 6.5 %.
        assert np.all(ratio > 0.84)
        assert np.all(ratio < (1.18 if population == NEW_TASKS else 1.45))


def test_equal_sizes_make_units_of_cluster_means() -> None:
    values = np.random.default_rng(2).random((12, 2))
    result = cluster_contributions_to_means(values, np.arange(12) // 3)
    np.testing.assert_allclose(result, values.reshape(4, 3, 2).mean(axis=1))
    uneven = cluster_contributions_to_means(values, np.array([0] * 7 + [1] * 4 + [2]))
    np.testing.assert_allclose(uneven.mean(axis=0), values.mean(axis=0))


def test_coverage_of_delta_for_new_tasks() -> None:
    """The long table is benchmarks/heterogeneity.md; here its hardest kind and an easy one."""
    runs, k = 100, np.array([5])
    for place, (a, b) in enumerate(((5.0, 0.5), (0.3, 0.5))):
        rng = np.random.default_rng([3, place])
        moments = np.cumprod((a + np.arange(5)) / (a + b + np.arange(5)))
        truth, covered = moments[4] - moments[0] ** 5, 0
        for seed in range(runs):
            c = rng.binomial(10, rng.beta(a, b, 30))
            result = pass_hat_k_heterogeneity_gains(
                np.full(30, 10), c, k, IntervalSetting(resamples=300, seed=seed)
            )
            covered += bool(result.low[0] <= truth <= result.high[0])
        assert covered / runs >= 0.95 - 2 * math.sqrt(0.95 * 0.05 / runs)


def test_coverage_of_delta_for_these_tasks() -> None:
    """Near 0 with 30 tasks, where the jackknife covers 3 to 50 %, and at k = n: it has none."""
    for place, (a, b, n, k) in enumerate(((0.5, 5.0, 20, 10), (0.1, 1.0, 5, 5), (2.0, 2.0, 10, 5))):
        rng, covered, runs = np.random.default_rng([4, place]), 0, 30
        for _ in range(runs):
            p = rng.beta(a, b, 30)
            c = rng.binomial(n, p)
            result = pass_hat_k_heterogeneity_gains(
                np.full(30, n), c, np.array([k]), IntervalSetting(THESE_TASKS)
            )
            truth = (p**k).mean() - p.mean() ** k
            covered += bool(result.low[0] <= truth <= result.high[0])
        assert covered / runs >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / runs)


def test_equally_hard_tasks_gain_nothing() -> None:
    """Δ_k = 0 lies inside."""
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(60):
        c = rng.binomial(10, np.full(40, 0.7))
        covered += (
            pass_hat_k_heterogeneity_gains(
                np.full(40, 10), c, np.array([5]), IntervalSetting(THESE_TASKS)
            ).low[0]
            == 0
        )
    assert covered >= 54
