"""Connect to DuckDB, quote names and strings for SQL, and return query results as arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from glob import has_magic
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    from numpy.typing import NDArray

RunResult = TypeVar("RunResult")
# The column FILE_COLUMN contains the path of the file that a row comes from.
FILE_COLUMN = "#source"
# The column PLACE_COLUMN contains the place of a row in its original file, for messages.
PLACE_COLUMN = "#place"
# The column ROW_NUMBER_COLUMN contains the number of a row in its file, from 1.
ROW_NUMBER_COLUMN = "#number"
# Without the option NO_HIVE_PARTITIONING_SQL, DuckDB would replace columns of the file by columns
# from folders named key=value.
NO_HIVE_PARTITIONING_SQL = ", hive_partitioning=false"


def quote_name(name: str) -> str:
    """Quote the name of a column for SQL."""
    return '"' + name.replace('"', '""') + '"'


def alias_sql(model: str, aliases: Mapping[str, str]) -> str:
    """SQL that replaces model names in the data by the names that --alias gives to the models.

    >>> alias_sql("model", {"new": "old"})
    "CASE model WHEN 'new' THEN 'old' ELSE model END"
    """
    cases = " ".join(f"WHEN {quote_text(n)} THEN {quote_text(o)}" for n, o in aliases.items())
    return f"CASE {model} {cases} ELSE {model} END" if cases else model


def tasks_condition(task: str, only: Sequence[str], without: Sequence[str]) -> str:
    """SQL condition that is true for the tasks to keep and for rows without a task. The condition
    is "" if passk keeps all tasks."""
    conditions = [
        f"{task} {word} ({', '.join(map(quote_text, names))})"
        for word, names in (("IN", only), ("NOT IN", without)) if names
    ]  # fmt: skip
    return f"({' AND '.join(conditions)} OR {task} IS NULL)" if conditions else ""


def quote_name_if_needed(name: str) -> str:
    """The name of a column for use in a condition, in quotes only if quotes are necessary.

    >>> [quote_name_if_needed(name) for name in ("task_id", "exit status", "end")]
    ['task_id', '"exit status"', '"end"']
    """
    plain = re.fullmatch(r"[a-z_][a-z0-9_]*", name) and name not in _reserved_words()
    return name if plain else quote_name(name)


@cache
def _reserved_words() -> frozenset[str]:
    sql = "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
    return frozenset(word for (word,) in shared_connection().execute(sql).fetchall())


def models_condition(model: str, models: Sequence[str], exclude_models: Sequence[str]) -> str:
    """SQL condition that is true for the models to keep, or "" if passk keeps all models."""

    def fits(patterns: Sequence[str]) -> str:
        return " OR ".join(
            f"{model} = {quote_text(pattern)}"
            + f" OR {model} GLOB {quote_text(pattern)}" * has_magic(pattern)
            for pattern in patterns
        )

    keep_condition, exclude_condition = fits(models), fits(exclude_models)
    # Rows without a model are kept, so that a later step raises an error for such rows.
    exclusion = f"NOT coalesce({exclude_condition}, false)"
    return " AND ".join(
        [f"({keep_condition})"] * bool(keep_condition) + [exclusion] * bool(exclude_condition)
    )


def quote_text(text: str) -> str:
    """Quote a string for SQL."""
    return "'" + text.replace("'", "''") + "'"


# passk locks all settings of DuckDB except for the settings in DUCKDB_SETTINGS_CHANGED_LATER, which
# passk changes later.
DUCKDB_SETTINGS_CHANGED_LATER = ("preserve_insertion_order", "disabled_optimizers", "memory_limit")
# DuckDB may use _THREAD_BYTES of memory per thread, and at least _LEAST_BYTES in total, before it
# moves data to a file.
_THREAD_BYTES, _LEAST_BYTES = 1 << 27, 1 << 28
# After a result with more than _MEMORY_RELEASE_ROWS rows, passk makes DuckDB return memory to the
# operating system.
_MEMORY_RELEASE_ROWS = 1 << 14
_BYTES_BY_UNIT = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def connect(
    paths: Iterable[str], spool: Path | None = None, folders: Iterable[Path] = ()
) -> duckdb.DuckDBPyConnection:
    """Connect to an empty database that can read the given files and access nothing else.

    The condition of --where becomes part of an SQL statement, so SQL must not be able to read other
    The condition of --where becomes part of an SQL statement. SQL must therefore not be able to
    read other files, load extensions or use the network. Times are in UTC, so results do not depend
    on the time zone of the machine.

    paths : absolute paths of the files, without wildcards.
    spool : a folder for data that does not fit in memory.
    folders : folders that DuckDB may read from and write to.

    >>> noon = "SELECT TIMESTAMPTZ '2026-01-31 12:00:00+02:00' :: VARCHAR"
    >>> connect([]).execute(noon).fetchall()
    [('2026-01-31 10:00:00+00',)]
    """
    import duckdb

    con = duckdb.connect()
    settings = {
        "TimeZone": "'UTC'",
        "allowed_paths": f"[{', '.join(map(quote_text, paths))}]",
        "allowed_directories": f"[{', '.join(quote_text(str(f)) for f in folders)}]",
        "allowed_configs": str([*DUCKDB_SETTINGS_CHANGED_LATER]),
        "python_enable_replacements": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        # DuckDB must detect the type of a pandas column from all values, not only from 1,000
        # values.
        "pandas_analyze_sample": str(1 << 40),
        # Unless the optimizer in_clause is disabled, DuckDB turns a long list of words into a join
        # with all rows.
        "disabled_optimizers": "'in_clause'",
    }
    if spool is not None:
        settings["temp_directory"] = quote_text(str(spool / "memory"))
        ((threads, most),) = con.execute(
            "SELECT current_setting('threads'), current_setting('memory_limit')"
        ).fetchall()
        number, unit = most.split()
        little = max(int(threads) * _THREAD_BYTES, _LEAST_BYTES)
        if little < float(number) * _BYTES_BY_UNIT[unit]:
            settings["memory_limit"] = f"'{little} bytes'"
    settings |= {"enable_external_access": "false", "lock_configuration": "true"}
    con.execute("; ".join(f"SET GLOBAL {name} = {value}" for name, value in settings.items()))
    return con


def disable_join_reordering(con: duckdb.DuckDBPyConnection) -> None:
    """Make DuckDB keep the right table of each join in memory from now on.

    DuckDB underestimates the number of rows in a text file. Without this setting, a join would keep
    the rows of the file in memory instead of the smaller table.
    """
    con.execute("SET disabled_optimizers = 'join_order,build_side_probe_side,in_clause'")


@dataclass(frozen=True, eq=False, repr=False)
class TextColumn:
    """A column of strings that stores each distinct string once. Values may be missing.

    codes : an int32 array with one code per row. The code is the index of the string in
        `distinct_texts`, or −1 for a missing value.
    distinct_texts : the distinct strings, sorted.

    >>> import numpy as np
    >>> column = TextColumn(np.array([1, -1, 0]), ("a", "b"))
    >>> column.text_at(0), column.text_at(1), column.missing_mask.tolist()
    ('b', None, [False, True, False])
    """

    codes: NDArray[np.int32]
    distinct_texts: tuple[str, ...]

    def __getitem__(self, rows: NDArray[Any]) -> TextColumn:
        """The column with only the selected rows. `rows` is a mask or an array of indices."""
        return replace(self, codes=self.codes[rows])

    def text_at(self, row: int) -> str | None:
        """The string in a row, or None if the value is missing."""
        code = int(self.codes[row])
        return None if code < 0 else self.distinct_texts[code]

    @property
    def missing_mask(self) -> NDArray[np.bool_]:
        """A mask of the rows without a value."""
        return self.codes < 0

    @property
    def texts_and_codes(self) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """All distinct strings, and an array with the index of the string in each row. A missing
        value is read as "". If some rows contain an empty string, "" occurs twice."""
        codes = self.codes.astype("int64")
        codes[codes < 0] = len(self.distinct_texts)
        return (*self.distinct_texts, ""), codes

    @property
    def distinct_present_texts(self) -> list[str]:
        """The distinct strings that occur in the rows, sorted."""
        return [self.distinct_texts[code] for code in sorted({*self.codes.tolist()} - {-1})]


def retry_without_memory_limit(
    con: duckdb.DuckDBPyConnection, run: Callable[[], RunResult]
) -> RunResult:
    """Run a function. If the memory limit is too low, run the function again without the limit."""
    import duckdb

    try:
        return run()
    except duckdb.OutOfMemoryException:
        con.execute("RESET memory_limit")
        return run()


def coded_columns(
    con: duckdb.DuckDBPyConnection, query: str, texts: Sequence[str], keys: Sequence[str]
) -> dict[str, Any]:
    """Run a query. Return columns of strings as TextColumn, and all other columns as arrays.

    DuckDB computes the integer codes of the strings, so Python never stores one string per row. An
    array in which all values are equal is a read-only broadcast of one value.

    texts : the names of the columns of strings.
    keys : the columns of strings by which the rows are sorted. Missing values are sorted last.
    Errors: duckdb.Error if the query fails.
    """
    import numpy as np

    make = f"CREATE OR REPLACE TEMP TABLE answer_ AS {query}"
    retry_without_memory_limit(con, lambda: con.execute(make))
    distinct = " UNION ALL ".join(
        f"SELECT {place} AS place, {column} AS text FROM"
        f" (SELECT DISTINCT {column} FROM answer_ WHERE {column} IS NOT NULL)"
        for place, column in enumerate(texts)
    )
    con.execute(
        "CREATE OR REPLACE TEMP TABLE texts_ AS SELECT place, text,"
        " (row_number() OVER (PARTITION BY place ORDER BY text))::INTEGER - 1 AS code"
        f" FROM ({distinct})"
    )
    by_column = con.execute("SELECT place, text FROM texts_ ORDER BY place, code").fetchnumpy()
    starts = np.searchsorted(np.asarray(by_column["place"]), np.arange(len(texts) + 1))
    words = np.asarray(by_column["text"]).tolist()
    names = {c: tuple(words[starts[i] : starts[i + 1]]) for i, c in enumerate(texts)}
    columns = [name for name, *_ in con.execute("SELECT * FROM answer_ LIMIT 0").description]
    numbers = [column for column in columns if column not in texts]
    ends = ", ".join(f"min({column}), max({column})" for column in numbers)
    ((rows, *values),) = con.execute(f"SELECT count(*), {ends} FROM answer_").fetchall()
    cells: dict[str, Any] = {
        column: np.broadcast_to(low, rows)
        for column, low, high in zip(numbers, values[::2], values[1::2], strict=True)
        if low == high
    }
    columns = [column for column in columns if column not in cells]
    selection, joins = [], ""
    for place, column in enumerate(columns):
        if column not in texts:
            selection.append(column)
        elif not names[column]:
            cells[column] = np.broadcast_to(np.int32(-1), rows)
        else:
            selection.append(f"coalesce(t{place}.code, -1) AS {column}")
            joins += (
                f" LEFT JOIN (SELECT text, code FROM texts_ WHERE place = {texts.index(column)})"
                f" AS t{place} ON t{place}.text = answer_.{column}"
            )
    varying: dict[str, Any] = {}
    if selection:
        varying = con.execute(f"SELECT {', '.join(selection)} FROM answer_{joins}").fetchnumpy()
    if rows > _MEMORY_RELEASE_ROWS:
        con.execute("DROP TABLE answer_; DROP TABLE texts_")
        # If passk sets a memory limit, DuckDB returns the memory of dropped tables to the operating
        # system.
        ((limit,),) = con.execute("SELECT current_setting('memory_limit')").fetchall()
        con.execute(f"SET memory_limit = '{limit}'")
    codes = [np.asarray(varying[key]) for key in reversed(keys) if key in varying]
    order = (
        np.lexsort([np.where(key_codes < 0, rows, key_codes) for key_codes in codes])
        if codes
        else slice(None)
    )
    del codes
    for name in varying:
        # Columns are sorted one by one, so only one column is copied at a time.
        varying[name] = np.asarray(varying[name])[order]
    cells |= varying
    return cells | {column: TextColumn(cells[column], names[column]) for column in texts}


def missing_mask(values: NDArray[Any]) -> NDArray[np.bool_]:
    """A mask of the rows without a value in a column of a query result.

    The function avoids importing numpy.ma, which takes as long as reading a small file.
    """
    import numpy as np

    return np.broadcast_to(getattr(values, "mask", False), values.shape)


def parquet_column_and_field_names(
    path: str, con: duckdb.DuckDBPyConnection | None = None
) -> list[str]:
    """The names of columns and nested fields ("doc.id") in a Parquet file. The result is empty if
    the file is damaged.

    con : a connection that can read the file. The default is the shared connection.
    """
    import duckdb

    def below(children: int, prefix: str) -> Iterator[str]:
        for name, inside in islice(elements, children):
            yield prefix + name
            yield from below(inside, f"{prefix}{name}.")

    try:
        query = "SELECT name, coalesce(num_children, 0) FROM parquet_schema($p)"
        described = (con or shared_connection()).execute(query, {"p": path})
        elements = iter(described.fetchall())
    except duckdb.Error:
        return []
    return list(below(next(elements)[1], ""))


def shared_connection() -> duckdb.DuckDBPyConnection:
    """A connection that all code in the process shares, for statements without user input.

    Creating a new database takes as long as reading a small file.
    """
    return _shared_database().cursor()


@cache
def _shared_database() -> duckdb.DuckDBPyConnection:
    import duckdb

    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    return con
