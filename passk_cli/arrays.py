"""Names of arrays by what they hold, for annotations; and blocks of rows that bound memory."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ArrayLike", "Bools", "Floats", "Ints", "NDArray", "Places", "blocks"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
# Indices, as numpy returns them.
Places = NDArray[np.intp]


def blocks(rows: int, cells: int, most: int) -> Iterator[slice]:
    """Slices of so many rows, each with at most `most` numbers where a row has `cells`.

    >>> [(here.start, here.stop) for here in blocks(5, 10, 20)]
    [(0, 2), (2, 4), (4, 5)]
    """
    size = max(1, most // max(cells, 1))
    return (slice(first, min(first + size, rows)) for first in range(0, rows, size))
