"""Read the records of files one by one, with their places, and find the first bad record."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import duckdb

from passk_cli.errors import BadRecordError, DataError
from passk_cli.files.database import FILE_COLUMN, PLACE_COLUMN, quote_name, shared_connection
from passk_cli.files.reading.layout import Batch, FileStorageLayout
from passk_cli.files.sources.source import (
    JSON_OBJECTS_SQL,
    NUL_BYTES_PROBLEM_AND_REMEDY,
    SKIP_BAD_LINES_FIX,
    Source,
    damaged_parquet_error,
    fetch_rows,
    json_objects_parameters,
    json_or_none,
    max_object_bytes,
    numbered_csv_rows,
    numbered_lines,
    object_with_unique_keys,
    open_bytes,
    parse_record_or_return_error,
)

Record = Mapping[str, Any]


def mixed_line_ends_error(source: Source) -> DataError | None:
    """The error for the first line that ends differently from the first line of the file, or None
    if all lines end in the same way."""
    with open_bytes(source) as stream:
        first = stream.readline().endswith(b"\r\n")
        for number, line in enumerate(stream, 2):
            if line.endswith(b"\n") and line.endswith(b"\r\n") != first:
                line_end, first_end = (r"\n", r"\r\n") if first else (r"\r\n", r"\n")
                problem = f"ends in {line_end}, but the lines before end in {first_end}"
                remedy = "end all lines in the same way, for example with dos2unix"
                return BadRecordError(f"{source.name}:{number}", problem, remedy)
    return None


def first_bad_record_error(source: Source, layout: FileStorageLayout) -> DataError | None:
    """The error for the first bad record of a file, or None if there are no bad records."""
    if layout.kind == "json":
        from passk_cli.files.sources.json_documents import list_elements

        with open_bytes(source) as stream:
            try:
                deque(list_elements(stream, name=source.name), maxlen=0)
            except BadRecordError as error:
                return error
    if layout.kind not in ("jsonl", "csv"):
        return None
    raw_rows = _raw_rows(source, layout)
    records = (
        _parsed_record(raw_row, layout, place, hook=object_with_unique_keys)
        for place, raw_row in raw_rows
    )
    fault = next((record for record in records if isinstance(record, DataError)), None)
    if (
        fault is not None
        and layout.kind == "csv"
        and _is_row_split_by_carriage_return(source, str(fault.place))
    ):
        return BadRecordError(
            str(fault.place),
            r"the character \r in a field splits this row",
            r"put the field that contains \r in quotes",
        )
    return fault


def _is_row_split_by_carriage_return(source: Source, place: str) -> bool:
    r"""Whether the row at a place is only a part of a line, because the line contains \r."""
    lines_left = int(place.rpartition(":")[2])
    with open_bytes(source) as stream:
        for line in stream:
            parts = line.rstrip(b"\r\n").count(b"\r") + 1
            lines_left -= parts
            if lines_left <= 0:
                return parts > 1
    return False


def _raw_rows(source: Source, layout: FileStorageLayout) -> Iterator[tuple[str, bytes | list[str]]]:
    """Yield (place, bytes) for each line of a JSON Lines file, or (place, fields) for each row of
    a table."""
    width = len(layout.columns)
    if layout.kind == "jsonl":
        return ((f"{source.name}:{number}", line) for number, line in numbered_lines(source))
    # Empty fields after the last column are removed, because DuckDB also ignores such fields.
    rows = ((n, row) for n, row in numbered_csv_rows(source, layout.delimiter) if row)
    return ((f"{source.name}:{n}", row if any(row[width:]) else row[:width]) for n, row in rows)


def _parsed_record(
    raw_row: bytes | list[str], layout: FileStorageLayout, place: str, hook: Any = None
) -> Record | DataError:
    """Parse the record in a line or row. Return the record or an error.

    hook : the `object_pairs_hook` for `json`.
    """
    if isinstance(raw_row, list):
        names = [name for name, _ in layout.columns]
        if len(raw_row) == len(names):
            return dict(zip(names, raw_row, strict=True))
        if "\0" in "".join(raw_row):
            return BadRecordError(
                place, *NUL_BYTES_PROBLEM_AND_REMEDY, settles=[SKIP_BAD_LINES_FIX]
            )
        problem = f"{len(raw_row)} fields; the header has {len(names)}"
        return BadRecordError(place, problem, settles=[SKIP_BAD_LINES_FIX])
    return parse_record_or_return_error(raw_row, place, hook)


def read_records(batch: Batch, start: int = 0) -> Iterator[tuple[str, Record]]:
    """Yield (place, record) for each record of a batch, in the order of the files."""
    layout = batch.layout
    if layout.normalized_rows_file:
        with open(layout.normalized_rows_file, encoding="utf-8") as file:
            for record in map(json.loads, islice(file, start, None)):
                constants = layout.file_constants(str(record.pop(FILE_COLUMN)))
                yield record.pop(PLACE_COLUMN), record | constants
        return
    for source in batch.sources:
        table: Iterator[tuple[str, Record | DataError]]
        if layout.kind in ("jsonl", "csv"):
            # Positions do not count rows with a wrong number of fields, because DuckDB skips such
            # rows.
            raw_rows = _raw_rows(source, layout)
            fitting = (
                row
                for row in raw_rows
                if layout.kind == "jsonl" or len(row[1]) == len(layout.columns)
            )
            table = ((p, _parsed_record(row, layout, p)) for p, row in islice(fitting, start, None))
        else:
            table = _queried_records(batch, source, start)
        for place, record in table:
            if not isinstance(record, DataError):
                yield place, {**record, **layout.file_constants(source.path)}
        start = 0


def record_at(batch: Batch, source: Source, number: int) -> tuple[str, Record]:
    """The record with a given number (from 1) in a file, as (place, record)."""
    if batch.layout.kind == "frame":
        return f"{source.name}: record {number}", {}
    return next(read_records(replace(batch, sources=(source,)), number - 1), (source.name, {}))


def _queried_records(
    batch: Batch, source: Source, start: int
) -> Iterator[tuple[str, Record | DataError]]:
    """Yield (place, record) for each record of a JSON document or Parquet file."""
    con = shared_connection()
    try:
        if batch.layout.kind == "json":
            sql = f"SELECT json FROM {JSON_OBJECTS_SQL} OFFSET {start}"
            con.execute(sql, json_objects_parameters(source, lines=False))
            rows = (json_or_none(text) for (text,) in fetch_rows(con))
        else:
            columns = [name for name, _ in batch.layout.columns]
            relation = batch.layout.relation_sql(
                [source.path], {}, object_bytes=max_object_bytes([source])
            )
            # The query returns rows as JSON, because DuckDB needs additional packages to convert
            # some column types to Python.
            values = ", ".join(f"to_json({quote_name(name)})" for name in columns)
            con.execute(f"SELECT {values} FROM {relation} OFFSET {start}")
            row_values = ([value and json.loads(value) for value in row] for row in fetch_rows(con))
            rows = (dict(zip(columns, values, strict=True)) for values in row_values)
        for number, record in enumerate(rows, start + 1):
            if isinstance(record, dict):
                yield f"{source.name}: record {number}", record
    except duckdb.Error as error:
        if batch.layout.kind != "parquet":
            raise
        raise damaged_parquet_error(source, str(error)) from None


def naming_field_and_shared_names(
    lists: Sequence[Sequence[Any]],
) -> tuple[str, tuple[str, ...]] | None:
    """Find a field that contains the same strings in most lists. Return the field and the strings,
    or None if there is no such field.

    Such a field may contain the names of scorers.

    >>> scores = [{"name": "correct", "value": 1}, {"name": "short", "value": 0}]
    >>> naming_field_and_shared_names([scores] * 3), naming_field_and_shared_names([[{"id": "1"}],
    ...     [{"id": "2"}]])
    (('name', ('correct', 'short')), None)
    """
    entries_of = [[entry for entry in entries if isinstance(entry, dict)] for entries in lists]
    fields = dict.fromkeys(name for entries in entries_of for entry in entries
                           for name, value in entry.items() if isinstance(value, str))  # fmt: skip
    for name in fields:
        values = Counter(tuple(str(e.get(name)) for e in entries) for entries in entries_of)
        ((names, times),) = values.most_common(1)
        if len({*names} - {"None"}) > 1 and len(lists) > 2 and times >= 0.75 * len(lists):
            return name, names
    return None
