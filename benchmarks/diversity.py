"""How fast and in how much memory `passk diversity` reads texts, beside `estimate`.

Run: python benchmarks/diversity.py [--runs 1] [--folder DIR]
Makes JSONL of 10⁶ attempts (10 models × 1,000 tasks × 100) and of 10⁵, each with a Python program
of 1 kB that no other attempt has, which is the worst case; measures every command as a whole
process, in turn; writes the table into benchmarks/diversity.md; removes the files (1.2 GB).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from measure import in_turn, keep, machine, table

MAKE = """
COPY (SELECT 'model-' || (i % 10) AS model,
             'HumanEval/' || ((i // 10) % ({rows} // 1000)) AS task_id,
             i // ({rows} // 100) AS sample, hash(i) % 100 < (i % 10) * 10 AS passed,
             array_to_string([{lines}], chr(10)) AS completion
      FROM range({rows}) AS t(i)) TO '{path}' (FORMAT json)"""
LINES = ", ".join(f"'v' || md5(i::VARCHAR || '-{j}') || ' = {j}'" for j in range(25))
FILES = {"10⁶ attempts": 10**6, "10⁵ attempts": 10**5}
COMMANDS = {
    "passk estimate": ["estimate"],
    "passk diversity": ["diversity"],
    "passk diversity --normalise space": ["diversity", "--normalise", "space"],
    "passk diversity --similarity 0.8": ["diversity", "--similarity", "0.8"],
}
# Parsing needs a millisecond per program, so the smaller file is enough.
PYTHON = {"passk diversity --normalise python": ["diversity", "--normalise", "python"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    arguments = parser.parse_args()
    rows = []
    for name, count in FILES.items():
        import duckdb

        path = arguments.folder / f"passk-diversity-{count}.jsonl"
        duckdb.sql(MAKE.format(rows=count, lines=LINES, path=path))
        size = f"{path.stat().st_size / 1e6:,.0f} MB"
        selection = COMMANDS if count == 10**6 else COMMANDS | PYTHON
        commands = {
            who: [sys.executable, "-m", "passk_cli", *words, str(path), "-q"]
            for who, words in selection.items()
        }
        try:
            measurements = in_turn(commands, arguments.runs)
        finally:
            path.unlink()
        base = measurements["passk estimate"]
        for who, runs in measurements.items():
            rows.append(
                (f"{name} ({size})", who, f"{runs.seconds:.2f}", f"{runs.mebibytes:,.0f}",
                 f"{runs.seconds / base.seconds:.1f}")
            )  # fmt: skip
            print(*rows[-1], sep="\t", flush=True)
    head = ("file", "command", "wall s", "peak MiB", "time against estimate")
    keep("diversity", f"{machine()}\n\n{table(head, rows)}", "diversity.md")


if __name__ == "__main__":
    main()
