"""Ranges, ticks, and labels that keep apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passk_cli.charts.axes import Axis, apart, span

SHARES = st.floats(0, 1)


@given(st.lists(SHARES, min_size=1, max_size=20), st.floats(0.001, 0.1))
def test_apart_keeps_distance_and_order(places: list[float], least: float) -> None:
    moved = apart(places, least)
    order = np.argsort(places, kind="stable")
    assert np.all(np.diff(np.array(moved)[order]) >= least - 1e-9)
    assert sum(moved) == pytest.approx(sum(places), abs=1e-9)
    if len(places) > 1 and np.diff(np.sort(places)).min() >= least:
        assert moved == pytest.approx(places)


@given(st.lists(st.floats(0.01, 1e6), min_size=2, max_size=9), st.booleans(), st.floats(0, 0.1))
def test_an_axis_holds_its_values_and_its_ticks(
    values: list[float], log: bool, room: float
) -> None:
    axis = span(values, log=log, margin=room)
    for value in values:
        assert -1e-9 <= axis.place(value) <= 1 + 1e-9
        assert axis.at(axis.place(value)) == pytest.approx(value, rel=1e-6)
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks)
    gaps = np.diff([axis.place(tick) for tick in axis.ticks])
    assert len(axis.ticks) <= 12
    assert len(gaps) == 0 or gaps.min() >= 0.045


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([1, 2, 4, 8], (1, 2, 4, 8)),
        ([*range(1, 11), 100], (1, 2, 5, 10, 20, 50, 100)),
        ([1, 3, 10**9], (1, 3, 10**9)),
        ([*range(1, 20), 10**9], tuple(10**i for i in range(10))),
        ([1, 11.496243, 188.2169], (1, 2, 5, 10, 20, 50, 100)),
        ([0.5, 11.496243, 20], ()),
    ],
)
def test_ticks_are_the_values_or_round_ones(values: list[float], ticks: tuple[float, ...]) -> None:
    assert span(values, log=None, at_values=True).ticks == ticks


def test_room_is_not_made_below_zero() -> None:
    assert span([0.0, 0.5], zero=True, margin=0.1) == Axis(0.0, 0.55)


def test_uneven_values_give_way_to_round_ones() -> None:
    ks = [1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 16, 20]
    assert span(ks, at_values=True).ticks == (1, 5, 10, 15, 20)
    assert span(range(1, 11), at_values=True).ticks == tuple(range(1, 11))
    assert span([0.2, 0.8, 1.0], at_values=True).ticks == (0.2, 0.8, 1)


def test_apart_stays_inside_where_there_is_room() -> None:
    places = apart([0.97, 0.98, 0.99], 0.05, 0.0, 1.0)
    assert places == pytest.approx([0.9, 0.95, 1.0])
