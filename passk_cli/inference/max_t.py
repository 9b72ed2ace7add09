"""p-values of many differences adjusted together by sign flips that all of them share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.inference.paired import BLOCK_RESAMPLES, random_bits, whole_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

# Statistics that fall short of an observed one by this share or less are ties.
_SLACK = 1e-9


def max_t(
    differences: ArrayLike, *, resamples: int = 10_000, seed: int = 0, enumerate_up_to: int = 13
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
    columns = np.asarray(differences, dtype=np.float64)
    columns = columns[:, None] if columns.ndim == 1 else columns
    if columns.ndim != 2 or not np.isfinite(columns).all():
        raise ValueError("differences must be finite, (tasks,) or (tasks × columns)")
    adjusted = np.ones(columns.shape[1])
    moving = np.flatnonzero(columns.any(axis=0))
    if not len(moving):
        return adjusted
    whole = whole_numbers(columns[:, moving])
    norms = np.sqrt((whole**2).sum(axis=0))
    z = np.abs(whole.sum(axis=0)) / norms
    order = np.argsort(-z, kind="stable")
    adjusted[moving[order]] = _stepped_down(
        whole[:, order], norms[order], z[order], (resamples, seed, enumerate_up_to)
    )
    return adjusted


def _stepped_down(whole: Floats, norms: Floats, z: Floats, draws: tuple[int, int, int]) -> Floats:
    """Adjusted p of columns in order of falling z."""
    resamples, seed, enumerate_up_to = draws
    differing = whole[whole.any(axis=1)]
    exact = len(differing) <= enumerate_up_to
    reached, patterns = np.zeros(len(z)), 0
    every = _all_signs(len(differing)) if exact else _drawn_signs(len(whole), resamples, seed)
    for signs in every:
        sums = np.abs(signs @ (differing if exact else whole))
        sums /= norms
        # The largest of each column and those behind it.
        largest = np.maximum.accumulate(sums[:, ::-1], axis=1)[:, ::-1]
        reached += np.count_nonzero(largest >= z * (1 - _SLACK), axis=0)
        patterns += len(signs)
    p = reached / patterns if exact else (reached + 1) / (patterns + 1)
    if not exact:
        bound = 2 * np.exp(-(z**2) / 2) * np.arange(len(z), 0, -1)
        p = np.where(bound < 1 / (patterns + 1), bound, p)
    stepped: Floats = np.minimum(np.maximum.accumulate(p), 1.0)
    return stepped


def _all_signs(tasks: int) -> Iterator[Floats]:
    """Every pattern once, the first task's sign being 1: the others are mirror images."""
    patterns = np.arange(1 << (tasks - 1))[:, None]
    yield np.where((patterns >> np.arange(tasks)) & 1, -1.0, 1.0)


def _drawn_signs(tasks: int, resamples: int, seed: int) -> Iterator[Floats]:
    for block in range(-(-resamples // BLOCK_RESAMPLES)):
        size = min(BLOCK_RESAMPLES, resamples - block * BLOCK_RESAMPLES)
        bits = np.unpackbits(random_bits(tasks, seed, block)[:size], axis=1, count=tasks)
        yield np.where(bits, 1.0, -1.0)
