"""Curves over k as a report: tables at telling k's, every k in the tidy rows, charts.

Curves measured on counts (`curve_counts`) and computed from exact rates (`curve_rates`) are told
by the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from passk_cli.errors import ParameterError
from passk_cli.inference.bands import spread_out
from passk_cli.limits import MOST_ATTEMPTS, whole_number
from passk_cli.report.charts import curves
from passk_cli.report.heterogeneity import Climb, Rates, climb_tables, moments_table
from passk_cli.report.model import Cell, Chart, Column, Estimate, Table
from passk_cli.report.samples import check_short_tasks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.estimators.metric import Metric

BANDS = ("pointwise", "simultaneous")
# Metric of a point → how its values over k are called.
AT, HAT, DELTA, DEFICIT = "pass@", "pass^", "delta_", "deficit_"
_MOST_DRAWN, _MOST_POINTS = 200, 100_000


@dataclass(frozen=True)
class Plan:
    """Which curves are asked for.

    points : about so many k's, every one where there are no more; None for every k.
    max_k : the largest k; None for the largest that the data supports.
    band : "pointwise" or "simultaneous".  delta : whether what uneven tasks do is told as well.
    short_tasks : as in the other commands.
    more : curves of other metrics, each as the metric at k = 1.
    """

    points: int | None = 40
    max_k: int | None = None
    band: str = "pointwise"
    delta: bool = False
    short_tasks: str = "empty"
    more: tuple[Metric, ...] = ()

    @classmethod
    def of(cls, points: str, *others: Any) -> Plan:
        """The plan with its points as the user writes them, a number or "all"; checked."""
        if points == "all":
            return cls(None, *others).checked()
        number = whole_number(
            f"--points {points}: a whole number, or all; it", points, 2, _MOST_POINTS
        )
        return cls(number, *others).checked()

    def checked(self) -> Plan:
        """The same; ParameterError for what makes no sense."""
        if self.band not in BANDS:
            raise ParameterError(f"--band {self.band}: it is one of {', '.join(BANDS)}")
        check_short_tasks(self.short_tasks)
        if self.points is not None and self.points < 2:
            raise ParameterError(f"--points {self.points}: a curve has at least 2; or all")
        if self.max_k is not None and not 1 <= self.max_k <= MOST_ATTEMPTS:
            raise ParameterError(
                f"--max-k {self.max_k}: k must be at least 1 and at most {MOST_ATTEMPTS:,}"
            )
        if self.band == "simultaneous" and self.short_tasks == "drop":
            raise ParameterError(
                "--band simultaneous needs the same tasks at every k; leave --short-tasks drop out"
            )
        if self.band == "simultaneous" and self.more:
            raise ParameterError("--band simultaneous is for pass@k and pass^k; leave -m out")
        return self

    def ks(self, k_max: int) -> NDArray[np.int64]:
        """The k's from 1 to k_max that are computed.

        >>> Plan(points=4).ks(100).tolist()
        [1, 2, 5, 10, 22, 100]
        """
        if self.points is None and k_max > _MOST_POINTS:
            raise ParameterError(
                f"--points all: {k_max:,} k's are too many; name a number, or a --max-k"
            )
        if self.points is None or k_max <= self.points:
            return np.arange(1, k_max + 1)
        spread = np.rint(np.geomspace(1, k_max, self.points)).astype(np.int64)
        return np.union1d(spread, telling(k_max))


def telling(k_max: int) -> list[int]:
    """The k's a table shows: 1, 2, 5, 10, 100, 1000, … and the last.

    >>> telling(30), telling(2000)
    ([1, 2, 5, 10, 30], [1, 2, 5, 10, 100, 1000, 2000])
    """
    round_ones = (1, 2, 5, *(10**d for d in range(1, len(str(k_max)))))
    return [*(k for k in round_ones if k < k_max), k_max]


@dataclass(frozen=True)
class Point:
    """One value of one curve.

    metric : AT, HAT, DELTA, DEFICIT or another family.  after : what follows k in its name.
    bound : the most a DELTA or DEFICIT could be.
    size : tasks, fewest and most attempts; None for exact rates.
    method, pointwise : of the interval, and its level at this k alone.  note : what is special.
    """

    series: tuple[str, ...]
    metric: str
    k: int
    estimate: Estimate
    se: float | None = None
    bound: float | None = None
    size: tuple[int, int, int] | None = None
    method: str = ""
    pointwise: float | None = None
    note: str = ""
    after: str = ""

    @property
    def curve(self) -> str:
        """What the curve is called: "pass@k", "gpass@k:0.5", "Δ_k"."""
        return "Δ_k" if self.metric == DELTA else f"{self.metric}k{self.after}"


@dataclass(frozen=True)
class Found:
    """Everything about the curves of all series, in the order in which they are told."""

    points: Sequence[Point]
    climbs: Sequence[Climb]
    rates: Sequence[Rates]
    group_names: tuple[str, ...] = ()
    level: float | None = None
    population: str = ""

    @property
    def head(self) -> tuple[Column, ...]:
        """The columns that name a series."""
        return (Column("model"), *(Column(g) for g in self.group_names))


def tables(found: Found) -> tuple[Table, ...]:
    """What a terminal shows: telling k's, what more attempts gain, and what uneven tasks do."""
    told = [_curve_table(found), *climb_tables(found.head, found.climbs, found.rates)]
    if any(p.metric == DELTA for p in found.points):
        told += [_delta_table(found), moments_table(found.head, found.rates)]
    return tuple(table for table in told if table.rows)


def _told(found: Found, *curves_: str) -> Iterable[tuple[str, list[Point]]]:
    """(k as text, the points of these curves there) at the telling k's of every series."""
    by_series: dict[tuple[str, ...], dict[int, dict[str, Point]]] = {}
    for p in found.points:
        if p.curve in curves_:
            by_series.setdefault(p.series, {}).setdefault(p.k, {})[p.curve] = p
    width = max((len(str(max(at))) for at in by_series.values()), default=1)
    for at in by_series.values():
        for k in telling(max(at)):
            if k in at:
                yield str(k).rjust(width), [at[k][curve] for curve in curves_]


def _curve_table(found: Found) -> Table:
    sizes = {p.size for p in found.points}
    units = {
        p.curve: "share" if p.estimate.share else "score"
        for p in found.points
        if p.metric not in (DELTA, DEFICIT)
    }
    rows: list[tuple[Cell, ...]] = []
    for k, there in _told(found, *units):
        first = there[0]
        extra = (first.size[0],) if len(sizes) > 1 and first.size else ()
        rows.append((*first.series, k, *(p.estimate for p in there), *extra))
    more = (Column("tasks", "count"),) if len(sizes) > 1 else ()
    columns = (*found.head, Column("k"), *(Column(*unit) for unit in units.items()))
    return Table((*columns, *more), tuple(rows))


def _delta_table(found: Found) -> Table:
    rows = tuple(
        (*d.series, k, d.estimate, d.bound, f.estimate, f.bound)
        for k, (d, f) in _told(found, "Δ_k", "deficit_k")
        if d.k > 1
    )
    columns = (
        *found.head, Column("k"), Column("Δ_k", "share"), Column("max", "share", joined=True),
        Column("deficit", "share"), Column("max", "share", joined=True),
    )  # fmt: skip
    title = "uneven tasks: Δ_k = pass^k − μ^k, and the deficit 1 − (1−μ)^k − pass@k"
    return Table(columns, rows, title)


def tidy(found: Found) -> Table:
    """One row per number, full precision: curves, then Δ_k and deficits, gains, moments."""
    names = [
        *(column.name for column in found.head), "metric", "k", "estimate", "se", "low", "high",
        "level", "pointwise_level", "interval", "population", "at_most", "tasks", "n_min", "n_max",
        "note",
    ]  # fmt: skip
    level, population = found.level, found.population
    rows: list[tuple[Cell, ...]] = []
    for p in found.points:
        e, size = p.estimate, p.size or (None, None, None)
        sure = (None, None) if p.pointwise is None else (level, p.pointwise)
        rows.append((
            *p.series, f"{p.metric}{p.k}{p.after}", p.k, e.value, p.se, e.low, e.high, *sure,
            p.method, population, p.bound, *size, p.note,
        ))  # fmt: skip
    for climb in found.climbs:
        rows += climb.rows(level, population)
    for one in found.rates:
        rows += one.rows(level, population)
    return Table(tuple(Column(name) for name in names), tuple(rows))


def charts(found: Found, subtitle: str, uneven: str) -> tuple[Chart, ...]:
    """pass@k dashed and pass^k solid for each series; then Δ_k, where it was asked for.

    subtitle, uneven : what was counted and how sure, under each.
    """
    drawn, deltas = _drawn(found, lambda p: p.metric in (AT, HAT)), _drawn(found, _is_delta)
    others = _drawn(found, lambda p: p.metric not in (AT, HAT, DELTA, DEFICIT))
    sure = any(row["low"] is not None for row in drawn)
    low, high = ("low", "high") if sure else ("", "")
    told = [
        curves(
            drawn, x="k", y="value", low=low, high=high, colour="model", dash="curve",
            title="Coverage and reliability", subtitle=subtitle,
            x_title="k (attempts)", y_title="probability",
        )
    ]  # fmt: skip
    if others:
        bounded = all(p.estimate.share for p in found.points)
        told.append(
            curves(
                others, x="k", y="value", low=low, high=high, colour="model", facet="curve",
                title="Further curves", subtitle=subtitle, x_title="k (attempts)",
                y_title="value", y_domain=(0.0, 1.0) if bounded else None,
            )
        )  # fmt: skip
    if any(row["value"] is not None for row in deltas):
        told.append(
            curves(
                deltas, x="k", y="value", low=low, high=high, colour="model",
                title="What uneven tasks add to reliability", subtitle=uneven,
                x_title="k (attempts)", y_title="Δ_k = pass^k − μ^k", y_domain=None, shares=True,
            )
        )  # fmt: skip
    return tuple(told)


def _is_delta(point: Point) -> bool:
    return point.metric == DELTA


def _drawn(found: Found, wanted: Callable[[Point], bool]) -> list[dict[str, object]]:
    """The points of a chart, at no more k's than it can show."""
    ks = np.unique([p.k for p in found.points])
    shown = set(spread_out(ks, _MOST_DRAWN).tolist())
    return [
        {
            "model": " ".join(part or '""' for part in p.series),
            "curve": p.curve,
            "k": p.k,
            "value": p.estimate.value,
            "low": p.estimate.low,
            "high": p.estimate.high,
        }
        for p in found.points
        if wanted(p) and p.k in shown
    ]
