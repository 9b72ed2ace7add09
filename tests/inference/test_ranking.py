"""Runs of signs and the crossings that they allow; the level of a curve holds near the ceiling."""

from __future__ import annotations

from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.guards import GUARD
from passk_cli.inference.bands import pointwise_level
from passk_cli.inference.bootstrap_weights import bootstrap_means
from passk_cli.inference.intervals import IntervalData
from passk_cli.inference.ranking import equal_element_spans, possible_crossing_ranges
from passk_cli.metrics.pass_k import pass_at_and_hat_curves

signs = st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=7)


@given(signs)
def test_crossings_are_all_that_some_curve_inside_has(open_signs: list[int]) -> None:
    ks = np.arange(1, len(open_signs) + 1)
    sets = possible_crossing_ranges(ks, np.array(open_signs))
    choices = [[sign] if sign else [-1, 1] for sign in open_signs]
    observed: set[int] = set()
    for inside in product(*choices):
        turns = {k for k in range(2, len(inside) + 1) if inside[k - 1] != inside[k - 2]}
        observed |= turns
        for first in sets:
            assert not first.certain or turns & set(range(first.first_k, first.last_k + 1))
    assert observed == {k for single in sets for k in range(single.first_k, single.last_k + 1)}
    always = [set(range(one.first_k, one.last_k + 1)) for one in sets if one.certain]
    assert all(a.isdisjoint(b) for i, a in enumerate(always) for b in always[:i])


@given(st.lists(st.integers(0, 2)))
def test_runs_are_the_codes_again(codes: list[int]) -> None:
    again = [
        code
        for first, last, code in equal_element_spans(np.array(codes))
        for _ in range(first, last + 1)
    ]
    assert again == codes


@pytest.mark.long
def test_the_level_of_a_curve_holds_near_the_ceiling() -> None:
    """Beta(5, ½) against Beta(2, 0.15): a Gaussian multiplier band holds in 5 % of the runs."""
    rng = np.random.default_rng(1)
    laws, ks, n, tasks, count = ((5.0, 0.5), (2.0, 0.15)), np.arange(1, 11), 10, 30, 80
    falls = [np.cumprod((b + np.arange(n)) / (a + b + np.arange(n))) for a, b in laws]
    covered = gaussian = 0
    for run in range(count):
        first, second = (
            pass_at_and_hat_curves(np.full(tasks, n), rng.binomial(n, rng.beta(*law, tasks)), n)[0]
            for law in laws
        )
        gap, truth = first - second, falls[1] - falls[0]
        draws = bootstrap_means(gap, 500, run, kind="dirichlet")
        level = pointwise_level(draws, 0.95)
        p = min(GUARD.p(IntervalData(gap[:, k - 1], -1.0, 1.0), truth[k - 1]) for k in ks.tolist())
        covered += p > 1 - level
        se = gap.std(axis=0, ddof=1) / sqrt(tasks)
        gaussian += bool(np.all(np.abs(gap.mean(axis=0) - truth) <= 3 * se + 1e-12))
    assert covered / count >= 0.95 - 3 * sqrt(0.95 * 0.05 / count)
    assert gaussian / count < 0.5
