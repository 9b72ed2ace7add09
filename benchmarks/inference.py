"""How fast draws and exact intervals are, against scipy.stats.bootstrap and bare random numbers.

Run: python benchmarks/inference.py [--runs 5]
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np
from measure import keep, machine, table
from scipy import stats

from passk_cli.inference.intervals import Sample, interval
from passk_cli.inference.weights import bootstrap_means
from passk_cli.metrics.registry import Metric, task_values

RESAMPLES, MODELS, N, KS = 10_000, 10, 200, (1, 10, 100)


def values_of(tasks: int) -> np.ndarray:
    """(tasks × 30) values of ten models."""
    rng = np.random.default_rng(0)
    metrics = [Metric("pass@", k) for k in KS]
    columns = []
    for model in range(MODELS):
        rates = rng.beta(0.3 + 0.1 * model, 0.5, tasks)
        columns.append(task_values(metrics, np.full(tasks, N), rng.binomial(N, rates)))
    return np.ascontiguousarray(np.concatenate(columns).T)


def draw_integers(tasks: int) -> None:
    rng = np.random.default_rng(0)
    rows = (1 << 18) // tasks
    for _ in range(-(-RESAMPLES // rows)):
        rng.integers(0, tasks, (rows, tasks))


def scipy_each(values: np.ndarray) -> None:
    for column in values.T:
        stats.bootstrap((column,), np.mean, n_resamples=RESAMPLES, method="percentile", batch=1000,
                        vectorized=True)  # fmt: skip


def scipy_together(values: np.ndarray, batch: int) -> None:
    stats.bootstrap((values,), np.mean, axis=0, n_resamples=RESAMPLES, method="percentile",
                    batch=batch, vectorized=True)  # fmt: skip


def exact(values: np.ndarray) -> None:
    for column in values.T:
        interval(Sample(column), "guard")


def timed(tasks_of: dict[str, Callable[[], object]], runs: int) -> dict[str, float]:
    """Medians of runs in turn, after one warm-up round."""
    seen: dict[str, list[float]] = {name: [] for name in tasks_of}
    for turn in range(runs + 1):
        for name, run in tasks_of.items():
            start = time.perf_counter()
            run()
            if turn:
                seen[name].append(time.perf_counter() - start)
    return {name: median(each) for name, each in seen.items()}


def peak() -> float:
    """Peak MiB of a process that makes the draws and nothing else."""
    script = (
        "import numpy, resource; from passk_cli.inference.weights import bootstrap_means;"
        " bootstrap_means(numpy.random.default_rng(0).random((1000, 30)), 10_000, 0);"
        " print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    small, large = values_of(1_000), values_of(10_000)
    found = timed(
        {
            "passk, draws": lambda: bootstrap_means(small, RESAMPLES, 0),
            "passk, draws, one thread": lambda: bootstrap_means(small, RESAMPLES, 0, threads=1),
            "merely drawing the integers, one thread": lambda: draw_integers(1_000),
            "scipy.stats.bootstrap, one call each, batch 1,000": lambda: scipy_each(small),
            "scipy.stats.bootstrap, all at once, batch 100": lambda: scipy_together(small, 100),
            "scipy.stats.bootstrap, all at once, batch 1,000": lambda: scipy_together(small, 1000),
            "passk, exact guard intervals, 1,000 tasks": lambda: exact(small),
            "passk, exact guard intervals, 10,000 tasks": lambda: exact(large),
        },
        arguments.runs,
    )
    ours = found["passk, draws"]
    rows = [(name, f"{s:.3f}", f"{s / ours:.1f}") for name, s in found.items()]
    text = (
        f"{machine()}; medians of {arguments.runs}; peak memory of the draws {peak():.0f} MiB\n\n"
        + table(("what", "s", "against passk's draws"), rows)
    )
    print(text)
    keep("inference", text)


if __name__ == "__main__":
    main()
