"""The rules of a gate, each with its options and how it is judged."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

from passk_cli.commands.gate.verdicts import ERROR, FAIL, PASS, UNDECIDED
from passk_cli.errors import ParameterError
from passk_cli.option import Option
from passk_cli.report.words import plural
from passk_cli.study.rules import INTERVAL, SIGN_FLIP, SUISSA_SHUSTER

if TYPE_CHECKING:
    from passk_cli.commands.gate.judgement import Judgement
    from passk_cli.commands.gate.trial import Trial
    from passk_cli.inference.intervals import Sample
    from passk_cli.metrics.registry import Metric
    from passk_cli.study.comparison import Comparison
    from passk_cli.study.confidence import Confidence
    from passk_cli.study.values import Series, TaskValues

    # A candidate's series at a metric, and the verdict on each.
    Line = tuple[Series, Metric]
    Outcomes = dict[Line, str]

_Data = TypeVar("_Data")


def parse_limits(option: str, value: Any) -> Mapping[Metric, float]:
    """`["pass@1=0.02"]` → {pass@1: 0.02}; percentages may be written 2%.  Or {"pass@1": 0.02}."""
    from passk_cli.metrics.registry import parse

    if isinstance(value, Mapping):
        value = [f"{name}={number}" for name, number in value.items()]
    limits: dict[Metric, float] = {}
    for text in (part for whole in value for part in whole.split(",")):
        name, equals, digits = text.partition("=")
        try:
            number = float(digits.rstrip("%")) / (100 if digits.endswith("%") else 1)
        except ValueError:
            number = math.nan
        if not equals or not math.isfinite(number):
            raise ParameterError(f"{option} {text}: write METRIC=X, as in pass@1=0.02")
        metric = parse(name)
        if metric.unit == "share" and not 0.0 <= number <= 1.0:
            raise ParameterError(f"{option} {text}: write METRIC=X with X from 0 to 1")
        if metric in limits:
            raise ParameterError(f"{option} {metric.name} is given twice")
        limits[metric] = number
    return limits


@dataclass(frozen=True)
class GateRule:
    """Base of the rules: fields are options, `judge` gives a judgement per candidate and metric.

    compares : whether it asks about differences to the baseline.
    general : whether it asks about the metrics of -k and -m.
    """

    compares: ClassVar[bool] = False
    general: ClassVar[bool] = False

    @property
    def wanted(self) -> bool:
        """Whether it was asked for."""
        return bool(self.named)

    @property
    def named(self) -> Sequence[Metric]:
        """The metrics that its own options name."""
        return ()

    def about(self, metric: Metric) -> tuple[str, float | None]:
        """What it asks of a metric, in words, and its number."""
        raise NotImplementedError

    def judge(self, trial: Trial) -> Iterator[Judgement]:
        """Its judgements."""
        raise NotImplementedError

    def outcomes(self, trials: Sequence[Trial]) -> list[Outcomes]:
        """The verdicts of `judge` that passes and failures decide, of each trial.

        Without what is only shown, and for trials of one shape together: many times as fast.
        """
        return [{} for _ in trials]


@dataclass(frozen=True)
class EveryTask(GateRule):
    """Every task of the baseline was run, unless some may be missing."""

    unpaired: Annotated[
        str,
        Option(
            "--unpaired",
            help="Baseline tasks that the new run lacks",
            choices=("fail", "drop"),
            detail="fail: the gate fails; drop: the others are compared.",
        ),
    ] = "fail"

    @property
    def wanted(self) -> bool:
        """Unless the others are compared without them."""
        return self.unpaired == "fail"

    def judge(self, trial: Trial) -> Iterator[Judgement]:
        """A line per series of the candidates, and per series that only the baseline has."""
        from passk_cli.commands.gate.judgement import Judgement

        if trial.sides.baseline is None:
            return
        every = {**trial.coverages, **trial.sides.missing}
        for series, coverage in every.items():
            line = Judgement("every baseline task run", trial.fact(series), covered=coverage)
            if coverage is not None:
                lost = [coverage.lost_words(series)] if coverage.lost else []
                more = [] if series in trial.sides.missing else trial.lesser(series)
                text = f"{coverage.shared:,} of {coverage.expected:,}"
                line = replace(line, counted=text, details=(*lost, *more))
                yield line.judged(FAIL if coverage.lost else PASS)
            elif trial.sides.partner(series[0]) is None:
                yield line.unchecked(trial.sides.lacking(series))


@dataclass(frozen=True)
class Minimum(GateRule):
    """A metric reaches a number; its lower limit does, when strict."""

    minimum: Annotated[
        Mapping[Any, float],
        Option(
            "--min",
            "METRIC=X",
            "Fails when the estimate is below X.",
            parse=partial(parse_limits, "--min"),
        ),
    ] = field(default_factory=dict)
    strict: Annotated[
        bool, Option("--strict", help="--min is about the lower limit of the interval.")
    ] = False

    @property
    def named(self) -> Sequence[Metric]:
        """The metrics with a least number."""
        return tuple(self.minimum)

    def about(self, metric: Metric) -> tuple[str, float | None]:
        """As "≥ 0.8"."""
        least = self.minimum[metric]
        return f"≥ {least:g}" + (" (lower limit)" if self.strict else ""), least

    def judge(self, trial: Trial) -> Iterator[Judgement]:
        """A line per candidate's series and metric."""
        for rates in trial.candidates:
            if rates.metric not in self.minimum:
                continue
            fact = trial.study.fact(rates)
            short = [rates.reason] if rates.there else []
            line = trial.line(rates, fact, self, [*short, *trial.left_out(rates, "baseline")])
            estimate = fact.estimate
            bar = estimate.low if self.strict else estimate.value
            if estimate.value is None or bar is None:
                yield line.unchecked(estimate.reason or fact.flaw)
            else:
                yield line.judged(PASS if bar >= self.minimum[rates.metric] - 1e-12 else FAIL)

    def outcomes(self, trials: Sequence[Trial]) -> list[Outcomes]:
        """As `judge`; the lower limit only where it is asked for."""
        asked = trials[0].study.confidence

        def judged(line: Line, every: Sequence[TaskValues]) -> list[str]:
            least = self.minimum[line[1]] - 1e-12
            if not self.strict:
                return [PASS if rates.mean >= least else FAIL for rates in every]
            places = _sides([rates.sample(asked) for rates in every], least, asked)
            return [FAIL if verdict == UNDECIDED else verdict for verdict in places]

        candidates = (
            [rates for rates in trial.candidates if rates.metric in self.minimum and rates.there]
            for trial in trials
        )
        return _by_line([[((r.series, r.metric), r) for r in one] for one in candidates], judged)


@dataclass(frozen=True)
class NoRegression(GateRule):
    """No metric of -k and -m is significantly lower than the baseline's, after adjustment."""

    no_regression: Annotated[
        bool, Option("--no-regression", help="Fails on any significant drop, adjusted.")
    ] = False
    compares = True
    general = True

    @property
    def wanted(self) -> bool:
        """Whether it was asked for."""
        return self.no_regression

    def about(self, metric: Metric) -> tuple[str, float | None]:
        """It has no number."""
        return "no regression", None

    def judge(self, trial: Trial) -> Iterator[Judgement]:
        """A line per pair and metric; only these count as tests."""
        compared = trial.tested()
        tests = sum(not c.reason for c in compared)
        for c in compared:
            line = trial.difference(c, self)
            if not c.testable:
                yield line.unchecked(c.reason or c.untested or "its test has no p")
                continue
            many = f" ({c.adjustment} over {plural(tests, 'test')})" * (tests > 1)
            p = f"p = {c.adjusted:.4f}" if c.adjusted >= 1e-4 else "p < 0.0001"
            rejects = c.adjusted <= 1 - trial.study.confidence.level + 1e-12
            if c.leaves_out_zero not in (None, rejects):
                p += ", which decides, not the interval"
            verdict = self._verdict(c, trial)
            few = plural(_units(c), "task" if c.clusters is None else "cluster")
            no = [f"with {few} no drop can be significant"] * (verdict == UNDECIDED)
            yield line.judged(verdict, p + many, *no)

    def outcomes(self, trials: Sequence[Trial]) -> list[Outcomes]:
        """As `judge`, without intervals."""
        from passk_cli.study.pairs import test_pairs

        trial = trials[0]
        pairs = [one.pairs(one.general) for one in trials]
        tested = test_pairs(pairs, trial.study.confidence, trial.study.rules)
        return [
            {
                (c.first.series, c.first.metric): self._verdict(c, trial) if c.testable else ERROR
                for c in comparisons
                if not c.reason
            }
            for comparisons in tested
        ]

    def _verdict(self, c: Comparison, trial: Trial) -> str:
        """Undecided where no outcomes of so many tasks could be significant."""
        from passk_cli.study.pairs import WORSE

        if _least_p(c, _units(c)) > 1 - trial.study.confidence.level + 1e-12:
            return UNDECIDED
        return FAIL if c.verdict == WORSE else PASS


def _units(c: Comparison) -> int:
    """Tasks, or clusters where there are some."""
    return len(c.tasks) if c.clusters is None else int(c.clusters.max()) + 1


def _least_p(c: Comparison, units: int) -> float:
    """The smallest p of this test on so many tasks or clusters, whatever their outcomes."""
    from passk_cli.study.paired import MCNEMAR

    if c.test in (SIGN_FLIP, SUISSA_SHUSTER, MCNEMAR):
        return 2.0 ** (1 - units)
    return c.smallest if c.test == INTERVAL else 0.0


@dataclass(frozen=True)
class MaxDrop(GateRule):
    """A metric is not significantly lower than the baseline's by more than a number."""

    max_drop: Annotated[
        Mapping[Any, float],
        Option(
            "--max-drop",
            "METRIC=X",
            "Fails when the drop is significantly larger than X.",
            parse=partial(parse_limits, "--max-drop"),
        ),
    ] = field(default_factory=dict)
    compares = True

    @property
    def named(self) -> Sequence[Metric]:
        """The metrics with a largest drop."""
        return tuple(self.max_drop)

    def about(self, metric: Metric) -> tuple[str, float | None]:
        """As "drop ≤ 0.02"."""
        return f"drop ≤ {self.max_drop[metric]:g}", self.max_drop[metric]

    def judge(self, trial: Trial) -> Iterator[Judgement]:
        """A line per pair and metric: it fails when even the upper limit lies below."""
        for c in trial.untested(self.named):
            line, most, limits = (
                trial.difference(c, self),
                self.max_drop[c.first.metric],
                c.interval,
            )
            low, high = (None, None) if limits is None else (limits.low, limits.high)
            if low is None or high is None:
                yield line.unchecked(c.reason or (limits.reason if limits else ""))
            elif low >= -most:
                yield line
            elif high < -most:
                yield line.judged(FAIL)
            else:
                yield line.judged(UNDECIDED, _tasks_needed(c, low, high, most))

    def outcomes(self, trials: Sequence[Trial]) -> list[Outcomes]:
        """As `judge`: on which side of the limit each interval lies, without its limits."""
        from passk_cli.study.comparison import (
            difference_sample,
            match,
            method_of_difference,
        )

        asked = trials[0].study.confidence.for_differences()

        def judged(line: Line, every: Sequence[Comparison]) -> list[str]:
            samples = [difference_sample(c, asked) for c in every]
            # n and k, and so the method, are those of all rehearsals.
            used = replace(asked, interval=method_of_difference(every[0], asked))
            return _sides(samples, -self.max_drop[line[1]], used)

        matched = ([match(*pair) for pair in trial.pairs(self.named)] for trial in trials)
        return _by_line(
            [[((c.first.series, c.first.metric), c) for c in one if not c.reason]
             for one in matched], judged,
        )  # fmt: skip


def _by_line(
    trials: Sequence[Sequence[tuple[Line, _Data]]],
    judged: Callable[[Line, Sequence[_Data]], list[str]],
) -> list[Outcomes]:
    """The outcomes of each trial, where a line is judged for all of them at once."""
    every: dict[Line, list[tuple[int, _Data]]] = {}
    for at, trial in enumerate(trials):
        for line, data in trial:
            every.setdefault(line, []).append((at, data))
    outcomes: list[Outcomes] = [{} for _ in trials]
    for line, each in every.items():
        verdicts = judged(line, [data for _, data in each])
        for (at, _), verdict in zip(each, verdicts, strict=True):
            outcomes[at][line] = verdict
    return outcomes


def _sides(samples: Sequence[Sample], value: float, asked: Confidence) -> list[str]:
    """Pass where the interval lies above a value, fail where below, undecided around it."""
    from passk_cli.inference.intervals import sides

    places = sides(samples, value, asked.method, asked.level, asked.population)
    return [ERROR if place is None else (UNDECIDED, PASS, FAIL)[place] for place in places]


def _tasks_needed(c: Comparison, low: float, high: float, most: float) -> str:
    """About how many tasks would settle it: the interval's reach shrinks with their root."""
    difference = float(c.d.mean())
    away = difference + most
    reach = difference - low if away > 0 else high - difference
    if abs(away) < 1e-3:
        return "no number of tasks would decide it: the drop lies on the limit"
    count = math.ceil(len(c.tasks) * (reach / abs(away)) ** 2)
    if count > 10_000_000:
        return "no feasible number of tasks would decide it: the drop lies on the limit"
    return f"about {plural(count, 'task')} would decide it, if the difference stays"
