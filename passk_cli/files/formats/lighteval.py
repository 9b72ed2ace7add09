"""lighteval's details: details/MODEL/TIME/details_TASK_TIME.parquet, one row per sample.

Source: github.com/huggingface/lighteval (MIT), src/lighteval/logging/evaluation_tracker.py and
info_loggers.py: columns doc, metric and model_response.  passk offers each metric as an outcome.
If a sample has several answers, each metric is a single number for all answers, such as avg@n.

Before version 0.10, the columns have other names, such as full_prompt, predictions and metrics, and
contain values in Python syntax. Samples from before version 0.10 have no ids, so passk uses the
position of a sample as the task. Two models with the same number of samples therefore have the
same tasks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from passk_cli.errors import BadRecordError, FileWithoutResultsError
from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    judge_without_harness_pass_rule,
    require_type,
)
from passk_cli.text import truncated_text

_CURRENT_LAYOUT_KEYS = (
    "doc.id",
    "doc.task_name",
    "doc.num_samples",
    "model_response.text",
    "metric",
)
_OLD_KEYS = ("full_prompt", "predictions", "metrics", "specifics", "choices")
_NAN_PATTERN = re.compile(r"\bnan\b")
_TIME_FOLDER_PATTERN = re.compile(r"\d{4}-\d\d-\d\dT[\d.-]+")


def _contents(file: File) -> Contents:
    if not file.has_keys(*_CURRENT_LAYOUT_KEYS):
        return _old_contents(file)
    metrics = sorted(key for key in file.keys if key.startswith("metric."))
    inner = [key for key in metrics if any(key.startswith(f"{metric}.") for metric in metrics)]
    outcomes = tuple(key.removeprefix("metric.") for key in metrics if key not in inner)
    most = max(
        (answers or 1 for (answers,) in file.parquet_row_tuples(("doc", "num_samples"))), default=1
    )
    _require_one_answer_per_sample(file, most, outcomes)

    def rows(request: RowRequest) -> Iterator[Row]:
        columns = ("doc", "id"), ("doc", "task_name"), ("metric", request.outcome)
        values = file.parquet_row_tuples(*columns, ("model_response", "text"))
        for number, (task, suite, value, texts) in enumerate(values, 1):
            text = texts[0] if texts else None
            outcome, place = judge_without_harness_pass_rule(value), f"row {number}"
            yield Row(task, *outcome, 0, suite=suite, solution=text, place=place)

    return Contents(rows, outcomes, _model_and_run(file))


def _require_one_answer_per_sample(file: File, answers: int, outcomes: tuple[str, ...]) -> None:
    if answers > 1:
        problem = f"{answers} answers to a sample share one value of {', '.join(outcomes)}"
        remedy = f"give a table of task, n and c, where c = {answers} × avg@n is how many pass"
        raise FileWithoutResultsError(file.source.name, problem, remedy)


def _model_and_run(file: File) -> dict[str, object]:
    time = file.path.parent
    if _TIME_FOLDER_PATTERN.fullmatch(time.name):
        above = time.parent.parts
        # In the path of a Lighteval file, the organisation that made the model is a separate
        # folder.
        model_parts = above[above.index("details") + 1 :] if "details" in above else above[-1:]
        return {"model": "/".join(model_parts), "run": time.name}
    return {}


def _old_contents(file: File) -> Contents:
    outcomes: tuple[str, ...] = ()
    most = 1
    for metrics, choices, predictions in file.parquet_row_tuples(
        ("metrics",), ("choices",), ("predictions",)
    ):
        outcomes = outcomes or tuple(_parse_metric_values(file, metrics))
        # For multiple-choice tasks, `predictions` contains the probabilities of the choices.
        most = max(most, 1 if choices != "[]" else len(_parse_python_text(file, predictions)))
    _require_one_answer_per_sample(file, most, outcomes)
    time = file.path.parent.name
    suite = file.name.removesuffix(".parquet").removeprefix("details_").removesuffix(f"_{time}")
    facts = {**_model_and_run(file), "suite": suite}

    def rows(request: RowRequest) -> Iterator[Row]:
        for number, (metrics, text) in enumerate(
            file.parquet_row_tuples(("metrics",), ("predictions",))
        ):
            value, place = (
                _parse_metric_values(file, metrics).get(request.outcome),
                f"row {number + 1}",
            )
            yield Row(
                number, *judge_without_harness_pass_rule(value), 0, solution=text, place=place
            )

    return Contents(rows, outcomes, facts)


def _parse_metric_values(file: File, text: object) -> dict[str, Any]:
    values = require_type(file, "metrics", _parse_python_text(file, text), dict) or {}
    return {str(name): value for name, value in values.items()}


def _parse_python_text(file: File, text: object) -> Any:
    try:
        value = ast.literal_eval(_NAN_PATTERN.sub("None", str(text)))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        value = None
    if isinstance(value, list | dict):
        return value
    problem = f"{truncated_text(str(text))} is neither a list nor a record in Python syntax"
    raise BadRecordError(
        file.source.name, problem, "use the file that lighteval wrote, without changes"
    )


LIGHTEVAL = Format(
    "lighteval",
    "a metric of 1 passes; other numbers need --threshold",
    "github.com/huggingface/lighteval: src/lighteval/logging/evaluation_tracker.py",
    lambda file: (
        file.structure == "parquet"
        and (file.has_keys(*_CURRENT_LAYOUT_KEYS) or file.has_keys(*_OLD_KEYS))
    ),
    _contents,
    example=Example(
        ("details/ORGANISATION/MODEL/2026-01-01T00-00-00.000000/details_gsm8k_TIME.parquet",),
        """\
{"doc": {"id": "0", "task_name": "gsm8k|5", "num_samples": 1},
 "metric": {"extractive_match": 1.0}, "model_response": {"text": ["4"]}}
{"doc": {"id": "1", "task_name": "gsm8k|5", "num_samples": 1},
 "metric": {"extractive_match": 0.0}, "model_response": {"text": ["5"]}}
""",
        arguments="details",
    ),
)
