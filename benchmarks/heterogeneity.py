"""Coverage of the intervals of Δ_k, the coverage deficit and the moments of the success rates.

Run: python benchmarks/heterogeneity.py [--repetitions 1000] [--section delta]
Simulates populations of tasks, asks each simulated data set for its intervals, and writes the
tables into benchmarks/heterogeneity.md.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import exp, lgamma, sqrt

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from measure import keep, table
from numpy.random import Generator
from numpy.typing import NDArray

from passk_cli.inference.heterogeneity import (
    IntervalSetting,
    pass_hat_k_heterogeneity_gains,
    sd_and_skewness_of_rates,
)
from passk_cli.metrics.heterogeneity import RateMoments, moments_of_rates, pass_curves_from_rates

RESAMPLES = 2000
LEVEL = 0.95
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Population:
    """Where success rates come from, and their raw moments E p^k."""

    name: str
    draw: Callable[[Generator, int], Floats]
    moment: Callable[[int], float]

    def delta(self, k: int) -> float:
        return self.moment(k) - self.moment(1) ** k

    def central(self) -> RateMoments:
        first, two, three = (self.moment(k) for k in (1, 2, 3))
        return RateMoments(first, two - first**2, three - 3 * two * first + 2 * first**3)


def beta(a: float, b: float) -> Population:
    def moment(k: int) -> float:
        return exp(lgamma(a + k) + lgamma(a + b) - lgamma(a) - lgamma(a + b + k))

    return Population(f"Beta({a:g}, {b:g})", lambda rng, tasks: rng.beta(a, b, tasks), moment)


def points(name: str, *rates: float) -> Population:
    true_rates = np.array(rates)
    return Population(
        name,
        lambda rng, tasks: rng.choice(true_rates, tasks),
        lambda k: float((true_rates**k).mean()),
    )


POPULATIONS = (
    beta(2, 2), beta(0.3, 0.5), beta(0.1, 1), beta(5, 0.5), beta(0.5, 5),
    points("all 0.5", 0.5), points("all 0.9", 0.9), points("0 or 1", 0.0, 1.0),
    points("0.93, 0.285, 0.285", 0.93, 0.285, 0.285),
)  # fmt: skip
TASKS = (10, 30, 164)
N_K = ((10, 2), (10, 5), (20, 10), (200, 40))


@dataclass
class Tally:
    """What the repetitions of one cell gave."""

    truth: float
    estimates: list[float]
    covered: int = 0
    undefined: int = 0
    width: float = 0.0

    def add(self, estimate: float | None, low: float | None, high: float | None) -> None:
        if estimate is None or np.isnan(estimate):
            self.undefined += 1
            return
        self.estimates.append(estimate)
        if low is None or high is None:
            self.undefined += 1
            return
        self.covered += low <= self.truth + 1e-12 and high >= self.truth - 1e-12
        self.width += high - low

    def cells(self, repetitions: int) -> tuple[str, ...]:
        defined = repetitions - self.undefined
        bias = np.mean(self.estimates) - self.truth if self.estimates else np.nan
        error = np.std(self.estimates) / sqrt(max(len(self.estimates), 1))
        coverage = f"{100 * self.covered / defined:.1f}" if defined else "–"
        width = f"{self.width / defined:.3f}" if defined else "–"
        return f"{self.truth:.4f}", f"{bias:+.4f} ± {error:.4f}", coverage, width


def delta_rows(repetitions: int) -> Iterator[tuple[object, ...]]:
    for place, population in enumerate(POPULATIONS):
        for tasks in TASKS:
            for n, k in N_K:
                if k > tasks:
                    continue
                rng = np.random.default_rng([place, tasks, n, k])
                tally = Tally(population.delta(k), [])
                for seed in range(repetitions):
                    c = rng.binomial(n, population.draw(rng, tasks))
                    setting = IntervalSetting(resamples=RESAMPLES, seed=seed)
                    estimates = pass_hat_k_heterogeneity_gains(
                        np.full(tasks, n), c, np.array([k]), setting
                    )
                    tally.add(estimates.estimate[0], estimates.low[0], estimates.high[0])
                yield (population.name, tasks, n, k, *tally.cells(repetitions))


def moment_rows(repetitions: int) -> Iterator[tuple[object, ...]]:
    for place, population in enumerate(POPULATIONS):
        for tasks in TASKS[1:]:
            for n in (5, 20):
                truth = population.central()
                tallies = Tally(truth.sd, []), Tally(truth.skewness, [])
                rng = np.random.default_rng([place, tasks, n])
                for seed in range(repetitions):
                    c = rng.binomial(n, population.draw(rng, tasks))
                    setting = IntervalSetting(resamples=RESAMPLES, seed=seed)
                    spreads = sd_and_skewness_of_rates(np.full(tasks, n), c, setting)
                    for tally, estimate in zip(tallies, spreads, strict=True):
                        tally.add(estimate.value, estimate.low, estimate.high)
                for name, tally in zip(("sd", "skewness"), tallies, strict=True):
                    if np.isnan(tally.truth):
                        continue
                    silent = f"{100 * tally.undefined / repetitions:.0f}"
                    yield (population.name, tasks, n, name, *tally.cells(repetitions), silent)


def cluster_rows(repetitions: int) -> Iterator[tuple[object, ...]]:
    """Tasks of a cluster share their success rate; clusters are 1 to 9 tasks large."""
    for place, (name, larger) in enumerate((("any", False), ("larger where p > ½", True))):
        for clusters in (15, 60):
            for n, k in ((10, 2), (10, 5)):
                grid = (np.arange(200_000) + 0.5) / 200_000
                weight = grid * (1 - grid) * (np.where(grid > 0.5, 8.0, 2.0) if larger else 1.0)
                first, power = (float((weight @ grid**j) / weight.sum()) for j in (1, k))
                tally = Tally(power - first**k, [])
                rng = np.random.default_rng([place, clusters, n, k])
                for seed in range(repetitions):
                    p = rng.beta(2, 2, clusters)
                    sizes = rng.integers(1, 10, clusters)
                    if larger:
                        sizes = np.where(
                            p > 0.5, rng.integers(7, 10, clusters), rng.integers(1, 4, clusters)
                        )
                    codes = np.repeat(np.arange(clusters), sizes)
                    c = rng.binomial(n, p[codes])
                    setting = IntervalSetting(clusters=codes, resamples=RESAMPLES, seed=seed)
                    estimates = pass_hat_k_heterogeneity_gains(
                        np.full(len(c), n), c, np.array([k]), setting
                    )
                    tally.add(estimates.estimate[0], estimates.low[0], estimates.high[0])
                yield (name, clusters, n, k, *tally.cells(repetitions))


def these_rows(repetitions: int) -> Iterator[tuple[object, ...]]:
    """The tasks stay, their attempts are made again."""
    for place, population in enumerate(POPULATIONS):
        for tasks in TASKS[1:]:
            p = population.draw(np.random.default_rng([place, tasks]), tasks)
            for n, k in ((10, 2), (10, 5), (20, 10), (5, 5)):
                truth = (
                    pass_curves_from_rates(p, np.array([k])).pass_hat_k_heterogeneity_gain[0],
                    moments_of_rates(p).sd,
                )
                # Limits as they are, and normal ones with the jackknife's error, as they were.
                tallies = [Tally(value, []) for value in (*truth, *truth)]
                rng = np.random.default_rng([place, tasks, n, k])
                setting = IntervalSetting("these-tasks")
                for _ in range(repetitions):
                    c, sizes = rng.binomial(n, p), np.full(tasks, n)
                    estimates = pass_hat_k_heterogeneity_gains(sizes, c, np.array([k]), setting)
                    tallies[0].add(estimates.estimate[0], estimates.low[0], estimates.high[0])
                    tallies[2].add(*normal(float(estimates.estimate[0]), float(estimates.se[0])))
                    if k == 2:
                        sd = sd_and_skewness_of_rates(sizes, c, setting)[0]
                        tallies[1].add(sd.value, sd.low, sd.high)
                names = (f"Δ_{k}", "sd") if k == 2 else (f"Δ_{k}",)
                before = tallies[2].cells(repetitions)[2] if n > k else "–"
                for name, tally in zip(names, tallies, strict=False):
                    cells = tally.cells(repetitions)
                    yield (
                        population.name, tasks, n, name, *cells, before if name != "sd" else ""
                    )  # fmt: skip


def normal(value: float, se: float) -> tuple[float, float | None, float | None]:
    """The value with normal limits, cut at 0."""
    if np.isnan(se):
        return value, None, None
    return value, max(0.0, value - 1.96 * se), max(0.0, value + 1.96 * se)


FOUND = ("truth", "bias ± its error", "coverage %", "width")
SECTIONS: dict[str, tuple[tuple[str, ...], Callable[[int], Iterator[tuple[object, ...]]]]] = {
    "delta": (("success rates", "tasks", "n", "k", *FOUND), delta_rows),
    "moments": (("success rates", "tasks", "n", "moment", *FOUND, "undefined %"), moment_rows),
    "clusters": (("cluster sizes", "clusters", "n", "k", *FOUND), cluster_rows),
    "these": (("success rates", "tasks", "n", "what", *FOUND, "jackknife %"), these_rows),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--section", choices=SECTIONS)
    arguments = parser.parse_args()
    for section in [arguments.section] if arguments.section else SECTIONS:
        start = time.perf_counter()
        head, rows = SECTIONS[section]
        parts = []
        for row in rows(arguments.repetitions):
            parts.append(row)
            print(section, *row, sep="\t", flush=True)
        error = 100 * sqrt(LEVEL * (1 - LEVEL) / arguments.repetitions)
        note = f"{arguments.repetitions:,} repetitions a cell"
        note += f"; Monte-Carlo error of a coverage of 95 %: {error:.1f} points"
        keep(section, f"{note}\n\n{table(head, parts)}", file="heterogeneity.md")
        print(f"{section}: {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
