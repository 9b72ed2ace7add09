"""Try suggested fixes on the data, so that every printed command works.

A fix may lead to another question. It is completed with options that drop and mix nothing. All
other questions are left to the user.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from passk_cli.errors import DataError, PasskError
from passk_cli.files.request import Request
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import plural

if TYPE_CHECKING:
    from passk_cli.outcomes.counts import Counts

# Questions about columns that distinguish attempts.
_SETTING_ERRORS = ("pooled-settings", "unread-column", "restarting-tasks", "several-verdicts")
# The maximum number of questions that are answered in a row, and questions whose answers mix
# nothing.
_MOST_ROUNDS, _SAFE_QUESTIONS = 4, ("unread-column", "restarting-tasks")


# Answers that affect more than the question, and the comments of their commands.
_MISSING_FAIL, _REPEATS_COUNT = (
    SuggestedFix({"--missing": "fail"}),
    SuggestedFix({"--duplicates": "keep"}),
)
_ASSUMPTIONS = {
    repr(_MISSING_FAIL): "attempts without an outcome fail",
    repr(_REPEATS_COUNT): "repeats are attempts of their own",
}


# A fix with one of these errors is not printed, because a column does not exist or has no name.
_DEAD_ENDS = ("no-such-column", "no-task-column", "no-outcome-column")


@dataclass(frozen=True)
class FixTrials:
    """Tries fixes on the data of an error.

    read : a function that reads with a request. is_quick : whether reading again takes hardly any
        time.
    """

    request: Request
    read: Callable[[Request], Counts]
    is_quick: bool = True

    def counts(self, settle: SuggestedFix) -> Counts | PasskError:
        """The counts that a fix reads, or the error that it leads to."""
        request = replace(self.request.with_fix(settle), conversion=None)
        try:
            counts = self.read(request)
        except PasskError as error:
            return error
        try:
            if request.suits is not None:
                request.suits(counts)
        except PasskError as error:
            return _UnsuitableCounts(error)
        return counts

    def complete_fix(
        self, settle: SuggestedFix, rounds: int = _MOST_ROUNDS, *, mixing: bool = True
    ) -> tuple[SuggestedFix, Counts | PasskError]:
        """Complete a fix with answers to further questions. Return it with the counts or the error.

        mixing : whether settings may be pooled or split without a question.
        """
        counts = self.counts(settle)
        unsuited = isinstance(counts, _UnsuitableCounts) or rounds == 1
        if not isinstance(counts, PasskError) or unsuited:
            return settle, counts
        for way in (
            _fixes_for_error(settle, counts) if mixing or counts.name in _SAFE_QUESTIONS else ()
        ):
            extended = replace(
                settle.merged(way), why=_joined_reasons(settle.why, _ASSUMPTIONS.get(repr(way), ""))
            )
            longer, read = self.complete_fix(extended, rounds - 1, mixing=mixing)
            if not isinstance(read, PasskError) or isinstance(read, _UnsuitableCounts):
                return longer, read
        return settle, counts

    def doubt_reason(self, counts: Counts | PasskError) -> str:
        """The reason to doubt counts: all attempts have the same outcome, or are one task; else "".

        A file of failures only, or a column that never varies, is rarely the right choice.
        """
        if isinstance(counts, PasskError) or counts.n.sum() < 2:
            return ""
        if len(counts.tasks) == 1:
            return "all attempts are one task"
        passed, attempts = int(counts.c.sum()), int(counts.n.sum())
        ends = {0: "every attempt fails", attempts: "every attempt passes"}
        return "" if self.request.scores_only else ends.get(passed, "")

    def with_working_fixes(self, error: DataError) -> PasskError:
        """The error with the fixes that work, each completed with answers to further questions.

        If the counts of a fix do not suit the question, the error about that is returned. If all
        fixes for settings lead to the question what passes, this question is returned.
        """
        working: dict[str, SuggestedFix] = {}
        unsuited: PasskError | None = None
        following: list[PasskError | None] = []
        for settle in error.settles:
            if is_untestable(settle):
                working[repr(settle)] = settle
                continue
            longer, read = self.complete_fix(settle)
            following.append(read if isinstance(read, PasskError) else None)
            if isinstance(read, _UnsuitableCounts):
                unsuited = read.reason
            elif not isinstance(read, PasskError) or read.name not in (error.name, *_DEAD_ENDS):
                complete_fix = longer if not isinstance(read, PasskError) else settle
                way = replace(
                    complete_fix, why=_joined_reasons(complete_fix.why, self.doubt_reason(read))
                )
                working.setdefault(repr(self.request.with_fix(way)), way)
        if unsuited is not None and not any(settle.is_complete for settle in working.values()):
            return unsuited
        first = next(iter(following), None) if error.name in _SETTING_ERRORS else None
        if first is not None and {
            error_after_fix and error_after_fix.name for error_after_fix in following
        } == {"bad-outcome"}:
            return first
        return error.with_changes(type(error), settles=tuple(working.values()))


class _UnsuitableCounts(PasskError):
    """Counts that do not suit a question. reason : the error of the question."""

    def __init__(self, reason: PasskError) -> None:
        super().__init__(reason.problem, name=reason.name)
        self.reason = reason


def _joined_reasons(*reasons: str) -> str:
    """Join reasons for the comment of a command: "keeps them apart; every attempt fails"."""
    return "; ".join(filter(None, reasons))


def is_untestable(settle: SuggestedFix) -> bool:
    """Whether a fix belongs to another command, labels files, or has a placeholder."""
    return bool(settle.command or settle.labels) or not settle.is_complete


def size_text(counts: Counts) -> str:
    """A text for the size of counts: "reads 30 tasks × 1 attempt by 4 models"."""
    low, high = int(counts.n.min()), int(counts.n.max())
    attempts = plural(low, "attempt") if low == high else f"{low:,} to {high:,} attempts"
    models = len({model for model, *_ in counts.series})
    by = f" by {plural(models, 'model')}" if models > 1 else ""
    return f"reads {plural(len(counts.tasks), 'task')} × {attempts}{by}"


def _fixes_for_error(settle: SuggestedFix, error: PasskError) -> list[SuggestedFix]:
    """The answers to the question that a fix leads to, without answers that undo the fix."""
    model_option = "--field" if "model" in settle.options.get("--field", {}) else ""
    kind = next((name for name in ("--pool", "--by") if name in settle.options), model_option)
    if error.name == "missing-outcome" and "--missing" not in settle.options:
        return [_MISSING_FAIL] if kind else []
    if error.name == "duplicate-attempts":
        return [_REPEATS_COUNT] if kind else []
    ways = [
        way
        for way in error.settles
        if not is_untestable(way) and _is_compatible_addition(settle, way)
    ]
    return sorted(ways, key=lambda way: kind not in way.options)[:2]


def _is_compatible_addition(settle: SuggestedFix, addition: SuggestedFix) -> bool:
    """Whether an additional fix chooses no outcome and no rows, and changes no option of the first
    one.
    """
    merged = settle.merged(addition).options
    if {"--outcome", "--where"} & addition.options.keys() or "outcome" in addition.options.get(
        "--field", {}
    ):
        return False
    return all(merged[name] == value or not isinstance(value, str)
               for name, value in settle.options.items())  # fmt: skip
