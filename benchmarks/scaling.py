"""How time and memory of every command grow with tasks, models, attempts, files and k.

Run: python benchmarks/scaling.py [--only NAME] [--part growth|shapes] [--keep]
Each command runs as a whole process on ×1, ×4 and ×16 of each size, and on data of odd shapes: many
tasks, many models, many files, a million attempts at one task.  Seconds are those of all cores,
which a busy machine changes least.  Ten minutes of two cores; --keep writes scaling.md.
"""

from __future__ import annotations

import argparse
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from measure import Ended, ended, installed, keep, machine, table

FACTORS = (1, 4, 16)
# Seconds above start-up that are needed for an exponent, and those of the largest run.
_LEAST, _MOST = 0.25, 120
_PASSES = "hash(task_id, 1) % 100 * (0.7 + 0.3 * model / (model + 3)) > hash(i, 2) % 100"
_MAKE = """
COPY (SELECT 'model ' || lpad(model::VARCHAR, 5, '0') AS model, task_id, sample{temperature},
             'return ' || (hash(i, 3) % 50) AS completion, {passes} AS passed
      FROM (SELECT i, i // {attempts} % {models} AS model, i % {attempts} AS sample,
                   'task ' || (i // {attempts} // {models}) AS task_id
            FROM range({low}, {high}) AS t(i))) TO '{path}' (FORMAT parquet)"""


@dataclass(frozen=True)
class Data:
    """The data of a run: tasks × models × attempts in that many files, and k."""

    tasks: int = 100
    models: int = 6
    attempts: int = 8
    files: int = 1
    k: int = 4

    def __str__(self) -> str:
        sizes = f"{self.tasks:,} tasks × {self.models:,} models × {self.attempts:,} attempts"
        return sizes + f", {self.files:,} files" * (self.files > 1)

    def grown(self, axis: str, factor: int) -> Data:
        """The same data with a multiple of one size."""
        return replace(self, **{axis: getattr(self, axis) * factor})

    def make(self, folder: Path, *, temperature: bool) -> Path:
        """The files, written."""
        folder.mkdir(exist_ok=True)
        rows = self.tasks * self.models * self.attempts
        column = ", [0.2, 0.8][1 + i % 2] AS temperature" if temperature else ""
        sql = [
            _MAKE.format(
                attempts=self.attempts, models=self.models, temperature=column, passes=_PASSES,
                low=rows * file // self.files, high=rows * (file + 1) // self.files,
                path=folder / f"{file}.parquet",
            )
            for file in range(self.files)
        ]  # fmt: skip
        # Not here: this process must stay small, as its memory counts as its children's.
        script = f"import duckdb\nfor sql in {sql!r}: duckdb.sql(sql)"
        subprocess.run([sys.executable, "-"], input=script, text=True, check=True)
        return folder


# Command → its options; K stands for the k of the data.
COMMANDS: dict[str, str] = {
    "estimate": "-k 1,K",
    "compare": "-k 1,K",
    "gate": "--min pass@K=0.1 --min-each 0.01",
    "bootstrap": "-k 1,K",
    "curve": "",
    "tasks": "",
    "order": "",
    "diversity": "-k K",
    "temperature": "-k 1,K",
    "extrapolate": "--to K00",
    "plan": "-k 1,K",
    "describe": "",
    "convert": "-o OUT --format csv",
    "report": "-k 1,K -o OUT.html",
}
# Commands that do not use the k of the data.
_NO_K = ("curve", "tasks", "order", "describe", "convert")
TINY = Data(tasks=12, models=2, attempts=4, k=2)
BASE = Data()
WIDE = Data(attempts=128, tasks=50, models=3)
AXES = {"tasks": BASE, "models": BASE, "attempts": BASE, "files": BASE, "k": WIDE}

# Shape → the commands that run on it, with further options after the name.
SHAPES: dict[Data, Sequence[str]] = {
    Data(tasks=1, models=1, attempts=1_000_000, k=100): (
        "estimate", "curve", "curve --points all", "plan", "tasks", "order", "extrapolate",
        "describe",
    ),
    Data(tasks=1_000, models=10, attempts=10, files=1_000): (
        "estimate", "compare", "tasks", "describe", "convert",
    ),
    Data(tasks=3, models=300, attempts=8): ("estimate", "compare", "order"),
    Data(tasks=100_000, models=20, attempts=1, k=1): ("estimate", "describe", "gate", "compare"),
    Data(tasks=3, models=10_000, attempts=8): ("describe", "estimate", "compare"),
}  # fmt: skip


def main() -> None:
    """Print both tables, and keep them on request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="the commands whose name contains this, no more")
    parser.add_argument("--part", choices=("growth", "shapes"), help="one of the two tables")
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, installed() as variables:
        bench = Bench(Path(folder), variables)
        for part, rows in (("growth", growth), ("shapes", shapes)):
            if arguments.part in (None, part):
                text = f"{machine()}\n\n{rows(bench, arguments.only)}"
                print(text)
                if arguments.keep:
                    keep(part, text, "scaling.md")


@dataclass(frozen=True)
class Bench:
    """Where data are made and commands run."""

    folder: Path
    variables: Mapping[str, str]

    def run(self, command: str, data: Data) -> Ended:
        """A command on the data, which are made where they are not there yet."""
        name, *more = command.split()
        temperature = name == "temperature"
        place = self.folder / re.sub(r"\W+", "-", f"{replace(data, k=0)} {temperature}")
        if not place.exists():
            data.make(place, temperature=temperature)
        text = COMMANDS[name].replace("K", str(data.k)).replace("OUT", str(self.folder / "out"))
        line = [sys.executable, "-m", "passk_cli", name, str(place), *text.split(), *more]
        result = ended(line, self.variables, _MOST)
        print(f"passk {command}: {data}, k = {data.k}: {result}", file=sys.stderr, flush=True)
        return result


def growth(bench: Bench, only: str) -> str:
    """The exponent of each command's time in each size, and its seconds and MiB at the end."""
    rows = []
    for name in COMMANDS:
        if only in name:
            # Once to compile the modules, once to be measured.
            start = [bench.run(name, TINY) for _ in range(2)][1]
            cells = [_grown(bench, name, axis, base, start) for axis, base in AXES.items()]
            rows.append((name, f"{start.cpu:.1f}", *cells))
    return table(("command", "start-up, CPU s", *AXES), rows)


def _grown(bench: Bench, name: str, axis: str, base: Data, start: Ended) -> str:
    """The exponent of one size, or "·" if the time is too short for an exponent."""
    if axis == "k" and name in _NO_K:
        return "·"
    small, large = (bench.run(name, base.grown(axis, factor)) for factor in FACTORS[1:])
    if large.code not in (0, 1):
        return large.words
    first, last = (run.cpu - start.cpu for run in (small, large))
    if last < _LEAST:
        return "·"
    exponent = math.log(last / max(first, _LEAST / 16)) / math.log(FACTORS[2] / FACTORS[1])
    return f"{exponent:.1f} ({last:.1f} s, {large.mebibytes:,.0f} MiB)"


def shapes(bench: Bench, only: str) -> str:
    """Seconds and MiB of commands on data of odd shapes, or their message."""
    tables = []
    for data, commands in SHAPES.items():
        rows = []
        for command in commands:
            if only in command:
                result = bench.run(command, data)
                end = "" if result.code in (0, 1) else result.words
                rows.append((command, f"{result.cpu:.1f}", f"{result.mebibytes:,.0f}", end))
        tables.append(table((str(data), "CPU s", "MiB", "says"), rows))
    return "\n\n".join(tables)


if __name__ == "__main__":
    main()
