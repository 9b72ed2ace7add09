"""Missing outcomes: do both ends hold what is in between, and who is warned of uneven losses?

Run: nice python benchmarks/missing.py [--runs 400]
Writes the tables of benchmarks/missing.md.  Nothing here was tuned; the last rows of tables are of
other populations and seeds than those that were looked at while the code was written.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator

import numpy as np
from measure import keep, table
from numpy.typing import NDArray

from passk_cli.inference.intervals import METHODS
from passk_cli.inference.populations import NEW_TASKS, THESE_TASKS
from passk_cli.metrics.registry import parse_metric_list
from passk_cli.outcomes.counts import Counts
from passk_cli.outcomes.missing_outcomes import MissingOutcomeCounts
from passk_cli.study.analysis import Analysis
from passk_cli.study.confidence import Confidence
from passk_cli.study.missing_outcomes import uneven_missing_pairs
from passk_cli.study.pairwise_tests import compare_pairs
from passk_cli.study.significance_options import ComparisonOptions
from passk_cli.study.values import compute_values

Ints = NDArray[np.int64]
Rng = np.random.Generator
# How often an attempt that fails, and one that passes, has no outcome.
LOSSES = {"by chance": (0.1, 0.1), "failures only": (0.2, 0.0), "passes only": (0.0, 0.2),
          "failures more": (0.2, 0.05), "passes more": (0.05, 0.2)}  # fmt: skip


def counts_of(n: Ints, c: Ints, missing: Ints | None = None) -> Counts:
    """Models × tasks as counts."""
    models, tasks = n.shape
    series = [(f"m{m}",) for m in range(models) for _ in range(tasks)]
    names = [f"t{t:04}" for _ in range(models) for t in range(tasks)]
    flat = None if missing is None else missing.ravel()
    return Counts.from_columns(series, names, n.ravel(), c.ravel(), missing=flat)


def lose(rng: Rng, n: Ints, c: Ints, rates: tuple[float, float]) -> tuple[Ints, Ints]:
    """(failures, passes) that have no outcome."""
    return rng.binomial(n - c, rates[0]), rng.binomial(c, rates[1])


def fill_ins(rng: Rng, counts: Counts, number: int) -> Iterator[Counts]:
    """Random completions of the missing outcomes, including cells of only failures or passes."""
    assert counts.missing is not None
    for i in range(number):
        share = rng.random(len(counts.n)) if i % 2 else rng.integers(0, 2, len(counts.n))
        passing = rng.binomial(counts.missing, share)
        yield Counts.from_columns(
            [counts.series[s] for s in counts.series_codes],
            [counts.tasks[t] for t in counts.task_codes],
            counts.n, counts.c + passing,
        )  # fmt: skip


def distances_beyond(runs: int, seed: int, sizes: list[tuple[int, int]]) -> list[list[object]]:
    """The distance of the limits or p of a completion from those at both ends."""
    rows: list[list[object]] = []
    for tasks, attempts in sizes:
        for population in (NEW_TASKS, THESE_TASKS):
            for name, method in METHODS.items():
                single = name in ("wilson", "clopper-pearson")
                if population not in method.populations or (single and attempts > 1):
                    continue
                rows.append(_distance_beyond(runs, seed, tasks, attempts, population, name))
    return rows


def _distance_beyond(
    runs: int, seed: int, tasks: int, attempts: int, population: str, name: str
) -> list[object]:
    rng = np.random.default_rng(seed)
    k = max(1, attempts // 2)
    metrics = parse_metric_list(f"pass@{k}")
    confidence = Confidence(
        interval=None if name == "hull" else name, population=population, resamples=200
    )
    worst, outside = 0.0, 0
    for _ in range(runs):
        n = np.full((1, tasks), attempts)
        c = rng.binomial(n, rng.beta(0.5, 0.5, (1, tasks)))
        counts = counts_of(n, c, np.minimum(n - c, rng.binomial(n - c, 0.3)))
        assert counts.missing is not None
        if not counts.missing.any():
            continue
        low, high = (
            Analysis(counts.with_missing_as(passing=end), metrics, confidence).results()[0].estimate
            for end in (False, True)
        )
        if None in (low.low, low.high, high.low, high.high):
            continue
        excess = 0.0
        for fill_in in fill_ins(rng, counts, 10):
            e = Analysis(fill_in, metrics, confidence).results()[0].estimate
            if e.low is not None and e.high is not None:
                bottom, top = min(low.low or 0, high.low or 0), max(low.high or 0, high.high or 0)
                excess = max(excess, bottom - e.low, e.high - top)
        worst, outside = max(worst, excess), outside + (excess > 1e-6)
    verdict = "refused" if not METHODS[name].nearly_monotone_in_values else "shown"
    return [
        population,
        name,
        tasks,
        attempts,
        f"{100 * outside / runs:.0f}",
        f"{worst:.4f}",
        verdict,
    ]


def covered(runs: int, seed: int, sizes: list[tuple[int, int, float, float]]) -> list[list[object]]:
    """How often the interval of pass@1 contains the mean of the population, by policy."""
    rows: list[list[object]] = []
    metrics, confidence = parse_metric_list("pass@1"), Confidence()
    for tasks, attempts, a, b in sizes:
        truth = a / (a + b)
        for words, rates in LOSSES.items():
            rng = np.random.default_rng(seed)
            hits, widths = np.zeros(4), np.zeros(4)
            for _ in range(runs):
                n = np.full((1, tasks), attempts)
                c = rng.binomial(n, rng.beta(a, b, (1, tasks)))
                failures, passes = lose(rng, n, c, rates)
                observed = np.maximum(n - failures - passes, 0)
                tasks_left = observed[0] > 0
                complete = counts_of(n, c)
                fail = counts_of(n, c - passes)
                drop = counts_of(observed[:, tasks_left], (c - passes)[:, tasks_left])
                bounds = counts_of(n, c - passes, failures + passes)
                for i, counts in enumerate((complete, fail, drop, bounds)):
                    e = Analysis(counts, metrics, confidence).results()[0].estimate
                    assert e.low is not None
                    assert e.high is not None
                    hits[i] += e.low <= truth <= e.high
                    widths[i] += e.high - e.low
            shares = [f"{100 * share:.1f}" for share in hits / runs]
            wide = [f"{width:.3f}" for width in widths[1:] / runs]
            rows.append([f"Beta({a:g}, {b:g})", tasks, attempts, words, *shares, *wide])
    return rows


def verdicts(runs: int, seed: int, sizes: list[tuple[int, int]]) -> list[list[object]]:
    """How often equal models are reported as different, by policy, if one model loses outcomes."""
    rows: list[list[object]] = []
    metrics, confidence = parse_metric_list("pass@1"), Confidence(resamples=1000)
    for tasks, attempts in sizes:
        for words, rates in LOSSES.items():
            rng, hits = np.random.default_rng(seed), np.zeros(3)
            for _ in range(runs):
                n = np.full((2, tasks), attempts)
                c = rng.binomial(n, rng.beta(1, 1, tasks))
                failures, passes = (x * [[1], [0]] for x in lose(rng, n, c, rates))
                observed = n - failures - passes
                tasks_left = (observed > 0).all(axis=0)
                cases = (
                    counts_of(n, c - passes),
                    counts_of(observed[:, tasks_left], (c - passes)[:, tasks_left]),
                    counts_of(n, c - passes, failures + passes),
                )
                for i, counts in enumerate(cases):
                    first, second = compute_values(counts, metrics)
                    [pair] = compare_pairs([(first, second)], confidence, ComparisonOptions())
                    hits[i] += pair.verdict in ("better", "worse")
            rows.append([tasks, attempts, words, *(f"{100 * hit / runs:.1f}" for hit in hits)])
    return rows


def uneven(runs: int, seed: int) -> list[list[object]]:
    """How often losses are reported as uneven: of attempts or of whole tasks, equal or unequal."""
    from scipy.stats import fisher_exact

    rows: list[list[object]] = []
    cells = [(20, 10), (50, 4), (200, 1), (10, 5)]
    for tasks, attempts in cells:
        for words, rates, drops_tasks in (
            ("alike, attempts", (0.1, 0.1), False), ("alike, whole tasks", (0.1, 0.1), True),
            ("alike, hard tasks", (0.1, 0.1), None),
            ("3 against 20 %, attempts", (0.03, 0.2), False),
            ("3 against 20 %, whole tasks", (0.03, 0.2), True),
        ):  # fmt: skip
            rng, rejections, fisher = np.random.default_rng(seed), 0, 0
            for _ in range(runs):
                lost = _lost(rng, tasks, attempts, rates, drops_tasks)
                models = [f"m{m}" for m in range(2) for _ in range(tasks)]
                units = [(f"t{t:04}",) for _ in range(2) for t in range(tasks)]
                sizes = np.full(2 * tasks, attempts)
                rejections += bool(
                    uneven_missing_pairs(
                        MissingOutcomeCounts.from_rows(models, units, sizes, lost.ravel())
                    )
                )
                sums, all_made = lost.sum(axis=1), tasks * attempts
                test = fisher_exact([[s, all_made - s] for s in sums.tolist()])
                fisher += float(test.pvalue) <= 0.05
            shares = [f"{100 * alarms / runs:.1f}" for alarms in (fisher, rejections)]
            rows.append([tasks, attempts, words, *shares])
    return rows


def _lost(
    rng: Rng, tasks: int, attempts: int, rates: tuple[float, float], whole_tasks: bool | None
) -> Ints:
    """Attempts lost by two models: one by one, a task at a time, or at tasks hard for each."""
    if whole_tasks is None:
        rate = np.array([rng.beta(0.1, 0.9, tasks) for _ in rates])
        return rng.binomial(attempts, rate)
    if whole_tasks:
        return np.array([rng.binomial(1, rate, tasks) * attempts for rate in rates])
    return np.array([rng.binomial(attempts, rate, tasks) for rate in rates])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=400)
    runs = parser.parse_args().runs
    warnings.simplefilter("ignore")
    error = (
        f"{runs} runs a cell; Monte-Carlo error at 95 %: {100 * (0.0475 / runs) ** 0.5:.1f} points"
    )
    rows = covered(runs, 1, [(30, 5, 2, 2), (100, 4, 0.5, 0.5)])
    rows += covered(runs, 77, [(50, 3, 3, 1)])
    head = ["rates", "tasks", "n", "missing", "nothing lost", "fail", "drop", "bounds",
            "width fail", "drop", "bounds"]  # fmt: skip
    keep("coverage", f"{error}\n\n{table(head, rows)}", "missing.md")
    rows = verdicts(runs, 2, [(50, 4), (200, 1)]) + verdicts(runs, 78, [(100, 3)])
    head = ["tasks", "n", "missing", "fail", "drop", "bounds"]
    keep("verdicts", f"{error}\n\n{table(head, rows)}", "missing.md")
    fewer = max(runs // 10, 10)
    rows = distances_beyond(fewer, 3, [(10, 4), (30, 5), (20, 1)]) + distances_beyond(
        fewer, 79, [(20, 2)]
    )
    head = ["population", "interval", "tasks", "n", "% outside", "furthest", "with bounds"]
    words = f"{fewer} data sets a cell, 10 fill-ins of each"
    keep("beyond", f"{words}\n\n{table(head, rows)}", "missing.md")
    head = ["tasks", "n", "lost", "Fisher, attempts", "passk"]
    keep("uneven", f"{error}\n\n{table(head, uneven(runs, 4))}", "missing.md")


if __name__ == "__main__":
    main()
