"""Files at addresses that Spark reads: which there are, and how each of them begins.

Spark's own readers look, here and over Spark Connect alike.  What a file begins with is kept in a
copy, by which it is recognised as any other file; its rows stay where they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from passk_cli.errors import DataError
from passk_cli.files import remote
from passk_cli.files.arguments import expand, given_twice, is_result, opening_of, split_label
from passk_cli.files.source import HEAD_BYTES, SUFFIXES, Shared, Source, packing_by
from passk_cli.files.spark.errors import PATTERN, explained
from passk_cli.files.spark.paths import PACKED, given, literal, path_of, plain
from passk_cli.files.spark.rows import READ
from passk_cli.files.spark.session import session, silent_warnings

# How much of a file is looked at, and how many files are at a time.
_LINES, _LINE_BYTES, _FILES = 256, 1 << 20, 64
# Files of up to so many bytes in all are fetched to say where in them something is wrong.
_WHOLE_BYTES = 1 << 28
# A file is read from its first line to the last by one task, which stops early.
_ONE_TASK = {
    "spark.sql.files.maxPartitionBytes": str(1 << 60),
    "spark.sql.files.minPartitionNum": "1",
    "spark.sql.shuffle.partitions": "1",
}


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
    found: list[Source] = []
    for argument in far:
        label, address = split_label(argument)
        found += _at(spark, address, label, len(sources) + len(found))
    names: set[str] = set()
    for source in found:
        if source.name in names:
            raise given_twice(source.name)
        names.add(source.name)
    return [*sources, *_with_heads(spark, found, spool)]


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
    with explained([source]), silent_warnings():
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
    spark = session(master)
    return [_whole(spark, source) if source.partial else source for source in sources]


def _whole(spark: Any, source: Source) -> Source:
    shared = source.shared
    if shared is None:
        return source
    with explained([source]), silent_warnings():
        if _is_parquet(shared.uri):
            _write_parquet(spark.read.parquet(literal(shared.uri)).toArrow(), source.path)
        else:
            lines = _lines(spark, shared.uri).toArrow()
            with open(source.path, "wb") as copy:
                copy.writelines(line + b"\n" for line in lines.column(0).to_pylist())
    return replace(source, shared=replace(shared, whole=True))


def _at(spark: Any, address: str, label: str | None, place: int) -> list[Source]:
    """The files that one address means, without their beginnings."""
    name = remote.name_of(address)
    if not remote.is_shared(address):
        s3 = f"write s3a{name[2:]}, or " if remote.scheme_of(address) == "s3" else ""
        problem = "fetched to this machine, which a cluster does not share"
        raise DataError(name, problem, f"{s3}leave --engine spark out", name="not-on-spark")
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
            raise DataError(
                name, "no file matches", "is the pattern quoted and right?", name="no-such-file"
            )
        looked = f"looked for {', '.join(SUFFIXES)}"
        raise DataError(name, "no result files in this folder", looked, name="no-results")
    for file in files:
        _require_readable(file)
    return [
        Source(
            "", name if itself else remote.name_of(unquote(file.uri)), label, "none", place + i,
            pattern or itself, shared=file,
        )
        for i, file in enumerate(files)
    ]  # fmt: skip


def _path(address: str) -> str:
    """The path of an address, without the host before it."""
    path = address.split("://", 1)[1].partition("/")[2]
    return "/" + "/".join(part for part in path.split("/") if part)


def _require_readable(file: Shared) -> None:
    name = unquote(file.uri)
    if name.endswith(PACKED) and not name.endswith(".gz"):
        problem = f"Spark reads no {name.rsplit('.', 1)[1]} here"
        raise DataError(remote.name_of(name), problem, "pack it as .gz", name="not-on-spark")


def _listed(spark: Any, addresses: list[str], name: str) -> list[Shared]:
    """The files at addresses, by a reader of which only what is known without reading is asked."""
    with explained([Source("", name, None, "none")]), silent_warnings():
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
        _write_schema(spark, group)
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
            raise DataError(source.name, problem, "rename it", name="not-on-spark")
        Path(source.path).write_bytes(start)
        every = not of_file or len(of_file) == of_file[0]["every"] < _LINES
        shared = source.shared and replace(source.shared, whole=every)
        yield replace(source, opening=opening_of(start), shared=shared)


def _first_lines(spark: Any, uris: Sequence[str], sources: Sequence[Source]) -> list[Any]:
    """The first lines of each file, of at most HEAD_BYTES and one line more."""
    with explained(sources), silent_warnings(), _one_task(spark):
        frames = [
            _lines(spark, uri).selectExpr(
                f"{place} AS file", "monotonically_increasing_id() AS line", "value"
            ).limit(_LINES)
            for place, uri in enumerate(uris)
        ]  # fmt: skip
        of_file = "OVER (PARTITION BY file"
        every = reduce(lambda one, other: one.unionAll(other), frames).selectExpr(
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


def _write_schema(spark: Any, sources: Sequence[Source]) -> None:
    """Tables of Parquet without rows, with the columns that all files of a folder have together."""
    uris = [literal(s.shared.uri) for s in sources if s.shared is not None]
    with explained(sources), silent_warnings():
        table = spark.read.options(**READ, mergeSchema="true").parquet(*uris).limit(0).toArrow()
    for source in sources:
        _write_parquet(table, source.path)


def _write_parquet(table: Any, path: str) -> None:
    from pyarrow import parquet

    parquet.write_table(table, path)
