"""The present activity of a command, which the progress display shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")

_doing: list[Callable[[], str]] = []


@contextmanager
def report_activity(describe: Callable[[], str]) -> Iterator[None]:
    """Report an activity during the block; the words are computed when they are shown.

    >>> with report_activity(lambda: "fetching a file"):
    ...     activity()
    'fetching a file'
    >>> activity()
    ''
    """
    _doing.append(describe)
    try:
        yield
    finally:
        _doing.remove(describe)


def report_steps(items: Iterable[Item], action: str, nouns: str, count: int = 0) -> Iterator[Item]:
    """Yield the items, and report the progress: "computing: 3 of 20 models".

    count : the number of items, if it cannot be read from them.

    >>> [activity() for _ in report_steps("ab", "spelling", "letters")]
    ['spelling: 1 of 2 letters', 'spelling: 2 of 2 letters']
    """
    total, place = len(items) if isinstance(items, Sized) else count, 0
    with report_activity(lambda: f"{action}: {place:,} of {total:,} {nouns}"):
        for place, item in enumerate(items, start=1):  # noqa: B007 (the words say it)
            yield item


def activity() -> str:
    """The present activity; "" if there is none."""
    return _doing[-1]() if _doing else ""
