"""Phoenix's experiments, downloaded from the server at /v1/experiments/ID/json.

Source: github.com/Arize-ai/phoenix, src/phoenix/server/api/routers/v1/experiments.py: one record
per run, [{example_id, repetition_number, output, error, annotations: [{name, label, score}]}].
passk offers each annotation as an outcome.  Phoenix also annotates runs that ended with an error
and have no output. passk treats the outcome of such a run as missing.  Phoenix's CSV is a table
with columns named annotation_NAME_score.
"""

from __future__ import annotations

from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    JudgedAttempts,
    JudgementByScorer,
    as_text,
    contents_by_scorer,
    judge_without_pass_rule,
    nested_value,
    require_list,
)


def _contents(file: File) -> Contents:
    def runs() -> JudgedAttempts:
        for number, run in enumerate(file.records(), 1):
            judgements: JudgementByScorer = {}
            for annotation in require_list(file, "annotations", nested_value(run, "annotations")):
                score = nested_value(annotation, "score")
                value = nested_value(annotation, "label") if score is None else score
                judgements.setdefault(
                    str(nested_value(annotation, "name")), judge_without_pass_rule(value)
                )
            about = {
                "task": nested_value(run, "example_id"),
                "attempt": nested_value(run, "repetition_number"),
                "reason": "" if nested_value(run, "error") is None else "error",
                "answer": as_text(nested_value(run, "output")),
                "place": f"record {number}",
                "record": run,
            }
            yield judgements, about

    return contents_by_scorer(runs)


PHOENIX = Format(
    "phoenix",
    "an annotation's score of 1; a run with an error is no outcome; other numbers need --threshold",
    "github.com/Arize-ai/phoenix: src/phoenix/server/api/routers/v1/experiments.py",
    lambda file: file.has_keys("[].example_id", "[].repetition_number", "[].annotations"),
    _contents,
    lambda file: (f"{file.name.removesuffix('.json')}.csv",),
    # The costs and tokens in Phoenix are the costs and tokens of the run, without the evaluators.
    lambda run: {
        name: nested_value(run, name)
        for name in ("prompt_token_count", "completion_token_count", "latency_ms")
    },
    "evaluators that ask a model",
    example=Example(
        ("EXPERIMENT.json",),
        """\
[{"example_id": "RGF0YTox", "repetition_number": 1, "output": "2", "error": null,
  "annotations": [{"name": "exact", "label": "same", "score": 1.0}]},
 {"example_id": "RGF0YTox", "repetition_number": 2, "output": "3", "error": null,
  "annotations": [{"name": "exact", "label": "other", "score": 0.0}]}]
""",
    ),
)
