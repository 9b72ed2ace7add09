"""Plots → a terminal, in characters: places in its cells, drawn by plotext."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from typing import Any

from passk_cli.charts import layout
from passk_cli.charts.axes import Axis, tick_words
from passk_cli.charts.layout import rows_of
from passk_cli.charts.theme import THEMES, rgb
from passk_cli.report.plot import Plot, Row, Rule
from passk_cli.text import broken, cells_of

Place = tuple[float, float]

_WIDEST, _NARROWEST, _ROWS = 120, 20, 20
# Panels beyond this many are lower.
_TALL_PANELS, _FEW_ROWS, _LEAST_ROWS = 6, 10, 5
_MARKS = "●■▲◆✚▼✖⋈"
_STROKES = dict(zip(layout.DASHES, ("───", "╌╌╌", "┈┈┈", "─·─", "━ ━"), strict=True))
# Dots of a braille cell across and down.
_ACROSS, _DOWN = 2, 4
# Shades of a heat map, and what they mean.
_SHADES, _SHADE_WORDS = " ░▒▓█", ("0", "below 1/3", "below 2/3", "below 1", "1")
# Dots per pixel of a dash.
_DOTS = 0.6


def drawing(
    plots: Sequence[Plot], width: int = 0, colour: bool = False, percent: bool = False,
    height: int = 0,
) -> str:  # fmt: skip
    """Every plot, as wide as the terminal (80 columns in a pipe).

    colour : whether escape codes are welcome.  percent : shares as percentages.
    height : rows of a panel of lines; 0 for what is usual.
    """
    columns = max(min(width or 80, _WIDEST), _NARROWEST)
    return "\n".join(
        _DRAWINGS[plot.kind](plot, columns, colour, percent, height).text() for plot in plots
    )


@dataclass
class Canvas:
    """Marks in cells of a terminal, x to the right and y upwards from the lower left corner.

    right : row, from the top → a word beside the canvas and its colour.  room : columns of those.
    """

    cols: int
    rows: int
    right: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    room: int = 0
    marks: list[tuple[list[float], list[float], str, str]] = field(default_factory=list)

    def put(self, places: Iterable[Place], sign: str, paint: str = "") -> None:
        """One sign at each place; "braille" for a dot."""
        inside = [
            (min(max(x, 0.0), self.cols - 1e-6), min(max(y, 0.0), self.rows - 1e-6))
            for x, y in places
        ]
        if inside:
            xs, ys = zip(*inside, strict=True)
            self.marks.append((list(xs), list(ys), sign, paint))

    def write(self, col: int, y: float, text: str) -> None:
        """A word from a column on."""
        for i, sign in enumerate(text):
            self.put([(col + i + 0.5, y)], sign)

    def lines(
        self, left: Mapping[float, str], below: Mapping[float, str], colour: bool
    ) -> list[str]:
        """The canvas inside its axes, with a word at each of some cells at the left and below."""
        import plotext

        figure = plotext.figure
        plotext.terminal.limit(False, False)
        figure.clear()
        figure.theme("colorless")
        margin = max(map(cells_of, left.values()), default=0)
        figure.plot_size(margin + 1 + self.cols, self.rows + 2)
        figure.axes(False, axis=[0, 1], side=1)
        for axis, cells, words in ((0, self.cols, below), (1, self.rows, left)):
            ruler = figure.ruler(axis, 0)
            ruler.lim(0, cells)
            ruler.alignment(lim="edge")
            ruler.ticks([min(at, cells - 0.01) for at in words], list(words.values()))
        for xs, ys, sign, paint in self.marks:
            pixel = rgb(paint) if paint and colour else None
            figure.draw(figure.signal(xs, ys, marker=plotext.marker(sign, pixel)))
        matrix = figure.build()
        if self.right:
            column = plotext.matrix(self.room, matrix.height(), plotext.pixel())
            for row, (word, paint) in self.right.items():
                text = plotext.colorize(f" {word}")
                column.insert(0, row, text.fill(rgb(paint)) if colour else text)
            matrix = matrix + column
        return str(matrix.string(colorless=not colour)).rstrip("\n").split("\n")


@dataclass
class _Drawing:
    """Parts shared by the drawings of all kinds of plots."""

    plot: Plot
    width: int
    colour: bool
    percent: bool
    rows: int = 0

    def text(self) -> str:
        """The plot under its title, panel by panel."""
        lines = broken(self.plot.title, self.width)
        lines += broken(self.plot.subtitle, self.width, joint=" · ")
        for panel in layout.panels(self.plot):
            lines += [] if panel is None else ["", str(panel)]
            lines += self.panel(panel)
        return "\n".join(line.rstrip() for line in [*lines, *self.legend()]) + "\n"

    def panel(self, panel: Any) -> list[str]:
        """The lines of one panel; None for the lone one of a plot without."""
        raise NotImplementedError

    def legend(self) -> list[str]:
        """The legend below all panels."""
        return []

    def paint(self, row: Row) -> str:
        """The colour of a row's model, the first where it is of none; grey where it is behind."""
        place, look = self.plot.hue(row) or 0, THEMES["light"]
        behind = self.plot.grey(row) or place >= len(look.series)
        return look.faint if behind else look.series[place]

    def frame(self, canvas: Canvas, left: Mapping[float, str], across: Axis) -> list[str]:
        """A canvas with words at its left and the axis below."""
        lines = canvas.lines(
            left, tick_words(across, self.percent, lambda word: cells_of(word) + 1), self.colour
        )
        title = " " * (max(map(cells_of, left.values())) + 1) + across.title.center(
            int(across.length)
        )
        return [*lines, title] if across.title else lines


@dataclass
class _CurveDrawing(_Drawing):
    """Lines over an axis, their bands shaded, with words at their ends or a legend below."""

    def __post_init__(self) -> None:
        few = len(layout.panels(self.plot)) <= _TALL_PANELS
        rows = max(self.rows, _LEAST_ROWS) if self.rows else _ROWS if few else _FEW_ROWS
        # The words at the ends of lines do not take too many columns.
        self.lines = layout.Lines.of(self.plot, rows, self.width // 3 - 4)
        self.ends = self.lines.labels
        self.room = max((cells_of(label["text"]) + 4 for label in self.ends), default=0)
        self.up = replace(self.lines.up, length=rows)
        self.heights = tick_words(self.up, self.percent, lambda _: 1.0)
        self.margin = max(map(cells_of, self.heights.values()))
        columns = self.width - self.margin - 1 - self.room
        self.across = replace(self.lines.across, length=columns)

    def panel(self, panel: Any) -> list[str]:
        canvas = self._canvas(rows_of(self.plot.rows, panel), rows_of(self.lines.points, panel))
        left = {min(at, self.up.length - 0.5): text for at, text in self.heights.items()}
        dashes, above = self.lines.dashes, list[str]()
        # Words at the ends of lines may say what dashes mean.
        if len(dashes) > 1 and not (self.ends and len(self.lines.series) < 2):
            words = "   ".join(f"{_STROKES[dash]} {kind}" for kind, dash in dashes.items())
            above = [" " * (self.margin + 1) + words]
        above += [self.up.title] if self.up.title else []
        return above + self.frame(canvas, left, self.across)

    def legend(self) -> list[str]:
        """Meaning of the marks, and of each series where words at the ends do not say it."""
        series = self.lines.series
        names = [] if len(series) < 2 or self.ends else series
        short = layout.shortened(self.plot, names, self.width - 2, cells_of)
        first = next(iter(self.plot.rows), {})
        signs = {"line": _STROKES[layout.DASHES[0]], "band": "░░", "points": self._mark(first)}
        items = [f"{signs[role]} {text}" for role, text in self.plot.keys.items()]
        items += [f"{self._mark({'series': name})} {text}" for name, text in short.items()]
        items += ["┈┈┈ other models"] if self.plot.leading else []
        return broken("   ".join(items), self.width, joint="   ")

    def _canvas(self, rows: Sequence[Row], points: Sequence[Row]) -> Canvas:
        canvas = Canvas(int(self.across.length), int(self.up.length), self._labels(), self.room)
        every = layout.by_line(rows).values()
        lines = [(line, self.paint(line[0])) for line in every if not self.plot.grey(line[0])]
        behind = [line for line in every if self.plot.grey(line[0])]
        for line in behind:
            canvas.put(self._dots(line, layout.DASHES[2]), "braille", THEMES["light"].faint)
        for line, paint in lines:
            if line[0].get("series") in (self.plot.banded or (line[0].get("series"),)):
                canvas.put(self._band(line), "░", paint)
        for rule in self.plot.rules:
            self._rule(canvas, rule)
        for line, paint in lines:
            dash = self.lines.dashes.get(line[0].get("kind"), layout.DASHES[0])
            canvas.put(self._dots(line, dash), "braille", paint)
        for point in points:
            self._point(canvas, point)
        for rule in self.plot.rules:
            if rule.y is not None:
                at = self.up.place(rule.y)
                canvas.write(1, at + (1 if at < self.up.length - 1 else -1), rule.text)
        return canvas

    def _mark(self, row: Row) -> str:
        return _MARKS[((self.plot.hue(row) or 0) + 3 * self.plot.setting(row)[0]) % len(_MARKS)]

    def _place(self, row: Row, role: str = "y") -> Place:
        return self.across.place(row["x"]), self.up.place(row[role])

    def _dots(self, line: Sequence[Row], dash: Sequence[float]) -> Iterator[Place]:
        """Places along a line, half a dot apart, where its dash is on."""
        on, period, start = dash[0] * _DOTS, sum(dash[:2]) * _DOTS, 0.0
        for a, b in pairwise(line):
            if a["y"] is None or b["y"] is None:
                continue
            (x0, y0), (x1, y1) = self._place(a), self._place(b)
            length = math.hypot((x1 - x0) * _ACROSS, (y1 - y0) * _DOWN)
            steps = max(1, math.ceil(2 * length))
            for step in range(steps + 1):
                if (start + length * step / steps) % period <= on:
                    yield x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps
            start += length

    def _band(self, line: Sequence[Row]) -> Iterator[Place]:
        """The cells between the limits of a line."""
        for a, b in pairwise(line):
            if any(row.get(limit) is None for row in (a, b) for limit in ("low", "high")):
                continue
            start, end = self.across.place(a["x"]), self.across.place(b["x"])
            for col in range(math.floor(start), math.ceil(end)):
                share = min(max((col + 0.5 - start) / (end - start or 1.0), 0.0), 1.0)
                low, high = (
                    self.up.place(a[limit]) * (1 - share) + self.up.place(b[limit]) * share
                    for limit in ("low", "high")
                )
                yield from ((col + 0.5, r + 0.5) for r in range(math.floor(low), math.ceil(high)))

    def _point(self, canvas: Canvas, row: Row) -> None:
        if row["y"] is None:
            return
        paint = self.paint(row)
        if row.get("low") is not None and row.get("high") is not None:
            (x, low), (_, high) = self._place(row, "low"), self._place(row, "high")
            bar = ((x, r + 0.5) for r in range(int(low), math.ceil(high)))
            canvas.put(bar, "│", paint)
        canvas.put([self._place(row)], self._mark(row), paint)

    def _rule(self, canvas: Canvas, rule: Rule) -> None:
        cols, rows = canvas.cols, canvas.rows
        if rule.x is not None:
            at = self.across.place(rule.x)
            canvas.put(((at, r + 0.5) for r in range(rows)), "┊")
            start = int(at) + 1 if at + len(rule.text) < cols else int(at) - len(rule.text)
            canvas.write(start, rows - 0.5, rule.text)
        elif rule.y is not None:
            at = self.up.place(rule.y)
            canvas.put(((c + 0.5, at) for c in range(cols)), "┈")

    def _labels(self) -> dict[int, tuple[str, str]]:
        """Row → the word at the end of a line and its colour; no two on one row."""
        ends, last = sorted(self.ends, key=lambda end: -end["at"]), int(self.up.length) - 1
        rows = [last - int(min(self.up.place(end["at"]), last)) for end in ends]
        for i in range(1, len(rows)):
            rows[i] = max(rows[i], rows[i - 1] + 1)
        for i in reversed(range(len(rows))):
            rows[i] = min(rows[i], last + 1 - len(rows) + i)
        labels = {}
        for end, row in zip(ends, rows, strict=True):
            sign = f"{self._mark(end)} " if len(self.lines.series) > 1 else ""
            labels[row] = (f"{sign}{end['text']}", self.paint(end))
        return labels


@dataclass
class _ForestDrawing(_Drawing):
    """A text row per label: the interval as a line or a bar, a filled or hollow point on it."""

    def __post_init__(self) -> None:
        lines = layout.named_rows(self.plot, self.width // 2, cells_of)[::-1]
        places = [(place + 0.5, *line) for place, line in enumerate(lines)]
        self.heights = {label: height for height, label, _ in places if label is not None}
        self.left = {height: text for height, _, text in places}

    def panel(self, panel: Any) -> list[str]:
        length = max(self.width - max(map(cells_of, self.left.values())) - 1, 20)
        across = replace(layout.forest_axis(self.plot, panel), length=length)
        rules = [r.x for r in self.plot.rules if r.x is not None]
        canvas = Canvas(int(across.length), len(self.left))
        canvas.put(((across.place(x), y) for x in rules for y in self.left), "┊")
        for row in rows_of(self.plot.rows, panel):
            y, low, high = self.heights[row["label"]], row["low"], row["high"]
            paint = self.paint(row)
            bar = self.plot.kind == "bars"
            if low is not None and high is not None:
                first, last = int(across.place(low)), int(across.place(high)) + (not bar)
                cells = ((col + 0.5, y) for col in range(first, last))
                canvas.put(cells, "█" if bar else "─", paint)
            crossed = [x for x in rules if low is not None and low <= x <= high]
            canvas.put(((across.place(x), y) for x in crossed), "┼", paint)
            if row["x"] is not None and not bar:
                sign = "●" if row.get("told", True) else "○"
                canvas.put([(across.place(row["x"]), y)], sign, paint)
        return self.frame(canvas, self.left, across)


@dataclass
class _HeatDrawing(_Drawing):
    """A text row per label: a column per cell, or several cells, the darker the larger."""

    def panel(self, panel: Any) -> list[str]:
        rows = rows_of(self.plot.rows, panel)
        names = dict(layout.named_rows(self.plot, self.width // 2, cells_of))
        margin = max(map(cells_of, names.values()))
        most = max(row["high"] for row in rows)
        columns = min(self.width - margin - 1, most * max(1, (self.width - margin - 1) // most))
        lines = []
        for label, cells in groupby(rows, lambda row: row["label"]):
            own, name = list(cells), names[label]
            shades = "".join(self._shade(own, most, at, columns) for at in range(columns))
            lines.append(name + " " * (margin - cells_of(name) + 1) + shades)
        ends = f"{1:,}{f'{most:,}'.rjust(columns - 1)}" if columns > 1 else "1"
        return [*lines, " " * (margin + 1) + ends, " " * (margin + 1) + self.plot.x_title]

    def legend(self) -> list[str]:
        """The shades and their shares."""
        words = [f"{sign} {text}" for sign, text in zip(_SHADES, _SHADE_WORDS, strict=True)]
        return ["", f"{self.plot.names['y']}: {'  '.join(words)}   · none"]

    def _shade(self, cells: Sequence[Row], most: int, at: int, columns: int) -> str:
        """The sign of a column: the mean of the cells below it."""
        low, high = at * most / columns, (at + 1) * most / columns
        own = [row["y"] for row in cells
               if row["high"] > low + 1e-9 and row["low"] < high - 1e-9
               and row["y"] is not None]  # fmt: skip
        if not own:
            return "·"
        mean = sum(own) / len(own)
        # The ends mean what they say: none of the attempts, and all of them.
        return _SHADES[0 if mean == 0 else 4 if mean == 1 else 1 + min(int(3 * mean), 2)]


_DRAWINGS = {
    "heat": _HeatDrawing,
    "curves": _CurveDrawing,
    "forest": _ForestDrawing,
    "bars": _ForestDrawing,
    "densities": _ForestDrawing,
}
