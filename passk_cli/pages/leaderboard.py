"""The leaderboard of a report page, which draws the interval of each estimate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from passk_cli.charts.axes import Axis, axis_from_values, tick_label_by_position
from passk_cli.render.style import Style, cell_parts
from passk_cli.report import data_types
from passk_cli.report.data_types import Column, Leaderboard, LeaderboardRow
from passk_cli.text import printable

# _ROOM is the empty space at both ends of an axis, as a share of the axis range. _LETTER is the
# width of a letter, and _BESIDE is the space around a tick label, both in percent of the axis
# width.
_ROOM, _LETTER, _BESIDE = 0.04, 4.5, 2.0


class EstimateView(NamedTuple):
    """An estimate for the page template, with texts, a sort key, and positions in the drawing.

    interval_positions : positions of the limits on the axis, in percent.
    value_point_positions : positions of the value, or of both ends of a range, in percent.
    """

    value_text: str
    limits: str
    tie_letters: str
    sort_key: str
    tooltip: str
    interval_positions: tuple[float, float] | None
    value_point_positions: tuple[float, ...]


class MetricView(NamedTuple):
    """A metric for the page template.

    ticks : for each tick of the axis, the position in percent and the label.
    lower_is_better : whether lower values are better.  tested : whether tests rank the models by
        this metric.
    """

    name: str
    meaning: str
    ticks: tuple[tuple[float, str], ...]
    lower_is_better: bool
    tested: bool
    percent: bool


class RowView(NamedTuple):
    """A row of the leaderboard: model, ranks and estimates for each metric, and further cells."""

    model: str
    ranks: tuple[str, ...]
    numbers: tuple[EstimateView, ...]
    extra_cells: tuple[str, ...]


class LeaderboardView(NamedTuple):
    """A leaderboard with rounded numbers and printable texts.

    extra_columns : name, meaning and CSS class of each further column.  Narrow screens show only
        extra columns with the class "kept", that is, columns with a marked cell.
    ranked : whether at least one metric ranks the models.
    """

    metrics: tuple[MetricView, ...]
    extra_columns: tuple[tuple[str, str, str], ...]
    entries: tuple[RowView, ...]
    ranked: bool


def leaderboard_view(board: Leaderboard, style: Style) -> LeaderboardView:
    """The leaderboard with rounded estimates, and with positions for drawing intervals."""
    axes, metrics = [], []
    for at, column in enumerate(board.metrics):
        numbers = [entry.estimates[at] for entry in board.entries]
        unit = next((number.unit for number in numbers), "share")
        ends = [end for n in numbers for end in (*n.range_ends, n.low, n.high)]
        axis = replace(axis_from_values(ends, margin=_ROOM, share=unit == "share"), length=100.0)
        words = tick_label_by_position(axis, style.percent, lambda t: _BESIDE + _LETTER * len(t))
        sign = "$" * (unit == "$")
        ticks = tuple((round(place, 1), sign + text) for place, text in words.items())
        axes.append(axis)
        metrics.append(MetricView(
            printable(column.header), printable(column.meaning), ticks,
            unit in data_types.AMOUNT_UNITS, any(entry.ranks[at] for entry in board.entries),
            style.percent and unit == "share",
        ))  # fmt: skip
    entries = tuple(
        RowView(
            printable(entry.model), entry.ranks,
            tuple(_numbers(entry, board.metrics, axes, style)),
            tuple(" ".join(filter(None, cell_parts(cell, column, style)))
                  for cell, column in zip(entry.extra_cells, board.extra_columns, strict=True)),
        )
        for entry in board.entries
    )  # fmt: skip
    extra_columns = tuple(
        (printable(column.header), column.meaning,
         "kept" if any(data_types.WARNING_SIGN in str(entry.extra_cells[at])
                       for entry in board.entries) else "other")
        for at, column in enumerate(board.extra_columns)
    )  # fmt: skip
    ranked = any(metric.tested for metric in metrics)
    return LeaderboardView(tuple(metrics), extra_columns, entries, ranked)


def _numbers(
    entry: LeaderboardRow, columns: tuple[Column, ...], axes: list[Axis], style: Style
) -> Iterator[EstimateView]:
    for number, column, axis in zip(entry.estimates, columns, axes, strict=True):
        value, limits = cell_parts(number, column, style)
        # Infinite limits are drawn at the end of the axis.
        low, high, *ends = (
            None if end is None else round(min(max(axis.position_of(end), 0.0), 100.0), 1)
            for end in (number.low, number.high, *number.range_ends)
        )
        interval = None if low is None or high is None else (low, high)
        yield EstimateView(
            value, limits if interval else "", number.tie_letters,
            "" if number.value is None else repr(float(number.value)), printable(number.reason),
            interval, tuple(dict.fromkeys(end for end in ends if end is not None)),
        )  # fmt: skip
