"""Every shape and packing of the same outcomes gives the same counts."""

from __future__ import annotations

import gzip
import json
import math
import os
import random
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from passk_cli import DataError, ParameterError, PasskWarning, read
from passk_cli.files.reading.schema_detection import detect_storage_layout
from passk_cli.files.roles import (
    ENDED_WITHOUT_VERDICT_WORDS,
    FAIL_WORDS,
    PASS_WORDS,
    SETTING_COLUMN_NAMES,
)
from passk_cli.files.sources.arguments import sources_of_arguments
from passk_cli.files.sources.source import MAX_NESTING
from passk_cli.study.data_notes import reading_notes
from tests.conftest import ROOT, SAMPLES, Passk, Write, long_cases, mark_long_except
from tests.files.formats.cells import cells, cells_of

ROWS = [
    {"model": m, "task_id": t, "sample": s, "passed": (len(m) + i + s) % 3 == 0, "temperature": 0.2}
    for m in ("a", "bb")
    for i, t in enumerate(("007", "7x", "NA", "née", 'q"uote', "x,y"))
    for s in range(4)
]
EXPECTED = {
    (m, t): (4, sum(bool(r["passed"]) for r in ROWS if (r["model"], r["task_id"]) == (m, t)))
    for m in ("a", "bb")
    for t in ("007", "7x", "NA", "née", 'q"uote', "x,y")
}


def jsonl(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def delimited(sign: str) -> str:
    return pd.DataFrame(ROWS).to_csv(index=False, sep=sign)


LISTS = [
    {"model": m, "task_id": t, "results": [r["passed"] for r in ROWS
                                          if (r["model"], r["task_id"]) == (m, t)]}
    for m, t in EXPECTED
]  # fmt: skip
COUNTS = [{"model": m, "task": t, "n": n, "c": c} for (m, t), (n, c) in EXPECTED.items()]
FILES: dict[str, str | bytes] = {
    "a.jsonl": jsonl(ROWS),
    "bom.jsonl": b"\xef\xbb\xbf" + jsonl(ROWS).encode(),
    "crlf.jsonl": jsonl(ROWS).replace("\n", "\r\n"),
    "no-newline-at-the-end.jsonl": jsonl(ROWS).rstrip("\n"),
    "blank-lines.jsonl": jsonl(ROWS).replace("\n", "\n\n"),
    "a.jsonl.gz": gzip.compress(jsonl(ROWS).encode()),
    "a.jsonl.zst": zstandard.compress(jsonl(ROWS).encode()),
    "bom.jsonl.gz": gzip.compress(b"\xef\xbb\xbf" + jsonl(ROWS).encode()),
    "wrong-name.txt": jsonl(ROWS),
    "array.json": json.dumps(ROWS),
    "array.json.gz": gzip.compress(json.dumps(ROWS, indent=1).encode()),
    "pretty.json": "\n".join(json.dumps(row, indent=2) for row in ROWS),
    "a.csv": delimited(","),
    "bom.csv": b"\xef\xbb\xbf" + delimited(",").encode(),
    "crlf.csv": delimited(",").replace("\n", "\r\n"),
    "semicolon.csv": delimited(";"),
    "a.csv.gz": gzip.compress(delimited(",").encode()),
    "a.csv.zst": zstandard.compress(delimited(",").encode()),
    "a.tsv": delimited("\t"),
    "lists.jsonl": jsonl(LISTS),
    "counts.jsonl": jsonl(COUNTS),
    "counts.csv": pd.DataFrame(COUNTS).to_csv(index=False),
}


@pytest.mark.parametrize("name", mark_long_except(FILES, *[*FILES][::3]))
def test_all_file_formats_give_the_same_counts(write: Write, name: str) -> None:
    assert cells(write(name, FILES[name])) == EXPECTED


def test_parquet_and_frames_give_the_same_counts(tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS)
    frame.to_parquet(tmp_path / "a.parquet")
    assert cells(tmp_path / "a.parquet") == EXPECTED
    assert cells(frame) == EXPECTED
    pd.DataFrame(LISTS).to_parquet(tmp_path / "lists.parquet")
    assert cells(tmp_path / "lists.parquet") == EXPECTED
    assert cells(pd.DataFrame(COUNTS)) == EXPECTED


@pytest.mark.parametrize(("duplicate", "words"), [
    ("Passed", "the columns 'passed' and 'Passed' differ only in case"),
    *long_cases(("passed", "the column 'passed' occurs twice")),
])  # fmt: skip
def test_a_duplicate_column_is_refused(tmp_path: Path, duplicate: str, words: str) -> None:
    """DuckDB renames the second of two equal columns to passed_1 and would count the first one."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table(
        [["a"], [{"x": 1, "y": {"z": 2}}], [1], [0]], ["task", "more", "passed", duplicate]
    )
    pq.write_table(table, tmp_path / "m.parquet")
    frame = pd.DataFrame([["a", 1, 0]], columns=["task", "passed", duplicate])
    for data in (tmp_path / "m.parquet", table, table.to_reader(), table.to_batches()[0], frame):
        with pytest.raises(DataError, match=f"{words}; rename one column"):
            read(data)
    # Names may end in a number, and a field inside a column is not a column.
    renamed = table.rename_columns(["task", "passed_more", "passed", "passed_1"])
    pq.write_table(renamed, tmp_path / "m.parquet")
    fields = {"outcome": "passed"}
    assert cells(tmp_path / "m.parquet", fields=fields) == {("m", "a"): (1, 1)}
    assert cells(renamed, fields=fields) == {("model", "a"): (1, 1)}
    with pytest.raises(DataError, match="passed and passed_1 are both verdicts on an attempt"):
        read(renamed)


def test_quoted_newlines_are_part_of_a_field(write: Write) -> None:
    text = 'task,completion,passed\na,"x = 1\n\ny = 2, ""z""",1\nb,"",0\n'
    assert cells(write("m.csv", text)) == {("m", "a"): (1, 1), ("m", "b"): (1, 0)}


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x7f"])
def test_unicode_line_separators_do_not_end_a_line_of_json(write: Write, mark: str) -> None:
    rows = [{"task": "a", "model": m, "text": f"x{mark}y", "passed": m == "B"} for m in "AB"]
    text = jsonl(rows)
    assert mark in text
    assert cells(write("m.jsonl", text)) == {("A", "a"): (1, 0), ("B", "a"): (1, 1)}


@pytest.mark.parametrize("mark", ["\u2028", "\x85", *long_cases("\x0b", "\x0c", "\x1c", "\x1e")])
def test_unicode_line_separators_do_not_end_a_row_of_csv(write: Write, mark: str) -> None:
    path = write("m.csv", f"te{mark}xt,task,passed\n{mark},a,1\nx{mark}y,b,0\n")
    assert cells(path) == {("m", "a"): (1, 1), ("m", "b"): (1, 0)}
    assert detect_storage_layout(duckdb.connect(), sources_of_arguments([path], path.parent)[0],
    None).kinds_by_column == {
        f"te{mark}xt": {"text"}, "task": {"text"}, "passed": {"number"},
    }  # fmt: skip


def test_a_field_can_have_any_length(write: Write) -> None:
    long = "y" * 200_000
    path = write("m.csv", f'task,text,passed\na,"{long}",1\nb,{long},0\n')
    assert cells(path) == {("m", "a"): (1, 1), ("m", "b"): (1, 0)}
    bad = write("bad.csv", f"task,text,passed\na,{long},1\nb,{long}\n")
    with pytest.raises(DataError, match=r"bad\.csv:3: 2 fields; the header has 3"):
        read(bad)


@pytest.mark.parametrize("text", [",task,passed\n0,a,1\n1,b,0\n", "task,passed,,\na,1,,\nb,0,,\n"])
def test_columns_without_a_name_are_read(write: Write, text: str) -> None:
    assert cells(write("m.csv", text)) == {("m", "a"): (1, 1), ("m", "b"): (1, 0)}


def test_a_column_named_filename_is_read(write: Write, tmp_path: Path) -> None:
    frame = pd.DataFrame({"task": ["a", "a"], "filename": ["x", "y"], "passed": [True, False]})
    frame.to_parquet(tmp_path / "m.parquet")
    write("m.csv", frame.to_csv(index=False))
    write("m.jsonl", frame.to_json(orient="records", lines=True))
    for end in ("parquet", "csv", "jsonl"):
        path = tmp_path / f"m.{end}"
        assert cells(path, by=["filename"]) == {("m", "x", "a"): (1, 1), ("m", "y", "a"): (1, 0)}


def test_mixed_line_ends_in_zstd_are_read(write: Write) -> None:
    text = '{"task": "a", "passed": true}\r\n{"task": "b", "passed": false}\n'
    path = write("m.jsonl.zst", zstandard.compress(text.encode()))
    assert cells(path) == {("m", "a"): (1, 1), ("m", "b"): (1, 0)}


@pytest.mark.parametrize("value", [" NAN ", *long_cases("nan", "-nan", "+NaN")])
def test_a_missing_number_never_passes_a_threshold(write: Write, value: str) -> None:
    path = write("m.csv", f"task,score\na,{value}\na,0.2\n")
    for threshold in (None, 0.5):
        with pytest.raises(DataError, match='"score" has no value' if threshold else "score"):
            read(path, threshold=threshold)
    assert cells(path, threshold=0.5, missing="fail") == {("m", "a"): (2, 0)}
    scores = read(path, threshold=math.inf, missing="fail", attempts=["score"]).attempts["score"]
    assert scores.value.tolist() == [0.0, 0.2]


def test_stdin_is_read(passk: Passk) -> None:
    for packed in (jsonl(ROWS).encode(), gzip.compress(jsonl(ROWS).encode())):
        result = passk("estimate", "-", "-k", "1", "-f", "tsv", stdin=packed)
        assert result.out.split("\n")[1].startswith("a\tpass@1\t1\t0.3")
    result = passk("estimate", "x=-", "-k", "1", "-f", "csv", stdin=b"task,passed\nq,1\n")
    assert result.out.split("\n")[1].startswith("x,pass@1,1,1.0")


def test_task_ids_are_text(write: Write) -> None:
    path = write("m.jsonl", '{"task": 7, "passed": 1}\n{"task": "7", "passed": 0}\n'
                 '{"task": "007", "passed": 1}\n{"task": "NA", "passed": 1}\n')  # fmt: skip
    assert cells(path) == {("m", "007"): (1, 1), ("m", "7"): (2, 1), ("m", "NA"): (1, 1)}


@pytest.mark.parametrize("case", [str.title, *long_cases(str, str.upper, lambda w: f" {w} ")])
def test_words_are_outcomes(write: Write, case: Callable[[str], str]) -> None:
    for words, passed in ((PASS_WORDS, 1), (FAIL_WORDS, 0)):
        rows = [{"task": w, "status": case(w)} for w in words]
        counts = cells(write("m.jsonl", jsonl(rows)), outcome="status")
        assert all(c == passed for _, c in counts.values())


@pytest.mark.parametrize("case", [lambda w: f" {w} ", *long_cases(str, str.upper)])
def test_words_of_attempts_that_ended_are_missing_outcomes(
    write: Write, case: Callable[[str], str]
) -> None:
    rows = [{"task": "t", "status": "pass"}, {"task": "t", "status": None}]
    rows += [
        {"task": "t", "status": case(w)} for w in ENDED_WITHOUT_VERDICT_WORDS for _ in range(2)
    ]
    path = write("m.jsonl", jsonl(rows))
    facts = read(path, missing="drop").read_facts
    assert (facts.missing_outcome_count, cells(path, missing="drop")) == (
        1 + 2 * len(ENDED_WITHOUT_VERDICT_WORDS),
        {("m", "t"): (1, 1)},
    )
    assert facts.missing_reasons_by_model == {"m": dict.fromkeys(ENDED_WITHOUT_VERDICT_WORDS, 2)}
    word = json.dumps(case(ENDED_WITHOUT_VERDICT_WORDS[0]))
    with pytest.raises(DataError, match=f'm.jsonl:3: "status" is {word}, which is not an outcome'):
        read(write("m.jsonl", jsonl(rows[:1] + rows[2:3]).replace("\n", "\n\n")))


def test_formats_lists_the_words_of_ended_attempts(passk: Passk) -> None:
    text = passk("formats", "--full").out
    page = (ROOT / "docs" / "data.md").read_text()
    assert [w for w in ENDED_WITHOUT_VERDICT_WORDS if w not in text or f"`{w}`" not in page] == []


def test_reasons_of_missing_outcomes_follow_the_policies(write: Write) -> None:
    rows = [
        {"model": m, "task": "t", "attempt": a, "status": s}
        for m, a, s in [("x", 0, "error"), ("x", 0, "timeout"), ("x", 1, "pass"), ("y", 0, "crash"),
                        ("y", 1, "fail")]
    ]  # fmt: skip
    path = write("m.jsonl", jsonl(rows))
    for policy, kind in (("first", "error"), ("last", "timeout")):
        kinds = read(path, missing="drop", duplicates=policy).read_facts.missing_reasons_by_model
        assert kinds == {"x": {kind: 1}, "y": {"crash": 1}}
    reasons = read(
        path, missing="fail", duplicates="first", models="y"
    ).read_facts.missing_reasons_by_model
    assert reasons == {"y": {"crash": 1}}


def test_a_threshold_decides_scores(write: Write) -> None:
    scores = [0.3, 0.7 - 1e-10, 0.7, 1, 0, "pass", "failed", True]
    rows = [{"task": i, "score": s} for i, s in enumerate(scores)]
    counts = cells(write("m.jsonl", jsonl(rows)), threshold=0.7)
    assert [c for _, c in counts.values()] == [0, 1, 1, 1, 0, 1, 0, 1]
    lists = jsonl([{"task": "a", "scores": [0.2, 0.7, 0.9]}])
    assert cells(write("l.jsonl", lists), threshold=0.7) == {("l", "a"): (3, 2)}


def test_missing_outcomes_fail_or_are_dropped(write: Write) -> None:
    rows = [{"task": "a", "passed": p} for p in (True, None, "NaN")] + [
        {"task": "b", "passed": None}
    ]
    path = write("m.jsonl", jsonl(rows))
    assert cells(path, missing="fail") == {("m", "a"): (3, 1), ("m", "b"): (1, 0)}
    assert cells(path, missing="drop") == {("m", "a"): (1, 1)}
    counts = read(path, missing="drop")
    assert (counts.read_facts.missing_outcome_count, counts.read_facts.emptied_cell_count) == (3, 1)


def test_tasks_without_an_attempt_are_those_of_a_model(write: Write) -> None:
    lost = {"alpha": "ab", "beta": "abc"}
    rows = [
        {"model": model, "task": task, "passed": None if task in lost[model] else True}
        for model in lost for task in "abcd"
    ]  # fmt: skip
    notes = reading_notes(read(write("m.jsonl", jsonl(rows)), missing="drop"))
    (lost_tasks,) = (note for note in notes if note.name == "lost-tasks")
    assert lost_tasks.text == "no attempt at 3 tasks of beta, 2 tasks of alpha has an outcome"


def test_duplicates_are_refused_or_follow_the_policy(write: Write) -> None:
    rows = [{"task": "a", "sample": s, "passed": p} for s, p in ((0, True), (1, False), (0, False),
                                                                (1, None), (2, True))]  # fmt: skip
    path = write("m.jsonl", jsonl(rows))
    with pytest.raises(
        DataError, match=r"m.jsonl:3: attempt 0 .* first seen at .*m.jsonl:1 \(2 dup"
    ):
        read(path, missing="fail")
    assert cells(path, missing="fail", duplicates="keep") == {("m", "a"): (5, 2)}
    assert cells(path, missing="fail", duplicates="first") == {("m", "a"): (3, 2)}
    assert cells(path, missing="fail", duplicates="last") == {("m", "a"): (3, 1)}
    assert read(path, missing="fail", duplicates="last").read_facts.duplicate_count == 2


@pytest.mark.long
def test_first_and_last_follow_the_order_of_the_files(write: Write) -> None:
    csv_file = write("b.csv", "model,task,trial,passed\nm,a,0,1\nm,b,0,0\n")
    jsonl_file = write("a.jsonl", jsonl([{"model": "m", "task": "a", "trial": 0, "passed": False}]))
    for files, first, last in (([csv_file, jsonl_file], 1, 0), ([jsonl_file, csv_file], 0, 1)):
        assert cells(files, duplicates="first")["m", "a"] == (1, first)
        assert cells(files, duplicates="last")["m", "a"] == (1, last)
    many = [write(f"f{i}.csv", f"model,task,trial,passed\nm,a,0,{int(i == 7)}\n") for i in range(8)]
    assert cells(many, duplicates="last") == {("m", "a"): (1, 1)}
    assert cells(many[::-1], duplicates="first") == {("m", "a"): (1, 1)}
    assert cells(many, duplicates="first") == {("m", "a"): (1, 0)}
    # A file of another layout between two of one.
    three = write("c.csv", "model,task,trial,passed\nm,a,0,1\nm,b,0,0\n")
    for order in (
        [csv_file, jsonl_file, three],
        [csv_file, three, jsonl_file],
        [jsonl_file, csv_file, three],
    ):
        with pytest.raises(
            DataError, match=rf"{order[1].name}:\d: .* first seen at .*{order[0].name}:"
        ):
            read(order)
        values = [int(path != jsonl_file) for path in order]
        assert cells(order, duplicates="first")["m", "a"] == (1, values[0])
        assert cells(order, duplicates="last")["m", "a"] == (1, values[2])
        lines = read(order, duplicates="keep", attempts=["line"]).attempts["attempt"]
        assert lines.pass_count[lines.row_cell_indices == 0].tolist() == values


def test_a_record_longer_than_the_usual_buffer_is_read(write: Write) -> None:
    rows = [{"task": "a", "passed": True, "log": "x" * 20_000_000}, {"task": "b", "passed": False}]
    assert cells(write("m.jsonl", jsonl(rows))) == {("m", "a"): (1, 1), ("m", "b"): (1, 0)}


@pytest.mark.parametrize("numbers", [range(5), range(1, 6), (3, 9, 27), ("a", "b"), (-1, 10**20)])
def test_distinct_attempts_are_not_duplicates(write: Write, numbers: tuple[object, ...]) -> None:
    rows = [{"task": "a", "trial": i, "passed": True} for i in numbers]
    assert cells(write("m.jsonl", jsonl(rows))) == {("m", "a"): (len(numbers), len(numbers))}


def test_skip_bad_skips_bad_records(write: Write) -> None:
    rows = jsonl(ROWS)
    text = rows + '{"passed": 25, "failed": 139}\n[1, 2]\n{"model": "a", "task_id": "cu'
    counts = read(write("m.jsonl", text), skip_bad=True)
    assert counts.read_facts.skipped_lines == 3
    assert cells(write("m.jsonl", text), skip_bad=True) == EXPECTED
    table = write("m.csv", "task,passed\na,1\nb,1,x\nc\nd,0\n")
    assert cells(table, skip_bad=True) == {("m", "a"): (1, 1), ("m", "d"): (1, 0)}
    assert read(table, skip_bad=True).read_facts.skipped_lines == 2


def test_fields_reach_into_records(write: Write, tmp_path: Path) -> None:
    rows = [{"meta": {"id": {"x": t}}, "evaluation": {"is_correct": t == "a"}}
            for t in "ab"]  # fmt: skip
    path = write("m.jsonl", jsonl(rows))
    fields = {"task": "meta.id.x", "outcome": "evaluation.is_correct"}
    assert cells(path, fields=fields) == {("m", "a"): (1, 1), ("m", "b"): (1, 0)}
    pd.DataFrame(rows).to_parquet(tmp_path / "m.parquet")
    assert cells(tmp_path / "m.parquet", fields=fields) == {("m", "a"): (1, 1), ("m", "b"): (1, 0)}


def test_human_eval_results_carry_the_outcome_twice(write: Write) -> None:
    rows = [{"task_id": "HumanEval/0", "completion": "", "result": "failed: x", "passed": False}]
    assert cells(write("m.jsonl", jsonl(rows))) == {("m", "HumanEval/0"): (1, 0)}


def test_options_by_where_and_model_choose_rows(write: Write) -> None:
    rows = [{**r, "difficulty": "hard" if r["sample"] else "easy"} for r in ROWS]
    path = write("m.jsonl", jsonl(rows))
    counts = read(path, by=["difficulty"], where="temperature < 0.5 AND sample < 2", models=["bb"])
    assert counts.series == (("bb", "easy"), ("bb", "hard"))
    assert counts.n.tolist() == [1] * 12
    assert sum(n for n, _ in cells(path, where="difficulty = 'hard'").values()) == 36
    with pytest.raises(ParameterError, match="no column 'hard'"):
        read(path, where='difficulty = "hard"')


@pytest.mark.parametrize("suffix", ["jsonl", *long_cases("json", "csv", "parquet")])
def test_folders_and_names_of_files_do_not_change_rows(tmp_path: Path, suffix: str) -> None:
    frame = pd.DataFrame({"model": "m", "task": ["a", "b"], "n": [4, 4], "c": [1, 3]})
    for name in ("model=zzz/n=100/c=0/x", "x[1]", "x1", "*", "?", "**", "a'b\\c{d},e"):
        path = tmp_path / f"{name}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        table = frame if name != "x1" else frame.assign(c=0)
        match suffix:
            case "csv":
                table.to_csv(path, index=False)
            case "parquet":
                table.to_parquet(path)
            case _:
                table.to_json(path, orient="records", lines=suffix == "jsonl")
        expected = {("m", "a"): (4, 1), ("m", "b"): (4, 3)} if name != "x1" else cells(table)
        assert cells(path) == expected
    assert (tmp_path / f"x[1].{suffix}").read_bytes() != (tmp_path / f"x1.{suffix}").read_bytes()


@pytest.mark.parametrize("zone", ["Asia/Tokyo", *long_cases("America/New_York")])
def test_times_are_in_utc(tmp_path: Path, zone: str) -> None:
    when = pd.to_datetime(["2026-01-01T02:00Z", "2026-01-01T23:00Z"])
    frame = pd.DataFrame({"task": ["a", "b"], "when": when, "passed": [True, False]})
    frame.to_parquet(tmp_path / "m.parquet")
    code = (
        "import sys; from passk_cli import read; path = sys.argv[1];"
        "print(read(path, by=['when']).series);"
        "print(read(path, where='\"when\" < \\'2026-01-01 03:00\\'').n)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "m.parquet")],
        env=os.environ | {"TZ": zone}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    expected = (("m", "2026-01-01 02:00:00+00"), ("m", "2026-01-01 23:00:00+00"))
    assert result.stdout == f"{expected}\n[1]\n"


@pytest.mark.parametrize("suffix", ["parquet", *long_cases("jsonl", "csv")])
def test_large_whole_numbers_compare_exactly(write: Write, tmp_path: Path, suffix: str) -> None:
    rows = [{"task": f"t{i}", "id": 2**53 + i, "passed": i == 1} for i in range(3)]
    if suffix == "parquet":
        pd.DataFrame(rows).to_parquet(tmp_path / "m.parquet")
        path = tmp_path / "m.parquet"
    else:
        text = jsonl(rows) if suffix == "jsonl" else pd.DataFrame(rows).to_csv(index=False)
        path = write(f"m.{suffix}", text)
    assert cells(path, where=f"id = {2**53 + 1}") == {("m", "t1"): (1, 1)}
    assert cells(path, where=f"id < {2**53}.5") == {("m", "t0"): (1, 0)}
    assert len(cells(path, where="id / 3 > 0.5 AND id % 2 = 0")) == 2


def test_fractions_further_down_are_not_rounded(write: Write) -> None:
    sizes = (1, 2, None, 2.5, 10**20)
    rows = [{"task": f"t{i}", "size": size, "passed": True} for i, size in enumerate(sizes)]
    path = write("m.jsonl", jsonl(rows))
    assert cells(path, where="size > 2") == {("m", "t3"): (1, 1), ("m", "t4"): (1, 1)}
    assert cells(path, where="size IS NULL") == {("m", "t2"): (1, 1)}
    assert cells(path, where="size = 2", models=["m"]) == {("m", "t1"): (1, 1)}


def test_models_are_named_by_files_folders_and_labels(write: Write, passk: Passk) -> None:
    text = "task,passed\na,1\n"
    first, second = write("x/results.csv", text), write("y/results.csv", text)
    assert read([first, second]).series == (("x",), ("y",))
    assert read([f"new={first}", second]).series == (("new",), ("results",))
    labelled = [f"same={first}", f"same={second}"]
    assert cells(labelled, duplicates="keep") == {("same", "a"): (2, 2)}
    third = write("z.csv", "model,task,passed\ngpt,a,1\n")
    assert read(f"new={third}").series == (("new",),)
    several = write("s.csv", "model,task,passed\ngpt,a,1\nllama,a,0\n")
    with pytest.raises(
        DataError, match=r"several models \(gpt, llama\), but the label 'new' names only one model"
    ):
        read(f"new={several}")
    assert read(first.parent.parent / "*" / "results.csv").series == (
        ("x",),
        ("y",),
    )
    assert len(read(first.parent.parent).series) == 4


def test_a_task_belongs_to_one_cluster(write: Write) -> None:
    path = write("m.csv", "task,passed,repo\na,1,x\na,0,x\nb,1,y\n")
    assert read(path, cluster="repo").clusters == ("x", "y")
    cut = write("c.csv", "task,passed,repo\na,1,x\na,0,y\n")
    with pytest.raises(DataError, match="task 'a' is in two clusters"):
        read(cut, cluster="repo")


def test_pooled_settings_are_reported(passk: Passk) -> None:
    result = passk("estimate", SAMPLES / "cruxeval.jsonl.gz")
    assert (result.code, result.out) == (3, "")
    assert "--by temperature  # keeps them apart\n" in result.err
    result = passk("estimate", SAMPLES / "cruxeval.jsonl.gz", "--pool", "temperature", "-k", "1")
    assert result.code == 0


@pytest.mark.parametrize(
    ("values", "differ"),
    [
        (["0.2", "0.20"], False),
        (["1", "1.0"], False),
        (["0", "-0.0"], False),
        (["0.2", "0.8"], True),
        (["0.2", "null"], True),
        (["0.2", None], True),
        (["0.2", '"high"'], True),
        (["null", None], False),
        (['"0.2"', '"0.2"'], False),
        (["1e400", "0.2"], True),
    ],
)
@pytest.mark.parametrize("parts", [1, *long_cases(300)])
def test_settings_are_compared_as_numbers(
    passk: Passk, write: Write, values: list[str | None], differ: bool, parts: int
) -> None:
    """Values are compared as numbers while all are numbers, even if the second value comes late."""
    temperatures = [values[0]] * parts + [values[1]]
    lines = [
        f'{{"task": "a", "attempt": {i}, "passed": true'
        + ("" if value is None else f', "temperature": {value}') + "}"
        for i, value in enumerate(temperatures)
    ]  # fmt: skip
    result = passk("estimate", write("a.jsonl", "\n".join(lines)), "-k", "1")
    assert (result.code, "differ in temperature" in result.err) == (0, differ), result.err
    assert (
        "pooled" not in passk("estimate", SAMPLES / "cruxeval.jsonl.gz", "--by", "temperature").err
    )


tables = st.lists(
    st.tuples(st.sampled_from("mno"), st.sampled_from(["t1", "t2", "1", "01"]), st.booleans()),
    min_size=1,
    max_size=40,
)
relaxed = settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@given(tables, st.randoms(use_true_random=False), st.integers(1, 4))
@relaxed
def test_order_and_sharding_do_not_matter(
    write: Write, passk: Passk, rows: list[tuple[str, str, bool]], rng: random.Random, shards: int
) -> None:
    records: list[dict[str, object]] = [{"model": m, "task": t, "passed": p} for m, t, p in rows]
    path = write("whole.jsonl", jsonl(records))
    rng.shuffle(records)
    cut = [records[i::shards] for i in range(shards)]
    parts = [write(f"part{i}.jsonl", jsonl(part)) for i, part in enumerate(cut) if part]
    expected = passk("estimate", path, "-k", "1", "-f", "csv")
    assert expected.code == 0
    assert passk("estimate", *parts, "-k", "1", "-f", "csv").out == expected.out


@given(tables)
@relaxed
def test_renaming_tasks_and_models_does_not_matter(
    write: Write, rows: list[tuple[str, str, bool]]
) -> None:
    plain = jsonl([{"model": m, "task": t, "passed": p} for m, t, p in rows])
    renamed = jsonl([{"model": f"x{m}", "task": f"z{t}", "passed": p} for m, t, p in rows])
    first, second = cells(write("a.jsonl", plain)), cells(write("b.jsonl", renamed))
    assert {(f"x{m}", f"z{t}"): v for (m, t), v in first.items()} == second


PLAIN = [{"task": f"t{i % 50}", "passed": i % 3 == 0, "pad": "x" * 30} for i in range(4000)]


def with_late_key(
    key: str, value: object, at: slice = slice(-100, None)
) -> list[dict[str, object]]:
    """The same records, some with one more key that comes after the sample of the file."""
    rows: list[dict[str, object]] = [dict(row) for row in PLAIN]
    for row in rows[at]:
        row[key] = value
    return rows


@pytest.mark.long
def test_a_model_that_appears_late_is_not_pooled(write: Write) -> None:
    rows = with_late_key("model", "B")
    last = with_late_key("model", "B", slice(-1, None))
    document = PLAIN[:150] + rows[-1:]
    packed = gzip.compress(jsonl(with_late_key("engine", "B")).encode())
    for name, content in (
        ("a.jsonl", jsonl(rows)), ("b.jsonl", jsonl(last)), ("c.jsonl", jsonl(rows[::-1])),
        ("d.json", json.dumps(document)), ("e.jsonl.gz", packed),
        ("f.jsonl", jsonl(with_late_key("agent_name", "B", slice(3800, 3801)))),
    ):  # fmt: skip
        with pytest.raises(DataError, match=r"no model in .* other records have a model"):
            read(write(name, content))
    assert cells(write("a.jsonl", jsonl(rows)), where="model IS NOT NULL").keys() == {
        ("B", f"t{i}") for i in range(50)
    }


@pytest.mark.long
def test_settings_and_attempts_that_appear_late_are_read(write: Write) -> None:
    half = slice(2000, None)
    for name, content in (
        ("a.jsonl", jsonl(with_late_key("temperature", 0.8, half))),
        ("b.jsonl", jsonl(with_late_key("temperature", 0.8, slice(2000)))),
        ("c.json", json.dumps(with_late_key("temperature", 0.8, half))),
    ):
        with pytest.raises(DataError, match=r"differ in temperature \(0\.8, none\)"):
            read(write(name, content))
    # A value of one attempt in thousands changes no number.
    assert not read(
        write("d.jsonl", jsonl(with_late_key("temperature", 0.8, slice(-1, None))))
    ).read_facts.pooled_setting_columns
    second = write("other.jsonl", '{"task": "t1", "passed": 1, "model": "m", "top_p": 0.9}\n')
    plain = write("plain.jsonl", '{"task": "t1", "passed": 1, "model": "m"}\n')
    with pytest.warns(PasskWarning, match="differ in top_p"):
        assert read([plain, second]).read_facts.pooled_setting_columns == ("top_p",)
    with pytest.raises(DataError, match="attempt 7 of model 'd' at task"):
        read(write("d.jsonl", jsonl(with_late_key("sample", 7, slice(3000, None)))))


def reading_or_refusal(path: Path) -> str:
    """The complete result of reading a file, or its error, for all packings and line ends."""
    try:
        counts = read(path)
    except DataError as refusal:
        # If two columns could have a role, the error names the first column first.
        text = str(refusal).partition(" could be the ")
        prefix = text[0] if text[1] else re.sub(r"\{[^;]*", "", text[0])
        return re.sub(r":\d+|\.gz\b|t\d+", "", prefix)
    return repr((cells_of(counts), counts.read_facts.pooled_setting_columns))


@pytest.mark.long
@given(
    st.sampled_from(
        ["model", "agent", "system", "seed", "trial", "sample_id", "correct", *SETTING_COLUMN_NAMES]
    ),
    st.integers(0, 299),
    st.integers(1, 9),
)
@settings(max_examples=8, suppress_health_check=list(HealthCheck), deadline=None)
def test_a_column_can_appear_at_any_row(write: Write, name: str, start: int, rows: int) -> None:
    """It is seen wherever it is, packed or not, as if the file began with it."""
    changed: list[dict[str, object]] = [dict(row, pad="x" * 2000) for row in PLAIN[:300]]
    for row in changed[start : start + rows]:
        row[name] = "7"
        if name == "correct":
            row[name] = row.pop("passed")
    text = jsonl(changed)
    turned = jsonl(changed[start:] + changed[:start])
    expected = reading_or_refusal(write("m.jsonl", turned))
    assert reading_or_refusal(write("m.jsonl", text)) == expected
    assert reading_or_refusal(write("m.jsonl.gz", gzip.compress(text.encode(), 1))) == expected


@pytest.mark.parametrize(
    ("first", "second"), [("1.10", "1.1"), *long_cases(("1e2", "100.0"), ("1E2", '"100"'))]
)
def test_late_task_numbers_that_lose_their_spelling_are_refused(
    write: Write, first: str, second: str
) -> None:
    """Reading loses the spelling of a JSON number, so a spelling that matters is refused."""
    rows = "".join(f'{{"task": {i}, "passed": 1, "pad": "{"x" * 1000}"}}\n' for i in range(2200))
    late = "".join(f'{{"task": {t}, "passed": true}}\n' for t in (first, second))
    for name, content in (("m.jsonl", rows + late), ("m.jsonl.gz", gzip.compress(
        (rows + late).encode(), 1))):  # fmt: skip
        with pytest.raises(DataError, match=rf'{name}:2201: "task" is the number {first}, which'):
            read(write(name, content))
    texts = rows + late.replace(first, f'"{first}"').replace(f" {second}", ' "x"')
    assert cells(write("m.jsonl", texts))["m", first] == (1, 1)
    assert cells(write("m.jsonl", rows + '{"task": 2.5, "passed": 0}\n'))["m", "2.5"] == (1, 0)


@pytest.mark.parametrize("second", ["model,task,passed", *long_cases("task,passed,model")])
def test_a_repeated_csv_header_is_refused(write: Write, second: str) -> None:
    text = f"model,task,passed\nm,a,0\nm,b,0\n{second}\nm,a,0\n"
    for name, content in (("a.csv", text), ("a.csv.gz", gzip.compress(text.encode()))):
        for options in ({}, {"skip_bad": True}, {"missing": "fail"}):
            with pytest.raises(
                DataError, match=rf"{name}:4: this row repeats the header \({second}"
            ):
                read(write(name, content), **options)
    # A task can have the name of a column.
    fine = text.replace(f"\n{second}\n", "\nm,task,1\n")
    assert cells(write("b.csv", fine))["m", "task"] == (1, 1)


MIXED = [("a", "0.2"), ("b", "default"), ("c", "0"), ("d", None)]


@pytest.mark.parametrize("suffix", ["jsonl", *long_cases("csv", "parquet")])
def test_a_text_is_not_a_number(write: Write, tmp_path: Path, suffix: str) -> None:
    """For = the engine would make whole numbers of texts: "0.2" = 0."""
    path = tmp_path / f"m.{suffix}"
    frame = pd.DataFrame([{"task": t, "passed": True, "x": x, "y": 0.5} for t, x in MIXED])
    {"csv": lambda: frame.to_csv(path, index=False), "parquet": lambda: frame.to_parquet(path),
     "jsonl": lambda: frame.to_json(path, orient="records", lines=True)}[suffix]()  # fmt: skip
    for where in (
        "x = 0", "x <> 0", "x IN (0)", "x NOT IN (0, 1)", "x < 1", "x = 0.2",
        "x IS DISTINCT FROM 0",
        "CASE x WHEN 0 THEN true END", "nullif(x, 0) IS NULL", "y > 0 AND NOT (x = 0)", "x = y",
    ):  # fmt: skip
        with pytest.raises(
            ParameterError, match="the condition compares a text with a number or a truth"
        ):
            read(path, where=where)
    for where, tasks in {
        "x = '0'": "c", "x IN ('0', '0.2')": "ac", "TRY_CAST(x AS DOUBLE) = 0": "c",
        "y = 0.5 AND y IN (0.5) AND lower(x) = 'default'": "b", "x IS NULL": "d",
    }.items():  # fmt: skip
        assert {task for _, task in cells(path, where=where)} == set(tasks), where


@pytest.mark.parametrize("call", [
    "random() < 2", "version() <> 'x'", "current_setting('threads') <> ''", "now() IS NOT NULL",
    "task = 'a' OR length(VERSION()) > 0",
])  # fmt: skip
def test_a_condition_allows_only_listed_functions(write: Write, call: str) -> None:
    with pytest.raises(ParameterError, match=r"\(\) is not allowed in a condition; "):
        read(write("m.csv", "task,passed\na,1\n"), where=call)


@pytest.mark.long
def test_named_columns_that_appear_late_are_read(write: Write) -> None:
    path = write("a.jsonl", jsonl(with_late_key("size", 9, slice(-1, None))))
    assert cells(path, by=["size"])["a", "9", "t49"] == (1, 1)
    assert cells(path, where="size > 8") == {("a", "t49"): (1, 1)}
    assert cells(path, fields={"model": "size"}, where="size > 8") == {("9", "t49"): (1, 1)}
    nested = write("n.jsonl", jsonl(with_late_key("run", {"id": 3}, slice(-1, None))))
    assert cells(nested, by=["run.id"])["n", "3", "t49"] == (1, 1)
    with pytest.raises(DataError, match="no column 'sise'"):
        read(path, by=["sise"])


@pytest.mark.parametrize("end", ["jsonl", "json", "jsonl.gz", "jsonl.zst"])
def test_deeply_nested_values_are_read_up_to_the_limit(write: Write, end: str) -> None:
    """It hides nothing up to a level that every Python's parser reaches; then it is refused."""

    def file(levels: int) -> Path:
        deep = '[{"]": "[\\"{"}, ' + "[" * (levels - 1) + "]" * (levels - 1) + "]"
        rows = [f'{{"task": "{t}", "passed": true, "x": {deep}}}' for t in "ab"]
        text = "[" + ",".join(rows) + "]" if end == "json" else "\n".join(rows)
        return write(f"m.{end}", packed(end, text.encode()))

    inside = 2 if end == "json" else 1
    counts = cells(file(MAX_NESTING - inside))
    assert counts == {("m", "a"): (1, 1), ("m", "b"): (1, 1)}
    with pytest.raises(DataError, match=f"m.{end}:1: the (?:record|line) is nested too deeply"):
        cells(file(MAX_NESTING + 1 - inside))


def packed(end: str, text: bytes) -> bytes:
    if end.endswith("gz"):
        return gzip.compress(text)
    return zstandard.compress(text) if end.endswith("zst") else text


def test_brackets_of_lines_do_not_add_up(write: Write) -> None:
    """Brackets of lines that are cut off and left out do not add up either."""
    cut = '{"task": "c", "x": [\n' * (MAX_NESTING + 1)
    rows = '{"task": "a", "passed": true}\n' + cut
    assert cells(write("m.jsonl", rows), skip_bad=True) == {("m", "a"): (1, 1)}


@pytest.mark.parametrize("text", ['{"task": "a", "x": ' + "[" * 60_000, "[\n" * 60_000])
def test_deep_nesting_needs_little_memory(write: Write, text: str) -> None:
    """An earlier version kept the path to each level: gigabytes for 100 KB."""
    path = write("m.json", text)
    tracemalloc.start()
    with pytest.raises(DataError):
        read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * len(text)


@pytest.mark.parametrize("end", ["jsonl.gz", "csv.gz", "json.gz", "jsonl.zst"])
def test_a_packed_file_that_unpacks_to_far_more_is_refused(
    write: Write, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    """A line without an end, such as a decompression bomb, is neither kept nor read to its end."""
    monkeypatch.setattr("passk_cli.files.sources.source._HARMLESS_BYTES", 1 << 20)
    start = {"csv.gz": "task,passed,x\na,1,", "json.gz": '{"results": [{"task": "a", "x": "'}
    text = start.get(end, '{"task": "a", "x": "').encode() + b"x" * (1 << 22)
    refusal = "unpacks to more than 1,048,576 bytes, .*; unpack the file yourself and give the"
    with pytest.raises(DataError, match=refusal):
        read(write(f"m.{end}", packed(end, text)))


def test_a_gzip_file_that_unpacks_to_far_more_is_refused_before_it_is_counted(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("passk_cli.files.sources.source._HARMLESS_BYTES", 1 << 16)
    monkeypatch.setattr("passk_cli.files.load._count_files", pytest.fail)
    text = b"task,attempt,passed\n" + b"a,0,1\n" * (1 << 17)
    with pytest.raises(DataError, match="unpacks to more than"):
        read(write("m.csv.gz", packed("csv.gz", text)))


@pytest.mark.parametrize("last", ["b", "2.0", " "])
def test_attempts_of_csv_may_turn_from_numbers_into_texts(write: Write, last: str) -> None:
    """passk reads these values as numbers first, because that is faster."""
    numbers = "".join(f"a,{attempt},1\n" for attempt in range(20_000))
    path = write("m.csv", f"task,attempt,passed\n{numbers}a,{last},0\n")
    for options in ({}, {"skip_bad": True}):
        counts = read(path, **options)
        assert (counts.n.tolist(), counts.c.tolist()) == ([20_001], [20_000])


FRAME = pd.DataFrame({"task": ["a", "b"], "passed": [1, 0]})


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([1j, 2j], "complex128"),
        (pd.arrays.SparseArray([1, 0]), "Sparse[int64, 0]"),
        (pd.period_range("2026", periods=2), "period[D]"),
    ],
)
def test_columns_of_unsupported_types_are_refused_with_a_remedy(column: object, kind: str) -> None:
    frame = FRAME.assign(passed=column) if "Sparse" in kind else FRAME.assign(z=column)
    name = "passed" if "Sparse" in kind else "z"
    with pytest.raises(DataError) as refusal:
        read(frame)
    remedy = f".astype({{'{name}': str}})"
    problem = f"passk cannot read the type {kind} of column '{name}'"
    assert (
        str(refusal.value)
        == f"DataFrame: {problem}; drop the column, or convert it to text with {remedy}"
    )
    assert cells(eval("frame" + remedy)) == {("model", "a"): (1, 1), ("model", "b"): (1, 0)}


@pytest.mark.parametrize("data", [pd.DataFrame(), pd.DataFrame(index=[1]), polars.DataFrame()])
def test_a_frame_without_columns_is_refused(data: object) -> None:
    with pytest.raises(DataError, match="DataFrame: the table has no columns; expected one row"):
        read(data)


@pytest.mark.parametrize("data", [FRAME.passed, polars.Series([1, 0])])
def test_a_single_column_is_not_a_table(data: object) -> None:
    with pytest.raises(DataError, match="Series cannot be read; give paths, rows"):
        read(data)


def test_a_table_that_needs_pyarrow_is_refused_with_a_remedy() -> None:
    class Table:
        def __arrow_c_stream__(self, schema: object = None) -> object:
            raise ImportError("`Import pyarrow` failed.")

    with pytest.raises(DataError, match="install pyarrow, or give a dict of lists"):
        read(Table())


def test_deeply_nested_rows_are_refused() -> None:
    value: list[object] = []
    for _ in range(5000):
        value = [value]
    with pytest.raises(DataError, match="<rows>:2: the row is nested too deeply"):
        read([{"task": "a", "passed": 1}, {"task": "b", "passed": 1, "x": value}])


def test_a_model_named_like_a_pattern_is_itself(write: Write) -> None:
    path = write("a.csv", "model,task,passed\ngpt-4[1],a,1\ngpt-41,a,0\n")
    literal, similar = {("gpt-4[1]", "a"): (1, 1)}, {("gpt-41", "a"): (1, 0)}
    assert cells(path, models=["gpt-4[1]"]) == literal
    assert cells(path, exclude_models=["gpt-4[1]"]) == similar
    assert cells(path, models=["gpt-4[1-9]"]) == similar


@pytest.mark.parametrize("white", ["\t", "\r", "\n", " \t"])
def test_white_space_around_an_outcome_is_ignored(write: Write, white: str) -> None:
    rows = [{"task": t, "passed": white + o + white} for t, o in (("a", "true"), ("b", "failed"))]
    assert cells(write("m.jsonl", jsonl(rows))) == {("m", "a"): (1, 1), ("m", "b"): (1, 0)}


@pytest.mark.parametrize(
    ("usual", "odd"),
    [(True, 0.5), (1.0, "x"), ([1, 0], [1, 0.5]),
     *long_cases((1, 0.5), (True, -1), (True, np.int64(2)))],
)  # fmt: skip
def test_a_rare_value_of_another_type_in_a_frame_is_not_cast(usual: object, odd: object) -> None:
    values = pd.Series([usual] * 4_000, dtype=object)
    frame = pd.DataFrame({"task": [f"t{i}" for i in range(4_000)], "passed": values})
    assert read(frame).c.sum() == 4_000
    frame.at[3_998, "passed"] = odd
    with pytest.raises(DataError, match="record 3999"):
        read(frame)
    if not isinstance(usual, list):
        # numpy types among Python types have the same meaning.
        frame.at[3_998, "passed"] = np.array(usual)[()]
        assert read(frame).c.sum() == 4_000


@pytest.mark.parametrize("passed", [[True, 0, None], [True, "no", None], [1, "fail", None]])
def test_a_frame_with_several_kinds_of_outcomes_is_read(passed: list[object]) -> None:
    import pandas as pd

    frame = pd.DataFrame({"task": list("stu"), "passed": pd.Series(passed, dtype=object)})
    counts = read(frame, missing="fail")
    assert (counts.n.tolist(), counts.c.tolist()) == ([1, 1, 1], [1, 0, 0])
    frame.loc[2, "passed"] = 0.5
    with pytest.raises(DataError, match=r'record 3: "passed" is 0\.5'):
        read(frame)


def test_a_frame_with_an_empty_task_is_refused() -> None:
    frame = pd.DataFrame({"task": ["a", None], "passed": [1, 0]})
    with pytest.raises(DataError) as refusal:
        read(frame)
    remedy = ".dropna(subset=['task'])"
    assert (
        str(refusal.value)
        == "DataFrame: record 2: the column 'task' has no value; drop rows without a value with"
        f" {remedy}"
    )
    assert cells(eval("frame" + remedy)) == {("model", "a"): (1, 1)}


def test_an_array_has_tasks_in_rows_and_attempts_in_columns() -> None:
    array = np.array([[1, 0, 1], [0, 0, 0]])
    counts = read(array)
    assert (counts.tasks, counts.n.tolist(), counts.c.tolist()) == (("0", "1"), [3, 3], [2, 0])
    pair = read({"a": array, "b": array.astype(bool)})
    assert (pair.series, pair.c.tolist()) == ((("a",), ("b",)), [2, 0, 2, 0])
    missing = array.astype(float)
    missing[0, 1] = np.nan
    with pytest.raises(DataError, match="1 attempt in all"):
        read(missing)
    assert read(missing, missing="drop").n.tolist() == [2, 3]
    with pytest.raises(DataError, match="threshold"):
        read(array / 2)
    assert read(array / 2, threshold=0.5).c.tolist() == [2, 0]
    with pytest.raises(DataError, match="tasks × attempts"):
        read(np.zeros(3))


def test_a_pivoted_frame_leads_to_a_question_about_attempts() -> None:
    rows = [{"task": f"t{i // 4}", "trial": i % 4, "passed": i % 3 > 0} for i in range(16)]
    wide = pd.DataFrame(rows).pivot(index="task", columns="trial", values="passed")
    with pytest.raises(DataError) as error:
        read(wide)
    (candidate,) = error.value.candidates["outcome"]
    assert (candidate.column, candidate.values_summary) == ("0,1,2,3", "4 columns, one per attempt")
    counts = read(wide, fields={"outcome": candidate.column})
    assert counts.c.tolist() == read(rows).c.tolist()
