"""passk order: what pass@k assumes of the attempts, checked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from passk_cli.metrics.registry import Metric
from passk_cli.metrics.order import attempts_needed
from passk_cli.report.model import Cell, Column, Estimate, Note, Report, Table
from passk_cli.report.notes import plural, reading_notes
from passk_cli.report.order_words import (
    copies_word,
    neighbour_word,
    order_notes,
    told_pairs,
    trend_word,
)
from passk_cli.report.ordered import STOPPED, Findings, examine, in_order
from passk_cli.report.plot import Plot, curves
from passk_cli.report.samples import Uncertainty
from passk_cli.report.signature import signature, span

if TYPE_CHECKING:
    from passk_cli.outcomes.counts import Counts

SHARES = (0.25, 0.5, 0.75)
# Pairs of attempts listed for people, most striking first.
_PAIRS_SHOWN = 10
_ADJUSTED = {"holm": "after Holm", "bh": "after Benjamini–Hochberg", "none": "unadjusted,"}


def order_report(
    counts: Counts,
    ks: Sequence[int],
    how: Uncertainty | None = None,
    *,
    adjust: str = "holm",
    short_tasks: str = "empty",
    by_lines: bool = False,
) -> Report:
    """Are attempts exchangeable, and what does a user see who stops at the first success?

    Trend, neighbours and copies are tested for every model; beside them stand the pass rate by
    position, first@k beside pass@k, and the attempts to the first success.
    by_lines : the order is that of the lines, for the record.
    Errors: ParameterError for an adjustment or interval there is not; DataError where the order
    is not known.
    """
    how = how or Uncertainty()
    found = examine(counts, in_order(counts), ks, how, adjust=adjust, short_tasks=short_tasks)
    level = 1 - how.level + 1e-12
    tests = sum(not math.isnan(p) for one in found for p in one.p)
    # Where the lines count, a column of numbers or times does not.
    notes = reading_notes(replace(counts, attempts={}) if by_lines else counts)
    if by_lines:
        notes.append(Note("the order of attempts is taken from the order of lines"))
    by = "lines" if by_lines else _columns(counts)
    differences = how.for_differences().method
    metrics = [Metric(family, k) for family in ("first@", "pass@") for k in ks]
    return Report(
        tables=tuple(table for table in _tables(counts, found, level) if table.rows),
        data=_tidy(counts, found, how, level),
        caption=_caption(found, how, adjust, tests),
        notes=(*notes, *order_notes(counts.facts, found, level, short_tasks)),
        signature=signature(
            counts,
            metrics,
            **how.signature(),
            **{
                "differences": None if differences == how.method else differences,
                "order": by,
                "adjust": f"{adjust} over {tests}",
                "short tasks": short_tasks if short_tasks != "empty" else None,
            },
        ),
        plots=(_chart(found, how, by),),
    )


def _columns(counts: Counts) -> str:
    """What the attempts are ordered by: "trial"."""
    inputs = counts.facts.inputs
    columns = dict.fromkeys(one.roles["attempt"] for one in inputs if "attempt" in one.roles)
    return ", ".join(columns) or "attempt"


def _tables(counts: Counts, found: Sequence[Findings], level: float) -> Iterator[Table]:
    head = (Column("model"), *(Column(g) for g in counts.group_names))
    yield _summary(head, found, level)
    yield _pair_table(head, found, level)
    yield _rate_table(found)
    yield _beside_table(head, found)
    yield _needed_table(head, found)


def _summary(head: tuple[Column, ...], found: Sequence[Findings], level: float) -> Table:
    """A line per model: the three tests and their verdicts."""
    columns = (
        *head, Column("points per attempt", "score"), Column("p", "p", True),
        Column("trend", joined=True), Column("lag-1", "score"), Column("p", "p", True),
        Column("neighbours", joined=True), Column("copies"), Column("mixed tasks"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        rows.append(
            (
                *one.ordered.series,
                _in_points(one.slope),
                _or_none(one.p[0]),
                trend_word(one, level),
                Estimate(one.lag, signed=True, share=False),
                _or_none(one.p[1]),
                neighbour_word(one, level),
                copies_word(one, level),
                f"{one.mixed} of {len(one.ordered.n)}",
            )
        )
    return Table(columns, tuple(rows), "are attempts exchangeable?")


def _in_points(slope: Estimate) -> Estimate:
    numbers = (slope.value, slope.se, slope.low, slope.high)
    value, se, low, high = (None if x is None else 100 * x for x in numbers)
    return replace(slope, value=value, se=se, low=low, high=high, share=False)


def _pair_table(head: tuple[Column, ...], found: Sequence[Findings], level: float) -> Table:
    """Pairs of attempts that agree on more tasks than chance has it."""
    columns = (
        *head, Column("attempts"), Column("differ on", "count"), Column("expected", "count"),
        Column("of tasks", "count"), Column("p", "p"),
    )  # fmt: skip
    told, title = list(told_pairs(found, level)), "attempts that agree too often"
    if len(told) > _PAIRS_SHOWN:
        told.sort(key=lambda pair: float(pair[0].pairs.p[pair[1]]))
        title += f": {_PAIRS_SHOWN} of {len(told)} pairs, the others in csv and json"
    rows: list[tuple[Cell, ...]] = []
    for one, i in told[:_PAIRS_SHOWN]:
        pairs = one.pairs
        rows.append(
            (
                *one.ordered.series,
                f"{pairs.first[i] + 1} and {pairs.second[i] + 1}",
                int(pairs.differ[i]),
                float(pairs.expected[i]),
                int(pairs.tasks[i]),
                float(pairs.adjusted[i]),
            )
        )
    return Table(columns, tuple(rows), title)


def _rate_table(found: Sequence[Findings]) -> Table:
    """Positions down, models across; how many tasks have the position where it matters."""
    stretches = sorted({(rate.first, rate.last) for one in found for rate in one.rates})
    at = [{(rate.first, rate.last): rate for rate in one.rates} for one in found]
    differ = any(rate.tasks != one.rates[0].tasks for one in found for rate in one.rates)
    columns = [Column("attempt"), *(Column(one.ordered.name, "share") for one in found)]
    rows: list[tuple[Cell, ...]] = []
    for stretch in stretches:
        here = [rates.get(stretch) for rates in at]
        cells: list[Cell] = [
            Estimate(None, reason="no task has so many attempts") if rate is None else rate.estimate
            for rate in here
        ]
        if differ:
            tasks = [0 if rate is None else rate.tasks for rate in here]
            cells.append(span(min(tasks), max(tasks)))
        rows.append((span(*stretch), *cells))
    if differ:
        columns.append(Column("tasks"))
    return Table(tuple(columns), tuple(rows), "pass rate by attempt")


def _beside_table(head: tuple[Column, ...], found: Sequence[Findings]) -> Table:
    columns = (
        *head, Column("k"), Column("first@k", "share"), Column("pass@k", "share"),
        Column("first − pass", "share"), Column("attempts used", "score"),
    )  # fmt: skip
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (*one.ordered.series, str(b.k), b.first, b.any, b.difference, b.used)
        for one in found
        for b in one.beside
    )
    return Table(columns, rows, "the first k attempts beside any k")


def _needed_table(head: tuple[Column, ...], found: Sequence[Findings]) -> Table:
    shares = (f"{100 * share:g} % solved" for share in SHARES)
    columns = (*head, *map(Column, shares), Column("never solved"))
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        needed = [attempts_needed(one.survival, share) for share in SHARES]
        beyond = f"> {len(one.survival) - 1}"
        cells = [beyond if fewest is None else str(fewest) for fewest in needed]
        tasks = len(one.ordered.n)
        never = f"{one.never} of {tasks} tasks ({100 * one.never / tasks:.3g} %)"
        rows.append((*one.ordered.series, *cells, never))
    return Table(columns, tuple(rows), "attempts to the first success")


def _sizes(found: Sequence[Findings]) -> str:
    """How much there is: "50 tasks, 4 attempts each"."""
    tasks = [len(one.ordered.n) for one in found]
    n = [int(m) for one in found for m in (one.ordered.n.min(), one.ordered.n.max())]
    shown = f"{span(min(tasks), max(tasks))} task{'s' * (max(tasks) != 1)}"
    return f"{shown}, {span(min(n), max(n))} attempt{'s' * (max(n) != 1)} each"


def _caption(found: Sequence[Findings], how: Uncertainty, adjust: str, tests: int) -> str:
    differences = how.for_differences().method
    also = f", {differences} for trends and differences" if differences != how.method else ""
    p = f"p over all orders of a task's outcomes, {_ADJUSTED[adjust]} over {plural(tests, 'test')}"
    p = p if tests else "nothing to test: no task has both passes and failures"
    return f"{_sizes(found)} · {p} · {how.words()}{also}"


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _chart(found: Sequence[Findings], how: Uncertainty, by: str) -> Plot:
    rows = [
        {
            "attempt": (rate.first + rate.last) / 2,
            "pass rate": rate.estimate.value,
            "low": rate.estimate.low,
            "high": rate.estimate.high,
            "model": one.ordered.name,
        }
        for one in found
        for rate in one.rates
    ]
    return curves(
        rows,
        x="attempt",
        y="pass rate",
        low="low",
        high="high",
        colour="model",
        title="Pass rate by attempt",
        subtitle=f"{_sizes(found)} · {how.words()}",
        x_title="attempt" if by == "attempt" else f"attempt, by {by}",
        y_title="pass rate",
        log_x=False,
    )


def _tidy(counts: Counts, found: Sequence[Findings], how: Uncertainty, level: float) -> Table:
    names = (
        "model", *counts.group_names, "fact", "k", "k_to", "estimate", "se", "low", "high", "level",
        "interval", "population", "p", "p_adjusted", "verdict", "tasks", "note",
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        for fact, k, k_to, estimate, p, verdict, tasks, flaw in _facts(one, level):
            method: tuple[Cell, ...] = (None, None, None)
            if estimate.low is not None or estimate.se is not None:
                differs = fact == "trend" or "−" in fact
                method = (
                    None if how.method == "none" else how.level,
                    (how.for_differences() if differs else how).method,
                    how.population,
                )
            note = "; ".join(dict.fromkeys(filter(None, (estimate.reason, flaw))))
            rows.append(
                (
                    *one.ordered.series, fact, k, k_to, estimate.value, estimate.se, estimate.low,
                    estimate.high, *method, *(_or_none(x) for x in p), verdict, tasks, note,
                )
            )  # fmt: skip
    return Table(tuple(Column(name) for name in names), tuple(rows))


_Fact = tuple[str, int | None, int | None, Estimate, tuple[float, float], str | None, int, str]
_NO_P = (math.nan, math.nan)


def _facts(one: Findings, level: float) -> Iterator[_Fact]:
    """(fact, k, k_to, estimate, (p, adjusted), verdict, tasks, flaw), one by one."""
    why = STOPPED if one.stopped else "" if one.mixed else "no task has passes and failures"
    p = _NO_P if one.stopped else (one.trend.p, one.p[0])
    yield "trend", None, None, one.slope, p, trend_word(one, level), one.mixed, why
    p = _NO_P if one.stopped else (one.neighbours.p, one.p[1])
    lag = Estimate(one.lag)
    yield "lag-1", None, None, lag, p, neighbour_word(one, level), one.neighbours.tasks, why
    of_trend = Estimate(one.lag_of_trend)
    yield "lag-1 of the trend alone", None, None, of_trend, _NO_P, None, one.mixed, why
    p = _NO_P if one.stopped else (one.pairs.smallest, one.p[2])
    yield "copies", None, None, Estimate(None), p, copies_word(one, level), one.mixed, why
    for _, i in told_pairs([one], level):
        pairs = one.pairs
        share = Estimate(float(pairs.differ[i] / pairs.expected[i]))
        where = int(pairs.first[i]) + 1, int(pairs.second[i]) + 1
        p = float(pairs.p[i]), float(pairs.adjusted[i])
        yield "differences of a pair / expected", *where, share, p, None, int(pairs.tasks[i]), ""
    for rate in one.rates:
        yield "rate", rate.first, rate.last, rate.estimate, _NO_P, None, rate.tasks, rate.flaw
    for b in one.beside:
        yield f"first@{b.k}", b.k, None, b.first, _NO_P, None, b.tasks, b.flaws[0]
        yield f"pass@{b.k}", b.k, None, b.any, _NO_P, None, b.tasks, b.flaws[1]
        yield f"first@{b.k} − pass@{b.k}", b.k, None, b.difference, _NO_P, None, b.tasks, ""
        yield "attempts used", b.k, None, b.used, _NO_P, None, len(one.ordered.n), ""
    yield from _survival_facts(one)


def _survival_facts(one: Findings) -> Iterator[_Fact]:
    tasks = len(one.ordered.n)
    for share in SHARES:
        needed = attempts_needed(one.survival, share)
        beyond = f"more than {len(one.survival) - 1}" if needed is None else ""
        fewest = Estimate(needed, reason=beyond)
        yield f"attempts to solve {share:g}", None, None, fewest, _NO_P, None, tasks, ""
    for k, left in enumerate(one.survival.tolist()):
        if k:
            yield "unsolved after", k, None, Estimate(left), _NO_P, None, tasks, ""
    yield "never solved", None, None, Estimate(one.never / tasks), _NO_P, None, tasks, ""
