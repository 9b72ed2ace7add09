"""A remedy as a value: options that are added to a call, and how they are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import Any

from passk_cli.files.request import Request, parse_where
from passk_cli.message import Settle
from passk_cli.option import declared

# Errors beside whose remedies other columns may be meant.
OF_COLUMNS = (
    *("no-task-column", "no-outcome-column", "no-model-column", "no-role-column"),
    *("no-such-column", "ambiguous-column"),
)


def merged(first: Settle, second: Settle) -> Settle:
    """The options of two remedies: keys and values add up, of others the second counts.

    >>> merged(Settle({"by": ("x",)}), Settle({"by": ("y",), "fields": {"task": "case"}})).options
    {'by': ('x', 'y'), 'fields': {'task': 'case'}}
    """
    options = dict(first.options)
    for name, value in second.options.items():
        options[name] = with_value(name, options.get(name), value)
    return Settle(options, second.why)


def with_value(field: str, before: Any, value: Any) -> Any:
    """The value of an option after another was added to it."""
    if isinstance(value, Mapping):
        return {**(before or {}), **value}
    if isinstance(value, tuple) and field != "threshold":
        return tuple(dict.fromkeys((*(before or ()), *value)))
    return parse_where([before, value]) if before and field == "where" else value


def added(request: Request, settle: Settle) -> Request:
    """The request with the options of a remedy; None takes an option away.

    >>> added(Request(by=("x",)), Settle({"by": ("y",), "fields": {"task": "case"}})).by
    ('x', 'y')
    """
    values = {
        name: with_value(name, getattr(request, name), value)
        for name, value in settle.options.items()
    }
    return replace(request, **values)


def words_of(settle: Settle) -> Iterator[tuple[str, ...]]:
    """The options of a remedy as words of a command line, an option each.

    >>> [*words_of(Settle({"fields": {"task": "case", "model": "llm"}, "skip_bad": True}))]
    [('--field', 'task=case'), ('--field', 'model=llm'), ('--skip-bad',)]
    """
    options = declared(Request)
    for name, value in settle.options.items():
        flag = options[name].option.name
        if isinstance(value, Mapping):
            yield from ((flag, f"{key}={inner}") for key, inner in value.items())
        elif isinstance(value, tuple):
            yield from ((flag, str(inner)) for inner in value)
        elif value is True:
            yield (flag,)
        elif value is not None:
            yield flag, str(value)


def in_words(settles: Sequence[Settle]) -> str:
    """Remedies as one line: options and what they do, the alternatives one after the other.

    >>> in_words([Settle({"by": ("arm",)}, "keeps them apart"), Settle({"pool": ("arm",)})])
    '--by arm keeps them apart; --pool arm'
    """
    return "; ".join(
        " ".join([*(" ".join(map(quote, words)) for words in words_of(settle)), settle.why]).strip()
        for settle in settles
    )
