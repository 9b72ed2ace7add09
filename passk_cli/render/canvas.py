"""Characters on a terminal: rulers from values to cells, and a canvas drawn by plotext."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from passk_cli.render.style import cells_of
from passk_cli.report.model import SHARES


@dataclass(frozen=True)
class Ruler:
    """From values to cells: 0 at the low end of the canvas, `cells` at the high one."""

    low: float
    high: float
    cells: int
    log: bool = False
    ticks: tuple[float, ...] = ()
    title: str = ""
    share: bool = False

    @staticmethod
    def of(channel: Mapping[str, Any], cells: int, values: Iterable[float | None] = ()) -> Ruler:
        """The ruler of an encoding; it spans the values where the encoding names no domain."""
        scale, axis = channel["scale"], channel.get("axis", {})
        seen = [v for v in values if v is not None]
        low, high = scale.get("domain") or (min(seen), max(seen))
        if low == high:
            low, high = low - 0.5, high + 0.5
        log = scale.get("type") == "log"
        ticks = axis.get("values") or ((low, high) if log else _round_ticks(low, high))
        title, share = channel.get("title") or "", axis.get("format") == SHARES
        return Ruler(low, high, cells, log, tuple(ticks), title, share)

    def at(self, value: float) -> float:
        """The cell of a value, with its fraction."""
        low, high, value = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        return self.cells * (value - low) / (high - low)

    def words(self, percent: bool) -> dict[float, str]:
        """Cell → label of each tick; shares as percentages when asked."""
        if percent and self.share:
            return {self.at(v): f"{_number(round(100 * v, 10))}%" for v in self.ticks}
        return {self.at(v): _number(v) for v in self.ticks}


@dataclass
class Canvas:
    """Marks in cells of a terminal, x to the right and y upwards from the lower left corner."""

    cols: int
    rows: int
    marks: list[tuple[list[float], list[float], str, str]] = field(default_factory=list)

    def put(self, places: Iterable[tuple[float, float]], sign: str, paint: str = "") -> None:
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

    def built(self, left: Mapping[float, str], below: Mapping[float, str], colour: bool) -> Any:
        """plotext's matrix of the canvas inside its axes."""
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
        return figure.build()


def _round_ticks(low: float, high: float) -> list[float]:
    """About five round values inside a range."""
    step = 10.0 ** math.floor(math.log10((high - low) / 5))
    step *= next(f for f in (1, 2, 5, 10) if (high - low) / (f * step) <= 6)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _number(value: float) -> str:
    """A tick in words: 0.2, 1,000, 2M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e5, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if letter == 'k' else size):g}{letter}"
    return f"{value:,.6g}" if value == int(value) else f"{value:g}"


def rgb(paint: str) -> tuple[int, int, int]:
    """A colour as #rrggbb in numbers."""
    return int(paint[1:3], 16), int(paint[3:5], 16), int(paint[5:7], 16)
