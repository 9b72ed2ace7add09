"""Aider's benchmark: the tries at an exercise are one attempt, and another run is another
attempt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from passk_cli import read
from tests.files.formats.cells import DATA, cells

FILE = next((DATA / "aider").glob("**/.aider.results.json"))
RESULT = json.loads(FILE.read_text())


def write_exercise(folder: Path, place: str, tries: list[bool] | None, **more: object) -> None:
    """Write the results of an exercise; with tries=None those after an exception."""
    run, *inside = place.split("/")
    path = folder.joinpath(run, *inside[:-1], "exercises", "practice", inside[-1])
    path.mkdir(parents=True)
    result: dict[str, Any] = {"exception": "Traceback"}
    if tries is not None:
        testdir = f"tmp.benchmarks/{path.relative_to(folder)}"
        result = {**RESULT, "testdir": testdir, "testcase": path.name, "tests_outcomes": tries}
    (path / ".aider.results.json").write_text(json.dumps({**result, **more}, indent=4))
    (path / "package.json").write_text('{"name": "@exercism/javascript-bowling", "version": "1"}')


def test_the_last_try_decides_the_outcome() -> None:
    assert cells(FILE) == {("alpha", "python/bowling"): (1, 1)}
    assert cells(FILE, outcome="first") == {("alpha", "python/bowling"): (1, 0)}


def test_runs_are_attempts_and_languages_have_their_own_tasks(tmp_path: Path) -> None:
    write_exercise(tmp_path, "one/python/bowling", [False, True])
    write_exercise(tmp_path, "two/python/bowling", [False, False])
    write_exercise(tmp_path, "one/go/bowling", [True])
    write_exercise(tmp_path, "two/go/bowling", [True])
    assert cells(tmp_path) == {("alpha", "python/bowling"): (2, 1), ("alpha", "go/bowling"): (2, 2)}
    first = {("alpha", "python/bowling"): (2, 0), ("alpha", "go/bowling"): (2, 2)}
    assert cells(tmp_path, outcome="first") == first
    assert read(tmp_path).read_facts.pooled_run_count_by_model == {"alpha": 2}
    by = cells(tmp_path, by=["edit_format"])
    assert {key[:2] for key in by} == {("alpha", "diff")}


@pytest.mark.parametrize("tries", [None, []])
def test_an_exception_gives_no_outcome_of_the_same_model(tmp_path: Path, tries: Any) -> None:
    write_exercise(tmp_path, "one/go/bowling", [True])
    write_exercise(tmp_path, "one/python/bowling", tries)
    counts = cells(tmp_path, missing="fail")
    assert counts == {("alpha", "go/bowling"): (1, 1), ("alpha", "python/bowling"): (1, 0)}
    reason = "error" if tries is None else "unscored"
    assert read(tmp_path, missing="drop").read_facts.missing_reasons_by_model == {
        "alpha": {reason: 1}
    }
