"""The candidates of a gate, matched with the models, tasks and attempts of the baseline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from passk_cli.arrays import Ints, group_by
from passk_cli.commands.gate.evidence import PART_OF_TOTAL_TEMPLATE, PartOfTotal, TaskCoverage
from passk_cli.errors import ParameterError
from passk_cli.files.sources.arguments import missing_baseline_error
from passk_cli.outcomes.counts import Counts
from passk_cli.report.phrases import first_few, plural
from passk_cli.study.analysis import Analysis
from passk_cli.study.baseline import baseline_label, merged_cluster_by_task
from passk_cli.study.duplicate_runs import renamed_models
from passk_cli.study.missing_outcomes import skipped_and_missing_phrases
from passk_cli.study.values import SeriesKey

# If a simulation compares the run with itself, the label of the baseline is SELF_BASELINE_LABEL.
SELF_BASELINE_LABEL = "itself"

_EMPTY_INTS = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class CandidateAttemptCounts:
    """The observed and the expected numbers of attempts of a candidate, per task.

    cell_indices : for each task, the index of the candidate's cell in the counts.
    expected_attempts : for each task, the value of --attempts or the number of attempts in the
        baseline. None if no number is expected.
    attempts_at_non_baseline_tasks : numbers of attempts at tasks that the baseline lacks.
    expected_from_option : whether `expected_attempts` comes from --attempts.
    looks_planned : whether the numbers of attempts look planned: all numbers are as expected, all
        numbers are equal, or all tasks have the same share of the baseline's attempts.
    """

    cell_indices: Ints
    attempts: Ints
    expected_attempts: Ints | None = None
    attempts_at_non_baseline_tasks: Ints = field(default_factory=lambda: _EMPTY_INTS)
    expected_from_option: bool = False
    looks_planned: bool = True

    @property
    def has_expected_attempts(self) -> bool:
        return self.expected_attempts is None or bool(
            np.array_equal(self.attempts, self.expected_attempts)
        )

    def deviating_tasks_text(self, counts: Counts) -> str:
        """Name the tasks with unexpected numbers of attempts, for example "fewer at t1, t2"."""
        expected = self.attempts if self.expected_attempts is None else self.expected_attempts
        lists = {
            relation: [counts.tasks[code] for code in counts.task_codes[self.cell_indices[places]]]
            for relation, places in (
                ("fewer", self.attempts < expected),
                ("more", self.attempts > expected),
            )
        }
        return ", ".join(f"{rel} at {first_few(names)}" for rel, names in lists.items() if names)

    @property
    def count_evidence(self) -> PartOfTotal | None:
        """The number of attempts out of the expected number, or None if no number is expected.

        The text is "33 of 60" if attempts are missing, and "209 for 200" if there are more attempts
        than expected. "118 of 120, 2 more" means that 2 attempts are missing and 2 are unplanned.
        """
        if self.expected_attempts is None:
            return None
        expected, most = int(self.expected_attempts.sum()), int(self.attempts.sum())
        within_plan = int(np.minimum(self.attempts, self.expected_attempts).sum())
        if within_plan == expected < most:
            return PartOfTotal(most, expected, "{0:,} for {1:,}")
        more = f", {most - within_plan:,} more" if most > within_plan else ""
        return PartOfTotal(within_plan, expected, PART_OF_TOTAL_TEMPLATE + more)

    @property
    def summary(self) -> str:
        """The attempts in words, for example "3 to 5 attempts per task, the baseline 5"."""
        if (
            self.expected_attempts is None
            or self.expected_from_option
            or self.has_expected_attempts
        ):
            return attempts_per_task_text(self.attempts)
        expected_words = attempts_per_task_text(self.expected_attempts).partition(" attempt")[0]
        if attempts_per_task_text(self.attempts).startswith(expected_words):
            tasks = plural(int((self.attempts != self.expected_attempts).sum()), "task")
            return f"other numbers of attempts than the baseline at {tasks}"
        return f"{attempts_per_task_text(self.attempts)}, the baseline {expected_words}"

    @property
    def deviation_notes(self) -> list[str]:
        """Notes on unexpected numbers of attempts.

        An example is "fewer attempts than in the baseline at 12 tasks (33 of 60), more at 1 task (7
        for 5)". If no number is expected, an example is "2 to 5 attempts per task".
        """
        if self.expected_attempts is None:
            equal = np.all(self.attempts == self.attempts[0])
            return [] if equal else [attempts_per_task_text(self.attempts)]
        than = "in the baseline"
        if self.expected_from_option:
            than = f"the {self.expected_attempts[0]:,} declared"
        words: list[str] = []
        for relation, places, link in (
            ("fewer", self.attempts < self.expected_attempts, "of"),
            ("more", self.attempts > self.expected_attempts, "for"),
        ):
            if places.any():
                tasks = plural(int(places.sum()), "task")
                numbers = (
                    f"{self.attempts[places].sum():,} {link}"
                    f" {self.expected_attempts[places].sum():,}"
                )
                number = relation if words else f"{relation} attempts than {than}"
                words.append(f"{number} at {tasks} ({numbers})")
        words = [", ".join(words)] if words else []
        if set(self.attempts_at_non_baseline_tasks.tolist()) - set(self.attempts.tolist()):
            number = attempts_per_task_text(self.attempts_at_non_baseline_tasks)
            words.append(f"{number} at the tasks that the baseline lacks")
        return words


@dataclass(frozen=True)
class BaselineMatch:
    """The candidates and their baseline, with counts that share one list of tasks.

    candidate_series_indices, baseline_series_indices : indices of the series in `counts` and
        in `baseline`.
    baseline_is_other_file : whether the baseline is another file, in which models may have other
        names.
    latest_run_counts : the last run of the history, which sets the expected numbers of attempts.
    """

    counts: Counts
    candidate_series_indices: tuple[int, ...]
    baseline: Counts | None = None
    baseline_series_indices: tuple[int, ...] = ()
    baseline_label: str = ""
    baseline_is_other_file: bool = False
    latest_run_counts: Counts | None = None

    @classmethod
    def without_baseline(cls, counts: Counts) -> BaselineMatch:
        return cls(counts, tuple(range(len(counts.series))))

    @classmethod
    def with_model_as_baseline(cls, counts: Counts, name: str) -> BaselineMatch:
        """Use one model as the baseline, and all other models of the same data as candidates.

        Errors: ParameterError if the data lacks this model, or contains only this model.
        """
        models = sorted({series[0] for series in counts.series})
        if name not in models:
            raise missing_baseline_error("--baseline", name, models)
        if len(models) == 1:
            problem = "the data contains only this model, so no model can be compared with it"
            raise ParameterError(problem, name="no-such-model")
        candidates, bases = (
            tuple(s for s, series in enumerate(counts.series) if (series[0] == name) == is_base)
            for is_base in (False, True)
        )
        return cls(counts, candidates, counts, bases, name)

    @classmethod
    def from_two_files(cls, counts: Counts, baseline: Counts, label: str) -> BaselineMatch:
        """Use the models of a second file as the baseline, and all models of the run as candidates.

        Errors: DataError if a task belongs to different clusters in the two files.
        """
        tasks = sorted({*counts.tasks, *baseline.tasks})
        clusters = merged_cluster_by_task(counts, baseline, label)
        pair = [side.with_longer_task_list(tasks) for side in (counts, baseline)]
        if clusters is not None:
            codes = tuple(clusters[task] for task in tasks)
            pair = [replace(side, clusters=codes) for side in pair]
        candidates, bases = (tuple(range(len(side.series))) for side in pair)
        return cls(pair[0], candidates, pair[1], bases, label, baseline_is_other_file=True)

    @classmethod
    def from_study(cls, study: Analysis, baseline: Any) -> BaselineMatch:
        """Match the run with --baseline: a file, a history, or a model in the data."""
        if baseline is None:
            return cls.without_baseline(study.counts)
        if study.baseline is None:
            return cls.with_model_as_baseline(study.counts, baseline)
        sides = cls.from_two_files(study.counts, study.baseline, baseline_label(baseline))
        if study.pooled_baseline is None:
            return sides
        return replace(
            sides,
            latest_run_counts=study.pooled_baseline.latest_run_counts.with_longer_task_list(
                sides.counts.tasks
            ),
        )

    @property
    def series(self) -> list[SeriesKey]:
        return [self.counts.series[s] for s in self.candidate_series_indices]

    @cached_property
    def task_index_by_name(self) -> dict[str, int]:
        return {task: place for place, task in enumerate(self.counts.tasks)}

    @cached_property
    def task_codes_by_candidate(self) -> dict[SeriesKey, Ints]:
        return _task_codes_by_series(self.counts, self.candidate_series_indices)

    @cached_property
    def task_codes_by_baseline_series(self) -> dict[SeriesKey, Ints]:
        return (
            {}
            if self.baseline is None
            else _task_codes_by_series(self.baseline, self.baseline_series_indices)
        )

    @cached_property
    def all_baseline_models(self) -> set[str]:
        return {model for model, *_ in self.task_codes_by_baseline_series}

    def base_model(self, model: str) -> str | None:
        """The only model of the baseline or, if there are several, the model with the same name."""
        only = next(iter(self.all_baseline_models)) if len(self.all_baseline_models) == 1 else model
        return only if only in self.all_baseline_models else None

    def base_series(self, series: SeriesKey) -> SeriesKey | None:
        """The series of the baseline that a candidate is compared with, or None."""
        base = (self.base_model(series[0]) or "", *series[1:])
        return base if base in self.task_codes_by_baseline_series else None

    def with_missing_run_outcomes_as(self, *, passing: bool) -> BaselineMatch:
        """Count missing outcomes of the run as passes or as failures.

        Missing outcomes of the baseline are counted as the opposite.
        """
        baseline = self.baseline and self.baseline.with_missing_as(passing=not passing)
        return replace(self, counts=self.counts.with_missing_as(passing=passing), baseline=baseline)

    def reason_not_compared(self, series: SeriesKey) -> str:
        if self.base_model(series[0]) is None:
            models = ", ".join(sorted(self.all_baseline_models))
            return f"{self.baseline_label} has no model {series[0]}, only {models}"
        return f"{self.baseline_label} has no attempts in this group"

    @cached_property
    def missing_series(self) -> dict[SeriesKey, TaskCoverage]:
        models = sorted({model for model, *_ in self.series})
        gone: dict[SeriesKey, TaskCoverage] = {}
        for base, tasks in self.task_codes_by_baseline_series.items():
            rivals = [model for model in models if self.base_model(model) == base[0]]
            for model in rivals or [base[0]]:
                if (model, *base[1:]) not in self.task_codes_by_candidate:
                    gone[(model, *base[1:])] = TaskCoverage(0, len(tasks))
        return gone

    @property
    def possible_model_renamings(self) -> list[tuple[str, str]]:
        """Pairs of names (old, new) that may be two names of the same model.

        The old name is only in the baseline. The model with the new name has the same tasks and
        similar pass rates.
        """
        if self.baseline is None:
            return []
        models = sorted({model for model, *_ in self.series})
        # If two models belong to the same run, they cannot be the same model under two names. The
        # models of a history may come from several runs.
        one_run = self.all_baseline_models if self.latest_run_counts is None else ()
        gone = sorted(self.all_baseline_models - {self.base_model(model) for model in models})
        possible_names = [model for model in models if model not in one_run]
        return [*renamed_models(self.baseline, gone, self.counts, possible_names)]

    @property
    def sole_possible_model_renaming(self) -> tuple[str, str] | None:
        """The names (old, new) if the run and the baseline may be one model under two names.

        The run and the baseline must each contain only one model. If the baseline is a history,
        this condition is enough. In other data, the pass rates must also be similar, and all files
        must contain names of models.
        """
        models = {model for model, *_ in self.series}
        if (
            self.baseline is None
            or not self.baseline_is_other_file
            or models == self.all_baseline_models
        ):
            return None
        if len(models) != 1 or len(self.all_baseline_models) != 1:
            return None
        (old,), (new,) = self.all_baseline_models, models
        inputs = [*self.counts.read_facts.file_readings, *self.baseline.read_facts.file_readings]
        if self.latest_run_counts is None:
            similar = [*renamed_models(self.baseline, [old], self.counts, [new])]
            if not similar or not inputs or any("model" not in file.roles for file in inputs):
                return None
        return old, new

    def coverage(self, series: SeriesKey) -> TaskCoverage | None:
        base = self.base_series(series)
        if base is None:
            return None
        task_codes, base_codes = (
            self.task_codes_by_candidate[series],
            self.task_codes_by_baseline_series[base],
        )
        shared = len(np.intersect1d(task_codes, base_codes, assume_unique=True))
        return TaskCoverage(shared, len(base_codes), len(task_codes) - shared)

    def lost_tasks(self, series: SeriesKey) -> list[str]:
        base = self.base_series(series)
        if base is None or series not in self.task_codes_by_candidate:
            return []
        lost = np.setdiff1d(
            self.task_codes_by_baseline_series[base],
            self.task_codes_by_candidate[series],
            assume_unique=True,
        )
        return [self.counts.tasks[code] for code in lost.tolist()]

    def coverage_of_group_tasks(self, series: SeriesKey) -> TaskCoverage:
        """The number of a candidate's tasks, out of the tasks of all candidates in its group."""
        return TaskCoverage(
            len(self.task_codes_by_candidate[series]),
            self._candidate_task_count_by_group[series[1:]],
        )

    @cached_property
    def _candidate_task_count_by_group(self) -> dict[SeriesKey, int]:
        groups = group_by(self.task_codes_by_candidate, lambda series: series[1:])
        return {
            group: len(
                np.unique(
                    np.concatenate([self.task_codes_by_candidate[series] for series in rivals])
                )
            )
            for group, rivals in groups.items()
        }

    def candidate_attempts_by_series(
        self, declared: int | None = None
    ) -> dict[SeriesKey, CandidateAttemptCounts]:
        """Map each candidate to its observed and expected numbers of attempts.

        declared : the value of --attempts. If `declared` is None, the baseline sets the expected
            attempts, and candidates that share no task with their baseline are left out.
        """
        by_series: dict[SeriesKey, CandidateAttemptCounts] = {}
        for series in self.series:
            cells, attempts = _cell_indices_and_attempt_counts(self.counts, series)
            base = self.base_series(series)
            if declared is not None:
                expected = np.full(len(attempts), declared)
                by_series[series] = CandidateAttemptCounts(
                    cells, attempts, expected, expected_from_option=True
                )
            elif base is None or self.baseline is None:
                by_series[series] = CandidateAttemptCounts(cells, attempts)
            else:
                _, shared, base_shared = np.intersect1d(
                    self.task_codes_by_candidate[series], self.task_codes_by_baseline_series[base],
                    assume_unique=True, return_indices=True,
                )  # fmt: skip
                if len(shared):
                    expected = _cell_indices_and_attempt_counts(
                        self.latest_run_counts or self.baseline, base
                    )[1]
                    by_series[series] = CandidateAttemptCounts(
                        cells[shared], attempts[shared], expected[base_shared],
                        np.delete(attempts, shared),
                    )  # fmt: skip
        for plan in self._groups_planned_with_same_attempts(list(by_series)):
            parts = {series: by_series[series] for series in plan}
            complete = all(part.has_expected_attempts for part in parts.values())
            if not complete and (
                declared is not None or not _are_proportional_or_equal(parts.values())
            ):
                by_series |= {
                    s: replace(part, looks_planned=part.has_expected_attempts)
                    for s, part in parts.items()
                }
        return by_series

    def _groups_planned_with_same_attempts(
        self, all_series: Sequence[SeriesKey]
    ) -> Iterator[list[SeriesKey]]:
        """Yield lists of series that should have the same number of attempts per task.

        Groups that share tasks, for example temperatures, may have different numbers of attempts.
        """
        for model in dict.fromkeys(series[0] for series in all_series):
            groups = [series for series in all_series if series[0] == model]
            tasks = np.concatenate([self.task_codes_by_candidate[series] for series in groups])
            if len(np.unique(tasks)) == len(tasks):
                yield groups
            else:
                yield from ([series] for series in groups)

    def skipped_and_missing_notes(self, series: SeriesKey) -> list[str]:
        words = skipped_and_missing_phrases(self.counts.read_facts, series)
        base = self.base_series(series)
        if self.baseline is not None and base is not None:
            facts = self.baseline.read_facts
            facts = (
                facts
                if self.baseline_is_other_file
                else replace(facts, skipped_lines=0, empty_file_count=0)
            )
            words += [f"baseline: {reason}" for reason in skipped_and_missing_phrases(facts, base)]
        return words


def attempts_per_task_text(numbers: Ints) -> str:
    least, most = int(numbers.min()), int(numbers.max())
    number = plural(most, "attempt")
    return f"{number} per task" if least == most else f"{least:,} to {number} per task"


def _are_proportional_or_equal(parts: Iterable[CandidateAttemptCounts]) -> bool:
    pairs = [
        (part.attempts, part.expected_attempts)
        for part in parts
        if part.expected_attempts is not None
    ]
    attempts, expected = (np.concatenate(numbers) for numbers in zip(*pairs, strict=True))
    same_share = np.all(attempts * expected[0] == expected * attempts[0])
    return bool(same_share or np.all(attempts == attempts[0]))


def _task_codes_by_series(counts: Counts, places: Iterable[int]) -> dict[SeriesKey, Ints]:
    return {counts.series[s]: counts.task_codes[counts.slice_of_series(s)] for s in places}


def _cell_indices_and_attempt_counts(counts: Counts, series: SeriesKey) -> tuple[Ints, Ints]:
    rows = counts.slice_of_series(counts.series.index(series))
    cells, attempts = np.arange(rows.start, rows.stop), counts.n[rows]
    losses = counts.read_facts.missing_outcomes
    model, *groups = series
    if losses is None or model not in losses.models:
        return cells, attempts
    at = losses.row_indices_of_model(model)
    units = [losses.task_and_group_keys[u] for u in losses.task_and_group_key_codes[at]]
    read = dict(zip(units, losses.attempt_counts[at].tolist(), strict=True))
    units_of_tasks = ((counts.tasks[task], *groups) for task in counts.task_codes[rows].tolist())
    return cells, np.maximum(attempts, [read.get(unit, 0) for unit in units_of_tasks])
