"""Which tests are adjusted together, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import ParameterError
from passk_cli.study.comparison import Comparison
from passk_cli.study.paired import FLIPPED, Answer
from passk_cli.study.rules import ALL, HOLM, MAX_T, PRIMARY, SECONDARY, Rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.study.confidence import Confidence


def adjust(
    answers: Sequence[Answer],
    comparisons: Sequence[Comparison],
    confidence: Confidence,
    rules: Rules,
) -> list[Comparison]:
    """The comparisons with their tests, each p adjusted with those of its family.

    Errors: ParameterError for max-T where signs may not be flipped together, with the reason.
    """
    tested = [
        replace(c, p=answer.p, smallest=answer.smallest, test=answer.name, untested=answer.reason)
        for c, answer in zip(comparisons, answers, strict=True)
    ]
    name = rules.adjust or (HOLM if _why_not_flipped(tested) else MAX_T)
    if name == MAX_T and (reason := _why_not_flipped(tested)):
        raise ParameterError(f"--adjust {MAX_T}: it flips signs of differences, and {reason}")
    families: dict[object, list[int]] = {}
    for place, comparison in enumerate(tested):
        together = None if rules.family == ALL else comparison.first.metric
        families.setdefault(together, []).append(place)
    for number, places in enumerate(families.values()):
        family = ALL if rules.family == ALL else SECONDARY if number else PRIMARY
        adjusted = _together([tested[i] for i in places], name, confidence)
        for i, p in zip(places, adjusted.tolist(), strict=True):
            tested[i] = replace(tested[i], adjusted=p, adjustment=name, family=family)
    return tested


def _together(
    family: Sequence[Comparison], name: str, confidence: Confidence
) -> NDArray[np.float64]:
    """The p of one family, adjusted."""
    from passk_cli.inference.adjust import ADJUSTMENTS

    p = np.array([c.p for c in family])
    smallest = np.array([c.smallest for c in family])
    if name != MAX_T:
        return ADJUSTMENTS[name](p, smallest)
    if len(family) < 2:
        return p
    from passk_cli.inference.max_t import max_t

    adjusted = max_t(_differences(family), resamples=confidence.resamples, seed=confidence.seed)
    # Suissa and Shuster's p may be larger than that of flips.
    larger: NDArray[np.float64] = np.maximum(adjusted, p)
    return larger


def _differences(family: Sequence[Comparison]) -> NDArray[np.float64]:
    """(units × comparisons): over all tasks that some pair shares, 0 where a pair lacks one."""
    from passk_cli.inference.weights import cluster_totals

    if family[0].clusters is not None:
        d = np.stack([c.d for c in family], axis=1)
        return cluster_totals(d, family[0].clusters)[0]
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
