"""The boundary of looks: published tables, and the size that simulated looks keep."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from passk_cli.inference.alpha_spending import (
    SMALLEST_LOOK_ALPHA,
    alpha_spent,
    confidence_level_at_boundary,
    pass_fail_chances_at_last_look,
    z_boundaries,
)


@pytest.mark.parametrize(
    ("looks", "published"),
    [
        # Jennison & Turnbull 2000 and ldbounds (R), two-sided 5 %, equal steps.
        (1, [1.960]),
        (2, [2.963, 1.969]),
        (3, [3.710, 2.511, 1.993]),
        (5, [4.877, 3.357, 2.680, 2.290, 2.031]),
    ],
)
def test_the_published_boundaries(looks: int, published: list[float]) -> None:
    result = z_boundaries(tuple((at + 1) / looks for at in range(looks)), 0.05)
    assert [round(limit, 3) for limit in result] == pytest.approx(published, abs=0.0011)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("sizes", [range(10, 101, 10), (7, 30, 31, 64, 100)])
def test_looks_keep_the_level(alpha: float, sizes: range) -> None:
    """Simulated normal scores: crossings so far are what may be spent, at every look."""
    steps = np.random.default_rng(5).standard_normal((40_000, 100))
    places = np.array(sizes)
    score = np.cumsum(steps, axis=1)[:, places - 1] / np.sqrt(places)
    limits = np.array(z_boundaries(tuple(places / 100), alpha))
    crossed = np.maximum.accumulate(np.abs(score) >= limits, axis=1).mean(axis=0)
    for share, result in zip(places / 100, crossed, strict=True):
        error = np.sqrt(alpha / len(steps))
        assert result == pytest.approx(
            alpha_spent(share, alpha), abs=4 * error + SMALLEST_LOOK_ALPHA
        )


def test_a_look_that_may_spend_too_little_leaves_it_to_the_next() -> None:
    limits = z_boundaries((0.1, 0.15, 0.5, 1.0), 0.05)
    assert np.isinf(limits[:2]).all()
    assert limits[2:] == z_boundaries((0.5, 1.0), 0.05)


def test_one_look_at_the_end_is_an_ordinary_interval() -> None:
    assert confidence_level_at_boundary(z_boundaries((1.0,), 0.05)[0]) == pytest.approx(
        0.95, abs=1e-6
    )


def test_the_forecast_is_the_share_of_simulated_ends() -> None:
    draw, (away, error, share, final, prior) = np.random.default_rng(2), (0.04, 0.03, 0.4, 2.1, 0.1)
    expected = 1 / (1 + (error / prior) ** 2)
    truth = draw.normal(expected * away, error * expected**0.5, 200_000)
    remainder = draw.normal(truth, error * (share / (1 - share)) ** 0.5)
    z = (share * away + (1 - share) * remainder) / (error * share**0.5)
    up, down = pass_fail_chances_at_last_look(away, error, share, final, prior)
    assert (z >= final).mean() == pytest.approx(up, abs=0.005)
    assert (z <= -final).mean() == pytest.approx(down, abs=0.005)


def test_without_a_prior_the_estimate_is_taken_for_the_truth() -> None:
    up, _ = pass_fail_chances_at_last_look(0.05, 0.02, 0.5, 2.0, np.inf)
    assert up == pytest.approx(
        stats.norm.sf((2.0 * 0.5**0.5 * 0.02 - 0.05) / (0.5 * 0.02 * 2**0.5))
    )
    assert up > pass_fail_chances_at_last_look(0.05, 0.02, 0.5, 2.0, 0.1)[0]
