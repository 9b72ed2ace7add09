"""Columns of files, what each was taken for, and why."""

from __future__ import annotations

from collections.abc import Iterator

from passk_cli.files.checks.check import CheckContext, Finding
from passk_cli.files.checks.errors import ERRORS_AS_FAILURES
from passk_cli.files.reading.layout import Batch
from passk_cli.files.reading.survey import Observed, Survey, distinct, joined_codes
from passk_cli.files.request import Request
from passk_cli.files.roles import OF_ATTEMPTS, ROLES, candidates, find, spelled
from passk_cli.outcomes.provenance import ReadColumn
from passk_cli.text import short_names, shortened

# Values of a column that are shown, and their letters.
_SHOWN, _LETTERS = 3, 16
# Share of a task's rows, or of a cell's, that settles what a column is.
_NEARLY = 0.98


def read_columns(context: CheckContext, findings: list[Finding]) -> Iterator[ReadColumn]:
    """Every column of the survey: what it was taken for, and why; those of roles come first."""
    survey = context.survey
    roles = {
        column: (role, batch)
        for batch in context.batches
        for role, column in batch.roles.columns().items()
    }
    messages = {str(found.fields.get("column")): found.message for found in findings}
    amounts = {c: role for role in OF_ATTEMPTS for c in candidates(role, survey.columns)}
    order = [*(name for name in roles if name in survey.columns), *survey.columns]
    for name in dict.fromkeys(order):
        column = survey.columns[name]
        taken, why = _taken(survey, column)
        if name in roles:
            taken, batch = roles[name]
            why = _reason(batch, context.request, taken)
        elif name in context.request.by:
            taken, why = "group", "kept apart as asked"
        elif name in context.request.pool:
            taken, why = "setting", "pooled on purpose"
        elif name in messages:
            message = messages[name]
            taken = "error?" if message is ERRORS_AS_FAILURES else "setting?"
            why = message.name
        elif name in amounts:
            taken, why = amounts[name], "read where it is asked for"
        yield ReadColumn(name, taken, why, _values(survey, column))


def _reason(batch: Batch, request: Request, role: str) -> str:
    """Why a column plays a role in some files, and which other columns could by their names or
    values; "" of a harness's, which are what its format says they are."""
    if batch.layout.harness:
        return ""
    roles, kinds = batch.roles.columns(), batch.layout.kinds
    ranks = ROLES[role].ranks
    rank = ranks.get(spelled(roles[role]))
    why = "by its name" if rank == 0 else "by a name that often stands for something else"
    if role in request.fields or (role == "outcome" and request.outcome is not None):
        why = "as asked"
    elif rank is None:
        why = "by the format"
    taken = {(find(column, kinds) or (column,))[0] for column in roles.values()}
    others = [
        other
        for other, of in kinds.items()
        if other not in taken
        and (other.lower() in ranks or (role == "outcome" and of - {"null"} == {"bool"}))
    ]
    return why + (f"; it could also be {', '.join(others)}" if others else "")


def _taken(survey: Survey, column: Observed) -> tuple[str, str]:
    """The looks of a column that is not read, and why."""
    codes = column.codes
    if column.distinct < 2:
        return ("constant", "one value") if column.share == 1 else ("not read", "one value or none")
    there = (survey.task >= 0) & (codes >= 0)
    pairs = distinct(joined_codes(survey.task[there], codes[there]))
    if pairs <= distinct(survey.task[there]) / _NEARLY and pairs < there.sum():
        return "property of the task", "one value at each task"
    cell = joined_codes(survey.cell[there], codes[there])
    if distinct(cell) >= _NEARLY * there.sum() and pairs < there.sum():
        return "not read", "another value in each attempt at a task"
    if column.distinct >= _NEARLY * there.sum():
        return "not read", "another value in each row"
    return "not read", "varies among attempts at a task"


def _values(survey: Survey, column: Observed) -> str:
    """The first values of a column, and how many more there are."""
    values = [shortened(text) for text in survey.texts(column.name, _SHOWN)]
    texts = short_names(values, _LETTERS)
    more = column.distinct - len(texts)
    missing = f"; {1 - column.share:.0%} missing" if column.share < 1 else ""
    return ", ".join(texts) + (f" and {more:,} more" if more > 0 else "") + missing
