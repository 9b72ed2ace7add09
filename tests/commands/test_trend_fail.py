"""A trend that fails: changes for the worse, until they are acknowledged or made up for."""

from __future__ import annotations

import json
import pickle
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import passk_cli
from passk_cli.files.history import append_run_rows
from tests.commands.test_history import NIGHTS, TAU, columns
from tests.conftest import Passk, long_cases


def history(to: Path, levels: Sequence[float], model: str = "m") -> Path:
    """Runs of 200 tasks × 4 attempts at these pass rates, without any luck."""
    for day, level in enumerate(levels, 1):
        passes = np.diff(np.linspace(0, 800 * level, 201).round()).astype(int)
        append_run_rows(
            str(to), columns(f"r{day}", np.roll(passes, day), n=4, day=day, model=model)
        )
    return to


def test_a_change_for_the_worse_fails_until_it_is_acknowledged(passk: Passk) -> None:
    result = passk("trend", NIGHTS, "--fail")
    assert result.code == 1
    start = "FAIL: pass@1 of agent is lower by 0.097 since 17bd287 (2026-10-30). Otherwise runs"
    assert result.out.startswith(start)
    (run,) = re.findall("; --acknowledge (.*) accepts the new level", result.err)
    accepted = passk("trend", NIGHTS, "--fail", "--acknowledge", run)
    assert accepted.code == 0
    assert accepted.out.startswith(
        "PASS: pass@1 of agent has not become significantly worse since 17bd287. "
    )
    assert passk("trend", NIGHTS).code == 0
    early = passk("trend", NIGHTS, "--fail", "--where", "\"at\" < '2026-10-29'")
    assert early.code == 0
    assert early.out.startswith("PASS: pass@1 of agent has not become significantly worse. ")
    assert "runs show no change of pass@1 of agent, but" in early.out


@pytest.mark.parametrize(
    ("levels", "code"),
    [
        # A rise; a fall that was made up for, and one of which a third was.
        ([0.8] * 8 + [0.6] * 8 + [0.79] * 8, 0), ([0.8] * 8 + [0.5] * 8 + [0.6] * 8, 1),
        *long_cases(([0.8] * 8 + [0.6] * 8, 1), ([0.6] * 8 + [0.8] * 8, 0), ([0.8] * 3, 0)),
    ],
)  # fmt: skip
def test_what_is_made_up_for_does_not_fail(
    passk: Passk, tmp_path: Path, levels: list[float], code: int
) -> None:
    to = history(tmp_path / "h.parquet", levels)
    result = passk("trend", to, "--fail", "-f", "json")
    document = json.loads(result.out)
    assert (result.code, document["exit"]) == (code, code)
    assert document["result"] == ("fail" if code else "pass")
    if len(levels) == 3:
        assert document["answer"].startswith("PASS: 3 runs of m are too few to show a change of")


def test_formats_of_pipelines_have_the_verdict_of_a_trend(passk: Passk, workdir: Path) -> None:
    suite = ElementTree.fromstring(passk("trend", NIGHTS, "--fail", "-f", "junit").out)
    (case,) = suite.findall("testcase")
    assert (case.get("name"), case.get("classname")) == ("no fall of pass@1", "agent")
    assert suite.get("failures") == "1"
    github = passk("trend", NIGHTS, "--fail", "-f", "github").out
    assert github.startswith("::error title=passk%3A no fall of pass@1::fail: pass@1 of agent is")
    refused = passk("trend", NIGHTS, "-f", "junit")
    assert (
        refused.code,
        "but this report has no verdict" in refused.err,
    ) == (2, True)
    (line,) = re.findall(r"^  passk (.*)  # lets a trend fail", refused.err, re.M)
    assert passk(*line.split()).code == 1


def test_refusals(passk: Passk, tmp_path: Path) -> None:
    for words, problem in (
        (["--acknowledge", "17bd287"], "--acknowledge 17bd287 --fail  # adds --fail"),
        (["--fail", "--acknowledge", "17bd288"], "the history has no such run; did you mean 17bd"),
        (["--fail", "-m", "cost-per-success"], "no change can fail the command"),
    ):
        result = passk("trend", NIGHTS, *words)
        assert (result.code, result.out, problem in result.err) == (2, "", True), words


def test_passed_exists_on_results_of_commands_that_judge() -> None:
    failing = passk_cli.trend(NIGHTS, fail=True)
    for verdict in (failing, pickle.loads(pickle.dumps(failing))):
        assert (verdict.passed, bool(verdict)) == (False, False)
    assert passk_cli.trend(NIGHTS, fail=True, acknowledge="17bd287").passed
    assert not hasattr(passk_cli.trend(NIGHTS), "passed")
    assert not hasattr(passk_cli.estimate(TAU, "pass@1"), "passed")
    assert passk_cli.gate(TAU, minimum={"pass@1": 0.1}).passed
    assert isinstance(failing, passk_cli.Verdict)


def test_a_file_of_rules_has_a_trend(passk: Passk, workdir: Path) -> None:
    shutil.copy(TAU, "tau.csv")
    history(workdir / "h.parquet", [0.8] * 8 + [0.6] * 8)
    suite = '[[suite]]\nname = "s"\nruns = "tau.csv"\nmin = {"pass@1" = 0.2}\n[trend]\n'
    for keys, code, expected_words in (
        ('history = "h.parquet"\n', 1, "FAIL: trend: pass@1 of m is lower by 0.200 since r9"),
        ('history = "h.parquet"\nacknowledge = "r9"\n', 0, "PASS: both rules hold"),
        ('history = "lost.parquet"\n', 3, "ERROR: trend: lost.parquet: no such file"),
    ):
        Path("passk.toml").write_text(suite + keys)
        result = passk("gate", "-o", "gate.xml", "-o", "-")
        assert (result.code, result.out.startswith(expected_words)) == (code, True), result.out
        assert "no fall of pass@1" in Path("gate.xml").read_text() or code == 3
    assert passk("gate", "--first-run").code == 2
    for keys, problem in (
        ("", "passk.toml:5: trend: history is missing"),
        ('history = "h.parquet"\nacknowldge = "r9"\n',
         "passk.toml:7: trend: acknowldge: unknown key"),
        ('history = "h.parquet"\nlevel = "x"\n', "passk.toml:7: trend: level x: write a number"),
    ):  # fmt: skip
        Path("passk.toml").write_text(suite + keys)
        wrong = passk("gate", "--check")
        assert (wrong.code, problem in wrong.err) == (2, True), wrong.err


def test_a_gate_names_the_trends_that_fail_and_its_file_in_their_errors(
    passk: Passk, workdir: Path
) -> None:
    shutil.copy(TAU, "tau.csv")
    for model, level in (("a", 0.6), ("b", 0.6), ("c", 0.8)):
        history(workdir / "h.parquet", [0.8] * 8 + [level] * 8, model)
    suite = '[[suite]]\nname = "s"\nruns = "tau.csv"\nmin = {"pass@1" = 0.2}\n'
    trend = '[trend]\nhistory = "h.parquet"\n'
    Path("passk.toml").write_text(trend + suite)
    result = passk("gate", "-f", "github")
    assert (result.code, result.out.count("::error")) == (1, 2)
    expected_words = "FAIL: no fall of pass@1 fails for 2 of 3 trends: trend: a, trend: b"
    assert passk("gate").out.splitlines()[0] == expected_words
    for key, problem in (
        ("level = 0.8", "passk.toml:3: trend: level 0.8: passk trend supports"),
        ('acknowledge = "x"', "passk.toml:3: trend: acknowledge x: the history has no such run"),
    ):
        Path("passk.toml").write_text(f"{trend}{key}\n{suite}")
        wrong = passk("gate")
        assert (wrong.code, problem in wrong.err) == (2, True), wrong.err


def test_the_trend_of_a_first_night_is_not_judged(passk: Passk, workdir: Path) -> None:
    shutil.copy(TAU, "tau.csv")
    Path("passk.toml").write_text(
        '[[suite]]\nname = "s"\nruns = "tau.csv"\nmin = {"pass@1" = 0.2}\n'
        'baseline = "h.parquet:last3"\nno-regression = true\n[trend]\nhistory = "h.parquet"\n'
    )
    result = passk("gate", "--first-run")
    (row,) = (line for line in result.out.splitlines() if line.startswith("trend"))
    assert (result.code, "not judged (h.parquet: no such" in row) == (0, True)
