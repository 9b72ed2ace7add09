"""Are attempts exchangeable?  Trend, neighbours and copies, against every order of the outcomes.

The null hypothesis of each test: given how many of its attempts passed, the order of a task's
outcomes is a random permutation.  It says nothing about how hard tasks are, so that no mixture of
easy and hard tasks can make a test reject, and clusters of tasks change nothing.  The p-values are
those of all permutations, counted, not drawn: there is no seed and no Monte-Carlo error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import Bools, Floats, Ints
from passk_cli.inference.adjust import holm
from passk_cli.inference.order import (
    change_law,
    change_moments,
    differing_share,
    law_of_sum,
    rank_sum_tail,
    tail_below,
    tail_beyond,
    trend_variance,
)
from passk_cli.metrics.order import changes, positions, totals, trend_scores
from passk_cli.metrics.pass_k import unique_pairs

# Pairs of attempts are looked at among so many first ones: half a million pairs.
MOST_POSITIONS = 1000
# A pair that differs on at most this share of the tasks expected looks like copies, provided that
# their own pass rates alone would have them differ on this many.
COPIED, _ENOUGH = 0.1, 5.0


@dataclass(frozen=True)
class OrderTest:
    """A statistic that adds up over tasks, beside what random orders would give.

    mean, sd : of the statistic over all orders.  p : two-sided; NaN where no task can say anything.
    tasks : those that can: with passes and failures (and 3 attempts where neighbours are compared).
    """

    statistic: float
    mean: float
    sd: float
    p: float
    tasks: int


def trend_test(start: Ints, passed: Ints) -> OrderTest:
    """Do later attempts pass more, or less, often than earlier ones of the same task?

    Statistic: S = Σ_t Σ_i (i − (n_t−1)/2) x_ti, positive when later attempts pass more often.
    p = P(|S| ≥ |observed|), see `rank_sum_tail`.

    start, passed : as in `metrics.order`.  Returns `OrderTest`; its mean is 0.
    Source: Cox 1958, "The regression analysis of binary sequences"; with one pass per task it is a
    test of its place, with many a stratified Wilcoxon test (van Elteren 1960, other weights).

    >>> test = trend_test(np.array([0, 3, 6]), np.array([0, 0, 1, 0, 0, 1]))
    >>> test.statistic, round(test.p, 6), test.tasks
    (2.0, 0.222222, 2)
    """
    n, c = totals(start, passed)
    score = float(trend_scores(start, passed)[0].sum())
    tasks = int(((c > 0) & (c < n)).sum())
    p = rank_sum_tail(n, c, score) if tasks else math.nan
    return OrderTest(score, 0.0, math.sqrt(float(trend_variance(n, c).sum())), p, tasks)


def neighbour_test(start: Ints, passed: Ints) -> OrderTest:
    """Are attempts made one after the other more alike, or less, than others of the same task?

    Statistic: how often neighbours differ, Σ_t #{i : x_ti ≠ x_t,i+1}, the number of runs less one;
    it treats passes and failures alike.  p = P(|changes − mean| ≥ |observed − mean|).  Changes that
    a trend brings about count as well: see `lag_of_trend`.

    start, passed : as in `metrics.order`.  Returns `OrderTest`.
    Source: Wald & Wolfowitz 1940, "On a test whether two samples are from the same population".

    >>> test = neighbour_test(np.array([0, 6]), np.array([0, 0, 0, 1, 1, 1]))
    >>> test.statistic, test.mean, round(test.p, 6)
    (1.0, 3.0, 0.2)
    """
    n, c = totals(start, passed)
    mixed = (c > 0) & (c < n) & (n > 2)
    changed = changes(start, passed)[mixed]
    n, c = n[mixed], c[mixed]
    if not len(n):
        return OrderTest(0.0, 0.0, 0.0, math.nan, 0)
    mean, variance = (float(moment.sum()) for moment in change_moments(n, c))
    pairs_n, pairs_c, index = unique_pairs(n, c)
    times = np.bincount(index.ravel(), minlength=len(pairs_n))
    law = law_of_sum(
        (change_law(*pair), many)
        for *pair, many in zip(pairs_n.tolist(), pairs_c.tolist(), times.tolist(), strict=True)
        if many
    )
    observed = float(changed.sum())
    p = tail_beyond(law, mean, observed)
    return OrderTest(observed, mean, math.sqrt(variance), p, len(n))


@dataclass(frozen=True)
class Pairs:
    """Pairs of attempts and how often their outcomes differ, on the tasks that have both.

    first, second : positions from 0.  differ : tasks on which their outcomes differ.
    expected : the same over all orders.  by_rates : the same for two attempts that pass as often as
    these do, on any of the tasks.  tasks : those with passes and failures and both attempts.
    p : one-sided, of so few or fewer differences; adjusted : after Holm over all pairs.
    """

    first: Ints
    second: Ints
    differ: Ints
    expected: Floats
    by_rates: Floats
    tasks: Ints
    p: Floats
    adjusted: Floats

    @property
    def smallest(self) -> float:
        """p that no pair agrees more than chance has it; NaN without pairs."""
        return float(self.adjusted.min()) if len(self.adjusted) else math.nan

    @property
    def copied(self) -> Bools:
        """Pairs that differ on a tenth of the tasks expected, or fewer, though their pass rates
        leave them room to differ: two attempts that always pass agree without being copies."""
        few = self.differ <= COPIED * np.minimum(self.expected, self.by_rates)
        alike: Bools = few & (self.by_rates >= _ENOUGH)
        return alike


def copies_test(start: Ints, passed: Ints) -> Pairs:
    """Do two attempts agree on more tasks than chance has it, as copies of one another would?

    For every pair of positions the tasks on which their outcomes differ are counted; over all
    orders each task differs with probability 2c(n−c) / (n(n−1)) on its own, so that the count has a
    Poisson-binomial law.  Tasks whose attempts all agree say nothing: they may be copies, or tasks
    that always or never pass; nor does a task of two attempts, which agree or differ whatever their
    order.  Where the pass rate changes with the position pairs agree more as well: what looks like
    copies is told apart by `Pairs.copied`.

    start, passed : as in `metrics.order`.  Pairs among the first 1,000 attempts are looked at.
    Returns `Pairs`, in order of the positions.

    >>> outcomes = np.array([0, 0, 1, 1, 1, 0, 0, 0, 1])
    >>> pairs = copies_test(np.array([0, 3, 6, 9]), outcomes)
    >>> pairs.differ.tolist(), pairs.expected.tolist(), pairs.p.round(6).tolist()
    ([0, 3, 3], [2.0, 2.0, 2.0], [0.037037, 1.0, 1.0])
    """
    n, c = totals(start, passed)
    mixed = np.flatnonzero((c > 0) & (c < n) & (n > 2))
    n, c = n[mixed], c[mixed]
    width = min(int(n.max(initial=0)), MOST_POSITIONS)
    # (tasks × positions): 1 where there is an attempt, and 1 where it passed.
    row = np.full(len(start) - 1, -1)
    row[mixed] = np.arange(len(mixed))
    at, place = np.repeat(row, np.diff(start)), positions(start)
    inside = (at >= 0) & (place < width)
    had, won = np.zeros((2, len(mixed), width))
    had[at[inside], place[inside]] = 1.0
    won[at[inside], place[inside]] = passed[inside]
    differ = won.T @ (had - won)
    differ += differ.T
    first, second = np.triu_indices(width, 1)
    p, expected = np.zeros((2, len(first)))
    tasks = (had.T @ had)[first, second]
    # Passes of either on the tasks that have both.
    passes = won.T @ had
    passes_first, passes_second = passes[first, second], passes[second, first]
    by_rates = (
        passes_first * (tasks - passes_second) + passes_second * (tasks - passes_first)
    ) / np.maximum(tasks, 1)
    share = differing_share(n, c)
    # The pairs up to the same length are on the same tasks, and have one law.
    lengths = np.concatenate([[0], np.unique(np.minimum(n, width))])
    for shorter, longer in zip(lengths[:-1].tolist(), lengths[1:].tolist(), strict=True):
        group = (second >= shorter) & (second < longer)
        shares, times = np.unique(share[n >= longer], return_counts=True)
        law = law_of_sum(
            (np.array([1 - q, q]), many)
            for q, many in zip(shares.tolist(), times.tolist(), strict=True)
        )
        counts = differ[first[group], second[group]].astype(np.int64)
        p[group] = tail_below(law, counts)
        expected[group] = shares @ times
    return Pairs(
        first.astype(np.int64),
        second.astype(np.int64),
        differ[first, second].astype(np.int64),
        expected,
        by_rates,
        tasks.astype(np.int64),
        p,
        holm(p),
    )
