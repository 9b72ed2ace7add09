"""EvalPlus, BigCodeBench, LiveCodeBench, human-eval and MultiPL-E: passes, compared with a
recount."""

from __future__ import annotations

import gzip
import json
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from passk_cli import DataError, read
from tests.conftest import Passk, Write, jsonl
from tests.files.formats.cells import DATA, cells, pass_at

NEW, OLD = (DATA / "evalplus" / f"{age}_eval_results.json" for age in ("new", "old"))
LIVE = DATA / "livecodebench" / "Scenario.codegeneration_1_0.2_eval_all.json"
RACKET = DATA / "multipl_e" / "humaneval-rkt-starcoder-15b-0.2"


@pytest.mark.parametrize("outcome", ["base", "plus"])
def test_evalplus_plus_needs_both(outcome: str) -> None:
    tasks = json.loads(NEW.read_text())["eval"]
    keys = ["base_status", "plus_status"][: 1 if outcome == "base" else 2]
    expected = {
        ("new", task): (1, int(all(record[0][key] == "pass" for key in keys)))
        for task, record in tasks.items()
    }
    assert cells(NEW, outcome=outcome) == expected
    assert sum(c for _, c in expected.values()) == (8 if outcome == "base" else 4)


def test_evalplus_files_of_the_first_version_are_read(tmp_path: Path) -> None:
    assert set(cells(OLD, outcome="base").values()) == {(1, 0)}
    result = {
        "t/0": {
            "nfiles": 3,
            "base": [["success", []], ["success", []], ["failed", [False]]],
            "plus": [["success", []], ["timed out", []], ["success", []]],
        }
    }
    path = tmp_path / "m_temp_0.8" / "eval_results.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"date": "", "hash": "", "eval": result}))
    counts = [
        cells(path, outcome=cells_of_outcome, by=["temperature"])
        for cells_of_outcome in ("base", "plus")
    ]
    assert [list(cells_of_outcome.values()) for cells_of_outcome in counts] == [[(3, 2)], [(3, 1)]]
    assert [key[1] for key in counts[0]] == ["0.8"]
    # --base-only leaves one outcome, which needs no choice.
    result["t/0"]["plus"] = []
    path.write_text(json.dumps({"date": "", "hash": "", "eval": result}))
    assert list(cells(path).values()) == [(3, 2)]


def test_evalplus_leads_to_a_question_about_its_tests(passk: Passk) -> None:
    result = passk("estimate", DATA / "evalplus")
    assert result.code == 3
    assert "2 outcomes: base, plus\n" in result.err


def test_files_of_bigcodebench_are_read() -> None:
    counts = cells(DATA / "bigcodebench")
    assert list(counts.values()) == [(3, 2), (3, 0), (3, 3), (3, 1)]
    (model,) = {model for model, _ in counts}
    assert pass_at(1, counts, model) == Fraction(6, 12)


def test_livecodebench_groups_by_difficulty() -> None:
    problems = json.loads(LIVE.read_text())
    expected = {
        ("livecodebench", problem["difficulty"], problem["question_id"]): (
            1,
            int(problem["graded_list"][0]),
        )
        for problem in problems
    }
    counts = cells(LIVE, by=["difficulty"])
    assert counts == expected
    assert {key[1] for key in counts} == {"easy", "medium", "hard"}
    assert read(LIVE, by=["platform", "temperature"]).series[0][1:] == ("leetcode", "0.2")
    solutions = read(LIVE, attempts=["solution"]).attempts["solution"]
    assert solutions.valueless == 0


def test_livecodebench_reads_several_records_of_a_question(write: Write) -> None:
    record = {
        "question_id": "q",
        "test_id": 0,
        "pred_list": ["1", "2"],
        "graded_list": [True, False],
    }
    second = {**record, "test_id": 1, "graded_list": [True, True]}
    never = {**record, "test_id": 2, "graded_list": []}
    path = write("x.json", json.dumps([record, second, never]))
    counts = cells(path, missing="drop")
    assert counts == {("x", "q/0"): (2, 1), ("x", "q/1"): (2, 2)}
    assert read(path, missing="drop").read_facts.missing_reasons_by_model == {
        "x": {"not attempted": 1}
    }


def test_livecodebench_results_are_tasks_by_position() -> None:
    """The file contains pass@1 and pass@5 of the harness before the results of tests."""
    path = LIVE.parent / "stub-1" / "Scenario.codegeneration_5_0.2_eval.json"
    model_name, problems, _ = json.loads(path.read_text())
    counts = cells(path)
    assert counts == {
        ("stub-1", f"codegeneration/{position}"): (
            5,
            [min(map(int, tests)) > 0 for tests in attempts].count(True),
        )
        for position, attempts in problems.items()
    }
    for k in (1, 5):
        assert float(pass_at(k, counts, "stub-1")) == pytest.approx(model_name[f"pass@{k}"])
    assert [message.name for message in read(path).read_facts.messages] == ["numbered-problems"]
    # The same positions of another scenario are other tasks.
    folder = cells(path.parent)
    assert folder.items() > counts.items()
    assert {key: cell for key, cell in folder.items() if key not in counts} == {
        ("stub-1", f"testoutputprediction/{position}"): (2, 1) for position in (0, 1)
    }


def test_livecodebench_without_details_is_read_by_position(write: Write, passk: Passk) -> None:
    """Code execution has no details. A list of pass@1 by task is not such a file."""
    path = write(
        "x.json", json.dumps([{"pass@1": 25.0}, {"0": [[True, -1], [True]], "1": [[-2], []]}])
    )
    assert cells(path, missing="drop") == {("x", "0"): (2, 1), ("x", "1"): (1, 0)}
    path.write_text(json.dumps([{"task": "a", "pass@1": 0.5}, {"task": "b", "pass@1": 0.7}]))
    result = passk("estimate", path)
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith("error[summary]")


def test_human_eval_numbers_the_samples_of_a_task() -> None:
    """Source of 0.5: README of openai/human-eval, on its example samples."""
    (path,) = (DATA / "human_eval").glob("*.jsonl")
    counts = read(path)
    assert (counts.n.tolist(), counts.c.tolist()) == ([6], [3])
    assert counts.read_facts.duplicates_checked
    assert read(path, attempts=["solution"]).attempts["solution"].valueless == 0


def test_human_eval_with_more_columns_is_a_table(write: Write) -> None:
    rows = [
        {"task_id": "t", "completion": "", "result": "passed", "passed": True, "model": model}
        for model in ("a", "b")
    ]
    path = write("x.jsonl", jsonl(rows))
    assert cells(path) == {("a", "t"): (1, 1), ("b", "t"): (1, 1)}


def test_multipl_e_needs_status_and_exit_code() -> None:
    expected, zeros = {}, 0
    for path in RACKET.iterdir():
        document = json.loads(gzip.decompress(path.read_bytes()))
        results = document["results"]
        zeros += sum(result["exit_code"] == 0 for result in results)
        passed = sum(result["exit_code"] == 0 and result["status"] == "OK" for result in results)
        expected[("starcoder-15b", f"humaneval-rkt/{document['name']}")] = (len(results), passed)
    assert cells(DATA / "multipl_e") == expected
    assert sorted(c for _, c in expected.values()) == [0, 1, 9]
    assert zeros == 59
    counts = read(DATA / "multipl_e", by=["language", "temperature"])
    assert counts.series == (("starcoder-15b", "rkt", "0.2"),)


@pytest.mark.parametrize(
    ("folder", "model", "suite", "prompt"),
    [
        ("mbpp-rkt-org_some-model-7b-0.8-reworded", "org_some-model-7b", "mbpp-rkt/", "reworded"),
        ("my results", "my results", "rkt/", None),
        ("humaneval-lua-some-0.2", "humaneval-lua-some-0.2", "rkt/", None),
    ],
)
def test_multipl_e_folders_name_model_prompt_and_suite(
    tmp_path: Path, folder: str, model: str, suite: str, prompt: str | None
) -> None:
    shutil.copytree(RACKET, tmp_path / folder)
    counts = read(tmp_path / folder, by=["prompt"] if prompt else [])
    assert counts.series == ((model, prompt) if prompt else (model,),)
    assert counts.tasks[0].startswith(f"{suite}HumanEval_")


def test_multipl_e_results_do_not_mix_with_completions(tmp_path: Path) -> None:
    shutil.copytree(RACKET, tmp_path / RACKET.name)
    (path, *_) = (tmp_path / RACKET.name).iterdir()
    document = json.loads(gzip.decompress(path.read_bytes()))
    document["completions"] = [result["program"] for result in document.pop("results")]
    completions = path.with_name("HumanEval_12_longest.json.gz")
    completions.write_bytes(gzip.compress(json.dumps(document).encode()))
    counts = read(tmp_path)
    assert counts.n.tolist() == [20, 20, 20]
    assert len(counts.read_facts.non_result_files) == 1
    with pytest.raises(DataError):
        read(completions)


def test_livecodebench_files_of_the_same_run_count_once(tmp_path: Path) -> None:
    folder = tmp_path / "some-model"
    folder.mkdir()
    shutil.copy(LIVE, folder)
    stem = LIVE.name.removesuffix("_eval_all.json")
    problems = json.loads(LIVE.read_text())
    graded = [{"question_id": problem["question_id"], "passed": True} for problem in problems]
    (folder / f"{stem}.json").write_text(json.dumps(graded))
    counts = read(folder)
    assert counts.series == (("some-model",),)
    assert counts.n.tolist() == [1] * 6
