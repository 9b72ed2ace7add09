"""Intervals against scipy, closed forms, and a short simulation of what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from benchmarks.guards import GUARD
from passk_cli.errors import ParameterError
from passk_cli.inference.bootstrap_weights import bootstrap_means
from passk_cli.inference.cost_per_success import TaskCosts, mean_cost
from passk_cli.inference.intervals import (
    METHODS,
    IntervalData,
    acceleration,
    interval,
)
from passk_cli.inference.populations import NEW_TASKS, THESE_TASKS
from passk_cli.inference.sampling_variance import within_variance
from passk_cli.metrics.pass_k import pass_at_k
from passk_cli.metrics.registry import Metric, parse_metric
from tests.conftest import ROOT, long_cases


def limits(sample: IntervalData, method: str, level: float = 0.95) -> tuple[float, float]:
    result = interval(sample, method, level)
    assert result.low is not None
    assert result.high is not None
    return result.low, result.high


def data_sets() -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [
        pass_at_k(20, rng.binomial(20, rng.beta(0.3, 0.5, 30)), 1),
        pass_at_k(20, rng.binomial(20, rng.beta(2, 2, 60)), 4),
        pass_at_k(200, rng.binomial(200, rng.beta(0.5, 5, 100)), 100),
        rng.binomial(1, 0.8, 50).astype(float),
        rng.random(164),
    ]


@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_agreement_with_scipy(place: int, method: str) -> None:
    values = data_sets()[place]
    result = stats.bootstrap(
        (values,), np.mean, n_resamples=40_000, method=method, rng=np.random.default_rng(0),
        batch=1000,
    ).confidence_interval  # fmt: skip
    se = values.std() / math.sqrt(len(values))
    # Monte-Carlo error of a 2.5 % quantile of 40,000 draws is 0.013 se; a lattice adds one step.
    slack = 0.06 * se + (1 / len(values) if place == 3 else 1 / 20 / 30 if place == 0 else 0)
    np.testing.assert_allclose(limits(IntervalData(values), method), result, atol=slack)


@pytest.mark.parametrize("place", range(5))
def test_acceleration_equals_the_jackknife_of_scipy(place: int) -> None:
    values = data_sets()[place]
    count = len(values)
    remaining = (values.sum() - values) / (count - 1)
    d = remaining.mean() - remaining
    # scipy.stats._resampling._bca_interval: a_hat = 1/6 sum(num) / sum(den)^(3/2)
    expected = (d**3).sum() / count**3 / 6 / ((d**2).sum() / count**2) ** 1.5
    assert acceleration(IntervalData(values)) == pytest.approx(expected, abs=1e-10)


def test_t_and_clustered_errors() -> None:
    values = data_sets()[1]
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    np.testing.assert_allclose(limits(IntervalData(values), "t", 0.9), expected, rtol=1e-12)
    codes = np.arange(60) // 3
    import statsmodels.api as sm

    fit = sm.OLS(values, np.ones(60)).fit(
        cov_type="cluster", cov_kwds={"groups": codes, "use_correction": False}
    )
    result = IntervalData(values, clusters=codes).se
    assert result == pytest.approx(fit.bse[0] * math.sqrt(20 / 19), rel=1e-12)


def test_single_attempts() -> None:
    values = np.array([1.0] * 9 + [0.0] * 3)
    sample = IntervalData(values, attempts=np.ones(12, dtype=int))
    test = stats.binomtest(9, 12)
    np.testing.assert_allclose(limits(sample, "wilson"), test.proportion_ci(method="wilson"))
    np.testing.assert_allclose(limits(sample, "clopper-pearson"), test.proportion_ci())
    refused = interval(IntervalData(values, attempts=np.full(12, 2)), "wilson")
    assert (refused.low, refused.reason) == (
        None, "the method needs k = 1, one attempt per task and no clusters",
    )  # fmt: skip


@pytest.mark.parametrize("values", [[1.0] * 18, [0.0] * 18, [1.0], [0.5], [0.0, 1.0]])
def test_degenerate_data(values: list[float]) -> None:
    sample = IntervalData(np.array(values))
    for method, expected in METHODS.items():
        if NEW_TASKS in expected.populations:
            result = interval(sample, method)
            if result.low is None or result.high is None:
                assert result.reason
            else:
                assert result.low <= sample.mean + 1e-12
                assert result.high >= sample.mean - 1e-12
    guard = interval(sample, "guard")
    if len(set(values)) == 1:
        assert f"every task has the value {values[0]:g}" in guard.reason
        assert ("one-sided" in guard.reason) == (values[0] in (0, 1))
    if values == [1.0] * 18:
        low, high = limits(sample, "guard")
        assert high == 1.0
        assert low == pytest.approx(stats.beta.ppf(0.025, 18, 0.93), abs=1e-11)


def test_mirror_symmetry() -> None:
    for values in data_sets():
        for method in ("guard", "percentile", "t"):
            low, high = limits(IntervalData(values), method)
            mirrored = limits(IntervalData(1 - values), method)
            np.testing.assert_allclose(mirrored, (1 - high, 1 - low), atol=2e-3)


def test_wrong_requests() -> None:
    sample = IntervalData(np.array([0.0, 1.0]))
    for wrong in (
        {"method": "magic"},
        {"level": 1.0},
        {"level": 0.0},
        {"population": "all"},
        {"method": "guard", "population": THESE_TASKS},
        {"method": "jackknife"},
    ):
        with pytest.raises(ParameterError):
            interval(sample, **wrong)  # type: ignore[arg-type]


def test_jackknife_variance() -> None:
    n, c = np.array([4, 7, 7]), np.array([1, 0, 5])
    expected = c * (n - c) / (n**2 * (n - 1.0))
    np.testing.assert_allclose(within_variance(parse_metric("pass@1"), n, c), expected, rtol=1e-12)
    metric = parse_metric("pass@3")
    for size, passes in ((7, 5), (9, 2), (4, 4)):
        outcomes = np.arange(size) < passes
        remaining = [
            float(pass_at_k(size - 1, np.delete(outcomes, i).sum(), 3)) for i in range(size)
        ]
        brute = (size - 1) / size * ((np.array(remaining) - np.mean(remaining)) ** 2).sum()
        result = within_variance(metric, np.array([size]), np.array([passes]))[0]
        assert result == pytest.approx(brute, rel=1e-10, abs=1e-15)
    assert np.isnan(within_variance(metric, np.array([3]), np.array([1]))[0])
    sample = IntervalData(np.array([0.5]), attempt_variances=np.array([np.nan]))
    assert "the jackknife leaves out attempts" in interval(sample, None, 0.95, THESE_TASKS).reason


def test_shares_add_up_in_simulation() -> None:
    """Variance over tasks = variance of the rates + mean noise of n attempts."""
    rng = np.random.default_rng(6)
    rates = rng.beta(2, 2, 20_000)
    n, c = np.full(20_000, 5), rng.binomial(5, rates)
    within = within_variance(parse_metric("pass@1"), n, c)
    result = IntervalData(c / n, attempt_variances=within).attempt_variance_share
    noise = (rates * (1 - rates) / 5).mean()
    assert result == pytest.approx(noise / (noise + rates.var()), abs=0.01)
    assert IntervalData(c[:1] / 5, attempt_variances=within[:1]).attempt_variance_share is None


@pytest.mark.parametrize(
    ("a", "b", "n", "k"),
    [(5, 0.5, 20, 10), *long_cases((2, 2, 20, 10), (0.3, 0.5, 20, 1), (0.1, 1, 200, 100))],
)
def test_the_default_covers_in_cases_in_which_other_methods_do_not(
    a: float, b: float, n: int, k: int
) -> None:
    """Short version of benchmarks/coverage.md: 400 repetitions, Monte-Carlo error 1.1 points."""
    rng = np.random.default_rng([int(10 * a), int(10 * b), n, k])
    steps = np.arange(k)
    true = 1 - np.prod((b + steps) / (a + b + steps))
    lookup = Metric("pass@", k).values(np.full(n + 1, n), np.arange(n + 1))
    hits = 0
    for _ in range(400):
        values = lookup[rng.binomial(n, rng.beta(a, b, 30))]
        hits += GUARD.p(IntervalData(values), true) >= 0.05
    assert hits / 400 >= 0.945 - 2 * 0.011


def test_clusters_need_to_be_given() -> None:
    """Clusters of 5 that share their rate: right with clusters, far too narrow without."""
    rng = np.random.default_rng(7)
    codes = np.repeat(np.arange(20), 5)
    hits = {True: 0, False: 0}
    for _ in range(300):
        values = rng.binomial(10, np.repeat(rng.beta(2, 2, 20), 5)) / 10
        for message in hits:
            hits[message] += (
                GUARD.p(IntervalData(values, clusters=codes if message else None), 0.5) >= 0.05
            )
    assert hits[True] / 300 >= 0.93
    assert hits[False] / 300 <= 0.80


def test_unequal_clusters_agree_with_draws() -> None:
    rng = np.random.default_rng(8)
    codes = np.sort(rng.integers(0, 15, 60))
    codes = np.unique(codes, return_inverse=True)[1]
    values = rng.random(60)
    sample = IntervalData(values, clusters=codes, resamples=20_000)
    draws = bootstrap_means(values[:, None], 20_000, 0, clusters=codes)[:, 0]
    low, high = limits(sample, "percentile")
    assert (draws <= low).mean() == pytest.approx(0.025, abs=1e-3)
    assert (draws <= high).mean() == pytest.approx(0.975, abs=1e-3)


def binomial_coverage(tasks: int, level: float) -> float:
    """The lowest exact coverage of `guard` over all success rates, for values that are 0 or 1."""
    s, tail, weight = np.arange(tasks + 1), (1 - level) / 2, 0.93
    low = stats.beta.ppf(tail, np.maximum(s, 0.5), tasks - s + weight)
    high = stats.beta.ppf(1 - tail, s + weight, np.maximum(tasks - s, 0.5))
    low[0], high[-1] = 0.0, 1.0
    for passes in {0, 1, tasks // 3, tasks}:
        values = (np.arange(tasks) < passes).astype(float)
        expected = (low[passes], high[passes])
        np.testing.assert_allclose(
            limits(IntervalData(values), "guard", level), expected, atol=1e-9
        )
    # Between two neighbouring limits coverage has one hump, so it is lowest beside a limit.
    rates = np.concatenate([np.append(low, high) - 1e-10, np.append(low, high) + 1e-10])
    rates = rates[(rates > 1e-9) & (rates < 1 - 1e-9)]
    first, last = np.searchsorted(high, rates), np.searchsorted(low, rates, "right") - 1
    covered = stats.binom.cdf(last, tasks, rates) - stats.binom.cdf(first - 1, tasks, rates)
    return float(covered.min())


@pytest.mark.parametrize("tasks", [2, 3, 4, 5, 10, 20, 50, 146, 164, 500])
def test_values_of_0_and_1_are_covered_exactly(tasks: int) -> None:
    """n = 1 or k = n.  With half-weight atoms: 89.6 % at 20 tasks, 90.6 % at 164."""
    assert binomial_coverage(tasks, 0.95) >= 0.945
    assert binomial_coverage(tasks, 0.9) >= 0.89
    assert binomial_coverage(tasks, 0.99) >= 0.9889


@pytest.mark.parametrize("middle", [0.95, *long_cases(0.05, 0.5)])
def test_values_of_nearly_0_and_1_are_covered_exactly(middle: float) -> None:
    """k = n − 1, n = 2: ten tasks, every sample, a grid of populations; half atoms: 91.7 %."""
    from math import factorial

    tasks, points = 10, np.array([0.0, middle, 1.0])
    counts = np.array(
        [(a, b, tasks - a - b) for a in range(tasks + 1) for b in range(tasks + 1 - a)]
    )
    ways = [factorial(tasks) / math.prod(map(factorial, row)) for row in counts.tolist()]
    samples = [IntervalData(np.repeat(points, row)) for row in counts]
    for rate in (0.12, 0.2, 0.273, 0.424, 0.44):
        missed = np.array([GUARD.p(sample, rate) < 0.05 for sample in samples])
        for share in np.linspace(0, min(rate / middle, 1), 12):
            law = np.array([0.0, share, rate - share * middle])
            law[0] = 1 - law.sum()
            if law.min() >= 0:
                assert ways @ (np.prod(law**counts, axis=1) * missed) <= 0.055


def test_one_value_off_the_bounds_moves_limits_little() -> None:
    unit_values = np.ones(20)
    for nearby in (0.999, 0.95):
        result = limits(IntervalData(np.append(unit_values[1:], nearby)), "guard")
        np.testing.assert_allclose(
            result, limits(IntervalData(unit_values), "guard"), atol=1.1 - nearby
        )


@pytest.mark.long
def test_many_clusters_of_unequal_size_are_covered() -> None:
    """Pareto sizes, one rate per cluster; an atom of the average cluster's size: 88 %."""
    rng = np.random.default_rng(9)
    covered = 0
    for _ in range(400):
        sizes = np.minimum(np.ceil(2 * (1 + rng.pareto(1.2, 60))), 400).astype(int)
        passes = rng.binomial(20 * sizes, rng.beta(0.3, 0.5, 60))
        codes = np.repeat(np.arange(60), sizes)
        sample = IntervalData((passes / (20 * sizes))[codes], clusters=codes)
        covered += GUARD.p(sample, 0.375) >= 0.05
    assert covered / 400 >= 0.945 - 2 * 0.011


def test_no_width_of_0_if_attempts_differ() -> None:
    values, within = np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(4)
    steady = interval(
        IntervalData(values, attempt_variances=within), "jackknife", 0.95, THESE_TASKS
    )
    assert (steady.low, steady.high) == (0.25, 0.25)
    assert (
        steady.reason
        == "every task always passes or always fails; a width of 0 does not mean certainty"
    )
    for method, draws in (("jackknife", None), ("percentile", np.full(100, 0.25))):
        sample = IntervalData(
            values, attempt_variances=within, resampled_means=draws, mixed_task_count=3
        )
        refused = interval(sample, method, 0.95, THESE_TASKS)
        assert (refused.low, refused.high) == (None, None)
        assert "the attempts differ at 3 tasks" in refused.reason
    undrawn = interval(
        IntervalData(values, attempt_variances=within), "percentile", 0.95, THESE_TASKS
    )
    assert (undrawn.low, "use hull" in undrawn.reason) == (None, True)


def test_scores_without_bounds_have_a_remark() -> None:
    sample = IntervalData(np.array([3.0, 8.0, 5.0]), lower_bound=-math.inf, upper_bound=math.inf)
    result = interval(sample, "guard")
    assert result.method == "bca"
    assert "needs the lowest and highest possible score" in result.reason
    assert "covers 18 to 92 %" in result.reason
    many = interval(
        IntervalData(np.arange(31.0), lower_bound=-math.inf, upper_bound=math.inf), "guard"
    )
    assert many.reason.endswith("needs the lowest and highest possible score")


@pytest.mark.parametrize(
    ("tasks", "attempts", "rate", "ratio"),
    [(10, 20, 0.5, 1.98), (30, 10, 0.5, 1.24), (100, 20, 0.9, 1.49), (500, 100, 0.5, 1.18)],
)
def test_the_price_of_guard_if_tasks_are_alike(
    tasks: int, attempts: int, rate: float, ratio: float
) -> None:
    """The table of docs/guard.md, for values that are quantiles of the attempts' noise."""
    places = (np.arange(tasks) + 0.5) / tasks
    sample = IntervalData(stats.binom.ppf(places, attempts, rate) / attempts)
    (low, high), (least, most) = (limits(sample, method) for method in ("guard", "percentile"))
    assert (high - low) / (most - least) == pytest.approx(ratio, rel=0.1)
    assert f" {ratio:.2f} |" in (ROOT / "docs" / "guard.md").read_text()


def test_a_guard_of_amounts_is_that_of_the_mean_cost() -> None:
    costs = np.array([0.1, 0.2, 0.2, 0.9, 4.0])
    for clusters in (None, np.array([0, 0, 1, 2, 2])):
        sample = IntervalData(costs, lower_bound=0.0, upper_bound=math.inf, clusters=clusters)
        spending = TaskCosts(costs, np.ones(5), clusters=clusters)
        limits, second = interval(sample), mean_cost(spending)
        assert (limits.low, limits.high) == pytest.approx((second.low, second.high), rel=1e-12)
        assert limits.method == "guard"
    single = interval(IntervalData(costs[:1], lower_bound=0.0, upper_bound=math.inf))
    assert (single.low, single.reason) == (None, "the method needs at least 2 tasks")
