"""Limits of one task's rate, against scipy and brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from passk_cli.inference.binomial_rate import (
    further_passes_needed,
    rate_limits,
    rate_lower_limits,
)


@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_limits_are_those_of_clopper_and_pearson(n: int) -> None:
    low, high = rate_limits(n, np.arange(n + 1), 0.9)
    for c in range(n + 1):
        limits = binomtest(c, n).proportion_ci(0.9, "exact")
        assert (low[c], high[c]) == pytest.approx((limits.low, limits.high), abs=1e-12)


def test_where_all_attempts_agree_the_limit_that_is_left_has_half_the_error() -> None:
    low, high = rate_limits([3, 3, 1], [3, 0, 1])
    assert low.tolist() == pytest.approx([0.025 ** (1 / 3), 0, 0.025])
    assert high.tolist() == pytest.approx([1, 1 - 0.025 ** (1 / 3), 1])
    assert rate_limits(10**9, 0)[1] == pytest.approx(-math.log(0.025) / 10**9)


@pytest.mark.parametrize("n", [1, 3, 10])
def test_limits_are_wrong_no_more_often_than_their_level_allows(n: int) -> None:
    c = np.arange(n + 1)
    for rate in np.linspace(0.001, 0.999, 200):
        law = binom.pmf(c, n, rate)
        assert law[rate_lower_limits(n, c) > rate].sum() <= 0.05 + 1e-9
        assert law[1 - rate_lower_limits(n, n - c) < rate].sum() <= 0.05 + 1e-9
        low, high = rate_limits(n, c)
        assert law[(low > rate) | (high < rate)].sum() <= 0.05 + 1e-9


def test_passes_needed_is_the_first_number_that_shows_the_rate() -> None:
    for n, c in ((0, 0), (3, 3), (3, 2), (4, 1), (59, 59), (80, 80)):
        more = int(further_passes_needed(n, c, 0.9))
        reached = [m for m in range(150) if binom.sf(c + m - 1, n + m, 0.9) <= 0.05 + 1e-12]
        assert more == reached[0]


def test_passes_needed_agrees_with_the_lower_limit() -> None:
    n, c = np.array([5, 10, 30]), np.array([5, 8, 29])
    more = further_passes_needed(n, c, 0.7)
    assert np.all(rate_lower_limits(n + more, c + more) >= 0.7 - 1e-9)
    before = more[more > 0] - 1
    assert np.all(rate_lower_limits((n[more > 0] + before), c[more > 0] + before) < 0.7)


def test_invalid_parameters_are_refused() -> None:
    for n, c in ((0, 0), (2, 3), (2, -1)):
        with pytest.raises(ValueError, match="at every task, n must be"):
            rate_limits(n, c)
    with pytest.raises(ValueError, match="rate must be above 0"):
        further_passes_needed(1, 1, 1.0)
