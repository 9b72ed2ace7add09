"""Records what a command is doing, so that the progress line can show it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")

_activity_text_functions: list[Callable[[], str]] = []


@contextmanager
def report_activity(describe: Callable[[], str]) -> Iterator[None]:
    """Set the current activity while the block runs.  The function `describe` returns the text of
    the activity, which the progress line shows.

    >>> with report_activity(lambda: "fetching a file"):
    ...     current_activity()
    'fetching a file'
    >>> current_activity()
    ''
    """
    _activity_text_functions.append(describe)
    try:
        yield
    finally:
        _activity_text_functions.remove(describe)


def items_with_progress(
    items: Iterable[Item], action: str, nouns: str, count: int = 0
) -> Iterator[Item]:
    """Yield the items one by one, and report the progress, for example "computing: 3 of 20 models".

    count : number of items, which is needed if `items` has no length.

    >>> [current_activity() for _ in items_with_progress("ab", "spelling", "letters")]
    ['spelling: 1 of 2 letters', 'spelling: 2 of 2 letters']
    """
    total, place = len(items) if isinstance(items, Sized) else count, 0
    with report_activity(lambda: f"{action}: {place:,} of {total:,} {nouns}"):
        for place, item in enumerate(items, start=1):  # noqa: B007 (the words say it)
            yield item


def current_activity() -> str:
    """The text of the current activity, or "" if there is no activity."""
    return _activity_text_functions[-1]() if _activity_text_functions else ""
