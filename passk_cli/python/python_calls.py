"""Writes options as Python keywords, and commands as Python calls, for messages and errors."""

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
from passk_cli.commands.command import load_command
from passk_cli.diagnostic import Diagnostic
from passk_cli.errors import DataError, ParameterError
from passk_cli.option import (
    DeclaredOption,
    accepts_value,
    declared_options_by_flag,
    split_at_commas,
)
from passk_cli.suggested_fix import (
    FULL_DETAILS_OPTION,
    OptionWithValue,
    SuggestedFix,
    combine_option_values,
    python_keywords,
    python_literal,
    quote_commas,
)
from passk_cli.text import printable

DeclaredOptionsByName = Mapping[str, DeclaredOption]


@dataclass(frozen=True, eq=False)
class UserPythonCall:
    """A call of a public function of passk, with the arguments that the user gave."""

    name: str
    data: Any
    options: Mapping[str, Any]

    def has_files_of_fix(self, settle: SuggestedFix) -> bool:
        """Whether the data of the call contains every file that a fix labels."""
        several = isinstance(self.data, list | tuple)
        files = {item for item in self.data if isinstance(item, str)} if several else ()
        return settle.label_by_file.keys() <= {*files}

    def fix_without_absent_options(self, settle: SuggestedFix) -> SuggestedFix:
        """A copy of the fix that removes an option only if the call has this option.

        >>> call, fix = UserPythonCall("compare", "a.csv", {}), SuggestedFix({"by": None, "k": 5})
        >>> call.fix_without_absent_options(fix).options
        {'k': 5}
        """
        changes = {f: v for f, v in settle.options.items() if v is not None or f in self.options}
        return replace(settle, options=changes)

    @property
    def data_expression(self) -> str:
        """The data of the call as a Python expression, for example a quoted path, or `df` for a
        DataFrame."""
        data = [self.data] if isinstance(self.data, str | os.PathLike) else self.data
        if isinstance(data, Mapping):
            return "columns"
        if not isinstance(data, list | tuple):
            return "df"
        if any(isinstance(item, Mapping) for item in data):
            return "rows"
        return python_literal(self.data, "data")

    def call_text_with_fix(self, settle: SuggestedFix) -> str:
        """The call as Python code, after the fix has changed its options.

        >>> settle = SuggestedFix({"fields": {"task": "case"}, "by": ("arm",)})
        >>> UserPythonCall("estimate", "a.csv", {"by": "x", "k": 5}).call_text_with_fix(settle)
        'passk_cli.estimate("a.csv", by=("x", "arm"), k=5, fields={"task": "case"})'
        """
        options, name = dict(self.options), settle.command or self.name
        if name != self.name:
            by_field = {option.field: option for option in load_command(name).options()}
            options = {
                f: v for f, v in options.items() if f in by_field and accepts_value(by_field[f], v)
            }
        for field, value in settle.options.items():
            before = options.get(field)
            if isinstance(value, Mapping) and not isinstance(before, Mapping):
                texts = [before] if isinstance(before, str) else before or ()
                before = dict(text.partition("=")[::2] for text in texts)
            elif before is not None and isinstance(value, tuple):
                before = (
                    split_at_commas(quote_names_with_commas(field, before))
                    if field != "threshold"
                    else before
                )
            options[field] = combine_option_values(field, before, value)
        call = self
        if settle.label_by_file or (
            isinstance(self.data, list) and settle.options.get("to") in self.data
        ):
            call = replace(self, data=settle.labelled_file_arguments(self.data))
        data = [] if self.data is None else [call.data_expression]
        return f"passk_cli.{name}({', '.join([*data, *python_keywords(options)])})"


@contextmanager
def translate_errors_to_python(
    options: DeclaredOptionsByName, call: UserPythonCall | None = None
) -> Iterator[None]:
    """Write the options in errors as Python keywords, and add notes with Python calls that fix the
    error."""
    try:
        yield
    except (DataError, ParameterError) as error:
        settles = tuple(
            filter(None, (fix_with_python_keywords(settle, options) for settle in error.fixes))
        )
        place = error.place
        place = spell_for_python(place, options) if isinstance(place, OptionWithValue) else place
        kind = DataError if isinstance(error, DataError) else ParameterError
        if call:
            settles = tuple(
                map(call.fix_without_absent_options, filter(call.has_files_of_fix, settles))
            )
        translated = error.with_changes(kind, place=place, settles=settles)
        offers = [settle for settle in settles if settle.is_complete and call]
        translated.remedies = [call.call_text_with_fix(fix) for fix in offers] if call else []
        if translated.candidates:
            from passk_cli.files.reading.column_choice_errors import candidate_lines

            for line in candidate_lines(
                translated.candidates, lambda settle: str(fix_with_python_keywords(settle, options))
            ):
                translated.add_note(printable(f"  {line}"))
        for line, settle in zip(translated.remedies, offers, strict=True):
            translated.add_note(
                printable(f"  {line}  # {settle.effect}" if settle.effect else f"  {line}")
            )
        raise translated from None


def quote_names_with_commas(field: str, value: Any) -> Any:
    """A list of names, with quotes around names that contain a comma.  A string is not changed.

    >>> quote_names_with_commas("by", ["temp, C", "a"]), quote_names_with_commas("by", "a,b")
    (['"temp, C"', 'a'], 'a,b')
    """
    return (
        [quote_commas(field, name) for name in value] if isinstance(value, list | tuple) else value
    )


def with_python_fixes(
    message: Diagnostic, options: DeclaredOptionsByName, call: UserPythonCall
) -> Diagnostic:
    """A message with the Python calls that fix the problem."""
    fixes = filter(None, (fix_with_python_keywords(settle, options) for settle in message.fixes))
    settles = tuple(map(call.fix_without_absent_options, filter(call.has_files_of_fix, fixes)))
    calls = tuple(call.call_text_with_fix(settle) for settle in settles if settle.is_complete)
    return replace(message, fixes=settles, remedies=calls)


def fix_with_python_keywords(
    settle: SuggestedFix, options: DeclaredOptionsByName
) -> SuggestedFix | None:
    """A fix with its options as Python keywords, or None if an option of the fix has no keyword.

    options : options of the function that was called, or an empty dict for a method of Findings.
    """
    if not any(name.startswith("-") for name in settle.options):
        return replace(settle, files_as_list=True)
    flags = declared_options_by_flag(options.values()) or _all_options_by_flag()
    all_flags = (
        declared_options_by_flag(load_command(settle.command).options())
        if settle.command
        else flags
    )
    fields = {flag: option.field for flag, option in all_flags.items()} | _CHART_KEYWORD_BY_OPTION
    values = {f: value for f, value in settle.options.items() if f in fields or value is not None}
    if not values.keys() <= fields.keys():
        return None
    return replace(settle, options={fields[f]: v for f, v in values.items()}, files_as_list=True)


# _CHART_KEYWORD_BY_OPTION maps chart options of the command line to keywords of `Findings.chart`.
_CHART_KEYWORD_BY_OPTION = {"--chart-size": "size", "--highlight": "highlight", "--panel": "panel"}


def spell_for_python(
    item: OptionWithValue | SuggestedFix, options: DeclaredOptionsByName = MappingProxyType({})
) -> str:
    """An option in a sentence, or the options of a fix, as Python keywords.

    options : options of the current command, which have priority over options of other commands.

    >>> options = [
    ...     OptionWithValue("--bounds", "1,x"), OptionWithValue("--min-by"),
    ...     OptionWithValue("--skip-bad")]
    >>> spell_for_python(options[0]), spell_for_python(options[1]), spell_for_python(options[2])
    ('bounds="1,x"', 'min_by=', 'skip_bad=True')
    >>> spell_for_python(FULL_DETAILS_OPTION)
    '.tables'
    >>> spell_for_python(OptionWithValue("passk formats", "NAME"))
    'passk_cli.formats(NAME)'
    """
    if isinstance(item, SuggestedFix):
        return str(fix_with_python_keywords(item, options) or "")
    flag, value = item.option, item.value
    if item == FULL_DETAILS_OPTION:
        return ".tables"
    if flag.startswith("passk "):
        return f"passk_cli.{flag.removeprefix('passk ')}({value or ''})"
    option = _options_by_flag(options).get(flag)
    if option is not None and option.base_type is bool and value is None:
        return f"{option.field}=True"
    field = _CHART_KEYWORD_BY_OPTION.get(flag, flag) if option is None else option.field
    return f"{field}={_value_literal(value or '')}"


def text_for_python(text: str, options: DeclaredOptionsByName) -> str:
    """A text in which Python calls replace commands, and Python keywords replace options.

    The function leaves out sentences about `passk help`, because Python has no such function.

    >>> text_for_python("As in --passes=ok, or with --skip-bad. `passk help k` explains k.", {})
    'As in passes="ok", or with skip_bad=True.'
    >>> text_for_python("`passk describe FILE --init passk.toml` writes a map.", {})
    '`passk_cli.describe("FILE", init="passk.toml")` writes a map.'
    """
    text = re.sub(r" ?`passk help [^`]*` [^.]*\.", "", text)
    text = re.sub(
        r"(?<=`)passk [a-z]+ [^`]*(?=`)", lambda line: call_from_command(line[0], options), text
    )

    def keyword(match: re.Match[str]) -> str:
        flag, value = match.groups()
        return (
            spell_for_python(OptionWithValue(flag, value), options)
            if flag in _options_by_flag(options)
            else match[0]
        )

    return re.sub(r"(?<![\w-])(--?[a-z][a-z-]*)(?:=(\w+))?", keyword, text)


def _value_literal(value: str) -> str:
    if re.fullmatch(r"-?[\d.]+(, ?-?[\d.]+)*", value):
        several = re.split(", ?", value)
        return f"({', '.join(several)})" if several[1:] else value
    return python_literal(value, "") if value else ""


def _options_by_flag(options: DeclaredOptionsByName) -> DeclaredOptionsByName:
    return {**_all_options_by_flag(), **declared_options_by_flag(options.values())}


@cache
def _all_options_by_flag() -> DeclaredOptionsByName:
    return declared_options_by_flag(
        option for name in COMMANDS for option in load_command(name).options()
    )


def call_from_command(line: str, options: DeclaredOptionsByName) -> str:
    """A command line as a Python call.

    >>> call_from_command("passk estimate runs/*.jsonl -k 1,5 --by temperature", {})
    'passk_cli.estimate("runs/*.jsonl", k=(1, 5), by="temperature")'
    """
    fields = _options_by_flag(options)
    _, name, *words = shlex.split(line)
    places = [place for place, word in enumerate(words) if word.startswith("-")]
    files = [_value_literal(word) for word in words[: min(places, default=None)]]
    arguments = [f"[{', '.join(files)}]"] if len(files) > 1 else files
    saved = ""
    for place in places:
        if words[place] == "--chart":
            saved = f".save({_value_literal(words[place + 1])})"
            continue
        option = fields[words[place]]
        value = True if option.base_type is bool else _value_literal(words[place + 1])
        arguments.append(f"{option.field}={value}")
    return f"passk_cli.{name}({', '.join(arguments)}){saved}"
