"""The k at which one model overtakes another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.estimators.pass_k import curve
from passk_cli.inference.ranking import crossing
from passk_cli.inference.weights import bootstrap_means
from passk_cli.report.model import Cell, Column, Table
from passk_cli.report.pairs import Comparison
from passk_cli.report.samples import Uncertainty, cluster_codes

if TYPE_CHECKING:
    from passk_cli.outcomes.model import Counts


@dataclass(frozen=True)
class Crossing:
    """The k at which one curve overtakes the other; infinity where it does not up to k_max."""

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
        if key in turns or not len(c.tasks):
            continue
        cells = []
        for one in (c.first, c.second):
            here = np.isin(one.tasks, c.tasks)
            cells.append((one.n[here], one.c[here]))
        k_max = min(int(n.min()) for n, _ in cells)
        place = 0 if c.first.metric.family == "pass@" else 1
        mine, other = (curve(n, passes, k_max)[place] for n, passes in cells)
        gap = mine - other
        clusters = cluster_codes(counts, c.tasks)
        draws = crossing(bootstrap_means(gap, how.resamples, how.seed, clusters=clusters))
        tail = (1 - how.level) / 2
        low, high = np.quantile(draws, [tail, 1 - tail], method="inverted_cdf")
        point = crossing(gap.mean(axis=0, keepdims=True))[0]
        turns[key] = Crossing(float(point), float(low), float(high), k_max)
    return turns


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
        ends = ["none" if math.isinf(v) else f"{v:.0f}" for v in (turn.low, turn.high)]
        limits = none if ends == ["none", "none"] else f"[{ends[0]}, {ends[1]}]"
        rows.append((first[0], second[0], *first[1:], f"{family}k", at, limits))
    columns = (
        Column("model"), Column("against"), *(Column(g) for g in counts.group_names),
        Column("curve"), Column("crosses at"), Column("interval"),
    )  # fmt: skip
    return Table(columns, tuple(rows), "where one overtakes the other")
