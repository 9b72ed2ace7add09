"""The same bytes whatever the order of rows, the files they lie in, and the machine."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard

from tests.conftest import Passk, jsonl

# Tried by .ci/run after the others.
pytestmark = pytest.mark.long

ROWS = [
    {"model": model, "task": f"{task}é" * (task % 3 + 1), "attempt": attempt, "when": "2026-01-31",
     "passed": (task * 7 + attempt * len(model)) % 5 > 1, "solution": f"x{task * attempt % 4}"}
    for model in ("Zeta", "alpha", "ärger", "b2", "b10")
    for task in range(9) for attempt in range(4)
]  # fmt: skip
COMMANDS = [
    ["estimate", "-m", "pass@1,pass^2,gpass@3:0.5"],
    ["compare", "-m", "pass@1,pass@3"],
    ["bootstrap", "-k", "1", "--resamples", "100"],
    ["order", "-k", "2"],
    ["diversity", "-k", "2"],
    ["tasks", "--against", "b2"],
]
# The machine of the tests has two threads and another locale.
MACHINE = {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "Asia/Tokyo", "OMP_NUM_THREADS": "1"}


def lines(rows: list[dict[str, object]]) -> bytes:
    return jsonl(rows).encode()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plain") / "rows.jsonl"
    path.write_bytes(lines(ROWS))
    return path


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_order_of_rows_files_and_packing(
    passk: Passk, plain: Path, tmp_path: Path, command: list[str]
) -> None:
    expected = passk(*command, plain, "-f", "csv")
    assert expected.code == 0, expected.err
    rows = list(ROWS)
    random.Random(0).shuffle(rows)
    parts = [tmp_path / name for name in ("z.jsonl", "a.jsonl.gz", "m.jsonl.zst")]
    parts[0].write_bytes(lines(rows[:7]))
    parts[1].write_bytes(gzip.compress(lines(rows[7:90])))
    parts[2].write_bytes(zstandard.compress(lines(rows[90:])))
    result = passk(*command, *parts, "-f", "csv")
    assert (result.code, result.out) == (0, expected.out), result.err


def test_threads_hash_seed_locale_and_time_zone(passk: Passk, plain: Path) -> None:
    command = ["compare", str(plain), "--test", "sign-flip", "-f", "json"]
    expected = passk(*command)
    processors = sorted(os.sched_getaffinity(0))[:1]
    result = subprocess.run(
        [sys.executable, "-m", "passk_cli", *command],
        env=os.environ | MACHINE, capture_output=True, check=False,
        preexec_fn=lambda: os.sched_setaffinity(0, processors),
    )  # fmt: skip
    assert (result.returncode, result.stdout.decode()) == (0, expected.out), result.stderr
