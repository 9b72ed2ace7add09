"""Metrics that need the order of attempts: first@k, trends, neighbours and first passes.

Each row of the arrays is one attempt. The rows start[t] … start[t+1] − 1 are the attempts of task
t, in the order in which they were made. `passed` is 0 or 1. Every task has at least one attempt,
and tasks may have different numbers of attempts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from passk_cli.arrays import Bools, Floats, Indices, Ints
from passk_cli.metrics.pass_k import pass_hat_k


def first_at_k(start: Ints, value: Floats, count: Ints, passed: Ints, k: int) -> Floats:
    """Whether one of the first k attempts at a task passes: 1, 0, or a share if values are tied.

    The order of attempts with equal values is unknown. If such attempts are at position k, the
    result is the share of the possible orders in which one of the first k attempts passes.

    start : the offset of the rows of each task, and one end offset.
    value : the number or time of the attempts in each row, increasing within a task.
    count, passed : the number of attempts and the number of passes in each row.  k : at least 1.
    Returns one number in [0, 1] per task. If a task has fewer than k attempts, the result is 1 if
    one of these attempts passes, because more attempts cannot change the result. If a task has
    fewer than k attempts and none of them passes, the result is NaN.

    >>> first_at_k(np.array([0, 3]), np.arange(3.0), np.ones(3, int), np.array([0, 1, 1]), 1)
    array([0.])
    >>> first_at_k(np.array([0, 2, 3]), np.arange(3.0), np.ones(3, int), np.array([0, 1, 0]), 4)
    array([ 1., nan])
    """
    before = np.cumsum(count) - count
    before -= np.repeat(before[start[:-1]], np.diff(start))
    in_first_k = np.clip(k - before, 0, count)
    failing, among_first = np.ones(len(count)), in_first_k > 0
    failing[among_first] = pass_hat_k(
        count[among_first], (count - passed)[among_first], in_first_k[among_first]
    )
    chances: Floats = 1.0 - np.multiply.reduceat(failing, start[:-1])
    short = np.add.reduceat(count, start[:-1]) < k
    chances[short & (np.add.reduceat(passed, start[:-1]) == 0)] = np.nan
    return chances


def attempts_and_passes_per_task(start: Ints, passed: Ints) -> tuple[Ints, Ints]:
    """The numbers of attempts n and of passes c of each task.

    >>> attempts_and_passes_per_task(np.array([0, 3, 4]), np.array([0, 1, 1, 0]))
    (array([3, 1]), array([2, 0]))
    """
    return np.diff(start), np.add.reduceat(passed, start[:-1])


def zero_based_positions(start: Ints) -> Ints:
    """The position of each row among the attempts of its task: 0, 1, 2, …

    >>> zero_based_positions(np.array([0, 3, 5])).tolist()
    [0, 1, 2, 0, 1]
    """
    sizes = np.diff(start)
    return np.arange(start[-1]) - np.repeat(start[:-1], sizes)


def rates_by_position_range(
    start: Ints, passed: Ints, edges: Ints
) -> Iterator[tuple[Indices, Ints, Floats]]:
    """Yield (tasks, attempts, pass rates) for each range of positions edges[b] … edges[b+1] − 1.

    Tasks without an attempt at these positions are left out. `attempts` is the number of attempts
    of each task at these positions.

    >>> start, passed, bounds = np.array([0, 2, 3]), np.array([1, 0, 1]), np.array([0, 1, 2])
    >>> rates = rates_by_position_range(start, passed, bounds)
    >>> [(tasks.tolist(), values.tolist()) for tasks, _, values in rates]
    [([0, 1], [1.0, 1.0]), ([0], [0.0])]
    """
    n = np.diff(start)
    before = np.concatenate([[0], np.cumsum(passed)])
    for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        tasks = np.flatnonzero(n > low)
        first = start[tasks] + low
        last = np.minimum(start[tasks] + high, start[tasks + 1])
        yield tasks, last - first, (before[last] - before[first]) / (last - first)


def trend_scores_and_weights(start: Ints, passed: Ints) -> tuple[Floats, Floats]:
    """The score S and the size Q of the trend of each task, from which slopes are computed.

    For the outcomes x_0 … x_{n−1} of a task, S = Σ_i (i − (n−1)/2) x_i and Q = Σ_i (i − (n−1)/2)² =
    n(n²−1)/12. The slope of the outcomes over the position i is S/Q. The ratio ΣS/ΣQ is the common
    slope within all tasks, weighted by the information of each task. S is also the score statistic
    of a common slope in a logistic regression, given the number of passes of every task.
    Source: Cox 1958.

    >>> scores, sizes = trend_scores_and_weights(np.array([0, 3]), np.array([0, 0, 1]))
    >>> scores.tolist(), sizes.tolist()
    ([1.0], [2.0])
    """
    n = np.diff(start).astype(np.float64)
    centred = zero_based_positions(start) - np.repeat((n - 1) / 2, np.diff(start))
    return np.add.reduceat(centred * passed, start[:-1]), n * (n**2 - 1) / 12


def neighbour_changes(start: Ints, passed: Ints) -> Ints:
    """For each task, the number of neighbouring attempts with different outcomes, x_i ≠ x_{i+1}.

    >>> neighbour_changes(np.array([0, 4, 5]), np.array([0, 1, 1, 0, 1])).tolist()
    [2, 0]
    """
    differ = np.zeros(len(passed), dtype=np.int64)
    differ[:-1] = passed[:-1] != passed[1:]
    differ[start[1:] - 1] = 0
    return np.add.reduceat(differ, start[:-1])


def neighbour_correlation(changed: Ints, n: Ints, c: Ints) -> float:
    """Correlation of neighbouring attempts within tasks: 1 − Σ changes / Σ 2c(n−c)/n.

    The mean correlation is 0 if all orders of the outcomes of a task are equally likely. The
    correlation is above 0 if neighbouring attempts tend to agree, and below 0 if passes and
    failures alternate. A positive correlation is underestimated, especially with few attempts.

    changed : the result of `neighbour_changes`.  n, c : number of attempts and of passes at each
        task.
    Returns a number of at most 1, or NaN if no task has both passes and failures.

    >>> neighbour_correlation(np.array([1]), np.array([4]), np.array([2]))
    0.5
    """
    expected = float((2 * c * (n - c) / n).sum())
    return 1.0 - float(changed.sum()) / expected if expected > 0 else float("nan")


def neighbour_correlation_of_trend(slope: float, n: Ints, c: Ints) -> float:
    """The `neighbour_correlation` that a linear trend causes without any other dependence.

    The correlation due to the trend is Σ b²(n²−1)(n−2)/6 / Σ 2c(n−c)/n.

    slope : the change b of the pass rate per attempt.
    Returns NaN if no task has both passes and failures.

    >>> round(neighbour_correlation_of_trend(0.02, np.array([10]), np.array([5])), 4)
    0.0106
    """
    expected = float((2 * c * (n - c) / n).sum())
    fewer = float((slope**2 * (n**2 - 1.0) * (n - 2) / 6).sum())
    return fewer / expected if expected > 0 else float("nan")


def first_pass(start: Ints, passed: Ints) -> tuple[Ints, Bools]:
    """The number of the first passing attempt of each task (or n), and whether any attempt passes.

    >>> first_pass(np.array([0, 3, 5]), np.array([0, 1, 1, 0, 0]))
    (array([2, 2]), array([ True, False]))
    """
    n = np.diff(start)
    place = np.where(passed == 1, zero_based_positions(start) + 1, np.repeat(n, n))
    return np.minimum.reduceat(place, start[:-1]), np.add.reduceat(passed, start[:-1]) > 0


def unsolved_shares(attempts: Ints, solved: Bools) -> Floats:
    """Share of tasks that are still unsolved after 0, 1, 2, … attempts: Π_{j≤i} (1 − d_j/r_j).

    In this formula, d_j is the number of tasks that attempt j solves, and r_j is the number of
    tasks that have an attempt j and were unsolved before. A task that is never solved is included
    until its last attempt (censored). If all n are equal, the share is 1 − first@i. If the numbers
    of attempts n differ, the share is correct in two cases: n is unrelated to the difficulty, or
    attempts end with the first pass.

    attempts, solved : the result of `first_pass`.
    Returns one share for each number of attempts from 0 to the largest n. The shares start at 1 and
    never increase.
    Source: Kaplan & Meier 1958.

    >>> unsolved_shares(np.array([1, 2, 2]), np.array([True, False, True])).round(3).tolist()
    [1.0, 0.667, 0.333]
    """
    longest = int(attempts.max())
    at = np.bincount(attempts, minlength=longest + 1)
    risk = at[::-1].cumsum()[::-1]
    solved_at = np.bincount(attempts, solved, longest + 1)
    return np.cumprod(1.0 - solved_at / risk)


def attempts_for_share(survival: Floats, share: float) -> int | None:
    """The smallest number of attempts that solves a given share of the tasks.

    survival : the result of `unsolved_shares`.  share : in (0, 1].
    Returns None if too few tasks are solved.

    >>> attempts_for_share(np.array([1.0, 0.6, 0.4]), 0.5)
    2
    >>> attempts_for_share(np.array([1.0, 0.6]), 0.5) is None
    True
    """
    enough = 1.0 - survival >= share - 1e-12
    return int(enough.argmax()) if enough.any() else None


def mean_attempts_used(survival: Floats, budget: int) -> float:
    """The mean number of attempts per task up to the first pass, but at most `budget`: Σ_{i<b} S_i.

    survival : the result of `unsolved_shares`.
    Returns a number in [1, budget], or NaN if `budget` is larger than the number of attempts and a
    task is unsolved.

    >>> mean_attempts_used(np.array([1.0, 0.6, 0.4]), 2)
    1.6
    """
    complete = budget < len(survival) or survival[-1] == 0
    return float(survival[:budget].sum()) if complete else float("nan")
