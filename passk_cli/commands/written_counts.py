"""The table with the number of tasks and attempts per model that were written to a file."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from passk_cli.errors import refuse_if_any
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Column
from passk_cli.study.section import GROUPS, MODEL, Section
from passk_cli.study.values import Series
from passk_cli.suggested_fix import OptionValue


class WrittenModel(NamedTuple):
    """The numbers of tasks, attempts and passes of one model that were written to a file."""

    series: Series
    tasks: int
    attempts: int
    passed: int | None


class WrittenTable(Section[WrittenModel]):
    """A row per model with the numbers of tasks and attempts that were written to a file."""

    separate_schema = True
    columns = (
        MODEL, GROUPS,
        Column("tasks", "count", name="tasks", cell=lambda model: model.tasks,
               meaning="Tasks with attempts."),
        Column("attempts", "count", name="attempts", cell=lambda model: model.attempts,
               meaning="Number of attempts that were written."),
        Column("passed", "count", name="passed", cell=lambda model: model.passed,
               meaning="Number of written attempts that passed; empty for scores, which neither"
               " pass nor fail."),
    )  # fmt: skip


def refuse_reserved_columns(
    names: Collection[str], reserved: Collection[str], table_name: str
) -> None:
    """Raise a ParameterError if a column of --by has the name of a column of the output."""
    refuse_if_any("reserved-column", *(
        (name.lower() in reserved, OptionValue("--by", name),
         f"{table_name} already has a column with this name; rename it in the data", ())
        for name in names
    ))  # fmt: skip


def written_models(counts: Counts) -> list[WrittenModel]:
    models = []
    for place, series in enumerate(counts.series):
        n, c = (values[counts.rows_of(place)] for values in (counts.n, counts.c))
        passed = None if counts.facts.not_understood else int(c.sum())
        models.append(WrittenModel(series, len(n), int(n.sum()), passed))
    return models
