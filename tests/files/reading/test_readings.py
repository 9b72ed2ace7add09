"""Reading by options that name columns and records: paths, joined columns, keys in braces."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import passk_cli
from passk_cli import DataError, read
from passk_cli.suggested_fix import SuggestedFix
from tests.conftest import Passk, jsonl

Document = Any


def rate(path: Path, **options: Any) -> Fraction:
    """Passes of the first model among its attempts."""
    counts = read(path, **options)
    rows = counts.slice_of_series(0)
    return Fraction(int(counts.c[rows].sum()), int(counts.n[rows].sum()))


def tasks_and_passes(counts: passk_cli.Counts) -> tuple[int, list[int]]:
    """How many tasks there are, and the passes of each model, sorted."""
    passed = (int(counts.c[counts.slice_of_series(i)].sum()) for i in range(len(counts.series)))
    return len(counts.tasks), sorted(passed)


def test_fields_next_to_a_list_can_be_named(write: Any) -> None:
    records = [{"arm": a, "id": f"r{a}", "results": [{"task": i, "passed": i == 1}
                for i in range(4)]} for a in "xy"]  # fmt: skip
    for document in (jsonl(records), json.dumps(records)):
        path = write("m.json", document)
        counts = read(path, records="results", by="arm")
        assert [group for _, group in counts.series] == ["x", "y"]
        assert len(read(path, records="results", fields={"task": "id,task"}).tasks) == 8


def test_remedies_add_up() -> None:
    first, second = ({"--by": (name,), "--where": name} for name in "xy")
    merged = SuggestedFix(first).merged_with(SuggestedFix(second))
    assert merged.options == {"--by": ("x", "y"), "--where": "(x) AND (y)"}


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_reading_a_table_imports_neither_formats_nor_questions(write: Any, form: str) -> None:
    path = write("m.csv", "task,passed\na,1\nb,0\n")
    if form == "parquet":
        duckdb.sql(f"COPY (FROM '{path}') TO '{path.with_suffix('.parquet')}'")
    unused = {"passk_cli.files.formats", "passk_cli.files.reading.column_choice_errors"}
    code = (
        "import sys, passk_cli; passk_cli.read(sys.argv[1]);"
        f" sys.exit(' '.join({unused} & set(sys.modules)) or 0)"
    )
    command = [sys.executable, "-c", code, str(path.with_suffix(f".{form}"))]
    subprocess.run(command, check=True)


def test_an_entry_without_the_field_has_no_outcome(write: Any) -> None:
    entries = [{"ok": True}, {"log": "x"}, {"ok": None}]
    path = write("m.jsonl", jsonl([{"task": 1, "a": entries}, {"task": 2}]))
    assert rate(path, fields={"outcome": "a.ok"}, missing="fail") == Fraction(1, 4)
    assert rate(path, fields={"outcome": "a.ok"}, missing="drop") == 1
    with pytest.raises(DataError, match=r'm.jsonl:1: "a.ok" has no value \(3 attempts'):
        read(path, fields={"outcome": "a.ok"})


def test_keys_in_braces_are_columns(write: Any) -> None:
    document = {"runs": {m: {s: [{"task_id": i, "ok": s == "b"} for i in range(3)] for s in "ab"}
                         for m in ("x", "y")}}  # fmt: skip
    path = write("m.json", json.dumps(document))
    counts = read(path, records="runs.{model}.{split}", fields={"outcome": "ok"}, by=["split"])
    assert counts.series == (("x", "a"), ("x", "b"), ("y", "a"), ("y", "b"))
    assert counts.c.reshape(4, 3).sum(axis=1).tolist() == [0, 3, 0, 3]


@pytest.mark.parametrize(("document", "records", "problem"), [
    ({"a": {"x": {"t": {"ok": 1}}, "date": "May"}}, "a.{model}.{task}", r'date: "May" is not a'),
    ({"a": {"x": {"c": 1}, "y": {}}}, "a.{model}.b", r"x: the key 'b' is missing"),
    ([{"a": [{"task": 1, "passed": 1}]}, {}], "a", r"m.json: record 2: the key 'a' is missing"),
])  # fmt: skip
def test_a_path_through_a_value_that_is_not_a_record_is_refused(
    write: Any, document: Document, records: str, problem: str
) -> None:
    with pytest.raises(DataError, match=problem):
        read(write("m.json", json.dumps(document)), records=records)


def test_reports_in_folders_are_named_by_their_folders(tmp_path: Path) -> None:
    for model in "ab":
        (tmp_path / model).mkdir()
        for name in ("report.json", "x.json"):
            (tmp_path / model / name).write_text('{"resolved_ids": ["t"], "unresolved_ids": []}')
    for name in ("report.json", "x.json"):
        paths = [str(tmp_path / model / name) for model in "ab"]
        assert [model for model, *_ in read(paths).series] == ["a", "b"]
    # Files with different names in the same folders need both parts.
    paths = [str(tmp_path / model / name) for model in "ab" for name in ("report.json", "x.json")]
    assert [model for model, *_ in read(paths).series] == ["a/report", "a/x", "b/report", "b/x"]


def test_describe_lists_the_columns_by_role(passk: Passk, write: Any) -> None:
    rows = ({"id": i, "task_id": f"t{i}", "passed": i > 1, "cached": False} for i in range(4))
    path = write("m.jsonl", jsonl([*rows]))
    full = passk("describe", path, "--full").out
    assert re.search(r"task +--field task=task_id", full)
    assert re.search(r"outcome +--field outcome=passed", full)
    selection = passk("describe", path, "--full", "--field", "task=id", "--outcome", "cached").out
    assert re.search(r"task +--field task=id", selection)
    assert re.search(r"outcome +--field outcome=cached", selection)


def spread(names: str, cell: Any, **more: Any) -> str:
    """A table with a row per task and an outcome in each of these columns."""
    head = ",".join([*more, "task", names])
    rows = (
        ",".join(
            [*map(str, more.values()), f"t{t}", *(cell(t, c) for c in range(names.count(",") + 1))]
        )
        for t in range(12)
    )
    return "\n".join([head, *rows]) + "\n"


def verdict(task: int, column: int) -> str:
    return "PASS" if task % (column + 2) else "FAIL"


@pytest.mark.long
def test_agreement_of_two_columns_is_an_outcome_in_every_interface(
    tmp_path: Path, write: Any
) -> None:
    import pandas as pd

    answers, gold = ["A", " b", "C", "2.0", None, "x"], ["a", "B", "D", "2", "q", None]
    records = [{"task": f"t{i}", "given": g, "gold": e}
           for i, (g, e) in enumerate(zip(answers, gold, strict=True))]  # fmt: skip
    frame = pd.DataFrame(records)
    frame.to_csv(tmp_path / "m.csv", index=False)
    frame.to_parquet(tmp_path / "m.parquet")
    for data in (
        records,
        frame,
        tmp_path / "m.csv",
        tmp_path / "m.parquet",
        write("m.jsonl", jsonl(records)),
        write("m.json", json.dumps({"runs": records})),
    ):
        fields = {"outcome": "given==gold"}
        with pytest.raises(DataError, match="has no value"):
            read(data, fields=fields)
        counts = read(data, fields=fields, missing="drop")
        assert (counts.n.tolist(), counts.c.tolist()) == ([1, 1, 1, 1], [1, 1, 0, 1])
    with pytest.raises(DataError, match="no column 'gild'; did you mean gold"):
        read(records, fields={"outcome": "given==gild"})


@pytest.mark.parametrize("role", ["cost", "answer", "score", "truth"])
def test_a_value_per_row_is_refused_for_models_in_columns(role: str) -> None:
    """A cost next to a column per model does not belong to one of the models."""
    rows = [{"task": t, "a": t > 3, "b": t > 5, "x": 1.0} for t in range(9)]
    fields = {"outcome": "a,b", "model": "@column", role: "x"}
    metric = {"cost": "cost", "answer": "maj@1", "score": "mean"}.get(role, "pass@1")
    with pytest.raises(DataError, match=f"'x' contains one {role} for outcomes of several models"):
        passk_cli.estimate(rows, metric, fields=fields)


def test_models_in_columns_need_several_of_them(passk: Passk, write: Any) -> None:
    path = write("m.csv", "task,a,b,gold\nx,u,v,u\ny,u,u,u\nz,v,v,u\n")
    for outcome in ((), ("--field", "outcome=a==gold")):
        result = passk("estimate", path, *outcome, "--field", "model=@column")
        assert (result.code, result.error) == (2, "no-such-column")
        assert "@column needs several outcome columns, but there is only one outcome" in result.err
    result = passk("estimate", path, "--field", "outcome=a==gold==b")
    assert (result.code, "to compare two columns, write for example" in result.err) == (2, True)


def test_the_outcome_option_joins_columns_like_the_field(write: Any) -> None:
    path = write("m.csv", spread("run1,run2", verdict))
    assert rate(path, outcome="run1,run2") == rate(path, fields={"outcome": "run1,run2"})
    with pytest.raises(DataError) as refused:
        passk_cli.cost(path, fields={"outcome": "run1,run2"})
    assert "run1,run2" not in str(refused.value)
    assert [settle.options for settle in refused.value.fixes] == [{"fields": {"cost": "COLUMN"}}]
