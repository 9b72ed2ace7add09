"""The k at which one model overtakes another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.inference.ranking import crossing
from passk_cli.inference.weights import bootstrap_means
from passk_cli.limits import refuse_many_steps
from passk_cli.metrics.pass_k import curve
from passk_cli.metrics.registry import task_values
from passk_cli.report.model import Cell, Column, Table
from passk_cli.study.comparison import Comparison
from passk_cli.study.pivot import head
from passk_cli.study.values import Series, TaskValues

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.study.confidence import Confidence
    from passk_cli.study.study import Study


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
Crossings = Mapping[tuple[Series, Series, str], Crossing]


def find_crossings(comparisons: Sequence[Comparison], confidence: Confidence) -> Crossings:
    """Where the curves of each pair cross, with an interval from resampled tasks."""
    crossings: dict[tuple[Series, Series, str], Crossing] = {}
    for c in comparisons:
        key = (c.first.series, c.second.series, c.first.metric.family)
        if key in crossings or c.reason or not c.first.metric.kind.counted:
            continue
        both = [rates.on(c.tasks) for rates in (c.first, c.second)]
        k_max = min(int(rates.n.min()) for rates in both)
        refuse_many_steps("--crossings", k_max, "leave it out")
        first, second = (_curve(rates, k_max) for rates in both)
        gap = first - second
        limits = (math.nan, math.nan) if c.attempts_differ else _limits(c, gap, confidence)
        at = crossing(gap.mean(axis=0, keepdims=True))[0]
        crossings[key] = Crossing(float(at), *limits, k_max)
    return crossings


def _limits(c: Comparison, gap: NDArray[np.float64], confidence: Confidence) -> tuple[float, float]:
    """Quantiles of the k at which curves of resampled tasks cross."""
    draws = (confidence.resamples, confidence.seed)
    crossed = crossing(bootstrap_means(gap, *draws, clusters=c.clusters))
    tail = (1 - confidence.level) / 2
    low, high = np.quantile(crossed, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)


def _curve(rates: TaskValues, k_max: int) -> NDArray[np.float64]:
    """The metric's family at k = 1 … k_max: (tasks × k_max)."""
    metric = rates.metric
    if metric.family in ("pass@", "pass^"):
        at, hat = curve(rates.n, rates.c, k_max)
        return at if metric.family == "pass@" else hat
    every = [replace(metric, k=k) for k in range(1, k_max + 1)]
    attempts = {} if rates.attempts is None else {metric.kind.needs: rates.attempts}
    return task_values(every, rates.n, rates.c, attempts).T


def crossing_words(study: Study, crossings: Crossings) -> str:
    """For the caption: what the interval of a crossing is, and why some have none."""
    level = f"{100 * study.confidence.level:g} %"
    differ = any(math.isnan(cross.low) for cross in crossings.values())
    words = f"crosses at: the first k where the other model leads; {level} interval from resamples"
    return words + f" of the tasks{', – where attempts differ' * differ} · none: no change of lead"


def crossing_table(study: Study, crossings: Crossings) -> Table:
    """One row per pair and family: where the lead changes, or that it does not."""
    rows: list[tuple[Cell, ...]] = []
    for (first, second, family), cross in crossings.items():
        none = f"none up to k = {cross.k_max}"
        at = none if math.isinf(cross.k) else f"k = {cross.k:.0f}"
        ends = [f"{v:.0f}" if math.isfinite(v) else "none" for v in (cross.low, cross.high)]
        limits = none if ends == ["none", "none"] else f"[{ends[0]}, {ends[1]}]"
        limits = "–" if math.isnan(cross.low) else limits
        rows.append((first[0], second[0], *first[1:], f"{family}k", at, limits))
    model, *groups = head(study.counts.group_names)
    columns = (
        model, Column("against"), *groups, Column("curve"), Column("crosses at"),
        Column("interval"),
    )  # fmt: skip
    return Table(columns, tuple(rows), "Where one model overtakes the other")
