"""Differences that a few tasks decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import Ints
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.study.comparison import Comparison, difference_samples, match_tasks
from passk_cli.study.confidence import Confidence

# The share of the difference that is left without them, below which they decide it.
_LEFT = 0.5
# Rounding of means.
_NEAR = 1.0 + 1e-9


@dataclass(frozen=True)
class Influence:
    """A significant difference that is none without the tasks that changed most.

    tasks : indices of these ⌈T/100⌉ + 1 tasks.  rest : the mean difference of the others.
    """

    comparison: Comparison
    tasks: Ints
    remaining_difference: float


def decided_by_few(
    comparisons: Sequence[Comparison], confidence: Confidence
) -> Iterator[Influence]:
    """Significant differences that less than half is left of without a few tasks, and no longer so.

    Honest differences lose significance without their largest tasks often (28 % with 13 tasks), but
    half their size rarely (benchmarks/difference.md): hence both.
    """
    from passk_cli.inference.intervals import difference_distributions

    if confidence.population != NEW_TASKS:
        return
    for c in comparisons:
        # Of corrected values the largest are those of labelled tasks.
        if c.hidden[1] is not None or c.missing_bounds or c.ratio:
            continue
        if not c.testable or not c.adjusted <= 1 - confidence.level + 1e-12:
            continue
        count, mean = len(c.tasks), c.difference or 0.0
        few = -(-count // 100) + 1
        if count < few + 2 or c.clusters is not None:
            continue
        least, most = c.first.bounds(confidence)
        # So few tasks cannot carry half of a large difference, whichever they are.
        if (abs(mean) * count - few * (most - least)) / (count - few) > abs(mean) * _LEFT * _NEAR:
            continue
        d = c.d
        order = np.argsort(-np.abs(d), kind="stable")
        remaining_difference = float(d[order[few:]].mean())
        if remaining_difference / mean >= _LEFT:
            continue
        tasks = np.sort(c.tasks[order[few:]])
        ((_, distribution),) = difference_distributions(
            difference_samples(
                [match_tasks(c.first.restrict(tasks), c.second.restrict(tasks))], confidence
            )
        )
        if distribution.p()[0] > c.alpha:
            yield Influence(c, c.tasks[order[:few]], remaining_difference)
