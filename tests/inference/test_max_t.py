"""Max-T against full enumeration step by step and `sign_flip`; its error on equal models."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from passk_cli.inference import max_t as module
from passk_cli.inference.max_t import max_t
from passk_cli.inference.paired import sign_flip


def brute(columns: np.ndarray) -> list[float]:
    """Each step from the definition."""
    norms = np.sqrt((columns**2).sum(axis=0))
    z = np.abs(columns.sum(axis=0)) / norms
    flips = np.array(list(product([-1, 1], repeat=len(columns))))
    every = np.abs(flips @ columns) / norms
    order, before, adjusted = np.argsort(-z), 0.0, [0.0] * len(z)
    for place, column in enumerate(order):
        reached = every[:, order[place:]].max(axis=1) >= z[column] - 1e-12
        before = max(before, float(reached.mean()))
        adjusted[column] = before
    return adjusted


@pytest.mark.parametrize("seed", range(6))
def test_against_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = rng.integers(-2, 3, size=(8, 5)) + rng.choice([0, 1], 5)
    columns[0] = 1
    assert max_t(columns).tolist() == pytest.approx(brute(columns), abs=1e-12)


def test_a_column_alone_has_its_sign_flip_p() -> None:
    rng = np.random.default_rng(1)
    few, many = rng.normal(0.5, 1, 10), rng.normal(0.2, 1, 60)
    assert max_t(few) == pytest.approx(sign_flip(few).p)
    assert max_t(many) == pytest.approx(sign_flip(many).p, rel=1e-12)
    far = np.ones(200)
    assert max_t(far) == pytest.approx(sign_flip(far).p, rel=1e-12)


def test_drawn_is_close_to_exact() -> None:
    columns = np.random.default_rng(2).normal(0.3, 1, (12, 6))
    drawn = max_t(columns, enumerate_up_to=0, resamples=40_000)
    assert np.abs(drawn - max_t(columns)).max() < 0.01


def test_blocks_of_signs_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = np.random.default_rng(6).normal(0.1, 1.0, (40, 7))
    expected = max_t(columns, resamples=300)
    monkeypatch.setattr(module, "SIGN_ELEMENTS", 1000)
    np.testing.assert_array_equal(max_t(columns, resamples=300), expected)


def test_columns_in_any_order_and_columns_of_zeros() -> None:
    columns = np.random.default_rng(3).normal(0.3, 1, (40, 6))
    adjusted = max_t(columns)
    shuffled = np.random.default_rng(4).permutation(6)
    np.testing.assert_array_equal(max_t(columns[:, shuffled]), adjusted[shuffled])
    np.testing.assert_array_equal(max_t(np.c_[columns, np.zeros(40)]), [*adjusted, 1.0])
    twice = max_t(np.c_[columns, columns])
    np.testing.assert_array_equal(twice, [*adjusted, *adjusted])
    assert np.all(adjusted >= sign_flip(columns).p - 1e-12)


def test_edges() -> None:
    assert max_t(np.zeros((4, 2))).tolist() == [1, 1]
    assert max_t(np.empty((0, 3))).tolist() == [1, 1, 1]
    assert max_t([[1.0]]).tolist() == [1]
    for wrong in (np.zeros((2, 2, 2)), [np.nan, 1.0]):
        with pytest.raises(ValueError, match="finite"):
            max_t(wrong)


def test_family_wise_error_of_equal_models() -> None:
    """Eight equal models, 30 tasks, one attempt each, all 28 pairs; the bound is 3 errors away."""
    rng, wrong, runs = np.random.default_rng(5), 0, 300
    pairs = [(a, b) for a in range(8) for b in range(a + 1, 8)]
    for _ in range(runs):
        passed = rng.binomial(1, rng.beta(2, 2, (30, 1)).repeat(8, axis=1))
        d = np.stack([passed[:, a] - passed[:, b] for a, b in pairs], axis=1)
        wrong += max_t(d, resamples=255).min() <= 0.05
    assert 0.01 < wrong / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5
