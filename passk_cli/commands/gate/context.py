"""The run that a gate judges, its baseline, and notes on data that verdicts leave out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from passk_cli.arrays import Ints
from passk_cli.commands.gate.baseline_match import (
    SELF_BASELINE_LABEL,
    BaselineMatch,
    CandidateAttemptCounts,
)
from passk_cli.commands.gate.evidence import TaskCoverage
from passk_cli.commands.gate.judgement import Judgement, join_worst_and_best
from passk_cli.diagnostic import Diagnostic
from passk_cli.inference.intervals import Interval
from passk_cli.inference.stopping import OPTIONAL_STOPPING_LEVEL, REPLACED, detect_optional_stopping
from passk_cli.metrics.registry import Metric
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Estimate, PhraseCell, Sentence
from passk_cli.report.phrases import SeriesName, plural
from passk_cli.study.analysis import Analysis
from passk_cli.study.comparison import Comparison
from passk_cli.study.duplicate_runs import DuplicateRun, copies_in_other_counts
from passk_cli.study.result import Result, SampleSize
from passk_cli.study.significance_options import RULE_NOT_JUDGED
from passk_cli.study.values import SeriesKey, TaskValues

# A simulation of the gate uses _MAX_SIMULATION_RESAMPLES resamples per test, because more resamples
# would hardly increase the power of the test.
_MAX_SIMULATION_RESAMPLES = 1_000


def can_rehearse_metric(metric: Metric) -> bool:
    """Whether a gate can simulate a metric.

    The metric must depend only on passes and failures, and must never rise if passes are lost. The
    counts must determine the value of the metric, and not only a range.
    """
    return (
        not metric.definition.required_attempt_data
        and metric.definition.is_monotone_in_passes
        and not metric.definition.is_known_only_as_range
    )


def replace_passes(counts: Counts, c: Ints) -> Counts:
    """Replace the numbers of passes, and remove the data about single attempts."""
    return replace(counts, c=c, attempts={}, attempt_number_facts=None)


@dataclass(frozen=True)
class GateContext:
    """The new run and its baseline, which the rules of a gate judge.

    general_metrics : the metrics of -k and -m, for rules that name no metric.
    unpaired_policy : "fail" if missing tasks and attempts fail the gate; "drop" if the gate
        compares the tasks that both runs have, and reports missing tasks.
    """

    study: Analysis
    baseline_match: BaselineMatch
    general_metrics: Sequence[Metric]
    unpaired_policy: str
    declared_attempts: int | None = None

    @property
    def contexts_of_worst_and_best_case(self) -> tuple[GateContext, ...]:
        """The contexts for the worst and the best case of missing outcomes."""
        if not self.study.has_missing_outcome_ranges:
            return (self,)
        sides = (
            self.baseline_match.with_missing_run_outcomes_as(passing=passing)
            for passing in (False, True)
        )
        return tuple(replace(self, baseline_match=match) for match in sides)

    @property
    def context_for_judging_simulations(self) -> GateContext:
        """The context for judging simulated runs, with only the metrics that passk can simulate."""
        study, confidence = self.study, self.study.confidence
        study = replace(
            study, metrics=tuple(filter(can_rehearse_metric, study.metrics)),
            confidence=replace(confidence, resamples=min(confidence.resamples,
                _MAX_SIMULATION_RESAMPLES)),
        )  # fmt: skip
        return replace(
            self,
            study=study,
            general_metrics=tuple(filter(can_rehearse_metric, self.general_metrics)),
        )

    @property
    def all_attempts_pass_or_fail_contexts(self) -> tuple[GateContext, GateContext]:
        """Two contexts: one in which all attempts of the new run pass, one in which all fail."""
        counts, base = self.baseline_match.counts, self.baseline_match.baseline
        all_pass, all_fail = replace_passes(counts, counts.n), replace_passes(counts, 0 * counts.n)
        best, worst = replace(all_pass, missing=None), replace(all_fail, missing=None)
        return self.with_counts(best, base), self.with_counts(worst, base)

    def with_counts(self, counts: Counts, baseline: Counts | None) -> GateContext:
        return replace(
            self, baseline_match=replace(self.baseline_match, counts=counts, baseline=baseline)
        )

    @cached_property
    def candidate_values(self) -> list[TaskValues]:
        return replace(self.study, counts=self.baseline_match.counts).task_values(
            only=self.baseline_match.candidate_series_indices
        )

    @cached_property
    def baseline_values(self) -> dict[tuple[Metric, SeriesKey], TaskValues]:
        """Maps each metric and each series of the baseline to values at single tasks."""
        if self.baseline_match.baseline is None:
            return {}
        values = replace(self.study, counts=self.baseline_match.baseline).task_values(
            only=self.baseline_match.baseline_series_indices
        )
        return {(rates.metric, rates.series): rates for rates in values}

    @cached_property
    def coverages(self) -> dict[SeriesKey, TaskCoverage | None]:
        return {
            series: self.baseline_match.coverage(series) for series in self.baseline_match.series
        }

    @cached_property
    def attempts_by_series_per_expectation(self) -> list[dict[SeriesKey, CandidateAttemptCounts]]:
        """The attempts of each candidate, compared with --attempts (if given) and the baseline."""
        by_source = (
            []
            if self.declared_attempts is None
            else [self.baseline_match.candidate_attempts_by_series(self.declared_attempts)]
        )
        if self.baseline_match.baseline is not None or not by_source:
            by_source.append(self.baseline_match.candidate_attempts_by_series())
        return by_source

    def retry_warning(self, series: SeriesKey) -> str:
        """A warning if gaps in the attempt numbers suggest retries of failed attempts, or ""."""
        counts, numbers = (
            self.baseline_match.counts,
            self.baseline_match.counts.attempt_number_facts,
        )
        if numbers is None:
            return ""
        cells = self.attempts_by_series_per_expectation[0][series].cell_indices
        columns = (
            counts.n,
            counts.c,
            numbers.attempts_including_gaps,
            numbers.last_attempt_outcomes,
        )
        end = detect_optional_stopping(*(values[cells] for values in columns))
        retried = (
            end is not None
            and end.kind == REPLACED
            and end.max_data_probability_if_n_fixed < OPTIONAL_STOPPING_LEVEL
        )
        return "attempt numbers have gaps: retries seem to replace failures" * retried

    @cached_property
    def failed_and_all_attempts_by_kind(self) -> dict[str, dict[SeriesKey, tuple[int, int]]]:
        """Maps each kind of failure ("missing" or "errors") to the failures of each candidate.

        Each candidate has a pair of numbers (failed attempts, all attempts). An attempt without an
        outcome counts as a failed attempt of both kinds.
        """
        missing, errors, counts = {}, {}, self.baseline_match.counts
        for series in self.baseline_match.series:
            lost, attempts = missing[series] = (
                counts.missing_outcomes.missing_and_attempts_of_series(series)
            )
            with_error = counts.read_facts.error_counts_by_model_and_task
            silent, erring = (
                with_error.missing_and_attempts_of_series(series) if with_error else (0, 0)
            )
            errors[series] = lost + erring - silent, attempts
        return {"missing": missing, "errors": errors}

    @cached_property
    def duplicate_runs(self) -> list[DuplicateRun]:
        sides, past, copies = self.baseline_match, self.study.pooled_baseline, list[DuplicateRun]()
        if (
            not sides.baseline_is_other_file
            or sides.baseline_label == SELF_BASELINE_LABEL
            or self.study.has_missing_outcome_ranges
        ):
            return copies
        for place, series in zip(sides.candidate_series_indices, sides.series, strict=True):
            base = sides.base_series(series)
            if base is None or sides.baseline is None:
                continue
            rivals, base_counts = (
                {sides.baseline_label: sides.baseline.series.index(base)},
                sides.baseline,
            )
            if past is not None:
                base_counts = past.runs_by_amount[""].history
                rivals = past.runs_by_amount[""].run_groups[base].series_index_by_run(base_counts)
            copies += copies_in_other_counts(
                sides.counts, place, base_counts, rivals, SeriesName(series)
            )
        return copies

    def paired_values(self, metrics: Collection[Metric]) -> list[tuple[TaskValues, TaskValues]]:
        return [
            (rates, self.baseline_values[rates.metric, base])
            for rates in self.candidate_values
            if rates.metric in metrics
            and (base := self.baseline_match.base_series(rates.series)) is not None
        ]

    def values_of_unmatched_candidates(self, metrics: Collection[Metric]) -> list[TaskValues]:
        """The values of the candidates that have no baseline.

        With --unpaired drop, a model is left out if the baseline has this model in another group.
        """
        sides, dropped = self.baseline_match, self.unpaired_policy == "drop"
        return [
            rates
            for rates in self.candidate_values
            if rates.metric in metrics and sides.base_series(rates.series) is None
            and not (dropped and sides.base_model(rates.series[0]) is not None)
        ]  # fmt: skip

    def result_without_estimate(self, series: SeriesKey, metric: Metric | None = None) -> Result:
        """A result without an estimate, for a rule that uses a count or cannot be checked."""
        name, k = ("", None) if metric is None else (metric.name, metric.k)
        tasks = len(self.baseline_match.task_codes_by_candidate.get(series, ()))
        return Result(series, name, k, Estimate(None), size=SampleSize(tasks))

    def widen_for_run_variation(self, c: Comparison, limits: Interval) -> Interval:
        past = self.study.pooled_baseline
        return limits if past is None else past.widen(c, limits)

    def run_variation_half_width(self, c: Comparison) -> float:
        """The part of an interval's half-width that is due to the variation between runs."""
        past = self.study.pooled_baseline
        return 0.0 if past is None else past.interval_limit_shift(c, self.study.confidence.level)

    def add_notes_to_judgement(self, line: Judgement) -> Judgement:
        """Add notes on the tasks and attempts that the estimate of the judgement leaves out."""
        series, name = line.result.series, line.result.name
        cover = self.coverages.get(series)
        if not name:
            return replace(
                line, task_coverage=cover or self.baseline_match.missing_series.get(series)
            )
        noun = "shared" if line.result.against else "baseline"
        base = self.baseline_match.base_series(series) if line.result.against else None
        values = (
            [*self.candidate_values, *self.baseline_values.values()]
            if base
            else self.candidate_values
        )
        words = [rates.reason for rates in values if rates.has_values and rates.metric.name == name
                 and rates.series in (series, base)]  # fmt: skip
        if cover is not None and cover.lost:
            words.append(f"{cover.shared:,} of {cover.expected:,} {noun} tasks")
        details = (*line.detail_notes, *words, *self.deviation_notes(series))
        return replace(line, detail_notes=details, task_coverage=cover)

    def deviation_notes(self, series: SeriesKey) -> list[str]:
        words, cover, sides = [], self.coverages[series], self.baseline_match
        if sides.baseline is None:
            rivals = sides.coverage_of_group_tasks(series)
            if rivals.lost:
                words.append(f"{rivals.shared:,} of {rivals.expected:,} tasks in the data")
        for by_series in self.attempts_by_series_per_expectation:
            words += by_series[series].deviation_notes if series in by_series else []
        if cover is not None and cover.extra:
            verb = "is" if cover.extra == 1 else "are"
            words.append(f"{plural(cover.extra, 'task')} {verb} not in the baseline")
        if self.unpaired_policy == "drop":
            # Models that are only in the baseline have no row in the table, so the notes list these
            # models.
            words += [
                f"0 of {plural(lost.expected, 'baseline task')} in {SeriesName(missing_series)}"
                for missing_series, lost in sides.missing_series.items()
            ]
        return [*words, *sides.skipped_and_missing_notes(series)]


@dataclass(frozen=True)
class JudgedRun:
    """A run, the `GateRunner` with the rules, and the judgements of the run."""

    gate_runner: Any
    context: GateContext
    judgements: Sequence[Judgement] = ()

    @property
    def suite_name(self) -> str:
        """The name of the suite, or "" if the run does not belong to a suite."""
        return ""

    @property
    def messages(self) -> Iterable[Diagnostic]:
        return ()

    def judge(self, level: float) -> Self:
        """Judge all candidates by all rules.  level : confidence level of each verdict."""
        confidence, gate = replace(self.context.study.confidence, level=level), self.gate_runner
        context = replace(self.context, study=replace(self.context.study, confidence=confidence))
        lines = []
        for place, rule in enumerate(gate.active_rules):
            lines_by_case = (
                rule.judge([case])[0] for case in context.contexts_of_worst_and_best_case
            )
            for cases in zip(*lines_by_case, strict=True):
                judged = [context.add_notes_to_judgement(line) for line in cases]
                line = join_worst_and_best(*judged) if len(judged) > 1 else judged[0]
                lines.append(line.with_fails_gate_set(gate.on_undecided, place))
        return replace(self, context=context, judgements=lines)

    @property
    def report_rows(self) -> list[Judgement]:
        return [*map(self.report_row, self.judgements), *self.rows_not_judged]

    def report_row(self, line: Judgement) -> Judgement:
        return line

    @property
    def rows_not_judged(self) -> list[Judgement]:
        groups = ("",) * len(self.context.study.counts.group_names)
        return [
            row_without_number(words, groups, "no baseline yet")
            for words in self.gate_runner.names_awaiting_baseline
        ]


def row_without_number(
    words: Sentence, groups: Sequence[str], reason: str, verdict: str = RULE_NOT_JUDGED, **more: Any
) -> Judgement:
    """A row about the whole run without an estimate, for example for a rule that is not judged."""
    fact = Result(("", *groups), "", None, Estimate(None))
    name = "".join(groups)
    return Judgement(
        "{words}", fact, verdict, "{?suite|{suite}: }{why}",
        {"words": PhraseCell(words), "suite": name, "why": reason}, reason, subject_name=name,
        **more,
    )  # fmt: skip
