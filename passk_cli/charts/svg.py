"""Plots → svg, written from the layout: for files, pages, and the pictures beside Markdown.

A chart is a legend and panels, each a drawing of its own, so that they stand beside each other as
far as there is room: a page lets its reader's window decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from itertools import groupby
from typing import Any

from passk_cli.charts import layout
from passk_cli.charts.axes import Axis, span, tick_words
from passk_cli.charts.placing import word_places
from passk_cli.charts.theme import FONT, Theme, rgb
from passk_cli.report.plot import Plot, Row, Rule, distinct
from passk_cli.text import cells_of

# Sizes of text: of numbers at an axis, of names, of titles.
_SMALL, _NAME, _TITLE = 11, 12, 15
# A line of text; room around a drawing; a tick; the gap between drawings.
_LINE, _ROOM, _TICK, _GAP = 17, 8, 4, 24
# Names are cut to so many pixels; tables have them whole.
_LONGEST = 260
# Height of a row: where they are few, where they are many, of densities.
_TALL, _LOW, _RIDGE = 18, 12, 44
# How many rows are few; columns that have a name each, if it is no longer than so many pixels.
_FEW_ROWS, _FEW_COLUMNS, _LONGEST_COLUMN = 40, 40, 150
# Points of a line that carry its shape; radius of points, and of what the mouse finds.
_MARKERS, _POINT, _FOUND = 12, 4.2, 7.0
# Bands of more series than this are fainter, since they lie on each other.
_MOST_BANDS, _BAND, _FAINT = 4, 0.14, 0.06
# The corners of a point by its series; None is a circle.
_CORNERS: tuple[tuple[tuple[float, float], ...] | None, ...] = (
    None,
    ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    ((0, -1.15), (1.1, 0.8), (-1.1, 0.8)),
    ((0, -1.3), (1.1, 0), (0, 1.3), (-1.1, 0)),
    ((-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4), (0.4, 1.2),
     (-0.4, 1.2), (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4)),
    ((0, 1.15), (1.1, -0.8), (-1.1, -0.8)),
    ((1.15, 0), (-0.8, 1.1), (-0.8, -1.1)),
    ((-1.15, 0), (0.8, 1.1), (0.8, -1.1)),
)  # fmt: skip
# Viridis from 0 to 1 (Nunez, Anderton and Renslow 2018).
_VIRIDIS = tuple(map(rgb, (
    "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58",
    "#b5de2b", "#fde725",
)))  # fmt: skip
# Widths of letters in shares of the size of a text; a letter that is not here is of middle width.
_WIDTHS = (
    dict.fromkeys("ijl|'", 0.23)
    | dict.fromkeys(" .,:;/!tfIr()[]-", 0.33)
    | dict.fromkeys("mMwW%@—", 0.93)
)


@dataclass(frozen=True)
class Fragment:
    """Svg elements in a box of this many pixels."""

    width: float
    height: float
    elements: str

    def element(self, attributes: str = "") -> str:
        """The drawing as an element of its own."""
        width, height = _number(self.width), _number(self.height)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            f' viewBox="0 0 {width} {height}"{attributes}>{self.elements}</svg>'
        )


def drawings(
    plot: Plot, look: Theme, percent: bool, *, still: bool = False
) -> tuple[list[Fragment], list[Fragment]]:
    """The items of the legend and the panels of a plot.

    percent : shares as percentages.  still : without `data-say`, in which each mark says its
    values, line by line.
    """
    drawer = _DRAWERS[plot.kind](plot, look, percent, still)
    return list(drawer.legend()), [drawer.panel(panel) for panel in layout.panels(plot)]


def picture(plots: Sequence[Plot], look: Theme, percent: bool) -> str:
    """Plots with their titles, one under the other, as an svg file."""
    wholes = [_whole(plot, look, percent) for plot in plots]
    width = max(each.width for each in wholes) + 2 * _ROOM
    elements, top = [], float(_ROOM)
    for each in wholes:
        elements.append(_moved(_ROOM, top, each.elements))
        top += each.height + _GAP
    paper = f'<rect width="100%" height="100%" fill="{look.paper}"/>'
    body = Fragment(width, top - _GAP + _ROOM, paper + "".join(elements))
    return body.element(f' font-family="{FONT}"')


def _whole(plot: Plot, look: Theme, percent: bool) -> Fragment:
    """A plot under its title and its legend."""
    legend, panels = drawings(plot, look, percent, still=True)
    head = [(line, _TITLE, look.text, "bold") for line in layout.title(plot)]
    head += [(line, _SMALL, look.faint, "") for line in layout.subtitle(plot)]
    blocks = [
        Fragment(
            width_of(text, size), size + 5,
            _moved(0, size, _words(0, 0, text, paint, size=size, weight=weight)),
        )
        for text, size, paint, weight in head
    ]  # fmt: skip
    widest = max(panel.width for panel in panels) * layout.columns(plot) + 2 * _GAP
    blocks += [*_flow(legend, widest), *_flow(panels, widest)]
    elements, top = [], 0.0
    for block in blocks:
        elements.append(_moved(0, top, block.elements))
        top += block.height
    return Fragment(max(block.width for block in blocks), top, "".join(elements))


def width_of(text: str, size: float) -> float:
    """About how wide a text is in pixels, rather too much than too little.

    >>> width_of("pass@1", 10) > width_of("iii", 10)
    True
    """
    return size * sum(
        _WIDTHS.get(c, 0.7 if c.isupper() else 0.57 * cells_of(c)) for c in text
    )  # fmt: skip


def cut(text: str, size: float, longest: float) -> str:
    """The text, or its beginning with "…" where it is wider.

    >>> cut("abcdefgh", 10, 30)
    'abcd…'
    """
    if width_of(text, size) <= longest:
        return text
    while text and width_of(f"{text}…", size) > longest:
        text = text[:-1]
    return f"{text}…"


@dataclass
class _Drawer:
    """Parts shared by the drawings of all kinds of plots."""

    plot: Plot
    look: Theme
    percent: bool
    still: bool = False

    def legend(self) -> Iterator[Fragment]:
        """The legend above all panels."""
        yield from ()

    def panel(self, panel: Any) -> Fragment:
        """One panel; None for the lone one of a plot without."""
        raise NotImplementedError

    @property
    def size(self) -> tuple[int, int]:
        """Width and height inside the axes."""
        width, height = layout.PANEL if len(layout.panels(self.plot)) > 1 else layout.WHOLE
        return self.plot.width or width, self.plot.height or height

    def paint(self, place: int | None) -> str:
        """The colour of a series by its place; of what belongs to none, that of text."""
        return self.look.text if place is None else self.look.series[place % len(self.look.series)]

    def say(self, row: Row, roles: Iterable[str]) -> str:
        """Words of a mark about its row, as an attribute; none in a still picture."""
        if self.still:
            return ""
        lines = [
            f"{self.plot.names[role]}: {self._said(role, row[role])}"
            for role in roles
            if row.get(role) is not None
        ]
        return f' data-say="{"&#10;".join(map(escape, lines))}"'

    def _said(self, role: str, value: Any) -> str:
        if not isinstance(value, int | float):
            return str(value)
        measured = {"curves": "y", "heat": "y"}.get(self.plot.kind, "x")
        share = self.plot.unit == "share" and role in (measured, "low", "high")
        if share and self.percent:
            return f"{100 * value:.4g}%"
        return f"{round(value, 6) if share else float(f'{value:.4g}'):,g}"

    def boxed(self, panel: Any, width: float, height: float, elements: str) -> Fragment:
        """A panel under its name; all room that it needs is in width and height."""
        if panel is None:
            return Fragment(width, height, elements)
        text = cut(str(panel), _NAME, max(width, _LONGEST))
        name = _words(0, _NAME, text, self.look.text, size=_NAME, weight="bold")
        width = max(width, width_of(text, _NAME))
        return Fragment(width, height + _LINE + 4, name + _moved(0, _LINE + 4, elements))

    def across(self, axis: Axis, left: float, top: float) -> str:
        """The axis below what is drawn."""
        x, y = _number(left), _number(top)
        ticks = tick_words(axis, self.percent)
        path = f"M{x} {y}h{_number(axis.length)}"
        path += "".join(f"M{_number(left + at)} {y}v{_TICK}" for at in ticks)
        line = f'<path d="{path}" stroke="{self.look.faint}" fill="none"/>'
        height = top + _TICK + _SMALL + 2
        words = _several(
            ((left + at, height, text) for at, text in ticks.items()), self.look.faint, "middle"
        )
        middle = left + axis.length / 2
        title = _words(
            middle, height + _LINE, axis.title, self.look.text, size=_NAME, anchor="middle"
        )
        return line + words + (title if axis.title else "")

    def below(self, axis: Axis) -> int:
        """How much room the axis takes."""
        return _TICK + _LINE + (_LINE + 2) * bool(axis.title)


@dataclass
class _CurveDrawer(_Drawer):
    """Lines with bands, points with bars, and words at the ends of lines."""

    def __post_init__(self) -> None:
        self.lines = layout.Lines.of(self.plot)
        width, height = self.size
        self.axis = replace(self.lines.across, length=width)
        self.up = replace(self.lines.up, length=height)
        self.ticks = tick_words(self.up, self.percent)
        self.left = max((width_of(text, _SMALL) for text in self.ticks.values()), default=0) + 8
        self.several = len(self.lines.series) > 1
        # Rules across have words above the drawing; the title of the height stands over them.
        self.top = _ROOM + _LINE * any(rule.x is not None for rule in self.plot.rules)
        self.top += (_LINE + 4) * bool(self.up.title)

    def legend(self) -> Iterator[Fragment]:
        labelled = bool(self.lines.labels)
        hue = 0 if self.several else self.plot.hue(next(iter(self.lines.series), None), ())
        lone = self.paint(None if self.several else hue)
        marks = {
            "line": f'<path d="M0 9h24" stroke-width="2" stroke="{lone}"/>',
            "band": f'<path d="M0 4h24v10h-24z" fill="{lone}" fill-opacity="0.25"/>',
            "points": _point(hue, 12, 9, _POINT, f' fill="{lone}"'),
        }
        if self.plot.leading:
            grey = f'<path d="M0 9h24" stroke="{self.look.faint}" stroke-opacity="0.4"/>'
            yield self._item(grey, 30, "other models")
        for role, text in self.plot.keys.items():
            if role != "band" or self.plot.has("low", "high"):
                yield self._item(marks[role], 30, text)
        if len(self.lines.dashes) > 1 and (self.several or not labelled):
            for kind, dash in self.lines.dashes.items():
                line = f'<path d="M0 9h30" stroke-width="2"{_dashes(dash)}'
                yield self._item(f'{line} stroke="{self.look.text}"/>', 36, str(kind))
        if self.several and not labelled:
            for series in self.lines.series:
                place = self.plot.hue(series, self.lines.series)
                point = _point(place, 6, 9, _POINT, f' fill="{self.paint(place)}"')
                yield self._item(point, 16, str(series))

    def _item(self, mark: str, left: int, text: str) -> Fragment:
        text = cut(text, _NAME, _LONGEST)
        words = _words(left, 13, text, self.look.text, size=_NAME)
        return Fragment(left + width_of(text, _NAME) + 4, 18, mark + words)

    def panel(self, panel: Any) -> Fragment:
        rows, points = _of(self.plot.rows, panel), _of(self.lines.points, panel)
        width, height = self.size
        ends = self.lines.labels
        right = max((width_of(end["text"], _NAME) for end in ends), default=0) + 20 if ends else 14
        path = "".join(f"M0 {_number(height - at)}h{width}" for at in self.ticks)
        ticks = ((-6, height - at + 4, text) for at, text in self.ticks.items())
        elements = "".join([
            f'<path d="{path}" stroke="{self.look.grid}" fill="none"/>',
            _several(ticks, self.look.faint, "end"), *map(self._rule, self.plot.rules),
            *self._lines(rows), *self._points(rows, points), *self._labels(),
            self.across(self.axis, 0, height),
        ])  # fmt: skip
        title = _words(0, _NAME, self.up.title, self.look.text, size=_NAME) if self.up.title else ""
        return self.boxed(
            panel,
            self.left + width + right,
            self.top + height + self.below(self.axis),
            title + _moved(self.left, self.top, elements),
        )

    def _place(self, row: Row, role: str = "y") -> tuple[float, float]:
        return self.axis.place(row["x"]), self.up.length - self.up.place(row[role])

    def _hue(self, row: Row) -> int:
        return self.plot.hue(row.get("series"), self.lines.series)

    def _lines(self, rows: Sequence[Row]) -> Iterator[str]:
        """The bands, then the lines."""
        lines = list(layout.by_line(rows).values())
        opacity = _BAND if len(self.lines.series) <= _MOST_BANDS else _FAINT
        for line in lines if self.plot.has("low", "high") else ():
            for run in _runs(line, "low", "high"):
                edge = [self._place(row, "high") for row in run]
                edge += [self._place(row, "low") for row in reversed(run)]
                paint = self.paint(self._hue(line[0]))
                yield f'<path d="{_path(edge)}z" fill="{paint}" fill-opacity="{opacity}"/>'
        for line in lines:
            path = "".join(_path(map(self._place, run)) for run in _runs(line, "y"))
            dash, width = _dashes(self.lines.dashes.get(line[0].get("kind"), ())), 2
            paint = self.paint(self._hue(line[0]))
            if self.plot.grey(line[0].get("series")):
                paint, width = f'{self.look.faint}" stroke-opacity="0.4', 1
            yield f'<path d="{path}" fill="none" stroke="{paint}" stroke-width="{width}"{dash}/>'

    def _points(self, rows: Sequence[Row], points: Sequence[Row]) -> Iterator[str]:
        """Intervals, then points of their own, else a few in the shape of each line, else none;
        under the mouse all."""
        for row in points:
            if row.get("low") is not None and row.get("high") is not None:
                ends = _path([self._place(row, "low"), self._place(row, "high")])
                paint = self.paint(self._hue(row))
                yield f'<path d="{ends}" stroke="{paint}" stroke-width="2.5"/>'
        shown = points
        if self.several and not self.plot.points:
            shown = [
                row
                for line in layout.by_line(rows).values()
                if not self.plot.grey(line[0].get("series"))
                for row in self._spread(line)
            ]
        for row in shown:
            if row["y"] is not None:
                place = self._hue(row)
                yield _point(place, *self._place(row), _POINT, f' fill="{self.paint(place)}"')
        if self.still:
            return
        yield '<g fill-opacity="0">'
        for row in (*rows, *points):
            if row["y"] is not None:
                x, y = map(_number, self._place(row))
                yield f'<circle cx="{x}" cy="{y}" r="{_FOUND:g}"{self.say(row, self.plot.names)}/>'
        yield "</g>"

    def _spread(self, line: Sequence[Row]) -> Iterator[Row]:
        """The few points of a line that carry the shape of its series."""
        cells = set()
        for row in line:
            cell = round(self.lines.across.place(row["x"]) * _MARKERS)
            if cell not in cells and row["y"] is not None:
                cells.add(cell)
                yield row

    def _labels(self) -> Iterator[str]:
        """Words at the ends of lines, each led to by a short stroke."""
        for end in self.lines.labels:
            (x, y), (_, at) = self._place(end), self._place(end, "at")
            paint = self.paint(self._hue(end))
            stroke = _path([(x + 3, y), (x + 12, at)])
            yield f'<path d="{stroke}" stroke="{paint}" stroke-opacity="0.6"/>'
            yield _words(x + 15, at + 4, end["text"], self.look.text, size=_NAME)

    def _rule(self, rule: Rule) -> str:
        """A reference line with its word: beside the top of a vertical one, on a horizontal one
        where it hides no line."""
        width, height = self.size
        if rule.x is not None:
            x = self.axis.place(rule.x)
            left = x > width / 2
            anchor, beside = ("end", x - 2) if left else ("", x + 2)
            word = _words(beside, -5, rule.text, self.look.faint, anchor=anchor)
            return _reference(x, 0, x, height, rule, self.look) + word
        if rule.y is None:
            return ""
        y = height - self.up.place(rule.y)
        place = word_places(self.plot, self.lines, 6.5 / width, 17 / height)[rule]
        at, anchor = (width - 4, "end") if place.at_end else (4, "")
        word = _words(
            at, y + (13 if place.below else -4), rule.text, self.look.faint, anchor=anchor
        )
        return _reference(0, y, width, y, rule, self.look) + word


@dataclass
class _ForestDrawer(_Drawer):
    """Intervals with points, filled or hollow, one under the other."""

    def __post_init__(self) -> None:
        labels = distinct(self.plot.rows, "label")
        self.step, self.text = _row_sizes(len(labels))
        self.heights = {label: (place + 0.5) * self.step for place, label in enumerate(labels)}
        self.names = {label: cut(str(label), self.text, _LONGEST) for label in labels}
        self.left = max(width_of(name, self.text) for name in self.names.values()) + 10
        self.axis = replace(layout.forest_axis(self.plot), length=self.size[0])

    def panel(self, panel: Any) -> Fragment:
        height = self.step * len(self.heights)
        names = ((-8, self.heights[at] + 4, name) for at, name in self.names.items())
        rules = "".join(
            _reference(self.axis.place(rule.x), 0, self.axis.place(rule.x), height, rule, self.look)
            for rule in self.plot.rules
            if rule.x is not None
        )
        rows = "".join(map(self._row, _of(self.plot.rows, panel)))
        elements = rules + _several(names, self.look.faint, "end", self.text) + rows
        elements += self.across(self.axis, 0, height)
        return self.boxed(
            panel,
            self.left + self.axis.length + 14,
            _ROOM + height + self.below(self.axis),
            _moved(self.left, _ROOM, elements),
        )

    def _row(self, row: Row) -> str:
        y, paint = self.heights[row["label"]], self.paint(0)
        if row["x"] is None:
            return ""
        filled = row.get("told", True)
        colours = f' fill="{paint if filled else self.look.paper}" stroke="{paint}"'
        radius = _POINT if self.step == _TALL else _POINT - 1
        point = _point(0, self.axis.place(row["x"]), y, radius, colours + ' stroke-width="1.5"')
        roles = [role for role in self.plot.names if role not in ("told", "draws")]
        return f"<g{self.say(row, roles)}>{_bar(self.axis, row, y, paint)}{point}</g>"


@dataclass
class _BarDrawer(_ForestDrawer):
    """Bars from zero, each with its number behind it."""

    def _row(self, row: Row) -> str:
        y, height, end = self.heights[row["label"]], self.step - 4, self.axis.place(row["x"])
        bar = f'<rect x="{_number(self.axis.place(0))}" y="{_number(y - height / 2)}"'
        bar += f' width="{_number(end - self.axis.place(0))}" height="{height}"'
        word = _words(end + 4, y + 4, f"{row['x']:,}", self.look.text) if row["x"] else ""
        said = self.say(row, self.plot.names)
        return f'<g{said}>{bar} fill="{self.paint(0)}"/></g>{word}'


@dataclass
class _DensityDrawer(_Drawer):
    """Densities over intervals with points, one under the other."""

    def __post_init__(self) -> None:
        self.points, self.outlines = layout.ridges(self.plot)
        self.names = {
            row["row"]: cut(str(row["label"]), _SMALL, _LONGEST) for row in self.points
        }  # fmt: skip
        self.left = max(width_of(name, _SMALL) for name in self.names.values()) + 10

    def panel(self, panel: Any) -> Fragment:
        points, outlines = _of(self.points, panel), _of(self.outlines, panel)
        places = layout.values((*points, *outlines), "x", "low", "high")
        axis = span(places, self.plot.x_title, share=True, margin=0.03)
        axis = replace(axis, length=self.size[0])
        height = _RIDGE * len(self.names) + _ROOM
        base = {row: height - _ROOM - _RIDGE * row for row in self.names}
        names = ((-8, base[row] + 4, name) for row, name in self.names.items())
        elements = _several(names, self.look.faint, "end")
        for row, outline in groupby(outlines, lambda each: each["row"]):
            edge = [
                (axis.place(each["x"]), base[row] - _RIDGE * (each["top"] - row))
                for each in outline
            ]
            edge = [(edge[0][0], base[row]), *edge, (edge[-1][0], base[row])]
            elements += f'<path d="{_path(edge)}z" fill="{self.paint(0)}" fill-opacity="0.3"/>'
        for each in points:
            elements += self._row(each, axis, base[each["row"]])
        return self.boxed(
            panel,
            self.left + axis.length + 14,
            _ROOM + height + self.below(axis),
            _moved(self.left, _ROOM, elements + self.across(axis, 0, height)),
        )

    def _row(self, row: Row, axis: Axis, y: float) -> str:
        bar, paint = _bar(axis, row, y, self.paint(0)), self.paint(0)
        point = "" if row["x"] is None else _point(
            0, axis.place(row["x"]), y, _POINT, f' fill="{paint}"'
        )  # fmt: skip
        return f"<g{self.say(row, self.plot.names)}>{bar}{point}</g>"


@dataclass
class _HeatDrawer(_Drawer):
    """Cells in rows, coloured by a share; a cell without one shows the paper."""

    def legend(self) -> Iterator[Fragment]:
        """The colours with the shares that they mean."""
        name = self.plot.names["y"]
        left, wide, steps = width_of(name, _NAME) + 14, 200, 25
        bar = "".join(
            f'<rect x="{_number(left + wide * i / steps)}" y="2" width="{wide / steps + 0.5:g}"'
            f' height="12" fill="{_colour((i + 0.5) / steps)}"/>'
            for i in range(steps)
        )
        axis = Axis(0.0, 1.0, share=True, ticks=(0, 0.25, 0.5, 0.75, 1), length=wide)
        places = tick_words(axis, self.percent).items()
        words = _several(((left + at, 28, word) for at, word in places), self.look.faint, "middle")
        title = _words(0, 12, name, self.look.text, size=_NAME)
        yield Fragment(left + wide + 20, 34, title + bar + words)

    def panel(self, panel: Any) -> Fragment:
        rows = _of(self.plot.rows, panel)
        by_label = {label: list(own) for label, own in groupby(rows, lambda row: row["label"])}
        step, size = _row_sizes(len(by_label))
        names = [cut(str(label), size, _LONGEST) for label in by_label]
        left = max(width_of(name, size) for name in names) + 10
        most = max(row["high"] for row in rows)
        width = self.plot.width or (layout.WIDE if panel is None else layout.WHOLE[0])
        axis = Axis(0, most, self.plot.x_title, length=width)
        places = enumerate(names)
        elements = _several(
            ((-8, step * (place + 0.5) + 4, name) for place, name in places),
            self.look.faint, "end", size,
        )  # fmt: skip
        # Columns are the same in all rows, and shares with few attempts are often the same.
        # At whole pixels no paper shines through between neighbours.
        edges = {end: round(axis.place(end)) for r in rows for end in (r["low"], r["high"])}
        columns = {
            (low, high): f' x="{edges[low]}" width="{edges[high] - edges[low]}" height="{step}"'
            for low, high in {(r["low"], r["high"]) for r in rows}
        }
        fill = cache(self._filled)
        for place, own in enumerate(by_label.values()):
            elements += self._row(own, place * step, columns, fill)
        height = step * len(by_label)
        foot, words = self._foot(rows, axis, height)
        return self.boxed(
            panel,
            left + width + 24,
            _ROOM + height + foot,
            _moved(left, _ROOM, elements + words),
        )

    def _row(
        self,
        cells: Sequence[Row],
        top: int,
        columns: Mapping[tuple[float, float], str],
        fill: Callable[[float, str], str],
    ) -> str:
        """The cells of a row; what they share is said once.

        columns : where cells lie, by their ends.  fill : `_filled`.
        """
        label = self.say(cells[0], ["label"]).replace("data-say", "data-row")
        parts = [f'<g transform="translate(0 {top})" shape-rendering="crispEdges"{label}>']
        for row in cells:
            if row["y"] is not None:
                place = columns[row["low"], row["high"]]
                parts.append(f"<rect{place}{fill(row['y'], row['words'])}/>")
        return "".join([*parts, "</g>"])

    def _filled(self, share: float, words: str) -> str:
        """The colour of a cell and what it says, as attributes."""
        said = self.say({"y": share, "words": words}, ("words", "y"))
        return f' fill="{_colour(share)}"{said}'

    def _foot(self, rows: Sequence[Row], axis: Axis, height: int) -> tuple[float, str]:
        """Room and words below: of one cell each where cells are few, and the same in every row."""
        names = {row["low"]: str(row["words"]) for row in rows}
        texts = {at: cut(name, _SMALL, _LONGEST_COLUMN) for at, name in names.items()}
        if not axis.high == len(names) <= _FEW_COLUMNS:
            return self.below(axis), self.across(axis, 0, height)
        longest = max(width_of(text, _SMALL) for text in texts.values())
        parts = [
            f'<text transform="translate({_number(axis.place(at + 0.5) + 4)} {height + 10})'
            f' rotate(-60)">{escape(text)}</text>'
            for at, text in texts.items()
        ]
        style = f'font-size="{_SMALL}" fill="{self.look.faint}" text-anchor="end"'
        foot = 0.87 * longest + 14
        title = _words(
            axis.length / 2, height + foot + _LINE, axis.title, self.look.text, size=_NAME,
            anchor="middle",
        )  # fmt: skip
        return foot + _LINE + 6, f"<g {style}>{''.join(parts)}</g>" + title


_DRAWERS = {
    "heat": _HeatDrawer,
    "curves": _CurveDrawer,
    "forest": _ForestDrawer,
    "bars": _BarDrawer,
    "densities": _DensityDrawer,
}


def _of(rows: Sequence[Row], panel: Any) -> list[Row]:
    return [row for row in rows if row.get("panel") == panel]


def _row_sizes(rows: int) -> tuple[int, int]:
    """Height of a row and size of its name."""
    return (_TALL, _SMALL) if rows <= _FEW_ROWS else (_LOW, _SMALL - 1)


def _runs(line: Sequence[Row], *roles: str) -> Iterator[list[Row]]:
    """The parts of a line where these roles are defined."""
    for defined, run in groupby(line, lambda row: all(row.get(r) is not None for r in roles)):
        if defined:
            yield list(run)


def _bar(axis: Axis, row: Row, y: float, paint: str) -> str:
    """The interval of a row."""
    if row["low"] is None or row["high"] is None:
        return ""
    ends = _path([(axis.place(row["low"]), y), (axis.place(row["high"]), y)])
    return f'<path d="{ends}" stroke="{paint}" stroke-width="2.5"/>'


def _reference(x: float, y: float, x2: float, y2: float, rule: Rule, look: Theme) -> str:
    dash = ' stroke-dasharray="3 3"' if rule.dashed else ""
    return f'<path d="{_path([(x, y), (x2, y2)])}" stroke="{look.faint}"{dash}/>'


def _point(place: int, x: float, y: float, radius: float, attributes: str) -> str:
    """A point in the shape of a series."""
    corners = _CORNERS[place % len(_CORNERS)]
    if corners is None:
        return f'<circle cx="{_number(x)}" cy="{_number(y)}" r="{radius}"{attributes}/>'
    return (
        f'<path d="{_path([(x + radius * a, y + radius * b) for a, b in corners])}z"{attributes}/>'
    )


def _path(places: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in places)


def _dashes(dash: Sequence[int]) -> str:
    return f' stroke-dasharray="{" ".join(map(str, dash))}"' if len(dash) and dash[1] else ""


def _colour(share: float) -> str:
    """The colour of a share."""
    at = min(max(share, 0.0), 1.0) * (len(_VIRIDIS) - 1)
    first = min(int(at), len(_VIRIDIS) - 2)
    ends = zip(_VIRIDIS[first], _VIRIDIS[first + 1], strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (at - first)):02x}" for a, b in ends)


def _words(
    x: float,
    y: float,
    text: str,
    paint: str,
    *,
    size: int = _SMALL,
    anchor: str = "",
    weight: str = "",
) -> str:
    """A text whose line stands at y."""
    style = f' text-anchor="{anchor}"' if anchor else ""
    style += f' font-weight="{weight}"' if weight else ""
    place = f'x="{_number(x)}" y="{_number(y)}" font-size="{size}" fill="{paint}"'
    return f"<text {place}{style}>{escape(text)}</text>"


def _several(
    words: Iterable[tuple[float, float, str]], paint: str, anchor: str, size: int = _SMALL
) -> str:
    """Texts of one look, each x, y and words."""
    texts = "".join(
        f'<text x="{_number(x)}" y="{_number(y)}">{escape(text)}</text>' for x, y, text in words
    )
    return f'<g font-size="{size}" fill="{paint}" text-anchor="{anchor}">{texts}</g>'


def _moved(x: float, y: float, elements: str) -> str:
    return f'<g transform="translate({_number(x)} {_number(y)})">{elements}</g>'


def _number(value: float) -> str:
    """A length in pixels, to a tenth.

    >>> _number(3.04), _number(3.25)
    ('3', '3.2')
    """
    return f"{round(value, 1):g}"


def _flow(boxes: Sequence[Fragment], width: float) -> Iterator[Fragment]:
    """Fragments beside each other as far as they fit, line by line."""
    line: list[Fragment] = []
    for box in boxes:
        if line and sum(each.width + _GAP for each in line) + box.width > width:
            yield _beside(line)
            line = []
        line.append(box)
    if line:
        yield _beside(line)


def _beside(line: Sequence[Fragment]) -> Fragment:
    elements, left = [], 0.0
    for box in line:
        elements.append(_moved(left, 0, box.elements))
        left += box.width + _GAP
    return Fragment(left - _GAP, max(box.height for box in line) + _ROOM, "".join(elements))
