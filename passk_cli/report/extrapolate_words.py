"""What a report of extrapolations says in words: caption and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from passk_cli.estimators.smooth_tail import DOUBT
from passk_cli.inference.extrapolation import FARTHEST, stopped_at_success
from passk_cli.inference.intervals import NEW_TASKS
from passk_cli.report.model import Note
from passk_cli.report.notes import plural
from passk_cli.report.signature import span

if TYPE_CHECKING:
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
    stopped = [x.name for x in lines if stopped_at_success(x.n, x.c)]
    if stopped:
        yield Note(
            f"{_few(stopped)}: only tasks that passed have fewer attempts, as if sampling stopped"
            " at success; then n depends on the outcome, and pass@k for k up to n and the backtest"
            " are biased",
            "warning",
        )
    yield from _each(lines, lambda x: x.reason, "no prediction")
    for x in lines:
        if x.found is not None and x.found.left_out:
            yield Note(
                f"{x.name}: without {', '.join(x.found.left_out)}, which cannot be fitted:"
                f" {x.family}k is 0 or 1 at all but one k"
            )
        short = 0 if x.found is None else int((x.n < x.found.known).sum())
        if short and x.found is not None:
            yield Note(
                f"{x.name}: {plural(short, 'task')} of {len(x.n):,} with fewer than"
                f" {x.found.known} attempts: continued by the models as the others are beyond"
                " theirs, and not in the backtest"
            )
    settled = [x.name for x in lines if x.found is not None and not x.open]
    if settled:
        yield Note(
            f"{_few(settled)}: no task is left whose outcome is open; beyond k = n the estimate is"
            " at its bound, and the interval says what the number of tasks allows"
        )
    far = [x.name for x in lines if x.found is not None and max(x.to) > _FAR * x.found.known]
    if far:
        yield Note(
            f"{_few(far)}: k goes beyond {_FAR:,} times the attempts; there the models' shapes"
            " speak more than the data",
            "warning",
        )
    unreached = [x.name for x in lines if reach_words(x)]
    if unreached:
        yield Note(f"{_few(unreached)}: – at the target's k: not reached by k = {FARTHEST:,}")
    if fit is None or fit == "smooth":
        others = "the choice between models, " if fit is None else ""
        yield Note(
            f"the intervals hold the noise of fits and tasks, {others}and {100 * DOUBT:.0f} % of"
            " smooth fits in which some tasks that never passed (pass^k: never failed) never will:"
            " no data can refute them"
        )
    else:
        yield Note(f"--fit {fit}: the intervals hold only as far as this model does", "warning")


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


def _each(lines: Sequence[Ahead], told: Callable[[Ahead], str], what: str) -> Iterator[Note]:
    """One warning per reason, with the models it is said of."""
    said: dict[str, list[str]] = {}
    for x in lines:
        if told(x) and x.name not in said.setdefault(told(x), []):
            said[told(x)].append(x.name)
    for reason, names in said.items():
        yield Note(f"{_few(names)}: {what}: {reason}", "warning")


def _few(names: Sequence[str]) -> str:
    names = list(dict.fromkeys(names))
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
