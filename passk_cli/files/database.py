"""DuckDB as it reads: the SQL of names and texts, the connection, an answer as arrays."""

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

Answer = TypeVar("Answer")
# The column that says which file a row is from: a name that no file's own column has.
FILE_COLUMN = "#source"
# The column that says where in its file a row of a spool stands.
PLACE_COLUMN = "#place"
# The column that says which row of its file a row is, from 1, where that is asked.
NUMBER_COLUMN = "#number"
# Folders named key=value must not become columns, which would take the place of those in the file.
AS_IT_IS = ", hive_partitioning=false"


def quote_name(name: str) -> str:
    """A column name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def alias_sql(model: str, aliases: Mapping[str, str]) -> str:
    """SQL for the name that a model counts as.

    >>> alias_sql("model", {"new": "old"})
    "CASE model WHEN 'new' THEN 'old' ELSE model END"
    """
    cases = " ".join(f"WHEN {quote_text(n)} THEN {quote_text(o)}" for n, o in aliases.items())
    return f"CASE {model} {cases} ELSE {model} END" if cases else model


def tasks_condition(task: str, only: Sequence[str], without: Sequence[str]) -> str:
    """SQL for whether a task is to be kept; "" where all are.  A task without a name is."""
    conditions = [
        f"{task} {word} ({', '.join(map(quote_text, names))})"
        for word, names in (("IN", only), ("NOT IN", without)) if names
    ]  # fmt: skip
    return f"({' AND '.join(conditions)} OR {task} IS NULL)" if conditions else ""


def column_sql(name: str) -> str:
    """A column name as a person writes it in a condition: in quotes where it needs them.

    >>> column_sql("task_id"), column_sql("exit status"), column_sql("end")
    ('task_id', '"exit status"', '"end"')
    """
    plain = re.fullmatch(r"[a-z_][a-z0-9_]*", name) and name not in _reserved()
    return name if plain else quote_name(name)


@cache
def _reserved() -> frozenset[str]:
    """The words that are no names in SQL."""
    sql = "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
    return frozenset(word for (word,) in shared_connection().execute(sql).fetchall())


def models_condition(model: str, models: Sequence[str], exclude_models: Sequence[str]) -> str:
    """The condition that a model, as SQL names it, is to be kept; "" where all are.

    models, exclude_models : names and patterns, as a request has them.
    """

    def fits(patterns: Sequence[str]) -> str:
        return " OR ".join(
            f"{model} = {quote_text(pattern)}"
            + f" OR {model} GLOB {quote_text(pattern)}" * has_magic(pattern)
            for pattern in patterns
        )

    keep_condition, exclude_condition = fits(models), fits(exclude_models)
    # A row without a model stays, to be refused as what it is.
    exclusion = f"NOT coalesce({exclude_condition}, false)"
    return " AND ".join(
        [f"({keep_condition})"] * bool(keep_condition) + [exclusion] * bool(exclude_condition)
    )


def quote_text(text: str) -> str:
    """A string for SQL."""
    return "'" + text.replace("'", "''") + "'"


# What a statement of ours sets as it goes; everything else is locked.
SETTABLE = ("preserve_insertion_order", "disabled_optimizers", "memory_limit")
# Bytes that a thread may take before what does not fit goes to a file, and all of them at least.
_THREAD_BYTES, _LEAST_BYTES = 1 << 27, 1 << 28
# Rows of an answer whose memory is worth giving back.
_MANY_ROWS = 1 << 14
_UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def connect(
    paths: Iterable[str], spool: Path | None = None, folders: Iterable[Path] = ()
) -> duckdb.DuckDBPyConnection:
    """A connection to an empty database that can read these files and do nothing else outside.

    An expression of the user's (--where) becomes part of a statement: it must not read other files,
    load extensions or reach the network, whatever it says.  Times are read and shown in UTC, so
    that a result does not depend on the machine.

    paths : absolute paths without wildcards.  spool : a folder for what does not fit in memory.
    folders : what is in them can be read and written as well.

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
        "allowed_configs": str([*SETTABLE]),
        "python_enable_replacements": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        # Of the types of a pandas column's values, all count, not those of the first thousand.
        "pandas_analyze_sample": str(1 << 40),
        # A long list of words must not become a join with every row, when few rows need it.
        "disabled_optimizers": "'in_clause'",
    }
    if spool is not None:
        settings["temp_directory"] = quote_text(str(spool / "memory"))
        ((threads, most),) = con.execute(
            "SELECT current_setting('threads'), current_setting('memory_limit')"
        ).fetchall()
        number, unit = most.split()
        # Grouping is not slower with so much memory, where there is more.
        little = max(int(threads) * _THREAD_BYTES, _LEAST_BYTES)
        if little < float(number) * _UNITS[unit]:
            settings["memory_limit"] = f"'{little} bytes'"
    # These two forbid what comes after them.
    settings |= {"enable_external_access": "false", "lock_configuration": "true"}
    # Global ones are those of cursors as well.
    con.execute("; ".join(f"SET GLOBAL {name} = {value}" for name, value in settings.items()))
    return con


def disable_join_reordering(con: duckdb.DuckDBPyConnection) -> None:
    """Let every join hold the table on its right from now on.

    How many rows a text file has is guessed far too low, and joins would hold its rows instead of
    the cells.
    """
    con.execute("SET disabled_optimizers = 'join_order,build_side_probe_side,in_clause'")


@dataclass(frozen=True, eq=False, repr=False)
class Texts:
    """A text per row, or none.

    codes : int32, one per row, indices into the names; −1 where there is no text.
    names : the texts that appear, each once, sorted.

    >>> import numpy as np
    >>> column = Texts(np.array([1, -1, 0]), ("a", "b"))
    >>> column.at(0), column.at(1), column.absent.tolist()
    ('b', None, [False, True, False])
    """

    codes: NDArray[np.int32]
    names: tuple[str, ...]

    def __getitem__(self, rows: NDArray[Any]) -> Texts:
        """The column of some of its rows: a mask, or indices."""
        return replace(self, codes=self.codes[rows])

    def at(self, row: int) -> str | None:
        """The text of a row."""
        code = int(self.codes[row])
        return None if code < 0 else self.names[code]

    @property
    def absent(self) -> NDArray[np.bool_]:
        """Where there is no text."""
        return self.codes < 0

    @property
    def as_codes(self) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """Names and codes of the same where no text is the empty one; names may repeat."""
        codes = self.codes.astype("int64")
        codes[codes < 0] = len(self.names)
        return (*self.names, ""), codes

    @property
    def sorted_names(self) -> list[str]:
        """The texts that appear among the rows, sorted."""
        return [self.names[code] for code in sorted({*self.codes.tolist()} - {-1})]


def with_all_memory(con: duckdb.DuckDBPyConnection, run: Callable[[], Answer]) -> Answer:
    """What a function returns; it runs again without the limit of memory if that is too low.

    Little memory is enough for most files, but not for records of megabytes.
    """
    import duckdb

    try:
        return run()
    except duckdb.OutOfMemoryException:
        con.execute("RESET memory_limit")
        return run()


def coded_columns(
    con: duckdb.DuckDBPyConnection, query: str, texts: Sequence[str], keys: Sequence[str]
) -> dict[str, Any]:
    """The columns of an answer: those of texts as Texts, the others as arrays.

    The engine makes the codes, so that Python never holds a text per row, and a column of one value
    is that value, shown many times: such arrays cannot be written to.
    keys : the columns of texts that rows are sorted by; no text comes last.
    Errors: duckdb.Error.
    """
    import numpy as np

    make = f"CREATE OR REPLACE TEMP TABLE answer_ AS {query}"
    with_all_memory(con, lambda: con.execute(make))
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
    if rows > _MANY_ROWS:
        con.execute("DROP TABLE answer_; DROP TABLE texts_")
        # Setting a limit gives the memory of what has been dropped back to the system.
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
        # In place: no more than one of them occurs twice.
        varying[name] = np.asarray(varying[name])[order]
    cells |= varying
    return cells | {column: Texts(cells[column], names[column]) for column in texts}


def is_absent(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a column of an answer has no value.

    DuckDB imports numpy.ma where there are such, which takes as long as to read a small file.
    """
    import numpy as np

    return np.broadcast_to(getattr(values, "mask", False), values.shape)


def parquet_keys(path: str, con: duckdb.DuckDBPyConnection | None = None) -> list[str]:
    """Columns of a Parquet file and the fields in them, dotted: "doc.id"; none of a damaged one.

    con : a connection that can read the file; without one, the function makes its own.
    """
    import duckdb

    def below(children: int, prefix: str) -> Iterator[str]:
        for name, inside in islice(elements, children):
            yield prefix + name
            yield from below(inside, f"{prefix}{name}.")

    try:
        query = "SELECT name, coalesce(num_children, 0) FROM parquet_schema($p)"
        described = (con or shared_connection()).execute(query, {"p": path})
        # An element is followed by those in it; the first is the table.
        elements = iter(described.fetchall())
    except duckdb.Error:
        return []
    return list(below(next(elements)[1], ""))


def shared_connection() -> duckdb.DuckDBPyConnection:
    """A connection for statements of ours alone, to the one database that the process has for them:
    to make another takes as long as to read a small file."""
    return _database().cursor()


@cache
def _database() -> duckdb.DuckDBPyConnection:
    import duckdb

    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    return con
