"""Flips of the values of models, and of the differences of their pairs: the same p-values."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from passk_cli.inference.differences import Differences
from passk_cli.inference.max_t import max_t, max_t_of_each
from passk_cli.inference.paired import sign_flip


def pairs_of(values: np.ndarray) -> Differences:
    places = np.array(list(combinations(range(values.shape[1]), 2)))
    return Differences(values, places[:, 0], places[:, 1])


@pytest.mark.parametrize("tasks", [1, 3, 12, 40])
@pytest.mark.parametrize("attempts", [1, 5])
def test_p_values_are_those_of_the_columns(tasks: int, attempts: int) -> None:
    rng = np.random.default_rng([tasks, attempts])
    values = rng.binomial(attempts, rng.random((tasks, 7))) / attempts
    values[:, 1] = values[:, 0]
    several = pairs_of(values)
    for mid in (False, True):
        draws = {"resamples": 500, "mid": mid}
        one, other = sign_flip(several, **draws), sign_flip(several.columns, **draws)
        assert one.p.tolist() == other.p.tolist()
        assert one.smallest.tolist() == other.smallest.tolist()
    assert max_t(several, resamples=500).tolist() == max_t(several.columns, resamples=500).tolist()


def test_families_of_both_kinds() -> None:
    rng = np.random.default_rng(3)
    several = [pairs_of(rng.random((20, 4))) for _ in range(2)]
    as_columns = [each.columns for each in several]
    expected = [p.tolist() for p in max_t_of_each(as_columns, resamples=300)]
    for families in (several, [several[0], as_columns[1]]):
        assert [p.tolist() for p in max_t_of_each(families, resamples=300)] == expected


@pytest.mark.parametrize("far", [1e12, np.nan])
def test_values_that_one_scale_does_not_fit(far: float) -> None:
    """A tiny difference beside a huge score keeps its sign and its p."""
    values = np.array([[0.0, 1e-6, far], [0.0, 1e-6, far], [0.0, 2e-6, far], [0.0, 1e-6, 1.0]])
    several = pairs_of(values)
    assert several.whole() is None
    assert sign_flip(several).p[0] == sign_flip(several.columns).p[0] == 0.125
