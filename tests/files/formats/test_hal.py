"""HAL: lists of tasks, several runs, and averages without tasks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from passk_cli import DataError, read
from tests.files.formats.cells import DATA, cells

FIRST, SECOND = sorted((DATA / "hal").glob("*.json"))
MODEL = "TAU Few Shot (stub-3)"


def test_runs_of_one_model_are_joined() -> None:
    counts = cells(DATA / "hal")
    assert counts == {
        (MODEL, f"taubench_airline/{task}"): cell
        for task, cell in {"0": (2, 2), "1": (2, 0), "2": (2, 1), "3": (2, 0)}.items()
    }


def changed(folder: Path, **results: object) -> Path:
    document = json.loads(FIRST.read_text())
    document["results"] = {**document["results"], **results}
    document["config"]["agent_name"] = "Agent"
    path = folder / "x.json"
    path.write_text(json.dumps(document))
    return path


def test_the_model_is_added_if_the_agent_name_lacks_it(tmp_path: Path) -> None:
    assert {model for model, _ in cells(changed(tmp_path))} == {"Agent (org/stub-3)"}


def test_averages_and_contradictory_results_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        DataError,
        match=("the file does not list the tasks that succeeded and the tasks that failed"),
    ):
        read(changed(tmp_path, failed_tasks=None))
    with pytest.raises(DataError, match="task '0' both succeeded and failed; correct the file"):
        read(changed(tmp_path, failed_tasks=["0"]))
