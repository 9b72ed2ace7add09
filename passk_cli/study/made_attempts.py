"""Attempts that a candidate made, beside those that were to be made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from passk_cli.outcomes.counts import Counts
from passk_cli.report.words import plural
from passk_cli.study.sides import Sides
from passk_cli.study.values import Series

Ints = NDArray[np.int64]

_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Made:
    """The attempts of a candidate's series at its tasks.

    cells : places of these tasks among the cells of the counts.
    made : int ≥ 1, attempts in the data, those without an outcome included.
    wanted : int ≥ 1, the declared number, or the baseline's at the same task; None where neither
        says it.
    others : int, attempts made at tasks that the baseline lacks.
    declared : whether `wanted` was declared.
    design : whether one plan explains the numbers: all as wanted; of a baseline, also equally many
        at every task, or the same share everywhere (5 attempts for 20).
    """

    cells: Ints
    made: Ints
    wanted: Ints | None = None
    others: Ints = field(default_factory=lambda: _NONE)
    declared: bool = False
    design: bool = True

    @property
    def whole(self) -> bool:
        """Whether no task has more or fewer attempts than were to be made."""
        return self.wanted is None or bool(np.array_equal(self.made, self.wanted))

    @property
    def longer(self) -> Ints:
        """The cells with more attempts than were to be made."""
        return _NONE if self.wanted is None else self.cells[self.made > self.wanted]

    @property
    def counted(self) -> str:
        """The attempts, of those to be made: "33 of 60", "209 for 200" where more were made, and
        "118 of 120, 2 more" where tasks differ in that."""
        if self.wanted is None:
            return ""
        wanted, most = self.wanted.sum(), self.made.sum()
        kept = np.minimum(self.made, self.wanted).sum()
        if kept == wanted < most:
            return f"{most:,} for {wanted:,}"
        more = f", {most - kept:,} more" if most > kept else ""
        return f"{kept:,} of {wanted:,}{more}"

    @property
    def words(self) -> str:
        """As "3 to 5 attempts per task, the baseline 5"."""
        if self.wanted is None or self.declared or self.whole:
            return per_task(self.made)
        return (
            f"{per_task(self.made)}, the baseline {per_task(self.wanted).partition(' attempt')[0]}"
        )

    @property
    def deviations(self) -> list[str]:
        """As "fewer attempts than in the baseline at 12 tasks (33 of 60), more at 1 task (7 for
        5)"; where nothing says how many were to be made, "2 to 5 attempts per task"."""
        if self.wanted is None:
            return [] if np.all(self.made == self.made[0]) else [per_task(self.made)]
        than = f"than the {self.wanted[0]:,} declared" if self.declared else "than in the baseline"
        words: list[str] = []
        for relation, places, link in (
            ("fewer", self.made < self.wanted, "of"),
            ("more", self.made > self.wanted, "for"),
        ):
            if places.any():
                tasks = plural(int(places.sum()), "task")
                numbers = f"{self.made[places].sum():,} {link} {self.wanted[places].sum():,}"
                what = relation if words else f"{relation} attempts {than}"
                words.append(f"{what} at {tasks} ({numbers})")
        words = [", ".join(words)] if words else []
        if set(self.others.tolist()) - set(self.made.tolist()):
            words.append(f"{per_task(self.others)} at the tasks that the baseline lacks")
        return words


def per_task(numbers: Ints) -> str:
    """As "5 attempts per task", or "2 to 5 attempts per task"."""
    least, most = int(numbers.min()), int(numbers.max())
    number = plural(most, "attempt")
    return f"{number} per task" if least == most else f"{least:,} to {number} per task"


def made_by(sides: Sides, declared: int | None = None) -> dict[Series, Made]:
    """The attempts of each candidate's series; of those that share tasks with their baseline.

    declared : the attempts to be made at every task; without it, the baseline's at the same task.
    """
    every = {series: _made(sides, series, declared) for series in sides.series}
    every = {series: made for series, made in every.items() if len(made.made)}
    for plan in _plans(sides, list(every)):
        parts = [every[series] for series in plan if not every[series].whole]
        if parts and (declared is not None or not _is_design([every[series] for series in plan])):
            every |= {series: replace(made, design=made.whole)
                      for series in plan for made in (every[series],)}  # fmt: skip
    return every


def _is_design(parts: Sequence[Made]) -> bool:
    """Whether every task has equally many attempts, or the same share of those wanted."""
    known = [(part.made, part.wanted) for part in parts if part.wanted is not None]
    made, wanted = (np.concatenate(numbers) for numbers in zip(*known, strict=True))
    same_share = np.all(made * wanted[0] == wanted * made[0])
    return bool(same_share or np.all(made == made[0]))


def _made(sides: Sides, series: Series, declared: int | None) -> Made:
    rows, made = _attempts(sides.counts, sides.counts.series.index(series))
    if declared is not None:
        return Made(rows, made, np.full(len(made), declared), declared=True)
    base = sides.base(series)
    if base is None or sides.baseline is None:
        return Made(rows, made)
    base_rows, base_made = _attempts(sides.baseline, sides.baseline.series.index(base))
    tasks, base_tasks = sides.counts.task_codes[rows], sides.baseline.task_codes[base_rows]
    _, own, theirs = np.intersect1d(tasks, base_tasks, assume_unique=True, return_indices=True)
    return Made(rows[own], made[own], base_made[theirs], np.delete(made, own))


def _attempts(counts: Counts, s: int) -> tuple[Ints, Ints]:
    """The cells of a series, and their attempts: also those that were dropped without outcome."""
    rows = counts.rows_of(s)
    cells, made, losses = np.arange(rows.start, rows.stop), counts.n[rows], counts.facts.losses
    model, *groups = counts.series[s]
    if losses is None or model not in losses.models:
        return cells, made
    at = losses.cells(model)
    read = dict(
        zip([losses.units[u] for u in losses.unit_codes[at]], losses.made[at].tolist(), strict=True)
    )
    units = ((counts.tasks[task], *groups) for task in counts.task_codes[rows].tolist())
    return cells, np.maximum(made, [read.get(unit, 0) for unit in units])


def _plans(sides: Sides, every: Sequence[Series]) -> list[list[Series]]:
    """The series that are parts of one run: those of a model, unless they share tasks.

    Groups of tasks lose attempts together; temperatures may each have a number of attempts.
    """
    plans: list[list[Series]] = []
    for model in dict.fromkeys(series[0] for series in every):
        groups = [series for series in every if series[0] == model]
        cells = (sides.counts.rows_of(sides.counts.series.index(series)) for series in groups)
        tasks = np.concatenate([sides.counts.task_codes[rows] for rows in cells])
        apart = len(np.unique(tasks)) < len(tasks)
        plans += [[series] for series in groups] if apart else [groups]
    return plans
