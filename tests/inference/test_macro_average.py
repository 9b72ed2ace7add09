"""Macro averages: fractions, simulation, and what goes wrong."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passk_cli.inference.macro_average import macro_average


def test_mean_and_variance_are_the_fractions() -> None:
    means, ses = [Fraction(1, 5), Fraction(3, 5), Fraction(1)], [Fraction(1, 20)] * 3
    average = macro_average(
        [float(m) for m in means], [float(s) for s in ses], [0.1, 0.5, 0.9], [0.3, 0.7, 1.0]
    )
    assert average.mean == pytest.approx(float(sum(means) / 3), abs=1e-15)
    assert average.se**2 == pytest.approx(float(3 * ses[0] ** 2 / 9), abs=1e-15)


def test_normal_limits_give_the_normal_limits_of_the_average() -> None:
    means, ses, weights = np.array([0.3, 0.6]), np.array([0.04, 0.02]), np.array([3.0, 1.0])
    average = macro_average(means, ses, means - 1.96 * ses, means + 1.96 * ses, weights)
    assert average.mean == pytest.approx(0.375)
    assert average.se == pytest.approx(np.hypot(0.75 * 0.04, 0.25 * 0.02))
    assert average.high - average.mean == pytest.approx(1.96 * average.se)


def test_squares_of_distances_cut_off_at_a_bound_do_not_shrink_the_sum() -> None:
    """Two groups with one failure in 150 each: no lower rate than Poisson's of two failures."""
    mean, se, high = 1 - 1 / 150, 1 / 150, 1 - 0.0253 / 150
    average = macro_average([mean] * 2, [se] * 2, [0.96] * 2, [high] * 2)
    poisson = 1 - 0.2422 / 300
    assert poisson < average.high <= high


def test_groups_that_share_tasks_add_up_without_squares() -> None:
    average = macro_average([0.2, 0.4], [0.01, 0.03], [0.1, 0.3], [0.3, 0.6], independent=False)
    assert average == pytest.approx((0.3, 0.02, 0.2, 0.45))


def test_one_group_is_itself() -> None:
    assert macro_average([0.5], [0.1], [0.2], [0.9]) == pytest.approx((0.5, 0.1, 0.2, 0.9))


GROUPS = st.lists(st.tuples(*[st.floats(0, 1)] * 3).map(sorted), min_size=1, max_size=6)


@given(GROUPS, st.booleans())
def test_limits_stay_within_those_of_the_groups(groups: list[list[float]], single: bool) -> None:
    lows, means, highs = zip(*groups, strict=True)
    average = macro_average(means, [0.0] * len(means), lows, highs, independent=single)
    assert np.mean(lows) - 1e-12 <= average.low <= average.mean + 1e-12
    assert average.mean - 1e-12 <= average.high <= np.mean(highs) + 1e-12


@pytest.mark.parametrize(("means", "weights"), [([], None), ([0.5], [0.0]), ([0.5, 0.5], [2, -1])])
def test_invalid_groups_and_weights_are_refused(
    means: list[float], weights: list[float] | None
) -> None:
    with pytest.raises(ValueError, match="needs at least one group"):
        macro_average(means, means, means, means, weights)


def test_a_group_without_a_number_leaves_none() -> None:
    average = macro_average([0.5, np.nan], [0.1, 0.1], [0.4, 0.4], [0.6, 0.6])
    assert np.isnan(average.mean)
