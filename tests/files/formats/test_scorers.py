"""Tools with named scorers: three sums × three attempts, of which one ended in an error.

In every file the answers are right (1), wrong (0) or missing (–) as `EXACT` counts them by hand:
sum 0: 1 1 1, sum 1: 1 – 0, sum 2: 0 1 0. The scorer `close` gives 1 to a right and 0.5 to a wrong
answer. How each file was made is in tests/data/README.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from passk_cli import DataError, PasskWarning, read
from tests.files.formats.cells import DATA, cells

EXACT = [(2, 1), (3, 1), (3, 3)]
# File → its scorers, and why an answer is missing. The first scorer decides whether an answer is
# right, and the second needs a threshold.
SCORED = {
    "braintrust/results.json": ("exact, close, odd", "error"),
    "langfuse/items.json": ("exact, close, kind", "error"),
    "opik/experiment_e1.json": ("exact, close", "unscored"),
    "pydantic_evals/report.json": ("Exact, likeness, short, kind", "error"),
    "weave/calls.jsonl": ("exact.match, close", "error"),
}
# File → the verdict of the harness, and one of its scorers.
JUDGED = {
    "docker_agent/happy-panda-1234.json": "tool_calls",
    "evalport/results.json": "exact",
    "google_adk/app_sums_1.evalset_result.json": "exact",
}


@pytest.mark.parametrize("name", SCORED)
def test_named_scorers_are_outcomes_and_never_attempts(name: str) -> None:
    scorers, reason = SCORED[name]
    exact, close, *_ = names = scorers.split(", ")
    with pytest.raises(DataError, match="outcomes: ") as error:
        read(DATA / name)
    candidates = error.value.problem.partition(": ")[2].split(", ")
    assert (error.value.name, sorted(candidates)) == ("several-outcomes", sorted(names))
    with pytest.raises(DataError, match=f"no outcome: {reason}"):
        read(DATA / name, outcome=exact)
    assert sorted(cells(DATA / name, outcome=exact, missing="drop").values()) == EXACT
    failed = cells(DATA / name, outcome=exact, missing="fail")
    assert sorted(failed.values()) == [(3, 1), (3, 1), (3, 3)]
    with pytest.raises(DataError, match=r"0\.5; .*threshold=X"):
        read(DATA / name, outcome=close, missing="drop")


@pytest.mark.parametrize("name", JUDGED)
def test_the_verdict_of_the_harness_is_read_and_a_scorer_by_its_name(name: str) -> None:
    with pytest.raises(DataError, match="no outcome: error"):
        read(DATA / name)
    assert sorted(cells(DATA / name, missing="drop").values()) == EXACT
    counts = cells(DATA / name, outcome=JUDGED[name], missing="drop")
    assert sorted(counts.values()) == EXACT
    lenient = cells(DATA / name, outcome=JUDGED[name], missing="drop", threshold=[0.5])
    # The scores of `exact` are 0 and 1; only those of the tool calls are 0.5.
    tools = [(2, 2), (3, 3), (3, 3)]
    assert sorted(lenient.values()) == (tools if "docker" in name else EXACT)


def test_an_evaluator_that_raised_leaves_a_missing_outcome() -> None:
    """The scorer `odd` failed at both wrong answers to 2 + 2, and `likeness` failed at the wrong
    answer to 1 + 2."""
    cell_counts = cells(DATA / "braintrust/results.json", outcome="odd", missing="drop")
    assert cell_counts == {("results", x): n for x, n in
                     {"1 + 1": (3, 3), "1 + 2": (2, 2), "2 + 2": (1, 1)}.items()}  # fmt: skip
    counts = read(
        DATA / "pydantic_evals/report.json", outcome="likeness", threshold=0.5, missing="drop"
    )
    assert counts.read_facts.missing_reasons_by_model == {"report": {"error": 1, "unscored": 1}}


def changed(path: Path, name: str, *changes: tuple[list[Any], object]) -> Path:
    """The file of a tool with other values."""
    document: Any = json.loads((DATA / name).read_text())
    for way, value in changes:
        inner = document
        for key in way[:-1]:
            inner = inner[key]
        inner[way[-1]] = value
    path.write_text(json.dumps(document))
    return path


def test_the_same_input_with_another_expectation_is_another_task(tmp_path: Path) -> None:
    path = changed(
        tmp_path / "r.json", "braintrust/results.json", (["results", 0, "expected"], "3")
    )
    counts = cells(path, outcome="exact", missing="drop")
    assert (counts["r", "1 + 1 → 3"], counts["r", "1 + 1 → 2"]) == ((1, 1), (2, 2))


def test_metrics_of_adk_that_only_inform_need_a_threshold(tmp_path: Path) -> None:
    name = "google_adk/app_sums_1.evalset_result.json"
    with pytest.raises(DataError, match=r"30\.0; .*threshold=X"):
        read(DATA / name, outcome="tokens", missing="drop")
    path = changed(tmp_path / "r.json", name, (["eval_case_results", 0, "final_eval_status"], 3))
    assert read(path, missing="drop").read_facts.missing_reasons_by_model == {
        "r": {"error": 1, "unscored": 1}
    }


def test_repeats_of_docker_agent_are_attempts(tmp_path: Path) -> None:
    """The summary counts one evaluation more than the file contains, because a container did not
    start."""
    name = "docker_agent/happy-panda-1234.json"
    counts = cells(DATA / name, missing="drop")
    assert counts.keys() == {("happy-panda-1234", f"sum {task}") for task in range(3)}
    messages = read(DATA / name, missing="drop").read_facts.messages
    assert messages[0].text.endswith("the run lists 10 attempts, but the file contains 9")
    once = changed(tmp_path / "r.json", name, (["sessions", 0, "title"], "Add up"))
    # The file does not mark repeats. One of the nine runs ended in an error.
    assert len(cells(once, missing="drop")) == 8


def test_two_scores_of_one_name_that_differ_are_refused(tmp_path: Path) -> None:
    """A person and an evaluator may use the same name."""
    name, way = "langfuse/items.json", ["data", 0, "scores", 1]
    second = {"name": "exact", "source": "ANNOTATION", "value": False}
    with pytest.raises(DataError, match='record 1: "outcome" is "several scores"'):
        read(changed(tmp_path / "r.json", name, (way, second)), outcome="exact", missing="drop")
    same = changed(tmp_path / "r.json", name, (way, {**second, "value": True}))
    assert sorted(cells(same, outcome="exact", missing="drop").values()) == EXACT


def test_ungraded_results_of_evalport_have_no_outcome(tmp_path: Path) -> None:
    name = "evalport/results.json"
    ungraded = {"grader_id": "exact", "type": "exact_match", "score": None, "passed": False}
    graders = ["results", 6, "grader_results"]
    path = changed(
        tmp_path / "r.json", name, ([*graders, 0], ungraded), (["results", 6, "passed"], False)
    )
    # Attempt 3 of sum 0 is false only because nobody graded it.
    assert cells(path, missing="drop")["stub-a", "sum 0"] == (2, 2)
    path = changed(path, name, (["results", 0, "verdict"], "unverified"))
    assert cells(path, missing="drop")["stub-a", "sum 0"] == (2, 2)


def test_other_calls_of_weave_are_skipped() -> None:
    counts = cells(DATA / "weave/calls.jsonl", outcome="exact.match", missing="drop")
    assert sum(n for n, _ in counts.values()) == 8
    assert {model for model, _ in counts} == {"stub-a"}


TABLES: dict[str, Mapping[str, str]] = {
    "langsmith/results.csv": {"outcome": "feedback.exact"},
    "mlflow/eval_results.csv": {"outcome": "exact/value", "task": "request"},
    "metr/runs.jsonl": {"outcome": "score_binarized", "model": "alias"},
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_with_several_outcomes_need_a_choice(name: str) -> None:
    with pytest.raises(DataError) as error:
        read(DATA / name)
    offered = {candidate.column for candidate in error.value.candidates["outcome"]}
    assert TABLES[name]["outcome"] in offered


@pytest.mark.parametrize("name", ["langsmith/results.csv", "mlflow/eval_results.csv"])
def test_a_run_that_raised_counts_with_its_score_and_a_warning(name: str) -> None:
    with pytest.warns(PasskWarning, match="may have caused 1 failure") as warned:
        counts = cells(DATA / name, fields=TABLES[name])
    assert sorted(counts.values()) == [(3, 1), (3, 1), (3, 3)]
    (where,) = re.findall(r'where="([^"]+)" leaves them out', str(warned[0].message))
    assert sorted(cells(DATA / name, fields=TABLES[name], where=where).values()) == EXACT


def test_rows_next_to_the_names_of_columns_are_a_table() -> None:
    """eval_results_table.json of mlflow.models.evaluate, as pandas writes it by orient="split"."""
    path = DATA / "mlflow/eval_results_table.json"
    with pytest.raises(
        DataError, match="the columns are inputs, ground_truth, outputs, exact/score"
    ):
        read(path)
    counts = cells(path, outcome="exact/score", fields={"task": "inputs"})
    assert sorted(counts.values()) == [(2, 1), (2, 1), (2, 2)]


def test_runs_of_metr_are_attempts_of_agents_and_of_humans() -> None:
    """The expected counts were made by hand; scores between 0 and 1 are partial solutions."""
    name = "metr/runs.jsonl"
    counts = cells(DATA / name, fields=TABLES[name])
    assert counts["o1", "sums/hard"] == (4, 2)
    assert counts["human", "sums/hard"] == (2, 1)
    assert sum(n for n, _ in counts.values()) == 25
    with pytest.raises(DataError, match=r"0\.4; .*threshold=X"):
        read(DATA / name, outcome="score_cont")
