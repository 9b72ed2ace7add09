"""Candidates and their baseline, with the tasks and attempts of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from passk_cli.arrays import Ints, grouped
from passk_cli.commands.gate.evidence import OF, CountEvidence, Coverage
from passk_cli.errors import ParameterError
from passk_cli.files.sources.arguments import missing_baseline_error
from passk_cli.outcomes.counts import Counts
from passk_cli.report.words import first_few, plural
from passk_cli.study.analysis import Analysis
from passk_cli.study.baseline import label_of, merged_clusters
from passk_cli.study.duplicate_runs import renamed_models
from passk_cli.study.missing_outcomes import left_out_words
from passk_cli.study.values import Series

# The name of a baseline that is the run itself.
ITSELF = "itself"

_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class CandidateAttempts:
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

    def where(self, counts: Counts) -> str:
        """The tasks with more or fewer attempts than were to be made: "fewer at t1, t2"."""
        wanted = self.made if self.wanted is None else self.wanted
        lists = {
            relation: [counts.tasks[code] for code in counts.task_codes[self.cells[places]]]
            for relation, places in (
                ("fewer", self.made < wanted),
                ("more", self.made > wanted),
            )
        }
        return ", ".join(f"{rel} at {first_few(names)}" for rel, names in lists.items() if names)

    @property
    def counted(self) -> CountEvidence | None:
        """The attempts, of those to be made: "33 of 60", "209 for 200" where more were made, and
        "118 of 120, 2 more" where tasks differ in that."""
        if self.wanted is None:
            return None
        wanted, most = int(self.wanted.sum()), int(self.made.sum())
        kept = int(np.minimum(self.made, self.wanted).sum())
        if kept == wanted < most:
            return CountEvidence(most, wanted, "{0:,} for {1:,}")
        return CountEvidence(kept, wanted, f"{OF}, {most - kept:,} more" if most > kept else OF)

    @property
    def words(self) -> str:
        """As "3 to 5 attempts per task, the baseline 5"."""
        if self.wanted is None or self.declared or self.whole:
            return per_task(self.made)
        other = per_task(self.wanted).partition(" attempt")[0]
        if per_task(self.made).startswith(other):
            tasks = plural(int((self.made != self.wanted).sum()), "task")
            return f"other numbers of attempts than the baseline at {tasks}"
        return f"{per_task(self.made)}, the baseline {other}"

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
                number = relation if words else f"{relation} attempts {than}"
                words.append(f"{number} at {tasks} ({numbers})")
        words = [", ".join(words)] if words else []
        if set(self.others.tolist()) - set(self.made.tolist()):
            words.append(f"{per_task(self.others)} at the tasks that the baseline lacks")
        return words


@dataclass(frozen=True)
class BaselineMatch:
    """The candidates and their baseline, whose counts index one list of tasks.

    counts, candidates : the new run, and the indices of its series that are judged.
    baseline, bases : what they are compared with, and the indices of its series; None for nothing.
    label : the baseline's name: a model, or a file.
    apart : whether the baseline is a file of its own, whose models need not have the same names.
    latest : of a baseline of several runs, the last of them, whose attempts are to be made.
    """

    counts: Counts
    candidates: tuple[int, ...]
    baseline: Counts | None = None
    bases: tuple[int, ...] = ()
    label: str = ""
    apart: bool = False
    latest: Counts | None = None

    @classmethod
    def without_baseline(cls, counts: Counts) -> BaselineMatch:
        """Candidates without a baseline."""
        return cls(counts, tuple(range(len(counts.series))))

    @classmethod
    def from_one_run(cls, counts: Counts, name: str) -> BaselineMatch:
        """The other models of some data against one of them.

        Errors: ParameterError when the model is not there, or the only one.
        """
        models = sorted({series[0] for series in counts.series})
        if name not in models:
            raise missing_baseline_error("--baseline", name, models)
        if len(models) == 1:
            raise ParameterError(
                "no candidate: every model in the data is the baseline", name="no-such-model"
            )
        candidates, bases = (
            tuple(s for s, series in enumerate(counts.series) if (series[0] == name) == base)
            for base in (False, True)
        )
        return cls(counts, candidates, counts, bases, name)

    @classmethod
    def against(cls, counts: Counts, baseline: Counts, label: str) -> BaselineMatch:
        """Every model of some data against the models of another file, kept apart from them.

        Errors: DataError when a task belongs to one cluster here and to another there.
        """
        tasks = sorted({*counts.tasks, *baseline.tasks})
        clusters = merged_clusters(counts, baseline, label)
        both = [side.over_tasks(tasks) for side in (counts, baseline)]
        if clusters is not None:
            codes = tuple(clusters[task] for task in tasks)
            both = [replace(side, clusters=codes) for side in both]
        candidates, bases = (tuple(range(len(side.series))) for side in both)
        return cls(both[0], candidates, both[1], bases, label, apart=True)

    @classmethod
    def of(cls, study: Analysis, baseline: Any) -> BaselineMatch:
        """The candidates and their baseline: what was read apart, or the model of this name."""
        if baseline is None:
            return cls.without_baseline(study.counts)
        if study.baseline is None:
            return cls.from_one_run(study.counts, baseline)
        sides = cls.against(study.counts, study.baseline, label_of(baseline))
        if study.past is None:
            return sides
        return replace(sides, latest=study.past.latest.over_tasks(sides.counts.tasks))

    @property
    def series(self) -> list[Series]:
        """The series that are judged."""
        return [self.counts.series[s] for s in self.candidates]

    @cached_property
    def places(self) -> dict[str, int]:
        """Task → its place in the list."""
        return {task: place for place, task in enumerate(self.counts.tasks)}

    @cached_property
    def tasks(self) -> dict[Series, Ints]:
        """The candidates' series, each with its tasks."""
        return _tasks(self.counts, self.candidates)

    @cached_property
    def base_tasks(self) -> dict[Series, Ints]:
        """The baseline's series, each with its tasks."""
        return {} if self.baseline is None else _tasks(self.baseline, self.bases)

    @cached_property
    def base_models(self) -> set[str]:
        """The models of the baseline."""
        return {model for model, *_ in self.base_tasks}

    def partner(self, model: str) -> str | None:
        """The baseline's model that a candidate is compared with; None when there is none.

        The only one, whatever it is called; of several, the one of the same name.
        """
        only = next(iter(self.base_models)) if len(self.base_models) == 1 else model
        return only if only in self.base_models else None

    def base(self, series: Series) -> Series | None:
        """The baseline's series that a candidate's series is compared with, if there is one."""
        base = (self.partner(series[0]) or "", *series[1:])
        return base if base in self.base_tasks else None

    def filled(self, *, passing: bool) -> BaselineMatch:
        """Both sides where missing outcomes of the candidates pass and those of the baseline fail,
        or the reverse."""
        baseline = self.baseline and self.baseline.filled(passing=not passing)
        return replace(self, counts=self.counts.filled(passing=passing), baseline=baseline)

    def lacking(self, series: Series) -> str:
        """Why a candidate's series has nothing to be compared with."""
        if self.partner(series[0]) is None:
            models = ", ".join(sorted(self.base_models))
            return f"{self.label} has no model {series[0]}; there are {models}"
        return f"{self.label} is not in this group"

    @cached_property
    def missing(self) -> dict[Series, Coverage]:
        """Series of the baseline that no candidate has, under the candidate's name."""
        models = sorted({model for model, *_ in self.series})
        gone: dict[Series, Coverage] = {}
        for base, tasks in self.base_tasks.items():
            rivals = [model for model in models if self.partner(model) == base[0]]
            for model in rivals or [base[0]]:
                if (model, *base[1:]) not in self.tasks:
                    gone[(model, *base[1:])] = Coverage(0, len(tasks))
        return gone

    @property
    def renamed(self) -> list[tuple[str, str]]:
        """Models of the baseline that nobody is compared with, each with a candidate that has its
        tasks and passes them alike."""
        if self.baseline is None:
            return []
        models = sorted({model for model, *_ in self.series})
        # Models of one run are two; those of a history may be of different runs.
        one_run = self.base_models if self.latest is None else ()
        gone = sorted(self.base_models - {self.partner(model) for model in models})
        others = [model for model in models if model not in one_run]
        return [*renamed_models(self.baseline, gone, self.counts, others)]

    @property
    def other_name(self) -> tuple[str, str] | None:
        """The only model of the baseline and the only one of the run, if they may be one that was
        renamed: of a history always; of other data if it passes the tasks alike, under names that
        the data have."""
        models = {model for model, *_ in self.series}
        if self.baseline is None or not self.apart or models == self.base_models:
            return None
        if len(models) != 1 or len(self.base_models) != 1:
            return None
        (old,), (new,) = self.base_models, models
        inputs = [*self.counts.facts.inputs, *self.baseline.facts.inputs]
        if self.latest is None:
            alike = [*renamed_models(self.baseline, [old], self.counts, [new])]
            if not alike or not inputs or any("model" not in file.roles for file in inputs):
                return None
        return old, new

    def coverage(self, series: Series) -> Coverage | None:
        """How much of its baseline a candidate's series covers; None when it has no baseline."""
        base = self.base(series)
        if base is None:
            return None
        own, theirs = self.tasks[series], self.base_tasks[base]
        shared = len(np.intersect1d(own, theirs, assume_unique=True))
        return Coverage(shared, len(theirs), len(own) - shared)

    def lost(self, series: Series) -> list[str]:
        """The tasks of its baseline that a candidate's series lacks."""
        base = self.base(series)
        if base is None or series not in self.tasks:
            return []
        lost = np.setdiff1d(self.base_tasks[base], self.tasks[series], assume_unique=True)
        return [self.counts.tasks[code] for code in lost.tolist()]

    def coverage_of_rivals(self, series: Series) -> Coverage:
        """How much a candidate's series covers of what all candidates of its group have."""
        return Coverage(len(self.tasks[series]), self._tasks_of_groups[series[1:]])

    @cached_property
    def _tasks_of_groups(self) -> dict[Series, int]:
        """How many tasks the candidates of each group have together."""
        groups = grouped(self.tasks, lambda series: series[1:])
        return {
            group: len(np.unique(np.concatenate([self.tasks[series] for series in rivals])))
            for group, rivals in groups.items()
        }

    def made(self, declared: int | None = None) -> dict[Series, CandidateAttempts]:
        """The attempts of each candidate's series; of those that share tasks with their baseline.

        declared : the attempts to be made at every task; without it, the baseline's at the same
            task.
        """
        every: dict[Series, CandidateAttempts] = {}
        for series in self.series:
            cells, made = _attempts(self.counts, series)
            base = self.base(series)
            if declared is not None:
                every[series] = CandidateAttempts(
                    cells, made, np.full(len(made), declared), declared=True
                )
            elif base is None or self.baseline is None:
                every[series] = CandidateAttempts(cells, made)
            else:
                _, own, theirs = np.intersect1d(
                    self.tasks[series], self.base_tasks[base], assume_unique=True,
                    return_indices=True,
                )  # fmt: skip
                if len(own):
                    wanted = _attempts(self.latest or self.baseline, base)[1][theirs]
                    others = np.delete(made, own)
                    every[series] = CandidateAttempts(cells[own], made[own], wanted, others)
        for plan in self._plans(list(every)):
            parts = {series: every[series] for series in plan}
            whole = all(part.whole for part in parts.values())
            if not whole and (declared is not None or not _is_design(parts.values())):
                every |= {s: replace(part, design=part.whole) for s, part in parts.items()}
        return every

    def _plans(self, every: Sequence[Series]) -> Iterator[list[Series]]:
        """The series that are parts of one run: those of a model, unless they share tasks.

        Groups of tasks lose attempts together; temperatures may each have a number of attempts.
        """
        for model in dict.fromkeys(series[0] for series in every):
            groups = [series for series in every if series[0] == model]
            tasks = np.concatenate([self.tasks[series] for series in groups])
            if len(np.unique(tasks)) == len(tasks):
                yield groups
            else:
                yield from ([series] for series in groups)

    def left_out(self, series: Series) -> list[str]:
        """Words for what reading left out of a candidate's series and its baseline, or made of
        their missing outcomes."""
        words = left_out_words(self.counts.facts, series)
        base = self.base(series)
        if self.baseline is not None and base is not None:
            facts = self.baseline.facts
            # Lines and files of the same run are counted once.
            facts = facts if self.apart else replace(facts, skipped=0, empty_files=0)
            words += [f"baseline: {reason}" for reason in left_out_words(facts, base)]
        return words


def per_task(numbers: Ints) -> str:
    """As "5 attempts per task", or "2 to 5 attempts per task"."""
    least, most = int(numbers.min()), int(numbers.max())
    number = plural(most, "attempt")
    return f"{number} per task" if least == most else f"{least:,} to {number} per task"


def _is_design(parts: Iterable[CandidateAttempts]) -> bool:
    """Whether every task has equally many attempts, or the same share of those wanted."""
    pairs = [(part.made, part.wanted) for part in parts if part.wanted is not None]
    made, wanted = (np.concatenate(numbers) for numbers in zip(*pairs, strict=True))
    same_share = np.all(made * wanted[0] == wanted * made[0])
    return bool(same_share or np.all(made == made[0]))


def _tasks(counts: Counts, places: Iterable[int]) -> dict[Series, Ints]:
    return {counts.series[s]: counts.task_codes[counts.rows_of(s)] for s in places}


def _attempts(counts: Counts, series: Series) -> tuple[Ints, Ints]:
    """The cells of a series, and their attempts: also those that were dropped without outcome."""
    rows = counts.rows_of(counts.series.index(series))
    cells, made, losses = (
        np.arange(rows.start, rows.stop),
        counts.n[rows],
        counts.facts.missing_outcomes,
    )
    model, *groups = series
    if losses is None or model not in losses.models:
        return cells, made
    at = losses.cells(model)
    units = [losses.units[u] for u in losses.unit_codes[at]]
    read = dict(zip(units, losses.attempts[at].tolist(), strict=True))
    own = ((counts.tasks[task], *groups) for task in counts.task_codes[rows].tolist())
    return cells, np.maximum(made, [read.get(unit, 0) for unit in own])
