"""τ-bench's arrays; τ²-bench's documents and folders of simulations."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from passk_cli import DataError, read
from tests.conftest import SAMPLES, Write
from tests.files.formats.cells import DATA, cells, pass_at, pass_hat

TAU = DATA / "tau_bench" / "gpt-4o-airline.json"
AIRLINE, FOLDER = DATA / "tau2" / "airline.json", DATA / "tau2" / "stub_airline"


def test_tau_bench_counts_rewards_of_one() -> None:
    expected: dict[tuple[str, ...], tuple[int, int]] = {}
    for result in json.loads(TAU.read_text()):
        key = ("gpt-4o-airline", str(result["task_id"]))
        n, c = expected.get(key, (0, 0))
        expected[key] = (n + 1, c + (abs(result["reward"] - 1) < 1e-6))
    assert cells(TAU) == expected
    # The sample is the same run, whole: its first ten tasks are these.
    sample = cells(SAMPLES / "tau_airline.csv")
    assert {task: cell for (_, task), cell in expected.items()} == {
        task: cell for (_, task), cell in sample.items() if int(task) < 10
    }


def results(*rewards: object, **more: object) -> list[dict[str, Any]]:
    return [
        {"task_id": 0, "reward": reward, "info": {}, "traj": [], "trial": i} | more
        for i, reward in enumerate(rewards)
    ]


def test_tau_bench_accepts_rounding_and_refuses_errors(write: Write) -> None:
    path = write("m.json", json.dumps(results(1.0 - 1e-7, 0.99, 0.5)))
    assert cells(path) == {("m", "0"): (3, 1)}
    assert cells(path, threshold=[0.5]) == {("m", "0"): (3, 3)}
    path.write_text(json.dumps(results(1.0) + results(0, 0.0, info={"error": "API"})[1:]))
    with pytest.raises(DataError, match=r"m.json: attempt 2: no outcome"):
        read(path)
    assert cells(path, missing="fail") == {("m", "0"): (2, 1)}
    assert read(path, missing="drop").read_facts.missing_reasons_by_model == {"m": {"error": 1}}


def test_a_tau2_document_is_read() -> None:
    simulations = json.loads(AIRLINE.read_text())["simulations"]
    assert cells(AIRLINE) == {
        ("gpt-4.1-mini-2025-04-14", f"airline/{simulation['task_id']}"): (
            1,
            int(simulation["reward_info"]["reward"] == 1),
        )
        for simulation in simulations
    }
    assert cells(AIRLINE, by=["temperature"]).keys() == {
        (*key[:1], "0.0", *key[1:]) for key in cells(AIRLINE)
    }


@pytest.mark.parametrize("data", [FOLDER, FOLDER / "results.json", FOLDER / "simulations"])
def test_tau2_folder_counts_once_however_it_is_named(data: Path) -> None:
    simulations = [json.loads(p.read_text()) for p in FOLDER.glob("simulations/*.json")]
    expected: dict[tuple[str, ...], tuple[int, int]] = {}
    for simulation in simulations:
        if simulation["termination_reason"] != "infrastructure_error":
            n, c = expected.get(("stub-1", f"airline/{simulation['task_id']}"), (0, 0))
            passed = simulation["reward_info"]["reward"] == 1
            expected["stub-1", f"airline/{simulation['task_id']}"] = (n + 1, c + passed)
    counts = cells(data, missing="drop")
    assert counts == expected
    assert float(pass_at(1, counts, "stub-1")) == pytest.approx(2 / 9, abs=1e-12)
    assert pass_hat(1, counts, "stub-1") == pass_at(1, counts, "stub-1")
    facts = read(data, missing="drop").read_facts
    assert facts.missing_reasons_by_model == {"stub-1": {"infrastructure": 1}}
    assert facts.non_result_files == () == facts.messages


def test_tau2_folder_warns_about_missing_simulations(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "run")
    results = tmp_path / "run" / "results.json"
    index = [{"id": str(i), "task_id": "0", "trial": 0} for i in range(20)]
    results.write_text(json.dumps(json.loads(results.read_text()) | {"simulation_index": index}))
    (warning,) = read(tmp_path / "run", missing="drop").read_facts.messages
    assert warning.text.endswith(
        "results.json: the run lists 20 attempts, but the file contains 18"
    )


def test_tau2_runs_are_joined_and_suites_are_separate(tmp_path: Path) -> None:
    document = json.loads(AIRLINE.read_text())
    for run, domain in (("1", "airline"), ("2", "airline"), ("1", "retail")):
        document["timestamp"] = run
        document["info"]["environment_info"]["domain_name"] = domain
        (tmp_path / f"{domain}{run}.json").write_text(json.dumps(document))
    counts = cells(tmp_path)
    assert {key[1].split("/")[0]: n for key, (n, _) in counts.items()} == {
        "airline": 2,
        "retail": 1,
    }


def test_tau2_full_context_window_gives_no_outcome(write: Write) -> None:
    document = json.loads(AIRLINE.read_text())
    document["simulations"][0]["termination_reason"] = "context_window_exceeded"
    path = write("x.json", json.dumps(document))
    reasons = read(path, missing="drop").read_facts.missing_reasons_by_model
    assert list(reasons.values()) == [{"context window exceeded": 1}]
