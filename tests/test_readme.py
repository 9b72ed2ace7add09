"""The README: short, narrow, complete; tests/test_docs.py runs its sessions."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import passk_cli
from docs import sessions
from passk_cli.cli.app import build_app
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from passk_cli.files.formats import FORMATS
from passk_cli.files.sources import remote
from passk_cli.files.spark import session
from tests.conftest import ROOT, Passk, assert_same_text, records

README = (ROOT / "README.md").read_text()


def test_it_is_short_and_narrow() -> None:
    assert len(README.splitlines()) <= 150
    blocks = re.findall(r"^```(?:console|pycon)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 3
    # A terminal wraps the answer, which is a sentence above an empty line, but not a table.
    lines = re.sub(r"^[^\n]+\n\n", "\n", "\n".join(blocks), flags=re.MULTILINE).splitlines()
    assert max(map(len, lines)) <= 100


def test_a_session_in_a_shell(tmp_path: Path) -> None:
    """tests/test_docs.py runs all of them inside this process; one of them as users do."""
    block = re.search(r"^```console\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    assert block is not None
    session = next(sessions.sessions("console", block[1]))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    result = subprocess.run(
        session.shown[2:], shell=True, cwd=ROOT,
        env={**os.environ, "PATH": path, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert_same_text(result.stdout.rstrip("\n"), session.output)


def test_every_command_is_documented() -> None:
    assert [command.name for command in build_app().registered_commands] == [
        *COMMANDS,
        "help",
        "demo",
    ]
    for name in COMMANDS:
        assert f"passk {name}" in README
        assert len(load_command(name).examples) == 3


def test_it_is_installed_from_a_clone() -> None:
    """No package index has passk; the answer stands first, and below it how to run it."""
    for page in [*sessions.pages(), ROOT / "CONTRIBUTING.md"]:
        assert not re.search(r"(?:pip install|uvx|pipx run) '?passk", page.read_text()), page
    answered, install, *_ = re.split(r"^\$ passk |^## ", README, flags=re.MULTILINE)[1:]
    assert answered.startswith("compare sample_data/")
    for text in (install, (ROOT / "docs" / "index.md").read_text()):
        assert "&& .venv/bin/pip install -q . && . .venv/bin/activate && " in text


def test_the_line_that_installs_runs_the_first_command() -> None:
    line = re.search(r"^python3 .*activate && (passk .*)$", README, re.MULTILINE)
    first = re.search(r"^\$ (passk (?:.*\\\n)*.*)$", README, re.MULTILINE)
    assert line is not None
    assert first is not None
    assert shlex.split(line[1]) == shlex.split(first[1].replace("\\\n", " "))


def test_a_picture_in_both_themes_stands_above_the_first_command() -> None:
    start = README.partition("```")[0]
    for theme in ("light", "dark"):
        assert f'="docs/images/leaderboard-{theme}.svg"' in start


def test_the_files_that_it_shows_contain_the_same_results(tmp_path: Path) -> None:
    box = r'^\*\*`([\w.]+)`\*\*: [^\n]*\n\n```\w+ title="([\w.]+)"\n(.*?)^```$'
    boxes = re.findall(box, README, re.MULTILINE | re.DOTALL)
    assert [caption for caption, _, _ in boxes] == ["attempts.jsonl", "tasks.jsonl", "counts.csv"]
    frames = []
    for caption, title, text in boxes:
        assert caption == title
        (tmp_path / title).write_text(text)
        findings = passk_cli.estimate(tmp_path / title, metrics="pass@1,pass@2,pass^2")
        frames.append(findings.frame[["model", "metric", "estimate", "tasks"]])
    assert len(frames[0]) == 3
    assert all(frame.equals(frames[0]) for frame in frames)


def test_remedies_name_the_packages_of_their_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for extra, remedy in (("remote", remote.INSTALL_COMMAND), ("spark", session.INSTALL_COMMAND)):
        packages = [re.split("[><=]", requirement)[0] for requirement in extras[extra]]
        assert sorted(shlex.split(remedy)) == sorted(["pip", "install", *packages])


def test_the_number_of_formats_is_that_of_the_registry(passk: Passk) -> None:
    """One number: of README, of the answer of `formats`, and of its rows."""
    read = sum(form.kind == "harness" for form in FORMATS.values())
    assert f"[{read} formats of evaluation harnesses]" in README
    assert passk("formats").out.startswith(f"passk reads {read} formats of evaluation harnesses")
    rows = records(passk("formats", "-f", "csv").out)
    assert sum(row["kind"] == "harness" for row in rows) == read


def test_its_tools_have_the_versions_of_their_page() -> None:
    page = (ROOT / "docs" / "other-tools.md").read_text()
    table = README.partition("## Other tools")[2].partition("## ")[0]
    tools = re.findall(r"^\| ([\w -]+?) \(?([\d.]+|main)\)? \|", table, re.MULTILINE)
    assert len(tools) == 4
    for tool, version in tools:
        assert f"| {tool} | {version}" in page, tool


def test_ci_runs_the_command_of_the_readme() -> None:
    command = re.search(r"^python3 -m venv .venv && .*pytest$", README, re.MULTILINE)
    assert command is not None
    assert command[0] in (ROOT / ".ci" / "run").read_text()
