"""Tests of order against full enumeration, scipy, published tables, drawn orders, simulation."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from passk_cli.inference.adjust import holm
from passk_cli.inference.exchangeability import (
    SMALLEST_P,
    copies_test,
    lower_tails,
    neighbour_change_distribution,
    neighbour_change_moments,
    neighbour_test,
    rank_sum_tail,
    sum_distribution,
    trend_score_variance,
    trend_test,
)
from passk_cli.metrics.attempt_order import (
    attempts_and_passes_per_task,
    neighbour_changes,
    trend_scores_and_weights,
)
from tests.conftest import long_cases
from tests.metrics.bags import ragged

Tasks = list[list[int]]
short_tasks = st.lists(
    st.lists(st.integers(0, 1), min_size=1, max_size=5), min_size=1, max_size=4
).filter(lambda tasks: sum(map(len, tasks)) <= 14)


def orders(n: int, c: int) -> list[list[int]]:
    """Every order of c passes among n."""
    return [[int(i in places) for i in range(n)] for places in combinations(range(n), c)]


def all_orders(tasks: Tasks) -> list[Tasks]:
    """Every order of every task's outcomes, each as likely as any other."""
    item = [orders(len(task), sum(task)) for task in tasks]
    return [list(subset) for subset in product(*item)]


def rows(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(start, passed) of a (tasks × attempts) table."""
    tasks, n = x.shape
    return np.arange(tasks + 1) * n, x.astype(np.int64).ravel()


def smallest(x: np.ndarray) -> np.ndarray:
    """p of trend, neighbours and copies, after Holm."""
    start, passed = rows(x)
    p = [trend_test(start, passed).p, neighbour_test(start, passed).p]
    return holm([*p, copies_test(start, passed).smallest_p])


@settings(max_examples=40)
@given(short_tasks)
def test_every_p_is_its_definition(tasks: Tasks) -> None:
    start, passed = ragged(tasks)
    n, c = attempts_and_passes_per_task(start, passed)
    all_items = [ragged(order) for order in all_orders(tasks)]
    scores = np.array([trend_scores_and_weights(*order)[0].sum() for order in all_items])
    turns = np.array([neighbour_changes(*order).sum() for order in all_items])
    trend, neighbours = trend_test(start, passed), neighbour_test(start, passed)
    mean, variance = (moment.sum() for moment in neighbour_change_moments(n, c))
    assert scores.mean() == pytest.approx(0, abs=1e-12)
    assert scores.var() == pytest.approx(trend_score_variance(n, c).sum(), abs=1e-10)
    assert (turns.mean(), turns.var()) == pytest.approx((mean, variance), abs=1e-10)
    if trend.informative_task_count:
        share = np.mean(np.abs(scores) >= abs(trend.statistic) - 1e-9)
        assert trend.p == pytest.approx(share, abs=1e-12)
        assert trend.null_sd**2 == pytest.approx(scores.var(), abs=1e-10)
    else:
        assert np.isnan(trend.p)
    if neighbours.informative_task_count:
        away = abs(neighbour_changes(start, passed).sum() - mean) - 1e-9
        assert neighbours.p == pytest.approx(np.mean(np.abs(turns - mean) >= away), abs=1e-12)
    else:
        assert np.isnan(neighbours.p)


@settings(max_examples=40)
@given(short_tasks)
def test_p_of_pairs_is_its_definition(tasks: Tasks) -> None:
    pairs = copies_test(*ragged(tasks))
    observed = [t for t in tasks if len(t) > 2 and 0 < sum(t) < len(t)]

    def differ(order: Tasks, i: int, j: int) -> int:
        return sum(task[i] != task[j] for task in order if len(task) > j)

    result = list(
        zip(
            pairs.first_positions_of_pairs.tolist(),
            pairs.second_positions_of_pairs.tolist(),
            strict=True,
        )
    )
    longest = max(map(len, observed), default=0)
    assert result == list(combinations(range(longest), 2))
    all_items = all_orders(observed)
    for place, (i, j) in enumerate(result):
        draws = np.array([differ(order, i, j) for order in all_items])
        assert pairs.differing_task_counts[place] == differ(observed, i, j)
        assert pairs.expected_differing_tasks[place] == pytest.approx(draws.mean(), abs=1e-10)
        pair = [task for task in observed if len(task) > j]
        assert pairs.compared_task_counts[place] == len(pair)
        deviation = sum(a[i] != b[j] for a, b in product(pair, repeat=2)) / max(len(pair), 1)
        assert pairs.differing_tasks_expected_by_rates[place] == pytest.approx(deviation, abs=1e-12)
        p = np.mean(draws <= pairs.differing_task_counts[place])
        assert pairs.p[place] == pytest.approx(p, abs=1e-12)
    if result:
        np.testing.assert_array_equal(pairs.adjusted, holm(pairs.p))
        assert pairs.smallest_p == pairs.adjusted.min()
    else:
        assert np.isnan(pairs.smallest_p)


@pytest.mark.parametrize(("n", "c"), [(10, 3), (14, 7), (25, 12), (40, 1)])
def test_one_task_is_the_exact_rank_sum_test(n: int, c: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(5):
        places = rng.permutation(n)
        passes, failures = places[:c], places[c:]
        task = np.zeros(n, dtype=int)
        task[passes] = 1
        reference = stats.mannwhitneyu(passes, failures, method="exact").pvalue
        assert trend_test(*ragged([task.tolist()])).p == pytest.approx(reference, abs=1e-12)


def test_neighbours_of_one_task_are_the_runs_test() -> None:
    """Chances of few runs to three decimals as in the table of Swed & Eisenhart 1943."""
    ten, eight = (
        np.cumsum(neighbour_change_distribution(20, 10)),
        np.cumsum(neighbour_change_distribution(16, 8)),
    )
    # n runs are n − 1 changes.
    assert ten[[3, 4, 5, 6]].round(3).tolist() == [0.001, 0.004, 0.019, 0.051]
    assert eight[[3, 4, 5, 6]].round(3).tolist() == [0.009, 0.032, 0.100, 0.214]
    assert ten[5] == pytest.approx(3422 / 184756, rel=1e-12)
    for n, c in ((1, 0), (1, 1), (7, 7), (400, 137)):
        assert neighbour_change_distribution(n, c).sum() == pytest.approx(1, rel=1e-14)


def test_distributions_of_sums() -> None:
    first, law = sum_distribution([(np.array([0.7, 0.3]), 40)])
    np.testing.assert_allclose(law[:41], stats.binom.pmf(np.arange(41), 40, 0.3), atol=1e-15)
    assert first == 0
    parts = [(np.array([0.2, 0.5, 0.3]), 2), (np.array([0.0, 1.0]), 1), (np.array([0.9, 0.1]), 3)]
    expected = np.ones(1)
    for p, times in parts:
        for _ in range(times):
            expected = np.convolve(expected, p)
    np.testing.assert_allclose(sum_distribution(parts)[1][: len(expected)], expected, atol=1e-15)
    # So many that only a window around the mean is kept.
    first, law = sum_distribution([(np.array([0.5, 0.5]), 1_000_000)])
    assert len(law) < 200_000
    below = lower_tails((first, law), np.array([498_500, 0, 1_000_000]))
    assert below[0] == pytest.approx(stats.binom.cdf(498_500, 1_000_000, 0.5), abs=1e-10)
    assert below[1:].tolist() == pytest.approx([SMALLEST_P, 1.0])


@pytest.mark.parametrize(("tasks", "n"), [(164, 10), (30, 4), (40, 100), (3, 400)])
def test_trend_against_drawn_orders(tasks: int, n: int) -> None:
    """(b+1)/(m+1) over 2,000 drawn orders is within its error of the p that counts them all."""
    rng = np.random.default_rng(tasks)
    x = rng.random((tasks, n)) < rng.beta(0.5, 0.5, tasks)[:, None]
    x[:, : n // 2] |= rng.random((tasks, n // 2)) < 0.4 / np.sqrt(tasks * n)
    start, passed = rows(x)
    score, place = trend_scores_and_weights(start, passed)[0].sum(), np.arange(n) - (n - 1) / 2
    draws = np.array([rng.permuted(x, axis=1).sum(axis=0) @ place for _ in range(2000)])
    p = (np.sum(np.abs(draws) >= abs(score) - 1e-9) + 1) / 2001
    result = trend_test(start, passed).p
    assert p == pytest.approx(result, abs=4.5 * np.sqrt(result * (1 - result) / 2000) + 1 / 2001)


def test_tails_far_out_are_bounded_never_zero() -> None:
    n, c = np.full(300, 20), np.full(300, 10)
    most = float((c * (n - c)).sum()) / 2
    assert rank_sum_tail(n, c, most) == SMALLEST_P
    assert rank_sum_tail(n[:2], c[:2], 100.0) == pytest.approx(2 / 184756**2, abs=1e-12)
    assert rank_sum_tail(n, c, 0.0) == 1.0
    nearby = rank_sum_tail(n, c, 5 * np.sqrt(trend_score_variance(n, c).sum()) // 1)
    assert nearby == pytest.approx(2 * stats.norm.sf(5), rel=0.05)


@given(short_tasks, st.randoms(use_true_random=False))
def test_order_direction_and_one_sided_tasks_do_not_matter(tasks: Tasks, rng: object) -> None:
    """Order of tasks, passes for failures, and time backwards; tasks without both outcomes."""
    changed = [*tasks, [1] * 4, [0] * 3]
    rng.shuffle(changed)  # type: ignore[attr-defined]
    for second in (
        changed,
        [[1 - x for x in task] for task in tasks],
        [task[::-1] for task in tasks],
    ):
        for test in (trend_test, neighbour_test):
            first, two = test(*ragged(tasks)).p, test(*ragged(second)).p
            assert first == pytest.approx(two, abs=1e-12, nan_ok=True)
    first, two = copies_test(*ragged(tasks)), copies_test(*ragged(changed))
    np.testing.assert_allclose(first.p, two.p, atol=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "n"),
    [(0.3, 0.5, 4), *long_cases((2.0, 2.0, 4), (5.0, 0.5, 4), (2.0, 2.0, 10), (0.3, 0.5, 10))],
)
def test_size(a: float, b: float, n: int) -> None:
    """Exchangeable attempts at tasks of any difficulty: no more than 5 % are flagged."""
    rng, count = np.random.default_rng(n), 300
    flagged = 0
    for _ in range(count):
        x = rng.random((50, n)) < rng.beta(a, b, 50)[:, None]
        flagged += bool(np.nanmin(smallest(x)) <= 0.05)
    assert flagged / count <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / count)


@pytest.mark.parametrize(("a", "b"), [(2.0, 2.0), (0.3, 0.5)])
def test_power_against_two_points_per_attempt(a: float, b: float) -> None:
    rng, count = np.random.default_rng(0), 60
    drift = -0.02 * (np.arange(10) - 4.5)
    result = []
    for _ in range(count):
        p = np.clip(rng.beta(a, b, 164)[:, None] + drift, 0, 1)
        result.append(smallest(rng.random((164, 10)) < p)[0] <= 0.05)
    assert np.mean(result) >= 0.8


def test_copies_are_detected_and_similar_attempts_are_not() -> None:
    rng = np.random.default_rng(1)
    p = rng.beta(0.5, 0.5, 60)[:, None]
    x = rng.random((60, 5)) < p
    x[:, 3] = x[:, 1]
    pairs = copies_test(*rows(x))
    messages = np.flatnonzero(pairs.adjusted <= 0.05)
    assert [
        (pairs.first_positions_of_pairs[i], pairs.second_positions_of_pairs[i]) for i in messages
    ] == [(1, 3)]
    assert pairs.are_pairs_copies[messages].all()
    # A break half-way makes the attempts of either half alike, but no copies.
    x = rng.random((400, 6)) < np.where(np.arange(6) < 3, 0.85, 0.15)
    pairs = copies_test(*rows(x))
    messages = pairs.adjusted <= 0.05
    assert messages.sum() == 6
    assert not pairs.are_pairs_copies[messages].any()
    # Nor are attempts that always pass, of which two never differ.
    x = rng.random((100, 6)) < np.where(np.arange(6) < 3, 1.0, 0.6)
    pairs = copies_test(*rows(x))
    messages = pairs.adjusted <= 0.05
    assert pairs.differing_task_counts[messages].tolist() == [0, 0, 0]
    assert pairs.differing_tasks_expected_by_rates[messages].tolist() == [0.0, 0.0, 0.0]
    assert not pairs.are_pairs_copies.any()


def test_every_attempt_sticks_to_the_one_before() -> None:
    rng = np.random.default_rng(2)
    x = rng.random((60, 8)) < 0.5
    for i in range(1, 8):
        x[:, i] = np.where(rng.random(60) < 0.4, x[:, i - 1], x[:, i])
    test = neighbour_test(*rows(x))
    assert test.p < 1e-6
    assert test.statistic < test.null_mean - 4 * test.null_sd
    turned = np.arange(8) % 2 ^ (rng.random((30, 1)) < 0.5)
    test = neighbour_test(*rows(turned))
    assert (test.p, test.statistic) == (SMALLEST_P, 210)


def test_nothing_to_test() -> None:
    for tasks in ([[1, 1, 1], [0, 0]], [[1]], [[0], [1]]):
        start, passed = ragged(tasks)
        assert np.isnan(trend_test(start, passed).p)
        assert np.isnan(neighbour_test(start, passed).p)
        assert np.isnan(copies_test(start, passed).smallest_p)
    # Two attempts can show a trend, but neighbours and pairs are all there is.
    start, passed = ragged([[0, 1]] * 8)
    assert trend_test(start, passed).p == pytest.approx(2 / 2**8, rel=1e-12)
    assert (
        neighbour_test(start, passed).informative_task_count
        == len(copies_test(start, passed).p)
        == 0
    )
