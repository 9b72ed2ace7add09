"""Rules of the gate about single tasks, and the flips it lists for pipelines."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import passk_cli as api
from tests.conftest import SAMPLES, Passk, Write

TAU = SAMPLES / "tau_airline.csv"
AGENTS = SAMPLES / "agents.jsonl"


@pytest.fixture
def rules(passk: Passk) -> Any:
    """rules(arguments) → exit code, and the rows of the gate."""

    def run(*arguments: object) -> tuple[int, list[dict[str, Any]]]:
        result = passk("gate", *arguments, "-f", "json", "-q")
        return result.code, json.loads(result.out)["rows"]

    return run


def test_named_tasks_must_pass_all_attempts(rules: Any) -> None:
    code, (row,) = rules(TAU, "--must-pass", "12,18")
    assert (code, row["verdict"], row["limit"]) == (0, "pass", 1.0)
    assert row["note"] == "4 passes of 4 show a rate ≥ 0.473"
    code, (row,) = rules(TAU, "--must-pass", "12", "--must-pass", "13,15")
    assert (code, row["verdict"]) == (1, "fail")
    assert row["note"] == "13 passed 2 of 4, 15 passed 2 of 4"
    assert rules(TAU, "--must-pass", "12,13", "--must-pass-rate", "0.5")[0] == 0


def test_json_has_the_exit_code_and_what_was_counted(passk: Passk) -> None:
    codes = []
    for tasks in ("12", "13", "12,nothing"):
        result = passk("gate", TAU, "--must-pass", tasks, "-f", "json", "-q")
        document = json.loads(result.out)
        assert document["exit"] == result.code
        codes.append((document["result"], result.code, document["rows"][0]["counted"]))
    assert codes == [("pass", 0, "1 of 1"), ("fail", 1, "0 of 1"), ("fail", 3, None)]


def test_a_gate_is_true_when_it_passes() -> None:
    assert api.gate(TAU, must_pass=["12"])
    assert not api.gate(TAU, must_pass=["13"])


def test_names_come_from_a_file(rules: Any, passk: Passk, write: Write) -> None:
    names = write("must.txt", "12\n\n18\n13\n")
    code, (row,) = rules(TAU, "--must-pass", names)
    assert (code, row["rule"]) == (1, "3 named tasks pass all attempts")
    names.write_text("\n")
    assert "the file contains no task" in passk("gate", TAU, "--must-pass", names).err
    names.write_bytes(b"\xff\xfe\x00")
    assert "not a text file" in passk("gate", TAU, "--must-pass", names).err


def test_a_task_that_is_not_there_cannot_be_checked(rules: Any, write: Write) -> None:
    code, (row,) = rules(TAU, "--must-pass", "12,nothing")
    assert (code, row["verdict"]) == (3, "error") or code == 1
    assert row["note"].endswith("the data has no task nothing")
    assert rules(TAU, "--must-pass", "mist.txt")[1][0]["note"].endswith(
        ", and there is no such file"
    )
    assert rules(TAU, "--must-pass", "# a")[1][0]["note"].endswith(
        "file of tasks must not contain comments"
    )
    path = write("a.csv", "model,task,n,c\nx,a,2,2\nx,b,2,2\ny,a,2,2\n")
    code, lines = rules(path, "--must-pass", "a,b")
    assert [line["verdict"] for line in lines] == ["pass", "fail"]
    assert "no attempts at b" in lines[1]["note"]


def test_a_rate_without_tasks_is_refused(passk: Passk) -> None:
    result = passk("gate", TAU, "--must-pass-rate", "0.5", "--min", "pass@1=0.1")
    assert (
        result.code,
        "--must-pass-rate: this option works only with tasks that must pass" in result.err,
    ) == (
        2,
        True,
    )


def test_every_task_has_to_reach_a_rate(rules: Any, write: Write) -> None:
    path = write("a.csv", "task,n,c\na,60,60\nb,60,59\n")
    assert [rules(path, "--min-each", rate)[1][0]["verdict"] for rate in (0.9, 0.95)] == [
        "pass", "undecided",
    ]  # fmt: skip
    path.write_text("task,n,c\na,60,60\nb,60,40\n")
    code, (row,) = rules(path, "--min-each", "0.9")
    assert (code, row["verdict"]) == (1, "fail")
    assert row["note"].startswith("b passed 40 of 60 (p < 0.0001)")
    code, (row,) = rules(TAU, "--min-each", "0.5")
    assert (code, row["verdict"]) == (0, "undecided")
    path.write_text("task,n,c\na,25,7\nb,25,6\n")
    (row,) = rules(path, "--min-each", "0.28")[1]
    assert row["counted"] == "observed at 1 of 2", "0.28 × 25 is 7, whatever its last digit"


@pytest.mark.long
def test_both_rules_can_be_rehearsed(rules: Any) -> None:
    code, rows = rules(TAU, "--must-pass", "12", "--min-each", "0.99", "--rehearse")
    assert code == 0
    assert rows[0]["false_alarm"] is not None
    assert rows[1]["false_alarm"] is not None


def test_pipelines_see_the_flips(passk: Passk) -> None:
    base = [
        "gate", AGENTS, "--baseline", "gpt-5.5", "--model", "claude-fable-5",
        "--max-drop", "pass@1=0.9",
    ]  # fmt: skip
    github = passk(*base, "-f", "github").out
    notice = next(line for line in github.splitlines() if "passk%3A flips" in line)
    assert (
        "8 of 18 tasks flipped from gpt-5.5 to claude-fable-5, 0 to passing and 8 to failing"
        in notice
    )
    assert "%0A02-lru-cache: 3 of 3 passed, now 0 of 3 (not significant" in notice
    suite = ElementTree.fromstring(passk(*base, "-f", "junit").out)
    assert "02-lru-cache: 3 of 3 passed" in str(suite.findtext("system-out"))
    assert "flipped" not in passk(*base).out


def test_a_long_name_is_cut_in_the_verdict(passk: Passk) -> None:
    result = passk("gate", TAU, "--must-pass", "9" * 5000)
    assert (result.code, len(result.out.splitlines()[0]) < 500) == (3, True)
    assert "no task 9999" in result.out


def test_named_tasks_that_were_all_lost(rules: Any, tmp_path: Path) -> None:
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("task,n,c\na,4,4\nb,4,4\n")
    new.write_text("task,n,c\nb,4,4\n")
    code, rows = rules(new, "--baseline", old, "--must-pass", "a")
    assert code == 1
    assert rows[-1]["note"].startswith("no attempts at a; 1 of 2 baseline tasks")


def test_a_failed_gate_lists_the_tasks_that_broke_first(passk: Passk, write: Write) -> None:
    """The largest loss first, then gains; of a gate that passes they are folded."""

    def run(name: str, passes: dict[int, int]) -> Path:
        rows = (f"m,t{t:02},4,{passes.get(t, 2)}\n" for t in range(30))
        return write(f"{name}.csv", "model,task,n,c\n" + "".join(rows))

    old = run("old", {0: 0, 5: 4, 9: 4, 11: 1})
    new = run("new", {0: 4, 5: 1, 9: 0, 11: 4})
    for rule, code in ((["--must-pass", "t09"], 1), (["--min", "pass@1=0.01"], 0)):
        result = passk("gate", new, "--baseline", old, *rule, "-f", "markdown")
        assert result.code == code
        names, folded = result.out.split("<details>")[0], result.out.partition("<details>")[2]
        part = names if code else folded
        tasks = re.findall(r"- (t\d\d): \d of 4 passed", part)
        assert tasks == ["t09", "t05", "t00", "t11"]
        assert ("Changes that chance explains" in folded) == (code == 0)
