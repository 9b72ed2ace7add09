"""Large documents are streamed, and many short files are not read one by one by DuckDB."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from passk_cli.files import reading
from tests.files.formats.cells import cells

_READ = """
import resource, sys
from passk_cli.files.formats import generic
generic.LARGE_BYTES = 1 << 20
import passk_cli
counts = passk_cli.read(sys.argv[1])
print(len(counts.tasks), int(counts.n.sum()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
TEXT = "x" * 5_900


def measured(path: Path) -> tuple[int, int, float]:
    """Tasks, attempts and the peak of memory, in MB, of a process that reads a file."""
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(path)], capture_output=True, text=True, check=True
    )
    tasks, attempts, peak = map(int, done.stdout.split())
    return tasks, attempts, peak / (1 << 10 if sys.platform != "darwin" else 1 << 20)


def document(shape: str, records: int, text: str) -> str:
    every = [{"task_id": f"t{i % 100}", "passed": i % 3 == 0, "log": text} for i in range(records)]
    if shape == "array":
        return json.dumps(every)
    if shape == "list":
        return json.dumps({"results": every, "model": "m"})
    by_task = {f"t{i}": [{"passed": True, "log": text}] * (records // 100) for i in range(100)}
    return json.dumps(by_task)


@pytest.mark.parametrize("shape", ["array", "by task"])
def test_a_document_of_60_mb_takes_little_memory(tmp_path: Path, shape: str) -> None:
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
        monkeypatch.setattr(reading, "sniff", lambda *_, **__: pytest.fail("a file by itself"))
    for folder in ("records", "arrays", "lines"):
        assert cells(tmp_path / folder) == {("m", f"t{i}"): (2, 2) for i in range(count // 2)}
