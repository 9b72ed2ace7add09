"""How fast draws and exact intervals are, against scipy.stats.bootstrap and bare random numbers.

`benchmarks/run` calls this: 10,000 resamples of 10 models at k = 1, 10, 100, so 30 intervals.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median

import numpy as np
from scipy import stats

from passk_cli.inference.bootstrap_weights import bootstrap_means
from passk_cli.inference.intervals import IntervalData, interval
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
        interval(IntervalData(column), "guard")


def jobs(tasks: int) -> dict[str, Callable[[], object]]:
    """What → a function that does it."""
    small = values_of(tasks)
    return {
        "passk": lambda: bootstrap_means(small, RESAMPLES, 0),
        "drawing the integers": lambda: draw_integers(tasks),
        "scipy, one call each": lambda: scipy_each(small),
        "scipy, all at once, batch 100": lambda: scipy_together(small, 100),
        "exact intervals": lambda: exact(small),
    }


def timed(jobs_of: Mapping[str, Callable[[], object]], runs: int) -> dict[str, float]:
    """Medians of runs in turn, after one warm-up round."""
    seconds: dict[str, list[float]] = {name: [] for name in jobs_of}
    for turn in range(runs + 1):
        for name, run in jobs_of.items():
            start = time.perf_counter()
            run()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return {name: median(times) for name, times in seconds.items()}
