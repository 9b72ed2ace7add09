"""What reading is bound by: many small files, a large archive, documents of 1 GB.

Run: python benchmarks/bounds.py [--runs 3] [--folder DIR] [--only NAME]
Makes 10,000 small files, an Inspect log of 500 MB and documents of 1 GB (1.5 GB at a time, removed
afterwards), measures `passk estimate` as a whole process and writes benchmarks/reading.md.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from measure import in_turn, keep, machine, table

_FILES, _RECORDS, _TEXT = 10_000, 1_050_000, "x" * 900


def record(number: int, **more: object) -> dict[str, object]:
    """An attempt of one of 1,000 tasks."""
    return {
        "task_id": f"task {number % 1000}",
        "attempt": number // 1000,
        "passed": number % 3 == 0,
        **more,
    }


def small_records(path: Path) -> None:
    """A record per file, as of trials, in a folder for each task."""
    for number in range(_FILES):
        folder = path / f"task-{number % 1000}"
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(record(number, model="m", log="x" * 300), indent=1)
        (folder / f"{number // 1000}.json").write_text(text)


def small_arrays(path: Path) -> None:
    """An array of one record per file."""
    path.mkdir()
    for number in range(_FILES):
        (path / f"{number}.json").write_text(json.dumps([record(number, model="m")]))


def foreign(path: Path) -> None:
    """Settings in JSON, and results in one file among them."""
    path.mkdir()
    for number in range(_FILES):
        (path / f"{number}.json").write_text(json.dumps({"seed": number, "settings": {"a": 1}}))
    lines = (json.dumps(record(number)) for number in range(2000))
    (path / "m.jsonl").write_text("\n".join(lines))


def log(path: Path) -> None:
    """An Inspect log of 10,000 samples of 50 kB."""
    header = {"status": "success", "eval": {"task": "t", "model": "m", "task_id": "r"}}
    body = os.urandom(50_000)
    summaries = [
        {"id": i, "epoch": e, "scores": {"match": {"value": "CI"[i * e % 2]}}, "input": "x" * 700}
        for i in range(1000)
        for e in range(1, 11)
    ]
    with zipfile.ZipFile(path, "w") as archive:
        for summary_row in summaries:
            archive.writestr(f"samples/{summary_row['id']}_epoch_{summary_row['epoch']}.json", body)
        archive.writestr("header.json", json.dumps(header), zipfile.ZIP_DEFLATED)
        archive.writestr("summaries.json", json.dumps(summaries), zipfile.ZIP_DEFLATED)


def document(path: Path, start: str, parts: Iterator[str], end: str) -> None:
    """A document with parts between a start and an end."""
    with open(path, "w") as file:
        file.write(start + next(parts))
        for part in parts:
            file.write(",\n" + part)
        file.write(end)


def array(path: Path) -> None:
    """An array of records."""
    records = (json.dumps(record(number, completion=_TEXT)) for number in range(_RECORDS))
    document(path, "[", records, "]")


def records_in_object(path: Path) -> None:
    """An object with a list of records."""
    records = (json.dumps(record(number, completion=_TEXT)) for number in range(_RECORDS))
    document(path, '{"model": "m", "results": [', records, '], "seed": 1}')


def by_task(path: Path) -> None:
    """An object with a list of records for each of 1,000 tasks."""
    attempts = [{"passed": number % 3 == 0, "completion": _TEXT} for number in range(1100)]
    text = json.dumps(attempts)
    document(path, "{", (f'"task {number}": {text}' for number in range(1000)), "}")


# Name → the function that makes the file, and its limits in seconds and MiB.
INPUTS: dict[str, tuple[Callable[[Path], None], float | None, float | None]] = {
    "10,000 files of one record": (small_records, 5, None),
    "10,000 files of a short array": (small_arrays, 5, None),
    "10,000 files without results": (foreign, 5, None),
    "an Inspect log (500 MB)": (log, 1, None),
    "an array (1 GB)": (array, None, 500),
    "an object with a list (1 GB)": (records_in_object, None, 500),
    "an object of lists by task (1 GB)": (by_task, None, 500),
}
_SUFFIX = {log: ".eval", array: ".json", records_in_object: ".json", by_task: ".json"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--only", default="", help="keep the inputs whose name contains this")
    arguments = parser.parse_args()
    rows = []
    for name, (make, seconds, mebibytes) in INPUTS.items():
        if arguments.only not in name:
            continue
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            path = Path(folder) / f"input{_SUFFIX.get(make, '')}"
            make(path)
            command = [sys.executable, "-m", "passk_cli", "estimate", str(path)]
            runs = in_turn({name: [*command, "--interval", "none"]}, arguments.runs)[name]
        bound = f"≤ {seconds} s" if seconds else f"≤ {mebibytes} MiB"
        rows.append(
            (name, f"{runs.seconds:.2f}", f"{runs.cpu:.2f}", f"{runs.mebibytes:,.0f}", bound)
        )
        print(*rows[-1], sep="\t", flush=True)
    head = ("input", "wall s", "CPU s", "peak MiB", "bound")
    if not arguments.only:
        keep("bounds", f"{machine()}; medians\n\n{table(head, rows)}", "reading.md")


if __name__ == "__main__":
    main()
