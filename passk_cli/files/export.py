"""Write columns of results to a CSV, JSONL or Parquet file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from errno import EIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passk_cli.cleanup import file_moved_at_end, unwritable_error
from passk_cli.errors import ParameterError
from passk_cli.files.database import quote_text, shared_connection
from passk_cli.text import decode_file_name

if TYPE_CHECKING:
    import duckdb

COPY_OPTIONS_BY_FORMAT = {
    "csv": "FORMAT csv, HEADER",
    "jsonl": "FORMAT json",
    "parquet": "FORMAT parquet",
}
_ALL_COPY_OPTIONS_BY_FORMAT = COPY_OPTIONS_BY_FORMAT | {
    "every-eval-ever": COPY_OPTIONS_BY_FORMAT["jsonl"]
}


def output_format(path: Path, form: str | None = None) -> str:
    """The format of an output file: `form`, or the format of the file suffix if `form` is None.

    Errors: ParameterError if the format is unknown, if the file name is not valid UTF-8, or if the
    folder does not exist.
    """
    if decode_file_name(path) != str(path):
        raise ParameterError(
            f"{decode_file_name(path)}: this file name is not valid UTF-8; choose another name",
            name="bad-output",
        )
    require_folder_of_output_file(path)
    form = form or path.suffix[1:]
    if form not in _ALL_COPY_OPTIONS_BY_FORMAT:
        suffixes = ", ".join(f".{name}" for name in COPY_OPTIONS_BY_FORMAT)
        raise ParameterError(
            f"{path}: choose a file name with one of the suffixes {suffixes}", name="bad-output"
        )
    return form


def require_folder_of_output_file(path: Path) -> None:
    """Raise ParameterError if the folder of an output file does not exist."""
    if not path.parent.is_dir():
        raise ParameterError(
            f"{path.parent}: the folder of the output does not exist; create it first",
            name="bad-output",
        )


def check_output_file_name(name: str) -> str:
    """Check and return the name of an output file. Errors: ParameterError for an unknown format."""
    output_format(Path(name))
    return name


def write_columns(path: Path, columns: Mapping[str, Any], form: str | None = None) -> None:
    """Write arrays of equal length as the columns of a file, completely or not at all.

    path : the output file, with the suffix .csv, .jsonl or .parquet unless `form` is given.
    columns : maps names to numpy arrays of numbers or strings.
    Errors: ParameterError for an unknown suffix, or if the file cannot be written.
    """
    form = output_format(path, form)
    con = shared_connection()
    con.register("columns_", dict(columns))
    with file_moved_at_end(path) as file:
        write_query_rows(con, "FROM columns_", str(file), form)


def write_query_rows(con: duckdb.DuckDBPyConnection, query: str, file: str, form: str) -> None:
    """Write the rows of a query to a file. Errors: OSError if the file cannot be written, or
    duckdb.Error if the query fails."""
    import duckdb

    try:
        con.execute(f"COPY ({query}) TO {quote_text(file)} ({_ALL_COPY_OPTIONS_BY_FORMAT[form]})")
    except duckdb.IOException as error:
        if file not in str(error):
            raise
        raise as_os_error(error, file) from None


@contextmanager
def translate_write_errors(path: Path) -> Iterator[None]:
    """Turn an error from writing a file or folder into a passk error with advice for the user."""
    try:
        yield
    except OSError as error:
        raise unwritable_error(path, error) from None


@contextmanager
def exclusive_access(path: Path, lock: Path, *, wait: bool) -> Iterator[None]:
    """Allow only one process at a time to run the `with` block. Without support for file locks, the
    function does not restrict other processes.

    lock : the lock file, which exists while the block runs. If the process is killed, the lock file
        remains.
    Errors: ParameterError if another process has the lock and `wait` is False.
    """
    with ExitStack() as opened:
        while True:
            with translate_write_errors(path):
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
            # While passk waited for the lock, another process may have removed the lock file.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                    break
        try:
            yield
        finally:
            with suppress(OSError):
                lock.unlink()


def as_os_error(error: duckdb.IOException, file: str = "") -> OSError:
    """Convert an error of DuckDB to an OSError."""
    match = re.search(r'"errno":"(\d+)"', str(error))
    number = int(match[1]) if match else EIO
    return OSError(number, os.strerror(number), file)
