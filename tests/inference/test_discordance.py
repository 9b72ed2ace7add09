"""Suissa and Shuster's test against brute force and known power; the interval agrees with it."""

from __future__ import annotations

from fractions import Fraction
from math import comb, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from passk_cli.inference import discordance
from passk_cli.inference.discordance import score_limits, suissa_shuster, suissa_shuster_critical_z
from passk_cli.inference.paired_tests import mcnemar
from tests.conftest import long_cases

Integers = NDArray[np.int64]


def tables(tasks: int) -> tuple[Integers, Integers]:
    """Every (b, c) of so many tasks."""
    all_items = [(b, c) for b in range(tasks + 1) for c in range(tasks + 1 - b)]
    b, c = np.array(all_items).T
    return b, c


def chances(tasks: int, first: float, second: float) -> NDArray[np.float64]:
    """Of every table, when a task is passed by the first only, or by the second only."""
    b, c = tables(tasks)
    return np.array(
        [
            comb(tasks, i) * comb(tasks - i, j) * first**i * second**j
            * max(1 - first - second, 0.0) ** (tasks - i - j)
            for i, j in zip(b.tolist(), c.tolist(), strict=True)
        ]
    )  # fmt: skip


@pytest.mark.parametrize("tasks", [1, 2, 5, 9])
def test_against_brute_force(tasks: int) -> None:
    """Tables ordered by z² in fractions, the sum over those as far away on a fine grid of rates."""
    b, c = tables(tasks)
    squares = [
        Fraction((i - j) ** 2, i + j) if i + j else Fraction(0)
        for i, j in zip(b.tolist(), c.tolist(), strict=True)
    ]
    laws = np.array([chances(tasks, rate / 2, rate / 2) for rate in np.linspace(0, 1, 4001)])
    p = suissa_shuster(tasks, b, c)
    for square, value in zip(squares, p.tolist(), strict=True):
        beyond = np.array([second >= square for second in squares])
        assert value == pytest.approx(laws[:, beyond].sum(axis=1).max(), rel=1e-4)
    assert p.min() == pytest.approx(2.0 ** (1 - tasks), rel=1e-9)
    np.testing.assert_array_equal(p, suissa_shuster(tasks, c, b))


@pytest.mark.parametrize("tasks", [37, 300])
def test_the_maximum_against_a_finer_grid(tasks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    b, c = (item[:: tasks * 3] for item in tables(tasks))
    p = suissa_shuster(tasks, b, c)
    discordance._cached_probability_blocks.cache_clear()
    monkeypatch.setattr(discordance, "_STEPS", 100)
    finer = suissa_shuster(tasks, b, c)
    discordance._cached_probability_blocks.cache_clear()
    assert np.abs(p / finer - 1).max() <= 1e-4


@pytest.mark.parametrize(
    ("tasks", "first", "second", "before", "power"),
    [(20, 0.2, 0.05, 9.5, 18.3), (30, 0.15, 0.001, 28.3, 66.3), (50, 0.1, 0.02, 19.6, 37.4)],
)
def test_power(tasks: int, first: float, second: float, before: float, power: float) -> None:
    b, c = tables(tasks)
    chance = chances(tasks, first, second)
    assert 100 * chance[mcnemar(b, c) <= 0.05].sum() == pytest.approx(before, abs=0.06)
    assert 100 * chance[suissa_shuster(tasks, b, c) <= 0.05].sum() == pytest.approx(power, abs=0.06)


@pytest.mark.parametrize("tasks", [6, 20, 50])
def test_size(tasks: int) -> None:
    reject = suissa_shuster(tasks, *tables(tasks)) <= 0.05
    rates = np.linspace(0.01, 1, 100)
    sizes = [chances(tasks, rate / 2, rate / 2)[reject].sum() for rate in rates]
    assert 0.03 < max(sizes) <= 0.0498


@pytest.mark.parametrize("tasks", [1, 2, 5, 6, 11, *long_cases(25)])
@pytest.mark.parametrize("level", [0.95, *long_cases(0.9, 0.99)])
def test_the_interval_excludes_0_if_the_test_rejects(tasks: int, level: float) -> None:
    b, c = tables(tasks)
    p = suissa_shuster(tasks, b, c)
    for i, j, value in zip(b.tolist(), c.tolist(), p.tolist(), strict=True):
        low, high = score_limits(tasks, i, j, level)
        assert -1 <= low <= (i - j) / tasks <= high <= 1
        assert (low > 0 or high < 0) == (value <= 1 - level)
        second = score_limits(tasks, j, i, level)
        assert (low, high) == (-second[1], -second[0])


@pytest.mark.parametrize("tasks", [3, 10, 20])
def test_coverage(tasks: int) -> None:
    """Exact, also where all discordance is one-sided, near 0, and near 1."""
    b, c = tables(tasks)
    limits = [score_limits(tasks, i, j) for i, j in zip(b.tolist(), c.tolist(), strict=True)]
    low, high = np.array(limits).T
    for mean in (0.0, 0.003, 0.05, 0.2, 0.5, 0.8, 0.94, 0.98):
        for second in (0.0, 0.001, 0.02, 0.2, 0.49, 0.5):
            if mean + 2 * second > 1:
                continue
            inside = (low <= mean + 1e-12) & (mean - 1e-12 <= high)
            assert chances(tasks, mean + second, second)[inside].sum() >= 0.943


def test_critical_z_separates_rejecting_tables() -> None:
    for tasks in (6, 13, 40):
        b, c = tables(tasks)
        z = np.abs(b - c) / np.sqrt(np.maximum(b + c, 1))
        rejects = suissa_shuster(tasks, b, c) <= 0.05
        assert z[~rejects].max() < suissa_shuster_critical_z(tasks, 0.95) < z[rejects].min()
    assert suissa_shuster_critical_z(5, 0.95) > sqrt(5)


def test_many_tasks_and_shapes() -> None:
    p = suissa_shuster(2000, np.array([[200], [150]]), np.array([150, 100, 200]))
    assert p.shape == (2, 3)
    assert p[0, 2] == p[1, 0] == 1
    # Nearly the normal law, of which few tasks are a part: a little above.
    assert 1.0 < p[0, 0] / 0.0075264 < 1.1
    assert suissa_shuster(3000, 3000, 0) == 0.0


def test_errors() -> None:
    for wrong in ((0, 0, 0), (3, 2, 2)):
        with pytest.raises(ValueError, match="at least b"):
            suissa_shuster(*wrong)
    for wrong in ((3, -1, 0), (3, 0.5, 0)):
        with pytest.raises(ValueError, match="whole numbers"):
            suissa_shuster(*wrong)
