"""A leaderboard as a page shows it: each number with its interval drawn beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from passk_cli.charts.axes import Axis, axis_from_values, tick_labels
from passk_cli.render.style import Style, cell_parts
from passk_cli.report.model import MARK, QUANTITIES, Board, BoardRow, Column
from passk_cli.text import printable

# Room at both ends of a drawn interval, as a share of the range; a letter of a tick, and the room
# beside it, in percent of the width.
_ROOM, _LETTER, _BESIDE = 0.04, 4.5, 2.0


class NumberView(NamedTuple):
    """A number: its text, its interval in words, its letters, its sort key, and its drawing.

    interval : places of the limits, in percent.  dots : that of the value, or of both ends of a
        range.
    """

    value: str
    limits: str
    letters: str
    key: str
    why: str
    interval: tuple[float, float] | None
    dots: tuple[float, ...]


class MetricView(NamedTuple):
    """A metric: its name and meaning, the ticks of its axis, and what is known of its models.

    lower : whether less of it is better.  tested : whether models are ranked at it.
    percent : whether its numbers are percentages.
    """

    name: str
    meaning: str
    ticks: tuple[tuple[float, str], ...]
    lower: bool
    tested: bool
    percent: bool


class RowView(NamedTuple):
    """A row: model, places and numbers at each metric, and other cells."""

    model: str
    places: tuple[str, ...]
    numbers: tuple[NumberView, ...]
    extra_cells: tuple[str, ...]


class BoardView(NamedTuple):
    """A leaderboard with its texts ready.

    others : name, meaning and class of the other columns: "kept" if one of its cells is marked, so
        that narrow screens show it.  ranked : whether models are ranked at some metric.
    """

    metrics: tuple[MetricView, ...]
    extra_columns: tuple[tuple[str, str, str], ...]
    entries: tuple[RowView, ...]
    ranked: bool


def board_view(board: Board, style: Style) -> BoardView:
    """The board with numbers rounded, and intervals placed."""
    axes, metrics = [], []
    for at, column in enumerate(board.metrics):
        numbers = [entry.numbers[at] for entry in board.entries]
        unit = next((number.unit for number in numbers), "share")
        ends = [end for n in numbers for end in (*n.ends, n.low, n.high)]
        axis = replace(axis_from_values(ends, margin=_ROOM, share=unit == "share"), length=100.0)
        words = tick_labels(axis, style.percent, lambda text: _BESIDE + _LETTER * len(text))
        ticks = tuple(
            (round(place, 1), "$" * (unit == "$") + text) for place, text in words.items()
        )
        axes.append(axis)
        metrics.append(MetricView(
            printable(column.header), printable(column.meaning), ticks, unit in QUANTITIES,
            any(entry.places[at] for entry in board.entries), style.percent and unit == "share",
        ))  # fmt: skip
    entries = tuple(
        RowView(
            printable(entry.model), entry.places,
            tuple(_numbers(entry, board.metrics, axes, style)),
            tuple(" ".join(filter(None, cell_parts(cell, column, style)))
                  for cell, column in zip(entry.extra_cells, board.extra_columns, strict=True)),
        )
        for entry in board.entries
    )  # fmt: skip
    extra_columns = tuple(
        (printable(column.header), column.meaning,
         "kept" if any(MARK in str(entry.extra_cells[at]) for entry in board.entries) else "other")
        for at, column in enumerate(board.extra_columns)
    )  # fmt: skip
    return BoardView(
        tuple(metrics), extra_columns, entries, any(metric.tested for metric in metrics)
    )


def _numbers(
    entry: BoardRow, columns: tuple[Column, ...], axes: list[Axis], style: Style
) -> Iterator[NumberView]:
    for number, column, axis in zip(entry.numbers, columns, axes, strict=True):
        value, limits = cell_parts(number, column, style)
        # An end that is not finite lies at the edge.
        low, high, *ends = (
            None if end is None else round(min(max(axis.place(end), 0.0), 100.0), 1)
            for end in (number.low, number.high, *number.ends)
        )
        interval = None if low is None or high is None else (low, high)
        yield NumberView(
            value, limits if interval else "", number.letters,
            "" if number.value is None else repr(float(number.value)), printable(number.reason),
            interval, tuple(dict.fromkeys(end for end in ends if end is not None)),
        )  # fmt: skip
