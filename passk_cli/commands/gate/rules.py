"""The rules of a gate, each with its options and how it is judged."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from passk_cli.errors import ParameterError
from passk_cli.option import Option, split
from passk_cli.report.words import first_few, p_text, plural, series_name
from passk_cli.study.rules import (
    ADJUSTED,
    ERROR,
    FAIL,
    GUARDED_T,
    MAX_T,
    PASS,
    SIGN_FLIP,
    SUISSA_SHUSTER,
    UNDECIDED,
)
from passk_cli.text import cut

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from passk_cli.commands.gate.judgement import Judgement
    from passk_cli.commands.gate.trial import Trial
    from passk_cli.metrics.registry import Metric
    from passk_cli.report.model import Estimate, Sentence
    from passk_cli.study.comparison import Comparison
    from passk_cli.study.fact import Fact
    from passk_cli.study.values import Series, TaskValues

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

# What a minimum is compared with, and how a rule's name says it.
MIN_BY = (BY_INTERVAL, BY_ESTIMATE, BY_LOWER) = ("interval", "estimate", "lower")
_BASIS = {BY_INTERVAL: "", BY_ESTIMATE: " (estimate)", BY_LOWER: " (lower limit)"}
# The rules of `EveryTask` and `EveryAttempt`.
EVERY, EVERY_ATTEMPT = "every baseline task", "every baseline attempt"


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
            raise ParameterError(
                f"{option} {metric.name} is given twice", name="contradicting-options"
            )
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


class Outcome(NamedTuple):
    """A rule's verdict on a candidate's series at a metric.

    evidence : what the verdict rests on.  reason : why the rule fails or cannot be checked.
    known : whether there is something to judge.
    """

    series: Series
    metric: Metric | None
    verdict: str
    evidence: Any = None
    reason: str = ""
    known: bool = True


@dataclass(frozen=True)
class GateRule:
    """Base of the rules: fields are options, `outcomes` judges, `judgement` says it in words.

    compares : whether it asks about differences to the baseline.
    general : whether it asks about the metrics of -k and -m.
    drawn : whether passes and failures decide it, so that it can be rehearsed.
    """

    title: ClassVar[str] = "Rules"
    compares: ClassVar[bool] = False
    general: ClassVar[bool] = False
    drawn: ClassVar[bool] = True

    @property
    def wanted(self) -> bool:
        """Whether it was asked for."""
        return bool(self.named)

    @property
    def named(self) -> Sequence[Metric]:
        """The metrics that its own options name."""
        return ()

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

    def outcomes(self, trials: Sequence[Trial]) -> list[list[Outcome]]:
        """The outcomes of each trial; trials of one shape are judged together."""
        raise NotImplementedError

    def judgement(self, trial: Trial, outcome: Outcome) -> Judgement:
        """An outcome with its number, in words."""
        raise NotImplementedError

    def judge(self, trial: Trial) -> list[Judgement]:
        """Every outcome of one trial, in words."""
        return [self.judgement(trial, outcome) for outcome in self.outcomes([trial])[0]]


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
    drawn = False

    @property
    def wanted(self) -> bool:
        """Unless the others are compared without them."""
        return self.unpaired == "fail"

    def outcomes(self, trials: Sequence[Trial]) -> list[list[Outcome]]:
        """One per series of the candidates, and per series that only the baseline has."""
        return [
            [
                Outcome(series, None, ERROR, None, trial.sides.lacking(series)) if covered is None
                else Outcome(series, None, FAIL if covered.lost else PASS, covered)
                for series, covered in {**trial.coverages, **trial.sides.missing}.items()
                if trial.sides.baseline is not None
                and (covered is not None or trial.sides.partner(series[0]) is None)
            ]
            for trial in trials
        ]  # fmt: skip

    def judgement(self, trial: Trial, outcome: Outcome) -> Judgement:
        """The tasks with attempts, of those of the baseline."""
        series, covered = outcome.series, outcome.evidence
        line = trial.line((EVERY,), trial.fact(series))
        if covered is None:
            return line.unchecked(outcome.reason)
        lost = covered.lost_words(series) if covered.lost else ""
        every = plural(covered.expected, "baseline task")
        every = every if covered.expected == 1 else f"all {every}"
        more = [] if series in trial.sides.missing else trial.lesser(series)
        line = replace(line, counted=f"{covered.shared:,} of {covered.expected:,}")
        finding = lost or f"{series_name(series)} has attempts at {every}"
        return line.judged(outcome.verdict, (finding,), "", lost, *more)


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
    drawn = False

    @property
    def wanted(self) -> bool:
        """Always: without a number it is about the baseline."""
        return True

    def outcomes(self, trials: Sequence[Trial]) -> list[list[Outcome]]:
        """One per series of the candidates, where something says how many were to be made."""
        return [
            [
                Outcome(series, None, PASS if made.design and not again else FAIL, made, again)
                for series, made in trial.made[0].items()
                if made.wanted is not None and trial.unpaired != "drop"
                for again in [trial.retried(series)]
            ]
            for trial in trials
        ]

    def judgement(self, trial: Trial, outcome: Outcome) -> Judgement:
        """The attempts made, of those to be made."""
        made, rule = outcome.evidence, EVERY_ATTEMPT
        if self.attempts is not None:
            rule = f"{plural(self.attempts, 'attempt')} at every task"
        line = trial.line(
            (rule,), trial.fact(outcome.series), self.attempts, trial.lesser(outcome.series)
        )
        finding = f"{series_name(outcome.series)} has {made.words}"
        return replace(line, counted=made.counted).judged(
            outcome.verdict, (finding,), outcome.reason
        )


# How the number that a minimum is compared with lies beside it, by what it is and the verdict.
_BESIDE = {
    (BY_INTERVAL, PASS): "its interval lies at or above",
    (BY_INTERVAL, FAIL): "its interval lies below",
    (BY_INTERVAL, UNDECIDED): "its interval contains",
    (BY_ESTIMATE, PASS): "the estimate is not below",
    (BY_ESTIMATE, FAIL): "the estimate is below",
    (BY_LOWER, PASS): "the lower limit is not below",
    (BY_LOWER, FAIL): "the lower limit is below",
}


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
            detail="Undecided where the interval contains X.",
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

    def outcomes(self, trials: Sequence[Trial]) -> list[list[Outcome]]:
        """One per candidate's series and metric; intervals only where they decide."""
        study = trials[0].study
        fast = self.min_by == BY_ESTIMATE and len(trials) > 1
        confidence = replace(study.confidence, interval="none") if fast else study.confidence
        asked = [[r for r in t.candidates if r.metric in self.minimum] for t in trials]
        facts = iter(study.facts_of([rates for each in asked for rates in each], confidence))
        return [[self._beside_least(rates, next(facts)) for rates in each] for each in asked]

    def _beside_least(self, rates: TaskValues, fact: Fact) -> Outcome:
        verdict = _beside_minimum(fact.estimate, self.minimum[rates.metric], self.min_by)
        reason = fact.estimate.reason or fact.flaw
        return Outcome(rates.series, rates.metric, verdict, (rates, fact), reason, rates.there)

    def judgement(self, trial: Trial, outcome: Outcome) -> Judgement:
        """A metric beside its minimum."""
        (rates, fact), verdict = outcome.evidence, outcome.verdict
        metric, least = rates.metric, self.minimum[rates.metric]
        words = (f"{metric.name} ≥ ", *_asked(metric, least, "share"), _BASIS[self.min_by])
        line = trial.line(words, fact, least, trial.left_out("baseline", rates))
        if verdict == ERROR:
            return line.unchecked(outcome.reason)
        finding = (
            f"{metric.name} of {series_name(fact.series)} is ", fact.estimate,
            f"; {_BESIDE[self.min_by, verdict]} the minimum of ", *_asked(metric, least, "share"),
        )  # fmt: skip
        needed = _tasks_needed(fact, least, "estimate") if verdict == UNDECIDED else ""
        return line.judged(verdict, finding, needed)


@dataclass(frozen=True)
class DifferenceRule(GateRule):
    """Base of the rules about differences to the baseline."""

    compares = True

    def asked(self, trial: Trial) -> Sequence[Metric]:
        """The metrics it asks about."""
        return trial.general if self.general else self.named

    def lacking(self, trial: Trial) -> list[Outcome]:
        """The outcomes of candidates that have no baseline."""
        return [
            Outcome(rates.series, rates.metric, ERROR, (None, 0), trial.sides.lacking(rates.series),
                    known=False)
            for rates in trial.unpaired_values(self.asked(trial))
        ]  # fmt: skip

    def limited(self, trials: Sequence[Trial]) -> list[list[Comparison]]:
        """The candidates of each trial against their baselines, with intervals, which are made
        together and are no tests."""
        from passk_cli.study.comparison import difference_intervals, match

        every = [[match(*pair) for pair in trial.pairs(self.asked(trial))] for trial in trials]
        known = [c for each in every for c in each if not c.reason]
        limits = iter(difference_intervals(known, trials[0].study.confidence))
        return [[c if c.reason else c.having(interval=next(limits)) for c in each]
                for each in every]  # fmt: skip

    def line(
        self, trial: Trial, outcome: Outcome, words: Sentence, limit: float | None = None
    ) -> Judgement:
        """The rule about a difference, yet without verdict; "error" where it cannot be checked."""
        c = outcome.evidence[0]
        if c is None:
            fact, details = trial.fact(outcome.series, outcome.metric), []
        else:
            fact = c.fact(trial.study.confidence)
            details = trial.left_out("shared", c.first, c.second)
        line = trial.line(words, fact, limit, details)
        return line.unchecked(outcome.reason) if outcome.verdict == ERROR else line


@dataclass(frozen=True)
class NoRegression(DifferenceRule):
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
    general = True

    @property
    def wanted(self) -> bool:
        """Whether it was asked for."""
        return self.no_regression

    def outcomes(self, trials: Sequence[Trial]) -> list[list[Outcome]]:
        """One per pair and metric; of several trials without intervals that decide nothing."""
        from passk_cli.study.pairs import compare_pairs, test_pairs

        study = trials[0].study
        pairs = [trial.pairs(trial.general) for trial in trials]
        if len(trials) == 1:
            compared = [compare_pairs(pairs[0], study.confidence, study.rules)]
        elif sum(first.there and second.there for first, second in pairs[0]) == 1:
            compared = self.limited(trials)
        else:
            compared = test_pairs(pairs, study.confidence, study.rules, verdicts=True)
        return [
            [*(self._tested(c, sum(not c.reason for c in every)) for c in every),
             *self.lacking(trial)]
            for trial, every in zip(trials, compared, strict=True)
        ]  # fmt: skip

    def _tested(self, c: Comparison, tests: int) -> Outcome:
        """By the interval, as --max-drop 0; of several tests by p, adjusted for their number."""
        from passk_cli.study.pairs import BETTER, WORSE

        verdict = ERROR
        if tests == 1:
            verdict = _beside_drop(c, 0.0)
        elif c.testable:
            verdict = {WORSE: FAIL, BETTER: PASS}.get(c.verdict, UNDECIDED)
        reason = c.reason or "its test has no p"
        return Outcome(c.first.series, c.first.metric, verdict, (c, tests), reason, not c.reason)

    def judgement(self, trial: Trial, outcome: Outcome) -> Judgement:
        """A difference, and whether it is a drop; of several tests, a significant one."""
        (c, tests), verdict, metric = outcome.evidence, outcome.verdict, outcome.metric
        line = self.line(trial, outcome, (f"{metric.name} no regression",))  # type: ignore[union-attr]
        if verdict == ERROR:
            return line
        p, shown = f"p {_p(c.adjusted)}" if c.testable else "", ""
        if p and tests > 1:
            many = (
                f"{ADJUSTED[c.adjustment]} over {tests} tests" if c.adjustment in ADJUSTED else ""
            )
            shown = f" ({', '.join(filter(None, (p, many)))})"
        rejects = c.adjusted <= 1 - trial.study.confidence.level + 1e-12
        if p and c.leaves_out_zero not in (None, rejects):
            p += " decides, not the interval" if tests > 1 else " does not decide"
        relation = {PASS: "", FAIL: ", a significant drop", UNDECIDED: ", not significant"}[verdict]
        needed = self._needed(line.fact, c, tests) if verdict == UNDECIDED else ""
        finding = (*_change(line.fact), f"{relation}{shown}")
        reason = "; ".join(filter(None, (needed, p)))
        return line.judged(verdict, finding, reason)

    def _needed(self, fact: Fact, c: Comparison, tests: int) -> str:
        """The number of tasks that would decide, as far as it is known."""
        units = len(c.tasks) if c.clusters is None else int(c.clusters.max()) + 1
        defaults = c.test in (GUARDED_T, SUISSA_SHUSTER)
        if (tests > 1 or defaults) and _least_p(c, units) > c.alpha + 1e-12:
            few = plural(units, "task" if c.clusters is None else "cluster")
            return f"with {few} no drop can be significant"
        # Where p alone is adjusted, the interval does not say what decides it.
        decides = tests == 1 or c.adjustment == MAX_T
        return _tasks_needed(fact, 0.0, "difference") if decides else ""


@dataclass(frozen=True)
class MaxDrop(DifferenceRule):
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

    @property
    def named(self) -> Sequence[Metric]:
        """The metrics with a largest drop."""
        return tuple(self.max_drop)

    def outcomes(self, trials: Sequence[Trial]) -> list[list[Outcome]]:
        """One per pair and metric: it fails when even the upper limit lies below."""
        return [
            [*map(self._beside, every), *self.lacking(trial)]
            for trial, every in zip(trials, self.limited(trials), strict=True)
        ]

    def _beside(self, c: Comparison) -> Outcome:
        metric, reason = c.first.metric, c.reason or (c.interval.reason if c.interval else "")
        verdict = _beside_drop(c, self.max_drop[metric])
        return Outcome(c.first.series, metric, verdict, (c, 0), reason, not c.reason)

    def judgement(self, trial: Trial, outcome: Outcome) -> Judgement:
        """A difference, and the largest drop that is allowed; a negative one asks for a gain."""
        verdict, metric = outcome.verdict, outcome.metric
        assert metric is not None
        most = self.max_drop[metric]
        allowed = _asked(metric, abs(most), "points")
        rule = f"{metric.name} gain ≥ " if most < 0 else f"{metric.name} drop ≤ "
        line = self.line(trial, outcome, (rule, *allowed), most)
        if verdict == ERROR:
            return line
        relation = {
            PASS: (", not more than ", ", at least "),
            FAIL: (", more than ", ", less than "),
            UNDECIDED: (" and may have dropped by more than ", " and may have gained less than "),
        }[verdict][most < 0]
        finding = (*_change(line.fact), relation, *allowed)
        if verdict == PASS and most >= 0 and (line.fact.estimate.value or 0.0) > 0:
            finding = _change(line.fact)
        needed = _tasks_needed(line.fact, -most, "difference") if verdict == UNDECIDED else ""
        return line.judged(verdict, finding, needed)


@dataclass(frozen=True)
class EachRule(GateRule):
    """Base of the rules about single tasks, which look at the passes of every candidate."""

    @property
    def named(self) -> Sequence[Metric]:
        """pass@1, whose tasks and attempts it looks at."""
        from passk_cli.metrics.registry import Metric

        return (Metric("pass@", 1),) if self.wanted else ()

    def outcomes(self, trials: Sequence[Trial]) -> list[list[Outcome]]:
        """One per candidate's series."""
        return [
            [self.judged(rates, trial) for rates in trial.candidates if rates.metric in self.named]
            for trial in trials
        ]

    def judged(self, rates: TaskValues, trial: Trial) -> Outcome:
        raise NotImplementedError

    def begun(self, trial: Trial, rates: TaskValues, words: Sentence, limit: float) -> Judgement:
        """A line about a candidate, yet without verdict."""
        fact = trial.fact(rates.series, rates.metric)
        return trial.line(words, fact, limit, trial.left_out("baseline", rates))


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

    def judged(self, rates: TaskValues, trial: Trial) -> Outcome:
        """Its evidence: the values, the places of the named tasks among them, of those that pass
        too rarely, and the named tasks without attempts."""
        import numpy as np

        places = trial.sides.places
        unknown = [task for task in self.must_pass if task not in places]
        if unknown:
            reason = f"no task {cut(first_few(unknown))} in the data{_remedy(unknown)}"
            return Outcome(rates.series, rates.metric, ERROR, (rates,), reason, known=False)
        wanted = {places[task] for task in self.must_pass}
        gone = sorted(wanted - set(rates.tasks.tolist()))
        there = np.array(sorted(wanted - set(gone)), dtype=np.int64)
        at = np.searchsorted(rates.tasks, there)
        below = at[rates.c[at] < self.must_pass_rate * rates.n[at] - 1e-9]
        verdict = FAIL if gone or len(below) else PASS
        return Outcome(rates.series, rates.metric, verdict, (rates, at, below, gone))

    def judgement(self, trial: Trial, outcome: Outcome) -> Judgement:
        """The named tasks that pass, and those that do not."""
        asked, one = len(self.must_pass), len(self.must_pass) == 1
        share = f"{self.must_pass_rate:g} of their attempts"
        share = "all attempts" if self.must_pass_rate == 1 else share
        tasks, whom = plural(asked, "named task"), series_name(outcome.series)
        words = (f"{tasks} {'passes' if one else 'pass'} {share}",)
        line = self.begun(trial, outcome.evidence[0], words, self.must_pass_rate)
        if outcome.verdict == ERROR:
            return line.unchecked(outcome.reason)
        (rates, at, below, gone), names = outcome.evidence, trial.sides.counts.tasks
        passed = len(at) - len(below)
        lost = first_few([names[task] for task in gone])
        few = first_few([f"{names[rates.tasks[i]]} passed {rates.c[i]:,} of {rates.n[i]:,}"
                         for i in below.tolist()])  # fmt: skip
        every = len(at) and not gone and bool((rates.c[at] == rates.n[at]).all())
        verb = "pass" if passed == asked and not one else "passes"
        finding = f"{passed:,} of {tasks} {verb} {share} in {whom}"
        if passed < asked:
            verb = "does" if asked - passed == 1 else "do"
            finding = f"{asked - passed:,} of {tasks} {verb} not pass {share} in {whom}"
        notes = [f"no attempts at {lost}" if lost else "", few]
        notes.append(_lower_limit(rates.n[at], trial) if every else "")
        reason, *others = list(filter(None, notes)) or [""]
        line = replace(line, counted=f"{passed:,} of {asked:,}")
        return line.judged(outcome.verdict, (finding,), reason, *others)


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

    @property
    def _rate(self) -> float:
        return self.min_each or 0.0

    def judged(self, rates: TaskValues, trial: Trial) -> Outcome:
        """Its evidence: the values, p of every task by Holm, and the places of those shown to be
        below, the smallest p first."""
        import numpy as np

        from passk_cli.inference.adjust import holm
        from passk_cli.inference.single import below_tests, lower_limits

        level = trial.study.confidence.level
        p = holm(below_tests(rates.n, rates.c, self._rate))
        below = np.flatnonzero(p <= 1 - level + 1e-12)
        verdict = FAIL
        if not len(below):
            least = lower_limits(rates.n, rates.c, level)
            verdict = PASS if np.all(least >= self._rate - 1e-12) else UNDECIDED
        evidence = rates, p, below[np.argsort(p[below], kind="stable")].tolist()
        return Outcome(rates.series, rates.metric, verdict, evidence)

    def judgement(self, trial: Trial, outcome: Outcome) -> Judgement:
        """The tasks that reach a pass rate as observed, or are significantly below it."""
        rates, p, below = outcome.evidence
        names, verdict, whom = trial.sides.counts.tasks, outcome.verdict, series_name(rates.series)
        rate = _asked(rates.metric, self._rate, "share")
        few = first_few([
            f"{names[rates.tasks[i]]} passed {rates.c[i]:,} of {rates.n[i]:,} (p {_p(p[i])})"
            for i in below
        ])  # fmt: skip
        tasks, reached = plural(len(rates.n), "task"), int((rates.c >= self._rate * rates.n).sum())
        finding = f"{reached:,} of {tasks} of {whom} have an observed pass rate of at least "
        if below:
            verb = "is" if len(below) == 1 else "are"
            low = plural(len(below), "task")
            finding = f"{low} of {whom} {verb} significantly below a pass rate of "
        line = self.begun(trial, rates, ("each task ≥ ", *rate), self._rate)
        line = replace(line, counted=f"observed at {reached:,} of {len(rates.n):,}")
        shows = _lower_limit(rates.n, trial) if verdict == UNDECIDED else ""
        return line.judged(verdict, (finding, *rate), few or shows)


def _asked(metric: Metric, number: float, unit: str) -> Sentence:
    """A number that the user gave for a metric, as a piece of a sentence.

    unit : "share", or "points" of a difference.
    """
    from passk_cli.report.model import Column

    if metric.unit != "share":
        return (f"{number:g}",)
    return ((number, Column("points" if unit == "points" else "", "given")),)


def _change(fact: Fact) -> Sentence:
    """A difference to the baseline in words: "agent-b lost 0.140 [0.031, 0.249] of pass@1"."""
    from passk_cli.report.model import Column, Estimate

    low, value, high = fact.estimate.low, fact.estimate.value or 0.0, fact.estimate.high
    points, whom = Column("points", "share"), series_name(fact.series)
    if value > 0:
        gained = Estimate(value, low=low, high=high, share=fact.estimate.share)
        return (f"{whom} gained ", (gained, points), f" in {fact.name}")
    ends = [None if limit is None else -limit for limit in (high, low)]
    lost = Estimate(-value, low=ends[0], high=ends[1], share=fact.estimate.share)
    return (f"{whom} lost ", (lost, points), f" of {fact.name}")


def _p(p: float) -> str:
    """As "= 0.0146", or "< 0.0001"."""
    text = p_text(p)
    return f"< {text[1:]}" if text.startswith("<") else f"= {text}"


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
    if by == BY_INTERVAL:
        return _beside(estimate.low, estimate.high, least - 1e-12)
    bar = estimate.value if by == BY_ESTIMATE else estimate.low
    if estimate.value is None or bar is None:
        return ERROR
    return PASS if bar >= least - 1e-12 else FAIL


def _beside_drop(c: Comparison, most: float) -> str:
    """Where the interval of a difference lies beside a drop."""
    return ERROR if c.interval is None else _beside(c.interval.low, c.interval.high, -most)


def _remedy(unknown: Sequence[str]) -> str:
    """A remedy for names that are no tasks: a file that is missing, or a comment in one."""
    if any(name.startswith("#") for name in unknown):
        return "; a file of tasks has no comments"
    is_file = any(Path(name).suffix or os.sep in name for name in unknown)
    return ", and no such file" if is_file else ""


def _lower_limit(n: Ints, trial: Trial) -> str:
    """As "4 passes of 4 show a rate ≥ 0.473"."""
    from passk_cli.inference.single import lower_limits

    fewest = int(n.min())
    least = float(lower_limits(fewest, fewest, trial.study.confidence.level))
    verb = "es" * (fewest > 1), "s" * (fewest == 1)
    return f"{fewest:,} pass{verb[0]} of {fewest:,} show{verb[1]} a rate ≥ {least:.3f}"


def _tasks_needed(fact: Fact, limit: float, noun: str) -> str:
    """About how many tasks would settle it: the interval's reach shrinks with their root.

    fact : a number whose interval holds the limit.  noun : what the number is.
    """
    value, low, high = fact.estimate.value, fact.estimate.low, fact.estimate.high
    if value is None or low is None or high is None:
        return ""
    away = value - limit
    reach = value - low if away > 0 else high - value
    count = math.inf if abs(away) < 1e-3 else (fact.size.tasks or 0) * (reach / abs(away)) ** 2
    if count > 10_000_000:
        return f"the {noun} is at the limit, no number of tasks would decide"
    digit = 10 ** max(len(str(math.ceil(count))) - 2, 0)
    return f"about {plural(math.ceil(count / digit) * digit, 'task')} would decide"
