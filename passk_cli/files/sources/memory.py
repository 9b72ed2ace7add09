"""Turn files, Python data, and tables of other libraries into sources that passk can read."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb

from passk_cli.errors import DataError, ParameterError
from passk_cli.files.database import quote_text, shared_connection
from passk_cli.files.sources.arguments import (
    ROWS,
    is_existing_data_argument,
    is_read_once,
    sources_of_arguments,
)
from passk_cli.files.sources.source import Source

READABLE_DATA_TEXT = (
    "give paths, rows (a list of dicts), columns (a dict of lists), a DataFrame, Arrow data or an"
    " array of tasks × attempts; a dict of DataFrames or arrays contains one for each model"
)


def sources_of(
    data: Any, folder: Path, skipped_hidden_files: list[str] | None = None
) -> list[Source]:
    """The sources for the data. A source is a file, a table, or a file to which passk writes Python
    rows.

    folder, skipped_hidden_files : see `spool` and `skipped_hidden_files` in
        `arguments.sources_of_arguments`.
    """
    if isinstance(data, str | os.PathLike):
        data = [data]
    if rows := [*attempt_rows_of_arrays(data)]:
        return [write_rows_as_json(rows, folder / "rows.jsonl")]
    if not isinstance(data, list | tuple | Mapping) or frames_by_model(data):
        return sources_of_tables(data)
    if not data:
        raise ParameterError("no files are given", name="no-files")
    if isinstance(data, Mapping):
        return [write_rows_as_json(rows_of_columns(data), folder / "rows.jsonl")]
    if any(isinstance(item, Mapping) for item in data):
        return [write_rows_as_json(data, folder / "rows.jsonl")]
    wrong = next((item for item in data if not isinstance(item, str | os.PathLike)), None)
    if wrong is not None:
        problem = f"a list of {type(wrong).__name__} cannot be read"
        raise DataError("data", problem, READABLE_DATA_TEXT, name="wrong-data")
    return sources_of_arguments(data, folder, skipped_hidden_files)


def is_table(data: Any) -> bool:
    """Whether data is a pandas data frame, or another object with the Arrow stream interface.

    The result is False for a single column, such as a Series of pandas or polars.
    """
    pandas = sys.modules.get("pandas")
    frame = pandas is not None and isinstance(data, pandas.DataFrame)
    return frame or (hasattr(data, "__arrow_c_stream__") and not hasattr(data, "to_frame"))


def frames_by_model(data: Any) -> dict[str, Any]:
    """If the data is a dict of data frames, map the name of each model to the data frame of the
    model. For other data, the result is {}."""
    several = data if isinstance(data, Mapping) else {}
    values = several.values()
    have_columns = (hasattr(x, "columns") or hasattr(x, "schema") for x in values)
    are_frames = all(map(is_table, several.values())) and all(have_columns)
    return {str(model): frame for model, frame in several.items()} if are_frames else {}


def sources_of_tables(data: Any) -> list[Source]:
    """Turn a table in memory into a source, or a dict of tables into one source per model.

    Errors: DataError if data is not a table.
    """
    models: dict[Any, Any] = {**frames_by_model(data)} or {None: data}
    if None in models and not is_table(data):
        remedy = ""
        if any(getattr(getattr(data, "index", None), "names", ())):
            # For example, groupby in pandas returns a Series with the tasks in its index.
            remedy = "use .reset_index() to get a DataFrame; "
        elif hasattr(data, "collect"):
            remedy = "use .collect() to get a DataFrame; "
        elif isinstance(data, Iterator):
            remedy = "use list(…) to get rows; "
        problem = f"{type(data).__name__} cannot be read"
        raise DataError("data", problem, remedy + READABLE_DATA_TEXT, name="wrong-data")
    names = {model: "DataFrame" if model is None else f"DataFrame {model!r}" for model in models}
    return [
        Source(f"<frame{place or ''}>", names[model], model, "none", place, frame=frame)
        for place, (model, frame) in enumerate(models.items())
    ]


def _with_uniform_columns(frame: Any) -> Any:
    """Convert the columns of a pandas frame that contain Python objects, so that each column has
    one type.

    DuckDB infers the type of such a column from 1,000 rows and converts all other values to this
    type. For example, 0.5 in a column of truth values would become true. Therefore, a column with
    values of several types is converted to strings.
    """
    from pandas.api.types import infer_dtype, is_scalar

    single = frame.copy(deep=False)
    for place, (_, column) in enumerate(frame.items()):
        kind = infer_dtype(column) if column.dtype == object else ""
        if kind in ("boolean", "integer", "floating", "string"):
            single.isetitem(place, column.convert_dtypes())
        elif kind.startswith("mixed") and column.map(is_scalar).all():
            single.isetitem(place, column.map(str, na_action="ignore"))
    return single


def _with_index_columns(frame: Any) -> Any:
    """Turn the named index levels of a pandas frame into columns, for example after groupby.

    If the column names have several levels, the levels are joined, for example to passed_count.
    """
    if frame.columns.nlevels > 1:
        names = ["_".join(filter(None, map(str, levels))) for levels in frame.columns]
        frame = frame.set_axis(names, axis="columns")
    levels = [name for name in frame.index.names if name is not None and name not in frame.columns]
    return frame.reset_index(level=levels) if levels else frame


def index_hint(data: Any) -> str:
    """The remedy to suggest if a missing column may be in the index of a pandas frame, or "".

    The result is "" for an index that only numbers the rows.
    """
    index = getattr(data, "index", None)
    if callable(index) or index is None or all(name is not None for name in index.names):
        return ""
    numbered = index.nlevels == 1 and index.inferred_type == "integer"
    remedy = "; if the column is in the index, name the index levels and use df.reset_index()"
    return "" if numbered else remedy


def rows_of_columns(columns: Mapping[Any, Any]) -> Iterator[dict[Any, Any]]:
    """Convert a dict of columns to rows.

    Errors: DataError if the columns are not lists of the same length.

    >>> list(rows_of_columns({"task": ["a", "b"], "passed": (1, 0)}))
    [{'task': 'a', 'passed': 1}, {'task': 'b', 'passed': 0}]
    """
    lists = {}
    for name, column in columns.items():
        if hasattr(column, "to_pylist"):
            column = column.to_pylist()
        if isinstance(column, str | bytes | Mapping) or not isinstance(column, Iterable):
            problem = f"column {str(name)!r} is a {type(column).__name__}"
            remedy = "give a list with one value per row"
            if isinstance(column, str) and is_existing_data_argument(column):
                labelled = json.dumps([f"{key}={value}" for key, value in columns.items()])
                remedy = f"to give files labels, use a list: {labelled}"
            raise DataError("columns", problem, remedy, name="wrong-data")
        lists[name] = list(column)
    lengths = {str(name): len(values) for name, values in lists.items()}
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        problem = f"the columns have different lengths ({sizes})"
        remedy = "give each column one value per row"
        raise DataError("columns", problem, remedy, name="wrong-data")
    return (dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True))


def attempt_rows_of_arrays(data: Any) -> Iterator[dict[str, Any]]:
    """Convert a two-dimensional array, or a dict of arrays by model, to one row per attempt.

    In an array, each row is a task, each column is an attempt, and NaN is a missing outcome. For
    other data, the function yields nothing.

    >>> import numpy as np
    >>> [*attempt_rows_of_arrays(np.array([[1, 0]]))]
    [{'task': 0, 'attempt': 0, 'passed': 1}, {'task': 0, 'attempt': 1, 'passed': 0}]
    """
    arrays = data if isinstance(data, Mapping) else {None: data}
    if not all(hasattr(a, "tolist") and getattr(a, "ndim", 0) == 2 for a in arrays.values()):
        return
    for model, array in arrays.items():
        model_column = {} if model is None else {"model": model}
        values = array.tolist()
        scores = any(v not in (0, 1) and v == v for row in values for v in row)
        outcome = "score" if scores else "passed"
        for task, row in enumerate(values):
            for attempt, value in enumerate(row):
                yield {**model_column, "task": task, "attempt": attempt, outcome: value}


def write_rows_as_json(rows: Iterable[Any], path: Path) -> Source:
    """Write rows to a file of JSON records, so that passk reads rows in the same way as files."""
    with open(path, "w") as file:
        for number, row in enumerate(rows, 1):
            if not isinstance(row, Mapping):
                problem = f"a value of type {type(row).__name__} is not a row"
                raise DataError(f"{ROWS}:{number}", problem, name="wrong-data")
            try:
                file.write(json.dumps(_json_compatible_value(row)) + "\n")
            except RecursionError:
                problem, remedy = "the row is nested too deeply", "remove the nested value"
                raise DataError(f"{ROWS}:{number}", problem, remedy, name="wrong-data") from None
        if not file.tell():
            problem = "the data contains no rows"
            remedy = "expected one row per attempt or per task"
            raise DataError(ROWS, problem, remedy, name="no-results")
    return Source(str(path), ROWS, None, "none")


def source_if_column_exists(column: str, data: Any, spool: Path) -> Source | None:
    """Write the data to a file of records if the data has a given column. Return the file, or None
    if there is no such column.

    column : the column name in lower case.
    Returns None for a table that can be read only once, even if the table has the column.
    """
    path = spool / "rows.jsonl"
    con = None
    if frames_by_model(data):
        return None
    if isinstance(data, Mapping):
        names = [*data]
    elif isinstance(data, list | tuple):
        names = [name for row in data if isinstance(row, Mapping) for name in row]
    elif is_table(data) and not is_read_once(data):
        con = shared_connection()
        register_table(con, data)
        names = [row[0] for row in con.execute("DESCRIBE SELECT * FROM frame").fetchall()]
    else:
        return None
    if column not in {str(name).lower() for name in names}:
        return None
    if con is None:
        return write_rows_as_json(
            rows_of_columns(data) if isinstance(data, Mapping) else data, path
        )
    con.execute(f"COPY (SELECT * FROM frame) TO {quote_text(str(path))} (FORMAT json)")
    return Source(str(path), ROWS, None, "none")


def column_names(data: Any) -> list[str]:
    """The column names of a table, as the library of the table reports them. DuckDB would rename
    duplicate columns.

    The result is [] if the library does not provide column names.
    """
    schema = getattr(data, "schema", None)
    places = (getattr(data, "columns", None), getattr(schema, "names", None))
    for names in places:
        names = names() if callable(names) else names
        if isinstance(names, Iterable) and not isinstance(names, str):
            texts = list(names)
            if all(isinstance(text, str | int) for text in texts):
                return list(map(str, texts))
    return []


def category_orders(data: Any) -> dict[str, tuple[str, ...]]:
    """Map each ordered categorical column (pandas) or Enum column (polars) to the values in
    order."""
    orders = {}
    for name in column_names(data):
        try:
            dtype = data[name].dtype
        except (AttributeError, KeyError, TypeError, IndexError):
            continue
        if getattr(dtype, "ordered", False) or type(dtype).__name__ == "Enum":
            orders[name] = tuple(map(str, dtype.categories))
    return orders


def register_table(con: duckdb.DuckDBPyConnection, data: Any, table: str = "frame") -> None:
    """Register a table of another library in DuckDB under a given name.

    Errors: DataError for columns that cannot be read.
    """
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(data, pandas.DataFrame):
        data = _with_uniform_columns(_with_index_columns(data))
        if not len(data.columns):
            raise _no_columns_error()
        try:
            con.register(table, data)
            con.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()
        except duckdb.Error as error:
            raise _unreadable_column_error(con, data, error) from None
        return
    # The table from Python is copied, because some tables can be read only once.
    try:
        con.register("stream", _ArrowStreamWrapper(data))
        con.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT * FROM stream")
    except Exception as error:
        first = str(error).split("\n")[0]
        if "at least one column" in first:
            raise _no_columns_error() from None
        if "pyarrow" in first:
            problem = "its columns cannot be read without pyarrow"
            remedy = "install pyarrow, or give a dict of lists"
            raise DataError("DataFrame", problem, remedy, name="wrong-data") from None
        problem, remedy = f"the table cannot be read ({first})", "give plain columns"
        raise DataError("DataFrame", problem, remedy, name="wrong-data") from None


def _no_columns_error() -> DataError:
    problem, remedy = "the table has no columns", "expected one row per attempt or per task"
    return DataError("DataFrame", problem, remedy, name="no-results")


def _unreadable_column_error(
    con: duckdb.DuckDBPyConnection, frame: Any, error: duckdb.Error
) -> DataError:
    for place, (name, kind) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        try:
            con.register(f"column{place}", frame.iloc[:, [place]])
            con.execute(f"DESCRIBE SELECT * FROM column{place}").fetchall()
        except duckdb.Error:
            problem = f"passk cannot read the type {kind} of column {name!r}"
            remedy = f"drop the column, or convert it to text with .astype({{{name!r}: str}})"
            return DataError("DataFrame", problem, remedy, name="wrong-data")
    reason = str(error).split("\n")[0]
    problem, remedy = f"the table cannot be read ({reason})", "give plain columns"
    return DataError("DataFrame", problem, remedy, name="wrong-data")


def _json_compatible_value(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _json_compatible_value(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json_compatible_value(inner) for inner in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    if str(value) in ("nan", "NaT", "<NA>"):
        return None
    return value if isinstance(value, float) and math.isfinite(value) else str(value)


class _ArrowStreamWrapper:
    """Wraps a table and exposes only its rows, so that DuckDB reads the table without pyarrow."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)
