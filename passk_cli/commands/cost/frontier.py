"""The Pareto frontier of cost and pass rate, and budgets at which two pass@$b curves cross."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from passk_cli.arrays import Bools, Floats, Ints, row_blocks
from passk_cli.inference.bands import pointwise_level
from passk_cli.inference.bootstrap_weights import bootstrap_means
from passk_cli.inference.difference import difference_distribution
from passk_cli.inference.ranking import equal_element_spans, possible_crossing_ranges

# Costs with a relative difference of at most _TIE_TOLERANCE are treated as equal, and so are rates
# with a difference of at most _TIE_TOLERANCE.
_TIE_TOLERANCE = 1e-12
# A block of resamples contains at most _MAX_BLOCK_VALUES values, to limit the use of memory.
_MAX_BLOCK_VALUES = 1 << 22


class Frontier(NamedTuple):
    """The Pareto frontier of mean cost and mean pass rate, with one entry per model.

    A rival dominates a model if the rival is at least as good in cost and pass rate, and better in
    one of the two. A model is on the frontier if no rival dominates the model.
    resample_share : share of resamples in which the model is on the frontier.  This share is
        neither a probability nor a test.
    p : p-value of the hypothesis that the model is on the frontier. The p-value against one rival
        is the larger of the two one-sided p-values (rival cheaper, rival better). The smallest
        p-value of all rivals is multiplied by the number of pairs.
    dominating_rival_indices : index of the rival with the smallest p-value, or −1 if no rival is
        both cheaper and better.
    """

    on_frontier: Bools
    resample_share: Floats
    p: Floats
    dominating_rival_indices: Ints


def is_on_frontier(cost: Floats, rate: Floats) -> Bools:
    """Whether each model is on the frontier of cost and pass rate; see `Frontier`.

    cost, rate : costs and pass rates, with the models in the last dimension. Costs with a relative
        difference of at most 1e-12 and rates with a difference of at most 1e-12 count as equal.
        Models with equal costs and rates do not exclude each other from the frontier.

    >>> is_on_frontier(np.array([1.0, 2.0, 3.0, 1.0]), np.array([0.5, 0.4, 0.9, 0.5])).tolist()
    [True, False, True, True]
    """
    rows, columns = (slice(None), None), (None, slice(None))
    near_cost = _TIE_TOLERANCE * np.abs(cost).max(axis=-1, initial=0.0)[..., None, None]
    dearer = cost[..., *rows] - cost[..., *columns]
    worse = rate[..., *columns] - rate[..., *rows]
    behind = (
        (dearer >= -near_cost)
        & (worse >= -_TIE_TOLERANCE)
        & ((dearer > near_cost) | (worse > _TIE_TOLERANCE))
    )
    on: Bools = ~behind.any(axis=-1)
    return on


def pareto_frontier(
    cost: Floats, rate: Floats, clusters: Ints | None = None, resamples: int = 10_000, seed: int = 0
) -> Frontier:
    """The frontier of the models' mean costs and mean pass rates, with shares of resamples and
    p-values.

    cost, rate : one row per task and one column per model, for the tasks that all models share.
    clusters : the cluster of each task.  If `clusters` is given, whole clusters are resampled.
    All models use the same resamples.
    Source: Berger 1982 describes the intersection–union test of both differences. Bonferroni's
        method adjusts the p-values for the number of pairs.

    >>> cost = np.array([[1.0, 2.0], [1.2, 2.5], [0.9, 1.8], [1.1, 2.1]])
    >>> result = pareto_frontier(cost, np.array([[1, 0], [1, 1], [0, 1], [1, 0]]))
    >>> result.on_frontier.tolist(), result.dominating_rival_indices.tolist()
    ([True, False], [-1, 0])
    """
    models = cost.shape[1]
    means = bootstrap_means(np.hstack([cost, rate]), resamples, seed, clusters=clusters)
    inside = np.zeros(models)
    for block in row_blocks(resamples, models**2, _MAX_BLOCK_VALUES):
        inside += is_on_frontier(means[block, :models], means[block, models:]).sum(axis=0)
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
    on = is_on_frontier(cost.mean(axis=0), rate.mean(axis=0))
    return Frontier(on, inside / resamples, p, behind)


class BudgetRangeLead(NamedTuple):
    """A range of budgets in which one model leads significantly or both models tie.

    leader_sign : 1 if the first model leads, −1 if the second model leads, and 0 for a tie.
    """

    low: float
    high: float
    leader_sign: int


class BudgetCrossingRange(NamedTuple):
    """A range of budgets in which the lead may change.

    is_certain : whether the lead must change in this range if the confidence band is correct.
    """

    low: float
    high: float
    is_certain: bool


class LeadCrossings(NamedTuple):
    """The budgets at which the lead in pass@$b changes from one model to the other.

    crossing_ranges : ranges that together contain all crossings at the confidence level.
    lead_ranges : ranges in which one model is significantly ahead or both models tie.
    pass_rate_gaps : pass@$b of the first model minus pass@$b of the second model.
    gap_band_low, gap_band_high : simultaneous band of the difference. If attempts end before the
        budget is spent, the difference is a range, and the band contains both ends of this range.
    """

    crossing_budgets: tuple[float, ...]
    crossing_ranges: tuple[BudgetCrossingRange, ...]
    lead_ranges: tuple[BudgetRangeLead, ...]
    pass_rate_gaps: Floats
    gap_band_low: Floats
    gap_band_high: Floats


def lead_crossings(
    budgets: Floats, first: Floats, second: Floats, level: float = 0.95,
    clusters: Ints | None = None, *, highest: tuple[Floats, Floats] | None = None,
    resamples: int = 10_000, seed: int = 0,
) -> LeadCrossings:  # fmt: skip
    """Find the budgets at which the lead in pass@$b may change from one model to the other.

    The band of the difference consists of the limits of `difference_distribution` at a pointwise
    level. This level is chosen so that the share `level` of the resampled curves is inside the band
    at all budgets. The lead can change at budgets at which the band contains 0. The lead must
    change between two budgets if the band is above 0 at one budget and below 0 at the other.

    budgets : budgets in increasing order. The result does not apply below the first budget or above
        the last budget.
    first, second : lowest possible values of each model from `pass_within_budget_limits`, with one
        row per budget and one column per task.
    highest : highest possible values of both models, or None if all values are exact. A model leads
        only if it leads for all possible values.

    >>> budgets, early = np.array([1.0, 2.0, 3.0]), np.array([[0.5], [0.5], [0.5]])
    >>> late, noise = np.array([[0.0], [0.4], [1.0]]), np.linspace(-0.1, 0.1, 20)
    >>> crossed = lead_crossings(budgets, early + noise, late + 0 * noise)
    >>> crossed.crossing_budgets, crossed.crossing_ranges
    ((3.0,), (BudgetCrossingRange(low=2.0, high=3.0, is_certain=True),))
    """
    tops = (first, second) if highest is None else highest
    ends = [first - tops[1], tops[0] - second]
    ranged = (tops[0] != first).any(axis=1) | (tops[1] != second).any(axis=1)
    end_curves = np.concatenate([ends[0], ends[1][ranged]])
    draws = bootstrap_means(end_curves.T, resamples, seed, clusters=clusters)
    pointwise = pointwise_level(draws, level)
    low = difference_distribution(ends[0], 1.0, clusters=clusters).limits(1.0 - pointwise)[0]
    high = difference_distribution(ends[1], 1.0, clusters=clusters).limits(1.0 - pointwise)[1]
    signs = (low > 0).astype(np.int64) - (high < 0)
    places = np.arange(len(budgets))
    gap = (first - second).mean(axis=1)
    ahead = np.where(np.abs(gap) <= _TIE_TOLERANCE, 0.0, np.sign(gap))
    leading = np.flatnonzero(ahead)
    turned = leading[1:][np.diff(ahead[leading]) != 0]
    crossings = tuple(
        BudgetCrossingRange(
            float(budgets[crossing.first_k - 1]), float(budgets[crossing.last_k]), crossing.certain
        )
        for crossing in possible_crossing_ranges(places, signs)
    )
    leads = tuple(
        BudgetRangeLead(float(budgets[run.first_index]), float(budgets[run.last_index]), run.code)
        for run in equal_element_spans(signs)
    )
    return LeadCrossings(tuple(budgets[turned].tolist()), crossings, leads, gap, low, high)
