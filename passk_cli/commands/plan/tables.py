"""The tables of a plan: what is planned for, the designs, the best splits, what detects."""

from __future__ import annotations

import math
from collections.abc import Sequence

from passk_cli.commands.plan.aims import Aims
from passk_cli.commands.plan.designs import Designs, goals
from passk_cli.commands.plan.sentences import points
from passk_cli.report.model import Cell, Column, Table
from passk_cli.report.words import plural
from passk_cli.study.fact import Fact


def tables(designs: Designs) -> tuple[Table, ...]:
    """All of them, without the columns that are empty in every row."""
    every = [_outlook_table(designs), _design_table(designs)]
    every += [_split_table(designs)] if designs.splits else []
    return tuple(map(_filled, (*every, _needed_table(designs))))


def _filled(table: Table) -> Table:
    columns = [
        i for i in range(len(table.columns)) if any(row[i] is not None for row in table.rows)
    ]
    rows = tuple(tuple(row[i] for i in columns) for row in table.rows)
    return Table(tuple(table.columns[i] for i in columns), rows, table.title)


def _outlook_table(designs: Designs) -> Table:
    """What is planned for: what is expected, how tasks differ, and what each k costs in tasks."""
    outlooks, several = designs.outlooks, designs.several
    first, n = outlooks[0], max(outlook.metric.k for outlook in outlooks)
    columns = [Column("metric"), Column("expected", "share"), Column("true spread", "share"),
               Column("correlation", "amount")]  # fmt: skip
    columns += [Column(f"tasks, × {first.metric.name}", "amount")] if len(outlooks) > 1 else []
    columns += [Column("model"), Column("pair")] if several else []
    rows: list[tuple[Cell, ...]] = []
    for outlook in outlooks:
        row: list[Cell] = [outlook.metric.name, outlook.values.expected,
                           _number(outlook.values.between**0.5), outlook.correlation]  # fmt: skip
        if len(outlooks) > 1:
            least = first.variances(n)[0]
            row.append(_number(outlook.variances(n)[0] / least) if least > 0 else None)
        if several:
            row += [outlook.name, " − ".join(outlook.pair or (f"two like {outlook.name}",))]
        rows.append(tuple(row))
    same = (
        f"; tasks, × {first.metric.name}: how many times as many give the same standard error"
        f" with {plural(n, 'attempt')}"
    )
    return Table(tuple(columns), tuple(rows), "Planned for" + (same if len(outlooks) > 1 else ""))


def _design_table(designs: Designs) -> Table:
    aims = designs.aims
    columns = [Column("tasks × attempts"), *_size_columns(aims)]
    for outlook in designs.outlooks:
        columns += [Column(outlook.metric.name, "share"), Column("width", "share", joined=True),
                    Column("detects", "share", joined=True)]  # fmt: skip
    rows = [
        (*_size_cells(row[0], aims), *(cell for fact in row for cell in _cells(fact)))
        for row in _by_design(designs.asked, designs)
    ]
    title = "Standard error, interval width, smallest difference detected"
    return Table(tuple(columns), tuple(rows), title)


def _split_table(designs: Designs) -> Table:
    """For each metric, and for all at once, the design that is best, with that metric's numbers."""
    aims = designs.aims
    rows: list[tuple[Cell, ...]] = []
    for goal in (*(outlook.metric.name for outlook in designs.outlooks), "all"):
        best = [split for split in designs.splits if goal in goals(split)]
        own = next((split for split in best if split.name == goal), None)
        if best:
            cells = ("", "", "") if own is None else _cells(own)
            rows.append((goal, *_size_cells(best[0], aims), *cells))
    columns = (Column("best for"), Column("tasks × attempts"), *_size_columns(aims),
               Column("se", "share"), Column("width", "share"),
               Column("detects", "share"))  # fmt: skip
    money = f"{aims.budget:,.2f}: " if aims.cost_per_attempt else ""
    most = "" if aims.most_tasks is None else f" over at most {plural(aims.most_tasks, 'task')}"
    title = f"Best split of {money}{plural(aims.spend, 'attempt')}{most}"
    return Table(
        columns,
        tuple(rows),
        f"{title}; of splits within 1 % of the smallest error, the one with most tasks",
    )


def _needed_table(designs: Designs) -> Table:
    aims = designs.aims
    columns = [Column("attempts")]
    for outlook in designs.outlooks:
        columns += [Column(outlook.metric.name, "count"), Column("both", "count", joined=True)]
        columns += [Column("cost", "amount", joined=True)] if aims.cost_per_attempt else []
    rows = []
    for facts in _by_design(designs.detecting, designs):
        row: list[Cell] = [str(facts[0].size.n_min)]
        for fact in facts:
            row += [fact.size.tasks, *_total_cells(fact, aims)]
        rows.append(tuple(row))
    title = f"Tasks that detect a difference of {points(aims.detect)} with power {aims.power:g};"
    return Table(tuple(columns), tuple(rows), f"{title} both: attempts of both models together")


def _by_design(facts: Sequence[Fact], designs: Designs) -> list[Sequence[Fact]]:
    """The facts of one design after the other, each with all metrics."""
    size = len(designs.outlooks)
    return [facts[at : at + size] for at in range(0, len(facts), size)]


def _size_columns(aims: Aims) -> list[Column]:
    return [Column("in all", "count"), *[Column("cost", "amount")] * bool(aims.cost_per_attempt)]


def _size_cells(fact: Fact, aims: Aims) -> tuple[Cell, ...]:
    return f"{fact.size.tasks:,} × {fact.size.n_min:,}", *_total_cells(fact, aims)


def _total_cells(fact: Fact, aims: Aims) -> list[Cell]:
    names = ["attempts_in_all", *["cost"] * bool(aims.cost_per_attempt)]
    return [fact.more[name] for name in names]


def _cells(fact: Fact) -> tuple[Cell, Cell, Cell]:
    return fact.se, fact.more["width"], fact.more["difference"]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
