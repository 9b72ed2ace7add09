"""How often two runs of one attempt per task differ by no more than the noise floor says.

Run: python benchmarks/noise.py [--runs 4000]
Writes its tables into benchmarks/noise.md.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from itertools import product
from math import sqrt

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from measure import keep, table
from numpy.typing import NDArray

from passk_cli.inference.noise import attempts_for_noise, noise_floor

Floats = NDArray[np.float64]
Rates = Callable[[np.random.Generator, tuple[int, ...]], Floats]

TASKS = (3, 10, 30, 50, 200)
# The last: half of the tasks have two attempts and half ten.
ATTEMPTS: tuple[int | str, ...] = (2, 4, 20, "2/10")
LAWS: dict[str, Rates] = {
    "all 0.5": lambda rng, shape: np.full(shape, 0.5),
    "Beta(1, 2)": lambda rng, shape: rng.beta(1, 2, shape),
    "Beta(9, 1)": lambda rng, shape: rng.beta(9, 1, shape),
    "U-shaped": lambda rng, shape: rng.beta(0.3, 0.3, shape),
    "90 % impossible": lambda rng, shape: rng.beta(1, 1, shape) * (rng.random(shape) < 0.1),
}
# The difference that plans for a fixed suite allow.
WITHIN = 0.1


def attempts_of(attempts: int | str, tasks: int) -> NDArray[np.int64]:
    """Attempts at each task."""
    return (
        np.where(np.arange(tasks) % 2, 10, 2)
        if isinstance(attempts, str)
        else np.full(tasks, attempts)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4000)
    runs = parser.parse_args().runs
    floors, plans = [], []
    for tasks, attempts, (name, draw) in product(TASKS, ATTEMPTS, LAWS.items()):
        rng = np.random.default_rng(
            [tasks, len(str(attempts)), attempts_of(attempts, tasks).sum(), 7]
        )
        n, rates = attempts_of(attempts, tasks), draw(rng, (runs, tasks))
        c = rng.binomial(n, rates)
        # Where no attempts at one task differ, no noise floor is printed.
        mixed = ((c > 0) & (c < n)).any(axis=1)
        floor = np.array([noise_floor(n, passes) for passes in c[mixed]])
        first, second = (rng.binomial(1, rates[mixed]).mean(axis=1) for _ in range(2))
        within = np.abs(first - second) <= floor + 1e-9
        head = [tasks, attempts, name, f"{mixed.mean():.3f}"]
        floors.append([*head, f"{floor.mean():.3f}", f"{within.mean():.3f}"])
        enough = [attempts_for_noise(n, passes, WITHIN) for passes in c[mixed]]
        first, second = (
            (rng.binomial(np.array(enough)[:, None], rates[mixed]) / np.array(enough)[:, None])
            .mean(axis=1)
            for _ in range(2)
        )  # fmt: skip
        share = (np.abs(first - second) <= WITHIN + 1e-9).mean()
        plans.append([*head, f"{np.median(enough):.0f}", f"{share:.3f}"])
    error = f"{runs:,} runs a row; Monte-Carlo error {sqrt(0.05 * 0.95 / runs):.3f} at 95 %"
    columns = ["tasks", "attempts", "rates", "said"]
    keep("floor", f"{error}\n\n{table([*columns, 'floor', 'within'], floors)}", "noise.md")
    headings = [*columns, "attempts needed", "within"]
    keep("plan", f"{error}\n\n{table(headings, plans)}", "noise.md")


if __name__ == "__main__":
    main()
