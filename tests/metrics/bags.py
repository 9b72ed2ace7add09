"""Ragged multisets and outcomes for tests: the attempts of a cell or task, and subsets of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from hypothesis import strategies as st

Bag = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Row = tuple[Any, int, int]  # value, attempts with it, how many of those passed


def bag(*cells: Sequence[Row]) -> Bag:
    """start, value, count, passed of cells given as rows."""
    start = np.cumsum([0, *(len(rows) for rows in cells)])
    columns = zip(*(row for rows in cells for row in rows), strict=True)
    value, count, passed = (np.array(column) for column in columns)
    return start, value, count, passed


def ragged(tasks: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """(start, passed) of the tasks' outcomes."""
    start = np.concatenate([[0], np.cumsum([len(task) for task in tasks])])
    return start, np.concatenate([np.array(task, dtype=np.int64) for task in tasks])


def rows(most: int, first: int = 0) -> st.SearchStrategy[list[Row]]:
    """A cell of at most so many attempts; values are codes from `first` up, some verdicts mixed."""

    def verdicts(counts: list[int]) -> st.SearchStrategy[list[Row]]:
        item = [
            st.sampled_from([0, n]) | st.integers(0, n) if first + j >= 0 else st.just(0)
            for j, n in enumerate(counts)
        ]
        return st.tuples(*item).map(
            lambda passed: [
                (first + j, n, p) for j, (n, p) in enumerate(zip(counts, passed, strict=True))
            ]
        )

    counts = st.lists(st.integers(1, most), min_size=1, max_size=most)
    return counts.filter(lambda c: sum(c) <= most).flatmap(verdicts)


def over_subsets(cell: Sequence[Row], k: int, of: Callable[[list[Row]], Fraction]) -> Fraction:
    """The mean of a function over all k-subsets of a cell's attempts, exactly.

    Each attempt is (value, 1, 1 if it passed).
    """
    attempts = [(value, 1, int(i < p)) for value, n, p in cell for i in range(n)]
    result = [of(list(subset)) for subset in combinations(attempts, k)]
    return sum(result, Fraction(0)) / len(result)
