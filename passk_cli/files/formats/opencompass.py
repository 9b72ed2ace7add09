"""OpenCompass's results: outputs/…/TIME/results/MODEL/DATASET.json, with details.

Source: github.com/open-compass/opencompass (Apache-2.0), opencompass/openicl/icl_evaluator/
icl_base_evaluator.py, evaluate, and opencompass/tasks/openicl_eval.py, format_details.  The details
are a list of records {"example_abbr", "correct": [true, …], "pred": […]}, and the lists in a record
have one entry per repeat. For perplexities and in older versions, the details are an object
{"type": "PPL", "0": {"correct": true}}. The name of the outcome depends on the evaluator. If a
record has several outcomes, passk reads the first outcome, like OpenCompass's G-Pass@k.  Without
--dump-eval-details, the file contains only averages. passk recognises such a file by the folder
predictions/MODEL/ next to the folder results/.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator
from typing import Any

from passk_cli.errors import FileWithoutResultsError
from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    judge_without_harness_pass_rule,
    value_at_key_path,
)

_OUTCOME_KEYS = ("correct", "is_correct", "cascade_correct")


def _has_only_averages(file: File) -> bool:
    values = file.short_document.values() if isinstance(file.short_document, dict) else ()
    stem, model = file.name.removesuffix(".json"), file.path.parent.name
    return (
        bool(values)
        and all(isinstance(value, int | float) for value in values)
        and bool(file.sibling_names(f"../../predictions/{glob.escape(model)}/{glob.escape(stem)}*"))
    )


def _has_numbered_details(file: File) -> bool:
    return any(file.has_keys(f"details.0.{name}") for name in (*_OUTCOME_KEYS, "origin_prediction"))


def _contents(file: File) -> Contents:
    above, suite = file.path.parent, file.name.removesuffix(".json")
    if _has_only_averages(file):
        problem = "the file contains averages without details"
        remedy = "evaluate with --dump-eval-details"
        raise FileWithoutResultsError(file.source.name, problem, remedy)
    judged = (name in detail for _, detail in _details(file) for name in _OUTCOME_KEYS)
    if not any(judged):
        problem = f"the details contain no outcome ({', '.join(_OUTCOME_KEYS)})"
        remedy = "the evaluator scores all answers at once, so give a table of task and outcome"
        raise FileWithoutResultsError(file.source.name, problem, remedy)
    facts: dict[str, object] = {"suite": suite}
    if above.parent.name == "results":
        facts |= {"model": above.name, "run": above.parent.parent.name}

    def rows(request: RowRequest) -> Iterator[Row]:
        for task, detail in _details(file):
            outcomes = next(
                (v for name in _OUTCOME_KEYS if (v := detail.get(name)) is not None), None
            )
            is_list = isinstance(outcomes, list)
            attempts = outcomes if isinstance(outcomes, list) else [outcomes]
            for attempt, outcome in enumerate(attempts):
                answer = value_at_key_path(detail, "pred", attempt)
                yield Row(
                    # The name of an example begins with the name of the dataset.
                    task.removeprefix(f"{suite}_"),
                    *judge_without_harness_pass_rule(outcome),
                    attempt,
                    answer=answer if is_list else detail.get("predictions"),
                    place=f"details: {task}[{attempt}]" if is_list else f"details: {task}",
                )

    return Contents(rows, constants=facts)


def _details(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    if _has_numbered_details(file):
        numbered = file.object_members("details")
        yield from ((name, detail) for name, detail in numbered if isinstance(detail, dict))
        return
    for place, detail in enumerate(file.records("details")):
        task = str(value_at_key_path(detail, "example_abbr") or place)
        yield task, detail if isinstance(detail, dict) else {}


OPENCOMPASS = Format(
    "opencompass",
    "correct, is_correct or cascade_correct that is true or 1; other numbers need --threshold",
    "github.com/open-compass/opencompass: opencompass/openicl/icl_evaluator/icl_base_evaluator.py",
    lambda file: (
        file.structure == "object"
        and (
            file.has_keys("details[].example_abbr")
            or _has_numbered_details(file)
            or _has_only_averages(file)
        )
    ),
    _contents,
    ("../../predictions/**/*.json", "../../summary/*"),
    example=Example(
        ("outputs/default/TIME/results/MODEL/gsm8k.json",),
        """\
{"accuracy": 75.0, "details": [
   {"example_abbr": "gsm8k_0", "pred": ["4", "5"], "correct": [true, false]},
   {"example_abbr": "gsm8k_1", "pred": ["7", "7"], "correct": [true, true]}]}
""",
        arguments="outputs/default/TIME/results",
    ),
)
