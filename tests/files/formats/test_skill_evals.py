"""Evaluations of skills: a run passes with all its expectations, and a configuration is a model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from passk_cli import read
from tests.files.formats.cells import DATA, cells

FOLDER = DATA / "skill_evals" / "pdf"
FILE = FOLDER / "benchmark.json"
DOCUMENT = json.loads(FILE.read_text())
PASSED = {("with_skill", 0): 2, ("without_skill", 0): 0, ("with_skill", 1): 3,
          ("without_skill", 1): 1}  # fmt: skip


def write_runs(folder: Path, runs: list[dict[str, Any]], **metadata: object) -> Path:
    path = folder / "x.json"
    path.write_text(json.dumps({"metadata": metadata, "runs": runs}))
    return path


def test_configurations_are_models_and_runs_attempts() -> None:
    expected = {(model, f"pdf/{task}"): (3, c) for (model, task), c in PASSED.items()}
    assert cells(FILE) == expected
    by = cells(FILE, by=["configuration"])
    assert by == {(model, model, task): n for (model, task), n in expected.items()}


def test_the_model_is_named_with_its_configuration(tmp_path: Path) -> None:
    for metadata in ({"executor_model": "opus"}, {"model": "opus"}):
        counts = cells(write_runs(tmp_path, DOCUMENT["runs"], **metadata))
        assert {key[0] for key in counts} == {"with_skill (opus)", "without_skill (opus)"}
        assert {key[1] for key in counts} == {"0", "1"}


def test_a_folder_counts_each_run_once(tmp_path: Path) -> None:
    assert cells(FOLDER) == cells(FILE)
    shutil.copytree(FOLDER, tmp_path / "pdf")
    (tmp_path / "pdf" / "benchmark.json").unlink()
    (tmp_path / "pdf" / "eval-0-sums" / "eval_metadata.json").write_text('{"eval_id": 7}')
    expected = {(m, {0: "7", 1: "1-sums"}[task]): (3, c) for (m, task), c in PASSED.items()}
    assert cells(tmp_path) == expected


@pytest.mark.parametrize(
    ("result", "expectations", "expected"),
    [
        ({"pass_rate": 1.0}, [], (1, 1)),
        ({"pass_rate": 0.99, "passed": 7, "total": 7}, [], (1, 1)),
        ({"pass_rate": 0.85, "passed": 6, "failed": 1, "total": 7}, [], (1, 0)),
        ({"pass_rate": 1.0}, [{"text": "a", "passed": False}], (1, 0)),
        ({"pass_rate": 0.0, "passed": 0, "failed": 0, "total": 0}, [], None),
    ],
)
def test_a_run_passes_if_all_expectations_do(
    tmp_path: Path,
    result: dict[str, Any],
    expectations: list[Any],
    expected: tuple[int, int] | None,
) -> None:
    """A run without any judged expectation has no outcome."""
    record = {"eval_id": 1, "configuration": "c", "run_number": 1, "result": result}
    second = {**record, "eval_id": 2, "result": {"passed": 1, "total": 1}}
    path = write_runs(tmp_path, [{**record, "expectations": expectations}, second])
    counts = cells(path, missing="drop")
    assert counts.pop(("c", "2")) == (1, 1)
    assert counts == ({("c", "1"): expected} if expected else {})


def test_shares_are_scores_and_seconds_durations() -> None:
    assert cells(FILE, threshold=0.6)["with_skill", "pdf/0"] == (3, 3)
    counts = read(FILE, missing_cost="drop")
    assert "duration" not in counts.read_facts.file_readings[0].roles
