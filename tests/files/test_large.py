"""Large documents are streamed, and many short files are not read one by one by DuckDB."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import passk_cli
from passk_cli.files.counting.raw_text_checks import may_have_surplus_delimiter
from passk_cli.files.reading import schema_detection
from passk_cli.files.sources.source import Source
from tests.conftest import Write
from tests.files.formats.cells import cells

_READ = """
import re, resource, sys
from pathlib import Path
from passk_cli.files.formats import generic
generic.STREAMED_ARRAY_BYTES = 1 << 20
import passk_cli
counts = passk_cli.read(sys.argv[1])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if sys.platform == "linux":
    # ru_maxrss includes the memory of the process that started this one.
    peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]
print(len(counts.tasks), int(counts.n.sum()), peak)
"""
TEXT = "x" * 5_900


def measured(path: Path) -> tuple[int, int, float]:
    """Tasks, attempts and the peak of memory, in MB, of a process that reads a file."""
    result = subprocess.run(
        [sys.executable, "-c", _READ, str(path)], capture_output=True, text=True, check=True
    )
    tasks, attempts, peak = map(int, result.stdout.split())
    return tasks, attempts, peak / (1 << 10 if sys.platform != "darwin" else 1 << 20)


def document(shape: str, records: int, text: str) -> str:
    rows = [{"task_id": f"t{i % 100}", "passed": i % 3 == 0, "log": text} for i in range(records)]
    if shape == "array":
        return json.dumps(rows)
    if shape == "list":
        return json.dumps({"results": rows, "model": "m"})
    by_task = {f"t{i}": [{"passed": True, "log": text}] * (records // 100) for i in range(100)}
    return json.dumps(by_task)


@pytest.mark.long
@pytest.mark.parametrize("shape", ["by task", "array"])
def test_a_document_of_60_mb_needs_little_memory(tmp_path: Path, shape: str) -> None:
    small, large = tmp_path / "small.json", tmp_path / "large.json"
    small.write_text(document(shape, 10_000, ""))
    large.write_text(document(shape, 10_000, TEXT))
    assert large.stat().st_size > 59e6
    (tasks, attempts, base), (*same, peak) = measured(small), measured(large)
    assert (tasks, attempts) == (100, 10_000) == tuple(same)
    assert peak - base < 45


@pytest.mark.parametrize("count", [10, 400])
def test_many_short_files_are_one_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    for number in range(count):
        record = {"model": "m", "task": f"t{number // 2}", "attempt": number % 2, "passed": True}
        for folder, text in (
            ("records", json.dumps(record, indent=1)),
            ("arrays", json.dumps([record])),
            ("lines", json.dumps(record) + "\n"),
        ):
            (tmp_path / folder).mkdir(exist_ok=True)
            suffix = "jsonl" if folder == "lines" else "json"
            (tmp_path / folder / f"{number}.{suffix}").write_text(text)
    if count > 300:
        monkeypatch.setattr(
            schema_detection,
            "detect_storage_layout",
            lambda *_, **__: pytest.fail("a file by itself"),
        )
    for folder in ("records", "arrays", "lines"):
        assert cells(tmp_path / folder) == {("m", f"t{i}"): (2, 2) for i in range(count // 2)}


def test_delimited_texts_with_huge_rows_are_read(write: Write) -> None:
    """A line of 3 MB, and rows inside quotes. DuckDB cannot read these in pieces."""
    inside = 'm,t9,0,true,\n""said""\n' * 150_000
    lines = [f'm,t{i % 3},{i // 3},{str(i % 2 == 0).lower()},"{inside if i == 4 else i}"'
             for i in range(9)]  # fmt: skip
    path = write("long.csv", "\n".join(["model,task,attempt,passed,log", *lines]) + "\n")
    assert cells(path) == {("m", "t0"): (3, 2), ("m", "t1"): (3, 1), ("m", "t2"): (3, 2)}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "x,true,,", "x,true,"])
def test_uneven_rows_are_found_at_block_ends(write: Write, end: str, last: str) -> None:
    """Rows that end with a delimiter may be uneven. The delimiter is at every place of a block."""
    rows = [f"t{i:05},true," for i in range(99_991)]
    path = write("rows.csv", end.join(["task,passed,log", *rows, last]).encode())
    source = Source(str(path), "rows.csv", None, "none")
    assert may_have_surplus_delimiter(source, b",", 3) is (last == "x,true,,")
    assert may_have_surplus_delimiter(source, b",", 2)
    assert not may_have_surplus_delimiter(source, b";", 1)


@pytest.mark.long
def test_cells_need_less_memory_than_texts(tmp_path: Path) -> None:
    """The memory that Python allocates per cell, at the peak of reading. A text needs 60 bytes or
    more."""
    import tracemalloc

    import duckdb

    path, tasks = tmp_path / "counts.parquet", 5_000
    duckdb.sql(
        f"COPY (SELECT 'model ' || i // {tasks} AS model, 'a task ' || i % {tasks} AS task_id,"
        " 7 + i % 3 AS n, i % 8 AS c, 'kind ' || i % 2 AS kind"
        f" FROM range({20 * tasks}) AS t(i)) TO '{path}' (FORMAT parquet)"
    )
    tracemalloc.start()
    counts = passk_cli.read(path, by="kind")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(counts.n), len(counts.tasks)) == (20 * tasks, tasks)
    assert peak / len(counts.n) < 200


@pytest.mark.long
def test_lines_of_a_megabyte_are_read_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("w") as file:
        for row in range(80):
            record = {"task": f"t{row % 20}", "attempt": row // 20, "passed": row % 4 == 0}
            file.write(json.dumps(record | {"log": "x y " * 300_000}) + "\n")
    tasks, attempts, peak = measured(path)
    assert (tasks, attempts) == (20, 80)
    assert peak < 1000
