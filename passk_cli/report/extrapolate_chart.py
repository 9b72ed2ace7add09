"""The chart of extrapolations: data, predictions with their band, target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from passk_cli.report.extrapolate_words import families_named
from passk_cli.report.plot import Plot, Rule, curves

if TYPE_CHECKING:
    from passk_cli.inference.extrapolation import Extrapolation
    from passk_cli.report.extrapolate import Ahead

# Single models of a lone series are drawn from this weight on.
_SHOWN_WEIGHT = 0.05
# A line goes on so many times beyond the k that reaches its target.
_PAST = 3


def ahead_chart(lines: Sequence[Ahead], families: Sequence[str], target: float | None) -> Plot:
    """The data, what is predicted with its band, and for a lone series each model."""
    shown = [(x, x.found) for x in lines if x.found is not None]
    lone = len({x.series for x, _ in shown}) == 1
    known = {found.known for _, found in shown}
    rules = [Rule(x=float(max(known)), text="attempts made")] if len(known) == 1 else []
    if target is not None:
        rules.append(Rule(y=target, text=f"target {target:g}"))
    end = max(_end(x, found) for x, found in shown)
    rows = [row for x, found in shown for row in _lines(x, found, end, lone)]
    points = [
        {key: row[key] for key in ("model", "fit", "metric", "k", "value")}
        for x, found in shown
        for row in _lines(x, found, found.known, lone=False)
    ]
    named = families_named(families)
    return curves(
        rows, x="k", y="value", low="low", high="high", colour="fit" if lone else "model",
        facet="metric" if len(families) > 1 else "", points=points, rules=rules,
        title=f"{named} beyond the attempts made",
        subtitle=shown[0][0].name if lone else "", x_title="k", y_title=named, log_x=True,
    )  # fmt: skip


def _end(line: Ahead, found: Extrapolation) -> float:
    """How far a line is worth drawing: to the last k asked for, and past the target's."""
    reach = line.reach
    past = _PAST * reach.k if reach is not None and reach.k is not None else 0.0
    return min(max(*line.to, found.known, past), float(found.ks[-1]))


def _lines(
    line: Ahead, found: Extrapolation, end: float, lone: bool
) -> list[dict[str, str | float | None]]:
    """Rows of one series: the weighed models with their band, and each alone beyond the data."""
    head: dict[str, str | float | None] = {"model": line.name, "metric": f"{line.family}k"}
    name = found.models[0].name if len(found.models) == 1 else "weighed"
    inside = [i for i, k in enumerate(found.ks.tolist()) if k <= end]
    rows = [
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
