"""Draws plots as svg, for files, html pages and pictures in Markdown.

The unit of a drawing is 1/96 inch, so that letters have a size of 7 to 8 points.  A chart consists
of a legend and panels.  In a picture file, the panels in one line share row names and y-axis
labels.  On an html page, each panel is a separate drawing, so that the browser can arrange the
panels in lines.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from html import escape
from itertools import groupby
from typing import Any, ClassVar

from passk_cli.charts import layout
from passk_cli.charts.axes import Axis, tick_label_by_position
from passk_cli.charts.chart_options import DEFAULT_PICTURE_SIZE, PictureSize
from passk_cli.charts.layout import panel_rows
from passk_cli.charts.point_names import PlacedName, boxes_along_line, place_names
from passk_cli.charts.text_metrics import text_width, wrapped_chart_text
from passk_cli.charts.theme import FONT, Theme, mix_colours
from passk_cli.errors import ParameterError
from passk_cli.report.phrases import round_half_up
from passk_cli.report.plot import Plot, ReferenceLine, Row, distinct_values
from passk_cli.suggested_fix import OptionWithValue
from passk_cli.text import short_names

# The text size is 7 points for the numbers of an axis, 7.5 points for names, and 8 points for
# titles.
_SMALL, _NAME, _TITLE = 9.4, 10.0, 10.6
# _LINE is the height of a text line in pixels, _ROOM is the margin of a drawing, and _TICK is the
# length of a tick. _PANEL_GAP is the gap between panels, and _GAP is the gap between legend items.
_LINE, _ROOM, _TICK, _PANEL_GAP, _GAP = 12.0, 5.0, 3.0, 14.0, 14.0
# Row names use at most 45 % of the width in a plot with one panel, and at most 42 % in a plot with
# several panels.
_MAX_ROW_NAME_SHARES = 0.45, 0.42
# A picture becomes at most _GROWTH times as wide to show row names in full. The names at the ends
# of lines use at most the share _MOST_ENDS of the width of a picture.
_GROWTH, _MOST_ENDS = 1.5, 0.48
# _LOWEST_ROW is the minimum height of a row, and _LOWEST is the minimum height of a panel with
# curves. The minimum width of a panel is _SLIMMEST without tick labels, _LEGIBLE with tick labels,
# and _LEGIBLE_ESTIMATES with estimates.
_LOWEST_ROW, _LOWEST, _SLIMMEST, _LEGIBLE, _LEGIBLE_ESTIMATES = 9.4, 60.0, 30.0, 54.0, 84.0
# If --chart-size is not set, a picture that names more points becomes wider.
_MAX_POINTS_WITHOUT_WIDENING = 8
# _POINT is the radius of a point, and _HOVER_RADIUS is the radius of its tooltip area. _STROKE,
# _INTERVAL and _FINE are the stroke widths of lines, intervals and fine lines.
_POINT, _HOVER_RADIUS, _STROKE, _INTERVAL, _FINE = 2.7, 5.0, 1.4, 1.7, 0.8
_SUPERSCRIPT_PATTERN = re.compile("[⁰⁴-⁹]+")
_MAX_SHARE_OF_BACKGROUND_COLOUR = 0.42
_small_width, _name_width = partial(text_width, size=_SMALL), partial(text_width, size=_NAME)
# Each shape that marks points in a chart is a list of corners. A point with the shape None is a
# circle.
_POINT_SHAPE_CORNERS: tuple[tuple[tuple[float, float], ...] | None, ...] = (
    None,
    ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    ((0, -1.3), (1.1, 0.65), (-1.1, 0.65)),
    ((0, -1.3), (1.1, 0), (0, 1.3), (-1.1, 0)),
    ((-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4), (0.4, 1.2),
     (-0.4, 1.2), (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4)),
    ((0, 1.3), (1.1, -0.65), (-1.1, -0.65)),
    ((0, 0.45), (0.75, 1.2), (1.2, 0.75), (0.45, 0), (1.2, -0.75), (0.75, -1.2), (0, -0.45),
     (-0.75, -1.2), (-1.2, -0.75), (-0.45, 0), (-1.2, 0.75), (-0.75, 1.2)),
    ((-1, -1.1), (0, -0.3), (1, -1.1), (1, 1.1), (0, 0.3), (-1, 1.1)),
)  # fmt: skip
# The colours of the viridis scale from 0 to 1 are from Nunez, Anderton and Renslow (2018).
_VIRIDIS = (
    "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58",
    "#b5de2b", "#fde725",
)  # fmt: skip


@dataclass(frozen=True)
class SvgFragment:
    """Svg elements, and the size of the box around these elements in units of the drawing."""

    width: float
    height: float
    elements: str

    def element(self, scale: float = 1.0, attributes: str = "", unit: str = "") -> str:
        """The fragment as a complete svg element.

        scale : length in the output that represents one unit of the drawing.
        """
        width, height = (f"{side * scale:.5g}{unit}" for side in (self.width, self.height))
        start = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        box = f"0 0 {_length_text(self.width)} {_length_text(self.height)}"
        return f'{start} viewBox="{box}"{attributes}>{self.elements}</svg>'


def draw_legend_and_panels(
    plot: Plot, theme: Theme, percent: bool, room: float
) -> tuple[list[SvgFragment], list[SvgFragment]]:
    """The legend items and the panels of a plot, for an html page with tooltips."""
    make = _DRAWERS[plot.kind]
    drawer = make(plot, theme, percent, room, has_no_tooltips=False, panels_per_line=1)
    return list(drawer.legend()), [drawer.panel(panel) for panel in drawer.panels]


def svg_document(
    plots: Sequence[Plot], theme: Theme, percent: bool, size: PictureSize | None = None,
    factor: float = 1.0,
) -> str:  # fmt: skip
    """An svg file that contains plots with their titles, one below the other.

    size : size of the picture.  If `size` is None, the picture is half a page wide, or wider if
        long names need more room.
    factor : number by which all lengths in the file are multiplied.
    Errors: ParameterError if the size is too small for a plot.
    """
    room, height = (size or DEFAULT_PICTURE_SIZE).size_in_drawing_units
    inside = room - 2 * _ROOM
    charts = [_chart(plot, theme, percent, inside, size) for plot in plots]
    room = max(chart.width for chart in charts) + 2 * _ROOM
    content_height = sum(chart.height for chart in charts) + _GAP * (len(charts) - 1) + 2 * _ROOM
    if height is not None:
        spare = (height - content_height) / len(plots)
        charts = [_chart(plot, theme, percent, inside, size, spare) for plot in plots]
    elements, top = [], _ROOM
    for chart in charts:
        elements.append(_translated_group(_ROOM, top, chart.elements))
        top += chart.height + _GAP
    titles = "; ".join(plot.title for plot in plots if plot.title) or "passk"
    words = "\n".join(filter(None, (plot.description for plot in plots)))
    metadata = f"<title>{escape(titles)}</title><desc>{escape(words)}</desc>"
    paper = f'<rect width="100%" height="100%" fill="{theme.paper}"/>'
    body = SvgFragment(room, height or content_height, metadata + paper + "".join(elements))
    attributes = f' role="img" font-family="{FONT}"'
    if size and size.is_for_paper and factor == 1:
        return body.element(size.width / room, attributes, size.unit)
    return body.element((size or DEFAULT_PICTURE_SIZE).pixels_per_drawing_unit * factor, attributes)


def _chart(
    plot: Plot, theme: Theme, percent: bool, room: float, size: PictureSize | None,
    spare: float = 0.0,
) -> SvgFragment:  # fmt: skip
    drawer = _DRAWERS[plot.kind](plot, theme, percent, room, spare_height=spare, picture_size=size)
    room = drawer.available_width
    title = wrapped_chart_text(plot.title, _TITLE, room, bold=True)
    words = [(line, _TITLE, theme.text, "bold") for line in title]
    below = wrapped_chart_text(plot.subtitle, _SMALL, room, joint=" · ")
    words += [(line, _SMALL, theme.faint, "") for line in below]
    elements, y = [], 0.0
    for text, high, paint, weight in words:
        y += high + 2.4
        elements.append(_text(0, y - 2.4, text, paint, size=high, weight=weight))
    y += 3 * bool(words)
    x = 0.0
    for item in drawer.legend():
        if x and x + item.width > room:
            x, y = 0.0, y + item.height
        elements.append(_translated_group(x, y, item.elements))
        x, height = x + item.width + _GAP, item.height
    y += height + 3 if x else 0
    x = 0.0
    for place, panel in enumerate(drawer.panels):
        first = place % drawer.panels_per_line == 0
        fragment = drawer.panel(panel, first)
        if first and place:
            x, y = 0.0, y + fragment.height + _PANEL_GAP
        elements.append(_translated_group(x, y, fragment.elements))
        x += fragment.width
    return SvgFragment(room, y + fragment.height, "".join(elements))


@dataclass
class _BasePlotDrawer:
    """Base class for drawing any kind of plot.

    available_width : width of a line of panels.  If `picture_size` is None, long names may increase
        this width.
    has_no_tooltips : whether the drawing has no tooltips.
    panels_per_line : number of panels per line, or 0 to draw as many panels per line as fit.
    """

    plot: Plot
    theme: Theme
    percent: bool
    available_width: float
    has_no_tooltips: bool = True
    panels_per_line: int = 0
    spare_height: float = 0.0
    picture_size: PictureSize | None = None
    left_margin: float = field(init=False, default=0.0)
    right_margin: float = field(init=False, default=10.0)
    panel_height: float = field(init=False, default=0.0)
    min_panel_width: ClassVar[float] = 84.0
    # If --chart-size is not set, a picture becomes at most `max_widening_factor` times as wide to
    # keep its panels in one row.
    max_widening_factor: ClassVar[float] = 1.0
    min_panel_height: float = field(init=False, default=_LOWEST)

    def __post_init__(self) -> None:
        self.panels, self.default_width = layout.panel_names(self.plot), self.available_width
        words = (self.picture_size or DEFAULT_PICTURE_SIZE).length_text
        if not self.panels_per_line:
            self.panels_per_line, count = 1, len(self.panels)
            self.measure_panel()
            least = self.min_panel_width + self.right_margin + _PANEL_GAP
            wider = self.max_widening_factor * self.default_width * (self.picture_size is None)
            widest = max(self.available_width, wider)
            fitting = int((widest - self.left_margin + _PANEL_GAP) // least)
            self.panels_per_line = 2 if count == 4 and fitting == 3 else max(1, min(count, fitting))
        lines = -(-len(self.panels) // self.panels_per_line)
        self.measure_panel()
        self.panel_height += self.spare_height / lines
        room = self.available_width - self.left_margin - _PANEL_GAP * (self.panels_per_line - 1)
        self.width = room / self.panels_per_line - self.right_margin
        for lacking, side, parameter in (
            ((self.min_panel_height - self.panel_height) * lines, "height", "height"),
            ((_SLIMMEST - self.width) * self.panels_per_line, "width", "size"),
        ):
            if lacking > 1e-9:
                raise ParameterError(
                    OptionWithValue("--chart-size"),
                    f"the chart needs {words(lacking)} more {side}; choose a larger {side}, or"
                    f" leave the {parameter} out",
                )  # fmt: skip
        self.name_height = max(len(self.heading_lines(panel)) for panel in self.panels) * _LINE
        self.compute_positions()

    def measure_panel(self) -> None:
        """Compute the height and the margins of a panel."""

    def compute_positions(self) -> None:
        """Compute the positions that depend on the final size of a panel."""

    def legend(self) -> Iterator[SvgFragment]:
        """The items of the legend."""
        yield from ()

    def panel(self, panel: Any, first: bool = True) -> SvgFragment:
        """The drawing of a panel.  `panel` is None for a plot without panels.

        first : whether the panel is the first in its line, so that labels appear at its left.
        """
        raise NotImplementedError

    def colour_of(self, row: Row) -> str:
        """The colour of the row's model, which is paler for each further setting of the model."""
        place = self.plot.colour_index(row)
        if place is None:
            return self.theme.text
        if self.plot.is_grey(row) or place >= len(self.theme.series):
            return self.theme.faint
        at, settings = self.plot.setting_index_and_count(row)
        share = _MAX_SHARE_OF_BACKGROUND_COLOUR * at / max(settings - 1, 1)
        return mix_colours(self.theme.series[place], self.theme.paper, share)

    def point(self, row: Row, place: tuple[float, float], paint: str = "") -> str:
        """The point of a row, in the colour and shape of the row's model."""
        paint = paint or self.colour_of(row)
        if self.plot.is_grey(row):
            return _point(0, *place, f' fill="{paint}" fill-opacity="0.5"')
        shape = (self.plot.colour_index(row) or 0) + 3 * self.plot.setting_index_and_count(row)[0]
        hollow = f'{self.theme.paper}" stroke="{paint}'
        return _point(shape, *place, f' fill="{paint if row.get("filled", True) else hollow}"')

    def tooltip(self, row: Row, roles: Iterable[str] = ()) -> str:
        """The attribute that contains the tooltip of a row, or "" in a drawing without tooltips.

        roles : the roles to show.  By default, the tooltip shows only roles that the drawing does
            not show.
        """
        if self.has_no_tooltips:
            return ""
        names, hidden = self.plot.printed_name_by_role, () if roles else _ROLES_NOT_IN_TOOLTIP
        shown = [r for r in roles or names if r not in hidden and row.get(r) is not None]
        lines = [f"{names[role]}: {self._value_text(role, row[role])}" for role in shown]
        return f' data-say="{"&#10;".join(map(escape, lines))}"'

    def _value_text(self, role: str, value: Any) -> str:
        if not isinstance(value, int | float):
            return str(value)
        measured = {"curves": "y", "heat": "y"}.get(self.plot.kind, "x")
        share = self.plot.unit == "share" and role in (measured, "low", "high")
        if share and self.percent:
            return f"{100 * value:.4g}%"
        return f"{round(value, 6) if share else float(f'{value:.4g}'):,g}"

    def heading_lines(self, panel: Any) -> list[tuple[str, float, str]]:
        """The text lines (text, size, font weight) for a panel's name and settings."""
        if panel is None:
            return []
        _, *settings = str(panel).split(" · ")
        room = self.width + self.right_margin
        names = [str(name).split(" · ")[0] for name in self.panels]
        short = short_names(names, 1.8 * room, partial(text_width, size=_NAME, bold=True))
        name = short[self.panels.index(panel)]
        lines = [(line, _NAME, "bold") for line in wrapped_chart_text(name, _NAME, room, bold=True)]
        below = [line for part in settings for line in wrapped_chart_text(part, _SMALL, room)]
        return lines + [(line, _SMALL, "") for line in below]

    def titled_panel(self, panel: Any, first: bool, height: float, elements: str) -> SvgFragment:
        """The drawing of a panel with its name and all margins."""
        x = self.left_margin if first else _PANEL_GAP
        names = ""
        for place, (line, size, weight) in enumerate(self.heading_lines(panel)):
            y = _NAME + _LINE * place
            names += _text(x, y, line, self.theme.text, size=size, weight=weight)
        top, width = self.name_height + 3 * bool(self.name_height), x + self.width
        elements = names + _translated_group(x, top, elements)
        return SvgFragment(width + self.right_margin, top + height, elements)

    def draw_x_axis(self, axis: Axis, top: float, first: bool) -> str:
        """The drawing of the x-axis.  Only the first panel of a line has the axis title."""
        ticks = tick_label_by_position(axis, self.percent, lambda text: _small_width(text) + 4)
        path = f"M0 {_length_text(top)}h{_length_text(axis.length)}"
        path += "".join(f"M{_length_text(at)} {_length_text(top)}v{_TICK:g}" for at in ticks)
        line = f'<path d="{path}" stroke="{self.theme.faint}" fill="none"/>'
        height = top + _TICK + _SMALL
        labels = ((at, height, text) for at, text in ticks.items())
        parts = line + _texts(labels, self.theme.faint, "middle")
        wide = self.available_width - self.left_margin - self.right_margin
        x = (axis.length if self.panels_per_line == 1 else wide) / 2
        for number, text in enumerate(self.axis_title_lines(axis) if first else (), 1):
            parts += _text(x, height + _LINE * number, text, self.theme.text, anchor="middle")
        return parts

    def axis_title_lines(self, axis: Axis) -> list[str]:
        wide = self.available_width - self.left_margin
        room = axis.length + _PANEL_GAP if self.panels_per_line == 1 else wide
        return wrapped_chart_text(axis.title, _NAME, room) if axis.title else []

    def x_axis_height(self, axis: Axis) -> float:
        """The height of the x-axis with its labels and title."""
        return _TICK + _SMALL + 2.6 + _LINE * len(self.axis_title_lines(axis))

    def _reference_line(self, x: float, y: float, x2: float, y2: float, rule: ReferenceLine) -> str:
        dash = ' stroke-dasharray="2 2"' if rule.dashed else ""
        return f'<path d="{_path([(x, y), (x2, y2)])}" stroke="{self.theme.faint}"{dash}/>'


@dataclass
class _CurveDrawer(_BasePlotDrawer):
    """Draws curves, with bands, points with intervals, and names at the ends of lines."""

    def measure_panel(self) -> None:
        series = distinct_values((*self.plot.rows, *self.plot.points), "series")
        crowded = self.plot.is_scatter_plot and len(series) > _MAX_POINTS_WITHOUT_WIDENING
        growth = _GROWTH if crowded and self.picture_size is None else 1.0
        self.available_width = self.default_width * growth
        self.panel_height = max(0.5 * self.available_width / self.panels_per_line, 90.0)
        inner = self.panel_height + self.spare_height / -(-len(self.panels) // self.panels_per_line)
        usual, text_lines = _MOST_ENDS * self.default_width, max(inner, 1.0) / (_LINE - 0.6)
        most = usual + (_GROWTH - 1) * self.default_width * (self.picture_size is None) - 19
        self.lines = layout.CurveLayout.from_plot(self.plot, text_lines, most, _name_width)
        ends = [_name_width(end["text"]) + 19 for end in self.lines.line_end_labels]
        if self.picture_size is None and ends:
            self.available_width += max(max(ends) - usual, 0.0)
        self.up = replace(self.lines.y_axis, length=max(inner, 1.0))
        self.ticks = tick_label_by_position(self.up, self.percent, lambda _: 1.5 * _SMALL)
        self.left_margin = max(map(_small_width, self.ticks.values()), default=0) + 6
        last = list(tick_label_by_position(self.lines.x_axis).values())[-1:] or [""]
        self.right_margin = max([_small_width(last[0]) / 2, 6.0, *ends])
        self.several = len(self.lines.series) > 1

    def compute_positions(self) -> None:
        self.axis = replace(self.lines.x_axis, length=self.width)
        self.rule_labels: dict[ReferenceLine, tuple[float, list[str], int]] = {}
        line_ends: list[float] = []
        rules = [rule for rule in self.plot.reference_lines if rule.x is not None]
        for rule in sorted(rules, key=lambda rule: rule.x or 0):
            x = self.axis.position_of(rule.x or 0)
            room = max(x, self.width - x + self.right_margin) - 2
            lines = wrapped_chart_text(rule.text, _SMALL, room, joint=" · ")
            wide, count = max(map(_small_width, lines)), len(lines)
            turned = x + wide + 2 > self.width + self.right_margin
            start = x - wide - 2 if turned else x + 2
            level = 0
            while any(end > start for end in line_ends[level : level + count]):
                level += 1
            line_ends[level : level + count] = [start + wide + 4] * count
            self.rule_labels[rule] = (x, lines, -level - 1 if turned else level + 1)
        self.top = 7 + _LINE * len(line_ends) + (_LINE + 1) * bool(self.up.title)

    def legend(self) -> Iterator[SvgFragment]:
        labelled, scatter = bool(self.lines.line_end_labels), self.plot.is_scatter_plot
        first: Row = self.plot.rows[0] if self.plot.rows else {}
        lone = self.theme.text if self.several else self.colour_of(first)
        all_filled = all(row.get("filled", True) for row in self.lines.points)
        point = {"filled": all_filled} if self.several else first
        dashes = _dash_attribute(next(iter(self.lines.dashes.values()), ())) if scatter else ""
        marks = {
            "line": f'<path d="M0 6h18" stroke-width="{_STROKE}" stroke="{lone}"{dashes}/>',
            "band": f'<path d="M0 2h18v8h-18z" fill="{lone}" fill-opacity="0.25"/>',
            "points": self.point(point, (4, 6), lone),
        }
        for role, text in self.plot.legend.items():
            if role != "band" or self.plot.has_roles("low", "high"):
                yield self._legend_item_fragment(marks[role], 11 if role == "points" else 22, text)
        if len(self.lines.dashes) > 1 and (self.several or not labelled):
            for kind, dash in self.lines.dashes.items():
                line = f'<path d="M0 6h22" stroke-width="{_STROKE}"{_dash_attribute(dash)}'
                line += f' stroke="{self.theme.text}"/>'
                yield self._legend_item_fragment(line, 26, str(kind))
        # If each panel has only one model, the titles of the panels name the models, so the plot
        # needs no legend.
        panel_series = {(row.get("panel"), row.get("series")) for row in self.plot.rows}
        if self.several and not labelled and len(panel_series) > len(self.panels):
            # If there is no room for a model's name next to its point, the legend names the model.
            placed = [row["series"] for row, _, _ in self._placed_point_names]
            series_left = [series for series in self.lines.series if series not in placed]
            room = self.available_width - 11
            short = layout.short_series_names(self.plot, series_left, room, _name_width)
            for series, text in short.items():
                yield self._legend_item_fragment(self.point({"series": series}, (4, 6)), 11, text)
        grey = [row for row in (*self.lines.points, *self.plot.rows) if self.plot.is_grey(row)]
        if grey and not (scatter and len(self.panels) == 1):
            line = f'<path d="M0 6h18" stroke="{self.theme.faint}" stroke-opacity="0.5"/>'
            mark = self.point(grey[0], (4, 6)) if scatter else line
            yield self._legend_item_fragment(mark, 11 if scatter else 22, "other models")

    def _legend_item_fragment(self, mark: str, x: int, text: str) -> SvgFragment:
        text = _shortened_text(text, _NAME, self.available_width - x)
        words = _text(x, 9.4, text, self.theme.text)
        return SvgFragment(x + _name_width(text), _LINE + 1, mark + words)

    def panel(self, panel: Any, first: bool = True) -> SvgFragment:
        rows, points = panel_rows(self.plot.rows, panel), panel_rows(self.lines.points, panel)
        width, height = self.width, self.up.length
        path = "".join(f"M0 {_length_text(height - at)}h{_length_text(width)}" for at in self.ticks)
        ticks = ((-4, height - at + 3.3, text) for at, text in self.ticks.items())
        parts = [f'<path d="{path}" stroke="{self.theme.grid}" fill="none"/>']
        parts += [_texts(ticks, self.theme.faint, "end")] if first else []
        parts += map(self._labelled_reference_line, self.plot.reference_lines)
        parts += (*self._lines(rows), *self._points(rows, points), *self._line_end_labels())
        parts += (*self._point_names(), self.draw_x_axis(self.axis, height, first))
        title = ""
        if self.up.title and first:
            title = _text(-self.left_margin, _NAME, self.up.title, self.theme.text)
        elements = title + _translated_group(0, self.top, "".join(parts))
        bottom = self.top + height + self.x_axis_height(self.axis)
        return self.titled_panel(panel, first, bottom, elements)

    def _xy_of_row(self, row: Row, role: str = "y") -> tuple[float, float]:
        return self.axis.position_of(row["x"]), self.up.length - self.up.position_of(row[role])

    def _lines(self, rows: Sequence[Row]) -> Iterator[str]:
        lines = list(layout.rows_by_line(rows).values())
        for line in lines if self.plot.has_roles("low", "high") else ():
            if self.plot.series_with_bands and line[0]["series"] not in self.plot.series_with_bands:
                continue
            for run in _runs_of_defined_rows(line, "low", "high"):
                edge = [self._xy_of_row(row, "high") for row in run]
                edge += [self._xy_of_row(row, "low") for row in reversed(run)]
                paint = self.colour_of(line[0])
                yield f'<path d="{_path(edge)}z" fill="{paint}" fill-opacity="0.14"/>'
        for line in lines:
            runs = _runs_of_defined_rows(line, "y")
            path = "".join(_path(map(self._xy_of_row, run)) for run in runs)
            dash = _dash_attribute(self.lines.dashes.get(line[0].get("kind"), ()))
            # In a scatter plot, the points show the data, so the line that connects the points of a
            # model is thin.
            fine = self.plot.is_scatter_plot and self.plot.colour_index(line[0]) is not None
            style = f'stroke-width="{_FINE if fine else _STROKE}"'
            if self.plot.is_grey(line[0]):
                style = f'stroke-opacity="0.5" stroke-width="{_FINE}"'
            paint = self.colour_of(line[0])
            yield f'<path d="{path}" fill="none" stroke="{paint}" {style}{dash}/>'

    def _points(self, rows: Sequence[Row], points: Sequence[Row]) -> Iterator[str]:
        width = _FINE if self.plot.is_scatter_plot else _INTERVAL
        for row in points:
            if row.get("low") is not None and row.get("high") is not None:
                ends = _path([self._xy_of_row(row, "low"), self._xy_of_row(row, "high")])
                yield f'<path d="{ends}" stroke="{self.colour_of(row)}" stroke-width="{width}"/>'
        for row in points:
            if row["y"] is not None:
                yield self.point(row, self._xy_of_row(row))
        if self.has_no_tooltips:
            return
        yield '<g fill-opacity="0">'
        for row in (*rows, *points):
            if row["y"] is not None:
                x, y = map(_length_text, self._xy_of_row(row))
                tooltip = self.tooltip(row, self.plot.printed_name_by_role)
                yield f'<circle cx="{x}" cy="{y}" r="{_HOVER_RADIUS:g}"{tooltip}/>'
        yield "</g>"

    def _line_end_labels(self) -> Iterator[str]:
        for end in self.lines.line_end_labels:
            (x, y), (_, at) = self._xy_of_row(end), self._xy_of_row(end, "at")
            stroke = _path([(x + 2, y), (x + 8, at)])
            yield f'<path d="{stroke}" stroke="{self.colour_of(end)}" stroke-opacity="0.6"/>'
            if self.several:
                yield self.point(end, (x + 11, at))
            yield _text(x + (16 if self.several else 10), at + 3.3, end["text"], self.theme.text)

    @cached_property
    def _placed_point_names(self) -> list[tuple[Row, str, PlacedName]]:
        """The points of a scatter plot that have names, with the text and position of each name."""
        if not (self.plot.is_scatter_plot and self.several and len(self.panels) == 1):
            return []
        rows = panel_rows(self.lines.points, self.panels[0])
        named = [row for row in rows if row["y"] is not None and row.get("series")]
        named.sort(key=self.plot.is_grey)
        series = [row["series"] for row in named]
        short = layout.short_series_names(self.plot, series, 0.42 * self.width, _small_width)
        texts, bars = [short[name] for name in series], []
        for row in named:
            if row.get("low") is not None:
                (x, top), (_, bottom) = self._xy_of_row(row, "high"), self._xy_of_row(row, "low")
                bars.append((x - 0.5, top, x + 0.5, bottom))
        for line in layout.rows_by_line(panel_rows(self.plot.rows, self.panels[0])).values():
            if line[0].get("series") and len(line) == 2:
                (left, y), (right, _) = map(self._xy_of_row, line)
                bars.append((left, y - 0.5, right, y + 0.5))
            elif not line[0].get("series"):
                # The frontier has no name, but names should not cover the frontier.
                bars += boxes_along_line([self._xy_of_row(row) for row in line])
        frame = (0.0, 0.0, self.width + self.right_margin, self.up.length)
        points, widths = [*map(self._xy_of_row, named)], [*map(_small_width, texts)]
        names = place_names(points, widths, _SMALL, frame, bars)
        return [(named[name.point_index], texts[name.point_index], name) for name in names]

    def _point_names(self) -> Iterator[str]:
        """The names of points in a scatter plot, with lines to points that are farther away."""
        for row, text, name in self._placed_point_names:
            if name.leader_end:
                path = _path([name.point, name.leader_end])
                yield f'<path d="{path}" stroke="{self.theme.faint}" stroke-width="{_FINE / 2}"/>'
            paint = self.theme.faint if self.plot.is_grey(row) else self.theme.text
            yield _text(name.box[0], name.box[3] - 2, text, paint, size=_SMALL)

    def _labelled_reference_line(self, rule: ReferenceLine) -> str:
        width, height = self.width, self.up.length
        if rule in self.rule_labels:
            x, lines, level = self.rule_labels[rule]
            side, anchor = (2, "start") if level > 0 else (-2, "end")
            top = -_LINE * (abs(level) + len(lines) - 2)
            words = [(x + side, top - 6 + _LINE * place, text) for place, text in enumerate(lines)]
            word = _texts(words, self.theme.faint, anchor)
            return self._reference_line(x, top - 5, x, height, rule) + word
        if rule.y is None:
            return ""
        y = height - self.up.position_of(rule.y)
        text = _shortened_text(rule.text, _SMALL, width - 4)
        word = _text(2, y - 3 if y > _LINE else y + 9.4, text, self.theme.faint, size=_SMALL)
        return self._reference_line(0, y, width, y, rule) + word


@dataclass
class _RowDrawer(_BasePlotDrawer):
    """Base class for plots with one row per name, and with headings for groups of rows."""

    min_panel_width: ClassVar[float] = 32.0
    max_widening_factor: ClassVar[float] = _GROWTH
    # Rows are 14.0 pixels high in a plot with at most 40 rows, and 10.6 pixels high in a plot with
    # more rows.
    row_limit_and_heights: ClassVar[tuple[int, float, float]] = 40, 14.0, 10.6

    def measure_panel(self) -> None:
        """Compute the width of the row names, and the height and position of each row."""
        usual, indent = self.default_width, 8 * self.plot.has_roles("head")
        most = _MAX_ROW_NAME_SHARES[len(self.panels) > 1] * usual
        extra = (_GROWTH - 1) * usual * (self.picture_size is None)
        lines = layout.row_names_and_headings(self.plot, most + extra - indent, _small_width)
        names = max(
            _small_width(text, bold=True) if label is None else indent + _small_width(text)
            for label, text in lines
        )
        self.left_margin = 7 + names
        if self.picture_size is None:
            legible = _LEGIBLE if self.plot.reference_lines else _LEGIBLE_ESTIMATES
            row = self.panels_per_line * (legible + self.right_margin + _PANEL_GAP) - _PANEL_GAP
            self.available_width = max(usual, usual + names - most, self.left_margin + row)
        lines_of_panels = -(-len(self.panels) // self.panels_per_line)
        few, tall, low = self.row_limit_and_heights
        self.names = {label: text for label, text in lines if label is not None}
        self.panel_height = len(lines) * (tall if len(self.names) <= few else low)
        self.step = (self.panel_height + self.spare_height / lines_of_panels) / len(lines)
        self.min_panel_height = len(lines) * _LOWEST_ROW
        places = [((at + 0.5) * self.step, *line) for at, line in enumerate(lines)]
        self.places = {label: y for y, label, _ in places if label is not None}
        self.headings = [(y, text) for y, label, text in places if label is None]

    def labels(self, first: bool) -> str:
        """The names and headings of all rows, which appear only in the first panel of a line."""
        if not first:
            return ""
        words = ((-6.0, self.places[row] + 3.2, name) for row, name in self.names.items())
        return _texts(words, self.theme.text, "end") + "".join(
            _text(1 - self.left_margin, y + 3.2, head, self.theme.text, size=_SMALL, weight="bold")
            for y, head in self.headings
        )


@dataclass
class _ForestDrawer(_RowDrawer):
    """Draws forest plots, with one interval and one point per row.

    A plot without reference lines shows estimates.  If such a plot has only one panel or no fixed
    size, each row also shows the estimate as a number.
    """

    numbers_width: float = field(init=False, default=0.0)
    # The width of the letters that mark ties in a ranking.
    letters_width: float = field(init=False, default=0.0)

    def measure_panel(self) -> None:
        roomy = self.picture_size is None or len(self.panels) == 1
        if self.plot.kind in ("forest", "ranking") and not self.plot.reference_lines and roomy:
            numbers = {self._number(row) for row in self.plot.rows}
            self.numbers_width = max(_small_width(text, bold=True) for text in numbers)
            self.right_margin = 10 + self.numbers_width + self.letters_width
        super().measure_panel()

    def _number(self, row: Row) -> str:
        if row["x"] is None:
            return "–"
        if self.plot.unit != "share":
            return f"{self.plot.x_unit}{row['x']:.3g}"
        if self.percent:
            return f"{round_half_up(100 * row['x'], 1):.1f} %"
        return f"{round_half_up(row['x'], 3):.3f}"

    def axis(self, panel: Any) -> Axis:
        """The x-axis of a panel."""
        return replace(layout.forest_axis(self.plot, panel), length=self.width)

    def panel(self, panel: Any, first: bool = True) -> SvgFragment:
        height, axis = self.panel_height, self.axis(panel)
        elements = self._grid(axis)
        for rule in self.plot.reference_lines:
            if rule.x is not None:
                x = axis.position_of(rule.x)
                elements += self._reference_line(x, 0, x, height, rule)
        elements += self.labels(first)
        elements += "".join(self._row(row, axis) for row in panel_rows(self.plot.rows, panel))
        elements += self._numbers(panel) + self.draw_x_axis(axis, height, first)
        bottom = 2 + height + self.x_axis_height(axis)
        return self.titled_panel(panel, first, bottom, _translated_group(0, 2, elements))

    def _grid(self, axis: Axis) -> str:
        if self.plot.kind == "bars":
            return ""
        ticks = tick_label_by_position(axis, self.percent, lambda text: _small_width(text) + 4)
        path = "".join(f"M{_length_text(at)} 0v{_length_text(self.panel_height)}" for at in ticks)
        rows = () if self.plot.kind == "ranking" else self.places.values()
        path += "".join(f"M0 {_length_text(y)}h{_length_text(axis.length)}" for y in rows)
        return f'<path d="{path}" stroke="{self.theme.grid}" fill="none"/>'

    def _numbers(self, panel: Any) -> str:
        texts, x, paint = "", self.width + 8 + self.numbers_width, self.theme.text
        for row in panel_rows(self.plot.rows, panel) if self.numbers_width else ():
            y, weight = self.places[row["label"]] + 3.2, "bold" if row.get("tied") else ""
            number = self._number(row)
            texts += _text(x, y, number, paint, size=_SMALL, anchor="end", weight=weight)
        return texts

    def _row(self, row: Row, axis: Axis) -> str:
        y, paint = self.places[row["label"]], self.colour_of(row)
        if row["x"] is None:
            return ""
        fill = paint if row.get("filled", True) else self.theme.paper
        point = _point(0, axis.position_of(row["x"]), y, f' fill="{fill}" stroke="{paint}"')
        bar, ends = "", [row["low"], row["high"]]
        if None not in ends:
            path = _path([(axis.position_of(end), y) for end in ends])
            bar = f'<path d="{path}" stroke="{paint}" stroke-width="{_INTERVAL}"/>'
        return f"<g{self.tooltip(row)}>{bar}{point}</g>"


@dataclass
class _RankingDrawer(_ForestDrawer):
    """Draws a ranking of models.

    The ranks are at the left.  The estimates, and the letters that mark ties, are at the right.
    """

    def measure_panel(self) -> None:
        rows = self.plot.rows
        self.places_width = max((_small_width(row["place"] or "") for row in rows), default=0.0) + 6
        self.letters_width = 4 + max(_small_width(row["letters"] or "") for row in rows)
        super().measure_panel()
        self.left_margin += self.places_width

    def colour_of(self, row: Row) -> str:
        if not row["tied"]:
            share = _MAX_SHARE_OF_BACKGROUND_COLOUR * 0.8
            return mix_colours(self.theme.faint, self.theme.paper, share)
        place = self.plot.colour_index(row) or 0
        return self.theme.series[place] if place < len(self.theme.series) else self.theme.text

    def _grid(self, axis: Axis) -> str:
        tied = [self.places[row["label"]] for row in self.plot.rows if row["tied"]]
        x, width = -self.left_margin, self.left_margin + axis.length + self.right_margin
        style = f'width="{_length_text(width)}" height="{_length_text(self.step)}"'
        style += f' fill="{self.theme.grid}" fill-opacity="0.5"'
        tops = [_length_text(y - self.step / 2) for y in tied] if len(tied) > 1 else []
        bands = [f'<rect x="{_length_text(x)}" y="{top}" {style}/>' for top in tops]
        return "".join(bands) + super()._grid(axis)

    def labels(self, first: bool) -> str:
        x, faint = self.places_width - self.left_margin, self.theme.faint
        names = ((x, self.places[label] + 3.2, text) for label, text in self.names.items())
        texts = _texts(names, self.theme.text, "start")
        right = self.width + 8 + self.numbers_width
        for row in self.plot.rows:
            y = self.places[row["label"]] + 3.2
            texts += _text(1 - self.left_margin, y, row["place"] or "", faint, size=_SMALL)
            texts += _text(right + 4, y, row["letters"] or "", faint, size=_SMALL)
        return texts


@dataclass
class _BarDrawer(_ForestDrawer):
    """Draws bar charts, with a number at the end of each bar."""

    def axis(self, panel: Any) -> Axis:
        """The x-axis of a panel, with room for the longest number."""
        most = max((f"{row['x']:,}" for row in self.plot.rows), key=len)
        axis = layout.forest_axis(self.plot, panel)
        return replace(axis, length=self.width - _small_width(most))

    def _row(self, row: Row, axis: Axis) -> str:
        y, height, end = self.places[row["label"]], self.step - 3, axis.position_of(row["x"])
        bar = f'<rect x="{_length_text(axis.position_of(0))}" y="{_length_text(y - height / 2)}"'
        bar += f' width="{_length_text(end - axis.position_of(0))}" height="{_length_text(height)}"'
        bar += f' fill="{self.colour_of(row)}"/>'
        number = _text(end + 3, y + 3.2, f"{row['x']:,}", self.theme.text, size=_SMALL)
        return f"<g{self.tooltip(row)}>{bar}</g>{number if row['x'] else ''}"


@dataclass
class _DensityDrawer(_ForestDrawer):
    """Draws one row per name, which shows a density above an interval."""

    row_limit_and_heights: ClassVar[tuple[int, float, float]] = 12, 28.0, 14.0

    def measure_panel(self) -> None:
        super().measure_panel()
        self.places = {label: at + self.step / 2 - 4 for label, at in self.places.items()}
        self.outlines = layout.density_outlines(self.plot)

    def _row(self, row: Row, axis: Axis) -> str:
        bottom, outline = self.places[row["label"]], self.outlines[row["label"], row.get("panel")]
        edge = [(axis.position_of(x), bottom - self.step * height) for x, height in outline]
        edge = [(edge[0][0], bottom), *edge, (edge[-1][0], bottom)] if edge else []
        shape = f'<path d="{_path(edge)}z" fill="{self.colour_of(row)}" fill-opacity="0.3"/>'
        return shape * bool(edge) + super()._row(row, axis)


@dataclass
class _HeatDrawer(_RowDrawer):
    """Draws heat maps.  The colour of a cell shows a share, and undefined shares have no cell."""

    min_panel_width: ClassVar[float] = 150.0

    def legend(self) -> Iterator[SvgFragment]:
        """The colour scale from 0 to 1."""
        name = self.plot.printed_name_by_role["y"]
        x, wide, steps = _name_width(name) + 10, 120, 24
        bar = "".join(
            f'<rect x="{_length_text(x + wide * i / steps)}" y="1" width="{wide / steps + 0.4:g}"'
            f' height="8" fill="{_heat_colour((i + 0.5) / steps)}"/>'
            for i in range(steps)
        )
        quarters = (0, 0.25, 0.5, 0.75, 1)
        axis = Axis(0.0, 1.0, is_share=True, preferred_tick_values=quarters, length=wide)
        places = tick_label_by_position(axis, self.percent).items()
        words = _texts(((x + at, 19, word) for at, word in places), self.theme.faint, "middle")
        title = _text(0, 9, name, self.theme.text)
        yield SvgFragment(x + wide + 14, 24, title + bar + words)

    def panel(self, panel: Any, first: bool = True) -> SvgFragment:
        rows = panel_rows(self.plot.rows, panel)
        most = max(row["high"] for row in rows)
        axis = Axis(0, most, self.plot.x_title, length=self.width)
        # Cells of a heat map overlap a little, so that no background is visible between them.
        columns = {
            (low, high): f' x="{_length_text(axis.position_of(low))}"'
            f' height="{_length_text(self.step + 0.3)}"'
            f' width="{_length_text(axis.position_of(high) - axis.position_of(low) + 0.3)}"'
            for low, high in {(r["low"], r["high"]) for r in rows}
        }
        fill = cache(self._cell_attributes)
        parts = [self.labels(first)]
        for label, cells in groupby(rows, lambda row: row["label"]):
            top = _length_text(self.places[label] - self.step / 2)
            tooltip = self.tooltip({"label": label}, ["label"]).replace("data-say", "data-row")
            parts.append(f'<g transform="translate(0 {top})"{tooltip}>')
            for row in cells:
                if row["y"] is not None:
                    place = columns[row["low"], row["high"]]
                    parts.append(f"<rect{place}{fill(row['y'], row['words'])}/>")
            parts.append("</g>")
        foot, words = self._task_names_or_axis(rows, axis, first)
        elements = _translated_group(0, 2, "".join([*parts, words]))
        return self.titled_panel(panel, first, 2 + self.panel_height + foot, elements)

    def _cell_attributes(self, share: float, words: str) -> str:
        tooltip = self.tooltip({"y": share, "words": words}, ("words", "y"))
        return f' fill="{_heat_colour(share)}"{tooltip}'

    def _task_names_or_axis(self, rows: list[Row], axis: Axis, first: bool) -> tuple[float, str]:
        names = {row["low"]: str(row["words"]) for row in rows}
        if not (axis.high == len(names) and axis.length / len(names) >= _LOWEST_ROW):
            return self.x_axis_height(axis), self.draw_x_axis(axis, self.panel_height, first)
        short = short_names(list(names.values()), 90, _small_width)
        longest = max(map(_small_width, short))
        parts = [
            f'<text transform="translate({_length_text(axis.position_of(at + 0.5) + 3)}'
            f' {_length_text(self.panel_height + 6)}) rotate(-60)">{escape(text)}</text>'
            for at, text in zip(names, short, strict=True)
        ]
        style = f'font-size="{_SMALL}" fill="{self.theme.faint}" text-anchor="end"'
        foot = 0.87 * longest + 10
        below = self.panel_height + foot + _LINE - 2
        title = _text(axis.length / 2, below, axis.title, self.theme.text, anchor="middle")
        return foot + _LINE + 2, f"<g {style}>{''.join(parts)}</g>" + title


# A tooltip does not repeat what the drawing already shows by colour or position.
_ROLES_NOT_IN_TOOLTIP = ("filled", "draws", "series", "head", "tail", "scale", "tied")
_DRAWERS: dict[str, type[_BasePlotDrawer]] = {
    "heat": _HeatDrawer,
    "curves": _CurveDrawer,
    "forest": _ForestDrawer,
    "ranking": _RankingDrawer,
    "bars": _BarDrawer,
    "densities": _DensityDrawer,
}


def _shortened_text(text: str, size: float, longest: float) -> str:
    return short_names([text], longest, partial(text_width, size=size))[0]


def _runs_of_defined_rows(line: Sequence[Row], *roles: str) -> Iterator[list[Row]]:
    for defined, run in groupby(line, lambda row: all(row.get(r) is not None for r in roles)):
        if defined:
            yield list(run)


def _point(shape: int, x: float, y: float, attributes: str) -> str:
    corners = _POINT_SHAPE_CORNERS[shape % len(_POINT_SHAPE_CORNERS)]
    if corners is None:
        return f'<circle cx="{_length_text(x)}" cy="{_length_text(y)}" r="{_POINT}"{attributes}/>'
    path = _path([(x + _POINT * a, y + _POINT * b) for a, b in corners])
    return f'<path d="{path}z"{attributes}/>'


def _path(places: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_length_text(x)} {_length_text(y)}" for x, y in places)


def _dash_attribute(dash: Sequence[int]) -> str:
    return f' stroke-dasharray="{" ".join(map(str, dash))}"' if len(dash) and dash[1] else ""


def _heat_colour(share: float) -> str:
    at = min(max(share, 0.0), 1.0) * (len(_VIRIDIS) - 1)
    first = min(int(at), len(_VIRIDIS) - 2)
    return mix_colours(_VIRIDIS[first], _VIRIDIS[first + 1], at - first)


def _text(
    x: float, y: float, text: str, paint: str, *, size: float = _NAME, anchor: str = "",
    weight: str = "",
) -> str:  # fmt: skip
    style = f' text-anchor="{anchor}"' if anchor else ""
    style += f' font-weight="{weight}"' if weight else ""
    place = f'x="{_length_text(x)}" y="{_length_text(y)}" font-size="{size}" fill="{paint}"'
    # The font contains only the superscripts ¹, ² and ³, so other superscripts are drawn as raised
    # digits.
    raised = _SUPERSCRIPT_PATTERN.sub(
        lambda m: f'<tspan dy="-{_length_text(size / 3)}" font-size="{_length_text(0.75 * size)}">'
        f"{unicodedata.normalize('NFKC', m[0])}</tspan>"
        f'<tspan dy="{_length_text(size / 3)}">\u200b</tspan>', escape(text),
    )  # fmt: skip
    return f"<text {place}{style}>{raised}</text>"


def _texts(words: Iterable[tuple[float, float, str]], paint: str, anchor: str) -> str:
    texts = "".join(
        f'<text x="{_length_text(x)}" y="{_length_text(y)}">{escape(text)}</text>'
        for x, y, text in words
    )
    return f'<g font-size="{_SMALL}" fill="{paint}" text-anchor="{anchor}">{texts}</g>'


def _translated_group(x: float, y: float, elements: str) -> str:
    return f'<g transform="translate({_length_text(x)} {_length_text(y)})">{elements}</g>'


def _length_text(value: float) -> str:
    return f"{round(value, 1):g}"
