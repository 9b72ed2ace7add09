"""The order of attempts and the groups of tasks in a sample of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from passk_cli.arrays import Floats, Ints


@dataclass(frozen=True, eq=False, repr=False)
class OrderedAttempts:
    """Outcomes of sampled attempts, sorted by attempt number.

    names : tuple (model, group values …) of each series.
    series : index of the series for each pair of a series and a task, in increasing order.
    start, passed : outcomes of the attempts, in the form that `metrics.order` uses.
    """

    series_names: tuple[tuple[str, ...], ...]
    series_codes: Ints
    offsets: Ints
    outcomes: Ints


@dataclass(frozen=True, eq=False, repr=False)
class ClusterCandidates:
    """Pass rates of sampled tasks, and columns that may contain clusters of tasks.

    values : pass rate of each task minus the mean pass rate of the model, averaged over models.
    columns : name of a column → code of each task's value in the column, from 0.
    """

    pass_rate_deviations: Floats
    cluster_column_codes: Mapping[str, Ints]


@dataclass(frozen=True, eq=False, repr=False)
class SampledRows:
    """Facts from a sample of rows.

    order : outcomes in the order of the attempts.  None if attempts are not numbered.
    groups : possible clusters of tasks.  None if no column has several tasks per value.
    """

    ordered_attempts: OrderedAttempts | None
    cluster_candidates: ClusterCandidates | None
