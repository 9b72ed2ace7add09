"""Rounding errors in computed numbers. Such errors differ from processor to processor.

A decision, for example which of two numbers is larger, must not depend on rounding errors.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from passk_cli.arrays import Floats

# A computed number is treated as a rounding error if its size, relative to the inputs, is below
# ROUNDING_TOLERANCE.
ROUNDING_TOLERANCE = 1e-12


def common_denominator(values: Floats, largest: int, within: float) -> int | None:
    """The smallest integer d for which all values are multiples of 1/d, or None if d > `largest`.

    values : finite numbers.  within : largest distance of a value from a multiple of 1/d.

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
