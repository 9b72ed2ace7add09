"""A leaderboard as a page shows it: each number with its interval drawn beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from passk_cli.render.style import Style, parts
from passk_cli.report.model import QUANTITIES, Board, Cell, Column, Estimate
from passk_cli.text import printable

# Room at both ends of a drawn interval, in percent of its width, and its most ticks.
_ROOM, _TICKS = 4.0, 5


@dataclass(frozen=True)
class Scale:
    """The range that intervals of one metric are drawn in, with ticks at round values."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """The place of a value in the drawing, in percent; of one outside, its edge."""
        share = (value - self.low) / (self.high - self.low)
        return round(_ROOM + (100 - 2 * _ROOM) * min(max(share, 0.0), 1.0), 1)


@dataclass(frozen=True)
class NumberView:
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


@dataclass(frozen=True)
class MetricView:
    """A metric: its name and meaning, the ticks of its scale, and what is known of its models.

    lower : whether less of it is better.  tested : whether models are ranked at it.
    percent : whether its numbers are percentages.
    """

    name: str
    meaning: str
    ticks: tuple[tuple[float, str], ...]
    lower: bool
    tested: bool
    percent: bool


@dataclass(frozen=True)
class RowView:
    """A row: model, places and numbers at each metric, and other cells."""

    model: str
    places: tuple[str, ...]
    numbers: tuple[NumberView, ...]
    others: tuple[str, ...]


@dataclass(frozen=True)
class BoardView:
    """A leaderboard with its texts ready."""

    metrics: tuple[MetricView, ...]
    others: tuple[tuple[str, str], ...]
    entries: tuple[RowView, ...]

    @property
    def ranked(self) -> bool:
        """Whether models are ranked at some metric."""
        return any(metric.tested for metric in self.metrics)


def board_view(board: Board, style: Style) -> BoardView:
    """The board with numbers rounded, and intervals placed."""
    columns = zip(*(entry.numbers for entry in board.entries), strict=True)
    scales, metrics = [], []
    for at, (column, numbers) in enumerate(zip(board.metrics, columns, strict=True)):
        scale = _scale(numbers)
        unit = next((number.unit for number in numbers), "share")
        scales.append(scale)
        metrics.append(MetricView(
            printable(column.header), printable(column.meaning),
            tuple((scale.at(tick), _tick(tick, unit, style)) for tick in scale.ticks),
            unit in QUANTITIES, any(entry.places[at] for entry in board.entries),
            style.percent and unit == "share",
        ))  # fmt: skip
    entries = tuple(
        RowView(
            printable(entry.model),
            entry.places,
            tuple(_numbers(entry.numbers, board.metrics, scales, style)),
            tuple(_texts(entry.others, board.others, style)),
        )
        for entry in board.entries
    )
    others = tuple((printable(column.header), column.meaning) for column in board.others)
    return BoardView(tuple(metrics), others, entries)


def _texts(cells: Sequence[Cell], columns: Sequence[Column], style: Style) -> Iterator[str]:
    for cell, column in zip(cells, columns, strict=True):
        yield " ".join(filter(None, parts(cell, column, style)))


def _numbers(
    numbers: Sequence[Estimate], columns: Sequence[Column], scales: Sequence[Scale], style: Style
) -> Iterator[NumberView]:
    for number, column, scale in zip(numbers, columns, scales, strict=True):
        value, limits = parts(number, column, style)
        interval = None
        if number.low is not None and number.high is not None:
            interval = scale.at(number.low), scale.at(number.high)
        dots = tuple(dict.fromkeys(scale.at(end) for end in number.ends if end is not None))
        key = "" if number.value is None else repr(float(number.value))
        yield NumberView(
            value, limits if interval else "", number.letters, key, printable(number.reason),
            interval, dots,
        )  # fmt: skip


def _scale(numbers: Iterable[Estimate]) -> Scale:
    """The range that holds all values and limits, with a few round ticks.

    >>> _scale([Estimate(0.5, low=0.31, high=0.69)]).ticks
    (0.4, 0.5, 0.6)
    """
    ends = [end for n in numbers for end in (*n.ends, n.low, n.high)]
    known = [end for end in ends if end is not None and math.isfinite(end)] or [0.0, 1.0]
    low, high = min(known), max(known)
    if math.isclose(low, high):
        low, high = low - 0.5, high + 0.5
    for step in (factor * 10.0**power for power in range(-12, 13) for factor in (1, 2, 5)):
        first, last = math.ceil(low / step), math.floor(high / step)
        if last - first < _TICKS:
            break
    return Scale(low, high, tuple(round(step * at, 12) for at in range(first, last + 1)))


def _tick(value: float, unit: str, style: Style) -> str:
    """A tick's value in as many digits as it has."""
    percent = style.percent and unit == "share"
    text = f"{value * (100 if percent else 1):,.6g}" + "%" * percent
    return f"${text}" if unit == "$" else text
