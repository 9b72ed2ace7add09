"""What a gate compares, what it leaves out, and whether it says so."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import passk_cli
from passk_cli.commands.gate.baseline_match import BaselineMatch
from passk_cli.errors import DataError
from passk_cli.outcomes.counts import Counts
from tests.conftest import SAMPLES, Passk, Write, jsonl, long_cases

Run = Callable[..., Path]
DROP = ["--max-drop", "pass@1=0.15"]


@pytest.fixture
def run(write: Write) -> Run:
    """run(name, tasks, n=4, …) → a CSV of counts: task t passes the less often the higher t."""

    def make(name: str, tasks: range, n: int = 4, worse: int = 0, model: str = "") -> Path:
        lines = ["task,kind,n,c" + (",model" if model else "")]
        for task in tasks:
            c = max(0, n - (task * n) // 80 - worse)
            kind = "hard" if task >= 30 else "easy"
            lines.append(f"t{task:03d},{kind},{n},{c}" + (f",{model}" if model else ""))
        return write(f"{name}.csv", "\n".join(lines) + "\n")

    return make


def test_a_baseline_comes_through_a_pipe_and_a_pattern_names_what_it_fits(
    passk: Passk, run: Run
) -> None:
    new, old = run("new", range(60)), run("old", range(60), worse=1)
    result = passk("gate", new, "--baseline", "-", *DROP, stdin=old.read_bytes())
    assert (
        result.out.split(";")[0] == passk("gate", new, "--baseline", old, *DROP).out.split(";")[0]
    )
    pair = run("both", range(9), model="openhands-1.4")
    assert "did you mean openhands-1.4?" in passk("gate", pair, "--baseline", "open*", *DROP).err


def test_a_summary_that_cannot_be_written_changes_no_verdict(
    passk: Passk, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "none" / "summary"))
    result = passk("gate", run("new", range(60)), "--min", "pass@1=0.99")
    assert (result.code, "summary: cannot be written" in result.err) == (1, True)


def document(passk: Passk, *arguments: object) -> tuple[int, dict[str, Any]]:
    result = passk("gate", *arguments, "-f", "json")
    return result.code, json.loads(result.out)


def test_lost_tasks_shut_the_gate(passk: Passk, run: Run) -> None:
    easy, full = run("easy", range(24)), run("full", range(60))
    for rule in (DROP, ["--min", "pass@1=0.1"], ["--no-regression"]):
        code, output = document(passk, easy, "--baseline", full, *rule)
        assert (code, output["result"]) == (1, "fail")
        lost = output["rows"][0]
        assert (lost["rule"], lost["verdict"]) == ("every baseline task", "fail")
        assert (lost["shared_tasks"], lost["baseline_tasks"]) == (24, 60)
        assert lost["note"] == (
            "lacks t024, t025, t026 and 33 more; easy has no attempts at 36 of the 60 baseline"
            " tasks"
        )
        assert {row["verdict"] for row in output["rows"][1:]} <= {"pass", "undecided"}
        table = passk("gate", easy, "--baseline", full, *rule).out
        assert re.search("every baseline task +24 of 60", table)


@pytest.mark.parametrize(
    "format", ["plain", "json", *long_cases("junit", "github", "csv", "markdown")]
)
def test_what_is_dropped_stands_in_the_line_of_every_rule(
    passk: Passk, run: Run, format: str
) -> None:
    easy, full = run("easy", range(24)), run("full", range(60))
    rules = [*DROP, "--min", "pass@1=0.1"]
    base = ["gate", easy, "--baseline", full, *rules, "--unpaired", "drop", "-f", format]
    result = passk(*base)
    assert result.code == 0
    people = format in ("plain", "markdown")
    if not people:
        assert "24 of 60 shared tasks" in result.out
    assert "24 of 60 baseline tasks" in result.out
    assert (
        "warning[baseline-tasks-not-run]: easy has no attempts at 36 of the 60 baseline tasks"
        in result.err
    )
    displayed = result.out if people else result.err.partition("passk: ")[2]
    assert displayed.replace("*", "").startswith("PASS: both rules hold on 24 of 60 baseline tasks")
    full = passk(*base, "--full").out
    assert "24 of 60 shared tasks" in full


def test_lost_groups_are_lost_tasks(passk: Passk, run: Run) -> None:
    base = [run("easy", range(30)), "--baseline", run("full", range(60)), "--by", "kind", *DROP]
    code, output = document(passk, *base)
    assert code == 1
    verdicts = {(row["kind"], row["rule"]): row["verdict"] for row in output["rows"]}
    assert verdicts["hard", "every baseline task"] == "fail"
    assert verdicts["easy", "pass@1 drop ≤ 0.15"] == "pass"
    code, output = document(passk, *base, "--unpaired", "drop")
    assert code == 0
    (row,) = output["rows"]
    assert row["note"] == "0 of 30 baseline tasks in easy hard"
    fields = {"lost": 30, "tasks": 30, "model": "easy hard"}
    assert ("baseline-tasks-not-run", fields) in [
        (m["name"], m["fields"]) for m in output["messages"]
    ]


def test_groups_that_only_the_new_run_has(passk: Passk, run: Run) -> None:
    base = [run("new", range(60)), "--baseline", run("old", range(30)), "--by", "kind", *DROP]
    code, output = document(passk, *base)
    assert code == 3
    (row,) = [row for row in output["rows"] if row["verdict"] == "error"]
    assert row["note"] == "cannot be checked: old.csv has no attempts in this group"
    result = passk("gate", *base, "--unpaired", "drop")
    assert (result.code, "new hard is not compared: old.csv has no" in result.err) == (0, True)
    single = [run("hard", range(30, 60)), "--baseline", run("old", range(30)), "--by", "kind"]
    result = passk("gate", *single, *DROP, "--unpaired", "drop")
    assert (result.code, "no rule was checked" in result.err) == (2, True)


def test_tasks_that_only_the_new_run_has_are_said(passk: Passk, run: Run) -> None:
    code, output = document(
        passk, run("new", range(90)), "--baseline", run("old", range(60)), *DROP
    )
    assert code == 0
    for row in output["rows"]:
        assert row["note"] == "30 tasks are not in the baseline"
    assert [row["tasks"] for row in output["rows"]] == [90, 90, 60]


def test_lost_attempts_are_said(passk: Passk, run: Run, tmp_path: Path) -> None:
    old, few = run("old", range(40)), run("few", range(40), n=2)
    _, output = document(passk, few, "--baseline", old, *DROP, "--min", "pass@1=0.1")
    for row in output["rows"]:
        assert "fewer attempts than in the baseline at 40 tasks (80 of 160)" in row["note"]
    gaps = tmp_path / "gaps.csv"
    rows = [f"{t},{a},{'' if a == 1 or t == 3 else 1}" for t in range(9) for a in range(3)]
    gaps.write_text("task,attempt,passed\n" + "\n".join(rows) + "\n")
    _, output = document(passk, gaps, "--missing", "drop", "--min", "pass@1=0.1")
    (row,) = output["rows"]
    expected_words = "11 attempts without an outcome left out; 1 task left without any attempt"
    assert row["note"] == expected_words


def test_each_row_says_what_its_model_lost(passk: Passk, tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    lost = {("a", "x"): 1, ("a", "y"): 2, ("b", "x"): 4, ("b", "y"): 0}
    rows = [
        f"{model},{kind},{kind}{task},{'' if task < count else task % 2}"
        for (model, kind), count in lost.items() for task in range(9)
    ]  # fmt: skip
    path.write_text("model,kind,task,passed\n" + "\n".join(rows) + "\n")

    def notes(*options: str) -> list[str]:
        _, output = document(passk, path, "--missing", "drop", *options)
        return [row["note"] for row in output["rows"]]

    messages = [
        f"{n} attempts without an outcome left out; {n} tasks left without any attempt"
        for n in (3, 4)
    ]
    assert [messages[i] in note for i, note in enumerate(notes("--min", "pass@1=0.1"))] == [
        True
    ] * 2
    against = notes("--baseline", "a", *DROP, "--unpaired", "drop")
    base = messages[0].replace("; ", "; baseline: ")
    assert [f"{messages[1]}; baseline: {base}" in note for note in against] == [True]
    by_kind = notes("--min", "pass@1=0.1", "--by", "kind")
    counts = [re.search(r"(\d) attempts? without", note) for note in by_kind]
    assert [output and output[1] for output in counts] == ["1", "2", "4", None]


def test_short_tasks_are_said(passk: Passk, tmp_path: Path) -> None:
    path, old = tmp_path / "mixed.csv", tmp_path / "old.csv"
    path.write_text("task,n,c\n" + "".join(f"{t},{1 + t % 2},1\n" for t in range(20)))
    old.write_text("task,n,c\n" + "".join(f"{t},2,1\n" for t in range(20)))
    base = [path, "--baseline", old, "--max-drop", "pass@2=0.9", "--min", "pass@2=0.1"]
    code, output = document(passk, *base, "--short-tasks", "drop")
    assert (code, output["rows"][1]["verdict"]) == (1, "fail")
    for row in output["rows"][2:]:
        assert row["note"].startswith("n=1 < k=2 on 10 of 20 tasks")
        assert (row["tasks"], row["shared_tasks"]) == (10, 20)
    assert output["signature"]["short-tasks"] == "drop"


def test_the_baseline_is_never_pooled_with_a_candidate(passk: Passk, run: Run) -> None:
    old, new = run("baseline", range(60)), run("new", range(60))
    worse = run("worse", range(60), worse=1)
    code, output = document(passk, old, new, "--baseline", worse, *DROP)
    assert code == 0
    drops = {row["model"]: row["estimate"] for row in output["rows"] if row["metric"]}
    assert drops == {"baseline": pytest.approx(0.25), "new": pytest.approx(0.25)}
    assert output["signature"]["baseline"] == "worse.csv"


def test_the_baseline_is_left_out_of_a_glob_and_a_folder(
    passk: Passk, run: Run, tmp_path: Path
) -> None:
    old, _, _ = run("baseline", range(60)), run("a", range(60)), run("b", range(60))
    for files in (
        [tmp_path / "*.csv"],
        [tmp_path],
        [tmp_path / "a.csv", f"{tmp_path}/./baseline.csv"],
    ):
        result = passk("gate", *files, "--baseline", old, *DROP)
        assert result.code == 0
        assert "baseline.csv is the baseline, so it is left out of the new" in result.err
        assert "\nbaseline " not in result.out
    # Under one label the attempts of the others would be one model's, and they repeat.
    counts = passk("gate", f"x={tmp_path}/*.csv", "--baseline", old, *DROP)
    assert (counts.code, counts.error) == (3, "duplicate-attempts")


def test_a_file_against_itself_is_no_change(passk: Passk, run: Run) -> None:
    path = run("new", range(60))
    result = passk("gate", path, "--baseline", path, "--max-drop", "pass@1=0.1")
    assert result.code == 0
    assert "nothing can change, because new.csv is both the new run and the baseline" in result.err
    # A difference that is not significant is called neither a loss nor a gain.
    assert result.out.startswith("PASS: pass@1 of new changed by 0.000 [-0.069, +0.069], not sig")


def test_several_baselines_are_read_together(passk: Passk, run: Run) -> None:
    new = run("new", range(60), worse=1)
    parts = [run("one", range(30), model="old"), run("two", range(30, 60), worse=1, model="old")]
    for order in (parts, parts[::-1]):
        baselines = [word for part in order for word in ("--baseline", part)]
        code, output = document(passk, new, *baselines, *DROP)
        # The first file alone lost tasks, the last would say that nothing changed.
        assert (code, output["rows"][0]["shared_tasks"], output["rows"][0]["baseline_tasks"]) == (
            0, 60, 60,
        )  # fmt: skip
        assert output["rows"][2]["estimate"] == pytest.approx(-0.125)
    result = passk("gate", new, "--baseline", parts[0], "--baseline", "old", *DROP)
    assert result.code == 2
    assert result.err == (
        "error[no-such-model]: --baseline old: this file does not exist, but"
        " if you name several baselines, all of them must be files; name existing files, or only"
        " one model\n"
    )
    result = passk("gate", new, "--baseline", parts[0], "--baseline", parts[0], *DROP)
    assert (
        result.code,
        "is given twice, so its attempts would be counted twice" in result.err,
    ) == (
        2,
        True,
    )
    # No output takes the place of one of them.
    result = passk(
        "gate", new, "--baseline", parts[0], "--baseline", parts[1], *DROP, "-o", parts[1]
    )
    assert (result.code, "is also an input file" in result.err) == (2, True)


def test_models_are_matched_by_name(passk: Passk, tmp_path: Path) -> None:
    def models(name: str, passes: dict[str, int]) -> Path:
        path = tmp_path / name
        cells = [f"{m},{t},4,{c}" for m, c in passes.items() for t in range(40)]
        path.write_text("model,task,n,c\n" + "\n".join(cells) + "\n")
        return path

    old = models("old.csv", {"a": 1, "b": 3})
    code, output = document(passk, models("x.csv", {"a": 2, "b": 3}), "--baseline", old, *DROP)
    assert code == 0
    assert [r["estimate"] for r in output["rows"] if r["metric"]] == [0.25, 0.0]
    # One against one, whatever they are called; several against one.
    first = models("one.csv", {"q": 2})
    assert document(passk, models("y.csv", {"z": 2}), "--baseline", first, *DROP)[0] == 0
    assert document(passk, models("y.csv", {"z": 2, "q": 2}), "--baseline", first, *DROP)[0] == 0
    # A name that the baseline lacks cannot be checked; a model of it that was not run is lost.
    code, output = document(passk, models("y.csv", {"z": 2, "a": 2}), "--baseline", old, *DROP)
    assert code == 1
    verdicts = {(r["model"], r["rule"]): (r["verdict"], r["note"]) for r in output["rows"]}
    reason = "cannot be checked: old.csv has no model z, only a, b"
    assert verdicts["z", "pass@1 drop ≤ 0.15"] == ("error", reason)
    assert verdicts["b", "every baseline task"][0] == "fail"
    assert verdicts["a", "pass@1 drop ≤ 0.15"][0] == "pass"
    assert document(passk, old, "--model", "a", "--baseline", old, *DROP)[0] == 0
    pair = models("z.csv", {"a": 1, "b": 3})
    assert document(passk, pair, "--model", "a", "--baseline", old, *DROP)[0] == 0


def test_a_rule_that_cannot_be_checked_hides_no_other(passk: Passk, run: Run) -> None:
    base = [run("new", range(40)), "--min"]
    code, output = document(passk, *base, "pass@1=0.1,pass@8=0.1")
    assert (code, output["result"]) == (3, "fail")
    assert [row["verdict"] for row in output["rows"]] == ["pass", "error"]
    assert output["answer"].startswith("ERROR: ")
    assert output["rows"][1]["note"] == "cannot be checked: n=4 < k=8 on 40 of 40 tasks"
    code, output = document(passk, *base, "pass@8=0.1,pass@1=0.99", "--on-undecided", "pass")
    assert (code, output["result"]) == (1, "fail")
    assert output["answer"].startswith("FAIL: pass@1 of new is ")
    reason = "n=4 < k=8 on 40 of 40 tasks"
    assert output["answer"].endswith(f"; pass@8 ≥ 0.1 of new cannot be checked: {reason}")
    result = passk("gate", *base, "pass@1=0.1,pass@8=0.1", "-f", "junit")
    suite = ElementTree.fromstring(result.out)
    assert (suite.get("failures"), suite.get("errors")) == ("0", "1")


def test_too_few_tasks_for_any_significant_drop_is_undecided(passk: Passk, run: Run) -> None:
    base = ["--no-regression", "-m", "pass@1,pass@4"]
    old = run("old", range(3))
    code, output = document(passk, run("new", range(3), worse=4), "--baseline", old, *base)
    row = output["rows"][2]
    assert (code, row["verdict"]) == (0, "undecided")
    (expected_words,) = (m for m in output["messages"] if m["name"] == "rule-decides-nothing")
    assert "pass@1 no regression" in expected_words["fields"]["rule"]
    result = passk("gate", run("one", range(1)), "--baseline", run("one_old", range(1)), *base,
                 "--on-undecided", "fail")  # fmt: skip
    expected_words = "FAIL: undecided, counted as fail: pass@1 of one changed by 0.000 ["
    assert (result.code, result.out.startswith(expected_words)) == (1, True)


@pytest.mark.long
def test_every_gate_says_its_verdict_once(passk: Passk, run: Run, tmp_path: Path) -> None:
    """Above the table, or on stderr where stdout is for programs."""
    old, worse = run("old", range(60)), run("worse", range(60), worse=1)
    target = tmp_path / "r.xml"
    written = ["-o", tmp_path / "r.md"]
    for more in ([], ["-q"], ["-f", "table"], ["-f", "markdown"], ["-f", "junit", "-o", target],
                 ["-f", "github"], ["-f", "json"], ["-f", "csv"], written):  # fmt: skip
        people = not more or more[-1] in ("-q", "table", "markdown")
        for files, code, first, end in (
            ((worse, old), 1, "FAIL: pass@1 of worse fell by 0.250", "], more than 0.15"),
            ((old, worse), 0, "PASS: pass@1 of old rose by 0.250", "]"),
        ):
            result = passk("gate", files[0], "--baseline", files[1], *DROP, *more)
            assert result.code == code
            line = (
                result.out.splitlines()[0] if people else result.err.removeprefix("passk: ").strip()
            )
            line = line.replace("*", "")
            assert (line.startswith(first), line.endswith(end)) == (True, True)
            assert result.sentences == (not people)
    assert (tmp_path / "r.md").read_text().startswith("**PASS:** pass@1 of old rose by 0.250")


def test_json_says_what_each_rule_rests_on(passk: Passk, run: Run) -> None:
    old, worse = run("old", range(60)), run("worse", range(60), worse=1)
    rules = [*DROP, "--no-regression", "-m", "pass@1", "--min", "pass@4=0.2"]
    _, output = document(passk, worse, "--baseline", old, *rules)
    assert output["result"] == "fail"
    result = {name: output["signature"][name] for name in ("max-drop", "min", "no-regression")}
    assert result == {"max-drop": "pass@1=0.15", "min": "pass@4=0.2", "no-regression": "yes"}
    assert "strict" not in output["signature"]
    _, _, minimum, regression, drop = output["rows"]
    assert (minimum["metric"], minimum["limit"], minimum["tasks"]) == ("pass@4", 0.2, 60)
    assert (regression["metric"], regression["shared_tasks"]) == ("pass@1", 60)
    assert regression["p"] == regression["p_adjusted"] < 1e-4
    assert (drop["limit"], drop["verdict"]) == (0.15, "fail")


def test_bad_data_shows_where_a_pipeline_looks(
    passk: Passk, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty, target = tmp_path / "empty.jsonl", tmp_path / "r.xml"
    empty.touch()
    rule = ["--min", "pass@1=0.1"]
    result = passk("gate", empty, *rule, "-f", "github")
    assert (result.code, result.out) == (3, f"::error title=passk::{result.message}")
    result = passk("gate", run("new", range(9)), "--min", "pass@1=2", "-f", "github")
    assert (result.code, result.out.startswith("::error title=passk::--min pass@1=2")) == (2, True)
    target.write_text("a run of yesterday that passed")
    result = passk("gate", empty, *rule, "-f", "junit", "-o", target)
    assert (result.code, result.out) == (3, "")
    assert ElementTree.fromstring(target.read_text()).get("errors") == "1"
    # In each of several files; with annotations in the step's summary as well.
    table, summary = tmp_path / "r.md", tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    table.write_text("a run of yesterday that passed")
    result = passk("gate", empty, *rule, "-f", "markdown", "-o", table)
    expected_words = f"**ERROR:** {result.message}".replace("_", r"\_")
    assert (table.read_text(), summary.exists()) == (expected_words, False)
    for path in (table, target):
        path.write_text("old")
    result = passk("gate", empty, *rule, "-o", target, "-o", table, "-f", "github", "-o", "-")
    assert (result.code, result.out.startswith("::error title=passk::")) == (3, True)
    assert (table.read_text(), summary.read_text()) == (expected_words, expected_words)
    assert ElementTree.fromstring(target.read_text()).get("errors") == "1"
    # Nothing is written over what is read, not even an error.
    new = run("new", range(9))
    result = passk("gate", new, *rule, "--baseline", new, "-f", "junit", "-o", new)
    assert (result.code, new.read_text().startswith("task,")) == (2, True)
    old = run("old", range(9))
    assert passk("gate", new, *rule, "--baseline", old, "-o", old).code == 2
    assert old.read_text().startswith("task,")


def test_without_a_baseline_what_a_candidate_lacks_of_the_others(passk: Passk, run: Run) -> None:
    base = [run("easy", range(24)), run("full", range(60)), "--min", "pass@1=0.3"]
    code, output = document(passk, *base)
    assert code == 0
    assert [row["note"] for row in output["rows"]] == ["24 of 60 tasks in the data", ""]
    assert "easy: 24 of 60 tasks in the data" in output["answer"]
    _, output = document(passk, *base, "--by", "kind")
    texts = [note["text"] for note in output["messages"]]
    assert "easy has no attempts in the group hard" in texts


def test_the_baseline_as_a_model_of_the_data_loses_tasks_alike(passk: Passk, run: Run) -> None:
    base = [run("easy", range(24)), run("full", range(60)), "--baseline", "full", *DROP]
    assert document(passk, *base)[0] == 1
    assert document(passk, *base, "--unpaired", "drop")[0] == 0
    result = passk("gate", *base, "--unpaired", "none")
    assert (result.code, "--unpaired none: choose one of fail, drop" in result.err) == (2, True)


def test_warnings_of_the_baseline_file_are_said(passk: Passk, run: Run, write: Write) -> None:
    old = write("old.csv", "task,temperature,passed\n" + "".join(f"t{t:03d},0.{a},1\n"
                   for t in range(9) for a in range(2)))  # fmt: skip
    result = passk("gate", run("new", range(9)), "--baseline", old, *DROP, "-q", "-f", "github")
    assert (result.code, "attempts at one task differ in temperature" in result.err) == (3, True)
    old.write_text("task,mode,passed\n" + "".join(f"t{t:03d},{'ab'[t * a % 3 % 2]},1\n"
                   for t in range(9) for a in range(3)))  # fmt: skip
    result = passk("gate", run("new", range(9)), "--baseline", old, *DROP, "-q", "-f", "github")
    expected_words = "baseline old.csv: attempts at one task differ in mode"
    assert expected_words in result.err
    assert f"::warning title=passk::{expected_words}" in result.out


def test_sides() -> None:
    new = Counts.from_cells([("m", "b", 2, 1), ("m", "c", 4, 1), ("z", "c", 1, 1)])
    old = Counts.from_cells([("m", "a", 3, 1), ("m", "b", 3, 1)])
    sides = BaselineMatch.from_two_files(new, old, "old.csv")
    assert sides.counts.tasks == ("a", "b", "c")
    covered = sides.coverage(("m",))
    assert covered is not None
    assert (covered.shared, covered.expected, covered.extra) == (1, 2, 1)
    deviations = sides.candidate_attempts_by_series()["m",].deviation_notes
    assert deviations == [
        "fewer attempts than in the baseline at 1 task (2 of 3)",
        "4 attempts per task at the tasks that the baseline lacks",
    ]
    assert BaselineMatch.without_baseline(new).coverage_of_group_tasks(("z",)).expected == 2
    assert BaselineMatch.without_baseline(new).coverage(("z",)) is None
    names = BaselineMatch.with_model_as_baseline(new, "m")
    assert (names.series, names.base_series(("z",))) == ([("z",)], ("m",))
    np.testing.assert_array_equal(names.task_codes_by_baseline_series["m",], [0, 1])
    with pytest.raises(ValueError, match="every task"):
        new.with_longer_task_list(["a"])


def test_clusters_must_agree() -> None:
    new = Counts.from_cells([("m", "a", 2, 1)]).with_clusters({"a": "x"})
    old = Counts.from_cells([("m", "a", 2, 1), ("m", "b", 2, 1)])
    with pytest.raises(
        DataError,
        match="task 'a' belongs to cluster 'y' in the baseline, but to 'x' in the new run",
    ):
        BaselineMatch.from_two_files(new, old.with_clusters({"a": "y", "b": "y"}), "old.csv")
    sides = BaselineMatch.from_two_files(new, old.with_clusters({"a": "x", "b": "y"}), "old.csv")
    assert sides.counts.clusters == ("x", "y")


def test_percent_reaches_every_number_of_a_gate(passk: Passk, run: Run) -> None:
    old, worse = run("old", range(60)), run("worse", range(60), worse=1)
    rules = ["--max-drop", "pass@1=0.3", "--min", "pass@1=0.05"]
    result = passk("gate", worse, "--baseline", old, *rules, "--percent")
    assert "pass@1 ≥ 5 %" in result.out
    assert "pass@1 drop ≤ 30 points" in result.out
    assert "0.3" not in result.out
    failing = passk("gate", worse, "--baseline", old, "--max-drop", "pass@1=0.025", "--percent")
    verdict = failing.out.splitlines()[0]
    assert verdict == "FAIL: pass@1 of worse fell by 25.0 [19.3, 30.7] points, more than 2.5 points"


def test_a_change_in_percent_is_shown_beside_a_limit_in_percent(passk: Passk, run: Run) -> None:
    old, worse = run("old", range(60)), run("worse", range(60), worse=1)
    result = passk("gate", worse, "--baseline", old, "--max-drop", "pass@1=5%")
    headline, _, _, row, *_ = result.out.splitlines()
    limits = re.search(r"fell by ([0-9.]+) % \[([0-9.]+), ([0-9.]+)\]", headline)
    assert limits
    assert "  -{0} % [-{2}, -{1}]  ".format(*limits.groups()) in row


@pytest.mark.filterwarnings("ignore:pass@1 drop .* cannot fail")
def test_a_share_of_a_baseline_that_is_0_has_a_verdict_and_no_number() -> None:
    passes = {"old": 0, "new": 0, "up": 3}
    data = [{"model": m, "task": f"t{t}", "n": 3, "c": c}
            for m, c in passes.items() for t in range(6)]  # fmt: skip
    gate = passk_cli.gate(data, baseline="old", max_drop="pass@1=10%")
    rows = gate.frame[gate.frame.metric == "pass@1"].set_index("model")
    assert rows.estimate.isna().all()
    assert rows.verdict.to_dict() == {"new": "undecided", "up": "pass"}
    assert set(rows.note) == {"the baseline is 0"}
    assert "pass@1 of new changed by an unknown amount; a drop of 10 % is not excluded" in str(gate)


def test_of_tasks_that_are_fixed_attempts_decide(passk: Passk, run: Run) -> None:
    ask = ["gate", run("new", range(60)), "--min", "pass@1=0.74", "-q"]
    assert re.search(
        r"undecided \(about [\d,]+ tasks would decide if 5 points away\)", passk(*ask).out
    )
    fixed = passk(*ask, "--population", "these-tasks").out
    assert re.search(r"\(about [\d,]+ attempts per task if 5 points away\)", fixed)


@pytest.mark.parametrize(("passed", "least", "decided"), [("true", "0.9", 34), ("false", "0.1", 34),
                                                          ("true", "0.5", 6)])  # fmt: skip
def test_of_tasks_that_all_pass_the_number_is_the_first_that_decides(
    passk: Passk, write: Any, passed: str, least: str, decided: int
) -> None:
    """As the interval of that many shows, and of one fewer does not."""

    def verdict(tasks: int) -> str:
        rows = "".join(f"t{task},{passed}\n" for task in range(tasks))
        path = write(f"{tasks}.csv", f"task,passed\n{rows}")
        return passk("gate", path, "--min", f"pass@1={least}").out.splitlines()[3]

    assert (
        f"(about {decided} tasks would decide if all {'pass' if passed == 'true' else 'fail'})"
        in (verdict(4))
    )
    assert "undecided" in verdict(decided - 1)
    assert "undecided" not in verdict(decided)


def test_with_full_no_sentence_points_to_full(passk: Passk, run: Run) -> None:
    ask = [run("new", range(24, 80)), "--baseline", run("old", range(60)), "--unpaired", "drop"]
    ask += ["--attempts", "9", "--max-drop", "pass@1=0.01"]
    short, full, markdown = (
        passk("gate", *ask, *more).out for more in ([], ["--full"], ["-f", "markdown"])
    )
    assert ": --full" in short.splitlines()[0]
    assert "--full" not in full
    assert "--full" not in markdown


def test_what_fails_stands_first(passk: Passk, run: Run) -> None:
    old, worse = run("old", range(60)), run("worse", range(60), worse=1)
    rules = ["--min", "pass@1=0.05", "--max-drop", "pass@1=0.1"]
    result = passk("gate", worse, "--baseline", old, *rules, "-f", "markdown")
    lines = result.out.splitlines()
    assert lines[0].startswith("**FAIL:** pass@1 of worse fell by 0.250 ")
    assert lines[4].startswith("| pass@1 drop ≤ 0.1 | ")
    full = passk("gate", worse, "--baseline", old, *rules, "--full").out
    assert "differences: model − baseline (old.csv)" in full


def test_no_regression_and_max_drop_0_are_one_rule(passk: Passk, run: Run) -> None:
    """A difference that is not significant is undecided, for both, and counts as it is asked to."""
    pair = ["--no-regression", "--max-drop", "pass@1=0", "-m", "pass@1"]
    old = run("old", range(40))
    same, worse = run("same", range(40)), run("worse", range(40), worse=1)
    for new, base, expected in (
        (same, old, "undecided"), (worse, old, "fail"), (old, worse, "pass"),
    ):  # fmt: skip
        files = new, "--baseline", base
        for on_undecided in ("pass", "fail"):
            code, output = document(passk, *files, *pair, "--on-undecided", on_undecided)
            verdicts = [row["verdict"] for row in output["rows"] if row["metric"]]
            assert verdicts == [expected, expected]
            failing = expected == "fail" or (expected, on_undecided) == ("undecided", "fail")
            assert code == int(failing)
    # Another night: some tasks pass less often, others more often.
    text = same.read_text().replace(",4,4", ",4,?", 3).replace(",4,3", ",4,4", 3)
    same.write_text(text.replace("?", "3"))
    result = passk("gate", same, "--baseline", old, "--no-regression", "-m", "pass@1")
    assert "1 undecided, counted as pass: pass@1 of same changed by 0.000 [" in result.out
    assert "], not significantly; " in result.out
    assert re.search("about [0-9]+ tasks would decide if 5 points lower", result.out)
    # Of several tests the finding has p, and the reason does not say it again.
    several = ["--baseline", old, "--no-regression", "-m", "pass@1,pass@2"]
    for format in ("table", "github", "junit", "gitlab"):
        text = passk("gate", same, *several, "-f", format).out
        messages = [line for line in text.splitlines() if "not significantly (p" in line]
        assert messages
        assert all(line.count("p = ") == 1 for line in messages), messages


@pytest.mark.parametrize(
    ("least", "by", "verdict", "said"),
    [
        ("0.2", "interval", "pass", "its interval is not below the minimum of 0.2"),
        ("0.40", "interval", "undecided", "its interval contains the minimum of 0.4"),
        ("0.45", "interval", "undecided", "its interval contains the minimum of 0.45"),
        ("0.6", "interval", "fail", "its interval is below the minimum of 0.6"),
        ("0.40", "estimate", "pass", "the estimate is not below the minimum of 0.4"),
        ("0.45", "estimate", "fail", "the estimate is below the minimum of 0.45"),
        ("0.2", "lower", "pass", "the lower limit is not below the minimum of 0.2"),
        ("0.40", "lower", "fail", "the lower limit is below the minimum of 0.4"),
    ],
)
def test_what_a_minimum_is_compared_with(
    passk: Passk, least: str, by: str, verdict: str, said: str
) -> None:
    """The run has 0.42 [0.32, 0.53]."""
    ask = ["gate", SAMPLES / "tau_airline.csv", "--min", f"pass@1={least}", "--min-by", by]
    result = passk(*ask, "-f", "json")
    output = json.loads(result.out)
    assert (result.code, output["rows"][0]["verdict"]) == (int(verdict == "fail"), verdict)
    assert said in result.err
    assert output["signature"]["min-by"] == by
    if by == "interval":
        assert passk(*ask[:4]).out == passk(*ask).out
        strict = passk(*ask, "--on-undecided", "fail")
        assert strict.code == int(verdict != "pass")


def test_the_verdict_says_how_undecided_rules_count(passk: Passk) -> None:
    tau = SAMPLES / "tau_airline.csv"
    for rules, counts, expected_words in (
        (["pass@1=0.4"], "pass", "PASS: no rule fails; 1 undecided, counted as pass: pass@1"),
        (["pass@1=0.4,pass@2=0.1"], "pass",
         "PASS: 1 of 2 rules holds; 1 undecided, counted as pass: pass@1"),
        (["pass@1=0.4"], "fail", "FAIL: undecided, counted as fail: pass@1"),
        (["pass@1=0.4,pass@2=0.9"], "pass", "of 0.9; 1 of 2 undecided, counted as pass"),
        (["pass@1=0.4,pass@2=0.9"], "fail", "of 0.9; pass@1 ≥ 0.4 is undecided for gpt-4o"),
    ):  # fmt: skip
        result = passk("gate", tau, "--min", *rules, "--on-undecided", counts, "-q")
        assert expected_words in result.out.splitlines()[0]


def test_a_screen_has_what_fails_and_counts_the_rest(passk: Passk) -> None:
    ask = ["gate", SAMPLES / "agents.jsonl", "--baseline", "gpt-5.6-sol"]
    ask += ["--max-drop", "pass@1=0.2", "--no-regression", "--min", "pass@1=0.3"]
    result = passk(*ask)
    _, table, _ = result.out.split("\n\n")
    rows = [re.split(" {2,}", line) for line in table.splitlines()[1:]]
    assert len(rows) == 14
    # What fails first, then what is undecided; the rest is counted.
    assert [row[-1].split()[0] for row in rows[:6]] == ["fail"] * 6
    assert [row[-1].split()[0] for row in rows[6:]] == ["undecided"] * 8
    assert re.search(r"\b14 of (\d+) rows: --full", result.out)[1] == "51"
    # All of them with --full, and for pipelines.
    assert passk(*ask, "--full").out.count("every baseline task  ") == 7
    assert passk(*ask, "-f", "github").out.count("title=passk%3A every baseline task:") == 7


def test_what_a_verdict_says_of_fewer_attempts_and_of_a_drop_that_is_there(
    passk: Passk, run: Run
) -> None:
    old, few = run("old", range(60)), run("few", range(60), n=2)
    result = passk("gate", few, "--baseline", old, "--max-drop", "pass@1=0.3")
    assert result.out.startswith("PASS, with 120 of 240 baseline attempts: pass@1 of few ")
    worse = run("worse", range(60), worse=1)
    result = passk("gate", worse, "--baseline", old, "--max-drop", "pass@1=0.24")
    assert "0.307]; a drop of 0.24 or less is not excluded" in result.out
    # Where no change is shown the verdict says that, not which way the estimate lies.
    result = passk("gate", run("same", range(60)), "--baseline", old, "--max-drop", "pass@1=0.01")
    assert "pass@1 of same changed by 0.000 [" in result.out
    assert "], not significantly; a drop of 0.01 is not excluded" in result.out
    result = passk("gate", old, "--baseline", old, "--max-drop", "mean=-0.1")
    assert (result.code, result.error) == (2, "bad-option-value")
    assert "write METRIC=X with X of at least 0" in result.err
    mixed, rival = old.with_name("mixed.csv"), old.with_name("other.csv")
    for path, first in ((mixed, 0), (rival, 1)):
        rows = [f"t{task:03d},easy,{2 + (task + first) % 3},1" for task in range(60)]
        path.write_text("task,kind,n,c\n" + "\n".join(rows) + "\n")
    result = passk("gate", rival, "--baseline", mixed, "--max-drop", "pass@1=0.3")
    assert "other has other numbers of attempts than the baseline at 60 tasks" in result.out


def test_rows_that_no_screen_has_room_for_are_counted(
    passk: Passk, tmp_path: Path, write: Write
) -> None:
    """Twenty suites, each with a minimum of its own."""
    (tmp_path / "a.csv").write_text("task,passed\n" + "".join(f"t{t},0\n" for t in range(30)))
    book = write("passk.toml", "".join(
        f'[[suite]]\nname = "s{s}"\nruns = "a.csv"\nmin = {{"pass@1" = 0.{s + 40}}}\n'
        for s in range(20)
    ))  # fmt: skip
    result = passk("gate", "--rules", book, "-q")
    assert result.code == 1
    assert "14 of 20 rows: --full" in result.out


def test_the_verdict_on_many_models_counts_them_names_the_worst_and_says_drops_first(
    passk: Passk, write: Write
) -> None:
    """Twelve of 24 models lose a half of their passes, and all of them an attempt at each task."""
    rows = [
        {"model": f"m{m:02}", "task": f"t{t}", "passed": (t + a) % 5 < (4 if m < 13 else 2)}
        for m in range(25)
        for t in range(60)
        for a in range(5 if not m else 3 + t % 2)
    ]  # fmt: skip
    file = write("many.jsonl", jsonl(rows))
    ask = ["gate", file, "--baseline", "m00", "--max-drop", "pass@1=0.1", "-q"]
    verdict, table, _ = passk(*ask).out.split("\n\n")
    words = " ".join(verdict.split())
    assert words.startswith("FAIL: pass@1 drop ≤ 0.1 fails for 12 of 24 models: m")
    assert "and 9 more; every baseline attempt fails for all 24 models" in words
    rows = [re.split(" {2,}", line) for line in table.splitlines()[1:]]
    assert [row[1] for row in rows[:12]] == ["pass@1 drop ≤ 0.1"] * 12
    # A row that all models pass is one.
    assert [row[-1].split()[0] for row in rows] == ["fail"] * 14
    assert "14 of 49 rows: --full" in passk(*ask).out


def test_what_a_verdict_leaves_unsaid_is_a_detail(passk: Passk, write: Write) -> None:
    name = "a-model-of-a-long-name-" + 5 * "as-harnesses-write-them-"
    rows = "".join(f"{name},t{t},{4 + t % 2},3\n" for t in range(40))
    path = write("run.csv", f"model,task,n,c\n{rows}")
    out = passk("gate", path, "--min", "pass@1=0.4").out
    assert "; 1 more detail: --full" in out.split("\n")[0]
    assert "4 to 5 attempts per task" in passk("gate", path, "--min", "pass@1=0.4", "--full").out
