"""The table of irregular submissions to leaderboards.

The columns of the table show agreement with another model, equal solutions, missing attempts, and
tasks that always pass or always fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from passk_cli.commands.runner import ReadCountsFunction
from passk_cli.errors import PasskError
from passk_cli.files.request import Request
from passk_cli.inference.integrity import FLAG_LEVEL
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import FULL, Column, Table
from passk_cli.study.analysis import Analysis
from passk_cli.study.integrity import (
    AGREEMENT,
    CERTAIN,
    COMPARED_TEXT_ROLES,
    EQUAL_TEXTS,
    MISSING,
    Submission,
    SubmissionBoard,
    submission_boards,
)
from passk_cli.study.section import GROUP_VALUES_COLUMN, MODEL_COLUMN, ReportSection


@dataclass(frozen=True, eq=False)
class LazySubmissions(Sequence[Submission]):
    """The submissions of several leaderboards, computed when the first submission is used."""

    boards: Sequence[SubmissionBoard]

    @cached_property
    def _submissions(self) -> list[Submission]:
        return [submission for board in self.boards for submission in board.submissions]

    def __len__(self) -> int:
        return sum(len(board.counts.series) for board in self.boards)

    def __getitem__(self, at: Any) -> Any:
        return self._submissions[at]


def _observed_count_cell_function(name: str) -> Callable[[Submission], str]:
    def cell(row: Submission) -> str:
        figure = row.remarks_by_name.get(name)
        if figure is None:
            return ""
        words = f"{figure.observed_count:,} of {figure.total:,}"
        return words if figure.expected is None else f"{words}; {figure.expected:,.0f} expected"

    return cell


def _p_value_cell_function(name: str) -> Callable[[Submission], float | None]:
    return lambda row: row.remarks_by_name[name].p if name in row.remarks_by_name else None


class IntegrityTable(ReportSection[Submission]):
    """A row per submission, with the most irregular submission first."""

    title = "Integrity"
    visibility = FULL
    columns = (
        MODEL_COLUMN, GROUP_VALUES_COLUMN,
        Column("remarks", cell_of_record=lambda row: "; ".join(row.remarks),
               meaning=f"Irregularities that chance causes in less than {FLAG_LEVEL:g} of honest"
               " leaderboards on which the same tasks are hard for all models. Models with"
               " strengths in different kinds of tasks cause more irregularities, and related"
               " models agree more than unrelated models. A remark is therefore a reason to look"
               " closer, not a verdict."),
        Column("agrees most with",
            cell_of_record=lambda row: row.remarks_by_name[AGREEMENT].other_submission,
               meaning="The model that agrees most with the submission, beyond what the difficulty"
               " of the tasks explains."),
        Column("outcomes that agree", cell_of_record=_observed_count_cell_function(AGREEMENT),
               meaning="Number of attempts with the same outcome for both models, and the number"
               " that would agree if the attempts were at different tasks of similar difficulty."),
        Column("p of agreement", "p", cell_of_record=_p_value_cell_function(AGREEMENT),
               meaning="p-value of the agreement compared with the typical agreement of two models,"
               " adjusted for the number of pairs."),
        Column("equal texts", cell_of_record=_observed_count_cell_function(EQUAL_TEXTS),
               exists_in_section=lambda section: section.study.read_texts is not None,
               meaning="Number of attempts with the same solution as another model at the same"
               " task, or with the same answer if there are no solutions. Short answers are often"
               " equal, so passk remarks on them only if other models have different answers."),
        Column("missing attempts", cell_of_record=_observed_count_cell_function(MISSING),
               exists_in_section=lambda section: section.has_uneven_attempts,
               meaning="Number of attempts that most models have and the submission lacks."),
        Column("rate 0 or 1", cell_of_record=_observed_count_cell_function(CERTAIN),
               exists_in_section=lambda section: section.has_multiple_attempts,
               meaning="Number of tasks at which all attempts pass or all fail, and the number that"
               " is expected from the pass rate of the submission and the difficulty"
               " of the tasks."),
        Column("p of these tasks", "p", cell_of_record=_p_value_cell_function(CERTAIN),
               exists_in_section=lambda section: section.has_multiple_attempts,
               meaning="p-value of the share of tasks with a pass rate of 0 or 1, compared with the"
               " other models and adjusted for the number of models."),
    )  # fmt: skip

    @classmethod
    def from_study(cls, study: Analysis) -> Self:
        return cls(study, LazySubmissions(submission_boards(study.counts, study.read_texts)))

    @property
    def has_uneven_attempts(self) -> bool:
        counts = self.study.counts
        full = len(counts.series) * len(counts.tasks)
        return len(counts.n) < full or int(counts.n.min()) < int(counts.n.max())

    @property
    def has_multiple_attempts(self) -> bool:
        return int(self.study.counts.n.max()) > 1

    def tables(self) -> Iterator[Table]:
        if len(self.records):
            yield self.table(self.records, self.title)


def text_reader(
    counts: Counts, request: Request, read: ReadCountsFunction
) -> Callable[[], Counts | None] | None:
    """A function that reads attempts with solutions, or with answers if there are no solutions.

    The result is None if some files lack solutions and some files lack answers.
    """
    inputs = counts.read_facts.file_readings
    roles = [
        role
        for role in COMPARED_TEXT_ROLES
        if inputs and all(role in file.command_data_column_by_role for file in inputs)
    ]
    if not roles:
        return None

    def texts() -> Counts | None:
        try:
            return read(replace(request, attempts=(roles[0],)))
        except PasskError:
            # An error while reading solutions must not stop the comparison.
            return None

    return texts
