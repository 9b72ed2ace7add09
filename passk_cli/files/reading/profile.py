"""Store a sample of the rows, with each column as an array of integer codes.

Two rows have the same code in a column if they contain the same value. `counting.sample` reads the
rows, and the modules in `checks` test the sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.files.database import missing_mask
from passk_cli.files.roles import outcome_verdict_sql

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, eq=False, repr=False)
class SampledColumn:
    """A column of the sampled rows.

    name : the name of the column for `--field`.
    codes : one code per row. A code is 0, 1, 2 and so on, or −1 for a missing value.
    distinct_count : the number of different values.
    value_sql : SQL that returns the value as a string, or NULL if the value is missing.
    """

    name: str
    codes: Ints
    distinct_count: int
    value_sql: str

    @property
    def present_share(self) -> float:
        """The share of the rows that have a value in the column."""
        return float(np.mean(self.codes >= 0)) if len(self.codes) else 0.0


class ValueKind(NamedTuple):
    """The kind of values in a column.

    name : "bool", "number" or "text".
    is_integer : whether all numbers are whole numbers.
    longest_bytes : the size of the longest value, in bytes.
    """

    name: str
    is_integer: bool
    longest_bytes: int


@dataclass(frozen=True, eq=False, repr=False)
class RowSampleProfile:
    """A sample of the rows in the files, which passk checks for contradictions.

    columns : maps names to columns with scalar values. Nested fields are included if they are only
        one level deep, or if they describe how attempts ended.
    series_codes : one code per row for the combination of model and groups, or −1 if the
        combination is missing.
    task_codes : one code per row for the task, or −1 if the row has no task.
    row_file_indices : one index per row, which is the position of the row's file in `file_names`.
    row_verdicts : one number per row: 1 for a pass, 0 for a failure, the share of passes for a row
        with counts, or NaN if the verdict is unknown.
    is_complete : whether the sample contains all rows.
    table_name : the name of the DuckDB table with the rows.
    """

    columns: Mapping[str, SampledColumn]
    series_codes: Ints
    task_codes: Ints
    row_file_indices: Ints
    row_verdicts: Floats
    file_names: tuple[str, ...]
    is_complete: bool
    con: duckdb.DuckDBPyConnection = field(repr=False)
    table_name: str

    @property
    def row_count(self) -> int:
        """The number of sampled rows."""
        return len(self.task_codes)

    @cached_property
    def cell_codes(self) -> Ints:
        """One code per row for the combination of model, groups and task, or −1 if the row has no
        task."""
        return joined_codes(self.series_codes, self.task_codes)

    @cached_property
    def _kind_cache(self) -> dict[str, ValueKind]:
        return {}

    def column_kind(self, column: str) -> ValueKind:
        """The kind of values in a column."""
        if column not in self._kind_cache:
            text = self.columns[column].value_sql
            number = f"TRY_CAST({text} AS DOUBLE)"
            query = (
                f"SELECT count({text}), count({number}),"
                f" count(*) FILTER (lower({text}) IN ('true', 'false')),"
                f" count(*) FILTER ({number} % 1 <> 0), coalesce(max(strlen({text})), 0)"
                f" FROM {self.table_name}"
            )
            present, numbers, truths, broken, longest = self.con.execute(query).fetchall()[0]
            kind = "number" if numbers == present else "bool" if truths == present else "text"
            self._kind_cache[column] = ValueKind(kind, not broken, longest)
        return self._kind_cache[column]

    @cached_property
    def _text_cache(self) -> dict[str, list[str]]:
        return {}

    def distinct_texts(self, column: str, most: int = 1000) -> list[str]:
        """The first `most` different values of a column, in the order of their codes."""
        texts = self._text_cache.get(column, [])
        if len(texts) < min(most, self.columns[column].distinct_count):
            codes, rows = np.unique(self.columns[column].codes, return_index=True)
            texts = self._text_cache[column] = self.texts_at(
                column, rows[codes >= 0][:most].tolist()
            )
        return texts[:most]

    def texts_at(self, column: str, rows: Sequence[int]) -> list[str]:
        """The values of a column in the given rows as strings, or "" for a missing value."""
        text, row_list = self.columns[column].value_sql, ", ".join(map(str, rows)) or "NULL"
        query = f"SELECT rowid, {text} FROM {self.table_name} WHERE rowid IN ({row_list})"
        texts = dict(self.con.execute(query).fetchall())
        return [texts[row] or "" for row in rows]

    def row_verdicts_of_column(self, column: str) -> Floats:
        """The verdict for each row of a column: 1 (pass), 0 (failure), −1 (unknown) or NaN
        (missing).

        The function ignores options such as --passes.
        """
        query = (
            f"SELECT {outcome_verdict_sql('word', None)} AS verdict FROM (SELECT rowid AS place,"
        )
        query += f" {self.columns[column].value_sql} AS word FROM {self.table_name}) ORDER BY place"
        return as_floats(self.con.execute(query).fetchnumpy()["verdict"])

    def column_numbers(self, column: str) -> Floats:
        """The values of a column as numbers, with NaN for values that are not numbers."""
        number = f"TRY_CAST({self.columns[column].value_sql} AS DOUBLE)"
        query = f"SELECT {number} AS number FROM {self.table_name} ORDER BY rowid"
        return as_floats(self.con.execute(query).fetchnumpy()["number"])


def joined_codes(*columns: Ints) -> Ints:
    """Combine the codes of several columns into one code per row, which is −1 if one of the codes
    is −1.

    >>> joined_codes(np.array([0, 0, 1, 1]), np.array([0, 1, 1, -1])).tolist()
    [0, 1, 2, -1]
    """
    joint = np.zeros(len(columns[0]), dtype=np.int64)
    is_present = np.ones(len(joint), dtype=bool)
    for codes in columns:
        is_present &= codes >= 0
        joint = joint * (codes.max(initial=0) + 1) + codes
    joined = np.full(len(joint), -1, dtype=np.int64)
    joined[is_present] = np.unique(joint[is_present], return_inverse=True)[1]
    return joined


def count_distinct(codes: Ints) -> int:
    """The number of different codes, without −1.

    The function does not use np.unique, because np.unique without indices imports numpy.ma. This
    import takes as long as reading a small file.

    >>> count_distinct(np.array([2, -1, 0, 2]))
    2
    """
    return int(np.count_nonzero(np.bincount(codes[codes >= 0])))


def as_floats(numbers: Any) -> Floats:
    """The numbers in a column of a query result, with NaN for missing values."""
    return np.where(missing_mask(numbers), np.nan, np.asarray(numbers, dtype=float))
