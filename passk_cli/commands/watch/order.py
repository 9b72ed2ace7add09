"""The order in which the tasks of a run count, and how far of it is complete."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from passk_cli.commands.watch import COMPLETION
from passk_cli.errors import DataError, ParameterError, not_there
from passk_cli.files.request import parse_tasks
from passk_cli.outcomes.counts import Counts
from passk_cli.report.words import plural
from passk_cli.suggested_fix import OptionValue, Placeholder, SuggestedFix

# Where an order comes from.
LIST, DATASET = "list", "dataset"
# Task → model → attempts that were made.
AttemptsByTask = Mapping[str, Mapping[str, int]]


def parse_order(value: Any) -> tuple[str, ...]:
    """Names of tasks, from a file with one on each line, or as a list; or "completion".

    Errors: DataError for a file that is not there, ParameterError for one that names no task.
    """
    if value == [COMPLETION] and not os.path.isfile(COMPLETION):
        return (COMPLETION,)
    if len(value) == 1 and isinstance(value[0], str) and not os.path.isfile(value[0]):
        raise DataError(OptionValue("--order"), str(not_there(value[0])), name="no-such-file")
    names = parse_tasks("--order", value) if len(value) == 1 else tuple(map(str, value))
    if len(set(names)) < len(names):
        raise ParameterError(OptionValue("--order"), "a task is there twice")
    return names


class RunProgress(NamedTuple):
    """How far a plan is.

    tasks : names, in the order in which they count.  done : the first of these that are all
    complete: what a look may count.  behind : those that are complete and wait for one before them.
    """

    tasks: Sequence[str]
    countable: int
    waiting: int


@dataclass(frozen=True)
class TaskOrder:
    """An order of tasks.

    tasks : names; of COMPLETION those that earlier looks counted.  kind : LIST, DATASET or
    COMPLETION.  last : of COMPLETION, task → the place of its last attempt in the files.
    """

    tasks: Sequence[str]
    kind: str
    last_places: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def from_options(
        cls,
        names: Sequence[str],
        counts: Counts,
        quarantine: Collection[str],
        total_tasks: int | None,
        attempts: int | None = None,
    ) -> TaskOrder:
        """The order that was given, or that the files say.

        given : names, (COMPLETION,), or none.  out : tasks that do not count.  attempts : planned
        at a task, of data that are read as they are; None where that is not known.
        Errors: ParameterError where none is known, or it has fewer tasks than the plan.
        """
        if names == (COMPLETION,):
            return cls((), COMPLETION)
        order = cls(*((names, LIST) if names else (counts.facts.order, DATASET)))
        if not order.tasks:
            plan = dict[str, Any]()
            attempts_made = attempts_by_task(counts, {model for model, *_ in counts.series})
            if attempts is not None:
                most = max(
                    (max(by_model.values()) for by_model in attempts_made.values()), default=0
                )
                plan |= {"--attempts": most} if most > attempts else {}
            if not total_tasks:
                plan |= {
                    "--planned": len(attempts_made)
                    if attempts_made and attempts
                    else Placeholder("N")
                }
            raise ParameterError(
                "no order of the tasks is known; the first that are complete may be the easy ones",
                name="no-order",
                settles=[
                    SuggestedFix({"--order": Placeholder("FILE")}, "names them in the order drawn"),
                    SuggestedFix({"--order": COMPLETION} | plan,
                    "assumes that this is the plan, and that"
                           " when a task is complete does not depend on its outcomes"),
                ],
            )  # fmt: skip
        if total_tasks is not None and total_tasks > len(order.tasks):
            raise ParameterError(
                OptionValue("--planned", str(total_tasks)),
                f"the {order.kind} has {plural(len(order.tasks), 'task')}",
                name="contradicting-options", settles=[SuggestedFix({"--planned": len(
                order.tasks)})],
            )  # fmt: skip
        return cls([task for task in order.tasks if task not in quarantine], order.kind)

    def progress(
        self,
        attempts_made: AttemptsByTask,
        models: Collection[str],
        attempts: int,
        total_tasks: int,
    ) -> RunProgress:
        """How far these models are: tasks with so many attempts are complete."""
        complete = {
            task for task, by_model in attempts_made.items()
            if by_model.keys() >= {*models} and all(by_model[model] == attempts for model in models)
        }  # fmt: skip
        tasks = self.tasks
        if self.kind == COMPLETION:
            new_tasks = complete.difference(tasks)
            tasks = (
                *tasks,
                *sorted(new_tasks, key=lambda task: (self.last_places.get(task, 0.0), task)),
            )
        is_complete = [task in complete for task in tasks[:total_tasks]]
        countable = is_complete.index(False) if False in is_complete else len(is_complete)
        return RunProgress(tasks[:total_tasks], countable, sum(is_complete[countable:]))

    def require_planned(self, attempts_made: AttemptsByTask, attempts: int) -> None:
        """DataError for a task that is not in the order, or has more attempts than planned."""
        for task, by_model in attempts_made.items():
            if max(by_model.values()) > attempts:
                most = max(by_model.values())
                raise DataError(
                    task, f"{most} attempts, and the plan has {attempts} at a task",
                    name="other-plan", settles=[SuggestedFix({"--attempts": most},
                    "plans as many")],
                )  # fmt: skip
        if self.kind != COMPLETION and (
            unplanned := sorted(attempts_made.keys() - set(self.tasks))
        ):
            raise DataError(
                unplanned[0], f"this task is not in the order of the {self.kind}",
                "name every task of the run in it", name="other-plan",
            )  # fmt: skip


def attempts_by_task(counts: Counts, models: Collection[str]) -> AttemptsByTask:
    """The attempts that were made of each task, by each of these models that has some, those
    without an outcome included."""
    by_task, missing = dict[str, dict[str, int]](), counts.missing_outcomes
    for model in missing.models:
        at = missing.cells(model)
        numbers = zip(missing.unit_codes[at].tolist(), missing.attempts[at].tolist(), strict=True)
        for code, n in numbers if model in models else ():
            by_task.setdefault(missing.units[code][0], {})[model] = n
    return by_task


def last_attempts(counts: Counts, models: Collection[str]) -> Mapping[str, float]:
    """Task → the place of its last attempt by these models in the files; none where that is not
    known."""
    lines, last = counts.attempts.get("attempt"), dict[str, float]()
    if lines is None:
        return last
    for cell, value in zip(lines.cell.tolist(), lines.value.tolist(), strict=True):
        if counts.series[counts.series_codes[cell]][0] in models:
            task = counts.tasks[counts.task_codes[cell]]
            last[task] = max(last.get(task, value), value)
    return last
