"""File formats: how their files are recognised and read, and which attempts are in them."""

from __future__ import annotations

import glob
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeVar

from passk_cli.diagnostic import WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import BadRecord, DataError
from passk_cli.files.database import AS_IT_IS, ours, parquet_keys, quote_name
from passk_cli.files.sources import documents
from passk_cli.files.sources.archive import Archive
from passk_cli.files.sources.source import (
    Source,
    damaged_parquet,
    detect_packing,
    json_or_none,
    lines,
    open_bytes,
    parse_record,
    unique_keys,
)
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.suggestions import meant
from passk_cli.text import shortened

INCOMPLETE_RUN = DiagnosticType(
    "incomplete-run", WARNING, "the run lists {listed:attempt}, but the file contains {held}",
    meaning="The file gives the number of attempts of its run, and contains a different number.",
    why="The run was stopped or is still going on, or files are missing. Attempts that are slow or"
    " difficult are most likely to be missing, so the numbers may be too high.",
    advice="Wait until the run is complete, or give all of its files.",
    example="warning[incomplete-run]: the run lists 300 attempts, but the file contains 287",
)  # fmt: skip

# How much of a file is looked at, at first and where something long comes before the decisive keys.
_BYTES, _FURTHER, _LITTLE = 1 << 16, 1 << 23, 1 << 14
_TRIED_LINES = 20
# Rows of Parquet that are taken at a time.
_ROWS = 1 << 10
# A file beside another is read whole, so it must not be long.
_BESIDE_BYTES = 1 << 26
# One attempt, or several, as columns whose roles are found as those of a table.
Record = Mapping[str, Any]
Value = TypeVar("Value")
# Scorer → outcome and score, of an attempt; with the other arguments of the attempt's `Row`.
Judgements = dict[str, tuple[object, float | None]]
JudgedAttempts = Iterator[tuple[Judgements, dict[str, Any]]]
# What the values of a document are, for people.
_TYPES: dict[type, str] = {list: "a list", dict: "an object", str: "a text", int: "a whole number"}


@dataclass(eq=False)
class File:
    """One file before it is read: its keys, by which formats recognise it, and its records.

    form : "lines" (a JSON record each), "object", "array" (of JSON), "zip", "parquet" or "other".
    keys : what is there, dotted, with [] for the first element of a list: "results[].is_resolved",
        "[].task_id"; of lines the keys of the first record; of a zip its members' names; of Parquet
        its columns and their fields.
    text : the file's beginning, while it is looked at.  begun : the document as far as that goes.
    whole : the document, where that is all of it and there is little of it.
    archive : the members of a zip.
    documents : path → content of the files beside those of one reading, each parsed once.
    """

    source: Source
    form: str
    keys: frozenset[str]
    text: str = field(default="", repr=False)
    beginning: Any = field(default=None, repr=False)
    short_document: Any = field(default=None, repr=False)
    archive: Archive | None = None
    sibling_documents: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def path(self) -> PurePosixPath:
        """Path of the file as the user has it: a hint, never a proof."""
        return PurePosixPath(os.path.abspath(self.source.name))

    @property
    def name(self) -> str:
        """The file's name without folders and without .gz or .zst."""
        return self.path.name.removesuffix(".gz").removesuffix(".zst")

    def has(self, *keys: str) -> bool:
        """Whether all of these are there."""
        return self.keys.issuperset(keys)

    def document(self, *streamed: str) -> dict[str, Any]:
        """The object this file is, without the keys at its top whose values `records` streams.

        Errors: DataError where it is no JSON object.
        """
        if isinstance(self.short_document, dict):
            return {key: value for key, value in self.short_document.items() if key not in streamed}
        with open_bytes(self.source) as stream:
            return documents.top_level(stream, streamed, self.source.name)

    def records(self, *keys: str, beside: dict[str, Any] | None = None) -> Iterator[Any]:
        """The elements of the list below these keys, or of the array itself, one at a time.

        Lines are records too.  Errors: DataError where it is no JSON.
        beside : is given what stands beside the list: plain values, of lists the first element.
        """
        if self.short_document is None:
            with open_bytes(self.source) as stream:
                yield from documents.elements(stream, keys, beside, self.source.name)
            return
        value = self.short_document
        for key in keys:
            fields = value if isinstance(value, dict) else {}
            if beside is not None:
                beside |= {name: field_value for name, field_value in fields.items() if name != key}
            value = fields.get(key)
        if isinstance(value, list):
            yield from value
        elif not keys:
            yield value

    def members(self, *keys: str) -> Iterator[tuple[str, Any]]:
        """(key, value) of the object below these keys, one at a time.

        Errors: DataError where it is no JSON, or a key comes twice.
        """
        with open_bytes(self.source) as stream:
            yield from documents.members(stream, keys, self.source.name)

    def lines(self, request: RowRequest | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
        """(number, record) of each line that is a JSON record.

        Errors: DataError for another line, unless such are left out.
        """
        request = request or RowRequest()
        for number, text in lines(self.source):
            record = parse_record(text, f"{self.source.name}:{number}", unique_keys)
            if not isinstance(record, DataError):
                yield number, record
            elif request.skip_bad:
                request.skipped += 1
            else:
                raise record

    def rows(self, *columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        """Values of these columns, or of fields in columns, of each row of a Parquet file.

        columns : the way from the column to the field, as ("doc", "id").
        Errors: DataError for a damaged file.
        """
        import duckdb

        selected = ", ".join(".".join(map(quote_name, column)) for column in columns)
        statement = f"SELECT {selected} FROM read_parquet($p{AS_IT_IS})"
        try:
            rows = ours().execute(statement, {"p": self.source.path})
            while batch := rows.fetchmany(_ROWS):
                yield from batch
        except duckdb.Error as error:
            raise damaged_parquet(self.source, str(error)) from None

    def sibling_document(self, relative: str) -> Any:
        """Content of a JSON file next to this one; None if there is none that can be read whole.

        A pipe or a device is never opened: it could block, or have no end.
        """
        path = os.path.normpath(self.path.parent / relative)
        if path not in self.sibling_documents:
            self.sibling_documents[path] = None
            if os.path.isfile(path) and os.path.getsize(path) <= _BESIDE_BYTES:
                with suppress(OSError, ValueError, RecursionError), open(path, "rb") as file:
                    self.sibling_documents[path] = json.load(file)
        return self.sibling_documents[path]

    def sibling_names(self, pattern: str) -> list[str]:
        """Files that match a pattern, from the file's folder, sorted."""
        folder = Path(self.path.parent)
        names = glob.glob(pattern, root_dir=folder, recursive=True)
        return sorted(name for name in names if (folder / name).is_file())

    def sibling_files(self, pattern: str) -> Iterator[File]:
        """The files that match a pattern, from the file's folder, one at a time, none kept."""
        for name in self.sibling_names(pattern):
            path = str(self.path.parent / name)
            display_name = os.path.join(os.path.dirname(self.source.name), name)
            with open(path, "rb") as file:
                packing = detect_packing(file.read(4))
            yield sniff(Source(path, display_name, None, packing))

    def without_text(self) -> File:
        """The file without its text: thousands of files must not fill the memory."""
        document = self.short_document if len(self.text) <= _LITTLE else None
        return replace(self, text="", beginning=document, short_document=document)

    def look_further(self) -> File:
        """The file after a longer look, where something long comes before the decisive keys."""
        if self.short_document is not None or self.form not in ("object", "array"):
            return self
        return sniff(self.source, self.sibling_documents, _FURTHER)


def sniff(source: Source, beside: dict[str, Any] | None = None, size: int = _BYTES) -> File:
    """A file, by its first bytes.

    beside : as `File.documents`.  Errors: DataError where the bytes cannot be unpacked.
    """
    beside = {} if beside is None else beside
    with open_bytes(source) as stream:
        data = stream.read(size)
    if data.startswith(b"PK\x03\x04"):
        archive = Archive(source)
        return File(
            source, "zip", frozenset(archive.names), archive=archive, sibling_documents=beside
        )
    if data.startswith(b"PAR1"):
        return File(
            source, "parquet", frozenset(parquet_keys(source.path)), sibling_documents=beside
        )
    try:
        text, sound = data.decode(), True
    except UnicodeDecodeError:
        text, sound = data.decode(errors="replace"), False
    text = text.removeprefix("\ufeff")
    start = text.lstrip()
    if start[:1] not in ("{", "["):
        return File(source, "other", frozenset(), text, sibling_documents=beside)
    complete = len(data) < size
    form = "array" if start[0] == "[" else "object"
    # A document may have a record to a line: what is one document is not lines.  What is no UTF-8,
    # or has a key twice, is left to those who read it and say where.
    document = documents.parse_document(text) if complete and sound else None
    begun = document
    if begun is None and start[0] == "{" and (begun := _first_record(start, complete)):
        form = "lines"
    begun = documents.parse_beginning(text) if begun is None else begun
    keys = frozenset(documents.key_names(begun))
    return File(source, form, keys, text, begun, document, sibling_documents=beside)


def _first_record(start: str, complete: bool) -> dict[str, Any] | None:
    """The first line that is a record; None where lines are no records.

    A document of one line is no line: it may be what a harness writes.
    """
    texts = start.split("\n")
    texts = [line for line in (texts if complete else texts[:-1]) if line.strip()]
    if len(texts) < 2 and complete:
        return None
    # An indented record lies in a document that is not complete here.
    flush = (line.rstrip() for line in texts[:_TRIED_LINES] if not line[0].isspace())
    for line in flush:
        record = json_or_none(line) if line[0] == "{" and line[-1] == "}" else None
        if isinstance(record, dict):
            return record
    return None


@dataclass(slots=True)
class Row:
    """One attempt.

    task : as the harness names it.  outcome : True, False, or None where there is none; a number
        where the harness has no rule for what passes; what cannot be understood as it is, to be
        refused with its place.
    score : where the harness gives a number; `--threshold` judges it instead of the outcome.
    attempt : its number or name within the run, if it has one; the same twice is a repeat.
    reason : why there is no outcome, or why it failed: "error", "timeout", "infrastructure",
        "not attempted" ….  unjudged : the reason where there is no outcome and no other reason.
    model, suite : where they differ from row to row.
    settings : temperature, prompt, filter … by name.  answer, solution : what the model said.
    place : where it stands in the file, as "line 7" or a member's name.
    record : what the harness wrote of it, in which `Format.spent` finds what it took.
    """

    task: object
    outcome: object
    score: float | None = None
    attempt: object = None
    reason: str = ""
    unjudged: str = "unscored"
    model: str | None = None
    suite: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    answer: object = None
    solution: object = None
    place: str = ""
    record: object = None

    def __post_init__(self) -> None:
        if self.outcome is None and not self.reason:
            self.reason = self.unjudged


@dataclass
class RowRequest:
    """Request to a table of attempts.

    outcome : one of the table's outcomes.
    texts : of "answer" and "solution", those that something asks for.
    skip_bad : whether lines that are no records are left out; `skipped` counts them.
    messages : those that only reading the rows shows, added to those of the table.
    """

    outcome: str = ""
    texts: frozenset[str] = frozenset()
    skip_bad: bool = True
    skipped: int = 0
    messages: list[Diagnostic] = field(default_factory=list)


@dataclass(frozen=True)
class Contents:
    """The attempts of one file.

    rows : gives them, in the file's order, memory holding one at a time; a generic format gives
        records instead, with columns of their own.
    outcomes : what `--outcome` chooses from; where there is one, it is chosen.  None where no
        attempt was judged, so that the file goes with any of them.
    facts : constant in the file: model, suite, run, temperature …  Runs of one model go on.
        A suite is named where its task ids mean nothing without it.  Of a generic format: columns
        for records that have none of that name; looked at after the rows.
    messages : about the file; what a reader of its numbers must know.
    verdict : the outcome that the harness itself calls passing, read where none is asked for.
    order : tasks in the order in which the run was shuffled to take them; none where it was not.
    """

    rows: Callable[[RowRequest], Iterable[Row] | Iterable[Record]]
    outcomes: tuple[str, ...] | None = ("outcome",)
    facts: Mapping[str, object] = field(default_factory=dict)
    messages: Sequence[Diagnostic] = ()
    verdict: str | None = None
    order: Sequence[object] = ()


class Example(NamedTuple):
    """A small file of a format, as its harness writes it, without the keys that nobody reads here.

    Values are invented.  A test reads each with its command.
    paths : where such files lie, words in capitals standing for what differs; the first is that of
        the text.  text : the file; what is packed or binary as the JSON that it holds.
    arguments : what follows `passk estimate`, where it is more than the first path.
    instead : of what is refused, what to do.
    """

    paths: tuple[str, ...]
    text: str
    arguments: str = ""
    instead: str = ""

    @property
    def use(self) -> str:
        """The command that reads it, or what to do instead."""
        return self.instead or f"passk estimate {self.arguments or self.paths[0]}"


@dataclass(frozen=True)
class Format:
    """One harness's files.

    name : for `--from` and for the output.  rule : what passes, in one line.
    source : where the layout was read: the writer's own source, or a description of it.
    recognises : whether a file is one of these, by its content; the name is only a hint.
    table : its attempts.  Errors: DataError, also for what cannot be used and why; NoResults where
        there can be none, so that such a file of a folder is passed over.
    example : a small file of it.
    covers : globs, from the file's folder, of what repeats it and must not count again, and of what
        belongs to it without being results; a function where they depend on the file.
    others : who else costs, besides the model, in words, where files may not say how much.
    spent : what an attempt took, from the record of its row: the usual name of an amount → it, in
        the unit that the name says; None where it is not known.  Called only where it is asked.
    generic : whether it is no harness's: its rows are records, whose columns have the usual names
        or those of `--field`, and `--outcome` names one of them.
    """

    name: str
    rule: str
    source: str
    recognises: Callable[[File], bool]
    read_contents: Callable[[File], Contents]
    example: Example = field(kw_only=True)
    covers: tuple[str, ...] | Callable[[File], tuple[str, ...]] = ()
    read_amounts: Callable[[Any], Mapping[str, object]] | None = None
    other_payers: str = ""
    generic: bool = False

    def contents(self, file: File) -> Contents:
        """The attempts of a file.

        Errors: as of `table`; DataError for a fact about all of them that is a list or an object.
        """
        contents = self.read_contents(file)
        for name, value in contents.facts.items():
            if isinstance(value, list | dict):
                require_type(file, name, value, str)
        return contents

    @property
    def kind(self) -> str:
        """ "harness", "general" of files that no harness writes, or "refused"."""
        if self.generic:
            return "general"
        return "refused" if self.rule.startswith("refused") else "harness"


def single_outcome(rows: Callable[[File, RowRequest], Iterable[Row]]) -> Callable[[File], Contents]:
    """The table of files that hold nothing but attempts with one outcome."""
    return lambda file: Contents(lambda request: rows(file, request))


def by_scorer(
    judged_attempts: Callable[[], JudgedAttempts], verdict: str | None = None, **fields: Any
) -> Contents:
    """The table of attempts that several named scorers judge: each scorer is an outcome.

    judged_attempts : gives them.  A scorer that is not among those of an attempt did not judge it,
        and an attempt with a reason has no outcome.
    verdict, fields : as of `Contents`.
    """
    names = {name: None for judgements, _ in judged_attempts() for name in judgements}

    def rows(request: RowRequest) -> Iterator[Row]:
        for judgements, about in judged_attempts():
            outcome, score = judgements.get(request.outcome, (None, None))
            if about.get("reason"):
                outcome = score = None
            yield Row(outcome=outcome, score=score, **about)

    first = () if verdict is None else (verdict,)
    return Contents(rows, tuple(dict.fromkeys((*first, *names))), verdict=verdict, **fields)


def as_text(value: Any) -> str:
    """A text as it is; another value as JSON, with keys in the order of the alphabet."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def amount_reader(**paths: str) -> Callable[[Any], Mapping[str, object]]:
    """Amounts of an attempt: amount → the dotted path to it in the record of a row.

    >>> amount_reader(tokens_in="usage.input", turns="steps")({"usage": {"input": 30}})
    {'tokens_in': 30, 'turns': None}
    """
    ways = {name: path.split(".") for name, path in paths.items()}
    return lambda record: {name: at(record, *way) for name, way in ways.items()}


def number_attempts(rows: Iterable[Row]) -> Iterator[Row]:
    """Attempts that nothing but their order in the file numbers."""
    times: Counter[str] = Counter()
    for row in rows:
        task = str(row.task)
        row.attempt = times[task]
        times[task] += 1
        yield row


def at(value: Any, *keys: str | int) -> Any:
    """Value below these keys of records and places of lists; None where there is none.

    >>> at({"a": [{"b": 1}]}, "a", 0, "b"), at({"a": None}, "a", "b")
    (1, None)
    """
    for key in keys:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and -len(value) <= key < len(value):
            value = value[key]
        else:
            return None
    return value


def finite_number(value: Any) -> float | None:
    """A finite number; None for everything else, NaN and truth values included.

    >>> finite_number(0.5), finite_number(float("nan")), finite_number(True), finite_number("1")
    (0.5, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= sys.float_info.max else None


def seconds_between(start: Any, end: Any) -> float | None:
    """Seconds between two times in ISO 8601; None where one is no time, or they are none apart.

    >>> seconds_between("2026-01-31T12:00:00Z", "2026-01-31T12:01:30.5+00:00")
    90.5
    """
    try:
        return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    except (TypeError, ValueError):
        return None


def require_type(file: File, place: str, value: Any, kind: type[Value]) -> Value | None:
    """The value that a harness writes at this place; None if nothing is there.

    what : the place in the document.  kind : its type.
    Errors: DataError for a value of another type, which names the file, the place and the type.
    """
    if value is None or (isinstance(value, kind) and not (kind is int and value is True)):
        return value
    problem = f"{place} is {shortened(json.dumps(value, default=str))}; expected {_TYPES[kind]}"
    raise BadRecord(file.source.name, problem, "correct the file")


def require_list(file: File, place: str, value: Any) -> list[Any]:
    """The list that a harness writes at this place; [] if nothing is there.

    Errors: as of `typed`.
    """
    return require_type(file, place, value, list) or []


def judge_score(value: Any, passes: Callable[[float], bool]) -> tuple[object, float | None]:
    """(outcome, score) of a value that should be a score, by the harness's rule.

    What is no number stays as it is; no value and NaN are no outcome.

    >>> judge_score(0.5, lambda score: score == 1), judge_score(None, bool)
    ((False, 0.5), (None, None))
    >>> judge_score("high", bool)
    ('high', None)
    """
    if isinstance(value, bool):
        return value, float(value)
    score = finite_number(value)
    if score is not None:
        return passes(score), score
    return (None, None) if value != value else (value, None)


def judge_binary(value: Any) -> tuple[object, float | None]:
    """(outcome, score) of a value where the harness has no rule: 1 passes, 0 does not.

    Other numbers stand as they are, so that the reader asks for a threshold.

    >>> judge_binary(1.0), judge_binary(0.5), judge_binary("high"), judge_binary(float("nan"))
    ((True, 1.0), (0.5, 0.5), ('high', None), (None, None))
    """
    outcome, score = judge_score(value, bool)
    return (score if score not in (None, 0.0, 1.0) else outcome), score


def choose_outcome(place: str, requested: str | None, outcomes: Sequence[str]) -> str:
    """The outcome to read; DataError where it has to be chosen, or there is none of that name."""
    if requested in outcomes:
        return str(requested)
    names = ", ".join(map(shortened, outcomes))
    if not outcomes:
        raise DataError(place, "no outcome in this file", "was it scored?", name="no-such-outcome")
    if requested is not None:
        problem = f"no outcome {shortened(requested)!r}"
        raise DataError(place, problem, meant(requested, outcomes), name="no-such-outcome")
    if len(outcomes) > 1:
        problem = f"{len(outcomes)} outcomes: {names}"
        settles = [SuggestedFix({"--outcome": name}) for name in outcomes[:3]]
        raise DataError(place, problem, name="several-outcomes", settles=settles)
    return outcomes[0]
