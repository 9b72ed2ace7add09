"""The curves of one series and what is read off them: the numbers, their tables, their charts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from passk_cli.commands.curve.grid import telling
from passk_cli.commands.curve.origin import origin
from passk_cli.inference.bands import spread_out
from passk_cli.report.model import Cell, Column, Report, Table
from passk_cli.report.plot import Plot, curves
from passk_cli.report.words import series_name
from passk_cli.study.fact import Fact, across
from passk_cli.study.pivot import head
from passk_cli.study.values import Series

CURVES = (AT, HAT) = ("pass@k", "pass^k")
UNEVEN = (DELTA, DEFICIT) = ("Δ_k", "deficit_k")
# Family in the name of a number → the curve it is a point of.
FAMILIES = {"pass@": AT, "pass^": HAT, "delta_": DELTA, "deficit_": DEFICIT}
_MOST_DRAWN = 200
_UNEVEN_TASKS = "Uneven tasks: Δ_k = pass^k − μ^k, deficit = 1 − (1−μ)^k − pass@k"
_RATES_OF_TASKS, _EQUALLY_HARD = "Success rates of the tasks", "if equally hard"
_UNEVEN_CURVES = "What uneven tasks add to reliability"
TITLES = {CURVES: "Coverage and reliability", (AT,): "Coverage", (HAT,): "Reliability"}


class Climb(NamedTuple):
    """What pass@k gains from one k to another, and would if all tasks were equally hard."""

    start: int
    gain: Fact
    even: Fact


@dataclass(frozen=True)
class Curves:
    """One series: its curves, what further attempts gain, and the success rates of its tasks.

    points : curve → its numbers, by k; a DELTA or DEFICIT says at most how much it could be.
    never, always : shares of tasks that no, every attempt passes.
    moments : mean, sd and skewness of the success rates, where asked for.
    attempts : per task, for people; "" for exact rates.
    shown : which of CURVES are shown.  every_k : whether a table shows every k.
    """

    series: Series
    points: Mapping[str, Sequence[Fact]]
    climbs: Sequence[Climb]
    never: Fact
    always: Fact
    moments: Sequence[Fact] = ()
    attempts: str = ""
    shown: Sequence[str] = CURVES
    every_k: bool = False

    def across(self, other: Curves) -> Curves:
        """These curves and others of the same series, at the same k's, as ranges from one to the
        other; without what more attempts gain."""
        points = {
            name: [across(*both) for both in zip(mine, other.points[name], strict=True)]
            for name, mine in self.points.items()
        }
        never, always = across(self.never, other.never), across(self.always, other.always)
        return replace(self, points=points, climbs=(), never=never, always=always)

    @property
    def measured(self) -> list[str]:
        """Its curves that are no difference from those of even tasks."""
        return [name for name in self.shown_points if name not in UNEVEN]

    def only(self, shown: Sequence[str], *, every_k: bool) -> Curves:
        """The same with these of CURVES shown; what pass@k gains is told beside it alone."""
        climbs = self.climbs if AT in shown else ()
        return replace(self, shown=tuple(shown), every_k=every_k, climbs=climbs)

    @property
    def shown_points(self) -> dict[str, Sequence[Fact]]:
        """Curve → its numbers, of those that are shown."""
        hidden = set(CURVES) - set(self.shown)
        return {name: points for name, points in self.points.items() if name not in hidden}

    @property
    def telling(self) -> list[int]:
        """The k's a table shows."""
        if self.every_k:
            return [point.k or 0 for point in self.points[AT]]
        return telling(self.last)

    @property
    def last(self) -> int:
        """The k at which it ends."""
        return self.points[AT][-1].k or 0


def facts_of(every: Sequence[Curves]) -> list[Fact]:
    """All their numbers: curves, then gains, then success rates."""
    return [
        *(point for model in every for points in model.shown_points.values() for point in points),
        *(fact for model in every for climb in model.climbs for fact in (climb.gain, climb.even)),
        *(fact for model in every for fact in (*model.moments, model.never, model.always)),
    ]


def tables(every: Sequence[Curves], group_names: Sequence[str] = ()) -> Iterator[Table]:
    """What a terminal shows: telling k's, what more attempts gain, and what uneven tasks do."""
    names = head(group_names)
    yield _curve_table(every, names)
    if any(model.climbs for model in every):
        yield _climb_table(every, names)
        sources = tuple((*model.series, _origin(model)) for model in every if model.climbs)
        yield Table((*names, Column("which tasks gain")), sources)
    if any(model.last > 1 for model in every if DELTA in model.points):
        yield _uneven_table(every, names)
    if any(model.moments for model in every):
        yield _moments_table(every, names)


def signs(every: Sequence[Curves]) -> Iterator[str]:
    """What the columns of these tables mean."""
    if any(model.climbs for model in every):
        yield f"{_EQUALLY_HARD}: the gain if all tasks had the same success rate"
    if any(model.last > 1 for model in every if DELTA in model.points):
        yield "max: the most that the number before it could be, at this mean"


def _telling(
    every: Sequence[Curves], names: Sequence[str]
) -> Iterator[tuple[str, tuple[Fact, ...]]]:
    """(k as text, the points of these curves there) at the telling k's of every series."""
    width = max(len(str(model.last)) for model in every)
    for model in every:
        ks = set(model.telling)
        for points in zip(*(model.points[name] for name in names), strict=True):
            if points[0].k in ks:
                yield str(points[0].k).rjust(width), points


def _curve_table(every: Sequence[Curves], names: Sequence[Column]) -> Table:
    units = {
        name: "share" if model.points[name][0].estimate.share else "score"
        for model in every
        for name in model.measured
    }
    sizes = {point.size for model in every for point in model.points[AT]}
    # Exact rates rest on no attempts.
    sized = len(sizes) > 1 and all(size.n_min is not None for size in sizes)
    columns = (*names, Column("k"), *(Column(*unit) for unit in units.items()))
    rows: list[tuple[Cell, ...]] = [
        (*points[0].series, k, *(p.estimate for p in points), *[points[0].size.tasks] * sized)
        for k, points in _telling(every, list(units))
    ]
    return Table((*columns, *[Column("tasks", "count")] * sized), tuple(rows))


def _climb_table(every: Sequence[Curves], names: Sequence[Column]) -> Table:
    columns = (
        *names, Column("attempts"), Column("pass@k gains", "share"),
        Column(_EQUALLY_HARD, "share"),
    )  # fmt: skip
    rows = tuple(
        (*model.series, f"{start} → {gain.k}", gain.estimate, even.estimate.value)
        for model in every
        for start, gain, even in model.climbs
    )
    return Table(columns, rows, "What more attempts gain")


def _origin(model: Curves) -> str:
    never, always = (share.estimate.value or 0.0 for share in (model.never, model.always))
    _, gain, even = model.climbs[0]
    return origin(never, always, model.attempts, gain, even.estimate.value)


def uneven_alone(report: Report) -> Report:
    """What `delta` adds to a report on curves: it stands beside one without."""
    kept = tuple(t for t in report.tables if t.title in (_UNEVEN_TASKS, _RATES_OF_TASKS))
    caption = (p for p in report.context.split(" · ") if not p.startswith(_EQUALLY_HARD))
    return replace(
        report, answer=(), tables=kept, context=" · ".join(caption),
        draw=lambda: tuple(plot for plot in report.plots if plot.title == _UNEVEN_CURVES),
    )  # fmt: skip


def _uneven_table(every: Sequence[Curves], names: Sequence[Column]) -> Table:
    columns = (
        *names, Column("k"), Column("Δ_k", "share"), Column("max", "share", joined=True),
        Column("deficit", "share"), Column("max", "share", joined=True),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (
            *delta.series,
            k,
            delta.estimate,
            delta.more["at_most"],
            deficit.estimate,
            deficit.more["at_most"],
        )
        for k, (delta, deficit) in _telling(every, UNEVEN)
        if delta.k != 1
    ]
    return Table(columns, tuple(rows), _UNEVEN_TASKS)


def _moments_table(every: Sequence[Curves], names: Sequence[Column]) -> Table:
    """Mean, spread and skewness of the success rates, and the shares of tasks at 0 and 1."""
    observed = " (observed)" if any(model.attempts for model in every) else ""
    columns = (
        *names, Column("mean", "share"), Column("sd", "share"), Column("skewness", "number"),
        Column(f"at 0{observed}", "share"), Column(f"at 1{observed}", "share"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (*model.series, *(fact.estimate for fact in (*model.moments, model.never, model.always)))
        for model in every
    ]
    return Table(columns, tuple(rows), _RATES_OF_TASKS)


def plots(every: Sequence[Curves], subtitle: str, uneven: str) -> tuple[Plot, ...]:
    """pass@k dashed and pass^k solid for each series; then other curves, and Δ_k, where there are.

    subtitle, uneven : what was counted, and how certain it is, under each.
    """
    names = [name for name in every[0].measured if name not in CURVES]
    coverage, others, deltas = (_chart_rows(every, of) for of in (every[0].shown, names, [DELTA]))
    limits = any(row["low"] is not None for row in coverage)
    low, high = ("low", "high") if limits else ("", "")
    pictures = [
        curves(
            coverage, x="k", y="value", low=low, high=high, colour="model", dash="curve",
            title=TITLES[tuple(every[0].shown)], subtitle=subtitle,
            x_title="k (attempts)", y_title="probability",
        )
    ]  # fmt: skip
    if others:
        bounded = all(model.points[name][0].estimate.share for model in every for name in names)
        pictures.append(
            curves(
                others, x="k", y="value", low=low, high=high, colour="model", facet="curve",
                title="Further curves", subtitle=subtitle, x_title="k (attempts)",
                y_title="value", y_domain=(0.0, 1.0) if bounded else None,
            )
        )  # fmt: skip
    if any(row["value"] is not None for row in deltas):
        pictures.append(
            curves(
                deltas, x="k", y="value", low=low, high=high, colour="model",
                title=_UNEVEN_CURVES, subtitle=uneven,
                x_title="k (attempts)", y_title="Δ_k = pass^k − μ^k", y_domain=None, shares=True,
            )
        )  # fmt: skip
    return tuple(pictures)


def _chart_rows(every: Sequence[Curves], names: Iterable[str]) -> list[dict[str, object]]:
    """The points of a chart, at no more k's than it can show."""
    ks = np.unique([point.k or 0 for model in every for point in model.points[AT]])
    chart_ks = set(spread_out(ks, _MOST_DRAWN).tolist())
    return [
        {
            "model": series_name(model.series),
            "curve": name,
            "k": point.k,
            "value": point.estimate.value,
            "low": point.estimate.low,
            "high": point.estimate.high,
        }
        for model in every
        for name in names
        for point in model.points.get(name, ())
        if point.k in chart_ks
    ]
