"""Facts from a sample of the rows: the order of the attempts, and possible groups of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from passk_cli.arrays import Floats, Ints


@dataclass(frozen=True, eq=False, repr=False)
class OrderedAttempts:
    """The outcomes of sampled attempts, sorted by the number of the attempt.

    series_names : tuple (model, group values …) of each series.
    series_codes : index of the series for each pair of a series and a task, in increasing order.
    offsets, outcomes : the outcomes of the attempts, in the form that
        `passk_cli.metrics.attempt_order` needs.
    """

    series_names: tuple[tuple[str, ...], ...]
    series_codes: Ints
    offsets: Ints
    outcomes: Ints


@dataclass(frozen=True, eq=False, repr=False)
class ClusterCandidates:
    """The pass rates of sampled tasks, and the columns that may contain clusters of tasks.

    task_deviations_from_model_rates : pass rate of each task minus the mean pass rate of the model,
        averaged over models.
    cluster_codes_by_column : name of a column → for each task, the code of its value in the
        column, counted from 0.
    """

    task_deviations_from_model_rates: Floats
    cluster_codes_by_column: Mapping[str, Ints]


@dataclass(frozen=True, eq=False, repr=False)
class RowSampleFacts:
    """What a sample of the rows shows about the order of attempts and about clusters of tasks.

    ordered_attempts : outcomes in the order of the attempts, or None if attempts are not numbered.
    cluster_candidates : possible clusters of tasks, or None if no column has several tasks per
        value.
    """

    ordered_attempts: OrderedAttempts | None
    cluster_candidates: ClusterCandidates | None
