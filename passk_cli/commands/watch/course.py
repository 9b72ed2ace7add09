"""The course of a run: the order in which its tasks count, and how far of it is complete."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passk_cli.commands.gate.sides import Sides
from passk_cli.commands.watch import COMPLETION
from passk_cli.commands.watch.looks import Plan
from passk_cli.errors import DataError, ParameterError, not_there
from passk_cli.files.request import parse_tasks
from passk_cli.outcomes.counts import Counts
from passk_cli.report.words import plural
from passk_cli.settle import Blank, Given, Settle

# Where an order comes from.
LIST, DATASET = "list", "dataset"


def parse_order(value: Any) -> tuple[str, ...]:
    """Names of tasks, from a file with one on each line, or as a list; or "completion".

    Errors: ParameterError for a file that is not there or names no task.
    """
    if value == [COMPLETION] and not os.path.isfile(COMPLETION):
        return (COMPLETION,)
    if len(value) == 1 and isinstance(value[0], str) and not os.path.isfile(value[0]):
        raise ParameterError(Given("--order"), str(not_there(value[0])), name="no-such-file")
    names = parse_tasks("--order", value) if len(value) == 1 else tuple(map(str, value))
    if len(set(names)) < len(names):
        raise ParameterError(Given("--order"), "a task is there twice")
    return names


@dataclass(frozen=True)
class Course:
    """The tasks of a plan in the order in which they count, and those that are complete.

    tasks : names, in the order.  kind : LIST, DATASET or COMPLETION.
    complete : tasks of the order with all their attempts, by every model that is judged.
    """

    tasks: Sequence[str]
    kind: str
    complete: Collection[str]

    @property
    def done(self) -> int:
        """The first tasks of the order that are all complete: what a look may count."""
        return next(
            (at for at, task in enumerate(self.tasks) if task not in self.complete), len(self.tasks)
        )

    @property
    def behind(self) -> int:
        """Tasks that are complete and wait for one before them."""
        return sum(task in self.complete for task in self.tasks[self.done :])


def order_of(given: Sequence[str], counts: Counts, planned: int | None) -> tuple[list[str], str]:
    """The tasks in the order in which they count, and where it comes from; none of COMPLETION.

    given : names, (COMPLETION,), or none where the files are to say it.
    Errors: ParameterError where no order is known, or it has fewer tasks than the plan.
    """
    if given == (COMPLETION,):
        return [], COMPLETION
    order, kind = (given, LIST) if given else (counts.facts.order, DATASET)
    if not order:
        raise ParameterError(
            "no order of the tasks is known; the first that are complete may be the easy ones",
            name="no-order",
            settles=[
                Settle({"--order": Blank("FILE")}, "names them in the order drawn"),
                Settle({"--order": COMPLETION},
                       "assumes that when a task is complete does not depend on its outcomes"),
            ],
        )  # fmt: skip
    if planned is not None and planned > len(order):
        raise ParameterError(
            Given("--planned", str(planned)),
            f"the order of the {kind} has {plural(len(order), 'task')}",
            name="contradicting-options", settles=[Settle({"--planned": len(order)})],
        )  # fmt: skip
    return [*order], kind


def course_of(
    sides: Sides, plan: Plan, order: Sequence[str], kind: str, kept: Sequence[str],
    last: Mapping[str, float],
) -> Course:  # fmt: skip
    """The course of a run, as far as it is.

    order, kind : as `order_of` has them.  kept : the tasks that earlier looks counted, and last :
    the place of each task's last attempt, which make the order of completion.
    Errors: DataError for a task that is not in the order, or has more attempts than planned.
    """
    made = _made(sides)
    for task, numbers in made.items():
        if max(numbers) > plan.attempts:
            raise DataError(
                task, f"{max(numbers)} attempts, and the plan has {plan.attempts} at a task",
                name="other-plan", settles=[Settle({"--attempts": max(numbers)}, "plans as many")],
            )  # fmt: skip
    if kind != COMPLETION and (others := sorted(made.keys() - set(order))):
        raise DataError(
            others[0], f"this task is not in the order of the {kind}",
            "name every task of the run in it", name="other-plan",
        )  # fmt: skip
    every = len(sides.series)
    complete = {t for t, own in made.items() if len(own) == every and min(own) == plan.attempts}
    if kind == COMPLETION:
        rest = sorted(complete.difference(kept), key=lambda task: (last.get(task, 0.0), task))
        order = (*kept, *rest)
    return Course(order[: plan.planned], kind, complete)


def _made(sides: Sides) -> Mapping[str, Sequence[int]]:
    """Task → attempts made of it by each candidate that has some, those without an outcome
    included."""
    counts, made = sides.counts, dict[str, list[int]]()
    losses = counts.facts.losses
    for place, (model, *_) in zip(sides.candidates, sides.series, strict=True):
        rows = counts.rows_of(place)
        codes, n = counts.task_codes[rows].tolist(), counts.n[rows].tolist()
        own = {counts.tasks[code]: number for code, number in zip(codes, n, strict=True)}
        if losses is not None and model in losses.models:
            at = losses.cells(model)
            units = [losses.units[unit][0] for unit in losses.unit_codes[at].tolist()]
            for task, number in zip(units, losses.made[at].tolist(), strict=True):
                own[task] = max(own.get(task, 0), number)
        for task, number in own.items():
            made.setdefault(task, []).append(number)
    return made


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
