"""Results of a Braintrust evaluation: the return value of Eval(), written with as_dict() and
json.dump.

Source: github.com/braintrustdata/braintrust-sdk (Apache-2.0), py/src/braintrust/framework.py, read
at 0.48.1: {summary, results: [{input, expected, output, scores, error, metadata}]}.  passk offers
each score as an outcome.  In Braintrust, the option `trial_count` repeats each input. passk numbers
the attempts at an input in the order of the results.  A task that raised an exception has an error
and no scores. A scorer that raised an exception has no score.
"""

from __future__ import annotations

from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    JudgedAttempts,
    as_text,
    contents_with_scorer_outcomes,
    judge_without_harness_pass_rule,
    value_at_key_path,
)


def _contents(file: File) -> Contents:
    def results() -> JudgedAttempts:
        expected: dict[str, set[str]] = {}
        for result in file.records("results"):
            question = as_text(value_at_key_path(result, "input"))
            expected.setdefault(question, set()).add(as_text(value_at_key_path(result, "expected")))
        for number, result in enumerate(file.records("results")):
            scores, task = (
                value_at_key_path(result, "scores"),
                as_text(value_at_key_path(result, "input")),
            )
            if len(expected[task]) > 1:
                task += f" → {as_text(value_at_key_path(result, 'expected'))}"
            about = {
                "task": task,
                "reason": "" if value_at_key_path(result, "error") is None else "error",
                "answer": as_text(value_at_key_path(result, "output")),
                "place": f"results[{number}]",
                "record": result,
            }
            items = scores.items() if isinstance(scores, dict) else ()
            yield {name: judge_without_harness_pass_rule(score) for name, score in items}, about

    summary = file.document("results").get("summary")
    return contents_with_scorer_outcomes(
        results, facts={"run": value_at_key_path(summary, "experiment_name")}
    )


BRAINTRUST = Format(
    "braintrust",
    "a score of 1; other scores need --threshold; a task with an error has no outcome",
    "github.com/braintrustdata/braintrust-sdk: py/src/braintrust/framework.py",
    lambda file: file.has_keys("summary.experiment_name", "results[].input", "results[].scores"),
    _contents,
    example=Example(
        ("RESULTS.json",),
        """\
{"summary": {"project_name": "sums", "experiment_name": "gpt-5.5", "scores": {}},
 "results": [
   {"input": "1 + 1", "expected": "2", "output": "2", "scores": {"exact": 1}, "error": null},
   {"input": "1 + 1", "expected": "2", "output": "3", "scores": {"exact": 0}, "error": null}]}
""",
    ),
)
