"""The order in which the tasks of a run count, and how many of them are complete."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from passk_cli.commands.watch import COMPLETION
from passk_cli.errors import DataError, ParameterError, missing_file_error
from passk_cli.files.request import parse_tasks
from passk_cli.outcomes.counts import Counts
from passk_cli.report.words import plural
from passk_cli.suggested_fix import OptionValue, Placeholder, SuggestedFix

# The sources of an order.
LIST, DATASET = "list", "dataset"
# Task → model → number of attempts made so far.
AttemptsByTask = Mapping[str, Mapping[str, int]]


def parse_order(value: Any) -> tuple[str, ...]:
    """The value of --order: task names from a file with one per line or from a list, or COMPLETION.

    Errors: DataError if the file does not exist, ParameterError if it names no task or one twice.
    """
    if value == [COMPLETION] and not os.path.isfile(COMPLETION):
        return (COMPLETION,)
    if len(value) == 1 and isinstance(value[0], str) and not os.path.isfile(value[0]):
        raise DataError(
            OptionValue("--order"), str(missing_file_error(value[0])), name="no-such-file"
        )
    names = parse_tasks("--order", value) if len(value) == 1 else tuple(map(str, value))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ParameterError(
            OptionValue("--order"), f"the order contains task {twice} twice; remove one"
        )
    return names


class RunProgress(NamedTuple):
    """How much of a plan is complete.

    tasks : names, in the order in which they count.
    countable : how many of the first tasks are all complete. A look may count these.
    waiting : how many further tasks are complete, but come after a task that is not.
    """

    tasks: Sequence[str]
    countable: int
    waiting: int


@dataclass(frozen=True)
class TaskOrder:
    """The order in which tasks count.

    tasks : names; for COMPLETION only the tasks that earlier looks counted.
    kind : LIST, DATASET or COMPLETION.
    last_places : task → the place of its last attempt in the files; only for COMPLETION.
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
        """The order that --order sets, or else the order of the dataset in the files.

        names : the value of --order; empty without it.  quarantine : tasks that do not count.
        attempts : planned attempts per task; None if the counts are not those of the plan.
        Errors: ParameterError if no order is known, or if it has fewer tasks than the plan.
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
                "the data contains no order of the tasks, and the first complete tasks may be the"
                " easy ones",
                name="no-order",
                settles=[
                    SuggestedFix({"--order": Placeholder("FILE")}, "lists them in the order drawn"),
                    SuggestedFix({"--order": COMPLETION} | plan,
                                 "counts tasks as they were completed, if the time of completion"
                                 " does not depend on the outcome"),
                ],
            )  # fmt: skip
        if total_tasks is not None and total_tasks > len(order.tasks):
            raise ParameterError(
                OptionValue("--planned", str(total_tasks)),
                f"the {order.kind} has only {plural(len(order.tasks), 'task')}",
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
        """How much of the plan is complete. A task is complete if it has all planned attempts of
        all models."""
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
        """Raise a DataError for a task that is not in the order or has too many attempts."""
        for task, by_model in attempts_made.items():
            if max(by_model.values()) > attempts:
                most = max(by_model.values())
                raise DataError(
                    task, f"the task has {most} attempts, but the plan has {attempts} per task",
                    name="other-plan",
                    settles=[SuggestedFix({"--attempts": most}, "changes the plan")],
                )  # fmt: skip
        if self.kind != COMPLETION and (
            unplanned := sorted(attempts_made.keys() - set(self.tasks))
        ):
            raise DataError(
                unplanned[0], f"this task is not in the order of the {self.kind}",
                "add every task of the run to it", name="other-plan",
            )  # fmt: skip


def attempts_by_task(counts: Counts, models: Collection[str]) -> AttemptsByTask:
    """Task → model → attempts made, including attempts without an outcome.

    Models without any attempt at a task are not in its entry.
    """
    by_task, missing = dict[str, dict[str, int]](), counts.missing_outcomes
    for model in missing.models:
        at = missing.rows_of_model(model)
        numbers = zip(missing.unit_codes[at].tolist(), missing.attempts[at].tolist(), strict=True)
        for code, n in numbers if model in models else ():
            by_task.setdefault(missing.units[code][0], {})[model] = n
    return by_task


def last_attempts(counts: Counts, models: Collection[str]) -> Mapping[str, float]:
    """Task → the place of its last attempt by these models in the files; empty if the counts were
    read without places."""
    lines, last = counts.attempts.get("attempt"), dict[str, float]()
    if lines is None:
        return last
    for cell, value in zip(lines.cell.tolist(), lines.value.tolist(), strict=True):
        if counts.series[counts.series_codes[cell]][0] in models:
            task = counts.tasks[counts.task_codes[cell]]
            last[task] = max(last.get(task, value), value)
    return last
