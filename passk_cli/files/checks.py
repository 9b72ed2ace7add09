"""Checks after reading, of what DuckDB reads in another way than it is written, or drops."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence

import numpy as np

from passk_cli.errors import DataError
from passk_cli.files.layout import Layout
from passk_cli.files.records import csv_rows
from passk_cli.files.request import Request
from passk_cli.files.source import HEAD_BYTES, Source, open_bytes
from passk_cli.files.statement import Batch, Tally

_REAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def require_sound(layout: Layout, sources: Sequence[Source], request: Request) -> None:
    """DataError for what DuckDB reads and drops: a delimiter too many, an array without its end."""
    uneven = layout.kind == "csv" and not request.skip_bad and request.engine == "duckdb"
    for source in sources:
        if uneven and may_be_uneven(source, layout.delimiter.encode(), len(layout.columns)):
            require_even_rows(source, layout)
        # DuckDB reads an array that is cut off after a comma as a shorter one.
        if layout.kind == "json" and source.opening == "[" and _last_sign(source) != b"]":
            raise DataError(
                source.name, "the array has no end", "is the file cut off?", name="damaged-file"
            )


def require_even_rows(source: Source, layout: Layout) -> None:
    """DataError for the first row with an empty field too many, which DuckDB would pass over."""
    width = len(layout.columns)
    for line, row in csv_rows(source, layout.delimiter):
        if len(row) > width and not any(row[width:]):
            problem = f"{len(row)} fields; the header has {width}"
            raise DataError(
                f"{source.name}:{line}",
                problem,
                "remove the delimiter at its end",
                name="bad-record",
            )


def require_one_header(batch: Batch, tally: Tally) -> None:
    """DataError for a header among the rows, as `cat a.csv b.csv` leaves one.

    There is none unless a task is called as a column is.
    """
    names = [name for name, _ in batch.layout.columns]
    if batch.layout.kind != "csv" or not set(names) & set(tally.every["task"].names):
        return
    for source in batch.sources:
        for line, row in csv_rows(source, batch.layout.delimiter):
            if set(row) == set(names):
                from passk_cli.files.explain import shortened

                problem = f"the header again, as a row ({shortened(','.join(row))})"
                remedy = "give the files that were put together here, or remove the line"
                raise DataError(f"{source.name}:{line}", problem, remedy, name="bad-record")


def require_spelling(batch: Batch, tally: Tally) -> None:
    """DataError for names that are JSON numbers and were read in another spelling."""
    for role, names in (("task", "task"), ("model", "name")):
        column = batch.roles.column(role)
        if column is None or batch.layout.kind not in ("json", "jsonl"):
            continue
        # Only where a name looks as such a number does the file have to be searched.
        if not any(_is_real(name) for name in tally.every[names].names):
            continue
        for source in batch.sources:
            if (number := _respelled(source, column)) is not None:
                line, spelled = number
                problem = f'"{column}" is the number {spelled}, which reads as {float(spelled)!r}'
                remedy = "names are text: put it in quotes"
                raise DataError(f"{source.name}:{line}", problem, remedy, name="bad-record")


def _respelled(source: Source, column: str) -> tuple[int, str] | None:
    """The first JSON number of a column, or of a key below others, that reads in another spelling,
    and its line: 1e5 and 1.10 read as 100000.0 and 1.1, as they would without the quotes of a text.
    """
    name = re.escape(json.dumps(column.split(".")[-1], ensure_ascii=False).encode())
    number = re.compile(name + rb"\s*:\s*(-?[0-9][0-9.eE+-]*)(?=[\s,}\]])")
    with open_bytes(source) as stream:
        before, line = b"", 1
        while block := stream.read(1 << 20):
            text = before + block
            for spelled in set(number.findall(text)):
                if _is_real(spelled.decode()) and spelled.decode() != repr(float(spelled)):
                    place = next(m.start() for m in number.finditer(text) if m[1] == spelled)
                    return line + text.count(b"\n", 0, place), spelled.decode()
            # A number that the block cuts in two is found whole in the next one.
            before = text[-len(name) - 1000 :]
            line += text.count(b"\n", 0, len(text) - len(before))
    return None


def _is_real(text: str) -> bool:
    return not text.lstrip("-").isdecimal() and _REAL.fullmatch(text) is not None


def may_be_uneven(source: Source, delimiter: bytes, columns: int) -> bool:
    """Whether a row of a delimited text may end in a delimiter too many; quick, so it may err.

    There is none where every line has its delimiters, or no line ends in one.
    """
    with open_bytes(source) as stream:
        start = delimiter + (b"\r" if stream.readline().endswith(b"\r\n") else b"\n")
        delimiters, breaks, at_end, last = 0, 0, False, b""
        # Counted in arrays, which takes a seventh of the time that bytes.count takes.
        while block := stream.read(1 << 20):
            signs = np.frombuffer(last + block, dtype=np.uint8)
            is_delimiter, is_start = signs == start[0], signs == start[1]
            at_end = at_end or bool((is_delimiter[:-1] & is_start[1:]).any())
            delimiters += int(np.count_nonzero(is_delimiter[len(last) :]))
            is_break = is_start if start[1:] == b"\n" else signs == ord("\n")
            breaks += int(np.count_nonzero(is_break[len(last) :]))
            last = block[-1:]
    lines = breaks + (last not in (b"", b"\n"))
    return (at_end or last == delimiter) and delimiters != (columns - 1) * lines


def _last_sign(source: Source) -> bytes:
    """The last byte of a text that is no space, nor part of a mark of byte order."""
    with open_bytes(source) as stream:
        if source.packing == "none":
            stream.seek(max(os.path.getsize(source.path) - HEAD_BYTES, 0))
        last = b""
        while block := stream.read(1 << 20):
            last = block.rstrip(b" \t\r\n\xef\xbb\xbf")[-1:] or last
        return last
