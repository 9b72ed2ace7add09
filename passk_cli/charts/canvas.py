"""Characters on a terminal: a canvas drawn by plotext."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

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
