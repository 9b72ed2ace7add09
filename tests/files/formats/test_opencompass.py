"""OpenCompass: a list of repeats per example, an object of perplexities, and files without
averages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from passk_cli import DataError, read
from tests.conftest import Passk
from tests.files.formats.cells import DATA, cells, pass_at

RUN = DATA / "opencompass" / "20260101_000000"
REPEATS = RUN / "results" / "stub-a" / "gsm8k.json"
PERPLEXITY = RUN / "results" / "stub-a" / "ARC-e.json"


def test_answers_that_equal_the_reference_pass() -> None:
    """The expected counts come from the predictions, which passk does not read: the last number
    counts."""
    expected: dict[tuple[str, ...], tuple[int, int]] = {}
    for path in (RUN / "predictions").glob("*/gsm8k.json"):
        predictions = json.loads(path.read_text()).values()
        for place, prediction in enumerate(predictions):
            # The file contains the dataset four times in a row.
            key = (path.parent.name, f"gsm8k/test_{place % 5}")
            n, c = expected.get(key, (0, 0))
            answer = prediction["prediction"].removesuffix(".").split()[-1]
            expected[key] = (n + 1, c + (answer == prediction["gold"]))
    counts = cells(RUN)
    assert {key: cell for key, cell in counts.items() if "gsm8k" in key[1]} == expected
    assert {key[1] for key in counts.keys() - expected.keys()} == {f"ARC-e/{i}" for i in range(6)}
    facts = read(RUN).read_facts
    assert facts.non_result_files == () == facts.messages


def test_averages_equal_those_of_the_harness() -> None:
    document = json.loads(REPEATS.read_text())
    mean = pass_at(1, cells(REPEATS), "stub-a")
    assert float(100 * mean) == pytest.approx(document["accuracy (4 runs average)"])
    # G-Pass@k at a threshold of 0 is pass@k, and at 1 it is pass^k.
    share = pass_at(2, cells(REPEATS), "stub-a")
    assert float(100 * share) == pytest.approx(document["G-Pass@2_0.0"])
    document = json.loads(PERPLEXITY.read_text())
    mean = pass_at(1, cells(PERPLEXITY), "stub-a")
    assert float(100 * mean) == pytest.approx(document["accuracy"])


def changed(folder: Path, change: Any) -> Path:
    document = json.loads(REPEATS.read_text())
    document["details"] = [change(detail) for detail in document["details"]]
    path = folder / "gsm8k.json"
    path.write_text(json.dumps(document))
    return path


def without(detail: dict[str, Any], **more: object) -> dict[str, Any]:
    return {key: value for key, value in detail.items() if key != "correct"} | more


def test_other_names_of_outcomes_and_scores_are_read(tmp_path: Path) -> None:
    expected = {(task, cell) for (_, task), cell in cells(REPEATS).items()}
    path = changed(tmp_path, lambda d: without(d, cascade_correct=d["correct"]))
    assert {(task, cell) for (_, task), cell in cells(path).items()} == expected
    path = changed(tmp_path, lambda d: d | {"correct": [100.0 * value for value in d["correct"]]})
    with pytest.raises(DataError, match="100"):
        read(path)
    counts = cells(path, threshold=[50])
    assert {(task, cell) for (_, task), cell in counts.items()} == expected


def test_details_without_an_outcome_are_reported(tmp_path: Path, passk: Passk) -> None:
    path = changed(tmp_path, without)
    result = passk("estimate", path)
    assert result.code == 3
    assert "the details contain no outcome (correct, is_correct, cascade_correct)" in result.err
    # One that lacks it among others is a missing outcome.
    path = changed(tmp_path, lambda d: d if d["example_abbr"][-1] != "0" else without(d))
    with pytest.raises(DataError, match="no outcome"):
        read(path)


@pytest.mark.parametrize("details", [[], {"0": {"verdict": True}}, [{"id": 1}], "none"])
def test_another_file_of_the_same_name_is_refused(tmp_path: Path, details: object) -> None:
    path = tmp_path / "results" / "stub-a" / "gsm8k.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"accuracy": 50.0, "details": details}))
    with pytest.raises(DataError):
        read(path)


def test_averages_without_details_are_refused(tmp_path: Path, passk: Passk) -> None:
    """The same numbers in another folder were not written by OpenCompass."""
    for folder in ("results", "predictions"):
        (tmp_path / folder / "stub-a").mkdir(parents=True)
    path = tmp_path / "results" / "stub-a" / "gsm8k.json"
    path.write_text(json.dumps({"accuracy": 50.0}))
    assert "without details" not in passk("estimate", path).err
    (tmp_path / "predictions" / "stub-a" / "gsm8k_0.json").write_text("{}")
    result = passk("estimate", path)
    assert (result.code, result.out) == (3, "")
    assert "contains averages without details; evaluate with --dump-eval-details" in result.err
