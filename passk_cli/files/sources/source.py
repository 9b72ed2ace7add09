"""One file: its bytes, plain or packed, and the records in them: lines of JSON, rows of CSV."""

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

from passk_cli.errors import BadRecord, DataError, NoResults
from passk_cli.files.database import AS_IT_IS
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import shortened

if TYPE_CHECKING:
    import duckdb

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".eval")
PACKED = ("", ".gz", ".zst")
# What ends a file's name and is no part of the model's: human-eval's `samples.jsonl_results.jsonl`.
_RESULTS = re.compile(r"(?<!^eval)(?:(?:\.jsonl?)?[_\-.](?:eval_)?(?:results|samples))+$", re.I)
HEAD_BYTES = 1 << 18
# Bytes of a file that are read again to try each remedy.
TRIAL_BYTES = 1 << 20
# The longest line that a reader takes.
_LONGEST_LINE = 1 << 28
# A packed file that unpacks to more than this, and to more than so many times its size, is refused
# where Python unpacks it: results reach 30 times; 2 MB may hold a line of gigabytes.
_HARMLESS_BYTES, _MOST_TIMES = 1 << 26, 100
# Brackets inside brackets; harnesses write a dozen, and parsers of some Pythons give up at 900.
MOST_LEVELS = 500
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NOT_BRACKETS = bytes(sign for sign in range(256) if sign not in b"[{]}")
# How files begin whose type has a name, and what to do with one.
_TYPES = {
    b"BZh": ("packed by bzip2", "unpack it with bunzip2"),
    b"\xfd7zXZ\0": ("packed by xz", "unpack it with unxz"),
    b"\x04\x22\x4d\x18": ("packed by lz4", "unpack it with unlz4"),
    b"SQLite format 3\0": ("a SQLite database", "export the table of attempts as CSV"),
    b"version https://git-lfs.github.com/spec/v1": ("a pointer of Git LFS", "run git lfs pull"),
    b"ARROW1\0": ("an Arrow (Feather) file", "write it as Parquet"),
}

# What DuckDB calls each packing.
PACKINGS = {"none": "uncompressed", "gzip": "gzip", "zstd": "zstd"}
# The records of JSON lines or of a document, as text in the column json.
OBJECTS_SQL = (
    "read_json_objects($path, format=$form, ignore_errors=$lenient, compression=$packing,"
    f" maximum_object_size=$size{AS_IT_IS})"
)
OBJECT_BYTES = 1 << 24
# What settles a line that is no record.
SKIP_BAD_LINES = SuggestedFix({"--skip-bad": True}, "leaves such lines out")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_FIELD_CHARACTERS = 1 << 30
_JSON = json.JSONEncoder(ensure_ascii=False)


@dataclass(frozen=True)
class Source:
    """One file to read.

    path : what is opened: absolute, and without wildcards, which DuckDB would take for a pattern.
    name : what the user calls it (stdin is read through a copy).
    label : the name given as `label=path`, or None.
    packing : "none", "gzip" or "zstd", from the file's first bytes, whatever it is called.
    position : its place among all files, in the order of the arguments.
    named : whether the user named it, alone or by a pattern; else it lies in a folder they named.
    opening : the first sign in it that is no space, PK of an archive, PAR1 of Parquet; "" where
        nobody looked.
    origin : the absolute path of the file, where path is a copy or a link; "" of what is no file.
    encoding : of a text that is not in UTF-8, of which path is a copy that is; else "".
    frame : a table in memory, which is no file; path and name are what it is called.
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
        """The file's name without folders, suffixes, and what only says that it holds results.

        As `gpt-4` of `runs/gpt-4_results.jsonl.gz`; `results.jsonl` keeps its name.
        """
        name = without_suffixes(os.path.basename(self.name))
        return _RESULTS.sub("", name) or name


def first_bytes(source: Source, size: int = HEAD_BYTES) -> bytes:
    """The first bytes of the file, unpacked; whole lines unless one line is longer than that.

    A binary file may have no end of a line, so nothing more is read of it.
    """
    with open_bytes(source) as stream:
        data = stream.read(size)
        if len(data) == size and b"\0" not in data:
            data += stream.readline(_LONGEST_LINE)
        return data


def beginning_of(source: Source, folder: Path) -> Source:
    """The first lines of a long file of lines as a file in a folder; else the file itself."""
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
    """Whether the unpacked bytes of a file hold a short text."""
    with open_bytes(source) as stream:
        before = b""
        while block := stream.read(1 << 20):
            if text in before + block:
                return True
            before = block[-len(text) :]
    return False


def open_bytes(source: Source) -> IO[bytes]:
    """The unpacked bytes of a file as a stream; what is wrong with it is a DataError."""
    if source.packing == "none":
        return open(source.path, "rb")
    packing, most = gzip if source.packing == "gzip" else zstd(), _most_bytes(source)
    return io.BufferedReader(_ByteStream(source.name, _chunks(source.path, packing), most), 1 << 16)


def _most_bytes(source: Source) -> int:
    """The most bytes that Python unpacks of a file."""
    return max(_HARMLESS_BYTES, _MOST_TIMES * os.path.getsize(source.path))


def require_usual_size(source: Source) -> None:
    """DataError for a gzip file that unpacks to more than results do, before all of it is read.

    The last four bytes are the size of the content modulo 4 GB, but of a file that is cut off they
    can be anything.  So a large size is only a reason to unpack the file.
    """
    with open(source.path, "rb") as file:
        file.seek(-4, os.SEEK_END)
        size = int.from_bytes(file.read(), "little")
    most, unpacked = _most_bytes(source), 0
    if size > most:
        # What is cut off or damaged is left to those who read the file.
        with suppress(EOFError, OSError, zlib.error), gzip.open(source.path) as stream:
            while unpacked <= most and (block := stream.read(1 << 20)):
                unpacked += len(block)
    if unpacked > most:
        raise _too_large(source.name, most)


def _too_large(name: str, most: int) -> DataError:
    problem = f"unpacks to more than {most:,} bytes, far more than results do"
    return DataError(name, problem, "unpack it yourself and give that file", name="damaged-file")


def zstd() -> Any:
    """Python's module of zstd, which it has from 3.14 on."""
    return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def require_shallow(name: str, start: bytes) -> None:
    """DataError for a line of JSON with brackets nested deeper than any parser need go.

    start : how the file begins.  Nearly all lines have too few brackets to be looked at closely;
    those inside strings are none.
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
    """Raise DataError when a zstd file ends before its last block.

    gzip says so by itself when it is read; DuckDB reads a zstd stream that is cut off as a shorter
    file.
    """
    try:
        with zstd().open(source.path, "rb") as stream:
            while stream.read(1 << 20):
                pass
    except (EOFError, zstd().ZstdError):
        problem, remedy = "the zstd stream is cut off or damaged", "copy the file again"
        raise DataError(source.name, problem, remedy, name="damaged-file") from None


def detect_packing(start: bytes) -> str:
    """ "none", "gzip" or "zstd", from how a file begins."""
    if start.startswith(b"\x1f\x8b"):
        return "gzip"
    return "zstd" if start.startswith(b"\x28\xb5\x2f\xfd") else "none"


def detect_encoding(start: bytes) -> str:
    """How a text is encoded that begins so, where it is not in UTF-8; "" where it is, or is none.

    >>> detect_encoding("né".encode("utf-16")), detect_encoding(b"n\\xe9e,1")
    ('utf-16', 'cp1252')
    >>> detect_encoding(b"a,1")
    ''
    """
    if start.startswith(_UTF16_MARKS):
        return "utf-16"
    # A letter may be cut in two where the first bytes end.
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(start)
    wrong = text.count("\ufffd") - start.count("\ufffd".encode())
    if not wrong or b"\0" in start:
        return ""
    # A few bytes amid letters of UTF-8 are damaged, and no other encoding.
    return "cp1252" if 2 * wrong > sum(letter > "\x7f" for letter in text) else "utf-8"


def refuse_binary(name: str, start: bytes) -> None:
    """NoResults for what begins as no text does; DataError for what may well hold results."""
    if start.startswith(_UTF16_MARKS):
        return
    for sign, (kind, remedy) in _TYPES.items():
        if start.startswith(sign):
            raise DataError(name, f"{kind}, which is not read", remedy, name="unknown-format")
    if b"\0" in start:
        text = start.rstrip(b"\0")
        if text and not re.search(rb"[\0-\x08\x0e-\x1f]", text):
            raise DataError(name, *NUL_BYTES, name="damaged-file")
        problem, remedy = "a binary file, not a table of outcomes", "expected JSONL, CSV or Parquet"
        if start.startswith(b"PK") or start[257:262] == b"ustar":
            problem, remedy = "an archive, which is not unpacked", "unpack it and give its folder"
        if b"[Content_Types].xml" in start:
            problem, remedy = "a workbook of Excel, which is not read", "save its sheet as CSV"
        raise NoResults(name, problem, remedy, name="unknown-format")


def without_suffixes(name: str) -> str:
    """A file's name without its suffixes for data and packing."""
    for ends in (PACKED[1:], SUFFIXES):
        for end in ends:
            name = name.removesuffix(end)
    return name


class _ByteStream(io.RawIOBase):
    """Chunks of unpacked bytes as a readable stream; DataError when they cannot be unpacked."""

    def __init__(self, name: str, chunks: Iterator[bytes], most: int) -> None:
        self._name, self._chunks, self._rest = name, chunks, memoryview(b"")
        self._most, self._size = most, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            try:
                chunk = next(self._chunks, None)
            except (EOFError, OSError, zlib.error, zstd().ZstdError) as error:
                problem = f"cannot be unpacked ({error})"
                remedy = "cut off or damaged? copy the file again"
                raise DataError(self._name, problem, remedy, name="damaged-file") from None
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
            self._size += len(chunk)
            if self._size > self._most:
                raise _too_large(self._name, self._most)
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def _chunks(path: str, packing: Any) -> Iterator[bytes]:
    with packing.open(path, "rb") as file:
        while chunk := file.read(1 << 16):
            yield chunk


def object_parameters(source: Source, *, lines: bool) -> dict[str, Any]:
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


def json_or_none(line: str | bytes) -> object:
    """Record of a line of JSON; None when it is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def parse_record(line: bytes, place: str, hook: Any = None) -> dict[str, Any] | DataError:
    """The record of a line of JSON, or what is wrong with it.

    hook : that of json for objects, such as `unique`.
    """
    if line.startswith(BYTE_ORDER_MARK) and not place.endswith(":1"):
        problem = "a mark of byte order, as where files were joined"
        return BadRecord(place, problem, "give these files one by one, or take the mark out")
    if b"\0" in line:
        return BadRecord(place, *NUL_BYTES, settles=[SKIP_BAD_LINES])
    if b"}\r{" in line:
        return BadRecord(place, r"lines end in \r", r"save it with line ends \n")
    problem = "not a JSON record"
    try:
        record = json.loads(line, object_pairs_hook=hook)
        if isinstance(record, dict):
            return record
    except UnicodeDecodeError:
        problem = "not UTF-8"
    except json.JSONDecodeError as error:
        problem = f"not JSON ({error.msg.removesuffix(' at').removesuffix(' starting')})"
    except DuplicateKey as error:
        return BadRecord(place, str(error), "keep one")
    except RecursionError:
        problem = "nested too deeply"
    text = shortened(line.decode(errors="replace").strip())
    return BadRecord(place, f"{problem} in {text}", settles=[SKIP_BAD_LINES])


class DuplicateKey(ValueError):
    """A key that an object of JSON has twice, which the message names."""


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON from its pairs, as `object_pairs_hook`; KeyTwice for a key that is there
    twice, of which a dict would keep the last."""
    record, before = dict(pairs), set[str]()
    for key, _ in pairs if len(record) < len(pairs) else ():
        if key in before:
            raise DuplicateKey(f"the key {json.dumps(key, ensure_ascii=False)[:80]} is there twice")
        before.add(key)
    return record


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


def kind_of_type(python_type: type) -> str:
    """The kind of the values of a type."""
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


def fetch_rows(con: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    """The rows a connection answers with, a few at a time."""
    while rows := con.fetchmany(2048):
        yield from rows


NUL_BYTES = ("NUL bytes", r"perhaps it was not written to its end; remove them with tr -d '\0'")
UNCLOSED_QUOTE = ("a quote without its partner", "write it once more with a CSV library")


def damaged_parquet(source: Source, message: str) -> DataError:
    """Error for a Parquet file that DuckDB cannot read."""
    reason = message.split("\n")[0].replace(source.path, source.name)[:200]
    problem = f"not readable as Parquet ({reason})"
    return DataError(source.name, problem, "damaged? copy the file again", name="damaged-file")
