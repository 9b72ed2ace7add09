"""Which k's: those that are computed, and those that a table shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from passk_cli.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BANDS = (POINTWISE, SIMULTANEOUS) = ("pointwise", "simultaneous")
MOST_POINTS = 100_000


@dataclass(frozen=True)
class Grid:
    """Which k's of a curve are computed.

    points : about so many, every one where there are no more; None for every k.
    max_k : the largest; None for the largest that the data supports.
    ks : these and no others, where there are any.
    """

    points: int | None = 40
    max_k: int | None = None
    ks: tuple[int, ...] = ()

    def up_to(self, last: int) -> NDArray[np.int64]:
        """The k's from 1 to the last, or to max_k.

        >>> Grid(points=4).up_to(100).tolist()
        [1, 2, 5, 10, 22, 100]
        """
        import numpy as np

        last = last if self.max_k is None else min(self.max_k, last)
        if self.ks:
            return np.array([k for k in sorted(self.ks) if k <= last] or [last])
        if self.points is None and last > MOST_POINTS:
            raise ParameterError(
                f"--points all: {last:,} k's are too many; name a number, or a --max-k"
            )
        if self.points is None or last <= self.points:
            return np.arange(1, last + 1)
        spread = np.rint(np.geomspace(1, last, self.points)).astype(np.int64)
        return np.union1d(spread, telling(last))

    @property
    def points_text(self) -> int | str:
        """For the signature."""
        if self.ks:
            return ",".join(map(str, sorted(self.ks)))
        return "all" if self.points is None else self.points


def telling(last: int) -> list[int]:
    """The k's a table shows: 1, 2, 5, 10, 100, 1000, … and the last.

    >>> telling(30), telling(2000)
    ([1, 2, 5, 10, 30], [1, 2, 5, 10, 100, 1000, 2000])
    """
    round_ones = (1, 2, 5, *(10**d for d in range(1, len(str(last)))))
    return [*(k for k in round_ones if k < last), last]


def steps(last: int) -> list[int]:
    """Where a gain is measured: from 1 to 10 to 100, as far as the curve goes; or to its end.

    >>> steps(250), steps(7), steps(1)
    ([1, 10, 100], [1, 7], [1])
    """
    from passk_cli.metrics.registry import USUAL_K

    within = [k for k in USUAL_K if k <= last]
    return within if len(within) > 1 else sorted({1, last})
