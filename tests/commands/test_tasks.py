"""What passk tasks says of data whose answer is known, and of real data."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import passk_cli
from passk_cli.commands.tasks.classes import CLASSES, rates_by_task
from passk_cli.outcomes.counts import Counts
from tests.conftest import SAMPLES, Golden, Passk

TAU = SAMPLES / "tau_airline.csv"
AGENTS = SAMPLES / "agents.jsonl"
GOLDENS: dict[str, list[object]] = {
    "tasks": ["tasks", TAU],
    "tasks-always": ["tasks", TAU, "--always", "0.95", "--rows", "5", "-f", "table"],
    "tasks-models": ["tasks", AGENTS, "--rows", "12"],
}


@pytest.mark.parametrize("name", GOLDENS)
def test_golden(golden: Golden, name: str) -> None:
    golden(name, GOLDENS[name])


def test_classes_say_what_attempts_show() -> None:
    cells = [("a", "t1", 3, 3), ("a", "t2", 3, 0), ("a", "t3", 3, 1), ("b", "t4", 1, 1)]
    first, second = rates_by_task(Counts.from_cells(cells))
    assert [CLASSES[code] for code in first.codes] == [
        "always so far", "never so far", "sometimes", "missing",
    ]  # fmt: skip
    assert first.low.round(3).tolist() == [0.368, 0, 0.008, 0]
    assert first.high.round(3).tolist() == [1, 0.632, 0.906, 1]
    assert second.numbers() == {
        "sometimes": 0, "missing": 3, "never so far": 0, "always so far": 1,
    }  # fmt: skip
    assert np.isnan(first.rates[3])


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
    assert "the order of attempts is not known" in findings.report.caption
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


def test_missing_outcomes_that_may_pass_are_refused(passk: Passk, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("task,attempt,passed\na,1,1\na,2,\n")
    assert "use --missing fail or --missing drop" in passk("tasks", path, "--missing", "bounds").err
    assert passk("tasks", path, "--missing", "fail").code == 0
