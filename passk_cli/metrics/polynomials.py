"""Polynomials in a task's success rate, for metrics with unbiased estimates from counts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from passk_cli.arrays import Floats

# Each term of a polynomial consists of the logarithm of its coefficient, a sign, and the exponents
# of p and 1 − p.
Term = tuple[float, float, int, int]


@dataclass(frozen=True)
class SuccessRatePolynomial:
    """The polynomial Σ sign · exp(log) · p^passes · (1 − p)^failures, for p in [0, 1].

    terms : one tuple (log, sign, passes, failures) per term. Logarithms are used because binomial
        coefficients and powers of small rates are outside the range of floats.

    >>> one_of_two = SuccessRatePolynomial(((math.log(2), 1.0, 1, 1),))
    >>> float(one_of_two.value_at(0.5)), float(one_of_two.beta_expectation(1.0, 1.0).round(6))
    (0.5, 0.333333)
    """

    terms: tuple[Term, ...]

    def value_at(self, p: float | Floats) -> Floats:
        """The value of the polynomial at each success rate p."""
        p = np.asarray(p, dtype=np.float64)
        total = np.zeros(p.shape)
        for log, sign, passes, failures in self.terms:
            with np.errstate(divide="ignore", invalid="ignore"):
                powers = [m * np.log(x) for m, x in ((passes, p), (failures, 1.0 - p)) if m]
            total += sign * np.exp(log + sum(powers))
        return total

    def beta_expectation(self, a: float | Floats, b: float | Floats) -> Floats:
        """The mean value of the polynomial over p ~ Beta(a, b).

        The mean is Σ ± exp(log) B(a + passes, b + failures) / B(a, b).
        """
        from passk_cli.scipy_special import betaln

        a, b = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(b, np.float64))
        base, total = betaln(a, b), np.zeros(a.shape)
        for log, sign, passes, failures in self.terms:
            total += sign * np.exp(log + betaln(a + passes, b + failures) - base)
        return total

    def times(self, factor: SuccessRatePolynomial) -> SuccessRatePolynomial:
        """The product of two polynomials, with terms of equal exponents merged."""
        return sum_of_terms(
            (log + more, sign * same, passes + p, failures + f)
            for log, sign, passes, failures in self.terms
            for more, same, p, f in factor.terms
        )

    @cached_property
    def square(self) -> SuccessRatePolynomial:
        """The square of the polynomial."""
        return self.times(self)


def sum_of_terms(terms: Iterable[Term]) -> SuccessRatePolynomial:
    """The sum of the terms, with terms of equal exponents merged."""
    groups: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for log, sign, passes, failures in terms:
        groups.setdefault((passes, failures), []).append((log, sign))
    sums = []
    for powers, parts in groups.items():
        top = max(log for log, _ in parts)
        if total := math.fsum(sign * math.exp(log - top) for log, sign in parts):
            sums.append((top + math.log(abs(total)), math.copysign(1.0, total), *powers))
    return SuccessRatePolynomial(tuple(sums))


def pass_hat_k_polynomial(k: int) -> SuccessRatePolynomial:
    """The polynomial p^k, which is the expectation of pass^k."""
    return SuccessRatePolynomial(((0.0, 1.0, k, 0),))


def all_fail_polynomial(k: int) -> SuccessRatePolynomial:
    """The polynomial (1 − p)^k, which is the expectation of 1 − pass@k."""
    return SuccessRatePolynomial(((0.0, 1.0, 0, k),))


# A polynomial has at most _MOST_TERMS terms, because squares of longer polynomials take too long.
_MOST_TERMS = 200
PolynomialOrComplement = tuple[SuccessRatePolynomial, bool]


def expectation_polynomial(values: Floats) -> PolynomialOrComplement | None:
    """The expectation of a metric of k attempts, as a polynomial in the success rate.

    The expectation is Σ_i v_i C(k, i) p^i (1−p)^(k−i).
    values : the values v_0, …, v_k of the metric for 0, …, k passes among k attempts.
    Returns (polynomial, False), or (polynomial of 1 − metric, True) if the second polynomial has
    fewer terms, for example (1 − p)^k for pass@k. The result is None if both polynomials have more
    than 200 terms.

    >>> polynomial, complement = expectation_polynomial(np.array([0.0, 1.0, 1.0]))
    >>> float(polynomial.value_at(0.25)), complement
    (0.5625, True)
    """
    complement = bool(np.count_nonzero(1.0 - values) < np.count_nonzero(values))
    values = 1.0 - values if complement else values
    if np.count_nonzero(values) > _MOST_TERMS:
        return None
    k, terms = len(values) - 1, []
    for i, value in enumerate(values.tolist()):
        if value:
            ways = math.lgamma(k + 1) - math.lgamma(i + 1) - math.lgamma(k - i + 1)
            terms.append((ways + math.log(abs(value)), math.copysign(1.0, value), i, k - i))
    return SuccessRatePolynomial(tuple(terms)), complement
