"""Find the order of attempts, and groups of related tasks, in the sampled rows.

The module `study.dependence` uses the order and the groups to test whether attempts and tasks are
independent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from shlex import quote

import numpy as np

from passk_cli.arrays import Bools, Ints
from passk_cli.files.checks.check import CheckContext
from passk_cli.files.counting.statement import BENCHMARK_COLUMN_NAMES, Statement
from passk_cli.files.reading.profile import SampledColumn, joined_codes
from passk_cli.files.roles import SETTING_COLUMN_NAMES, column_name_words, normalized_last_key
from passk_cli.files.vocabulary import ATTEMPT_METADATA_WORDS, ATTEMPT_NUMBER_WORDS, SETTING_NAMES
from passk_cli.outcomes.row_sample import ClusterCandidates, OrderedAttempts, RowSampleFacts

# A column forms groups of dependent tasks only if it has at least _MIN_TASK_GROUPS values. Fewer
# values are probably categories, such as levels of difficulty.
_MIN_TASK_GROUPS = 10
# The columns in _SETTING_AND_BENCHMARK_NAMES are settings or benchmarks and not groups of dependent
# tasks.
_SETTING_AND_BENCHMARK_NAMES = SETTING_NAMES | {*SETTING_COLUMN_NAMES, *BENCHMARK_COLUMN_NAMES}
_GROUP_NAME_WORDS = frozenset("id group cluster family".split())


def sampled_rows(
    context: CheckContext, statement: Statement, settings: Collection[str]
) -> RowSampleFacts | None:
    """Find the order of attempts and the groups of tasks in the sample.

    The result is None if rows contain counts or lists. The result is also None if the files are
    larger than the sample and options select only some models, tasks or rows.
    """
    profile, request = context.profile, context.request
    has_filter = request.where or request.models or request.exclude_models
    is_part = has_filter or request.only_tasks or request.exclude_tasks
    if any(b.roles.kind_of_rows != "attempts" for b in context.batches) or (
        is_part and not profile.is_complete
    ):
        return None
    by_file = any(batch.roles.model is None for batch in context.batches)
    series = (
        joined_codes(profile.series_codes, profile.row_file_indices)
        if by_file
        else profile.series_codes
    )
    is_judged = (profile.task_codes >= 0) & (series >= 0) & np.isfinite(profile.row_verdicts)
    order = _ordered_attempts(context, statement, series, is_judged)
    groups = (
        None if request.cluster else _task_group_candidates(context, series, is_judged, settings)
    )
    return RowSampleFacts(order, groups) if order or groups else None


def _ordered_attempts(
    context: CheckContext, statement: Statement, series: Ints, is_judged: Bools
) -> OrderedAttempts | None:
    """The outcomes in the order of the attempt numbers. The result is None if attempt numbers are
    missing or repeated."""
    profile, column = context.profile, context.role_column("attempt")
    if column not in profile.columns or any(b.roles.attempt != column for b in context.batches):
        return None
    cell = joined_codes(series, profile.task_codes)
    if np.bincount(cell[is_judged], minlength=1).max() < 2:
        return None
    numbers = profile.column_numbers(column)
    if not np.isfinite(numbers[is_judged]).all():
        return None
    rows = np.flatnonzero(is_judged)
    rows = rows[np.lexsort((numbers[rows], cell[rows]))]
    same = np.diff(cell[rows]) == 0
    if np.any(same & (np.diff(numbers[rows]) == 0)):
        return None
    start = np.flatnonzero(np.r_[True, ~same, True])
    of_task = series[rows[start[:-1]]]
    places = np.unique(of_task, return_index=True)[1]
    names = tuple(_series_names(context, statement, rows[start[:-1]][places]))
    order = np.cumsum(np.r_[0, np.diff(of_task) != 0])
    return OrderedAttempts(names, order, start, profile.row_verdicts[rows].astype(np.int64))


def _series_names(
    context: CheckContext, statement: Statement, rows: Ints
) -> Iterator[tuple[str, ...]]:
    profile = context.profile
    columns = ", ".join(f"coalesce({name}, '')" for name in ("model", *statement.groups))
    row_list = ", ".join(map(str, rows.tolist()))
    query = f"SELECT rowid, {columns} FROM {profile.table_name} WHERE rowid IN ({row_list})"
    texts = {row: names for row, *names in profile.con.execute(query).fetchall()}
    by_file = {source.name: statement.names.get(source.path) for source in context.sources}
    for row in rows.tolist():
        model, *groups = texts[row]
        yield (by_file.get(profile.file_names[profile.row_file_indices[row]]) or model, *groups)


def _task_group_candidates(
    context: CheckContext, series: Ints, is_judged: Bools, settings: Collection[str]
) -> ClusterCandidates | None:
    """The pass rates of tasks, and the unread columns that divide the tasks into groups. The result
    is None if there are no such columns.

    Columns that contain settings, benchmarks or properties of attempts are excluded.
    """
    profile = context.profile
    names = [
        name for name in context.unread_columns
        if quote(name) not in settings
        and normalized_last_key(name) not in _SETTING_AND_BENCHMARK_NAMES
        and not column_name_words(name) & (ATTEMPT_METADATA_WORDS | ATTEMPT_NUMBER_WORDS)
        and profile.columns[name].distinct_count >= _MIN_TASK_GROUPS
    ]  # fmt: skip
    if not names or not is_judged.any():
        return None
    task, tasks = np.unique(profile.task_codes[is_judged], return_inverse=True)[1], 0
    tasks = int(task.max()) + 1
    once = len(task) == tasks
    columns = {}
    for name in names:
        column = profile.columns[name]
        codes = _group_codes_by_task(column, task, is_judged, tasks)
        if codes is not None and not (once and _may_measure_attempts(context, name)):
            columns[name] = codes
    if not columns:
        return None
    cell = joined_codes(series[is_judged], task)
    first = np.unique(cell, return_index=True)[1]
    rates = np.bincount(cell, profile.row_verdicts[is_judged]) / np.bincount(cell)
    model, of_task = np.unique(series[is_judged][first], return_inverse=True)[1], task[first]
    rates -= (np.bincount(model, rates) / np.bincount(model))[model]
    return ClusterCandidates(np.bincount(of_task, rates) / np.bincount(of_task), columns)


def _group_codes_by_task(
    column: SampledColumn, task: Ints, is_judged: Bools, tasks: int
) -> Ints | None:
    """The group of each task. The result is None if a task has no single group, or if the groups
    are too few or too small.
    """
    codes = column.codes[is_judged]
    if codes.min(initial=0) < 0 or 2 * column.distinct_count > tasks:
        return None
    group = np.zeros(tasks, dtype=np.int64)
    group[task] = codes
    if np.any(group[task] != codes):
        return None
    codes = np.unique(group, return_inverse=True)[1].astype(np.int64)
    return codes if _MIN_TASK_GROUPS <= int(codes.max()) + 1 <= tasks / 2 else None


def _may_measure_attempts(context: CheckContext, name: str) -> bool:
    """Whether the numbers in a column may be measurements of attempts, such as times."""
    return (
        not column_name_words(name) & _GROUP_NAME_WORDS
        and context.profile.column_kind(name).name != "text"
    )
