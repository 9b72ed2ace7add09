"""Charts as the reader wants them: sizes, titles, bands, colours by name, no panel too full."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import passk_cli
from passk_cli.charts.chart_options import (
    MOST_MODELS,
    Appearance,
    assign_colour_and_shape_indices,
    plots_with_appearance,
)
from passk_cli.charts.svg import svg_document
from passk_cli.charts.theme import THEMES
from passk_cli.errors import ParameterError
from passk_cli.report.plot import ReferenceLine, curves, distinct_values, forest
from tests.charts.plots import curve, density_plot, forest_plot
from tests.conftest import SAMPLES, Passk

CRUX = SAMPLES / "cruxeval.jsonl.gz"
COLOURS = len(THEMES["light"].series)


def test_a_name_keeps_its_colour() -> None:
    names = [f"model-{i}" for i in range(COLOURS)]
    hues = assign_colour_and_shape_indices(names)
    assert sorted(hues.values()) == list(range(COLOURS))
    assert assign_colour_and_shape_indices(reversed(names)) == hues
    # Without other names, a name keeps its usual colour. With other names, it gets a free colour.
    first = {name: assign_colour_and_shape_indices([name])[name] for name in names}
    assert sum(hues[name] == first[name] for name in names) >= len(set(first.values()))
    more = assign_colour_and_shape_indices([*names, "another"])
    assert len(set(more.values())) == COLOURS + 1


def test_all_charts_of_a_call_agree() -> None:
    first, second = plots_with_appearance([curve(3), curve(2)], Appearance())
    assert first.hues == second.hues

    assert {
        s: first.hues[s] for s in distinct_values(second.rows, "series")
    }.items() <= first.hues.items()


@pytest.mark.parametrize("count", [MOST_MODELS, MOST_MODELS + 1, 25])
def test_the_best_five_of_many_lines_are_coloured(count: int) -> None:
    [plot] = plots_with_appearance([curve(count)], Appearance())
    coloured = 5 if count > MOST_MODELS else count
    svg = svg_document([plot], THEMES["light"], percent=False)
    strokes = re.findall(
        r'fill="none" stroke="([^"]+)" (?:stroke-opacity="0.5" )?stroke-width="(.*?)"', svg
    )
    # pass@k and pass^k have a panel each, in which grey lines are drawn below the coloured ones.
    lines = [width == "0.8" for paint, width in strokes if paint != THEMES["light"].grid]
    assert lines[-2 * count :] == 2 * ([True] * (count - coloured) + [False] * coloured)
    # Only models without a colour of their own are grey.
    paints = {paint for paint, width in strokes if width != "0.8"}
    assert THEMES["light"].faint not in paints
    assert svg.count(">other models<") == (count > MOST_MODELS)
    assert len(plot.rows) == len(curve(count).rows)
    best = [f"model-{i}" for i in range(count - coloured, count)]
    assert all(f">{name}<" in svg for name in best)


def test_the_same_models_are_coloured_in_every_chart() -> None:
    """Models in the answer are coloured, or else the highest models at the first k."""
    first = {f"model-{i}": i / 20 for i in range(12)}
    rows = [{"m": m, "k": k, "v": v if k == 1 else 0.6 - v, "l": 0, "h": 1}
            for m, v in first.items() for k in (1, 2)]  # fmt: skip
    lines = curves(rows, x="k", y="v", colour="m")
    points = forest(rows[::2], label="m", value="v", low="l", high="h", colour="m")
    best = tuple(first)[-5:]
    plots = [replace(plot, answer=answer) for plot in (lines, points)
             for answer in ((), (("model-1 gains most, model-10 least.",),))]  # fmt: skip
    leading = [set(plot.leading_models) for plot in plots_with_appearance(plots, Appearance())]
    assert leading == [{*best}, {"model-1", "model-10"}] * 2


def test_named_models_are_coloured() -> None:
    [plot] = plots_with_appearance([curve(4)], Appearance(highlight=("model-0",)))
    assert plot.leading_models == ("model-0",)
    assert {row["low"] is None for row in plot.rows if row["series"] != "model-0"} == {True}
    [several] = plots_with_appearance([curve(4)], Appearance(highlight=("model-[23]", "model-0")))
    assert sorted(several.leading_models) == ["model-0", "model-2", "model-3"]
    with pytest.raises(ParameterError, match="the chart has no such model"):
        plots_with_appearance([curve(4)], Appearance(highlight=("model-9",)))


def test_a_picture_has_a_text_for_screen_readers() -> None:
    [plot] = plots_with_appearance([replace(curve(2), title="a < b")], Appearance())
    svg = svg_document([plot], THEMES["light"], percent=False)
    assert "<title>a &lt; b</title><desc>share of tasks over k; model-0, model-1" in svg


def test_options_set_title_bands_and_size() -> None:
    look = Appearance(has_title=False, has_bands=False)
    [plot] = plots_with_appearance([curve(2)], look)
    assert (plot.title, plot.subtitle, plot.has_roles("low", "high")) == ("", "", False)
    svg = svg_document([plot], THEMES["light"], percent=False)
    assert "font-weight" not in svg
    assert "fill-opacity" not in svg
    for chart in (forest_plot(), density_plot()):
        [same] = plots_with_appearance([chart], Appearance(has_bands=False))
        assert same.rows == chart.rows


def test_one_call_writes_several_charts(passk: Passk, tmp_path: Path) -> None:
    command = ["estimate", CRUX, "-k", "1", "-q", "--by", "temperature"]
    svg, page = tmp_path / "x.svg", tmp_path / "x.html"
    result = passk(*command, "--chart", svg, "--chart", page)
    assert result.code == 0
    assert svg.read_text().startswith("<svg")
    assert page.read_text().count("estimate: ") == 8
    twice = passk(*command, "--chart", svg, "--chart", svg)
    assert (twice.code, "is the file of two outputs" in twice.err) == (2, True)


def test_scores_and_shares_are_drawn_in_separate_panels() -> None:
    rows = [{"task": t, "score": s} for t in "abc" for s in (0.5, 7.0, 2.0)]
    counts = passk_cli.read(rows, attempts="score", threshold=1)
    result = passk_cli.estimate(counts, "pass@1,best@2", bounds=(0, 10))
    plots = result.report.plots
    assert [(p.unit, distinct_values(p.rows, "panel")) for p in plots] == [
        ("share", ["pass@1"]), ("", ["best@2"]),
    ]  # fmt: skip


def test_curves_can_be_the_only_metrics(passk: Passk) -> None:
    base = ["curve", SAMPLES / "tau_airline.csv", "-q"]
    estimates = passk(*base, "-m", "Pass@k", "-f", "csv").out
    assert "pass@4" in estimates
    assert "pass^" not in estimates
    hat = passk(*base, "-m", "pass^k").out
    assert "pass@" not in hat.split("curves=")[0]
    at = passk(*base, "-k", "1,3", "-f", "csv").out.splitlines()
    assert sum("pass@3,3," in line for line in at) == 1
    assert not any("pass@2,2," in line for line in at)
    full = passk(*base, "-f", "csv").out.splitlines()
    assert {line for line in at if ",pass@3,3," in line} <= set(full)
    result = passk(*base, "-k", "1", "--max-k", "3")
    assert (result.code, "-k: this option already sets all k's\n" in result.err) == (2, True)
    result = passk(*base, "-k", "5")
    assert (result.code, "needs 5 attempts per task" in result.err) == (2, True)
    rates = passk("curve", "--rates", "x=0.2,0.8", "-m", "pass@k", "-k", "1,7", "-f", "csv").out
    assert "pass@7" in rates
    assert "pass^" not in rates


def long(size: str) -> str:
    return f"org-{size[-2:]}/Some-Very-Long-Model-Name-{size}-Instruct-2026-{size[-2:]}"


def test_a_model_has_one_short_name_in_all_pictures_and_their_words() -> None:
    sizes = ["Qwen3-Coder-10", "Llama-5-Maverick-22", "Gemma-4n-24", "DeepSeek-V4-11"]
    rows = [{"m": long(size), "k": k, "v": 0.5, "l": 0.4, "h": 0.6}
            for size in sizes for k in (1, 8)]  # fmt: skip
    change = ReferenceLine(x=8, text=f"+17.9 points at c0ffee7 · {long(sizes[3])}")
    lines = curves(rows[:4], x="k", y="v", colour="m", rules=[change])
    lines = replace(lines, title=f"{long(sizes[2])} leads.", all_models=tuple(map(long, sizes)))
    points = forest(rows[::2], label="m", value="v", low="l", high="h", colour="m",
                    title=f"Most for {long(sizes[1])}. 2 of 60 tasks passed.")  # fmt: skip
    names = [
        "…Very-Long-Model-Name-Qwen3-Coder…10",
        "…Long-Model-Name-Llama-5-Maverick…22",
        "…Some-Very-Long-Model-Name-Gemma-4n…24",
        "…Very-Long-Model-Name-DeepSeek-V4…11",
    ]
    first, second = plots_with_appearance([lines, points], Appearance())
    assert [first.short_names[long(size)] for size in sizes] == names
    assert (first.short_names, first.title) == (second.short_names, f"{names[2]} leads.")
    assert second.title == f"Most for {names[1]}. 2 of 60 tasks passed."
    svg = svg_document([first], THEMES["light"], False)
    # The size and revision come before the name, which has a separate line.
    assert all(f">{text}<" in svg for text in ("+17.9 points at c0ffee7", names[3], *names[:2]))
    rows_of_points = svg_document([second], THEMES["light"], False)
    assert all(f">{text}<" in rows_of_points for text in names)


def test_a_lone_model_is_named_once() -> None:
    rows = [{"m": "agent", "k": k, "v": 0.5} for k in (1, 8)]
    lines = curves(rows, x="k", y="v", colour="m", subtitle="60 tasks")
    titled = [replace(lines, title=title) for title in ("agent rose.", "agents rose.")]
    subtitles = [plot.subtitle for plot in plots_with_appearance(titled, Appearance())]
    assert subtitles == ["60 tasks", "agent · 60 tasks"]


@pytest.mark.parametrize(("models", "bands"), [(2, 4), (4, 4), (8, 6), (25, 6)])
def test_bands_of_many_lines_do_not_hide_each_other(models: int, bands: int) -> None:
    [plot] = plots_with_appearance([curve(models)], Appearance())
    svg = svg_document([plot], THEMES["light"], False)
    assert svg.count('fill-opacity="0.14"') == bands
    assert ("bands of 2 models" in plot.subtitle) == (models == 4)
    assert ("bands of 3 models" in plot.subtitle) == (models > 4)
    rows = [row for row in curve(8).rows if row["kind"] == "pass@k"]
    [plot] = plots_with_appearance([replace(curve(8), rows=tuple(rows))], Appearance())
    assert plot.series_with_bands == ("model-7", "model-6", "model-5")


def test_leaders_keep_their_colours_if_further_models_are_named() -> None:
    leaders = tuple(f"model-{i}" for i in range(20, 25))
    plots = [replace(curve(25), leading_models=leaders, answer=((f"model-{least} gains most.",),))
             for least in range(20)]  # fmt: skip
    hues = [plots_with_appearance([plot], Appearance())[0].hues for plot in plots]
    assert len({tuple(palette[name] for name in leaders) for palette in hues}) == 1
    # If there are few models, each one has its colour, even if some models are not drawn.
    few = replace(curve(2), all_models=tuple(f"model-{i}" for i in range(8)))
    assert (
        plots_with_appearance([few], Appearance())[0].hues
        == plots_with_appearance([curve(8)], Appearance())[0].hues
    )


@pytest.mark.parametrize(("models", "panels"), [(4, [None]), (5, ["pass@k", "pass^k"])])
def test_each_kind_of_line_of_many_models_has_a_panel(models: int, panels: list[object]) -> None:
    [plot] = plots_with_appearance([curve(models)], Appearance())
    assert list(dict.fromkeys(row.get("panel") for row in plot.rows)) == panels
    assert len(plot.rows) == len(curve(models).rows)
