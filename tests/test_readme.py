"""Every `$ …` line of the README run as written, and its output as shown."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from passk_cli.cli.app import build
from passk_cli.commands import COMMANDS, command_of
from tests.conftest import ROOT, assert_same_text

README = (ROOT / "README.md").read_text()


def sessions() -> list[tuple[str, str]]:
    """(command, output) of every console block."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output.rstrip("\n")))
    return found


@pytest.mark.parametrize(("command", "output"), sessions(), ids=[c for c, _ in sessions()])
def test_session(command: str, output: str, tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    # Without a controlling terminal, as in a pipe; notes come before the table, as on a screen.
    done = subprocess.run(
        command, shell=True, cwd=ROOT, env={**os.environ, "PATH": path, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert_same_text(done.stdout.rstrip("\n"), output)


def test_there_are_sessions() -> None:
    assert len(sessions()) >= 8


def test_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for number, block in enumerate(re.findall(r"```python\n(>>> .*?)```", README, re.DOTALL)):
        shown = block.replace("\n\n", "\n<BLANKLINE>\n")
        test = doctest.DocTestParser().get_doctest(shown, {}, "README", "README.md", 0)
        assert test.examples
        assert doctest.DocTestRunner().run(test).failed == 0, f"block {number} of Python"


def test_every_command_is_documented() -> None:
    registered = build().registered_commands
    assert len(registered) == len(COMMANDS)
    for command in registered:
        assert command.callback is not None
        assert f"passk {command.callback.__name__}" in README
        assert len(command_of(command.callback.__name__).examples) == 2


def test_ci_runs_the_command_of_the_readme() -> None:
    command = re.search(r"^python3 -m venv .venv && .*pytest$", README, re.MULTILINE)
    assert command is not None
    assert command[0] in (ROOT / ".ci" / "run").read_text()
