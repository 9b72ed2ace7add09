"""Options as plain declarations: the command line, Python and their checks are made from them.

A group of options is a frozen dataclass whose fields are annotated with an `Option`; a field
without one is no option.  `filled` makes such a group from what a user gave.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from passk_cli.errors import ParameterError

Group = TypeVar("Group")


@dataclass(frozen=True)
class Option:
    """What one option is called, takes and means.

    flags : as written on the command line, "-m --metric".
    metavar : what stands for its value in the help; the choices where there are some.
    help : one sentence; its default is added where it has one.
    choices : the values there are.  low, high : the range of a number.
    parse : what is given (text; from Python other things too) → the field's value.
    """

    flags: str
    metavar: str = ""
    help: str = ""
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    parse: Callable[[Any], Any] | None = None

    @property
    def name(self) -> str:
        """The flag that messages use: the last one, which is the long one where there is one."""
        return self.flags.split()[-1]


# Evaluating annotations is slow; each group's are evaluated once for all commands that share it.
_DECLARED: dict[type, dict[str, tuple[Option, Any]]] = {}


def declared(group: type) -> dict[str, tuple[Option, Any]]:
    """Field → (its Option, its type), for the fields of a group that are options."""
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


def filled(group: type[Group], given: Mapping[str, Any]) -> Group:
    """A group from what was given for its fields; the others keep their defaults.

    Errors: ParameterError for a value that an option does not know, is empty or out of range.
    """
    defaults = {field.name: default_of(field) for field in dataclasses.fields(group)}  # type: ignore[arg-type]
    return group(
        **{
            name: checked(option, given[name])
            for name, (option, _) in declared(group).items()
            if name in given and given[name] != defaults[name]
        }
    )


def checked(option: Option, value: Any) -> Any:
    """The value of an option: not empty, parsed, among its choices and in its range."""
    if value is None or isinstance(value, bool):
        return value
    texts = value if isinstance(value, list | tuple) else [value]
    if any(isinstance(text, str) and not text.strip() for text in texts):
        raise ParameterError(f"{option.name} is empty; leave it out or give it a value")
    if option.choices and value not in option.choices:
        raise ParameterError(f"{option.name} {value}: it is one of {', '.join(option.choices)}")
    value = value if option.parse is None else option.parse(value)
    for limit, wrong, word in ((option.low, -1, "at least"), (option.high, 1, "at most")):
        if limit is not None and not (value - limit) * wrong <= 0:
            raise ParameterError(f"{option.name} {value}: it must be {word} {limit:g}")
    return value


def changed(group: Any) -> list[str]:
    """The options of a filled group that do not have their default, as they are written."""
    return [
        declared(type(group))[field.name][0].name
        for field in dataclasses.fields(group)
        if field.name in declared(type(group)) and getattr(group, field.name) != default_of(field)
    ]


def split(value: str | Sequence[str]) -> tuple[str, ...]:
    """The parts of a comma-separated text, or of several, each once and in order.

    >>> split(["a, b", "a"])
    ('a', 'b')
    """
    texts = [value] if isinstance(value, str) else value
    parts = (part.strip() for text in texts for part in text.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))
