"""Result sets of EvalPort, a format to which adapters convert the results of many tools.

Source: github.com/adhabnr-ux/evalport (Apache-2.0), spec/schemas/resultset.json, read at 1.3.1 of
evalport-sdk: {suite_id, run_id, provider, results: [{test_case_id, attempt, passed, verdict, error,
grader_results: [{grader_id, score, passed}]}]}.  The field `passed` is the verdict of all graders,
and passk offers each grader as an outcome as well.  A result with an error, or with the verdict
"unverified", has no outcome.  A grader with the score null did not judge the attempt. If such a
grader is the only reason why `passed` is false, the result has no outcome either.
"""

from __future__ import annotations

from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    JudgedAttempts,
    contents_with_scorer_outcomes,
    finite_number,
    require_list,
    value_at_key_path,
)

_PASSED_KEY = "passed"


def _contents(file: File) -> Contents:
    def results() -> JudgedAttempts:
        for place, result in enumerate(file.records("results")):
            graders = require_list(
                file, "grader_results", value_at_key_path(result, "grader_results")
            )
            judged = [
                grader for grader in graders if value_at_key_path(grader, "score") is not None
            ]
            passed = value_at_key_path(result, _PASSED_KEY)
            broken = value_at_key_path(result, "constraint_violations")
            failed = broken or any(
                value_at_key_path(grader, _PASSED_KEY) is False for grader in judged
            )
            if passed is False and len(judged) < len(graders) and not failed:
                passed = None
            unverified = value_at_key_path(result, "verdict") == "unverified"
            error = value_at_key_path(result, "error")
            timeout = value_at_key_path(error, "type") == "timeout"
            about = {
                "task": value_at_key_path(result, "test_case_id"),
                "attempt": value_at_key_path(result, "attempt"),
                "reason": "timeout" if timeout else "error" if error or unverified else "",
                "answer": value_at_key_path(result, "actual_output"),
                "place": f"results[{place}]",
                "record": result,
            }
            scores = {
                str(value_at_key_path(grader, "grader_id")): (
                    value_at_key_path(grader, _PASSED_KEY),
                    finite_number(value_at_key_path(grader, "score")),
                )
                for grader in judged
            }
            yield {**scores, _PASSED_KEY: (passed, None)}, about

    about = file.document("results")
    facts = {
        "model": value_at_key_path(about, "provider", "model"),
        "temperature": value_at_key_path(about, "provider", "temperature"),
        "run": about.get("run_id"),
    }
    return contents_with_scorer_outcomes(results, _PASSED_KEY, facts=facts)


EVALPORT_FORMAT = Format(
    "evalport",
    "a result with passed true; an error, or a result not verified or graded, is no outcome."
    " --outcome selects one grader",
    "github.com/adhabnr-ux/evalport: spec/schemas/resultset.json",
    lambda file: file.has_keys("suite_id", "results[].test_case_id", "results[].grader_results"),
    _contents,
    read_usage_amounts=lambda result: {"duration_ms": value_at_key_path(result, "duration_ms")},
    cost_causes_besides_model="graders that ask a model",
    example=Example(
        ("RESULTSET.json",),
        """\
{"version": "1.0.0", "suite_id": "sums", "run_id": "r1", "started_at": "2026-01-01T12:00:00Z",
 "provider": {"model": "gpt-5.5"}, "results": [
   {"test_case_id": "sum", "attempt": 1, "passed": true, "grader_results": [
      {"grader_id": "exact", "type": "exact_match", "score": 1.0, "passed": true}]},
   {"test_case_id": "sum", "attempt": 2, "passed": false, "grader_results": [
      {"grader_id": "exact", "type": "exact_match", "score": 0.0, "passed": false}]}]}
""",
    ),
)
