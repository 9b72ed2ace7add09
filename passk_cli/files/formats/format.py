"""What all file formats share: the File, its rows, and the declaration of a format."""

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
from passk_cli.errors import BadRecordError, DataError
from passk_cli.files.database import AS_IT_IS, parquet_keys, quote_name, shared_connection
from passk_cli.files.sources import documents
from passk_cli.files.sources.archive import Archive
from passk_cli.files.sources.source import (
    Source,
    damaged_parquet_error,
    detect_packing,
    json_or_none,
    numbered_lines,
    object_with_unique_keys,
    open_bytes,
    parse_record,
)
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list
from passk_cli.text import shortened

INCOMPLETE_RUN = DiagnosticType(
    "incomplete-run", WARNING, "the run lists {listed:attempt}, but the file contains {held}",
    meaning="The file states how many attempts its run has, but it contains a different number.",
    why="The run was stopped or is still going on, or files are missing. Attempts that are slow or"
    " difficult are most likely to be missing, so the numbers may be too high.",
    advice="Wait until the run is complete, or give all of its files.",
    example="warning[incomplete-run]: the run lists 300 attempts, but the file contains 287",
)  # fmt: skip

# Bytes that are read at first, bytes that are read if a long value comes first, and the length of a
# document that is kept.
_BYTES, _FURTHER, _LITTLE = 1 << 16, 1 << 23, 1 << 14
_TRIED_LINES = 20
# Rows of Parquet per batch.
_ROWS = 1 << 10
# Sibling files are read completely, so they must not be long.
_BESIDE_BYTES = 1 << 26
# One or several attempts as columns; their roles are found in the same way as those of a table.
Record = Mapping[str, Any]
Value = TypeVar("Value")
# Scorer → (outcome, score) of an attempt, and the further arguments of its `Row`.
Judgements = dict[str, tuple[object, float | None]]
JudgedAttempts = Iterator[tuple[Judgements, dict[str, Any]]]
# Types of JSON values in words.
_TYPES: dict[type, str] = {list: "a list", dict: "an object", str: "a text", int: "a whole number"}


@dataclass(eq=False)
class File:
    """One file before its attempts are read: its keys, for recognising the format, and its records.

    form : "lines" (a JSON record per line), "object", "array" (of JSON), "zip", "parquet" or
        "other".
    keys : the keys in the file, dotted, with [] for the first element of a list, for example
        "results[].is_resolved" or "[].task_id". For lines: the keys of the first record; of a zip:
        the names of its members; of Parquet: its columns and their fields.
    text : the beginning of the file.  beginning : the JSON value in it, as far as it goes.
    short_document : the whole document, if it is short; else None.
    archive : the members of a zip.
    sibling_documents : path → content of other files in the folder, each parsed only once.
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
        """The path of the file as the user sees it. It is a hint only, never a proof of the
        format."""
        return PurePosixPath(os.path.abspath(self.source.name))

    @property
    def name(self) -> str:
        """The name of the file without folders and without .gz or .zst."""
        return self.path.name.removesuffix(".gz").removesuffix(".zst")

    def has_keys(self, *keys: str) -> bool:
        """Whether the file has all of these keys."""
        return self.keys.issuperset(keys)

    def document(self, *streamed: str) -> dict[str, Any]:
        """The object in this file, without the top-level keys that `records` streams.

        Errors: DataError if the file is not a JSON object.
        """
        if isinstance(self.short_document, dict):
            return {key: value for key, value in self.short_document.items() if key not in streamed}
        with open_bytes(self.source) as stream:
            return documents.top_level_object(stream, streamed, self.source.name)

    def records(self, *keys: str, siblings: dict[str, Any] | None = None) -> Iterator[Any]:
        """The elements of the list below these keys, or of the array itself, one at a time.

        The lines of a file of lines are records, too.
        siblings : a dict that is filled with the values next to the list; lists are represented by
            their first element.
        Errors: DataError if the file is not JSON.
        """
        if self.short_document is None:
            with open_bytes(self.source) as stream:
                yield from documents.list_elements(stream, keys, siblings, self.source.name)
            return
        value = self.short_document
        for key in keys:
            fields = value if isinstance(value, dict) else {}
            if siblings is not None:
                siblings |= {
                    name: field_value for name, field_value in fields.items() if name != key
                }
            value = fields.get(key)
        if isinstance(value, list):
            yield from value
        elif not keys:
            yield value

    def members(self, *keys: str) -> Iterator[tuple[str, Any]]:
        """(key, value) pairs of the object below these keys, one at a time.

        Errors: DataError if the file is not JSON, or if a key occurs twice.
        """
        with open_bytes(self.source) as stream:
            yield from documents.object_members(stream, keys, self.source.name)

    def lines(self, request: RowRequest | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
        """(line number, record) of each line that is a JSON record.

        Errors: DataError for any other line, unless the request skips such lines.
        """
        request = request or RowRequest()
        for number, text in numbered_lines(self.source):
            record = parse_record(text, f"{self.source.name}:{number}", object_with_unique_keys)
            if not isinstance(record, DataError):
                yield number, record
            elif request.skip_bad:
                request.skipped += 1
            else:
                raise record

    def rows(self, *columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        """The values of these columns, or of fields in columns, for each row of a Parquet file.

        columns : the path from the column to the field, for example ("doc", "id").
        Errors: DataError for a damaged file.
        """
        import duckdb

        selected = ", ".join(".".join(map(quote_name, column)) for column in columns)
        statement = f"SELECT {selected} FROM read_parquet($p{AS_IT_IS})"
        try:
            rows = shared_connection().execute(statement, {"p": self.source.path})
            while batch := rows.fetchmany(_ROWS):
                yield from batch
        except duckdb.Error as error:
            raise damaged_parquet_error(self.source, str(error)) from None

    def sibling_document(self, relative: str) -> Any:
        """The content of another JSON file, given by its path from this file's folder.

        None if there is no such file, or if it is too long. Pipes and devices are never opened,
        because reading them could block or never end.
        """
        path = os.path.normpath(self.path.parent / relative)
        if path not in self.sibling_documents:
            self.sibling_documents[path] = None
            if os.path.isfile(path) and os.path.getsize(path) <= _BESIDE_BYTES:
                with suppress(OSError, ValueError, RecursionError), open(path, "rb") as file:
                    self.sibling_documents[path] = json.load(file)
        return self.sibling_documents[path]

    def sibling_names(self, pattern: str) -> list[str]:
        """The sorted names of the files that match a pattern, from the folder of this file."""
        folder = Path(self.path.parent)
        names = glob.glob(pattern, root_dir=folder, recursive=True)
        return sorted(name for name in names if (folder / name).is_file())

    def sibling_files(self, pattern: str) -> Iterator[File]:
        """The files that match a pattern, from the folder of this file, one at a time."""
        for name in self.sibling_names(pattern):
            path = str(self.path.parent / name)
            display_name = os.path.join(os.path.dirname(self.source.name), name)
            with open(path, "rb") as file:
                packing = detect_packing(file.read(4))
            yield sniff_file(Source(path, display_name, None, packing))

    def without_text(self) -> File:
        """The file without its text, so that thousands of files fit into memory."""
        document = self.short_document if len(self.text) <= _LITTLE else None
        return replace(self, text="", beginning=document, short_document=document)

    def with_longer_start(self) -> File:
        """The file with a longer beginning, for documents with a long value before the decisive
        keys."""
        if self.short_document is not None or self.form not in ("object", "array"):
            return self
        return sniff_file(self.source, self.sibling_documents, _FURTHER)


def sniff_file(source: Source, siblings: dict[str, Any] | None = None, size: int = _BYTES) -> File:
    """A file, recognised by its first bytes.

    siblings : see `File.sibling_documents`.  Errors: DataError if the bytes cannot be unpacked.
    """
    siblings = {} if siblings is None else siblings
    with open_bytes(source) as stream:
        data = stream.read(size)
    if data.startswith(b"PK\x03\x04"):
        archive = Archive(source)
        return File(
            source, "zip", frozenset(archive.names), archive=archive, sibling_documents=siblings
        )
    if data.startswith(b"PAR1"):
        return File(
            source, "parquet", frozenset(parquet_keys(source.path)), sibling_documents=siblings
        )
    try:
        text, sound = data.decode(), True
    except UnicodeDecodeError:
        text, sound = data.decode(errors="replace"), False
    text = text.removeprefix("\ufeff")
    start = text.lstrip()
    if start[:1] not in ("{", "["):
        return File(source, "other", frozenset(), text, sibling_documents=siblings)
    complete = len(data) < size
    form = "array" if start[0] == "[" else "object"
    # A complete document may also have one record per line, so it is parsed first. Damaged text and
    # repeated keys are left to the readers, which name the place.
    document = documents.parse_document(text) if complete and sound else None
    begun = document
    if begun is None and start[0] == "{" and (begun := _first_record(start, complete)):
        form = "lines"
    begun = documents.parse_beginning(text) if begun is None else begun
    keys = frozenset(documents.key_names(begun))
    return File(source, form, keys, text, begun, document, sibling_documents=siblings)


def _first_record(start: str, complete: bool) -> dict[str, Any] | None:
    """The first line that is a record; None if the lines are not records.

    A document of a single line does not count, because a harness may have written it as a document.
    """
    texts = start.split("\n")
    texts = [line for line in (texts if complete else texts[:-1]) if line.strip()]
    if len(texts) < 2 and complete:
        return None
    # An indented record is part of a longer document.
    flush = (line.rstrip() for line in texts[:_TRIED_LINES] if not line[0].isspace())
    for line in flush:
        record = json_or_none(line) if line[0] == "{" and line[-1] == "}" else None
        if isinstance(record, dict):
            return record
    return None


@dataclass(slots=True)
class Row:
    """One attempt.

    task : the name that the harness uses.
    outcome : True, False, or None if there is none; a number if the harness has no rule for what
        passes. A value that cannot be understood stays as it is, so that it is refused with its
        place.
    score : the number from the harness, if any; `--threshold` judges it instead of the outcome.
    attempt : its number or name within the run, if it has one; the same number twice is a repeat.
    reason : why there is no outcome, or why the attempt failed: "error", "timeout",
        "infrastructure", "not attempted" ….  unjudged : the reason if there is no outcome and no
        other reason.
    model, suite : given if they differ from row to row.
    settings : temperature, prompt, filter … by name.  answer, solution : texts of the model.
    place : its position in the file, for example "line 7" or the name of a member.
    record : the record of the harness, from which `Format.read_amounts` reads costs and tokens.
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
    """What a reader wants to know about the attempts of a file.

    outcome : one of the outcomes of the file.
    texts : "answer" or "solution", if these texts are needed.
    skip_bad : whether to skip lines that are not records; `skipped` counts them.
    messages : messages found while reading the rows; they are added to those of the contents.
    """

    outcome: str = ""
    texts: frozenset[str] = frozenset()
    skip_bad: bool = True
    skipped: int = 0
    messages: list[Diagnostic] = field(default_factory=list)


@dataclass(frozen=True)
class Contents:
    """The attempts of one file.

    rows : yields the attempts in the order of the file, one at a time; a generic format yields
        records with their own columns.
    outcomes : the choices for `--outcome`; a single one is chosen automatically.  None if no
        attempt was judged, so that the file fits any outcome.
    facts : values that are constant in the file: model, suite, run, temperature …  Runs of one
        model are joined. A suite is named if its task ids are not unique without it. In a generic
        format the facts are columns for records that lack them; they are complete after the rows
        were read.
    messages : what a reader of the numbers should know about the file.
    verdict : the outcome that the harness itself calls passing; the default choice.
    order : tasks in the shuffled order in which the run took them; empty if it was not shuffled.
    """

    rows: Callable[[RowRequest], Iterable[Row] | Iterable[Record]]
    outcomes: tuple[str, ...] | None = ("outcome",)
    facts: Mapping[str, object] = field(default_factory=dict)
    messages: Sequence[Diagnostic] = ()
    verdict: str | None = None
    order: Sequence[object] = ()


class Example(NamedTuple):
    """A small file of a format, in the layout of its harness, without the keys that passk ignores.

    The values are invented. A test runs the command of each example.
    paths : where such files are, with capitals for the parts that differ; the first is the path of
        `text`.  text : the content of the file; a packed or binary file is written as JSON.
    arguments : the arguments of `passk estimate`, if they differ from the first path.
    instead : what to do with a file that is refused.
    """

    paths: tuple[str, ...]
    text: str
    arguments: str = ""
    instead: str = ""

    @property
    def usage(self) -> str:
        """The command that reads the file, or what to do instead."""
        return self.instead or f"passk estimate {self.arguments or self.paths[0]}"


@dataclass(frozen=True)
class Format:
    """The files of one harness.

    name : for `--from` and for output.  rule : what counts as a pass, in one line.
    source : where the layout is documented, usually the source code that writes it.
    recognises : whether a file has this format, by its content; its name is only a hint.
    read_contents : reads the attempts.  Errors: DataError, also for files that cannot be used;
        NoResults if a file cannot contain attempts, so that it is skipped in a folder.
    example : a small file of this format.
    covers : globs, from the folder of the file, for files that repeat it or belong to it and must
        not be read as results; a function if they depend on the file.
    other_payers : who else causes costs in addition to the model, if files may not contain the
        amount.
    read_amounts : reads amounts from the record of a row: the usual name of an amount → the amount
        in the unit of that name, or None if unknown.  Called only if amounts are requested.
    generic : whether this is not the format of one harness: its rows are records, their columns
        have the usual names or those of `--field`, and `--outcome` names one of the columns.
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

        Errors: those of `read_contents`; DataError if a constant value is a list or an object.
        """
        contents = self.read_contents(file)
        for name, value in contents.facts.items():
            if isinstance(value, list | dict):
                require_type(file, name, value, str)
        return contents

    @property
    def kind(self) -> str:
        """ "harness", "refused", or "general" for files that no particular harness writes."""
        if self.generic:
            return "general"
        return "refused" if self.rule.startswith("refused") else "harness"


def single_outcome_reader(
    rows: Callable[[File, RowRequest], Iterable[Row]],
) -> Callable[[File], Contents]:
    """A reader for files with one outcome and without further facts."""
    return lambda file: Contents(lambda request: rows(file, request))


def contents_by_scorer(
    judged_attempts: Callable[[], JudgedAttempts], verdict: str | None = None, **fields: Any
) -> Contents:
    """The contents of files with several named scorers per attempt: each scorer is an outcome.

    judged_attempts : yields the attempts.  A scorer that an attempt lacks did not judge it, and an
        attempt with a reason has no outcome.
    verdict, fields : fields of `Contents`.
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
    """A text unchanged, and any other value as JSON with sorted keys."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def amount_reader(**paths: str) -> Callable[[Any], Mapping[str, object]]:
    """A function that reads amounts: amount → the dotted path to it in the record of a row.

    >>> amount_reader(tokens_in="usage.input", turns="steps")({"usage": {"input": 30}})
    {'tokens_in': 30, 'turns': None}
    """
    ways = {name: path.split(".") for name, path in paths.items()}
    return lambda record: {name: nested_value(record, *way) for name, way in ways.items()}


def number_attempts(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows with attempt numbers that follow their order in the file, counted per task."""
    times: Counter[str] = Counter()
    for row in rows:
        task = str(row.task)
        row.attempt = times[task]
        times[task] += 1
        yield row


def nested_value(value: Any, *keys: str | int) -> Any:
    """The value below these keys and list positions; None if there is none.

    >>> nested_value({"a": [{"b": 1}]}, "a", 0, "b"), nested_value({"a": None}, "a", "b")
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
    """A finite number as float; None for everything else, also for NaN, True and False.

    >>> finite_number(0.5), finite_number(float("nan")), finite_number(True), finite_number("1")
    (0.5, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= sys.float_info.max else None


def seconds_between(start: Any, end: Any) -> float | None:
    """Seconds between two times in ISO 8601; None if one of them is not a time, or only one has a
    zone.

    >>> seconds_between("2026-01-31T12:00:00Z", "2026-01-31T12:01:30.5+00:00")
    90.5
    """
    try:
        return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    except (TypeError, ValueError):
        return None


def require_type(file: File, place: str, value: Any, kind: type[Value]) -> Value | None:
    """The value at this place, or None if the harness wrote nothing there.

    place : the place in the document.  kind : the expected type.
    Errors: DataError for a value of another type; it names the file, the place and the type.
    """
    if value is None or (isinstance(value, kind) and not (kind is int and value is True)):
        return value
    problem = f"{place} is {shortened(json.dumps(value, default=str))}; expected {_TYPES[kind]}"
    raise BadRecordError(file.source.name, problem, "correct the file")


def require_list(file: File, place: str, value: Any) -> list[Any]:
    """The list at this place, or [] if the harness wrote nothing there.

    Errors: those of `require_type`.
    """
    return require_type(file, place, value, list) or []


def judge_score(value: Any, passes: Callable[[float], bool]) -> tuple[object, float | None]:
    """(outcome, score) of a value that should be a score, with the rule of the harness.

    A value that is not a number is returned unchanged. A missing value and NaN give no outcome.

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
    """(outcome, score) of a value without a rule of the harness: 1 passes and 0 fails.

    Other numbers are returned as outcome, so that the reader asks for a threshold.

    >>> judge_binary(1.0), judge_binary(0.5), judge_binary("high"), judge_binary(float("nan"))
    ((True, 1.0), (0.5, 0.5), ('high', None), (None, None))
    """
    outcome, score = judge_score(value, bool)
    return (score if score not in (None, 0.0, 1.0) else outcome), score


def choose_outcome(place: str, requested: str | None, outcomes: Sequence[str]) -> str:
    """The outcome to read: the requested one, or the only one.

    Errors: DataError if the requested outcome does not exist, or if several exist and none is
    requested.
    """
    if requested in outcomes:
        return str(requested)
    names = ", ".join(map(shortened, outcomes))
    if not outcomes:
        raise DataError(
            place,
            "this file contains no outcome",
            "check whether it was scored",
            name="no-such-outcome",
        )
    if requested is not None:
        problem = f"no outcome {shortened(requested)!r}"
        raise DataError(
            place, problem, did_you_mean_or_list(requested, outcomes), name="no-such-outcome"
        )
    if len(outcomes) > 1:
        problem = f"the file has {len(outcomes)} outcomes: {names}"
        settles = [SuggestedFix({"--outcome": name}) for name in outcomes[:3]]
        raise DataError(place, problem, name="several-outcomes", settles=settles)
    return outcomes[0]
