"""Roots: against scipy, and functions that make the secant crawl."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from passk_cli.inference.roots import find_root

FUNCTIONS: list[tuple[Callable[[float], float], float, float]] = [
    (lambda x: math.cos(x) - x, 0.0, 1.0),
    (lambda x: x**3 + 1e-3 * x, -1.0, 1.7),
    (lambda x: 1.0 - math.exp(-50 * x) - 1e-6, 0.0, 30.0),
    (lambda x: math.atan(1e4 * (x - 0.3)), -5.0, 7.0),
    (lambda x: -1.0 if x < 0.123 else 1e-9, 0.0, 1.0),
    (lambda x: 2.0 - x, 0.0, 1e6),
]


@pytest.mark.parametrize(("function", "low", "high"), FUNCTIONS)
def test_roots_are_those_of_scipy(
    function: Callable[[float], float], low: float, high: float
) -> None:
    calls = []

    def counts(x: float) -> float:
        calls.append(x)
        return function(x)

    root = find_root(counts, low, high, 1e-9)
    assert root == pytest.approx(brentq(function, low, high, xtol=1e-12), abs=2e-9)
    assert find_root(function, high, low, 1e-9) == pytest.approx(root, abs=2e-9)
    assert len(calls) < 130


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 300))
def test_the_bracket_is_as_narrow_as_requested(at: float, slope: float) -> None:
    root = find_root(lambda x: math.sinh(slope * (x - at) / 2e3), -2e3, 2e3, 1e-10)
    assert abs(root - at) <= 1e-10 + 1e-12


def test_roots_at_ends_and_functions_without_a_root() -> None:
    assert find_root(lambda x: x, 0.0, 1.0, 1e-9) == 0.0
    assert find_root(lambda x: x - 1, 0.0, 1.0, 1e-9) == 1.0
    with pytest.raises(ValueError, match="same sign"):
        find_root(lambda x: 1.0 + x, 0.0, 1.0, 1e-9)
