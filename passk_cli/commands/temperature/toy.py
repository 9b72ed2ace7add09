"""The toy model of pass@k and temperature as a report: T*(k), and the regression of the article."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from passk_cli.errors import ParameterError
from passk_cli.laws.toy_model import (
    GRID_KS,
    GRID_SCALES,
    KEPT,
    Best,
    Fit,
    Tasks,
    best_temperatures,
    exponential,
    family_of_spread,
    gaussian,
    scaling_fit,
)
from passk_cli.message import Said
from passk_cli.report.model import Cell, Column, Note, Report, Sentence, Table
from passk_cli.report.plot import Plot, curves
from passk_cli.report.words import plural
from passk_cli.version import __version__

DEFAULT_KS = tuple(1 << i for i in range(15))
DEFAULT_SPREADS = (16.0,)
DEFAULT_GAMMA = 2.0
# What the article prints: factor, exponents of k and s, R².
_ARTICLE = {
    "gaussian": (0.264, 0.728, 1.283, 0.9996),
    "exponential": (0.117, 1.054, 0.957, 0.9989),
}
# Below this k a power law of tasks shows no scaling, says the article.
_SCALING_FROM = 20
_WEIGHTS = {
    "gaussian": "exp(−c²/2b²)",
    "exponential": "exp(−|c|/b)",
    "power-law": "|c|^−γ, c ≠ 0",
}


@dataclass(frozen=True)
class Point:
    """T*(k) of one family: its standard deviation, its largest |c|, k and the best."""

    family: str
    spread: float
    largest: int
    k: int
    best: Best

    @property
    def kept(self) -> bool:
        """Whether the regression takes it: where the article sees a power law."""
        scaling = self.family != "power-law" or self.k > _SCALING_FROM
        return scaling and KEPT[0] < self.best.pass_at_k < KEPT[1]


def toy_report(
    families: Sequence[str], spreads: Sequence[float], gamma: float, ks: Sequence[int]
) -> Report:
    """T*(k) and pass@k there, for each family × spread × k.

    families : of "gaussian", "exponential", "power-law".  spreads : standard deviations of the
    tasks.  gamma : of the power law.  ks : each ≥ 1.
    Errors: ParameterError for what the model does not have.
    """
    points: list[Point] = []
    for family in families:
        for spread in spreads:
            points += _points(family, family_of_spread(family, spread, gamma), ks)
    columns = (
        Column("tasks"), Column("spread", "count"), Column("k", "count"), Column("T*", "number"),
        Column("pass@k at T*", "fine"),
    )  # fmt: skip
    rows = tuple((p.family, p.spread, p.k, _star(p), p.best.pass_at_k) for p in points)
    names = ("family", "gamma", "largest", "spread", "k", "temperature", "pass_at_k", "note")
    data = tuple((*_facts(p, gamma), _note(p)) for p in points)
    return Report(
        tables=(Table(columns, rows),),
        data=Table(tuple(Column(name) for name in names), data),
        context=_caption(families),
        messages=tuple(_notes(points, gamma)),
        signature=_signature(
            families,
            gamma,
            spread=",".join(f"{s:g}" for s in spreads),
            k=",".join(map(str, ks)),
        ),
        draw=partial(_charts, points),
        answer=_answer(points),
    )


def fit_report(families: Sequence[str], gamma: float) -> Report:
    """The regression log T* on log k and log s over the article's grid, beside what it prints.

    The grid is scales 2⁰ … 2⁹ (of a power law: the spreads it has among these) and k = 2 … 16, 32,
    64, … 16384; points with 0.03 < pass@k < 0.98 are kept, of a power law those with k > 20.
    """
    points: list[Point] = []
    for family in families:
        for tasks in _grid(family, gamma):
            points += _points(family, tasks, GRID_KS)
    fits = {f: _fit([p for p in points if p.family == f and p.kept]) for f in families}
    lines = [line for family in families for line in _fit_lines(family, fits[family])]
    inside = _kept_table(points)
    data = [_tidy_fit(line, gamma) for line in lines]
    data += [("point", *_facts(p, gamma), p.kept, "", *[None] * 5, _note(p)) for p in points]
    names = (
        "fact", "family", "gamma", "largest", "spread", "k", "temperature", "pass_at_k", "kept",
        "source", "factor", "k_exponent", "s_exponent", "r2", "points", "note",
    )  # fmt: skip
    columns = (
        Column("tasks"), Column("source"), Column("factor", "number"),
        Column("power of k", "number"), Column("power of s", "number"), Column("R²", "number"),
        Column("points", "count"),
    )  # fmt: skip
    return Report(
        tables=(Table(columns, tuple(lines), "T* = factor · k^power · s^power"), inside),
        data=Table(tuple(Column(name) for name in names), tuple(data)),
        context=f"{_caption(families)} · – the article does not say",
        messages=tuple(_fit_notes(families, points, gamma)),
        signature=_signature(families, gamma, fit="the article's grid"),
        draw=partial(_fit_charts, [p for p in points if p.kept]),
        answer=tuple(_fit_answer(family, fits[family]) for family in families),
    )


_NUMBER = Column("", "number")


def _answer(points: Sequence[Point]) -> tuple[Sentence, ...]:
    """T* at the smallest and the largest k, where it is; of several sets of tasks, the range."""
    there = [p for p in points if _star(p) is not None]
    if not there:
        return (("No T*: every task passes at the best temperatures.",),)
    lines: dict[tuple[str, float], list[Point]] = {}
    for p in there:
        lines.setdefault((p.family, p.spread), []).append(p)
    if len(lines) == 1:
        [line] = lines.values()
        first, last = (min(line, key=_k), max(line, key=_k))
        start: Sentence = ("T* is ", (_star(first), _NUMBER), f" at k = {first.k:,}")
        whole = (*start, " and ", (_star(last), _NUMBER), f" at k = {last.k:,}")
        whose = f" for {first.family} tasks with spread {first.spread:.4g}."
        return ((*(whole if last.k > first.k else start), whose),)
    k = max(map(_k, there))
    ends = sorted((p for p in there if p.k == k), key=lambda p: p.best.temperature)
    words: list[Cell | tuple[Cell, Column]] = [f"At k = {k:,}, T* is "]
    for p in dict.fromkeys((ends[0], ends[-1])):
        words += [
            " to " * (len(words) > 1),
            (_star(p), _NUMBER),
            f" ({p.family}, spread {p.spread:.4g})",
        ]
    return ((*words, "."),)


def _k(p: Point) -> int:
    return p.k


def _fit_answer(family: str, fit: Fit) -> Sentence:
    """The power law of one family of tasks."""
    return (
        "T* = ", (fit.factor, _NUMBER), " · k^", (fit.k_exponent, _NUMBER), " · s^",
        (fit.s_exponent, _NUMBER), f" for {family} tasks with standard deviation s (R² ",
        (fit.r2, _NUMBER), f", {fit.points} points).",
    )  # fmt: skip


def _points(family: str, tasks: Tasks, ks: Sequence[int]) -> list[Point]:
    spread, largest = tasks.spread, int(tasks.c[-1])
    best = best_temperatures(tasks, ks)
    return [Point(family, spread, largest, k, b) for k, b in zip(ks, best, strict=True)]


def _grid(family: str, gamma: float) -> list[Tasks]:
    """The article's families: by scale; a power law by the spreads that truncation can give it."""
    scaled: dict[str, Callable[[float], Tasks]] = {"gaussian": gaussian, "exponential": exponential}
    if family in scaled:
        return [scaled[family](scale) for scale in GRID_SCALES]
    sets = []
    for spread in GRID_SCALES:
        try:
            sets.append(family_of_spread(family, spread, gamma))
        except ParameterError:
            if spread == GRID_SCALES[0]:
                raise
    return sets


def _fit(points: Sequence[Point]) -> Fit:
    values = [(p.k, p.spread, p.best.temperature) for p in points]
    try:
        return scaling_fit(*zip(*values, strict=True))
    except (TypeError, ValueError):
        raise ParameterError(
            f"{len(values)} points of the grid have 0.03 < pass@k < 0.98: too few for a"
            " fit; choose another gamma"
        ) from None


def _fit_lines(family: str, fit: Fit) -> list[tuple[Cell, ...]]:
    exact = (fit.factor, fit.k_exponent, fit.s_exponent, fit.r2, fit.points)
    lines: list[tuple[Cell, ...]] = [(family, "exact sums", *exact)]
    if family in _ARTICLE:
        lines.append((family, "article", *_ARTICLE[family], None))
    return lines


def _tidy_fit(line: tuple[Cell, ...], gamma: float) -> tuple[Cell, ...]:
    family, source, *numbers = line
    exponent = gamma if family == "power-law" else None
    return ("regression", family, exponent, *[None] * 6, source, *numbers, "")


def _kept_table(points: Sequence[Point]) -> Table:
    """Per spread, the k's between which points are kept and what T* does over them."""
    columns = (
        Column("tasks"), Column("spread", "count"), Column("points", "count"),
        Column("smallest k", "count"), Column("T* there", "number", True),
        Column("largest k", "count"), Column("T* there", "number", True),
    )  # fmt: skip
    rows = []
    for family, spread in dict.fromkeys((p.family, p.spread) for p in points):
        inside = [p for p in points if (p.family, p.spread) == (family, spread) and p.kept]
        if inside:
            ends = [cell for p in (inside[0], inside[-1]) for cell in (p.k, p.best.temperature)]
            rows.append((family, spread, len(inside), *ends))
    return Table(columns, tuple(rows), "Points kept: 0.03 < pass@k at T* < 0.98")


def _star(p: Point) -> float | None:
    return None if math.isnan(p.best.temperature) else p.best.temperature


def _facts(p: Point, gamma: float) -> tuple[Cell, ...]:
    exponent = gamma if p.family == "power-law" else None
    largest = p.largest if exponent else None
    return p.family, exponent, largest, p.spread, p.k, _star(p), p.best.pass_at_k


def _note(p: Point) -> str:
    return "" if _star(p) is not None else "every task passes at the best temperatures"


def _caption(families: Sequence[str]) -> str:
    tasks = "; ".join(f"{family} ∝ {_WEIGHTS[family]}" for family in families)
    return (
        "toy model: an attempt at temperature T is an integer g with probability ∝ exp(−g²/2T); it"
        f" passes task c if g = c; tasks: {tasks} · spread s: standard deviation of the tasks ·"
        " exact sums"
    )


def _signature(families: Sequence[str], gamma: float, **more: str) -> dict[str, object]:
    entries: dict[str, object] = {"passk": __version__, "toy": ",".join(families), **more}
    return entries | ({"gamma": f"{gamma:g}"} if "power-law" in families else {})


def _notes(points: Sequence[Point], gamma: float) -> list[Said]:
    notes = []
    ends = dict.fromkeys((p.spread, p.largest) for p in points if p.family == "power-law")
    if ends:
        ends_shown = list(ends) if len(ends) < 4 else [min(ends), max(ends)]
        text = (", " if len(ends) < 4 else " to ").join(
            f"{largest:,} (spread {spread:.4g})" for spread, largest in ends_shown
        )
        notes.append(
            Note(
                f"the power law with gamma {gamma:g} is cut off at |c| = {text}: for gamma ≤ 3 the"
                " cut sets its standard deviation"
            )
        )
    lost = [p for p in points if _star(p) is None]
    if lost:
        first = min(lost, key=lambda p: p.k)
        notes.append(
            Note(
                f"no T* at {len(lost)} of {len(points)} points, from k = {first.k} at spread"
                f" {first.spread:.4g} ({first.family}): at the best temperatures all but 1e-12 of"
                " the tasks pass"
            )
        )
    return notes


def _fit_notes(families: Sequence[str], points: Sequence[Point], gamma: float) -> list[Said]:
    notes = []
    if "exponential" in families:
        notes.append(
            Note(
                "exponential: the grid is b = 2⁰ … 2⁹ in exp(−|c|/b); the regression uses the"
                " standard deviation s, about √2·b"
            )
        )
    if "power-law" in families:
        notes += _notes([p for p in points if p.family == "power-law"], gamma)[:1]
        spreads = {p.spread for p in points if p.family == "power-law"}
        notes.append(
            Note(
                f"power-law: only k > {_SCALING_FROM}, where the article finds a power law; it"
                f" prints no regression to compare; {len(spreads)} of {len(GRID_SCALES)} spreads of"
                f" the grid are possible with gamma {gamma:g}"
            )
        )
    return notes


def _charts(points: Sequence[Point]) -> tuple[Plot, ...]:
    several = len({p.family for p in points}) > 1
    rows = [
        {
            "k": p.k,
            "T*": _star(p) or None,
            "pass@k at T*": p.best.pass_at_k,
            "tasks": f"{p.family}, s = {p.spread:.4g}" if several else f"s = {p.spread:.4g}",
        }
        for p in points
    ]
    frozen = sum(_star(p) == 0 for p in points)
    absent = f"T* = 0 at {plural(frozen, 'point')}, which a logarithmic axis cannot show"
    title = "toy model" if several else f"toy model, {points[0].family} tasks"
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
        for points, x, colour in ((rows, "k", "s"), (by_k, "spread", "of k")):
            charts.append(
                curves(
                    points, x=x, y="T*", colour=colour, points=points, x_title=x, y_title="T*",
                    title=f"Best temperature: toy model, {family} tasks, 0.03 < pass@k < 0.98",
                    log_x=True, log_y=True, y_domain=None,
                )
            )  # fmt: skip
    return tuple(charts)
