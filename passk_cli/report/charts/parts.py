"""What charts are made of: tidy values, layers, scales, reference lines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passk_cli.report.charts.axes import Axis
from passk_cli.report.model import Chart

Row = Mapping[str, Any]
Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
WIDTH, HEIGHT, PANEL = 480, 300, 220
_QUANTITIES = ("x", "y", "low", "high")


@dataclass(frozen=True)
class Rule:
    """A reference line across a chart: vertical at x or horizontal at y, with a word on it."""

    x: float | None = None
    y: float | None = None
    text: str = ""


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
    spec: Spec = {"$schema": SCHEMA}
    if title or subtitle:
        texts = [text for text in (title, subtitle) if text]
        spec["title"] = {"text": texts[0], **({"subtitle": texts[1]} if texts[1:] else {})}
    spec["data"] = {"values": values}
    size = size or {"width": PANEL if facet else WIDTH, "height": HEIGHT}
    if not facet:
        return Chart(spec | size | {"layer": list(layers)})
    panels = distinct(values, "panel")
    spec["facet"] = {
        "field": "panel",
        "type": "nominal",
        "sort": panels,
        "title": None,
    }
    spec["columns"] = min(len(panels), 3)
    if own_x:
        spec["resolve"] = {"scale": {"x": "independent"}}
    return Chart(spec | {"spec": size | {"layer": list(layers)}})


def tidy(rows: Sequence[Row], names: Mapping[str, str], drawn: str) -> list[Spec]:
    """The rows under the names of what they are drawn as; undefined numbers are None."""
    return [
        {key: _plain(row[name]) for key, name in names.items() if name} | {"drawn": drawn}
        for row in rows
    ]


def _plain(value: Any) -> Any:
    """A value that JSON knows."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def all_of(values: Iterable[Spec], *fields: str) -> list[float | None]:
    return [row.get(field) for row in values for field in fields]


def distinct(values: Iterable[Spec], field: str) -> list[Any]:
    """The values of a field in the order they appear."""
    return list(dict.fromkeys(row[field] for row in values if field in row))


def tooltip(names: Mapping[str, str]) -> list[Spec]:
    return [
        {"field": field, "title": name, "type": "quantitative", "format": ".4~g"}
        if field in _QUANTITIES
        else {"field": field, "title": name, "type": "nominal"}
        for field, name in names.items()
        if name
    ]


def scaled(field: str, domain: list[Any], range_: list[Any] | None = None, *, legend: bool) -> Spec:
    scale: Spec = {"domain": domain} | ({"range": range_} if range_ is not None else {})
    channel: Spec = {"field": field, "type": "nominal", "scale": scale}
    return channel | {"legend": {"title": None} if legend else None}


def layer(name: str, mark: str, **encoding: Any) -> Spec:
    return {"mark": {"type": mark, "style": name}, "encoding": encoding}


def rule_layers(rules: Sequence[Rule], across: Axis, up: Axis | None) -> list[Spec]:
    layers = []
    for rule in rules:
        axis, name, value = (across, "x", rule.x) if rule.y is None else (up, "y", rule.y)
        assert axis is not None
        row = {name: value, "text": rule.text}
        line = layer("rule", "rule", **{name: axis.channel(name)})
        layers.append({"data": {"values": [row]}} | line)
        if rule.text:
            edge: Spec = {"value": 0} if name == "x" else {"value": "width"}
            word = layer(f"rule-{name}", "text", text={"field": "text"})
            word["encoding"] |= {name: axis.channel(name), "y" if name == "x" else "x": edge}
            layers.append({"data": {"values": [row]}} | word)
    return layers
