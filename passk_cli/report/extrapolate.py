"""Counts → pass@k and pass^k beyond the attempts there are, as a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import DataError, ParameterError
from passk_cli.inference.extrapolation import (
    FARTHEST,
    Extrapolation,
    Reach,
    extrapolate,
    largest_known,
    refusal,
)
from passk_cli.inference.futures import MODELS
from passk_cli.report.charts import Rule, curves
from passk_cli.report.extrapolate_words import (
    ahead_notes,
    caption,
    families_named,
    reach_words,
)
from passk_cli.report.model import Cell, Chart, Column, Estimate, Report, Table
from passk_cli.report.notes import reading_notes
from passk_cli.report.samples import Uncertainty, cluster_codes
from passk_cli.report.signature import signature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.model import Counts

FAMILIES = ("pass@", "pass^")
# By how much a prediction goes beyond the attempts when no k is named.
_FACTORS = (10, 100)
# Points of a curve: up to the largest k drawn, and from there to the farthest a target is sought.
_DRAWN, _SOUGHT = 48, 64
# Single models are told beside the weighed ones when there are no more series than this.
_FEW_SERIES = 2
_SHOWN_WEIGHT = 0.05


@dataclass(frozen=True)
class Wanted:
    """What is asked for.

    to : k's to predict at, increasing; empty for 10 and 100 times the attempts.
    target : a value in (0, 1) whose k is sought, or None.
    families : of "pass@" and "pass^".  fit : a model's name; None to weigh them all.
    """

    to: tuple[int, ...] = ()
    target: float | None = None
    families: tuple[str, ...] = FAMILIES[:1]
    fit: str | None = None

    def checked(self) -> Wanted:
        """Itself; ParameterError for what makes no sense."""
        if self.fit is not None and self.fit not in MODELS:
            raise ParameterError(f"--fit {self.fit}: no such model; there are {', '.join(MODELS)}")
        if self.target is not None and not 0 < self.target < 1:
            raise ParameterError(f"--target {self.target:g} must lie between 0 and 1, as 0.9 does")
        if any(k > FARTHEST for k in self.to):
            raise ParameterError(f"--to {max(self.to)}: the farthest is {FARTHEST:,}")
        return self


def parse_to(text: str) -> tuple[int, ...]:
    """k's from "100,1000"; ParameterError for anything but whole numbers from 1 up."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) >= 1 for part in parts):
        raise ParameterError(f"--to {text}: k must be a whole number, at least 1")
    return tuple(sorted({int(part) for part in parts}))


@dataclass(frozen=True)
class Ahead:
    """One series and family: what was found, or why nothing was.

    n, c : its attempts and passes.  to : the k's asked for.
    """

    series: tuple[str, ...]
    family: str
    n: NDArray[np.int64]
    c: NDArray[np.int64]
    to: tuple[int, ...]
    found: Extrapolation | None
    reason: str = ""
    target: float | None = None

    @property
    def name(self) -> str:
        """The model and its groups, for people."""
        return " ".join(part or '""' for part in self.series)

    @property
    def open(self) -> int:
        """Tasks that never passed; for pass^k, that never failed."""
        return int(((self.c == 0) if self.family == "pass@" else (self.c == self.n)).sum())

    @property
    def reach(self) -> Reach | None:
        """Where the target is reached."""
        if self.found is None or self.target is None:
            return None
        return self.found.reach(self.target, falling=self.family == "pass^")

    def estimate(self, k: int) -> Estimate:
        """The prediction at one of the k's."""
        if self.found is None:
            return Estimate(None, reason=self.reason)
        value, low, high = self.found.at(k)
        return Estimate(value, low=low, high=high)


def extrapolate_report(counts: Counts, how: Uncertainty, wanted: Wanted) -> Report:
    """Predictions of every model at larger k, with what they rest on.

    Errors: DataError when no model's counts allow a prediction.
    """
    wanted.checked()
    lines = [
        _look(counts, s, family, how, wanted, _ks(counts, wanted))
        for family in wanted.families
        for s in range(len(counts.series))
    ]
    if all(line.found is None for line in lines):
        raise DataError(lines[0].name, lines[0].reason, "make more attempts at more tasks")
    tables = [_table(counts, [x for x in lines if x.family == f], f) for f in wanted.families]
    if wanted.fit is None and len(counts.series) <= _FEW_SERIES:
        tables += [_models_table(counts, x) for x in lines if x.found is not None]
    return Report(
        tables=tuple(tables),
        data=_tidy(counts, lines, how, wanted),
        caption=caption(lines, how),
        notes=(*reading_notes(counts), *ahead_notes(lines, wanted.fit)),
        signature=_signature(counts, lines, how, wanted),
        charts=_charts(lines, wanted),
    )


def _ks(counts: Counts, wanted: Wanted) -> tuple[int, ...]:
    """The k's to predict at: those asked for, or multiples of the attempts there are."""
    if wanted.to:
        return wanted.to
    known = max(largest_known(counts.n[counts.rows_of(s)]) for s in range(len(counts.series)))
    return tuple(min(factor * known, FARTHEST) for factor in _FACTORS)


def _look(
    counts: Counts, s: int, family: str, how: Uncertainty, wanted: Wanted, to: tuple[int, ...]
) -> Ahead:
    rows, series = counts.rows_of(s), counts.series[s]
    n, c = counts.n[rows], counts.c[rows]
    reason = refusal(n, c)
    if reason:
        return Ahead(series, family, n, c, to, None, reason)
    known = largest_known(n)
    ks = {*to, known, *_spaced(1, max(*to, known), _DRAWN)}
    if wanted.target is not None:
        ks |= set(_spaced(max(*to, known), FARTHEST, _SOUGHT))
    try:
        found = extrapolate(
            n,
            c,
            sorted(ks),
            mirrored=family == "pass^",
            fit=wanted.fit,
            level=how.level,
            population=how.population,
            clusters=cluster_codes(counts, counts.task_codes[rows]),
            resamples=how.resamples,
            seed=how.seed,
            purpose=" ".join((*series, family)),
        )
    except ValueError as error:
        return Ahead(series, family, n, c, to, None, str(error))
    return Ahead(series, family, n, c, to, found, "", wanted.target)


def _spaced(low: int, high: int, count: int) -> list[int]:
    found: list[int] = np.unique(np.geomspace(low, high, count).round().astype(np.int64)).tolist()
    return found


def _table(counts: Counts, lines: Sequence[Ahead], family: str) -> Table:
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


def _models_table(counts: Counts, line: Ahead) -> Table:
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


def _tidy(counts: Counts, lines: Sequence[Ahead], how: Uncertainty, wanted: Wanted) -> Table:
    names = (
        "model", *counts.group_names, "metric", "k", "estimate", "low", "high", "level",
        "population", "fit", "weight", "backtest", "backtest_k", "backtest_from", "beyond",
        "tasks", "n_min", "n_max", "note",
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for x in lines:
        size = (len(x.n), int(x.n.min()), int(x.n.max()))
        if x.found is None:
            rows += [
                (*x.series, f"{x.family}{k}", k, *[None] * 3, how.level, how.population,
                 wanted.fit, *[None] * 4, None, *size, x.reason)
                for k in x.to
            ]  # fmt: skip
            continue
        known, few, fit = x.found.known, x.found.few, wanted.fit or "weighed"
        rest: tuple[Cell, ...]
        head: tuple[Cell, ...]
        ks = sorted({known, *x.to})
        for k in ks:
            rest = (known, few, "yes" if k > known else "no", *size, "")
            head = (*x.series, f"{x.family}{k}", k)
            rows.append(
                (*head, *x.found.at(k), how.level, how.population, fit, 1.0, x.found.error, *rest)
            )
            if wanted.fit is None:
                rows += [
                    (*head, float(m.values[x.found.ks == k][0]), None, None, None, how.population,
                     m.name, m.weight, m.error, *rest)
                    for m in x.found.models
                ]  # fmt: skip
        if x.target is not None:
            name = f"k for {x.family}k = {x.target:g}"
            rows.append(
                (*x.series, name, None, *_whole(x), how.level, how.population, fit, 1.0,
                 x.found.error, known, few, None, *size, reach_words(x))
            )  # fmt: skip
    return Table(tuple(Column(name) for name in names), tuple(rows))


def _signature(
    counts: Counts, lines: Sequence[Ahead], how: Uncertainty, wanted: Wanted
) -> dict[str, object]:
    entries: dict[str, object] = {
        "extrapolate": families_named(wanted.families),
        "to": ",".join(map(str, lines[0].to)),
        "target": wanted.target,
        "fit": wanted.fit or "weighed",
        "interval": f"{how.level:g} {how.population}",
        "cluster": how.cluster,
        "refits": how.resamples,
        "seed": how.seed,
    }
    return signature(counts, (), **entries)


def _charts(lines: Sequence[Ahead], wanted: Wanted) -> tuple[Chart, ...]:
    """The data, what is predicted with its band, and for a lone series each model."""
    shown = [x for x in lines if x.found is not None]
    lone = len({x.series for x in shown}) == 1
    known = {x.found.known for x in shown if x.found is not None}
    rules = [Rule(x=float(known.pop()), text="attempts made")] if len(known) == 1 else []
    if wanted.target is not None:
        rules.append(Rule(y=wanted.target, text=f"target {wanted.target:g}"))
    rows: list[dict[str, object]] = []
    points: list[dict[str, object]] = []
    for x in shown:
        rows += _drawn(x, lone)
        points += [
            {"k": k, "value": x.estimate(k).value, "model": x.name, "metric": f"{x.family}k"}
            for k in x.found.ks.tolist()  # type: ignore[union-attr]
            if k <= x.found.known  # type: ignore[union-attr]
        ]
    named = families_named(wanted.families)
    chart = curves(
        rows, x="k", y="value", low="low", high="high", colour="fit" if lone else "model",
        facet="metric" if len(wanted.families) > 1 else "", points=points, rules=rules,
        title=f"{named} beyond the attempts made",
        subtitle=shown[0].name if lone else "", x_title="k", y_title=named, log_x=True,
    )  # fmt: skip
    return (chart,)


def _drawn(line: Ahead, lone: bool) -> list[dict[str, object]]:
    """Rows of one series' lines: the weighed models with their band, and each by itself."""
    found = line.found
    assert found is not None
    reach = line.reach
    end = max(*line.to, found.known, 3 * reach.k if reach is not None and reach.k else 0.0)
    inside = [i for i, k in enumerate(found.ks.tolist()) if k <= end]
    head = {"model": line.name, "metric": f"{line.family}k"}
    name = found.models[0].name if len(found.models) == 1 else "weighed"
    rows: list[dict[str, object]] = [
        head | {"fit": name, "k": int(found.ks[i]), "value": float(found.values[i]),
                "low": float(found.low[i]), "high": float(found.high[i])}
        for i in inside
    ]  # fmt: skip
    if lone and len(found.models) > 1:
        rows += [
            head | {"fit": m.name, "k": int(found.ks[i]), "value": float(m.values[i]),
                    "low": None, "high": None}
            for m in found.models
            for i in inside
            if m.weight >= _SHOWN_WEIGHT and found.ks[i] >= found.known
        ]  # fmt: skip
    return rows
