"""JSON of any size as a stream: the elements of an array, of a list inside, records one by one."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator, Sequence
from json import JSONDecodeError
from typing import IO, Any, TypeVar

Item = TypeVar("Item")

_BLOCK = 1 << 18
_SPACE = re.compile(r"[ \t\r\n\ufeff]*")
# What an error says of a text that merely ends too early lies this near to its end.
_END = 64
_decode = json.JSONDecoder().raw_decode


class Malformed(ValueError):
    """Text that is no JSON: what is wrong, and the line where."""

    def __init__(self, problem: str, line: int, *, cut: bool = False) -> None:
        self.problem, self.line, self.cut = problem, line, cut
        super().__init__(f"{problem} (line {line})")


def elements(
    stream: IO[bytes], keys: Sequence[str] = (), beside: dict[str, Any] | None = None
) -> Iterator[Any]:
    """The elements of the list below these keys, one at a time: memory holds one of them.

    keys : the way from the top of the document; none for an array, or for documents one after
        another (JSON lines, or just joined), which are the elements themselves.
    beside : is given what stands beside the list: a plain value, or a list of the first element.
    Nothing where the keys lead to no list.  Errors: Malformed, also for what follows the list.

    >>> import io
    >>> list(elements(io.BytesIO(b'[1, {"a": NaN}]'))), list(elements(io.BytesIO(b'{} {}')))
    ([1, {'a': nan}], [{}, {}])
    >>> list(elements(io.BytesIO(b'{"n": 2, "runs": {"all": [3, 4]}}'), ("runs", "all")))
    [3, 4]
    """
    text = _Text(stream)
    if keys or text.peek() == "[":
        yield from _below(text, keys, "[", _listed, {} if beside is None else beside)
        text.end()
    else:
        while text.peek():
            yield text.value()


def members(stream: IO[bytes], keys: Sequence[str] = ()) -> Iterator[tuple[str, Any]]:
    """(key, value) of the object below these keys, one at a time: memory holds one of them.

    Nothing where the keys lead to no object.  Errors: Malformed, also for a key that comes twice.

    >>> import io
    >>> list(members(io.BytesIO(b'{"eval": {"a": true, "b": null}}'), ("eval",)))
    [('a', True), ('b', None)]
    """
    text = _Text(stream)
    yield from _below(text, keys, "{", _paired, {})
    text.end()


def without(stream: IO[bytes], streamed: Sequence[str]) -> dict[str, Any]:
    """The top of a document that is an object, without the keys named, whose values are passed.

    streamed : keys at the top.  Errors: Malformed, also where the document is no object, and for
    what follows it.
    """
    text, top = _Text(stream), {}
    for key in _keys(text):
        if key in streamed:
            _pass(text)
        else:
            top[key] = text.value()
    text.end()
    return top


def _below(
    text: _Text,
    keys: Sequence[str],
    sign: str,
    take: Callable[[_Text], Iterator[Item]],
    beside: dict[str, Any],
) -> Iterator[Item]:
    """Result of `take` for the value below these keys, if it opens with this sign; all is read."""
    if keys and text.peek() == "{":
        for key in _keys(text):
            if key == keys[0]:
                yield from _below(text, keys[1:], sign, take, beside)
            else:
                beside[key] = _pass(text)
    elif not keys and text.peek() == sign:
        yield from take(text)
    else:
        _pass(text)


def _keys(text: _Text) -> Iterator[str]:
    """The keys of the object at this place; after each the caller takes its value."""
    before: set[str] = set()
    text.take("{")
    if text.peek() == "}":
        text.take("}")
        return
    while True:
        key = text.value()
        if not isinstance(key, str):
            raise text.malformed("Expecting property name")
        if key in before:
            raise text.malformed(f"the key {json.dumps(key)[:80]} is there twice")
        before.add(key)
        text.take(":")
        yield key
        if text.peek() != ",":
            break
        text.take(",")
    text.take("}")


def _listed(text: _Text) -> Iterator[Any]:
    text.take("[")
    if text.peek() == "]":
        text.take("]")
        return
    while True:
        yield text.value()
        if text.peek() != ",":
            break
        text.take(",")
    text.take("]")


def _paired(text: _Text) -> Iterator[tuple[str, Any]]:
    for key in _keys(text):
        yield key, text.value()


def _pass(text: _Text, depth: int = 2) -> Any:
    """Move past a value, piece by piece where it is large: none is held with another.

    Returns a plain value, or a list of the first element of a list.
    """
    sign = text.peek()
    if sign == "[":
        first: list[Any] = []
        for one in _listed(text):
            first = first or [one]
        return first
    if sign == "{" and depth:
        for _ in _keys(text):
            _pass(text, depth - 1)
        return None
    value = text.value()
    return None if isinstance(value, dict) else value


class _Text:
    """A window on a text: values are decoded from it, and it grows until they fit."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._utf8 = stream, codecs.getincrementaldecoder("utf-8")()
        self._text, self._at, self._lines, self._ended = "", 0, 1, False

    def peek(self) -> str:
        """The next sign that is no space; "" at the end."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._grow(_BLOCK)

    def take(self, sign: str) -> None:
        if self.peek() != sign:
            raise self.malformed(f"Expecting '{sign}'")
        self._at += 1

    def end(self) -> None:
        if self.peek():
            raise self.malformed("Extra data")

    def value(self) -> Any:
        size = _BLOCK
        self.peek()
        while True:
            try:
                value, end = _decode(self._text, self._at)
            except JSONDecodeError as error:
                early = error.pos >= len(self._text) - _END or "Unterminated" in error.msg
                if self._ended or not early:
                    line = self._lines + self._text.count("\n", 0, error.pos)
                    raise Malformed(error.msg, line, cut=early) from None
            except RecursionError:
                raise self.malformed("nested too deeply") from None
            else:
                # A number at the very end may go on.
                if self._ended or end < len(self._text):
                    self._at = end
                    return value
            self._grow(size)
            size *= 2

    def malformed(self, problem: str) -> Malformed:
        """An error at this place of the document."""
        line = self._lines + self._text.count("\n", 0, self._at)
        return Malformed(problem, line, cut=self._at >= len(self._text))

    def _grow(self, size: int) -> None:
        """Let go of what has been decoded, and read on."""
        self._lines += self._text.count("\n", 0, self._at)
        block = self._stream.read(size)
        self._ended = not block
        try:
            more = self._utf8.decode(block, final=self._ended)
        except UnicodeDecodeError:
            raise Malformed("not UTF-8", self._lines) from None
        self._text, self._at = self._text[self._at :] + more, 0
