"""The classes and functions that all formats share, such as `File`, `Row` and `Format`."""

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
from passk_cli.files.database import (
    NO_HIVE_PARTITIONING_SQL,
    parquet_column_and_field_names,
    quote_name,
    shared_connection,
)
from passk_cli.files.sources import json_documents
from passk_cli.files.sources.archive import ZipArchive
from passk_cli.files.sources.source import (
    Source,
    damaged_parquet_error,
    detect_compression,
    json_or_none,
    numbered_lines,
    object_with_unique_keys,
    open_bytes,
    parse_record_or_return_error,
)
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list
from passk_cli.text import truncated_text

INCOMPLETE_RUN_WARNING = DiagnosticType(
    "incomplete-run", WARNING, "the run lists {listed:attempt}, but the file contains {held}",
    meaning="The file records how many attempts belong to the run, but contains a different number"
    " of attempts.",
    why="The run was stopped or is still going on, or files are missing. Slow or difficult attempts"
    " are most likely to be missing, so the estimates may be too high.",
    advice="Wait until the run is complete, or give all files of the run.",
    example="warning[incomplete-run]: the run lists 300 attempts, but the file contains 287",
)  # fmt: skip

_START_BYTES, _LONG_START_BYTES, _MAX_KEPT_CHARACTERS = 1 << 16, 1 << 23, 1 << 14
# passk looks for the first JSON record in at most _MAX_RECORD_SEARCH_LINES lines.
_MAX_RECORD_SEARCH_LINES = 20
# passk reads Parquet files in batches of _PARQUET_BATCH_ROWS rows.
_PARQUET_BATCH_ROWS = 1 << 10
# A sibling file has at most _MAX_SIBLING_BYTES bytes, because passk loads sibling files into memory
# completely.
_MAX_SIBLING_BYTES = 1 << 26
Record = Mapping[str, Any]
ValueType = TypeVar("ValueType")
# OutcomeAndScoreByScorer maps each scorer to the outcome and the score of one attempt.
# JudgedAttempts yields one OutcomeAndScoreByScorer per attempt, with further arguments for `Row`.
OutcomeAndScoreByScorer = dict[str, tuple[object, float | None]]
JudgedAttempts = Iterator[tuple[OutcomeAndScoreByScorer, dict[str, Any]]]
_TYPE_PHRASES: dict[type, str] = {
    list: "a list",
    dict: "an object",
    str: "a text",
    int: "a whole number",
}


@dataclass(eq=False)
class File:
    """A file before passk reads the attempts, with the keys that identify the format of the file.

    structure : "lines" (one JSON record per line), "object" (a JSON object), "array" (a JSON
        array), "zip", "parquet" or "other".
    keys : the dotted keys of a document, with [] for the first element of a list, for example
        "results[].is_resolved" or "[].task_id". In a file of lines, `keys` contains the keys of the
        first record. In a zip, `keys` contains the names of the members. In a Parquet file, `keys`
        contains the columns and their fields.
    start_text : the beginning of the file.
    start_value : the JSON value at the beginning of the file, even if this value is incomplete.
    short_document : the complete document if it is short, otherwise None.
    archive : the members of a zip.
    sibling_documents : maps the paths of JSON files near this file to their contents, so that each
        file is parsed only once.
    """

    source: Source
    structure: str
    keys: frozenset[str]
    start_text: str = field(default="", repr=False)
    start_value: Any = field(default=None, repr=False)
    short_document: Any = field(default=None, repr=False)
    archive: ZipArchive | None = None
    sibling_documents: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def path(self) -> PurePosixPath:
        """The absolute path of the file. A path is only a hint and never proves a format."""
        return PurePosixPath(os.path.abspath(self.source.name))

    @property
    def name(self) -> str:
        """The name of the file without folders and without .gz or .zst."""
        return self.path.name.removesuffix(".gz").removesuffix(".zst")

    def has_keys(self, *keys: str) -> bool:
        """Whether the file has all of the given keys."""
        return self.keys.issuperset(keys)

    def document(self, *streamed: str) -> dict[str, Any]:
        """The JSON object in this file, without the top-level keys in `streamed`.

        Errors: DataError if the file is not a JSON object.
        """
        if isinstance(self.short_document, dict):
            return {key: value for key, value in self.short_document.items() if key not in streamed}
        with open_bytes(self.source) as stream:
            return json_documents.top_level_object_without_keys(stream, streamed, self.source.name)

    def records(self, *keys: str, adjacent_values: dict[str, Any] | None = None) -> Iterator[Any]:
        """Yield the elements of the list that the given keys lead to, one at a time.

        Without keys, the method yields the elements of an array, or the records of a file of lines.

        adjacent_values : a dict to which this method adds the values next to the list. In a long
            document, the method adds only the first element of a list.
        Errors: DataError if the file is not JSON.
        """
        if self.short_document is None:
            with open_bytes(self.source) as stream:
                yield from json_documents.list_elements(
                    stream, keys, adjacent_values, self.source.name
                )
            return
        value = self.short_document
        for key in keys:
            fields = value if isinstance(value, dict) else {}
            if adjacent_values is not None:
                adjacent_values |= {name: inner for name, inner in fields.items() if name != key}
            value = fields.get(key)
        if isinstance(value, list):
            yield from value
        elif not keys:
            yield value

    def object_members(self, *keys: str) -> Iterator[tuple[str, Any]]:
        """Yield the (key, value) pairs of the object that the given keys lead to, one at a time.

        Errors: DataError if the file is not JSON, or if a key occurs twice.
        """
        with open_bytes(self.source) as stream:
            yield from json_documents.object_members(stream, keys, self.source.name)

    def numbered_records(
        self, request: RowRequest | None = None
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield each line that contains a JSON record, as (line number, record).

        Errors: DataError for a line without a JSON record, unless the request skips bad lines.
        """
        request = request or RowRequest()
        for number, text in numbered_lines(self.source):
            record = parse_record_or_return_error(
                text, f"{self.source.name}:{number}", object_with_unique_keys
            )
            if not isinstance(record, DataError):
                yield number, record
            elif request.skip_bad:
                request.skipped_lines += 1
            else:
                raise record

    def parquet_row_tuples(self, *columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        """Yield the values of columns, or of nested fields, for each row of a Parquet file.

        columns : the path from each column to its requested field, for example ("doc", "id").
        Errors: DataError for a damaged file.
        """
        import duckdb

        selected = ", ".join(".".join(map(quote_name, column)) for column in columns)
        statement = f"SELECT {selected} FROM read_parquet($p{NO_HIVE_PARTITIONING_SQL})"
        try:
            rows = shared_connection().execute(statement, {"p": self.source.path})
            while batch := rows.fetchmany(_PARQUET_BATCH_ROWS):
                yield from batch
        except duckdb.Error as error:
            raise damaged_parquet_error(self.source, str(error)) from None

    def sibling_document(self, relative: str) -> Any:
        """The content of another JSON file. The path in `relative` starts at the folder of this
        file.

        The result is None if the other file does not exist, is too long, or cannot be read. passk
        never opens pipes and devices as sibling files, because reading them can block or never end.
        """
        path = os.path.normpath(self.path.parent / relative)
        if path not in self.sibling_documents:
            self.sibling_documents[path] = None
            if os.path.isfile(path) and os.path.getsize(path) <= _MAX_SIBLING_BYTES:
                with suppress(OSError, ValueError, RecursionError), open(path, "rb") as file:
                    self.sibling_documents[path] = json.load(file)
        return self.sibling_documents[path]

    def sibling_names(self, pattern: str) -> list[str]:
        """The sorted names of the files that match a pattern relative to this file's folder."""
        folder = Path(self.path.parent)
        names = glob.glob(pattern, root_dir=folder, recursive=True)
        return sorted(name for name in names if (folder / name).is_file())

    def sibling_files(self, pattern: str) -> Iterator[File]:
        """The files that match a pattern relative to this file's folder."""
        for name in self.sibling_names(pattern):
            path = str(self.path.parent / name)
            display_name = os.path.join(os.path.dirname(self.source.name), name)
            with open(path, "rb") as file:
                packing = detect_compression(file.read(4))
            yield file_with_detected_structure(Source(path, display_name, None, packing))

    def without_text(self) -> File:
        """A copy of the file without its text, so that thousands of files fit into memory."""
        document = self.short_document if len(self.start_text) <= _MAX_KEPT_CHARACTERS else None
        return replace(self, start_text="", start_value=document, short_document=document)

    def with_longer_start(self) -> File:
        """A copy of the file with a longer beginning, for files in which a long value precedes the
        decisive keys."""
        if self.short_document is not None or self.structure not in ("object", "array"):
            return self
        return file_with_detected_structure(self.source, self.sibling_documents, _LONG_START_BYTES)


def file_with_detected_structure(
    source: Source, siblings: dict[str, Any] | None = None, size: int = _START_BYTES
) -> File:
    """Create the `File` for a source, and recognise the structure of the file from its first bytes.

    siblings : the dict `File.sibling_documents`.
    Errors: DataError if the bytes cannot be unpacked.
    """
    siblings = {} if siblings is None else siblings
    with open_bytes(source) as stream:
        data = stream.read(size)
    if data.startswith(b"PK\x03\x04"):
        archive = ZipArchive(source)
        names = frozenset(archive.names)
        return File(source, "zip", names, archive=archive, sibling_documents=siblings)
    if data.startswith(b"PAR1"):
        columns = frozenset(parquet_column_and_field_names(source.path))
        return File(source, "parquet", columns, sibling_documents=siblings)
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
    # The text is parsed as one document first, because a line of a document may look like a record.
    # If the text is damaged or repeats a key, a later step reports the place.
    document = json_documents.parse_document_or_none(text) if complete and sound else None
    begun = document
    if begun is None and start[0] == "{" and (begun := _first_record(start, complete)):
        form = "lines"
    begun = json_documents.parse_beginning(text) if begun is None else begun
    keys = frozenset(json_documents.key_names(begun))
    return File(source, form, keys, text, begun, document, sibling_documents=siblings)


def _first_record(start: str, complete: bool) -> dict[str, Any] | None:
    """The first record in a file of lines, or None if the lines are not records.

    The result is None if the file has only one line, because this line may be a document.
    """
    texts = start.split("\n")
    texts = [line for line in (texts if complete else texts[:-1]) if line.strip()]
    if len(texts) < 2 and complete:
        return None
    flush = (line.rstrip() for line in texts[:_MAX_RECORD_SEARCH_LINES] if not line[0].isspace())
    for line in flush:
        record = json_or_none(line) if line[0] == "{" and line[-1] == "}" else None
        if isinstance(record, dict):
            return record
    return None


@dataclass(slots=True)
class Row:
    """One attempt by a model at a task, in the words of the harness that wrote the file.

    task : the name of the task in the harness.
    outcome : True for a pass, False for a failure, or None for a missing outcome. If the harness
        does not define which score passes, the outcome is a number. A later check reports any other
        value with its place.
    score : the score from the harness. With `--threshold`, the score decides whether the attempt
        passes.
    attempt : the number or name of the attempt within the run. Attempts at the same task must have
        different numbers or names.
    reason : why the outcome is missing, or why the attempt failed: "error", "timeout",
        "infrastructure", "not attempted" ….
    default_missing_reason : the reason if the outcome is missing and `reason` is empty.
    model, suite : the model and the suite, given only if they differ between the rows of a file.
    settings : maps settings, for example temperature, prompt and filter, to their values.
    answer, solution : texts that the model wrote.
    place : the position in the file, for example "line 7" or the name of a member.
    record : the harness's record, from which `Format.read_usage_amounts` reads costs and tokens.
    """

    task: object
    outcome: object
    score: float | None = None
    attempt: object = None
    reason: str = ""
    default_missing_reason: str = "unscored"
    model: str | None = None
    suite: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    answer: object = None
    solution: object = None
    place: str = ""
    record: object = None

    def __post_init__(self) -> None:
        if self.outcome is None and not self.reason:
            self.reason = self.default_missing_reason


@dataclass
class RowRequest:
    """A request for the attempts of a file.

    outcome : the name of the requested outcome.
    requested_texts : which texts to read: "answer", "solution" or both.
    skip_bad : whether to skip lines that are not records.
    skipped_lines : the number of lines skipped so far.
    messages : messages about problems that appear only while the rows are read.
    """

    outcome: str = ""
    requested_texts: frozenset[str] = frozenset()
    skip_bad: bool = True
    skipped_lines: int = 0
    messages: list[Diagnostic] = field(default_factory=list)


@dataclass(frozen=True)
class Contents:
    """The attempts in one file, and the facts that the file contains about the attempts.

    rows : a function that yields the attempts one at a time, in the order of the file. For a
        generic format, the function yields records with the columns of the file.
    outcome_names : the choices for `--outcome`. If there is only one choice, passk uses it. If no
        attempt was judged, `outcome_names` is None, and the file accepts any `--outcome`.
    constants : values that are the same for all attempts in the file, such as the model, the suite,
        the run or the temperature.  passk joins the runs of one model, and adds the suite to task
        ids that are not unique. In a generic format, `constants` contains columns for records that
        lack these columns, and is complete only after the rows were read.
    messages : messages about the file that a user should see.
    default_outcome : the outcome that the harness itself uses as the verdict, and the default for
        `--outcome`.
    tasks_as_attempted_if_shuffled : the tasks in the order in which the run attempted them, if the
        run shuffled the tasks. Otherwise, the list is empty.
    """

    rows: Callable[[RowRequest], Iterable[Row] | Iterable[Record]]
    outcome_names: tuple[str, ...] | None = ("outcome",)
    constants: Mapping[str, object] = field(default_factory=dict)
    messages: Sequence[Diagnostic] = ()
    default_outcome: str | None = None
    tasks_as_attempted_if_shuffled: Sequence[object] = ()


class Example(NamedTuple):
    """A small example file of a format, in the layout of the harness. Keys that passk ignores are
    left out.

    The content is invented. A test runs the command of each example.

    paths : typical paths of files in this format, with placeholders in capitals. The first path is
        the path of the file that contains `text`.
    text : the content of the file, shown as JSON if the file is packed or binary.
    arguments : the arguments of `passk estimate`, if these arguments differ from the first path.
    alternative : what the user can do instead, if passk refuses the format.
    """

    paths: tuple[str, ...]
    text: str
    arguments: str = ""
    alternative: str = ""

    @property
    def usage(self) -> str:
        """The command that reads the file, or what the user can do instead."""
        return self.alternative or f"passk estimate {self.arguments or self.paths[0]}"


@dataclass(frozen=True)
class Format:
    """A file format, with functions that recognise its files and read their attempts.

    name : the name of the format in `--from` and in output.
    pass_rule : what counts as a pass, in one line.
    layout_documentation : the documentation of the layout, usually the source code that writes it.
    recognises : a function that decides whether a file has this format. The function decides from
        the content of the file, because file names are only hints.
    read_contents : a function that reads the attempts. The function raises DataError for an
        unusable file, or FileWithoutResultsError for a file without attempts. In a folder, passk
        skips a file without attempts.
    example : a small file of this format.
    ignored_siblings : glob patterns for files that passk does not read as results, because they
        repeat a result file or belong to it. The patterns are relative to the folder of the result
        file. A function may also return the patterns for a given result file.
    cost_causes_besides_model : sources of costs in addition to the model, such as a judge, if
        result files may lack the costs of these sources.
    read_usage_amounts : a function that returns the amounts in the record of a row. The function
        maps the usual name of each amount, such as duration_ms, to the amount in the unit of this
        name. An unknown amount is None.
    is_generic : true for a format that does not belong to one harness. The rows of a generic format
        are records with usual column names or names from `--field`. For a generic format,
        `--outcome` names a column.
    """

    name: str
    pass_rule: str
    layout_documentation: str
    recognises: Callable[[File], bool]
    read_contents: Callable[[File], Contents]
    example: Example = field(kw_only=True)
    ignored_siblings: tuple[str, ...] | Callable[[File], tuple[str, ...]] = ()
    read_usage_amounts: Callable[[Any], Mapping[str, object]] | None = None
    cost_causes_besides_model: str = ""
    is_generic: bool = False

    def contents(self, file: File) -> Contents:
        """The attempts in a file, and the facts that the file contains about the attempts.

        Errors: the errors of `read_contents`, and DataError if a constant value is a list or an
        object.
        """
        contents = self.read_contents(file)
        for name, value in contents.constants.items():
            if isinstance(value, list | dict):
                require_type(file, name, value, str)
        return contents

    @property
    def kind(self) -> str:
        """The kind of the format: "harness", "refused", or "general" (not from one harness)."""
        if self.is_generic:
            return "general"
        return "refused" if self.pass_rule.startswith("refused") else "harness"


def reader_of_outcome_per_attempt(
    rows: Callable[[File, RowRequest], Iterable[Row]],
) -> Callable[[File], Contents]:
    """Return a reader for files that contain one outcome per attempt and no facts about the run."""
    return lambda file: Contents(lambda request: rows(file, request))


def contents_with_scorer_outcomes(
    judged_attempts: Callable[[], JudgedAttempts],
    verdict: str | None = None,
    facts: Mapping[str, object] | None = None,
    messages: Sequence[Diagnostic] = (),
) -> Contents:
    """The contents of a file with several named scorers per attempt. passk offers each scorer as an
    outcome.

    judged_attempts : a function that yields the attempts. An outcome is missing if its scorer did
        not judge the attempt, or if the attempt has a reason for a missing outcome.
    verdict, facts, messages : fields of `Contents`.
    """
    names = {name: None for judgements, _ in judged_attempts() for name in judgements}

    def rows(request: RowRequest) -> Iterator[Row]:
        for judgements, about in judged_attempts():
            outcome, score = judgements.get(request.outcome, (None, None))
            if about.get("reason"):
                outcome = score = None
            yield Row(outcome=outcome, score=score, **about)

    first = () if verdict is None else (verdict,)
    return Contents(rows, tuple(dict.fromkeys((*first, *names))), facts or {}, messages, verdict)


def as_text(value: Any) -> str:
    """The value itself if it is a string, or otherwise the value as JSON with sorted keys."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def build_usage_amount_reader(**paths: str) -> Callable[[Any], Mapping[str, object]]:
    """Return a function that reads amounts from a record, given the dotted path of each amount.

    >>> build_usage_amount_reader(tokens_in="usage.input", turns="steps")({"usage": {"input": 30}})
    {'tokens_in': 30, 'turns': None}
    """
    ways = {name: path.split(".") for name, path in paths.items()}
    return lambda record: {name: value_at_key_path(record, *way) for name, way in ways.items()}


def number_attempts_per_task(rows: Iterable[Row]) -> Iterator[Row]:
    """Number the attempts at each task, in the order of the file."""
    times: Counter[str] = Counter()
    for row in rows:
        task = str(row.task)
        row.attempt = times[task]
        times[task] += 1
        yield row


def value_at_key_path(value: Any, *keys: str | int) -> Any:
    """The value at a path of keys and list positions. The result is None if a key or a position
    does not exist.

    >>> value_at_key_path({"a": [{"b": 1}]}, "a", 0, "b"), value_at_key_path({"a": None}, "a", "b")
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
    """A finite number as float, or None for every other value, including NaN, True and False.

    >>> finite_number(0.5), finite_number(float("nan")), finite_number(True), finite_number("1")
    (0.5, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= sys.float_info.max else None


def seconds_between(start: Any, end: Any) -> float | None:
    """The number of seconds between two times in ISO 8601 format.

    The result is None if a value is not a time, or if only one of the times has a time zone.

    >>> seconds_between("2026-01-31T12:00:00Z", "2026-01-31T12:01:30.5+00:00")
    90.5
    """
    try:
        return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    except (TypeError, ValueError):
        return None


def require_type(file: File, place: str, value: Any, kind: type[ValueType]) -> ValueType | None:
    """Return the value if it has the expected type, or None if the harness did not write a value.

    place : the position of the value in the document.
    kind : the expected type of the value.
    Errors: DataError for a value of another type. The error names the file, the place and the type.
    """
    if value is None or (isinstance(value, kind) and not (kind is int and value is True)):
        return value
    problem = (
        f"{place} is {truncated_text(json.dumps(value, default=str))}; expected"
        f" {_TYPE_PHRASES[kind]}"
    )
    raise BadRecordError(file.source.name, problem, "correct the file")


def require_list(file: File, place: str, value: Any) -> list[Any]:
    """Return the value if it is a list, or [] if the harness did not write a value.

    Errors: DataError for any other value (see `require_type`).
    """
    return require_type(file, place, value, list) or []


def judge_by_harness_pass_rule(
    value: Any, passes: Callable[[float], bool]
) -> tuple[object, float | None]:
    """Return (outcome, score) for a value that should be a score. The function `passes` is the pass
    rule of the harness.

    A value that is not a number is returned unchanged as the outcome. If the value is None or NaN,
    the outcome is missing.

    >>> judge_by_harness_pass_rule(0.5, lambda score: score == 1)
    (False, 0.5)
    >>> judge_by_harness_pass_rule(None, bool)
    (None, None)
    >>> judge_by_harness_pass_rule("high", bool)
    ('high', None)
    """
    if isinstance(value, bool):
        return value, float(value)
    score = finite_number(value)
    if score is not None:
        return passes(score), score
    return (None, None) if value != value else (value, None)


def judge_without_harness_pass_rule(value: Any) -> tuple[object, float | None]:
    """Return (outcome, score) for a value if the harness has no pass rule: 1 passes and 0 fails.

    Any other number becomes the outcome itself, so that passk asks for a threshold later.

    >>> [judge_without_harness_pass_rule(value) for value in (1.0, 0.5, "high", float("nan"))]
    [(True, 1.0), (0.5, 0.5), ('high', None), (None, None)]
    """
    outcome, score = judge_by_harness_pass_rule(value, bool)
    return (score if score not in (None, 0.0, 1.0) else outcome), score


def choose_outcome(place: str, requested: str | None, outcomes: Sequence[str]) -> str:
    """Choose the outcome to read: the requested outcome, or the only outcome in the file.

    Errors: DataError if the requested outcome does not exist, or if the file has several outcomes
    and none is requested.
    """
    if requested in outcomes:
        return str(requested)
    names = ", ".join(map(truncated_text, outcomes))
    if not outcomes:
        problem, remedy = "the file contains no outcome", "check whether its attempts were scored"
        raise DataError(place, problem, remedy, name="no-such-outcome")
    if requested is not None:
        problem = f"the file contains no outcome {truncated_text(requested)!r}"
        remedy = did_you_mean_or_list(requested, outcomes)
        raise DataError(place, problem, remedy, name="no-such-outcome")
    if len(outcomes) > 1:
        problem = f"the file has {len(outcomes)} outcomes: {names}"
        settles = [SuggestedFix({"--outcome": name}) for name in outcomes[:3]]
        raise DataError(place, problem, name="several-outcomes", settles=settles)
    return outcomes[0]
