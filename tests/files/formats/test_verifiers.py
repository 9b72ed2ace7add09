"""verifiers' results and traces, verl's dumps: rewards, errors, attempts in the order of lines."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from passk_cli import DataError, PasskWarning, read
from tests.conftest import Write, jsonl
from tests.files.formats.cells import DATA, cells, pass_at, pass_hat

ROOT = DATA / "verifiers"
RESULTS = ROOT / "gsm8k--openai--stub-1" / "1a2b3c4d" / "results.jsonl"
(TRACES,) = ROOT.glob("**/traces.jsonl")
VERL = DATA / "verl" / "100.jsonl"
MODEL = "openai/stub-1"
# Said of each of these files, which one test asks for.
pytestmark = pytest.mark.filterwarnings("ignore:.*a reward of 0.5 or more counts")


def rollouts() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def test_half_a_reward_passes_and_errors_are_missing() -> None:
    expected: dict[tuple[str, ...], tuple[int, int]] = {}
    for rollout in rollouts():
        key = (MODEL, f"gsm8k/{rollout['example_id']}")
        n, c = expected.get(key, (0, 0))
        expected[key] = (n + 1, c + (rollout["reward"] >= 0.5))
    with pytest.warns(PasskWarning, match="0.5 or more counts as a pass; threshold=X sets"):
        counts = cells(RESULTS, missing="fail")
    assert counts == expected
    # These values come from metadata.json.
    assert (pass_at(1, counts, MODEL), pass_at(4, counts, MODEL)) == (
        Fraction(1, 2),
        Fraction(3, 4),
    )
    assert (pass_hat(2, counts, MODEL), pass_hat(4, counts, MODEL)) == (
        Fraction(1, 3),
        Fraction(1, 8),
    )
    facts = read(RESULTS, missing="drop").read_facts
    assert facts.missing_reasons_by_model == {MODEL: {"error": 1}}
    (warning,) = facts.messages
    assert (warning.name, warning.fields["bar"]) == ("assumed-threshold", "0.5")
    partial = [rollout for rollout in rollouts() if 0.5 <= rollout["reward"] < 1]
    strict = cells(RESULTS, missing="fail", threshold=[1])
    assert sum(c for _, c in strict.values()) == sum(c for _, c in counts.values()) - len(partial)
    assert partial


def test_runs_are_joined_and_a_copy_is_a_repeat(tmp_path: Path) -> None:
    for name in ("0000aaaa", "1a2b3c4d"):
        shutil.copytree(RESULTS.parent, tmp_path / name)
    assert {n for n, _ in cells(tmp_path, missing="fail").values()} == {8}
    shutil.copytree(RESULTS.parent, tmp_path / "backup" / "1a2b3c4d")
    with pytest.raises(DataError, match="is duplicated"):
        read(tmp_path, missing="fail")


def test_fewer_rollouts_than_in_the_metadata_give_a_warning(tmp_path: Path) -> None:
    shutil.copytree(RESULTS.parent, tmp_path / "x")
    lines = RESULTS.read_text().splitlines(keepends=True)
    (tmp_path / "x" / "results.jsonl").write_text("".join(lines[:30]))
    messages = read(tmp_path, missing="fail").read_facts.messages
    assert any(
        "the run lists 32 attempts, but the file contains 30" in message.text
        for message in messages
    )


def test_results_without_metadata_are_named_by_their_file(tmp_path: Path) -> None:
    shutil.copyfile(RESULTS, tmp_path / "m.jsonl")
    assert {(model, "/" in task) for model, task in cells(tmp_path, missing="fail")} == {
        ("m", False)
    }


def test_traces_with_one_episode_per_line_are_read() -> None:
    counts = cells(TRACES, missing="drop")
    assert counts == {("org/stub-2", "gsm8k/a1"): (3, 2), ("org/stub-2", "gsm8k/b2"): (2, 0)}
    assert read(TRACES, missing="fail").read_facts.missing_reasons_by_model == {
        "org/stub-2": {"error": 1}
    }
    assert {key[1] for key in cells(TRACES, missing="drop", by=["temperature"])} == {"0.5"}


def write_traces(folder: Path, *records: object) -> Path:
    path = folder / "traces.jsonl"
    path.write_text(jsonl(records))
    return path


def trace(agent: str, **rewards: float) -> dict[str, Any]:
    weighted = {name: {"score": score, "weight": 0.5} for name, score in rewards.items()}
    config = {"model": f"model of {agent}"}
    return {"agent": {"name": agent, "config": config}, "nodes": [], "rewards": weighted}


def episode(*traces: dict[str, Any]) -> dict[str, Any]:
    return {"task": {"key": "t"}, "ok": True, "errors": [], "traces": list(traces)}


def test_weighted_rewards_add_up(tmp_path: Path) -> None:
    path = write_traces(tmp_path, episode(trace("a", x=1, y=1)), episode(trace("a", x=1, y=0)))
    with pytest.raises(
        DataError, match=r'line 2: "outcome" is 0.5; .*threshold=X sets the score from'
    ):
        read(path)
    assert list(cells(path, threshold=[0.5]).values()) == [(2, 2)]
    path = write_traces(tmp_path, *({"task": {"key": "t"}, **trace("a", x=v, y=v)} for v in (0, 1)))
    assert cells(path) == {("model of a", "t"): (2, 1)}


def test_one_of_several_agents_can_be_chosen(tmp_path: Path) -> None:
    traces = [trace("solver", x=1, y=1), trace("critic", x=0, y=0)]
    path = write_traces(tmp_path, episode(*traces), episode(*traces))
    with pytest.raises(DataError, match=r"2 outcomes: solver, critic"):
        read(path)
    assert cells(path, outcome="critic") == {("model of critic", "t"): (2, 0)}
    path = write_traces(tmp_path, episode(trace("solver", x=1), trace("solver", x=0)))
    with pytest.raises(
        DataError, match=r"one episode contains 2 traces of 'reward'; passk expects one trace"
    ):
        read(path)


def test_verl_counts_acc_and_scores_by_threshold(write: Write) -> None:
    assert sorted(cells(VERL).values()) == [(2, 0), (2, 1), (2, 2)]
    assert cells(VERL, threshold=[0]) == cells(VERL)
    assert {model for model, _ in cells(VERL)} == {"100"}
    lines = [json.loads(line) for line in VERL.read_text().splitlines()]
    for line in lines:
        del line["acc"]
    path = write("100.jsonl", jsonl(lines))
    # −1 is neither a pass nor a fail if there is only a score.
    with pytest.raises(
        DataError, match=r'line \d: "outcome" is -1.0; .*threshold=X sets the score from'
    ):
        read(path)
    assert cells(path, threshold=[0]) == cells(VERL)
