"""Facts from a sample of rows that counts do not contain: attempt order and task groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from passk_cli.arrays import Floats, Ints


@dataclass(frozen=True, eq=False, repr=False)
class OrderedAttempts:
    """Outcomes of sampled attempts, ordered by attempt number.

    names : (model, groups …) of each series.  series : int (tasks,), index into `names`,
        increasing.
    start, passed : rows of attempts, in the form that `metrics.order` uses.
    """

    names: tuple[tuple[str, ...], ...]
    series: Ints
    start: Ints
    passed: Ints


@dataclass(frozen=True, eq=False, repr=False)
class TaskGroups:
    """Pass rates of sampled tasks, and the columns that group tasks.

    values : float (tasks,), the pass rate of the task minus the mean pass rate of the model,
        averaged over models.
    columns : name → int (tasks,), group codes from 0.
    """

    values: Floats
    columns: Mapping[str, Ints]


@dataclass(frozen=True, eq=False, repr=False)
class SampledRows:
    """Facts from a sample of rows.

    order : None if attempts are not numbered.  groups : None if no column groups tasks.
    """

    order: OrderedAttempts | None
    groups: TaskGroups | None
