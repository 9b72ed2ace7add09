"""Roots and peaks of functions of one variable, without the slow import of `scipy.optimize`."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from passk_cli.arrays import Floats

_MOST_STEPS = 200


def parabola_peak_heights(before: Floats, middle: Floats, after: Floats) -> Floats:
    """The maximum of the parabola through three equally spaced points.

    If the middle point is not the highest of the three, the function returns the middle value.

    >>> left, middle, right = np.array([0.0, 1.0]), np.array([1.0, 2.0]), np.array([1.0, 3.0])
    >>> parabola_peak_heights(left, middle, right).tolist()
    [1.125, 2.0]
    """
    bend = 2 * middle - before - after
    peak = (middle >= before) & (middle >= after) & (bend > 0)
    rise = np.where(peak, (after - before) ** 2 / (8 * np.where(peak, bend, 1.0)), 0.0)
    return middle + rise


def find_root(function: Callable[[float], float], low: float, high: float, within: float) -> float:
    """A point between low and high at which a continuous function changes its sign.

    The method is regula falsi with the weights of Anderson and Björck. If three steps do not halve
    the bracket, the method bisects it. The search needs only a few steps for smooth functions.

    function : a function with opposite signs at low and high, or with the value 0 at one of them.
    within : the required accuracy of the point, above 0. The precision of doubles limits the
        accuracy.
    Errors: ValueError if the function has the same sign at low and high.
    Source: Anderson & Björck 1973, BIT 13, 253–264.

    >>> round(find_root(lambda x: x * x - 2, 0.0, 2.0, 1e-12), 9) == round(2**0.5, 9)
    True
    """
    a, b = low, high
    height_a, height_b = function(a), function(b)
    if height_a == 0.0 or height_b == 0.0:
        return a if height_a == 0.0 else b
    if (height_a > 0) == (height_b > 0):
        raise ValueError("the function has the same sign at both ends of the interval")
    width, slow = abs(b - a), 0
    for _ in range(_MOST_STEPS):
        if abs(b - a) <= max(within, 4e-16 * max(abs(a), abs(b))):
            break
        step = b - height_b * (b - a) / (height_b - height_a)
        if slow >= 3 or not min(a, b) < step < max(a, b) or not math.isfinite(step):
            step = a + (b - a) / 2
        # A step that ends close to an end of the bracket is moved to the opposite side of the root.
        elif abs(step - b) < within / 2:
            step = b + math.copysign(within / 2, a - b)
        height = function(step)
        if height == 0.0:
            return step
        if (height > 0) != (height_b > 0):
            a, height_a = b, height_b
        else:
            share = 1.0 - height / height_b
            height_a *= share if share > 0 else 0.5
        b, height_b = step, height
        halved = abs(b - a) <= width / 2
        width, slow = (abs(b - a), 0) if halved else (width, slow + 1)
    return b
