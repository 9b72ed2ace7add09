"""DeepEval's test runs: .deepeval/.latest_test_run.json, and test_run_TIME.json.

Source: github.com/confident-ai/deepeval (Apache-2.0), deepeval/test_run/test_run.py and api.py.  A
run contains the lists testCases and conversationalTestCases. In .latest_test_run.json, these two
lists are below the key testRunData.  The names of test cases are only numbered, for example
test_case_0, so passk uses the question of a case as the task.  A test case passes if all metrics of
the case pass, and passk ignores metrics with the flag `flaky`.  DeepEval writes a failure if a
metric raised an error, although the metric did not judge the answer. If a metric raised an error,
passk treats the outcome as missing, unless another metric failed.  If DeepEval sends results to its
web service, .latest_test_run.json contains a link instead of results. The file test_run_TIME.json
repeats the last run. DeepEval can also store runs in a database (see its module
sqlite_store/store.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from passk_cli.errors import FileWithoutResultsError
from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    as_text,
    finite_number,
    require_list,
    value_at_key_path,
)

_CASE_LIST_KEYS = ("testCases", "conversationalTestCases")
_SUCCESS_OUTCOME = "success"
_LINK_ONLY_FILE_KEYS = frozenset(("testRunLink",))
# Files that match _RUN_FILE_PATTERNS may repeat the run in .latest_test_run.json.
_RUN_FILE_PATTERNS = ("test_run_*.json", "../*/test_run_*.json")


def _recognises(file: File) -> bool:
    inside = {f"testRunData.{key}" for key in (*_CASE_LIST_KEYS, "metricsScores")}
    run = file.has_keys(*inside) or file.has_keys(*_CASE_LIST_KEYS, "metricsScores")
    return (
        file.structure == "object" and (run or file.keys == _LINK_ONLY_FILE_KEYS)
    ) or _is_database(file)


def _is_database(file: File) -> bool:
    return (
        file.start_text.startswith("SQLite format 3")
        and "CREATE TABLE test_runs" in file.start_text
    )


def _run_data(document: dict[str, Any]) -> dict[str, Any]:
    run = document.get("testRunData")
    return run if isinstance(run, dict) else document


def _cases(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    run = _run_data(file.document())
    for name in _CASE_LIST_KEYS:
        for place, case in enumerate(require_list(file, name, run.get(name))):
            yield f"{name}[{place}]", case


def _contents(file: File) -> Contents:
    if file.keys == _LINK_ONLY_FILE_KEYS:
        problem = "the file contains a link to results instead of results"
        remedy = "give .latest_run_full.json from the same folder, or set DEEPEVAL_RESULTS_FOLDER=…"
        raise FileWithoutResultsError(file.source.name, problem, remedy)
    if _is_database(file):
        name, select = file.source.name, "SELECT payload_json FROM test_runs WHERE id = 1"
        problem = "the file is a database of DeepEval, which may contain several runs"
        remedy = f'write one run to a JSON file: sqlite3 {name} "{select}" > run.json'
        raise FileWithoutResultsError(name, problem, remedy)
    metrics = (metric for _, case in _cases(file) for metric in _metrics(case))
    names = {str(value_at_key_path(metric, "name")): None for metric in metrics}
    run = _run_data(file.document())
    model = value_at_key_path(run, "hyperparameters", "model")
    facts = {
        "model": model if isinstance(model, str) else None,
        "temperature": value_at_key_path(run, "hyperparameters", "temperature"),
        "run": run.get("identifier"),
    }
    outcomes = (_SUCCESS_OUTCOME, *names) if len(names) > 1 else (_SUCCESS_OUTCOME,)
    return Contents(
        lambda request: _rows(file, request), outcomes, facts, default_outcome=_SUCCESS_OUTCOME
    )


def _metrics(case: Any) -> list[Any]:
    metrics = value_at_key_path(case, "metricsData")
    return metrics if isinstance(metrics, list) else []


def _rows(file: File, request: RowRequest) -> Iterator[Row]:
    tests: dict[str, set[str]] = {}
    for _, case in _cases(file):
        tests.setdefault(_question(case), set()).add(_expected_result_hash(case))
    for place, case in _cases(file):
        task, answer = _question(case), value_at_key_path(case, "actualOutput")
        if len(tests[task]) > 1:
            task += f" #{_expected_result_hash(case)}"
        if request.outcome == _SUCCESS_OUTCOME:
            metrics = [m for m in _metrics(case) if value_at_key_path(m, "flaky") is not True]
            success, score = value_at_key_path(case, "success"), None
        else:
            metrics = [m for m in _metrics(case) if value_at_key_path(m, "name") == request.outcome]
            success = next((value_at_key_path(metric, "success") for metric in metrics), None)
            score = finite_number(value_at_key_path(metrics, 0, "score"))
        judged, reason = (
            [metric for metric in metrics if value_at_key_path(metric, "error") is None],
            "",
        )
        if len(judged) < len(metrics):
            # An error of a metric matters only if no other metric failed.
            failed = any(value_at_key_path(metric, "success") is False for metric in judged)
            success, reason = (False, "") if failed else (None, "error")
        texts = {"answer": answer, "solution": answer}
        yield Row(task, success, score, None, reason, **texts, place=place, record=case)


def _question(case: Any) -> str:
    return as_text(
        value_at_key_path(case, "input")
        or value_at_key_path(case, "scenario")
        or value_at_key_path(case, "name")
    )


def _expected_result_hash(case: Any) -> str:
    keys = ("expectedOutput", "expectedOutcome", "context")
    expected = {key: value_at_key_path(case, key) for key in keys}
    return sha256(json.dumps(expected, sort_keys=True).encode()).hexdigest()[:6]


def _repeated_files(file: File) -> tuple[str, ...]:
    cache = ".deepeval-cache.json"
    if file.name != ".latest_test_run.json" or file.keys == _LINK_ONLY_FILE_KEYS:
        return (cache,)
    last = [names[-1] for pattern in _RUN_FILE_PATTERNS if (names := file.sibling_names(pattern))]
    cases = _run_data(file.document()).get("testCases")
    # Files of the same run may contain different durations, so passk compares only the test cases.
    same = (n for n in last if value_at_key_path(file.sibling_document(n), "testCases") == cases)
    return (cache, ".latest_run_full.json", *same)


DEEPEVAL = Format(
    "deepeval",
    "a case in which no metric fails, except flaky ones; an error of a metric is not an outcome."
    " --outcome selects one metric",
    "github.com/confident-ai/deepeval: deepeval/test_run/test_run.py, api.py",
    _recognises,
    _contents,
    _repeated_files,
    # runDuration is the time that DeepEval needed for the metrics, so passk does not use
    # runDuration as the duration of an attempt.
    lambda case: {"evaluation_cost": value_at_key_path(case, "evaluationCost")},
    example=Example(
        (".deepeval/.latest_test_run.json", "RESULTS_FOLDER/test_run_TIME.json"),
        """\
{"testRunData": {
   "identifier": "nightly", "hyperparameters": {"model": "gpt-5.5"},
   "testCases": [
     {"name": "test_case_0", "input": "1 + 1", "actualOutput": "2", "success": true,
      "metricsData": [{"name": "Exact Match", "success": true, "score": 1.0}]},
     {"name": "test_case_1", "input": "1 + 2", "actualOutput": "4", "success": false,
      "metricsData": [{"name": "Exact Match", "success": false, "score": 0.0}]}
   ],
   "conversationalTestCases": [], "metricsScores": []}}
""",
    ),
)
