"""Compute the distribution of the difference between two models if the attempts are dealt at
random.

A deal assigns the attempts of both models at a task to the two models at random. Each model gets as
many attempts as it has in the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from passk_cli.arrays import Floats, Ints, NDArray
from passk_cli.inference.random_streams import named_generator
from passk_cli.metrics.registry import Metric
from passk_cli.outcomes.attempts import AttemptValuesByCell

# Two differences at a task are treated as equal if the differences are at most DIFFERENCE_TOLERANCE
# apart.
DIFFERENCE_TOLERANCE = 1e-9
# Metrics that need more than counts of passes use a total of _DEALS random permutations, but at
# least _FEWEST and at most _MOST permutations per task. _BLOCK_ROWS limits a block of permutations
# to about 64 MB.
_DEALS, _FEWEST, _MOST = 65_536, 128, 10_000
_BLOCK_ROWS = 1 << 20


@dataclass(frozen=True)
class DifferenceStratum:
    """A group of tasks with the same pool of attempts, and the distribution of the difference at
    each of these tasks.

    possible_differences : values that the difference can have.  chances : probability of each
        value. The sum of the probabilities is 1.
    task_count : number of tasks in the stratum.
    """

    possible_differences: Floats
    chances: Floats
    task_count: int


@dataclass(frozen=True)
class PossibleDifferences:
    """The possible differences between two models at each task.

    strata : tasks with more than one possible difference.
    sum_of_constant_differences : sum of the differences at tasks with only one possible difference.
    all_enumerated : whether `strata` cover every deal of every task.
    """

    strata: list[DifferenceStratum]
    sum_of_constant_differences: float
    all_enumerated: bool = True


def possible_differences_from_counts(
    metric: Metric, first: tuple[Ints, Ints], second: tuple[Ints, Ints]
) -> PossibleDifferences:
    """The possible differences between two models for a metric that needs only n and c. In a deal,
    the number of passes of the first model has a hypergeometric distribution.

    first, second : for each model, two integer arrays with the attempts n and the passes c of each
        task. Every n is at least k.
    """
    totals = np.stack([first[0], second[0], first[1] + second[1]])
    distinct, counts = np.unique(totals, axis=1, return_counts=True)
    strata = []
    for (n_first, n_second, passes), count in zip(
        distinct.T.tolist(), counts.tolist(), strict=True
    ):
        c = np.arange(max(0, passes - n_second), min(n_first, passes) + 1)
        values = metric.values(np.full(len(c), n_first), c)
        values = values - metric.values(np.full(len(c), n_second), passes - c)
        at = c[:-1]
        ratios = (n_first - at) * (passes - at) / ((at + 1) * (n_second - passes + at + 1))
        logs = np.concatenate([[0.0], np.cumsum(np.log(ratios))])
        weights = np.exp(logs - logs.max())
        strata.append(DifferenceStratum(values, weights / weights.sum(), count))
    return _possible_differences_of_strata(strata)


def possible_differences_from_attempts(
    metric: Metric, first: AttemptValuesByCell, second: AttemptValuesByCell, seed: int = 0
) -> PossibleDifferences:
    """The possible differences between two models for a metric of scores, answers or solutions.

    If a task has few possible deals, passk enumerates all of them. The limit is about 65,000 deals
    for all tasks together, but at least 128 and at most 10,000 deals per task. If a task has more
    deals, passk draws a sample of deals and adds the observed deal. Under the null hypothesis, each
    deal in the sample is equally likely to be the observed deal. Therefore, a test that uses only
    the sample keeps the significance level.

    first, second : attempts of each model, at the same tasks.
    seed : seed of the random sample. The random sample also depends on the index of the task.
    Source: Hemerik & Goeman 2018, "Exact testing with random permutations".
    """
    tasks = len(first.cell_offsets) - 1
    most_deals = min(max(_DEALS // max(tasks, 1), _FEWEST), _MOST)
    deals_by_key: dict[object, tuple[_AttemptAssignments, int]] = {}
    complete = True
    for place in range(tasks):
        pooled, first_counts = _pool_attempts(metric, first, second, place)
        task_deals = _all_assignments(pooled, int(first_counts.sum()), most_deals)
        key: object = (pooled.key, int(first_counts.sum()))
        if task_deals is None:
            rng = named_generator(seed, "deals within tasks", place)
            sample = rng.multivariate_hypergeometric(
                pooled.count, int(first_counts.sum()), most_deals - 1
            )
            deals, repeats = np.unique(
                np.vstack([first_counts, sample]), axis=0, return_counts=True
            )
            task_deals, key, complete = (
                _AttemptAssignments(pooled, deals, repeats / most_deals),
                place,
                False,
            )
        deals_by_key[key] = (task_deals, deals_by_key.get(key, (task_deals, 0))[1] + 1)
    values: list[Floats] = []
    sizes = (
        np.cumsum([2 * hand.first_model_class_counts.size for hand, _ in deals_by_key.values()])
        // _BLOCK_ROWS
    )
    for _, pairs in groupby(
        zip(sizes.tolist(), deals_by_key.values(), strict=True), key=itemgetter(0)
    ):
        block = [hand for _, (hand, _) in pairs]
        first_sets = _attempt_values_by_assignment(
            [(hand.pooled_attempts, hand.first_model_class_counts) for hand in block]
        )
        second_sets = _attempt_values_by_assignment(
            [
                (hand.pooled_attempts, hand.pooled_attempts.count - hand.first_model_class_counts)
                for hand in block
            ]
        )
        differences = metric.values_from_attempts(first_sets) - metric.values_from_attempts(
            second_sets
        )
        values += np.split(
            differences, np.cumsum([len(hand.first_model_class_counts) for hand in block])[:-1]
        )
    strata = [
        DifferenceStratum(value, hand.chances, count)
        for value, (hand, count) in zip(values, deals_by_key.values(), strict=True)
    ]
    return _possible_differences_of_strata(strata, complete)


def _possible_differences_of_strata(
    strata: Sequence[DifferenceStratum], complete: bool = True
) -> PossibleDifferences:
    fixed = [s for s in strata if np.ptp(s.possible_differences) <= DIFFERENCE_TOLERANCE]
    variable = [s for s in strata if np.ptp(s.possible_differences) > DIFFERENCE_TOLERANCE]
    return PossibleDifferences(
        variable, sum(s.task_count * float(s.possible_differences[0]) for s in fixed), complete
    )


@dataclass(frozen=True)
class _PooledAttempts:
    """The attempts of both models at a task, grouped into classes of equal attempts."""

    value: NDArray[Any]
    passed: Ints
    count: Ints

    @property
    def key(self) -> tuple[bytes, ...]:
        """A key that is equal for two tasks if the tasks have the same pool of attempts."""
        return self.value.tobytes(), self.passed.tobytes(), self.count.tobytes()


@dataclass(frozen=True)
class _AttemptAssignments:
    pooled_attempts: _PooledAttempts
    first_model_class_counts: Ints
    chances: Floats


def _pool_attempts(
    metric: Metric, first: AttemptValuesByCell, second: AttemptValuesByCell, place: int
) -> tuple[_PooledAttempts, Ints]:
    classes: dict[Any, list[int]] = {}
    for side, attempts in enumerate((first, second)):
        rows = slice(int(attempts.cell_offsets[place]), int(attempts.cell_offsets[place + 1]))
        for value, count, passes in zip(
            attempts.value[rows].tolist(), attempts.count[rows].tolist(), attempts.pass_count[
            rows].tolist(),
            strict=True,
        ):  # fmt: skip
            passes = 0 if metric.definition.required_attempt_data == "score" else passes
            counts = classes.setdefault(value, [0, 0, 0, 0])
            counts[side] += count - passes
            counts[2 + side] += passes
    ordered = sorted(classes.items())
    if metric.definition.required_attempt_data != "score":
        by_shape = sorted(
            classes.items(),
            key=lambda item: (item[0] >= 0, item[1][2] + item[1][3], sum(item[1]), item[1]),
        )
        ordered = [
            (i if value >= 0 else value, counts) for i, (value, counts) in enumerate(by_shape)
        ]
    rows_of = [
        (value, passed, counts[2 * passed], counts[2 * passed + 1])
        for value, counts in ordered
        for passed in (0, 1)
        if counts[2 * passed] + counts[2 * passed + 1]
    ]
    value, passed, first_counts, second_counts = (
        np.array(column) for column in zip(*rows_of, strict=True)
    )
    return _PooledAttempts(value, passed, first_counts + second_counts), first_counts


def _all_assignments(pooled: _PooledAttempts, size: int, most: int) -> _AttemptAssignments | None:
    deal_numbers = [1] + [0] * size
    for count in pooled.count.tolist():
        ends = np.cumsum(np.array(deal_numbers, dtype=object))
        deal_numbers = [
            int(ends[i] - (ends[i - count - 1] if i > count else 0)) for i in range(size + 1)
        ]
    if deal_numbers[size] > most:
        return None
    first_counts = np.zeros((1, 0), dtype=np.int64)
    later_attempts = int(pooled.count.sum())
    logs = np.zeros(1)
    for count in pooled.count.tolist():
        later_attempts -= count
        remaining = size - first_counts.sum(axis=1)
        choices = np.arange(count + 1)
        ways = np.array([math.log(math.comb(count, i)) for i in choices.tolist()])
        row, column = np.nonzero(
            (choices <= remaining[:, None]) & (remaining[:, None] - choices <= later_attempts)
        )
        first_counts = np.column_stack([first_counts[row], choices[column]])
        logs = logs[row] + ways[column]
    weights = np.exp(logs - logs.max())
    return _AttemptAssignments(pooled, first_counts, weights / weights.sum())


def _attempt_values_by_assignment(
    deals: Sequence[tuple[_PooledAttempts, Ints]],
) -> AttemptValuesByCell:
    columns, offset = [], 0
    for pooled, first_counts in deals:
        value, of_class = np.unique(pooled.value, return_inverse=True)
        sums = of_class[:, None] == np.arange(len(value))
        count = first_counts @ sums
        passed = (first_counts * pooled.passed) @ sums
        cell = np.repeat(np.arange(offset, offset + len(first_counts)), len(value))
        columns.append((cell, np.tile(value, len(first_counts)), count.ravel(), passed.ravel()))
        offset += len(first_counts)
    cell, value, count, passed = (np.concatenate(column) for column in zip(*columns, strict=True))
    dealt = AttemptValuesByCell.from_rows(cell, value, count, passed, offset)
    return dealt.select_rows(dealt.count > 0)
