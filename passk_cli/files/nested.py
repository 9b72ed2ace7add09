"""Outcomes that lie deeper than a reading looks: where they are, and the options that read them.

Only on failure: the beginning of the file is surveyed for lists of records, mappings to records and
fields that hold verdicts.  What is proposed was tried: `reading` reads with these options first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from shlex import quote
from typing import Any

from passk_cli.errors import DataError, NoResults, PasskError
from passk_cli.files import documents, formats
from passk_cli.files.explain import records
from passk_cli.files.formats.format import look
from passk_cli.files.layout import Batch
from passk_cli.files.request import Request
from passk_cli.files.roles import (
    EACH,
    FAIL_WORDS,
    MISSING_WORDS,
    PASS_WORDS,
    SETTINGS,
    candidates,
    judge,
)
from passk_cli.files.source import Source, parsed
from passk_cli.message import WARNING, Message, Said

ALWAYS_SUCCESS = Message(
    "always-success", WARNING,
    "{column} is true in all {attempts:attempt}, while {field} averages {mean}{?first| in the first"
    " {first:record}}",
    "{column} may only say that the run ended; --field outcome={field} reads the"
    " other{?score|, with --threshold X}",
    "Many agents write success: true when they end without an error, whatever an evaluation says of"
    " their work. Where such a column is true everywhere and a score or rate beside it is not, the"
    " score is more likely the outcome, and pass@k of the column is 1 for no reason.",
)  # fmt: skip
# Names of columns that may say no more than that a run ended, and words of an evaluation's names.
_ENDED = ("success", "successful", "is_success", "status", "result", "outcome")
_EVALUATED = frozenset(
    "rate score scores reward acc accuracy correct passed pass resolved solved grade eval"
    " evaluation verdict".split()
)
# Errors after which outcomes are looked for.
_ASKED = (
    *("no-task-column", "no-outcome-column", "no-such-column", "no-results", "unknown-format"),
    *("missing-outcome", "bad-outcome"),
)
# How much of a file is surveyed; what of it is looked at; how deep; how much is tried and shown.
_BYTES, _ROWS, _LEVELS, _TRIED, _SHOWN = 1 << 22, 1000, 4, 8, 3
# As many attempts as a task may have where there are fewer tasks.
_FEW = 16
# What the name of a task's column ends in, and how long its values are.
_ID, _LONG = re.compile(r"(id|name|key|task|index)$", re.I), 200
# A key that names a part of a document rather than a task.
_WORD = re.compile("[A-Za-z_]+")
# Keys of attempts in a mapping of each task's: 0, 1, 2; run_1, run_2.
_ATTEMPT = re.compile(
    r"((attempt|run|trial|sample|epoch|rep|repeat|seed|try|iter(ation)?|rollout)[ _-]?)?\d+", re.I
)


@dataclass(frozen=True)
class Leaf:
    """A field of records, or of records in them, and its values in the order of the records.

    path : as --field takes it.  values : of a list in the way those of every entry.
    """

    path: str
    values: tuple[Any, ...]

    @property
    def name(self) -> str:
        """The last key of the path."""
        return self.path.removesuffix(EACH).rpartition(".")[2]

    def plays(self, role: str) -> bool:
        """Whether the last key is a usual name of a role."""
        return bool(candidates(role, [self.name]))

    @property
    def verdicts(self) -> list[Any]:
        """The values that are there: truth values, numbers and words of verdicts; else none."""
        values = [v for v in self.values if str(v).strip().lower() not in (*MISSING_WORDS, "none")]
        words = {str(value).strip().lower() for value in values if isinstance(value, str)}
        if words - {*PASS_WORDS, *FAIL_WORDS} or any(isinstance(v, dict | list) for v in values):
            return []
        return values

    def names(self, rows: int) -> bool:
        """Whether its values name that many records: short texts or whole numbers, all others."""
        kinds = {type(value) for value in self.values}
        distinct = {str(value) for value in self.values}
        return kinds <= {str, int} and len(distinct) == rows and max(map(len, distinct)) <= _LONG

    @property
    def is_outcome(self) -> bool:
        """Whether it is an outcome by its name and values, or by its values: true and false, or 0
        and 1, both of them, under a name of no other role."""
        if not self.verdicts:
            return False
        return self.plays("outcome") or (
            not self.is_other
            and len(self.verdicts) == len(self.values)
            and {*self.verdicts} == {0, 1}
        )

    @property
    def is_other(self) -> bool:
        """Whether its name is that of another role, or of a setting."""
        roles = ("task", "attempt", "model", "n", "c")
        return self.name in SETTINGS or any(map(self.plays, roles))


@dataclass(frozen=True)
class NestedRecords:
    """Records at a place of a document.

    keys : the way to them, "{}" for any key.  members : of each "{}" the keys there are.
    plain : whether they are made of values that are no records, each an outcome.
    """

    keys: tuple[str, ...]
    members: tuple[frozenset[str], ...]
    rows: Sequence[Mapping[str, Any]]
    plain: bool = False
    listed: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that "{}" are, outermost first: a model, a task, an attempt."""
        if len(self.members) < 2:
            named = self.listed and candidates("task", self.rows[0])
            return ("model" if named else "task",) * len(self.members)
        outer, inner = self.members
        if all(map(_ATTEMPT.fullmatch, inner)) and len(inner) <= max(len(outer), _FEW):
            return "task", "attempt"
        return ("task", "model") if len(inner) < len(outer) else ("model", "task")

    @property
    def options(self) -> dict[str, str]:
        """--records and --from; that the last key is the task goes without saying."""
        if not self.keys:
            return {}
        *keys, last = self.keys
        if self.names == ("task",) and last == "{}" and not self.plain:
            return {"records": ".".join(keys)} if keys else {"format": "task-records"}
        names = iter(self.names)
        shown = (f"{{{next(names)}}}" if key == "{}" else key for key in self.keys)
        return {"records": ".".join(shown)}


@dataclass(frozen=True)
class Proposal:
    """Where outcomes lie.

    options : --records and --from, as fields of a request.  fields : role → column.
    usual : whether the names of outcome and task are, and whether there are several records.
    rows : how many records.
    """

    options: Mapping[str, str]
    fields: Mapping[str, str]
    usual: tuple[bool, ...]
    rows: int

    @property
    def text(self) -> str:
        """The options as they are typed."""
        names = {"records": "--records", "format": "--from"}
        pairs = [(names[name], value) for name, value in self.options.items()]
        pairs += [("--field", f"{role}={column}") for role, column in self.fields.items()]
        return " ".join(f"{name} {quote(value)}" for name, value in pairs)

    def of(self, request: Request) -> Request:
        """The request with these options."""
        return replace(
            request,
            records=self.options.get("records", request.records),
            format=self.options.get("format"),
            fields={**request.fields, **self.fields},
            outcome=None,
            conversion=None,
            resume=None,
        )


def proposed(
    error: DataError, sources: Sequence[Source], request: Request, read: Callable[[Request], object]
) -> DataError:
    """The error, or one that names the options by which its file's outcomes are read.

    read : reads with a request, so that options are named that work.
    """
    places = [source for source in sources if error.place.startswith(source.name)]
    if error.name not in _ASKED or not places or request.engine != "duckdb":
        return error
    texts: list[str] = []
    source = max(places, key=lambda source: len(source.name))
    if error.name == "unknown-format" and (refusal := _refusal(source)):
        return refusal
    for place in _places(source, error, request)[:_TRIED]:
        more = ""
        try:
            read(place.of(request))
        except PasskError as other:
            if other.name != "bad-outcome" or request.threshold:
                continue
            more = " --threshold X"
        texts.append(f"{place.text}{more}")
        usual = place.usual[0]
    if not texts:
        return _limited(error, source)
    *others, last = texts[:_SHOWN]
    several = f"{', '.join(others)} or {last}" if others else last
    remedy = f"an outcome lies deeper: read it with {several}"
    if not usual:
        remedy = f"truth values lie deeper: where they say what passes, read it with {several}"
    return DataError(error.place, error.problem, remedy, name="nested-outcome")


def ended(batch: Batch, attempts: int) -> Said | None:
    """The message that an outcome that always passes stands beside an evaluation that does not.

    attempts : how many there are.  Columns of JSON, CSV and Parquet, and fields inside them.
    """
    column = batch.roles.outcome or ""
    if column.lower() not in _ENDED or batch.layout.kind == "frame":
        return None
    rows = [record for _, record in islice(records(batch), _ROWS)]
    if batch.layout.spool:
        # What plays no part was not written there.
        tables = _tables(_beginning(batch.sources[0]))
        rows = next(([*t.rows[:_ROWS]] for t in tables if column in t.rows[0]), [])
    for leaf in _leaves(rows):
        words = {*re.split(r"[^a-z]+", re.sub(r"([A-Z])", r"_\1", leaf.path).lower())}
        values = [_number(value) for value in leaf.values if value not in (None, "")]
        if leaf.path == column or not values or not words & _EVALUATED:
            continue
        shares = [value for value in values if value is not None and 0 <= value <= 1]
        mean = sum(shares) / len(values)
        if len(shares) == len(values) and mean < 1:
            first = len(rows) if len(rows) < attempts else 0
            score = any(value not in (0, 1) for value in shares)
            return ALWAYS_SUCCESS(
                column=column, attempts=attempts, field=leaf.path, mean=f"{mean:.3f}",
                first=first, score=score,
            )  # fmt: skip
    return None


def _limited(error: DataError, source: Source) -> DataError:
    """The error, with how much was looked at where a long file has nested fields."""
    value = _beginning(source) if error.name in ("no-task-column", "no-outcome-column") else None
    rows = next((table.rows for table in _tables(value)), [])
    nested = any(isinstance(each, dict | list) for row in rows for each in row.values())
    if not nested or (len(rows) < _ROWS and os.path.getsize(source.path) <= _BYTES):
        return error
    remedy = f"{error.remedy}; nested fields were looked for in the first {len(rows):,} records"
    return DataError(error.place, error.problem, remedy, name=error.name)


def _refusal(source: Source) -> NoResults | None:
    """Error of a harness's file that holds no results and is neither JSON nor Parquet.

    A text with another opening is read as a table before formats are asked.
    """
    recognised = formats.recognise(look(source))
    if recognised is not None and recognised[0].form == "other":
        try:
            recognised[1].table(recognised[0])
        except NoResults as error:
            return error
    return None


def records_within(batch: Batch) -> DataError | None:
    """The error of a document that is one attempt and lists records with an outcome of that name.

    It is more likely their summary.
    """
    column = batch.roles.outcome
    tables = _tables(_beginning(batch.sources[0])) if batch.layout.kind == "record" else ()
    for table in tables:
        listed = table.listed and not table.members and len(table.rows) > 1
        if listed and all(column in row for row in table.rows):
            key = quote(".".join(table.keys))
            return DataError(
                batch.sources[0].name,
                f"one attempt by its own {column}, and its {key} are {len(table.rows):,} records"
                f" with {column}",
                f"choose with --records {key}, or --records . for the document itself",
                name="ambiguous-records",
            )
    return None


def _places(source: Source, error: DataError, request: Request) -> list[Proposal]:
    """Where outcomes may lie deeper than at the top of records, the likeliest first."""
    places = []
    for table in _tables(_beginning(source)):
        leaves = list(_leaves(table.rows))
        top = [leaf.path for leaf in leaves if "." not in leaf.path]
        tasks = [leaf for leaf in leaves if leaf.plays("task")]
        fields = {}
        several = len(table.rows) > 1
        if "task" not in table.names and len(candidates("task", top)) != 1:
            # A value that stands alone names nothing.
            others = [leaf for leaf in leaves if several and not leaf.is_other]
            ids = sorted(tasks or others, key=lambda leaf: not _ID.search(leaf.name))
            ids = [leaf for leaf in ids if leaf.names(len(table.rows))]
            fields = {"task": request.fields.get("task", ids[0].path if ids else "")}
        if "" in fields.values():
            continue
        # Records whose outcome is known lack nothing but a task.
        known = candidates("outcome", top) if several and error.name == "no-task-column" else []
        for leaf in leaves:
            if leaf.path in fields.values() or (known and leaf.path not in known):
                continue
            own = {} if candidates("outcome", top) == [leaf.path] else {"outcome": leaf.path}
            deeper = table.keys or "." in "".join((*fields.values(), *own.values()))
            if deeper and leaf.is_outcome and _suits(leaf, table, error, request):
                # Numbers under keys alone may be counts of anything.
                named = leaf.plays("outcome") and not (
                    table.plain and int in map(type, leaf.values)
                )
                usual = named, bool(tasks or table.members), several
                places.append(Proposal(table.options, {**fields, **own}, usual, len(table.rows)))
    best = max((place.usual for place in places), default=())
    places = [place for place in places if place.usual == best]
    return sorted(places, key=lambda place: -place.rows)


def _suits(leaf: Leaf, table: NestedRecords, error: DataError, request: Request) -> bool:
    """Whether a field can be what an outcome lacks: it has to agree with those that are there."""
    if error.name not in ("missing-outcome", "bad-outcome"):
        return True
    rows = table.rows
    column = request.fields.get("outcome", request.outcome or "")
    columns = [column] if column else candidates("outcome", rows[0])
    if error.name == "bad-outcome":
        return any(leaf.path.startswith(f"{name}.") for name in columns)
    if not leaf.plays("outcome") or len(leaf.values) != len(rows):
        return not columns or leaf.path.startswith(f"{columns[0]}.")
    own = [judge(row.get(columns[0]), request.bar) if columns else None for row in rows]
    pairs = zip(own, (judge(value, request.bar) for value in leaf.values), strict=True)
    return all(before is None or before == now for before, now in pairs)


def _beginning(source: Source) -> Any:
    """The first lines of a file, or as much of a document as its beginning holds.

    None of a harness's file, whose format says where outcomes are.
    """
    file = look(source, size=_BYTES)
    recognised = formats.recognise(file)
    if recognised is not None and not recognised[1].generic:
        return None
    if file.form == "lines":
        return [parsed(line) for line in islice(file.text.split("\n"), _ROWS)]
    if file.form not in ("object", "array"):
        return None
    return documents.closed(file.text) if file.whole is None else file.whole


def _tables(value: Any) -> Iterator[NestedRecords]:
    """Records in a document: of lists, of mappings, and those that stand alone."""
    if isinstance(value, list):
        rows = [row for row in value[:_ROWS] if isinstance(row, dict)]
        if rows:
            yield NestedRecords((), (), rows)
            yield from _inside(rows, (), ())
    elif isinstance(value, dict):
        yield from _inside([value], (), ())


def _inside(
    values: Sequence[Any], keys: tuple[str, ...], members: tuple[frozenset[str], ...]
) -> Iterator[NestedRecords]:
    """Records at the places below these values, which are those of several records."""
    dicts = [value for value in values if isinstance(value, dict) and value]
    if len(keys) > _LEVELS or not dicts:
        return
    every = dict.fromkeys(name for each in dicts for name in each)
    inner = [value for each in dicts for value in each.values()][:_ROWS]
    # A key with a dot has to be any key: --records takes dots apart.
    # Records in a list have the same keys, which name no tasks unless there are many.
    mapped = len(every) > 2 or not keys or bool(members) or len(values) == 1
    if (mapped and _alike(inner, every)) or any("." in name for name in every):
        # A model, and a task or an attempt: a third mapping means nothing.
        if len(members) == 2:
            return
        below = [((*keys, "{}"), (*members, frozenset(every)), inner)]
    else:
        below = [
            ((*keys, name), members, [each[name] for each in dicts if name in each])
            for name in every
        ]
    for way, known, those in below:
        rows = [row for each in those if isinstance(each, list) for row in each]
        rows = [row for row in rows if isinstance(row, dict)]
        if rows:
            yield NestedRecords(way, known, rows, listed=True)
        elif way[-1] == "{}":
            own = [each for each in those if isinstance(each, dict)]
            flags = [{"outcome": each} for each in those if not isinstance(each, dict)]
            yield NestedRecords(way, known, own or flags, plain=not own)
        yield from _inside(those, way, known)
    if not members and len(dicts) == 1:
        yield NestedRecords(keys, members, dicts)


def _alike(values: Sequence[Any], names: Collection[str]) -> bool:
    """Whether the values of keys are of one kind, so that the keys are names of tasks, say.

    A key that stands alone is a name where it is no plain word and its value has an outcome.
    """
    if candidates("outcome", names):
        return False
    if len(names) < 2:
        value = values[0][0] if isinstance(values[0], list) and values[0] else values[0]
        judged = isinstance(value, dict) and candidates("outcome", value)
        return bool(judged or isinstance(value, bool)) and not all(map(_WORD.fullmatch, names))
    if all(isinstance(value, dict) for value in values):
        shared = set(values[0]).intersection(*values[1:])
        return bool(shared) or all(isinstance(v, dict) for each in values for v in each.values())
    if all(isinstance(value, list) for value in values):
        return all(isinstance(entry, dict | bool) for each in values for entry in each)
    return len(values) > 2 and all(
        value in (0, 1) for value in values if not isinstance(value, str)
    )


def _leaves(
    values: Sequence[Any], path: str = "", *, listed: bool = False, level: int = 0
) -> Iterator[Leaf]:
    """The fields of records, and of the records in them; of one list in the way every entry."""
    dicts = [value for value in values if isinstance(value, dict)]
    lists = [value for value in values if isinstance(value, list)]
    if lists and not listed:
        # At the top of a record a list is known as one; deeper it has to be said.
        entries = [entry for each in lists for entry in each]
        flat = level == 1 and any(isinstance(entry, dict) for entry in entries)
        where = path if level == 1 and (flat or entries) else f"{path}{EACH}"
        yield from _leaves(entries, where, listed=True, level=level)
    elif dicts and level <= _LEVELS:
        names = dict.fromkeys(name for each in dicts for name in each)
        inner = [value for each in dicts for value in each.values()]
        if len(names) > 2 and _alike(inner, names):
            return
        for name in names:
            if path and "." in name:
                continue
            inner = [each.get(name) for each in dicts]
            way = f"{path}.{name}" if path else name
            yield from _leaves(inner, way, listed=listed, level=level + 1)
    elif values:
        yield Leaf(path, tuple(values))


def _number(value: Any) -> float | None:
    """A number, a truth value or a text of one as a number."""
    try:
        return float({"true": 1, "false": 0}.get(str(value).lower(), value))
    except (TypeError, ValueError):
        return None
