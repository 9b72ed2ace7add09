"""The place of each model among its rivals: letters, ranks and shares of the lead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.inference.ranking import letters, rank_limits
from passk_cli.message import Said
from passk_cli.metrics.registry import Metric
from passk_cli.report.model import Cell, Column, Note, Table
from passk_cli.report.words import span
from passk_cli.study.comparison import Comparison
from passk_cli.study.lead import lead_words, ranges_of_lead
from passk_cli.study.pairs import BETTER, WORSE
from passk_cli.study.pivot import head
from passk_cli.study.values import Series, TaskValues

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.study.confidence import Confidence
    from passk_cli.study.study import Study


@dataclass(frozen=True)
class Rank:
    """A model's place at one metric among those of its group.

    leads : share of the resamples of the tasks in which it is in the lead; None where attempts
        differ between the models, or no task is shared by all; a range where outcomes are missing
        that may pass or fail.
    letters, low, high : groups, and ranks, that the tests leave open; None without any test.
    """

    values: TaskValues
    letters: str | None
    leads: Cell
    low: int | None
    high: int | None


def find_ranks(comparisons: Sequence[Comparison], confidence: Confidence) -> Iterator[Rank]:
    """Letters and ranks from the tests; shares of the lead from draws that models share."""
    cells: dict[tuple[Metric, Series], list[Comparison]] = {}
    for c in comparisons:
        cells.setdefault((c.first.metric, c.first.series[1:]), []).append(c)
    for pairs in cells.values():
        by_series = {rival.series: rival for c in pairs for rival in (c.first, c.second)}
        rivals = sorted(
            (rival for rival in by_series.values() if rival.there),
            key=lambda rival: (-rival.mean, rival.series),
        )
        if len(rivals) < 2:
            continue
        tested = {rival.series for c in pairs if c.testable for rival in (c.first, c.second)}
        compared = [rival for rival in rivals if rival.series in tested]
        ranks = iter(_ranks(pairs, compared, confidence) if compared else ())
        for rival in rivals:
            untested = Rank(rival, None, None, None, None)
            yield next(ranks) if rival.series in tested else untested


def _ranks(
    pairs: Sequence[Comparison], rivals: Sequence[TaskValues], confidence: Confidence
) -> Iterator[Rank]:
    """The rank of each, best first, from the pairs that were tested."""
    better = _better(pairs, rivals)
    for rival, letter, leads, limits in zip(
        rivals, letters(better | better.T), ranges_of_lead(rivals, confidence),
        rank_limits(better).tolist(), strict=True,
    ):  # fmt: skip
        yield Rank(rival, letter, leads, *limits)


def _better(pairs: Sequence[Comparison], rivals: Sequence[TaskValues]) -> NDArray[np.bool_]:
    """Whether the model of the row is significantly better than that of the column."""
    place = {rival.series: at for at, rival in enumerate(rivals)}
    better = np.zeros((len(rivals), len(rivals)), dtype=bool)
    for c in pairs:
        if c.verdict in (BETTER, WORSE):
            first, second = place[c.first.series], place[c.second.series]
            better[(first, second) if c.verdict == BETTER else (second, first)] = True
    return better


def ranking_tables(study: Study, ranks: Sequence[Rank]) -> Iterator[Table]:
    """Models by their estimate, each on all its tasks, whose number is said where it differs."""
    for metric in study.metrics:
        ranked = [rank for rank in ranks if rank.values.metric == metric]
        differ = len({rank.values.tasks.tobytes() for rank in ranked}) > 1
        columns = (
            *head(study.counts.group_names), Column(metric.name, metric.unit),
            *[Column("tasks")] * differ, Column("tied"), Column("leads", "share"),
            Column("rank"),
        )  # fmt: skip
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (
                *rank.values.series, rank.values.estimate, *[str(len(rank.values.tasks))] * differ,
                rank.letters, rank.leads,
                None if rank.low is None or rank.high is None else span(rank.low, rank.high),
            )
            for rank in ranked
        )  # fmt: skip
        if rows:
            yield Table(columns, rows)


def rank_words(ranks: Sequence[Rank], resamples: int) -> str:
    """For the caption: what the columns of the ranking are, and which of them is a test."""
    if not ranks:
        return ""
    return (
        "tied: models that share a letter do not differ significantly ·"
        f" {lead_words(resamples)} · rank: the places that the tests leave open"
    )


def lead_notes(ranks: Sequence[Rank]) -> list[Said]:
    """Why there are no shares of resamples, where that is so."""
    if all(rank.leads is not None for rank in ranks):
        return []
    return [
        Note(
            "leads is empty where models made different numbers of attempts, which alone can put"
            " one first, or where no task is shared by all"
        )
    ]
