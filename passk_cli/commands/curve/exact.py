"""Exact success rates → the same curves as from data, without sampling error."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.commands.curve.curves import (
    CURVES,
    FAMILIES,
    Climb,
    Curves,
    facts_of,
    plots,
    signs,
    tables,
)
from passk_cli.commands.curve.grid import Grid, steps
from passk_cli.commands.curve.words import curve_answer
from passk_cli.metrics.heterogeneity import moments_of_rates, rate_curves
from passk_cli.report.model import Cell, Estimate, Note, Report
from passk_cli.report.words import span
from passk_cli.study.fact import Fact, Size, tidy
from passk_cli.version import __version__

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.files.rates import Family

USUAL_MAX_K = 10


def rates_report(
    families: Sequence[Family],
    grid: Grid,
    shown: Sequence[str] = CURVES,
    *,
    delta: bool = False,
) -> Report:
    """The curves of tasks whose success rates are known: plug-in values, no intervals.

    shown : which of CURVES.  delta : whether what uneven tasks do is told as well.
    """
    last = grid.max_k or USUAL_MAX_K
    every = [
        _curves(family, grid.up_to(last), delta).only(shown, every_k=bool(grid.ks))
        for family in families
    ]
    sizes = [len(family.rates) for family in families]
    count = f"{len(families)} famil{'y' if len(families) == 1 else 'ies'}"
    tasks = f"{span(min(sizes), max(sizes))} task{'s' * (max(sizes) != 1)}"
    caption = f"{count} of {tasks} with known success rates"
    return Report(
        tables=tuple(tables(every)),
        data=tidy(facts_of(every), (), ""),
        context=" · ".join((caption, *signs(every))),
        answer=(curve_answer(every, ()),),
        messages=(Note("exact rates have no sampling error, and so no intervals"),),
        signature={
            "passk": __version__,
            "curves": ",".join(shown),
            "max-k": last,
            "points": grid.points_text,
            "rates": ", ".join(family.name for family in families),
        },
        draw=partial(plots, every, caption, caption),
    )


def _curves(family: Family, ks: NDArray[np.int64], delta: bool) -> Curves:
    exact = rate_curves(family.rates, ks)
    values = {"pass@": exact.at, "pass^": exact.hat}
    bounds = {"delta_": exact.delta_bound, "deficit_": exact.deficit_bound}
    if delta:
        values |= {"delta_": exact.delta, "deficit_": exact.deficit}
    points = {
        FAMILIES[name]: [
            _fact(
                family, f"{name}{k}", value, k,
                **{"at_most": float(bounds[name][i])} if name in bounds else {},
            )
            for i, (k, value) in enumerate(zip(ks.tolist(), values[name].tolist(), strict=True))
        ]
        for name in values
    }  # fmt: skip
    moments = moments_of_rates(family.rates)
    skewness = Estimate(
        moments.skewness if moments.variance > 0 else None, signed=True, share=False
    )
    shapes = {"mean": Estimate(moments.mean), "sd": Estimate(moments.sd), "skewness": skewness}
    never, always = (float((family.rates == end).mean()) for end in (0, 1))
    return Curves(
        (family.name,),
        points,
        _climbs(family, int(ks[-1])),
        _fact(family, "never", never),
        _fact(family, "always", always),
        [_fact(family, name, shape) for name, shape in shapes.items()] if delta else (),
    )


def _climbs(family: Family, last: int) -> list[Climb]:
    ks = steps(last)
    at = rate_curves(family.rates, np.array(ks)).at
    mean = float(family.rates.mean())
    even = -np.expm1(np.array(ks) * np.log1p(-mean)) if mean < 1 else np.ones(len(ks))
    return [
        Climb(
            start,
            _fact(family, f"pass@{k}-pass@{start}", gain, k),
            _fact(family, f"pass@{k}-pass@{start} if equally hard", like_one, k),
        )
        for (start, k), gain, like_one in zip(
            pairwise(ks), np.diff(at).tolist(), np.diff(even).tolist(), strict=True
        )
    ]


def _fact(
    family: Family, name: str, value: float | Estimate, k: int | None = None, **more: Cell
) -> Fact:
    estimate = value if isinstance(value, Estimate) else Estimate(value)
    size = Size(len(family.rates))
    return Fact((family.name,), name, k, estimate, size=size, flaw="exact", more=more)
