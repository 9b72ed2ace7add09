"""Designs not yet run → how sure they will be, what they detect, what they cost: a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from passk_cli import __version__
from passk_cli.errors import ParameterError
from passk_cli.limits import refuse_many_steps
from passk_cli.report.basis import Basis, assumed_basis, check_reach, pilot_basis
from passk_cli.report.designs import DESIGN, Aims, Line, best_splits, in_design, needed, with_usual
from passk_cli.report.model import Cell, Column, Note, Report, Table
from passk_cli.report.notes import plural, reading_notes
from passk_cli.report.plan_charts import charts
from passk_cli.report.plan_notes import few_note, left_out_notes, plan_notes
from passk_cli.report.plan_pairs import correlation_source, possible, words
from passk_cli.report.signature import short_names, signature, span

if TYPE_CHECKING:
    from passk_cli.estimators.metric import Metric
    from passk_cli.inference.design import BetaRates
    from passk_cli.outcomes.model import Counts


def plan_report(
    metrics: Sequence[Metric],
    aims: Aims,
    *,
    counts: Counts | None = None,
    rates: BetaRates | None = None,
    correlation: float | None = None,
    short_tasks: str = "empty",
    few: bool = False,
) -> Report:
    """Standard errors, splits of a budget and detectable differences of designs not yet run.

    counts : a pilot; or rates : assumed success rates.  correlation : of two models' true values
    over tasks, where no pilot of two models tells it.  few : of the metrics, only those of the
    smallest and the largest k.
    Errors: ParameterError when a pilot says nothing about any metric, or an aim makes no sense.
    """
    aims = aims.checked()
    check_reach(metrics)
    if correlation is not None and not -1.0 <= correlation <= 1.0:
        raise ParameterError(f"--correlation {correlation:g}: it must lie between −1 and 1")
    notes: list[Note] = []
    if few:
        metrics, notes = few_metrics(metrics)
    if counts is not None:
        refuse_many_steps("the pilot", int(counts.n.max()), "thin out the attempts")
        bases, silent = pilot_basis(counts, metrics, correlation, short_tasks)
        bases, doubtful = possible(bases)
        left = left_out_notes(metrics, bases)
        notes = [*reading_notes(counts), *notes, *silent, *left, *doubtful]
    else:
        assert rates is not None
        bases = assumed_basis(metrics, rates, correlation)
    several = counts is not None and len(counts.series) > 1
    aims = with_usual(aims, bases)
    designs = [
        in_design(DESIGN, basis, aims, tasks, n)
        for tasks in aims.tasks
        for n in aims.attempts
        for basis in bases
    ]
    split = best_splits(bases, aims)
    detected = [needed(basis, aims, n) for n in aims.attempts for basis in bases]
    tables = [_bases_table(bases, several), _designs_table(designs, bases, aims)]
    tables += [_splits_table(split, bases, aims)] if split else []
    lines = [*designs, *split, *detected]
    return Report(
        tables=tuple(map(_filled, (*tables, _needed_table(detected, bases, aims)))),
        data=_tidy(lines, aims),
        caption=_caption(bases, aims, rates),
        notes=(*notes, *plan_notes(bases, aims, [*designs, *split, *detected], several)),
        signature=_signature(bases, aims, counts, rates, short_tasks),
        charts=charts(bases, aims, _start(bases, rates)),
    )


def few_metrics(metrics: Sequence[Metric]) -> tuple[list[Metric], list[Note]]:
    """Those of the smallest and the largest k, and a note on the k's left out."""
    ks = sorted({metric.k for metric in metrics})
    return [m for m in metrics if m.k in (ks[0], ks[-1])], few_note(ks)


def _bases_table(bases: Sequence[Basis], several: bool) -> Table:
    """What is planned for: what is expected, how tasks differ, and what each k costs in tasks."""
    n = max(basis.metric.k for basis in bases)
    first = bases[0]
    columns = [Column("metric"), Column("expected", "share"), Column("true spread", "share"),
               Column("correlation", "amount")]  # fmt: skip
    columns += [Column(f"tasks, × {first.metric.name}", "amount")] if len(bases) > 1 else []
    columns += [Column("model"), Column("pair")] if several else []
    rows: list[tuple[Cell, ...]] = []
    for basis in bases:
        row: list[Cell] = [basis.metric.name, basis.values.expected,
                           _known(basis.values.between**0.5), basis.correlation]  # fmt: skip
        if len(bases) > 1:
            least = first.variances(n)[0]
            row.append(_known(basis.variances(n)[0] / least) if least > 0 else None)
        if several:
            row += [basis.model, " − ".join(basis.pair or (f"two like {basis.model}",))]
        rows.append(tuple(row))
    at = (
        f"; tasks for the same standard error with {plural(n, 'attempt')}" if len(bases) > 1 else ""
    )
    return Table(tuple(columns), tuple(rows), "planned for" + at)


def _designs_table(lines: Sequence[Line], bases: Sequence[Basis], aims: Aims) -> Table:
    rows = [_size_cells(mine[0], aims) + _line_cells(mine, aims) for mine in _by(lines, bases)]
    columns = (Column("tasks × attempts"), *_size_columns(aims), *_line_columns(bases))
    title = "standard error, interval width, smallest difference detected"
    return Table(columns, tuple(rows), title)


def _splits_table(lines: Sequence[Line], bases: Sequence[Basis], aims: Aims) -> Table:
    """For each metric, and for all at once, the design that is best, with that metric's numbers."""
    rows: list[tuple[Cell, ...]] = []
    for goal in (*(basis.metric.name for basis in bases), "all"):
        best = [line for line in lines if goal in line.purpose.split(", ")]
        mine = [line for line in best if line.basis.metric.name == goal]
        if best:
            cells = _line_cells(mine, aims) if mine else ("", "", "")
            rows.append((goal, *_size_cells(best[0], aims), *cells))
    columns = (Column("best for"), Column("tasks × attempts"), *_size_columns(aims),
               Column("its se", "share"), Column("width", "share"),
               Column("detects", "share"))  # fmt: skip
    money = f"{aims.budget:,.2f}: " if aims.cost else ""
    most = "" if aims.most_tasks is None else f" over at most {plural(aims.most_tasks, 'task')}"
    title = f"best split of {money}{plural(aims.spend, 'attempt')}{most}"
    return Table(columns, tuple(rows), f"{title}; within 1 % the most tasks, then fewest attempts")


def _filled(table: Table) -> Table:
    """Without the columns that are empty in every row."""
    kept = [i for i in range(len(table.columns)) if any(row[i] is not None for row in table.rows)]
    rows = tuple(tuple(row[i] for i in kept) for row in table.rows)
    return Table(tuple(table.columns[i] for i in kept), rows, table.title)


def _needed_table(lines: Sequence[Line], bases: Sequence[Basis], aims: Aims) -> Table:
    columns = [Column("attempts")]
    for basis in bases:
        columns += [Column(basis.metric.name, "count"), Column("in all", "count", joined=True)]
        columns += [Column("cost", "amount", joined=True)] if aims.cost else []
    rows = []
    for mine in _by(lines, bases):
        row: list[Cell] = [str(mine[0].attempts)]
        for line in mine:
            row += [line.tasks, line.total]
            row += [_price(line, aims)] if aims.cost else []
        rows.append(tuple(row))
    title = f"tasks that detect a difference of {aims.difference:g} with power {aims.power:g};"
    return Table(tuple(columns), tuple(rows), f"{title} attempts in all of both models")


def _by(lines: Sequence[Line], bases: Sequence[Basis]) -> list[Sequence[Line]]:
    """The lines of one design after the other, each with all metrics."""
    size = len(bases)
    return [lines[at : at + size] for at in range(0, len(lines), size)]


def _size_columns(aims: Aims) -> tuple[Column, ...]:
    return (Column("in all", "count"), *([Column("cost", "amount")] if aims.cost else []))


def _size_cells(line: Line, aims: Aims) -> tuple[Cell, ...]:
    size = f"{line.tasks:,} × {line.attempts:,}"
    return (size, line.total, *([_price(line, aims)] if aims.cost else []))


def _line_columns(bases: Sequence[Basis]) -> tuple[Column, ...]:
    return tuple(
        column
        for basis in bases
        for column in (
            Column(basis.metric.name, "share"),
            Column("width", "share", joined=True),
            Column("detects", "share", joined=True),
        )
    )


def _line_cells(lines: Sequence[Line], aims: Aims) -> tuple[Cell, ...]:
    return tuple(cell for line in lines for cell in (line.se, line.width(aims), line.difference))


def _price(line: Line, aims: Aims) -> float | None:
    return None if line.total is None or aims.cost is None else line.total * aims.cost


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _tidy(lines: Sequence[Line], aims: Aims) -> Table:
    names = (
        "plan", "best_for", "metric", "k", "tasks", "attempts", "attempts_in_all", "cost",
        "expected", "se", "width", "level", "difference", "power", "correlation",
        "correlation_source", "source", "note",
    )  # fmt: skip
    rows = tuple(
        (
            line.plan, line.purpose, line.basis.metric.name, line.basis.metric.k, line.tasks,
            line.attempts, line.total, _price(line, aims), line.expected, line.se,
            line.width(aims), aims.level, line.difference, aims.power,
            line.basis.correlation, correlation_source(line.basis),
            line.basis.source(line.attempts), line.reason,
        )
        for line in lines
    )  # fmt: skip
    return Table(tuple(Column(name) for name in names), rows)


def _caption(bases: Sequence[Basis], aims: Aims, rates: BetaRates | None) -> str:
    width = f"width of {100 * aims.level:g} % normal intervals for new tasks"
    test = f"two-sided sign-flip test at {100 * (1 - aims.level):.3g} %, power {aims.power:g}"
    return f"{_start(bases, rates)} · {width} · {test}"


def _start(bases: Sequence[Basis], rates: BetaRates | None) -> str:
    """What is planned from."""
    if rates is not None:
        return f"success rates Beta with mean {rates.mean:g} and spread {rates.spread:g}"
    pilots = [basis.pilot for basis in bases if basis.pilot is not None]
    tasks = [len(pilot.n) for pilot in pilots]
    n = np.concatenate([pilot.n for pilot in pilots])
    start = f"pilot of {span(min(tasks), max(tasks))} tasks"
    attempts = span(int(n.min()), int(n.max()))
    start += f", {attempts} attempt{'s' * (attempts != '1')} each"
    if (like := pilots[0].rates) is not None:
        start += f"; {bases[0].model} is like --mean {like.mean:.4g} --spread {like.spread:.4g}"
    return start


def _signature(
    bases: Sequence[Basis],
    aims: Aims,
    counts: Counts | None,
    rates: BetaRates | None,
    short_tasks: str,
) -> dict[str, object]:
    metrics = [basis.metric for basis in bases]
    more: dict[str, object] = {
        "level": aims.level,
        "power": aims.power,
        "difference": aims.difference,
        "correlation": words(bases),
        "budget": aims.spend,
        "max tasks": aims.most_tasks,
        "cost": aims.cost,
        "short tasks": short_tasks if short_tasks != "empty" else None,
    }
    if counts is not None:
        return signature(counts, metrics, **more)
    assert rates is not None
    entries = {
        "passk": __version__, "metrics": short_names(metrics),
        "mean": rates.mean, "spread": rates.spread, **more,
    }  # fmt: skip
    return {name: value for name, value in entries.items() if value is not None}
