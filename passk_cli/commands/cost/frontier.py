"""Who leads at which cost: the Pareto frontier of cost and pass rate, and where curves cross."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from passk_cli.arrays import Bools, Floats, Ints, blocks
from passk_cli.inference.bands import pointwise_level
from passk_cli.inference.difference import difference_distribution
from passk_cli.inference.ranking import code_runs, possible_crossings
from passk_cli.inference.weights import bootstrap_means

# Costs and rates that differ by so small a share are equal.
_TIE = 1e-12
# Numbers compared at once.
_TOGETHER = 1 << 22


class Frontier(NamedTuple):
    """The Pareto frontier of mean cost and mean rate: one entry per model.

    on : whether no other model is at least as good in both and better in one; equal ones all are.
    share : of the resamples of the tasks in which it is on.  It describes the draws; it is no
        probability and no test.
    p : of the test that it is on the frontier, against another one being cheaper and better: the
        larger one-sided p of both, the smallest over the others, times all pairs.  1 of one model.
    behind : place of that other model; −1 where none is cheaper and better in the estimates.
    """

    on: Bools
    share: Floats
    p: Floats
    behind: Ints


def frontier(cost: Floats, rate: Floats) -> Bools:
    """Whether no other model costs at most as much, passes as often, and is better in one.

    cost, rate : (… × models).  What differs by 1e-12 of itself is equal; equals are on together.

    >>> frontier(np.array([1.0, 2.0, 3.0, 1.0]), np.array([0.5, 0.4, 0.9, 0.5])).tolist()
    [True, False, True, True]
    """
    rows, columns = (slice(None), None), (None, slice(None))
    near_cost = _TIE * np.abs(cost).max(axis=-1, initial=0.0)[..., None, None]
    dearer = cost[..., *rows] - cost[..., *columns]
    worse = rate[..., *columns] - rate[..., *rows]
    behind = (dearer >= -near_cost) & (worse >= -_TIE) & ((dearer > near_cost) | (worse > _TIE))
    on: Bools = ~behind.any(axis=-1)
    return on


def frontier_shares(
    cost: Floats, rate: Floats, clusters: Ints | None = None, resamples: int = 10_000, seed: int = 0
) -> Frontier:
    """The frontier of mean costs and rates over tasks, and how certain each place on it is.

    cost, rate : (tasks × models), of the tasks that all models share.  clusters : a code per task;
    then whole clusters are drawn.  Models share the draws.
    Source: the intersection–union test of both differences, Berger 1982; Bonferroni over pairs.

    >>> cost = np.array([[1.0, 2.0], [1.2, 2.5], [0.9, 1.8], [1.1, 2.1]])
    >>> found = frontier_shares(cost, np.array([[1, 0], [1, 1], [0, 1], [1, 0]]))
    >>> found.on.tolist(), found.behind.tolist()
    ([True, False], [-1, 0])
    """
    models = cost.shape[1]
    means = bootstrap_means(np.hstack([cost, rate]), resamples, seed, clusters=clusters)
    inside = np.zeros(models)
    for block in blocks(resamples, models**2, _TOGETHER):
        inside += frontier(means[block, :models], means[block, models:]).sum(axis=0)
    p, behind = np.ones(models), np.full(models, -1)
    for model in range(models):
        rivals = np.delete(np.arange(models), model)
        if not len(rivals):
            continue
        gaps = (cost[:, [model]] - cost[:, rivals]).T, (rate[:, rivals] - rate[:, [model]]).T
        one_sided = []
        for gap, reach in zip(gaps, (np.inf, 1.0), strict=True):
            difference = difference_distribution(gap, reach, clusters=clusters)
            one_sided.append(np.where(difference.estimate > 0, difference.p() / 2, 1.0))
        joint_p = np.max(one_sided, axis=0)
        best = int(joint_p.argmin())
        if joint_p[best] < 1.0:
            p[model] = min(1.0, float(joint_p[best]) * models * (models - 1) / 2)
            behind[model] = rivals[best]
    on = frontier(cost.mean(axis=0), rate.mean(axis=0))
    return Frontier(on, inside / resamples, p, behind)


class BudgetLead(NamedTuple):
    """Neighbouring budgets low … high with one leader: 1 the first model, −1 the second, 0 tied."""

    low: float
    high: float
    leader: int


class BudgetCrossing(NamedTuple):
    """Budgets between which the lead may change; certain where it must."""

    low: float
    high: float
    certain: bool


class LeadCrossings(NamedTuple):
    """Where one of two curves over budgets overtakes the other.

    at : budgets at which the lead in the estimates has changed, ascending; none, one or several.
    sets : which hold every crossing, all together, at the level asked for.
    leads : who is significantly ahead where, at the same level.
    gap, low, high : (budgets,) the first model's curve minus the second's, with a simultaneous
        band: both ends of the gap lie in it where money is left and nothing is known.
    """

    at: tuple[float, ...]
    sets: tuple[BudgetCrossing, ...]
    leads: tuple[BudgetLead, ...]
    gap: Floats
    low: Floats
    high: Floats


def lead_crossings(
    budgets: Floats, first: Floats, second: Floats, level: float = 0.95,
    clusters: Ints | None = None, *, highest: tuple[Floats, Floats] | None = None,
    resamples: int = 10_000, seed: int = 0,
) -> LeadCrossings:  # fmt: skip
    """The budgets at which the lead may change between two models' pass@$b over shared tasks.

    The band of the difference is simultaneous over the budgets: limits of `difference_distribution`
    at a pointwise level at which the share `level` of the resampled curves lies inside everywhere.
    The lead changes only where the band leaves its sign open, or between two budgets of either
    sign.

    budgets : ascending.  first, second : (budgets × tasks), lowest values as of `pass_within`.
    highest : the highest values of both; then a model leads where it does against any values
    between.
    Nothing is said of budgets beyond the last or before the first.

    >>> budgets, early = np.array([1.0, 2.0, 3.0]), np.array([[0.5], [0.5], [0.5]])
    >>> late, noise = np.array([[0.0], [0.4], [1.0]]), np.linspace(-0.1, 0.1, 20)
    >>> crossed = lead_crossings(budgets, early + noise, late + 0 * noise)
    >>> crossed.at, crossed.sets
    ((3.0,), (BudgetCrossing(low=2.0, high=3.0, certain=True),))
    """
    tops = (first, second) if highest is None else highest
    ends = [first - tops[1], tops[0] - second]
    # Where both ends are one curve, it is drawn once.
    ranged = (tops[0] != first).any(axis=1) | (tops[1] != second).any(axis=1)
    end_curves = np.concatenate([ends[0], ends[1][ranged]])
    draws = bootstrap_means(end_curves.T, resamples, seed, clusters=clusters)
    pointwise = pointwise_level(draws, level)
    low = difference_distribution(ends[0], 1.0, clusters=clusters).limits(1.0 - pointwise)[0]
    high = difference_distribution(ends[1], 1.0, clusters=clusters).limits(1.0 - pointwise)[1]
    signs = (low > 0).astype(np.int64) - (high < 0)
    places = np.arange(len(budgets))
    gap = (first - second).mean(axis=1)
    ahead = np.where(np.abs(gap) <= _TIE, 0.0, np.sign(gap))
    leading = np.flatnonzero(ahead)
    turned = leading[1:][np.diff(ahead[leading]) != 0]
    crossings = tuple(
        BudgetCrossing(
            float(budgets[crossing.first - 1]), float(budgets[crossing.last]), crossing.certain
        )
        for crossing in possible_crossings(places, signs)
    )
    leads = tuple(
        BudgetLead(float(budgets[run.first]), float(budgets[run.last]), run.code)
        for run in code_runs(signs)
    )
    return LeadCrossings(tuple(budgets[turned].tolist()), crossings, leads, gap, low, high)
