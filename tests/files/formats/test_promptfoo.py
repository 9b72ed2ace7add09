"""promptfoo: the task is what varies, an error is missing, two prompts are two settings."""

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
def test_pass_rates_by_model_and_prompt(path: Path, missing: str) -> None:
    """Counted again from the lines, by what they say."""
    attempts: dict[tuple[str, ...], list[bool]] = defaultdict(list)
    for line in LINES.read_text().splitlines():
        result = json.loads(line)
        if missing == "fail" or result["failureReason"] != 2:
            key = (result["provider"]["label"], result["prompt"]["label"], result["vars"]["q"])
            attempts[key].append(result["success"])
    expected = {key: (len(some), sum(some)) for key, some in attempts.items()}
    assert cells(path, missing=missing, by=["prompt"]) == expected
    assert sum(n for n, _ in expected.values()) == (24 if missing == "fail" else 23)


def test_repeats_are_attempts_and_an_error_is_no_failure(passk: Passk) -> None:
    found = cells(JSON, missing="drop", by=["prompt"])
    assert found[("small", LONG, "question 3")][0] == 2
    assert pass_at(1, found, "large", SHORT) == Fraction(2, 3)
    done = passk("estimate", JSON, "--by", "prompt")
    assert done.code == 3
    assert "no outcome: error (1 attempt in all)" in done.err
    assert "error" in str(read(JSON, missing="drop", by=["prompt"]).facts.reasons)


def test_two_prompts_are_not_repeats_of_one(passk: Passk) -> None:
    done = passk("estimate", JSON, "--missing", "fail")
    assert done.code == 3
    assert "attempts at one task differ in prompt (" in done.err


def test_both_files_hold_the_same_results(passk: Passk) -> None:
    done = passk("estimate", DATA / "promptfoo", "--by", "prompt", "--missing", "fail")
    assert done.code == 3
    assert "is duplicated, first seen at" in done.err
    once = cells(DATA / "promptfoo", by=["prompt"], missing="fail", duplicates="first")
    assert once == cells(JSON, by=["prompt"], missing="fail")


@pytest.mark.parametrize("path", [JSON, LINES], ids=lambda path: path.suffix)
def test_a_column_of_the_file_is_no_outcome(passk: Passk, path: Path) -> None:
    """With success as the outcome each result's id would be a task."""
    done = passk("estimate", path, "--field", "outcome=success", "--missing", "fail")
    assert done.code == 2
    assert "no column 'success'" in done.err
    assert done.out == ""


def test_tests_of_the_same_variables_and_other_assertions(write: Write) -> None:
    lines = [json.loads(line) for line in LINES.read_text().splitlines()]
    some = [one for one in lines if one["provider"]["label"] == "large" and one["promptIdx"] == 2]
    for one in some[::2]:
        one["testCase"]["assert"] = [{"type": "contains", "value": "other"}]
    path = write("x.jsonl", jsonl(some))
    found = cells(path)
    assert sum(n for n, _ in found.values()) == len(some)
    assert len(found) == 4
    assert all(" #" in task for _, task in found)


def test_a_result_without_success(write: Write) -> None:
    path = write("x.jsonl", LINES.read_text().replace('"success":true', '"success":null', 1))
    with pytest.raises(DataError, match="no outcome"):
        read(path, by=["prompt"], where="reason IS NULL OR reason = 'unscored'")


def test_an_assertion_is_an_outcome_by_its_metric_or_type(write: Write, passk: Passk) -> None:
    lines = [json.loads(line) for line in LINES.read_text().splitlines()]
    some = [one for one in lines if one["provider"]["label"] == "large" and one["promptIdx"] == 2]
    for at, one in enumerate(some):
        one["gradingResult"]["componentResults"] = [
            {"pass": True, "score": 1, "assertion": {"type": "contains"}},
            {"pass": at != 0, "score": 0.4, "assertion": {"type": "contains"}},
            {"pass": at != 0, "score": float(at != 0),
             "assertion": {"type": "python", "metric": "Tone"}},
            {"pass": False, "score": 0, "assertion": {"type": "llm-rubric"},
             "metadata": {"graderError": True} if at == 1 else {}},
            {"pass": True, "score": 1},
        ]  # fmt: skip
    path = write("x.jsonl", jsonl(some))
    n = len(some)
    for outcome, total in {
        "contains": (n, n - 1), "Tone": (n, n - 1), "llm-rubric": (n - 1, 0),
    }.items():  # fmt: skip
        found = cells(path, outcome=outcome, missing="drop").values()
        assert (sum(n for n, _ in found), sum(c for _, c in found)) == total, outcome
    # A score is that of one assertion.
    strict = cells(path, outcome="Tone", threshold=0.5)
    assert sum(c for _, c in strict.values()) == n - 1
    plain = cells(path)
    assert plain == cells(path, outcome="success")
    assert sum(c for _, c in plain.values()) == sum(one["success"] for one in some)
    done = passk("estimate", path, "--outcome", "python")
    assert "there are success, contains, Tone, llm-rubric" in done.err
