"""Detect the layout of files and the roles of their columns, and group similar files in batches."""

from __future__ import annotations

import io
import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

import duckdb

from passk_cli.diagnostic import WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError, FileWithoutResultsError, ParameterError, PasskError
from passk_cli.files.database import (
    FILE_COLUMN,
    NO_HIVE_PARTITIONING_SQL,
    parquet_column_and_field_names,
    shared_connection,
)
from passk_cli.files.reading.condition import names_in_condition
from passk_cli.files.reading.layout import Batch, FileStorageLayout
from passk_cli.files.reading.non_result_files import (
    PossibleResultsExcludedError,
    without_non_results,
)
from passk_cli.files.reading.records import first_bad_record_error
from passk_cli.files.request import Request
from passk_cli.files.roles import (
    CONVERTED_TABLE_COLUMNS,
    LINE_NUMBER_AS_TASK,
    PASSK_OUTPUT_COLUMNS,
    ROLES,
    ColumnRoles,
    absent_identifying_columns,
    assign_roles,
    columns_named_for_roles,
    find_column_and_keys,
    first_key,
    usual_columns,
    without_absent_identifying_fields,
)
from passk_cli.files.sources.arguments import model_names
from passk_cli.files.sources.memory import category_orders, column_names, index_hint, register_table
from passk_cli.files.sources.path_templates import path_columns
from passk_cli.files.sources.source import (
    HEAD_BYTES,
    JSON_OBJECTS_SQL,
    Source,
    contains_text,
    damaged_parquet_error,
    first_bytes,
    json_objects_parameters,
    json_or_none,
    numbered_delimited_rows,
    refuse_binary,
    text_value_kind,
    type_kind,
)
from passk_cli.limits import MOST_COLUMNS
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix
from passk_cli.text import first_few, plural

DELIMITERS_BY_TABLE_FORMAT = {"csv": ",;|", "tsv": "\t"}
_MAX_FIRST_RECORDS = 100
_SHELL_ASSIGNMENT_PATTERN = re.compile(r"(export )?\w+=")
_NUMERIC_SQL_TYPE_PATTERN = re.compile("U?(TINY|SMALL|BIG|HUGE)?INT|FLOAT|DOUBLE|DECIMAL")
EMPTY_FILES_WARNING = DiagnosticType(
    "empty-files", WARNING,
    "passk skipped {count:empty file}: {files}",
    meaning="passk skipped files without content, because you used --skip-bad.",
    why="An empty file often comes from a run that crashed before it wrote the first result. The"
    " attempts of a crashed run are missing from the result.",
    advice="Run the crashed evaluations again, or remove the empty files.",
    example="warning[empty-files]: passk skipped 2 empty files: run3.jsonl, run7.jsonl",
)  # fmt: skip


@dataclass(eq=False, repr=False)
class NormalizedFiles:
    """The JSON Lines files to which passk wrote the rows of files in known formats, with messages.

    batches : the batches of JSON Lines files.
    paths_without_model : paths of files that do not contain the name of a model.
    files_by_message : maps each message to the names of the files that caused it.
    missing_reason_counts : maps each model to the reasons for its missing outcomes, with the number
        of attempts per reason.
    skipped_line_count : the number of lines that passk skipped.
    first_file_by_task_name_kind : maps "number" and "text" to the first file with task names of
        this kind.
    outcome_names_by_format : maps each format to the outcome names that --outcome accepts.
    amount_names_by_format : maps each format to the names of costs and other amounts in the files.
    run_count_by_model : maps each model with several runs to the number of runs that passk
        combined.
    empty_files : names of empty files that passk skipped.
    files_without_requested_outcome : files of a folder that do not contain the requested outcome.
    known_format_errors : errors for skipped files that have a known format.
    skipped_file_errors : errors for all skipped files.
    attempted_task_orders : the orders in which runs attempted the tasks, if the files contain these
        orders.
    """

    batches: list[Batch] = field(default_factory=list)
    paths_without_model: set[str] = field(default_factory=set)
    files_by_message: dict[Diagnostic, list[str]] = field(default_factory=dict)
    missing_reason_counts: dict[str, Counter[str]] = field(default_factory=dict)
    skipped_line_count: int = 0
    first_file_by_task_name_kind: dict[str, str] = field(default_factory=dict)
    outcome_names_by_format: dict[str, dict[str, None]] = field(default_factory=dict)
    amount_names_by_format: dict[str, dict[str, None]] = field(default_factory=dict)
    run_count_by_model: dict[str, int] = field(default_factory=dict)
    empty_files: list[str] = field(default_factory=list)
    files_without_requested_outcome: list[str] = field(default_factory=list)
    known_format_errors: list[FileWithoutResultsError] = field(default_factory=list)
    skipped_file_errors: list[FileWithoutResultsError] = field(default_factory=list)
    attempted_task_orders: set[tuple[str, ...]] = field(default_factory=set)

    @property
    def messages(self) -> tuple[Diagnostic, ...]:
        """The messages about files. Each message names all files that it concerns."""
        file_messages = (
            message.with_prefix(first_few(names))
            for message, names in self.files_by_message.items()
        )
        empty = (
            [EMPTY_FILES_WARNING(count=len(self.empty_files), files=self.empty_files)]
            if self.empty_files
            else []
        )
        return (*file_messages, *empty)

    def add_task_name_kinds(self, source: Source, kinds: Iterable[str]) -> None:
        """Record the kinds of task names (numbers or text) that occur in a file."""
        for kind in kinds:
            self.first_file_by_task_name_kind.setdefault(kind, source.name)

    def skip_file_unless_explicit(self, source: Source, error: FileWithoutResultsError) -> None:
        """Skip a file in a folder. If the user named the file, raise the error instead."""
        if source.is_explicit and not isinstance(error, PossibleResultsExcludedError):
            raise error
        self.known_format_errors.append(error)


@dataclass(frozen=True, eq=False, repr=False)
class TablesAndNormalizedFiles:
    """All files to read, which are tables or files of known formats."""

    sources: Sequence[Source]
    tables: Sequence[Source]
    normalized_files: NormalizedFiles


def detect_batches(
    con: duckdb.DuckDBPyConnection,
    inputs: TablesAndNormalizedFiles,
    request: Request,
    *,
    to_the_end: bool,
) -> tuple[list[Batch], dict[str, str]]:
    """Group files in batches, and find a model name for each file that contains no model name.

    Files in folders are skipped and recorded in `inputs` if they contain no results.

    to_the_end : whether passk searches all records for columns, and not only the first records.
    Errors: DataError for files without results, or for repeated files.
    """
    attempts = inputs.normalized_files
    refused = len(attempts.known_format_errors)
    requested = [*request.by, *request.pool, *filter(None, [request.cluster])]
    requested += columns_named_for_roles(request.named_column_by_role)
    requested += names_in_condition(con, request.where) if request.where else []
    requested += request.conversion.extra_columns if request.conversion else ()
    nameless = {
        source.path
        for batch in attempts.batches
        for source in batch.sources
        if source.label is not None or source.path in attempts.paths_without_model
    }
    groups: dict[Any, list[tuple[FileStorageLayout, Source]]] = {}
    roles_by_kinds: dict[object, ColumnRoles] = {}
    for source in inputs.tables:
        try:
            layout = _table_storage_layout(con, source, request, requested, to_the_end)
            kinds = frozenset(
                (name, frozenset(value_kinds))
                for name, value_kinds in layout.kinds_by_column.items()
            )
            roles = roles_by_kinds.get(kinds) or table_roles(
                request, source.name, layout.kinds_by_column
            )
            roles_by_kinds[kinds] = roles
            if request.template is not None:
                require_path_matches_template(source, request, layout.kinds_by_column, roles)
        except FileWithoutResultsError as error:
            if source.frame is not None:
                remedy = error.words + index_hint(source.frame)
                raise error.with_changes(FileWithoutResultsError, remedy=remedy) from None
            attempts.skip_file_unless_explicit(source, error)
            continue
        if roles.model is None or source.label is not None:
            nameless.add(source.path)
        # Files with equal keys belong to one batch, because one SELECT can read all files of a
        # batch.
        columns = tuple(name for name, _ in layout.columns) if layout.kind == "csv" else ()
        form = (layout.kind, layout.compression, layout.delimiter, layout.table_name)
        key = (
            roles,
            *form,
            frozenset(layout.constant_columns),
            columns or frozenset(layout.kinds_by_column),
        )
        groups.setdefault(key, []).append((layout, source))
        if layout.kind not in ("csv", "frame"):
            attempts.add_task_name_kinds(source, layout.kinds_by_column.get(roles.task, ()))
    batches = [
        *attempts.batches,
        *(_batch_of_similar_files(key[0], files) for key, files in groups.items()),
    ]
    if len(inputs.sources) > 1:
        batches, strays = without_non_results(batches)
        attempts.known_format_errors += strays
    attempts.skipped_file_errors = [*attempts.known_format_errors]
    del attempts.known_format_errors[refused:]
    if batches:
        named_files = {source.name for source in inputs.sources if source.is_explicit}
        _require_options_to_fit_files(batches, request, attempts.skipped_file_errors, named_files)
    else:
        errors = sorted(
            attempts.skipped_file_errors,
            key=lambda error: not isinstance(error, PossibleResultsExcludedError),
        )
        first, *other_errors = errors
        more = (
            f" ({plural(len(other_errors), 'more file')} not read either)" if other_errors else ""
        )
        raise first.with_changes(DataError, problem=f"{first.problem}{more}")
    names = model_names(inputs.sources) if nameless else {}
    # If each file contains only one attempt, the model is named after the folder and not after the
    # file.
    record_files = {
        s.path for b in batches if b.layout.kind == "record" for s in b.sources if not s.label
    }
    folders = {path: os.path.dirname(os.path.abspath(path)) for path in record_files & nameless}
    several = Counter(folders.values())
    names |= {p: os.path.basename(f) or p for p, f in folders.items() if several[f] > 1}
    return batches, {path: names[path] for path in nameless}


def table_roles(request: Request, place: str, kinds: Mapping[str, set[str]]) -> ColumnRoles:
    """Find the roles of the columns in a table. In tables, the option --outcome names a column."""
    if kinds.keys() >= PASSK_OUTPUT_COLUMNS:
        raise FileWithoutResultsError(
            place,
            "this file is an output of passk, which contains no attempts",
            "give passk the result files from which this output was computed",
        )
    fields: dict[str, str] = {}
    if kinds.keys() >= set(CONVERTED_TABLE_COLUMNS):
        # If the user sets a threshold, passk compares the score with the threshold and ignores the
        # verdict column.
        fields = {role: role for role in CONVERTED_TABLE_COLUMNS if role in ROLES}
        fields["outcome"] = "outcome" if request.passing_score is None else "score"
    in_path = request.template.column_names if request.template is not None else ()
    fields |= {name: name for name in in_path if name in ROLES and name in kinds}
    fields |= (
        request.fields
        if request.is_mapped
        else without_absent_identifying_fields(request.fields, kinds)
    )
    if request.outcome is not None:
        if "outcome" in request.fields:
            raise ParameterError(
                OptionWithValue("--outcome", request.outcome),
                "a field also names the outcome; name the outcome only once",
                name="contradicting-options", settles=[SuggestedFix({"--outcome": None})],
            )  # fmt: skip
        fields["outcome"] = request.outcome
    if request.threshold and "score" in fields and "outcome" not in fields:
        fields["outcome"] = fields["score"]
    scores = [column for column in usual_columns("score", kinds) if column not in request.by]
    if request.conversion and "score" not in fields and len(scores) > 1:
        # If no option names the score column, the outcome column contains the score.
        other_roles = [role for role in request.required_attempt_facts if role != "score"]
        outcome = assign_roles(
            place, kinds, fields, other_roles, request.are_scores_left_unjudged, request.by
        ).outcome
        fields |= {"outcome": outcome, "score": outcome} if outcome else {}
    roles = request.required_attempt_facts
    try:
        return request.assign_roles(place, kinds, fields)
    except FileWithoutResultsError as error:
        without_kinds: dict[str, set[str]] = {
            c: {"text"} for c in absent_identifying_columns(request.fields, kinds)
        }
        if error.name == "no-such-column" and without_kinds:
            with_absent = {**kinds, **without_kinds}
            try:
                roles_with_absent = assign_roles(
                    place, with_absent, fields, roles, request.are_scores_left_unjudged, request.by
                )
            except FileWithoutResultsError:
                raise error from None
            raise PossibleResultsExcludedError(
                error, roles_with_absent.outcome or roles_with_absent.c
            ) from None
        raise


def require_path_matches_template(
    source: Source, request: Request, kinds: Mapping[str, set[str]], roles: ColumnRoles | None
) -> None:
    """Raise PossibleResultsExcludedError if the path of a file with results does not match --path.

    roles : roles of the columns, including columns from the path template, or None for a harness.
    """
    if request.template is None or request.template.column_values(source.name) is not None:
        return
    problem = f"the path of the file does not match {request.template.text}"
    remedy = "write * for parts that differ and **/ for folders, or leave the file out"
    error = FileWithoutResultsError(source.name, problem, remedy, name="bad-path")
    raise PossibleResultsExcludedError(error, None if roles is None else roles.outcome or roles.c)


def _require_options_to_fit_files(
    batches: Sequence[Batch],
    request: Request,
    passed_over: Iterable[FileWithoutResultsError],
    named_files: Collection[str],
) -> None:
    """Raise DataError if options exclude files with results, or if no file has a column that
    --field names.

    If an excluded file in a folder has a different outcome column, passk skips the file without an
    error.
    """
    outcomes = {None, *(batch.roles.outcome or batch.roles.c for batch in batches)}
    refused = [e for e in passed_over if isinstance(e, PossibleResultsExcludedError)
            and (e.outcome in outcomes or str(e.place) in named_files)]  # fmt: skip
    if refused:
        first = refused[0]
        names = [str(file_error.place) for file_error in refused if file_error.name == first.name]
        file_count = len(names) + sum(len(batch.sources) for batch in batches)
        several = f": {first_few(names)}" if len(names) > 1 else ""
        problem = f"{first.problem} ({len(names):,} of {file_count:,} files{several})"
        raise first.with_changes(DataError, problem=problem)
    for role, column in request.fields.items():
        if all(
            role not in without_absent_identifying_fields({role: column}, b.layout.kinds_by_column)
            for b in batches
        ):
            assign_roles(
                batches[0].sources[0].name, batches[0].layout.kinds_by_column, {role: column}
            )


def _table_storage_layout(
    con: duckdb.DuckDBPyConnection,
    source: Source,
    request: Request,
    columns: Sequence[str],
    to_the_end: bool,
) -> FileStorageLayout:
    if source.frame is not None:
        layout = _frame_layout(con, source)
        return replace(layout, joined_columns=request.joined_columns(layout.kinds_by_column))
    layout = detect_storage_layout(con, source, request.format, to_the_end=to_the_end)
    unseen = [
        c
        for c in columns
        if not layout.contains_all_columns
        and find_column_and_keys(c, layout.kinds_by_column) is None
    ]
    if any(contains_text(source, json.dumps(first_key(column))[:-1].encode()) for column in unseen):
        layout = detect_storage_layout(con, source, request.format, to_the_end=True)
    if len(layout.columns) > MOST_COLUMNS:
        raise DataError(
            source.name,
            f"the file has {len(layout.columns):,} columns, and passk reads at most"
            f" {MOST_COLUMNS:,}",
            "keep only the columns of the model, the task and the outcome",
        )  # fmt: skip
    if any(name == FILE_COLUMN for name, _ in layout.columns):
        problem = f"passk uses the column name {FILE_COLUMN!r} for the name of the file"
        raise DataError(source.name, problem, "rename the column", name="ambiguous-column")
    if request.template is not None or request.by:
        in_path = path_columns(source.name, request.template, request.by, layout.kinds_by_column)
        layout = replace(
            layout, constant_columns={name: {source.path: v} for name, v in in_path.items()}
        )
    if (
        request.skip_bad
        and layout.kind == "csv"
        and LINE_NUMBER_AS_TASK in request.named_column_by_role.values()
    ):
        raise ParameterError(
            OptionWithValue("--skip-bad"),
            f"{LINE_NUMBER_AS_TASK} cannot number rows if some rows are left out",
            name="contradicting-options", settles=[SuggestedFix({"--skip-bad": None})],
        )  # fmt: skip
    return replace(layout, joined_columns=request.joined_columns(layout.kinds_by_column))


def _batch_of_similar_files(
    roles: ColumnRoles, files: Sequence[tuple[FileStorageLayout, Source]]
) -> Batch:
    first = files[0][0]
    kinds: dict[str, frozenset[str]] = {name: frozenset() for name, _ in first.columns}
    constants: dict[str, dict[str, str]] = {}
    for layout, _ in files:
        for name, value_kinds in layout.columns:
            if name in kinds:
                kinds[name] |= value_kinds
        for name, values in layout.constant_columns.items():
            constants.setdefault(name, {}).update(values)
    joint = replace(
        first,
        columns=tuple(kinds.items()),
        contains_all_columns=all(layout.contains_all_columns for layout, _ in files),
        constant_columns=constants,
    )
    return Batch(joint, roles, tuple(source for _, source in files))


def _frame_layout(con: duckdb.DuckDBPyConnection, source: Source) -> FileStorageLayout:
    table = source.path.strip("<>")
    register_table(con, source.frame, table)
    require_distinct_names(source.name, column_names(source.frame))
    columns = columns_from_describe(con.execute(f"DESCRIBE SELECT * FROM {table}").fetchall())
    orders = category_orders(source.frame)
    return FileStorageLayout(
        "frame", "a DataFrame", columns, table_name=table, category_orders=orders
    )


def detect_storage_layout(
    con: duckdb.DuckDBPyConnection, source: Source, forced: str | None, *, to_the_end: bool = False
) -> FileStorageLayout:
    """Detect the layout of a file from its first bytes.

    forced : the format that --from names, or None.
    to_the_end : whether passk searches the whole file for columns, which takes as long as reading
        the file.
    Errors: DataError if the file is empty, binary or of an unknown kind.
    """
    start = first_bytes(source)
    if start[:4] == b"PAR1":
        return _parquet_layout(con, source)
    expected = "expected JSONL, CSV or Parquet"
    if not start.strip():
        raise FileWithoutResultsError(source.name, "the file is empty", expected)
    if forced == "parquet":
        settles = [SuggestedFix({"--from": None}, "detects the format")]
        raise DataError(
            source.name, "this is not a Parquet file", name="unknown-format", settles=settles
        )
    refuse_binary(source.name, start)
    try:
        text = start.decode()
    except UnicodeDecodeError as error:
        # The first bytes of a file may end in the middle of a multi-byte character.
        if error.start <= len(start) - 4:
            problem, remedy = f"byte {error.start + 1} is not UTF-8", "save the file as UTF-8"
            raise DataError(source.name, problem, remedy, name="bad-encoding") from None
        text = start[: error.start].decode()
    if not text.strip():
        problem = "the file contains only control characters"
        raise FileWithoutResultsError(source.name, problem, expected, name="unknown-format")
    if forced in DELIMITERS_BY_TABLE_FORMAT or (forced is None and text.lstrip()[0] not in "{["):
        return _delimited_layout(source, text, forced)
    first = text.lstrip().split("\n", 1)[0].strip()
    lines = first[0] == "{" and forced != "json"
    if lines and forced != "jsonl":
        # A JSON document can have several lines, and the first line of a JSON lines file may be
        # damaged, so passk looks for a record in the first 20 lines.
        records = map(json_or_none, text.split("\n", 20)[:20])
        is_single_line = "\n" not in text.strip()
        lines = first != "{" and (is_single_line or any(r for r in records if isinstance(r, dict)))
    if lines:
        short = len(start) < HEAD_BYTES
        return _lines_layout(con, source, text, to_the_end or short)
    return _document_layout(con, source, text if len(start) < HEAD_BYTES else "")


def file_column_names(source: Source) -> Sequence[str]:
    """The names of the columns and nested fields of a file. The list is empty if passk cannot read
    the file."""
    from passk_cli.files.formats.format import file_with_detected_structure as beginning

    if source.frame is not None:
        return column_names(source.frame)
    if source.first_character in ("{", "[", "PK", "PAR1"):
        return [key.replace("[].", ".").removeprefix(".") for key in beginning(source).keys]
    try:
        return [
            name for name, _ in detect_storage_layout(shared_connection(), source, None).columns
        ]
    except PasskError:
        return []  # passk raises the error later, when it reads the file.


def _merged_columns(records: Iterable[object]) -> tuple[tuple[str, frozenset[str]], ...]:
    # Thousands of records usually have only a few different sets of keys and types, so passk
    # inspects each set only once.
    shapes = dict.fromkeys(
        (tuple(record), tuple(map(type, record.values())))
        for record in records
        if isinstance(record, dict)
    )
    naming = {names for names, _ in shapes if usual_columns("task", names)}
    types: dict[str, set[type]] = {}
    for names, of_values in shapes:
        if not naming or names in naming:
            for name, of in zip(names, of_values, strict=True):
                types.setdefault(name, set()).add(of)
    return tuple((name, frozenset(map(type_kind, of))) for name, of in types.items())


def _lines_layout(
    con: duckdb.DuckDBPyConnection, source: Source, text: str, is_complete: bool
) -> FileStorageLayout:
    # splitlines() also splits at U+2028, which may occur inside a JSON string.
    lines: Iterable[str | bytes] = text.split("\n")
    if is_complete and len(text) >= HEAD_BYTES:
        lines = chain(lines, _one_record_per_key_set(con, source, lines=True))
    columns = _merged_columns(json_or_none(line) for line in lines)
    if not columns:
        fault = first_bad_record_error(source, FileStorageLayout("jsonl", "", ()))
        raise fault or FileWithoutResultsError(
            source.name, "the file contains no records", "check whether the file is JSON Lines"
        )
    return FileStorageLayout(
        "jsonl",
        "one JSON record per line",
        columns,
        compression=source.compression,
        contains_all_columns=is_complete,
    )


def _one_record_per_key_set(
    con: duckdb.DuckDBPyConnection, source: Source, *, lines: bool
) -> list[str]:
    rows = con.execute(
        f"SELECT any_value(json) FROM {JSON_OBJECTS_SQL}"
        " WHERE json_type(json) = 'OBJECT' GROUP BY json_keys(json)",
        json_objects_parameters(source, lines=lines),
    )
    return [text for (text,) in rows.fetchall()]


def _document_layout(
    con: duckdb.DuckDBPyConnection, source: Source, text: str
) -> FileStorageLayout:
    """The layout of a JSON document that contains an array of records.

    text : the text of a short document, or "" for a long document, which DuckDB reads.
    """
    layout = FileStorageLayout("json", "a JSON document", (), compression=source.compression)
    document = json_or_none(text)
    records: list[Any] = document if isinstance(document, list) else [document]
    if all(isinstance(record, dict) for record in records) and (
        columns := _merged_columns(records)
    ):
        return replace(layout, columns=columns)
    try:
        rows = con.execute(
            f"SELECT json FROM {JSON_OBJECTS_SQL} LIMIT {_MAX_FIRST_RECORDS}",
            json_objects_parameters(source, lines=False),
        ).fetchall()
        records = [json.loads(text) for (text,) in rows]
        if len(records) == _MAX_FIRST_RECORDS:
            records += map(json.loads, _one_record_per_key_set(con, source, lines=False))
    except (duckdb.Error, ValueError, RecursionError) as error:
        raise first_bad_record_error(source, layout) or DataError(
            source.name,
            str(error).split("\n")[0],
            "check whether the file is JSON",
            name="bad-record",
        ) from None
    if not any(records):
        raise FileWithoutResultsError(
            source.name, "the JSON document is empty", "check whether the run wrote its results"
        )
    if columns := _merged_columns(records):
        return replace(layout, columns=columns)
    raise FileWithoutResultsError(
        source.name, "this JSON document contains no records", "passk expects an array of records"
    )


def _delimited_layout(source: Source, text: str, forced: str | None) -> FileStorageLayout:
    first = io.StringIO(text, newline="").readline().rstrip("\r\n")
    allowed = DELIMITERS_BY_TABLE_FORMAT[forced] if forced else ",;\t|"
    delimiter = max(allowed, key=first.count)
    rows = numbered_delimited_rows(io.StringIO(text, newline=""), delimiter)
    # A column without a name, such as a pandas index, is named by its position.
    header = next(rows, (1, []))[1]
    names = [name or f"column {place}" for place, name in enumerate(header, 1)]
    if len(names) < 2 or _SHELL_ASSIGNMENT_PATTERN.match(names[0]):
        # The error shows no text of the file, because the file may contain a password.
        problem = "this is neither JSON nor a delimited table"
        remedy = "a table needs a header line with at least a task and an outcome"
        if first.startswith(("sep=", "#")):
            sign = first[:5] if first.startswith("sep=") else "#"
            problem = f"the first line begins with {sign!r} and does not name the columns"
            remedy = "delete the lines before the column names"
        elif first.startswith("<?xml"):
            problem = "passk does not read XML"
            remedy = "write JSON, JSON Lines or a table, for example pytest --passk-out FILE.jsonl"
        raise FileWithoutResultsError(source.name, problem, remedy, name="unknown-format")
    if len(names) > 2 and sum(map(bool, header)) == 1:
        below = next((line for line, row in rows if len(row) == len(names) and all(row)), 2)
        problem = "this line is a title and does not contain the column names"
        raise FileWithoutResultsError(
            f"{source.name}:1", problem, f"remove the lines above line {below}"
        )
    require_distinct_names(source.name, names)
    filled = [row for _, row in islice(rows, 200) if row][:100]
    kinds = {
        name: {text_value_kind(row[i]) for row in filled if len(row) == len(names)}
        for i, name in enumerate(names)
    }
    sign = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}[delimiter]
    columns = tuple((name, frozenset(values)) for name, values in kinds.items())
    return FileStorageLayout(
        "csv", f"{sign}-separated with a header", columns, delimiter, source.compression
    )


def require_distinct_names(place: str, names: Sequence[str]) -> None:
    """Raise DataError if two column names are equal or differ only in case."""
    times = Counter(name.lower() for name in names)
    repeated = [name for name in names if times[name.lower()] > 1]
    if repeated:
        problem = f"the column {repeated[0]!r} occurs twice"
        if len(set(repeated)) > 1:
            problem = f"the columns {repeated[0]!r} and {repeated[1]!r} differ only in case"
        raise DataError(place, problem, "rename one column", name="ambiguous-column")


def _parquet_layout(con: duckdb.DuckDBPyConnection, source: Source) -> FileStorageLayout:
    try:
        described = con.execute(
            f"DESCRIBE SELECT * FROM read_parquet($p{NO_HIVE_PARTITIONING_SQL})", {"p": source.path}
        ).fetchall()
    except duckdb.Error as error:
        raise damaged_parquet_error(source, str(error)) from None
    # DuckDB renames a repeated column x to x_1, so the names are taken from the Parquet schema.
    columns = [key for key in parquet_column_and_field_names(source.path, con) if "." not in key]
    require_distinct_names(source.name, columns)
    return FileStorageLayout("parquet", "Parquet", columns_from_describe(described))


def columns_from_describe(
    described: Sequence[tuple[Any, ...]],
) -> tuple[tuple[str, frozenset[str]], ...]:
    """Find the columns and the kinds of their values in the rows that DuckDB's DESCRIBE returns."""
    columns = []
    for name, sql_type, *_ in described:
        kind = "number" if _NUMERIC_SQL_TYPE_PATTERN.match(sql_type) else "text"
        if sql_type == "BOOLEAN":
            kind = "bool"
        elif sql_type.startswith(("STRUCT", "MAP", "JSON")):
            kind = "record"
        columns.append((name, frozenset({"list" if sql_type.endswith("]") else kind})))
    return tuple(columns)
