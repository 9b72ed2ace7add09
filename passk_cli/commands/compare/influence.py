"""Differences that a few tasks decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import Ints
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.study.comparison import Comparison, difference_samples, match_tasks
from passk_cli.study.confidence import Confidence

# A few tasks decide a difference if a smaller share of it is left without them.
_LEFT = 0.5
# A margin for the rounding of means.
_NEAR = 1.0 + 1e-9


@dataclass(frozen=True)
class FragileDifference:
    """A difference that is significant only because of the tasks that changed most.

    tasks : indices of these ⌈T/100⌉ + 1 tasks.  remaining_difference : the mean difference without
    them.
    """

    comparison: Comparison
    tasks: Ints
    remaining_difference: float


def fragile_differences(
    comparisons: Sequence[Comparison], confidence: Confidence
) -> Iterator[FragileDifference]:
    """Find significant differences that a few tasks decide.

    Without these tasks, less than half of the difference is left, and it is not significant. Sound
    differences often lose significance without their largest tasks (28 % with 13 tasks), but rarely
    half their size (benchmarks/difference.md), so both are required.
    """
    from passk_cli.inference.intervals import difference_distributions

    if confidence.population != NEW_TASKS:
        return
    for c in comparisons:
        # Among corrected values, labelled tasks have the largest.
        if c.hidden_variance[1] is not None or c.missing_bounds or c.ratio:
            continue
        if not c.has_p_value or not c.adjusted <= 1 - confidence.level + 1e-12:
            continue
        count, mean = len(c.tasks), c.difference or 0.0
        few = -(-count // 100) + 1
        if count < few + 2 or c.clusters is not None:
            continue
        least, most = c.first.bounds(confidence)
        # This few tasks cannot carry half of a large difference, whichever they are.
        if (abs(mean) * count - few * (most - least)) / (count - few) > abs(mean) * _LEFT * _NEAR:
            continue
        d = c.differences
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
            yield FragileDifference(c, c.tasks[order[:few]], remaining_difference)
