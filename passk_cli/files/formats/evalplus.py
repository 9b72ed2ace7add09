"""EvalPlus's eval_results.json for HumanEval+ and MBPP+, in the old and the new layout.

Source: github.com/evalplus/evalplus (Apache-2.0), evalplus/evaluate.py.
New layout: {"eval": {task: [{"base_status": "pass", "plus_status": "fail", "solution": …}, …]}}.
Old layout: {"eval": {task: {"nfiles": n, "base": [["success", …], …], "plus": [["failed", …],
…]}}}. As in EvalPlus, the outcome "plus" passes only if both the base tests and the added tests
pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    value_at_key_path,
)

_PASS_STATUSES = ("pass", "success")
_FAILURE_STATUSES = ("fail", "failed", "timeout", "timed out")
_TEMPERATURE_PATTERN = re.compile(r"_temp_(\d+(?:\.\d+)?)(?![\d.]*\d)")


def _recognises(file: File) -> bool:
    below = {key.rsplit("[].", 1)[-1].rsplit(".", 1)[-1] for key in file.keys if key[:5] == "eval."}
    return "base_status" in below or {"nfiles", "base"} <= below


def _contents(file: File) -> Contents:
    first = next((_attempts(value) for _, value in file.object_members("eval")), [])
    outcomes = ("base", "plus") if any(plus is not None for _, plus, _ in first) else ("base",)
    temperature = _TEMPERATURE_PATTERN.search(file.name) or _TEMPERATURE_PATTERN.search(
        file.path.parent.name
    )
    facts = {"temperature": float(temperature[1])} if temperature else {}

    def rows(request: RowRequest) -> Iterator[Row]:
        for task, value in file.object_members("eval"):
            attempts = _attempts(value)
            if not attempts:
                yield Row(task, None, None, 0, "not attempted", place=f"eval.{task}")
            for attempt, (base, plus, solution) in enumerate(attempts):
                statuses = (base,) if request.outcome == "base" else (base, plus)
                strange = [
                    status
                    for status in statuses
                    if status not in _PASS_STATUSES + _FAILURE_STATUSES
                ]
                failure = next(
                    (str(status) for status in statuses if status in _FAILURE_STATUSES), ""
                )
                # passk keeps an unknown status as the outcome, so that a later step reports an
                # error for the status.
                outcome = None if None in statuses else strange[0] if strange else failure == ""
                late = outcome is False and failure.startswith("time")
                place = f"eval.{task}[{attempt}]"
                reason = "timeout" if late else ""
                yield Row(task, outcome, None, attempt, reason, solution=solution, place=place)

    return Contents(rows, outcomes, facts)


def _attempts(value: Any) -> list[tuple[object, object, object]]:
    """The status of the base tests, the status of the added tests, and the solution of each attempt
    at a task."""
    if isinstance(value, list):
        return [
            (
                value_at_key_path(a, "base_status"),
                value_at_key_path(a, "plus_status"),
                value_at_key_path(a, "solution"),
            )
            for a in value
        ]
    base, plus = value_at_key_path(value, "base"), value_at_key_path(value, "plus")
    if not isinstance(base, list):
        return [] if base is None else [(base, plus, None)]
    return [
        (value_at_key_path(status, 0), value_at_key_path(plus, place, 0), None)
        for place, status in enumerate(base)
    ]


EVALPLUS = Format(
    "evalplus",
    "base: an attempt that passes the base tests; plus: one that passes the added tests too",
    "github.com/evalplus/evalplus: evalplus/evaluate.py",
    _recognises,
    _contents,
    example=Example(
        ("evalplus_results/humaneval/MODEL_temp_0.8_eval_results.json",),
        """\
{"date": "2026-01-01 12:00", "hash": "84f4",
 "eval": {
   "HumanEval/0": [{"task_id": "HumanEval/0", "base_status": "pass", "plus_status": "fail"},
                   {"task_id": "HumanEval/0", "base_status": "pass", "plus_status": "pass"}],
   "HumanEval/1": [{"task_id": "HumanEval/1", "base_status": "fail", "plus_status": "fail"},
                   {"task_id": "HumanEval/1", "base_status": "pass", "plus_status": "pass"}]
 }}
""",
        arguments="evalplus_results/humaneval --outcome plus",
    ),
)
