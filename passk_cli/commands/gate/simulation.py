"""Rehearsals of a gate, which judge simulated runs without a change or with a planted drop."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from passk_cli.activity import items_with_progress
from passk_cli.arrays import Floats, Ints, group_pairs
from passk_cli.commands.gate.baseline_match import SELF_BASELINE_LABEL
from passk_cli.commands.gate.context import (
    GateContext,
    JudgedRun,
    can_rehearse_metric,
    replace_passes,
)
from passk_cli.commands.gate.judgement import Judgement
from passk_cli.commands.gate.rulebook import Rulebook
from passk_cli.commands.gate.rules import GateRule, JudgementKey, verdicts_by_judgement_per_context
from passk_cli.commands.gate.view import (
    JUDGEMENT_DATA_FIELDS,
    LEADING_COLUMNS,
    RuleTable,
    with_notes,
)
from passk_cli.diagnostic import WARNING, Diagnostic, DiagnosticType, fill_template
from passk_cli.inference.binomial_rate import rate_limits
from passk_cli.inference.hierarchical_model import draw_rates
from passk_cli.inference.intervals import GUARDED_T, METHODS_THAT_NEED_BOUNDS
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.inference.random_streams import named_generator
from passk_cli.metrics.registry import task_values
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import (
    FULL,
    AnswerSentence,
    ChangedTaskSentences,
    Column,
    Estimate,
    GateCheck,
    PhraseCell,
    Sentence,
)  # fmt: skip
from passk_cli.report.phrases import plural
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer, first_true_sentence
from passk_cli.study.history import PooledBaseline, shift_logits
from passk_cli.study.result import Result
from passk_cli.study.section import data_field
from passk_cli.study.significance_options import ERROR, FAIL, PASS, RULE_NOT_JUDGED, UNDECIDED
from passk_cli.study.values import SeriesKey

# A simulation has _UNCHANGED runs without a change and _PLANTED runs per planted drop. If intervals
# are slow to compute, the numbers of simulated runs are divided by _FEWER.
_UNCHANGED, _PLANTED, _FEWER = 500, 200, 5
# A predictive simulation draws _DRAWN sets of success rates from the posterior distribution. Any
# other simulation has _OF_ESTIMATED runs per set of estimated success rates.
_OF_ESTIMATED, _DRAWN = 10, 50
# The search for the detectable drop simulates at least _LEAST runs per drop. No further runs are
# simulated when the share of failing runs differs from the power by more than _CLEAR standard
# errors.
_LEAST, _CLEAR = 20, 3.0
_RUNS_PER_BATCH = 100
# A drop is detectable if it makes the rule fail with the probability POWER. _DEVIATE is the 0.8
# quantile of the standard normal distribution.
POWER, _DEVIATE = 0.8, 0.8416
# The bisection for the detectable drop stops when its error is at most 3 % of the drop, or at most
# 0.1 % of all passes.
_NEAR, _NEAREST = 0.03, 1e-3
# The variance of a number between 0 and 1 is at most _MAX_VARIANCE.
_MAX_VARIANCE = 0.25
WHOLE_GATE = "the whole gate"

METRIC_NOT_REHEARSABLE_WARNING = DiagnosticType(
    "not-rehearsed", WARNING,
    "passk cannot simulate {metrics}, because the simulation contains only passes and failures",
    meaning="The simulation contains only passes and failures. gain@k and the metrics of scores,"
    " answers or solutions also depend on other data.",
    why="If passk does not simulate the metric of a rule, the rehearsal cannot show how often the"
    " rule fails by mistake, or which drop the rule detects. The gate can check the rule on the"
    " real run without a simulation.",
    example="warning[not-rehearsed]: passk cannot simulate maj@1, because the simulation"
    " contains only passes and failures",
)  # fmt: skip
RANGE_METRIC_UNREHEARSED_WARNING = DiagnosticType(
    "ranges-not-rehearsed", WARNING,
    "passk does not simulate {metrics}, because the range takes too long to compute",
    meaning="The range of a metric such as cover@0.8 takes too long to compute for hundreds of"
    " simulated runs.",
    why="If passk does not simulate the metric of a rule, the rehearsal cannot show how often the"
    " rule fails by mistake, or which drop the rule detects. The gate can check the rule on the"
    " real run without a simulation.",
    example="warning[ranges-not-rehearsed]: passk does not simulate cover@0.8, because the range"
    " takes too long to compute",
)  # fmt: skip
ONE_ATTEMPT_WARNING = DiagnosticType(
    "one-attempt-rehearsed", WARNING,
    "one attempt does not show the success rate of a task, so the rehearsal uses a prior"
    " distribution",
    meaning="With one attempt per task, the data show the mean pass rate, but not how much tasks"
    " differ. The rehearsal draws the success rates of the tasks from a prior distribution with the"
    " mean pass rate of the data.",
    why="If your tasks differ more or less than the prior distribution assumes, the false-alarm"
    " rate and the detected drop are inaccurate.",
    advice="If you need accurate numbers, make at least two attempts per task.",
    example="warning[one-attempt-rehearsed]: one attempt does not show the success rate of a task,"
    " so the rehearsal uses a prior distribution",
)  # fmt: skip


@dataclass(frozen=True)
class VerdictRates:
    """How often a rule failed or was undecided in rehearsals without a change.

    failing_count, undecided_count : number of rehearsals with this verdict, out of `runs`
        rehearsals.
    both_of_pair_failing_share : share of pairs of rehearsals in which both rehearsals failed. The
        rehearsals of a pair have the same success rates. The share is increased by one standard
        error, because there are few such pairs.
    """

    failing_count: int
    undecided_count: int
    runs: int
    both_of_pair_failing_share: float

    @classmethod
    def from_runs(cls, failing: Sequence[bool], undecided: int, sets: int) -> VerdictRates:
        """Calculate the rates from rehearsals, which use each set of success rates in turn."""
        size = len(failing) // sets
        count = np.reshape(failing, (size, sets)).sum(axis=0)
        pairs, observed = sets * size * (size - 1) / 2, float((count * (count - 1)).sum()) / 2
        both_fail = min((observed + np.sqrt(observed) + 1.0) / pairs, 1.0)
        return cls(sum(failing), undecided, len(failing), both_fail)

    @property
    def failing_share(self) -> float:
        return self.failing_count / self.runs


def false_alarm_rate(odds: VerdictRates, predicted: VerdictRates) -> Estimate:
    """The false-alarm rate at the estimated success rates, with 95 % limits.

    Exact Clopper–Pearson limits cover the Monte-Carlo error of both simulations.  A Beta
    distribution of the false-alarm rate covers the error of the success rates.  The mean of this
    distribution is the share of runs that fail.  The variance follows from pairs of runs with the
    same success rates, and is larger if both runs of a pair fail more often.  The result has the
    lowest of all lower limits and the highest of all upper limits.

    odds : rehearsals at the estimated success rates.
    predicted : rehearsals at success rates that are drawn from the posterior distribution.

    benchmarks/gate.md shows how often the limits contain the true rate.
    """
    from passk_cli.scipy_special import betaincinv

    runs, failing = [odds.runs, predicted.runs], [odds.failing_count, predicted.failing_count]
    lows, highs = rate_limits(np.array(runs), np.array(failing))
    low, high, mean = float(lows.min()), float(highs.max()), predicted.failing_share
    spread = predicted.both_of_pair_failing_share - mean**2
    if 0.0 < spread < mean * (1.0 - mean):
        size = mean * (1.0 - mean) / spread - 1.0
        ends = (float(betaincinv(mean * size, (1.0 - mean) * size, q)) for q in (0.025, 0.975))
        low, high = min(low, next(ends)), max(high, next(ends))
    return Estimate(odds.failing_share, low=low, high=high)


@dataclass(frozen=True)
class DetectableDrop:
    """The smallest planted drop at which a rule fails with power 0.8.

    lost_pass_share : share of passes that is lost at every task, or None if the rule does not
        detect the loss of all passes.
    drop : drop of the metric, with its Monte-Carlo standard error.
    failing_share : share of runs that failed at this drop or, if `lost_pass_share` is None, after
        the loss of all passes.
    """

    lost_pass_share: float | None
    drop: Estimate
    failing_share: float


@dataclass(frozen=True)
class SimulatedJudgement(Judgement):
    """A judgement with the results of its rehearsals.

    unchanged_rates : rehearsals at the estimated success rates, or None if the rule cannot be
        rehearsed.
    predictive_verdict_rates : rehearsals at success rates that are drawn from the posterior
        distribution.
    all_pass_verdict, all_fail_verdict : verdicts if every attempt passes, and if every attempt
        fails.
    """

    unchanged_rates: VerdictRates | None = None
    predictive_verdict_rates: VerdictRates | None = None
    detectable_drop: DetectableDrop | None = None
    all_pass_verdict: str | None = None
    all_fail_verdict: str | None = None

    @cached_property
    def false_alarm_estimate(self) -> Estimate | None:
        if self.unchanged_rates is None or self.predictive_verdict_rates is None:
            return None
        return false_alarm_rate(self.unchanged_rates, self.predictive_verdict_rates)


@dataclass(frozen=True)
class SimulationSetup:
    """The settings for simulating a new run and a baseline that have the same success rates.

    context : the run, with only the metrics that can be rehearsed.
    new_run_rates, baseline_rates : success rates of the new run and of the baseline, with one row
        per set of success rates and one column per cell.
    rehearsal_count : number of rehearsals without a change. The rehearsals use the sets of success
        rates in turn.
    seed_purpose : text that is part of the seed. Suites with the same data have the same text, so
        that they simulate the same runs.
    between_run_deviations : maps each series of a history to one standard deviation between runs
        per set of success rates, in logits.
    """

    context: GateContext
    rules: Sequence[GateRule]
    new_run_rates: Floats
    baseline_rates: Floats | None
    on_undecided: str
    rehearsal_count: int
    seed_purpose: str = ""
    between_run_deviations: Mapping[SeriesKey, Floats] = field(default_factory=dict)
    _cache: dict[tuple[int, float], list[dict[JudgementKey, str]]] = field(default_factory=dict)

    @cached_property
    def verdict_rates_and_gate_failures(
        self,
    ) -> tuple[dict[JudgementKey, VerdictRates], list[bool]]:
        """The verdict rates of each judgement, and whether each rehearsal fails the gate."""
        verdicts: dict[JudgementKey, list[str]] = {}
        shut: list[bool] = []
        for first in items_with_progress(
            range(0, self.rehearsal_count, _RUNS_PER_BATCH), "rehearsing", "parts"
        ):
            places = range(first, min(first + _RUNS_PER_BATCH, self.rehearsal_count))
            for lines in verdicts_by_judgement_per_context(
                self.rules, [self.simulate_run_context(0.0, run) for run in places]
            ):
                for line, verdict in lines.items():
                    verdicts.setdefault(line, []).append(verdict)
                shut.append(any(map(self._fails_gate, lines.values())))
        sets = len(self.new_run_rates)
        odds = {
            line: VerdictRates.from_runs(list(map(self._fails_gate, v)), v.count(UNDECIDED), sets)
            for line, v in verdicts.items()
        }
        return odds, shut

    @property
    def pass_at_1_deviations_between_runs(self) -> list[float]:
        """The standard deviation of pass@1 between runs, one per series of a history."""
        past, sides = self.context.study.pooled_baseline, self.context.baseline_match
        if past is None or sides.baseline is None:
            return []
        variances = [
            past.run_and_chance_variances(sides.baseline.series[s])
            for s in sides.baseline_series_indices
        ]
        return [math.sqrt(max(of_means - by_chance, 0.0)) for of_means, by_chance, _ in variances]

    def detectable_drop(self, line: JudgementKey) -> DetectableDrop:
        """Find the smallest planted drop at which a rule fails with power 0.8, by bisection.

        A planted drop removes the same share of passes at every task: a rate p becomes (1 − share)
        p. The simulations for all shares use the same random numbers.  Therefore, a rule that fails
        at one share almost always fails at a larger share.  For each share, passk simulates more
        runs until the power clearly differs from 0.8, or until a maximum number of runs is reached.
        """
        low, high = 0.0, 1.0
        reached = self._power(line, high)
        if reached < POWER:
            return DetectableDrop(None, Estimate(None), reached)
        if self._power(line, low) >= POWER:
            return DetectableDrop(0.0, Estimate(None), self._power(line, low, all_runs=True))
        while high - low > max(_NEAR * high, _NEAREST):
            middle = (low + high) / 2
            enough = self._power(line, middle) >= POWER
            low, high = (low, middle) if enough else (middle, high)
        return DetectableDrop(
            high, self._metric_drop(line, high), self._power(line, high, all_runs=True)
        )

    def _power(self, line: JudgementKey, lost: float, *, all_runs: bool = False) -> float:
        """The share of runs with a planted drop in which a rule fails.

        all_runs : whether to simulate all runs, even if the share already differs from 0.8.
        """
        place, runs = line[0], self.runs_per_planted_drop if all_runs else _LEAST
        while True:
            judged = self._cache.setdefault((place, lost), [])
            if len(judged) < runs:
                rule_metrics = self.rules[place].judged_metrics(self.context)
                metrics = tuple(m for m in self.context.study.metrics if m in rule_metrics)
                study = replace(self.context.study, metrics=metrics)
                drawn_runs = (
                    self.simulate_run_context(lost, run) for run in range(len(judged), runs)
                )
                contexts = [
                    replace(t, study=replace(study, pooled_baseline=t.study.pooled_baseline))
                    for t in drawn_runs
                ]
                judged += verdicts_by_judgement_per_context(self.rules, contexts, [place])
            share = sum(self._fails_gate(lines[line]) for lines in judged[:runs]) / runs
            unsure = _CLEAR * math.sqrt(POWER * (1 - POWER) / runs)
            if runs == self.runs_per_planted_drop or abs(share - POWER) > unsure:
                return share
            runs = min(2 * runs, self.runs_per_planted_drop)

    @property
    def runs_per_planted_drop(self) -> int:
        return min(self.rehearsal_count, max(_LEAST, self.rehearsal_count * _PLANTED // _UNCHANGED))

    def _fails_gate(self, verdict: str) -> bool:
        undecided_fails = self.on_undecided == FAIL
        return verdict in (FAIL, ERROR) or (undecided_fails and verdict == UNDECIDED)

    def simulate_run_context(self, lost: float, run: int) -> GateContext:
        """Simulate a baseline, and a new run that lost a share of its passes."""
        sides, study, at = (
            self.context.baseline_match,
            self.context.study,
            run % len(self.new_run_rates),
        )
        generator = named_generator(study.confidence.seed, f"rehearsed run{self.seed_purpose}", run)
        base, new, past = None, self.new_run_rates[at], study.pooled_baseline
        if self.baseline_rates is not None and sides.baseline is not None:
            base, old = sides.baseline, self.baseline_rates[at]
            if past is None:
                passes = generator.binomial(attempts_with_outcome(base), old)
            else:
                scales = {
                    series: float(scale[at])
                    for series, scale in self.between_run_deviations.items()
                }
                past, passes = past.simulate_runs(base, old, scales, generator)
                new = new.copy()
                for s, series in zip(sides.candidate_series_indices, sides.series, strict=True):
                    if scale := scales.get(sides.base_series(series) or (), 0.0):
                        rows = sides.counts.slice_of_series(s)
                        new[rows] = shift_logits(new[rows], scale * generator.standard_normal())
            base = replace_passes(base, passes)
        passes = generator.binomial(attempts_with_outcome(sides.counts), new * (1.0 - lost))
        context = replace(self.context, study=replace(study, pooled_baseline=past))
        return context.with_counts(replace_passes(sides.counts, passes), base)

    def _metric_drop(self, line: JudgementKey, lost: float) -> Estimate:
        """The drop of the metric if a share of the passes is lost, with a Monte-Carlo error.

        The share of failing runs has the standard error √(power (1 − power) / runs).  This error,
        divided by the slope of the power at the drop, is the error of the drop.  For the slope,
        passk assumes that the power is a normal distribution function of the drop, with the spread
        of the evidence.
        """
        place, series, name = line
        metric = next(metric for metric in self.context.study.metrics if metric.name == name)
        counts, runs = self.context.baseline_match.counts, self.runs_per_planted_drop
        rows = counts.slice_of_series(counts.series.index(series))
        rates, n = (
            self.new_run_rates[np.arange(runs) % len(self.new_run_rates), rows],
            counts.n[rows],
        )
        enough = n >= metric.k
        rates, n = rates[:, enough], n[enough]
        drop = float(
            (metric.value_at_rates(rates) - metric.value_at_rates(rates * (1.0 - lost))).mean()
        )
        passes = named_generator(0, "rehearsed spread").binomial(n, rates * (1.0 - lost))
        values = task_values([metric], np.broadcast_to(n, passes.shape).ravel(), passes.ravel())[0]
        spread = float(values.reshape(passes.shape).mean(axis=1).std())
        spread *= math.sqrt(1.0 + self.rules[place].compares_with_baseline)
        slope = math.exp(-0.5 * _DEVIATE**2) / math.sqrt(2 * math.pi) / max(spread, 1e-12)
        return Estimate(drop, se=math.sqrt(POWER * (1 - POWER) / runs) / slope)


def has_fast_intervals(context: GateContext) -> bool:
    confidence = context.study.confidence
    methods = {confidence.method, confidence.for_differences().method}
    return confidence.population == NEW_TASKS and methods <= {
        *METHODS_THAT_NEED_BOUNDS,
        GUARDED_T,
        "t",
    }


def simulation_setup(
    context: GateContext, rules: Sequence[GateRule], on_undecided: str, *, predictive: bool = False,
    fewer: bool = False, purpose: str = "",
) -> SimulationSetup:  # fmt: skip
    """Set up the simulation of a gate, with success rates from a posterior distribution.

    Both runs have the success rates of the baseline, or of the new run if there is no baseline.
    The estimated success rates are the posterior draws for which the metrics are closest to the
    observed metrics.  In these draws, success rates vary between tasks as much as in the posterior.

    predictive : whether to use all posterior draws, and twice as many rehearsals.
    fewer : whether to use fewer rehearsals even if intervals are fast to compute.
    """
    context = context.context_for_judging_simulations
    study, metrics = context.study, context.study.metrics
    seed = study.confidence.seed, purpose
    runs = _UNCHANGED // _FEWER if fewer or not has_fast_intervals(context) else _UNCHANGED
    runs, sets = (2 * runs, _DRAWN) if predictive else (runs, runs // _OF_ESTIMATED)
    sides, base = context.baseline_match, context.baseline_match.baseline

    def rates_of(counts: Counts, s: int) -> Floats:
        draws = _posterior_rates(counts, s, sets if predictive else _UNCHANGED, seed)
        if predictive:
            return draws
        rows = counts.slice_of_series(s)
        n, c = attempts_with_outcome(counts)[rows], counts.c[rows]
        distance = np.zeros(len(draws))
        for metric in metrics:
            enough = n >= max(metric.k, 1)
            if enough.any():
                expected = metric.value_at_rates(draws[:, enough]).mean(axis=1)
                observed = task_values([metric], n[enough], c[enough])[0].mean()
                distance += ((expected - observed) / max(float(expected.std()), 1e-12)) ** 2
        return draws[np.argsort(distance, kind="stable")[:sets]]

    old, scales = None, dict[SeriesKey, Floats]()
    if base is not None:
        old = np.zeros((sets, len(base.n)))
        for s in sides.baseline_series_indices:
            rates = rates_of(base, s)
            if study.pooled_baseline is not None:
                rates, scales[base.series[s]] = _rates_with_run_effects(
                    study.pooled_baseline, base.series[s], rates, seed, uncertain=predictive
                )
            old[:, base.slice_of_series(s)] = rates
    new = np.zeros((sets, len(sides.counts.n)))
    for s in sides.candidate_series_indices:
        rows, series = sides.counts.slice_of_series(s), sides.counts.series[s]
        new[:, rows] = rates_of(sides.counts, s)
        partner = sides.base_series(series)
        if base is not None and old is not None and partner is not None:
            base_rows = base.slice_of_series(base.series.index(partner))
            _, at, place = np.intersect1d(
                sides.counts.task_codes[rows], base.task_codes[base_rows], return_indices=True
            )
            new[:, rows.start + at] = old[:, base_rows.start + place]
    return SimulationSetup(context, rules, new, old, on_undecided, runs, purpose, scales)


def _rates_with_run_effects(
    past: PooledBaseline,
    series: SeriesKey,
    rates: Floats,
    seed: tuple[int, str],
    *,
    uncertain: bool,
) -> tuple[Floats, Floats]:
    """The success rates in the pooled runs of a history, and the variation between the runs.

    Returns success rates with one row per set and one column per task, and for each set the
    standard deviation σ between runs, in logits.

    uncertain : whether to add the uncertainty of the history.  If it is true, a common effect with
        the standard deviation σ/√R shifts the rates of the last R runs.  The variance between the
        means of all H runs is drawn as s² (H − 1) / χ², with the observed variance s² and H − 1
        degrees of freedom of χ².  σ² is the drawn variance minus the variance that is due to
        chance, converted to logits.
    """
    of_means, by_chance, runs = past.run_and_chance_variances(series)
    slopes = (rates * (1 - rates)).mean(axis=1)
    if runs < 2 or not slopes.all():
        return rates, np.zeros(len(rates))
    variances = np.full(len(rates), of_means)
    generator = named_generator(seed[0], f"rehearsed effect{seed[1]} {' '.join(series)}")
    if uncertain:
        variances *= (runs - 1) / generator.chisquare(runs - 1, len(rates))
    scales = np.sqrt(np.clip(variances - by_chance, 0.0, _MAX_VARIANCE)) / slopes
    if not uncertain:
        return rates, scales
    level = generator.standard_normal(len(rates)) / math.sqrt(
        past.runs_by_amount[""].pooled_run_count_by_series[series]
    )
    return shift_logits(rates, (scales * level)[:, None]), scales


def rehearse(
    study: Analysis, runs: Sequence[JudgedRun], most: float | None, book: Rulebook | None,
    unread: Sequence[Judgement],
) -> RuleRehearsalTable:  # fmt: skip
    """Rehearse a gate, and return a table with one row per rule and a row for the whole gate.

    most : the value of --max-false-alarms.  unread : rows of suites that could not be read.
    """
    fewer = not all(has_fast_intervals(run.context) for run in runs)
    rows, pairs = list[SimulatedJudgement](), list[tuple[SimulationSetup, SimulationSetup]]()
    for run in runs:
        purpose = f" {_counts_digest(run.context)}" if book else ""
        estimated, predictive = (
            simulation_setup(run.context, run.gate_runner.active_rules,
                run.gate_runner.on_undecided,
                             predictive=predictive, fewer=fewer, purpose=purpose)
            for predictive in (False, True)
        )  # fmt: skip
        odds, predicted = (
            estimated.verdict_rates_and_gate_failures[0],
            predictive.verdict_rates_and_gate_failures[0],
        )
        best, worst = verdicts_by_judgement_per_context(
            estimated.rules, estimated.context.all_attempts_pass_or_fail_contexts
        )
        for line in items_with_progress(run.judgements, "rehearsing with planted drops", "lines"):
            at, row = (
                (line.rule_index_in_gate, line.result.series, line.result.name),
                vars(run.report_row(line)),
            )
            rows.append(SimulatedJudgement(**row) if at not in odds else SimulatedJudgement(
                **row, unchanged_rates=odds[at], predictive_verdict_rates=predicted[at],
                all_pass_verdict=best[at], all_fail_verdict=worst[at],
                detectable_drop=estimated.detectable_drop(at),
            ))  # fmt: skip
        rows += [SimulatedJudgement(**vars(row)) for row in run.rows_not_judged]
        pairs.append((estimated, predictive))
    rows += [SimulatedJudgement(**vars(row)) for row in unread]
    shut = any(row.fails_gate and row.unchanged_rates is None for row in rows)
    gate_rates = []
    for kind in zip(*pairs, strict=True):
        verdicts = (setup.verdict_rates_and_gate_failures[1] for setup in kind)
        failing = list(map(any, zip(*verdicts, strict=True)))
        odds_of = VerdictRates.from_runs(failing, 0, len(kind[0].new_run_rates))
        # If a rule fails and passk cannot simulate the rule, the gate fails in every simulated run.
        always = replace(odds_of, failing_count=odds_of.runs, both_of_pair_failing_share=1.0)
        gate_rates.append(always if shut else odds_of)
    groups = [""] * (1 if book else len(study.counts.group_names))
    rows.append(_whole_gate_false_alarm_row(gate_rates[0], gate_rates[1], groups, most))
    return RuleRehearsalTable(study, rows, runs, book, [own for own, _ in pairs], most)


_ALARM_LIMIT_TEMPLATE = "false alarms ≤ {limit:=given}"
GATE_FALSE_ALARM_TEMPLATE = (
    f"with nothing changed, {WHOLE_GATE} fails in {{failing}} of {{runs}} rehearsals ({{alarm}})"
    "{?judged|, {fails:|not }more than {limit:=given}}"
)


def _whole_gate_false_alarm_row(
    odds: VerdictRates, predicted: VerdictRates, groups: Sequence[str], most: float | None
) -> SimulatedJudgement:
    phrase, verdict, alarm = WHOLE_GATE, "", false_alarm_rate(odds, predicted)
    fields = {"failing": odds.failing_count, "runs": odds.runs, "alarm": alarm}
    if most is not None:
        phrase = f"{WHOLE_GATE}: {_ALARM_LIMIT_TEMPLATE}"
        verdict = FAIL if odds.failing_share > most + 1e-12 else PASS
        fields |= {"judged": True, "limit": most, "fails": int(verdict == FAIL)}
    return SimulatedJudgement(
        phrase, Result(("", *groups), "", None, Estimate(None)), verdict, GATE_FALSE_ALARM_TEMPLATE,
        fields,
        limit=most, fails_gate=verdict == FAIL, unchanged_rates=odds,
        predictive_verdict_rates=predicted,
    )  # fmt: skip


def _counts_digest(context: GateContext) -> str:
    digest = hashlib.sha256()
    for counts in filter(None, (context.baseline_match.counts, context.baseline_match.baseline)):
        for part in ("\n".join(counts.tasks).encode(), counts.n.tobytes(), counts.c.tobytes()):
            digest.update(part)
    return digest.hexdigest()[:12]


def attempts_with_outcome(counts: Counts) -> Ints:
    return counts.n if counts.missing is None else counts.n - counts.missing


def _posterior_rates(counts: Counts, s: int, runs: int, seed: tuple[int, str]) -> Floats:
    rows = counts.slice_of_series(s)
    n, c = attempts_with_outcome(counts)[rows], counts.c[rows]
    has_outcome = n > 0
    if not has_outcome.any():
        return np.full((runs, len(n)), 0.5)
    n, c = n[has_outcome], c[has_outcome]
    generator = named_generator(seed[0], f"rehearsed rates{seed[1]} {' '.join(counts.series[s])}")
    rates = draw_rates(n, c, runs, generator)
    # A task without any outcome gets the success rate of a random task with outcomes.
    positions = np.flatnonzero(has_outcome).searchsorted(np.arange(len(has_outcome)))
    places = np.tile(positions, (runs, 1))
    places[:, ~has_outcome] = generator.integers(0, len(n), (runs, int((~has_outcome).sum())))
    return np.take_along_axis(rates, np.minimum(places, len(n) - 1), axis=1)


_REHEARSAL_TEMPLATE = GATE_FALSE_ALARM_TEMPLATE + "; this run would {would}"
REHEARSAL_ANSWERS = (
    Answer("rehearsal-fails", lambda section: section.records[-1].verdict == FAIL,
           "FAIL: " + _REHEARSAL_TEMPLATE),
    Answer("rehearsal-passes", lambda section: section.max_false_alarms is not None,
        "PASS: " + _REHEARSAL_TEMPLATE),
    Answer("rehearsal", lambda _: True, "REHEARSAL: " + _REHEARSAL_TEMPLATE),
)  # fmt: skip
_REHEARSAL_FINDING_TEMPLATE = (
    "{verdict} on this run: {finding}; fails in {failing} of the rehearsals without a change;"
    " predicted failures {predicted}; undecided in {undecided}; smallest drop detected with power"
    " {power}: {drop}; if all attempts pass: {best}; if all attempts fail: {worst}"
)
_NO_REHEARSAL_FINDING_TEMPLATE = "{verdict} on this run: {finding}; not rehearsed"


def _cell_blank_unless_simulated(cell: Callable[[Any], Any]) -> Callable[[SimulatedJudgement], Any]:
    return lambda line: cell(line) if getattr(line, "unchanged_rates", None) is not None else None


@dataclass(frozen=True)
class RuleRehearsalTable(RuleTable):
    """One row per rule, with its false alarms and the smallest drop that it detects.

    The last row is about the whole gate. The last row has a verdict if --max-false-alarms is given.
    """

    title = "Rehearsal"
    shows_reasons = False
    columns: ClassVar[tuple[Column, ...]] = (
        *LEADING_COLUMNS,
        Column("verdict", meaning="Verdict of the rule on this run. The row of the whole gate has"
               " the verdict of --max-false-alarms.", cell_of_record=lambda line: line.verdict
               or "–"),
        *JUDGEMENT_DATA_FIELDS,
        data_field("false_alarm", "Share of rehearsals without a change in which the rule fails.",
                   _cell_blank_unless_simulated(lambda r: r.false_alarm_estimate.value)),
        data_field("false_alarm_low", "Lower 95 % limit of the false-alarm rate.",
                   _cell_blank_unless_simulated(lambda r: r.false_alarm_estimate.low)),
        data_field("false_alarm_high", "Upper 95 % limit of the false-alarm rate.",
                   _cell_blank_unless_simulated(lambda r: r.false_alarm_estimate.high)),
        Column("false alarms", "share", meaning="Share of rehearsals without a change in which the"
               " rule fails, at the estimated success rates. The 95 % limits cover the error of the"
               " success rates and of the simulation.",
               cell_of_record=_cell_blank_unless_simulated(lambda r: r.false_alarm_estimate)),
        Column("predicted failures", "share", field_name="predicted_failure", visibility=FULL,
               meaning="Share of rehearsals in which the rule fails, if success rates are drawn"
               " from their posterior, with the uncertainty of the data.",
               cell_of_record=_cell_blank_unless_simulated(
                   lambda r: r.predictive_verdict_rates.failing_share)),
        Column("undecided", "share", field_name="undecided",
               meaning="Share of rehearsals without a change in which the rule is undecided.",
               cell_of_record=_cell_blank_unless_simulated(
               lambda r: r.unchanged_rates.undecided_count / r.unchanged_rates.runs
               if r.detectable_drop
               else None)),
        data_field("drop", "Smallest drop of the metric that the rule detects with power 0.8.",
                   _cell_blank_unless_simulated(
                       lambda r: r.detectable_drop and r.detectable_drop.drop.value)),
        data_field("drop_se", "Monte-Carlo standard error of the drop.",
                   _cell_blank_unless_simulated(lambda r: r.detectable_drop
                       and r.detectable_drop.drop.se)),
        Column("drop detected", "share", meaning="Smallest drop that the rule detects with power"
               " 0.8, if every task loses the same share of its passes, ± Monte-Carlo standard"
               " error.",
               cell_of_record=_cell_blank_unless_simulated(lambda r: r.detectable_drop
                   and r.detectable_drop.drop)),
        data_field("passes_lost", "Share of passes that is lost in the detected drop.",
                   _cell_blank_unless_simulated(lambda r: r.detectable_drop
                       and r.detectable_drop.lost_pass_share)),
        data_field("power", "Share of runs with the detected drop in which the rule fails.",
                   _cell_blank_unless_simulated(lambda r: r.detectable_drop
                       and r.detectable_drop.failing_share)),
        Column("if all pass", field_name="if_all_pass", visibility=FULL,
               cell_of_record=_cell_blank_unless_simulated(lambda r: r.all_pass_verdict),
               meaning="Verdict if every attempt passes."),
        Column("if all fail", field_name="if_all_fail", visibility=FULL,
               cell_of_record=_cell_blank_unless_simulated(lambda r: r.all_fail_verdict),
               meaning="Verdict if every attempt fails."),
    )  # fmt: skip

    setups: Sequence[SimulationSetup] = ()
    max_false_alarms: float | None = None

    @property
    def judgements(self) -> Sequence[Judgement]:
        return [line for line in self.records[:-1] if line.verdict != RULE_NOT_JUDGED]

    @property
    def checks(self) -> tuple[GateCheck, ...]:
        lines = [line for line in self.records[:-1] if isinstance(line, SimulatedJudgement)]
        checks = [
            replace(line.gate_check, verdict=RULE_NOT_JUDGED, failing=False,
                    finding=_rehearsal_finding_sentence(line))
            for line in lines if line.verdict != RULE_NOT_JUDGED
        ]  # fmt: skip
        gate_row = self.records[-1]
        limit_check = (
            ()
            if self.max_false_alarms is None
            else (replace(gate_row, rule_template=_ALARM_LIMIT_TEMPLATE).gate_check,)
        )
        return (*checks, *limit_check)

    def changed_tasks(self) -> tuple[ChangedTaskSentences, ...]:
        return ()

    def answer(self) -> Iterator[AnswerSentence]:
        yield with_notes(next(first_true_sentence(REHEARSAL_ANSWERS, self)), self.omission_notes())

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        would = "FAIL" if any(line.fails_gate for line in self.judgements) else "PASS"
        return {**self.records[-1].template_fields, "would": would}

    def footer_parts(self) -> Iterator[str]:
        sides = [run.context.baseline_match for run in self.runs_with_judgements]
        no_baseline = all(
            match.baseline is None or match.baseline_label == SELF_BASELINE_LABEL for match in sides
        )
        owner = "this run's" if no_baseline else "the baseline's"
        yield f"{self.setups[0].rehearsal_count:,} rehearsals at {owner} rates"
        if effects := [
            100 * effect
            for setup in self.setups
            for effect in setup.pass_at_1_deviations_between_runs
        ]:
            ends = dict.fromkeys(f"{end:.1f}" for end in (min(effects), max(effects)))
            yield f"effect of a run: {'–'.join(ends)} points"
        yield f"drop detected: power {POWER:g}"

    def full_footer_parts(self) -> Iterator[str]:
        yield "both runs are simulated, with the tasks and attempts of the data"
        rehearsals = plural(self.setups[0].runs_per_planted_drop, "rehearsal")
        yield f"planted drops: {rehearsals} per drop, in all models at once"

    def messages(self) -> Iterator[Diagnostic]:
        yield from super().messages()
        for run in self.runs_with_judgements:
            sides, messages = run.context.baseline_match, list[Diagnostic]()
            metrics = run.context.study.metrics
            pairs = (
                (m.definition.is_known_only_as_range, m.name)
                for m in metrics
                if not can_rehearse_metric(m)
            )
            for ranged, names in group_pairs(pairs).items():
                message = (
                    RANGE_METRIC_UNREHEARSED_WARNING if ranged else METRIC_NOT_REHEARSABLE_WARNING
                )
                messages.append(message(metrics=names))
            if (sides.baseline or sides.counts).n.max() == 1:
                messages.append(ONE_ATTEMPT_WARNING())
            yield from (m.with_prefix(run.suite_name) if run.suite_name else m for m in messages)

    def signature_entries(self) -> dict[str, object]:
        entries, confidence = super().signature_entries(), self.setups[0].context.study.confidence
        if entries.get("resamples") is not None:
            entries["resamples"] = confidence.resamples
        if self.max_false_alarms is not None:
            entries["max_false_alarms"] = self.max_false_alarms
        return {**entries, "rehearsals": self.setups[0].rehearsal_count, "seed": confidence.seed}


def _rehearsal_finding_sentence(line: SimulatedJudgement) -> Sentence:
    fields: dict[str, Any] = {"verdict": line.verdict, "finding": PhraseCell(line.finding_sentence)}
    if (
        line.unchanged_rates is None
        or line.predictive_verdict_rates is None
        or line.detectable_drop is None
    ):
        return fill_template(_NO_REHEARSAL_FINDING_TEMPLATE, fields)
    drop = (
        "none"
        if line.detectable_drop.drop.value is None
        else f"{line.detectable_drop.drop.value:.3f}"
    )
    shares = {"failing": line.unchanged_rates.failing_share,
        "predicted": line.predictive_verdict_rates.failing_share,
              "undecided": line.unchanged_rates.undecided_count
              / line.unchanged_rates.runs}  # fmt: skip
    fields |= {name: f"{100 * share:.1f} %" for name, share in shares.items()}
    drop = (
        "any, because it fails without a drop"
        if line.detectable_drop.lost_pass_share == 0.0
        else drop
    )
    return fill_template(_REHEARSAL_FINDING_TEMPLATE,
        {**fields, "power": f"{POWER:g}", "drop": drop,
        "best": line.all_pass_verdict,
                         "worst": line.all_fail_verdict})  # fmt: skip
