"""List the columns of the files, with the options that select each column. Columns that passk uses
come first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from passk_cli.errors import DataError
from passk_cli.files.checks import CheckContext, CheckFinding
from passk_cli.files.checks.setting_columns import POOLED_SETTINGS_WARNING
from passk_cli.files.reading.profile import RowSampleProfile
from passk_cli.files.request import Request
from passk_cli.files.roles import combined_columns
from passk_cli.files.sources.arguments import is_read_once
from passk_cli.outcomes.provenance import DescribedColumn
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import short_names, truncated_text

if TYPE_CHECKING:
    import duckdb

    from passk_cli.files.reading.candidates import Candidates
    from passk_cli.files.sources.source import Source

# The list of columns shows at most _SHOWN_VALUES values per column and _SHOWN_LETTERS characters
# per value.
_SHOWN_VALUES, _SHOWN_LETTERS = 3, 16


def column_choices(
    con: duckdb.DuckDBPyConnection,
    sources: Sequence[Source],
    context: CheckContext,
    findings: Sequence[CheckFinding],
) -> Iterator[DescribedColumn]:
    """Yield the columns that passk uses, then the candidates for each role, then pooled settings,
    and finally all other columns.

    passk suggests no --field options for files of a harness, because the format defines the roles.
    """
    request, profile = context.request, context.profile
    roles = dict.fromkeys(pair for b in context.batches for pair in b.roles.columns().items())
    used_columns = {part for _, column in roles for part in combined_columns(column)}
    place = (
        None
        if context.is_known_format
        else _candidates_sharing_used_columns(con, sources, request, used_columns)
    )
    tallies = {name: _values_text(profile, name) for name in profile.columns}
    if place is not None:
        known_tallies = {
            **place.summary_by_column,
            **{task.column: task.values_summary for task in place.get("task", ())},
        }
        tallies = known_tallies | tallies if place.coverage else tallies | known_tallies
    for role, column in roles:
        option = SuggestedFix({"--field": {role: column}}) if place else None
        yield DescribedColumn(role, column, option, tallies.get(column, ""), has_role=True)
    for column in request.by:
        yield DescribedColumn(
            "setting", column, SuggestedFix({"--by": (column,)}), tallies.get(column, ""), True
        )
        used_columns.add(column)
    for role in ("outcome", "counts", "task", "model", "setting"):
        for candidate in place.get(role, ()) if place else ():
            candidate_columns = {*combined_columns(candidate.column)}
            if not candidate_columns & used_columns or (
                role == "outcome" and (role, candidate.column) not in roles
            ):
                values = tallies.get(candidate.column, candidate.values_summary)
                yield DescribedColumn(role, candidate.column, candidate.option, values)
                used_columns |= candidate_columns
    pooled = {
        str(f.message_fields["column"])
        for f in findings
        if f.message_type is POOLED_SETTINGS_WARNING
    } - used_columns
    for column in sorted(pooled):
        option = SuggestedFix({"--by": (column,)})
        yield DescribedColumn(
            "setting", column, option, tallies.get(column, ""), varies_within_tasks=True
        )
    for column in tallies:
        if column not in used_columns | pooled:
            yield DescribedColumn("", column, None, tallies[column])


def _candidates_sharing_used_columns(
    con: duckdb.DuckDBPyConnection,
    sources: Sequence[Source],
    request: Request,
    used_columns: set[str],
) -> Candidates | None:
    from passk_cli.files.reading.candidates import find_candidates

    if any(is_read_once(source.frame) for source in sources):
        return None
    places: Sequence[Candidates] = ()
    with suppress(DataError):
        places = find_candidates(con, sources, request)
    place = max(
        places,
        key=lambda candidate_place: len(used_columns & candidate_place.summary_by_column.keys()),
        default=None,
    )
    return place if place is not None and used_columns & place.summary_by_column.keys() else None


def _values_text(profile: RowSampleProfile, name: str) -> str:
    column = profile.columns[name]
    values = [truncated_text(text) for text in profile.distinct_texts(name, _SHOWN_VALUES)]
    texts = short_names(values, _SHOWN_LETTERS)
    more = column.distinct_count - len(texts)
    missing = f"; {1 - column.present_share:.0%} missing" if column.present_share < 1 else ""
    return ", ".join(texts) + (f" and {more:,} more" if more > 0 else "") + missing
