"""Write columns of results to a CSV, JSONL or Parquet file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from errno import EIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passk_cli.cleanup import atomic_write, unwritable_error
from passk_cli.errors import ParameterError
from passk_cli.files.database import quote_text, shared_connection
from passk_cli.text import decode_name

if TYPE_CHECKING:
    import duckdb

FORMS = {"csv": "FORMAT csv, HEADER", "jsonl": "FORMAT json", "parquet": "FORMAT parquet"}
_FORM_OPTIONS = FORMS | {"every-eval-ever": FORMS["jsonl"]}


def export_form(path: Path, form: str | None = None) -> str:
    """The format of an output file: `form`, or the format of the suffix of the file.

    Errors: ParameterError if the format is unknown, or the file cannot be created.
    """
    if decode_name(path) != str(path):
        raise ParameterError(
            f"{decode_name(path)}: the name is not UTF-8; choose another name", name="bad-output"
        )
    require_folder(path)
    form = form or path.suffix[1:]
    if form not in _FORM_OPTIONS:
        suffixes = ", ".join(f".{name}" for name in FORMS)
        raise ParameterError(f"{path}: choose one of the suffixes {suffixes}", name="bad-output")
    return form


def require_folder(path: Path) -> None:
    """Raise ParameterError unless the folder of an output file exists."""
    if not path.parent.is_dir():
        raise ParameterError(
            f"{path.parent}: the folder of the output does not exist; create it first",
            name="bad-output",
        )


def parse_file(name: str) -> str:
    """The name of an output file. Raise ParameterError if passk cannot write columns to it."""
    export_form(Path(name))
    return name


def write_columns(path: Path, columns: Mapping[str, Any], form: str | None = None) -> None:
    """Write arrays of equal length as the columns of a file, completely or not at all.

    path : a file that ends in .csv, .jsonl or .parquet, unless `form` is given.
    columns : name → numpy array of numbers or text.
    Errors: ParameterError for an unknown suffix, or if the file cannot be written.
    """
    form = export_form(path, form)
    con = shared_connection()
    con.register("columns_", dict(columns))
    with atomic_write(path) as file:
        copy_rows(con, "FROM columns_", str(file), form)


def copy_rows(con: duckdb.DuckDBPyConnection, query: str, file: str, form: str) -> None:
    """Write the rows of a query to a file. Errors: OSError if the disk is full; duckdb.Error."""
    import duckdb

    try:
        con.execute(f"COPY ({query}) TO {quote_text(file)} ({_FORM_OPTIONS[form]})")
    except duckdb.IOException as error:
        if file not in str(error):
            raise
        raise as_os_error(error, file) from None


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Turn errors of writing a file or folder into errors that tell users what to do."""
    try:
        yield
    except OSError as error:
        raise unwritable_error(path, error) from None


@contextmanager
def exclusive_access(path: Path, lock: Path, *, wait: bool) -> Iterator[None]:
    """Run a block of code in only one process at a time, on systems that support locks.

    path : the path for messages.
    lock : a file that exists only while the block runs, or after a process was killed.
    Errors: ParameterError if another process runs the block and `wait` is False.
    """
    with ExitStack() as opened:
        while True:
            with write_errors(path):
                file = opened.enter_context(open(lock, "ab"))
            try:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ParameterError(
                    f"{path}: another run of passk is using the file; wait until that run ends",
                    name="unwritable-output",
                ) from None
            except (ImportError, OSError):
                pass
            # Another process may have removed the lock file while this process waited.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                    break
        try:
            yield
        finally:
            # Windows cannot remove an open file.
            with suppress(OSError):
                lock.unlink()


def as_os_error(error: duckdb.IOException, file: str = "") -> OSError:
    """Convert an error of DuckDB to an OSError."""
    match = re.search(r'"errno":"(\d+)"', str(error))
    number = int(match[1]) if match else EIO
    return OSError(number, os.strerror(number), file)
