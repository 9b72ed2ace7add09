"""Plots → Vega-Lite: a specification with its data inside, for pictures and pages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passk_cli.charts import layout
from passk_cli.charts.axes import Axis
from passk_cli.charts.placing import word_places
from passk_cli.charts.theme import FONT, THEMES, Theme
from passk_cli.report.plot import Plot, Row, Rule, distinct
from passk_cli.text import printable

Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
# The number formats of shares.
_SHARES, _PERCENT = ",.6~f", ",.4~%"
# One more than there are colours, so that the pairs begin again only after all of both.
_SHAPES = (
    "circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right",
    "triangle-left",
)  # fmt: skip
# Bands of more series than this are fainter, since they lie on each other.
_MOST_BANDS, _FAINT = 4, 0.06
# Width of a letter and height of the word of a reference line, with its margin, in pixels.
_LETTER, _WORD = 6.5, 17
# Rows of a heat map that stand apart; more are lower.  Names of so many cells stand below it.
_ROOMY, _NAMED = 40, 40
# Points of a line that carry its shape.
_MARKERS = 12


def stack(plots: Sequence[Plot], theme: str, percent: bool = False, hover: bool = True) -> Spec:
    """One specification of all plots, one under the other, with the theme in it."""
    specs = [spec(plot, percent, hover) for plot in plots]
    look = config(theme)
    if len(specs) == 1:
        return {"$schema": SCHEMA, **specs[0], "config": look}
    own = {"scale": dict.fromkeys(("color", "shape", "strokeDash"), "independent")}
    # The plots line up, so the titles do when each stands over its plot.
    look["title"]["frame"] = "group"
    return {"$schema": SCHEMA, "vconcat": specs, "spacing": 36, "resolve": own, "config": look}


def spec(plot: Plot, percent: bool = False, hover: bool = True, *, described: bool = False) -> Spec:
    """The specification of a plot, without a theme.

    percent : shares as percentages.  hover : whether lines answer the mouse.
    described : whether each mark carries what hovering shows, for pictures inside a page.
    """
    layers = _LAYERS[plot.kind](plot, _PERCENT if percent else _SHARES, hover, described)
    panels = layout.panels(plot)
    width, height = layout.PANEL if len(panels) > 1 else layout.WHOLE
    labels = len(distinct(plot.rows, "label"))
    by_label = {
        "forest": {"step": 18}, "densities": 44 * labels,
        "heat": {"step": 18 if labels <= _ROOMY else 11},
    }  # fmt: skip
    width = layout.WIDE if plot.kind == "heat" and len(panels) == 1 else width
    size = {
        "width": plot.width or width,
        "height": plot.height or by_label.get(plot.kind, height),
    }
    body = {**size, "layer": layers.layers()}
    head: Spec = {}
    if plot.title or plot.subtitle:
        head["title"] = {"text": plot.title, "subtitle": layout.subtitle(plot)}
    head["data"] = {"values": layers.values()}
    if not plot.has("panel"):
        return head | body
    # Each panel has its own axis: a shared one would stand under empty places as well.
    own = {"scale": {"x": "independent"}} if plot.kind == "densities" else {}
    return head | {
        "facet": {"field": "panel", "type": "nominal", "sort": panels, "title": None},
        "columns": layout.columns(plot),
        "resolve": {"axis": {"x": "independent"}, **own},
        "spec": body,
    }


@dataclass
class _Layers:
    """What the drawings of all kinds of plots share.

    shares : the number format of shares.  hover : whether lines answer the mouse.
    described : whether marks carry what hovering shows.
    """

    plot: Plot
    shares: str
    hover: bool
    described: bool = False

    def values(self) -> list[Spec]:
        """The data; `drawn` says which layers a row is for."""
        return _data(self.plot.rows, "point")

    def layers(self) -> list[Spec]:
        """What is drawn, from the back to the front."""
        raise NotImplementedError

    def channel(self, axis: Axis, field: str) -> Spec:
        """The encoding of a field on an axis."""
        form = self.shares if axis.share else "~s" if axis.high >= 1e5 else ",~r"
        ticks = {"values": list(axis.ticks)} if axis.ticks else {"tickCount": 5}
        kind = {"type": "log"} if axis.log else {"zero": False}
        return {
            "field": field, "type": "quantitative", "title": axis.title or None,
            "axis": {"format": form, **ticks},
            "scale": {"domain": [axis.low, axis.high], "nice": False, **kind},
        }  # fmt: skip

    def hovering(self, roles: Iterable[str]) -> Spec:
        """The encodings of what hovering shows."""
        tips = self.tooltip(roles)
        words = {"description": {"value": {"expr": _described(tips)}}} if self.described else {}
        return {"tooltip": tips, **words}

    def tooltip(self, roles: Iterable[str]) -> list[Spec]:
        """What hovering shows: each value under its name."""
        measured = "y" if self.plot.kind == "curves" else "x"
        shares: tuple[str, ...] = ()
        if self.plot.unit == "share":
            shares = ("y",) if self.plot.kind == "heat" else (measured, "low", "high")
        tips: list[Spec] = []
        for role in roles:
            tip = {"field": role, "title": printable(self.plot.names[role]), "type": "nominal"}
            if role in ("x", "y", "low", "high"):
                form = self.shares if role in shares else ".4~g"
                tip |= {"type": "quantitative", "format": form}
            tips.append(tip)
        return tips

    def rules(self, **axes: Axis) -> list[Spec]:
        """Reference lines with their words, on the axes x and y."""
        layers = []
        for rule in self.plot.rules:
            name, value = ("x", rule.x) if rule.y is None else ("y", rule.y)
            data = {"data": {"values": [{name: value, "text": rule.text}]}}
            where = {name: self.channel(axes[name], name)}
            line = _layer("reference", "rule", **where)
            line["mark"] |= {} if rule.dashed else {"strokeDash": [1, 0]}
            layers.append(data | line)
            if rule.text:
                layers.append(data | self.word(rule, where, axes))
        return layers

    def word(self, rule: Rule, where: Spec, axes: Mapping[str, Axis]) -> Spec:
        """The word of a reference line: beside the top of a vertical one."""
        left = rule.x is not None and axes["x"].place(rule.x) > 0.5
        word = _layer("word", "text", text={"field": "text"}, **where, y={"value": -5})
        word["mark"] |= {"align": "right" if left else "left", "baseline": "bottom"}
        word["mark"] |= {"dx": 2 if left else -2}
        return word


@dataclass
class _CurveLayers(_Layers):
    """Lines with bands, points with bars, and words at the ends of lines."""

    def __post_init__(self) -> None:
        self.lines = layout.Lines.of(self.plot)
        self.look = _look(self.plot, self.lines)
        # Without points of their own, lines carry the shapes of their series.
        self.marks = len(self.lines.series) > 1 and not self.plot.points

    def values(self) -> list[Spec]:
        rows = _data(self.plot.rows, "line")
        for line in layout.by_line(rows).values() if self.marks else ():
            cells = set()
            for row in line:
                cell = round(self.lines.across.place(row["x"]) * _MARKERS)
                if cell not in cells and row["y"] is not None:
                    cells.add(cell)
                    row["marked"] = True
        return rows + _data(self.lines.points, "point")

    def layers(self) -> list[Spec]:
        return [
            *self.rules(x=self.lines.across, y=self.lines.up),
            *self._bands(),
            self._layer("curve", "line", "y", "color", "strokeDash") | _LINES,
            *self._points(),
            *self._markers(),
            *self._labels(),
        ]

    def word(self, rule: Rule, where: Spec, axes: Mapping[str, Axis]) -> Spec:
        """The same; of a horizontal one, where it hides no line."""
        if rule.y is None:
            return super().word(rule, where, axes)
        width, height = self.plot.width or layout.WHOLE[0], self.plot.height or layout.WHOLE[1]
        place = word_places(self.plot, self.lines, _LETTER / width, _WORD / height)[rule]
        beside = {"x": {"value": width - 4 if place.at_end else 4}}
        word = _layer("word", "text", text={"field": "text"}, **where, **beside)
        word["mark"] |= {"align": "right" if place.at_end else "left"}
        word["mark"] |= {"baseline": "top" if place.below else "bottom"}
        word["mark"] |= {"dy": 4 if place.below else -3}
        return word

    def _bands(self) -> list[Spec]:
        if not self.plot.has("low", "high"):
            return []
        band = self._layer("band", "area", "low", "color", y2={"field": "high"})
        if "strokeDash" in self.look:
            band["encoding"]["detail"] = {"field": "kind"}
        if len(self.lines.series) > _MOST_BANDS:
            band["mark"]["opacity"] = _FAINT
        return [band | _LINES]

    def _points(self) -> list[Spec]:
        points, layers = self.lines.points, []
        if not points:
            return []
        roles = [role for role in self.plot.names if role in points[0]]
        if {"low", "high"} <= set(roles):
            layers.append(self._layer("interval", "rule", "low", "color", y2={"field": "high"}))
        tips = self.hovering(roles)
        layers.append(self._layer("estimate", "point", "y", "color", "shape", **tips))
        return [each | _POINTS for each in layers]

    def _markers(self) -> list[Spec]:
        """A few points of each line in the shape of its series; unseen ones under the mouse."""
        marker = self._layer("marker", "point", "y", "color", "shape") | _only("datum.marked")
        tips = self.hovering(self.plot.names)
        hover = self._layer("hover", "point", "y", "color", **tips) | _LINES
        return [marker] * self.marks + [hover] * self.hover

    def _labels(self) -> list[Spec]:
        """Words at the ends of lines, each led to by a short stroke."""
        if not self.lines.labels:
            return []
        data = {"data": {"values": self.lines.labels}}
        ends = {"x2": {"field": "x"}, "y2": {"field": "at"}}
        leader = self._layer("leader", "rule", "y", "color", **ends)
        leader["mark"] |= {"xOffset": 3, "x2Offset": 12}
        text = self._layer("label", "text", "at", text={"field": "text"})
        text["mark"] |= {"align": "left", "dx": 15, "baseline": "middle"}
        return [data | leader, data | text]

    def _layer(self, style: str, mark: str, height: str, *scales: str, **more: Any) -> Spec:
        """A layer over x, at the height of a field, with scales of the look."""
        x, y = self.channel(self.lines.across, "x"), self.channel(self.lines.up, height)
        look = {scale: self.look[scale] for scale in scales if scale in self.look}
        return _layer(style, mark, x=x, y=y, **look, **more)


def _look(plot: Plot, lines: layout.Lines) -> Spec:
    """The scales that tell lines apart: colour and shape by series, dash by kind.

    The domain has a name for each place up to the last one taken, as a colour is known by its
    place alone until a theme is chosen.
    """
    places = {plot.hue(series, lines.series): series for series in lines.series}
    domain = [places.get(i, f"\u2063{i}") for i in range(max(places, default=-1) + 1)]
    look: Spec = {}
    several, labelled = len(lines.series) > 1, bool(lines.labels)
    right: Spec | None = None
    if several and not labelled:
        right = {"title": None} | ({} if domain == lines.series else {"values": lines.series})
    if right and max(map(len, map(str, lines.series))) > layout.LONG:
        right |= {"orient": "bottom", "columns": 1}
    if lines.series:
        look["color"] = _scale("series", right, domain=domain)
    if several:
        shapes = [_SHAPES[i % len(_SHAPES)] for i in range(len(domain))]
        look["shape"] = _scale("series", right, domain=domain, range=shapes)
    if lines.dashes:
        kinds, dashes = [*lines.dashes], [list(dash) for dash in lines.dashes.values()]
        above = {"title": None, "orient": "top", "symbolType": "stroke", "symbolSize": 900}
        legend = above if len(kinds) > 1 and (several or not labelled) else None
        look["strokeDash"] = _scale("kind", legend, domain=kinds, range=dashes)
    return look


@dataclass
class _ForestLayers(_Layers):
    """Intervals with points, filled or hollow, one under the other."""

    def layers(self) -> list[Spec]:
        across = layout.forest_axis(self.plot)
        up: Spec = {
            "field": "label", "type": "nominal", "title": None, "axis": {"grid": False},
            "scale": {"domain": distinct(self.plot.rows, "label")},
        }  # fmt: skip
        tips = self.hovering(role for role in self.plot.names if role != "told")
        low, x = self.channel(across, "low"), self.channel(across, "x")
        interval = _layer("interval", "rule", x=low, x2={"field": "high"}, y=up, **tips)
        points = [_layer("estimate", "point", x=x, y=up, **tips)]
        if self.plot.has("told"):
            hollow = _layer("open", "point", x=x, y=up, **tips)
            points = [points[0] | _only("datum.told"), hollow | _only("!datum.told")]
        return [*self.rules(x=across), interval, *points]


@dataclass
class _DensityLayers(_Layers):
    """Densities over intervals with points, one under the other."""

    def values(self) -> list[Spec]:
        points, outlines = layout.ridges(self.plot)
        return _data(points, "point") + _data(outlines, "area")

    def layers(self) -> list[Spec]:
        labels = distinct(self.plot.rows, "label")[::-1]
        words = f"{json.dumps(labels, ensure_ascii=False)}[datum.value]"
        up: Spec = {
            "field": "row", "type": "quantitative", "title": None,
            "scale": {"domain": [-0.25, len(labels)], "nice": False, "zero": False},
            "axis": {"values": list(range(len(labels))), "labelExpr": words},
        }  # fmt: skip
        x: Spec = {
            "field": "x", "type": "quantitative", "title": self.plot.x_title or None,
            "scale": {"zero": False, "nice": False},
            "axis": {"tickCount": 4, "format": self.shares},
        }  # fmt: skip
        low, high, label = x | {"field": "low"}, {"field": "high"}, {"field": "label"}
        tips = self.hovering(self.plot.names)
        area = _layer("density", "area", x=x, y=up, y2={"field": "top"}, detail=label)
        return [
            area | _only("datum.drawn == 'area'"),
            _layer("interval", "rule", x=low, x2=high, y=up) | _POINTS,
            _layer("estimate", "point", x=x, y=up, **tips) | _POINTS,
        ]


@dataclass
class _HeatLayers(_Layers):
    """Cells in rows, coloured by a share; a cell without one shows the paper."""

    def values(self) -> list[Spec]:
        return _data((row for row in self.plot.rows if row["y"] is not None), "cell")

    def layers(self) -> list[Spec]:
        rows = self.plot.rows
        most = max(row["high"] for row in rows)
        axis: Spec = {"grid": False, "tickCount": 6, "format": ",~r"}
        # Words are of one cell each where cells are few, and the same in every row.
        names = {row["low"]: row["words"] for row in rows}
        if most == len(names) <= _NAMED and not self.plot.has("panel"):
            words = json.dumps([str(names[at]) for at in sorted(names)], ensure_ascii=False)
            axis = {
                "grid": False, "values": [at + 0.5 for at in sorted(names)], "labelAngle": -60,
                "labelExpr": f"{words}[floor(datum.value)]", "labelLimit": 160,
                "labelOverlap": False,
            }  # fmt: skip
        x: Spec = {
            "field": "low", "type": "quantitative", "title": self.plot.x_title or None,
            "axis": axis, "scale": {"domain": [0, most], "nice": False},
        }  # fmt: skip
        labels = distinct(rows, "label")
        font = {"labelFontSize": 9} if len(labels) > _ROOMY else {}
        up: Spec = {
            "field": "label", "type": "nominal", "title": None, "axis": {"grid": False} | font,
            "scale": {"domain": labels},
        }  # fmt: skip
        colour: Spec = {
            "field": "y", "type": "quantitative", "scale": {"domain": [0, 1], "scheme": "viridis"},
            "legend": {"title": printable(self.plot.names["y"]), "format": self.shares,
                       "values": [0, 0.25, 0.5, 0.75, 1]},
        }  # fmt: skip
        tips = self.hovering(("label", "words", "y"))
        return [_layer("cell", "rect", x=x, x2={"field": "high"}, y=up, color=colour, **tips)]


_LAYERS = {
    "heat": _HeatLayers,
    "curves": _CurveLayers,
    "forest": _ForestLayers,
    "densities": _DensityLayers,
}


def _data(rows: Iterable[Row], way: str) -> list[Spec]:
    """The rows with what says which layers they are for."""
    return [{**row, "drawn": way} for row in rows]


def _only(condition: str) -> Spec:
    """What keeps the rows that a layer is for."""
    return {"transform": [{"filter": condition}]}


_LINES, _POINTS = _only("datum.drawn == 'line'"), _only("datum.drawn == 'point'")


def _layer(style: str, mark: str, **encoding: Any) -> Spec:
    """A layer; its style is what the theme knows it by."""
    return {"mark": {"type": mark, "style": style}, "encoding": encoding}


def _scale(field: str, legend: Spec | None, **scale: list[Any]) -> Spec:
    """The encoding of a field by colour, shape or dash; `legend` None for no legend."""
    return {"field": field, "type": "nominal", "scale": scale, "legend": legend}


def _described(tips: Sequence[Spec]) -> str:
    """What hovering shows as an expression: "name: value" of each that is defined."""
    words = []
    for tip in tips:
        value = f"datum[{json.dumps(tip['field'])}]"
        shown = f"format({value}, {json.dumps(tip['format'])})" if "format" in tip else value
        title = json.dumps(f"{tip['title']}: ", ensure_ascii=False)
        words.append(f"(isValid({value}) ? {title} + {shown} + '; ' : '')")
    return " + ".join(words)


def config(theme: str) -> Spec:
    """How every layer looks, by its style."""
    return configured(THEMES[theme])


def configured(look: Theme) -> Spec:
    """The same in these colours."""
    accent = look.series[0]
    return {
        "background": look.paper,
        "font": FONT,
        "padding": 14,
        "view": {"stroke": None},
        "range": {"category": list(look.series)},
        "title": {
            "anchor": "start", "frame": "bounds", "color": look.text, "fontSize": 15,
            "fontWeight": "bold", "offset": 10, "subtitleColor": look.faint,
            "subtitleFontSize": 11.5, "subtitlePadding": 5,
        },
        "axis": {
            "labelColor": look.faint, "labelFontSize": 11, "titleColor": look.text,
            "titleFontSize": 12, "titleFontWeight": "normal", "titlePadding": 8,
            "domainColor": look.faint, "tickColor": look.faint, "tickSize": 4,
            "gridColor": look.grid, "gridWidth": 1, "labelLimit": 0,
        },
        "axisX": {"grid": False, "labelFlush": False},
        "axisY": {"domain": False, "ticks": False, "labelPadding": 6},
        "legend": {
            "labelColor": look.text, "labelFontSize": 12, "labelLimit": 0, "symbolSize": 90,
            "symbolStrokeWidth": 2, "rowPadding": 4, "offset": 20,
        },
        "facet": {"spacing": 28},
        "header": {
            "labelColor": look.text, "labelFontSize": 12, "labelFontWeight": "bold",
            "labelAnchor": "start", "title": None, "labelPadding": 8,
        },
        "style": {
            "band": {"opacity": 0.14, "color": accent},
            "curve": {"strokeWidth": 2, "strokeJoin": "round", "color": accent},
            "marker": {"filled": True, "size": 45, "opacity": 1},
            "hover": {"filled": True, "size": 140, "opacity": 0},
            "interval": {"strokeWidth": 2.5, "color": accent},
            "estimate": {"filled": True, "size": 60, "opacity": 1, "color": accent},
            "open": {
                "filled": True, "color": look.paper, "stroke": accent, "strokeWidth": 1.75,
                "size": 50, "opacity": 1,
            },
            "density": {"opacity": 0.3, "color": accent},
            "reference": {"color": look.faint, "strokeWidth": 1, "strokeDash": [3, 3]},
            "word": {"color": look.faint, "fontSize": 11},
            "leader": {"strokeWidth": 1, "opacity": 0.6, "color": accent},
            "label": {"color": look.text, "fontSize": 12},
        },
    }  # fmt: skip
