"""Facts about how data was read, for messages, `passk describe` and signatures."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from passk_cli.diagnostic import Diagnostic
from passk_cli.outcomes.missing_outcomes import MissingOutcomeCounts
from passk_cli.outcomes.row_sample import RowSampleFacts
from passk_cli.suggested_fix import SuggestedFix


@dataclass(frozen=True)
class FileFormatAndRoles:
    """How one input file was read: its format and the roles of its columns.

    format : name of the format, and how passk recognised the format.
    roles : role (task, outcome, attempt, model, n, c) → the column that has this role.
    command_data_column_by_role : role (score, answer or solution) → the column with data that a
        command can request.
    """

    name: str
    format: str
    roles: dict[str, str]
    unused_columns: tuple[str, ...]
    command_data_column_by_role: dict[str, str] = field(default_factory=dict)
    outcome_names: tuple[str, ...] = ()
    columns_from_path: tuple[str, ...] = ()


class UnlabelledAttempt(NamedTuple):
    """An attempt without a label, which passk can select at random for labelling.

    stratum : a code that combines the judge's verdict with whether most attempts at the task pass.
    random_position_in_stratum : random position of the attempt in its series and stratum.
    stratum_size : number of attempts in the series and stratum.
    random_task_position : random position of the task among all tasks.
    random_position_in_task : random position of the attempt in its task.
    """

    series: tuple[str, ...]
    task: str
    attempt: str | None
    stratum: int
    random_position_in_stratum: int
    stratum_size: int
    random_task_position: int
    random_position_in_task: int
    task_label_count: int


class DescribedColumn(NamedTuple):
    """A column of the data, with the option that makes passk use the column.

    role : the role that the column could have, or "" if no role fits.
    option_assigning_role : the option that gives the column this role, or None if no role fits.
    value_description : description of the values in the column.
    has_role : whether passk already uses the column in this role.
    varies_within_tasks : whether the column has different values for attempts at the same task.
    """

    role: str
    column: str
    option_assigning_role: SuggestedFix | None
    value_description: str
    has_role: bool = False
    varies_within_tasks: bool = False


@dataclass(frozen=True, eq=False)
class ReadFacts:
    """Everything that passk reports about reading the data, including each decision that passk
    made.

    missing_outcomes : missing outcomes by model and task, or None if no outcome is missing.
    duplicate_count : number of rows that repeat an attempt.  duplicates_policy : value of
        --duplicates.
    duplicates_checked : whether passk checked for duplicates, which is possible if attempts have
        numbers.
    unnumbered_attempts : number of attempts without a number, if other attempts have numbers.
    skipped_lines : number of lines that are not records, which --skip-bad leaves out.
    emptied_cell_count : number of cells (model, task) that were dropped because no attempt has an
        outcome.
    unclear_outcome_count : number of outcomes that are neither pass nor fail (only for `describe`).
    numeric_group_columns : --by columns that contain numbers in every file.
    files_with_unnumbered_repeats : files with several unnumbered attempts by one model at one task.
    described_columns : all columns of the data, beginning with the columns that have a role (only
        for `describe`).
    missing_reasons_by_model : for each model, the number of attempts per reason for a missing
        outcome, if files contain reasons.
    pooled_run_count_by_model : model → number of runs that were pooled, if there are several.
    non_result_files : files of a folder that contain no results and were skipped.
    files_without_outcome : files of a folder that do not have the requested outcome.
    left_out_files : files of a folder that may contain results but were not read, with the reason.
    suggestion_by_option_value : for each option and each name of a model or task in its value, ""
        if the data contains the name, or else a similar name.
    model_aliases : name of a model in the data → name that replaces it.
    tasks_in_random_draw_order : tasks in the order in which they were sampled at random, if the
        files contain this order.
    error_counts_by_model_and_task : number of attempts with an error, and how many of these
        attempts have no outcome.  `error_counts_by_model_and_task` is None if no command requested
        it.
    judge_error_counts : how often a judge erred on other attempts, as two pairs of numbers:
        (passed, all) for attempts with the label fail, and (failed, all) for attempts with the
        label pass. `judge_error_counts` is () if these numbers are unknown.
    unlabelled_attempts : attempts without a label, from which passk can select attempts for
        labelling.
    sampled_rows : order of attempts and groups of tasks in a sample of the rows, if requested.
    """

    file_readings: tuple[FileFormatAndRoles, ...] = ()
    missing_outcome_count: int = 0
    missing_policy: str = "error"
    missing_outcomes: MissingOutcomeCounts | None = None
    duplicate_count: int = 0
    duplicates_policy: str = "error"
    duplicates_checked: bool = True
    unnumbered_attempts: int = 0
    skipped_lines: int = 0
    empty_file_count: int = 0
    emptied_cell_count: int = 0
    unclear_outcome_count: int = 0
    numeric_group_columns: tuple[str, ...] = ()
    files_with_unnumbered_repeats: tuple[str, ...] = ()
    described_columns: tuple[DescribedColumn, ...] = ()
    where_condition: str = ""
    pooled_columns: tuple[str, ...] = ()
    passing_values: tuple[str, ...] = ()
    outcome_column: str = ""
    records_key: str = ""
    path_template: str = ""
    cluster_column: str = ""
    threshold: float | None = None
    thresholds: tuple[float, ...] = ()
    messages: tuple[Diagnostic, ...] = ()
    missing_reasons_by_model: dict[str, dict[str, int]] = field(default_factory=dict)
    pooled_run_count_by_model: dict[str, int] = field(default_factory=dict)
    non_result_files: tuple[str, ...] = ()
    files_without_outcome: tuple[str, ...] = ()
    left_out_files: tuple[str, ...] = ()
    suggestion_by_option_value: Mapping[tuple[str, str], str] = field(default_factory=dict)
    model_aliases: Mapping[str, str] = field(default_factory=dict)
    tasks_in_random_draw_order: tuple[str, ...] = ()
    error_counts_by_model_and_task: MissingOutcomeCounts | None = None
    judge_error_counts: tuple[tuple[int, int], ...] = ()
    unlabelled_attempts: tuple[UnlabelledAttempt, ...] = ()
    benchmark_column: str = ""
    benchmark_by_task: Mapping[str, str] = field(default_factory=dict)
    sampled_rows: RowSampleFacts | None = None

    def option_value_names_in_data(self, option: str) -> list[str]:
        """The names in the value of an option that also occur in the data, for example names of
        tasks."""
        return sorted(
            name
            for (flag, name), suggestion in self.suggestion_by_option_value.items()
            if flag == option and not suggestion
        )

    @property
    def pooled_setting_columns(self) -> tuple[str, ...]:
        """The setting columns that passk pooled, either because of --pool or with a warning."""
        notes = (s for s in self.messages if s.name == "pooled-settings")
        return (
            *self.pooled_columns,
            *(str(s.fields["column"]) for s in notes if "column" in s.fields),
        )

    def without_tasks(self, names: Collection[str]) -> ReadFacts:
        """The facts without the given tasks.  The field `missing_reasons_by_model` becomes empty,
        because passk does not count the reasons for missing outcomes per task.
        """
        erring = (
            self.error_counts_by_model_and_task
            and self.error_counts_by_model_and_task.without_tasks(names)
        )
        if self.missing_outcomes is None:
            return replace(self, error_counts_by_model_and_task=erring)
        losses = self.missing_outcomes.without_tasks(names)
        missing, lost = losses.missing_counts, losses.missing_counts == losses.attempt_counts
        emptied = int(lost.sum()) if self.emptied_cell_count else 0
        return replace(self, missing_outcomes=losses, missing_outcome_count=int(missing.sum()),
            emptied_cell_count=emptied,
        missing_reasons_by_model={},
                       error_counts_by_model_and_task=erring)  # fmt: skip
