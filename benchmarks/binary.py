"""Differences of −1, 0 and 1: exact size and power of the tests, exact coverage of the intervals.

Run: python benchmarks/binary.py
Enumerates every table of b and c; writes three sections of comparison.md.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from comparison import Row, write
from numpy.typing import NDArray

from passk_cli.inference.discordance import score_limits, suissa_shuster
from passk_cli.inference.intervals import IntervalData, interval
from passk_cli.inference.paired_tests import mcnemar

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
LEVEL = 0.05
EXACT = "Exact"


class Tables:
    """All (b, c) for that many tasks, and their probabilities."""

    def __init__(self, tasks: int) -> None:
        from scipy.special import gammaln

        self.tasks = tasks
        splits = [(b, c) for b in range(tasks + 1) for c in range(tasks + 1 - b)]
        self.b, self.c = np.array(splits).T
        self.rest = tasks - self.b - self.c
        parts = (self.b, self.c, self.rest)
        self._ways = gammaln(tasks + 1) - sum(gammaln(part + 1) for part in parts)

    def chances(self, first: float, second: float) -> Floats:
        """P(b, c): only the first model passes b of the tasks, and only the second passes c."""
        from scipy.special import xlogy

        logs = xlogy(self.b, first) + xlogy(self.c, second)
        logs = logs + xlogy(self.rest, max(1 - first - second, 0.0))
        chances: Floats = np.exp(self._ways + logs)
        return chances

    def tests(self) -> tuple[Floats, Floats, Floats]:
        """p of McNemar's test, of its mid-p version, of Suissa and Shuster's."""
        from scipy.stats import binom

        exact = mcnemar(self.b, self.c)
        exact_p = np.where(self.b == self.c, 0.0, binom.pmf(self.b, self.b + self.c, 0.5))
        return exact, exact - exact_p, suissa_shuster(self.tasks, self.b, self.c)

    def limits(self, method: str) -> tuple[Floats, Floats]:
        """Lower and upper limits of every table. The limits of (c, b) are the mirror image."""
        low = np.empty(len(self.b))
        high = np.empty(len(self.b))
        place = {
            pair: at for at, pair in enumerate(zip(self.b.tolist(), self.c.tolist(), strict=True))
        }
        for (b, c), at in place.items():
            if b < c:
                continue
            low[at], high[at] = self.limits_of_one(method, b, c)
            low[place[c, b]], high[place[c, b]] = -high[at], -low[at]
        return low, high

    def limits_of_one(self, method: str, b: int, c: int) -> tuple[float, float]:
        if method == "paired-score":
            return score_limits(self.tasks, b, c)
        d = np.repeat([1.0, -1.0, 0.0], [b, c, self.tasks - b - c])
        limits = interval(IntervalData(d, -1.0, 1.0), method)
        return limits.low or 0.0, limits.high or 0.0


def size_rows() -> Iterator[Row]:
    for tasks in (6, 10, 20, 30, 50, 100, 164):
        tables = Tables(tasks)
        tests = tables.tests()
        sizes = np.zeros(3)
        for rate in np.sin(np.linspace(0, np.pi / 2, 400)) ** 2:
            chances = tables.chances(rate / 2, rate / 2)
            sizes = np.maximum(sizes, [chances[p <= LEVEL].sum() for p in tests])
        yield tasks, *(f"{100 * size:.2f}" for size in sizes)


def power_rows() -> Iterator[Row]:
    for tasks, first, second in ((20, 0.2, 0.05), (30, 0.15, 0.001), (50, 0.1, 0.02)):
        tables = Tables(tasks)
        chances = tables.chances(first, second)
        powers = [chances[p <= LEVEL].sum() for p in tables.tests()]
        yield tasks, first, second, *(f"{100 * power:.1f}" for power in powers)


def populations() -> Iterator[tuple[float, float]]:
    """Chances that only the first passes, that only the second does; the first is the better."""
    means = [*np.linspace(0, 0.98, 99), 0.001, 0.002, 0.005, 0.015, 0.985, 0.99, 0.995]
    for mean in means:
        for share in (0.0, 0.001, 0.003, *np.geomspace(0.01, 1, 14)):
            second = share * (1 - mean) / 2
            yield mean + second, second


def interval_rows() -> Iterator[Row]:
    for tasks in (3, 5, 10, 20, 50, 164, 7, 13, 35, 90):
        tables = Tables(tasks)
        methods = ("guard", "paired-score")
        limits = [tables.limits(method) for method in methods]
        covered = np.ones(2)
        for first, second in populations():
            chances, mean = tables.chances(first, second), first - second
            covered = np.minimum(
                covered,
                [chances[(a <= mean + 1e-12) & (mean - 1e-12 <= z)].sum() for a, z in limits],
            )
        chances = tables.chances(0.15, 0.05)
        widths = [float(chances @ (high - low)) for low, high in limits]
        yield tasks, *(f"{100 * share:.2f}" for share in covered), *(f"{w:.3f}" for w in widths)


def main() -> None:
    tests = ("McNemar %", "mid-p %", "Suissa–Shuster %")
    write("binary-size", ("tasks", *tests), size_rows(), f"{EXACT}; largest size over all rates")
    write("binary-power", ("tasks", "only the first", "only the second", *tests), power_rows(),
          f"{EXACT} power")  # fmt: skip
    names = ("`guard`", "`paired-score`")
    head = ("tasks", *(f"{name} covers %" for name in names), *(f"{name} width" for name in names))
    write("binary-interval", head, interval_rows(), f"{EXACT}; lowest coverage at 95 %")


if __name__ == "__main__":
    main()
