"""Types of numpy arrays for annotations, and functions that split and group rows."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "ArrayLike",
    "Bools",
    "Floats",
    "Indices",
    "Ints",
    "NDArray",
    "arrays_equal",
    "group_by",
    "group_pairs",
    "row_blocks",
]  # fmt: skip

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Indices = NDArray[np.intp]
Item = TypeVar("Item")
Key = TypeVar("Key")


def row_blocks(rows: int, cells: int, most: int) -> Iterator[slice]:
    """Slices that split the rows of a table into blocks of at most `most` numbers.  Each row of the
    table has `cells` numbers, and each block has at least one row.

    >>> [(here.start, here.stop) for here in row_blocks(5, 10, 20)]
    [(0, 2), (2, 4), (4, 5)]
    """
    size = max(1, most // max(cells, 1))
    return (slice(first, min(first + size, rows)) for first in range(0, rows, size))


def arrays_equal(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Whether two arrays have equal elements.

    >>> arrays_equal(np.arange(3), np.array([0, 1, 2]))
    True
    """
    return first is second or np.array_equal(first, second)


def group_pairs(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """A dict that maps each key to the items of all pairs (key, item) with this key.  The keys are
    in the order in which they first occur.

    >>> group_pairs([("odd", 3), ("odd", 1), ("even", 4)])
    {'odd': [3, 1], 'even': [4]}
    """
    groups: dict[Key, list[Item]] = {}
    for key, item in pairs:
        groups.setdefault(key, []).append(item)
    return groups


def group_by(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """A dict that maps each key to the items with this key.  The keys are in the order in which
    they first occur.

    >>> group_by([3, 1, 4, 5], lambda number: number % 2)
    {1: [3, 1, 5], 0: [4]}
    """
    return group_pairs((key(item), item) for item in items)
