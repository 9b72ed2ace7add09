"""The chart of extrapolations: data, predictions with their band, target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from passk_cli.report.charts import Rule, curves
from passk_cli.report.extrapolate_words import families_named

if TYPE_CHECKING:
    from passk_cli.report.extrapolate import Ahead
    from passk_cli.report.model import Chart

# Single models of a lone series are drawn from this weight on.
_SHOWN_WEIGHT = 0.05


def ahead_chart(lines: Sequence[Ahead], families: Sequence[str], target: float | None) -> Chart:
    """The data, what is predicted with its band, and for a lone series each model."""
    shown = [x for x in lines if x.found is not None]
    lone = len({x.series for x in shown}) == 1
    known = {x.found.known for x in shown if x.found is not None}
    rules = [Rule(x=float(known.pop()), text="attempts made")] if len(known) == 1 else []
    if target is not None:
        rules.append(Rule(y=target, text=f"target {target:g}"))
    rows: list[dict[str, object]] = []
    points: list[dict[str, object]] = []
    for x in shown:
        rows += _drawn(x, lone)
        points += [
            {"k": k, "value": x.estimate(k).value, "model": x.name, "metric": f"{x.family}k"}
            for k in x.found.ks.tolist()  # type: ignore[union-attr]
            if k <= x.found.known  # type: ignore[union-attr]
        ]
    named = families_named(families)
    return curves(
        rows, x="k", y="value", low="low", high="high", colour="fit" if lone else "model",
        facet="metric" if len(families) > 1 else "", points=points, rules=rules,
        title=f"{named} beyond the attempts made",
        subtitle=shown[0].name if lone else "", x_title="k", y_title=named, log_x=True,
    )  # fmt: skip


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
