"""Curves of other metrics than pass@k and pass^k, whatever they need to know of the attempts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from passk_cli.errors import ParameterError
from passk_cli.metrics.registry import Metric, parse
from passk_cli.report.curve import Plan, Point
from passk_cli.report.estimate import Line, evaluate
from passk_cli.report.samples import Uncertainty, measure

if TYPE_CHECKING:
    from passk_cli.outcomes.counts import Counts


def parse_curves(text: str) -> tuple[Metric, ...]:
    """Metrics at k = 1 from names with k for the number; pass@k and pass^k are there anyway.

    >>> [metric.name for metric in parse_curves("maj@k,gpass@k:0.5,pass@k")]
    ['maj@1', 'gpass@1:0.5']
    """
    found = []
    for part in filter(None, (name.strip() for name in text.split(","))):
        family, at, argument = part.partition("@k")
        if not at:
            raise ParameterError(f"-m {part}: a curve is named as best@k or gpass@k:0.5")
        found.append(parse(f"{family}@1{argument}"))
    return tuple(m for m in dict.fromkeys(found) if m.family not in ("pass@", "pass^"))


def further(
    counts: Counts, s: int, ks: Sequence[int], how: Uncertainty, plan: Plan
) -> list[tuple[Point, Line]]:
    """The points of one series at these k's, as `passk estimate` gives them."""
    metrics = [replace(metric, k=k) for metric in plan.more for k in ks]
    found = []
    for one in measure(counts, metrics, plan.short_tasks, only=(s,)):
        line = evaluate(counts, one, how)
        metric, argument = one.metric, one.metric.argument
        point = Point(
            one.series, metric.family, metric.k, line.estimate, line.se, None, line.size,
            line.method, None if how.method == "none" else how.level, line.flaw,
            argument.removeprefix(str(metric.k)),
        )  # fmt: skip
        found.append((point, line))
    return found
