"""Find unread columns with values that the evaluation planned for each model and task.

Such columns contain settings, attempt numbers, or names of benchmark parts that number their tasks
separately.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from shlex import quote

import numpy as np

from passk_cli.arrays import Bools, Ints
from passk_cli.diagnostic import WARNING, DiagnosticType
from passk_cli.files.checks.check import (
    CERTAIN,
    EITHER,
    LIKELY,
    CheckContext,
    CheckFinding,
    ReadingCheck,
    value_at_path,
)
from passk_cli.files.checks.evenness import (
    MIN_VARYING_CELL_SHARE_IF_PLANNED,
    ValueEvennessOverCells,
    column_evenness,
    is_consecutive,
)
from passk_cli.files.reading.profile import (
    RowSampleProfile,
    SampledColumn,
    count_distinct,
    joined_codes,
)
from passk_cli.files.reading.records import naming_field_and_shared_names, read_records
from passk_cli.files.roles import (
    ATTEMPT_END_STATUS_COLUMN_WORDS,
    EACH_ENTRY_KEY,
    ROLES,
    SETTING_COLUMN_NAMES,
    column_name_words,
    normalized_last_key,
    role_name_strength,
)
from passk_cli.files.vocabulary import (
    ANSWER_WORDS,
    ATTEMPT_METADATA_WORDS,
    ATTEMPT_NUMBER_VALUE_PATTERN,
    ATTEMPT_NUMBER_WORDS,
    PROBLEM_STATEMENT_WORDS,
    PROSE_ABOUT_ANSWER_WORDS,
    SETTING_LAST_WORDS,
    SETTING_NAMES,
    SUITE_COLUMN_NAMES,
    VERDICT_COLUMN_WORDS,
    look_like_models,
)
from passk_cli.suggested_fix import SuggestedFix

# A vague column name may mean a setting or a result. An exact column name means only a setting.
_SETTING_OR_RESULT_NAMES = frozenset("mode route thinking agent provider".split())
_EXACT_SETTING_NAMES = (
    SETTING_NAMES | {*SETTING_COLUMN_NAMES, "severity"}
) - _SETTING_OR_RESULT_NAMES
_ALL_SETTING_NAMES = _EXACT_SETTING_NAMES | _SETTING_OR_RESULT_NAMES
_ALL_SETTING_NAMES |= frozenset(
    "reasoning tools budget step model_type model_version model_size".split()
)
_ATTEMPT_METADATA_OR_CACHE_WORDS = (
    ATTEMPT_METADATA_WORDS | {"cached", "cache"} | (ATTEMPT_END_STATUS_COLUMN_WORDS - {"state"})
)
# A column with a word in _RESULT_WORDS in its name contains results, so it does not divide a
# benchmark into parts.
_RESULT_WORDS = (
    VERDICT_COLUMN_WORDS | ANSWER_WORDS | PROSE_ABOUT_ANSWER_WORDS | {"category", "confidence"}
)
_DATE_PATTERN = re.compile(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})([T ].*)?")
_MIN_NUMBERING_SINGLE_ROW_SHARE = 0.9
_STANDARD_ERRORS, _ENOUGH_ROWS, _MOST_ARMS, _MOST_RECORDS = 2.0, 8, 12, 200

POOLED_SETTINGS_WARNING = DiagnosticType(
    "pooled-settings", WARNING,
    "attempts at one task differ in {column} ({values})",
    meaning="One model attempted the same tasks with different settings, such as prompts or"
    " temperatures.",
    why="The estimates describe a mixture of several settings. pass@k of a mixture is not the"
    " pass@k of any setting.",
    advice="Report each setting separately with --by, or pool the settings on purpose with"
    " --pool.",
    example="warning[pooled-settings]: attempts at one task differ in temperature (0.2, 0.8)",
)  # fmt: skip
SETTING_DIVIDES_TASKS_WARNING = DiagnosticType(
    "pooled-arms", WARNING,
    "each task was attempted under only one value of {column} ({rates}), so an estimate averages"
    " over several values",
    meaning="A setting divides the tasks into arms, and each task was attempted with only one"
    " value of the setting.",
    why="One estimate over all arms is not the pass rate of any arm, and it changes with the"
    " number of tasks per arm.",
    advice="Report each arm separately with --by.",
    example="warning[pooled-arms]: each task was attempted under only one value of prompt (b"
    " 0.610, a 0.420), so an estimate averages over several values",
)  # fmt: skip
UNREAD_NUMBERING_COLUMN_WARNING = DiagnosticType(
    "unread-column", WARNING,
    "passk does not read {column}, which distinguishes the attempts at each task ({values})",
    meaning="For nearly all tasks, each value of the unread column occurs only once. The column"
    " may contain attempt numbers, a setting, or a part of the task.",
    why="passk finds repeated attempts only if it knows the column with the attempt numbers. If"
    " the column contains a setting, the estimates mix attempts with different settings.",
    advice="If the column contains attempt numbers, name it with --field attempt=COLUMN. If the"
    " column contains something else, use --by, --pool or --field task=COLUMN.",
    example="warning[unread-column]: passk does not read round, which distinguishes the attempts"
    " at each task (1, 2, 3)",
)  # fmt: skip
DIFFERENT_TASKS_SAME_NAME_WARNING = DiagnosticType(
    "restarting-tasks", WARNING,
    "task names repeat for each value of {column} ({values}), so different tasks have the same"
    " name",
    meaning="The task numbers start again for each part of the data, such as a subject or a"
    " domain.",
    why="If passk read only the task number, different tasks would count as one task.",
    advice="Name the two columns that identify a task, for example with --field task=subject,id.",
    example="warning[restarting-tasks]: task names repeat for each value of subject (algebra,"
    " geometry), so different tasks have the same name",
)  # fmt: skip
LIST_OF_SCORER_VERDICTS_WARNING = DiagnosticType(
    "several-verdicts", WARNING,
    "each attempt has one verdict per {column} ({values})",
    meaning="A list contains several verdicts on the same attempt, with one verdict per scorer or"
    " criterion.",
    why="passk would count each verdict in the list as a separate attempt.",
    advice="Choose one scorer, for example with --field outcome=scores[name=correct].value.",
    example="warning[several-verdicts]: each attempt has one verdict per scores.name (correct,"
    " short)",
)  # fmt: skip
DISTINGUISHING_COLUMN_WARNINGS = (
    POOLED_SETTINGS_WARNING,
    UNREAD_NUMBERING_COLUMN_WARNING,
    LIST_OF_SCORER_VERDICTS_WARNING,
    DIFFERENT_TASKS_SAME_NAME_WARNING,
)
_EVENNESS_ASSUMED_IF_CONSECUTIVE = ValueEvennessOverCells(0.0, True, 0.0, 1.0, 1, 1.0)
_EVENNESS_ASSUMED_IF_RESTARTING = _EVENNESS_ASSUMED_IF_CONSECUTIVE._replace(
    single_row_cell_value_pair_share=0.0
)


def unread_planned_column_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """Find unread columns that have planned values or are named like a setting."""
    profile = context.profile
    restarting = [
        name for name in context.unread_columns if _attempt_numbers_restart(context, name)
    ]
    if restarting and not any(
        look_like_models(profile.distinct_texts(name)) for name in restarting
    ):
        order = {
            n: (normalized_last_key(n) not in SUITE_COLUMN_NAMES, profile.columns[n].distinct_count)
            for n in restarting
        }
        column = profile.columns[min(restarting, key=order.__getitem__)]
        yield _setting_finding(
            context, profile, column, _EVENNESS_ASSUMED_IF_RESTARTING, certain=True
        )
        return
    names = [name for name in context.unread_columns if _may_be_setting(context, name)]
    columns = [profile.columns[name] for name in names]
    certain: list[tuple[SampledColumn, ValueEvennessOverCells]] = []
    if columns and not profile.is_complete:
        # If a column varies in some rows of a model at a task, it also varies in all rows of this
        # model at this task, unless a filter removes rows.
        request = context.request
        fewer = request.where or request.models or request.exclude_models
        fewer = fewer or request.only_tasks or request.exclude_tasks
        sampled = [
            (c, column_evenness(profile.cell_codes, c.codes, deals=1)) for c in columns if not fewer
        ]
        certain = [
            (column, even) for column, even in sampled if _is_varying_exact_setting(column, even)
        ]
        if not certain:
            profile = context.profile_all_rows_of_some_cells(names)
            columns = [profile.columns[name] for name in names if name in profile.columns]
    judged = []
    for column in (
        () if certain else (_with_equivalent_texts_merged(profile, column) for column in columns)
    ):
        even = _setting_evenness(profile, column)
        if even.cell_share_with_several_values >= MIN_VARYING_CELL_SHARE_IF_PLANNED:
            judged.append(
                (column, even, _is_planning_certain_or_none(context, profile, column, even))
            )
    certain = certain or [(column, even) for column, even, verdict in judged if verdict]
    # The setting with the most values comes first, because this setting often determines the other
    # settings.
    certain.sort(key=lambda pair: _finding_sort_key(context, pair[0]))
    for column, even in certain:
        yield _setting_finding(context, profile, column, even, certain=True)
    for column, even, verdict in judged if not certain else ():
        if verdict is False:
            yield _setting_finding(context, profile, column, even, certain=False)


def attempt_number_column(context: CheckContext) -> str:
    """The only column that probably contains attempt numbers, or "" if there are none or several.

    The name of the column must suggest a number, and nearly all values of the column must occur
    only once per model and task. The result is "" if passk already reads a column as the attempt
    number.
    """
    profile = context.profile
    attempts = all(batch.roles.kind_of_rows == "attempts" for batch in context.batches)
    if context.has_attempt_numbers or not attempts:
        return ""
    numbers = ATTEMPT_NUMBER_WORDS - {"index", "idx"}
    numbering = []
    for name in context.unread_columns:
        terms = column_name_words(name)
        is_number_name = (
            len(terms) < 3 and terms & numbers and not terms & _ATTEMPT_METADATA_OR_CACHE_WORDS
        )
        if is_number_name or normalized_last_key(name) in ROLES["attempt"].doubtful_names.split():
            numbering += [name] * _are_values_unique_within_cells(profile, profile.columns[name])
    return numbering[0] if len(numbering) == 1 else ""


def _are_values_unique_within_cells(profile: RowSampleProfile, column: SampledColumn) -> bool:
    is_present = (profile.cell_codes >= 0) & (column.codes >= 0)
    most = int(np.bincount(profile.cell_codes[profile.cell_codes >= 0], minlength=1).max(initial=0))
    if (
        most < 2
        or column.present_share < _MIN_NUMBERING_SINGLE_ROW_SHARE
        or column.distinct_count > max_plausible_attempt_number_count(most)
    ):
        return False
    pairs = joined_codes(profile.cell_codes[is_present], column.codes[is_present])
    return count_distinct(pairs) >= _MIN_NUMBERING_SINGLE_ROW_SHARE * len(pairs)


def max_plausible_attempt_number_count(rows: int) -> int:
    """The largest plausible number of different attempt numbers in a column.

    rows : the largest number of rows for one model and one task.
    """
    return 2 * rows + 2


def is_setting(column: str) -> bool:
    """Whether a column, or a parent key of the column, is named like a setting or a model type.

    >>> [is_setting(name) for name in ("config.name", "judging_method", "name", "model_type")]
    [True, True, False, True]
    """
    *above, last = map(normalized_last_key, column.split("."))
    return (
        not _ALL_SETTING_NAMES.isdisjoint((*above, last))
        or last.rpartition("_")[2] in SETTING_LAST_WORDS
    )


def _finding_sort_key(context: CheckContext, column: SampledColumn) -> tuple[bool, bool, int]:
    """The sort key for findings that are certain. Columns named like a setting come first. Columns
    named like attempt numbers come after other columns. Among equal columns, the column with the
    most values comes first."""
    name = column.name
    numbers = bool(column_name_words(name) & ATTEMPT_NUMBER_WORDS)
    return not _is_named_setting(context, name), numbers, -column.distinct_count


def _is_named_setting(context: CheckContext, name: str) -> bool:
    template = context.request.template
    return is_setting(name) or (template is not None and name in template.column_names)


def _with_equivalent_texts_merged(
    profile: RowSampleProfile, column: SampledColumn
) -> SampledColumn:
    """Assign the same code to equal numbers, such as 1 and 1.0, and to times on the same day."""
    if days := _value_dates(profile, column):
        values, inverse = np.unique(days, return_inverse=True)
        by_day = np.where(column.codes < 0, -1, inverse[column.codes])
        return replace(column, codes=by_day, distinct_count=len(values))
    if profile.column_kind(column.name).name != "number":
        return column
    numbers = profile.column_numbers(column.name)
    is_number, codes = np.isfinite(numbers), np.full(len(numbers), -1, dtype=np.int64)
    values, codes[is_number] = np.unique(numbers[is_number], return_inverse=True)
    return replace(column, codes=codes, distinct_count=len(values))


def _value_dates(profile: RowSampleProfile, column: SampledColumn) -> list[str]:
    """The day of each value in a column of dates. The result is empty if any value is not a
    date.
    """
    dates = [
        *map(_DATE_PATTERN.fullmatch, profile.distinct_texts(column.name, column.distinct_count))
    ]
    return ["".join(date.groups()[:3]) for date in dates if date] if all(dates) else []


def _setting_evenness(profile: RowSampleProfile, column: SampledColumn) -> ValueEvennessOverCells:
    """How evenly the values of a column are distributed over cells. The cells are restricted to
    models that have several values in the column."""
    if is_consecutive(profile.cell_codes, profile.column_numbers(column.name)):
        return _EVENNESS_ASSUMED_IF_CONSECUTIVE
    # Attempts without a verdict are excluded, because such attempts lack values in most columns.
    judged = np.isfinite(profile.row_verdicts)
    cell = np.where(judged, profile.cell_codes, -1) if judged.any() else profile.cell_codes
    return column_evenness(
        np.where(_rows_of_varying_models(profile, column), cell, -1), column.codes
    )


def _rows_of_varying_models(profile: RowSampleProfile, column: SampledColumn) -> Bools:
    """A mask that selects the rows of models with several values in a column. A missing value
    counts as a value."""
    models = int(profile.series_codes.max(initial=0)) + 1
    least, most = np.full(models, len(column.codes)), np.full(models, -2)
    np.minimum.at(least, profile.series_codes, column.codes)
    np.maximum.at(most, profile.series_codes, column.codes)
    several: Bools = (least < most)[profile.series_codes]
    return several


def _may_be_setting(context: CheckContext, name: str) -> bool:
    profile, column = context.profile, context.profile.columns[name]
    sizes = np.bincount(profile.cell_codes[profile.cell_codes >= 0], minlength=1)
    most = max(20, int(profile.row_count**0.5), int(np.median(sizes)))
    if not 2 <= column.distinct_count + (column.present_share < 1) <= max(most, int(sizes.max())):
        return False
    if column.distinct_count > most and not is_consecutive(
        profile.cell_codes, profile.column_numbers(name)
    ):
        return False
    is_named = _is_named_setting(context, name)
    happens = column_name_words(name) & _ATTEMPT_METADATA_OR_CACHE_WORDS and not (
        is_named or _value_dates(profile, column)
    )
    outcome = ROLES["outcome"].rank_by_name.get(normalized_last_key(name)) == 0
    consequence = _determines_outcomes(profile, column) and not look_like_models(
        profile.distinct_texts(name, most)
    )
    attempt_column = profile.columns.get(context.request.fields.get("attempt", ""))
    numbers = (
        normalized_last_key(name) in ROLES["attempt"].rank_by_name
        and profile.column_kind(name).name == "number"
    )
    if attempt_column and numbers:
        pair_count = _count_distinct_pairs(profile.cell_codes, column.codes)
        if _count_distinct_pairs(profile.cell_codes, attempt_column.codes) >= pair_count:
            return False
    return not (happens or outcome or consequence or (context.is_known_format and not is_named))


def _determines_outcomes(profile: RowSampleProfile, column: SampledColumn) -> bool:
    """Whether each value of a column occurs only with passes or only with failures.

    A column that separates passes from failures is a consequence of the outcome and not a setting.
    """
    is_judged = np.isfinite(profile.row_verdicts)
    codes, verdict = column.codes[is_judged] + 1, profile.row_verdicts[is_judged]
    passes = verdict == verdict.max(initial=0)
    n, c = np.bincount(codes), np.bincount(codes, passes)
    values, two = np.count_nonzero(n), passes.any() and len({*verdict[~passes].tolist()}) == 1
    # Numbers, for example years, may separate passes from failures by chance.
    most = min(5 if profile.column_kind(column.name).name == "number" else values, len(codes) / 4)
    return bool(two and np.all((c == 0) | (c == n)) and values <= most)


def _count_distinct_pairs(cell: Ints, codes: Ints) -> int:
    """The number of different (cell, value) pairs. A missing value counts as a value."""
    return count_distinct(joined_codes(cell, codes + 1))


def _is_planning_certain_or_none(
    context: CheckContext,
    profile: RowSampleProfile,
    column: SampledColumn,
    even: ValueEvennessOverCells,
) -> bool | None:
    """Return True if the values of a column were certainly planned, False if the values were only
    likely planned, and None otherwise."""
    name, number = column.name, context.profile.column_kind(column.name).name == "number"
    is_named, numbers = _is_named_setting(context, name), _has_numbered_values(profile, column)
    if (
        context.role_column("attempt") in profile.columns
        and even.single_row_cell_value_pair_share > _MIN_NUMBERING_SINGLE_ROW_SHARE
        and not is_named
        and numbers
    ):
        return None
    rare = is_named or (column.present_share == 1 and even.cell_count > 8 and even.p <= 0.005)
    crossed = (
        rare
        and not number
        and even.dispersion_to_shuffled_ratio == 0
        and even.cell_share_with_several_values == 1
        and even.cell_count > 1
    )
    if (
        even.are_values_certainly_planned
        or even is _EVENNESS_ASSUMED_IF_CONSECUTIVE
        or crossed
        or _is_varying_exact_setting(column, even)
    ):
        return True
    return False if is_named or (even.are_values_likely_planned and not number) else None


def _is_varying_exact_setting(column: SampledColumn, even: ValueEvennessOverCells) -> bool:
    """Whether a column has the exact name of a setting and varies in at least half of the cells."""
    exact = normalized_last_key(column.name) in _EXACT_SETTING_NAMES and column.present_share == 1
    return exact and even.cell_count > 2 and even.cell_share_with_several_values >= 0.5


def _has_numbered_values(profile: RowSampleProfile, column: SampledColumn) -> bool:
    """Whether all values of a column are numbers or end with a number, such as "run1". The result
    is also True if the column is named like an attempt number."""
    numbered = all(
        map(ATTEMPT_NUMBER_VALUE_PATTERN.fullmatch, profile.distinct_texts(column.name, 20))
    )
    return numbered or bool(column_name_words(column.name) & ATTEMPT_NUMBER_WORDS)


def _setting_finding(
    context: CheckContext,
    profile: RowSampleProfile,
    column: SampledColumn,
    even: ValueEvennessOverCells,
    *,
    certain: bool,
) -> CheckFinding:
    name, task, model = column.name, context.role_column("task"), context.role_column("model")
    values = sorted(profile.distinct_texts(name), key=_numbers_first_sort_key)
    fields = {"column": quote(name), "values": [*values, *["none"] * (column.present_share < 1)]}
    split = SuggestedFix({"--by": (name,)}, "keeps them apart")
    both_models = {"--field": {"model": f"{model},{name}" if model else name}}
    labelled = any(source.label is not None for source in context.sources)
    models = (
        [] if labelled or column.present_share < 1 else [SuggestedFix(both_models, "as models")]
    )
    # In a task name such as "math-12", the name of a part of the benchmark comes before the number.
    parts = (
        (task, name) if normalized_last_key(task or "") in PROBLEM_STATEMENT_WORDS else (name, task)
    )
    tasks = SuggestedFix({"--field": {"task": ",".join(map(str, parts))}}, "as parts of the tasks")
    pool = SuggestedFix({"--pool": (name,)}, "pools them on purpose")
    if even is _EVENNESS_ASSUMED_IF_RESTARTING or _task_numbers_restart(context, profile, column):
        return CheckFinding(
            DIFFERENT_TASKS_SAME_NAME_WARNING, certain, fields, (tasks, split, pool)
        )
    once = (
        even.single_row_cell_value_pair_share > _MIN_NUMBERING_SINGLE_ROW_SHARE
        and not context.has_attempt_numbers
        and not _is_named_setting(context, name)
    )
    if once and _value_dates(context.profile, context.profile.columns[name]):
        numbering = SuggestedFix({"--field": {"attempt": name}}, "numbers the attempts")
        return CheckFinding(
            UNREAD_NUMBERING_COLUMN_WARNING, certain, fields, (split, numbering, tasks, pool)
        )
    if once and _has_numbered_values(profile, column):
        numbering = SuggestedFix({"--field": {"attempt": name}}, "numbers the attempts")
        order = [numbering, split, tasks, pool]
        if column_name_words(name) & {"case", "item", "question", "problem", "instance", "q"}:
            finer_tasks = replace(tasks, options={"--field": {"task": f"{task},{name}"}})
            order = [finer_tasks, numbering, split, pool]
        return CheckFinding(UNREAD_NUMBERING_COLUMN_WARNING, certain, fields, tuple(order))
    order = [split, *models, pool] if model else [*models, split, pool]
    if column.present_share == 1 and _may_be_task_part(context, profile, column):
        order.insert(0 if normalized_last_key(name) in SUITE_COLUMN_NAMES else 2, tasks)
    return CheckFinding(POOLED_SETTINGS_WARNING, certain, fields, tuple(order))


def _numbers_first_sort_key(text: str) -> tuple[float, str]:
    try:
        return float(text), text
    except ValueError:
        return float("inf"), text


def _attempt_numbers_restart(context: CheckContext, name: str) -> bool:
    """Whether attempt numbers repeat at a task, but only in rows with different values of a
    column."""
    profile, column = context.profile, context.profile.columns[name]
    attempt = profile.columns.get(context.role_column("attempt"))
    terms = column_name_words(name)
    if attempt is None or terms & (
        _ATTEMPT_METADATA_OR_CACHE_WORDS | ATTEMPT_NUMBER_WORDS | _RESULT_WORDS
    ):
        return False
    if 2 * column.distinct_count > profile.row_count or column.present_share < 1:
        return False
    if not _may_be_task_part(context, profile, column):
        return False
    if (
        any("." in text for text in profile.distinct_texts(name))
        and profile.column_kind(name).name == "number"
    ):
        # Fractions are settings, such as temperatures, and not parts of a benchmark.
        return False
    numbers = joined_codes(profile.cell_codes, attempt.codes)
    parts = joined_codes(numbers, column.codes)
    is_present = parts >= 0
    return bool(
        is_present.all() and count_distinct(numbers) < is_present.sum() == count_distinct(parts)
    )


def _may_be_task_part(
    context: CheckContext, profile: RowSampleProfile, column: SampledColumn
) -> bool:
    """Whether the values of a column may be a part of the task name.

    If the data also contains a column of questions, at least one task name must occur with several
    questions. In addition, the column must be named like a part of a benchmark, or some tasks must
    not occur with every value of the column.
    """
    name = column.name
    if (
        _is_named_setting(context, name)
        or role_name_strength("model", name)
        or look_like_models(profile.distinct_texts(name))
    ):
        return False
    pairs = count_distinct(joined_codes(profile.task_codes, column.codes))
    crossed = (
        pairs
        == count_distinct(profile.task_codes) * count_distinct(column.codes)
        > count_distinct(column.codes)
    )
    if crossed and not (
        column_name_words(name) & SUITE_COLUMN_NAMES or role_name_strength("task", name)
    ):
        return False
    stated = (
        profile.columns[c].codes
        for c in profile.columns
        if normalized_last_key(c) in PROBLEM_STATEMENT_WORDS
    )
    return not any(
        count_distinct(codes) > 1
        and count_distinct(joined_codes(profile.task_codes, codes))
        == count_distinct(profile.task_codes)
        for codes in stated
    )


def _task_numbers_restart(
    context: CheckContext, profile: RowSampleProfile, column: SampledColumn
) -> bool:
    """Whether the task numbers start again at 0 or 1 for each value of a column.

    In addition, the number of tasks must differ between some values of the column. The result is
    also True if the column itself has a usual name for tasks.
    """
    if (
        _is_named_setting(context, column.name)
        or column_name_words(column.name) & ATTEMPT_NUMBER_WORDS
    ):
        return False
    task = context.role_column("task")
    if role_name_strength("task", column.name) == 3 or task not in profile.columns:
        return role_name_strength("task", column.name) == 3
    if profile.column_kind(task).name != "number":
        return False
    numbers, ends = profile.column_numbers(task), set()
    for value in range(column.distinct_count):
        task_numbers = np.unique(numbers[(column.codes == value) & np.isfinite(numbers)])
        if (
            len(task_numbers) < 3
            or task_numbers[0] > 1
            or task_numbers[-1] - task_numbers[0] + 1 > 1.2 * len(task_numbers)
        ):
            return False
        ends.add(len(task_numbers))
    return len(ends) > 1


def settings_dividing_tasks_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """Find settings with only one value per task, which divide the tasks into arms."""
    profile = context.profile
    is_judged = (profile.task_codes >= 0) & np.isfinite(profile.row_verdicts)
    for name in () if context.is_known_format else filter(is_setting, context.unread_columns):
        column = profile.columns[name]
        models = joined_codes(profile.series_codes, column.codes)
        # Prompts often contain the question of a task, and such prompts are not a setting.
        if column_name_words(name) & PROBLEM_STATEMENT_WORDS == column_name_words(
            name
        ) or _determines_outcomes(profile, column):
            continue
        if (
            not 2 <= column.distinct_count <= _MOST_ARMS
            or column.present_share < 1
            or column_name_words(name) & ATTEMPT_NUMBER_WORDS
        ):
            continue
        n = np.bincount(column.codes[is_judged], minlength=column.distinct_count)
        c = np.bincount(
            column.codes[is_judged],
            profile.row_verdicts[is_judged],
            minlength=column.distinct_count,
        )
        several = _count_distinct_pairs(profile.cell_codes, column.codes) > count_distinct(
            profile.cell_codes
        )
        if several or n.min() < 2 or count_distinct(models) <= count_distinct(profile.series_codes):
            continue
        rates, mean = c / n, c.sum() / n.sum()
        low, high = int(rates.argmin()), int(rates.argmax())
        error = (mean * (1 - mean) * (1 / n[low] + 1 / n[high])) ** 0.5
        is_planned = (
            normalized_last_key(name) in _EXACT_SETTING_NAMES
            and len({*n.tolist()}) == 1
            and n[0] >= _ENOUGH_ROWS
        )
        if error > 0 and (is_planned or rates[high] - rates[low] > _STANDARD_ERRORS * error):
            texts, order = profile.distinct_texts(name), np.argsort(-rates, kind="stable")
            rate_texts = [f"{texts[arm]} {rates[arm]:.3f}" for arm in order.tolist()]
            ways = (SuggestedFix({"--by": (name,)}, "keeps them apart"),
                    SuggestedFix({"--pool": (name,)}, "pools them on purpose"))  # fmt: skip
            yield CheckFinding(
                SETTING_DIVIDES_TASKS_WARNING,
                False,
                {"column": quote(name), "rates": rate_texts},
                ways,
            )
            return


def list_of_scorer_verdicts_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """Find lists that contain one outcome per scorer, with the same scorers in all records."""
    batch = next((b for b in context.batches if b.roles.kind_of_rows == "lists"), None)
    way = context.role_column("outcome").replace(EACH_ENTRY_KEY, "").rpartition(".")[0]
    if batch is None or not way:
        return
    values = [
        value_at_path(record, way) for _, record in islice(read_records(batch), _MOST_RECORDS)
    ]
    names = naming_field_and_shared_names([value for value in values if isinstance(value, list)])
    if names is not None and not all(map(ATTEMPT_NUMBER_VALUE_PATTERN.fullmatch, names[1])):
        fields = {"column": quote(f"{way}.{names[0]}"), "values": sorted(names[1])}
        yield CheckFinding(LIST_OF_SCORER_VERDICTS_WARNING, True, fields)


CHECKS = (
    ReadingCheck(
        POOLED_SETTINGS_WARNING, EITHER,
        "The values of an unread column occur equally often in each cell, with less than 0.35 of"
        " the dispersion of shuffled values. Or the column has the exact name of a setting and"
        " varies. passk only warns if the ratio is between 0.35 and 0.6, or if the name is only"
        " similar.",
        ("--by X", "--field model=model,X", "--field task=X,task", "--pool X"),
        unread_planned_column_findings,
    ),
    ReadingCheck(
        UNREAD_NUMBERING_COLUMN_WARNING, EITHER,
        "An unread column contains numbers or days, and each value occurs once per task. Or the"
        " numbers in the column count from 0 or 1 at each task.",
        ("--field attempt=X", "--by X", "--field task=X,task", "--pool X"),
        unread_planned_column_findings,
    ),
    ReadingCheck(
        DIFFERENT_TASKS_SAME_NAME_WARNING, CERTAIN,
        "Attempt numbers repeat at a task, but not within one value of an unread column. Or"
        " task numbers start again for each value of an unread column.",
        ("--field task=X,task", "--by X", "--pool X"), unread_planned_column_findings,
    ),
    ReadingCheck(
        LIST_OF_SCORER_VERDICTS_WARNING, CERTAIN,
        "The entries in a list of outcomes have the same names in every record.", (),
        list_of_scorer_verdicts_findings,
    ),
    ReadingCheck(
        SETTING_DIVIDES_TASKS_WARNING, LIKELY,
        "A setting has one value per task. In addition, the pass rates of two values differ by two"
        " standard errors, or all values have equally many rows.",
        ("--by X", "--pool X"), settings_dividing_tasks_findings,
    ),
)  # fmt: skip
