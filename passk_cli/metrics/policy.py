"""Retry policies: how often repeated attempts solve a task, and at what cost, from those made.

Attempts follow one another until one passes.  That takes a verifier that says at once, and
rightly, whether an attempt passed; without one a policy has neither this rate nor this cost.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from passk_cli.arrays import Bools, Floats, NDArray
from passk_cli.metrics.pass_k import pass_hat_k
from passk_cli.outcomes.attempts import Attempts


class Policy(NamedTuple):
    """A policy at each task.

    rate : probability that the task is solved.  cost : expected cost of its attempts.
    lacking : whether an attempt that may be made has no cost, so that `cost` is the least it can
        be.
    """

    rate: Floats
    cost: Floats
    lacking: Bools


def retry(attempts: Attempts, most: int) -> Policy:
    """One model: up to `most` attempts, until the first pass.

    The attempts made come in random order, without replacement.  With f of n failing, the i-th
    attempt is made and fails with probability C(f, i) / C(n, i), so that

        rate = pass@most,   cost = x̄_F Σ_{i ≤ most} C(f, i)/C(n, i) + x̄_S pass@most

    for the mean costs x̄_F of failing and x̄_S of passing attempts: failures that are dearer than
    passes make a policy dearer than its number of attempts says.

    attempts : a cell per task, value the cost, NaN for none.  most : ≥ 0; 0 is no attempt at all.
    Returns (cells,); rate and cost NaN where n < most.
    Errors: ValueError for a negative cost.

    >>> costs = Attempts.of_rows([0, 0], [1.0, 4.0], [1, 1], [1, 0], cells=1)  # 1 passed, 4 failed
    >>> [retry(costs, most).cost[0].item() for most in (1, 2)]
    [2.5, 3.0]
    """
    cells, cell = len(attempts.start) - 1, attempts.cell
    if (attempts.value < 0).any():
        raise ValueError("costs must not be negative")

    def total(each: NDArray[Any]) -> Floats:
        return np.bincount(cell, each, cells).astype(np.float64)

    passes, failures = attempts.passed, attempts.count - attempts.passed
    c, f, lacks = total(passes), total(failures), np.isnan(attempts.value)
    n, cost = (c + f).astype(np.int64), np.where(lacks, 0.0, attempts.value)
    failing = [pass_hat_k(n, f.astype(np.int64), i) for i in range(1, most + 1)]
    failed: Floats = np.sum([np.zeros(cells), *failing], axis=0)
    rate = 1.0 - failing[-1] if failing else np.zeros(cells)
    spent = failed * _mean(total(failures * cost), f) + rate * _mean(total(passes * cost), c)
    may = (failed > 0) & (total(failures * lacks) > 0) | (rate > 0) & (total(passes * lacks) > 0)
    return Policy(rate, spent, may)


def cascade(cheap: Attempts, big: Attempts, attempts: tuple[int, int] = (1, 1)) -> Policy:
    """The cheap model first, then the big one: up to a and b attempts, until the first pass.

    Attempts of both models are independent given the task, which both attempted:

        failed = C(f, a)/C(n, a) of the cheap one,   rate = 1 − failed (1 − pass@b of the big one)
        cost = cost of the cheap one's a attempts + failed · cost of the big one's b

    cheap, big : cells of the same tasks in the same order, as of `retry`.
    Returns (cells,); rate and cost NaN where either made too few attempts.
    Errors: ValueError for different numbers of tasks, and as of `retry`.

    >>> one = Attempts.of_rows([0, 0], [1.0, 1.0], [1, 1], [1, 0], cells=1)
    >>> other = Attempts.of_rows([0], [10.0], [2], [2], cells=1)
    >>> [each[0].item() for each in cascade(one, other)]
    [1.0, 6.0, False]
    """
    if len(cheap.start) != len(big.start):
        raise ValueError("both models must have the same tasks")
    first, second = retry(cheap, attempts[0]), retry(big, attempts[1])
    failed = 1.0 - first.rate
    return Policy(
        1.0 - failed * (1.0 - second.rate),
        first.cost + failed * second.cost,
        first.lacking | (failed > 0) & second.lacking,
    )


def _mean(total: Floats, count: Floats) -> Floats:
    """0 of none."""
    return np.divide(total, count, out=np.zeros_like(total), where=count > 0)
