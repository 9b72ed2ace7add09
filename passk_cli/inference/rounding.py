"""Rounding in computed numbers, which differs from processor to processor.

A question of yes or no (is there a spread, which of two is larger) is not answered by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A share of the numbers that a result was computed from.
ROUNDING = 1e-12


def constant(values: NDArray[np.float64]) -> bool:
    """Whether all values are one value but for rounding.

    values : (tasks,), T ≥ 1.

    >>> constant(np.array([0.3, 0.1 + 0.2])), constant(np.array([0.3, 0.3001]))
    (True, False)
    """
    low, high = float(values.min()), float(values.max())
    return high - low <= ROUNDING * max(-low, high)
