"""What the tests of order say, in a word each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from passk_cli.commands.order.evidence import Evidence
from passk_cli.report.model import Estimate

DECLINING, IMPROVING, NO_TREND, UNCLEAR = "declining", "improving", "not significant", "unclear"
ALIKE, ALTERNATING, UNRELATED = "correlated", "alternating", "not significant"
COPIES, AGREEING, NO_COPIES = "copies?", "pairs agree", "none found"
CANNOT_TELL = "cannot be tested"


def trend_word(evidence: Evidence, level: float) -> str:
    """declining, improving, not significant, or why none of these can be said.

    The test takes any order as likely as any other; where neighbours are correlated, a trend is
    only called one when its interval, which allows for any dependence, leaves out 0 as well.
    """
    p = evidence.p[0]
    if math.isnan(p):
        return CANNOT_TELL
    if p > level:
        return NO_TREND
    if neighbour_word(evidence, level) == ALIKE and holds_zero(evidence.slope.estimate):
        return UNCLEAR
    return DECLINING if evidence.trend.statistic < 0 else IMPROVING


def neighbour_word(evidence: Evidence, level: float) -> str:
    """Whether neighbouring attempts are correlated, alternate, or neither significantly."""
    p = evidence.p[1]
    if math.isnan(p):
        return CANNOT_TELL
    if p > level:
        return UNRELATED
    return ALIKE if evidence.neighbours.statistic < evidence.neighbours.mean else ALTERNATING


def copies_word(evidence: Evidence, level: float) -> str:
    """Whether attempts look like copies of others, or agree more often than independent ones."""
    if evidence.constant:
        return COPIES
    if math.isnan(evidence.p[2]):
        return CANNOT_TELL
    if evidence.p[2] > level:
        return NO_COPIES
    close = evidence.pairs.adjusted <= level
    return COPIES if bool((close & evidence.pairs.copied).any()) else AGREEING


def agreeing_pairs(evidence: Iterable[Evidence], level: float) -> Iterator[tuple[Evidence, int]]:
    """Pairs of attempts that agree more than chance allows, model by model."""
    for model in evidence:
        if model.p[2] <= level:
            for i in np.flatnonzero(model.pairs.adjusted <= level).tolist():
                yield model, i


def holds_zero(slope: Estimate) -> bool:
    """Whether the interval of a slope (two standard errors without one) includes 0."""
    low, high = slope.low, slope.high
    if slope.value is not None and slope.se is not None:
        low, high = slope.value - 2 * slope.se, slope.value + 2 * slope.se
    return low is not None and high is not None and low <= 0.0 <= high
