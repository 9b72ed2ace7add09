"""Counts of files that stay from run to run: a folder of entries, and the statement that uses them.

What an entry is of stands in its name: the file, its size and time, the statement, the versions.
So an entry is never wrong, it is only not there.

A file's part of the statement is run alone, and its groups are a table: a row for each different
combination of values, and how many rows of the file it stands for.  The statement then runs on
these shards.  So names, conditions, policies and errors are those of a reading without them.

Of attempt numbers a table has how many there are and the exclusive or of their hashes, which shows
whether a task's are 0 … n−1 or 1 … n in all files together.  Where they are not, the numbers
themselves are kept in a second table of the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import duckdb

from passk_cli.errors import ParameterError
from passk_cli.files.counting.checks import require_sound
from passk_cli.files.counting.statement import Care, Shards, Statement
from passk_cli.files.database import quote_text
from passk_cli.files.reading.layout import Batch
from passk_cli.files.request import Request
from passk_cli.files.sources.ledger import Ledger
from passk_cli.files.sources.source import Source
from passk_cli.message import NOTE, Message, Said
from passk_cli.settle import Given, Settle

UNCHANGED_FILES = Message(
    "unchanged-files", NOTE, "{unread} of {files:file} unchanged and not read", "",
    "--resume keeps the counts of each file beside the output. A file that has not changed since,"
    " by its size and time, is not read again.",
)  # fmt: skip
NOT_KEPT = Message(
    "files-not-kept", NOTE, "{files:file} read again on every run",
    "counts of tables only are kept: JSON lines, arrays of JSON, CSV, Parquet",
    "Files of harnesses' own formats are read in whole by every run; convert them once with `passk"
    " convert` if that takes long.",
)  # fmt: skip

_EACH_ROW = "1::BIGINT AS times, (attempt IS NOT NULL)::BIGINT AS numbers, hash(attempt) AS code"
_GROUPS = "count(*) AS times, count(attempt) AS numbers, bit_xor(hash(attempt)) AS code"


class KeptShards(Shards):
    """The tables of files, which are taken from a ledger or made for it."""

    def __init__(self, con: duckdb.DuckDBPyConnection, ledger: Ledger) -> None:
        self.con, self.ledger = con, ledger
        self._numbers_apart = False
        self._rejects: dict[str, int] = {}
        self._read: set[str] = set()

    def messages(self, batches: Sequence[Batch]) -> tuple[Said, ...]:
        """How many files were not read, and how many are read each time."""
        tables = sum(len(batch.sources) for batch in batches if not batch.layout.spool)
        others = sum(len(batch.sources) for batch in batches if batch.layout.spool)
        unread = tables - len(self._read)
        return (
            *([UNCHANGED_FILES(unread=unread, files=tables)] if unread else []),
            *([NOT_KEPT(files=others)] if others else []),
        )

    def require_numbers(self) -> None:
        """Make sure that the tables have the number of each attempt."""
        self._numbers_apart = True

    def rejected(self) -> int:
        """Rows that the tables lack."""
        return sum(self._rejects.values())

    def rows(self, statement: Statement, batch: Batch, files: str, *, ordered: bool) -> str:
        """The rows of tables; what needs the order of rows reads the files."""
        if batch.layout.spool or ordered:
            return f"SELECT *, {_EACH_ROW} FROM ({files})"
        # The statement of one batch, which no other batch changes.
        care = Care(careful=True, numbers=statement.care.numbers)
        own = Statement([batch], {}, statement.request, statement.where)
        own = own.having(care=care, open=statement.open)
        keys = [self._counted(source, own) for source in batch.sources]
        tables = [quote_text(str(self.ledger.table(key))) for key in keys]
        paths = [quote_text(source.path) for source in batch.sources]
        pairs = ", ".join(f"({table}, {path})" for table, path in zip(tables, paths, strict=True))
        columns = ["model", *own.groups, "task", "attempt", "outcome", *["late"] * own.open]
        columns += ["cluster"] if own.request.cluster else []
        if own.has_counts:
            columns += ["is_count", "n_text", "c_text"]
        elif statement.has_counts:
            columns += ["false AS is_count", "NULL AS n_text", "NULL AS c_text"]
        wanted = own.request.attempts
        columns += [role for role, _ in batch.roles.of_attempts if role in wanted]
        sums = "times, numbers, code" if self._grouped(batch) else _EACH_ROW
        return (
            f"SELECT files_.path AS file, {', '.join(columns)}, {sums}"
            f" FROM read_parquet([{', '.join(tables)}], filename='table_') AS t"
            f" JOIN (VALUES {pairs}) AS files_(table_, path) ON files_.table_ = t.table_"
        )

    def _grouped(self, batch: Batch) -> bool:
        """Whether groups say all that is asked of a batch so far; else its rows do, each."""
        numbered = batch.roles.shape != "attempts" or batch.roles.attempt is not None
        return not (numbered and self._numbers_apart)

    def _counted(self, source: Source, own: Statement) -> str:
        """The key of a file's table, which is taken from the ledger, or made and kept there.

        Errors: duckdb.Error, DataError.
        """
        (batch,) = own.batches
        # Of the file itself, so that one read through a copy or a link has one key.
        key = self.ledger.key(source, self._sql(source, own, source.origin))
        if key in self._rejects:
            return key
        rejected = self.ledger.summary(key)
        if rejected is None:
            self._read.add(source.path)
            # A delimited text is first tried in pieces.
            quick = replace(own.care, careful=own.request.skip_bad)
            rejected = self._made(source, own.having(care=quick), key)
            require_sound(batch.layout, [source], own.request)
            self.ledger.keep(key, rejected)
        self._rejects[key] = rejected
        return key

    def _made(self, source: Source, own: Statement, key: str) -> int:
        """Write the table of a file, read with as much care as it needs; the rows left out."""
        before, table = self._all_rejected(own), quote_text(str(self.ledger.table(key)))
        try:
            self.con.execute(f"COPY ({self._sql(source, own)}) TO {table} (FORMAT parquet)")
        except duckdb.Error as error:
            again = own.with_more_care(error)
            if again is None:
                raise
            return self._made(source, again, key)
        return self._all_rejected(own) - before

    def _all_rejected(self, own: Statement) -> int:
        """How many rows of delimited texts were left out so far."""
        (batch,) = own.batches
        if batch.layout.kind != "csv" or not own.request.skip_bad:
            return 0
        sql = "SELECT count(DISTINCT (scan_id, file_id, line)) FROM reject_errors"
        try:
            ((rows,),) = self.con.execute(sql).fetchall()
        except duckdb.CatalogException:
            return 0
        return int(rows)

    def _sql(self, source: Source, own: Statement, path: str = "") -> str:
        """SQL for the table of a file.  path : what is read of it, `source.path` unless given."""
        (batch,), path = own.batches, path or source.path
        constants = {n: {path: v[source.path]} for n, v in batch.layout.constants.items()}
        layout = replace(batch.layout, constants=constants)
        alone = replace(batch, layout=layout, sources=(replace(source, path=path),))
        rows = own.rows_of(alone, truths=own.truths)
        if not self._grouped(batch):
            return f"SELECT * EXCLUDE (file) REPLACE (outcome::VARCHAR AS outcome) FROM ({rows})"
        return (
            "SELECT * REPLACE (outcome::VARCHAR AS outcome) FROM"
            f" (SELECT * EXCLUDE (file) REPLACE (NULL::VARCHAR AS attempt), {_GROUPS}"
            f" FROM ({rows}) GROUP BY ALL)"
        )


def require_files(sources: Sequence[Source], request: Request) -> None:
    """ParameterError for what no later run could read again, and for a cluster that counts."""
    problem = ""
    once = next((source.name for source in sources if not source.origin), None)
    if request.engine != "duckdb":
        problem = f"{request.engine} keeps no counts"
    elif once is not None:
        problem = f"{once} cannot be read again by a later run; write it to a file"
    if problem:
        settles = [Settle({"--resume": None})]
        raise ParameterError(
            Given("--resume"), problem, name="contradicting-options", settles=settles
        )
