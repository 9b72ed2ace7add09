"""Vega-Lite specifications follow the rules of looks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from passk_cli.charts.vega import spec
from passk_cli.report.plot import Plot, Rule, curves, densities


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


def drawn(rows: list[dict[str, Any]], **more: Any) -> Plot:
    names = {
        "x": "k",
        "y": "value",
        "low": "low",
        "high": "high",
        "colour": "model",
        "dash": "kind",
    }
    return curves(rows, **{**names, **more})


def layers(plot: Plot) -> dict[str, Any]:
    body = spec(plot)
    return {layer["mark"]["style"]: layer for layer in body.get("spec", body)["layer"]}


def scale(plot: Plot, channel: str) -> dict[str, Any]:
    found: dict[str, Any] = layers(plot)["curve"]["encoding"][channel]["scale"]
    return found


@pytest.mark.parametrize("turned", [False, True])
def test_pass_at_k_is_dashed_and_pass_hat_k_solid_in_whatever_order(turned: bool) -> None:
    rows = k_rows()
    found = scale(drawn(rows[::-1] if turned else rows), "strokeDash")
    dashes = dict(zip(found["domain"], found["range"], strict=True))
    assert dashes == {"pass@k": [6, 4], "pass^k": [1, 0]}


def test_other_kinds_take_the_dashes_left() -> None:
    rows = [{"k": k, "value": 0.1, "kind": kind} for kind in "abc" for k in (1, 2)]
    rows += [{"k": k, "value": 0.1, "kind": "pass@k"} for k in (1, 2)]
    found = scale(curves(rows, x="k", y="value", dash="kind"), "strokeDash")["range"]
    assert found[:3] == [[1, 0], [2, 3], [10, 3, 2, 3]]
    assert found[3] == [6, 4]


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
    plot = drawn(k_rows(ks=ks), log_x=log)
    assert (scale(plot, "x").get("type") == "log") is expected


def test_ends_are_labelled_where_that_fits_else_there_is_a_legend() -> None:
    few, crowded, many = drawn(k_rows(2)), drawn(k_rows(6, gap=0.0)), drawn(k_rows(12))
    labels = layers(few)["label"]["data"]["values"]
    assert [label["text"] for label in labels] == ["m0", "m0", "m1", "m1"]
    assert layers(few)["curve"]["encoding"]["color"]["legend"] is None
    for plot in (crowded, many):
        assert "label" not in layers(plot)
        assert layers(plot)["curve"]["encoding"]["color"]["legend"] is not None


def test_labels_never_overlap() -> None:
    labels = layers(drawn(k_rows(5, gap=0.03)))["label"]["data"]["values"]
    places = sorted(label["at"] * 300 for label in labels)
    assert np.diff(places).min() >= 14 - 1e-9


def test_long_names_stand_below() -> None:
    rows = [row | {"model": row["model"] * 30} for row in k_rows(2)]
    legend = layers(drawn(rows))["curve"]["encoding"]["color"]["legend"]
    assert legend["orient"] == "bottom"


def test_every_line_carries_the_shape_of_its_series() -> None:
    plot = drawn(k_rows(9, ks=tuple(range(1, 41))))
    shapes = layers(plot)["marker"]["encoding"]["shape"]["scale"]
    pairs = [(i % 7, shape) for i, shape in enumerate(shapes["range"])]
    assert len(set(pairs)) == 9
    marked = [v for v in spec(plot)["data"]["values"] if v.get("marked")]
    assert {(v["series"], v["kind"]) for v in marked} == {
        (f"m{m}", kind) for m in range(9) for kind in ("pass@k", "pass^k")
    }
    assert len(marked) <= 13 * 18


def test_undefined_values_break_the_line_and_what_stands_alone_is_a_point() -> None:
    values = [0.1, math.nan, 0.3, None, 0.5, 0.6]
    rows = [{"k": k, "value": v} for k, v in enumerate(values, 1)]
    found = spec(curves(rows, x="k", y="value"))["data"]["values"]
    assert [v["y"] for v in found if v["drawn"] == "line"] == [0.1, None, 0.3, None, 0.5, 0.6]
    assert [v["x"] for v in found if v["drawn"] == "point"] == [1, 3]


def test_what_is_not_positive_has_no_place_on_a_logarithmic_axis() -> None:
    rows = [{"k": k, "value": v} for k, v in enumerate((0.0, 0.1, 10.0, -1.0, 5.0, 0.0), 1)]
    plot = curves(rows, x="k", y="value", log_y=True, y_domain=None)
    values = spec(plot)["data"]["values"]
    heights = [v["y"] for v in values if v["drawn"] == "line"]
    assert heights == [None, 0.1, 10.0, None, 5.0, None]
    assert [v["x"] for v in values if v["drawn"] == "point"] == [5]
    low, high = scale(plot, "y")["domain"]
    assert 0 < low < 0.1 < 10 < high


def test_points_may_lack_what_lines_have() -> None:
    points = [{"k": 1, "value": 0.4, "model": "m0"}]
    plot = drawn(k_rows(1), points=points)
    assert "interval" not in layers(plot)
    assert {"x": 1, "y": 0.4, "series": "m0", "drawn": "point"} in spec(plot)["data"]["values"]
    tips = [tip["field"] for tip in layers(plot)["estimate"]["encoding"]["tooltip"]]
    assert tips == ["series", "x", "y"]


def test_points_of_the_lines_themselves_have_no_bars_over_their_bands() -> None:
    rows = k_rows(1)
    plot = drawn(rows, points=rows)
    assert "band" in layers(plot)
    assert "estimate" in layers(plot)
    assert "interval" not in layers(plot)


def test_rules_widen_the_axis_and_carry_their_words() -> None:
    plot = drawn(k_rows(), rules=[Rule(x=8, text="data end"), Rule(y=0.9, text="target")])
    assert scale(plot, "x")["domain"] == [1, 8]
    words = [la for la in spec(plot)["layer"] if la["mark"]["style"] == "word"]
    assert [la["data"]["values"][0]["text"] for la in words] == ["data end", "target"]


def test_subtitles_break_between_their_parts() -> None:
    plot = drawn(k_rows(), title="t", subtitle=" · ".join(["x" * 40, "y" * 40, "z" * 40]))
    assert spec(plot)["title"]["subtitle"] == ["x" * 40 + " · " + "y" * 40, "z" * 40]


def test_a_lone_series_is_named() -> None:
    assert spec(drawn(k_rows(1), title="t", subtitle="s"))["title"]["subtitle"] == ["m0 · s"]


def test_equal_draws_leave_the_point_alone() -> None:
    row = {"m": "a", "e": 1.0, "low": 1.0, "high": 1.0, "draws": np.ones(50)}
    plot = densities([row], label="m", draws="draws", value="e", low="low", high="high")
    assert [v["drawn"] for v in spec(plot)["data"]["values"]] == ["point"]


def test_heights_are_no_ticks() -> None:
    plot = curves([{"k": k, "value": 11.496 * k} for k in (1, 2)], x="k", y="value", y_domain=None)
    axes = {name: layers(plot)["curve"]["encoding"][name]["axis"] for name in "xy"}
    assert axes["x"]["values"] == [1, 2]
    assert "values" not in axes["y"]


def test_outlines_stand_on_their_rows_and_hold_no_draws() -> None:
    draws = np.random.default_rng(0).normal(0.5, 0.1, (2, 500))
    rows = [
        {"m": m, "e": 0.5, "low": 0.4, "high": 0.6, "draws": d}
        for m, d in zip("ab", draws, strict=True)
    ]
    plot = densities(rows, label="m", draws="draws", value="e", low="low", high="high")
    values = spec(plot)["data"]["values"]
    area = [v for v in values if v["drawn"] == "area"]
    assert (len(values), len(area)) == (2 + 2 * 97, 2 * 97)
    assert max(v["top"] - v["row"] for v in area) == pytest.approx(0.85)
    assert not any("draws" in v for v in values)
