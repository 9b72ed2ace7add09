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
    OutcomeAndScoreByScorer,
    as_text,
    contents_with_scorer_outcomes,
    judge_without_harness_pass_rule,
    require_list,
    value_at_key_path,
)


def _contents(file: File) -> Contents:
    def runs() -> JudgedAttempts:
        for number, run in enumerate(file.records(), 1):
            judgements: OutcomeAndScoreByScorer = {}
            for annotation in require_list(
                file, "annotations", value_at_key_path(run, "annotations")
            ):
                score = value_at_key_path(annotation, "score")
                value = value_at_key_path(annotation, "label") if score is None else score
                judgements.setdefault(
                    str(value_at_key_path(annotation, "name")),
                    judge_without_harness_pass_rule(value),
                )
            about = {
                "task": value_at_key_path(run, "example_id"),
                "attempt": value_at_key_path(run, "repetition_number"),
                "reason": "" if value_at_key_path(run, "error") is None else "error",
                "answer": as_text(value_at_key_path(run, "output")),
                "place": f"record {number}",
                "record": run,
            }
            yield judgements, about

    return contents_with_scorer_outcomes(runs)


PHOENIX = Format(
    "phoenix",
    "an annotation's score of 1; a run with an error is no outcome; other numbers need --threshold",
    "github.com/Arize-ai/phoenix: src/phoenix/server/api/routers/v1/experiments.py",
    lambda file: file.has_keys("[].example_id", "[].repetition_number", "[].annotations"),
    _contents,
    lambda file: (f"{file.name.removesuffix('.json')}.csv",),
    # The costs and tokens in Phoenix are the costs and tokens of the run, without the evaluators.
    lambda run: {
        name: value_at_key_path(run, name)
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
