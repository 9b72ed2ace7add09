"""The report on the order of attempts: verdicts, tables, messages and the chart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from passk_cli.arrays import group_by
from passk_cli.commands.order import OrderOptions
from passk_cli.commands.order.evidence import (
    AGREEING,
    ALIKE,
    ALTERNATING,
    COPIES,
    DECLINING,
    DEPENDENT,
    FIRST_EQUALS_PASS_AT_K_REASON,
    IMPROVING,
    INDEPENDENT,
    STOPPED_AT_FIRST_PASS_REASON,
    UNTESTABLE,
    AttemptPairAgreeingTooOften,
    FirstAtKVersusPassAtK,
    OrderEvidence,
    order_evidence,
    ordered_attempts,
)
from passk_cli.commands.runner import CommandRunner, SharedOptions
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import ParameterError
from passk_cli.files.request import Request
from passk_cli.inference.exchangeability import MAX_POSITIONS_COMPARED_FOR_COPIES
from passk_cli.metrics.attempt_order import attempts_for_share
from passk_cli.metrics.registry import Metric
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import FULL, Column, Estimate, Report
from passk_cli.report.phrases import first_few, number_range, plural
from passk_cli.report.plot import Plot, ReferenceLine, curves
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer
from passk_cli.study.dependence import DEPENDENT_ATTEMPTS
from passk_cli.study.result import Result
from passk_cli.study.section import (
    GROUP_VALUES_COLUMN,
    MODEL_COLUMN,
    ReportSection,
    build_report,
    data_field,
)
from passk_cli.study.significance_options import ADJUSTMENT_NAMES
from passk_cli.suggested_fix import SuggestedFix

SOLVED_SHARE_THRESHOLDS = (0.25, 0.5, 0.75)
_MAX_SHOWN_ATTEMPT_PAIRS = 10
_CHART_MARKER_POSITIONS = range(1, 21)
_P_VALUE_MEANING = (
    "p-value of the permutation test within tasks, adjusted for the number of tests or pairs."
)
# _DEPENDENCE_REASON_BY_VERDICT maps the verdict of each significant test to words that explain why
# attempts are dependent. The answer of `passk order` contains these words.
_DEPENDENCE_REASON_BY_VERDICT = {
    DECLINING: "pass rates fall with later attempts",
    IMPROVING: "pass rates rise with later attempts",
    ALIKE: "neighbouring attempts are correlated",
    ALTERNATING: "neighbours alternate",
    COPIES: "attempts look like copies",
    AGREEING: "pairs agree more often than independent attempts would",
}

ORDER_POWER_NOTE = DiagnosticType(
    "order-power", NOTE,
    "with power 0.8, the tests find a trend of {points} points per attempt{?lag| or a correlation"
    " of {lag} between neighbouring attempts}", "more tasks or attempts can show smaller effects",
    meaning="An effect of the size in the message is significant in four of five runs, after the"
    " adjustment for all tests. If the smallest detectable effect differs between models, the"
    " message reports the largest value.",
    why="A test that is not significant does not prove that attempts are independent. Some effects"
    " may be too small to detect.",
    advice="To find smaller effects, use more tasks or attempts.",
    example="passk order sample_data/tau_airline.csv\n"
    "note[order-power]: with power 0.8, the tests find a trend of 7.8 points per attempt; more"
    " tasks or attempts can show smaller effects",
)  # fmt: skip
COPIED_ATTEMPTS_WARNING = DiagnosticType(
    "copied-attempts", WARNING,
    "attempts {pair} of {model} look like copies: their outcomes differ on {tasks:task}, but"
    " {expected} are expected{?more| ({more:more pair} {more:looks|look} like copies)}",
    meaning="The two attempts have different outcomes on at most a tenth as many tasks as expected"
    " for independent attempts.",
    why="A copy of an attempt adds no information. If attempts are copies, pass@k is too low, and"
    " the intervals are too narrow.",
    advice="Check for a fixed seed, cached responses, or a run that was read twice. `--full` lists"
    " the pairs.",
    example="warning[copied-attempts]: attempts 1 and 2 of m look like copies: their outcomes"
    " differ on 3 tasks, but 40.2 are expected (2 more pairs look like copies)",
)  # fmt: skip
AGREEING_ATTEMPTS_NOTE = DiagnosticType(
    "agreeing-attempts", NOTE,
    "the outcomes of attempts {pair} of {model} differ on only {tasks:task}, but {expected} are"
    " expected{?more| ({more:more pair} {more:agrees|agree} more often than independent attempts"
    " would)}",
    meaning="The two attempts agree significantly more often than independent attempts would. passk"
    " compares the two attempts on tasks that have both passes and failures. The expected number of"
    " differing outcomes is the mean over all possible orders of the outcomes of each task.",
    why="pass@k assumes that attempts are independent. If attempts agree more often than"
    " independent attempts would, pass@k is biased.",
    advice="Check what the two attempts have in common, for example a seed, a session or a cache."
    " `--full` lists the pairs.",
    example="note[agreeing-attempts]: the outcomes of attempts 1 and 6 of m differ on only 14"
    " tasks, but 33 are expected",
)  # fmt: skip
CONSTANT_TASK_OUTCOMES_WARNING = DiagnosticType(
    "constant-outcomes", WARNING,
    "no task of {models} has both passes and failures, so pass@k equals pass@1",
    "vary the seed, or make one attempt",
    meaning="All attempts at the same task have the same outcome. The attempts may be copies, or"
    " the model may always pass or always fail each task.",
    why="If all attempts have the same outcome, more attempts add no information, and pass@k does"
    " not show what more attempts would achieve.",
    advice="Check the seed, the temperature and the caches. If the outcomes really never vary, make"
    " only one attempt per task.",
    example="warning[constant-outcomes]: no task of m has both passes and failures, so pass@k"
    " equals pass@1; vary the seed, or make one attempt",
)  # fmt: skip
ATTEMPTS_UNTIL_PASS_WARNING = DiagnosticType(
    "attempts-until-pass", WARNING,
    "attempts of {models} stop at the first pass, so their order cannot be tested",
    meaning="The number of tasks at which only the last attempt passes is larger than expected by"
    " chance.",
    why="If attempts stop at the first pass, the order of the outcomes depends on the stopping"
    " rule. Stopping at the first pass biases pass@k, but the number of attempts to the first"
    " success remains correct.",
    advice="Make the same number of attempts at all tasks. Until all tasks have the same number of"
    " attempts, report the number of attempts to the first success, which `--full` shows.",
    example="warning[attempts-until-pass]: attempts of m stop at the first pass, so their order"
    " cannot be tested",
)  # fmt: skip
TREND_OF_THESE_TASKS_NOTE = DiagnosticType(
    "trend-of-these-tasks", NOTE,
    "the trend of {models} is significant for these tasks, but its interval for new tasks"
    " includes 0",
    meaning="A test that permutes the attempts finds a trend at the tasks in the data. The interval"
    " of the trend also includes the uncertainty from the choice of tasks, and the interval"
    " contains 0.",
    why="There may be no trend at new tasks.",
    advice="If you want to draw a conclusion about new tasks, use more tasks.",
    example="note[trend-of-these-tasks]: the trend of m is significant for these tasks, but its"
    " interval for new tasks includes 0",
)  # fmt: skip
RENUMBERED_AFTER_DROP_WARNING = DiagnosticType(
    "moved-attempts", WARNING,
    "{attempts:attempt} without an outcome {attempts:was|were} left out, so later attempts at the"
    " task get smaller numbers", SuggestedFix({"--missing": "fail"}, "keeps the numbers"),
    meaning="With `--missing drop`, passk removes attempts without an outcome before it numbers the"
    " attempts.",
    why="If the first attempt at a task has no outcome, attempt 1 in the tables is really the"
    " second attempt.",
    advice="Use `--missing fail` if a missing outcome means that the attempt failed.",
    example="warning[moved-attempts]: 3 attempts without an outcome were left out, so later"
    " attempts at the task get smaller numbers; --missing fail keeps the numbers",
)  # fmt: skip
UNEQUAL_ATTEMPTS_NOTE = DiagnosticType(
    "unequal-attempts", NOTE,
    "pass rates by attempt use different tasks, because tasks have different numbers of attempts",
    meaning="Only some tasks have later attempts, so the pass rates of later attempts include fewer"
    " tasks.",
    why="The pass rate may rise or fall from one attempt to the next just because the tasks differ."
    " The trend test remains valid, because the test compares attempts at the same task. The number"
    " of attempts to the first success includes each task up to its last attempt (Kaplan–Meier).",
    advice="Compare pass rates only for attempts that all tasks have, or use the trend test.",
    example="note[unequal-attempts]: pass rates by attempt use different tasks, because tasks have"
    " different numbers of attempts",
)  # fmt: skip
COPY_CHECK_OF_FIRST_ATTEMPTS_NOTE = DiagnosticType(
    "first-attempts", NOTE, "only the first {attempts} attempts were compared in pairs",
    meaning="To find copies, passk compares all pairs of attempts by a model. If tasks have"
    " many attempts, passk compares only the first attempts.",
    why="passk cannot find copies among later attempts.",
    advice="If you suspect copies among later attempts, select only the later attempts, for example"
    " with `--where`.",
    example="note[first-attempts]: only the first 1,000 attempts were compared in pairs",
)  # fmt: skip


def _slope_in_percentage_points(slope: Estimate) -> Estimate:
    numbers = (slope.value, slope.se, slope.low, slope.high)
    value, se, low, high = (None if x is None else 100 * x for x in numbers)
    return replace(slope, value=value, se=se, low=low, high=high, unit="score")


@dataclass(frozen=True)
class VerdictTable(ReportSection[OrderEvidence]):
    """One row per model, with the results of three tests, first@k − pass@k, and the verdict."""

    columns = (
        MODEL_COLUMN, GROUP_VALUES_COLUMN,
        Column("points per attempt", "score",
               cell_of_record=lambda model: _slope_in_percentage_points(model.slope.estimate),
               meaning="Change of the pass rate from one attempt to the next."),
        Column("p", "p", True, visibility=FULL, cell_of_record=lambda model: model.adjusted_p[0],
            meaning=_P_VALUE_MEANING),
        Column("trend", stays_with_previous=True, visibility=FULL,
            cell_of_record=lambda model: model.verdicts.trend,
               meaning="Verdict of the trend test. The verdict is unclear if p is significant, but"
               " neighbouring attempts are correlated and the interval of the slope includes 0."),
        Column("neighbours", "score",
            cell_of_record=lambda model: Estimate(model.neighbour_correlation, signed=True,
               unit="score"), meaning="Lag-1 correlation of successive attempts at a task, which is"
               " near 0 if attempts are independent."),
        Column("p", "p", True, visibility=FULL, cell_of_record=lambda model: model.adjusted_p[1],
            meaning=_P_VALUE_MEANING),
        Column("correlation", stays_with_previous=True, visibility=FULL,
            cell_of_record=lambda model: model.verdicts.neighbours,
               meaning="Verdict of the test of successive attempts."),
        Column("of the trend", "score", visibility=FULL,
            cell_of_record=lambda model: Estimate(model.correlation_from_trend,
               signed=True, unit="score"),
               meaning="Lag-1 correlation that the trend causes if attempts are otherwise"
               " independent."),
        Column("first@{0} − pass@{0}", "share",
            repeated_items=lambda section: section.middle_k_as_list,
            example="K",
               meaning="Share of tasks that the first k attempts solve, minus pass@k. None of the"
               " three tests uses this difference.",
               cell_of_record=lambda model, k: next(b.difference.estimate
                   for b in model.first_vs_pass_at_k_comparisons
                                          if b.pass_at_k.k == k)),
        Column("repeats", visibility=FULL, cell_of_record=lambda model: model.verdicts.copies,
               meaning="Verdict of the test of pairs of attempts."),
        Column("mixed tasks", visibility=FULL,
            cell_of_record=lambda model: f"{model.mixed_task_count} of"
               f" {len(model.attempts_in_order.n)}",
               meaning="Number of tasks with both passes and failures."
               " Only these tasks can show dependence."),
        Column("verdict", repeated_items=lambda section: [section.middle_k_as_list], example=[],
               cell_of_record=lambda model, shown: model.verdict,
               meaning="Not independent: some test is significant. None found: no test is"
               " significant, perhaps because few tasks have both passes and failures. A note then"
               " reports the smallest effect that the tests find. Intervals are not adjusted for"
               " the number of tests, so an interval may exclude 0 although no test is"
               " significant."),
        data_field("k_to", "Last attempt of a range, or second attempt of a pair."),
    )  # fmt: skip
    is_ordered_by_lines: bool = False

    @property
    def attempt_order_source(self) -> str:
        """The name of the column that orders the attempts, or "lines" for the order of lines."""
        inputs = self.study.counts.read_facts.file_readings
        columns = dict.fromkeys(file.roles["attempt"] for file in inputs if "attempt" in file.roles)
        return "lines" if self.is_ordered_by_lines else ", ".join(columns) or "attempt"

    @property
    def middle_k_as_list(self) -> list[int]:
        """A list with the middle k of those at which first@k and pass@k can differ, or []."""
        ks = sorted({
            int(b.pass_at_k.k or 0) for model in self.records
            for b in model.first_vs_pass_at_k_comparisons
            if b.difference.estimate.value is not None
            and b.difference.note != FIRST_EQUALS_PASS_AT_K_REASON
        })  # fmt: skip
        return ks[len(ks) // 2 : len(ks) // 2 + 1]

    def results_of(self, record: OrderEvidence) -> Iterator[Result]:
        yield from _test_results(record)
        size, shares = (
            record.attempts_in_order.size,
            record.attempts_in_order.unsolved_share_by_attempt.tolist(),
        )
        for pair in record.agreeing_attempt_pairs:
            yield Result(
                record.series, "differences of a pair / expected", pair.attempt_numbers[0],
                Estimate(pair.differing_task_count / pair.expected_differing_tasks),
                size=size._replace(tasks=pair.task_count),
                p=pair.p, p_adjusted=pair.p_adjusted,
                extra_fields={"k_to": pair.attempt_numbers[1]},
            )  # fmt: skip
        yield from record.position_rates
        for comparison in record.first_vs_pass_at_k_comparisons:
            yield from comparison
        numbers: list[tuple[str, int | None, float | None]]
        numbers = [(f"attempts to solve {s:g}", None,
            attempts_for_share(record.attempts_in_order.unsolved_share_by_attempt, s))
                   for s in SOLVED_SHARE_THRESHOLDS]  # fmt: skip
        numbers += [("unsolved after", k, share) for k, share in enumerate(shares) if k]
        numbers.append(
            ("never solved", None, record.unsolved_task_count / len(record.attempts_in_order.n))
        )
        for name, k, value in numbers:
            reason = f"more than {len(shares) - 1}" if value is None else ""
            yield Result(record.series, name, k, Estimate(value, reason=reason), size=size)

    answers = (
        Answer("dependent", lambda section: section.sentence_fields["dependent"],
               "Attempts of {dependent} are not independent: {reasons}."),
        Answer("no-dependence", lambda section: section.sentence_fields["independent"],
               "Attempts of {independent} show no significant dependence: no trend, no correlation"
               " of successive attempts, and no unusual agreement of pairs of attempts."),
        Answer("independence-not-tested", lambda _: True,
               "Independence cannot be tested: {flaws}."),
    )  # fmt: skip
    further_answers = (
        Answer("models-not-tested",
               lambda section: section.sentence_fields["untested"]
               and len(section.sentence_fields["untested"]) < len(section.records),
               "The attempts of {untested} cannot be tested."),
    )  # fmt: skip

    @cached_property
    def sentence_fields(self) -> Mapping[str, Any]:
        names = group_by(self.records, lambda model: model.verdict)
        verdicts = {verdict for model in names.get(DEPENDENT, ()) for verdict in model.verdicts}
        if ALIKE in verdicts:  # The correlation of successive attempts explains why pairs agree.
            verdicts -= {AGREEING}
        dependent, independent, untested = (
            [model.attempts_in_order.name for model in names.get(verdict, ())]
            for verdict in (DEPENDENT, INDEPENDENT, UNTESTABLE)
        )
        return {
            "dependent": dependent, "untested": untested,
            "reasons": ", ".join(r for verdict, r in _DEPENDENCE_REASON_BY_VERDICT.items()
                if verdict in verdicts),
            "independent": independent,
            "flaws": " or ".join(_reasons_untestable(names.get(UNTESTABLE, ()))),
        }  # fmt: skip

    def footer_parts(self) -> Iterator[str]:
        facts = [
            Result(m.series, "", None, Estimate(None), size=m.attempts_in_order.size)
            for m in self.records
        ]
        yield f"{self.study.sizes_text(facts)} by {self.attempt_order_source}"
        adjust, tests = (
            self.study.comparison_options.adjustment_without_sign_flips(),
            plural(self.test_count, "test"),
        )
        if self.test_count:
            adjusted = adjust in ADJUSTMENT_NAMES
            yield f"{ADJUSTMENT_NAMES[adjust]} over {tests}" if adjusted else f"{tests}, unadjusted"
        if any(model.verdict == INDEPENDENT for model in self.records):
            yield "none found: not significant"
        if any(
            model.has_only_interval_excluding_zero(self.middle_k_as_list) for model in self.records
        ):
            yield "intervals unadjusted"
            yield from (f"first@{k} − pass@{k} is not tested" for k in self.middle_k_as_list)

    @property
    def test_count(self) -> int:
        return sum(p is not None for model in self.records for p in model.adjusted_p)

    def full_footer_parts(self) -> Iterator[str]:
        yield "neighbours: correlation of successive attempts"
        yield "p: permutation of the attempts within tasks"
        yield self.study.confidence.words(self.study.confidence.for_differences())

    def messages(self) -> Iterator[Diagnostic]:
        study = self.study
        if self.is_ordered_by_lines:
            # If the order of attempts is the order of lines, messages about attempt numbers do not
            # apply.
            study = replace(study, counts=replace(study.counts, attempts={}))
        decisive = [
            model.slope
            for model in self.records
            if not model.attempts_in_order.stopped_at_first_pass
        ]
        comparisons = [
            row for model in self.records for row in model.first_vs_pass_at_k_comparisons
        ]
        decisive += [b.difference for b in comparisons if b.pass_at_k.k in self.middle_k_as_list]
        decisive = [fact for fact in decisive if fact.estimate.low is None]
        yield from study.messages(decisive, short=[fact for b in comparisons for fact in b[:2]])
        facts = study.counts.read_facts
        if facts.missing_outcome_count and facts.missing_policy == "drop":
            yield RENUMBERED_AFTER_DROP_WARNING(attempts=facts.missing_outcome_count)
        independent = [m for m in self.records if m.verdict == INDEPENDENT and m.mixed_task_count]
        if independent:
            sizes = [m.detectable_effects(self.test_count) for m in independent]
            slope, lag = (max(effects) for effects in zip(*sizes, strict=True))
            lag_text = "" if math.isnan(sum(lag for _, lag in sizes)) else f"{lag:.2f}"
            yield ORDER_POWER_NOTE(points=f"{100 * slope:.1f}", lag=lag_text)
        # The interval of first@k − pass@k shows in which direction dependent attempts bias pass@k.
        dependent = [
            m for m in self.records if m.verdict == DEPENDENT and not m.is_outcome_constant_per_task
        ]
        limits = [b.difference.estimate for model in dependent
            for b in model.first_vs_pass_at_k_comparisons
                  if b.pass_at_k.k in self.middle_k_as_list]  # fmt: skip
        errors = {
            "too high": sum(e.high is not None and e.high < 0 for e in limits),
            "too low": sum(e.low is not None and e.low > 0 for e in limits),
        }
        if not any(errors.values()):
            errors["uncertain"] = len(dependent)
        yield from (
            replace(DEPENDENT_ATTEMPTS(models=n, error=e), fixes=())
            for e, n in errors.items() if n
        )  # fmt: skip
        for message, models in (
            (CONSTANT_TASK_OUTCOMES_WARNING, [model for model in self.records
                if model.is_outcome_constant_per_task]),
            (ATTEMPTS_UNTIL_PASS_WARNING,
             [model for model in self.records if model.attempts_in_order.stopped_at_first_pass]),
            (TREND_OF_THESE_TASKS_NOTE, [
                model for model in self.records
                if model.verdicts.trend in (DECLINING, IMPROVING) and model.slope_may_be_zero
            ]),
        ):  # fmt: skip
            if models:
                yield message(models=[model.attempts_in_order.name for model in models])
        yield from self._agreeing_attempts_messages()
        if any(
            model.attempts_in_order.size.n_min != model.attempts_in_order.size.n_max
            for model in self.records
        ):
            yield UNEQUAL_ATTEMPTS_NOTE()
        if any(
            int(model.attempts_in_order.n.max()) > MAX_POSITIONS_COMPARED_FOR_COPIES
            for model in self.records
        ):
            yield COPY_CHECK_OF_FIRST_ATTEMPTS_NOTE(attempts=MAX_POSITIONS_COMPARED_FOR_COPIES)

    def _agreeing_attempts_messages(self) -> Iterator[Diagnostic]:
        for message, pairs in (
            (COPIED_ATTEMPTS_WARNING, [pair for model in self.records
                for pair in model.agreeing_attempt_pairs
                               if pair.looks_copied]),
            (AGREEING_ATTEMPTS_NOTE, [pair for model in self.records
                for pair in model.agreeing_attempt_pairs
                                 if not pair.looks_copied and model.verdicts.neighbours != ALIKE]),
        ):  # fmt: skip
            if pairs:
                pair = min(pairs, key=lambda pair: pair.p)
                yield message(
                    pair="{} and {}".format(*pair.attempt_numbers), model=pair.model_name,
                    more=len(pairs) - 1,
                    tasks=pair.differing_task_count,
                    expected=f"{pair.expected_differing_tasks:.3g}",
                )  # fmt: skip

    def plots(self) -> tuple[Plot, ...]:
        rows = [
            rate.chart_point("pass rate", attempt=sum(_first_and_last_position_of_rate(rate)) / 2)
            for model in self.records
            for rate in model.position_rates
        ]
        lags = [
            f"{model.neighbour_correlation:.2f}".replace("-", "−")
            for model in self.records
            if model.neighbour_correlation is not None
            and model.verdicts.neighbours in (ALIKE, ALTERNATING)
        ]
        lag_note = f"neighbours correlated by {first_few(lags)}, not drawn" if lags else ""
        words = (next(self.footer_parts()), lag_note, self.study.confidence.words())
        sizes = [model.attempts_in_order.size for model in self.records]
        fewest = [size.n_min or 0 for size in sizes if size.n_min != size.n_max]
        chart = curves(
            rows, x="attempt", y="pass rate", low="low", high="high", colour="model",
            title="Pass rate by attempt",
            subtitle=" · ".join(filter(None, words)),
            marked=_CHART_MARKER_POSITIONS if len(self.records) == 1
            else _CHART_MARKER_POSITIONS[4::5],
            x_title="attempt" if self.attempt_order_source == "attempt"
            else f"attempt, by {self.attempt_order_source}",
            y_title="pass rate", log_x=False,
            rules=[ReferenceLine(x=min(fewest), text="beyond: fewer tasks")] if fewest else [],
        )  # fmt: skip
        return (chart,)


class AgreeingAttemptPairTable(ReportSection[AttemptPairAgreeingTooOften]):
    """Pairs of attempts that agree more often than independent attempts would."""

    title = "Pairs of attempts that agree more often than independent attempts would (first 10)"
    visibility = FULL
    columns = (
        MODEL_COLUMN, GROUP_VALUES_COLUMN,
        Column("attempts", meaning="Numbers of the two attempts.",
               cell_of_record=lambda pair: "{} and {}".format(*pair.attempt_numbers)),
        Column("differ on", "count", meaning="Number of tasks on which the two outcomes differ.",
               cell_of_record=lambda pair: pair.differing_task_count),
        Column("expected", "count", cell_of_record=lambda pair: pair.expected_differing_tasks,
               meaning="Expected number of differing tasks for independent attempts."),
        Column("of tasks", "count", meaning="Number of tasks that have both attempts, and both"
               " passes and failures.",
               cell_of_record=lambda pair: pair.task_count),
        Column("p", "p", meaning=_P_VALUE_MEANING, cell_of_record=lambda pair: pair.p_adjusted),
    )  # fmt: skip


def _first_and_last_position_of_rate(rate: Result) -> tuple[int, int]:
    return int(rate.k or 0), int(str(rate.extra_fields["k_to"]))


class ModelRatesAtPositions(NamedTuple):
    """A range of positions, with the pass rate of each model at the attempts in this range."""

    position_range: tuple[int, int]
    rate_by_model: dict[str, Result]


class PositionRateTable(ReportSection[ModelRatesAtPositions]):
    """Pass rates, with one row per position of an attempt and one column per model."""

    title = "Pass rate by attempt"
    visibility = FULL
    columns = (
        Column("attempt", meaning="Position of the attempt among the attempts at a task.",
               cell_of_record=lambda at: number_range(*at.position_range)),
        Column("{0}", "share", meaning="Pass rate of the model at this attempt.", example="MODEL",
               repeated_items=lambda section: dict.fromkeys(m for at in section.records
                   for m in at.rate_by_model),
               cell_of_record=lambda at, model: at.rate_by_model[model].estimate
               if model in at.rate_by_model
               else Estimate(None, reason="no task has this attempt")),
        Column("tasks", meaning="Smallest and largest number of tasks with this attempt.",
               cell_of_record=lambda at: number_range(min(r.size.tasks
                   for r in at.rate_by_model.values()),
                                    max(r.size.tasks for r in at.rate_by_model.values()))),
    )  # fmt: skip


class FirstVersusPassAtKTable(ReportSection[FirstAtKVersusPassAtK]):
    """One row per model and k, with first@k, pass@k, their difference and the attempts used."""

    title = "The first k attempts and any k attempts"
    visibility = FULL
    columns = (
        MODEL_COLUMN, GROUP_VALUES_COLUMN,
        Column("k", meaning="Number of attempts.", cell_of_record=lambda at: str(at.pass_at_k.k)),
        Column("first@k", "share", meaning="Share of tasks that the first k attempts solve.",
               cell_of_record=lambda at: at.first_at_k.estimate),
        Column("pass@k", "share", meaning="Probability that one of any k attempts passes.",
               cell_of_record=lambda at: at.pass_at_k.estimate),
        Column("first − pass", "share", meaning="first@k − pass@k. Its mean is 0 for independent"
               " attempts.", cell_of_record=lambda at: at.difference.estimate),
        Column("attempts used", "score", meaning="Mean number of attempts up to the first success,"
               " at most k.", cell_of_record=lambda at: at.mean_attempts_to_first_pass.estimate),
    )  # fmt: skip


class AttemptsNeededToSolveSharesTable(ReportSection[OrderEvidence]):
    """One row per model: attempts needed for 25, 50 and 75 % of tasks, and the unsolved tasks."""

    title = "Attempts to the first success"
    visibility = FULL
    columns = (
        MODEL_COLUMN, GROUP_VALUES_COLUMN,
        Column("{0:g} % solved", meaning="Number of attempts that solve {0:g} % of the tasks.",
               repeated_items=lambda section: [100 * share for share in SOLVED_SHARE_THRESHOLDS],
               example=50.0,
               cell_of_record=lambda model, percent: str(
                   attempts_for_share(model.attempts_in_order.unsolved_share_by_attempt,
                       percent / 100)
                   or f"> {len(model.attempts_in_order.unsolved_share_by_attempt) - 1}")),
        Column("never solved", meaning="Number of tasks that no attempt solves.",
            cell_of_record=lambda model:
               f"{model.unsolved_task_count} of {plural(len(model.attempts_in_order.n), 'task')}"),
    )  # fmt: skip


def _reasons_untestable(models: Iterable[OrderEvidence]) -> list[str]:
    reasons = (
        STOPPED_AT_FIRST_PASS_REASON
        if model.attempts_in_order.stopped_at_first_pass
        else ""
        if model.mixed_task_count
        else "no task has passes and failures"
        for model in models
    )
    return [*dict.fromkeys(filter(None, reasons))]


def _test_results(model: OrderEvidence) -> Iterator[Result]:
    flaw = "".join(_reasons_untestable([model]))
    tested = model.attempts_in_order.size._replace(tasks=model.mixed_task_count)
    neighbours = tested._replace(tasks=model.neighbour_test.informative_task_count)
    trend, lag, copies = zip(model.unadjusted_p_values, model.adjusted_p, strict=True)
    for name, estimate, (p, adjusted), verdict, size in (
        ("trend", model.slope.estimate, trend, model.verdicts.trend, tested),
        (
            "lag-1",
            Estimate(model.neighbour_correlation),
            lag,
            model.verdicts.neighbours,
            neighbours,
        ),
        (
            "lag-1 of the trend alone",
            Estimate(model.correlation_from_trend),
            (0.0, None),
            "",
            tested,
        ),
        ("copies", Estimate(None), copies, model.verdicts.copies, tested),
    ):
        fact = model.slope if name == "trend" else Result(model.series, name, None, estimate)
        yield replace(
            fact, p=None if adjusted is None else p, p_adjusted=adjusted, verdict=verdict,
            size=size, interval_flaw=fact.interval_flaw or flaw,
        )  # fmt: skip


class OrderRunner(CommandRunner, OrderOptions):
    sections = (VerdictTable, AgreeingAttemptPairTable, PositionRateTable, FirstVersusPassAtKTable,
                AttemptsNeededToSolveSharesTable)  # fmt: skip

    missing_bounds_refusal: ClassVar[str] = (
        "a trend is largest if only early missing outcomes are failures, not if all missing"
        " outcomes are failures or all are passes"
    )

    def request(self, options: SharedOptions) -> Request:
        role = "line" if self.order_from_lines else "attempt"
        return replace(options.request, cluster=options.confidence.cluster, attempts=(role,))

    def selected_metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        most = int(counts.n.max())
        if short := [k for k in self.k if k > most]:
            raise ParameterError(
                f"first@{short[0]} needs {short[0]} attempts, but no task has more than {most}",
                name="too-few-attempts",
            )
        top = max(int(counts.n[counts.slice_of_series(s)].min()) for s in range(len(counts.series)))
        ks = self.k or (*(1 << i for i in range((top - 1).bit_length())), top)
        return tuple(Metric(family, k) for family in ("first@", "pass@") for k in ks)

    def require_sufficient_data(self, options: SharedOptions, counts: Counts) -> None:
        ordered_attempts(counts, range(len(counts.series)))

    def report(self, study: Analysis) -> Report:
        evidence, confidence = order_evidence(study), study.confidence
        verdicts = VerdictTable(study, evidence, self.order_from_lines)
        pairs = [pair for model in evidence for pair in model.agreeing_attempt_pairs]
        rates: dict[tuple[int, int], dict[str, Result]] = {}
        for model in evidence:
            for rate in model.position_rates:
                rates.setdefault(_first_and_last_position_of_rate(rate), {})[
                    model.attempts_in_order.name
                ] = rate
        differences = confidence.for_differences().method
        answered: list[ReportSection[Any]] = [
            verdicts,
            AgreeingAttemptPairTable(
                study, sorted(pairs, key=lambda pair: pair.p)[:_MAX_SHOWN_ATTEMPT_PAIRS]
            ),
            PositionRateTable(
                study,
                [ModelRatesAtPositions(*at) for at in sorted(rates.items(), key=lambda at: at[0])],
            ),
            FirstVersusPassAtKTable(
                study,
                [
                    comparison
                    for model in evidence
                    for comparison in model.first_vs_pass_at_k_comparisons
                ],
            ),
            AttemptsNeededToSolveSharesTable(study, evidence),
        ]
        return build_report(
            study, answered, differences=None if differences == confidence.method else differences,
            order=verdicts.attempt_order_source,
            adjust=study.comparison_options.adjustment_without_sign_flips(),
            tests=verdicts.test_count,
        )  # fmt: skip
