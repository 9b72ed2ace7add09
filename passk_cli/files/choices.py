"""Choices: the columns of a file that is read, those in use first, with the option for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from passk_cli.errors import DataError
from passk_cli.files.request import Request
from passk_cli.files.roles import parts
from passk_cli.outcomes.provenance import Choice, ReadColumn
from passk_cli.settle import Settle

if TYPE_CHECKING:
    import duckdb

    from passk_cli.files.sources.source import Source

# Roles in the order in which other candidates are shown: an outcome matters most.
_OTHERS = ("outcome", "counts", "task", "model", "setting")


def choices(
    con: duckdb.DuckDBPyConnection,
    sources: Sequence[Source],
    request: Request,
    roles: Mapping[str, str],
    columns: Sequence[ReadColumn],
) -> Iterator[Choice]:
    """The columns of the first file: those in use, other candidates of each role, and the rest.

    roles : role → the column that plays it.  columns : all columns, from a sample of all rows.
    Nothing for a harness's file.
    """
    from passk_cli.files.reading.candidates import find_candidates

    found = []
    with suppress(DataError):
        found = find_candidates(con, sources, request)
    used = {part for column in roles.values() for part in parts(column)}
    # Records are read at the place that has the columns.
    place = max(found, key=lambda each: len(used & each.columns.keys()), default=None)
    if place is None or not used & place.columns.keys():
        return
    tallies = dict(place.columns)
    tallies |= {each.column: each.tally for each in place.get("task", ())}
    if place.some:
        # The beginning of a long file may have one value only.
        tallies |= {each.name: each.values for each in columns}
    for role, column in roles.items():
        option = Settle({"--field": {role: column}})
        yield Choice(role, column, option, tallies.get(column, ""), used=True)
    for column in request.by:
        yield Choice("setting", column, Settle({"--by": (column,)}), tallies.get(column, ""), True)
        used.add(column)
    for role in _OTHERS:
        for each in place.get(role, ()):
            own = {*parts(each.column)}
            if not own & used or (role == "outcome" and each.column not in roles.values()):
                values = tallies.get(each.column, each.tally)
                yield Choice(role, each.column, each.option, values)
                used |= own
    pooled = {each.name for each in columns if each.taken == "setting?"} - used
    for column in sorted(pooled):
        yield Choice("setting", column, Settle({"--by": (column,)}), tallies.get(column, ""))
    used |= pooled
    for column in place.columns:
        if column not in used:
            yield Choice("", column, None, tallies[column])
