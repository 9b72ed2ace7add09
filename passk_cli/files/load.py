"""Read files or a data frame, and count attempts and passes.

The function `sources_of` finds the files. `_CountsReader.recognise_inputs` separates files of known
formats from tables. `detect_batches` finds the layout of files and the roles of columns, and
`run_statement` counts the attempts with one SQL statement. `find_attempt_column_and_check` looks
for contradictions in the data. `build_counts` builds the result. If a metric needs facts about
attempts, such as costs, `with_attempt_facts` adds these facts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from passk_cli.cleanup import disk_full_error, temporary_folder
from passk_cli.diagnostic import NOTE, DiagnosticType, error_as_warning
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.checks import (
    DISTINGUISHING_COLUMN_WARNINGS,
    FULLY_READ_TASK_COUNT,
    CheckContext,
    CheckFinding,
    attempt_number_column,
    find_contradictions,
    finding_error,
    finding_warning,
)
from passk_cli.files.counting.counts_from_tally import build_counts
from passk_cli.files.counting.diagnosis import explained_error
from passk_cli.files.counting.outcome_word_messages import words_and_idle_threshold_messages
from passk_cli.files.counting.raw_text_checks import (
    require_intact_files,
    require_no_header_or_respelling,
)
from passk_cli.files.counting.sample import profile_all_rows_of_some_tasks, profile_files
from passk_cli.files.counting.statement import LateColumnError, Statement, Tally, run_statement
from passk_cli.files.database import connect, parquet_column_and_field_names
from passk_cli.files.reading.condition import condition_columns, condition_raising_on_mixed_types
from passk_cli.files.reading.non_result_files import is_empty
from passk_cli.files.reading.profile import RowSampleProfile
from passk_cli.files.reading.schema_detection import (
    NormalizedFiles,
    TablesAndNormalizedFiles,
    detect_batches,
    file_column_names,
)
from passk_cli.files.request import SPECIFICATION_BY_TABLE_FORMAT, Request, require_existing_names
from passk_cli.files.roles import AMOUNT_UNITS, TRUTH_ROLE, find_column_and_keys
from passk_cli.files.roles import column_name_words as words_of
from passk_cli.files.sources.memory import sources_of
from passk_cli.files.sources.source import Source, source_of_first_lines
from passk_cli.files.toml_map import select_files_and_apply_map
from passk_cli.files.vocabulary import CORRECTNESS_COLUMN_WORDS
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list
from passk_cli.text import decode_file_name, plural

if TYPE_CHECKING:
    from passk_cli.files.reading.normalize import RecognisedFile
    from passk_cli.outcomes.counts import Counts

HIDDEN_FILES_NOTE = DiagnosticType(
    "hidden-files", NOTE,
    "passk skipped {count:file} in hidden folders: {files}",
    "to read a hidden file, name it",
    meaning="Folders with names that begin with a dot usually contain caches and checkpoints.",
    why="Files in hidden folders usually repeat results, so passk reads these files only if you"
    " name them.",
    advice="If a hidden file contains results, name the file on the command line.",
    example="note[hidden-files]: passk skipped 2 files in hidden folders: .cache/a.jsonl,"
    " .cache/b.jsonl; to read a hidden file, name it",
)  # fmt: skip
_ENOUGH_ROWS, _FEWEST_TASKS = 100_000, 50
_KNOWN_FORMAT_FILE_STARTS = {"", "{", "[", "PK"}
# Lighteval is the only supported harness that writes Parquet. A Parquet file of Lighteval has one
# of the columns in _LIGHTEVAL_MARKER_COLUMNS.
_LIGHTEVAL_MARKER_COLUMNS = {"metric", "metrics"}


def load(data: Any, request: Request, *, tolerant: bool = False) -> Counts:
    """Count attempts and passes per model and task, from files, rows or a table.

    data : files, rows or a table, like the first argument of `passk_cli.read`.
    tolerant : whether passk reports invalid data in a message instead of raising an error.
    Errors: ParameterError for an invalid request. DataError, with a message of the form `place:
    problem; remedy`, for unusable data.
    """
    if request.truth_from is not None:
        from passk_cli.files.attempts.labels import read_with_borrowed_judge_errors

        return read_with_borrowed_judge_errors(load, data, request, tolerant=tolerant)
    with temporary_folder("passk-") as folder, _translate_system_errors(request):
        hidden: list[str] = []
        all_sources = sources_of(data, folder, hidden)
        sources, request, messages = select_files_and_apply_map(
            data, all_sources, request, file_column_names
        )
        if hidden:
            messages.append(HIDDEN_FILES_NOTE(count=len(hidden), files=hidden))
        counts = _count_files(
            data, sources, request.adapted_for_reading(), folder, tolerant
        ).with_messages(*messages)
        several = len(request.threshold) > 1
        return counts.at_thresholds(request.threshold) if several else counts


@contextmanager
def _translate_system_errors(request: Request) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        is_output = request.conversion is not None and error.filename == request.conversion.file
        if is_output or error.strerror is None:
            raise
        raise disk_full_error(error, "temporary files") or DataError(
            decode_file_name(error.filename or "files"),
            f"this path cannot be read ({error.strerror})",
            "check that the file exists and that no other program is changing it",
            name="unreadable-file",
        ) from None  # fmt: skip


def _count_files(
    data: Any, sources: Sequence[Source], request: Request, folder: Path, tolerant: bool
) -> Counts:
    """Count the attempts in files. If the roles of columns are unclear, the error lists the columns
    to choose from."""
    files = all(source.frame is None for source in sources)
    paths = [source.path for source in sources if files]
    paths += [request.conversion.file] if request.conversion else []
    if request.truth is not None:
        from passk_cli.files.attempts.labels import write_labels_to_parquet_file

        write_labels_to_parquet_file(request, data, folder, load)
        fields = {role: name for role, name in request.fields.items() if role != TRUTH_ROLE}
        request = replace(request, fields=fields)
    with connect(paths, folder, [folder]) as con:
        if request.normalise != "none":
            from passk_cli.files.attempts.solutions import register_sql_functions

            # The SQL functions are registered in the connection, because a function that is
            # registered in a cursor disappears with the cursor.
            register_sql_functions(con, request.normalise)
        reading = _CountsReader(con, sources, folder)
        try:
            counts = reading.counts(request, tolerant=tolerant)
            missing = reading.missing_outcome_error(counts, request, tolerant) if files else None
            if missing is None:
                return counts
            from passk_cli.files.reading.column_choice_errors import column_choice_error

            explained = column_choice_error(
                missing, con, sources, request, reading.count_beginnings, data
            )
            return (
                counts
                if explained is missing
                else counts.with_messages(error_as_warning(explained))
            )
        except DataError as error:
            if not files and sources[0].label is not None:
                raise
            from passk_cli.files.reading.column_choice_errors import column_choice_error

            raise column_choice_error(
                error, con, sources, request, reading.count_beginnings, data
            ) from None


@dataclass(frozen=True, eq=False, repr=False)
class _CountsReader:
    """Reads files with the user's options, and reads them again with changed options to try
    suggested fixes.

    temporary_folder : the folder for temporary files.
    """

    con: duckdb.DuckDBPyConnection
    sources: Sequence[Source]
    temporary_folder: Path

    def count_beginnings(self, request: Request) -> Counts:
        sources = [source_of_first_lines(source, self.temporary_folder) for source in self.sources]
        # A cursor has its own temporary tables and is faster than a new database.
        with self.con.cursor() as cursor:
            return replace(self, con=cursor, sources=sources).counts(request, tolerant=False)

    def counts(self, request: Request, *, tolerant: bool) -> Counts:
        """Read, check and count the files, and add facts about attempts."""
        states = [*map(_size_and_time, self.sources)]
        inputs = self.recognise_inputs(request, skip_empty=request.skip_bad or tolerant)
        statement, tally = self.count_preferring_exact_model_names(inputs, request)
        statement, tally, context, findings_found = self.find_attempt_column_and_check(
            inputs, statement, tally, first=not tolerant
        )
        request, batches = statement.request, statement.batches
        judged = words_and_idle_threshold_messages(self.con, statement)
        errors = [finding_error(finding, batches) for finding in findings_found if finding.certain]
        if errors and not tolerant:
            raise errors[0]
        if not (tolerant or "outcome" in request.named_column_by_role):
            self.refuse_skipped_files_with_outcomes(inputs, request)
        near_names = _spelling_hint_by_option_and_name(self.con, statement)
        counts = build_counts(self.con, statement, inputs.normalized_files, tally, tolerant)
        warnings = [finding_warning(finding) for finding in findings_found if not finding.certain]
        counts = counts.with_messages(*map(error_as_warning, errors), *warnings, *judged)
        alias = {new: old for new, old in request.alias.items() if not near_names["--alias", new]}
        facts: dict[str, Any] = {"suggestion_by_option_value": near_names, "model_aliases": alias}
        if request.needs_independence_sample and not (
            statement.has_counts or tally.repeats.attempt_count
        ):
            from passk_cli.files.counting.sampled_rows import sampled_rows

            settings = {str(finding.message_fields.get("column", "")) for finding in findings_found}
            facts["sampled_rows"] = sampled_rows(context, statement, settings)
        if tolerant:
            from passk_cli.files.column_choices import column_choices

            facts["described_columns"] = tuple(
                column_choices(self.con, self.sources, context, findings_found)
            )
        counts = replace(counts, read_facts=replace(counts.read_facts, **facts))
        try:
            counts = self.with_attempt_facts(statement, tally, counts)
        except duckdb.Error as error:
            raise explained_error(self.con, error, batches, request) from None
        changed = [
            s for s, state in zip(self.sources, states, strict=True) if _size_and_time(s) != state
        ]
        if changed:
            problem = "the file changed while passk read it"
            remedy = "read the file again when it is complete"
            raise DataError(changed[0].name, problem, remedy, name="changed-file")
        return counts

    def recognise_inputs(self, request: Request, *, skip_empty: bool) -> TablesAndNormalizedFiles:
        """Read the files that have a known format, and return the other files as tables.

        Errors: ParameterError for an unknown format, and DataError for unusable files.
        """
        files: list[RecognisedFile] = []
        tables = [*self.sources]
        if any(source.frame is not None for source in tables):
            return TablesAndNormalizedFiles(self.sources, tables, NormalizedFiles())
        # Importing all formats is slow, so passk imports the formats only if a file may need them.
        by_formats = request.format not in SPECIFICATION_BY_TABLE_FORMAT and (
            bool(request.format or request.records)
            or any(
                source.first_character in _KNOWN_FORMAT_FILE_STARTS
                or (
                    source.first_character == "PAR1"
                    and not _LIGHTEVAL_MARKER_COLUMNS.isdisjoint(
                        parquet_column_and_field_names(source.path, self.con)
                    )
                )
                for source in tables
            )
        )
        if by_formats:
            from passk_cli.files.reading.normalize import (
                separate_known_files_from_tables,
                write_row_files,
            )

            files, tables = separate_known_files_from_tables(self.sources, request)
        all_sources = [*(file.source for file in files), *tables]
        empty = [
            source
            for source in all_sources
            if source.first_character in ("", "{", "[") and is_empty(source)
        ]
        if len(empty) == len(all_sources):
            empty = []
        if empty and not skip_empty:
            # An empty file is an error, because an empty file usually comes from a run that ended
            # early.
            more = f", like {plural(len(empty) - 1, 'more file')}" if len(empty) > 1 else ""
            without = SuggestedFix({"--skip-bad": True}, "leaves empty files out")
            raise DataError(
                empty[0].name, f"the file is empty{more}", "run the evaluation again",
                name="no-results", settles=[without],
            )  # fmt: skip
        attempts = NormalizedFiles()
        if by_formats:
            files = [file for file in files if file.source not in empty]
            attempts = write_row_files(files, request, self.temporary_folder)
        attempts.empty_files += [source.name for source in empty]
        return TablesAndNormalizedFiles(
            self.sources, [s for s in tables if s not in empty], attempts
        )

    def count_preferring_exact_model_names(
        self, inputs: TablesAndNormalizedFiles, request: Request
    ) -> tuple[Statement, Tally]:
        """Count the attempts. If --model or --exclude-model names an existing model, and the name
        looks like a pattern, count the attempts again with the exact name."""
        statement, tally = self.detect_layouts_and_count(inputs, request)
        if request.models or request.exclude_models:
            names = self.con.execute(statement.models_sql()).fetchall()
            exact = request.with_existing_model_names_escaped([name for (name,) in names])
            if exact is not request:
                return self.detect_layouts_and_count(inputs, exact)
        return statement, tally

    def detect_layouts_and_count(
        self, inputs: TablesAndNormalizedFiles, request: Request
    ) -> tuple[Statement, Tally]:
        """Count the attempts. If a needed column occurs only in later records, count the attempts
        again with all columns."""
        con = self.con
        for to_the_end in (False, True):
            batches, names = detect_batches(con, inputs, request, to_the_end=to_the_end)
            try:
                where = condition_columns(con, request.where, batches) if request.where else []
                statement = Statement(batches, names, request, where)
                if request.where:
                    for sql in statement.condition_check_queries(
                        condition_raising_on_mixed_types(con, request.where)
                    ):
                        con.execute(sql)
                statement, tally = run_statement(con, statement)
                numbered, attempts = (
                    tally.cell_table_before_deduplication["numbered"],
                    tally.cell_table_before_deduplication["attempts"],
                )
                empty = ["outcome"] * bool(tally.cell_table_before_deduplication["missing"].any())
                empty += ["attempt"] * bool(numbered.any() and (numbered < attempts).any())
                queries = (
                    sql for role in empty for sql in statement.column_renamed_in_file_queries(role)
                )
                if any(con.execute(sql).fetchone() is not None for sql in queries):
                    continue
            except LateColumnError:
                continue
            except duckdb.Error as error:
                raise explained_error(con, error, batches, request) from None
            for batch in batches:
                require_no_header_or_respelling(batch, tally)
                require_intact_files(batch.layout, batch.sources, request)
            return statement, tally
        raise AssertionError(
            "a complete layout must contain all columns, including columns that appear further down"
        )

    def find_attempt_column_and_check(
        self, inputs: TablesAndNormalizedFiles, statement: Statement, tally: Tally, *, first: bool
    ) -> tuple[Statement, Tally, CheckContext, list[CheckFinding]]:
        """Run the checks. If the data contains a column with attempt numbers, count the attempts
        again with this column.

        first : whether the checks stop at the first finding that leaves no doubt.
        """
        try:
            context = self.check_context(statement, tally)
            if column := attempt_number_column(context):
                fields = {**statement.request.fields, "attempt": column}
                statement, tally = self.detect_layouts_and_count(
                    inputs, replace(statement.request, fields=fields)
                )
                context = self.check_context(statement, tally)
            reported = list[CheckFinding]()
            for finding in find_contradictions(context):
                reported.append(finding)
                if first and finding.certain:
                    break
        except duckdb.Error as error:
            raise explained_error(self.con, error, statement.batches, statement.request) from None
        if tally.repeats.attempt_count:
            # Repeated attempt numbers suggest that attempts differ in a setting that another column
            # contains.
            reported = [
                replace(f, certain=f.certain or f.message_type in DISTINGUISHING_COLUMN_WARNINGS)
                for f in reported
            ]
        return statement, tally, context, reported

    def check_context(self, statement: Statement, tally: Tally) -> CheckContext:
        request, batches, tasks = (
            statement.request,
            statement.batches,
            tally.cell_table_before_deduplication["task"],
        )
        columns = {
            "file",
            *(column for batch in batches for column in batch.layout.kinds_by_column),
        }
        for name in request.pool:
            if find_column_and_keys(name, {column: set() for column in columns}) is None:
                problem = (
                    f"no such column; {did_you_mean_or_list(name, sorted(columns - {'file'}))}"
                )
                raise ParameterError(
                    OptionWithValue("--pool", name), problem, name="no-such-column"
                )
        rows, size = (
            int(tally.cell_table_before_deduplication["attempts"].sum()),
            len(tasks.distinct_texts),
        )
        one_in = max(
            1, size // FULLY_READ_TASK_COUNT, min(rows // _ENOUGH_ROWS, size // _FEWEST_TASKS)
        )

        def refined(columns: Sequence[str]) -> RowSampleProfile:
            return profile_all_rows_of_some_tasks(self.con, statement, columns, one_in)

        profile = profile_files(self.con, statement, self.temporary_folder)
        return CheckContext(
            profile, batches, request, tally.cell_table_before_deduplication, refined
        )

    def refuse_skipped_files_with_outcomes(
        self, inputs: TablesAndNormalizedFiles, request: Request
    ) -> None:
        """Raise DataError if a skipped file probably contains outcomes in a column with an unusual
        name.

        Without this error, passk would ignore the results in the skipped file.
        """
        passed_over = inputs.normalized_files.skipped_file_errors
        for error in [e for e in passed_over if e.name == "no-outcome-column"][:3]:
            from passk_cli.files.reading.candidates import find_candidates

            file_sources = [source for source in self.sources if source.name == str(error.place)]
            for place in find_candidates(self.con, file_sources, request) if file_sources else ():
                outcomes = (
                    c
                    for c in place.get("outcome", ())
                    if words_of(c.column) & CORRECTNESS_COLUMN_WORDS
                )
                if place.certain_candidate("task") and any(
                    not candidate.pass_definitions for candidate in outcomes
                ):
                    raise error.with_changes(
                        DataError, remedy="in other files the outcome has a usual name"
                    )

    def with_attempt_facts(self, statement: Statement, tally: Tally, counts: Counts) -> Counts:
        con, request = self.con, statement.request
        if request.price:
            from passk_cli.files.attempts.prices import require_prices

            require_prices(request, [model for model, *_ in counts.series])
        if request.conversion is not None:
            from passk_cli.files.conversion import write_attempts_table

            write_attempts_table(con, statement, tally)
            return counts
        numbering = _may_show_early_stopping(statement, tally, counts)
        if not (
            numbering
            or request.attempts
            or request.uses_attempt_order
            or request.labelling_seed is not None
        ):
            return counts
        from passk_cli.files.attempts import query as attempts

        query = attempts.AttemptFactQueries(con, statement, tally.kept_duplicate)
        if numbering:
            counts = attempts.counts_with_attempts_made(query, counts)
        if request.truth is not None:
            from passk_cli.files.attempts.labels import create_checked_label_table

            counts = counts.with_messages(*create_checked_label_table(query, self.temporary_folder))
        if request.attempts:
            counts = attempts.with_attempt_facts(query, counts)
            if not AMOUNT_UNITS.keys().isdisjoint(request.attempts):
                from passk_cli.files.attempts.cost_checks import apply_missing_cost

                counts = apply_missing_cost(counts, query)
        if request.uses_attempt_order:
            counts = attempts.counts_with_attempt_order_if_known(query, counts)
        if request.labelling_seed is not None:
            from passk_cli.files.attempts.labels import unlabelled_attempts

            facts = replace(
                counts.read_facts, unlabelled_attempts=unlabelled_attempts(query, counts)
            )
            counts = replace(counts, read_facts=facts)
        return counts

    def missing_outcome_error(
        self, counts: Counts, request: Request, tolerant: bool
    ) -> DataError | None:
        """Return an error if outcomes are missing and may be in another column, or otherwise None.

        For `describe`, any missing outcome is an error. For other commands, missing outcomes are an
        error if a model has no outcomes at all.
        """
        missing_outcomes = counts.read_facts.missing_outcomes
        if missing_outcomes is None:
            return None
        # If the user named the outcome column, passk does not look for missing outcomes in other
        # columns.
        is_named = request.outcome is not None or "outcome" in request.fields
        lost = not is_named and any(
            lost == attempts
            for lost, attempts in map(
                missing_outcomes.missing_and_attempts_of_model, missing_outcomes.models
            )
        )
        missing = f"{plural(counts.read_facts.missing_outcome_count, 'attempt')} without an outcome"
        error = DataError(self.sources[0].name, missing, name="missing-outcome")
        return error if tolerant or lost else None


def _may_show_early_stopping(statement: Statement, tally: Tally, counts: Counts) -> bool:
    """Whether attempt numbers may show that a model stopped after its first pass at a task.

    Attempt numbers can show early stopping if they have gaps, or if a model has different numbers
    of attempts per task and at most one pass per task.
    """
    if statement.has_counts or not tally.cell_columns["numbered"].any():
        return False
    rows = map(counts.slice_of_series, range(len(counts.series)))
    return not tally.cell_columns["unrepeated"].all() or any(
        int(counts.n[row].min()) < int(counts.n[row].max()) and int(counts.c[row].max()) == 1
        for row in rows
    )


def _spelling_hint_by_option_and_name(
    con: duckdb.DuckDBPyConnection, statement: Statement
) -> dict[tuple[str, str], str]:
    """Map each pair (option, name) to a hint about similar names, or to "" if the name exists.

    Errors: ParameterError if none of the tasks in --only-task exists.
    """
    request = statement.request
    if not request.named_models_and_tasks:
        return {}
    rows = con.execute(statement.model_task_pairs_sql()).fetchall()
    models, tasks = ({name for name in names if name} for names in zip(*rows, strict=True))
    options_with_names = [
        (o, n, models if o == "--alias" else tasks) for o, n in request.named_models_and_tasks
    ]
    near_by_option = {
        (o, n): "" if n in names else did_you_mean_or_list(n, sorted(names))
        for o, n, names in options_with_names
    }
    if request.only_tasks and all(
        near_by_option["--only-task", name] for name in request.only_tasks
    ):
        require_existing_names(
            [("--only-task", name) for name in request.only_tasks], near_by_option
        )
    return near_by_option


def _size_and_time(source: Source) -> tuple[int, int] | None:
    with suppress(OSError):
        status = os.stat(source.path)
        return status.st_size, status.st_mtime_ns
    return None
