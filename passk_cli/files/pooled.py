"""Columns that are not read and tell the attempts of each task apart: of models pooled as one, of
the attempts' numbers, or of the task."""

from __future__ import annotations

import csv
import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

import duckdb

from passk_cli.errors import DataError
from passk_cli.files.arguments import ROWS
from passk_cli.files.database import quote_text
from passk_cli.files.explain import records, value_of
from passk_cli.files.layout import Batch
from passk_cli.files.roles import ROLES, SHORT, candidates, spelled
from passk_cli.files.source import parsed
from passk_cli.files.statement import Statement, Tally
from passk_cli.report.words import first_few

_LOOKED_AT, _MOST_VALUES, _MOST_COLUMNS, _BLOCK = 500, 1000, 8, 1 << 14
# Of the pairs of a task and a value, how many have the same number of rows in an even split; of
# tasks, how many have the numbers of their attempts.
_EVEN = 0.9
# What is asked of each model and task.
_OF_CELLS = ("attempts", "numbered", "unrepeated")


@dataclass(frozen=True)
class _Split:
    """A column that tells the attempts of each task apart.

    rows : of one value at a task.  values : all of them, in their order.
    numbers : whether they are 0, 1, 2 … or 1, 2, 3 … at each task, nearly all of them once.
    """

    column: str
    rows: int
    values: list[str]
    numbers: bool


def unread_column(
    con: duckdb.DuckDBPyConnection,
    statement: Statement,
    tally: Tally,
    tallied_by: Callable[[str], Tally],
) -> DataError | str | None:
    """A column that is not used and tells the attempts of each task apart: its name where it has
    a name of the attempts' numbers and holds them, else the error that asks what it is.

    tallied_by : the answer where a column holds the attempts' numbers.
    The files are read once more for it, only where attempts have no numbers or repeat, tasks
    repeat, and there is such a column; a cluster, once for each such column.
    """
    request = statement.request
    # A row without a task is no attempt, as a summary or a line that is passed over.
    every = {c: tally.every[c][~tally.every["task"].absent] for c in _OF_CELLS}
    several = int(every["attempts"].max(initial=0))
    fewest = int(every["attempts"].min(initial=several))
    if several < 2:
        return None
    named = any(batch.roles.model for batch in statement.batches)
    # Attempts of a label are one model's, whatever columns there are.
    nameless = (
        [] if named else [b for b in statement.batches if any(not s.label for s in b.sources)]
    )
    numbered = bool((every["numbered"] == every["attempts"]).all())
    repeated = bool(tally.repeats.attempts)
    if request.duplicates == "keep" and not every["unrepeated"].all() and nameless:
        # Where repeats are kept they were not counted.
        ((attempts, *_),) = con.execute(statement.exact.repeats()).fetchall()
        repeated = bool(attempts)
    if numbered and not repeated:
        return None
    if nameless:
        columns = _candidates(statement, nameless, fewest, several, "text")
        splits = [s for s in _splits(con, statement, columns, nameless) if s.rows]
        if splits:
            # Of a model and its maker, say, the model says more.
            split = max(splits, key=lambda split: len(split.values))
            return _pooled(nameless[0], split, repeated and request.duplicates)
    if request.duplicates == "keep" or (numbered and request.duplicates != "error"):
        # What the rows are has been decided.
        return None
    batches = [batch for batch in statement.batches if not _of_harness(batch)]
    columns = _candidates(statement, batches, fewest, several, "text", "number")
    # Those with a name of attempts were not chosen.
    columns = [c for c in columns if c not in candidates("attempt", columns)]
    usual = ROLES["attempt"].doubtful.split()
    named_so = [column for column in columns if spelled(column) in usual]
    if len(named_so) == 1 and not any(batch.roles.attempt for batch in batches):
        # Most often it is what its name says, which the reading shows that takes it for that.
        every = tallied_by(named_so[0]).every
        if every["unrepeated"].all() and (every["numbered"] == every["attempts"]).all():
            return named_so[0]
    splits = [
        split
        for split in _splits(con, statement, columns, [])
        # Texts that share the attempts of a model without a name are those of a label.
        if named or split.numbers or "text" not in batches[0].layout.kinds[split.column]
    ]
    by_name = [s.column for s in splits if s.numbers and spelled(s.column) in usual]
    if len(by_name) == 1 and not any(batch.roles.attempt for batch in batches):
        return by_name[0]
    if not splits:
        return None
    return _unread(batches[0], max(splits, key=lambda s: (s.numbers, len(s.values))))


def _of_harness(batch: Batch) -> bool:
    """Whether a harness wrote the files, whose format knows the attempts and the tasks."""
    if not batch.layout.spool:
        return False
    from passk_cli.files.formats import FORMATS

    form = FORMATS.get(batch.layout.kind)
    return form is not None and not form.generic


def _unread(batch: Batch, split: _Split) -> DataError:
    """The error that asks what a column is."""
    shown, task = shlex.quote(split.column), f"{batch.roles.task},{split.column}"
    remedies = [
        f"if it is a part of the task, --field task={shlex.quote(task)}",
        "to pool these rows as attempts at one task, --duplicates keep",
    ]
    if batch.roles.attempt is None and (split.numbers or split.rows == 1):
        remedies.insert(0, f"if it numbers attempts, --field attempt={shown}")
    if not split.numbers:
        remedies.insert(0, f"if it is a setting, --by {shown}")
    tells = "numbers the attempts at each task" if split.numbers else "splits each task evenly"
    problem = f"{split.column!r} is not read and {tells} ({first_few(split.values)})"
    return DataError(batch.sources[0].name, problem, "; ".join(remedies), name="unread-column")


def _pooled(batch: Batch, split: _Split, duplicates: str | bool) -> DataError:
    """The error that models would be pooled as one.

    duplicates : the policy for attempts that come more than once; False where none do.
    """
    source, column = batch.sources[0], split.column
    in_memory = source.path == "<frame>" or source.name == ROWS
    instead = attempt = ""
    shown = shlex.quote(column)
    if column == batch.roles.attempt:
        instead = f" in place of --field attempt={shown}"
    elif split.rows == 1:
        attempt = f"; if it numbers attempts, --field attempt={shown}"
    pool = "leave the column out" if in_memory else "use label=path"
    if duplicates == "error":
        # Their numbers would be refused next.
        pool += " with --duplicates keep"
    return DataError(
        source.name,
        f"{len(split.values)} values of {column!r} ({first_few(split.values)}) share the tasks"
        " evenly and would be pooled as one model",
        f"keep them apart with --field model={shown} or --by {shown}{instead}{attempt}; to pool"
        f" them as one model, {pool}",
        name="pooled-models",
    )


def _candidates(
    statement: Statement, batches: Sequence[Batch], fewest: int, several: int, *kinds: str
) -> list[str]:
    """Columns of few short values that nothing is read from, or the attempt's beside another.

    fewest, several : attempts at a task, the fewest and the most.  kinds : of their values.
    """
    request = statement.request
    used = {*request.by, *statement.settings, *statement.where, *request.carried, request.cluster}
    used |= statement.joined
    for batch in batches:
        # The attempt's column, where another one has a usual name for it, may be a model's.
        attempt = batch.roles.attempt
        doubtful = {*candidates("attempt", batch.layout.kinds)} - {attempt}
        used |= {*batch.roles.columns().values()} - ({attempt} if doubtful else set())
    layouts = [batch.layout for batch in batches]
    shared = [
        column
        for column in (layouts[0].kinds if layouts else ())
        if column not in used
        and all(
            column in layout.kinds and layout.kinds[column] - {"null"} in ({k} for k in kinds)
            for layout in layouts
        )
    ]
    if not shared:
        return []
    # The first are neighbours, which may be all of a task; the others may be of other attempts.
    first = [record for _, record in islice(records(batches[0]), _LOOKED_AT)]
    beginning = batches[0].sources[0]
    if not first and beginning.partial:
        from passk_cli.files.spark.addresses import first_rows

        first = first_rows(beginning, request.spark_master, _LOOKED_AT)
    further = list(_scattered(batches[-1]))
    roles = batches[0].roles
    names = (roles.model, roles.task, *request.by)
    cells = [tuple(str(value_of(record, name)) for name in names) for record in first]
    sizes = Counter(cells)
    whole = {cell for cell, size in sizes.items() if size >= max(2, fewest)}
    return [
        column
        for column in shared
        if _may_split(
            [str(record.get(column)) for record in first],
            [str(record.get(column)) for record in further],
            [cell if cell in whole else None for cell in cells],
            several,
        )
    ][:_MOST_COLUMNS]


def _may_split(
    first: Sequence[str], further: Sequence[str], cells: Sequence[object], several: int
) -> bool:
    """Whether values of a column may tell the attempts of each task apart.

    first : of neighbouring rows.  further : of others, far away; none where that takes long.
    cells : of the first rows, the model and task where all its rows are there.
    """
    values = (*first, *further)
    counts = Counter(values)
    if len(values) < 2:
        return True
    if max(map(len, values)) > SHORT or len(counts) >= min(len(values), several / _EVEN + 1):
        return False
    by_cell: dict[object, Counter[str]] = {}
    for cell, value in zip(cells, first, strict=True):
        if cell is not None:
            by_cell.setdefault(cell, Counter())[value] += 1
    splits = [
        len(each) > 1
        and (len({*each.values()}) == 1 or 2 * list(each.values()).count(1) >= len(each))
        for each in by_cell.values()
    ]
    if splits:
        return 2 * sum(splits) >= len(splits)
    if len(counts) == 1:
        return not further
    # Where rows are in no order, no value has most of them.
    changes = sum(one != other for one, other in pairwise(first))
    return changes < 2 * len(counts) or max(counts.values()) <= 0.6 * len(values)


def _scattered(batch: Batch) -> Iterator[Mapping[str, object]]:
    """Some records of a quarter, the half, three quarters and the end of lines that are not packed.

    Lines that are no records, as in the middle of a quoted text, are left out.
    """
    layout, source = batch.layout, batch.sources[-1]
    kind = "jsonl" if layout.spool else layout.kind
    if kind not in ("jsonl", "csv") or source.packing != "none" or source.partial:
        return
    names = [name for name, _ in layout.columns]
    with open(layout.spool or source.path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        for quarter in range(1, 5):
            file.seek(max(size * quarter // 4 - _BLOCK, 0))
            lines = file.read(_BLOCK).decode(errors="replace").split("\n")[1:-1]
            if kind == "jsonl":
                yield from (record for record in map(parsed, lines) if isinstance(record, dict))
            else:
                for row in csv.reader(lines, delimiter=layout.delimiter):
                    if len(row) == len(names):
                        yield dict(zip(names, row, strict=True))


def _splits(
    con: duckdb.DuckDBPyConnection,
    statement: Statement,
    columns: Sequence[str],
    nameless: Sequence[Batch],
) -> list[_Split]:
    """Those of the columns that tell the attempts of each task apart.

    nameless : where these batches are what is asked about, rows of labels are left out.
    """
    if not columns:
        return []
    if statement.apart and len(columns) > 1:
        # Of all together, a cluster would return nearly every row.
        return [s for column in columns for s in _splits(con, statement, [column], nameless)]
    own = statement.carrying(columns)
    cell = ", ".join(["name", *own.groups, "task"])
    carried = [f"carried{i}" for i in range(len(own.carried) - len(columns), len(own.carried))]
    sets = ", ".join(f"({cell}, {column})" for column in carried)
    grouping = ", ".join(f"grouping({column}) = 0 AS of_{column}" for column in carried)
    labels = {source.label for batch in nameless for source in batch.sources} - {None}
    others = ", ".join(quote_text(str(label)) for label in labels)
    unlabelled = f"AND name NOT IN ({others})" if labels else ""
    # Rows of each model, group, task and value of each column.
    con.execute(f"""
CREATE OR REPLACE TEMP TABLE splits_ AS
WITH {own.rows(None)},
named AS (SELECT rows.*, coalesce(names.name, model) AS name
          FROM rows LEFT JOIN names ON names.file = rows.file)
SELECT {cell}, {", ".join(carried)}, {grouping}, hash({cell}) AS cell, {own.times} AS times
FROM named WHERE task IS NOT NULL {unlabelled} GROUP BY GROUPING SETS ({sets})""")
    splits = (_split(con, value, column) for value, column in zip(carried, columns, strict=True))
    return [split for split in splits if split is not None]


def _split(con: duckdb.DuckDBPyConnection, value: str, column: str) -> _Split | None:
    """How a column, called value in splits_, tells attempts of each task apart; None if not."""
    own = (
        f"(SELECT cell, times, {value} AS value, TRY_CAST({value} AS DOUBLE) AS number"
        f" FROM splits_ WHERE of_{value})"
    )
    ((values, cells),) = con.execute(
        f"SELECT count(DISTINCT value), count(DISTINCT cell) FROM {own}"
    ).fetchall()
    if not 2 <= values <= _MOST_VALUES:
        return None
    ((rows, pairs),) = con.execute(
        f"SELECT times, count(*) AS pairs FROM {own} WHERE value IS NOT NULL"
        " GROUP BY times ORDER BY pairs DESC, times LIMIT 1"
    ).fetchall()
    even = pairs >= _EVEN * values * cells
    ((numbered, several, once),) = con.execute(f"""
SELECT count(*) FILTER (values > 1 AND low = first AND low IN (0, 1) AND high = low + values - 1
                        AND whole), count(*), coalesce(sum(once) / sum(values), 0)
FROM (SELECT count(*) AS values, min(number) AS low, max(number) AS high,
             bool_and(coalesce(number = floor(number), false)) AS whole,
             count(*) FILTER (times = 1) AS once
      FROM {own} GROUP BY cell HAVING sum(times) > 1),
     (SELECT min(number) AS first FROM {own})""").fetchall()
    numbers = several > 0 and numbered >= _EVEN * several and once >= 0.5
    if not even and not numbers:
        return None
    texts = con.execute(
        f"SELECT value FROM {own} WHERE value IS NOT NULL GROUP BY 1 ORDER BY min(number), 1"
    ).fetchall()
    return _Split(column, rows if even else 0, [text for (text,) in texts], numbers)
