"""p-values of many differences adjusted together by sign flips that all of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.inference.differences import Differences
from passk_cli.inference.paired import BLOCK_RESAMPLES, SIGN_ELEMENTS, random_bits, whole_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

# Statistics that fall short of an observed one by this share or less are ties.
_SLACK = 1e-9
# Columns multiplied by a block of signs at once.  It bounds memory and changes no number.
_COLUMNS_AT_ONCE = 1 << 13


def max_t(
    differences: ArrayLike | Differences,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    enumerate_up_to: int = 13,
) -> Floats:
    """Two-sided p-values of the mean differences, adjusted for all columns: Westfall–Young max-T.

    z_j = |Σ_t d_tj| / √(Σ_t d_tj²).  With z_(1) ≥ z_(2) ≥ …, the adjusted p of the j-th is the
    share of sign patterns s ∈ {−1, 1}^T for which max_{i ≥ j} |Σ_t s_t d_ti| / √(Σ d_ti²) ≥ z_(j),
    and at least that of the one before.  A task's sign is the same in all columns, so that what the
    columns have in common (pairs that share a model, metrics of the same attempts) costs nothing;
    and a column with few differing tasks has no large z, and costs next to nothing.

    Alone, a column has its `sign_flip` p.  Together they keep the family's level where the models
    attempt each task equally often and there are not too few tasks: the signs of one column may be
    flipped at any number of tasks, but flipping several at once presumes that their joint law is
    symmetric, which holds in the limit (benchmarks/comparison.md has the measured error).

    differences : (tasks,) or (tasks × columns) finite floats; 0 where a pair lacks a task.
    resamples : m ≥ 1, each p (b+1)/(m+1).  seed : integer ≥ 0; the signs are those of `sign_flip`.
    enumerate_up_to : with so many tasks at which some column is not 0, all patterns are counted.
    Where too few patterns were drawn to show how small p is, the bound of Hoeffding and Bonferroni
    is p: Σ_{i ≥ j} 2 exp(−z_(j)² / 2).
    Returns floats in (0, 1], (columns,); 1 where all differences are 0, which do not count.
    Errors: ValueError for values that are not finite, or another number of dimensions.
    Source: Westfall & Young 1993, "Resampling-based multiple testing", algorithm 4.1; Hoeffding
    1963.

    >>> max_t([[1, 1], [1, 1], [1, 0], [1, 0], [1, 0]]).tolist()
    [0.0625, 0.5]
    """
    (adjusted,) = max_t_of_each(
        [differences], resamples=resamples, seed=seed, enumerate_up_to=enumerate_up_to
    )
    return adjusted


def max_t_of_each(
    families: Iterable[ArrayLike | Differences],
    *,
    resamples: int = 10_000,
    seed: int = 0,
    enumerate_up_to: int = 13,
) -> list[Floats]:
    """`max_t` of each of many families, whose signs are drawn once: that is what takes time.

    families : (tasks,) or (tasks × columns) each, or `Differences`.  The rest is as for `max_t`.

    >>> [p.tolist() for p in max_t_of_each([[1, 1, 1], [[1, 1], [1, -1], [1, 0]]])]
    [[0.25], [0.25, 1.0]]
    """
    each = [_Descending.of(differences, enumerate_up_to) for differences in families]
    shapes: dict[tuple[bool, tuple[int, ...]], list[int]] = {}
    for number, family in enumerate(each):
        shapes.setdefault((family.exact, family.whole.shape), []).append(number)
    stepped = [family.z for family in each]
    for (_, shape), numbers in shapes.items():
        at_once = max(1, _COLUMNS_AT_ONCE // max(shape[1], 1))
        for first in range(0, len(numbers), at_once):
            part = numbers[first : first + at_once]
            p = _stepped_down([each[number] for number in part], resamples, seed)
            for number, of_one in zip(part, p, strict=True):
                stepped[number] = of_one
    return [family.in_place(p) for family, p in zip(each, stepped, strict=True)]


@dataclass(frozen=True)
class _Descending:
    """The columns that are not all 0, in order of falling z.

    whole : (tasks × columns) whole numbers; only of tasks that differ where all patterns count,
        which `exact` says.  norms, z : (columns,).  places : where each column was, of `columns`.
    sides : what the columns are differences of, where that is known.
    """

    whole: Floats
    sides: Differences | None
    norms: Floats
    z: Floats
    places: NDArray[np.intp]
    columns: int
    exact: bool

    @classmethod
    def of(cls, differences: ArrayLike | Differences, enumerate_up_to: int) -> _Descending:
        sides = differences.whole() if isinstance(differences, Differences) else None
        given = (
            differences.columns
            if isinstance(differences, Differences)
            else np.asarray(differences, dtype=np.float64)
        )
        given = given[:, None] if given.ndim == 1 else given
        if given.ndim != 2 or not np.isfinite(given).all():
            raise ValueError("differences must be finite, (tasks,) or (tasks × columns)")
        moving = np.flatnonzero(given.any(axis=0))
        whole = sides.columns[:, moving] if sides else whole_numbers(given[:, moving])
        norms = np.sqrt((whole**2).sum(axis=0))
        z = np.abs(whole.sum(axis=0)) / norms
        order = np.argsort(-z, kind="stable")
        differ = whole.any(axis=1)
        exact = int(differ.sum()) <= enumerate_up_to
        whole = whole[differ] if exact else whole
        places = moving[order]
        if sides:
            sides = sides.at(places)
            sides = sides._replace(values=sides.values[differ]) if exact else sides
        return cls(
            whole[:, order], sides, norms[order], z[order], places, given.shape[1], exact
        )  # fmt: skip

    def behind(self, first: int) -> _Descending:
        """Without the columns before this one."""
        sides = self.sides and self.sides.at(slice(first, None))
        return replace(
            self, whole=self.whole[:, first:], sides=sides, norms=self.norms[first:],
            z=self.z[first:], places=self.places[first:],
        )  # fmt: skip

    def in_place(self, p: Floats) -> Floats:
        """Adjusted p as the columns stood; 1 for those of zeros."""
        adjusted = np.ones(self.columns)
        adjusted[self.places] = p
        return adjusted


def _stepped_down(families: Sequence[_Descending], resamples: int, seed: int) -> Floats:
    """Adjusted p, (families × columns), of families of one shape, in order of falling z."""
    tasks, columns = families[0].whole.shape
    if not columns:
        return np.ones((len(families), 0))
    exact = families[0].exact
    every = np.stack([family.z for family in families])
    bound = 2 * np.exp(-(every**2) / 2) * np.arange(columns, 0, -1)
    decided = np.zeros(every.shape, dtype=bool) if exact else bound < 1 / (resamples + 1)
    # The first columns, where the bound decides everywhere, stand before all others' largest.
    first = int(np.argmin(decided.all(axis=0))) if not decided.all() else columns
    families = [family.behind(first) for family in families]
    flipped = _flipped(families)
    norms = np.concatenate([family.norms for family in families])
    z = every[:, first:]
    reached, patterns = np.zeros(z.shape), 0
    blocks = _all_signs(tasks) if exact else _drawn_signs(tasks, resamples, seed)
    for signs in blocks if z.size else ():
        sums = np.abs(flipped(signs))
        sums /= norms
        # The largest of each column and those behind it.
        behind = sums.reshape(len(signs), *z.shape)[:, :, ::-1]
        largest = np.maximum.accumulate(behind, axis=2)[:, :, ::-1]
        reached += np.count_nonzero(largest >= z * (1 - _SLACK), axis=0)
        patterns += len(signs)
    counted = reached / patterns if exact else (reached + 1) / (resamples + 1)
    p = np.where(decided, bound, np.pad(counted, ((0, 0), (first, 0))))
    stepped: Floats = np.minimum(np.maximum.accumulate(p, axis=1), 1.0)
    return stepped


def _flipped(families: Sequence[_Descending]) -> Callable[[Floats], Floats]:
    """Signs (patterns × tasks) → the sums of all families' columns, side by side."""
    every = [family.sides for family in families if family.sides is not None]
    if len(every) == len(families):
        sides = Differences.beside(every)
        return lambda signs: sides.between(signs @ sides.values)
    whole = np.concatenate([family.whole for family in families], axis=1)
    return lambda signs: signs @ whole


def _all_signs(tasks: int) -> Iterator[Floats]:
    """Every pattern once, the first task's sign being 1: the others are mirror images."""
    patterns = np.arange(1 << (tasks - 1))[:, None]
    yield np.where((patterns >> np.arange(tasks)) & 1, -1.0, 1.0)


def _drawn_signs(tasks: int, resamples: int, seed: int) -> Iterator[Floats]:
    for block in range(-(-resamples // BLOCK_RESAMPLES)):
        size = min(BLOCK_RESAMPLES, resamples - block * BLOCK_RESAMPLES)
        packed = random_bits(tasks, seed, block)[:size]
        rows = max(1, SIGN_ELEMENTS // tasks)
        for row in range(0, size, rows):
            bits = np.unpackbits(packed[row : row + rows], axis=1, count=tasks)
            yield np.where(bits, 1.0, -1.0)
