"""Documents and tables of one evaluation in the shapes that people write."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.conftest import jsonl

Names = Mapping[str, str]

USUAL = {"task": "task_id", "outcome": "passed", "attempt": "trial", "model": "model"}
NEAR = {"task": "test_case", "outcome": "test_passed", "attempt": "lap_of_run", "model": "llm_used"}
OWN = {"task": "parcel", "outcome": "thumbs", "attempt": "zz", "model": "contestant"}

TASKS, ATTEMPTS, MODELS = [f"q{i}" for i in range(8)], range(3), ("x-1", "y-2")


def passes(task: int, attempt: int, model: int) -> bool:
    """The outcome of an attempt: 13 of 24 pass of the first model, 11 of the second."""
    return (task * 7 + attempt * 5 + model * 3 + task * attempt) % 4 < 2


def rows(names: Names, *, models: int = 1) -> list[dict[str, Any]]:
    """A row for each attempt."""
    return [
        {
            names["task"]: task,
            **({names["model"]: MODELS[m]} if models > 1 else {}),
            names["attempt"]: attempt,
            "seconds": 3.5 + attempt,
            names["outcome"]: passes(t, attempt, m),
        }
        for m in range(models)
        for t, task in enumerate(TASKS)
        for attempt in ATTEMPTS
    ]


def table(records: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, records[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def _without(record: dict[str, Any], *columns: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in columns}


def _grouped(records: list[dict[str, Any]], column: str) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        groups.setdefault(str(record[column]), []).append(_without(record, column))
    return groups


def _inside(record: dict[str, Any], names: Names) -> dict[str, Any]:
    """A record with nested records that contain its task and its outcome."""
    remainder = _without(record, names["task"], names["outcome"])
    return {
        "meta": {names["task"]: record[names["task"]]},
        **remainder,
        "check_result": {names["outcome"]: record[names["outcome"]], "note": "x"},
    }


def _turns(record: dict[str, Any]) -> dict[str, Any]:
    return {**record, "turns": [{"status": "success"}, {"status": "error"}]}


# Name → how many models it has, and the file's name and text for these names of columns.
SHAPES: dict[str, tuple[int, Callable[[Names], tuple[str, str]]]] = {
    "csv": (1, lambda n: ("a.csv", table(rows(n)))),
    "lines": (1, lambda n: ("a.jsonl", jsonl(rows(n)))),
    "array": (1, lambda n: ("a.json", json.dumps(rows(n)))),
    "records in records": (1, lambda n: ("a.jsonl", jsonl([_inside(r, n) for r in rows(n)]))),
    "turns beside": (1, lambda n: ("a.jsonl", jsonl([_turns(r) for r in rows(n)]))),
    "a list of attempts": (
        1,
        lambda n: (
            "a.jsonl",
            jsonl([{n["task"]: t, "tries": of} for t, of in _grouped(rows(n), n["task"]).items()]),
        ),
    ),
    "a list below keys": (
        1,
        lambda n: ("a.json", json.dumps({"config": {"seed": 1}, "data": {"runs": rows(n)}})),
    ),
    "task to attempts": (
        1,
        lambda n: ("a.json", json.dumps({"of": "m", "by": _grouped(rows(n), n["task"])})),
    ),
    "task to attempts at the top": (
        1,
        lambda n: ("a.json", json.dumps(_grouped(rows(n), n["task"]))),
    ),
    "model to lists": (
        2,
        lambda n: ("a.json", json.dumps({"all": _grouped(rows(n, models=2), n["model"])})),
    ),
    "a model in each line": (
        2,
        lambda n: (
            "a.jsonl",
            jsonl(
                [
                    {n["model"]: m, "arm": "z", "entries": of}
                    for m, of in _grouped(rows(n, models=2), n["model"]).items()
                ]
            ),
        ),
    ),
    "model to task to attempts": (
        2,
        lambda n: (
            "a.json",
            json.dumps(
                {
                    m: _grouped(of, n["task"])
                    for m, of in _grouped(rows(n, models=2), n["model"]).items()
                }
            ),
        ),
    ),
    "task to runs to flags": (
        1,
        lambda n: (
            "a.json",
            json.dumps(
                {
                    t: {f"run_{r[n['attempt']]}": r[n["outcome"]] for r in of}
                    for t, of in _grouped(rows(n), n["task"]).items()
                }
            ),
        ),
    ),
    "models as rows": (2, lambda n: ("a.csv", table(rows(n, models=2)))),
}
