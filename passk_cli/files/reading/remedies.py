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
_SETTINGS = ("pooled-settings", "unread-column", "restarting-tasks", "several-verdicts")
# How many questions in a row are answered, and those of which an answer mixes nothing.
_ROUNDS, _COMPLETING = 4, ("unread-column", "restarting-tasks")


# Answers that count more than what is asked about, and what a command says of them.
_FAILING, _REPEATED = SuggestedFix({"--missing": "fail"}), SuggestedFix({"--duplicates": "keep"})
_ASSUMED = {
    repr(_FAILING): "attempts without an outcome fail",
    repr(_REPEATED): "repeats are attempts of their own",
}


# Errors of remedies that are not printed: a column is not there, or not named.
_LEADING_AWAY = ("no-such-column", "no-task-column", "no-outcome-column")


@dataclass(frozen=True)
class FixTrials:
    """Remedies that are tried on the data of an error.

    read : reads with a request.  small : whether reading once more takes no time that matters.
    """

    request: Request
    read: Callable[[Request], Counts]
    small: bool = True

    def counts(self, settle: SuggestedFix) -> Counts | PasskError:
        """The counts that a remedy reads, or the error it leads to."""
        wanted = replace(self.request.settled(settle), conversion=None)
        try:
            counts = self.read(wanted)
        except PasskError as error:
            return error
        try:
            if wanted.suits is not None:
                wanted.suits(counts)
        except PasskError as error:
            return _Unsuited(error)
        return counts

    def followed(
        self, settle: SuggestedFix, rounds: int = _ROUNDS, *, mixing: bool = True
    ) -> tuple[SuggestedFix, Counts | PasskError]:
        """A remedy with the answers to what it leads to, and what that reads.

        mixing : whether settings are pooled or split without a question.
        """
        found = self.counts(settle)
        unsuited = isinstance(found, _Unsuited) or rounds == 1
        if not isinstance(found, PasskError) or unsuited:
            return settle, found
        for way in _answers(settle, found) if mixing or found.name in _COMPLETING else ():
            both = replace(
                settle.merged(way), why=_in_words(settle.why, _ASSUMED.get(repr(way), ""))
            )
            longer, read = self.followed(both, rounds - 1, mixing=mixing)
            if not isinstance(read, PasskError) or isinstance(read, _Unsuited):
                return longer, read
        return settle, found

    def doubt(self, counts: Counts | PasskError) -> str:
        """What makes counts doubtful: all attempts end alike, or are one task; "" if nothing does.

        A file of failures only, or a column that never varies, is rarely what was meant.
        """
        if isinstance(counts, PasskError) or counts.n.sum() < 2:
            return ""
        if len(counts.tasks) == 1:
            return "all attempts are one task"
        passed, made = int(counts.c.sum()), int(counts.n.sum())
        ends = {0: "every attempt fails", made: "every attempt passes"}
        return "" if self.request.scores_only else ends.get(passed, "")

    def completed(self, error: DataError) -> PasskError:
        """The error with the remedies that read, each with the answers to what it leads to.

        If what remedies read does not suit the question, the error that says so.  If each remedy of
        settings leads to the question of what passes, that question.
        """
        kept: dict[str, SuggestedFix] = {}
        unsuited: PasskError | None = None
        following: list[PasskError | None] = []
        for settle in error.settles:
            if is_open(settle):
                kept[repr(settle)] = settle
                continue
            longer, read = self.followed(settle)
            following.append(read if isinstance(read, PasskError) else None)
            if isinstance(read, _Unsuited):
                unsuited = read.reason
            elif not isinstance(read, PasskError) or read.name not in (error.name, *_LEADING_AWAY):
                found = longer if not isinstance(read, PasskError) else settle
                way = replace(found, why=_in_words(found.why, self.doubt(read)))
                kept.setdefault(repr(self.request.settled(way)), way)
        if unsuited is not None and not any(settle.complete for settle in kept.values()):
            return unsuited
        first = next(iter(following), None) if error.name in _SETTINGS else None
        if first is not None and {each and each.name for each in following} == {"bad-outcome"}:
            return first
        return error.with_changes(type(error), settles=tuple(kept.values()))


class _Unsuited(PasskError):
    """Counts that a question has no answer for; reason : the error that says so."""

    def __init__(self, reason: PasskError) -> None:
        super().__init__(reason.problem, name=reason.name)
        self.reason = reason


def _in_words(*reasons: str) -> str:
    """Reasons of a command, as its comment has them: "keeps them apart; every attempt fails"."""
    return "; ".join(filter(None, reasons))


def is_open(settle: SuggestedFix) -> bool:
    """Whether a remedy is another command's, labels files, or leaves something to the reader."""
    return bool(settle.command or settle.labels) or not settle.complete


def size(counts: Counts) -> str:
    """How much is read: "reads 30 tasks × 1 attempt by 4 models"."""
    low, high = int(counts.n.min()), int(counts.n.max())
    attempts = plural(low, "attempt") if low == high else f"{low:,} to {high:,} attempts"
    models = len({model for model, *_ in counts.series})
    by = f" by {plural(models, 'model')}" if models > 1 else ""
    return f"reads {plural(len(counts.tasks), 'task')} × {attempts}{by}"


def _answers(settle: SuggestedFix, error: PasskError) -> list[SuggestedFix]:
    """The answers to the question that a remedy leads to, without those that take it back."""
    apart = "--field" if "model" in settle.options.get("--field", {}) else ""
    kind = next((name for name in ("--pool", "--by") if name in settle.options), apart)
    if error.name == "missing-outcome" and "--missing" not in settle.options:
        return [_FAILING] if kind else []
    if error.name == "duplicate-attempts":
        return [_REPEATED] if kind else []
    ways = [way for way in error.settles if not is_open(way) and _adds(settle, way)]
    return sorted(ways, key=lambda way: kind not in way.options)[:2]


def _adds(settle: SuggestedFix, other: SuggestedFix) -> bool:
    """Whether another remedy chooses no outcome and no rows, and gives no option of the first
    another value."""
    both = settle.merged(other).options
    if {"--outcome", "--where"} & other.options.keys() or "outcome" in other.options.get(
        "--field", {}
    ):
        return False
    return all(both[name] == value or not isinstance(value, str)
               for name, value in settle.options.items())  # fmt: skip
