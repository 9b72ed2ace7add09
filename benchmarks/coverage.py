"""How often intervals cover and how wide they are, for every method on fixed grids.

Run: python benchmarks/coverage.py [--repetitions 1000] [--many 20000] [--only grid]
Simulates success rates of tasks from known populations and attempts from the rates, and checks
whether each interval contains the value of the population. Writes benchmarks/coverage.md.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from guards import GUARD, Guards, dirichlet_cdf, holds
from measure import keep, machine, table

from passk_cli.inference import weighted_means
from passk_cli.inference.hierarchical_model import count_histogram
from passk_cli.inference.hull_interval import MetricCounts, posterior_and_pivot_hull_of_mean
from passk_cli.inference.intervals import IntervalData, guard_atom_weights, interval
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.inference.sampling_variance import within_variance
from passk_cli.inference.weighted_means import dirichlet_quantiles
from passk_cli.metrics.registry import Metric

FAMILIES = ((0.3, 0.5), (0.1, 1), (2, 2), (5, 0.5), (0.5, 5))
ATTEMPTS = ((20, 1), (20, 10), (200, 100))
TASKS = (10, 30, 164)
METHODS = ("guard", "percentile", "bca", "t")
LEVEL, TAIL = 0.95, 0.025


@dataclass(frozen=True)
class Cell:
    """One population and design: rates ~ Beta(a, b), T tasks, n attempts, one metric."""

    a: float
    b: float
    tasks: int
    n: int
    metric: Metric

    @property
    def name(self) -> str:
        return f"Beta({self.a:g}, {self.b:g}), T={self.tasks}, n={self.n}, {self.metric.name}"

    def rng(self, purpose: int) -> np.random.Generator:
        hat = int(self.metric.family == "pass^")
        key = [int(10 * self.a), int(10 * self.b), self.tasks, self.n, self.metric.k, hat, 0,
               purpose]  # fmt: skip
        return np.random.default_rng(key)

    def true(self) -> float:
        """E pass@k or E pass^k for Beta rates, in closed form."""
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
        """(rows × tasks) values of the metric."""
        lookup = self.metric.values(np.full(self.n + 1, self.n), np.arange(self.n + 1))
        rates = rng.beta(self.a, self.b, (rows, self.tasks))
        return lookup[rng.binomial(self.n, rates)]


def shifted(rates: np.ndarray, shift: float) -> np.ndarray:
    """Rates with their log odds moved."""
    odds = math.exp(shift)
    return rates * odds / (1 - rates + rates * odds)


def default_coverage(cell: Cell, repetitions: int) -> tuple[float, float, float]:
    """(coverage, share of misses above, below) of the default, by its distribution function.

    A limit of `guard` is on the right side of θ if and only if the probability at θ is on the right
    side of α. This saves the root search and allows more repetitions.
    """
    true, rng = cell.true(), cell.rng(1)
    above = below = 0
    for values in cell.values(rng, repetitions):
        over, under = GUARD.tails(IntervalData(values), true)
        above += over < TAIL
        below += under < TAIL
    return 1 - (above + below) / repetitions, above / repetitions, below / repetitions


def all_methods(cell: Cell, repetitions: int) -> dict[str, tuple[float, float]]:
    """Method → (coverage, mean width)."""
    true, rng = cell.true(), cell.rng(2)
    hits, widths = dict.fromkeys(METHODS, 0), dict.fromkeys(METHODS, 0.0)
    for values in cell.values(rng, repetitions):
        sample = IntervalData(values)
        for method in METHODS:
            limits = interval(sample, method, LEVEL)
            low = sample.mean if limits.low is None else limits.low
            high = sample.mean if limits.high is None else limits.high
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


def summary(rows: Sequence[Row], many: int, repetitions: int) -> str:
    """A summary of the grid for `guard`, and the grid."""
    worst_cell, worst, _ = min(rows, key=lambda row: row[1][0])
    ratios = [
        by_method["guard"][1] / by_method["percentile"][1]
        for _, _, by_method in rows
        if by_method["percentile"][0] >= 0.935 and by_method["percentile"][1] > 1e-3
    ]
    error = 100 * math.sqrt(0.05 * 0.95 / many)
    lines = [
        f"{len(rows)} cells. `guard`: {many:,} repetitions (Monte-Carlo error {error:.2f}"
        f" points); the others and all widths: {repetitions:,}"
        f" ({100 * math.sqrt(0.05 * 0.95 / repetitions):.2f} points).",
        "",
        f"- lowest coverage of `guard`: **{100 * worst[0]:.2f} %** ({worst_cell.name})",
    ]
    if ratios:
        lines.append(
            f"- width of `guard` against `percentile` where the latter covers at least 93.5 %"
            f" and is wider\n  than 0.001 ({len(ratios)} cells): **{np.median(ratios):.3f}** in the"
            f" median, **{max(ratios):.3f}** at most"
        )
    lowest = {m: min(by_method[m][0] for _, _, by_method in rows) for m in METHODS if m != "guard"}
    lines.append(
        "- lowest coverage of the others: "
        + ", ".join(f"{m} {100 * value:.1f} %" for m, value in lowest.items())
    )
    methods = [m for m in METHODS if m != "guard"]
    head = ("cell", "true", "guard", "missed above", "missed below", *methods, "guard width",
            "against percentile")  # fmt: skip
    body = []
    for cell, (covered, above, below), by_method in rows:
        ratio = by_method["guard"][1] / max(by_method["percentile"][1], 1e-9)
        body.append(
            (cell.name, f"{cell.true():.4f}", *(f"{100 * v:.1f}" for v in (covered, above, below)),
             *(f"{100 * by_method[m][0]:.1f}" for m in methods), f"{by_method['guard'][1]:.3f}",
             f"{ratio:.2f}" if ratio < 10 else "> 10")
        )  # fmt: skip
    return "\n".join(lines) + "\n\n" + table(head, body)


def grid(repetitions: int, many: int) -> str:
    designs = [(a, b, t, n, k) for a, b in FAMILIES for t in TASKS for n, k in ATTEMPTS]
    cells = [Cell(a, b, t, n, Metric("pass@", k)) for a, b, t, n, k in designs]
    mirror = [Cell(b, a, t, n, Metric("pass^", k)) for a, b, t, n, k in designs]
    return summary(over(cells + mirror, repetitions, many), many, repetitions)


def clustered(work: tuple[float, float, int, int]) -> tuple[object, ...]:
    """Clusters of 5 tasks with success rates that have an intra-cluster correlation of 0.5."""
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
        for name, method, task_codes in (("with", "guard", codes), ("without", "guard", None),
                                   ("t, clustered", "t", codes)):  # fmt: skip
            limits = interval(IntervalData(values, clusters=task_codes), method, LEVEL)
            hits[name] += (limits.low or 0) <= true <= (limits.high or 0)
    shares = (f"{100 * hit / repetitions:.1f}" for hit in hits.values())
    return (f"Beta({a:g}, {b:g}), {clusters} clusters of 5", *shares)


def clusters(repetitions: int, many: int) -> str:
    designs = [(a, b, g, many // 4) for a, b in FAMILIES for g in (10, 33, 100)]
    with ProcessPoolExecutor() as pool:
        rows = list(pool.map(clustered, designs))
    head = ("population", "guard with --cluster", "guard without", "t with --cluster")
    return f"{many // 4:,} repetitions; coverage in percent.\n\n{table(head, rows)}"


Rates = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def beta(a: float, b: float) -> Rates:
    return lambda rng, shape: rng.beta(a, b, shape)


def points(*rates: float, shares: Sequence[float] | None = None) -> Rates:
    return lambda rng, shape: rng.choice(rates, shape, p=shares)


def never_always_beta(never: float, always: float, a: float, b: float) -> Rates:
    """Shares of tasks that never and always pass. The rates of the other tasks are ~ Beta(a, b)."""

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
        place, rates = rng.random(shape), rng.beta(a, b, shape)
        return np.where(place < never, 0.0, np.where(place < never + always, 1.0, rates))

    return draw


def logistic_normal(mean: float, sd: float) -> Rates:
    return lambda rng, shape: 1 / (1 + np.exp(-rng.normal(mean, sd, shape)))


# The first eight populations were used while the method was made, and the other four only at the
# end.
SEEN: dict[str, Rates] = {
    "Beta(0.1, 0.3)": beta(0.1, 0.3),
    "Beta(9, 1)": beta(9, 1),
    "half 0, half 0.5": points(0.0, 0.5),
    "Beta(20, 0.5)": beta(20, 0.5),
    "Beta(2, 2)": beta(2, 2),
    "0.3 at 0, 0.2 at 1, Beta(2, 2)": never_always_beta(0.3, 0.2, 2, 2),
    "all 0.3": points(0.3),
    "0.05 (60 %), 0.6 (40 %)": points(0.05, 0.6, shares=(0.6, 0.4)),
}
UNSEEN: dict[str, Rates] = {
    "logit normal(0.5, 2.5)": logistic_normal(0.5, 2.5),
    "0.6 at 1, Beta(1, 4)": never_always_beta(0.0, 0.6, 1, 4),
    "0.02 (50 %), 0.3 (30 %), 0.95 (20 %)": points(0.02, 0.3, 0.95, shares=(0.5, 0.3, 0.2)),
    "0.97 (90 %), 0.4 (10 %)": points(0.97, 0.4, shares=(0.9, 0.1)),
}
# Fixed tasks with a few that differ from the rest. They were used when the reach of agreeing tasks
# was added.
FEW: dict[str, tuple[float, ...]] = {
    "0.1, 0.5, 0.9": (0.1, 0.5, 0.9),
    "0.02, 0.04, 0.9, 1, 1": (0.02, 0.04, 0.9, 1.0, 1.0),
    "two of 0.06, six of 0.999": (0.06,) * 2 + (0.999,) * 6,
    "one of 0.4, seven of 0.999": (0.4,) + (0.999,) * 7,
    "0.02, 0.5, 0.98 in turn": (0.02, 0.5, 0.98) * 4 + (0.02,),
    "all 0.05": (0.05,) * 13,
    "two of 0.04, fourteen of 0.7": (0.04,) * 2 + (0.7,) * 14,
    "four of 0.03, fourteen of 0.99": (0.03,) * 4 + (0.99,) * 14,
    "three of 0.05, five of 0.5, eleven of 0.97": (0.05,) * 3 + (0.5,) * 5 + (0.97,) * 11,
    "two of 0.04, 22 of 0.7": (0.04,) * 2 + (0.7,) * 22,
    "two of 0.04, 48 of 0.7": (0.04,) * 2 + (0.7,) * 48,
}
FIXED: dict[str, Rates] = {
    name: lambda rng, shape, rates=rates: np.tile(rates, (shape[0], 1))
    for name, rates in FEW.items()
}
FIXED_DESIGNS = ((17, 1), (7, 5), (17, 10), (17, 17))
THESE_DESIGNS = tuple((t, n, k) for t in (30, 164) for n, k in ((10, 5), (50, 10), (10, 10)))
# With few attempts, the data contains little information about the spread of the rates.
FEW_DESIGNS = tuple((t, n, k) for t in (30, 164) for n, k in ((1, 1), (3, 3), (5, 1), (5, 4)))
_WIDTHS = 30


@dataclass(frozen=True)
class Fixed:
    """Tasks that stay, from one population; repetitions differ in the attempts and the tasks."""

    name: str  # of the population
    tasks: int
    n: int
    metric: Metric
    same: bool = False  # one set of tasks for all repetitions
    uneven: bool = False  # n from n to 4n

    def row(self, repetitions: int) -> tuple[object, ...]:
        """Coverage of hull and jackknife, misses by side, widths against 3.92 true errors."""
        seed = [sum(map(ord, self.name)), self.tasks, self.n, self.metric.k, self.same, self.uneven]
        rng = np.random.default_rng(seed)
        k, hat = self.metric.k, self.metric.family == "pass^"
        rates = (SEEN | UNSEEN | FIXED)[self.name](
            rng, (1 if self.same else repetitions, self.tasks)
        )
        rates = np.repeat(rates, repetitions // len(rates), axis=0)
        ns = np.full(self.tasks, self.n)
        if self.uneven:
            ns = rng.integers(self.n, 4 * self.n + 1, self.tasks)
        hits, above, jackknife, ratios = 0, 0, 0, []
        widths = np.zeros(2)
        passes = rng.binomial(ns, rates)
        estimates, truths = np.empty((2, repetitions))
        for i, (c, p) in enumerate(zip(passes, rates, strict=True)):
            values = self.metric.values(ns, c)
            failing = float((1 - p**k if hat else (1 - p) ** k).mean())
            truth = 1 - failing
            estimates[i], truths[i] = values.mean(), truth
            limits = posterior_and_pivot_hull_of_mean(self.metric, count_histogram(ns, c))
            inside = holds(limits, failing if limits.describes_complement else truth, TAIL)
            hits += inside
            above += not inside and truth < estimates[i]
            within = within_variance(self.metric, ns, c)
            normal = interval(
                IntervalData(values, attempt_variances=within), "jackknife", LEVEL, THESE_TASKS
            )
            low, high = (normal.low, normal.high) if normal.low is not None else (2.0, -2.0)
            jackknife += low <= truth <= high
            if i < _WIDTHS:
                low, high = limits.limits(TAIL)
                widths += high - low, 0.0 if normal.low is None else normal.high - normal.low
        normal_width = 3.92 * float(np.std(estimates - truths)) * _WIDTHS
        ratios = [f"{w / normal_width:.2f}" if normal_width > 1e-9 else "–" for w in widths]
        name = f"{self.name}{', n to 4n' * self.uneven}{', one set of tasks' * self.same}"
        return (
            f"{name}, T={self.tasks}, n={self.n}, {self.metric.name}",
            hits / repetitions, above / repetitions,
            jackknife / repetitions if self.n > k else None,
            f"{widths[0] / _WIDTHS:.4f}", ratios[0], ratios[1] if self.n > k else "–",
            widths[0] / widths[1] if widths[1] > 0 else math.nan,
        )  # fmt: skip


def fixed_row(work: tuple[Fixed, int]) -> tuple[object, ...]:
    cell, repetitions = work
    return cell.row(repetitions)


def fixed_rows(cells: Sequence[Fixed], repetitions: int) -> list[tuple[object, ...]]:
    with ProcessPoolExecutor() as pool:
        return list(pool.map(fixed_row, [(cell, repetitions) for cell in cells]))


def fixed_table(title: str, cells: Sequence[Fixed], repetitions: int) -> str:
    rows = fixed_rows(cells, repetitions)
    coverage = [row[1] for row in rows]
    before = [row[3] for row in rows if row[3] is not None]
    ratios = [row[7] for row in rows if row[3] is not None and row[3] >= 0.935]
    error = 100 * math.sqrt(0.05 * 0.95 / repetitions)
    lines = [
        f"{title}: {len(rows)} cells, {repetitions:,} repetitions (Monte-Carlo error at 95 %:"
        f" {error:.1f} points).",
        "",
        f"- `hull` covers at least 94 % in {sum(h >= 0.94 for h in coverage)} of {len(rows)} cells,"
        f" at least **{100 * min(coverage):.1f} %** everywhere",
    ]
    if before:
        lines.append(
            f"- before: `jackknife` covers {100 * min(before):.1f} to {100 * max(before):.1f} % in"
            f" {len(before)} cells, and has no interval in the other {len(rows) - len(before)}"
        )
    if ratios:
        lines.append(
            f"- width of `hull` against `jackknife` where that covers at least 93.5 %"
            f" ({len(ratios)} cells): {min(ratios):.2f} to {max(ratios):.2f}, median"
            f" {np.median(ratios):.2f}"
        )
    head = ("cell", "hull", "missed above", "jackknife", "hull width", "of a normal one",
            "jackknife's")  # fmt: skip
    body = [
        (name, f"{100 * h:.1f}", f"{100 * above:.1f}", "–" if j is None else f"{100 * j:.1f}",
         *widths)
        for name, h, above, j, *widths, _ in rows
    ]  # fmt: skip
    return "\n".join(lines) + "\n\n" + table(head, body)


def these_cells(populations: dict[str, Rates]) -> list[Fixed]:
    return [
        Fixed(name, t, n, Metric("pass@", k)) for t, n, k in THESE_DESIGNS for name in populations
    ]


def these_tasks(repetitions: int, many: int) -> str:
    return fixed_table("Eight populations", these_cells(SEEN), repetitions)


def these_unseen(repetitions: int, many: int) -> str:
    return fixed_table("Four other populations", these_cells(UNSEEN), repetitions)


def these_hard(repetitions: int, many: int) -> str:
    populations = ("Beta(0.1, 0.3)", "Beta(20, 0.5)", "half 0, half 0.5", "all 0.3")
    few = [Fixed(name, t, n, Metric("pass@", k)) for t, n, k in FEW_DESIGNS for name in populations]
    hats = [
        Fixed(name, t, n, Metric("pass^", k))
        for t, n, k in THESE_DESIGNS[:3]
        for name in populations
    ]
    same = [
        Fixed(name, t, n, Metric("pass@", k), same=True)
        for t, n, k in THESE_DESIGNS
        for name in ("Beta(2, 2)", "Beta(9, 1)", "Beta(0.1, 0.3)")
    ]
    uneven = [
        Fixed(name, 30, 5, Metric("pass@", k), uneven=True)
        for k in (1, 3, 5)
        for name in populations
    ]
    sizes = [
        Fixed(name, t, 10, Metric("pass@", 5))
        for t in (3, 10, 1000)
        for name in ("Beta(2, 2)", "Beta(0.1, 0.3)", "all 0.3", "0.05 (60 %), 0.6 (40 %)")
    ]
    parts = {
        "Few attempts": few,
        "pass^k": hats,
        "One set of tasks, attempted again and again": same,
        "n from 5 to 20, by chance": uneven,
        "Three, ten, a thousand tasks": sizes,
    }
    return "\n\n".join(fixed_table(*part, repetitions // 2) for part in parts.items())


def these_few(repetitions: int, many: int) -> str:
    cells = [
        Fixed(name, len(rates), n, Metric("pass@", k), same=True)
        for name, rates in FEW.items()
        for n, k in FIXED_DESIGNS
    ]
    return fixed_table("Few tasks differ from the others", cells, repetitions // 2)


def shifted_pair(work: tuple[str, int, int, int, float, int]) -> tuple[object, ...]:
    """Two models on the same tasks, the second's log odds moved: is the difference covered?"""
    name, tasks, n, k, shift, repetitions = work
    rng = np.random.default_rng([sum(map(ord, name)), tasks, n, k, int(10 * shift)])
    metric, sizes, hits, width = Metric("pass@", k), np.full(tasks, n), 0, 0.0
    for _ in range(repetitions):
        rates = SEEN[name](rng, (2, tasks))[0]
        rate_pair = rates, shifted(rates, shift)
        passes = tuple(MetricCounts(metric, sizes, rng.binomial(n, p)) for p in rate_pair)
        first, second = (metric.values(sizes, outcome.c) for outcome in passes)
        limits = interval(
            IntervalData(first - second, -1.0, metrics_with_attempt_counts=passes),
            None,
            LEVEL,
            THESE_TASKS,
        )
        truth = float(((1 - rate_pair[1]) ** k - (1 - rate_pair[0]) ** k).mean())
        hits += (limits.low or 0.0) - 1e-12 <= truth <= (limits.high or 0.0) + 1e-12
        width += (limits.high or 0.0) - (limits.low or 0.0)
    cell = f"{name}, T={tasks}, n={n}, pass@{k}, log odds {shift:+g}"
    return cell, f"{100 * hits / repetitions:.1f}", f"{width / repetitions:.3f}"


def these_differences(repetitions: int, many: int) -> str:
    reps = repetitions // 4
    designs = [
        (name, t, n, k, shift, reps)
        for t in (30, 164)
        for n, k in ((10, 5), (10, 10), (3, 3))
        for name in ("Beta(0.1, 0.3)", "Beta(9, 1)", "all 0.3")
        for shift in (0.0, 0.7)
    ]
    with ProcessPoolExecutor() as pool:
        rows = list(pool.map(shifted_pair, designs))
    error = 100 * math.sqrt(0.05 * 0.95 / reps)
    lowest = min(float(str(row[1])) for row in rows)
    return (
        f"{reps:,} repetitions (Monte-Carlo error {error:.1f} points), {len(rows)} cells; lowest"
        f" **{lowest:.1f} %**.\n\n{table(('cell', 'hull', 'width'), rows)}"
    )


HALF = Guards(lambda away, sizes, counts: np.full(away.shape[:-1], 0.5))
WEIGHTS = (0.5, 0.75, 0.93, 1.0)


def binomial(tasks: int, level: float, weight: float) -> tuple[float, float]:
    """(lowest exact coverage over all success rates, that rate) for values that are 0 or 1."""
    from scipy.stats import beta, binom

    s, tail = np.arange(tasks + 1), (1 - level) / 2
    low = beta.ppf(tail, np.maximum(s, 0.5), tasks - s + weight)
    high = beta.ppf(1 - tail, s + weight, np.maximum(tasks - s, 0.5))
    low[0], high[-1] = 0.0, 1.0
    # Between two neighbouring limits coverage has one hump, so its minimum is next to a limit.
    rates = np.concatenate([np.append(low, high) - 1e-10, np.append(low, high) + 1e-10])
    rates = rates[(rates > 1e-9) & (rates < 1 - 1e-9)]
    first, last = np.searchsorted(high, rates), np.searchsorted(low, rates, "right") - 1
    covered = binom.cdf(last, tasks, rates) - binom.cdf(first - 1, tasks, rates)
    return float(covered.min()), float(rates[covered.argmin()])


def lumps(repetitions: int, many: int) -> str:
    """Values that are 0 or 1: exact coverage by weight of the atom, for every number of tasks."""
    sizes = (3, 5, 10, 20, 50, 164, 500)
    parts = []
    for level in (0.9, 0.95, 0.99):
        rows = []
        for weight in WEIGHTS:
            tails = {t: 100 * binomial(t, level, weight)[0] for t in range(2, 501)}
            worst = min(tails, key=lambda t: tails[t])
            rows.append((f"{weight:g}", *(f"{tails[t]:.2f}" for t in sizes),
                         f"{tails[worst]:.2f} (T={worst})"))  # fmt: skip
        head = (f"atom, level {level:g}", *(f"T={t}" for t in sizes), "lowest, T = 2 … 500")
        parts.append(table(head, rows))
    return "Exact, no simulation; the lowest over all success rates, in percent.\n\n" + "\n\n".join(
        parts
    )


def three(work: tuple[int, tuple[float, float, float], float, Guards]) -> float:
    """The lowest exact coverage of the mean of T values from three points, on a grid of
    distributions."""
    from scipy.special import gammaln

    tasks, points, low, law = work
    counts = np.array(
        [(a, b, tasks - a - b) for a in range(tasks + 1) for b in range(tasks + 1 - a)]
    )
    ways = gammaln(tasks + 1) - gammaln(counts + 1).sum(axis=1)
    samples = [IntervalData(np.repeat(points, row), lower_bound=low) for row in counts]
    x, lowest = np.array(points), 1.0
    for mean in np.linspace(max(low, points[0]) + 0.012, 0.988, 30):
        missed = np.array([law.p(sample, mean) < 0.05 for sample in samples])
        for middle in np.unique(np.concatenate([np.geomspace(2e-4, 1, 40), np.linspace(0, 1, 41)])):
            top = (mean - middle * x[1] - (1 - middle) * x[0]) / (x[2] - x[0])
            shares = np.array([1 - middle - top, middle, top])
            if shares.min() >= 0:
                with np.errstate(divide="ignore", invalid="ignore"):
                    logs = ways + np.where(counts > 0, counts * np.log(shares), 0.0).sum(axis=1)
                lowest = min(lowest, 1 - float(np.exp(logs) @ missed))
    return lowest


def nearly(repetitions: int, many: int) -> str:
    """Values on three points, nearly 0 and 1."""
    rows = []
    for tasks in (3, 10, 20):
        for points, low, laws in (
            ((0.0, 0.05, 1.0), 0.0, (HALF, GUARD)),
            ((0.0, 0.5, 1.0), 0.0, (HALF, GUARD)),
            ((0.0, 0.95, 1.0), 0.0, (HALF, GUARD)),
        ):
            cells = [f"{100 * three((tasks, points, low, law)):.1f}" for law in laws]
            rows.append((f"{{{', '.join(f'{p:g}' for p in points)}}}, T={tasks}", *cells))
            print(rows[-1], flush=True)
    head = ("values", "atoms of ½", "`guard`")
    spreads = [
        (f"{spread:g}", *(f"{100 * lowest_coverage_at_bound(spread, w):.1f}"
                          for w in (*WEIGHTS, _rule(spread))),
         f"{_rule(spread):.2f}") for spread in (0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
    ]  # fmt: skip
    columns = ("ρ", *(f"atom {w:g}" for w in WEIGHTS), "the rule", "its weight")
    return (
        "Exact, no simulation: every sample of T tasks, populations on a grid of means (30) and"
        " shares of the\nmiddle value (80); the lowest coverage, in percent.\n\n"
        f"{table(head, rows)}\n\n"
        "Many tasks, of which a Poisson number are 0 and the others spread so that their sum has\n"
        f"variance ρ; the lowest coverage over the mean number, by quadrature.\n\n"
        f"{table(columns, spreads)}"
    )


def _rule(spread: float) -> float:
    return 0.5 + 0.43 * math.exp(-8 * spread)


def lowest_coverage_at_bound(spread: float, weight: float) -> float:
    """The lowest coverage for many tasks, with a Poisson number of tasks at the bound.

    The sum is N − √spread Z, with N Poisson and Z normal. The limits are quantiles of a gamma
    variable of N (+ weight) plus √spread times another normal variable.
    """
    from scipy.optimize import brentq
    from scipy.special import gammaincinv, ndtr
    from scipy.stats import norm, poisson

    root, most = math.sqrt(max(spread, 1e-12)), 80
    u = (np.arange(1500) + 0.5) / 1500

    def quantile(shape: float, p: float) -> float:
        if shape == 0:
            return root * float(norm.ppf(p))
        if spread == 0:
            return float(gammaincinv(shape, p))
        nodes = gammaincinv(shape, u)
        top = shape + 12 * math.sqrt(shape) + 12 + 8 * root
        return float(brentq(lambda y: ndtr((y - nodes) / root).mean() - p, -8 * root - 1, top))

    high = np.array([quantile(i + weight, 1 - TAIL) for i in range(most)])
    low = np.array([quantile(i, TAIL) for i in range(most)])
    rates = np.concatenate([np.arange(0.02, 12, 0.02), np.arange(12, 40, 0.1)])[:, None]
    missed = ndtr((rates - high) / root) + ndtr((low - rates) / root)
    return 1 - float((poisson.pmf(np.arange(most), rates) * missed).sum(axis=1).max())


def wide_cell(
    work: tuple[float, float, int, tuple[int, ...], int, int],
) -> tuple[str, float, float]:
    """Few attempts, n near k, and n that differs from task to task."""
    a, b, tasks, attempts, k, repetitions = work
    metric, n = Metric("pass@", k), np.resize(np.array(attempts), tasks)
    rng = np.random.default_rng([int(10 * a), int(10 * b), tasks, sum(attempts), k])
    true = Cell(a, b, tasks, attempts[0], metric).true()
    cache: dict[bytes, tuple[bool, bool]] = {}
    hits = {"half": 0, "guard": 0}
    for _ in range(repetitions):
        c = rng.binomial(n, rng.beta(a, b, tasks))
        values = np.sort(metric.values(n, c))
        key = values.tobytes()
        if key not in cache:
            sample = IntervalData(values)
            cache[key] = HALF.p(sample, true) >= 0.05, GUARD.p(sample, true) >= 0.05
        hits["half"] += cache[key][0]
        hits["guard"] += cache[key][1]
    attempts_text = "/".join(map(str, attempts))
    name = f"Beta({a:g}, {b:g}), T={tasks}, n={attempts_text}, pass@{k}"
    return name, hits["half"] / repetitions, hits["guard"] / repetitions


WIDE = (((1,), 1), ((5,), 5), ((2,), 1), ((5,), 4), ((20,), 19), ((5, 20), 4), ((3, 10, 20), 1))


def wide(repetitions: int, many: int) -> str:
    reps = many // 5
    designs = [
        (a, b, t, n, k, reps) for a, b in FAMILIES for t in (3, 10, 30, 164) for n, k in WIDE
    ]
    with ProcessPoolExecutor() as pool:
        results = list(pool.map(wide_cell, designs))
    worst = min(results, key=lambda cell: cell[2])
    half = min(results, key=lambda cell: cell[1])
    error = 100 * math.sqrt(0.05 * 0.95 / reps)
    head = ("cell", "`guard`", "atom of ½")
    rows = [(name, f"{100 * now:.1f}", f"{100 * before:.1f}") for name, before, now in results]
    return (
        f"{len(results)} cells, {reps:,} repetitions (Monte-Carlo error {error:.2f} points);"
        " n = 3/10/20: attempts differ\nfrom task to task in turn.\n\n"
        f"- lowest coverage of `guard`: **{100 * worst[2]:.2f} %** ({worst[0]})\n"
        f"- with an atom of ½: {100 * half[1]:.2f} % ({half[0]})\n\n{table(head, rows)}"
    )


ALIKE = ((10, 1, 0.5), (20, 1, 0.5), (20, 1, 0.9), (100, 1, 0.5), (20, 10, 0.1))


def alike_cell(
    work: tuple[int, int, float, int, int],
) -> tuple[float, float, float]:
    """(width of guard against percentile, coverage of guard, of percentile): one rate, pass@k."""
    n, k, rate, tasks, repetitions = work
    lookup = Metric("pass@", k).values(np.full(n + 1, n), np.arange(n + 1))
    true = 1 - (1 - rate) ** k
    rng = np.random.default_rng([n, k, int(100 * rate), tasks, 11])
    hits, widths = dict.fromkeys(("guard", "percentile"), 0), {"guard": 0.0, "percentile": 0.0}
    for values in lookup[rng.binomial(n, rate, (repetitions, tasks))]:
        for method in widths:
            limits = interval(IntervalData(values), method, LEVEL)
            low, high = limits.low or 0.0, 1.0 if limits.high is None else limits.high
            hits[method] += low - 1e-12 <= true <= high + 1e-12
            widths[method] += high - low
    ratio = widths["guard"] / widths["percentile"]
    return ratio, hits["guard"] / repetitions, hits["percentile"] / repetitions


def equal_rates(repetitions: int, many: int) -> str:
    """Width and coverage if all tasks have the same success rate."""
    sizes = (10, 30, 100, 500)
    reps = repetitions // 2
    work = [(n, k, rate, tasks, reps) for n, k, rate in ALIKE for tasks in sizes]
    with ProcessPoolExecutor() as pool:
        ratios = dict(zip(work, pool.map(alike_cell, work), strict=True))
    head = ("n, metric, rate of every task", *(f"T={tasks}" for tasks in sizes))
    rows = []
    for n, k, rate in ALIKE:
        cells = [ratios[n, k, rate, tasks, reps] for tasks in sizes]
        texts = (
            f"{ratio:.2f} ({100 * guarded:.0f}, {100 * plain:.0f})"
            for ratio, guarded, plain in cells
        )
        rows.append((f"n={n}, pass@{k}, {rate:g}", *texts))
    error = 100 * math.sqrt(0.05 * 0.95 / reps)
    return (
        f"Width of `guard` against `percentile`; in brackets the coverage of both in percent."
        f" {reps:,} repetitions\n(Monte-Carlo error {error:.1f} points).\n\n{table(head, rows)}"
    )


# Populations that a sample may not reveal: a few tasks differ much from the rest.
HIDDEN: dict[str, Rates] = {
    "0.97, 10 % of 0.4": points(0.97, 0.4, shares=(0.9, 0.1)),
    "0.5, 5 % never": points(0.5, 0.0, shares=(0.95, 0.05)),
    "Beta(20, 20), 5 % never": never_always_beta(0.05, 0.0, 20, 20),
    "0.6, 10 % of 0.1": points(0.6, 0.1, shares=(0.9, 0.1)),
    "0.8, 3 % never": points(0.8, 0.0, shares=(0.97, 0.03)),
    "0.8, 10 % never": points(0.8, 0.0, shares=(0.9, 0.1)),
}
# Populations outside the grids.
OTHER = {
    "Beta(9, 1)": beta(9, 1),
    "Beta(2, 2)": beta(2, 2),
    "Beta(20, 20)": beta(20, 20),
    "Beta(2, 8)": beta(2, 8),
    "Beta(0.1, 0.3)": beta(0.1, 0.3),
    "0.2 and 0.8": points(0.2, 0.8),
    "0.05 (60 %), 0.6 (40 %)": points(0.05, 0.6, shares=(0.6, 0.4)),
    "logit normal(0.5, 1)": logistic_normal(0.5, 1.0),
    "logit normal(2, 2)": logistic_normal(2.0, 2.0),
    "0.9 at 0, Beta(2, 2)": never_always_beta(0.9, 0.0, 2, 2),
}
# (rows × tasks) values, all ≥ 0 → the distance of the atom of the lower limit from their mean.
Reach = Callable[[np.ndarray], np.ndarray]


def of_sample(x: np.ndarray) -> tuple[np.ndarray, ...]:
    """Mean, standard deviation, skewness and participation ratio (Σ d²)² / Σ d⁴ of each row."""
    mean = x.mean(axis=1)
    d = x - mean[:, None]
    s = np.maximum(x.std(axis=1, ddof=1), 1e-12)
    carried = (d**2).sum(axis=1) ** 2 / np.maximum((d**4).sum(axis=1), 1e-200)
    return mean, s, (d**3).mean(axis=1) / s**3, np.where(s > 1e-9, carried, 0.0)


def bound(x: np.ndarray) -> np.ndarray:
    return x.mean(axis=1)


def within(spreads: float) -> Reach:
    """A reach of at most that many standard deviations."""
    return lambda x: np.minimum(bound(x), spreads * of_sample(x)[1])


def far_from_bounds(spreads: float) -> Reach:
    """The same reach if the other bound is 2 to 3 away, and no tail is longer on the side of the
    atom."""

    def reach(x: np.ndarray) -> np.ndarray:
        mean, s, skew, _ = of_sample(x)
        share = np.clip((1 - mean) / s - 2, 0, 1) * np.clip(1 + 2 * skew, 0, 1)
        return mean - share * (mean - within(spreads)(x))

    return reach


def carried_by_many(spreads: float, few: float, many: float) -> Reach:
    """The same reach if many tasks contribute to the spread: all of it from `many` tasks on, and
    nothing up to `few` tasks."""

    def reach(x: np.ndarray) -> np.ndarray:
        mean, _, _, carried = of_sample(x)
        share = np.clip((carried - few) / (many - few), 0, 1)
        return mean - share * (mean - within(spreads)(x))

    return reach


REACHES: dict[str, Reach] = {
    "`guard`: the atom at the bound": bound,
    "within 3 s": within(3),
    "within 2 s, far from bounds": far_from_bounds(2),
    "within 3 s, far from bounds": far_from_bounds(3),
    "within 3 s, carried by 2 to 5": carried_by_many(3, 2, 5),
    "within 3 s, carried by 8 to 16": carried_by_many(3, 8, 16),
}


def lower_law(x: np.ndarray, reach: Reach) -> tuple[np.ndarray, np.ndarray]:
    """Atoms and weights of the lower limit of each row, the guard atom first."""
    weight = guard_atom_weights(x, np.ones_like(x), np.ones_like(x))
    atom = x.mean(axis=1) - np.minimum(bound(x), reach(x))
    return np.column_stack([atom, x]), np.column_stack([weight, np.ones_like(x)])


def missed(values: np.ndarray, true: float, reach: Reach) -> np.ndarray:
    """Rows with limits that miss the true value, by the exact distribution."""
    out = np.zeros(len(values), dtype=bool)
    for x, at in ((values, true), (1 - values, 1 - true)):
        atoms, weights = lower_law(x, reach)
        out |= weighted_means._tail_probabilities_at_zero(at - atoms, weights)[1] < TAIL
    return out


def coverages(values: np.ndarray, true: float) -> list[float]:
    return [1 - float(missed(values, true, reach).mean()) for reach in REACHES.values()]


def on_grids(rows: int) -> list[list[float]]:
    """Coverage by each reach in the cells of `grid` and `wide`."""
    ranges = []
    for (a, b), t, (n, k) in itertools.product(FAMILIES, TASKS, ATTEMPTS):
        for cell in (Cell(a, b, t, n, Metric("pass@", k)), Cell(b, a, t, n, Metric("pass^", k))):
            ranges.append(coverages(cell.values(cell.rng(5), rows), cell.true()))
    for (a, b), t, (attempts, k) in itertools.product(FAMILIES, (3, 10, 30, 164), WIDE):
        rng = np.random.default_rng([int(10 * a), int(10 * b), t, sum(attempts), k])
        metric, n = Metric("pass@", k), np.resize(np.array(attempts), (rows, t))
        c = rng.binomial(n, rng.beta(a, b, (rows, t)))
        values = metric.values(n.ravel(), c.ravel()).reshape(rows, t)
        ranges.append(coverages(values, Cell(a, b, t, attempts[0], metric).true()))
    return ranges


def on_populations(populations: dict[str, Rates], rows: int) -> list[list[float]]:
    """The same at pass@1 with 5 to 100 tasks and 3 to 100 attempts."""
    ranges = []
    for draw, t, n in itertools.product(populations.values(), (5, 13, 37, 100), (3, 7, 17, 100)):
        rng = np.random.default_rng([t, n, 7])
        true = float(draw(rng, (1, 2_000_000)).mean())
        ranges.append(coverages(rng.binomial(n, draw(rng, (rows, t))) / n, true))
    return ranges


def widths(n: int, rate: float, tasks: int, rows: int) -> list[float]:
    """Widths by each reach, of t, and the smallest one, relative to the percentile bootstrap.

    The smallest width: if a share ε of tasks never (or always) passes, a sample contains none of
    them with probability (1 − ε)^T. Limits that contain the true mean in 94 % have to reach ε of
    the way to the bound in half of these samples as long as this probability is 12 % or more.
    """
    x = np.random.default_rng([n, tasks, 3]).binomial(n, rate, (rows, tasks)) / n
    one_by_one = [(IntervalData(row), method) for method in ("percentile", "t") for row in x]
    ends = [interval(sample, method, LEVEL) for sample, method in one_by_one]
    percentile, t = np.array([(e.high or 0) - (e.low or 0) for e in ends]).reshape(2, -1).mean(1)
    ratios = []
    for reach in REACHES.values():
        laws = [lower_law(side, reach) for side in (x, 1 - x)]
        low, mirrored = (dirichlet_quantiles(a, w, TAIL, np.ones_like(a)) for a, w in laws)
        ratios.append(float((1 - mirrored - low).mean() / percentile))
    return [*ratios, t / percentile, (1 - 0.12 ** (1 / tasks)) / percentile]


# Three Monte-Carlo errors below 95 % with 400 repetitions.
_LOW = 92
ALIKE_WIDTHS = tuple(
    (n, r, t) for n, r in ((10, 0.5), (20, 0.9), (100, 0.5)) for t in (10, 30, 100)
)


def reaches(repetitions: int, many: int) -> str:
    """The gain from an atom closer than the bound if tasks are alike, and its cost.

    It uses one process and simulated populations. The coverage is an approximation to two digits.
    """
    rows = repetitions // 2
    parts = on_grids(rows), on_populations(OTHER, rows), on_populations(HIDDEN, rows)
    covered = [100 * np.array(part) for part in parts]
    ratios = np.array([widths(*design, rows // 4) for design in ALIKE_WIDTHS])
    names = (*REACHES, "t", "least width that covers hidden tasks")
    body = [
        (name, *(f"{r:.2f}" for r in column)) for name, column in zip(names, ratios.T, strict=True)
    ]
    lowest = [
        (name, *(f"{c[:, i].min():.1f} ({(c[:, i] < _LOW).sum()})" for c in covered))
        for i, name in enumerate(REACHES)
    ]
    error = 100 * math.sqrt(0.05 * 0.95 / rows)
    wide = table(("atom", *(f"n={n}, {r:g}, T={t}" for n, r, t in ALIKE_WIDTHS)), body)
    return (
        f"Width against `percentile` where all tasks have one rate, {rows // 4} repetitions:"
        f"\n\n{wide}\n\n"
        f"Lowest coverage in percent, in brackets the number of cells below {_LOW} %; {rows:,}"
        f" repetitions\n(Monte-Carlo error {error:.1f} points):\n\n"
        + table(("atom", "230 cells", "160 others", "96 with hidden tasks"), lowest)
    )


SHARES = (0.0, 0.75, 0.85, 1.0)


def drawn_sizes(kind: str, clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Cluster sizes: lognormal or Pareto with a parameter, at most 400."""
    family, parameter = kind.split()
    if family == "lognormal":
        sizes = 3 * np.exp(rng.normal(0, float(parameter), clusters))
    else:
        sizes = 2 * (1 + rng.pareto(float(parameter), clusters))
    return np.minimum(np.ceil(sizes), 400).astype(int)


def unequal_cell(work: tuple[str, int, float, float, int]) -> tuple[object, ...]:
    """One rate per cluster; the atom's size between an average cluster and Σm²/Σm."""
    kind, clusters, a, b, repetitions = work
    rng = np.random.default_rng(
        [len(kind), int(10 * float(kind.split()[1])), clusters, int(10 * a)]
    )
    true, hits, widths = a / (a + b), dict.fromkeys(SHARES, 0), dict.fromkeys(SHARES, 0.0)
    for i in range(repetitions):
        m = drawn_sizes(kind, clusters, rng).astype(float)
        passed = rng.binomial((20 * m).astype(int), rng.beta(a, b, clusters)) / 20
        codes = np.repeat(np.arange(clusters), m.astype(int))
        sample = IntervalData((passed / m)[codes], clusters=codes)
        weights = [GUARD.weight(sample, bound) for bound in (0.0, 1.0)]
        for share in SHARES:
            size = (1 - share) * m.mean() + share * (m @ m) / m.sum()
            sizes, low, high = np.append(m, size), np.append(passed, 0.0), np.append(passed, size)
            below, above = (np.append(np.ones(clusters), w) for w in weights)
            hits[share] += (
                dirichlet_cdf(low, below, true, sizes) >= TAIL
                and dirichlet_cdf(-high, above, -true, sizes) >= TAIL
            )
            if i < 30:
                ends = (high, above, 1 - TAIL), (low, below, TAIL)
                upper, lower = (
                    dirichlet_quantiles(a[None], w[None], p, sizes[None])[0] for a, w, p in ends
                )
                widths[share] += upper - lower
    texts = (f"{100 * hits[s] / repetitions:.1f} ({widths[s] / widths[0.0]:.2f})" for s in SHARES)
    return (f"{kind}, G={clusters}, Beta({a:g}, {b:g})", *texts)


def unequal(repetitions: int, many: int) -> str:
    reps = many // 10
    designs = [
        (kind, g, a, b, reps)
        for kind in ("lognormal 1", "lognormal 1.5", "Pareto 1.5", "Pareto 1.2")
        for g in (10, 30, 60, 150)
        for a, b in ((2, 2), (0.3, 0.5), (5, 0.5))
    ]
    with ProcessPoolExecutor() as pool:
        rows = list(pool.map(unequal_cell, designs))
    head = ("sizes, clusters, rates", "an average cluster", "¼ and ¾", "0.15 and 0.85", "Σm²/Σm")
    error = 100 * math.sqrt(0.05 * 0.95 / reps)
    return (
        f"{reps:,} repetitions (Monte-Carlo error {error:.1f} points); coverage in percent, in"
        f" brackets the width\nagainst the first column.\n\n{table(head, rows)}"
    )


PARTS: dict[str, Callable[[int, int], str]] = {
    "grid": grid,
    "lumps": lumps,
    "nearly": nearly,
    "wide": wide,
    "alike": equal_rates,
    "reaches": reaches,
    "clusters": clusters,
    "unequal": unequal,
    "these": these_tasks,
    "these-unseen": these_unseen,
    "these-hard": these_hard,
    "these-few": these_few,
    "these-differences": these_differences,
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
