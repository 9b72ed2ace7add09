"""Check whether the rows of the files contradict the roles that passk assigned to the columns.

Each check is declared once, with a message, a severity, a condition, a test and the options that
resolve the finding. If a finding is certain, passk stops and asks you. If a finding is only likely,
passk prints a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from passk_cli.diagnostic import Diagnostic
from passk_cli.errors import DataError
from passk_cli.files.checks import (
    aggregated_rows,
    harness_errors,
    non_model_files,
    problem_statements,
    repeats,
    setting_columns,
    task_names,
    verdicts,
)
from passk_cli.files.checks.check import CheckContext, CheckFinding, ReadingCheck
from passk_cli.files.checks.setting_columns import (
    DISTINGUISHING_COLUMN_WARNINGS,
    attempt_number_column,
)
from passk_cli.files.reading.layout import Batch
from passk_cli.files.roles import find_column_and_keys

# If files are larger than the sample, the checks read all rows of FULLY_READ_TASK_COUNT tasks.
FULLY_READ_TASK_COUNT = 500
# The order of the checks matters, because passk asks the user only about the first certain
# finding.
_CHECK_MODULES = (
    verdicts,
    problem_statements,
    aggregated_rows,
    task_names,
    repeats,
    harness_errors,
    setting_columns,
    non_model_files,
)
CHECKS: tuple[ReadingCheck, ...] = tuple(check for rule in _CHECK_MODULES for check in rule.CHECKS)

__all__ = [
    "CHECKS",
    "DISTINGUISHING_COLUMN_WARNINGS",
    "FULLY_READ_TASK_COUNT",
    "CheckContext",
    "CheckFinding",
    "attempt_number_column",
    "find_contradictions",
    "finding_error",
    "finding_warning",
]


def find_contradictions(context: CheckContext) -> Iterator[CheckFinding]:
    """Find the contradictions between the rows of the files and the roles of their columns."""
    for test in dict.fromkeys(check.findings_function for check in CHECKS):
        yield from test(context)


def finding_error(finding: CheckFinding, batches: Sequence[Batch]) -> DataError:
    """The error for a finding that is certain. The place of the error is the first file that
    contains the column of the finding, unless the finding names another file."""
    diagnostic = finding.message_type(**finding.message_fields)
    column = finding.message_fields.get("column", "").strip("'")
    having = [
        batch for batch in batches if find_column_and_keys(column, batch.layout.kinds_by_column)
    ] or batches
    place = finding.place or having[0].sources[0].name
    return DataError(place, diagnostic.text, name=diagnostic.name, settles=finding.suggested_fixes)


def finding_warning(finding: CheckFinding) -> Diagnostic:
    """The warning for a finding that is only likely."""
    return replace(finding.message_type(**finding.message_fields), fixes=finding.suggested_fixes)
