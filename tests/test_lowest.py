"""passk with the lowest version of each dependency that pyproject.toml allows."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.conftest import ROOT, SAMPLES
from tests.lowest_versions import lowest_versions

TAU, AGENTS = SAMPLES / "tau_airline.csv", SAMPLES / "agents.jsonl"
COMMANDS = [
    ["estimate", AGENTS, "-k", "1", "-q"],
    ["compare", AGENTS, "-m", "pass@1", "-q"],
    ["gate", TAU, "--min", "pass@1=0.3", "--rehearse", "-q"],
    ["curve", TAU, "--chart", "curve.png", "-q"],
    ["convert", TAU, "-o", "rows.parquet", "-q"],
    ["report", TAU, "-o", "page.html", "-q"],
    ["--help"],
]


@pytest.mark.long
@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the lowest numpy has no wheel for it")
def test_commands_run_with_the_lowest_versions(tmp_path: Path) -> None:
    """They print what they print here, and nothing on stderr; half a minute."""
    folder, lines = tmp_path / "venv", lowest_versions((ROOT / "pyproject.toml").read_text())
    venv.create(folder)
    lowest = folder / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(lowest), "install", "--quiet",
         "--disable-pip-version-check", "--no-compile", *lines],
        check=True,
    )  # fmt: skip
    for command in COMMANDS:
        oldest, newest = (
            _run(python, command, tmp_path) for python in (str(lowest), sys.executable)
        )
        assert oldest == newest, command


def _run(python: str, words: list[object], folder: Path) -> str:
    """What a command prints, with nothing on stderr."""
    result = subprocess.run(
        [python, "-m", "passk_cli", *map(str, words)], cwd=folder, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "default"}, check=False,
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, ""), (words, result.stderr)
    return result.stdout
