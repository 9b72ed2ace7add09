"""passk report: which panels there are, what they rest on, and what is said of the others."""

from __future__ import annotations

import json
import re
import warnings
from datetime import UTC, datetime
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import pytest

import passk_cli
from passk_cli.commands.report.parts import MANY
from passk_cli.inference.macro_average import macro_average
from passk_cli.pages.html import html
from passk_cli.pages.views import sections
from passk_cli.render.csv_json import csv_text
from passk_cli.render.style import Style
from passk_cli.report.data_types import Leaderboard, ReportPage
from tests.conftest import SAMPLES, Passk

TAU, AGENTS = SAMPLES / "tau_airline.csv", SAMPLES / "agents.jsonl"


def quiet(data: Any, **options: Any) -> passk_cli.Findings:
    with warnings.catch_warnings(action="ignore"):
        return passk_cli.report(data, resamples=100, **options)


def page_of(findings: passk_cli.Findings) -> ReportPage:
    page = findings.report.page
    assert page is not None
    return page


def panels(findings: passk_cli.Findings, section: int = 0) -> dict[str, Any]:
    """Title → the panel's report."""
    return {p.title: p.report for p in page_of(findings).chapters[section].panels}


@pytest.fixture(scope="module")
def tau() -> passk_cli.Findings:
    return quiet(TAU, metrics=["pass@1"])


@pytest.fixture(scope="module")
def agents() -> passk_cli.Findings:
    return quiet(AGENTS, metrics=["pass@1"])


def test_differences_are_drawn_at_the_first_metric() -> None:
    rows = [{"model": m, "task": str(t), "n": 3, "c": (t + at) % 4}
            for at, m in enumerate("abc") for t in range(9)]  # fmt: skip
    ranking, differences = panels(quiet(rows))["Differences"].plots
    assert (ranking.kind, differences.kind) == ("ranking", "forest")
    assert {row["panel"] for row in differences.rows} == {"pass@1"}


def test_each_panel_is_the_report_of_a_command(agents: passk_cli.Findings) -> None:
    with warnings.catch_warnings(action="ignore"):
        compared = passk_cli.compare(AGENTS, metrics="pass@1", resamples=100).report
        described = passk_cli.describe(AGENTS).report
        flaky = passk_cli.tasks(AGENTS).report
    reports = panels(agents)
    assert csv_text(reports["Differences"], Style()) == csv_text(compared, Style())
    # What its columns were taken for is asked of files that are only described.
    rivals = [table for table in described.tables[1:] if not table.title.startswith("Columns")]
    first, *further = reports["Data quality"].tables
    assert further == rivals
    assert {*first.rows} >= {*described.tables[0].rows}
    assert reports["Tasks"].tables == flaky.tables[:1]
    assert agents.report.answer == compared.answer


def board_of(findings: passk_cli.Findings) -> Leaderboard:
    board = page_of(findings).chapters[0].panels[0].board
    assert board is not None
    return board


def test_the_leaderboard_has_ranks_and_ties_of_the_comparison(agents: passk_cli.Findings) -> None:
    table = board_of(agents).table
    assert [column.header for column in table.columns] == ["rank", "model", "pass@1", "ties"]
    assert [row[0] for row in table.rows] == ["1–7"] * 7 + ["8"]
    assert [row[-1] for row in table.rows] == ["a"] * 7 + ["b"]
    report = panels(agents)["Leaderboard"]
    rows = csv_text(report, Style()).splitlines()
    assert rows[0].endswith("rank,letters")
    assert [row.rsplit(",", 2)[1:] for row in rows[1:]] == [["1–7", "a"]] * 7 + [["8", "b"]]


def test_every_metric_is_ranked_for_itself() -> None:
    rows = [{"model": m, "task": str(t), "n": 2, "c": c} for t in range(40)
            for m, c in [("steady", 2 * (t < 16)), ("lucky", 1)]]  # fmt: skip
    board = board_of(quiet(rows))
    assert [metric.header for metric in board.metrics] == ["pass@1", "pass@2", "pass^2"]
    places = {entry.model: entry.ranks for entry in board.entries}
    assert places == {"lucky": ("1–2", "1", "2"), "steady": ("1–2", "2", "1")}


def test_files_with_costs_have_them_on_the_leaderboard(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    costs = [("dear", 2.0), ("cheap", 0.5)]
    lines = [f"{m},{t},{a},{int((t + a) % 3 > 0)},{cost * (1 + t % 3)}"
             for m, cost in costs for t in range(9) for a in range(2)]  # fmt: skip
    path.write_text("\n".join(["model,task,attempt,passed,cost", *lines]))
    findings = quiet(path)
    board = board_of(findings)
    assert board.metrics[-1].header == "cost"
    assert "Cost" in panels(findings)
    assert (
        "Cost: the metrics don't include cost." in page_of(quiet(path, metrics="pass@1")).omissions
    )
    assert {entry.model: entry.ranks[-1] for entry in board.entries} == {"cheap": "1", "dear": "2"}


def test_a_range_of_missing_outcomes_has_a_page_without_the_costs() -> None:
    rows = [{"model": m, "task": str(t), "passed": None if t == 4 else t % 2, "cost": 0.5}
            for m in "ab" for t in range(9)]  # fmt: skip
    with pytest.raises(passk_cli.DataError) as error:
        quiet(rows)
    assert 'missing="bounds"' in str(error.value)
    page = html(quiet(rows, missing="bounds").report, Style())
    assert "cost needs the cost of each attempt" in page


def test_the_grid_has_the_attempts_of_every_model_at_every_task(
    tau: passk_cli.Findings, agents: passk_cli.Findings
) -> None:
    grid = next(p.grid for p in page_of(agents).chapters[0].panels if p.grid)
    assert grid.models[-1] == "claude-fable-5"
    failed = grid.result_codes[-1][grid.tasks.index("02-lru-cache")]
    assert grid.distinct_results[failed] == "---"
    assert {grid.distinct_results[code] for code in grid.result_codes[0]} == {"+++"}
    first = next(p.grid for p in page_of(tau).chapters[0].panels if p.grid)
    assert list(first.tasks) == [str(task) for task in range(50)]
    lines = [line.split(",") for line in TAU.read_text().splitlines()[1:]]
    own_values = sorted((int(trial), reward) for _, task, trial, reward in lines if task == "1")
    strip = "".join("+" if float(reward) else "-" for _, reward in own_values)
    assert first.distinct_results[first.result_codes[0][1]] == strip


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("https://a.org/{modl}/{task}", r"there is no field \{modl\}; did you mean \{model\}"),
        ("https://a.org/{x}/{task}", r"there is no field \{x\}; there are \{model\}, \{task\}"),
        ("https://a.org/{model}", "the address must contain {task}"),
        ("javascript:alert(1)/{task}", "the address must begin with https://"),
        ("https://{model}.org/{task}", "the address must begin with https://"),
        ("https://a.org/{task}/{attempt}", "needs consecutive attempt numbers"),
    ],
)
def test_a_link_that_leads_nowhere_is_refused(link: str, problem: str) -> None:
    with pytest.raises(passk_cli.ParameterError, match=problem):
        quiet([{"task": "a", "passed": True}, {"task": "b", "passed": False}], link=link)


def test_a_leaderboard_alone_takes_no_link() -> None:
    with pytest.raises(passk_cli.ParameterError, match="has no tasks, so it cannot link"):
        quiet([{"task": "a", "passed": True}], board=True, link="https://a.org/{task}")


def test_links_know_the_group_and_the_first_attempt() -> None:
    rows = [{**row, "attempt": k + 5, "passed": True} for row in by_benchmark(True)
            for k in range(2)]  # fmt: skip
    rows = [{k: v for k, v in row.items() if k not in "nc"} for row in rows]
    actual = quiet(rows, by="benchmark", metrics="pass@1",
                  link="runs/{benchmark}/{model}/{task}/{attempt}")  # fmt: skip
    grids = [p.grid for section in page_of(actual).chapters for p in section.panels if p.grid]
    assert [grid.transcript_url_template for grid in grids] == [
        f"runs/{b}/{{model}}/{{task}}/{{attempt}}" for b in ("code", "math")
    ]
    assert [grid.first_attempt_number for grid in grids] == [5, 5]


def test_what_is_said_of_pairs_is_said_of_a_board(tmp_path: Path) -> None:
    rows = [{"model": f"m{m:02}", "task": str(t + m % 2), "n": 4, "c": (m + t) % 5}
            for m in range(MANY + 2) for t in range(9)]  # fmt: skip
    for findings in (quiet(rows, board=True), quiet(rows)):
        assert "models-lack-tasks" in {messages.name for messages in findings.report.messages}
    quiet(rows, board=True).save(tmp_path / "board.html", percent=True)
    assert "</button> (%)</th>" in (tmp_path / "board.html").read_text()


def test_a_board_ranks_by_shared_tasks() -> None:
    rows = [{"model": m, "task": f"{hard}{t}", "n": 20, "c": c}
            for m, item in {"a": (16, 10), "b": (15,)}.items() for hard, c in enumerate(item)
            for t in range(9)]  # fmt: skip
    board = page_of(quiet(rows, board=True)).chapters[0].panels[0].board
    assert [entry.model for entry in board.entries] == ["a", "b"]


def test_a_board_is_a_leaderboard_alone(passk: Passk, tmp_path: Path) -> None:
    files = [tmp_path / "board.html", tmp_path / "board.md"]
    outputs = [word for file in files for word in ("-o", file)]
    result = passk(
        "report", AGENTS, "-m", "pass@1", "--board", "--title", "Agents 1", "-q", *outputs
    )
    assert (result.code, result.out) == (0, "")
    page, text = (file.read_text() for file in files)
    today = datetime.now(UTC).date().isoformat()
    assert f">Agents 1 · {today}<" in page
    finding = "claude-opus-4-8 and 6 more tie for first at pass@1"
    assert f'<h1 dir="auto">{finding}' in page
    assert page.count("<section") == 2
    assert "18 tasks × 3 attempts · 95 % guard intervals" in page
    for absent in ("<nav", "<footer", "Notes", "passk report"):
        assert absent not in page
    assert text.splitlines()[:4] == ["# Agents 1", "", today, ""]
    assert text.splitlines()[4].startswith(finding)
    assert "| 1–7" in text
    # A picture, what has to be said next to it, and integrity: no other section and no note.
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Leaderboard", "## Integrity",
    ]  # fmt: skip
    assert len(text.splitlines()) <= 48


def test_a_page_plans_what_the_command_plans() -> None:
    """Of several pairs both take the one that varies most, and say so."""
    rows = [{"model": m, "task": str(t), "passed": (t % 8 + i * t % 3) < p} for m, p in
            (("a", 6), ("b", 5), ("c", 2)) for t in range(20) for i in range(3)]  # fmt: skip
    (plan,) = passk_cli.plan(rows, metrics="pass@1").report.answer
    assert any("the pair that varies most" in str(piece) for piece in plan)
    assert panels(quiet(rows, metrics=["pass@1"]))["Tasks needed"].answer == (plan,)


def test_what_one_model_cannot_give(tau: passk_cli.Findings) -> None:
    assert list(panels(tau)) == [
        "Leaderboard", "Curves over k", "Tasks needed", "Order of attempts", "Tasks",
        "Data quality",
    ]  # fmt: skip
    assert page_of(tau).omissions == (
        "Differences: the data has 1 model.",
        "Cost: the data contains no costs.",
        "Diversity: the data contains no solutions.",
        "Flips: the data has 1 model.",
        "Suspicious tasks: the data has 1 model.",
        "Temperature: the data does not contain several temperatures.",
    )


def test_one_attempt_each_has_no_curves() -> None:
    rows = [{"task": str(t), "passed": t % 3 == 0} for t in range(9)]
    findings = quiet(rows)
    assert list(panels(findings)) == [
        "Leaderboard", "Tasks needed", "Tasks", "Data quality",
    ]  # fmt: skip
    assert "Curves over k: no task has a second attempt." in page_of(findings).omissions


def test_a_page_of_scores_invents_no_passes(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    for high, displayed in ((0.5, False), (1.0, True)):
        lines = [f"{m},{t},{a},{high * ((t + a) % 3 > at)}"
                 for at, m in enumerate("ab") for t in range(9) for a in range(2)]  # fmt: skip
        path.write_text("\n".join(["model,task,attempt,score", *lines]))
        findings = quiet(path, metrics="mean")
        absent = " ".join(page_of(findings).omissions)
        for part in ("Curves over k", "Order of attempts", "Tasks", "Flips"):
            assert (part in panels(findings)) is displayed
            assert (f"{part}: {path}:" in absent) != displayed
        assert ("--threshold X sets" in absent) != displayed


def by_benchmark(shared: bool) -> list[dict[str, Any]]:
    return [
        {"model": m, "benchmark": b, "task": f"{'' if shared else b}{t}", "n": 4, "c": c}
        for m in ("one", "two") for b in ("code", "math") for t in range(6)
        for c in [(t + (b == "math") + 2 * (m == "one")) % 5]
    ]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("shared", [False, True])
def test_a_section_for_each_group_and_a_macro_average(shared: bool) -> None:
    findings = quiet(by_benchmark(shared), average="benchmark", metrics="pass@1")
    page = page_of(findings)
    assert [section.title for section in page.chapters] == [
        "benchmark code",
        "benchmark math",
        "All groups",
    ]
    macro = panels(findings, 2)["Macro average"]
    full = findings.frame
    frame = full[full.benchmark != "average"].pivot(index="model", columns="benchmark")
    averages = full[full.benchmark == "average"].set_index("model")
    assert any("share tasks" in str(part) for part in macro.context) == shared
    for row in macro.tables[0].rows:
        model, cell = row[1:3]
        values, ses = frame["estimate"].loc[model], frame["se"].loc[model]
        assert cell.value == pytest.approx(values.mean())
        expected = ses.mean() if shared else (ses**2).sum() ** 0.5 / 2
        assert cell.se == pytest.approx(expected)
        assert cell.low < cell.value < cell.high
        tidy = averages.loc[model, ["estimate", "se", "low", "high", "tasks"]].tolist()
        assert tidy == [cell.value, cell.se, cell.low, cell.high, 12]
    # The finding is one sentence; each section has its own.
    (answer,) = findings.report.answer
    assert (answer.name, answer.fields["by"]) == ("average-ties", ("benchmark",))
    assert answer.fields["first"] == ["one", "two"]


def test_macro_averages_are_ordered_ranked_and_lettered_on_a_board_too() -> None:
    """Two models differ where the macro average of their differences does, as `compare` has them in
    each group."""
    rows = by_benchmark(False)
    displayed = {}
    for gap, leads in ((0, False), (4, True)):
        sample = [row | {"c": min(row["c"] + gap * (row["model"] == "two"), 4)} for row in rows]
        findings = quiet(sample, average="benchmark", metrics="pass@1", board=True)
        (panel,) = page_of(findings).chapters[-1].panels
        assert panel.board is not None
        displayed[gap] = [
            (e.model, e.ranks, e.estimates[0].tie_letters) for e in panel.board.entries
        ]
        pairs = passk_cli.compare(sample, "pass@1", by="benchmark", adjust="none").frame
        sign = [1 if model == displayed[gap][0][0] else -1 for model in pairs.model]
        z = NormalDist().inv_cdf(0.975)
        pair = zip(sign, pairs.low, pairs.high, strict=True)
        lows, highs = zip(*(sorted((s * low, s * high)) for s, low, high in pair), strict=True)
        mean = macro_average(sign * pairs.estimate, (pairs.high - pairs.low) / (2 * z), lows, highs)
        assert leads == (mean.low > 0)
        if leads:
            assert str(findings).partition(".\n")[0] == (
                "two leads the average of pass@1 over 2 groups of benchmark, with equal weights,"
                f" by {mean.mean:.3f} [{mean.low:.3f}, {mean.high:.3f}]"
            )
    assert displayed[0] == [("one", ("1–2",), "a"), ("two", ("1–2",), "a")]
    assert displayed[4] == [("two", ("1",), "a"), ("one", ("2",), "b")]


def test_a_submission_joins_a_board_in_any_format_and_a_copy_does_not(
    tmp_path: Path, passk: Passk
) -> None:
    rng = np.random.default_rng(4)

    def results(model: str, rate: float) -> pd.DataFrame:
        cells = [(model, f"t{t}", bool(rng.random() < rate)) for t in range(30) for _ in range(3)]
        return pd.DataFrame(cells, columns=["model", "task", "passed"])

    results("a", 0.5).to_csv(tmp_path / "a.csv", index=False)
    results("b", 0.7).to_parquet(tmp_path / "b.parquet")
    results("c", 0.3).to_json(tmp_path / "c.jsonl", orient="records", lines=True)
    tasks = [{"task": f"t{t}", "outcomes": [t % 2, 0, 1]} for t in range(30)]
    (tmp_path / "d.json").write_text(json.dumps({"model": "d", "results": tasks}))
    files = [tmp_path / name for name in ("a.csv", "b.parquet", "c.jsonl", "d.json")]
    board = board_of(quiet(files, metrics="pass@1", board=True))
    assert sorted(entry.model for entry in board.entries) == list("abcd")
    (tmp_path / "z.csv").write_text((tmp_path / "a.csv").read_text().replace("a,", "z,"))
    ask = ["report", *files, tmp_path / "z.csv", "--board", "-m", "pass@1", "-f", "markdown", "-q"]
    assert passk(*ask).error == "duplicate-models"
    names = [word for model in ("*", "a", "z") for word in ("--model", model)]
    assert passk(*ask, *names).code == 0


def test_the_line_under_a_board_says_nothing_twice() -> None:
    rows = [{"model": m, "task": f"t{t}", "run": r, "passed": (t + int(r) + (m == "b")) % 3 > 0}
            for m in "ab" for t in range(12) for r in "12"]  # fmt: skip
    rows = [{**row, "run": int(row["run"]), "arm": "xy"[row["run"] == "1"]} for row in rows]
    findings = quiet(rows, pool="arm", metrics="pass@1", board=True)
    parts = panels(findings)["Leaderboard"].context
    assert "pooled over arm" in parts
    assert len(parts) == len(set(parts))


def test_a_macro_average_needs_a_number_in_each_group_and_limits_for_limits() -> None:
    """One task has no standard error; where outcomes are missing each end is averaged."""
    rows = [
        {"model": "m", "benchmark": b, "task": f"{b}{t}", "n": 4, "c": c}
        for b, passes in (("code", [1, 2, 4]), ("math", [3])) for t, c in enumerate(passes)
    ]  # fmt: skip
    average = quiet(rows, average="benchmark", metrics="pass@1").frame.iloc[-1]
    assert (average.benchmark, average.estimate) == ("average", pytest.approx((7 / 12 + 3 / 4) / 2))
    assert average[["se", "low", "high"]].isna().all()
    assert average.note == "no standard error or interval in some group"
    outcomes = {"code0": [1, None], "code1": [0, 0], "math0": [1, 1], "math1": [0, None]}
    missing = [
        {"model": "m", "benchmark": task[:-1], "task": task, "passed": passed}
        for task, created in outcomes.items() for passed in created
    ]  # fmt: skip
    options = {"average": "benchmark", "metrics": "pass@1", "missing": "bounds"}
    code, math, pair = quiet(missing, **options).frame.to_dict("records")
    assert [pair["estimate_low"], pair["estimate_high"]] == [(0.25 + 0.5) / 2, (0.5 + 0.75) / 2]
    assert min(code["low"], math["low"]) <= pair["low"] <= pair["estimate_low"]
    assert pair["estimate_high"] <= pair["high"] <= max(code["high"], math["high"])


def test_a_model_without_one_group_has_no_macro_average() -> None:
    rows = [
        row for row in by_benchmark(False) if (row["model"], row["benchmark"]) != ("two", "math")
    ]
    findings = quiet(rows, average="benchmark", metrics="pass@1")
    cells = {row[0]: row[1] for row in panels(findings, 2)["Macro average"].tables[0].rows}
    assert cells["one"].value is not None
    assert cells["two"].value is None
    first, two = findings.frame.tail(2).to_dict("records")
    assert (first["benchmark"], first["estimate"], first["tasks"]) == (
        "average",
        cells["one"].value,
        12,
    )
    assert (two["benchmark"], two["tasks"]) == ("average", 6)
    assert two["note"] == "no value in some group"
    assert "Differences (benchmark math): the data has 1 model." in page_of(findings).omissions


def test_many_models_are_all_ranked_as_compare_ranks_them() -> None:
    rows = [{"model": f"m{m:02}", "task": str(t), "n": 6, "c": (m + t * (m % 3)) % 7}
            for m in range(MANY + 9) for t in range(12)]  # fmt: skip
    findings = quiet(rows)
    page = page_of(findings)
    compared = passk_cli.compare(rows).tables[0]
    assert len(compared) == MANY + 9
    board = board_of(findings)
    assert {e.model: e.ranks[0] for e in board.entries} == compared.set_index("model")[
        "rank"
    ].to_dict()
    # Letters as `compare` prints them, ranges as well.
    printed = set(str(passk_cli.compare(rows)).split())
    letters = {entry.estimates[0].tie_letters for entry in board.entries}
    assert letters <= printed
    assert any("–" in item for item in letters)
    assert "Differences" not in panels(findings)
    assert any("ties of 300 pairs" in text for text in page.omissions)
    actual = {panel.title: panel.report.answer for panel in page.chapters[0].panels}
    # Their answers are about all models, as those of the commands are.
    for title in ("Curves over k", "Tasks needed", "Tasks"):
        assert "first" not in str(actual[title])


def test_costs_that_cannot_be_counted_are_named_once() -> None:
    rows = [{"task": t, "passed": t % 2, "cost_usd": None if t == 3 else 0.5} for t in range(8)]
    absent = [text for text in page_of(quiet(rows)).omissions if text.startswith("Cost: ")]
    assert len(absent) == 1
    assert "1 attempt" in absent[0]


def test_a_baseline_has_to_be_there() -> None:
    with pytest.raises(passk_cli.ParameterError, match='baseline="nobody": no such model'):
        quiet(AGENTS, baseline="nobody")


def test_files_of_the_command(passk: Passk, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = passk("report", TAU, "-m", "pass@1", "-o", page, "-q", "--title", "Airline")
    assert (result.code, result.out) == (0, "")
    text = page.read_text()
    assert "<title>Airline</title>" in text
    assert f"passk report {TAU} -m pass@1 -o {page} -q --title Airline" in text
    refused = passk("report", TAU, "-o", tmp_path / "page.xml")
    assert refused.code == 2
    assert ".html" in refused.err
    assert "passk has no output format with this suffix" in passk("estimate", TAU, "-o", page).err


def test_the_finding_has_what_chance_makes_of_flips() -> None:
    rows = [{"model": m, "task": str(t), "n": 4, "c": 4 * ((t < 9) == (m == "one"))}
            for m in ("one", "two") for t in range(12)]  # fmt: skip
    findings = quiet(rows)
    answer = str(findings).split("\n")[0]
    assert "12 of 12 tasks flipped from two to one, 9 to passing and 3 to failing" in answer
    assert "are expected by chance" in answer
    page = html(findings.report, Style())
    tie, flips = (re.search(f"<{tag}.*?>(.*?)</", page) for tag in ("h1", 'p class="finding"'))
    assert tie is not None
    assert flips is not None
    assert (tie[1].partition(":")[0], flips[1][:8]) == ("one and two tie at pass@1", "12 of 12")


def test_a_page_does_not_point_to_what_it_shows(agents: passk_cli.Findings) -> None:
    (section,) = sections(page_of(agents).chapters, Style())
    contexts = [panel.context for panel in section.panels]
    assert any(contexts)
    assert not any(re.search("--[a-z]", context) for context in contexts)


def test_without_a_file_it_says_how_the_page_is_written(passk: Passk, tmp_path: Path) -> None:
    words = ("report", TAU, "-m", "pass@1")
    line = f"report {TAU} -m pass@1 -o report.html"
    for form in ((), ("-f", "plain")):
        result = passk(*words, *form)
        assert result.err.endswith(f"passk: no page is written\n  passk {line}  # writes it\n")
    for more in (("-q",), ("-f", "json"), ("-o", tmp_path / "page.html")):
        assert "no page is written" not in passk(*words, *more).err
    result = passk(*words, "-f", "html")
    assert (result.code, f"  passk {line}  # writes it" in result.err) == (2, True)
    result = passk(*words, "-f", "html", "-o", "x.html")
    assert f"passk report {TAU} -m pass@1 -o x.html  # writes it" in result.err


def test_nothing_is_averaged_over_groups_unless_it_is_asked_for() -> None:
    findings = quiet(by_benchmark(False), by="benchmark", metrics="pass@1")
    assert "Macro average" not in [p.title for c in page_of(findings).chapters for p in c.panels]
    assert "average" not in set(findings.frame.benchmark)
    messages = findings.report.answer[0]
    assert messages.fields["ranked"] == messages.fields["groups"] == 2
    with pytest.raises(passk_cli.ParameterError, match="the average is over the groups of one"):
        quiet(by_benchmark(False), by="arm", average="benchmark", metrics="pass@1")


def test_a_board_marks_a_model_that_lacks_attempts() -> None:
    rows = [{"model": m, "task": f"t{t}", "n": 4 - (m == "b" and t < 5), "c": t % 3}
            for m in "abc" for t in range(9)]  # fmt: skip
    findings = quiet(rows, metrics="pass@1", board=True)
    board = board_of(findings)
    at = [column.header for column in board.extra_columns].index("attempts")
    cells = {entry.model: entry.extra_cells[at] for entry in board.entries}
    assert cells == {"a": "4", "b": "31 / 36 ⚠", "c": "4"}
    # A narrow screen hides other columns, but not this one.
    assert '<td class="number kept">31 / 36 ⚠</td>' in html(findings.report, Style())


def test_data_quality_lists_models_that_lack_attempts_first() -> None:
    rows = [{"model": f"m{m:02}", "task": f"t{t}", "n": 4 - (m == 28 and t < 5), "c": t % 3}
            for m in range(30) for t in range(9)]  # fmt: skip
    with pytest.warns(passk_cli.PasskWarning, match="m28"):
        actual = passk_cli.describe(rows)
    table = next(t for t in actual.report.tables if t.title == "Models")
    assert [row[0] for row in table.rows][:2] == ["m28", "m00"]


def test_counts_that_were_read_before_have_the_same_page() -> None:
    rows = pd.DataFrame(
        {"model": m, "task": f"t{t}", "attempt": a, "passed": (t + a) % 3 > 0,
         "solution": f"x{(t * a) % 4}"}
        for m in "ab" for t in range(9) for a in range(3)
    )  # fmt: skip
    before, after = quiet(rows, metrics="pass@1"), quiet(passk_cli.read(rows), metrics="pass@1")
    titles = [[p.title for c in page_of(f).chapters for p in c.panels] for f in (before, after)]
    assert titles[0] == titles[1]
    assert {"Order of attempts", "Diversity"} <= {*titles[0]}
    assert page_of(before).omissions == page_of(after).omissions
