"""Size and power of the test of a change over k, and of the test of equivalence.

Run: python benchmarks/change.py [--runs 4000]
Writes its tables into benchmarks/change.md.
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

from passk_cli.inference.difference import StudentDifferenceDistribution, difference_distribution
from passk_cli.inference.paired_tests import paired_t
from passk_cli.inference.sampling_variance import difference_variance_floor
from passk_cli.metrics.registry import MetricChange, parse_change

Floats = NDArray[np.float64]
Rates = Callable[[np.random.Generator, tuple[int, ...]], Floats]

TASKS = (13, 37, 100)
ATTEMPTS = ((7, 7), (20, 20), (17, 7), (100, 10))
LAWS: dict[str, Rates] = {
    "Beta(1, 2)": lambda rng, shape: rng.beta(1, 2, shape),
    "Beta(9, 1)": lambda rng, shape: rng.beta(9, 1, shape),
    "U-shaped": lambda rng, shape: rng.beta(0.3, 0.3, shape),
    "90 % impossible": lambda rng, shape: rng.beta(1, 1, shape) * (rng.random(shape) < 0.1),
}
# Factor of the log-odds of the second model. Its rates are closer to the middle.
NEARER = 0.6
POPULATION = 1_000_000


def flatter(rates: Floats) -> Floats:
    """Rates of a model that passes hard tasks now and then, and easy ones not always."""
    odds = np.log(rates.clip(1e-9, 1 - 1e-9) / (1 - rates).clip(1e-9))
    return np.asarray(1 / (1 + np.exp(-NEARER * odds)))


def expected(change: MetricChange, rates: Floats) -> float:
    """The mean change over tasks with these success rates."""
    ks = change.end_metric.k, change.start_metric.k
    end, start = (
        1 - (1 - rates) ** k if change.end_metric.family == "pass@" else rates**k for k in ks
    )
    return float((end - start).mean())


def simulated(
    change: MetricChange, n: tuple[int, int], rates: tuple[Floats, Floats], rng: np.random.Generator
) -> tuple[StudentDifferenceDistribution, Floats]:
    """The distribution of the difference of two changes per run, and p of the paired t-test."""
    sizes = np.broadcast_to(np.array(n)[:, None, None], (2, *rates[0].shape))
    c = rng.binomial(sizes, np.stack(rates))
    first, second = (change.values(*side) for side in zip(sizes, c, strict=True))
    low, high = change.bounds or (-1.0, 1.0)
    law = difference_distribution(
        first - second, high - low, difference_variance_floor(change, sizes, c)
    )
    return law, paired_t((first - second).T)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4000)
    runs = parser.parse_args().runs
    sizes, powers = [], []
    for tasks, n, (name, draw) in product(TASKS, ATTEMPTS, LAWS.items()):
        for text in ("pass@1:pass@5", "pass^1:pass^5", f"pass@1:pass@{min(n)}"):
            change = parse_change(text)
            rng = np.random.default_rng([tasks, *n, change.k, list(LAWS).index(name)])
            head = [tasks, f"{n[0]}/{n[1]}", name, text]
            rates = draw(rng, (runs, tasks))
            law, t = simulated(change, n, (rates, rates), rng)
            sizes.append([*head, *(f"{(p <= 0.05).mean():.3f}" for p in (law.p(), t))])
            population = draw(rng, (POPULATION,))
            true_difference = expected(change, population) - expected(change, flatter(population))
            law, t = simulated(change, n, (rates, flatter(rates)), rng)
            equivalent = law.equivalence_p(abs(true_difference)) <= 0.05
            powers.append(
                [
                    *head, f"{true_difference:+.3f}",
                    *(f"{(p <= 0.05).mean():.3f}" for p in (law.p(), t)),
                    f"{equivalent.mean():.3f}",
                ]
            )  # fmt: skip
    columns = ["tasks", "attempts", "rates", "change"]
    error = f"{runs:,} runs a row; Monte-Carlo error {sqrt(0.05 * 0.95 / runs):.3f} at 5 %"
    size_table = table([*columns, "rejects", "t rejects"], sizes)
    keep("size", f"{error}\n\n{size_table}", "change.md")
    headings = [*columns, "true difference", "rejects", "t rejects", "called equivalent"]
    keep("equivalence", f"{error}\n\n{table(headings, powers)}", "change.md")


if __name__ == "__main__":
    main()
