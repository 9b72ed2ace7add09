"""lm-evaluation-harness: filters are not attempts, runs are attempts, averages are not outcomes."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from passk_cli import DataError, read
from tests.conftest import Passk, Write
from tests.files.formats.cells import DATA, cells, pass_at, pass_hat

ALPHA = DATA / "lm_eval" / "org__alpha"
ONE = "samples_sums_2026-11-21T12-59-05.825284.jsonl"
STRICT, FLEXIBLE = "exact_match,strict", "exact_match,flexible"
ROW = {
    "doc_id": 0, "doc": {}, "target": "1", "arguments": [["q", {"temperature": 0.5}]],
    "resps": [["1"]], "filtered_resps": ["1"], "exact_match": 1.0,
}  # fmt: skip


def jsonl(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("outcome", "expected", "published"),
    [
        (STRICT, ("13/24", "2/3", "5/12"), (0.5, 0.5833333333333334)),
        (FLEXIBLE, ("5/8", "5/6", "5/12"), (0.5833333333333334, 0.6666666666666666)),
    ],
)
def test_two_runs_are_two_attempts(
    outcome: str, expected: tuple[str, ...], published: tuple[float, ...]
) -> None:
    """The numbers per run are in results_*.json; the other numbers follow from them."""
    counts = cells([*ALPHA.glob("samples_sums_2*")], outcome=outcome)
    assert {n for n, _ in counts.values()} == {2}
    assert len(counts) == 12
    values = pass_at(1, counts, "org/alpha"), pass_at(2, counts, "org/alpha")
    assert (*values, pass_hat(2, counts, "org/alpha")) == tuple(map(Fraction, expected))
    for path, value in zip(sorted(ALPHA.glob("samples_sums_2*")), published, strict=True):
        assert float(pass_at(1, cells(path, outcome=outcome), "org/alpha")) == pytest.approx(value)


def test_a_folder_with_several_outcomes_needs_a_choice(passk: Passk) -> None:
    result = passk("estimate", DATA / "lm_eval")
    assert result.code == 3
    assert f"2 outcomes: {STRICT}, {FLEXIBLE}\n" in result.err
    result = passk("estimate", DATA / "lm_eval", "--outcome", STRICT)
    assert result.code == 0
    assert "skipped 1 file without the chosen outcome: " in result.err
    assert "/lm_eval/org__alpha/samples_sums_rep_" in result.err
    assert "12 tasks × 2 attempts" in result.out


@pytest.mark.parametrize("options", [[], ["--outcome", STRICT]])
def test_a_column_of_the_file_is_not_an_outcome(passk: Passk, options: list[str]) -> None:
    """The lines of both filters would count as two attempts at each doc."""
    result = passk("estimate", ALPHA / ONE, "--field", "outcome=exact_match", *options)
    assert (result.code, result.error) == (
        (2, "no-such-column") if options else (3, "several-outcomes")
    )
    assert result.out == ""


def test_repeats_keep_only_an_average() -> None:
    (path,) = ALPHA.glob("samples_sums_rep*")
    with pytest.raises(DataError) as error:
        read(path)
    assert str(error.value) == (
        f"{path}:1: pass_at_2 is one number for 4 answers (repeats: 4); lm-eval does not keep"
        " the outcome of each answer; evaluate with repeats: 1 several times and give the samples"
        " of all runs"
    )


def test_several_filtered_answers_are_one_attempt_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    first = {**ROW, "filter": "first", "resps": [["1", "2", "3"]]}
    path.write_text(jsonl([first, {**first, "doc_id": 1, "exact_match": 0.0}]))
    counts = read(path)
    assert counts.n.tolist() == [1, 1]
    (message,) = counts.read_facts.messages
    assert (message.name, message.fields["answers"]) == ("filtered-answers", 3)


def test_model_suite_and_temperature_are_read(tmp_path: Path) -> None:
    counts = read(ALPHA / ONE, outcome=STRICT, by=["temperature"])
    assert counts.series == (("org/alpha", "0.7"),)
    assert counts.tasks[0] == "sums/0"
    # Without the results file, the folder names the model. In another place, the file name does.
    copy = tmp_path / "org__alpha" / ONE
    copy.parent.mkdir()
    shutil.copy(ALPHA / ONE, copy)
    assert read(copy, outcome=STRICT).series == (("org/alpha",),)
    assert read(copy.rename(tmp_path / "x.jsonl"), outcome=STRICT).series == (("x",),)
    assert read(f"me={tmp_path / 'x.jsonl'}", outcome=STRICT).series == (("me",),)


def test_samples_of_early_versions_are_read(write: Write) -> None:
    """They name neither metrics nor filters; a doc that occurs twice has two filters."""
    path = write("x.jsonl", jsonl([ROW, {**ROW, "doc_id": 1, "exact_match": 0.0, "f1": [0.5, 1]}]))
    assert cells(path, by=["temperature"]) == {("x", "0.5", "0"): (1, 1), ("x", "0.5", "1"): (1, 0)}
    path.write_text(jsonl([ROW, {**ROW, "exact_match": 0.0}]))
    with pytest.raises(DataError, match="doc_id 0 appears once per filter"):
        read(path)


def test_a_metric_with_other_numbers_needs_a_threshold(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    scores = [{**ROW, "doc_id": doc, "exact_match": score} for doc, score in enumerate((0.25, 1))]
    path.write_text(jsonl(scores))
    with pytest.raises(DataError, match=r"\"outcome\" is 0.25; .*threshold=X sets the score from"):
        read(path)
    assert cells(path, threshold=0.2) == {("x", "0"): (1, 1), ("x", "1"): (1, 1)}


def test_files_that_repeat_the_samples_are_not_results() -> None:
    assert read(DATA / "lm_eval", outcome=STRICT).read_facts.non_result_files == ()


def test_without_results_the_model_is_the_folder(tmp_path: Path) -> None:
    for model in ("base", "org__tuned"):
        folder = tmp_path / "runs" / model
        folder.mkdir(parents=True)
        shutil.copy(ALPHA / ONE, folder / ONE)
    assert read(tmp_path / "runs", outcome=STRICT).series == (("base",), ("org/tuned",))
