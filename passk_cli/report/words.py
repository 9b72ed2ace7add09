"""Counts and lists in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def plural(count: int, noun: str) -> str:
    """A count with its noun: "1 task", "2 tasks", "1,000 tasks"."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def first_few(names: Sequence[str]) -> str:
    """The first three, and how many more.

    >>> first_few("abcde")
    'a, b, c and 2 more'
    """
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
