"""A test of whether the tasks in a group are more alike than tasks in different groups.

The null hypothesis is that tasks are assigned to groups at random. The statistic is the sum of
squares between groups, Σ_g (Σ_{t∈g} y_t)² / m_g. In this formula, m_g is the number of tasks in
group g, and y_t is the value of task t minus the mean value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.random_streams import named_generator

# passk enumerates the assignments of tasks to groups if there are at most
# MAX_ENUMERATED_ASSIGNMENTS assignments.
MAX_ENUMERATED_ASSIGNMENTS = 20_000
_MIN_TESTED_SDS = 2.0
_DRAWS, _BLOCK = 2, 1 << 19
# A test uses at most _MAX_TESTED_TASKS tasks, which limits its time.
_MAX_TESTED_TASKS = 2000


def group_effect_p(values: Floats, groups: Ints, level: float) -> float:
    """The p-value of the sum of squares between groups, from random assignments of tasks to groups.

    If there are few possible assignments, the test enumerates all of them. Otherwise, the test
    draws m random assignments (about 2 / level). If b of these assignments have at least the
    observed statistic, p is (b + 1) / (m + 1). The test stops drawing assignments as soon as p is
    certain to exceed the significance level. If the statistic is near its mean over random
    assignments, p is 1 without any draws. The probability of a false alarm is at most the
    significance level.

    values : the values of T tasks.  groups : the code of each task's group, from 0 to G − 1, with
        1 < G < T.
    level : significance level.
    Source: Fisher 1935; Phipson & Smyth 2010 ((b+1)/(m+1)).

    >>> group_effect_p(np.array([0.0, 0, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 1, 1]), 0.1)
    0.1
    """
    order = np.argsort(groups[:_MAX_TESTED_TASKS], kind="stable")
    values, sizes = values[order] - values[order].mean(), np.bincount(groups[order])
    sizes = sizes[sizes > 0]
    starts, tasks = np.cumsum(sizes) - sizes, len(values)
    observed = float(_squares_between_groups(values[None], starts, sizes)[0])
    total, between = float(values @ values), len(sizes) - 1
    within = tasks - len(sizes)
    if total == 0 or within == 0:
        return 1.0
    ratio = (observed / between) / max((total - observed) / within, 1e-300)
    if ratio - 1 < _MIN_TESTED_SDS * math.sqrt(2 / between + 2 / within):
        return 1.0
    reached = observed - 1e-9 * total
    deals = math.factorial(tasks) // math.prod(map(math.factorial, sizes.tolist()))
    if deals <= MAX_ENUMERATED_ASSIGNMENTS:
        dealt = values[np.array(list(_all_group_assignments(tuple(range(tasks)), sizes.tolist())))]
        return float(np.mean(_squares_between_groups(dealt, starts, sizes) >= reached))
    draws, above, drawn_so_far = math.ceil(_DRAWS / level) - 1, 0, 0
    rng, block = named_generator(0, "tasks to groups"), max(1, _BLOCK // tasks)
    while drawn_so_far < draws and above + 1 <= level * (draws + 1):
        rows = min(block, draws - drawn_so_far)
        dealt = rng.permuted(np.broadcast_to(values, (rows, tasks)), axis=1)
        above += int((_squares_between_groups(dealt, starts, sizes) >= reached).sum())
        drawn_so_far += rows
    return (above + 1) / (drawn_so_far + 1)


def _squares_between_groups(values: Floats, starts: Ints, sizes: Ints) -> Floats:
    """The sum of squares between groups, Σ_g (Σ y)² / m_g, for each row of values."""
    sums = np.add.reduceat(values, starts, axis=1)
    squares: Floats = (sums**2 / sizes).sum(axis=1)
    return squares


def _all_group_assignments(tasks: tuple[int, ...], sizes: list[int]) -> Iterator[tuple[int, ...]]:
    if len(sizes) == 1:
        yield tasks
        return
    for members in combinations(tasks, sizes[0]):
        outsiders = tuple(task for task in tasks if task not in members)
        yield from (members + deal for deal in _all_group_assignments(outsiders, sizes[1:]))
