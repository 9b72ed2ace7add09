"""Plots of every kind."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from passk_cli.report.phrases import SeriesName
from passk_cli.report.plot import Plot, ReferenceLine, curves, densities, forest, ranking


def curve(models: int = 2, last: int = 10, **more: Any) -> Plot:
    rows = [
        {
            "model": f"model-{m}", "kind": kind, "k": k, "value": value,
            "low": max(0.0, value - 0.03), "high": min(1.0, value + 0.03),
        }
        for m in range(models)
        for kind in ("pass@k", "pass^k")
        for k in sorted({1, 2, 5, last // 2, last})
        for p in [0.2 + 0.6 * m / models]
        for value in [p**k**0.4 if kind == "pass^k" else 1 - (1 - p) ** k**0.4]
    ]  # fmt: skip
    names = {
        "x": "k",
        "y": "value",
        "low": "low",
        "high": "high",
        "colour": "model",
        "dash": "kind",
    }
    more = {"marked": (1, 5, last), **more}
    words = {"title": "pass@k and pass^k", "x_title": "k", "y_title": "share of tasks"}
    return curves(rows, **names, **words, **more)


def ranking_plot(models: int = 10, leaders: int = 3) -> Plot:
    rows = [
        {
            "model": SeriesName((f"model-{at}",)), "pass@1": 0.9 - 0.05 * at,
            "low": 0.85 - 0.05 * at, "high": 0.95 - 0.05 * at, "place": f"{at + 1}",
            "letters": "ab"[at >= leaders], "tied": at < leaders,
        }
        for at in range(models)
    ]  # fmt: skip
    names = {name: name for name in ("low", "high", "place", "letters", "tied")}
    return ranking(rows, label="model", value="pass@1", x_title="pass@1", **names)


def forest_plot() -> Plot:
    rows = [
        {"pair": f"model-{a} − model-{b}", "metric": metric, "difference": 0.1 * (b - a),
         "low": 0.1 * (b - a) - 0.12, "high": 0.1 * (b - a) + 0.12, "filled": b - a > 1}
        for metric in ("pass@1", "pass@10")
        for a, b in itertools.combinations(range(3), 2)
    ]  # fmt: skip
    return forest(
        rows, label="pair", value="difference", low="low", high="high", facet="metric",
        filled="filled", title="Differences", x_title="difference",
    )  # fmt: skip


def density_plot() -> Plot:
    rows = [
        {"model": f"model-{m}", "metric": "pass@1", "estimate": 0.3 + 0.2 * m,
         "low": 0.2 + 0.2 * m, "high": 0.4 + 0.2 * m,
         "draws": 0.3 + 0.2 * m + 0.05 * np.sin(np.arange(5000.0) ** 2)}
        for m in range(2)
    ]  # fmt: skip
    return densities(
        rows, label="model", draws="draws", value="estimate", low="low", high="high",
        facet="metric", title="Distributions",
    )  # fmt: skip


def points() -> Plot:
    rows = [{"k": k, "value": 1 - 0.8 / k**0.3} for k in (1, 10, 100, 1000)]
    limited = [row | {"low": row["value"] - 0.1, "high": row["value"] + 0.1} for row in rows[:2]]
    rules = [ReferenceLine(y=0.9, text="target"), ReferenceLine(x=10, text="data end")]
    return curves(
        [row | {"low": None, "high": None} for row in rows], points=limited, x="k", y="value",
        low="low", high="high", rules=rules, x_title="k",
    )  # fmt: skip


PLOTS = {
    "labels": curve(),
    "legend": curve(9, 200, rules=[
        ReferenceLine(y=0.5, text="half"), ReferenceLine(x=100, text="end")]),
    "lone": curve(1),
    "panels": curves(
        [{"t": t, "p": 0.5, "k": k, "m": m} for t in (0, 1) for k in (1, 10) for m in "ab"],
        x="t", y="p", colour="k", facet="m", marked=(0, 1), log_y=True, y_domain=None,
    ),
    "points": points(),
    "ranking": ranking_plot(), "forest": forest_plot(),
    "densities": density_plot(),
}  # fmt: skip
