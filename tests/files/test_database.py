"""Tests of the reading connection: it sees the given files and nothing else."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pandas as pd
import pytest

import passk_cli
from passk_cli import DataError
from passk_cli.files.database import coded_columns, connect


def test_only_the_given_files_are_read(tmp_path: Path) -> None:
    allowed, forbidden = tmp_path / "given.csv", tmp_path / "other.csv"
    for path in (allowed, forbidden):
        path.write_text("a\n1\n")
    con = connect([str(allowed)], tmp_path)
    assert con.execute(f"SELECT a FROM read_csv('{allowed}')").fetchall() == [(1,)]
    for statement in (
        f"SELECT * FROM read_csv('{forbidden}')",
        f"SELECT * FROM read_text('{forbidden}')",
        f"SELECT * FROM '{forbidden}'",
        f"SELECT * FROM glob('{tmp_path}/*')",
        "SELECT * FROM read_csv('http://localhost/x.csv')",
        f"COPY (SELECT 1) TO '{tmp_path}/new.csv'",
        f"ATTACH '{tmp_path}/new.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET TimeZone = 'Asia/Tokyo'",
        "SELECT * FROM given",
    ):
        with pytest.raises(duckdb.Error):
            con.execute(statement)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["given.csv", "other.csv"]


def test_a_cursor_reads_times_as_the_connection_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    noon = "SELECT TIMESTAMPTZ '2026-01-31 12:00:00+02:00' :: VARCHAR"
    assert connect([]).cursor().execute(noon).fetchall() == [("2026-01-31 10:00:00+00",)]


def test_readings_that_are_tried_one_after_another_compare_programs(tmp_path: Path) -> None:
    """Each reading has a cursor, which is closed before the next one compares programs."""
    rows = [
        {"exercise": f"c{t}", "passed": (t + a) % 3 > 0, "code": f"x = {a % 2}"}
        for t in range(8)
        for a in range(4)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(DataError) as error:
        passk_cli.diversity(tmp_path / "a.csv", k=1, normalise="python")
    assert error.value.name == "no-task-column"
    assert error.value.fixes


def test_what_does_not_fit_in_memory_goes_to_the_spool(tmp_path: Path) -> None:
    answer = connect([], tmp_path).execute("SELECT current_setting('temp_directory')").fetchall()
    assert answer == [(str(tmp_path / "memory"),)]


def test_what_cannot_go_to_the_spool_gets_all_memory(tmp_path: Path) -> None:
    con = connect([], tmp_path)
    con.execute("SET memory_limit = '16MiB'")
    much = (
        "SELECT 'a' AS name, len(list(i::VARCHAR || ' and more')) AS many"
        " FROM range(500000) AS t(i)"
    )
    with pytest.raises(duckdb.OutOfMemoryException):
        con.execute(much)
    answer = coded_columns(con, much, ["name"], ["name"])
    assert answer["many"].tolist() == [500_000]
    assert answer["name"].distinct_present_texts == ["a"]
