"""Harbor's trials: rewards, exceptions with and without a reward, and other files in the folder."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from passk_cli import DataError, PasskWarning, read
from tests.conftest import Passk
from tests.files.formats.cells import DATA, cells, pass_at
from tests.proposals import run_printed

HARBOR = DATA / "harbor"
MODEL = "openai/gpt-5.4-mini"


def trials() -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(HARBOR.glob("**/result.json"))]


def test_counts_equal_those_in_the_files() -> None:
    counts = cells(HARBOR, missing="fail")
    expected: dict[tuple[str, ...], tuple[int, int]] = {}
    for trial in trials():
        n, c = expected.get((MODEL, trial["task_name"]), (0, 0))
        result = trial["verifier_result"]
        passed = result is not None and result["rewards"]["reward"] == 1
        expected[MODEL, trial["task_name"]] = (n + 1, c + passed)
    assert counts == expected
    # Two of nine trials pass, at different tasks.
    assert pass_at(1, counts, MODEL) == Fraction(2, 9)
    assert pass_at(3, counts, MODEL) == Fraction(2, 3)


def test_an_outcome_that_no_trial_has_is_refused_even_with_unjudged_trials() -> None:
    assert any(trial["verifier_result"] is None for trial in trials())
    with pytest.raises(DataError, match="no outcome 'typo'; there are reward"):
        read(HARBOR, missing="fail", outcome="typo")
    assert cells(HARBOR, missing="fail", outcome="reward") == cells(HARBOR, missing="fail")


def test_a_trial_without_a_reward_is_missing_and_a_timeout_with_one_is_not(passk: Passk) -> None:
    result = passk("estimate", HARBOR)
    assert result.code == 3
    assert "no outcome: error (1 attempt in all)" in result.err
    facts = read(HARBOR, missing="drop").read_facts
    assert facts.missing_reasons_by_model == {MODEL: {"error": 1}}
    # The board has results.csv, which does not contain attempts.
    assert [Path(name).name for name in facts.non_result_files] == ["results.csv"]


def test_files_inside_a_trial_are_not_read(tmp_path: Path) -> None:
    job = tmp_path / "job"
    shutil.copytree(HARBOR / "trials" / "pa_um", job)
    (job / "result.json").write_text('{"id": "j", "n_total_trials": 9, "stats": {"n_trials": 9}}')
    for trial in [path.parent for path in job.glob("*/result.json")]:
        (trial / "agent").mkdir()
        (trial / "agent" / "log.jsonl").write_text('{"task": "t", "success": true}\n' * 2)
        (trial / "config.json").write_text('{"task": "t", "passed": true}')
    assert cells(job, missing="fail") == cells(HARBOR, missing="fail")
    assert read(job, missing="fail").read_facts.non_result_files == ()


def test_the_same_trial_twice_is_refused(tmp_path: Path) -> None:
    for copy in "ab":
        shutil.copytree(HARBOR / "trials", tmp_path / copy)
    with pytest.raises(DataError, match="is duplicated"):
        read(tmp_path, missing="fail")


def write(folder: Path, name: str, rewards: object, **more: object) -> None:
    trial = trials()[0] | {"id": name, "verifier_result": {"rewards": rewards}} | more
    (folder / f"{name}.json").write_text(json.dumps(trial))


def test_rewards_are_chosen_by_name_and_a_crash_counts_for_each(tmp_path: Path) -> None:
    write(tmp_path, "one", {"tests": 1, "style": 0.5})
    write(tmp_path, "two", {"tests": 0, "style": 1})
    write(tmp_path, "three", None, exception_info={"exception_type": "AgentTimeoutError"})
    with pytest.raises(DataError, match=r"2 outcomes: tests, style; outcome=\"tests"):
        read(tmp_path)
    assert list(cells(tmp_path, outcome="tests", missing="fail").values()) == [(3, 1)]
    assert list(cells(tmp_path, outcome="style", missing="drop").values()) == [(2, 1)]
    options = {"outcome": "style", "missing": "drop", "threshold": [0.5]}
    assert list(cells(tmp_path, **options).values()) == [(2, 2)]
    assert read(tmp_path, outcome="style", missing="drop").read_facts.missing_reasons_by_model == {
        MODEL: {"timeout": 1}
    }


def test_an_agent_without_a_model_is_named_by_the_agent(tmp_path: Path) -> None:
    write(tmp_path, "one", {"reward": 1}, config={"agent": {"name": "oracle"}}, agent_info={})
    assert next(iter(cells(tmp_path)))[0] == "oracle"


AGENTS = {"a": "codex", "b": "terminus"}


def two_agents(folder: Path) -> None:
    for name, agent in AGENTS.items():
        write(folder, name, {"reward": 1}, config={"agent": {"name": agent, "model_name": "m"}})


def test_two_agents_of_one_model_are_two_models(tmp_path: Path) -> None:
    two_agents(tmp_path)
    write(tmp_path, "c", {"reward": 0}, config={"agent": {"name": "codex", "model_name": "n"}})
    assert {key[0] for key in cells(tmp_path)} == {"codex (m)", "terminus (m)", "n"}
    assert read(tmp_path).read_facts.pooled_setting_columns == ()
    with pytest.raises(DataError, match=r"contains several models \(codex \(m\), terminus \(m\)\)"):
        read(f"label={tmp_path}", where="model <> 'n'")


def test_two_agents_of_one_model_can_be_groups_or_pooled(tmp_path: Path) -> None:
    two_agents(tmp_path)
    by_agent = cells(tmp_path, by=["agent"])
    assert {key[:2] for key in by_agent} == {("m", agent) for agent in AGENTS.values()}
    with pytest.warns(PasskWarning, match="differ in agent"):
        pooled = read(tmp_path, fields={"model": "model"})
    assert (len(pooled.series), pooled.read_facts.pooled_setting_columns) == (1, ("agent",))


def test_groups_of_one_model_are_compared_with_the_proposed_command(
    passk: Passk, tmp_path: Path
) -> None:
    two_agents(tmp_path)
    result = passk("compare", tmp_path, "--by", "agent")
    assert result.code == 2
    assert "--field model=agent" in result.err
    (compared,) = run_printed(passk, result.err, "-k", "1")
    assert all(agent in compared.out for agent in AGENTS.values())
