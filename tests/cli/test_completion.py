"""Shell completion: the scripts that passk prints, in the shells themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# Shell → how it completes "passk est" after its script, and prints the result.
ASKS = {
    "bash": "COMP_WORDS=(passk est) COMP_CWORD=1; _passk_completion passk passk; "
    'echo "${COMPREPLY[@]}"',
    "zsh": "print -r -- ${functions[_passk_completion]:+estimate}",
    "fish": 'complete -C "passk est"',
}
BEFORE = {"zsh": "autoload -Uz compinit && compinit -u -D\n"}
PARSE = {"bash": ["-n"], "zsh": ["-n"], "fish": ["--no-execute"]}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home folder, which contains the command passk."""
    program = tmp_path / "bin" / "passk"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport sys; sys.argv[0] = 'passk'\n"
        "from passk_cli.__main__ import main; main()\n"
    )
    program.chmod(0o755)
    return tmp_path


def _run(words: list[str], home: Path, **more: str) -> str:
    environment = {"HOME": str(home), "PATH": f"{home / 'bin'}:{os.environ['PATH']}", **more}
    result = subprocess.run(words, env=environment, cwd=home, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    return result.stdout


@pytest.mark.long
@pytest.mark.parametrize("shell", ASKS)
def test_a_shell_completes_with_the_script_that_passk_prints(shell: str, home: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = home / "script"
    script.write_text(_run(["passk"], home, _PASSK_COMPLETE=f"source_{shell}"))
    _run([shell, *PARSE[shell], str(script)], home)
    lines = f"{BEFORE.get(shell, '')}source {script}\n{ASKS[shell]}\n"
    assert _run([shell, "-c", lines], home).split()[:1] == ["estimate"]


@pytest.mark.long
@pytest.mark.parametrize("shell", ASKS)
def test_one_command_installs_completion(shell: str, home: Path) -> None:
    """passk finds out which shell has started it."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    text = _run([shell, "-c", "passk --install-completion\ntrue"], home)
    assert f"{shell} completion installed in {home}/" in text
    files = [path.read_text() for path in home.rglob("*") if path.is_file()]
    assert any(f"complete_{shell}" in file for file in files)
