"""The action's own steps, run by bash as a runner would, with `gh` replaced by what records it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from shutil import which
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from passk_cli.diagnostic import WARNING, Diagnostic
from passk_cli.render.markup import markdown
from passk_cli.render.style import Style
from passk_cli.report.data_types import (
    COMMENT,
    FULL,
    AnswerSentence,
    ChangedTaskSentences,
    Column,
    GateCheck,
    Report,
    Table,
)
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
    # As the real one: a list of comments has a line for each that the query selects.
    (programs / "gh").write_text(
        f'#!/bin/sh\ncd {tmp_path}\nprintf "%s\\n" "$@" "" >> gh\n'
        '[ "$2" != view ] || cat comments\n[ ! -e forbidden ]\n'
    )
    (tmp_path / "comments").touch()
    for program in programs.iterdir():
        program.chmod(0o755)

    def run(event: str = "pull_request", **inputs: str) -> Any:
        all_inputs = {name: entry["default"] for name, entry in ACTION["inputs"].items()} | inputs
        values = {f"inputs.{name}": value for name, value in all_inputs.items()} | {
            "github.token": "token", "github.event.pull_request.number": "17",
        }  # fmt: skip
        output, printed, code = tmp_path / "output", "", 0
        environment = {
            "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(home), "PYTHONPATH": str(ROOT),
            "RUNNER_TEMP": str(temporary), "GITHUB_OUTPUT": str(output), "GITHUB_ACTIONS": "true",
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"), "GITHUB_REPOSITORY": "team/agent",
            "GITHUB_WORKFLOW": "Nightly --> gate", "GITHUB_JOB": "evaluate",
        }  # fmt: skip
        outputs: dict[str, str] = {}
        for step in ACTION["runs"]["steps"][1:]:
            condition = " && inputs.comment == 'true' && github.event_name == 'pull_request'"
            # A failed installation does not skip a step.
            assert step["if"].startswith("${{ !cancelled()")
            if condition in step["if"] and (
                all_inputs["comment"] != "true" or event != "pull_request"
            ):
                continue
            step_environment = dict(step.get("env", {}))
            for name, key in product(step_environment, values):
                step_environment[name] = step_environment[name].replace(
                    f"${{{{ {key} }}}}", values[key]
                )
            assert step["shell"] == "bash"
            assert "${{" not in step["run"]  # What is put into a script can end it.
            folder = all_inputs["working-directory"] if "working-directory" in step else "."
            result = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=tmp_path / folder, env=environment | step_environment, capture_output=True,
                text=True,
            )  # fmt: skip
            printed, code = printed + result.stdout + result.stderr, result.returncode
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
    find, create = calls
    assert find[:6] == ["pr", "view", "17", "--repo", "team/agent", "--json"]
    assert create[:-1] == ["pr", "comment", "17", "--repo", "team/agent", "--body-file"]
    marker, comment = Path(create[-1]).read_text().split("\n", 1)
    assert marker == "<!-- passk: Nightly -> gate / evaluate -->"
    assert comment.startswith("**FAIL:** ")
    visible, _, folded = comment.partition("<details>")
    assert "\n- airline: 30 of 30 tasks flipped from old.csv to new, " in visible
    assert "\n  - t0: 9 of 10 passed, now 3 of 10 (regressed, p " in visible
    assert "every baseline task" in folded
    assert "every baseline task" not in visible
    assert (tmp_path / "summary").read_text() == comment
    assert "::error title=passk" in printed
    assert json.loads(Path(outputs["json"]).read_text())["result"] == "fail"
    assert Path(outputs["junit"]).read_text().startswith("<?xml")


@pytest.mark.long
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
def test_the_comment_reports_bad_data_and_missing_rules(
    steps: Steps, tmp_path: Path, file: str, code: int
) -> None:
    write_runs(tmp_path, 9)
    (tmp_path / file).unlink()
    result, outputs, calls, _ = steps()
    assert (result, outputs["verdict"]) == (code, "error")
    assert "\n**ERROR:** " in Path(calls[-1][-1]).read_text()


def test_outputs_exist_if_the_installation_failed(steps: Steps, tmp_path: Path) -> None:
    (tmp_path / "bin" / "passk").write_text("#!/bin/sh\nexit 127\n")
    code, outputs, calls, _ = steps()
    assert (code, outputs["verdict"]) == (127, "error")
    comment = Path(calls[-1][-1]).read_text()
    assert comment.endswith("\n**ERROR:** the gate did not run; see its log\n")
    assert json.loads(Path(outputs["json"]).read_text())["result"] == "fail"
    suite = ElementTree.parse(outputs["junit"]).getroot()[0]
    assert suite.get("errors") == "1"


def test_the_page_of_gate_explains_inputs_and_outputs() -> None:
    page = (ROOT / "docs" / "commands" / "gate.md").read_text()
    for kind in ("inputs", "outputs"):
        for name, entry in ACTION[kind].items():
            assert f"| `{name}` | {entry['description']} |" in page


def test_the_action_uses_no_other_action() -> None:
    """So nothing that it runs can change without a commit to it."""
    assert ACTION["runs"]["using"] == "composite"
    assert all("uses" not in step for step in ACTION["runs"]["steps"])


def test_rules_that_lead_out_of_their_folder_need_an_input(steps: Steps, tmp_path: Path) -> None:
    write_runs(tmp_path, 9)
    (tmp_path / "ci").mkdir()
    rules = RULES.replace("new.csv", "../new.csv").replace("old.csv", "../old.csv")
    (tmp_path / "ci" / "passk.toml").write_text(rules)
    code, outputs, _, printed = steps(event="push", rules="ci/passk.toml")
    assert (code, outputs["verdict"], "--trust-rules" in printed) == (2, "error", True)
    trusting = {"rules": "ci/passk.toml", "trust-rules": "true"}
    code, outputs, *_ = steps(event="push", **trusting)
    assert (code, outputs["verdict"]) == (0, "pass")


def test_the_comment_of_this_job_is_renewed(steps: Steps, tmp_path: Path) -> None:
    """Whatever else the same account has written since, and whoever has copied its marker."""
    write_runs(tmp_path, 9)
    address = "https://github.com/team/agent/pull/17#issuecomment-4711"
    (tmp_path / "comments").write_text(f"{address}\n{address[:-1]}2\n")
    _, _, (find, edit), _ = steps(name="smoke")
    assert edit[:4] == ["api", "-X", "PATCH", "repos/team/agent/issues/comments/4711"]
    assert edit[4] == "-F"
    body = Path(edit[5].removeprefix("body=@")).read_text()
    assert body.startswith("<!-- passk: smoke -->\n**PASS:** ")
    program = find[find.index("--jq") + 1]
    comments = [
        {"body": body, "viewerDidAuthor": False, "url": "copied"},
        {"body": "another workflow's", "viewerDidAuthor": True, "url": "other"},
        {"body": body.replace("smoke", "smoke and more", 1), "viewerDidAuthor": True, "url": "x"},
        {"body": body.replace("\n", "\r\n"), "viewerDidAuthor": True, "url": address},
    ]
    if jq := which("jq"):
        process = subprocess.run(
            [jq, "-r", program], input=json.dumps({"comments": comments}), text=True,
            capture_output=True, env={"MARKER": "<!-- passk: smoke -->"},
        )  # fmt: skip
        assert process.stdout == f"{address}\n", process.stderr


def test_the_action_installs_the_tree_that_it_is_part_of() -> None:
    """Never by a name in a package index, which somebody else may hold."""
    step = ACTION["runs"]["steps"][0]
    assert step["env"] == {"TREE": "${{ github.action_path }}/.."}
    assert "version" not in ACTION["inputs"]
    run = step["run"].replace("python -m pip", "echo")
    result = subprocess.run(
        ["bash", "-c", run], env={"TREE": "/a/action/.."}, capture_output=True, text=True
    )
    assert result.stdout == "install --quiet /a/action/..\n"


def test_gitlab_template(tmp_path: Path, passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    header, jobs = yaml.safe_load_all((ROOT / "action" / "gitlab.yml").read_text())
    assert set(header["spec"]["inputs"]) == {"rules", "trust-rules", "requirement"}
    job = jobs[".passk"]
    write_runs(tmp_path, 3)
    monkeypatch.chdir(tmp_path)
    trust, script = job["script"]
    for value, option in (("false", ""), ("true", "--trust-rules")):
        line = f"PASSK_TRUST_RULES={value}; {trust}; echo ${{PASSK_TRUST_RULES:+--trust-rules}}"
        assert subprocess.check_output(["sh", "-c", line], text=True).strip() == option
    assert script.startswith("passk gate ${PASSK_RULES:+")
    assert passk("gate", *script.split("--trust-rules} ")[1].split()).code == 1
    reports = job["artifacts"]["reports"]
    assert (tmp_path / reports["junit"]).read_text().startswith("<?xml")
    assert json.loads((tmp_path / reports["codequality"]).read_text())


def test_a_comment_has_room_for_any_number_of_tasks() -> None:
    """GitHub refuses a comment of more than 65,536 characters."""
    lines = tuple(f"task_{i}: 9 of 10 passed, now 3 of 10" for i in range(5_000))
    rules = Table((Column("rule"),), tuple((line,) for line in lines), visibility=FULL)
    warning = Diagnostic("few", WARNING, "warned")
    report = Report(
        (rules, replace(rules, rows=rules.rows[:1], visibility=COMMENT)),
        answer=(AnswerSentence("fails", "FAIL: it fell", {}),), checks=(GateCheck("agent", "rule",
        "fail"),),
        make_changed_tasks=lambda: (ChangedTaskSentences("tasks flipped", lines, lines),),
        messages=(warning,) * 5_000,
    )  # fmt: skip
    text = markdown(report, Style())
    assert len(text) < 50_000
    for part, start in zip(text.split("</details>"), ("| task", "  - task"), strict=False):
        folded = part.partition("<details>")[2]
        shown_lines = folded.count(f"\n{start}")
        assert f"\n{5_000 - shown_lines:,} more lines" in folded
