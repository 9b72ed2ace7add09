"""The frontier against its definition, ties, and leads over budgets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passk_cli.commands.cost.frontier import is_on_frontier, lead_crossings, pareto_frontier

tenths = st.integers(0, 4).map(lambda x: x / 10)
models = st.lists(st.tuples(tenths, tenths), min_size=1, max_size=6)


@given(models)
def test_on_the_frontier_nobody_is_as_good_in_both_and_better_in_one(
    every: list[tuple[float, float]],
) -> None:
    expected = [
        not any(
            second != own_values and second[0] <= own_values[0] and second[1] >= own_values[1]
            for second in every
        )
        for own_values in every
    ]  # fmt: skip
    cost, rate = np.array(every).T
    assert is_on_frontier(cost, rate).tolist() == expected
    # Rounding makes no difference of what is equal.
    assert is_on_frontier(cost * (1 + 1e-15), rate + 1e-16).tolist() == expected
    assert is_on_frontier(np.stack([cost, cost]), np.stack([rate, rate])).tolist() == [expected] * 2


def test_equal_models_are_on_in_every_resample() -> None:
    rng = np.random.default_rng(0)
    cost, rate = rng.lognormal(0, 1, (30, 1)), rng.integers(0, 2, (30, 1)).astype(float)
    alike = pareto_frontier(np.hstack([cost, cost]), np.hstack([rate, rate]), resamples=500)
    assert alike.on_frontier.tolist() == [True, True]
    assert alike.resample_share.tolist() == [1.0, 1.0]
    assert alike.p.tolist() == [1.0, 1.0]
    assert alike.dominating_rival_indices.tolist() == [-1, -1]


def test_a_model_that_is_dearer_and_worse_is_behind() -> None:
    rng = np.random.default_rng(1)
    task = rng.normal(size=(80, 1))
    cost = np.exp(0.5 * task + 0.2 * rng.normal(size=(80, 3))) * [1.0, 3.0, 3.1]
    rate = np.clip(0.5 + 0.1 * task + [0.0, 0.3, -0.2], 0, 1)
    places = pareto_frontier(cost, rate, resamples=500)
    assert places.on_frontier.tolist() == [True, True, False]
    assert places.resample_share[:2].tolist() == [1.0, 1.0]
    assert places.resample_share[2] == 0.0
    assert places.p[2] < 0.01
    assert places.dominating_rival_indices.tolist() == [-1, -1, 0]
    clusters = np.repeat(np.arange(40), 2)
    assert pareto_frontier(cost, rate, clusters, resamples=500).resample_share[2] == 0.0
    first = pareto_frontier(cost[:, :1], rate[:, :1], resamples=500)
    assert (first.on_frontier.tolist(), first.resample_share.tolist(), first.p.tolist()) == (
        [True],
        [1.0],
        [1.0],
    )


def curve(heights: list[float], tasks: int = 60, noise: float = 0.02) -> np.ndarray:
    rng = np.random.default_rng(len(heights))
    return np.clip(np.array(heights)[:, None] + noise * rng.normal(size=(1, tasks)), 0, 1)


def test_leads_and_crossings() -> None:
    budgets = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    flat = curve([0.4] * 5, noise=0.0)
    crossed = lead_crossings(budgets, flat, curve([0.1, 0.2, 0.4, 0.7, 0.8]), resamples=1000)
    assert [lead.leader_sign for lead in crossed.lead_ranges] == [1, 0, -1]
    assert crossed.crossing_ranges == ((2.0, 8.0, True),)
    assert 4.0 <= crossed.crossing_budgets[0] <= 8.0
    assert (
        (crossed.gap_band_low <= crossed.pass_rate_gaps)
        & (crossed.pass_rate_gaps <= crossed.gap_band_high)
    ).all()
    never = lead_crossings(budgets, flat, curve([0.1, 0.1, 0.2, 0.2, 0.2]), resamples=1000)
    assert (never.crossing_budgets, never.crossing_ranges, never.lead_ranges) == (
        (),
        (),
        ((1.0, 16.0, 1),),
    )
    twice = lead_crossings(budgets, flat, curve([0.1, 0.7, 0.7, 0.1, 0.1]), resamples=1000)
    assert twice.crossing_budgets == (2.0, 8.0)
    assert [row.is_certain for row in twice.crossing_ranges] == [True, True]
    alike = lead_crossings(budgets, flat, flat, resamples=1000)
    assert alike.lead_ranges == ((1.0, 16.0, 0),)
    assert [row.is_certain for row in alike.crossing_ranges] == [False]


def test_money_left_leaves_the_lead_open() -> None:
    budgets = np.array([1.0, 2.0])
    first, second = curve([0.5, 0.9], noise=0.0), curve([0.2, 0.2])
    crossings = lead_crossings(budgets, first, second, resamples=1000)
    assert crossings.lead_ranges == ((1.0, 2.0, 1),)
    tops = first, second + np.array([[0.0], [0.8]])
    open_ = lead_crossings(budgets, first, second, highest=tops, resamples=1000)
    assert open_.lead_ranges == ((1.0, 1.0, 1), (2.0, 2.0, 0))
    assert open_.gap_band_low[1] < 0 < open_.gap_band_high[1]
    assert open_.pass_rate_gaps == pytest.approx(crossings.pass_rate_gaps)
