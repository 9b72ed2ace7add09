"""A gate's run beside its baseline: their values, and what the numbers of these leave out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from passk_cli.arrays import Ints
from passk_cli.commands.gate.baseline_match import ITSELF, BaselineMatch, CandidateAttempts
from passk_cli.commands.gate.evidence import Coverage
from passk_cli.commands.gate.judgement import Judgement, at_both_ends
from passk_cli.diagnostic import Diagnostic
from passk_cli.inference.intervals import Interval
from passk_cli.inference.stopping import LEVEL, REPLACED, stopping
from passk_cli.metrics.registry import Metric
from passk_cli.outcomes.counts import Counts
from passk_cli.report.model import Estimate, Phrase, Sentence
from passk_cli.report.words import SeriesName, plural
from passk_cli.study.analysis import Analysis
from passk_cli.study.comparison import Comparison
from passk_cli.study.duplicate_runs import DuplicateRun, copies_between
from passk_cli.study.result import Result, Size
from passk_cli.study.rules import NOT_JUDGED
from passk_cli.study.values import Series, TaskValues

# Resamples of a rehearsed test.  They are as valid as more, and nearly as powerful.
_RESAMPLES = 1_000


def rehearsable(metric: Metric) -> bool:
    """Whether passes and failures decide it, it falls when passes are lost, and drawn runs are
    judged fast enough."""
    return not metric.kind.needs and metric.kind.monotone and not metric.kind.ranged


def with_passes(counts: Counts, c: Ints) -> Counts:
    """The cells with other passes; what is known of single attempts is left out."""
    return replace(counts, c=c, attempts={}, numbering=None)


@dataclass(frozen=True)
class GateContext:
    """The new run beside its baseline.

    study : the new run as it was read, with every metric a rule needs.
    general : the metrics of rules without their own.
    unpaired : what becomes of tasks and attempts that were not run: "fail", rules of their own, or
        "drop", the others are compared and every line says how many those are.
    attempts : how many were to be made at every task, where that was declared.
    """

    study: Analysis
    sides: BaselineMatch
    general: Sequence[Metric]
    unpaired: str
    attempts: int | None = None

    @property
    def cases(self) -> tuple[GateContext, ...]:
        """The context at its worst and at its best; itself alone where no outcomes are missing."""
        if not self.study.bounded:
            return (self,)
        sides = (self.sides.filled(passing=passing) for passing in (False, True))
        return tuple(replace(self, sides=match) for match in sides)

    @property
    def for_simulation(self) -> GateContext:
        """The context for judging drawn runs: only metrics that passes and failures decide, and
        fewer resamples."""
        study, confidence = self.study, self.study.confidence
        study = replace(
            study, metrics=tuple(filter(rehearsable, study.metrics)),
            confidence=replace(confidence, resamples=min(confidence.resamples, _RESAMPLES)),
        )  # fmt: skip
        return replace(self, study=study, general=tuple(filter(rehearsable, self.general)))

    @property
    def extremes(self) -> tuple[GateContext, GateContext]:
        """The contexts of a new run that passes everything, and of one that passes nothing."""
        counts, base = self.sides.counts, self.sides.baseline
        extreme_counts = [
            replace(with_passes(counts, c), missing=None) for c in (counts.n, 0 * counts.n)
        ]
        return self.with_counts(extreme_counts[0], base), self.with_counts(extreme_counts[1], base)

    def with_counts(self, counts: Counts, baseline: Counts | None) -> GateContext:
        """The context with other outcomes."""
        return replace(self, sides=replace(self.sides, counts=counts, baseline=baseline))

    @cached_property
    def candidates(self) -> list[TaskValues]:
        """The candidates' series × metrics."""
        return replace(self.study, counts=self.sides.counts).values(only=self.sides.candidates)

    @cached_property
    def bases(self) -> dict[tuple[Metric, Series], TaskValues]:
        """The baseline's series × metrics."""
        if self.sides.baseline is None:
            return {}
        values = replace(self.study, counts=self.sides.baseline).values(only=self.sides.bases)
        return {(rates.metric, rates.series): rates for rates in values}

    @cached_property
    def coverages(self) -> dict[Series, Coverage | None]:
        """Each candidate's share of its baseline's tasks."""
        return {series: self.sides.coverage(series) for series in self.sides.series}

    @cached_property
    def expected_attempts(self) -> list[dict[Series, CandidateAttempts]]:
        """The attempts of each candidate's series, beside those to be made: as declared, of the
        baseline, or of both."""
        by_source = [] if self.attempts is None else [self.sides.attempts_by_series(self.attempts)]
        if self.sides.baseline is not None or not by_source:
            by_source.append(self.sides.attempts_by_series())
        return by_source

    def retry_warning(self, series: Series) -> str:
        """That attempts look like failures tried again, since their numbers have holes; "" if they
        do not."""
        counts, numbers = self.sides.counts, self.sides.counts.numbering
        if numbers is None:
            return ""
        cells = self.expected_attempts[0][series].cells
        columns = (counts.n, counts.c, numbers.attempts_made, numbers.last_passed)
        end = stopping(*(values[cells] for values in columns))
        retried = end is not None and end.kind == REPLACED and end.chance < LEVEL
        return "attempt numbers have holes: retries seem to replace failures" * retried

    @cached_property
    def failed_attempts(self) -> dict[str, dict[Series, tuple[int, int]]]:
        """Of each candidate's series, (attempts that went wrong, attempts): "missing" are those
        without an outcome, "errors" also those that have an error."""
        missing, errors, counts = {}, {}, self.sides.counts
        for series in self.sides.series:
            lost, attempts = missing[series] = counts.missing_outcomes.shares(series)
            with_error = counts.facts.error_outcomes
            silent, erring = with_error.shares(series) if with_error else (0, 0)
            errors[series] = lost + erring - silent, attempts
        return {"missing": missing, "errors": errors}

    @cached_property
    def copies(self) -> list[DuplicateRun]:
        """The copies that candidates are of their baseline, of a history of any of its runs."""
        sides, past, copies = self.sides, self.study.past, list[DuplicateRun]()
        if not sides.separate_file or sides.label == ITSELF or self.study.bounded:
            return copies
        for place, series in zip(sides.candidates, sides.series, strict=True):
            base = sides.base_series(series)
            if base is None or sides.baseline is None:
                continue
            rivals, base_counts = {sides.label: sides.baseline.series.index(base)}, sides.baseline
            if past is not None:
                base_counts = past.runs_by_amount[""].history
                rivals = past.runs_by_amount[""].setups[base].places(base_counts)
            copies += copies_between(sides.counts, place, base_counts, rivals, SeriesName(series))
        return copies

    def pairs(self, metrics: Collection[Metric]) -> list[tuple[TaskValues, TaskValues]]:
        """The candidates at some metrics, each with its baseline."""
        return [
            (rates, self.bases[rates.metric, base])
            for rates in self.candidates
            if rates.metric in metrics
            and (base := self.sides.base_series(rates.series)) is not None
        ]

    def unpaired_values(self, metrics: Collection[Metric]) -> list[TaskValues]:
        """The candidates at some metrics that have no baseline, unless that is allowed."""
        sides, dropped = self.sides, self.unpaired == "drop"
        return [
            rates
            for rates in self.candidates
            if rates.metric in metrics and sides.base_series(rates.series) is None
            and not (dropped and sides.base_model(rates.series[0]) is not None)
        ]  # fmt: skip

    def empty_result(self, series: Series, metric: Metric | None = None) -> Result:
        """A fact about a series without a number."""
        name, k = ("", None) if metric is None else (metric.name, metric.k)
        tasks = len(self.sides.tasks.get(series, ()))
        return Result(series, name, k, Estimate(None), size=Size(tasks))

    def widen(self, c: Comparison, limits: Interval) -> Interval:
        """The limits of a difference, with the effect of a run if the baseline is a history."""
        past = self.study.past
        return limits if past is None else past.widen(c, limits)

    def reach_of_runs(self, c: Comparison) -> float:
        """The part of an interval's reach that the effect of a run has."""
        past = self.study.past
        return 0.0 if past is None else past.reach(c, self.study.confidence.level)

    def with_details(self, line: Judgement) -> Judgement:
        """A judgement with the tasks and attempts that its number leaves out."""
        series, name = line.fact.series, line.fact.name
        cover = self.coverages.get(series)
        if not name:
            return replace(line, covered=cover or self.sides.missing_series.get(series))
        noun = "shared" if line.fact.against else "baseline"
        base = self.sides.base_series(series) if line.fact.against else None
        values = [*self.candidates, *self.bases.values()] if base else self.candidates
        words = [rates.reason for rates in values if rates.has_values and rates.metric.name == name
                 and rates.series in (series, base)]  # fmt: skip
        if cover is not None and cover.lost:
            words.append(f"{cover.shared:,} of {cover.expected:,} {noun} tasks")
        return replace(
            line, details=(*line.details, *words, *self.deviations(series)), covered=cover
        )

    def deviations(self, series: Series) -> list[str]:
        """The attempts that a candidate's numbers lack or have too many, and other tasks."""
        words, cover, sides = [], self.coverages[series], self.sides
        if sides.baseline is None:
            rivals = sides.coverage_of_rivals(series)
            if rivals.lost:
                words.append(f"{rivals.shared:,} of {rivals.expected:,} tasks in the data")
        for by_series in self.expected_attempts:
            words += by_series[series].deviations if series in by_series else []
        if cover is not None and cover.more:
            verb = "is" if cover.more == 1 else "are"
            words.append(f"{plural(cover.more, 'task')} {verb} not in the baseline")
        if self.unpaired == "drop":
            # Without a line of their own: nothing of these was run.
            words += [
                f"0 of {plural(lost.expected, 'baseline task')} in {SeriesName(missing_series)}"
                for missing_series, lost in sides.missing_series.items()
            ]
        return [*words, *sides.data_notes(series)]


@dataclass(frozen=True)
class JudgedRun:
    """A run and what its gate says of it.

    gate : the question, with its rules.  context : the run with its baseline.
    lines : the judgements.
    """

    gate: Any
    context: GateContext
    lines: Sequence[Judgement] = ()

    @property
    def name(self) -> str:
        """The suite's name; "" for a run of no suite."""
        return ""

    @property
    def messages(self) -> Iterable[Diagnostic]:
        """Messages about the suite."""
        return ()

    def judge(self, level: float) -> Self:
        """It with every candidate judged by every rule, each verdict at a level."""
        confidence, gate = replace(self.context.study.confidence, level=level), self.gate
        context = replace(self.context, study=replace(self.context.study, confidence=confidence))
        lines = []
        for place, rule in enumerate(gate.active_rules):
            for cases in zip(*(rule.judge([case])[0] for case in context.cases), strict=True):
                judged = [context.with_details(line) for line in cases]
                line = at_both_ends(*judged) if len(judged) > 1 else judged[0]
                lines.append(line.with_failing(gate.on_undecided, place))
        return replace(self, context=context, lines=lines)

    @property
    def rows(self) -> list[Judgement]:
        """The judgements, and the rules that wait for a first baseline."""
        return [*map(self.row_of, self.lines), *self.rows_not_judged]

    def row_of(self, line: Judgement) -> Judgement:
        """A judgement as a row of the table."""
        return line

    @property
    def rows_not_judged(self) -> list[Judgement]:
        """Rows of what is not judged."""
        groups = ("",) * len(self.context.study.counts.group_names)
        return [row_without_number(words, groups, "no baseline yet") for words in self.gate.waiting]


def row_without_number(
    words: Sentence, groups: Sequence[str], reason: str, verdict: str = NOT_JUDGED, **more: Any
) -> Judgement:
    """A row without a number, about the whole run."""
    fact = Result(("", *groups), "", None, Estimate(None))
    name = "".join(groups)
    return Judgement(
        "{words}", fact, verdict, "{?suite|{suite}: }{why}",
        {"words": Phrase(words), "suite": name, "why": reason}, reason, name=name, **more,
    )  # fmt: skip
