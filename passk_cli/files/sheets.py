"""Records with columns of their own → files of rows, one for each meaning of the columns.

Generic formats give them; which column plays which role is found as in a table.  Only columns that
may play one are written: what else a record holds, texts of megabytes say, is known by name.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from passk_cli.errors import DataError, NoResults
from passk_cli.files.database import FILE_COLUMN, PLACE_COLUMN
from passk_cli.files.formats.format import Contents, Format, Record, Wanted
from passk_cli.files.layout import Batch, Layout
from passk_cli.files.paths import path_columns
from passk_cli.files.request import Request
from passk_cli.files.roles import OF_ATTEMPTS, ROLES, SETTINGS, Roles, candidates, find
from passk_cli.files.source import Source, kind_of, line_of
from passk_cli.message import Said

_IN_MEMORY = 1 << 20


@dataclass
class _Page:
    """The records of one file: what is in their columns, and the first JSON number that is no
    whole one in each."""

    kinds: dict[str, set[str]] = field(default_factory=dict)
    broken: dict[str, float] = field(default_factory=dict)
    longest: int = 0
    constants: dict[str, str] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        for name, value in record.items():
            self.kinds.setdefault(name, set()).add(kind_of(value))
            if isinstance(value, float) and name not in self.broken:
                self.broken[name] = value


@dataclass
class _Sheet:
    """Files of one format whose columns play the same roles; `page` sums up theirs."""

    format: Format
    roles: Roles
    path: Path
    file: IO[bytes]
    page: _Page = field(default_factory=_Page)
    sources: list[Source] = field(default_factory=list)
    constants: dict[str, dict[str, str]] = field(default_factory=dict)

    def batch(self) -> Batch:
        columns = tuple(
            (name, frozenset(seen))
            for name, seen in self.page.kinds.items()
            if name not in self.constants
        )
        layout = Layout(
            self.format.name,
            self.format.rule,
            columns,
            spool=str(self.path),
            longest=self.page.longest,
            constants=self.constants,
        )
        return Batch(layout, self.roles, tuple(self.sources))


class Sheets:
    """Gathers the records of generic formats.

    nameless : paths of files that name no model.  skipped : lines left out.
    said : message → the files it is about.
    """

    def __init__(self, folder: Path, request: Request) -> None:
        self.nameless: set[str] = set()
        self.said: dict[Said, list[str]] = {}
        self.skipped = 0
        self._folder, self._request = folder, request
        self._roles: dict[object, Roles] = {}
        self._sheets: dict[Any, _Sheet] = {}
        self._files = ExitStack()
        self._plays_a_part = _parts(request)

    def write(self, source: Source, form: Format, table: Contents) -> set[str]:
        """The records of one file; returns the kinds of their tasks.

        Errors: DataError; NoResults where there are none.
        """
        with SpooledTemporaryFile(_IN_MEMORY, dir=str(self._folder)) as file:
            page = self._page(source, table, file)
            kinds = frozenset((name, frozenset(seen)) for name, seen in page.kinds.items())
            if kinds not in self._roles:
                self._roles[kinds] = self._request.roles_in(source.name, page.kinds)
            roles = self._roles[kinds]
            for column in (roles.task, roles.model):
                if column is not None and column in page.broken:
                    # It would be read in another spelling.
                    problem = f'"{column}" is the number {page.broken[column]!r}'
                    remedy = "names are text: put it in quotes"
                    raise DataError(source.name, problem, remedy, name="bad-record")
            if roles.model is None:
                self.nameless.add(source.path)
            file.seek(0)
            self._add(source, form, page, roles, file)
            return page.kinds.get(roles.task, set())

    def __enter__(self) -> Sheets:
        return self

    def __exit__(self, *error: object) -> None:
        self._files.close()

    def batches(self) -> list[Batch]:
        """All that was written, to be read."""
        return [sheet.batch() for sheet in self._sheets.values()]

    def _page(self, source: Source, table: Contents, file: IO[bytes]) -> _Page:
        wanted = Wanted("", skip_bad=self._request.skip_bad)
        page, number = _Page(), 0
        for number, record in enumerate(table.rows(wanted), 1):
            assert isinstance(record, Mapping)
            page.add(record)
            kept = {name: value for name, value in record.items() if self._plays_a_part(name)}
            place = f"{source.name}: record {number}"
            line = line_of({FILE_COLUMN: source.path, PLACE_COLUMN: place, **kept})
            page.longest = max(page.longest, len(line))
            file.write(line)
        if number == 0:
            raise NoResults(source.name, "no records in this file", "did the run start?")
        self.skipped += wanted.skipped
        for message in (*table.messages, *wanted.messages):
            self.said.setdefault(message, []).append(source.name)
        request, kinds = self._request, page.kinds
        facts = {name: str(value) for name, value in table.facts.items() if name not in kinds}
        there = {*kinds, *facts}
        page.constants = facts | path_columns(source.name, request.template, request.by, there)
        page.kinds |= {name: {"text"} for name in page.constants}
        return page

    def _add(
        self, source: Source, form: Format, page: _Page, roles: Roles, file: IO[bytes]
    ) -> None:
        asked = (*self._request.by, self._request.cluster)
        key = (
            form.name,
            roles,
            frozenset(page.constants),
            *(find(column, page.kinds) is None for column in asked if column),
        )
        if key not in self._sheets:
            path = self._folder / f"{len(self._sheets)}.records.jsonl"
            target = self._files.enter_context(path.open("wb"))
            self._sheets[key] = _Sheet(form, roles, path, target)
        sheet = self._sheets[key]
        shutil.copyfileobj(file, sheet.file, _IN_MEMORY)
        sheet.sources.append(source)
        for name, seen in page.kinds.items():
            sheet.page.kinds.setdefault(name, set()).update(seen)
        sheet.page.longest = max(sheet.page.longest, page.longest)
        for name, value in page.constants.items():
            sheet.constants.setdefault(name, {})[source.path] = value


def _parts(request: Request) -> Callable[[str], bool]:
    """Whether a column may play a part in this reading, by its name."""
    roles = [role for role in ROLES if role not in OF_ATTEMPTS or role in request.attempts]
    columns = [*request.fields.values(), *request.by, *request.carried]
    columns += [column for column in (request.cluster, request.outcome) if column is not None]

    @cache
    def plays(name: str) -> bool:
        return (
            name in SETTINGS
            or name in request.where
            or any(column == name or column.startswith(f"{name}.") for column in columns)
            or any(candidates(role, {name: set()}) for role in roles)
        )

    return plays
