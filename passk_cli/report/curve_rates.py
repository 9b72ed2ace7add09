"""Exact success rates → the same curves as from data, without sampling error."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import ParameterError
from passk_cli.metrics.heterogeneity import moments_of_rates, rate_curves
from passk_cli.metrics.registry import USUAL_K
from passk_cli.report.curve import AT, DEFICIT, DELTA, HAT, Found, Plan, Point, charts, tables, tidy
from passk_cli.report.heterogeneity import Climb, Moment, Rates
from passk_cli.report.model import Estimate, Note, Report
from passk_cli.report.signature import span
from passk_cli.version import __version__

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.files.rates import Family

    Floats = NDArray[np.float64]

USUAL_MAX_K = 10


def rates_report(families: Sequence[Family], plan: Plan) -> Report:
    """The curves of tasks whose success rates are known: plug-in values, no intervals."""
    if plan.band != "pointwise" or plan.short_tasks != "empty":
        option = "--band" if plan.band != "pointwise" else "--short-tasks"
        raise ParameterError(f"{option} is for outcomes; exact rates have no sampling error")
    last = plan.max_k or USUAL_MAX_K
    ks = plan.ks(last)
    found = Found(
        [point for family in families for point in _points(family, ks, plan.delta)],
        [climb for family in families for climb in _climbs(family, last)],
        [_rates(family, plan.delta) for family in families],
    )
    sizes = [len(family.rates) for family in families]
    count = f"{len(families)} famil{'y' if len(families) == 1 else 'ies'}"
    tasks = f"{span(min(sizes), max(sizes))} task{'s' * (max(sizes) != 1)}"
    caption = f"{count} of {tasks} with known success rates"
    return Report(
        tables=tables(found),
        data=tidy(found),
        caption=caption,
        notes=(Note("exact rates: no sampling error, no intervals"),),
        signature={
            "passk": __version__,
            "curves": f"pass@k pass^k up to k={last}",
            "points": "all" if plan.points is None else plan.points,
            "exact rates of": ", ".join(family.name for family in families),
        },
        draw=lambda: charts(found, caption, caption),
    )


def _points(family: Family, ks: NDArray[np.int64], delta: bool) -> list[Point]:
    found = rate_curves(family.rates, ks)
    columns: list[tuple[str, Floats, Floats | None]] = [
        (AT, found.at, None),
        (HAT, found.hat, None),
    ]
    if delta:
        columns += [
            (DELTA, found.delta, found.delta_bound),
            (DEFICIT, found.deficit, found.deficit_bound),
        ]
    return [
        Point(
            (family.name,), metric, int(k), Estimate(float(value)),
            bound=None if bounds is None else float(bounds[i]), method="none", note="exact",
        )
        for metric, values, bounds in columns
        for i, (k, value) in enumerate(zip(ks, values, strict=True))
    ]  # fmt: skip


def _climbs(family: Family, last: int) -> list[Climb]:
    steps = [k for k in USUAL_K if k <= last]
    steps = steps if len(steps) > 1 else sorted({1, last})
    at = rate_curves(family.rates, np.array(steps)).at
    mean = float(family.rates.mean())
    even = -np.expm1(np.array(steps) * np.log1p(-mean)) if mean < 1 else np.ones(len(steps))
    return [
        Climb(
            (family.name,), start, k, Estimate(float(at[i + 1] - at[i])),
            even=float(even[i + 1] - even[i]), method="none", note="exact",
        )
        for i, (start, k) in enumerate(pairwise(steps))
    ]  # fmt: skip


def _rates(family: Family, moments: bool) -> Rates:
    found = moments_of_rates(family.rates)
    skewness = Estimate(found.skewness if found.variance > 0 else None, signed=True, share=False)
    told = {"mean": Estimate(found.mean), "sd": Estimate(found.sd), "skewness": skewness}
    ends = {"never": 0.0, "always": 1.0}
    never, always = (
        Moment(name, Estimate(float((family.rates == end).mean())), note="exact")
        for name, end in ends.items()
    )
    kept = tuple(Moment(name, e, note="exact") for name, e in told.items()) if moments else ()
    return Rates((family.name,), never, always, kept)
