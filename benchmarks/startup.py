"""How long a command takes before it does anything, and the goals for CPU time.

Run: python benchmarks/startup.py --against DIR [--runs 5] [--rows 10000000]
Every command runs from this checkout and from DIR in turn, and the shortest CPU time counts, as
other programs can only make it longer.  The inputs take 1.3 GB.  `benchmarks/run` measures the
start-up of this checkout.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from measure import ended, installed, keep, machine, table
from reading import FORMS, MAKE
from reading import commands as reading_commands

HERE = Path(__file__).parent.parent
SAMPLES = HERE / "sample_data"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rows", type=int, default=10**7, help="of the largest files")
    parser.add_argument("--against", type=Path, required=True, help="another checkout")
    arguments = parser.parse_args()
    side_by_side(arguments.runs, arguments.against.resolve(), arguments.rows)


# Work → words of the command line, its comparison, the goal, and the time when the goal was set, on
# a slower machine. FILE is the folder of the inputs. A work is compared with bare DuckDB, with the
# command plus these words that succeeds, or with nothing.
_REPORT = "-o FILE/report.html"
GOALS = {
    "10⁷ rows of JSONL": ("estimate FILE/rows.jsonl --interval none", "JSONL", "1.22 ×", "1.40 ×"),
    "10⁷ rows of CSV": ("estimate FILE/rows.csv --interval none", "CSV", "1.4 ×", "1.73–1.88 ×"),
    "10⁷ rows of Parquet":
        ("estimate FILE/rows.parquet --interval none", "Parquet", "1.8 ×", "2.5 ×"),
    "`--help`": ("--help", "", "0.09 s", "0.205 s"),
    "`estimate`, 200 rows": (f"estimate {SAMPLES}/tau_airline.csv", "", "0.25 s", "0.335 s"),
    "`compare`, 144 rows": (f"compare {SAMPLES}/agents.jsonl", "", "0.34 s", "0.49 s"),
    "`gate`, 144 rows": (f"gate {SAMPLES}/agents.jsonl --min pass@1=0.1", "", "0.50 s", "0.83 s"),
    "`compare`, 12 files with 39,360 rows, refused":
        ("compare FILE/arms", "--by arm", "the run", "1.3–4.1 s"),
    "`report`, the same files, refused":
        (f"report FILE/arms {_REPORT}", "--by arm", "the run", "3.5–9 s"),
    "`compare`, 134 models × 500 tasks": ("compare FILE/models.csv", "", "1.5 s", "2.5 s"),
    "`report`, 134 models × 500 tasks":
        (f"report FILE/models.csv {_REPORT}", "", "2.5 s", "3.9 s"),
    "`estimate`, 1,000 JSONL files × 20 rows": ("estimate FILE/files", "", "1.0 s", "1.4 s"),
}  # fmt: skip


def make_inputs(folder: Path, rows: int) -> None:
    """Write the inputs of the goals into a folder."""
    for form, end in FORMS.items():
        path = folder / f"rows.{form.lower()}"
        make = MAKE.format(rows=rows, text="", path=path, form=end)
        subprocess.run([sys.executable, "-c", f"import duckdb; duckdb.sql({make!r})"], check=True)
    rng = random.Random(1)
    levels = [rng.gauss(0, 1) for _ in range(500)]
    with (folder / "models.csv").open("w") as file:
        file.write("model,task,passed\n")
        for model in range(134):
            ability = rng.gauss(0, 1)
            for task, level in enumerate(levels):
                file.write(f"m{model},t{task},{int(rng.gauss(0, 1) < ability + level)}\n")
    for name in ("files", "arms"):
        (folder / name).mkdir()
    for number in range(1000):
        attempts = [{"model": f"m{number % 5}", "task_id": f"t{number // 5}", "attempt": attempt,
                  "passed": rng.random() < 0.5} for attempt in range(20)]  # fmt: skip
        (folder / "files" / f"{number}.jsonl").write_text(
            "\n".join(map(json.dumps, attempts)) + "\n"
        )
    for model in range(12):
        with (folder / "arms" / f"run{model}.csv").open("w") as file:
            file.write("model,task,attempt,arm,passed\n")
            for task, attempt, arm in product(range(164), range(10), "ab"):
                passed = int(rng.random() < 0.3 + 0.03 * model)
                file.write(f"m{model},t{task},{attempt},{arm},{passed}\n")


def side_by_side(runs: int, checkout: Path, rows: int) -> None:
    """The table of the goals: CPU time of every command from both checkouts, A B A B …"""
    with tempfile.TemporaryDirectory() as place, installed() as variables:
        folder = Path(place)
        make_inputs(folder, rows)
        cells = []
        for name, (words, against, goal, start) in GOALS.items():
            command = [word.replace("FILE", place) for word in words.split()]
            commands = {
                "before": [*run_from(checkout), *command],
                "now": [*run_from(HERE), *command],
            }
            if against in FORMS:
                path = folder / f"rows.{against.lower()}"
                commands["against"] = reading_commands(path, against)["DuckDB"]
            elif against:
                commands["against"] = [*commands["now"], *against.split()]
            least = dict.fromkeys(commands, math.inf)
            # The first round compiles modules and is not counted.
            for turn in range(runs + 1):
                for who, command_words in commands.items():
                    cpu = ended(command_words, variables, 600, folder).cpu
                    least[who] = min(least[who], cpu) if turn else math.inf
            unit = least["against"] if against in FORMS else 1.0
            sign = "×" if against in FORMS else "s"
            before, now = (f"{least[who] / unit:.2f} {sign}" for who in ("before", "now"))
            beside = f"{least['against']:.2f} s" if against else ""
            cells.append((name, goal, start, before, now, beside))
            print(*cells[-1], sep="\t", flush=True)
    head = ("work", "goal", "when it was set", "before", "now", "DuckDB, or the run")
    text = f"{machine()}; before: {commit(checkout)}; least of {runs} runs\n\n{table(head, cells)}"
    keep("checkouts", text, "speed.md")


def run_from(checkout: Path) -> list[str]:
    """The start of a command line that runs passk from a checkout and not the installed version."""
    return ["env", f"PYTHONPATH={checkout}", sys.executable, "-P", "-m", "passk_cli"]


def commit(checkout: Path) -> str:
    """The short name of a checkout's commit."""
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
