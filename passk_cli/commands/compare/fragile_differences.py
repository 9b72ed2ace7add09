"""Significant differences between models that depend on a few tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import Ints
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.study.comparison import (
    Comparison,
    comparison_on_shared_tasks,
    difference_interval_data,
)
from passk_cli.study.confidence import Confidence

# A difference is fragile if leaving out a few tasks reduces the difference to less than half.
_MAX_REMAINING_DIFFERENCE_SHARE = 0.5


@dataclass(frozen=True)
class DifferenceDecidedByFewTasks:
    """A difference between two models that is significant only because of a few tasks.

    If the models share T tasks, the number of these few tasks is ⌈T/100⌉ + 1.
    """

    comparison: Comparison
    deciding_tasks: Ints
    remaining_difference: float


def fragile_differences(
    comparisons: Sequence[Comparison], confidence: Confidence
) -> Iterator[DifferenceDecidedByFewTasks]:
    """Find significant differences that would not be significant without a few tasks.

    If the tasks with the largest differences are left out, a fragile difference loses more than
    half of its size and is no longer significant.
    The loss of significance is not sufficient, because many differences that depend on many tasks
    also lose their significance (up to 61 % with 13 tasks; see benchmarks/difference.md).
    """
    from passk_cli.inference.intervals import difference_distributions

    if confidence.population != NEW_TASKS:
        return
    for c in comparisons:
        # With label correction, labelled tasks always have the largest differences, so the
        # influence of labelled tasks is not a sign of a fragile difference.
        if c.label_variance_and_degrees[1] is not None or c.missing_bounds or c.ratio:
            continue
        if not c.has_p_value or not c.adjusted <= 1 - confidence.level + 1e-12:
            continue
        count, mean = len(c.tasks), c.difference or 0.0
        few = -(-count // 100) + 1
        if count < few + 2 or c.clusters is not None:
            continue
        least, most = c.first.bounds(confidence)
        largest_loss = few * (most - least)
        if (abs(mean) * count - largest_loss) / (count - few) > abs(
            mean
        ) * _MAX_REMAINING_DIFFERENCE_SHARE * (1 + 1e-9):
            continue
        d = c.differences
        order = np.argsort(-np.abs(d), kind="stable")
        remaining_difference = float(d[order[few:]].mean())
        if remaining_difference / mean >= _MAX_REMAINING_DIFFERENCE_SHARE:
            continue
        tasks = np.sort(c.tasks[order[few:]])
        ((_, distribution),) = difference_distributions(
            difference_interval_data(
                [comparison_on_shared_tasks(c.first.restrict(tasks), c.second.restrict(tasks))],
                confidence,
            )
        )
        if distribution.p()[0] > c.alpha:
            yield DifferenceDecidedByFewTasks(c, c.tasks[order[:few]], remaining_difference)
