"""Which model is better: all pairs or against a baseline, with ranks, crossings, sensitivity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import ParameterError
from passk_cli.estimators.metric import Metric
from passk_cli.inference.ranking import letters, rank_limits
from passk_cli.report.compare_chart import differences
from passk_cli.report.crossings import Turns, crossing_table, find_crossings
from passk_cli.report.model import Cell, Column, Estimate, Note, Report, Table
from passk_cli.report.notes import plural, reading_notes
from passk_cli.report.pair_words import (
    adjustment_shown,
    adjustment_words,
    tests_shown,
    tests_words,
)
from passk_cli.report.pairs import (
    BETTER,
    UNDECIDED,
    WORSE,
    Comparison,
    Rules,
    compare_pairs,
)
from passk_cli.report.resampled_lead import shares_of_lead
from passk_cli.report.samples import Measured, Uncertainty, measure
from passk_cli.report.signature import signature, span

if TYPE_CHECKING:
    from passk_cli.outcomes.model import Counts

# More pairs than this are for programs to read; the ranking says the rest.
_PAIRS_SHOWN = 28
_SIGNS = {UNDECIDED: "~", "equivalent": "=", BETTER: "", WORSE: ""}


@dataclass(frozen=True)
class Rank:
    """A model's place at one metric among those of its group.

    leads : share of the resamples of the tasks in which it is in the lead; None where attempts
        differ between the models, or no task is shared by all.
    low, high : ranks that the tests leave open.
    """

    measured: Measured
    estimate: float
    letters: str
    leads: float | None
    low: int
    high: int


Pairs = list[tuple[Measured, Measured]]


def choose_pairs(counts: Counts, measured: Sequence[Measured], baseline: str | None) -> Pairs:
    """Every pair of models of the same group (better one first), or each against the baseline.

    Errors: ParameterError for a baseline that is not there, or when there is nothing to pair.
    """
    names = sorted({s[0] for s in counts.series})
    if baseline is not None and baseline not in names:
        raise ParameterError(f"--baseline {baseline}: no such model; there are {', '.join(names)}")
    cells: dict[tuple[Metric, tuple[str, ...]], list[Measured]] = {}
    for one in measured:
        cells.setdefault((one.metric, one.series[1:]), []).append(one)
    first_metric = measured[0].metric
    place = {one.series: -_mean(one) for one in measured if one.metric == first_metric}
    pairs: Pairs = []
    for rivals in cells.values():
        rivals.sort(key=lambda one: (place[one.series], one.series))
        if baseline is None:
            pairs += [(a, b) for i, a in enumerate(rivals) for b in rivals[i + 1 :]]
        else:
            base = next((one for one in rivals if one.series[0] == baseline), None)
            if base is not None:
                pairs += [(one, base) for one in rivals if one is not base]
    if not pairs:
        raise ParameterError("nothing to compare: there is one model; give files of several")
    return pairs


def compare_report(
    counts: Counts,
    metrics: Sequence[Metric],
    how: Uncertainty,
    rules: Rules,
    *,
    baseline: str | None = None,
    short_tasks: str = "empty",
    crossings: bool = False,
    extra: Table | None = None,
) -> Report:
    """Differences, p-values and verdicts; a ranking with letters when all pairs are compared.

    crossings : also the k at which one model overtakes another.
    extra : a further table to show (sensitivity).
    """
    how = how.for_differences().knowing(metrics)
    measured = measure(counts, metrics, short_tasks)
    pairs = choose_pairs(counts, measured, baseline)
    found = compare_pairs(counts, pairs, how, rules)
    ranks = [] if baseline is not None else _ranks(counts, measured, found, how)
    turns = find_crossings(counts, found, how) if crossings else {}
    tables = _tables(counts, metrics, found, ranks, baseline)
    if crossings:
        tables.append(crossing_table(counts, found, turns))
    if extra is not None:
        tables.append(extra)
    return Report(
        tables=tuple(tables),
        data=_tidy(counts, found, ranks, turns, how),
        caption=_caption(found, how, rules, ranks),
        charts=differences(found, rules, baseline, _judged(found, how, rules)),
        notes=(*reading_notes(counts), *_notes(counts, found, how, rules, baseline, ranks)),
        signature=signature(
            counts,
            metrics,
            **{
                **how.signature(),
                "resamples": how.resamples,
                "seed": how.seed,
                "test": tests_shown(c.test for c in found),
                "adjust": adjustment_shown(found, how, rules),
                "family": rules.family,
                "margin": rules.margin or None,
                "baseline": baseline,
                "unpaired": rules.unpaired,
            },
        ),
    )


def _mean(one: Measured) -> float:
    return -math.inf if one.values is None else float(one.values.mean())


def _ranks(
    counts: Counts, measured: Sequence[Measured], found: Sequence[Comparison], how: Uncertainty
) -> list[Rank]:
    """Letters and ranks from the tests; shares of the lead from draws that models share."""
    ahead = set()
    for c in found:
        if c.verdict in (BETTER, WORSE):
            pair = (c.first.series, c.second.series)
            ahead.add((c.first.metric, pair if c.verdict == BETTER else pair[::-1]))
    cells: dict[tuple[Metric, tuple[str, ...]], list[Measured]] = {}
    for one in measured:
        if one.values is not None:
            cells.setdefault((one.metric, one.series[1:]), []).append(one)
    ranks = []
    for (metric, _), rivals in cells.items():
        if len(rivals) < 2:
            continue
        rivals.sort(key=lambda one: (-_mean(one), one.series))
        better = np.array(
            [[(metric, (a.series, b.series)) in ahead for b in rivals] for a in rivals], dtype=bool
        )
        for one, letter, leads, (low, high) in zip(
            rivals, letters(better | better.T), shares_of_lead(counts, rivals, how),
            rank_limits(better).tolist(), strict=True,
        ):  # fmt: skip
            ranks.append(Rank(one, _mean(one), letter, leads, low, high))
    return ranks


def _tables(
    counts: Counts,
    metrics: Sequence[Metric],
    found: Sequence[Comparison],
    ranks: Sequence[Rank],
    baseline: str | None,
) -> list[Table]:
    if baseline is not None:
        return [_against(counts, metrics, found, baseline)]
    tables = [_ranking(counts, metric, ranks) for metric in metrics]
    tables = [table for table in tables if table.rows]
    pairs = {(c.first.series, c.second.series) for c in found}
    if len(pairs) > _PAIRS_SHOWN:
        found = told_apart(found)
    if found:
        tables.append(_pair_table(counts, metrics, found))
    return tables


def told_apart(found: Sequence[Comparison]) -> list[Comparison]:
    """The first of the pairs that some metric tells apart, as many as a reader looks at."""
    apart = ((c.first.series, c.second.series) for c in found if c.verdict in (BETTER, WORSE))
    shown = list(dict.fromkeys(apart))[:_PAIRS_SHOWN]
    return [c for c in found if (c.first.series, c.second.series) in shown]


def _against(
    counts: Counts, metrics: Sequence[Metric], found: Sequence[Comparison], baseline: str
) -> Table:
    """Each model beside the baseline, on shared tasks; the baseline itself on all its own."""
    columns = [Column("model"), *(Column(g) for g in counts.group_names)]
    for metric in metrics:
        columns += [Column(metric.name, metric.unit), Column("difference", metric.unit, True)]
        columns.append(Column("p", "p", True))
    columns.append(Column("tasks"))
    rows: list[tuple[Cell, ...]] = []
    groups = dict.fromkeys(c.first.series[1:] for c in found)
    for group in groups:
        mine = [c for c in found if c.first.series[1:] == group]
        base: list[Cell] = [baseline, *group]
        whole = {c.first.metric: c.second for c in mine}
        for metric in metrics:
            values = whole[metric].values
            base += [None if values is None else float(values.mean()), "", ""]
        # The tasks of each row are said where some pair shares fewer than the baseline has.
        fewer = any(c.only_second for c in mine)
        rows.append((*base, _sizes([len(m.tasks) for m in whole.values()]) if fewer else ""))
        for series in dict.fromkeys(c.first.series for c in mine):
            row: list[Cell] = list(series)
            own = {c.first.metric: c for c in mine if c.first.series == series}
            for metric in metrics:
                row += [own[metric].estimates[0], *_difference_cells(own[metric])]
            rows.append((*row, _sizes([len(c.tasks) for c in own.values()])))
    return Table(tuple(columns), tuple(rows))


def _sizes(counts: Sequence[int]) -> str:
    """Numbers of tasks as one range."""
    return span(min(counts), max(counts))


def _pair_table(counts: Counts, metrics: Sequence[Metric], found: Sequence[Comparison]) -> Table:
    columns = [Column("model"), Column("against"), *(Column(g) for g in counts.group_names)]
    for metric in metrics:
        columns += [Column(metric.name, metric.unit), Column("p", "p", True)]
    columns.append(Column("tasks"))
    rows: list[tuple[Cell, ...]] = []
    for pair in dict.fromkeys((c.first.series, c.second.series) for c in found):
        own = {c.first.metric: c for c in found if (c.first.series, c.second.series) == pair}
        row: list[Cell] = [pair[0][0], pair[1][0], *pair[0][1:]]
        for metric in metrics:
            row += _difference_cells(own[metric])
        rows.append((*row, _sizes([len(c.tasks) for c in own.values()])))
    return Table(tuple(columns), tuple(rows), "differences, model − against")


def _difference_cells(c: Comparison) -> list[Cell]:
    """The difference with its interval, the sign of its verdict beside it, and its adjusted p."""
    if c.reason or c.interval is None:
        return [Estimate(None, reason=c.reason), None]
    low, high, share = c.interval.low, c.interval.high, c.first.metric.unit == "share"
    sign = _SIGNS[c.verdict]
    shown = Estimate(c.difference, low=low, high=high, signed=True, share=share, verdict=sign)
    return [shown, c.adjusted if c.testable else None]


def _ranking(counts: Counts, metric: Metric, ranks: Sequence[Rank]) -> Table:
    """Models by their estimate, each on all its tasks, whose number is said where it differs."""
    ranked = [r for r in ranks if r.measured.metric == metric]
    differ = len({r.measured.tasks.tobytes() for r in ranked}) > 1
    columns = (
        Column("model"), *(Column(g) for g in counts.group_names), Column(metric.name, metric.unit),
        *[Column("tasks")] * differ, Column("not told apart"), Column("leads", "share"),
        Column("rank"),
    )  # fmt: skip
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            *r.measured.series, r.estimate, *[str(len(r.measured.tasks))] * differ, r.letters,
            r.leads, span(r.low, r.high),
        )
        for r in ranked
    )  # fmt: skip
    return Table(columns, rows)


def _tidy(
    counts: Counts,
    found: Sequence[Comparison],
    ranks: Sequence[Rank],
    turns: Turns,
    how: Uncertainty,
) -> Table:
    names = (
        "model", "against", *counts.group_names, "metric", "k", "estimate", "estimate_against",
        "difference", "low", "high", "level", "interval", "p", "p_adjusted", "family", "test",
        "verdict", "tasks", "only_model", "only_against", "letters", "letters_against", "leads",
        "leads_against", "rank_low", "rank_high", "crosses_at", "crosses_low", "crosses_high",
        "note",
    )  # fmt: skip
    place = {(r.measured.series, r.measured.metric): r for r in ranks}
    rows: list[tuple[Cell, ...]] = []
    for c in found:
        metric = c.first.metric
        low, high = (None, None) if c.interval is None else (c.interval.low, c.interval.high)
        mine, other = (place.get((m.series, metric)) for m in (c.first, c.second))
        turn = turns.get((c.first.series, c.second.series, metric.family))
        crosses: tuple[Cell, ...] = (None, None, None)
        if turn is not None:
            crosses = tuple(v if math.isfinite(v) else None for v in (turn.k, turn.low, turn.high))
        head: tuple[Cell, ...] = (c.first.series[0], c.second.series[0], *c.first.series[1:])
        rows.append(
            (
                *head, metric.name, metric.k, *c.estimates, c.difference, low, high, how.level,
                c.interval.method if c.interval else how.method, _or_none(c.p),
                _or_none(c.adjusted), c.family if c.test else None, c.test, c.verdict,
                len(c.tasks), c.only_first, c.only_second, *_place_cells(mine, other), *crosses,
                c.flaws,
            )
        )  # fmt: skip
    return Table(tuple(Column(name) for name in names), tuple(rows))


def _place_cells(mine: Rank | None, other: Rank | None) -> tuple[Cell, ...]:
    letters_ = tuple(None if r is None else r.letters for r in (mine, other))
    leads = tuple(None if r is None else r.leads for r in (mine, other))
    return (*letters_, *leads, *((None, None) if mine is None else (mine.low, mine.high)))


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _judged(found: Sequence[Comparison], how: Uncertainty, rules: Rules) -> list[str]:
    """At what level, by which tests, on how many tasks, with which intervals."""
    sizes = [len(c.tasks) for c in found]
    return [
        f"not significant at {100 * how.level:g} %, {adjustment_words(found, how, rules)}",
        *tests_words(found),
        f"{span(min(sizes), max(sizes))} shared task{'s' * (max(sizes) != 1)}",
        how.words(),
    ]


def _caption(
    found: Sequence[Comparison], how: Uncertainty, rules: Rules, ranks: Sequence[Rank]
) -> str:
    first, *parts = _judged(found, how, rules)
    if ranks:
        parts.append(
            f"leads: share of {how.resamples:,} resamples of the tasks in the lead · rank: what the"
            " tests leave open"
        )
    if rules.margin:
        parts.insert(0, f"= equivalent: inside ±{rules.margin:g}")
    return " · ".join([f"~ {first}", *parts])


def _notes(
    counts: Counts,
    found: Sequence[Comparison],
    how: Uncertainty,
    rules: Rules,
    baseline: str | None,
    ranks: Sequence[Rank],
) -> list[Note]:
    notes = []
    lacking = {s[1:] for s in counts.series} - {s[1:] for s in counts.series if s[0] == baseline}
    if baseline is not None and lacking:
        where = ", ".join(" ".join(group) or '""' for group in sorted(lacking)[:4])
        notes.append(Note(f"not compared: {baseline} is not in the groups {where}", "warning"))
    dropped = [(c, c.only_first + c.only_second) for c in found]
    unpaired = [(c, count) for c, count in dropped if count]
    if unpaired:
        c, count = max(unpaired, key=lambda pair: pair[1])
        notes.append(
            Note(
                f"{plural(len(unpaired), 'comparison')} left out tasks that only one model has"
                f" (at most {count}: {' '.join(c.first.series)} against"
                f" {' '.join(c.second.series)})",
                "warning",
            )
        )
    for reason in dict.fromkeys(c.reason for c in found if c.reason):
        notes.append(Note(f"not compared: {reason}", "warning"))
    other = [c for c in found if c.interval and c.interval.method != how.method]
    if other:
        metrics = ", ".join(dict.fromkeys(c.first.metric.name for c in other))
        notes.append(Note(f"{metrics}: {other[0].interval.reason if other[0].interval else ''}"))
    empty: dict[str, list[str]] = {}
    for c in found:
        if c.interval and c.interval.low is None:
            empty.setdefault(c.interval.reason, []).append(c.first.metric.name)
    for reason, names in empty.items():
        notes.append(Note(f"no interval of {', '.join(dict.fromkeys(names))}: {reason}"))
    for reason in dict.fromkeys(c.untested for c in found if c.untested):
        notes.append(Note(reason, "warning"))
    if any(r.leads is None for r in ranks):
        notes.append(
            Note(
                "leads is empty where attempts differ between models (or no task is shared by all):"
                " unequal attempts put one in the lead though nothing differs"
            )
        )
    if counts.group_names:
        groups = len({c.first.series[1:] for c in found})
        notes.append(
            Note(
                f"{plural(groups, 'group')} looked at; p-values are adjusted over all of them"
                if rules.adjust != "none"
                else f"{plural(groups, 'group')} looked at without adjustment: expect false finds"
            )
        )
    pairs = len({(c.first.series, c.second.series) for c in found})
    if pairs > _PAIRS_SHOWN:
        shown = len({(c.first.series, c.second.series) for c in told_apart(found)})
        notes.append(
            Note(
                f"{shown} of {pairs} pairs are listed, those told apart first;"
                " -f csv or -f json holds them all"
            )
        )
    return notes
