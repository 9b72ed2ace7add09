"""pass@$b: the probability that repeated attempts solve a task before a budget is spent.

A cell is one task of one model. `start` contains the offset of each cell and one end offset. The
rows start[i] … start[i+1] − 1 contain the distinct costs of cell i, with the number of attempts
(`count`) and of passing attempts (`passed`) per cost. The costs can have any unit, for example
dollars, tokens or seconds.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from passk_cli.arrays import ArrayLike, Bools, Floats, Ints, row_blocks
from passk_cli.errors import ParameterError
from passk_cli.metrics.combinatorics import log_choose

# If there are at most 2^36 pairs of halves, passk counts sets of failures as pairs of two half
# sets. If at most 2^17 sets can fit into the budget, passk counts the sets one by one. In all other
# cases, passk rounds costs to a grid.
_PAIRED_BITS, _LISTED_BITS = 36.0, 17.0
_SMALL_BITS, _UNMERGED = 9.0, 1 << 9
_GRID_WORK, _FEWEST_CELLS, _MOST_CELLS = 1 << 28, 1 << 9, 1 << 14
# Budgets share a grid if they are at least _MIN_SHARED_GRID_BUDGET_RATIO times the largest budget.
_MIN_SHARED_GRID_BUDGET_RATIO = 0.25
# Costs with at most _DECIMALS decimals are computed exactly, as whole numbers of units of the last
# decimal. Other costs are rounded to _BITS bits.
_DECIMALS, _BITS = 9, 44
# A block has at most _MAX_BLOCK_VALUES values, which need about 32 MB.
_MAX_BLOCK_VALUES = 1 << 22


def pass_within_budget_limits(
    start: Ints, value: Floats, count: Ints, passed: Ints, budget: ArrayLike
) -> tuple[Floats, Floats]:
    """Lowest and highest probability that repeated attempts solve a task within a budget.

    The attempts are drawn in random order without replacement. The draws end at the first pass, or
    when the next attempt costs more than the rest of the budget b:

        pass@$b = Σ_s Σ_j #{A ⊂ F: |A| = j, cost(A) + x_s ≤ b} / (n C(n−1, j))

    In this formula, s is a passing attempt with the cost x_s, F is the set of all failing attempts,
    and A is a set of failing attempts that come before s. If every attempt costs 1 and b = k, the
    value equals pass@k. If all attempts fail and a part of the budget remains, the outcome of the
    next attempt is unknown. The lowest value assumes that the next attempt fails, and the highest
    value assumes that it passes.

    value : the cost of each row, at least 0, or NaN for an unknown cost. For the lowest
        probability, an attempt with an unknown cost never fits into the budget. For the highest
        probability, such an attempt costs 0. An attempt with an infinite cost never fits into a
        budget.
    budget : an array of any shape. A budget is at least 0 and may be infinite.
    Returns two arrays with the shape `budget.shape` + (cells,), which are NaN for a cell without
    attempts. A sum of costs that equals the budget fits into the budget, for example 0.1 + 0.2 into
    0.3. The result is exact up to rounding for up to 25 failing attempts with different costs, and
    for up to 1,000 failing attempts with few different costs. For more failing attempts, the result
    is exact if few of them fit into the budget or if costs are small whole numbers.
    Otherwise, costs are rounded to a grid, down for the highest probability and up for the lowest
    probability, so that the range remains valid. In tests with up to 1,000 attempts,
    the lowest and the highest value then differed by less than 0.005.
    Errors: ValueError for a negative cost; ParameterError for an invalid budget.
    Source: order of attempts as in Chen and others 2021; success over cost as in Brown and others
    2024; coverage at a cost as in arXiv 2601.21522.

    >>> costs = np.array([0, 2]), np.array([1.0, 2.0]), np.array([1, 2]), np.array([0, 1])
    >>> low, high = pass_within_budget_limits(*costs, [1, 2, 3, 5])  # one of 1 and one of 2 failed
    >>> low[:, 0].round(6).tolist()
    [0.0, 0.333333, 0.5, 1.0]
    """
    budgets = np.asarray(budget, dtype=np.float64)
    value = np.asarray(value, dtype=np.float64)
    if not (budgets >= 0).all():
        raise ParameterError("a budget must be at least 0")
    if (value < 0).any():
        raise ValueError("costs must not be negative")
    distinct_budgets, back = np.unique(budgets.ravel(), return_inverse=True)
    shape = len(start) - 1, len(distinct_budgets)
    low, high = np.full(shape, np.nan), np.full(shape, np.nan)
    remembered: dict[tuple[bytes, ...], tuple[Floats, Floats]] = {}
    for cell, (first, last) in enumerate(pairwise(start.tolist())):
        if first == last:
            continue
        rows = value[first:last], count[first:last], passed[first:last]
        key = tuple(row.tobytes() for row in rows)
        if key not in remembered:
            remembered[key] = _lowest_and_highest_solve_chance(*rows, distinct_budgets)
        low[cell], high[cell] = remembered[key]
    shape = (*budgets.shape, shape[0])
    return low.T[back].reshape(shape), high.T[back].reshape(shape)


def _lowest_and_highest_solve_chance(
    cost: Floats, count: Ints, passed: Ints, budgets: Floats
) -> tuple[Floats, Floats]:
    lacking = np.isnan(cost)
    dearest = _CellCosts.from_costs(np.where(lacking, np.inf, cost), count, passed, budgets)
    cheapest = dearest
    if lacking.any():
        cheapest = _CellCosts.from_costs(np.where(lacking, 0.0, cost), count, passed, budgets)
    if not passed.any():
        return np.zeros(len(budgets)), np.where(cheapest.are_budgets_above_total_cost, 1.0, 0.0)
    low, high = dearest.solve_probability_limits(np.arange(len(budgets)))
    if lacking.any():
        high = cheapest.solve_probability_limits(np.arange(len(budgets)))[1]
    # Rounding errors must neither move a value out of its range nor swap the limits of the range.
    return np.clip(low, 0.0, 1.0), np.clip(np.maximum(low, high), 0.0, 1.0)


class _SubsetSums(NamedTuple):
    cost_sums: Ints
    subset_sizes: Ints
    share_among_same_size_subsets: Floats


class _CellCosts(NamedTuple):
    """The data of one cell, with costs and budgets as whole numbers of a common unit.

    are_budgets_above_total_cost : whether a budget is above the total cost of all attempts.
    """

    n: int
    failure_costs: Ints
    failure_counts: Ints
    pass_costs: Ints
    pass_counts_per_cost: Ints
    budgets: Ints
    are_budgets_above_total_cost: Bools

    @classmethod
    def from_costs(cls, cost: Floats, count: Ints, passed: Ints, budgets: Floats) -> _CellCosts:
        n, fits = int(count.sum()), np.isfinite(cost)
        finite = np.where(fits, cost, 0.0)
        spent = float(finite @ count)
        units, limits = _as_integers(finite, np.minimum(budgets, 2.0 * spent + 1.0), n)
        left_over = (budgets > spent * (1.0 + 1e-12)) & fits.all()
        fits &= units <= limits.max(initial=0)
        order = np.argsort(units, kind="stable")
        sides = []
        for of_side in (count - passed, passed):
            rows = order[(fits & (of_side > 0))[order]]
            sides.append((units[rows], of_side[rows]))
        (failures, failed), (passes, passing) = sides
        return cls(n, failures, failed, passes, passing, limits, left_over)

    def solve_probability_limits(self, budget_indices: Ints) -> tuple[Floats, Floats]:
        remaining = (self.budgets[budget_indices][:, None] - self.pass_costs).ravel()
        shape = len(budget_indices), len(self.pass_costs)
        low, high = np.zeros(len(remaining)), np.zeros(len(remaining))
        affordable = remaining >= 0
        if affordable.any():
            ends = self._exact_fitting_probability(remaining[affordable])
            if ends is None:
                return self._solve_limits_from_cost_grid(budget_indices)
            low[affordable], high[affordable] = ends
        return low.reshape(shape) @ self.pass_counts_per_cost, high.reshape(
            shape
        ) @ self.pass_counts_per_cost

    def _solve_limits_from_cost_grid(self, budget_indices: Ints) -> tuple[Floats, Floats]:
        low, high = np.empty(len(budget_indices)), np.empty(len(budget_indices))
        todo = np.arange(len(budget_indices))
        while len(todo):
            limits = self.budgets[budget_indices[todo]]
            in_group = limits >= _MIN_SHARED_GRID_BUDGET_RATIO * limits.max()
            group, todo = todo[in_group], todo[~in_group]
            remaining = (self.budgets[budget_indices[group]][:, None] - self.pass_costs).ravel()
            affordable, ends = remaining >= 0, np.zeros((2, len(remaining)))
            if affordable.any():
                ends[:, affordable] = self._exact_fitting_probability(
                    remaining[affordable]
                ) or self._grid_fitting_probability(remaining[affordable])
            sums = ends.reshape(2, len(group), len(self.pass_costs)) @ self.pass_counts_per_cost
            low[group], high[group] = sums
        return low, high

    def _exact_fitting_probability(self, remaining: Ints) -> tuple[Floats, Floats] | None:
        """Σ_j #{A ⊂ F: |A| = j, cost(A) ≤ remaining} / (n C(n−1, j)), or None for too many sets A.

        F is the set of all failing attempts.
        """
        most = int(remaining.max())
        affordable = int(np.searchsorted(self.failure_costs, most, side="right"))
        failures, failed = self.failure_costs[:affordable], self.failure_counts[:affordable]
        bits = np.cumsum(np.log2(failed + 1.0))
        all_bits = float(bits[-1]) if affordable else 0.0
        lookup_bits = np.log2(len(remaining))
        if all_bits <= _SMALL_BITS:
            half = affordable
        elif all_bits + lookup_bits <= _PAIRED_BITS:
            half = min(int(np.searchsorted(bits, (all_bits + lookup_bits) / 2)) + 1, affordable)
        elif _log2_subset_count(failures, failed, most) <= _LISTED_BITS:
            half = affordable
        else:
            return None
        first, second = (
            _subset_sums(failures[part], failed[part], most)
            for part in (slice(half), slice(half, None))
        )
        sizes = int(failed[:half].sum()), int(failed[half:].sum())
        weight = _weights_by_half_subset_sizes(self.n, *sizes)
        total = np.zeros(len(remaining))
        for j in np.unique(second.subset_sizes).tolist():
            of_size = second.subset_sizes == j
            up_to = np.concatenate(
                [
                    [0.0],
                    np.cumsum(first.share_among_same_size_subsets * weight[first.subset_sizes, j]),
                ]
            )
            for rows in row_blocks(len(remaining), int(of_size.sum()), _MAX_BLOCK_VALUES):
                places = np.searchsorted(
                    first.cost_sums, remaining[rows, None] - second.cost_sums[of_size], side="right"
                )
                total[rows] += up_to[places] @ second.share_among_same_size_subsets[of_size]
        return total, total

    def _grid_fitting_probability(self, remaining: Ints) -> tuple[Floats, Floats]:
        """Limits of `_exact_fitting_probability`, from costs that are rounded down to a grid.

        The two limits assume that j failures have the smallest or the largest rounding remainders.
        """
        costs = np.repeat(self.failure_costs, self.failure_counts)
        costs = costs[costs <= remaining.max()]
        remaining = np.minimum(remaining, int(costs.sum()))
        top, fit = (
            int(remaining.max()),
            int(np.searchsorted(np.cumsum(costs), remaining.max(), side="right")),
        )
        cells = int(np.clip(_GRID_WORK // (len(costs) * (fit + 1)), _FEWEST_CELLS, _MOST_CELLS))
        step = max(1, -(-(top + 1) // cells))
        places, remainders = costs // step, np.sort(costs % step)
        size = np.arange(fit + 1)
        table = np.zeros((fit + 1, top // step + 1))
        table[0, 0] = 1.0
        for number, place in enumerate(places.tolist(), start=1):
            deep = min(number, fit)
            moved = table[:deep, : table.shape[1] - place] * (size[1 : deep + 1, None] / number)
            table[: deep + 1] *= np.maximum(number - size[: deep + 1, None], 0) / number
            table[1 : deep + 1, place:] += moved
        j = np.arange(fit)
        odds = (len(costs) - j) / np.maximum(self.n - 1 - j, 1)
        weights = np.concatenate([[1.0], np.cumprod(odds)]) / self.n
        share = np.cumsum(table, axis=1) * weights[:, None]
        least = np.concatenate([[0], np.cumsum(remainders)])[: fit + 1]
        most = np.concatenate([[0], np.cumsum(remainders[::-1])])[: fit + 1]
        ends = []
        for lacking in (most, least):
            reach = (remaining[:, None] - lacking) // step
            fitting = np.where(reach >= 0, share[size, np.clip(reach, 0, table.shape[1] - 1)], 0.0)
            ends.append(fitting.sum(axis=1))
        return ends[0], ends[1]


def _as_integers(cost: Floats, budgets: Floats, n: int) -> tuple[Ints, Ints]:
    """Convert costs and budgets to whole numbers of one unit. Budgets are rounded down.

    If the costs have few decimals, the unit is the last decimal of the costs, so that sums are
    exact. Otherwise the unit is a tiny part of the largest budget. The rounding errors of n costs
    then add up to at most 1e-10 of the largest budget, and the budgets are increased by this
    amount.
    """
    most, dearest = float(budgets.max(initial=0.0)), float(cost.max(initial=0.0))
    largest = max(most, dearest, 2.0**-_BITS)
    scale = 10.0 ** min(_DECIMALS, math.floor((_BITS - 4) * math.log10(2.0) - math.log10(largest)))
    units = np.rint(cost * scale)
    if scale >= 1.0 and (np.abs(cost * scale - units) <= 1e-12 * units).all():
        integers = units.astype(np.int64)
        step = max(int(np.gcd.reduce(integers)), 1)
        limits = np.floor(budgets * scale * (1.0 + 1e-14) + 1e-9).astype(np.int64)
        return integers // step, limits // step
    unit = max(most, dearest * 2.0**-16) * 2.0**-_BITS
    limits = np.floor(budgets / unit).astype(np.int64) + n + 2
    return np.rint(cost / unit).astype(np.int64), limits


def _log2_subset_count(failure_costs: Ints, failure_counts: Ints, budget: int) -> float:
    """The base-2 logarithm of an upper bound for the number of failure sets within the budget."""
    costs = np.repeat(failure_costs, failure_counts)
    fit, number = int(np.searchsorted(np.cumsum(costs), budget, side="right")), len(costs)
    logs = log_choose(number, np.arange(fit + 1))
    return float(np.logaddexp.reduce(logs) / np.log(2.0))


def _subset_sums(costs: Ints, count: Ints, most: int) -> _SubsetSums:
    total, size, share = np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1)
    number = 0
    for cost, copies in zip(costs.tolist(), count.tolist(), strict=True):
        more = np.arange(copies + 1)[:, None]
        sums, sizes = total + cost * more, size + more
        if copies > 1:
            logs = log_choose(number, size) + log_choose(copies, more)
            joined = np.exp(logs - log_choose(number + copies, sizes))
        else:
            joined = np.abs(1 - more - sizes / (number + 1))
        fits = sums <= most
        total, size, share = sums[fits], sizes[fits], (share * joined)[fits]
        number += copies
        if len(total) > _UNMERGED:
            order = np.lexsort((size, total))
            total, size = total[order], size[order]
            first = np.ones(len(total), dtype=bool)
            first[1:] = (np.diff(total) != 0) | (np.diff(size) != 0)
            at = np.flatnonzero(first)
            total, size, share = total[at], size[at], np.add.reduceat(share[order], at)
    order = np.argsort(total, kind="stable")
    return _SubsetSums(total[order], size[order], share[order])


@lru_cache(maxsize=1 << 10)
def _weights_by_half_subset_sizes(n: int, first: int, second: int) -> Floats:
    """The weights C(first, i) C(second, j) / (n C(n−1, i+j)) for all i and j."""
    i, j = np.arange(first + 1)[:, None], np.arange(second + 1)
    logs = log_choose(first, i) + log_choose(second, j) - log_choose(n - 1, i + j)
    return np.exp(logs) / n
