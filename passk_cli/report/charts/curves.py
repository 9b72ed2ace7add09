"""Lines over k, temperature, tasks or attempts, with their intervals as bands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from passk_cli.report.charts.axes import Axis, apart, fitted
from passk_cli.report.charts.parts import (
    HEIGHT,
    Row,
    Rule,
    Spec,
    all_of,
    distinct,
    drawn,
    layer,
    picture,
    rule_layers,
    scaled,
    tidy,
    tooltip,
)
from passk_cli.report.model import Chart

# Lines of these kinds look the same in every chart; others take what is left, in their order.
_KINDS = {"pass^k": [1, 0], "pass@k": [6, 4]}
_DASHES = ([1, 0], [6, 4], [2, 3], [10, 3, 2, 3], [14, 4])
# One more than there are colours, so that the pairs begin again only after all of both.
_SHAPES = (
    "circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right",
    "triangle-left",
)  # fmt: skip
# Labels at the ends of lines need this many pixels each, and may be moved by that many.
_LINE_OF_TEXT, _MOVABLE, _MOST_LABELS = 14.0, 40.0, 12
# Names longer than this stand below the chart.
_LONG = 36
_MARKERS = 12


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
    subtitle: str = "",
    x_title: str = "",
    y_title: str = "",
    log_x: bool | None = None,
    log_y: bool = False,
    y_domain: tuple[float, float] | None = (0.0, 1.0),
    shares: bool = False,
) -> Chart:
    """Lines over x with their intervals as bands.

    rows : one per point of a line, in the order of x; x, y, low, high, colour, dash and facet name
        keys in them.  An undefined y (None, NaN) breaks the line; an undefined limit, the band.
    colour : whose line it is, as the model.  dash : which kind; pass@k is dashed, pass^k solid.
    facet : a panel for each of its values.
    points : rows drawn as points under the same keys, with low and high as bars; other than x and
        y, a key that not all of them have is left out.  `rows` itself marks every point of the
        lines, whose bands say the rest.
    rules : reference lines.
    subtitle : what was counted and how sure; a lone series is named there too.
    log_x : None for a logarithmic axis when x spans two decades.
    log_y : whether y is drawn so; what is not positive has no place there and counts as undefined.
    y_domain : None to fit the data, zero included unless log_y; (0, 1) for shares.
    shares : whether y is a share, or a difference of such, on another range as well.

    >>> rows = [{"k": 1, "value": 0.4, "model": "m"}, {"k": 2, "value": 0.6, "model": "m"}]
    >>> chart = curves(rows, x="k", y="value", colour="model", x_title="k")
    >>> chart.spec["data"]["values"][0]
    {'series': 'm', 'x': 1, 'y': 0.4, 'drawn': 'line'}
    """
    names = {
        "series": colour, "kind": dash, "panel": facet, "x": x, "y": y, "low": low, "high": high,
    }  # fmt: skip
    known = {key: name for key, name in names.items() if all(name in row for row in points)}
    if points is rows:
        known |= {"low": "", "high": ""}
    lines = tidy(rows, names, "line")
    dots = tidy(points, known, "point") if points else _lonely(lines)
    values = lines + dots
    if log_y:
        _only_positive(values)
    places = [*all_of(values, "x"), *(r.x for r in rules)]
    across = fitted(places, x_title, log=log_x, at_values=True)
    share = shares or y_domain == (0, 1)
    if y_domain is None:
        seen = [*all_of(values, "y", "low", "high"), *(r.y for r in rules)]
        up = replace(fitted(seen, y_title, log=log_y, zero=True, margin=0.03), share=share)
    else:
        up = Axis(*y_domain, y_title, log_y, share=share)
    series = distinct(values, "series")
    labels = [] if facet else _end_labels(lines, across, up)
    shaped = len(series) > 1 and not points
    if shaped:
        _mark_some(lines, across)
    look = _look(series, distinct(values, "kind"), bool(labels))
    draw = _Drawing(across, up, look, names, known)
    layers = [
        *rule_layers(rules, across, up),
        *draw.lines(),
        *(draw.points() if dots else ()),
        *([draw.markers()] if shaped else ()),
        draw.hover(),
        *draw.labels(labels),
    ]
    lone = str(series[0]) if len(series) == 1 else ""
    return picture(values, layers, title, " · ".join(filter(None, (lone, subtitle))), facet)


def _only_positive(values: Sequence[Spec]) -> None:
    for row in values:
        for key in ("y", "low", "high"):
            if key in row and not (row[key] and row[key] > 0):
                row[key] = None


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
            row | {"drawn": "point"}
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


def _longest(texts: Sequence[Any]) -> int:
    return max((len(str(text)) for text in texts), default=0)


def _has_interval(names: Mapping[str, str]) -> bool:
    return bool(names.get("low") and names.get("high"))


def _end_labels(lines: Sequence[Spec], across: Axis, up: Axis) -> list[Spec]:
    """What stands at the end of each line, moved apart; empty when it does not fit there."""
    by_line = _by_line(lines)
    ends = [[r for r in rows if r["y"] is not None][-1:] for rows in by_line.values()]
    last = [end[0] for end in ends if end]
    several = len({key[0] for key in by_line}) > 1
    texts = [row.get("series" if several else "kind") for row in last]
    if not 1 < len(last) <= _MOST_LABELS or None in texts or _longest(texts) > _LONG:
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


def _look(series: list[Any], kinds: list[Any], labelled: bool) -> Spec:
    """The scales that tell lines apart: colour and shape by series, dash by kind."""
    look: Spec = {}
    right: Spec | None = None if labelled or len(series) < 2 else {"title": None}
    if right and _longest(series) > _LONG:
        right |= {"orient": "bottom", "columns": 1}
    if series:
        look["color"] = scaled("series", series, right)
    if len(series) > 1:
        shapes = [_SHAPES[i % len(_SHAPES)] for i in range(len(series))]
        look["shape"] = scaled("series", series, right, shapes)
    if kinds:
        named = [_KINDS.get(kind) for kind in kinds]
        free = iter([d for d in _DASHES if d not in named])
        dashes = [style or next(free, [1, 0]) for style in named]
        said = len(kinds) == 1 or (labelled and len(series) < 2)
        above = {"title": None, "orient": "top", "symbolType": "stroke", "symbolSize": 900}
        look["strokeDash"] = scaled("kind", kinds, None if said else above, dashes)
    return look


@dataclass(frozen=True)
class _Drawing:
    """What the layers of a chart share: axes, scales, and what lines and points have."""

    across: Axis
    up: Axis
    look: Spec
    on_lines: Mapping[str, str]
    on_points: Mapping[str, str]

    def lines(self) -> list[Spec]:
        x, only = self.across.channel("x"), drawn("line")
        found = []
        if _has_interval(self.on_lines):
            band = layer("band", "area", x=x, y=self.up.channel("low"), y2={"field": "high"})
            band["encoding"] |= self._scales("color")
            if "strokeDash" in self.look:
                band["encoding"]["detail"] = {"field": "kind"}
            found.append(band | only)
        look = self._scales("color", "strokeDash")
        return [*found, layer("curve", "line", x=x, y=self.up.channel("y"), **look) | only]

    def markers(self) -> Spec:
        """A few points of each line, in the shape of its series."""
        marker = layer("marker", "point", **self._at("y"), **self._scales("color", "shape"))
        return marker | {"transform": [{"filter": "datum.marked"}]}

    def points(self) -> list[Spec]:
        look = self._scales("color", "shape")
        found = []
        if _has_interval(self.on_points):
            bar = layer("interval", "rule", **self._at("low"), **self._scales("color"))
            bar["encoding"]["y2"] = {"field": "high"}
            found.append(bar | drawn("point"))
        values = tooltip(self.on_points, self._shares)
        point = layer("estimate", "point", **self._at("y"), **look, tooltip=values)
        return [*found, point | drawn("point")]

    def hover(self) -> Spec:
        """Unseen points that answer the mouse."""
        values = tooltip(self.on_lines, self._shares)
        look = self._scales("color")
        return layer("hover", "point", **self._at("y"), **look, tooltip=values) | drawn("line")

    def labels(self, labels: list[Spec]) -> list[Spec]:
        """Words at the ends of lines, each led to by a short stroke."""
        if not labels:
            return []
        data = {"data": {"values": labels}}
        leader = layer("leader", "rule", **self._at("y"), **self._scales("color"))
        leader["encoding"] |= {"x2": {"field": "x"}, "y2": {"field": "at"}}
        leader["mark"] |= {"xOffset": 3, "x2Offset": 12}
        text = layer("label", "text", **self._at("at"), text={"field": "text"})
        text["mark"] |= {"align": "left", "dx": 15, "baseline": "middle"}
        return [data | leader, data | text]

    @property
    def _shares(self) -> tuple[str, ...]:
        return ("y", "low", "high") if self.up.share else ()

    def _at(self, field: str) -> Spec:
        return {"x": self.across.channel("x"), "y": self.up.channel(field)}

    def _scales(self, *channels: str) -> Spec:
        return {channel: self.look[channel] for channel in channels if channel in self.look}
