"""Files that look like results but cannot be used: the error gives the reason, folders skip
them."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

import pytest

from passk_cli import read
from passk_cli.errors import DataError, PasskError
from passk_cli.files.formats import FORMATS
from tests.conftest import Passk, Write, mark_long_except
from tests.files.formats.cells import DATA

FOLDER = DATA / "refused"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "generations.json",
            "the file contains generated texts without outcomes; give a file with",
        ),
        ("BFCL_v3_simple_score.json", "it lacks the ids of tasks that passed; take all ids from"),
        ("submission.json", "and no tasks; give the files of its trajectories"),
    ],
)
def test_refused_files_get_a_reason_and_a_remedy(passk: Passk, name: str, reason: str) -> None:
    result = passk("estimate", FOLDER / name)
    assert result.code == 3
    assert f"error[no-results]: {FOLDER / name}: " in result.err
    assert reason in result.err


def test_averages_of_lm_eval_are_refused_with_the_way_to_samples(
    passk: Passk, tmp_path: Path, write: Write
) -> None:
    """Results of the harness from today and from before 0.4; another object of that name is not
    refused."""
    summary = next((DATA / "lm_eval").glob("**/results_*.json"))
    old = write("old.json", json.dumps({
        "results": {"arc_easy": {"acc": 0.5, "acc_stderr": 0.1}}, "versions": {"arc_easy": 0},
        "config": {"model": "hf-causal", "model_args": "pretrained=a", "num_fewshot": 0},
    }))  # fmt: skip
    for path in (summary, old):
        result = passk("estimate", path)
        assert (result.code, result.out) == (3, "")
        assert f"error[no-results]: {path}: the results of lm-eval are averages" in result.err
        assert (
            "evaluate with --log_samples and give the folder, or its samples_*.jsonl" in result.err
        )
    copy = tmp_path / "results_2026-11-21T12-59-05.825284.json"
    records = [{"task": "a", "passed": True}, {"task": "b", "passed": False}]
    copy.write_text(json.dumps({"results": records, "versions": {}, "config": {"model": "m"}}))
    assert sorted(read(copy).c) == [0, 1]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json", ".eval", ".jsonl"])
def test_a_pointer_of_git_lfs_is_refused_in_a_folder_too(
    tmp_path: Path, passk: Passk, suffix: str
) -> None:
    """The file to which the pointer refers would be missing."""
    (tmp_path / "a.csv").write_text("task,passed\nx,1\n")
    oid = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
    text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 12345\n"
    (tmp_path / f"b{suffix}").write_text(text)
    for data in (tmp_path, tmp_path / f"b{suffix}"):
        result = passk("estimate", data)
        assert (result.code, result.out) == (3, "")
        assert "error[unknown-format]: " in result.err
        assert (
            "passk does not read this file (a pointer of Git LFS); run git lfs pull" in result.err
        )


def test_a_refused_file_is_skipped_in_a_folder_with_results(tmp_path: Path, passk: Passk) -> None:
    shutil.copytree(FOLDER, tmp_path / "all")
    shutil.copy(next((DATA / "bigcodebench").glob("*.json")), tmp_path / "all" / "results.json")
    counts = read(tmp_path / "all")
    assert len(counts.n) == 4
    assert len(counts.read_facts.non_result_files) == 3
    result = passk("estimate", FOLDER)
    assert result.code == 3
    assert "(2 more files not read either)" in result.err


@pytest.mark.parametrize("name", mark_long_except(FORMATS, *[*FORMATS][::6]))
def test_a_forced_format_reads_or_refuses_any_file(write: Write, name: str) -> None:
    """A wrong `--from` never ends in an internal error, whatever the file contains."""
    for number, text in enumerate(
        ('{"task": "a", "passed": true}\n' * 2, '{"a": {"b": 1}}', "[1]")
    ):
        path = write(f"{number}.json", text)
        with contextlib.suppress(PasskError):
            read(path, format=name)


def test_a_record_without_a_model_among_named_ones_is_refused(tmp_path: Path) -> None:
    """One damaged name must not pool two models under the name of the file."""
    source = DATA / "every_eval_ever" / "samples.jsonl"
    lines = source.read_text().splitlines()
    other_lines = [line.replace('"model_id":', '"model_id": "other", "was":') for line in lines]
    damaged = lines[2].replace('"model_id"', '"odel_id"')
    path = tmp_path / source.name
    path.write_text("\n".join([*lines, *other_lines[:2], damaged, *other_lines[3:]]) + "\n")
    with pytest.raises(
        DataError, match="this record has no model, but other records of the file have a model"
    ):
        read(path)


def test_attempts_by_number_are_not_columns(tmp_path: Path) -> None:
    tasks = {"t1": {"0": True, "1": False}, "t2": {"0": True, "1": True}}
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    with pytest.raises(DataError, match="no column has a usual name for the task"):
        read(tmp_path / "tasks.json")
