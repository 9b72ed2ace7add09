"""False alarms of what is simulated: their share, and its limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from passk_cli.inference.single import rate_limits


class Alarm(NamedTuple):
    """The share of false alarms, with its 95 % limits."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Odds:
    """How often a line failed and was undecided in rehearsals with nothing changed.

    both : of the pairs of rehearsals at the same rates, the share in which both failed, a standard
        error more than was seen: few rehearsals at the same rates show roughly how rates matter.
    """

    failing: int
    undecided: int
    runs: int
    both: float

    @classmethod
    def of(cls, failing: Sequence[bool], undecided: int, sets: int) -> Odds:
        """From each rehearsal, the sets of rates taken in turn."""
        each = len(failing) // sets
        count = np.reshape(failing, (each, sets)).sum(axis=0)
        pairs, seen = sets * each * (each - 1) / 2, float((count * (count - 1)).sum()) / 2
        both = min((seen + np.sqrt(seen) + 1.0) / pairs, 1.0)
        return cls(sum(failing), undecided, len(failing), both)

    @property
    def always(self) -> Odds:
        """The odds of a line that fails in every rehearsal."""
        return replace(self, failing=self.runs, both=1.0)

    @property
    def share(self) -> float:
        """The share that failed."""
        return self.failing / self.runs

    @property
    def open(self) -> float:
        """The share that was undecided."""
        return self.undecided / self.runs


def false_alarm(odds: Odds, predicted: Odds) -> Alarm:
    """The share that fails at the estimated rates; limits hold the errors of both estimates.

    The Monte-Carlo error of both by the exact limits of Clopper and Pearson.  That of the rates by
    a Beta law of the share: how often a run fails gives its mean, and how often two runs of the
    same rates both fail its spread.  The limits are the widest of these.

    odds : at the estimated rates.  predicted : at rates drawn from their posterior.
    Coverage: benchmarks/gate.md.
    """
    from passk_cli.special import betaincinv

    runs, failing = ([getattr(each, name) for each in (odds, predicted)]
                     for name in ("runs", "failing"))  # fmt: skip
    lows, highs = rate_limits(np.array(runs), np.array(failing))
    share = Alarm(odds.share, float(lows.min()), float(highs.max()))
    mean = predicted.share
    spread = predicted.both - mean**2
    if not 0.0 < spread < mean * (1.0 - mean):
        return share
    size = mean * (1.0 - mean) / spread - 1.0
    low, high = (float(betaincinv(mean * size, (1.0 - mean) * size, q)) for q in (0.025, 0.975))
    return Alarm(odds.share, min(low, share.low), max(high, share.high))
