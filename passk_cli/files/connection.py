"""The connection that reads: it sees the given files, and neither other files nor the network."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from passk_cli.files.sql import quote_text

if TYPE_CHECKING:
    import duckdb

# What a statement of ours sets as it goes; everything else is locked.
_SETTABLE = ("preserve_insertion_order", "disabled_optimizers", "memory_limit")
# Bytes that a thread may take before what does not fit goes to a file, and all of them at least.
_OF_A_THREAD, _LEAST = 1 << 27, 1 << 28
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
        "allowed_paths": _list_sql(paths),
        "allowed_directories": _list_sql(map(str, folders)),
        "allowed_configs": _list_sql(_SETTABLE),
        "python_enable_replacements": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
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
        little = max(int(threads) * _OF_A_THREAD, _LEAST)
        if little < float(number) * _UNITS[unit]:
            settings["memory_limit"] = f"'{little} bytes'"
    # These two forbid what comes after them.
    settings |= {"enable_external_access": "false", "lock_configuration": "true"}
    for name, value in settings.items():
        con.execute(f"SET {name} = {value}")
    return con


def hold_the_right(con: duckdb.DuckDBPyConnection) -> None:
    """Let every join hold the table on its right from now on.

    How many rows a text file has is guessed far too low, and joins would hold its rows instead of
    the cells.
    """
    con.execute("SET disabled_optimizers = 'join_order,build_side_probe_side,in_clause'")


def execute(con: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Execute a statement that makes a table: with little memory, and where that does not suffice,
    as for a record of many megabytes, with all there is.

    Errors: duckdb.Error.
    """
    import duckdb

    try:
        con.execute(sql)
    except duckdb.OutOfMemoryException:
        con.execute("RESET memory_limit")
        con.execute(sql)


def give_back(con: duckdb.DuckDBPyConnection) -> None:
    """Give the memory of what has been dropped back to the system, as setting a limit does."""
    ((limit,),) = con.execute("SELECT current_setting('memory_limit')").fetchall()
    con.execute(f"SET memory_limit = '{limit}'")


def _list_sql(texts: Iterable[str]) -> str:
    return "[" + ", ".join(map(quote_text, texts)) + "]"
