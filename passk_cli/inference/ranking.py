"""Rankings with uncertainty: letters for ties, limits of ranks, and crossings of pass@k curves."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from passk_cli.arrays import Bools, Floats, Indices, Ints

_TIE_TOLERANCE = 1e-12


def compact_letters(different: Bools) -> list[str]:
    """Letters for models. Two models share a letter if and only if the two models tie.

    different : for each pair of models, whether the two models differ significantly, as a symmetric
        array (models × models). The models are sorted from the best to the worst estimate.
    Returns one string of letters a, b, … per model.
    Source: Piepho 2004, "An algorithm for a letter-based representation of all-pairwise
    comparisons" (insert and absorb).

    >>> compact_letters(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool))
    ['a', 'ab', 'b']
    """
    count = len(different)
    groups = [(1 << count) - 1]
    for i, j in np.argwhere(np.triu(different, 1)).tolist():
        pair = 1 << i | 1 << j
        unsplit = [group for group in groups if group & pair != pair]
        split = [group for group in groups if group & pair == pair]
        parts = dict.fromkeys(group & ~(1 << model) for group in split for model in (i, j))
        groups = unsplit + [
            part
            for part in parts
            if not any(part & group == part for group in unsplit)
            and not any(part & larger == part != larger for larger in parts)
        ]
    members = sorted([i for i in range(count) if group >> i & 1] for group in groups)
    shared = [""] * count
    for place, models in enumerate(members):
        for i in models:
            # The letters are a … z, then a1 … z1, then a2 … z2 and so on.
            shared[i] += chr(ord("a") + place % 26) + (str(place // 26) if place >= 26 else "")
    return shared


def abbreviate_tie_letters(letters: str) -> str:
    """The letters of a model as text, in which a range replaces three or more neighbouring letters.

    Because of the commas and ranges, the letters do not look like a word.

    >>> [abbreviate_tie_letters(letters) for letters in ("abdefz", "yza1b1", "no", "is")]
    ['ab,d–f,z', 'y–b1', 'n–o', 'i,s']
    """
    names = re.findall(r"[a-z]\d*", letters)
    places = [ord(name[0]) - ord("a") + 26 * int(name[1:] or 0) for name in names]
    ranges: list[list[str]] = []
    for at, name in enumerate(names):
        if at and places[at] == places[at - 1] + 1:
            ranges[-1].append(name)
        else:
            ranges.append([name])
    texts = ("".join(run) for run in ranges)
    return ",".join(
        f"{run[0]}–{run[-1]}" if run[2:] or text in ("hi", "no") else text
        for run, text in zip(ranges, texts, strict=True)
    )


def first_and_last_tied_positions(ordered: Floats) -> tuple[Indices, Indices]:
    """The first and the last position of each value in its column, as arrays of the same shape.

    ordered : values in ascending order in each column. NaN is not equal to any value.

    >>> values = np.array([[1.0], [2.0], [2.0]])
    >>> [places.ravel().tolist() for places in first_and_last_tied_positions(values)]
    [[0, 1, 1], [0, 2, 2]]
    """
    place = np.arange(len(ordered))[:, None]
    starts, ends = np.ones((2, *ordered.shape), dtype=bool)
    starts[1:] = ends[:-1] = ordered[1:] != ordered[:-1]
    first = np.maximum.accumulate(np.where(starts, place, 0), axis=0)
    last = np.minimum.accumulate(np.where(ends, place, len(ordered))[::-1], axis=0)[::-1]
    return first, last


def lead_shares(draws: Floats) -> Floats:
    """Share of the draws in which each model has the largest value.

    If several models have the largest value in a draw, they get equal parts of this draw. A share
    is neither a p-value nor the probability that a model is the best.

    draws : the value of each model in each draw, (draws × models).
    Returns one share per model. The sum of the shares is 1.

    >>> lead_shares(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist()
    [0.75, 0.25]
    """
    winners = draws >= draws.max(axis=1, keepdims=True) - _TIE_TOLERANCE
    shares: Floats = (winners / winners.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


def rank_limits(better: Bools) -> Ints:
    """For each model, the best and the worst rank that the tests do not exclude, (models × 2).

    For M models, the best rank is 1 + the number of significantly better models, and the worst rank
    is M − the number of significantly worse models. A model that ties with all M − 1 models has the
    ranks 1 and M.

    better : True if the model of the row is significantly better than the model of the column.

    >>> rank_limits(np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], dtype=bool)).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    beaten_by, beats = better.sum(axis=0), better.sum(axis=1)
    return np.stack([1 + beaten_by, len(better) - beats], axis=1).astype(np.int64)


def first_k_of_lead_change(gap: Floats) -> Floats:
    """The first k in each row at which the gap has the opposite sign of the gap at k = 1.

    gap : difference between two curves at k = 1, 2, …, (rows × values of k). If the gap is 0 at
        k = 1, the first gap that is not 0 is used instead.
    Returns one k per row as a float, or infinity if there is no such k.

    >>> first_k_of_lead_change(np.array([[-0.1, 0.0, 0.2], [0.1, 0.2, 0.3]])).tolist()
    [3.0, inf]
    """
    signs = np.sign(np.where(np.abs(gap) <= _TIE_TOLERANCE, 0.0, gap))
    first = np.argmax(signs != 0, axis=1)
    lead = signs[np.arange(len(signs)), first]
    turned = signs == -lead[:, None]
    turned[lead == 0] = False
    return np.where(turned.any(axis=1), np.argmax(turned, axis=1) + 1.0, np.inf)


class EqualElementSpan(NamedTuple):
    """The first and the last index of consecutive elements with the same code, and this code."""

    first_index: int
    last_index: int
    code: int


def equal_element_spans(codes: Ints) -> list[EqualElementSpan]:
    """The spans of consecutive equal codes, in order; an empty list if there are no codes.

    >>> [tuple(run) for run in equal_element_spans(np.array([1, 1, 0]))]
    [(0, 1, 1), (2, 2, 0)]
    """
    if not len(codes):
        return []
    firsts = np.flatnonzero(np.diff(codes, prepend=codes[0] - 1)).tolist()
    lasts = [first - 1 for first in firsts[1:]] + [len(codes) - 1]
    return [EqualElementSpan(a, b, int(codes[a])) for a, b in zip(firsts, lasts, strict=True)]


class CrossingRange(NamedTuple):
    """A range of k's in which the lead may change. If `certain` is true, the lead must change."""

    first_k: int
    last_k: int
    certain: bool


def possible_crossing_ranges(ks: Ints, signs: Ints) -> list[CrossingRange]:
    """The ranges of k in which two curves may cross, given a simultaneous band of the difference.

    The lead may change between k − 1 and k if the band contains 0 at k − 1 or at k. The lead must
    change if the whole band is above 0 at one of these k's and below 0 at the other. If the band
    contains the true difference, every crossing is in one of the ranges. Each range with
    `certain=True` then contains at least one crossing.

    ks : the k's of the band, increasing. If two neighbouring k's have the same sign, passk assumes
    that the difference also has this sign between these k's.
    signs : for each k, +1 if the whole band is above 0, −1 if the whole band is below 0, or 0 if
        the band contains 0.

    >>> possible_crossing_ranges(np.array([1, 2, 3, 4]), np.array([1, 0, 0, -1]))
    [CrossingRange(first_k=2, last_k=4, certain=True)]
    """
    sets = []
    sign_runs = equal_element_spans(signs)
    for before, run in pairwise(sign_runs):
        if run.code and before.code:
            sets.append(
                CrossingRange(int(ks[before.last_index]) + 1, int(ks[run.first_index]), True)
            )
    for place, run in enumerate(sign_runs):
        if run.code:
            continue
        previous = sign_runs[place - 1] if place else None
        following = sign_runs[place + 1] if place + 1 < len(sign_runs) else None
        first = int(ks[0] if previous is None else ks[previous.last_index]) + 1
        last = int(ks[run.last_index] if following is None else ks[following.first_index])
        certain = previous is not None and following is not None and previous.code != following.code
        if first <= last:
            sets.append(CrossingRange(first, last, certain))
    return sorted(sets)
