"""Pictures of a plan: how wide intervals will be and what is detected, against tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from passk_cli.commands.plan.designs import Designs, smallest_difference
from passk_cli.commands.plan.outlook import correlation_words
from passk_cli.report.plot import Plot, curves
from passk_cli.report.words import plural

_POINTS = 20


def plots(designs: Designs) -> tuple[Plot, ...]:
    """Width and smallest difference against tasks, a line per number of attempts.

    The designs of the table are marked.
    """
    outlooks, aims = designs.outlooks, designs.aims
    low, high = min(aims.tasks), max(aims.tasks)
    if low == high:
        low, high = max(low // 4, 2), 4 * high
    between = np.geomspace(low, high, _POINTS).round().astype(int).tolist()
    rows = _rows(designs, sorted({*between, *aims.tasks}))
    marked = [row for row in rows if row["tasks"] in aims.tasks]
    facet = "metric" if len(outlooks) > 1 else ""
    lone = "" if facet else f"{outlooks[0].metric.name}: "
    return tuple(
        curves(
            rows, x="tasks", y=y, colour="attempts", facet=facet, x_title="tasks", log_x=True,
            points=marked, y_title=y, y_domain=None, title=lone + title,
            subtitle=f"{designs.start} · {qualifier}",
        )
        for y, title, qualifier in (
            ("width", f"Width of the {100 * aims.level:g} % interval",
             "guard interval, new tasks"),
            ("difference", f"Smallest difference detected with power {aims.power:g}",
             f"two-sided test at {100 * (1 - aims.level):.3g} %"
             f" · correlation {correlation_words(outlooks)}"),
        )
    )  # fmt: skip


def _rows(designs: Designs, sizes: Sequence[int]) -> list[dict[str, Any]]:
    """One per metric, number of attempts and number of tasks, where there is a standard error."""
    aims, rows = designs.aims, []
    for outlook in designs.outlooks:
        for n in aims.attempts:
            widths = outlook.widths(n, sizes, aims.level)
            for tasks, width in zip(sizes, widths, strict=True):
                if width is not None:
                    difference, _ = smallest_difference(outlook, aims, tasks, n)
                    rows.append({
                        "tasks": tasks, "width": width, "difference": difference,
                        "attempts": plural(n, "attempt"), "metric": outlook.metric.name,
                    })  # fmt: skip
    return rows
