"""Outcomes that the caller names: words that no list knows, and truth values that are bad."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from passk_cli import DataError, read
from tests.conftest import Passk

LABELS = "task,label\na,not_misled\na,misled\nb,Partial\nb,not_misled\nc,\n"


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """A table whose outcomes are words of its own."""
    path = tmp_path / "labels.csv"
    path.write_text(LABELS)
    return path


def test_words_that_pass_and_the_others_that_fail(passk: Passk, labels: Path) -> None:
    named = ("--field", "outcome=label", "--missing", "drop", "-k", "1")
    done = passk("estimate", labels, *named, "--passes", "NOT_misled", "-v")
    assert done.code == 0
    assert "counted as passes: not_misled (2); as failures: Partial (1), misled (1)" in done.err
    assert "passes=NOT_misled" in done.out
    done = passk("estimate", labels, *named, "--passes", "not_misled", "--fails", "misled")
    assert (done.code, '"label" is "Partial"' in done.err) == (3, True)
    both = ("--passes", "not_misled,partial", "--fails", "misled")
    assert passk("estimate", labels, *named, *both).code == 0


@pytest.mark.parametrize("values", [[True, False, False], ["true", "False", "false"], [1, 0, 0]])
def test_what_is_true_may_be_bad(values: list[object], tmp_path: Path) -> None:
    rows = [{"task": f"t{i}", "refused": value} for i, value in enumerate(values)]
    options = {"fields": {"outcome": "refused"}, "passes": ["false", "0"]}
    for data in (rows, pd.DataFrame(rows)):
        assert read(data, **options).c.tolist() == [0, 1, 1]
        assert read(data, fields={"outcome": "refused"}).c.tolist() == [1, 0, 0]


def test_a_word_of_what_ended_early_is_missing_unless_it_is_named() -> None:
    rows = [{"task": "a", "status": word} for word in ("ok", "timeout", "wrong answer")]
    options = {"fields": {"outcome": "status"}, "passes": "ok"}
    with pytest.raises(DataError, match='"status" is "timeout", which is no outcome'):
        read(rows, **options)
    assert read(rows, missing="drop", **options).n.tolist() == [2]
    assert read(rows, fails=["timeout", "wrong answer"], **options).n.tolist() == [3]


def test_a_word_among_those_that_are_known_fails_or_passes(passk: Passk, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("task,passed\na,true\na,maybe\nb,false\nb,maybe\n")
    done = passk("estimate", path)
    fails, passes = (line.split("  ")[1:] for line in done.err.splitlines()[1:])
    assert fails[1] == "# if maybe (2 of 4) fails: reads 2 tasks × 2 attempts"
    assert passes[1] == "# if maybe (2 of 4) passes: reads 2 tasks × 2 attempts"
    for (command, _), rate in ((fails, "0.250"), (passes, "0.750")):
        own = passk(*command.split()[1:], "-k", "1")
        assert (own.code, f"pass@1 {rate}" in own.out) == (0, True)
