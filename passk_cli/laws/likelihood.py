"""Likelihood of many fits at once, and the way to its maximum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from passk_cli.arrays import Bools, Floats


@dataclass(frozen=True)
class Likelihood:
    """Log-likelihood of the same cells under many weightings, one a fit.

    weights : (fits × cells), tasks behind each cell.
    small_gain : a fit is done when a step gains less.  damping : of the first step, and the last
    with which a fit that does not climb is tried again.
    """

    steps: ClassVar[int]
    small_gain: ClassVar[float]
    damping: ClassVar[tuple[float, float]]

    weights: Floats

    def look(self, place: Floats) -> tuple[Floats, ...]:
        """The log-likelihood (fits,) at each row of parameters, and what `step` needs of it."""
        raise NotImplementedError

    def step(self, place: Floats, damping: Floats, *seen: Floats) -> Floats:
        """The parameters after a Newton step.  seen : what `look` gave besides."""
        raise NotImplementedError

    def damped(self, damping: Floats, up: Bools) -> Floats:
        """The damping after steps that went up or did not."""
        raise NotImplementedError

    def only(self, fits: Bools) -> Self:
        """Some of the fits."""
        return replace(self, weights=self.weights[fits])

    def climb(self, place: Floats) -> Floats:
        """Moves each row of `place` (fits × parameters) to its maximum; the heights there."""
        law, open_ = self, np.arange(len(place))
        damping, seen = np.full(len(place), self.damping[0]), self.look(place)
        for _ in range(self.steps):
            there = law.step(place[open_], damping[open_], *(part[open_] for part in seen[1:]))
            ahead = law.look(there)
            gain = ahead[0] - seen[0][open_]
            up = gain > 0
            for now, after in zip((place, *seen), (there, *ahead), strict=True):
                now[open_[up]] = after[up]
            damping[open_] = self.damped(damping[open_], up)
            stay = np.where(up, gain >= self.small_gain, damping[open_] <= self.damping[1])
            if not stay.any():
                break
            if not stay.all():
                open_, law = open_[stay], law.only(stay)
        return seen[0]
