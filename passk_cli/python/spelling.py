"""How Python spells what the command line does: options in messages, and whole calls."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any

from passk_cli.commands import COMMANDS
from passk_cli.commands.command import command_of
from passk_cli.diagnostic import Diagnostic
from passk_cli.errors import DataError, ParameterError
from passk_cli.option import DeclaredOption, accepts, by_flag, split
from passk_cli.suggested_fix import (
    FULL_OPTION,
    OptionValue,
    SuggestedFix,
    keywords,
    literal,
    whole_number,
    with_value,
)
from passk_cli.text import printable

Options = Mapping[str, DeclaredOption]


@dataclass(frozen=True, eq=False)
class Call:
    """A call of a function of this package, as its caller wrote it.

    name : of the function.  data : its first argument.  given : the others, by keyword.
    """

    name: str
    data: Any
    given: Mapping[str, Any]

    def takes(self, settle: SuggestedFix) -> bool:
        """Whether the files that a remedy labels stand in the call."""
        several = isinstance(self.data, list | tuple)
        there = {each for each in self.data if isinstance(each, str)} if several else ()
        return settle.labels.keys() <= {*there}

    def changed(self, settle: SuggestedFix) -> SuggestedFix:
        """A remedy without the options that it takes away and that were not given.

        >>> Call("compare", "a.csv", {}).changed(SuggestedFix({"by": None, "k": 5})).options
        {'k': 5}
        """
        changes = {f: v for f, v in settle.options.items() if v is not None or f in self.given}
        return replace(settle, options=changes)

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

    def with_options(self, settle: SuggestedFix) -> str:
        """The call with the options of a remedy.

        >>> settle = SuggestedFix({"fields": {"task": "case"}, "by": ("arm",)})
        >>> Call("estimate", "a.csv", {"by": "x", "k": 5}).with_options(settle)
        'passk_cli.estimate("a.csv", by=("x", "arm"), k=5, fields={"task": "case"})'
        """
        options, name = dict(self.given), settle.command or self.name
        if name != self.name:
            there = {each.field: each for each in command_of(name).options()}
            options = {f: v for f, v in options.items() if f in there and accepts(there[f], v)}
        for field, value in settle.options.items():
            before = options.get(field)
            if isinstance(value, Mapping) and not isinstance(before, Mapping):
                texts = [before] if isinstance(before, str) else before or ()
                before = dict(text.partition("=")[::2] for text in texts)
            elif before is not None and isinstance(value, tuple):
                before = split(whole_names(field, before)) if field != "threshold" else before
            options[field] = with_value(field, before, value)
        given = self
        if settle.labels or (isinstance(self.data, list) and settle.options.get("to") in self.data):
            given = replace(self, data=settle.read(self.data))
        data = [] if self.data is None else [given.source]
        return f"passk_cli.{name}({', '.join([*data, *keywords(options)])})"


@contextmanager
def python_spelling(options: Options, call: Call | None = None) -> Iterator[None]:
    """Errors of the block name options as Python spells them; notes of an error are calls that
    settle it."""
    try:
        yield
    except (DataError, ParameterError) as error:
        settles = tuple(filter(None, (named(settle, options) for settle in error.settles)))
        place = error.place
        place = spelled(place, options) if isinstance(place, OptionValue) else place
        kind = DataError if isinstance(error, DataError) else ParameterError
        if call:
            settles = tuple(map(call.changed, filter(call.takes, settles)))
        own = error.but(kind, place=place, settles=settles)
        offers = [settle for settle in settles if settle.complete and call]
        own.remedies = [call.with_options(each) for each in offers] if call else []
        if own.candidates:
            from passk_cli.files.reading.asking import screen

            for line in screen(own.candidates, lambda settle: str(named(settle, options))):
                own.add_note(printable(f"  {line}"))
        for line, settle in zip(own.remedies, offers, strict=True):
            own.add_note(printable(f"  {line}  # {settle.why}" if settle.why else f"  {line}"))
        raise own from None


def whole_names(field: str, value: Any) -> Any:
    """Names in a list, each whole although it has a comma; a text as it is.

    >>> whole_names("by", ["temp, C", "a"]), whole_names("by", "a,b")
    (['"temp, C"', 'a'], 'a,b')
    """
    return (
        [whole_number(field, each) for each in value] if isinstance(value, list | tuple) else value
    )


def in_keywords(said: Diagnostic, options: Options, call: Call) -> Diagnostic:
    """A message with the calls that settle it."""
    known = filter(None, (named(settle, options) for settle in said.settles))
    settles = tuple(map(call.changed, filter(call.takes, known)))
    calls = tuple(call.with_options(settle) for settle in settles if settle.complete)
    return replace(said, settles=settles, remedies=calls)


def named(settle: SuggestedFix, options: Options) -> SuggestedFix | None:
    """A remedy with its options as keywords; None where Python has not all of them.

    options : those of the function, where the remedy names no other one; none for what is done with
        findings, of whatever function.
    """
    if not any(name.startswith("-") for name in settle.options):
        # It has keywords already, where one function calls another.
        return replace(settle, listed=True)
    own = by_flag(options.values()) or _flags_of_all()
    every = by_flag(command_of(settle.command).options()) if settle.command else own
    fields = {flag: each.field for flag, each in every.items()} | _OF_CHARTS
    # What Python has not need not be taken away.
    given = {f: value for f, value in settle.options.items() if f in fields or value is not None}
    if not given.keys() <= fields.keys():
        return None
    return replace(settle, options={fields[f]: v for f, v in given.items()}, listed=True)


# What the command line alone declares → where Python has it.
_OF_CHARTS = {"--chart-size": "size", "--highlight": "highlight", "--panel": "panel"}


def spelled(given: OptionValue | SuggestedFix, options: Options = MappingProxyType({})) -> str:
    """An option that a text names, or the options of a remedy, as Python spells them.

    options : those of the command it is about, which stand before those of others.

    >>> options = OptionValue("--bounds", "1,x"), OptionValue("--min-by"), OptionValue("--skip-bad")
    >>> spelled(options[0]), spelled(options[1]), spelled(options[2])
    ('bounds="1,x"', 'min_by=', 'skip_bad=True')
    >>> spelled(FULL_OPTION), spelled(OptionValue("passk formats", "NAME"))
    ('.tables', 'passk_cli.formats(NAME)')
    """
    if isinstance(given, SuggestedFix):
        return str(named(given, options) or "")
    flag, value = given.option, given.value
    if given == FULL_OPTION:
        return ".tables"
    if flag.startswith("passk "):
        return f"passk_cli.{flag.removeprefix('passk ')}({value or ''})"
    option = _flags(options).get(flag)
    if option is not None and option.base is bool and value is None:
        return f"{option.field}=True"
    field = _OF_CHARTS.get(flag, flag) if option is None else option.field
    return f"{field}={_quoted(value or '')}"


def documented(text: str, options: Options) -> str:
    """A declared text with options as Python spells them: its flags are keywords.

    >>> documented("As in --passes=ok, or with --skip-bad.", {})
    'As in passes="ok", or with skip_bad=True.'
    """

    def keyword(match: re.Match[str]) -> str:
        flag, value = match.groups()
        return spelled(OptionValue(flag, value), options) if flag in _flags(options) else match[0]

    return re.sub(r"(?<![\w-])(--?[a-z][a-z-]*)(?:=(\w+))?", keyword, text)


def _quoted(value: str) -> str:
    """Numbers as they are, several in brackets; else text."""
    if re.fullmatch(r"-?[\d.]+(, ?-?[\d.]+)*", value):
        several = re.split(", ?", value)
        return f"({', '.join(several)})" if several[1:] else value
    return literal(value, "") if value else ""


def _flags(options: Options) -> Options:
    """Flag → the option, of these and else of any command's."""
    return {**_flags_of_all(), **by_flag(options.values())}


@cache
def _flags_of_all() -> Options:
    return by_flag(option for name in COMMANDS for option in command_of(name).options())


def call_of(line: str, options: Options) -> str:
    """A command line as a call.

    >>> call_of("passk estimate runs/*.jsonl -k 1,5 --by temperature", {})
    'passk_cli.estimate("runs/*.jsonl", k=(1, 5), by="temperature")'
    """
    fields = _flags(options)
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
