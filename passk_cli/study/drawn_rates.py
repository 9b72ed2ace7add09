"""Success rates of tasks as data show them: drawn from their posterior, and metrics at them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from passk_cli.inference.hierarchy import drawn_rates
from passk_cli.inference.streams import stream
from passk_cli.metrics.registry import Metric, task_values
from passk_cli.outcomes.counts import Counts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def posterior_rates(counts: Counts, s: int, runs: int, seed: int, *, alike: bool) -> Floats:
    """Draws of the success rates of a series, (runs × tasks).

    alike : every task has the pass rate of the series instead.
    """
    rows = counts.rows_of(s)
    n, c = judged_attempts(counts)[rows], counts.c[rows]
    known = n > 0
    if not known.any():
        return np.full((runs, len(n)), 0.5)
    n, c = n[known], c[known]
    generator = stream(seed, f"rehearsed rates {' '.join(counts.series[s])}")
    rates = drawn_rates(n, c, runs, generator)
    if alike:
        rates[:] = float((c / n).mean())
    # A task without any outcome is like some other one.
    places = np.tile(np.flatnonzero(known).searchsorted(np.arange(len(known))), (runs, 1))
    places[:, ~known] = generator.integers(0, len(n), (runs, int((~known).sum())))
    every: Floats = np.take_along_axis(rates, np.minimum(places, len(n) - 1), axis=1)
    return every


def nearest_first(drawn: Floats, n: Ints, c: Ints, metrics: Sequence[Metric]) -> Ints:
    """The draws, those first at which the metrics are nearest to the observed ones.

    Distances are counted in standard deviations of the draws.
    """
    distance = np.zeros(len(drawn))
    for metric in metrics:
        enough = n >= max(metric.k, 1)
        if not enough.any():
            continue
        expected = metric_at(metric, drawn[:, enough]).mean(axis=1)
        observed = task_values([metric], n[enough], c[enough])[0].mean()
        distance += ((expected - observed) / max(float(expected.std()), 1e-12)) ** 2
    return np.argsort(distance, kind="stable")


def judged_attempts(counts: Counts) -> Ints:
    """Attempts of each cell that have an outcome."""
    return counts.n if counts.missing is None else counts.n - counts.missing


def metric_at(metric: Metric, rates: Floats) -> Floats:
    """The metric at success rates: exactly, or for one of many terms at their nearest counts."""
    if metric.expectation is None:
        many = 1_000
        values = metric.values(np.full(many + 1, many), np.arange(many + 1))
        nearest: Floats = values[np.rint(rates * many).astype(np.int64)]
        return nearest
    polynomial, rest = metric.expectation
    value = polynomial.at(rates)
    return 1.0 - value if rest else value


def sample_means(metric: Metric, n: Ints, c: Ints) -> Floats:
    """The metric of each row of n and c, (runs × tasks)."""
    values = task_values([metric], n.ravel(), c.ravel())[0]
    means: Floats = values.reshape(n.shape).mean(axis=1)
    return means
