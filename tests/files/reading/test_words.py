"""Tests of column names: a word gets its role, unless a more usual name takes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from passk_cli import DataError, read
from passk_cli.files.roles import LOOSE_TASK_NAMES, ROLES, assign_roles
from tests.conftest import Write, long_cases
from tests.files.formats.cells import cells

WORDS = {
    "outcome": "task_success tests_passed tests_pass functional_pass oracle_ok final_result_reached"
    " case_eval_result golden_match",
    "task": "case test_id item_id sample_id query_id prompt_id scenario_id task_instance_id eval_id"
    " fixture question idx",
    "model": "agent_model llm checkpoint",
    "attempt": "run_idx run_number iter trial_number repetition",
    "cost": "cost_total_usd cost_usd_notional",
}
PAIRS = [(role, word) for role, words in WORDS.items() for word in words.split()]
USUAL = {"outcome": "passed", "task": "task", "model": "model", "attempt": "attempt",
         "cost": "cost"}  # fmt: skip


def roles(*columns: str) -> dict[str, str]:
    kinds = {column: {"text"} for column in columns}
    return assign_roles(
        "x", kinds, {}, ["cost"] if any("cost" in c.lower() for c in columns) else []
    ).columns()


def columns_beside(role: str) -> list[str]:
    """The usual columns of the other roles."""
    return [name for usual_role, name in USUAL.items() if usual_role not in (role, "cost")]


@pytest.mark.parametrize(("role", "word"), PAIRS)
def test_a_word_gets_its_role_without_a_usual_name(role: str, word: str) -> None:
    assert roles(*columns_beside(role), word)[role] == word
    spelling = word.replace("_", " ").title()
    assert roles(*columns_beside(role), spelling)[role] == spelling


# These words mean a verdict as clearly as the usual names, so there is a question about both.
ASKED = {*WORDS["outcome"].split()} - {"tests_passed", "tests_pass"}
# Two numbers of attempts lead to a question too.
NUMBERS = {"sample_id", "repetition"}


@pytest.mark.parametrize(("role", "word"), [p for p in PAIRS if p[1] not in ASKED | NUMBERS])
def test_a_usual_name_takes_the_role_from_a_word(role: str, word: str) -> None:
    """The same holds next to n, which is neither a count nor a task there."""
    assert roles(*columns_beside(role), USUAL[role], word)[role] == USUAL[role]
    assert roles(*columns_beside(role), USUAL[role], word, "n")[role] == USUAL[role]


@pytest.mark.parametrize("word", sorted(ASKED))
def test_two_verdicts_lead_to_a_question(word: str) -> None:
    with pytest.raises(DataError, match="2 columns could be the outcome"):
        roles(*columns_beside("outcome"), "passed", word)


@pytest.mark.parametrize(
    ("columns", "task", "attempt"),
    [
        ("task sample_id", "task", "sample_id"),
        ("id sample_id", "id", "sample_id"),
        ("query_id sample_id", "query_id", "sample_id"),
        ("prompt_id sample_id", "prompt_id", "sample_id"),
        ("sample_id", "sample_id", None),
        ("sample_id question", "sample_id", None),
        ("sample_id epoch", "sample_id", "epoch"),
        ("sample_id idx", "sample_id", None),
        ("id question", "id", None),
        ("test_id name", "test_id", None),
        ("case id run_number", "case", "run_number"),
        ("task n", "task", None),
        ("case n", "case", None),
    ],
)
def test_tasks_and_attempts_are_distinguished_by_their_names(
    columns: str, task: str, attempt: str | None
) -> None:
    table_roles = roles(*columns.split(), "passed")
    assert (table_roles["task"], table_roles.get("attempt")) == (task, attempt)


def test_loose_names_can_be_tasks() -> None:
    assert tuple(LOOSE_TASK_NAMES.split()) in ROLES["task"].names_by_likelihood


@pytest.mark.parametrize("size", [0, 80_000])
@pytest.mark.parametrize("head", ["metadata", *long_cases("config", "run")])
@pytest.mark.parametrize("key", ["agentModel", *long_cases("model", "model_name", "llm")])
def test_the_head_of_a_document_names_the_model(
    write: Write, head: str, key: str, size: int
) -> None:
    document: dict[str, Any] = {
        head: {"date": "2026-01-01", key: "opus", "tools": {"model": "other"}},
        "text": "x" * size, "results": [{"task": "a", "passed": True}, {"task": "b", "passed": 0}],
    }  # fmt: skip
    path = write("night.json", json.dumps(document))
    assert set(cells(path)) == {("opus", "a"), ("opus", "b")}
    # The head closest to the records counts. Two models in one head name none.
    path.write_text(json.dumps({**document, "model": "top"}))
    assert {model for model, _ in cells(path)} == {"top"}
    for row in document["results"]:
        row["agent"] = "own"
    path.write_text(json.dumps(document))
    assert {model for model, _ in cells(path)} == {"own"}


def test_the_head_of_a_mapping_names_the_model(tmp_path: Path) -> None:
    path = tmp_path / "night.json"
    for evals in ({"a": True, "b": False}, {"a": {"passed": True}, "b": {"passed": False}}):
        path.write_text(json.dumps({"metadata": {"model": "opus"}, "evals": evals}))
        assert cells(path, records="evals") == {("opus", "a"): (1, 1), ("opus", "b"): (1, 0)}


def test_heads_with_two_models_do_not_name_the_model(tmp_path: Path) -> None:
    path = tmp_path / "night.json"
    heads = {"config": {"model": "a"}, "info": {"model_name": "b"}}
    path.write_text(json.dumps({**heads, "results": [{"task": "a", "passed": True}]}))
    assert {model for model, _ in cells(path)} == {"night"}


def test_a_tally_of_tests_is_not_an_outcome(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    rows = [{"name": "a", "passed": True}, {"name": "b", "passed": False}]
    path.write_text(json.dumps({"tests_passed": 1, "total": 2, "results": rows}))
    assert cells(path) == {("m", "a"): (1, 1), ("m", "b"): (1, 0)}


def test_a_column_named_sample_can_be_the_task(write: Write) -> None:
    path = write("m.csv", "sample_id,trial_number,passed\nx,0,1\nx,1,0\ny,0,1\n")
    assert cells(path) == {("m", "x"): (2, 1), ("m", "y"): (1, 1)}
    assert read(path).read_facts.file_readings[0].roles["attempt"] == "trial_number"
