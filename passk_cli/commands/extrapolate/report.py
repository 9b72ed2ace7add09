"""Predictions of every series beyond its attempts: the report and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from passk_cli.activity import steps
from passk_cli.commands.extrapolate import CURVES
from passk_cli.commands.extrapolate.answer import answer
from passk_cli.commands.extrapolate.chart import ahead_chart
from passk_cli.commands.extrapolate.prediction import (
    Aim,
    Prediction,
    Refusal,
    predict,
)
from passk_cli.commands.extrapolate.sentences import caption, notes
from passk_cli.errors import DataError
from passk_cli.inference.extrapolation import FARTHEST, largest_known
from passk_cli.inference.futures import EX_GAUSSIAN, WEIGHED
from passk_cli.limits import refuse_many_steps
from passk_cli.metrics.registry import Metric
from passk_cli.report.model import Cell, Column, Estimate, Report, Table
from passk_cli.study.pivot import head
from passk_cli.study.study import Study

# By how much a prediction goes beyond the attempts when no k is named.
_FACTORS = (10, 100)
# Single fits are shown beside the weighed ones when there are no more series than this.
_FEW_SERIES = 2


def extrapolate_report(
    study: Study,
    curves: tuple[str, ...] = CURVES[:1],
    to: tuple[int, ...] = (),
    target: float | None = None,
    fit: str | None = None,
) -> Report:
    """Predictions of every series at larger k, with what they rest on.

    curves, target, fit : as of `Aim`.  to : its k's; empty for multiples of the attempts.
    Errors: DataError when no series' counts allow a prediction; ParameterError for attempts that
    are too many.
    """
    counts, confidence = study.counts, study.confidence
    refuse_many_steps("extrapolation", int(counts.n.max()), "thin out the attempts")
    families = [curve.removesuffix("k") for curve in curves]
    every = [rates for family in families for rates in study.values([Metric(family, 1)])]
    known = max(largest_known(rates.n) for rates in every)
    aim = Aim(curves, to or tuple(min(f * known, FARTHEST) for f in _FACTORS), target, fit)
    # Each has streams of its own, so threads change no number.
    with ThreadPoolExecutor() as pool:
        every_result = pool.map(lambda rates: predict(study, rates, aim), every)
        results = list(steps(every_result, "computing", "models", len(every)))
    predictions = [one for one in results if isinstance(one, Prediction)]
    refusals = [one for one in results if isinstance(one, Refusal)]
    if not predictions:
        raise DataError(refusals[0].rates.name, refusals[0].reason)
    tables = [_table(study, family, predictions, refusals, aim) for family in families]
    if len(counts.series) <= _FEW_SERIES:
        alone = (one for one in predictions if aim.fit_of(one.family) == WEIGHED)
        tables += [_models_table(one, aim.ks) for one in alone]
        tables += [_parts_table(one, aim.ks) for one in predictions if one.ahead.weighed]
    return study.report(
        [fact for one in results for fact in one.facts],
        tables,
        answer=answer(predictions, refusals, aim),
        context=caption(study, predictions, aim),
        messages=(*study.messages(()), *notes(predictions, refusals, aim)),
        plots=partial(ahead_chart, predictions, aim),
        extrapolate=",".join(curves),
        to=",".join(map(str, aim.ks)),
        target=target,
        fit=",".join(dict.fromkeys(map(aim.fit_of, families))),
        interval=None,
        level=confidence.level,
        population=confidence.population,
        cluster=confidence.cluster,
        resamples=confidence.resamples,
        seed=confidence.seed,
    )


def _table(
    study: Study,
    family: str,
    predictions: Sequence[Prediction],
    refusals: Sequence[Refusal],
    aim: Aim,
) -> Table:
    """Series down, k's across; the k of the target, and what the numbers rest on."""
    there = [one for one in predictions if one.family == family]
    knowns = {one.ahead.known for one in there}
    observed = there[0].known.name if len(knowns) == 1 else f"{family}n"
    several, sought = len(knowns) > 1, aim.target is not None and bool(there)
    names = head(study.counts.group_names)
    columns = [
        *names, *[Column("n", "count")] * several, Column(observed, "share"),
        *(Column(f"{family}{k}", "share") for k in aim.ks), Column("any rare tasks", "share"),
    ]  # fmt: skip
    if sought:
        columns += [Column(f"k for {aim.target:g}", "count"), Column("low", "count", True),
                    Column("high", "count", True)]  # fmt: skip
    columns += [
        Column("never passed" if family == "pass@" else "never failed", "count"),
        Column("backtest", "share"),
    ]  # fmt: skip
    if aim.fit_of(family) == EX_GAUSSIAN:
        columns += [Column("misfit", "amount"), Column("limit", "amount", True)]
    elif aim.fit_of(family) == WEIGHED:
        columns += [Column("fit"), Column("weight", "share", True)]
    there.sort(key=lambda one: (-(one.numbers[aim.ks[-1]].estimate.value or 0.0), one.rates.series))
    weighed = aim.fit_of(family) == WEIGHED
    rows = [_row(one, aim.ks, several, weighed) for one in there]
    empty: list[Cell] = [None] * (len(columns) - len(names))
    left = sorted(one.rates.series for one in refusals if one.rates.metric.family == family)
    rows += [(*series, *empty) for series in left]
    return Table(tuple(columns), tuple(rows))


def _row(one: Prediction, ks: Sequence[int], several: bool, weighed: bool) -> tuple[Cell, ...]:
    row: list[Cell] = [*one.rates.series, *[one.ahead.known] * several, one.known.estimate]
    row += [one.numbers[k].estimate for k in ks]
    row.append(one.rare)
    if one.reaches:
        row += one.target
    row += [one.open, Estimate(one.ahead.error, signed=True)]
    if one.ahead.misfit is not None:
        row += [one.ahead.misfit.excess, one.ahead.misfit.limit]
    elif weighed:
        best = max(one.ahead.models, key=lambda model: model.weight)
        row += [best.name, best.weight]
    return tuple(row)


def _parts_table(one: Prediction, ks: Sequence[int]) -> Table:
    """The law by itself, and the weighed fits that widen its interval."""
    ahead, weighed = one.ahead, one.ahead.weighed
    columns = (
        Column("fit"), Column("backtest", "share"),
        *(Column(f"{one.family}{k}", "share") for k in ks),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (name, Estimate(part.error, signed=True),
         *(Estimate(value, low=low, high=high) for value, low, high in map(part.at, ks)))
        for name, part in ((EX_GAUSSIAN, ahead.law), (WEIGHED, weighed)) if part is not None
    ]  # fmt: skip
    title = f"Each fit alone: {one.family}k of {one.rates.name} (the interval above holds both)"
    return Table(columns, tuple(rows), title)


def _models_table(one: Prediction, ks: Sequence[int]) -> Table:
    """What each of the weighed fits says by itself."""
    columns = (
        Column("fit"), Column("weight", "share"), Column("backtest", "share"),
        *(Column(f"{one.family}{k}", "share") for k in ks),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (m.name, m.weight, Estimate(m.error, signed=True), *(one.alone(m, k) for k in ks))
        for m in sorted(one.ahead.models, key=lambda m: -m.weight)
    ]
    title = f"Each fit alone: {one.family}k of {one.rates.name}"
    return Table(columns, tuple(rows), title)
