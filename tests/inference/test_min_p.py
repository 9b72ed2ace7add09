"""One level for several tests: against the definition, its laws, and its error on equal models."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from passk_cli.inference.difference import difference_distribution
from passk_cli.inference.min_p import (
    MinPDistribution,
    ModelValuesAndPairs,
    SharedLevelTests,
    draw_min_p,
)


def family(
    differences: object, sizes: object = 1.0, shared: object = None, p: object = (), **draws: int
) -> MinPDistribution:
    (law,) = draw_min_p([SharedLevelTests(differences, sizes, shared, p)], **draws)  # type: ignore[arg-type]
    return law


def pairs_of(values: np.ndarray) -> ModelValuesAndPairs:
    places = np.array(list(combinations(range(values.shape[1]), 2)))
    return ModelValuesAndPairs(values, places[:, 0], places[:, 1])


def columns(several: ModelValuesAndPairs) -> np.ndarray:
    return several.values[:, several.first_models] - several.values[:, several.second_models]


def by_hand(columns: np.ndarray) -> np.ndarray:
    """The smallest p of each sign pattern, from the definition."""
    residuals = columns - columns.mean(axis=0)
    smallest = []
    for signs in product([-1, 1], repeat=len(columns)):
        z = np.abs(signs @ residuals) / np.sqrt((residuals**2).sum(axis=0))
        t = z * np.sqrt((len(columns) - 1) / np.maximum(len(columns) - z**2, 1e-300))
        smallest.append((2 * stats.t.sf(t, len(columns) - 1)).min())
    return np.sort(smallest)


@pytest.mark.parametrize("seed", range(3))
def test_against_enumeration(seed: int) -> None:
    columns = np.random.default_rng(seed).normal(0.3, 1, (8, 4))
    law, expected = family(columns), by_hand(columns)
    assert law.exact
    assert law.draws.repeat(2) == pytest.approx(expected, rel=1e-3)
    for p in (0.001, 0.03, 0.4):
        share = np.mean(expected <= p)
        assert law.adjusted(p) == pytest.approx(min(max(p, min(share, 4 * p)), 1))


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=40), st.integers(1, 9), st.booleans(),
    st.floats(0.001, 0.6), st.floats(0, 1),
)  # fmt: skip
def test_adjusted_p_is_at_most_alpha_if_p_is_at_most_the_level(
    smallest: list[float], tests: int, exact: bool, alpha: float, p: float
) -> None:
    law = MinPDistribution(tests, np.sort(smallest), exact)
    level = law.level_per_test(alpha)
    assert alpha / tests - 1e-15 <= level <= alpha
    for item in (p, level, *smallest):
        if abs(item * tests - alpha) > 1e-12:
            assert (law.adjusted(item) <= alpha + 1e-12) == (item <= level)
    assert p <= law.adjusted(p) <= min(1, tests * p) or p == 0


def test_draws_are_close_to_all_patterns() -> None:
    columns = np.random.default_rng(2).normal(0.3, 1, (13, 6))
    p = np.array([0.001, 0.01, 0.05, 0.3])
    exact = family(columns).adjusted(p)
    draws = family(np.r_[columns, np.zeros((1, 6)) + columns.mean(axis=0)], resamples=40_000)
    assert not draws.exact
    # The fourteenth unit leaves nothing of its mean, but adds a degree of freedom.
    assert draws.adjusted(p) == pytest.approx(exact, abs=0.02)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**32), st.sampled_from([9, 30]))
def test_names_and_order_of_tasks_and_models_do_not_matter(seed: int, tasks: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.binomial(5, rng.random((tasks, 5))) / 5
    p = np.array([0.003, 0.02, 0.2])
    expected = family(pairs_of(values), resamples=1000)
    shuffled = family(pairs_of(values[rng.permutation(tasks)]), resamples=1000)
    assert shuffled.adjusted(p).tolist() == expected.adjusted(p).tolist()
    models = family(pairs_of(values[:, rng.permutation(5)]), resamples=1000)
    assert models.adjusted(p).tolist() == expected.adjusted(p).tolist()
    scaled = family(pairs_of(8 * values), resamples=1000)
    assert scaled.adjusted(p).tolist() == expected.adjusted(p).tolist()


def test_pairs_of_models_are_their_columns() -> None:
    values = np.random.default_rng(5).normal(0, 1, (10, 4))
    several = pairs_of(values)
    assert family(several).draws == pytest.approx(family(columns(several)).draws, rel=1e-9)


def test_columns_that_cost_nothing() -> None:
    columns = np.random.default_rng(3).normal(0.3, 1, (12, 3))
    usual = family(columns).draws
    # Other numbers of columns may have another kernel, and so another last digit.
    assert family(np.c_[columns, np.zeros(12)]).draws == pytest.approx(usual, rel=1e-9)
    assert family(np.c_[columns, columns]).draws == pytest.approx(usual, rel=1e-9)
    # One task carries it: whatever its sign, the others leave t small.
    lone = np.r_[np.zeros(11), 1.0]
    level = family(columns).level_per_test(0.05)
    assert family(np.c_[columns, lone]).level_per_test(0.05) == pytest.approx(level, rel=1e-9)


def test_one_test_is_its_own() -> None:
    law = family(np.arange(5.0))
    assert law.adjusted([0.02, np.nan]).tolist()[0] == 0.02
    assert np.isnan(law.adjusted([0.02, np.nan])[1])
    assert law.level_per_test(0.05) == 0.05
    assert family(np.empty((4, 0))).level_per_test(0.05) == 0.05
    # Nothing to sign: Bonferroni's bound.
    bound = MinPDistribution(4, np.empty(0))
    assert (bound.adjusted(0.01), bound.level_per_test(0.05)) == (0.04, 0.0125)


def test_shared_tasks_and_clusters() -> None:
    columns = np.random.default_rng(7).normal(0, 1, (9, 2))
    shared = np.ones((9, 2), dtype=bool)
    shared[6:, 1] = False
    sample_of_tasks = np.where(shared, columns, 0.0)
    law = family(sample_of_tasks, shared=shared)
    # Of the second column only six tasks are signed, and t has five degrees of freedom.
    second = columns[:6, 1] - columns[:6, 1].mean()
    first = columns[:, 0] - columns[:, 0].mean()
    expected = []
    for signs in product([-1, 1], repeat=9):
        p = []
        for residual in (first, second):
            units = len(residual)
            z = abs(np.dot(signs[:units], residual)) / np.sqrt((residual**2).sum())
            t = z * np.sqrt((units - 1) / max(units - z**2, 1e-300))
            p.append(2 * stats.t.sf(t, units - 1))
        expected.append(min(p))
    assert np.sort(expected) == pytest.approx(law.draws.repeat(2), rel=1e-3)
    # Clusters of two tasks that are alike are one unit each.
    doubled = family(2 * columns, sizes=np.full(9, 2.0))
    assert doubled.draws == pytest.approx(family(columns).draws, rel=1e-5)


def test_draws_go_on_until_the_verdict_is_clear() -> None:
    columns = np.random.default_rng(9).normal(0, 1, (25, 3))
    short = family(columns, resamples=1000, p=[0.5])
    level = short.level_per_test(0.05)
    close = family(columns, resamples=1000, p=[level * 1.02])
    assert len(close.draws) > 3 * len(short.draws)


def test_family_wise_error_of_equal_models() -> None:
    """Eight equal models, 20 tasks, four attempts, all 28 pairs; three Monte-Carlo errors."""
    rng, wrong, runs = np.random.default_rng(5), 0, 250
    for _ in range(runs):
        values = rng.binomial(4, rng.beta(2, 2, (20, 1)).repeat(8, axis=1)) / 4
        several = pairs_of(values)
        p = difference_distribution(columns(several).T, 1.0).p()
        wrong += family(several, resamples=512).adjusted(p).min() <= 0.05
    assert 0.01 < wrong / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_no_family_depends_on_another() -> None:
    rng = np.random.default_rng(4)
    few, many = rng.normal(size=(40, 3)), rng.normal(0.2, 1, size=(40, 6))
    second = rng.normal(size=(17, 2))
    together = draw_min_p(
        [
            SharedLevelTests(few),
            SharedLevelTests(second),
            SharedLevelTests(many, p=[0.01]),
        ],
        resamples=512,
    )
    single = [family(few, resamples=512), family(second, resamples=512),
             family(many, p=[0.01], resamples=512)]  # fmt: skip
    for law, rows in zip(together, single, strict=True):
        assert law.draws == pytest.approx(rows.draws, rel=1e-9)
