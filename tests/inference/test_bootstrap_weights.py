"""Draws: the same for the same seed, whatever else is asked for; and the right law."""

from __future__ import annotations

import numpy as np
import pytest

from passk_cli.errors import ParameterError
from passk_cli.inference import bootstrap_weights
from passk_cli.inference.bootstrap_weights import (
    WEIGHT_FILL_FUNCTIONS,
    bootstrap_means,
    fixed_task_bootstrap_means,
)
from passk_cli.inference.random_streams import named_generator
from passk_cli.metrics.registry import Metric

VALUES = np.random.default_rng(0).random((50, 4))


@pytest.mark.parametrize("kind", ["multinomial", "dirichlet"])
def test_weights_sum_to_the_units(kind: str) -> None:
    out = np.empty((64, 37))
    bootstrap_weights.WEIGHT_FILL_FUNCTIONS[kind](named_generator(0, "x"), out)
    np.testing.assert_allclose(out.sum(axis=1), 37)
    assert out.min() >= 0


@pytest.mark.parametrize("kind", ["multinomial", "dirichlet"])
def test_columns_threads_and_length_change_no_other_number(kind: str) -> None:
    first = bootstrap_means(VALUES, 12_000, 3, kind=kind, threads=1)
    np.testing.assert_array_equal(first, bootstrap_means(VALUES, 12_000, 3, kind=kind, threads=3))
    # A matrix product may differ in the last bit with its shape; a draw never does.
    fewer = bootstrap_means(VALUES[:, :2], 12_000, 3, kind=kind)
    np.testing.assert_allclose(first[:, :2], fewer, rtol=1e-13)
    assert not np.array_equal(first, bootstrap_means(VALUES, 12_000, 4, kind=kind))
    assert not np.array_equal(first, bootstrap_means(VALUES, 12_000, 0, kind=kind))


def test_moments() -> None:
    for kind, factor in (("multinomial", 49 / 50), ("dirichlet", 50 * 49 / 50 / 51)):
        means = bootstrap_means(VALUES, 100_000, 1, kind=kind)
        se = VALUES.std(axis=0, ddof=1) / np.sqrt(50)
        np.testing.assert_allclose(means.mean(axis=0), VALUES.mean(axis=0), atol=5 * se.max() / 300)
        np.testing.assert_allclose(means.std(axis=0), se * np.sqrt(factor), rtol=0.02)


def test_whole_clusters_are_drawn() -> None:
    codes = np.repeat([0, 1], [1, 3])
    values = np.array([[1.0], [0.0], [0.0], [0.0]])
    result = np.unique(bootstrap_means(values, 500, 0, clusters=codes).round(12))
    np.testing.assert_allclose(result, [0.0, 0.25, 1.0])


def test_attempts_made_again_centre_on_the_estimate() -> None:
    """n = k: without correction the mean would fall from 1 to 1 − 0.9¹⁰ = 0.65."""
    metric = Metric("pass@", 10)
    table = metric.values(np.full(11, 10), np.arange(11))
    n, c = np.full(40, 10), np.full(40, 1)
    means = fixed_task_bootstrap_means(n, c, [table], 20_000, 0)[:, 0]
    assert means.mean() == pytest.approx(1.0, abs=0.002)
    assert fixed_task_bootstrap_means(n, c, [table], 100, 0).tolist() == means[:100, None].tolist()
    assert (
        fixed_task_bootstrap_means(n, np.append(c[1:], 2), [table], 100, 0).tolist()
        != means[:100, None].tolist()
    )


def test_attempts_with_several_sizes() -> None:
    metric = Metric("pass@", 1)
    tables = np.concatenate([metric.values(np.full(s + 1, s), np.arange(s + 1)) for s in (2, 5)])
    n, c = np.array([5, 2, 5]), np.array([4, 1, 0])
    means = fixed_task_bootstrap_means(n, c, [tables], 50_000, 0)[:, 0]
    assert means.mean() == pytest.approx((0.8 + 0.5) / 3, abs=0.003)
    assert means.std() == pytest.approx(np.sqrt(0.16 / 5 + 0.25 / 2) / 3, rel=0.02)


@pytest.mark.parametrize("kind", WEIGHT_FILL_FUNCTIONS)
@pytest.mark.parametrize(
    "clusters", [None, np.array([0, 0, 0, 1, 1, 2, 2])], ids=["tasks", "groups"]
)
def test_means_never_pass_the_values(kind: str, clusters: np.ndarray | None) -> None:
    values = np.full((7, 2), [1.0, 0.1])
    means = bootstrap_means(values, 500, 0, kind=kind, clusters=clusters)
    assert np.all(means == [1.0, 0.1])


def test_more_draws_than_memory_holds_are_refused() -> None:
    with pytest.raises(ParameterError, match="choose at most 125,000,000"):
        bootstrap_means(np.ones((3, 1)), 10**9, 0)
    with pytest.raises(
        ParameterError,
        match="--resamples 1000000: this number of resamples is too large for 200 results",
    ):
        bootstrap_means(np.ones((3, 200)), 10**6, 0)
