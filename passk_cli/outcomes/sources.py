"""Which files an argument means: paths, globs, directories, `label=path`, `-`; plain or packed."""

from __future__ import annotations

import glob
import gzip
import io
import os
import shutil
import struct
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from errno import EACCES
from pathlib import Path
from typing import IO

from passk_cli.errors import DataError, ParameterError
from passk_cli.text import decoded

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
PACKED = ("", ".gz", ".zst")
HEAD_BYTES = 1 << 18
_PLACES, _PLACE_BYTES, _LINE_BYTES = 64, 1 << 11, 1 << 20
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Source:
    """One file to read.

    path : what is opened: absolute, and without wildcards, which DuckDB would take for a pattern.
    name : what the user calls it (stdin is read through a copy).
    label : the name given as `label=path`, or None.
    packing : "none", "gzip" or "zstd", from the file's first bytes, whatever it is called.
    position : its place among all files, in the order of the arguments.
    """

    path: str
    name: str
    label: str | None
    packing: str
    position: int = 0

    @property
    def stem(self) -> str:
        """The file's name without folders and without its suffixes for data and packing."""
        return _without_suffixes(os.path.basename(self.name))


def expand(arguments: Sequence[str | os.PathLike[str]], spool: Path) -> list[Source]:
    """The files the arguments mean, in the order given, directories and globs sorted.

    arguments : paths, globs, directories (searched for result files), `label=path`, or `-` once.
    spool : an empty folder for what cannot be read in place (stdin, a byte-order mark).
    Errors: ParameterError for stdin twice or a file twice; DataError for what is not there.
    """
    found: list[tuple[str, str, str | None]] = []
    for argument in [os.fspath(a) for a in arguments]:
        label, path = _split_label(argument)
        if path == "-":
            if any(name == "<stdin>" for _, name, _ in found):
                raise ParameterError("standard input (-) can be read once; it was given twice")
            found.append((_spool(sys.stdin.buffer, spool / "stdin"), "<stdin>", label))
        else:
            found += [
                (_seekable(each, spool / f"{len(found)}.{place}"), decoded(each), label)
                for place, each in enumerate(_paths(path))
            ]
    seen: set[str] = set()
    for path, name, _ in found:
        real = os.path.realpath(path)
        if real in seen:
            raise ParameterError(f"{name} is given twice; its attempts would count double")
        seen.add(real)
    return [
        replace(_source(path, name, label, spool / str(i)), position=i)
        for i, (path, name, label) in enumerate(found)
    ]


def read_paths(arguments: Sequence[str]) -> set[str]:
    """The real paths of the files the arguments mean, without reading them."""
    paths = (path for argument in arguments for path in _paths(_split_label(argument)[1]))
    return {os.path.realpath(path) for path in paths}


def without(arguments: Sequence[str], argument: str) -> list[str]:
    """The arguments without the file that another argument means, which folders and globs lose.

    Arguments that do not mean the file stay as they are.
    """
    real = read_paths([argument])
    kept: list[str] = []
    for one in arguments:
        label, path = _split_label(one)
        paths = _paths(path)
        others = [p for p in paths if os.path.realpath(p) not in real]
        if len(others) == len(paths):
            kept.append(one)
        else:
            kept += others if label is None else [f"{label}={p}" for p in others]
    return kept


def is_file_argument(argument: str) -> bool:
    """Whether an argument means a file that is there, rather than a name."""
    return os.path.isfile(argument) or (
        "=" in argument and os.path.isfile(argument.split("=", 1)[1])
    )


def base_name(argument: str) -> str:
    """The name of the file that an argument means, without its folders and label."""
    return os.path.basename(_split_label(argument)[1])


def model_names(sources: Sequence[Source]) -> dict[str, str]:
    """What a file without a model column is called: its label, else its stem.

    Files of the same stem are told apart by the folders in which they differ.
    """
    stems = [s.stem for s in sources if s.label is None]
    plain = [s.name for s in sources if s.label is None and stems.count(s.stem) > 1]
    common = (
        os.path.commonpath([os.path.dirname(os.path.abspath(p)) for p in plain]) if plain else ""
    )
    names = {}
    for source in sources:
        if source.label is not None:
            names[source.path] = source.label
        elif source.name in plain:
            below = os.path.relpath(os.path.abspath(source.name), common)
            names[source.path] = _without_suffixes(below)
        else:
            names[source.path] = "stdin" if source.name == "<stdin>" else source.stem
    return names


def head(source: Source) -> bytes:
    """The first bytes of the file, unpacked; whole lines unless one line is longer than that."""
    with open_bytes(source) as stream:
        data = stream.read(HEAD_BYTES)
        if len(data) == HEAD_BYTES:
            data += stream.readline()
        return data


def spread_lines(source: Source) -> list[bytes]:
    """Whole lines from places spread evenly over what follows the head.

    Empty for a packed file, in which there is no jumping.  Lines over 1 MB are passed over.
    """
    size = os.path.getsize(source.path)
    if source.packing != "none" or size <= HEAD_BYTES:
        return []
    lines: list[bytes] = []
    with open(source.path, "rb") as file:
        for place in range(_PLACES):
            file.seek(HEAD_BYTES + (size - HEAD_BYTES) * place // _PLACES)
            if file.readline(_LINE_BYTES).endswith(b"\n"):
                block = file.read(_PLACE_BYTES)
                lines += (block + file.readline(_LINE_BYTES)).split(b"\n")
    return lines


def mentions(source: Source, text: bytes) -> bool:
    """Whether the unpacked bytes of a file hold a short text."""
    with open_bytes(source) as stream:
        before = b""
        while block := stream.read(1 << 20):
            if text in before + block:
                return True
            before = block[-len(text) :]
    return False


def may_be_uneven(source: Source, delimiter: bytes, columns: int) -> bool:
    """Whether a row of a delimited text may end in a delimiter too many; quick, so it may err.

    There is none where every line has its delimiters, or no line ends in one.
    """
    with open_bytes(source) as stream:
        first = stream.readline()
        end = delimiter + (b"\r\n" if first.endswith(b"\r\n") else b"\n")
        delimiters, breaks, at_end, before = 0, 0, False, b""
        while block := stream.read(1 << 20):
            delimiters += block.count(delimiter)
            breaks += block.count(b"\n")
            at_end = at_end or end in before + block
            before = block[-len(end) :]
    lines = breaks + (before[-1:] not in (b"", b"\n"))
    return (at_end or before.endswith(delimiter)) and delimiters != (columns - 1) * lines


def open_bytes(source: Source) -> IO[bytes]:
    """The unpacked bytes of a file as a stream; what is wrong with it is a DataError.

    The line ends of a zstd file all read as \\n.
    """
    if source.packing == "gzip":
        chunks = _gzip_chunks(source.path)
    elif source.packing == "zstd":
        chunks = _zstd_lines(source.path)
    else:
        return open(source.path, "rb")
    return io.BufferedReader(_Stream(source.name, chunks), 1 << 16)


def require_whole(source: Source) -> None:
    """Raise DataError when a zstd file ends before its last block.

    gzip says so by itself when it is read; a zstd stream that is cut off reads as a shorter file.
    Source of the layout: RFC 8878, sections 3.1.1 and 3.1.2.
    """
    if source.packing != "zstd":
        return
    size = os.path.getsize(source.path)
    with open(source.path, "rb") as file:
        while file.tell() < size:
            if not _skip_zstd_frame(file, size):
                raise DataError(source.name, "the zstd stream is cut off", "copy the file again")


def _split_label(argument: str) -> tuple[str | None, str]:
    if os.path.exists(argument) or "=" not in argument:
        return None, argument
    label, path = argument.split("=", 1)
    if not label:
        raise ParameterError(f"{argument!r} has no label before '='; write label=path")
    return decoded(label), path


def _paths(path: str) -> list[str]:
    if path == "-":
        return []
    if os.path.isdir(path):
        inside = _result_files(path)
        if not inside:
            raise DataError(
                path, "no result files in this directory", f"looked for {', '.join(SUFFIXES)}"
            )
        return inside
    if os.path.exists(path):
        return [path]
    if glob.has_magic(path):
        _require_readable(path)
        matches = sorted(p for p in glob.glob(path, recursive=True) if os.path.isfile(p))
        if matches:
            return matches
        raise DataError(path, "no file matches", "is the pattern quoted and the folder right?")
    try:
        os.stat(path)
    except PermissionError as error:
        raise _unreadable(path, error) from None
    except OSError:
        pass
    raise DataError(path, "no such file", "check the path")


def _result_files(folder: str) -> list[str]:
    """The result files in a folder and below it, sorted; what cannot be looked at is an error.

    A file that is no file any more (a broken link) is among them, to be refused when it is opened.
    """

    def refuse(error: OSError) -> None:
        raise _unreadable(str(error.filename), error)

    ends = tuple(suffix + packed for suffix in SUFFIXES for packed in PACKED)
    paths = (
        str(Path(inner) / name)
        for inner, _, names in os.walk(folder, onerror=refuse)
        for name in names
        if name.endswith(ends)
    )
    return sorted(path for path in paths if os.path.isfile(path) or not os.path.exists(path))


def _require_readable(pattern: str) -> None:
    """DataError for a folder that a pattern looks into and that is closed: glob passes it over."""
    path = Path(pattern)
    for folders, inside in zip(path.parents, reversed(path.parts), strict=False):
        if not glob.has_magic(str(folders / inside)):
            return
        for folder in glob.iglob(str(folders), recursive=True):
            if os.path.isdir(folder) and not os.access(folder, os.R_OK | os.X_OK):
                raise _unreadable(folder, PermissionError(EACCES, os.strerror(EACCES)))


def _unreadable(path: str, error: OSError) -> DataError:
    denied = isinstance(error, PermissionError)
    remedy = "check its permissions" if denied else "check that it is there"
    return DataError(path, f"cannot be read ({error.strerror})", remedy)


def _seekable(path: str, copy: Path) -> str:
    """The path itself, or a copy of what comes through a pipe."""
    if os.path.isfile(path):
        return path
    try:
        with open(path, "rb") as pipe:
            return _spool(pipe, copy)
    except OSError as error:
        raise _unreadable(path, error) from None


def _spool(stream: IO[bytes], copy: Path) -> str:
    """A stream is read more than once (columns first, rows later), so it goes to a file."""
    with open(copy, "wb") as file:
        shutil.copyfileobj(stream, file, 1 << 20)
    return str(copy)


def _source(path: str, name: str, label: str | None, copy: Path) -> Source:
    try:
        with open(path, "rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise _unreadable(name, error) from None
    packing = "none"
    if magic[:2] == b"\x1f\x8b":
        packing = "gzip"
    elif magic == b"\x28\xb5\x2f\xfd":
        packing = "zstd"
    source = Source(_literal(path, copy.with_suffix(".link")), name, label, packing)
    require_whole(source)
    if not head(source).startswith(_BOM):
        return source
    with open_bytes(source) as packed, open(copy, "wb") as plain:
        packed.read(len(_BOM))
        shutil.copyfileobj(packed, plain, 1 << 20)
    return Source(str(copy), name, label, "none")


def _literal(path: str, link: Path) -> str:
    """The absolute path, or a link to it when DuckDB cannot take it.

    It can neither escape *, ? and [ nor open a name that is no UTF-8.
    """
    absolute = os.path.abspath(path)
    if not glob.has_magic(absolute) and decoded(absolute) == absolute:
        return absolute
    link.symlink_to(absolute)
    return str(link)


def _without_suffixes(name: str) -> str:
    for ends in (PACKED[1:], SUFFIXES):
        for end in ends:
            name = name.removesuffix(end)
    return name


class _Stream(io.RawIOBase):
    """Chunks of unpacked bytes as a readable stream; DataError when they cannot be unpacked."""

    def __init__(self, name: str, chunks: Iterator[bytes]) -> None:
        self._name, self._chunks, self._rest = name, chunks, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            chunk = self._next()
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count

    def _next(self) -> bytes | None:
        import duckdb

        try:
            return next(self._chunks, None)
        except (EOFError, OSError, zlib.error, duckdb.Error) as error:
            reason = str(error).split("\n")[0][:200]
            problem = "not UTF-8" if "CSV Error" in reason else f"cannot be unpacked ({reason})"
            remedy = "cut off or damaged? copy the file again"
            raise DataError(self._name, problem, remedy) from None


def _gzip_chunks(path: str) -> Iterator[bytes]:
    with gzip.open(path, "rb") as file:
        while chunk := file.read(1 << 16):
            yield chunk


def _zstd_lines(path: str) -> Iterator[bytes]:
    """Python 3.11 cannot read zstd; DuckDB can, so it hands over the lines."""
    from passk_cli.outcomes.connection import connect

    lines = connect([path]).execute(
        "SELECT text FROM read_csv($path, columns={'text': 'VARCHAR'}, delim=chr(1), quote='',"
        " escape='', header=false, auto_detect=false, null_padding=true, compression='zstd',"
        " max_line_size=1073741824, parallel=false, strict_mode=false, hive_partitioning=false)",
        {"path": path},
    )
    while batch := lines.fetchmany(1000):
        for (text,) in batch:
            yield (text or "").encode() + b"\n"


def _skip_zstd_frame(file: IO[bytes], size: int) -> bool:
    """Move past one frame; False when the file ends inside it."""
    magic = file.read(4)
    if len(magic) == 4 and magic[1:] == b"\x2a\x4d\x18" and magic[0] & 0xF0 == 0x50:
        length = file.read(4)
        return len(length) == 4 and _advance(file, struct.unpack("<I", length)[0], size)
    descriptor = file.read(1)
    if len(descriptor) < 1:
        return False
    flags = descriptor[0]
    single, checksum = flags >> 5 & 1, flags >> 2 & 1
    content = (1, 2, 4, 8)[flags >> 6] if flags >> 6 else single
    if not _advance(file, (0 if single else 1) + (0, 1, 2, 4)[flags & 3] + content, size):
        return False
    last = False
    while not last:
        header = file.read(3)
        if len(header) < 3:
            return False
        word = int.from_bytes(header, "little")
        last, kind, block = bool(word & 1), word >> 1 & 3, word >> 3
        if not _advance(file, 1 if kind == 1 else block, size):
            return False
    return _advance(file, 4 * checksum, size)


def _advance(file: IO[bytes], count: int, size: int) -> bool:
    file.seek(count, io.SEEK_CUR)
    return file.tell() <= size
