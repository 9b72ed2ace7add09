"""NeMo Evaluator: repeats, errors of the infrastructure, and the bundle and logs in the same
folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from passk_cli import DataError, read
from tests.conftest import Passk, Write
from tests.files.formats.cells import DATA, Cells, cells, pass_at

FOLDER = DATA / "nemo_evaluator"
BROKEN, SOUND = (FOLDER / model / "sums" for model in ("stub-a", "stub-b"))


def correct_answers(*folders: Path) -> Cells:
    """Answers that equal the expected one, among the attempts with an answer."""
    counts: dict[tuple[str, ...], tuple[int, int]] = {}
    for folder in folders:
        for record in map(json.loads, (folder / "results.jsonl").read_text().splitlines()):
            if "endpoint is gone" not in str(record):
                key = (folder.parent.name, f"sums/{record['problem_idx']}")
                n, c = counts.get(key, (0, 0))
                response = record["model_response"]
                counts[key] = (n + 1, c + (response == record["expected_answer"]))
    return counts


def test_a_folder_counts_once() -> None:
    assert cells(FOLDER, missing="drop") == correct_answers(BROKEN, SOUND)
    facts = read(FOLDER, missing="drop").read_facts
    assert facts.missing_reasons_by_model == {"stub-a": {"infrastructure": 2}}
    assert facts.non_result_files == () == facts.messages
    by_category = cells(FOLDER, missing="drop", by=["category"])
    assert {key[1] for key in by_category} == {"even", "odd"}


def test_pass_at_k_equals_that_of_the_harness() -> None:
    (bundle,) = SOUND.glob("eval-*.json")
    scores = json.loads(bundle.read_text())["benchmark"]["scores"]
    counts = cells(SOUND)
    for k in (1, 3):
        assert float(pass_at(k, counts, "stub-b")) == pytest.approx(scores[f"pass@{k}"]["value"])


def test_logs_of_a_stopped_run_are_read(tmp_path: Path) -> None:
    """Without results.jsonl its log is read; the folder of the log does not name the model."""
    shutil.copy(BROKEN / "verified_log.jsonl", tmp_path / "stub-a.jsonl")
    expected = {key[1].removeprefix("sums/"): cell for key, cell in correct_answers(BROKEN).items()}
    counts = cells(tmp_path / "stub-a.jsonl", missing="drop")
    assert counts == {("stub-a", task): cell for task, cell in expected.items()}
    shutil.copytree(BROKEN, tmp_path / "run")
    assert cells(tmp_path / "run", missing="drop") == correct_answers(BROKEN)


def test_scores_and_averages_are_not_outcomes(tmp_path: Path) -> None:
    (bundle,) = BROKEN.glob("eval-*.json")
    with pytest.raises(
        DataError,
        match=(
            r"contains only averages; give the results.jsonl from the same"
            r" folder"
        ),
    ):
        read(bundle)
    path = tmp_path / "results.jsonl"
    text = (SOUND / "results.jsonl").read_text()
    path.write_text(text.replace('"reward": 1.0', '"reward": 0.9'))
    with pytest.raises(DataError, match=r"0\.9"):
        read(path)
    assert sum(c for _, c in cells(path, threshold=[0.9]).values()) == sum(
        c for _, c in correct_answers(SOUND).values()
    )


@pytest.mark.parametrize("key", ["problem_idx", "reward", "scoring_details"])
def test_another_file_of_the_same_name_is_refused(write: Write, key: str) -> None:
    path = write(
        "results.jsonl", (SOUND / "results.jsonl").read_text().replace(f'"{key}"', '"other"')
    )
    with pytest.raises(DataError):
        read(path)


def test_results_in_yaml_are_refused_as_averages(tmp_path: Path, passk: Passk) -> None:
    """Source: nemo-evaluator 0.1.0, core/evaluate.py: yaml.dump of the run's results."""
    path = tmp_path / "results.yml"
    keys = "results groups gsm8k metrics exact_match scores strict stats stderr".split()
    nested = "".join(f"{'  ' * depth}{key}:\n" for depth, key in enumerate(keys))
    path.write_text(f"command: lm-eval --tasks gsm8k\nconfig:\n  type: gsm8k\n{nested}")
    result = passk("estimate", path)
    assert (result.code, result.out) == (3, "")
    assert (
        "results.yml of NeMo Evaluator contains only averages; give the files of the underlying"
        in result.err
    )
