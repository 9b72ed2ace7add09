"""The rules of `passk gate`, with the options, the judgement and the sentences of each rule.

A rule is a class. The fields of the class are the options of the rule, `name_template` is the
template of its name, and `finding_templates` contains a sentence for each verdict. To add a rule,
write a class, and add the class to the base classes of `GateOptions`.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from passk_cli.commands.gate.evidence import SHARED_TASKS_SUFFIX, PartOfTotal
from passk_cli.commands.gate.judgement import Judgement
from passk_cli.diagnostic import fill_template
from passk_cli.errors import ParameterError, raise_parameter_error_if_any
from passk_cli.files.request import (
    TaskNameFromFileLine,
    matches_pattern,
    name_count_by_unmatched_task_list,
    parse_tasks,
)
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.inference.rounding import ROUNDING_TOLERANCE
from passk_cli.option import Option
from passk_cli.report.data_types import (
    NUMBER_IN_POINTS_FORMAT,
    Column,
    Estimate,
    PhraseCell,
    Sentence,
)
from passk_cli.report.phrases import first_few, p_sign_and_number_text, plural
from passk_cli.study.metric_selection import (
    is_corrected_for_judge_errors,
    refuse_range_valued_metrics,
)
from passk_cli.study.significance_options import (
    ADJUSTMENT_NAMES,
    BONFERRONI,
    ERROR,
    FAIL,
    MIN_P,
    PASS,
    UNDECIDED,
)
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix
from passk_cli.suggestions import did_you_mean, nearest_names, probable_share
from passk_cli.text import cut_long_words

if TYPE_CHECKING:
    from passk_cli.commands.gate.context import GateContext
    from passk_cli.inference.intervals import Interval
    from passk_cli.metrics.registry import Metric
    from passk_cli.study.comparison import Comparison
    from passk_cli.study.result import Result
    from passk_cli.study.values import TaskValues

# _TEXTS_BY_COMPARED_NUMBER maps each choice of --min-by to two texts: one text for the name of the
# rule, and one text for the sentence about the rule.
COMPARED_NUMBER_CHOICES = (BY_INTERVAL, BY_ESTIMATE, BY_LOWER) = ("interval", "estimate", "lower")
_TEXTS_BY_COMPARED_NUMBER = {
    BY_INTERVAL: ("", "its interval"),
    BY_ESTIMATE: (" (estimate)", "the estimate"),
    BY_LOWER: (" (lower limit)", "the lower limit"),
}
# By default, the forecast of the sample size assumes a true value at the distance _AWAY from the
# limit, the power _POWER and the confidence level _LEVEL.
_AWAY, _POWER, _LEVEL = 0.05, 0.8, 0.95
EVERY, EVERY_ATTEMPT = "every baseline task", "every baseline attempt"
BASELINE_RULES_TITLE = "Rules that need --baseline"
_VERDICTS_FROM_BEST_TO_WORST = (PASS, UNDECIDED, FAIL, ERROR)
# The key of a judgement consists of the index of the rule, the series and the name of the metric.
JudgementKey = tuple[int, tuple[str, ...], str]
# IntervalLimits contains the lower and the upper limit of an interval. Each limit is None if the
# interval does not have this limit.
IntervalLimits = tuple[float | None, float | None]


class RelativeLimit(float):
    """A limit as a share of the baseline, for example 0.1 for "10%"."""

    def __str__(self) -> str:
        return f"{100 * self:g}%"


class RateAsPassesOfAttempts(float):
    """A pass rate that the user gives as passes and attempts, for example 0.8 for "8/10"."""

    passes: int
    attempts: int

    @classmethod
    def from_text(cls, text: str) -> RateAsPassesOfAttempts:
        """Parse a text such as "8/10", or raise ValueError."""
        passes, attempts = (int(part) for part in text.split("/"))
        if not 0 <= passes <= attempts or not attempts:
            raise ValueError
        rate = cls(passes / attempts)
        rate.passes, rate.attempts = passes, attempts
        return rate

    def __str__(self) -> str:
        return f"{self.passes}/{self.attempts}"


def parse_rate(value: Any) -> float:
    """Parse the value of --min-each, such as 0.8, 80% or 8/10, or raise ValueError.

    >>> parse_rate("0.8"), parse_rate("80%"), str(parse_rate("8/10"))
    (0.8, 0.8, '8/10')
    """
    text = str(value)
    if "/" in text:
        return RateAsPassesOfAttempts.from_text(text)
    return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)


def parse_limits(
    option: str, value: Any, *, relative: bool = False, amounts: bool = False
) -> Mapping[Metric, float]:
    """Parse limits such as `["pass@1=0.02"]` or `{"pass@1": 0.02}`, and return a limit per metric.

    relative : whether 5% means 5 % of the baseline. Otherwise 5% means 0.05.
    amounts : whether the option limits metrics that should be low, such as cost.
    Errors: ParameterError for other text, an unknown metric, or a metric that is given twice.
    """
    from passk_cli.metrics.registry import parse_metric

    if isinstance(value, Mapping):
        value = [f"{name}={number}" for name, number in value.items()]
    limits: dict[Metric, float] = {}
    example = "cost=10%" if amounts else "pass@1=0.8" if option == "--min" else "pass@1=0.02"
    for text in (part for entry in value for part in entry.split(",")):
        name, equals, digits = text.partition("=")
        option_value = OptionWithValue(option, text)
        try:
            number = float(digits.rstrip("%")) / (100 if digits.endswith("%") else 1)
        except ValueError:
            number = math.nan
        if not equals or not math.isfinite(number):
            raise ParameterError(option_value, f"write METRIC=X, for example {example}")
        try:
            metric, part = parse_metric(name), relative and digits.endswith("%")
        except ParameterError as error:
            raise error.with_changes(ParameterError, place=option_value) from None
        place, share = OptionWithValue(option, metric.name), probable_share(digits)
        if option != "--min":
            refuse_range_valued_metrics([metric], option)
        raise_parameter_error_if_any(
            "bad-option-value",
            (relative and number < 0, option_value, "write METRIC=X with X of at least 0", ()),
            (metric.unit == "share" and not 0.0 <= number <= 1.0, option_value,
             "write METRIC=X with X from 0 to 1",
             (SuggestedFix({option: {name: f"{share:g}"}}),) if share else ()),
        )  # fmt: skip
        other_option = "--max-drop" if amounts else "--max-increase"
        alternative = {other_option: Placeholder(f"{metric.name}=X")}
        raise_parameter_error_if_any(
            "unknown-metric",
            (metric.unit == "score" and part, place,
             "write a difference without %, because a score may be negative", ()),
            ((metric.better_sign < 0) != amounts, place,
             f"a {'higher' if amounts else 'lower'} value of this metric is better",
             (SuggestedFix({**alternative, option: None}, "limits this metric"),)),
        )  # fmt: skip
        twice = metric in limits, place, "this metric is given twice", ()
        raise_parameter_error_if_any("contradicting-options", twice)
        limits[metric] = RelativeLimit(number) if part else number
    return limits


def is_given(value: Any) -> bool:
    empty = isinstance(value, str | Sequence | Mapping) and not len(value)
    return value is not None and value is not False and not empty


@dataclass(frozen=True)
class GateRule:
    """The base class of all rules of the gate. The fields are the options of the rule.

    title : heading of the rule's options in the help.
    name_template : template of the rule's name, with the fields of `name_fields`.
    finding_templates : maps each verdict to the template of the sentence about the evidence. The
        key "" stands for all other verdicts.
    compares_with_baseline : whether the rule needs a baseline.
    uses_general_metrics : whether the rule judges the metrics of -k and -m.
    can_simulate : whether a rehearsal can simulate the rule.
    """

    title: ClassVar[str] = "Rules about this run"
    name_template: ClassVar[str]
    finding_templates: ClassVar[Mapping[str, str]]
    compares_with_baseline: ClassVar[bool] = False
    uses_general_metrics: ClassVar[bool] = False
    can_simulate: ClassVar[bool] = True

    @property
    def option_value(self) -> Any:
        return getattr(self, fields(self)[0].name)

    @property
    def is_active(self) -> bool:
        return is_given(self.option_value)

    @property
    def option_metrics(self) -> Sequence[Metric]:
        return tuple(self.option_value) if isinstance(self.option_value, Mapping) else ()

    def judged_metrics(self, context: GateContext) -> Sequence[Metric]:
        return context.general_metrics if self.uses_general_metrics else self.option_metrics

    @property
    def signature(self) -> dict[str, object]:
        """The options that differ from their defaults, for the signature of the report."""
        entries = {}
        for option in fields(self):
            value = getattr(self, option.name)
            if not value or value == option.default:
                continue
            if isinstance(value, Mapping):
                value = ",".join(f"{metric.name}={number}" for metric, number in value.items())
            value = ",".join(value) if isinstance(value, tuple) else value
            value = str(value) if isinstance(value, RateAsPassesOfAttempts) else value
            name = "min" if option.name == "minimum" else option.name
            entries[name] = "yes" if value is True else value
        return entries

    def fallible_verdict_count(self, context: GateContext) -> int:
        """The number of verdicts that depend on an interval or test and can be wrong by chance."""
        return 0

    def judge(self, contexts: Sequence[GateContext]) -> list[list[Judgement]]:
        """Judge each context. All contexts have the same tasks and attempts."""
        return [list(self.judge_context(context)) for context in contexts]

    def judge_context(self, context: GateContext) -> Iterable[Judgement]:
        raise NotImplementedError

    def name_fields(self, metric: Metric | None = None) -> dict[str, Any]:
        """The fields of the templates that depend only on the options of the rule."""
        return {}

    def rule_sentence(self, metric: Metric | None = None) -> Sentence:
        return tuple(filter(None, fill_template(self.name_template, self.name_fields(metric))))

    def judgement(
        self, fact: Result, verdict: str, metric: Metric | None = None, reason: str = "",
        limit: float | None = None, notes: Sequence[str] = (), count: PartOfTotal | None = None,
        **evidence: Any,
    ) -> Judgement:  # fmt: skip
        """Create a judgement of this rule.  evidence : further fields of the sentence."""
        fields = {**self.name_fields(metric), **evidence}
        template = self.finding_templates.get(verdict, self.finding_templates.get("", ""))
        return Judgement(self.name_template, fact, verdict, template, fields, reason, tuple(notes),
                         count, limit)  # fmt: skip


@dataclass(frozen=True)
class BaselineTasksPresentRule(GateRule):
    """The rule that the run has every task of the baseline, unless --unpaired is drop."""

    unpaired: Annotated[str, Option(
        "--unpaired", help="What to do if tasks or attempts of the baseline are missing",
        choices=("fail", "drop"),
        detail="With fail, missing tasks or attempts make the gate fail. With drop, the gate"
        " compares only the tasks that both runs have. With drop, the report shows if the number of"
        " attempts differs from --attempts, but the difference does not make the gate fail.",
    )] = "fail"  # fmt: skip
    title: ClassVar[str] = BASELINE_RULES_TITLE
    can_simulate = False
    name_template = EVERY
    finding_templates: ClassVar[Mapping[str, str]] = {
        FAIL: "{model} has no attempts at {lost} of the {expected:baseline task}",
        PASS: "{model} has attempts at {?several|all }{expected:baseline task}",
    }

    @property
    def is_active(self) -> bool:
        return self.unpaired == "fail"

    def judge_context(self, context: GateContext) -> Iterator[Judgement]:
        """Yield one judgement per candidate, and one per model that only the baseline has."""
        sides = context.baseline_match
        for series, covered in {**context.coverages, **sides.missing_series}.items():
            fact = context.result_without_estimate(series)
            if covered is None:
                if sides.baseline is not None and sides.base_model(series[0]) is None:
                    yield self.judgement(fact, ERROR).as_error(sides.reason_not_compared(series))
                continue
            lost, names = covered.lost, first_few(sides.lost_tasks(series))
            notes = [] if series in sides.missing_series else context.deviation_notes(series)
            count = PartOfTotal(covered.shared, covered.expected)
            line = self.judgement(
                fact, FAIL if lost else PASS, None, f"lacks {names}" if names else "", None, notes,
                count, lost=lost, expected=covered.expected, several=covered.expected > 1,
            )  # fmt: skip
            yield line if not lost else replace(line, detail_notes=(line.finding_text, *notes))


@dataclass(frozen=True)
class ExpectedAttemptCountRule(GateRule):
    """The rule that each task has as many attempts as in the baseline, or as --attempts requires.

    With a baseline, the rule also passes if all tasks have the same number of attempts, or the same
    share of the baseline's attempts.  Any other deviation means that attempts were lost, or that
    failed attempts were repeated.
    """

    attempts: Annotated[int | None, Option(
        "--attempts", "N", "Fail unless every task has N attempts.", low=1,
        detail="N includes attempts without an outcome. Without --attempts, the gate fails if a"
        " task has fewer or more attempts than in the baseline, unless all tasks have the same"
        " number of attempts.",
    )] = None  # fmt: skip
    can_simulate = False
    name_template = "{?declared|{declared:attempt} at every task}{?baseline|every baseline attempt}"
    finding_templates: ClassVar[Mapping[str, str]] = {"": "{model} has {made}"}

    @property
    def is_active(self) -> bool:
        return True

    def name_fields(self, metric: Metric | None = None) -> dict[str, Any]:
        return {"declared": self.attempts, "baseline": self.attempts is None}

    def judge_context(self, context: GateContext) -> Iterator[Judgement]:
        for series, attempts in context.attempts_by_series_per_expectation[0].items():
            if attempts.expected_attempts is None or context.unpaired_policy == "drop":
                continue
            reason = context.retry_warning(series)
            verdict = PASS if attempts.looks_planned and not reason else FAIL
            if not reason and not attempts.has_expected_attempts:
                reason = attempts.summary
                if verdict == FAIL:
                    reason = attempts.deviating_tasks_text(context.baseline_match.counts)
            count, covered = attempts.count_evidence, context.coverages.get(series)
            if count is not None and covered is not None and covered.lost:
                count = count._replace(template=count.template + SHARED_TASKS_SUFFIX)
            yield self.judgement(context.result_without_estimate(series), verdict, None, reason,
                self.attempts,
                                 context.deviation_notes(series), count,
                                 made=attempts.summary)  # fmt: skip


@dataclass(frozen=True)
class FailedShareRule(GateRule):
    """The base class of rules that limit the share of failed attempts.

    failure_words : what is wrong with the attempts, for example "without an outcome".
    failure_kind : key of the attempts in `GateContext.failed_and_all_attempts_by_kind`.
    """

    failure_words: ClassVar[str]
    failure_kind: ClassVar[str]
    can_simulate = False
    name_template = "attempts {noun} ≤ {limit}"
    finding_templates: ClassVar[Mapping[str, str]] = {
        "": "{wrong} of {made:attempt} by {model} {wrong:is|are} {noun} ({share})"
    }

    @property
    def is_active(self) -> bool:
        return self.option_value is not None

    def name_fields(self, metric: Metric | None = None) -> dict[str, Any]:
        return {"noun": self.failure_words, "limit": f"{100 * self.option_value:g} %"}

    def judge_context(self, context: GateContext) -> Iterator[Judgement]:
        for series, (wrong, attempts) in context.failed_and_all_attempts_by_kind[
            self.failure_kind
        ].items():
            verdict = FAIL if wrong > self.option_value * attempts + 1e-9 else PASS
            yield self.judgement(
                context.result_without_estimate(series), verdict, limit=self.option_value,
                count=PartOfTotal(wrong, attempts),
                wrong=wrong, made=attempts, share=f"{100 * wrong / attempts:.1f} %",
            )  # fmt: skip


@dataclass(frozen=True)
class MaxMissing(FailedShareRule):
    """The rule that limits the share of attempts without an outcome."""

    max_missing: Annotated[float | None, Option(
        "--max-missing", "SHARE", "Fail if more than SHARE of the attempts have no outcome.",
        low=0.0, high=1.0, only_in_full_help=True,
        detail="For example, 2% allows two attempts without an outcome in 100 attempts. The option"
        " --missing sets how passk counts attempts without an outcome.",
    )] = None  # fmt: skip
    failure_words = "without an outcome"
    failure_kind = "missing"


@dataclass(frozen=True)
class MaxErrors(FailedShareRule):
    """The rule that limits the share of attempts without an outcome or with an error."""

    max_errors: Annotated[float | None, Option(
        "--max-errors", "SHARE", "Fail if more than SHARE of the attempts ended in an error.",
        low=0.0, high=1.0, only_in_full_help=True,
        detail="For example, 5% allows five errors in 100 attempts. passk counts an attempt as an"
        " error if the attempt has no outcome, or if a column named error, errors, error_message or"
        " exception contains text.",
    )] = None  # fmt: skip
    failure_words = "without an outcome or with an error"
    failure_kind = "errors"


@dataclass(frozen=True)
class Minimum(GateRule):
    """The rule that a metric (its interval, estimate or lower limit) is not below a minimum."""

    minimum: Annotated[Mapping[Any, float], Option(
        "--min", "METRIC=X", "Fail if METRIC is significantly below X.",
        parse=partial(parse_limits, "--min"),
        detail="The rule is undecided if the interval of METRIC contains X.",
    )] = field(default_factory=dict)  # fmt: skip
    min_by: Annotated[str, Option(
        "--min-by", help="Which number to compare with the X of --min",
        choices=COMPARED_NUMBER_CHOICES,
        only_in_full_help=True,
        detail="With estimate, the rule fails if the estimate is below X. With lower, the rule"
        " fails if the lower limit of the interval is below X. With estimate or lower, the rule is"
        " never undecided.",
    )] = BY_INTERVAL  # fmt: skip
    name_template = "{metric} ≥ {limit}{by}"
    finding_templates: ClassVar[Mapping[str, str]] = {
        PASS: "{metric} of {model} is {?in|in }{estimate}; {end} is not below the minimum of"
        " {limit}",
        FAIL: "{metric} of {model} is {?in|in }{estimate}; {end} is below the minimum of {limit}",
        UNDECIDED: "{metric} of {model} is {?in|in }{estimate}; {end} contains the minimum of"
        " {limit}",
    }

    @property
    def signature(self) -> dict[str, object]:
        return {**super().signature, **({"min_by": self.min_by} if self.minimum else {})}

    def fallible_verdict_count(self, context: GateContext) -> int:
        number = sum(rates.metric in self.minimum for rates in context.candidate_values)
        return 0 if self.min_by == BY_ESTIMATE else number

    def name_fields(self, metric: Metric | None = None) -> dict[str, Any]:
        by, end = _TEXTS_BY_COMPARED_NUMBER[self.min_by]
        return {"by": by, "end": end, **_metric_and_limit_fields(metric, self.minimum)}

    def judge(self, contexts: Sequence[GateContext]) -> list[list[Judgement]]:
        """Judge each candidate and metric. Only intervals that affect a verdict are computed."""
        study = contexts[0].study
        fast = self.min_by == BY_ESTIMATE and len(contexts) > 1
        confidence = replace(study.confidence, interval="none") if fast else study.confidence
        values = [[r for r in t.candidate_values if r.metric in self.minimum] for t in contexts]
        facts = iter(study.results([rates for part in values for rates in part], confidence))
        return [
            [self._judge_values(context, rates, next(facts)) for rates in part]
            for context, part in zip(contexts, values, strict=True)
        ]

    def _judge_values(self, context: GateContext, rates: TaskValues, fact: Result) -> Judgement:
        least, to_decide = self.minimum[rates.metric], ""
        value, low, high = fact.estimate.value, fact.estimate.low, fact.estimate.high
        ends = {BY_INTERVAL: (low, high), BY_ESTIMATE: (value, value), BY_LOWER: (low, low)}
        verdict, words = _verdict(ends[self.min_by], least - 1e-12), dict[str, Any]()
        if rates.metric.definition.is_known_only_as_range:
            words = {"in": value is None}
            words |= {"end": "the range"} if self.min_by == BY_INTERVAL else {}
        elif verdict == UNDECIDED:
            truth = f" if {_assumed_distance_text(fact)} away"
            to_decide = _tasks_to_decide_unanimous_text(fact, least, context)
            to_decide = to_decide or _tasks_to_decide_text(fact, context, 0.0, truth)
        words["estimate"] = fact.estimate.value_or_limits
        line = self.judgement(fact, verdict, rates.metric, to_decide, least, **words)
        if verdict == ERROR:
            return line.as_error(
                fact.estimate.reason or fact.interval_flaw, absent=not rates.has_values
            )
        return line


@dataclass(frozen=True)
class BaselineRule(GateRule):
    """The base class of rules that compare the run with the baseline."""

    title: ClassVar[str] = BASELINE_RULES_TITLE
    compares_with_baseline = True

    def fallible_verdict_count(self, context: GateContext) -> int:
        return len(context.paired_values(self.judged_metrics(context)))

    @property
    def names_awaiting_baseline(self) -> list[Sentence]:
        return [self.rule_sentence(metric) for metric in self.option_metrics]

    def comparisons(self, contexts: Sequence[GateContext]) -> list[list[Comparison]]:
        """Compare the candidates of each context with the baseline, without tests."""
        from passk_cli.study.comparison import difference_intervals

        pairs = [
            [self.compare_pair(pair) for pair in t.paired_values(self.judged_metrics(t))]
            for t in contexts
        ]
        study = contexts[0].study
        if study.pooled_baseline is not None and self.uses_general_metrics:
            # The tests ignore the variation between runs, so passk uses Bonferroni-adjusted
            # intervals instead of tests.
            alpha = (1 - study.confidence.level) / max(sum(not c.reason for c in pairs[0]), 1)
            pairs = [
                [c.with_changes(alpha=alpha, adjustment=BONFERRONI) for c in part] for part in pairs
            ]
        limited = [c for part in pairs for c in part if not c.reason]
        limits = iter(difference_intervals(limited, study.confidence))
        return [
            [
                c
                if c.reason
                else c.with_changes(interval=context.widen_for_run_variation(c, next(limits)))
                for c in part
            ]
            for context, part in zip(contexts, pairs, strict=True)
        ]

    def compare_pair(self, pair: tuple[TaskValues, TaskValues]) -> Comparison:
        from passk_cli.study.comparison import comparison_on_shared_tasks

        return comparison_on_shared_tasks(*pair)

    def verdict(self, c: Comparison, tests: int) -> str:
        raise NotImplementedError

    def reason_and_fields(
        self, verdict: str, c: Comparison, fact: Result, tests: int, context: GateContext
    ) -> tuple[str, dict[str, Any]]:
        """The reason for the verdict, and the fields of the sentence about the evidence."""
        raise NotImplementedError

    def judge(self, contexts: Sequence[GateContext]) -> list[list[Judgement]]:
        rows = []
        for context, pairs in zip(contexts, self.comparisons(contexts), strict=True):
            tests = sum(not c.reason for c in pairs)
            row = [self._judge_pair(context, c, tests, single=len(contexts) == 1) for c in pairs]
            for rates in context.values_of_unmatched_candidates(self.judged_metrics(context)):
                fact = context.result_without_estimate(rates.series, rates.metric)
                line = self.judgement(fact, ERROR, rates.metric, limit=self._limit(rates.metric))
                reason = context.baseline_match.reason_not_compared(rates.series)
                row.append(line.as_error(reason, absent=True))
            rows.append(row)
        return rows

    def _judge_pair(
        self, context: GateContext, c: Comparison, tests: int, *, single: bool
    ) -> Judgement:
        verdict, metric, limit = self.verdict(c, tests), c.first.metric, self._limit(c.first.metric)
        fact = c.result(context.study.confidence)
        if verdict == ERROR:
            missing = (
                "no p-value" if self.uses_general_metrics else getattr(c.interval, "reason", "")
            )
            line = self.judgement(fact, verdict, metric, limit=limit)
            return line.as_error(c.reason or missing, absent=bool(c.reason))
        if not single:
            return self.judgement(fact, verdict, metric, limit=limit)
        if isinstance(limit, RelativeLimit):
            from passk_cli.study.comparison import relative_change

            change = relative_change(c, context.study.confidence)
            fact = replace(fact, estimate=change, se=None)
        reason, fields = self.reason_and_fields(verdict, c, fact, tests, context)
        fields |= _change_fields(fact.estimate)
        return self.judgement(fact, verdict, metric, reason, limit, **fields)

    def _limit(self, metric: Metric) -> float | None:
        return None if self.uses_general_metrics else self.option_value[metric]


@dataclass(frozen=True)
class NoRegression(BaselineRule):
    """The rule that no metric of -k and -m is significantly lower than in the baseline.

    The rule passes if the metric is significantly higher than in the baseline. If there are several
    tests, the p-values are adjusted for the number of tests.
    """

    no_regression: Annotated[bool, Option(
        "--no-regression", help="Fail if any metric dropped significantly.",
        detail="The option --no-regression checks each metric like --max-drop METRIC=0, and adjusts"
        " the tests for the number of metrics. The rule is undecided if a difference is not"
        " significant.")] = False  # fmt: skip
    uses_general_metrics = True
    name_template = "{?metric|{metric} }no regression"
    finding_templates: ClassVar[Mapping[str, str]] = {
        UNDECIDED: "{metric} of {model} {did} by {size}, not significantly{?tests| ({tests})}",
        "": "{metric} of {model} {did} by {size}, significantly{?tests| ({tests})}",
    }

    @property
    def names_awaiting_baseline(self) -> list[Sentence]:
        # The metrics depend on the data, so the name of the rule contains no metric.
        return [self.rule_sentence()]

    def name_fields(self, metric: Metric | None = None) -> dict[str, Any]:
        return {"metric": metric and metric.name}

    def fallible_verdict_count(self, context: GateContext) -> int:
        # The p-values are adjusted for the number of tests, so all tests of the rule together form
        # one verdict.
        return min(super().fallible_verdict_count(context), 1)

    def comparisons(self, contexts: Sequence[GateContext]) -> list[list[Comparison]]:
        """Compare the candidates.

        If there are several contexts, passk computes only the parts on which the verdicts depend.
        """
        from passk_cli.study.pairwise_tests import compare_pairs, comparisons_with_p_values

        study, pairs = (
            contexts[0].study,
            [context.paired_values(context.general_metrics) for context in contexts],
        )
        if study.pooled_baseline is not None:
            return super().comparisons(contexts)
        if len(contexts) == 1:
            return [compare_pairs(pairs[0], study.confidence, study.comparison_options)]
        if sum(first.has_values and second.has_values for first, second in pairs[0]) == 1:
            return super().comparisons(contexts)
        return comparisons_with_p_values(
            pairs, study.confidence, study.comparison_options, verdicts=True
        )

    def verdict(self, c: Comparison, tests: int) -> str:
        """The verdict from the interval or, for several tests, from the adjusted p-value."""
        from passk_cli.study.pairwise_tests import BETTER, WORSE

        if tests == 1 or (c.adjustment == BONFERRONI and not c.has_p_value):
            return _verdict(
                _interval_limits_of_improvement(c.interval, c.first.metric.better_sign), 0.0
            )
        return {WORSE: FAIL, BETTER: PASS}.get(c.verdict, UNDECIDED) if c.has_p_value else ERROR

    def reason_and_fields(
        self, verdict: str, c: Comparison, fact: Result, tests: int, context: GateContext
    ) -> tuple[str, dict[str, Any]]:
        p = f"p {p_sign_and_number_text(c.adjusted)}" if c.has_p_value else ""
        many = (
            f", {ADJUSTMENT_NAMES[c.adjustment]} over {tests} tests"
            if c.adjustment in ADJUSTMENT_NAMES
            else ""
        )
        test_words = f"{p}{many}" if p and tests > 1 else ""
        alpha = 1 - context.study.confidence.level
        if p and c.excludes_zero not in (None, c.adjusted <= alpha + 1e-12):
            p += " decides, not the interval" if tests > 1 else " does not decide"
        to_decide = ""
        if verdict == UNDECIDED and (tests == 1 or c.adjustment == MIN_P):
            worse = "lower" if c.first.metric.better_sign > 0 else "higher"
            truth = f" if {_assumed_distance_text(fact)} {worse}"
            to_decide = _tasks_to_decide_text(
                fact, context, 0.0, truth, context.run_variation_half_width(c)
            )
        return "; ".join(filter(None, (to_decide, p))), {"tests": test_words}


@dataclass(frozen=True)
class ToleranceRule(BaselineRule):
    """The base class of rules that limit how much worse than the baseline a metric may be.

    change_words : article and noun of the change for the worse, for example "a" and "drop".
    """

    change_words: ClassVar[tuple[str, str]]
    name_template = "{metric} {change} ≤ {limit}"
    finding_templates: ClassVar[Mapping[str, str]] = {
        PASS: "{metric} of {model} {did} by {size}{?even|, not significantly}"
        "{?worse|, not more than {limit}}",
        FAIL: "{metric} of {model} {did} by {size}, more than {limit}",
        UNDECIDED: "{metric} of {model} {did} by {size}{?even|, not significantly};"
                   " {a} {change} of {limit}{?worse| or less} is not excluded",
    }  # fmt: skip

    def name_fields(self, metric: Metric | None = None) -> dict[str, Any]:
        a, change = self.change_words
        return {
            "a": a,
            "change": change,
            **_metric_and_limit_fields(metric, self.option_value, "points"),
        }

    def compare_pair(self, pair: tuple[TaskValues, TaskValues]) -> Comparison:
        """Compare a candidate with the baseline, which is scaled if the limit is relative."""
        c, most = super().compare_pair(pair), self.option_value[pair[0].metric]
        return c if c.reason or not isinstance(most,
            RelativeLimit) else c.with_scaled_second_values(
            1.0 - pair[0].metric.better_sign * most
        )  # fmt: skip

    def verdict(self, c: Comparison, tests: int) -> str:
        most = self.option_value[c.first.metric]
        limit = 0.0 if isinstance(most, RelativeLimit) else -most
        return _verdict(
            _interval_limits_of_improvement(c.interval, c.first.metric.better_sign), limit
        )

    def reason_and_fields(
        self, verdict: str, c: Comparison, fact: Result, tests: int, context: GateContext
    ) -> tuple[str, dict[str, Any]]:
        sign, most, value = (
            c.first.metric.better_sign,
            self.option_value[c.first.metric],
            fact.estimate.value,
        )
        to_decide, high = (
            fact.estimate.reason,
            _interval_limits_of_improvement(fact.estimate, sign)[1],
        )
        if value is not None:
            truth = " if nothing changed" if most else f" if {_assumed_distance_text(fact)} apart"
            to_decide = "" if verdict != UNDECIDED else _tasks_to_decide_text(
                fact, context, most, truth, context.run_variation_half_width(c)
            )  # fmt: skip
        return to_decide, {"worse": high is not None and high < 0}


@dataclass(frozen=True)
class MaxDrop(ToleranceRule):
    """The rule that a metric has not dropped by significantly more than a limit."""

    max_drop: Annotated[Mapping[Any, float], Option(
        "--max-drop", "METRIC=X[%]", "Fail if METRIC dropped by significantly more than X.",
        parse=partial(parse_limits, "--max-drop", relative=True),
        detail="X is a difference (0.02 is two points) or a percentage of the baseline (5%).",
    )] = field(default_factory=dict)  # fmt: skip
    change_words = "a", "drop"


@dataclass(frozen=True)
class MaxIncrease(ToleranceRule):
    """The rule that a cost has not risen by significantly more than a limit."""

    max_increase: Annotated[Mapping[Any, float], Option(
        "--max-increase", "METRIC=X%", "Fail if a cost rose by significantly more than X.",
        parse=partial(parse_limits, "--max-increase", relative=True, amounts=True),
        detail="X is a percentage of the baseline (10%) or an amount (cost=0.02 is in dollars)."
        " METRIC can be cost, tokens, duration or turns, a median such as median-cost, or an amount"
        " per solved task such as cost-per-success.",
    )] = field(default_factory=dict)  # fmt: skip
    change_words = "an", "increase"


@dataclass(frozen=True)
class SingleTaskRule(GateRule):
    """The base class of rules that judge tasks one by one."""

    @property
    def option_metrics(self) -> Sequence[Metric]:
        # The rules about missing data check the tasks and attempts from which pass@1 is computed.
        from passk_cli.metrics.registry import Metric

        return (Metric("pass@", 1),) if self.is_active else ()

    def judge_context(self, context: GateContext) -> Iterator[Judgement]:
        for rates in context.candidate_values:
            if rates.metric in self.option_metrics:
                yield self.judge_series(context, rates)

    def judge_series(self, context: GateContext, rates: TaskValues) -> Judgement:
        raise NotImplementedError


@dataclass(frozen=True)
class MustPass(SingleTaskRule):
    """The rule that all attempts, or a required share of attempts, pass at each named task."""

    must_pass: Annotated[tuple[str, ...], Option(
        "--must-pass", "TASKS|FILE", "Fail unless every attempt at TASKS passes.",
        parse=partial(parse_tasks, "--must-pass"), is_repeatable=True,
        detail="TASKS is a list of names or patterns, for example a,b* (use '*' for all tasks)."
        " FILE contains one name per line, and no comments. You can repeat the option.",
    )] = ()  # fmt: skip
    must_pass_rate: Annotated[float, Option(
        "--must-pass-rate", "RATE", "Share of attempts that must pass at each task of --must-pass.",
        low=0.0, high=1.0)] = 1.0  # fmt: skip
    name_template = "{tasks:named task} {tasks:passes|pass} {rate}"
    finding_templates: ClassVar[Mapping[str, str]] = {
        PASS: "{tasks} of {tasks:named task} {tasks:passes|pass} {rate} in {model}",
        FAIL: "{failing} of {tasks:named task} {failing:does|do} not pass {rate} in {model}",
    }

    @property
    def signature(self) -> dict[str, object]:
        # If an option names a file that lists names, the signature of a report contains the path of
        # this file and the number of names in the file.
        files = Counter(
            name.file for name in self.must_pass if isinstance(name, TaskNameFromFileLine)
        )
        names = [name for name in self.must_pass if not isinstance(name, TaskNameFromFileLine)]
        lists = [f"{file} ({plural(number, 'task')})" for file, number in files.items()]
        entries = super().signature
        return {**entries, "must_pass": ",".join([*names, *lists])} if entries else entries

    def judge_series(self, context: GateContext, rates: TaskValues) -> Judgement:
        import numpy as np

        places = context.baseline_match.task_index_by_name
        matches = {
            name: [task for task in places if matches_pattern(task, name)]
            if set(name) & {*"*?["} else [name] * (name in places)
            for name in self.must_pass
        }  # fmt: skip
        unknown = [name for name, tasks in matches.items() if not tasks]
        names = {task for tasks in matches.values() for task in tasks}
        codes = np.array(sorted(places[task] for task in names), dtype=np.int64)
        run = np.isin(codes, rates.tasks)
        at = np.searchsorted(rates.tasks, codes[run])
        n, c, rate = rates.n[at], rates.c[at], self.must_pass_rate
        below = c < rate * n - 1e-9
        tasks, passed = len(unknown) + len(codes), int((~below).sum())
        lost = first_few([context.baseline_match.counts.tasks[code] for code in codes[~run]])
        all_passed = len(at) and run.all() and (c == n).all()
        notes = (
            f"no attempts at {lost}" if lost else "",
            _task_passes_text(context, rates, at[below]),
            _provable_rate_text(rates, context, at) if all_passed else "",
        )
        reason, *details = list(filter(None, notes)) or [""]
        line = self.judgement(
            context.result_without_estimate(rates.series, rates.metric),
            PASS if passed == tasks else FAIL,
            rates.metric, reason, rate, details, PartOfTotal(passed, tasks), tasks=tasks,
            rate="all attempts" if rate == 1 else f"{rate:g} of their attempts",
            failing=tasks - passed,
        )  # fmt: skip
        if not unknown:
            return line
        lists = name_count_by_unmatched_task_list(self.must_pass, unknown)
        unlisted = [name for name in unknown if getattr(name, "file", "") not in lists]
        problems = [f"the data contains none of the {number:,} tasks that {file} lists"
                    for file, number in lists.items()]  # fmt: skip
        if unlisted:
            remedy = _unknown_tasks_fix(unlisted, places)
            problems.append(f"the data has no task {cut_long_words(first_few(unlisted))}{remedy}")
        return replace(line, detail_notes=()).as_error("; ".join(problems), absent=True)


@dataclass(frozen=True)
class MinPassRateOfEachTaskRule(SingleTaskRule):
    """The rule that no task is significantly below a pass rate or, for N/M, has too few passes."""

    min_each: Annotated[float | None, Option(
        "--min-each", "RATE|N/M", "Fail if any single task is significantly below RATE.",
        low=0.0, high=1.0, parse=parse_rate,
        detail="passk tests each task with an exact binomial test, and adjusts the p-values with"
        " Holm's method. The rule passes if every task is significantly above RATE. If no task is"
        " significantly below RATE and some tasks are not significantly above RATE, the rule is"
        " undecided. With 8/10, the rule fails if a task passes fewer than 8 of 10 attempts.",
    )] = None  # fmt: skip
    name_template = (
        "each task {?limit|≥ {limit}}{?attempts|passes ≥ {passes} of {attempts:attempt}}"
    )
    finding_templates: ClassVar[Mapping[str, str]] = {
        FAIL: "{below:task} of {model} {below:is|are} significantly below a pass rate of {limit}",
        "": "{reached} of {tasks:task} of {model} have an observed pass rate of at least {limit}",
    }
    passes_of_attempts_template: ClassVar[str] = (
        "{reached} of {tasks:task} of {model} {reached:passes|pass} at least {passes} of"
        " {attempts:attempt}"
    )

    def fallible_verdict_count(self, context: GateContext) -> int:
        # The p-values are adjusted for the number of tasks, so the tests of all tasks together form
        # one verdict.
        return (
            0
            if isinstance(self.option_value, RateAsPassesOfAttempts)
            else len(context.baseline_match.series)
        )

    def name_fields(self, metric: Metric | None = None) -> dict[str, Any]:
        if isinstance(self.option_value, RateAsPassesOfAttempts):
            return {"passes": self.option_value.passes, "attempts": self.option_value.attempts}
        return {"limit": PhraseCell(((self.option_value, Column("", "given")),))}

    def judge_series(self, context: GateContext, rates: TaskValues) -> Judgement:
        if isinstance(self.option_value, RateAsPassesOfAttempts):
            return self._judge_counts(context, rates, self.option_value)
        return self._judge_tests(context, rates)

    def _judge_counts(
        self, context: GateContext, rates: TaskValues, least: RateAsPassesOfAttempts
    ) -> Judgement:
        """Judge a candidate by the number of tasks with enough passes.

        If a task has more attempts than the rule names, it needs the same share of passes. If it
        has fewer attempts, it needs the same number of passes, because lost attempts are not
        passes.
        """
        import numpy as np

        n, c = rates.n, rates.c
        enough = c * least.attempts >= least.passes * np.maximum(n, least.attempts)
        below, reached = np.flatnonzero(~enough), int(enough.sum())
        reason = _task_passes_text(
            context, rates, below[np.argsort(c[below] / n[below], kind="stable")]
        )
        line = self.judgement(
            context.result_without_estimate(rates.series, rates.metric),
            FAIL if len(below) else PASS,
            rates.metric,
            reason, least, (), PartOfTotal(reached, len(n)), reached=reached, tasks=len(n),
        )  # fmt: skip
        return replace(line, finding_template=self.passes_of_attempts_template)

    def _judge_tests(self, context: GateContext, rates: TaskValues) -> Judgement:
        import numpy as np

        from passk_cli.inference.adjust import holm
        from passk_cli.inference.binomial_rate import below_rate_p_values, rate_lower_limits

        n, c, least, level = rates.n, rates.c, self.option_value, context.study.confidence.level
        p = holm(below_rate_p_values(n, c, least))
        below = np.flatnonzero(p <= 1 - level + 1e-12)
        all_reached = np.all(rate_lower_limits(n, c, level) >= least - 1e-12)
        verdict = FAIL if len(below) else PASS if all_reached else UNDECIDED
        reason = _task_passes_text(context, rates, below[np.argsort(p[below], kind="stable")], p)
        reason = _provable_rate_text(rates, context) if verdict == UNDECIDED else reason
        reached = int((c >= least * n - 1e-9).sum())
        return self.judgement(
            context.result_without_estimate(rates.series, rates.metric), verdict, rates.metric,
            reason, least,
            (),
            PartOfTotal(reached, len(n), "observed at {0:,} of {1:,}"), below=len(below),
            reached=reached, tasks=len(n),
        )  # fmt: skip


def _task_passes_text(context: GateContext, rates: TaskValues, places: Any, p: Any = None) -> str:
    names = context.baseline_match.counts.tasks
    return first_few([
        f"{names[rates.tasks[i]]} passed {rates.c[i]:,} of {rates.n[i]:,}"
        f"{'' if p is None else f' (p {p_sign_and_number_text(p[i])})'}"
        for i in places.tolist()
    ])  # fmt: skip


def _metric_and_limit_fields(
    metric: Metric | None, limits: Mapping[Any, float], unit: str = ""
) -> dict[str, Any]:  # fmt: skip
    """The fields "metric" and "limit" of a sentence. If there is no limit, the result is empty.

    unit : "points" if the limit is a difference.
    """
    number: Any = limits.get(metric)
    if metric is None or number is None:
        return {}
    if isinstance(number, RelativeLimit):
        limit: Any = f"{100 * number:g} %"
    elif metric.unit != "share":
        limit = f"{'$' * (metric.unit == '$')}{number:g}"
    else:
        limit = PhraseCell(((number, Column(unit, "given")),))
    return {"metric": metric.name, "limit": limit}


def _change_fields(estimate: Estimate) -> dict[str, Any]:
    """The fields "did" and "size" of a sentence, for example "fell" and 0.140 [0.031, 0.249]."""
    low, value, high = estimate.low, estimate.value, estimate.high
    if value is None:
        return {"did": "changed", "size": "an unknown amount"}
    even = low is not None and high is not None and low <= 0 <= high
    if even or abs(value) < ROUNDING_TOLERANCE:
        size = PhraseCell(((replace(estimate, signed=True), NUMBER_IN_POINTS_FORMAT),))
        return {"did": "changed", "size": size, "even": even}
    if value < 0:
        value, (low, high) = -value, (None if x is None else -x for x in (high, low))
    size = PhraseCell(
        ((Estimate(value, low=low, high=high, unit=estimate.unit), NUMBER_IN_POINTS_FORMAT),)
    )
    return {"did": "rose" if value == estimate.value else "fell", "size": size}


def _interval_limits_of_improvement(
    limits: Estimate | Interval | None, sign: int
) -> IntervalLimits:
    if limits is None or limits.low is None or limits.high is None:
        return None, None
    return (limits.low, limits.high) if sign > 0 else (-limits.high, -limits.low)


def _verdict(ends: IntervalLimits, limit: float) -> str:
    low, high = ends
    if low is None or high is None:
        return ERROR
    return PASS if low >= limit else FAIL if high < limit else UNDECIDED


def _unknown_tasks_fix(unknown: Sequence[str], tasks: Iterable[str]) -> str:
    if any(name.startswith("#") for name in unknown):
        return "; a file of tasks must not contain comments"
    if suggested := nearest_names(unknown[0], tasks):
        return f"; {did_you_mean(suggested)}"
    is_file = any(Path(name).suffix or os.sep in name for name in unknown)
    return ", and there is no such file" if is_file else ""


def _provable_rate_text(rates: TaskValues, context: GateContext, at: Any = ...) -> str:
    """A text such as "4 passes of 4 show a rate ≥ 0.473", for the task with the fewest attempts."""
    from passk_cli.inference.binomial_rate import rate_lower_limits

    fewest = int(rates.n[at].min())
    least = float(rate_lower_limits(fewest, fewest, context.study.confidence.level))
    words = "1 pass of 1 shows" if fewest == 1 else f"{fewest:,} passes of {fewest:,} show"
    return f"{words} a rate ≥ {least:.3f}"


def _assumed_distance_text(fact: Result) -> str:
    return f"{100 * _AWAY:g} points" if fact.estimate.unit == "share" else "10 %"


def _tasks_to_decide_text(
    fact: Result, context: GateContext, away: float, truth: str, of_runs: float = 0.0
) -> str:
    """A text such as "about 80 tasks would decide if …", for an undecided rule.

    If the tasks are fixed, the text contains a number of attempts per task instead.  The half-width
    h of the interval shrinks with the square root of the number of tasks. Only the part r of the
    half-width, which comes from the variation between runs, does not shrink.  A true value at the
    distance `away` from the limit gives a verdict (with power 0.8) if away ≥ h (1 + z₀.₈ / z₁₋α/₂).
    The calculation does not use the estimate, because the estimate may be far from the limit by
    chance.  If the run already has enough tasks, the text is "near the limit".

    away : distance of the true value from the limit;  0 stands for 5 points or, for costs, for a
        tenth of the estimate.
    truth : the assumption about the true value, in words.
    of_runs : the part r of the half-width, which comes from the variation between runs.
    benchmarks/gate.md contains simulations of the power.
    """
    from passk_cli.inference.weighted_means import STANDARD_NORMAL

    value, low, high = fact.estimate.value, fact.estimate.low, fact.estimate.high
    if value is None or low is None or high is None or math.isinf(high - low):
        return ""
    if not away:
        away = {"share": _AWAY, "%": 0.1}.get(fact.estimate.unit, 0.1 * abs(value))
    level = STANDARD_NORMAL.inv_cdf(1 - (1 - (fact.level or _LEVEL)) / 2)
    reach, most = (high - low) / 2, away / (1 + STANDARD_NORMAL.inv_cdf(_POWER) / level)
    number, fixed = _size_and_whether_tasks_fixed(fact, context)
    if 0 < of_runs >= most:
        return "runs differ too much to decide"
    count = number * (reach**2 - of_runs**2) / ((most**2 - of_runs**2) or math.inf)
    if 0 < count <= number:
        return "near the limit"
    return _needed_sample_text(count, truth, fixed=fixed) if 0 < count <= 10_000_000 else ""


def _tasks_to_decide_unanimous_text(fact: Result, least: float, context: GateContext) -> str:
    """A text with the number of tasks that would give a verdict if all attempts keep passing.

    If all attempts failed, the text is about attempts that keep failing. In other cases, the text
    is "".  If all n attempts pass, the lower limit is about α^{1/n} at the significance level α.
    If n₀ attempts have the lower limit l₀, then n = n₀ ln(l₀) / ln(m) attempts reach the minimum m.
    """
    estimate, (number, fixed) = fact.estimate, _size_and_whether_tasks_fixed(fact, context)
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return ""
    for word, off, end, goal in (
        ("pass", 1 - estimate.value, estimate.low, least),
        ("fail", estimate.value, 1 - estimate.high, 1 - least),
    ):
        if estimate.unit == "share" and off < 1e-12 and 0 < end < goal < 1:
            count = number * math.log(end) / math.log(goal)
            return _needed_sample_text(count, f" if all {word}", fixed=fixed)
    return ""


def _size_and_whether_tasks_fixed(fact: Result, context: GateContext) -> tuple[int, bool]:
    """The number of tasks and False or, for fixed tasks, the fewest attempts at a task and True."""
    fixed = context.study.confidence.population == THESE_TASKS
    return (fact.size.n_min if fixed else fact.size.tasks) or 0, fixed


def _needed_sample_text(count: float, truth: str, *, fixed: bool) -> str:
    digit = 10 ** max(len(str(math.ceil(count))) - 2, 0)
    about = plural(math.ceil(count / digit) * digit, "attempt" if fixed else "task")
    return f"about {about}{' per task' * fixed} would decide{truth}"


def verdicts_by_judgement_per_context(
    rules: Sequence[GateRule], contexts: Sequence[GateContext], places: Iterable[int] | None = None
) -> list[dict[JudgementKey, str]]:
    """For each context, a mapping from the keys of judgements to verdicts.

    Judgements that cannot be simulated are left out. If outcomes are missing, the worst and the
    best case are judged, and the worse verdict counts.

    places : indices of the rules, or None for all rules.
    """
    lines: list[dict[JudgementKey, str]] = [{} for _ in contexts]
    ends = list(
        zip(*(context.contexts_of_worst_and_best_case for context in contexts), strict=True)
    )
    for place in range(len(rules)) if places is None else places:
        for end in ends if rules[place].can_simulate else ():
            for verdicts, judgements in zip(lines, rules[place].judge(end), strict=True):
                for line in judgements:
                    key = place, line.result.series, line.result.name
                    candidates = verdicts.get(key, PASS), line.verdict
                    if not line.lacks_data:
                        verdicts[key] = max(candidates, key=_VERDICTS_FROM_BEST_TO_WORST.index)
    return lines


def verdicts_if_all_pass_or_fail(
    rules: Sequence[GateRule], context: GateContext
) -> dict[JudgementKey, tuple[str, str]]:
    """Maps the key of each judgement to the verdicts if all attempts pass and if all fail.

    Rules that cannot be simulated are left out.
    """
    context = context.context_for_judging_simulations
    if not context.study.metrics or is_corrected_for_judge_errors(context.baseline_match.counts):
        return {}
    best, worst = verdicts_by_judgement_per_context(
        rules, context.all_attempts_pass_or_fail_contexts
    )
    return {line: (best[line], worst[line]) for line in best if line in worst}
