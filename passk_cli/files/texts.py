"""A column of texts as codes, so that a million cells hold no million texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from passk_cli.files.connection import give_back

if TYPE_CHECKING:
    import duckdb
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Texts:
    """A text per row, or none.

    codes : int32, one per row, indices into the names; −1 where there is no text.
    names : the texts that appear, each once, sorted.

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
        missing: NDArray[np.bool_] = self.codes < 0
        return missing

    @property
    def filled(self) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """Names and codes of the same where no text is the empty one; names may repeat."""
        codes = self.codes.astype(np.int64)
        codes[codes < 0] = len(self.names)
        return (*self.names, ""), codes

    @property
    def present(self) -> list[str]:
        """The texts that appear among the rows, sorted."""
        appear = np.bincount(self.codes[~self.absent], minlength=len(self.names)) > 0
        return [name for name, there in zip(self.names, appear.tolist(), strict=True) if there]


def coded(
    con: duckdb.DuckDBPyConnection, table: str, texts: Sequence[str], keys: Sequence[str]
) -> dict[str, Any]:
    """The columns of a table, which is dropped: those of texts as Texts, the others as arrays.

    The engine makes the codes, so that Python never holds a text per row, and a column of one value
    is that value, shown many times: such arrays cannot be written to.
    keys : the columns of texts that rows are sorted by; no text comes last.
    """
    names = _names(con, table, texts)
    columns = [name for name, *_ in con.execute(f"SELECT * FROM {table} LIMIT 0").description]
    numbers = [column for column in columns if column not in texts]
    ends = ", ".join(f"min({column}), max({column})" for column in numbers)
    ((rows, *values),) = con.execute(f"SELECT count(*), {ends} FROM {table}").fetchall()
    cells: dict[str, Any] = {
        column: np.broadcast_to(low, rows)
        for column, low, high in zip(numbers, values[::2], values[1::2], strict=True)
        if low == high
    }
    columns = [column for column in columns if column not in cells]
    shown, joins = [], ""
    for place, column in enumerate(columns):
        if column not in texts:
            shown.append(column)
        elif not names[column]:
            cells[column] = np.broadcast_to(np.int32(-1), rows)
        else:
            shown.append(f"coalesce(t{place}.code, -1) AS {column}")
            joins += (
                f" LEFT JOIN (SELECT text, code FROM texts_ WHERE place = {texts.index(column)})"
                f" AS t{place} ON t{place}.text = {table}.{column}"
            )
    varying: dict[str, Any] = {}
    if shown:
        varying = con.execute(f"SELECT {', '.join(shown)} FROM {table}{joins}").fetchnumpy()
    con.execute(f"DROP TABLE {table}")
    con.execute("DROP TABLE texts_")
    give_back(con)
    codes = [np.ma.getdata(varying[key]) for key in reversed(keys) if key in varying]
    order = np.lexsort([np.where(each < 0, rows, each) for each in codes]) if codes else slice(None)
    del codes
    for name in varying:
        # In place: no more than one of them is there twice.
        varying[name] = np.ma.getdata(varying[name])[order]
    cells |= varying
    return cells | {column: Texts(cells[column], names[column]) for column in texts}


def _names(
    con: duckdb.DuckDBPyConnection, table: str, texts: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """The distinct texts of each column, sorted; the table `texts_` has their codes."""
    distinct = " UNION ALL ".join(
        f"SELECT {place} AS place, {column} AS text FROM"
        f" (SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL)"
        for place, column in enumerate(texts)
    )
    con.execute(
        "CREATE OR REPLACE TEMP TABLE texts_ AS SELECT place, text,"
        " (row_number() OVER (PARTITION BY place ORDER BY text))::INTEGER - 1 AS code"
        f" FROM ({distinct})"
    )
    rows = con.execute("SELECT place, text FROM texts_ ORDER BY place, code").fetchnumpy()
    ends = np.searchsorted(np.ma.getdata(rows["place"]), np.arange(len(texts) + 1))
    words = np.ma.getdata(rows["text"]).tolist()
    return {c: tuple(words[ends[i] : ends[i + 1]]) for i, c in enumerate(texts)}
