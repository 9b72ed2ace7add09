"""lighteval: metrics to choose from, models and runs in the path, several answers in one number."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from passk_cli import DataError, read
from tests.conftest import Passk
from tests.files.formats.cells import DATA, Cells, cells

FOLDER = DATA / "lighteval"
FIRST, SECOND = (
    next((FOLDER / "details" / "org" / "stub-a").glob(f"2026-01-0{day}*/details_sums-0_*"))
    for day in (1, 2)
)
(MANY,) = FOLDER.glob("**/details_sums_many-0_*")


def counted(*paths: Path) -> Cells:
    """Answers that equal the sum that is asked for; no metric is looked at."""
    counts: dict[tuple[str, ...], tuple[int, int]] = {}
    for path in paths:
        rows = duckdb.sql(f"SELECT doc, model_response FROM read_parquet('{path}')").fetchall()
        for doc, response in rows:
            first, _, second, *_ = doc["query"].split()
            key = ("/".join(path.parts[-4:-2]), f"sums|0/{doc['id']}")
            n, c = counts.get(key, (0, 0))
            counts[key] = (n + 1, c + (response["text"] == [str(int(first) + int(second))]))
    return counts


def test_runs_go_on() -> None:
    paths = sorted(FOLDER.glob("**/details_sums-0_*"))
    assert len(paths) == 3
    expected = counted(*paths)
    assert cells(FOLDER, outcome="em") == expected
    # f1 is ½ of every wrong answer.
    assert cells(FOLDER, outcome="f1", threshold=[0.7]) == expected
    assert cells(FIRST, outcome="em") == counted(FIRST)
    by_run = cells([str(FIRST), str(SECOND)], outcome="em", by=["run"])
    assert {run: n for (_, run, _), (n, _) in by_run.items()} == {
        path.parent.name: 1 for path in (FIRST, SECOND)
    }


def test_what_has_to_be_said(passk: Passk) -> None:
    with pytest.raises(DataError, match="2 outcomes: em, f1; choose one"):
        read(FIRST)
    with pytest.raises(DataError, match=r"0\.5; a score needs threshold"):
        read(FIRST, outcome="f1")
    done = passk("estimate", MANY)
    assert done.code == 3
    assert "4 answers to a sample have one value of avg@n:n=4; give a table of task, n" in done.err


def written(folder: Path, columns: str) -> Path:
    path = folder / "details.parquet"
    duckdb.sql(f"COPY (SELECT {columns} FROM read_parquet('{FIRST}')) TO '{path}'")
    return path


def test_metrics_with_dots_and_records(tmp_path: Path) -> None:
    metrics = "{'bleu.1': metric.em, 'all': {'em': metric.em}} AS metric"
    path = written(tmp_path, f"doc, model_response, {metrics}")
    with pytest.raises(DataError, match="2 outcomes: all, bleu"):
        read(path)
    found = {(task, cell) for (_, task), cell in cells(path, outcome="bleu.1").items()}
    assert found == {(task, cell) for (_, task), cell in counted(FIRST).items()}
    with pytest.raises(DataError, match=r'is "\{'):
        read(path, outcome="all")


@pytest.mark.parametrize(
    "columns",
    [
        "doc, metric",
        "doc, model_response",
        "doc, model_response, 'em' AS metric",
        "{'id': doc.id} AS doc, model_response, metric",
        "doc AS document, model_response, metric",
    ],
)
def test_other_columns_are_no_number(tmp_path: Path, columns: str) -> None:
    with pytest.raises(DataError):
        read(written(tmp_path, columns))


def test_a_damaged_file(tmp_path: Path) -> None:
    data = bytearray(FIRST.read_bytes())
    path = tmp_path / "x.parquet"
    path.write_bytes(data[:-20])
    with pytest.raises(DataError, match="not readable as Parquet"):
        read(path)
    # The end, which has the columns' names, is sound.
    data[4:3000] = bytes(2996)
    path.write_bytes(data)
    with pytest.raises(DataError, match="not readable as Parquet"):
        read(path, outcome="em")
