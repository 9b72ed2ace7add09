"""Pairs of models, task by task: difference, interval, p-value and a verdict in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import DataError, ParameterError
from passk_cli.inference.intervals import NEW_TASKS, Interval, Sample, interval
from passk_cli.inference.weights import cluster_totals
from passk_cli.report.samples import Measured, Uncertainty, cluster_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.model import Counts

TESTS = ("sign-flip", "mid-p", "t")
UNPAIRED = ("drop", "error")
BETTER, WORSE, EQUIVALENT, UNDECIDED = "better", "worse", "equivalent", "undecided"


@dataclass(frozen=True)
class Comparison:
    """One model against another at one metric, on the tasks both have.

    first, second : the two; difference = first − second.  d : its value at each shared task.
    only_first, only_second : tasks that the other one lacks, left out.
    interval : of the mean difference.  p, adjusted : of no difference.  test : which.
    verdict : of the first: better, worse, equivalent, undecided; "" when nothing can be said.
    """

    first: Measured
    second: Measured
    tasks: NDArray[np.int64]
    values: tuple[NDArray[np.float64], NDArray[np.float64]]
    only_first: int
    only_second: int
    reason: str = ""
    interval: Interval | None = None
    p: float = math.nan
    adjusted: float = math.nan
    test: str = ""
    verdict: str = ""

    @property
    def d(self) -> NDArray[np.float64]:
        """The difference at each shared task."""
        return self.values[0] - self.values[1]

    @property
    def estimates(self) -> tuple[float | None, float | None]:
        """Both means on the shared tasks."""
        if self.reason:
            return None, None
        return float(self.values[0].mean()), float(self.values[1].mean())

    @property
    def difference(self) -> float | None:
        """The mean difference."""
        return None if self.reason else float(self.d.mean())


@dataclass(frozen=True)
class Rules:
    """How pairs are judged.

    test : "sign-flip" (McNemar's exact test where n = 1), "mid-p" (the same, ties by half) or "t".
    adjust : for the number of tests: "holm", "bh" or "none".
    margin : differences inside ±margin do not matter; 0 for none.
    unpaired : tasks that only one model has: "drop" or "error".
    """

    test: str = "sign-flip"
    adjust: str = "holm"
    margin: float = 0.0
    unpaired: str = "drop"

    def checked(self) -> Rules:
        """The same; ParameterError for a value that does not exist."""
        from passk_cli.inference.multiplicity import ADJUSTMENTS

        for name, value, known in (
            ("test", self.test, TESTS),
            ("adjust", self.adjust, tuple(ADJUSTMENTS)),
            ("unpaired", self.unpaired, UNPAIRED),
        ):
            if value not in known:
                raise ParameterError(f"--{name} {value}: it is one of {', '.join(known)}")
        if not 0.0 <= self.margin < 1.0:
            raise ParameterError(f"--margin {self.margin:g}: it must lie in [0, 1), as 0.02 does")
        return self


def compare_pairs(
    counts: Counts,
    pairs: Sequence[tuple[Measured, Measured]],
    how: Uncertainty,
    rules: Rules,
) -> list[Comparison]:
    """Every pair with its interval, p-value adjusted over all of them, and verdict."""
    from passk_cli.inference.multiplicity import ADJUSTMENTS

    matched = [match(first, second, rules.unpaired) for first, second in pairs]
    said = [c for c in matched if not c.reason]
    p, tests = _p_values(counts, said, how, rules)
    adjusted = ADJUSTMENTS[rules.adjust](p)
    done = []
    for comparison, raw, corrected, test in zip(said, p, adjusted, tests, strict=True):
        limits = difference_interval(counts, comparison, how)
        judged = replace(
            comparison, interval=limits, p=float(raw), adjusted=float(corrected), test=test
        )
        done.append(replace(judged, verdict=_verdict(judged, how.level, rules.margin)))
    answers = iter(done)
    return [c if c.reason else next(answers) for c in matched]


def difference_interval(counts: Counts, comparison: Comparison, how: Uncertainty) -> Interval:
    """The interval of the mean difference, which lies in ±(high − low)."""
    low, high = comparison.first.bounds(how)
    within = None
    if how.population != NEW_TASKS:
        shared = comparison.tasks
        within = sum(
            (m.within[np.isin(m.tasks, shared)] for m in (comparison.first, comparison.second)),
            np.zeros(len(shared)),
        )
    sample = Sample(
        comparison.d,
        low=low - high,
        high=high - low,
        within=within,
        clusters=cluster_codes(counts, comparison.tasks),
        resamples=how.resamples,
        seed=how.seed,
    )
    return interval(sample, how.for_differences().method, how.level, how.population)


def match(first: Measured, second: Measured, unpaired: str = "drop") -> Comparison:
    """The two on the tasks both have; unpaired tasks are counted, or refused with "error"."""
    shared = np.intersect1d(first.tasks, second.tasks)
    only = (len(first.tasks) - len(shared), len(second.tasks) - len(shared))
    if any(only) and unpaired == "error":
        raise DataError(
            f"{' '.join(first.series)} against {' '.join(second.series)}",
            f"{only[0]} tasks only the first has, {only[1]} only the second",
            "compare on the shared ones with --unpaired drop",
        )
    reason = ""
    for one in (first, second):
        if one.values is None:
            reason = f"{' '.join(one.series)}: {one.reason}"
    if not len(shared):
        reason = "no task that both have"
    if reason:
        none = np.empty(0)
        return Comparison(first, second, shared, (none, none), *only, reason)
    assert first.values is not None
    assert second.values is not None
    mine = first.values[np.isin(first.tasks, shared)]
    other = second.values[np.isin(second.tasks, shared)]
    return Comparison(first, second, shared, (mine, other), *only)


def _p_values(
    counts: Counts, said: Sequence[Comparison], how: Uncertainty, rules: Rules
) -> tuple[NDArray[np.float64], list[str]]:
    """p and the name of the test, per comparison; those over the same tasks share their draws."""
    from passk_cli.inference.paired import mcnemar, paired_t, sign_flip

    p, tests = np.full(len(said), math.nan), [""] * len(said)
    together: dict[bytes, list[int]] = {}
    for i, comparison in enumerate(said):
        together.setdefault(comparison.tasks.tobytes(), []).append(i)
    for places in together.values():
        d = np.stack([said[i].d for i in places], axis=1)
        codes = cluster_codes(counts, said[places[0]].tasks)
        totals = cluster_totals(d, codes)[0]
        if rules.test == "t":
            p[places] = paired_t(totals)
        else:
            mid = rules.test == "mid-p"
            p[places] = sign_flip(totals, resamples=how.resamples, seed=how.seed, mid=mid).p
        for i in places:
            tests[i] = rules.test
            single = max(int(m.n.max()) for m in (said[i].first, said[i].second)) == 1
            if rules.test == "sign-flip" and single and codes is None:
                plus, minus = int((said[i].d > 0).sum()), int((said[i].d < 0).sum())
                p[i], tests[i] = float(mcnemar(plus, minus)), "mcnemar"
    return p, tests


def _verdict(comparison: Comparison, level: float, margin: float) -> str:
    limits, difference = comparison.interval, comparison.difference
    assert limits is not None
    assert difference is not None
    inside = limits.low is not None and limits.high is not None
    if margin > 0 and inside and -margin <= (limits.low or 0.0) and (limits.high or 0.0) <= margin:
        return EQUIVALENT
    if comparison.adjusted <= 1 - level + 1e-12 and difference != 0:
        return BETTER if difference > 0 else WORSE
    return UNDECIDED
