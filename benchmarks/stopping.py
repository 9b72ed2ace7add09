"""How often does `passk` report honest attempts as stopped early, and how often stopped ones?

Run: python benchmarks/stopping.py [--runs 500]
Simulates attempts whose number depends on nothing, on chance, on how hard the task is known to be,
or on what came out, and writes the table into benchmarks/stopping.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from measure import keep, table
from numpy.typing import NDArray

from passk_cli.inference.stopping import OPTIONAL_STOPPING_LEVEL, has_optional_stopping

Ints = NDArray[np.int64]
# n, c, attempts before stopping, and whether the last one passed. The last two may be unknown.
Cells = tuple[Ints, Ints, Ints | None, Ints | None]
Make = Callable[[np.random.Generator, NDArray[np.float64], int], Cells]
RATES = {"Beta(.5, 3)": (0.5, 3.0), "Beta(1, 4)": (1.0, 4.0), "Beta(2, 2)": (2.0, 2.0),
         "Beta(9, 1)": (9.0, 1.0), "Beta(.3, .5)": (0.3, 0.5)}  # fmt: skip
SIZES = [(10, 5), (20, 3), (20, 5), (50, 5), (164, 10)]


def honest(rng: np.random.Generator, p: NDArray[np.float64], n: Ints) -> Cells:
    passed = (rng.random((len(p), int(n.max()))) < p[:, None]) & (np.arange(n.max()) < n[:, None])
    return n, passed.sum(axis=1), None, passed[np.arange(len(n)), n - 1].astype(np.int64)


def fixed(rng: np.random.Generator, p: NDArray[np.float64], most: int) -> Cells:
    return honest(rng, p, np.full(len(p), most))


def lost(rng: np.random.Generator, p: NDArray[np.float64], most: int) -> Cells:
    return honest(rng, p, np.maximum(rng.binomial(most, 0.9, len(p)), 1))


def mixed(rng: np.random.Generator, p: NDArray[np.float64], most: int) -> Cells:
    return honest(rng, p, rng.choice([most, 2 * most], len(p)))


def by_hardness(rng: np.random.Generator, p: NDArray[np.float64], most: int) -> Cells:
    return honest(rng, p, np.where(p < np.median(p), 2 * most, most))


def by_rank(rng: np.random.Generator, p: NDArray[np.float64], *sizes: int) -> Cells:
    """The easiest tasks get the first of the sizes, the hardest the last."""
    hardness = np.argsort(np.argsort(-p)) * len(sizes) // len(p)
    return honest(rng, p, np.array(sizes)[hardness])


def tiers(rng: np.random.Generator, p: NDArray[np.float64], most: int) -> Cells:
    return by_rank(rng, p, most, 2 * most, 4 * most)


def with_ten_times_the_limit(rng: np.random.Generator, p: NDArray[np.float64], most: int) -> Cells:
    return by_rank(rng, p, 2 * most, 20 * most)


def known_roughly(rng: np.random.Generator, p: NDArray[np.float64], most: int) -> Cells:
    """Hardness is known to a factor of e^½; the hard half gets five times as many."""
    estimates = np.log(np.maximum(p, 1e-9)) + rng.normal(0, 0.5, len(p))
    return honest(rng, p, np.where(estimates < np.median(estimates), 5 * most, most))


def first_pass(rng: np.random.Generator, p: NDArray[np.float64], most: int) -> Cells:
    first = rng.geometric(np.maximum(p, 1e-9))
    passed = (first <= most).astype(np.int64)
    return np.minimum(first, most), passed, None, passed


def first_pass_counts(rng: np.random.Generator, p: NDArray[np.float64], most: int) -> Cells:
    n, c, *_ = first_pass(rng, p, most)
    return n, c, None, None


def replaced(rng: np.random.Generator, p: NDArray[np.float64], most: int) -> Cells:
    attempts, c, _, last = first_pass(rng, p, most)
    return np.ones_like(attempts), c, attempts, last


def batches(rng: np.random.Generator, p: NDArray[np.float64], most: int) -> Cells:
    """Up to three batches, until one has a pass."""
    return in_batches(rng, p, most, 3)


def many_batches(rng: np.random.Generator, p: NDArray[np.float64], most: int) -> Cells:
    return in_batches(rng, p, most, 30)


def in_batches(rng: np.random.Generator, p: NDArray[np.float64], size: int, count: int) -> Cells:
    passes = rng.binomial(size, p[:, None], (len(p), count))
    attempts = np.where((passes > 0).any(axis=1), (passes > 0).argmax(axis=1), count - 1) + 1
    passes_kept = np.where(np.arange(count) < attempts[:, None], passes, 0).sum(axis=1)
    return attempts * size, passes_kept, None, None


KINDS: dict[str, Make] = {
    "n fixed": fixed, "a tenth lost": lost, "n or 2n": mixed, "2n where hard": by_hardness,
    "n, 2n, 4n": tiers, "2n, 20n": with_ten_times_the_limit, "n, 5n, roughly": known_roughly,
    "first pass, in order": first_pass, "first pass, counts": first_pass_counts,
    "replaced": replaced, "3 batches": batches, "30 batches": many_batches,
}  # fmt: skip


def share(make: Make, law: tuple[float, float], tasks: int, most: int, runs: int) -> float:
    """The percentage of runs that are reported as stopped."""
    rng = np.random.default_rng(0)
    draws = (make(rng, rng.beta(*law, tasks), most) for _ in range(runs))
    return 100 * sum(has_optional_stopping(*cells) for cells in draws) / runs


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=500)
    runs = parser.parse_args().runs
    rows = [
        [name, tasks, most, *(f"{share(m, law, tasks, most, runs):.1f}" for m in KINDS.values())]
        for name, law in RATES.items()
        for tasks, most in SIZES
    ]
    error = 100 * np.sqrt(OPTIONAL_STOPPING_LEVEL * (1 - OPTIONAL_STOPPING_LEVEL) / runs)
    head = (
        f"{runs:,} models a cell; Monte-Carlo error at"
        f" {100 * OPTIONAL_STOPPING_LEVEL:g} %: {error:.2f}"
        " points\n\n"
    )
    text = head + table(["tasks' rates", "tasks", "n", *KINDS], rows)
    keep("stopping", text, "stopping.md")


if __name__ == "__main__":
    main()
