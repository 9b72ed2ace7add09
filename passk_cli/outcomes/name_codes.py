"""Integer codes of names: passk stores each name once, so that long columns contain only
indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from passk_cli.arrays import Ints

Name = TypeVar("Name", str, tuple[str, ...])


def encode(values: Sequence[Name]) -> tuple[list[Name], Ints]:
    """The sorted distinct names of a list, and for each entry of the list the index of its name.

    >>> names, codes = encode(["b", "a", "b"])
    >>> names, codes.tolist()
    (['a', 'b'], [1, 0, 1])
    """
    names = sorted(set(values))
    index = {name: code for code, name in enumerate(names)}
    return names, np.fromiter((index[v] for v in values), dtype=np.int64, count=len(values))


def sort_and_merge_names(names: Sequence[Name], codes: Ints) -> tuple[list[Name], Ints]:
    """The sorted names without unused and repeated names, and for each row the new index of its
    name.

    >>> names, codes = sort_and_merge_names(["b", "", "a", "b"], np.array([3, 2, 0]))
    >>> names, codes.tolist()
    (['a', 'b'], [1, 0, 1])
    """
    appear = np.bincount(codes, minlength=len(names)).tolist()
    present = sorted({name for name, times in zip(names, appear, strict=True) if times})
    index = {name: code for code, name in enumerate(present)}
    places = np.array([index.get(name, -1) for name in names], dtype=np.int64)
    return present, places[codes]


def combine_name_columns(
    columns: Sequence[tuple[Sequence[str], Ints]],
) -> tuple[list[tuple[str, ...]], Ints]:
    """Several columns of names, joined into one column of tuples.  Each column consists of a list
    of names and the index of each row's name.

    >>> combine_name_columns([(["a", "b"], np.array([1, 1, 0])), (["x"], np.array([0, 0, 0]))])
    ([('a', 'x'), ('b', 'x')], array([1, 1, 0]))
    """
    names, codes = columns[0]
    tuples: list[tuple[str, ...]] = [(name,) for name in names]
    for further_names, further_codes in columns[1:]:
        keys, codes = np.unique(codes * len(further_names) + further_codes, return_inverse=True)
        firsts, lasts = (part.tolist() for part in np.divmod(keys, len(further_names)))
        tuples = [(*tuples[i], further_names[j]) for i, j in zip(firsts, lasts, strict=True)]
    return tuples, codes
