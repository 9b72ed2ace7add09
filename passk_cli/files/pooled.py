"""Several models in a table in which nothing is read as the model: the column that tells."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import duckdb

from passk_cli.errors import DataError
from passk_cli.files.arguments import ROWS
from passk_cli.files.database import quote_text
from passk_cli.files.explain import records
from passk_cli.files.layout import Batch
from passk_cli.files.roles import candidates
from passk_cli.files.statement import Statement, Tally
from passk_cli.report.words import first_few

_LOOKED_AT, _LONGEST, _MOST_VALUES, _MOST_COLUMNS = 500, 100, 1000, 8
# Of the pairs of a task and a value, how many have the same number of rows in an even split.
_EVEN = 0.9


def pooled_models(
    con: duckdb.DuckDBPyConnection, statement: Statement, tally: Tally
) -> DataError | None:
    """Error where a column that is not used splits the repeats of tasks evenly.

    The files are read once more for it, only where no model is named, attempts have no numbers or
    repeat, tasks repeat, and there is such a column.  Not looked for on a cluster.
    """
    batches = [batch for batch in statement.batches if any(s.label is None for s in batch.sources)]
    several = int(tally.every["attempts"].max(initial=0)) > 1
    named = any(batch.roles.model for batch in statement.batches)
    if not batches or named or not several or statement.request.engine != "duckdb":
        return None
    repeated = bool(tally.repeats.attempts)
    if statement.request.duplicates == "keep" and not tally.every["unrepeated"].all():
        # Where repeats are kept they were not counted.
        ((attempts, *_),) = con.execute(statement.exact.repeats()).fetchall()
        repeated = bool(attempts)
    if all(batch.roles.attempt for batch in batches) and not repeated:
        return None
    columns = list(islice(_candidates(statement, batches), _MOST_COLUMNS))
    if not columns:
        return None
    _count(con, statement, columns)
    splits = {column: _split(con, i) for i, column in enumerate(columns)}
    even = [(column, *split) for column, split in splits.items() if split is not None]
    if not even:
        return None
    # Of a model and its maker, say, the model says more.
    column, rows, values = max(even, key=lambda split: len(split[2]))
    return _error(batches[0], column, values, rows, repeated and statement.request.duplicates)


def _error(
    batch: Batch, column: str, values: list[str], rows: int, duplicates: str | bool
) -> DataError:
    """The error at a column.

    duplicates : the policy for attempts that come more than once; False where none do.
    """
    source = batch.sources[0]
    in_memory = source.path == "<frame>" or source.name == ROWS
    instead = attempt = ""
    shown = shlex.quote(column)
    if column == batch.roles.attempt:
        instead = f" in place of --field attempt={shown}"
    elif rows == 1:
        attempt = f"; if it numbers attempts, --field attempt={shown}"
    pool = "leave the column out" if in_memory else "use label=path"
    if duplicates == "error":
        # Their numbers would be refused next.
        pool += " with --duplicates keep"
    return DataError(
        source.name,
        f"{len(values)} values of {column!r} ({first_few(values)}) share the tasks evenly and would"
        " be pooled as one model",
        f"keep them apart with --field model={shown} or --by {shown}{instead}{attempt}; to pool"
        f" them as one model, {pool}",
        name="pooled-models",
    )


def _candidates(statement: Statement, batches: list[Batch]) -> Iterator[str]:
    """Columns of few short texts that nothing is read from, or the attempt's beside another."""
    request = statement.request
    used = {*request.by, *statement.settings, *statement.where, request.cluster}
    for batch in batches:
        # The attempt's column, where another one has a usual name for it, may be a model's.
        attempt = batch.roles.attempt
        doubtful = {*candidates("attempt", batch.layout.kinds)} - {attempt}
        used |= {*batch.roles.columns().values()} - ({attempt} if doubtful else set())
    layouts = [batch.layout for batch in batches]
    shared = [c for c in layouts[0].kinds if all(c in layout.kinds for layout in layouts)]
    texts = [
        column
        for column in shared
        if column not in used
        and all(layout.kinds[column] - {"null"} == {"text"} for layout in layouts)
    ]
    first = list(islice(records(batches[0]), _LOOKED_AT)) if texts else []
    for column in texts:
        values = [str(record.get(column)) for _, record in first]
        alike = len(values) < 2 or len(set(values)) < len(values)
        if alike and max(map(len, values), default=0) <= _LONGEST:
            yield column


def _count(con: duckdb.DuckDBPyConnection, statement: Statement, columns: list[str]) -> None:
    """The table splits_: rows of each model, group, task and value of each column."""
    # Of files, whichever engine has counted them.
    own = Statement(statement.batches, statement.names, statement.request, statement.where)
    care = replace(statement.care, careful=True, numeric=False)
    own = own.having(care=care, carried=tuple(columns))
    cell = ", ".join(["name", *own.groups, "task"])
    carried = [f"carried{i}" for i in range(len(columns))]
    sets = ", ".join(f"({cell}, {column})" for column in carried)
    grouping = ", ".join(f"grouping({column}) = 0 AS of_{column}" for column in carried)
    labels = {source.label for batch in own.batches for source in batch.sources} - {None}
    others = ", ".join(quote_text(str(label)) for label in labels)
    unlabelled = f"AND name NOT IN ({others})" if labels else ""
    con.execute(f"""
CREATE OR REPLACE TEMP TABLE splits_ AS
WITH {own.rows(None)},
named AS (SELECT rows.*, coalesce(names.name, model) AS name
          FROM rows LEFT JOIN names ON names.file = rows.file)
SELECT {cell}, {", ".join(carried)}, {grouping}, hash({cell}) AS cell, count(*) AS times
FROM named WHERE task IS NOT NULL {unlabelled} GROUP BY GROUPING SETS ({sets})""")


def _split(con: duckdb.DuckDBPyConnection, i: int) -> tuple[int, list[str]] | None:
    """Rows of each value at a task, and the values, where these split tasks evenly; else None."""
    own = f"(SELECT * FROM splits_ WHERE of_carried{i})"
    ((values, cells),) = con.execute(
        f"SELECT count(DISTINCT carried{i}), count(DISTINCT cell) FROM {own}"
    ).fetchall()
    if not 2 <= values <= _MOST_VALUES:
        return None
    ((rows, pairs),) = con.execute(
        f"SELECT times, count(*) AS pairs FROM {own} WHERE carried{i} IS NOT NULL"
        " GROUP BY times ORDER BY pairs DESC, times LIMIT 1"
    ).fetchall()
    if pairs < _EVEN * values * cells:
        return None
    texts = con.execute(
        f"SELECT DISTINCT carried{i} FROM {own} WHERE carried{i} IS NOT NULL ORDER BY 1"
    ).fetchall()
    return rows, [text for (text,) in texts]
