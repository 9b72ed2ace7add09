"""Attempts without an outcome: of whom, why, and whether some models lose more than others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from passk_cli.files.request import BOUNDS
from passk_cli.message import Said
from passk_cli.report.model import Note
from passk_cli.report.words import plural

if TYPE_CHECKING:
    from passk_cli.outcomes.losses import Losses
    from passk_cli.outcomes.provenance import ReadFacts

# Two models lose attempts unevenly when a test at this level says so, adjusted over all pairs.
LEVEL = 0.05
# What each policy makes of an attempt without an outcome.
BECAME = {
    "fail": "counted as failures",
    "drop": "left out",
    BOUNDS: "counted both ways",
}
_MODELS_SHOWN = 4


@dataclass(frozen=True)
class Uneven:
    """Two models of which the first loses a larger share of its attempts than the second.

    p : of no difference in the mean share lost per task, adjusted over all pairs of models.
    """

    first: str
    second: str
    p: float


def loss_notes(facts: ReadFacts) -> Iterator[Said]:
    """How many attempts of whom have no outcome and what became of them; a warning where uneven."""
    if not facts.missing or facts.losses is None:
        return
    if became := BECAME.get(facts.missing_policy):
        yield Note(_account(facts, facts.losses, became))
    if became or facts.missing_policy == "error":  # which is only described
        yield from uneven_notes(facts.losses, facts.missing_policy)


def _account(facts: ReadFacts, losses: Losses, became: str) -> str:
    kinds = list(kinds_missing(losses, facts.reasons))
    others = len(kinds) - _MODELS_SHOWN
    more = [f"and {plural(others, 'more model')}"] if others > 0 else []
    text = f"{plural(facts.missing, 'attempt')} without an outcome {became}"
    text += f" ({'; '.join([*kinds[:_MODELS_SHOWN], *more])})"
    if facts.missing_policy == BOUNDS:
        text += (
            ": numbers are ranges, from all of these failing to all passing, and intervals hold"
            " those at both ends"
        )
    return text


def kinds_missing(
    losses: Losses, reasons: Mapping[str, Mapping[str, int]] | None = None
) -> Iterator[str]:
    """Each model that lost attempts, the most first: "b: 41 of 200, of which 41 timeout"."""
    lost = {model: losses.of(model) for model in losses.models}
    for model, (missing, made) in sorted(lost.items(), key=lambda each: (-each[1][0], each[0])):
        if not missing:
            continue
        why = sorted((reasons or {}).get(model, {}).items(), key=lambda each: (-each[1], each[0]))
        kinds = ", ".join(f"{count:,} {reason}" for reason, count in why)
        yield f"{model}: {missing:,} of {made:,}{f', of which {kinds}' if kinds else ''}"


def uneven_notes(losses: Losses, policy: str, label: str = "") -> Iterator[Said]:
    """A warning where two models lose attempts unevenly; the least likely pair named.

    label : of the models that are compared with the others, where only these pairs are looked at.
    """
    pairs = [
        pair
        for pair in uneven_pairs(losses)
        if not label or pair.first.startswith(label) != pair.second.startswith(label)
    ]
    if not pairs:
        return
    first = pairs[0]
    lost = {model: losses.of(model) for model in (first.second, first.first)}
    shares = [f"{name}: {missing:,} of {made:,} missing" for name, (missing, made) in lost.items()]
    others = f"; so for {plural(len(pairs) - 1, 'more pair')} of models" if pairs[1:] else ""
    p = "p < 0.0001" if first.p < 1e-4 else f"p = {first.p:.4f}"
    remedy = "" if policy == BOUNDS else "; --missing bounds shows by how much"
    yield Note(
        f"models lose attempts unevenly ({', '.join(shares)}; {p}{others}): a difference between"
        f" them may come from what is missing{remedy}",
        "warning",
    )


def uneven_pairs(losses: Losses, level: float = LEVEL) -> list[Uneven]:
    """Pairs of models that lose attempts unevenly, the least likely first.

    d_t = share of the attempts at task t that one model lost, less that of the other, over the
    tasks both have.  The test of a mean of 0 is that of `passk compare`, of which one task that
    lost all its attempts makes no alarm.  p is Holm's over all pairs.
    level : of the test, in (0, 1).
    """
    import numpy as np

    from passk_cli.inference.adjust import holm

    tests = [_test(losses, *pair) for pair in combinations(losses.models, 2)]
    if not tests:
        return []
    p = np.array([test.p for test in tests])
    pairs = [
        Uneven(test.first, test.second, float(adjusted))
        for test, adjusted in zip(tests, holm(p), strict=True)
        if adjusted <= level
    ]
    return sorted(pairs, key=lambda pair: (pair.p, pair.first, pair.second))


@dataclass(frozen=True)
class _Test:
    """Two models, the one that loses more first, and the p of no difference between them."""

    first: str
    second: str
    p: float


def _test(losses: Losses, one: str, other: str) -> _Test:
    """The test of a pair; p is 1 where nothing differs or no task is shared."""
    import numpy as np

    from passk_cli.inference.difference import difference_law

    first, second = losses.cells(one), losses.cells(other)
    _, here, there = np.intersect1d(
        losses.unit_codes[first], losses.unit_codes[second], return_indices=True
    )
    first, second = first[here], second[there]
    shares = losses.missing / losses.made
    d = shares[first] - shares[second]
    if not d.any():
        return _Test(one, other, 1.0)
    if d.sum() < 0:
        one, other = other, one
    return _Test(one, other, float(difference_law(d, reach=1.0).p()[0]))
