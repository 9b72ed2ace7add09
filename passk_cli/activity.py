"""What a command is doing at the moment, for whoever shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_doing: list[Callable[[], str]] = []


@contextmanager
def doing(what: Callable[[], str]) -> Iterator[None]:
    """In the block, this is what is done; the words are asked for when they are shown.

    >>> with doing(lambda: "fetching a file"):
    ...     activity()
    'fetching a file'
    >>> activity()
    ''
    """
    _doing.append(what)
    try:
        yield
    finally:
        _doing.remove(what)


def activity() -> str:
    """What is being done; "" where nobody said."""
    return _doing[-1]() if _doing else ""
