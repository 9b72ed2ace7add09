"""Flips between two runs, against enumeration."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.stats import binom, fisher_exact

from passk_cli.inference import flips
from passk_cli.inference.flips import (
    boschloo,
    central_range,
    flip_chances,
    flip_signs,
    poisson_binomial,
)


def test_a_task_flips_when_its_rate_changes_by_more_than_one_half() -> None:
    for n in range(1, 7):
        for base in range(1, 7):
            for c in range(n + 1):
                for second in range(base + 1):
                    change = Fraction(c, n) - Fraction(second, base)
                    sign = int(change > Fraction(1, 2)) - int(change < -Fraction(1, 2))
                    assert flip_signs(n, c, base, second) == sign


@pytest.mark.parametrize(("n", "base"), [(1, 1), (1, 4), (2, 2), (3, 5), (5, 5)])
def test_chances_equal_those_of_every_deal(n: int, base: int) -> None:
    """Fractions: of all ways to deal the passes among the attempts."""
    for passes in range(n + base + 1):
        deals = {
            c: Fraction(comb(n, c) * comb(base, passes - c), comb(n + base, passes))
            for c in range(max(0, passes - base), min(n, passes) + 1)
        }
        signs = {c: int(flip_signs(n, c, base, passes - c)) for c in deals}
        law = flip_chances(n, base, passes)
        changed = [c for c in deals if Fraction(c, n) != Fraction(passes - c, base)]
        assert float(law.changes) == pytest.approx(float(sum(deals[c] for c in changed)))
        assert float(law.flips) == pytest.approx(float(sum(deals[c] for c in deals if signs[c])))
        gains = sum((deals[c] for c in deals if signs[c] > 0), Fraction(0))
        assert float(law.flips_favouring_first_run) == pytest.approx(float(gains))


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.4, 0.9])
def test_the_expected_number_is_unbiased_whatever_the_rate(rate: float) -> None:
    n, base = 4, 3
    c, second = np.meshgrid(np.arange(n + 1), np.arange(base + 1), indexing="ij")
    weights = binom.pmf(c, n, rate) * binom.pmf(second, base, rate)
    truth = weights[flip_signs(n, c, base, second) != 0].sum()
    assert (weights * flip_chances(n, base, c + second).flips).sum() == pytest.approx(truth)


def test_poisson_binomial_equals_the_enumeration_of_outcomes() -> None:
    p = np.array([0.1, 0.5, 0.9, 0.3, 1.0])
    expected = np.zeros(6)
    for outcome in range(32):
        events = np.array([outcome >> i & 1 for i in range(5)])
        expected[events.sum()] += np.prod(np.where(events, p, 1 - p))
    law = poisson_binomial(p)
    assert law == pytest.approx(expected)
    assert law @ np.arange(6) == pytest.approx(p.sum())
    assert poisson_binomial([]).tolist() == [1.0]


def test_the_range_leaves_out_little_at_each_end() -> None:
    law = poisson_binomial([0.3] * 40)
    low, high = central_range(law)
    assert (low, high) == binom.interval(0.95, 40, 0.3)
    assert central_range(np.ones(1)) == (0, 0)


@pytest.mark.parametrize(("n", "base"), [(2, 2), (5, 3), (6, 6)])
def test_boschloo_is_the_maximum_over_rates(n: int, base: int) -> None:
    """Fisher's p from scipy, and a grid of 4,001 rates."""
    c, second = np.meshgrid(np.arange(n + 1), np.arange(base + 1), indexing="ij")
    fisher = np.array(
        [[fisher_exact([[a, b], [n - a, base - b]]).pvalue for b in range(base + 1)]
         for a in range(n + 1)]
    )  # fmt: skip
    rates = np.linspace(0, 1, 4001)[:, None]
    laws = binom.pmf(np.arange(n + 1), n, rates), binom.pmf(np.arange(base + 1), base, rates)
    for at in np.ndindex(n + 1, base + 1):
        within = (fisher <= fisher[at] * (1 + 1e-7)).astype(float)
        largest = np.einsum("ra,ab,rb->r", laws[0], within, laws[1]).max()
        assert boschloo(n, c[at], base, second[at]) == pytest.approx(largest, rel=1e-3)
    assert np.all(boschloo(n, c, base, second) <= fisher + 1e-9)


@pytest.mark.parametrize(("n", "base"), [(1, 1), (2, 2), (4, 4), (3, 7), (10, 10), (40, 5)])
def test_p_is_at_most_alpha_with_probability_at_most_alpha(n: int, base: int) -> None:
    c, second = np.meshgrid(np.arange(n + 1), np.arange(base + 1), indexing="ij")
    p = boschloo(n, c, base, second)
    for rate in np.linspace(0.003, 0.997, 173):
        law = np.outer(binom.pmf(c[:, 0], n, rate), binom.pmf(second[0], base, rate))
        for alpha in np.unique(p[p < 0.6]):
            assert law[p <= alpha + 1e-9].sum() <= alpha * (1 + 1e-4)


def test_many_attempts_have_fishers_test(monkeypatch: pytest.MonkeyPatch) -> None:
    p = float(boschloo(500, 300, 500, 260))
    assert p == pytest.approx(fisher_exact([[300, 260], [200, 240]]).pvalue)
    small = float(boschloo(40, 30, 40, 20))
    monkeypatch.setattr(flips, "MAX_BOSCHLOO_PASS_COUNT_PAIRS", 1)
    assert small < float(boschloo(40, 30, 40, 20)) < 1.7 * small
