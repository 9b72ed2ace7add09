"""Warnings and errors about models that have fewer attempts than other models, or fewer attempts
than planned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from passk_cli.arrays import Bools, Floats, group_by
from passk_cli.diagnostic import WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError
from passk_cli.outcomes.counts import Counts
from passk_cli.report.phrases import (
    SeriesName,
    first_few,
    number_range,
    p_sign_and_number_text,
    plural,
)
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix

UNEVEN_ATTEMPTS = DiagnosticType(
    "uneven-attempts", WARNING,
    "{models} {count:lacks|lack} attempts: all other models have {n:attempt} per task{?short|;"
    " {hard} of the {short} tasks at which {model} lacks attempts are hard for the other models,"
    " compared with {rest_hard} of its {rest} other tasks (p {p})}",
    SuggestedFix({"--exclude-model": ("{names}",)}, "leaves out the incomplete models"),
    meaning="Some models have fewer attempts than the other models, which all have the same number"
    " of attempts at every task.",
    why="If failures of a model are missing, the pass rate of the model is too high. If attempts"
    " were lost by chance, tasks with fewer attempts are as hard as complete tasks. If failures"
    " were left out, tasks with fewer attempts are harder. passk calls a task hard if the pass rate"
    " of the other models at the task is below the median over all tasks. Fisher's exact test"
    " compares the shares of hard tasks. passk uses the pass rates of the other models, because"
    " missing failures also change the model's own pass rates.",
    advice="Find out why attempts are missing, and complete the run. If you want to leave out the"
    " incomplete models, use `--exclude-model`. With `--attempts N`, passk stops if a task does not"
    " have exactly N attempts.",
    example="warning[uneven-attempts]: team3 (73 of 500), team5 (20 of 500) lack attempts: all"
    " other models have 5 attempts per task; 38 of the 48 tasks at which team3 lacks attempts are"
    " hard for the other models, compared with 12 of its 52 other tasks (p < 0.0001);"
    " --exclude-model team3 --exclude-model team5 leaves out the incomplete models",
)  # fmt: skip
DROPPED_TASKS = DiagnosticType(
    "dropped-tasks", WARNING, "passk left out all tasks that do not have exactly {n:attempt}:"
    " {lacking}",
    meaning="With `--attempts N --short-tasks drop`, passk leaves out a model's tasks that do"
    " not have exactly N attempts.",
    why="The remaining tasks are rarely a random sample of all tasks, so the pass rate may be too"
    " high or too low.",
    advice="Complete the run, so that every task has N attempts.",
    example="warning[dropped-tasks]: passk left out all tasks that do not have exactly 4 attempts:"
    " alpha has 3 at 2 tasks (t4, t9)",
)  # fmt: skip


class ModelLackingAttempts(NamedTuple):
    """A model with fewer attempts than the other models, and a test of whether hard tasks lack
    attempts more often than other tasks.

    expected : number of attempts that the model would have with the usual number of attempts at
        every task.
    other_models_attempts_per_task : number of attempts of the other models at each task.
    short_tasks, hard_short_task_count : number of tasks with fewer attempts than usual, and number
        of hard tasks with fewer attempts than usual.  A task is hard if the other models' pass rate
        at this task is below the median over all tasks.
    complete_task_count, hard_complete_task_count : number of tasks with the usual number of
        attempts, and number of hard tasks with this number of attempts.
    """

    series: tuple[str, ...]
    actual: int
    expected: int
    other_models_attempts_per_task: int
    hard_short_task_count: int = 0
    short_tasks: int = 0
    hard_complete_task_count: int = 0
    complete_task_count: int = 0
    p: float | None = None


def models_lacking_attempts(counts: Counts) -> list[ModelLackingAttempts]:
    """The models with fewer attempts than the other models of their group, beginning with the model
    that lacks the most attempts.

    The other models must have the same number of attempts at every task.

    >>> cells = [(m, t, 4, 2) for m in "ab" for t in "xyz"] + [("c", t, 3, 3) for t in "xy"]
    >>> [(model.series[0], model.actual, model.expected) for model in
    ...  models_lacking_attempts(Counts.from_cells([*cells, ("c", "z", 4, 2)]))]
    [('c', 10, 12)]
    """
    lacking = []
    rows = {series: counts.slice_of_series(place) for place, series in enumerate(counts.series)}
    for rivals in group_by(rows, lambda series: series[1:]).values():
        numbers = {series: counts.n[rows[series]] for series in rivals}
        constant = Counter(int(n[0]) for n in numbers.values() if n.min() == n.max())
        if not constant:
            continue
        n, regular = constant.most_common(1)[0]
        tasks = len({*np.concatenate([counts.task_codes[rows[s]] for s in rivals]).tolist()})
        odd = [
            series for series in rivals
            if numbers[series].sum() < n * len(numbers[series]) and (regular > 1 or
                                                     numbers[series].min() < numbers[series].max())
        ]  # fmt: skip
        if not odd or len(odd) > regular:
            continue
        difficulty = _mean_pass_rate_by_task(counts, [rows[s] for s in rivals if s not in odd])
        for series in odd:
            cells = rows[series]
            attempts = int(counts.n[cells].sum())
            uneven = ModelLackingAttempts(series, attempts, n * tasks, n)
            lacking.append(
                _with_fisher_test(uneven, counts.n[cells] < n, difficulty[counts.task_codes[cells]])
            )
    return sorted(lacking, key=lambda uneven: uneven.actual - uneven.expected)


def _mean_pass_rate_by_task(counts: Counts, models: list[slice]) -> Floats:
    cells = np.concatenate([np.r_[rows] for rows in models])
    tasks = counts.task_codes[cells]
    size = len(counts.tasks)
    number = np.bincount(tasks, minlength=size)
    total = np.bincount(tasks, counts.c[cells] / counts.n[cells], minlength=size)
    rates: Floats = np.divide(total, number, out=np.full(size, np.nan), where=number > 0)
    return rates


def _with_fisher_test(
    uneven: ModelLackingAttempts, short: Bools, rates: Floats
) -> ModelLackingAttempts:
    has_rate = ~np.isnan(rates)
    short, rates = short[has_rate], rates[has_rate]
    if not len(rates) or short.all() or not short.any():
        return uneven
    middle = np.median(rates)
    hard = rates < middle if (rates < middle).any() else rates <= middle
    if hard.all():
        return uneven
    from scipy.stats import fisher_exact

    (a, b), (c, d) = ([int((s & h).sum()) for h in (hard, ~hard)] for s in (short, ~short))
    p = float(fisher_exact([[a, b], [c, d]])[1])
    return uneven._replace(
        hard_short_task_count=a,
        short_tasks=a + b,
        hard_complete_task_count=c,
        complete_task_count=c + d,
        p=p,
    )


def uneven_attempts_warning(counts: Counts) -> Iterator[Diagnostic]:
    """The warning about models that lack attempts, with a test of the model that lacks the most
    attempts."""
    lacking = models_lacking_attempts(counts)
    if not lacking:
        return
    first = lacking[0]
    tested = first if first.p is not None else first._replace(short_tasks=0)
    yield UNEVEN_ATTEMPTS(
        models=[f"{SeriesName(m.series)} ({m.expected - m.actual:,} of {m.expected:,})"
                for m in lacking],
        names=tuple(dict.fromkeys(m.series[0] for m in lacking)), count=len(lacking),
        n=first.other_models_attempts_per_task,
        model=SeriesName(first.series), hard=tested.hard_short_task_count, short=tested.short_tasks,
        rest_hard=tested.hard_complete_task_count, rest=tested.complete_task_count,
        p=p_sign_and_number_text(first.p or 0.0),
    )  # fmt: skip


def require_exact_attempts(counts: Counts, n: int, *, drop: bool) -> Counts:
    """Return the counts if every task has n attempts, or else drop tasks or raise DataError.

    drop : whether to leave out tasks that do not have exactly n attempts, with a warning instead of
        an error.
    Errors: DataError if no task has n attempts, or if `drop` is False and a task does not have n
        attempts.
    """
    differs = counts.n != n
    if not differs.any():
        return counts
    lacking = []
    for place, series in enumerate(counts.series):
        rows = counts.slice_of_series(place)
        if not differs[rows].any():
            continue
        cells = np.r_[rows][differs[rows]]
        numbers = number_range(int(counts.n[cells].min()), int(counts.n[cells].max()))
        names = first_few([counts.tasks[task] for task in counts.task_codes[cells].tolist()])
        lacking.append(
            f"{SeriesName(series)} has {numbers} at {plural(len(cells), 'task')} ({names})"
        )
    option = OptionWithValue("--attempts", str(n))
    if differs.all():
        raise DataError(option, "no task has this number of attempts", name="unplanned-attempts")
    if not drop:
        raise DataError(
            option, f"not all tasks have this number of attempts: {first_few(lacking)}",
            name="unplanned-attempts",
            settles=[SuggestedFix({"--short-tasks": "drop"}, "leaves these tasks out"),
                     SuggestedFix({"--attempts": None}, "uses all tasks")],
        )  # fmt: skip
    return counts.with_fewer_attempts(counts.n * ~differs, counts.c * ~differs).with_messages(
        DROPPED_TASKS(n=n, lacking=lacking)
    )
