"""Pairs of models, task by task: difference, interval, p-value and a verdict in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import DataError, ParameterError
from passk_cli.inference.intervals import NEW_TASKS, Interval, Sample, interval
from passk_cli.report.pair_tests import TESTS, Tested, run_tests
from passk_cli.report.samples import Measured, Uncertainty, cluster_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.model import Counts

UNPAIRED = ("drop", "error")
FAMILIES = (PRIMARY, ALL) = ("primary", "all")
SECONDARY = "secondary"
BETTER, WORSE, EQUIVALENT, UNDECIDED = "better", "worse", "equivalent", "undecided"


@dataclass(frozen=True)
class Comparison:
    """One model against another at one metric, on the tasks both have.

    first, second : the two; difference = first − second.  d : its value at each shared task.
    at : places of the shared tasks among those of the first, and of the second.
    only_first, only_second : tasks that the other one lacks, left out.
    interval : of the mean difference.  p, adjusted : of no difference; NaN where there is none,
    for the untested reason.  smallest : no p of this test can be smaller.  test : which it was.
    family : what p is adjusted with: "all" tests, those of the "primary" metric, or of a
    "secondary" one.
    verdict : of the first: better, worse, equivalent, undecided; "" when nothing can be said.
    """

    first: Measured
    second: Measured
    tasks: NDArray[np.int64]
    values: tuple[NDArray[np.float64], NDArray[np.float64]]
    at: tuple[NDArray[np.int64], NDArray[np.int64]]
    only_first: int
    only_second: int
    reason: str = ""
    interval: Interval | None = None
    p: float = math.nan
    smallest: float = math.nan
    adjusted: float = math.nan
    test: str = ""
    untested: str = ""
    family: str = ALL
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
    def n(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Attempts of both at each shared task."""
        return self.first.n[self.at[0]], self.second.n[self.at[1]]

    @property
    def c(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Passes of both at each shared task."""
        return self.first.c[self.at[0]], self.second.c[self.at[1]]

    @property
    def attempts_differ(self) -> bool:
        """Whether one of the two made more attempts at some shared task."""
        return not np.array_equal(*self.n)

    @property
    def testable(self) -> bool:
        """Whether there is a p."""
        return not math.isnan(self.p)

    @property
    def flaws(self) -> str:
        """Why something is missing, or what qualifies it; often empty."""
        limits = "" if self.interval is None else self.interval.reason
        return "; ".join(filter(None, (self.reason, self.untested, limits)))

    @property
    def difference(self) -> float | None:
        """The mean difference."""
        return None if self.reason else float(self.d.mean())


@dataclass(frozen=True)
class Rules:
    """How pairs are judged.

    test : "sign-flip" (McNemar's exact test where n = 1), "mid-p" (the same, ties by half), "t",
        "interval" or "within-tasks"; None for the one that is valid: within tasks for these tasks,
        else sign flips, and the interval test where attempts differ in number.
    adjust : for the number of tests: "holm", "bh" or "none".
    family : which tests are adjusted for together: "all", or "primary": those of the first metric,
        and those of each other metric by themselves.
    margin : differences inside ±margin do not matter; 0 for none.
    unpaired : tasks that only one model has: "drop" or "error".
    """

    test: str | None = None
    adjust: str = "holm"
    margin: float = 0.0
    unpaired: str = "drop"
    family: str = ALL

    def checked(self) -> Rules:
        """The same; ParameterError for a value that does not exist."""
        from passk_cli.inference.multiplicity import ADJUSTMENTS

        for name, value, known in (
            ("test", self.test or TESTS[0], TESTS),
            ("adjust", self.adjust, tuple(ADJUSTMENTS)),
            ("unpaired", self.unpaired, UNPAIRED),
            ("family", self.family, FAMILIES),
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
    """Every pair with its interval, p-value adjusted over its family, and verdict.

    Errors: ParameterError for a test that is not valid for a pair, with the reason.
    """
    matched = [match(first, second, rules.unpaired) for first, second in pairs]
    known = [c for c in matched if not c.reason]
    tested = _adjusted(run_tests(counts, known, how, rules.test), known, rules)
    judged = []
    for comparison in tested:
        limited = replace(comparison, interval=difference_interval(counts, comparison, how))
        judged.append(replace(limited, verdict=_verdict(limited, how.level, rules.margin)))
    answers = iter(judged)
    return [c if c.reason else next(answers) for c in matched]


def _adjusted(
    answers: Sequence[Tested], comparisons: Sequence[Comparison], rules: Rules
) -> list[Comparison]:
    """The comparisons with their tests, each p adjusted with those of its family."""
    from passk_cli.inference.multiplicity import ADJUSTMENTS

    families: dict[object, list[int]] = {}
    for place, comparison in enumerate(comparisons):
        together = None if rules.family == ALL else comparison.first.metric
        families.setdefault(together, []).append(place)
    adjusted, names = np.empty(len(answers)), [ALL] * len(answers)
    for number, places in enumerate(families.values()):
        p, smallest = np.array([(answers[i].p, answers[i].smallest) for i in places]).T
        adjusted[places] = ADJUSTMENTS[rules.adjust](p, smallest)
        if rules.family != ALL:
            for i in places:
                names[i] = SECONDARY if number else PRIMARY
    return [
        replace(
            c, p=one.p, smallest=one.smallest, test=one.name, untested=one.reason,
            adjusted=float(p), family=family,
        )
        for c, one, p, family in zip(comparisons, answers, adjusted, names, strict=True)
    ]  # fmt: skip


def difference_interval(counts: Counts, comparison: Comparison, how: Uncertainty) -> Interval:
    """The interval of the mean difference, which lies in ±(high − low)."""
    low, high = comparison.first.bounds(how)
    within, mixed = None, np.zeros(len(comparison.tasks), dtype=bool)
    if how.population != NEW_TASKS:
        within = np.zeros(len(comparison.tasks))
        for one in (comparison.first, comparison.second):
            shared = np.isin(one.tasks, comparison.tasks)
            within += one.within[shared]
            mixed |= one.mixed[shared]
    sample = Sample(
        comparison.d,
        low=low - high,
        high=high - low,
        within=within,
        mixed=int(mixed.sum()),
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
        none, nowhere = np.empty(0), np.empty(0, dtype=np.int64)
        return Comparison(first, second, shared, (none, none), (nowhere, nowhere), *only, reason)
    assert first.values is not None
    assert second.values is not None
    at = (np.searchsorted(first.tasks, shared), np.searchsorted(second.tasks, shared))
    return Comparison(first, second, shared, (first.values[at[0]], second.values[at[1]]), at, *only)


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
