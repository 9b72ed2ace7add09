"""Predictions of pass@k and pass^k at larger k, or the reasons for missing predictions."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from passk_cli.inference.extrapolation import (
    AttemptsToDetermineK,
    Extrapolation,
    round_to_two_digits,
    stopped_on_outcome_reason,
)
from passk_cli.inference.intervals import RANGE_METHOD
from passk_cli.metrics.registry import Metric
from passk_cli.report.data_types import Cell, Estimate
from passk_cli.study.analysis import Analysis
from passk_cli.study.result import Result, SampleSize
from passk_cli.study.values import SeriesKey, TaskValues

# passk searches for the k at which a curve reaches a target rate only up to k = LARGEST_SEARCH_K.
LARGEST_SEARCH_K, LARGEST_SEARCH_K_WORDS = 1_000_000, "10⁶"
LOG_LOGIT, AVERAGE = "log-logit", "average"


@dataclass(frozen=True)
class PredictionRequest:
    """The curves to predict, the requested values of k, and the target that a curve must reach."""

    curve_names: tuple[str, ...]
    ks: tuple[int, ...]
    target: float | None = None
    fit_name: str | None = None


@dataclass(frozen=True)
class _CurveToPredict:
    task_values: TaskValues

    @property
    def series(self) -> SeriesKey:
        return self.task_values.series

    @property
    def metric_family(self) -> str:
        return self.task_values.metric.family


@dataclass(frozen=True)
class UnpredictedCurve(_CurveToPredict):
    """A curve without a prediction.

    results : one empty result per requested k, with the reason why there is no prediction.
    """

    reason: str
    results: tuple[Result, ...]


@dataclass(frozen=True)
class Prediction(_CurveToPredict):
    """The predictions of one curve.

    results_by_k : results at the largest known k and at the requested k's.
    model_based_results : averages of several statistical models and, with --fit log-logit, the
        values of the log-logit line.
    """

    computation: _PredictionComputation
    results_by_k: Mapping[int, Result]
    model_based_results: tuple[Result, ...]
    target_k_results: tuple[Result, ...]

    @property
    def extrapolation(self) -> Extrapolation:
        return self.computation.extrapolation

    @property
    def known_k(self) -> int:
        """The largest k for which at least nine of ten tasks have enough attempts."""
        return self.extrapolation.largest_mostly_known_k

    @property
    def result_at_known_k(self) -> Result:
        return self.results_by_k[self.known_k]

    @property
    def curve_changing_task_count(self) -> int:
        """The number of tasks at which no attempt passed (for pass^k: no attempt failed)."""
        return int((self.extrapolation.pass_or_failure_counts == 0).sum())

    @property
    def results(self) -> Iterator[Result]:
        yield from self.results_by_k.values()
        yield from self.model_based_results
        yield from self.target_k_results

    def result_at(self, k: int) -> Result:
        """The result at k, which is the result of `passk estimate` if all tasks have k attempts."""
        return self.computation.result_at(k)

    def log_logit_estimate(self, k: int) -> Estimate:
        name = f"{self.metric_family}{k} by {LOG_LOGIT}"
        return next(fact.estimate for fact in self.model_based_results if fact.name == name)

    def attempts_needed(self, k: int) -> AttemptsToDetermineK | None:
        """The attempts per task that passk would need for a prediction at k or at a smaller k.

        The result is None if even many more attempts would not be enough.
        """
        return self.extrapolation.attempts_needed(k)


def predict_curve(
    study: Analysis, rates: TaskValues, aim: PredictionRequest
) -> Prediction | UnpredictedCurve:
    """Predict one curve.  rates : values of the curve at k = 1.  aim : requested k's and target."""
    family, n, level = rates.metric.family, rates.n, study.confidence.level
    blank = Result(
        rates.series, "", None, Estimate(None), size=SampleSize(len(n), *rates.attempts_range),
        method=RANGE_METHOD,
        level=level, extra_fields={"beyond": "yes"},
    )  # fmt: skip
    if reason := stopped_on_outcome_reason(n, rates.c):
        nothing = replace(blank, estimate=Estimate(None, reason=reason))
        facts = (replace(nothing, name=f"{family}{k}", k=k) for k in aim.ks)
        return UnpredictedCurve(rates, reason, tuple(facts))
    ahead = Extrapolation(n, rates.c, family == "pass^", level, rates.clusters)
    numbers = _PredictionComputation(study, rates, ahead, blank)
    ks = sorted({ahead.largest_mostly_known_k, *aim.ks})
    further = _model_based_results(
        numbers, [k for k in aim.ks if k > ahead.largest_mostly_known_k], aim.fit_name
    )
    reaches = () if aim.target is None else (_k_reaching_target_result(numbers, aim.target),)
    return Prediction(
        rates, numbers, {k: numbers.result_at(k) for k in ks}, tuple(further), reaches
    )


@dataclass(frozen=True)
class _PredictionComputation:
    study: Analysis
    task_values: TaskValues
    extrapolation: Extrapolation
    result_template: Result

    def result_at(self, k: int) -> Result:
        """The result at k.

        Beyond the attempts made, the result has an estimate only if the range of possible values is
        narrow.
        """
        metric, known_k = (
            Metric(self.task_values.metric.family, k),
            self.extrapolation.largest_mostly_known_k,
        )
        if k <= self.task_values.n.min():
            values = metric.values(self.task_values.n, self.task_values.c)
            fact = self.study.result(replace(self.task_values, metric=metric, values=values))
            return replace(fact, extra_fields={"beyond": "no"})
        low, high = self.range_at(k)
        value = self.extrapolation.point_estimate(k)
        reason = "" if value is not None else f"{known_k} attempts per task do not determine it"
        if value is not None:
            value = min(max(value, low), high)
        estimate = Estimate(value, low=low, high=high, reason=reason)
        more: dict[str, Cell] = {"beyond": "yes" if k > known_k else "no"}
        return replace(
            self.result_template, name=metric.name, k=k, estimate=estimate, extra_fields=more
        )

    def measured_mean_at(self, k: int) -> float:
        metric = Metric(self.task_values.metric.family, k)
        return float(metric.values(self.task_values.n, self.task_values.c).mean())

    def range_at(self, k: int) -> tuple[float, float]:
        """The range of values at k, or the confidence interval if all tasks have k attempts.

        At larger k, the limits of pass@k never fall below the limits of this interval, and the
        limits of pass^k never rise above the limits of this interval.
        """
        least = int(self.task_values.n.min())
        if k <= least:
            estimate = self.result_at(k).estimate
            return estimate.low or 0.0, 1.0 if estimate.high is None else estimate.high
        (low, high), (measured_low, measured_high) = (
            self.extrapolation.range(k),
            self.range_at(least),
        )
        end = min if self.extrapolation.for_pass_hat_k else max
        return end(low, measured_low), end(high, measured_high)


def _model_based_results(
    numbers: _PredictionComputation, ks: Sequence[int], fit: str | None
) -> Iterator[Result]:
    if not ks:
        return
    at, ahead = np.array(ks), numbers.extrapolation
    averaged, line = ahead.model_average(at), ahead.pass_at_k_from_logit_line(at) if fit else None
    for place, k in enumerate(ks):
        name = f"{numbers.task_values.metric.family}{k} by "
        more: dict[str, Cell] = {"beyond": "yes", "fit_k": k}
        value, low, high = (
            float(part[place]) for part in (averaged.posterior_means, averaged.low, averaged.high)
        )
        yield replace(
            numbers.result_template, name=name + AVERAGE, estimate=Estimate(value, low=low,
                high=high),
            method=AVERAGE, extra_fields=more,
        )  # fmt: skip
        if line is not None:
            is_defined = not np.isnan(line[place])
            estimate = (
                Estimate(float(line[place]))
                if is_defined
                else Estimate(None, reason=f"{name[:5]}k is 0 or 1 at all but one k")
            )
            yield replace(
                numbers.result_template, name=name + LOG_LOGIT, estimate=estimate, method="none",
                level=None,
                extra_fields=more,
            )  # fmt: skip


def _k_reaching_target_result(numbers: _PredictionComputation, target: float) -> Result:
    """The values of k at which the average of models and both limits of the range reach the target.

    pass@k reaches the target at the first k at which pass@k is at least the target. For pass^k, the
    result is the last k at which pass^k is at least the target, or 0 if there is no such k. A k
    above LARGEST_SEARCH_K is None. The k of the average is also None if the range is too wide.
    """
    ahead, family = numbers.extrapolation, numbers.task_values.metric.family
    ks = _search_ks(ahead.largest_mostly_known_k)
    falling = ahead.for_pass_hat_k
    by_low = _k_at_target(ks, lambda k: numbers.range_at(k)[0], target, falling=falling)
    by_high = _k_at_target(ks, lambda k: numbers.range_at(k)[1], target, falling=falling)
    low, high = (by_low, by_high) if ahead.for_pass_hat_k else (by_high, by_low)
    least = int(numbers.task_values.n.min())
    beyond = [k for k in ks if k > least]
    means = dict(
        zip(beyond, ahead.model_average(np.array(beyond)).posterior_means.tolist(), strict=True)
    )
    value = _k_at_target(
        ks, lambda k: means[k] if k > least else numbers.measured_mean_at(k), target,
        falling=ahead.for_pass_hat_k,
    )  # fmt: skip
    if value is not None and value > least and not ahead.is_determined(value):
        value = None
    if value is not None:
        value = min(max(value, low or 0), value if high is None else high)
    reason = "" if value is not None else "the range at that k is too wide for a point"
    return replace(
        numbers.result_template,
        name=f"k for {family}k = {target:g}",
        estimate=Estimate(value, low=low, high=high, reason=reason, unit="score"),
        interval_flaw=f"high: more than {LARGEST_SEARCH_K_WORDS}" if high is None else "",
    )


def _search_ks(known_k: int) -> list[int]:
    beyond = {round_to_two_digits(k) for k in np.geomspace(1, LARGEST_SEARCH_K, 2_000).tolist()}
    return sorted({*range(1, known_k + 1), *(k for k in beyond if k > known_k)})


def _k_at_target(
    ks: Sequence[int], value: Callable[[int], float], target: float, *, falling: bool
) -> int | None:
    """The first k at which an increasing value reaches the target, or None if there is no such k.

    For a decreasing value, the result is the last k at which the value is at least the target. The
    result is 0 if the value is always below the target, and None if the value is never below.
    """
    if not falling:
        place = bisect_left(ks, target, key=value)
        return ks[place] if place < len(ks) else None
    place = bisect_right(ks, -target, key=lambda k: -value(k))
    return None if place == len(ks) else ks[place - 1] if place else 0
