"""Computes the ranges and ticks of axes, and places labels so that they do not overlap."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product

from passk_cli.report.phrases import duration_text

# An axis has ticks at the values of the data only if there are at most _MOST_TICKS values and no
# value has more than _DIGITS significant digits.
_MOST_TICKS, _DIGITS = 12, 4
# On a time axis in minutes, each tick is about four times the previous tick: 1 s, 4 s, 15 s, 1 min
# …
_TIME_TICKS_IN_MINUTES = (1 / 60, 1 / 15, 1 / 4, 1, 4, 15, 60, 240, 960, 3840, 15000, 60000)
_TICK_FORMATTER_BY_UNIT: Mapping[str, Callable[[float], str]] = {
    "min": duration_text,
    "year": "{:g}".format,
}
# An axis has at most _MAX_UNEVEN_TICKS ticks if the values of the data are unevenly spaced.
_MAX_UNEVEN_TICKS = 5


@dataclass(frozen=True)
class Axis:
    """A linear or logarithmic axis of a chart.

    preferred_tick_values : values that have ticks if there is enough room.
    required_ticks : values that keep their ticks longest.  If there is not enough room, other ticks
        are left out first.
    unit : "$" for money, "min" for times in minutes, "year" for dates.
    """

    low: float
    high: float
    title: str = ""
    log: bool = False
    preferred_tick_values: tuple[float, ...] = ()
    required_ticks: tuple[float, ...] = ()
    tick_label_by_value: Mapping[float, str] = field(default_factory=dict)
    unit: str = ""
    is_share: bool = False
    length: float = 1

    def position_of(self, value: float) -> float:
        """The position of a value on the axis, from 0 to `length`."""
        low, high, value = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        return self.length * (value - low) / (high - low)

    def value_at(self, place: float) -> float:
        """The value at a position, which is given as a share of the length."""
        if self.log:
            return float(self.low * (self.high / self.low) ** place)
        return self.low + place * (self.high - self.low)


def axis_from_values(
    values: Iterable[float | None], title: str = "", *, log: bool | None = False,
    zero: bool = False, margin: float = 0.0, at_values: bool = False, share: bool = False,
) -> Axis:  # fmt: skip
    """An axis with a range that contains all finite values.

    log : whether the axis is logarithmic.  A logarithmic axis ignores values that are not positive.
        With None, the axis is logarithmic if all values are positive and the largest value is at
        least 100 times the smallest value.
    zero : whether a linear axis must contain zero.
    margin : width of the empty margin at each end, as a share of the range of the values.  If
        `zero` is true, an end of the axis at zero has no margin.
    at_values : whether ticks may be at the values.  Ticks are at round numbers instead if there are
        many values, if a value has more than four significant digits, or if labels would overlap.
    """
    inside = sorted({float(v) for v in values if v is not None and math.isfinite(v)})
    if log is None:
        log = len(inside) > 1 and inside[0] > 0 and inside[-1] >= 100 * inside[0]
    if log:
        inside = [v for v in inside if v > 0]
    low, high = (inside[0], inside[-1]) if inside else (1.0, 10.0)
    if zero and not log:
        low, high = min(low, 0.0), max(high, 0.0)
    # If all values are equal except for rounding, the axis gets a range around the values.
    if math.isclose(low, high, rel_tol=1e-12):
        low, high = (low / 2, high * 2) if log else (low - 0.5, high + 0.5)
    axis = Axis(low, high, title, log)
    ends = [axis.value_at(-margin), axis.value_at(1 + margin)]
    if zero and not log:
        ends = [0.0 if end == 0 else at for end, at in zip((low, high), ends, strict=True)]
    short = all(v == float(f"{v:.{_DIGITS}g}") for v in inside)
    ticks = tuple(inside) if at_values and short else ()
    return Axis(ends[0], ends[1], title, log, ticks, is_share=share)


def spread_positions(
    places: Sequence[float], least: float, low: float = -math.inf, high: float = math.inf
) -> list[float]:
    """New positions of labels, which are moved as little as possible so that they do not overlap.

    If neighbouring labels are too close, they form a block around the mean of their positions.
    Blocks that touch are merged.
    low, high : limits of the new positions.  The positions exceed these limits only if there is not
        enough room.
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    blocks: list[tuple[float, int]] = []

    def inside(centre: float, size: int) -> float:
        half = least * (size - 1) / 2
        return max(min(centre, high - half), low + half)

    for i in order:
        centre, size = inside(places[i], 1), 1
        while blocks and centre - blocks[-1][0] < least * (size + blocks[-1][1]) / 2:
            neighbour, neighbour_size = blocks.pop()
            total = size + neighbour_size
            centre = inside((centre * size + neighbour * neighbour_size) / total, total)
            size = total
        blocks.append((centre, size))
    spread_places = [c + least * (j - (size - 1) / 2) for c, size in blocks for j in range(size)]
    at = dict(zip(order, spread_places, strict=True))
    return [at[i] for i in range(len(places))]


def tick_label_by_position(
    axis: Axis, percent: bool = False, extent: Callable[[str], float] = lambda _: 0.0
) -> dict[float, str]:
    """Maps the position of each tick on the axis to the label of the tick.

    Ticks are at `axis.preferred_tick_values` if there are few of these values, and otherwise at
    round values. The labels of two ticks never touch each other.
    """
    for required_ticks, values in product((axis.required_ticks, ()), _tick_choices(axis)):
        inside = [v for v in values if axis.low <= v <= axis.high]
        gaps = [axis.position_of(b) - axis.position_of(a) for a, b in pairwise(inside)]
        uneven = values is axis.preferred_tick_values and gaps and max(gaps) > 2 * min(gaps)
        if not inside or len(inside) > (_MAX_UNEVEN_TICKS if uneven else _MOST_TICKS):
            continue
        words = _tick_label_by_value(axis, sorted({*inside, *required_ticks}), percent)
        room = {v: (axis.position_of(v), extent(text) / 2) for v, text in words.items()}
        for required in required_ticks:
            place, half = room[required]
            far = {v for v, (at, width) in room.items() if abs(at - place) >= width + half}
            words = {v: text for v, text in words.items() if v in required_ticks or v in far}
        ends = [room[v] for v in words]
        disjoint = all(b[0] - a[0] >= a[1] + b[1] for a, b in pairwise(ends))
        if disjoint and (len(words) > 1 or values is axis.preferred_tick_values):
            return {room[v][0]: text for v, text in words.items()}
    value = axis.high if axis.log else _ticks_at_round_values(axis.low, axis.high, 6)[-1]
    return {axis.position_of(value): _tick_label(float(f"{value:.3g}"), percent and axis.is_share)}


def _tick_choices(axis: Axis) -> Iterator[Sequence[float]]:
    if axis.log and axis.unit == "min":
        times = _TIME_TICKS_IN_MINUTES
        yield from (times, times[1::2], times[::3])
    ticks = axis.preferred_tick_values
    yield ticks
    gaps = [b - a for a, b in pairwise(ticks)]
    if gaps and max(gaps) < 1.01 * min(gaps) and not axis.log:
        yield from (ticks[::step] for step in (2, 5) if len(gaps) % step == 0)
        steps = range(2, len(gaps) * bool(axis.tick_label_by_value) + 1)
        choices = [ticks[::-step] for step in steps]
        yield from sorted(choices, key=lambda choice: not {*axis.required_ticks} <= {*choice})
    if axis.log and axis.high >= 10 * axis.low:
        decades = range(math.floor(math.log10(axis.low)), math.ceil(math.log10(axis.high)) + 1)
        yield [f * 10.0**d for d in decades for f in (1, 2, 5)]
        for step in range(1, len(decades)):
            yield [10.0**d for d in decades if d % step == 0]
        return
    for most in range(6, 1, -1):
        values = _ticks_at_round_values(axis.low, axis.high, most)
        yield [ticks[0], *(v for v in values if v > ticks[0])] if ticks else values
    for most in (3, 6):
        values = _ticks_at_round_values(axis.low, axis.high, most)
        ends = sorted({*values[:1], *values[-1:]})
        yield sorted({0.0, max(ends, key=abs)}) if 0.0 in values else ends


def _ticks_at_round_values(low: float, high: float, most: int) -> list[float]:
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    step *= next(f for f in (1, 2, 5, 10) if (high - low) / (f * step) <= most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _tick_label_by_value(axis: Axis, values: Sequence[float], percent: bool) -> dict[float, str]:
    if axis.unit in _TICK_FORMATTER_BY_UNIT:
        return {v: _TICK_FORMATTER_BY_UNIT[axis.unit](v) for v in values}
    similar = axis.unit and max(values) < 10 * min(values)
    digits = max(len(f"{v:g}".partition(".")[2]) for v in values) if similar else 0
    percent = percent and axis.is_share
    words = {v: f"{v:,.{max(digits, 2)}f}" if digits else _tick_label(v, percent) for v in values}
    return {v: axis.tick_label_by_value.get(v) or axis.unit + text for v, text in words.items()}


def _tick_label(value: float, percent: bool) -> str:
    """The label of a tick, for example 0.2, −0.2, 20%, 1,000 or 2M."""
    if percent:
        return f"{_tick_label(round(100 * value, 10), False)}%"
    if value < 0:
        return f"−{_tick_label(-value, False)}"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e5, "k")):
        if value >= size:
            return f"{value / (1e3 if letter == 'k' else size):g}{letter}"
    return f"{value:,.6g}" if value == int(value) else f"{value:g}"
