"""The hull for these tasks: its two halves against enumeration, edges, symmetry, coverage."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from scipy import integrate, stats

from benchmarks.guards import holds
from passk_cli.inference.hierarchical_model import count_histogram, draw_rates, rate_posterior
from passk_cli.inference.hull_interval import MetricCounts, posterior_and_pivot_hull_of_mean
from passk_cli.inference.intervals import IntervalData, interval
from passk_cli.inference.mixing_distribution import (
    ErrorDistribution,
    error_covariance,
    errors_and_probabilities_by_rate,
    group_tasks_by_similar_attempts,
    mixing_distribution,
)
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.metrics.pass_k import pass_hat_k_per_pair
from passk_cli.metrics.polynomials import all_fail_polynomial, pass_hat_k_polynomial
from passk_cli.metrics.registry import parse_metric
from tests.conftest import long_cases


def limits(name: str, n: np.ndarray, c: np.ndarray, tail: float = 0.025) -> tuple[float, float]:
    return MetricCounts(parse_metric(name), n, c).limits(tail)


def test_moments_of_the_posterior_against_quadrature() -> None:
    """Given a point of the posterior, tasks are independent: Beta, and lumps at 0 and 1."""
    n, c = np.array([3, 3, 3, 5]), np.array([0, 2, 3, 1])
    posterior = rate_posterior(count_histogram(n, c))
    means, variances = posterior.polynomial_mean_and_variance(all_fail_polynomial(2))
    assert posterior.posterior_weights.sum() == pytest.approx(1)
    a, b = (
        posterior.a[posterior.beta_index_by_grid_point],
        posterior.b[posterior.beta_index_by_grid_point],
    )
    tame = np.flatnonzero(np.minimum(a, b) > 0.3)
    assert len(tame) > 10
    for point in tame[:: len(tame) // 5].tolist():
        lumps = {
            0: posterior.never_share_by_grid_point[point],
            1: posterior.always_share_by_grid_point[point],
        }
        expected = [
            moments_of_one(a[point], b[point], size, passes, lumps)
            for size, passes in zip(n.tolist(), c.tolist(), strict=True)
        ]
        mean, variance = np.sum(expected, axis=0)
        assert means[point] == pytest.approx(mean / 4, rel=1e-5)
        assert variances[point] == pytest.approx(variance / 16, rel=1e-4)


def test_drawn_rates_have_the_moments_of_the_posterior() -> None:
    n, c = np.array([3, 3, 3, 5]), np.array([0, 2, 3, 1])
    posterior = rate_posterior(count_histogram(n, c))
    rates = draw_rates(n, c, 4000, np.random.default_rng(0))
    for power in (1, 2):
        means, _ = posterior.polynomial_mean_and_variance(pass_hat_k_polynomial(power))
        # Four standard errors.
        assert (rates**power).mean() == pytest.approx(
            posterior.posterior_weights @ means, abs=0.012
        )


def moments_of_one(
    a: float, b: float, n: int, c: int, lumps: dict[int, float]
) -> tuple[float, float]:
    """Mean and variance of (1 − p)² given c of n, by quadrature."""
    law = stats.beta(a + c, b + n - c)
    first, two = (integrate.quad(lambda p, j=j: law.pdf(p) * (1 - p) ** j, 0, 1)[0] for j in (2, 4))
    if c in (0, n):
        end = int(c == n)
        smooth = (1 - sum(lumps.values())) * math.exp(stats.betabinom(n, a, b).logpmf(c))
        share = lumps[end] / (lumps[end] + smooth)
        first, two = (share * (1 - end) + (1 - share) * moment for moment in (first, two))
    return first, two - first**2


@pytest.mark.parametrize("n", [1, 7, 4000])
def test_errors_have_mean_0_and_their_exact_variance(n: int) -> None:
    """pass@1: variance p (1−p) / n; the sum over every few outcomes of many is as good."""
    rates = np.array([0.0, 0.003, 0.4, 0.99, 1.0])
    (errors,), chances = errors_and_probabilities_by_rate(
        [(lambda n, c: c / n, lambda p: p)], n, rates
    )
    np.testing.assert_allclose((errors * chances).sum(axis=1), 0, atol=1e-9)
    variance = (errors**2 * chances).sum(axis=1)
    np.testing.assert_allclose(variance, rates * (1 - rates) / n, rtol=1e-6, atol=1e-15)


def test_the_distribution_of_an_error_is_gamma() -> None:
    for third in (0.4, -0.4):
        law = ErrorDistribution(1.0, third)
        gamma = stats.pearson3(third)
        for p in (0.025, 0.5, 0.975):
            assert law.quantile(p) == pytest.approx(gamma.ppf(p), rel=1e-6)
    assert ErrorDistribution(4.0, 0.0).quantile(0.975) == pytest.approx(2 * 1.959964, rel=1e-6)
    assert ErrorDistribution(0.0, 0.0).quantile(0.9) == 0


def test_covariances_of_errors_of_many_like_tasks() -> None:
    """3,000 tasks with p = 0.4: those of one task by enumeration, over 3,000."""
    rng = np.random.default_rng(0)
    c, p = rng.binomial(6, 0.4, 3000), 0.4
    curves = [
        (lambda n, c, k=k: pass_hat_k_per_pair(n, c, k), lambda p, k=k: p**k) for k in (1, 2, 3)
    ]
    result = error_covariance(mixing_distribution(count_histogram(np.full(3000, 6), c)), curves)
    chances, values = stats.binom.pmf(np.arange(7), 6, p), []
    for k in (1, 2, 3):
        values.append(pass_hat_k_per_pair(np.full(7, 6), np.arange(7), k) - p**k)
    exact = np.einsum("ic,jc,c->ij", values, values, chances) / 3000
    np.testing.assert_allclose(result, exact, rtol=0.2)


def test_numbers_of_attempts_are_grouped_downwards() -> None:
    groups = group_tasks_by_similar_attempts(np.array([100, 3, 4, 105, 3]))
    assert [(least, at.tolist()) for least, at in groups] == [
        (3, [1, 4]), (4, [2]), (100, [0, 3]),
    ]  # fmt: skip


@pytest.mark.parametrize("k", [1, 3, 5])
def test_mirror_image(k: int) -> None:
    """pass^k of failures is 1 − pass@k of passes."""
    rng = np.random.default_rng(1)
    n, c = rng.integers(5, 9, 25), rng.integers(0, 6, 25)
    low, high = limits(f"pass@{k}", n, c)
    np.testing.assert_allclose(limits(f"pass^{k}", n, n - c), (1 - high, 1 - low), atol=1e-6)


def test_names_of_one_metric_agree() -> None:
    """gpass@4 at τ = 1 is pass^4, at τ = ¼ pass@4."""
    n, c = np.full(20, 6), np.arange(20) % 7
    np.testing.assert_allclose(limits("gpass@4:1", n, c), limits("pass^4", n, c), atol=1e-6)
    np.testing.assert_allclose(limits("gpass@4:0.25", n, c), limits("pass@4", n, c), atol=1e-6)


@pytest.mark.parametrize("n", [1, 4, 50])
@pytest.mark.parametrize("tasks", [1, 3, 100])
def test_all_pass_and_all_fail(n: int, tasks: int) -> None:
    """The limit at the bound is the bound; the other one is no certainty, and nearer with more."""
    sizes = np.full(tasks, n)
    low, high = limits("pass@1", sizes, sizes)
    assert (0 < low < 1, high) == (True, 1.0)
    assert limits("pass@1", sizes, 0 * sizes)[0] == 0.0
    assert limits("pass@1", np.append(sizes, sizes), np.append(sizes, sizes))[0] > low


def test_one_attempt_is_no_wider_than_alike_tasks_allow() -> None:
    """n = 1: rates are seen through their mean alone, and like tasks vary most."""
    c = (np.arange(40) < 12).astype(int)
    low, high = limits("pass@1", np.ones(40, dtype=int), c)
    exact = stats.binomtest(12, 40).proportion_ci()
    assert exact.low - 0.03 <= low < 0.3 < high <= exact.high + 0.03


def test_limits_hold_the_estimate_and_the_level_orders_them() -> None:
    rng = np.random.default_rng(2)
    for _ in range(10):
        n = rng.integers(3, 30, 12)
        c = rng.binomial(n, rng.beta(0.5, 0.5, 12))
        wide, narrow = (limits("pass@3", n, c, tail) for tail in (0.005, 0.05))
        value = float(parse_metric("pass@3").values(n, c).mean())
        assert 0 <= wide[0] <= narrow[0] <= value <= narrow[1] <= wide[1] <= 1


def test_a_value_is_held_exactly_if_it_is_inside_the_limits() -> None:
    rng = np.random.default_rng(3)
    n, c = np.full(30, 8), rng.binomial(8, rng.beta(1, 1, 30))
    result = posterior_and_pivot_hull_of_mean(parse_metric("pass^3"), count_histogram(n, c))
    assert result is not None
    low, high = result.limits(0.025)
    for value in np.linspace(0.01, 0.99, 50):
        assert holds(result, value, 0.025) == (low <= value <= high)


def test_the_order_of_tasks_does_not_matter() -> None:
    rng = np.random.default_rng(4)
    n = rng.integers(2, 300, 50)
    c = rng.binomial(n, 0.6)
    order = rng.permutation(50)
    assert limits("pass@2", n, c) == limits("pass@2", n[order], c[order])


@pytest.mark.long
@pytest.mark.parametrize(("n", "k"), [(10, 5), (10, 10), (3, 3)])
@pytest.mark.parametrize("kind", ["near ceiling", "lumps", "alike"])
def test_coverage_in_cases_in_which_the_jackknife_fails(kind: str, n: int, k: int) -> None:
    """Short version of benchmarks/coverage.md, 60 repetitions (Monte-Carlo error 2.8 points)."""
    rng, covered, runs = np.random.default_rng([n, k, len(kind)]), 0, 60
    for _ in range(runs):
        if kind == "near ceiling":
            p = rng.beta(9, 1, 30)
        else:
            p = rng.choice([0.0, 0.5], 30) if kind == "lumps" else np.full(30, 0.3)
        result = posterior_and_pivot_hull_of_mean(
            parse_metric(f"pass@{k}"), count_histogram(np.full(30, n), rng.binomial(n, p))
        )
        assert result is not None
        covered += holds(result, float(((1 - p) ** k).mean()), 0.025)
    assert covered / runs >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / runs)


@pytest.mark.parametrize("name", ["pass^1", "pass@3", "pass^3", "gpass@4:0.5"])
def test_each_limit_of_one_task_is_wrong_at_most_at_its_tail(name: str) -> None:
    """Enumerated over all outcomes, at rates on a grid: at most 2.5 %, and nearly that."""
    metric, n, rate = parse_metric(name), 12, np.linspace(0.005, 0.995, 199)
    lows, highs = np.array([limits(name, np.array([n]), np.array([c])) for c in range(n + 1)]).T
    value, remainder = metric.expectation_polynomial or (all_fail_polynomial(1), True)
    truth = (1 - value.value_at(rate) if remainder else value.value_at(rate))[:, None]
    chance = stats.binom.pmf(np.arange(n + 1), n, rate[:, None])
    for wrong in (highs < truth, lows > truth):
        assert 0.02 < (chance * wrong).sum(axis=1).max() <= 0.025
    estimates = metric.values(np.full(n + 1, n), np.arange(n + 1))
    assert (lows <= estimates).all()
    assert (estimates <= highs).all()


def test_tasks_that_agree_may_have_any_rate_that_their_attempts_allow() -> None:
    """Two of eight never passed in 17 attempts: 34 without a pass, with probability 2.5 %."""
    n, c = np.full(8, 17), np.array([0, 0, 17, 17, 17, 17, 17, 17])
    rate = 1 - 0.025 ** (1 / 34)
    least = (6 + 2 * (1 - (1 - rate) ** 10)) / 8
    assert limits("pass@10", n, c)[1] == pytest.approx(least, abs=1e-9)
    assert limits("pass^10", n, n - c)[0] == pytest.approx(1 - least, abs=1e-9)


@pytest.mark.parametrize(
    ("rates", "k"),
    [([0.06] * 2 + [0.999] * 6, 1),
     *long_cases(([0.02, 0.5, 0.98] * 4 + [0.02], 10), ([0.04] * 2 + [0.7] * 14, 10),
           ([0.04] * 2 + [0.7] * 22, 17))],
)  # fmt: skip
def test_coverage_if_few_tasks_differ_from_the_rest(rates: list[float], k: int) -> None:
    """Without the reach of tasks that agree 87 % and less; 150 repetitions."""
    p, runs, covered = np.array(rates), 150, 0
    rng, metric, n = (
        np.random.default_rng([len(p), k]),
        parse_metric(f"pass@{k}"),
        np.full(len(p), 17),
    )
    for _ in range(runs):
        result = posterior_and_pivot_hull_of_mean(
            metric, count_histogram(n, np.sort(rng.binomial(17, p)))
        )
        assert result is not None
        covered += holds(result, float(((1 - p) ** k).mean()), 0.025)
    assert covered / runs >= 0.93


def test_differences() -> None:
    """Two models at k = n: limits by the variances that both hulls imply; equal ones hold 0."""
    rng, covered = np.random.default_rng(5), 0
    for _ in range(40):
        n, p = np.full(40, 4), rng.beta(1, 1, 40)
        metric = parse_metric("pass@4")
        passes = tuple(MetricCounts(metric, n, rng.binomial(4, p)) for _ in range(2))
        values = metric.values(n, passes[0].c) - metric.values(n, passes[1].c)
        sample = IntervalData(values, lower_bound=-1.0, metrics_with_attempt_counts=passes)
        result = interval(sample, None, 0.95, THESE_TASKS)
        assert result.method == "hull"
        covered += (result.low or 0) <= 0 <= (result.high or 0)
    assert covered >= 36


def test_values_of_more_than_counts_get_the_jackknife() -> None:
    sample = IntervalData(np.array([0.2, 0.8]), attempt_variances=np.array([0.01, 0.02]))
    assert interval(sample, None, 0.95, THESE_TASKS).method == "jackknife"
    assert not MetricCounts(parse_metric("pass@1"), np.array([10**6]), np.array([5])).has_hull


def test_ten_models_of_a_thousand_tasks_in_a_second() -> None:
    """Three k's each.  A second on an idle machine; here with room for a busy one."""
    rng, n = np.random.default_rng(6), np.full(1000, 10)
    posterior_and_pivot_hull_of_mean(
        parse_metric("pass@1"), count_histogram(n[:5], n[:5])
    )  # imports
    start = time.process_time()
    for _ in range(10):
        c = rng.binomial(10, rng.beta(0.6, 0.6, 1000))
        for k in (1, 5, 10):
            limits(f"pass@{k}", n, c)
    assert time.process_time() - start < 3


def test_powers_that_underflow_are_0() -> None:
    result = posterior_and_pivot_hull_of_mean(
        parse_metric("pass@100"), count_histogram(np.full(30, 200), np.full(30, 199))
    )
    assert result is not None
    assert result.limits(0.025)[1] == 1.0
    assert float(pass_hat_k_polynomial(10**6).value_at(0.5)) == 0.0
