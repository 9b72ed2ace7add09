"""pass@$b against every order of the attempts, against pass@k, and at its edges."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passk_cli.errors import ParameterError
from passk_cli.metrics.budget import pass_within_budget_limits
from passk_cli.metrics.pass_k import pass_at_k
from tests.conftest import long_cases
from tests.metrics.bags import Bag
from tests.metrics.bags import bag as bag_of_rows

# The cost of an attempt and whether it passed.
Attempt = tuple[Fraction, bool]


def bag(*cells: Sequence[tuple[Fraction | float, bool]]) -> Bag:
    """A row per cost of each cell, ascending, NaN last."""
    rows = []
    for attempts in cells:
        costs = np.array([float(cost) for cost, _ in attempts])
        passed = np.array([passes for _, passes in attempts])
        different, at = np.unique(costs, return_inverse=True)
        columns = different, np.bincount(at), np.bincount(at, passed).astype(int)
        rows.append(list(zip(*(column.tolist() for column in columns), strict=True)))
    return bag_of_rows(*rows)


def by_every_order(attempts: Sequence[Attempt], budget: Fraction) -> tuple[Fraction, Fraction]:
    orders = list(permutations(attempts))
    solved = 0
    for order in orders:
        remaining = budget
        for cost, passes in order:
            if cost > remaining:
                break
            remaining -= cost
            if passes:
                solved += 1
                break
    low = Fraction(solved, len(orders))
    unknown = not any(passes for _, passes in attempts) and sum(x for x, _ in attempts) < budget
    return low, low + unknown


def some_attempts(most: int) -> st.SearchStrategy[list[Attempt]]:
    def of(part: int) -> st.SearchStrategy[list[Attempt]]:
        cost = st.integers(0, 9).map(lambda x: Fraction(x, part))
        return st.lists(st.tuples(cost, st.booleans()), min_size=1, max_size=most)

    return st.sampled_from([1, 3, 7, 10, 1000]).flatmap(of)


@settings(deadline=None, max_examples=60)
@given(some_attempts(6), st.lists(st.integers(0, 40), min_size=1, max_size=3))
def test_it_is_the_share_of_all_orders(attempts: list[Attempt], budgets: list[int]) -> None:
    # Budgets are sums that attempts may reach exactly, though floats of thirds never add up.
    part = max(cost.denominator for cost, _ in attempts)
    money = [Fraction(budget, part) for budget in budgets]
    low, high = pass_within_budget_limits(*bag(attempts), [float(budget) for budget in money])
    for place, budget in enumerate(money):
        ends = by_every_order(attempts, budget)
        assert [low[place, 0], high[place, 0]] == pytest.approx([*map(float, ends)], abs=1e-12)


def test_seven_attempts_of_different_costs() -> None:
    attempts = [(Fraction(x, 7), x in (5, 11)) for x in (1, 2, 3, 5, 8, 11, 13)]
    for budget in (Fraction(5, 7), Fraction(9, 7), Fraction(3), Fraction(43, 7)):
        low, high = by_every_order(attempts, budget)
        ends = pass_within_budget_limits(*bag(attempts), float(budget))
        assert [end[0] for end in ends] == pytest.approx([float(low), float(high)], abs=1e-12)


@pytest.mark.parametrize(("n", "c"), [(1, 1), (5, 2), (40, 3), (300, 1), (1000, 400)])
def test_costs_of_one_make_it_pass_at_k(n: int, c: int) -> None:
    k = np.unique(np.linspace(1, n, 9).astype(int))
    for cost in (1.0, 0.1, 1 / 3):
        cell = np.array([0, 1]), np.array([cost]), np.array([n]), np.array([c])
        low, high = pass_within_budget_limits(*cell, k * cost)
        assert low[:, 0] == pytest.approx(pass_at_k(n, c, k), rel=1e-11)
        assert np.array_equal(low, high)


@settings(deadline=None, max_examples=40)
@given(some_attempts(9), some_attempts(9))
def test_it_grows_with_the_budget_for_any_other_budgets(
    attempts: list[Attempt], remaining: list[Attempt]
) -> None:
    budgets = np.linspace(0, 12, 7)
    low, high = pass_within_budget_limits(*bag(attempts, remaining, attempts), budgets)
    assert low.shape == (7, 3)
    assert (np.diff(low, axis=0) >= -1e-15).all()
    assert (low <= high).all()
    assert np.array_equal(low[:, 0], low[:, 2])
    assert np.array_equal(low[:, :1], pass_within_budget_limits(*bag(attempts), budgets)[0])
    shuffled = pass_within_budget_limits(*bag(attempts), budgets[::-1])[0][::-1]
    assert np.array_equal(shuffled, low[:, :1])


def test_a_sum_that_reaches_the_budget_fits() -> None:
    attempts = [(0.1, False), (0.2, True)]
    assert 0.1 + 0.2 > 0.3
    assert pass_within_budget_limits(*bag(attempts), 0.3)[0].tolist() == [1.0]
    dear = [(1e6 / 3, False)] * 2 + [(1e6 / 3, True)]
    assert pass_within_budget_limits(*bag(dear), 1e6)[0].tolist() == [1.0]
    assert pass_within_budget_limits(*bag(attempts), 0.3 - 1e-8)[0].tolist() == [0.5]


def test_money_left_is_a_range() -> None:
    failed = [(1.0, False), (2.0, False)]
    low, high = pass_within_budget_limits(*bag(failed), [2.9, 3.0, 3.1])
    assert low.ravel().tolist() == [0.0, 0.0, 0.0]
    assert high.ravel().tolist() == [0.0, 0.0, 1.0], "3 is spent to the last cent"
    assert pass_within_budget_limits(*bag([(0.1, False), (0.2, False)]), 0.3)[1].tolist() == [0.0]


def test_attempts_that_cost_nothing() -> None:
    free = [(0.0, False), (0.0, True)]
    assert pass_within_budget_limits(*bag(free), 0.0)[0].tolist() == [1.0]
    assert pass_within_budget_limits(*bag([(0.0, False), (1.0, True)]), [0.0, 1.0])[
        0
    ].ravel().tolist() == [0, 1]


def test_a_missing_cost_never_fits_or_costs_nothing() -> None:
    # In half of the orders the attempt without a cost comes first.
    low, high = pass_within_budget_limits(*bag([(np.nan, False), (1.0, True)]), [0.5, 1.0])
    assert (low.ravel().tolist(), high.ravel().tolist()) == ([0.0, 0.5], [0.0, 1.0])
    low, high = pass_within_budget_limits(*bag([(np.nan, True), (1.0, False)]), [0.5, 1.0])
    assert (low.ravel().tolist(), high.ravel().tolist()) == ([0.0, 0.0], [0.5, 1.0])
    low, high = pass_within_budget_limits(*bag([(np.nan, False), (1.0, False)]), [0.5, 1e9])
    assert (low.ravel().tolist(), high.ravel().tolist()) == ([0.0, 0.0], [0.0, 1.0])


def test_a_cell_without_attempts_is_nothing_known() -> None:
    start = np.array([0, 1, 1])
    ends = pass_within_budget_limits(start, np.array([1.0]), np.array([1]), np.array([1]), 1.0)
    assert [end.tolist() for end in ends] == [[1.0, pytest.approx(np.nan, nan_ok=True)]] * 2


def test_invalid_budgets_and_costs_are_refused() -> None:
    for budget in (-1.0, np.nan):
        with pytest.raises(ParameterError, match="at least 0"):
            pass_within_budget_limits(*bag([(1.0, True)]), budget)
    with pytest.raises(ValueError, match="negative"):
        pass_within_budget_limits(*bag([(-1.0, True)]), 1.0)
    assert pass_within_budget_limits(*bag([(1.0, True)]), np.inf)[0].tolist() == [1.0]


@pytest.mark.parametrize(("n", "c", "spread"), [(60, 6, 1.0), *long_cases((300, 2, 1.5))])
def test_beyond_counting_both_ends_hold_and_are_near(n: int, c: int, spread: float) -> None:
    rng = np.random.default_rng(n)
    cost, passed = np.sort(rng.lognormal(0, spread, n)), np.zeros(n, dtype=int)
    passed[rng.choice(n, c, replace=False)] = 1
    budgets = np.array([0.3, 3.0, 30.0])
    low, high = (end[:, 0] for end in pass_within_budget_limits(
        np.array([0, n]), cost, np.ones(n, dtype=int), passed, budgets
    ))  # fmt: skip
    assert (high - low).max() < 0.005
    orders = np.argsort(rng.random((20_000, n)), axis=1)
    spent, passes = np.cumsum(cost[orders], axis=1), passed[orders] > 0
    first = passes.argmax(axis=1)
    requirement = spent[np.arange(len(orders)), first]
    share = (requirement[:, None] <= budgets).mean(axis=0)
    error = 4 * np.sqrt(share * (1 - share) / len(orders)) + 1e-3
    assert (low - error <= share).all()
    assert (share <= high + error).all()


def test_few_whole_numbers_are_exact_however_many_attempts() -> None:
    # 200 attempts of 1 to 5 turns: by a polynomial of integers, and by the grid.
    rng = np.random.default_rng(3)
    cost, n = rng.integers(1, 6, 200), 200
    passed = rng.random(n) < 0.05
    ways = np.zeros((n + 1, 61), dtype=object)
    ways[0, 0] = 1
    for x in cost[~passed]:
        ways[1:, x:] += ways[:-1, : 61 - x].copy()
    budgets = [3, 20, 60]
    low, high = pass_within_budget_limits(
        *bag([(float(x), bool(p)) for x, p in zip(cost, passed, strict=True)]), budgets
    )
    for place, budget in enumerate(budgets):
        exact = sum(
            Fraction(int(ways[j, : budget - x + 1].sum()), n * comb(n - 1, j))
            for x in cost[passed] if x <= budget
            for j in range(int((~passed).sum()) + 1)
        )  # fmt: skip
        assert low[place, 0] == pytest.approx(float(exact), rel=1e-10)
        assert low[place, 0] == high[place, 0]
