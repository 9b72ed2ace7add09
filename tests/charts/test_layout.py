"""Tests of the places in a plot: dashes, labels, axes and points, in both directions."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from passk_cli.charts.chart_options import Appearance, plots_with_appearance
from passk_cli.charts.layout import CurveLayout, density_outlines, row_names_and_headings
from passk_cli.charts.svg import draw_legend_and_panels, svg_document
from passk_cli.charts.theme import THEMES
from passk_cli.report.phrases import SeriesName
from passk_cli.report.plot import Plot, ReferenceLine, curves, densities, forest

LOOK = THEMES["light"]


def k_rows(
    models: int = 2, ks: tuple[int, ...] = (1, 2, 4), gap: float = 0.2
) -> list[dict[str, Any]]:
    """Curves of pass@k and pass^k, the lines of each kind `gap` apart at their ends."""
    return [
        {
            "model": f"m{m}", "kind": kind, "k": k, "value": value,
            "low": value - 0.01, "high": value + 0.01,
        }
        for m in range(models)
        for kind, side in (("pass^k", -1), ("pass@k", 1))
        for k in ks
        for value in [0.5 + side * (0.02 + gap * m) * math.log(k + 1) / math.log(ks[-1] + 1)]
    ]  # fmt: skip


def curve_plot(rows: list[dict[str, Any]], **more: Any) -> Plot:
    names = {
        "x": "k", "y": "value", "low": "low", "high": "high", "colour": "model", "dash": "kind",
    }  # fmt: skip
    return curves(rows, **{**names, **more})


@pytest.mark.parametrize("turned", [False, True])
def test_pass_at_k_is_solid_and_pass_hat_k_dashed_in_any_order(turned: bool) -> None:
    rows = k_rows()
    dashes = CurveLayout.from_plot(curve_plot(rows[::-1] if turned else rows)).dashes
    assert dashes == {"pass@k": (1, 0), "pass^k": (6, 4)}


def test_other_kinds_use_the_remaining_dashes() -> None:
    rows = [{"k": k, "value": 0.1, "kind": kind} for kind in "abc" for k in (1, 2)]
    rows += [{"k": k, "value": 0.1, "kind": "pass@k"} for k in (1, 2)]
    dashes = CurveLayout.from_plot(curves(rows, x="k", y="value", dash="kind")).dashes
    assert list(dashes.values()) == [(6, 4), (2, 3), (10, 3, 2, 3), (1, 0)]


@pytest.mark.parametrize(
    ("ks", "log", "expected"),
    [
        ((1, 99), None, False), ((1, 100), None, True), ((1, 9), True, True),
        ((1, 999), False, False),
    ],
)  # fmt: skip
def test_two_decades_make_the_axis_logarithmic(
    ks: tuple[int, ...], log: bool | None, expected: bool
) -> None:
    assert CurveLayout.from_plot(curve_plot(k_rows(ks=ks), log_x=log)).x_axis.log is expected


def test_ends_are_labelled_if_labels_fit_and_have_a_legend_otherwise() -> None:
    few, crowded, many = (
        curve_plot(k_rows(2)),
        curve_plot(k_rows(6, gap=0.0)),
        curve_plot(k_rows(12)),
    )
    assert [label["text"] for label in CurveLayout.from_plot(few).line_end_labels] == ["m0", "m1"]
    for plot in (crowded, many):
        assert CurveLayout.from_plot(plot, 5).line_end_labels == []
    legend = "".join(item.elements for item in draw_legend_and_panels(many, LOOK, False, 120)[0])
    assert ">m5<" in legend
    assert ">m1<" not in "".join(
        item.elements for item in draw_legend_and_panels(few, LOOK, False, 300)[0]
    )


def test_labels_never_overlap() -> None:
    labels = CurveLayout.from_plot(curve_plot(k_rows(10, gap=0.03)), 20).line_end_labels
    places = sorted(label["at"] for label in labels)
    assert len(labels) == 10
    assert np.diff(places).min() >= 1 / 20 - 1e-9


def test_a_model_is_named_once_at_its_line_of_the_first_kind() -> None:
    plot = curve_plot(sorted(k_rows(8, gap=0.04), key=lambda row: row["kind"], reverse=True))
    labels = CurveLayout.from_plot(plot, 14).line_end_labels
    assert {label["kind"] for label in labels} == {"pass^k"}
    assert len(labels) == 8


def test_long_names_keep_the_part_that_differs() -> None:
    names = [
        SeriesName((f"organisation/model-3.1-{size}b-instruct-2026-01-final", heat))
        for size in (7, 70)
        for heat in ("0.2", "0.8")
    ]
    rows = [{"m": name, "k": k, "v": 0.1 + 0.2 * at, "l": 0, "h": 1} for at, name in
            enumerate(names) for k in (1, 2)]  # fmt: skip
    lines = CurveLayout.from_plot(curves(rows, x="k", y="v", colour="m"), most=18)
    short = [f"…{size}b-instruct… {heat}" for size in (7, 70) for heat in ("0.2", "0.8")]
    assert [label["text"] for label in lines.line_end_labels] == short
    trees = forest(rows, label="m", value="v", low="l", high="h")
    shorter = [f"…{size}b… {heat}" for size in (7, 70) for heat in ("0.2", "0.8")]
    assert [text for _, text in row_names_and_headings(trees, 18, len)] == shorter


def test_undefined_values_break_the_line_and_isolated_values_are_points() -> None:
    values = [0.1, math.nan, 0.3, None, 0.5, 0.6]
    rows = [{"k": k, "value": v} for k, v in enumerate(values, 1)]
    plot = curves(rows, x="k", y="value")
    assert [row["y"] for row in plot.rows] == [0.1, None, 0.3, None, 0.5, 0.6]
    assert [row["x"] for row in CurveLayout.from_plot(plot).points] == [1, 3]


def test_values_that_are_not_positive_are_left_out_of_a_logarithmic_axis() -> None:
    rows = [{"k": k, "value": v} for k, v in enumerate((0.0, 0.1, 10.0, -1.0, 5.0, 0.0), 1)]
    plot = curves(rows, x="k", y="value", log_y=True, y_domain=None)
    assert [row["y"] for row in plot.rows] == [None, 0.1, 10.0, None, 5.0, None]
    lines = CurveLayout.from_plot(plot)
    assert [row["x"] for row in lines.points] == [5]
    assert 0 < lines.y_axis.low < 0.1 < 10 < lines.y_axis.high


def test_points_can_lack_columns_of_lines() -> None:
    plot = curve_plot(k_rows(1), points=[{"k": 1, "value": 0.4, "model": "m0"}])
    assert list(CurveLayout.from_plot(plot).points) == [{"x": 1, "y": 0.4, "series": "m0"}]
    assert 'stroke-width="1.7"' not in svg_document([plot], LOOK, False)


def test_points_on_lines_have_no_bars_over_the_bands() -> None:
    plot = curve_plot(k_rows(1), marked=[1, 4])
    assert {row["x"] for row in plot.points} == {1, 4}
    svg = svg_document([plot], LOOK, False)
    assert "fill-opacity" in svg
    assert 'stroke-width="1.7"' not in svg


def test_keys_explain_line_band_and_points() -> None:
    keys = {"points": "measured", "line": "prediction", "band": "its interval"}
    items, _ = draw_legend_and_panels(curve_plot(k_rows(1), dash="", keys=keys), LOOK, False, 300)
    words = [re.sub("<[^>]+>", "", item.elements) for item in items]
    assert words == list(keys.values())
    # A swatch is visible: it is not fainter than overlapping bands.
    assert 'fill-opacity="0.25"' in items[2].elements


def test_rules_widen_the_axis_and_show_their_labels() -> None:
    plot = curve_plot(
        k_rows(), rules=[ReferenceLine(x=8, text="data end"), ReferenceLine(y=0.9, text="target")]
    )
    across = CurveLayout.from_plot(plot).x_axis
    assert (across.low, across.high) == (1, 8)
    svg = svg_document([plot], LOOK, False)
    assert ">data end<" in svg
    assert ">target<" in svg


def test_subtitles_break_between_their_parts() -> None:
    plot = curve_plot(k_rows(), title="t", subtitle=" · ".join(["x" * 40, "y" * 40, "z" * 40]))
    words = re.findall(">([xyz ·]+)</text>", svg_document([plot], LOOK, False))
    assert words == ["x" * 40, "y" * 40, "z" * 40]


def test_a_lone_series_is_named() -> None:
    assert curve_plot(k_rows(1), title="t", subtitle="s").subtitle == "m0 · s"


def test_equal_draws_show_only_the_point() -> None:
    row = {"m": "a", "e": 1.0, "low": 1.0, "high": 1.0, "draws": np.ones(50)}
    plot = densities([row], label="m", draws="draws", value="e", low="low", high="high")
    assert density_outlines(plot) == {("a", None): []}


def test_outlines_are_of_one_height() -> None:
    draws = np.random.default_rng(0).normal(0.5, [[0.1], [0.02]], (2, 500))
    rows = [
        {"m": m, "e": 0.5, "low": 0.4, "high": 0.6, "draws": d}
        for m, d in zip("ab", draws, strict=True)
    ]
    plot = densities(rows, label="m", draws="draws", value="e", low="low", high="high")
    outlines = density_outlines(plot)
    assert [len(outline) for outline in outlines.values()] == [97, 97]
    # A wide interval is as visible behind its point as a narrow one.
    highest = [max(height for _, height in outline) for outline in outlines.values()]
    assert highest == pytest.approx([0.85, 0.85])


def test_a_rule_without_words_has_a_tick() -> None:
    rows = [{"x": x, "y": y} for x, y in ((1, 0.1), (1000, 0.9))]
    rules = [
        ReferenceLine(y=0.33),
        ReferenceLine(y=0.5, text="target"),
        ReferenceLine(x=394, text="5 points"),
    ]
    lines = CurveLayout.from_plot(curves(rows, x="x", y="y", rules=rules))
    assert (lines.y_axis.required_ticks, lines.x_axis.required_ticks) == ((0.33,), (394,))


def test_grey_models_keep_the_points_that_are_the_data() -> None:
    points = [{"model": f"m{i}", "x": i + 1, "y": i / 20} for i in range(12)]
    chart = curves(points, x="x", y="y", colour="model", points=points)
    assert len(plots_with_appearance([chart], Appearance())[0].points) == 5
    [scattered] = plots_with_appearance([replace(chart, is_scatter_plot=True)], Appearance())
    assert len(scattered.points) == 12
    assert all(scattered.leading_models and row["y"] is not None for row in scattered.points)


def test_points_of_the_data_are_visible_in_front_of_their_intervals() -> None:
    points = [{"model": f"m{i}", "x": i + 1, "y": 0.5, "l": 0.4, "h": 0.6} for i in range(3)]
    lines = [{"model": None, "x": x, "y": 0.5, "l": None, "h": None} for x in (1, 3)]
    chart = curves(lines, x="x", y="y", low="l", high="h", colour="model", points=points)
    widths = [
        [len(re.findall(f'stroke-width="{width}"', svg_document([plot], LOOK, False)))
         for width in (1.7, 0.8)]
        for plot in (chart, replace(chart, is_scatter_plot=True))
    ]  # fmt: skip
    assert widths == [[3, 0], [0, 3]]
