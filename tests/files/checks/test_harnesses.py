"""Tests of the settings of harnesses in the checks: attempts of two settings are not repeats."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from passk_cli import DataError, PasskWarning, read
from tests.conftest import jsonl

TASKS = range(6)


def names(data: Path) -> set[str]:
    """The names of the error, or of the messages, of a reading."""
    with warnings.catch_warnings(action="ignore", category=PasskWarning):
        try:
            return {message.name for message in read(data).read_facts.messages}
        except DataError as error:
            return {error.name}


def inspect_log(run: str, **settings: Any) -> str:
    samples = [
        {"id": task, "epoch": 1, "scores": {"match": {"value": "CI"[task % 2]}}} for task in TASKS
    ]
    evaluation = {"task": "gsm8k", "task_id": run, "model": "openai/m", **settings}
    log = {"version": 2, "status": "success", "eval": evaluation, "samples": samples}
    return json.dumps(log)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"model_generate_config": {"reasoning_effort": "high"}},
         {"model_generate_config": {"reasoning_effort": "low"}}, True),
        ({"task_args": {"fewshot": 0}}, {"task_args": {"fewshot": 5}}, True),
        ({"task_args": {"fewshot": 5}}, {"task_args": {"fewshot": 5}}, False),
    ],
)  # fmt: skip
def test_logs_of_inspect_under_two_settings_lead_to_a_question(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], expected: bool
) -> None:
    for run, settings in (("a", first), ("b", second)):
        (tmp_path / f"{run}.json").write_text(inspect_log(run, **settings))
    assert ("pooled-settings" in names(tmp_path)) is expected


@pytest.mark.parametrize("prompt", ["hash", "shots"])
def test_two_prompts_of_lm_eval_lead_to_a_question(tmp_path: Path, prompt: str) -> None:
    folder = tmp_path / "org__m"
    folder.mkdir()
    for shots, day in ((0, "08"), (5, "09")):
        time = f"2025-04-{day}T12-00-00.000000"
        results = {"n-shot": {"gsm8k": shots if prompt == "shots" else 0}}
        (folder / f"results_{time}.json").write_text(json.dumps(results))
        offset = shots if prompt == "hash" else 0
        rows = [
            {"doc_id": task, "doc": {}, "target": "1", "arguments": {}, "resps": [["1"]],
             "filtered_resps": ["1"], "filter": "none", "metrics": ["exact_match"],
             "prompt_hash": f"{offset}-{task}", "exact_match": float(task % 2)}
            for task in TASKS
        ]  # fmt: skip
        text = jsonl(rows)
        (folder / f"samples_gsm8k_{time}.jsonl").write_text(text)
    assert names(tmp_path) == {"pooled-settings"}


def test_greedy_decoding_of_nemo_skills_is_not_a_sample(tmp_path: Path) -> None:
    folder = tmp_path / "m" / "eval-results" / "aime"
    folder.mkdir(parents=True)
    rows = [{"problem": f"p{task}", "expected_answer": "4", "symbolic_correct": task % 2 == 0,
             "generation": "x", "num_generated_tokens": 4} for task in TASKS]  # fmt: skip
    text = jsonl(rows)
    for name in ("output-rs0.jsonl", "output-rs1.jsonl"):
        (folder / name).write_text(text)
    assert "pooled-settings" not in names(tmp_path)
    (folder / "output.jsonl").write_text(text)
    assert "pooled-settings" in names(tmp_path)


def verl(path: Path, **columns: Any) -> Path:
    rows = [
        {"input": f"q{task}", "output": "x", "gts": "4", "score": float(task % 2), "step": 100}
        | {name: of(task) for name, of in columns.items()}
        for task in range(12)
    ]
    path.write_text(jsonl(rows))
    return path


def test_images_of_verl_with_one_text_are_tasks(tmp_path: Path) -> None:
    path = verl(
        tmp_path / "100.jsonl", input=lambda task: "What is it?", gts=lambda task: task // 2
    )
    assert read(path).n.tolist() == [2] * 6


def test_checkpoints_of_verl_lead_to_a_question(tmp_path: Path) -> None:
    steps = {"input": lambda task: f"q{task % 6}", "step": lambda task: 100 + task // 6}
    assert names(verl(tmp_path / "all.jsonl", **steps)) == {"pooled-settings"}


def promptfoo(path: Path, *results: dict[str, Any]) -> Path:
    rows = [
        {"promptIdx": 0, "testIdx": place, "vars": {"q": "q0"}, "success": True, "score": 1,
         "provider": {"id": "m"}, "prompt": {"label": "p"}, "testCase": {"vars": {"q": "q0"}},
         "response": {"output": "x", "cached": False}} | result
        for place, result in enumerate(results)
    ]  # fmt: skip
    path.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": rows}}))
    return path


def test_cached_answers_of_promptfoo_are_reported(tmp_path: Path) -> None:
    cached = {"response": {"output": "x", "cached": True}}
    assert "cached-attempts" in names(promptfoo(tmp_path / "a.json", {}, cached, cached))
    assert "cached-attempts" not in names(promptfoo(tmp_path / "b.json", {}, {}))


def test_errors_of_early_versions_of_promptfoo_are_missing(tmp_path: Path) -> None:
    failed = {"success": False, "error": "Request timed out"}
    path = promptfoo(tmp_path / "a.json", {}, failed, {"success": False})
    assert names(path) == {"missing-outcome"}
    assert read(path, missing="drop").n.tolist() == [2]
