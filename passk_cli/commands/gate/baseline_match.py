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
    attempts: Ints
    expected: Ints | None = None
    other_attempts: Ints = field(default_factory=lambda: _NONE)
    declared: bool = False
    design: bool = True

    @property
    def complete(self) -> bool:
        """Whether no task has more or fewer attempts than were to be made."""
        return self.expected is None or bool(np.array_equal(self.attempts, self.expected))

    def deviating_tasks(self, counts: Counts) -> str:
        """The tasks with more or fewer attempts than were to be made: "fewer at t1, t2"."""
        expected = self.attempts if self.expected is None else self.expected
        lists = {
            relation: [counts.tasks[code] for code in counts.task_codes[self.cells[places]]]
            for relation, places in (
                ("fewer", self.attempts < expected),
                ("more", self.attempts > expected),
            )
        }
        return ", ".join(f"{rel} at {first_few(names)}" for rel, names in lists.items() if names)

    @property
    def count(self) -> CountEvidence | None:
        """The attempts, of those to be made: "33 of 60", "209 for 200" where more were made, and
        "118 of 120, 2 more" where tasks differ in that."""
        if self.expected is None:
            return None
        expected, most = int(self.expected.sum()), int(self.attempts.sum())
        within_plan = int(np.minimum(self.attempts, self.expected).sum())
        if within_plan == expected < most:
            return CountEvidence(most, expected, "{0:,} for {1:,}")
        return CountEvidence(
            within_plan,
            expected,
            f"{OF}, {most - within_plan:,} more" if most > within_plan else OF,
        )

    @property
    def summary(self) -> str:
        """As "3 to 5 attempts per task, the baseline 5"."""
        if self.expected is None or self.declared or self.complete:
            return attempts_per_task(self.attempts)
        expected_words = attempts_per_task(self.expected).partition(" attempt")[0]
        if attempts_per_task(self.attempts).startswith(expected_words):
            tasks = plural(int((self.attempts != self.expected).sum()), "task")
            return f"other numbers of attempts than the baseline at {tasks}"
        return f"{attempts_per_task(self.attempts)}, the baseline {expected_words}"

    @property
    def deviations(self) -> list[str]:
        """As "fewer attempts than in the baseline at 12 tasks (33 of 60), more at 1 task (7 for
        5)"; where nothing says how many were to be made, "2 to 5 attempts per task"."""
        if self.expected is None:
            return (
                []
                if np.all(self.attempts == self.attempts[0])
                else [attempts_per_task(self.attempts)]
            )
        than = (
            f"than the {self.expected[0]:,} declared" if self.declared else "than in the baseline"
        )
        words: list[str] = []
        for relation, places, link in (
            ("fewer", self.attempts < self.expected, "of"),
            ("more", self.attempts > self.expected, "for"),
        ):
            if places.any():
                tasks = plural(int(places.sum()), "task")
                numbers = f"{self.attempts[places].sum():,} {link} {self.expected[places].sum():,}"
                number = relation if words else f"{relation} attempts {than}"
                words.append(f"{number} at {tasks} ({numbers})")
        words = [", ".join(words)] if words else []
        if set(self.other_attempts.tolist()) - set(self.attempts.tolist()):
            words.append(
                f"{attempts_per_task(self.other_attempts)} at the tasks that the baseline lacks"
            )
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
    separate_file: bool = False
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
            tuple(s for s, series in enumerate(counts.series) if (series[0] == name) == is_base)
            for is_base in (False, True)
        )
        return cls(counts, candidates, counts, bases, name)

    @classmethod
    def from_two_files(cls, counts: Counts, baseline: Counts, label: str) -> BaselineMatch:
        """Every model of some data against the models of another file, kept apart from them.

        Errors: DataError when a task belongs to one cluster here and to another there.
        """
        tasks = sorted({*counts.tasks, *baseline.tasks})
        clusters = merged_clusters(counts, baseline, label)
        pair = [side.over_tasks(tasks) for side in (counts, baseline)]
        if clusters is not None:
            codes = tuple(clusters[task] for task in tasks)
            pair = [replace(side, clusters=codes) for side in pair]
        candidates, bases = (tuple(range(len(side.series))) for side in pair)
        return cls(pair[0], candidates, pair[1], bases, label, separate_file=True)

    @classmethod
    def from_study(cls, study: Analysis, baseline: Any) -> BaselineMatch:
        """The candidates and their baseline: what was read apart, or the model of this name."""
        if baseline is None:
            return cls.without_baseline(study.counts)
        if study.baseline is None:
            return cls.from_one_run(study.counts, baseline)
        sides = cls.from_two_files(study.counts, study.baseline, label_of(baseline))
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

    def base_model(self, model: str) -> str | None:
        """The baseline's model that a candidate is compared with; None when there is none.

        The only one, whatever it is called; of several, the one of the same name.
        """
        only = next(iter(self.base_models)) if len(self.base_models) == 1 else model
        return only if only in self.base_models else None

    def base_series(self, series: Series) -> Series | None:
        """The baseline's series that a candidate's series is compared with, if there is one."""
        base = (self.base_model(series[0]) or "", *series[1:])
        return base if base in self.base_tasks else None

    def filled(self, *, passing: bool) -> BaselineMatch:
        """Both sides where missing outcomes of the candidates pass and those of the baseline fail,
        or the reverse."""
        baseline = self.baseline and self.baseline.filled(passing=not passing)
        return replace(self, counts=self.counts.filled(passing=passing), baseline=baseline)

    def reason_not_compared(self, series: Series) -> str:
        """Why a candidate's series has nothing to be compared with."""
        if self.base_model(series[0]) is None:
            models = ", ".join(sorted(self.base_models))
            return f"{self.label} has no model {series[0]}; there are {models}"
        return f"{self.label} is not in this group"

    @cached_property
    def missing_series(self) -> dict[Series, Coverage]:
        """Series of the baseline that no candidate has, under the candidate's name."""
        models = sorted({model for model, *_ in self.series})
        gone: dict[Series, Coverage] = {}
        for base, tasks in self.base_tasks.items():
            rivals = [model for model in models if self.base_model(model) == base[0]]
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
        gone = sorted(self.base_models - {self.base_model(model) for model in models})
        possible_names = [model for model in models if model not in one_run]
        return [*renamed_models(self.baseline, gone, self.counts, possible_names)]

    @property
    def other_name(self) -> tuple[str, str] | None:
        """The only model of the baseline and the only one of the run, if they may be one that was
        renamed: of a history always; of other data if it passes the tasks alike, under names that
        the data have."""
        models = {model for model, *_ in self.series}
        if self.baseline is None or not self.separate_file or models == self.base_models:
            return None
        if len(models) != 1 or len(self.base_models) != 1:
            return None
        (old,), (new,) = self.base_models, models
        inputs = [*self.counts.facts.inputs, *self.baseline.facts.inputs]
        if self.latest is None:
            similar = [*renamed_models(self.baseline, [old], self.counts, [new])]
            if not similar or not inputs or any("model" not in file.roles for file in inputs):
                return None
        return old, new

    def coverage(self, series: Series) -> Coverage | None:
        """How much of its baseline a candidate's series covers; None when it has no baseline."""
        base = self.base_series(series)
        if base is None:
            return None
        task_codes, base_codes = self.tasks[series], self.base_tasks[base]
        shared = len(np.intersect1d(task_codes, base_codes, assume_unique=True))
        return Coverage(shared, len(base_codes), len(task_codes) - shared)

    def lost(self, series: Series) -> list[str]:
        """The tasks of its baseline that a candidate's series lacks."""
        base = self.base_series(series)
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

    def attempts_by_series(self, declared: int | None = None) -> dict[Series, CandidateAttempts]:
        """The attempts of each candidate's series; of those that share tasks with their baseline.

        declared : the attempts to be made at every task; without it, the baseline's at the same
            task.
        """
        by_series: dict[Series, CandidateAttempts] = {}
        for series in self.series:
            cells, attempts = _cells_and_attempts(self.counts, series)
            base = self.base_series(series)
            if declared is not None:
                by_series[series] = CandidateAttempts(
                    cells, attempts, np.full(len(attempts), declared), declared=True
                )
            elif base is None or self.baseline is None:
                by_series[series] = CandidateAttempts(cells, attempts)
            else:
                _, shared, base_shared = np.intersect1d(
                    self.tasks[series], self.base_tasks[base], assume_unique=True,
                    return_indices=True,
                )  # fmt: skip
                if len(shared):
                    expected = _cells_and_attempts(self.latest or self.baseline, base)[1][
                        base_shared
                    ]
                    other_attempts = np.delete(attempts, shared)
                    by_series[series] = CandidateAttempts(
                        cells[shared], attempts[shared], expected, other_attempts
                    )
        for plan in self._plans(list(by_series)):
            parts = {series: by_series[series] for series in plan}
            complete = all(part.complete for part in parts.values())
            if not complete and (declared is not None or not _is_design(parts.values())):
                by_series |= {s: replace(part, design=part.complete) for s, part in parts.items()}
        return by_series

    def _plans(self, all_series: Sequence[Series]) -> Iterator[list[Series]]:
        """The series that are parts of one run: those of a model, unless they share tasks.

        Groups of tasks lose attempts together; temperatures may each have a number of attempts.
        """
        for model in dict.fromkeys(series[0] for series in all_series):
            groups = [series for series in all_series if series[0] == model]
            tasks = np.concatenate([self.tasks[series] for series in groups])
            if len(np.unique(tasks)) == len(tasks):
                yield groups
            else:
                yield from ([series] for series in groups)

    def data_notes(self, series: Series) -> list[str]:
        """Words for what reading left out of a candidate's series and its baseline, or made of
        their missing outcomes."""
        words = left_out_words(self.counts.facts, series)
        base = self.base_series(series)
        if self.baseline is not None and base is not None:
            facts = self.baseline.facts
            # Lines and files of the same run are counted once.
            facts = facts if self.separate_file else replace(facts, skipped=0, empty_files=0)
            words += [f"baseline: {reason}" for reason in left_out_words(facts, base)]
        return words


def attempts_per_task(numbers: Ints) -> str:
    """As "5 attempts per task", or "2 to 5 attempts per task"."""
    least, most = int(numbers.min()), int(numbers.max())
    number = plural(most, "attempt")
    return f"{number} per task" if least == most else f"{least:,} to {number} per task"


def _is_design(parts: Iterable[CandidateAttempts]) -> bool:
    """Whether every task has equally many attempts, or the same share of those wanted."""
    pairs = [(part.attempts, part.expected) for part in parts if part.expected is not None]
    attempts, expected = (np.concatenate(numbers) for numbers in zip(*pairs, strict=True))
    same_share = np.all(attempts * expected[0] == expected * attempts[0])
    return bool(same_share or np.all(attempts == attempts[0]))


def _tasks(counts: Counts, places: Iterable[int]) -> dict[Series, Ints]:
    return {counts.series[s]: counts.task_codes[counts.rows_of(s)] for s in places}


def _cells_and_attempts(counts: Counts, series: Series) -> tuple[Ints, Ints]:
    """The cells of a series, and their attempts: also those that were dropped without outcome."""
    rows = counts.rows_of(counts.series.index(series))
    cells, attempts, losses = (
        np.arange(rows.start, rows.stop),
        counts.n[rows],
        counts.facts.missing_outcomes,
    )
    model, *groups = series
    if losses is None or model not in losses.models:
        return cells, attempts
    at = losses.cells(model)
    units = [losses.units[u] for u in losses.unit_codes[at]]
    read = dict(zip(units, losses.attempts[at].tolist(), strict=True))
    units_of_tasks = ((counts.tasks[task], *groups) for task in counts.task_codes[rows].tolist())
    return cells, np.maximum(attempts, [read.get(unit, 0) for unit in units_of_tasks])
