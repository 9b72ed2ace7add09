"""Write runs to a history. A history is one Parquet file, or a folder with one file per run.

Each row contains the counts of one model at one task, and can contain lists with the outcomes and
costs of the attempts.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from passk_cli.cleanup import file_moved_at_end
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.database import (
    NO_HIVE_PARTITIONING_SQL,
    quote_name,
    quote_text,
    shared_connection,
)
from passk_cli.files.export import (
    exclusive_access,
    require_folder_of_output_file,
    translate_write_errors,
    write_query_rows,
)
from passk_cli.files.roles import AMOUNT_UNITS, HISTORY_COLUMNS
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix

# The columns in RUN_DESCRIPTION_COLUMNS describe the run to which a row of a history belongs.
RUN_DESCRIPTION_COLUMNS = ("run", "at", "revision", "suite")
SETTINGS_COLUMN = "settings"
_REQUIRED_COLUMNS = HISTORY_COLUMNS
_NAME_WITH_UNIT_BY_ROLE = {"cost": "cost_usd", "duration": "duration_s"}
PER_ATTEMPT_LIST_COLUMN_BY_ROLE = {"outcome": "each_passed"} | {
    r: f"each_{_NAME_WITH_UNIT_BY_ROLE.get(r, r)}" for r in AMOUNT_UNITS
}
RESERVED_HISTORY_COLUMNS = (*_REQUIRED_COLUMNS, *PER_ATTEMPT_LIST_COLUMN_BY_ROLE.values())


def is_folder_history(to: str) -> bool:
    """Whether the path of a history is an existing folder or ends with a slash."""
    return os.path.isdir(to) or to.endswith(("/", os.sep))


def require_valid_history_path(to: str) -> str:
    """Check the path of a history, which must be a .parquet file or a folder.

    Errors: ParameterError if the file has another suffix, or if the file's folder does not exist.
    """
    if is_folder_history(to):
        return to
    path = Path(to)
    if path.suffix != ".parquet":
        raise ParameterError(
            OptionWithValue("--to", to),
            "a history must be a .parquet file or a folder (a name that ends with /)",
            name="bad-output",
        )  # fmt: skip
    require_folder_of_output_file(path)
    return to


def append_run_rows(to: str, columns: Mapping[str, Any]) -> None:
    """Add all rows of a run to a history. If an error occurs, no row is added.

    Processes that write to the same history wait for each other. passk first writes a complete new
    file and then replaces the old file, so the old file stays intact if the process is killed.

    columns : maps the name of each column to an array with one value per row. The columns are run,
        at, revision, suite, model, the groups, task, n, c and settings. Optional columns of lists
        have names from PER_ATTEMPT_LIST_COLUMN_BY_ROLE.
    Errors: DataError if the run is already recorded, or if the file is not a history.
    ParameterError if the history has other groups or cannot be written.
    """
    con = shared_connection()
    con.register("given_", dict(columns))
    # List columns need an explicit type, because DuckDB cannot detect the type if all entries are
    # missing.
    lists = ", ".join(
        f"{name}::{'BOOLEAN' if role == 'outcome' else 'DOUBLE'}[] AS {name}"
        for role, name in PER_ATTEMPT_LIST_COLUMN_BY_ROLE.items() if name in columns
    )  # fmt: skip
    con.execute(f"CREATE TEMP VIEW run_ AS SELECT *{lists and f' REPLACE ({lists})'} FROM given_")
    if not is_folder_history(to):
        path = Path(to)
        with exclusive_access(path, path.with_name(f".{path.name}.lock"), wait=True):
            rows = "FROM run_"
            if path.exists() and path.stat().st_size:
                _require_history_accepts_run(con, [path], columns)
                rows = f"FROM {_history_table_sql([path])} UNION ALL BY NAME FROM run_"
            with file_moved_at_end(path) as file, _translate_history_errors(path):
                write_query_rows(con, rows, str(file), "parquet")
        return
    folder = Path(to)
    with translate_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    run = str(columns["run"][0])
    models = sorted(set(map(str, columns["model"])))
    identity = "\0".join((run, str(columns["suite"][0]), *models))
    digest = hashlib.sha256(identity.encode()).hexdigest()[:10]
    path = folder / f"{run_file_stem(run)}-{digest}.parquet"
    with exclusive_access(folder, folder / ".passk.lock", wait=True):
        if files := sorted(folder.glob("*.parquet")):
            _require_history_accepts_run(con, files, columns)
        try:
            with file_moved_at_end(path, new=True) as file:
                write_query_rows(con, "FROM run_", str(file), "parquet")
        except FileExistsError:
            raise _run_exists_error(path, run, str(columns["suite"][0]), models[0]) from None


def run_file_stem(run: str) -> str:
    """Turn the name of a run into the beginning of a file name.

    >>> run_file_stem("nightly 2026/11"), run_file_stem("..")
    ('nightly-2026-11', 'run')
    """
    return re.sub(r"[^\w.-]+", "-", run)[:60].strip(".-") or "run"


def _history_table_sql(files: list[Path]) -> str:
    names = ", ".join(quote_text(glob.escape(str(file))) for file in files)
    return f"read_parquet([{names}], union_by_name=true{NO_HIVE_PARTITIONING_SQL})"


def _require_history_accepts_run(con: Any, files: list[Path], columns: Mapping[str, Any]) -> None:
    for file in files:
        with _translate_history_errors(file):
            rows = con.execute(f"DESCRIBE FROM {_history_table_sql([file])}").fetchall()
        columns_in_file = [name for name, *_ in rows]
        if lacking := [name for name in _REQUIRED_COLUMNS if name not in columns_in_file]:
            problem = f"this is not a history of runs, because it has no column {lacking[0]!r}"
            remedy = "name a file that `passk record` has written, or a new file"
            raise DataError(str(file), problem, remedy, name="no-history")
        groups, run_groups = (
            [n for n in names if n not in RESERVED_HISTORY_COLUMNS]
            for names in (columns_in_file, columns)
        )
        if sorted(groups) != sorted(run_groups):
            split, by = (", ".join(sorted(names)) or "nothing" for names in (groups, run_groups))
            problem = f"{file}: its runs are grouped by {split}, but the new run is grouped by {by}"
            with_groups = SuggestedFix({"--by": None} | ({"--by": tuple(groups)} if groups else {}))
            raise ParameterError(
                f"{problem}; record the run to another file",
                name="other-groups",
                settles=[with_groups],
            )
    same = " AND ".join(
        f"old.{quote_name(name)} IS NOT DISTINCT FROM run_.{quote_name(name)}"
        for name in columns if name in ("run", "suite",
            "model") or name not in RESERVED_HISTORY_COLUMNS
    )  # fmt: skip
    place = files[0] if len(files) == 1 else files[0].parent
    with _translate_history_errors(place):
        clash = con.execute(
            f"SELECT run_.run, run_.suite, run_.model FROM run_"
            f" SEMI JOIN {_history_table_sql(files)} AS old ON {same} LIMIT 1"
        ).fetchone()
    if clash:
        raise _run_exists_error(place, *clash)


@contextmanager
def _translate_history_errors(place: Path) -> Iterator[None]:
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise DataError(
            str(place), f"the file is not readable as Parquet ({str(error).splitlines()[0]})",
            "the run was not recorded; restore the file, or record the run to another file",
            name="damaged-file",
        ) from None  # fmt: skip


def duplicate_run_in_history_error(run_name: str, suite: str, files: Sequence[str]) -> DataError:
    """The error for a run that occurs twice in a history.

    run_name : the run and its model, such as "run 7 of alpha".
    """
    problem, remedy = f"{run_name} was recorded twice (suite {suite})", "read only one of its files"
    if len(files) > 1:
        problem += f": {files[0]} and {files[1]} contain it"
        remedy = f"delete the wrong file, for example with: rm {shlex.quote(files[1])}"
    return DataError("history", problem, remedy, name="recorded-run")


def _run_exists_error(place: Path, run: str, suite: str, model: str) -> DataError:
    problem = f"run {run} of {model} is already recorded (suite {suite})"
    named_run = SuggestedFix(
        {"--run": Placeholder("NAME")}, "names another run of the same revision"
    )
    return DataError(str(place), problem, name="recorded-run", settles=[named_run])
