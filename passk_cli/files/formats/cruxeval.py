"""CRUXEval's evaluation results: {"raw_scored_generations": {task: [bool, …]}, …}.

Source: github.com/facebookresearch/cruxeval, evaluation/evaluate_generations.py (MIT). passk
ignores the stored pass_at_1 and pass_at_5, because pass_at_5 is always 100 in runs with fewer than
5 attempts per task.
"""

from __future__ import annotations

from collections.abc import Iterator

from passk_cli.files.formats.format import (
    Example,
    File,
    Format,
    Row,
    RowRequest,
    reader_of_outcome_per_attempt,
    require_list,
    value_at_key_path,
)


def _rows(file: File, request: RowRequest) -> Iterator[Row]:
    programs = (
        dict(file.object_members("raw_generations"))
        if "solution" in request.requested_texts
        else {}
    )
    for task, outcomes in file.object_members("raw_scored_generations"):
        for attempt, outcome in enumerate(require_list(file, task, outcomes) or [None]):
            solution = value_at_key_path(programs, task, attempt)
            yield Row(task, outcome, None, attempt, default_missing_reason="", solution=solution)


CRUXEVAL = Format(
    "cruxeval",
    "an entry of raw_scored_generations that is true",
    "github.com/facebookresearch/cruxeval: evaluation/evaluate_generations.py",
    lambda file: file.has_keys("raw_scored_generations"),
    reader_of_outcome_per_attempt(_rows),
    example=Example(
        ("MODEL_temp0.2.json",),
        """\
{"raw_generations": {"sample_0": ["f(1)", "f(2)"], "sample_1": ["f(3)", "f(4)"]},
 "raw_scored_generations": {"sample_0": [true, false], "sample_1": [true, true]},
 "pass_at_1": 75.0, "pass_at_5": 100.0}
""",
    ),
)
