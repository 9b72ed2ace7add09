"""Simultaneous bands: the pointwise level at which a whole curve lies inside its intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.hierarchy import histogram
from passk_cli.inference.mixing import Statistic, error_covariance, mixture
from passk_cli.inference.ranking import tied_places
from passk_cli.inference.streams import stream
from passk_cli.inference.weights import bootstrap_means
from passk_cli.metrics.pass_k import curve_blocks, hat_pairs

# Curves are smooth in k: calibrated at so many k's, a band holds between them as well (with 60 of
# them the level changed by less than 0.0005).
CALIBRATED = 16


def spread_out(ks: Ints, count: int = CALIBRATED) -> Ints:
    """At most `count` of the k's, first and last among them, evenly spread on a log scale.

    >>> spread_out(np.arange(1, 1001), 4).tolist()
    [1, 10, 100, 1000]
    """
    if len(ks) <= count:
        return ks
    targets = np.geomspace(ks[0], ks[-1], count)
    nearest: Ints = ks[np.unique(np.abs(ks - targets[:, None]).argmin(axis=1))]
    return nearest


def band_levels_new_tasks(
    curves: Sequence[tuple[Ints, Ints, Ints]],
    level: float,
    *,
    clusters: Ints | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[float]:
    """For each model the pointwise level whose intervals hold pass@k and pass^k at all k's.

    curves : (n, c, ks) of each model, n and c : (tasks,), n ≥ every k; ks : increasing.  All with
        the same number of tasks.
    level : for both curves of a model together.  clusters : a code per task, when whole clusters
        are drawn.
    Returns levels between `level` and 1; see `level_of_ranks`.
    """
    values = [
        np.concatenate([rows for _, *both in curve_blocks(*cells) for rows in both])
        for cells in curves
    ]
    draws = bootstrap_means(np.concatenate(values).T, resamples, seed, clusters=clusters)
    ends = np.cumsum([len(rows) for rows in values])[:-1]
    return [level_of_ranks(end_ranks(own), level) for own in np.split(draws, ends, axis=1)]


def band_level_these_tasks(
    n: Ints, c: Ints, ks: Ints, level: float, *, resamples: int = 10_000, seed: int = 0
) -> float:
    """As `band_levels_new_tasks` for one model when only the attempts could have gone otherwise.

    Normal draws with the covariances that errors at different k's have over repeated attempts,
    expected under the mixing distribution of the success rates; k = n is no exception.
    """
    curves: list[Statistic] = [
        statistic for k in ks.tolist() for statistic in (_coverage(k), _reliability(k))
    ]
    rng = stream(seed, "band of attempts")
    return level_of_ranks(end_ranks(_normal_errors(n, c, curves, resamples, rng)), level)


def errors_these_tasks(
    n: Ints,
    c: Ints,
    ks: Ints,
    family: str,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    purpose: str = "",
) -> Floats:
    """Errors of one curve of a model when these tasks are attempted again: (resamples × ks).

    Normal draws, as those of `band_level_these_tasks`, independent of another model's.

    family : "pass@" or "pass^".  purpose : names the model, whose draws are its own.
    """
    shape = _coverage if family == "pass@" else _reliability
    curve = [shape(k) for k in ks.tolist()]
    rng = stream(seed, f"band of attempts {purpose}")
    draws = _normal_errors(n, c, curve, resamples, rng)
    return -draws if family == "pass@" else draws


def _normal_errors(
    n: Ints, c: Ints, curves: Sequence[Statistic], resamples: int, rng: np.random.Generator
) -> Floats:
    """Normal draws with the covariances of the statistics' errors: (resamples × statistics)."""
    covariance = error_covariance(mixture(histogram(n, c)), curves)
    roots, axes = np.linalg.eigh(covariance)
    normal = rng.standard_normal((resamples, len(roots)))
    draws: Floats = normal @ (axes * np.sqrt(np.maximum(roots, 0.0))).T
    return draws


def _coverage(k: int) -> Statistic:
    """1 − pass@k and its expectation: the errors are those of pass@k, mirrored."""
    return lambda n, c: hat_pairs(n, n - c, k), lambda p: (1.0 - p) ** k


def _reliability(k: int) -> Statistic:
    """pass^k and its expectation."""
    return lambda n, c: hat_pairs(n, c, k), lambda p: p**k


def end_ranks(draws: Floats) -> Ints:
    """Each draw's smallest rank over the columns, counted from the nearer end: (draws,), 1 and up.

    draws : (draws × columns).  Equal draws share the better rank, so that a column without spread
    does not count.

    >>> end_ranks(np.array([[0.1, 5.0], [0.2, 4.0], [0.3, 6.0]])).tolist()
    [1, 1, 1]
    """
    count = len(draws)
    # Draws that are equal but for rounding are equal, on every processor.
    draws = np.round(draws, 12)
    # The fastest, which leaves equals in an order of the processor's: all of them get one rank.
    order = draws.argsort(axis=0, kind="quicksort")
    first, last = tied_places(np.take_along_axis(draws, order, axis=0))
    nearer = np.empty_like(order)
    np.put_along_axis(nearer, order, np.minimum(last + 1, count - first), axis=0)
    ranks: Ints = nearer.min(axis=1)
    return ranks


def level_of_ranks(ranks: Ints, level: float) -> float:
    """The pointwise level at which a share `level` of the draws lies inside in every column.

    ranks : of the draws, from `end_ranks`: a tail probability of each, which says at which
    pointwise level the draw just leaves the band.  The level wanted is the one that a share
    1 − `level` of the draws leave.  Where these are fewer than ten, as for a band among hundreds,
    the tail of ten is shared out: draws have no quantile so far out.
    Returns a level from `level` (columns that move as one) to below 1.
    Source: Davison & Hinkley 1997, section 4.2.4 (simultaneous envelopes by ranks).

    >>> ranks = 1 + np.arange(1000) // 4
    >>> [round(level_of_ranks(ranks, level), 4) for level in (0.95, 0.99, 0.999)]
    [0.974, 0.994, 0.9994]
    """
    count, share = len(ranks), 1.0 - level
    outside = max(share * count, min(10, count - 1))
    tail = np.sort(ranks)[math.floor(outside)] / count * (share * count / outside)
    return float(max(1.0 - 2.0 * tail, level))
