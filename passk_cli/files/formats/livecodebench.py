"""LiveCodeBench's *_eval_all.json: an array with a record per problem and a list per attempt.

Source: github.com/LiveCodeBench/LiveCodeBench (MIT), lcb_runner/benchmarks/*.py and
lcb_runner/utils/path_utils.py.  A record has question_id, difficulty, contest_date, graded_list,
and code_list or pred_list.  In test output prediction and code execution several records are of
one question, with a test_id or an id of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from passk_cli.files.formats.format import Contents, File, Format, Row, Wanted, at, listed

# output/<model>/Scenario.codegeneration_10_0.2_eval_all.json
_NAME = re.compile(r"Scenario\.\w+?_\d+_(?P<temperature>\d+(?:\.\d+)?)(?:_\w+)?_eval_all\.json")
_SETTINGS = ("difficulty", "platform", "contest_date")


def _table(file: File) -> Contents:
    name, facts = _NAME.fullmatch(file.name), {}
    if name is not None:
        facts = {"model": file.path.parent.name, "temperature": float(name["temperature"])}
    return Contents(lambda wanted: _rows(file, wanted), facts=facts)


def _rows(file: File, wanted: Wanted) -> Iterator[Row]:
    for place, record in enumerate(file.records()):
        outcomes = listed(file, "graded_list", at(record, "graded_list"))
        own = at(record, "id") if at(record, "test_id") is None else at(record, "test_id")
        question = at(record, "question_id")
        task = question if question is None or own is None else f"{question}/{own}"
        settings = {name: at(record, name) for name in _SETTINGS}
        for attempt, outcome in enumerate(outcomes or [None]):
            yield Row(
                task,
                outcome,
                attempt=attempt,
                reason="" if outcomes else "not attempted",
                settings=settings,
                answer=at(record, "pred_list", attempt),
                solution=at(record, "code_list", attempt),
                place=f"record {place + 1}",
            )


def _covered(file: File) -> tuple[str, ...]:
    """The answers before they were graded, and the numbers of all of them."""
    stem = file.name.removesuffix("_eval_all.json")
    return () if stem == file.name else (f"{stem}.json", f"{stem}_eval.json")


LIVECODEBENCH = Format(
    "livecodebench",
    "an entry of graded_list that is true",
    "github.com/LiveCodeBench/LiveCodeBench: lcb_runner/benchmarks/",
    lambda file: file.form == "array" and file.has("[].question_id", "[].graded_list"),
    _table,
    _covered,
)
