"""Rows, one under the other: points with intervals, distributions of draws."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from passk_cli.inference.density import density
from passk_cli.report.charts.axes import fitted
from passk_cli.report.charts.parts import (
    Row,
    Rule,
    Spec,
    all_of,
    distinct,
    drawn,
    layer,
    picture,
    rule_layers,
    tidy,
    tooltip,
)
from passk_cli.report.model import SHARES, Chart

# What holds shares, or differences of such.
_SHARES = ("x", "low", "high")


def forest(
    rows: Sequence[Row],
    *,
    label: str,
    value: str,
    low: str,
    high: str,
    facet: str = "",
    told: str = "",
    rules: Sequence[Rule] = (Rule(x=0.0, dashed=False),),
    title: str = "",
    subtitle: str = "",
    x_title: str = "",
) -> Chart:
    """Points with their intervals, one under the other, beside a line at zero.

    rows : one per label and facet; label, value, low, high, facet, told name keys in them.
    told : whether a point stands out (filled) or not (hollow).
    rules : vertical reference lines.

    >>> row = {"pair": "a − b", "difference": 0.1, "low": -0.1, "high": 0.3}
    >>> chart = forest([row], label="pair", value="difference", low="low", high="high")
    >>> [layer["mark"]["style"] for layer in chart.spec["layer"]]
    ['reference', 'interval', 'estimate']
    """
    names = {"label": label, "x": value, "low": low, "high": high, "panel": facet, "told": told}
    values = tidy(rows, names, "point")
    seen = [*all_of(values, "x", "low", "high"), *(rule.x for rule in rules)]
    across = replace(fitted(seen, x_title, margin=0.03), share=True)
    up: Spec = {
        "field": "label",
        "type": "nominal",
        "title": None,
        "axis": {"grid": False},
        "scale": {"domain": distinct(values, "label")},
    }
    hover = tooltip({key: name for key, name in names.items() if key != "told"}, _SHARES)
    layers = [
        *rule_layers(rules, across, None),
        layer(
            "interval", "rule", x=across.channel("low"), x2={"field": "high"}, y=up, tooltip=hover
        ),
        layer("estimate", "point", x=across.channel("x"), y=up, tooltip=hover),
    ]
    if told:
        layers[-1]["transform"] = [{"filter": "datum.told"}]
        open_ = layer("open", "point", x=across.channel("x"), y=up, tooltip=hover)
        layers.append(open_ | {"transform": [{"filter": "!datum.told"}]})
    return picture(values, layers, title, subtitle, facet, {"height": {"step": 18}})


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
    subtitle: str = "",
    x_title: str = "",
) -> Chart:
    """The distribution of draws in rows, one under the other, with estimate and interval.

    rows : one per label and facet; label, value, low, high and facet name keys in them, draws that
        of an array.  The chart holds its density, not the draws.

    >>> row = {"model": "m", "estimate": 0.5, "low": 0.4, "high": 0.6}
    >>> row["draws"] = np.array([0.4, 0.5, 0.5, 0.6])
    >>> chart = densities([row], label="model", draws="draws", value="estimate",
    ...                   low="low", high="high")
    >>> [layer["mark"]["style"] for layer in chart.spec["layer"]]
    ['density', 'interval', 'estimate']
    """
    names = {"label": label, "x": value, "low": low, "high": high, "panel": facet}
    values = tidy(rows, names, "point")
    labels = distinct(values, "label")
    shapes = []
    for row, found in zip(values, (density(np.asarray(row[draws])) for row in rows), strict=True):
        row["row"] = len(labels) - 1 - labels.index(row["label"])
        shapes.append((row, *(array.tolist() for array in found)))
    tallest: dict[Any, float] = {}
    for row, _, heights in shapes:
        panel = row.get("panel")
        tallest[panel] = max([tallest.get(panel, 0.0), *heights])
    for row, places, heights in shapes:
        same = {key: row[key] for key in ("label", "panel") if key in row}
        most = tallest[row.get("panel")] / 0.85
        values += [
            same | {"x": x, "row": row["row"], "top": row["row"] + height / most, "drawn": "area"}
            for x, height in zip(places, heights, strict=True)
        ]
    up: Spec = {
        "field": "row",
        "type": "quantitative",
        "title": None,
        "scale": {"domain": [-0.25, len(labels)], "nice": False, "zero": False},
        "axis": {
            "values": list(range(len(labels))),
            "labelExpr": f"{json.dumps(labels[::-1], ensure_ascii=False)}[datum.value]",
        },
    }
    x: Spec = {"field": "x", "type": "quantitative", "title": x_title or None}
    x |= {"scale": {"zero": False, "nice": False}, "axis": {"tickCount": 4, "format": SHARES}}
    area = layer("density", "area", x=x, y=up, y2={"field": "top"}, detail={"field": "label"})
    layers = [
        area | drawn("area"),
        layer("interval", "rule", x=x | {"field": "low"}, x2={"field": "high"}, y=up)
        | drawn("point"),
        layer("estimate", "point", x=x, y=up, tooltip=tooltip(names, _SHARES)) | drawn("point"),
    ]
    size = {"height": 44 * len(labels)}
    return picture(values, layers, title, subtitle, facet, size, own_x=True)
