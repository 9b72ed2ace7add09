"""Count attempts and passes with one SQL statement that returns one row per model and task.

The statement reads only columns with a role, usually as strings. The statement groups the rows by
the values of these columns, so passk computes the verdict of each distinct outcome only once. One
fingerprint per model and task detects repeated attempt numbers. The fingerprint is the XOR of the
hashes of the attempt numbers. passk compares the fingerprint with the fingerprints of 0, …, n − 1
and of 1, …, n. If the fingerprint differs from both, passk counts the repeated attempts exactly.
Attempt numbers are read as DOUBLE if they look like numbers, which saves a tenth of the reading
time. Equal strings are also equal as DOUBLE, so the fingerprint cannot miss a repeated attempt. To
count repeated attempts exactly, passk reads attempt numbers as strings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import duckdb

from passk_cli.errors import DataError
from passk_cli.files.database import (
    FILE_COLUMN,
    ROW_NUMBER_COLUMN,
    alias_sql,
    coded_columns,
    models_condition,
    quote_name,
    quote_text,
    tasks_condition,
)
from passk_cli.files.reading.layout import (
    NUMBER_CAST_SQL_VARIANTS,
    Batch,
    batches_in_argument_order,
    require_unique_keys_sql,
)
from passk_cli.files.request import Request
from passk_cli.files.roles import (
    AMOUNT_UNITS,
    BELOW,
    ENDED_WITHOUT_VERDICT_WORDS,
    REACHED,
    ROLES,
    amount_addends,
    find_column_and_keys,
    is_list_column,
    outcome_verdict_sql,
    reaches_threshold_sql,
)
from passk_cli.files.sources.path_templates import (
    TEMPERATURE_COLUMN_NAMES,
    template_and_temperature,
)
from passk_cli.files.sources.source import max_object_bytes
from passk_cli.limits import MOST_ATTEMPTS
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list

_N, _C = "TRY_CAST(n_text AS DOUBLE)", "TRY_CAST(c_text AS DOUBLE)"
ARE_VALID_COUNTS_SQL = (
    f"isfinite({_N}) AND {_N} = floor({_N}) AND {_N} >= 1"
    f" AND {_C} = floor({_C}) AND {_C} BETWEEN 0 AND {_N}"
)
PASS_SHARE_SQL = f"{_C} / {_N}"


# A column with a name in BENCHMARK_COLUMN_NAMES may contain the benchmark of a task.
BENCHMARK_COLUMN_NAMES = ("suite", "benchmark", "dataset", "subset", "split")


def _possible_benchmark_columns(batches: Sequence[Batch], request: Request) -> tuple[str, ...]:
    """The columns that may contain the benchmark of a task. The result is empty if --pool names a
    column that may contain the benchmark."""
    columns = {name for batch in batches for name in batch.layout.kinds_by_column}
    lower_names = {
        name: name.lower() for name in sorted(columns) if name.lower() in BENCHMARK_COLUMN_NAMES
    }
    if {name.lower() for name in request.pool} & {*BENCHMARK_COLUMN_NAMES}:
        return ()
    roles = {column for batch in batches for column in batch.roles.columns().values()}
    benchmarks = {*lower_names} - {*request.by, request.cluster, *roles}
    return tuple(
        sorted(benchmarks, key=lambda name: BENCHMARK_COLUMN_NAMES.index(lower_names[name]))
    )


class LateColumnError(Exception):
    """A column with a role first occurs after the records from which passk detected the columns."""


@dataclass(frozen=True, eq=False, repr=False)
class ReadingCare:
    """How carefully passk reads rows. At first, passk reads as fast as possible. If a row causes an
    error, passk reads the rows again with more care.

    is_table_read_sequentially : whether a text table is read sequentially. Parallel reading of
        parts of the table is faster, but fails for lines of more than 2 MB and for parts that begin
        inside quotes.
    condition_number_cast_index : the index of an entry in NUMBER_CAST_SQL_VARIANTS. The entry is
        the SQL that converts values to numbers in conditions.
    has_numeric_attempts : whether attempt numbers are read as DOUBLE.
    max_record_bytes : the maximum size of a record, in bytes.
    """

    is_table_read_sequentially: bool
    condition_number_cast_index: int = 0
    has_numeric_attempts: bool = False
    max_record_bytes: int = 1 << 24

    @property
    def attempt_sql_type(self) -> str:
        return "DOUBLE" if self.has_numeric_attempts else "VARCHAR"


@dataclass(frozen=True, eq=False, repr=False)
class RepeatedAttempts:
    """The attempts that occur more than once.

    attempt_count : the number of attempts that occur more than once.
    repeat_row_count : the number of rows that repeat an earlier row of the same attempt.
    first_repeated_attempt : the first repeated attempt, as (model, groups …, task, attempt).
    """

    attempt_count: int = 0
    repeat_row_count: int = 0
    first_repeated_attempt: tuple[str | None, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Tally:
    """The result of the SQL statement that counts attempts. Each array in `cell_columns` has one
    entry for each combination of model, groups and task.

    cell_columns : maps columns to arrays, which are sorted by name, groups and task. The columns
        name, group0, … and task are `TextColumn` objects. Further `TextColumn` objects are
        model_low and model_high (if files have labels), cluster_low and cluster_high (if tasks have
        clusters), and benchmark0_low, … (if columns may contain benchmarks). The columns n, passed,
        missing, bad, graded, numbered and attempts contain integers. The columns unrepeated, worded
        (whether a word such as "timeout" means a missing outcome) and files_differ contain truth
        values.
        and files_differ contain truth values.
    cell_table_before_deduplication : like `cell_columns`, but before repeated attempts were
        dropped.
    skipped_bad_csv_row_count : the number of rows that --skip-bad skipped, because the rows have a
        wrong number of fields.
    missing_reason_counts : maps each model to counts of the words for a missing outcome, such as
        "timeout".
    kept_duplicate : "first" or "last" if --duplicates kept the first or the last row of each
        repeated attempt, or None if --duplicates dropped no rows.
    """

    cell_columns: dict[str, Any]
    cell_table_before_deduplication: dict[str, Any]
    repeats: RepeatedAttempts
    skipped_bad_csv_row_count: int
    missing_reason_counts: dict[str, dict[str, int]]
    kept_duplicate: str | None = None


class Statement:
    """The SQL statement that counts the attempts and passes in files.

    has_row_numbers : whether the column `place` contains the number of each row in its file.
    skips_bad_lines : whether lines that are not records are skipped.
    """

    has_row_numbers = skips_bad_lines = False

    def __init__(
        self,
        batches: Sequence[Batch],
        names: Mapping[str, str],
        request: Request,
        where: Sequence[str],
    ) -> None:
        self.batches, self.request, self.where = batches, request, where
        self.names = names
        self.groups = [f"group{i}" for i in range(len(request.by))]
        self.has_counts = any(b.roles.kind_of_rows == "counts" for b in batches)
        typed = all(
            batch.layout.has_typed_values and batch.roles.kind_of_rows == "attempts"
            for batch in batches
        )
        kinds = [dict(b.layout.columns).get(b.roles.outcome or "", frozenset()) for b in batches]
        self.truths = (
            typed
            and request.passing_score is None
            and all(column_kinds == {"bool"} for column_kinds in kinds)
        )
        parts = {
            part for b in batches for of in b.layout.joined_columns.values() for part in of.parts
        }
        grouping = {*request.by, request.cluster, *parts}
        self.carried: tuple[str, ...] = ()
        files = [source.path for batch in batches for source in batch.sources]
        self.only_file = files[0] if len(files) == 1 else None
        # Attempt numbers are read as DOUBLE only if their column has no other role. If the attempt
        # column were always a DOUBLE, --skip-bad would skip rows of a CSV file in which the attempt
        # is not a number.
        numbered = all(
            not (batch.layout.kind == "csv" and request.skip_bad)
            and batch.layout.kinds_by_column.get(batch.roles.attempt) == {"number"}
            and batch.roles.attempt not in (*grouping, *where, *BENCHMARK_COLUMN_NAMES)
            and [*batch.roles.columns().values()].count(batch.roles.attempt) == 1
            for batch in batches
            if batch.roles.kind_of_rows == "attempts" and batch.roles.attempt is not None
        )
        self.benchmarks = _possible_benchmark_columns(batches, request)
        self.labelled = any(b.roles.model and s.label for b in batches for s in b.sources)
        self.open = any(not batch.layout.contains_all_columns for batch in batches)
        careful = request.skip_bad or all(batch.layout.kind != "csv" for batch in batches)
        self.care = ReadingCare(careful, has_numeric_attempts=numbered)

    def with_changes(self, **changes: Any) -> Statement:
        """A copy of the statement with changed attributes."""
        changed = copy(self)
        for name, value in changes.items():
            assert hasattr(self, name), name
            setattr(changed, name, value)
        return changed

    def with_more_care(self, error: Exception) -> Statement | None:
        """The statement to try after an error of DuckDB, or None if more care cannot help."""
        care = self.care
        if care.has_numeric_attempts and isinstance(error, duckdb.ConversionException):
            return self.with_text_attempts
        if "maximum_object_size" in str(error):
            longest = max(max_object_bytes(batch.sources) for batch in self.batches)
            if care.max_record_bytes < longest:
                return self.with_changes(care=replace(care, max_record_bytes=longest))
        if not care.is_table_read_sequentially:
            return self.with_changes(care=replace(care, is_table_read_sequentially=True))
        if self.where and care.condition_number_cast_index < len(NUMBER_CAST_SQL_VARIANTS) - 1:
            return self.with_changes(
                care=replace(care, condition_number_cast_index=care.condition_number_cast_index + 1)
            )
        # For a bad number, DuckDB raises a ConversionException in CSV files, and other errors in
        # JSON files.
        json = any(batch.layout.kind != "csv" for batch in self.batches)
        return self.with_text_attempts if care.has_numeric_attempts and json else None

    @property
    def with_text_attempts(self) -> Statement:
        """A copy of the statement that reads attempt numbers as strings."""
        return self.with_changes(care=replace(self.care, has_numeric_attempts=False))

    def with_columns(self, columns: Sequence[str]) -> Statement:
        """A copy of the statement that also reads the given columns."""
        batches = [replace(b, layout=b.layout.with_further_columns(columns)) for b in self.batches]
        return self.with_only_files(batches).with_changes(carried=tuple(columns))

    def with_only_files(self, batches: Sequence[Batch]) -> Statement:
        """A copy of the statement that reads only the given files. The copy reads the files
        sequentially and reads attempt numbers as strings."""
        file_statement = Statement(batches, self.names, self.request, self.where)
        care = replace(self.care, is_table_read_sequentially=True, has_numeric_attempts=False)
        return file_statement.with_changes(care=care, has_counts=self.has_counts)

    def tally_sql(self, keep: str | None) -> str:
        """The SQL that returns the tally of attempts. If `keep` is "first" or "last", only this row
        of each repeated attempt counts."""
        # If there is only one file, passk does not group the rows by file, because counting would
        # take 5 % longer.
        only = self.only_file
        file = "file, " if only is None else ""
        keys = file + ", ".join(["model", *self.groups, "task", "outcome"])
        count_columns = ", is_count, n_text, c_text" if self.has_counts else ""
        spans = wider = ""
        if self.request.cluster:
            spans = ", min(cluster) AS cluster_low, max(cluster) AS cluster_high"
            wider = ", min(cluster_low) AS cluster_low, max(cluster_high) AS cluster_high"
        for i in range(len(self.benchmarks)):
            low, high = f"benchmark{i}_low", f"benchmark{i}_high"
            spans += f", min(benchmark{i}) AS {low}, max(benchmark{i}) AS {high}"
            wider += f", min({low}) AS {low}, max({high}) AS {high}"
        paths = "hash(judged.file)"
        differ = "false" if only is not None else f"min({paths}) <> max({paths})"
        models = "min(model) AS model_low, max(model) AS model_high, " * self.labelled
        cell = ", ".join([*self.groups, "task"])
        truths = keep is None and self.truths
        # Converting truth values to strings once per group is faster than converting the values in
        # each row.
        as_text = " REPLACE (outcome::VARCHAR AS outcome)" if truths else ""
        late = ", bool_or(late) AS late" if self.open else ""
        n = f"WHEN verdict = 2 THEN rows * {_N}" if self.has_counts else ""
        c = f"WHEN 2 THEN rows * {_C}" if self.has_counts else ""
        unrepeated = "coalesce(fingerprint = from_0 OR fingerprint = from_1, false)"
        return f"""
WITH {self.rows_sql(keep, truths=truths)},
cells AS (
  SELECT {"" if only is None else quote_text(only) + " AS file, "}{keys}{count_columns},
         count(*) AS rows, count(attempt) AS numbered,
         bit_xor(hash(attempt)) AS fingerprint{spans}{late}
  FROM rows GROUP BY {keys}{count_columns}),
judged AS (SELECT *, {self.attempt_verdict_sql()} AS verdict FROM (SELECT *{as_text} FROM cells)),
totals AS (
  SELECT coalesce(names.name, model) AS name, {cell},
         sum(CASE WHEN verdict IN (0, 1, 3) THEN rows {n} ELSE 0 END)::BIGINT AS n,
         sum(CASE verdict {c} WHEN 1 THEN rows ELSE 0 END)::BIGINT AS passed,
         coalesce(sum(rows) FILTER (verdict IS NULL), 0)::BIGINT AS missing,
         coalesce(sum(rows) FILTER (verdict = -1), 0)::BIGINT AS bad,
         coalesce(sum(rows) FILTER (verdict = 3), 0)::BIGINT AS graded,
         coalesce(bool_or(verdict IS NULL AND outcome IS NOT NULL), false) AS worded,
         {models}{differ} AS files_differ,
         sum(numbered)::BIGINT AS numbered, sum(rows)::BIGINT AS attempts,
         bit_xor(fingerprint) AS fingerprint{wider}{late}
  FROM judged LEFT JOIN names ON names.file = judged.file
  GROUP BY coalesce(names.name, model), {cell}),
expected AS (
  SELECT i + 1 AS count, bit_xor(hash(i::{self.care.attempt_sql_type})) OVER (ORDER BY i) AS from_0,
         bit_xor(hash((i + 1)::{self.care.attempt_sql_type})) OVER (ORDER BY i) AS from_1
  FROM range((SELECT least(max(numbered), 100000)::BIGINT FROM totals)) AS t(i))
SELECT totals.* EXCLUDE (fingerprint),
       numbered = 0 OR {unrepeated} AS unrepeated
FROM totals LEFT JOIN expected ON expected.count = totals.numbered"""

    def repeated_attempt_count_sql(self) -> str:
        """SQL that returns the exact number of repeated attempts, and the first repeated
        attempt.
        """
        columns = ["model", *self.groups, "task", "attempt"]
        key = ", ".join(columns)
        first = ", ".join(f"(first({c} ORDER BY {key}))" for c in columns)
        return f"""
WITH {self.rows_with_final_model_names_sql(None)},
keyed AS (
  SELECT {key}, count(*) AS times FROM named
  WHERE attempt IS NOT NULL AND task IS NOT NULL GROUP BY {key})
SELECT count(*), coalesce(sum(times - 1), 0)::BIGINT, {first} FROM keyed WHERE times > 1"""

    def contradicting_repeat_count_sql(self) -> str:
        """SQL for the number of repeated attempts that have different outcomes."""
        key = ", ".join(["model", *self.groups, "task", "attempt"])
        return f"""
WITH {self.rows_with_final_model_names_sql(None)}
SELECT count(*) FROM (SELECT 1 FROM named WHERE attempt IS NOT NULL AND task IS NOT NULL
GROUP BY {key} HAVING count(DISTINCT trim(outcome)) > 1)"""

    def missing_reason_counts_sql(self, keep: str | None) -> str:
        """SQL for the number of missing outcomes per model and reason."""
        return f"""
WITH {self.rows_with_final_model_names_sql(keep)}
SELECT model, lower(trim(outcome)) AS word, count(*)
FROM named WHERE word IN {ENDED_WITHOUT_VERDICT_WORDS} AND task IS NOT NULL GROUP BY 1, 2"""

    def matching_rows_sql(self, condition: str) -> str:
        """SQL that defines the CTE `matching`, which contains all rows for which a condition is
        true. The condition can use all columns and `verdict` (see `attempt_verdict_sql`)."""
        return f"""
WITH {self.rows_with_final_model_names_sql(None)},
matching AS (SELECT named.*, {self.attempt_verdict_sql()} AS verdict FROM named WHERE
{condition})"""

    def outcome_words_sql(self) -> str:
        """SQL for each outcome word, with the number of rows and the verdict of the word."""
        return f"""
WITH {self.rows_sql(None)}
SELECT trim(outcome) AS word, count(*) AS times, any_value({self.attempt_verdict_sql()}) AS verdict
FROM rows WHERE task IS NOT NULL AND outcome IS NOT NULL GROUP BY 1 ORDER BY times DESC, word"""

    def sampled_task_rows_sql(self, one_in: int) -> str:
        """SQL that selects all rows of some tasks. A hash selects one in `one_in` tasks."""
        return f"""
WITH {self.rows_with_final_model_names_sql(None)}
SELECT named.* FROM named WHERE task IS NOT NULL AND hash(task) % {one_in} = 0"""

    def model_task_pairs_sql(self) -> str:
        """SQL for all pairs of a model and a task in the data, even if --model or --only-task
        excludes the pair."""
        unchosen = replace(
            self.request.with_all_models(), alias={}, only_tasks=(), exclude_tasks=()
        )
        return f"""
WITH {self.with_changes(request=unchosen).rows_with_final_model_names_sql(None)}
SELECT DISTINCT model, task FROM named"""

    def models_sql(self) -> str:
        """SQL for the names of all models, including models that options exclude."""
        return f"""
WITH
{self.with_changes(request=self.request.with_all_models()).rows_with_final_model_names_sql(None)}
SELECT DISTINCT model FROM named WHERE model IS NOT NULL ORDER BY model"""

    def rows_with_final_model_names_sql(self, keep: str | None) -> str:
        """The CTEs of `rows_sql`, followed by a CTE `named`, which contains the rows with the final
        names of the models."""
        return f"""{self.rows_sql(keep)},
named AS (SELECT rows.* REPLACE (coalesce(names.name, model) AS model)
          FROM rows LEFT JOIN names ON names.file = rows.file)"""

    def rows_sql(self, keep: str | None, *, file_order: bool = False, truths: bool = False) -> str:
        """The CTEs `names` (model names by file) and `rows` (the rows of all files as one table).

        keep : "first" or "last" if the SQL keeps only the first or the last row of each repeated
            attempt, or None if the SQL keeps all rows.
        file_order : whether the rows are in the order of files and lines. This order requires a
            connection that preserves the insertion order.
        truths : whether outcomes remain truth values. Otherwise, outcomes become strings.
        """
        names = {path: self.request.canonical_model_name(name) for path, name in self.names.items()}
        pairs = [f"({quote_text(path)}, {quote_text(n)})" for path, n in names.items()]
        ordered = file_order or keep is not None
        batches = batches_in_argument_order(self.batches) if ordered else self.batches
        rows = " UNION ALL ".join(self.batch_rows_sql(batch, truths=truths) for batch in batches)
        names_sql = f"names(file, name) AS (VALUES {', '.join(pairs) or '(NULL, NULL)'})"
        model_condition = ""
        if self.request.models or self.request.exclude_models:
            model = "coalesce(names.name, model)"
            model_condition = models_condition(
                model, self.request.models, self.request.exclude_models
            )
        condition = f"WHERE {model_condition}" if model_condition else ""
        if keep is None and not condition:
            return f"{names_sql}, rows AS ({rows})"
        if keep is None:
            return f"""{names_sql}, rows AS (
  SELECT every.* FROM ({rows}) AS every LEFT JOIN names ON names.file = every.file {condition})"""
        pick = "arg_min" if keep == "first" else "arg_max"
        return f"""{names_sql}, every AS (
  SELECT *, row_number() OVER () AS place FROM ({rows})),
kept AS (SELECT every.*, coalesce(names.name, model) AS name
         FROM every LEFT JOIN names ON names.file = every.file {condition}),
picked AS (SELECT {pick}(kept, place) AS row FROM kept
  GROUP BY {", ".join(["name", *self.groups, "task"])},
           coalesce('attempt ' || attempt, 'row ' || place)),
rows AS (SELECT row.* FROM picked)"""

    def batch_rows_sql(self, batch: Batch, *, truths: bool = False) -> str:
        """SQL that selects the rows of the files in a batch. If `truths` is set, outcomes stay
        truth values."""
        layout, roles, request = batch.layout, batch.roles, self.request
        types, nested = self.types_and_nested_paths(batch)
        paths = [s.path for s in batch.sources]
        late = self.possible_late_role_columns(batch, types)
        read = types | dict.fromkeys(late, "VARCHAR")
        relation = self.relation_sql(batch, read)
        if looked_into := {name: paths for name, paths in nested.items() if paths}:
            inside = ", ".join(
                require_unique_keys_sql(name, paths) for name, paths in looked_into.items()
            )
            relation = f"(SELECT * REPLACE ({inside}) FROM {relation})"

        text = partial(layout.column_text_sql, nested=nested)
        task, attempt, outcome = text(roles.task), text(roles.attempt), text(roles.outcome)
        if (
            self.care.has_numeric_attempts
            and layout.has_typed_values
            and roles.attempt in layout.kinds_by_column
        ):
            attempt = quote_name(roles.attempt or "")
        if truths:
            outcome = quote_name(roles.outcome or "")
        is_single_file = len(paths) == 1 and not layout.normalized_rows_file
        roles_sql = {
            "file": quote_text(paths[0]) if is_single_file else quote_name(FILE_COLUMN),
            "model": alias_sql(text(roles.model), request.alias),
            **{g: text(column) for g, column in zip(self.groups, request.by, strict=True)},
            "task": f"({text('suite')} || '/' || {task})" if batch.has_suites_in_task_ids else task,
            "attempt": f"CAST({attempt} AS {self.care.attempt_sql_type})",
            "outcome": outcome if roles.kind_of_rows == "attempts" else "NULL::VARCHAR",
        }
        if self.has_row_numbers:
            roles_sql["place"] = quote_name(ROW_NUMBER_COLUMN)
        if self.open:
            late_seen = (
                f"coalesce({', '.join(map(quote_name, late))}) IS NOT NULL" if late else "false"
            )
            roles_sql["late"] = (
                f"{late_seen} AND {text(roles.task)} IS NOT NULL" if late else late_seen
            )
        if request.cluster:
            roles_sql["cluster"] = text(request.cluster)
        for i, name in enumerate(self.benchmarks):
            roles_sql[f"benchmark{i}"] = text(
                name if find_column_and_keys(name, layout.kinds_by_column) else None
            )
        for i, name in enumerate(self.carried):
            roles_sql[f"carried{i}"] = text(
                name if find_column_and_keys(name, layout.kinds_by_column) else None
            )
        if self.has_counts:
            is_count = str(roles.kind_of_rows == "counts")
            roles_sql |= {"is_count": is_count, "n_text": text(roles.n), "c_text": text(roles.c)}
        if roles.kind_of_rows == "counts":
            roles_sql["attempt"] = f"0::{self.care.attempt_sql_type}"
        requested = request.used_attempt_facts
        attempt_columns = {
            role: column for role, column in roles.attempt_fact_columns if role in requested
        }
        unnested = {
            role: text(column, sql_type="VARCHAR[]")
            for role, column in attempt_columns.items()
            if roles.kind_of_rows == "lists"
            and role not in AMOUNT_UNITS
            and is_list_column(column, layout.kinds_by_column)
        }
        roles_sql |= {
            role: unnested.get(role) or text(column)
            for role, column in attempt_columns.items()
            if role not in AMOUNT_UNITS
        }
        lists = roles.kind_of_rows == "lists"
        roles_sql |= {
            role: layout.amount_total_sql(role, attempt_columns[role], nested, as_list=lists)
            if role in attempt_columns
            else "NULL::DOUBLE"
            for role in requested
            if role in AMOUNT_UNITS
        }
        inner = [f"{sql} AS {quote_name('#' + name)}" for name, sql in roles_sql.items()]
        if roles.kind_of_rows == "lists":
            inner.append(f'{text(roles.outcome, sql_type="VARCHAR[]")} AS "#list"')
        numbers = NUMBER_CAST_SQL_VARIANTS[self.care.condition_number_cast_index]
        compared = {c: layout.condition_value_sql(c, nested, numbers) for c in self.where}
        inner += [f"{sql} AS {quote_name(name)}" for name, sql in compared.items()]
        outer = {name: quote_name("#" + name) for name in roles_sql}
        source = f"(SELECT {', '.join(inner)} FROM {relation})"
        if request.where:
            source = f'(SELECT * FROM {source} WHERE ({request.where}\n) OR "#task" IS NULL)'
        if task_condition := tasks_condition('"#task"', request.only_tasks, request.exclude_tasks):
            source = f"(SELECT * FROM {source} WHERE {task_condition})"
        if roles.kind_of_rows == "lists":
            # A record with an empty list, or without a task, becomes one row without an outcome.
            outcomes = 'len("#list") > 0 AND "#task" IS NOT NULL'
            filled = f'CASE WHEN {outcomes} THEN "#list" ELSE [NULL] END'
            source = f'(SELECT * REPLACE ({filled} AS "#list") FROM {source})'
            outer["outcome"] = 'unnest("#list")'
            outer["attempt"] = f'unnest(range(len("#list")))::{self.care.attempt_sql_type}'
            unnested_roles = {
                *unnested,
                *(role for role in attempt_columns if role in AMOUNT_UNITS),
            }
            outer |= {role: f"unnest({quote_name('#' + role)})" for role in unnested_roles}
        rows = ", ".join(f"{sql} AS {name}" for name, sql in outer.items())
        if request.passing_score is not None and roles.kind_of_rows != "counts":
            value = "TRY_CAST(outcome AS DOUBLE)"
            passes = (
                f"if({reaches_threshold_sql(value, request.passing_score)}, '{REACHED}', '{BELOW}')"
            )
            verdict = f"CASE WHEN isfinite({value}) THEN {passes} ELSE outcome END"
            return f"SELECT * REPLACE ({verdict} AS outcome) FROM (SELECT {rows} FROM {source})"
        return f"SELECT {rows} FROM {source}"

    def relation_sql(self, batch: Batch, types: Mapping[str, str]) -> str:
        """SQL for a table that contains the given columns of all files in a batch."""
        document = batch.layout.kind == "json"
        return batch.layout.relation_sql(
            [source.path for source in batch.sources],
            types,
            skip_bad=self.request.skip_bad,
            object_bytes=max_object_bytes(batch.sources)
            if document
            else self.care.max_record_bytes,
            careful=self.care.is_table_read_sequentially,
            numbered=self.has_row_numbers,
            lenient=self.skips_bad_lines,
        )

    def possible_late_role_columns(self, batch: Batch, types: Mapping[str, str]) -> tuple[str, ...]:
        """The usual names of model and attempt columns that may first occur in later records.

        If a column already has the role, the result contains no further names for this role. Each
        name increases the reading time by 2 % for rows of 100 bytes, but hardly for rows of 1 kB.
        """
        layout, roles = batch.layout, batch.roles
        if layout.contains_all_columns:
            return ()
        open_roles = ["model"] * (roles.model is None)
        open_roles += ["attempt"] * (roles.attempt is None and roles.kind_of_rows == "attempts")
        watched = [name for role in open_roles for name in ROLES[role].names_by_likelihood[0]]
        watched += ["seed"] * ("attempt" in open_roles)
        known_columns = {column.lower() for column in (*types, *layout.kinds_by_column)}
        return tuple(name for name in dict.fromkeys(watched) if name not in known_columns)

    def condition_check_queries(self, condition: str) -> Iterator[str]:
        """Queries that read no rows, but fail if the condition does not fit the columns."""
        for batch in self.batches:
            layout, (types, nested) = batch.layout, self.types_and_nested_paths(batch)
            comparisons = (
                f"{layout.condition_value_sql(c, nested)} AS {quote_name(c)}" for c in self.where
            )
            rows = layout.relation_sql([source.path for source in batch.sources[:1]], types)
            table = f"SELECT {', '.join(comparisons) or '1'} FROM {rows}"
            yield f"EXPLAIN SELECT 1 FROM ({table}) WHERE {condition}"

    def column_renamed_in_file_queries(self, role: str) -> Iterator[str]:
        """Queries (one per batch) that find a record in which a role has another column name."""
        for batch in self.batches:
            layout, column = batch.layout, batch.roles.column(role) or ""
            known_columns = {name.lower() for name in layout.kinds_by_column}
            other_names = [
                name for name in ROLES[role].names_by_likelihood[0] if name not in known_columns
            ]
            is_derived = column in layout.joined_columns or column not in layout.kinds_by_column
            if layout.contains_all_columns or is_derived or not other_names:
                continue
            rows = self.relation_sql(batch, dict.fromkeys((column, *other_names), "VARCHAR"))
            yield (
                f"SELECT 1 FROM {rows} WHERE {quote_name(column)} IS NULL"
                f" AND coalesce({', '.join(map(quote_name, other_names))}) IS NOT NULL LIMIT 1"
            )

    def types_and_nested_paths(
        self, batch: Batch
    ) -> tuple[dict[str, str], dict[str, list[list[str]]]]:
        """The SQL types of the columns to read, and the paths of nested fields in JSON columns."""
        layout, roles = batch.layout, batch.roles
        amounts = [
            part
            for role, column in roles.attempt_fact_columns
            if role in AMOUNT_UNITS
            for part, _ in amount_addends(role, column, layout.kinds_by_column)
        ]
        columns = [c for role, c in roles.columns().items() if role not in AMOUNT_UNITS]
        columns += [*amounts, *self.request.by, *self.where]
        columns += [c for c in self.carried if find_column_and_keys(c, layout.kinds_by_column)]
        columns += [self.request.cluster] if self.request.cluster else []
        columns += [c for c in self.benchmarks if find_column_and_keys(c, layout.kinds_by_column)]
        types: dict[str, str] = {}
        nested: dict[str, list[list[str]]] = {}
        for column in (part for c in columns for part in layout.combined_columns(c)):
            path = find_column_and_keys(column, layout.kinds_by_column)
            if path is None:
                raise _missing_column_error(column, batch)
            name, keys = path
            if keys or (column in self.where and "record" in layout.kinds_by_column[name]):
                paths = nested.setdefault(name, [])
                paths += (
                    [keys] if keys and keys not in paths and not layout.has_typed_values else []
                )
            types[name] = self.care.attempt_sql_type if column == roles.attempt else "VARCHAR"
        folded: dict[str, str] = {}
        for name in types:
            first_spelling = folded.setdefault(name.lower(), name)
            if first_spelling != name:
                problem = f"the columns {first_spelling!r} and {name!r} differ only in case"
                remedy = "rename one column"
                raise DataError(batch.sources[0].name, problem, remedy, name="ambiguous-column")
        list_columns = amounts
        if roles.kind_of_rows == "lists":
            list_columns += [
                *layout.combined_columns(roles.outcome or ""),
                *(column for _, column in roles.attempt_fact_columns),
            ]
        for name in set(types) & set(list_columns) - nested.keys():
            if "list" in layout.kinds_by_column[name]:
                types[name] = "VARCHAR[]"
        return types | dict.fromkeys(nested, "JSON"), nested

    def attempt_verdict_sql(self) -> str:
        """SQL for the verdict, which is 1 (pass), 0 (failure), 2 (counts), 3 (score), −1 (unknown)
        or NULL (missing)."""
        graded = self.request.conversion is not None
        # The columns of `--all` already contain verdicts, so passk does not apply words for passes
        # and failures again.
        request = self.request
        passes, fails = ((), ()) if request.all_of else (request.passes, request.fails)
        of_attempt = outcome_verdict_sql(
            "outcome", request.passing_score, passes=passes, fails=fails, graded=graded
        )
        if not self.has_counts:
            return of_attempt
        counts = f"CASE WHEN {ARE_VALID_COUNTS_SQL} AND {_N} <= {MOST_ATTEMPTS} THEN 2 ELSE -1 END"
        return f"CASE WHEN is_count THEN {counts} ELSE {of_attempt} END"


def _missing_column_error(column: str, batch: Batch) -> DataError:
    place = batch.sources[0].name
    template = template_and_temperature(place) if column in TEMPERATURE_COLUMN_NAMES else None
    settles = [SuggestedFix({"--path": template[0]}, "reads it from names")] if template else []
    return DataError(
        place, f"no column {column!r}", did_you_mean_or_list(column, batch.layout.kinds_by_column),
        name="no-such-column", settles=settles,
    )  # fmt: skip


def run_statement(con: duckdb.DuckDBPyConnection, statement: Statement) -> tuple[Statement, Tally]:
    """Run the statement. If there may be repeated attempts, also count them exactly.

    Return the statement that succeeded, which may read with more care, and the tally.
    Errors: LateColumnError, or duckdb.Error for a bad line. The caller must locate the bad line.
    """
    csv = any(b.layout.kind == "csv" for b in statement.batches)
    con.execute("SET preserve_insertion_order = false")
    statement, cells = _run_tally(con, statement, None)
    if statement.open and cells["late"].any():
        raise LateColumnError
    all_cells = cells
    rejected = 0
    if csv and statement.request.skip_bad:
        sql = "SELECT count(DISTINCT (file_id, line)) FROM reject_errors"
        rejected = int(con.execute(sql).fetchall()[0][0])
    repeats, keep = RepeatedAttempts(), None
    policy = statement.request.duplicates
    if policy != "keep" and not cells["unrepeated"].all():
        statement = statement.with_text_attempts
        ((attempts, rows, *first),) = con.execute(statement.repeated_attempt_count_sql()).fetchall()
        repeats = RepeatedAttempts(int(attempts), int(rows), tuple(first))
        if repeats.attempt_count and policy in ("first", "last"):
            keep = policy
            con.execute("SET preserve_insertion_order = true")
            statement, cells = _run_tally(con, statement, keep)
    kinds: dict[str, dict[str, int]] = {}
    if cells["worded"].any():
        for name, word, times in con.execute(statement.missing_reason_counts_sql(keep)).fetchall():
            kinds.setdefault(name, {})[word] = int(times)
    return statement, Tally(cells, all_cells, repeats, rejected, kinds, keep)


def _run_tally(
    con: duckdb.DuckDBPyConnection, statement: Statement, keep: str | None
) -> tuple[Statement, dict[str, Any]]:
    """Run the statement with increasing care until it succeeds. Return this statement and the
    result."""
    keys = ["name", *statement.groups, "task"]
    texts = [*keys, *["model_low", "model_high"] * statement.labelled]
    texts += ["cluster_low", "cluster_high"] * bool(statement.request.cluster)
    texts += [f"benchmark{i}_{end}" for i in range(len(statement.benchmarks))
              for end in ("low", "high")]  # fmt: skip
    try:
        return statement, coded_columns(con, statement.tally_sql(keep), texts, keys)
    except duckdb.Error as error:
        again = statement.with_more_care(error)
        if again is None:
            raise
        return _run_tally(con, again, keep)
