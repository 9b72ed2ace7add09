"""Pictures of a plan: how wide intervals will be and what is detected, against tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from passk_cli.report.basis import Basis
from passk_cli.report.designs import DESIGN, Aims, in_design
from passk_cli.report.notes import plural
from passk_cli.report.plan_pairs import words
from passk_cli.report.plot import Plot, curves

_POINTS = 30


def charts(bases: Sequence[Basis], aims: Aims, start: str) -> tuple[Plot, ...]:
    """Width and smallest difference against tasks, a line per number of attempts.

    The designs of the table are marked.  A width above that of all possible values is left out.
    start : what is planned from, for the subtitle.
    """
    low, high = min(aims.tasks), max(aims.tasks)
    if low == high:
        low, high = max(low // 4, 2), 4 * high
    between = np.geomspace(low, high, _POINTS).round().astype(int).tolist()
    rows, beyond = _possible(_rows(bases, aims, sorted({*between, *aims.tasks})))
    marked, _ = _possible(_rows(bases, aims, aims.tasks))
    facet = "metric" if len(bases) > 1 else ""
    lone = "" if facet else f"{bases[0].metric.name}: "
    gone = " · widths above 1 are left out" if beyond else ""
    return tuple(
        curves(
            rows, x="tasks", y=y, colour="attempts", facet=facet, x_title="tasks", log_x=True,
            points=marked, y_title=y, y_domain=None, title=lone + title,
            subtitle=f"{start} · {said}",
        )
        for y, title, said in (
            ("width", f"Width of the {100 * aims.level:g} % interval",
             f"normal approximation, new tasks{gone}"),
            ("difference", f"Smallest difference detected with power {aims.power:g}",
             f"two-sided test at {100 * (1 - aims.level):.3g} % · correlation {words(bases)}"),
        )
    )  # fmt: skip


def _rows(bases: Sequence[Basis], aims: Aims, sizes: Iterable[int]) -> list[dict[str, Any]]:
    sizes, rows = list(sizes), []
    for basis in bases:
        for n in aims.attempts:
            for tasks in sizes:
                line = in_design(DESIGN, basis, aims, tasks, n)
                rows.append({
                    "tasks": tasks, "width": line.width(aims), "difference": line.difference,
                    "attempts": plural(n, "attempt"), "metric": basis.metric.name,
                })  # fmt: skip
    return [row for row in rows if row["width"] is not None]


def _possible(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], bool]:
    """The rows without widths that no interval of shares has, and whether there were any."""
    beyond = any(row["width"] > 1.0 for row in rows)
    return [row | {"width": None} if row["width"] > 1.0 else row for row in rows], beyond
