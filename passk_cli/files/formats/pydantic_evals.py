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
    contents_by_scorer,
    judge_without_pass_rule,
    nested_value,
    require_list,
)

_REPEATED_CASE_NAME_PATTERN = re.compile(r" \[(\d+)/\d+\]$")


def _contents(file: File) -> Contents:
    report = file.document()

    def cases() -> JudgedAttempts:
        for place in ("cases", "failures"):
            for number, case in enumerate(require_list(file, place, report.get(place))):
                judged = {}
                for kind in ("assertions", "scores", "labels"):
                    results = nested_value(case, kind)
                    for name, result in (results if isinstance(results, dict) else {}).items():
                        judged[name] = judge_without_pass_rule(nested_value(result, "value"))
                repeat = _REPEATED_CASE_NAME_PATTERN.search(str(nested_value(case, "name")))
                about = {
                    "task": nested_value(case, "source_case_name") or nested_value(case, "name"),
                    "attempt": repeat and nested_value(case, "source_case_name") and int(repeat[1]),
                    "reason": "error" if place == "failures" else "",
                    "answer": as_text(nested_value(case, "output")),
                    "place": f"{place}[{number}]",
                    "record": case,
                }
                yield judged, about

    model = nested_value(report, "experiment_metadata", "model")
    facts = {"model": model if isinstance(model, str) else None, "run": report.get("name")}
    return contents_by_scorer(cases, facts=facts)


PYDANTIC_EVALS = Format(
    "pydantic-evals",
    "an assertion that is true; other scores than 0 and 1 need --threshold, labels need --passes;"
    " a case that ended with an error is no outcome",
    "github.com/pydantic/pydantic-ai: pydantic_evals/pydantic_evals/reporting/__init__.py",
    lambda file: (
        file.has_keys("cases", "failures", "experiment_metadata")
        and (file.has_keys("cases[].assertions") or file.has_keys("failures[].error_stacktrace"))
    ),
    _contents,
    read_usage_amounts=lambda case: {"seconds": nested_value(case, "task_duration")},
    extra_cost_sources="evaluators that ask a model",
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
