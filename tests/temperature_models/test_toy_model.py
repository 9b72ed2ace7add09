"""The toy model against brute force, exact rules and the numbers of the article."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passk_cli.errors import ParameterError
from passk_cli.temperature_models.toy_model import (
    FIT_PASS_AT_K_RANGE,
    GRID_KS,
    GRID_TASK_SCALES,
    TASK_FAMILIES,
    ToyTasks,
    best_temperatures,
    expected_pass_at_k,
    exponential_tasks,
    fit_best_temperature_power_law,
    gaussian_tasks,
    log_probability,
    power_law_tasks,
    second_moment_of_generations,
    tasks_of_spread,
    temperature_at_second_moment,
)
from tests.conftest import long_cases

getcontext().prec = 60


@pytest.mark.parametrize("temperature", [1e-3, 0.01, 0.1, 0.159, 0.16, 0.5, 1.0, 7.3, 100.0])
def test_normalisation_against_60_digits(temperature: float) -> None:
    """Σ exp(−g²/2T) over |g| ≤ 40 √T + 5, which leaves out less than exp(−800)."""
    t, reach = Decimal(temperature), math.ceil(40 * math.sqrt(temperature)) + 5
    terms = [(g, (-Decimal(g * g) / (2 * t)).exp()) for g in range(-reach, reach + 1)]
    total = sum(term for _, term in terms)
    moment = sum(g * g * term for g, term in terms) / total
    assert second_moment_of_generations(temperature) == pytest.approx(float(moment), rel=1e-13)
    for c in (0, 1, 2, 5):
        exact = float(-Decimal(c * c) / (2 * t) - total.ln())
        assert float(log_probability(c, temperature)) == pytest.approx(exact, rel=1e-14, abs=1e-59)


@pytest.mark.parametrize("temperature", [1e-3, 1.0, 1e4, 1e8])
def test_probabilities_sum_to_one(temperature: float) -> None:
    g = np.arange(-math.ceil(10 * math.sqrt(temperature)) - 3.0, 10 * math.sqrt(temperature) + 3)
    assert np.exp(log_probability(g, temperature)).sum() == pytest.approx(1.0, abs=1e-12)


@given(st.integers(1, 5000), st.integers(1, 100_000), st.floats(-0.5, 0.5))
def test_the_best_temperature_of_a_single_task_does_not_depend_on_k(
    c: int, k: int, shift: float
) -> None:
    """By the code path to the last bit, and in value: no other T gives a higher pass@k."""
    task = ToyTasks(np.array([float(c)]), np.array([1.0]))
    result = best_temperatures(task, [1, k, 3 * k, 1])
    star = temperature_at_second_moment(c * c)
    assert {best.temperature for best in result} == {star}
    assert result[1].pass_at_k == expected_pass_at_k(task, k, star)
    # Next to the top the two are equal but for rounding.
    assert expected_pass_at_k(task, k, star * math.exp(shift)) <= result[1].pass_at_k * (1 + 1e-12)
    # The article: a normal distribution is highest at x where σ = |x|.
    assert star == pytest.approx(c * c, rel=3e-7)


def test_the_largest_k_is_one_of_them() -> None:
    (best,) = best_temperatures(power_law_tasks(1.5, 2), [10**9])
    assert best.pass_at_k == pytest.approx(1.0, abs=1e-6)
    with pytest.raises(ParameterError, match="got 1000000001"):
        best_temperatures(power_law_tasks(1.5, 2), [10**9 + 1])


@pytest.mark.parametrize("moment", [1e-12, 1e-4, 0.3, 1.0, 1.999999, 2.0, 1e6])
def test_temperature_of_moment_is_the_inverse(moment: float) -> None:
    assert second_moment_of_generations(temperature_at_second_moment(moment)) == pytest.approx(
        moment, rel=1e-12
    )


def test_single_points_of_the_article() -> None:
    """Gaussian, s = 16."""
    result = best_temperatures(gaussian_tasks(16.0), [2, 8, 64])
    assert [f"{best.temperature:.4g}" for best in result] == ["11.5", "41.78", "188.2"]
    assert [round(best.pass_at_k, 4) for best in result] == [0.0467, 0.1585, 0.6477]


@pytest.mark.parametrize(
    ("family", "article", "exact", "r2"),
    [
        (gaussian_tasks, (0.264, 0.728, 1.283), (0.2637, 0.7286, 1.2814), (0.9996, 0.9996)),
        *long_cases(
            (exponential_tasks, (0.117, 1.054, 0.957), (0.1155, 1.0456, 0.9663), (0.9989, 0.9994))
        ),
    ],
)
def test_the_regression_of_the_article(family, article, exact, r2) -> None:  # type: ignore[no-untyped-def]
    """Its whole grid; "exact" are the same sums computed independently of this project."""
    k, s, star = [], [], []
    for scale in GRID_TASK_SCALES:
        tasks = family(scale)
        for first, best in zip(GRID_KS, best_temperatures(tasks, GRID_KS), strict=True):
            if FIT_PASS_AT_K_RANGE[0] < best.pass_at_k < FIT_PASS_AT_K_RANGE[1]:
                k.append(first)
                s.append(tasks.spread)
                star.append(best.temperature)
    fit = fit_best_temperature_power_law(k, s, star)
    result = (fit.factor, fit.k_exponent, fit.spread_exponent)
    assert result == pytest.approx(exact, rel=5e-3)
    assert [round(v, 4) for v in result] == list(exact)
    assert result == pytest.approx(article, rel=0.015)
    assert round(fit.r2, 4) == r2[1]
    assert fit.r2 == pytest.approx(r2[0], abs=6e-4)


@pytest.mark.parametrize(
    "tasks",
    [
        gaussian_tasks(1.0),
        gaussian_tasks(16.0),
        exponential_tasks(5.0),
        power_law_tasks(1.5, 300),
        power_law_tasks(2.5, 2000),
    ],
    ids="gaussian 1,gaussian 16,exponential 5,power-law 1.5,power-law 2.5".split(","),
)
def test_no_temperature_is_better_and_there_is_one_maximum(tasks: ToyTasks) -> None:
    ks = [2, 3, 8, 64, 1000]
    grid = np.geomspace(1e-2, 4 * tasks.absolute_task_integers[-1] ** 2, 2000)
    for k, best in zip(ks, best_temperatures(tasks, ks), strict=True):
        curve = np.array([expected_pass_at_k(tasks, k, t) for t in grid])
        if math.isnan(best.temperature):
            assert curve.max() > 1 - 1e-12
            continue
        assert curve.max() <= best.pass_at_k * (1 + 1e-14)
        assert best.temperature == pytest.approx(grid[curve.argmax()], rel=0.02)
        moves = np.sign(np.diff(curve))[np.abs(np.diff(curve)) > 1e-13]
        assert np.count_nonzero(np.diff(moves)) == 1, "more than one maximum"


def test_the_higher_of_two_maxima_is_taken() -> None:
    """Two kinds of tasks far apart make two maxima; no family does."""
    for share, star in ((0.9, 9.0), (0.005, 1e6)):
        tasks = ToyTasks(np.array([3.0, 1000.0]), np.array([share, 1 - share]))
        (best,) = best_temperatures(tasks, [50])
        assert best.temperature == pytest.approx(star, rel=0.2)


def test_expected_pass_at_k_against_the_plain_sum() -> None:
    """Small values included: here 1 − (1 − p)^k would lose all digits."""
    tasks = exponential_tasks(3.0)
    for t, k in ((0.02, 5), (1.0, 1), (40.0, 100), (1e8, 2)):
        p = np.exp(log_probability(tasks.absolute_task_integers, t))
        plain = sum(
            Decimal(float(w)) * (1 - (1 - Decimal(float(q))) ** k)
            for w, q in zip(tasks.weights, p, strict=True)
        )
        assert expected_pass_at_k(tasks, k, t) == pytest.approx(float(plain), rel=1e-12)
    rare = ToyTasks(np.array([40.0]), np.array([1.0]))
    assert expected_pass_at_k(rare, 3, 20.0) == pytest.approx(
        3 * math.exp(float(log_probability(40, 20.0))), rel=1e-12
    )


def test_edges() -> None:
    """k = 1: always the likeliest answer.  Everything passed: nothing to choose by."""
    (first,) = best_temperatures(gaussian_tasks(16.0), [1])
    assert (first.temperature, first.pass_at_k) == (0.0, gaussian_tasks(16.0).weights[0])
    assert expected_pass_at_k(power_law_tasks(2.0, 9), 5, 0.0) == 0.0
    (never,) = best_temperatures(gaussian_tasks(1.0), [10**6])
    assert (math.isnan(never.temperature), never.pass_at_k) == (True, pytest.approx(1.0))
    (zero,) = best_temperatures(ToyTasks(np.zeros(1), np.ones(1)), [7])
    assert (zero.temperature, zero.pass_at_k) == (0.0, 1.0)


@pytest.mark.parametrize("spread", [0.3, 1.0, 2.0, 16.0, 512.0])
def test_families_have_the_spread_asked_for(spread: float) -> None:
    for family in ("gaussian", "exponential"):
        tasks = tasks_of_spread(family, spread)
        assert tasks.spread == pytest.approx(spread, rel=1e-12)
        assert tasks.weights.sum() == pytest.approx(1.0, abs=1e-14)
    if spread >= 1:
        tasks = tasks_of_spread("power-law", spread, 1.5)
        one_less = (
            power_law_tasks(1.5, int(tasks.absolute_task_integers[-1]) - 1).spread
            if spread > 1
            else 0.0
        )
        assert one_less < spread <= tasks.spread


def test_weights_follow_the_families() -> None:
    for tasks, log_weight in (
        (gaussian_tasks(3.0), lambda c: -(c**2) / 18),
        (exponential_tasks(3.0), lambda c: -c / 3),
        (power_law_tasks(2.2, 50), lambda c: -2.2 * math.log(c)),
    ):
        a, b = 2, 7
        result = dict(
            zip(tasks.absolute_task_integers.tolist(), tasks.weights.tolist(), strict=True)
        )
        assert math.log(result[b] / result[a]) == pytest.approx(log_weight(b) - log_weight(a))
        if 0.0 in result:  # ±1 stand as one
            assert result[1] / result[0] == pytest.approx(2 * math.exp(log_weight(1)))


@pytest.mark.parametrize(
    ("family", "spread", "gamma", "message"),
    [
        ("normal", 1.0, 2.0, "there are gaussian, exponential, power-law"),
        ("gaussian", 0.0, 2.0, "above 0"),
        ("gaussian", 1e6, 2.0, "at most 16384"),
        ("power-law", 0.5, 2.0, "allows a spread from 1 to"),
        ("power-law", 64.0, 3.0, "allows a spread from 1 to 3.4"),
        ("power-law", 4.0, -1.0, "got -1"),
        ("exponential", float("nan"), 2.0, "above 0"),
    ],
)
def test_invalid_parameters_are_refused(
    family: str, spread: float, gamma: float, message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        tasks_of_spread(family, spread, gamma)


def test_bad_numbers() -> None:
    for bad in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="positive"):
            log_probability(1, bad)
    with pytest.raises(ParameterError, match="must be at most 1,000,000,000"):
        best_temperatures(gaussian_tasks(1.0), [10**10])
    with pytest.raises(ParameterError, match="too few"):
        fit_best_temperature_power_law([1, 2, 3, 4], [1, 1, 1, 1], [1, 2, 3, 4])
    assert set(TASK_FAMILIES) == {"gaussian", "exponential", "power-law"}
