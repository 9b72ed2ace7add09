"""One file: its bytes, plain or packed, and its records: lines of JSON or rows of CSV."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import IO, TYPE_CHECKING, Any

from passk_cli.errors import BadRecordError, DataError, NoResultsError
from passk_cli.files.database import AS_IT_IS
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import shortened

if TYPE_CHECKING:
    import duckdb

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".eval")
PACKED = ("", ".gz", ".zst")
# Endings of file names that are not part of the model's name, for example in human-eval's
# `samples.jsonl_results.jsonl`.
_RESULTS = re.compile(r"(?<!^eval)(?:(?:\.jsonl?)?[_\-.](?:eval_)?(?:results|samples))+$", re.I)
HEAD_BYTES = 1 << 18
# Bytes of a file that are read again to check a remedy.
TRIAL_BYTES = 1 << 20
# The longest line that is read.
_LONGEST_LINE = 1 << 28
# Python refuses a packed file that unpacks to more than both limits. Results unpack to at most 30
# times their size, but 2 MB may contain a line of gigabytes.
_HARMLESS_BYTES, _MOST_TIMES = 1 << 26, 100
# Nesting depth of brackets. Harnesses need a dozen, and the parsers of some Python versions fail at
# 900.
MOST_LEVELS = 500
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NOT_BRACKETS = bytes(sign for sign in range(256) if sign not in b"[{]}")
# First bytes of known file types, and what to do with such a file.
_TYPES = {
    b"BZh": ("packed by bzip2", "unpack it with bunzip2"),
    b"\xfd7zXZ\0": ("packed by xz", "unpack it with unxz"),
    b"\x04\x22\x4d\x18": ("packed by lz4", "unpack it with unlz4"),
    b"SQLite format 3\0": ("a SQLite database", "export the table of attempts as CSV"),
    b"version https://git-lfs.github.com/spec/v1": ("a pointer of Git LFS", "run git lfs pull"),
    b"ARROW1\0": ("an Arrow (Feather) file", "write it as Parquet"),
}

# DuckDB's name of each packing.
PACKINGS = {"none": "uncompressed", "gzip": "gzip", "zstd": "zstd"}
# The records of JSON lines or of a document, as texts in the column json.
OBJECTS_SQL = (
    "read_json_objects($path, format=$form, ignore_errors=$lenient, compression=$packing,"
    f" maximum_object_size=$size{AS_IT_IS})"
)
OBJECT_BYTES = 1 << 24
# The remedy for a line that is not a record.
SKIP_BAD_LINES = SuggestedFix({"--skip-bad": True}, "leaves such lines out")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_FIELD_CHARACTERS = 1 << 30
_JSON = json.JSONEncoder(ensure_ascii=False)


@dataclass(frozen=True)
class Source:
    """One file to read.

    path : the path to open: absolute, and without wildcards, which DuckDB would expand.
    name : the name that the user gave (stdin is read from a copy).
    label : the label of `label=path`, or None.
    packing : "none", "gzip" or "zstd", from the first bytes of the file; its name does not matter.
    position : its position among all files, in the order of the arguments.
    is_explicit : whether the user named the file, directly or by a pattern, not only its folder.
    first_sign : the first character that is not a space; "PK" for an archive, "PAR1" for Parquet,
        "" if unknown.
    origin : the absolute path of the file, if `path` is a copy or a link; "" if there is no file.
    encoding : the encoding of a text that is not UTF-8 (`path` is then a copy in UTF-8); else "".
    frame : a table in memory instead of a file; path and name are only labels.
    """

    path: str
    name: str
    label: str | None
    packing: str
    position: int = 0
    is_explicit: bool = True
    first_sign: str = ""
    origin: str = ""
    encoding: str = ""
    frame: Any = field(default=None, compare=False, repr=False)

    @property
    def stem(self) -> str:
        """The name of the file without folders, suffixes, and words such as "results".

        For example "gpt-4" for `runs/gpt-4_results.jsonl.gz`; `results.jsonl` keeps its name.
        """
        name = without_suffixes(os.path.basename(self.name))
        return _RESULTS.sub("", name) or name


def first_bytes(source: Source, size: int = HEAD_BYTES) -> bytes:
    """The first bytes of the file, unpacked; they end with a whole line unless it is extremely
    long.

    A binary file may not contain line ends, so its last line is not completed.
    """
    with open_bytes(source) as stream:
        data = stream.read(size)
        if len(data) == size and b"\0" not in data:
            data += stream.readline(_LONGEST_LINE)
        return data


def beginning_of(source: Source, folder: Path) -> Source:
    """The first lines of a long file of lines, as a file in a folder; any other file unchanged."""
    is_binary = source.frame is not None or source.first_sign in ("[", "PK", "PAR1")
    if is_binary or os.path.getsize(source.path) <= TRIAL_BYTES:
        return source
    lines = first_bytes(source, TRIAL_BYTES)
    if source.first_sign == "{" and not isinstance(json_or_none(lines.partition(b"\n")[0]), dict):
        return source
    part = folder / f"{source.position}.beginning"
    part.write_bytes(lines)
    return replace(source, path=str(part), packing="none")


def contains_text(source: Source, text: bytes) -> bool:
    """Whether the unpacked bytes of a file contain a short text."""
    with open_bytes(source) as stream:
        before = b""
        while block := stream.read(1 << 20):
            if text in before + block:
                return True
            before = block[-len(text) :]
    return False


def open_bytes(source: Source) -> IO[bytes]:
    """The unpacked bytes of a file as a stream; reading raises DataError if the file is damaged."""
    if source.packing == "none":
        return open(source.path, "rb")
    packing, most = gzip if source.packing == "gzip" else zstd_module(), _max_bytes(source)
    return io.BufferedReader(
        _ByteStream(source.name, _unpacked_chunks(source.path, packing), most), 1 << 16
    )


def _max_bytes(source: Source) -> int:
    """The maximum number of bytes that Python unpacks of a file."""
    return max(_HARMLESS_BYTES, _MOST_TIMES * os.path.getsize(source.path))


def require_usual_size(source: Source) -> None:
    """DataError for a gzip file that unpacks to more than results do, before all of it is read.

    The last four bytes are the size of the content modulo 4 GB, but of a file that is cut off they
    can be anything.  So a large size is only a reason to unpack the file.
    """
    with open(source.path, "rb") as file:
        file.seek(-4, os.SEEK_END)
        size = int.from_bytes(file.read(), "little")
    most, unpacked = _max_bytes(source), 0
    if size > most:
        # What is cut off or damaged is left to those who read the file.
        with suppress(EOFError, OSError, zlib.error), gzip.open(source.path) as stream:
            while unpacked <= most and (block := stream.read(1 << 20)):
                unpacked += len(block)
    if unpacked > most:
        raise _too_large_error(source.name, most)


def _too_large_error(name: str, most: int) -> DataError:
    problem = f"unpacks to more than {most:,} bytes, far more than results do"
    return DataError(name, problem, "unpack it yourself and give that file", name="damaged-file")


def zstd_module() -> Any:
    """Python's zstd module, which is in the standard library from Python 3.14 on."""
    return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def require_shallow(name: str, start: bytes) -> None:
    """Raise DataError for a line of JSON with too deeply nested brackets.

    start : the beginning of the file.  Nearly all lines have too few brackets to be checked
        closely;
    brackets in strings do not count.
    """
    for number, line in enumerate(start.split(b"\n"), 1):
        if line.count(b"[") + line.count(b"{") <= MOST_LEVELS:
            continue
        import numpy as np

        between = line.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')[::2]
        steps = np.frombuffer(b"".join(between).translate(_STEPS, _NOT_BRACKETS), dtype=np.int8)
        if np.cumsum(steps, dtype=np.int64).max(initial=0) > MOST_LEVELS:
            problem = f"nested too deeply, more than {MOST_LEVELS} brackets in each other"
            raise DataError(f"{name}:{number}", problem, "take this record out", name="bad-record")


def require_complete(source: Source) -> None:
    """Raise DataError if a zstd file ends before its last block.

    gzip detects this itself when the file is read. DuckDB reads a truncated zstd stream as a
    shorter file.
    """
    try:
        with zstd_module().open(source.path, "rb") as stream:
            while stream.read(1 << 20):
                pass
    except (EOFError, zstd_module().ZstdError):
        problem, remedy = "the zstd stream is cut off or damaged", "copy the file again"
        raise DataError(source.name, problem, remedy, name="damaged-file") from None


def detect_packing(start: bytes) -> str:
    """ "none", "gzip" or "zstd", from the first bytes of a file."""
    if start.startswith(b"\x1f\x8b"):
        return "gzip"
    return "zstd" if start.startswith(b"\x28\xb5\x2f\xfd") else "none"


def detect_encoding(start: bytes) -> str:
    """The encoding of a text, from its first bytes; "" for UTF-8 and for binary data.

    >>> detect_encoding("né".encode("utf-16")), detect_encoding(b"n\\xe9e,1")
    ('utf-16', 'cp1252')
    >>> detect_encoding(b"a,1")
    ''
    """
    if start.startswith(_UTF16_MARKS):
        return "utf-16"
    # The last character may be cut off.
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(start)
    wrong = text.count("\ufffd") - start.count("\ufffd".encode())
    if not wrong or b"\0" in start:
        return ""
    # A few wrong bytes in UTF-8 text are damage, not another encoding.
    return "cp1252" if 2 * wrong > sum(letter > "\x7f" for letter in text) else "utf-8"


def refuse_binary(name: str, start: bytes) -> None:
    """Raise NoResults for data that is not text, or DataError if it may contain results all the
    same."""
    if start.startswith(_UTF16_MARKS):
        return
    for sign, (kind, remedy) in _TYPES.items():
        if start.startswith(sign):
            raise DataError(
                name, f"passk does not read this file ({kind})", remedy, name="unknown-format"
            )
    if b"\0" in start:
        text = start.rstrip(b"\0")
        if text and not re.search(rb"[\0-\x08\x0e-\x1f]", text):
            raise DataError(name, *NUL_BYTES, name="damaged-file")
        problem, remedy = (
            "this is a binary file, not a table of outcomes",
            "expected JSONL, CSV or Parquet",
        )
        if start.startswith(b"PK") or start[257:262] == b"ustar":
            problem, remedy = (
                "this is an archive, which passk does not unpack",
                "unpack it and give its folder",
            )
        if b"[Content_Types].xml" in start:
            problem, remedy = (
                "this is an Excel workbook, which passk does not read",
                "save its sheet as CSV",
            )
        raise NoResultsError(name, problem, remedy, name="unknown-format")


def without_suffixes(name: str) -> str:
    """The name of a file without its suffixes for data and packing."""
    for ends in (PACKED[1:], SUFFIXES):
        for end in ends:
            name = name.removesuffix(end)
    return name


class _ByteStream(io.RawIOBase):
    """Unpacked chunks as a readable stream; it raises DataError if they cannot be unpacked."""

    def __init__(self, name: str, chunks: Iterator[bytes], most: int) -> None:
        self._name, self._chunks, self._rest = name, chunks, memoryview(b"")
        self._most, self._size = most, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            try:
                chunk = next(self._chunks, None)
            except (EOFError, OSError, zlib.error, zstd_module().ZstdError) as error:
                problem = f"cannot be unpacked ({error})"
                remedy = "the file may be cut off or damaged: copy it again"
                raise DataError(self._name, problem, remedy, name="damaged-file") from None
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
            self._size += len(chunk)
            if self._size > self._most:
                raise _too_large_error(self._name, self._most)
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def _unpacked_chunks(path: str, packing: Any) -> Iterator[bytes]:
    with packing.open(path, "rb") as file:
        while chunk := file.read(1 << 16):
            yield chunk


def object_parameters(source: Source, *, lines: bool) -> dict[str, Any]:
    """The parameters of OBJECTS_SQL; lines that are not JSON are skipped, but a document must be
    JSON."""
    return {
        "path": source.path,
        "form": "newline_delimited" if lines else "auto",
        "lenient": lines,
        "packing": PACKINGS[source.packing],
        "size": object_bytes([source]),
    }


def object_bytes(sources: Sequence[Source]) -> int:
    """The length of the longest JSON object that these files can contain; a packed file is assumed
    to unpack to at most 20 times its size.
    """
    size = max(os.path.getsize(s.path) * (1 if s.packing == "none" else 20) for s in sources)
    return max(OBJECT_BYTES, min(size + 1024, (1 << 32) - 1))


def json_or_none(line: str | bytes) -> object:
    """The JSON value of a line; None if it is not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def parse_record(line: bytes, place: str, hook: Any = None) -> dict[str, Any] | DataError:
    """The record in a line of JSON, or the error.

    hook : an object hook for json, such as `object_with_unique_keys`.
    """
    if line.startswith(BYTE_ORDER_MARK) and not place.endswith(":1"):
        problem = "a byte-order mark is inside the file, probably because files were joined"
        return BadRecordError(place, problem, "give these files one by one, or remove the mark")
    if b"\0" in line:
        return BadRecordError(place, *NUL_BYTES, settles=[SKIP_BAD_LINES])
    if b"}\r{" in line:
        return BadRecordError(place, r"lines end in \r", r"save it with line ends \n")
    problem = "not a JSON record"
    try:
        record = json.loads(line, object_pairs_hook=hook)
        if isinstance(record, dict):
            return record
    except UnicodeDecodeError:
        problem = "not UTF-8"
    except json.JSONDecodeError as error:
        problem = f"not JSON ({error.msg.removesuffix(' at').removesuffix(' starting')})"
    except DuplicateKeyError as error:
        return BadRecordError(place, str(error), "keep one")
    except RecursionError:
        problem = "nested too deeply"
    text = shortened(line.decode(errors="replace").strip())
    return BadRecordError(place, f"{problem} in {text}", settles=[SKIP_BAD_LINES])


class DuplicateKeyError(ValueError):
    """A JSON object has a key twice; the message names the key."""


def object_with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object from its pairs, for `object_pairs_hook`.

    Errors: DuplicateKeyError if a key occurs twice; a dict would silently keep the last value.
    """
    record, before = dict(pairs), set[str]()
    for key, _ in pairs if len(record) < len(pairs) else ():
        if key in before:
            raise DuplicateKeyError(
                f"the key {json.dumps(key, ensure_ascii=False)[:80]} occurs twice"
            )
        before.add(key)
    return record


def delimited_rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line number of its start, fields) of each row of a delimited text, with fields of any
    length.

    lines : a text opened with newline="", so that line breaks inside fields are preserved.
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


def value_kind(value: object) -> str:
    """The kind of a value: null, bool, number, list, record or text."""
    return type_kind(type(value))


def type_kind(python_type: type) -> str:
    """The kind of the values of a Python type."""
    if python_type is NoneType:
        return "null"
    if issubclass(python_type, bool):
        return "bool"
    if issubclass(python_type, int | float):
        return "number"
    return (
        "list"
        if issubclass(python_type, list)
        else "record"
        if issubclass(python_type, dict)
        else "text"
    )


def json_line(record: Mapping[str, Any]) -> bytes:
    """A record as a line of JSON; half a surrogate pair, which cannot be encoded, becomes "?"."""
    return _JSON.encode(record).encode(errors="replace") + b"\n"


def text_kind(text: str) -> str:
    """The kind of value that a text represents: null, bool, number or text."""
    if text == "":
        return "null"
    try:
        float(text)
    except ValueError:
        return "bool" if text.lower() in ("true", "false") else "text"
    return "number"


def csv_rows(source: Source, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line number of its start, fields) of each row after the header."""
    with open_bytes(source) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
        yield from islice(delimited_rows(text, delimiter), 1, None)


def numbered_lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """(number, bytes) of each line that is not blank."""
    with open_bytes(source) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                yield number, line


def fetch_rows(con: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    """The rows of the result of a connection, fetched in batches."""
    while rows := con.fetchmany(2048):
        yield from rows


NUL_BYTES = ("NUL bytes", r"the file may be incomplete; remove them with tr -d '\0'")
UNCLOSED_QUOTE = ("a quote is not closed", "write the file again with a CSV library")


def damaged_parquet_error(source: Source, message: str) -> DataError:
    """The error for a Parquet file that DuckDB cannot read."""
    reason = message.split("\n")[0].replace(source.path, source.name)[:200]
    problem = f"not readable as Parquet ({reason})"
    return DataError(
        source.name, problem, "the file may be damaged: copy it again", name="damaged-file"
    )
