"""p-values adjusted for everything that was tested at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Adjustment = Callable[[ArrayLike], NDArray[np.float64]]


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """p-values adjusted to bound the chance of any false rejection: max_{j≤i} (m−j+1)·p_(j).

    p_(1) ≤ … ≤ p_(m) are the sorted p-values; a hypothesis is rejected at a level when its
    adjusted p-value is at most that level.  Holds however the tests depend on each other.

    p : floats in [0, 1], any shape, all of it one family; NaN, a test that could not be made,
    stays NaN and does not count in m.  Returns floats in [p, 1] of the same shape, in the order
    of p; equal p-values stay equal.
    Errors: ValueError when a value lies outside [0, 1].
    Source: Holm 1979, "A simple sequentially rejective multiple test procedure".

    >>> holm([0.01, 0.04, 0.03, float("nan")]).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    p, order = _sorted(p)
    tested = len(order)
    raised = p.flat[order] * np.arange(tested, 0, -1)
    return _put_back(np.maximum.accumulate(raised), order, p)


def benjamini_hochberg(p: ArrayLike) -> NDArray[np.float64]:
    """p-values adjusted to bound the share of false rejections: min_{j≥i} m·p_(j)/j.

    p_(1) ≤ … ≤ p_(m) are the sorted p-values; rejecting where the adjusted value is at most q
    keeps the expected share of false among the rejected (the false discovery rate) at most q for
    tests that are independent or positively dependent.

    p : floats in [0, 1], any shape, all of it one family; NaN, a test that could not be made,
    stays NaN and does not count in m.  Returns floats in [p, 1] of the same shape, in the order
    of p; equal p-values stay equal.
    Errors: ValueError when a value lies outside [0, 1].
    Source: Benjamini & Hochberg 1995, "Controlling the false discovery rate".

    >>> benjamini_hochberg([0.01, 0.04, 0.03, float("nan")]).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    p, order = _sorted(p)
    tested = len(order)
    raised = p.flat[order] * (tested / np.arange(1, tested + 1))
    return _put_back(np.minimum.accumulate(raised[::-1])[::-1], order, p)


def unadjusted(p: ArrayLike) -> NDArray[np.float64]:
    """The p-values as they are, each its own family.

    p : floats in [0, 1], any shape; NaN stays NaN.  Returns a copy.
    Errors: ValueError when a value lies outside [0, 1].

    >>> unadjusted([0.01, 0.04]).tolist()
    [0.01, 0.04]
    """
    return _sorted(p)[0].copy()


#: The adjustments by the name they have on the command line.
ADJUSTMENTS: dict[str, Adjustment] = {
    "holm": holm,
    "bh": benjamini_hochberg,
    "none": unadjusted,
}


def _sorted(p: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """p as floats, and the flat positions of the values that are not NaN, smallest first."""
    array = np.asarray(p, dtype=np.float64)
    if np.any((array < 0) | (array > 1)):
        raise ValueError("p-values must lie between 0 and 1")
    order = np.argsort(array, axis=None, kind="stable")
    return array, order[: array.size - np.count_nonzero(np.isnan(array))]


def _put_back(
    raised: NDArray[np.float64], order: NDArray[np.intp], p: NDArray[np.float64]
) -> NDArray[np.float64]:
    adjusted = np.full(p.shape, np.nan)
    # Rounding in m·p/m must not bring a value below the p it came from.
    adjusted.flat[order] = np.clip(raised, p.flat[order], 1.0)
    return adjusted
