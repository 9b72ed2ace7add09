"""Faults of one file, whatever its columns mean: the exact place and what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from passk_cli.errors import DataError
from passk_cli.files.layout import Layout
from passk_cli.files.records import csv_rows, lines
from passk_cli.files.request import Request
from passk_cli.files.source import Source, last_sign, may_be_uneven, open_bytes

SKIP = "skip such lines with --skip-bad"
_MARK = b"\xef\xbb\xbf"
_MARKED = (
    "a mark of byte order, as where files were joined",
    "give these files one by one, or take the mark out",
)


def damaged_parquet(source: Source, message: str) -> DataError:
    """Error for a Parquet file that DuckDB cannot read."""
    reason = message.split("\n")[0].replace(source.path, source.name)[:200]
    return DataError(
        source.name,
        f"not readable as Parquet ({reason})",
        "damaged? copy the file again",
        name="damaged-file",
    )


def untidy(source: Source, message: str) -> DataError | None:
    """Error for a delimited text that DuckDB cannot read."""
    line = re.search(r"CSV Error on Line: (\d+)", message)
    if line is None and "state machine" not in message:
        return None
    place = source.name + (f":{line[1]}" if line is not None else "")
    problem = "a quote without its partner" if line is not None else "mixed line ends, or quotes"
    return DataError(place, problem, "write it once more with a CSV library", name="bad-record")


def malformed(source: Source, kind: str) -> DataError | None:
    """The first line (or place in a document) that is not a JSON record."""
    if kind == "jsonl":
        for number, line in lines(source):
            if line.startswith(_MARK) and number > 1:
                return DataError(f"{source.name}:{number}", *_MARKED, name="bad-record")
            problem = _line_problem(line)
            if problem is not None:
                text = shortened(line.decode(errors="replace").strip())
                return DataError(
                    f"{source.name}:{number}", f"{problem} in {text}", SKIP, name="bad-record"
                )
        return None
    if kind != "json":
        return None
    with open_bytes(source) as stream:
        try:
            json.loads(stream.read())
        except UnicodeDecodeError as error:
            return DataError(
                source.name,
                f"byte {error.start + 1} is not UTF-8",
                "save it as UTF-8",
                name="bad-encoding",
            )
        except RecursionError:
            return DataError(
                source.name, "nested too deeply", "is it an evaluation's result?", name="bad-record"
            )
        except json.JSONDecodeError as error:
            place = f"{source.name}:{error.lineno}"
            cut = error.pos >= len(error.doc.rstrip())
            remedy = "is the file cut off?" if cut or "Unterminated" in error.msg else "correct it"
            return DataError(place, f"not JSON ({error.msg})", remedy, name="bad-record")
    return None


def misshapen(source: Source, layout: Layout) -> DataError | None:
    """The first row of a delimited text whose number of fields is not the header's."""
    width = len(layout.columns)
    for line, row in csv_rows(source, layout.delimiter):
        if row and len(row) != width:
            return DataError(
                f"{source.name}:{line}",
                f"{len(row)} fields; the header has {width}",
                SKIP,
                name="bad-record",
            )
    return None


def require_sound(layout: Layout, sources: Sequence[Source], request: Request) -> None:
    """DataError for what DuckDB reads and drops: a delimiter too many, an array without its end."""
    uneven = layout.kind == "csv" and not request.skip_bad and request.engine == "duckdb"
    for source in sources:
        if uneven and may_be_uneven(source, layout.delimiter.encode(), len(layout.columns)):
            require_even_rows(source, layout)
        # DuckDB reads an array that is cut off after a comma as a shorter one.
        if layout.kind == "json" and source.opening == "[" and last_sign(source) != b"]":
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


def require_one_header(layout: Layout, sources: Sequence[Source], tasks: Sequence[str]) -> None:
    """DataError for a header among the rows, as `cat a.csv b.csv` leaves one.

    tasks : those that were read.  Unless one is called as a column is, there is no such row.
    """
    names = [name for name, _ in layout.columns]
    if layout.kind != "csv" or not set(names) & set(tasks):
        return
    for source in sources:
        for line, row in csv_rows(source, layout.delimiter):
            if set(row) == set(names):
                problem = f"the header again, as a row ({shortened(','.join(row))})"
                remedy = "give the files that were put together here, or remove the line"
                raise DataError(f"{source.name}:{line}", problem, remedy, name="bad-record")


def mixed_ends(source: Source) -> DataError | None:
    """The first line that ends in another way than the first one."""
    with open_bytes(source) as stream:
        first = stream.readline().endswith(b"\r\n")
        for number, line in enumerate(stream, 2):
            if line.endswith(b"\n") and line.endswith(b"\r\n") != first:
                here, before = (r"\n", r"\r\n") if first else (r"\r\n", r"\n")
                return DataError(
                    f"{source.name}:{number}",
                    f"ends in {here}, the lines before in {before}",
                    "give all lines the same end, as dos2unix does",
                    name="bad-record",
                )
    return None


def _line_problem(line: bytes) -> str | None:
    try:
        record = json.loads(line)
    except UnicodeDecodeError:
        return "not UTF-8"
    except json.JSONDecodeError as error:
        return f"not JSON ({error.msg})"
    except RecursionError:
        return "nested too deeply"
    return None if isinstance(record, dict) else "not a JSON record"


def shortened(text: str) -> str:
    """A text as a message quotes it: at most 80 characters."""
    return text if len(text) <= 80 else text[:77] + "…"
