"""ragas: a row per question with its metrics, for which no rule says what passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from passk_cli import DataError, read
from tests.files.formats.cells import DATA, cells

FILES = sorted((DATA / "ragas").glob("metrics.*"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.suffix)
def test_a_metric_and_its_threshold_are_required(path: Path) -> None:
    with pytest.raises(DataError, match="no column has a usual name for the outcome") as error:
        read(path)
    metric = "non_llm_string_similarity"
    assert "exact_match" in {c.column for c in error.value.candidates["outcome"]}
    with pytest.raises(DataError, match=f'"{metric}" is 0.5; .*threshold=X'):
        read(path, outcome=metric)
    # 3 + 5 is not 9 and 7 + 6 is not 12; "12" is like "13" to one letter of two.
    sums = {"1 + 2 = ?": 1, "2 + 2 = ?": 1, "3 + 5 = ?": 0, "4 + 4 = ?": 1, "7 + 6 = ?": 0}
    expected = {("metrics", task): (1, c) for task, c in sums.items()}
    assert cells(path, outcome="exact_match") == expected
    assert cells(path, outcome=metric, threshold=[0.6]) == expected
    expected["metrics", "7 + 6 = ?"] = (1, 1)
    assert cells(path, outcome=metric, threshold=[0.5]) == expected
