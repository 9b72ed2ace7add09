"""lighteval: choice of metrics, models and runs in the path, several answers with one number."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from passk_cli import DataError, read
from tests.conftest import Passk, Write
from tests.files.formats.cells import DATA, Cells, cells

FOLDER = DATA / "lighteval"
FIRST, SECOND = (
    next((FOLDER / "details" / "org" / "stub-a").glob(f"2026-01-0{day}*/details_sums-0_*"))
    for day in (1, 2)
)
(MANY,) = FOLDER.glob("**/details_sums_many-0_*")


def correct_sums(*paths: Path) -> Cells:
    """Answers that equal the requested sum; no metric is read."""
    counts: dict[tuple[str, ...], tuple[int, int]] = {}
    for path in paths:
        rows = duckdb.sql(f"SELECT doc, model_response FROM read_parquet('{path}')").fetchall()
        for doc, response in rows:
            first, _, second, *_ = doc["query"].split()
            key = ("/".join(path.parts[-4:-2]), f"sums|0/{doc['id']}")
            n, c = counts.get(key, (0, 0))
            counts[key] = (n + 1, c + (response["text"] == [str(int(first) + int(second))]))
    return counts


def test_runs_of_one_model_are_joined() -> None:
    paths = sorted(FOLDER.glob("**/details_sums-0_*"))
    assert len(paths) == 3
    expected = correct_sums(*paths)
    assert cells(FOLDER, outcome="em") == expected
    # f1 is ½ of every wrong answer.
    assert cells(FOLDER, outcome="f1", threshold=[0.7]) == expected
    assert cells(FIRST, outcome="em") == correct_sums(FIRST)
    by_run = cells([str(FIRST), str(SECOND)], outcome="em", by=["run"])
    assert {run: n for (_, run, _), (n, _) in by_run.items()} == {
        path.parent.name: 1 for path in (FIRST, SECOND)
    }


def test_missing_choices_are_errors(passk: Passk) -> None:
    with pytest.raises(DataError, match="2 outcomes: em, f1; "):
        read(FIRST)
    with pytest.raises(DataError, match=r"0\.5; .*threshold=X sets the score from"):
        read(FIRST, outcome="f1")
    result = passk("estimate", MANY)
    assert result.code == 3
    assert (
        "4 answers to a sample share one value of avg@n:n=4; give a table of task, n" in result.err
    )


def write_details(folder: Path, columns: str) -> Path:
    path = folder / "details.parquet"
    duckdb.sql(f"COPY (SELECT {columns} FROM read_parquet('{FIRST}')) TO '{path}'")
    return path


def test_metrics_with_dots_and_records_are_read(tmp_path: Path) -> None:
    metrics = "{'bleu.1': metric.em, 'all': {'em': metric.em}} AS metric"
    path = write_details(tmp_path, f"doc, model_response, {metrics}")
    with pytest.raises(DataError, match="2 outcomes: all, bleu"):
        read(path)
    counts = {(task, cell) for (_, task), cell in cells(path, outcome="bleu.1").items()}
    assert counts == {(task, cell) for (_, task), cell in correct_sums(FIRST).items()}
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
def test_a_file_with_other_columns_is_refused(tmp_path: Path, columns: str) -> None:
    with pytest.raises(DataError):
        read(write_details(tmp_path, columns))


def test_a_damaged_file_is_an_error(write: Write) -> None:
    data = bytearray(FIRST.read_bytes())
    path = write("x.parquet", data[:-20])
    with pytest.raises(DataError, match="not readable as Parquet"):
        read(path)
    # The end, which has the columns' names, is sound.
    data[4:3000] = bytes(2996)
    path.write_bytes(data)
    with pytest.raises(DataError, match="not readable as Parquet"):
        read(path, outcome="em")


def detail(**changed: object) -> dict[str, str]:
    """A row of a file from before 0.10, with the str of every field of a Detail."""
    fields: dict[str, object] = {
        "choices": [], "example": "1 + 1", "full_prompt": "1 + 1", "gold": ["2"],
        "metrics": {"em": 1, "f1": 1.0}, "predictions": ["2"], "specifics": {},
    }  # fmt: skip
    return {name: str(value) for name, value in (fields | changed).items()}


def saved(folder: Path, *rows: dict[str, str]) -> Path:
    time = "2025-01-01T00-00-00.000000"
    path = folder / "details" / "org" / "m" / time / f"details_lighteval|sums|0_{time}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


def test_old_details_are_numbered_by_position(tmp_path: Path, passk: Passk) -> None:
    """Source: lighteval 0.6.2 and 0.9.2, logging/evaluation_tracker.py, save: str of each value."""
    choice = detail(choices=["2", "3"], predictions=[-1.5, -0.5], metrics={"em": 0, "f1": 0.5})
    path = saved(tmp_path, detail(), choice, detail(metrics={"em": float("nan"), "f1": 0.0}))
    suite = "lighteval|sums|0"
    assert cells(path, outcome="em", missing="drop") == {
        ("org/m", f"{suite}/0"): (1, 1),
        ("org/m", f"{suite}/1"): (1, 0),
    }
    assert cells(path, outcome="f1", threshold=[0.5])["org/m", f"{suite}/1"] == (1, 1)
    saved(tmp_path, detail(), detail(predictions=["2", "3", "2", "2"]))
    result = passk("estimate", path)
    assert "4 answers to a sample share one value of em, f1; give a table of task, n" in result.err
    saved(tmp_path, detail(metrics="high"))
    result = passk("estimate", path)
    assert (
        result.code,
        "high is neither a list nor a record in Python syntax; use the file" in result.err,
    ) == (3, True)
