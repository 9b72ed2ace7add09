"""Draws the intervals of a column as horizontal bars on one scale, for wide terminals."""

from __future__ import annotations

import math
from collections.abc import Sequence

from passk_cli.report.data_types import Cell, Estimate

# A column of drawn intervals is between NARROWEST_STRIP and _WIDEST characters wide.
NARROWEST_STRIP, _WIDEST = 20, 44
_TICK_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25)


def strip_column(cells: Sequence[Cell], room: int) -> tuple[str, list[tuple[str, str]]]:
    """A column of drawn intervals: its heading, which is a scale, and one bar per row.

    cells : the cells of the column.  Cells other than estimates with limits have an empty bar.
    room : the largest width of the column in characters.

    >>> heading, bars = strip_column([Estimate(0.3, low=0.2, high=0.4), None], 21)
    >>> heading
    '0.2      0.3      0.4'
    >>> bars
    [('━━━━━━━━━━●━━━━━━━━━━', ''), ('', '')]
    """
    width = min(room, _WIDEST)
    intervals = [_limits_and_value(cell) for cell in cells]
    numbers = [number for interval in intervals if interval for number in interval]
    if not numbers or not all(map(math.isfinite, numbers)):
        return "", [("", "")] * len(cells)
    low, high = min(numbers), max(numbers)
    step = next((s for s in _TICK_STEPS if (high - low) / s <= width / 10), _TICK_STEPS[-1])

    def column(value: float) -> int:
        return round((value - low) / ((high - low) or 1) * (width - 1))

    scale = [" "] * width
    for tick in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
        label = f"{tick * step:.{1 if step in (0.1, 0.2) else 2}f}".replace("-", "−")
        start = min(max(column(tick * step) - 1, 0), width - len(label))
        scale[start : start + len(label)] = label
    bars = []
    for interval in intervals:
        if interval is None:
            bars.append(("", ""))
            continue
        left, middle, right = map(column, interval)
        bar = "━" * (middle - left) + "●" + "━" * (right - middle)
        bars.append((" " * left + bar + " " * (width - right - 1), ""))
    return "".join(scale).rstrip(), bars


def _limits_and_value(cell: Cell) -> tuple[float, float, float] | None:
    if not isinstance(cell, Estimate):
        return None
    # A range has no single value that the bar could mark with a point.
    low, value, high = cell.low, cell.value if cell.range_upper_end is None else None, cell.high
    return None if low is None or value is None or high is None else (low, value, high)
