"""The table with the tasks and attempts of each model that passk wrote to a file."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from passk_cli.errors import raise_parameter_error_if_any
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Column
from passk_cli.study.section import GROUP_VALUES_COLUMN, MODEL_COLUMN, ReportSection
from passk_cli.study.values import SeriesKey
from passk_cli.suggested_fix import OptionWithValue


class WrittenModelCounts(NamedTuple):
    """The numbers of tasks, attempts and passes of one model that were written to a file."""

    series: SeriesKey
    tasks: int
    attempts: int
    passed: int | None


class CountsWrittenToFileTable(ReportSection[WrittenModelCounts]):
    """A row per model with the numbers of tasks and attempts that were written to a file."""

    has_own_schema = True
    columns = (
        MODEL_COLUMN, GROUP_VALUES_COLUMN,
        Column("tasks", "count", field_name="tasks", cell_of_record=lambda model: model.tasks,
               meaning="Tasks with attempts."),
        Column("attempts", "count", field_name="attempts",
            cell_of_record=lambda model: model.attempts,
               meaning="Number of attempts that were written."),
        Column("passed", "count", field_name="passed", cell_of_record=lambda model: model.passed,
               meaning="Number of written attempts that passed; empty for scores, which neither"
               " pass nor fail."),
    )  # fmt: skip


def refuse_reserved_columns(
    names: Collection[str], reserved: Collection[str], table_name: str
) -> None:
    """Raise a ParameterError if a column of --by has the name of a column of the output."""
    raise_parameter_error_if_any("reserved-column", *(
        (name.lower() in reserved, OptionWithValue("--by", name),
         f"{table_name} already has a column with this name; rename it in the data", ())
        for name in names
    ))  # fmt: skip


def model_counts_written_to_file(counts: Counts) -> list[WrittenModelCounts]:
    models = []
    for place, series in enumerate(counts.series):
        n, c = (values[counts.slice_of_series(place)] for values in (counts.n, counts.c))
        passed = None if counts.read_facts.unclear_outcome_count else int(c.sum())
        models.append(WrittenModelCounts(series, len(n), int(n.sum()), passed))
    return models
