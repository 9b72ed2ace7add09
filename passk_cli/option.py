"""Options as plain declarations: the command line, Python and their checks are made from them.

A group of options is a frozen dataclass whose fields are annotated with an `Option`; a field
without one is no option.  `filled` makes such a group from what a caller gave, be it text from the
command line or values from Python, which are checked by the same rules and refused in one wording.
Nothing compares groups: `eq=False`, since every method a dataclass makes costs half a millisecond
of each start-up.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import operator
import os
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

from passk_cli.errors import ParameterError

Group = TypeVar("Group")
# The type of an option that takes a name or, from Python, data of any kind.
DATA = Any


def loaded(place: str) -> Any:
    """The object at "module:name"; what declarations name so is imported when it is needed."""
    module, name = place.split(":")
    return getattr(import_module(module), name)


@dataclass(frozen=True, eq=False, repr=False)
class Option:
    """An option: its flags, value and meaning.

    flags : as written on the command line, "-m --metric".
    metavar : what stands for its value in the help; the choices where there are some.
    help : one short sentence, a line of `--help`; choices and default are added to it.
    detail : what else there is to know, for `passk help COMMAND`, Python and the reference.
    choices : the values there are, or the place of them.
    low, high : the range of a number.
    parse : what is given (text; from Python other things too) → the field's value; it gets a list
        where the option can be given several times, which `several` says of a field that is no
        tuple.  Or the place of such a function.
    file : "read" or "written" where its value can name a file.
    of_models : whether its value names models of the data, which a shell can complete.
    complete : the place of a function that lists what a shell offers for what was typed so far,
        where that is more than its choices.

    A place is "module:name", of what costs more to import than the help may: see `loaded`.
    """

    flags: str
    metavar: str = ""
    help: str = ""
    choices: tuple[str, ...] | str = ()
    low: float | None = None
    high: float | None = None
    parse: Callable[[Any], Any] | str | None = None
    several: bool = False
    file: str = ""
    detail: str = ""
    of_models: bool = False
    complete: str = ""

    @property
    def name(self) -> str:
        """The flag that messages use: the last one, which is the long one where there is one."""
        return self.flags.split()[-1]

    @property
    def takes(self) -> str:
        """Placeholder of its value in the help."""
        return self.metavar or "|".join(self.values)

    @property
    def values(self) -> tuple[str, ...]:
        """The values there are, where there are only some."""
        return loaded(self.choices) if isinstance(self.choices, str) else self.choices


# A field, its Option, its type, its default.
DeclaredOption = tuple[str, Option, Any, Any]
# Evaluating annotations is slow; each group's are evaluated once for all commands that share it.
_DECLARED: dict[type, dict[str, tuple[Option, Any]]] = {}


def declared(group: type) -> dict[str, tuple[Option, Any]]:
    """Field → (its Option, its type), for the fields of a group that are options."""
    group = next(base for base in group.__mro__ if "__dataclass_fields__" in vars(base))
    if group in _DECLARED:
        return _DECLARED[group]
    hints = typing.get_type_hints(group, include_extras=True)
    options = {}
    for field in dataclasses.fields(group):
        hint = hints[field.name]
        for one in getattr(hint, "__metadata__", ()):
            if isinstance(one, Option):
                options[field.name] = (one, typing.get_args(hint)[0])
    _DECLARED[group] = options
    return options


def default_of(field: dataclasses.Field[Any]) -> Any:
    """A field's default value."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def sections_of(
    groups: Iterable[type], without: Iterable[str] = ()
) -> Iterator[tuple[type, list[DeclaredOption]]]:
    """Each group with its options.

    Of fields of one name the first counts.  without : fields that are left out.
    """
    names = set(without)
    for group in groups:
        fields = [f for f in dataclasses.fields(group) if f.name not in names]
        options = [(f.name, *declared(group)[f.name], default_of(f)) for f in fields
                   if f.name in declared(group)]  # fmt: skip
        names.update(name for name, *_ in options)
        yield group, options


def named_files(group: type, given: Mapping[str, Any], file: str) -> list[str]:
    """The files that options name, of those that are "read" or "written"."""
    values = [given.get(name) for name, (option, _) in declared(group).items()
              if option.file == file]  # fmt: skip
    several = (value if isinstance(value, list) else [value] for value in values)
    return [value for each in several for value in each if isinstance(value, str)]


def base_type(kind: Any) -> Any:
    """The type of an option's value without "or None": bool, int, float, str, tuple or Mapping."""
    if isinstance(kind, types.UnionType):
        (kind,) = (one for one in typing.get_args(kind) if one is not type(None))
    return typing.get_origin(kind) or kind


def repeatable(option: Option, kind: Any) -> bool:
    """Whether it can be given several times: a tuple of any length, a mapping, or said to be."""
    pair = base_type(kind) is tuple and typing.get_args(kind)[-1:] != (Ellipsis,)
    return option.several or (base_type(kind) not in (bool, int, float, str, DATA) and not pair)


def filled(group: type[Group], given: Mapping[str, Any]) -> Group:
    """A group from what was given for its fields; what is None or holds nothing was not given.

    Errors: ParameterError for a value that an option does not know, is empty or out of range.
    """
    values = {}
    for name, (option, kind) in declared(group).items():
        data = kind is DATA and not isinstance(given.get(name), os.PathLike)
        value = given.get(name) if data else _plain(given.get(name))
        nothing = not data and isinstance(value, list | dict) and not value
        if value is not None and not nothing:
            values[name] = checked(option, kind, value)
    return group(**values)


def checked(option: Option, kind: Any, value: Any) -> Any:
    """The value of an option: not empty, parsed, among its choices and in its range."""
    if kind is DATA and not isinstance(value, str):
        return value
    several = repeatable(option, kind)
    if several and not isinstance(value, list | Mapping):
        value = [value]
    parts = value if isinstance(value, list) else [value]
    if any(isinstance(part, str) and not part.strip() for part in parts):
        raise ParameterError(f"{option.name} is empty; leave it out or give it a value")
    texts = (
        str(part) if isinstance(part, str | numbers.Number) else f"<{type(part).__name__}>"
        for part in parts
    )
    shown = f"{option.name} {', '.join(texts)}"
    if option.choices and not all(part in option.values for part in parts):
        raise ParameterError(f"{shown}: choose one of {', '.join(option.values)}")
    parse = loaded(option.parse) if isinstance(option.parse, str) else option.parse
    parse = parse or _PARSE.get(base_type(kind), _texts if several else _text)
    try:
        value = parse(value)
    except (TypeError, ValueError, AttributeError):
        what = _WORDS.get(base_type(kind)) or f"write {option.takes or 'text'}"
        raise ParameterError(f"{shown}: {what}") from None
    for limit, wrong, word in ((option.low, -1, "at least"), (option.high, 1, "at most")):
        if limit is not None and not (value - limit) * wrong <= 0:
            raise ParameterError(f"{shown}: it must be {word} {limit:,}")
    return value


def _plain(value: Any) -> Any:
    """Values of Python callers as lists, numbers and text: arrays, ranges and paths as well."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    # A table is no list of its columns.
    whole = isinstance(value, str | bytes | Mapping) or hasattr(value, "columns")
    return list(value) if isinstance(value, Iterable) and not whole else value


def _whole(value: Any) -> int:
    return int(value) if isinstance(value, str) else operator.index(value)


def _number(value: Any) -> float:
    number = float(value)
    if math.isnan(number):
        raise ValueError
    return number


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _texts(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(map(_text, values))


_PARSE: dict[Any, Callable[[Any], Any]] = {int: _whole, float: _number, bool: _flag}
_WORDS = {int: "write a whole number", float: "write a number", bool: "it is True or False"}


def changed(group: Any) -> list[str]:
    """The options of a filled group that do not have their default, as they are written."""
    options, names = declared(type(group)), []
    for field in dataclasses.fields(group):
        value, default = getattr(group, field.name), default_of(field)
        # Data of any kind may not be comparable.
        if field.name in options and value is not default:
            option, kind = options[field.name]
            names += [option.name] if kind is DATA or value != default else []
    return names


def split(value: str | Sequence[str]) -> tuple[str, ...]:
    """The parts of a comma-separated text, or of several, each once and in order.

    >>> split(["a, b", "a"])
    ('a', 'b')
    """
    texts = [value] if isinstance(value, str) else value
    parts = (part.strip() for text in texts for part in text.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))
