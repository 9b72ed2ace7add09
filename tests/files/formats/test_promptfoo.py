"""promptfoo: the variables are the task, an error is missing, and two prompts are two settings."""

from __future__ import annotations

import json
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import pytest

from passk_cli import DataError, read
from tests.conftest import Passk, Write, jsonl
from tests.files.formats.cells import DATA, cells, pass_at

JSON, LINES = DATA / "promptfoo" / "out.json", DATA / "promptfoo" / "out.jsonl"
SHORT, LONG = "Short: {{q}}", "Long, step by step: {{q}}"


@pytest.mark.parametrize("path", [JSON, LINES], ids=lambda path: path.suffix)
@pytest.mark.parametrize("missing", ["drop", "fail"])
def test_models_and_prompts_are_counted_separately(path: Path, missing: str) -> None:
    """The expected rates are counted from the lines of the file."""
    attempts: dict[tuple[str, ...], list[bool]] = defaultdict(list)
    for line in LINES.read_text().splitlines():
        result = json.loads(line)
        if missing == "fail" or result["failureReason"] != 2:
            key = (result["provider"]["label"], result["prompt"]["label"], result["vars"]["q"])
            attempts[key].append(result["success"])
    expected = {
        key: (len(attempt_list), sum(attempt_list)) for key, attempt_list in attempts.items()
    }
    assert cells(path, missing=missing, by=["prompt"]) == expected
    assert sum(n for n, _ in expected.values()) == (24 if missing == "fail" else 23)


def test_repeats_are_attempts_and_an_error_is_not_a_failure(passk: Passk) -> None:
    counts = cells(JSON, missing="drop", by=["prompt"])
    assert counts[("small", LONG, "question 3")][0] == 2
    assert pass_at(1, counts, "large", SHORT) == Fraction(2, 3)
    result = passk("estimate", JSON, "--by", "prompt")
    assert result.code == 3
    assert "no outcome: error (1 attempt in all)" in result.err
    assert "error" in str(
        read(JSON, missing="drop", by=["prompt"]).read_facts.missing_reasons_by_model
    )


def test_two_prompts_are_not_repeats_of_one(passk: Passk) -> None:
    result = passk("estimate", JSON, "--missing", "fail")
    assert result.code == 3
    assert "attempts at one task differ in prompt (" in result.err


def test_both_files_contain_the_same_results(passk: Passk) -> None:
    result = passk("estimate", DATA / "promptfoo", "--by", "prompt", "--missing", "fail")
    assert result.code == 3
    assert "is duplicated, first seen at" in result.err
    once = cells(DATA / "promptfoo", by=["prompt"], missing="fail", duplicates="first")
    assert once == cells(JSON, by=["prompt"], missing="fail")


@pytest.mark.parametrize("path", [JSON, LINES], ids=lambda path: path.suffix)
def test_a_column_of_the_file_is_not_an_outcome(passk: Passk, path: Path) -> None:
    """With success as a column the id of each result would be a task."""
    result = passk("estimate", path, "--field", "outcome=success", "--missing", "fail")
    assert result.code == 2
    assert "no column 'success'" in result.err
    assert result.out == ""


def test_tests_with_the_same_variables_and_other_assertions_are_tasks(write: Write) -> None:
    lines = [json.loads(line) for line in LINES.read_text().splitlines()]
    lines_of_large = [
        record
        for record in lines
        if record["provider"]["label"] == "large" and record["promptIdx"] == 2
    ]
    for record in lines_of_large[::2]:
        record["testCase"]["assert"] = [{"type": "contains", "value": "other"}]
    path = write("x.jsonl", jsonl(lines_of_large))
    counts = cells(path)
    assert sum(n for n, _ in counts.values()) == len(lines_of_large)
    assert len(counts) == 4
    assert all(" #" in task for _, task in counts)


def test_a_result_without_success_is_missing(write: Write) -> None:
    path = write("x.jsonl", LINES.read_text().replace('"success":true', '"success":null', 1))
    with pytest.raises(DataError, match="no outcome"):
        read(path, by=["prompt"], where="reason IS NULL OR reason = 'unscored'")


def test_an_assertion_is_an_outcome_by_its_metric_or_type(write: Write, passk: Passk) -> None:
    lines = [json.loads(line) for line in LINES.read_text().splitlines()]
    lines_of_large = [
        record
        for record in lines
        if record["provider"]["label"] == "large" and record["promptIdx"] == 2
    ]
    for at, record in enumerate(lines_of_large):
        record["gradingResult"]["componentResults"] = [
            {"pass": True, "score": 1, "assertion": {"type": "contains"}},
            {"pass": at != 0, "score": 0.4, "assertion": {"type": "contains"}},
            {"pass": at != 0, "score": float(at != 0),
             "assertion": {"type": "python", "metric": "Tone"}},
            {"pass": False, "score": 0, "assertion": {"type": "llm-rubric"},
             "metadata": {"graderError": True} if at == 1 else {}},
            {"pass": True, "score": 1},
        ]  # fmt: skip
    path = write("x.jsonl", jsonl(lines_of_large))
    n = len(lines_of_large)
    for outcome, total in {
        "contains": (n, n - 1), "Tone": (n, n - 1), "llm-rubric": (n - 1, 0),
    }.items():  # fmt: skip
        counts = cells(path, outcome=outcome, missing="drop").values()
        assert (sum(n for n, _ in counts), sum(c for _, c in counts)) == total, outcome
    # A score belongs to one assertion.
    strict = cells(path, outcome="Tone", threshold=0.5)
    assert sum(c for _, c in strict.values()) == n - 1
    plain = cells(path)
    assert plain == cells(path, outcome="success")
    assert sum(c for _, c in plain.values()) == sum(record["success"] for record in lines_of_large)
    result = passk("estimate", path, "--outcome", "python")
    assert "there are success, contains, Tone, llm-rubric" in result.err
