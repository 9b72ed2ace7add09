"""What the order of attempts shows, in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.inference.order_tests import MOST_POSITIONS
from passk_cli.report.model import Estimate, Note
from passk_cli.report.notes import first_few, plural
from passk_cli.report.ordered import Findings
from passk_cli.report.signature import span

if TYPE_CHECKING:
    from passk_cli.outcomes.model import ReadFacts

DECLINING, IMPROVING, NO_TREND, UNCLEAR = "declining", "improving", "no trend seen", "unclear"
ALIKE, ALTERNATING, UNRELATED = "alike", "alternating", "no link seen"
COPIES, AGREEING, NO_COPIES = "copies?", "agreeing", "none seen"
CANNOT_TELL = "cannot tell"


def trend_word(one: Findings, level: float) -> str:
    """declining, improving, no trend seen, or why neither can be said.

    The test takes any order as likely as any other; where neighbours are alike, a trend is only
    called one when its interval, which holds whatever ties attempts have, leaves out 0 as well.
    """
    p = one.p[0]
    if math.isnan(p):
        return CANNOT_TELL
    if p > level:
        return NO_TREND
    if neighbour_word(one, level) == ALIKE and _holds_zero(one.slope):
        return UNCLEAR
    return DECLINING if one.trend.statistic < 0 else IMPROVING


def neighbour_word(one: Findings, level: float) -> str:
    """Whether neighbouring attempts are alike, alternate, or have no tie that shows."""
    p = one.p[1]
    if math.isnan(p):
        return CANNOT_TELL
    if p > level:
        return UNRELATED
    return ALIKE if one.neighbours.statistic < one.neighbours.mean else ALTERNATING


def copies_word(one: Findings, level: float) -> str:
    """Whether some attempts look like copies of others, or at least agree too often."""
    if one.constant:
        return COPIES
    if math.isnan(one.p[2]):
        return CANNOT_TELL
    if one.p[2] > level:
        return NO_COPIES
    told = one.pairs.adjusted <= level
    return COPIES if bool((told & one.pairs.copied).any()) else AGREEING


def told_pairs(found: Iterable[Findings], level: float) -> Iterator[tuple[Findings, int]]:
    """Pairs of attempts that agree more than chance has it, model by model."""
    for one in found:
        if one.p[2] <= level:
            for i in np.flatnonzero(one.pairs.adjusted <= level).tolist():
                yield one, i


def order_notes(
    facts: ReadFacts, found: Sequence[Findings], level: float, short_tasks: str
) -> list[Note]:
    """What qualifies the numbers: how they were read, model by model, then what holds for all."""
    notes = [Note(text, "warning") for text in _moved(facts)]
    for one in found:
        told = [*_stopped(one), *_trend(one, level), *_neighbours(one, level)]
        notes += [Note(text, "warning") for text in (*told, *_copies(one, level))]
    notes += [Note(text) for text in (*_sizes(found), *_flaws(found))]
    return [*notes, *_short(found, short_tasks)]


def _moved(facts: ReadFacts) -> Iterator[str]:
    """Attempts left out do not leave their place empty."""
    if facts.missing and facts.missing_policy == "drop":
        yield (
            f"{plural(facts.missing, 'attempt')} without an outcome left out: later attempts at"
            " the same task move up a place, so that attempt 1 here may have been the second"
        )


def _stopped(one: Findings) -> Iterator[str]:
    if one.stopped:
        yield (
            f"{one.ordered.name}: attempts stop at the first pass, so that their order cannot be"
            " checked; attempts to the first success stay right"
        )


def _trend(one: Findings, level: float) -> Iterator[str]:
    name, slope, word = one.ordered.name, one.slope, trend_word(one, level)
    points = f"{_points(slope.value or 0.0)} points per attempt"
    if word == UNCLEAR:
        yield (
            f"{name}: what looks like a trend ({points}) may only be the likeness of neighbours:"
            " its interval, which holds whatever ties attempts have, includes 0"
        )
    if word not in (DECLINING, IMPROVING):
        return
    how_often = "less" if word == DECLINING else "more"
    yield (
        f"{name}: later attempts pass {how_often} often ({points}): pass@k and pass^k mix early and"
        " late ones, first@k does not"
    )
    if _holds_zero(slope):
        yield (
            f"{name}: the interval of its trend includes 0 although the test sees one: the test"
            f" is about these tasks, of which {one.mixed} can show a trend, the interval about new"
            " ones"
        )


def _neighbours(one: Findings, level: float) -> Iterator[str]:
    word, lag, name = neighbour_word(one, level), one.lag or 0.0, one.ordered.name
    if word == ALTERNATING:
        yield (
            f"{name}: neighbouring attempts differ more often than chance has it (lag-1"
            f" {_signed(lag)}): outcomes alternate"
        )
    if word == ALIKE:
        text = (
            f"{name}: neighbouring attempts are alike (lag-1 {_signed(lag)}), as those are that"
            " share a session, a cache or a bad hour, or were sorted"
        )
        if one.p[0] <= level:
            alone = one.lag_of_trend or 0.0
            follows = "it may follow from the trend: " if alone >= lag / 2 else ""
            text += f"; {follows}a straight trend alone would bring about {_signed(alone)}"
        yield text


def _copies(one: Findings, level: float) -> Iterator[str]:
    name, n, c = one.ordered.name, one.ordered.n, one.ordered.c
    if one.constant:
        yield (
            f"{name}: not one of {plural(len(n), 'task')} has both passes and failures, although"
            f" {int((c > 0).sum())} pass and {int((c == 0).sum())} fail: attempts are copies (one"
            " seed, cached responses, temperature 0) or every task is certain; either way pass@k"
            " equals pass@1, and n attempts say no more than one"
        )
    pairs = [i for _, i in told_pairs([one], level)]
    copied = [i for i in pairs if one.pairs.copied[i]]
    for which, looks in (
        (copied, "as copies do (one seed, cached responses, a run read twice)"),
        ([] if copied else pairs, "as attempts that share more than the task, if only a pass rate"),
    ):
        if which:
            # The most striking one stands for all.
            i = min(which, key=lambda i: one.pairs.p[i])
            more = f", as {plural(len(which) - 1, 'more pair')} do" if len(which) > 1 else ""
            yield (
                f"{name}: attempts {one.pairs.first[i] + 1} and {one.pairs.second[i] + 1} agree too"
                f" often{more}; they differ on {one.pairs.differ[i]} tasks where"
                f" {one.pairs.expected[i]:.3g} are expected, {looks}"
            )


def _sizes(found: Sequence[Findings]) -> Iterator[str]:
    """What unequal and very many attempts mean."""
    longest = [int(one.ordered.n.max()) for one in found]
    if any(int(one.ordered.n.min()) < most for one, most in zip(found, longest, strict=True)):
        yield (
            "tasks differ in how often they were attempted: rates by attempt are of different"
            " tasks, trends are within tasks, and attempts to the first success count a task until"
            " its last attempt (Kaplan–Meier)"
        )
    if max(longest) > MOST_POSITIONS:
        yield f"pairs of attempts were compared among the first {MOST_POSITIONS:,} only"


def _flaws(found: Sequence[Findings]) -> Iterator[str]:
    """What is special about intervals, once each, with the numbers it is said of."""
    said: dict[str, list[str]] = {}
    for one in found:
        for what, flaw in _flaws_of(one):
            said.setdefault(flaw, []).append(f"{what} of {one.ordered.name}")
    for flaw, which in said.items():
        yield f"{first_few(which)}: {flaw}"


def _flaws_of(one: Findings) -> Iterator[tuple[str, str]]:
    """Which number, and what is special about its interval."""
    told = []
    for rate in one.rates:
        several = "s" * (rate.first != rate.last)
        told.append((f"attempt{several} {span(rate.first, rate.last)}", rate.flaw))
    shown = [] if one.stopped else [("trend", one.slope)]
    for b in one.beside:
        told += zip((f"first@{b.k}", f"pass@{b.k}"), b.flaws, strict=True)
        if b.first.value is not None and not b.difference.reason.startswith("k = n"):
            shown.append((f"first@{b.k} − pass@{b.k}", b.difference))
    told += [(what, estimate.reason) for what, estimate in shown if estimate.low is None]
    yield from ((what, flaw) for what, flaw in told if flaw)


def _short(found: Sequence[Findings], short_tasks: str) -> Iterator[Note]:
    """Which k's some tasks are too short for, model by model."""
    remedy = "" if short_tasks == "drop" else "; --short-tasks drop uses the tasks with n ≥ k"
    for one in found:
        for b in one.beside:
            if b.any.reason:
                state = "empty" if b.any.value is None else "without those tasks"
                told = f"first@{b.k} and pass@{b.k} of {one.ordered.name} {state}: {b.any.reason}"
                yield Note(told + remedy, "warning")


def _holds_zero(slope: Estimate) -> bool:
    """Whether the interval of a slope (two standard errors without one) includes 0."""
    low, high = slope.low, slope.high
    if slope.value is not None and slope.se is not None:
        low, high = slope.value - 2 * slope.se, slope.value + 2 * slope.se
    return low is not None and high is not None and low <= 0.0 <= high


def _points(value: float) -> str:
    return f"{100 * value:+.2g}".replace("-", "−")


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
