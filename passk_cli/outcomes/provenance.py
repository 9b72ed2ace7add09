"""Provenance: what reading found and decided; notes, `describe` and signatures are made of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from passk_cli.diagnostic import Diagnostic
from passk_cli.outcomes.missing_outcomes import MissingOutcomes
from passk_cli.outcomes.sampled import SampledRows
from passk_cli.suggested_fix import SuggestedFix


@dataclass(frozen=True)
class InputFacts:
    """Account of one input file: its format and the roles of its columns.

    format : how the file is laid out and how that was recognised.
    roles : role (task, outcome, attempt, model, n, c) → the column that plays it.
    unused : columns nothing was read from.
    offered : role → column that is there for what asks for it: score, answer, solution.
    outcomes : those its format offers, where there are several.
    in_path : columns that are not in the file but in its path.
    """

    name: str
    format: str
    roles: dict[str, str]
    unused: tuple[str, ...]
    offered: dict[str, str] = field(default_factory=dict)
    outcomes: tuple[str, ...] = ()
    in_path: tuple[str, ...] = ()


class UnlabelledAttempt(NamedTuple):
    """An attempt without a label, with its places in random orders.

    stratum : its verdict, crossed with whether most verdicts of its task are passes.  place : among
    the `size` of its series and stratum; task_place : of its task; in_task : in its task, of whose
    attempts so many have a label.
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
    """A column, its values in words, and the option by which it plays a role.

    role : "" for a column that may play none, which has no option.
    used : whether it plays the role.  pooled : whether attempts at one task differ in it.
    """

    role: str
    column: str
    option: SuggestedFix | None
    values: str
    used: bool = False
    pooled: bool = False


@dataclass(frozen=True, eq=False)
class ReadFacts:
    """Account of reading, so that nothing happens silently.

    missing : outcomes that were null, and `missing_policy` what became of them.
    losses : the same by model and task; None where nothing is missing.
    duplicates : attempts that came more than once (extra rows), and `duplicates_policy`.
    duplicates_checked : False where no attempt column allows the check.
    unnumbered : attempts without a number in data that numbers its attempts.
    skipped : lines that were not records, left out by --skip-bad; empty_files : the same of files.
    emptied : (model, task) cells whose attempts were all dropped as missing.
    not_understood : outcomes that are neither pass nor fail (only when describing).
    pooled_unnumbered : files that hold attempts of one model and task, without numbers.
    cluster : the column that says which tasks belong together.
    messages : what files say of themselves, and how they were read where that could have been
        otherwise.
    reasons : model → why attempts have no outcome → how many, where files say it.
    runs : model → how many runs of it go on as one, where several and they are not kept apart.
    foreign : files of a folder that hold no results and were passed over.
    without_outcome : files of a folder that do not have the outcome asked for.
    left : files of a folder that may hold results and were left out, each with why.
    columns : every column, those in use first (only when describing).
    where, pool, passes, outcome, records, path : as the request has them.
    named : option and name of the models and tasks that options name → "" where it is in the data,
        else what is near it.
    alias : name in the data → name that it counts as.
    errors : of a judge, about other models or tasks: (passed, all) of labelled attempts that fail,
        and (failed, all) of those that pass; () where it is not told.
    unlabelled : attempts without a label, where some are to be chosen from.
    benchmark, benchmarks : the column that names the benchmark of each task, and task → benchmark,
        where tasks of several are pooled.
    numeric : the --by columns that hold numbers in every file.
    erring : attempts with an error, and how many of them have no outcome; None if not asked for.
    sampled : the order of attempts and groups of tasks in a sample of the rows, if asked for.
    order : tasks as the run was shuffled to take them, where files say it, and all the same.
    """

    inputs: tuple[InputFacts, ...] = ()
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
    numeric: tuple[str, ...] = ()
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
        """The names in the data that an option has."""
        return sorted(
            name
            for (flag, name), suggestion in self.option_names.items()
            if flag == option and not suggestion
        )

    @property
    def varying(self) -> tuple[str, ...]:
        """Columns of settings whose values are pooled, on purpose or with a warning."""
        notes = (s for s in self.messages if s.name == "pooled-settings")
        return (*self.pool, *(str(s.fields["column"]) for s in notes if "column" in s.fields))

    def without_tasks(self, names: Collection[str]) -> ReadFacts:
        """The account of the other tasks: missing outcomes, without their reasons, which no task
        has."""
        erring = self.error_outcomes and self.error_outcomes.without_tasks(names)
        if self.missing_outcomes is None:
            return replace(self, error_outcomes=erring)
        losses = self.missing_outcomes.without_tasks(names)
        missing, lost = losses.missing, losses.missing == losses.attempts
        emptied = int(lost.sum()) if self.emptied else 0
        return replace(self, missing_outcomes=losses, missing=int(missing.sum()), emptied=emptied,
        reasons={},
                       error_outcomes=erring)  # fmt: skip
