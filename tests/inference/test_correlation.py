"""What a pilot tells of the correlation of two models' true values, against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from passk_cli.inference.design import Piloted, between_error, tells_apart, true_correlation
from passk_cli.metrics.registry import parse
from tests.conftest import long


@pytest.mark.parametrize("name", ["pass@2", *long("pass@1", "pass^2")])
def test_error_of_between_against_repeated_pilots(name: str) -> None:
    rng = np.random.default_rng(3)
    p = rng.beta(2, 2, (400, 60))
    pilots = [Piloted(parse(name), np.full(60, 5), c) for c in rng.binomial(5, p)]
    spread = np.std([pilot.raw_between for pilot in pilots])
    assert np.mean([between_error(pilot) for pilot in pilots]) == pytest.approx(spread, rel=0.12)


def test_equal_tasks_are_seldom_told_apart_and_unequal_ones_nearly_always() -> None:
    rng = np.random.default_rng(4)
    for p, low, high in (
        (np.full((150, 40), 0.6), 0.0, 0.13),
        (rng.beta(1, 1, (150, 40)), 0.96, 1),
    ):
        told = [
            tells_apart(Piloted(parse("pass@3"), np.full(40, 5), c)) for c in rng.binomial(5, p)
        ]
        assert low <= np.mean(told) <= high


def test_single_attempts_tell_nothing_apart() -> None:
    assert not tells_apart(Piloted(parse("pass@1"), np.ones(9, int), np.arange(9) % 2))


def test_luck_is_taken_out_of_the_correlation() -> None:
    """Two models with the very same rates correlate by 1, whatever luck does."""
    rng = np.random.default_rng(5)
    p = rng.beta(1, 1, 4000)
    one, other = (Piloted(parse("pass@1"), np.full(4000, 4), rng.binomial(4, p)) for _ in "ab")
    covariance = float(np.cov(one.values, other.values)[0, 1])
    assert true_correlation(one, other, covariance) == pytest.approx(1, abs=0.03)
    assert np.corrcoef(one.values, other.values)[0, 1] < 0.85
    equal = Piloted(parse("pass@1"), np.full(4, 4), np.array([2, 2, 2, 1]))
    assert math.isnan(true_correlation(equal, one, 0.1))
    assert true_correlation(one, one, one.between * (1 + 1e-12)) == 1.0
