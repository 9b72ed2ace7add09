"""What sampled rows show and counts do not: the order of attempts, and groups of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from passk_cli.arrays import Floats, Ints


@dataclass(frozen=True, eq=False, repr=False)
class OrderedAttempts:
    """Outcomes of sampled attempts, ordered by the numbers of the attempts.

    names : (model, groups …) of each series.  series : int (tasks,), a place in `names`,
        increasing.
    start, passed : rows of attempts, as in `metrics.order`.
    """

    names: tuple[tuple[str, ...], ...]
    series: Ints
    start: Ints
    passed: Ints


@dataclass(frozen=True, eq=False, repr=False)
class TaskGroups:
    """Pass rates of sampled tasks, and the columns that put several tasks into a group.

    values : float (tasks,), the mean over models of how far the pass rate of the task lies above
        the mean of the model.
    columns : name → int (tasks,), codes of the groups from 0.
    """

    values: Floats
    columns: Mapping[str, Ints]


@dataclass(frozen=True, eq=False, repr=False)
class SampledRows:
    """order : None if attempts are not numbered.  groups : None if no column groups tasks."""

    order: OrderedAttempts | None
    groups: TaskGroups | None
