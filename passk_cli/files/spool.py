"""Attempts that formats find → one file of rows for each format, which is read as any other."""

from __future__ import annotations

import json
import math
import os
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, cast

from passk_cli.errors import DataError, NoResults
from passk_cli.files import formats
from passk_cli.files.database import FILE_COLUMN, PLACE_COLUMN
from passk_cli.files.formats.format import Contents, Folder, Format, Row, Wanted, one_of, quoted
from passk_cli.files.formats.head import Head, look
from passk_cli.files.layout import Batch, Layout
from passk_cli.files.look import Spooled
from passk_cli.files.paths import from_folders, template_columns
from passk_cli.files.request import Request
from passk_cli.files.roles import Roles, assign
from passk_cli.files.sheets import Sheets
from passk_cli.files.source import Source, kind_of, kind_of_type, line_of

# Attempts of a model's runs go on: the first number of the next run.
_RUN = 1_000_000
_TEXTS = ("answer", "solution")
# Of more files than this, short documents are parsed here: DuckDB takes a millisecond for each.
_MANY = 300


@dataclass(frozen=True)
class Recognised:
    """A file in a format we know."""

    head: Head
    format: Format

    @property
    def source(self) -> Source:
        return self.head.source


def recognised(
    sources: Sequence[Source], request: Request
) -> tuple[list[Recognised], list[Source]]:
    """The files that formats know, and the others; without what repeats a file of a folder."""
    forced = request.format
    known, others = [], []
    for source in sources:
        head = look(source)
        asked = formats.asked(head, request.records, request.fields.values())
        asked = formats.FORMATS[forced] if forced else asked
        one = formats.recognise(head) if asked is None else (head, asked)
        if one is None and len(sources) > _MANY and (short := formats.of_short(head)):
            one = (head, short)
        if one is None:
            others.append(source)
        else:
            known.append(Recognised(one[0].lightened(), one[1]))
    covered = _covered(known, [s for s in sources if not s.named])
    return (
        [one for one in known if one.source.path not in covered],
        [source for source in others if source.path not in covered],
    )


def spooled(files: Sequence[Recognised], request: Request, folder: Path) -> Spooled:
    """Read these files and write their attempts, a file of rows for each format.

    folder : where these are written.
    Errors: DataError for what cannot be used; where an outcome has to be chosen.
    """
    result, beside = Spooled(), Folder()
    _write_records(files, request, folder, beside, result)
    own = [one for one in files if not one.format.generic]
    tables = _tables(own, request, beside, result)
    outcomes = _chosen(tables, request, result)
    tables = [pair for pair in tables if pair[0].source.path in outcomes]
    if "agent" not in request.by and "model" not in request.fields:
        tables = _by_agent(tables)
    runs = _run_numbers(tables)
    if "run" not in request.by:
        result.runs = _runs_pooled(tables)
    by_format: dict[str, list[tuple[Recognised, Contents]]] = {}
    for pair in tables:
        by_format.setdefault(pair[0].format.name, []).append(pair)
    for name, pairs in by_format.items():
        path = folder / f"{name}.rows.jsonl"
        with open(path, "wb") as file:
            writer = _Writer(file, request, result, runs)
            for one, table in pairs:
                try:
                    writer.write(one, table, outcomes[one.source.path])
                except NoResults as error:
                    result.pass_over(one.source, error)
        if writer.sources:
            result.batches.append(writer.batch(str(path), name, pairs[0][0].format.rule))
    return result


def _write_records(
    files: Sequence[Recognised], request: Request, folder: Path, beside: Folder, result: Spooled
) -> None:
    """The records of the files in generic formats."""
    with Sheets(folder, request) as sheets:
        for one in files:
            if one.format.generic:
                try:
                    kinds = sheets.write(one.source, one.format, one.format.table(one.head, beside))
                    result.saw_tasks(one.source, kinds)
                except NoResults as error:
                    result.pass_over(one.source, error)
    result.batches += sheets.batches()
    result.nameless |= sheets.nameless
    result.said |= sheets.said
    result.skipped += sheets.skipped


def _tables(
    files: Sequence[Recognised], request: Request, beside: Folder, result: Spooled
) -> list[tuple[Recognised, Contents]]:
    """The table of each file, with what its path says of all of it.

    A file of a folder that can hold no results is passed over.
    """
    tables = []
    for one in files:
        try:
            in_path = template_columns(one.source.name, request.template)
            table = one.format.table(one.head, beside)
        except NoResults as error:
            result.pass_over(one.source, error)
        else:
            tables.append((one, replace(table, facts={**table.facts, **in_path})))
    return tables


def _covered(known: Sequence[Recognised], candidates: Sequence[Source]) -> set[str]:
    """The paths of files that repeat what another holds, as its format says."""
    paths = {os.path.abspath(source.name): source.path for source in candidates}
    names = sorted(paths)
    covered: set[str] = set()
    for one in known:
        path = os.path.abspath(one.source.name)
        for pattern in one.format.covered(one.head):
            # What lies outside of its folder is reached by ../ before the pattern.
            whole = os.path.normpath(os.path.join(os.path.dirname(path), pattern))
            covered |= {paths[name] for name in _matching(names, whole) if name != path}
    return covered


def _matching(names: Sequence[str], pattern: str) -> Iterator[str]:
    """Those of these sorted names that match a pattern; it looks at few others."""
    start = pattern.partition("*")[0]
    place = end = bisect_left(names, start)
    while end < len(names) and names[end].startswith(start):
        end += 1
    # Of thousands of files most have little beside them, and patterns take long to compile.
    if "*" not in pattern:
        yield from (name for name in names[place:end] if name == pattern)
    elif place < end:
        yield from filter(re.compile(_regex(pattern)).fullmatch, names[place:end])


def _plain(value: object) -> object:
    """An outcome as a value of one column: what is no truth value, number or text, as its text."""
    if isinstance(value, dict | list):
        return quoted(json.dumps(value))
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _regex(pattern: str) -> str:
    """A glob as a regular expression: * stays within a name, **/ is any folders."""
    return re.escape(pattern).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")


def _chosen(
    tables: Sequence[tuple[Recognised, Contents]], request: Request, result: Spooled
) -> dict[str, str]:
    """Path → the outcome to read in it.

    Several outcomes in one file or several files must be chosen from; a file of a folder that does
    not have the chosen one is passed over, unless none has it.  A file in which no attempt was
    judged goes with any of them.
    """
    every = list(dict.fromkeys(name for _, table in tables for name in table.outcomes or ()))
    judged = [one.source.name for one, table in tables if table.outcomes is not None]
    chosen: dict[str, str] = {}
    unjudged = [one.source.path for one, table in tables if table.outcomes is None]
    for one, table in tables:
        names = result.outcomes.setdefault(one.format.name, {})
        names.update(dict.fromkeys(table.outcomes or ()))
        if table.outcomes is None:
            continue
        if request.outcome is None or request.outcome in table.outcomes or one.source.named:
            chosen[one.source.path] = one_of(one.source.name, request.outcome, table.outcomes)
        else:
            result.over.append(one.source.name)
    if judged and not chosen:
        one_of(judged[0], request.outcome, every)
    if len(set(chosen.values())) > 1 and request.outcome is None:
        one_of(judged[0], None, every)
    return {**chosen, **dict.fromkeys(unjudged, "")}


def _by_agent(
    tables: Sequence[tuple[Recognised, Contents]],
) -> list[tuple[Recognised, Contents]]:
    """The tables, each named by its agent and its model where a model has several agents."""
    agents: dict[object, set[object]] = {}
    for _, table in tables:
        agents.setdefault(table.facts.get("model"), set()).add(table.facts.get("agent"))
    named = []
    for one, table in tables:
        model, agent = table.facts.get("model"), table.facts.get("agent")
        if model is not None and agent is not None and len(agents[model]) > 1:
            table = replace(table, facts={**table.facts, "model": f"{agent} ({model})"})
        named.append((one, table))
    return named


def _run_numbers(tables: Sequence[tuple[Recognised, Contents]]) -> dict[tuple[str, str], int]:
    """(model, run) → its place among the model's runs, sorted, where there are several."""
    runs: dict[str, set[str]] = {}
    for one, table in tables:
        if table.facts.get("run") is not None:
            model = one.source.label or str(table.facts.get("model"))
            runs.setdefault(model, set()).add(str(table.facts["run"]))
    return {
        (model, run): place
        for model, names in runs.items()
        for place, run in enumerate(sorted(names))
    }


def _runs_pooled(tables: Sequence[tuple[Recognised, Contents]]) -> dict[str, int]:
    """Model → how many runs of it go on as one: the most of any suite, where more than one."""
    runs: dict[tuple[str, object], set[str]] = {}
    for one, table in tables:
        if table.facts.get("run") is not None:
            model = one.source.label or str(table.facts.get("model") or one.source.stem)
            runs.setdefault((model, table.facts.get("suite")), set()).add(str(table.facts["run"]))
    pooled: dict[str, int] = {}
    for (model, _), names in runs.items():
        if len(names) > 1:
            pooled[model] = max(len(names), pooled.get(model, 0))
    return pooled


class _Writer:
    """Writes the rows of one format's files and remembers what is in them."""

    def __init__(
        self,
        file: IO[bytes],
        request: Request,
        result: Spooled,
        runs: Mapping[tuple[str, str], int],
    ) -> None:
        self._file, self._request, self._result, self._runs = file, request, result, runs
        self.sources: list[Source] = []
        # Column → the types of its values, whose kinds are asked for in the end.
        self._types: dict[str, set[type]] = {}
        self._longest = 0
        self._in_path: Mapping[str, str] = {}
        self._in_folders: Mapping[str, str] = {}
        self._texts = frozenset(_TEXTS) & {*request.attempts, *request.fields.values()}

    def write(self, one: Recognised, table: Contents, outcome: str) -> None:
        """The rows of one file."""
        wanted = Wanted(outcome, self._texts, self._request.skip_bad)
        source = one.source
        self._in_path = template_columns(source.name, self._request.template)
        self._in_folders = from_folders(source.name, self._request.by)
        rows, task_kinds, unnamed, named = 0, set[str](), "", False
        for rows, row in enumerate(cast("Iterator[Row]", table.rows(wanted)), 1):
            columns = self._columns(source, table, row)
            task_kinds.add("text" if columns.get("suite") else kind_of(row.task))
            place = f"{source.name}: {row.place or f'attempt {rows}'}"
            if columns.get("model") is None:
                self._result.nameless.add(source.path)
                unnamed = unnamed or place
            named = named or columns.get("model") is not None
            if row.outcome is None:
                name = source.label or str(columns.get("model") or source.stem)
                reasons = self._result.reasons.setdefault(name, Counter())
                reasons[row.reason or "no outcome"] += 1
            self._put({FILE_COLUMN: source.path, PLACE_COLUMN: place, **columns})
        if unnamed and named and not source.label:
            problem = "no model, where other records of this file name one"
            raise DataError(
                unnamed, problem, "name it there, or take the record out", name="missing-name"
            )
        if rows == 0:
            raise NoResults(source.name, "no attempts in this file", "did the run start?")
        self.sources.append(source)
        self._result.saw_tasks(source, task_kinds)
        for message in (*table.messages, *wanted.messages):
            self._result.said.setdefault(message, []).append(source.name)
        self._result.skipped += wanted.skipped

    def _columns(self, source: Source, table: Contents, row: Row) -> dict[str, object]:
        facts, in_path = table.facts, self._in_path
        model = facts.get("model") if row.model is None else row.model
        suite = in_path.get("suite", facts.get("suite") if row.suite is None else row.suite)
        task = in_path.get("task", row.task)
        if suite is not None and task is not None:
            task = f"{suite}/{task}"
        columns: dict[str, object] = {
            **self._in_folders,
            **facts,
            **row.settings,
            "model": model,
            "attempt": self._attempt(source, facts, row),
            "outcome": _plain(row.outcome),
            "score": row.score,
            "reason": row.reason or None,
            **row.texts,
            **in_path,
            "suite": suite,
            "task": task if task is None else str(task),
        }
        return {name: value for name, value in columns.items() if value is not None}

    def _attempt(self, source: Source, facts: Mapping[str, object], row: Row) -> object:
        """Its number or name, apart from those of the model's other runs."""
        model, run = source.label or str(facts.get("model")), str(facts.get("run"))
        place = self._runs.get((model, run), 0)
        if row.attempt is None or place == 0:
            return row.attempt
        if isinstance(row.attempt, int):
            return place * _RUN + row.attempt
        return f"{run} {row.attempt}"

    def _put(self, columns: Mapping[str, object]) -> None:
        for name, value in columns.items():
            if (types := self._types.get(name)) is None:
                types = self._types[name] = set()
            types.add(type(value))
        line = line_of(columns)
        self._longest = max(self._longest, len(line))
        self._file.write(line)

    def batch(self, path: str, name: str, rule: str) -> Batch:
        """All that was written, to be read."""
        kinds = {
            name: {kind_of_type(each) for each in types} for name, types in self._types.items()
            if name not in (FILE_COLUMN, PLACE_COLUMN)
        }  # fmt: skip
        kinds.setdefault("outcome", {"null"})
        kinds.setdefault("task", {"null"})
        layout = Layout(
            name,
            rule,
            tuple((name, frozenset(seen)) for name, seen in kinds.items()),
            spool=path,
            longest=self._longest,
        )
        return Batch(layout, self._roles(self.sources[0].name, kinds), tuple(self.sources))

    def _roles(self, place: str, kinds: Mapping[str, set[str]]) -> Roles:
        """The columns' roles are known, unless the request gives one to another column."""
        request = self._request
        judged = request.bar is not None and "score" in kinds
        own = {
            "task": "task",
            "outcome": "score" if judged else "outcome",
            **{role: role for role in ("attempt", "model", *_TEXTS) if role in kinds},
            "score": "score" if "score" in kinds else "outcome",
        }
        # "run" is a usual name of attempts, and here it is none.
        usual = {name: seen for name, seen in kinds.items() if name != "run"}
        columns = kinds if "run" in request.fields.values() else usual
        return assign(place, columns, {**own, **request.fields}, request.attempts, request.unjudged)
