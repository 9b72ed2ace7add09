"""How long a command takes before it does anything, against `import typer`.

Run: python benchmarks/startup.py [--runs 15]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from measure import in_turn, keep, machine, table

SAMPLE = Path(__file__).parent.parent / "sample_data" / "tau_airline.csv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    arguments = parser.parse_args()
    passk = str(Path(sys.executable).parent / "passk")
    commands = {
        'python -c "import typer"': [sys.executable, "-c", "import typer"],
        "passk --version": [passk, "--version"],
        "passk --help": [passk, "--help"],
        "passk estimate --help": [passk, "estimate", "--help"],
        "passk estimate sample_data/tau_airline.csv": [passk, "estimate", str(SAMPLE)],
    }
    found = in_turn(commands, arguments.runs)
    base = next(iter(found.values())).seconds
    rows = [(n, f"{1000 * r.seconds:.0f}", f"{r.seconds / base:.2f}") for n, r in found.items()]
    text = f"{machine()}; medians of {arguments.runs}\n\n" + table(("command", "ms", "ratio"), rows)
    print(text)
    keep("startup", text)


if __name__ == "__main__":
    main()
