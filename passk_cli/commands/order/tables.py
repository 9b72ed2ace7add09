"""What the order of attempts shows: tables, tidy facts and the picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from passk_cli.commands.order.evidence import STOPPED, Evidence, examine
from passk_cli.commands.order.sentences import order_answer, order_notes
from passk_cli.commands.order.verdicts import (
    UNCLEAR,
    agreeing_pairs,
    copies_word,
    neighbour_word,
    trend_word,
)
from passk_cli.metrics.order import attempts_needed
from passk_cli.report.model import Cell, Column, Estimate, Note, Report, Table
from passk_cli.report.plot import Plot, curves
from passk_cli.report.words import plural, span
from passk_cli.study.fact import Fact
from passk_cli.study.pivot import head
from passk_cli.study.rules import ADJUSTED
from passk_cli.study.study import Study

SHARES = (0.25, 0.5, 0.75)
# Pairs of attempts listed for people, most striking first.
_PAIRS_SHOWN = 10
_NO_P = (math.nan, math.nan)


def order_report(study: Study, *, by_lines: bool) -> Report:
    """Are attempts exchangeable, and what does a user see who stops at the first success?

    Trend, neighbours and copies are tested for every model; beside them stand the pass rate by
    position, first@k beside pass@k, and the attempts to the first success.
    by_lines : the order is that of the lines, for the record.
    Errors: ParameterError for an interval there is not; DataError where the order is not known.
    """
    evidence = examine(study)
    level, confidence = 1 - study.confidence.level + 1e-12, study.confidence
    tests = sum(not math.isnan(p) for model in evidence for p in model.p)
    # Where the lines count, a column of numbers or times does not.
    read = replace(study, counts=replace(study.counts, attempts={})) if by_lines else study
    notes = read.messages([])
    if by_lines:
        notes.append(Note("the order of attempts is taken from the order of lines"))
    by = "lines" if by_lines else _columns(study)
    differences = confidence.for_differences().method
    return study.report(
        [fact for model in evidence for fact in _facts(model, level)],
        [table for table in _tables(study, evidence, level) if table.rows],
        answer=order_answer(evidence, level),
        context=_caption(study, evidence, tests),
        messages=(*notes, *order_notes(study.counts.facts, evidence, level, study.short_tasks)),
        plots=partial(_charts, study, evidence, by),
        differences=None if differences == confidence.method else differences,
        order=by,
        adjust=study.rules.without_flips(),
        tests=tests,
    )


def _columns(study: Study) -> str:
    """What the attempts are ordered by: "trial"."""
    inputs = study.counts.facts.inputs
    columns = dict.fromkeys(file.roles["attempt"] for file in inputs if "attempt" in file.roles)
    return ", ".join(columns) or "attempt"


def _tables(study: Study, evidence: Sequence[Evidence], level: float) -> Iterator[Table]:
    names = head(study.counts.group_names)
    yield _summary(names, evidence, level)
    yield _pair_table(names, evidence, level)
    yield _rate_table(evidence)
    yield _beside_table(names, evidence)
    yield _needed_table(names, evidence)


def _summary(names: tuple[Column, ...], evidence: Sequence[Evidence], level: float) -> Table:
    """A line per model: the three tests and their verdicts."""
    columns = (
        *names, Column("points per attempt", "score"), Column("p", "p", True),
        Column("trend", joined=True), Column("lag-1", "score"), Column("p", "p", True),
        Column("correlation", joined=True), Column("repeats"), Column("mixed tasks"),
    )  # fmt: skip
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            *model.order.series, _in_points(model.slope.estimate), _or_none(model.p[0]),
            trend_word(model, level), Estimate(model.lag, signed=True, share=False),
            _or_none(model.p[1]), neighbour_word(model, level), copies_word(model, level),
            f"{model.mixed} of {len(model.order.n)}",
        )
        for model in evidence
    )  # fmt: skip
    return Table(columns, rows, "Does the order of attempts matter?")


def _in_points(slope: Estimate) -> Estimate:
    numbers = (slope.value, slope.se, slope.low, slope.high)
    value, se, low, high = (None if x is None else 100 * x for x in numbers)
    return replace(slope, value=value, se=se, low=low, high=high, share=False)


def _pair_table(names: tuple[Column, ...], evidence: Sequence[Evidence], level: float) -> Table:
    """Pairs of attempts that agree on more tasks than chance allows."""
    columns = (
        *names, Column("attempts"), Column("differ on", "count"), Column("expected", "count"),
        Column("of tasks", "count"), Column("p", "p"),
    )  # fmt: skip
    agreeing, title = (
        list(agreeing_pairs(evidence, level)),
        "Pairs of attempts that agree more often than independent attempts would",
    )
    if len(agreeing) > _PAIRS_SHOWN:
        agreeing.sort(key=lambda pair: float(pair[0].pairs.p[pair[1]]))
        title += f" ({_PAIRS_SHOWN} of {len(agreeing)}; all in csv and json)"
    rows: list[tuple[Cell, ...]] = []
    for model, i in agreeing[:_PAIRS_SHOWN]:
        pairs = model.pairs
        attempts = f"{pairs.first[i] + 1} and {pairs.second[i] + 1}"
        numbers = (int(pairs.differ[i]), float(pairs.expected[i]), int(pairs.tasks[i]))
        rows.append((*model.order.series, attempts, *numbers, float(pairs.adjusted[i])))
    return Table(columns, tuple(rows), title)


def _stretch(rate: Fact) -> tuple[int, int]:
    """The first and the last position of a pass rate."""
    return int(rate.k or 0), int(str(rate.more["k_to"]))


def _rate_table(evidence: Sequence[Evidence]) -> Table:
    """Positions down, models across; how many tasks have the position where it matters."""
    at = [{_stretch(rate): rate for rate in rates_of_model.rates} for rates_of_model in evidence]
    rates = [rate for rates_of_model in at for rate in rates_of_model.values()]
    differ = any(
        rate.size != rates_of_model.rates[0].size
        for rates_of_model in evidence
        for rate in rates_of_model.rates
    )
    columns = [
        Column("attempt"),
        *(Column(rates_of_model.order.name, "share") for rates_of_model in evidence),
    ]
    nothing = Estimate(None, reason="no task has so many attempts")
    rows: list[tuple[Cell, ...]] = []
    for stretch in sorted(set(map(_stretch, rates))):
        here = [rates_of_model.get(stretch) for rates_of_model in at]
        cells: list[Cell] = [nothing if rate is None else rate.estimate for rate in here]
        if differ:
            tasks = [0 if rate is None else rate.size.tasks or 0 for rate in here]
            cells.append(span(min(tasks), max(tasks)))
        rows.append((span(*stretch), *cells))
    columns += [Column("tasks")] * differ
    return Table(tuple(columns), tuple(rows), "Pass rate by attempt")


def _beside_table(names: tuple[Column, ...], evidence: Sequence[Evidence]) -> Table:
    columns = (
        *names, Column("k"), Column("first@k", "share"), Column("pass@k", "share"),
        Column("first − pass", "share"), Column("attempts used", "score"),
    )  # fmt: skip
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (*model.order.series, str(beside.any.k), *(fact.estimate for fact in beside))
        for model in evidence
        for beside in model.beside
    )
    return Table(columns, rows, "The first k attempts and any k attempts")


def _needed_table(names: tuple[Column, ...], evidence: Sequence[Evidence]) -> Table:
    shares = (f"{100 * share:g} % solved" for share in SHARES)
    columns = (*names, *map(Column, shares), Column("never solved"))
    rows: list[tuple[Cell, ...]] = []
    for model in evidence:
        budgets = [attempts_needed(model.survival, share) for share in SHARES]
        beyond = f"> {len(model.survival) - 1}"
        cells = [beyond if fewest is None else str(fewest) for fewest in budgets]
        tasks = len(model.order.n)
        never = f"{model.never} of {tasks} tasks ({100 * model.never / tasks:.3g} %)"
        rows.append((*model.order.series, *cells, never))
    return Table(columns, tuple(rows), "Attempts to the first success")


def _caption(study: Study, evidence: Sequence[Evidence], tests: int) -> tuple[str, ...]:
    confidence, adjust = study.confidence, study.rules.without_flips()
    adjusted = f"after {ADJUSTED[adjust]}" if adjust in ADJUSTED else "unadjusted,"
    p = f"p: permutation of the attempts within tasks, {adjusted} over {plural(tests, 'test')}"
    p = p if tests else "nothing to test: no task has both passes and failures"
    mixed = "mixed tasks have passes and failures; only they can show a trend or a correlation"
    level = 1 - confidence.level
    unclear = any(trend_word(model, level) == UNCLEAR for model in evidence)
    untested = any(math.isnan(p) for model in evidence for p in model.p)
    return (
        _sizes(study, evidence), p, mixed,
        "unclear: p is significant, but the interval includes 0" * unclear,
        "–: cannot be tested" * untested,
        "first@k: one of the first k attempts passes; attempts used: mean number up to the first"
        " success, k at most",
        confidence.words(confidence.for_differences()),
    )  # fmt: skip


def _sizes(study: Study, evidence: Sequence[Evidence]) -> str:
    """How much there is: "50 tasks, 4 attempts each"."""
    nothing = Estimate(None)
    orders = [model.order for model in evidence]
    return study.sizes([Fact(o.series, "", None, nothing, size=o.size) for o in orders])


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _charts(study: Study, evidence: Sequence[Evidence], by: str) -> tuple[Plot, ...]:
    """The pass rate by position."""
    rows = [
        {"attempt": sum(_stretch(rate)) / 2, "pass rate": rate.estimate.value,
         "low": rate.estimate.low, "high": rate.estimate.high, "model": model.order.name}
        for model in evidence
        for rate in model.rates
    ]  # fmt: skip
    chart = curves(
        rows, x="attempt", y="pass rate", low="low", high="high", colour="model",
        title="Pass rate by attempt",
        subtitle=f"{_sizes(study, evidence)} · {study.confidence.words()}",
        x_title="attempt" if by == "attempt" else f"attempt, by {by}",
        y_title="pass rate", log_x=False,
    )  # fmt: skip
    return (chart,)


def _facts(evidence: Evidence, level: float) -> Iterator[Fact]:
    """The tidy rows of one model."""
    yield from _test_facts(evidence, level)
    for _, i in agreeing_pairs([evidence], level):
        yield _pair_fact(evidence, i)
    yield from evidence.rates
    for beside in evidence.beside:
        yield from beside
    yield from _survival_facts(evidence)


def _test_facts(evidence: Evidence, level: float) -> Iterator[Fact]:
    why = (
        STOPPED if evidence.stopped else "" if evidence.mixed else "no task has passes and failures"
    )
    tests = (evidence.trend, evidence.neighbours)
    raw = (*(test.p for test in tests), evidence.pairs.smallest)
    trend, lag, copies = (
        _NO_P if evidence.stopped else pair for pair in zip(raw, evidence.p, strict=True)
    )

    def tested(
        fact: Fact, p: tuple[float, float], verdict: str = "", tasks: int = evidence.mixed
    ) -> Fact:
        return replace(
            fact, p=_or_none(p[0]), p_adjusted=_or_none(p[1]), verdict=verdict,
            size=evidence.order.size._replace(tasks=tasks), flaw=fact.flaw or why,
        )  # fmt: skip

    def plain(name: str, value: float | None) -> Fact:
        return Fact(evidence.order.series, name, None, Estimate(value))

    yield tested(evidence.slope, trend, trend_word(evidence, level))
    yield tested(
        plain("lag-1", evidence.lag),
        lag,
        neighbour_word(evidence, level),
        evidence.neighbours.tasks,
    )
    yield tested(plain("lag-1 of the trend alone", evidence.lag_of_trend), _NO_P)
    yield tested(plain("copies", None), copies, copies_word(evidence, level))


def _pair_fact(evidence: Evidence, i: int) -> Fact:
    """How often two attempts differ, as a share of what is expected."""
    pairs = evidence.pairs
    return Fact(
        evidence.order.series, "differences of a pair / expected", int(pairs.first[i]) + 1,
        Estimate(float(pairs.differ[i] / pairs.expected[i])),
        size=evidence.order.size._replace(tasks=int(pairs.tasks[i])), p=float(pairs.p[i]),
        p_adjusted=float(pairs.adjusted[i]), more={"k_to": int(pairs.second[i]) + 1},
    )  # fmt: skip


def _survival_facts(evidence: Evidence) -> Iterator[Fact]:
    series, size = evidence.order.series, evidence.order.size
    for share in SHARES:
        budget = attempts_needed(evidence.survival, share)
        beyond = f"more than {len(evidence.survival) - 1}" if budget is None else ""
        yield Fact(
            series, f"attempts to solve {share:g}", None, Estimate(budget, reason=beyond), size=size
        )
    for k, unsolved_share in enumerate(evidence.survival.tolist()):
        if k:
            yield Fact(series, "unsolved after", k, Estimate(unsolved_share), size=size)
    yield Fact(
        series, "never solved", None, Estimate(evidence.never / len(evidence.order.n)), size=size
    )
