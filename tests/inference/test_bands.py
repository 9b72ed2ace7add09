"""Simultaneous bands: laws of the calibration, and whether whole curves lie inside."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import rankdata

from passk_cli.inference.bands import (
    band_level_these_tasks,
    band_levels_new_tasks,
    log_spaced_ks,
    pointwise_level,
)
from passk_cli.inference.intervals import IntervalData, interval
from passk_cli.inference.sampling_variance import jackknife_variance
from passk_cli.inference.weighted_means import STANDARD_NORMAL
from passk_cli.metrics.heterogeneity import pass_curves_from_rates
from passk_cli.metrics.pass_k import pass_at_and_hat_curves


def test_columns_that_move_as_one_need_no_more_than_one() -> None:
    first = np.random.default_rng(0).normal(size=(20_000, 1))
    assert pointwise_level(np.hstack([first, 3 * first + 7, -first]), 0.9) == pytest.approx(
        0.9, abs=2e-4
    )


@pytest.mark.parametrize("columns", [2, 5, 20])
def test_independent_columns_need_the_level_of_sidak(columns: int) -> None:
    draws = np.random.default_rng(1).random((40_000, columns))
    # Of 40,000 draws 2,000 lie outside; that share varies by 2 % of itself.
    result = 1 - pointwise_level(draws, 0.95)
    assert result == pytest.approx(1 - 0.95 ** (1 / columns), rel=0.06)


def test_the_share_of_draws_inside_is_the_level() -> None:
    rng = np.random.default_rng(2)
    draws = rng.normal(size=(10_000, 8)).cumsum(axis=1)
    tail = (1 - pointwise_level(draws, 0.95)) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    inside = ((draws >= low) & (draws <= high)).all(axis=1).mean()
    assert inside == pytest.approx(0.95, abs=0.003)


def test_a_column_without_spread_does_not_count() -> None:
    rng = np.random.default_rng(3)
    first = rng.normal(size=(5000, 1))
    assert pointwise_level(np.hstack([first, np.ones((5000, 3))]), 0.9) == pointwise_level(
        first, 0.9
    )
    mostly_one = np.where(rng.random((5000, 2)) < 0.02, 0.9, 1.0)
    assert pointwise_level(np.hstack([first, mostly_one]), 0.9) < 0.96


@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
@pytest.mark.parametrize("values", [2, 9, 10**6])
def test_the_level_is_that_of_the_smallest_ranks(level: float, values: int) -> None:
    draws = np.random.default_rng(values).integers(values, size=(1000, 5)) / 7
    least = np.minimum(*(rankdata(item, "max", axis=0).min(axis=1) for item in (draws, -draws)))
    outside = max((1 - level) * 1000, 10)
    tail = np.sort(least)[int(outside)] / 1000 * (1 - level) * 1000 / outside
    assert pointwise_level(draws, level) == pytest.approx(max(1 - 2 * tail, level), abs=1e-12)


def test_spread_out_keeps_the_ends() -> None:
    ks = np.union1d(np.arange(1, 200), [1000])
    result = log_spaced_ks(ks)
    assert (result[0], result[-1], len(result) <= 16) == (1, 1000, True)
    assert log_spaced_ks(ks[:10]) is not None
    np.testing.assert_array_equal(log_spaced_ks(ks[:10]), ks[:10])


def test_new_tasks_whole_curves_are_inside() -> None:
    """Beta(2, 2), 80 tasks, 6 attempts: both curves at once, in 95 % of simulations."""
    rng = np.random.default_rng(4)
    ks, tasks, n, runs = np.arange(1, 7), 80, np.full(80, 6), 120
    moments = np.cumprod((2.0 + np.arange(6)) / (4.0 + np.arange(6)))
    truth = np.concatenate([1 - moments, moments])  # Beta(2, 2) is its own mirror image
    inside = {"pointwise": 0, "simultaneous": 0}
    for seed in range(runs):
        c = rng.binomial(6, rng.beta(2, 2, tasks))
        values = np.hstack(pass_at_and_hat_curves(n, c, 6)).T
        [level] = band_levels_new_tasks([(n, c, ks)], 0.95, resamples=500, seed=seed)
        for name, item in (("pointwise", 0.95), ("simultaneous", level)):
            result = [interval(IntervalData(row), "t", item) for row in values]
            limits = zip(result, truth, strict=True)
            inside[name] += all((i.low or 0) <= t <= (i.high or 0) for i, t in limits)
    error = math.sqrt(0.95 * 0.05 / runs)
    assert abs(inside["simultaneous"] / runs - 0.95) <= 2.5 * error
    assert inside["pointwise"] / runs < 0.95 - 2.5 * error


def test_these_tasks_whole_curves_are_inside() -> None:
    """40 fixed tasks of middling difficulty, 20 attempts made again and again."""
    rng = np.random.default_rng(5)
    p, n, runs = rng.uniform(0.2, 0.8, 40), np.full(40, 20), 120
    ks = np.arange(1, 6)
    result = pass_curves_from_rates(p, ks)
    truth = np.concatenate([result.pass_at_k, result.pass_hat_k])
    inside = {"pointwise": 0, "simultaneous": 0}
    for seed in range(runs):
        c = rng.binomial(n, p)
        values = np.hstack(pass_at_and_hat_curves(n, c, 5)).T
        within = jackknife_variance(lambda n, c: np.hstack(pass_at_and_hat_curves(n, c, 5)).T, n, c)
        se = np.sqrt(within.sum(axis=1)) / len(n)
        level = band_level_these_tasks(n, c, ks, 0.95, resamples=500, seed=seed)
        for name, item in (("pointwise", 0.95), ("simultaneous", level)):
            reach = STANDARD_NORMAL.inv_cdf((1 + item) / 2) * se
            inside[name] += bool(np.all(np.abs(values.mean(axis=1) - truth) <= reach))
    error = math.sqrt(0.95 * 0.05 / runs)
    assert abs(inside["simultaneous"] / runs - 0.95) <= 2.5 * error
    assert inside["pointwise"] / runs < 0.95 - 2.5 * error


def test_k_equal_to_n_counts_for_these_tasks() -> None:
    n, c = np.array([4, 4, 5]), np.array([1, 3, 2])
    three, four = (band_level_these_tasks(n, c, np.arange(1, k + 1), 0.9, seed=1) for k in (3, 4))
    assert 0.9 < three <= four + 0.002
    assert band_level_these_tasks(n, c, np.array([1]), 0.9) == pytest.approx(0.9, abs=1e-3)


def test_clusters_are_drawn_as_a_whole() -> None:
    rng = np.random.default_rng(6)
    n, c = np.full(60, 10), rng.binomial(10, np.repeat(rng.random(6), 10))
    ks = np.arange(1, 11)
    [single] = band_levels_new_tasks([(n, c, ks)], 0.95, resamples=2000)
    codes = np.repeat(np.arange(6), 10)
    [together] = band_levels_new_tasks([(n, c, ks)], 0.95, clusters=codes, resamples=2000)
    assert 0.95 <= together != single


def test_models_share_draws_and_no_numbers() -> None:
    rng = np.random.default_rng(7)
    n = np.full(30, 12)
    curves = [(n, rng.binomial(12, rng.random(30)), np.arange(1, k)) for k in (13, 5, 9)]
    one_by_one = [band_levels_new_tasks([first], 0.95, resamples=2000)[0] for first in curves]
    assert band_levels_new_tasks(curves, 0.95, resamples=2000) == one_by_one
