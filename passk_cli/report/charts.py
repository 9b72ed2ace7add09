"""Charts as Vega-Lite specifications: lines with bands, intervals in rows, densities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passk_cli.report.axes import Axis, apart, fitted
from passk_cli.report.model import Chart

Row = Mapping[str, Any]
Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
WIDTH, HEIGHT, PANEL = 480, 300, 220
# Lines of these kinds look the same in every chart; others take what is left, in their order.
_KINDS = {"pass^k": [1, 0], "pass@k": [6, 4]}
_DASHES = ([1, 0], [6, 4], [2, 3], [10, 3, 2, 3], [14, 4])
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
# Labels at the ends of lines need this many pixels each, and may be moved by that many.
_LINE_OF_TEXT, _MOVABLE, _MOST_LABELS = 14.0, 40.0, 12
_MARKERS = 8
_QUANTITIES = ("x", "y", "low", "high")


@dataclass(frozen=True)
class Rule:
    """A reference line across a chart: vertical at x or horizontal at y, with a word on it."""

    x: float | None = None
    y: float | None = None
    text: str = ""


def curves(
    rows: Sequence[Row],
    *,
    x: str,
    y: str,
    low: str = "",
    high: str = "",
    colour: str = "",
    dash: str = "",
    facet: str = "",
    points: Sequence[Row] = (),
    rules: Sequence[Rule] = (),
    title: str = "",
    x_title: str = "",
    y_title: str = "",
    log_x: bool | None = None,
    log_y: bool = False,
    y_domain: tuple[float, float] | None = (0.0, 1.0),
) -> Chart:
    """Lines over x with their intervals as bands.

    rows : one per point of a line, in the order of x; x, y, low, high, colour, dash and facet name
        keys in them.  An undefined y (None, NaN) breaks the line; an undefined limit, the band.
    colour : whose line it is, as the model.  dash : which kind; pass@k is dashed, pass^k solid.
    facet : a panel for each of its values.
    points : rows drawn as points with their intervals, under the same keys; they may be `rows`.
    rules : reference lines.
    log_x : None for a logarithmic axis when x spans two decades.
    y_domain : None to fit the data, zero included unless log_y.

    >>> rows = [{"k": 1, "value": 0.4, "model": "m"}, {"k": 2, "value": 0.6, "model": "m"}]
    >>> chart = curves(rows, x="k", y="value", colour="model", x_title="k")
    >>> chart.spec["data"]["values"][0]
    {'x': 1, 'y': 0.4, 'series': 'm', 'drawn': 'line'}
    """
    names = {
        "x": x, "y": y, "low": low, "high": high, "series": colour, "kind": dash, "panel": facet,
    }  # fmt: skip
    lines, dots = _tidy(rows, names, "line"), _tidy(points, names, "point")
    dots += [] if points else [row | {"drawn": "point"} for row in _lonely(lines)]
    values = lines + dots
    across = fitted([*_all(values, "x"), *(r.x for r in rules)], x_title, log=log_x)
    up = fitted(
        [*_all(values, "y", "low", "high"), *(r.y for r in rules)], y_title, log=log_y, zero=True
    )
    if y_domain is not None:
        up = Axis(*y_domain, y_title, log_y)
    series, kinds = _distinct(values, "series"), _distinct(values, "kind")
    labels = [] if facet else _end_labels(lines, across, up)
    legend = not labels and len(series) > 1
    if legend:
        _mark_some(lines, across)
    look: Spec = {"tooltip": _tooltip(names)}
    if series:
        look["color"] = _scaled("series", series, legend=legend)
    if kinds:
        named = [_KINDS.get(kind) for kind in kinds]
        free = iter([d for d in _DASHES if d not in named])
        dashes = [style or next(free, [1, 0]) for style in named]
        bare = not (labels and len(series) < 2) and len(kinds) > 1
        look["strokeDash"] = _scaled("kind", kinds, dashes, legend=bare)
    interval = bool(low and high)
    layers = [
        *_rule_layers(rules, across, up),
        *_line_layers(across, up, look, interval, series if legend else ()),
        *(_point_layers(across, up, look, interval) if dots else ()),
        *_label_layers(labels, across, up, look),
    ]
    subtitle = series[0] if len(series) == 1 else ""
    return _chart(values, layers, title, subtitle, facet)


def forest(
    rows: Sequence[Row],
    *,
    label: str,
    value: str,
    low: str,
    high: str,
    facet: str = "",
    told: str = "",
    zero: float | None = 0.0,
    title: str = "",
    x_title: str = "",
) -> Chart:
    """Points with their intervals, one under the other, beside a line at zero.

    rows : one per label and facet; label, value, low, high, facet, told name keys in them.
    told : whether a point stands out (filled) or not (hollow).
    zero : where the reference line stands; None for none.

    >>> row = {"pair": "a − b", "difference": 0.1, "low": -0.1, "high": 0.3}
    >>> chart = forest([row], label="pair", value="difference", low="low", high="high")
    >>> [layer["mark"]["style"] for layer in chart.spec["layer"]]
    ['rule', 'interval', 'point']
    """
    names = {"label": label, "x": value, "low": low, "high": high, "panel": facet, "told": told}
    values = _tidy(rows, names, "point")
    across = fitted([*_all(values, "x", "low", "high"), zero], x_title, margin=0.03)
    across = Axis(across.low, across.high, across.title)
    up: Spec = {
        "field": "label",
        "type": "nominal",
        "title": None,
        "axis": {"grid": False},
        "scale": {"domain": _distinct(values, "label")},
    }
    tooltip = _tooltip({key: name for key, name in names.items() if key != "told"})
    layers = [
        *_rule_layers([] if zero is None else [Rule(x=zero)], across, None),
        _layer(
            "interval", "rule", x=across.channel("low"), x2={"field": "high"}, y=up, tooltip=tooltip
        ),
        _layer("point", "point", x=across.channel("x"), y=up, tooltip=tooltip),
    ]
    if told:
        layers[-1]["transform"] = [{"filter": "datum.told"}]
        open_ = _layer("open", "point", x=across.channel("x"), y=up, tooltip=tooltip)
        layers.append(open_ | {"transform": [{"filter": "!datum.told"}]})
    return _chart(values, layers, title, "", facet, {"height": {"step": 18}, "width": PANEL})


def _chart(
    values: list[Spec],
    layers: Sequence[Spec],
    title: str,
    subtitle: str,
    facet: str,
    size: Spec | None = None,
) -> Chart:
    """The layers over their shared values, in panels when there is a facet."""
    spec: Spec = {"$schema": SCHEMA}
    if title or subtitle:
        texts = [text for text in (title, subtitle) if text]
        spec["title"] = {"text": texts[0], **({"subtitle": texts[1]} if texts[1:] else {})}
    spec["data"] = {"values": values}
    size = size or {"width": PANEL if facet else WIDTH, "height": HEIGHT}
    if not facet:
        return Chart(spec | size | {"layer": list(layers)})
    panels = _distinct(values, "panel")
    spec["facet"] = {
        "field": "panel",
        "type": "nominal",
        "sort": panels,
        "title": None,
    }
    spec["columns"] = min(len(panels), 3)
    return Chart(spec | {"spec": size | {"layer": list(layers)}})


def _tidy(rows: Sequence[Row], names: Mapping[str, str], drawn: str) -> list[Spec]:
    """The rows under the names of what they are drawn as; undefined numbers are None."""
    return [
        {key: _plain(row[name]) for key, name in names.items() if name} | {"drawn": drawn}
        for row in rows
    ]


def _plain(value: Any) -> Any:
    """A value that JSON knows."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _all(values: Iterable[Spec], *fields: str) -> list[float | None]:
    return [row.get(field) for row in values for field in fields]


def _distinct(values: Iterable[Spec], field: str) -> list[Any]:
    """The values of a field in the order they appear."""
    return list(dict.fromkeys(row[field] for row in values if field in row))


def _by_line(lines: Iterable[Spec]) -> dict[tuple[Any, ...], list[Spec]]:
    found: dict[tuple[Any, ...], list[Spec]] = {}
    for row in lines:
        key = tuple(row.get(field) for field in ("series", "kind", "panel"))
        found.setdefault(key, []).append(row)
    return found


def _lonely(lines: Sequence[Spec]) -> list[Spec]:
    """Rows that no line would show: nothing defined comes before or after them."""
    found = []
    for rows in _by_line(lines).values():
        known = [False, *(row["y"] is not None for row in rows), False]
        found += [
            row
            for i, row in enumerate(rows, 1)
            if known[i] and not known[i - 1] and not known[i + 1]
        ]
    return found


def _mark_some(lines: Sequence[Spec], across: Axis) -> None:
    """Flag the few rows of each line that carry its series' shape."""
    for rows in _by_line(lines).values():
        seen: set[int] = set()
        for row in rows:
            cell = round(across.place(row["x"]) * _MARKERS)
            if cell not in seen and row["y"] is not None:
                seen.add(cell)
                row["marked"] = True


def _end_labels(lines: Sequence[Spec], across: Axis, up: Axis) -> list[Spec]:
    """What stands at the end of each line, moved apart; empty when it does not fit there."""
    by_line = _by_line(lines)
    ends = [[r for r in rows if r["y"] is not None][-1:] for rows in by_line.values()]
    last = [end[0] for end in ends if end]
    several = len({key[0] for key in by_line}) > 1
    texts = [row.get("series" if several else "kind") for row in last]
    if not 1 < len(last) <= _MOST_LABELS or None in texts:
        return []
    if any(across.place(row["x"]) < 0.98 for row in last):
        return []
    places = [up.place(row["y"]) for row in last]
    moved = apart(places, _LINE_OF_TEXT / HEIGHT)
    if max(abs(a - b) for a, b in zip(places, moved, strict=True)) > _MOVABLE / HEIGHT:
        return []
    return [
        {"x": row["x"], "y": row["y"], "at": up.at(place), "text": str(text)}
        | {key: row[key] for key in ("series", "kind") if key in row}
        for row, place, text in zip(last, moved, texts, strict=True)
    ]


def _tooltip(names: Mapping[str, str]) -> list[Spec]:
    return [
        {"field": field, "title": name, "type": "quantitative", "format": ".4~g"}
        if field in _QUANTITIES
        else {"field": field, "title": name, "type": "nominal"}
        for field, name in names.items()
        if name
    ]


def _scaled(
    field: str, domain: list[Any], range_: list[Any] | None = None, *, legend: bool
) -> Spec:
    scale: Spec = {"domain": domain} | ({"range": range_} if range_ is not None else {})
    channel: Spec = {"field": field, "type": "nominal", "scale": scale}
    return channel | {"legend": {"title": None} if legend else None}


def _layer(name: str, mark: str, **encoding: Any) -> Spec:
    return {"mark": {"type": mark, "style": name}, "encoding": encoding}


def _line_layers(
    across: Axis, up: Axis, look: Spec, interval: bool, shaped: Sequence[Any]
) -> list[Spec]:
    x, y = across.channel("x"), up.channel("y")
    only = [{"filter": "datum.drawn == 'line'"}]
    layers = []
    flat = {key: value for key, value in look.items() if key != "strokeDash"}
    if interval:
        area = {key: value for key, value in flat.items() if key == "color"}
        detail = {"detail": {"field": "kind"}} if "strokeDash" in look else {}
        band = _layer("band", "area", x=x, y=up.channel("low"), y2={"field": "high"}, **area)
        band["encoding"] |= detail
        layers.append(band | {"transform": [{"filter": "isValid(datum.low)"}, *only]})
    plain = {key: value for key, value in look.items() if key != "tooltip"}
    layers.append(_layer("line", "line", x=x, y=y, **plain) | {"transform": only})
    if shaped:
        shapes = [_SHAPES[i % len(_SHAPES)] for i in range(len(shaped))]
        shape = _scaled("series", list(shaped), shapes, legend=True)
        marker = _layer("marker", "point", x=x, y=y, shape=shape, **flat)
        layers.append(marker | {"transform": [*only, {"filter": "datum.marked"}]})
    hover = _layer("hover", "point", x=x, y=y, **flat)
    layers.append(hover | {"transform": only})
    return layers


def _point_layers(across: Axis, up: Axis, look: Spec, interval: bool) -> list[Spec]:
    x = across.channel("x")
    only = [{"filter": "datum.drawn == 'point'"}]
    flat = {key: value for key, value in look.items() if key != "strokeDash"}
    layers = []
    if interval:
        bar = _layer("interval", "rule", x=x, y=up.channel("low"), y2={"field": "high"}, **flat)
        layers.append(bar | {"transform": only})
    layers.append(_layer("point", "point", x=x, y=up.channel("y"), **flat) | {"transform": only})
    return layers


def _rule_layers(rules: Sequence[Rule], across: Axis, up: Axis | None) -> list[Spec]:
    layers = []
    for rule in rules:
        axis, name, value = (across, "x", rule.x) if rule.y is None else (up, "y", rule.y)
        assert axis is not None
        row = {name: value, "text": rule.text}
        line = _layer("rule", "rule", **{name: axis.channel(name)})
        layers.append({"data": {"values": [row]}} | line)
        if rule.text:
            edge: Spec = {"value": 0} if name == "x" else {"value": "width"}
            word = _layer(f"rule-{name}", "text", text={"field": "text"})
            word["encoding"] |= {name: axis.channel(name), "y" if name == "x" else "x": edge}
            layers.append({"data": {"values": [row]}} | word)
    return layers


def _label_layers(labels: list[Spec], across: Axis, up: Axis, look: Spec) -> list[Spec]:
    if not labels:
        return []
    x, at = across.channel("x"), up.channel("at")
    leader = _layer("leader", "rule", x=x, x2={"field": "x"}, y=up.channel("y"), y2={"field": "at"})
    leader["mark"] |= {"xOffset": 3, "x2Offset": 12}
    if "color" in look:
        leader["encoding"]["color"] = look["color"]
    text = _layer("label", "text", x=x, y=at, text={"field": "text"})
    text["mark"] |= {"align": "left", "dx": 15, "baseline": "middle"}
    return [{"data": {"values": labels}} | leader, {"data": {"values": labels}} | text]


def densities(
    rows: Sequence[Row],
    *,
    label: str,
    draws: str,
    value: str,
    low: str,
    high: str,
    facet: str = "",
    title: str = "",
    x_title: str = "",
) -> Chart:
    """The distribution of draws in rows, one under the other, with estimate and interval.

    rows : one per label and facet; label, value, low, high, facet name keys in them, and draws the
        key of an array of which the chart holds the density alone.
    """
    raise NotImplementedError
