"""Grounds of a doubt: the survey beside the reading, and what a doubt finds in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from passk_cli.files.database import Texts, column_sql, quote_text
from passk_cli.files.reading.layout import Batch
from passk_cli.files.reading.survey import Survey
from passk_cli.files.request import RESERVED, Request
from passk_cli.files.roles import (
    CANONICAL,
    OF_ATTEMPTS,
    OF_HISTORIES,
    SETTINGS,
    addends,
    candidates,
    find,
)
from passk_cli.files.sources.source import Source
from passk_cli.message import Message
from passk_cli.settle import Settle

_DIGIT = re.compile("[0-9]")


@dataclass(frozen=True, eq=False, repr=False)
class Finding:
    """A doubt about a reading.

    message : its words, with `fields`.  certain : whether it is asked, as an error; else a warning
    says it.  settles : options that settle it, the likeliest first.  place : the file it is about,
    where that is one of several.
    """

    message: Message
    certain: bool
    fields: Mapping[str, Any]
    settles: tuple[Settle, ...] = ()
    place: str = ""

    def __post_init__(self) -> None:
        # The output has no room for a column of the name of one of its own.
        allowed = tuple(s for s in self.settles if RESERVED.isdisjoint(s.options.get("--by", ())))
        object.__setattr__(self, "settles", allowed)


@dataclass(frozen=True, eq=False, repr=False)
class Doubt:
    """A doubt about a reading, declared once.

    message : what is said, and what it means.  when : in which case, in words, for people.
    settled_by : how options settle it, as they are written.
    test : finds it in the grounds.
    """

    message: Message
    when: str
    settled_by: tuple[str, ...]
    test: Callable[[Grounds], Iterator[Finding]]


@dataclass(frozen=True, eq=False, repr=False)
class Grounds:
    """A reading and the survey of its files.

    cells : name of the model, and task, of each cell.
    refined : gives a survey of whole cells with these columns, of files larger than the sample.
    """

    survey: Survey
    batches: Sequence[Batch]
    request: Request
    cells: Mapping[str, Texts]
    refined: Callable[[Sequence[str]], Survey] = field(repr=False)

    @cached_property
    def sources(self) -> list[Source]:
        """All files."""
        return [source for batch in self.batches for source in batch.sources]

    @property
    def models(self) -> Sequence[str]:
        """All names of models."""
        return self.cells["name"].names

    @property
    def tasks(self) -> Sequence[str]:
        """All names of tasks."""
        return self.cells["task"].names

    def column(self, role: str) -> str:
        """The column of a role in the first files that have one; "" where there is none."""
        return next(filter(None, (batch.roles.column(role) for batch in self.batches)), "")

    def condition(self, column: str) -> str:
        """A column as a condition names it; of a part of another, its text."""
        paths = (find(column, batch.layout.kinds) for batch in self.batches)
        base, keys = next(filter(None, paths), (column, []))
        if not keys:
            return column_sql(base)
        *upper, last = map(quote_text, keys)
        return f"({column_sql(base)}{''.join(f'->{key}' for key in upper)}->>{last})"

    @cached_property
    def harness(self) -> bool:
        """Whether harnesses, or passk itself, wrote all files."""
        return all(
            batch.layout.harness
            or any(batch.layout.kinds.keys() >= {*own} for own in (CANONICAL, OF_HISTORIES))
            for batch in self.batches
        )

    @cached_property
    def unnumbered(self) -> list[str]:
        """The tasks whose names have no digit, as those of headers and sums: few of many."""
        return [name for name in self.tasks if _DIGIT.search(name) is None]

    @cached_property
    def unread(self) -> list[str]:
        """The columns from which nothing is read, and of which nobody said what they are."""
        request = self.request
        read = {*request.by, *request.pool, request.cluster, *request.carried}
        if request.conversion is not None:
            # They are columns of the table that is written.
            read |= {*SETTINGS}
        for batch in self.batches:
            kinds = batch.layout.kinds
            for role, column in batch.roles.columns().items():
                read |= {part for part, _ in addends(role, column, kinds)}
            read |= {part for of in batch.layout.joined.values() for part in of.parts}
            if batch.suited:
                read.add("suite")
        # What an attempt took or said is read where it is asked for.
        names = [c for c in self.survey.columns if c not in read]
        facts = {c for role in OF_ATTEMPTS if role != "score" for c in candidates(role, names)}
        return [name for name in names if name not in facts]
