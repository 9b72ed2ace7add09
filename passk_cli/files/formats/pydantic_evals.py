"""Reports of Pydantic Evals, written by EvaluationReportAdapter.dump_json(report).

Source: github.com/pydantic/pydantic-ai (MIT), pydantic_evals/reporting/__init__.py, read at 2.62.0:
{name, cases: [{name, source_case_name, assertions, scores, labels}], failures}.  With the option
`repeat`, a case is named "NAME [2/3]", and source_case_name contains NAME.  passk offers each
assertion, score and label as an outcome.  A case in `failures` ended with an error. If an evaluator
raised an exception, the case has no result from this evaluator.
"""

from __future__ import annotations

import re

from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    JudgedAttempts,
    as_text,
    contents_with_scorer_outcomes,
    judge_without_harness_pass_rule,
    require_list,
    value_at_key_path,
)

_REPEATED_CASE_NAME_PATTERN = re.compile(r" \[(\d+)/\d+\]$")


def _contents(file: File) -> Contents:
    report = file.document()

    def cases() -> JudgedAttempts:
        for place in ("cases", "failures"):
            for number, case in enumerate(require_list(file, place, report.get(place))):
                judged = {}
                for kind in ("assertions", "scores", "labels"):
                    results = value_at_key_path(case, kind)
                    for name, result in (results if isinstance(results, dict) else {}).items():
                        judged[name] = judge_without_harness_pass_rule(
                            value_at_key_path(result, "value")
                        )
                repeat = _REPEATED_CASE_NAME_PATTERN.search(str(value_at_key_path(case, "name")))
                about = {
                    "task": value_at_key_path(case, "source_case_name")
                    or value_at_key_path(case, "name"),
                    "attempt": repeat
                    and value_at_key_path(case, "source_case_name")
                    and int(repeat[1]),
                    "reason": "error" if place == "failures" else "",
                    "answer": as_text(value_at_key_path(case, "output")),
                    "place": f"{place}[{number}]",
                    "record": case,
                }
                yield judged, about

    model = value_at_key_path(report, "experiment_metadata", "model")
    facts = {"model": model if isinstance(model, str) else None, "run": report.get("name")}
    return contents_with_scorer_outcomes(cases, facts=facts)


PYDANTIC_EVALS_FORMAT = Format(
    "pydantic-evals",
    "an assertion that is true; other scores than 0 and 1 need --threshold, labels need --passes;"
    " a case that ended with an error is no outcome",
    "github.com/pydantic/pydantic-ai: pydantic_evals/pydantic_evals/reporting/__init__.py",
    lambda file: (
        file.has_keys("cases", "failures", "experiment_metadata")
        and (file.has_keys("cases[].assertions") or file.has_keys("failures[].error_stacktrace"))
    ),
    _contents,
    read_usage_amounts=lambda case: {"seconds": value_at_key_path(case, "task_duration")},
    cost_causes_besides_model="evaluators that ask a model",
    example=Example(
        ("REPORT.json",),
        """\
{"name": "gpt-5.5", "experiment_metadata": null, "cases": [
   {"name": "sum [1/2]", "source_case_name": "sum", "output": "2", "scores": {}, "labels": {},
    "assertions": {"Exact": {"name": "Exact", "value": true}}},
   {"name": "sum [2/2]", "source_case_name": "sum", "output": "3", "scores": {}, "labels": {},
    "assertions": {"Exact": {"name": "Exact", "value": false}}}],
 "failures": []}
""",
    ),
)
