"""passk report: which panels there are, what they rest on, and what is said of the others."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import passk_cli
from passk_cli.commands.report.parts import FEW, MANY
from passk_cli.render.data import csv_text
from passk_cli.render.style import Style
from passk_cli.report.model import Document, Table
from tests.conftest import SAMPLES, Passk

TAU, AGENTS = SAMPLES / "tau_airline.csv", SAMPLES / "agents.jsonl"


def quiet(data: Any, **options: Any) -> passk_cli.Findings:
    with warnings.catch_warnings(action="ignore"):
        return passk_cli.report(data, resamples=100, **options)


def page_of(findings: passk_cli.Findings) -> Document:
    page = findings.report.page
    assert page is not None
    return page


def panels(findings: passk_cli.Findings, section: int = 0) -> dict[str, Any]:
    """Title → the panel's report."""
    return {p.title: p.report for p in page_of(findings).sections[section].panels}


@pytest.fixture(scope="module")
def tau() -> passk_cli.Findings:
    return quiet(TAU, metrics=["pass@1"])


@pytest.fixture(scope="module")
def agents() -> passk_cli.Findings:
    return quiet(AGENTS, metrics=["pass@1"])


def test_each_panel_is_the_report_of_a_command(agents: passk_cli.Findings) -> None:
    with warnings.catch_warnings(action="ignore"):
        compared = passk_cli.compare(AGENTS, metrics="pass@1", resamples=100).report
        described = passk_cli.describe(AGENTS).report
        flaky = passk_cli.tasks(AGENTS).report
    reports = panels(agents)
    assert csv_text(reports["Differences"], Style()) == csv_text(compared, Style())
    assert reports["Data quality"].tables == described.tables
    assert reports["Tasks"].tables == flaky.tables
    assert agents.report.answer == compared.answer


def test_places_stand_below_the_leaderboard(agents: passk_cli.Findings) -> None:
    table: Table = panels(agents)["Differences"].tables[0]
    names = [column.header for column in table.columns]
    assert names[:2] == ["rank", "model"]
    assert [row[0] for row in table.rows] == ["1–7"] * 7 + ["8"]


def test_what_one_model_cannot_give(tau: passk_cli.Findings) -> None:
    assert list(panels(tau)) == [
        "Leaderboard", "Curves over k", "Reliability", "Order of attempts", "Tasks", "Data quality",
    ]  # fmt: skip
    assert page_of(tau).absent == (
        "Differences: the data has 1 model.",
        "Tasks needed: the data has 1 model.",
        "Diversity: the data holds no solutions.",
        "Flips: the data has 1 model.",
        "Suspicious tasks: the data has 1 model.",
        "Temperature: the data does not name several temperatures.",
    )


def test_one_attempt_each_has_no_curves() -> None:
    rows = [{"task": str(t), "passed": t % 3 == 0} for t in range(9)]
    findings = quiet(rows)
    assert list(panels(findings)) == ["Leaderboard", "Tasks", "Data quality"]
    assert "Curves over k: no task has a second attempt." in page_of(findings).absent


def by_benchmark(shared: bool) -> list[dict[str, Any]]:
    return [
        {"model": m, "benchmark": b, "task": f"{'' if shared else b}{t}", "n": 4, "c": c}
        for m in ("one", "two") for b in ("code", "math") for t in range(6)
        for c in [(t + (b == "math") + 2 * (m == "one")) % 5]
    ]  # fmt: skip


@pytest.mark.parametrize("shared", [False, True])
def test_a_section_for_each_group_and_a_macro_average(shared: bool) -> None:
    findings = quiet(by_benchmark(shared), by="benchmark", metrics="pass@1")
    page = page_of(findings)
    assert [section.title for section in page.sections] == [
        "benchmark code",
        "benchmark math",
        "All groups",
    ]
    macro = panels(findings, 2)["Macro average"]
    frame = findings.frame.pivot(index="model", columns="benchmark")
    assert ("share tasks" in macro.context) == shared
    for model, cell in macro.tables[0].rows:
        values, ses = frame["estimate"].loc[model], frame["se"].loc[model]
        assert cell.value == pytest.approx(values.mean())
        expected = ses.mean() if shared else (ses**2).sum() ** 0.5 / 2
        assert cell.se == pytest.approx(expected)
        assert cell.low < cell.value < cell.high
    text = str(findings)
    assert text.startswith("benchmark code: ")
    assert "benchmark math: " in text


def test_a_model_without_one_group_has_no_macro_average() -> None:
    rows = [
        row for row in by_benchmark(False) if (row["model"], row["benchmark"]) != ("two", "math")
    ]
    findings = quiet(rows, by="benchmark", metrics="pass@1")
    cells = {row[0]: row[1] for row in panels(findings, 2)["Macro average"].tables[0].rows}
    assert cells["one"].value is not None
    assert cells["two"].value is None
    assert "Differences (benchmark math): the data has 1 model." in page_of(findings).absent


def test_many_models_are_all_ranked_as_compare_ranks_them() -> None:
    rows = [{"model": f"m{m:02}", "task": str(t), "n": 6, "c": (m + t * (m % 3)) % 7}
            for m in range(MANY + 9) for t in range(12)]  # fmt: skip
    findings = quiet(rows)
    page = page_of(findings)
    compared = passk_cli.compare(rows).tables[0]
    assert len(compared) == MANY + 9
    ranking: Table = panels(findings)["Differences"].tables[0]
    places = {row[1]: row[0] for row in ranking.rows}
    assert places == compared.set_index("model")["rank"].to_dict()
    limits = {panel.title: panel.limits for panel in page.sections[0].panels}
    assert limits["Differences"] == ""
    assert f"About the first {FEW} of {MANY + 9} models" in limits["Curves over k"]
    assert limits["Tasks"] == ""


def test_a_baseline_has_to_be_there() -> None:
    with pytest.raises(passk_cli.ParameterError, match='baseline="nobody": no such model'):
        quiet(AGENTS, baseline="nobody")


def test_files_of_the_command(passk: Passk, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = passk("report", TAU, "-m", "pass@1", "-o", page, "-q", "--title", "Airline")
    assert (done.code, done.out) == (0, "")
    text = page.read_text()
    assert "<title>Airline</title>" in text
    assert f"passk report {TAU} -m pass@1 -o {page} -q --title Airline" in text
    refused = passk("report", TAU, "-o", tmp_path / "page.xml")
    assert refused.code == 2
    assert ".html" in refused.err
    assert "no format has this suffix" in passk("estimate", TAU, "-o", page).err


def test_the_finding_has_what_chance_makes_of_flips() -> None:
    rows = [{"model": m, "task": str(t), "n": 4, "c": 4 * ((t < 9) == (m == "one"))}
            for m in ("one", "two") for t in range(12)]  # fmt: skip
    text = str(quiet(rows))
    assert "12 of 12 tasks flipped, 9 to passing and 3 to failing" in text.split("\n")[0]
    assert "expected with no change" in text.split("\n")[0]


def test_a_page_does_not_point_to_what_it_shows(agents: passk_cli.Findings) -> None:
    pages = [panel.report.basis for panel in page_of(agents).sections[0].panels]
    assert not any("--full" in basis for basis in pages)
