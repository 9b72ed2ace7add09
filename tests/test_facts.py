"""Statements of the documentation that can be checked: what exists, counts, and numbers."""

from __future__ import annotations

import re
import runpy
from math import sqrt
from pathlib import Path

import pytest
from scipy.stats import studentized_range

import passk_cli
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from passk_cli.diagnostic import DIAGNOSTIC_TYPE_BY_NAME
from passk_cli.option import declared_options_by_flag
from tests.conftest import ROOT

WORDS = {"three": 3, "four": 4, "five": 5, "six": 6}


def text_of(page: str) -> str:
    """A page with its lines joined."""
    return " ".join((ROOT / page).read_text().split())


def test_other_tools_denies_no_feature() -> None:
    page = text_of("docs/other-tools.md")
    for command, option in (("gate", "--tier"), ("report", "--board"), ("judge", "--truth")):
        assert option in declared_options_by_flag(load_command(command).options())
        assert f"`passk {command}" in page or f"`{option}`" in page
    for denial in ("which passk has not", "corrects no judge", "keeps no leaderboard"):
        assert denial not in page
    assert "a policy over several benchmarks" not in text_of("README.md")


def test_versions_of_other_tools_are_those_that_were_run() -> None:
    page = (ROOT / "docs/other-tools.md").read_text()
    tools = runpy.run_path(str(ROOT / "benchmarks/tools.py"))["TOOLS"]
    releases = {name: release_of(packages) for _, name, packages in tools if packages}
    assert len(releases) == 10
    for name, release in releases.items():
        assert f"\n| {name} {release} |" in page
        assert f"\n| {name} | {release} |" in page


def release_of(packages: tuple[str, ...]) -> str:
    """The version of the first package with a fixed one."""
    return next(package for package in packages if "==" in package).partition("==")[2]


@pytest.mark.long
def test_other_tools_shows_what_passk_computes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page was written on its date; the rows of passk are those of today."""
    page = (ROOT / "docs/other-tools.md").read_text()
    script = runpy.run_path(str(ROOT / "benchmarks/tools.py"))
    monkeypatch.chdir(tmp_path)
    for function, name, packages in script["TOOLS"]:
        if not packages:
            numbers = function(*script["outcomes"]().values())
            cells = [script["cell_text"](numbers.get(column)) for column in script["COLUMNS"]]
            release = f" {passk_cli.__version__}" if name == "passk" else ""
            assert f"| {name}{release} | {' | '.join(cells)} |" in page


def test_readme_and_gallery_count_the_same_boards() -> None:
    gallery = (ROOT / "docs/gallery.md").read_text()
    boards = len(re.findall(r"^## ", gallery, re.MULTILINE)) - 1
    (first,) = re.findall(r"(\w+) public leaderboards", gallery)
    (number,) = re.findall(r"(\w+) public leaderboards", text_of("README.md"))
    assert WORDS[first.lower()] == WORDS[number] == boards


def test_watch_has_the_tasks_that_its_page_says() -> None:
    page = text_of("docs/commands/watch.md")
    (number,) = re.findall(r"In this example, (\d+) of 50 tasks are complete", page)
    assert f"NOT YET: {number} of 50 tasks complete;" in page


def test_intervals_of_both_populations() -> None:
    page = text_of("docs/choose/inference.md")
    for population, end in (("new-tasks", "for new tasks"), ("these-tasks", "for these 50 tasks")):
        tau = ROOT / "sample_data/tau_airline.csv"
        frame = passk_cli.estimate(tau, "pass@1", population=population).frame
        assert f"[{frame['low'][0]:.3f}, {frame['high'][0]:.3f}] {end}" in page


def test_ten_pairs_of_five_equal_models() -> None:
    page = text_of("docs/choose/inference.md")
    pairs = studentized_range.sf(1.959964 * sqrt(2), 5, 1e6)
    assert f"you find a false difference in {100 * pairs:.0f} %" in page
    assert f"at least one false difference in {100 * (1 - 0.95**10):.0f} %" in page


def test_attempts_that_stop_at_the_first_pass_read_too_high() -> None:
    rates = [sum(0.2 * 0.8 ** (n - 1) / n for n in range(1, most + 1)) for most in (5, 10)]
    sentence = (
        f"if the true rate is 0.20, the mean of c/n is {rates[0]:.2f} with at most 5 attempts"
    )
    sentence = f"{sentence} per task, and {rates[1]:.3f} with at most 10."
    assert sentence in text_of("docs/statistics.md")


def test_five_of_five_tasks() -> None:
    rows = [{"task": str(task), "passed": True} for task in range(5)]
    low = {
        method: passk_cli.estimate(rows, k=1, interval=method).frame["low"][0]
        for method in ("guard", "wilson", "clopper-pearson")
    }
    sentence = f"(5 of 5 tasks: from {low['wilson']:.3f} on, `guard` from {low['guard']:.3f})"
    assert sentence in text_of("docs/choose/inference.md")
    assert abs(low["clopper-pearson"] - low["guard"]) < 0.02


def test_all_sources_that_pages_cite_are_listed() -> None:
    body, sources = text_of("docs/statistics.md").split("## Sources")
    for name, year in re.findall(r"\b([A-Z][A-Za-zöü]+) ((?:19|20)\d\d)\b", body):
        assert re.search(rf"{name}\b[^.]*{year}", sources), f"{name} {year}"


@pytest.mark.parametrize("name", COMMANDS)
def test_messages_are_declared_with_words_only(name: str) -> None:
    load_command(name).runner_class.declared_messages()
    for message in DIAGNOSTIC_TYPE_BY_NAME.values():
        assert not re.search(r"> \.\d|:\.\d", message.readable_template), message.name
