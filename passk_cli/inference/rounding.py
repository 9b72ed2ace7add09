"""Rounding in computed numbers, which differs from processor to processor.

A yes-or-no question (is there a spread, which of two is larger) must not depend on it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from passk_cli.arrays import Floats

# A share of the numbers that a result was computed from.
ROUNDING = 1e-12


def common_denominator(values: Floats, largest: int, within: float) -> int | None:
    """The least d for which all values are multiples of 1/d; None if it is above `largest`.

    values : finite.  within : how far a value may be from a multiple.

    >>> import numpy as np
    >>> common_denominator(np.array([0.5, 1 / 3]), 100, 1e-12)
    6
    """
    from fractions import Fraction

    denominator = 1
    for value in values.tolist():
        fraction = Fraction(value).limit_denominator(largest)
        if abs(float(fraction) - value) > within:
            return None
        denominator = math.lcm(denominator, fraction.denominator)
        if denominator > largest:
            return None
    return denominator
