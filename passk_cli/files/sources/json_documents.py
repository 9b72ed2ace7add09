"""Stream records from JSON documents of any size, and find the keys in a document."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator, Sequence
from json import JSONDecodeError
from typing import IO, Any, TypeVar

from passk_cli.errors import BadRecordError
from passk_cli.files.sources.source import MAX_NESTING, DuplicateKeyError, object_with_unique_keys

ItemType = TypeVar("ItemType")

# passk reads _BLOCK_BYTES bytes of a document at a time.
_BLOCK_BYTES = 1 << 18
# The keys that a format reads have a nesting depth of at most _MAX_KEY_DEPTH, for example
# "info.agent_info.llm".
_MAX_KEY_DEPTH = 3
# To find keys, passk parses at most _MAX_ELEMENTS_IN_BEGINNING elements of an array.
_MAX_ELEMENTS_IN_BEGINNING = 1000
# passk keeps at most _MAX_KEPT_STRINGS_AND_LENGTH strings from a skipped object, and only
# strings of at most _MAX_KEPT_STRINGS_AND_LENGTH characters.
_MAX_KEPT_STRINGS_AND_LENGTH = 100
# _STRING_OR_PUNCTUATION_PATTERN matches a sign between values, or a JSON string, even if the text
# ends inside the string.
_STRING_OR_PUNCTUATION_PATTERN = re.compile(
    r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}\[\],:]', re.DOTALL
)
_WHITE_SPACE_PATTERN = re.compile(r"[ \t\r\n\ufeff]*")
_CUT_OFF_ERROR_MARGIN_CHARACTERS = 64
_decode_json_value = json.JSONDecoder(object_pairs_hook=object_with_unique_keys).raw_decode


def list_elements(
    stream: IO[bytes],
    keys: Sequence[str] = (),
    siblings: dict[str, Any] | None = None,
    name: str = "",
) -> Iterator[Any]:
    """Yield the elements of a list in a JSON document. Only one element is in memory at a time.

    keys : the keys that lead from the top of the document to the list. Without keys, the function
        yields the elements of a top-level array, or the documents in a sequence of JSON documents,
        for example JSON lines.
    siblings : a dict to which this function adds the values next to the list. Plain values are
        added unchanged, and a list is added with only the first element.
    name : the name of the file, for errors.
    If the keys do not lead to a list, the function yields nothing.
    Errors: BadRecordError with the line number if an object contains a key twice, or if the text is
        not JSON. The text after the list is also checked.

    >>> import io
    >>> (list(list_elements(io.BytesIO(b'[1, {"a": NaN}]'))),
    ...  list(list_elements(io.BytesIO(b'{} {}'))))
    ([1, {'a': nan}], [{}, {}])
    >>> list(list_elements(io.BytesIO(b'{"n": 2, "runs": {"all": [3, 4]}}'), ("runs", "all")))
    [3, 4]
    """
    text = _JsonWindow(stream, name)
    if keys or text.peek() == "[":
        yield from _read_items_below_keys(
            text, keys, "[", _read_list_elements, {} if siblings is None else siblings
        )
        text.expect_end()
    else:
        while text.peek():
            yield text.read_value()


def object_members(
    stream: IO[bytes], keys: Sequence[str] = (), name: str = ""
) -> Iterator[tuple[str, Any]]:
    """Yield the members (key, value) of an object in a JSON document, one at a time.

    Nothing is yielded if the keys do not lead to an object. Errors: like `list_elements`.

    >>> import io
    >>> list(object_members(io.BytesIO(b'{"eval": {"a": true, "b": null}}'), ("eval",)))
    [('a', True), ('b', None)]
    """
    text = _JsonWindow(stream, name)
    yield from _read_items_below_keys(
        text,
        keys,
        "{",
        lambda text: ((key, text.read_value()) for key in _yield_keys_before_values(text)),
        {},
    )
    text.expect_end()


def top_level_object_without_keys(
    stream: IO[bytes], streamed: Sequence[str], name: str = ""
) -> dict[str, Any]:
    """The top-level object of a JSON document, without the keys in `streamed`.

    streamed : top-level keys to leave out. The function skips the values of these keys.
    Errors: like `list_elements`. BadRecordError if the document is not an object.
    """
    text, top = _JsonWindow(stream, name), {}
    for key in _yield_keys_before_values(text):
        if key in streamed:
            _skip_and_shorten_value(text)
        else:
            top[key] = text.read_value()
    text.expect_end()
    return top


def _read_items_below_keys(
    text: _JsonWindow,
    keys: Sequence[str],
    sign: str,
    take: Callable[[_JsonWindow], Iterator[ItemType]],
    siblings: dict[str, Any],
) -> Iterator[ItemType]:
    """Follow the keys to a value, and yield the items that `take` reads from this value. If the
    value does not begin with `sign`, nothing is yielded.

    The window moves past all other values.
    """
    if keys and text.peek() == "{":
        for key in _yield_keys_before_values(text):
            if key == keys[0]:
                yield from _read_items_below_keys(text, keys[1:], sign, take, siblings)
            else:
                siblings[key] = _skip_and_shorten_value(text)
    elif not keys and text.peek() == sign:
        yield from take(text)
    else:
        _skip_and_shorten_value(text)


def _stop_at_each_item(text: _JsonWindow, opening: str, closing: str) -> Iterator[None]:
    text.expect(opening)
    if text.peek() != closing:
        yield
        while text.peek() == ",":
            text.expect(",")
            yield
    text.expect(closing)


def _yield_keys_before_values(text: _JsonWindow) -> Iterator[str]:
    """Yield the keys of the object at the current position. The caller must read the value of each
    key."""
    before: set[str] = set()
    for _ in _stop_at_each_item(text, "{", "}"):
        key = text.read_value()
        if not isinstance(key, str):
            raise text.json_error("Expecting property name")
        if key in before:
            problem = f"the key {json.dumps(key, ensure_ascii=False)[:80]} occurs twice"
            raise text.duplicate_error(problem)
        before.add(key)
        text.expect(":")
        yield key


def _read_list_elements(text: _JsonWindow) -> Iterator[Any]:
    return (text.read_value() for _ in _stop_at_each_item(text, "[", "]"))


def _skip_and_shorten_value(text: _JsonWindow, depth: int = 2) -> Any:
    """Skip a value piece by piece, so that a large value needs little memory. Return a short form
    of the value.

    A plain value is returned unchanged. A list keeps only the first element, and an object keeps
    only a few short strings.
    """
    sign = text.peek()
    if sign == "[":
        first: list[Any] = []
        for element in _read_list_elements(text):
            first = first or [element]
        return first
    if sign == "{" and depth:
        texts: dict[str, str] = {}
        for key in _yield_keys_before_values(text):
            value = _skip_and_shorten_value(text, depth - 1)
            if (
                len(texts) < _MAX_KEPT_STRINGS_AND_LENGTH
                and isinstance(value, str)
                and len(value) <= _MAX_KEPT_STRINGS_AND_LENGTH
            ):
                texts[key] = value
        return texts
    value = text.read_value()
    return None if isinstance(value, dict) else value


class _JsonWindow:
    """A window that contains a part of a JSON text. The window grows until the next value is
    complete."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream, self._utf8 = stream, codecs.getincrementaldecoder("utf-8")()
        self._name = name
        self._text, self._at, self._lines, self._ended = "", 0, 1, False

    def peek(self) -> str:
        """The next character that is not a space, or "" at the end of the text."""
        while True:
            self._at = _WHITE_SPACE_PATTERN.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._read_more(_BLOCK_BYTES)

    def expect(self, sign: str) -> None:
        if self.peek() != sign:
            raise self.json_error(f"Expecting '{sign}'")
        self._at += 1

    def expect_end(self) -> None:
        if self.peek():
            raise self.json_error("Extra data")

    def read_value(self) -> Any:
        size = _BLOCK_BYTES
        self.peek()
        while True:
            try:
                value, end = _decode_json_value(self._text, self._at)
            except JSONDecodeError as error:
                early = (
                    error.pos >= len(self._text) - _CUT_OFF_ERROR_MARGIN_CHARACTERS
                    or "Unterminated" in error.msg
                )
                if self._ended or not early:
                    raise self.json_error(error.msg, error.pos, cut=early) from None
            except RecursionError:
                raise self.json_error("nested too deeply") from None
            except DuplicateKeyError as error:
                raise self.duplicate_error(str(error)) from None
            else:
                if self._ended or end < len(self._text):
                    self._at = end
                    return value
            self._read_more(size)
            size *= 2

    def json_error(
        self, problem: str, place: int | None = None, *, cut: bool | None = None
    ) -> BadRecordError:
        """The error at a position in the window, or at the current position if `place` is None."""
        place = self._at if place is None else place
        cut = place >= len(self._text) if cut is None else cut
        remedy = "check whether the file is cut off" if cut else "correct the JSON"
        return BadRecordError(
            self._file_and_line(place), f"the text is not JSON ({problem})", remedy
        )

    def duplicate_error(self, problem: str) -> BadRecordError:
        return BadRecordError(self._file_and_line(self._at), problem, "keep one")

    def _file_and_line(self, place: int) -> str:
        return f"{self._name}:{self._lines + self._text.count(chr(10), 0, place)}"

    def _read_more(self, size: int) -> None:
        self._lines += self._text.count("\n", 0, self._at)
        block = self._stream.read(size)
        self._ended = not block
        try:
            more = self._utf8.decode(block, final=self._ended)
        except UnicodeDecodeError:
            raise self.json_error("not UTF-8", 0, cut=False) from None
        self._text, self._at = self._text[self._at :] + more, 0


def parse_document_or_none(text: str) -> Any:
    """Parse a JSON text. The result is None if the text is not JSON, or if an object contains a key
    twice."""
    try:
        return json.loads(text, object_pairs_hook=object_with_unique_keys)
    except (ValueError, RecursionError):
        return None


def parse_beginning(text: str) -> Any:
    """Parse the JSON value at the beginning of a text. An incomplete inner value becomes null.

    The result is None if the text does not begin with a value. Only the first 1,000 elements of an
    array are parsed.

    >>> parse_beginning('{"a": [{"b": 1}, {"b": 2}, {"b"'), parse_beginning('{"a": {"b": "cut o')
    ({'a': [{'b': 1}, {'b': 2}, {}]}, {'a': {'b': None}})
    """
    around: list[str] = []
    last, elements = None, 0
    for match in _STRING_OR_PUNCTUATION_PATTERN.finditer(text):
        if (sign := match.group())[0] == '"':
            continue
        last = match
        if sign in "{[":
            around.append("}" if sign == "{" else "]")
        elif sign in "}]" and around:
            around.pop()
        elements += sign == "," and around == ["]"]
        if len(around) > MAX_NESTING or elements == _MAX_ELEMENTS_IN_BEGINNING:
            break
    if last is None:
        return None
    sign = last.group()
    end = last.start() if sign == "," else last.end()
    try:
        return json.loads(text[:end] + "null" * (sign == ":") + "".join(reversed(around)))
    except JSONDecodeError as error:
        return parse_beginning(text[: error.pos]) if error.pos < end else None
    except RecursionError:
        return None


def key_names(value: Any, depth: int = _MAX_KEY_DEPTH, prefix: str = "") -> Iterator[str]:
    """The keys of a record and of its nested records, with dots between levels.

    >>> sorted(key_names({"a": 1, "b": [{"c": 2}], "d": {"e": {}}}))
    ['a', 'b', 'b[].c', 'd', 'd.e']
    """
    # passk looks into at most _MAX_KEY_DEPTH levels of lists in lists, because no harness nests
    # lists more deeply.
    for _ in range(_MAX_KEY_DEPTH):
        if isinstance(value, list) and value:
            value, prefix = value[0], prefix.rstrip(".") + "[]."
    if isinstance(value, dict):
        for key, inner in value.items():
            yield prefix + key
            if depth > 1:
                yield from key_names(inner, depth - 1, f"{prefix}{key}.")
