"""Makes text safe to print, shortens names, wraps lines and joins words."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate, takewhile
from typing import Any

# Maximum number of letters in a list of names in a sentence.
_LONG_LIST = 80
# Unicode categories of characters that move the cursor, end a line, are invisible, or change the
# direction of text.
_UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# Separators between the words of a name.
_BETWEEN = re.compile("([-_/ ]+)")
# These invisible characters are safe, because they join letters in Persian and Hindi, and emoji.
_JOINERS = "\u200c\u200d"
# Unicode categories of characters without width: marks on the previous character, and joiners.
_WIDTHLESS = ("Mn", "Me", "Cf")

# In URLs with these schemes, a file name may contain a question mark, and the user is not secret.
_STORES = ("s3", "s3a", "gs", "hf", "abfss", "hdfs", "file", "dbfs")
# A URL in a text, without the punctuation after the URL.
_ADDRESSES = re.compile(r"(?i)[a-z][a-z0-9+.-]*://[^\s'\"]+?(?=[:;,.)\]}]*(?:[\s'\"]|$))")
# Format → the separator of fields.
_SEPARATORS = {"csv": ",", "tsv": "\t"}
# Maximum number of characters of a word in a message, and of a whole message.
_LONG_WORD, _LONG_MESSAGE = 400, 3000


def printable(text: str) -> str:
    """The text with unprintable characters as codes, for example "\\\\n" for a line break.

    Codes replace control characters (C0 and C1), U+2028 and U+2029, marks of direction, further
    invisible characters, single surrogates and noncharacters.  Letters of any script, combining
    marks, emoji and blanks of any width stay.  XML 1.0 allows every character of the result.

    >>> printable("a\\tb"), printable("é 中 👩‍🔬 a\\u202eb")
    ('a\\\\tb', 'é 中 👩‍🔬 a\\\\u202eb')
    """
    if text.isprintable():
        return text
    return "".join(c.encode("unicode_escape").decode() if is_unprintable(c) else c for c in text)


def in_quotes(name: str) -> str:
    """The name, in quotes if it begins or ends with a blank.

    >>> in_quotes("gpt-5"), in_quotes("gpt-5 ")
    ('gpt-5', '"gpt-5 "')
    """
    return name if name == name.strip() else f'"{name}"'


def public_address(address: str) -> str:
    """A URL without its query, user and token, which may contain secrets.

    >>> public_address("https://me:secret@example.org/runs/a.csv?token=x#part")
    'https://example.org/runs/a.csv'
    >>> public_address("https://example.org/a.csv;token=x")
    'https://example.org/a.csv'
    >>> public_address("sc://host:443/;token=x"), public_address("abfss://box@account/a.csv")
    ('sc://host:443/', 'abfss://box@account/a.csv')
    """
    scheme, location = address.split("://", 1)
    web = scheme.lower() not in _STORES
    if web and re.match(r"[^/?#@]*:[^/?#@]*[^/?#@\d][^/?#@]*[/?#].*@", location):
        # The part after the colon is not a port but a password that contains /, ? or #.
        location = location[location.rindex("@") + 1 :]
    if web:
        location = re.split(r"[?#]|;(?=\w+=)|;$", location, maxsplit=1)[0]
    host, slash, path = location.partition("/")
    user, _, machine = host.rpartition("@")
    location = (machine if web or ":" in user else host) + slash + path
    return f"{scheme.lower()}://{location}"


def without_secrets(text: str) -> str:
    """The text with secrets removed from all URLs.

    >>> without_secrets("new=https://example.org/a.csv?token=x")
    'new=https://example.org/a.csv'
    >>> without_secrets("--rules https://me:pw@h.org/p?token=x: cannot be read")
    '--rules https://h.org/p: cannot be read'
    """
    return (
        _ADDRESSES.sub(lambda address: public_address(address[0]), text) if "://" in text else text
    )


def is_github_runner() -> bool:
    """Whether passk runs in GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def shield_from_runner(text: str, form: str = "") -> str:
    """The text, changed so that GitHub Actions does not run a name in it as a command.

    GitHub runs "::stop-commands::x" at the beginning of a line, and "##[command]" anywhere.  passk
    puts "| " before the first form, and a blank into the second form.  In csv and tsv, quotes
    around the field replace "| ".  JSON contains a code for the character #.

    form : the format of the text; "" for text that people read.
    """
    if not is_github_runner() or form == "github":
        return text
    if form in ("json", "jsonl", "gitlab"):
        return text.replace("##[", r"#\u0023[")
    start = r"(?m)^(?=[^\S\n]*::)"
    if form in _SEPARATORS:
        text = re.sub(rf'{start}([^{_SEPARATORS[form]}"\n\r]*)', r'"\1"', text)
    return re.sub(start, "| ", text).replace("##[", "## [")


def cut_long_words(text: str) -> str:
    """The message without the middle of words over 400 characters and of a text over 3,000.

    The beginning and the end of a message stay, because they name the file and the remedy.

    >>> len(cut_long_words("a" * 1000)), cut_long_words("no such file")
    (301, 'no such file')
    """
    if len(text) <= _LONG_WORD:
        return text
    text = re.sub(rf"\S{{{_LONG_WORD + 1},}}", lambda word: _ends(word[0], 200, 100), text)
    return text if len(text) <= _LONG_MESSAGE else _ends(text, 2000, 900)


def is_unprintable(character: str) -> bool:
    """Whether a character must be printed as a code, for example a control character.

    >>> is_unprintable("\\x1b"), is_unprintable("é"), is_unprintable("\\u200d")
    (True, False, False)
    """
    if unicodedata.category(character) in _UNSAFE:
        return character not in _JOINERS
    code = ord(character)
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def decode_name(name: str | os.PathLike[str]) -> str:
    r"""The name of a file as text, with codes for bytes that are not UTF-8.

    >>> decode_name("run.csv"), decode_name("run\udcff.csv")
    ('run.csv', 'run\\xff.csv')
    """
    bytes_shown = (
        f"\\x{ord(c) - 0xDC00:02x}" if "\udc80" <= c <= "\udcff" else c for c in os.fspath(name)
    )
    return "".join(bytes_shown).encode(errors="backslashreplace").decode()


def cells_of(text: str) -> int:
    """The width of a text in columns of a terminal: 2 per wide character, 0 per combining mark."""
    if text.isascii():
        return len(text)
    standing = (c for c in text if unicodedata.category(c) not in _WIDTHLESS)
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in standing)


def strict_json(value: Any, indent: int | None = None) -> str:
    """A value as JSON, with readable letters and with \\u codes for unprintable characters.

    >>> strict_json({"a": "é\x9b"})
    '{"a": "é\\\\u009b"}'
    """
    import json

    text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    if text.isascii():
        return text.replace("\x7f", "\\u007f")
    return "".join(json.dumps(c)[1:-1] if c != "\n" and is_unprintable(c) else c for c in text)


def _ends(text: str, first: int, last: int) -> str:
    return f"{text[:first]}…{text[-last:]}"


def shortened(text: str, most: int = 80) -> str:
    """The text, cut after `most` characters.

    >>> shortened("no such file"), shortened("no such file", 5)
    ('no such file', 'no s…')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def short_names(
    names: Sequence[str],
    room: float,
    extent: Callable[[str], float] = cells_of,
    *,
    telling: bool = False,
) -> list[str]:
    """Shorter names that stay different, if possible no wider than `room`.

    As few words as possible are removed from wide names, in this order: words with which all names
    begin or end, words before a slash, words that most names contain, words after such common
    words, words that distinguish names, and at last the middle of a name.  If there is only one
    name, its middle is removed.
    extent : function that returns the width of a text.
    telling : whether to keep the words that distinguish names.

    >>> short_names(["org/model-a-2026", "org/model-b-2026"], 13)
    ['…model-a-2026', '…model-b-2026']
    >>> short_names(["org/small-a-2026-high", "org/large-a-2026-high"], 13)
    ['…small-a…', '…large-a…']
    >>> short_names(["meta/llama-7b-Instruct-v1", "qwen/coder-9b-instruct-v2"], 13)
    ['…llama-7b…', '…coder-9b…']
    >>> short_names(["meta/llama-7b-Instruct-v1", "meta/llama-9b-instruct-v1"], 5)
    ['…7b…', '…9b…']
    >>> short_names(["a-1/the-llama-7b-chat-01", "b-2/the-qwen-9b-chat-02"], 5, telling=True)
    ['…llama-7b…', '…qwen-9b…']
    >>> short_names(["gpt-4.1-2025-04-14", "gpt-4.1-mini-2025-04-14"], 14)
    ['…4.1…', '…4.1-mini…']
    >>> short_names(["django__django-10000", "django__django-10001"], 14)
    ['…django-10000', '…django-10001']
    """
    # Name → its words and separators, in turns.
    wide = {name: _BETWEEN.split(name) for name in names if extent(name) > room}
    if len({*names}) == 1:
        return [*names] if telling else _without_middles(names, room, extent)
    words = {name: [word.casefold() for word in parts[::2]] for name, parts in wide.items()}
    slashes = {
        name: sum("/" in "".join(parts[at:]) for at in range(0, len(parts), 2))
        for name, parts in wide.items()
    }
    first, last = _common([*words.values()])
    middle, _ = _common([words[name][slashes[name] :] for name in wide])
    often = Counter(word for name_words in words.values() for word in {*name_words})
    tell = first + last + middle + 2
    # Name → the step at which each of its words is removed.
    steps: dict[str, list[int]] = {}
    for name, name_words in words.items():
        slash = slashes[name]
        shared = [len(words) > 1 and 2 * often[word] > len(words) for word in name_words]
        begin = slash + middle
        if begin < len(name_words) and not all(shared[begin:]):
            begin = shared.index(False, begin)
        stop = shared.index(True, begin) if True in shared[begin:] else len(name_words)
        rare = sorted(range(len(name_words)), key=lambda at: (-often[name_words[at]], -at))
        steps[name] = [
            at if at < first
            else first + len(name_words) - 1 - at if at >= len(name_words) - last
            else first + last if at < slash
            else first + last + 1 + at - slash if at < slash + middle
            else tell - 1 if shared[at] or not begin <= at < stop
            else tell + rare.index(at)
            for at in range(len(name_words))
        ]  # fmt: skip
    short = {name: name for name in names}
    for step in range(tell + (0 if telling else max(map(len, words.values()), default=0))):
        cut = {name: _without_words(parts, steps[name], step) for name, parts in wide.items()}
        # From here on, words that distinguish names are removed, but only from wide names.
        if step >= tell:
            cut = {name: text for name, text in cut.items() if extent(short[name]) > room}
        numbers = Counter(cut.values())
        shorter = short | {
            name: text for name, text in cut.items() if text.strip("…") and numbers[text] == 1
        }
        if len({*shorter.values()}) == len(short):
            short = shorter
        if max(map(extent, short.values()), default=0) <= room:
            break
    if telling:
        return [short[name] for name in names]
    return _without_middles([short[name] for name in names], room, extent)


def _common(words: Sequence[Sequence[str]]) -> tuple[int, int]:
    """The number of words with which all names begin, and the number with which all names end."""
    fewest = min(map(len, words)) if len(words) > 1 else 1
    last = min(_shared_start([sequence[::-1] for sequence in words]), fewest - 1)
    return min(_shared_start(words), fewest - 1 - last), last


def _shared_start(words: Sequence[Sequence[str]]) -> int:
    """The number of words with which all names begin."""
    same = takewhile(lambda column: len({*column}) == 1, zip(*words, strict=False))
    return sum(1 for _ in same)


def _without_words(parts: Sequence[str], steps: Sequence[int], step: int) -> str:
    """The name without the words that are removed up to a step, with … for each gap."""
    text = ""
    for before, word, gone in zip(("", *parts[1::2]), parts[::2], steps, strict=True):
        if gone > step:
            text += word if text.endswith("…") else before + word
        elif not text.endswith("…"):
            text += "…"
    return text


def _without_middles(
    names: Sequence[str], room: float, extent: Callable[[str], float]
) -> list[str]:
    """The names with … for their middles, no wider than `room` unless two names would be equal."""
    letter = max((extent(name) / max(cells_of(name), 1) for name in names), default=1)
    if max(map(extent, names), default=0) <= room:
        return [*names]
    for cells in range(int(room / letter), max(map(cells_of, names), default=0)):
        most = max(room, letter * cells)
        for tail in sorted(range(1, cells - 1), key=lambda tail: abs(2 * tail - cells + 1)):
            cut = [
                name if extent(name) <= most
                else f"{name[: cells - 1 - tail].rstrip('…')}…{name[-tail:].lstrip('…')}"
                for name in names
            ]  # fmt: skip
            fits = all(extent(text) <= most or cells_of(text) <= cells for text in cut)
            if fits and len({*cut}) == len({*names}):
                return cut
    return [*names]


def wrap_text(
    text: str, room: float, extent: Callable[[str], float] = cells_of, joint: str = " "
) -> list[str]:
    """The text in lines of at most the width `room`.

    Lines break at `joint` if possible.  Otherwise they break at blanks, or in a word after hyphens,
    slashes and underscores, or anywhere.

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
    """The text in as few lines as possible, with similar widths, broken at " · ".

    >>> balance_lines("one · two · three · four", 20)
    ['one · two', 'three · four']
    """
    lines = wrap_text(text, room, joint=" · ")
    rooms = range(-(-cells_of(text) // max(len(lines), 1)), room)
    tries = (wrap_text(text, less, joint=" · ") for less in rooms)
    return next((even for even in tries if len(even) == len(lines)), lines)


def plural(count: int, noun: str) -> str:
    """A count with its noun, for example "2 tasks".

    >>> plural(2, "crash"), plural(1, "crash"), plural(1000, "task")
    ('2 crashes', '1 crash', '1,000 tasks')
    """
    ending = "es" if noun.endswith("sh") else "s"
    return f"{count:,} {noun}{ending * (count != 1)}"


def all_of_count(counted: str) -> str:
    """A count as a phrase with "all" or "both".

    >>> all_of_count("2 models"), all_of_count("3 models")
    ('both models', 'all 3 models')
    """
    return f"all {counted}".replace("all 2 ", "both ", 1)


def join_clauses(*parts: str) -> str:
    """All clauses that are not empty, joined by semicolons, or by a blank after a question mark.

    >>> join_clauses("from what value does it pass?", "", "use --threshold X", "or -m mean")
    'from what value does it pass? use --threshold X; or -m mean'
    """
    return "; ".join(filter(None, parts)).replace("?; ", "? ")


def join_names(names: Sequence[str]) -> str:
    """Names joined by commas and "and".

    >>> join_names("a"), join_names("ab"), join_names("abc")
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def first_few(names: Sequence[str]) -> str:
    """Up to four names, or the first three and the number of further names.

    >>> first_few("abcde"), first_few("abcd")
    ('a, b, c and 2 more', 'a, b, c, d')
    """
    return ", ".join(names) if len(names) <= 4 else names_that_fit(names, _LONG_LIST, ", ", 3)


def names_that_fit(names: Sequence[str], width: int, joint: str = "", most: int = 0) -> str:
    """The names that fit into a line, and the number of further names.

    joint : the separator; by default a blank, or a comma if some names contain blanks.
    most : maximum number of names; 0 for any number.

    >>> names_that_fit(["1", "2", "30"], 9), names_that_fit(["one task", "other", "third"], 9)
    ('1 2 30', 'one task and 2 more')
    """
    joint = joint or (", " if any(" " in name for name in names) else " ")
    ends = accumulate(len(name) + len(joint) for name in names)
    fitting = max(1, sum(end <= width + len(joint) for end in ends))
    fitting = min(fitting, most or fitting)
    more = f" and {len(names) - fitting:,} more" if fitting < len(names) else ""
    return joint.join(names[:fitting]) + more


class Category(str):
    """A value of an ordered category, which sorts by its position in the order.

    >>> order = ("low", "mid", "high")
    >>> sorted((Category(text, order) for text in ("high", "", "low")))
    ['low', 'high', '']
    """

    order: tuple[str, ...]

    def __new__(cls, text: str, order: tuple[str, ...]) -> Category:
        category = super().__new__(cls, text)
        category.order = order
        return category

    @property
    def place(self) -> int:
        """The position of the value in the order.  Unknown values come last."""
        return self.order.index(self) if self in self.order else len(self.order)

    def __lt__(self, other: str) -> bool:
        if isinstance(other, Category):
            return (self.place, str(self)) < (other.place, str(other))
        return super().__lt__(other)

    def __reduce__(self) -> tuple[type[Category], tuple[str, tuple[str, ...]]]:
        return Category, (str(self), self.order)
