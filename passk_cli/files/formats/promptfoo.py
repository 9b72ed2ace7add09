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
    nested_value,
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
        names |= dict.fromkeys(name for name, _ in _assertions(result))

    def rows(request: RowRequest) -> Iterator[Row]:
        for place, result in _results(file, request):
            task = _task_name_from_variables(result)
            if len(tests[task]) > 1:
                task += f" #{_assertions_hash(result)}"
            failed = nested_value(result, "failureReason") == _ERROR or _is_early_version_error(
                result
            )
            provider = nested_value(result, "provider")
            output = nested_value(result, "response", "output")
            if request.outcome == _SUCCESS:
                success, score = nested_value(result, "success"), nested_value(result, "score")
            else:
                assertions = [a for name, a in _assertions(result) if name == request.outcome]
                success = _all_pass(assertions)
                score = nested_value(assertions, 0, "score") if len(assertions) == 1 else None
            yield Row(
                task,
                None if failed else success,
                None if failed else score,
                nested_value(result, "testIdx"),
                "error" if failed else "",
                model=nested_value(provider, "label") or nested_value(provider, "id") or provider,
                settings={
                    "prompt": nested_value(result, "prompt", "label")
                    or nested_value(result, "prompt", "raw"),
                    "temperature": nested_value(provider, "config", "temperature"),
                    "cached": nested_value(result, "response", "cached"),
                },
                answer=output,
                solution=output,
                place=place,
                record=result,
            )

    return Contents(rows, tuple(names), facts, default_outcome=_SUCCESS)


def _is_early_version_error(result: Any) -> bool:
    """Whether a result of an early version, which has no failureReason, ended with an error."""
    reason, grading = nested_value(result, "failureReason"), nested_value(result, "gradingResult")
    return reason is None and not grading and bool(nested_value(result, "error"))


def _assertions(result: Any) -> Iterator[tuple[str, Any]]:
    """Yield (metric, result) for each assertion of a test. If an assertion has no metric, the type
    of the assertion replaces the metric."""
    assertions = nested_value(result, "gradingResult", "componentResults")
    for assertion in assertions if isinstance(assertions, list) else []:
        check = nested_value(assertion, "assertion")
        name = nested_value(check, "metric") or nested_value(check, "type")
        if isinstance(name, str):
            yield name, assertion


def _all_pass(assertions: Sequence[Any]) -> object:
    """Whether all assertions pass.

    The result is None if there are no assertions, or if a grader raised an error and no assertion
    failed.
    """
    erred = [nested_value(assertion, "metadata", "graderError") is True for assertion in assertions]
    verdicts = [
        nested_value(assertion, "pass")
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
    usage = nested_value(result, "response", "tokenUsage") or nested_value(result, "tokenUsage")
    cached = nested_value(result, "response", "cached") is True
    return {
        "cost": nested_value(result, "cost"),
        # An answer that promptfoo reads from its cache costs nothing.
        "billed_cost": 0 if cached else nested_value(result, "cost"),
        "cached": cached,
        "tokens": nested_value(usage, "total"),
        "tokens_in": nested_value(usage, "prompt"),
        "tokens_out": nested_value(usage, "completion"),
        "latency_ms": nested_value(result, "latencyMs"),
    }


def _task_name_from_variables(result: Any) -> str:
    """The name of a task: the only variable if it is a string, or all variables as JSON."""
    values = nested_value(result, "vars")
    if isinstance(values, dict) and len(values) == 1:
        (only,) = values.values()
        if isinstance(only, str):
            return only
    return json.dumps(values, sort_keys=True, ensure_ascii=False)


def _assertions_hash(result: Any) -> str:
    test = {key: nested_value(result, "testCase", key) for key in ("assert", "description")}
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
    extra_cost_sources="models that grade",
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
