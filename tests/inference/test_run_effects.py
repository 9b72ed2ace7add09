"""A run effect: exchangeable attempts are not one, a shift of a run is; changes of a history."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.run_effects import (
    are_amounts_above_task_divider,
    chance_variances,
    change_points,
    exact_change_p,
    largest_change_deviate,
    least_detectable_change,
    run_effect,
    run_mean_logs_and_variances,
)


def test_p_is_that_of_every_deal_of_the_attempts() -> None:
    """Three runs, two tasks, two attempts each: all deals of the passes are enumerated."""
    n, c = np.full((3, 2), 2), np.array([[2, 2], [1, 0], [0, 1]])
    marks = [[1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0]]

    def spread(totals: tuple[int, ...]) -> Fraction:
        middle = Fraction(sum(totals), 3)
        return sum(((total - middle) ** 2 for total in totals), Fraction(0))

    deals = [
        [
            tuple(sum(deal[2 * r : 2 * r + 2]) for r in range(3))
            for deal in itertools.permutations(m)
        ]
        for m in marks
    ]
    law = [
        spread(tuple(a + b for a, b in zip(first, second, strict=True)))
        for first in set(deals[0])
        for second in set(deals[1])
        for _ in range(deals[0].count(first) * deals[1].count(second) // 36**2)
    ]
    observed = spread(tuple(int(x) for x in c.sum(axis=1)))
    exact = sum(value >= observed for value in law) / len(law)
    assert run_effect(n, c).p == pytest.approx(exact, abs=0.02)


def test_a_shift_of_a_run_is_seen_and_its_size_covered() -> None:
    random = np.random.default_rng(4)
    rates = random.beta(2, 2, 200)
    n = np.full((8, 200), 5)
    shifts = np.array([-0.09, 0.08, -0.06, 0.06, 0.09, -0.08, 0.03, -0.03])
    c = random.binomial(n, np.clip(rates + shifts[:, None], 0, 1))
    effect = run_effect(n, c)
    assert effect.p < 0.001
    assert effect.low < np.var(shifts, ddof=1) < effect.high
    assert effect.effect_variance == pytest.approx(np.var(shifts, ddof=1), rel=0.35)


def test_an_effect_on_single_tasks_is_not_an_effect_on_the_mean() -> None:
    """Every run solves other tasks, always, and as many of them as any other run."""
    n = np.full((4, 40), 3)
    c = np.array([[3 if (task + run) % 2 else 0 for task in range(40)] for run in range(4)])
    effect = run_effect(n, c)
    assert effect.p > 0.9
    assert effect.p_of_run_effects_on_tasks < 0.001
    assert effect.expected_flips_within_run < 1e-9 < effect.expected_flips_between_runs


def test_one_attempt_per_run_does_not_test_single_tasks() -> None:
    random = np.random.default_rng(1)
    n = np.ones((6, 30), dtype=np.int64)
    effect = run_effect(n, random.binomial(n, 0.5))
    assert effect.p_of_run_effects_on_tasks == 1.0
    assert np.isnan(effect.expected_flips_between_runs)
    assert np.isnan(effect.expected_flips_within_run)


@pytest.mark.parametrize("passes", [0, 3])
def test_attempts_that_are_all_alike_have_no_effect(passes: int) -> None:
    effect = run_effect(np.full((3, 5), 3), np.full((3, 5), passes))
    assert (effect.p, effect.effect_variance, effect.low, effect.high) == (1.0, 0.0, 0.0, 0.0)


def test_unequal_attempts_that_are_exchangeable_are_rarely_an_effect() -> None:
    random = np.random.default_rng(7)
    n = np.repeat(np.array([[1], [2], [6]]), 20, axis=1)
    rates = random.beta(0.4, 0.4, 20)
    rejected = sum(
        run_effect(n, random.binomial(n, rates), seed=seed).p <= 0.1 for seed in range(60)
    )
    assert rejected <= 12


@pytest.mark.parametrize("n", [np.ones((1, 4)), np.zeros((2, 4)), np.ones((2, 0))])
def test_invalid_histories_are_refused(n: Ints) -> None:
    with pytest.raises(ValueError, match="at least two runs"):
        run_effect(n.astype(np.int64), np.zeros_like(n, dtype=np.int64))


def test_quiet_histories_raise_few_alarms() -> None:
    random = np.random.default_rng(0)
    largest = [largest_change_deviate(random.normal(0.7, 0.02, 100)) for _ in range(100)]
    # The threshold is that of 365 runs: of 100 runs it is exceeded more rarely.
    assert sum(deviate > 4.255 for deviate in largest) <= 8


def test_a_drop_of_five_points_is_dated() -> None:
    random = np.random.default_rng(3)
    means = random.normal(0.7, 0.02, 160)
    means[119:] -= 0.05
    (change,) = change_points(means)
    assert abs(change.first_run - 119) <= 2
    assert change.detected_run - 119 <= 12
    assert change.mean_before == pytest.approx(0.7, abs=0.01)
    assert change.mean_after == pytest.approx(0.65, abs=0.01)


@pytest.mark.parametrize("floor", [0.0, 0.03**2])
@pytest.mark.parametrize("runs", [8, 12, 40])
def test_no_less_than_the_least_change_is_shown(runs: int, floor: float) -> None:
    """Whatever run it comes at, the last one shows nothing less; a bit more it shows of some."""
    night = np.random.default_rng(runs).normal(0.7, 0.02, runs)
    noise = np.stack([
        np.concatenate([part - part.mean() for part in np.split(night, [split])])
        for split in range(1, runs)
    ])  # fmt: skip
    steps = (np.arange(runs) >= np.arange(1, runs)[:, None]).astype(float)
    least = least_detectable_change(night, floor)
    less, more = (
        [change_points(item, floor) for item in noise - size * least * steps]
        for size in (0.98, 1.02)
    )
    assert not any(result[0].detected_run == runs - 1 for result in less if result)
    assert any(more)


def test_runs_that_are_alike_by_accident_make_the_next_no_change() -> None:
    """Five published runs of one agent, 80 tasks × 1: 32 passes four times, then 37."""
    random = np.random.default_rng(2)
    rates = random.beta(0.5, 0.6, 80)
    n, c = np.ones((5, 80), dtype=np.int64), np.zeros((5, 80), dtype=np.int64)
    for run, passes in enumerate((32, 32, 32, 32, 37)):
        c[run, np.argsort(random.random(80) - rates)[:passes]] = 1
    means = c.mean(axis=1)
    assert [change.first_run for change in change_points(means)] == [4]
    assert change_points(means, chance_variances(n, c)) == []


def test_the_floor_is_the_variance_of_the_means_of_quiet_runs() -> None:
    random = np.random.default_rng(6)
    n = np.tile(random.integers(1, 5, (1, 300)), (200, 1))
    c = random.binomial(n, random.beta(1, 1, 300))
    variance = (c / n).mean(axis=1).var(ddof=1)
    assert chance_variances(n, c)[-1] == pytest.approx(variance, rel=0.25)


def test_one_failing_attempt_after_green_nights_is_no_change() -> None:
    """Twenty-seven nights of 40 tasks × 4 without a failure, then one."""
    n = np.full((28, 40), 4)
    c = n.copy()
    c[27, 0] = 3
    means, floors = (c / n).mean(axis=1), chance_variances(n, c)
    assert [change.first_run for change in change_points(means, floors)] == [27]
    assert change_points(means, floors, counts=(n, c)) == []
    c[27, :12] = 0
    assert [
        x.first_run
        for x in change_points((c / n).mean(axis=1), chance_variances(n, c), counts=(n, c))
    ] == [27]


@pytest.mark.parametrize("rate", [0.999, 0.99, 0.0])
def test_steady_models_near_the_end_raise_no_alarm(rate: float) -> None:
    random = np.random.default_rng(8)
    for sizes in ([3], [1, 8]):
        n = np.repeat(random.choice(sizes, (150, 1)), 20, axis=1)
        c = random.binomial(n, rate)
        assert change_points((c / n).mean(axis=1), chance_variances(n, c), counts=(n, c)) == []


def test_runs_that_drift_are_no_change_at_every_turn() -> None:
    random, alarms = np.random.default_rng(9), 0
    for _ in range(10):
        level = np.zeros(150)
        for run, step in enumerate(random.normal(0, 0.7**0.5, 149)):
            level[run + 1] = 0.7 * level[run] + step
        alarms += bool(change_points(level))
    assert alarms <= 4


def test_p_of_a_split_is_that_of_every_deal() -> None:
    """Unequal attempts, tasks that always or never pass, one task alone, all attempts after."""
    from scipy.stats import hypergeom

    random = np.random.default_rng(10)
    for _ in range(40):
        runs, tasks = random.integers(2, 9), random.integers(1, 9)
        n = random.integers(1, 6, (runs, tasks))
        c, split = random.binomial(n, random.beta(0.3, 0.3, tasks)), random.integers(1, runs)
        law = np.ones(1)
        for size, passed, after in zip(n.sum(0), c.sum(0), n[split:].sum(0), strict=True):
            law = np.convolve(law, hypergeom.pmf(np.arange(after + 1), size, passed, after))
        at = c[split:].sum()
        expected = min(1, 2 * min(law[: at + 1].sum(), law[at:].sum()))
        assert exact_change_p(n, c, 0, split, runs) == pytest.approx(expected, abs=1e-12)


def test_an_attempt_that_differs_among_many_alike_is_no_change_of_amounts() -> None:
    """Thirty turns in 27 runs of one task, then 29."""
    turns = np.array([30.0] * 27 + [29.0])
    above = are_amounts_above_task_divider(
        np.zeros(28, dtype=np.int64), turns, np.ones(28, dtype=np.int64)
    )
    n, c = np.ones((28, 1), dtype=np.int64), above[:, None].astype(np.int64)
    assert c.sum() == 27
    assert exact_change_p(n, c, 0, 27, 28) == pytest.approx(2 / 28)


def test_a_drop_and_its_repair_are_two_changes() -> None:
    random = np.random.default_rng(5)
    means = random.normal(0.7, 0.01, 90)
    means[30:60] -= 0.1
    assert [change.first_run for change in change_points(means)] == [30, 60]


@pytest.mark.parametrize("means", [np.full(50, 0.3), np.array([0.1, 0.9, 0.1, 0.9])])
def test_runs_that_are_alike_or_few_show_no_change(means: Floats) -> None:
    assert change_points(means) == []


def logs_of(random: np.random.Generator, shape: tuple[int, int, int], spread: float) -> Floats:
    """Logarithms of the amounts of runs × tasks × attempts."""
    return random.normal(0, 1, (1, shape[1], 1)) + random.normal(0, spread, shape)


def test_skewed_costs_raise_few_alarms() -> None:
    """20 tasks × 1 attempt, lognormal with σ = 2, over 100 runs."""
    random, alarms = np.random.default_rng(2), [0, 0]
    for _ in range(30):
        logs = logs_of(random, (100, 20, 1), 2.0)
        n, total, squares = np.ones(logs.shape[:2], dtype=np.int64), logs.sum(2), (logs**2).sum(2)
        alarms[0] += bool(change_points(*run_mean_logs_and_variances(n, total, squares)))
        costs = np.exp(logs)
        floors = chance_variances(n, costs.sum(2), (costs**2).sum(2))
        alarms[1] += bool(change_points(costs.mean(axis=(1, 2)), floors))
    assert alarms[0] <= 3
    assert alarms[1] <= 3


def test_the_floor_of_logarithms_is_the_variance_of_their_means() -> None:
    random = np.random.default_rng(4)
    logs = logs_of(random, (300, 50, 3), 1.0)
    means, floors = run_mean_logs_and_variances(
        np.full(logs.shape[:2], 3), logs.sum(2), (logs**2).sum(2)
    )
    assert floors[-1] == pytest.approx(means.var(ddof=1), rel=0.2)
