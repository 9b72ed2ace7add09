"""Answer sentences for `passk curve`: how curves change with k, or which model gains most."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from passk_cli.commands.curve.curves import AT, HAT, ModelCurves
from passk_cli.report.data_types import Estimate
from passk_cli.report.phrases import plural
from passk_cli.study.answer import Answer
from passk_cli.study.result import Result
from passk_cli.study.value_range import name_with_groups

# Gains that differ by at most _EQUAL are treated as equal. A sentence names at most _NAMED models.
_EQUAL, _NAMED = 1e-12, 3


class ModelGains(NamedTuple):
    """The gains of several models from `start_k` to `k` attempts.

    If some tasks are left out, `shared_tasks_text` describes the remaining tasks.
    `is_metric_nondecreasing_in_k` means that more attempts can only increase the metric.
    """

    gain_results_of_models: Sequence[Result]
    metric_name: str
    start_k: int
    k: int
    shared_tasks_text: str
    is_metric_nondecreasing_in_k: bool
    has_exact_rates: bool
    group_names: Sequence[str]

    @property
    def gain_magnitudes(self) -> list[float]:
        return [abs(fact.estimate.value or 0.0) for fact in self.gain_results_of_models]

    @property
    def results_with_largest_gain(self) -> list[Result]:
        return self._gains_with_magnitude(max(self.gain_magnitudes))

    @property
    def results_with_smallest_gain(self) -> list[Result]:
        return self._gains_with_magnitude(min(self.gain_magnitudes))

    def _gains_with_magnitude(self, end: float) -> list[Result]:
        sized_facts = zip(self.gain_results_of_models, self.gain_magnitudes, strict=True)
        return [fact for fact, size in sized_facts if abs(size - end) <= _EQUAL]

    @property
    def gains_overlapping_largest(self) -> list[Result]:
        """The smaller gains with intervals that overlap the interval of the largest gain."""
        lower = min(
            _absolute_gain_limits(fact, exact=self.has_exact_rates)[0]
            for fact in self.results_with_largest_gain
        )
        smaller = [
            fact
            for fact in self.gain_results_of_models
            if fact not in self.results_with_largest_gain
        ]
        return [
            fact
            for fact in smaller
            if _absolute_gain_limits(fact, exact=self.has_exact_rates)[1] >= lower
        ]

    @property
    def has_gain_without_interval(self) -> bool:
        return any(
            math.isinf(_absolute_gain_limits(fact, exact=self.has_exact_rates)[1])
            for fact in self.gain_results_of_models
        )

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        """The smallest and largest gain with model names, and models with overlapping intervals."""
        names = [
            self._model_name(fact)
            for fact in (*self.results_with_largest_gain, *self.gains_overlapping_largest)
        ]
        return {
            "metric": self.metric_name, "start": self.start_k, "k": self.k,
            "where": self.shared_tasks_text,
            "rising": int(self.is_metric_nondecreasing_in_k),
            "leaders": len(self.results_with_largest_gain),
            "low": _signed_estimate_without_interval(self.results_with_smallest_gain[0]),
            "least": self._model_names_or_count(self.results_with_smallest_gain),
            "high": _signed_estimate_without_interval(self.results_with_largest_gain[0]),
            "most": self._model_names_or_count(self.results_with_largest_gain),
            "intervals": names if len(names) <= _NAMED else names[:1],
            "more": len(names) - 1 if len(names) > _NAMED else 0,
        }  # fmt: skip

    def _model_name(self, fact: Result) -> str:
        return name_with_groups(fact.series, self.group_names, " at ")

    def _model_names_or_count(self, facts: Sequence[Result]) -> list[str]:
        return (
            [*map(self._model_name, facts)]
            if len(facts) <= _NAMED
            else [plural(len(facts), "model")]
        )


GAIN_ANSWER_TEMPLATES = (
    Answer("gains-alike",
        lambda gains: len(gains.results_with_largest_gain) == len(gains.gain_results_of_models),
           "The {rising:gain|change} from {start} to {k} attempts{?where| on {where}} is the"
           " same for {most:and}: {metric} {high}."),
    Answer("gains-range", lambda gains: bool(gains.group_names),
           "From {start} to {k} attempts{?where| on {where}}, {rising:gains|changes} of {metric}"
           " range from {low} ({least:and}) to {high} ({most:and})."),
    Answer("gains-untested", lambda gains: gains.has_gain_without_interval,
           "From {start} to {k} attempts{?where| on {where}}, {rising:gains|changes} of {metric}"
           " range from {low} ({least:and}) to {high} ({most:and}); not tested."),
    Answer("gains-overlap", lambda gains: bool(gains.gains_overlapping_largest),
           "From {start} to {k} attempts{?where| on {where}}, {rising:gains|changes} of {metric}"
           " range from {low} ({least:and}) to {high} ({most:and}); the intervals of"
           " {intervals:and}{?more| and {more:other model}} overlap."),
    Answer("gains-apart", lambda gains: gains.is_metric_nondecreasing_in_k,
           "{most:and} {leaders:gains|gain} most from {start} to {k} attempts"
           "{?where| on {where}} ({metric} {high}), {least:and} least ({low})."),
    Answer("changes-apart", lambda gains: True,
           "{most:and} {leaders:changes|change} most from {start} to {k} attempts"
           "{?where| on {where}} ({metric} {high}), {least:and} least ({low})."),
)  # fmt: skip


class CurvesOfSingleModel:
    """The curves of a single model, which the answer describes."""

    def __init__(self, model: ModelCurves, groups: Sequence[str]) -> None:
        self.points = model.results_by_curve[model.main_curve_name]
        self.first, self.last = self.points[0], self.points[-1]
        self.curve, hat = model.main_curve_name, model.results_by_curve.get(HAT)
        self.has_both_curves = self.curve == AT and hat is not None
        self.hat = hat[-1] if hat else self.last
        self.name = name_with_groups(model.series, groups)
        self.fewer = self.last.size.tasks != self.first.size.tasks
        last = self.last.estimate.value
        gains = (step.gain.estimate.value for step in model.step_gains
                 if (step.start, step.gain.k) == (self.first.k, self.last.k))  # fmt: skip
        gain = next(gains, None) if self.curve == AT else None
        self.comparable_ends = not self.fewer or None not in (gain, last)
        self.start = replace(self.first.estimate.without_interval, value=last - gain) if (
            self.fewer and last is not None and gain is not None
        ) else self.first.estimate.without_interval  # fmt: skip

    @property
    def is_same_at_every_k(self) -> bool:
        """Whether all points of pass@k and pass^k have the same value."""
        points = [*self.points, self.hat]
        values = {(point.estimate.value or 0.0) for point in points}
        ranges = any(point.estimate.range_upper_end is not None for point in points)
        return max(values) - min(values) <= _EQUAL and not ranges

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        """The first and last values of the curves, and the direction of each curve."""
        start = self.start.value or 0.0
        rises, falls = (
            _sign_ignoring_tiny_changes((fact.estimate.value or 0.0) - start)
            for fact in (self.last, self.hat)
        )
        return {
            "model": self.name, "curve": self.curve, "number": self.last.name, "k": self.last.k,
            "start": self.first.k, "first": self.start, "last": self.last.estimate.without_interval,
            "estimate": self.first.estimate, "change": rises, "both": self.has_both_curves,
            "hat": self.hat.estimate.without_interval, "hat_change": falls,
            "tasks": self.last.size.tasks, "all": self.first.size.tasks,
        }  # fmt: skip


SINGLE_MODEL_ANSWER_TEMPLATES = (
    Answer("no-curve", lambda curve: curve.first.k == curve.last.k,
           "{number} of {model} is {estimate}; a curve needs at least two values of k."),
    Answer("flat-curves", lambda curve: curve.is_same_at_every_k and curve.has_both_curves,
           "pass@k and pass^k of {model} are {first} at every k from {start} to {k}: no task passes"
           " only sometimes."),
    Answer("flat-curve", lambda curve: curve.is_same_at_every_k,
           "{curve} of {model} is {first} at every k from {start} to {k}."),
    Answer("last-of-fewer-tasks", lambda curve: not curve.comparable_ends,
           "On the {tasks} of {all:task} with {k:attempt} of {model}, {number} is {last}."),
    Answer("curve-of-fewer-tasks", lambda curve: curve.fewer,
           "On the {tasks} of {all:task} with {k:attempt} of {model}, {curve}"
           " {change:falls|stays|rises} from {first} to {last}"
           "{?both|, and pass^k {hat_change:falls|stays|rises} to {hat}}."),
    Answer("curve", lambda _: True,
           "From {start} to {k} attempts of {model}, {curve} {change:falls|stays|rises} from"
           " {first} to {last}{?both|, and pass^k {hat_change:falls|stays|rises} to {hat}}."),
)  # fmt: skip


def _sign_ignoring_tiny_changes(change: float) -> int:
    return 0 if abs(change) <= _EQUAL else 1 if change > 0 else -1


def _absolute_gain_limits(fact: Result, *, exact: bool) -> tuple[float, float]:
    """The lower and upper limit of an absolute gain.

    The limits of an exact gain are equal. Without an interval, the limits of other gains are
    infinite.
    """
    value, low, high = fact.estimate.value or 0.0, fact.estimate.low, fact.estimate.high
    if exact:
        return abs(value), abs(value)
    if low is None or high is None:
        return -math.inf, math.inf
    return (low, high) if value >= 0 else (-high, -low)


def _signed_estimate_without_interval(fact: Result) -> Estimate:
    return replace(fact.estimate.without_interval, signed=True)
