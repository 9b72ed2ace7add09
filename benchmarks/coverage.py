"""How often intervals cover, and how wide they are, for every method over stated grids.

Run: python benchmarks/coverage.py [--repetitions 1000] [--many 20000] [--only grid]
Simulates task success rates from known populations, attempts from the rates, and asks whether
each interval holds the population's value.  Writes benchmarks/coverage.md.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from measure import keep, machine, table

from passk_cli.inference.attempts import within_variance
from passk_cli.inference.exact import dirichlet_cdf
from passk_cli.inference.intervals import Sample, interval
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.metrics.registry import Metric

FAMILIES = ((0.3, 0.5), (0.1, 1), (2, 2), (5, 0.5), (0.5, 5))
ATTEMPTS = ((20, 1), (20, 10), (200, 100))
TASKS = (10, 30, 164)
METHODS = ("guard", "gaffke", "jeffreys", "percentile", "basic", "bca", "t")
LEVEL, TAIL = 0.95, 0.025


@dataclass(frozen=True)
class Cell:
    """One population and design: rates ~ Beta(a, b), T tasks, n attempts, one metric."""

    a: float
    b: float
    tasks: int
    n: int
    metric: Metric
    shift: float | None = None  # of the second model's log odds, for differences

    @property
    def name(self) -> str:
        return f"Beta({self.a:g}, {self.b:g}), T={self.tasks}, n={self.n}, {self.metric.name}"

    def rng(self, purpose: int) -> np.random.Generator:
        hat, shift = int(self.metric.family == "pass^"), int(10 * (self.shift or 0))
        key = [int(10 * self.a), int(10 * self.b), self.tasks, self.n, self.metric.k, hat, shift,
               purpose]  # fmt: skip
        return np.random.default_rng(key)

    def true(self) -> float:
        """E pass@k or E pass^k for Beta rates, in closed form; of a difference by quadrature."""
        if self.shift is not None:
            from scipy.stats import beta

            rates = beta.ppf((np.arange(400_000) + 0.5) / 400_000, self.a, self.b)
            return float(np.mean(self.of_rate(shifted(rates, self.shift)) - self.of_rate(rates)))
        ups, total = (self.a, self.a + self.b)
        if self.metric.family == "pass@":
            ups = self.b
        steps = np.arange(self.metric.k)
        product = math.exp(float(np.log((ups + steps) / (total + steps)).sum()))
        return 1 - product if self.metric.family == "pass@" else product

    def of_rate(self, p: np.ndarray) -> np.ndarray:
        k = self.metric.k
        return 1 - (1 - p) ** k if self.metric.family == "pass@" else p**k

    def values(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        """(rows × tasks) values of the metric, or of its difference between two models."""
        lookup = self.metric.values(np.full(self.n + 1, self.n), np.arange(self.n + 1))
        rates = rng.beta(self.a, self.b, (rows, self.tasks))
        first = lookup[rng.binomial(self.n, rates)]
        if self.shift is None:
            return first
        return lookup[rng.binomial(self.n, shifted(rates, self.shift))] - first


def shifted(rates: np.ndarray, shift: float) -> np.ndarray:
    """Rates with their log odds moved."""
    odds = math.exp(shift)
    return rates * odds / (1 - rates + rates * odds)


def default_coverage(cell: Cell, repetitions: int) -> tuple[float, float, float]:
    """(coverage, share of misses above, below) of the default, by its distribution function.

    `guard` for a metric, `jeffreys` for a difference.  A limit lies on the right side of θ exactly
    when the law's probability at θ says so, which saves the root search and buys repetitions.
    """
    true, rng = cell.true(), cell.rng(1)
    above = below = 0
    for values in cell.values(rng, repetitions):
        if cell.shift is None:
            weights = np.append(np.ones(cell.tasks), 0.5)
            high = dirichlet_cdf(np.append(values, 1.0), weights, true)
            low = dirichlet_cdf(np.append(values, 0.0), weights, true)
        else:
            weights = np.append(np.ones(cell.tasks), [0.5, 0.5])
            high = low = dirichlet_cdf(np.append(values, [-1.0, 1.0]), weights, true)
        below += high > 1 - TAIL
        above += low < TAIL
    return 1 - (above + below) / repetitions, above / repetitions, below / repetitions


def all_methods(cell: Cell, repetitions: int) -> dict[str, tuple[float, float]]:
    """Method → (coverage, mean width)."""
    true, rng = cell.true(), cell.rng(2)
    low_bound = -1.0 if cell.shift is not None else 0.0
    hits, widths = dict.fromkeys(METHODS, 0), dict.fromkeys(METHODS, 0.0)
    for values in cell.values(rng, repetitions):
        sample = Sample(values, low=low_bound)
        for method in METHODS:
            found = interval(sample, method, LEVEL)
            low = sample.mean if found.low is None else found.low
            high = sample.mean if found.high is None else found.high
            hits[method] += low - 1e-12 <= true <= high + 1e-12
            widths[method] += high - low
    return {m: (hits[m] / repetitions, widths[m] / repetitions) for m in METHODS}


Row = tuple[Cell, tuple[float, float, float], dict[str, tuple[float, float]]]


def one_cell(work: tuple[Cell, int, int]) -> Row:
    cell, repetitions, many = work
    return cell, default_coverage(cell, many), all_methods(cell, repetitions)


def over(cells: Sequence[Cell], repetitions: int, many: int) -> list[Row]:
    with ProcessPoolExecutor() as pool:
        return list(pool.map(one_cell, [(c, repetitions, many) for c in cells]))


def summary(rows: Sequence[Row], many: int, repetitions: int, default: str = "guard") -> str:
    """What the grid says of the default, then the grid."""
    worst_cell, worst, _ = min(rows, key=lambda row: row[1][0])
    ratios = [
        found[default][1] / found["percentile"][1]
        for _, _, found in rows
        if found["percentile"][0] >= 0.935 and found["percentile"][1] > 1e-3
    ]
    error = 100 * math.sqrt(0.05 * 0.95 / many)
    lines = [
        f"{len(rows)} cells. `{default}`: {many:,} repetitions (Monte-Carlo error {error:.2f}"
        f" points); the others and all widths: {repetitions:,}"
        f" ({100 * math.sqrt(0.05 * 0.95 / repetitions):.2f} points).",
        "",
        f"- lowest coverage of `{default}`: **{100 * worst[0]:.2f} %** ({worst_cell.name})",
    ]
    if ratios:
        lines.append(
            f"- width of `{default}` against `percentile` where the latter covers at least 93.5 %"
            f" and is wider\n  than 0.001 ({len(ratios)} cells): **{np.median(ratios):.3f}** in the"
            f" median, **{max(ratios):.3f}** at most"
        )
    lowest = {m: min(found[m][0] for _, _, found in rows) for m in METHODS if m != default}
    lines.append(
        "- lowest coverage of the others: "
        + ", ".join(f"{m} {100 * value:.1f} %" for m, value in lowest.items())
    )
    others = [m for m in METHODS if m != default]
    head = ("cell", "true", default, "missed above", "missed below", *others, f"{default} width",
            "against percentile")  # fmt: skip
    body = []
    for cell, (covered, above, below), found in rows:
        ratio = found[default][1] / max(found["percentile"][1], 1e-9)
        body.append(
            (cell.name, f"{cell.true():.4f}", *(f"{100 * v:.1f}" for v in (covered, above, below)),
             *(f"{100 * found[m][0]:.1f}" for m in others), f"{found[default][1]:.3f}",
             f"{ratio:.2f}" if ratio < 10 else "> 10")
        )  # fmt: skip
    return "\n".join(lines) + "\n\n" + table(head, body)


def grid(repetitions: int, many: int) -> str:
    designs = [(a, b, t, n, k) for a, b in FAMILIES for t in TASKS for n, k in ATTEMPTS]
    cells = [Cell(a, b, t, n, Metric("pass@", k)) for a, b, t, n, k in designs]
    mirror = [Cell(b, a, t, n, Metric("pass^", k)) for a, b, t, n, k in designs]
    return summary(over(cells + mirror, repetitions, many), many, repetitions)


def differences(repetitions: int, many: int) -> str:
    cells = [
        Cell(a, b, t, n, Metric("pass@", k), shift)
        for shift in (0.0, 0.7)
        for a, b in FAMILIES
        for t in TASKS
        for n, k in ATTEMPTS
    ]
    text = summary(over(cells, repetitions, many), many, repetitions, "jeffreys")
    price = (
        "Bounds of ±1 say little about a difference that is small, so holding everywhere is dear"
        " here, most\nwith few tasks. `guard` holds too and is a tenth wider. Verdicts of `compare`"
        " rest on the permutation\ntest, not on this interval."
    )
    order = "The first 45 rows are two equal models, the rest differ by 0.7 in log odds."
    return f"{text}\n\n{price}\n\n{order}"


def clustered(work: tuple[float, float, int, int]) -> tuple[object, ...]:
    """Clusters of 5 whose success rates have intra-cluster correlation 0.5."""
    a, b, clusters, repetitions = work
    cell = Cell(a, b, 5 * clusters, 20, Metric("pass@", 1))
    rng, true = cell.rng(3), a / (a + b)
    lookup = cell.metric.values(np.full(21, 20), np.arange(21))
    codes = np.repeat(np.arange(clusters), 5)
    hits = {"with": 0, "without": 0, "t, clustered": 0}
    for _ in range(repetitions):
        # Each task keeps its cluster's rate with probability √½, so two tasks share it with ½.
        shared = rng.random(len(codes)) < math.sqrt(0.5)
        rates = np.where(shared, rng.beta(a, b, clusters)[codes], rng.beta(a, b, len(codes)))
        values = lookup[rng.binomial(20, rates)]
        for name, method, mine in (("with", "guard", codes), ("without", "guard", None),
                                   ("t, clustered", "t", codes)):  # fmt: skip
            found = interval(Sample(values, clusters=mine), method, LEVEL)
            hits[name] += (found.low or 0) <= true <= (found.high or 0)
    shares = (f"{100 * hit / repetitions:.1f}" for hit in hits.values())
    return (f"Beta({a:g}, {b:g}), {clusters} clusters of 5", *shares)


def clusters(repetitions: int, many: int) -> str:
    designs = [(a, b, g, many // 4) for a, b in FAMILIES for g in (10, 33, 100)]
    with ProcessPoolExecutor() as pool:
        rows = list(pool.map(clustered, designs))
    head = ("population", "guard with --cluster", "guard without", "t with --cluster")
    return f"{many // 4:,} repetitions; coverage in percent.\n\n{table(head, rows)}"


def fixed(work: tuple[float, float, int, int, int, int]) -> tuple[object, ...]:
    """The tasks stay, their attempts are made again."""
    a, b, tasks, n, k, repetitions = work
    metric = Metric("pass@", k)
    cell = Cell(a, b, tasks, n, metric)
    rng = cell.rng(4)
    lookup = metric.values(np.full(n + 1, n), np.arange(n + 1))
    hits = 0
    for _ in range(repetitions):
        rates = rng.beta(a, b, tasks)
        c = rng.binomial(n, rates)
        ns = np.full(tasks, n)
        sample = Sample(lookup[c], attempts=ns, within=within_variance(metric, ns, c))
        found = interval(sample, "jackknife", LEVEL, THESE_TASKS)
        hits += (found.low or 0) <= float(cell.of_rate(rates).mean()) <= (found.high or 0)
    return (cell.name, f"{100 * hits / repetitions:.1f}")


def these(repetitions: int, many: int) -> str:
    designs = [(a, b, t, n, k, many // 4) for a, b in FAMILIES for t in (30, 164)
               for n, k in ((10, 1), (10, 5), (50, 10))]  # fmt: skip
    with ProcessPoolExecutor() as pool:
        rows = list(pool.map(fixed, designs))
    return (
        f"{many // 4:,} repetitions; coverage in percent.\n\n{table(('cell', 'jackknife'), rows)}"
    )


PARTS: dict[str, Callable[[int, int], str]] = {
    "grid": grid,
    "differences": differences,
    "clusters": clusters,
    "these": these,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=1_000)
    parser.add_argument("--many", type=int, default=20_000)
    parser.add_argument("--only", choices=PARTS, default=None)
    arguments = parser.parse_args()
    for name, part in PARTS.items():
        if arguments.only in (None, name):
            start = time.perf_counter()
            text = part(arguments.repetitions, arguments.many)
            took = f"{(time.perf_counter() - start) / 60:.1f} minutes"
            keep(name, f"{machine()}; {took}\n\n{text}", "coverage.md")
            print(name, took, flush=True)


if __name__ == "__main__":
    main()
