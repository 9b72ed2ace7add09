"""Lines through pass@k: exact where the data is one, and what has no height."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passk_cli.laws.scaling import KINDS, fit, spaced

KS = np.array([1, 2, 5, 10, 20])


@given(st.sampled_from(list(KINDS)), st.floats(-3, 3), st.floats(0.05, 1.5))
def test_a_line_is_found_again(kind: str, intercept: float, slope: float) -> None:
    slope = -slope if kind == "power" else slope
    height = intercept + slope * np.log(KS)
    pass_at = 1 / (1 + np.exp(-height)) if kind == "log-logit" else np.exp(-np.exp(height))
    line = fit(kind, KS, pass_at[None])
    assert line.intercept[0] == pytest.approx(intercept, abs=1e-6)
    assert line.slope[0] == pytest.approx(slope, abs=1e-6)
    np.testing.assert_allclose(1 - line.failure(KS)[0], pass_at, atol=1e-9)


def test_least_squares_is_numpys() -> None:
    rng = np.random.default_rng(0)
    pass_at = np.sort(rng.uniform(0.05, 0.95, (3, len(KS))), axis=1)
    line = fit("log-logit", KS, pass_at)
    for i in range(3):
        slope, intercept = np.polyfit(np.log(KS), np.log(pass_at[i] / (1 - pass_at[i])), 1)
        assert (line.slope[i], line.intercept[i]) == pytest.approx((slope, intercept))


def test_values_without_a_height_are_left_out() -> None:
    with_ends = np.array([[0.0, 0.2, 0.4, 0.6, 1.0]])
    line = fit("power", KS, with_ends)
    inside = fit("power", KS[1:4], with_ends[:, 1:4])
    assert line.slope[0] == pytest.approx(inside.slope[0])
    lost = fit("log-logit", KS, np.array([[0.0, 0.0, 0.5, 1.0, 1.0], [0.1, 0.2, 0.3, 0.4, 0.5]]))
    assert np.isnan(lost.failure([100])).ravel().tolist() == [True, False]


def test_small_failures_keep_their_digits() -> None:
    line = fit("power", KS, np.exp(-np.exp(1 - 2.0 * np.log(KS)))[None])
    assert line.failure([1e8])[0, 0] == pytest.approx(np.e * 1e-16, rel=1e-6)


def test_spaced() -> None:
    assert spaced(1).tolist() == [1]
    for top in (7, 100, 10_000):
        ks = spaced(top)
        assert (ks[0], ks[-1]) == (1, top)
        assert len(ks) <= 24
