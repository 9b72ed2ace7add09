"""The survey: a sample spread over the files, its columns, and how they behave.

Small files are read whole; of larger ones 64 blocks of 64 KB at even distances, cut at line ends,
so that it takes as long for any file.  What it holds are codes: two rows have the same code in a
column where their values are the same text.  `doubts` are tests on it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from passk_cli.arrays import Floats, Ints, NDArray
from passk_cli.files.database import (
    AS_IT_IS,
    FILE_COLUMN,
    aliased,
    models_kept,
    quote_name,
    quote_text,
)
from passk_cli.files.reading.condition import names_in
from passk_cli.files.reading.layout import Batch
from passk_cli.files.request import Request
from passk_cli.files.roles import Roles, find, is_listed, verdict_sql
from passk_cli.files.sources.source import OBJECT_BYTES, PACKINGS, first_bytes, object_bytes

if TYPE_CHECKING:
    import duckdb

# Blocks of a sample and their size; files of one layout that are smaller than all are read whole.
BLOCKS, BLOCK_BYTES = 64, 1 << 16
WHOLE_BYTES = BLOCKS * BLOCK_BYTES
# Rows of a sample of what has no lines; columns that are looked at; keys of a nested one.
_ROWS, _COLUMNS, _KEYS = 50_000, 300, 40
_SCALAR = {"null", "bool", "number", "text"}


@dataclass(frozen=True, eq=False)
class Observed:
    """A column of the sample.

    name : as `--field` takes it.  codes : one per row, from 0; −1 where there is no value.
    distinct : how many values.
    """

    name: str
    codes: Ints
    distinct: int

    @property
    def share(self) -> float:
        """Share of the rows that have a value."""
        return float(np.mean(self.codes >= 0)) if len(self.codes) else 0.0


class ValueKind(NamedTuple):
    """The values of a column.

    name : "bool", "number" or "text", of all values.  whole : whether numbers are whole ones.
    longest : bytes of the longest value.
    """

    name: str
    whole: bool
    longest: int


@dataclass(frozen=True, eq=False)
class Survey:
    """Rows of a sample.

    columns : name → every scalar column, also those one key below.
    series, task : codes of the model and its groups, and of the task; −1 where there is none.
    file : code of the file of each row, a place in `files`.
    verdict : 1 passes, 0 fails, NaN neither; of counts the share that passes.
    whole : whether the sample is all rows.
    """

    columns: Mapping[str, Observed]
    series: Ints
    task: Ints
    file: Ints
    verdict: Floats
    files: tuple[str, ...]
    whole: bool
    tables: tuple[_SampleTable, ...] = field(repr=False)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.task)

    @cached_property
    def cell(self) -> Ints:
        """Code of each row's model, groups and task; −1 where it has no task."""
        return joined_codes(self.series, self.task)

    def kind(self, column: str) -> ValueKind:
        """The kind of a column's values."""
        answers = [table.kind(column) for table in self.tables if column in table.columns]
        there, numbers, truths, broken = np.sum([answer[:4] for answer in answers], axis=0).tolist()
        name = "number" if numbers == there else "bool" if truths == there else "text"
        return ValueKind(name, not broken, max(answer[4] for answer in answers))

    def texts(self, column: str, most: int = 1000) -> list[str]:
        """The values of a column in the order of their codes, the first of them."""
        codes, rows = np.unique(self.columns[column].codes, return_index=True)
        return self.at(column, rows[codes >= 0][:most].tolist())

    def at(self, column: str, rows: Sequence[int]) -> list[str]:
        """The texts of a column in these rows; "" where there is none."""
        texts: list[str] = [""] * len(rows)
        start = 0
        for table in self.tables:
            own = [(i, row - start) for i, row in enumerate(rows) if 0 <= row - start < table.rows]
            if own and column in table.columns:
                found = table.at(column, [row for _, row in own])
                for i, row in own:
                    texts[i] = found[row]
            start += table.rows
        return texts

    def numbers(self, column: str) -> Floats:
        """The values of a column as numbers, NaN where they are none."""
        return np.concatenate([table.numbers(column) for table in self.tables])


def joined_codes(*columns: Ints) -> Ints:
    """Codes of several columns together, from 0; −1 where one of them is −1.

    >>> joined_codes(np.array([0, 0, 1, 1]), np.array([0, 1, 1, -1])).tolist()
    [0, 1, 2, -1]
    """
    joint = np.zeros(len(columns[0]), dtype=np.int64)
    there = np.ones(len(joint), dtype=bool)
    for codes in columns:
        there &= codes >= 0
        joint = joint * (codes.max(initial=0) + 1) + codes
    joined = np.full(len(joint), -1, dtype=np.int64)
    joined[there] = np.unique(joint[there], return_inverse=True)[1]
    return joined


class _Hashes(NamedTuple):
    """Hashes of the values of a table's rows: arrays, masked where there is no value.

    series, task : the columns whose values are the model and its groups, and the task.
    """

    columns: Mapping[str, Any]
    file: NDArray[np.uint64]
    verdict: Floats
    series: Sequence[Any]
    task: Sequence[Any]


@dataclass(frozen=True, eq=False)
class _SampleTable:
    """The rows of one batch, as a table of DuckDB's.

    columns : name → SQL of its text.  origins : sample → the file that it is of.
    names : file → model, of those that name none.  verdict : SQL of what passes.
    """

    con: duckdb.DuckDBPyConnection
    name: str
    columns: Mapping[str, str]
    batch: Batch
    origins: Mapping[str, str]
    names: Mapping[str, str]
    by: tuple[str, ...]
    verdict: str

    def hashes(self) -> _Hashes:
        """Hashes of the columns, and of what the roles are."""
        roles = self.batch.roles
        shown = ["hash(file_) AS file", f"({self.verdict})::DOUBLE AS verdict"]
        shown += [
            f"CASE WHEN {sql} IS NOT NULL THEN hash({sql}) END AS h{i}"
            for i, sql in enumerate(self.columns.values())
        ]
        rows = self.con.execute(f"SELECT {', '.join(shown)} FROM {self.name} ORDER BY rowid")
        answer = rows.fetchnumpy()
        columns = {c: np.ma.asarray(answer[f"h{i}"]) for i, c in enumerate(self.columns)}
        file = np.ma.getdata(answer["file"])
        none = _none(len(file))
        # Rows without a model are those of one, unless their file has a name.
        model = np.ma.filled(columns.get(roles.model or "", none), 0)
        own = {s.path: self.names.get(self.origins.get(s.path, s.path)) for s in self.batch.sources}
        named = {path: name for path, name in own.items() if name is not None}
        for path, name in zip(self._hashed(named), self._hashed(named.values()), strict=True):
            model[file == path] = name
        groups = [np.ma.filled(columns.get(column, none), 0) for column in self.by]
        task = [columns.get(c, none) for c in ["suite"] * self.batch.suited + [roles.task]]
        verdict: Floats = np.ma.filled(np.ma.asarray(answer["verdict"], dtype=float), np.nan)
        verdict[(verdict < 0) | (verdict > 1)] = np.nan
        return _Hashes(columns, file, verdict, [model, *groups], task)

    @cached_property
    def rows(self) -> int:
        """How many rows there are."""
        ((rows,),) = self.con.execute(f"SELECT count(*) FROM {self.name}").fetchall()
        return int(rows)

    @property
    def files(self) -> dict[int, str]:
        """Hash of a path → what the user calls the file."""
        shown = {source.path: source.name for source in self.batch.sources}
        return dict(zip(self._hashed(shown), shown.values(), strict=True))

    def kind(self, column: str) -> tuple[int, ...]:
        """How many values, numbers, truth values and broken numbers; bytes of the longest one."""
        sql = self.columns[column]
        (row,) = self.con.execute(
            f"SELECT count({sql}), count(TRY_CAST({sql} AS DOUBLE)),"
            f" count(*) FILTER (lower({sql}) IN ('true', 'false')),"
            f" count(*) FILTER (TRY_CAST({sql} AS DOUBLE) % 1 <> 0),"
            f" coalesce(max(strlen({sql})), 0) FROM {self.name}"
        ).fetchall()
        return tuple(row)

    def at(self, column: str, rows: Sequence[int]) -> dict[int, str]:
        """Row → its text."""
        wanted = ", ".join(map(str, rows))
        query = f"SELECT rowid, coalesce({self.columns[column]}, '') FROM {self.name}"
        return dict(self.con.execute(f"{query} WHERE rowid IN ({wanted})").fetchall())

    def numbers(self, column: str) -> Floats:
        """The values of a column as numbers."""
        number = f"TRY_CAST({self.columns.get(column, 'NULL')} AS DOUBLE)"
        query = f"SELECT {number} AS number FROM {self.name} ORDER BY rowid"
        (numbers,) = self.con.execute(query).fetchnumpy().values()
        return np.asarray(np.ma.filled(np.ma.asarray(numbers, dtype=float), np.nan))

    def _hashed(self, texts: Iterable[str]) -> list[int]:
        """Hashes of texts."""
        query = "SELECT hash(text) FROM (SELECT unnest($texts::VARCHAR[]) AS text)"
        return [code for (code,) in self.con.execute(query, {"texts": [*texts]}).fetchall()]


@dataclass(frozen=True, eq=False)
class Surveyor:
    """The means of looking at files: how rows are read, and where samples go.

    batches, names : as of a statement.  numbers : how a condition compares numbers, one of NUMBERS.
    folder : for samples, which the connection can read.
    """

    con: duckdb.DuckDBPyConnection
    batches: Sequence[Batch]
    names: Mapping[str, str]
    request: Request
    numbers: str
    folder: Path

    def survey(self) -> Survey:
        """The survey of all files; of a sample of larger ones, whatever rows are asked for.

        Errors: duckdb.Error.
        """
        self.con.execute("SET preserve_insertion_order = true")
        samples = [self._sampled(each, i) for i, each in enumerate(self._kept)]
        whole = all(complete for *_, complete in samples)
        request = self.request
        if not whole:
            # Rows that are asked for may be few of a sample.
            request = replace(request, where="", models=(), exclude_models=())
        tables = []
        for place, (batch, origins, complete) in enumerate(samples):
            table = self._table(f"survey{place}_", batch, request, complete=complete)
            tables.append(replace(table, origins=origins))
        return _survey(tables, whole)

    def cells(self, columns: Sequence[str], one_in: int) -> Survey:
        """The survey of whole cells: all rows of one of so many tasks, chosen by hash.

        columns : the only ones that are looked at besides those that play a role.
        Errors: duckdb.Error.
        """
        tables = [
            self._table(f"cells{place}_", batch, self.request, columns=columns, one_in=one_in)
            for place, batch in enumerate(self._kept)
        ]
        return _survey(tables, whole=False)

    def of_rows(self, sql: str, columns: Mapping[str, str], verdict: str) -> Survey:
        """The survey of rows that a statement made: with a file, model, groups, task and outcome.

        columns : name → that of the row's column.  verdict : SQL of what passes.
        """
        self.con.execute(f"CREATE OR REPLACE TEMP TABLE apart_ AS {sql}")
        roles = Roles("attempts", "task", "outcome", model="model")
        groups = {f"group{i}": f"group{i}" for i in range(len(self.request.by))}
        own = {**columns, **groups, "task": "task", "model": "model", "outcome": "outcome"}
        batch = replace(self.batches[0], roles=roles)
        table = _SampleTable(self.con, "apart_", own, batch, {}, {}, tuple(groups), verdict)
        return _survey([table], whole=False)

    @property
    def _kept(self) -> Iterator[Batch]:
        """The batches with the files whose models are kept."""
        for batch in self.batches:
            named = ((source, self.names.get(source.path)) for source in batch.sources)
            kept = tuple(s for s, name in named if name is None or self.request.keeps(name))
            if kept or len(self.batches) == 1:
                yield replace(batch, sources=kept or batch.sources)

    def _table(
        self,
        name: str,
        batch: Batch,
        request: Request,
        *,
        columns: Sequence[str] | None = None,
        one_in: int = 1,
        complete: bool = True,
    ) -> _SampleTable:
        """The rows of a batch, all columns as text, as a table of DuckDB's."""
        layout, roles = batch.layout, batch.roles
        playing = [c for c in (*roles.columns().values(), *request.by) if find(c, layout.kinds)]
        playing = [c for c in playing if not is_listed(c, layout.kinds)] + ["suite"] * batch.suited
        asked = [*layout.kinds, *self._late(batch)] if columns is None else columns
        others = [c for c in asked if layout.kinds.get(c, _SCALAR) <= _SCALAR][:_COLUMNS]
        chosen = list(dict.fromkeys((*playing, *others)))
        pairs = [find(column, layout.kinds) or (column, []) for column in chosen]
        records: list[str] = []
        if columns is None and not layout.typed:
            records = [c for c, kinds in layout.kinds.items() if kinds - {"null"} == {"record"}]
        nested = {base for base, keys in pairs if keys and not layout.typed} | {*records}
        where = names_in(self.con, request.where) if request.where else []
        where = [column for column in where if column in layout.kinds]
        types = dict.fromkeys([*where, *(base for base, _ in pairs)], "VARCHAR")
        types |= dict.fromkeys(nested, "JSON")
        if columns is not None and layout.kind not in ("jsonl", "json"):
            # What has a header cannot be asked for other columns.
            chosen = [c for c, (base, _) in zip(chosen, pairs, strict=True) if base in layout.kinds]
            pairs = [pair for pair in pairs if pair[0] in layout.kinds]
            types = {c: kind for c, kind in types.items() if c in layout.kinds}
        relation = layout.relation(
            [source.path for source in batch.sources],
            types,
            lenient=True,
            object_bytes=OBJECT_BYTES if layout.table else object_bytes(batch.sources),
        )
        alone = len(batch.sources) == 1 and not layout.spool
        file = quote_text(batch.sources[0].path) if alone else quote_name(FILE_COLUMN)
        inner = [f"{file} AS file_"]
        inner += [f"{layout.text(c, nested)} AS c{i}" for i, c in enumerate(chosen)]
        inner += [f"{quote_name(c)} AS r{i}" for i, c in enumerate(records)]
        inner += [f"{layout.compared(c, nested, self.numbers)} AS {quote_name(c)}" for c in where]
        conditions = [f"({request.where}\n)"] * bool(request.where)
        if roles.model in chosen and not all(s.path in self.names for s in batch.sources):
            model = aliased(f"coalesce(c{chosen.index(roles.model)}, '')", request.alias)
            kept = models_kept(model, request.models, request.exclude_models)
            conditions += [kept] * bool(kept)
        if one_in > 1:
            conditions.append(f"hash(c{chosen.index(roles.task)}) % {one_in} = 0")
        shown = [f"{_scalar(f'c{i}', keys)} AS c{i}" for i, (_, keys) in enumerate(pairs)]
        shown += [f"r{i}" for i in range(len(records))]
        limit = f" LIMIT {_ROWS}" * (layout.typed and not complete)
        self.con.execute(
            f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT {', '.join(['file_', *shown])}"
            f" FROM (SELECT {', '.join(inner)} FROM {relation})"
            f" WHERE {' AND '.join(conditions) or 'true'}{limit}"
        )
        sql = {column: f"c{i}" for i, column in enumerate(chosen)}
        for i, record in enumerate(records):
            keys = self.con.execute(
                f"SELECT DISTINCT unnest(json_keys(r{i})) AS key FROM {name}"
                f" WHERE json_type(r{i}) = 'OBJECT' ORDER BY key LIMIT {_KEYS + 1}"
            ).fetchall()
            # Keys without end are the names of something.
            for (key,) in keys if len(keys) <= _KEYS else ():
                path = quote_text("$." + quote_name(key))
                sql.setdefault(f"{record}.{key}", _scalar(f"(r{i} ->> {path})", [key]))
        verdict = "NULL"
        if roles.shape == "attempts" and roles.outcome in sql:
            words = {"passes": request.passes, "fails": request.fails}
            verdict = verdict_sql(sql[roles.outcome], request.bar, graded=True, **words)
        elif roles.shape == "counts" and {roles.n, roles.c} <= sql.keys():
            n, c = (f"TRY_CAST({sql[str(column)]} AS DOUBLE)" for column in (roles.n, roles.c))
            verdict = f"{c} / {n}"
        return _SampleTable(self.con, name, sql, batch, {}, self.names, request.by, verdict)

    def _sampled(self, batch: Batch, place: int) -> tuple[Batch, dict[str, str], bool]:
        """A batch whose files are samples, sample → the file, and whether they are all rows."""
        layout = batch.layout
        if layout.kind != "parquet" and not layout.table:
            return _sampled(batch, self.folder, place)
        rows = layout.relation([source.path for source in batch.sources], {})
        ((number,),) = self.con.execute(f"SELECT count(*) FROM {rows}").fetchall()
        return batch, {}, number <= _ROWS and not any(s.partial for s in batch.sources)

    def _late(self, batch: Batch) -> list[str]:
        """Columns of records further down than a layout looked, as far as the sample has them."""
        layout = batch.layout
        if layout.complete or layout.kind != "jsonl":
            return []
        paths = [source.path for source in batch.sources]
        query = (
            "SELECT DISTINCT unnest(json_keys(json)) AS name FROM read_json_objects($paths,"
            " format='newline_delimited', ignore_errors=true, compression=$packing"
            f"{AS_IT_IS}) ORDER BY name"
        )
        packing = PACKINGS[layout.packing]
        keys = self.con.execute(query, {"paths": paths, "packing": packing}).fetchall()
        return [name for (name,) in keys if name not in layout.kinds][:_COLUMNS]


def _survey(tables: Sequence[_SampleTable], whole: bool) -> Survey:
    """The survey of some tables, whose columns of one name are one."""
    hashes = [table.hashes() for table in tables]
    sizes = [len(each.file) for each in hashes]
    observed = {}
    for name in dict.fromkeys(name for table in tables for name in table.columns):
        codes = _codes([each.columns.get(name) for each in hashes], sizes)
        observed[name] = Observed(name, codes, int(codes.max(initial=-1)) + 1)
    series, task = (
        joined_codes(*(_codes(parts, sizes) for parts in zip(*every, strict=True)))
        for every in ([each.series for each in hashes], [each.task for each in hashes])
    )
    files = {code: name for table in tables for code, name in table.files.items()}
    there, file = np.unique(np.concatenate([each.file for each in hashes]), return_inverse=True)
    verdict = np.concatenate([each.verdict for each in hashes])
    shown = tuple(files.get(code, "") for code in there.tolist())
    return Survey(observed, series, task, file, verdict, shown, whole, tuple(tables))


def _none(rows: int) -> Any:
    """Hashes of a column that is not there."""
    return np.ma.array(np.zeros(rows, dtype=np.uint64), mask=np.ones(rows, dtype=bool))


def _codes(parts: Sequence[Any], sizes: Sequence[int]) -> Ints:
    """Codes of hashes from several tables, from 0; −1 where there is none.

    parts : arrays; None of a table without the column.  sizes : rows of each table.
    """
    filled = [_none(size) if p is None else p for p, size in zip(parts, sizes, strict=True)]
    values = np.concatenate([np.ma.getdata(part) for part in filled])
    there = ~np.concatenate([np.ma.getmaskarray(part) for part in filled])
    codes = np.full(len(values), -1, dtype=np.int64)
    codes[there] = np.unique(values[there], return_inverse=True)[1]
    return codes


def _scalar(text: str, keys: Sequence[str]) -> str:
    """SQL for a text that is there; what a path leads to may be a list or a record."""
    if not keys:
        return f"nullif({text}, '')"
    return f"CASE WHEN left({text}, 1) NOT IN ('', '{{', '[') THEN {text} END"


def _sampled(batch: Batch, folder: Path, place: int) -> tuple[Batch, dict[str, str], bool]:
    """A batch whose files are samples, sample → the file it is of, and whether they are all rows.

    folder : for samples.  place : of the batch, which names them.
    """
    layout = batch.layout
    files = [layout.spool] if layout.spool else [source.path for source in batch.sources]
    total = sum(map(os.path.getsize, files))
    plain = bool(layout.spool) or layout.packing == "none"
    if plain and total <= WHOLE_BYTES:
        return batch, {}, not any(source.partial for source in batch.sources)
    if not layout.spool and layout.kind not in ("jsonl", "csv"):
        return batch, {}, False
    blocks = _blocks(files) if plain else _beginnings(files)
    samples: dict[str, str] = {}
    complete = not plain and len(blocks) == len(files)
    for number, starts in blocks.items():
        sample = folder / f"{place}.{number}.sample"
        samples[str(sample)] = files[number]
        if plain:
            _write_blocks(files[number], starts, sample, header=layout.kind == "csv")
        else:
            size = WHOLE_BYTES // len(blocks)
            sample.write_bytes(first_bytes(batch.sources[number], size))
            complete = complete and os.path.getsize(sample) < size
    if layout.spool:
        return replace(batch, layout=replace(layout, spool=next(iter(samples)))), {}, False
    sources = (batch.sources[number] for number in blocks)
    own = [replace(s, path=p, packing="none") for s, p in zip(sources, samples, strict=True)]
    # What is constant in a file is so in its sample.
    constants = {
        name: {path: values[file] for path, file in samples.items() if file in values}
        for name, values in layout.constants.items()
    }
    layout = replace(layout, constants=constants, packing="none")
    return replace(batch, layout=layout, sources=tuple(own)), samples, complete


def _blocks(files: Sequence[str]) -> dict[int, list[int]]:
    """Place of a file → where blocks begin in it, at even distances over all of them."""
    sizes = np.array([os.path.getsize(path) for path in files])
    ends = np.cumsum(sizes)
    starts = np.linspace(0, max(int(ends[-1]) - BLOCK_BYTES, 0), BLOCKS).astype(np.int64)
    of_file = np.searchsorted(ends, starts, side="right")
    return {
        file: (starts[of_file == file] - (ends[file] - sizes[file])).tolist()
        for file in np.unique(of_file).tolist()
    }


def _beginnings(files: Sequence[str]) -> dict[int, list[int]]:
    """Places of some files at even distances, of which the beginnings are looked at."""
    places = np.linspace(0, len(files) - 1, min(BLOCKS, len(files))).astype(int)
    return {place: [0] for place in places.tolist()}


def _write_blocks(path: str, starts: Sequence[int], sample: Path, *, header: bool) -> None:
    """Write whole lines of blocks of a file, with its first line where that is a header."""
    with open(path, "rb") as file, open(sample, "wb") as out:
        if header:
            out.write(file.readline())
        before = file.tell()
        for start in starts:
            if start > before:
                # The line in which a block begins belongs to what is before it.
                file.seek(start - 1)
                file.readline()
            else:
                file.seek(before)
            lines = file.read(BLOCK_BYTES) + file.readline()
            out.write(lines)
            before = file.tell()
