"""Places of all parts of a plot: decided once, for every way of drawing it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

from passk_cli.charts.axes import Axis, apart, span
from passk_cli.charts.density import density
from passk_cli.report.plot import Plot, Row, distinct

R = TypeVar("R", bound=Row)

# Width and height in pixels of a plot that stands alone, and of a panel.
WHOLE, PANEL = (480, 300), (220, 190)
# Width of a heat map that stands alone.
WIDE = 640
# Letters of a subtitle that fit on a line, and what its parts are joined by.
_LETTERS, _LETTERS_A_PANEL, _BETWEEN = 92, 44, " · "
_TITLE_TO_SUBTITLE = 2 / 3
_COLUMNS = 3
# Lines of these kinds look the same in every chart; others take what is left, in their order.
_KINDS = {"pass@k": (1, 0), "pass^k": (6, 4)}
DASHES = ((1, 0), (6, 4), (2, 3), (10, 3, 2, 3), (14, 4))
# Labels at the ends of lines need this many pixels each, and may be moved by that many.
_LINE_OF_TEXT, _MOVABLE, _MOST_LABELS = 14.0, 40.0, 12
# Names longer than this stand below the chart.
LONG = 36


def panels(plot: Plot) -> list[Any]:
    """The panels in their order; [None] for the lone one of a plot without."""
    return distinct((*plot.rows, *plot.points), "panel") if plot.has("panel") else [None]


def columns(plot: Plot) -> int:
    """How many panels stand beside each other."""
    count = len(panels(plot))
    return 2 if count == 4 else min(count, _COLUMNS)


def title(plot: Plot) -> list[str]:
    """The title in lines; its letters are larger than a subtitle's."""
    return textwrap.wrap(plot.title, round(_letters(plot) * _TITLE_TO_SUBTITLE))


def _letters(plot: Plot) -> int:
    """As many letters of a subtitle as a line may have."""
    if plot.width is None:
        return max(columns(plot) * _LETTERS_A_PANEL, _LETTERS)
    return max(round(plot.width * columns(plot) * _LETTERS / WHOLE[0]), _LETTERS_A_PANEL)


def subtitle(plot: Plot) -> list[str]:
    """The subtitle in lines, broken between its parts where that is possible."""
    letters = _letters(plot)
    lines = [""]
    for part in plot.subtitle.split(_BETWEEN):
        longer = f"{lines[-1]}{_BETWEEN}{part}" if lines[-1] else part
        lines[-1:] = [longer] if len(longer) <= letters else [lines[-1], part]
    return [line for each in lines for line in textwrap.wrap(each, letters)]


def values(rows: Iterable[Row], *roles: str) -> list[float | None]:
    """The values of some roles, row by row."""
    return [row.get(role) for row in rows for role in roles]


def by_line(rows: Iterable[R]) -> dict[tuple[Any, ...], list[R]]:
    """The rows of each line, under its series, kind and panel."""
    lines: dict[tuple[Any, ...], list[R]] = {}
    for row in rows:
        key = tuple(row.get(role) for role in ("series", "kind", "panel"))
        lines.setdefault(key, []).append(row)
    return lines


@dataclass(frozen=True)
class Lines:
    """The layout of curves.

    points : the plot's, else what no line would show, as nothing defined comes before or after it.
    dashes : kind → lengths of strokes and gaps in pixels.
    labels : what stands at the end of each line: a text for the point x, y, moved to the height
        `at`; none when they do not fit there.
    """

    across: Axis
    up: Axis
    points: Sequence[Row]
    series: list[Any]
    dashes: dict[Any, tuple[int, ...]]
    labels: list[Row]

    @staticmethod
    def of(plot: Plot) -> Lines:
        """The layout of a plot of curves."""
        points = plot.points or _alone(plot.rows)
        rows = (*plot.rows, *points)
        places = [*values(rows, "x"), *(rule.x for rule in plot.rules)]
        across = span(places, plot.x_title, log=plot.log_x, at_values=True)
        share = plot.unit == "share"
        if plot.y_limits is None:
            heights = [*values(rows, "y", "low", "high"), *(rule.y for rule in plot.rules)]
            up = span(heights, plot.y_title, log=plot.log_y, zero=True, margin=0.03, share=share)
        else:
            up = Axis(*plot.y_limits, plot.y_title, plot.log_y, share=share)
        height = plot.height or WHOLE[1]
        ahead = [row for row in plot.rows if not plot.grey(row.get("series"))]
        labels = [] if plot.has("panel") else _labels(ahead, across, up, height)
        kinds = distinct(rows, "kind")
        fixed: dict[Any, tuple[int, ...]] = {k: _KINDS[k] for k in kinds if k in _KINDS}
        free = iter([dash for dash in DASHES if dash not in fixed.values()])
        dashes = {kind: fixed.get(kind) or next(free, DASHES[0]) for kind in kinds}
        series = [each for each in distinct(rows, "series") if not plot.grey(each)]
        return Lines(across, up, points, series, dashes, labels)


def _alone(rows: Iterable[Row]) -> list[Row]:
    """Rows that no line would show: nothing defined comes before or after them."""
    alone = []
    for line in by_line(rows).values():
        for defined, run in groupby(line, lambda row: row["y"] is not None):
            first, *others = run
            alone += [first] if defined and not others else []
    return alone


def _labels(rows: Sequence[Row], across: Axis, up: Axis, height: int) -> list[Row]:
    """Labels at the ends of lines, moved apart; empty when they do not fit there."""
    lines = by_line(rows)
    ends = [[row for row in line if row["y"] is not None][-1:] for line in lines.values()]
    last = [row for end in ends for row in end]
    several = len({series for series, _, _ in lines}) > 1
    texts = [row.get("series" if several else "kind") for row in last]
    if not 1 < len(last) <= _MOST_LABELS or None in texts or max(map(len, map(str, texts))) > LONG:
        return []
    if any(across.place(row["x"]) < 0.98 for row in last):
        return []
    places = [up.place(row["y"]) for row in last]
    heights = apart(places, _LINE_OF_TEXT / height, 0.0, 1.0)
    if max(abs(a - b) for a, b in zip(places, heights, strict=True)) > _MOVABLE / height:
        return []
    return [
        {"x": row["x"], "y": row["y"], "at": up.at(place), "text": str(text)}
        | {role: row[role] for role in ("series", "kind") if role in row}
        for row, place, text in zip(last, heights, texts, strict=True)
    ]


def forest_axis(plot: Plot) -> Axis:
    """The axis under a forest, which holds every limit and every rule; under bars from zero."""
    places = [*values(plot.rows, "x", "low", "high"), *(rule.x for rule in plot.rules)]
    return span(places, plot.x_title, margin=0.03, share=True, zero=plot.kind == "bars")


def ridges(plot: Plot) -> tuple[list[Row], list[Row]]:
    """The points of densities, each with the height `row` that it stands at, and their outlines.

    An outline stands on its point's height, from `row` to `top`: 0.85 for the tallest of a panel.
    """
    labels = distinct(plot.rows, "label")
    points: list[Row] = [
        {role: value for role, value in row.items() if role != "draws"}
        | {"row": len(labels) - 1 - labels.index(row["label"])}
        for row in plot.rows
    ]
    shapes = [[array.tolist() for array in density(row["draws"])] for row in plot.rows]
    tallest: dict[Any, float] = {}
    for point, (_, heights) in zip(points, shapes, strict=True):
        panel = point.get("panel")
        tallest[panel] = max([tallest.get(panel, 0.0), *heights])
    outlines: list[Row] = [
        {role: point[role] for role in ("label", "panel") if role in point}
        | {"x": x, "row": point["row"], "top": point["row"] + height / scale}
        for point, (places, heights) in zip(points, shapes, strict=True)
        for scale in [tallest[point.get("panel")] / 0.85]
        for x, height in zip(places, heights, strict=True)
    ]
    return points, outlines
