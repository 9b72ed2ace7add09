"""Columns of files that are read: those in use first, with the option for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from passk_cli.errors import DataError
from passk_cli.files.checks import CheckContext, Finding
from passk_cli.files.checks.laid_out import POOLED_SETTINGS
from passk_cli.files.reading.profile import DataProfile
from passk_cli.files.request import Request
from passk_cli.files.roles import parts
from passk_cli.files.sources.arguments import is_read_once
from passk_cli.outcomes.provenance import ColumnChoice
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import short_names, shortened

if TYPE_CHECKING:
    import duckdb

    from passk_cli.files.reading.candidates import Candidates
    from passk_cli.files.sources.source import Source

# Roles in the order in which other candidates are shown: an outcome matters most.
_OTHERS = ("outcome", "counts", "task", "model", "setting")
# Values of a column that are shown, and their letters.
_SHOWN, _LETTERS = 3, 16


def choices(
    con: duckdb.DuckDBPyConnection,
    sources: Sequence[Source],
    context: CheckContext,
    found: Sequence[Finding],
) -> Iterator[ColumnChoice]:
    """The columns in use, the other candidates of each role, settings that were pooled, and the
    rest.  A harness's format says what its columns are, so they have no options."""
    request, survey = context.request, context.survey
    roles = dict.fromkeys(pair for b in context.batches for pair in b.roles.columns().items())
    used = {part for _, column in roles for part in parts(column)}
    place = None if context.harness else _place(con, sources, request, used)
    tallies = {name: _values(survey, name) for name in survey.columns}
    if place is not None:
        known = {**place.columns, **{each.column: each.tally for each in place.get("task", ())}}
        # The beginning of a long file may have one value only.
        tallies = known | tallies if place.some else tallies | known
    for role, column in roles:
        option = SuggestedFix({"--field": {role: column}}) if place else None
        yield ColumnChoice(role, column, option, tallies.get(column, ""), used=True)
    for column in request.by:
        yield ColumnChoice(
            "setting", column, SuggestedFix({"--by": (column,)}), tallies.get(column, ""), True
        )
        used.add(column)
    for role in _OTHERS:
        for each in place.get(role, ()) if place else ():
            own = {*parts(each.column)}
            if not own & used or (role == "outcome" and (role, each.column) not in roles):
                values = tallies.get(each.column, each.tally)
                yield ColumnChoice(role, each.column, each.option, values)
                used |= own
    pooled = {str(f.fields["column"]) for f in found if f.message is POOLED_SETTINGS} - used
    for column in sorted(pooled):
        option = SuggestedFix({"--by": (column,)})
        yield ColumnChoice("setting", column, option, tallies.get(column, ""), pooled=True)
    for column in tallies:
        if column not in used | pooled:
            yield ColumnChoice("", column, None, tallies[column])


def _place(
    con: duckdb.DuckDBPyConnection, sources: Sequence[Source], request: Request, used: set[str]
) -> Candidates | None:
    """The candidates at the place whose columns are read; None if there is none."""
    from passk_cli.files.reading.candidates import find_candidates

    if any(is_read_once(source.frame) for source in sources):
        return None
    found: Sequence[Candidates] = ()
    with suppress(DataError):
        found = find_candidates(con, sources, request)
    place = max(found, key=lambda each: len(used & each.columns.keys()), default=None)
    return place if place is not None and used & place.columns.keys() else None


def _values(survey: DataProfile, name: str) -> str:
    """The first values of a column, and how many more there are."""
    column = survey.columns[name]
    values = [shortened(text) for text in survey.texts(name, _SHOWN)]
    texts = short_names(values, _LETTERS)
    more = column.distinct - len(texts)
    missing = f"; {1 - column.share:.0%} missing" if column.share < 1 else ""
    return ", ".join(texts) + (f" and {more:,} more" if more > 0 else "") + missing
