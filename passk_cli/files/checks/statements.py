"""Rule 2, statements: the rows of one task ask, or expect, different things."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.diagnostic import WARNING, DiagnosticType
from passk_cli.files.checks.check import CERTAIN, CheckContext, Finding, ReadingCheck
from passk_cli.files.reading.profile import DataProfile, distinct, joined_codes
from passk_cli.files.roles import words
from passk_cli.files.vocabulary import EXPECTED_WORDS, ROW_WORDS, STATEMENT_WORDS
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import shortened

_EXPECTED_WORDS = EXPECTED_WORDS - {"label", "true", "truth"}
_PROMPT_WORDS = frozenset({"prompt", "input"})
# Words of names that number or name tasks.
_ID_WORDS = frozenset("id idx index case item number qid key question example".split())
# The share of the tasks in which a statement differs; the rows per task, and the number of tasks,
# from which ids that are all different are ids of tasks.
_DIFFERS, _MANY_ROWS, _FEW_TASKS = 0.2, 5, 20
# A verdict that agrees with the outcome, or differs from it, in 90 % of the rows says the same.
_ALIKE = 0.4

COARSE_TASKS = DiagnosticType(
    "coarse-tasks", WARNING,
    "{rows:row} of one {task} have different values of {column} ({values}), so it does not identify"
    " a task",
    "",
    "All attempts at a task answer the same question. If the question, or its expected answer,"
    " differs among the rows of one task, the column that is read as the task is rather a category,"
    " a subject or a suite, and pass@k counts different questions as attempts at one. Add the"
    " column that identifies the task, for example with --field task=subject,id.",
)  # fmt: skip


def coarse(context: CheckContext) -> Iterator[Finding]:
    """Statements that differ within tasks, or ids that are all different in a few tasks."""
    survey, task = context.survey, context.column("task")
    if context.harness or not task:
        return
    judged = "judge" in words(context.column("outcome"))
    for name in context.unread:
        stating = words(name) <= STATEMENT_WORDS
        # A prompt may be worded differently at each attempt.
        expected = words(name) & _EXPECTED_WORDS or words(name) >= {"ground", "truth"}
        states = expected or (stating and not words(name) & _PROMPT_WORDS)
        if not (states or stating):
            continue
        verdicts = survey.verdicts(name)
        if np.all(verdicts[survey.columns[name].codes >= 0] >= 0) and (
            judged or _agrees(verdicts, survey.verdict)
        ):
            # Next to a judge's verdict, an expected verdict says whether the judge is right.
            continue
        differs, example = _differing(survey.task, survey.columns[name].codes)
        nested = _nested(survey.task, survey.columns[name].codes)
        if differs >= _DIFFERS and (states or nested):
            yield _coarse(context, name, example)
            return
    yield from _different_ids(context)


def _agrees(verdicts: Floats, outcome: Floats) -> bool:
    """Whether verdicts are the outcome, or its opposite, in nearly all rows that have both."""
    both = (verdicts >= 0) & np.isfinite(outcome)
    same = float(np.mean(verdicts[both] == outcome[both])) if both.any() else 0.5
    return abs(same - 0.5) > _ALIKE


def _different_ids(context: CheckContext) -> Iterator[Finding]:
    """Ids that are different in each row of a few tasks with many rows."""
    survey = context.survey
    sizes, models = np.bincount(survey.task[survey.task >= 0]), survey.series.max(initial=0) + 1
    few = 1 < len(sizes) <= _FEW_TASKS and sizes.mean() >= _MANY_ROWS * models
    if not few or not survey.whole:
        return
    # Tasks of equal sizes have attempts.
    for name in context.unread if np.ptp(sizes) else ():
        column, terms = survey.columns[name], words(name)
        ids = joined_codes(survey.series, column.codes)
        all_different = distinct(ids) == np.sum(ids >= 0) and column.share == 1
        if terms & _ID_WORDS and not terms & ROW_WORDS and all_different:
            example = np.flatnonzero(survey.task == int(sizes.argmax()))[:3].tolist()
            yield _coarse(context, name, example)
            return


def _differing(task: Ints, codes: Ints) -> tuple[float, list[int]]:
    """The share of the tasks with several rows that have several values of a column, and two rows
    of one task that differ."""
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


def _nested(task: Ints, codes: Ints) -> bool:
    """Whether each value occurs in one task, and in several rows of it, as statements do."""
    there = (task >= 0) & (codes >= 0)
    pairs = np.unique(np.stack([codes[there], task[there]]), axis=1)
    values = distinct(pairs[0])
    return bool(pairs.shape[1] <= 1.1 * values and there.sum() >= 1.5 * values)


def _crossed(task: Ints, codes: Ints) -> bool:
    """Whether there are more values than tasks, and most of them occur in most of several tasks."""
    there = (task >= 0) & (codes >= 0)
    pairs = np.unique(np.stack([codes[there], task[there]]), axis=1).shape[1]
    tasks, values = distinct(task[there]), distinct(codes[there])
    return 1 < tasks < values and pairs > 0.5 * tasks * values


def _coarse(context: CheckContext, name: str, rows: Sequence[int]) -> Finding:
    """The finding, with the columns that identify the tasks."""
    survey, task = context.survey, context.column("task")
    fine = [n for n in context.unread if _identifies(survey, n, name)]
    finer = [*fine[:1], name] if fine else [name]
    settles = [SuggestedFix({"--field": {"task": f"{task},{other}"}}) for other in finer]
    if _crossed(survey.task, survey.columns[name].codes):
        # The same questions under each value: it is what they were tried with.
        settles = [
            SuggestedFix({"--field": {"task": name}, "--by": (task,)}, f"takes {task} as a setting")
        ]
    elif survey.columns[name].distinct > distinct(survey.task) and not fine:
        settles.append(
            SuggestedFix({"--field": {"task": name}}, f"if it is the same under each {task}")
        )
    texts = [shortened(text, 40) for text in survey.at(name, rows)]
    shown = {"rows": len(rows), "task": task, "column": quote(name), "values": texts}
    return Finding(COARSE_TASKS, True, shown, tuple(settles))


def _identifies(survey: DataProfile, name: str, statement: str) -> bool:
    """Whether a column of ids and the task together have one statement."""
    column = survey.columns[name]
    if not words(name) & _ID_WORDS or words(name) & ROW_WORDS or column.share < 1:
        return False
    together = joined_codes(survey.task, column.codes)
    differs, _ = _differing(together, survey.columns[statement].codes)
    return differs < 0.02


CHECKS = (
    ReadingCheck(
        COARSE_TASKS, CERTAIN,
        "A column such as question or gold varies within a fifth of the tasks; or there are"
        " few tasks with many rows, and a column such as id differs in every row.",
        ("--field task=task,idx",), coarse,
    ),
)  # fmt: skip
