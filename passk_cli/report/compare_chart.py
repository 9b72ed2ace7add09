"""Differences between models as a picture."""

from __future__ import annotations

from collections.abc import Sequence

from passk_cli.report.pairs import BETTER, WORSE, Comparison, Rules
from passk_cli.report.plot import Plot, Rule, forest


def differences(
    found: Sequence[Comparison], rules: Rules, baseline: str | None, judged: Sequence[str]
) -> tuple[Plot, ...]:
    """A forest of all differences, a panel per metric; no chart when none could be computed.

    judged : at what level, on how many tasks, with which intervals; for the subtitle.
    """
    if all(c.difference is None for c in found):
        return ()
    rows = [
        {
            "pair": _label(c, baseline),
            "metric": c.first.metric.name,
            "difference": c.difference,
            "low": c.interval.low if c.interval else None,
            "high": c.interval.high if c.interval else None,
            "told": c.verdict in (BETTER, WORSE),
        }
        for c in found
    ]
    margins = [Rule(x=x) for x in (-rules.margin, rules.margin) if rules.margin]
    dashed = [f"dashed: ±{rules.margin:g}"] if rules.margin else []
    chart = forest(
        rows,
        label="pair",
        value="difference",
        low="low",
        high="high",
        facet="metric",
        told="told",
        rules=[Rule(x=0.0, dashed=False), *margins],
        title=f"Difference to {baseline}" if baseline else "Differences between models",
        subtitle=" · ".join([f"○ {judged[0]}", *dashed, *judged[1:], "each by itself"]),
        x_title="difference",
    )
    return (chart,)


def _label(c: Comparison, baseline: str | None) -> str:
    model, *groups = c.first.series
    pair = model if baseline else f"{model} − {c.second.series[0]}"
    return " · ".join([pair, *(group or '""' for group in groups)])
