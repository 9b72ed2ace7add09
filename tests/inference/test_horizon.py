"""Horizons against published numbers, scipy and the definition of the bootstrap."""

from __future__ import annotations

import csv
import gzip
import math

import numpy as np
import pytest
from scipy.optimize import isotonic_regression, minimize

from passk_cli.inference.horizon import (
    LOGISTIC_LINK_FUNCTION,
    WEIBULL_LINK_FUNCTION,
    LinkFunction,
    doublings_per_day,
    fit_curves,
    frontier_models,
    isotonic_fit,
    isotonic_log2_horizon,
    log2_horizons,
    minutes_from_log2,
    percentile_limits,
    resampled_counts,
    resampled_log2_horizons,
    task_weights,
)
from tests.conftest import SAMPLES

# 50 % and 80 % horizons in minutes, and the 95 % limits of the first, as published.  Source:
# github.com/lyptus-research/cyber-task-horizons-data, commit 178c0da, model_summaries_human_2M,
# which METR's own code computed from the runs in sample_data/cyber.csv.gz.
PUBLISHED = {
    "GPT-3": (0.7170073, 0.5272406, 0.6022561, 0.8812666),
    "GPT-3.5": (1.9895920, 0.5633, 0.1143115, 4.7766620),
    "GPT-4o": (6.1247814, 1.8295, 2.0770584, 12.8219808),
    "Claude 3 Opus": (6.3279746, 1.5498, 1.3680815, 12.4681286),
    "DeepSeek V3.1": (11.0285380, 2.5696, 2.8369436, 31.6627055),
    "Gemini 2.5 Pro": (22.2658569, 6.5174, 10.3405537, 46.0307367),
    "o3": (29.6346989, 10.5452, 16.6929204, 52.8044284),
    "Opus 4": (36.2320260, 10.6540, 19.7802409, 66.9619628),
    "GPT-5.1 Codex Max": (51.0137277, 16.7644, 32.5989686, 83.7048625),
    "GLM-5": (51.7031145, 11.1403, 24.6432123, 104.2185964),
    "GPT-5.2 Codex": (56.9477346, 18.4671, 38.3464952, 105.1671802),
    "Sonnet 4.6": (120.2736746, 28.4337, 73.9684998, 420.0410296),
    "GPT-5.3 Codex": (186.0487772, 45.0623, 101.1921719, 410.5427925),
    "Opus 4.6": (190.2453247, 42.5126, 115.1279899, 2535.7029587),
    "GPT-5.5": (304.0286234, 79.5855, 170.2773060, 6404.2669148),
}


def runs_of(model: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """log₂ minutes, passes and families of the tasks of a model of the sample."""
    with gzip.open(SAMPLES / "cyber.csv.gz", "rt") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == model]
    families = np.unique([row["family"] for row in rows], return_inverse=True)[1]
    minutes = np.array([float(row["human_minutes"]) for row in rows])
    return np.log2(minutes), np.array([int(row["passed"]) for row in rows]), families


@pytest.mark.parametrize("model", PUBLISHED)
def test_published_horizons_are_reproduced(model: str) -> None:
    x, c, families = runs_of(model)
    n, weights = np.ones_like(c), task_weights(families)
    a, b = fit_curves(x, (weights * c)[None], (weights * (1 - c))[None])
    p50, p80, *ends = PUBLISHED[model]
    assert 2 ** log2_horizons(a, b, 0.5)[0] == pytest.approx(p50, rel=5e-4)
    assert 2 ** log2_horizons(a, b, 0.8)[0] == pytest.approx(p80, rel=5e-4)
    draws = np.concatenate([
        np.stack(fit_curves(x, up * weights, down * weights, start=(a[0], b[0])), axis=1)
        for up, down in resampled_counts(n, c, families, 1000, 0)
    ])  # fmt: skip
    low, high = percentile_limits(resampled_log2_horizons(draws, 0.5, float(weights @ x)), 0.95)
    if model == "GPT-3":
        # In some resamples it passes nothing, which METR's code leaves out.
        assert low == -math.inf
    else:
        assert low == pytest.approx(math.log2(ends[0]), abs=0.4)
    # The percentiles of a long tail differ between 1,000 draws and 1,000 others.
    assert high == pytest.approx(math.log2(ends[1]), abs=8 if model == "GPT-5.5" else 0.8)


@pytest.mark.parametrize(
    "shape", [LOGISTIC_LINK_FUNCTION, WEIBULL_LINK_FUNCTION], ids=["logistic", "Weibull"]
)
def test_curves_have_the_highest_penalised_likelihood(shape: LinkFunction) -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(-3, 9, 40)
    for _ in range(5):
        n, weights = rng.integers(1, 6, 40), rng.uniform(0.2, 1, 40)
        c = rng.binomial(n, 1 / (1 + np.exp(x - 4)))
        passed, failed = weights * c / 100, weights * (n - c) / 100

        def loss(ab: np.ndarray, passed: np.ndarray = passed, failed: np.ndarray = failed) -> float:
            eta = ab[0] + ab[1] * x
            if shape is LOGISTIC_LINK_FUNCTION:
                logs = -np.logaddexp(0, -eta), -np.logaddexp(0, eta)
            else:
                rate = np.clip(np.exp(-np.exp(-eta)), 1e-300, 1 - 1e-16)
                logs = np.log(rate), np.log1p(-rate)
            return -float(passed @ logs[0] + failed @ logs[1]) + 0.5e-5 * ab[1] ** 2

        best = minimize(loss, [1.0, -0.5], method="Nelder-Mead", tol=1e-10)
        a, b = fit_curves(x, passed[None], failed[None], shape)
        assert (a[0], b[0]) == pytest.approx(best.x, rel=1e-4)
        for rate in (0.5, 0.8):
            log2 = log2_horizons(a, b, rate, shape)
            assert shape.rates_of_predictor(a + b * log2)[2] == pytest.approx(rate)


def test_rows_are_fitted_as_if_they_were_alone() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 8, 12).round()
    passed = rng.multinomial(9, np.full(12, 1 / 12), 30) / 40.0
    failed = rng.multinomial(9, np.full(12, 1 / 12), 30) / 40.0
    passed[3], failed[7] = 0, 0
    together = fit_curves(x, passed, failed)
    alone = [fit_curves(x, passed[i : i + 1], failed[i : i + 1]) for i in range(30)]
    for place, (a, b) in enumerate(alone):
        if place not in (3, 7):
            assert (together[0][place], together[1][place]) == pytest.approx((a[0], b[0]), abs=1e-5)
    assert together[0][3] == -math.inf
    assert together[0][7] == math.inf
    assert log2_horizons(*together, 0.5)[[3, 7]].tolist() == [-math.inf, math.inf]


@pytest.mark.parametrize("gap", [1e-3, 0.1, 1, 8])
def test_separated_tasks_have_a_horizon_in_the_gap(gap: float) -> None:
    x = np.array([0.0, 1.0, 2.0, 2 + gap, 3 + gap, 4 + gap])
    passed = np.array([[1.0, 1, 1, 0, 0, 0]]) / 6
    a, b = fit_curves(x, passed, 1 / 6 - passed)
    assert 2 < log2_horizons(a, b, 0.5)[0] < 2 + gap
    assert np.isfinite(b).all()


def test_isotonic_curves_are_those_of_scipy() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        x, weights = rng.permutation(15).astype(float), rng.uniform(0.1, 1, 15)
        rates = rng.uniform(0, 1, 15)
        at, own_values = isotonic_fit(x, weights * rates, weights * (1 - rates))
        order = np.argsort(x, kind="stable")
        expected = isotonic_regression(rates[order], weights=weights[order], increasing=False).x
        assert at.tolist() == sorted(x)
        assert own_values == pytest.approx(expected)


def test_isotonic_horizons_lie_between_two_lengths() -> None:
    at, rates = np.array([0.0, 2.0, 5.0]), np.array([0.9, 0.5, 0.1])
    assert isotonic_log2_horizon(at, rates, 0.5) == 3.5
    assert isotonic_log2_horizon(at, rates, 0.6) == 1
    assert isotonic_log2_horizon(at, rates, 0.05) == math.inf
    assert isotonic_log2_horizon(at, rates, 0.95) == -math.inf


def test_resamples_have_families_tasks_and_attempts_as_often_as_they_come() -> None:
    """The variance of the number of attempts of a task: families, then tasks in them."""
    families, n = np.array([0, 0, 0, 1, 2]), np.array([2, 2, 2, 4, 1])
    c = np.array([1, 0, 2, 3, 1])
    blocks = [*resampled_counts(n, c, families, 20_000, 7)]
    passed, failed = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    times = (passed + failed) / n
    assert times.mean(axis=0) == pytest.approx(np.ones(5), abs=0.03)
    assert passed.mean(axis=0) == pytest.approx(c, abs=0.06)
    assert (failed[:, 2] == 0).all()
    # A family comes k ~ Binomial(3, 1/3) times, and a task of three Binomial(3k, 1/3) times.
    assert times[:, 3].var() == pytest.approx(2 / 3, abs=0.03)
    assert times[:, 0].var() == pytest.approx(2 / 3 + 2 / 3, abs=0.05)
    assert times[:, :3].sum(axis=1) == pytest.approx(3 * (times[:, :3].sum(axis=1) / 3).round())


def test_models_with_the_same_tasks_are_resampled_together() -> None:
    families, n = np.array([0, 0, 1, 1]), np.full(4, 5)
    first, second = (
        np.concatenate([up + down for up, down in resampled_counts(n, c, families, 700, 1)])
        for c in (np.array([0, 1, 2, 3]), np.array([5, 5, 0, 1]))
    )
    assert (first == second).all()
    assert len(first) == 700


def test_resamples_without_a_horizon_widen_the_interval() -> None:
    draws = np.stack(
        [np.array([2.0, 2.0, -2.0, math.inf]), np.array([-1.0, 0.5, 0.0, 0.0])], axis=1
    )
    assert resampled_log2_horizons(draws, 0.5, 0.0).tolist() == [2, math.inf, -math.inf, math.inf]
    assert percentile_limits(np.array([1.0, 2.0, 3.0, math.nan]), 0.5) == (-math.inf, math.inf)
    assert percentile_limits(np.arange(101.0), 0.5) == (25, 75)
    assert [minutes_from_log2(log2) for log2 in (-math.inf, 3, 1e6)] == [0, 8, math.inf]


def test_growth_is_the_line_of_least_squares() -> None:
    rng = np.random.default_rng(4)
    days, log2 = rng.uniform(0, 900, 6), rng.normal(size=(3, 6))
    log2[1, 2], log2[2, 1:] = math.inf, math.nan
    expected = (
        np.polyfit(days, log2[0], 1)[0],
        np.polyfit(np.delete(days, 2), np.delete(log2[1], 2), 1)[0],
    )
    result = doublings_per_day(days, log2)
    assert result[:2] == pytest.approx(expected)
    assert math.isnan(result[2])


def test_the_frontier_has_the_longest_horizons_at_their_release() -> None:
    assert frontier_models([1, 2, 2, 3, 4], [5, 6, 7, 4, 7]) == [0, 2, 4]


@pytest.mark.long
def test_intervals_of_many_families_contain_the_true_horizon() -> None:
    """30 families of 3 tasks with 5 attempts; the curve is symmetric, so the horizon is known."""
    rng, hits = np.random.default_rng(5), 0
    families, n = np.repeat(np.arange(30), 3), np.full(90, 5)
    for number in range(100):
        x = rng.uniform(0, 9, 30)[families]
        eta = 0.8 * (4.5 - x) + rng.normal(size=30)[families] + rng.normal(size=90)
        c = rng.binomial(n, 1 / (1 + np.exp(-eta)))
        draws = np.concatenate([
            np.stack(fit_curves(x, up / 450, down / 450), axis=1)
            for up, down in resampled_counts(n, c, families, 400, number)
        ])  # fmt: skip
        low, high = percentile_limits(resampled_log2_horizons(draws, 0.5, float(x.mean())), 0.95)
        hits += low <= 4.5 <= high
    assert hits >= 90
