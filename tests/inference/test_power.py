"""Power of the paired tests: statsmodels, exact McNemar, and simulated sign flips."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import multinomial
from statsmodels.stats.power import TTestPower

from passk_cli.inference.design import AssumedMetricMoments, BetaRates, PlannedDifferenceMoments
from passk_cli.inference.paired_tests import mcnemar, sign_flip_test
from passk_cli.inference.power import PairedTest, half_lattice_distance
from passk_cli.metrics.registry import parse_metric


@pytest.mark.parametrize("tasks", [2, 3, 30, 164, 10_000, 10**8])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_power_against_statsmodels(tasks: int, level: float) -> None:
    compared = 0
    for difference in (0.001, 0.05, 0.2, 0.5, 1.0):
        expected = TTestPower().power(difference, tasks, 1 - level)
        if not math.isnan(expected):  # scipy's noncentral t is, in places
            result = PairedTest(1.0, level).power(difference, tasks)
            assert result == pytest.approx(expected, abs=1e-9)
            compared += 1
    assert compared >= 2


def test_power_at_its_ends() -> None:
    test = PairedTest(1.0)
    assert test.power(0.0, 20) == pytest.approx(0.05)
    assert test.power(-0.5, 34) == test.power(0.5, 34)
    assert PairedTest(1.0, continuity_correction=1.0).power(0.01, 20) == pytest.approx(0.05)
    assert math.isnan(test.power(0.1, 1))
    assert math.isnan(PairedTest(math.nan).power(0.1, 10))
    sure = PairedTest(0.0)
    assert (sure.power(0.1, 10), sure.power(0.0, 10)) == (1.0, pytest.approx(0.05))
    assert PairedTest(1.0, variance_drop_per_squared_effect=1.0).power(1.0, 5) == 1.0


@given(
    st.floats(0.01, 0.5),
    st.floats(0.01, 1.0),
    st.floats(0.1, 0.99),
    st.sampled_from([0.0, 0.2, 1.0]),
    st.sampled_from([0.0, 1.0, 2.5]),
)
def test_needed_and_detectable_agree(
    difference: float, variance: float, expected: float, step: float, bend: float
) -> None:
    test = PairedTest(variance, continuity_correction=step, variance_drop_per_squared_effect=bend)
    tasks = test.tasks_needed(difference, expected)
    assert tasks is not None
    assert test.power(difference, tasks) >= expected
    if tasks > 2:
        assert test.power(difference, tasks - 1) < expected
        assert test.detectable_difference(tasks - 1, expected) > difference * (1 - 1e-9)
    least = test.detectable_difference(tasks, expected)
    assert least <= difference * (1 + 1e-9)
    assert test.power(least, tasks) == pytest.approx(expected, abs=1e-8)


def test_no_number_of_tasks() -> None:
    test = PairedTest(1.0)
    assert test.tasks_needed(0.0, 0.8) is None
    assert test.tasks_needed(1e-6, 0.8) is None
    assert PairedTest(math.nan).tasks_needed(0.1, 0.8) is None
    assert math.isnan(test.detectable_difference(1, 0.8))
    assert math.isnan(PairedTest(math.nan).detectable_difference(10, 0.8))
    sure = PairedTest(0.0, continuity_correction=1.0)
    assert (sure.tasks_needed(0.1, 0.8), sure.detectable_difference(10, 0.8)) == (11, 0.1)


def mcnemar_power(plus: float, minus: float, tasks: int) -> float:
    """Exact power of the exact test: over all numbers of tasks that only one model passes."""
    b, c = np.meshgrid(np.arange(tasks + 1), np.arange(tasks + 1))
    inside = b + c <= tasks
    b, c = b[inside], c[inside]
    chance = multinomial.pmf(
        np.stack([b, c, tasks - b - c], axis=1), tasks, [plus, minus, 1 - plus - minus]
    )
    return float(chance[mcnemar(b, c) <= 0.05].sum())


@pytest.mark.parametrize(("plus", "minus"), [(0.3, 0.12), (0.2, 0.08), (0.25, 0.15)])
def test_one_attempt_against_the_exact_power_of_mcnemar(plus: float, minus: float) -> None:
    """The lattice step is the continuity correction of the exact test."""
    variance = plus + minus - (plus - minus) ** 2
    expected = mcnemar_power(plus, minus, 100)
    result = PairedTest(variance, continuity_correction=half_lattice_distance(1, 1)).power(
        plus - minus, 100
    )
    assert result == pytest.approx(expected, abs=0.015)
    assert PairedTest(variance).power(plus - minus, 100) > expected + 0.04


def test_two_models_around_a_common_value() -> None:
    """One attempt each, independent: Var = 2 E(1−E) − δ²/2 exactly, which is what `bend` says."""
    expected, difference = 0.7, 0.3
    high, low = expected + difference / 2, expected - difference / 2
    exact = high * (1 - high) + low * (1 - low)
    equal, bend = 2 * expected * (1 - expected), 1 / (4 * expected * (1 - expected))
    assert equal * (1 - bend * difference**2) == pytest.approx(exact)
    bent, plain = PairedTest(equal, variance_drop_per_squared_effect=bend), PairedTest(exact)
    assert bent.power(difference, 40) == pytest.approx(plain.power(difference, 40))


def test_lattice_steps() -> None:
    assert [half_lattice_distance(5, k) for k in (1, 2, 4, 5)] == [0.2, 0.1, 0.2, 1.0]
    assert half_lattice_distance(100_000, 50_000) == 0.0


@pytest.mark.long
def test_power_against_simulated_sign_flips() -> None:
    """100 tasks, ten attempts, the models apart: within 3 points (Monte-Carlo error 0.9)."""
    rng, n, tasks, comparisons = np.random.default_rng(5), 10, 100, 2000
    rates = BetaRates(0.6, 0.3)
    for name in ("pass@1", "pass@5"):
        metric = parse_metric(name)
        values = AssumedMetricMoments(metric, rates)
        variance = PlannedDifferenceMoments(values, values, 0.0).variance(n)
        bend = 1 / (4 * values.expected * (1 - values.expected))
        test = PairedTest(
            variance,
            continuity_correction=half_lattice_distance(n, metric.k),
            variance_drop_per_squared_effect=bend,
        )
        difference = test.detectable_difference(tasks, 0.8)
        table = metric.values(np.full(n + 1, n), np.arange(n + 1))
        draws = []
        for expected in (values.expected + difference / 2, values.expected - difference / 2):
            moved = moved_to(expected, values).rates
            size = moved.mean * (1 - moved.mean) / moved.spread**2 - 1
            p = rng.beta(moved.mean * size, (1 - moved.mean) * size, (tasks, comparisons))
            draws.append(table[rng.binomial(n, p)])
        result = (sign_flip_test(draws[0] - draws[1], resamples=1000).p <= 0.05).mean()
        assert result == pytest.approx(0.8, abs=0.03)


def moved_to(expected: float, values: AssumedMetricMoments) -> AssumedMetricMoments:
    """The metric at the mean rate that is expected to give this, attempts as much alike."""

    def at(mean: float) -> AssumedMetricMoments:
        spread = math.sqrt(values.rates.intraclass_correlation * mean * (1 - mean))
        return AssumedMetricMoments(values.metric, BetaRates(mean, spread))

    return at(brentq(lambda mean: at(mean).expected - expected, 1e-4, 1 - 1e-4))
