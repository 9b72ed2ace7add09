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
    CANNOT_TELL,
    COPIES,
    DECLINING,
    DEPENDENT,
    IMPROVING,
    INDEPENDENT,
    STOPPED,
    THE_SAME,
    AgreeingPair,
    FirstVersusPassAtK,
    OrderEvidence,
    order_evidence,
    ordered_attempts,
)
from passk_cli.commands.question import Question, SharedOptions
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import ParameterError
from passk_cli.files.request import Request
from passk_cli.inference.exchangeability import MOST_POSITIONS
from passk_cli.metrics.order import attempts_for_share
from passk_cli.metrics.registry import Metric
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import FULL, Column, Estimate, Report
from passk_cli.report.phrases import first_few, number_range, plural
from passk_cli.report.plot import Plot, ReferenceLine, curves
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer
from passk_cli.study.dependence import DEPENDENT_ATTEMPTS
from passk_cli.study.result import Result
from passk_cli.study.section import GROUPS, MODEL, Section, build_report, data_field
from passk_cli.study.significance_options import ADJUSTMENT_NAMES
from passk_cli.suggested_fix import SuggestedFix

SHARES = (0.25, 0.5, 0.75)
_PAIRS_SHOWN = 10
_MARKED = range(1, 21)
_P = "p-value of the permutation test within tasks, adjusted for the number of tests or pairs."
# Maps each significant test to the reason that the answer gives.
_REASONS = {
    DECLINING: "pass rates fall with later attempts",
    IMPROVING: "pass rates rise with later attempts",
    ALIKE: "neighbouring attempts are correlated",
    ALTERNATING: "neighbours alternate",
    COPIES: "attempts look like copies",
    AGREEING: "pairs agree more often than independent attempts would",
}

WOULD_BE_FOUND = DiagnosticType(
    "order-power", NOTE,
    "with power 0.8, the tests find a trend of {points} points per attempt{?lag| or a correlation"
    " of {lag} between neighbouring attempts}", "more tasks or attempts can show smaller effects",
    meaning="With this number of tasks and attempts, the tests find effects of the size in the"
    " message in four of five runs, after the adjustment for all tests. If there are several"
    " models, the message contains the effect of the model with the largest detectable effect.",
    why="A test that is not significant does not prove independence. There may be effects that are"
        " too small to detect.",
    advice="To find smaller effects, use more tasks or attempts.",
    example="passk order sample_data/tau_airline.csv\n"
    "note[order-power]: with power 0.8, the tests find a trend of 7.8 points per attempt; more"
    " tasks or attempts can show smaller effects",
)  # fmt: skip
COPIED_ATTEMPTS = DiagnosticType(
    "copied-attempts", WARNING,
    "attempts {pair} of {model} look like copies: their outcomes differ on {tasks:task}, but"
    " {expected} are expected{?more| ({more:more pair} {more:looks|look} like copies)}",
    meaning="The outcomes of the two attempts differ on few tasks: at most a tenth of the number of"
    " tasks that you would expect for independent attempts.",
    why="Copies contain no more information than one attempt. pass@k is therefore too low, and"
    " intervals are too narrow.",
    advice="Check for a fixed seed, cached responses, or a run that was read twice. `--full` lists"
    " the pairs.",
    example="warning[copied-attempts]: attempts 1 and 2 of m look like copies: their outcomes"
    " differ on 3 tasks, but 40.2 are expected (2 more pairs look like copies)",
)  # fmt: skip
AGREEING_ATTEMPTS = DiagnosticType(
    "agreeing-attempts", NOTE,
    "the outcomes of attempts {pair} of {model} differ on only {tasks:task}, but {expected} are"
    " expected{?more| ({more:more pair} {more:agrees|agree} more often than independent attempts"
    " would)}",
    meaning="The two attempts agree significantly more often than independent attempts would. passk"
    " compares them on the tasks with both passes and failures. The expected number of different"
    " outcomes is the mean over all orders of the outcomes of each task.",
    why="pass@k assumes that attempts are independent. If attempts agree more often than"
    " independent attempts would, pass@k is biased.",
    advice="Check what the two attempts have in common, for example a seed, a session or a cache."
    " `--full` lists the pairs.",
    example="note[agreeing-attempts]: the outcomes of attempts 1 and 6 of m differ on only 14"
    " tasks, but 33 are expected",
)  # fmt: skip
CONSTANT_OUTCOMES = DiagnosticType(
    "constant-outcomes", WARNING,
    "no task of {models} has both passes and failures, so pass@k equals pass@1",
    "vary the seed, or make one attempt",
    meaning="At every task, all attempts have the same outcome. Either attempts are copies, or each"
    " task always passes or always fails.",
    why="If all attempts have the same outcome, more attempts add no information, and pass@k does"
    " not show what more attempts would achieve.",
    advice="Check the seed, the temperature and caches. If the outcomes really are certain, make"
    " only one attempt per task.",
    example="warning[constant-outcomes]: no task of m has both passes and failures, so pass@k"
    " equals pass@1; vary the seed, or make one attempt",
)  # fmt: skip
ATTEMPTS_UNTIL_PASS = DiagnosticType(
    "attempts-until-pass", WARNING,
    "attempts of {models} stop at the first pass, so their order cannot be tested",
    meaning="At more tasks than chance explains, the last attempt is the only pass.",
    why="If attempts stop at the first pass, the stopping rule decides the order of the outcomes."
    " pass@k is biased, but the number of attempts to the first success remains correct.",
    advice="Make the same number of attempts at all tasks. Until all tasks have the same number of"
    " attempts, use the number of attempts to the first success, which `--full` shows.",
    example="warning[attempts-until-pass]: attempts of m stop at the first pass, so their order"
    " cannot be tested",
)  # fmt: skip
TREND_OF_THESE_TASKS = DiagnosticType(
    "trend-of-these-tasks", NOTE,
    "the trend of {models} is significant for these tasks, but its interval for new tasks"
    " includes 0",
    meaning="The test permutes the attempts at these tasks and finds a trend. The interval also"
    " includes the uncertainty from the choice of tasks, and it contains 0.",
    why="New tasks may show no trend.",
    advice="If you want to draw a conclusion about new tasks, use more tasks.",
    example="note[trend-of-these-tasks]: the trend of m is significant for these tasks, but its"
    " interval for new tasks includes 0",
)  # fmt: skip
MOVED_ATTEMPTS = DiagnosticType(
    "moved-attempts", WARNING,
    "{attempts:attempt} without an outcome {attempts:was|were} left out, so later attempts at the"
    " task get smaller numbers", SuggestedFix({"--missing": "fail"}, "keeps the numbers"),
    meaning="With `--missing drop`, passk removes attempts without an outcome before it numbers the"
    " attempts.",
    why="With `--missing drop`, attempt 1 in the tables may be the second attempt that was made.",
    advice="Use `--missing fail` if a missing outcome means that the attempt failed.",
    example="warning[moved-attempts]: 3 attempts without an outcome were left out, so later"
    " attempts at the task get smaller numbers; --missing fail keeps the numbers",
)  # fmt: skip
UNEQUAL_ATTEMPTS = DiagnosticType(
    "unequal-attempts", NOTE,
    "pass rates by attempt use different tasks, because tasks have different numbers of attempts",
    meaning="Later attempts exist only at some tasks, so the pass rates of these attempts include"
    " fewer tasks.",
    why="Pass rates by attempt can rise or fall because they include different tasks. The trend"
    " test is not affected, because it compares attempts within tasks. The number of attempts to"
    " the first success includes each task until its last attempt (Kaplan–Meier).",
    advice="Compare the pass rates only up to the smallest number of attempts, or look at the"
    " trend.",
    example="note[unequal-attempts]: pass rates by attempt use different tasks, because tasks have"
    " different numbers of attempts",
)  # fmt: skip
FIRST_ATTEMPTS = DiagnosticType(
    "first-attempts", NOTE, "only the first {attempts} attempts were compared in pairs",
    meaning="The test of pairs compares every two attempts of a model. With all attempts, there"
    " would be too many pairs.",
    why="The test does not find copies among later attempts.",
    advice="If you suspect copies among later attempts, read the later attempts separately, for"
    " example with `--where`.",
    example="note[first-attempts]: only the first 1,000 attempts were compared in pairs",
)  # fmt: skip


def _percentage_points(slope: Estimate) -> Estimate:
    numbers = (slope.value, slope.se, slope.low, slope.high)
    value, se, low, high = (None if x is None else 100 * x for x in numbers)
    return replace(slope, value=value, se=se, low=low, high=high, unit="score")


@dataclass(frozen=True)
class VerdictTable(Section[OrderEvidence]):
    """A row per model: trend, neighbours, first@k − pass@k at a middle k, and the verdict."""

    columns = (
        MODEL, GROUPS,
        Column("points per attempt", "score",
               cell=lambda model: _percentage_points(model.slope.estimate),
               meaning="Change of the pass rate from one attempt to the next."),
        Column("p", "p", True, shown=FULL, cell=lambda model: model.p[0], meaning=_P),
        Column("trend", joined=True, shown=FULL, cell=lambda model: model.verdicts.trend,
               meaning="Verdict of the trend test. The verdict is unclear if p is significant, but"
               " neighbouring attempts are correlated and the interval of the slope includes 0."),
        Column("neighbours", "score", cell=lambda model: Estimate(model.lag, signed=True,
               unit="score"), meaning="Lag-1 correlation of successive attempts at a task, which is"
               " near 0 if attempts are independent."),
        Column("p", "p", True, shown=FULL, cell=lambda model: model.p[1], meaning=_P),
        Column("correlation", joined=True, shown=FULL, cell=lambda model: model.verdicts.neighbours,
               meaning="Verdict of the test of successive attempts."),
        Column("of the trend", "score", shown=FULL, cell=lambda model: Estimate(model.lag_of_trend,
               signed=True, unit="score"),
               meaning="Lag-1 correlation that the trend causes if attempts are otherwise"
               " independent."),
        Column("first@{0} − pass@{0}", "share", across=lambda section: section.middle, example="K",
               meaning="Share of tasks that the first k attempts solve, minus pass@k. None of the"
               " three tests uses this difference.",
               cell=lambda model, k: next(b.difference.estimate for b in model.first_versus_any
                                          if b.any.k == k)),
        Column("repeats", shown=FULL, cell=lambda model: model.verdicts.copies,
               meaning="Verdict of the test of pairs of attempts."),
        Column("mixed tasks", shown=FULL, cell=lambda model: f"{model.mixed} of"
               f" {len(model.order.n)}", meaning="Number of tasks with both passes and failures."
               " Only these tasks can show dependence."),
        Column("verdict", across=lambda section: [section.middle], example=[],
               cell=lambda model, shown: model.verdict,
               meaning="Not independent: some test is significant. None found: no test is"
               " significant, perhaps because few tasks have both passes and failures. A note then"
               " reports the smallest effect that the tests find. Intervals are not adjusted for"
               " the number of tests, so an interval may exclude 0 although no test is"
               " significant."),
        data_field("k_to", "Last attempt of a range, or second attempt of a pair."),
    )  # fmt: skip
    by_lines: bool = False

    @property
    def order(self) -> str:
        """The column that orders the attempts, for example "trial"; "lines" for the file order."""
        inputs = self.study.counts.facts.inputs
        columns = dict.fromkeys(file.roles["attempt"] for file in inputs if "attempt" in file.roles)
        return "lines" if self.by_lines else ", ".join(columns) or "attempt"

    @property
    def middle(self) -> list[int]:
        """The middle of the k's at which first@k and pass@k can differ; empty if there is none."""
        ks = sorted({
            int(b.any.k or 0) for model in self.records for b in model.first_versus_any
            if b.difference.estimate.value is not None and b.difference.note != THE_SAME
        })  # fmt: skip
        return ks[len(ks) // 2 : len(ks) // 2 + 1]

    def facts_of(self, record: OrderEvidence) -> Iterator[Result]:
        yield from _test_results(record)
        size, shares = record.order.size, record.order.survival.tolist()
        for pair in record.agreeing:
            yield Result(
                record.series, "differences of a pair / expected", pair.attempts[0],
                Estimate(pair.differ / pair.expected), size=size._replace(tasks=pair.tasks),
                p=pair.p, p_adjusted=pair.adjusted, more={"k_to": pair.attempts[1]},
            )  # fmt: skip
        yield from record.rates
        for comparison in record.first_versus_any:
            yield from comparison
        numbers: list[tuple[str, int | None, float | None]]
        numbers = [(f"attempts to solve {s:g}", None, attempts_for_share(record.order.survival, s))
                   for s in SHARES]  # fmt: skip
        numbers += [("unsolved after", k, share) for k, share in enumerate(shares) if k]
        numbers.append(("never solved", None, record.never / len(record.order.n)))
        for name, k, value in numbers:
            reason = f"more than {len(shares) - 1}" if value is None else ""
            yield Result(record.series, name, k, Estimate(value, reason=reason), size=size)

    answers = (
        Answer("dependent", lambda section: section.fields["dependent"],
               "Attempts of {dependent} are not independent: {reasons}."),
        Answer("no-dependence", lambda section: section.fields["independent"],
               "Attempts of {independent} show no significant dependence: no trend, no correlation"
               " of successive attempts, and no unusual agreement of pairs of attempts."),
        Answer("independence-not-tested", lambda _: True,
               "Independence cannot be tested: {flaws}."),
    )  # fmt: skip
    further_answers = (
        Answer("models-not-tested",
               lambda section: section.fields["untested"]
               and len(section.fields["untested"]) < len(section.records),
               "The attempts of {untested} cannot be tested."),
    )  # fmt: skip

    @cached_property
    def fields(self) -> Mapping[str, Any]:
        names = group_by(self.records, lambda model: model.verdict)
        verdicts = {verdict for model in names.get(DEPENDENT, ()) for verdict in model.verdicts}
        if ALIKE in verdicts:  # Correlated neighbours already explain why pairs of attempts agree.
            verdicts -= {AGREEING}
        dependent, independent, untested = (
            [model.order.name for model in names.get(verdict, ())]
            for verdict in (DEPENDENT, INDEPENDENT, CANNOT_TELL)
        )
        return {
            "dependent": dependent, "untested": untested,
            "reasons": ", ".join(r for verdict, r in _REASONS.items() if verdict in verdicts),
            "independent": independent,
            "flaws": " or ".join(_reasons_untestable(names.get(CANNOT_TELL, ()))),
        }  # fmt: skip

    def context(self) -> Iterator[str]:
        facts = [
            Result(m.series, "", None, Estimate(None), size=m.order.size) for m in self.records
        ]
        yield f"{self.study.sizes(facts)} by {self.order}"
        adjust, tests = self.study.rules.without_flips(), plural(self.test_count, "test")
        if self.test_count:
            adjusted = adjust in ADJUSTMENT_NAMES
            yield f"{ADJUSTMENT_NAMES[adjust]} over {tests}" if adjusted else f"{tests}, unadjusted"
        if any(model.verdict == INDEPENDENT for model in self.records):
            yield "none found: not significant"
        if any(model.interval_excludes_zero(self.middle) for model in self.records):
            yield "intervals unadjusted"
            yield from (f"first@{k} − pass@{k} is not tested" for k in self.middle)

    @property
    def test_count(self) -> int:
        return sum(p is not None for model in self.records for p in model.p)

    def details(self) -> Iterator[str]:
        yield "neighbours: correlation of successive attempts"
        yield "p: permutation of the attempts within tasks"
        yield self.study.confidence.words(self.study.confidence.for_differences())

    def messages(self) -> Iterator[Diagnostic]:
        study = self.study
        if self.by_lines:
            # If the order of attempts is the order of lines, messages about attempt numbers do not
            # apply.
            study = replace(study, counts=replace(study.counts, attempts={}))
        decisive = [model.slope for model in self.records if not model.order.stopped_at_first_pass]
        comparisons = [row for model in self.records for row in model.first_versus_any]
        decisive += [b.difference for b in comparisons if b.any.k in self.middle]
        decisive = [fact for fact in decisive if fact.estimate.low is None]
        yield from study.messages(decisive, short=[fact for b in comparisons for fact in b[:2]])
        facts = study.counts.facts
        if facts.missing and facts.missing_policy == "drop":
            yield MOVED_ATTEMPTS(attempts=facts.missing)
        independent = [m for m in self.records if m.verdict == INDEPENDENT and m.mixed]
        if independent:
            sizes = [m.detectable(self.test_count) for m in independent]
            slope, lag = (max(effects) for effects in zip(*sizes, strict=True))
            lag_text = "" if math.isnan(sum(lag for _, lag in sizes)) else f"{lag:.2f}"
            yield WOULD_BE_FOUND(points=f"{100 * slope:.1f}", lag=lag_text)
        # The interval of first@k − pass@k shows in which direction dependent attempts bias pass@k.
        dependent = [m for m in self.records if m.verdict == DEPENDENT and not m.constant]
        limits = [b.difference.estimate for model in dependent for b in model.first_versus_any
                  if b.any.k in self.middle]  # fmt: skip
        errors = {
            "too high": sum(e.high is not None and e.high < 0 for e in limits),
            "too low": sum(e.low is not None and e.low > 0 for e in limits),
        }
        if not any(errors.values()):
            errors["uncertain"] = len(dependent)
        yield from (
            replace(DEPENDENT_ATTEMPTS(models=n, error=e), settles=())
            for e, n in errors.items() if n
        )  # fmt: skip
        for message, models in (
            (CONSTANT_OUTCOMES, [model for model in self.records if model.constant]),
            (ATTEMPTS_UNTIL_PASS,
             [model for model in self.records if model.order.stopped_at_first_pass]),
            (TREND_OF_THESE_TASKS, [
                model for model in self.records
                if model.verdicts.trend in (DECLINING, IMPROVING) and model.slope_may_be_zero
            ]),
        ):  # fmt: skip
            if models:
                yield message(models=[model.order.name for model in models])
        yield from self._agreement_messages()
        if any(model.order.size.n_min != model.order.size.n_max for model in self.records):
            yield UNEQUAL_ATTEMPTS()
        if any(int(model.order.n.max()) > MOST_POSITIONS for model in self.records):
            yield FIRST_ATTEMPTS(attempts=MOST_POSITIONS)

    def _agreement_messages(self) -> Iterator[Diagnostic]:
        for message, pairs in (
            (COPIED_ATTEMPTS, [pair for model in self.records for pair in model.agreeing
                               if pair.copied]),
            (AGREEING_ATTEMPTS, [pair for model in self.records for pair in model.agreeing
                                 if not pair.copied and model.verdicts.neighbours != ALIKE]),
        ):  # fmt: skip
            if pairs:
                pair = min(pairs, key=lambda pair: pair.p)
                yield message(
                    pair="{} and {}".format(*pair.attempts), model=pair.name, more=len(pairs) - 1,
                    tasks=pair.differ, expected=f"{pair.expected:.3g}",
                )  # fmt: skip

    def plots(self) -> tuple[Plot, ...]:
        rows = [
            rate.chart_point("pass rate", attempt=sum(_position_range(rate)) / 2)
            for model in self.records
            for rate in model.rates
        ]
        lags = [
            f"{model.lag:.2f}".replace("-", "−")
            for model in self.records
            if model.lag is not None and model.verdicts.neighbours in (ALIKE, ALTERNATING)
        ]
        lag_note = f"neighbours correlated by {first_few(lags)}, not drawn" if lags else ""
        words = (next(self.context()), lag_note, self.study.confidence.words())
        sizes = [model.order.size for model in self.records]
        fewest = [size.n_min or 0 for size in sizes if size.n_min != size.n_max]
        chart = curves(
            rows, x="attempt", y="pass rate", low="low", high="high", colour="model",
            title="Pass rate by attempt",
            subtitle=" · ".join(filter(None, words)),
            marked=_MARKED if len(self.records) == 1 else _MARKED[4::5],
            x_title="attempt" if self.order == "attempt" else f"attempt, by {self.order}",
            y_title="pass rate", log_x=False,
            rules=[ReferenceLine(x=min(fewest), text="beyond: fewer tasks")] if fewest else [],
        )  # fmt: skip
        return (chart,)


class AgreeingPairTable(Section[AgreeingPair]):
    """Pairs of attempts that agree more often than independent attempts would."""

    title = "Pairs of attempts that agree more often than independent attempts would (first 10)"
    shown = FULL
    columns = (
        MODEL, GROUPS,
        Column("attempts", meaning="Numbers of the two attempts.",
               cell=lambda pair: "{} and {}".format(*pair.attempts)),
        Column("differ on", "count", meaning="Number of tasks on which the two outcomes differ.",
               cell=lambda pair: pair.differ),
        Column("expected", "count", cell=lambda pair: pair.expected,
               meaning="Expected number of differing tasks for independent attempts."),
        Column("of tasks", "count", meaning="Number of tasks that have both attempts, and both"
               " passes and failures.",
               cell=lambda pair: pair.tasks),
        Column("p", "p", meaning=_P, cell=lambda pair: pair.adjusted),
    )  # fmt: skip


def _position_range(rate: Result) -> tuple[int, int]:
    return int(rate.k or 0), int(str(rate.more["k_to"]))


class PositionRates(NamedTuple):
    """A range of positions, with the pass rate of each model at the attempts in this range."""

    stretch: tuple[int, int]
    rates: dict[str, Result]


class PositionRateTable(Section[PositionRates]):
    """A row per position of an attempt and a column per model, with pass rates."""

    title = "Pass rate by attempt"
    shown = FULL
    columns = (
        Column("attempt", meaning="Position of the attempt among the attempts at a task.",
               cell=lambda at: number_range(*at.stretch)),
        Column("{0}", "share", meaning="Pass rate of the model at this attempt.", example="MODEL",
               across=lambda section: dict.fromkeys(m for at in section.records for m in at.rates),
               cell=lambda at, model: at.rates[model].estimate if model in at.rates
               else Estimate(None, reason="no task has this attempt")),
        Column("tasks", meaning="Smallest and largest number of tasks with this attempt.",
               cell=lambda at: number_range(min(r.size.tasks for r in at.rates.values()),
                                    max(r.size.tasks for r in at.rates.values()))),
    )  # fmt: skip


class FirstVersusAnyTable(Section[FirstVersusPassAtK]):
    """A row per model and k: first@k, pass@k, their difference, and the number of attempts used."""

    title = "The first k attempts and any k attempts"
    shown = FULL
    columns = (
        MODEL, GROUPS,
        Column("k", meaning="Number of attempts.", cell=lambda at: str(at.any.k)),
        Column("first@k", "share", meaning="Share of tasks that the first k attempts solve.",
               cell=lambda at: at.first.estimate),
        Column("pass@k", "share", meaning="Probability that one of any k attempts passes.",
               cell=lambda at: at.any.estimate),
        Column("first − pass", "share", meaning="first@k − pass@k. Its mean is 0 for independent"
               " attempts.", cell=lambda at: at.difference.estimate),
        Column("attempts used", "score", meaning="Mean number of attempts up to the first success,"
               " at most k.", cell=lambda at: at.attempts_used.estimate),
    )  # fmt: skip


class FirstSuccessTable(Section[OrderEvidence]):
    """A row per model: attempts that solve a share of the tasks, and unsolved tasks."""

    title = "Attempts to the first success"
    shown = FULL
    columns = (
        MODEL, GROUPS,
        Column("{0:g} % solved", meaning="Number of attempts that solve {0:g} % of the tasks.",
               across=lambda section: [100 * share for share in SHARES], example=50.0,
               cell=lambda model, percent: str(
                   attempts_for_share(model.order.survival, percent / 100)
                   or f"> {len(model.order.survival) - 1}")),
        Column("never solved", meaning="Number of tasks that no attempt solves.", cell=lambda model:
               f"{model.never} of {plural(len(model.order.n), 'task')}"),
    )  # fmt: skip


def _reasons_untestable(models: Iterable[OrderEvidence]) -> list[str]:
    reasons = (
        STOPPED
        if model.order.stopped_at_first_pass
        else ""
        if model.mixed
        else "no task has passes and failures"
        for model in models
    )
    return [*dict.fromkeys(filter(None, reasons))]


def _test_results(model: OrderEvidence) -> Iterator[Result]:
    flaw = "".join(_reasons_untestable([model]))
    tested = model.order.size._replace(tasks=model.mixed)
    neighbours = tested._replace(tasks=model.neighbours.tasks)
    trend, lag, copies = zip(model.raw_p, model.p, strict=True)
    for name, estimate, (p, adjusted), verdict, size in (
        ("trend", model.slope.estimate, trend, model.verdicts.trend, tested),
        ("lag-1", Estimate(model.lag), lag, model.verdicts.neighbours, neighbours),
        ("lag-1 of the trend alone", Estimate(model.lag_of_trend), (0.0, None), "", tested),
        ("copies", Estimate(None), copies, model.verdicts.copies, tested),
    ):
        fact = model.slope if name == "trend" else Result(model.series, name, None, estimate)
        yield replace(
            fact, p=None if adjusted is None else p, p_adjusted=adjusted, verdict=verdict,
            size=size, flaw=fact.flaw or flaw,
        )  # fmt: skip


class OrderQuestion(Question, OrderOptions):
    sections = (VerdictTable, AgreeingPairTable, PositionRateTable, FirstVersusAnyTable,
                FirstSuccessTable)  # fmt: skip

    unbounded: ClassVar[str] = (
        "a trend is largest if only early missing outcomes are failures, not if all missing"
        " outcomes are failures or all are passes"
    )

    def request(self, options: SharedOptions) -> Request:
        role = "line" if self.order_from_lines else "attempt"
        return replace(options.request, cluster=options.confidence.cluster, attempts=(role,))

    def metrics_of(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        most = int(counts.n.max())
        if short := [k for k in self.k if k > most]:
            raise ParameterError(
                f"first@{short[0]} needs {short[0]} attempts, but no task has more than {most}",
                name="too-few-attempts",
            )
        top = max(int(counts.n[counts.rows_of(s)].min()) for s in range(len(counts.series)))
        ks = self.k or (*(1 << i for i in range((top - 1).bit_length())), top)
        return tuple(Metric(family, k) for family in ("first@", "pass@") for k in ks)

    def require(self, options: SharedOptions, counts: Counts) -> None:
        ordered_attempts(counts, range(len(counts.series)))

    def report(self, study: Analysis) -> Report:
        evidence, confidence = order_evidence(study), study.confidence
        verdicts = VerdictTable(study, evidence, self.order_from_lines)
        pairs = [pair for model in evidence for pair in model.agreeing]
        rates: dict[tuple[int, int], dict[str, Result]] = {}
        for model in evidence:
            for rate in model.rates:
                rates.setdefault(_position_range(rate), {})[model.order.name] = rate
        differences = confidence.for_differences().method
        answered: list[Section[Any]] = [
            verdicts,
            AgreeingPairTable(study, sorted(pairs, key=lambda pair: pair.p)[:_PAIRS_SHOWN]),
            PositionRateTable(
                study, [PositionRates(*at) for at in sorted(rates.items(), key=lambda at: at[0])]
            ),
            FirstVersusAnyTable(
                study, [comparison for model in evidence for comparison in model.first_versus_any]
            ),
            FirstSuccessTable(study, evidence),
        ]
        return build_report(
            study, answered, differences=None if differences == confidence.method else differences,
            order=verdicts.order, adjust=study.rules.without_flips(), tests=verdicts.test_count,
        )  # fmt: skip
