"""DeepEval: the verdict of the harness, its metrics, and errors that it counts as failures."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from passk_cli import read
from tests.conftest import Passk, Write
from tests.files.formats.cells import DATA, cells

ROOT = DATA / "deepeval"
PATH = ROOT / ".latest_test_run.json"


def run(path: Path, *cases: Mapping[str, Any], **fields: Any) -> Path:
    """Write a test run with these cases."""
    document = {"testCases": cases, "conversationalTestCases": [], "metricsScores": []}
    path.write_text(json.dumps({"testRunData": document | fields}))
    return path


def metric(name: str, success: bool, **fields: Any) -> dict[str, Any]:
    return {"name": name, "success": success, **fields}


def test_an_attempt_passes_if_all_metrics_pass() -> None:
    data = json.loads(PATH.read_text())["testRunData"]
    expected: dict[tuple[str, str], list[int]] = {}
    for case in data["testCases"]:
        cell = expected.setdefault(("stub-1", case["input"]), [0, 0])
        exact, short = case["metricsData"]
        # Only the second metric fails to judge. If the first one passes, the case was not judged.
        cell[0] += not ("error" in short and exact["success"])
        cell[1] += case["success"]
    counts = cells(PATH, missing="drop")
    assert counts == {task: tuple(cell) for task, cell in expected.items()}
    assert sum(c for _, c in counts.values()) == data["testPassed"] == 7
    # The harness counts errors as failures.
    cell_counts = cells(PATH, missing="fail")
    assert sum(n - c for n, c in cell_counts.values()) == data["testFailed"] == 5
    assert read(PATH, missing="drop").read_facts.missing_reasons_by_model == {
        "stub-1": {"error": 3}
    }


def test_outcome_can_name_a_metric() -> None:
    data = json.loads(PATH.read_text())["testRunData"]
    for scores in data["metricsScores"]:
        counts = cells(PATH, outcome=scores["metric"], missing="drop")
        passed = sum(c for _, c in counts.values())
        assert (passed, sum(n for n, _ in counts.values())) == (
            scores["passes"],
            scores["passes"] + scores["fails"],
        )
    strict = cells(PATH, outcome="Short", threshold=0.6, missing="drop")
    assert sum(c for _, c in strict.values()) == sum(
        score >= 0.6 for score in data["metricsScores"][1]["scores"]
    )


def test_the_folder_counts_its_run_once(passk: Passk) -> None:
    assert cells(ROOT, missing="drop") == cells(PATH, missing="drop")
    full = ROOT / ".latest_run_full.json"
    assert cells(full, missing="drop") == cells(PATH, missing="drop")
    result = passk("estimate", PATH, "--outcome", "Long")
    assert "there are success, Exact Match, Short" in result.err


def test_flaky_metrics_do_not_decide_the_verdict(tmp_path: Path) -> None:
    flaky = metric("a", False, error="late", flaky=True)
    case = {"input": "x", "success": True, "metricsData": [flaky, metric("b", True)]}
    assert cells(run(tmp_path / "r.json", case)) == {("r", "x"): (1, 1)}


def test_an_error_with_a_failed_metric_is_a_failure(tmp_path: Path) -> None:
    metrics = [metric("a", False, error="late"), metric("b", False)]
    case = {"input": "x", "success": False, "metricsData": metrics}
    path = run(tmp_path / "r.json", case)
    assert cells(path) == {("r", "x"): (1, 0)}
    assert read(path, outcome="a", missing="fail").read_facts.missing_reasons_by_model == {
        "r": {"error": 1}
    }


def test_the_same_input_with_other_expectations_is_another_task(tmp_path: Path) -> None:
    cases = [
        {"name": f"test_case_{place}", "input": "x", "expectedOutput": expected, "success": True}
        for place, expected in enumerate(("1", "1", "2"))
    ]
    talks = [{"name": "t", "scenario": "refund", "success": False, "turns": []}]
    counts = cells(run(tmp_path / "r.json", *cases, conversationalTestCases=talks))
    assert sorted(counts.values()) == [(1, 0), (1, 1), (2, 2)]
    assert counts["r", "refund"] == (1, 0)


def test_a_link_to_results_is_refused(write: Write, passk: Passk) -> None:
    """A link contains no results. A file of that name with another layout needs choices."""
    path = write(".latest_test_run.json", json.dumps({"testRunLink": "https://example.com/run/1"}))
    result = passk("estimate", path)
    assert (result.code, result.out) == (3, "")
    assert "error[no-results]" in result.err
    assert (
        "the file contains a link to results instead of results; give .latest_run_full.json"
        in result.err
    )
    path.write_text(json.dumps({"testRunData": {"testCases": {"a": True}, "testPassed": 1}}))
    result = passk("estimate", path)
    assert (result.code, result.out) == (3, "")
    assert result.error == "no-task-column"
    run(path, testCases={"a": True})
    assert 'testCases is {"a": true}; expected a list' in passk("estimate", path).err


def test_the_last_run_counts_once_if_it_has_two_files(tmp_path: Path) -> None:
    """With DEEPEVAL_RESULTS_FOLDER a run is in two files: its own and the latest one."""
    for folder in (tmp_path / "results", tmp_path / ".deepeval"):
        folder.mkdir()
    latest = tmp_path / ".deepeval" / ".latest_test_run.json"
    run(latest, {"input": "x", "success": True}, runDuration=3)
    last = json.loads(latest.read_text())["testRunData"]
    for folder in (tmp_path / "results", tmp_path / ".deepeval"):
        (folder / "test_run_20260102_000000.json").write_text(json.dumps(last | {"runDuration": 4}))
        first = last | {"testCases": [{"input": "x", "success": False}]}
        (folder / "test_run_20260101_000000.json").write_text(json.dumps(first))
        counts = cells(list(dict.fromkeys([str(tmp_path / ".deepeval"), str(folder)])))
        assert sum(n for n, _ in counts.values()) == 2, folder
        assert sum(c for _, c in counts.values()) == 1


def test_a_database_is_refused_with_a_command_that_writes_a_run(
    tmp_path: Path, passk: Passk
) -> None:
    """Source: DeepEval 4.3.1, sqlite_store/store.py: payload_json contains a run in the form of its
    files."""
    path = tmp_path / "deepeval.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE test_runs (id INTEGER PRIMARY KEY, payload_json TEXT)")
        text = run(tmp_path / "r.json", {"input": "x", "success": True}).read_text()
        payload = json.dumps(json.loads(text)["testRunData"])
        database.execute("INSERT INTO test_runs VALUES (1, ?)", [payload])
        database.commit()
        result = passk("estimate", path)
        assert (result.code, result.out) == (3, "")
        assert "the file is a database of DeepEval, which may contain several runs" in result.err
        (statement,) = re.findall('"(SELECT [^"]+)"', result.err)
        ((text,),) = database.execute(statement).fetchall()
    (tmp_path / "run.json").write_text(text)
    assert cells(tmp_path / "run.json") == {("run", "x"): (1, 1)}
