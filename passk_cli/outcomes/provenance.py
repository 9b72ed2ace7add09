"""Provenance: how data was read; notes, `describe` and signatures are made from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from passk_cli.diagnostic import Diagnostic
from passk_cli.outcomes.missing_outcomes import MissingOutcomes
from passk_cli.outcomes.sampled import SampledRows
from passk_cli.suggested_fix import SuggestedFix


@dataclass(frozen=True)
class FileReading:
    """How one input file was read: its format and the roles of its columns.

    format : the layout of the file and how it was recognised.
    roles : role (task, outcome, attempt, model, n, c) → its column.
    unused : columns from which nothing was read.
    offered : role → column with a value that can be requested: score, answer, solution.
    outcomes : the outcomes that the format offers, if there are several.
    in_path : columns that come from the path of the file.
    """

    name: str
    format: str
    roles: dict[str, str]
    unused: tuple[str, ...]
    offered: dict[str, str] = field(default_factory=dict)
    outcomes: tuple[str, ...] = ()
    in_path: tuple[str, ...] = ()


class UnlabelledAttempt(NamedTuple):
    """An attempt without a label, with its positions in random orders.

    stratum : its verdict, crossed with whether most attempts at its task pass.  place : its
        position
    among the `size` attempts of its series and stratum.  task_place : the position of its task.
    in_task : its position in the task.  labelled : how many attempts at the task have a label.
    """

    series: tuple[str, ...]
    task: str
    attempt: str | None
    stratum: int
    place: int
    size: int
    task_place: int
    in_task: int
    labelled: int


class ColumnChoice(NamedTuple):
    """A column, its values in words, and the option that gives it a role.

    role : "" for a column that may have no role and therefore no option.
    used : whether it has the role.  pooled : whether attempts at one task differ in it.
    """

    role: str
    column: str
    option: SuggestedFix | None
    values: str
    used: bool = False
    pooled: bool = False


@dataclass(frozen=True, eq=False)
class ReadFacts:
    """How the data was read, so that every decision can be reported.

    missing : number of missing outcomes.  missing_policy : how they were treated.
    missing_outcomes : the same by model and task; None if nothing is missing.
    duplicates : extra rows of repeated attempts.  duplicates_policy : how they were treated.
    duplicates_checked : False if no attempt column allows the check.
    unnumbered : attempts without a number, if other attempts have numbers.
    skipped : lines that are not records, left out by --skip-bad.  empty_files : files without
        records.
    emptied : (model, task) cells that lost all attempts because their outcomes are missing.
    not_understood : outcomes that are neither pass nor fail (only for `describe`).
    pooled_unnumbered : files with several attempts at one task by one model, without numbers.
    cluster : the column that names the cluster of a task.
    messages : what files contain about themselves, and decisions that could have been different.
    reasons : model → reason for a missing outcome → number of attempts, if files contain reasons.
    runs : model → number of runs that were joined, if there are several and they were not
        separated.
    non_result_files : files of a folder that contain no results and were skipped.
    without_outcome : files of a folder that do not have the requested outcome.
    left_out_files : files of a folder that may contain results and were left out, with the reason.
    columns : all columns, those with a role first (only for `describe`).
    where, pool, passes, outcome, records, path : values from the request.
    option_names : (option, name) of each model or task that an option names → "" if the data
        contains it, else a similar name.
    alias : name in the data → the name under which it counts.
    judge_errors : error counts of a judge about other models or tasks: (passed, all) for labelled
        attempts that fail, and (failed, all) for those that pass; () if unknown.
    unlabelled : attempts without a label, if some can be selected for labelling.
    benchmark, benchmarks : the column that names the benchmark of each task, and task → benchmark,
        if the tasks come from several benchmarks.
    numeric : the --by columns that contain numbers in every file.
    error_outcomes : attempts with an error, and how many of them have no outcome; None if not
        requested.
    sampled : the order of attempts and groups of tasks in a sample of the rows, if requested.
    order : tasks in the shuffled order in which the run took them, if all files contain the same
        one.
    """

    inputs: tuple[FileReading, ...] = ()
    missing: int = 0
    missing_policy: str = "error"
    missing_outcomes: MissingOutcomes | None = None
    duplicates: int = 0
    duplicates_policy: str = "error"
    duplicates_checked: bool = True
    unnumbered: int = 0
    skipped: int = 0
    empty_files: int = 0
    emptied: int = 0
    not_understood: int = 0
    numeric_groups: tuple[str, ...] = ()
    pooled_unnumbered: tuple[str, ...] = ()
    columns: tuple[ColumnChoice, ...] = ()
    where: str = ""
    pool: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    outcome: str = ""
    records: str = ""
    path: str = ""
    cluster: str = ""
    threshold: float | None = None
    thresholds: tuple[float, ...] = ()
    messages: tuple[Diagnostic, ...] = ()
    reasons: dict[str, dict[str, int]] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    non_result_files: tuple[str, ...] = ()
    without_outcome: tuple[str, ...] = ()
    left_out_files: tuple[str, ...] = ()
    option_names: Mapping[tuple[str, str], str] = field(default_factory=dict)
    alias: Mapping[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    error_outcomes: MissingOutcomes | None = None
    judge_errors: tuple[tuple[int, int], ...] = ()
    unlabelled: tuple[UnlabelledAttempt, ...] = ()
    benchmark: str = ""
    benchmarks: Mapping[str, str] = field(default_factory=dict)
    sampled: SampledRows | None = None

    def names_of(self, option: str) -> list[str]:
        """The names given with an option that are in the data."""
        return sorted(
            name
            for (flag, name), suggestion in self.option_names.items()
            if flag == option and not suggestion
        )

    @property
    def varying(self) -> tuple[str, ...]:
        """Columns of settings with pooled values, with --pool or with a warning."""
        notes = (s for s in self.messages if s.name == "pooled-settings")
        return (*self.pool, *(str(s.fields["column"]) for s in notes if "column" in s.fields))

    def without_tasks(self, names: Collection[str]) -> ReadFacts:
        """The facts without these tasks.

        `reasons` becomes empty, because reasons are not counted per task.
        """
        erring = self.error_outcomes and self.error_outcomes.without_tasks(names)
        if self.missing_outcomes is None:
            return replace(self, error_outcomes=erring)
        losses = self.missing_outcomes.without_tasks(names)
        missing, lost = losses.missing, losses.missing == losses.attempts
        emptied = int(lost.sum()) if self.emptied else 0
        return replace(self, missing_outcomes=losses, missing=int(missing.sum()), emptied=emptied,
        reasons={},
                       error_outcomes=erring)  # fmt: skip
