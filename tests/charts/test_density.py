"""Tests of the smoothed density: a comparison with scipy, and properties for any draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gaussian_kde

from passk_cli.charts.density import density


def test_density_equals_scipy_far_from_its_ends() -> None:
    draws = np.random.default_rng(1).normal(0.5, 0.02, 10_000)
    places, heights = density(draws)
    quarter, three = np.quantile(draws, (0.25, 0.75))
    bandwidth = 0.9 * min(draws.std(), (three - quarter) / 1.349) * len(draws) ** -0.2
    reference = gaussian_kde(draws, bandwidth / draws.std(ddof=1))(places)
    inner = slice(8, -8)
    assert heights[inner] == pytest.approx(reference[inner], abs=0.01 * reference.max())


def test_density_of_a_uniform_is_flat_at_its_ends() -> None:
    """What kernels put outside is reflected; without that the ends are half as high."""
    _, heights = density(np.linspace(0, 1, 20_001))
    assert heights == pytest.approx(np.ones(97), abs=0.01)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=60).filter(lambda v: max(v) - min(v) > 1e-6))
def test_density_has_area_one(values: list[float]) -> None:
    places, heights = density(np.array(values), points=2049)
    assert np.trapezoid(heights, places) == pytest.approx(1, abs=0.02)
    assert heights.min() >= 0
    gap = np.median(np.diff(np.unique(np.round(values, 9))))
    for end, least in ((places[0] - min(values), -gap / 2), (max(values) - places[-1], -gap / 2)):
        assert least - 1e-6 <= end <= 0


def test_equal_draws_have_no_density() -> None:
    places, heights = density(np.full(100, 0.3))
    assert len(places) == len(heights) == 0


def test_draws_that_differ_by_rounding_have_no_density() -> None:
    # Bootstrap means of ones: no 512 bins fit between 1 − 2⁻⁵³ and 1 + 2⁻⁵².
    places, heights = density(np.array([1 - 2.0**-53, 1.0, 1 + 2.0**-52] * 100))
    assert len(places) == len(heights) == 0


@pytest.mark.parametrize("rate", [0.3, 0.97])
def test_means_of_zeros_and_ones_have_one_peak(rate: float) -> None:
    """Their values are multiples of 1/40, between which there is nothing."""
    draws = np.random.default_rng(0).binomial(40, rate, 10_000) / 40
    places, heights = density(draws)
    turns = np.diff(np.sign(np.diff(heights[heights > 0.01 * heights.max()])))
    assert np.count_nonzero(turns) <= 1
    assert np.trapezoid(heights, places) == pytest.approx(1, abs=0.01)
    assert places[0] == pytest.approx(draws.min() - 1 / 80)


def test_density_stays_within_the_possible_values() -> None:
    """Shares of 12 tasks: half a gap beyond 0 and 1 there is nothing."""
    draws = np.random.default_rng(0).binomial(12, 0.1, 10_000) / 12
    for values, end in ((draws, 0), (1 - draws, -1)):
        places, heights = density(values, within=(0.0, 1.0))
        assert places[end] == pytest.approx(-end)
        assert np.trapezoid(heights, places) == pytest.approx(1, abs=0.01)
