"""Plots: their numbers are the report's, as plain values under their roles."""

from __future__ import annotations

from typing import Any

import numpy as np

from passk_cli.commands.bootstrap.view import BootstrapRunner
from passk_cli.commands.compare.view import CompareRunner
from passk_cli.files.load import load
from passk_cli.files.request import Request
from passk_cli.metrics.registry import parse_metric_list
from passk_cli.report.data_types import Report
from passk_cli.report.plot import ReferenceLine, curves, forest
from passk_cli.study.analysis import Analysis
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import MetricOptions
from passk_cli.study.significance_options import ComparisonOptions
from tests.conftest import SAMPLES

CRUX = [str(SAMPLES / "cruxeval.jsonl.gz")]


def records(report: Report) -> list[dict[str, Any]]:
    names = [column.header for column in report.data_table.columns]
    return [dict(zip(names, row, strict=True)) for row in report.data_table.rows]


def test_a_forest_shows_the_differences_of_the_report() -> None:
    counts = load(CRUX, Request(by=("temperature",)))
    metrics = MetricOptions(k=(1, 10)).choose(counts)
    confidence = Confidence(resamples=200).for_differences()
    report = CompareRunner().report(
        Analysis(counts, metrics, confidence, ComparisonOptions(margin=0.02))
    )
    (plot,) = report.plots
    points = plot.rows
    assert len(points) == len(report.data_table.rows) == 36
    for point, row in zip(points, records(report), strict=True):
        assert point["label"] == f"{row['model']} − {row['against']} · {row['temperature']}"
        assert point["panel"] == row["metric"]
        assert (point["x"], point["low"], point["high"]) == (
            row["estimate"], row["low"], row["high"],
        )  # fmt: skip
        assert point["filled"] == (row["verdict"] in ("better", "worse"))
    assert [rule.x for rule in plot.reference_lines] == [0.0, -0.02, 0.02]


def test_densities_show_estimates_and_intervals() -> None:
    counts = load(CRUX, Request(by=("temperature",)))
    metrics = MetricOptions(k=(1,)).choose(counts)
    study = Analysis(counts, metrics, Confidence(resamples=2000))
    report = BootstrapRunner(("percentile", "guard")).report(study)
    (plot,) = report.plots
    points = plot.rows
    rows = [r for r in records(report) if r["interval"] == "percentile"]
    expected = {
        (f"{r['model']} {r['temperature']}", r["metric"]): (r["estimate"], r["low"], r["high"])
        for r in rows
    }
    assert {(p["label"], p["panel"]): (p["x"], p["low"], p["high"]) for p in points} == expected
    assert [p["x"] for p in points] == sorted((p["x"] for p in points), reverse=True)
    assert all(len(point["draws"]) == study.confidence.resamples for point in points)
    assert {point["within"] for point in points} == {(0.0, 1.0)}


def test_a_report_without_values_has_no_chart() -> None:
    counts = load([str(SAMPLES / "tau_airline.csv")], Request())
    report = BootstrapRunner().report(Analysis(counts, parse_metric_list("pass@9")))
    assert report.plots == ()


def test_numpy_values_become_plain_and_names_printable() -> None:
    row = {"p": "a\x1b[31m", "d": np.float64(0.5), "low": np.float64(np.nan), "high": np.int64(1)}
    (point,) = forest([row], label="p", value="d", low="low", high="high").rows
    assert point == {"label": "a\\x1b[31m", "x": 0.5, "low": None, "high": 1}
    assert (type(point["x"]), type(point["high"])) == (float, int)


def test_every_text_is_printable() -> None:
    evil, escaped = "a\n\x1b[31m", "a\\n\\x1b[31m"
    rows = [{evil: k, "value": 0.5, "model": evil} for k in (1, 2)]
    plot = curves(
        rows, x=evil, y="value", colour="model", title=evil, subtitle=evil, x_title=evil,
        y_title=evil, rules=[ReferenceLine(x=1, text=evil)],
    )  # fmt: skip
    assert (plot.title, plot.subtitle) == (escaped, f"{escaped} · {escaped}")
    assert (plot.x_title, plot.y_title, plot.reference_lines[0].text) == (escaped,) * 3
    assert plot.rows[0] == {"series": escaped, "x": 1, "y": 0.5}
