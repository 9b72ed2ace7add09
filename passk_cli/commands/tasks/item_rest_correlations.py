"""The item–rest correlation of each task: whether better models pass the task more often."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import Floats, Ints, row_blocks
from passk_cli.inference.ranking import first_and_last_tied_positions
from passk_cli.inference.weighted_means import STANDARD_NORMAL

# A correlation needs at least FEWEST models. With at most MOST_ORDERED models, the p-value of a
# correlation comes from a permutation test.
FEWEST, MOST_ORDERED = 4, 7
# Sums that differ by less than 1e-9 are treated as equal.
_ROUNDING_TOLERANCE = 1e-9
# Tasks are tested in blocks, so that at most _MAX_CELLS_IN_MEMORY values are in memory at once.
_MAX_CELLS_IN_MEMORY = 1 << 22


@dataclass(frozen=True)
class ItemRestCorrelations:
    """The item–rest correlations of tasks. Each array has one value per task.

    correlation : Spearman correlation, over models, between the pass rate at the task and the mean
        pass rate at all other tasks; NaN if undefined.
    low, high : confidence limits of the correlation.
    p : one-sided p-value of the hypothesis that the correlation is at least 0; NaN if undefined.
    smallest_p : smallest p-value that the test of this task can have.
    between_model_variance_share : share that the task contributes to the variance between the means
        of models. The shares add up to 1 if every model has every task.
    """

    correlation: Floats
    low: Floats
    high: Floats
    p: Floats
    smallest_p: Floats
    between_model_variance_share: Floats
    model_counts: Ints


def item_rest_correlations(rates: Floats, level: float = 0.95) -> ItemRestCorrelations:
    """Measure for each task whether better models pass the task more often.

    rates : matrix (models × tasks) of pass rates in [0, 1]; NaN if a model has no attempts.

    Let x be the pass rates of M models at one task, and r the mean pass rates of these models at
    all other tasks. The correlation ρ is Pearson's correlation of the ranks of x and r. Models that
    tie get the mean of their ranks. The interval is tanh(artanh ρ ± z √((1 + ρ²/2)/(M − 3))), with
    the normal quantile z.

    The null hypothesis is that x does not depend on r, or that better models pass more often. If x
    does not depend on r, all M! orders are equally likely. With up to 7 models, p is computed from
    all orders. With more models, t = ρ √((M − 2)/(1 − ρ²)) has M − 2 degrees of freedom, and p is
    at least the smallest possible p-value. Models are assumed to be independent.

    The correlation is undefined if fewer than 4 models have attempts, or if x or r is constant. The
    variance share of a task is cov(x, S), divided by the sum of these covariances over all tasks. S
    contains the mean of each model over all tasks. The share is negative if better models pass the
    task less often.
    Source: Spearman 1904; Bonett & Wright 2000 for the interval; Lord & Novick 1968 for the
    item–rest correlation; Pitman 1937 for the test.

    >>> ability = np.linspace(0.1, 0.9, 6)
    >>> items = item_rest_correlations(np.column_stack([ability, ability, ability**2, 1 - ability]))
    >>> items.correlation.tolist(), items.p.round(4).tolist()
    ([1.0, 1.0, 1.0, -1.0], [1.0, 1.0, 1.0, 0.0014])
    """
    tasks = rates.shape[1]
    has_attempts = ~np.isnan(rates)
    filled = np.where(has_attempts, rates, 0.0)
    total, number = filled.sum(axis=1, keepdims=True), has_attempts.sum(axis=1, keepdims=True)
    rests = np.full(rates.shape, np.nan)
    np.divide(total - filled, number - 1, out=rests, where=has_attempts & (number > 1))
    # Models with equal means must have equal ranks, even if rounding errors make the means differ.
    x, y = _centred_ranks(rates), _centred_ranks(np.round(rests, 12))
    scale = np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0))
    count = has_attempts.sum(axis=0)
    defined = (scale > _ROUNDING_TOLERANCE) & (count >= FEWEST)
    correlation = np.full(tasks, np.nan)
    np.divide((x * y).sum(axis=0), scale, out=correlation, where=defined)
    correlation = np.clip(correlation, -1.0, 1.0)
    z = STANDARD_NORMAL.inv_cdf((1 + level) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = z * np.sqrt((1 + correlation**2 / 2) / np.maximum(count - 3, 1))
        step = 6.0 / np.maximum(count.astype(float) ** 3 - count, 1.0)
        middle = np.arctanh(np.clip(correlation, -1 + step, 1 - step))
        low = np.minimum(np.tanh(middle - reach), correlation)
        high = np.maximum(np.tanh(middle + reach), correlation)
    p, smallest = _correlation_tests(x, y, correlation, count)
    return ItemRestCorrelations(
        correlation, low, high, p, smallest, _shares_of_between_model_variance(rates), count
    )


def _centred_ranks(values: Floats) -> Floats:
    order = np.argsort(values, axis=0, kind="stable")
    ascending = np.take_along_axis(values, order, axis=0)
    first, last = first_and_last_tied_positions(ascending)
    has_value = ~np.isnan(ascending)
    middle = (has_value.sum(axis=0) - 1) / 2
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, np.where(has_value, (first + last) / 2 - middle, 0.0), axis=0)
    return ranks


def _correlation_tests(
    x: Floats, y: Floats, correlation: Floats, count: Ints
) -> tuple[Floats, Floats]:
    from passk_cli.scipy_special import stdtr

    p, smallest = np.full(len(count), np.nan), np.full(len(count), np.nan)
    defined = ~np.isnan(correlation)
    for models in np.unique(count[defined]).tolist():
        at = np.flatnonzero(defined & (count == models))
        if models > MOST_ORDERED:
            smallest[at] = [_smallest_possible_p(column, models) for column in x[:, at].T]
            inside = np.clip(correlation[at], -1 + 1e-15, 1.0 - 1e-15)
            tails = stdtr(models - 2, inside * np.sqrt((models - 2) / (1 - inside**2)))
            p[at] = np.maximum(tails, smallest[at])
            continue
        absent = (x[:, at] == 0.0) & (y[:, at] == 0.0)
        places = np.argsort(absent, axis=0, kind="stable")[:models]
        present_x, present_y = (
            np.take_along_axis(values[:, at], places, axis=0) for values in (x, y)
        )
        p[at], smallest[at] = _permutation_tests(present_x, present_y)
    return p, smallest


def _smallest_possible_p(ranks: Floats, models: int) -> float:
    """The smallest possible p-value for M models: Π t! / M!, with the size t of each tied group.

    Models with equal ranks can swap places without changing the correlation.
    """
    ties = np.unique(ranks, return_counts=True)[1].tolist()
    absent = len(ranks) - models
    if absent:
        middle = int((ranks == 0.0).sum())
        ties[ties.index(middle)] -= absent
    logs = sum(math.lgamma(tie + 1.0) for tie in ties) - math.lgamma(models + 1.0)
    return math.exp(logs)


def _permutation_tests(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Compute the p-values and the smallest possible p-values from all orders of the models.

    A p-value is the probability P(Σ x π(y) ≤ Σ x y) for a random order π.
    """
    orders = np.array(list(itertools.permutations(range(len(x)))))
    p, smallest = np.empty(x.shape[1]), np.empty(x.shape[1])
    for block in row_blocks(x.shape[1], orders.size, _MAX_CELLS_IN_MEMORY):
        sums = np.einsum("oit,it->ot", y[orders][..., block], x[:, block])
        p[block] = (sums <= (x[:, block] * y[:, block]).sum(axis=0) + _ROUNDING_TOLERANCE).mean(
            axis=0
        )
        smallest[block] = (sums <= sums.min(axis=0) + _ROUNDING_TOLERANCE).mean(axis=0)
    return p, smallest


def _shares_of_between_model_variance(rates: Floats) -> Floats:
    has_attempts = ~np.isnan(rates)
    number = np.maximum(has_attempts.sum(axis=1), 1)
    means = np.where(has_attempts, rates, 0.0).sum(axis=1) / number
    count = np.maximum(has_attempts.sum(axis=0), 1)
    centred = np.where(
        has_attempts, rates - np.where(has_attempts, rates, 0.0).sum(axis=0) / count, 0.0
    )
    covariance = (centred * (means - means.mean())[:, None]).sum(axis=0)
    total = float(covariance.sum())
    if not math.isfinite(total) or total <= _ROUNDING_TOLERANCE:
        return np.full(rates.shape[1], np.nan)
    shares: Floats = covariance / total
    return shares
