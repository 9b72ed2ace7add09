"""The density of draws, smoothed for the eye."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BINS = 512
_ROUNDING = 1e-12
# Bandwidth, in gaps between values, at which the sum of their kernels shows no waves.
_SMOOTH = 0.6


def density(
    draws: NDArray[np.float64], points: int = 97, within: tuple[float, float] = (-np.inf, np.inf)
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gaussian kernel density of draws between the least and the largest of them.

    The bandwidth is Silverman's, 0.9 · min(sd, IQR / 1.349) · n^(−1/5).  What the kernels would
    put outside is reflected at the ends, so that the area is 1.  The sum over draws is taken over
    512 bins.  Draws of few values, as means of zeros and ones, are smoothed over the gaps between
    these, and reach half a gap further.

    draws : at least one finite number.  within : where they can be; it reaches no further.
    Returns (places, heights), both (points,); two empty arrays when all draws are equal (but for
    rounding), as such a distribution has no density.
    Source: Silverman 1986, Density Estimation, eq. 3.31 and section 2.10 (reflection).

    >>> places, heights = density(np.random.default_rng(0).normal(size=10_000))
    >>> bool(abs(heights.max() - 0.399) < 0.02)
    True
    """
    draws = np.asarray(draws)
    low, high = float(draws.min()), float(draws.max())
    # What differs by rounding alone has no width that bins could share.
    if high - low <= _ROUNDING * max(abs(low), abs(high)):
        return np.empty(0), np.empty(0)
    quarter, three = np.quantile(draws, (0.25, 0.75))
    spread = float(draws.std())
    if three > quarter:
        spread = min(spread, float(three - quarter) / 1.349)
    bandwidth = 0.9 * spread * len(draws) ** -0.2
    distinct = np.unique(np.round((draws - low) / (high - low), 9))
    gap = float(np.median(np.diff(distinct))) * (high - low)
    if bandwidth < _SMOOTH * gap:
        bandwidth = _SMOOTH * gap
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
