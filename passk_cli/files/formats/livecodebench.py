"""LiveCodeBench's *_eval_all.json: an array with a record per problem and a list per attempt.

Source: github.com/LiveCodeBench/LiveCodeBench (MIT), lcb_runner/benchmarks/*.py and
lcb_runner/utils/path_utils.py.  A record has question_id, difficulty, contest_date, graded_list,
and code_list or pred_list.  In test output prediction and code execution several records are of
one question, with a test_id or an id of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from passk_cli.files.formats.format import (
    Contents,
    Folder,
    Format,
    Row,
    Wanted,
    at,
    listed,
    unscored,
)
from passk_cli.files.formats.head import Head

# output/<model>/Scenario.codegeneration_10_0.2_eval_all.json
_NAME = re.compile(r"Scenario\.\w+?_\d+_(?P<temperature>\d+(?:\.\d+)?)(?:_\w+)?_eval_all\.json")
_SETTINGS = ("difficulty", "platform", "contest_date")


def _table(head: Head, folder: Folder) -> Contents:
    name, facts = _NAME.fullmatch(head.name), {}
    if name is not None:
        facts = {"model": head.path.parent.name, "temperature": float(name["temperature"])}
    return Contents(lambda wanted: _rows(head, wanted), facts=facts)


def _rows(head: Head, wanted: Wanted) -> Iterator[Row]:
    for place, record in enumerate(head.records()):
        outcomes = listed(head, "graded_list", at(record, "graded_list"))
        own = at(record, "id") if at(record, "test_id") is None else at(record, "test_id")
        question = at(record, "question_id")
        task = question if question is None or own is None else f"{question}/{own}"
        settings = {name: at(record, name) for name in _SETTINGS}
        for attempt, outcome in enumerate(outcomes or [None]):
            code, answer = at(record, "code_list", attempt), at(record, "pred_list", attempt)
            yield Row(
                task,
                outcome,
                attempt,
                unscored(outcome) if outcomes else "not attempted",
                settings=settings,
                texts=wanted.of(solution=code, answer=answer),
                place=f"record {place + 1}",
            )


def _covered(head: Head) -> tuple[str, ...]:
    """The answers before they were graded, and the numbers of all of them."""
    stem = head.name.removesuffix("_eval_all.json")
    return () if stem == head.name else (f"{stem}.json", f"{stem}_eval.json")


LIVECODEBENCH = Format(
    "livecodebench",
    "an entry of graded_list that is true",
    "github.com/LiveCodeBench/LiveCodeBench: lcb_runner/benchmarks/",
    lambda head: head.form == "array" and head.has("[].question_id", "[].graded_list"),
    _table,
    _covered,
)
