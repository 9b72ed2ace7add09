"""p-values adjusted for everything that was tested at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from passk_cli.arrays import ArrayLike, Floats, Places


def holm(p: ArrayLike, smallest: ArrayLike | None = None) -> Floats:
    """p-values adjusted to bound the chance of any false rejection: max_{j≤i} m_j·p_(j).

    p_(1) ≤ … ≤ p_(m) are the sorted p-values, and m_j = m−j+1 is the number of tests that remain.
    If the smallest p that each test can reach is known, m_j counts only the tests that could have
    reached p_(j): m_j = #{i ≥ j : smallest_(i) ≤ p_(j)}. A test that cannot reject therefore costs
    the other tests nothing.

    The bound holds however the tests depend on each other. P(any p of a set J ≤ x) ≤ x·#{i ∈ J :
    smallest_i ≤ x} grows with x and J, so that stepping down is closed testing. The smallest
    p-values have to be fixed by what each test conditions on (sizes of differences, totals of
    passes).

    p : floats in [0, 1] of any shape, which form one family. NaN means that a test could not be
        made; it stays NaN and does not count in m.
    smallest : of the shape of p, at most p; 0 if None.
    Returns floats in [p, 1] of the same shape, in the order of p; equal p-values stay equal.
    Errors: ValueError if a value is outside [0, 1], or if a p is below its smallest.
    Source: Holm 1979; Tarone 1990; Westfall & Wolfinger 1997 (stepping down, adjusted p); Hommel &
    Krummenauer 1998.

    >>> holm([0.01, 0.04, 0.03, float("nan")]).tolist()
    [0.03, 0.06, 0.06, nan]
    >>> holm([0.01, 1.0, 1.0], smallest=[0.001, 0.25, 1.0]).tolist()
    [0.01, 1.0, 1.0]
    """
    p, order = _sorted_with_places(p)
    remaining = np.arange(len(order), 0, -1)
    if smallest is not None:
        least = np.broadcast_to(np.asarray(smallest, dtype=np.float64), p.shape)
        if np.any((least < 0) | (least > p * (1 + 1e-9))):
            raise ValueError(
                "smallest, the smallest p-value that a test can reach, must be between 0 and p"
            )
        # Rounding may raise a smallest p above the p of its test. The tests before place j have a
        # smallest p of at most their own p, and so of at most p_(j). They are among the tests that
        # could reach it.
        least = np.sort(np.minimum(least, p).flat[order])
        remaining = np.searchsorted(least, p.flat[order], side="right") - np.arange(len(order))
    return _in_original_order(np.maximum.accumulate(p.flat[order] * remaining), order, p)


def benjamini_hochberg(p: ArrayLike, smallest: ArrayLike | None = None) -> Floats:
    """p-values adjusted to bound the share of false rejections: min_{j≥i} m·p_(j)/j.

    If you reject tests with an adjusted value of at most q, the expected share of false rejections
    among all rejections (the false discovery rate) is at most q, for tests that are independent or
    positively dependent.

    p : as for `holm`.  smallest : not used. Every test counts, including tests that cannot reject.
    Returns floats in [p, 1] of the shape and order of p; equal p-values stay equal.
    Errors: ValueError if a value is outside [0, 1].
    Source: Benjamini & Hochberg 1995.

    >>> benjamini_hochberg([0.01, 0.04, 0.03, float("nan")]).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    p, order = _sorted_with_places(p)
    tests = len(order)
    raised = p.flat[order] * (tests / np.arange(1, tests + 1))
    return _in_original_order(np.minimum.accumulate(raised[::-1])[::-1], order, p)


def unadjusted(p: ArrayLike, smallest: ArrayLike | None = None) -> Floats:
    """The p-values as they are: each test is its own family.

    p : floats in [0, 1] of any shape; NaN stays NaN.  smallest : not used.  Returns a copy.
    Errors: ValueError if a value is outside [0, 1].

    >>> unadjusted([0.01, 0.04]).tolist()
    [0.01, 0.04]
    """
    return _sorted_with_places(p)[0].copy()


# Name on the command line → p-values of one family, and the smallest each test can reach (or None)
# → adjusted p-values.
ADJUSTMENTS: dict[str, Callable[..., Floats]] = {
    "holm": holm,
    "bh": benjamini_hochberg,
    "none": unadjusted,
}


def _sorted_with_places(p: ArrayLike) -> tuple[Floats, Places]:
    """p as floats, and the flat positions of the values that are not NaN, smallest first."""
    array = np.asarray(p, dtype=np.float64)
    if np.any((array < 0) | (array > 1)):
        raise ValueError("p-values must be between 0 and 1")
    order = np.argsort(array, axis=None, kind="stable")
    return array, order[: array.size - np.count_nonzero(np.isnan(array))]


def _in_original_order(raised: Floats, order: Places, p: Floats) -> Floats:
    adjusted = np.full(p.shape, np.nan)
    # Rounding in m·p/m must not lower a value below the p that it came from.
    adjusted.flat[order] = np.clip(raised, p.flat[order], 1.0)
    return adjusted
