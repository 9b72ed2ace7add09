"""The toy model of pass@k and temperature: T*(k), and the regression of the article."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passk_cli.laws.toy_model import (
    GRID_KS,
    GRID_SCALES,
    SCALING_FROM,
    Fit,
    Point,
    family_of_spread,
    grid,
    points,
    scaling_fit,
)
from passk_cli.message import NOTE, Message, Said
from passk_cli.report.model import FULL, Cell, Column, Report, Sentence, Table
from passk_cli.report.plot import Plot, curves
from passk_cli.report.words import plural
from passk_cli.study.section import VERSION, Section, data_field
from passk_cli.version import __version__

DEFAULT_KS = tuple(1 << i for i in range(15))
DEFAULT_SPREADS = (16.0,)
DEFAULT_GAMMA = 2.0
# Columns of k in the table that is always shown.
_KS_SHOWN = 5
# Factor, exponents of k and s, and R² as the article prints them.
_ARTICLE = {
    "gaussian": Fit(0.264, 0.728, 1.283, 0.9996, 0),
    "exponential": Fit(0.117, 1.054, 0.957, 0.9989, 0),
}
_CONTEXT = "toy model: an attempt g ∝ exp(−g²/2T) passes task c where g = c"
_FAMILY = "Family of tasks: gaussian ∝ exp(−c²/2b²), exponential ∝ exp(−|c|/b), power-law ∝ |c|^−γ."
_SPREAD = "Standard deviation of the tasks."
_NUMBER = Column("", "number")

CUT_POWER_LAW = Message(
    "cut-power-law", NOTE,
    "the power law with gamma {gamma} is cut off at |c| = {largest} (spread {spreads})", "",
    "For gamma ≤ 3 a power law has no standard deviation of its own: the largest |c| sets it.",
)  # fmt: skip
NOTHING_TO_CHOOSE = Message(
    "nothing-to-choose", NOTE,
    "no T* at {lost} of {points} points, from k = {k} at spread {spread} ({family})", "",
    "At the best temperatures all but 1e-12 of the tasks pass: any of them is as good.",
)  # fmt: skip
SCALES_OF_GRID = Message(
    "scales-of-grid", NOTE,
    "exponential tasks: the grid is of scales b, the regression of standard deviations s ≈ √2·b",
    "", "The article's grid is b = 2⁰ … 2⁹ in exp(−|c|/b).",
)  # fmt: skip
POWER_LAW_GRID = Message(
    "power-law-grid", NOTE,
    "power-law tasks: only k > {k}, and {spreads} of {all} spreads of the grid, are fitted", "",
    "The article finds no power law of T* below that k, and prints no regression to compare. A cut"
    " can give a power law of tasks only some standard deviations.",
)  # fmt: skip


@dataclass(frozen=True)
class BestByK(Section[Sequence[Point]]):
    """A row per set of tasks, the points of one: T* at some k."""

    columns = (
        Column("tasks", meaning=_FAMILY, cell=lambda points: points[0].family),
        Column("spread", "count", meaning=_SPREAD, cell=lambda points: points[0].spread),
        Column("T* at k = {0:,}", "number", meaning="Best temperature for {0:,} attempts.",
               across=lambda section: section.ks, example=1,
               cell=lambda points, k: next(p.star for p in points if p.k == k)),
    )  # fmt: skip

    @property
    def ks(self) -> list[int]:
        """All k, or some of them from the first to the last."""
        ks = list(dict.fromkeys(p.k for p in self.records[0]))
        last, shown = len(ks) - 1, min(len(ks), _KS_SHOWN)
        return [ks[round(i * last / max(shown - 1, 1))] for i in range(shown)]

    def answer(self) -> Iterator[Sentence]:
        """T* at the smallest and the largest k where it is; of several sets, the range."""
        there = [p for points in self.records for p in points if p.star is not None]
        if not there:
            yield ("No T*: every task passes at the best temperatures.",)
            return
        if len(self.records) > 1:
            ks = [p.k for p in there]
            k = max(ks, key=lambda k: (ks.count(k), k))
            ends = sorted((p for p in there if p.k == k), key=lambda p: p.best.temperature)
            low, high = (f" ({p.family}, spread {p.spread:.4g})" for p in (ends[0], ends[-1]))
            yield (
                f"At k = {k:,}, T* is ", (ends[0].star, _NUMBER), f"{low} to ",
                (ends[-1].star, _NUMBER), f"{high}.",
            )  # fmt: skip
        else:
            first, last = (end(there, key=lambda p: p.k) for end in (min, max))
            yield (
                "T* is ", (first.star, _NUMBER), f" at k = {first.k:,} and ", (last.star, _NUMBER),
                f" at k = {last.k:,} for {last.family} tasks with spread {last.spread:.4g}.",
            )  # fmt: skip


@dataclass(frozen=True)
class ToyPoints(Section[Point]):
    """T* and pass@k there, at every k."""

    title = "T* at each k"
    shown = FULL
    columns = (
        Column("tasks", meaning=_FAMILY, cell=lambda p: p.family),
        Column("spread", "count", meaning=_SPREAD, cell=lambda p: p.spread),
        Column("k", "count", meaning="Number of attempts.", cell=lambda p: p.k),
        Column("T*", "number", meaning="Best temperature.", cell=lambda p: p.star),
        Column("pass@k at T*", "fine", meaning="pass@k at the best temperature.",
               cell=lambda p: p.best.pass_at_k),
    )  # fmt: skip


@dataclass(frozen=True)
class Regression:
    """A fit of one family of tasks, of exact sums or of the article."""

    family: str
    source: str
    fit: Fit


@dataclass(frozen=True)
class Regressions(Section[Regression]):
    """T* = factor · k^power · s^power, beside what the article prints."""

    title = "T* = factor · k^power · s^power"
    columns = (
        Column("tasks", meaning=_FAMILY, cell=lambda line: line.family),
        Column("source", meaning="Exact sums, or the article.", cell=lambda line: line.source),
        Column("factor", "number", meaning="Factor of the law.", cell=lambda line: line.fit.factor),
        Column("power of k", "number", meaning="Exponent of k.",
               cell=lambda line: line.fit.k_exponent),
        Column("power of s", "number", meaning="Exponent of the standard deviation s.",
               cell=lambda line: line.fit.s_exponent),
        Column("R²", "number", meaning="Share of the variance of log T* that the law explains.",
               cell=lambda line: line.fit.r2),
        Column("points", "count", meaning="Points of the regression.",
               cell=lambda line: line.fit.points or None),
    )  # fmt: skip

    def answer(self) -> Iterator[Sentence]:
        """The power law of each family of tasks."""
        for line in self.records:
            if line.source != "article":
                fit = line.fit
                yield (
                    f"{line.family} tasks: T* = ", (fit.factor, _NUMBER), " · k^",
                    (fit.k_exponent, _NUMBER), " · s^", (fit.s_exponent, _NUMBER), ".",
                )  # fmt: skip


@dataclass(frozen=True)
class ToyData(Section[Any]):
    """The fields of csv and json of the toy model; records are their values by name."""

    columns = (
        data_field("fact", "With --fit: regression, or point."),
        data_field("family", _FAMILY),
        data_field("gamma", "Exponent γ of a power law of tasks."),
        data_field("largest", "Largest |c| of a power law of tasks."),
        data_field("spread", _SPREAD),
        data_field("k", "Number of attempts."),
        data_field("temperature", "T*; empty where every task passes."),
        data_field("pass_at_k", "pass@k at T*."),
        data_field("kept", "Whether the regression takes the point."),
        data_field("source", "Of a regression: exact sums, or article."),
        data_field("factor", "Factor of the law."),
        data_field("k_exponent", "Exponent of k."),
        data_field("s_exponent", "Exponent of the standard deviation s."),
        data_field("r2", "Share of the variance of log T* that the law explains."),
        data_field("points", "Points of the regression."),
        data_field("note", "Why a value is missing."),
    )  # fmt: skip


SECTIONS = (BestByK, ToyPoints, Regressions, ToyData)
# The toy model has no data.
NO_STUDY: Any = None
Rows = Sequence[Mapping[str, Cell]]


def _row(p: Point, gamma: float) -> dict[str, Cell]:
    """A point as a tidy row."""
    law = p.family == "power-law"
    return {
        "family": p.family, "gamma": gamma if law else None, "largest": p.largest if law else None,
        "spread": p.spread, "k": p.k, "temperature": p.star, "pass_at_k": p.best.pass_at_k,
        "note": "" if p.star is not None else "every task passes at the best temperatures",
    }  # fmt: skip


def _cut(every: Sequence[Point], gamma: float) -> Iterator[Said]:
    """Where power laws of tasks are cut off."""
    ends = sorted({(p.largest, p.spread) for p in every if p.family == "power-law"})
    if ends:
        largest, spreads = zip(*(ends if len(ends) < 4 else (ends[0], ends[-1])), strict=True)
        between = ", " if len(ends) < 4 else " to "
        yield CUT_POWER_LAW(
            gamma=f"{gamma:g}", largest=between.join(f"{c:,}" for c in largest),
            spreads=between.join(f"{s:.4g}" for s in spreads),
        )  # fmt: skip


def _report(
    sections: tuple[Section[Any], ToyPoints],
    rows: Rows,
    messages: Sequence[Said],
    draw: Callable[[Sequence[Point]], tuple[Plot, ...]],
    **asked: str,
) -> Report:
    """The report of two sections, the second one in full only, and the tidy rows."""
    fields = [c for c in ToyData.columns if any(c.name in row for row in rows)]
    return Report(
        tables=tuple(table for section in sections for table in section.tables()),
        data=Table(
            tuple(Column(c.name) for c in fields),
            tuple(tuple(row.get(c.name) for c in fields) for row in rows),
        ),
        context=f"{_CONTEXT} · {VERSION}",
        details="exact sums",
        messages=tuple(messages),
        signature={"passk": __version__, **asked},
        draw=lambda: draw(sections[1].records),
        answer=tuple(sections[0].answer()),
    )


def toy_report(
    families: Sequence[str], spreads: Sequence[float], gamma: float, ks: Sequence[int]
) -> Report:
    """T*(k) and pass@k there, for each family × spread × k.

    families : of "gaussian", "exponential", "power-law".  spreads : standard deviations of the
    tasks.  gamma : of the power law.  ks : each ≥ 1.
    Errors: ParameterError for what the model does not have.
    """
    sets = [points(f, family_of_spread(f, s, gamma), ks) for f in families for s in spreads]
    every = [p for each in sets for p in each]
    messages = [*_cut(every, gamma)]
    lost = [p for p in every if p.star is None]
    if lost:
        first = min(lost, key=lambda p: p.k)
        messages.append(
            NOTHING_TO_CHOOSE(lost=len(lost), points=len(every), k=first.k, family=first.family,
                              spread=f"{first.spread:.4g}")
        )  # fmt: skip
    return _report(
        (BestByK(NO_STUDY, sets), ToyPoints(NO_STUDY, every)), [_row(p, gamma) for p in every],
        messages, _charts, toy=",".join(families), spread=",".join(f"{s:g}" for s in spreads),
        k=",".join(map(str, ks)), **_gamma(families, gamma),
    )  # fmt: skip


def fit_report(families: Sequence[str], gamma: float) -> Report:
    """The regression log T* on log k and log s over the article's grid, beside what it prints.

    The grid is scales 2⁰ … 2⁹ (of a power law: the spreads it has among these) and k = 2 … 16, 32,
    64, … 16384; points with 0.03 < pass@k < 0.98 are kept, of a power law those with k > 20.
    """
    sets = [points(family, tasks, GRID_KS) for family in families for tasks in grid(family, gamma)]
    every = [p for each in sets for p in each]
    kept = [p for p in every if p.kept]
    lines = []
    for family in families:
        own = [p for p in kept if p.family == family]
        fit = scaling_fit(
            [p.k for p in own], [p.spread for p in own], [p.best.temperature for p in own]
        )
        lines.append(Regression(family, "exact sums", fit))
        if family in _ARTICLE:
            lines.append(Regression(family, "article", _ARTICLE[family]))
    rows: list[dict[str, Cell]] = [
        {
            "fact": "regression", "family": line.family, "source": line.source, "note": "",
            "gamma": gamma if line.family == "power-law" else None, "factor": line.fit.factor,
            "k_exponent": line.fit.k_exponent, "s_exponent": line.fit.s_exponent,
            "r2": line.fit.r2, "points": line.fit.points or None,
        }
        for line in lines
    ]  # fmt: skip
    rows += [{**_row(p, gamma), "fact": "point", "kept": p.kept, "source": ""} for p in every]
    messages = [SCALES_OF_GRID()] if "exponential" in families else []
    spreads = {p.spread for p in every if p.family == "power-law"}
    if spreads:
        messages += _cut(every, gamma)
        messages.append(POWER_LAW_GRID(k=SCALING_FROM, spreads=len(spreads), all=len(GRID_SCALES)))
    return _report(
        (Regressions(NO_STUDY, lines), ToyPoints(NO_STUDY, kept)), rows, messages, _fit_charts,
        toy=",".join(families), fit="the article's grid", **_gamma(families, gamma),
    )  # fmt: skip


def _gamma(families: Sequence[str], gamma: float) -> dict[str, str]:
    return {"gamma": f"{gamma:g}"} if "power-law" in families else {}


def _charts(every: Sequence[Point]) -> tuple[Plot, ...]:
    """T* and pass@k there, over k."""
    several = len({p.family for p in every}) > 1
    rows = [
        {"k": p.k, "T*": p.star or None, "pass@k at T*": p.best.pass_at_k,
         "tasks": f"{p.family}, s = {p.spread:.4g}" if several else f"s = {p.spread:.4g}"}
        for p in every
    ]  # fmt: skip
    frozen = sum(p.star == 0 for p in every)
    absent = f"T* = 0 at {plural(frozen, 'point')}, which a logarithmic axis cannot show"
    title = "toy model" if several else f"toy model, {every[0].family} tasks"
    star = curves(
        rows, x="k", y="T*", colour="tasks", points=rows, title=f"Best temperature: {title}",
        subtitle=absent if frozen else "", x_title="k", y_title="T*", log_x=True, log_y=True,
        y_domain=None,
    )  # fmt: skip
    value = curves(
        rows, x="k", y="pass@k at T*", colour="tasks", points=rows, title=f"pass@k at T*: {title}",
        x_title="k", y_title="pass@k at T*", log_x=True,
    )  # fmt: skip
    return star, value


def _fit_charts(inside: Sequence[Point]) -> tuple[Plot, ...]:
    """T* over k by spread, and over spread by k, as the article draws them."""
    charts = []
    fourfold = {1 << i for i in range(0, 15, 2)}
    for family in dict.fromkeys(p.family for p in inside):
        rows = [
            {"k": p.k, "spread": float(f"{p.spread:.4g}"), "T*": p.best.temperature,
             "s": f"s = {p.spread:.4g}", "of k": f"k = {p.k}"}
            for p in inside
            if p.family == family
        ]  # fmt: skip
        by_k = [row for row in rows if row["k"] in fourfold]
        for drawn, x, colour in ((rows, "k", "s"), (by_k, "spread", "of k")):
            charts.append(
                curves(
                    drawn, x=x, y="T*", colour=colour, points=drawn, x_title=x, y_title="T*",
                    title=f"Best temperature: toy model, {family} tasks, 0.03 < pass@k < 0.98",
                    log_x=True, log_y=True, y_domain=None,
                )
            )  # fmt: skip
    return tuple(charts)
