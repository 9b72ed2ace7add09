"""What is converted reads back as the very same counts, whatever it was and however it is named."""

from __future__ import annotations

import csv
import io
import json
import warnings
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import passk_cli
from passk_cli import Counts
from passk_cli.files.formats import recognise_format
from passk_cli.files.formats.format import file_with_detected_structure
from passk_cli.files.sources.arguments import sources_of_arguments
from tests.conftest import SAMPLES, Passk, Write, jsonl, long_cases
from tests.files.formats.cells import DATA

FORMS = ("csv", "jsonl", "parquet")
CANONICAL = ["model", "suite", "task", "run", "attempt", "outcome", "score", "reason"]


def assert_same(first: Counts | None, other: Counts | None) -> None:
    """The same series, tasks, n and c; or both refused."""
    assert (first is None) == (other is None)
    if first is None or other is None:
        return
    assert (first.series, first.tasks, first.group_names) == (
        other.series,
        other.tasks,
        other.group_names,
    )
    for name in ("series_codes", "task_codes", "n", "c"):
        assert np.array_equal(getattr(first, name), getattr(other, name))


def read(data: Any, **options: Any) -> Counts | None:
    """The counts; None where they are refused."""
    with warnings.catch_warnings(action="ignore", category=passk_cli.PasskWarning):
        try:
            return passk_cli.read(data, **options)
        except passk_cli.PasskError:
            return None


def convert(data: Any, output: Path, **options: Any) -> Path:
    with warnings.catch_warnings(action="ignore", category=passk_cli.PasskWarning):
        passk_cli.convert(data, output=output, **options)
    return output


def content(path: Path) -> bytes:
    """What is in a table; Parquet in another order of bytes is the same."""
    parquet = path.suffix == ".parquet"
    return pd.read_parquet(path).to_csv().encode() if parquet else path.read_bytes()


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


NAMES = st.one_of(
    st.sampled_from(['x,"y"', "l1\nl2", "\r", "a\r\nb", "é中\u2028", "007", "NA", "null", "1e5"]),
    st.sampled_from([" pad ", "\ufeffx", "a;b\tc|d", '"', "-", "{}", "0.80", "true", "\\"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
)
SETTINGS = st.sampled_from([None, 0, 0.0, 0.2, "0.80", "a,b", "1e5", True, 12345678901234567890])
OUTCOMES = st.sampled_from([None, True, False, 1, 0, "pass", "FAIL", "", "n/a", "0.0"])
SCORES = st.one_of(st.none(), st.booleans(), st.floats(-1, 2), st.sampled_from([1e-7, "0.25"]))


def rows(outcomes: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    row = st.fixed_dictionaries(
        {
            "model": st.sampled_from(["m", 'm,"2"\n']),
            "task": NAMES,
            "attempt": st.one_of(st.integers(0, 5), st.sampled_from([None, "x", "01"])),
            "passed": outcomes,
        },
        optional={"temperature": SETTINGS, "agent": NAMES, "run": NAMES, "suite": NAMES},
    )
    key = ("model", "task", "attempt")
    return st.lists(
        row,
        min_size=1,
        max_size=10,
        unique_by=lambda r: (
            tuple(map(str, (r[k] for k in key))) if r["attempt"] is not None else id(r)
        ),
    )


@pytest.mark.long
@pytest.mark.parametrize("form", ["csv", *long_cases("jsonl", "parquet")])
@settings(max_examples=4)
@given(graded=st.booleans(), data=st.data())
def test_attempts_read_back_as_the_same_counts(form: str, graded: bool, data: Any) -> None:
    original = data.draw(rows(SCORES if graded else OUTCOMES))
    own_values = {"fields": {"attempt": "attempt", "model": "model"}}
    missing = {"missing": data.draw(st.sampled_from(["error", "fail", "drop"]))}
    by = ["temperature"] if any("temperature" in row for row in original) else []
    by = data.draw(st.sampled_from([by, []]))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "original.jsonl"
        path.write_text(jsonl(original))
        table = convert(path, Path(folder) / f"table.{form}", **own_values, by=by)
        for threshold in (0.5, None) if graded else (None,):
            options = {**missing, "threshold": threshold, "by": by}
            assert_same(read(path, **own_values, **options), read(table, **options))
        options = {"missing": "fail", "threshold": 0.5, "by": by}
        counts = read(path, **own_values, **options)
        assert counts is not None
        table = convert(path, table, **own_values, **options, counts=True)
        assert_same(counts, read(table, by=by))


# Each in one form: a form does not know where its rows come from.
@pytest.mark.parametrize(
    ("fixture", "options", "form"),
    [
        ("harbor/trials", {"missing": "drop"}, "jsonl"),
        *long_cases(
            ("lm_eval", {"outcome": "exact_match,strict"}, "csv"),
            ("harbor/trials", {"missing": "drop"}, "parquet"),
            ("tau_bench", {}, "csv"),
            ("verl", {}, "parquet"),
            ("promptfoo/out.json", {"by": ["prompt"], "missing": "drop"}, "csv"),
            ("every_eval_ever", {}, "jsonl"),
            ("multipl_e", {}, "parquet"),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_harnesses_write_reads_back(
    tmp_path: Path, fixture: str, options: dict[str, Any], form: str
) -> None:
    counts = passk_cli.read(DATA / fixture, **options)
    by = options.get("by", ())
    table = convert(DATA / fixture, tmp_path / f"table.{form}", **options)
    (source,) = sources_of_arguments([str(table)], tmp_path / "spool")
    assert recognise_format(file_with_detected_structure(source)) is None
    assert_same(counts, passk_cli.read(table, by=by))
    # Converted once more, it is the same table.
    again = convert(table, tmp_path / f"again.{form}", by=by)
    assert content(again) == content(table)
    table = convert(DATA / fixture, table, counts=True, **options)
    assert_same(counts, passk_cli.read(table, by=by))


def test_the_columns_are_facts_settings_and_what_was_asked_for(
    passk: Passk, tmp_path: Path
) -> None:
    result = passk("convert", DATA / "lm_eval", "--outcome", "exact_match,strict")
    table = list(csv.DictReader(result.out.splitlines()))
    assert list(table[0]) == [*CANONICAL, "temperature", "n_shot", "prompt_hash", "filter"]
    assert {(row["model"], row["temperature"], row["filter"]) for row in table} == {
        ("org/alpha", "0.7", "strict")
    }
    answers = SAMPLES / "answers.csv"
    table = lines(convert(answers, tmp_path / "a.jsonl", columns="answer,benchmark"))
    original = list(csv.DictReader(answers.read_text().splitlines()))
    assert list(table[0]) == [*CANONICAL, "benchmark", "answer"]
    assert [(row["answer"] or "", row["benchmark"], str(row["attempt"])) for row in table] == [
        (row["predicted_answer"], row["benchmark"], row["attempt"]) for row in original
    ]
    majorities = [
        passk_cli.estimate(data, "maj@3", pool="benchmark").frame
        for data in (answers, tmp_path / "a.jsonl")
    ]
    assert majorities[0]["estimate"].tolist() == majorities[1]["estimate"].tolist()


def test_json_has_numbers_where_they_read_as_they_are_written(write: Write) -> None:
    text = '{"task": "7", "attempt": 3, "passed": 1, "temperature": 0.2, "top_p": "0.90"}\n'
    (row,) = lines(convert(write("a.jsonl", text * 1), write("b.jsonl", "")))
    assert (row["task"], row["attempt"], row["outcome"]) == ("7", 3, True)
    assert (row["temperature"], row["top_p"], row["score"], row["model"]) == (0.2, "0.90", 1.0, "a")
    frame = pd.read_parquet(convert(write("a.jsonl", text), write("b.parquet", "")))
    assert frame[["outcome", "score"]].values.tolist() == [[True, 1.0]]


@pytest.mark.parametrize(
    ("options", "outcomes"),
    [
        ({}, [0.25, None, True]),
        ({"missing": "fail"}, [0.25, False, True]),
        ({"missing": "drop"}, [0.25, True]),
        ({"threshold": 0.2}, [True, None, True]),
        ({"threshold": 0.2, "missing": "drop"}, [True, True]),
    ],
    ids=str,
)
def test_outcomes(write: Write, options: dict[str, Any], outcomes: list[Any]) -> None:
    text = "task,attempt,outcome\na,0,0.25\na,1,\na,2,pass\n"
    table = lines(convert(write("a.csv", text), write("b.jsonl", ""), **options))
    assert [row["outcome"] for row in table] == outcomes
    assert [row["score"] for row in table if row["score"] is not None] == [0.25, 1.0]


@pytest.mark.parametrize("missing", ["keep", "fail", "drop", None])
def test_the_signature_says_what_became_of_missing_outcomes(
    write: Write, missing: str | None
) -> None:
    original, table = write("a.csv", "task,passed\na,1\na,\n"), write("b.csv", "")
    with warnings.catch_warnings(action="ignore", category=passk_cli.PasskWarning):
        findings = passk_cli.convert(original, output=table, missing=missing)
    assert findings.signature["missing"] == (missing or "keep")
    (sentence,) = findings.report.answer
    assert sentence.fields["empty"] == (missing in ("keep", None))


@pytest.mark.filterwarnings("ignore:passk cannot compute an interval for mean")
def test_a_threshold_judges_the_scores_of_a_table(write: Write) -> None:
    original = write("a.csv", "model,task,attempt,score\nm,a,0,0.4\nm,a,1,0.9\n")
    table = convert(original, write("b.csv", ""), threshold=0.5)
    assert passk_cli.read(table).c.tolist() == [1]
    assert passk_cli.read(table, threshold=0.3).c.tolist() == [2]
    means = [passk_cli.estimate(data, "mean").frame["estimate"][0] for data in (original, table)]
    assert means == [0.65, 0.65]


def test_attempts_stay_in_order(tmp_path: Path) -> None:
    """More rows than DuckDB takes at a time, of several files, one without a model."""
    all_values = []
    for part in "cab":
        own_values = [
            {"task": f"{part}{i // 8}", "attempt": i % 8, "passed": i % 3 == 0}
            | ({} if part == "a" else {"model": f"m{i % 2}"})
            for i in range(2_400)
        ]
        (tmp_path / f"{part}.jsonl").write_text(jsonl(own_values))
        all_values += [(r.get("model", "a"), r["task"], r["attempt"]) for r in own_values]
    files = [tmp_path / f"{part}.jsonl" for part in "cab"]

    def order(**options: Any) -> list[tuple[str, str, int]]:
        table = lines(convert(files, tmp_path / "table.jsonl", **options))
        return [(row["model"], row["task"], row["attempt"]) for row in table]

    assert order() == all_values
    remaining = [key for key in all_values if key[0] in ("m1", "a")]
    assert order(models=["m1", "a"]) == remaining
    (tmp_path / "c.jsonl").write_text(files[0].read_text() * 2)
    assert order(duplicates="first") == all_values
    assert order(duplicates="last", models=["m1", "a"]) == remaining


def test_counts_of_parts_estimate_like_the_whole(passk: Passk, tmp_path: Path) -> None:
    original = pd.read_csv(SAMPLES / "tau_airline.csv", dtype=str)
    texts = []
    for part, own_values in original.groupby(original["task_id"].astype(int) % 2):
        own_values.to_csv(tmp_path / f"part{part}.csv", index=False)
        texts.append(passk("convert", f"m={tmp_path}/part{part}.csv", "--counts").out)
    (tmp_path / "m.csv").write_text(texts[0] + texts[1].split("\n", 1)[1])
    all_parts = passk("estimate", f"m={SAMPLES / 'tau_airline.csv'}", "-f", "csv")
    assert (all_parts.code, passk("estimate", tmp_path / "m.csv", "-f", "csv").out) == (
        0,
        all_parts.out,
    )


def test_without_a_file_the_table_goes_to_stdout(passk: Passk, tmp_path: Path) -> None:
    source = SAMPLES / "answers.csv"
    for form, more in (("csv", []), ("csv", ["-o", "-"]), ("jsonl", ["-f", "jsonl"])):
        written = convert(source, tmp_path / f"table.{form}")
        result = passk("convert", source, *more)
        assert (result.code, result.out, result.err) == (0, written.read_text(), "")
    result = passk("convert", source, "-o", tmp_path / "a.txt", "-f", "csv")
    assert (tmp_path / "a.txt").read_text() == (tmp_path / "table.csv").read_text()
    assert "answers  11     37        23" in result.out
    result = passk("convert", "-", stdin=b"task,passed\na,1\na,\n")
    assert result.out.splitlines()[1:] == ["stdin,,a,,,true,1.0,", "stdin,,a,,,,,"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["a.csv", "-o", "b.txt"],
            "--output out.csv, b.txt: this option accepts only one value, so use the",
        ),
        (["a.csv", "--with", "nothing"], "--with nothing: no such column; there are task, att"),
        (["a.csv", "--with", "answer"], "a.csv: no answer column; the columns are"),
        (
            ["a.csv", "--by", "attempt"],
            "--by attempt: the output already has a column with this name",
        ),
        (
            ["a.csv", "--by", "c", "--counts"],
            "--by c: the output already has a column with this name",
        ),
        (
            ["a.csv", "--with", "n", "--counts"],
            "--with: a table of counts has no single attempts",
        ),
        (["missing.csv", "--counts"], 'missing.csv:3: "passed" has no value'),
        (["missing.csv", "--missing", "error"], 'missing.csv:3: "passed" has no value'),
        (
            ["a.csv", "--counts", "--missing", "keep"],
            "--missing keep: a table of counts has no single attempts",
        ),
        (
            ["a.csv", "--missing", "bounds"],
            "--missing bounds: choose one of keep, error, fail, drop",
        ),
        (
            ["a.csv", "--threshold", "0.5,1"],
            "--threshold 0.5,1: this works only for a table of counts",
        ),
        (["counts.csv"], "counts.csv: the file contains counts"),
        (["wrong.csv"], 'wrong.csv:3: "passed" is "maybe"'),
        (["twice.csv"], "twice.csv:3: attempt 1 of model 'twice' at task 'a' is duplicated"),
        (
            ["wrong.csv", "--where", "passed <> 'maybe'", "-f", "every-eval-ever"],
            "wrong.csv: some scores",
        ),
        (
            ["missing.csv", "-f", "every-eval-ever"],
            "missing.csv: some attempts have no outcome, and",
        ),
        (
            ["a.csv", "-f", "every-eval-ever", "--counts"],
            "--format every-eval-ever: a table of counts has no single attempts",
        ),
        (["empty.jsonl"], "empty.jsonl: a task has an empty name, which csv cannot store"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_converted(
    passk: Passk, write: Write, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    write("a.csv", "task,attempt,passed,c\na,1,1,x\n")
    write("counts.csv", "task,n,c\na,2,1\n")
    write("wrong.csv", "task,attempt,passed\na,1,0.5\na,2,maybe\n")
    write("missing.csv", "task,passed\na,1\na,\n")
    write("twice.csv", "task,attempt,passed\na,1,1\na,1,1\n")
    write("empty.jsonl", '{"task": "", "passed": true}\n')
    folder = write("out.csv", "as it was").parent
    monkeypatch.chdir(folder)
    before = sorted(path.name for path in folder.iterdir())
    result = passk("convert", "-o", "out.csv", *arguments)
    assert (result.code in (2, 3), result.out, result.sentences) == (True, "", 1)
    assert result.message.startswith(message)
    assert (folder / "out.csv").read_text() == "as it was"
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(
    ("fixture", "options", "suite"),
    [
        (DATA / "every_eval_ever", {}, ""),
        (DATA / "lm_eval", {"outcome": "exact_match,strict"}, ""),
        (DATA / "harbor/trials", {"missing": "fail"}, "unnamed/"),
        (SAMPLES / "answers.csv", {"threshold": 1}, "unnamed/"),
    ],
    ids=lambda value: value.stem if isinstance(value, Path) else "",
)
def test_every_eval_ever(
    tmp_path: Path, fixture: Path, options: dict[str, Any], suite: str
) -> None:
    counts = passk_cli.read(fixture, **options)
    file = convert(fixture, tmp_path / "a.jsonl", form="every-eval-ever", **options)
    (source,) = sources_of_arguments([str(file)], tmp_path / "spool")
    recognised_format = recognise_format(file_with_detected_structure(source))
    assert recognised_format is not None
    assert recognised_format[1].name == "every-eval-ever"
    again = passk_cli.read(file)
    assert again.tasks == tuple(suite + task for task in counts.tasks)
    assert_same(counts, replace(again, tasks=counts.tasks))
    required = {"schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id"}
    required |= {"interaction_type", "input", "output", "answer_attribution", "evaluation"}
    for record in lines(file):
        assert record.keys() - {"performance"} == {*required, "error", "metadata"}
        assert all(isinstance(value, str) for value in record["metadata"].values())
        assert [type(value) for value in record["evaluation"].values()] == [float, bool]


@pytest.mark.parametrize("form", ["csv", *long_cases("jsonl", "parquet")])
@pytest.mark.parametrize(
    "file", ["promptfoo-hallucination.json.gz", "promptfoo-performance.json.gz"]
)
def test_costs_of_harnesses_read_back(tmp_path: Path, file: str, form: str) -> None:
    source = DATA / "cost" / file
    policies: dict[str, Any] = {"missing": "fail", "missing_cost": "drop", "resamples": 100}
    with warnings.catch_warnings(action="ignore"):
        table = convert(source, tmp_path / f"all.{form}")
        direct, again = (passk_cli.cost(data, **policies).frame for data in (source, table))
    numbers = ["model", "metric", "estimate", "low", "high"]
    pd.testing.assert_frame_equal(direct[numbers], again[numbers])


def test_amounts_are_kept_under_the_names_of_their_roles(write: Write) -> None:
    names = ("task", "passed", "wall_ms", "costUsd", "num_turns")
    values = (("a", True, 1500, 0.5, 3), ("b", False, 500, None, 2))
    rows = [dict(zip(names, row, strict=True)) for row in values]
    path = write("runs.jsonl", jsonl(rows))
    actual = pd.read_csv(convert(path, path.parent / "all.csv"))
    assert actual["duration"].tolist() == [1.5, 0.5]
    assert actual["turns"].tolist() == [3, 2]
    assert actual["cost"].fillna(-1).tolist() == [0.5, -1]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"duration": "fast"}, {"duration": "slow"}),
        ({"cost": 1, "usd": 2}, {"cost": 1, "usd": 2}),
        ({"turns": -1}, {"turns": 2}),
    ],
    ids=["words", "two columns", "below 0"],
)
def test_amounts_that_are_not_certain_are_not_kept(
    write: Write, first: dict[str, Any], second: dict[str, Any]
) -> None:
    rows = [{"task": "a", "passed": True, **first}, {"task": "b", "passed": False, **second}]
    path = write("runs.jsonl", jsonl(rows))
    table = pd.read_csv(convert(path, path.parent / "all.csv"))
    assert not {"duration", "cost", "turns"} & {*table.columns}


def test_a_cost_next_to_a_list_of_outcomes_is_not_kept(write: Write) -> None:
    path = write("runs.jsonl", '{"task": "a", "passed": [true, false], "cost": 2}\n')
    assert "cost" not in pd.read_csv(convert(path, path.parent / "all.csv")).columns


def test_every_eval_ever_has_texts_of_attempts(tmp_path: Path) -> None:
    columns = ("answer", "solution")
    file = convert(DATA / "every_eval_ever", tmp_path / "a.jsonl", form="every-eval-ever",
                   columns=columns)  # fmt: skip
    originals = lines(DATA / "every_eval_ever" / "samples.jsonl")
    for record, original in zip(lines(file), originals, strict=True):
        assert record["output"]["raw"] == original["output"]["raw"]
        (answer,) = record["answer_attribution"]
        assert answer["extracted_value"] == original["answer_attribution"][-1]["extracted_value"]
    table = lines(convert(file, tmp_path / "b.jsonl", columns=columns))
    assert [row["solution"] for row in table] == [r["output"]["raw"][0] for r in originals]


def test_counts_have_no_attempts(tmp_path: Path) -> None:
    counts = passk_cli.read(SAMPLES / "tau_airline.csv")
    with pytest.raises(
        passk_cli.ParameterError, match="only for a table of counts; counts=True writes counts"
    ):
        passk_cli.convert(counts, output=tmp_path / "a.csv")
    with pytest.raises(passk_cli.ParameterError, match="output=FILE names the file"):
        passk_cli.convert(counts)
    findings = passk_cli.convert(counts, output=tmp_path / "a.csv", counts=True)
    assert findings.frame["attempts"].tolist() == [200]
    assert_same(counts, passk_cli.read(tmp_path / "a.csv"))


def test_a_score_that_could_be_several_columns_is_optional(passk: Passk, write: Write) -> None:
    """convert reads what estimate reads; score is the outcome then, and a note says so."""
    path = write("m.csv", "task,reward,grade\na,1,0.5\nb,0,0.75\n")
    result = passk("convert", path)
    assert result.code == 0
    assert [row["score"] for row in csv.DictReader(io.StringIO(result.out))] == ["1.0", "0.0"]
    assert (
        "note[several-scores]: reward, grade could be the score, so the column score repeats"
        in result.err
    )
    pair = passk("convert", path, "--field", "score=grade")
    assert [row["score"] for row in csv.DictReader(io.StringIO(pair.out))] == ["0.5", "0.75"]
    assert "several-scores" not in pair.err
    remaining = passk("convert", path, "--with", "reward,grade").out
    assert remaining.splitlines()[0].endswith("reason,grade,reward")
    table = write("n.csv", "task,passed,score,reward\na,1,1,2\n")
    for command in ("estimate", "convert"):
        assert "3 columns could be the outcome" in passk(command, table).err
        assert passk(command, table, "--field", "outcome=passed").code == 0
