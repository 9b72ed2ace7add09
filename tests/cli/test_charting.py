"""Tests of --chart: which options are refused before any work, and what is written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from passk_cli.charts import PICTURE_SUFFIXES
from passk_cli.charts.theme import THEMES
from tests.conftest import SAMPLES, Passk, Write

TAU, CRUX = SAMPLES / "tau_airline.csv", SAMPLES / "cruxeval.jsonl.gz"
COMPARE = ["compare", CRUX, "--where", "temperature < 0.5 AND task_id LIKE '%7'", "-k", "1"]
BOOTSTRAP = ["bootstrap", TAU, "-k", "1", "--resamples", "200"]


@pytest.mark.parametrize(
    ("command", "suffix"),
    [*((COMPARE, suffix) for suffix in PICTURE_SUFFIXES), (BOOTSTRAP, ".svg")],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_a_picture_is_written_with_the_table(
    passk: Passk, tmp_path: Path, command: list[Any], suffix: str
) -> None:
    plain = passk(*command)
    target = tmp_path / f"chart{suffix.upper()}"
    result = passk(*command, "--chart", target)
    assert (result.code, result.out, result.err) == (0, plain.out, plain.err)
    assert target.stat().st_size > 2000
    assert os.listdir(tmp_path) == [target.name]


@pytest.mark.parametrize("name", ["-", "terminal"])
def test_a_chart_in_the_terminal_is_answered_by_a_picture(passk: Passk, name: str) -> None:
    result = passk(*COMPARE, "--chart", name)
    assert (result.code, result.out) == (2, "")
    assert "--chart FILE.png" in result.err


def test_chart_themes_set_the_colours(passk: Passk, tmp_path: Path) -> None:
    target = tmp_path / "chart.svg"
    for theme, look in THEMES.items():
        assert passk(*COMPARE, "--chart", target, "--chart-theme", theme).code == 0
        assert f'height="100%" fill="{look.paper}"' in target.read_text()


# The input does not exist: these are refused before it is looked for.
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--chart", "x.jpg"],
            "--chart x.jpg: passk draws no pictures with this suffix; use .png, .svg, .pdf,",
        ),
        (["--chart", "png"], "--chart png: passk draws no pictures with this suffix"),
        (
            ["--chart", "nowhere/x.png"],
            "nowhere: the folder of the output does not exist; create it first",
        ),
        (["--chart", "x.svg", "--chart", "./x.svg"], "x.svg is the file of two outputs"),
        (["--chart", "x.png", "--chart-theme", "blue"], "--chart-theme blue: choose one of light,"),
        (
            ["--panel", "temperature"],
            "--panel: this option applies only to charts, but no chart is drawn; --chart FILE.png"
            " draws one\n",
        ),
        (
            ["--stacked", "-o", "a.csv"],
            "LaTeX output\n  passk {} missing.jsonl --stacked -o a.csv --format latex",
        ),
    ],
)
@pytest.mark.parametrize("command", ["compare", "bootstrap"])
def test_wrong_chart_options_are_refused_before_any_work(
    passk: Passk, workdir: Path, command: str, options: list[str], message: str
) -> None:
    result = passk(command, "missing.jsonl", *options)
    assert (result.code, result.out, result.sentences) == (2, "", 1)
    assert message.format(command) in result.err
    assert os.listdir(workdir) == []


def test_an_input_is_not_drawn_over(passk: Passk, write: Write) -> None:
    source = write("data.svg", "task,passed\na,1\n")
    result = passk("compare", source, "--chart", source)
    assert (result.code, "is also an input file" in result.err) == (2, True)


def test_a_result_without_a_chart_is_reported(passk: Passk, write: Any, tmp_path: Path) -> None:
    rows = [{"model": m, "task": f"t{t}", "attempt": a, "passed": t % 2 == 0}
            for m, n in (("a", 2), ("b", 1)) for t in range(3) for a in range(n)]  # fmt: skip
    source = write("few.jsonl", "\n".join(map(json.dumps, rows)))
    result = passk("compare", source, "-k", 2, "--chart", tmp_path / "x.svg", "-q")
    assert (result.code, "nothing to draw" in result.err) == (2, True)
    assert not (tmp_path / "x.svg").exists()


def test_an_unwritable_place_leaves_no_file(passk: Passk, tmp_path: Path) -> None:
    place = tmp_path / "full.svg"
    place.symlink_to("/dev/full")
    result = passk(*COMPARE, "--chart", place)
    assert (result.code, "cannot be written" in result.err) == (2, True)


def test_percentages_reach_the_chart(passk: Passk, tmp_path: Path) -> None:
    target = tmp_path / "chart.svg"
    for options, tick in (([], ">0.5<"), (["--percent"], ">50%<")):
        assert passk(*COMPARE, *options, "--chart", target).code == 0
        assert tick in target.read_text()


def test_draws_that_differ_only_by_rounding_are_drawn(passk: Passk, tmp_path: Path) -> None:
    """The weighted means of models that always pass are 1 except for rounding; passk draws 1."""
    command = ["bootstrap", SAMPLES / "agents.jsonl", "-k", "1", "--resamples", "100"]
    target = tmp_path / "chart.svg"
    result = passk(*command, "--weights", "dirichlet", "--chart", target, "-q")
    assert result.code == 0, result.err
    assert target.read_text().startswith("<svg")
    assert "1.000" in result.out


def test_the_answer_is_the_title_of_the_first_picture(passk: Passk, tmp_path: Path) -> None:
    svg, bare = tmp_path / "chart.svg", tmp_path / "bare.svg"
    result = passk("estimate", TAU, "-k", "1", "--chart", svg)
    answer = result.out.splitlines()[0]
    assert answer.startswith("gpt-4o: pass@1 0.420 [")
    assert f">{answer}<" in svg.read_text()
    passk("estimate", TAU, "-k", "1", "--chart", bare, "--no-title")
    assert answer not in bare.read_text()
