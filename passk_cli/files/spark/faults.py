"""Rows that Spark found to be none: where they stand, in the words of one machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from passk_cli.errors import DataError
from passk_cli.files.checks import require_even_rows
from passk_cli.files.database import FILE_COLUMN
from passk_cli.files.explain import QUOTE, SKIP, first_fault, mixed_ends
from passk_cli.files.source import Source, csv_rows, lines
from passk_cli.files.spark.paths import paths_by
from passk_cli.files.spark.rows import DOUBTS, WEIGHT, Rows, span
from passk_cli.files.statement import LateColumn

if TYPE_CHECKING:
    from passk_cli.files.request import Request


def require_sound(groups: Any, read: Rows, request: Request, session: Any) -> bool:
    """Raise for rows that are none; whether fields of a delimited text hold line breaks.

    groups : what came home, as an Arrow table.
    Errors: DataError; duckdb.InvalidInputException where reading on one machine ends with one.
    """
    import duckdb

    faults, path_of = _faults(groups), paths_by(read.batch.sources)
    if "quoted" in faults or "open" in faults:
        for uri, number in faults.get("open", {}).items():
            if number % 2:
                raise _open_quote(path_of(uri), read)
        return True
    if read.batch.layout.kind == "csv":
        _require_rows(groups, faults, read)
    if "late" in faults:
        raise LateColumn
    doubts = read.batch.layout.kind == "jsonl" and sum(groups.column(DOUBTS).to_pylist())
    if doubts and read.twice(session):
        raise _twice(read)
    if "bad" in faults and not request.skip_bad:
        number = sum(faults["bad"].values())
        place = next(s for s in read.batch.sources if s.path == path_of(min(faults["bad"])))
        if place.partial:
            problem = f"{number:,} line{'s' * (number != 1)} that cannot be read as JSON records"
            raise DataError(place.name, problem, SKIP, name="bad-record")
        raise duckdb.InvalidInputException(
            f"Spark cannot read {number:,} record{'s' * (number != 1)} that others may"
        )
    return False


def _faults(groups: Any) -> dict[str, dict[str, int]]:
    """Fault → file → rows that have it."""
    faults: dict[str, dict[str, int]] = {}
    broken = groups.filter(groups.column("#fault").is_valid())
    columns = (broken.column(c).to_pylist() for c in ("#fault", span("min", FILE_COLUMN), WEIGHT))
    for fault, uri, rows in zip(*columns, strict=True):
        of_fault = faults.setdefault(fault, {})
        of_fault[uri] = of_fault.get(uri, 0) + rows
    return faults


def _require_rows(groups: Any, faults: dict[str, dict[str, int]], read: Rows) -> None:
    """DataError for what is no row of a delimited text."""
    sources = {source.path: source for source in read.batch.sources}
    path_of = paths_by(read.batch.sources)
    returns, rows = (sum(groups.column(c).to_pylist()) for c in (DOUBTS, WEIGHT))
    if "return" in faults or 0 < returns < rows:
        for source in sources.values():
            mixed = mixed_ends(source)
            if mixed is not None:
                raise mixed
    for fault in ("return", "fields", "bad", "header"):
        for uri, number in sorted(faults.get(fault, {}).items()):
            error = _no_row(fault, number, sources[path_of(uri)], read)
            if error is not None:
                raise error


def _no_row(fault: str, number: int, source: Source, read: Rows) -> DataError | None:
    if fault == "header":
        problem = f"its header comes {number:,} times"
        return (
            None
            if number == 1
            else DataError(source.name, problem, "remove the others", name="bad-record")
        )
    if fault == "return":
        return DataError(
            source.name, r"lines end in \r", "save it with line ends \\n", name="bad-record"
        )
    if fault == "bad":
        return DataError(source.name, "not UTF-8", "save the file as UTF-8", name="bad-encoding")
    width = len(read.batch.layout.columns)
    uneven = (row for _, row in csv_rows(source, read.batch.layout.delimiter) if row)
    if any(len(row) < width or any(row[width:]) for row in uneven if len(row) != width):
        return first_fault(source, read.batch.layout)
    require_even_rows(source, read.batch.layout)
    problem = f"{number:,} rows have another number of fields than the header"
    return DataError(source.name, problem, QUOTE[1], name="bad-record")


def _open_quote(path: str, read: Rows) -> DataError:
    """A quote that nothing ends, in the last row of a file, which goes on to its end."""
    source = next(source for source in read.batch.sources if source.path == path)
    place = source.name
    for line, _ in csv_rows(source, read.batch.layout.delimiter):
        place = f"{source.name}:{line}"
    return DataError(place, *QUOTE, name="bad-record")


def _twice(read: Rows) -> DataError:
    """The first record with a key that comes twice."""
    wanted = set(read.bases)
    for source in read.batch.sources:
        for number, line in lines(source):
            try:
                keys = [k for k, _ in json.loads(line, object_pairs_hook=list)]
            except (ValueError, TypeError, RecursionError):
                continue
            again = [key for key in keys if key in wanted and keys.count(key) > 1]
            if again:
                problem = f'the key "{again[0]}" is there twice'
                return DataError(f"{source.name}:{number}", problem, "keep one", name="bad-record")
    return DataError(
        read.batch.sources[0].name, "a record has a key twice", "keep one", name="bad-record"
    )
