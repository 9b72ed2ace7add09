"""Attempts of which it is not known what they took: refused, left out, estimated or bounded.

A missing amount is never 0: the dearest attempts, which ran out of time, are often those without a
price.  Amounts are read as other facts of attempts are (`attempts`); here is what becomes of those
that are missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from passk_cli.arrays import Ints
from passk_cli.errors import DataError
from passk_cli.files.explain import place_without
from passk_cli.files.layout import Batch
from passk_cli.files.request import BOUNDS, Request
from passk_cli.files.roles import UNITS
from passk_cli.message import WARNING, Message, Said
from passk_cli.outcomes.attempts import Attempts
from passk_cli.outcomes.counts import Counts
from passk_cli.text import first_few, plural

NOUNS = {
    "cost": "cost",
    "tokens_in": "count of input tokens",
    "tokens_out": "count of output tokens",
    "tokens": "count of tokens",
    "tokens_cached": "count of cached tokens",
    "duration": "duration",
    "turns": "count of turns",
}
_NEVER_0 = (
    "What an attempt took is not known where the harness wrote nothing, as it often does after a"
    " timeout or a crash. Such attempts may be the dearest, so a missing amount never counts as 0;"
    " --missing-cost decides what becomes of them."
)
MISSING_COSTS_DROPPED = Message(
    "missing-costs-dropped", WARNING,
    "{attempts:attempt} without a {noun} {attempts:is|are} left out, outcomes included: {models}",
    "",
    _NEVER_0 + " With drop their outcomes are left out as well, so that passes and amounts are of"
    " the same attempts. Where failures lose their amounts more often than passes, the pass rate is"
    " too high.",
)  # fmt: skip
MISSING_COSTS_ESTIMATED = Message(
    "missing-costs-estimated", WARNING,
    "{attempts:attempt} without a {noun} {attempts:counts|count} with the mean of the other"
    " attempts at the task: {models}",
    "",
    _NEVER_0 + " With mean each takes the mean of the model's other attempts at its task, which is"
    " too little where the dearest attempts are those without an amount.",
)  # fmt: skip
MISSING_COSTS_BOUNDED = Message(
    "missing-costs-bounded", WARNING,
    "{attempts:attempt} without a {noun} may have taken any amount: {models}", "",
    _NEVER_0 + " With bounds each may have taken nothing or any amount, and numbers are ranges.",
)  # fmt: skip
_SAYING = {
    "drop": MISSING_COSTS_DROPPED,
    "mean": MISSING_COSTS_ESTIMATED,
    BOUNDS: MISSING_COSTS_BOUNDED,
}


@dataclass
class _Lacking:
    """The attempts of a model of which an amount is not known.

    made : all of its attempts.  reasons : why they have none, where files say what became of them.
    """

    made: int = 0
    attempts: int = 0
    passed: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)

    def words(self, model: str) -> str:
        """How many, and of what outcome: "glm 28 of 75 (9 passed, 19 failed; timeout 1)"."""
        outcomes = {"passed": self.passed, "failed": self.attempts - self.passed}
        inside = ", ".join(f"{times:,} {name}" for name, times in outcomes.items() if times)
        reasons = sorted(self.reasons.items(), key=lambda pair: -pair[1])[:3]
        why = ", ".join(f"{reason} {times:,}" for reason, times in reasons)
        whole = "; ".join(filter(None, (inside, why)))
        return f"{model} {self.attempts:,} of {self.made:,} ({whole})"


def settled(
    counts: Counts,
    request: Request,
    batches: Sequence[Batch],
    reasons: Callable[[Sequence[str]], Mapping[str, Counter[str]]],
) -> Counts:
    """The counts after attempts without an amount became what --missing-cost says.

    counts : with Attempts of amounts, NaN where one is not known; where those are to be left out,
        all Attempts are of attempts that have every amount.
    reasons : roles → model → why attempts lack one of them.
    Errors: DataError where nothing was asked, and for a mean of nothing.
    """
    amounts = {role: each for role, each in counts.attempts.items() if role in UNITS}
    cells, policy = len(counts.n), request.missing_cost
    if policy == "drop":
        known = next(iter(amounts.values()))
        n = np.bincount(known.cell, known.count, cells).astype(np.int64)
        c = np.bincount(known.cell, known.passed, cells).astype(np.int64)
        if np.array_equal(n, counts.n):
            return counts
        if not n.any():
            raise _refused(counts, [*amounts], counts.n, counts.c, batches, request, reasons)
        message = _said(counts, [*amounts], counts.n - n, counts.c - c, request, reasons)
        return counts.of_sizes(n, c).saying(message)
    for role, attempts in amounts.items():
        lost = np.isnan(attempts.value)
        if not lost.any():
            continue
        n = np.bincount(attempts.cell, attempts.count * lost, cells).astype(np.int64)
        c = np.bincount(attempts.cell, attempts.passed * lost, cells).astype(np.int64)
        if policy == "error":
            raise _refused(counts, [role], n, c, batches, request, reasons)
        if policy == "mean":
            place = batches[0].sources[0].name
            filled = {**counts.attempts, role: _with_means(attempts, counts, role, place)}
            counts = replace(counts, attempts=filled)
        counts = counts.saying(_said(counts, [role], n, c, request, reasons))
    return counts


def _said(
    counts: Counts,
    roles: Sequence[str],
    lost: Ints,
    passed: Ints,
    request: Request,
    reasons: Callable[[Sequence[str]], Mapping[str, Counter[str]]],
) -> Said:
    """What became of the attempts without an amount."""
    models = _lacking(counts, lost, passed, reasons(roles))
    return _SAYING[request.missing_cost](attempts=int(lost.sum()), noun=_noun(roles), models=models)


def _refused(
    counts: Counts,
    roles: Sequence[str],
    lost: Ints,
    passed: Ints,
    batches: Sequence[Batch],
    request: Request,
    reasons: Callable[[Sequence[str]], Mapping[str, Counter[str]]],
) -> DataError:
    """Error at the first attempt without an amount."""
    models = first_few(_lacking(counts, lost, passed, reasons(roles)))
    problem = f"no {_noun(roles)} ({plural(int(lost.sum()), 'attempt')} in all: {models})"
    remedy = (
        "a missing amount is not 0: leave such attempts out with --missing-cost drop, take the mean"
        " of the task's others with mean, or get ranges with bounds"
    )
    if request.missing_cost == "drop":
        remedy = "none has one; is it the right column?"
    return DataError(place_without(batches, roles, request), problem, remedy, name="missing-cost")


def _noun(roles: Sequence[str]) -> str:
    return " or ".join(NOUNS[role] for role in roles)


def _lacking(
    counts: Counts, lost: Ints, passed: Ints, reasons: Mapping[str, Counter[str]]
) -> list[str]:
    """In words, the models with attempts without an amount, those with most of them first.

    lost, passed : attempts of each cell without one, and how many of those passed.
    """
    models: dict[str, _Lacking] = {}
    for code, (model, *_) in enumerate(counts.series):
        rows = counts.rows_of(code)
        each = models.setdefault(model, _Lacking(reasons=reasons.get(model, {})))
        each.made += int(counts.n[rows].sum())
        each.attempts += int(lost[rows].sum())
        each.passed += int(passed[rows].sum())
    there = [(model, each) for model, each in models.items() if each.attempts]
    return [each.words(model) for model, each in sorted(there, key=lambda m: -m[1].attempts)]


def _with_means(attempts: Attempts, counts: Counts, role: str, place: str) -> Attempts:
    """The attempts where those without an amount have the mean of the others of their cell.

    Errors: DataError at `place` for a cell none of whose attempts has one.
    """
    lost, cells = np.isnan(attempts.value), len(counts.n)
    known = np.bincount(attempts.cell, attempts.count * ~lost, cells)
    value = np.where(lost, 0.0, attempts.value)
    total = np.bincount(attempts.cell, attempts.count * value, cells)
    empty = (np.bincount(attempts.cell, lost, cells) > 0) & (known == 0)
    if empty.any():
        series, task = counts.cells[int(empty.argmax())]
        more = f"; {plural(int(empty.sum()), 'task')} like that" if empty.sum() > 1 else ""
        problem = f"no attempt of {' '.join(series)} at task {task} has a {NOUNS[role]}{more}"
        remedy = "there is no mean to take: use --missing-cost drop or bounds"
        raise DataError(place, problem, remedy, name="missing-cost")
    mean = total / np.maximum(known, 1)
    filled = replace(attempts, value=np.where(lost, mean[attempts.cell], attempts.value))
    # Of equal values there is one row.
    return filled.moved(np.arange(cells), cells)
