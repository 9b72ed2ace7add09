"""Holm and Benjamini–Hochberg against statsmodels, and by law."""

from __future__ import annotations

from itertools import combinations
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from passk_cli.inference.adjust import ADJUSTMENTS, benjamini_hochberg, holm, unadjusted

families = st.lists(
    st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.05, 1.0]), min_size=1, max_size=60
)
ELSEWHERE = {"holm": "holm", "bh": "fdr_bh"}


@settings(deadline=None)
@pytest.mark.parametrize("name", ELSEWHERE)
@given(p=families)
def test_equal_to_statsmodels(name: str, p: list[float]) -> None:
    # Its Holm collects garbage at every call, which takes longer the more tests went before.
    with mock.patch("gc.collect"):
        expected = multipletests(p, method=ELSEWHERE[name])[1]
    np.testing.assert_allclose(ADJUSTMENTS[name](p), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", ADJUSTMENTS)
@given(p=families, data=st.data())
def test_properties(name: str, p: list[float], data: st.DataObject) -> None:
    adjust = ADJUSTMENTS[name]
    adjusted = adjust(p)
    assert np.all(adjusted >= p)
    assert np.all(adjusted <= 1)
    order = np.argsort(p, kind="stable")
    assert np.all(np.diff(adjusted[order]) >= 0)
    shuffled = np.array(data.draw(st.permutations(range(len(p)))))
    np.testing.assert_array_equal(adjust(np.array(p)[shuffled]), adjusted[shuffled])
    for value in set(p):
        assert len(set(adjusted[np.array(p) == value])) == 1


@pytest.mark.parametrize("name", ADJUSTMENTS)
@given(p=families, gaps=st.lists(st.integers(0, 60), max_size=5))
def test_nan_stays_and_does_not_count(name: str, p: list[float], gaps: list[int]) -> None:
    holed = np.insert(p, [min(gap, len(p)) for gap in gaps], np.nan)
    adjusted = ADJUSTMENTS[name](holed)
    np.testing.assert_array_equal(np.isnan(adjusted), np.isnan(holed))
    np.testing.assert_array_equal(adjusted[~np.isnan(holed)], ADJUSTMENTS[name](p))


def test_the_example_of_benjamini_and_hochberg() -> None:
    # Benjamini & Hochberg 1995, section 4: 15 hypotheses, 4 rejected at q = .05 by theirs, 3 by
    # Holm's (as by Bonferroni's and Hochberg's).
    p = [.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344, .0459, .3240, .4262, .5719,
         .6528, .7590, 1.0]  # fmt: skip
    assert np.count_nonzero(benjamini_hochberg(p) <= 0.05) == 4
    assert np.count_nonzero(holm(p) <= 0.05) == 3


@pytest.mark.parametrize("name", ADJUSTMENTS)
def test_shapes_and_bad_values(name: str) -> None:
    adjust = ADJUSTMENTS[name]
    square = np.array([[0.01, 0.2], [0.03, np.nan]])
    np.testing.assert_array_equal(adjust(square), adjust(square.ravel()).reshape(2, 2))
    np.testing.assert_array_equal(adjust(square.T), adjust(square).T)
    assert adjust([]).shape == (0,)
    assert adjust(0.3).tolist() == 0.3
    assert np.isnan(adjust([np.nan, np.nan])).all()
    for value in (-0.1, 1.1, np.inf):
        with pytest.raises(ValueError, match="between 0 and 1"):
            adjust([0.5, value])


def test_the_argument_is_not_changed() -> None:
    p = np.array([0.04, 0.01])
    unadjusted(p)[0] = 9
    holm(p)[0] = 9
    benjamini_hochberg(p)[0] = 9
    assert p.tolist() == [0.04, 0.01]


def by_closed_testing(p: list[float], smallest: list[float]) -> list[float]:
    """The definition: the largest, over all sets a test is in, of the sets' own p-values."""
    tests, adjusted = range(len(p)), [0.0] * len(p)
    for size in range(1, len(p) + 1):
        for together in combinations(tests, size):
            least = min(p[i] for i in together)
            rows = min(1.0, least * sum(smallest[i] <= least for i in together))
            for i in together:
                adjusted[i] = max(adjusted[i], rows)
    return adjusted


shares = st.sampled_from([0.001, 0.004, 0.01, 0.03, 0.05, 0.3, 1.0])


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(shares, shares), min_size=1, max_size=7))
def test_tests_that_cannot_reject_do_not_count(pairs: list[tuple[float, float]]) -> None:
    p, smallest = [max(pair) for pair in pairs], [min(pair) for pair in pairs]
    np.testing.assert_allclose(holm(p, smallest), by_closed_testing(p, smallest), rtol=1e-12)
    assert np.all(holm(p, smallest) <= holm(p))
    np.testing.assert_array_equal(holm(p, np.zeros(len(p))), holm(p))


def test_tarone_by_hand() -> None:
    # Tarone 1990: K is the smallest number with #{smallest ≤ α/K} ≤ K; what is ≤ α/K is rejected.
    p, smallest = [0.016, 0.02, 0.5, 0.6, 1.0], [0.005, 0.015, 0.03, 0.2, 1.0]
    assert np.count_nonzero(holm(p) <= 0.05) == 0
    np.testing.assert_allclose(holm(p, smallest), [0.032, 0.032, 1.0, 1.0, 1.0])
    holed = holm([0.016, np.nan, 1.0], [0.005, np.nan, 1.0])
    np.testing.assert_array_equal(holed, [0.016, np.nan, 1.0])
    with pytest.raises(ValueError, match="smallest p"):
        holm([0.01], [0.02])
