"""Classes for checks of the data: declarations of checks, the input of a check, and the findings of
a check."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from passk_cli.diagnostic import DiagnosticType
from passk_cli.files.database import TextColumn, quote_name_if_needed, quote_text
from passk_cli.files.reading.layout import Batch
from passk_cli.files.reading.profile import RowSampleProfile
from passk_cli.files.request import RESERVED_OUTPUT_COLUMNS, Request
from passk_cli.files.roles import (
    ATTEMPT_FACT_ROLES,
    CONVERTED_TABLE_COLUMNS,
    HISTORY_COLUMNS,
    SETTING_COLUMN_NAMES,
    amount_addends,
    find_column_and_keys,
    usual_columns,
)
from passk_cli.files.sources.source import Source
from passk_cli.suggested_fix import SuggestedFix

CERTAIN, LIKELY, EITHER = "error", "warning", "error or warning"


def value_at_path(record: Any, path: str) -> Any:
    """The value at a dotted path in a record, or None if there is no such value.

    >>> value_at_path({"a": {"b": 1}}, "a.b"), value_at_path({"a": [1]}, "a.b")
    (1, None)
    """
    for key in path.split("."):
        record = record.get(key) if isinstance(record, Mapping) else None
    return record


@dataclass(frozen=True, eq=False, repr=False)
class CheckFinding:
    """A contradiction between the rows of the files and the roles of their columns.

    message_type : the type of the message, with a template for the values in `message_fields`.
    certain : true if passk stops and asks you about the finding, or false if passk only prints a
        warning.
    suggested_fixes : the options that resolve the finding, the likeliest option first.
    place : the name of the file, if the finding concerns only one of several files.
    """

    message_type: DiagnosticType
    certain: bool
    message_fields: Mapping[str, Any]
    suggested_fixes: tuple[SuggestedFix, ...] = ()
    place: str = ""

    def __post_init__(self) -> None:
        allowed = tuple(
            s
            for s in self.suggested_fixes
            if RESERVED_OUTPUT_COLUMNS.isdisjoint(s.options.get("--by", ()))
        )
        object.__setattr__(self, "suggested_fixes", allowed)


@dataclass(frozen=True, eq=False, repr=False)
class ReadingCheck:
    """A check that finds one kind of contradiction in the data.

    severity : CERTAIN if passk always stops, LIKELY if passk only prints a warning, or EITHER if
        both can happen.
    message_condition_sentence : a sentence for users about the condition under which passk shows
        the message.
    resolving_options : the options that resolve a finding, as users type them.
    findings_function : the function that finds the contradictions.
    """

    message_type: DiagnosticType
    severity: str
    message_condition_sentence: str
    resolving_options: tuple[str, ...]
    findings_function: Callable[[CheckContext], Iterator[CheckFinding]]


@dataclass(frozen=True, eq=False, repr=False)
class CheckContext:
    """The data that a check receives: the roles of the columns and a profile of the rows.

    cell_columns : the columns of a table with one row per cell. A cell contains all attempts by one
        model at one task.
    profile_all_rows_of_some_cells : a function for files that are larger than the sample. The
        function reads all rows of some cells, and returns a profile of the given columns in these
        rows.
    """

    profile: RowSampleProfile
    batches: Sequence[Batch]
    request: Request
    cell_columns: Mapping[str, TextColumn]
    profile_all_rows_of_some_cells: Callable[[Sequence[str]], RowSampleProfile] = field(repr=False)

    @cached_property
    def sources(self) -> list[Source]:
        return [source for batch in self.batches for source in batch.sources]

    @property
    def models(self) -> Sequence[str]:
        return self.cell_columns["name"].distinct_texts

    @property
    def tasks(self) -> Sequence[str]:
        return self.cell_columns["task"].distinct_texts

    def role_column(self, role: str) -> str:
        """The column with a role in the first batch that has such a column. The result is "" if no
        batch has one."""
        return next(filter(None, (batch.roles.column(role) for batch in self.batches)), "")

    def column_expression_sql(self, column: str) -> str:
        """The SQL expression to use in a condition for a column, or for the text of a nested
        field."""
        paths = (
            find_column_and_keys(column, batch.layout.kinds_by_column) for batch in self.batches
        )
        base, keys = next(filter(None, paths), (column, []))
        if not keys:
            return quote_name_if_needed(base)
        *upper, last = map(quote_text, keys)
        return f"({quote_name_if_needed(base)}{''.join(f'->{key}' for key in upper)}->>{last})"

    @cached_property
    def is_known_format(self) -> bool:
        """Whether all files were written by a harness or by passk."""
        return all(
            batch.layout.is_harness_format
            or any(
                batch.layout.kinds_by_column.keys() >= {*names}
                for names in (CONVERTED_TABLE_COLUMNS, HISTORY_COLUMNS)
            )
            for batch in self.batches
        )

    @cached_property
    def has_named_outcome(self) -> bool:
        """Whether the user named the outcome column, or the words for passes or failures."""
        request = self.request
        has_outcome_column = "outcome" in request.fields or request.outcome is not None
        return has_outcome_column or bool(request.passes or request.fails)

    @cached_property
    def has_attempt_numbers(self) -> bool:
        """Whether a column contains attempt numbers."""
        return any(batch.roles.attempt for batch in self.batches)

    @cached_property
    def task_names_lacking_digits(self) -> list[str]:
        """The tasks with names that contain no digit. If passk read a header or a total as a task,
        the name usually contains no digit."""
        return [name for name in self.tasks if re.search("[0-9]", name) is None]

    @cached_property
    def unread_columns(self) -> list[str]:
        """The columns that passk does not read and that no option names."""
        request = self.request
        read = {*request.by, *request.pool, request.cluster, *request.copied_columns}
        if request.conversion is not None:
            read |= {*SETTING_COLUMN_NAMES}
        for batch in self.batches:
            kinds = batch.layout.kinds_by_column
            for role, column in batch.roles.columns().items():
                read |= {part for part, _ in amount_addends(role, column, kinds)}
            read |= {
                part for joined in batch.layout.joined_columns.values() for part in joined.parts
            }
            if batch.has_suites_in_task_ids:
                read.add("suite")
        # Cost and answer columns do not count as unread, because passk reads these columns if a
        # metric needs them.
        names = [column for column in self.profile.columns if column not in read]
        facts = {
            c for role in ATTEMPT_FACT_ROLES if role != "score" for c in usual_columns(role, names)
        }
        return [name for name in names if name not in facts]
