"""Calls of a Weave evaluation, exported as JSON or JSONL from its table of calls.

Source: github.com/wandb/weave (Apache-2.0), weave/evaluation/eval.py and weave/trace/call.py, read
at 0.54.0. Each call is {op_name, trace_id, inputs: {model, example}, output: {output, scores},
exception}.  Calls of Evaluation.predict_and_score are attempts, and passk skips other calls.  A
scorer returns a number, a truth value or an object. passk also offers each number and truth value
inside an object as an outcome.  The option
`trials` repeats each example.  If the model raised an exception, the call has no scores.
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
    value_at_key_path,
)

_ATTEMPT_OPERATION = "Evaluation.predict_and_score"
_OBJECT_NAME_PATTERN = re.compile(r"/(?:object|op)/([^/:]+)")


def _recognises(file: File) -> bool:
    keys = ("op_name", "trace_id", "inputs")
    in_array = (f"[].{key}" for key in keys)
    return _ATTEMPT_OPERATION in file.start_text and (
        file.has_keys(*keys) or file.has_keys(*in_array)
    )


def _contents(file: File) -> Contents:
    def calls() -> JudgedAttempts:
        for number, call in enumerate(file.records(), 1):
            if _ATTEMPT_OPERATION not in str(value_at_key_path(call, "op_name")):
                continue
            scores, judgements = value_at_key_path(call, "output", "scores"), {}
            for name, value in (scores if isinstance(scores, dict) else {}).items():
                parts = value if isinstance(value, dict) else {"": value}
                for part, inner in parts.items():
                    if isinstance(inner, bool | int | float):
                        judgements[f"{name}.{part}".rstrip(".")] = judge_without_harness_pass_rule(
                            inner
                        )
            model = _OBJECT_NAME_PATTERN.search(str(value_at_key_path(call, "inputs", "model")))
            about = {
                "task": as_text(value_at_key_path(call, "inputs", "example")),
                "model": model and model[1],
                "reason": "error" if value_at_key_path(call, "exception") or not judgements else "",
                "answer": as_text(value_at_key_path(call, "output", "output")),
                "place": f"record {number}",
                "record": call,
            }
            yield judgements, about

    return contents_with_scorer_outcomes(calls)


WEAVE = Format(
    "weave",
    "a score that is true or 1; other numbers need --threshold; no scores are no outcome",
    "github.com/wandb/weave: weave/evaluation/eval.py, weave/trace/call.py",
    _recognises,
    _contents,
    read_usage_amounts=lambda call: {"seconds": value_at_key_path(call, "output", "model_latency")},
    cost_causes_besides_model="scorers that ask a model",
    example=Example(
        ("CALLS.json", "CALLS.jsonl"),
        """\
[{"op_name": "weave:///e/p/op/Evaluation.predict_and_score:v0", "trace_id": "t",
  "inputs": {"model": "weave:///e/p/object/gpt-5:v0", "example": {"q": "1 + 1"}},
  "output": {"output": "2", "scores": {"exact": {"match": true}}}, "exception": null},
 {"op_name": "weave:///e/p/op/Evaluation.predict_and_score:v0", "trace_id": "t",
  "inputs": {"model": "weave:///e/p/object/gpt-5:v0", "example": {"q": "1 + 1"}},
  "output": {"output": "3", "scores": {"exact": {"match": false}}}, "exception": null}]
""",
    ),
)
