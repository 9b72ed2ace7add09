"""The report of each task: what it does so far, and what its attempts do not rule out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.commands.tasks.classes import (
    ALWAYS,
    CLASSES,
    MISSING,
    NEVER,
    SOMETIMES,
    TaskRates,
    rates_by_task,
)
from passk_cli.commands.tasks.listing import (
    Listing,
    listing_report,
    natural_ranks,
    strip_cell,
    table_of,
)
from passk_cli.commands.tasks.matrix import heat_maps
from passk_cli.inference.single import MOST_NEEDED, passes_needed, rate_limits
from passk_cli.report.model import Cell, Column, Estimate, Report, Sentence, Table
from passk_cli.report.words import plural, span
from passk_cli.study.pivot import head

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.study.study import Study

    Ints = NDArray[np.int64]
# Classes of tasks whose attempts all agree.
_AGREE = [CLASSES.index(ALWAYS), CLASSES.index(NEVER)]


@dataclass(frozen=True)
class Shown:
    """Per row: whether the pass rate is shown to be above `rate`, and the attempts still needed.

    needed : further attempts, all of which pass, that would show it; 0 where it is shown.
    """

    rate: float
    needed: Ints

    @property
    def number(self) -> int:
        """How many are shown."""
        return int((self.needed == 0).sum())


def rows_report(study: Study, rows: int, always: float | None = None) -> Report:
    """A row per model and task: the flaky ones first, or, with `always`, those nearest to it.

    rows : of the table for people.  always : a pass rate in (0, 1).
    """
    level = study.confidence.level
    rates = rates_by_task(study.counts, level, study.best_first, strips=True)
    every = _columns(study, rates)
    shown = None
    if always is not None:
        shown = Shown(always, passes_needed(every["n"], every["c"], always, level))
    order = _order(every, shown)
    tables = [_overview(study, rates)] if len(rates) > 1 else []
    tables.append(_table(study, every, order[:rows], shown))
    return listing_report(
        study,
        Listing(
            tuple(tables),
            _data(study, every, order, shown),
            len(order),
            min(rows, len(order)),
            "pair" if len(rates) > 1 else "task",
        ),
        context=_caption(study, every, shown),
        answer=_answer(rates, study, shown),
        interval="clopper-pearson",
        level=level,
        plots=partial(heat_maps, study),
        population="these-tasks",
        always=always,
    )


def _columns(study: Study, rates: Sequence[TaskRates]) -> dict[str, NDArray[np.generic]]:
    """All rows as columns, series by series."""
    names = np.array(study.counts.tasks, dtype=object)
    columns = {
        name: np.concatenate([getattr(each, name) for each in rates])
        for name in ("tasks", "n", "c", "low", "high", "codes", "rates")
    }
    sizes = [len(each.tasks) for each in rates]
    columns["series"] = np.repeat(np.arange(len(rates)), sizes)
    columns["strip"] = np.array([strip for each in rates for strip in each.strips], dtype=object)
    columns["task"] = names[columns["tasks"]]
    columns["place"] = natural_ranks(study.counts.tasks)[columns["tasks"]]
    for place, name in enumerate(("model", *study.counts.group_names)):
        values = np.array([each.series[place] for each in rates], dtype=object)
        columns[f"series.{name}"] = values[columns["series"]]
    return columns


def _order(every: dict[str, NDArray[np.generic]], shown: Shown | None) -> Ints:
    """Rows as they are read: the ones that vary most first, or nearest to being shown."""
    away = np.nan_to_num(np.abs(every["rates"].astype(float) - 0.5), nan=1.0)
    # Of equal rates the one with more attempts says more.
    keys = [every["series"], every["place"], -every["n"].astype(float), away, every["codes"]]
    if shown is not None:
        keys.append(shown.needed)
    return np.lexsort(keys)


def _table(
    study: Study, every: dict[str, NDArray[np.generic]], order: Ints, shown: Shown | None
) -> Table:
    several = len(study.counts.series) > 1
    heads = head(study.counts.group_names) if several else ()
    names = [f"series.{column.header}" for column in heads]
    strips = [strip_cell(text) for text in every["strip"][order].tolist()]
    columns = [*heads, Column("task"), Column("passed")]
    columns += [Column("attempts", "strip")] * any(strips)
    columns += [Column("pass rate", "share"), Column("so far")]
    needed = [] if shown is None else _needed_cells(shown.needed[order])
    if shown is not None:
        columns += [Column(f"above {shown.rate:g}"), Column("more passes needed")]
    rows: list[tuple[Cell, ...]] = []
    for i, place in enumerate(order.tolist()):
        n, c = int(every["n"][place]), int(every["c"][place])
        estimate = Estimate(
            c / n if n else None, low=float(every["low"][place]), high=float(every["high"][place])
        )
        row: list[Cell] = [*(every[name][place] for name in names), every["task"][place],
                           f"{c:,} of {n:,}"]  # fmt: skip
        row += [strips[i]] * any(strips)
        row += [estimate, CLASSES[int(every["codes"][place])]]
        row += needed[i] if shown is not None else []
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows), "Tasks" if several else "")


def _needed_cells(needed: Ints) -> list[list[Cell]]:
    return [
        ["shown" if more == 0 else "not shown", f"{more:,}" if more < MOST_NEEDED // 2 else "many"]
        for more in needed.tolist()
    ]


def _overview(study: Study, rates: Sequence[TaskRates]) -> Table:
    """How many tasks of each class every model has."""
    there = [name for name in CLASSES if any(each.numbers()[name] for each in rates)]
    columns = (
        *head(study.counts.group_names), Column("tasks", "count"),
        *(Column(name, "count") for name in there),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (*each.series, len(each.tasks), *(each.numbers()[name] for name in there)) for each in rates
    ]
    return Table(columns, tuple(rows), "Models")


def _answer(rates: Sequence[TaskRates], study: Study, shown: Shown | None) -> tuple[Sentence, ...]:
    numbers = [each.numbers() for each in rates]
    total = {name: sum(number[name] for number in numbers) for name in CLASSES}
    several = len(rates) > 1
    tasks = len(study.counts.tasks)
    rows = sum(total.values())
    start = f"Of {plural(tasks, 'task')},"
    if several:
        start = (
            f"{plural(len(rates), 'model')} at {plural(tasks, 'task')}: of"
            f" {plural(rows, 'model–task pair')},"
        )
    n = np.concatenate([each.n for each in rates])
    fewest, most = int(n[n > 0].min()), int(n.max())
    level = study.confidence.level
    agree = n[np.isin(np.concatenate([each.codes for each in rates]), _AGREE)]
    least = int(agree.min(initial=most))
    bound = float(rate_limits(least, least, level)[0])
    sentence: list[Cell | tuple[Cell, Column]] = [
        f"{start} {total[SOMETIMES]:,} pass sometimes, {total[ALWAYS]:,} always so far"
    ]
    if total[ALWAYS]:
        sentence += [f" ({least:,} of {least:,}: a rate of at least ", bound, ")"]
    sentence.append(f", {total[NEVER]:,} never so far")
    if total[NEVER]:
        sentence += [f" (0 of {least:,}: at most ", 1 - bound, ")"]
    if total[MISSING]:
        sentence.append(f"; {total[MISSING]:,} have no attempts")
    sentence.append(f". Attempts per task: {span(fewest, most)}." if most > fewest else ".")
    return (tuple(sentence), *_shown_words(shown, rows, several, level))


def _shown_words(
    shown: Shown | None, rows: int, several: bool, level: float
) -> tuple[Sentence, ...]:
    if shown is None:
        return ()
    noun = "pair" if several else "task"
    least = int(passes_needed(0, 0, shown.rate, level))
    verb = "is" if shown.number == 1 else "are"
    return (
        (
            f"{shown.number:,} of {plural(rows, noun)} {verb} shown to pass above {shown.rate:g};"
            f" without a failure that takes {plural(least, 'attempt')}.",
        ),
    )


def _caption(
    study: Study, every: dict[str, NDArray[np.generic]], shown: Shown | None
) -> tuple[str, ...]:
    level = f"{100 * study.confidence.level:g} %"
    known = any(every["strip"].tolist())
    return (
        f"{level} limits of each task's own rate (Clopper–Pearson)",
        f"shown: by a one-sided {level} limit, each task by itself" if shown else "",
        "attempts in their order" if known else "the order of attempts is not known",
    )


def _data(
    study: Study, every: dict[str, NDArray[np.generic]], order: Ints, shown: Shown | None
) -> Table:
    """All rows in the schema of all commands."""
    groups = study.counts.group_names
    level, size = study.confidence.level, len(order)
    rates = [None if rate != rate else rate for rate in every["rates"][order].tolist()]
    n = every["n"][order].tolist()
    missing = [not attempts for attempts in n]
    columns: list[tuple[str, Sequence[Cell]]] = [
        (name, every[f"series.{name}"][order].tolist()) for name in ("model", *groups)
    ]
    columns += [
        ("metric", ["pass rate"] * size), ("k", [None] * size), ("estimate", rates),
        ("se", [None] * size), ("low", every["low"][order].tolist()),
        ("high", every["high"][order].tolist()), ("level", [level] * size),
        ("interval", ["clopper-pearson"] * size), ("population", ["these-tasks"] * size),
        ("tasks", [1] * size), ("n_min", n), ("n_max", n),
        ("task", every["task"][order].tolist()), ("passes", every["c"][order].tolist()),
        ("class", [CLASSES[code] for code in every["codes"][order].tolist()]),
        ("attempts", every["strip"][order].tolist()),
    ]  # fmt: skip
    if shown is not None:
        needed = shown.needed[order].tolist()
        columns += [
            ("above", [shown.rate] * size),
            ("above_shown", [int(more == 0) for more in needed]),
            ("passes_needed", needed),
        ]
    columns.append(("note", ["no attempts" if gone else "" for gone in missing]))
    return table_of(columns)
