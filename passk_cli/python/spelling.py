"""How Python spells what the command line does: options in messages, and whole calls."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, get_args

from passk_cli.commands import COMMANDS
from passk_cli.commands.command import command_of
from passk_cli.errors import DataError, ParameterError, PasskError, offered
from passk_cli.message import Said
from passk_cli.option import Declared, split
from passk_cli.settle import Settle, keywords, literal, with_value
from passk_cli.text import printable

Options = Mapping[str, Declared]


@dataclass(frozen=True, eq=False)
class Call:
    """A call of a function of this package, as its caller wrote it.

    name : of the function.  data : its first argument.  given : the others, by keyword.
    """

    name: str
    data: Any
    given: Mapping[str, Any]

    @property
    def source(self) -> str:
        """The data as an expression; tables and rows by a usual name."""
        data = [self.data] if isinstance(self.data, str | os.PathLike) else self.data
        if isinstance(data, Mapping):
            return "columns"
        if not isinstance(data, list | tuple):
            return "df"
        if any(isinstance(each, Mapping) for each in data):
            return "rows"
        return literal(self.data, "data")

    def with_options(self, settle: Settle) -> str:
        """The call with the options of a remedy.

        >>> settle = Settle({"fields": {"task": "case"}, "by": ("arm",)})
        >>> Call("estimate", "a.csv", {"by": "x", "k": 5}).with_options(settle)
        'passk_cli.estimate("a.csv", by=("x", "arm"), k=5, fields={"task": "case"})'
        """
        options, name = dict(self.given), settle.command or self.name
        if name != self.name:
            there = {each.field for each in command_of(name).options()}
            options = {field: value for field, value in options.items() if field in there}
        for field, value in settle.options.items():
            before = options.get(field)
            if isinstance(value, Mapping) and not isinstance(before, Mapping):
                texts = [before] if isinstance(before, str) else before or ()
                before = dict(text.partition("=")[::2] for text in texts)
            elif before is not None and isinstance(value, tuple):
                before = split(before) if field != "threshold" else before
            options[field] = with_value(field, before, value)
        data = [] if self.data is None else [self.source]
        return f"passk_cli.{name}({', '.join([*data, *keywords(options)])})"

    def remedies(self, error: PasskError) -> list[str]:
        """A line for each alternative that settles an error, and what it does."""
        return [
            self.with_options(each) + f"  # {each.why}" * bool(each.why)
            for each in offered(error, self.name)
        ]


@contextmanager
def python_spelling(options: Options, call: Call | None = None) -> Iterator[None]:
    """Errors of the block name options as Python spells them; notes of an error are calls that
    settle it."""
    try:
        yield
    except (DataError, ParameterError) as error:
        settles = tuple(filter(None, (named(settle, options) for settle in error.settles)))
        own: PasskError
        if isinstance(error, DataError):
            problem, remedy = (in_python(text, options) for text in (error.problem, error.words))
            own = error.but(DataError, problem=problem, remedy=remedy, settles=settles)
        else:
            text = in_python(error.args[0], options)
            own = ParameterError(text, name=error.name, settles=settles)
        for line in call.remedies(own) if call else ():
            own.add_note(f"  {printable(line)}")
        raise own from None


def in_keywords(said: Said, options: Options, call: Call) -> Said:
    """A message with its options as Python spells them, and calls that settle it."""
    settles = tuple(filter(None, (named(settle, options) for settle in said.settles)))
    calls = tuple(call.with_options(settle) for settle in settles if settle.complete)
    spelled = said.spelled(lambda text: in_python(text, options))
    return replace(spelled, settles=settles, remedies=calls)


def named(settle: Settle, options: Options) -> Settle | None:
    """A remedy with its options as keywords; None where Python has not all of them.

    options : those of the function, where the remedy names no other one; none for what is done with
        findings, of whatever function.
    """
    own = (options or _flags_of_all()).values()
    every = command_of(settle.command).options() if settle.command else own
    fields = {flag: each.field for each in every for flag in each.option.flags.split()}
    fields |= {flag: name.removesuffix("=") for flag, name in _ELSEWHERE.items()}
    if not settle.options.keys() <= fields.keys():
        return None
    spelled = {fields[flag]: value for flag, value in settle.options.items()}
    return replace(settle, options=spelled, why=in_python(settle.why, options))


# What the command line alone declares → where Python has it.
_ELSEWHERE = {"--chart-size": "size=", "--highlight": "highlight=", "--panel": "panel="}
# What follows an option that takes a name where a sentence goes on.
_WORDS = {"", "and", "chooses", "is", "or", "out", "too"}
_OPTION = re.compile(
    r"\bpassk (?P<command>[a-z]+)(?P<options> FILE|(?: --?[a-z-]+)*)"
    r"|(?P<head>\A(?P<opening>--?[a-z-]+) (?P<text>[^;]+?)(?=: ))"
    r"|(?<![\w-])(?P<flag>--?[a-z](?:[a-z-]*[a-z])?)(?![\w-])"
    r"(?: (?P<word>(?:'[^']*'|[^\s:;()])+?)(?=[,.:;)]*(?:\s|\Z)))?"
)


def in_python(text: str, options: Options) -> str:
    """A message with its options as Python spells them.

    options : those of the command it is about, which stand before those of others.

    >>> in_python("--bounds 1,x: write LOW,HIGH; --short-tasks drop uses the others", {})
    'bounds="1,x": write LOW,HIGH; short_tasks="drop" uses the others'
    >>> in_python("passk order --order-from-lines takes the order of lines", {})
    'passk_cli.order(order_from_lines=True) takes the order of lines'
    >>> in_python("a score needs --threshold X, or leave lines out with --skip-bad", {})
    'a score needs threshold=X, or leave lines out with skip_bad=True'
    >>> in_python("keep them apart with --field model='my model' or --by 'my model'", {})
    'keep them apart with fields="model=my model" or by="my model"'
    """
    if "-" not in text and "passk " not in text:
        return text

    def spelled(match: re.Match[str]) -> str:
        fields = _by_flag(options)
        if match["command"] in COMMANDS:
            words = match["options"].split() or ["…"]
            arguments = (f"{fields[word].field}=True" if word in fields else word for word in words)
            return f"passk_cli.{match['command']}({', '.join(arguments)})"
        # A shell needs quotes around blanks.
        word = re.sub("'([^']*)'", r"\1", match["word"] or "")
        flag, value = match["opening"] or match["flag"], match["text"] or word
        if flag in _ELSEWHERE:
            return _ELSEWHERE[flag] + (_quoted(value) if match["opening"] else f" {value}".rstrip())
        if flag not in fields:
            return match[0]
        option = fields[flag]
        field = option.field
        if option.base is bool:
            return f"{field}=True {value}".rstrip()
        if match["opening"] or _is_value(value, option):
            return f"{field}={_quoted(value)}"
        return f"{field}= {value}".rstrip()

    return _OPTION.sub(spelled, text)


def _is_value(word: str, declared: Declared) -> bool:
    """Whether a word after an option is its value, and not the next one of the sentence."""
    option = declared.option
    if option.choices or "|" in option.metavar:
        return word in option.values or word in option.metavar.split("|")
    name = declared.base is str or str in get_args(declared.kind)
    return word.isupper() or bool(re.search(r"[\d=…,]", word)) or (name and word not in _WORDS)


def _quoted(value: str) -> str:
    """Numbers and what stands for a value as they are, several in brackets; else text."""
    if re.fullmatch(r"<\w+>|(-?[\d.]+|[A-Z]+)(, ?(-?[\d.]+|[A-Z]+))*", value):
        several = re.split(", ?", value)
        return f"({', '.join(several)})" if several[1:] else value
    return f'"{value}"' if value else ""


def _by_flag(options: Options) -> Options:
    """Flag → the option, of these and else of any command's."""
    own = {flag: each for each in options.values() for flag in each.option.flags.split()}
    return {**_flags_of_all(), **own}


@cache
def _flags_of_all() -> Options:
    every = (option for name in COMMANDS for option in command_of(name).options())
    return {flag: each for each in every for flag in each.option.flags.split()}


def call_of(line: str, options: Options) -> str:
    """A command line as a call.

    >>> call_of("passk estimate runs/*.jsonl -k 1,5 --by temperature", {})
    'passk_cli.estimate("runs/*.jsonl", k=(1, 5), by="temperature")'
    """
    fields = _by_flag(options)
    _, name, *words = shlex.split(line)
    places = [place for place, word in enumerate(words) if word.startswith("-")]
    files = [_quoted(word) for word in words[: min(places, default=None)]]
    arguments = [f"[{', '.join(files)}]"] if len(files) > 1 else files
    saved = ""
    for place in places:
        if words[place] == "--chart":
            saved = f".save({_quoted(words[place + 1])})"
            continue
        option = fields[words[place]]
        value = True if option.base is bool else _quoted(words[place + 1])
        arguments.append(f"{option.field}={value}")
    return f"passk_cli.{name}({', '.join(arguments)}){saved}"
