"""The power law of T*(k), where the best temperature takes enough values for one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.activity import steps
from passk_cli.commands.temperature.rivals import heat, model_of
from passk_cli.inference.weights import bootstrap_means
from passk_cli.laws.temperature import FEWEST_TEMPERATURES, best_by_k, power_laws
from passk_cli.message import Said
from passk_cli.metrics.pass_k import curve
from passk_cli.report.model import Cell, Column, Estimate, Note, Table
from passk_cli.report.words import first_few, plural, series_name
from passk_cli.study.confidence import Confidence
from passk_cli.study.fact import Fact, Size
from passk_cli.study.lead import on_shared_tasks
from passk_cli.study.pivot import head
from passk_cli.study.values import Series, TaskValues

if TYPE_CHECKING:
    from numpy.typing import NDArray

# k's that T* is looked at for: all of them up to about twenty, then so many per curve.
_KS = 64
# An interval needs the law in nearly every resample, else it would be one of the lucky ones.
_MOSTLY = 0.95


@dataclass(frozen=True)
class Law:
    """T* = factor · k^exponent of one model, or why there is none.

    best : the temperatures that are T* at some k, increasing.  k_max : up to which k.
    exponent : with its limits, and why there are none.
    """

    best: tuple[str, ...]
    k_max: int
    exponent: Fact

    @property
    def model(self) -> Series:
        """The model and its groups, without the temperature."""
        return model_of(self.exponent.series)


def find_laws(values: Sequence[TaskValues], confidence: Confidence) -> list[Law]:
    """The power law of pass@k's best temperature, for each model with two temperatures or more.

    T*(k) is taken at every k up to the fewest attempts any of the temperatures has (64 of them
    when they are more); temperatures with one attempt somewhere have no k to vary and are left
    out.  The limits are those of resampled tasks.
    """
    models: dict[Series, dict[str, TaskValues]] = {}
    for rates in values:
        if rates.n.min() > 1:
            models.setdefault(model_of(rates.series), {}).setdefault(heat(rates), rates)
    laws = []
    for temperatures in steps(models.values(), "computing", "models"):
        increasing = sorted(temperatures.values(), key=lambda rates: float(heat(rates)))
        k_max = min(int(rates.n.min()) for rates in increasing)
        shared = on_shared_tasks(increasing)
        if len(shared) > 1 and len(shared[0].tasks):
            laws.append(_law(shared, k_max, confidence))
    return laws


def _law(shared: Sequence[TaskValues], k_max: int, confidence: Confidence) -> Law:
    ks = np.unique(np.geomspace(1, k_max, _KS).round().astype(np.int64))
    curves = [curve(rates.n, rates.c, k_max)[0][:, ks - 1] for rates in shared]
    values = np.stack(curves, axis=1)  # tasks × temperatures × k's
    temperatures = np.array([float(heat(rates)) for rates in shared])
    means = values.mean(axis=0)
    best = tuple(heat(shared[i]) for i in np.unique(best_by_k(means)))
    exponent, factor = (float(rates[0]) for rates in power_laws(temperatures, ks, means[None]))
    n = np.concatenate([rates.n for rates in shared])
    model, _, *groups = shared[0].series
    fact = Fact(
        (model, "", *groups), "pass@k", None, Estimate(None, reason=_why_not(best), share=False),
        size=Size(len(values), int(n.min()), int(n.max())), method="percentile",
        level=confidence.level, more={"fact": "power law", "factor": None},
    )  # fmt: skip
    if math.isnan(exponent):
        return Law(best, k_max, fact)
    draws = bootstrap_means(
        values.reshape(len(values), -1), confidence.resamples, confidence.seed,
        clusters=shared[0].clusters,
    ).reshape(-1, *means.shape)  # fmt: skip
    estimate = _with_limits(exponent, power_laws(temperatures, ks, draws)[0], confidence.level)
    return Law(best, k_max, replace(fact, estimate=estimate, more={**fact.more, "factor": factor}))


def _with_limits(exponent: float, draws: NDArray[np.float64], level: float) -> Estimate:
    """The exponent with the limits that its draws give, or why they give none."""
    finite = np.isfinite(draws)
    if finite.mean() < _MOSTLY:
        reason = (
            f"without an interval: in {100 * (1 - finite.mean()):.0f} % of the resamples T* takes"
            f" fewer than {FEWEST_TEMPERATURES} temperatures"
        )
        return Estimate(exponent, reason=reason, share=False)
    tail = (1 - level) / 2
    low, high = np.quantile(draws[finite], [tail, 1 - tail])
    return Estimate(exponent, low=float(low), high=float(high), share=False)


def _why_not(best: Sequence[str]) -> str:
    return (
        f"not fitted: T* takes {plural(len(best), 'value')} ({', '.join(best)}); a power law needs"
        f" {FEWEST_TEMPERATURES} above 0"
    )


def law_tables(groups: Sequence[str], laws: Sequence[Law]) -> list[Table]:
    """The fitted ones; none when there are none."""
    columns = (
        *head(groups), Column("exponent", "number"), Column("low", "number", True),
        Column("high", "number", True), Column("factor", "number"), Column("T* from"),
        Column("T* to"), Column("k up to", "count"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for law in laws:
        e = law.exponent.estimate
        if e.value is not None:
            factor, ends = law.exponent.more["factor"], (law.best[0], law.best[-1])
            rows.append((*law.model, e.value, e.low, e.high, factor, *ends, law.k_max))
    return [Table(columns, tuple(rows), "T* = factor · k^exponent")] if rows else []


def law_notes(laws: Sequence[Law]) -> list[Said]:
    """Why there is no power law, or no interval, once per reason."""
    models: dict[str, list[str]] = {}
    for law in laws:
        if law.exponent.estimate.reason:
            models.setdefault(law.exponent.estimate.reason, []).append(series_name(law.model))
    return [
        Note(f"power law T*(k) of {first_few(names)} {reason}") for reason, names in models.items()
    ]
