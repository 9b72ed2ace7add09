"""Tests of bad input: the place, the problem and the fix, the exit code, and an empty stdout."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import json
import lzma
import os
import random
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest
import zstandard

from passk_cli import read
from tests.conftest import SAMPLES, Passk, Write, jsonl, mark_long_except
from tests.proposals import commands, run_printed

GOOD = '{"task_id": "a", "passed": true}\n'


def attempts(*outcomes: str) -> str:
    return "".join(f'{{"task_id": "t{i}", "passed": {o}}}\n' for i, o in enumerate(outcomes))


DAMAGED_GZIP = gzip.compress((GOOD * 9).encode(), mtime=0)[:12] + b"\x00\xff\x13" * 9
with zipfile.ZipFile(WORKBOOK := io.BytesIO(), "w") as archive:
    archive.writestr("[Content_Types].xml", "<Types/>")
with zipfile.ZipFile(ZIPPED := io.BytesIO(), "w") as archive:
    archive.writestr("a.jsonl", GOOD)
CASES: list[tuple[str, str, str | bytes, list[str], str]] = [
    ("empty file", "a.jsonl", "", [], "a.jsonl: the file is empty; expected JSONL"),
    ("blank file", "a.jsonl", "\n\n \n", [], "a.jsonl: the file is empty"),
    ("control character", "a.jsonl", "\x1f", [],
    "a.jsonl: the file contains only control characters"),
    ("binary file", "a.jsonl", os.urandom(64) + b"\0" * 8, [], "a.jsonl: this is a binary file"),
    (
        "bzip2", "a.jsonl.bz2", bz2.compress(GOOD.encode()), [],
        "a.jsonl.bz2: passk does not read this file (packed by bzip2); unpack it with bunzip2",
    ),
    (
        "xz", "a.jsonl.xz", lzma.compress(GOOD.encode()), [],
        "a.jsonl.xz: passk does not read this file (packed by xz); unpack it with unxz",
    ),
    (
        "zip", "a.zip", ZIPPED.getvalue(), [],
        "a.zip: this is an archive, which passk does not unpack; unpack it and give its folder",
    ),
    (
        "workbook", "a.xlsx", WORKBOOK.getvalue(), [],
        "a.xlsx: this is an Excel workbook, which passk does not read; save its sheet as CSV",
    ),
    (
        "tar", "a.tar.gz", gzip.compress(b"a.csv".ljust(257, b"\0") + b"ustar\0" + b"x" * 9), [],
        "a.tar.gz: this is an archive, which passk does not unpack; unpack it and give its folder",
    ),
    ("prose", "a.txt", "hello world\nmore\n", [], "this is neither JSON nor a delimited table"),
    ("junit", "a.xml", "<?xml version=\"1.0\"?><testsuites/>\n", [],
    "passk does not read XML; write JSON"),
    (
        "malformed line", "a.jsonl", GOOD * 16 + '{"task_id": "a", "pas\n' + GOOD, [],
        'a.jsonl:17: the line is not JSON (Invalid control character): {"task_id": "a", "pas\n',
    ),
    ("line is a list", "a.jsonl", GOOD + "[1]\n", [], "a.jsonl:2: the line is not a JSON record:"),
    (
        "neither pass nor fail", "a.jsonl", attempts("true", "false", '"maybe"'), [],
        'a.jsonl:3: "passed" is "maybe"; expected true/false, 0/1 or a score',
    ),
    (
        "score without threshold", "a.jsonl", attempts("true", "0.7"), [],
        "best@k, worst@k and mean need no threshold; --threshold X sets the score",
    ),
    ("list as outcome", "a.jsonl", attempts("1", "[1]"), [], 'a.jsonl:1: "passed" is 1; in other'),
    (
        "null outcome", "a.jsonl", attempts("true", "null", "null"), [],
        "--missing bounds  # gives ranges",
    ),
    ("NaN outcome", "a.jsonl", attempts("true", "NaN"), [], 'a.jsonl:2: "passed" has no value'),
    (
        "outcome key absent", "a.jsonl", attempts("true") + '{"task_id": "x"}\n', [],
        'a.jsonl:2: "passed" has no value',
    ),
    (
        "summary footer", "a.jsonl", attempts("true") + '{"passed":25,"failed":139}\n', [],
        'a.jsonl:2: no task in {"passed":25,"failed":139}; is this record a summary?',
    ),
    (
        "no model in a record", "a.csv", "model,task,passed\nm,a,1\n,b,1\n", [],
        "a.csv:3: no model in",
    ),
    (
        "duplicate attempt", "a.csv", "task,sample,passed\na,0,1\na,1,1\na,0,0\n", [],
        "a.csv:4: attempt 0 of model 'a' at task 'a' is duplicated, first seen at",
    ),
    (
        "duplicates differ in a setting", "a.csv",
        "task,sample,temperature,passed\na,0,0.2,1\na,0,0.8,0\n", [],
        "attempts at one task differ in temperature (0.2, 0.8)\n",
    ),
    (
        "no task column", "a.csv", "foo,passed\n1,1\n", [],
        "usual name for the task; the columns are foo, passed; --field task=COLUMN names it",
    ),
    (
        "no column of task and outcome", "a.csv", "riddle,ok\n1,1\n", [],
        "the columns are riddle, ok; --field task=COLUMN names it",
    ),
    (
        "no outcome column", "a.jsonl", '{"task": "a", "evaluation": {"log": "x"}}\n', [],
        "the columns are task, evaluation; write evaluation.KEY for a field inside evaluation",
    ),
    (
        "score of another name without threshold", "a.csv", "task,rubric\na,0.5\n",
        ["--field", "score=rubric"],
        'a.csv:2: "rubric" is 0.5; best@k, worst@k and mean need no threshold; --threshold X',
    ),
    (
        "two outcome columns", "a.csv", "task,passed,correct\na,1,1\n", [],
        "2 columns could be the outcome: passed, correct; ",
    ),
    (
        "two model columns", "a.csv", "task,passed,model,agent\na,1,m,x\n", [],
        "2 columns could be the model: model, agent",
    ),
    (
        "counts and outcomes", "a.csv", "task,n,c,passed\na,2,1,1\n", [],
        "the table contains counts (n, c) and outcomes (passed)",
    ),
    ("n < c", "a.csv", "task,n,c\na,3,2\nb,2,3\n", [], "a.csv:3: n = 2 and c = 3 cannot be"),
    ("negative counts", "a.csv", "task,n,c\na,3,-1\n", [], "a.csv:2: n = 3 and c = -1 cannot be"),
    ("half counts", "a.csv", "task,n,c\na,3.5,1\n", [], "a.csv:2: n = 3.5 and c = 1 cannot be"),
    ("counts twice", "a.csv", "task,n,c\na,3,1\na,3,2\n", [], "task 'a' of model 'a' is duplic"),
    ("row too long", "a.csv", "task,passed\na,1\nb,1,x\n", [], ":3: 3 fields; the header has 2"),
    ("columns alike", "a.csv", "task,Passed,passed\na,1,0\n", [], "'Passed' and 'passed' differ"),
    (
        "keys alike", "a.jsonl", '{"task": "a", "passed": 1, "Temp": 1, "temp": 2}\n',
        ["--by", "Temp,temp"], "the columns 'Temp' and 'temp' differ only in case",
    ),
    ("not Parquet after all", "a.jsonl", GOOD, ["--from", "parquet"], "this is not a Parquet file"),
    ("too deep", "a.jsonl", '{"task": "a", "x": ' + "[" * 100_000 + "\n", [], "nested too deeply"),
    ("column twice", "a.csv", "task,passed,task\na,1,a\n", [], "the column 'task' occurs twice"),
    ("cut document", "a.json", '[{"task": "a", "passed": 1},\n {"task"', [], "a.json:2: the text"),
    (
        "not a list", "a.jsonl", '{"task": "a", "results": [true]}\n{"task": "b", "results": 1}\n',
        [], 'a.jsonl:2: "results" is 1; in other records, this field contains a list of outcomes',
    ),
    (
        "empty list", "a.jsonl", '{"task": "a", "results": [true]}\n{"task": "b", "results": []}\n',
        [], 'a.jsonl:2: "results" has no value (1 attempt in all)',
    ),
    (
        "truncated gzip", "a.jsonl.gz", gzip.compress(os.urandom(9000).hex().encode())[:4000], [],
        "a.jsonl.gz: the file cannot be unpacked",
    ),
    (
        "gzip cut late", "a.jsonl.gz", gzip.compress((GOOD * 40000).encode())[:-8], [],
        "a.jsonl.gz: the gzip stream is cut off or damaged",
    ),
    (
        "damaged gzip", "a.jsonl.gz", DAMAGED_GZIP, [],
        "a.jsonl.gz: the file cannot be unpacked (Error -3 while decompressing data",
    ),
    (
        "truncated zstd", "a.jsonl.zst", zstandard.compress((GOOD * 40000).encode())[:-3], [],
        "a.jsonl.zst: the zstd stream is cut off",
    ),
    (
        "mark of byte order inside", "a.jsonl", GOOD + "\ufeff" + GOOD.replace('"a"', '"b"'), [],
        "a.jsonl:2: a byte-order mark is inside the file, probably because files were joined;"
            " pass the original files one by one",
    ),
    (
        "empty HELM file", "helm/per_instance_stats.json", "[]", [],
        "per_instance_stats.json: the JSON document is empty; check whether the run wrote its"
        " results",
    ),
    (
        "mixed line ends", "a.csv", "task,passed\r\na,1\r\nb,1\n", [],
        r"a.csv:3: ends in \n, but the lines before end in \r\n",
    ),
    (
        "mixed line ends in zstd", "a.csv.zst",
        zstandard.compress(b"task,passed\r\na,1\r\nb,1\n"), [],
        r"a.csv.zst:3: ends in \n, but the lines before end in \r\n",
    ),
    ("half a quote", "a.csv", 'task,passed\na,1\n"b"c,1\n', [], "a.csv:3: a quote is not closed"),
    (
        "delimiter at the end", "a.csv", "task,passed\na,1\nb,0,\n", [],
        "a.csv:3: 3 fields; the header has 2; remove the delimiter at the end of the line",
    ),
    (
        "delimiter at the end of the file", "a.csv", "task,passed\r\na,1\r\nb,0,", [],
        "a.csv:3: 3 fields; the header has 2; remove the delimiter at the end of the line",
    ),
    (
        "key twice", "a.jsonl", GOOD * 9 + '{"task_id": "a", "passed": 1, "passed": 0}\n', [],
        'a.jsonl:10: the key "passed" occurs twice; keep one',
    ),
    (
        "key twice in a document", "a.json",
        '[{"task": "a", "passed": 1},\n {"task": "a",\n "passed": 1, "passed": 0}]', [],
        'a.json:2: the key "passed" occurs twice; keep one',
    ),
    (
        "another key twice", "a.json",
        '[{"task": "a", "passed": 1, "x": 1, "x": 2}, {"task": "b", "passed": "maybe"}]', [],
        'a.json:1: the key "x" occurs twice; keep one',
    ),
    (
        "first line damaged", "a.jsonl", '{"task_id": "a\x0b", "passed": true}\n' + GOOD, [],
        "a.jsonl:1: the line is not JSON (Invalid control character):",
    ),
    (
        "infinite score", "a.jsonl", attempts("true", "1e999"), [],
        'a.jsonl:2: "passed" is 1e999; best@k, worst@k and mean need no threshold; --threshold X',
    ),
    ("long names", "a.csv", "y" * 99 + ",passed\nx,1\n", [], "the columns are " + "y" * 39 + "…, "),
    (
        "number as a name", "a.jsonl", '{"task": 7, "passed": 1}\n{"task": 1e5, "passed": 1}\n', [],
        'a.jsonl:2: "task" is the number 1e5, which would be read as 100000.0; names are text',
    ),
    (
        "number as a model", "a.json", '[{"task": 1.5, "model": 1.10, "passed": 1}]', [],
        'a.json:1: "model" is the number 1.10, which would be read as 1.1; names are text',
    ),
    ("superscript", "a.csv", "task,passed\na,²\n", [], 'a.csv:2: "passed" is "²"; expected'),
    ("superscript count", "a.csv", "task,n,c\na,²,1\n", [], "a.csv:2: n = ² and c = 1 cannot be"),
    ("not Parquet", "a.parquet", b"PAR1 nonsense", [], "a.parquet: "),
    (
        "n above 10⁹", "a.csv", "task,n,c\na,10000000000,1\nb,5,1\n", [],
        "a.csv:2: n = 10000000000; at most 1,000,000,000 attempts of a model at a task",
    ),
    (
        "sum above 10⁹", "a.csv", "model,task,n,c\nm,a,1000000000,1\nm,a,5,1\n",
        ["--duplicates", "keep"],
        "m at task a: there are 1,000,000,005 attempts in total; at most 1,000,000,",
    ),
    ("n = 1e400", "a.csv", "task,n,c\na,1e400,1\n", [], "a.csv:2: n = 1e400 and c = 1 cannot be"),
    ("nothing left", "a.csv", "task,passed\na,1\n", ["--where", "task = 'b'"],
     "too narrow? For task, there are a"),
    (
        "preferences", "a.csv", "question,left,right,winner\na,x,y,x\nb,y,x,tie\n", [],
        "a.csv: the column winner contains preferences between two answers; passk needs one row"
        " per attempt",
    ),
    (
        "preferences of models", "a.csv", "id,model_a,model_b,winner\n1,x,y,model_a\n", [],
        "a.csv: the column winner contains preferences between two answers; passk needs one row"
        " per attempt",
    ),
    (
        "games", "a.csv", "game,White,Black,Result\n1,x,y,1-0\n2,y,x,1-0\n", [],
        "a.csv: no column is named like an outcome; if one of these columns shows whether an",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    "case", mark_long_except((c[0] for c in CASES), *(c[0] for c in CASES[::2]))
)
def test_bad_data_is_refused_with_its_place(passk: Passk, write: Write, case: str) -> None:
    ((name, content, options, message),) = (c[1:] for c in CASES if c[0] == case)
    result = passk("estimate", write(name, content), *options)
    assert (result.code, result.out) == (3, "")
    assert message in result.err
    assert result.error
    # The error has one line, and commands that settle it come below.
    assert all(line.startswith("  ") for line in result.err.splitlines()[1:])
    if result.error == "ambiguous-column":
        run_printed(passk, result.err)


USAGE = [
    ("k = 0", ["-k", "0"], "write a whole number, at least 1"),
    ("k = ²", ["-k", "²"], "-k ²: write a whole number, at least 1 and at most 1,000,000,000"),
    ("k = ١", ["-m", "pass@١"], "there is no metric named 'pass@١'"),
    ("k above 10⁹", ["-k", "1000000001"], "write a whole number, at least 1 and at most 1,0"),
    ("k of any length", ["-m", f"pass@{'9' * 5000}"], "at most 1,000,000,000"),
    (
        "10⁹ resamples",
        ["--resamples", "1000000000"],
        "--resamples 1000000000: the value must be at most",
    ),
    ("metric without k", ["-m", "pass@"], "there is no metric named 'pass@'; did you mean pass@1?"),
    (
        "k > n",
        ["-k", "5"],
        "pass@5 needs 5 attempts per task, but no task has more than 4",
    ),
    (
        "unknown sort",
        ["--sort", "cost"],
        "--sort cost: the table has no such column; there are model, pass@1",
    ),
    ("unknown model", ["--model", "x"], "no model 'x'; there are gpt-4o"),
    ("unknown format", ["-f", "docx"], "--format docx: choose one of table, plain"),
    ("unknown reader", ["--from", "xls"], "--from xls: choose one of "),
    ("unknown policy", ["--missing", "ignore"], "choose one of error, fail, drop, bounds"),
    ("unknown short", ["--short-tasks", "zero"], "choose one of empty, drop"),
    ("bad field", ["--field", "shoe=x"], "--field shoe=x: there is no role 'shoe'; "),
    ("bad where", ["--where", "reward >"], "--where reward >: syntax error"),
    ("unknown where", ["--where", "cost > 1"], "--where cost > 1: no column 'cost'; there are"),
    (
        "threshold",
        ["--threshold", "nan"],
        "--threshold nan: write one number or several numbers, for example 0.2,0.5,0.8",
    ),
    (
        "empty where",
        ["--where", ""],
        "--where: the value is empty; give a value, or leave the option out",
    ),
    ("empty cluster", ["--cluster", ""], "--cluster: the value is empty"),
    ("empty k", ["-k", ""], "-k: the value is empty"),
    (
        "reserved group",
        ["--by", "metric"],
        "--by metric: the output already has a column",
    ),
    ("level 95", ["--level", "95"], "above 0 and below 1, for example 0.95; did you mean 0.95?"),
    (
        "unknown suffix",
        ["-o", "x.docx"],
        "x.docx: passk has no output format with this suffix; use .csv",
    ),
    ("unknown option", ["--interval-method", "x"], "no such option"),
]


@pytest.mark.parametrize(("options", "message"), [u[1:] for u in USAGE], ids=[u[0] for u in USAGE])
def test_wrong_options_are_refused(passk: Passk, options: list[str], message: str) -> None:
    result = passk("estimate", SAMPLES / "tau_airline.csv", *options)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


@pytest.mark.parametrize(
    ("where", "problem"),
    [
        (
            "(SELECT content FROM read_text('{secret}')) = 'x'",
            "a condition must not contain SELECT or tables",
        ),
        ("task_id IN (FROM query('SELECT 1'))", "a condition must not contain SELECT or tables"),
        (
            "EXISTS (FROM read_csv('http://localhost/x'))",
            "a condition must not contain SELECT or tables",
        ),
        ("true) UNION ALL SELECT (1", "the condition must be a single expression"),
        (
            "true); COPY (SELECT 1) TO '{secret}'; SELECT (1",
            "the condition must be a single expression",
        ),
        ("true) --", "syntax error"),
        ("INSTALL httpfs", "syntax error"),
        ("ATTACH '{secret}'", "Catalog Error: Type with name ATTACH does not exist"),
        ("getenv('HOME') = 'x'", "getenv() is not allowed"),
        ("query('SELECT 1') = 1", "query() is not allowed"),
        ("error('boom')", "error() is not allowed in a condition; there are abs"),
        ("length(repeat('x', 9)) > 1", "repeat() is not allowed"),
        ("'x'.lpad(1000, 'x') = 'y'", "lpad() is not allowed"),
        (f"{'NOT ' * 300}true", "the condition is nested too deeply"),
    ],
)
def test_a_condition_cannot_read_files(
    passk: Passk, write: Write, where: str, problem: str
) -> None:
    secret = write("secret.txt", "x")
    text = where.replace("{secret}", str(secret))
    result = passk("estimate", SAMPLES / "tau_airline.csv", "--where", text)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"error[bad-condition]: --where {text}: {problem}")
    assert secret.read_text() == "x"


def test_unknown_columns_exit_with_code_2(passk: Passk) -> None:
    path = SAMPLES / "tau_airline.csv"
    result = passk("estimate", path, "--by", "nope")
    assert result.code == 2
    assert "no column 'nope'; there are model, task_id, trial, reward" in result.err
    result = passk("estimate", path, "--field", "task=nope")
    assert (result.code, result.error) == (2, "no-such-column")
    assert "no column 'nope'; the columns are model, task_id, trial, reward" in result.err
    result = passk("estimate", path, "--field", "task=task-idd")
    assert commands(result.err) == [["estimate", str(path), "--field", "task=task_id"]]
    run_printed(passk, result.err)


def test_missing_files_are_refused(
    passk: Passk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert passk("estimate", tmp_path / "no.jsonl").err.endswith(
        "no.jsonl: no such file; check the path\n"
    )
    for empty in ("", "label="):
        unset = passk("estimate", empty)
        assert (unset.code, unset.error) == (3, "no-such-file")
        assert unset.err.endswith("is empty; is a shell variable not set?\n")
    monkeypatch.chdir(tmp_path)
    example = passk("estimate", "sample_data/tau_airline.csv")
    assert example.err.endswith("repository; run this command there\n")
    (tmp_path / "sub").mkdir()
    result = passk("estimate", tmp_path / "sub")
    assert (result.code, "the directory contains no result files" in result.err) == (3, True)
    assert passk("estimate", tmp_path / "*.csv").code == 3
    twice = SAMPLES / "tau_airline.csv"
    result = passk("estimate", twice, twice)
    assert (result.code, "is given twice" in result.err) == (2, True)


def test_packed_files_of_a_folder_are_not_skipped(passk: Passk, write: Write) -> None:
    folder = write("runs/a.jsonl", GOOD).parent
    write("runs/b.jsonl.bz2", bz2.compress(GOOD.encode()))
    result = passk("estimate", folder)
    assert (result.code, result.out) == (3, "")
    assert (
        "b.jsonl.bz2: passk does not read this file (packed by bzip2); unpack it with bunzip2"
        in result.err
    )


def test_folders_without_permission_are_reported(
    passk: Passk, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("open/a.jsonl", GOOD)
    closed = write("closed/b.jsonl", GOOD).parent
    real_scandir, real_access = os.scandir, os.access

    def scandir(folder: object) -> object:
        if str(folder) == str(closed):
            raise PermissionError(errno.EACCES, "Permission denied", str(folder))
        return real_scandir(folder)

    # The test may run as somebody who can read everything.
    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(
        os, "access", lambda path, mode: str(path) != str(closed) and real_access(path, mode)
    )
    for argument in (tmp_path, tmp_path / "*" / "*.jsonl", tmp_path / "*" / "a.jsonl"):
        result = passk("estimate", argument)
        assert (result.code, result.out) == (3, "")
        assert (
            f"{closed}: this path cannot be read (Permission denied); check its permissions"
            in result.err
        )


def test_a_broken_link_in_a_folder_is_reported(passk: Passk, write: Write, tmp_path: Path) -> None:
    write("a.jsonl", GOOD)
    (tmp_path / "b.jsonl").symlink_to(tmp_path / "gone")
    result = passk("estimate", tmp_path)
    assert (result.code, result.out) == (3, "")
    assert "b.jsonl: this path cannot be read (No such file or directory); check" in result.err


def test_an_output_never_replaces_an_input(passk: Passk, write: Write) -> None:
    path = write("a.jsonl", GOOD)
    for command in (["estimate", path, "-o", path], ["estimate", f"m={path}", "-o", path]):
        result = passk(*command)
        assert (result.code, "is also an input file; choose another" in result.err) == (
            2,
            True,
        )
    table = write("a.csv", "task,passed\na,1\n")
    result = passk("bootstrap", table, "--draws", table)
    assert (result.code, "is also an input file" in result.err) == (2, True)
    result = passk("bootstrap", path, "--draws", "d.csv", "-o", "d.csv")
    assert (result.code, "is the file of two outputs" in result.err) == (2, True)
    assert path.read_text() == GOOD


def test_an_output_can_be_a_link_or_a_stream(passk: Passk, write: Write, tmp_path: Path) -> None:
    real, link = write("real.csv", "old"), tmp_path / "link.csv"
    real.chmod(0o640)
    link.symlink_to(real)
    assert passk("estimate", SAMPLES / "tau_airline.csv", "-o", link).code == 0
    assert link.is_symlink()
    assert real.read_text().startswith("model,")
    assert real.stat().st_mode & 0o777 == 0o640
    assert passk("estimate", SAMPLES / "tau_airline.csv", "-o", "-").out.startswith(
        "gpt-4o: pass@1"
    )
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True)
    assert passk("estimate", SAMPLES / "tau_airline.csv", "-o", pipe).code == 0
    assert reader.communicate()[0].startswith("gpt-4o: pass@1")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def whole_files() -> dict[str, bytes]:
    rows = [
        {"model": m, "task_id": t, "sample": s, "passed": s > 1, "size": 0.2, "text": 'x, "é"\nz'}
        for m in "ab" for t in ("007", "NA", "x,y") for s in range(4)
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    table = frame.to_csv(index=False).encode()
    return {
        "a.jsonl": lines,
        "a.json": json.dumps(rows, indent=1).encode(),
        "a.csv": table,
        "a.jsonl.gz": gzip.compress(lines, mtime=0),
        "a.jsonl.zst": zstandard.compress(lines),
        "a.csv.zst": zstandard.compress(table),
        "a.parquet": frame.to_parquet(None),
    }


def damage(data: bytes, chance: random.Random) -> bytes:
    """The bytes cut off, with one changed byte, without some bytes, or with more bytes."""
    place, second_place = chance.randrange(len(data)), chance.randrange(len(data))
    sign = chance.choice([b"\0", b'"', b"\n", b"\r", b",", b"{", b"]", b"\\", b"\xff", b"1e999"])
    return chance.choice(
        [
            data[:place],
            data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :],
            data[:place] + data[place + 3 :],
            data[:place] + sign + data[place:],
            data[:place] + data[second_place : second_place + 30] + data[place:],
        ]
    )


@pytest.mark.parametrize("name", mark_long_except(whole_files(), *[*whole_files()][::3]))
def test_damaged_files_are_bad_data(passk: Passk, write: Write, name: str) -> None:
    data = whole_files()[name]
    assert passk("estimate", write(name, data)).code == 0
    for seed in range(4):
        result = passk("estimate", write(name, damage(data, random.Random(f"{name} {seed}"))))
        assert result.code in (0, 3), (seed, result.err)
        if result.code:
            assert result.error, seed
            assert name in result.err, seed
            assert all(line.startswith("  ") for line in result.err.splitlines()[1:]), seed


def test_errors_quote_outcomes_of_parquet_with_time_zones(passk: Passk, tmp_path: Path) -> None:
    times = pd.to_datetime(["2026-01-01T12:00Z", "2026-01-02T12:00Z"])
    frame = pd.DataFrame({"task": ["a", "b"], "at": times, "passed": ["1", "maybe"]})
    frame.to_parquet(tmp_path / "a.parquet")
    result = passk("estimate", tmp_path / "a.parquet")
    assert (result.code, 'a.parquet: record 2: "passed" is "maybe"' in result.err) == (3, True)


def test_input_through_a_pipe_is_read(passk: Passk, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(f"cat {SAMPLES / 'tau_airline.csv'} > {pipe}", shell=True):
        assert "0.420" in passk("estimate", pipe, "-k", "1").out


def test_a_label_over_several_models_is_reported_before_repeats(passk: Passk, write: Write) -> None:
    text = "model,task,trial,passed\na,t,0,1\nb,t,0,0\n"
    for policy in ("error", "first", "keep"):
        result = passk("estimate", f"new={write('x.csv', text)}", "--duplicates", policy)
        assert result.code == 3
        assert (
            "the file contains several models (a, b), but the label 'new' names only one model"
            in result.err
        )


def test_describe_counts_scores_as_attempts(passk: Passk, write: Write) -> None:
    result = passk("describe", write("x.jsonl", '{"task": "a", "score": 0.5, "answer": "7"}\n'))
    assert result.code == 0
    assert "1 outcome neither passes nor fails (choose: --threshold)." in result.out
    assert "answer = answer (maj@k)" in result.out
    assert passk("describe", write("y.jsonl", '{"task": "a", "passed": null}\n')).code == 3


def test_names_that_would_break_a_table_are_escaped(passk: Passk, write: Write) -> None:
    rows = [{"model": "a\nb\x1b[31m", "task": "x", "passed": 1},
            {"model": "模型", "task": "x", "passed": 0}]  # fmt: skip
    path = write("x.jsonl", jsonl(rows))
    text = passk("estimate", path).out
    lines = text[text.index("\nmodel ") + 1 :].splitlines()
    assert lines[1].startswith("a\\nb\\x1b[31m  1.000")
    assert lines[2].startswith("模型          0.000")
    assert "\x1b" not in passk("estimate", path, "-f", "table").out


def test_repeated_options_add_up(passk: Passk) -> None:
    path = SAMPLES / "cruxeval.jsonl.gz"
    where = ["--where", "temperature < 0.5", "--where", "model = 'gpt-4-0613'"]
    result = passk("estimate", path, *where, "-k", "1", "-k", "5", "-f", "csv")
    assert [line.split(",")[1] for line in result.out.splitlines()[1:]] == [
        "pass@1", "pass@5", "pass^5",
    ]  # fmt: skip


def test_pooling_without_attempt_numbers_is_reported(passk: Passk, write: Write) -> None:
    text = "model,task,passed\nm,a,"
    result = passk("estimate", write("1.csv", f"{text}1\n"), write("2.csv", f"{text}0\n"))
    assert "several files contain unnumbered attempts of one model" in result.err


@pytest.mark.long
def test_characters_that_the_terminal_lacks_are_escaped() -> None:
    command = [sys.executable, "-m", "passk_cli", "describe", str(SAMPLES / "tau_airline.csv")]
    result = subprocess.run(command, env={**os.environ, "PYTHONIOENCODING": "cp1252"},
                          capture_output=True, check=False)  # fmt: skip
    assert result.returncode == 0
    assert b"k \\u2264 4" in result.stdout
    full = subprocess.run(f"{' '.join(command)} > /dev/full", shell=True, capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert (full.returncode, full.stderr) == (
        2, "error[unwritable-output]: <stdout>: cannot be written (No space left on device)\n",
    )  # fmt: skip


def test_stdin_given_twice_is_refused(passk: Passk) -> None:
    result = passk("estimate", "-", "m=-", stdin=GOOD.encode())
    assert result.code == 2
    assert "standard input (-) can be read only once" in result.err


def test_names_with_only_the_same_suffix_are_not_suggested(passk: Passk, tmp_path: Path) -> None:
    (tmp_path / "eight.jsonl").write_text("")
    assert "agents.jsonl: no such file; check" in passk("estimate", tmp_path / "agents.jsonl").err
    for similar in ("eigth.jsonl", "eight.json", "eight"):
        assert "did you mean" in passk("estimate", tmp_path / similar).err


def test_a_missing_output_folder_is_reported(passk: Passk, tmp_path: Path) -> None:
    target = tmp_path / "no" / "out.csv"
    result = passk("estimate", SAMPLES / "tau_airline.csv", "-o", target)
    assert result.code == 2
    assert "the folder of the output does not exist; create it first" in result.err
    assert not target.exists()


def test_a_failed_run_keeps_the_old_output(passk: Passk, write: Write) -> None:
    target = write("out.csv", "old")
    assert passk("estimate", write("a.jsonl", attempts("null")), "-o", target).code == 3
    assert target.read_text() == "old"
    assert passk("estimate", SAMPLES / "tau_airline.csv", "-o", target).code == 0
    assert target.read_text().startswith("model,metric,k,estimate")
    assert [p.name for p in target.parent.iterdir() if p.name.startswith(".")] == []


def test_conditions_and_options_name_nested_columns(passk: Passk, tmp_path: Path) -> None:
    path = tmp_path / "n.jsonl"
    line = '{"problem": {"id": "%s"}, "judge": {"score": %s}, "meta": {"lang": "%s"}}\n'
    path.write_text(line % ("a", 0.7, "py") + line % ("b", 0.2, "js"))
    ask = ["estimate", path, "--field", "task=problem.id", "--field", "score=judge.score",
           "--threshold", "0.5", "-m", "pass@1", "-f", "csv", "--where"]  # fmt: skip
    refused = passk(*ask, "meta.lang = 'py'")
    assert refused.code == 2
    assert "with ->>, for example meta->>'lang' = 'py'" in refused.err
    # The score that is judged needs no second name as the outcome.
    assert ",1,1.0," in passk(*ask, "meta->>'lang' = 'py'").out


def test_extrapolate_names_its_option_to_if_k_is_given(passk: Passk) -> None:
    result = passk("extrapolate", SAMPLES / "tau_airline.csv", "-k", "100")
    assert (result.code, result.out) == (2, "")
    assert "no such option: -k; set the k's with --to; see passk extrapolate --help" in result.err


def test_a_table_that_ends_within_an_outcome_is_cut_off(passk: Passk, write: Write) -> None:
    rows = "task,passed\n" + "a,True\nb,False\n" * 6
    result = passk("estimate", write("cut.csv", rows + "c,Tr"))
    assert result.error == "damaged-file"
    assert "cut.csv:14: 'Tr' is at the end of the file, without a line end" in result.err
    for ending in ("c,Tr\n", "c,maybe"):
        assert passk("estimate", write("whole.csv", rows + ending)).error == "bad-outcome"


def test_a_count_that_is_empty_is_named(passk: Passk, write: Write) -> None:
    result = passk("estimate", write("counts.csv", "task,n,c\na,10,\nb,5,2\n"))
    assert "counts.csv:2: n = 10 and c is empty cannot be counts" in result.err


def test_a_column_named_failed_offers_both_directions(passk: Passk, write: Write) -> None:
    rows = "".join(f"t{i // 3},{i % 3},{int(i % 4 == 0)}\n" for i in range(30))
    result = passk("estimate", write("f.csv", "task,attempt,failed\n" + rows))
    assert "--field outcome=failed  22 × 0, 8 × 1; --passes 0 or --passes 1\n" in result.err
    assert not commands(result.err)


def test_a_repeated_word_does_not_make_a_table_cut_off(passk: Passk, tmp_path: Path) -> None:
    path, rows = tmp_path / "r.csv", "task,attempt,passed\nt1,1,true\nt1,2,{}\nt2,1,true\nt2,2,fal"
    path.write_text(rows.format("false"))
    result = passk("estimate", path)
    assert (result.error, "r.csv:5: 'fal' is at the end of the file" in result.err) == (
        "damaged-file",
        True,
    )
    path.write_text(rows.format("fal"))
    result = passk("estimate", path)
    assert (result.error, "r.csv:3: " in result.err) == ("bad-outcome", True)
    run_printed(passk, result.err)


@pytest.mark.parametrize("ends", [".csv", ".jsonl", ".csv.gz"])
@pytest.mark.parametrize(
    ("encoding", "model"), [("utf-16", "naïve"), ("cp1252", "naïve"), ("utf-8", "naïve ÿ ß")]
)
def test_other_encodings_are_read_and_reported(
    passk: Passk, tmp_path: Path, encoding: str, model: str, ends: str
) -> None:
    path, name = tmp_path / f"m{ends}", "naïve \0 ß" if encoding == "utf-8" else "naïve"
    text = f"model,task,passed\n{name},a,1\n{name},b,0\n"
    if ends == ".jsonl":
        text = "".join(f'{{"model": "{name}", "task": {i}, "passed": {i}}}\n' for i in range(2))
    data = text.encode(encoding).replace(b"\0", b"\xff" if encoding == "utf-8" else b"\0")
    path.write_bytes(gzip.compress(data) if ends.endswith("gz") else data)
    result = passk("estimate", path)
    assert (result.code, f"{model}: pass@1 0.500" in result.out) == (0, True)
    assert f"warning[other-encoding]: passk read {path} as {encoding}, not as UTF-8" in result.err


_HEAD = "task,note,passed\n"
_TABLE = "".join(f"t{i // 2},n,{i % 3 > 0}\n" for i in range(12))
_LINES = jsonl({"task": f"t{i // 2}", "passed": i % 3 > 0} for i in range(12))
_ARRAY = json.dumps([*map(json.loads, _LINES.splitlines())])


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", f"{_HEAD}{_TABLE}" + "\0" * 9, "a.csv: the file contains NUL bytes"),
        ("a.csv", f"{_HEAD}{_TABLE * 3000}" + "\0" * 9, "a.csv:36002: the file contains NUL bytes"),
        ("a.jsonl", _LINES + "\0" * 9, "a.jsonl: the file contains NUL bytes"),
        ("a.jsonl", _LINES * 1000 + "\0" * 9, "a.jsonl:12001: the file contains NUL bytes"),
        ("a.json", _ARRAY + "\0" * 9, "a.json: the file contains NUL bytes"),
        ("a.jsonl", _LINES.replace("\n", "\r"), r"a.jsonl:1: the lines end with \r"),
        ("a.csv", f"{_HEAD}t,a\rb,True\n{_TABLE}", r"a.csv:2: the character \r in a field splits"),
        ("a.csv", f"{_HEAD}{_TABLE}t,a\rb,True\n", r"a.csv:14: the character \r in a field splits"),
    ],
)
def test_nul_bytes_and_returns_are_named(
    passk: Passk, write: Write, name: str, text: str, words: str
) -> None:
    result = passk("estimate", write(name, text))
    assert result.code == 3
    assert words in result.err
    assert "--field" not in result.err


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_return_in_quotes_is_part_of_a_name_everywhere(
    passk: Passk, write: Write, end: str
) -> None:
    rows = [_HEAD.strip(), *(f'"t\r{i // 2}","n\r{i}",{i % 3 > 0}' for i in range(12))]
    path = write("a.csv", end.join([*rows, ""]))
    counts = read(path)
    assert (counts.tasks[0], len(counts.tasks), counts.c.sum()) == ("t\r0", 6, 8)
    second = write("b.csv", path.read_bytes().replace(b"task", b"puzzle"))
    assert "6 values, 2 rows each" in passk("estimate", second).err
    assert read(second, fields={"task": "puzzle"}).tasks == counts.tasks


def test_percent_scores_are_reported_with_a_fix(passk: Passk, write: Write) -> None:
    rows = "".join(f"t{i // 2},{i * 17 % 101}%\n" for i in range(12))
    path = write("a.csv", f"task,score\n{rows}")
    for options in ([], ["--threshold", "0.5"]):
        result = passk("estimate", path, *options)
        assert (result.code, result.error) == (3, "bad-outcome")
        assert "without %, for example 0" in result.err
    plain = write("b.csv", path.read_text().replace("%", ""))
    assert passk("estimate", plain, "--threshold", "50").code == 0
