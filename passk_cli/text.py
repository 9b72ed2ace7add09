"""Makes text safe to print, shortens names, wraps lines and joins words."""

from __future__ import annotations

import os
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

# Characters in the Unicode categories of _UNSAFE_CATEGORIES move the cursor, end a line, are
# invisible, or change the direction of text.
_UNSAFE_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_WORD_PATTERN = re.compile(r"[^-_/ ]+")
_NEW_GAP_IN_NAME_PENALTY = 0.25
# passk shortens a name word by word only if the name has at most _MAX_NAME_WORDS_TO_SHORTEN words,
# because more words take too long.
_MAX_NAME_WORDS_TO_SHORTEN = 50
# passk prints the invisible characters in _ZERO_WIDTH_JOINERS, because emoji, Persian and Hindi
# need them.
_ZERO_WIDTH_JOINERS = "\u200c\u200d"
# Characters in the Unicode categories of _WIDTHLESS_CATEGORIES have no width, for example marks
# on the previous character.
_WIDTHLESS_CATEGORIES = ("Mn", "Me", "Cf")

# In URLs with a scheme in _STORAGE_SCHEMES, a file name may contain a question mark, and the user
# name is not secret.
_STORAGE_SCHEMES = ("s3", "s3a", "gs", "hf", "abfss", "hdfs", "file", "dbfs")
# _URL_IN_TEXT_PATTERN matches a URL in a text, without the punctuation after the URL.
_URL_IN_TEXT_PATTERN = re.compile(r"(?i)[a-z][a-z0-9+.-]*://[^\s'\"]+?(?=[:;,.)\]}]*(?:[\s'\"]|$))")
_FIELD_SEPARATOR_BY_FORMAT = {"csv": ",", "tsv": "\t"}
# A word in a message has at most _LONG_WORD characters, and a whole message has at most
# _LONG_MESSAGE characters.
_LONG_WORD, _LONG_MESSAGE = 400, 3000


def printable(text: str) -> str:
    """The text, in which codes replace unprintable characters, for example "\\n" for a line break.

    The unprintable characters are control characters (C0 and C1), U+2028, U+2029, direction marks,
    other invisible characters, single surrogates and noncharacters.  Letters of any script,
    combining marks, emoji and blanks of any width do not change.  XML 1.0 allows every character in
    the resulting text.

    >>> printable("a\\tb"), printable("é 中 👩‍🔬 a\\u202eb")
    ('a\\\\tb', 'é 中 👩‍🔬 a\\\\u202eb')
    """
    if text.isprintable():
        return text
    return "".join(c.encode("unicode_escape").decode() if is_unprintable(c) else c for c in text)


def quote_if_outer_blank(name: str) -> str:
    """The name, in quotes if it begins or ends with a blank.

    >>> quote_if_outer_blank("gpt-5"), quote_if_outer_blank("gpt-5 ")
    ('gpt-5', '"gpt-5 "')
    """
    return name if name == name.strip() else f'"{name}"'


def public_url(address: str) -> str:
    """A URL without the query, the user and the token, because they may contain secrets.

    >>> public_url("https://me:secret@example.org/runs/a.csv?token=x#part")
    'https://example.org/runs/a.csv'
    >>> public_url("https://example.org/a.csv;token=x")
    'https://example.org/a.csv'
    >>> public_url("sc://host:443/;token=x"), public_url("abfss://box@account/a.csv")
    ('sc://host:443/', 'abfss://box@account/a.csv')
    """
    scheme, location = address.split("://", 1)
    web = scheme.lower() not in _STORAGE_SCHEMES
    if web and re.match(r"[^/?#@]*:[^/?#@]*[^/?#@\d][^/?#@]*[/?#].*@", location):
        # In an address such as user:pa/ss@host, the text between the colon and the @ is a password
        # that contains /, ? or a hash sign, and not a port.
        location = location[location.rindex("@") + 1 :]
    if web:
        location = re.split(r"[?#]|;(?=\w+=)|;$", location, maxsplit=1)[0]
    host, slash, path = location.partition("/")
    user, _, machine = host.rpartition("@")
    location = (machine if web or ":" in user else host) + slash + path
    return f"{scheme.lower()}://{location}"


def without_url_secrets(text: str) -> str:
    """The text without the parts of URLs that may contain secrets.

    >>> without_url_secrets("new=https://example.org/a.csv?token=x")
    'new=https://example.org/a.csv'
    >>> without_url_secrets("--rules https://me:pw@h.org/p?token=x: cannot be read")
    '--rules https://h.org/p: cannot be read'
    """
    return (
        _URL_IN_TEXT_PATTERN.sub(lambda address: public_url(address[0]), text)
        if "://" in text
        else text
    )


def is_github_runner() -> bool:
    """Whether passk runs in GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def shield_from_runner(text: str, form: str = "") -> str:
    """The text, changed so that GitHub Actions does not interpret any part of the text as a
    command.

    GitHub interprets "::stop-commands::x" at the beginning of a line, and "##[command]" anywhere in
    a line.  passk puts "| " before the first form (or quotes around the field in csv and tsv), and
    a blank into the second form.  In JSON, passk writes a code for the character #.

    form : the format of the text, for example "csv", or "" for text that people read.
    """
    if not is_github_runner() or form == "github":
        return text
    if form in ("json", "jsonl", "gitlab"):
        return text.replace("##[", r"#\u0023[")
    start = r"(?m)^(?=[^\S\n]*::)"
    if form in _FIELD_SEPARATOR_BY_FORMAT:
        text = re.sub(rf'{start}([^{_FIELD_SEPARATOR_BY_FORMAT[form]}"\n\r]*)', r'"\1"', text)
    return re.sub(start, "| ", text).replace("##[", "## [")


def cut_long_words(text: str) -> str:
    """The message with at most 3,000 characters, and without the middle of words that have more
    than 400 characters.

    A long message keeps its beginning, which names the file, and its end, which gives the remedy.

    >>> len(cut_long_words("a" * 1000)), cut_long_words("no such file")
    (301, 'no such file')
    """
    if len(text) <= _LONG_WORD:
        return text
    text = re.sub(
        rf"\S{{{_LONG_WORD + 1},}}", lambda word: _beginning_and_end(word[0], 200, 100), text
    )
    return text if len(text) <= _LONG_MESSAGE else _beginning_and_end(text, 2000, 900)


def is_unprintable(character: str) -> bool:
    """Whether a character must be printed as a code, for example a control character.

    >>> is_unprintable("\\x1b"), is_unprintable("é"), is_unprintable("\\u200d")
    (True, False, False)
    """
    if unicodedata.category(character) in _UNSAFE_CATEGORIES:
        return character not in _ZERO_WIDTH_JOINERS
    code = ord(character)
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def decode_file_name(name: str | os.PathLike[str]) -> str:
    r"""The name of a file as text, in which codes replace bytes that are not valid UTF-8.

    >>> decode_file_name("run.csv"), decode_file_name("run\udcff.csv")
    ('run.csv', 'run\\xff.csv')
    """
    bytes_shown = (
        f"\\x{ord(c) - 0xDC00:02x}" if "\udc80" <= c <= "\udcff" else c for c in os.fspath(name)
    )
    return "".join(bytes_shown).encode(errors="backslashreplace").decode()


def display_width(text: str) -> int:
    """The width of a text in columns of a terminal, in which a wide character needs two columns and
    a combining mark needs none."""
    if text.isascii():
        return len(text)
    standing = (c for c in text if unicodedata.category(c) not in _WIDTHLESS_CATEGORIES)
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in standing)


def printable_json(value: Any, indent: int | None = None) -> str:
    """A value as JSON, with \\u codes for unprintable characters but not for letters.

    >>> printable_json({"a": "é\x9b"})
    '{"a": "é\\\\u009b"}'
    """
    import json

    text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    if text.isascii():
        return text.replace("\x7f", "\\u007f")
    return "".join(json.dumps(c)[1:-1] if c != "\n" and is_unprintable(c) else c for c in text)


def _beginning_and_end(text: str, first: int, last: int) -> str:
    return f"{text[:first]}…{text[-last:]}"


def truncated_text(text: str, most: int = 80) -> str:
    """The text, cut to at most `most` characters.

    >>> truncated_text("no such file"), truncated_text("no such file", 5)
    ('no such file', 'no s…')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def short_names(
    names: Sequence[str], room: float, extent: Callable[[str], float] = display_width
) -> list[str]:
    """Short forms of names, with at most the width `room` if different names stay different.

    passk removes the least distinctive words of a name first.

    >>> short_names(["org/model-a-2026", "org/model-b-2026"], 13)
    ['…model-a-2026', '…model-b-2026']
    >>> short_names(["org/small-a-2026-high", "org/large-a-2026-high"], 13)
    ['…small-a…', '…large-a…']
    >>> short_names(["claude-opus-4-20251101", "claude-sonnet-4-20250929", "gpt-5"], 16)
    ['claude-opus…', 'claude-sonnet…', 'gpt-5']
    >>> short_names(["gpt-4.1-2025-04-14", "gpt-4.1-mini-2025-04-14"], 14)
    ['…4.1-2025-04…', '…mini-2025-04…']
    >>> short_names(["django__django-10000", "django__django-10001"], 14)
    ['…django-10000', '…django-10001']
    """
    different = sorted({*names})
    words = {name: Counter(_WORD_PATTERN.findall(name.casefold())) for name in different}
    short = {
        name: name if extent(name) <= room else _shorten(name, words, room, extent)
        for name in different
    }
    return [short[name] for name in names]


def _shorten(
    name: str, words: Mapping[str, Counter[str]], room: float, extent: Callable[[str], float]
) -> str:
    spans = [m.span() for m in _WORD_PATTERN.finditer(name)]
    if len(spans) > _MAX_NAME_WORDS_TO_SHORTEN:
        return _without_middle(name, words, room, extent)
    weights = _word_distinctiveness_weights(name, words)
    kept, text = [*range(len(spans))], name
    while extent(text) > room and len(kept) > 1:
        costs = {
            at: weights[at] + _NEW_GAP_IN_NAME_PENALTY * ({at - 1, at + 1} <= {*kept})
            for at in kept
        }
        for gone in sorted(kept, key=lambda at: (costs[at], -at)):
            candidate = _name_with_kept_words(name, spans, [at for at in kept if at != gone])
            if _matches_only_one_name(candidate, words):
                text, kept = candidate, [at for at in kept if at != gone]
                break
        else:
            break
    return text if extent(text) <= room else _without_middle(text, words, room, extent)


def _word_distinctiveness_weights(name: str, words: Mapping[str, Counter[str]]) -> list[float]:
    """The weight of each word of a name, which is larger for more distinctive words.

    A word of a name is distinctive if few similar names contain this word.  Words with letters are
    more distinctive than numbers.  Repeated words, and words with which all names begin or end,
    have little weight.  Two names are similar if they have at least a third of their words in
    common.
    """
    own, weights = words[name], list[float]()
    similar = [
        other for other in words
        if other != name and 3 * (own & words[other]).total() >= own.total()
    ]  # fmt: skip
    for word in _WORD_PATTERN.finditer(name):
        text, before, after = word[0].casefold(), name[: word.end()], name[word.start() :]
        lacking = sum(not words[other][text] for other in similar) / max(len(similar), 1)
        weight = (0.3 + 2 * lacking) / (2 if text.isdecimal() else 1)
        if len(words) > 1 and all(other.endswith(after) for other in words):
            weight = 0.02
        elif len(words) > 1 and all(other.startswith(before) for other in words):
            weight = 0.01
        elif text in _WORD_PATTERN.findall(name[word.end() :].casefold()):
            weight = 0.05
        elif not word.start():
            weight += 1.5
        weights.append(weight)
    return weights


def _name_with_kept_words(name: str, spans: Sequence[tuple[int, int]], kept: Sequence[int]) -> str:
    text, previous = "", -1
    for at in (*kept, len(spans)):
        begin, end = spans[at] if at < len(spans) else (len(name), len(name))
        joint = name[spans[previous][1] if previous >= 0 else 0 : begin]
        text += (joint if at == previous + 1 else "…") + name[begin:end]
        previous = at
    return text


def _matches_only_one_name(text: str, names: Iterable[str]) -> bool:
    parts = text.split("…")
    return sum(_name_matches_parts(parts, name) for name in names) == 1


def _name_matches_parts(parts: Sequence[str], name: str) -> bool:
    """Whether a name consists of the given parts in their order, with any text between two
    parts."""
    if len(parts) == 1:
        return name == parts[0]
    end = len(name) - len(parts[-1])
    place = len(parts[0]) if name.startswith(parts[0]) and name.endswith(parts[-1]) else end + 1
    for part in parts[1:-1]:
        found_at = name.find(part, place, max(end, 0))
        place = end + 1 if found_at < 0 else found_at + len(part)
    return place <= end


def _without_middle(
    text: str, names: Iterable[str], room: float, extent: Callable[[str], float]
) -> str:
    """The text without the middle.  The result matches only one name, and has at most the width
    `room` if such a text exists.
    """

    def cut(length: int) -> str:
        """The text without the middle, cut to the given length, or "" if no such text matches
        exactly one name."""
        for head in sorted(range(length), key=lambda head: abs(2 * head - length + 1)):
            end = text[len(text) - length + 1 + head :]
            shorter = f"{text[:head].rstrip('…')}…{end.lstrip('…')}"
            if shorter != "…" and _matches_only_one_name(shorter, names):
                return shorter
        return ""

    lengths = range(2, len(text))
    first = bisect_left(lengths, True, key=lambda length: bool(cut(length)))
    lengths = lengths[first:]
    fitting = bisect_left(lengths, True, key=lambda length: extent(cut(length)) > room)
    return cut(lengths[max(fitting - 1, 0)]) if lengths else text


def wrap_text(
    text: str, room: float, extent: Callable[[str], float] = display_width, joint: str = " "
) -> list[str]:
    """The text, broken into lines of at most the width `room`.

    Lines break at the separator `joint` if possible.  Otherwise, lines break at blanks, or else in
    a word after a hyphen, slash or underscore, or else anywhere.

    >>> wrap_text("org/some-long_name again", 10), wrap_text("a b · c d", 5, joint=" · ")
    (['org/some-', 'long_name', 'again'], ['a b', 'c d'])
    """
    lines = [""]
    for part in text.split(joint):
        longer = f"{lines[-1]}{joint}{part}" if lines[-1] else part
        if extent(longer) <= room:
            lines[-1] = longer
        elif extent(part) <= room:
            lines.append(part)
        elif joint != " ":
            lines += wrap_text(part, room, extent)
        else:
            blank = " " * bool(lines[-1])
            for piece in re.findall(r"[^-/_]+[-/_]*|[-/_]+", part):
                for bit in [piece] if extent(piece) <= room else piece:
                    if lines[-1] and extent(lines[-1] + blank + bit) > room:
                        lines.append("")
                        blank = ""
                    lines[-1] += blank + bit
                    blank = ""
    return [line for line in lines if line]


def balance_lines(text: str, room: int) -> list[str]:
    """The text, broken at " · " into as few lines as possible, which have similar widths.

    >>> balance_lines("one · two · three · four", 20)
    ['one · two', 'three · four']
    """
    lines = wrap_text(text, room, joint=" · ")
    rooms = range(-(-display_width(text) // max(len(lines), 1)), room)
    tries = (wrap_text(text, less, joint=" · ") for less in rooms)
    return next((even for even in tries if len(even) == len(lines)), lines)


def plural(count: int, noun: str) -> str:
    """A count with its noun, for example "2 tasks".

    >>> plural(2, "crash"), plural(1, "crash"), plural(1000, "task")
    ('2 crashes', '1 crash', '1,000 tasks')
    """
    ending = "es" if noun.endswith("sh") else "s"
    return f"{count:,} {noun}{ending * (count != 1)}"


def all_in_words(counted: str) -> str:
    """A count as a phrase that begins with "all" or "both".

    >>> all_in_words("2 models"), all_in_words("3 models")
    ('both models', 'all 3 models')
    """
    return f"all {counted}".replace("all 2 ", "both ", 1)


def clauses_joined_by_semicolons(*parts: str) -> str:
    """All clauses that are not empty, joined by semicolons, or by a blank after a question mark.

    >>> clauses_joined_by_semicolons("from what value?", "", "use --threshold X", "or -m mean")
    'from what value? use --threshold X; or -m mean'
    """
    return "; ".join(filter(None, parts)).replace("?; ", "? ")


def join_names(names: Sequence[str]) -> str:
    """Names joined by commas and "and".

    >>> join_names("a"), join_names("ab"), join_names("abc")
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def first_few(names: Sequence[str]) -> str:
    """All names if there are at most four, and otherwise the first three names and the number of
    further names.

    >>> first_few("abcde"), first_few("abcd")
    ('a, b, c and 2 more', 'a, b, c, d')
    """
    return ", ".join(names) if len(names) <= 4 else names_that_fit(names, 80, ", ", 3)


def names_that_fit(names: Sequence[str], width: int, joint: str = "", most: int = 0) -> NameList:
    """As many names as fit into a line, and the number of further names.

    joint : the separator of names.  By default, the separator is a blank, or a comma if some names
        contain blanks.

    >>> names_that_fit(["1", "2", "30"], 9), names_that_fit(["one task", "other", "third"], 9)
    ('1 2 30', 'one task and 2 more')
    """
    joint = joint or (", " if any(" " in name for name in names) else " ")
    ends = accumulate(len(name) + len(joint) for name in names)
    fitting = max(1, sum(end <= width + len(joint) for end in ends))
    fitting = min(fitting, most or fitting)
    more = f" and {len(names) - fitting:,} more" if fitting < len(names) else ""
    return NameList(joint.join(names[:fitting]) + more, names, joint)


class NameList(str):
    """The first names of a list, and the number of further names.

    names : all names of the list, which a report page shows after a click.
    joint : the separator of names.
    """

    names: tuple[str, ...]
    joint: str

    def __new__(cls, text: str, names: Sequence[str], joint: str) -> NameList:
        shown = super().__new__(cls, text)
        shown.names, shown.joint = tuple(names), joint
        return shown

    def __reduce__(self) -> tuple[type[NameList], tuple[str, tuple[str, ...], str]]:
        return NameList, (str(self), self.names, self.joint)

    @property
    def all_names(self) -> str:
        """The text with all names, which equals the list itself if no name is left out."""
        return self.joint.join(self.names)


class OrderedCategoryValue(str):
    """A value of an ordered category, such as "low", as a string that is sorted by its position in
    the order.

    >>> order = ("low", "mid", "high")
    >>> sorted((OrderedCategoryValue(text, order) for text in ("high", "", "low")))
    ['low', 'high', '']
    """

    order: tuple[str, ...]

    def __new__(cls, text: str, order: tuple[str, ...]) -> OrderedCategoryValue:
        category = super().__new__(cls, text)
        category.order = order
        return category

    @property
    def place(self) -> int:
        """The position of the value in the order of the category.  An unknown value comes last."""
        return self.order.index(self) if self in self.order else len(self.order)

    def __lt__(self, other: str) -> bool:
        if isinstance(other, OrderedCategoryValue):
            return (self.place, str(self)) < (other.place, str(other))
        return super().__lt__(other)

    def __reduce__(self) -> tuple[type[OrderedCategoryValue], tuple[str, tuple[str, ...]]]:
        return OrderedCategoryValue, (str(self), self.order)
