"""Sides of a comparison: candidates and their baseline, a model of the same data or other data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from passk_cli.errors import ParameterError
from passk_cli.outcomes.counts import Counts
from passk_cli.outcomes.provenance import ReadFacts
from passk_cli.report.words import plural, series_name
from passk_cli.study.baseline import clusters_of, label_of
from passk_cli.study.losses import BECAME
from passk_cli.study.study import Study
from passk_cli.study.values import Series


@dataclass(frozen=True)
class Sides:
    """The candidates and their baseline, whose counts index one list of tasks.

    counts, candidates : the new run, and the indices of its series that are judged.
    baseline, bases : what they are compared with, and the indices of its series; None for nothing.
    label : the baseline's name: a model, or a file.
    apart : whether the baseline is a file of its own, whose models need not have the same names.
    """

    counts: Counts
    candidates: tuple[int, ...]
    baseline: Counts | None = None
    bases: tuple[int, ...] = ()
    label: str = ""
    apart: bool = False

    @property
    def series(self) -> list[Series]:
        """The series that are judged."""
        return [self.counts.series[s] for s in self.candidates]

    @cached_property
    def places(self) -> dict[str, int]:
        """Task → its place in the list."""
        return {task: place for place, task in enumerate(self.counts.tasks)}

    @cached_property
    def base_tasks(self) -> dict[Series, NDArray[np.int64]]:
        """The baseline's series, each with its tasks."""
        if self.baseline is None:
            return {}
        return {self.baseline.series[s]: _tasks(self.baseline, s) for s in self.bases}

    def partner(self, model: str) -> str | None:
        """The baseline's model that a candidate is compared with; None when there is none.

        The only one, whatever it is called; of several, the one of the same name.
        """
        models = {series[0] for series in self.base_tasks}
        only = next(iter(models)) if len(models) == 1 else model
        return only if only in models else None

    def base(self, series: Series) -> Series | None:
        """The baseline's series that a candidate's series is compared with, if there is one."""
        partner = self.partner(series[0])
        base = None if partner is None else (partner, *series[1:])
        return base if base in self.base_tasks else None

    def filled(self, *, passing: bool) -> Sides:
        """Both sides where missing outcomes of the candidates pass and those of the baseline fail,
        or the reverse."""
        baseline = self.baseline and self.baseline.filled(passing=not passing)
        return replace(self, counts=self.counts.filled(passing=passing), baseline=baseline)

    def lacking(self, series: Series) -> str:
        """Why a candidate's series has nothing to be compared with."""
        if self.partner(series[0]) is None:
            models = ", ".join(sorted({base[0] for base in self.base_tasks}))
            return f"{self.label} has no model {series[0]}; there are {models}"
        return f"{self.label} is not in this group"

    @cached_property
    def missing(self) -> dict[Series, Coverage]:
        """Series of the baseline that no candidate has, under the candidate's name."""
        own = set(self.series)
        models = {series[0] for series in own}
        gone: dict[Series, Coverage] = {}
        for base, tasks in self.base_tasks.items():
            rivals = [model for model in sorted(models) if self.partner(model) == base[0]]
            for model in rivals or [base[0]]:
                if (model, *base[1:]) not in own:
                    gone[(model, *base[1:])] = Coverage(0, len(tasks))
        return gone


def sides_of(study: Study, baseline: Any) -> Sides:
    """The candidates and their baseline: what was read apart, or the model of this name."""
    if baseline is None:
        return alone(study.counts)
    if study.baseline is None:
        return within(study.counts, baseline)
    return against(study.counts, study.baseline, label_of(baseline))


def alone(counts: Counts) -> Sides:
    """Candidates without a baseline."""
    return Sides(counts, tuple(range(len(counts.series))))


def within(counts: Counts, name: str) -> Sides:
    """The other models of some data against one of them.

    Errors: ParameterError when the model is not there, or the only one.
    """
    models = sorted({series[0] for series in counts.series})
    if name not in models:
        raise ParameterError(
            f"--baseline {name}: no such file, and no such model; there are {', '.join(models)}",
            name="no-such-model",
        )
    places = range(len(counts.series))
    candidates = tuple(s for s in places if counts.series[s][0] != name)
    if not candidates:
        raise ParameterError(
            "no candidate: every model in the data is the baseline", name="no-such-model"
        )
    bases = tuple(s for s in places if counts.series[s][0] == name)
    return Sides(counts, candidates, counts, bases, name)


def against(counts: Counts, baseline: Counts, label: str) -> Sides:
    """Every model of some data against the models of another file, kept apart from them.

    Errors: DataError when a task belongs to one cluster here and to another there.
    """
    tasks = sorted({*counts.tasks, *baseline.tasks})
    clusters = clusters_of(counts, baseline, label)
    both = [side.over(tasks) for side in (counts, baseline)]
    if clusters is not None:
        both = [replace(side, clusters=tuple(clusters[task] for task in tasks)) for side in both]
    candidates, bases = (tuple(range(len(side.series))) for side in both)
    return Sides(both[0], candidates, both[1], bases, label, apart=True)


@dataclass(frozen=True)
class Coverage:
    """Tasks of a candidate's series, of those it should have.

    shared : tasks it has of the `expected` ones: the baseline's, or those of all candidates.
    more : tasks it has besides.
    """

    shared: int
    expected: int
    more: int = 0

    @property
    def lost(self) -> int:
        """Tasks it should have and has not."""
        return self.expected - self.shared

    def lost_words(self, series: Series) -> str:
        """As "36 of 60 baseline tasks have no attempts in easy"."""
        have = "has" if self.lost == 1 else "have"
        of = plural(self.expected, "baseline task")
        return f"{self.lost:,} of {of} {have} no attempts in {series_name(series)}"


def coverage(sides: Sides, series: Series) -> Coverage | None:
    """How much of its baseline a candidate's series covers; None when it has no baseline."""
    base = sides.base(series)
    if base is None or sides.baseline is None:
        return None
    own = _tasks(sides.counts, sides.counts.series.index(series))
    theirs = sides.base_tasks[base]
    shared = len(np.intersect1d(own, theirs, assume_unique=True))
    return Coverage(shared, len(theirs), len(own) - shared)


def coverage_of_rivals(sides: Sides, series: Series) -> Coverage:
    """How much a candidate's series covers of what all candidates of its group have together."""
    rivals = [s for s in sides.candidates if sides.counts.series[s][1:] == series[1:]]
    every = np.unique(np.concatenate([_tasks(sides.counts, s) for s in rivals]))
    own = _tasks(sides.counts, sides.counts.series.index(series))
    return Coverage(len(own), len(every))


def left_out(facts: ReadFacts, series: Series | None) -> list[str]:
    """Words for what reading left out of a series, or made of its missing outcomes."""
    words = []
    missing, emptied = facts.missing, facts.emptied
    if facts.losses is not None and series is not None:
        own_missing, own_emptied = facts.losses.of_series(series) or (missing, emptied)
        missing, emptied = own_missing, own_emptied if emptied else 0
    if facts.skipped:
        words.append(f"{plural(facts.skipped, 'line')} skipped")
    if facts.empty_files:
        words.append(f"{plural(facts.empty_files, 'empty file')} skipped")
    if missing and facts.missing_policy in BECAME:
        became = BECAME[facts.missing_policy]
        words.append(f"{plural(missing, 'attempt')} without an outcome {became}")
    if emptied:
        words.append(f"{plural(emptied, 'task')} left without any attempt")
    return words


def _tasks(counts: Counts, series: int) -> NDArray[np.int64]:
    return counts.task_codes[counts.rows_of(series)]
