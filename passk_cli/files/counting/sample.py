"""Read samples of the files for the checks of the data.

Small files are read completely. From larger files, passk reads 64 evenly spaced blocks of 64 KB, so
the reading time does not depend on the file size.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np

from passk_cli.arrays import Ints
from passk_cli.files.counting.statement import PASS_SHARE_SQL, Statement
from passk_cli.files.database import (
    NO_HIVE_PARTITIONING_SQL,
    missing_mask,
    quote_name,
    quote_text,
    retry_without_memory_limit,
)
from passk_cli.files.reading.layout import Batch
from passk_cli.files.reading.profile import RowSampleProfile, SampledColumn, as_floats, joined_codes
from passk_cli.files.roles import (
    ATTEMPT_END_STATUS_COLUMN_WORDS,
    column_name_words,
    find_column_and_keys,
    is_list_column,
)
from passk_cli.files.sources.source import DUCKDB_NAME_BY_COMPRESSION, first_bytes

# A sample consists of BLOCKS blocks of BLOCK_BYTES bytes. If a file is smaller than the sample,
# passk reads the whole file.
BLOCKS, BLOCK_BYTES = 64, 1 << 16
USUAL_SAMPLE_BYTES = BLOCKS * BLOCK_BYTES
# A sample has at most MAX_SAMPLE_BYTES bytes. A block becomes larger than 64 KB if its lines are
# long.
MAX_SAMPLE_BYTES = 1 << 27
# A Parquet sample has at most _ROWS rows. A sample has at most _COLUMNS columns, and at most _KEYS
# keys per nested column.
_ROWS, _COLUMNS, _KEYS = 50_000, 300, 40
_SCALAR_KINDS = {"null", "bool", "number", "text"}


class _BatchOfSampleFiles(NamedTuple):
    """A batch in which each file is replaced by its sample.

    original_path_by_sample : maps the path of each sample to the path of the sampled file.
    is_complete : whether the samples contain all rows.
    """

    batch: Batch
    original_path_by_sample: Mapping[str, str]
    is_complete: bool


def profile_files(
    con: duckdb.DuckDBPyConnection, statement: Statement, folder: Path
) -> RowSampleProfile:
    """Build the profile of all files, using samples of large files.

    folder : the folder for the samples, which the connection must be allowed to read.
    Errors: duckdb.Error if a query fails.
    """
    return retry_without_memory_limit(con, lambda: _profile_files(con, statement, folder))


def _profile_files(
    con: duckdb.DuckDBPyConnection, statement: Statement, folder: Path
) -> RowSampleProfile:
    con.execute("SET preserve_insertion_order = true")
    samples = [
        _write_samples(con, batch, folder, i)
        for i, batch in enumerate(_batches_of_kept_models(statement))
    ]
    is_complete = all(sample.is_complete for sample in samples)
    request = replace(statement.request, attempts=(), conversion=None, skip_bad=False)
    if not is_complete:
        # Samples are not filtered, because a filter might leave only a few rows.
        request = replace(request.with_all_models(), where="", only_tasks=(), exclude_tasks=())
    batches = [_with_columns_of_later_records(con, sample.batch) for sample in samples]
    profile_statement = statement.with_changes(
        request=request, where=statement.where if request.where else ()
    )
    columns_by_batch = [_scalar_and_record_columns(batch, request.by) for batch in batches]
    plain, records = (
        [name for batch_columns in columns_by_batch for name in batch_columns[i]] for i in (0, 1)
    )
    # DuckDB treats two column names that differ only in case as the same column.
    first_of: dict[str, str] = {}
    for name in (*plain, *records):
        first_of.setdefault(name.lower(), name)
    columns = tuple(first_of.values())
    _fill_profile_table(con, profile_statement, [*zip(batches, samples, strict=True)], columns)
    sql = _text_sql_by_column(batches, columns)
    for record in (name for name in columns if name in records):
        value = f"TRY_CAST(carried{columns.index(record)} AS JSON)"
        objects = f"CASE WHEN json_type({value}) = 'OBJECT' THEN {value} END"
        query = f"SELECT json_group_structure({objects}) FROM profile_"
        ((structure,),) = con.execute(query).fetchall()
        for keys in _record_keys(json.loads(structure or "{}")):
            path = quote_text(".".join(["$", *map(quote_name, keys)]))
            sql.setdefault(
                ".".join([record, *keys]), _null_unless_scalar_sql(f"({value} ->> {path})")
            )
    scalar_sql = {name: text for name, text in sql.items() if name not in records or name in plain}
    return _build_profile(
        con, profile_statement, "profile_", scalar_sql, batches, is_complete=is_complete
    )


def _record_keys(structure: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The top-level keys of a JSON structure, and the nested keys that describe how attempts ended.

    >>> [*_record_keys({"b": {"c": "VARCHAR", "error": {"type": "VARCHAR"}}, "a": "BIGINT"})]
    [('a',), ('b',), ('b', 'error', 'type')]
    """
    # If a record has many keys, the keys are names (for example of tasks) and not columns.
    is_record = isinstance(structure, dict) and len(structure) <= _KEYS
    for key, below in sorted(structure.items()) if is_record else ():
        path = (*above, key)
        ending = not isinstance(below, dict) and any(
            column_name_words(part) & ATTEMPT_END_STATUS_COLUMN_WORDS for part in path
        )
        if not above or ending:
            yield path
        if len(path) < 3:
            yield from _record_keys(below, path)


def _fill_profile_table(
    con: duckdb.DuckDBPyConnection,
    statement: Statement,
    batches: Sequence[tuple[Batch, _BatchOfSampleFiles]],
    columns: Sequence[str],
) -> None:
    names, counts = statement.names, statement.has_counts
    fixed = ["file", "model", *statement.groups, "task", "outcome", *["n_text", "c_text"] * counts]
    texts = [*fixed, *(f"carried{i}" for i in range(len(columns)))]
    column_types = [f"{name} VARCHAR" for name in texts] + ["is_count BOOLEAN"] * counts
    con.execute(f"CREATE OR REPLACE TEMP TABLE profile_ ({', '.join(column_types)})")
    for batch, sample in batches:
        files = {source.path: source.path for source in batch.sources} | {
            **sample.original_path_by_sample
        }
        sample_names = {path: names[origin] for path, origin in files.items() if origin in names}
        present = [
            i
            for i, name in enumerate(columns)
            if find_column_and_keys(name, batch.layout.kinds_by_column)
        ]
        carried = tuple(columns[i] for i in present)
        batch_statement = statement.with_changes(names=sample_names).with_only_files([batch])
        selection = [*fixed, *["is_count"] * counts]
        selection += [f"carried{place} AS carried{i}" for place, i in enumerate(present)]
        limit = f" LIMIT {_ROWS}" * (batch.layout.has_typed_values and not sample.is_complete)
        rows = batch_statement.with_changes(
            skips_bad_lines=True, carried=carried
        ).sampled_task_rows_sql(1)
        con.execute(
            f"INSERT INTO profile_ BY NAME SELECT {', '.join(selection)} FROM ({rows}){limit}"
        )


def profile_all_rows_of_some_tasks(
    con: duckdb.DuckDBPyConnection, statement: Statement, columns: Sequence[str], one_in: int
) -> RowSampleProfile:
    """Build a profile of all rows of some tasks. A hash selects one in `one_in` tasks.

    Errors: duckdb.Error if a query fails.
    """
    tasks = [task for task in (b.roles.task for b in statement.batches) if task not in columns]
    columns = [*columns, *dict.fromkeys(tasks)]
    cell_statement = statement.with_columns(columns)
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE some_cells_ AS"
        f" {cell_statement.sampled_task_rows_sql(one_in)}"
    )
    sql = _text_sql_by_column(cell_statement.batches, columns)
    return _build_profile(
        con, cell_statement, "some_cells_", sql, cell_statement.batches, is_complete=False
    )


def _build_profile(
    con: duckdb.DuckDBPyConnection,
    statement: Statement,
    table: str,
    columns: Mapping[str, str],
    batches: Sequence[Batch],
    *,
    is_complete: bool,
) -> RowSampleProfile:
    """Build the profile of a table that contains the sampled rows.

    columns : maps the name of each column to SQL for the value of the column as a string.
    Errors: duckdb.Error if the query fails.
    """
    verdict = statement.attempt_verdict_sql()
    if statement.has_counts:
        verdict = f"CASE {verdict} WHEN 2 THEN {PASS_SHARE_SQL} WHEN 1 THEN 1 WHEN 0 THEN 0 END"
    series = [f"coalesce({column}, '')" for column in ("model", *statement.groups)]
    expressions = [*series, "nullif(task, '')", *columns.values()]
    hashes = (f"CASE WHEN {sql} IS NOT NULL THEN hash({sql}) END AS h{i}"
              for i, sql in enumerate(expressions))  # fmt: skip
    answer = con.execute(
        f"SELECT hash(file) AS file, ({verdict})::DOUBLE AS verdict, {', '.join(hashes)}"
        f" FROM {table} ORDER BY rowid"
    ).fetchnumpy()
    codes = [_codes_of_hashes(answer[f"h{i}"]) for i in range(len(expressions))]
    column_codes = codes[len(series) + 1 :]
    observed = {
        name: SampledColumn(name, code, int(code.max(initial=-1)) + 1, sql)
        for (name, sql), code in zip(columns.items(), column_codes, strict=True)
    }
    files = {source.path: source.name for batch in batches for source in batch.sources}
    hashed = "SELECT hash(path), path FROM (SELECT unnest($paths) AS path)"
    paths = dict(con.execute(hashed, {"paths": [*files]}).fetchall())
    file_codes, file = np.unique(answer["file"], return_inverse=True)
    # A row may come from a temporary sample file with a name that users do not know.
    file_names = tuple(files.get(paths.get(code, ""), "") for code in file_codes.tolist())
    judged = as_floats(answer["verdict"])
    judged[(judged < 0) | (judged > 1)] = np.nan
    series_codes, task = joined_codes(*codes[: len(series)]), codes[len(series)]
    return RowSampleProfile(
        observed, series_codes, task, file, judged, file_names, is_complete, con, table
    )


def _codes_of_hashes(hashes: Any) -> Ints:
    codes = np.full(len(hashes), -1, dtype=np.int64)
    is_present = ~missing_mask(hashes)
    codes[is_present] = np.unique(np.asarray(hashes)[is_present], return_inverse=True)[1]
    return codes


def _batches_of_kept_models(statement: Statement) -> Iterator[Batch]:
    for batch in statement.batches:
        named_sources = ((source, statement.names.get(source.path)) for source in batch.sources)
        request = statement.request
        kept_sources = tuple(
            s
            for s, n in named_sources
            if n is None or request.keeps_model(request.canonical_model_name(n))
        )
        if kept_sources or len(statement.batches) == 1:
            yield replace(batch, sources=kept_sources or batch.sources)


def _scalar_and_record_columns(batch: Batch, by: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names of the scalar columns and of the nested columns. Columns with a role come first."""
    kinds = batch.layout.kinds_by_column
    playing = [c for c in (*batch.roles.columns().values(), *by) if find_column_and_keys(c, kinds)]
    playing = [c for c in playing if not is_list_column(c, kinds)] + [
        "suite"
    ] * batch.has_suites_in_task_ids
    plain = [column for column, of in kinds.items() if of <= _SCALAR_KINDS][:_COLUMNS]
    records = [
        c
        for c, of in kinds.items()
        if of - {"null"} == {"record"} and not batch.layout.has_typed_values
    ]
    return [*playing, *plain], records


def _text_sql_by_column(batches: Sequence[Batch], columns: Sequence[str]) -> dict[str, str]:
    """Map each column to SQL that returns the value as a string, or NULL for an empty value."""
    texts = {}
    for place, name in enumerate(columns):
        kinds = [
            b.layout.kinds_by_column[name] for b in batches if name in b.layout.kinds_by_column
        ]
        plain = kinds and all(of <= _SCALAR_KINDS for of in kinds)
        texts[name] = (
            f"nullif(carried{place}, '')" if plain else _null_unless_scalar_sql(f"carried{place}")
        )
    return texts


def _null_unless_scalar_sql(text: str) -> str:
    """SQL that replaces an empty string, a list or a record by NULL."""
    return f"CASE WHEN left({text}, 1) NOT IN ('', '{{', '[') THEN {text} END"


def _with_columns_of_later_records(con: duckdb.DuckDBPyConnection, batch: Batch) -> Batch:
    """Add to a batch the columns that occur only in later records of the sample.

    If the records contain lists of outcomes, each record becomes one row without a verdict.
    """
    layout = batch.layout
    if not layout.contains_all_columns and layout.kind == "jsonl":
        query = (
            "SELECT DISTINCT unnest(json_keys(json)) AS name FROM read_json_objects($paths,"
            " format='newline_delimited', ignore_errors=true, compression=$packing"
            f"{NO_HIVE_PARTITIONING_SQL}) ORDER BY name"
        )
        paths = [source.path for source in batch.sources]
        answer = con.execute(
            query, {"paths": paths, "packing": DUCKDB_NAME_BY_COMPRESSION[layout.compression]}
        )
        names = (name for (name,) in answer.fetchall() if name not in layout.kinds_by_column)
        layout = layout.with_further_columns([*islice(names, _COLUMNS)])
    roles = replace(batch.roles, attempt_fact_columns=())
    if roles.kind_of_rows == "lists":
        roles = replace(roles, kind_of_rows="attempts", outcome=None)
    return replace(batch, layout=replace(layout, contains_all_columns=True), roles=roles)


def _write_samples(
    con: duckdb.DuckDBPyConnection, batch: Batch, folder: Path, place: int
) -> _BatchOfSampleFiles:
    layout = batch.layout
    if layout.kind == "parquet" or layout.table_name:
        rows = layout.relation_sql([source.path for source in batch.sources], {})
        ((number,),) = con.execute(f"SELECT count(*) FROM {rows}").fetchall()
        return _BatchOfSampleFiles(batch, {}, number <= _ROWS)
    files = (
        [layout.normalized_rows_file]
        if layout.normalized_rows_file
        else [source.path for source in batch.sources]
    )
    total = sum(map(os.path.getsize, files))
    plain = bool(layout.normalized_rows_file) or layout.compression == "none"
    if plain and total <= USUAL_SAMPLE_BYTES:
        return _BatchOfSampleFiles(batch, {}, is_complete=True)
    if not layout.normalized_rows_file and layout.kind not in ("jsonl", "csv"):
        return _BatchOfSampleFiles(batch, {}, is_complete=False)
    blocks = _block_starts(files) if plain else _first_block_starts(files)
    samples: dict[str, str] = {}
    complete = not plain and len(blocks) == len(files)
    for number, starts in blocks.items():
        sample = folder / f"{place}.{number}.sample"
        samples[str(sample)] = files[number]
        if plain:
            _copy_blocks(files[number], starts, sample, header=layout.kind == "csv")
        else:
            size = USUAL_SAMPLE_BYTES // len(blocks)
            sample.write_bytes(first_bytes(batch.sources[number], size))
            complete = complete and os.path.getsize(sample) < size
    if layout.normalized_rows_file:
        return _BatchOfSampleFiles(
            replace(batch, layout=replace(layout, normalized_rows_file=next(iter(samples)))),
            {},
            False,
        )
    sources = (batch.sources[number] for number in blocks)
    samples_as_sources = [
        replace(s, path=p, compression="none") for s, p in zip(sources, samples, strict=True)
    ]
    # If a column has only one value in a file, the sample of the file also contains this value in
    # all rows.
    constants = {
        name: {path: values[file] for path, file in samples.items() if file in values}
        for name, values in layout.constant_columns.items()
    }
    layout = replace(layout, constant_columns=constants, compression="none")
    return _BatchOfSampleFiles(
        replace(batch, layout=layout, sources=tuple(samples_as_sources)), samples, complete
    )


def _block_starts(files: Sequence[str]) -> dict[int, list[int]]:
    """Map the index of each file to the start positions of blocks, spaced evenly over all files."""
    sizes = np.array([os.path.getsize(path) for path in files])
    ends = np.cumsum(sizes)
    starts = np.linspace(0, max(int(ends[-1]) - BLOCK_BYTES, 0), BLOCKS).astype(np.int64)
    of_file = np.searchsorted(ends, starts, side="right")
    return {
        file: (starts[of_file == file] - (ends[file] - sizes[file])).tolist()
        for file in np.unique(of_file).tolist()
    }


def _first_block_starts(files: Sequence[str]) -> dict[int, list[int]]:
    """Choose evenly spaced files, and map the index of each chosen file to [0], the start of the
    first block."""
    places = np.linspace(0, len(files) - 1, min(BLOCKS, len(files))).astype(int)
    return {place: [0] for place in places.tolist()}


def _copy_blocks(path: str, starts: Sequence[int], sample: Path, *, header: bool) -> None:
    with open(path, "rb") as file, open(sample, "wb") as out:
        if header:
            out.write(file.readline())
        before = file.tell()
        for start in starts:
            if start > before:
                # A block usually begins in the middle of a line, and passk skips this incomplete
                # line.
                file.seek(start - 1)
                file.readline()
            else:
                file.seek(before)
            lines = file.read(BLOCK_BYTES) + file.readline()
            out.write(lines)
            before = file.tell()
            if out.tell() > MAX_SAMPLE_BYTES:
                break
