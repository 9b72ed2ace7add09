"""Adjustment of p-values for the number of tests in a family."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from passk_cli.arrays import ArrayLike, Floats, Indices


def holm(p: ArrayLike, smallest: ArrayLike | None = None) -> Floats:
    """p-values adjusted by Holm's method, which bounds the probability of any false rejection.

    The adjusted i-th smallest p-value is max_{j≤i} m_j·p_(j). In this formula, p_(1) ≤ … ≤ p_(m)
    are the sorted p-values, and m_j = m−j+1 is the number of tests from rank j on. If you give the
    smallest possible p-value of each test, m_j counts only the tests that can reach p_(j): m_j =
    #{i ≥ j : smallest_(i) ≤ p_(j)}. Therefore, a test that cannot be significant does not raise the
    p-values of the other tests.

    The bound is valid for any dependence between the tests, because Holm's stepwise procedure is a
    closed test. The smallest possible p-value of a test may depend only on quantities that the test
    conditions on, such as the sizes of the differences or the total numbers of passes.

    p : p-values of one family of tests, in an array of any shape. If a test is impossible, its
        p-value is NaN. NaN stays NaN and is not counted in m.
    smallest : the smallest possible p-value of each test; None if every test can reach 0.
    Returns the adjusted p-values, in the shape and order of p. Each one is between p and 1.
    Errors: ValueError if a p-value is outside [0, 1] or below its smallest possible value.
    Source: Holm 1979; Tarone 1990; Westfall & Wolfinger 1997; Hommel & Krummenauer 1998.

    >>> holm([0.01, 0.04, 0.03, float("nan")]).tolist()
    [0.03, 0.06, 0.06, nan]
    >>> holm([0.01, 1.0, 1.0], smallest=[0.001, 0.25, 1.0]).tolist()
    [0.01, 1.0, 1.0]
    """
    p, order = _p_and_sort_order(p)
    remaining = np.arange(len(order), 0, -1)
    if smallest is not None:
        least = np.broadcast_to(np.asarray(smallest, dtype=np.float64), p.shape)
        if np.any((least < 0) | (least > p * (1 + 1e-9))):
            raise ValueError(
                "smallest, the smallest p-value that a test can reach, must be between 0 and p"
            )
        # Rounding may raise the smallest possible p-value of a test above the actual p-value of the
        # test.
        least = np.sort(np.minimum(least, p).flat[order])
        remaining = np.searchsorted(least, p.flat[order], side="right") - np.arange(len(order))
    return _clip_and_restore_order(np.maximum.accumulate(p.flat[order] * remaining), order, p)


def benjamini_hochberg(p: ArrayLike, smallest: ArrayLike | None = None) -> Floats:
    """p-values adjusted by Benjamini and Hochberg's method, which bounds the false discovery rate.

    For m p-values, the i-th smallest adjusted p-value is min_{j≥i} m·p_(j)/j. If you reject
    hypotheses with an adjusted p-value of at most q, the false discovery rate (the expected share
    of false rejections) is at most q. This bound requires that the tests are independent or
    positively dependent.

    p : p-values as for `holm`.  smallest : not used, so every test is counted in m.
    Returns the adjusted p-values, in the shape and order of p. Each one is between p and 1.
    Errors: ValueError if a value is outside [0, 1].
    Source: Benjamini & Hochberg 1995.

    >>> benjamini_hochberg([0.01, 0.04, 0.03, float("nan")]).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    p, order = _p_and_sort_order(p)
    tests = len(order)
    raised = p.flat[order] * (tests / np.arange(1, tests + 1))
    return _clip_and_restore_order(np.minimum.accumulate(raised[::-1])[::-1], order, p)


def unadjusted(p: ArrayLike, smallest: ArrayLike | None = None) -> Floats:
    """The p-values without adjustment, as if each test were a family of one test.

    Errors: ValueError if a value is outside [0, 1].

    >>> unadjusted([0.01, 0.04]).tolist()
    [0.01, 0.04]
    """
    return _p_and_sort_order(p)[0].copy()


# ADJUSTMENTS maps the name of a method to a function of the p-values of one family and the smallest
# p-value that each test can reach (or None). The function returns the adjusted p-values.
ADJUSTMENTS: dict[str, Callable[..., Floats]] = {
    "holm": holm,
    "bh": benjamini_hochberg,
    "none": unadjusted,
}


def _p_and_sort_order(p: ArrayLike) -> tuple[Floats, Indices]:
    array = np.asarray(p, dtype=np.float64)
    if np.any((array < 0) | (array > 1)):
        raise ValueError("p-values must be between 0 and 1")
    order = np.argsort(array, axis=None, kind="stable")
    return array, order[: array.size - np.count_nonzero(np.isnan(array))]


def _clip_and_restore_order(raised: Floats, order: Indices, p: Floats) -> Floats:
    adjusted = np.full(p.shape, np.nan)
    adjusted.flat[order] = np.clip(raised, p.flat[order], 1.0)
    return adjusted
