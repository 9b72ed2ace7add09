"""Sources → batches of files that one SELECT can read: layouts, and the roles of columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from passk_cli.errors import DataError, NoResults
from passk_cli.files.arguments import UNNAMED, model_names
from passk_cli.files.columns import names_in
from passk_cli.files.folders import require_no_copies, strayed, strays
from passk_cli.files.intake import Spooled
from passk_cli.files.layout import Layout, require_distinct, sniff, typed_columns
from passk_cli.files.memory import column_names, register
from passk_cli.files.request import Request
from passk_cli.files.roles import Roles, find
from passk_cli.files.source import Source, mentions
from passk_cli.files.statement import Batch

if TYPE_CHECKING:
    import duckdb

    from passk_cli.files.resume.ledger import Ledger


@dataclass(frozen=True)
class Inputs:
    """Everything to be read.

    sources : all files; none for a table in memory, which is `data`.
    tables : those of them that are tables as they are.  attempts : what formats found in the rest.
    ledger : the counts of files that earlier runs kept, where this is asked.
    """

    data: Any
    sources: Sequence[Source]
    tables: Sequence[Source]
    attempts: Spooled
    ledger: Ledger | None = None


def look(
    con: duckdb.DuckDBPyConnection, inputs: Inputs, request: Request, *, whole: bool
) -> tuple[list[Batch], dict[str, str]]:
    """The batches, and the model name of each nameless file.

    What a folder holds besides results is passed over and kept account of.
    whole : look for columns from end to end, not in the first records.
    Errors: DataError for files without results, or with the same ones.
    """
    if not inputs.sources:
        return _table(con, inputs.data, request)
    attempts = inputs.attempts
    attempts.foreign.clear()
    request_columns = (*request.by, *request.fields.values(), *names_in(con, request.where))
    request_columns += (request.cluster,) if request.cluster else ()
    request_columns += request.conversion.columns if request.conversion else ()
    nameless = {
        source.path
        for batch in attempts.batches
        for source in batch.sources
        if source.label is not None or source.path in attempts.nameless
    }
    groups: dict[Any, list[tuple[Layout, Source]]] = {}
    roles_of: dict[object, Roles] = {}
    for source in inputs.tables:
        try:
            layout = _layout(con, source, request, request_columns, whole, inputs.ledger)
            kinds = frozenset((name, frozenset(seen)) for name, seen in layout.kinds.items())
            if kinds not in roles_of:
                roles_of[kinds] = request.roles_in(source.name, layout.kinds)
        except NoResults as error:
            if source.named:
                raise
            attempts.foreign.append(error)
            continue
        roles = roles_of[kinds]
        if roles.model is None or source.label is not None:
            nameless.add(source.path)
        groups.setdefault(_group(layout, roles), []).append((layout, source))
        if layout.kind != "csv":
            attempts.saw_tasks(source, layout.kinds.get(roles.task, ()))
    batches = [*attempts.batches, *(_joined(key[0], files) for key, files in groups.items())]
    if len(inputs.sources) > 1:
        # What lies in folders by chance.
        alone = strays(batches)
        attempts.foreign += strayed(alone)
        batches = [batch for batch in batches if batch not in alone]
        require_no_copies(batches)
    if not batches:
        first, *others = [*attempts.refused, *attempts.foreign]
        more = f" (and {len(others)} more files that hold no results)" if others else ""
        raise DataError(first.place, f"{first.problem}{more}", first.remedy, name=first.name)
    names = model_names(inputs.sources) if nameless else {}
    return batches, {path: names[path] for path in nameless}


def _layout(
    con: duckdb.DuckDBPyConnection,
    source: Source,
    request: Request,
    columns: Sequence[str],
    whole: bool,
    ledger: Ledger | None,
) -> Layout:
    """The layout of a table, with those columns that only appear further down and in its path."""
    key = "" if ledger is None else ledger.key(source, request.format, columns, whole)
    summary = None if ledger is None else ledger.summary(key)
    if summary is not None:
        layout = Layout.of(summary)
    else:
        layout = _sniffed(con, source, request, whole)
        if not layout.complete and not whole:
            unseen = [column for column in columns if find(column, layout.kinds) is None]
            names = (json.dumps(column.split(".")[0])[:-1].encode() for column in unseen)
            if unseen and (source.partial or any(mentions(source, name) for name in names)):
                layout = _sniffed(con, source, request, whole=True)
        if ledger is not None:
            ledger.keep(key, layout.summary)
    if request.template is None and not request.by:
        return layout
    from passk_cli.files.paths import path_columns

    in_path = path_columns(source.name, request.template, request.by, layout.kinds)
    return replace(layout, constants={name: {source.path: v} for name, v in in_path.items()})


def _sniffed(
    con: duckdb.DuckDBPyConnection, source: Source, request: Request, whole: bool
) -> Layout:
    if whole and source.partial and source.opening == "{":
        from passk_cli.files.spark.addresses import with_all_keys

        with_all_keys(source, request.spark_master)
    return sniff(con, source, request.format, whole=whole)


def _group(layout: Layout, roles: Roles) -> tuple[Any, ...]:
    """Key of the files that one SELECT can read together; their roles first."""
    columns = tuple(name for name, _ in layout.columns) if layout.kind == "csv" else ()
    settings = frozenset(layout.kinds)
    form = (layout.kind, layout.packing, layout.delimiter)
    return (roles, *form, columns or settings, frozenset(layout.constants))


def _joined(roles: Roles, files: Sequence[tuple[Layout, Source]]) -> Batch:
    """Files of one layout as a batch; the kinds of values seen in their columns add up."""
    first = files[0][0]
    kinds: dict[str, frozenset[str]] = {name: frozenset() for name, _ in first.columns}
    constants: dict[str, dict[str, str]] = {}
    for layout, _ in files:
        for name, seen in layout.columns:
            if name in kinds:
                kinds[name] |= seen
        for name, values in layout.constants.items():
            constants.setdefault(name, {}).update(values)
    joint = replace(
        first,
        columns=tuple(kinds.items()),
        complete=all(layout.complete for layout, _ in files),
        constants=constants,
    )
    return Batch(joint, roles, tuple(source for _, source in files))


def _table(
    con: duckdb.DuckDBPyConnection, data: Any, request: Request
) -> tuple[list[Batch], dict[str, str]]:
    """A table in memory: a pandas frame, or anything that hands its rows over as Arrow does."""
    register(con, data)
    require_distinct("DataFrame", column_names(data))
    columns = typed_columns(con.execute("DESCRIBE SELECT * FROM frame").fetchall())
    layout = Layout("frame", "a DataFrame", columns)
    roles = request.roles_in("DataFrame", layout.kinds)
    batch = Batch(layout, roles, (Source("<frame>", "DataFrame", None, "none"),))
    return [batch], {"<frame>": UNNAMED} if roles.model is None else {}
