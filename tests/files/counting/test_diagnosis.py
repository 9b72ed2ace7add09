"""Tests of places in errors: the first wrong record, in any layout and with any condition."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import passk_cli
from passk_cli.errors import DataError
from tests.conftest import Passk, Write, long_cases, mark_long_except
from tests.proposals import commands, run_printed

ROWS: list[dict[str, Any]] = [
    {
        "model": "m",
        "task": f"t{i % 3}",
        "attempt": i // 3,
        "passed": i % 2 == 0,
        "cost": i,
        "arm": 1,
    }
    for i in range(12)
]
WRONG: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "an outcome that is neither": ({"passed": "maybe"}, {}, '"passed" is "maybe"'),
    "a missing outcome": ({"passed": None}, {}, '"passed" has no value (1 attempt in all)'),
    "a word for none": ({"passed": "timeout"}, {},
    '"passed" is "timeout", which is not an outcome'),
    "no task": ({"task": None}, {}, "task"),
    "no model": ({"model": None}, {}, "model"),
    "an attempt twice": ({"task": "t0", "attempt": 0}, {}, "attempt 0 of model 'm' at task 't0'"),
    "no cost": ({"cost": None}, {"metrics": ["cost"]}, "no cost (1 attempt in all: m 1 of 12"),
    "no cost where one is dropped": (
        {"cost": None}, {"metrics": ["cost"], "missing": "drop"}, "no cost (1 attempt in all",
    ),
}  # fmt: skip


def jsonl(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def data_and_place(folder: Path, kind: str, rows: list[dict[str, Any]]) -> tuple[Any, str]:
    """The rows as data, and the place of the eighth row."""
    path, frame = folder / f"a.{kind}", pd.DataFrame(rows)
    if kind == "frame":
        return frame, "DataFrame: record 8"
    if kind == "jsonl":
        # Blank lines are not records.
        path.write_text(jsonl(rows).replace("\n", "\n\n \n", 3))
        return path, f"{path}:14"
    if kind == "csv":
        frame["text"] = 'two\nlines, "quoted"'
        frame.to_csv(path, index=False)
        return path, f"{path}:16"
    if kind == "parquet":
        frame.astype({"passed": str}).replace({"passed": {"None": None}}).to_parquet(path)
        return path, f"{path}: record 8"
    if kind == "json":
        path.write_text(json.dumps(rows))
        return path, f"{path}: record 8"
    path = folder / "a.json"
    path.write_text(json.dumps({"results": rows}))
    return path, f"{path}: record 8"


def refusal(data: Any, **options: Any) -> DataError:
    ask: Any = passk_cli.estimate if "metrics" in options else passk_cli.read
    with pytest.raises(DataError) as error:
        ask(data, **options)
    return error.value


@pytest.mark.parametrize("case", mark_long_except(WRONG, *[*WRONG][::3]))
@pytest.mark.parametrize(
    "kind", ["jsonl", *long_cases("csv", "json", "parquet", "frame", "records")]
)
def test_errors_name_the_place_of_a_record(tmp_path: Path, kind: str, case: str) -> None:
    changed, options, problem = WRONG[case]
    rows = [dict(row) for row in ROWS]
    rows[7] |= changed
    if "dropped" in case:
        rows[3] |= {"passed": None, "cost": None}
    data, place = data_and_place(tmp_path, kind, rows)
    error = refusal(data, **options)
    assert (error.place, problem in error.problem) == (place, True), str(error)
    if case == "an attempt twice":
        first = place.replace("record 8", "record 1").replace(":14", ":1").replace(":16", ":2")
        assert f"first seen at {first} (1 duplicate row, 1 attempt with" in error.problem


@pytest.mark.parametrize(
    "kind", ["jsonl", "csv", *long_cases("json", "parquet", "frame", "records")]
)
def test_excluded_rows_count_for_the_place(tmp_path: Path, kind: str) -> None:
    rows = [row | {"passed": "maybe" if i in (2, 7) else True} for i, row in enumerate(ROWS)]
    data, place = data_and_place(tmp_path, kind, rows)
    assert refusal(data, where="cost > 3").place == place
    assert refusal(data, where="cost > 3", by=["arm"]).place == place


def test_files_come_in_the_order_given(write: Write) -> None:
    bad = [{"model": "m", "task": "x", "attempt": 0, "passed": "?"}]
    first, second = (
        write("r0/b.jsonl", jsonl(ROWS + bad)),
        write("r1/a.csv", "task,passed\nx,no!\n"),
    )
    third = write("r2/c.jsonl", jsonl(bad))
    assert refusal([first, second, third]).place == f"{first}:13"
    assert refusal([second, third, first]).place == f"{second}:2"
    assert refusal([third, second, first]).place == f"{third}:1"
    # This column comes from the path, and its join does not keep the order.
    files = [first, third]
    assert refusal(files, path="r{part}/*.jsonl").place == f"{first}:13"
    same = [write(f"s/{i}.jsonl", jsonl(ROWS[i : i + 1] * (i + 1))) for i in range(2)]
    twice = refusal(same, where="true")
    assert (twice.place, "first seen at" in twice.problem) == (f"{same[1]}:2", True)
    assert f"first seen at {same[1]}:1" in twice.problem


@pytest.mark.parametrize("kind", ["jsonl", *long_cases("csv", "parquet", "frame")])
def test_contradicting_repeats_are_counted(tmp_path: Path, kind: str) -> None:
    again = [row | {"passed": not row["passed"]} for row in ROWS[:2]] + ROWS[2:5]
    data, _ = data_and_place(tmp_path, kind, ROWS + again)
    warning = "(5 duplicate rows, 2 attempts with different outcomes)"
    assert warning in refusal(data).problem


def test_an_error_of_a_repeated_attempt_names_both_files(write: Write) -> None:
    first, second = write("a.jsonl", jsonl(ROWS)), write("b.jsonl", jsonl(ROWS[6:] + ROWS[:1]))
    text = "attempt 0 of model 'm' at task 't0' is duplicated, first seen at"
    for files, earlier, later in (((first, second), f"{first}:1", f"{second}:7"),
                                 ((second, first), f"{second}:7", f"{first}:1")):  # fmt: skip
        error = refusal(list(files))
        assert (error.place, f"{text} {earlier} (7 duplicate rows)" in error.problem) == (
            later,
            True,
        )
        assert error.words == "if the files are of different models, name them as label=path"


def test_repeats_that_differ_in_a_setting_of_one_file_are_refused(write: Write) -> None:
    plain = write("a.csv", "model,task,attempt,passed\nm,a,0,1\n")
    warm = write("b.csv", "model,task,attempt,temperature,mode,passed\nm,a,0,0.5,x,1\n")
    error = refusal([plain, warm])
    assert (error.name, "differ in temperature (0.5, none)" in error.problem) == (
        "pooled-settings", True
    )  # fmt: skip
    error = refusal([plain, warm], pool="temperature,mode")
    assert (error.place, f"first seen at {plain}:2" in error.problem) == (f"{warm}:2", True)


def test_lines_that_are_skipped_keep_their_numbers(write: Write) -> None:
    rows = jsonl(ROWS[:2]) + '{"task\n[1]\n\n' + jsonl([{"task": "a", "passed": "maybe"}])
    assert refusal(path := write("a.jsonl", rows), skip_bad=True).place == f"{path}:6"
    # A trailing delimiter is harmless. A row with one more field is skipped.
    text = "task,passed\na,1\nb,0,\nx,1,2\n\nc,1,,\nd\ne,maybe\n"
    assert refusal(path := write("b.csv", text), skip_bad=True).place == f"{path}:8"


def test_errors_of_list_entries_name_their_record(write: Write) -> None:
    entries = [[True] * 12, [True] * 10 + ["?", "maybe"], [False, None]]
    path = write(
        "a.jsonl", jsonl([{"task": i, "results": value} for i, value in enumerate(entries)])
    )
    error = refusal(path)
    assert (error.place, error.problem) == (f"{path}:2", '"results" is "?"')
    nested = [{"task": i, "runs": [{"ok": ok} for ok in value]} for i, value in enumerate(entries)]
    path = write("b.json", json.dumps({"results": [*nested, {"task": 4, "runs": 1}]}))
    assert refusal(path, fields={"outcome": "runs.ok"}).place.startswith(f"{path}: record ")


def test_a_record_without_its_list_is_refused(write: Write) -> None:
    rows = [{"task": 1, "log": {"r": [True]}}, {"task": 2}, {"task": 3, "log": {"r": {"a": 1}}}]
    for path in (write("a.jsonl", jsonl(rows)), write("b.jsonl", "\n" + jsonl(rows))):
        error = refusal(path, fields={"outcome": "log[].r"})
        assert error.place.startswith(f"{path}:")
    lists = [{"task": 1, "results": [True]}, {"task": 2, "results": {"a": 1}}]
    path = write("c.json", json.dumps(lists))
    error = refusal(path)
    assert (error.place, error.problem) == (f"{path}: record 2", '"results" is {"a":1}')


def test_errors_of_a_task_of_several_columns_name_the_row(write: Write) -> None:
    path = write("a.csv", "year,day,passed\n2015,1,1\n2015,,1\n2015,3,what\n")
    fields = {"task": "year,day"}
    assert refusal(path, fields=fields).place == f"{path}:3"
    assert refusal(path, fields=fields, skip_bad=True).place == f"{path}:4"


def test_impossible_counts_are_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"task": ["a", "b", "c"], "n": [3, 3, 10**10], "c": [1, 3, 1]})
    error = refusal(frame)
    assert (error.place, error.problem) == ("DataFrame: record 3", "n = 10000000000")
    frame["c"] = [1, 4, 1]
    frame.to_parquet(path := tmp_path / "a.parquet")
    error = refusal(path)
    assert (error.place, error.problem) == (f"{path}: record 2", "n = 3 and c = 4 cannot be counts")


GOOD = '{"task": "a", "judge": {"ok": "ok", "score": {"ok": true, "x": "ok"}}}'
TWICE = '{"task": "b", "judge": {"log": "ok", "score": {"ok": true, "ok": false}}}'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", f"{GOOD}\n\n{TWICE}\n{GOOD}\n"),
        ("a.json", f"[{GOOD},\n{GOOD},\n{TWICE}]"),
        ("b.json", f'{{"results": [\n{GOOD},\n{TWICE}]}}'),
    ],
)
def test_a_duplicate_key_inside_a_column_is_refused(write: Write, name: str, text: str) -> None:
    path = write(name, text)
    error = refusal(path, fields={"outcome": "judge.score.ok"})
    assert (error.place, error.problem) == (f"{path}:3", 'the key "ok" occurs twice')
    assert error.remedy == "keep one"


def test_a_duplicate_key_in_a_list_entry_is_refused(write: Write) -> None:
    rows = [{"task": 1, "runs": [{"ok": True, "why": '"ok"'}, {"ok": False}]}, {"task": 2}]
    twice = '{"task": 3, "runs": [{"ok": true}, {"ok": true, "ok": false}]}\n'
    path = write("a.jsonl", jsonl(rows) + twice)
    error = refusal(path, fields={"outcome": "runs.ok"}, missing="drop")
    assert (error.place, error.problem) == (f"{path}:3", 'the key "ok" occurs twice')


def test_a_duplicate_key_in_an_unused_column_is_accepted(write: Write) -> None:
    path = write("a.jsonl", '{"task": "a", "judge": {"ok": true, "log": {"x": 1, "x": 2}}}\n' * 2)
    counts = passk_cli.read(path, fields={"outcome": "judge.ok"})
    assert (counts.n.tolist(), counts.c.tolist()) == ([2], [2])


def test_a_duplicate_key_in_a_line_of_a_format_is_refused(write: Write) -> None:
    line = '{"task_id": "HumanEval/0", "completion": "x", "passed": true, "result": "passed"}\n'
    text = line + line.replace("}", ', "result": "failed"}')
    error = refusal(path := write("samples.jsonl_results.jsonl", text))
    assert (error.place, error.problem) == (f"{path}:2", 'the key "result" occurs twice')
    assert passk_cli.read(path, skip_bad=True).n.tolist() == [1]


def test_a_number_shared_by_all_attempts_is_not_an_attempt_number(
    passk: Passk, tmp_path: Path
) -> None:
    """With two nights of four attempts, no proposed fix leaves three attempts out."""
    for night, passes in (("n1", 3), ("n2", 2)):
        rows = [{"model": "agent", "task": f"t{t}", "run": night, "passed": (t + i) % 4 < passes}
                for t in range(12) for i in range(4)]  # fmt: skip
        (tmp_path / f"{night}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = [tmp_path / "n1.jsonl", tmp_path / "n2.jsonl"]
    result = passk("estimate", *files)
    assert "; run does not seem to number the attempts\n" in result.err
    options = [" ".join(words[3:]) for words in commands(result.err)]
    assert options == ["--field model=run", "--duplicates keep"]
    separate, pooled = run_printed(passk, result.err, "-k", "1", "-f", "json", "-q")
    assert [row["estimate"] for row in json.loads(separate.out)["rows"]] == [0.75, 0.5]
    assert [row["estimate"] for row in json.loads(pooled.out)["rows"]] == [0.625]
    single = passk("estimate", files[0])
    assert [words[-2:] for words in commands(single.err)] == [["--duplicates", "keep"]]
