"""Pictures on paper: their size, their letters, and that no words touch or leave them."""

from __future__ import annotations

import re
import struct
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest

from passk_cli.charts import picture
from passk_cli.charts.chart_options import Appearance, PictureSize, plots_with_appearance
from passk_cli.charts.picture import picture_bytes
from passk_cli.charts.svg import svg_document as drawn
from passk_cli.charts.text_metrics import text_width
from passk_cli.charts.theme import THEMES
from passk_cli.errors import ParameterError
from passk_cli.report.data_types import Report
from passk_cli.report.phrases import SeriesName
from passk_cli.report.plot import Plot, ReferenceLine, bars, curves, densities, forest, heat
from tests.charts.plots import PLOTS

LIGHT = THEMES["light"]
TITLE = "model-0 is highest: pass@1 0.698 [0.667, 0.729], pass^10 0.654 [0.620, 0.687]; 3 more tie."
NAMES = ["gpt-4-0613", "deepseek-coder-6.7b-base", "phi-2", "claude-3-opus-20240229"]
NAMES += [f"model-{place:02d}-instruct" for place in range(21)]


def plots(models: int) -> dict[str, Plot]:
    """Plots of every kind for that many models, with realistic names."""
    names = [SeriesName((name,)) for name in NAMES[:models]]
    points = [
        {"model": name, "metric": metric, "x": mean, "low": mean - 0.06, "high": mean + 0.05,
         "draws": mean + 0.03 * np.sin(np.arange(500.0) ** 2)}
        for metric in ("pass@1", "pass@10", "pass^10")
        for place, name in enumerate(names)
        for mean in [0.9 - 0.7 * place / models]
    ]  # fmt: skip
    lines = [
        {"model": name, "kind": kind, "k": k, "y": y, "low": y * 0.9, "high": y**0.9}
        for place, name in enumerate(names)
        for kind in ("pass@k", "pass^k")
        for k in (1, 10, 100, 1000)
        for p in [0.9 - 0.7 * place / models]
        for y in [p**k**0.3 if kind == "pass^k" else 1 - (1 - p) ** k**0.3]
    ]
    pairs = [
        {"pair": f"{a} − {b}", "head": a, "tail": str(b), "metric": metric, "x": 0.1,
         "low": -0.1, "high": 0.2, "filled": False}
        for metric in ("pass@1", "pass@10", "pass^10")
        for a, b in list(combinations(names, 2))[:28]
    ]  # fmt: skip
    limits = {"low": "low", "high": "high", "title": TITLE, "subtitle": "800 tasks · 95 % guard"}
    examples = {
        "curves": curves(lines, x="k", y="y", colour="model", dash="kind", x_title="k", **limits,
                         y_title="pass@k and pass^k", marked=[1, 10, 100, 1000],
                         rules=[ReferenceLine(x=100, text="attempts made"),
                                ReferenceLine(y=0.5, text="target")]),
        "panels": curves(lines, x="k", y="y", colour="model", facet="kind", x_title="k", **limits),
        "forest": forest(points, label="model", value="x", facet="metric", rules=(), **limits),
        "densities": densities(points, draws="draws", label="model", value="x", facet="metric",
                               **limits),
        "bars": bars([{"model": name, "tasks": 10**place % 9973} for place, name in
                      enumerate(names)], label="model", value="tasks", x_title="tasks"),
        "heat": heat([{**point, "words": f"task-{t}", "from": t, "to": t + 1} for point in points
                      for t in range(12)], label="model", low="from", high="to", value="x",
                     words="words", title=TITLE, x_title="tasks"),
    }  # fmt: skip
    if pairs:
        examples["pairs"] = forest(pairs, label="pair", value="x", facet="metric", head="head",
                                tail="tail", filled="filled", x_title="difference",
                                **limits)  # fmt: skip
    return examples


Box = tuple[float, float, float, float, str]


def boxes(svg: str) -> list[Box]:
    """Left, right, top and bottom of each upright text, and the text."""
    texts: list[Box] = []

    def visit(node: ElementTree.Element, x: float, y: float, style: dict[str, str]) -> None:
        style = style | node.attrib
        if "rotate" in node.get("transform", ""):
            return
        if moved := re.match(r"translate\((\S+) (\S+)\)", node.get("transform", "")):
            x, y = x + float(moved[1]), y + float(moved[2])
        if node.tag.endswith("text"):
            text, size = "".join(node.itertext()), float(style["font-size"])
            wide = text_width(text, size, style.get("font-weight") == "bold")
            start = x + float(node.get("x", 0))
            start -= {"end": wide, "middle": wide / 2}.get(style.get("text-anchor", ""), 0)
            base = y + float(node.get("y", 0))
            texts.append((start, start + wide, base - 0.72 * size, base + 0.1 * size, text))
        for child in node:
            visit(child, x, y, {k: v for k, v in style.items() if k not in ("x", "y")})

    visit(ElementTree.fromstring(svg), 0.0, 0.0, {})
    return texts


@pytest.mark.parametrize("models", [1, 4, 8, 25])
def test_words_never_touch_or_leave_a_picture_of_half_a_page(models: int) -> None:
    for kind, plot in plots(models).items():
        svg = drawn(
            plots_with_appearance([plot], Appearance()), LIGHT, False, PictureSize.parse("3.25in")
        )
        root = ElementTree.fromstring(svg)
        assert root.get("width") == "3.25in"
        width, height = map(float, root.get("viewBox", "").split()[2:])
        texts = boxes(svg)
        for start, right, top, bottom, text in texts:
            assert start >= -0.5, (kind, text)
            assert right <= width + 0.5, (kind, text)
            assert top >= 0, (kind, text)
            assert bottom <= height, (kind, text)
        for a, b in combinations(texts, 2):
            across = min(a[1], b[1]) - max(a[0], b[0])
            up = min(a[3], b[3]) - max(a[2], b[2])
            assert across < 1 or up < 0.5, (kind, a[4], b[4])
        sizes = [0.75 * float(size) for size in re.findall(r'font-size="([\d.]+)"', svg)]
        assert 7 <= min(sizes) <= max(sizes) <= 8, kind


@pytest.mark.parametrize("name", PLOTS)
def test_letters_have_seven_points_if_the_picture_is_half_a_page_wide(name: str) -> None:
    svg = drawn(plots_with_appearance([PLOTS[name]], Appearance()), LIGHT, False)
    width = float(ElementTree.fromstring(svg).get("viewBox", "").split()[2])
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)"', svg)]
    assert min(sizes) * 3.25 * 72 / width >= 7


def report(name: str) -> Report:
    return Report(make_plots=lambda: (PLOTS[name],))


@pytest.mark.parametrize(
    ("size", "points", "pixels"),
    [
        ("3.25in", (234, None), (975, None)),
        ("3.25inx2.5in", (234, 180), (975, 750)),
        ("8cm x 60mm", None, None),
        ("60x0", None, None),
        ("99999", None, None),
        ("3inx105", None, None),
        ("800x500", (600, 375), (800, 500)),
        ("6.5inx4", (468, 288), (1950, 1200)),
    ],
)
def test_the_size_includes_the_complete_picture(
    size: str, points: tuple[int, int | None] | None, pixels: tuple[int, int | None] | None
) -> None:
    if points is None or pixels is None:
        with pytest.raises(ParameterError, match="not a size that passk can draw"):
            PictureSize.parse(size)
        return
    for name in ("labels", "forest", "densities", "panels"):
        png = picture_bytes(report(name), ".png", size=PictureSize.parse(size))
        wide, high = struct.unpack(">II", png[16:24])
        assert (wide, high if pixels[1] else None) == pixels
    pdf = picture_bytes(report("labels"), ".pdf", size=PictureSize.parse(size))
    box = re.search(rb"/MediaBox *\[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert box is not None
    assert float(box[1]) == pytest.approx(points[0], abs=0.1)
    assert points[1] is None or float(box[2]) == pytest.approx(points[1], abs=0.1)
    # The fonts are in the file.
    assert b"/FontFile2" in pdf


@pytest.mark.parametrize("size", ["3.25inx0.8in", "0.5in", "40x40", "3.25inx1in"])
def test_a_size_without_room_is_refused(size: str) -> None:
    with pytest.raises(
        ParameterError, match=r"--chart-size: the chart needs .*more (height|width)"
    ):
        drawn([PLOTS["labels"]], LIGHT, False, PictureSize.parse(size))


def test_an_error_about_the_size_uses_its_unit() -> None:
    for size, words in (("8cmx2cm", r"[\d.]+cm more height"), ("20mm", "2mm more width")):
        with pytest.raises(ParameterError, match=words):
            drawn([plots(4)["forest"]], LIGHT, False, PictureSize.parse(size))


def test_names_appear_once_in_one_line_and_stay_different() -> None:
    names = [f"organisation-{i % 5}/agent-of-the-family-{i:06}" for i in range(25)]
    points = [{"model": SeriesName((name,)), "metric": metric, "x": 0.5, "low": 0.4, "high": 0.6}
              for metric in ("pass@1", "pass@5", "pass^5") for name in names]  # fmt: skip
    marks = {"value": "x", "low": "low", "high": "high", "label": "model", "facet": "metric"}
    svg = drawn(
        plots_with_appearance([forest(points, rules=(), **marks)], Appearance()), LIGHT, False
    )
    short_names = re.findall(r">([^<]*…[^<]*)</text>", svg)
    assert len(short_names) == len(set(short_names)) == 25
    # All intervals of a model are on one axis, under its name.
    lone = forest(points[::25], rules=(), subtitle="60 tasks", **marks)
    assert ([row["label"] for row in lone.rows], lone.has_roles("panel")) == (
        ["pass@1", "pass@5", "pass^5"], False,
    )  # fmt: skip
    assert lone.subtitle == f"{names[0]} · 60 tasks"


def test_axes_name_the_metric_without_a_title() -> None:
    svg = drawn(
        plots_with_appearance([plots(4)["curves"]], Appearance(has_title=False)), LIGHT, False
    )
    assert ">pass@k and pass^k<" in svg
    assert TITLE[:20] not in svg


def test_panels_of_settings_share_axes_and_colours() -> None:
    rows = [
        {"model": SeriesName((name, setting)), "k": k, "y": y * k**0.1}
        for name in ("a", "b") for setting, y in (("0.2", 0.1), ("0.8", 0.5)) for k in (1, 10)
    ]  # fmt: skip
    plot = curves(rows, x="k", y="y", colour="model", y_domain=None)
    plot = Plot(**{**vars(plot), "columns_that_split_models": ("temperature",)})
    [single], [parts] = (
        plots_with_appearance([plot], Appearance()),
        plots_with_appearance([plot], Appearance(panel_column="temperature")),
    )
    panels = [(row["panel"], str(row["series"])) for row in parts.rows[::2]]
    assert panels == [(f"temperature {t}", name) for t in ("0.2", "0.8") for name in "ab"]
    assert parts.hues == single.hues
    svg = drawn([single], LIGHT, False)
    # A model's settings are shades of its colour.
    assert len(set(re.findall(r'stroke="(#[^"]+)" stroke-width="1.4"', svg))) == 4
    svg = drawn([parts], LIGHT, False)
    assert len(set(re.findall(r'stroke="(#[^"]+)" stroke-width="1.4"', svg))) == 2
    with pytest.raises(ParameterError, match="by this column; --panel temperature"):
        plots_with_appearance([plot], Appearance(panel_column="suite"))


def test_a_line_without_a_model_is_in_every_panel() -> None:
    points = [{"model": SeriesName((name, setting)), "x": x, "y": 0.5}
              for name, x in (("a", 1.0), ("b", 2.0)) for setting in "pq"]  # fmt: skip
    frontier = [{"model": None, "x": x, "y": 0.5} for x in (1.0, 2.0)]
    title = "cost of an attempt (US dollars, log scale)"
    # The title appears once, in the middle, if panels are next to each other.
    plot = curves(frontier, x="x", y="y", colour="model", points=points, x_title=title)
    [parts] = plots_with_appearance(
        [Plot(**{**vars(plot), "columns_that_split_models": ("set",)})],
        Appearance(panel_column="set"),
    )
    svg = drawn([parts], LIGHT, False)
    # The frontier has a separate path in each panel.
    assert len(re.findall(r'stroke="#1b1f24" stroke-width="1.4"', svg)) == 2
    assert svg.count(f">{title}<") == 1


def _estimates(*models: str) -> Plot:
    rows = [
        {"model": SeriesName((model,)), "metric": metric, "unit": "share", "x": x, "low": x - 0.05,
         "high": x + 0.05}
        for model in models for metric, x in (("pass@1", 0.314), ("pass@10", 0.9))
    ]  # fmt: skip
    return forest(
        rows, label="model", value="x", low="low", high="high", facet="metric", unit="unit",
        rules=(),
    )  # fmt: skip


def test_panels_of_estimates_have_one_scale_and_numbers() -> None:
    [plot] = plots_with_appearance([_estimates("a", "b")], Appearance())
    svg = drawn([plot], LIGHT, False)
    ticks = re.findall(r">([01](?:\.\d)?)<", svg)
    assert ticks[: len(ticks) // 2] == ticks[len(ticks) // 2 :]
    assert (svg.count(">0.314<"), svg.count(">0.900<")) == (2, 2)
    # A small picture of several panels has no room for numbers.
    assert ">0.314<" not in drawn([plot], LIGHT, False, PictureSize(3.2, unit="in"))


def test_a_picture_needs_a_font_with_the_letters_of_the_models(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def picture_of(*models: str) -> bytes:
        plot = _estimates(*models)
        return picture_bytes(Report(make_plots=lambda: (plot,)), ".png")

    monkeypatch.setattr(picture, "_letter_png", lambda letter: b"")
    assert picture_of("gpt-5", "modèle").startswith(b"\x89PNG")
    with pytest.raises(ParameterError, match=r"no font on this machine contains 模 型.*fonts-noto"):
        picture_of("模型")
    monkeypatch.setattr(picture, "_letter_png", str.encode)
    assert picture_of("模型").startswith(b"\x89PNG")
