"""Noise of a difference and intraclass correlation: exact small cases, and known variances."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from passk_cli.inference.noise import (
    attempts_for_noise,
    intraclass_correlation,
    noise_floor,
    noise_split,
)

TASKS, N = 200, 5


def test_the_split_of_a_small_case_is_exact() -> None:
    n, m = np.array([4, 2, 3]), np.array([2, 2, 2])
    c, b = np.array([1, 2, 2]), np.array([1, 1, 0])
    d = [Fraction(int(x), int(y)) for x, y in zip(c, n, strict=True)]
    d = [x - Fraction(int(y), int(z)) for x, y, z in zip(d, b, m, strict=True)]
    mean = sum(d) / 3
    total = sum((x - mean) ** 2 for x in d) / 2 / 3
    pairs = [(4, 1), (2, 2), (3, 2), (2, 1), (2, 1), (2, 0)]
    luck = sum(Fraction(p * (k - p), k**2 * (k - 1)) for k, p in pairs) / 9
    split = noise_split((n, c), (m, b))
    assert split.variance_due_to_attempts == pytest.approx(float(luck), rel=1e-12)
    assert split.variance_due_to_tasks == pytest.approx(float(max(total - luck, 0)), rel=1e-12)
    assert split.share_of_attempts == pytest.approx(float(luck / max(total, luck)), rel=1e-12)


def test_the_correlation_of_a_small_case_is_exact() -> None:
    n, c = np.array([4, 2, 3, 3]), np.array([1, 2, 0, 2])
    rates = [Fraction(int(x), int(y)) for x, y in zip(c, n, strict=True)]
    attempts = int(n.sum())
    mean = Fraction(int(c.sum()), attempts)
    between = sum(int(k) * (p - mean) ** 2 for k, p in zip(n, rates, strict=True)) / 3
    within = sum(int(k) * p * (1 - p) for k, p in zip(n, rates, strict=True)) / (attempts - 4)
    size = (attempts - Fraction(int((n**2).sum()), attempts)) / 3
    expected = (between - within) / (between + (size - 1) * within)
    assert intraclass_correlation(n, c)[0] == pytest.approx(float(expected), rel=1e-12)


def draws(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Passes of two models whose rates at a task are 0.5 ± 0.2 ± 0.1, the first sign shared."""
    shared = rng.choice([-0.2, 0.2], TASKS)
    rates = (0.5 + shared + rng.choice([-0.1, 0.1], TASKS) for _ in range(2))
    first, second = (rng.binomial(N, rate) for rate in rates)
    return first, second


def test_known_variances_come_out() -> None:
    rng, n = np.random.default_rng(1), np.full(TASKS, N)
    samples = [draws(rng) for _ in range(1500)]
    splits = np.array([noise_split((n, c), (n, b)) for c, b in samples])
    tasks = 2 * 0.1**2 / TASKS
    attempts = 2 * (0.25 - 0.2**2 - 0.1**2) / N / TASKS
    errors = splits.std(axis=0) / np.sqrt(len(splits))
    assert np.all(np.abs(splits.mean(axis=0) - [tasks, attempts]) < 4 * errors)
    means = [float((c - b).mean()) / N for c, b in samples]
    # The standard error of a standard deviation of 1,500 values is 1.8 %.
    predicted = noise_split((n, samples[0][0]), (n, samples[0][1]))._replace(
        variance_due_to_tasks=tasks, variance_due_to_attempts=attempts
    )
    assert np.std(means) == pytest.approx(predicted.se(), rel=0.07)


def test_twice_the_attempts_or_tasks_gives_the_standard_error_that_is_promised() -> None:
    split = noise_split(*((np.full(3, 2), np.array(c)) for c in ([2, 2, 0], [1, 0, 0])))
    assert split.se(tasks=2) == pytest.approx(split.se() / 2**0.5)
    assert split.se(attempts=2) ** 2 == pytest.approx(
        split.variance_due_to_tasks + split.variance_due_to_attempts / 2
    )


def test_the_correlation_and_its_interval_agree_with_beta_rates() -> None:
    """Beta(1, 2) rates have an intraclass correlation of 1 / (1 + 1 + 2)."""
    rng, result = np.random.default_rng(3), []
    for _ in range(300):
        n = rng.integers(2, 7, 80)
        result.append(intraclass_correlation(n, rng.binomial(n, rng.beta(1, 2, 80))))
    values, low, high = np.array(result).T
    assert values.mean() == pytest.approx(0.25, abs=4 * values.std() / 300**0.5)
    assert np.mean((low <= 0.25) & (high >= 0.25)) >= 0.9


def test_outcomes_that_are_all_the_same_have_no_correlation() -> None:
    assert np.isnan(intraclass_correlation(np.full(5, 3), np.full(5, 3))).all()
    assert np.isnan(intraclass_correlation(np.ones(5, int), np.array([0, 1, 0, 1, 1]))).all()


def test_the_noise_floor_of_a_small_case_is_exact() -> None:
    n, c = np.array([4, 2, 3]), np.array([1, 1, 3])
    spread = Fraction(3, 12) + Fraction(1, 2)
    expected = 1.959963984540054 * float(2 * spread / 5) ** 0.5 / 3
    assert noise_floor(n, c, attempts=5) == pytest.approx(expected, rel=1e-12)
    assert noise_floor(n, c, level=0.999) == 1.0


@pytest.mark.parametrize("rates", [0.5, 0.9, None])
def test_two_runs_exceed_the_noise_floor_at_its_level(rates: float | None) -> None:
    rng, tasks, runs = np.random.default_rng(3), 60, 2000
    p = rng.beta(1, 2, (runs, tasks)) if rates is None else np.full((runs, tasks), rates)
    n = np.full(tasks, 4)
    floor = np.array([noise_floor(n, c) for c in rng.binomial(4, p)])
    first, second = (rng.binomial(1, p).mean(axis=1) for _ in range(2))
    # A multiple of 1/60 counts as up to the floor if it is no larger.
    assert 0.92 < (np.abs(first - second) <= floor).mean() < 0.98


def test_the_attempts_for_a_noise_floor_are_the_fewest() -> None:
    rng = np.random.default_rng(5)
    for within in (0.01, 0.05, 0.3, 1.0):
        n = rng.integers(2, 9, 20)
        c = rng.binomial(n, 0.6)
        attempts = attempts_for_noise(n, c, within)
        assert noise_floor(n, c, attempts) <= within + 1e-12
        assert attempts == 1 or noise_floor(n, c, attempts - 1) > within
