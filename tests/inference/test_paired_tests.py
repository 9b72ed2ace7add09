"""Sign flips against full enumeration in fractions, McNemar and t against scipy, sizes."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, exp, sqrt

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from passk_cli.inference import paired_tests
from passk_cli.inference.paired_tests import mcnemar, paired_t, sign_flip_test
from passk_cli.metrics.pass_k import pass_at_k

tenths = st.lists(st.integers(-10, 10), min_size=1, max_size=12)


def by_enumeration(differences: list[Fraction]) -> Fraction:
    """The definition: over all sign patterns of all differences, zeros included."""
    observed = abs(sum(differences))
    reached = sum(
        abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= observed
        for signs in product((-1, 1), repeat=len(differences))
    )
    return Fraction(reached, 2 ** len(differences))


@settings(deadline=None, max_examples=25)
@given(tenths)
@example([1, 2, -3])
@example([3, 3, -6, 1])
@example([1] * 12)
@example([0] * 12)
def test_exact_p_is_the_definition(values: list[int]) -> None:
    # Tenths are not binary: 0.1 + 0.2 − 0.3 is 5.6e-17 in floats and must be a tie all the same.
    result = sign_flip_test([value / 10 for value in values])
    assert result.exact.tolist() == [True]
    assert Fraction(result.p[0]) == by_enumeration([Fraction(value) for value in values])


@pytest.mark.long
@settings(deadline=None, max_examples=25)
@given(st.lists(st.floats(-1e3, 1e3).map(lambda x: round(x, 3)), min_size=1, max_size=11))
def test_exact_p_of_any_floats(values: list[float]) -> None:
    exact = by_enumeration([Fraction(str(value)) for value in values])
    assert Fraction(sign_flip_test(values).p[0]) == exact


@pytest.mark.parametrize("unit", [1e-300, 1e-9, 1 / 3, 1.0, 1e300])
def test_the_unit_does_not_matter(unit: float) -> None:
    values = np.array([3, -1, 2, 0, 2, 2, -1, 5])
    assert sign_flip_test(values * unit).p == sign_flip_test(values).p


@settings(deadline=None)
@given(st.lists(st.integers(-1, 1), min_size=1, max_size=40))
def test_exact_p_of_discordant_tasks_is_mcnemar(values: list[int]) -> None:
    result = sign_flip_test(values, enumerate_up_to=40)
    expected = mcnemar(values.count(1), values.count(-1))
    assert result.p[0] == pytest.approx(float(expected), rel=1e-12)


def test_enumeration_stops_at_the_given_number() -> None:
    columns = np.zeros((40, 3))
    sizes = np.sqrt(np.arange(2.0, 20.0))
    columns[:5, 0], columns[:16, 1], columns[:17, 2] = sizes[:5], sizes[:16], sizes[:17]
    assert sign_flip_test(columns).exact.tolist() == [True, True, False]
    assert sign_flip_test(columns, enumerate_up_to=5).exact.tolist() == [True, False, False]
    assert sign_flip_test(columns, enumerate_up_to=20).exact.all()


@pytest.mark.parametrize("tasks", [14, 15, 16])
def test_monte_carlo_is_close_to_exact(tasks: int) -> None:
    rng = np.random.default_rng(tasks)
    columns = np.hstack([rng.normal(mean, 1, size=(tasks, 40)) for mean in (0.1, 0.3)])
    exact = sign_flip_test(columns)
    draws = sign_flip_test(columns, enumerate_up_to=0, resamples=20_000)
    assert exact.exact.all()
    assert not draws.exact.any()
    expected = (20_000 * exact.p + 1) / 20_001
    error = np.sqrt(exact.p * (1 - exact.p) / 20_000)
    z = (draws.p - expected)[error > 0] / error[error > 0]
    assert np.abs(z).max() < 4.5
    # The signs are fair: no drift over columns either.
    assert abs(z.mean()) < 0.8
    np.testing.assert_array_equal(draws.p[error == 0], 1)


def test_monte_carlo_p_is_a_count_that_includes_what_was_observed() -> None:
    # 1/2¹⁶ is the exact p: none of 99 patterns reaches the sum, and the bound says less than they.
    result = sign_flip_test(
        np.append(np.full(8, 1.0), np.sqrt(np.arange(2, 11)) / 30), resamples=99
    )
    assert result.p.tolist() == [1 / 100]
    assert not result.exact.any()
    sizes = np.sqrt(np.arange(1, 31)) * np.where(np.arange(30) % 3, 1, -1)
    few = sign_flip_test(sizes, resamples=256).p * 257
    many = sign_flip_test(sizes, resamples=300).p * 301
    # The first block of resamples is the same however many follow.
    assert 0 <= round((many - few).item(), 9) <= 44


def test_beyond_the_resolution_of_the_draws_a_bound_takes_over() -> None:
    """Hoeffding: 2 exp(−(Σd)² / 2Σd²) is never below the exact p, here 2 · 2⁻³⁰."""
    sizes = np.sqrt(np.arange(30.0, 60.0))
    result = sign_flip_test(sizes, resamples=999)
    bound = 2 * exp(-(sizes.sum() ** 2) / (2 * (sizes**2).sum()))
    assert result.p.tolist() == pytest.approx([bound], rel=1e-12)
    assert result.p[0] > 2 * 0.5**30
    assert sign_flip_test(sizes, enumerate_up_to=30).p.tolist() == [2 * 0.5**30]


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(-9, 9), min_size=14, max_size=20), st.sampled_from([1, 3, 7, 10, 17]))
def test_patterns_on_a_lattice_are_counted_exactly(values: list[int], n: int) -> None:
    """Differences of pass rates of n attempts: as the two halves of the patterns count them."""
    column = np.array(values) / n
    for mid in (False, True):
        on_lattice = sign_flip_test(column, enumerate_up_to=0, mid=mid)
        assert on_lattice.exact.all()
        listed = sign_flip_test(column, enumerate_up_to=20, mid=mid).p
        assert on_lattice.p == pytest.approx(listed, rel=1e-12)


def test_a_lattice_of_many_tasks_has_the_binomial_p() -> None:
    column = np.repeat([0.1, -0.1, 0.0], [700, 500, 800])
    result = sign_flip_test(column)
    assert result.exact.all()
    assert result.p[0] == pytest.approx(float(mcnemar(700, 500)), rel=1e-9)


def test_mid_p_halves_the_ties() -> None:
    # 8 patterns: |sum| is 3 for two of them and 1 for six; observed 1 or 3.
    assert sign_flip_test([1, 1, 1], mid=True).p.tolist() == [0.125]
    assert sign_flip_test([1, 1, -1], mid=True).p.tolist() == [(1.0 + 0.25) / 2]
    many = np.repeat([[1.0], [-1.0]], [14, 6], axis=0)
    draws = sign_flip_test(many, mid=True, enumerate_up_to=0, resamples=40_000).p
    assert draws == pytest.approx(sign_flip_test(many, mid=True, enumerate_up_to=20).p, abs=0.005)


def test_ties_count_in_monte_carlo() -> None:
    # A sum of 0, and of one unit among an odd number of them, is reached by every pattern.
    split = np.tile([0.1, 0.2, -0.3], 12)
    assert sign_flip_test(split).p.tolist() == [1.0]
    one_off = np.append(np.tile([0.7, -0.7], 15), 0.7)
    assert sign_flip_test(one_off).p.tolist() == [1.0]


def test_seed_reproduces_and_matters() -> None:
    columns = np.random.default_rng(0).normal(size=(50, 20))
    first = sign_flip_test(columns, seed=0).p
    np.testing.assert_array_equal(sign_flip_test(columns, seed=0).p, first)
    assert np.any(sign_flip_test(columns, seed=1).p != first)
    assert np.abs(sign_flip_test(columns, seed=1).p - first).max() < 0.03


def test_a_seed_keeps_its_meaning() -> None:
    # Changing how signs are drawn changes every published p-value: only on purpose.
    result = sign_flip_test(np.sin(np.arange(1, 101)) + 0.1, seed=7, resamples=1000)
    assert round(result.p.item() * 1001) == 175


def test_other_columns_change_nothing() -> None:
    rng = np.random.default_rng(3)
    columns = np.hstack([rng.normal(size=(73, 600)), rng.integers(-9, 10, size=(73, 5)) / 10])
    columns[3:, 4] = 0
    together = sign_flip_test(columns, resamples=1500)
    for sample_of_tasks in ([0], [604], [4], [4, 0], range(7, 300, 2), list(range(605))[::-1]):
        single = sign_flip_test(columns[:, list(sample_of_tasks)], resamples=1500)
        np.testing.assert_array_equal(single.p, together.p[list(sample_of_tasks)])
        np.testing.assert_array_equal(single.exact, together.exact[list(sample_of_tasks)])


def test_memory_blocks_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = np.random.default_rng(4).normal(size=(130, 33))
    expected = sign_flip_test(columns, resamples=1111).p
    for elements, width, threads in ((130, 512, 1), (1, 7, 3), (5000, 1, 2)):
        monkeypatch.setattr(paired_tests, "MAX_RANDOM_SIGNS_PER_THREAD", elements)
        monkeypatch.setattr(paired_tests, "_MAX_BLOCK_COLUMNS", width)
        monkeypatch.setattr(paired_tests, "_THREAD_COUNT", threads)
        np.testing.assert_array_equal(sign_flip_test(columns, resamples=1111).p, expected)


@pytest.mark.parametrize("exact", [True, False])
def test_symmetries(exact: bool) -> None:
    columns = np.random.default_rng(5).normal(size=(16 if exact else 40, 10))
    expected = sign_flip_test(columns).p
    assert sign_flip_test(columns).exact.all() == exact
    np.testing.assert_array_equal(sign_flip_test(-columns).p, expected)
    if exact:
        np.testing.assert_array_equal(sign_flip_test(columns[::-1]).p, expected)
        with_zeros = np.vstack([columns, np.zeros((5, 10))])
        np.testing.assert_array_equal(sign_flip_test(with_zeros).p, expected)


def test_edges_of_sign_flip() -> None:
    result = sign_flip_test(np.array([[0, 1, np.nan, np.inf, 0.5], [0, 0, 1, 1, -0.5]]))
    np.testing.assert_array_equal(result.p, [1, 1, np.nan, np.nan, 1])
    assert result.exact.tolist() == [True, True, False, False, True]
    assert sign_flip_test([]).p.tolist() == [1.0]
    assert sign_flip_test(np.empty((5, 0))).p.shape == (0,)
    assert sign_flip_test(np.empty((0, 3))).exact.tolist() == [True] * 3
    assert sign_flip_test(np.zeros(50), enumerate_up_to=0).p.tolist() == [1.0]
    assert sign_flip_test([True, True, False]).p.tolist() == [0.5]
    for bad in ({"resamples": 0}, {"enumerate_up_to": 41}, {"enumerate_up_to": -1}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            sign_flip_test([1.0], **bad)
    with pytest.raises(ValueError, match="tasks"):
        sign_flip_test(np.zeros((2, 2, 2)))


def test_the_argument_is_not_changed() -> None:
    columns = np.random.default_rng(6).normal(size=(20, 4))
    before = columns.copy()
    columns.flags.writeable = False
    sign_flip_test(columns, resamples=10)
    paired_t(columns)
    np.testing.assert_array_equal(columns, before)


@pytest.mark.parametrize("enumerate_up_to", [0, 16])
@pytest.mark.parametrize(("mean", "k"), [(0.5, 1), (0.9, 5), (0.99, 1)])
def test_size_on_identical_models(mean: float, k: int, enumerate_up_to: int) -> None:
    # A short version of benchmarks/comparison.py; three Monte-Carlo errors above the level.
    rng = np.random.default_rng(8)
    p = rng.beta(mean, 1 - mean, size=(24, 1000))
    first, second = (pass_at_k(10, rng.binomial(10, p), k) for _ in range(2))
    result = sign_flip_test(first - second, resamples=2000, enumerate_up_to=enumerate_up_to)
    for level in (0.01, 0.05, 0.2):
        assert np.mean(result.p <= level) <= level + 3 * sqrt(level * (1 - level) / 1000)
    if mean == 0.5:
        assert np.mean(result.p <= 0.05) > 0.025


def exact_mcnemar(b: int, c: int) -> Fraction:
    n, term, total = b + c, 1, 0
    for i in range(min(b, c) + 1):
        total += term
        term = term * (n - i) // (i + 1)
    return min(Fraction(1), Fraction(2 * total, 2**n))


@given(st.integers(0, 300), st.integers(0, 300))
@example(0, 0)
@example(7, 7)
@example(0, 1)
def test_mcnemar_is_the_binomial_test(b: int, c: int) -> None:
    p = float(mcnemar(b, c))
    assert p == pytest.approx(float(exact_mcnemar(b, c)), rel=1e-12, abs=0)
    if b + c:
        assert p == pytest.approx(stats.binomtest(b, b + c).pvalue, rel=1e-10)


@pytest.mark.parametrize(
    ("b", "c"),
    [(5000, 5000), (4999, 5001), (4900, 5100), (4700, 5300), (4000, 5500), (3, 900), (0, 1022)],
)
def test_mcnemar_of_many_tasks(b: int, c: int) -> None:
    exact = exact_mcnemar(b, c)
    assert abs(Fraction(float(mcnemar(b, c))) - exact) <= exact * Fraction(1, 10**12)


def test_mcnemar_shapes_and_errors() -> None:
    b, c = np.array([[0], [5]]), np.array([0, 3, 8])
    p = mcnemar(b, c)
    assert p.shape == (2, 3)
    np.testing.assert_array_equal(p, mcnemar(c[None, :], b))
    assert p[1, 2] == float(mcnemar(5, 8))
    assert p[1, 1] == pytest.approx(2 * sum(comb(8, i) for i in range(4)) / 256)
    assert mcnemar([], []).shape == (0,)
    assert float(mcnemar(0, 20_000)) == 0.0
    for wrong in (-1, 0.5):
        with pytest.raises(ValueError, match="b must be whole"):
            mcnemar(wrong, 3)
        with pytest.raises(ValueError, match="c must be whole"):
            mcnemar(3, wrong)


@given(st.integers(2, 60), st.integers(0, 2**32))
def test_paired_t_is_scipy(tasks: int, seed: int) -> None:
    columns = np.random.default_rng(seed).normal(0.2, 1, size=(tasks, 3))
    expected = stats.ttest_1samp(columns, 0).pvalue
    np.testing.assert_allclose(paired_t(columns), expected, rtol=1e-9)
    np.testing.assert_allclose(paired_t(columns[:, 0]), expected[:1], rtol=1e-9)
    np.testing.assert_allclose(paired_t(columns * 1e-200), expected, rtol=1e-9)


def test_edges_of_paired_t() -> None:
    columns = np.array([[0, 0.3, np.nan, np.inf, 0.5], [0, 0.1 * 3, 1, 1, -0.5]])
    np.testing.assert_array_equal(paired_t(columns), [1, np.nan, np.nan, np.nan, 1])
    np.testing.assert_array_equal(paired_t([0.4]), [np.nan])
    np.testing.assert_array_equal(paired_t([]), [np.nan])
    assert paired_t(np.empty((5, 0))).shape == (0,)
    with pytest.raises(ValueError, match="tasks"):
        paired_t(0.5)


def test_smallest_p_of_sign_flips() -> None:
    columns = np.zeros((40, 4))
    columns[:5, 1] = columns[:20, 2] = columns[:6, 3] = 0.3
    columns[0, 3] = -0.3
    for mid, part in ((False, 1.0), (True, 0.5)):
        result = sign_flip_test(columns, mid=mid)
        assert result.smallest_possible_p.tolist() == [
            part,
            part * 2**-4,
            part * 2**-19,
            part * 2**-5,
        ]
        assert np.all(result.smallest_possible_p <= result.p)
        # Where all signs agree no other pattern does as well.
        assert result.p[1] == result.smallest_possible_p[1]
