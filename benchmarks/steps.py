"""The cost of a reading after Python has started, compared with another checkout.

Run: python benchmarks/steps.py --against DIR [--rounds 5] [--folder DIR]
A table of 60 rows, one that is refused with the commands that would read it, 10⁷ thin rows of JSON
(0.6 GB, removed afterwards) and a table of 1 GB, of which the survey is measured.  Writes
benchmarks/reading.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from measure import keep, machine, table

HERE = Path(__file__).parent.parent
# CPU seconds of a call that is made again and again, the least of them; modules, functions and
# their lines that it enters in files/; seconds of the survey; of one call, those of all of it.
MEASURE = """
import contextlib, inspect, io, json, os, sys, time
path, times = sys.argv[1], int(sys.argv[2])
import passk_cli.files.load as load
from passk_cli.cli.app import main

def call():
    sys.argv = ["passk", "estimate", "-k", "1", "--interval", "none", path]
    start = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        with contextlib.suppress(SystemExit):
            main()
    return time.process_time() - start

found, root = {}, os.path.dirname(load.__file__)
if times == 1 and hasattr(load, "surveyed"):
    surveyed = load.surveyed
    def timed(*given):
        start = time.process_time()
        survey = surveyed(*given)
        found["survey"] = time.process_time() - start
        return survey
    load.surveyed = timed
found["cpu"] = min(call() for _ in range(times))
if times > 1:
    entered = set()
    sys.setprofile(lambda frame, event, _: event == "call" and entered.add(frame.f_code))
    call()
    sys.setprofile(None)
    own = [c for c in entered if c.co_filename.startswith(root) and c.co_name[0] != "<"]
    found["functions"], found["files"] = len(own), len({c.co_filename for c in own})
    found["lines"] = sum(len(inspect.getsourcelines(c)[0]) for c in own)
print(json.dumps(found))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, required=True, help="another checkout")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    arguments = parser.parse_args()
    checkouts = {"before": arguments.against.resolve(), "now": HERE}
    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for name, file, times in inputs(Path(folder)):
            times_by_step: dict[str, dict[str, list[float]]] = {
                checkout: {} for checkout in checkouts
            }
            for _ in range(arguments.rounds if times > 1 else 3):
                for checkout, path in checkouts.items():
                    for step, value in measured(path, file, times).items():
                        times_by_step[checkout].setdefault(step, []).append(value)
            file.unlink()
            for step in times_by_step["now"]:
                cells = (
                    shortest(step, times_by_step[checkout].get(step)) for checkout in checkouts
                )
                rows.append((f"{name}: {WORDS[step]}", *cells))
                print(*rows[-1], sep="\t", flush=True)
    head = ("", *checkouts)
    keep("steps", f"{machine()}; least of the rounds\n\n{table(head, rows)}", "reading.md")


WORDS = {
    "cpu": "CPU ms",
    "survey": "CPU ms of the survey",
    "functions": "functions that it enters in `files/`",
    "files": "files that these stand in",
    "lines": "their lines",
}


def measured(checkout: Path, file: Path, times: int) -> dict[str, float]:
    """What one process finds."""
    command = [sys.executable, "-c", MEASURE, str(file), str(times)]
    variables = {**os.environ, "PYTHONPATH": str(checkout)}
    result = subprocess.run(
        command, capture_output=True, text=True, check=True, env=variables, cwd=checkout
    )
    # What the command writes at its end may come first.
    values: dict[str, float] = json.loads(result.stdout.splitlines()[-1])
    return values


def shortest(step: str, values: list[float] | None) -> str:
    """The least of the rounds."""
    if values is None:
        return ""
    least = min(values)
    return f"{least * 1000:,.0f}" if step in ("cpu", "survey") else f"{least:,.0f}"


def inputs(folder: Path) -> Iterator[tuple[str, Path, int]]:
    """Name, file and how often it is read in one process."""
    small = folder / "small.csv"
    rows = [f"t{i},{j},{i * j % 2}\n" for i in range(20) for j in range(3)]
    small.write_text("task,attempt,passed\n" + "".join(rows))
    yield "60 rows", small, 20
    arms = [f"t{i},{j},{c},{i * j % 2}\n" for i in range(8) for j in range(3) for c in "ab"]
    refused = folder / "refused.csv"
    refused.write_text("case,run_idx,condition,passed\n" + "".join(arms))
    yield "48 rows of two arms, refused with three commands", refused, 5
    thin = folder / "thin.jsonl"
    with thin.open("w") as out:
        for i in range(10**7):
            out.write(f'{{"task":"t{i // 50}","model":"m{i // 10 % 5}","attempt":{i % 10},'
                      f'"passed":{"true" if i * 7919 % 13 < 6 else "false"}}}\n')  # fmt: skip
    yield "10⁷ thin rows of JSON", thin, 1
    wide = folder / "wide.jsonl"
    with wide.open("w") as out:
        for i in range(4_500_000):
            out.write(f'{{"task":"t{i // 50}","model":"m{i // 10 % 5}","attempt":{i % 10},'
                      f'"passed":{i * 7919 % 13 < 6:d},"answer":"{str(i) * 18}",'
                      f'"host":"h{i % 17}","seconds":{i % 300}.5}}\n')  # fmt: skip
    yield "1 GB of JSON lines", wide, 1


if __name__ == "__main__":
    main()
