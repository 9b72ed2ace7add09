"""The profile: rows of the files as codes, their columns, and how these behave.

Two rows have the same code in a column where their values are the same text.  Which rows, and how
they are read, is `counting.sample`'s; `checks` are tests on a profile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.files.database import is_absent
from passk_cli.files.roles import verdict_sql

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, eq=False, repr=False)
class SampledColumn:
    """A column of the sample.

    name : as `--field` takes it.  codes : one per row, from 0; −1 where there is no value.
    distinct : how many values.  sql : of its text, NULL where there is none.
    """

    name: str
    codes: Ints
    distinct: int
    sql: str

    @property
    def share(self) -> float:
        """Share of the rows that have a value."""
        return float(np.mean(self.codes >= 0)) if len(self.codes) else 0.0


class ValueKind(NamedTuple):
    """The values of a column.

    name : "bool", "number" or "text", of all values.  whole : whether numbers are whole ones.
    longest : bytes of the longest value.
    """

    name: str
    is_integer: bool
    longest: int


@dataclass(frozen=True, eq=False, repr=False)
class DataProfile:
    """Rows of a sample.

    columns : name → every scalar column, also those one key below, and further down those that say
        how attempts ended.
    series, task : codes of the model and its groups, and of the task; −1 where there is none.
    file : code of the file of each row, a place in `files`.
    verdict : 1 passes, 0 fails, NaN neither; of counts the share that passes.
    whole : whether the sample is all rows.
    table : the rows as DuckDB knows them by a name.
    """

    columns: Mapping[str, SampledColumn]
    series: Ints
    task: Ints
    file: Ints
    verdict: Floats
    files: tuple[str, ...]
    is_complete: bool
    con: duckdb.DuckDBPyConnection = field(repr=False)
    table: str

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.task)

    @cached_property
    def cell(self) -> Ints:
        """Code of each row's model, groups and task; −1 where it has no task."""
        return joined_codes(self.series, self.task)

    @cached_property
    def _kinds(self) -> dict[str, ValueKind]:
        """The kinds of values of columns that were asked for so far."""
        return {}

    def kind(self, column: str) -> ValueKind:
        """The kind of a column's values."""
        if column not in self._kinds:
            text = self.columns[column].sql
            number = f"TRY_CAST({text} AS DOUBLE)"
            query = (
                f"SELECT count({text}), count({number}),"
                f" count(*) FILTER (lower({text}) IN ('true', 'false')),"
                f" count(*) FILTER ({number} % 1 <> 0), coalesce(max(strlen({text})), 0)"
                f" FROM {self.table}"
            )
            present, numbers, truths, broken, longest = self.con.execute(query).fetchall()[0]
            kind = "number" if numbers == present else "bool" if truths == present else "text"
            self._kinds[column] = ValueKind(kind, not broken, longest)
        return self._kinds[column]

    @cached_property
    def _texts(self) -> dict[str, list[str]]:
        """The values of columns that were read so far."""
        return {}

    def texts(self, column: str, most: int = 1000) -> list[str]:
        """The values of a column in the order of their codes, the first of them."""
        texts = self._texts.get(column, [])
        if len(texts) < min(most, self.columns[column].distinct):
            codes, rows = np.unique(self.columns[column].codes, return_index=True)
            texts = self._texts[column] = self.texts_at(column, rows[codes >= 0][:most].tolist())
        return texts[:most]

    def texts_at(self, column: str, rows: Sequence[int]) -> list[str]:
        """The texts of a column in these rows; "" where there is none."""
        text, row_list = self.columns[column].sql, ", ".join(map(str, rows)) or "NULL"
        query = f"SELECT rowid, {text} FROM {self.table} WHERE rowid IN ({row_list})"
        texts = dict(self.con.execute(query).fetchall())
        return [texts[row] or "" for row in rows]

    def verdicts(self, column: str) -> Floats:
        """The verdicts on the values of a column, as an outcome is judged without options: 1
        passes, 0 fails, −1 is no verdict, and NaN is missing."""
        query = f"SELECT {verdict_sql('word', None)} AS verdict FROM (SELECT rowid AS place,"
        query += f" {self.columns[column].sql} AS word FROM {self.table}) ORDER BY place"
        return as_floats(self.con.execute(query).fetchnumpy()["verdict"])

    def numbers(self, column: str) -> Floats:
        """The values of a column as numbers, NaN where they are none."""
        number = f"TRY_CAST({self.columns[column].sql} AS DOUBLE)"
        query = f"SELECT {number} AS number FROM {self.table} ORDER BY rowid"
        return as_floats(self.con.execute(query).fetchnumpy()["number"])


def joined_codes(*columns: Ints) -> Ints:
    """Codes of several columns together, from 0; −1 where one of them is −1.

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
    """How many codes there are, −1 not among them.

    A first np.unique without indices would import numpy.ma, which takes as long as a small read.

    >>> count_distinct(np.array([2, -1, 0, 2]))
    2
    """
    return int(np.count_nonzero(np.bincount(codes[codes >= 0])))


def as_floats(numbers: Any) -> Floats:
    """Numbers of an answer, NaN where there is none."""
    return np.where(is_absent(numbers), np.nan, np.asarray(numbers, dtype=float))
