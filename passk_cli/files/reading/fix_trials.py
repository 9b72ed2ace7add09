"""Try suggested fixes on the data, so that every command that an error suggests works.

If the data is still ambiguous after a fix, passk adds options to the fix. If the roles of all
columns are certain, passk adds only options that drop no attempts and mix no settings.
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

# The errors in _DIFFERING_ATTEMPTS_ERROR_NAMES report columns in which attempts at a task differ.
_DIFFERING_ATTEMPTS_ERROR_NAMES = (
    "pooled-settings",
    "unread-column",
    "restarting-tasks",
    "several-verdicts",
)
_MOST_ROUNDS, _SAFE_QUESTIONS = 4, ("unread-column", "restarting-tasks")
_MISSING_AS_FAILURES_FIX = SuggestedFix({"--missing": "fail"})
_KEEP_REPEATS_FIX = SuggestedFix({"--duplicates": "keep"})
_ASSUMPTION_BY_FIX = {
    repr(_MISSING_AS_FAILURES_FIX): "attempts without an outcome fail",
    repr(_KEEP_REPEATS_FIX): "repeats are separate attempts",
}
# passk does not suggest a fix that leads to one of the errors in _FIX_DISQUALIFYING_ERROR_NAMES.
_FIX_DISQUALIFYING_ERROR_NAMES = ("no-such-column", "no-task-column", "no-outcome-column")


@dataclass(frozen=True)
class FixTrials:
    """Tries suggested fixes on the data that caused an error.

    is_data_small : whether the files are small enough to be read completely in a moment.
    """

    request: Request
    counts_reader: Callable[[Request], Counts]
    is_data_small: bool = True

    def counts_with_fix(self, settle: SuggestedFix) -> Counts | PasskError:
        """Read the data with a fix. Return the counts, or the error if passk cannot read the data
        or the command cannot use the counts."""
        request = replace(self.request.with_fix(settle), conversion=None)
        try:
            counts = self.counts_reader(request)
        except PasskError as error:
            return error
        try:
            if request.suitable_counts_check is not None:
                request.suitable_counts_check(counts)
        except PasskError as error:
            return _UnsuitableCountsError(error)
        return counts

    def complete_fix(
        self, settle: SuggestedFix, rounds: int = _MOST_ROUNDS, *, mixing: bool = True
    ) -> tuple[SuggestedFix, Counts | PasskError]:
        """Add options to a fix until the data can be read. Return the fix, together with the counts
        or the last error.

        mixing : whether the added options may pool settings or estimate settings separately.
        """
        counts = self.counts_with_fix(settle)
        unsuited = isinstance(counts, _UnsuitableCountsError) or rounds == 1
        if not isinstance(counts, PasskError) or unsuited:
            return settle, counts
        for way in (
            _next_fixes_to_try(settle, counts) if mixing or counts.name in _SAFE_QUESTIONS else ()
        ):
            extended = replace(
                settle.merged_with(way),
                effect=_joined_fix_comment(settle.effect, _ASSUMPTION_BY_FIX.get(repr(way), "")),
            )
            longer, read = self.complete_fix(extended, rounds - 1, mixing=mixing)
            if not isinstance(read, PasskError) or isinstance(read, _UnsuitableCountsError):
                return longer, read
        return settle, counts

    def doubt_reason(self, counts: Counts | PasskError) -> str:
        """The reason why counts are probably wrong, for example because all attempts pass, or "" if
        there is no such reason."""
        if isinstance(counts, PasskError) or counts.n.sum() < 2:
            return ""
        if len(counts.tasks) == 1:
            return "all attempts are one task"
        passed, attempts = int(counts.c.sum()), int(counts.n.sum())
        ends = {0: "every attempt fails", attempts: "every attempt passes"}
        return "" if self.request.scores_only else ends.get(passed, "")

    def with_working_fixes(self, error: DataError) -> PasskError:
        """Keep the fixes of an error that work, and add the options that these fixes need.

        If the command cannot use the data after any fix, return the error of the command. If every
        fix for different settings leads to an error about unknown outcomes, return that error.
        """
        working: dict[str, SuggestedFix] = {}
        unsuited: PasskError | None = None
        following: list[PasskError | None] = []
        for settle in error.fixes:
            if is_untestable(settle):
                working[repr(settle)] = settle
                continue
            longer, read = self.complete_fix(settle)
            following.append(read if isinstance(read, PasskError) else None)
            if isinstance(read, _UnsuitableCountsError):
                unsuited = read.reason
            elif not isinstance(read, PasskError) or read.name not in (
                error.name,
                *_FIX_DISQUALIFYING_ERROR_NAMES,
            ):
                complete_fix = longer if not isinstance(read, PasskError) else settle
                way = replace(
                    complete_fix,
                    effect=_joined_fix_comment(complete_fix.effect, self.doubt_reason(read)),
                )
                working.setdefault(repr(self.request.with_fix(way)), way)
        if unsuited is not None and not any(settle.is_complete for settle in working.values()):
            return unsuited
        first = (
            next(iter(following), None) if error.name in _DIFFERING_ATTEMPTS_ERROR_NAMES else None
        )
        if first is not None and {
            error_after_fix and error_after_fix.name for error_after_fix in following
        } == {"bad-outcome"}:
            return first
        return error.with_changes(type(error), settles=tuple(working.values()))


class _UnsuitableCountsError(PasskError):
    """The error for counts that a command cannot use.

    reason : the error that the command raised.
    """

    def __init__(self, reason: PasskError) -> None:
        super().__init__(reason.problem, name=reason.name)
        self.reason = reason


def _joined_fix_comment(*reasons: str) -> str:
    """Join reasons into the comment that follows a command, for example "keeps them apart; every
    attempt fails"."""
    return "; ".join(filter(None, reasons))


def is_untestable(settle: SuggestedFix) -> bool:
    """Whether passk cannot test a fix, because the fix uses another command, labels files, or has a
    placeholder."""
    return bool(settle.command or settle.label_by_file) or not settle.is_complete


def size_text(counts: Counts) -> str:
    """The size of the data in words, for example "reads 30 tasks × 1 attempt by 4 models"."""
    low, high = int(counts.n.min()), int(counts.n.max())
    attempts = plural(low, "attempt") if low == high else f"{low:,} to {high:,} attempts"
    models = len({model for model, *_ in counts.series})
    by = f" by {plural(models, 'model')}" if models > 1 else ""
    return f"reads {plural(len(counts.tasks), 'task')} × {attempts}{by}"


def _next_fixes_to_try(settle: SuggestedFix, error: PasskError) -> list[SuggestedFix]:
    model_option = "--field" if "model" in settle.options.get("--field", {}) else ""
    kind = next((name for name in ("--pool", "--by") if name in settle.options), model_option)
    if error.name == "missing-outcome" and "--missing" not in settle.options:
        return [_MISSING_AS_FAILURES_FIX] if kind else []
    if error.name == "duplicate-attempts":
        return [_KEEP_REPEATS_FIX] if kind else []
    ways = [
        way
        for way in error.fixes
        if not is_untestable(way) and _is_compatible_addition(settle, way)
    ]
    return sorted(ways, key=lambda way: kind not in way.options)[:2]


def _is_compatible_addition(settle: SuggestedFix, addition: SuggestedFix) -> bool:
    """Whether `addition` can be added to `settle`. The addition must not select outcomes or rows,
    and must not replace a value in `settle`."""
    merged = settle.merged_with(addition).options
    if {"--outcome", "--where"} & addition.options.keys() or "outcome" in addition.options.get(
        "--field", {}
    ):
        return False
    return all(merged[name] == value or not isinstance(value, str)
               for name, value in settle.options.items())  # fmt: skip
