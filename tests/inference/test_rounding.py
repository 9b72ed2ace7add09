"""Numbers that are rounding: no processor's is told from another's."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.guards import GUARD
from passk_cli.commands.plan.interval_widths import guard_interval_widths
from passk_cli.inference.intervals import (
    METHODS,
    IntervalData,
    guard_atom_weights,
    interval,
    intervals,
    total_distances_to_bound,
)
from passk_cli.inference.populations import NEW_TASKS

TINY = [1e-17, 1e-160, 1e-250, 1e-300, 1e-307]


@pytest.mark.parametrize("scale", [*TINY, 1e200])
def test_weights_depend_only_on_ratios(scale: float) -> None:
    """4e-253 is not 0, and its square is."""
    away, all_ones = np.array([0.0, 0.1, 0.25, 1.0]), np.ones(4)
    usual = guard_atom_weights(away, all_ones, all_ones)
    assert guard_atom_weights(scale * away, all_ones, all_ones) == pytest.approx(usual, rel=1e-9)
    # The largest distance counts where a task has it.
    nothing = np.array([1.0, 1.0, 1.0, 0.0])
    assert guard_atom_weights(scale * away, all_ones, nothing) == pytest.approx(
        guard_atom_weights(away[:3], all_ones[:3], nothing[:3]), rel=1e-9
    )


def test_weights_of_the_smallest_numbers() -> None:
    all_ones = np.ones(2)
    for scale in (1e-308, 1e-310, 1e-315, 1e-320, 5e-324):
        assert guard_atom_weights(np.array([0.0, scale]), all_ones, all_ones) == pytest.approx(0.93)


@pytest.mark.parametrize("scale", [*TINY, 1e-315, 1e-320])
def test_values_at_a_bound_but_for_rounding(scale: float) -> None:
    """Noise beside a bound has ratios too, which are not looked at."""
    noise = scale * np.array([0.0, 1.0, 2.0, 3.0, 5.0, 8.0])
    assert (
        total_distances_to_bound(noise, np.ones(6), bound=0.0, opposite=1.0).tolist() == [0.0] * 6
    )
    assert GUARD.weight(IntervalData(noise), 0.0) == 0.93
    shares = np.full(6, 1 / 6)
    assert guard_interval_widths(noise, shares, 40) == pytest.approx(
        guard_interval_widths(0 * noise, shares, 40)
    )
    for values, exact in ((noise, np.zeros(6)), (1.0 - noise, np.ones(6))):
        for method, expected in METHODS.items():
            if NEW_TASKS not in expected.populations:
                continue
            first, second = (
                interval(IntervalData(values), method),
                interval(IntervalData(exact), method),
            )
            assert (first.low, first.high) == pytest.approx((second.low, second.high), abs=1e-12)
            assert first.reason == second.reason or not exact.any()
        first, second = intervals([IntervalData(values), IntervalData(exact)], "guard")
        assert (first.low, first.high) == pytest.approx((second.low, second.high), abs=1e-12)


def test_a_sum_in_another_order_is_not_a_spread() -> None:
    values = np.array([0.3, 0.1 + 0.2, 0.3])
    assert np.ptp(values) > 0
    assert IntervalData(values).all_equal
    assert IntervalData(values, attempt_variances=np.full(3, 0.05)).attempt_variance_share is None
    assert interval(IntervalData(values)).reason == "every task has the value 0.3"
    assert not IntervalData(np.array([0.3, 0.3, 0.3 + 1e-9])).all_equal
    assert IntervalData(np.zeros(3)).all_equal
