"""The action's own steps, run by bash as a runner would, with `gh` replaced by what records it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from passk_cli.render.markup import markdown
from passk_cli.render.style import Style
from passk_cli.report.model import Check, Report, Table
from tests.conftest import ROOT, Passk

ACTION = yaml.safe_load((ROOT / "action" / "action.yml").read_text())
RULES = """
[[suite]]
name = "airline"
runs = "new.csv"
baseline = "old.csv"
max-drop = {"pass@1" = 0.05}
"""
Steps = Callable[..., tuple[int, dict[str, str], list[list[str]], str]]


@pytest.fixture
def steps(tmp_path: Path) -> Steps:
    """Runs the steps after the first; exit code, outputs, calls of gh, what was printed."""
    programs, temporary, home = tmp_path / "bin", tmp_path / "runner", tmp_path / "home"
    for folder in (programs, temporary, home):
        folder.mkdir()
    (programs / "passk").write_text(f'#!/bin/sh\nexec {sys.executable} -m passk_cli "$@"\n')
    (programs / "gh").write_text(
        f'#!/bin/sh\ncd {tmp_path}\nprintf "%s\\n" "$@" "" >> gh\n[ ! -e forbidden ]\n'
    )
    for program in programs.iterdir():
        program.chmod(0o755)

    def run(event: str = "pull_request", **inputs: str) -> Any:
        given = {name: entry["default"] for name, entry in ACTION["inputs"].items()} | inputs
        values = {f"inputs.{name}": value for name, value in given.items()} | {
            "github.token": "token", "github.event.pull_request.number": "17",
        }  # fmt: skip
        output, printed, code = tmp_path / "output", "", 0
        environment = {
            "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(home), "PYTHONPATH": str(ROOT),
            "RUNNER_TEMP": str(temporary), "GITHUB_OUTPUT": str(output), "GITHUB_ACTIONS": "true",
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"), "GITHUB_REPOSITORY": "team/agent",
        }  # fmt: skip
        outputs: dict[str, str] = {}
        for step in ACTION["runs"]["steps"][1:]:
            condition = "inputs.comment == 'true' && github.event_name == 'pull_request'"
            if "if" in step:
                assert condition in step["if"]
                if given["comment"] != "true" or event != "pull_request":
                    continue
            own = dict(step.get("env", {}))
            for name, key in product(own, values):
                own[name] = own[name].replace(f"${{{{ {key} }}}}", values[key])
            assert step["shell"] == "bash"
            assert "${{" not in step["run"]  # What is put into a script can end it.
            folder = given["working-directory"] if "working-directory" in step else "."
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=tmp_path / folder, env=environment | own, capture_output=True, text=True,
            )  # fmt: skip
            printed, code = printed + done.stdout + done.stderr, done.returncode
            if output.exists():
                outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
                values |= {f"steps.gate.outputs.{name}": v for name, v in outputs.items()}
            if code:
                break
        calls = tmp_path / "gh"
        text = calls.read_text() if calls.exists() else ""
        return code, outputs, [call.splitlines() for call in text.split("\n\n") if call], printed

    return run


def write_runs(folder: Path, passes: int) -> None:
    (folder / "passk.toml").write_text(RULES)
    for name, c in (("old", 9), ("new", passes)):
        rows = "".join(f"t{i},10,{c}\n" for i in range(30))
        (folder / f"{name}.csv").write_text("task,n,c\n" + rows)


def test_a_gate_that_fails(steps: Steps, tmp_path: Path) -> None:
    write_runs(tmp_path, 3)
    code, outputs, calls, printed = steps()
    assert (code, outputs["verdict"]) == (1, "fail")
    (call,) = calls
    assert call[:-1] == [
        "pr", "comment", "17", "--repo", "team/agent", "--edit-last", "--create-if-none",
        "--body-file",
    ]  # fmt: skip
    comment = Path(call[-1]).read_text()
    assert comment.startswith("FAIL: ")
    assert "<details><summary>Tasks that changed</summary>\n\n- " in comment
    assert "9 of 10 passed, now 3 of 10 (regressed, p " in comment
    assert (tmp_path / "summary").read_text() == comment
    assert "::error title=passk" in printed
    assert json.loads(Path(outputs["json"]).read_text())["result"] == "fail"
    assert Path(outputs["junit"]).read_text().startswith("<?xml")


def test_a_gate_that_passes_and_other_events(steps: Steps, tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    write_runs(tmp_path / "evals", 9)
    code, outputs, calls, _ = steps(event="push", **{"working-directory": "evals"})
    assert (code, outputs["verdict"], calls) == (0, "pass", [])
    (tmp_path / "evals" / "passk.toml").rename(tmp_path / "evals" / "my rules.toml")
    (tmp_path / "forbidden").touch()
    code, outputs, calls, printed = steps(
        **{"working-directory": "evals", "rules": "my rules.toml"}
    )
    assert (code, outputs["verdict"], len(calls)) == (0, "pass", 1)
    assert "::warning title=passk::no comment was written" in printed


@pytest.mark.parametrize(("file", "code"), [("new.csv", 3), ("passk.toml", 2)])
def test_bad_data_and_no_rules_are_said_in_the_comment(
    steps: Steps, tmp_path: Path, file: str, code: int
) -> None:
    write_runs(tmp_path, 9)
    (tmp_path / file).unlink()
    done, outputs, calls, _ = steps()
    assert (done, outputs["verdict"]) == (code, "error")
    assert Path(calls[0][-1]).read_text().startswith("**ERROR**: ")


def test_what_is_installed() -> None:
    """The tree that the action is part of, or the version that is asked for."""
    run = ACTION["runs"]["steps"][0]["run"].replace("python -m pip", "echo")
    for version, wanted in (("", "/a/action/.."), ("1.2", "passk-cli==1.2")):
        done = subprocess.run(
            ["bash", "-c", run], env={"VERSION": version, "TREE": "/a/action/.."},
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.stdout == f"install --quiet {wanted}\n"


def test_gitlab_template(tmp_path: Path, passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    header, jobs = yaml.safe_load_all((ROOT / "action" / "gitlab.yml").read_text())
    assert set(header["spec"]["inputs"]) == {"rules", "requirement"}
    job = jobs[".passk"]
    write_runs(tmp_path, 3)
    monkeypatch.chdir(tmp_path)
    (script,) = job["script"]
    assert script.startswith("passk gate ${PASSK_RULES:+")
    assert passk("gate", *script.split('"} ')[1].split()).code == 1
    reports = job["artifacts"]["reports"]
    assert (tmp_path / reports["junit"]).read_text().startswith("<?xml")
    assert json.loads((tmp_path / reports["codequality"]).read_text())


def test_a_comment_has_room_for_any_number_of_tasks() -> None:
    """GitHub refuses a comment of more than 65,536 characters."""
    lines = tuple(f"task_{i}: 9 of 10 passed, now 3 of 10" for i in range(5_000))
    check = Check("agent", "rule", "24 of 60", "fail")
    text = markdown(Report((), Table((), ()), checks=(check,), listed=lines), Style())
    assert len(text) < 40_000
    kept = text.count("\n- task")
    assert f"- {5_000 - kept:,} more\n" in text
