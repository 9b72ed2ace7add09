"""Check a reading by six rules, and warn about errors in place of answers.

A check is one declaration: its message, severity, condition, test, and the options that settle it.
A certain finding is an error, and passk stops and asks you. A likely finding is a warning. No other
code guesses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from passk_cli.diagnostic import Diagnostic
from passk_cli.errors import DataError
from passk_cli.files.checks import (
    amounts,
    errors,
    files,
    names,
    repeats,
    settings,
    statements,
    verdicts,
)
from passk_cli.files.checks.check import CheckContext, Finding, ReadingCheck
from passk_cli.files.checks.settings import DISTINGUISHING, attempt_number_column
from passk_cli.files.reading.layout import Batch
from passk_cli.files.roles import find_column

# The number of tasks that a test needs in files larger than a sample.
ENOUGH_TASKS = 500
# passk asks about the first certain finding, so the order matters.
_RULES = (verdicts, statements, amounts, names, repeats, errors, settings, files)
CHECKS: tuple[ReadingCheck, ...] = tuple(check for rule in _RULES for check in rule.CHECKS)

__all__ = [
    "CHECKS",
    "DISTINGUISHING",
    "ENOUGH_TASKS",
    "Check",
    "CheckContext",
    "Finding",
    "attempt_number_column",
    "find_contradictions",
    "finding_error",
    "finding_warning",
]


def find_contradictions(context: CheckContext) -> Iterator[Finding]:
    """Find what contradicts a reading, or makes it unlikely."""
    for test in dict.fromkeys(check.test for check in CHECKS):
        yield from test(context)


def finding_error(finding: Finding, batches: Sequence[Batch]) -> DataError:
    """The error for a finding, at its file or at the first file with its column."""
    diagnostic, column = (
        finding.message(**finding.fields),
        finding.fields.get("column", "").strip("'"),
    )
    having = [batch for batch in batches if find_column(column, batch.layout.kinds)] or batches
    place = finding.place or having[0].sources[0].name
    return DataError(place, diagnostic.text, name=diagnostic.name, settles=finding.settles)


def finding_warning(finding: Finding) -> Diagnostic:
    """The warning that reports a finding."""
    return replace(finding.message(**finding.fields), settles=finding.settles)
