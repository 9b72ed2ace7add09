"""The pictures of README and docs, light and dark: `python -m docs.renew --figures`.

Charts of commands are what the commands draw of `sample_data`; the others show the rows of
`benchmarks/` in the colours of passk's own charts.
"""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import passk_cli
from passk_cli.charts.theme import FONT, THEMES, Theme

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
SAMPLES = ROOT / "sample_data"
GALLERY = ROOT / "docs" / "gallery"
# The picture of a page, which a browser draws.
PAGE = "report"


def draw(names: Iterable[str] = (), folder: Path = IMAGES) -> None:
    """Write every picture, or those named, into a folder."""
    for name in names or (*COMMANDS, *BENCHMARKS, PAGE):
        if name == PAGE:
            _page(folder)
        elif name in COMMANDS:
            findings = COMMANDS[name]()
            for theme in THEMES:
                findings.save(folder / f"{name}-{theme}.svg", theme=theme)
        else:
            for theme, colours in THEMES.items():
                _write(folder / f"{name}-{theme}.svg", BENCHMARKS[name](colours))


def _crux(**more: Any) -> dict[str, Any]:
    return {"data": SAMPLES / "cruxeval.jsonl.gz", **more}


# Name of the picture → the findings that are drawn.
COMMANDS: dict[str, Callable[[], passk_cli.Findings]] = {
    "leaderboard": lambda: passk_cli.compare(
        **_crux(fields={"model": "model,temperature"}, metrics="pass@10")
    ),
    "gallery-cruxeval": lambda: passk_cli.compare(GALLERY / "cruxeval.csv.gz", metrics="pass@1"),
    "gallery-tau": lambda: passk_cli.plan(SAMPLES / "tau_airline.csv", metrics="pass^4"),
    "gallery-chi": lambda: passk_cli.compare(
        GALLERY / "chi-bench.csv", missing="fail", metrics="pass@1"
    ),
    "gallery-evalplus": lambda: passk_cli.compare(
        SAMPLES / "evalplus.csv.gz", fields={"truth": "label"}, metrics="pass@1"
    ),
    "curve": lambda: passk_cli.curve(
        **_crux(where="temperature > 0.5", models=["gpt-4-0613", "codellama-7b"])
    ),
    "compare": lambda: passk_cli.compare(
        **_crux(where="temperature > 0.5", metrics="pass@10"),
    ),
    "bootstrap": lambda: passk_cli.bootstrap(
        SAMPLES / "tau_airline.csv", k=[1, 2], interval=["guard", "percentile", "bca", "t"]
    ),
    "cost": lambda: passk_cli.cost(SAMPLES / "costs.csv", at=1),
    "trend": lambda: passk_cli.trend(SAMPLES / "nights.parquet"),
    "order": lambda: passk_cli.order(
        **_crux(where="temperature < 0.5", models=["codellama-7b"], k=[1, 4])
    ),
    "tasks": lambda: passk_cli.tasks(**_crux(where="temperature < 0.5", matrix=True)),
    "diversity": lambda: passk_cli.diversity(
        **_crux(by="temperature", models=["codellama-7b"], k=[5, 10])
    ),
    "temperature": lambda: passk_cli.temperature(
        **_crux(models=["codellama-7b", "deepseek-base-6.7b"], metrics="pass@1,pass@10")
    ),
    "horizon": lambda: passk_cli.horizon(
        SAMPLES / "cyber.csv.gz", cluster="family", models=["Opus 4.6", "o3", "GPT-4o"]
    ),
    "extrapolate": lambda: passk_cli.extrapolate(
        SAMPLES / "counts.csv", to=[100, 1000], target=0.5
    ),
    "plan": lambda: passk_cli.plan(
        mean=0.6, spread=0.3, metrics="pass@1,pass@10", tasks=[200, 800], attempts=[1, 10]
    ),
}


def _page(folder: Path) -> None:
    """The top of a page of `passk report` as a browser shows it, and its words beside it.

    A test compares the words, as a browser draws other pixels on every machine.  Nothing is written
    where there is no browser.
    """
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print("no picture of the page: chromium is not installed")
        return
    html = page()
    (folder / f"{PAGE}.txt").write_text(top(html))
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "page.html"
        file.write_text(html)
        # The numbers by which Chromium names the themes that a reader prefers.
        for theme, number in {"light": 1, "dark": 0}.items():
            picture = folder / f"{PAGE}-{theme}.png"
            subprocess.run(
                [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                 f"--blink-settings=preferredColorScheme={number}", "--window-size=1000,1150",
                 f"--screenshot={picture}", file.as_uri()],
                check=True, capture_output=True, timeout=120,
            )  # fmt: skip


def page() -> str:
    """The page whose top is shown, as HTML."""
    # A part of the tasks, for speed: the page computes all that the data give.
    kept = "temperature > 0.5 and task_id like 'sample_1%'"
    findings = passk_cli.report(**_crux(where=kept, metrics="pass@1,pass^10"))
    with tempfile.TemporaryDirectory() as scratch:
        findings.save(Path(scratch) / "page.html")
        return (Path(scratch) / "page.html").read_text()


def top(html: str) -> str:
    """The words of a page up to the end of its first section, a text on each line."""
    words = html[html.index("<body") : html.index("</section>")]
    words = re.sub(r"<(script|style)\b.*?</\1>|<[^>]+>", "\n", words, flags=re.DOTALL)
    return re.sub(r"\s*\n\s*", "\n", words).strip() + "\n"


def _rows(name: str) -> list[dict[str, str]]:
    with (ROOT / "benchmarks" / "rows" / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def _coverage(theme: Theme) -> dict[str, Any]:
    """Coverage of each interval in each simulated situation."""
    names = ("guard", "percentile", "bca", "t")
    values = [{"method": name, "value": float(row[name])}
              for row in _rows("coverage-grid") for name in names]  # fmt: skip
    return _strips(values, names, 95, (0, 100), theme,
                   "How often 95 % intervals hold the true value",
                   "90 simulated situations, a mark each · new tasks", "coverage, %")  # fmt: skip


def _these(theme: Theme) -> dict[str, Any]:
    """The same for these tasks."""
    rows = [*_rows("coverage-these"), *_rows("coverage-these-unseen")]
    names = ("hull", "jackknife")
    values = [{"method": name, "value": _percent(row[name])} for row in rows for name in names]
    values = [value for value in values if value["value"] is not None]
    return _strips(values, names, 95, (0, 100), theme,
                   "The same when the tasks stay and only attempts are made again",
                   "72 simulated situations; the jackknife has no interval in 24 of them",
                   "coverage, %")  # fmt: skip


def _sizes(theme: Theme) -> dict[str, Any]:
    """False alarms of each test, where two equal models make different numbers of attempts."""
    columns = {"sign flip (before) rejects %": "sign flip", "paired t": "paired t",
               "interval test": "interval"}  # fmt: skip
    rows = [*_rows("comparison-unequal"), *_rows("comparison-held-out")]
    values = [{"method": name, "value": float(row[column])}
              for row in rows for column, name in columns.items()]  # fmt: skip
    return _strips(values, tuple(columns.values()), 5, (0, 100), theme,
                   "False alarms of tests at 5 % when attempts differ in number",
                   "86 simulated pairs of equal models, a mark each", "rejections, %")  # fmt: skip


def _percent(text: str) -> float | None:
    try:
        return float(text.split()[0])
    except (ValueError, IndexError):
        return None


def _strips(
    values: list[dict[str, Any]],
    names: tuple[str, ...],
    nominal: float,
    limits: tuple[float, float],
    theme: Theme,
    title: str,
    subtitle: str,
    axis: str,
) -> dict[str, Any]:
    """A row of marks for each method, and a line where all should be."""
    scale = {"domain": list(limits), "nice": False}
    y = {"field": "method", "type": "nominal", "sort": list(names), "title": None,
         "axis": {"ticks": False, "domain": False, "labelPadding": 8}}  # fmt: skip
    marks = {
        "mark": {"type": "tick", "thickness": 1.4, "opacity": 0.6, "color": theme.series[0]},
        "encoding": {
            "x": {"field": "value", "type": "quantitative", "scale": scale, "title": axis},
            "y": y,
        },
    }
    line = {
        "data": {"values": [{"nominal": nominal}]},
        "mark": {"type": "rule", "color": theme.series[1], "size": 1.5},
        "encoding": {"x": {"field": "nominal", "type": "quantitative"}},
    }
    return _spec(theme, title, subtitle,
                 {"data": {"values": values}, "layer": [marks, line], "width": 520,
                  "height": 28 * len(names)})  # fmt: skip


def _reading(theme: Theme) -> dict[str, Any]:
    """Seconds to read files of each size, beside other ways to read them."""
    tools = ("passk estimate", "bare DuckDB", "polars")
    values = []
    for row in _speed():
        duckdb, passk = (float(row[f"{tool} s (CPU)"].split()[0]) for tool in ("DuckDB", "passk"))
        polars = duckdb * float(row["polars ×"].split()[0])
        for tool, seconds in zip(tools, (passk, duckdb, polars), strict=True):
            values.append({"file": row["file"], "tool": tool, "seconds": seconds})
    files = list(dict.fromkeys(value["file"] for value in values))
    panel = {
        "width": 380, "height": 210,
        "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
        "encoding": {
            "x": {"field": "seconds", "type": "quantitative", "title": "seconds",
                  "scale": {"domainMin": 0}},
            "y": {"field": "file", "type": "nominal", "sort": files, "title": None,
                  "axis": {"ticks": False, "labelPadding": 8}},
            "color": {"field": "tool", "type": "nominal", "sort": list(tools), "title": None,
                      "scale": {"domain": list(tools), "range": list(theme.series[:3])},
                      "legend": {"orient": "bottom"}},
            "shape": {"field": "tool", "type": "nominal", "sort": list(tools), "title": None,
                      "scale": {"domain": list(tools)}},
        },
    }  # fmt: skip
    return _spec(theme, "Reading results, beside other ways to read them",
                 "whole processes, medians of 3 on two cores",
                 {"data": {"values": values}, **panel})  # fmt: skip


def _speed() -> list[dict[str, str]]:
    """The rows of the first table in the measured part of benchmarks/speed.md."""
    part = (ROOT / "benchmarks" / "speed.md").read_text().split("<!-- speed -->")[1]
    lines = [line.strip("| ").split(" | ") for line in part.split("\n\n")[1].splitlines()]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]


def _spec(theme: Theme, title: str, subtitle: str, body: dict[str, Any]) -> dict[str, Any]:
    """A specification of Vega-Lite in the colours and letters of passk's charts."""
    axis = {"labelColor": theme.faint, "titleColor": theme.text, "gridColor": theme.grid,
            "domainColor": theme.faint, "tickColor": theme.faint, "titleFontWeight": "normal",
            "labelLimit": 260}  # fmt: skip
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": theme.paper,
        "padding": 12,
        "title": {"text": title, "subtitle": subtitle, "anchor": "start", "frame": "group",
                  "color": theme.text, "subtitleColor": theme.faint, "offset": 12},
        "config": {"font": FONT, "axis": axis, "view": {"stroke": None},
                   "legend": {"labelColor": theme.text}},
        **body,
    }  # fmt: skip


def _write(path: Path, spec: dict[str, Any]) -> None:
    import vl_convert

    path.write_text(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))


BENCHMARKS: dict[str, Callable[[Theme], dict[str, Any]]] = {
    "coverage": _coverage,
    "coverage-these": _these,
    "sizes": _sizes,
    "reading": _reading,
}
