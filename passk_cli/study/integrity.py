"""Integrity checks, which look for signs that a submission to a benchmark was copied or
doctored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from passk_cli.arrays import Ints, group_pairs
from passk_cli.inference.integrity import (
    FLAG_LEVEL,
    ClosestPartners,
    ConstantOutcomeTasksTest,
    EqualTextsTest,
    SelectiveOmissionTest,
    closest_partners,
    constant_outcome_tasks_test,
    equal_texts_test,
    selective_omission_test,
)
from passk_cli.inference.stopping import (
    FIRST_PASS,
    ONCE_PASSED,
    REPLACED,
    OptionalStoppingEvidence,
    detect_optional_stopping,
)
from passk_cli.outcomes.counts import Counts
from passk_cli.report.phrases import plural
from passk_cli.study.values import SeriesKey

# The integrity checks need at least MIN_SUBMISSIONS submissions. With only two submissions, easy
# tasks cannot be distinguished from copying.
MIN_SUBMISSIONS = 3
# passk compares columns with the roles in COMPARED_TEXT_ROLES between submissions, in order of
# preference.
COMPARED_TEXT_ROLES = ("solution", "answer")
AGREEMENT, EQUAL_TEXTS, MISSING = "agreement", "equal texts", "missing attempts"
STOPPED, CERTAIN = "stopped tasks", "certain tasks"
# passk computes a p-value only if at least the share _MIN_EQUAL_TEXT_SHARE_FOR_TEST of all compared
# texts is equal.
_MIN_EQUAL_TEXT_SHARE_FOR_TEST = 0.1
# Submissions with a p-value below _MAX_P_TO_LIST_SUBMISSION_FIRST are listed before the original of
# a copy.
_MAX_P_TO_LIST_SUBMISSION_FIRST = 0.05
_PHRASE_BY_STOPPING = {
    FIRST_PASS: "stops at the first pass",
    ONCE_PASSED: "stops after a pass",
    REPLACED: "replaces failed attempts by retries",
}


@dataclass(frozen=True, eq=False)
class SubmissionBoard:
    """The submissions to one benchmark, with the results of the integrity checks.

    counts : the counts of the submissions.
    read_texts : a function that reads the counts with solutions or answers, or None.
    """

    counts: Counts
    read_texts: Callable[[], Counts | None] | None

    def _matrix(self, values: Ints) -> Ints:
        matrix = np.zeros((len(self.counts.series), len(self.counts.tasks)), dtype=np.int64)
        matrix[self.counts.series_codes, self.counts.task_codes] = values
        return matrix

    @cached_property
    def n(self) -> Ints:
        """The number of attempts of each submission at each task, with the shape (submissions ×
        tasks)."""
        return self._matrix(self.counts.n)

    @cached_property
    def c(self) -> Ints:
        """The number of passes of each submission at each task, with the shape (submissions ×
        tasks)."""
        return self._matrix(self.counts.c)

    @cached_property
    def most_agreeing_partners(self) -> ClosestPartners:
        """For each submission, the other submission with the most equal outcomes."""
        return closest_partners(self.n, self.c)

    @cached_property
    def certain_task_counts(self) -> ConstantOutcomeTasksTest:
        """For each submission, the number of tasks with a pass rate of 0 or 1."""
        return constant_outcome_tasks_test(self.n, self.c)

    @cached_property
    def missing_attempts_test(self) -> SelectiveOmissionTest:
        """For each submission, the number of missing attempts that most other submissions have."""
        return selective_omission_test(self.n, self.c)

    @cached_property
    def optional_stopping(self) -> list[OptionalStoppingEvidence | None]:
        """For each submission, how sampling stopped because of outcomes, or None if sampling did
        not stop because of outcomes."""
        return [*map(self._stopping_of_submission, range(len(self.counts.series)))]

    def _stopping_of_submission(self, place: int) -> OptionalStoppingEvidence | None:
        rows, numbers = self.counts.slice_of_series(place), self.counts.attempt_number_facts
        numbering = (
            ()
            if numbers is None
            else (numbers.attempts_including_gaps[rows], numbers.last_attempt_outcomes[rows])
        )
        result = detect_optional_stopping(self.counts.n[rows], self.counts.c[rows], *numbering)
        number = len(self.counts.series)
        return (
            result
            if result is not None and result.max_data_probability_if_n_fixed * number < FLAG_LEVEL
            else None
        )

    @cached_property
    def most_equal_text_partners(self) -> EqualTextsTest | None:
        """For each submission, the other submission with the most equal texts.  The value is None
        if the data contains no texts."""
        counts = self.read_texts() if self.read_texts is not None else None
        role = next(
            (r for r in COMPARED_TEXT_ROLES if counts is not None and r in counts.attempts), ""
        )
        if counts is None or not role:
            return None
        texts, places = counts.attempts[role], {s: at for at, s in enumerate(self.counts.series)}
        submission_codes = np.array([places.get(series, -1) for series in counts.series])
        submission, task = (
            submission_codes[counts.series_codes[texts.row_cell_indices]],
            counts.task_codes[texts.row_cell_indices],
        )
        rows = []
        for passed, times in ((1, texts.pass_count), (0, texts.count - texts.pass_count)):
            present = (times > 0) & (texts.value >= 0) & (submission >= 0)
            verdict = np.full(len(task), passed)
            rows.append(np.stack([submission, task, verdict, texts.value, times])[:, present])
        owner, tasks, verdicts, values, numbers = np.concatenate(rows, axis=1)
        return equal_texts_test(owner, tasks, verdicts, values, numbers, len(self.counts.series))

    @cached_property
    def submissions(self) -> list[Submission]:
        """The submissions, sorted by the smallest p-value of each submission.

        If two submissions agree more often than chance explains, only the probable copy is sorted
        by the p-value of the agreement.  The outcomes of the copy fit the difficulty of the tasks
        less well than the outcomes of the original.  The probable original comes after all
        submissions with a small p-value.
        """
        unsorted = [Submission(series, self, at) for at, series in enumerate(self.counts.series)]
        return sorted(unsorted, key=lambda submission: (*submission.sort_key, submission.series))


class SubmissionRemark(NamedTuple):
    """A remark about a submission, for example that 594 of 600 outcomes agree with another model.

    observed_count, total : the number of tasks, attempts or texts that the remark is about, and the
        number of all tasks, attempts or texts.
    p : p-value, adjusted over all submissions or pairs, or None if `observed_count` is not tested.
    expected : the number that is expected by chance, or None if this number is not known.
    other_submission : name of the other submission, if the remark is about a pair.
    is_in_remark_of_other_submission : whether a remark about the submission `other_submission`
        already describes the same pair.
    """

    observed_count: int
    total: int
    words: str
    p: float | None
    expected: float | None = None
    other_submission: str = ""
    is_in_remark_of_other_submission: bool = False

    @property
    def is_remarkable(self) -> bool:
        """Whether honest submissions almost never get this remark."""
        return self.p is not None and self.p < FLAG_LEVEL


@dataclass(frozen=True, eq=False)
class Submission:
    """One submission of a board, with remarks about how it differs from other submissions."""

    series: SeriesKey
    board: SubmissionBoard
    series_index: int

    @cached_property
    def remarks_by_name(self) -> dict[str, SubmissionRemark]:
        """A dict that maps the name of each remark, for example "agreement", to the remark."""
        return dict(self._remarks_by_name())

    @property
    def remarks(self) -> list[str]:
        """The sentences of the remarks that honest submissions almost never get."""
        return [figure.words for figure in self.remarks_by_name.values() if figure.is_remarkable]

    @property
    def sort_key(self) -> tuple[int, float]:
        """The rank and the smallest p-value of the submission, by which submissions are sorted.

        The rank is 0 if the smallest p-value is below 0.05.  Otherwise, the rank is 1 if the
        submission has a remark that honest submissions almost never get, and 2 without such a
        remark.  The smallest p-value ignores a remark about a pair if the probable copy in the pair
        already has this remark.
        """
        p_values = [
            f.p
            for f in self.remarks_by_name.values()
            if f.p is not None and not f.is_in_remark_of_other_submission
        ]
        p = min(p_values, default=1.0)
        return (0 if p < _MAX_P_TO_LIST_SUBMISSION_FIRST else 1 if self.remarks else 2), p

    def _remarks_by_name(self) -> Iterator[tuple[str, SubmissionRemark]]:
        at, board = self.series_index, self.board
        names = [series[0] for series in board.counts.series]
        pair = board.most_agreeing_partners
        partner, number, total = (
            int(a[at]) for a in (pair.partner, pair.agreeing_outcomes, pair.compared_outcome_counts)
        )
        expected, outcomes = float(pair.expected_agreeing_outcomes[at]), plural(total, "outcome")
        words = (
            f"agrees with {names[partner]} on {number:,} of {outcomes}; {expected:,.0f} expected"
        )
        second = bool(pair.has_no_worse_difficulty_fit[at]) and int(pair.partner[partner]) == at
        p = float(pair.p[at])
        yield AGREEMENT, SubmissionRemark(number, total, words, p, expected, names[partner], second)
        texts = board.most_equal_text_partners
        if texts is not None and texts.attempts_with_text[at]:
            closest, number, total = (
                int(a[at])
                for a in (texts.partner, texts.equal_text_attempts, texts.attempts_with_text)
            )
            name = names[closest] if number else ""
            words = f"shares {number:,} of {plural(total, 'text')} with {name}"
            chance = (
                float(texts.p[at]) if number >= _MIN_EQUAL_TEXT_SHARE_FOR_TEST * total else None
            )
            second = second and p < FLAG_LEVEL and closest == partner
            yield EQUAL_TEXTS, SubmissionRemark(number, total, words, chance, None, name, second)
        losses = board.missing_attempts_test
        if number := int(losses.missing_attempts[at]):
            words = f"lacks {number:,} of {plural(losses.usual_attempt_total, 'attempt')}"
            words += ", mostly at tasks that other submissions fail"
            yield (
                MISSING,
                SubmissionRemark(number, losses.usual_attempt_total, words, float(losses.p[at])),
            )
        if (end := board.optional_stopping[at]) is not None:
            tasks, chance = (
                int((board.n[at] > 0).sum()),
                end.max_data_probability_if_n_fixed * len(names),
            )
            words = (
                f"{_PHRASE_BY_STOPPING[end.kind]} at {end.short_tasks:,} of {plural(tasks, 'task')}"
            )
            yield STOPPED, SubmissionRemark(end.short_tasks, tasks, words, chance)
        certain = board.certain_task_counts
        if total := int(certain.several_attempt_task_counts[at]):
            number, expected = (
                int(certain.certain_task_counts[at]),
                float(certain.expected_constant_outcome_tasks[at]),
            )
            words = f"passes all or no attempts at {number:,} of {plural(total, 'task')}"
            words += f"; {expected:,.0f} expected"
            yield CERTAIN, SubmissionRemark(number, total, words, float(certain.p[at]), expected)


def submission_boards(
    counts: Counts, texts: Callable[[], Counts | None] | None
) -> list[SubmissionBoard]:
    """One board for each group of the data that has at least three submissions.

    The list is empty if no attempt in the data passes.
    """
    if not counts.c.any():
        return []
    groups = group_pairs((series[1:], place) for place, series in enumerate(counts.series))
    large_boards = []
    for places in groups.values():
        if len(places) >= MIN_SUBMISSIONS:
            stays = np.isin(counts.series_codes, places)
            large_boards.append(
                SubmissionBoard(
                    counts.with_fewer_attempts(counts.n * stays, counts.c * stays), texts
                )
            )
    return large_boards
