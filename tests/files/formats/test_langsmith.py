"""LangSmith's tables of an experiment: `results.to_pandas()`, as a frame or as CSV.

Source of the columns: github.com/langchain-ai/langsmith-sdk,
python/langsmith/evaluation/_runner.py, _flatten_experiment_results.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from passk_cli import DataError
from tests.conftest import Passk, long_cases
from tests.files.formats.cells import cells

FRAME = pd.DataFrame([
    {
        "inputs.question": f"what is {task} + {task}?", "outputs.answer": str(2 * task),
        "error": None, "reference.answer": str(2 * task),
        "feedback.correct": float((task, run) in ((1, 2), (2, 0), (2, 1), (2, 4))),
        "feedback.concise": task == 1,
        "execution_time": 1.5, "example_id": f"00000000-{task}", "id": f"{task}-{run}",
    }
    for task in (1, 2) for run in range(5)
])  # fmt: skip
EXPECTED = {"correct": {"1": (5, 1), "2": (5, 3)}, "concise": {"1": (5, 5), "2": (5, 0)}}


@pytest.mark.parametrize("form", ["csv", *long_cases("frame", "status")])
@pytest.mark.parametrize("name", EXPECTED)
def test_a_feedback_is_the_outcome(tmp_path: Path, form: str, name: str) -> None:
    """A status says only that the run ended, not how good its answer is."""
    path = tmp_path / "model.csv"
    frame = FRAME.assign(status="success") if form == "status" else FRAME
    frame.to_csv(path, index=False)
    data = frame if form == "frame" else path
    model = "model"
    expected = {(model, f"00000000-{task}"): pair for task, pair in EXPECTED[name].items()}
    assert cells(data, outcome=f"feedback.{name}") == expected
    second = next(column for column in EXPECTED if column != name)
    filtered = frame.drop(columns=f"feedback.{second}")
    filtered.to_csv(path, index=False)
    assert cells(filtered if form == "frame" else path) == expected


def test_several_feedbacks_need_a_choice(tmp_path: Path, passk: Passk) -> None:
    path = tmp_path / "model.csv"
    FRAME.to_csv(path, index=False)
    result = passk("estimate", path)
    assert result.code == 3
    assert "2 columns could be the outcome: feedback.concise, feedback.correct\n" in result.err
    FRAME.rename(columns={"feedback.concise": "passed"}).to_csv(path, index=False)
    with pytest.raises(DataError, match=r"could be the outcome: passed, feedback.correct"):
        cells(path)
