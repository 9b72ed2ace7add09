"""The order in which interim looks count the tasks of a run, and the number of complete tasks."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from passk_cli.commands.watch import COMPLETION_ORDER
from passk_cli.errors import DataError, ParameterError, missing_file_error
from passk_cli.files.request import parse_tasks
from passk_cli.outcomes.counts import Counts
from passk_cli.report.phrases import plural
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix

# The order of the tasks comes from a list that the user provides, or from the dataset in the files.
LIST, DATASET = "list", "dataset"
MadeAttemptCountByTaskAndModel = Mapping[str, Mapping[str, int]]


def parse_order(value: Any) -> tuple[str, ...]:
    """Parse the value of --order: a file with one task per line, a list, or `COMPLETION_ORDER`.

    Errors: DataError if the file does not exist. ParameterError if the order has no task, or
        contains a task twice.
    """
    if value == [COMPLETION_ORDER] and not os.path.isfile(COMPLETION_ORDER):
        return (COMPLETION_ORDER,)
    if len(value) == 1 and isinstance(value[0], str) and not os.path.isfile(value[0]):
        problem = str(missing_file_error(value[0]))
        raise DataError(OptionWithValue("--order"), problem, name="no-such-file")
    names = parse_tasks("--order", value) if len(value) == 1 else tuple(map(str, value))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        problem = f"the order contains task {twice} twice; remove one of the two lines"
        raise ParameterError(OptionWithValue("--order"), problem)
    return names


class RunProgress(NamedTuple):
    """How much of a plan is complete.

    complete_task_count_from_start : number of tasks before the first incomplete task, which an
        interim look may count.
    waiting_complete_task_count : number of complete tasks that come after an incomplete task.
    """

    tasks_in_counting_order: Sequence[str]
    complete_task_count_from_start: int
    waiting_complete_task_count: int


@dataclass(frozen=True)
class InterimLookCountingOrder:
    """The order in which interim looks count the tasks.

    task_names : names of the tasks in order. With COMPLETION_ORDER, only the tasks that earlier
        looks counted.
    last_attempt_file_position_by_task : maps each task to the position of its last attempt in the
        files; empty without COMPLETION_ORDER.
    """

    task_names: Sequence[str]
    order_source: str
    last_attempt_file_position_by_task: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def from_options(
        cls, names: Sequence[str], counts: Counts, quarantine: Collection[str],
        total_tasks: int | None, attempts: int | None = None,
    ) -> InterimLookCountingOrder:  # fmt: skip
        """Use the order of --order or, without this option, the order of the dataset in the files.

        attempts : planned attempts per task, or None to check only that an order is known.
        Errors: ParameterError if no order is known, or if the order has too few tasks.
        """
        if names == (COMPLETION_ORDER,):
            return cls((), COMPLETION_ORDER)
        order = cls(
            *((names, LIST) if names else (counts.read_facts.tasks_in_random_draw_order, DATASET))
        )
        if not order.task_names:
            plan = dict[str, Any]()
            attempts_made = attempt_counts_by_task_and_model(
                counts, {model for model, *_ in counts.series}
            )
            if attempts is not None:
                numbers = (max(by_model.values()) for by_model in attempts_made.values())
                most = max(numbers, default=0)
                plan |= {"--attempts": most} if most > attempts else {}
            if not total_tasks:
                # The plan may have more tasks than the data so far, because the run may be
                # incomplete.
                plan |= {"--planned": Placeholder("N")}
            raise ParameterError(
                "the data does not contain the order of the tasks, and the tasks that finish first"
                " may be the easy tasks", name="no-order",
                settles=[
                    SuggestedFix({"--order": Placeholder("FILE")}, "names the order that you drew"),
                    SuggestedFix({"--order": COMPLETION_ORDER} | plan,
                                 "uses the order of completion, if the time of completion does not"
                                 " depend on the outcome"),
                ],
            )  # fmt: skip
        if total_tasks is not None and total_tasks > len(order.task_names):
            raise ParameterError(
                OptionWithValue("--planned", str(total_tasks)),
                f"the plan has more tasks than the {order.order_source}, which contains"
                f" {plural(len(order.task_names), 'task')}",
                name="contradicting-options",
                settles=[SuggestedFix({"--planned": len(order.task_names)})],
            )  # fmt: skip
        return cls(
            [task for task in order.task_names if task not in quarantine], order.order_source
        )

    def progress(
        self,
        attempts_made: MadeAttemptCountByTaskAndModel,
        models: Collection[str],
        attempts: int,
        total_tasks: int,
    ) -> RunProgress:
        """Count the complete tasks. A task is complete if all models made all planned attempts."""
        complete = {
            task for task, by_model in attempts_made.items()
            if by_model.keys() >= {*models} and all(by_model[model] == attempts for model in models)
        }  # fmt: skip
        tasks = self.task_names
        if self.order_source == COMPLETION_ORDER:
            new_tasks = sorted(complete.difference(tasks))
            tasks = (
                *tasks,
                *sorted(
                    new_tasks,
                    key=lambda task: self.last_attempt_file_position_by_task.get(task, 0.0),
                ),
            )
        is_complete = [task in complete for task in tasks[:total_tasks]]
        countable = is_complete.index(False) if False in is_complete else len(is_complete)
        return RunProgress(tasks[:total_tasks], countable, sum(is_complete[countable:]))

    def refuse_unplanned_attempts(
        self, attempts_made: MadeAttemptCountByTaskAndModel, attempts: int
    ) -> None:
        """Raise a DataError for a task that is not in the order or has too many attempts."""
        for task, by_model in attempts_made.items():
            if max(by_model.values()) > attempts:
                most = max(by_model.values())
                raise DataError(
                    task, f"this task has {most} attempts, but the plan has {attempts} per task",
                    name="other-plan",
                    settles=[SuggestedFix({"--attempts": most}, "changes the plan")],
                )  # fmt: skip
        unplanned = sorted(attempts_made.keys() - set(self.task_names))
        if unplanned and self.order_source != COMPLETION_ORDER:
            raise DataError(
                unplanned[0],
                f"the {self.order_source} with the order of the tasks does not contain this task",
                f"add every task of the run to the {self.order_source}", name="other-plan",
            )  # fmt: skip


def attempt_counts_by_task_and_model(
    counts: Counts, models: Collection[str]
) -> MadeAttemptCountByTaskAndModel:
    """Map each task to the number of attempts by each model.

    The numbers include attempts without an outcome.
    """
    by_task, missing = dict[str, dict[str, int]](), counts.missing_outcomes
    for model in missing.models:
        at = missing.row_indices_of_model(model)
        numbers = zip(
            missing.task_and_group_key_codes[at].tolist(),
            missing.attempt_counts[at].tolist(),
            strict=True,
        )
        for code, n in numbers if model in models else ():
            by_task.setdefault(missing.task_and_group_keys[code][0], {})[model] = n
    return by_task


def last_attempt_file_positions(counts: Counts, models: Collection[str]) -> Mapping[str, float]:
    """Map each task to the position of its last attempt in the files, if positions are known."""
    lines, last = counts.attempts.get("attempt"), dict[str, float]()
    if lines is None:
        return last
    for cell, value in zip(lines.row_cell_indices.tolist(), lines.value.tolist(), strict=True):
        if counts.series[counts.series_codes[cell]][0] in models:
            task = counts.tasks[counts.task_codes[cell]]
            last[task] = max(last.get(task, value), value)
    return last
