"""Predictions of one series at larger k, or the reason why there is none."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from passk_cli.inference.extrapolation import (
    AttemptsNeeded,
    Extrapolation,
    refusal,
    two_digits,
)
from passk_cli.inference.intervals import RANGE
from passk_cli.metrics.registry import Metric
from passk_cli.report.model import Cell, Estimate
from passk_cli.study.analysis import Analysis
from passk_cli.study.result import Result, Size
from passk_cli.study.values import Series, TaskValues

# A target is sought up to here, in digits and in words.
LARGEST_SEARCH_K, LARGEST_SEARCH_K_WORDS = 1_000_000, "10⁶"
# The one fit by name, a heuristic; and the method of its interval.
LOG_LOGIT, AVERAGE = "log-logit", "average"


@dataclass(frozen=True)
class PredictionTarget:
    """The question: curves, k's, target and fit.

    curves : of "pass@k" and "pass^k".  ks : where to predict, increasing.
    target : a value in (0, 1) whose k is sought, or None.
    fit : LOG_LOGIT for that line in addition, or None.
    """

    curves: tuple[str, ...]
    ks: tuple[int, ...]
    target: float | None = None
    fit: str | None = None


@dataclass(frozen=True)
class _PredictedCurve:
    """A curve that is predicted: rates are the tasks of its series at k = 1."""

    rates: TaskValues

    @property
    def series(self) -> Series:
        """The model and its groups."""
        return self.rates.series

    @property
    def family(self) -> str:
        """ "pass@" or "pass^"."""
        return self.rates.metric.family


@dataclass(frozen=True)
class Refusal(_PredictedCurve):
    """A curve of which nothing can be predicted.  facts : the reason, at each k asked for."""

    reason: str
    facts: tuple[Result, ...]


@dataclass(frozen=True)
class Prediction(_PredictedCurve):
    """The predictions of one curve.

    source : the number at any k.
    numbers : k → the number there, at the largest k known and at those asked for.
    further : the average of models at each predicted k, and the log-logit line if it is asked for.
    reaches : the k that reaches the target, in whole attempts; empty without a target.
    """

    source: _PredictedNumbers
    numbers: Mapping[int, Result]
    further: tuple[Result, ...]
    reaches: tuple[Result, ...]

    @property
    def extrapolation(self) -> Extrapolation:
        """What the counts say of any k."""
        return self.source.extrapolation

    @property
    def known_k(self) -> int:
        """The largest k that nine tasks in ten have attempts for."""
        return self.extrapolation.largest_known_k

    @property
    def measured(self) -> Result:
        """The number at the largest k known."""
        return self.numbers[self.known_k]

    @property
    def open(self) -> int:
        """Tasks that never passed; for pass^k, that never failed."""
        return int((self.extrapolation.passes == 0).sum())

    @property
    def facts(self) -> Iterator[Result]:
        """Its numbers, further ones, and the target's k."""
        yield from self.numbers.values()
        yield from self.further
        yield from self.reaches

    def at(self, k: int) -> Result:
        """The number at k; the one of `passk estimate` if every task has n ≥ k."""
        return self.source.at(k)

    def line(self, k: int) -> Estimate:
        """The log-logit line at k."""
        name = f"{self.family}{k} by {LOG_LOGIT}"
        return next(fact.estimate for fact in self.further if fact.name == name)

    def prospect(self, k: int) -> AttemptsNeeded | None:
        """What more attempts would determine."""
        return self.extrapolation.attempts_needed(k)


def predict(study: Analysis, rates: TaskValues, aim: PredictionTarget) -> Prediction | Refusal:
    """The predictions of a series.  rates : its values of the family's metric at k = 1."""
    family, n, level = rates.metric.family, rates.n, study.confidence.level
    blank = Result(
        rates.series, "", None, Estimate(None), size=Size(len(n), *rates.span), method=RANGE,
        level=level, more={"beyond": "yes"},
    )  # fmt: skip
    if reason := refusal(n, rates.c):
        nothing = replace(blank, estimate=Estimate(None, reason=reason))
        facts = (replace(nothing, name=f"{family}{k}", k=k) for k in aim.ks)
        return Refusal(rates, reason, tuple(facts))
    ahead = Extrapolation(n, rates.c, family == "pass^", level, rates.clusters)
    numbers = _PredictedNumbers(study, rates, ahead, blank)
    ks = sorted({ahead.largest_known_k, *aim.ks})
    further = _further(numbers, [k for k in aim.ks if k > ahead.largest_known_k], aim.fit)
    reaches = () if aim.target is None else (_target_k(numbers, aim.target),)
    return Prediction(rates, numbers, {k: numbers.at(k) for k in ks}, tuple(further), reaches)


@dataclass(frozen=True)
class _PredictedNumbers:
    """The number of a series at any k: measured if attempts suffice, else predicted."""

    study: Analysis
    rates: TaskValues
    extrapolation: Extrapolation
    blank: Result

    def at(self, k: int) -> Result:
        """The number at k; beyond the attempts a point only if the range is narrow enough."""
        metric, known_k = Metric(self.rates.metric.family, k), self.extrapolation.largest_known_k
        if k <= self.rates.n.min():
            values = metric.values(self.rates.n, self.rates.c)
            fact = self.study.fact(replace(self.rates, metric=metric, values=values))
            return replace(fact, more={"beyond": "no"})
        low, high = self.limits(k)
        value = self.extrapolation.point(k)
        reason = "" if value is not None else f"{known_k} attempts per task do not determine it"
        if value is not None:
            value = min(max(value, low), high)
        estimate = Estimate(value, low=low, high=high, reason=reason)
        more: dict[str, Cell] = {"beyond": "yes" if k > known_k else "no"}
        return replace(self.blank, name=metric.name, k=k, estimate=estimate, more=more)

    def measured(self, k: int) -> float:
        """The mean over tasks at a k that all tasks have attempts for."""
        metric = Metric(self.rates.metric.family, k)
        return float(metric.values(self.rates.n, self.rates.c).mean())

    def limits(self, k: int) -> tuple[float, float]:
        """The range at k, or the interval of a measured number.

        pass@k never falls with k, and pass^k never rises: nor may their limits.
        """
        least = int(self.rates.n.min())
        if k <= least:
            estimate = self.at(k).estimate
            return estimate.low or 0.0, 1.0 if estimate.high is None else estimate.high
        (low, high), (measured_low, measured_high) = self.extrapolation.range(k), self.limits(least)
        end = min if self.extrapolation.mirrored else max
        return end(low, measured_low), end(high, measured_high)


def _further(numbers: _PredictedNumbers, ks: Sequence[int], fit: str | None) -> Iterator[Result]:
    """The average of models, and the log-logit line, at each of ks, which are beyond the attempts.

    They have names of their own, as "pass@100 by average", and k in `fit_k`: a k has one answer.
    """
    if not ks:
        return
    at, ahead = np.array(ks), numbers.extrapolation
    averaged, line = ahead.average(at), ahead.line(at) if fit else None
    for place, k in enumerate(ks):
        name = f"{numbers.rates.metric.family}{k} by "
        more: dict[str, Cell] = {"beyond": "yes", "fit_k": k}
        value, low, high = (
            float(part[place]) for part in (averaged.values, averaged.low, averaged.high)
        )
        yield replace(
            numbers.blank, name=name + AVERAGE, estimate=Estimate(value, low=low, high=high),
            method=AVERAGE, more=more,
        )  # fmt: skip
        if line is not None:
            is_defined = not np.isnan(line[place])
            estimate = (
                Estimate(float(line[place]))
                if is_defined
                else Estimate(None, reason=f"{name[:5]}k is 0 or 1 at all but one k")
            )
            yield replace(
                numbers.blank, name=name + LOG_LOGIT, estimate=estimate, method="none", level=None,
                more=more,
            )  # fmt: skip


def _target_k(numbers: _PredictedNumbers, target: float) -> Result:
    """The k of the target: by the average, and by both ends of the range, as attempts.

    For pass@k the first k that reaches it, for pass^k the last one that still has it, 0 if none
    has.  None beyond SOUGHT.
    """
    ahead, family = numbers.extrapolation, numbers.rates.metric.family
    ks = _search_ks(ahead.largest_known_k)
    by_low, by_high = (
        _crossing(ks, lambda k, end=end: numbers.limits(k)[end], target, falling=ahead.mirrored)  # type: ignore[misc]
        for end in (0, 1)
    )
    low, high = (by_low, by_high) if ahead.mirrored else (by_high, by_low)
    least = int(numbers.rates.n.min())
    beyond = [k for k in ks if k > least]
    means = dict(zip(beyond, ahead.average(np.array(beyond)).values.tolist(), strict=True))
    value = _crossing(
        ks, lambda k: means[k] if k > least else numbers.measured(k), target,
        falling=ahead.mirrored,
    )  # fmt: skip
    if value is not None and value > least and not ahead.determined(value):
        value = None
    if value is not None:
        value = min(max(value, low or 0), value if high is None else high)
    reason = "" if value is not None else "the range at that k is too wide for a point"
    return replace(
        numbers.blank, name=f"k for {family}k = {target:g}",
        estimate=Estimate(value, low=low, high=high, reason=reason, unit="score"),
        flaw=f"high: more than {LARGEST_SEARCH_K_WORDS}" if high is None else "",
    )  # fmt: skip


def _search_ks(known_k: int) -> list[int]:
    """The k's among which a target's k is sought: all known ones, then those of two digits."""
    beyond = {two_digits(k) for k in np.geomspace(1, LARGEST_SEARCH_K, 2_000).tolist()}
    return sorted({*range(1, known_k + 1), *(k for k in beyond if k > known_k)})


def _crossing(
    ks: Sequence[int], value: Callable[[int], float], target: float, *, falling: bool
) -> int | None:
    """The first k at which a rising value is at least the target, None if none is; the last k at
    which a falling value is, 0 if none is and None if all are."""
    if not falling:
        place = bisect_left(ks, target, key=value)
        return ks[place] if place < len(ks) else None
    place = bisect_right(ks, -target, key=lambda k: -value(k))
    return None if place == len(ks) else ks[place - 1] if place else 0
