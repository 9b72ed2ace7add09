"""Find the first record that causes an error, and explain what to do about the error."""

from __future__ import annotations

import json
import re
import shlex
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from passk_cli.cleanup import disk_full_error
from passk_cli.errors import BadRecordError, DataError, ParameterError
from passk_cli.files.counting.statement import ARE_VALID_COUNTS_SQL, RepeatedAttempts, Statement
from passk_cli.files.database import (
    ROW_NUMBER_COLUMN,
    disable_join_reordering,
    quote_name,
    quote_text,
)
from passk_cli.files.export import as_os_error
from passk_cli.files.history import duplicate_run_in_history_error
from passk_cli.files.reading.condition import CONDITION_REMEDY, names_in_condition
from passk_cli.files.reading.layout import Batch, json_path
from passk_cli.files.reading.non_result_files import find_duplicate_file
from passk_cli.files.reading.records import (
    Record,
    first_bad_record_error,
    mixed_line_ends_error,
    record_at,
)
from passk_cli.files.request import BOUNDS, Request
from passk_cli.files.roles import (
    EACH_ENTRY_KEY,
    ENDED_WITHOUT_VERDICT_WORDS,
    FAIL_WORDS,
    HISTORY_COLUMNS,
    NAMED_ENTRY_PATTERN,
    PASS_WORDS,
    SETTING_COLUMN_NAMES,
    find_column_and_keys,
    normalized_last_key,
)
from passk_cli.files.sources.source import (
    SKIP_BAD_LINES_FIX,
    UNCLOSED_QUOTE_PROBLEM_AND_REMEDY,
    Source,
    damaged_parquet_error,
    max_object_bytes,
    open_bytes,
    text_value_kind,
)
from passk_cli.files.vocabulary import SETTING_NAMES
from passk_cli.limits import LOW_MEMORY_ADVICE
from passk_cli.outcomes.counts import ATTEMPT_LIMIT_MESSAGE
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix
from passk_cli.suggestions import list_known_names
from passk_cli.text import plural, truncated_text

if TYPE_CHECKING:
    import duckdb

_REPEAT_FIXES: tuple[SuggestedFix, ...] = (
    SuggestedFix({"--duplicates": "first"}, "counts the first attempt (right for copies)"),
    SuggestedFix({"--duplicates": "last"}, "counts the last attempt (right for resumed runs)"),
    SuggestedFix({"--duplicates": "keep"}, "counts each row as an attempt"),
)
# passk searches at most _MAX_PROBED_RECORDS records for a field that seems to be missing.
_MAX_PROBED_RECORDS = 1000
# An error message of DuckDB that matches _EXPRESSION_ERROR_PATTERN is about an expression and not
# about a file.
_EXPRESSION_ERROR_PATTERN = re.compile(
    "(Binder|Catalog|Conversion|Out of Range|Permission|Not implemented) Error"
)


def explained_error(
    con: duckdb.DuckDBPyConnection, error: duckdb.Error, batches: Sequence[Batch], request: Request
) -> Exception:
    """Turn an error of DuckDB into a passk error with advice for the user."""
    import duckdb

    message, sources = str(error), [source for batch in batches for source in batch.sources]
    first = sources[0].name
    if isinstance(error, duckdb.OutOfMemoryException):
        problem = "there is not enough memory to read the file"
        return DataError(first, problem, LOW_MEMORY_ADVICE, name="out-of-memory")
    if isinstance(error, duckdb.IOException):
        full = disk_full_error(as_os_error(error), "temporary files")
        if full is not None:
            return full
    if "maximum_object_size" in message:
        source = max(sources, key=lambda s: max_object_bytes([s]))
        packed = source.compression != "none"
        remedy = "unpack the file and read the unpacked file"
        remedy = remedy if packed else "split the file into several files"
        problem = f"a record is longer than {max_object_bytes([source]):,} bytes"
        return BadRecordError(source.name, problem, remedy)
    if request.where and _EXPRESSION_ERROR_PATTERN.match(message):
        return _condition_error(message, request)
    for source in sources:
        if "GZIP" in message and source.path in message:
            problem = "the gzip stream is cut off or damaged"
            return DataError(source.name, problem, "copy the file again", name="damaged-file")
    for batch in batches:
        for source in batch.sources:
            fault = first_bad_record_error(source, batch.layout)
            if batch.layout.kind == "csv":
                fault = fault or mixed_line_ends_error(source)
                if (line := re.search(r"CSV Error on Line: (\d+)", message)) is not None:
                    fault = fault or BadRecordError(
                        f"{source.name}:{line[1]}", *UNCLOSED_QUOTE_PROBLEM_AND_REMEDY
                    )
                elif "state machine" in message:
                    fault = fault or BadRecordError(
                        source.name,
                        "the file contains different kinds of line ends or quotes",
                        UNCLOSED_QUOTE_PROBLEM_AND_REMEDY[1],
                    )
            if fault := fault or _not_a_list_error(con, source, batch):
                return fault
    if request.where and message.startswith("Invalid Input Error"):
        return _condition_error(message, request)
    for batch in batches:
        if batch.layout.kind == "parquet":
            return damaged_parquet_error(batch.sources[0], message)
    reason = re.sub(r"\s+", " ", message)[:300]
    remedy = "`passk describe FILE` shows how passk reads the file"
    return DataError(first, reason, remedy, name="unreadable-file")


def _condition_error(message: str, request: Request) -> ParameterError:
    problem = message.split("\n")[0].rstrip("!.")
    remedy = CONDITION_REMEDY
    if "Malformed JSON" in message:
        problem = "the condition compares a text with a part of a nested column"
        remedy = "read the part as text with ->>, for example meta->>'lang' = 'py'"
    if "Cannot compare values" in message or "Cannot mix values" in message:
        problem = "the condition compares a text with a number or a truth value"
        remedy = "put the value in quotes ('0'), or write TRY_CAST(COLUMN AS DOUBLE) for the column"
    return ParameterError(
        OptionWithValue("--where", request.where), f"{problem}; {remedy}", name="bad-condition"
    )


class _RowFulfillingCondition(NamedTuple):
    """A row for which a condition is true, with the place of the row and the selected values."""

    batch: Batch
    source: Source
    place: str
    record: Record
    selected_values: Sequence[Any]


def first_matching_rows(
    con: duckdb.DuckDBPyConnection,
    statement: Statement,
    condition: str,
    selected: Sequence[str] = ("task",),
    most: int = 1,
) -> list[_RowFulfillingCondition]:
    """The first rows for which a condition is true, in the order of the files.

    condition, selected : SQL that uses the columns of `Statement.matching_rows_sql`.
    """
    import duckdb

    def ask(attempted: Statement, selection: str) -> list[tuple[Any, ...]]:
        try:
            return con.execute(
                f"{attempted.matching_rows_sql(condition)} SELECT {selection}"
            ).fetchall()
        except duckdb.Error as error:
            again = attempted.with_more_care(error)
            return [] if again is None else ask(again, selection)

    disable_join_reordering(con)
    con.execute("SET preserve_insertion_order = true")
    columns, rows = ", ".join(selected), list[_RowFulfillingCondition]()
    files = {s.path: (s, batch) for batch in statement.batches for s in batch.sources}
    paths = [*files]
    if len(paths) > 1:
        file_rows = ask(statement.with_only_files(statement.batches), "DISTINCT file FROM matching")
        paths = sorted((path for (path,) in file_rows), key=lambda path: files[path][0].position)
    for source, batch in map(files.__getitem__, paths):
        file_statement = statement.with_only_files(
            [replace(batch, sources=(source,))]
        ).with_changes(has_row_numbers=True)
        in_file = f"FROM matching WHERE file = {quote_text(source.path)}"
        order = f"ORDER BY place, TRY_CAST(attempt AS BIGINT) LIMIT {most - len(rows)}"
        for number, *values in ask(file_statement, f"place, {columns} {in_file} {order}"):
            rows.append(
                _RowFulfillingCondition(batch, source, *record_at(batch, source, number), values)
            )
        if len(rows) == most:
            return rows
    if not rows:
        batch = statement.batches[0]
        nowhere = _RowFulfillingCondition(
            batch, batch.sources[0], batch.sources[0].name, {}, (None,) * len(selected)
        )
        first_values = ask(statement, f"{columns} FROM matching LIMIT 1")
        rows = [nowhere._replace(selected_values=first_values[0]) if first_values else nowhere]
    return rows


def bad_outcome_error(con: duckdb.DuckDBPyConnection, statement: Statement) -> DataError:
    """The error for the first outcome that passk cannot interpret, including impossible counts."""
    sizes = ["n_text", "c_text", ARE_VALID_COUNTS_SQL] if statement.has_counts else []
    (row,) = first_matching_rows(
        con, statement, "task IS NOT NULL AND verdict = -1", ["outcome", *sizes]
    )
    (outcome, *counts), roles = row.selected_values, row.batch.roles
    if roles.kind_of_rows == "counts":
        n, c, too_many = counts
        if too_many:
            return DataError(
                row.place, f"{roles.n} = {n}", ATTEMPT_LIMIT_MESSAGE, name="bad-counts"
            )
        count_texts = [f"{name} = {text}" if text else f"{name} is empty"
                 for name, text in ((roles.n, n), (roles.c, c))]  # fmt: skip
        problem = f"{' and '.join(count_texts)} cannot be counts"
        remedy = "n and c must be whole numbers with n ≥ 1 and 0 ≤ c ≤ n"
        return DataError(row.place, problem, remedy, name="bad-counts")
    if _is_last_outcome_cut_off(row, str(outcome)):
        problem = f"{truncated_text(str(outcome))!r} is at the end of the file, without a line end"
        return DataError(
            row.place, problem, "check whether the file is cut off", name="damaged-file"
        )
    number = text_value_kind(str(outcome)) == "number"
    value = outcome if number else json.dumps(outcome, ensure_ascii=False)
    problem = f'"{roles.outcome}" is {truncated_text(str(value))}'
    remedy, settles = "expected a number or true/false", list[SuggestedFix]()
    if not number and (plain := _number_without_comma_or_percent(str(outcome))):
        remedy = f"write numbers with a decimal point and without %, for example {plain}"
    elif not statement.request.are_scores_left_unjudged:
        remedy = "expected true/false, 0/1 or a score"
        judged = statement.request.passing_score is not None
        says = SuggestedFix(
            {"--threshold": Placeholder("X")}, "sets the score from which an attempt passes"
        )
        settles = [] if judged else [says]
    if number:
        remedy = "best@k, worst@k and mean need no threshold"
    return DataError(row.place, problem, remedy, name="bad-outcome", settles=settles)


def _is_last_outcome_cut_off(row: _RowFulfillingCondition, outcome: str) -> bool:
    begins = any(word.startswith(outcome.lower()) for word in (*PASS_WORDS, *FAIL_WORDS))
    if row.batch.layout.kind != "csv" or row.source.frame is not None or not begins:
        return False
    with open_bytes(row.source) as stream:
        ((number, last),) = deque(enumerate(stream, 1), maxlen=1)
    # If an unknown word also occurs in an earlier row, the word was not cut off at the end of the
    # file.
    return last.endswith(outcome.encode()) and str(row.place).endswith(f":{number}")


def _number_without_comma_or_percent(text: str) -> str:
    """Rewrite a number that has a decimal comma or a percent sign. The result is "" for other
    texts.

    The result is also "" for 1,234, because its comma may be a thousands separator.

    >>> [_number_without_comma_or_percent(text) for text in ("0,48", "85 %", "1,234", "maybe")]
    ['0.48', '85', '', '']
    """
    thousands = "(?![1-9][0-9]{0,2},[0-9]{3}$)"
    number = re.fullmatch(thousands + r"([+-]?[0-9]+)(?:[.,]([0-9]+))?\s*%?", text.strip())
    return ".".join(filter(None, number.groups())) if number else ""


def missing_outcome_error(
    con: duckdb.DuckDBPyConnection, statement: Statement, total: int, *, has_outcomes: bool
) -> DataError:
    """The error for the first missing outcome."""
    (row,) = first_matching_rows(
        con, statement, "task IS NOT NULL AND verdict IS NULL", ["outcome"]
    )
    request, column, (outcome,) = statement.request, row.batch.roles.outcome, row.selected_values
    settles = [SuggestedFix({"--missing": "drop"}, "leaves these attempts out")]
    if not request.are_scores_left_unjudged:
        settles.insert(0, SuggestedFix({"--missing": "fail"}, "counts them as failures"))
        if request.supports_missing_bounds and not request.attempts:
            settles.append(SuggestedFix({"--missing": BOUNDS}, "gives ranges"))
    ended = outcome is not None and outcome.strip().lower() in ENDED_WITHOUT_VERDICT_WORDS
    if not (has_outcomes or ended or row.batch.layout.normalized_rows_file):
        # A column without any value is not the outcome, so passk does not suggest --missing.
        problem = f'"{column}" has no value in any of {plural(total, "attempt")}'
        other_column = SuggestedFix(
            {"--field": {"outcome": Placeholder("COLUMN")}}, "names another column"
        )
        return DataError(row.place, problem, name="missing-outcome", settles=[other_column])
    absent = f'"{column}" is {json.dumps(outcome)}, which is not an outcome' if ended else ""
    problem, reason = absent or f'"{column}" has no value', ""
    if row.batch.layout.normalized_rows_file:
        reason = f": {row.record['reason']}" if row.record.get("reason") else ""
        problem = "no outcome" if column == "outcome" else problem
    problem += f"{reason} ({plural(total, 'attempt')} in all)"
    return DataError(row.place, problem, name="missing-outcome", settles=settles)


def outcome_field_in_no_record_error(
    con: duckdb.DuckDBPyConnection, statement: Statement
) -> DataError | None:
    """The error for a nested outcome field that does not exist in the first 1,000 records."""
    for batch in statement.batches:
        outcome = batch.roles.outcome or ""
        base, keys = find_column_and_keys(outcome, batch.layout.kinds_by_column) or ("", [])
        if (
            not keys
            or batch.layout.has_typed_values
            or any(map(NAMED_ENTRY_PATTERN.fullmatch, keys))
        ):
            continue
        column, path = quote_name(base), json_path(keys).replace(f'."{EACH_ENTRY_KEY}"', "[*]")
        rows = statement.with_only_files([batch]).relation_sql(batch, {base: "JSON"})
        sql = f"SELECT {column}, json_exists({column}, {path})::VARCHAR FROM {rows}"
        values = con.execute(f"{sql} LIMIT {_MAX_PROBED_RECORDS}").fetchall()
        if any("true" in (has_field or "") for _, has_field in values):
            continue
        names: dict[str, None] = {}
        for value in (json.loads(text) for text, _ in values if text):
            for entry in value if isinstance(value, list) else [value]:
                names |= dict.fromkeys(entry if isinstance(entry, dict) else ())
        problem = f"no column {outcome!r}"
        remedy = f"{base} contains {', '.join(islice(names, 12)) or 'no fields'}"
        return DataError(batch.sources[0].name, problem, remedy, name="no-such-column")
    return None


def condition_values_text(con: duckdb.DuckDBPyConnection, statement: Statement) -> str:
    """A sentence that lists some values of the first column in --where. The result is "" if this
    column is a nested field.
    """
    column, values = [*names_in_condition(con, statement.request.where), ""][0], dict[str, None]()
    for batch in statement.batches:
        if "record" not in batch.layout.kinds_by_column.get(column, {"record"}):
            rows = statement.with_only_files([batch]).relation_sql(batch, {column: "VARCHAR"})
            sql = f"SELECT {quote_name(column)}::VARCHAR FROM {rows} LIMIT {_MAX_PROBED_RECORDS}"
            values |= dict.fromkeys(str(value) for (value,) in con.execute(sql).fetchall())
    return f"For {column}, {list_known_names(sorted(values))}" if values else ""


def missing_name_error(
    con: duckdb.DuckDBPyConnection,
    statement: Statement,
    role: str,
    lacking: tuple[int, int] = (0, 1),
) -> DataError:
    """The error for the first record without a task or a model.

    lacking : the number of attempts without a task, and the number of all attempts.
    """
    nameless = "task IS NULL" if role == "task" else "task IS NOT NULL AND model IS NULL"
    (row,) = first_matching_rows(con, statement, nameless)
    lacking_count, attempt_count = lacking
    # A few records without a task are probably summaries.
    if lacking_count > max(5, attempt_count / 5) and not row.batch.layout.normalized_rows_file:
        problem = f"{lacking_count:,} of {attempt_count:,} attempts have no {row.batch.roles.task}"
        other_column = SuggestedFix(
            {"--field": {"task": Placeholder("COLUMN")}}, "names another task column"
        )
        return DataError(row.source.name, problem, name="no-task-column", settles=[other_column])
    if row.batch.layout.kind == "frame":
        column = row.batch.roles.column(role)
        remedy = f"drop rows without a value with .dropna(subset={[column]!r})"
        return DataError(
            row.place, f"the column {column!r} has no value", remedy, name="missing-name"
        )
    text = json.dumps(row.record, ensure_ascii=False, separators=(",", ":"), default=str)
    remedy, settle = "is this record a summary?", SKIP_BAD_LINES_FIX
    if role == "model":
        present = f"{quote_name(str(row.batch.roles.model))} IS NOT NULL"
        remedy = "other records have a model; label=path names one model for all records of a file"
        settle = SuggestedFix({"--where": present}, "leaves these out")
    problem = f"no {role} in {truncated_text(text)}"
    return DataError(row.place, problem, remedy, name="missing-name", settles=[settle])


def repeated_attempt_error(
    con: duckdb.DuckDBPyConnection, statement: Statement, repeats: RepeatedAttempts
) -> DataError:
    """The error for the first repeated attempt. The error names the places of the first two rows
    with this attempt."""
    key = ("model", *statement.groups, "task", "attempt")
    same = (
        f"{column} IS NOT DISTINCT FROM {'NULL' if value is None else quote_text(value)}"
        for column, value in zip(key, repeats.first_repeated_attempt, strict=True)
    )
    first, *later_rows = first_matching_rows(con, statement, " AND ".join(same), ["task"], 2)
    model, *_, task, attempt = repeats.first_repeated_attempt
    subject = f"attempt {attempt} of model {model!r} at task {task!r}"
    if all(batch.roles.kind_of_rows == "counts" for batch in statement.batches):
        subject = f"task {task!r} of model {model!r}"
    remedy = before = ""
    for later_row in later_rows:
        before = f", first seen at {first.place}"
        two_files = later_row.source is not first.source
        remedy = "if the files are of different models, name them as label=path" * two_files
        if remedy and find_duplicate_file([("", first.source), ("", later_row.source)]):
            remedy = f"the files are byte for byte the same: leave {later_row.source.name} out"
    place = (later_rows or [first])[0].place
    rows, contradicting = plural(repeats.repeat_row_count, "duplicate row"), 0
    if not statement.has_counts:
        ((contradicting,),) = con.execute(statement.contradicting_repeat_count_sql()).fetchall()
        if contradicting:
            rows += f", {plural(contradicting, 'attempt')} with different outcomes"
    problem = f"{subject} is duplicated{before} ({rows})"
    settings = [*_differing_settings(first.record, later_rows[0].record)] if later_rows else []
    if settings:
        problem += f"; the two differ in {' and '.join(settings)}"
    copy, resumed, as_attempts = _REPEAT_FIXES
    differs = any(later.record != first.record for later in later_rows)
    settles: tuple[SuggestedFix, ...] = (resumed, copy, as_attempts) if differs else _REPEAT_FIXES
    if settings:
        # Attempts under different settings are neither copies nor resumed runs. passk cannot
        # suggest one command for all attempts, because attempts in other files may differ in other
        # settings.
        flags = " ".join(f"--by {shlex.quote(name)}" for name in settings)
        settles, remedy = (), f"report each setting separately with {flags}"
    column = first.batch.roles.attempt
    if column and contradicting and repeats.repeat_row_count >= 2 * repeats.attempt_count:
        # passk does not suggest `--duplicates first`, because this option would discard most
        # attempts.
        model_count_sql = (
            f"WITH {statement.rows_with_final_model_names_sql(None)} SELECT"
            f" count(DISTINCT model) FROM named"
        )
        ((models,),) = con.execute(model_count_sql).fetchall()
        way = {"--by": (column,), "--duplicates": "keep"}
        split = SuggestedFix({"--field": {"model": column}} if models == 1 else way,
                       "reports each value separately")  # fmt: skip
        several = len({source.path for batch in statement.batches for source in batch.sources}) > 1
        settles = (
            (split, as_attempts)
            if several and column not in statement.request.by
            else (as_attempts,)
        )
        problem, remedy = f"{problem}; {column} does not seem to number the attempts", ""
    if all({*HISTORY_COLUMNS} <= {*batch.layout.kinds_by_column} for batch in statement.batches):
        files = list(dict.fromkeys(row.source.name for row in (first, *later_rows)))
        if "run" in statement.request.by:
            run = str(first.record["run"])
            return duplicate_run_in_history_error(
                f"run {run} of {model}", str(first.record["suite"]), files
            )
        problem = f"this is a history of runs, and {subject} is in several runs"
        settles, remedy = _history_run_choice_fixes(con, statement), ""
    return DataError(place, problem, remedy, name="duplicate-attempts", settles=settles)


def _differing_settings(
    record: Mapping[str, Any], other_record: Mapping[str, Any], above: str = ""
) -> Iterator[str]:
    """The names of the settings that differ between two records. Nested settings are compared one
    level deep.

    >>> [*_differing_settings({"mode": "a", "x": {"effort": "low"}, "time": 1}, {"mode": "b"})]
    ['mode', 'x.effort']
    """
    for key in {**record, **other_record}:
        value, against = record.get(key), other_record.get(key)
        if not above and (isinstance(value, dict) or isinstance(against, dict)):
            inside = [part if isinstance(part, dict) else {} for part in (value, against)]
            yield from _differing_settings(inside[0], inside[1], key)
        elif (
            normalized_last_key(key) in SETTING_NAMES | {*SETTING_COLUMN_NAMES, "suite"}
            and value != against
        ):
            yield f"{above}.{key}".removeprefix(".")


def _history_run_choice_fixes(
    con: duckdb.DuckDBPyConnection, statement: Statement
) -> tuple[SuggestedFix, ...]:
    course = SuggestedFix({}, "shows how its runs develop", "trend")
    runs = " UNION ALL ".join(
        f'SELECT run, "at" FROM {batch.layout.relation_sql([s.path for s in batch.sources], {})}'
        for batch in statement.batches
    )
    ((last,),) = con.execute(f'SELECT run FROM ({runs}) ORDER BY "at" DESC LIMIT 1').fetchall()
    return SuggestedFix({"--where": f"run = {quote_text(str(last))}"}, "reads its last run"), course


def _not_a_list_error(
    con: duckdb.DuckDBPyConnection, source: Source, batch: Batch
) -> DataError | None:
    """The error for the first record without a list of outcomes, if other records contain lists."""
    import duckdb

    base, keys = find_column_and_keys(batch.roles.outcome or "", batch.layout.kinds_by_column) or (
        "",
        [],
    )
    if batch.roles.kind_of_rows != "lists" or batch.layout.has_typed_values:
        return None
    path = json_path(keys[: keys.index(EACH_ENTRY_KEY)] if EACH_ENTRY_KEY in keys else keys)
    value, place = f"json_extract({quote_name(base)}, {path})", quote_name(ROW_NUMBER_COLUMN)
    rows = batch.layout.relation_sql(
        [source.path], {base: "JSON"}, lenient=True, object_bytes=max_object_bytes([source]),
        numbered=True,
    )  # fmt: skip
    sql = f"SELECT {place}, {value} FROM {rows} WHERE json_type({value}) NOT IN ('ARRAY', 'NULL')"
    try:
        row = con.execute(f"{sql} ORDER BY {place} LIMIT 1").fetchone()
    except duckdb.Error:
        return None
    if row is None:
        return None
    problem = f'"{batch.roles.outcome}" is {truncated_text(row[1])}'
    place, _ = record_at(batch, source, row[0])
    return BadRecordError(
        place, problem, "in other records, this field contains a list of outcomes"
    )
