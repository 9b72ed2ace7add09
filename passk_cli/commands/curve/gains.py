"""The answer of `passk curve`: how the curves of one model change, or which model gains most."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from passk_cli.commands.curve.curves import AT, HAT, Curves
from passk_cli.report.data_types import Estimate
from passk_cli.report.phrases import plural
from passk_cli.study.answer import Answer
from passk_cli.study.result import Result
from passk_cli.study.value_range import name_with_groups

# Gains that differ by at most _EQUAL are treated as equal. A sentence names at most _NAMED models.
_EQUAL, _NAMED = 1e-12, 3


class ModelGains(NamedTuple):
    """The gains of several models between two numbers of attempts, `start` and `k`.

    `where` describes the tasks if some tasks are left out. `rising` means that more attempts can
    only increase the metric.
    """

    facts: Sequence[Result]
    metric: str
    start: int
    k: int
    where: str
    rising: bool
    exact: bool
    groups: Sequence[str]

    @property
    def sizes(self) -> list[float]:
        return [abs(fact.estimate.value or 0.0) for fact in self.facts]

    @property
    def most(self) -> list[Result]:
        return self._gains_of_size(max(self.sizes))

    @property
    def least(self) -> list[Result]:
        return self._gains_of_size(min(self.sizes))

    def _gains_of_size(self, end: float) -> list[Result]:
        sized_facts = zip(self.facts, self.sizes, strict=True)
        return [fact for fact, size in sized_facts if abs(size - end) <= _EQUAL]

    @property
    def overlapping(self) -> list[Result]:
        """Smaller gains with an interval that overlaps the interval of the largest gain."""
        lower = min(_limits(fact, exact=self.exact)[0] for fact in self.most)
        smaller = [fact for fact in self.facts if fact not in self.most]
        return [fact for fact in smaller if _limits(fact, exact=self.exact)[1] >= lower]

    @property
    def untested(self) -> bool:
        return any(math.isinf(_limits(fact, exact=self.exact)[1]) for fact in self.facts)

    @property
    def fields(self) -> Mapping[str, Any]:
        """The smallest and the largest gain with their models, and overlapping intervals."""
        names = [self._name(fact) for fact in (*self.most, *self.overlapping)]
        return {
            "metric": self.metric, "start": self.start, "k": self.k, "where": self.where,
            "rising": int(self.rising), "leaders": len(self.most),
            "low": _without_interval(self.least[0]), "least": self._names(self.least),
            "high": _without_interval(self.most[0]), "most": self._names(self.most),
            "intervals": names if len(names) <= _NAMED else names[:1],
            "more": len(names) - 1 if len(names) > _NAMED else 0,
        }  # fmt: skip

    def _name(self, fact: Result) -> str:
        return name_with_groups(fact.series, self.groups, " at ")

    def _names(self, facts: Sequence[Result]) -> list[str]:
        return [*map(self._name, facts)] if len(facts) <= _NAMED else [plural(len(facts), "model")]


GAINS = (
    Answer("gains-alike", lambda gains: len(gains.most) == len(gains.facts),
           "The {rising:gain|change} from {start} to {k} attempts{?where| on {where}} is the"
           " same for {most:and}: {metric} {high}."),
    Answer("gains-range", lambda gains: bool(gains.groups),
           "From {start} to {k} attempts{?where| on {where}}, {rising:gains|changes} of {metric}"
           " range from {low} ({least:and}) to {high} ({most:and})."),
    Answer("gains-untested", lambda gains: gains.untested,
           "From {start} to {k} attempts{?where| on {where}}, {rising:gains|changes} of {metric}"
           " range from {low} ({least:and}) to {high} ({most:and}); not tested."),
    Answer("gains-overlap", lambda gains: bool(gains.overlapping),
           "From {start} to {k} attempts{?where| on {where}}, {rising:gains|changes} of {metric}"
           " range from {low} ({least:and}) to {high} ({most:and}); the intervals of"
           " {intervals:and}{?more| and {more:other model}} overlap."),
    Answer("gains-apart", lambda gains: gains.rising,
           "{most:and} {leaders:gains|gain} most from {start} to {k} attempts"
           "{?where| on {where}} ({metric} {high}), {least:and} least ({low})."),
    Answer("changes-apart", lambda gains: True,
           "{most:and} {leaders:changes|change} most from {start} to {k} attempts"
           "{?where| on {where}} ({metric} {high}), {least:and} least ({low})."),
)  # fmt: skip


class SingleModelCurve:
    """The curves of one model, for the answer about this model."""

    def __init__(self, model: Curves, groups: Sequence[str]) -> None:
        self.points = model.points[model.main_curve]
        self.first, self.last = self.points[0], self.points[-1]
        self.curve, hat = model.main_curve, model.points.get(HAT)
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
    def flat(self) -> bool:
        """Whether all points of pass@k and pass^k have the same value."""
        points = [*self.points, self.hat]
        values = {(point.estimate.value or 0.0) for point in points}
        ranges = any(point.estimate.upper is not None for point in points)
        return max(values) - min(values) <= _EQUAL and not ranges

    @property
    def fields(self) -> Mapping[str, Any]:
        """The first and last values of the curves, and the direction of each curve."""
        start = self.start.value or 0.0
        rises, falls = (
            _sign((fact.estimate.value or 0.0) - start) for fact in (self.last, self.hat)
        )
        return {
            "model": self.name, "curve": self.curve, "number": self.last.name, "k": self.last.k,
            "start": self.first.k, "first": self.start, "last": self.last.estimate.without_interval,
            "estimate": self.first.estimate, "change": rises, "both": self.has_both_curves,
            "hat": self.hat.estimate.without_interval, "hat_change": falls,
            "tasks": self.last.size.tasks, "all": self.first.size.tasks,
        }  # fmt: skip


OF_ONE = (
    Answer("no-curve", lambda curve: curve.first.k == curve.last.k,
           "{number} of {model} is {estimate}; a curve needs at least two values of k."),
    Answer("flat-curves", lambda curve: curve.flat and curve.has_both_curves,
           "pass@k and pass^k of {model} are {first} at every k from {start} to {k}: no task passes"
           " only sometimes."),
    Answer("flat-curve", lambda curve: curve.flat,
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


def _sign(change: float) -> int:
    return 0 if abs(change) <= _EQUAL else 1 if change > 0 else -1


def _limits(fact: Result, *, exact: bool) -> tuple[float, float]:
    """The limits of the absolute value of a gain; infinite if the gain has no interval."""
    value, low, high = fact.estimate.value or 0.0, fact.estimate.low, fact.estimate.high
    if exact:
        return abs(value), abs(value)
    if low is None or high is None:
        return -math.inf, math.inf
    return (low, high) if value >= 0 else (-high, -low)


def _without_interval(fact: Result) -> Estimate:
    return replace(fact.estimate.without_interval, signed=True)
