"""How the reader wants charts to look, and the plots made so before they are drawn."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from passk_cli.charts.theme import THEMES
from passk_cli.errors import ParameterError, no_such_model
from passk_cli.report.model import Report
from passk_cli.report.plot import Plot, Row, model_of
from passk_cli.report.words import SeriesName, natural
from passk_cli.suggested_fix import OptionValue, Placeholder, SuggestedFix
from passk_cli.suggestions import nearest
from passk_cli.text import plural, short_names

# More models than this in one picture are told apart by nobody: all but so many are grey.
MOST_MODELS, _LEADING = 8, 5
# Bands of more lines than this hide each other: then so many have them.  Letters of a name.
_MOST_BANDS, _BANDED, _LETTERS = 4, 3, 24
_LIMITS = ("low", "high")
# Unit of length → its pixels; half the width of a page, at which letters have 7 to 8 points.
_UNITS = {"px": 1.0, "in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4, "pt": 96 / 72}
HALF_PAGE = 3.25 * _UNITS["in"]
# The most pixels of a side: a larger picture takes minutes to draw, and no program opens it.
_MOST_PIXELS = 10_000
# On a screen the same picture is so much larger.
_ON_SCREEN = 1.5


@dataclass(frozen=True, eq=False, repr=False)
class PictureSize:
    """The size of a whole picture.

    width, height : in units; no height: as the content needs.  unit : one of in, cm, mm, pt, px.
    """

    width: float
    height: float | None = None
    unit: str = "px"

    @staticmethod
    def parse(text: str) -> PictureSize:
        """A size from "3.25in", "8cmx5cm" or "800x500".

        Errors: ParameterError where it is none.
        """
        length, unit = r"(\d+\.?\d*|\.\d+)", "(in|cm|mm|pt|px|)"
        found = re.fullmatch(rf"{length}{unit}(?:[x×]{length}{unit})?", text.replace(" ", ""))
        if found is not None and len({found[2], found[4]} - {"", None}) < 2:
            unit = found[2] or found[4] or "px"
            width, height = float(found[1]), float(found[3]) if found[3] else None
            if all(
                0 < side * _UNITS[unit] <= _MOST_PIXELS
                for side in (width, width if height is None else height)
            ):
                return PictureSize(width, height, unit)
        raise ParameterError(
            OptionValue("--chart-size", text),
            f"no size; use 3.25in, 8cmx5cm or 800x500 (in, cm, mm, pt, px),"
            f" no side longer than {_MOST_PIXELS:,}px",
        )

    @property
    def printed(self) -> bool:
        """Whether it is measured on paper, where letters have the size that they are drawn at."""
        return self.unit != "px"

    @property
    def scale(self) -> float:
        """Pixels of a unit of the drawing, whose letters have 7 to 8 points."""
        return 1.0 if self.printed else min(max(self.width / HALF_PAGE, 1.0), _ON_SCREEN)

    @property
    def room(self) -> tuple[float, float | None]:
        """Width and height in units of the drawing."""
        unit = _UNITS[self.unit] / self.scale
        return self.width * unit, None if self.height is None else self.height * unit

    def words(self, length: float) -> str:
        """A length in units of the drawing, in the unit of the size, rounded up."""
        digits = {"in": 2, "cm": 1}.get(self.unit, 0)
        size = length * self.scale / _UNITS[self.unit]
        return f"{math.ceil(round(size * 10**digits, 6)) / 10**digits:g}{self.unit}"


# The size of a picture that nobody asks for another of.
ON_SCREEN = PictureSize(HALF_PAGE * _ON_SCREEN)


@dataclass(frozen=True, eq=False, repr=False)
class Appearance:
    """The reader's choices.

    title : whether title and subtitle stand above.  bands : whether the intervals of lines show.
    highlight : models that have colours, or patterns of them, all others being grey.
    panel : the column, one of those that split the models, with a panel for each of its values.
    size : of the whole picture; None as it is usual.
    """

    title: bool = True
    bands: bool = True
    highlight: tuple[str, ...] = ()
    panel: str = ""
    size: PictureSize | None = None


def shown(report: Report, look: Appearance) -> Report:
    """The report with its plots as the reader wants them."""
    return replace(report, draw=lambda: prepared(report.plots, look))


def prepared(plots: Sequence[Plot], look: Appearance) -> tuple[Plot, ...]:
    """The plots of one call: each model in the same colour and under the same name, few of many
    coloured.

    Errors: ParameterError for a model to highlight that is not there, and for panels of a column
    that splits no series.
    """
    tails = (str(row["tail"]) for plot in plots for row in plot.rows if "tail" in row)
    drawn = {name for plot in plots for name in _models(plot)}
    every = drawn.union(tails, *(plot.models for plot in plots))
    asked = {
        pattern: [m for m in sorted(drawn) if m == pattern or fnmatchcase(m, pattern)]
        for pattern in look.highlight
    }
    if wrong := [pattern for pattern, found in asked.items() if drawn and not found]:
        given, more = OptionValue("--highlight", wrong[0]), sorted(asked.keys() - {wrong[0]})
        problem = "the chart has no such model"
        raise no_such_model(given, problem, wrong[0], drawn, given.option, more)
    if look.panel:
        plots = [_panelled(plot, look.panel) for plot in plots]
    chosen = tuple(dict.fromkeys(model for found in asked.values() for model in found))
    plots = [_leading(plot, chosen) for plot in plots]
    hues = hues_of(every)
    if len(every) > MOST_MODELS:
        # Colours of the leaders are the same, whoever else an answer names.
        best = [name for plot in plots for name in plot.leading[:_LEADING] or _models(plot)]
        hues = hues_of((name for plot in plots for name in plot.leading), hues_of(best))
    short = short_models(every)
    return tuple(_styled(_named(replace(plot, hues=hues), short), look) for plot in plots)


def short_models(models: Iterable[str]) -> dict[str, str]:
    """Model → its short name, of those that have one."""
    known = sorted({*models})
    names = zip(known, short_names(known, _LETTERS, telling=True), strict=True)
    return {name: text for name, text in names if text != name}


def _named(plot: Plot, short: Mapping[str, str]) -> Plot:
    """The plot whose words have the names that its marks have, and each once."""
    longest = sorted(short, key=len, reverse=True)
    found = re.compile("|".join(map(re.escape, longest)) or r"(?!)")
    said = partial(found.sub, lambda name: short[name[0]])
    told = _told(_models(plot), plot.title)
    parts = [part for part in plot.subtitle.split(" · ") if part not in told]
    rules = tuple(replace(rule, text=said(rule.text)) for rule in plot.rules)
    title, subtitle = said(plot.title), said(" · ".join(parts))
    return replace(plot, title=title, subtitle=subtitle, rules=rules, short=short)


def _models(plot: Plot) -> list[str]:
    models = map(model_of, (*plot.rows, *plot.points))
    return [model for model in dict.fromkeys(models) if model is not None]


def _told(models: Iterable[str], words: str) -> list[str]:
    """The models that these words name."""
    return [m for m in models if re.search(rf"(?<![\w./-]){re.escape(m)}(?![\w/-])", words)]


def _panelled(plot: Plot, column: str) -> Plot:
    """The plot with a panel for each value of a column that splits its series."""
    if column not in plot.groups:
        near = nearest(column, plot.groups)
        settles = [SuggestedFix({"--panel": name}) for name in near or plot.groups]
        settles += (
            [] if near else [SuggestedFix({"--by": (Placeholder("COLUMN"),)}, "splits by one")]
        )
        raise ParameterError(
            OptionValue("--panel", column), "no column splits the models like this", settles=settles
        )
    place = plot.groups.index(column) + 1

    def moved(row: Row) -> Row:
        parts, own = row.get("panel"), dict(row)
        for role in ("series", "label", "head"):
            name = row.get(role)
            if isinstance(name, SeriesName) and len(name.parts) > place:
                own[role] = name.without(place)
                own["panel"] = " · ".join(
                    str(part) for part in (parts, f"{column} {name.parts[place]}") if part
                )
        return own

    def setting(row: Row) -> list[Any]:
        name = row.get("series") or row.get("label")
        return [natural(part) for part in getattr(name, "parts", ())[place : place + 1]]

    names = {**plot.names, "panel": "panel"} if plot.kind != "heat" else plot.names
    rows, points = (map(moved, sorted(some, key=setting)) for some in (plot.rows, plot.points))
    return replace(plot, rows=tuple(rows), points=tuple(points), names=names)


def hues_of(names: Iterable[str], kept: Mapping[str, int] | None = None) -> dict[str, int]:
    """The place of each name's colour and shape: by the name itself, so that it stays the same from
    one command to the next; of names that meet, the first has the place and the others the next
    free ones.

    kept : those of names that have one already.
    """
    size = len(THEMES["light"].series)
    own = {name: zlib.crc32(name.encode(errors="replace")) % size for name in sorted(set(names))}
    # Names that have their place to themselves keep it, whoever comes besides.
    hues = dict(kept or {})
    owner = {place: name for name, place in reversed(own.items()) if place not in hues.values()}
    hues |= {name: place for place, name in owner.items() if name not in hues}
    for name, place in own.items():
        if name not in hues:
            free = [p for p in range(size) if p not in hues.values()]
            beyond = max(size - 1, *hues.values()) + 1
            hues[name] = min(free, key=lambda p: (p - place) % size) if free else beyond
    return hues


def _leading(plot: Plot, named: Sequence[str]) -> Plot:
    """The plot with all models but a few in grey where there are too many to tell apart, or where
    some are named; grey lines come first, without intervals and points.

    named : models; where empty, those that lead the plot, else the five highest, of lines at their
        start, and those that the answer names.
    """
    every = _models(plot)
    if not every:
        return replace(plot, leading=())
    height = "y" if plot.kind == "curves" else "x"
    first = plot.rows[0]
    depths: dict[str | None, list[float]] = {}
    for row in plot.rows:
        same = all(row.get(role) == first.get(role) for role in ("kind", "panel"))
        if same and row.get(height) is not None:
            depths.setdefault(model_of(row), []).append(-row[height])
    best = [m for m in plot.leading if m in every]
    best += [m for m in sorted(every, key=lambda m: depths.get(m, [math.inf])) if m not in best]
    if not set(named) & set(every) and len(every) <= MOST_MODELS:
        return _banded(replace(plot, leading=()), best)
    best = best[: len(plot.leading) or _LEADING]
    words = " ".join(str(piece) for sentence in plot.answer for piece in sentence)
    chosen = named or (*best, *_told(every, words))
    plot = replace(plot, leading=tuple(dict.fromkeys(m for m in chosen if m in every)))
    if plot.kind != "curves":
        return plot
    behind, ahead = ([row for row in plot.rows if plot.grey(row) == of] for of in (True, False))
    # A panel of grey lines alone shows nothing.
    panels = {row.get("panel") for row in ahead}
    if any(row.get("panel") not in panels for row in behind):
        behind = [row for row in behind if row.get("panel") in panels]
        part = f"{len(plot.leading)} of {len(every)} models"
        plot = replace(plot, subtitle=" · ".join(filter(None, (plot.subtitle, part))))
    behind = [{**row, **dict.fromkeys(_LIMITS)} for row in behind if not plot.scattered]
    points = tuple(
        {**row, **dict.fromkeys(_LIMITS)} if plot.grey(row) else row
        for row in plot.points if plot.scattered or not plot.grey(row)
    )  # fmt: skip
    return _banded(replace(plot, rows=(*behind, *ahead), points=points), plot.leading)


def _banded(plot: Plot, best: Sequence[str]) -> Plot:
    """The plot with bands around the lines of its first models alone, where those of all would hide
    each other."""
    lines = {
        tuple(row.get(role) for role in ("panel", "kind", "series"))
        for row in plot.rows if row.get("low") is not None
    }  # fmt: skip
    if plot.kind != "curves" or plot.scattered or not lines:
        return plot
    if max(Counter(panel for panel, *_ in lines).values()) <= _MOST_BANDS:
        return plot
    kinds = len({kind for _, kind, _ in lines})
    places = {model: place for place, model in enumerate(best)}
    series = sorted(
        {line[-1] for line in lines}, key=lambda name: places[model_of({"series": name}) or ""]
    )
    first = tuple(series[: max(1, min(_BANDED, _MOST_BANDS // kinds))])
    part = f"bands of {plural(len(first), 'curve' if plot.groups else 'model')}"
    return replace(plot, banded=first, subtitle=" · ".join(filter(None, (plot.subtitle, part))))


def _styled(plot: Plot, look: Appearance) -> Plot:
    if not look.title:
        plot = replace(plot, title="", subtitle="")
    if look.bands or plot.kind != "curves":
        return plot
    rows, points = (tuple({r: v for r, v in row.items() if r not in _LIMITS} for row in some)
                    for some in (plot.rows, plot.points))  # fmt: skip
    names = {role: name for role, name in plot.names.items() if role not in _LIMITS}
    return replace(plot, rows=rows, points=points, names=names)
