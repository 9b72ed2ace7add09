"""The k at which one model overtakes another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.estimators.metric import Metric, Multisets, task_values
from passk_cli.estimators.pass_k import curve
from passk_cli.inference.ranking import crossing
from passk_cli.inference.weights import bootstrap_means
from passk_cli.limits import refuse_many_steps
from passk_cli.report.model import Cell, Column, Table
from passk_cli.report.pairs import Comparison
from passk_cli.report.samples import Uncertainty, cluster_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.model import Counts


@dataclass(frozen=True)
class Crossing:
    """The k at which one curve overtakes the other; infinity where it does not up to k_max.

    low, high : NaN where attempts differ: the values of one model are then coarser than those of
        the other, and resampled curves cross too often.
    """

    k: float
    low: float
    high: float
    k_max: int


# (first, second, family of metrics) → where the two curves cross.
Turns = dict[tuple[tuple[str, ...], tuple[str, ...], str], Crossing]


def find_crossings(counts: Counts, found: Sequence[Comparison], how: Uncertainty) -> Turns:
    """(first, second, family) → where their curves cross, with an interval from resampled tasks."""
    turns: Turns = {}
    for c in found:
        key = (c.first.series, c.second.series, c.first.metric.family)
        if key in turns or not len(c.tasks) or not c.first.metric.kind.counted:
            continue
        cells = []
        for one, here in zip((c.first, c.second), c.at, strict=True):
            bag = one.attempts.take(here) if one.attempts else None
            cells.append((one.n[here], one.c[here], bag))
        k_max = min(int(n.min()) for n, *_ in cells)
        refuse_many_steps("--crossings", k_max, "leave it out")
        mine, other = (_curve(c.first.metric, *cell, k_max) for cell in cells)
        gap = mine - other
        low, high = (math.nan, math.nan) if c.attempts_differ else _limits(counts, c, gap, how)
        point = crossing(gap.mean(axis=0, keepdims=True))[0]
        turns[key] = Crossing(float(point), low, high, k_max)
    return turns


def _limits(
    counts: Counts, c: Comparison, gap: NDArray[np.float64], how: Uncertainty
) -> tuple[float, float]:
    """Quantiles of the k at which curves of resampled tasks cross."""
    clusters = cluster_codes(counts, c.tasks)
    draws = crossing(bootstrap_means(gap, how.resamples, how.seed, clusters=clusters))
    tail = (1 - how.level) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)


def _curve(
    metric: Metric,
    n: NDArray[np.int64],
    c: NDArray[np.int64],
    attempts: Multisets | None,
    k_max: int,
) -> NDArray[np.float64]:
    """The metric's family at k = 1 … k_max: (tasks × k_max)."""
    if metric.family in ("pass@", "pass^"):
        at, hat = curve(n, c, k_max)
        return at if metric.family == "pass@" else hat
    every = [replace(metric, k=k) for k in range(1, k_max + 1)]
    known = {} if attempts is None else {metric.kind.needs: attempts}
    return task_values(every, n, c, known).T


def crossing_table(
    counts: Counts,
    found: Sequence[Comparison],
    turns: Turns,
) -> Table:
    """One row per pair and family: where the lead changes, or that it does not."""
    rows: list[tuple[Cell, ...]] = []
    for (first, second, family), turn in turns.items():
        none = f"none up to k = {turn.k_max}"
        at = none if math.isinf(turn.k) else f"k = {turn.k:.0f}"
        ends = [f"{v:.0f}" if math.isfinite(v) else "none" for v in (turn.low, turn.high)]
        limits = none if ends == ["none", "none"] else f"[{ends[0]}, {ends[1]}]"
        limits = "– (attempts differ)" if math.isnan(turn.low) else limits
        rows.append((first[0], second[0], *first[1:], f"{family}k", at, limits))
    columns = (
        Column("model"), Column("against"), *(Column(g) for g in counts.group_names),
        Column("curve"), Column("crosses at"), Column("interval"),
    )  # fmt: skip
    return Table(columns, tuple(rows), "where one overtakes the other")
