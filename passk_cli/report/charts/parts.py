"""What charts are made of: tidy values, layers, scales, reference lines."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passk_cli.report.charts.axes import Axis
from passk_cli.report.model import SHARES, Chart
from passk_cli.text import printable

Row = Mapping[str, Any]
Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
WIDTH, HEIGHT, PANEL, PANEL_HEIGHT = 480, 300, 220, 190
# Letters of a subtitle that fit on a line, and what its parts are joined by.
_LETTERS, _LETTERS_A_PANEL, _BETWEEN = 92, 44, " · "
_COLUMNS = 3
_QUANTITIES = ("x", "y", "low", "high")


@dataclass(frozen=True)
class Rule:
    """A reference line across a chart: vertical at x or horizontal at y, with a word on it."""

    x: float | None = None
    y: float | None = None
    text: str = ""
    dashed: bool = True


def picture(
    values: list[Spec],
    layers: Sequence[Spec],
    title: str,
    subtitle: str,
    facet: str,
    size: Spec | None = None,
    own_x: bool = False,
) -> Chart:
    """The layers over their shared values, in panels when there is a facet.

    size : of the plot, or of each panel.  own_x : whether each panel has a range of its own.
    """
    panels = distinct(values, "panel") if facet else []
    columns = 2 if len(panels) == 4 else min(len(panels), _COLUMNS)
    spec: Spec = {"$schema": SCHEMA}
    if title or subtitle:
        letters = max(columns * _LETTERS_A_PANEL, _LETTERS)
        spec["title"] = {"text": printable(title), "subtitle": _broken(subtitle, letters)}
    spec["data"] = {"values": values}
    several = len(panels) > 1
    usual = (PANEL, PANEL_HEIGHT) if several else (WIDTH, HEIGHT)
    size = dict(zip(("width", "height"), usual, strict=True)) | (size or {})
    if not facet:
        return Chart(spec | size | {"layer": list(layers)})
    spec["facet"] = {"field": "panel", "type": "nominal", "sort": panels, "title": None}
    spec["columns"] = columns
    # Each panel has its own axis: a shared one would stand under empty places as well.
    own = {"scale": {"x": "independent"}} if own_x else {}
    spec["resolve"] = {"axis": {"x": "independent"}} | own
    return Chart(spec | {"spec": size | {"layer": list(layers)}})


def _broken(text: str, letters: int) -> list[str]:
    """A subtitle in lines, broken between its parts where that is possible."""
    lines = [""]
    for part in printable(text).split(_BETWEEN):
        longer = f"{lines[-1]}{_BETWEEN}{part}" if lines[-1] else part
        lines[-1:] = [longer] if len(longer) <= letters else [lines[-1], part]
    return [line for each in lines for line in textwrap.wrap(each, letters)]


def tidy(rows: Sequence[Row], names: Mapping[str, str], drawn: str) -> list[Spec]:
    """The rows under the names of what they are drawn as; undefined numbers are None."""
    return [
        {key: _plain(row[name]) for key, name in names.items() if name} | {"drawn": drawn}
        for row in rows
    ]


def _plain(value: Any) -> Any:
    """A value that JSON and XML know."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, str):
        return printable(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def all_of(values: Iterable[Spec], *fields: str) -> list[float | None]:
    """The values of some fields, row by row."""
    return [row.get(field) for row in values for field in fields]


def distinct(values: Iterable[Spec], field: str) -> list[Any]:
    """The values of a field in the order they appear."""
    return list(dict.fromkeys(row[field] for row in values if row.get(field) is not None))


def tooltip(names: Mapping[str, str], shares: Sequence[str] = ()) -> list[Spec]:
    """What hovering shows: each value under its name in the caller's rows.

    shares : the fields that hold shares.
    """
    found: list[Spec] = []
    for field, name in names.items():
        if name:
            tip = {"field": field, "title": printable(name), "type": "nominal"}
            if field in _QUANTITIES:
                form = SHARES if field in shares else ".4~g"
                tip |= {"type": "quantitative", "format": form}
            found.append(tip)
    return found


def scaled(
    field: str, domain: list[Any], legend: Spec | None, range_: list[Any] | None = None
) -> Spec:
    """The encoding of a field by colour, shape or dash; `legend` None for no legend."""
    scale: Spec = {"domain": domain} | ({"range": range_} if range_ is not None else {})
    return {"field": field, "type": "nominal", "scale": scale, "legend": legend}


def drawn(how: str) -> Spec:
    """What keeps the rows that are drawn this way."""
    return {"transform": [{"filter": f"datum.drawn == '{how}'"}]}


def layer(style: str, mark: str, **encoding: Any) -> Spec:
    """A layer; its style is what the theme and the terminal's drawing know it by."""
    return {"mark": {"type": mark, "style": style}, "encoding": encoding}


def rule_layers(rules: Sequence[Rule], across: Axis, up: Axis | None) -> list[Spec]:
    """Reference lines with their words: above a vertical one, at the left over a horizontal one."""
    layers = []
    for rule in rules:
        if rule.x is not None:
            name, axis, value = "x", across, rule.x
            beside, edge, mark = "y", -5, {"align": "left", "baseline": "bottom", "dx": -2}
            if across.place(value) > 0.5:
                mark |= {"align": "right", "dx": 2}
        else:
            assert up is not None
            assert rule.y is not None
            name, axis, value = "y", up, rule.y
            beside, edge, mark = "x", 4, {"align": "left", "baseline": "bottom", "dy": -3}
        data = {"data": {"values": [{name: value, "text": printable(rule.text)}]}}
        line = layer("reference", "rule", **{name: axis.channel(name)})
        line["mark"] |= {} if rule.dashed else {"strokeDash": [1, 0]}
        layers.append(data | line)
        if rule.text:
            where = {name: axis.channel(name), beside: {"value": edge}}
            word = layer("word", "text", text={"field": "text"}, **where)
            word["mark"] |= mark
            layers.append(data | word)
    return layers
