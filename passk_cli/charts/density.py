"""Estimates the density of random draws, for charts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BINS = 512
# The bandwidth of a kernel density is at least _MIN_BANDWIDTH_PER_GAP times the median gap between
# neighbouring values, so that the density is smooth.
_MIN_BANDWIDTH_PER_GAP = 0.6


def density(
    draws: NDArray[np.float64], points: int = 97, within: tuple[float, float] = (-np.inf, np.inf)
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The Gaussian kernel density of draws, between the smallest and the largest draw.

    The bandwidth is 0.9 · min(sd, IQR / 1.349) · n^(−1/5) (Silverman's rule).  In this formula, sd
    is the standard deviation of the n draws, and IQR is the range between the quartiles.  The part
    of a kernel outside the range is reflected, so that the area below the density is 1.  Draws are
    counted in 512 bins.  If draws have few distinct values, for example means of zeros and ones,
    the density is smoothed over the gaps between the values.  The density then extends half a gap
    beyond the smallest and the largest draw.

    points : number of positions at which the density is computed.
    within : the range of possible draws.  The density does not extend beyond this range.
    Returns the positions, and the heights of the density at these positions.  If all draws are
    equal except for rounding, both arrays are empty.
    Source: Silverman 1986, Density Estimation, equation 3.31 and section 2.10 (reflection).

    >>> places, heights = density(np.random.default_rng(0).normal(size=10_000))
    >>> bool(abs(heights.max() - 0.399) < 0.02)
    True
    """
    draws = np.asarray(draws)
    low, high = float(draws.min()), float(draws.max())
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        return np.empty(0), np.empty(0)
    quarter, three = np.quantile(draws, (0.25, 0.75))
    spread = float(draws.std())
    if three > quarter:
        spread = min(spread, float(three - quarter) / 1.349)
    bandwidth = 0.9 * spread * len(draws) ** -0.2
    distinct = np.unique(np.round((draws - low) / (high - low), 9))
    gap = float(np.median(np.diff(distinct))) * (high - low)
    if bandwidth < _MIN_BANDWIDTH_PER_GAP * gap:
        bandwidth = _MIN_BANDWIDTH_PER_GAP * gap
        low = min(low, max(low - gap / 2, within[0]))
        high = max(high, min(high + gap / 2, within[1]))
    step = (high - low) / _BINS
    bandwidth = max(bandwidth, step)
    counts, edges = np.histogram(draws, _BINS, (low, high))
    mirrored = np.concatenate([counts[::-1], counts, counts[::-1]])
    reach = min(int(np.ceil(4 * bandwidth / step)), _BINS)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / bandwidth) ** 2)
    smooth = np.convolve(mirrored, kernel / kernel.sum(), "same")[_BINS : 2 * _BINS]
    places = np.linspace(low, high, points)
    heights = np.interp(places, (edges[:-1] + edges[1:]) / 2, smooth)
    return places, heights / (len(draws) * step)
