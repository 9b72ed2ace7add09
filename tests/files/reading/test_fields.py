"""Columns of --field that only some of the files have: each file is read by itself, or all that
lack them are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from passk_cli.errors import DataError
from tests.conftest import jsonl
from tests.files.formats.cells import DATA, cells

PAIR = {"model": "agent,model"}
OURS: list[dict[str, Any]] = [
    {"agent": "a", "model": "m", "task": "t", "passed": True},
    {"agent": "b", "model": "m", "task": "t", "passed": False},
]
OTHERS: list[dict[str, Any]] = [{"model_name": "n", "task": "t", "passed": True}]
FORMS = ["lines", "table", "record"]


def file(folder: Path, name: str, rows: list[dict[str, Any]], form: str) -> None:
    """The rows as JSON lines, as a table, or the first one as the record of a file."""
    if form == "table":
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    elif form == "record":
        (folder / f"{name}.json").write_text(json.dumps(rows[0], indent=1))
    else:
        text = jsonl(rows)
        (folder / f"{name}.jsonl").write_text(text)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_without_the_named_columns_is_read_by_its_own_names(
    tmp_path: Path, form: str
) -> None:
    file(tmp_path, "ours", OURS, form)
    file(tmp_path, "others", OTHERS, form)
    expected = {("a/m", "t"): (1, 1), ("b/m", "t"): (1, 0), ("n", "t"): (1, 1)}
    if form == "record":
        del expected["b/m", "t"]
    assert cells(tmp_path, fields=PAIR) == expected


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("lists_files", [False, True])
def test_errors_name_the_files_that_lack_a_column(
    tmp_path: Path, form: str, lists_files: bool
) -> None:
    file(tmp_path, "a", OURS, form)
    for name in "bcdef":
        file(tmp_path, name, [{k: v for k, v in row.items() if k != "agent"} for row in OURS], form)
    data = sorted(tmp_path.iterdir()) if lists_files else tmp_path
    text = r"b\..*no column 'agent' \(5 of 6 files: .*b\..* and \d more\); the"
    with pytest.raises(DataError, match=text) as caught:
        cells(data, fields=PAIR)
    assert (caught.value.name, caught.value.exit_code) == ("no-such-column", 2)


@pytest.mark.parametrize("form", FORMS)
def test_files_of_different_layouts_are_read_together(tmp_path: Path, form: str) -> None:
    file(tmp_path, "m", [{"x": "t", "passed": True}], form)
    file(tmp_path, "n", [{"task": "t", "passed": False}], form)
    (tmp_path / "config.json").write_text('{"name": "night", "seed": 3}')
    fields = {"task": "x"}
    expected = {("m", "t"): (1, 1), ("n", "t"): (1, 0)}
    if form == "record":
        # Documents with one attempt are not models.
        expected = {(tmp_path.name, "t"): (2, 1)}
    assert cells(tmp_path, fields=fields) == expected
    file(tmp_path, "o", [{"y": "t", "passed": False}], form)
    with pytest.raises(DataError, match=r"o\..*no column 'x' \(1 of 3 files\); .* y, passed"):
        cells(tmp_path, fields=fields)


@pytest.mark.parametrize("form", [*FORMS, "harness", "frame"])
def test_a_column_missing_in_all_files_is_refused(tmp_path: Path, form: str) -> None:
    data: Any = tmp_path
    if form == "frame":
        data = pd.DataFrame(OTHERS)
    elif form == "harness":
        data = DATA / "human_eval"
    else:
        file(tmp_path, "a", OTHERS, form)
        file(tmp_path, "b", OTHERS, form)
    with pytest.raises(DataError, match="no column 'nowhere'"):
        cells(data, fields={"task": "nowhere"})


def test_fields_do_not_change_the_columns_of_a_known_harness(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text((DATA / "promptfoo" / "out.jsonl").read_text())
    rows = [{"bot": row["agent"], "size": row["model"], **row} for row in OURS]
    file(tmp_path, "ours", [{k: row[k] for k in ("bot", "size", "task", "passed")} for row in rows],
         "lines")  # fmt: skip
    options: Any = {"missing": "fail", "duplicates": "keep", "pool": "prompt"}
    counts = cells(tmp_path, fields={"model": "bot,size"}, **options)
    assert {model for model, _ in counts} == {"large", "small", "a/m", "b/m"}
    with pytest.raises(DataError, match=r"x\.jsonl: no column 'size' \(1 of 2 files\)"):
        cells(tmp_path, fields={"attempt": "bot", "answer": "size"}, **options)
