"""The rules of a gate, each with its options and how it is judged."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

from passk_cli.commands.gate.sentences import (
    drop,
    minimum,
    of_attempts,
    of_drop,
    of_each,
    of_minimum,
    of_named,
    of_regression,
    of_tasks,
    p_words,
)
from passk_cli.commands.gate.verdicts import ERROR, FAIL, PASS, UNDECIDED
from passk_cli.errors import ParameterError
from passk_cli.option import Option, split
from passk_cli.report.words import first_few, plural
from passk_cli.study.rules import GUARDED_T, MAX_T, SIGN_FLIP, SUISSA_SHUSTER
from passk_cli.text import cut

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from passk_cli.commands.gate.judgement import Judgement
    from passk_cli.commands.gate.trial import Trial
    from passk_cli.inference.intervals import Sample
    from passk_cli.metrics.registry import Metric
    from passk_cli.report.model import Estimate, Sentence
    from passk_cli.study.comparison import Comparison
    from passk_cli.study.confidence import Confidence
    from passk_cli.study.fact import Fact
    from passk_cli.study.values import Series, TaskValues

    # A candidate's series at a metric, and the verdict on each.
    Line = tuple[Series, Metric]
    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Booleans = NDArray[np.bool_]
    Outcomes = dict[Line, str]

_Data = TypeVar("_Data")
# What a minimum is compared with, and how a rule's name says it.
MIN_BY = (BY_INTERVAL, BY_ESTIMATE, BY_LOWER) = ("interval", "estimate", "lower")
_BASIS = {BY_INTERVAL: "", BY_ESTIMATE: " (estimate)", BY_LOWER: " (lower limit)"}
# The rules of `EveryTask` and `EveryAttempt`.
EVERY = "every baseline task run"
EVERY_ATTEMPT = "every baseline attempt run"


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


def parse_tasks(value: Any) -> tuple[str, ...]:
    """Names of tasks from texts as "a,b", or from files with one on each line.

    Errors: ParameterError for a file that cannot be read or names no task.
    """
    names: list[str] = []
    for text in value:
        if not os.path.isfile(text):
            names += split(text)
            continue
        try:
            lines = Path(text).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError):
            raise ParameterError(
                f"--must-pass {text}: not a text file; write a task a line"
            ) from None
        tasks = [line.strip() for line in lines if line.strip()]
        if not tasks:
            raise ParameterError(f"--must-pass {text}: it names no task; write one on each line")
        names += tasks
    if not names:
        raise ValueError
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True)
class GateRule:
    """Base of the rules: fields are options, `judge` gives a judgement per candidate and metric.

    compares : whether it asks about differences to the baseline.
    general : whether it asks about the metrics of -k and -m.
    """

    title: ClassVar[str] = "Rules"
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

    def words(self, metric: Metric) -> Sentence:
        """The same for people: its number in the reader's digits."""
        return (self.about(metric)[0],)

    @property
    def signature(self) -> dict[str, object]:
        """Its options as entries of a signature, where they are not their defaults."""
        entries = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if not value or value == each.default:
                continue
            if isinstance(value, Mapping):
                value = ",".join(f"{metric.name}={number}" for metric, number in value.items())
            name = "min" if each.name == "minimum" else each.name
            value = ",".join(value) if isinstance(value, tuple) else value
            entries[name] = "yes" if value is True else value
        return entries

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
            help="Baseline tasks not run",
            choices=("fail", "drop"),
            detail="fail: the gate fails; drop: the others are compared. drop also allows other"
            " numbers of attempts than --attempts declares, and says them.",
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
            line = Judgement(EVERY, trial.fact(series), covered=coverage, words=(EVERY,))
            if coverage is not None:
                lost = [coverage.lost_words(series)] if coverage.lost else []
                more = [] if series in trial.sides.missing else trial.lesser(series)
                text = f"{coverage.shared:,} of {coverage.expected:,}"
                line = replace(line, counted=text, details=(*lost, *more))
                verdict = FAIL if coverage.lost else PASS
                yield line.judged(verdict, finding=of_tasks(series, coverage))
            elif trial.sides.partner(series[0]) is None:
                yield line.unchecked(trial.sides.lacking(series))


@dataclass(frozen=True)
class EveryAttempt(GateRule):
    """Every attempt of the baseline was run, or the number that was declared; and no more.

    Equally many attempts at every task are a plan, whatever the baseline has, and so is the same
    share everywhere.  Other numbers are attempts lost, or failures tried again.
    """

    attempts: Annotated[
        int | None,
        Option(
            "--attempts",
            "N",
            "Fails unless every task has N attempts.",
            low=1,
            detail="Attempts without an outcome count. Without it, attempts are counted against the"
            " baseline: fewer or more fail the gate, but equally many at every task are allowed.",
        ),
    ] = None

    @property
    def wanted(self) -> bool:
        """Always: without a number it is about the baseline."""
        return True

    def judge(self, trial: Trial) -> Iterator[Judgement]:
        """A line per series of the candidates, where something says how many were to be made."""
        from passk_cli.commands.gate.judgement import Judgement

        if trial.unpaired == "drop":
            return
        rule = EVERY_ATTEMPT
        if self.attempts is not None:
            rule = f"{plural(self.attempts, 'attempt')} at every task"
        for series, made in trial.made[0].items():
            if made.wanted is None:
                continue
            line = Judgement(
                rule, trial.fact(series), covered=trial.coverages[series], counted=made.counted,
                limit=self.attempts, words=(rule,), details=tuple(trial.lesser(series)),
            )  # fmt: skip
            retried = trial.retried(series)
            verdict = PASS if made.design and not retried else FAIL
            yield line.judged(verdict, *retried, finding=of_attempts(series, made))


@dataclass(frozen=True)
class Minimum(GateRule):
    """A metric reaches a number: its interval does, its estimate, or its lower limit."""

    minimum: Annotated[
        Mapping[Any, float],
        Option(
            "--min",
            "METRIC=X",
            "Fails when the interval lies below X.",
            parse=partial(parse_limits, "--min"),
            detail="Undecided where the interval holds X.",
        ),
    ] = field(default_factory=dict)
    min_by: Annotated[
        str,
        Option(
            "--min-by",
            help="--min uses",
            choices=MIN_BY,
            detail="estimate, lower: fails when the estimate, or the lower limit of the interval,"
            " is below X; never undecided.",
        ),
    ] = BY_INTERVAL

    @property
    def named(self) -> Sequence[Metric]:
        """The metrics with a least number."""
        return tuple(self.minimum)

    @property
    def signature(self) -> dict[str, object]:
        """The minimum, and what it is compared with."""
        return {**super().signature, **({"min_by": self.min_by} if self.minimum else {})}

    def about(self, metric: Metric) -> tuple[str, float | None]:
        """As "≥ 0.8", or "≥ 0.8 (estimate)"."""
        least = self.minimum[metric]
        return f"≥ {least:g}{_BASIS[self.min_by]}", least

    def words(self, metric: Metric) -> Sentence:
        """The same with its number as a number."""
        return ("≥ ", *minimum(metric, self.minimum[metric]), _BASIS[self.min_by])

    def judge(self, trial: Trial) -> Iterator[Judgement]:
        """A line per candidate's series and metric."""
        for rates in trial.candidates:
            if rates.metric not in self.minimum:
                continue
            fact = trial.study.fact(rates)
            short = [rates.reason] if rates.there else []
            line = trial.line(rates, fact, self, [*short, *trial.left_out(rates, "baseline")])
            least = self.minimum[rates.metric]
            verdict = _beside_minimum(fact.estimate, least, self.min_by)
            if verdict == ERROR:
                yield line.unchecked(fact.estimate.reason or fact.flaw)
                continue
            needed = [_tasks_needed(fact, least, "estimate")] * (verdict == UNDECIDED)
            finding = of_minimum(fact, rates.metric, least, verdict, self.min_by)
            yield line.judged(verdict, *needed, finding=finding)

    def outcomes(self, trials: Sequence[Trial]) -> list[Outcomes]:
        """As `judge`; intervals only where they decide."""
        asked = trials[0].study.confidence

        def judged(line: Line, every: Sequence[TaskValues]) -> list[str]:
            least = self.minimum[line[1]] - 1e-12
            if self.min_by == BY_ESTIMATE:
                return [PASS if rates.mean >= least else FAIL for rates in every]
            places = _sides([rates.sample(asked) for rates in every], least, asked)
            if self.min_by == BY_INTERVAL:
                return places
            return [FAIL if verdict == UNDECIDED else verdict for verdict in places]

        candidates = (
            [rates for rates in trial.candidates if rates.metric in self.minimum and rates.there]
            for trial in trials
        )
        return _by_line([[((r.series, r.metric), r) for r in one] for one in candidates], judged)


@dataclass(frozen=True)
class NoRegression(GateRule):
    """No metric of -k and -m is lower than the baseline's, as --max-drop 0 asks of one of them.

    It fails where one is significantly lower, adjusted for their number, passes where one is
    significantly higher, and is undecided in between.
    """

    no_regression: Annotated[
        bool,
        Option(
            "--no-regression",
            help="Fails on any significant drop, adjusted.",
            detail="--max-drop METRIC=0 for all metrics at once: undecided where a difference is"
            " not significant.",
        ),
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
            verdict = self._verdict(c, tests)
            if verdict == ERROR:
                yield line.unchecked(c.reason or "its test has no p")
                continue
            details = [p_words(c)] * c.testable
            rejects = c.adjusted <= 1 - trial.study.confidence.level + 1e-12
            if c.testable and c.leaves_out_zero not in (None, rejects):
                decides = "decides, not the interval" if tests > 1 else "does not decide"
                details = [f"{p_words(c)} {decides}"]
            finding = of_regression(line.fact, c, verdict, tests)
            yield line.judged(
                verdict, *details, *self._doubt(line.fact, c, trial, tests), finding=finding
            )

    def outcomes(self, trials: Sequence[Trial]) -> list[Outcomes]:
        """As `judge`; without intervals where there are several tests."""
        from passk_cli.study.pairs import test_pairs

        trial = trials[0]
        metrics = {rates.metric for rates, _ in trial.pairs(trial.general) if rates.there}
        if len(trial.pairs(metrics)) == 1:
            return MaxDrop(dict.fromkeys(metrics, 0.0)).outcomes(trials)
        pairs = [one.pairs(one.general) for one in trials]
        tested = test_pairs(pairs, trial.study.confidence, trial.study.rules, verdicts=True)
        return [
            {
                (c.first.series, c.first.metric): self._verdict(c, len(comparisons))
                for c in comparisons
                if not c.reason
            }
            for comparisons in tested
        ]

    def _verdict(self, c: Comparison, tests: int) -> str:
        """By the interval, as --max-drop 0; of several tests by p, adjusted for their number."""
        from passk_cli.study.pairs import BETTER, WORSE

        if tests == 1:
            return _beside_drop(c, 0.0)
        if not c.testable:
            return ERROR
        return {WORSE: FAIL, BETTER: PASS}.get(c.verdict, UNDECIDED)

    def _doubt(self, fact: Fact, c: Comparison, trial: Trial, tests: int) -> list[str]:
        """What would decide an undecided difference, as far as that is known."""
        if self._verdict(c, tests) != UNDECIDED:
            return []
        units = _units(c)
        defaults = c.test in (GUARDED_T, SUISSA_SHUSTER)
        if (tests > 1 or defaults) and _least_p(c, units) > c.alpha + 1e-12:
            few = plural(units, "task" if c.clusters is None else "cluster")
            return [f"with {few} no drop can be significant"]
        # Where p alone is adjusted, the interval does not say what decides it.
        decides = tests == 1 or c.adjustment == MAX_T
        return [_tasks_needed(fact, 0.0, "difference")] * decides


def _units(c: Comparison) -> int:
    """Tasks, or clusters where there are some."""
    return len(c.tasks) if c.clusters is None else int(c.clusters.max()) + 1


def _least_p(c: Comparison, units: int) -> float:
    """The smallest p of this test on so many tasks or clusters, whatever their outcomes."""
    from passk_cli.study.paired import MCNEMAR

    if c.test in (SIGN_FLIP, SUISSA_SHUSTER, MCNEMAR):
        return 2.0 ** (1 - units)
    return c.smallest if c.test == GUARDED_T else 0.0


def _beside(low: float | None, high: float | None, limit: float) -> str:
    """Where an interval lies: above a limit, below it, or around it."""
    if low is None or high is None:
        return ERROR
    return PASS if low >= limit else FAIL if high < limit else UNDECIDED


def _beside_minimum(estimate: Estimate, least: float, by: str) -> str:
    """Where a number lies beside its minimum: its interval, its estimate or its lower limit."""
    value, low, high = estimate.value, estimate.low, estimate.high
    if by == BY_INTERVAL:
        return _beside(low, high, least - 1e-12)
    bar = value if by == BY_ESTIMATE else low
    if value is None or bar is None:
        return ERROR
    return PASS if bar >= least - 1e-12 else FAIL


def _beside_drop(c: Comparison, most: float) -> str:
    """Where the interval of a difference lies beside a drop."""
    return ERROR if c.interval is None else _beside(c.interval.low, c.interval.high, -most)


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
        """As "≥ baseline − 0.02"; its number is the drop."""
        most = self.max_drop[metric]
        return f"≥ baseline {_sign(most)} {abs(most):g}", most

    def words(self, metric: Metric) -> Sentence:
        """The same with its number as a number."""
        most = self.max_drop[metric]
        return (f"≥ baseline {_sign(most)} ", *drop(metric, abs(most)))

    def judge(self, trial: Trial) -> Iterator[Judgement]:
        """A line per pair and metric: it fails when even the upper limit lies below."""
        for c in trial.untested(self.named):
            line, most = trial.difference(c, self), self.max_drop[c.first.metric]
            verdict = _beside_drop(c, most)
            if verdict == ERROR:
                yield line.unchecked(c.reason or (c.interval.reason if c.interval else ""))
                continue
            needed = [_tasks_needed(line.fact, -most, "difference")] * (verdict == UNDECIDED)
            finding = of_drop(line.fact, c.first.metric, most, verdict)
            yield line.judged(verdict, *needed, finding=finding)

    def outcomes(self, trials: Sequence[Trial]) -> list[Outcomes]:
        """As `judge`: on which side of the limit each interval lies, without its limits."""
        from passk_cli.study.comparison import (
            difference_samples,
            match,
            method_of_difference,
        )

        asked = trials[0].study.confidence.for_differences()

        def judged(line: Line, every: Sequence[Comparison]) -> list[str]:
            samples = difference_samples(every, asked)
            # n and k, and so the method, are those of all rehearsals.
            used = replace(asked, interval=method_of_difference(every[0], asked))
            return _sides(samples, -self.max_drop[line[1]], used)

        matched = ([match(*pair) for pair in trial.pairs(self.named)] for trial in trials)
        return _by_line(
            [[((c.first.series, c.first.metric), c) for c in one if not c.reason]
             for one in matched], judged,
        )  # fmt: skip


@dataclass(frozen=True)
class EachRule(GateRule):
    """Base of the rules about single tasks, which look at the passes of every candidate."""

    @property
    def named(self) -> Sequence[Metric]:
        """pass@1, whose tasks and attempts it looks at."""
        from passk_cli.metrics.registry import Metric

        return (Metric("pass@", 1),) if self.wanted else ()

    def candidates(self, trial: Trial) -> list[TaskValues]:
        """The candidates' tasks."""
        return [rates for rates in trial.candidates if rates.metric in self.named]

    def line(self, trial: Trial, rates: TaskValues, rule: str, *details: str) -> Judgement:
        """A line about a candidate, yet without verdict."""
        from passk_cli.commands.gate.judgement import Judgement

        fact = replace(trial.fact(rates.series), name=rates.metric.name, k=rates.metric.k)
        cover = trial.coverages[rates.series]
        more = (*details, *trial.left_out(rates, "baseline"))
        return Judgement(rule, fact, details=more, covered=cover, words=(rule,))


@dataclass(frozen=True)
class MustPass(EachRule):
    """Every named task passes all its attempts, or a share of them."""

    must_pass: Annotated[
        tuple[str, ...],
        Option(
            "--must-pass",
            "TASKS|FILE",
            "Fails unless these tasks pass all attempts.",
            parse=parse_tasks,
            several=True,
            detail="Names as a,b or a file with one per line, without comments. Repeatable.",
        ),
    ] = ()
    must_pass_rate: Annotated[
        float,
        Option(
            "--must-pass-rate", "RATE", "Share of attempts --must-pass asks for.",
            low=0.0, high=1.0,
        ),
    ] = 1.0  # fmt: skip

    @property
    def wanted(self) -> bool:
        """Whether it was asked for."""
        return bool(self.must_pass)

    def about(self, metric: Metric) -> tuple[str, float | None]:
        """As "5 named tasks pass"."""
        return f"{plural(len(self.must_pass), 'named task')} pass", self.must_pass_rate

    def judge(self, trial: Trial) -> Iterator[Judgement]:
        """A line per candidate's series."""
        names = trial.sides.counts.tasks
        places = {task: place for place, task in enumerate(names)}
        unknown = [task for task in self.must_pass if task not in places]
        share = (
            "all attempts"
            if self.must_pass_rate == 1
            else f"{self.must_pass_rate:g} of their attempts"
        )
        few = len(self.must_pass) == 1
        rule = f"{plural(len(self.must_pass), 'named task')} pass{'es' * few} {share}"
        for rates in self.candidates(trial):
            line = replace(self.line(trial, rates, rule), limit=self.must_pass_rate)
            if unknown:
                yield line.unchecked(
                    f"no task {cut(first_few(unknown))} in the data{_remedy(unknown)}"
                )
                continue
            at, gone = self._places(rates, [places[task] for task in self.must_pass])
            failing = at[~self._passing(rates.n[at], rates.c[at])]
            passed = len(at) - len(failing)
            lost = [f"no attempts at {first_few([names[t] for t in gone])}"] * bool(gone)
            words = [f"{names[rates.tasks[i]]} passed {rates.c[i]:,} of {rates.n[i]:,}"
                     for i in failing.tolist()]  # fmt: skip
            below = [first_few(words)] * bool(words)
            line = replace(line, counted=f"{passed:,} of {len(self.must_pass):,}")
            every = len(at) and not gone and bool((rates.c[at] == rates.n[at]).all())
            shows = [_what_it_shows(rates.n[at], trial)] if every else []
            finding = of_named(rates.series, passed, len(self.must_pass), share)
            yield line.judged(
                FAIL if words or gone else PASS, *lost, *below, *shows, finding=finding
            )

    def outcomes(self, trials: Sequence[Trial]) -> list[Outcomes]:
        """As `judge`."""
        places = {task: place for place, task in enumerate(trials[0].sides.counts.tasks)}
        if not all(task in places for task in self.must_pass):
            return [{} for _ in trials]
        wanted = [places[task] for task in self.must_pass]
        outcomes: list[Outcomes] = [{} for _ in trials]
        for into, trial in zip(outcomes, trials, strict=True):
            for rates in self.candidates(trial):
                at, gone = self._places(rates, wanted)
                holds = not gone and self._passing(rates.n[at], rates.c[at]).all()
                into[rates.series, rates.metric] = PASS if holds else FAIL
        return outcomes

    def _places(self, rates: TaskValues, wanted: Sequence[int]) -> tuple[Ints, list[int]]:
        """Where the named tasks stand among the candidate's, and those it has no attempts at."""
        import numpy as np

        gone = sorted(set(wanted) - set(rates.tasks.tolist()))
        there = np.array(sorted(set(wanted) - set(gone)), dtype=np.int64)
        return np.searchsorted(rates.tasks, there), gone

    def _passing(self, n: Ints, c: Ints) -> Booleans:
        passing: Booleans = c >= self.must_pass_rate * n - 1e-9
        return passing


@dataclass(frozen=True)
class MinEach(EachRule):
    """No task's pass rate is significantly below a number."""

    min_each: Annotated[
        float | None,
        Option(
            "--min-each",
            "RATE",
            "Fails when a task is significantly below RATE.",
            low=0.0,
            high=1.0,
            detail="Exact binomial test of each task, Holm over the tasks. It passes when every"
            " task is shown to reach RATE, and is undecided otherwise.",
        ),
    ] = None

    @property
    def wanted(self) -> bool:
        """Whether it was asked for."""
        return self.min_each is not None

    def about(self, metric: Metric) -> tuple[str, float | None]:
        """As "each task ≥ 0.5"."""
        return f"each task ≥ {self.min_each:g}", self.min_each

    def judge(self, trial: Trial) -> Iterator[Judgement]:
        """A line per candidate's series."""
        names = trial.sides.counts.tasks
        for rates in self.candidates(trial):
            line = self.line(trial, rates, self.about(rates.metric)[0])
            verdict, p, below = self._judged(rates, trial)
            shown = [
                f"{names[rates.tasks[i]]} passed {rates.c[i]:,} of {rates.n[i]:,} (p = {p[i]:.4f})"
                for i in below
            ]
            under = int((rates.c < self._rate * rates.n).sum())
            counted = f"{len(rates.n) - under:,} of {len(rates.n):,} as observed"
            line = replace(line, counted=counted, limit=self.min_each)
            details = [first_few(shown)] * bool(shown)
            details += [_what_it_shows(rates.n, trial)] * (verdict == UNDECIDED)
            finding = of_each(rates, self._rate, len(rates.n) - under, len(below))
            yield line.judged(verdict, *details, finding=finding)

    def outcomes(self, trials: Sequence[Trial]) -> list[Outcomes]:
        """As `judge`."""
        return [
            {(r.series, r.metric): self._judged(r, trial)[0] for r in self.candidates(trial)}
            for trial in trials
        ]

    @property
    def _rate(self) -> float:
        return self.min_each or 0.0

    def _judged(self, rates: TaskValues, trial: Trial) -> tuple[str, Floats, list[int]]:
        """The verdict, p of every task by Holm, and the places of those shown to be below."""
        import numpy as np

        from passk_cli.inference.adjust import holm
        from passk_cli.inference.single import below_tests, lower_limits

        level = trial.study.confidence.level
        p = holm(below_tests(rates.n, rates.c, self._rate))
        below = np.flatnonzero(p <= 1 - level + 1e-12)
        if len(below):
            return FAIL, p, below[np.argsort(p[below], kind="stable")].tolist()
        reached = np.all(lower_limits(rates.n, rates.c, level) >= self._rate - 1e-12)
        return (PASS if reached else UNDECIDED), p, []


def _remedy(unknown: Sequence[str]) -> str:
    """What names that are no tasks may have been meant as: a file, or a comment in one."""
    if any(name.startswith("#") for name in unknown):
        return "; a file of tasks has no comments"
    is_file = any(Path(name).suffix or os.sep in name for name in unknown)
    return ", and no such file" * is_file


def _what_it_shows(n: Ints, trial: Trial) -> str:
    """As "4 of 4 passes show a rate of at least 0.473"."""
    from passk_cli.inference.single import lower_limits

    fewest, level = int(n.min()), trial.study.confidence.level
    least = float(lower_limits(fewest, fewest, level))
    if fewest == 1:
        return f"1 pass of 1 shows a rate of at least {least:.3f}"
    return f"{fewest:,} of {fewest:,} passes show a rate of at least {least:.3f}"


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
    from passk_cli.inference.intervals import intervals

    every = intervals(samples, asked.method, asked.level, asked.population)
    return [_beside(limits.low, limits.high, value) for limits in every]


def _sign(most: float) -> str:
    """What stands between the baseline and an allowed drop; a negative one asks for a gain."""
    return "+" if most < 0 else "−"


def _tasks_needed(fact: Fact, limit: float, noun: str) -> str:
    """About how many tasks would settle it: the interval's reach shrinks with their root.

    fact : a number whose interval holds the limit.  noun : what the number is.
    """
    value, low, high = fact.estimate.value, fact.estimate.low, fact.estimate.high
    if value is None or low is None or high is None:
        return ""
    away = value - limit
    reach = value - low if away > 0 else high - value
    if abs(away) < 1e-3:
        return f"no number of tasks would decide it: the {noun} lies on the limit"
    count = math.ceil((fact.size.tasks or 0) * (reach / abs(away)) ** 2)
    if count > 10_000_000:
        return f"no feasible number of tasks would decide it: the {noun} lies on the limit"
    verb = "passes" if away > 0 else "fails"
    return f"if this {noun} stays, the rule {verb} from about {plural(count, 'task')} on"
