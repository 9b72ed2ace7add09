"""How long a command takes before it does anything, against another checkout.

Run: python benchmarks/startup.py --against DIR [--runs 15]
The same commands, and reading 10⁶ rows, from this checkout and from DIR in turn.  `benchmarks/run`
measures this checkout alone.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import Runs, in_turn, instructions, keep, machine, table
from reading import MAKE

HERE = Path(__file__).parent.parent
SAMPLES = HERE / "sample_data"


# What is started: words of the command line; BASE is what every Python program has to do.
BASE = "python -c pass"
COMMANDS = {
    "passk --help": ["--help"],
    "passk estimate --help": ["estimate", "--help"],
    "passk estimate of 200 rows": ["estimate", str(SAMPLES / "tau_airline.csv")],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--against", type=Path, required=True, help="another checkout")
    arguments = parser.parse_args()
    side_by_side(arguments.runs, arguments.against.resolve())


def alone(runs: int) -> dict[str, Runs]:
    """What is started → medians, bare Python among them."""
    commands = {name: [*run_from(HERE), *words] for name, words in COMMANDS.items()}
    return in_turn({BASE: [sys.executable, "-c", "pass"], **commands}, runs)


def side_by_side(runs: int, other: Path) -> None:
    """Every command from this checkout and from another, A B A B …"""
    with tempfile.TemporaryDirectory() as folder:
        rows_file = str(Path(folder) / "rows.jsonl")
        make = MAKE.format(rows=10**6, text="", path=rows_file, form="json")
        subprocess.run([sys.executable, "-c", f"import duckdb; duckdb.sql({make!r})"], check=True)
        commands = {
            "--version": ["--version"],
            "--help": ["--help"],
            "estimate --help": ["estimate", "--help"],
            "compare --help": ["compare", "--help"],
            "estimate tau_airline.csv": ["estimate", str(SAMPLES / "tau_airline.csv")],
            "compare agents.jsonl": ["compare", str(SAMPLES / "agents.jsonl")],
            "estimate, 10⁶ rows": ["estimate", rows_file, "--interval", "none"],
        }
        rows = []
        for name, words in commands.items():
            pair = {str(c): [*run_from(c), *words] for c in (other, HERE)}
            before, now = in_turn(pair, runs).values()
            million = [f"{i / 1e6:.0f}" for i in map(instructions, pair.values())]
            cpu = [f"{1000 * r.cpu:.0f}" for r in (before, now)]
            wall = [f"{1000 * r.seconds:.0f}" for r in (before, now)]
            rows.append((f"passk {name}", *million, *cpu, f"{now.cpu / before.cpu:.2f}", *wall))
    head = (
        "command", "10⁶ instructions before", "10⁶ instructions", "CPU ms before", "CPU ms",
        "ratio", "wall ms before", "wall ms",
    )  # fmt: skip
    text = f"{machine()}; before: {commit(other)}; medians of {runs}\n\n" + table(head, rows)
    print(text)
    keep("checkouts", text, "speed.md")


def run_from(checkout: Path) -> list[str]:
    """The start of a command line that runs passk from a checkout, whatever is installed."""
    return ["env", f"PYTHONPATH={checkout}", sys.executable, "-P", "-m", "passk_cli"]


def commit(checkout: Path) -> str:
    """The short name of the commit that a checkout stands on."""
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
