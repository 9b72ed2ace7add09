"""The variance of two models' true differences that a pilot estimates, against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from passk_cli.inference.design import (
    PilotEstimate,
    PlannedDifferenceMoments,
    true_difference_variance,
)
from passk_cli.metrics.registry import parse_metric
from tests.conftest import long_cases


@pytest.mark.long
@pytest.mark.parametrize("name", ["pass@2", *long_cases("pass@1", "pass^2")])
def test_luck_of_a_task_against_repeated_attempts(name: str) -> None:
    rng = np.random.default_rng(3)
    metric, p = parse_metric(name), rng.beta(1, 1, 40)
    pilots = [PilotEstimate(metric, np.full(40, 5), c) for c in rng.binomial(5, p, (2000, 40))]
    realised = np.var([pilot.task_values for pilot in pilots], axis=0).mean()
    assert np.mean([pilot.attempt_variances.mean() for pilot in pilots]) == pytest.approx(
        realised, rel=0.03
    )


def test_models_that_are_alike_differ_a_little_more_than_nothing() -> None:
    """The same rates: the variance of true differences is 0, and the estimate is small."""
    rng, metric = np.random.default_rng(4), parse_metric("pass@1")
    shares, same = [], 0
    for _ in range(100):
        p = rng.beta(1, 1, 50)
        first, second = (PilotEstimate(metric, np.full(50, 4), rng.binomial(4, p)) for _ in "ab")
        variance, low, high = true_difference_variance(first, second)
        assert 0 <= low < variance < high
        same += not low
        pair = PlannedDifferenceMoments(first, second, 0.0, variance)
        assert 0.5 < (pair.correlation or 0) <= 1
        shares.append(pair.variance(4) / (2 * (p * (1 - p)).mean() / 4))
    assert 0.95 < np.median(shares) < 1.6
    assert same > 90


def test_models_that_differ_are_estimated_as_they_are() -> None:
    rng, metric = np.random.default_rng(5), parse_metric("pass@1")
    p, q = rng.beta(1, 1, (2, 4000))
    first, second = (PilotEstimate(metric, np.full(4000, 4), rng.binomial(4, r)) for r in (p, q))
    variance, low, high = true_difference_variance(first, second)
    assert low < (p - q).var() < high
    assert variance == pytest.approx((p - q).var(), rel=0.1)


def test_pilots_without_repeats_give_no_variance() -> None:
    single = PilotEstimate(parse_metric("pass@1"), np.ones(9, int), np.arange(9) % 2)
    assert all(math.isnan(item) for item in true_difference_variance(single, single))


@pytest.mark.parametrize("c", [[0, 0, 0], [3, 3, 3], [0, 3, 0]])
def test_models_that_never_differ_have_no_variance(c: list[int]) -> None:
    pilot = PilotEstimate(parse_metric("pass@1"), np.full(3, 3), np.array(c))
    assert true_difference_variance(pilot, pilot) == (0.0, 0.0, 0.0)
