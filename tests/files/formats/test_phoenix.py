"""Phoenix: choice of an annotation, a run that ended in an error, and the same data as CSV."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from passk_cli import DataError, read
from tests.files.formats.cells import DATA, cells

FOLDER = DATA / "phoenix"
DOCUMENT, TABLE = FOLDER / "stub-a.json", FOLDER / "stub-a.csv"


def test_answers_that_equal_the_reference_pass() -> None:
    """The expected counts come from the other export, without its annotations."""
    expected: dict[tuple[str, ...], tuple[int, int]] = {}
    with TABLE.open(newline="") as file:
        for run in csv.DictReader(file):
            if not run["error"]:
                key = ("stub-a", run["example_id"])
                n, c = expected.get(key, (0, 0))
                right = json.loads(run["reference_output"])["answer"] == run["output"]
                expected[key] = (n + 1, c + right)
    assert sum(n for n, _ in expected.values()) == 11
    for data in (DOCUMENT, FOLDER):
        assert cells(data, outcome="exact", missing="drop") == expected
    # Half as close is 1 off, as every wrong answer is.
    close = cells(DOCUMENT, outcome="closeness", threshold=[0.6], missing="drop")
    assert close == expected
    facts = read(FOLDER, outcome="exact", missing="drop").read_facts
    assert facts.missing_reasons_by_model == {"stub-a": {"error": 1}}
    assert facts.non_result_files == ()


def test_missing_choices_are_errors() -> None:
    with pytest.raises(DataError, match="2 outcomes: closeness, exact; "):
        read(DOCUMENT)
    with pytest.raises(DataError, match="record 7: no outcome: error"):
        read(DOCUMENT, outcome="exact")
    with pytest.raises(DataError, match=r"0\.5; .*threshold=X sets the score from"):
        read(DOCUMENT, outcome="closeness", missing="drop")


def changed(folder: Path, old: str, new: str) -> Path:
    path = folder / "stub-a.json"
    text = DOCUMENT.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return path


def test_labels_without_scores_are_outcomes(tmp_path: Path) -> None:
    """A label must be true or false, or the reader stops with an error."""
    expected = cells(DOCUMENT, outcome="exact", missing="drop")
    path = changed(tmp_path, '"score":1.0', '"score":null')
    assert cells(path, outcome="exact", missing="drop") == expected
    with pytest.raises(DataError, match='"same"'):
        read(path, outcome="closeness", missing="drop")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"annotations"', '"scores"'),
        ('"repetition_number"', '"round_of"'),
        ('"name":', '"called":'),
    ],
)
def test_a_document_with_other_names_is_refused(tmp_path: Path, old: str, new: str) -> None:
    with pytest.raises(DataError):
        read(changed(tmp_path, old, new), outcome="exact")
