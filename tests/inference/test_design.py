"""Designs: exact sums against fractions, pilots against every subset and every pilot."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passk_cli.errors import ParameterError
from passk_cli.inference.design import (
    AssumedMetricMoments,
    BetaRates,
    PilotEstimate,
    PlannedDifferenceMoments,
    budget_splits,
    cluster_excess_variance,
    fitted_beta_rates,
)
from passk_cli.inference.difference import difference_distribution
from passk_cli.metrics.registry import Metric, parse_metric

METRICS = [
    parse_metric(name) for name in ("pass@1", "pass@3", "pass^3", "pass^1", "pass@2", "pass^2")
]


def total(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def exact_value(metric: Metric, n: int, c: int) -> Fraction:
    k = metric.k
    if metric.family == "pass@":
        return 1 - Fraction(comb(n - c, k), comb(n, k))
    return Fraction(comb(c, k), comb(n, k))


def rising(start: Fraction, steps: int) -> Fraction:
    return math.prod((start + i for i in range(steps)), start=Fraction(1))


def exact_passes(a: Fraction, b: Fraction, n: int) -> list[Fraction]:
    """Beta-binomial probabilities."""
    return [comb(n, c) * rising(a, c) * rising(b, n - c) / rising(a + b, n) for c in range(n + 1)]


@pytest.mark.parametrize(
    ("a", "b"), [(3, 2), (Fraction(3, 10), Fraction(1, 2)), (Fraction(1, 50), 1)]
)
@pytest.mark.parametrize("n", [1, 5, 40])
def test_passes_against_fractions(a: Fraction, b: Fraction, n: int) -> None:
    a, b = Fraction(a), Fraction(b)
    mean = a / (a + b)
    spread = math.sqrt(mean * (1 - mean) / (a + b + 1))
    result = BetaRates(float(mean), spread).pass_count_probabilities(n)
    expected = [float(p) for p in exact_passes(a, b, n)]
    np.testing.assert_allclose(result, expected, rtol=1e-11)


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)
@pytest.mark.parametrize("n", [3, 4, 9])
def test_variance_of_assumed_rates_against_fractions(metric: Metric, n: int) -> None:
    a, b = Fraction(3, 10), Fraction(1, 2)
    mean = float(a / (a + b))
    values = AssumedMetricMoments(
        metric, BetaRates(mean, math.sqrt(mean * (1 - mean) / float(a + b + 1)))
    )
    weights = exact_passes(a, b, n)
    first = sum(w * exact_value(metric, n, c) for c, w in enumerate(weights))
    second = sum(w * exact_value(metric, n, c) ** 2 for c, w in enumerate(weights))
    assert values.expected == pytest.approx(float(first), rel=1e-12)
    assert values.variance(n) == pytest.approx(float(second - first**2), rel=1e-11)
    # The true value of a task is p^k or 1 − (1 − p)^k: E of its square is a moment of order 2k.
    left_side, right_side = (a, b) if metric.family == "pass^" else (b, a)
    moments = [
        rising(left_side, k) / rising(left_side + right_side, k) for k in (metric.k, 2 * metric.k)
    ]
    assert values.between_variance == pytest.approx(float(moments[1] - moments[0] ** 2), rel=1e-11)


def test_one_attempt_is_all_or_nothing() -> None:
    """k = 1: Var = Var(p) + E[p(1−p)]/n (Miller 2024)."""
    for mean, spread in ((0.6, 0.3), (0.1, 0.05), (0.5, 0.0), (0.5, 0.5), (0.3, 0.21**0.5)):
        values = AssumedMetricMoments(parse_metric("pass@1"), BetaRates(mean, spread))
        for n in (1, 2, 10, 1000):
            luck = mean * (1 - mean) - spread**2
            assert values.variance(n) == pytest.approx(spread**2 + luck / n, rel=1e-9, abs=1e-15)
        assert values.between_variance == pytest.approx(spread**2, abs=1e-15)


def test_ends_of_the_spread() -> None:
    """0: every task alike, the binomial; the largest: every rate 0 or 1, attempts add nothing."""
    equal = BetaRates(0.3, 0.0)
    np.testing.assert_allclose(
        equal.pass_count_probabilities(6),
        [comb(6, c) * 0.3**c * 0.7 ** (6 - c) for c in range(7)],
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        BetaRates(0.3, 1e-9).pass_count_probabilities(6),
        equal.pass_count_probabilities(6),
        rtol=1e-9,
    )
    largest = math.sqrt(0.6 * 0.4)
    for spread in (largest, 0.489898):
        two = AssumedMetricMoments(parse_metric("pass@5"), BetaRates(0.6, spread))
        assert (two.expected, two.within_variance(5)) == (
            pytest.approx(0.6),
            pytest.approx(0.0, abs=1e-12),
        )
        assert two.variance(50) == pytest.approx(0.24)
    close = AssumedMetricMoments(parse_metric("pass@5"), BetaRates(0.6, largest * (1 - 1e-5)))
    assert close.variance(50) == pytest.approx(0.24, rel=1e-3)


@pytest.mark.parametrize(
    ("mean", "spread", "message"),
    [
        (0.6, 0.49, r"and 0.4899 \(all rates are 0 or 1\); got 0.49"),
        (0.6, -0.1, "got -0.1"),
        (1.0, 0.0, "above 0 and below 1 .*; got 1"),
        (math.nan, 0.1, "above 0 and below 1 .*; got nan"),
        (0.5, math.nan, "got nan"),
    ],
)
def test_rates_that_cannot_be(mean: float, spread: float, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        BetaRates(mean, spread)


def subsets(n: int, c: int, size: int) -> list[int]:
    """Passes in every choice of so many of n attempts, the first c of which pass."""
    return [sum(i < c for i in subset) for subset in itertools.combinations(range(n), size)]


@pytest.mark.parametrize("metric", METRICS[:3], ids=lambda m: m.name)
@pytest.mark.parametrize("size", [3, 4, 6])
def test_pilot_with_fewer_attempts_against_every_subset(metric: Metric, size: int) -> None:
    """E V² over all subsets of each task's attempts, (E V)² over all pairs of tasks."""
    cells = [(6, 0), (6, 2), (7, 3), (6, 6), (8, 7)]
    pilot = PilotEstimate(metric, total(*(n for n, _ in cells)), total(*(c for _, c in cells)))
    squares = []
    for n, c in cells:
        result = [exact_value(metric, size, x) ** 2 for x in subsets(n, c, size)]
        squares.append(sum(result) / len(result))
    values = [exact_value(metric, n, c) for n, c in cells]
    pairs = [x * y for x, y in itertools.permutations(values, 2)]
    expected = sum(squares) / len(squares) - sum(pairs) / len(pairs)
    assert pilot.variance(size) == pytest.approx(float(expected), rel=1e-11)
    # At the pilot's own attempts it is the sample variance.
    same = PilotEstimate(metric, np.full(4, 6), total(0, 2, 3, 6))
    assert same.variance(6) == pytest.approx(float(same.task_values.var(ddof=1)), rel=1e-11)


def test_between_against_every_pair_of_groups() -> None:
    """Two separate groups of k attempts at one task, all ways to choose them."""
    for metric in METRICS[4:]:
        cells, k = [(5, 0), (5, 2), (5, 4)], metric.k
        products = []
        for n, c in cells:
            result = [
                exact_value(metric, k, sum(i < c for i in first))
                * exact_value(metric, k, sum(i < c for i in second))
                for first in itertools.combinations(range(n), k)
                for second in itertools.combinations(sorted(set(range(n)) - set(first)), k)
            ]
            products.append(sum(result) / len(result))
        values = [exact_value(metric, n, c) for n, c in cells]
        pairs = [x * y for x, y in itertools.permutations(values, 2)]
        expected = sum(products) / len(products) - sum(pairs) / len(pairs)
        pilot = PilotEstimate(metric, np.full(3, 5), total(0, 2, 4))
        assert pilot.is_between_variance_measured
        assert pilot.raw_between_variance == pytest.approx(float(expected), rel=1e-11)


@pytest.mark.parametrize("metric", METRICS[:3], ids=lambda m: m.name)
def test_pilots_are_unbiased(metric: Metric) -> None:
    """The mean over every pilot of two tasks is the truth, as far as the pilot reaches."""
    rates, n = BetaRates(0.4, 0.25), 2 * metric.k
    truth = AssumedMetricMoments(metric, rates)
    chance = rates.pass_count_probabilities(n)
    variance = between = 0.0
    for c, d in itertools.product(range(n + 1), repeat=2):
        pilot = PilotEstimate(metric, np.full(2, n), total(c, d))
        variance += chance[c] * chance[d] * pilot.variance(metric.k)
        between += chance[c] * chance[d] * pilot.raw_between_variance
    assert variance == pytest.approx(truth.variance(metric.k), rel=1e-10)
    assert between == pytest.approx(truth.between_variance, rel=1e-9)


def test_one_attempt_needs_no_model_beyond_the_pilot() -> None:
    """k = 1: between + within(n₀) n₀ / n, whatever the rates."""
    pilot = PilotEstimate(parse_metric("pass@1"), np.full(6, 4), total(0, 1, 1, 3, 4, 4))
    assert pilot.is_variance_measured_at(100)
    for n in (8, 100):
        assert pilot.variance(n) == pytest.approx(
            pilot.between_variance + pilot.within_variance(4) * 4 / n
        )


def test_carried_on_by_beta_rates() -> None:
    """A pilot that is as its model says is carried on as the model goes, and joins up at n₀."""
    rates = BetaRates(0.55, 0.3)
    times = (rates.pass_count_probabilities(6) * 20_000).round().astype(int)
    c = np.repeat(np.arange(7), times)
    for metric in (
        parse_metric("pass@4"),
        parse_metric("pass^4"),
        parse_metric("pass@2"),
    ):
        pilot, model = (
            PilotEstimate(metric, np.full(len(c), 6), c),
            AssumedMetricMoments(metric, rates),
        )
        assert not pilot.is_variance_measured_at(7)
        assert pilot.variance(7) < pilot.variance(6)
        for n in (6, 7, 20, 500):
            assert pilot.variance(n) == pytest.approx(model.variance(n), rel=2e-3)
        assert pilot.between_variance == pytest.approx(model.between_variance, rel=3e-3)


def test_one_attempt_per_task_gives_no_variance_of_more() -> None:
    pilot = PilotEstimate(parse_metric("pass@1"), np.ones(4, dtype=int), total(0, 1, 1, 0))
    assert pilot.fitted_beta_rates is None
    assert pilot.variance(1) == pytest.approx(1 / 3)
    assert math.isnan(pilot.variance(2))
    assert math.isnan(pilot.between_variance)
    pair = PlannedDifferenceMoments(pilot, pilot, 0.1)
    assert pair.variance(1) == pytest.approx(2 / 3 - 0.2)
    assert math.isnan(pair.variance(2))


def test_tasks_no_more_different_than_luck() -> None:
    """Where the estimate of `between` is negative it is 0, and the variance all luck."""
    pilot = PilotEstimate(parse_metric("pass@1"), np.full(4, 4), total(2, 2, 2, 1))
    assert pilot.raw_between_variance < 0
    assert pilot.between_variance == 0.0
    assert pilot.variance(8) == pytest.approx(pilot.variance(4) / 2)
    assert PlannedDifferenceMoments(pilot, pilot, 1.0).variance(8) == pytest.approx(
        pilot.variance(4)
    )


def test_difference_at_the_pilots_attempts_is_the_sample_variance() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(40)
    first, second = (
        PilotEstimate(parse_metric("pass@2"), np.full(40, 5), rng.binomial(5, p)) for _ in range(2)
    )
    pair = PlannedDifferenceMoments(
        first, second, float(np.cov(first.task_values, second.task_values)[0, 1])
    )
    assert pair.variance(5) == pytest.approx(
        float((first.task_values - second.task_values).var(ddof=1))
    )
    assert pair.variance(50) < pair.variance(5)


@given(
    st.lists(st.tuples(st.integers(1, 8), st.integers(0, 8)), min_size=2, max_size=8),
    st.integers(1, 4),
)
def test_distributions_of_pilots(cells: list[tuple[int, int]], k: int) -> None:
    n = total(*(max(n, k) for n, _ in cells))
    c = np.minimum(total(*(c for _, c in cells)), n)
    for family in ("pass@", "pass^"):
        pilot = PilotEstimate(Metric(family, k), n, c)
        result = [pilot.variance(size) for size in range(k, int(n.min()) + 1)]
        assert result == sorted(result, reverse=True) or np.diff(result).max() < 1e-12
        assert min(result) >= -1e-12
    # pass@k of the passes is one minus pass^k of the failures.
    mirrored = PilotEstimate(Metric("pass@", k), n, n - c)
    assert mirrored.variance(k) == pytest.approx(pilot.variance(k), abs=1e-12)
    for size in (9, 30):
        expected = pytest.approx(pilot.variance(size), abs=1e-9, nan_ok=True)
        assert mirrored.variance(size) == expected


def test_fitted_rates() -> None:
    assert fitted_beta_rates(total(1, 1), total(0, 1)) is None
    assert fitted_beta_rates(total(3, 3), total(3, 3)) is None
    two = fitted_beta_rates(total(5, 5), total(0, 5))
    assert two is not None
    assert two == BetaRates(0.5, 0.5)
    equal = fitted_beta_rates(total(4, 4), total(2, 2))
    assert equal == BetaRates(0.5, 0.0)


def test_relative_error_of_a_standard_deviation() -> None:
    rng = np.random.default_rng(1)
    draws = rng.beta(0.5, 0.8, size=(4000, 100))
    spread = draws.std(axis=1)
    messages = difference_distribution(draws[:200]).relative_error_of_standard_error.mean()
    assert messages == pytest.approx(spread.std() / spread.mean(), rel=0.1)


@given(st.integers(2, 5000), st.integers(1, 30), st.none() | st.integers(2, 300))
def test_splits_spend_the_budget(budget: int, least: int, most: int | None) -> None:
    result = budget_splits(budget, least, most)
    for tasks, n in result:
        assert tasks >= 2
        assert n >= least
        assert tasks * n <= budget
        assert tasks == min(budget // n, most or budget)
    assert bool(result) == (budget >= 2 * least)
    if result and most is not None and budget // most >= least:
        assert (most, budget // most) in result


def test_excess_of_clusters_against_all_pairs_of_tasks() -> None:
    """Σ over pairs of tasks in one cluster, written out in fractions."""
    values = [Fraction(x, 4) for x in (0, 1, 4, 4, 3, 0, 0, 2)]
    clusters = [0, 0, 1, 1, 1, 2, 2, 3]
    mean = sum(values) / 8
    together = sum(
        (values[s] - mean) * (values[t] - mean) / (8 - clusters.count(clusters[s]))
        for s, t in itertools.product(range(8), repeat=2) if clusters[s] == clusters[t]
    )  # fmt: skip
    single = sum((value - mean) ** 2 for value in values)
    expected = together - single / 7
    excess = cluster_excess_variance(np.array(values, float), np.array(clusters))
    assert excess == pytest.approx(float(expected), rel=1e-12)
    assert cluster_excess_variance(np.array([0.0, 1.0, 0.0, 1.0]), np.array([0, 0, 1, 1])) == 0.0
    assert cluster_excess_variance(np.array([0.0, 1.0, 0.5]), np.arange(3)) == pytest.approx(
        0.0, abs=1e-15
    )


@pytest.mark.parametrize("sizes", [(4, 4, 4), (1, 2, 9)])
def test_excess_of_clusters_is_that_of_a_mean(sizes: tuple[int, ...]) -> None:
    """T times the variance of a mean over clusters, in 600 samples of 60; the bound is 4 errors."""
    rng, runs = np.random.default_rng(11), 600
    of = np.repeat(np.arange(60), sizes * 20)
    shared = rng.beta(1, 1, (runs, 60))[:, of]
    values = rng.binomial(1, rng.beta(4 * shared + 0.01, 4 * (1 - shared) + 0.01)).astype(float)
    excess = np.array([cluster_excess_variance(item, of) for item in values])
    plan_errors = float((values.var(axis=1, ddof=1) + excess).mean())
    true = len(of) * float(values.mean(axis=1).var(ddof=1))
    assert plan_errors == pytest.approx(true, abs=4 * true * (2 / runs) ** 0.5)
    assert plan_errors > 1.5 * float(values.var())
