"""Tables of extrapolations: for people, and tidy."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from passk_cli.report.extrapolate_words import reach_words
from passk_cli.report.model import Cell, Column, Estimate, Table

if TYPE_CHECKING:
    from passk_cli.inference.extrapolation import Extrapolation
    from passk_cli.outcomes.counts import Counts
    from passk_cli.report.extrapolate import Ahead
    from passk_cli.report.samples import Uncertainty


def ahead_table(counts: Counts, lines: Sequence[Ahead], family: str) -> Table:
    """Models down, k's across; the k of the target, and what the numbers rest on."""
    found = [line.found for line in lines if line.found is not None]
    knowns = sorted({f.known for f in found})
    observed = f"{family}{knowns[0]}" if len(knowns) == 1 else f"{family}n"
    to, target = lines[0].to, next((x.target for x in lines if x.target is not None), None)
    columns = [Column("model"), *(Column(g) for g in counts.group_names)]
    columns += [Column("n", "count")] if len(knowns) > 1 else []
    columns += [Column(observed, "share"), *(Column(f"{family}{k}", "share") for k in to)]
    if target is not None:
        columns += [Column(f"k for {target:g}", "count"), Column("low", "count", True),
                    Column("high", "count", True)]  # fmt: skip
    open_ = "never passed" if family == "pass@" else "never failed"
    columns += [Column(open_, "count"), Column("backtest", "share"), Column("fit"),
                Column("weight", "share", True)]  # fmt: skip
    order = sorted(lines, key=lambda x: (-(x.estimate(to[-1]).value or -1.0), x.series))
    rows: list[tuple[Cell, ...]] = []
    for x in order:
        if x.found is None:
            width = len(columns) - 1 - len(counts.group_names)
            rows.append((*x.series, *[None] * width))
            continue
        best = max(x.found.models, key=lambda m: m.weight)
        row: list[Cell] = [*x.series, *([x.found.known] if len(knowns) > 1 else [])]
        row += [x.estimate(x.found.known), *(x.estimate(k) for k in to)]
        row += _whole(x) if target is not None else []
        row += [x.open, Estimate(x.found.error, signed=True), best.name, best.weight]
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows))


def _whole(line: Ahead) -> list[int | None]:
    """The k of the target and its limits as attempts: rounded up, for pass^k down."""
    reach = line.reach
    assert reach is not None
    whole = math.ceil if line.family == "pass@" else math.floor
    return [None if k is None else whole(k) for k in (reach.k, reach.low, reach.high)]


def models_table(line: Ahead) -> Table:
    """What each model says by itself."""
    assert line.found is not None
    columns = (
        Column("fit"), Column("weight", "share"), Column("backtest", "share"),
        *(Column(f"{line.family}{k}", "share") for k in line.to),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for m in sorted(line.found.models, key=lambda m: -m.weight):
        values = (float(m.values[line.found.ks == k][0]) for k in line.to)
        rows.append((m.name, m.weight, Estimate(m.error, signed=True), *values))
    return Table(columns, tuple(rows), f"{line.family}k of {line.name}, by each model alone")


def tidy(counts: Counts, lines: Sequence[Ahead], how: Uncertainty, fit: str | None) -> Table:
    """Every prediction, of the weighed models and of each alone, and the k of the target."""
    names = (
        "model", *counts.group_names, "metric", "k", "estimate", "low", "high", "level",
        "population", "fit", "weight", "backtest", "backtest_k", "backtest_from", "beyond",
        "tasks", "n_min", "n_max", "note",
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for x in lines:
        size = (len(x.n), int(x.n.min()), int(x.n.max()))
        if x.found is not None:
            rows += [(*x.series, *row) for row in _facts(x, x.found, how, fit)]
            continue
        nothing = (how.level, how.population, fit, *[None] * 5)
        rows += [
            (*x.series, f"{x.family}{k}", k, None, None, None, *nothing, *size, x.reason)
            for k in x.to
        ]
    return Table(tuple(Column(name) for name in names), tuple(rows))


def _facts(
    line: Ahead, found: Extrapolation, how: Uncertainty, fit: str | None
) -> Iterator[tuple[Cell, ...]]:
    """The tidy rows of one series, without its name."""
    size = (len(line.n), int(line.n.min()), int(line.n.max()))
    test = (found.known, found.few)
    sure = (how.level, how.population, fit or "weighed", 1.0, found.error, *test)
    for k in sorted({found.known, *line.to}):
        metric, e = f"{line.family}{k}", line.estimate(k)
        beyond = "yes" if k > found.known else "no"
        yield (metric, k, e.value, e.low, e.high, *sure, beyond, *size, "")
        if fit is not None or k in line.seen:
            continue
        for m in found.models:
            value = float(m.values[found.ks == k][0])
            alone = (None, how.population, m.name, m.weight, m.error, *test)
            yield (metric, k, value, None, None, *alone, beyond, *size, "")
    if line.target is not None:
        name = f"k for {line.family}k = {line.target:g}"
        yield (name, None, *_whole(line), *sure, None, *size, reach_words(line))
