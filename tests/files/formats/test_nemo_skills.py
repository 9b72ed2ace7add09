"""NeMo-Skills: tasks are lines, files are attempts, and metrics.json contains the expected
numbers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from passk_cli import DataError, read
from tests.conftest import Passk
from tests.files.formats.cells import DATA, cells, pass_at

ROOT = DATA / "nemo_skills" / "some-model" / "eval-results"
# Percent, from metrics.json-test of github.com/NVIDIA/NeMo-Skills (pass@1 is pass@1[avg-of-n]).
PUBLISHED = [
    ("gpqa", None, {1: 50.0, 2: 62.5, 3: 68.75, 4: 75.0}),
    ("hendrycks_math", None, {1: 71.42857142857143, 2: 80.95238095238096, 3: 85.71428571428571}),
    ("human-eval", "is_correct", {1: 75.0, 2: 75.0}),
    ("human-eval", "is_correct-plus", {1: 62.5, 2: 75.0}),
    ("ifeval", "strict_eval", {1: 33.333333333333336, 3: 33.333333333333336}),
    ("ifeval", "loose_eval", {1: 33.333333333333336, 3: 33.333333333333336}),
    ("minif2f", None, {1: 33.333333333333336, 4: 100.0}),
]


@pytest.mark.parametrize(("benchmark", "outcome", "values"), PUBLISHED)
def test_estimates_match_the_published_numbers(
    benchmark: str, outcome: str | None, values: dict[int, float]
) -> None:
    counts = cells(ROOT / benchmark, outcome=outcome)
    assert {model for model, _ in counts} == {"some-model"}
    assert {task.partition("/")[0] for _, task in counts} == {benchmark}
    for k, percent in values.items():
        assert float(100 * pass_at(k, counts, "some-model")) == pytest.approx(percent, abs=1e-6)


def test_subsets_can_be_groups() -> None:
    counts = cells(ROOT / "hendrycks_math", by=["subset"])
    assert float(pass_at(1, counts, "some-model", "aime25")) == pytest.approx(0.8)
    assert float(pass_at(3, counts, "some-model", "aime24")) == pytest.approx(1.0)


def test_a_judge_is_right_if_it_agrees_with_the_expected_judgement() -> None:
    """The first four lines of four runs, judged by eye."""
    counts = cells(ROOT / "answer-judge")
    assert list(counts.values()) == [(4, 0), (4, 4), (4, 0), (4, 1)]


def test_a_folder_of_benchmarks_needs_a_choice_of_outcome(passk: Passk) -> None:
    result = passk("estimate", ROOT)
    assert result.code == 3
    assert " --outcome " in result.err
    counts = read(ROOT, outcome="symbolic_correct")
    assert {task.partition("/")[0] for task in counts.tasks} == {"gpqa", "hendrycks_math"}


def test_files_with_other_names_are_separate_models(tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 1)):
        shutil.copy(ROOT / "gpqa" / f"output-rs{seed}.jsonl", tmp_path / f"{name}.jsonl")
    counts = cells(tmp_path)
    assert {model for model, _ in counts} == {"a", "b"}
    assert set(counts.values()) <= {(1, 0), (1, 1)}


def test_a_part_of_a_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "output-rs0_chunk_1.jsonl"
    shutil.copy(ROOT / "gpqa" / "output-rs0.jsonl", path)
    with pytest.raises(DataError, match="a part of a run"):
        read(path)
