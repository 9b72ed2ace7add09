"""The README: short, narrow, complete; tests/test_docs.py runs its sessions."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from docs import sessions
from passk_cli.cli.app import build
from passk_cli.commands import COMMANDS, command_of
from passk_cli.files.formats import FORMATS
from tests.conftest import ROOT, assert_same_text

README = (ROOT / "README.md").read_text()


def test_it_is_short_and_narrow() -> None:
    assert len(README.splitlines()) <= 200
    blocks = re.findall(r"^```(?:console|python)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 6
    assert max(len(line) for block in blocks for line in block.splitlines()) <= 100


def test_a_session_in_a_shell(tmp_path: Path) -> None:
    """tests/test_docs.py runs all of them inside this process; one of them as users do."""
    block = re.search(r"^```console\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    assert block is not None
    session = next(sessions.sessions("console", block[1]))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        session.shown[2:], shell=True, cwd=ROOT,
        env={**os.environ, "PATH": path, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert_same_text(done.stdout.rstrip("\n"), session.output)


def test_every_command_is_documented() -> None:
    registered = build().registered_commands
    assert len(registered) == len(COMMANDS)
    for command in registered:
        assert command.callback is not None
        assert f"passk {command.callback.__name__}" in README
        assert len(command_of(command.callback.__name__).examples) == 2


def test_the_number_of_formats_is_that_of_the_registry() -> None:
    read = [f for f in FORMATS.values() if not f.generic and not f.rule.startswith("refused")]
    assert f"[{len(read)} formats of evaluation harnesses]" in README


def test_ci_runs_the_command_of_the_readme() -> None:
    command = re.search(r"^python3 -m venv .venv && .*pytest$", README, re.MULTILINE)
    assert command is not None
    assert command[0] in (ROOT / ".ci" / "run").read_text()
