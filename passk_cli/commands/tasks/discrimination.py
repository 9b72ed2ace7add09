"""The item–rest correlation of each task: which tasks separate better models from weaker ones."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import Floats, Ints, row_blocks
from passk_cli.inference.exact import NORMAL
from passk_cli.inference.ranking import tied_places

# With fewer than FEWEST models there is no correlation. Up to MOST_ORDERED, all orders are tried.
FEWEST, MOST_ORDERED = 4, 7
# Sums this close are equal.
_ROUNDING = 1e-9
# The maximum number of values in memory at once.
_CELLS = 1 << 22


@dataclass(frozen=True)
class ItemRestCorrelations:
    """The item–rest correlations, with one value per task in each array.

    correlation : Spearman's, over models, between the pass rate at the task and the mean pass rate
        at the model's other tasks; NaN if it does not exist.
    low, high : its interval.  p : one-sided p-value of a correlation of 0 or more; NaN without one.
    smallest : the smallest p-value that this task can have.
    share : the task's share of the variance between the models' means. Shares add up to 1 if every
        model has every task.  models : how many models have attempts.
    """

    correlation: Floats
    low: Floats
    high: Floats
    p: Floats
    smallest: Floats
    share: Floats
    models: Ints


def item_rest_correlations(rates: Floats, level: float = 0.95) -> ItemRestCorrelations:
    """Measure for each task whether better models pass it more often.

    rates : (models × tasks), pass rates in [0, 1]; NaN if a model has no attempts.

    x are the rates at a task, r the mean rates of the same models at their other tasks. Both are
    ranked (ties share their mean rank), and the correlation is Pearson's of the ranks. Its interval
    is tanh(artanh ρ ± z √((1 + ρ²/2)/(M − 3))). The null hypothesis of p is that x does not depend
    on r, or that better models pass more often; then all M! orders are equally likely. Up to 7
    models, every order is tried. Beyond that, t = ρ √((M − 2)/(1 − ρ²)) has M − 2 degrees of
    freedom, and p is at least Π ties! / M!, the share of orders that no statistic can separate from
    the observed one. The models are taken as independent.

    A task has no correlation if fewer than 4 models have attempts, if all of them pass it equally
    often, or if their rests are equal.
    The share of a task is cov(x, S) / Σ cov, with S the mean over all tasks of each model. It is
    negative if better models pass less often.
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
    # Rounding must not separate equal rests.
    x, y = _ranked(rates), _ranked(np.round(rests, 12))
    scale = np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0))
    count = has_attempts.sum(axis=0)
    defined = (scale > _ROUNDING) & (count >= FEWEST)
    correlation = np.full(tasks, np.nan)
    np.divide((x * y).sum(axis=0), scale, out=correlation, where=defined)
    correlation = np.clip(correlation, -1.0, 1.0)
    # Bonett and Wright's limits. At ±1 the transform is infinite; there the next value that M
    # models can have is used.
    z = NORMAL.inv_cdf((1 + level) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = z * np.sqrt((1 + correlation**2 / 2) / np.maximum(count - 3, 1))
        step = 6.0 / np.maximum(count.astype(float) ** 3 - count, 1.0)
        middle = np.arctanh(np.clip(correlation, -1 + step, 1 - step))
        low = np.minimum(np.tanh(middle - reach), correlation)
        high = np.maximum(np.tanh(middle + reach), correlation)
    p, smallest = _correlation_tests(x, y, correlation, count)
    return ItemRestCorrelations(correlation, low, high, p, smallest, _shares(rates), count)


def _ranked(values: Floats) -> Floats:
    """Mean ranks within each column, centred; 0 if there is no value."""
    order = np.argsort(values, axis=0, kind="stable")
    ascending = np.take_along_axis(values, order, axis=0)
    first, last = tied_places(ascending)
    has_value = ~np.isnan(ascending)
    middle = (has_value.sum(axis=0) - 1) / 2
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, np.where(has_value, (first + last) / 2 - middle, 0.0), axis=0)
    return ranks


def _correlation_tests(
    x: Floats, y: Floats, correlation: Floats, count: Ints
) -> tuple[Floats, Floats]:
    """One-sided p-values of correlations of 0 or more, and the smallest possible p-values."""
    from passk_cli.scipy_special import stdtr

    p, smallest = np.full(len(count), np.nan), np.full(len(count), np.nan)
    defined = ~np.isnan(correlation)
    for models in np.unique(count[defined]).tolist():
        at = np.flatnonzero(defined & (count == models))
        if models > MOST_ORDERED:
            smallest[at] = [_least_share(column, models) for column in x[:, at].T]
            inside = np.clip(correlation[at], -1 + 1e-15, 1.0 - 1e-15)
            tails = stdtr(models - 2, inside * np.sqrt((models - 2) / (1 - inside**2)))
            p[at] = np.maximum(tails, smallest[at])
            continue
        # A model without attempts has centred ranks of 0 in both, so only the others are ordered.
        absent = (x[:, at] == 0.0) & (y[:, at] == 0.0)
        places = np.argsort(absent, axis=0, kind="stable")[:models]
        present_x, present_y = (
            np.take_along_axis(values[:, at], places, axis=0) for values in (x, y)
        )
        p[at], smallest[at] = _all_orders(present_x, present_y)
    return p, smallest


def _least_share(ranks: Floats, models: int) -> float:
    """The smallest p over all orders, Π ties! / M!: models of equal rank can change places."""
    ties = np.unique(ranks, return_counts=True)[1].tolist()
    absent = len(ranks) - models
    # The models without attempts have the middle rank.
    if absent:
        middle = int((ranks == 0.0).sum())
        ties[ties.index(middle)] -= absent
    logs = sum(math.lgamma(tie + 1.0) for tie in ties) - math.lgamma(models + 1.0)
    return math.exp(logs)


def _all_orders(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """P(Σ x π(y) ≤ Σ x y) over all orders π, and the share of the lowest sum."""
    orders = np.array(list(itertools.permutations(range(len(x)))))
    p, smallest = np.empty(x.shape[1]), np.empty(x.shape[1])
    for block in row_blocks(x.shape[1], orders.size, _CELLS):
        sums = np.einsum("oit,it->ot", y[orders][..., block], x[:, block])
        p[block] = (sums <= (x[:, block] * y[:, block]).sum(axis=0) + _ROUNDING).mean(axis=0)
        smallest[block] = (sums <= sums.min(axis=0) + _ROUNDING).mean(axis=0)
    return p, smallest


def _shares(rates: Floats) -> Floats:
    """Share of each task in the variance between the models' means."""
    has_attempts = ~np.isnan(rates)
    number = np.maximum(has_attempts.sum(axis=1), 1)
    means = np.where(has_attempts, rates, 0.0).sum(axis=1) / number
    count = np.maximum(has_attempts.sum(axis=0), 1)
    centred = np.where(
        has_attempts, rates - np.where(has_attempts, rates, 0.0).sum(axis=0) / count, 0.0
    )
    covariance = (centred * (means - means.mean())[:, None]).sum(axis=0)
    total = float(covariance.sum())
    if not math.isfinite(total) or total <= _ROUNDING:
        return np.full(rates.shape[1], np.nan)
    shares: Floats = covariance / total
    return shares
