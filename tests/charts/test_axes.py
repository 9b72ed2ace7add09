"""Ranges, ticks, and labels that keep apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passk_cli.charts.axes import Axis, axis_from_values, spread_positions, tick_label_by_position

SHARES = st.floats(0, 1)


@given(st.lists(SHARES, min_size=1, max_size=20), st.floats(0.001, 0.1))
def test_spread_labels_keep_distance_and_order(places: list[float], least: float) -> None:
    moved = spread_positions(places, least)
    order = np.argsort(places, kind="stable")
    assert np.all(np.diff(np.array(moved)[order]) >= least - 1e-9)
    assert sum(moved) == pytest.approx(sum(places), abs=1e-9)
    if len(places) > 1 and np.diff(np.sort(places)).min() >= least:
        assert moved == pytest.approx(places)


@given(st.lists(st.floats(0.01, 1e6), min_size=2, max_size=9), st.booleans(), st.floats(0, 0.1))
def test_an_axis_contains_its_values_and_its_ticks(
    values: list[float], log: bool, room: float
) -> None:
    axis = axis_from_values(values, log=log, margin=room)
    for value in values:
        assert -1e-9 <= axis.position_of(value) <= 1 + 1e-9
        assert axis.value_at(axis.position_of(value)) == pytest.approx(value, rel=1e-6)
    places = list(
        tick_label_by_position(replace(axis, length=100), extent=lambda word: 5.0 * len(word))
    )
    assert all(-1e-9 <= place <= 100 + 1e-6 for place in places)
    assert 1 <= len(places) <= 12
    assert len(places) == 1 or np.diff(places).min() >= 5


def ticks(values: Iterable[float], room: float = 200, **more: Any) -> str:
    """The labels of an axis of 200 units. Their letters are 5.2 units wide."""
    axis = replace(axis_from_values(values, at_values=True, **more), length=room)
    return " ".join(tick_label_by_position(axis, extent=lambda word: 5.2 * len(word) + 4).values())


@pytest.mark.parametrize(
    ("values", "room", "words"),
    [
        ([1, 2, 4, 8], 200, "1 2 4 8"),
        ([*range(1, 11), 100], 200, "1 2 5 10 20 50 100"),
        ([*range(1, 11), 100], 60, "1 10 100"),
        ([1, 3, 10**9], 200, "1 3 1G"),
        ([*range(1, 20), 10**9], 200, "1 100 10,000 1M 100M"),
        ([1, 11.496243, 188.2169], 200, "1 2 5 10 20 50 100"),
        ([0.5, 11.496243, 20], 200, "5 10 15 20"),
        # Two or three labels fit in some cases, and only one fits in others.
        ([0.114742, 0.801092], 45, "0.2 0.8"),
        ([-0.211234, 0.221234], 50, "−0.2 0 0.2"),
        ([0.114742, 0.801092], 12, "0.8"),
    ],
)
def test_ticks_are_the_values_or_round_ones(values: list[float], room: float, words: str) -> None:
    assert ticks(values, room, log=None) == words


def test_an_axis_does_not_extend_below_zero() -> None:
    assert axis_from_values([0.0, 0.5], zero=True, margin=0.1) == axis_from_values([0.0, 0.55])


def test_uneven_values_give_way_to_round_ones() -> None:
    ks = [1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 16, 20]
    assert ticks(ks) == "1 5 10 15 20"
    assert ticks(range(1, 11)) == "1 2 3 4 5 6 7 8 9 10"
    assert ticks([0.2, 0.8, 1.0]) == "0.2 0.8 1"


def test_spread_labels_stay_inside_if_there_is_room() -> None:
    places = spread_positions([0.97, 0.98, 0.99], 0.05, 0.0, 1.0)
    assert places == pytest.approx([0.9, 0.95, 1.0])


def test_ticks_end_with_the_values_and_follow_the_given_places() -> None:
    def words(axis: Axis, wide: float = 2.0) -> list[str]:
        return list(tick_label_by_position(axis, extent=lambda text: wide * len(text)).values())

    attempts = Axis(1, 11, preferred_tick_values=tuple(range(1, 12)), length=30)
    assert words(attempts) == ["1", "3", "5", "7", "9", "11"]
    tasks = Axis(15, 394, log=True, required_ticks=(394,), length=28)
    assert words(tasks) == ["20", "50", "100", "394"]
    # Two labels with fixed places that touch each other do not move the other labels.
    assert words(replace(tasks, required_ticks=(393, 394), length=40)) == ["20", "50", "100", "200"]
    days = {run: f"10-{run + 9}" for run in range(1, 13)}
    runs = Axis(
        1, 12, preferred_tick_values=tuple(range(1, 13)), tick_label_by_value=days, length=60
    )
    assert words(runs) == ["10-11", "10-13", "10-15", "10-17", "10-19", "10-21"]
    assert words(replace(runs, length=40)) == ["10-12", "10-15", "10-18", "10-21"]
    assert words(replace(runs, required_ticks=(8,), length=40)) == ["10-13", "10-17", "10-21"]
    cost = Axis(0.0359, 0.0441, unit="$", length=90)
    assert words(cost) == ["$0.036", "$0.038", "$0.040", "$0.042", "$0.044"]
    assert words(Axis(0.1, 2, log=True, unit="$", length=90)) == [
        "$0.1",
        "$0.2",
        "$0.5",
        "$1",
        "$2",
    ]
