"""Polynomials in the success rate: expectations against exact fractions and enumeration."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from passk_cli.metrics.polynomials import all_fail_polynomial, pass_hat_k_polynomial, sum_of_terms
from passk_cli.metrics.registry import parse_metric


def exact_expectation(name: str, p: Fraction) -> Fraction:
    """Σ_i C(k, i) p^i (1−p)^(k−i) · metric(k, i)."""
    metric = parse_metric(name)
    k = metric.k
    values = metric.values(np.full(k + 1, k), np.arange(k + 1))
    chances = (math.comb(k, i) * p**i * (1 - p) ** (k - i) for i in range(k + 1))
    return sum((w * Fraction(v) for w, v in zip(chances, values.tolist(), strict=True)), Fraction())


@pytest.mark.parametrize(
    "name", ["pass@1", "pass@5", "pass^1", "pass^4", "gpass@8:0.75", "mgpass@6", "gain@4"]
)
def test_a_metric_estimates_its_polynomial(name: str) -> None:
    result = parse_metric(name).expectation_polynomial
    assert result is not None
    polynomial, remainder = result
    for p in (Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(9, 10), Fraction(1)):
        value = float(polynomial.value_at(float(p)))
        assert (1 - value if remainder else value) == pytest.approx(
            float(exact_expectation(name, p))
        )


def test_expectations_over_a_beta_law() -> None:
    """E p^i (1−p)^j over Beta(2, 3): (2)_i (3)_j / (5)_(i+j), rising factorials."""

    def rising(x: int, times: int) -> int:
        return math.prod(x + i for i in range(times))

    for i, j in ((3, 0), (0, 4), (2, 5)):
        value = pass_hat_k_polynomial(i).times(all_fail_polynomial(j))
        exact = Fraction(rising(2, i) * rising(3, j), rising(5, i + j))
        assert float(value.beta_expectation(2.0, 3.0)) == pytest.approx(float(exact), rel=1e-12)
        squared = Fraction(rising(2, 2 * i) * rising(3, 2 * j), rising(5, 2 * (i + j)))
        assert float(value.square.beta_expectation(2.0, 3.0)) == pytest.approx(
            float(squared), rel=1e-12
        )


def test_terms_that_cancel_are_gone() -> None:
    first = pass_hat_k_polynomial(3).terms[0]
    assert sum_of_terms((first, (first[0], -first[1], *first[2:]))).terms == ()


def test_what_has_no_polynomial() -> None:
    assert parse_metric("maj@3").expectation_polynomial is None
    assert parse_metric("gpass@1000:0.5").expectation_polynomial is None
    assert parse_metric("pass@1000000000").expectation_polynomial is not None
