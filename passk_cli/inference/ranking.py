"""Who is ahead, said with care: letters of groups that cannot be told apart, ranks, crossings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TIE = 1e-12


def letters(different: NDArray[np.bool_]) -> list[str]:
    """Letters for models such that two share one exactly when they are not told apart.

    different : (models × models) symmetric, True where a test tells two models apart; models in
        order of their estimates, the best first.
    Returns one string of letters a, b, … per model.
    Source: Piepho 2004, "An algorithm for a letter-based representation of all-pairwise
    comparisons" (insert and absorb).

    >>> letters(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool))
    ['a', 'ab', 'b']
    """
    count = len(different)
    columns = [frozenset(range(count))]
    for i in range(count):
        for j in range(i + 1, count):
            if not different[i, j]:
                continue
            split = [
                part
                for column in columns
                for part in ((column - {i}, column - {j}) if {i, j} <= column else (column,))
            ]
            columns = [c for c in dict.fromkeys(split) if not any(c < other for other in split)]
    columns.sort(key=sorted)
    names = [_letter(place) for place in range(len(columns))]
    return ["".join(n for n, c in zip(names, columns, strict=True) if i in c) for i in range(count)]


def _letter(place: int) -> str:
    """a … z, then a1 … z1 and so on."""
    return chr(ord("a") + place % 26) + (str(place // 26) if place >= 26 else "")


def lead_shares(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the rows in which each column is the largest, ties shared equally.

    It describes the draws; it is no probability that a model is the best, and no test.

    draws : (resamples × models).  Returns (models,), summing to 1.

    >>> lead_shares(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist()
    [0.75, 0.25]
    """
    winners = draws >= draws.max(axis=1, keepdims=True) - _TIE
    shares: NDArray[np.float64] = (winners / winners.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


def rank_limits(better: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Best and worst rank of each model that the tests leave open: (models × 2).

    1 + the number of models significantly better, and M − the number significantly worse: what
    the tests behind the letters say (`letters`), so a model tied with all others has 1 and M.

    better : (models × models), True where the model of the row is significantly better than that of
    the column.

    >>> rank_limits(np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], dtype=bool)).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    beaten_by, beats = better.sum(axis=0), better.sum(axis=1)
    return np.stack([1 + beaten_by, len(better) - beats], axis=1).astype(np.int64)


def crossing(gap: NDArray[np.float64]) -> NDArray[np.float64]:
    """The k at which the lead changes, per row: the first k whose gap has the other sign than k=1.

    gap : (rows × k) difference of two curves at k = 1, 2, …; the lead at k=1 is the first gap that
        is not zero.  Returns floats (rows,); infinity where the lead never changes.

    >>> crossing(np.array([[-0.1, 0.0, 0.2], [0.1, 0.2, 0.3]])).tolist()
    [3.0, inf]
    """
    signs = np.sign(np.where(np.abs(gap) <= _TIE, 0.0, gap))
    first = np.argmax(signs != 0, axis=1)
    lead = signs[np.arange(len(signs)), first]
    turned = signs == -lead[:, None]
    turned[lead == 0] = False
    return np.where(turned.any(axis=1), np.argmax(turned, axis=1) + 1.0, np.inf)
