"""Which tests are adjusted together, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import ParameterError
from passk_cli.study.comparison import Comparison
from passk_cli.study.paired import FLIPPED, differences_of
from passk_cli.study.rules import ALL, HOLM, MAX_T, PRIMARY, SECONDARY, Rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.inference.differences import Differences
    from passk_cli.study.confidence import Confidence


def adjust(
    groups: Sequence[Sequence[Comparison]], confidence: Confidence, rules: Rules
) -> list[list[Comparison]]:
    """The tested comparisons of each group, each p adjusted with those of its family in the group.

    Errors: ParameterError for max-T where signs may not be flipped together, with the reason.
    """
    families = [family for group in groups for family in _families(group, rules)]
    adjusted: dict[int, Comparison] = {}
    for family, p in zip(families, _together(families, confidence), strict=True):
        for c, each in zip(family.comparisons, p.tolist(), strict=True):
            adjusted[id(c)] = c.having(
                adjusted=each, adjustment=family.adjustment, family=family.name
            )
    return [[adjusted[id(c)] for c in group] for group in groups]


@dataclass(frozen=True)
class _TestFamily:
    """Comparisons that are adjusted together, and how."""

    name: str
    adjustment: str
    comparisons: Sequence[Comparison]


def _families(tested: Sequence[Comparison], rules: Rules) -> list[_TestFamily]:
    if not tested:
        return []
    if rules.family == ALL:
        return [_TestFamily(ALL, _adjustment(tested, rules), tested)]
    metrics: dict[object, list[Comparison]] = {}
    for c in tested:
        metrics.setdefault(c.first.metric, []).append(c)
    return [
        _TestFamily(SECONDARY if number else PRIMARY, _adjustment(of_one, rules), of_one)
        for number, of_one in enumerate(metrics.values())
    ]


def _adjustment(family: Sequence[Comparison], rules: Rules) -> str:
    """The one asked for; else max-T where signs may be flipped in all tests of the family."""
    reason = _why_not_flipped(family)
    if rules.adjust == MAX_T and reason:
        raise ParameterError(f"--adjust {MAX_T}: it flips signs of differences, and {reason}")
    return rules.adjust or (HOLM if reason else MAX_T)


def _together(families: Sequence[_TestFamily], confidence: Confidence) -> list[NDArray[np.float64]]:
    """The p of each family, adjusted."""
    from passk_cli.inference.adjust import ADJUSTMENTS
    from passk_cli.inference.max_t import max_t_of_each

    many = [family.adjustment == MAX_T and len(family.comparisons) > 1 for family in families]
    flipped = iter(
        max_t_of_each(
            [_differences(f.comparisons) for f, several in zip(families, many, strict=True)
             if several],
            resamples=confidence.resamples, seed=confidence.seed,
        )
    )  # fmt: skip
    adjusted: list[NDArray[np.float64]] = []
    for family, several in zip(families, many, strict=True):
        p = np.array([c.p for c in family.comparisons])
        smallest = np.array([c.smallest for c in family.comparisons])
        if family.adjustment != MAX_T:
            p = ADJUSTMENTS[family.adjustment](p, smallest)
        # Suissa and Shuster's p may be larger than that of flips.
        adjusted.append(np.maximum(next(flipped), p) if several else p)
    return adjusted


def _differences(family: Sequence[Comparison]) -> NDArray[np.float64] | Differences:
    """(units × comparisons): over all tasks that some pair shares, 0 where a pair lacks one."""
    first = family[0].tasks
    if all(np.array_equal(c.tasks, first) for c in family):
        return differences_of(family)
    tasks = np.unique(np.concatenate([c.tasks for c in family]))
    differences = np.zeros((len(tasks), len(family)))
    for column, c in enumerate(family):
        differences[np.searchsorted(tasks, c.tasks), column] = c.d
    return differences


def _why_not_flipped(comparisons: Sequence[Comparison]) -> str:
    """Why signs may not be flipped in all of them together, and what to do; "" where they may."""
    holm = "use --adjust holm"
    if any(c.ends for c in comparisons):
        return f"with --missing bounds these are ranges; {holm}"
    if any(c.clusters is not None for c in comparisons):
        first = comparisons[0].tasks
        if not all(np.array_equal(c.tasks, first) for c in comparisons):
            return f"pairs share different tasks of the clusters; {holm}"
    for c in comparisons:
        if c.test == "within-tasks":
            return f"for these tasks attempts are permuted, not signs; {holm}"
        if c.test not in FLIPPED and c.attempts_differ:
            return (
                f"attempts differ between {c.first.name} and {c.second.name}, so the values of"
                f" equal models have different laws; {holm}"
            )
        if c.test not in FLIPPED:
            return f"--test {c.test} does not; leave --test out, or {holm}"
    return ""
