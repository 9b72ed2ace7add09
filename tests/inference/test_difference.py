"""The law of a mean difference: p and limits say the same; against scipy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from passk_cli.inference.difference import difference_distribution, least_p_for_unit_sizes
from passk_cli.inference.sampling_variance import difference_variance_floor
from passk_cli.metrics.registry import parse_metric

tenths = st.integers(-10, 10).map(lambda x: x / 10)
rows = st.lists(tenths, min_size=1, max_size=25)


def few() -> st.SearchStrategy[list[float]]:
    """Ties, all zero, all the same, one that differs, tiny numbers."""
    sizes = st.sampled_from([1, 2, 3, 5, 12])
    first = st.tuples(sizes, tenths).map(lambda x: [x[1]] * x[0])
    lump = st.tuples(sizes, tenths).map(lambda x: [0.0] * x[0] + [x[1]])
    tiny = rows.map(lambda row: [1e-300 * x for x in row])
    return st.one_of(rows, first, lump, tiny)


@settings(deadline=None, max_examples=150)
@given(
    few(), st.sampled_from([1.0, np.inf]), st.sampled_from([0.0, 1e-4, 0.02]), st.booleans(),
    st.floats(1e-6, 0.6), st.one_of(st.just(0.0), st.floats(-1, 1)),
)  # fmt: skip
@example([0.0] * 5, np.inf, 0.0, False, 0.05, 0.0)
@example([1e-300, 2e-300], np.inf, 0.0, False, 0.05, 0.0)
def test_p_is_at_most_alpha_if_the_limits_exclude_the_null(
    d: list[float], reach: float, floor: float, grouped: bool, alpha: float, null: float
) -> None:
    codes = np.arange(len(d)) // 2 if grouped else None
    law = difference_distribution(d, reach, floor, codes)
    p, (low, high) = float(law.p(null)[0]), (float(x[0]) for x in law.limits(alpha))
    assert 0 <= p <= 1
    assert -reach <= low <= np.mean(d) + 1e-15
    assert np.mean(d) - 1e-15 <= high <= reach
    if abs(p - alpha) > 1e-9 * alpha:
        assert (p <= alpha) == (low > null or high < null)


@settings(deadline=None, max_examples=60)
@given(few(), st.sampled_from([1.0, np.inf]), st.randoms(use_true_random=False))
def test_order_sign_and_unit_do_not_matter(d: list[float], reach: float, random: object) -> None:
    shuffled = list(d)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    law, floor = difference_distribution(d, reach, 1e-3), 1e-3
    p, (low, high) = law.p()[0], law.limits(0.1)
    assert difference_distribution(shuffled, reach, floor).p()[0] == pytest.approx(p, rel=1e-9)
    mirrored = difference_distribution(-np.array(d), reach, floor)
    assert mirrored.p()[0] == p
    assert [-x for x in mirrored.limits(0.1)[::-1]] == [low, high]
    ten = difference_distribution(10 * np.array(d), 10 * reach, 100 * floor)
    assert ten.p()[0] == pytest.approx(p, rel=1e-9)
    assert np.array(ten.limits(0.1)) == pytest.approx(10 * np.array([low, high]), rel=1e-9)


def test_it_is_students_t_if_many_tasks_carry_the_differences() -> None:
    rng = np.random.default_rng(0)
    for tasks in (20, 37, 200):
        d = rng.uniform(-0.5, 0.6, (4, tasks))
        law, expected = difference_distribution(d, 1.0), stats.ttest_1samp(d, 0.0, axis=1)
        assert law.p() == pytest.approx(expected.pvalue, rel=1e-9)
        limits = expected.confidence_interval(0.9)
        assert np.array(law.limits(0.1)) == pytest.approx(np.array([*limits]), rel=1e-9)
        second = stats.ttest_1samp(d, 0.1, axis=1).pvalue
        assert law.p(0.1) == pytest.approx(second, rel=1e-9)
        # A floor that is larger than s² / T takes its place.
        high = difference_distribution(d, 1.0, 0.25)
        assert high.p() == pytest.approx(
            2 * stats.t.sf(np.abs(d.mean(axis=1)) / 0.5, tasks - 1), rel=1e-9
        )


def test_lumps_by_hand() -> None:
    # One task carries all: m = 1, and a lump on both sides.
    lone = np.r_[np.zeros(9), 0.5]
    error = np.sqrt(lone.var(ddof=1) / 10 + 2 / 100)
    law = difference_distribution(lone, 1.0)
    assert (law.lower_limit_standard_error[0], law.upper_limit_standard_error[0]) == pytest.approx(
        (error, error)
    )
    # Four carry them, and all are losses: m = 4, g = 1/3 for the lower limit alone.
    sample_of_tasks = np.r_[np.zeros(36), [-0.5] * 4]
    plain = sample_of_tasks.var(ddof=1) / 40
    law = difference_distribution(sample_of_tasks, 1.0)
    assert law.lower_limit_standard_error[0] == pytest.approx(np.sqrt(plain + 2 / 3 / 1600))
    assert law.upper_limit_standard_error[0] == pytest.approx(np.sqrt(plain))
    # Half as large a reach is half as large a lump; without one it is the largest difference.
    assert difference_distribution(lone, 0.5).lower_limit_standard_error[0] == pytest.approx(
        np.sqrt(lone.var(ddof=1) / 10 + 2 * 0.25 / 100)
    )
    assert (
        difference_distribution(lone).lower_limit_standard_error[0]
        == difference_distribution(lone, 0.5).lower_limit_standard_error[0]
    )
    # Of four tasks g is 2/3 whatever they are; of one nothing is known.
    four = difference_distribution([0.5, 0.4, 0.6, 0.5], 1.0)
    assert four.lower_limit_standard_error[0] ** 2 == pytest.approx(0.02 / 3 / 4 + 2 * (2 / 3) / 16)
    assert difference_distribution([0.5], 1.0).p().tolist() == [1.0]
    assert [x.tolist() for x in difference_distribution([0.5], 1.0).limits(0.05)] == [[-1.0], [1.0]]


def test_no_spread_is_not_certainty() -> None:
    equal = difference_distribution(np.full(30, 0.3), 1.0)
    assert equal.lower_limit_standard_error[0] == pytest.approx(np.sqrt(2 / 900))
    assert difference_distribution(np.full(30, 0.3), 1.0, 1e-4).lower_limit_standard_error[
        0
    ] == pytest.approx(0.01)
    rounding = difference_distribution(1e-17 * np.arange(8.0), 1.0, 1e-4)
    assert rounding.lower_limit_standard_error == pytest.approx(
        difference_distribution(np.zeros(8), 1.0, 1e-4).lower_limit_standard_error
    )
    nothing = difference_distribution(np.zeros(20))
    assert (nothing.p().tolist(), nothing.p(0.1).tolist()) == ([1.0], [0.0])


def test_clusters_are_units() -> None:
    d, codes = (
        np.array([0.1, 0.3, 0.2, 0.2, 0.4, 0.0, 0.1, 0.3]),
        np.array([0, 0, 1, 1, 2, 3, 4, 5]),
    )
    law = difference_distribution(d, 1.0, 0.0, codes)
    sizes, totals = np.bincount(codes), np.bincount(codes, d)
    residual = totals - sizes * d.mean()
    assert law.estimate[0] == pytest.approx(d.mean())
    assert law.degrees.tolist() == [5]
    variance = 6 / 5 * (residual**2).sum() / 64
    carrying = (totals**2).sum() ** 2 / (totals**4).sum()
    tail = (5 - carrying) / 3
    assert 0 < tail < 1
    assert law.lower_limit_standard_error[0] == pytest.approx(np.sqrt(variance))
    assert law.upper_limit_standard_error[0] == pytest.approx(
        np.sqrt(variance + 2 * tail * ((sizes**2).sum() / 64) ** 2)
    )
    # As many tasks in each: the means of clusters are tasks.
    pairs = difference_distribution(d, 1.0, 0.0, np.arange(8) // 2)
    means = difference_distribution(d.reshape(4, 2).mean(axis=1), 1.0)
    assert pairs.p() == pytest.approx(means.p())


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(tenths, tenths), min_size=2, max_size=12), st.data())
def test_no_differences_between_have_larger_errors(
    ends: list[tuple[float, float]], data: st.DataObject
) -> None:
    low, high = np.sort(np.array(ends), axis=1).T
    shares = [data.draw(st.sampled_from([0.0, 0.3, 1.0])) for _ in ends]
    d = low + np.array(shares) * (high - low)
    codes = np.arange(len(d)) // 2 if data.draw(st.booleans()) else None
    for reach, floor in ((2.0, 0.0), (np.inf, 0.0), (2.0, 0.01)):
        law = difference_distribution(d, reach, floor, codes)
        widest = difference_distribution(low, reach, floor, codes, (low, high))
        assert law.lower_limit_standard_error[0] <= widest.lower_limit_standard_error[0] * (
            1 + 1e-9
        )
        assert law.upper_limit_standard_error[0] <= widest.upper_limit_standard_error[0] * (
            1 + 1e-9
        )
        same = difference_distribution(d, reach, floor, codes, (d, d))
        assert (
            same.lower_limit_standard_error[0],
            same.upper_limit_standard_error[0],
        ) == pytest.approx((law.lower_limit_standard_error[0], law.upper_limit_standard_error[0]))


def test_errors_between_ends_hold_for_clusters_of_unequal_size() -> None:
    high, codes = np.array([0.0, 0.0, 0.1]), np.array([0, 0, 1])
    difference = difference_distribution(high, np.inf, 0.0, codes)
    widest = difference_distribution(np.zeros(3), np.inf, 0.0, codes, (np.zeros(3), high))
    assert difference.lower_limit_standard_error[0] <= widest.lower_limit_standard_error[0] * (
        1 + 1e-9
    )


@pytest.mark.parametrize("tasks", [1, 2, 3, 4, 5, 8])
def test_few_tasks_have_a_smallest_p(tasks: int) -> None:
    least = least_p_for_unit_sizes(np.ones(tasks))
    for d in (np.ones(tasks), np.r_[np.ones(tasks - 1), 0.99], np.full(tasks, 0.5)):
        assert difference_distribution(d, 1.0).p()[0] >= least - 1e-12
    if 2 <= tasks <= 3:
        assert difference_distribution(np.ones(tasks), 1.0).p()[0] == pytest.approx(least)
    assert (least > 0.05) == (tasks <= 3)


def test_errors() -> None:
    with pytest.raises(ValueError, match="at least one task"):
        difference_distribution([])


@pytest.mark.parametrize(
    ("n", "k", "law", "tasks"), [((20, 5), 5, (9, 1), 50), ((7, 7), 1, (2, 2), 13)]
)
def test_size_of_equal_models_and_coverage(
    n: tuple[int, int], k: int, law: tuple[float, float], tasks: int
) -> None:
    """Short: the whole grid is benchmarks/difference.md; three Monte-Carlo errors."""
    rng, metric, runs = np.random.default_rng(11), parse_metric(f"pass@{k}"), 600
    p = rng.beta(*law, (runs, tasks))
    numbered = np.stack([np.full((runs, tasks), item) for item in n])
    c = rng.binomial(numbered, p)
    values = [metric.values(m, passed) for m, passed in zip(numbered, c, strict=True)]
    d = difference_distribution(
        values[0] - values[1], 1.0, difference_variance_floor(metric, numbered, c)
    )
    error = 3 * np.sqrt(0.05 * 0.95 / runs)
    assert np.mean(d.p() <= 0.05) <= 0.055 + error
    low, high = d.limits(0.05)
    assert np.mean((low <= 0) & (high >= 0)) == np.mean(d.p() > 0.05)


def test_power_is_near_that_of_t() -> None:
    rng = np.random.default_rng(4)
    p = rng.uniform(0.15, 0.85, (400, 37))
    passed = [rng.binomial(17, rate) / 17 for rate in (p + 0.05, p - 0.05)]
    d = passed[0] - passed[1]
    rows, expected = (
        x <= 0.05 for x in (difference_distribution(d, 1.0).p(), stats.ttest_1samp(d, 0, 1).pvalue)
    )
    assert expected.mean() - rows.mean() <= 0.03


def test_the_floor_is_the_noise_of_attempts() -> None:
    metric = parse_metric("pass@1")
    n = np.stack([np.full((1, 400), 10), np.full((1, 400), 4)])
    c = np.random.default_rng(0).binomial(n, 0.5)
    # All tasks have the rate ½: p (1 − p) / n of each model, and all of it, as attempts differ.
    floor, exact = difference_variance_floor(metric, n, c)[0], (0.25 / 10 + 0.25 / 4) / 400
    assert 0.8 < floor / exact <= 1.0
    half = difference_variance_floor(metric, n[[0, 0]], c[[0, 0]])[0]
    assert 0.8 < half / (0.25 / 10 / 400) <= 1.0
    assert difference_variance_floor(metric, n[:, :, :1], c[:, :, :1]).tolist() == [0.0]


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from(["pass@1", "pass@2", "pass^2", "gpass@2:0.75"]))
def test_no_fill_in_of_missing_passes_has_a_larger_floor(seed: int, name: str) -> None:
    rng, metric = np.random.default_rng(seed), parse_metric(name)
    n = rng.integers(2, 6, (2, 1, 7))
    low = rng.binomial(n, rng.random())
    most = rng.integers(low, n + 1)
    filled = rng.integers(low, most + 1)
    assert (
        difference_variance_floor(metric, n, filled)[0]
        <= difference_variance_floor(metric, n, low, most)[0] + 1e-12
    )
