"""Files that Spark reads: what it calls them, which there are at an address, how each begins.

Spark's own readers look, here and over Spark Connect alike.  What a file begins with is kept in a
copy, by which it is recognised as any other file; its rows stay where they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from passk_cli.errors import DataError
from passk_cli.files.sources import remote
from passk_cli.files.sources.arguments import (
    expand,
    given_twice,
    is_result,
    opening_of,
    split_label,
)
from passk_cli.files.sources.session import HERE, PATTERN, NotOnSpark, explained, session
from passk_cli.files.sources.source import HEAD_BYTES, SUFFIXES, Shared, Source, packing_by
from passk_cli.text import name_of

# How much of a file is looked at, and how many files are at a time.
_LINES, _LINE_BYTES, _FILES = 256, 1 << 20, 64
# Files of up to so many bytes in all are fetched to say where in them something is wrong.
_WHOLE_BYTES = 1 << 28
# How files are read: a folder key=value adds no column.
READ = {"recursiveFileLookup": "true"}
# A file is read from its first line to the last by one task, which stops early.
_ONE_TASK = {
    "spark.sql.files.maxPartitionBytes": str(1 << 60),
    "spark.sql.files.minPartitionNum": "1",
    "spark.sql.shuffle.partitions": "1",
}

# What Spark takes for a pattern.
_SIGNS = "\\{}[]*?"
# Suffixes by which Spark unpacks.
_SUFFIX = {"gzip": ".gz", "none": ""}
PACKED = (".gz", ".zst", ".bz2", ".lz4", ".snappy", ".deflate")


def gathered(
    arguments: Sequence[str | os.PathLike[str]], spool: Path, master: str | None, hidden: list[str]
) -> list[Source]:
    """The files the arguments mean: those here, then those at addresses, in the order given.

    spool : an empty folder for copies.  hidden : as of `arguments.expand`.
    Errors: as `arguments.expand`; DataError for an address at which Spark finds nothing.
    """
    every = [os.fspath(a) for a in arguments]
    far = [a for a in every if remote.is_remote(split_label(a)[1])]
    here = [a for a in every if a not in far]
    sources = expand(here, spool, hidden) if here or not far else []
    spark = session(master) if far else None
    others: list[Source] = []
    for argument in far:
        label, address = split_label(argument)
        others += _at(spark, address, label, len(sources) + len(others))
    names: set[str] = set()
    for source in others:
        if source.name in names:
            raise given_twice(source.name)
        names.add(source.name)
    return [*sources, *_with_heads(spark, others, spool)]


def changed(sources: Sequence[Source], master: str | None) -> Source | None:
    """The first file at an address that is another one than when it was looked up."""
    far = {s.shared.uri: s for s in sources if s.shared is not None}
    if not far:
        return None
    looks = _listed(session(master), [literal(uri) for uri in far], next(iter(far.values())).name)
    now = {shared.uri: (shared.size, shared.changed) for shared in looks}
    return next(
        (s for u, s in far.items() if s.shared and now.get(u) != (s.shared.size, s.shared.changed)),
        None,
    )


def with_all_keys(source: Source, master: str | None) -> None:
    """Add a line of each set of keys that there is in a file of JSON lines to its copy."""
    spark = session(master)
    with explained([source]):
        lines = spark.read.options(**READ, lineSep="\n").text(given(source))
        keys = "array_join(json_object_keys(value), char(1))"
        every = lines.selectExpr(f"{keys} AS k", "value").where("k IS NOT NULL")
        differing = every.groupBy("k").agg({"value": "first"}).toArrow()
    with open(source.path, "ab") as copy:
        for line in differing.column(1).to_pylist():
            copy.write(b"\n" + line.encode())


def whole(sources: Sequence[Source], master: str | None) -> list[Source] | None:
    """Sources with all of each file in its copy; None where that is too much, or nothing new."""
    far = [s for s in sources if s.partial]
    size = sum(s.shared.size for s in far if s.shared is not None)
    if not far or size > _WHOLE_BYTES:
        return None
    spark, copies = session(master), []
    for source in sources:
        if source.shared is None or not source.partial:
            copies.append(source)
            continue
        with explained([source]):
            if _is_parquet(source.shared.uri):
                table = spark.read.parquet(literal(source.shared.uri)).toArrow()
                _write_parquet(table, source.path)
            else:
                lines = _lines(spark, source.shared.uri).toArrow()
                with open(source.path, "wb") as copy:
                    copy.writelines(line + b"\n" for line in lines.column(0).to_pylist())
        copies.append(replace(source, shared=replace(source.shared, whole=True)))
    return copies


def _at(spark: Any, address: str, label: str | None, place: int) -> list[Source]:
    """The files that one address means, without their beginnings."""
    name = name_of(address)
    if not remote.is_shared(address):
        s3 = f"write s3a{name[2:]}" if remote.scheme_of(address) == "s3" else ""
        problem = "fetched to this machine, which a cluster does not share"
        raise NotOnSpark(name, problem, s3)
    pattern = any(sign in address for sign in PATTERN)
    files = sorted(_listed(spark, [address], name), key=lambda file: file.uri)
    itself = len(files) == 1 and path_of(files[0].uri) == _path(address)
    if pattern and "{" not in address:
        # A folder that fits is no file.
        depth = _path(address).count("/")
        files = [file for file in files if path_of(file.uri).count("/") == depth]
    elif not itself:
        files = [file for file in files if is_result(file.uri)]
    if not files:
        if pattern:
            remedy = "is the pattern quoted and right?"
            raise DataError(name, "no file matches", remedy, name="no-such-file")
        looked = f"looked for {', '.join(SUFFIXES)}"
        raise DataError(name, "no result files in this folder", looked, name="no-results")
    for uri in (unquote(file.uri) for file in files):
        if uri.endswith(PACKED) and not uri.endswith(".gz"):
            problem = f"Spark reads no {uri.rsplit('.', 1)[1]} here"
            raise NotOnSpark(name_of(uri), problem, "pack it as .gz")
    return [
        Source(
            "", name if itself else name_of(unquote(file.uri)), label, "none", place + i,
            pattern or itself, shared=file,
        )
        for i, file in enumerate(files)
    ]  # fmt: skip


def _path(address: str) -> str:
    """The path of an address, without the host before it."""
    path = address.split("://", 1)[1].partition("/")[2]
    return "/" + "/".join(part for part in path.split("/") if part)


def _listed(spark: Any, addresses: list[str], name: str) -> list[Shared]:
    """The files at addresses, by a reader of which only what is known without reading is asked."""
    with explained([Source("", name, None, "none")]):
        frame = spark.read.format("binaryFile").options(**READ).load(addresses)
        table = frame.selectExpr(
            "_metadata.file_path", "length", "unix_micros(modificationTime)"
        ).toArrow()
        # Of an empty file there is no row.
        every = set(map(plain, frame.inputFiles()))
    rows = [tuple(row.values()) for row in table.to_pylist()]
    files = [Shared(plain(uri), size, changed) for uri, size, changed in rows]
    empty = every - {file.uri for file in files}
    return [*files, *(Shared(uri, 0, 0, whole=True) for uri in empty)]


def _is_parquet(uri: str) -> bool:
    return uri.endswith(".parquet")


def _with_heads(spark: Any, sources: Sequence[Source], spool: Path) -> Iterator[Source]:
    """The files with copies of how they begin."""
    texts: list[Source] = []
    tables: dict[str, list[Source]] = {}
    for source in sources:
        copy = str(spool / f"head-{source.position}")
        of_table = source.shared is not None and _is_parquet(source.shared.uri)
        group = tables.setdefault(os.path.dirname(source.name), []) if of_table else texts
        group.append(replace(source, path=copy))
    heads: dict[str, Source] = {}
    for place in range(0, len(texts), _FILES):
        some = texts[place : place + _FILES]
        heads |= {source.path: source for source in _begun(spark, some)}
    for group in tables.values():
        # Tables of Parquet with the columns that all files of a folder have together; the first
        # one's with the first rows, at which columns that nobody reads are looked.
        uris = [literal(s.shared.uri) for s in group if s.shared is not None]
        with explained(group):
            table = (
                spark.read.options(**READ, mergeSchema="true")
                .parquet(*uris)
                .limit(_LINES)
                .toArrow()
            )
        for place, source in enumerate(group):
            _write_parquet(table.slice(0, 0 if place else None), source.path)
        heads |= {source.path: source for source in group}
    return iter(sorted(heads.values(), key=lambda source: source.position))


def _begun(spark: Any, sources: Sequence[Source]) -> Iterator[Source]:
    """Files of text with copies of their first lines."""
    uris = [source.shared.uri for source in sources if source.shared is not None]
    rows = _first_lines(spark, uris, sources)
    for place, source in enumerate(sources):
        of_file = [row for row in rows if row["file"] == place]
        start = b"\n".join(row["value"] for row in of_file) + b"\n" * bool(of_file)
        if packing_by(start) != "none":
            problem = f"it is packed with {packing_by(start)}, which Spark reads off the name"
            raise NotOnSpark(source.name, problem, "rename it")
        Path(source.path).write_bytes(start)
        every = not of_file or len(of_file) == of_file[0]["every"] < _LINES
        shared = source.shared and replace(source.shared, whole=every)
        yield replace(source, opening=opening_of(start), shared=shared)


def _first_lines(spark: Any, uris: Sequence[str], sources: Sequence[Source]) -> list[Any]:
    """The first lines of each file, of at most HEAD_BYTES and one line more."""
    with explained(sources), _one_task(spark):
        frames = [
            _lines(spark, uri).selectExpr(
                f"{place} AS file", "monotonically_increasing_id() AS line", "value"
            ).limit(_LINES)
            for place, uri in enumerate(uris)
        ]  # fmt: skip
        of_file = "OVER (PARTITION BY file"
        every = reduce(lambda frame, other: frame.unionAll(other), frames).selectExpr(
            "file", "line", f"substring(value, 1, {_LINE_BYTES}) AS value",
            f"count(*) {of_file}) AS every",
            f"sum(length(value)) {of_file} ORDER BY line) - length(value) AS before",
        )  # fmt: skip
        table = every.where(f"before < {HEAD_BYTES}").toArrow()
    return sorted(table.to_pylist(), key=lambda row: (row["file"], row["line"]))


def _lines(spark: Any, uri: str) -> Any:
    """The lines of a file as bytes."""
    lines = spark.read.options(**READ, lineSep="\n").text(literal(uri))
    return lines.selectExpr("CAST(value AS BINARY) AS value")


@contextmanager
def _one_task(spark: Any) -> Iterator[None]:
    """In the block every file is one task; the session's settings are what they were after it."""
    before = {name: spark.conf.get(name, None) for name in _ONE_TASK}
    try:
        for name, value in _ONE_TASK.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, old in before.items():
            spark.conf.unset(name) if old is None else spark.conf.set(name, old)


def _write_parquet(table: Any, path: str) -> None:
    from pyarrow import parquet

    parquet.write_table(table, path)


def uri_of(path: str) -> str:
    r"""URI of a file on this machine.

    >>> uri_of("/runs/a {1}.jsonl")
    'file:///runs/a \\{1\\}.jsonl'
    """
    return "file://" + _escaped(path)


def literal(uri: str) -> str:
    r"""Path for Spark's reader, from Spark's name of a file.

    >>> literal("hdfs://host/a%20%7B1%7D.jsonl")
    'hdfs://host/a \\{1\\}.jsonl'
    """
    return _escaped(unquote(uri))


def given(source: Source) -> str:
    """Path for Spark's reader of a source."""
    return uri_of(source.path) if source.shared is None else literal(source.shared.uri)


def paths_by(sources: Sequence[Source]) -> Callable[[str], str]:
    """Function from Spark's name of one of these files to its path."""
    shared = {source.shared.uri: source.path for source in sources if source.shared is not None}
    return lambda uri: shared.get(plain(uri)) or path_of(uri)


def plain(uri: str) -> str:
    """Spark's name of a file in one spelling: it has two where there is no host.

    >>> plain("file:/runs/a.jsonl"), plain("hdfs://host/a.jsonl")
    ('file:///runs/a.jsonl', 'hdfs://host/a.jsonl')
    """
    return re.sub("^([^:/]+):/(?!/)", r"\1:///", uri)


def _escaped(path: str) -> str:
    return "".join("\\" * (sign in _SIGNS) + sign for sign in path)


def path_of(uri: str) -> str:
    """The path of a file here, from what Spark calls it.

    >>> path_of("file:///runs/a%20%7B1%7D.jsonl")
    '/runs/a {1}.jsonl'
    """
    return unquote(urlsplit(uri.replace("#", "%23").replace("?", "%3F")).path)


def require_readable(sources: Sequence[Source]) -> None:
    """DataError for files that Spark would pass over, or unpack in another way."""
    for source in sources:
        if source.shared is not None:
            continue
        file, packing = os.path.basename(source.path), source.packing
        if file.startswith(("_", ".")):
            problem = f"Spark passes over names that begin with {file[0]}"
            raise NotOnSpark(source.name, problem, "rename it")
        suffix = _SUFFIX.get(packing)
        if suffix is None:
            problem = f"Spark reads no {packing} here"
            raise NotOnSpark(source.name, problem, "pack it as .gz", settles=[HERE])
        if not file.endswith(suffix) or (not suffix and file.endswith(PACKED)):
            packed = f"is packed with {packing}" if suffix else "is not packed"
            problem = f"it {packed}, which Spark reads off the name"
            raise NotOnSpark(source.name, problem, "rename it", settles=[HERE])
