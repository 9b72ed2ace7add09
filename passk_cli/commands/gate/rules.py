"""The rules of a gate, each with its options and how it is judged."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from passk_cli.commands.gate.judgement import Judgement
from passk_cli.commands.gate.sides import SHARED, Counted
from passk_cli.errors import ParameterError, refuse
from passk_cli.files.request import fits, parse_tasks
from passk_cli.inference.rounding import ROUNDING
from passk_cli.near import did_you_mean, nearest, share_meant
from passk_cli.option import Option
from passk_cli.report.model import POINTS, QUANTITIES, Column, Estimate, Sentence
from passk_cli.report.words import SeriesName, first_few, p_relation, plural
from passk_cli.settle import Blank, Given, Settle
from passk_cli.study.rules import (
    ADJUSTED,
    BONFERRONI,
    ERROR,
    FAIL,
    GUARDED_T,
    MIN_P,
    PASS,
    SIGN_FLIP,
    SUISSA_SHUSTER,
    UNDECIDED,
)
from passk_cli.text import cut

if TYPE_CHECKING:
    from passk_cli.commands.gate.trial import Trial
    from passk_cli.inference.intervals import Interval
    from passk_cli.metrics.registry import Metric
    from passk_cli.study.comparison import Comparison
    from passk_cli.study.confidence import Confidence
    from passk_cli.study.fact import Fact
    from passk_cli.study.values import Series, TaskValues

# What a minimum is compared with, and how a rule's name says it.
MIN_BY = (BY_INTERVAL, BY_ESTIMATE, BY_LOWER) = ("interval", "estimate", "lower")
# What is to be decided where nothing else is asked for, and with which power.
_AWAY, _POWER, _LEVEL = 0.05, 0.8, 0.95
_BASIS = {BY_INTERVAL: "", BY_ESTIMATE: " (estimate)", BY_LOWER: " (lower limit)"}
# How that lies beside the minimum, by the verdict.
_BESIDE = {
    (BY_INTERVAL, PASS): "its interval lies at or above",
    (BY_INTERVAL, FAIL): "its interval lies below",
    (BY_INTERVAL, UNDECIDED): "its interval contains",
    (BY_ESTIMATE, PASS): "the estimate is not below",
    (BY_ESTIMATE, FAIL): "the estimate is below",
    (BY_LOWER, PASS): "the lower limit is not below",
    (BY_LOWER, FAIL): "the lower limit is below",
}
# Both limits of an interval; None where there is none.
Ends = tuple[float | None, float | None]
# The rules of `EveryTask` and `EveryAttempt`.
EVERY, EVERY_ATTEMPT = "every baseline task", "every baseline attempt"


class Relative(float):
    """A limit as a share of the baseline: 0.1 of "10%"."""

    def __str__(self) -> str:
        return f"{100 * self:g}%"


class OfAttempts(float):
    """A rate as passes of attempts, which are counted: 0.8 of "8/10"."""

    passes: int
    attempts: int

    @classmethod
    def from_text(cls, text: str) -> OfAttempts:
        """From "8/10"; ValueError for another text."""
        passes, attempts = (int(part) for part in text.split("/"))
        if not 0 <= passes <= attempts or not attempts:
            raise ValueError
        rate = cls(passes / attempts)
        rate.passes, rate.attempts = passes, attempts
        return rate

    def __str__(self) -> str:
        return f"{self.passes}/{self.attempts}"


def parse_rate(value: Any) -> float:
    """A rate, or passes of attempts.

    >>> parse_rate("0.8"), parse_rate("80%"), str(parse_rate("8/10"))
    (0.8, 0.8, '8/10')
    """
    text = str(value)
    if "/" in text:
        return OfAttempts.from_text(text)
    return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)


def parse_limits(
    option: str, value: Any, *, relative: bool = False, amounts: bool = False
) -> Mapping[Metric, float]:
    """`["pass@1=0.02"]` → {pass@1: 0.02}.  Or {"pass@1": 0.02}.

    relative : whether 5% is a share of the baseline; else it is 0.05.  amounts : whether it is for
        what attempts take; else for what they achieve.
    """
    from passk_cli.metrics.registry import parse

    if isinstance(value, Mapping):
        value = [f"{name}={number}" for name, number in value.items()]
    limits: dict[Metric, float] = {}
    example = "cost=10%" if amounts else "pass@1=0.8" if option == "--min" else "pass@1=0.02"
    for text in (part for whole in value for part in whole.split(",")):
        name, equals, digits = text.partition("=")
        try:
            number = float(digits.rstrip("%")) / (100 if digits.endswith("%") else 1)
        except ValueError:
            number = math.nan
        if not equals or not math.isfinite(number):
            raise ParameterError(Given(option, text), f"write METRIC=X, as in {example}")
        try:
            metric, part = parse(name), relative and digits.endswith("%")
        except ParameterError as error:
            raise error.but(ParameterError, place=Given(option, text)) from None
        number = Relative(number) if part else number
        place, given = Given(option, metric.name), Given(option, text)
        refuse(
            "bad-option-value",
            (relative and number < 0, given, "write METRIC=X with X from 0", ()),
            (metric.unit == "share" and not 0.0 <= number <= 1.0, given,
             "write METRIC=X with X from 0 to 1",
             (Settle({option: {name: f"{share:g}"}}),) if (share := share_meant(digits)) else ()),
        )  # fmt: skip
        other = {"--max-drop" if amounts else "--max-increase": Blank(f"{metric.name}=X")}
        refuse(
            "unknown-metric",
            (metric.unit == "score" and part, place,
             "a score may be negative; give a difference, without %", ()),
            ((metric.sign < 0) != amounts, place,
             f"{'more' if amounts else 'less'} of it is better",
             (Settle({**other, option: None}, "limits it"),)),
        )  # fmt: skip
        refuse("contradicting-options", (metric in limits, place, "given twice", ()))
        limits[metric] = number
    return limits


def is_given(value: Any) -> bool:
    """Whether an option was given: not None, False or empty."""
    empty = isinstance(value, str | Sequence | Mapping) and not len(value)
    return value is not None and value is not False and not empty


class Outcome(NamedTuple):
    """A rule's verdict on a candidate's series at a metric.

    words : makes the judgement; drawn runs need the verdict alone.
    judged : whether there is something to judge.
    """

    series: Series
    metric: Metric
    verdict: str
    words: Callable[[], Judgement]
    judged: bool = True


@dataclass(frozen=True)
class GateRule:
    """Base of the rules: fields are options, `outcomes` or `judge` says what a run is by them.

    compares : whether it asks about differences to the baseline.
    general : whether it asks about the metrics of -k and -m.
    drawn : whether passes and failures decide it, so that it can be rehearsed.
    """

    title: ClassVar[str] = "Rules"
    compares: ClassVar[bool] = False
    general: ClassVar[bool] = False
    drawn: ClassVar[bool] = True

    @property
    def given(self) -> Any:
        """The value of its first option."""
        return getattr(self, fields(self)[0].name)

    @property
    def wanted(self) -> bool:
        """Whether it was asked for."""
        return is_given(self.given)

    @property
    def named(self) -> Sequence[Metric]:
        """The metrics that its own options name."""
        return tuple(self.given) if isinstance(self.given, Mapping) else ()

    def asked_of(self, trial: Trial) -> Sequence[Metric]:
        """The metrics it is about."""
        return trial.general if self.general else self.named

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
            value = str(value) if isinstance(value, OfAttempts) else value
            entries[name] = "yes" if value is True else value
        return entries

    def statements(self, trial: Trial) -> int:
        """How many verdicts rest on an interval or a test that chance can mislead."""
        return 0

    def outcomes(self, trials: Sequence[Trial]) -> list[list[Outcome]]:
        """The outcomes of each trial; trials of one shape are judged together."""
        raise NotImplementedError

    def judge(self, trial: Trial) -> Iterable[Judgement]:
        """Every candidate of one trial, in words."""
        return [outcome.words() for outcome in self.outcomes([trial])[0]]


@dataclass(frozen=True)
class EveryTask(GateRule):
    """Every task of the baseline was run, unless some may be missing."""

    unpaired: Annotated[str, Option(
        "--unpaired", help="Tasks or attempts not run", choices=("fail", "drop"),
        detail="Those of the baseline. fail: the gate fails; drop: the others are compared. drop"
        " also allows other numbers of attempts than --attempts declares, and says them.",
    )] = "fail"  # fmt: skip
    drawn = False

    @property
    def wanted(self) -> bool:
        """Unless the others are compared without them."""
        return self.unpaired == "fail"

    def judge(self, trial: Trial) -> Iterator[Judgement]:
        """The candidates' series, and those that only the baseline has."""
        sides = trial.sides
        for series, covered in {**trial.coverages, **sides.missing}.items():
            line, whom = trial.line((EVERY,), trial.fact(series)), SeriesName(series)
            if covered is None:
                if sides.baseline is not None and sides.partner(series[0]) is None:
                    yield line.unchecked(sides.lacking(series))
                continue
            every = plural(covered.expected, "baseline task")
            counted = Counted(covered.shared, covered.expected)
            more = [] if series in sides.missing else trial.lesser(series)
            if covered.lost:
                verb = "has" if covered.lost == 1 else "have"
                lost = f"{covered.lost:,} of {every} {verb} no attempts in {whom}"
                deed = ("left out tasks of the baseline" if covered.shared else "were not run",)
                names = first_few(sides.lost(series))
                reason = f"lacks {names}" if names else ""
                yield line.judged(FAIL, (lost,), reason, [lost, *more], counted, deed)
            else:
                whole = f"{'' if covered.expected == 1 else 'all '}{every}"
                finding = f"{whom} has attempts at {whole}"
                yield line.judged(PASS, (finding,), "", more, counted)


@dataclass(frozen=True)
class EveryAttempt(GateRule):
    """Every attempt of the baseline was run, or the number that was declared; and no more.

    Equally many attempts at every task are a plan, whatever the baseline has, and so is the same
    share everywhere.  Other numbers are attempts lost, or failures tried again.
    """

    attempts: Annotated[int | None, Option(
        "--attempts", "N", "Fails unless every task has N attempts.", low=1,
        detail="Attempts without an outcome count. Without it, attempts are counted against the"
        " baseline: fewer or more fail the gate, but equally many at every task are allowed.",
    )] = None  # fmt: skip
    drawn = False

    @property
    def wanted(self) -> bool:
        """Always: without a number it is about the baseline."""
        return True

    def judge(self, trial: Trial) -> Iterator[Judgement]:
        """The candidates' series, where something says how many attempts were to be made."""
        rule = EVERY_ATTEMPT
        if self.attempts is not None:
            rule = f"{plural(self.attempts, 'attempt')} at every task"
        for series, made in trial.made[0].items():
            if made.wanted is None or trial.unpaired == "drop":
                continue
            line = trial.line((rule,), trial.fact(series), self.attempts, trial.lesser(series))
            reason, *why = trial.retried(series) or ("",)
            verdict = PASS if made.design and not reason else FAIL
            if verdict == FAIL and not reason:
                reason = made.where(trial.sides.counts)
            elif verdict == PASS and not made.whole:
                reason = made.words
            finding = f"{SeriesName(series)} has {made.words}"
            than = "declared" if made.declared else "in the baseline"
            number = "other numbers of" if len(made.longer) else "fewer"
            deed = (f"made {number} attempts than {than}",)
            counted, covered = made.counted, trial.coverages.get(series)
            if counted is not None and covered is not None and covered.lost:
                counted = counted._replace(words=counted.words + SHARED)
            yield line.judged(verdict, (finding,), reason, why, counted, deed)


@dataclass(frozen=True)
class ShareRule(GateRule):
    """Base of the rules about attempts that went wrong: their share is at most a number.

    noun : what they are, after their number.  role : the key of their numbers in `Trial.wrong`.
    """

    noun: ClassVar[str]
    role: ClassVar[str]
    drawn = False

    @property
    def wanted(self) -> bool:
        """Also with a share of 0."""
        return self.given is not None

    def judge(self, trial: Trial) -> Iterator[Judgement]:
        """Every candidate's series, by a count: there is no interval."""
        most = self.given
        for series, (wrong, made) in trial.wrong[self.role].items():
            verdict = FAIL if wrong > most * made + 1e-9 else PASS
            words = (f"attempts {self.noun} ≤ {100 * most:g} %",)
            line = trial.line(words, trial.fact(series), most)
            finding = f"{wrong:,} of {plural(made, 'attempt')} of {SeriesName(series)} "
            finding += f"{'is' if wrong == 1 else 'are'} {self.noun} ({100 * wrong / made:.1f} %)"
            deed = (f"had more than {100 * most:g} % of attempts {self.noun}",)
            yield line.judged(verdict, (finding,), "", (), Counted(wrong, made), deed)


@dataclass(frozen=True)
class MaxMissing(ShareRule):
    """The share of attempts without an outcome is at most a number."""

    max_missing: Annotated[float | None, Option(
        "--max-missing", "SHARE", "Fails when more attempts have no outcome.", low=0.0, high=1.0,
        rare=True,
        detail="A share of the attempts, for example 2%. --missing says how they count.",
    )] = None  # fmt: skip
    noun = "without an outcome"
    role = "missing"


@dataclass(frozen=True)
class MaxErrors(ShareRule):
    """The share of attempts without an outcome, or with an error, is at most a number."""

    max_errors: Annotated[float | None, Option(
        "--max-errors", "SHARE", "Fails when more attempts ended in an error.", low=0.0, high=1.0,
        rare=True,
        detail="A share of the attempts, for example 5%. Attempts without an outcome count, and"
        " those with a text in a column named error, error_message or exception.",
    )] = None  # fmt: skip
    noun = "without an outcome or with an error"
    role = "errors"


@dataclass(frozen=True)
class Minimum(GateRule):
    """A metric reaches a number: its interval does, its estimate, or its lower limit."""

    minimum: Annotated[Mapping[Any, float], Option(
        "--min", "METRIC=X", "Fails when the interval lies below X.",
        parse=partial(parse_limits, "--min"), detail="Undecided where the interval contains X.",
    )] = field(default_factory=dict)  # fmt: skip
    min_by: Annotated[str, Option(
        "--min-by", help="--min uses", choices=MIN_BY, rare=True,
        detail="estimate, lower: fails when the estimate, or the lower limit of the interval,"
        " is below X; never undecided.")] = BY_INTERVAL  # fmt: skip

    @property
    def signature(self) -> dict[str, object]:
        """The minimum, and what it is compared with."""
        return {**super().signature, **({"min_by": self.min_by} if self.minimum else {})}

    def statements(self, trial: Trial) -> int:
        """One per candidate's series and metric, unless estimates decide."""
        asked = sum(rates.metric in self.minimum for rates in trial.candidates)
        return 0 if self.min_by == BY_ESTIMATE else asked

    def outcomes(self, trials: Sequence[Trial]) -> list[list[Outcome]]:
        """One per candidate's series and metric; intervals only where they decide."""
        study = trials[0].study
        fast = self.min_by == BY_ESTIMATE and len(trials) > 1
        confidence = replace(study.confidence, interval="none") if fast else study.confidence
        asked = [[r for r in t.candidates if r.metric in self.minimum] for t in trials]
        facts = iter(study.facts([rates for each in asked for rates in each], confidence))
        return [
            [self._of_number(trial, rates, next(facts)) for rates in each]
            for trial, each in zip(trials, asked, strict=True)
        ]

    def _of_number(self, trial: Trial, rates: TaskValues, fact: Fact) -> Outcome:
        metric = rates.metric
        verdict = self._verdict(fact, self.minimum[metric])

        def words() -> Judgement:
            rule, least = self.rule(metric)
            return self.worded(trial.line(rule, fact, least, trial.left_out("baseline", rates)))

        return Outcome(rates.series, metric, verdict, words, rates.there)

    def rule(self, metric: Metric) -> tuple[Sentence, float | None]:
        least = self.minimum[metric]
        return (f"{metric.name} ≥ ", *_asked(metric, least), _BASIS[self.min_by]), least

    def worded(self, line: Judgement) -> Judgement:
        """A line with the verdict on its number."""
        fact, least = line.fact, line.limit or 0.0
        verdict = self._verdict(fact, least)
        if verdict == ERROR:
            return line.unchecked(fact.estimate.reason or fact.flaw)
        beside = f"; {_BESIDE[self.min_by, verdict]} the minimum of "
        finding = (f"{fact.name} of {SeriesName(fact.series)} is ", fact.estimate, beside)
        needed = ""
        if verdict == UNDECIDED:
            needed = _needed_alike(line) or _needed(line, 0.0, f" if {_far(fact)} away")
        deed = ("reached less than ", line.words[1], f" of {fact.name}")
        return line.judged(verdict, (*finding, line.words[1]), needed, deed=deed)

    def _verdict(self, fact: Fact, least: float) -> str:
        value, low, high = fact.estimate.value, fact.estimate.low, fact.estimate.high
        ends = {BY_INTERVAL: (low, high), BY_ESTIMATE: (value, value), BY_LOWER: (low, low)}
        return _beside(ends[self.min_by], least - 1e-12)


@dataclass(frozen=True)
class DifferenceRule(GateRule):
    """Base of the rules about differences to the baseline."""

    compares = True

    def statements(self, trial: Trial) -> int:
        return len(trial.pairs(self.asked_of(trial)))

    def compared(self, trials: Sequence[Trial]) -> list[list[Comparison]]:
        """The candidates of each trial against their baselines.

        Intervals are made together; no test is made.
        """
        from passk_cli.study.comparison import difference_intervals

        every = [[self.matched(pair) for pair in t.pairs(self.asked_of(t))] for t in trials]
        past, confidence = trials[0].study.past, trials[0].study.confidence
        if past is not None and self.general:
            # Their tests know no effect of the run: intervals decide, each at its share.
            alpha = (1 - confidence.level) / max(sum(not c.reason for c in every[0]), 1)
            every = [[c.having(alpha=alpha, adjustment=BONFERRONI) for c in each] for each in every]
        limited = [c for each in every for c in each if not c.reason]
        limits = iter(difference_intervals(limited, confidence))
        pasts = [trial.study.past for trial in trials]
        return [
            [
                c if c.reason
                else c.having(interval=next(limits) if own is None else own.widen(c, next(limits)))
                for c in each
            ]
            for own, each in zip(pasts, every, strict=True)
        ]  # fmt: skip

    def matched(self, pair: tuple[TaskValues, TaskValues]) -> Comparison:
        """A pair on the tasks that both have."""
        from passk_cli.study.comparison import match

        return match(*pair)

    def verdict(self, c: Comparison, tests: int) -> str:
        """On a difference, one of so many that are tested."""
        raise NotImplementedError

    def rule(self, metric: Metric) -> tuple[Sentence, float | None]:
        """The rule in words, and its number."""
        raise NotImplementedError

    @property
    def waiting(self) -> list[Sentence]:
        """The rules in words while there is no baseline."""
        return [self.rule(metric)[0] for metric in self.named]

    def judged(
        self, line: Judgement, c: Comparison, tests: int, confidence: Confidence
    ) -> Judgement:
        """A line that has its verdict, with what the difference shows."""
        raise NotImplementedError

    def outcomes(self, trials: Sequence[Trial]) -> list[list[Outcome]]:
        """One per pair and metric, and per candidate that has no baseline."""
        outcomes = []
        for trial, every in zip(trials, self.compared(trials), strict=True):
            tests = sum(not c.reason for c in every)
            outcomes.append([
                *(self._of_pair(trial, c, tests) for c in every),
                *(Outcome(rates.series, rates.metric, ERROR, partial(self._alone, trial, rates),
                          judged=False)
                  for rates in trial.unpaired_values(self.asked_of(trial))),
            ])  # fmt: skip
        return outcomes

    def _of_pair(self, trial: Trial, c: Comparison, tests: int) -> Outcome:
        verdict, metric = self.verdict(c, tests), c.first.metric

        def words() -> Judgement:
            rule, limit = self.rule(metric)
            confidence, details = (
                trial.study.confidence,
                trial.left_out("shared", c.first, c.second),
            )
            line = trial.line(rule, c.fact(confidence), limit, details)
            if past := trial.study.past:
                line = replace(line, of_runs=past.reach(c, confidence.level))
            if verdict == ERROR:
                missing = "its test has no p" if self.general else getattr(c.interval, "reason", "")
                return line.unchecked(c.reason or missing)
            return self.judged(replace(line, verdict=verdict), c, tests, confidence)

        return Outcome(c.first.series, metric, verdict, words, not c.reason)

    def _alone(self, trial: Trial, rates: TaskValues) -> Judgement:
        rule, limit = self.rule(rates.metric)
        line = trial.line(rule, trial.fact(rates.series, rates.metric), limit)
        return line.unchecked(trial.sides.lacking(rates.series))


@dataclass(frozen=True)
class NoRegression(DifferenceRule):
    """No metric of -k and -m is lower than the baseline's, as --max-drop 0 asks of one of them.

    It fails where one is significantly lower, adjusted for their number, passes where one is
    significantly higher, and is undecided in between.
    """

    no_regression: Annotated[bool, Option(
        "--no-regression", help="Fails on any significant drop, adjusted.",
        detail="--max-drop METRIC=0 for all metrics at once: undecided where a difference is"
        " not significant.")] = False  # fmt: skip
    general = True

    @property
    def waiting(self) -> list[Sentence]:
        """The rule in words; the data would say of which metrics."""
        return [("no regression",)]

    def statements(self, trial: Trial) -> int:
        """One: its tests are adjusted for their number."""
        return min(super().statements(trial), 1)

    def compared(self, trials: Sequence[Trial]) -> list[list[Comparison]]:
        """The pairs tested; of several trials without intervals that decide nothing."""
        from passk_cli.study.pairs import compare_pairs, test_pairs

        study, pairs = trials[0].study, [trial.pairs(trial.general) for trial in trials]
        if study.past is not None:
            return super().compared(trials)
        if len(trials) == 1:
            return [compare_pairs(pairs[0], study.confidence, study.rules)]
        if sum(first.there and second.there for first, second in pairs[0]) == 1:
            return super().compared(trials)
        return test_pairs(pairs, study.confidence, study.rules, verdicts=True)

    def verdict(self, c: Comparison, tests: int) -> str:
        """By the interval, as --max-drop 0; of several tests by p, adjusted for their number."""
        from passk_cli.study.pairs import BETTER, WORSE

        if tests == 1 or (c.adjustment == BONFERRONI and not c.testable):
            return _beside(_for_better(c.interval, c.first.metric.sign), 0.0)
        return {WORSE: FAIL, BETTER: PASS}.get(c.verdict, UNDECIDED) if c.testable else ERROR

    def rule(self, metric: Metric) -> tuple[Sentence, float | None]:
        return (f"{metric.name} no regression",), None

    def judged(
        self, line: Judgement, c: Comparison, tests: int, confidence: Confidence
    ) -> Judgement:
        """A difference, and whether it is a drop; of several tests, a significant one."""
        from passk_cli.study.paired import MCNEMAR

        p = f"p {p_relation(c.adjusted)}" if c.testable else ""
        many = f", {ADJUSTED[c.adjustment]} over {tests} tests" if c.adjustment in ADJUSTED else ""
        shown = f" ({p}{many})" if p and tests > 1 else ""
        if p and c.leaves_out_zero not in (None, c.adjusted <= 1 - confidence.level + 1e-12):
            p += " decides, not the interval" if tests > 1 else " does not decide"
        noun, did, further = "drop", "dropped", "lower"
        if c.first.metric.sign < 0:
            noun, did, further = "rise", "rose", "higher"
        relation = {PASS: "", FAIL: f", a significant {noun}", UNDECIDED: ", not significant"}
        needed = ""
        if line.verdict == UNDECIDED:
            unit = "task" if c.clusters is None else "cluster"
            units = len(c.tasks) if c.clusters is None else int(c.clusters.max()) + 1
            least = c.smallest if c.test == GUARDED_T else 0.0
            if c.test in (SIGN_FLIP, SUISSA_SHUSTER, MCNEMAR):
                # The smallest p of this test on so many tasks or clusters, whatever their outcomes.
                least = 2.0 ** (1 - units)
            defaults = c.test in (GUARDED_T, SUISSA_SHUSTER)
            if (tests > 1 or defaults) and least > c.alpha + 1e-12:
                needed = f"with {plural(units, unit)} no drop can be significant"
            elif tests == 1 or c.adjustment == MIN_P:
                # Where p alone is adjusted, the interval does not say what decides it.
                needed = _needed(line, 0.0, f" if {_far(line.fact)} {further}")
        finding = (*_change(line.fact), f"{relation[line.verdict]}{shown}")
        deed = (f"{did} significantly in {line.fact.name}",)
        reason = "; ".join(filter(None, (needed, p)))
        return line.judged(line.verdict, finding, reason, deed=deed)


@dataclass(frozen=True)
class Tolerance(DifferenceRule):
    """Base of the rules by which a metric is not significantly worse than the baseline's by more
    than a number, or by more than a share of the baseline's.

    change, noun, did, of : words of a change for the worse.  good : the sign of one for the better.
    """

    change: ClassVar[str]
    noun: ClassVar[str]
    did: ClassVar[str]
    of: ClassVar[str]
    good: ClassVar[int] = 1

    def matched(self, pair: tuple[TaskValues, TaskValues]) -> Comparison:
        """The pair, the baseline at the share of it that is allowed."""
        c, most = super().matched(pair), self.given[pair[0].metric]
        return c if c.reason or not isinstance(most, Relative) else c.with_share(
            1.0 - pair[0].metric.sign * most
        )  # fmt: skip

    def verdict(self, c: Comparison, tests: int) -> str:
        """It fails when even the better limit is worse."""
        most = self.given[c.first.metric]
        limit = 0.0 if isinstance(most, Relative) else -most
        return _beside(_for_better(c.interval, c.first.metric.sign), limit)

    def rule(self, metric: Metric) -> tuple[Sentence, float | None]:
        """The largest change that is allowed."""
        most = self.given[metric]
        return (f"{metric.name} {self.change} ≤ ", *_asked(metric, most, "points")), most

    def judged(
        self, line: Judgement, c: Comparison, tests: int, confidence: Confidence
    ) -> Judgement:
        """A difference, or a change in percent, beside the largest one that is allowed."""
        from passk_cli.study.comparison import relative_change

        if not isinstance(line.limit, Relative):
            return self.worded(line)
        change = relative_change(c, confidence)
        return self.worded(replace(line, fact=replace(line.fact, estimate=change, se=None)))

    def worded(self, line: Judgement) -> Judgement:
        """A line with the verdict on its change."""
        fact, most, limit = line.fact, line.limit or 0.0, line.words[1:]
        low, high = ends = _for_better(fact.estimate, self.good)
        verdict = line.verdict if isinstance(most, Relative) else _beside(ends, -most)
        finding = _change(fact, amount=self.good < 0)
        if low is not None and high is not None and low <= 0 <= high:
            shown = (replace(fact.estimate, signed=True), Column("", "share"))
            whose = SeriesName(fact.series)
            finding = (f"{whose} shows no significant change in {fact.name} (", shown, ")")
        # Where it did change for the worse, by how much is the question.
        size = (*limit, " or less") if high is not None and high < 0 else limit
        value = fact.estimate.value
        held = (", not more than ", *limit) if value is not None and self.good * value <= 0 else ()
        beside: Sentence = {
            UNDECIDED: (f"; a {self.noun} of ", *size, " is not excluded"),
            FAIL: (", more than ", *limit),
        }.get(verdict, held)
        needed = fact.estimate.reason if value is None else ""
        if verdict == UNDECIDED and not needed:
            truth = " if nothing changed" if most else f" if {_far(fact)} apart"
            needed = _needed(line, most, truth)
        deed = (f"{self.did} more than ", *limit, f" {self.of} {fact.name}")
        return line.judged(verdict, (*finding, *beside), needed, deed=deed)


@dataclass(frozen=True)
class MaxDrop(Tolerance):
    """A metric is not significantly lower than the baseline's by more than a number."""

    max_drop: Annotated[Mapping[Any, float], Option(
        "--max-drop", "METRIC=X[%]", "Fails when the drop is significantly larger than X.",
        parse=partial(parse_limits, "--max-drop", relative=True),
        detail="pass@1=0.02 is two points; pass@1=5% is a share of the baseline's.",
    )] = field(default_factory=dict)  # fmt: skip
    change = noun = "drop"
    did, of = "lost", "of"


@dataclass(frozen=True)
class MaxIncrease(Tolerance):
    """An amount is not significantly more than the baseline's by more than a number or share."""

    max_increase: Annotated[Mapping[Any, float], Option(
        "--max-increase", "METRIC=X%", "Fails when a cost rises significantly more than X.",
        parse=partial(parse_limits, "--max-increase", relative=True, amounts=True),
        detail="cost=10% is a share of the baseline's; cost=0.02 is in dollars. Also tokens,"
        " duration, turns, their medians and those of a solved task.",
    )] = field(default_factory=dict)  # fmt: skip
    change, noun = "increase", "rise"
    did, of = "rose by", "in"
    good = -1


@dataclass(frozen=True)
class EachRule(GateRule):
    """Base of the rules about single tasks, which look at the passes of every candidate."""

    @property
    def named(self) -> Sequence[Metric]:
        """pass@1, whose tasks and attempts it looks at."""
        from passk_cli.metrics.registry import Metric

        return (Metric("pass@", 1),) if self.wanted else ()

    def outcomes(self, trials: Sequence[Trial]) -> list[list[Outcome]]:
        return [
            [self.outcome(trial, rates) for rates in trial.candidates if rates.metric in self.named]
            for trial in trials
        ]

    def outcome(self, trial: Trial, rates: TaskValues) -> Outcome:
        """Of one candidate's series."""
        raise NotImplementedError

    def line(self, trial: Trial, rates: TaskValues, words: Sentence, limit: float) -> Judgement:
        """A line about a candidate, yet without verdict."""
        fact = trial.fact(rates.series, rates.metric)
        return trial.line(words, fact, limit, trial.left_out("baseline", rates))


@dataclass(frozen=True)
class MustPass(EachRule):
    """Every named task passes all its attempts, or a share of them."""

    must_pass: Annotated[tuple[str, ...], Option(
        "--must-pass", "TASKS|FILE", "Fails unless these tasks pass all attempts.",
        parse=partial(parse_tasks, "--must-pass"), several=True,
        detail="Names or patterns as a,b*, '*' for all tasks, or a file with one per line, without"
        " comments. Repeatable.",
    )] = ()  # fmt: skip
    must_pass_rate: Annotated[float, Option(
        "--must-pass-rate", "RATE", "Share of attempts --must-pass asks for.",
        low=0.0, high=1.0)] = 1.0  # fmt: skip

    def outcome(self, trial: Trial, rates: TaskValues) -> Outcome:
        """The named tasks that pass, and those that pass too rarely or have no attempts."""
        import numpy as np

        places = trial.sides.places
        found = {name: [task for task in places if fits(task, name)] if set(name) & {*"*?["}
                 else [name] * (name in places) for name in self.must_pass}  # fmt: skip
        unknown = [name for name, tasks in found.items() if not tasks]
        named = {task for tasks in found.values() for task in tasks}
        codes = np.array(sorted(places[task] for task in named), dtype=np.int64)
        asked = len(unknown) + len(codes)
        run = np.isin(codes, rates.tasks)
        at = np.searchsorted(rates.tasks, codes[run])
        n, c = rates.n[at], rates.c[at]
        below = c < self.must_pass_rate * n - 1e-9
        verdict = ERROR if unknown else FAIL if below.any() or not run.all() else PASS

        def words() -> Judgement:
            rate = "all attempts"
            if self.must_pass_rate != 1:
                rate = f"{self.must_pass_rate:g} of their attempts"
            tasks, do_pass = plural(asked, "named task"), "passes" if asked == 1 else "pass"
            line = self.line(trial, rates, (f"{tasks} {do_pass} {rate}",), self.must_pass_rate)
            if unknown:
                absent = f"{cut(first_few(unknown))} in the data{_remedy(unknown, places)}"
                return line.unchecked(f"no task {absent}")
            names, passed = trial.sides.counts.tasks, int((~below).sum())
            number = passed
            if passed < asked:
                number, do_pass = asked - passed, f"do{'es' * (asked - passed == 1)} not pass"
            finding = f"{number:,} of {tasks} {do_pass} {rate} in {SeriesName(rates.series)}"
            lost = first_few([names[code] for code in codes[~run]])
            notes = (
                f"no attempts at {lost}" if lost else "",
                first_few([f"{names[code]} passed {passes:,} of {attempts:,}" for code, passes,
                           attempts in zip(codes[run][below], c[below], n[below], strict=True)]),
                _lower_limit(rates, trial, at) if run.all() and (c == n).all() else "",
            )  # fmt: skip
            reason, *others = list(filter(None, notes)) or [""]
            deed = (f"did not pass {tasks}",)
            return line.judged(verdict, (finding,), reason, others, Counted(passed, asked), deed)

        return Outcome(rates.series, rates.metric, verdict, words, not unknown)


@dataclass(frozen=True)
class MinEach(EachRule):
    """No task's pass rate is significantly below a number."""

    min_each: Annotated[float | None, Option(
        "--min-each", "RATE|N/M", "Fails when a task is significantly below RATE.",
        low=0.0, high=1.0, parse=parse_rate,
        detail="Exact binomial test of each task, Holm over the tasks. It passes when every"
        " task is shown to reach RATE, and is undecided otherwise. 8/10 counts instead: it fails"
        " when a task passes fewer than 8 of 10 attempts.")] = None  # fmt: skip

    def statements(self, trial: Trial) -> int:
        """One per candidate's series: its tests are adjusted for the number of tasks."""
        return 0 if isinstance(self.min_each, OfAttempts) else len(trial.sides.series)

    def outcome(self, trial: Trial, rates: TaskValues) -> Outcome:
        """The tasks that reach a pass rate as observed, or are significantly below it."""
        import numpy as np

        from passk_cli.inference.adjust import holm
        from passk_cli.inference.single import below_tests, lower_limits

        n, c, asked, level = rates.n, rates.c, self.min_each or 0.0, trial.study.confidence.level
        if isinstance(asked, OfAttempts):
            return self._counted(trial, rates, asked)
        p = holm(below_tests(n, c, asked))
        below = np.flatnonzero(p <= 1 - level + 1e-12)
        shown = np.all(lower_limits(n, c, level) >= asked - 1e-12)
        verdict = FAIL if len(below) else PASS if shown else UNDECIDED

        def words() -> Judgement:
            names, whom = trial.sides.counts.tasks, SeriesName(rates.series)
            few = first_few([
                f"{names[rates.tasks[i]]} passed {c[i]:,} of {n[i]:,} (p {p_relation(p[i])})"
                for i in below[np.argsort(p[below], kind="stable")].tolist()
            ])  # fmt: skip
            tasks, reached = plural(len(n), "task"), int((c >= asked * n - 1e-9).sum())
            finding = f"{reached:,} of {tasks} of {whom} have an observed pass rate of at least "
            if len(below):
                verb, low = "is" if len(below) == 1 else "are", plural(len(below), "task")
                finding = f"{low} of {whom} {verb} significantly below a pass rate of "
            number = _asked(rates.metric, asked)
            line = self.line(trial, rates, ("each task ≥ ", *number), asked)
            reason = few or (_lower_limit(rates, trial) if verdict == UNDECIDED else "")
            counted = Counted(reached, len(n), "observed at {0:,} of {1:,}")
            deed = ("had tasks below a pass rate of ", *number)
            return line.judged(verdict, (finding, *number), reason, (), counted, deed)

        return Outcome(rates.series, rates.metric, verdict, words)

    def _counted(self, trial: Trial, rates: TaskValues, asked: OfAttempts) -> Outcome:
        """The tasks that pass so many of so many attempts, or the same share of more attempts.

        A task with fewer attempts has to pass as many: attempts that were lost are no passes.
        """
        import numpy as np

        n, c = rates.n, rates.c
        reached = c * asked.attempts >= asked.passes * np.maximum(n, asked.attempts)
        below = np.flatnonzero(~reached)

        def words() -> Judgement:
            names, whom = trial.sides.counts.tasks, SeriesName(rates.series)
            worst = below[np.argsort(c[below] / n[below], kind="stable")]
            few = first_few([f"{names[rates.tasks[i]]} passed {c[i]:,} of {n[i]:,}"
                             for i in worst.tolist()])  # fmt: skip
            least = f"{asked.passes:,} of {plural(asked.attempts, 'attempt')}"
            line = self.line(trial, rates, (f"each task passes {least}",), asked)
            tasks = plural(len(n), "task")
            finding = f"{int(reached.sum()):,} of {tasks} of {whom} pass {least}"
            counted = Counted(int(reached.sum()), len(n))
            deed = (f"had tasks that passed fewer than {least}",)
            return line.judged(FAIL if few else PASS, (finding,), few, (), counted, deed)

        verdict = FAIL if len(below) else PASS
        return Outcome(rates.series, rates.metric, verdict, words)


def _asked(metric: Metric, number: float, unit: str = "") -> Sentence:
    """A number that the user gave for a metric, as a piece of a sentence.

    unit : "points" of a difference.
    """
    if isinstance(number, Relative):
        return (f"{100 * number:g} %",)
    if metric.unit != "share":
        return (f"{'$' * (metric.unit == '$')}{number:g}",)
    return ((number, Column(unit, "given")),)


def _change(fact: Fact, *, amount: bool = False) -> Sentence:
    """A change from the baseline in words: "agent-b lost 0.140 [0.031, 0.249] of pass@1"; of what
    attempts take "agent-b costs 12 % [4, 21] more".

    amount : whether it is of what attempts take.
    """
    low, value, high = fact.estimate.low, fact.estimate.value, fact.estimate.high
    name = SeriesName(fact.series)
    if value is None:
        return (f"{fact.name} of {name}: {fact.estimate.reason}",)
    amount = amount or (fact.estimate.unit in QUANTITIES and fact.estimate.unit != "%")
    if abs(value) < ROUNDING:
        same = Estimate(value, low=low, high=high, unit=fact.estimate.unit, signed=True)
        return (f"{fact.name} of {name} did not change: ", same)
    falls = value < 0
    if falls:
        value, (low, high) = -value, (None if x is None else -x for x in (high, low))
    plain = Estimate(value, low=low, high=high, unit=fact.estimate.unit)
    size = (plain, POINTS)
    if amount:
        takes, of = ("costs", "") if fact.name == "cost" else ("takes", f" {fact.name}")
        return (f"{name} {takes} ", size, f" {'less' if falls else 'more'}{of}")
    verb, link = ("lost", "of") if falls else ("gained", "in")
    return (f"{name} {verb} ", size, f" {link} {fact.name}")


def _for_better(limits: Estimate | Interval | None, sign: int) -> Ends:
    """Limits of a difference, turned round where less is better, by the sign of the metric."""
    if limits is None or limits.low is None or limits.high is None:
        return None, None
    return (limits.low, limits.high) if sign > 0 else (-limits.high, -limits.low)


def _beside(ends: Ends, limit: float) -> str:
    """Where an interval lies: above a limit, below it, or around it."""
    low, high = ends
    if low is None or high is None:
        return ERROR
    return PASS if low >= limit else FAIL if high < limit else UNDECIDED


def _remedy(unknown: Sequence[str], tasks: Iterable[str]) -> str:
    """A remedy for names that are no tasks: what is near, a missing file, or a comment in one."""
    if any(name.startswith("#") for name in unknown):
        return "; a file of tasks has no comments"
    if near := nearest(unknown[0], tasks):
        return f"; {did_you_mean(near)}"
    is_file = any(Path(name).suffix or os.sep in name for name in unknown)
    return ", and no such file" if is_file else ""


def _lower_limit(rates: TaskValues, trial: Trial, at: Any = ...) -> str:
    """As "4 passes of 4 show a rate ≥ 0.473", of the fewest attempts at some of the tasks."""
    from passk_cli.inference.single import lower_limits

    fewest = int(rates.n[at].min())
    least = float(lower_limits(fewest, fewest, trial.study.confidence.level))
    shown = "1 pass of 1 shows" if fewest == 1 else f"{fewest:,} passes of {fewest:,} show"
    return f"{shown} a rate ≥ {least:.3f}"


def _far(fact: Fact) -> str:
    """The distance from a limit that `_needed` takes where no other is asked for."""
    return f"{100 * _AWAY:g} points" if fact.estimate.unit == "share" else "10 %"


def _needed(line: Judgement, away: float, truth: str) -> str:
    """About how many tasks would decide with power 0.8, or attempts where the tasks are fixed.

    The interval's half width h shrinks with their root, but for what is owed to runs, r.  A true
    value `away` from the limit is decided where away ≥ h (1 + z₀.₈ / z₁₋α/₂).  The estimate has no
    part in it: as far as it is from the limit, it may be by chance.  Where there are so many
    already, the truth is probably nearer than `away`, and that is said.

    line : whose interval holds the limit.  away : distance that is to be decided; where it is 0,
    5 points, and for what attempts took a tenth of the estimate.  truth : what is so far away.
    Power: benchmarks/gate.md.
    """
    from passk_cli.inference.exact import NORMAL

    fact, fixed = line.fact, line.fixed_tasks
    value, low, high = fact.estimate.value, fact.estimate.low, fact.estimate.high
    if value is None or low is None or high is None or math.isinf(high - low):
        return ""
    if not away:
        away = {"share": _AWAY, "%": 0.1}.get(fact.estimate.unit, 0.1 * abs(value))
    level = NORMAL.inv_cdf(1 - (1 - (fact.level or _LEVEL)) / 2)
    reach, most = (high - low) / 2, away / (1 + NORMAL.inv_cdf(_POWER) / level)
    unit = "attempts per task" if fixed else "tasks"
    if 0 < line.of_runs >= most:
        return f"runs differ too much, no number of {unit} would decide"
    number = _made(line)
    count = number * (reach**2 - line.of_runs**2) / ((most**2 - line.of_runs**2) or math.inf)
    if 0 < count <= number:
        return "near the limit"
    if count > 10_000_000 or not count > 0:
        return ""
    return _about(count, line, truth)


def _needed_alike(line: Judgement) -> str:
    """About how many tasks, or attempts, would decide if all pass as all did; or fail; "" else.

    Of n of them the lower limit is then near α^{1/n}, which is at the minimum m where n is
    n₀ ln(limit₀) / ln(m).
    """
    estimate, least, number = line.fact.estimate, line.limit or 0.0, _made(line)
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return ""
    for word, off, end, goal in (
        ("pass", 1 - estimate.value, estimate.low, least),
        ("fail", estimate.value, 1 - estimate.high, 1 - least),
    ):
        if estimate.unit == "share" and off < 1e-12 and 0 < end < goal < 1:
            return _about(number * math.log(end) / math.log(goal), line, f" if all {word}")
    return ""


def _made(line: Judgement) -> int:
    """The tasks of a line, or the fewest attempts where the tasks are fixed."""
    return (line.fact.size.n_min if line.fixed_tasks else line.fact.size.tasks) or 0


def _about(count: float, line: Judgement, truth: str) -> str:
    digit = 10 ** max(len(str(math.ceil(count))) - 2, 0)
    about = plural(math.ceil(count / digit) * digit, "attempt" if line.fixed_tasks else "task")
    return f"about {about}{' per task' * line.fixed_tasks} would decide{truth}"
