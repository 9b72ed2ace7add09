"""The records of one file, one by one: lines of JSON, rows of a delimited text, a document."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import NoneType
from typing import TYPE_CHECKING, Any

from passk_cli.files.source import Source, open_bytes
from passk_cli.files.sql import AS_IT_IS

if TYPE_CHECKING:
    import duckdb

# What DuckDB calls each packing.
PACKINGS = {"none": "uncompressed", "gzip": "gzip", "zstd": "zstd"}
# The records of JSON lines or of a document, as text in the column json.
OBJECTS = (
    "read_json_objects($path, format=$form, ignore_errors=$lenient, compression=$packing,"
    f" maximum_object_size=$size{AS_IT_IS})"
)
OBJECT_BYTES = 1 << 24
_FIELD_CHARACTERS = 1 << 30
_JSON = json.JSONEncoder(ensure_ascii=False)


def of_objects(source: Source, *, lines: bool) -> dict[str, Any]:
    """The parameters of OBJECTS; lines that are no JSON are left out, a document must be."""
    return {
        "path": source.path,
        "form": "newline_delimited" if lines else "auto",
        "lenient": lines,
        "packing": PACKINGS[source.packing],
        "size": object_bytes([source]),
    }


def object_bytes(sources: Sequence[Source]) -> int:
    """The longest JSON object these files can hold: a packed one unpacks to at most 20 × here."""
    size = max(os.path.getsize(s.path) * (1 if s.packing == "none" else 20) for s in sources)
    return max(OBJECT_BYTES, min(size + 1024, (1 << 32) - 1))


def parsed(line: str | bytes) -> object:
    """Record of a line of JSON; None when it is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def delimited_rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line where it starts, fields) of each row of a delimited text, however long a field is.

    lines : a text opened with newline="", so that line breaks inside fields stay what they are.
    """
    limit = csv.field_size_limit(_FIELD_CHARACTERS)
    try:
        reader = csv.reader(lines, delimiter=delimiter)
        start = 1
        for row in reader:
            yield start, row
            start = reader.line_num + 1
    finally:
        csv.field_size_limit(limit)


def kind_of(value: object) -> str:
    """null, bool, number, list, record or text."""
    return kind_of_type(type(value))


def kind_of_type(of: type) -> str:
    """The kind of the values of a type."""
    if of is NoneType:
        return "null"
    if issubclass(of, bool):
        return "bool"
    if issubclass(of, int | float):
        return "number"
    return "list" if issubclass(of, list) else "record" if issubclass(of, dict) else "text"


def line_of(record: Mapping[str, Any]) -> bytes:
    """A record as a line of JSON; half a surrogate pair, which is no text, becomes a ?."""
    return _JSON.encode(record).encode(errors="replace") + b"\n"


def text_kind(text: str) -> str:
    """The kind of value that a text stands for: null, bool, number or text."""
    if text == "":
        return "null"
    try:
        float(text)
    except ValueError:
        return "bool" if text.lower() in ("true", "false") else "text"
    return "number"


def csv_rows(source: Source, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line of its start, fields) of each row after the header."""
    with open_bytes(source) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
        yield from islice(delimited_rows(text, delimiter), 1, None)


def lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """(number, bytes) of each line that is not blank."""
    with open_bytes(source) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                yield number, line


def fetched(con: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    """The rows a connection answers with, a few at a time."""
    while rows := con.fetchmany(2048):
        yield from rows
