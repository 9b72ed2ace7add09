"""How fast `passk estimate` reads, against a bare DuckDB GROUP BY, a loop and pandas.

Run: python benchmarks/reading.py [--runs 3] [--folder DIR] [--only NAME]
Makes JSONL of 10⁵, 10⁶ and 10⁷ thin rows and of 10⁶ rows with 1 kB of text (3.4 GB in all,
removed afterwards), measures every command as a whole process, in turn, and writes the table
into benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from measure import in_turn, keep, machine, table

MAKE = """
COPY (SELECT 'model-' || (i % 10) AS model, 'HumanEval/' || ((i // 10) % 1000) AS task_id,
             (i // 10000) AS sample, {text}
             hash(i) % 100 < (i % 10) * 10 AS passed, (hash(i) % 1000) / 100 AS seconds
      FROM range({rows}) AS t(i)) TO '{path}' (FORMAT json)"""
FILES = {
    "10⁵ rows": (10**5, ""),
    "10⁶ rows": (10**6, ""),
    "10⁷ rows": (10**7, ""),
    "10⁶ rows with 1 kB of text": (10**6, "repeat(chr((97 + i % 26)::INT), 1000) AS completion,"),
}
DUCKDB = """
import duckdb
duckdb.sql('''SELECT model, task_id, count(*), count(*) FILTER (passed)
              FROM read_json('{path}', format='newline_delimited', columns={{model: 'VARCHAR',
              task_id: 'VARCHAR', passed: 'BOOLEAN'}}) GROUP BY ALL''').fetchall()"""
DUCKDB_ATTEMPTS = """
import duckdb
duckdb.sql('''SELECT model, task_id, count(*), count(*) FILTER (passed), count(DISTINCT sample)
              FROM read_json('{path}', format='newline_delimited', columns={{model: 'VARCHAR',
              task_id: 'VARCHAR', passed: 'BOOLEAN', sample: 'VARCHAR'}})
              GROUP BY ALL''').fetchall()"""
# The estimator of github.com/openai/human-eval, evaluation.py (MIT), in our words.
ESTIMATOR = """
import numpy as np
def estimator(n, c, k):
    if n - c < k:
        return 1.0
    return 1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1))
def report(totals):
    for k in (1, 10, 100):
        scores = {{}}
        for (model, task), (n, c) in totals.items():
            if n >= k:
                scores.setdefault(model, []).append(estimator(n, c, k))
        print(k, {{model: np.mean(values) for model, values in scores.items()}})
"""
LOOP = (
    ESTIMATOR
    + """
import json
from collections import defaultdict
totals = defaultdict(lambda: [0, 0])
for line in open('{path}'):
    row = json.loads(line)
    cell = totals[row['model'], row['task_id']]
    cell[0] += 1
    cell[1] += row['passed']
report(totals)"""
)
PANDAS = (
    ESTIMATOR
    + """
import pandas as pd
frame = pd.read_json('{path}', lines=True)
cells = frame.groupby(['model', 'task_id'])['passed'].agg(['size', 'sum'])
report({{key: (n, c) for key, n, c in cells.itertuples()}})"""
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--only", default="", help="keep the files whose name contains this")
    parser.add_argument("--fast", action="store_true", help="leave out the loop and pandas")
    arguments = parser.parse_args()
    rows = []
    for name, (count, text) in FILES.items():
        if arguments.only not in name:
            continue
        path = arguments.folder / f"passk-benchmark-{count}{'-text' if text else ''}.jsonl"
        import duckdb

        duckdb.sql(MAKE.format(rows=count, text=text, path=path))
        size = f"{path.stat().st_size / 1e6:,.0f} MB"
        scripts = {"bare DuckDB": DUCKDB, "DuckDB, repeats counted": DUCKDB_ATTEMPTS}
        if not arguments.fast:
            scripts |= {"json.loads loop": LOOP, "pandas.read_json": PANDAS}
        ours = [sys.executable, "-m", "passk_cli", "estimate", str(path)]
        # Without intervals is the job the others do; with them is what a user gets.
        commands = {"passk estimate --interval none": [*ours, "--interval", "none"]}
        commands["passk estimate"] = ours
        commands |= {
            who: [sys.executable, "-c", script.format(path=path)] for who, script in scripts.items()
        }
        try:
            # The slow ones take minutes and their noise does not matter: fewer turns for them.
            quick = {
                w: c
                for w, c in commands.items()
                if w not in ("json.loads loop", "pandas.read_json")
            }
            found = in_turn(quick, arguments.runs)
            found |= in_turn({w: c for w, c in commands.items() if w not in quick}, 1)
        finally:
            path.unlink()
        base = found["passk estimate --interval none"]
        for who, runs in found.items():
            rows.append(
                (f"{name} ({size})", who, f"{runs.seconds:.2f}", f"{runs.mebibytes:,.0f}",
                 f"{runs.seconds / base.seconds:.2f}")
            )  # fmt: skip
            print(*rows[-1], sep="\t", flush=True)
    head = ("file", "command", "wall s", "peak MiB", "time against the first")
    if not arguments.only and not arguments.fast:
        keep("reading", f"{machine()}; medians\n\n{table(head, rows)}")


if __name__ == "__main__":
    main()
