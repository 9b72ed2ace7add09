"""Attempts in order against brute force, exact fractions, least squares and statsmodels."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.duration.survfunc import SurvfuncRight

from passk_cli.metrics.attempt_order import (
    attempts_and_passes_per_task,
    attempts_for_share,
    first_at_k,
    first_pass,
    mean_attempts_used,
    neighbour_changes,
    neighbour_correlation,
    neighbour_correlation_of_trend,
    rates_by_position_range,
    trend_scores_and_weights,
    unsolved_shares,
    zero_based_positions,
)
from passk_cli.metrics.pass_k import pass_at_k
from tests.metrics.bags import ragged

outcomes = st.lists(st.integers(0, 1), min_size=1, max_size=7)
tasks_of = st.lists(outcomes, min_size=1, max_size=6)


def first(tasks: list[list[int]], k: int) -> np.ndarray:
    start, passed = ragged(tasks)
    rows = np.arange(len(passed), dtype=float)
    return first_at_k(start, rows, np.ones_like(passed), passed, k)


@given(tasks_of, st.integers(1, 8))
def test_first_at_k_is_whether_one_of_the_first_k_passes(tasks: list[list[int]], k: int) -> None:
    # A pass is one of the first k, however few attempts there are.
    reference = [len(task) >= k or any(task) for task in tasks]
    expected = [
        float(any(task[:k])) if left_side else np.nan
        for task, left_side in zip(tasks, reference, strict=True)
    ]
    np.testing.assert_array_equal(first(tasks, k), expected)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=6), st.data())
def test_over_all_orders_first_at_k_is_pass_at_k(task: list[int], data: st.DataObject) -> None:
    k, n, c = data.draw(st.integers(1, len(task))), len(task), sum(task)
    orders = [list(order) for order in permutations(task)]
    mean = sum(map(Fraction, first(orders, k).tolist())) / len(orders)
    assert mean == 1 - Fraction(comb(n - c, k), comb(n, k))


def test_attempts_at_one_time_share_their_orders() -> None:
    # Three at time 1 of which one passes, two at time 2 of which one does: 5 attempts.
    start, time = np.array([0, 2, 3]), np.array([1.0, 2.0, 1.0])
    count, passed = np.array([3, 2, 2]), np.array([1, 1, 2])
    item = [
        (*first, *two) for first, two in product(set(permutations((0, 0, 1))), permutations((0, 1)))
    ]
    for k in range(1, 6):
        expected = sum(max(order[:k]) for order in item) / len(item)
        result = first_at_k(start, time, count, passed, k)
        assert result[0] == pytest.approx(expected, rel=1e-14)
        assert result[1] == 1.0


@given(tasks_of)
def test_slope_is_that_of_least_squares_within_tasks(tasks: list[list[int]]) -> None:
    start, passed = ragged(tasks)
    scores, sizes = trend_scores_and_weights(start, passed)
    if not sizes.sum():
        return
    # One dummy per task and the position.
    task = np.repeat(np.arange(len(tasks)), np.diff(start))
    design = np.column_stack([zero_based_positions(start), task[:, None] == np.arange(len(tasks))])
    slope = np.linalg.lstsq(design.astype(float), passed.astype(float), rcond=None)[0][0]
    assert scores.sum() / sizes.sum() == pytest.approx(slope, abs=1e-9)
    back, _ = trend_scores_and_weights(*ragged([task[::-1] for task in tasks]))
    np.testing.assert_allclose(back, -scores, atol=1e-12)
    turned, _ = trend_scores_and_weights(start, 1 - passed)
    np.testing.assert_allclose(turned, -scores, atol=1e-12)


@given(tasks_of)
def test_changes_are_counted_within_tasks(tasks: list[list[int]]) -> None:
    expected = [sum(a != b for a, b in pairwise(task)) for task in tasks]
    assert neighbour_changes(*ragged(tasks)).tolist() == expected
    n, c = attempts_and_passes_per_task(*ragged(tasks))
    assert (n.tolist(), c.tolist()) == ([len(t) for t in tasks], [sum(t) for t in tasks])


def test_lag_one_is_zero_over_all_orders_and_signed_as_it_should_be() -> None:
    orders = [list(order) for order in permutations((0, 0, 1, 1, 1))]
    start, passed = ragged(orders)
    assert neighbour_correlation(
        neighbour_changes(start, passed), *attempts_and_passes_per_task(start, passed)
    ) == pytest.approx(0, abs=1e-12)
    for task, sign in (([0, 0, 0, 1, 1, 1], 1), ([0, 1, 0, 1, 0, 1], -1)):
        start, passed = ragged([task])
        assert (
            np.sign(
                neighbour_correlation(
                    neighbour_changes(start, passed), *attempts_and_passes_per_task(start, passed)
                )
            )
            == sign
        )
    assert np.isnan(neighbour_correlation(np.array([0]), np.array([4]), np.array([4])))


@pytest.mark.parametrize("n", [3, 4, 7])
@pytest.mark.parametrize("slope", [0.02, -0.1])
def test_lag_of_a_trend_is_its_expectation(n: int, slope: float) -> None:
    """Over all outcomes of independent attempts with probabilities on a straight line."""
    p = 0.45 + slope * (np.arange(n) - (n - 1) / 2)
    fewer = expected = 0.0
    for task in product((0, 1), repeat=n):
        weight = np.where(np.array(task) == 1, p, 1 - p).prod()
        c = sum(task)
        mean = 2 * c * (n - c) / n
        expected += weight * mean
        fewer += weight * (mean - sum(a != b for a, b in pairwise(task)))
    # lag_of_trend takes the tasks' changes expected from their passes; one c stands for their mean.
    scale = 2 * 1 * (n - 1) / n / expected
    result = neighbour_correlation_of_trend(slope, np.array([n]), np.array([1])) * scale
    assert result == pytest.approx(fewer / expected, rel=1e-9)


@given(tasks_of)
def test_first_pass_and_survival(tasks: list[list[int]]) -> None:
    attempts, solved = first_pass(*ragged(tasks))
    assert attempts.tolist() == [t.index(1) + 1 if 1 in t else len(t) for t in tasks]
    assert solved.tolist() == [1 in t for t in tasks]
    survival = unsolved_shares(attempts, solved)
    assert survival[0] == 1.0
    assert np.all(np.diff(survival) <= 0)
    if solved.any():
        reference = SurvfuncRight(attempts.astype(float), solved.astype(int))
        for time, value in zip(reference.surv_times, reference.surv_prob, strict=True):
            assert survival[int(time)] == pytest.approx(value, abs=1e-12)


@given(st.lists(st.lists(st.integers(0, 1), min_size=5, max_size=5), min_size=1, max_size=9))
def test_with_equal_n_nothing_is_censored_before_the_end(tasks: list[list[int]]) -> None:
    attempts, solved = first_pass(*ragged(tasks))
    survival = unsolved_shares(attempts, solved)
    for k in range(1, 6):
        if k < len(survival):
            assert survival[k] == pytest.approx(1 - first(tasks, k).mean(), abs=1e-12)
        spent = np.minimum(attempts, k).mean()
        assert mean_attempts_used(survival, k) == pytest.approx(spent, rel=1e-12)
    reached = [share for share in (0.25, 0.5, 0.75) if solved.mean() >= share - 1e-9]
    for share in reached:
        # The order statistic: the fewest attempts that reach the share of tasks.
        ordered = np.sort(np.where(solved, attempts, 99))
        expected = ordered[int(np.ceil(share * len(tasks) - 1e-9)) - 1]
        assert attempts_for_share(survival, share) == expected
    for share in {0.25, 0.5, 0.75} - set(reached):
        assert attempts_for_share(survival, share) is None


def test_attempts_used_beyond_what_was_tried() -> None:
    sample_of_tasks, all_ = np.array([1.0, 0.5, 0.25]), np.array([1.0, 0.5, 0.0])
    assert np.isnan(mean_attempts_used(sample_of_tasks, 3))
    assert mean_attempts_used(all_, 30) == 1.5


@given(tasks_of, st.integers(1, 4))
def test_rates_between(tasks: list[list[int]], width: int) -> None:
    longest = max(map(len, tasks))
    edges = np.append(np.arange(0, longest, width), longest)
    for (selector, attempts, rates), low, high in zip(
        rates_by_position_range(*ragged(tasks), edges), edges, edges[1:], strict=False
    ):
        expected = {i: task[low:high] for i, task in enumerate(tasks) if len(task) > low}
        assert selector.tolist() == list(expected)
        assert attempts.tolist() == [len(part) for part in expected.values()]
        np.testing.assert_allclose(rates, [np.mean(part) for part in expected.values()])


def test_first_at_k_is_pass_at_k_where_k_is_n() -> None:
    """Where k = n every order has the same attempts."""
    rng = np.random.default_rng(0)
    tasks = [rng.integers(0, 2, 6).tolist() for _ in range(30)]
    n, c = attempts_and_passes_per_task(*ragged(tasks))
    np.testing.assert_array_equal(first(tasks, 6), pass_at_k(n, c, 6))
