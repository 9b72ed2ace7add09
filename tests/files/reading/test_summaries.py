"""Summaries in a folder are not models, and their counts are not further attempts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from passk_cli import DataError, read
from tests.conftest import jsonl, mark_long_except
from tests.files.formats.cells import cells

MODELS = {"m": [1, 0, 1], "n": [0, 0, 1]}


def folder(path: Path) -> Path:
    for model, passed in MODELS.items():
        rows = [{"task": task, "passed": bool(p)} for task in ("x", "y") for p in passed]
        (path / f"{model}.jsonl").write_text(jsonl(rows))
    return path


EXPECTED = {(model, task): (3, sum(p)) for model, p in MODELS.items() for task in ("x", "y")}
# File name → its text, and the words of the error.
SUMMARIES = {
    "summary.csv": (
        "name,score\nm,0.6\nn,0.3\n",
        "the tasks of this file are the models of other files (m, n)",
    ),
    "board.json": (
        json.dumps({m: {"score": 0.5} for m in MODELS}),
        "the tasks of this file are the models",
    ),
    "leaderboard.csv": (
        "task,passed\nx,1\ny,0\n",
        "the file is named like a summary of the other files (m, n)",
    ),
    "results_summary.csv": ("task,n,c\nx,6,3\ny,6,3\n", "the file is named like a summary"),
    "counts.csv": (
        "model,task,n,c\nm,x,3,2\nm,y,3,2\n",
        "the file counts attempts at 2 tasks that other files also contain",
    ),
}


@pytest.mark.parametrize("name", mark_long_except(SUMMARIES, *[*SUMMARIES][:2]))
def test_a_summary_is_refused_by_name(tmp_path: Path, name: str) -> None:
    text, problem = SUMMARIES[name]
    path = folder(tmp_path) / name
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        cells(tmp_path)
    assert (caught.value.name, caught.value.place) == ("summary-file", str(path))
    assert caught.value.problem.startswith(problem)
    if name != "counts.csv":
        assert cells(tmp_path, exclude_models=path.stem) == EXPECTED
    assert cells([tmp_path / "m.jsonl", tmp_path / "n.jsonl"]) == EXPECTED


def test_a_summary_without_an_outcome_is_skipped(tmp_path: Path) -> None:
    (folder(tmp_path) / "summary.csv").write_text("model,pass_rate\nm,0.6\nn,0.3\n")
    assert cells(tmp_path) == EXPECTED
    assert len(read(tmp_path).read_facts.non_result_files) == 1


def test_summaries_that_you_name_are_added_up(tmp_path: Path) -> None:
    """Counts in a named file may be counts of earlier attempts."""
    counts = folder(tmp_path) / "counts.csv"
    counts.write_text("model,task,n,c\nm,x,3,2\n")
    cell_counts = cells([tmp_path / "m.jsonl", tmp_path / "n.jsonl", counts])
    assert cell_counts == EXPECTED | {("m", "x"): (6, 4)}
    (tmp_path / "leaderboard.csv").write_text("task,passed\nx,1\ny,0\n")
    counts.unlink()
    for data in (sorted(tmp_path.iterdir()), str(tmp_path / "*")):
        assert len(cells(data)) == 6


def test_files_that_only_look_like_summaries_are_read(tmp_path: Path) -> None:
    """Counts of other models, tasks with the name of a model, and a word inside a name."""
    (folder(tmp_path) / "old.csv").write_text("model,task,n,c\no,x,3,2\nm,z,3,2\n")
    (tmp_path / "summary-model-7b.csv").write_text("task,passed\nx,1\ny,0\nm,0\n")
    assert len(cells(tmp_path)) == 4 + 2 + 3
