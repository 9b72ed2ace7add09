"""The power law of T*(k), where the best temperature takes enough values for one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.inference.weights import bootstrap_means
from passk_cli.laws.temperature import FEWEST_TEMPERATURES, best_by_k, power_laws
from passk_cli.metrics.pass_k import curve
from passk_cli.report.model import Cell, Column, Note, Table
from passk_cli.report.notes import first_few
from passk_cli.report.samples import Measured, Uncertainty, cluster_codes
from passk_cli.report.temperature.best import heat, model_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.outcomes.counts import Counts

# k's that T* is looked at for: all of them up to about twenty, then so many per curve.
_KS = 64
# An interval needs the law in nearly every resample, else it would be one of the lucky ones.
_MOSTLY = 0.95


@dataclass(frozen=True)
class Law:
    """T* = factor · k^exponent of one model, or why there is none.

    best : the temperatures that are T* at some k, increasing.  k_max : up to which k.
    low, high : limits of the exponent.  reason : why there is no law, or are no limits.
    """

    model: tuple[str, ...]
    best: tuple[str, ...]
    k_max: int
    exponent: float = math.nan
    factor: float = math.nan
    low: float | None = None
    high: float | None = None
    reason: str = ""

    @property
    def fitted(self) -> bool:
        """Whether there is a law."""
        return not math.isnan(self.exponent)


def find_laws(counts: Counts, measured: Sequence[Measured], how: Uncertainty) -> list[Law]:
    """The power law of pass@k's best temperature, for each model with two temperatures or more.

    T*(k) is taken at every k up to the fewest attempts any of the temperatures has (64 of them
    when they are more); temperatures with one attempt somewhere have no k to vary and are left
    out.  The limits are those of resampled tasks.
    """
    models: dict[tuple[str, ...], dict[str, Measured]] = {}
    for one in measured:
        if one.n.min() > 1:
            models.setdefault(model_of(one), {}).setdefault(heat(one), one)
    laws = []
    for model, mine in models.items():
        ordered = sorted(mine.values(), key=lambda one: float(heat(one)))
        shared = ordered[0].tasks
        for one in ordered[1:]:
            shared = np.intersect1d(shared, one.tasks)
        if len(ordered) > 1 and len(shared):
            laws.append(_law(counts, model, ordered, shared, how))
    return laws


def _law(
    counts: Counts,
    model: tuple[str, ...],
    ordered: Sequence[Measured],
    shared: NDArray[np.int64],
    how: Uncertainty,
) -> Law:
    k_max = min(int(one.n.min()) for one in ordered)
    ks = np.unique(np.geomspace(1, k_max, _KS).round().astype(np.int64))
    curves = []
    for one in ordered:
        here = np.isin(one.tasks, shared)
        curves.append(curve(one.n[here], one.c[here], k_max)[0][:, ks - 1])
    values = np.stack(curves, axis=1)  # tasks × temperatures × k's
    temperatures = np.array([float(heat(one)) for one in ordered])
    means = values.mean(axis=0)
    best = tuple(heat(ordered[i]) for i in np.unique(best_by_k(means)))
    exponent, factor = (found[0] for found in power_laws(temperatures, ks, means[None]))
    if math.isnan(exponent):
        return Law(model, best, k_max, reason=_why_not(best))
    draws = bootstrap_means(
        values.reshape(len(values), -1), how.resamples, how.seed,
        clusters=cluster_codes(counts, shared),
    ).reshape(-1, *means.shape)  # fmt: skip
    exponents = power_laws(temperatures, ks, draws)[0]
    known = np.isfinite(exponents)
    if known.mean() < _MOSTLY:
        reason = (
            f"without an interval: in {100 * (1 - known.mean()):.0f} % of the resamples T* takes"
            f" fewer than {FEWEST_TEMPERATURES} temperatures"
        )
        return Law(model, best, k_max, float(exponent), float(factor), reason=reason)
    tail = (1 - how.level) / 2
    low, high = np.quantile(exponents[known], [tail, 1 - tail])
    return Law(model, best, k_max, float(exponent), float(factor), float(low), float(high))


def _why_not(best: Sequence[str]) -> str:
    values = f"T* takes {len(best)} value{'s' * (len(best) != 1)} ({', '.join(best)})"
    return f"not fitted: {values}, and a power law needs {FEWEST_TEMPERATURES} above 0"


def law_tables(counts: Counts, laws: Sequence[Law]) -> list[Table]:
    """The fitted ones; none when there are none."""
    columns = (
        Column("model"), *(Column(g) for g in counts.group_names[1:]), Column("exponent", "number"),
        Column("low", "number", True), Column("high", "number", True), Column("factor", "number"),
        Column("T* from"), Column("T* to"), Column("k up to", "count"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (*law.model, law.exponent, law.low, law.high, law.factor, law.best[0], law.best[-1],
         law.k_max)
        for law in laws
        if law.fitted
    ]  # fmt: skip
    return [Table(columns, tuple(rows), "T* = factor · k^exponent")] if rows else []


def law_notes(laws: Sequence[Law]) -> list[Note]:
    """Why there is no power law, or no interval, once per reason."""
    said: dict[str, list[str]] = {}
    for law in laws:
        if law.reason:
            said.setdefault(law.reason, []).append(" ".join(part or '""' for part in law.model))
    return [Note(f"power law T*(k) of {first_few(who)} {reason}") for reason, who in said.items()]
