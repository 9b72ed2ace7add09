"""pytest-json-report: outcomes of pytest, and names that pytest-repeat numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from passk_cli import DataError, read
from tests.conftest import Passk
from tests.files.formats.cells import DATA, Cells, cells

PATH = DATA / "pytest_report" / ".report.json"


def report(path: Path, outcomes: dict[str, str], **fields: Any) -> Path:
    """Write a report with these outcomes by name."""
    records = [
        {"nodeid": name, "lineno": 1, "outcome": result} for name, result in outcomes.items()
    ]
    document = {"created": 1.5, "exitcode": 1, "root": "/", "summary": {"total": len(outcomes)}}
    path.write_text(json.dumps(document | {"tests": records} | fields))
    return path


def test_repeats_are_attempts_of_one_test() -> None:
    document = json.loads(PATH.read_text())
    expected: dict[str, list[int]] = {}
    for test in document["tests"]:
        name = test["nodeid"]
        assert name.endswith("-5]")
        # a[1-5] is an attempt of a, a[sum-1-5] of a[sum].
        task = name[:-5] if name[-5] == "[" else name[:-5] + "]"
        cell = expected.setdefault(task, [0, 0])
        # The numbers of pytest's own summary line: passed tests, and tests with a result.
        cell[0] += test["outcome"] in ("passed", "failed", "xfailed", "xpassed")
        cell[1] += test["outcome"] in ("passed", "xpassed")
    summary = document["summary"]
    assert sum(c for _, c in expected.values()) == summary["passed"] + summary["xpassed"]
    counts = cells(PATH, missing="drop")
    assert {task: cell for (_, task), cell in counts.items()} == {
        task: (n, c) for task, (n, c) in expected.items() if n
    }
    facts = read(PATH, missing="drop").read_facts
    (reasons,) = facts.missing_reasons_by_model.values()
    assert reasons == {"error": summary["error"], "skipped": summary["skipped"]}
    assert [message.name for message in facts.messages] == ["repeated-tests"]
    assert facts.messages[0].text.endswith(
        "9 tests are repeated: in test_agent.py::test_answer[sum-1-5] the last two numbers are the"
        " attempt and the number of attempts"
    )


def test_parameters_that_look_like_repeats_are_tasks(tmp_path: Path) -> None:
    names = ["t.py::add[1-2]", "t.py::add[2-2]", "t.py::add[1-3]", "t.py::date[2024-1-5]"]
    path = report(tmp_path / "x.json", dict.fromkeys(names, "passed"))
    assert cells(path) == {("x", name): (1, 1) for name in names}
    # All numbers occur, so they are repeats, unless the report lists no plugin for repeats.
    outcomes = dict.fromkeys(names[:2], "passed")
    assert cells(report(path, outcomes)) == {("x", "t.py::add"): (2, 2)}
    plugins = {"Plugins": {"json-report": "1.5.0"}}
    expected: Cells = {("x", name): (1, 1) for name in names[:2]}
    assert cells(report(path, outcomes, environment=plugins)) == expected


def test_missing_repeats_of_a_stopped_run_are_reported(tmp_path: Path) -> None:
    """Without parameters the number is the repeat, even if later repeats are missing."""
    keywords = ["t.py", "add[1-5]", ""]
    tests = [{"nodeid": f"t.py::add[{i}-5]", "outcome": "failed", "keywords": keywords}
             for i in (1, 2)]  # fmt: skip
    summary = {"total": 2, "collected": 6, "deselected": 1}
    path = report(tmp_path / "x.json", {}, tests=tests, summary=summary)
    assert cells(path) == {("x", "t.py::add"): (2, 0)}
    texts = [message.text for message in read(path).read_facts.messages]
    assert texts[1].endswith("the run lists 5 attempts, but the file contains 2")


def test_a_second_report_is_a_second_attempt_and_a_copy_is_a_repeat(tmp_path: Path) -> None:
    for folder, created, outcome in (("a", 1.0, "passed"), ("b", 2.0, "rerun")):
        (tmp_path / folder).mkdir()
        report(tmp_path / folder / ".report.json", {"t.py::one": outcome}, created=created)
    # Folders name the models, unless one label joins them.
    assert cells(tmp_path) == {("a", "t.py::one"): (1, 1), ("b", "t.py::one"): (1, 0)}
    assert cells(f"m={tmp_path}") == {("m", "t.py::one"): (2, 1)}
    report(tmp_path / "b" / ".report.json", {"t.py::one": "rerun"}, created=1.0)
    with pytest.raises(DataError, match="is duplicated"):
        read(f"m={tmp_path}")


def test_the_last_failed_subtest_decides_the_outcome(tmp_path: Path) -> None:
    """pytest gives a test the outcome "subtests passed" if its last subtest passed, whatever else
    failed."""
    tests = [
        {"nodeid": part, "outcome": "subtests passed", "call": {"outcome": part}}
        for part in ("passed", "failed")
    ]
    path = report(tmp_path / "x.json", {}, tests=tests)
    assert cells(path) == {("x", "passed"): (1, 1), ("x", "failed"): (1, 0)}


def test_a_report_without_tests_is_refused(passk: Passk, tmp_path: Path) -> None:
    """A report with only a summary is refused. A file of that name with another layout needs
    choices."""
    path = tmp_path / ".report.json"
    report(path, {}, duration=0.1)
    assert "error[no-results]" in passk("estimate", path).err
    report(path, {"t.py::one": "maybe"})
    assert '"outcome" is "maybe"' in passk("estimate", path).err
    path.write_text(json.dumps({"summary": {"passed": 3, "failed": 1}, "tests": ["a", "b"]}))
    result = passk("estimate", path)
    assert (result.code, result.out) == (3, "")
    assert result.error == "no-task-column"
