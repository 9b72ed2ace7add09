"""The table that splits the variance of a difference into variance of tasks and of attempts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from passk_cli.commands.compare.pairs import PairRecord
from passk_cli.inference.noise import NoiseSplit, noise_split
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.report.data_types import FULL, Column
from passk_cli.report.phrases import number_range
from passk_cli.study.analysis import Analysis
from passk_cli.study.comparison import Comparison
from passk_cli.study.section import AGAINST, GROUPS, MODEL, Section

_MEAN_METRICS = ("pass@1", "pass^1")


@dataclass(frozen=True)
class PairVariance(PairRecord):
    """Two models and the variance of their difference, split into tasks and attempts."""

    split: NoiseSplit


class NoiseTable(Section[PairVariance]):
    """A row per pair of models: parts of the variance of the difference at pass@1."""

    title = "Noise of the differences at pass@1"
    shown = FULL
    columns = (
        MODEL, AGAINST, GROUPS,
        Column("from attempts", "share", meaning="Share of the variance of the difference that"
               " comes from the attempts. The rest comes from the choice of tasks.",
               cell=lambda pair: pair.split.share_of_attempts),
        Column("standard error", "share", meaning="Standard error of the difference.",
               cell=lambda pair: pair.split.se()),
        Column("twice the attempts", "share", meaning="Standard error with twice the attempts at"
               " each task.", cell=lambda pair: pair.split.se(attempts=2)),
        Column("twice the tasks", "share", meaning="Standard error with twice the tasks and the"
               " same number of attempts per task.", cell=lambda pair: pair.split.se(tasks=2)),
    )  # fmt: skip

    def details(self) -> Iterator[str]:
        gains = sorted(1 - pair.split.se(attempts=2) / pair.split.se() for pair in self.records)
        if gains:
            ends = number_range(round(100 * gains[0]), round(100 * gains[-1]))
            yield (
                f"at pass@1, twice the attempts would shorten intervals of differences by {ends} %,"
                " twice the tasks by 29 %"
            )


def noisy_pairs(study: Analysis, compared: Sequence[Comparison]) -> list[PairVariance]:
    """The pairs at pass@1 for which the variance can be split into tasks and attempts.

    Pairs with labels or missing outcomes are left out, because both add variance. With --population
    these-tasks there are no pairs, because all variance comes from attempts.
    """
    if study.confidence.population == THESE_TASKS:
        return []
    pairs = []
    for c in compared:
        separable = (
            c.first.metric.name in _MEAN_METRICS
            and not (c.reason or c.missing_bounds)
            and c.hidden_variance[1] is None
        )
        if separable and len(c.tasks) > 1 and (c.attempts_range[0] or 0) > 1:
            (n, m), (passes, other_passes) = c.n, c.c
            split = noise_split((n, passes), (m, other_passes), c.clusters)
            if split.se() > 0:
                pairs.append(PairVariance(c, split))
    return pairs
