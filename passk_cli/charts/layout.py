"""Computes the positions of axes, labels and lines in charts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, TypeVar

from passk_cli.charts.axes import Axis, axis_from_values, spread_positions
from passk_cli.charts.density import density
from passk_cli.report.phrases import SeriesName
from passk_cli.report.plot import Plot, Row, distinct_values
from passk_cli.text import display_width, short_names

RowType = TypeVar("RowType", bound=Row)

# _DASHES_BY_LINE_KIND maps the kind of a line to the lengths of its dashes and gaps. Any other kind
# of line gets an unused pattern from DASH_PATTERNS_OF_LINE_KINDS.
_DASHES_BY_LINE_KIND: dict[str, tuple[int, ...]] = {
    "pass@k": (1, 0),
    "pass^k": (6, 4),
    "frontier": (2, 3),
    "frontier of all groups": (2, 3),
}
DASH_PATTERNS_OF_LINE_KINDS = ((1, 0), (6, 4), (2, 3), (10, 3, 2, 3), (14, 4))
# A chart labels at most _MOST_LABELS lines at their ends, and moves a label up or down by at most
# the height of _MOVABLE text lines.
_MOST_LABELS, _MOVABLE = 12, 8.0


def panel_names(plot: Plot) -> list[Any]:
    """The names of the panels of a plot, or [None] for a plot without panels."""
    rows = (*plot.rows, *plot.points)
    return distinct_values(rows, "panel") if plot.has_roles("panel") else [None]


def panel_rows(rows: Iterable[Row], panel: Any) -> list[Row]:
    """The rows that belong to the given panel, and the rows that belong to all panels."""
    return [row for row in rows if row.get("panel") in (None, panel)]


def values_under_roles(rows: Iterable[Row], *roles: str) -> list[float | None]:
    """The values of roles such as "x" and "low" in all rows.  Missing values are None."""
    return [row.get(role) for row in rows for role in roles]


def rows_by_line(rows: Iterable[RowType]) -> dict[tuple[Any, ...], list[RowType]]:
    """A dict that maps the series, kind and panel of each line to the rows of the line."""
    lines: dict[tuple[Any, ...], list[RowType]] = {}
    for row in rows:
        key = tuple(row.get(role) for role in ("series", "kind", "panel"))
        lines.setdefault(key, []).append(row)
    return lines


def short_series_names(
    plot: Plot, names: Iterable[Any], room: float, extent: Callable[[str], float]
) -> dict[Any, str]:
    """A dict that maps the name of each series to a label, which may be shortened.

    room : maximum width of a label, which is exceeded if shortened labels would be equal.
    """
    models = {name: name.parts[0] if isinstance(name, SeriesName) else str(name) for name in names}
    ends = {name: str(name).removeprefix(model) for name, model in models.items()}
    remaining_room = room - max(map(extent, ends.values()), default=0.0)
    short = [plot.short_names.get(model, model) for model in models.values()]
    if max(map(extent, short), default=0.0) > remaining_room:
        short = short_names(list(models.values()), remaining_room, extent)
    return {name: model + ends[name] for name, model in zip(models, short, strict=True)}


@dataclass(frozen=True)
class CurveLayout:
    """The layout of a plot of curves.

    points : the points of the plot, and rows that must be drawn as points because a line needs at
        least two neighbouring rows.
    line_end_labels : the labels at the ends of lines, or [] if the labels do not fit.  A label has
        a text, the end of the line (x, y), and the height of the text (at).
    """

    x_axis: Axis
    y_axis: Axis
    points: Sequence[Row]
    series: list[Any]
    dashes: dict[Any, tuple[int, ...]]
    line_end_labels: list[Row]

    @staticmethod
    def from_plot(
        plot: Plot, room: float = 20.0, most: float = math.inf,
        extent: Callable[[str], float] = display_width,
    ) -> CurveLayout:  # fmt: skip
        """The layout of a plot of curves.

        room : height of the plot in text lines.
        most : maximum width of a label.  If a label is wider than this maximum, the plot has no
            labels.
        """
        points = (*plot.points, *_isolated_rows(plot.rows))
        rows = (*plot.rows, *points)
        rules, title, log = plot.reference_lines, plot.x_title, plot.log_x
        marked = tuple(rule.x for rule in rules if rule.x is not None)
        places = [*values_under_roles(rows, "x"), *marked]
        margin = 0.04 * plot.is_scatter_plot
        across = axis_from_values(places, title, log=log, at_values=not margin, margin=margin)
        across = replace(
            across, required_ticks=marked, tick_label_by_value=plot.x_tick_labels, unit=plot.x_unit
        )
        title, log, share = plot.y_title, plot.log_y, plot.unit == "share"
        if plot.y_limits is None:
            heights = [*values_under_roles(rows, "y", "low", "high"), *(rule.y for rule in rules)]
            up = axis_from_values(heights, title, log=log, zero=True, margin=0.03, share=share)
        else:
            up = Axis(*plot.y_limits, title, log, is_share=share)
        unlabelled = tuple(rule.y for rule in rules if rule.y is not None and not rule.text)
        up = replace(up, required_ticks=unlabelled, unit=plot.y_unit)
        kinds = distinct_values(rows, "kind")
        fixed = [_DASHES_BY_LINE_KIND.get(kind) for kind in kinds]
        free = iter([dash for dash in DASH_PATTERNS_OF_LINE_KINDS if dash not in fixed])
        solid = DASH_PATTERNS_OF_LINE_KINDS[0]
        dashes = {kind: dash or next(free, solid) for kind, dash in zip(kinds, fixed, strict=True)}
        ahead = [row for row in plot.rows if not plot.is_grey(row)]
        series = distinct_values([row for row in rows if not plot.is_grey(row)], "series")
        labels: list[Row] = []
        if not plot.has_roles("panel"):
            if len(series) > 1:
                ahead = [row for row in ahead if row.get("kind") == next(iter(dashes), None)]
            labels = _line_end_labels(ahead, across, up, room)
            if len(series) > 1:
                short = short_series_names(plot, distinct_values(rows, "series"), most, extent)
                labels = [{**label, "text": short[label["text"]]} for label in labels]
            if any(extent(label["text"]) > most for label in labels):
                labels = []
        return CurveLayout(across, up, points, series, dashes, labels)


def _isolated_rows(rows: Iterable[Row]) -> list[Row]:
    isolated = []
    for line in rows_by_line(rows).values():
        for defined, run in groupby(line, lambda row: row["y"] is not None):
            first, *further_rows = run
            isolated += [first] if defined and not further_rows else []
    return isolated


def _line_end_labels(rows: Sequence[Row], across: Axis, up: Axis, room: float) -> list[Row]:
    lines = rows_by_line(rows)
    ends = [[row for row in line if row["y"] is not None][-1:] for line in lines.values()]
    last = [row for end in ends for row in end]
    several = len({series for series, _, _ in lines}) > 1
    texts = [row.get("series" if several else "kind") for row in last]
    if not 1 < len(last) <= min(_MOST_LABELS, room) or None in texts:
        return []
    if any(across.position_of(row["x"]) < 0.98 for row in last):
        return []
    places = [up.position_of(row["y"]) for row in last]
    heights = spread_positions(places, 1 / room, 0.2 / room, 1.0)
    if max(abs(a - b) for a, b in zip(places, heights, strict=True)) > _MOVABLE / room:
        return []
    return [
        {"x": row["x"], "y": row["y"], "at": up.value_at(place), "text": text}
        | {role: row[role] for role in ("series", "kind") if role in row}
        for row, place, text in zip(last, heights, texts, strict=True)
    ]


def row_names_and_headings(
    plot: Plot, room: float, extent: Callable[[str], float]
) -> list[tuple[Any, str]]:
    """The text lines at the left of a forest plot or heat map, from the top.

    A text line is a pair (label of a row, text) or (None, heading).  If rows show differences
    between two models, a heading such as "gpt −" names the first model, and the rows below the
    heading name the second models.
    room : maximum width of a name, which is exceeded if shortened names would be equal.
    """
    rows = {row["label"]: row for row in reversed(plot.rows)}
    headed = plot.has_roles("head", "tail")
    ends = {
        label: (rows[label]["head"], rows[label]["tail"]) if headed else ("", label)
        for label in distinct_values(plot.rows, "label")
    }
    names = [name for pair in ends.values() for name in pair]
    short = short_series_names(plot, names, room, extent)
    lines: list[tuple[Any, str]] = []
    before = ""
    for label, (head, tail) in ends.items():
        if head != before:
            lines.append((None, f"{short[head]} −"))
        lines.append((label, short[tail] if str(tail).strip() else f'"{tail}"'))
        before = head
    return lines


def forest_axis(plot: Plot, panel: Any) -> Axis:
    """The x-axis of a panel of a forest plot.  All panels with the same scale have one range."""
    scales = {row.get("scale") for row in plot.rows if row.get("panel") == panel}
    rows = [row for row in plot.rows if row.get("scale") in scales]
    rules = plot.reference_lines
    places = [*values_under_roles(rows, "x", "low", "high"), *(rule.x for rule in rules)]
    draws = [row["draws"] for row in rows if "draws" in row]
    places += [float(end) for array in draws for end in (array.min(), array.max())]
    return axis_from_values(places, plot.x_title, margin=0.03, share=True, zero=plot.kind == "bars")


def density_outlines(plot: Plot) -> dict[tuple[Any, Any], list[tuple[float, float]]]:
    """A dict that maps the label and the panel of each density to the outline of the density.  The
    highest point of an outline is at 85 % of the height of a row."""
    outlines = {}
    for row in plot.rows:
        places, heights = density(row["draws"], within=row["within"])
        outline = zip(places, 0.85 * heights / max(heights, default=1), strict=True)
        outlines[row["label"], row.get("panel")] = list(outline)
    return outlines
