"""Helpers: the fixtures, and the result of reading as plain numbers."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from pathlib import Path

from passk_cli import Counts, read

DATA = Path(__file__).parents[2] / "data"
Cells = dict[tuple[str, ...], tuple[int, int]]


def cells(data: object, **options: object) -> Cells:
    """(model, groups …, task) → (n, c) from the counts that `read` returns."""
    return cells_of(read(data, **options))  # type: ignore[arg-type]


def cells_of(counts: Counts) -> Cells:
    pairs = zip(counts.series_codes, counts.task_codes, counts.n, counts.c, strict=True)
    return {(*counts.series[s], counts.tasks[t]): (int(n), int(c)) for s, t, n, c in pairs}


def pass_at(k: int, counts: Cells, *series: str) -> Fraction:
    """Mean of 1 − C(n − c, k) / C(n, k) over a series' tasks, as an exact fraction."""
    series_cells = [cell for key, cell in counts.items() if key[:-1] == series]
    return sum(1 - Fraction(comb(n - c, k), comb(n, k)) for n, c in series_cells) / Fraction(
        len(series_cells)
    )


def pass_hat(k: int, counts: Cells, *series: str) -> Fraction:
    """Mean of C(c, k) / C(n, k) over a series' tasks, as an exact fraction."""
    series_cells = [cell for key, cell in counts.items() if key[:-1] == series]
    return sum(Fraction(comb(c, k), comb(n, k)) for n, c in series_cells) / Fraction(
        len(series_cells)
    )
