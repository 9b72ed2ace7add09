"""Counts with --resume against counts without, of random folders that change between runs.

Run: python benchmarks/resuming.py [--folders 100] [--seed 1]
Each folder has up to five random files: JSON lines, arrays and CSV; rows, lists and counts;
attempts with and without numbers, holes and repeats; bad lines and missing outcomes.  Between five
runs files are written anew, added, removed and renamed, options change, and entries are damaged.
Whatever is known of the counts has to be the same, or the same has to be refused.  A hundred
folders take four minutes on one core.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.files.test_resume import counted

RUNS = 5
CHANGES = ("nothing", "a new file", "a file written anew", "a file removed", "a file renamed",
           "other options", "a damaged entry")  # fmt: skip
NUMBERS = ("from 0", "from 0", "from 5", "with holes", "texts", "none")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folders", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    ends: dict[str, Counter[str]] = {change: Counter() for change in ("first run", *CHANGES)}
    for number in range(arguments.folders):
        with tempfile.TemporaryDirectory() as folder:
            run(Random(f"{arguments.seed} {number}"), Path(folder), ends)
    columns = ("runs", "read", "refused", "files", "files not read", "differ")
    print(f"| before the run | {' | '.join(columns)} |\n| --- |{' --: |' * len(columns)}")
    for change, end in [*ends.items(), ("all", sum(ends.values(), Counter()))]:
        print(f"| {change} | {' | '.join(f'{end[column]:,}' for column in columns)} |")


def run(random: Random, folder: Path, ends: dict[str, Counter[str]]) -> None:
    """Several runs of one folder, with a change before each but the first."""
    data, kept = folder / "data", folder / "kept"
    data.mkdir()
    for _ in range(random.randint(1, 5)):
        write(random, data)
    given, change = options(random), "first run"
    for _ in range(RUNS):
        plain, _ = counted(data, **given)
        resumed, unread = counted(data, kept, **given)
        end = "read" if plain.startswith("(") else "refused"
        files = len(list(data.iterdir()))
        ends[change].update({
            "runs": 1, end: 1, "differ": plain != resumed,
            **({"files": files, "files not read": unread} if end == "read" else {}),
        })  # fmt: skip
        if plain != resumed:
            print(f"{change}, {given}\n  {plain[:500]}\n  {resumed[:500]}", file=sys.stderr)
        change = random.choice(CHANGES)
        given = options(random) if change == "other options" else given
        alter(random, change, data, kept)


def alter(random: Random, change: str, data: Path, kept: Path) -> None:
    """Make a change to the files, or to what is kept of them."""
    files, entries = sorted(data.iterdir()), sorted(kept.glob("*.counts"))
    if change == "a new file":
        write(random, data)
    elif change == "a file written anew":
        write(random, data, random.choice(files))
    elif change == "a file removed" and len(files) > 1:
        random.choice(files).unlink()
    elif change == "a file renamed":
        file = random.choice(files)
        file.rename(file.with_name(f"r{file.name}"))
    elif change == "a damaged entry" and entries:
        entry = random.choice(entries)
        content = bytearray(entry.read_bytes())
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
        entry.write_bytes(bytes(content))


def write(random: Random, data: Path, path: Path | None = None) -> None:
    """Write a random file, as one that has not changed for long."""
    kind = random.choice(("jsonl", "jsonl", "csv", "json"))
    path = path or data / f"f{random.randrange(10**6)}.{kind}"
    records, bad = rows(random), random.random() < 0.02
    if path.suffix == ".csv":
        records = [record for record in records if "results" not in record] or [
            {"task": "t0", "passed": 1}
        ]
        columns = list(dict.fromkeys(key for record in records for key in record))
        lines = [columns, *([spelled(record.get(c)) for c in columns] for record in records)]
        text = "".join(",".join(line) + "\n" for line in lines) + "x,y,z,a,b,c,d\n" * bad
    elif path.suffix == ".json":
        text = json.dumps(records)
    else:
        text = "".join(json.dumps(record) + "\n" for record in records) + "{\n" * bad
    path.write_text(text)
    then = 1e9 + random.randrange(10**8)
    os.utime(path, (then, then))


def spelled(value: Any) -> str:
    return "" if value is None else str(value)


def rows(random: Random) -> list[dict[str, Any]]:
    """Random records of one file."""
    shared = {"temperature": random.choice((0.2, 0.8, 0.8, None))}
    shared["model"] = random.choice((None, "m", "n", "o", "p"))
    shared = {name: value for name, value in shared.items() if value is not None}
    shape, numbers = random.random(), random.choice(NUMBERS)
    graded = random.random() < 0.1
    records: list[dict[str, Any]] = []
    for task in range(random.randint(1, 5)):
        record = {"task": f"t{task}", **shared}
        if shape < 0.1:
            records.append(record | {"results": [random.random() < 0.5 for _ in range(3)]})
            continue
        if shape < 0.2:
            records.append(record | {"n": 5, "c": random.randint(0, 5)})
            continue
        for attempt in range(random.randint(1, 5)):
            passed = round(random.random(), 1) if graded else random.choice((1, 0))
            named = {"from 0": attempt, "from 5": attempt + 5, "with holes": attempt * 3,
                     "texts": f"x{attempt}"}  # fmt: skip
            number = {"attempt": named[numbers]} if numbers in named else {}
            missing = random.random() < 0.01
            records.append(record | {"passed": None if missing else passed} | number)
            records += records[-1:] * (random.random() < 0.004)
    return records


def options(random: Random) -> dict[str, Any]:
    """Random options of reading."""
    offered: list[tuple[float, str, tuple[Any, ...]]] = [
        (0.8, "missing", ("fail", "drop")),
        (1.0, "duplicates", ("error", "error", "error", "first", "last", "keep", "keep")),
        (0.3, "skip_bad", (True,)),
        (0.2, "by", (("temperature",),)),
        (0.2, "where", ("task <> 't1'", "temperature < 0.5", "task <= 't3'")),
        (0.3, "threshold", ((0.5,), (0.3, 0.6))),
        (0.15, "models", (("m",), ("[no]",))),
    ]
    return {name: random.choice(values) for share, name, values in offered
            if random.random() < share}  # fmt: skip


if __name__ == "__main__":
    main()
