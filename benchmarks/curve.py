"""How fast `passk curve` is, and whether whole curves lie inside their bands.

Run: python benchmarks/curve.py [--runs 5] [--bands] [--these] [--repetitions 500]
Writes its tables into benchmarks/curve.md; with --bands or --these the coverage.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from math import sqrt
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from guards import holds
from measure import in_turn, keep, machine, table

from passk_cli.inference.bands import (
    band_level_these_tasks,
    band_levels_new_tasks,
    log_spaced_ks,
    pointwise_level,
)
from passk_cli.inference.hierarchical_model import count_histogram
from passk_cli.inference.hull_interval import posterior_and_pivot_hull_of_mean
from passk_cli.inference.intervals import IntervalData, interval
from passk_cli.inference.populations import NEW_TASKS, THESE_TASKS
from passk_cli.inference.sampling_variance import jackknife_variance
from passk_cli.inference.weighted_means import STANDARD_NORMAL
from passk_cli.metrics.heterogeneity import pass_curves_from_rates
from passk_cli.metrics.pass_k import pass_at_and_hat_curves
from passk_cli.metrics.registry import Metric

LEVEL = 0.95
NEW = (((0.3, 0.5), 20), ((2.0, 2.0), 20), ((5.0, 0.5), 20), ((0.5, 5.0), 20))
TASKS = (30, 164)
THESE = ((20, 10), (5, 5))


def counts(models: int, tasks: int, n: int) -> str:
    """Counts of several models as CSV, success rates from Beta(0.6, 0.6)."""
    rng = np.random.default_rng(0)
    rates = rng.beta(0.6, 0.6, tasks)
    lines = ["model,task,n,c"]
    for model in range(models):
        shifted = rates / (rates + (1 - rates) * np.exp(0.1 * model))
        lines += [f"m{model},t{t},{n},{c}" for t, c in enumerate(rng.binomial(n, shifted))]
    return "\n".join(lines)


def speed(runs: int) -> None:
    passk = [sys.executable, "-m", "passk_cli"]
    with tempfile.TemporaryDirectory() as folder:
        many, long = Path(folder) / "many.csv", Path(folder) / "long.csv"
        many.write_text(counts(10, 1000, 1000))
        long.write_text(counts(1, 164, 10_000))
        ten = "10 models × 1,000 tasks × n = 1,000"
        commands = {
            f"passk estimate, {ten}": [*passk, "estimate", many],
            f"passk curve, {ten}": [*passk, "curve", many],
            f"… --band simultaneous, {ten}": [*passk, "curve", many, "--band", "simultaneous"],
            f"… --delta, {ten}": [*passk, "curve", many, "--delta"],
            "passk curve --points all --interval none, 164 tasks × n = 10,000": [
                *passk, "curve", long, "--points", "all", "--interval", "none",
            ],
            "… as csv (20,000 rows)": [
                *passk, "curve", long, "--points", "all", "--interval", "none", "-f", "csv",
            ],
        }  # fmt: skip
        measurements = in_turn(
            {k: [str(c) for c in command] for k, command in commands.items()}, runs
        )
    rows = [(name, f"{r.seconds:.2f}", f"{r.mebibytes:,.0f}") for name, r in measurements.items()]
    text = (
        f"{machine()}; medians of {runs}\n\n{table(('whole process', 'wall s', 'peak MiB'), rows)}"
    )
    print(text)
    keep("speed", text, file="curve.md")


def new_rows(repetitions: int) -> Iterator[tuple[object, ...]]:
    for place, ((a, b), n) in enumerate(NEW):
        steps = np.arange(n)
        hat = np.cumprod((a + steps) / (a + b + steps))
        at = 1 - np.cumprod((b + steps) / (a + b + steps))
        truth, ks = np.concatenate([at, hat]), np.arange(1, n + 1)
        for tasks in TASKS:
            rng = np.random.default_rng([place, tasks])
            sizes = np.full(tasks, n)
            inside, levels = np.zeros(2), []
            for seed in range(repetitions):
                c = rng.binomial(n, rng.beta(a, b, tasks))
                values = np.hstack(pass_at_and_hat_curves(sizes, c, n)).T
                arguments = (sizes, c, log_spaced_ks(ks))
                levels += band_levels_new_tasks([arguments], LEVEL, resamples=2000, seed=seed)
                for index, level in enumerate((LEVEL, levels[-1])):
                    limits = [interval(IntervalData(row), level=level) for row in values]
                    inside[index] += all(
                        i.low <= t <= i.high for i, t in zip(limits, truth, strict=True)
                    )
            yield table_row(
                f"Beta({a:g}, {b:g})", NEW_TASKS, tasks, n, n, inside / repetitions, levels
            )


def these_rows(repetitions: int) -> Iterator[tuple[object, ...]]:
    for place, ((a, b), _) in enumerate(NEW):
        for tasks in TASKS:
            for n, k_max in THESE:
                p = np.random.default_rng([place, tasks]).beta(a, b, tasks)
                sizes, ks = np.full(tasks, n), np.arange(1, k_max + 1)
                rng = np.random.default_rng([place, tasks, n])
                inside, levels = np.zeros(3), []
                for seed in range(repetitions):
                    c = rng.binomial(n, p)
                    levels.append(
                        band_level_these_tasks(sizes, c, ks, LEVEL, resamples=2000, seed=seed)
                    )
                    inside += whole_curve(sizes, c, p, k_max, levels[-1])
                share = inside / repetitions
                yield table_row(f"Beta({a:g}, {b:g})", THESE_TASKS, tasks, n, k_max, share, levels)


def whole_curve(
    n: np.ndarray, c: np.ndarray, p: np.ndarray, k_max: int, level: float
) -> tuple[bool, bool, bool]:
    """Whether all values are inside: hull by itself, in a band, and the earlier jackknife in a
    band."""
    tails = (1 - LEVEL) / 2, (1 - level) / 2
    inside = [True, True, jackknife_band(n, c, p, min(k_max, int(n[0]) - 1))]
    for k in range(1, k_max + 1):
        for family, rates in (("pass@", 1 - p), ("pass^", p)):
            limits, truth = (
                posterior_and_pivot_hull_of_mean(Metric(family, k), count_histogram(n, c)),
                float((rates**k).mean()),
            )
            if family == "pass@" and not limits.describes_complement:
                truth = 1 - truth
            for index, tail in enumerate(tails):
                inside[index] &= holds(limits, truth, tail)
    return inside[0], inside[1], inside[2]


def jackknife_band(n: np.ndarray, c: np.ndarray, p: np.ndarray, k_max: int) -> bool:
    """Whether both curves are inside the band of jackknife intervals of an earlier version."""

    def curves(n: np.ndarray, c: np.ndarray) -> np.ndarray:
        return np.hstack(pass_at_and_hat_curves(n, c, k_max)).T

    values, *left_out_values = (
        curves(*pair)
        for pair in ((n, c), (n - 1, np.maximum(c - 1, 0)), (n - 1, np.minimum(c, n - 1)))
    )
    scales = (np.sqrt(w * (n - 1) / n) for w in (c, n - c))
    errors = np.hstack([(o - values) * s for o, s in zip(left_out_values, scales, strict=True)])
    roots, axes = np.linalg.eigh(errors @ errors.T)
    normal = np.random.default_rng(int(c.sum())).standard_normal((2000, len(roots)))
    draws = normal @ (axes * np.sqrt(np.maximum(roots, 0))).T
    level = pointwise_level(draws, LEVEL)
    exact = pass_curves_from_rates(p, np.arange(1, k_max + 1))
    se = np.sqrt(jackknife_variance(curves, n, c).sum(axis=1)) / len(n)
    reach = STANDARD_NORMAL.inv_cdf((1 + level) / 2) * se
    expected_gap = np.abs(values.mean(axis=1) - np.concatenate([exact.pass_at_k, exact.pass_hat_k]))
    return bool(np.all(expected_gap <= reach + 1e-12))


def table_row(
    name: str, population: str, tasks: int, n: int, k: int, inside: np.ndarray, levels: list[float]
) -> tuple[object, ...]:
    pointwise, simultaneous, *before = (f"{100 * share:.1f}" for share in inside)
    level, before = f"{100 * np.mean(levels):.1f}", before[0] if before else "–"
    return name, population, tasks, n, f"1–{k}", pointwise, simultaneous, level, before


def bands(repetitions: int, part: str) -> None:
    start = time.perf_counter()
    kept_rows = []
    for rows in (new_rows,) if part == "bands" else (these_rows,):
        for row in rows(repetitions):
            kept_rows.append(row)
            print(*row, sep="\t", flush=True)
    head = (
        "success rates", "population", "tasks", "n", "k", "pointwise %", "simultaneous %",
        "level at each k %", "before %",
    )  # fmt: skip
    error = 100 * sqrt(LEVEL * (1 - LEVEL) / repetitions)
    note = f"{repetitions:,} repetitions a cell; Monte-Carlo error at 95 %: {error:.1f} points"
    keep(part, f"{note}\n\n{table(head, kept_rows)}", file="curve.md")
    print(f"{time.perf_counter() - start:.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--bands", action="store_true")
    parser.add_argument("--these", action="store_true")
    parser.add_argument("--repetitions", type=int, default=500)
    arguments = parser.parse_args()
    if arguments.bands or arguments.these:
        bands(arguments.repetitions, "these" if arguments.these else "bands")
    else:
        speed(arguments.runs)


if __name__ == "__main__":
    main()
