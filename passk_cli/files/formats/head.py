"""The beginning of a file, by which formats recognise it, and ways to read it that they share."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, TypeVar

from passk_cli.errors import DataError
from passk_cli.files import documents
from passk_cli.files.archive import Archive
from passk_cli.files.source import MOST_LEVELS, Source, open_bytes, parsed

Item = TypeVar("Item")
_BYTES, _FURTHER, _LITTLE = 1 << 16, 1 << 23, 1 << 14
# Keys of records inside records: "info.agent_info.llm" is the deepest that a format asks for.
_DEPTH = 3
_TRIED_LINES = 20
# A string, a sign, or a bare word; a string that the text cuts off is no token.
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)


@dataclass(frozen=True, eq=False)
class Head:
    """One file before it is read.

    form : "lines" (a JSON record each), "object", "array" (of JSON), "zip" or "other".
    keys : what is there, dotted, with [] for the first element of a list: "results[].is_resolved",
        "[].task_id"; of lines the keys of the first record; of a zip its members' names.
    text : the file's beginning, while it is looked at.  whole : the document, where that is all of
        it and there is little of it.
    """

    source: Source
    form: str
    keys: frozenset[str]
    text: str = field(repr=False)
    whole: Any = field(default=None, repr=False)

    @property
    def path(self) -> PurePosixPath:
        """Path of the file as the user has it: a hint, never a proof."""
        return PurePosixPath(os.path.abspath(self.source.name))

    @property
    def name(self) -> str:
        """The file's name without folders and without .gz or .zst."""
        return self.path.name.removesuffix(".gz").removesuffix(".zst")

    def has(self, *keys: str) -> bool:
        """Whether all of these are there."""
        return self.keys.issuperset(keys)

    def document(self, *streamed: str) -> dict[str, Any]:
        """The object this file is, without the keys at its top whose values `records` streams.

        Errors: DataError where it is no JSON object.
        """
        if isinstance(self.whole, dict):
            return {key: value for key, value in self.whole.items() if key not in streamed}
        with open_bytes(self.source) as stream:
            top: dict[str, Any] = _checked(self.source, lambda: documents.without(stream, streamed))
            return top

    def records(self, *keys: str, beside: dict[str, Any] | None = None) -> Iterator[Any]:
        """The elements of the list below these keys, or of the array itself, one at a time.

        Lines are records too.  Errors: DataError where it is no JSON.
        beside : is given what stands beside the list: plain values, of lists the first element.
        """
        if self.whole is not None:
            yield from _listed(self.whole, keys, {} if beside is None else beside)
            return
        with open_bytes(self.source) as stream:
            yield from _each(self.source, documents.elements(stream, keys, beside))

    def members(self, *keys: str) -> Iterator[tuple[str, Any]]:
        """(key, value) of the object below these keys, one at a time.

        Errors: DataError where it is no JSON, or a key comes twice.
        """
        with open_bytes(self.source) as stream:
            yield from _each(self.source, documents.members(stream, keys))

    @cached_property
    def archive(self) -> Archive:
        """The members of a zip."""
        return Archive(self.source)

    def lightened(self) -> Head:
        """A head without its text: thousands of heads must not fill the memory."""
        whole = self.whole if len(self.text) <= _LITTLE else None
        light = Head(self.source, self.form, self.keys, "", whole)
        return light if self.form != "zip" else _with_archive(light, self.archive)

    def further(self) -> Head:
        """A head after a longer look, where something long comes before the decisive keys."""
        if self.whole is not None or self.form not in ("object", "array"):
            return self
        return _seen(self.source, _FURTHER)


_NOTHING: Any = object()


def look(source: Source) -> Head:
    """The head of a file.

    Errors: DataError where the bytes cannot be unpacked.
    """
    if source.opening in ("", "PK"):
        with open_bytes(source) as stream:
            if stream.read(4) == b"PK\x03\x04":
                archive = Archive(source)
                return _with_archive(Head(source, "zip", frozenset(archive.names), ""), archive)
    return _seen(source, _BYTES)


def _seen(source: Source, size: int) -> Head:
    """The first bytes of a file, as a head."""
    with open_bytes(source) as stream:
        data = stream.read(size)
    text = data.decode(errors="replace").removeprefix("\ufeff")
    start = text.lstrip()
    if start[:1] not in ("{", "["):
        return Head(source, "other", frozenset(), text)
    complete = len(data) < size
    form = "array" if start[0] == "[" else "object"
    # A document may have a record to a line: what is one document is not lines.  What is no UTF-8,
    # or has a key twice, is left to those who read it and say where.
    whole = _document(text) if complete and ("\ufffd" not in text or _is_utf8(data)) else None
    if whole is not None:
        return Head(source, form, frozenset(key_names(whole)), text, whole)
    if start[0] == "{" and (records := _first_records(start, complete)):
        return Head(source, "lines", frozenset(key_names(records)), text)
    return Head(source, form, frozenset(_scanned(text)), text)


def key_names(value: Any, depth: int = _DEPTH, prefix: str = "") -> Iterator[str]:
    """The keys of a record and of the records in it, dotted.

    >>> sorted(key_names({"a": 1, "b": [{"c": 2}], "d": {"e": {}}}))
    ['a', 'b', 'b[].c', 'd', 'd.e']
    """
    # As deep as any harness writes lists in lists: a file may hold thousands.
    for _ in range(_DEPTH):
        if isinstance(value, list) and value:
            value, prefix = value[0], prefix.rstrip(".") + "[]."
    if isinstance(value, dict):
        for key, inner in value.items():
            yield prefix + key
            if depth > 1:
                yield from key_names(inner, depth - 1, f"{prefix}{key}.")


def _with_archive(head: Head, archive: Archive) -> Head:
    """A head with the members of its archive, whose list can take long to read."""
    head.__dict__["archive"] = archive
    return head


def _first_records(start: str, complete: bool) -> dict[str, Any] | None:
    """The keys of the first line that is a record; None where lines are no records.

    A document of one line is no line: it may be what a harness writes.
    """
    lines = start.split("\n")
    if not complete:
        lines.pop()
    lines = [line for line in lines if line.strip()]
    if len(lines) < 2 and complete:
        return None
    # An indented record lies in a document that is not complete here.
    flush = (line.rstrip() for line in lines[:_TRIED_LINES] if not line[0].isspace())
    for line in flush:
        record = parsed(line) if line[0] == "{" and line[-1] == "}" else None
        if isinstance(record, dict):
            return record
    return None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _document(text: str) -> Any:
    """A document as a whole; None for what is none, or has a key twice in one object."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            raise ValueError
        return value

    try:
        return json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        return None


def _listed(value: Any, keys: Sequence[str], beside: dict[str, Any]) -> Iterator[Any]:
    for key in keys:
        others = value if isinstance(value, dict) else {}
        beside |= {name: other for name, other in others.items() if name != key}
        value = others.get(key)
    if isinstance(value, list):
        yield from value
    elif not keys:
        yield value


def _each(source: Source, items: Iterator[Item]) -> Iterator[Item]:
    """The items of a document while it is JSON; DataError where it is none."""
    while True:
        item = _checked(source, lambda: next(items, _NOTHING))
        if item is _NOTHING:
            return
        yield item


def _checked(source: Source, read: Callable[[], Any]) -> Any:
    """Result of `read`; DataError with the line for text that is no JSON."""
    try:
        return read()
    except documents.Malformed as error:
        remedy = "is the file cut off?" if error.cut else "correct it"
        raise DataError(
            f"{source.name}:{error.line}", f"not JSON ({error.problem})", remedy, name="bad-record"
        ) from None


def _scanned(text: str) -> Iterator[str]:
    """Keys from the beginning of a document, as `key_names`, as far as it goes."""
    # The containers around the place: the prefix of keys in it, None where its keys do not count.
    around: list[tuple[str, str | None]] = []
    key: Any = None
    expecting = False
    for match in _TOKEN.finditer(text, text.find("{") if text.lstrip()[:1] == "{" else 0):
        token = match.group()
        if token in "{[":
            # A prefix grows with each level.
            if len(around) == MOST_LEVELS:
                return
            around.append((token, _prefix(around, key, token)))
            key, expecting = None, token == "{"
        elif token in "}]":
            if around:
                around.pop()
            _one_element_only(around)
            expecting = False
            if len(around) == 1 and around[0][0] == "[":
                return
        elif token == ",":
            expecting = bool(around) and around[-1][0] == "{"
            _one_element_only(around)
        elif expecting and token[0] == '"':
            key, expecting = parsed(token), False
            prefix = around[-1][1]
            if prefix is not None and isinstance(key, str):
                yield prefix + key


def _prefix(around: list[tuple[str, str | None]], key: str | None, token: str) -> str | None:
    """Prefix of the keys inside a container that opens here."""
    if not around:
        return "[]." if token == "[" else ""
    outer, prefix = around[-1]
    if prefix is None or prefix.count(".") + 1 >= _DEPTH + prefix.count("[]"):
        return None
    inside = prefix if outer == "[" else f"{prefix}{key}."
    return inside.rstrip(".") + "[]." if token == "[" else inside


def _one_element_only(around: list[tuple[str, str | None]]) -> None:
    """After the first element of a list its others count no more."""
    if around and around[-1][0] == "[":
        around[-1] = ("[", None)
