"""How fast `passk estimate` reads, against bare DuckDB, polars, pandas and a loop over the lines.

`benchmarks/run` calls this; `FILES` says what is read, `RIVALS` who else reads it.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from measure import Runs, in_turn

MAKE = """
COPY (SELECT 'model-' || (i % 10) AS model, 'HumanEval/' || ((i // 10) % 1000) AS task_id,
             (i // 10000) AS sample, {text}
             hash(i) % 100 < (i % 10) * 10 AS passed, (hash(i) % 1000) / 100 AS seconds
      FROM range({rows}) AS t(i)) TO '{path}' (FORMAT {form})"""
FORMS = {"JSONL": "json", "CSV": "csv", "Parquet": "parquet"}
TEMPERATURE = "[0.2, 0.8][1 + (i // 10000) % 2] AS temperature,"
# A field of 20 lines with quotes and commas, as in code.
TEXT = "repeat('for word in \"' || i || '\", \"b\": print(word, 1)' || chr(10), 25) AS completion,"


@dataclass(frozen=True)
class File:
    """A file to be read: its form, its size against the largest, further columns, and the goal:
    time against bare DuckDB."""

    name: str
    form: str
    share: float
    more: str
    goal: float

    def make(self, folder: Path, rows: int) -> Path:
        """Write the file and return its path. rows is the number of rows of the largest file."""
        path = folder / f"passk-benchmark-{self.name.replace(' ', '-')}.{FORMS[self.form]}"
        count, form = max(round(rows * self.share), 10), FORMS[self.form]
        make = MAKE.format(rows=count, text=self.more, form=form, path=path)
        # Not here: this process must stay small, as its memory counts as its children's.
        subprocess.run([sys.executable, "-c", f"import duckdb; duckdb.sql({make!r})"], check=True)
        return path


FILES = (
    File("JSONL with a temperature", "JSONL", 1, TEMPERATURE, 1.2),
    File("JSONL with 1 kB of text", "JSONL", 0.1, TEXT, 1.2),
    File("JSONL", "JSONL", 0.1, "", 1.5),
    File("CSV", "CSV", 1, "", 0.9),
    File("CSV with 1 kB of text", "CSV", 0.1, TEXT, 0.9),
    File("Parquet", "Parquet", 1, "", 1.5),
    File("Parquet with 1 kB of text", "Parquet", 0.1, TEXT, 1.5),
)
_TABLES = {
    "JSONL": "read_json('{path}', format='newline_delimited', columns={{model: 'VARCHAR',"
    " task_id: 'VARCHAR', passed: 'BOOLEAN'}})",
    "CSV": "read_csv('{path}')",
    "Parquet": "read_parquet('{path}')",
}
_SCANS = {"JSONL": "scan_ndjson", "CSV": "scan_csv", "Parquet": "scan_parquet"}
_FRAMES = {
    "JSONL": "pd.read_json('{path}', lines=True)",
    "CSV": "pd.read_csv('{path}', usecols=['model', 'task_id', 'passed'])",
    "Parquet": "pd.read_parquet('{path}', columns=['model', 'task_id', 'passed'])",
}
_DUCKDB = """
import duckdb
duckdb.sql('''SELECT model, task_id, count(*), count(*) FILTER (passed)
              FROM {table} GROUP BY ALL''').fetchall()"""
_POLARS = """
import polars as pl
pl.{scan}('{path}').group_by('model', 'task_id').agg(pl.len(), pl.col('passed').sum()).collect()"""
# The estimator of github.com/openai/human-eval, evaluation.py (MIT), in our words.
ESTIMATOR = """
import numpy as np
def estimator(n, c, k):
    if n - c < k:
        return 1.0
    return 1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1))
def report(totals):
    for k in (1, 10, 100):
        scores = {}
        for (model, task), (n, c) in totals.items():
            if n >= k:
                scores.setdefault(model, []).append(estimator(n, c, k))
        print(k, {model: np.mean(values) for model, values in scores.items()})
"""
_LOOP = """
import csv, json
from collections import defaultdict
totals = defaultdict(lambda: [0, 0])
with open('{path}', newline='') as file:
    for row in {rows}:
        cell = totals[row['model'], row['task_id']]
        cell[0] += 1
        cell[1] += row['passed'] in (True, 'true')
report(totals)"""
_ROWS = {"JSONL": "map(json.loads, file)", "CSV": "csv.DictReader(file)"}
_PANDAS = """
import pandas as pd
cells = {frame}.groupby(['model', 'task_id'])['passed'].agg(['size', 'sum'])
report({{key: (n, c) for key, n, c in cells.itertuples()}})"""
# These tools need minutes and gigabytes for 10 million rows.
SLOW = ("loop", "pandas")
RIVALS = ("DuckDB", "polars", *SLOW)


def commands(path: Path, form: str) -> dict[str, list[str]]:
    """Tool → the command that reads the file. Tools that are not installed are left out."""
    table, frame = _TABLES[form].format(path=path), _FRAMES[form].format(path=path)
    scripts = {
        "DuckDB": _DUCKDB.format(table=table),
        "polars": _POLARS.format(scan=_SCANS[form], path=path),
        "pandas": ESTIMATOR + _PANDAS.format(frame=frame),
    }
    if form in _ROWS:
        scripts["loop"] = ESTIMATOR + _LOOP.format(path=path, rows=_ROWS[form])
    # The other tools compute no intervals, so passk is measured without them, and with them as by
    # default.
    passk = [sys.executable, "-m", "passk_cli", "estimate", str(path)]
    return {
        "passk": [*passk, "--interval", "none"],
        "with intervals": passk,
        **{
            who: [sys.executable, "-c", script]
            for who, script in scripts.items()
            if who == "loop" or importlib.util.find_spec(who.lower()) is not None
        },
    }


def measured(
    file: File, folder: Path, rows: int, runs: int, *, slow: bool
) -> tuple[float, dict[str, Runs]]:
    """Megabytes of the file, and who → medians of reading it, one after the other in each turn.

    slow : measure those of SLOW as well, once.
    """
    path = file.make(folder, rows)
    try:
        all_commands = commands(path, file.form)
        quick = {who: command for who, command in all_commands.items() if who not in SLOW}
        result = in_turn(quick, runs)
        if slow:
            slow_commands = {who: command for who, command in all_commands.items() if who in SLOW}
            result |= in_turn(slow_commands, 1, warm=False)
        return path.stat().st_size / 1e6, result
    finally:
        path.unlink()


def table_row(file: File, rows: int, size: float, result: dict[str, Runs]) -> Sequence[str]:
    """A row of the table: ours in seconds and MiB, all against bare DuckDB."""
    base = result["DuckDB"]
    passk = result["passk"]

    def against(who: str) -> str:
        runs = result.get(who)
        if runs is None:
            return "–"
        return f"{runs.seconds / base.seconds:.2f} ({runs.cpu / base.cpu:.2f})"

    count = max(round(rows * file.share), 10)
    return (
        f"{file.name}: {count:,} rows, {size:,.0f} MB",
        f"{base.seconds:.2f} ({base.cpu:.2f})", f"{passk.seconds:.2f} ({passk.cpu:.2f})",
        f"{max(passk.mebibytes, result['with intervals'].mebibytes):,.0f}",
        against("passk"), against("with intervals"), f"{file.goal:.1f}",
        *(against(who) for who in RIVALS[1:]),
    )  # fmt: skip


HEAD = (
    "file", "DuckDB s (CPU)", "passk s (CPU)", "passk MiB", "passk ×", "with intervals ×",
    "goal ×", "polars ×", "loop ×", "pandas ×",
)  # fmt: skip
