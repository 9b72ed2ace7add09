"""CRUXEval's evaluation results: {"raw_scored_generations": {task: [bool, …]}, …}.

Source: github.com/facebookresearch/cruxeval, evaluation/evaluate_generations.py (MIT).
The stored pass_at_1 and pass_at_5 are not read: pass_at_5 is 100 for runs with n < 5.
"""

from __future__ import annotations

from collections.abc import Iterator

from passk_cli.files.formats.format import Contents, Folder, Format, Row, Wanted, at, listed
from passk_cli.files.formats.head import Head


def _table(head: Head, folder: Folder) -> Contents:
    return Contents(lambda wanted: _rows(head, wanted))


def _rows(head: Head, wanted: Wanted) -> Iterator[Row]:
    solutions = wanted.texts & {"solution"}
    programs = dict(head.members("raw_generations")) if solutions else {}
    for task, outcomes in head.members("raw_scored_generations"):
        for attempt, outcome in enumerate(listed(head, task, outcomes) or [None]):
            texts = {"solution": at(programs, task, attempt)} if solutions else {}
            yield Row(task, outcome, attempt, texts=texts)


CRUXEVAL = Format(
    "cruxeval",
    "an entry of raw_scored_generations that is true",
    "github.com/facebookresearch/cruxeval: evaluation/evaluate_generations.py",
    lambda head: head.has("raw_scored_generations"),
    _table,
)
