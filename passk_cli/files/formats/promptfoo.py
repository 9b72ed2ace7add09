"""promptfoo's results: `-o out.json`, and `-o out.jsonl` with the same results as lines.

Source: github.com/promptfoo/promptfoo (MIT), src/types/index.ts (EvaluateResult, GradingResult, and
ResultFailureReason, which is 0 for no failure, 1 for a failed assertion, and 2 for an error).  With
`--repeat`, each repeat has a different testIdx, so passk uses `vars` as the task and testIdx as the
attempt.  passk treats different prompts of one provider as different settings.  If an error
occurred, passk treats the outcome as missing.  passk offers each assertion as an outcome. The
outcome is named after the metric of the assertion, or after the type if the assertion has no
metric. If a person rates an answer on promptfoo's page, the rating replaces `success` and is an
assertion of type `human`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    value_at_key_path,
)

_ERROR, _SUCCESS = 2, "success"
_RESULT_KEYS = frozenset(("testIdx", "promptIdx", "success", "vars", "provider"))


def _contents(file: File) -> Contents:
    facts: dict[str, object] = {}
    if file.has_keys("results"):
        facts["run"] = file.document("results", "config").get("evalId")
    names, tests = {_SUCCESS: None}, dict[str, set[str]]()
    for _, result in _results(file, RowRequest("", skip_bad=True)):
        tests.setdefault(_task_name_from_variables(result), set()).add(_assertions_hash(result))
        names |= dict.fromkeys(name for name, _ in _named_assertion_results(result))

    def rows(request: RowRequest) -> Iterator[Row]:
        for place, result in _results(file, request):
            task = _task_name_from_variables(result)
            if len(tests[task]) > 1:
                task += f" #{_assertions_hash(result)}"
            failed = value_at_key_path(
                result, "failureReason"
            ) == _ERROR or _is_error_of_early_version(result)
            provider = value_at_key_path(result, "provider")
            output = value_at_key_path(result, "response", "output")
            if request.outcome == _SUCCESS:
                success, score = (
                    value_at_key_path(result, "success"),
                    value_at_key_path(result, "score"),
                )
            else:
                assertions = [
                    a for name, a in _named_assertion_results(result) if name == request.outcome
                ]
                success = _all_pass(assertions)
                score = value_at_key_path(assertions, 0, "score") if len(assertions) == 1 else None
            yield Row(
                task,
                None if failed else success,
                None if failed else score,
                value_at_key_path(result, "testIdx"),
                "error" if failed else "",
                model=value_at_key_path(provider, "label")
                or value_at_key_path(provider, "id")
                or provider,
                settings={
                    "prompt": value_at_key_path(result, "prompt", "label")
                    or value_at_key_path(result, "prompt", "raw"),
                    "temperature": value_at_key_path(provider, "config", "temperature"),
                    "cached": value_at_key_path(result, "response", "cached"),
                },
                answer=output,
                solution=output,
                place=place,
                record=result,
            )

    return Contents(rows, tuple(names), facts, default_outcome=_SUCCESS)


def _is_error_of_early_version(result: Any) -> bool:
    """Whether a result of an early version, which has no failureReason, ended with an error."""
    reason, grading = (
        value_at_key_path(result, "failureReason"),
        value_at_key_path(result, "gradingResult"),
    )
    return reason is None and not grading and bool(value_at_key_path(result, "error"))


def _named_assertion_results(result: Any) -> Iterator[tuple[str, Any]]:
    """Yield (metric, result) for each assertion of a test. If an assertion has no metric, the type
    of the assertion replaces the metric."""
    assertions = value_at_key_path(result, "gradingResult", "componentResults")
    for assertion in assertions if isinstance(assertions, list) else []:
        check = value_at_key_path(assertion, "assertion")
        name = value_at_key_path(check, "metric") or value_at_key_path(check, "type")
        if isinstance(name, str):
            yield name, assertion


def _all_pass(assertions: Sequence[Any]) -> object:
    """Whether all assertions pass.

    The result is None if there are no assertions, or if a grader raised an error and no assertion
    failed.
    """
    erred = [
        value_at_key_path(assertion, "metadata", "graderError") is True for assertion in assertions
    ]
    verdicts = [
        value_at_key_path(assertion, "pass")
        for assertion, error in zip(assertions, erred, strict=True)
        if not error
    ]
    failures = [verdict for verdict in verdicts if verdict is not True]
    return failures[0] if failures else None if any(erred) else bool(verdicts) or None


def _results(file: File, request: RowRequest) -> Iterator[tuple[str, dict[str, Any]]]:
    if not file.has_keys("results"):
        yield from ((f"line {line}", result) for line, result in file.numbered_records(request))
        return
    for place, result in enumerate(file.records("results", "results")):
        yield f"results.results[{place}]", result


def _usage_amounts(result: Any) -> dict[str, object]:
    """Return the cost, the tokens and the latency of a call. If the answer came from a cache, the
    amounts describe the original call, and `billed_cost` is 0."""
    usage = value_at_key_path(result, "response", "tokenUsage") or value_at_key_path(
        result, "tokenUsage"
    )
    cached = value_at_key_path(result, "response", "cached") is True
    return {
        "cost": value_at_key_path(result, "cost"),
        # An answer that promptfoo reads from its cache costs nothing.
        "billed_cost": 0 if cached else value_at_key_path(result, "cost"),
        "cached": cached,
        "tokens": value_at_key_path(usage, "total"),
        "tokens_in": value_at_key_path(usage, "prompt"),
        "tokens_out": value_at_key_path(usage, "completion"),
        "latency_ms": value_at_key_path(result, "latencyMs"),
    }


def _task_name_from_variables(result: Any) -> str:
    """The name of a task: the only variable if it is a string, or all variables as JSON."""
    values = value_at_key_path(result, "vars")
    if isinstance(values, dict) and len(values) == 1:
        (only,) = values.values()
        if isinstance(only, str):
            return only
    return json.dumps(values, sort_keys=True, ensure_ascii=False)


def _assertions_hash(result: Any) -> str:
    test = {key: value_at_key_path(result, "testCase", key) for key in ("assert", "description")}
    return sha256(json.dumps(test, sort_keys=True).encode()).hexdigest()[:6]


PROMPTFOO = Format(
    "promptfoo",
    "success is true; an error is a missing outcome. --outcome selects one assertion by its metric"
    " or type",
    "github.com/promptfoo/promptfoo: src/types/index.ts",
    lambda file: (
        file.has_keys(*_RESULT_KEYS)
        or file.has_keys(*(f"results.results[].{key}" for key in _RESULT_KEYS))
    ),
    _contents,
    read_usage_amounts=_usage_amounts,
    cost_causes_besides_model="models that grade",
    example=Example(
        ("output.json", "output.jsonl"),
        """\
{"evalId": "eval-a", "results": {"results": [
   {"promptIdx": 0, "testIdx": 0, "vars": {"q": "1 + 1"}, "success": true, "score": 1,
    "failureReason": 0, "provider": {"id": "openai:gpt-5.5"}, "prompt": {"label": "{{q}}"}},
   {"promptIdx": 0, "testIdx": 1, "vars": {"q": "1 + 2"}, "success": false, "score": 0,
    "failureReason": 1, "provider": {"id": "openai:gpt-5.5"}, "prompt": {"label": "{{q}}"}}
 ]}}
""",
    ),
)
