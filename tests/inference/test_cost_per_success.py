"""Cost per solved task: limits and p agree, symmetries, edges, and coverage of skewed costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passk_cli.inference.cost_per_success import (
    TaskCosts,
    compare_costs,
    cost_per_success,
    mean_cost,
)
from passk_cli.inference.populations import THESE_TASKS


def random_spending(
    tasks: int, seed: int, spread: float = 1.0, passing: float = 0.5, n: int = 3
) -> TaskCosts:
    rng = np.random.default_rng(seed)
    cost, passed = rng.lognormal(0, spread, (tasks, n)), rng.random((tasks, n)) < passing
    start = np.arange(tasks + 1) * n
    ones = np.ones(tasks * n, dtype=np.int64)
    return TaskCosts.from_attempts(start, cost.ravel(), ones, passed.ravel().astype(np.int64))


@settings(deadline=None, max_examples=12)
@given(
    st.integers(2, 30), st.integers(0, 99), st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]),
    st.sampled_from([0.1, 0.6, 1.0]), st.sampled_from([0.3, 1.0, 5.0]), st.booleans(),
)  # fmt: skip
def test_p_and_both_intervals_agree(
    tasks: int, seed: int, passing: float, right_side: float, scale: float, fixed_tasks: bool
) -> None:
    first, second = (
        random_spending(tasks, seed, passing=passing),
        random_spending(tasks, seed + 100, passing=right_side),
    )
    second = TaskCosts(
        scale * second.mean_cost, second.pass_rate, second.attempts, second.within_task_covariances
    )
    population = THESE_TASKS if fixed_tasks else "new-tasks"
    answer = compare_costs([first, second], population=population)[0]
    difference, ratio = answer.difference, answer.ratio
    for interval, null in ((difference, 0.0), (ratio, 1.0)):
        assert interval.low is not None
        assert interval.high is not None
        assert (answer.p <= 0.05) == (interval.low > null or interval.high < null)
        if interval.value is not None:
            assert interval.low <= interval.value <= interval.high
    mirrored = compare_costs([second, first], population=population)[0]
    assert mirrored.p == pytest.approx(answer.p, rel=1e-9)
    assert mirrored.difference.low == pytest.approx(-difference.high, rel=1e-6)  # type: ignore[operator]
    if ratio.high < np.inf and ratio.low > 0:  # type: ignore[operator]
        assert mirrored.ratio.high == pytest.approx(1 / ratio.low, rel=1e-6)  # type: ignore[operator]


def test_the_unit_of_money_does_not_matter() -> None:
    first, second = random_spending(12, 1), random_spending(12, 2)
    cents = [
        TaskCosts(100 * s.mean_cost, s.pass_rate, s.attempts, s.within_task_covariances)
        for s in (first, second)
    ]
    left_side, right_side = cost_per_success(first), cost_per_success(cents[0])
    assert (right_side.low, right_side.high) == pytest.approx(
        (100 * left_side.low, 100 * left_side.high), rel=1e-9
    )  # type: ignore[operator]
    (one_pair,), (other_pair,) = compare_costs([first, second]), compare_costs(cents)
    assert other_pair.p == pytest.approx(one_pair.p, rel=1e-9)
    assert other_pair.ratio.high == pytest.approx(one_pair.ratio.high, rel=1e-9)
    scaled, limit = other_pair.difference.low, one_pair.difference.low
    assert scaled == pytest.approx(100 * limit, rel=1e-9)  # type: ignore[operator]


def test_classical_fieller_if_nothing_is_scarce_or_skewed() -> None:
    rng = np.random.default_rng(4)
    cost, rate = rng.uniform(0.9, 1.1, 400), rng.beta(2, 2, 400)
    answer = cost_per_success(TaskCosts(cost, rate))
    z = cost / cost.mean() - rate / rate.mean()
    half = 1.966 * z.std(ddof=1) / 20
    value = cost.mean() / rate.mean()
    assert answer.value == pytest.approx(value)
    assert answer.low == pytest.approx(value * (1 - half), rel=6e-3)
    assert answer.high == pytest.approx(value * (1 + half), rel=6e-3)


def test_no_success_is_a_lower_limit() -> None:
    failing = TaskCosts(np.full(20, 2.0), np.zeros(20))
    answer = cost_per_success(failing)
    assert (answer.value, answer.high, answer.reason) == (None, np.inf, "no attempt passed")
    # Up to 16.8 % of tasks may be solved where 20 were not (Clopper and Pearson).
    assert answer.low == pytest.approx(2.0 / 0.168, rel=0.1)
    pair = compare_costs([failing, TaskCosts(np.full(20, 2.0), np.ones(20))])[0]
    assert (pair.ratio.value, pair.ratio.high, pair.difference.high) == (None, np.inf, np.inf)
    assert pair.p < 0.001
    assert pair.ratio.low > 1  # type: ignore[operator]
    two = compare_costs([failing, failing])[0]
    assert (two.p, two.ratio.low, two.ratio.high) == (1.0, 0.0, np.inf)


def test_one_task_and_costs_of_nothing() -> None:
    first = cost_per_success(TaskCosts(np.array([1.0]), np.array([0.5])))
    assert (first.value, first.low, first.high) == (2.0, None, None)
    assert first.reason == "the method needs at least 2 tasks"
    free = TaskCosts(np.zeros(9), np.ones(9))
    assert cost_per_success(free).value == 0.0
    assert cost_per_success(free).high == 0.0
    pair = compare_costs([random_spending(9, 1), free])[0]
    assert (pair.ratio.value, pair.p < 0.05) == (None, True)


def test_equal_costs_are_no_certainty() -> None:
    limits = mean_cost(TaskCosts(np.full(25, 0.05), np.ones(25)))
    assert limits.low < 0.05 < limits.high  # type: ignore[operator]
    assert limits.high < 0.06  # type: ignore[operator]


def test_a_missing_cost_leaves_no_upper_end() -> None:
    start, all_ones = np.array([0, 2, 3, 4]), np.ones(4, dtype=np.int64)
    value, passed = np.array([1.0, np.nan, 2.0, 3.0]), np.array([1, 0, 1, 0])
    spending = TaskCosts.from_attempts(start, value, all_ones, passed)
    assert spending.mean_cost.tolist() == [0.5, 2.0, 3.0]
    assert spending.is_cost_missing is not None
    assert spending.is_cost_missing.tolist() == [True, False, False]
    answer = cost_per_success(spending)
    expected = cost_per_success(TaskCosts(spending.mean_cost, spending.pass_rate))
    assert (answer.value, answer.low) == (expected.value, expected.low)
    assert (answer.missing_cost_upper_bound, answer.high) == (np.inf, np.inf)
    dear, cheap = random_spending(40, 1, 0.3), random_spending(40, 2, 0.3)
    lacking = np.arange(40) == 3
    dear = TaskCosts(10 * dear.mean_cost, dear.pass_rate, is_cost_missing=lacking)
    pair = compare_costs([dear, cheap])[0]
    assert pair.p < 0.05
    assert (pair.ratio.missing_cost_upper_bound, pair.ratio.high, pair.difference.high) == (
        np.inf,
        np.inf,
        np.inf,
    )
    # What lacks a price may be dearer still: that it is cheaper cannot be shown.
    unpriced = TaskCosts(cheap.mean_cost / 10, cheap.pass_rate, is_cost_missing=lacking)
    assert compare_costs([unpriced, cheap])[0].p == 1.0


def test_clusters_of_one_task_are_tasks() -> None:
    first, second = random_spending(15, 7), random_spending(15, 8)
    single = np.arange(15)
    clustered = replace(first, clusters=single)
    assert cost_per_success(clustered).high == pytest.approx(cost_per_success(first).high, rel=1e-6)
    twice = [
        TaskCosts(np.repeat(s.mean_cost, 2), np.repeat(s.pass_rate, 2)) for s in (first, second)
    ]
    pairs = [replace(item, clusters=np.repeat(single, 2)) for item in twice]
    expected, copied = compare_costs([first, second])[0], compare_costs(pairs)[0]
    assert copied.p == pytest.approx(expected.p, rel=0.05)
    assert compare_costs(twice)[0].p < expected.p


def test_for_these_tasks_only_attempts_vary() -> None:
    spent = random_spending(20, 9, n=30)
    assert spent.within_task_covariances is not None
    assert spent.within_task_covariances.mean(axis=1) == pytest.approx(
        [4.67 / 30, 0.25 / 30, 0.0], abs=0.05
    )
    assert spent.within_task_covariances[1] == pytest.approx(
        spent.pass_rate * (1 - spent.pass_rate) / 29
    )
    fixed_tasks, new = cost_per_success(spent, population=THESE_TASKS), cost_per_success(spent)
    assert fixed_tasks.value == new.value
    assert fixed_tasks.low < fixed_tasks.value < fixed_tasks.high  # type: ignore[operator]
    single = cost_per_success(random_spending(5, 1, n=1), population=THESE_TASKS)
    assert (single.low, single.reason) == (None, "needs two attempts at every task")


def test_a_family_has_one_level() -> None:
    models = [random_spending(25, seed) for seed in range(4)]
    models.append(TaskCosts(8 * models[0].mean_cost, models[0].pass_rate))
    answers = compare_costs(models, resamples=2000)
    assert len(answers) == 10
    for item in answers:
        assert item.adjusted >= item.p
        assert (item.adjusted <= 0.05) == (item.ratio.low > 1 or item.ratio.high < 1)  # type: ignore[operator]
    single = compare_costs(models, [(0, 4)], adjust=False)[0]
    assert single.p == single.adjusted
    assert single.ratio.high <= answers[3].ratio.high  # type: ignore[operator]


@pytest.mark.long
def test_coverage_of_skewed_costs_and_rare_passes() -> None:
    # Costs of lognormal law, σ 1.5; half of the runs with few passes.  benchmarks/cost.md has more.
    rng, runs = np.random.default_rng(2), 120
    for rates, tasks in (((1.0, 1.0), 20), ((0.3, 6.0), 50)):
        true = np.exp(1.5**2 / 2) * sum(rates) / rates[0]
        hits = 0
        for _ in range(runs):
            cost = rng.lognormal(0, 1.5, tasks)
            rate = (rng.random(tasks) < rng.beta(*rates, tasks)).astype(float)
            answer = cost_per_success(TaskCosts(cost, rate))
            hits += answer.low <= true <= answer.high
        assert hits >= 0.88 * runs
