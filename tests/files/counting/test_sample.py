"""Rows of files with different layouts are one profile."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from passk_cli.files.load import load
from passk_cli.files.request import Request
from tests.conftest import jsonl

CELLS = [(f"t{task}", arm) for task in range(9) for arm in "pq" for _ in range(2)]


def test_a_survey_combines_all_layouts(tmp_path: Path) -> None:
    rows = [
        {"model": "m", "task_id": task, "passed": i % 3 == 0, "arm": arm}
        for i, (task, arm) in enumerate(CELLS)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "a.csv", index=False)
    deeper = [{**row, "task_id": f"d{row['task_id']}", "meta": {"host": "h1"}} for row in rows]
    (tmp_path / "b.jsonl").write_text(jsonl(deeper))
    lists = [{"model": "n", "task_id": "t1", "results": [True, False], "note": "x"}]
    (tmp_path / "c.jsonl").write_text(json.dumps(lists[0]) + "\n")
    counts = [{"model": "o", "task_id": "t1", "n": 4, "c": 1}]
    pd.DataFrame(counts).to_parquet(tmp_path / "d.parquet")
    facts = load(tmp_path, Request(), tolerant=True).read_facts
    columns = {column.column: column for column in facts.described_columns}
    names = {"model", "task_id", "passed", "arm", "n", "c", "results", "note", "meta.host"}
    assert {*columns} == names
    assert (columns["arm"].varies_within_tasks, str(columns["arm"].option_assigning_role)) == (
        True,
        "--by arm",
    )
    assert columns["meta.host"].value_description == "36 h1, 38 missing"
    assert columns["note"].value_description == "1 x, 73 missing"
    assert (columns["passed"].role, columns["passed"].has_role) == ("outcome", True)
