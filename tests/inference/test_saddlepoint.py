"""Rough tails against the exact ones, and which side of a limit intervals lie."""

from __future__ import annotations

import numpy as np
import pytest

from passk_cli.inference.exact import dirichlet_cdf
from passk_cli.inference.intervals import Sample, interval, sides
from passk_cli.inference.saddlepoint import upper_tails


@pytest.mark.parametrize(("atoms", "error"), [(3, 0.15), (10, 0.03), (100, 0.01)])
def test_rough_tails_are_near_the_exact_ones(atoms: int, error: float) -> None:
    generator = np.random.default_rng(atoms)
    x = generator.random((40, atoms))
    limits = x.mean(axis=1) + 2.0 * x.std(axis=1) / np.sqrt(atoms + 1)
    rough = upper_tails(x - limits[:, None], np.ones_like(x))
    for row, limit, tail in zip(x, limits, rough, strict=True):
        assert tail == pytest.approx(1 - dirichlet_cdf(row, np.ones(atoms), limit), rel=error)


def test_edges() -> None:
    d = np.array([[-1.0, -0.5], [0.5, 1.0], [-1.0, 1.0]])
    assert upper_tails(d, np.ones_like(d)).tolist() == pytest.approx([0.0, 1.0, 0.5])
    assert upper_tails(np.empty((0, 3)), np.empty((0, 3))).tolist() == []


@pytest.mark.parametrize("method", ["guard", "gaffke", "jeffreys", "t", "bca"])
@pytest.mark.parametrize(("tasks", "n"), [(2, 1), (4, 3), (30, 1), (60, 5)])
def test_sides_are_those_of_the_limits(method: str, tasks: int, n: int) -> None:
    generator = np.random.default_rng(tasks)
    values = generator.binomial(n, generator.beta(0.5, 0.5, (12, tasks))) / n
    values[0], values[1] = 0.0, 1.0
    clusters = None if tasks < 30 else np.arange(tasks) // 3
    samples = [Sample(v, clusters=clusters) for v in values]
    intervals = [interval(sample, method) for sample in samples]
    for value in (0.0, 0.3, 0.45, 0.6, 1.0):
        for limits, side in zip(intervals, sides(samples, value, method), strict=True):
            if limits.low is None or limits.high is None:
                assert side is None
            else:
                assert side == (1 if limits.low >= value else -1 if limits.high < value else 0)
