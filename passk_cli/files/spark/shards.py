"""Rows that a Spark cluster groups, as shards of the statement that reads files.

What comes home is a table per batch, with a row for each different combination of values and how
often it is there: what a value means, conditions, policies and errors are those of one machine.

Attempt numbers do not come home.  Of each group their number and the exclusive or of their hashes
does, which shows whether they are 0 … n−1 or 1 … n; else the cluster looks for repeats itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np

from passk_cli.errors import ParameterError
from passk_cli.files.counting.statement import Shards, Statement
from passk_cli.files.database import FILE_COLUMN, models_kept, quote_name
from passk_cli.files.reading.layout import Batch, Layout
from passk_cli.files.request import Request
from passk_cli.files.roles import EACH, UNITS, addends, find
from passk_cli.files.sources.arguments import ROWS
from passk_cli.files.sources.cluster import given, paths_by, require_readable, uri_of
from passk_cli.files.sources.session import HERE, NotOnSpark, explained, session
from passk_cli.files.spark.rows import (
    DOUBTS,
    FAULT,
    FILE,
    FINGERPRINT,
    GREATEST_FILE,
    LEAST_FILE,
    NUMBER,
    NUMBERED,
    WEIGHT,
    Rows,
    SparkColumn,
    name,
    require_sound,
    text,
)  # fmt: skip
from passk_cli.settle import Blank, Given, Settle

# What is counted of each group.
_COUNTED = (WEIGHT, NUMBERED, FINGERPRINT)
# Groups of a batch that may come home.
MOST_GROUPS = 50_000_000
# Numbers 0 … n−1 are recognised up to this n, as in files.
_DENSE = 100_000
# How Java writes a number with an exponent, and what it writes for those that are not finite.
_JAVA = r"-?[0-9]\.[0-9]+E-?[0-9]+"
_DECIMAL = rf"-?[0-9]+\.[0-9]+|{_JAVA}"
_NOT_FINITE = """('"NaN"', '"Infinity"', '"-Infinity"')"""


class SparkShards(Shards):
    """The tables of groups that the cluster returned of a statement's batches."""

    dense = (
        "EXISTS (SELECT 1 FROM dense_ AS d"
        " WHERE d.count = totals.numbered AND fingerprint IN (d.from_0, d.from_1))"
    )

    def __init__(
        self, con: duckdb.DuckDBPyConnection, statement: Statement, carried: Sequence[str] = ()
    ) -> None:
        _require_possible(statement.batches, statement.request)
        self.con, self.spark = con, session(statement.request.spark_master)
        self.statement, self.batches, self.request = (
            statement, statement.batches, statement.request,
        )  # fmt: skip
        self.carried = tuple(carried)
        self.numbers_here = "attempt" in self.request.attempts or self.request.order
        self.tables: list[Layout] = []
        self.uris: dict[str, str] = {}
        self._gather()

    def carrying(self, statement: Statement, columns: Sequence[str]) -> SparkShards:
        """Groups of these columns as well."""
        return SparkShards(self.con, self.statement, columns)

    def require_numbers(self) -> None:
        """Gather once more, with the number of each attempt."""
        if not self.numbers_here:
            self.numbers_here = True
            self._gather()

    def rows(self, statement: Statement, batch: Batch, files: str, *, ordered: bool) -> str:
        """The groups as rows."""
        place = next(i for i, each in enumerate(self.batches) if each is batch)
        counted = self._counted(batch)
        roles = replace(batch.roles, attempt=None) if counted else batch.roles
        own = statement.having(carried=(*statement.carried, *_COUNTED))
        rows = own.rows_of(replace(batch, layout=self.tables[place], roles=roles))
        times, numbers, code = (f"carried{len(statement.carried) + i}" for i in range(3))
        # Numbers of attempts that came home are of all rows of a group.
        return (
            f"SELECT *, {times}::BIGINT AS times, CASE WHEN attempt IS NULL THEN"
            f" {numbers}::BIGINT ELSE {times}::BIGINT END AS numbers, CASE WHEN attempt IS NULL"
            f" THEN {code}::UBIGINT WHEN {times}::BIGINT % 2 = 1 THEN hash(attempt)"
            f" ELSE 0::UBIGINT END AS code FROM ({rows})"
        )

    def ordered(self, keep: str | None) -> bool:
        """Whether rows have an order: they have none."""
        if keep is not None:
            raise ParameterError(
                Given("--duplicates", keep),
                "attempts are repeated, and rows on a cluster have no order;"
                " leave the repeated ones out of the files", name="contradicting-options",
                settles=[HERE],
            )  # fmt: skip
        return False

    def repeats(self, statement: Statement) -> str:
        """As of files; the cluster counts where the numbers of attempts did not come home."""
        shapes = {batch.roles.shape for batch in self.batches}
        nested = any("." in str(c) for b in self.batches for c in b.roles.columns().values())
        plain = shapes == {"attempts"} and not statement.where and not nested
        if not plain or not all(map(self._counted, self.batches)):
            return super().repeats(statement)
        key = [*statement.groups, "task", "attempt"]
        self.con.register("repeated_", self._repeated(key))
        order = ", ".join(["name", *key])
        first = ", ".join(f"(first({c} ORDER BY {order}))" for c in ["name", *key])
        kept = models_kept("name", self.request.models, self.request.exclude_models) or "true"
        return f"""
SELECT count(*), coalesce(sum(times - 1), 0)::BIGINT, {first} FROM repeated_ WHERE {kept}"""

    def _repeated(self, key: Sequence[str]) -> Any:
        """name, the key, and times of the attempts that come more than once."""
        frames = []
        for batch in self.batches:
            roles = [*self.request.by, batch.roles.task, batch.roles.attempt]
            columns = [
                f"CAST({name(str(column))} AS STRING) AS {name(c)}"
                for c, column in zip(key, roles, strict=True)
            ]
            frame = self._read(batch, counted=False).frame(self.spark).where(f"{FAULT} IS NULL")
            column = batch.roles.model
            model = "CAST(NULL AS STRING)" if column is None else f"CAST({name(column)} AS STRING)"
            changed = " ".join(
                f"WHEN {text(new)} THEN {text(old)}" for new, old in self.request.alias.items()
            )
            model = f"CASE {model} {changed} ELSE {model} END" if changed else model
            cases = " ".join(
                f"WHEN {text(self.uris[s.path])}"
                f" THEN {text(self.request.called(self.statement.names[s.path]))}"
                for s in batch.sources
                if s.path in self.statement.names and s.path in self.uris
            )
            model = f"coalesce(CASE {FILE} {cases} END, {model})" if cases else model
            frames.append(frame.selectExpr(f"{model} AS name", *columns))
        every = frames[0]
        for frame in frames[1:]:
            every = every.unionAll(frame)
        named = every.where("attempt IS NOT NULL AND task IS NOT NULL")
        counted = named.groupBy("name", *key).count()
        return self._home(counted.where("count > 1").withColumnRenamed("count", "times"))

    def _counted(self, batch: Batch) -> bool:
        """Whether the numbers of attempts stay on the cluster, where they are only counted."""
        column, layout = batch.roles.attempt, batch.layout
        others = (*self.request.by, self.request.cluster, *self.statement.where, *self.carried)
        if self.numbers_here or column is None or column in others or column in layout.constants:
            return False
        return batch.roles.shape == "attempts"

    def _gather(self) -> None:
        """Every batch's groups, as tables here, and fingerprints of 0 … n−1 and 1 … n."""
        self.tables = [self._table(place, batch) for place, batch in enumerate(self.batches)]
        most, codes = 0, np.zeros(1, dtype=np.uint64)
        for layout, batch in zip(self.tables, self.batches, strict=True):
            # At least the most attempts with counted numbers of a cell.
            constant = batch.roles.task in batch.layout.constants
            task = "true" if constant else quote_name(batch.roles.task)
            sums = f"SELECT sum({quote_name(NUMBERED)}) AS s FROM {layout.table} GROUP BY {task}"
            ((of_cell,),) = self.con.execute(f"SELECT coalesce(max(s), 0) FROM ({sums})").fetchall()
            most += int(of_cell)
        if most := min(most, _DENSE):
            hashes = self.spark.range(most + 1).selectExpr(
                "id", "xxhash64(CAST(id AS STRING)) AS code"
            )
            codes = self._home(hashes.orderBy("id")).column("code").to_numpy().view(np.uint64)
        total = np.bitwise_xor.accumulate(codes)
        self.con.register("dense_", {
            "count": np.arange(1, len(codes)), "from_0": total[:-1], "from_1": total[1:] ^ codes[0]
        })  # fmt: skip

    def _table(self, place: int, batch: Batch) -> Layout:
        """One batch's groups."""
        read = self._read(batch, counted=self._counted(batch))
        groups = self._home(self._grouped(read))
        if require_sound(groups, read, self.request):
            # Fields hold line breaks, so lines are no rows.
            read = replace(read, quoted=True)
            groups = self._home(self._grouped(read))
            require_sound(groups, read, self.request)
        if groups.num_rows > MOST_GROUPS:
            problem = f"over {MOST_GROUPS:,} different rows would have to leave the cluster"
            remedy = "name fewer columns in conditions and groups"
            raise NotOnSpark(batch.sources[0].name, problem, remedy)
        layout = self._kept(f"gathered_{place}_{len(self.carried)}", groups, read)
        if not layout.typed:
            self._respell(layout, read)
        return layout

    def _home(self, frame: Any) -> Any:
        """A frame's rows here, as an Arrow table."""
        sources = [source for batch in self.batches for source in batch.sources]
        with explained(sources):
            return frame.toArrow()

    def _grouped(self, read: Rows) -> Any:
        """The groups of a batch, and what is counted in each."""
        batch = read.batch
        several = len(batch.sources) > 1 or batch.layout.spool != ""
        named = several and (
            batch.layout.constants or any(s.path in self.statement.names for s in batch.sources)
        )
        # A file stays part of the key only where it says something, and of what is wrong.
        file = FILE if named else f"CASE WHEN {FAULT} IS NOT NULL THEN {FILE} END"
        parts = [name(part.name) for part in read.parts]
        number = read.number is not None
        some = f"FILTER (WHERE {NUMBER} IS NOT NULL)"
        sums = {
            WEIGHT: "count(*)",
            DOUBTS: f"sum({name(DOUBTS)})",
            NUMBERED: f"count({NUMBER})" if number else "CAST(0 AS BIGINT)",
            FINGERPRINT: f"bit_xor(xxhash64({NUMBER})) {some}" if number else "CAST(0 AS BIGINT)",
        }
        # Only numbers are added up in place; the least and the greatest files are of groups.
        keys = ", ".join([FILE, FAULT, *parts])
        first = ", ".join([keys, *(f"{sql} AS {name(c)}" for c, sql in sums.items())])
        totals = [f"sum({name(c)}) AS {name(c)}" for c in (WEIGHT, DOUBTS, NUMBERED)]
        totals.append(
            f"coalesce(bit_xor({name(FINGERPRINT)}), CAST(0 AS BIGINT)) AS {name(FINGERPRINT)}"
        )
        totals.append(f"min({FILE}) AS {name(LEAST_FILE)}")
        # The file of a group of one travels once.
        totals.append(f"nullif(max({FILE}), min({FILE})) AS {name(GREATEST_FILE)}")
        with explained(batch.sources):
            read.frame(self.spark).createOrReplaceTempView("passk_rows")
            return self.spark.sql(
                f"SELECT {', '.join([FAULT, *parts, *totals])}"
                f" FROM (SELECT {first} FROM passk_rows GROUP BY {keys})"
                f" GROUP BY {', '.join([file, FAULT, *parts])} LIMIT {MOST_GROUPS + 1}"
            )

    def _read(self, batch: Batch, *, counted: bool) -> Rows:
        """Columns to read of a batch."""
        request, roles, layout = self.request, batch.roles, batch.layout
        if layout.joined:
            problem = f"{next(iter(layout.joined))!r} joins columns, which a cluster does not"
            raise NotOnSpark(batch.sources[0].name, problem, "write one column", settles=[HERE])
        self.statement.types_of(batch)
        of_roles = roles.columns()
        uses = [
            *of_roles.values(),
            *request.by,
            *self.statement.where,
            *filter(None, [request.cluster]),
        ]
        uses += [column for column in self.carried if column in layout.kinds]
        alone = {column for column in uses if uses.count(column) == 1}
        lists = [c for c in uses if roles.shape == "lists" and "list" in layout.kinds.get(c, ())]
        parts = {
            column: SparkColumn(
                column,
                *self._inside(batch, column),
                listed=column in lists and column not in (roles.task, roles.model),
                bar=request.bar if column == roles.outcome and column in alone
                and roles.shape == "attempts" else None,
                hashed=column == of_roles.get("solution") and column in alone,
            )
            for column in dict.fromkeys(uses)
            if column not in layout.constants
        }  # fmt: skip
        number = parts.pop(str(roles.attempt)) if counted else None
        bases = dict.fromkeys((part.base for part in parts.values()), "")
        late = self.statement.late_in(batch, bases | ({number.base: ""} if number else {}))
        uris = [uri_of(layout.spool)] if layout.spool else [*map(given, batch.sources)]
        return Rows(batch, tuple(parts.values()), uris, late, number)

    def _inside(self, batch: Batch, column: str) -> tuple[str, tuple[str, ...]]:
        """A column of the file and the keys inside it; DataError for keys Spark cannot name."""
        base, keys = find(column, batch.layout.kinds) or (column, [])
        if any(sign in key for key in keys for sign in "'[]\\"):
            place, problem = batch.sources[0].name, f"Spark finds no {column!r}"
            raise NotOnSpark(place, problem, "rename the key", settles=[HERE])
        return base, tuple(keys)

    def _kept(self, table: str, groups: Any, read: Rows) -> Layout:
        """The groups as a table here, under the names the statement uses."""
        layout = read.batch.layout
        self._know_files(groups, read)
        parts = [quote_name(part.name) for part in read.parts]
        halves = []
        # A group of several files is two rows, of its least and its greatest; one has no weight.
        for end in (LEAST_FILE, GREATEST_FILE):
            file, first = quote_name(end), end == LEAST_FILE
            file = file if layout.spool else f"(SELECT path FROM files_ WHERE uri = {file})"
            columns = [*parts, f"{file} AS {quote_name(FILE_COLUMN)}"]
            columns += [
                f"{quote_name(c)} * {int(first)} AS {quote_name(c)}" for c in (WEIGHT, NUMBERED)
            ]
            code = quote_name(FINGERPRINT) if first else "0"
            columns.append(
                f"({code}::HUGEINT & 18446744073709551615)::UBIGINT AS {quote_name(FINGERPRINT)}"
            )
            halves.append(
                f"SELECT {', '.join(columns)} FROM home_"
                f" WHERE coalesce({quote_name('#fault')}, 'bad') = 'bad'"
                + ("" if first else f" AND {quote_name(end)} IS NOT NULL")
            )
        self.con.register("home_", groups)
        self.con.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {' UNION ALL '.join(halves)}")
        self.con.unregister("home_")
        kinds = layout.kinds
        columns_ = [(p.name, frozenset(kinds.get(p.name, {"text"}))) for p in read.parts]
        columns_ += [(c, frozenset({"number"})) for c in _COUNTED]
        kind = layout.kind if layout.typed or layout.kind == "csv" else "jsonl"
        return Layout(
            kind, layout.description, tuple(columns_), constants=layout.constants, table=table
        )

    def _know_files(self, groups: Any, read: Rows) -> None:
        """Which path belongs to what Spark calls each file."""
        ends = (groups.column(c).unique().to_pylist() for c in (LEAST_FILE, GREATEST_FILE))
        path_of, inside = paths_by(read.batch.sources), read.batch.layout.spool
        uris = {uri for end in ends for uri in end if uri is not None and not inside}
        pairs = {uri: path_of(uri) for uri in uris}
        self.uris |= {path: uri for uri, path in pairs.items()}
        self.con.register("files_", {
            "uri": np.array([*pairs, None], dtype=object),
            "path": np.array([*pairs.values(), None], dtype=object),
        })  # fmt: skip

    def _respell(self, layout: Layout, read: Rows) -> None:
        """Numbers as one machine spells them; DataError where a text could be one."""
        if layout.kind == "csv":
            return
        for part in read.parts:
            column = quote_name(part.name)
            if part.hashed:
                continue
            kinds = layout.kinds[part.name] - {"null"}
            one = f"unnest({column})" if part.listed else column
            java = f"regexp_full_match(value, '{_JAVA}') OR value IN {_NOT_FINITE}"
            sql = f"SELECT min(value) FROM (SELECT {one} AS value FROM {layout.table}) WHERE {java}"
            ((example,),) = self.con.execute(sql).fetchall()
            if example is None and "text" in kinds:
                continue
            if example is not None and (part.listed or not kinds <= {"number"}):
                problem = f'"{part.name}" holds {example}, a number or a text to Spark'
                place, remedy = read.batch.sources[0].name, "write numbers without exponents"
                raise NotOnSpark(place, problem, remedy, settles=[HERE])
            if not part.listed:
                number = f"CAST(CAST({column} AS DOUBLE) AS VARCHAR)"
                self.con.execute(
                    f"UPDATE {layout.table} SET {column} = CASE WHEN"
                    f" regexp_full_match({column}, '{_DECIMAL}') THEN {number}"
                    f" ELSE trim({column}, '\"') END WHERE {column} IS NOT NULL"
                )


def _require_possible(batches: Sequence[Batch], request: Request) -> None:
    """DataError, ParameterError for what cannot be read on a cluster, or not in the same way."""
    for batch in batches:
        kind, first = batch.layout.kind, batch.sources[0].name
        in_memory = kind == "frame" or first in (ROWS, "<stdin>")
        if in_memory or kind == "json":
            what = "data in memory" if in_memory else "one JSON document"
            problem = f"{what}, which a cluster does not share"
            raise NotOnSpark(first, problem, settles=[HERE])
        if kind == "csv" and request.skip_bad:
            raise ParameterError(
                Given("--skip-bad"), "Spark keeps no account of rows of CSV; correct them",
                name="contradicting-options",
            )  # fmt: skip
        if not batch.layout.spool:
            require_readable(batch.sources)
        for role, column in batch.roles.of_attempts:
            parts = addends(role, column, batch.layout.kinds)
            listed = EACH in column or "list" in batch.layout.kinds_of(column)
            if role in UNITS and (listed or len(parts) > 1):
                problem = f"{column!r} adds amounts, which a cluster does not"
                place = batch.sources[0].name
                raise NotOnSpark(place, problem, "write one column", settles=[HERE])
    option, problem, settles = Given("--engine", "spark"), "", list[Settle]()
    if request.conversion is not None:
        problem = "rows stay on the cluster"
        settles = [Settle({"--counts": True}, "writes counts")]
    elif "line" in request.attempts:
        option, problem = Given("--order-from-lines"), "lines on a cluster have no order"
        number = {"attempt": Blank("COLUMN")}
        settles = [Settle({"--field": number, "--order-from-lines": None}, "names their numbers")]
    elif "solution" in request.attempts and (request.normalise != "none" or request.similarity):
        normalise = Given("--normalise", request.normalise)
        option = Given("--similarity") if request.similarity else normalise
        problem = "solutions are texts, which stay on the cluster"
        settles = [Settle({"--normalise": None, "--similarity": None}, "compares texts"), HERE]
    if problem:
        raise ParameterError(option, problem, name="contradicting-options", settles=settles)
