"""The order in which models are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from passk_cli.outcomes.counts import Counts


def best_first(counts: Counts) -> list[int]:
    """Series by their pass rate, the best first; equal ones by name.

    >>> from passk_cli.outcomes.counts import Counts
    >>> best_first(Counts.from_cells([("a", "t", 2, 1), ("b", "t", 2, 2)]))
    [1, 0]
    """
    rates = pass_rates(counts)
    return sorted(range(len(rates)), key=lambda s: (-rates[s], counts.series[s]))


def pass_rates(counts: Counts) -> list[float]:
    """pass@1 of each series: the mean over its tasks of c/n, in [0, 1]."""
    rows = map(counts.rows_of, range(len(counts.series)))
    return [float((counts.c[mine] / counts.n[mine]).mean()) for mine in rows]
