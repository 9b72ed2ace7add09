"""The table that shows how much of a difference's variance comes from tasks and from attempts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from passk_cli.commands.compare.pairs import PairTableRow
from passk_cli.inference.noise import TaskAndAttemptVariance, noise_split
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.report.data_types import FULL, Column
from passk_cli.report.phrases import number_range
from passk_cli.study.analysis import Analysis
from passk_cli.study.comparison import Comparison
from passk_cli.study.section import (
    AGAINST_MODEL_COLUMN,
    GROUP_VALUES_COLUMN,
    MODEL_COLUMN,
    ReportSection,
)

_MEAN_METRICS = ("pass@1", "pass^1")


@dataclass(frozen=True)
class PairVariance(PairTableRow):
    """Two models, and the parts of the variance of their difference that come from tasks and from
    attempts."""

    variance_split: TaskAndAttemptVariance


class DifferenceVarianceTable(ReportSection[PairVariance]):
    """One row per pair of models, with the parts of the variance of the difference at pass@1."""

    title = "Noise of the differences at pass@1"
    visibility = FULL
    columns = (
        MODEL_COLUMN, AGAINST_MODEL_COLUMN, GROUP_VALUES_COLUMN,
        Column("from attempts", "share", meaning="Share of the variance of the difference that"
               " comes from the attempts. The rest comes from the choice of tasks.",
               cell_of_record=lambda pair: pair.variance_split.share_of_attempts),
        Column("standard error", "share", meaning="Standard error of the difference.",
               cell_of_record=lambda pair: pair.variance_split.se()),
        Column("twice the attempts", "share", meaning="Standard error with twice the attempts at"
               " each task.", cell_of_record=lambda pair: pair.variance_split.se(attempts=2)),
        Column("twice the tasks", "share", meaning="Standard error with twice the tasks and the"
               " same number of attempts per task.",
               cell_of_record=lambda pair: pair.variance_split.se(tasks=2)),
    )  # fmt: skip

    def full_footer_parts(self) -> Iterator[str]:
        gains = sorted(
            1 - pair.variance_split.se(attempts=2) / pair.variance_split.se()
            for pair in self.records
        )
        if gains:
            ends = number_range(round(100 * gains[0]), round(100 * gains[-1]))
            yield (
                f"at pass@1, twice the attempts would shorten intervals of differences by {ends} %,"
                " twice the tasks by 29 %"
            )


def pair_variances(study: Analysis, compared: Sequence[Comparison]) -> list[PairVariance]:
    """The pairs of models at pass@1 for which passk can separate both parts of the variance.

    Pairs with labels for a judge or with missing outcomes are left out, because labels and missing
    outcomes add further variance. With --population these-tasks, the result is empty, because all
    variance comes from attempts.
    """
    if study.confidence.population == THESE_TASKS:
        return []
    pairs = []
    for c in compared:
        separable = (
            c.first.metric.name in _MEAN_METRICS
            and not (c.reason or c.missing_bounds)
            and c.label_variance_and_degrees[1] is None
        )
        if separable and len(c.tasks) > 1 and (c.attempts_range[0] or 0) > 1:
            (n, m), (passes, other_passes) = c.n, c.c
            split = noise_split((n, passes), (m, other_passes), c.clusters)
            if split.se() > 0:
                pairs.append(PairVariance(c, split))
    return pairs
