"""The beta-binomial law of passes, with or without tasks that never or always pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from passk_cli.arrays import Bools, Floats, Ints
from passk_cli.laws.likelihood import Likelihood

# The parameters (logarithms of a and b, log odds of the masses) are held inside these limits:
# beyond them the law no longer changes.
_LOWEST = np.array([-12.0, -12.0, -15.0, -15.0])
_HIGHEST = np.array([12.0, 12.0, 15.0, 15.0])
_LONGEST_STEP = 1.5
_TINY = 1e-300
# Sums of up to this many terms per cell are faster than special functions.
_SUMMED = 4


@dataclass(frozen=True)
class BetaBinomial:
    """Success rates that are 0 with one probability, 1 with another, and else ~ Beta(a, b).

    a, b, never, always : (fits,); never and always are the masses at 0 and 1.
    log_likelihood : (fits,), weighted, without the binomial coefficients.
    """

    a: Floats
    b: Floats
    never: Floats
    always: Floats
    log_likelihood: Floats

    def failure(self, ks: ArrayLike) -> Floats:
        """E (1 − p)^k, the probability that all of k attempts at a random task fail: (fits × k).

        never + (1 − never − always) B(a, b + k) / B(a, b); 1 − pass@k for any k ≥ 0.

        >>> flat = BetaBinomial(*(np.array([x]) for x in (1.0, 1.0, 0.0, 0.0, 0.0)))
        >>> flat.failure([1, 9]).round(6).tolist()
        [[0.5, 0.1]]
        """
        from scipy.special import betaln

        a, b = self.a[:, None], self.b[:, None]
        fails = np.exp(betaln(a, b + np.asarray(ks, dtype=np.float64)) - betaln(a, b))
        never, always = self.never[:, None], self.always[:, None]
        failures: Floats = never + (1 - never - always) * fails
        return failures


def fit(
    n: Ints, c: Ints, weights: Floats, *, never: bool = False, always: bool = False,
    start: BetaBinomial | None = None,
) -> BetaBinomial:  # fmt: skip
    """Maximum likelihood of many weightings of the same cells at once.

    n, c : (cells,), best the distinct pairs.  weights : (fits × cells), tasks behind each.
    never, always : whether there is a mass at 0, at 1.
    start : a single fit to start all of them from; the moments of the data when None.
    Edge cases: rates that all are equal have no finite a and b: both go to e¹², where they act as
    equal.  A mass that is not needed goes to e⁻²⁵.

    >>> n, c = np.full(11, 10), np.arange(11)
    >>> found = fit(n, c, np.ones((1, 11)))
    >>> found.a.round(4).tolist(), found.b.round(4).tolist()
    ([1.0], [1.0])
    """
    masses = [mask for free, mask in ((never, c == 0), (always, c == n)) if free]
    if start is None:
        # The mean rate with a + b = 1, and a tenth in each mass.
        mean = np.clip(weights @ (c / n) / weights.sum(axis=1), 1e-3, 1 - 1e-3)
        odds = np.full((len(mean), len(masses)), np.log(0.1))
        place = np.column_stack([np.log(mean), np.log1p(-mean), odds])
    else:
        rest = 1 - start.never[0] - start.always[0]
        values = [np.log(start.a[0]), np.log(start.b[0])]
        both = ((never, start.never[0]), (always, start.always[0]))
        values += [np.log(max(mass, 1e-9) / rest) for free, mass in both if free]
        place = np.tile(np.clip(values, -10.0, 10.0), (len(weights), 1))
    law = _BetaLikelihood(weights, n, c, masses)
    height = law.climb(place)
    a, b = np.exp(place[:, :2].T)
    shares, zero = law.shares(place)[0], np.zeros(len(weights))
    return BetaBinomial(
        a, b, shares[:, 0] if never else zero, shares[:, -1] if always else zero, height
    )


@dataclass(frozen=True)
class _BetaLikelihood(Likelihood):
    """The log-likelihood of the cells, and its slopes.  masses : the cells that each mass has."""

    steps: ClassVar[int] = 100
    small_gain: ClassVar[float] = 1e-5
    damping: ClassVar[tuple[float, float]] = (1e-3, 1e3)

    n: Ints
    c: Ints
    masses: list[Bools]

    def shares(self, place: Floats) -> tuple[Floats, Floats]:
        """The masses, and what is left for the beta law: (fits × masses), (fits × 1)."""
        odds = np.exp(place[:, 2:])
        rest = 1 / (1 + odds.sum(axis=1, keepdims=True))
        return odds * rest, rest

    def rises(self, a: Floats, b: Floats, order: int) -> tuple[Floats, Floats, Floats]:
        """The three parts of log B(a + c, b + n − c) / B(a, b), or of its derivatives."""
        return (
            _rise(a, self.c, order),
            _rise(b, self.n - self.c, order),
            _rise(a + b, self.n, order),
        )

    def look(self, place: Floats) -> tuple[Floats, Floats]:
        """(log-likelihood, share of each cell that is the beta law's): (fits,), (fits × cells)."""
        of_a, of_b, of_both = self.rises(np.exp(place[:, :1]), np.exp(place[:, 1:2]), 0)
        log_beta = of_a + of_b - of_both
        shares, rest = self.shares(place)
        logs = np.log(rest) + log_beta
        own = np.ones_like(logs)
        for column, mask in enumerate(self.masses):
            beta = rest * np.exp(log_beta[:, mask])
            both = np.maximum(beta + shares[:, column : column + 1], _TINY)
            own[:, mask], logs[:, mask] = beta / both, np.log(both)
        return (self.weights * logs).sum(axis=1), own

    def slopes(self, place: Floats, own: Floats) -> tuple[Floats, Floats]:
        """Gradient (fits × parameters) and Hessian of the log-likelihood."""
        a, b = np.exp(place[:, :1]), np.exp(place[:, 1:2])
        up_a, up_b, up = self.rises(a, b, 1)
        bend_a, bend_b, bend = self.rises(a, b, 2)
        to_a, to_b = a * (up_a - up), b * (up_b - up)
        to_aa = to_a + a * a * (bend_a - bend)
        to_bb = to_b + b * b * (bend_b - bend)
        w, fits, size = self.weights * own, len(place), place.shape[1]
        spread = w * (1 - own)  # not knowing which law a cell is of takes curvature away
        gradient, hessian = np.zeros((fits, size)), np.zeros((fits, size, size))
        gradient[:, 0], gradient[:, 1] = (w * to_a).sum(axis=1), (w * to_b).sum(axis=1)
        hessian[:, 0, 0] = (w * to_aa + spread * to_a**2).sum(axis=1)
        hessian[:, 1, 1] = (w * to_bb + spread * to_b**2).sum(axis=1)
        hessian[:, 0, 1] = (spread * to_a * to_b - w * a * b * bend).sum(axis=1)
        total, shares = self.weights.sum(axis=1), self.shares(place)[0]
        for i, mask in enumerate(self.masses, start=2):
            share = shares[:, i - 2]
            gradient[:, i] = ((self.weights - w) * mask).sum(axis=1) - total * share
            hessian[:, i, i] = (spread * mask).sum(axis=1) - total * share * (1 - share)
            hessian[:, 0, i] = -(spread * to_a * mask).sum(axis=1)
            hessian[:, 1, i] = -(spread * to_b * mask).sum(axis=1)
        if size == 4:
            hessian[:, 2, 3] = total * shares[:, 0] * shares[:, 1]
        lower = np.tril_indices(size, -1)
        hessian[:, lower[0], lower[1]] = hessian[:, lower[1], lower[0]]
        return gradient, hessian

    def step(self, place: Floats, damping: Floats, *seen: Floats) -> Floats:
        """A step with curvature that points the wrong way turned round, and not too long."""
        gradient, hessian = self.slopes(place, *seen)
        bends, axes = np.linalg.eigh(-hessian)
        bends = np.abs(bends)
        most = bends.max(axis=1, keepdims=True) + 1e-12
        bends = np.maximum(bends, 1e-10 * most) + damping[:, None] * most
        along = np.einsum("fij,fi->fj", axes, gradient) / bends
        step = np.einsum("fij,fj->fi", axes, along)
        longest = np.abs(step).max(axis=1, keepdims=True)
        step = step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, _TINY))
        size = place.shape[1]
        after: Floats = np.clip(place + step, _LOWEST[:size], _HIGHEST[:size])
        return after

    def damped(self, damping: Floats, up: Bools) -> Floats:
        """Ten times less after a step up, ten times more after another."""
        return np.maximum(damping * np.where(up, 0.1, 10.0), 1e-8)


def _rise(x: Floats, counts: Ints, order: int) -> Floats:
    """log Γ(x + c) − log Γ(x), or its first or second derivative, for whole c: (fits × cells).

    Sums over i < c of log(x + i), 1 / (x + i), −1 / (x + i)².  x : (fits × 1).
    """
    most = int(counts.max())
    if most <= _SUMMED * len(counts):
        base = x + np.arange(most)
        terms = np.log(base) if order == 0 else 1 / base if order == 1 else -1 / base**2
        return np.column_stack([np.zeros(len(x)), np.cumsum(terms, axis=1)])[:, counts]
    from scipy.special import gammaln, polygamma

    distinct, index = np.unique(counts, return_inverse=True)
    form = gammaln if order == 0 else partial(polygamma, order - 1)
    rise: Floats = form(x + distinct) - form(x)
    return rise[:, index]
