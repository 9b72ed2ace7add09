"""Describe how the rows of a file are stored, and write the SQL that reads them as a flat table."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from passk_cli.files.database import (
    FILE_COLUMN,
    NO_HIVE_PARTITIONING_SQL,
    ROW_NUMBER_COLUMN,
    quote_name,
    quote_text,
)
from passk_cli.files.roles import (
    COLUMN_NAME_AS_MODEL,
    EACH_ENTRY_KEY,
    EQUAL_COLUMNS_OPERATOR,
    FIXED_VALUE_PREFIX,
    LINE_NUMBER_AS_TASK,
    NAMED_ENTRY_PATTERN,
    POSITION_AS_TASK,
    ColumnRoles,
    ComputedColumn,
    agreement_sql,
    amount_addends,
    amount_sql,
    find_column_and_keys,
    index_of_first_list_key,
    outcome_verdict_sql,
)
from passk_cli.files.sources.source import (
    DEFAULT_MAX_OBJECT_BYTES,
    DUCKDB_NAME_BY_COMPRESSION,
    Source,
    text_value_kind,
)

if TYPE_CHECKING:
    from passk_cli.files.formats.format import Format

NUMBER_CAST_SQL_VARIANTS = (
    "CAST(CASE WHEN strlen({name}) > 15 AND NOT contains({name}, '.') THEN error('a long number')"
    " ELSE {name} END AS DOUBLE)",
    "CAST(CASE WHEN NOT regexp_full_match({name}, '[+-]?[0-9]+') THEN error('not a whole number')"
    " ELSE {name} END AS HUGEINT)",
    "CAST({name} AS DOUBLE)",
)


@dataclass(frozen=True, eq=False, repr=False)
class FileStorageLayout:
    """How the rows are stored in one or more files of the same kind.

    kind : "jsonl", "json", "csv", "parquet", "frame" (a data frame) or the name of a harness.
    description : a phrase for messages, such as "one JSON record per line".
    columns : pairs of a column name and the kinds of the values in the records that passk read.
    delimiter : the character between the columns of a text table.
    compression : the compression of the files: "none", "gzip" or "zstd".
    contains_all_columns : whether `columns` is complete. If passk read only the first JSON records,
        later records may have more columns.
    normalized_rows_file : the JSON Lines file to which passk wrote the rows of files in a known
        format, or "".
    longest_row_bytes : the maximum size of a line in `normalized_rows_file`, in bytes.
    format : the known format of the files, or None.
    table_name : the name of the table in DuckDB for a data frame, or "".
    constant_columns : the columns with one value per file. Each column is mapped to a dictionary
        that contains the value for each file path.
    joined_columns : maps each computed column to the columns from which it is computed.
    category_orders : maps each column with ordered categories to the categories in order, if the
        data frame defines an order.
    """

    kind: str
    description: str
    columns: tuple[tuple[str, frozenset[str]], ...]
    delimiter: str = ""
    compression: str = "none"
    contains_all_columns: bool = True
    normalized_rows_file: str = ""
    longest_row_bytes: int = 0
    format: Format | None = None
    table_name: str = ""
    constant_columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    joined_columns: Mapping[str, ComputedColumn] = field(default_factory=dict)
    category_orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def kinds_by_column(self) -> Mapping[str, set[str]]:
        """Map each column to the kinds of its values."""
        inside = {name: set(kinds) for name, kinds in self.columns}
        return (
            inside
            | {
                name: {text_value_kind(value) for value in values.values()}
                for name, values in self.constant_columns.items()
            }
            | {name: of.value_kinds for name, of in self.joined_columns.items()}
        )

    def column_kinds(self, column: str) -> set[str]:
        """The kinds of values in a column, or in the outer column if `column` is a nested field."""
        path = find_column_and_keys(column, self.kinds_by_column)
        return self.kinds_by_column[path[0]] if path else set()

    def combined_columns(self, column: str) -> list[str]:
        """The columns from which passk computes a joined column, or only the column itself."""
        if column not in self.joined_columns:
            return [column]
        return [
            part_column
            for part in self.joined_columns[column].parts
            for part_column in self.combined_columns(part)
        ]

    def with_further_columns(self, names: Iterable[str]) -> FileStorageLayout:
        """The layout with further columns that may occur only in later records."""
        names = () if self.contains_all_columns or self.kind != "jsonl" else names
        unseen = (
            name for name in names if find_column_and_keys(name, self.kinds_by_column) is None
        )
        columns = ((name, frozenset({"text"})) for name in unseen)
        return replace(self, columns=(*self.columns, *columns))

    def file_constants(self, path: str) -> dict[str, str]:
        """Map each column that has one value per file to the value for a given file."""
        return {
            name: values[path] for name, values in self.constant_columns.items() if path in values
        }

    @property
    def is_harness_format(self) -> bool:
        """Whether a harness wrote the files, so that the format defines the roles of columns."""
        return self.format is not None and not self.format.is_generic

    @property
    def has_typed_values(self) -> bool:
        """Whether the values have types, as in Parquet files and data frames."""
        return self.kind in ("parquet", "frame")

    def relation_sql(
        self,
        paths: Sequence[str],
        types: Mapping[str, str],
        *,
        skip_bad: bool = False,
        lenient: bool = False,
        object_bytes: int = DEFAULT_MAX_OBJECT_BYTES,
        careful: bool = True,
        numbered: bool = False,
    ) -> str:
        """SQL for a table with FILE_COLUMN and the columns in `types`, which maps names to SQL
        types.

        skip_bad : whether lines that are not records are skipped and counted.
        lenient : whether lines that are not records are skipped without being counted.
        object_bytes : the maximum size of a record, in bytes.
        careful : whether a line of a text table may be up to 256 MB long. DuckDB then reads most
            files sequentially.
        numbered : whether ROW_NUMBER_COLUMN contains the number of each row.
        """
        file = quote_name(FILE_COLUMN)
        types = {name: kind for name, kind in types.items() if name not in self.constant_columns}
        options = f", filename={quote_text(FILE_COLUMN)}{NO_HIVE_PARTITIONING_SQL}"
        size = f", maximum_object_size={max(object_bytes, self.longest_row_bytes + 1)}"
        files = f"[{', '.join(map(quote_text, paths))}]"
        if self.kind not in ("frame", "parquet"):
            options += f", compression={quote_text(DUCKDB_NAME_BY_COMPRESSION[self.compression])}"
        if self.table_name:
            casts = (
                f"CAST({quote_name(c)} AS {kind}) AS {quote_name(c)}" for c, kind in types.items()
            )
            rows = self.table_name
            if not self.has_typed_values:
                rows = f"(SELECT {', '.join([*casts, file])} FROM {rows})"
        elif self.normalized_rows_file:
            columns = struct_sql({FILE_COLUMN: "VARCHAR", **types})
            rows = (
                f"read_json({quote_text(self.normalized_rows_file)}, columns={columns},"
                f" format='newline_delimited'{size}{NO_HIVE_PARTITIONING_SQL})"
            )
        elif self.kind == "parquet":
            rows = f"read_parquet({files}{options})"
        elif self.kind == "csv":
            read = {name: "DOUBLE" for name, kind in types.items() if kind == "DOUBLE"}
            columns = struct_sql({name: read.get(name, "VARCHAR") for name, _ in self.columns})
            # DuckDB reads a file in blocks that are as large as the maximum line size, so most
            # files have only one block.
            options += f", max_line_size={1 << 28}" * careful + ", store_rejects=true" * skip_bad
            options += ", ignore_errors=true" * lenient
            rows = (
                f"read_csv({files}, columns={columns}, delim={quote_text(self.delimiter)},"
                f" quote='\"', escape='\"', header=true, auto_detect=false{options})"
            )
        else:
            lines = self.kind == "jsonl"
            columns = struct_sql(types or {self.columns[0][0]: "VARCHAR"})
            shape = "newline_delimited" if lines else "auto"
            options += ", ignore_errors=true" * ((skip_bad or lenient) and lines)
            rows = f"read_json({files}, columns={columns}, format='{shape}'{size}{options})"
        if numbered:
            # The SQL numbers the rows first, because conditions remove rows and joins change the
            # order of rows.
            rows = (
                f"(SELECT *, row_number() OVER () AS {quote_name(ROW_NUMBER_COLUMN)} FROM {rows})"
            )
        for place in {LINE_NUMBER_AS_TASK, POSITION_AS_TASK} & self.joined_columns.keys():
            nested = {name for name, kind in types.items() if kind == "JSON"}
            within = (c for c in self.joined_columns[place].parts if c not in self.constant_columns)
            partition = [self.column_text_sql(column, nested) for column in within]
            partition += [file] * (self.kind != "frame")
            window = f"PARTITION BY {', '.join(partition)} " if partition else ""
            number = f"row_number() OVER ({window}ORDER BY {quote_name('#row')})"
            rows = f"(SELECT *, row_number() OVER () AS {quote_name('#row')} FROM {rows})"
            rows = f"(SELECT *, {number}::VARCHAR AS {quote_name(place)} FROM {rows})"
        if COLUMN_NAME_AS_MODEL in self.joined_columns:
            models = next(
                of.parts
                for of in self.joined_columns.values()
                if of.meaning_of_each_part == "a model"
            )
            answers = (model.partition(EQUAL_COLUMNS_OPERATOR)[0] for model in models)
            answer_values = f"(VALUES {', '.join(f'({quote_text(m)})' for m in answers)})"
            rows = (
                f"(SELECT * FROM {rows} CROSS JOIN {answer_values} AS"
                f" m({quote_name(COLUMN_NAME_AS_MODEL)}))"
            )
        return self._with_constants_sql(rows) if self.constant_columns else rows

    def _with_constants_sql(self, rows: str) -> str:
        file = quote_name(FILE_COLUMN)
        shadowed = [quote_name(name) for name, _ in self.columns if name in self.constant_columns]
        # DuckDB returns all columns of CSV and Parquet files, so passk excludes the columns that it
        # replaces by constants.
        has_all_columns = self.kind in ("csv", "parquet")
        exclusion = f" EXCLUDE ({', '.join(shadowed)})" if shadowed and has_all_columns else ""
        all_paths = {path: None for values in self.constant_columns.values() for path in values}
        texts = {
            path: [values.get(path) for values in self.constant_columns.values()]
            for path in all_paths
        }
        values = ", ".join(
            f"({', '.join('NULL::VARCHAR' if t is None else quote_text(t) for t in (path, *of))})"
            for path, of in texts.items()
        )
        names = [quote_name(name) for name in self.constant_columns]
        return (
            f"(SELECT inside.*{exclusion}, {', '.join(f'c.{name}' for name in names)}"
            f" FROM {rows} AS inside LEFT JOIN (VALUES {values}) AS c({', '.join([file, *names])})"
            f" ON c.{file} = inside.{file})"
        )

    def column_text_sql(
        self, column: str | None, nested: Container[str], sql_type: str = "VARCHAR"
    ) -> str:
        """SQL that returns a column or nested field as a string. The SQL is NULL if `column` is
        None.

        nested : the columns that passk reads as JSON.
        sql_type : the SQL type of the result, for example "VARCHAR[]" for a list of strings.
        """
        if column is None:
            return "NULL::VARCHAR"
        if column in self.joined_columns:
            if column in (COLUMN_NAME_AS_MODEL, LINE_NUMBER_AS_TASK, POSITION_AS_TASK):
                return quote_name(column)
            if column.startswith(FIXED_VALUE_PREFIX):
                return quote_text(column.removeprefix(FIXED_VALUE_PREFIX))
            parts, of, _, judged = self.joined_columns[column]
            texts = [self.column_text_sql(part, nested, sql_type) for part in parts]
            if of == "the opposite":
                verdict = outcome_verdict_sql(texts[0], None)
                return f"CASE {verdict} WHEN 1 THEN 'false' WHEN 0 THEN 'true' ELSE {texts[0]} END"
            if of == "all" and judged is not None:
                # A negated flag is "true" or "false", even if --passes names other words.
                flags = {p: self.column_text_sql(self.joined_columns[p].parts[0],
                    nested) for p in parts
                         if p in self.joined_columns}  # fmt: skip
                verdicts = [
                    f"[-1, 1, 0][2 + {outcome_verdict_sql(flags[part], None)}]"
                    if part in flags else judged(text)
                    for part, text in zip(parts, texts, strict=True)
                ]  # fmt: skip
                # The SQL for a verdict is long. Because of the lambda function, the SQL contains
                # the verdict only once.
                return (
                    f"list_transform([[{', '.join(verdicts)}]], lambda each: CASE"
                    f" WHEN list_contains(each, -1)"
                    f" THEN [{', '.join(texts)}][list_position(each, -1)]"
                    f" WHEN list_contains(each, 0) THEN 'false'"
                    f" WHEN list_sum(each) = {len(parts)} THEN 'true' END)[1]"
                )
            if of == "a model":
                whens = (
                    f"WHEN {quote_text(part.partition(EQUAL_COLUMNS_OPERATOR)[0])} THEN {text}"
                    for part, text in zip(parts, texts, strict=True)
                )
                return f"CASE {quote_name(COLUMN_NAME_AS_MODEL)} {' '.join(whens)} END"
            if of == "an attempt":
                return f"[{', '.join(self.column_text_sql(part, nested) for part in parts)}]"
            if of == "the one there is":
                filled = [f"nullif({text}, '')" for text in texts]
                # If two alternative columns contain different values, the values become one string,
                # which is not a verdict.
                distinct_texts = f"array_to_string(list_distinct([{', '.join(filled)}]), ' and ')"
                return f"nullif({distinct_texts}, '')"
            *before, last = texts
            if of == "an answer":
                return agreement_sql(texts[0], last)
            signs = (f"replace(replace({part}, '%', '%25'), '/', '%2F')" for part in before)
            slash = " || '/' || "
            return f"({slash.join([*signs, last])})"
        name, keys = find_column_and_keys(column, self.kinds_by_column) or (column, [])
        if sql_type != "VARCHAR" and EACH_ENTRY_KEY in keys:
            return self._list_of_entry_values_sql(name, keys)
        if index_of_first_list_key(keys) < len(keys) and EACH_ENTRY_KEY not in keys:
            return self._named_entry_sql(quote_name(name), keys)
        if self.has_typed_values:
            return f"CAST({'.'.join(map(quote_name, (name, *keys)))} AS {sql_type})"
        if name not in nested:
            return quote_name(name)
        path = json_path(keys)
        if sql_type == "VARCHAR":
            return f"({quote_name(name)} ->> {path})"
        return f"CAST(json_extract({quote_name(name)}, {path}) AS {sql_type})"

    def amount_total_sql(
        self, role: str, column: str, nested: Container[str], *, as_list: bool = False
    ) -> str:
        """SQL that adds up the columns of a role, such as the cost, in each row. The sum is NULL if
        a column has no value.

        as_list : whether a list contains one entry per attempt. The entries of such a list are not
            added up.
        """
        numbers = []
        for part, unit in amount_addends(role, column, self.kinds_by_column):
            base, keys = find_column_and_keys(part, self.kinds_by_column) or (part, [])
            if EACH_ENTRY_KEY not in keys and ("list" not in self.kinds_by_column[base] or keys):
                numbers.append(amount_sql(self.column_text_sql(part, nested), unit))
                continue
            texts = self.column_text_sql(part, nested, "VARCHAR[]")
            entries = f"[{amount_sql('entry', unit)} FOR entry IN {texts}]"
            if as_list:
                return entries
            complete = f"len({entries}) > 0 AND list_count({entries}) = len({entries})"
            numbers.append(f"CASE WHEN {complete} THEN list_sum({entries}) END")
        return " + ".join(f"({number})" for number in numbers)

    def _list_of_entry_values_sql(self, name: str, keys: Sequence[str]) -> str:
        cut = keys.index(EACH_ENTRY_KEY)
        if self.has_typed_values:
            values = ".".join(map(quote_name, (name, *keys[:cut])))
            inside = ".".join(("entry", *map(quote_name, keys[cut + 1 :])))
            return f"CAST([{inside} FOR entry IN {values}] AS VARCHAR[])"
        values = f"CAST(json_extract({quote_name(name)}, {json_path(keys[:cut])}) AS JSON[])"
        return f"[entry ->> {json_path(keys[cut + 1 :])} FOR entry IN {values}]"

    def _named_entry_sql(self, value: str, keys: Sequence[str]) -> str:
        """SQL for a field of the list entry with a given name, for example `scores[name=ok].value`.

        If two entries with this name have different values, the result contains both values and
        later causes an error.
        """
        cut = index_of_first_list_key(keys)
        if cut == len(keys):
            if self.has_typed_values:
                return f"CAST({self._nested_field_sql(value, keys)} AS VARCHAR)"
            return f"({value} ->> {json_path(keys)})"
        key, name = NAMED_ENTRY_PATTERN.fullmatch(keys[cut]).groups()  # type: ignore[union-attr]
        entry = f"entry{len(keys)}"
        entries = self._nested_field_sql(value, keys[:cut])
        if not self.has_typed_values:
            entries = f"CAST(json_extract({value}, {json_path(keys[:cut])}) AS JSON[])"
        is_match = f"{self._named_entry_sql(entry, key.split('.'))} = {quote_text(name)}"
        picked = self._named_entry_sql(entry, keys[cut + 1 :])
        matches = f"[{picked} FOR {entry} IN {entries} IF {is_match}]"
        return f"nullif(array_to_string(list_distinct({matches}), ' and '), '')"

    def _nested_field_sql(self, value: str, keys: Sequence[str]) -> str:
        return ".".join((value, *map(quote_name, keys)))

    def condition_value_sql(
        self, column: str, nested: Container[str], numbers: str = NUMBER_CAST_SQL_VARIANTS[0]
    ) -> str:
        """SQL for a column in a condition. Numbers and truth values keep their type if the
        column contains no other values.

        numbers : SQL that converts a string to a number, from NUMBER_CAST_SQL_VARIANTS.
        """
        if column in self.joined_columns:
            return self.column_text_sql(column, nested)
        name = quote_name(column)
        kinds = self.kinds_by_column.get(column, set()) - {"null"}
        if self.has_typed_values or column in nested or kinds not in ({"number"}, {"bool"}):
            return name
        return f"CAST({name} AS BOOLEAN)" if kinds == {"bool"} else numbers.format(name=name)


def json_path(keys: Sequence[str]) -> str:
    """Write nested keys as a JSON path in an SQL string."""
    return quote_text("$" + "".join('."' + key.replace('"', '\\"') + '"' for key in keys))


def has_duplicate_key_sql(value: str, keys: Sequence[str]) -> str:
    """SQL that is true if the last key of a path occurs twice in the same JSON object."""
    cut = index_of_first_list_key(keys)
    if cut < len(keys):
        entries = f"CAST(json_extract({value}, {json_path(keys[:cut])}) AS JSON[])"
        has_duplicate = has_duplicate_key_sql("entry", keys[cut + 1 :])
        return f"len([1 FOR entry IN {entries} IF {has_duplicate}]) > 0"
    *before, last = keys
    all_keys = f"json_keys({value}, {json_path(before)})"
    return f"len([k FOR k IN {all_keys} IF k = {quote_text(last)}]) > 1"


def require_unique_keys_sql(base: str, paths: Iterable[Sequence[str]]) -> str:
    """SQL that returns a JSON column and raises an error if a key in one of the paths occurs twice.

    The exact check applies only to records that contain the name of a key more often than expected.
    """
    name, cases = quote_name(base), ""
    for keys in dict.fromkeys(tuple(p[: i + 1]) for p in paths for i in range(len(p))):
        if index_of_first_list_key(keys[-1:]):
            sign = json.dumps(keys[-1], ensure_ascii=False)
            doubt = f"{name} LIKE {quote_text(f'%{sign}%{sign}%')}"
            if index_of_first_list_key(keys) < len(keys):
                entries = (
                    f"json_array_length({name}, {json_path(keys[: index_of_first_list_key(keys)])})"
                )
                doubt = f"len(string_split({name}, {quote_text(sign)})) > {entries} + 1"
            error = quote_text(f"the key {sign} occurs twice")
            cases += f" WHEN {doubt} AND {has_duplicate_key_sql(name, keys)} THEN error({error})"
    return f"CASE{cases} ELSE {name} END AS {name}"


def struct_sql(columns: Mapping[str, str]) -> str:
    """Write column names and types as an SQL struct."""
    return "{" + ", ".join(f"{quote_text(k)}: {quote_text(v)}" for k, v in columns.items()) + "}"


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """Files with the same layout and the same roles of columns. One SELECT reads all files."""

    layout: FileStorageLayout
    roles: ColumnRoles
    sources: tuple[Source, ...]

    @property
    def has_suites_in_task_ids(self) -> bool:
        """Whether each file belongs to a suite (a benchmark). The name of the suite is then a part
        of each task id."""
        return "suite" in self.layout.constant_columns and self.roles.task != "suite"


def batches_in_argument_order(batches: Sequence[Batch]) -> list[Batch]:
    """Sort batches so that files are read in the order in which the user gave them.

    If a file of another batch is between the files of a batch, the batch becomes several batches.
    """
    files = sorted(
        (
            (source, i)
            for i, batch in enumerate(batches)
            for source in (
                batch.sources[:1] if batch.layout.normalized_rows_file else batch.sources
            )
        ),
        key=lambda file: file[0].position,
    )
    return [
        replace(batches[i], sources=tuple(source for source, _ in run))
        for i, run in groupby(files, key=itemgetter(1))
    ]
