"""What is chosen of the data in every command: names that count as others, tasks kept or left."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import passk_cli
from passk_cli.inference.random_streams import named_generator
from tests.conftest import Passk

pytestmark = pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")


def rows(model: str, seed: int, tasks: int = 40, n: int = 4, **more: Any) -> pd.DataFrame:
    rates = named_generator(1, "chosen tasks").beta(1, 1, tasks)
    passed = named_generator(seed, "chosen run").random((tasks, n)) < rates[:, None]
    return pd.DataFrame([
        {"model": model, "task": f"t{t}", "attempt": a, "passed": bool(passed[t, a]), **more}
        for t in range(tasks)
        for a in range(n)
    ])  # fmt: skip


def said(findings: passk_cli.Findings) -> dict[str, str]:
    return {message.name: message.text for message in findings.report.messages}


@pytest.fixture
def renamed(tmp_path: Path) -> Path:
    """A history in which the model has a new name since the last night."""
    for night, name in enumerate(("agent-v1", "agent-v1", "agent-v2"), 1):
        passk_cli.record(
            rows(name, night), to=tmp_path / "h.parquet", at=f"r{night}", date=f"2026-01-0{night}"
        )
    rows("agent-v2", 9).to_json(tmp_path / "new.jsonl", orient="records", lines=True)
    return tmp_path


def test_a_model_that_was_renamed_is_one_with_an_alias(passk: Passk, renamed: Path) -> None:
    base = f"{renamed}/h.parquet:last3"
    rule = ["--max-drop", "pass@1=0.3"]
    failed = passk("gate", renamed / "new.jsonl", "--baseline", base, *rule)
    assert failed.code == 1
    assert "agent-v1 has no attempts at 40 of the 40 baseline tasks" in failed.out
    remedy = "--alias agent-v1=agent-v2 counts both as one model, if it was renamed"
    finding = "agent-v1 has no attempts, but agent-v2 has the same tasks and similar pass rates"
    assert f"{finding}; {remedy}" in failed.err
    passed = passk(
        "gate", renamed / "new.jsonl", "--baseline", base, *rule, "--alias", "agent-v1=agent-v2"
    )
    assert passed.code == 0, passed.out
    assert "the last 3 runs of its history" in passed.err
    (renamed / "passk.toml").write_text(
        'aliases = {agent-v1 = "agent-v2"}\n[[suite]]\nname = "s"\nruns = "new.jsonl"\n'
        'baseline = "h.parquet:last3"\nmax-drop = {"pass@1" = 0.3}\n'
    )
    assert passk("gate", "--rules", renamed / "passk.toml").code == 0
    first = passk_cli.gate(
        renamed / "new.jsonl", baseline=base, max_drop="pass@1=0.3",
        alias={"agent-v1": "agent-v2"},
    )  # fmt: skip
    assert first.report.checks[-1].verdict in ("pass", "undecided")


def test_two_spellings_are_pooled_and_what_repeats_is_refused(tmp_path: Path) -> None:
    both = pd.concat([rows("org/a", 1), rows("org__a", 2).assign(attempt=lambda f: f.attempt + 4)])
    remedy = 'alias={"org__a": "org/a"}, duplicates="keep" counts both as one'
    assert remedy in said(passk_cli.estimate(both))["similar-names"]
    # The same passes at every task may be the same attempts.
    copied = pd.concat([rows("org/a", 1), rows("org__a", 1)])
    assert 'duplicates="first"' in said(passk_cli.estimate(copied))["similar-names"]
    pooled = passk_cli.estimate(both, metrics="pass@1", alias={"org__a": "org/a"})
    assert "org__a counts as org/a" in said(pooled)["aliased-models"]
    renamed = both.replace({"model": {"org__a": "org/a"}})
    assert pooled.frame.equals(passk_cli.estimate(renamed, metrics="pass@1").frame)
    assert pooled.report.signature["alias"] == "org__a=org/a"
    twice = pd.concat([rows("org/a", 1), rows("org__a", 1)])
    with pytest.raises(passk_cli.DataError, match="t0"):
        passk_cli.estimate(twice, alias={"org__a": "org/a"})
    frames = {"x": rows("", 1).drop(columns="model"), "y": rows("", 2).drop(columns="model")}
    named = passk_cli.compare(frames, metrics="pass@1", alias={"y": "b"}).frame
    assert {*named.model, *named.against} == {"x", "b"}


def test_tasks_are_kept_and_left_out_in_the_run_and_its_baseline(
    passk: Passk, tmp_path: Path
) -> None:
    run, base = rows("a", 1, difficulty=1), rows("a", 2, difficulty=1)
    less = passk_cli.gate(run, baseline=base, max_drop="pass@1=0.5", exclude_tasks=["t1", "t2"])
    remaining = ~run.task.isin(["t1", "t2"])
    same = passk_cli.gate(run[remaining], baseline=base[remaining], max_drop="pass@1=0.5")
    assert less.frame.equals(same.frame)
    assert "2 tasks left out" in less.report.context
    assert said(less)["excluded-tasks"].endswith("2 tasks are left out: t1, t2")
    (tmp_path / "names.txt").write_text("t1\nt2\nt3\n")
    run.to_json(tmp_path / "run.jsonl", orient="records", lines=True)
    only = passk("estimate", tmp_path / "run.jsonl", "--only-task", tmp_path / "names.txt")
    assert "3 tasks × 4 attempts" in only.out
    assert "3 tasks chosen" in only.out
    page = tmp_path / "page.html"
    result = passk("report", tmp_path / "run.jsonl", "--exclude-task", "t1", "--board", "-o", page)
    assert result.code == 0, result.err
    assert "1 task left out" in page.read_text()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"alias": {"b": "a"}}, "no such model"),
        ({"exclude_tasks": "t99"}, "no such task"),
        ({"only_tasks": ["t1", "t99"]}, "no such task"),
        ({"alias": "x"}, "write"),
    ],
)
def test_a_name_that_is_nowhere_is_refused(options: dict[str, Any], problem: str) -> None:
    for function in (passk_cli.estimate, passk_cli.read):
        with pytest.raises(passk_cli.ParameterError, match=problem):
            function(rows("a", 1), **options)


@pytest.mark.parametrize("form", ["b.html", "b.md", "p.html", "markdown", "latex"])
def test_what_is_published_carries_its_warnings_and_policies(
    passk: Passk, tmp_path: Path, form: str
) -> None:
    data = pd.concat([rows("a", 1), rows("b", 2)])
    data = data.astype({"passed": object})
    data.loc[(data.model == "b") & (data.attempt == 0), "passed"] = None
    data.to_json(tmp_path / "run.jsonl", orient="records", lines=True)
    words = [tmp_path / "run.jsonl", "--missing", "fail", "--exclude-task", "t1", "-m", "pass@1"]
    if "." in form:
        board = ["--board"] * form.startswith("b")
        assert passk("report", *words, *board, "-o", tmp_path / form).code == 0
        text = (tmp_path / form).read_text()
    else:
        text = passk("estimate", *words, "-f", form).out
    assert re.search("[12] warnings?, ", text)
    assert " · missing fail · exclude-task t1" in text
    assert "lack outcomes unevenly" in text
    assert "missing=fail" in text
    opens = {
        "html": "<details",
        "md": "<details>",
        "markdown": "<details>",
        "latex": "% write below the table",
    }
    link = '<a href="#notes">' if form == "p.html" else opens[form.rpartition(".")[2]]
    assert link in text
    plain = passk("estimate", *words[:1], "--model", "a", "-m", "pass@1", "-f", "markdown").out
    assert "<details>" not in plain
