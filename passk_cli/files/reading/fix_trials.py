"""Remedies that read: each is tried, so that a printed command does what it says.

A remedy may lead to another question.  It is completed with what drops and mixes nothing by
itself; what it leads to otherwise is left to the reader.
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
# How many questions in a row are answered, and those of which an answer mixes nothing.
_MOST_ROUNDS, _SAFE_QUESTIONS = 4, ("unread-column", "restarting-tasks")


# Answers that count more than what is asked about, and what a command says of them.
_MISSING_FAIL, _REPEATS_COUNT = (
    SuggestedFix({"--missing": "fail"}),
    SuggestedFix({"--duplicates": "keep"}),
)
_ASSUMPTIONS = {
    repr(_MISSING_FAIL): "attempts without an outcome fail",
    repr(_REPEATS_COUNT): "repeats are attempts of their own",
}


# Errors of remedies that are not printed: a column is not there, or not named.
_DEAD_ENDS = ("no-such-column", "no-task-column", "no-outcome-column")


@dataclass(frozen=True)
class FixTrials:
    """Remedies that are tried on the data of an error.

    read : reads with a request.  small : whether reading once more takes no time that matters.
    """

    request: Request
    read: Callable[[Request], Counts]
    is_quick: bool = True

    def counts(self, settle: SuggestedFix) -> Counts | PasskError:
        """The counts that a remedy reads, or the error it leads to."""
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

    def follow(
        self, settle: SuggestedFix, rounds: int = _MOST_ROUNDS, *, mixing: bool = True
    ) -> tuple[SuggestedFix, Counts | PasskError]:
        """A remedy with the answers to what it leads to, and what that reads.

        mixing : whether settings are pooled or split without a question.
        """
        counts = self.counts(settle)
        unsuited = isinstance(counts, _UnsuitableCounts) or rounds == 1
        if not isinstance(counts, PasskError) or unsuited:
            return settle, counts
        for way in _answers(settle, counts) if mixing or counts.name in _SAFE_QUESTIONS else ():
            extended = replace(
                settle.merged(way), why=_joined_reasons(settle.why, _ASSUMPTIONS.get(repr(way), ""))
            )
            longer, read = self.follow(extended, rounds - 1, mixing=mixing)
            if not isinstance(read, PasskError) or isinstance(read, _UnsuitableCounts):
                return longer, read
        return settle, counts

    def doubt(self, counts: Counts | PasskError) -> str:
        """What makes counts doubtful: all attempts end alike, or are one task; "" if nothing does.

        A file of failures only, or a column that never varies, is rarely what was meant.
        """
        if isinstance(counts, PasskError) or counts.n.sum() < 2:
            return ""
        if len(counts.tasks) == 1:
            return "all attempts are one task"
        passed, attempts = int(counts.c.sum()), int(counts.n.sum())
        ends = {0: "every attempt fails", attempts: "every attempt passes"}
        return "" if self.request.scores_only else ends.get(passed, "")

    def with_working_fixes(self, error: DataError) -> PasskError:
        """The error with the remedies that read, each with the answers to what it leads to.

        If what remedies read does not suit the question, the error that says so.  If each remedy of
        settings leads to the question of what passes, that question.
        """
        working: dict[str, SuggestedFix] = {}
        unsuited: PasskError | None = None
        following: list[PasskError | None] = []
        for settle in error.settles:
            if is_open(settle):
                working[repr(settle)] = settle
                continue
            longer, read = self.follow(settle)
            following.append(read if isinstance(read, PasskError) else None)
            if isinstance(read, _UnsuitableCounts):
                unsuited = read.reason
            elif not isinstance(read, PasskError) or read.name not in (error.name, *_DEAD_ENDS):
                complete_fix = longer if not isinstance(read, PasskError) else settle
                way = replace(complete_fix, why=_joined_reasons(complete_fix.why, self.doubt(read)))
                working.setdefault(repr(self.request.with_fix(way)), way)
        if unsuited is not None and not any(settle.complete for settle in working.values()):
            return unsuited
        first = next(iter(following), None) if error.name in _SETTING_ERRORS else None
        if first is not None and {
            error_after_fix and error_after_fix.name for error_after_fix in following
        } == {"bad-outcome"}:
            return first
        return error.with_changes(type(error), settles=tuple(working.values()))


class _UnsuitableCounts(PasskError):
    """Counts that a question has no answer for; reason : the error that says so."""

    def __init__(self, reason: PasskError) -> None:
        super().__init__(reason.problem, name=reason.name)
        self.reason = reason


def _joined_reasons(*reasons: str) -> str:
    """Reasons of a command, as its comment has them: "keeps them apart; every attempt fails"."""
    return "; ".join(filter(None, reasons))


def is_open(settle: SuggestedFix) -> bool:
    """Whether a remedy is another command's, labels files, or leaves something to the reader."""
    return bool(settle.command or settle.labels) or not settle.complete


def size_text(counts: Counts) -> str:
    """How much is read: "reads 30 tasks × 1 attempt by 4 models"."""
    low, high = int(counts.n.min()), int(counts.n.max())
    attempts = plural(low, "attempt") if low == high else f"{low:,} to {high:,} attempts"
    models = len({model for model, *_ in counts.series})
    by = f" by {plural(models, 'model')}" if models > 1 else ""
    return f"reads {plural(len(counts.tasks), 'task')} × {attempts}{by}"


def _answers(settle: SuggestedFix, error: PasskError) -> list[SuggestedFix]:
    """The answers to the question that a remedy leads to, without those that take it back."""
    model_option = "--field" if "model" in settle.options.get("--field", {}) else ""
    kind = next((name for name in ("--pool", "--by") if name in settle.options), model_option)
    if error.name == "missing-outcome" and "--missing" not in settle.options:
        return [_MISSING_FAIL] if kind else []
    if error.name == "duplicate-attempts":
        return [_REPEATS_COUNT] if kind else []
    ways = [way for way in error.settles if not is_open(way) and _adds(settle, way)]
    return sorted(ways, key=lambda way: kind not in way.options)[:2]


def _adds(settle: SuggestedFix, addition: SuggestedFix) -> bool:
    """Whether another remedy chooses no outcome and no rows, and gives no option of the first
    another value."""
    merged = settle.merged(addition).options
    if {"--outcome", "--where"} & addition.options.keys() or "outcome" in addition.options.get(
        "--field", {}
    ):
        return False
    return all(merged[name] == value or not isinstance(value, str)
               for name, value in settle.options.items())  # fmt: skip
