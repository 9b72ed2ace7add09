"""Places of models among their rivals: what the tests of all pairs leave open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.inference.ranking import letters, rank_limits
from passk_cli.metrics.registry import Metric
from passk_cli.report.model import Cell
from passk_cli.study.comparison import Comparison
from passk_cli.study.lead import ranges_of_lead
from passk_cli.study.pairs import BETTER, WORSE
from passk_cli.study.values import Series, TaskValues

if TYPE_CHECKING:
    from passk_cli.study.confidence import Confidence


@dataclass(frozen=True)
class Rank:
    """A model's place at one metric among those of its group.

    leads : share of the resamples of the tasks in which it comes first; None where attempts
        differ between the models, or no task is shared by all; a range where outcomes are missing
        that may pass or fail.
    letters, low, high : groups, and places, that the tests leave open; None without any test.
    """

    values: TaskValues
    letters: str | None
    leads: Cell
    low: int | None
    high: int | None


def find_ranks(comparisons: Sequence[Comparison], confidence: Confidence) -> Iterator[Rank]:
    """Letters and places from the tests, first in resamples from draws that models share.

    Models of each metric and group by their estimate, the best first.
    """
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
        place = {rival.series: at for at, rival in enumerate(compared)}
        better = np.zeros((len(place), len(place)), dtype=bool)
        for c in pairs:
            if c.verdict in (BETTER, WORSE):
                first, second = place[c.first.series], place[c.second.series]
                better[(first, second) if c.verdict == BETTER else (second, first)] = True
        leads = ranges_of_lead(compared, confidence) if compared else ()
        places = zip(letters(better | better.T), leads, rank_limits(better).tolist(), strict=True)
        for rival in rivals:
            if rival.series in tested:
                letter, share, limits = next(places)
                yield Rank(rival, letter, share, *limits)
            else:
                yield Rank(rival, None, None, None, None)
