"""Where quantities are drawn: ranges, ticks, and labels that keep out of each other's way."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

# Ticks are few, no two of them closer than this share, and values among them have few digits.
_MOST_TICKS, _CLOSEST, _DIGITS = 12, 0.045, 4
# Values that are not about evenly spaced are ticks only where they are this few.
_MOST_UNEVEN = 5


@dataclass(frozen=True)
class Axis:
    """A range of values, its title, and whether it is drawn in proportion to the logarithm.

    ticks : where they stand; empty to leave it to the drawing.
    share : whether the values are shares, or differences of such.
    length : what it measures when drawn, as in columns of a terminal.
    """

    low: float
    high: float
    title: str = ""
    log: bool = False
    ticks: tuple[float, ...] = ()
    share: bool = False
    length: int = 1

    def place(self, value: float) -> float:
        """0 at the low end, `length` at the high one.

        >>> Axis(1, 100, log=True).place(10)
        0.5
        """
        low, high, value = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        return self.length * (value - low) / (high - low)

    def at(self, place: float) -> float:
        """The value at a place, as a share of the length."""
        if self.log:
            return float(self.low * (self.high / self.low) ** place)
        return self.low + place * (self.high - self.low)


def span(
    values: Iterable[float | None],
    title: str = "",
    *,
    log: bool | None = False,
    zero: bool = False,
    margin: float = 0.0,
    at_values: bool = False,
    share: bool = False,
) -> Axis:
    """The axis that holds these values; undefined ones count for nothing.

    log : None for logarithmic when the values span two decades; then only positive ones count.
    zero : whether a linear axis begins (or ends) at zero.  margin : room at both ends
        that are not that zero, as a share of the range.
    at_values : ticks at the values themselves, where they are few and short, and evenly spaced or
        very few; else at round values and the first of them.

    >>> span([1, 4, 16, 256], log=None, at_values=True).ticks
    (1, 4, 16, 256)
    """
    inside = sorted({float(v) for v in values if v is not None and math.isfinite(v)})
    if log is None:
        log = len(inside) > 1 and inside[0] > 0 and inside[-1] >= 100 * inside[0]
    if log:
        inside = [v for v in inside if v > 0]
    low, high = (inside[0], inside[-1]) if inside else (1.0, 10.0)
    if zero and not log:
        low, high = min(low, 0.0), max(high, 0.0)
    # Apart by rounding only is no range to divide by.
    if math.isclose(low, high, rel_tol=1e-12):
        low, high = (low / 2, high * 2) if log else (low - 0.5, high + 0.5)
    axis = Axis(low, high, title, log)
    ends = [axis.at(-margin), axis.at(1 + margin)]
    if zero and not log:
        ends = [0.0 if end == 0 else at for end, at in zip((low, high), ends, strict=True)]
    axis = Axis(ends[0], ends[1], title, log)
    short = all(v == float(f"{v:.{_DIGITS}g}") for v in inside)
    return replace(axis, ticks=_ticks(axis, inside if at_values and short else []), share=share)


def _ticks(axis: Axis, own: Sequence[float]) -> tuple[float, ...]:
    """These values where they are few and apart; else round ones."""
    choices = [own]
    if own and not axis.log:
        choices.append([own[0], *(v for v in _round_ticks(axis.low, axis.high) if v > own[0])])
    if axis.log:
        decades = range(math.floor(math.log10(axis.low)), math.ceil(math.log10(axis.high)) + 1)
        choices.append([f * 10.0**d for d in decades for f in (1, 2, 5)])
        choices += [[10.0**d for d in decades if d % step == 0] for step in range(1, len(decades))]
    for values in choices:
        inside = [v for v in values if axis.low <= v <= axis.high]
        gaps = [axis.place(b) - axis.place(a) for a, b in pairwise(inside)]
        uneven = values is own and gaps and max(gaps) > 2 * min(gaps)
        if 2 <= len(inside) <= (_MOST_UNEVEN if uneven else _MOST_TICKS) and min(gaps) >= _CLOSEST:
            return tuple(int(v) if v == int(v) else v for v in inside)
    return tuple(own) if len(own) == 1 else ()


def apart(
    places: Sequence[float], least: float, low: float = -math.inf, high: float = math.inf
) -> list[float]:
    """The places moved as little as needed to lie at least so far apart, in the same order.

    Neighbours that are too close form a block around their common centre; blocks that meet merge.
    low, high : the ends between which they stay, as far as there is room.

    >>> apart([0.5, 0.5], 0.1)
    [0.45, 0.55]
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    blocks: list[tuple[float, int]] = []

    def inside(centre: float, size: int) -> float:
        half = least * (size - 1) / 2
        return max(min(centre, high - half), low + half)

    for i in order:
        centre, size = inside(places[i], 1), 1
        while blocks and centre - blocks[-1][0] < least * (size + blocks[-1][1]) / 2:
            other, more = blocks.pop()
            centre, size = (centre * size + other * more) / (size + more), size + more
            centre = inside(centre, size)
        blocks.append((centre, size))
    spread_places = [c + least * (j - (size - 1) / 2) for c, size in blocks for j in range(size)]
    at = dict(zip(order, spread_places, strict=True))
    return [at[i] for i in range(len(places))]


def tick_words(axis: Axis, percent: bool) -> dict[float, str]:
    """Place → label of each tick; shares as percentages when asked."""
    ends = (axis.low, axis.high)
    ticks = axis.ticks or (ends if axis.log else _round_ticks(*ends))
    if percent and axis.share:
        return {axis.place(v): f"{_number(round(100 * v, 10))}%" for v in ticks}
    return {axis.place(v): _number(v) for v in ticks}


def _round_ticks(low: float, high: float) -> list[float]:
    """About five round values inside a range."""
    step = 10.0 ** math.floor(math.log10((high - low) / 5))
    step *= next(f for f in (1, 2, 5, 10) if (high - low) / (f * step) <= 6)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _number(value: float) -> str:
    """A tick in words: 0.2, 1,000, 2M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e5, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if letter == 'k' else size):g}{letter}"
    return f"{value:,.6g}" if value == int(value) else f"{value:g}"
