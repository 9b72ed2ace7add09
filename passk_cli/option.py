"""Declarations of options, which define the command line, the Python functions and the checks.

A group of options is a frozen dataclass with fields that are annotated with an `Option`.
`fill_options` makes a group from values.  passk checks strings from the command line and values
from Python in the same way, with the same error messages.

The dataclasses of groups have `eq=False`, because each generated method of a dataclass delays the
start of passk by 0.5 ms.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import operator
import os
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

from passk_cli.errors import ParameterError
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list, probable_share
from passk_cli.text import first_few

OptionGroup = TypeVar("OptionGroup")
_COMMA_SEPARATED_PART_PATTERN = re.compile(r'\s*"([^"]+)"\s*(?=,|$)|([^,]+)')
# An option of the type ANY_DATA_OPTION_TYPE accepts a name or, in Python, data of any kind.
ANY_DATA_OPTION_TYPE = Any


def load_object(place: str) -> Any:
    """The object that a string of the form "module:name" names.  Declarations of options use such
    strings to delay imports."""
    module, name = place.split(":")
    return getattr(import_module(module), name)


@dataclass(frozen=True, eq=False, repr=False)
class Option:
    """An option with its flags, its value and its meaning.

    flags : the flags, for example "-m --metric", or a word in capitals, for example "NAME", for a
        positional value.
    metavar : the placeholder of the value in the help text, by default the list of choices.
    help : one short sentence for `--help`.  passk adds the choices and the default to the sentence.
    detail : further text for `passk help COMMAND`, for the Python docstring and for the reference
        pages.
    choices : the possible values, or the "module:name" of a tuple with these values.
    former_choices : pairs of an old and a new name of a choice.  passk accepts the old name for one
        more release.
    low, high : the smallest and the largest allowed number.
    excludes_limits : whether the numbers `low` and `high` themselves are forbidden.
    parse : a function, or its "module:name", that converts the given string (or Python value) to
        the value of the field.  The function gets a list if the option is repeatable.
    is_repeatable : whether the option is repeatable although its field is not a tuple.
    file_use : "read" or "written" if the value can name a file.
    is_model_name : whether the value is the name of a model, which a shell can complete.
    completion_function_name : "module:name" of a function that lists further completions.
    only_in_full_help : whether only `passk help COMMAND` shows the option, and `--help` does not.

    Strings of the form "module:name" delay imports, because imports would make `--help` slow.  See
    `load_object`.
    """

    flags: str
    metavar: str = ""
    help: str = ""
    choices: tuple[str, ...] | str = ()
    former_choices: tuple[tuple[str, str], ...] = ()
    low: float | None = None
    high: float | None = None
    excludes_limits: bool = False
    parse: Callable[[Any], Any] | str | None = None
    is_repeatable: bool = False
    file_use: str = ""
    detail: str = ""
    is_model_name: bool = False
    completion_function_name: str = ""
    only_in_full_help: bool = False

    @property
    def name(self) -> str:
        """The name of the option in messages, which is the long flag if the option has one."""
        return self.flags.split()[-1]

    @property
    def is_positional(self) -> bool:
        """Whether the option is a positional argument, which has no flag."""
        return not self.flags.startswith("-")

    @property
    def value_placeholder(self) -> str:
        """The placeholder of the value in the help text, which may be the list of choices."""
        return self.metavar or "|".join(self.allowed_values)

    @property
    def detail_with_choices(self) -> str:
        """The text `detail`, in which the list of choices replaces {choices}."""
        return self.detail.replace("{choices}", ", ".join(self.allowed_values))

    @property
    def allowed_values(self) -> tuple[str, ...]:
        """The choices of the option, or () if any value is possible."""
        return load_object(self.choices) if isinstance(self.choices, str) else self.choices


class DeclaredOption(NamedTuple):
    """An option, with the name and the type of its field in a group of options.

    base_type : type of the value without "or None": bool, int, float, str, tuple or Mapping.
    """

    field: str
    option: Option
    annotation: Any
    default: Any
    base_type: Any
    repeatable: bool


def declared_options_by_flag(options: Iterable[DeclaredOption]) -> dict[str, DeclaredOption]:
    """A dict that maps each flag to its option."""
    return {flag: option for option in options for flag in option.option.flags.split()}


# _CACHED_OPTIONS_BY_GROUP maps each group of options to its options. The options are cached,
# because evaluating annotations is slow.
_CACHED_OPTIONS_BY_GROUP: dict[type, dict[str, DeclaredOption]] = {}


def options_by_field(group: type) -> dict[str, DeclaredOption]:
    """A dict that maps each field of a group to its option, without fields that are not options."""
    group = next(base for base in group.__mro__ if "__dataclass_fields__" in vars(base))
    if group in _CACHED_OPTIONS_BY_GROUP:
        return _CACHED_OPTIONS_BY_GROUP[group]
    hints = typing.get_type_hints(group, include_extras=True)
    _CACHED_OPTIONS_BY_GROUP[group] = options = {}
    for field in dataclasses.fields(group):
        option = getattr(hints[field.name], "__metadata__", (None,))[0]
        if not isinstance(option, Option):
            continue
        kind, *_ = typing.get_args(hints[field.name])
        bare_kind = kind
        if isinstance(kind, types.UnionType):
            bare_kind = next(part for part in typing.get_args(kind) if part is not types.NoneType)
        base = typing.get_origin(bare_kind) or bare_kind
        pair = base is tuple and typing.get_args(bare_kind)[-1:] != (Ellipsis,)
        many = option.is_repeatable or (
            base not in (bool, int, float, str, ANY_DATA_OPTION_TYPE) and not pair
        )
        factory = field.default_factory
        default = field.default if factory is dataclasses.MISSING else factory()
        options[field.name] = DeclaredOption(field.name, option, kind, default, base, many)
    return options


def pair_groups_with_options(
    groups: Iterable[type], without: Iterable[str] = ()
) -> Iterator[tuple[type, list[DeclaredOption]]]:
    """Pairs of a group and its options.  If several groups have a field with the same name, only
    the first of these groups includes the field.
    """
    names = set(without)
    for group in groups:
        options = [
            option for option in options_by_field(group).values() if option.field not in names
        ]
        names.update(option.field for option in options)
        yield group, options


def is_given(value: Any) -> bool:
    """Whether an option was given, which means that its value is not None, False or empty."""
    return not (value is None or value is False or (isinstance(value, list | dict) and not value))


def fill_options(group: type[OptionGroup], arguments: Mapping[str, Any]) -> OptionGroup:
    """A group of options with the given values.  A field without a given value keeps its default.

    arguments : maps the name of each field to its value.  Values from Python may be arrays, ranges
        and paths.
    Errors: ParameterError for a value that is empty, out of range, or not allowed by its option.
    """
    values = {}
    for name, option in options_by_field(group).items():
        value: Any = arguments.get(name)
        if option.annotation is not ANY_DATA_OPTION_TYPE or isinstance(value, os.PathLike):
            value = value.tolist() if hasattr(value, "tolist") else value
            value = os.fspath(value) if isinstance(value, os.PathLike) else value
            # A DataFrame is iterable, but a DataFrame must not become a list of its columns.
            single = isinstance(value, str | bytes | Mapping) or hasattr(value, "columns")
            value = list(value) if isinstance(value, Iterable) and not single else value
            value = None if isinstance(value, list | dict) and not value else value
        if value is not None and (value is not option.default or value == ""):
            values[name] = parse_option_value(option, value)
    return group(**values)


def parse_option_value(declared: DeclaredOption, value: Any) -> Any:
    """The parsed value of an option.

    Errors: ParameterError for a value that is empty, out of range, or not one of the choices.
    """
    option, base, several = declared.option, declared.base_type, declared.repeatable
    if declared.annotation is ANY_DATA_OPTION_TYPE and not isinstance(value, str):
        return value
    if several and not isinstance(value, list | Mapping):
        value = [value]
    parts = value if isinstance(value, list) else [value]
    for earlier, present in option.former_choices:
        value = present if value == earlier else value
        parts = [present if part == earlier else part for part in parts]

    def display(part: Any) -> str:
        try:
            plain = isinstance(part, str | numbers.Number)
            return str(part) if plain else f"<{type(part).__name__}>"
        except ValueError:
            # `str` raises ValueError for numbers with thousands of digits.
            return "<int>"

    def refused(problem: str) -> ParameterError:
        share = probable_share(str(value)) or 0.0 if option.high == 1 and not several else 0.0
        certain = float(option.low or 0) < share < 0.5 and (declared.default or 1) < 0.5
        problem += f"; did you mean {share:g}?" if share >= 0.5 else ""
        place = OptionWithValue(option.name, first_few([*map(display, parts)]))
        settles = [SuggestedFix({option.name: f"{share:g}"})] * certain
        return ParameterError(place, problem, settles=settles)

    if any(isinstance(part, str) and not part.strip() for part in parts):
        raise ParameterError(
            OptionWithValue(option.name),
            "the value is empty; give a value, or leave the option out",
        )
    if option.choices and not all(part in option.allowed_values for part in parts):
        wrong = next(part for part in parts if part not in option.allowed_values)
        raise refused(
            did_you_mean_or_list(
                str(wrong),
                option.allowed_values,
                f"choose one of {', '.join(option.allowed_values)}",
            )
        )
    try:
        if option.parse is not None:
            parse = load_object(option.parse) if isinstance(option.parse, str) else option.parse
            value = parse(value)
        elif base is int:
            value = int(value) if isinstance(value, str) else operator.index(value)
        elif base is float:
            percent = option.high == 1 and isinstance(value, str) and value.endswith("%")
            value = float(value[:-1]) / 100 if percent else float(value)
            if math.isnan(value):
                raise ValueError
        elif not all(
            isinstance(part, bool if base is bool else str)
            for part in (parts if several else [value])
        ):
            raise TypeError
        elif several:
            value = tuple(parts)
    except (TypeError, ValueError, AttributeError, OverflowError):
        raise refused(
            _ADVICE_BY_TYPE.get(base) or f"write {option.value_placeholder or 'text'}"
        ) from None
    if option.excludes_limits and not float(option.low or 0) < value < float(option.high or 0):
        example = declared.default or 0.95
        bounds = f"above {option.low:g} and below {option.high:g}"
        raise refused(f"the value must be {bounds}, for example {example:g}")
    for limit, wrong, word in ((option.low, -1, "at least"), (option.high, 1, "at most")):
        if limit is not None and not (value - limit) * wrong <= 0:
            raise refused(f"the value must be {word} {limit:,}")
    return value


def accepts_value(declared: DeclaredOption, value: Any) -> bool:
    """Whether a value is valid for an option."""
    try:
        parse_option_value(declared, value)
    except ParameterError:
        return False
    return True


_ADVICE_BY_TYPE = {
    int: "write a whole number",
    float: "write a number",
    bool: "it is True or False",
}


def changed_option_names(group: Any) -> list[str]:
    """The names of all options of a group that have a value other than the default."""
    names = []
    for name, option in options_by_field(type(group)).items():
        value = getattr(group, name)
        # Comparing a DataFrame with a default would not give a single truth value.
        if value is not option.default and (
            option.annotation is ANY_DATA_OPTION_TYPE or value != option.default
        ):
            names.append(option.option.name)
    return names


def split_at_commas(value: str | Sequence[str]) -> tuple[str, ...]:
    """The distinct parts of one or several comma-separated strings, in the order in which they
    occur.

    A part in double quotes may contain a comma.

    >>> split_at_commas(["a, b", "a", '"temp, C"'])
    ('a', 'b', 'temp, C')
    """
    texts = [value] if isinstance(value, str) else value
    matches = (match for text in texts for match in _COMMA_SEPARATED_PART_PATTERN.finditer(text))
    parts = ((match[1] or match[2]).strip() for match in matches)
    return tuple(dict.fromkeys(part for part in parts if part))
