"""Places the names of points in a scatter plot so that they do not overlap."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

# passk tries to place a label at each distance in _DISTANCES from its point. A label at the
# smallest distance needs no leader line.
_DISTANCES = (6.0, 14.0, 22.0, 32.0, 44.0, 58.0, 74.0, 92.0, 112.0)
# _DIRECTIONS lists the directions from a point to its label, in degrees and in order of preference.
_DIRECTIONS = (0, 180, 315, 45, 225, 135, 270, 90, 340, 20, 200, 160)
_OBSTACLE_PENALTY = 20.0
# A line is an obstacle in pieces of about _PIECE_LENGTH.
_PIECE_LENGTH = 12.0
_POINT_HALF_WIDTH = 3.2

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class PlacedName:
    """The position of a name in a scatter plot.

    box : left, top, right and bottom edge of the name.
    point : position (x, y) of the point that has this name.
    leader_end : end of the line that connects the point to the name, or None if the name is next to
        the point.
    """

    point_index: int
    box: Box
    point: tuple[float, float]
    leader_end: tuple[float, float] | None

    @property
    def leader_length(self) -> float:
        """The length of the line from the point to the name, or 0 if there is no such line."""
        return math.dist(self.point, self.leader_end or self.point)

    @property
    def boxes_of_name_and_leader(self) -> list[Box]:
        """The box of the name, and small boxes that cover the line from the point to the name."""
        boxes, end = [self.box], self.leader_end or self.point
        steps = int(math.dist(self.point, end) / 3)
        for step in range(2, steps):
            x, y = (a + (b - a) * step / steps for a, b in zip(self.point, end, strict=True))
            boxes.append((x - 0.5, y - 0.5, x + 0.5, y + 0.5))
        return boxes


def place_names(
    points: Sequence[tuple[float, float]], widths: Sequence[float], height: float, frame: Box,
    obstacles: Iterable[Box] = (),
) -> list[PlacedName]:  # fmt: skip
    """Positions for as many names as fit into a scatter plot without overlap.

    The names of points that come first in `points` have priority.

    points : position (x, y) of each point that needs a name.
    widths : width of each name.
    height : height of all names.
    frame : the box that must contain all names.
    obstacles : boxes that names should not cover.

    >>> [name.point_index for name in place_names([(5, 5), (5, 6)], [20, 20], 8, (0, 0, 60, 30))]
    [0, 1]
    """
    half = _POINT_HALF_WIDTH
    circles = [(x - half, y - half, x + half, y + half) for x, y in points]
    taken, placed, avoided = [*circles], list[PlacedName](), [*obstacles]
    for place, (point, width) in enumerate(zip(points, widths, strict=True)):
        blocked = [box for box in taken if box != circles[place]]
        candidates = [
            name for name in _candidate_positions(place, point, width, height)
            if _is_inside(name.box, frame) and _is_free(name, blocked)
        ]  # fmt: skip
        free = sorted(candidates, key=lambda name: name.leader_length + _OBSTACLE_PENALTY * sum(
            not _is_free(name, [box]) for box in avoided))  # fmt: skip
        placed += free[:1]
        taken += [part for name in free[:1] for part in name.boxes_of_name_and_leader]
    return placed


def boxes_along_line(points: Sequence[tuple[float, float]]) -> list[Box]:
    """Small boxes that cover a line through points, as obstacles for names.

    >>> boxes_along_line([(0, 0), (20, 10)])
    [(0.0, 0.0, 10.0, 5.0), (10.0, 5.0, 20.0, 10.0)]
    """
    boxes = []
    for (x1, y1), (x2, y2) in pairwise(points):
        pieces = max(1, round(math.hypot(x2 - x1, y2 - y1) / _PIECE_LENGTH))
        xs = [x1 + (x2 - x1) * i / pieces for i in range(pieces + 1)]
        ys = [y1 + (y2 - y1) * i / pieces for i in range(pieces + 1)]
        for (left, right), (start, end) in zip(pairwise(xs), pairwise(ys), strict=True):
            boxes.append((min(left, right), min(start, end), max(left, right), max(start, end)))
    return boxes


def _is_free(name: PlacedName, boxes: Iterable[Box]) -> bool:
    parts = name.boxes_of_name_and_leader
    return not any(_boxes_overlap(part, box) for box in boxes for part in parts)


def _candidate_positions(
    place: int, point: tuple[float, float], width: float, height: float
) -> Iterator[PlacedName]:
    x, y = point
    for distance in _DISTANCES:
        for angle in _DIRECTIONS:
            dx, dy = math.cos(math.radians(angle)), math.sin(math.radians(angle))
            end = (x + distance * dx, y + distance * dy)
            left = end[0] - width / 2 if abs(dx) < 0.3 else end[0] - width * (dx < 0)
            top = end[1] - height / 2 + height / 2 * (dy if abs(dx) < 0.3 else 0)
            leader = end if distance > _DISTANCES[0] else None
            yield PlacedName(place, (left, top, left + width, top + height), point, leader)


def _is_inside(box: Box, frame: Box) -> bool:
    return frame[0] <= box[0] and frame[1] <= box[1] and box[2] <= frame[2] and box[3] <= frame[3]


def _boxes_overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
