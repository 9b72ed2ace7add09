"""What a report of extrapolations says in words: caption and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from passk_cli.estimators.smooth_tail import DOUBT
from passk_cli.inference.extrapolation import FARTHEST
from passk_cli.inference.intervals import NEW_TASKS
from passk_cli.report.model import Note
from passk_cli.report.notes import first_few, plural
from passk_cli.report.signature import span

if TYPE_CHECKING:
    from passk_cli.inference.extrapolation import Extrapolation
    from passk_cli.report.extrapolate import Ahead
    from passk_cli.report.samples import Uncertainty

# Beyond this many times the attempts, what is predicted is mostly the shape of the models.
_FAR = 1000


def families_named(families: Sequence[str]) -> str:
    """ "pass@k, pass^k" """
    return ", ".join(f"{family}k" for family in families)


def caption(lines: Sequence[Ahead], how: Uncertainty) -> str:
    """What was counted, how sure, and what the backtest is."""
    used = [x for x in lines if x.found is not None]
    tasks = span(min(len(x.n) for x in used), max(len(x.n) for x in used))
    n = span(min(int(x.n.min()) for x in used), max(int(x.n.max()) for x in used))
    known = span(*_ends([x.found.known for x in used if x.found is not None]))
    few = span(*_ends([x.found.few for x in used if x.found is not None]))
    asked = "new tasks" if how.population == NEW_TASKS else "these tasks as attempts go on"
    clustered = f", clustered by {how.cluster}" if how.cluster else ""
    return (
        f"{tasks} task{'s' * (tasks != '1')}, {n} attempts each"
        f" · {100 * how.level:g} % intervals for {asked}{clustered}, {how.resamples:,} refits of"
        f" each model · backtest: k = {known} predicted from {few} attempts, minus what was seen"
    )


def _ends(values: Sequence[int]) -> tuple[int, int]:
    return min(values), max(values)


def ahead_notes(lines: Sequence[Ahead], fit: str | None) -> Iterator[Note]:
    """What the predictions rest on, and where they are not to be trusted."""
    yield from _refusals(lines)
    for x in lines:
        if x.found is not None:
            yield from _own_notes(x, x.found)
    settled = _names(x for x in lines if x.found is not None and not x.open)
    if settled:
        yield Note(
            f"{first_few(settled)}: no task is left whose outcome is open; beyond k = n the"
            " estimate is at its bound, and the interval says what the number of tasks allows"
        )
    unreached = _names(x for x in lines if reach_words(x))
    if unreached:
        yield Note(f"{first_few(unreached)}: – at the target's k: not reached by k = {FARTHEST:,}")
    yield _of_intervals(fit)


def _refusals(lines: Sequence[Ahead]) -> Iterator[Note]:
    """One warning per reason, with the models it is said of."""
    for reason in dict.fromkeys(x.reason for x in lines if x.reason):
        names = _names(x for x in lines if x.reason == reason)
        yield Note(f"{first_few(names)}: no prediction: {reason}", "warning")


def _names(lines: Iterable[Ahead]) -> list[str]:
    """Whose lines they are, each once."""
    return list(dict.fromkeys(x.name for x in lines))


def _own_notes(line: Ahead, found: Extrapolation) -> Iterator[Note]:
    """What is special about one series."""
    if found.left_out:
        yield Note(
            f"{line.name}: without {', '.join(found.left_out)}, which cannot be fitted:"
            f" {line.family}k is 0 or 1 at all but one k"
        )
    short = int((line.n < found.known).sum())
    if short:
        yield Note(
            f"{line.name}: {plural(short, 'task')} of {len(line.n):,} with fewer than {found.known}"
            " attempts: continued by the models as the others are beyond theirs, and not in the"
            " backtest"
        )
    if max(line.to) > _FAR * found.known:
        yield Note(
            f"{line.name}: k goes beyond {_FAR:,} times the attempts; there the models' shapes"
            " speak more than the data",
            "warning",
        )


def _of_intervals(fit: str | None) -> Note:
    """What the intervals hold."""
    if fit not in (None, "smooth"):
        return Note(f"--fit {fit}: the intervals hold only as far as this model does", "warning")
    others = "the choice between models, " if fit is None else ""
    return Note(
        f"the intervals hold the noise of fits and tasks, {others}and {100 * DOUBT:.0f} % of"
        " smooth fits in which some tasks that never passed (pass^k: never failed) never will:"
        " no data can refute them"
    )


def reach_words(line: Ahead) -> str:
    """Which limits of the target's k lie beyond the farthest k looked at."""
    reach = line.reach
    if reach is None:
        return ""
    beyond = [
        what
        for what, k in (("estimate", reach.k), ("low", reach.low), ("high", reach.high))
        if k is None
    ]
    return f"{', '.join(beyond)}: not reached by k = {FARTHEST:,}" if beyond else ""
