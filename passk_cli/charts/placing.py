"""Where the words of reference lines stand, so that they hide no line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from passk_cli.charts.axes import Axis
from passk_cli.charts.layout import Lines, by_line
from passk_cli.report.plot import Plot, Row, Rule
from passk_cli.text import cells_of

Box = tuple[float, float, float, float]

# Places along a word at which lines are looked at.
_SAMPLES = 24
# A point reaches this far, as a share of the axes.
_POINT = 0.015


@dataclass(frozen=True)
class WordPlace:
    """Where the word of a horizontal rule stands: over or under it, at its start or its end."""

    below: bool = False
    at_end: bool = False

    def box(self, height: float, size: tuple[float, float]) -> Box:
        """Left, right, bottom and top of a word of this size, as shares of the axes.

        >>> WordPlace(below=True, at_end=True).box(0.5, (0.25, 0.125))
        (0.75, 1.0, 0.375, 0.5)
        """
        left = 1 - size[0] if self.at_end else 0.0
        bottom = height - size[1] if self.below else height
        return left, left + size[0], bottom, bottom + size[1]


def word_places(plot: Plot, lines: Lines, letter: float, height: float) -> dict[Rule, WordPlace]:
    """The places of the words of horizontal rules that hide the least: no line, then no band.

    lines : the layout of the plot.  letter, height : the width of a letter and the height of a
    word, as shares of the axes.  Of places that hide as little, the start before the end, and over
    before under.  In panels, each with lines of its own, words are over the start.
    """
    places: dict[Rule, WordPlace] = {}
    boxes: list[Box] = []
    choices = [WordPlace(below, at_end) for at_end in (False, True) for below in (False, True)]
    for rule in plot.rules:
        if rule.y is None:
            continue
        at, size = lines.up.place(rule.y), (cells_of(rule.text) * letter, height)
        hidden = {
            place: _hidden(plot, lines, rule, place.box(at, size), boxes) for place in choices
        }
        places[rule] = choices[0] if plot.has("panel") else min(choices, key=hidden.__getitem__)
        boxes.append(places[rule].box(at, size))
    return places


def _hidden(
    plot: Plot, lines: Lines, rule: Rule, box: Box, words: Sequence[Box]
) -> tuple[bool, int, int]:
    """Whether a box leaves the plot; how many lines, points and words it hides; how many bands."""
    left, right, bottom, top = box
    places = [left + (right - left) * i / _SAMPLES for i in range(_SAMPLES + 1)]
    crossed = sum(
        left < word[1] and word[0] < right and bottom < word[3] and word[2] < top for word in words
    )
    banded = 0
    for line in by_line(plot.rows).values():
        ys, lows, highs = (_along(line, role, lines, places) for role in ("y", "low", "high"))
        crossed += any(bottom <= y <= top for y in ys)
        banded += any(low <= top and high >= bottom for low, high in zip(lows, highs, strict=True))
    for point in (*lines.points, *({"x": r.x, "y": r.y} for r in plot.rules if r != rule)):
        across = _inside(lines.across, point["x"], left, right)
        crossed += across and _inside(lines.up, point["y"], bottom, top)
    return bottom < 0 or top > 1, crossed, banded


def _inside(axis: Axis, value: float | None, low: float, high: float) -> bool:
    """Whether a point is at a word; a rule, which has no place on one axis, is all along it."""
    return value is None or low - _POINT <= axis.place(value) <= high + _POINT


def _along(line: Sequence[Row], role: str, lines: Lines, places: Sequence[float]) -> list[float]:
    """The heights of a role along a line, at those of the places where it has some."""
    heights = []
    for a, b in pairwise(line):
        if a.get(role) is None or b.get(role) is None:
            continue
        start, end = lines.across.place(a["x"]), lines.across.place(b["x"])
        low, high = lines.up.place(a[role]), lines.up.place(b[role])
        heights += [
            low + (high - low) * (place - start) / (end - start)
            for place in places
            if start <= place <= end and start < end
        ]
    return heights
