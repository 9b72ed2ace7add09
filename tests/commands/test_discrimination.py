"""Item–rest correlations, against scipy and every order of the models."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from passk_cli.commands.tasks.item_rest_correlations import item_rest_correlations

RNG = np.random.default_rng(7)
RATES = RNG.binomial(4, RNG.beta(1, 1, (1, 9)) * np.linspace(0.3, 1, 6)[:, None]) / 4


def rest(rates: np.ndarray, task: int) -> np.ndarray:
    return np.round(np.delete(rates, task, axis=1).mean(axis=1), 12)


def test_correlation_is_spearmans_of_the_rest() -> None:
    items = item_rest_correlations(RATES)
    for task in range(RATES.shape[1]):
        if np.ptp(RATES[:, task]):
            expected = spearmanr(RATES[:, task], rest(RATES, task)).statistic
            assert items.correlation[task] == pytest.approx(expected)
        else:
            assert np.isnan(items.correlation[task])


def test_p_counts_every_order_of_the_models() -> None:
    items = item_rest_correlations(RATES)
    for task in np.flatnonzero(~np.isnan(items.p)):
        x, y = (rankdata(v) for v in (RATES[:, task], rest(RATES, task)))
        sums = np.array([x @ np.array(order) for order in permutations(y)])
        assert items.p[task] == pytest.approx((sums <= x @ y + 1e-9).mean())
        assert items.smallest_p[task] == pytest.approx((sums <= sums.min() + 1e-9).mean())


def test_p_of_many_models_is_near_that_of_drawn_orders() -> None:
    rng = np.random.default_rng(1)
    rates = rng.binomial(1, 0.4, (30, 12)).astype(float)
    rates[:, 0] = np.linspace(1, 0, 30) > 0.6
    items = item_rest_correlations(rates)
    for task in range(12):
        x, y = (rankdata(v) for v in (rates[:, task], rest(rates, task)))
        sums = np.array([x @ rng.permutation(y) for _ in range(4000)])
        assert items.p[task] == pytest.approx((sums <= x @ y + 1e-9).mean(), abs=0.03)


def test_many_models_in_exactly_the_other_order() -> None:
    """ρ = −1, and only one of all orders is as low."""
    rates = np.column_stack([np.linspace(0, 1, 12), np.linspace(1, 0, 12)])
    items = item_rest_correlations(rates)
    assert items.correlation == pytest.approx([-1, -1])
    assert items.p == pytest.approx([1 / math.factorial(12)] * 2)


def test_a_task_that_weaker_models_pass_stands_out() -> None:
    ability = np.linspace(0.1, 0.9, 40)
    rates = (np.random.default_rng(3).random((40, 30)) < ability[:, None]).astype(float)
    rates[:, 4] = 1 - rates[:, 4]
    items = item_rest_correlations(rates)
    assert np.nanargmin(items.correlation) == 4
    assert items.p[4] < 0.01
    assert items.high[4] < 0
    assert items.between_model_variance_share[4] < 0
    assert items.between_model_variance_share.sum() == pytest.approx(1)


def test_without_attempts_a_model_counts_for_nothing() -> None:
    rates = np.vstack([RATES, np.full(RATES.shape[1], 0.5)])
    rates[6, 1:] = np.nan
    items, all_items = item_rest_correlations(rates), item_rest_correlations(RATES)
    assert items.model_counts.tolist() == [7] + [6] * 8
    assert items.correlation[1:] == pytest.approx(all_items.correlation[1:], nan_ok=True)
    assert items.p[1:] == pytest.approx(all_items.p[1:], nan_ok=True)


@pytest.mark.parametrize("models", [1, 3])
def test_few_models_have_no_correlation(models: int) -> None:
    items = item_rest_correlations(RATES[:models])
    assert np.isnan(items.correlation).all()
    assert np.isnan(items.p).all()


def test_tasks_that_all_models_pass_have_none() -> None:
    rates = np.column_stack([np.ones(5), np.zeros(5), np.linspace(0, 1, 5), np.linspace(0, 1, 5)])
    items = item_rest_correlations(rates)
    assert np.isnan(items.correlation[:2]).all()
    assert items.between_model_variance_share.tolist() == [0, 0, 0.5, 0.5]
    assert np.isnan(item_rest_correlations(np.ones((5, 3))).between_model_variance_share).all()
