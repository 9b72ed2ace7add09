"""Terminal-Bench 1: runs are joined, and the trials below a run do not count again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from passk_cli import DataError, read
from passk_cli.study.data_notes import reading_notes
from tests.files.formats.cells import DATA, cells

RUNS = DATA / "terminal_bench"
MODEL = "openai/stub-1"


def test_two_runs_of_one_model_are_joined() -> None:
    expected: dict[tuple[str, ...], tuple[int, int]] = {}
    for path in RUNS.glob("*/results.json"):
        for trial in json.loads(path.read_text())["results"]:
            n, c = expected.get((MODEL, trial["task_id"]), (0, 0))
            expected[MODEL, trial["task_id"]] = (n + 1, c + (trial["is_resolved"] is True))
    assert cells(RUNS, missing="fail") == expected
    assert {n for n, _ in expected.values()} == {6}


def test_pooled_runs_are_reported() -> None:
    note = f"2 runs of {MODEL} are pooled; --by run separates the runs"
    pooled = read(RUNS, missing="fail")
    assert note in [n.text for n in reading_notes(pooled)]
    by_run = read(RUNS, missing="fail", by=["run"])
    assert not by_run.read_facts.pooled_run_count_by_model
    assert len(by_run.series) == 2


def test_null_is_missing_and_an_agent_timeout_can_pass() -> None:
    trials = [
        trial
        for path in RUNS.glob("*/results.json")
        for trial in json.loads(path.read_text())["results"]
    ]
    null = sum(trial["is_resolved"] is None for trial in trials)
    late = [t for t in trials if t["failure_mode"] == "agent_timeout" and t["is_resolved"]]
    facts = read(RUNS, missing="drop").read_facts
    assert (facts.missing_outcome_count, facts.missing_reasons_by_model) == (
        null,
        {MODEL: {"error": null}},
    )
    assert null
    assert late
    assert not facts.non_result_files


def test_single_trials_give_the_counts_of_their_run(tmp_path: Path) -> None:
    """The run was stopped before it listed its trials."""
    shutil.copytree(RUNS, tmp_path / "runs")
    for path in (tmp_path / "runs").glob("*/results.json"):
        path.write_text('{"id": "x", "results": [], "n_resolved": 0, "unresolved_ids": [],'
                        ' "pass_at_k": {}}')  # fmt: skip
    assert cells(tmp_path / "runs", missing="fail") == cells(RUNS, missing="fail")
    assert len(read(tmp_path / "runs", missing="fail").read_facts.non_result_files) == 2


def test_a_task_with_a_dot_in_its_name_keeps_its_attempt_numbers() -> None:
    counts = read(RUNS, missing="fail")
    assert not counts.read_facts.duplicate_count
    assert counts.read_facts.duplicates_checked


def without_metadata(folder: Path) -> Path:
    """Only the files of the runs, under different names."""
    for number, path in enumerate(sorted(RUNS.glob("*/results.json"))):
        shutil.copy(path, folder / f"run-{number}.json")
    return folder


def test_runs_of_one_label_are_joined_without_metadata(tmp_path: Path) -> None:
    labelled = cells(f"mine={without_metadata(tmp_path)}", missing="fail")
    expected = {("mine", task): cell for (_, task), cell in cells(RUNS, missing="fail").items()}
    assert labelled == expected
    assert read(f"mine={tmp_path}", missing="fail").read_facts.messages == ()


def test_the_same_run_twice_under_one_label_is_refused(tmp_path: Path) -> None:
    first = without_metadata(tmp_path) / "run-0.json"
    shutil.copy(first, tmp_path / "again.json")
    with pytest.raises(DataError, match="is duplicated"):
        read(f"mine={tmp_path}", missing="fail")


def test_files_without_a_model_give_a_warning(tmp_path: Path) -> None:
    counts = read(without_metadata(tmp_path), missing="fail")
    assert {model for (model,) in counts.series} == {"run-0", "run-1"}
    (warning,) = counts.read_facts.messages
    assert warning.name == "unnamed-model"
    assert "run-1.json: no run_metadata.json names the model" in warning.text
