"""Chart specifications: their numbers are the report's, and they follow the rules of looks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passk_cli.commands.bootstrap.distribution import bootstrap_report
from passk_cli.commands.compare.report import compare_report
from passk_cli.files.reading import load
from passk_cli.files.tables import Request
from passk_cli.metrics.registry import parse_list
from passk_cli.report.charts import Rule, curves, densities, forest
from passk_cli.report.charts.axes import Axis, apart, fitted
from passk_cli.report.estimate import choose_metrics
from passk_cli.report.model import Chart, Report
from passk_cli.study.confidence import Confidence
from passk_cli.study.rules import Rules
from passk_cli.study.study import Study
from tests.conftest import SAMPLES

SHARES = st.floats(0, 1)
CRUX = [str(SAMPLES / "cruxeval.jsonl.gz")]


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


def drawn(rows: list[dict[str, Any]], **more: Any) -> Chart:
    names = {
        "x": "k",
        "y": "value",
        "low": "low",
        "high": "high",
        "colour": "model",
        "dash": "kind",
    }
    return curves(rows, **{**names, **more})


def layers(chart: Chart) -> dict[str, Any]:
    found = chart.spec.get("spec", chart.spec)["layer"]
    return {layer["mark"]["style"]: layer for layer in found}


def scale(chart: Chart, channel: str) -> dict[str, Any]:
    found: dict[str, Any] = layers(chart)["curve"]["encoding"][channel]["scale"]
    return found


def records(report: Report) -> list[dict[str, Any]]:
    names = [column.name for column in report.data.columns]
    return [dict(zip(names, row, strict=True)) for row in report.data.rows]


def test_a_forest_holds_the_differences_of_the_report() -> None:
    counts = load(CRUX, Request(by=("temperature",)))
    metrics = choose_metrics(counts, (1, 10))
    confidence = Confidence(resamples=200).for_differences()
    report = compare_report(Study(counts, metrics, confidence, Rules(margin=0.02)))
    (chart,) = report.drawn
    points = chart.spec["data"]["values"]
    assert len(points) == len(report.data.rows) == 36
    for point, row in zip(points, records(report), strict=True):
        assert point["label"] == f"{row['model']} − {row['against']} · {row['temperature']}"
        assert point["panel"] == row["metric"]
        assert (point["x"], point["low"], point["high"]) == (
            row["estimate"], row["low"], row["high"],
        )  # fmt: skip
        assert point["told"] == (row["verdict"] in ("better", "worse"))
    rules = [la for la in chart.spec["spec"]["layer"] if la["mark"]["style"] == "reference"]
    assert [la["data"]["values"][0]["x"] for la in rules] == [0.0, -0.02, 0.02]


def test_densities_hold_estimates_intervals_and_no_draws() -> None:
    counts = load(CRUX, Request(by=("temperature",)))
    metrics = choose_metrics(counts, (1,))
    study = Study(counts, metrics, Confidence(resamples=2000))
    report = bootstrap_report(study, ("percentile", "guard"))
    (chart,) = report.drawn
    values = chart.spec["data"]["values"]
    points = [v for v in values if v["drawn"] == "point"]
    rows = [r for r in records(report) if r["interval"] == "percentile"]
    expected = {
        (f"{r['model']} {r['temperature']}", r["metric"]): (r["estimate"], r["low"], r["high"])
        for r in rows
    }
    assert {(p["label"], p["panel"]): (p["x"], p["low"], p["high"]) for p in points} == expected
    assert [p["x"] for p in points] == sorted((p["x"] for p in points), reverse=True)
    area = [v for v in values if v["drawn"] == "area"]
    assert len(area) == 97 * len(points) < study.confidence.resamples
    assert max(v["top"] - v["row"] for v in area) == pytest.approx(0.85)


def test_no_value_no_chart() -> None:
    counts = load([str(SAMPLES / "tau_airline.csv")], Request())
    report = bootstrap_report(Study(counts, parse_list("pass@9")))
    assert report.drawn == ()


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
    chart = drawn(k_rows(ks=ks), log_x=log)
    assert (scale(chart, "x").get("type") == "log") is expected


def test_ends_are_labelled_where_that_fits_else_there_is_a_legend() -> None:
    few, crowded, many = drawn(k_rows(2)), drawn(k_rows(6, gap=0.0)), drawn(k_rows(12))
    labels = layers(few)["label"]["data"]["values"]
    assert [label["text"] for label in labels] == ["m0", "m0", "m1", "m1"]
    assert layers(few)["curve"]["encoding"]["color"]["legend"] is None
    for chart in (crowded, many):
        assert "label" not in layers(chart)
        assert layers(chart)["curve"]["encoding"]["color"]["legend"] is not None


def test_labels_never_overlap() -> None:
    labels = layers(drawn(k_rows(5, gap=0.03)))["label"]["data"]["values"]
    places = sorted(label["at"] * 300 for label in labels)
    assert np.diff(places).min() >= 14 - 1e-9


def test_long_names_stand_below() -> None:
    rows = [row | {"model": row["model"] * 30} for row in k_rows(2)]
    legend = layers(drawn(rows))["curve"]["encoding"]["color"]["legend"]
    assert legend["orient"] == "bottom"


def test_every_line_carries_the_shape_of_its_series() -> None:
    chart = drawn(k_rows(9, ks=tuple(range(1, 41))))
    shapes = layers(chart)["marker"]["encoding"]["shape"]["scale"]
    pairs = [(i % 7, shape) for i, shape in enumerate(shapes["range"])]
    assert len(set(pairs)) == 9
    marked = [v for v in chart.spec["data"]["values"] if v.get("marked")]
    assert {(v["series"], v["kind"]) for v in marked} == {
        (f"m{m}", kind) for m in range(9) for kind in ("pass@k", "pass^k")
    }
    assert len(marked) <= 13 * 18


def test_undefined_values_break_the_line_and_what_stands_alone_is_a_point() -> None:
    values = [0.1, math.nan, 0.3, None, 0.5, 0.6]
    rows = [{"k": k, "value": v} for k, v in enumerate(values, 1)]
    found = curves(rows, x="k", y="value").spec["data"]["values"]
    assert [v["y"] for v in found if v["drawn"] == "line"] == [0.1, None, 0.3, None, 0.5, 0.6]
    assert [v["x"] for v in found if v["drawn"] == "point"] == [1, 3]


def test_what_is_not_positive_has_no_place_on_a_logarithmic_axis() -> None:
    rows = [{"k": k, "value": v} for k, v in ((1, 0.0), (2, 0.1), (3, 10.0))]
    chart = curves(rows, x="k", y="value", log_y=True, y_domain=None)
    assert [v["y"] for v in chart.spec["data"]["values"]] == [None, 0.1, 10.0]
    low, high = scale(chart, "y")["domain"]
    assert 0 < low < 0.1 < 10 < high


def test_points_may_lack_what_lines_have() -> None:
    points = [{"k": 1, "value": 0.4, "model": "m0"}]
    chart = drawn(k_rows(1), points=points)
    assert "interval" not in layers(chart)
    assert {"x": 1, "y": 0.4, "series": "m0", "drawn": "point"} in chart.spec["data"]["values"]
    tips = [tip["field"] for tip in layers(chart)["estimate"]["encoding"]["tooltip"]]
    assert tips == ["series", "x", "y"]


def test_points_of_the_lines_themselves_have_no_bars_over_their_bands() -> None:
    rows = k_rows(1)
    chart = drawn(rows, points=rows)
    assert "band" in layers(chart)
    assert "estimate" in layers(chart)
    assert "interval" not in layers(chart)


def test_rules_widen_the_axis_and_carry_their_words() -> None:
    chart = drawn(k_rows(), rules=[Rule(x=8, text="data end"), Rule(y=0.9, text="target")])
    assert scale(chart, "x")["domain"] == [1, 8]
    words = [la for la in chart.spec["layer"] if la["mark"]["style"] == "word"]
    assert [la["data"]["values"][0]["text"] for la in words] == ["data end", "target"]


def test_numpy_values_become_plain_and_names_printable() -> None:
    row = {"p": "a\x1b[31m", "d": np.float64(0.5), "low": np.float64(np.nan), "high": np.int64(1)}
    (point,) = forest([row], label="p", value="d", low="low", high="high").spec["data"]["values"]
    assert point == {"label": "a\\x1b[31m", "x": 0.5, "low": None, "high": 1, "drawn": "point"}
    assert (type(point["x"]), type(point["high"])) == (float, int)


def test_subtitles_break_between_their_parts() -> None:
    chart = drawn(k_rows(), title="t", subtitle=" · ".join(["x" * 40, "y" * 40, "z" * 40]))
    assert chart.spec["title"]["subtitle"] == ["x" * 40 + " · " + "y" * 40, "z" * 40]


def test_a_lone_series_is_named() -> None:
    assert drawn(k_rows(1), title="t", subtitle="s").spec["title"]["subtitle"] == ["m0 · s"]


def test_equal_draws_leave_the_point_alone() -> None:
    row = {"m": "a", "e": 1.0, "low": 1.0, "high": 1.0, "draws": np.ones(50)}
    chart = densities([row], label="m", draws="draws", value="e", low="low", high="high")
    assert [v["drawn"] for v in chart.spec["data"]["values"]] == ["point"]


@given(st.lists(SHARES, min_size=1, max_size=20), st.floats(0.001, 0.1))
def test_apart_keeps_distance_and_order(places: list[float], least: float) -> None:
    moved = apart(places, least)
    order = np.argsort(places, kind="stable")
    assert np.all(np.diff(np.array(moved)[order]) >= least - 1e-9)
    assert sum(moved) == pytest.approx(sum(places), abs=1e-9)
    if len(places) > 1 and np.diff(np.sort(places)).min() >= least:
        assert moved == pytest.approx(places)


@given(st.lists(st.floats(0.01, 1e6), min_size=2, max_size=9), st.booleans(), st.floats(0, 0.1))
def test_an_axis_holds_its_values_and_its_ticks(
    values: list[float], log: bool, room: float
) -> None:
    axis = fitted(values, log=log, margin=room)
    for value in values:
        assert -1e-9 <= axis.place(value) <= 1 + 1e-9
        assert axis.at(axis.place(value)) == pytest.approx(value, rel=1e-6)
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks)
    gaps = np.diff([axis.place(tick) for tick in axis.ticks])
    assert len(axis.ticks) <= 12
    assert len(gaps) == 0 or gaps.min() >= 0.045


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([1, 2, 4, 8], (1, 2, 4, 8)),
        ([*range(1, 11), 100], (1, 2, 5, 10, 20, 50, 100)),
        ([1, 3, 10**9], (1, 3, 10**9)),
        ([*range(1, 20), 10**9], tuple(10**i for i in range(10))),
        ([1, 11.496243, 188.2169], (1, 2, 5, 10, 20, 50, 100)),
        ([0.5, 11.496243, 20], ()),
    ],
)
def test_ticks_are_the_values_or_round_ones(values: list[float], ticks: tuple[float, ...]) -> None:
    assert fitted(values, log=None, at_values=True).ticks == ticks


def test_room_is_not_made_below_zero() -> None:
    assert fitted([0.0, 0.5], zero=True, margin=0.1) == Axis(0.0, 0.55)


def test_heights_are_no_ticks() -> None:
    chart = curves([{"k": k, "value": 11.496 * k} for k in (1, 2)], x="k", y="value", y_domain=None)
    axes = {name: layers(chart)["curve"]["encoding"][name]["axis"] for name in "xy"}
    assert axes["x"]["values"] == [1, 2]
    assert "values" not in axes["y"]
