"""Tests of the drawings of a page: their content and places, names, and separate files."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from passk_cli.charts.chart_options import DEFAULT_PICTURE_SIZE, PictureSize
from passk_cli.charts.point_names import place_names
from passk_cli.charts.svg import draw_legend_and_panels, svg_document
from passk_cli.charts.text_metrics import text_width
from passk_cli.charts.theme import THEMES
from passk_cli.report.plot import Plot, curves, forest, heat
from tests.charts.plots import PLOTS, ranking_plot

LIGHT = THEMES["light"]
# At which the axes of a plot of shares are 200 wide and 112.6 high.
ROOM = 225.1
CELLS = [
    {"model": m, "from": t, "to": t + 1, "task": f"t{t}",
     "pass rate": (t + m) / 3 if t < 2 else None}
    for m in range(2) for t in range(3)
]  # fmt: skip
EVERY = PLOTS | {
    "heat": heat(CELLS, label="model", low="from", high="to", value="pass rate", words="task")
}


@pytest.mark.parametrize("name", EVERY)
def test_drawings_and_files_are_svg(name: str) -> None:
    legend, panels = draw_legend_and_panels(EVERY[name], LIGHT, False, 300)
    for part in (*legend, *panels):
        root = ElementTree.fromstring(part.element())
        assert float(root.get("width") or 0) == pytest.approx(part.width, abs=0.1)
    svg = svg_document([EVERY[name]], THEMES["dark"], percent=True)
    ElementTree.fromstring(svg)
    assert THEMES["dark"].paper in svg
    assert "nan" not in svg


def tooltips(plot: Plot, percent: bool = False) -> list[str]:
    _, panels = draw_legend_and_panels(plot, LIGHT, percent, 300)
    marks = (ElementTree.fromstring(panel.element()).iter() for panel in panels)
    return [str(mark.get("data-say")) for panel in marks for mark in panel if mark.get("data-say")]


def test_one_panel_per_setting_and_a_legend_are_drawn() -> None:
    legend, panels = draw_legend_and_panels(PLOTS["panels"], LIGHT, False, 200)
    assert [re.sub("<[^>]+>", "", item.elements) for item in legend] == ["1", "10"]
    assert len(panels) == 2
    assert not draw_legend_and_panels(PLOTS["labels"], LIGHT, False, 300)[0][2:]


def test_marks_have_their_values_as_tooltips() -> None:
    assert tooltips(PLOTS["forest"])[0] == (
        "pair: model-0 − model-1\ndifference: 0.1\nlow: -0.02\nhigh: 0.22\nmetric: pass@1"
    )
    assert "difference: 10%" in tooltips(PLOTS["forest"], percent=True)[0]
    assert tooltips(EVERY["heat"])[0] == "task: t0\npass rate: 0"


def test_marks_are_placed_by_the_axes() -> None:
    """A line from (0, 0) to (1, 1) runs from corner to corner."""
    plot = curves([{"x": v, "y": v} for v in (0, 0.5, 1)], x="x", y="y", log_x=False)
    _, (panel,) = draw_legend_and_panels(plot, LIGHT, False, ROOM)
    assert 'd="M0 112.5L100 56.3L200 0"' in panel.elements


def test_undefined_values_are_not_drawn() -> None:
    rows = [{"x": v, "y": None if v == 2 else 0.5, "low": 0.4, "high": None} for v in range(5)]
    plot = curves(rows, x="x", y="y", low="low", high="high", log_x=False)
    _, (panel,) = draw_legend_and_panels(plot, LIGHT, False, ROOM)
    assert 'd="M0 56.3L50 56.3M150 56.3L200 56.3"' in panel.elements
    assert 'fill-opacity="0.14"' not in panel.elements
    assert len(tooltips(plot)) == 4
    assert len(tooltips(EVERY["heat"])) == 4
    rows = [{"a": "a", "v": None, "l": None, "h": None}, {"a": "b", "v": 0.5, "l": 0, "h": 1}]
    assert len(tooltips(forest(rows, label="a", value="v", low="l", high="h"))) == 1


def test_neighbouring_cells_touch() -> None:
    """A gap between neighbouring cells would look like a pattern."""
    cells = [{"m": "m", "from": t, "to": t + 1, "rate": 0.5, "task": str(t)} for t in range(77)]
    plot = heat(cells, label="m", low="from", high="to", value="rate", words="task")
    _, (panel,) = draw_legend_and_panels(plot, LIGHT, False, ROOM)
    boxes = re.findall(r'<rect x="([\d.]+)" height="[\d.]+" width="([\d.]+)"', panel.elements)
    ends = [float(x) + float(width) for x, width in boxes]
    assert len(boxes) == 77
    assert all(0 < end - float(x) < 1 for end, (x, _) in zip(ends, boxes[1:], strict=False))


@pytest.mark.parametrize("size", [None, PictureSize.parse("600")])
def test_long_names_stay_different(size: PictureSize | None) -> None:
    """A picture without a size grows with its names. With a size, names share its room."""
    names = [
        f"provider/family-{model}-2026-11-{day}-{effort}-thinking"
        for model, effort in (("small", "high"), ("large", "low"))
        for day in range(10, 22)
    ]
    rows = [
        {"model": name, "metric": metric, "v": 0.5, "l": 0.4, "h": 0.6}
        for metric in ("pass@1", "pass@4", "pass^4") for name in names
    ]  # fmt: skip
    plot = forest(rows, label="model", value="v", low="l", high="h", facet="metric")
    root = ElementTree.fromstring(svg_document([plot], LIGHT, False, size))
    texts = {text for text in root.itertext() if "…" in text or text in names}
    assert len(texts) == len(names)
    usual = float(size.width if size else DEFAULT_PICTURE_SIZE.width)
    assert (float(root.get("width") or 0) > usual) == (size is None)


def test_neighbouring_panels_have_round_ticks() -> None:
    rows = [
        {"model": f"a-rather-long-name-of-a-model-{i}", "metric": metric, "v": (low + high) / 2,
         "l": low, "h": high}
        for metric, low, high in (("x", 0.73, 0.98), ("y", 0.08, 0.55), ("z", 0.4, 0.8))
        for i in range(4)
    ]  # fmt: skip
    plot = forest(rows, label="model", value="v", low="l", high="h", facet="metric", rules=())
    words = ElementTree.fromstring(svg_document([plot], LIGHT, False)).itertext()
    ticks = [word for word in words if re.fullmatch(r"[01](\.\d\d?)?", word)]
    assert ticks == ["0.8", "0.9", "0.2", "0.4", "0.4", "0.5", "0.6", "0.7", "0.8"]


def test_the_name_of_a_panel_is_not_cut() -> None:
    long = "a-model-with-a-name " * 4
    rows = [{"t": t, "p": 0.5, "m": f"{long} − {suffix}"} for t in (0, 1) for suffix in ("x", "y")]
    svg = svg_document([curves(rows, x="t", y="p", facet="m")], LIGHT, False)
    assert {"− x", "− y"} <= {text[-3:] for text in ElementTree.fromstring(svg).itertext() if text}


def test_names_are_text_and_not_too_long() -> None:
    rows = [{"a": name, "v": 0.5, "l": 0.4, "h": 0.6} for name in ("<b>&", "long" * 75)]
    _, (panel,) = draw_legend_and_panels(
        forest(rows, label="a", value="v", low="l", high="h"), LIGHT, False, 300
    )
    texts = [text for text in ElementTree.fromstring(panel.element()).itertext() if text]
    assert "<b>&" in texts
    assert panel.width < 900
    assert "a: " + "long" * 75 in tooltips(forest(rows, label="a", value="v", low="l", high="h"))[1]
    assert text_width("wide 漢字", 10) > text_width("wide ab", 10)


def test_a_ranking_shows_places_numbers_and_letters_and_colours_only_the_leaders() -> None:
    plot = ranking_plot(models=4, leaders=2)
    for percent, number in ((False, "0.900"), (True, "90.0 %")):
        root = ElementTree.fromstring(svg_document([plot], LIGHT, percent))
        texts = [text for text in root.itertext() if text.strip()]
        assert all(text in texts for text in ("1", "4", "model-0", "model-3", number, "a", "b"))
    paints = re.findall(r'stroke="(#\w+)" stroke-width', svg_document([plot], LIGHT, False))
    assert len(set(paints[:2])) == 2
    assert {*paints[:2]} <= {*LIGHT.series}
    assert len({*paints[2:]}) == 1
    assert not {*paints[2:]} & {*LIGHT.series}


def test_names_of_points_do_not_overlap_and_stay_inside() -> None:
    rng = np.random.default_rng(5)
    for count in (1, 3, 9, 25):
        points = [(float(x), float(y)) for x, y in rng.uniform(5, 195, (count, 2))]
        widths = [float(width) for width in rng.uniform(20, 80, count)]
        names = place_names(points, widths, 7.0, (0, 0, 200, 200), [(90, 0, 91, 200)])
        boxes = [name.box for name in names]
        assert len(names) >= 0.6 * count
        assert all(left >= 0 and right <= 200 for left, _, right, _ in boxes)
        assert all(top >= 0 and bottom <= 200 for _, top, _, bottom in boxes)
        for a, b in itertools.combinations(boxes, 2):
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        assert [name.point for name in names] == [points[name.point_index] for name in names]
