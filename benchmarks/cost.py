"""Do the limits of the cost per solved task cover for skewed costs, for one model and for two?

Run: nice python benchmarks/cost.py [single|held-out|pairs|unlike|lumps|missing …] [--runs 250]
All sections need five minutes of one core. The script writes the tables of benchmarks/cost.md.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd
from measure import keep, table
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

import passk_cli
from passk_cli.inference.cost_per_success import TaskCosts, compare_costs, cost_per_success

Floats = NDArray[np.float64]
Rng = np.random.Generator
# Success rates over tasks: a half on average, and a twentieth.
HALF, RARE = (1.0, 1.0), (0.3, 6.0)


def lognormal(spread: float) -> Callable[[Floats], Floats]:
    return lambda z: np.exp(spread * z)


def cost_distribution(law: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    """A distribution of costs as a function of normal numbers, so that tasks can share numbers."""
    from scipy.special import ndtr

    return lambda z: law(ndtr(z))


def exponential(u: Floats) -> Floats:
    return -np.log1p(-u)


def gamma_half(u: Floats) -> Floats:
    from scipy.special import gammaincinv

    return np.asarray(gammaincinv(0.5, u))


def two_kinds(u: Floats) -> Floats:
    """A fifth of the tasks cost 20 times as much as the other tasks."""
    return np.where(u > 0.8, 20.0, 1.0)


def capped(u: Floats) -> Floats:
    """A turn limit: two thirds of the attempts reach it."""
    return np.minimum(u * 1.5, 1.0)


LAWS = {
    "σ 1": lognormal(1.0), "σ 1.5": lognormal(1.5), "σ 2": lognormal(2.0),
    "σ 0.5": lognormal(0.5), "exponential": cost_distribution(exponential),
    "gamma ½": cost_distribution(gamma_half), "two kinds": cost_distribution(two_kinds),
    "capped": cost_distribution(capped), "fixed": lambda z: 0 * z + 0.05,
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One situation: distribution of costs, tasks, attempts (0: 1 to 10), distribution of rates,
    the extra cost of a failure, the share of a cost's logarithm that its task (cluster) decides,
    and the tasks of a cluster."""

    law: str
    tasks: int
    n: int
    rates: tuple[float, float] = HALF
    failing: float = 1.0
    shared: float = 0.5
    cluster: int = 1
    scale: float = 1.0

    @property
    def name(self) -> list[object]:
        rates = "rare" if self.rates == RARE else f"{self.pass_rate:.2g}"
        tasks = f"{self.tasks} in groups of {self.cluster}" if self.cluster > 1 else self.tasks
        return [self.law, tasks, self.n or "1–10", rates, f"{self.failing:g}"]

    @property
    def pass_rate(self) -> float:
        return self.rates[0] / sum(self.rates)

    @property
    def truth(self) -> float:
        z = np.sqrt(2) * NODES
        mean = float(WEIGHTS @ LAWS[self.law](z)) if self.law.startswith("σ") else None
        if mean is None:
            u = np.random.default_rng(0).standard_normal(4_000_000)
            mean = float(LAWS[self.law](u).mean())
        p = self.pass_rate
        return self.scale * mean * (p + (1 - p) * self.failing) / p

    def draw_spending(self, rng: Rng, base: Floats | None = None) -> TaskCosts:
        """One data set; base : normal numbers of the groups, shared with another model."""
        n = np.full(self.tasks, self.n) if self.n else rng.integers(1, 11, self.tasks)
        task = np.repeat(np.arange(self.tasks), n)
        group = np.arange(self.tasks) // self.cluster
        base = rng.standard_normal(self.tasks)[group] if base is None else base
        z = np.sqrt(self.shared) * base[task]
        z += np.sqrt(1 - self.shared) * rng.standard_normal(len(task))
        rates = rng.beta(*self.rates, self.tasks)[group if self.cluster > 1 else slice(None)]
        passed = rng.random(len(task)) < rates[task]
        cost = self.scale * LAWS[self.law](z) * np.where(passed, 1.0, self.failing)
        start = np.concatenate([[0], np.cumsum(n)])
        attempts = np.ones(len(task), np.int64), passed.astype(np.int64)
        return TaskCosts.from_attempts(start, cost, *attempts, self.clusters)

    @property
    def clusters(self) -> NDArray[np.int64] | None:
        return np.arange(self.tasks) // self.cluster if self.cluster > 1 else None


NODES, WEIGHTS = np.polynomial.hermite.hermgauss(200)
WEIGHTS = WEIGHTS / WEIGHTS.sum()

SITUATIONS = [
    Cell(law, tasks, n, *more)
    for place, (law, tasks, n) in enumerate(
        product(("σ 1", "σ 1.5", "σ 2"), (8, 20, 50, 150), (1, 3, 10))
    )
    for more in [((HALF, 1.0), (RARE, 3.0), (HALF, 3.0), (RARE, 1.0))[(place + place // 12) % 4]]
]
HELD_OUT = [
    Cell("σ 2", 3, 1), Cell("σ 1", 3, 10, HALF, 3.0), Cell("σ 2", 12, 2, HALF, 2.0, 1.0),
    Cell("σ 2", 35, 5, (4, 1), 5.0, 0.0), Cell("σ 2", 90, 2, RARE, 0.3), Cell("σ 1.5", 35, 0),
    Cell("σ 1.5", 90, 0, RARE, 3.0), Cell("σ 1.5", 60, 3, HALF, 1.0, 1.0, 5),
    Cell("σ 1", 100, 1, HALF, 2.0, 1.0, 4), Cell("σ 0.5", 35, 5, (9, 1)),
    Cell("exponential", 12, 2), Cell("exponential", 90, 1, RARE, 2.0), Cell("gamma ½", 35, 2),
    Cell("two kinds", 12, 5, HALF, 1.0, 1.0), Cell("two kinds", 35, 1, HALF, 1.0, 1.0),
    Cell("capped", 12, 3), Cell("capped", 35, 3, RARE), Cell("fixed", 35, 5),
]  # fmt: skip


def t_limits(spending: TaskCosts, clusters: NDArray[np.int64] | None) -> tuple[float, float]:
    """Fieller's limits with only Student's t."""
    x, y = spending.mean_cost, spending.pass_rate
    size = len(x) if clusters is None else int(clusters.max()) + 1
    away = np.stack([x - x.mean(), y - y.mean()])
    if clusters is not None:
        away = np.stack([np.bincount(clusters, row) for row in away])
    q = -float(stdtrit(size - 1, 0.025))
    (xx, xy), (_, yy) = q * q * away @ away.T * size / (size - 1) / len(x) ** 2
    a, p, c = y.mean() ** 2 - yy, x.mean() * y.mean() - xy, x.mean() ** 2 - xx
    root = np.sqrt(max(p * p - a * c, 0.0))
    return (p - root) / a if a > 0 else 0.0, (p + root) / a if a > 0 else np.inf


def single(cells: list[Cell], runs: int) -> str:
    rows = []
    for place, cell in enumerate(cells):
        rng, true = np.random.default_rng([place, cell.tasks, cell.n]), cell.truth
        limits, by_t, values = [], [], []
        for _ in range(runs):
            sample = cell.draw_spending(rng)
            answer = cost_per_success(sample)
            limits.append((answer.low, answer.high))
            by_t.append(t_limits(sample, cell.clusters))
            values.append(np.nan if answer.value is None else answer.value)
        row = [*cell.name]
        for low, high in (np.array(limits).T, np.array(by_t).T):
            covers = (low <= true * (1 + 1e-9)) & (high >= true * (1 - 1e-9))
            wide = np.nanmedian(high / np.array(values))
            row += [f"{100 * covers.mean():.1f}", f"{100 * (high < true).mean():.1f}",
                    "∞" if np.isinf(wide) else f"{wide:.1f}"]  # fmt: skip
        row.append(f"{100 * np.isnan(values).mean():.0f}")
        rows.append(row)
    head = [
        "costs", "tasks", "n", "pass rate", "a failure costs ×", "covers %", "too low %",
        "upper limit / value", "t: covers %", "t: too low %", "t: upper limit / value",
        "nothing passed %",
    ]  # fmt: skip
    return f"{errors(runs)}\n\n{table(head, rows)}"


def pairs(runs: int) -> str:
    """Size if both models cost the same, and power if one model costs half. Tasks share their
    costs."""
    rows = []
    first = Cell("σ 1", 20, 3, (2, 2))
    kinds = {
        "alike": (first, first),
        "cheap and unreliable": (
            replace(first, rates=(1, 4)), replace(first, rates=(4, 1), scale=4.0),
        ),
        "both rare": (replace(first, rates=RARE), replace(first, rates=RARE)),
        "failures cost × 3 and × 1": (
            replace(first, failing=3.0), replace(first, scale=2.0),
        ),
        "half the cost": (first, replace(first, scale=2.0)),
    }  # fmt: skip
    sizes = (("σ 1", 8, 1), ("σ 2", 8, 10), ("σ 2", 20, 3), ("σ 1", 50, 1), ("σ 2", 150, 3))
    grid = [(kind, *size, "") for kind, size in product(kinds, sizes)]
    few = (8, 1), (8, 0), (3, 1), (3, 3)
    grid += [("half the cost", "σ 2", *size, "few tasks") for size in few]
    grid += [(kind, "σ 1.5", 3, 5, "held out") for kind in ("alike", "half the cost")]
    grid += [(kind, "σ 1.5", 35, 0, "held out") for kind in kinds]
    for place, (kind, law, tasks, n, marked) in enumerate(grid):
        cell_a, cell_b = (replace(cell, law=law, tasks=tasks, n=n) for cell in kinds[kind])
        true, gap = cell_a.truth / cell_b.truth, cell_a.truth - cell_b.truth
        rng = np.random.default_rng([place, tasks])
        hits = np.zeros(4)
        for _ in range(runs):
            base = rng.standard_normal(tasks)
            a, b = cell_a.draw_spending(rng, base), cell_b.draw_spending(rng, base)
            answer = compare_costs([a, b], adjust=False)[0]
            ratio, difference = answer.ratio, answer.difference
            assert ratio.low is not None
            assert ratio.high is not None
            assert difference.low is not None
            assert difference.high is not None
            tolerance = 1e-9 * cell_a.truth
            hits += [
                ratio.low <= true * (1 + 1e-9) and ratio.high >= true * (1 - 1e-9),
                difference.low <= gap + tolerance and difference.high >= gap - tolerance,
                answer.p <= 0.05, plain_t(a, b) <= 0.05,
            ]  # fmt: skip
        shares = [f"{100 * share:.1f}" for share in hits / runs]
        rows.append([kind, law, tasks, n or "1–10", f"{true:.3g}", *shares, marked])
    head = [
        "models", "costs", "tasks", "n", "θ₁/θ₂", "covers θ₁/θ₂ %", "covers θ₁ − θ₂ %",
        "rejects %", "t rejects %", "",
    ]  # fmt: skip
    return f"{errors(runs)}\n\n{table(head, rows)}"


def unlike(runs: int) -> str:
    """Equal cost per success of two models that fail at unlike prices: size of the test."""
    rows = []
    for (dear, cheap), spread, rates, (tasks, n) in product(
        ((8.0, 0.2), (3.0, 0.5)), (0.0, 1.0), (HALF, (9.0, 1.0)),
        ((3, 5), (20, 1), (60, 1), (60, 4), (200, 1)),
    ):  # fmt: skip
        rng = np.random.default_rng([tasks, n, int(10 * cheap), int(10 * spread), int(rates[0])])
        rejects, covers = [], []
        for _ in range(runs):
            results = []
            for failing in (dear, cheap):
                task, start = np.repeat(np.arange(tasks), n), np.arange(tasks + 1) * n
                passed = rng.random(tasks * n) < rng.beta(*rates, tasks)[task]
                cost = np.where(passed, 1.0, failing) * np.exp(spread * rng.normal(size=tasks * n))
                p = rates[0] / sum(rates)
                true = (p + (1 - p) * failing) / p
                counts = np.ones(tasks * n, np.int64)
                results.append(
                    TaskCosts.from_attempts(start, cost / true, counts, passed.astype(np.int64))
                )
            answer = compare_costs(results, adjust=False)[0]
            rejects.append(answer.p <= 0.05)
            low, high = answer.ratio.low, answer.ratio.high
            covers.append((low or 0.0) <= 1.0 <= (np.inf if high is None else high))
        rows.append([f"× {dear:g} and × {cheap:g}", f"{spread:g}", f"Beta{rates}", tasks, n,
                     f"{100 * np.mean(rejects):.1f}", f"{100 * np.mean(covers):.1f}"])  # fmt: skip
    head = ["failures cost", "σ", "rates", "tasks", "n", "rejects %", "ratio covered %"]
    return f"{errors(runs)}\n\n{table(head, rows)}"


def lumps(runs: int) -> str:
    """Coverage if a share of the tasks costs many times as much, and how often passk reports it."""
    rows = []
    for (share, times), tasks, n in product(
        ((0.05, 50.0), (0.1, 20.0), (0.02, 100.0)), (20, 60, 100, 200, 500), (1, 4)
    ):
        rng = np.random.default_rng([tasks, n, int(times)])
        true, covers, reported = 2 * (1 + share * (times - 1)), [], []
        for _ in range(runs):
            task, start = np.repeat(np.arange(tasks), n), np.arange(tasks + 1) * n
            passed = rng.random(tasks * n) < rng.beta(1, 1, tasks)[task]
            cost = np.where(rng.random(tasks) < share, times, 1.0)[task]
            counts = np.ones(tasks * n, np.int64)
            spending = TaskCosts.from_attempts(start, cost, counts, passed.astype(np.int64))
            answer = cost_per_success(spending)
            high = np.inf if answer.high is None else answer.high
            covers.append((answer.low or 0.0) <= true <= high)
            reported.append(bool(spending.effective_tasks_if_few))
        quiet_covers = [c for c, few in zip(covers, reported, strict=True) if not few]
        rows.append([f"{100 * share:g} % × {times:g}", tasks, n, f"{100 * np.mean(covers):.1f}",
                     f"{100 * np.mean(reported):.0f}",
                     f"{100 * np.mean(quiet_covers):.0f}" if len(quiet_covers) >= 20
                     else "–"])  # fmt: skip
    for law, tasks in product(("σ 0.5", "σ 1", "σ 2"), (20, 60, 200)):
        cell = Cell(law, tasks, 1)
        rng = np.random.default_rng([tasks, len(law)])
        reported = [bool(cell.draw_spending(rng).effective_tasks_if_few) for _ in range(runs)]
        rows.append([f"no lumps, {law}", tasks, 1, "", f"{100 * np.mean(reported):.0f}", ""])
    head = ["dear tasks", "tasks", "n", "covers %", "warned %", "covers % where not warned"]
    return f"{errors(runs)}\n\n{table(head, rows)}"


# Which costs are missing.
MISSING: dict[str, Callable[[Rng, Floats, NDArray[np.bool_]], NDArray[np.bool_]]] = {
    "any, 10 %": lambda rng, cost, passed: rng.random(len(cost)) < 0.1,
    "of failures, 30 %": lambda rng, cost, passed: ~passed & (rng.random(len(cost)) < 0.3),
    "of the dearest fifth, half": lambda rng, cost, passed: (
        (cost > np.quantile(cost, 0.8)) & (rng.random(len(cost)) < 0.5)
    ),
    "held out: of passes, 20 %": lambda rng, cost, passed: passed & (rng.random(len(cost)) < 0.2),
}


def missing(runs: int) -> str:
    """Coverage of the cost per success with missing costs, by --missing-cost."""
    rows = []
    for (name, lacks), (tasks, n) in product(MISSING.items(), ((20, 4), (80, 6))):
        rng = np.random.default_rng([tasks, n, len(name)])
        covers: dict[str, list[bool]] = {policy: [] for policy in ("drop", "mean", "bounds")}
        values: dict[str, list[float]] = {policy: [] for policy in covers}
        true = 2 * 1.5 * np.exp(0.5)
        for _ in range(runs):
            task = np.repeat(np.arange(tasks), n)
            passed = rng.random(tasks * n) < rng.beta(1, 1, tasks)[task]
            cost = np.where(passed, 1.0, 2.0) * np.exp(
                np.sqrt(0.5) * (rng.normal(size=tasks)[task] + rng.normal(size=tasks * n))
            )
            cost = np.where(lacks(rng, cost, passed), np.nan, cost)
            data = pd.DataFrame({"model": "m", "task": task.astype(str), "passed": passed,
                                 "cost": cost})  # fmt: skip
            for policy, coverage in covers.items():
                try:
                    estimates = passk_cli.cost(data, missing_cost=policy).frame
                except passk_cli.DataError:  # a task without any cost has no mean
                    continue
                row = estimates[estimates["metric"] == "cost-per-success"].iloc[0]
                low = 0.0 if pd.isna(row["low"]) else row["low"]
                high = np.inf if pd.isna(row["high"]) else row["high"]
                coverage.append(low <= true <= high)
                values[policy].append(row["estimate"] / true)
        for policy, coverage in covers.items():
            texts = ("–", "–") if len(coverage) < runs / 4 else (
                f"{100 * np.mean(coverage):.0f}", f"{np.nanmedian(values[policy]):.2f}"
            )  # fmt: skip
            rows.append([name, f"{tasks} × {n}", policy, *texts,
                         f"{100 * (1 - len(coverage) / runs):.0f}"])  # fmt: skip
    head = ["missing costs", "tasks × attempts", "--missing-cost", "covers %",
            "estimate / truth, median", "refused %"]  # fmt: skip
    return f"{errors(runs)}\n\n{table(head, rows)}"


def plain_t(a: TaskCosts, b: TaskCosts) -> float:
    """Two-sided p of the same statistic with only Student's t."""
    means = [series.mean() for series in (a.mean_cost, a.pass_rate, b.mean_cost, b.pass_rate)]
    x1, y1, x2, y2 = (float(mean) for mean in means)
    d = a.mean_cost * y2 + x1 * b.pass_rate - b.mean_cost * y1 - x2 * a.pass_rate
    error = d.std(ddof=1) / len(d) ** 0.5
    return float(2 * stdtr(len(d) - 1, -abs(x1 * y2 - x2 * y1) / error)) if error > 0 else 1.0


def errors(runs: int) -> str:
    return (
        f"{runs:,} runs a row; Monte-Carlo error at 5 %: {100 * (0.05 * 0.95 / runs) ** 0.5:.1f}"
        " points"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[
        "single", "held-out", "pairs", "unlike", "lumps", "missing", [],
    ])  # fmt: skip
    parser.add_argument("--runs", type=int, default=250)
    arguments = parser.parse_args()
    sections = {
        "single": lambda runs: single(SITUATIONS, runs),
        "held-out": lambda runs: single(HELD_OUT, runs),
        "pairs": pairs,
        "unlike": unlike,
        "lumps": lumps,
        "missing": missing,
    }
    for name in arguments.sections or sections:
        keep(name, sections[name](arguments.runs), "cost.md")
