"""The results of a rehearsal: how often a rule fails where nothing changed, and what it detects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from passk_cli.inference.single import rate_limits
from passk_cli.report.model import Estimate

POWER = 0.8


@dataclass(frozen=True)
class Odds:
    """How often a line failed and was undecided in rehearsals with nothing changed.

    both : of the pairs of rehearsals at the same rates, the share in which both failed.
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
        both = float((count * (count - 1)).mean()) / (each * (each - 1))
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


def false_alarm(odds: Odds, predicted: Odds) -> Estimate:
    """The share that fails at the estimated rates; limits hold the errors of both estimates.

    The Monte-Carlo error by the exact limits of Clopper and Pearson.  That of the rates by a Beta
    law of the share: how often a run fails gives its mean, and how often two runs of the same rates
    both fail its spread.

    odds : at the estimated rates.  predicted : at rates drawn from their posterior.
    """
    from scipy.special import betaincinv

    lows, highs = rate_limits(np.array([odds.runs]), np.array([odds.failing]))
    share = Estimate(odds.share, low=float(lows[0]), high=float(highs[0]))
    mean = predicted.share
    spread = predicted.both - mean**2
    if not 0.0 < spread < mean * (1.0 - mean):
        return share
    size = mean * (1.0 - mean) / spread - 1.0
    low, high = (float(betaincinv(mean * size, (1.0 - mean) * size, q)) for q in (0.025, 0.975))
    ends = min(low, share.low or 0.0), max(high, 1.0 if share.high is None else share.high)
    return replace(share, low=ends[0], high=ends[1])


@dataclass(frozen=True)
class Catch:
    """The smallest planted drop that is detected with power 0.8: the gate fails.

    lost : share of the passes that are lost at every task; None where losing all is not enough.
    drop : the same in the metric, with the Monte-Carlo standard error.
    reached : share of the runs that failed at that drop, or with every pass lost.
    """

    lost: float | None
    drop: Estimate
    reached: float


@dataclass(frozen=True)
class Rehearsed:
    """Results of the rehearsals of a rule, or of the gate as a whole.

    odds : at the estimated rates.  predicted : at rates as uncertain as the data leave them.
    catch : the smallest drop that it detects; None of the whole gate.
    best, worst : verdicts on a run that passes everything, and one that passes nothing.
    """

    odds: Odds
    predicted: Odds
    catch: Catch | None = None
    best: str | None = None
    worst: str | None = None

    @property
    def alarm(self) -> Estimate:
        """The share of false alarms."""
        return false_alarm(self.odds, self.predicted)

    @property
    def words(self) -> str:
        """The results in words, for logs of pipelines."""
        words = [
            f"fails {100 * self.odds.share:.1f} % of rehearsals with nothing changed",
            f"predicted failures {100 * self.predicted.share:.1f} %",
        ]
        if self.odds.undecided:
            words.append(f"undecided in {100 * self.odds.open:.1f} %")
        if self.catch is not None:
            value = self.catch.drop.value
            drop = "none" if value is None else f"{value:.3f}"
            drop = "any, it fails without one" if self.catch.lost == 0.0 else drop
            words.append(f"smallest drop detected with power {POWER:g}: {drop}")
        return "; ".join([*words, f"all pass: {self.best}", f"all fail: {self.worst}"])
