"""EvalPlus's eval_results.json, both generations, for HumanEval+ and MBPP+.

Source: github.com/evalplus/evalplus (Apache-2.0), evalplus/evaluate.py.
New: {"eval": {task: [{"base_status": "pass", "plus_status": "fail", "solution": …}, …]}}.
Old: {"eval": {task: {"nfiles": n, "base": [["success", …], …], "plus": [["failed", …], …]}}}.
"plus" passes where both the base tests and the added ones do, as the harness counts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from passk_cli.files.formats.format import Contents, Folder, Format, Row, Wanted, at
from passk_cli.files.formats.head import Head

_PASSES = ("pass", "success")
_FAILURES = ("fail", "failed", "timeout", "timed out")
_TEMPERATURE = re.compile(r"_temp_(\d+(?:\.\d+)?)(?![\d.]*\d)")


def _mine(head: Head) -> bool:
    below = {key.rsplit("[].", 1)[-1].rsplit(".", 1)[-1] for key in head.keys if key[:5] == "eval."}
    return "base_status" in below or {"nfiles", "base"} <= below


def _table(head: Head, folder: Folder) -> Contents:
    first = next((_attempts(value) for _, value in head.members("eval")), [])
    outcomes = ("base", "plus") if any(plus is not None for _, plus, _ in first) else ("base",)
    named = _TEMPERATURE.search(head.name) or _TEMPERATURE.search(head.path.parent.name)
    facts = {"temperature": float(named[1])} if named else {}
    return Contents(lambda wanted: _rows(head, wanted), outcomes, facts)


def _attempts(value: Any) -> list[tuple[object, object, object]]:
    """(status of the base tests, of the added ones, solution) of each attempt at a task."""
    if isinstance(value, list):
        return [(at(a, "base_status"), at(a, "plus_status"), at(a, "solution")) for a in value]
    base, plus = at(value, "base"), at(value, "plus")
    if not isinstance(base, list):
        return [] if base is None else [(base, plus, None)]
    return [(at(one, 0), at(plus, place, 0), None) for place, one in enumerate(base)]


def _rows(head: Head, wanted: Wanted) -> Iterator[Row]:
    for task, value in head.members("eval"):
        attempts = _attempts(value)
        if not attempts:
            yield Row(task, None, 0, "not attempted", place=f"eval.{task}")
        for attempt, (base, plus, solution) in enumerate(attempts):
            statuses = (base,) if wanted.outcome == "base" else (base, plus)
            outcome, reason = _verdict(statuses)
            texts = wanted.of(solution=solution)
            place = f"eval.{task}[{attempt}]"
            yield Row(task, outcome, attempt, reason, texts=texts, place=place)


def _verdict(statuses: tuple[object, ...]) -> tuple[object, str]:
    """Passing needs every status to pass; a status that is none of the known is the outcome."""
    if None in statuses:
        return None, "unscored"
    strange = [s for s in statuses if s not in _PASSES + _FAILURES]
    if strange:
        return strange[0], ""
    failure = next((str(s) for s in statuses if s in _FAILURES), "")
    return failure == "", "timeout" if failure.startswith("time") else ""


EVALPLUS = Format(
    "evalplus",
    "base: the status of the base tests is pass; plus: that of the added tests too",
    "github.com/evalplus/evalplus: evalplus/evaluate.py",
    _mine,
    _table,
)
