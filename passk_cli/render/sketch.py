"""Charts → a terminal: the layers that `report.drawn` makes, drawn in characters by plotext."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from passk_cli.render.canvas import Canvas, Ruler, rgb
from passk_cli.render.charts import THEMES
from passk_cli.render.style import Style, cells_of
from passk_cli.report.model import Chart, Report

Spec = Mapping[str, Any]
Row = Mapping[str, Any]

_WIDEST, _ROWS = 120, 20
_MARKS = "●■▲◆✚▼▶◀"
_DASHES = {(1, 0): "───", (6, 4): "╌╌╌", (2, 3): "┈┈┈", (10, 3, 2, 3): "─·─", (14, 4): "━ ━"}
# A band is shaded only where few lines could be meant; dots of a braille cell across and down.
_MOST_BANDS, _ACROSS, _DOWN = 4, 2, 4
# Dots per pixel of a dash.
_DOTS = 0.6


def sketch(report: Report, style: Style) -> str:
    """Every chart of a report, as wide as the terminal (80 columns in a pipe)."""
    width = min(style.width or 80, _WIDEST)
    style = replace(style, width=width)
    return "\n".join(_drawn(chart, style) for chart in report.drawn)


def _drawn(chart: Chart, style: Style) -> str:
    spec, lines = chart.spec, []
    title = spec.get("title", {})
    for text in (title.get("text", ""), *title.get("subtitle", ())):
        lines += [text] if text else []
    values = spec["data"]["values"]
    layers = spec.get("spec", spec)["layer"]
    panels = spec["facet"]["sort"] if "facet" in spec else [None]
    for panel in panels:
        if panel is not None:
            lines += ["", str(panel)]
        mine = [row for row in values if row.get("panel") == panel]
        lines += _panel(layers, mine, style)
    lines += _legend(layers, style.width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _panel(layers: Sequence[Spec], values: Sequence[Row], style: Style) -> list[str]:
    styles = {layer["mark"]["style"] for layer in layers}
    if "density" in styles:
        return _ridges(layers, values, style)
    if "curve" in styles:
        return _Curves(layers, values, style).lines()
    return _forest(layers, values, style)


class _Curves:
    """Lines over a ruler, their bands shaded, with words at their ends or a legend below."""

    def __init__(self, layers: Sequence[Spec], values: Sequence[Row], style: Style) -> None:
        self.layers = {layer["mark"]["style"]: layer for layer in layers}
        self.rules = [layer for layer in layers if layer["mark"]["style"] in ("reference", "word")]
        self.values, self.style = values, style
        self.code = self.layers["curve"]["encoding"]
        self.up = Ruler.of(self.code["y"], _ROWS)
        self.heights = self.up.words(style.percent)
        self.margin = max(map(cells_of, self.heights.values()))
        self.ends, self.room = _ends(layers, style.width)
        self.across = Ruler.of(self.code["x"], style.width - self.margin - 1 - self.room)
        self.series = self.code["color"]["scale"]["domain"] if "color" in self.code else []
        self.canvas = Canvas(self.across.cells, self.up.cells)

    def lines(self) -> list[str]:
        self._draw()
        left = {min(at, self.up.cells - 0.5): text for at, text in self.heights.items()}
        below = self.across.words(self.style.percent)
        matrix = self.canvas.built(left, below, self.style.colour)
        if self.ends:
            matrix = matrix + self._labels(matrix.height())
        found = [" " * (self.margin + 1) + word for word in self._above()]
        found += [self.up.title] if self.up.title else []
        found += str(matrix.string(colorless=not self.style.colour)).rstrip("\n").split("\n")
        if self.across.title:
            found.append(" " * (self.margin + 1) + self.across.title.center(self.across.cells))
        return found

    def _draw(self) -> None:
        by_line: dict[tuple[Any, Any], list[Row]] = {}
        for row in self.values:
            if row["drawn"] == "line":
                by_line.setdefault((row.get("series"), row.get("kind")), []).append(row)
        if len(by_line) <= _MOST_BANDS:
            for (series, _), rows in by_line.items():
                self.canvas.put(self._shade(rows), "░", self._paint(series))
        for rule in self.rules:
            self._rule(rule)
        for (series, kind), rows in by_line.items():
            self.canvas.put(self._dots(rows, self._dash(kind)), "braille", self._paint(series))
        for row in self.values:
            if row["drawn"] == "point" and row["y"] is not None:
                self._point(row)
        if len(self.series) > 1 and not any(row["drawn"] == "point" for row in self.values):
            for (series, _), rows in by_line.items():
                sign = _mark(self.series.index(series))
                self.canvas.put(self._spread(rows), sign, self._paint(series))

    def _place(self, row: Row, which: str = "y") -> tuple[float, float]:
        return self.across.at(row["x"]), self.up.at(row[which])

    def _dots(self, rows: Sequence[Row], dash: Sequence[float]) -> Iterator[tuple[float, float]]:
        """Places along a line, half a dot apart, where its dash is on."""
        on, period, gone = dash[0] * _DOTS, sum(dash[:2]) * _DOTS, 0.0
        for a, b in pairwise(rows):
            if a["y"] is None or b["y"] is None:
                continue
            (x0, y0), (x1, y1) = self._place(a), self._place(b)
            length = math.hypot((x1 - x0) * _ACROSS, (y1 - y0) * _DOWN)
            steps = max(1, math.ceil(2 * length))
            for step in range(steps + 1):
                if (gone + length * step / steps) % period <= on:
                    yield x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps
            gone += length

    def _shade(self, rows: Sequence[Row]) -> Iterator[tuple[float, float]]:
        for a, b in pairwise(rows):
            if any(row.get(limit) is None for row in (a, b) for limit in ("low", "high")):
                continue
            start, end = self.across.at(a["x"]), self.across.at(b["x"])
            for col in range(math.floor(start), math.ceil(end)):
                share = min(max((col + 0.5 - start) / (end - start), 0.0), 1.0)
                low, high = (
                    self.up.at(a[limit]) * (1 - share) + self.up.at(b[limit]) * share
                    for limit in ("low", "high")
                )
                yield from ((col + 0.5, r + 0.5) for r in range(math.floor(low), math.ceil(high)))

    def _spread(self, rows: Sequence[Row]) -> Iterator[tuple[float, float]]:
        last = -math.inf
        for row in rows:
            if row["y"] is not None and self.across.at(row["x"]) - last >= self.across.cells / 9:
                last = self.across.at(row["x"])
                yield self._place(row)

    def _point(self, row: Row) -> None:
        paint = self._paint(row.get("series"))
        if row.get("low") is not None and row.get("high") is not None:
            (x, low), (_, high) = self._place(row, "low"), self._place(row, "high")
            self.canvas.put(((x, r + 0.5) for r in range(int(low), math.ceil(high))), "│", paint)
        several = len(self.series) > 1
        sign = _mark(self.series.index(row["series"])) if several and "series" in row else "●"
        self.canvas.put([self._place(row)], sign, paint)

    def _rule(self, rule: Spec) -> None:
        row, word = rule["data"]["values"][0], rule["mark"]["style"] == "word"
        if "x" in row:
            at = self.across.at(row["x"])
            start = (
                int(at) + 1
                if at + len(row["text"]) < self.across.cells
                else int(at) - len(row["text"])
            )
            if word:
                self.canvas.write(start, self.up.cells - 0.5, row["text"])
            else:
                self.canvas.put(((at, r + 0.5) for r in range(self.up.cells)), "┊")
        elif word:
            self.canvas.write(1, self.up.at(row["y"]) + 1, row["text"])
        else:
            at = self.up.at(row["y"])
            self.canvas.put(((c + 0.5, at) for c in range(self.across.cells)), "┈")

    def _above(self) -> list[str]:
        """The legend of dashes, where words at the ends do not say it."""
        code = self.code.get("strokeDash")
        if code is None or len(code["scale"]["domain"]) < 2 or (self.ends and not code["legend"]):
            return []
        scale = code["scale"]
        kinds = zip(scale["domain"], scale["range"], strict=True)
        return ["   ".join(f"{_DASHES.get(tuple(d), '───')} {k}" for k, d in kinds)]

    def _labels(self, height: int) -> Any:
        import plotext

        ends = sorted(self.ends, key=lambda end: -end["at"])
        rows = [self.up.cells - 1 - int(min(self.up.at(e["at"]), self.up.cells - 1)) for e in ends]
        for i in range(1, len(rows)):
            rows[i] = max(rows[i], rows[i - 1] + 1)
        for i in reversed(range(len(rows))):
            rows[i] = min(rows[i], self.up.cells - len(rows) + i)
        column = plotext.matrix(self.room, height, plotext.pixel())
        for end, row in zip(ends, rows, strict=True):
            paint = self._paint(end.get("series"))
            several = len(self.series) > 1
            sign = f"{_mark(self.series.index(end['series']))} " if several else ""
            text = plotext.colorize(f" {sign}{end['text']}")
            column.insert(0, row, text.fill(rgb(paint)) if paint and self.style.colour else text)
        return column

    def _paint(self, series: Any) -> str:
        return _paint(self.series.index(series)) if series in self.series else _paint(0)

    def _dash(self, kind: Any) -> Sequence[float]:
        if "strokeDash" not in self.code:
            return (1, 0)
        scale = self.code["strokeDash"]["scale"]
        found: Sequence[float] = scale["range"][scale["domain"].index(kind)]
        return found


def _ends(layers: Sequence[Spec], width: int) -> tuple[list[Row], int]:
    """The words at the ends of lines and the columns they take; none where they take too many."""
    found = [layer["data"]["values"] for layer in layers if layer["mark"]["style"] == "label"]
    room = max((cells_of(end["text"]) for end in found[0]), default=0) + 4 if found else 0
    return (found[0], room) if found and room <= width // 3 else ([], 0)


def _legend(layers: Sequence[Spec], width: int) -> list[str]:
    """The mark of each series, where words at the ends do not say it."""
    code: Spec = next((la["encoding"] for la in layers if la["mark"]["style"] == "curve"), {})
    series = code["color"]["scale"]["domain"] if "color" in code else []
    if len(series) < 2 or _ends(layers, width)[0]:
        return []
    return _flowed([f"{_mark(i)} {name}" for i, name in enumerate(series)], width)


def _forest(layers: Sequence[Spec], values: Sequence[Row], style: Style) -> list[str]:
    """A text row per label: the interval as a line, a filled or hollow point on it."""
    code = next(layer for layer in layers if layer["mark"]["style"] == "interval")["encoding"]
    labels = [str(label) for label in code["y"]["scale"]["domain"]]
    margin = max(map(cells_of, labels))
    across = Ruler.of(code["x"], max(style.width - margin - 1, 20))
    canvas = Canvas(across.cells, len(labels))
    height = {label: len(labels) - i - 0.5 for i, label in enumerate(code["y"]["scale"]["domain"])}
    rules = [la["data"]["values"][0]["x"] for la in layers if la["mark"]["style"] == "reference"]
    canvas.put(((across.at(x), y) for x in rules for y in height.values()), "┊")
    for row in values:
        y = height[row["label"]]
        _interval(canvas, across, row, y)
        crossed = [x for x in rules if row["low"] is not None and row["low"] <= x <= row["high"]]
        canvas.put(((across.at(x), y) for x in crossed), "┼", _paint(0))
        if row["x"] is not None:
            canvas.put([(across.at(row["x"]), y)], "●" if row.get("told", True) else "○", _paint(0))
    left = {len(labels) - i - 0.5: label for i, label in enumerate(labels)}
    return _finished(canvas, left, across, margin, style)


def _ridges(layers: Sequence[Spec], values: Sequence[Row], style: Style) -> list[str]:
    """Three text rows per label: the density in dots over the interval and the estimate."""
    area = next(layer for layer in layers if layer["mark"]["style"] == "density")["encoding"]
    points = [row for row in values if row["drawn"] == "point"]
    count = len(area["y"]["axis"]["values"])
    labels = {3 * row["row"] + 0.5: str(row["label"]) for row in points}
    margin = max(map(cells_of, labels.values()))
    seen = [row.get(name) for row in values for name in ("x", "low", "high")]
    across = Ruler.of(area["x"], max(style.width - margin - 1, 20), seen)
    canvas = Canvas(across.cells, 3 * count)
    for one in points:
        shape = [row for row in values if row["drawn"] == "area" and row["row"] == one["row"]]
        canvas.put(_filled(shape, across, one["row"]), "braille", _paint(0))
        _interval(canvas, across, one, 3 * one["row"] + 0.5)
        if one["x"] is not None:
            canvas.put([(across.at(one["x"]), 3 * one["row"] + 0.5)], "●", _paint(0))
    return _finished(canvas, labels, across, margin, style)


def _filled(shape: Sequence[Row], across: Ruler, base: int) -> Iterator[tuple[float, float]]:
    """The dots under a density that stands on the text row above its interval."""
    for a, b in pairwise(shape):
        start, end = across.at(a["x"]), across.at(b["x"])
        for col in range(math.ceil(start * _ACROSS), math.ceil(end * _ACROSS)):
            share = (col / _ACROSS - start) / (end - start)
            top = (a["top"] * (1 - share) + b["top"] * share - base) * 2 * _DOWN
            for dot in range(round(top)):
                yield (col + 0.5) / _ACROSS, 3 * base + 1 + (dot + 0.5) / _DOWN


def _interval(canvas: Canvas, across: Ruler, row: Row, y: float) -> None:
    if row.get("low") is None or row.get("high") is None:
        return
    low, high = int(across.at(row["low"])), int(across.at(row["high"]))
    canvas.put(((col + 0.5, y) for col in range(low, high + 1)), "─", _paint(0))


def _finished(
    canvas: Canvas, left: Mapping[float, str], across: Ruler, margin: int, style: Style
) -> list[str]:
    matrix = canvas.built(left, across.words(style.percent), style.colour)
    found = str(matrix.string(colorless=not style.colour)).rstrip("\n").split("\n")
    title = [" " * (margin + 1) + across.title.center(across.cells)] if across.title else []
    return found + title


def _flowed(words: Sequence[str], width: int) -> list[str]:
    """Words with three blanks between them, broken into lines."""
    lines = [""]
    for word in words:
        if lines[-1] and cells_of(lines[-1]) + 3 + cells_of(word) > width:
            lines.append("")
        lines[-1] += ("   " if lines[-1] else "") + word
    return lines


def _mark(place: int) -> str:
    return _MARKS[place % len(_MARKS)]


def _paint(place: int) -> str:
    series = THEMES["light"].series
    return series[place % len(series)]
