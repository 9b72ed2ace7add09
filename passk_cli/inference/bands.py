"""Compute the level of the intervals in a band, so that the band contains a whole curve."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.bootstrap_weights import bootstrap_means
from passk_cli.inference.hierarchical_model import count_histogram
from passk_cli.inference.mixing_distribution import (
    StatisticAndExpectationFunctions,
    error_covariance,
    mixing_distribution,
)
from passk_cli.inference.random_streams import named_generator
from passk_cli.metrics.pass_k import pass_at_and_hat_curve_blocks, pass_hat_k_per_pair

# Curves are smooth in k, so a band that is calibrated at CALIBRATION_K_COUNT values of k is also
# valid between these values. Compared with a band at 60 values of k, the confidence level differed
# by less than 0.0005.
CALIBRATION_K_COUNT = 16


def log_spaced_ks(ks: Ints, count: int = CALIBRATION_K_COUNT) -> Ints:
    """Select at most `count` values of k that are evenly spaced on a log scale. The first and the
    last k are always selected.

    >>> log_spaced_ks(np.arange(1, 1001), 4).tolist()
    [1, 10, 100, 1000]
    """
    if len(ks) <= count:
        return ks
    targets = np.geomspace(ks[0], ks[-1], count)
    nearest: Ints = ks[np.unique(np.abs(ks - targets[:, None]).argmin(axis=1))]
    return nearest


def band_levels_new_tasks(
    curves: Sequence[tuple[Ints, Ints, Ints]], level: float, *, clusters: Ints | None = None,
    resamples: int = 10_000, seed: int = 0,
) -> list[float]:  # fmt: skip
    """The level that the interval at each k needs, so that the bands of a model contain the whole
    curves.

    A model has two curves over k: pass@k and pass^k.

    curves : for each model, the attempts n and the passes c per task, and the increasing values of
        k. Every n is at least the largest k, and all models have the same number of tasks.
    level : confidence level for both curves of a model together.
    clusters : code of each task's cluster if whole clusters are resampled.
    Returns one level per model, between `level` and 1; see `pointwise_level`.
    """
    values = [
        np.concatenate(
            [
                rows
                for _, *curves_at_k in pass_at_and_hat_curve_blocks(*cells)
                for rows in curves_at_k
            ]
        )
        for cells in curves
    ]
    draws = bootstrap_means(np.concatenate(values).T, resamples, seed, clusters=clusters)
    ends = np.cumsum([len(rows) for rows in values])[:-1]
    return [pointwise_level(model_draws, level) for model_draws in np.split(draws, ends, axis=1)]


def band_level_these_tasks(
    n: Ints, c: Ints, ks: Ints, level: float, *, resamples: int = 10_000, seed: int = 0
) -> float:
    """The level for the bands of one model, as in `band_levels_new_tasks`, but for fixed tasks.

    The tasks are fixed, and only the attempts are random. The errors of the curves are drawn from a
    normal distribution. The covariances of this distribution are computed over repeated attempts,
    for success rates with the fitted distribution.
    """
    curves: list[StatisticAndExpectationFunctions] = [
        statistic
        for k in ks.tolist()
        for statistic in (_fail_at_k_and_its_expectation(k), _pass_hat_k_and_its_expectation(k))
    ]
    rng = named_generator(seed, "band of attempts")
    return pointwise_level(_simulated_normal_errors(n, c, curves, resamples, rng), level)


def _simulated_normal_errors(
    n: Ints,
    c: Ints,
    curves: Sequence[StatisticAndExpectationFunctions],
    resamples: int,
    rng: np.random.Generator,
) -> Floats:
    covariance = error_covariance(mixing_distribution(count_histogram(n, c)), curves)
    roots, axes = np.linalg.eigh(covariance)
    normal = rng.standard_normal((resamples, len(roots)))
    draws: Floats = normal @ (axes * np.sqrt(np.maximum(roots, 0.0))).T
    return draws


def _fail_at_k_and_its_expectation(k: int) -> StatisticAndExpectationFunctions:
    return lambda n, c: pass_hat_k_per_pair(n, n - c, k), lambda p: (1.0 - p) ** k


def _pass_hat_k_and_its_expectation(k: int) -> StatisticAndExpectationFunctions:
    return lambda n, c: pass_hat_k_per_pair(n, c, k), lambda p: p**k


def pointwise_level(draws: Floats, level: float) -> float:
    """The level that each interval needs, so that a share `level` of the draws is completely inside
    the band.

    The rank of a draw in a column is counted from the nearer end of the sorted column. Equal draws
    all get the largest rank among them, so that a column of equal draws has no influence. The
    smallest rank of a draw over all columns gives the level of the intervals for which the draw is
    just outside the band. If fewer than ten draws would be outside the band, the level is
    interpolated between the tenth draw and level 1. The reason is that fewer than ten draws do not
    determine a quantile well.

    draws : an array (draws × columns) of simulated errors. A column is one k of a curve.
    Returns a level below 1 and at least `level`, with equality if all columns are perfectly
    correlated.
    Source: Davison & Hinkley 1997, section 4.2.4 (simultaneous envelopes by ranks).

    >>> draws = np.random.default_rng(0).normal(size=(1000, 2))
    >>> round(pointwise_level(draws, 0.9), 3), round(pointwise_level(draws[:, :1], 0.9), 3)
    (0.948, 0.9)
    """
    count, share = len(draws), 1.0 - level
    outside = max(share * count, min(10, count - 1))
    inside = math.floor(outside)
    columns = np.ascontiguousarray(np.round(draws, 12).T)
    few = min(inside + 1, count - 1)
    rank = _rank_of_band(columns, inside, few) or _rank_of_band(columns, inside, count - 1) or count
    tail = rank / count * (share * count / outside)
    return float(max(1.0 - 2.0 * tail, level))


def _rank_of_band(columns: Floats, inside: int, most: int) -> int | None:
    beyond = columns.shape[1] - 1 - most
    parts = np.partition(columns, (most, beyond), axis=1)
    lowest = np.sort(parts[:, : most + 1], axis=1)[:, :, None]
    highest = np.sort(parts[:, beyond:], axis=1)[:, ::-1, None]

    def enough(rank: int) -> bool:
        outside = (columns < lowest[:, rank]) | (columns > highest[:, rank])
        return int(np.count_nonzero(outside.any(axis=0))) > inside

    return 1 + bisect_left(range(1, most), True, key=enough) if enough(most) else None
