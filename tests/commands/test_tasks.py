"""What passk tasks says of data whose answer is known, and of real data."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import passk_cli
from passk_cli import ParameterError
from passk_cli.commands.tasks.matrix import (
    TASK_CLASSES,
    sort_all_tasks_by_suspicion,
    task_rate_matrices,
)
from passk_cli.outcomes.counts import Counts
from passk_cli.study.flips import NamedSeries, compute_flips_of_pairs
from tests.conftest import SAMPLES, Golden, Passk, Write

TAU = SAMPLES / "tau_airline.csv"
AGENTS = SAMPLES / "agents.jsonl"
GOLDENS: dict[str, list[object]] = {
    "tasks": ["tasks", TAU],
    "tasks-always": ["tasks", TAU, "--always", "0.95", "--rows", "5", "-f", "table"],
    "tasks-flips": ["tasks", AGENTS, "--against", "gpt-5.5", "--model", "claude-fable-5"],
    "tasks-suspects": ["tasks", AGENTS, "--suspects", "--rows", "5"],
    "tasks-models": ["tasks", AGENTS, "--rows", "12"],
}


@pytest.mark.parametrize("name", GOLDENS)
def test_golden(golden: Golden, name: str) -> None:
    golden(name, GOLDENS[name])


def test_classes_say_what_attempts_show() -> None:
    cells = [("a", "t1", 3, 3), ("a", "t2", 3, 0), ("a", "t3", 3, 1), ("b", "t4", 1, 1)]
    (rates,) = task_rate_matrices(Counts.from_cells(cells))
    first, second = (
        [TASK_CLASSES[code] for code in codes] for codes in rates.model_task_class_codes
    )
    assert first == ["passed every attempt", "failed every attempt", "flaky", "missing"]
    assert second == [*["missing"] * 3, "passed every attempt"]
    assert np.isnan(rates.rates[0, 3])
    frame = passk_cli.tasks(Counts.from_cells(cells)).frame
    own_values = frame[frame["model"] == "a"].set_index("task").sort_index()
    assert own_values["low"].round(3).tolist() == [0.292, 0, 0.008, 0]
    assert own_values["high"].round(3).tolist() == [1, 0.708, 0.906, 1]


def test_groups_have_tasks_of_their_own() -> None:
    rows = [
        {"model": m, "task": f"{kind}{t}", "kind": kind, "passed": 1}
        for m in "ab" for kind in "xy" for t in range(2) if (m, kind, t) != ("b", "y", 1)
    ]  # fmt: skip
    frame = passk_cli.tasks(rows, by="kind").frame
    assert frame.groupby(["model", "kind"]).size().tolist() == [2, 2, 2, 2]
    gone = frame[frame["class"] == "missing"]
    assert gone[["model", "task", "note"]].to_numpy().tolist() == [["b", "y1", "no attempts"]]


def test_attempts_stand_in_their_order() -> None:
    rows = [{"task": "a", "attempt": i, "passed": p} for i, p in ((3, 1), (1, 0), (2, 1), (10, 0))]
    assert passk_cli.tasks(rows).frame["attempts"].tolist() == ["-++-"]
    lists = [{"task": "a", "results": [True, False, True]}]
    assert passk_cli.tasks(lists).frame["attempts"].tolist() == ["+-+"]
    plain = [{"task": "a", "passed": p} for p in (1, 0, 1)]
    findings = passk_cli.tasks(plain)
    assert findings.frame["attempts"].tolist() == [""]
    assert "the order of attempts is unknown" in " · ".join(findings.report.make_full_context())
    assert passk_cli.tasks(plain, order_from_lines=True).frame["attempts"].tolist() == ["+-+"]


def test_what_says_nothing_about_the_order_is_left_out() -> None:
    rows = [{"task": "a", "attempt": name, "passed": 1} for name in ("x", "y")]
    assert passk_cli.tasks(rows).frame["attempts"].tolist() == [""]
    tied = [{"task": "a", "attempt": 1, "passed": p} for p in (0, 1)]
    assert passk_cli.tasks(tied, duplicates="keep").frame["attempts"].tolist() == [""]
    assert passk_cli.tasks({"task": ["a"], "n": [4], "c": [2]}).frame["attempts"].tolist() == [""]


def test_always_counts_the_attempts_that_are_missing() -> None:
    frame = passk_cli.tasks({"task": ["a", "b"], "n": [59, 3], "c": [59, 3]}, always=0.95).frame
    assert frame[["task", "above_shown", "passes_needed"]].to_numpy().tolist() == [
        ["a", 1, 0], ["b", 0, 56],
    ]  # fmt: skip


def test_a_terminal_has_signs_and_programs_all_rows(passk: Passk, tmp_path: Path) -> None:
    out = passk("tasks", TAU, "--rows", "2", "-f", "table").out
    assert "✗✓✓✗" in out
    rows = json.loads(passk("tasks", TAU, "--rows", "2", "-f", "json").out)["rows"]
    assert len(rows) == 50
    assert {row["attempts"] for row in rows} >= {"++++", "----"}


def test_missing_outcomes_that_may_pass_are_refused(passk: Passk, write: Write) -> None:
    path = write("a.csv", "task,attempt,passed\na,1,1\na,2,\n")
    err = passk("tasks", path, "--missing", "bounds").err
    assert [f" --missing {way} " in err for way in ("fail", "drop")] == [True, True]
    assert passk("tasks", path, "--missing", "fail").code == 0


def counts_of(**cells: str) -> list[dict[str, object]]:
    """Rows of counts: task="new n/c old n/c"."""
    rows = []
    for task, text in cells.items():
        for model, pair in zip(("new", "old"), text.split(), strict=False):
            c, n = map(int, pair.split("/"))
            rows.append({"model": model, "task": task, "n": n, "c": c})
    return rows


def test_flips_are_counted_beside_what_chance_makes() -> None:
    rows = counts_of(a="9/9 0/9", b="5/9 3/9", c="0/9 9/9", d="9/9 9/9")
    findings = passk_cli.tasks(rows, against="old")
    flips, chance, changed = findings.report.answer
    assert (flips.name, chance.name, changed.name) == (
        "flips", "flips-beyond-chance", "tasks-changed",
    )  # fmt: skip
    assert (flips.fields["flips"], flips.fields["gains"], flips.fields["losses"]) == (2, 1, 1)
    assert (changed.fields["improved"], changed.fields["regressed"]) == (1, 1)
    frame = findings.frame.set_index("task")
    assert frame["flip"].to_dict() == {"a": "to passing", "b": "", "c": "to failing", "d": ""}
    assert frame["verdict"].to_dict() == {"a": "improved", "b": "", "c": "regressed", "d": ""}
    assert frame.loc["b", "passes_against"] == 3


def test_one_attempt_each_does_not_tell_what_chance_makes() -> None:
    rows = counts_of(a="1/1 0/1", b="0/1 1/1", c="1/1 1/1", d="0/1 0/1")
    counts = passk_cli.read(rows)
    (flips,) = compute_flips_of_pairs(
        [(NamedSeries(counts, 0, "new"), NamedSeries(counts, 1, "old"))]
    )
    assert (
        flips.flip_count,
        flips.expected_multi_attempt_flips,
        flips.max_expected_single_attempt_flips,
    ) == (2, 0.0, 2.0)
    with pytest.warns(passk_cli.PasskWarning, match="no single task can be significant"):
        findings = passk_cli.tasks(rows, against="old")
    sentence, _ = findings.report.answer
    assert (sentence.name, sentence.fields["most"]) == ("flips-of-single-attempts", 2)


def test_tasks_with_one_attempt_stand_apart_from_the_others() -> None:
    rows = counts_of(a="1/1 0/1", b="3/4 1/4", c="4/4 0/4", d="2/2 0/1")
    findings = passk_cli.tasks(rows, against="old")
    sentence = findings.report.answer[0]
    assert sentence.name == "flips-of-some-single-attempts"
    assert [sentence.fields[name] for name in ("several", "repeated", "expected")] == [3, 2, "0.4"]


def test_tasks_that_one_side_lacks_are_said() -> None:
    rows = counts_of(a="9/9 0/9", b="9/9")
    with pytest.warns(passk_cli.PasskWarning, match="only one model has are left out"):
        assert passk_cli.tasks(rows, against="old").frame["task"].tolist() == ["a"]
    separate = [
        {"model": "new", "task": "a", "n": 1, "c": 1},
        {"model": "old", "task": "b", "n": 1, "c": 1},
    ]
    with pytest.raises(ParameterError, match="this run or model shares no task"):
        passk_cli.tasks(separate, against="old")


def test_another_file_is_compared_model_by_model(passk: Passk, tmp_path: Path) -> None:
    new, old = tmp_path / "new.csv", tmp_path / "old.csv"
    new.write_text("model,task,n,c\nx,a,9,9\ny,a,9,0\n")
    old.write_text("model,task,n,c\nx,a,9,0\ny,a,9,1\nz,a,9,9\n")
    result = passk("tasks", new, "--against", old, "-f", "jsonl")
    rows = {row["model"]: row for row in map(json.loads, result.out.splitlines())}
    assert {m: (r["against"], r["passes_against"]) for m, r in rows.items()} == {
        "x": ("x (old.csv)", 0), "y": ("y (old.csv)", 1),
    }  # fmt: skip
    single = passk("tasks", tmp_path, "--against", old, "--model", "x", "-f", "csv")
    assert single.out.count("\n") == 2
    assert "this run contains no results for the same models and groups" in passk_error(
        passk, tmp_path, old
    )


def passk_error(passk: Passk, folder: Path, old: Path) -> str:
    second = folder / "other.csv"
    second.write_text("model,task,n,c\nw,a,9,9\n")
    return passk("tasks", second, "--against", old).err


def test_views_are_asked_for_one_at_a_time(passk: Passk) -> None:
    result = passk("tasks", AGENTS, "--suspects", "--always", "0.9")
    assert (result.code, result.out) == (2, "")
    assert "--suspects: this option cannot be combined with" in result.err
    assert "there are claude" in passk("tasks", AGENTS, "--against", "nobody").err


def test_compare_lists_flips(passk: Passk) -> None:
    base = ["compare", AGENTS, "-k", "1", "--baseline", "gpt-5.5", "--flips", "-q"]
    out = passk(*base).out
    assert "claude-fable-5   gpt-5.5  18     8        0.8 (0–3)" in out
    rows = [json.loads(line) for line in passk(*base, "-f", "jsonl").out.splitlines()]
    assert sum(row.get("flip") == "to failing" for row in rows) == 8


def test_a_task_with_a_wrong_key_is_found() -> None:
    ability = np.linspace(0.05, 0.95, 60)
    passed = np.random.default_rng(5).random((60, 40)) < ability[:, None]
    passed[:, 7] = ~passed[:, 7]
    passed[:, 8] = False
    cells = [
        (f"m{i}", f"t{j}", 1, int(passed[i, j])) for i in range(60) for j in range(40)
    ]  # fmt: skip
    counts = Counts.from_cells(cells)
    kinds = {row.task: row.finding for row in sort_all_tasks_by_suspicion(counts) if row.finding}
    assert kinds == {"t7": "weaker models pass it more often", "t8": "nobody solves it"}
    findings = passk_cli.tasks(counts, suspects=True)
    assert findings.report.answer[0].fields["suspects"] == ["t7"]
    assert findings.frame["task"][0] == "t7"


def test_few_models_show_little() -> None:
    rows = [{"model": m, "task": t, "n": 1, "c": int(m > "b")} for m in "abc" for t in "xyz"]
    with pytest.raises(ParameterError, match="at least 4 models"):
        passk_cli.tasks(rows, suspects=True)
    same = [{"model": m, "task": t, "n": 2, "c": 1} for m in "abcd" for t in "xyz"]
    assert passk_cli.tasks(same, suspects=True).report.answer[0].name == "no-task-tested"
    four = [{"model": m, "task": t, "n": 1, "c": int(m > "b")} for m in "abcd" for t in "xyz"]
    messages = {
        row.name: row.fields for row in passk_cli.tasks(four, suspects=True).report.messages
    }
    assert messages["no-suspect-possible"]["smallest"] == pytest.approx(1 / 6)
    assert "related-models" in messages


def test_a_matrix_is_sorted_so_that_structure_shows() -> None:
    passed = {"strong": "111110", "middle": "111000", "weak": "100001"}
    cells = [(m, f"t{t}", 1, int(p)) for m, row in passed.items() for t, p in enumerate(row)]
    matrix = task_rate_matrices(Counts.from_cells(cells))[0].easiest_and_best_first()
    assert matrix.models == ("strong", "middle", "weak")
    assert matrix.tasks == ("t0", "t1", "t2", "t3", "t4", "t5")
    assert matrix.rates[0].tolist() == [1, 1, 1, 1, 1, 0]


def test_a_matrix_has_a_column_per_model_and_all_tasks(passk: Passk, write: Write) -> None:
    path = write("a.csv", "model,task,n,c\ntask,a,4,1\ntask,b,4,4\nother,a,2,1\n")
    out = passk("tasks", path, "--matrix", "--rows", "1", "-f", "csv").out
    assert out.splitlines() == ["task,task (model),other", "b,1.0,", "a,0.25,0.5"]
    markdown = passk("tasks", path, "--matrix", "-f", "markdown").out
    assert "| b | 1.000 | 1.000 | – |" in markdown


def test_thousands_of_tasks_share_cells(passk: Passk, tmp_path: Path) -> None:
    cells = [(f"m{i}", f"t{t:04d}", 1, int(t % 7 > i % 5)) for i in range(3) for t in range(4000)]
    findings = passk_cli.tasks(Counts.from_cells(cells), matrix=True)
    (plot,) = findings.report.plots
    assert len(plot.rows) == 3 * 160
    assert sum(row["high"] - row["low"] for row in plot.rows) == 3 * 4000
    assert "about 25 tasks share a cell" in plot.subtitle
    findings.save(tmp_path / "heat.svg")
    assert (tmp_path / "heat.svg").stat().st_size < 400_000


def test_groups_are_panels_of_the_heat_map(tmp_path: Path) -> None:
    rows = [
        {"model": m, "task": t, "kind": k, "passed": int(m < t)}
        for m in "ab" for t in "abc" for k in "xy"
    ]  # fmt: skip
    findings = passk_cli.tasks(rows, by="kind", matrix=True)
    (plot,) = findings.report.plots
    assert {row["panel"] for row in plot.rows} == {"x", "y"}
    findings.save(tmp_path / "heat.html")
    assert findings.frame.columns.tolist() == ["kind", "task", "a", "b"]


def test_every_view_can_be_drawn(tmp_path: Path) -> None:
    for view in ({}, {"against": "gpt-5.5"}, {"suspects": True}, {"always": 0.5}):
        findings = passk_cli.tasks(str(AGENTS), **view)
        assert findings.report.plots


def test_runs_are_folders_and_keep_apart_by_name(passk: Passk, tmp_path: Path) -> None:
    for run, c in (("run1", 0), ("run2", 9)):
        (tmp_path / run).mkdir()
        (tmp_path / run / "res.csv").write_text(f"model,task,n,c\nx,t28,9,{c}\nx,t3,9,{c}\n")
    new, old = tmp_path / "run2", tmp_path / "run1"
    for against in (old, old / "res.csv", f"{old}/*.csv"):
        files = new if against == old else new / "res.csv"
        out = passk("tasks", files, "--against", against, "-f", "jsonl").out
        rows = [json.loads(line) for line in out.splitlines()]
        assert [row["task"] for row in rows] == ["t3", "t28"]
        assert rows[0]["verdict"] == "improved"
    result = passk("tasks", new / "res.csv", "--against", old / "res.csv", "-v")
    assert "x (run1/res.csv)" in result.out
    assert "against=run1/res.csv" in result.out
    assert "against=old " in passk("tasks", new, "--against", f"old={old}", "-v").out


def test_of_several_pairs_the_ones_beyond_chance_are_named() -> None:
    cells = [("a", f"t{t}", 4, 4 * (t > 5)) for t in range(12)]
    cells += [(m, f"t{t}", 4, 4) for m in ("b", "base") for t in range(12)]
    findings = passk_cli.tasks(Counts.from_cells(cells), against="base")
    first, second, _ = findings.report.answer
    assert (first.fields["pairs"], first.fields["all_flips"]) == (2, 6)
    assert (second.name, second.fields["model"], second.fields["more"]) == (
        "pairs-beyond-chance", "a", 0,
    )  # fmt: skip


def test_a_chart_of_passes_has_no_holes() -> None:
    rows = {"task": [*"abc"], "n": [4, 4, 4], "c": [0, 3, 3]}
    (plot,) = passk_cli.tasks(rows).report.plots
    assert [(row["label"], row["x"]) for row in plot.rows] == [
        ("4 of 4", 0), ("3 of 4", 2), ("2 of 4", 0), ("1 of 4", 0), ("0 of 4", 1),
    ]  # fmt: skip


def test_tasks_of_all_models_that_pass_and_that_fail_are_counted_in_one_sentence(
    passk: Passk, write: Write
) -> None:
    rows = [f"{m},t{t},2,{c}" for m in "ab" for t, c in enumerate((2, 2, 2, 0, 1))]
    path = write("run.csv", "\n".join(["model,task,n,c", *rows]))
    out = passk("tasks", path).out
    assert "All attempts of all models passed at 3 of 5 tasks, and failed at 1." in out
    path.write_text(path.read_text().replace(",2,0", ",2,1"))
    assert "All attempts of all models passed at 3 of 5 tasks." in passk("tasks", path).out
