"""Mutated files of every format, absurd options of every command, damaged histories, rules, prices
and times: what is read, refused, wrong.

Run: python benchmarks/fuzzing.py [--files 20000] [--options 80000] [--written 10000]
    [--processes 500] [--seed 1] [--minutes 60] [--keep FOLDER]
A hundred thousand cases take an hour on one core; --minutes ends the four parts earlier, each
after a quarter of that.  The last part runs command lines as processes of their own.
--keep: where files go that show a defect; they belong into tests/corpus once it is mended.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.fuzzing import Case, file_cases, option_cases, try_process, written_cases


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--options", type=int, default=80_000)
    parser.add_argument("--written", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    keep = arguments.keep and arguments.keep.resolve()
    counts: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "a" / "b"
        place.mkdir(parents=True)
        for cases in (file_cases(arguments.files, arguments.seed, place),
                      option_cases(arguments.options, arguments.seed, place),
                      written_cases(arguments.written, arguments.seed, place),
                      option_cases(arguments.processes, arguments.seed + 1, place, try_process),
                      ):  # fmt: skip
            until = time.monotonic() + arguments.minutes * 15
            count(takewhile(lambda _, end=until: time.monotonic() < end, cases), counts, keep)
    print("| case | tried | read | refused | defects |\n| --- | --: | --: | --: | --: |")
    for kind, ends in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        wrong = ends.total() - ends["read"] - ends["refused"]
        print(f"| {kind} | {ends.total():,} | {ends['read']:,} | {ends['refused']:,} | {wrong:,} |")


def count(cases: Iterable[Case], counts: dict[str, Counter[str]], keep: Path | None) -> None:
    """Count the results of cases, print the defects, and keep their files."""
    for case in cases:
        counts.setdefault(case.kind, Counter())[case.outcome.kind] += 1
        if not case.outcome.defect:
            continue
        print(f"{case.kind}: {case.name[:300]}: {case.outcome.kind}: {case.outcome.detail}",
              file=sys.stderr, flush=True)  # fmt: skip
        if keep and case.data:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / Path(case.name).name[:200]).write_bytes(case.data)


if __name__ == "__main__":
    main()
