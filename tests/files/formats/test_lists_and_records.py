"""HELM, math evaluation, Every Eval Ever, EvalScope, openai/evals."""

from __future__ import annotations

import json
import os
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from passk_cli import DataError, read
from tests.conftest import Passk, Write
from tests.files.formats.cells import DATA, cells, pass_at

(RUN,) = (DATA / "helm").glob("mmlu*")
STATS = RUN / "per_instance_stats.json"
MATH = DATA / "math_evaluation"
EVERY = DATA / "every_eval_ever" / "samples.jsonl"
# What was written into the fixtures with invented outcomes: attempts that pass, of three.
PASSED = [3, 1, 0, 2]


def test_helm_counts_the_test_split() -> None:
    """The test split has three instances, of which one matches. An instance of valid is left
    out."""
    for options in ({}, {"where": "split = 'test'"}):
        cell_counts = cells(RUN, outcome="exact_match", **options)
        assert pass_at(1, cell_counts, "openai/gpt2") == Fraction(1, 3)
        assert len(cell_counts) == 3
    counts = read(RUN, outcome="exact_match", by=["temperature"])
    assert counts.series == (("openai/gpt2", "0.0"),)
    assert counts.tasks[0].startswith("mmlu:subject=philosophy,method=multiple_choice_joint/id")
    assert counts.read_facts.messages[0].text.endswith(
        "skipped 1 instance outside the test split: valid"
    )
    # The aggregate and the description of the run are not results.
    assert counts.read_facts.non_result_files == ()


def test_helm_offers_statistics_that_may_be_outcomes(passk: Passk) -> None:
    result = passk("estimate", RUN)
    assert result.code == 3
    assert "outcomes: exact_match, " in result.err
    assert "num_prompt_tokens" not in result.err
    assert "--outcome exact_match\n" in result.err


def test_helm_perturbed_instances_are_not_attempts(tmp_path: Path) -> None:
    records = json.loads(STATS.read_text())
    perturbed = {**records[0], "perturbation": {"name": "typos"}}
    path = tmp_path / "x" / "per_instance_stats.json"
    path.parent.mkdir()
    path.write_text(json.dumps([*records, perturbed]))
    counts = read(path, outcome="exact_match")
    assert int(counts.n.sum()) == 3
    assert counts.read_facts.messages[0].name == "perturbed-instances"


def test_math_evaluation_has_a_list_of_scores() -> None:
    counts = cells(MATH)
    assert counts == {("alpha", f"math/{i}"): (3, c) for i, c in enumerate(PASSED)}
    assert read(MATH, by=["temperature", "prompt"]).series == (("alpha", "0.6", "cot"),)
    assert read(MATH, by=["difficulty"]).series == (("alpha", "1"), ("alpha", "2"))
    assert read(MATH, attempts=["answer"]).attempts["answer"].valueless == 0


def test_math_evaluation_seeds_are_runs(tmp_path: Path) -> None:
    (path,) = MATH.rglob("*.jsonl")
    folder = tmp_path / "alpha" / "math"
    folder.mkdir(parents=True)
    for seed in (0, 1):
        shutil.copy(path, folder / path.name.replace("seed0", f"seed{seed}"))
    assert [n for n, _ in cells(tmp_path).values()] == [6] * 4
    shutil.copy(path, folder / path.name.replace("s0_e-1", "s0_e4"))
    with pytest.raises(DataError, match="is duplicated"):
        read(tmp_path)


def test_files_of_every_eval_ever_are_read() -> None:
    counts = cells(EVERY)
    assert counts == {("org/alpha", f"sums/{i + 1}"): (3, c) for i, c in enumerate(PASSED)}


def test_every_eval_ever_several_results_of_a_sample_are_outcomes(write: Write) -> None:
    lines = EVERY.read_text().splitlines()
    others_lines = [
        line.replace('"exact_match"', '"f1"').replace("true", "false") for line in lines
    ]
    path = write("x.jsonl", "\n".join(lines + others_lines))
    with pytest.raises(DataError, match="2 outcomes: exact_match, f1; outcome="):
        read(path)
    assert cells(path, outcome="exact_match") == cells(EVERY)


def test_every_eval_ever_runs_add_attempts(write: Write) -> None:
    second = write("second.jsonl", EVERY.read_text().replace("alpha/1", "alpha/2"))
    assert [n for n, _ in cells([EVERY, second]).values()] == [6] * 4
    joined = write("both.jsonl", EVERY.read_text() + second.read_text())
    assert cells(joined) == cells([EVERY, second])
    # Without epochs the order of the lines numbers the attempts.
    joined.write_text(joined.read_text().replace('"epoch"', '"other"'))
    assert cells(joined) == cells([EVERY, second])


def test_files_of_evalscope_are_read() -> None:
    counts = cells(DATA / "evalscope")
    assert counts == {("alpha", f"gsm8k_main/{i}"): (3, c) for i, c in enumerate(PASSED)}


def test_openai_evals_an_error_is_missing() -> None:
    (path,) = (DATA / "openai_evals").glob("*.jsonl")
    with pytest.raises(DataError, match="no outcome"):
        read(path)
    counts = read(path, missing="drop")
    assert counts.series == (("alpha",),)
    assert (counts.n.tolist(), counts.c.tolist()) == ([1] * 4, [1, 0, 1, 1])
    assert counts.read_facts.missing_reasons_by_model == {"alpha": {"error": 1}}


def test_openai_evals_a_second_match_is_not_a_second_attempt(write: Write) -> None:
    (path,) = (DATA / "openai_evals").glob("*.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    twice = write("x.jsonl", "".join([*lines, lines[2]]))
    with pytest.raises(DataError, match="is duplicated"):
        read(twice, missing="drop")


@pytest.mark.parametrize("companion", ["pipe", "device"])
def test_neighbours_of_a_file_are_opened_only_if_they_are_files(
    companion: str, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(RUN, tmp_path / RUN.name))
    copy.joinpath("run_spec.json").unlink()
    if companion == "pipe":
        os.mkfifo(copy / "run_spec.json")
    else:
        copy.joinpath("run_spec.json").symlink_to("/dev/zero")
    # A pipe that is opened would block, and the device has no end.
    assert read(copy, outcome="exact_match").tasks
