"""Find tasks that have rows with different questions or different expected answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.diagnostic import WARNING, DiagnosticType
from passk_cli.files.checks.check import CERTAIN, CheckContext, CheckFinding, ReadingCheck
from passk_cli.files.reading.profile import RowSampleProfile, count_distinct, joined_codes
from passk_cli.files.roles import column_name_words
from passk_cli.files.vocabulary import EXPECTED_ANSWER_WORDS, PROBLEM_STATEMENT_WORDS, ROW_ID_WORDS
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import truncated_text

_EXPECTED_WORDS = EXPECTED_ANSWER_WORDS - {"label", "true", "truth"}
_VARYING_PROMPT_WORDS = frozenset({"prompt", "input"})
# A column with a word in _ID_WORDS in its name may contain task ids.
_ID_WORDS = frozenset("id idx index case item number qid key question example".split())
_DIFFERING_SHARE, _MANY_ROWS, _FEW_TASKS = 0.2, 5, 20

COARSE_TASKS_WARNING = DiagnosticType(
    "coarse-tasks", WARNING,
    "{rows:row} of one {task} have different values of {column} ({values}), so {task} does not"
    " identify a task",
    meaning="All attempts at a task should answer the same question. In this file, the question or"
    " its expected answer differs between rows of one task.",
    why="passk probably read a category, a subject or a suite as the task. If passk used a"
    " category as the task, pass@k would count different questions as attempts at one task.",
    advice="Add the column that identifies the task, for example with --field task=subject,id.",
    example="warning[coarse-tasks]: 2 rows of one subject have different values of question (What"
    " is 2 + 2?, What is 3 + 3?), so subject does not identify a task",
)  # fmt: skip


def coarse_task_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """Find columns of questions or expected answers with several values per task. If there are only
    a few tasks, also find columns of ids that differ in every row."""
    profile, task = context.profile, context.role_column("task")
    if context.is_known_format or not task:
        return
    judged = "judge" in column_name_words(context.role_column("outcome"))
    for name in context.unread_columns:
        stating = column_name_words(name) <= PROBLEM_STATEMENT_WORDS
        # The wording of a prompt may vary between attempts at the same task.
        expected = column_name_words(name) & _EXPECTED_WORDS or column_name_words(name) >= {
            "ground",
            "truth",
        }
        states = expected or (stating and not column_name_words(name) & _VARYING_PROMPT_WORDS)
        if not (states or stating):
            continue
        verdicts = profile.row_verdicts_of_column(name)
        if np.all(verdicts[profile.columns[name].codes >= 0] >= 0) and (
            judged or _is_copy_or_inverse_of_outcome(verdicts, profile.row_verdicts)
        ):
            # If a judge gives the outcome, columns of expected verdicts are about the judge and not
            # about the task.
            continue
        differs, example = _differing_task_share_and_example(
            profile.task_codes, profile.columns[name].codes
        )
        nested = _is_nested_in_tasks(profile.task_codes, profile.columns[name].codes)
        if differs >= _DIFFERING_SHARE and (states or nested):
            yield _coarse_task_finding(context, name, example)
            return
    yield from _row_distinct_id_findings(context)


def _is_copy_or_inverse_of_outcome(verdicts: Floats, outcome: Floats) -> bool:
    has_both = (verdicts >= 0) & np.isfinite(outcome)
    same = float(np.mean(verdicts[has_both] == outcome[has_both])) if has_both.any() else 0.5
    return abs(same - 0.5) > 0.4


def _row_distinct_id_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """If there are only a few tasks with many rows, find a column of ids that differ in every row
    of a model."""
    profile = context.profile
    sizes, models = (
        np.bincount(profile.task_codes[profile.task_codes >= 0]),
        profile.series_codes.max(initial=0) + 1,
    )
    few = 1 < len(sizes) <= _FEW_TASKS and sizes.mean() >= _MANY_ROWS * models
    if not few or not profile.is_complete:
        return
    # If all tasks have equally many rows, the rows are probably attempts.
    for name in context.unread_columns if np.ptp(sizes) else ():
        column, terms = profile.columns[name], column_name_words(name)
        ids = joined_codes(profile.series_codes, column.codes)
        all_different = count_distinct(ids) == np.sum(ids >= 0) and column.present_share == 1
        if terms & _ID_WORDS and not terms & ROW_ID_WORDS and all_different:
            example = np.flatnonzero(profile.task_codes == int(sizes.argmax()))[:3].tolist()
            yield _coarse_task_finding(context, name, example)
            return


def _differing_task_share_and_example(task: Ints, codes: Ints) -> tuple[float, list[int]]:
    """The share of tasks with several values in a column, and an example, which consists of two
    rows of one task with different values.

    Tasks with only one row do not count.
    """
    rows = np.flatnonzero((task >= 0) & (codes >= 0))
    if not len(rows):
        return 0.0, []
    pairs, firsts = np.unique(np.stack([task[rows], codes[rows]]), axis=1, return_index=True)
    values, sizes = np.bincount(pairs[0]), np.bincount(task[rows])
    several = sizes > 1
    if not several.any():
        return 0.0, []
    example = firsts[pairs[0] == int(values.argmax())][:2]
    return float(np.mean(values[several] > 1)), rows[example].tolist()


def _is_nested_in_tasks(task: Ints, codes: Ints) -> bool:
    """Whether values are like questions: they repeat, but nearly all occur in only one task."""
    is_present = (task >= 0) & (codes >= 0)
    pairs = np.unique(np.stack([codes[is_present], task[is_present]]), axis=1)
    values = count_distinct(pairs[0])
    return bool(pairs.shape[1] <= 1.1 * values and is_present.sum() >= 1.5 * values)


def _is_crossed_with_tasks(task: Ints, codes: Ints) -> bool:
    """Whether there are more values than tasks, and most values occur in most tasks."""
    is_present = (task >= 0) & (codes >= 0)
    pairs = np.unique(np.stack([codes[is_present], task[is_present]]), axis=1).shape[1]
    tasks, values = count_distinct(task[is_present]), count_distinct(codes[is_present])
    return 1 < tasks < values and pairs > 0.5 * tasks * values


def _coarse_task_finding(context: CheckContext, name: str, rows: Sequence[int]) -> CheckFinding:
    profile, task = context.profile, context.role_column("task")
    fine = [n for n in context.unread_columns if _is_id_determining_statement(profile, n, name)]
    finer = [*fine[:1], name] if fine else [name]
    settles = [SuggestedFix({"--field": {"task": f"{task},{id_column}"}}) for id_column in finer]
    if _is_crossed_with_tasks(profile.task_codes, profile.columns[name].codes):
        settles = [
            SuggestedFix({"--field": {"task": name}, "--by": (task,)}, f"takes {task} as a setting")
        ]
    elif profile.columns[name].distinct_count > count_distinct(profile.task_codes) and not fine:
        settles.append(
            SuggestedFix(
                {"--field": {"task": name}}, f"if the tasks are the same under each {task}"
            )
        )
    texts = [truncated_text(text, 40) for text in profile.texts_at(name, rows)]
    fields = {"rows": len(rows), "task": task, "column": quote(name), "values": texts}
    return CheckFinding(COARSE_TASKS_WARNING, True, fields, tuple(settles))


def _is_id_determining_statement(profile: RowSampleProfile, name: str, statement: str) -> bool:
    """Whether the task and an id column together determine the question."""
    column = profile.columns[name]
    if (
        not column_name_words(name) & _ID_WORDS
        or column_name_words(name) & ROW_ID_WORDS
        or column.present_share < 1
    ):
        return False
    together = joined_codes(profile.task_codes, column.codes)
    differs, _ = _differing_task_share_and_example(together, profile.columns[statement].codes)
    return differs < 0.02


CHECKS = (
    ReadingCheck(
        COARSE_TASKS_WARNING, CERTAIN,
        "A column such as question or gold varies within a fifth of the tasks. Or there are"
        " few tasks with many rows, and a column such as id differs in every row.",
        ("--field task=task,idx",), coarse_task_findings,
    ),
)  # fmt: skip
