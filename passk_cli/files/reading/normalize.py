"""Write the rows of files in known formats to JSON Lines files, which DuckDB then reads.

The format of a harness defines the columns of the attempts. In a generic format, passk finds the
roles of the columns as in a table. passk writes only columns that may have a role, because records
may contain megabytes of text.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any, cast
from zlib import crc32

from passk_cli.errors import BadRecordError, DataError, FileWithoutResultsError
from passk_cli.files import formats
from passk_cli.files.database import FILE_COLUMN, PLACE_COLUMN
from passk_cli.files.formats.format import (
    Contents,
    File,
    Format,
    Record,
    Row,
    RowRequest,
    choose_outcome,
    file_with_detected_structure,
)
from passk_cli.files.reading.layout import Batch, FileStorageLayout
from passk_cli.files.reading.non_result_files import PossibleResultsExcludedError
from passk_cli.files.reading.schema_detection import (
    NormalizedFiles,
    require_path_matches_template,
    table_roles,
)
from passk_cli.files.request import Request
from passk_cli.files.roles import (
    AMOUNT_UNITS,
    ATTEMPT_FACT_ROLES,
    EACH_ENTRY_KEY,
    MAX_NAME_LIKE_TEXT_CHARACTERS,
    NAMED_ENTRY_PATTERN,
    ROLES,
    SETTING_COLUMN_NAMES,
    ColumnRoles,
    columns_named_for_roles,
    find_column_and_keys,
    usual_columns,
    without_absent_identifying_fields,
)
from passk_cli.files.sources.path_templates import (
    key_value_folder_columns,
    path_columns,
    template_columns,
)
from passk_cli.files.sources.source import Source, json_line, type_kind, value_kind
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import plural, truncated_text

# passk adds _ATTEMPT_NUMBER_OFFSET_PER_RUN to the attempt numbers of each further run of a model,
# so that attempt numbers stay unique.
_ATTEMPT_NUMBER_OFFSET_PER_RUN = 1_000_000
_MODEL_OUTPUT_TEXT_COLUMNS = ("answer", "solution")
# To list the costs and other amounts in a file, passk searches at most _MAX_COST_SEARCH_ATTEMPTS
# attempts of the file.
_MAX_COST_SEARCH_ATTEMPTS = 20
# If there are more than _MAX_DUCKDB_DOCUMENTS files, Python parses short JSON documents, because
# DuckDB is slower for many files.
_MAX_DUCKDB_DOCUMENTS = 300
_MAX_BUFFER_BYTES = 1 << 20
# The value ONLY_OUTCOME_OPTION_VALUE of --outcome means the only outcome of each file, regardless
# of its name.
ONLY_OUTCOME_OPTION_VALUE = "only"


@dataclass(frozen=True)
class RecognisedFile:
    """A file together with its known format."""

    file: File
    format: Format

    @property
    def source(self) -> Source:
        return self.file.source


_FilesWithContents = Sequence[tuple[RecognisedFile, Contents]]


def separate_known_files_from_tables(
    sources: Sequence[Source], request: Request
) -> tuple[list[RecognisedFile], list[Source]]:
    """Separate files of known formats from tables. Leave out files that repeat results of another
    file."""
    forced = formats.FORMATS[request.format] if request.format else None
    known_files, tables = [], []
    neighbours: dict[str, Any] = {}
    columns = [*columns_named_for_roles(request.named_column_by_role), *request.by]
    for source in sources:
        file = file_with_detected_structure(source, neighbours)
        form = forced or formats.format_required_by_options(file, request.records, columns)
        if form is None:
            file, form = formats.recognise_format(file) or (file, None)
        if form is None and len(sources) > _MAX_DUCKDB_DOCUMENTS:
            form = formats.format_of_short_document(file)
        if form is None:
            tables.append(source)
        else:
            known_files.append(RecognisedFile(file.without_text(), form))
    covered = _paths_covered_by_known_files(known_files, [s for s in sources if not s.is_explicit])
    return (
        [known_file for known_file in known_files if known_file.source.path not in covered],
        [source for source in tables if source.path not in covered],
    )


def _paths_covered_by_known_files(
    known_files: Sequence[RecognisedFile], candidates: Sequence[Source]
) -> set[str]:
    paths = {os.path.abspath(source.name): source.path for source in candidates}
    names = sorted(paths)
    covered: set[str] = set()
    for known_file in known_files:
        path = os.path.abspath(known_file.source.name)
        covers = known_file.format.ignored_siblings
        for pattern in covers(known_file.file) if callable(covers) else covers:
            # A pattern that begins with ../ matches files outside of the folder.
            full_pattern = os.path.normpath(os.path.join(os.path.dirname(path), pattern))
            covered |= {
                paths[name] for name in _names_matching_glob(names, full_pattern) if name != path
            }
    return covered


def _names_matching_glob(names: Sequence[str], pattern: str) -> Iterator[str]:
    """The sorted names that match a glob, in which **/ matches any number of folders."""
    # Compiling a pattern is slow, so names that do not begin like the pattern are excluded first.
    start = pattern.partition("*")[0]
    place = end = bisect_left(names, start)
    while end < len(names) and names[end].startswith(start):
        end += 1
    if "*" not in pattern:
        yield from (name for name in names[place:end] if name == pattern)
    elif place < end:
        regex = re.escape(pattern).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
        yield from filter(re.compile(regex).fullmatch, names[place:end])


def write_row_files(
    files: Sequence[RecognisedFile], request: Request, folder: Path
) -> NormalizedFiles:
    """Read files of known formats, and write rows with the same column roles to one JSON Lines
    file.

    Errors: DataError if a file has no usable results, or if the user must choose an outcome.
    """
    result = NormalizedFiles()
    with ExitStack() as opened:
        sheets, tables = _RowFileWriter(folder, request, result, opened), []
        for file in files:
            try:
                if file.format.is_generic:
                    sheets.write_records(file)
                else:
                    table = file.format.contents(file.file)
                    in_path = template_columns(file.source.name, request.template)
                    tables.append((file, replace(table, constants={**table.constants, **in_path})))
            except FileWithoutResultsError as error:
                result.skip_file_unless_explicit(file.source, error)
        outcomes = _choose_outcome_by_path(tables, request, result)
        tables = [pair for pair in tables if pair[0].source.path in outcomes]
        if "agent" not in request.by and "model" not in request.fields:
            tables = _with_agent_names(tables)
        sheets.runs = _run_names_by_model_and_suite(tables)
        for (model, _), runs in sheets.runs.items() if "run" not in request.by else ():
            if model and len(runs) > 1:
                result.run_count_by_model[str(model)] = max(
                    len(runs), result.run_count_by_model.get(str(model), 0)
                )
        by_format: dict[str, list[tuple[RecognisedFile, Contents]]] = {}
        for pair in tables:
            by_format.setdefault(pair[0].format.name, []).append(pair)
        for file, table in chain.from_iterable(by_format.values()):
            try:
                sheets.write_harness_attempts(file, table, outcomes[file.source.path])
            except FileWithoutResultsError as error:
                result.skip_file_unless_explicit(file.source, error)
    result.batches = sheets.batches()
    return result


def _choose_outcome_by_path(
    tables: _FilesWithContents, request: Request, result: NormalizedFiles
) -> dict[str, str]:
    """Map the path of each file to the outcome that passk reads from the file.

    If the files contain several outcomes, the user must choose one. passk skips files in a folder
    that do not contain the chosen outcome, and raises an error if no file contains the outcome.
    passk always reads a file in which no attempt was judged. With `--outcome only`, passk reads the
    only outcome of each file.
    """
    all_outcomes = list(
        dict.fromkeys(name for _, table in tables for name in table.outcome_names or ())
    )
    judged = [file.source.name for file, table in tables if table.outcome_names is not None]
    only = (
        request.outcome == ONLY_OUTCOME_OPTION_VALUE
        and ONLY_OUTCOME_OPTION_VALUE not in all_outcomes
    )
    outcome_by_path: dict[str, str] = {}
    unjudged = [file.source.path for file, table in tables if table.outcome_names is None]
    times = Counter(name for _, table in tables for name in table.outcome_names or ())
    for file, table in tables:
        names = result.outcome_names_by_format.setdefault(file.format.name, {})
        names.update(dict.fromkeys(table.outcome_names or ()))
        if table.outcome_names is None:
            continue
        if only or request.outcome in (None, *table.outcome_names) or file.source.is_explicit:
            requested = None if only else request.outcome or table.default_outcome
            common = sorted(table.outcome_names, key=lambda name: -times[name])
            outcome_by_path[file.source.path] = choose_outcome(file.source.name, requested, common)
        else:
            result.files_without_requested_outcome.append(file.source.name)
    if judged and not outcome_by_path:
        choose_outcome(judged[0], request.outcome, all_outcomes)
    if len(set(outcome_by_path.values())) > 1 and request.outcome is None:
        problem = f"{len(all_outcomes)} outcomes in {plural(len(judged), 'file')}"
        problem += f": {', '.join(all_outcomes)}"
        judged_tables = [table for _, table in tables if table.outcome_names is not None]
        # One estimate for several benchmarks would hide the differences between benchmarks, so the
        # suggested fix adds --by.
        suites = {table.constants.get("suite") for table in judged_tables} - {None}
        by = {"--by": ("suite",)} if len(suites) > 1 else {}
        common = sorted(all_outcomes, key=lambda name: -times[name])[:2]
        settles = [SuggestedFix({"--outcome": name, **by}) for name in common]
        if all(len(table.outcome_names or ()) < 2 for table in judged_tables):
            each_one = SuggestedFix(
                {"--outcome": ONLY_OUTCOME_OPTION_VALUE, **by},
                "reads the only outcome of each file",
            )
            settles.insert(times[common[0]] == len(judged), each_one)
        raise DataError(judged[0], problem, name="several-outcomes", settles=settles)
    return {**outcome_by_path, **dict.fromkeys(unjudged, "")}


def _with_agent_names(tables: _FilesWithContents) -> list[tuple[RecognisedFile, Contents]]:
    """Name the models "agent (model)" if several agents use the same model."""
    agents: dict[object, set[object]] = {}
    for _, table in tables:
        agents.setdefault(table.constants.get("model"), set()).add(table.constants.get("agent"))
    renamed = []
    for file, table in tables:
        model, agent = table.constants.get("model"), table.constants.get("agent")
        if model is not None and agent is not None and len(agents[model]) > 1:
            table = replace(table, constants={**table.constants, "model": f"{agent} ({model})"})
        renamed.append((file, table))
    return renamed


def _run_names_by_model_and_suite(
    tables: _FilesWithContents,
) -> dict[tuple[object, object], list[str]]:
    runs: dict[tuple[object, object], set[str]] = {}
    for file, table in tables:
        if (run := table.constants.get("run")) is not None:
            runs.setdefault(_model_and_suite(file, table), set()).add(str(run))
    return {key: sorted(names) for key, names in runs.items()}


def _model_and_suite(file: RecognisedFile, table: Contents) -> tuple[object, object]:
    return file.source.label or table.constants.get("model"), table.constants.get("suite")


@dataclass
class _RowFile:
    """A JSON Lines file with the rows of several files.

    roles : the roles of the columns. For attempts of a harness, the roles are None, because passk
        knows the columns only after it has written all rows.
    longest_row_bytes : the size of the longest row, in bytes.
    constant_columns : the columns with one value per file. Each column is mapped to a dictionary
        that contains the value for each file path.
    """

    format: Format
    roles: ColumnRoles | None
    file: IO[bytes]
    path: Path | None = None
    types_by_column: dict[str, set[type]] = field(default_factory=dict)
    longest_row_bytes: int = 0
    sources: list[Source] = field(default_factory=list)
    constant_columns: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def kinds_by_column(self) -> dict[str, set[str]]:
        return {
            name: {type_kind(of) for of in types} for name, types in self.types_by_column.items()
        }

    def write(self, source: Source, place: str, columns: Record) -> None:
        line = json_line({FILE_COLUMN: source.path, PLACE_COLUMN: place, **columns})
        self.longest_row_bytes = max(self.longest_row_bytes, len(line))
        self.file.write(line)

    def add_value_types(self, columns: Record) -> None:
        for name, value in columns.items():
            if (types := self.types_by_column.get(name)) is None:
                types = self.types_by_column[name] = set()
            types.add(type(value))

    def append_rows(self, page: _RowFile, source: Source) -> None:
        page.file.seek(0)
        shutil.copyfileobj(page.file, self.file, _MAX_BUFFER_BYTES)
        self.sources.append(source)
        self.longest_row_bytes = max(self.longest_row_bytes, page.longest_row_bytes)
        for name, types in page.types_by_column.items():
            self.types_by_column.setdefault(name, set()).update(types)
        for name, values in page.constant_columns.items():
            self.constant_columns.setdefault(name, {}).update(values)


class _RowFileWriter:
    """Writes the rows of files of known formats, and collects messages about the files.

    runs : maps each pair (model, suite) to the names of the model's runs.
    """

    def __init__(
        self, folder: Path, request: Request, result: NormalizedFiles, opened: ExitStack
    ) -> None:
        self.runs: Mapping[tuple[object, object], list[str]] = {}
        self._folder, self._request, self._result = folder, request, result
        self._sheets: dict[object, _RowFile] = {}
        self._roles: dict[object, ColumnRoles] = {}
        self._files = opened
        self._plays_a_part = _is_relevant_column_function(request)
        amounts = not AMOUNT_UNITS.keys().isdisjoint((*request.attempts, *request.fields))
        self._spent = amounts or bool(request.conversion or request.where)
        self._texts = frozenset(_MODEL_OUTPUT_TEXT_COLUMNS) & {
            *request.attempts,
            *request.fields.values(),
        }

    def write_harness_attempts(
        self, recognised: RecognisedFile, table: Contents, outcome: str
    ) -> None:
        """Write the attempts in a file that a harness wrote. Raise FileWithoutResultsError if the
        file has no attempts."""
        row_request = RowRequest(outcome, self._texts, self._request.skip_bad)
        source, result = recognised.source, self._result
        in_path = template_columns(source.name, self._request.template)
        in_folders = key_value_folder_columns(source.name, self._request.by)
        run = str(table.constants.get("run"))
        runs = self.runs.get(_model_and_suite(recognised, table), ())
        run_index = runs.index(run) if run in runs else 0
        amounts = result.amount_names_by_format.setdefault(recognised.format.name, {})
        # A converted table contains only the costs that the user requested.
        has_all_amounts = self._request.conversion is None
        number, task_kinds, unnamed, has_model = 0, set[str](), "", False
        with SpooledTemporaryFile(_MAX_BUFFER_BYTES, dir=str(self._folder)) as file:
            page = _RowFile(recognised.format, None, file)
            for number, row in enumerate(cast("Iterator[Row]", table.rows(row_request)), 1):
                place = f"{source.name}: {row.place or f'attempt {number}'}"
                columns = self._row_columns(table.constants, row, in_path, in_folders)
                if row.attempt is None and self._request.joins_labels:
                    columns.setdefault("attempt", place)
                if run_index and row.attempt is not None and "attempt" not in in_path:
                    # Two runs of a model must not contain the same attempt number or attempt name.
                    attempt_name, first = row.attempt, run_index * _ATTEMPT_NUMBER_OFFSET_PER_RUN
                    columns["attempt"] = (
                        first + attempt_name
                        if isinstance(attempt_name, int)
                        else f"{run} {attempt_name}"
                    )
                if recognised.format.read_usage_amounts is not None and (
                    self._spent or number <= _MAX_COST_SEARCH_ATTEMPTS
                ):
                    spent = {
                        name: value
                        for name, value in recognised.format.read_usage_amounts(row.record).items()
                        if value is not None
                        and not (isinstance(value, float) and not math.isfinite(value))
                        and (has_all_amounts or self._plays_a_part(name))
                    }
                    amounts.update(dict.fromkeys(spent))
                    columns |= spent if self._spent else {}
                task_kinds.add("text" if columns.get("suite") else value_kind(row.task))
                model = columns.get("model")
                if model is None:
                    result.paths_without_model.add(source.path)
                    unnamed = unnamed or place
                has_model = has_model or model is not None
                if row.outcome is None:
                    name = source.label or str(model or source.stem)
                    result.missing_reason_counts.setdefault(name, Counter())[
                        row.reason or "no outcome"
                    ] += 1
                page.add_value_types(columns)
                page.write(source, place, columns)
            if unnamed and has_model and not source.label:
                problem = "this record has no model, but other records of the file have a model"
                remedy = "add the model, or remove the record"
                raise DataError(unnamed, problem, remedy, name="missing-name")
            self._add_file_messages(source, "attempts", number, table, row_request)
            require_path_matches_template(source, self._request, {}, None)
            self._row_file_for_key(recognised.format.name, recognised.format, None).append_rows(
                page, source
            )
        result.add_task_name_kinds(source, task_kinds)

    def write_records(self, recognised: RecognisedFile) -> None:
        request, source = self._request, recognised.source
        contents = recognised.format.read_contents(recognised.file)
        row_request = RowRequest(skip_bad=request.skip_bad)
        number, broken = 0, dict[str, float]()
        with SpooledTemporaryFile(_MAX_BUFFER_BYTES, dir=str(self._folder)) as file:
            page = _RowFile(recognised.format, None, file)
            for number, record in enumerate(
                cast("Iterator[Record]", contents.rows(row_request)), 1
            ):
                page.add_value_types(record)
                for name, value in record.items():
                    if isinstance(value, float):
                        broken.setdefault(name, value)
                written_values = {n: v if self._plays_a_part(n) else _with_short_texts(v) for n, v
                in record.items()
                       if self._plays_a_part(n) or _may_distinguish_attempts(n, v)}  # fmt: skip
                page.write(source, f"{source.name}: record {number}", written_values)
            self._add_file_messages(source, "records", number, contents, row_request)
            facts = {
                name: str(v)
                for name, v in contents.constants.items()
                if name not in page.types_by_column
            }
            facts |= path_columns(
                source.name, request.template, request.by, {*page.types_by_column, *facts}
            )
            page.constant_columns = {name: {source.path: value} for name, value in facts.items()}
            page.types_by_column |= {name: {str} for name in facts}
            joined_columns = request.joined_columns(page.kinds_by_column)
            kinds = page.kinds_by_column | {
                name: of.value_kinds for name, of in joined_columns.items()
            }
            shape = frozenset((name, frozenset(value_kinds)) for name, value_kinds in kinds.items())
            if shape not in self._roles:
                self._roles[shape] = table_roles(request, source.name, kinds)
            roles = self._roles[shape]
            require_path_matches_template(source, request, kinds, roles)
            for column in (roles.task, roles.model):
                if column is not None and column in broken:
                    # DuckDB would change the spelling of a number, for example from 1.50 to 1.5.
                    problem = f'"{column}" is the number {broken[column]!r}'
                    raise BadRecordError(
                        source.name, problem, "names must be strings, so put the number in quotes"
                    )
            if roles.model is None:
                self._result.paths_without_model.add(source.path)
            grouping = [column for column in (*request.by, request.cluster) if column]
            without = tuple(find_column_and_keys(column, kinds) is None for column in grouping)
            meaning = (recognised.format.name, roles, frozenset(facts), without)
            self._row_file_for_key(meaning, recognised.format, roles).append_rows(page, source)
        self._result.add_task_name_kinds(source, kinds.get(roles.task, set()))

    def batches(self) -> list[Batch]:
        batches = []
        for sheet in self._sheets.values():
            kinds = sheet.kinds_by_column
            if sheet.roles is None:
                kinds = {"outcome": {"null"}, "task": {"null"}} | kinds
            layout = FileStorageLayout(
                sheet.format.name,
                sheet.format.pass_rule,
                tuple(
                    (c, frozenset(of)) for c, of in kinds.items() if c not in sheet.constant_columns
                ),
                normalized_rows_file=str(sheet.path),
                longest_row_bytes=sheet.longest_row_bytes,
                format=sheet.format,
                constant_columns=sheet.constant_columns,
                joined_columns=self._request.joined_columns(kinds),
            )
            try:
                roles = sheet.roles or self._harness_column_roles(sheet.sources[0].name, kinds)
            except FileWithoutResultsError as error:
                for source in sheet.sources:
                    unread = PossibleResultsExcludedError(
                        error.with_changes(FileWithoutResultsError, place=source.name), None
                    )
                    self._result.skip_file_unless_explicit(source, unread)
            else:
                batches.append(Batch(layout, roles, tuple(sheet.sources)))
        return batches

    def _row_file_for_key(self, key: object, form: Format, roles: ColumnRoles | None) -> _RowFile:
        if key not in self._sheets:
            path = self._folder / f"{len(self._sheets)}.rows.jsonl"
            file = self._files.enter_context(path.open("wb"))
            self._sheets[key] = _RowFile(form, roles, file, path)
        return self._sheets[key]

    def _add_file_messages(
        self, source: Source, row_name: str, rows: int, table: Contents, row_request: RowRequest
    ) -> None:
        """Record the messages about a file. A file without rows raises FileWithoutResultsError."""
        if rows == 0:
            raise FileWithoutResultsError(
                source.name, f"the file contains no {row_name}", "check whether the run started"
            )
        self._result.skipped_line_count += row_request.skipped_lines
        for message in (*table.messages, *row_request.messages):
            self._result.files_by_message.setdefault(message, []).append(source.name)
        suite = table.constants.get("suite")
        tasks = (
            f"{task}" if suite is None else f"{suite}/{task}"
            for task in table.tasks_as_attempted_if_shuffled
        )
        self._result.attempted_task_orders.add(tuple(tasks))

    def _row_columns(
        self, facts: Record, row: Row, in_path: Mapping[str, str], in_folders: Mapping[str, str]
    ) -> dict[str, object]:
        suite = in_path.get("suite", facts.get("suite") if row.suite is None else row.suite)
        task, outcome = in_path.get("task", row.task), row.outcome
        if suite is not None and task is not None:
            task = f"{suite}/{task}"
        if isinstance(outcome, dict | list):
            outcome = truncated_text(json.dumps(outcome))
        elif isinstance(outcome, float) and not math.isfinite(outcome):
            outcome = None if math.isnan(outcome) else str(outcome)
        columns: dict[str, object] = {
            **in_folders,
            **facts,
            **row.settings,
            "model": facts.get("model") if row.model is None else row.model,
            "attempt": row.attempt,
            "outcome": outcome,
            "score": row.score,
            "reason": row.reason or None,
            **{name: getattr(row, name) for name in self._texts},
            **in_path,
            "suite": suite,
            "task": task if task is None else str(task),
        }
        return {name: value for name, value in columns.items() if value is not None}

    def _harness_column_roles(self, place: str, kinds: Mapping[str, set[str]]) -> ColumnRoles:
        request = self._request
        judged = request.passing_score is not None and "score" in kinds
        usual_roles = {
            "task": "task",
            "outcome": "score" if judged else "outcome",
            **{
                role: role
                for role in ("attempt", "model", *_MODEL_OUTPUT_TEXT_COLUMNS)
                if role in kinds
            },
            "score": "score" if "score" in kinds else "outcome",
        }
        # In most files, a column named "run" contains attempt numbers. In files of harnesses, "run"
        # means the whole run.
        usual = {name: value_kinds for name, value_kinds in kinds.items() if name != "run"}
        columns = kinds if "run" in request.fields.values() else usual
        requested = (
            request.fields
            if request.is_mapped
            else without_absent_identifying_fields(request.fields, columns)
        )
        return request.assign_roles(place, columns, {**usual_roles, **requested})


def _may_distinguish_attempts(name: str, value: Any) -> bool:
    """Whether a field may distinguish attempts at a task. A field named "key" contains the task, so
    this field cannot distinguish attempts."""
    return name != "key" and isinstance(value, int | float | str | dict)


def _with_short_texts(value: Any) -> Any:
    """Replace each long string in a value by its first characters and a checksum."""
    if isinstance(value, dict):
        return {
            key: _with_short_texts(v)
            for key, v in value.items()
            if isinstance(v, int | float | str)
        }
    long = isinstance(value, str) and len(value) > MAX_NAME_LIKE_TEXT_CHARACTERS
    return (
        f"{value[:MAX_NAME_LIKE_TEXT_CHARACTERS]}… {crc32(value.encode(errors='replace')):08x}"
        if long
        else value
    )


def _is_relevant_column_function(request: Request) -> Callable[[str], bool]:
    requested_roles = {*request.used_attempt_facts}
    requested_roles |= {"tokens_in", "tokens_out"} if "tokens" in requested_roles else set()
    roles = [role for role in ROLES if role not in ATTEMPT_FACT_ROLES or role in requested_roles]
    columns = columns_named_for_roles(request.named_column_by_role)
    columns += [*request.by, *request.copied_columns]
    columns += [column for column in (request.cluster, request.outcome) if column is not None]
    columns = [
        NAMED_ENTRY_PATTERN.sub("", column).replace(EACH_ENTRY_KEY, "") for column in columns
    ]

    @cache
    def plays(name: str) -> bool:
        return (
            name in SETTING_COLUMN_NAMES
            or name in request.where
            or any(f"{column}.".startswith(f"{name}.") for column in columns)
            or any(usual_columns(role, [name]) for role in roles)
        )

    return plays
