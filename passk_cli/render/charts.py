"""Charts → files: one theme, light or dark, for png, svg, pdf, html and json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from passk_cli.render.data import strict_json
from passk_cli.report.model import SHARES, Chart, Report

Spec = dict[str, Any]

# Liberation Sans comes with vl-convert, Arial has the same widths: no file depends on the machine.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"

PERCENT = ",.4~%"


@dataclass(frozen=True)
class Theme:
    """Colours of paper, text, grid, what is drawn without a series, and the series in turn."""

    paper: str
    text: str
    faint: str
    grid: str
    series: tuple[str, ...]


# The hues of Okabe and Ito (2008), moved so that readers with any colour blindness tell each from
# every other and all from the paper, and neighbours differ in lightness too, for print in grey.
THEMES = {
    "light": Theme(
        "#ffffff", "#1b1f24", "#5b6570", "#e3e6ea",
        ("#16569e", "#dd8300", "#008e4f", "#b23f03", "#00a9f5", "#222222", "#c582a6"),
    ),
    "dark": Theme(
        "#14171a", "#e8ebee", "#a3acb5", "#2c3238",
        ("#4f85e0", "#f8c030", "#3ad491", "#e56a3a", "#aed0ff", "#f5f1ec", "#b080a8"),
    ),
}  # fmt: skip


def picture(report: Report, suffix: str, theme: str = "light", percent: bool = False) -> bytes:
    """The charts of a report, one under the other, as the contents of a file.

    suffix : one of `passk_cli.render.PICTURES`.  theme : "light" or "dark"; html follows its
        reader instead.  percent : shares as percentages.
    """
    charts = [Chart(_in_percent(chart.spec)) for chart in report.drawn] if percent else report.drawn
    if suffix == ".json":
        spec = stacked(charts, theme)
        return (strict_json(spec, indent=2) + "\n").encode()
    if suffix == ".html":
        from passk_cli.render.page import page

        return page(replace(report, charts=tuple(charts))).encode()
    import vl_convert

    still = _without_hover(stacked(charts, theme))
    if suffix == ".png":
        return bytes(vl_convert.vegalite_to_png(still, scale=2, allowed_base_urls=[]))
    if suffix == ".pdf":
        return bytes(vl_convert.vegalite_to_pdf(still, allowed_base_urls=[]))
    return vl_convert.vegalite_to_svg(still, allowed_base_urls=[]).encode()


def stacked(charts: Sequence[Chart], theme: str) -> Spec:
    """One specification of all charts with the theme in it."""
    specs = [dict(chart.spec) for chart in charts]
    if len(specs) == 1:
        return specs[0] | {"config": config(theme)}
    schema = specs[0]["$schema"]
    parts = [{key: value for key, value in spec.items() if key != "$schema"} for spec in specs]
    own = {"resolve": {"scale": dict.fromkeys(("color", "shape", "strokeDash"), "independent")}}
    look = config(theme)
    # The plots line up, so the titles do when each stands over its plot.
    look["title"]["frame"] = "group"
    return {"$schema": schema, "vconcat": parts, "spacing": 36, **own, "config": look}


def config(theme: str) -> Spec:
    """How every layer that `report.drawn` makes looks; by their styles."""
    look = THEMES[theme]
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


def _in_percent(node: Any) -> Any:
    """The specification with percentages where it shows shares; data is left alone."""
    if isinstance(node, Mapping):
        return {
            key: PERCENT if key == "format" and value == SHARES
            else value if key == "values" else _in_percent(value)
            for key, value in node.items()
        }  # fmt: skip
    return [_in_percent(each) for each in node] if isinstance(node, list) else node


def _without_hover(node: Any) -> Any:
    """The specification without the layers that only answer the mouse; data is left alone."""
    if isinstance(node, Mapping):
        return {
            key: value if key == "values" else _without_hover(value) for key, value in node.items()
        }
    if isinstance(node, list):
        return [_without_hover(each) for each in node if not _is_hover(each)]
    return node


def _is_hover(node: Any) -> bool:
    return (
        isinstance(node, Mapping)
        and isinstance(node.get("mark"), Mapping)
        and node["mark"].get("style") == "hover"
    )
