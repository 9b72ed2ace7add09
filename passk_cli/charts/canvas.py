"""Characters on a terminal: a canvas drawn by plotext, and words at ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from passk_cli.charts.axes import Axis
from passk_cli.charts.theme import rgb
from passk_cli.text import cells_of

Place = tuple[float, float]


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


def words(axis: Axis, percent: bool) -> dict[float, str]:
    """Place → label of each tick; shares as percentages when asked."""
    ends = (axis.low, axis.high)
    ticks = axis.ticks or (ends if axis.log else _round_ticks(*ends))
    if percent and axis.share:
        return {axis.place(v): f"{_number(round(100 * v, 10))}%" for v in ticks}
    return {axis.place(v): _number(v) for v in ticks}


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
