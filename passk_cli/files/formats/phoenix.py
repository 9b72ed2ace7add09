"""Phoenix's experiments as its server gives them: /v1/experiments/<id>/json.

Source: github.com/Arize-ai/phoenix, src/phoenix/server/api/routers/v1/experiments.py: a record for
each run, [{example_id, repetition_number, output, error, annotations: [{name, label, score}]}].
Each annotation is an outcome.  A run whose task ended in an error is annotated too, without an
output; here it has no outcome.  Its CSV is a table, with columns annotation_<name>_score.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    Wanted,
    at,
    graded,
    listed,
)


def _table(file: File) -> Contents:
    names: dict[str, None] = {}
    for run in file.records():
        annotations = listed(file, "annotations", at(run, "annotations"))
        names.update(dict.fromkeys(str(at(each, "name")) for each in annotations))

    def rows(wanted: Wanted) -> Iterator[Row]:
        for number, run in enumerate(file.records(), 1):
            annotations = listed(file, "annotations", at(run, "annotations"))
            judged = (each for each in annotations if str(at(each, "name")) == wanted.outcome)
            annotation = next(judged, None)
            score, failed = at(annotation, "score"), at(run, "error") is not None
            value = at(annotation, "label") if score is None else score
            said = at(run, "output")
            yield Row(
                at(run, "example_id"),
                *graded(None if failed else value),
                at(run, "repetition_number"),
                "error" if failed else "",
                answer=said if isinstance(said, str) else json.dumps(said),
                place=f"record {number}",
                record=run,
            )

    return Contents(rows, tuple(names))


PHOENIX = Format(
    "phoenix",
    "an annotation's score of 1; a run with an error is no outcome; other numbers need --threshold",
    "github.com/Arize-ai/phoenix: src/phoenix/server/api/routers/v1/experiments.py",
    lambda file: file.has("[].example_id", "[].repetition_number", "[].annotations"),
    _table,
    lambda file: (f"{file.name.removesuffix('.json')}.csv",),
    # Of the run; what evaluators take is apart.
    lambda run: {
        name: at(run, name)
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
