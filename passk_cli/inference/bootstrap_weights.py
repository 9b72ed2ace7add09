"""Compute bootstrap means with weights that are the same for all models, metrics and values of
k."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from passk_cli.arrays import Floats, Ints, row_blocks
from passk_cli.inference.random_streams import named_generator
from passk_cli.limits import refuse_many_draws

# A block of weights has at most _BLOCK_CELLS elements, so that it fits into the processor's cache.
# The number of rows in a block depends only on the number of tasks, and each block has its own
# random stream. Therefore, neither memory nor the number of threads changes a result.
_BLOCK_CELLS = 1 << 18
# passk caches bootstrap weights only if all weights need at most _MAX_CACHED_BYTES bytes.
_MAX_CACHED_BYTES = 1 << 26


def fill_multinomial_weights(rng: np.random.Generator, out: Floats) -> None:
    """Fill each row with ordinary bootstrap weights: how often the resample contains each unit."""
    rows, units = out.shape
    cells = rng.integers(0, units, out.shape)
    cells += np.arange(0, rows * units, units)[:, None]
    out[:] = np.bincount(cells.ravel(), minlength=rows * units).reshape(out.shape)


def fill_dirichlet_weights(rng: np.random.Generator, out: Floats) -> None:
    """Fill each row with Bayesian bootstrap weights. The weights of a row are a draw from
    Dirichlet(1, …, 1), multiplied by the number of units."""
    rng.standard_exponential(out=out)
    out *= out.shape[1] / out.sum(axis=1, keepdims=True)


WEIGHT_FILL_FUNCTIONS: dict[str, Callable[[np.random.Generator, Floats], None]] = {
    "multinomial": fill_multinomial_weights,
    "dirichlet": fill_dirichlet_weights,
}
_STORED_DTYPE_BY_KIND = {"multinomial": np.uint8, "dirichlet": np.float64}


def _use_weight_blocks(
    use: Callable[[slice, Floats], None],
    kind: str, units: int, resamples: int, seed: int, threads: int | None,
) -> None:  # fmt: skip
    places, purpose = list(row_blocks(resamples, units, _BLOCK_CELLS)), f"{kind} {units}"
    workers = min(threads or os.cpu_count() or 1, len(places))

    def work(first: int) -> None:
        weights = np.empty((places[0].stop, units))
        for block in range(first, len(places), workers):
            WEIGHT_FILL_FUNCTIONS[kind](named_generator(seed, purpose, block), weights)
            block_rows = places[block]
            use(block_rows, weights[: block_rows.stop - block_rows.start])

    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, range(workers)))


@lru_cache(maxsize=1)
def _cached_weights(
    kind: str, units: int, resamples: int, seed: int, threads: int | None
) -> NDArray[Any]:  # fmt: skip
    weights = np.empty((resamples, units), dtype=_STORED_DTYPE_BY_KIND[kind])
    _use_weight_blocks(weights.__setitem__, kind, units, resamples, seed, threads)
    return weights


def bootstrap_means(
    values: Floats, resamples: int, seed: int, *, kind: str = "multinomial",
    clusters: Ints | None = None, threads: int | None = None,
) -> Floats:  # fmt: skip
    """Compute the weighted means of each column over resampled tasks, as an array (resamples ×
    columns).

    The mean of resample r is Σ_t w_rt v_t / Σ_t w_rt for the task values v_t and the weights w_rt.
    The weights w depend only on the seed, the kind of bootstrap and the number of units, so all
    columns have the same weights.

    values : an array (tasks × columns) of task values.
    clusters : a cluster code 0 … G−1 per task if whole clusters are resampled, or None if tasks are
        resampled.
    Memory: In addition to the result, the function needs up to 64 MB of cached weights, or a few
    blocks of 2 MB.
    Errors: ParameterError if the result would need more than 1 GB.

    >>> means = bootstrap_means(np.array([[0.0], [1.0]]), 1000, seed=0)
    >>> sorted(set(means.ravel().tolist()))
    [0.0, 0.5, 1.0]
    """
    totals, sizes = cluster_totals_and_sizes(values, clusters)
    equal = bool(np.all(sizes == sizes[0]))
    refuse_many_draws(resamples, values.shape[1])
    means = np.empty((resamples, values.shape[1]))
    arguments = kind, len(sizes), resamples, seed, threads

    def average(rows: slice, weights: Floats) -> None:
        base = len(sizes) * sizes[0] if equal else (weights @ sizes)[:, None]
        np.divide(weights @ totals, base, out=means[rows])

    if resamples * len(sizes) * np.dtype(_STORED_DTYPE_BY_KIND[kind]).itemsize > _MAX_CACHED_BYTES:
        _use_weight_blocks(average, *arguments)
    else:
        weights = _cached_weights(*arguments)
        for rows in row_blocks(resamples, len(sizes), _BLOCK_CELLS):
            average(rows, weights[rows].astype(np.float64))
    return np.clip(means, values.min(axis=0), values.max(axis=0), out=means)


def fixed_task_bootstrap_means(
    n: Ints, c: Ints, tables: list[Floats], resamples: int, seed: int
) -> Floats:
    """Compute means of metrics over fixed tasks with resampled attempts, as an array (resamples ×
    metrics).

    At every task, the number of passes is drawn as c* ~ Binomial(n, c/n). Means of attempts that
    are drawn with replacement are biased. Therefore, all means of a metric are shifted, so that
    their expected value equals the estimate. Two models with the same counts get the same draws.

    n, c : numbers of attempts and passes per task.
    tables : one array per metric, with the values of the metric at c = 0 … n. The values for all
        distinct n are joined in increasing order of n.
    """
    purpose = f"attempts {zlib.crc32(np.stack([n, c]).tobytes())}"
    distinct, where = np.unique(n, return_inverse=True)
    starts = np.concatenate([[0], np.cumsum(distinct + 1)[:-1]])[where]
    refuse_many_draws(resamples, len(tables))
    means = np.empty((resamples, len(tables)))
    for block, rows in enumerate(row_blocks(resamples, len(n), _BLOCK_CELLS)):
        rng = named_generator(seed, purpose, block)
        resampled = rng.binomial(n, c / n, (rows.stop - rows.start, len(n))) + starts
        for metric, table in enumerate(tables):
            means[rows, metric] = table[resampled].mean(axis=1)
    for metric, table in enumerate(tables):
        off = _expected_resampled_values(n, c, table, starts) - table[starts + c]
        means[:, metric] -= off.mean()
    return means


def _expected_resampled_values(n: Ints, c: Ints, table: Floats, starts: Ints) -> Floats:
    """The expected value of a metric at each task for resampled passes c* ~ Binomial(n, c/n)."""
    pairs, index = np.unique(np.stack([n, c, starts]), axis=1, return_inverse=True)
    means = []
    for size, passes, start in pairs.T.tolist():
        values = table[start : start + size + 1]
        if passes in (0, size):
            means.append(values[passes])
            continue
        i = np.arange(size)
        odds = passes / (size - passes)
        logs = np.concatenate([[0.0], np.cumsum(np.log((size - i) / (i + 1) * odds))])
        weights = np.exp(logs - logs.max())
        means.append(float(weights @ values / weights.sum()))
    return np.array(means)[index.ravel()]


def cluster_totals_and_sizes(values: Floats, clusters: Ints | None) -> tuple[Floats, Floats]:
    """The sum of each column over the tasks of each cluster, and the number of tasks in each
    cluster."""
    if clusters is None:
        return values, np.ones(len(values))
    totals = np.stack([np.bincount(clusters, column) for column in values.T], axis=1)
    return totals.astype(np.float64), np.bincount(clusters).astype(np.float64)


def cluster_contributions_to_means(values: Floats, clusters: Ints | None) -> Floats:
    """The contribution of each cluster to the mean of each column, as an array (clusters ×
    columns).

    Let T be the number of tasks and G the number of clusters, and let S_g be the sum over the m_g
    tasks of cluster g. The contribution of cluster g is x_g = x̄ + (G/T) (S_g − m_g x̄). The mean
    of all contributions is x̄, which is the mean over tasks. If all clusters have the same size,
    x_g is the mean of cluster g. Otherwise, x_g comes from a linear approximation of the ratio Σ
    S_g / Σ m_g. Without clusters, the contributions are the task values.

    values : an array (tasks × columns) of task values.

    >>> values, clusters = np.array([[0.0], [1.0], [1.0]]), np.array([0, 0, 1])
    >>> cluster_contributions_to_means(values, clusters).round(6).tolist()
    [[0.444444], [0.888889]]
    """
    if clusters is None:
        return values
    totals, sizes = cluster_totals_and_sizes(values, clusters)
    mean = values.mean(axis=0)
    added: Floats = mean + len(sizes) / len(values) * (totals - sizes[:, None] * mean)
    return added
