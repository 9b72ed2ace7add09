"""Read exact success rates of tasks, from --rates or from files with a column `rate`."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from passk_cli.cleanup import temporary_folder
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.database import shared_connection
from passk_cli.files.reading.layout import Batch
from passk_cli.files.reading.records import first_bad_record_error, read_records
from passk_cli.files.reading.schema_detection import detect_storage_layout
from passk_cli.files.request import Request
from passk_cli.files.roles import ColumnRoles, usual_columns
from passk_cli.files.sources.arguments import (
    is_read_once,
    model_names,
    paths_in_data,
    resolved_file_paths,
    sources_of_arguments,
)
from passk_cli.files.sources.memory import source_if_column_exists
from passk_cli.files.sources.remote import is_remote
from passk_cli.files.sources.source import Source
from passk_cli.option import changed_option_names
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix

if TYPE_CHECKING:
    import duckdb

RATE_COLUMN = "rate"


@dataclass(frozen=True)
class TasksWithExactRates:
    """A named set of tasks with exactly known success rates.

    success_rates : one success rate per task, in [0, 1], with shape (tasks,).
    """

    name: str
    success_rates: NDArray[np.float64]


def rates_from_option_or_data(
    families: Sequence[TasksWithExactRates], data: Any, request: Request
) -> tuple[TasksWithExactRates, ...]:
    """The families of tasks in --rates or in the data. The result is empty if the data contains
    outcomes instead of rates.

    data, request : the arguments of `read_rates`. `data` is None if the user gave no data.
    Errors: ParameterError if the user gave families and data, or neither families nor data.
    ParameterError if the user set an option that applies only to outcomes.
    """
    if families and data is not None:
        raise ParameterError(
            OptionWithValue("--rates"),
            "exact success rates replace result files; use either rates or files",
            name="contradicting-options",
        )  # fmt: skip
    if not families and data is None:
        raise ParameterError(
            "no files are given", name="no-files",
            settles=[SuggestedFix({"--rates": "0.2,0.8"}, "gives exact success rates")],
        )  # fmt: skip
    if not families:
        return read_rates(data, request)
    _require_no_outcome_options(request)
    return tuple(families)


def parse_rates(texts: Sequence[str]) -> tuple[TasksWithExactRates, ...]:
    """Parse families of tasks from strings like "0.2,0.8" or "name=0.2,0.8".

    >>> [(family.name, family.success_rates.tolist()) for family in parse_rates(["mixed=0,1",
    ...     "0.5"])]
    [('mixed', [0.0, 1.0]), ('0.5', [0.5])]
    """
    families: dict[str, TasksWithExactRates] = {}
    for text in texts:
        name, equals, numbers = text.rpartition("=")
        name = name if equals else numbers
        rates = []
        for part in numbers.split(","):
            rate = _probability_or_none(part)
            if rate is None:
                raise ParameterError(
                    OptionWithValue("--rates", text),
                    f"{part.strip()!r} is not a probability; write for example 0.2,0.8",
                )
            rates.append(rate)
        if not name or name in families:
            raise ParameterError(
                OptionWithValue("--rates", text),
                "each list of rates needs a different name, for example easy=0.8,0.9",
            )
        families[name] = TasksWithExactRates(name, np.array(rates))
    return tuple(families.values())


def read_rates(data: Any, request: Request) -> tuple[TasksWithExactRates, ...]:
    """Read families of tasks with exact success rates. The result is empty if the data contains
    outcomes.

    Data contains rates if it has a column `rate` and neither outcomes nor counts. Data from a pipe
    is never read as rates. The data can have a task column and a model (or family) column. Without
    a family column, the family is named after the label of the file or after the file name.

    Errors: DataError if a rate is not a probability, if a task is repeated, or if only some files
    contain rates. ParameterError if the user set an option that applies only to outcomes.
    """
    with temporary_folder("passk-") as spool:
        sources = _sources_if_readable_twice(data, spool)
        if not sources:
            return ()
        con = shared_connection()
        batches = [_rates_batch(con, source, request) for source in sources]
        exact = [batch for batch in batches if batch is not None]
        if not exact:
            return ()
        if len(exact) < len(batches):
            outcome_file = sources[batches.index(None)].name
            place = exact[0].sources[0].name
            problem = f"the file contains exact rates, but {outcome_file} contains outcomes"
            raise DataError(place, problem, "use either files with rates or files with outcomes")
        _require_no_outcome_options(request)
        names = model_names(sources)
        rates: dict[str, dict[str, tuple[float, str]]] = {}
        for batch in exact:
            _collect_rates_of_file(batch, names[batch.sources[0].path], rates)
    return tuple(
        TasksWithExactRates(name, np.array([rate for rate, _ in tasks.values()]))
        for name, tasks in rates.items()
    )


def _sources_if_readable_twice(data: Any, spool: Path) -> list[Source]:
    """The files to read. The result is empty for data from a pipe, which can be read only once."""
    files = paths_in_data(data)
    if not files:
        source = source_if_column_exists(RATE_COLUMN, data, spool)
        return [] if source is None else [source]
    paths = resolved_file_paths(files)
    plain = all(is_remote(path) or os.path.isfile(path) for path in paths)
    return sources_of_arguments(files, spool) if plain and not is_read_once(files) else []


def _rates_batch(con: duckdb.DuckDBPyConnection, source: Source, request: Request) -> Batch | None:
    layout = detect_storage_layout(con, source, request.format)
    columns = {name.lower(): name for name in layout.kinds_by_column}
    task, outcome, n, c, model = (
        next(iter(usual_columns(role, layout.kinds_by_column)), None)
        for role in ("task", "outcome", "n", "c", "model")
    )
    if RATE_COLUMN not in columns or outcome or (n and c) or request.fields:
        return None
    family = columns.get("family", model)
    return Batch(
        layout, ColumnRoles("rates", task or "", columns[RATE_COLUMN], model=family), (source,)
    )


def _require_no_outcome_options(request: Request) -> None:
    for option in (*changed_option_names(request), *["--cluster"] * bool(request.cluster)):
        if option != "--from":
            raise ParameterError(
                OptionWithValue(option),
                "this option applies to outcomes, but the data contains exact rates",
                name="contradicting-options",
            )  # fmt: skip


def _collect_rates_of_file(
    batch: Batch, name: str, rates: dict[str, dict[str, tuple[float, str]]]
) -> None:
    """Add the rates of a file to `rates`, which maps families and tasks to (rate, place) pairs."""
    source, layout, roles = batch.sources[0], batch.layout, batch.roles
    if wrong := first_bad_record_error(source, layout):
        raise DataError(
            wrong.place, wrong.problem, "each row needs a value in every column", name="bad-rate"
        )
    family, before = name, sum(len(tasks) for tasks in rates.values())
    for place, record in read_records(batch):
        value = record.get(str(roles.outcome))
        rate = _probability_or_none(value)
        if rate is None:
            text = "empty" if value in (None, "") else repr(value)
            remedy = "expected a probability from 0 to 1"
            raise DataError(place, f'"{roles.outcome}" is {text}', remedy, name="bad-rate")
        if roles.model is not None and source.label is None:
            family = str(record.get(roles.model) or "")
            if not family:
                problem, remedy = f'"{roles.model}" is empty', "every rate needs a family"
                raise DataError(place, problem, remedy, name="bad-rate")
        tasks = rates.setdefault(family, {})
        task = str(record.get(roles.task)) if roles.task else f"#{len(tasks)}"
        if task in tasks:
            problem = f"task {task!r} of {family!r} is duplicated, first seen at {tasks[task][1]}"
            raise DataError(place, problem, "each task needs exactly one rate", name="bad-rate")
        tasks[task] = (rate, place)
    if sum(len(tasks) for tasks in rates.values()) == before:
        problem, remedy = "the file contains no rates", "expected one row per task"
        raise DataError(source.name, problem, remedy, name="no-results")


def _probability_or_none(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) and 0.0 <= number <= 1.0 else None
