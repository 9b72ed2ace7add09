"""Exact distributions of weighted means with Dirichlet and bootstrap weights, without resampling.

- For Dirichlet weights (Bayesian bootstrap, with or without guard atoms), `dirichlet_quantiles`
  computes one integral along a path through a saddle point. The absolute error of the
  distribution function is below 1e-11 (see `_upper_tail_probabilities_at_zero` for the reason).
- For multinomial weights (ordinary bootstrap of a mean), `OrdinaryBootstrapMeanDistribution` uses
an FFT on a
  lattice. The distribution is exact to 1e-12 if the values are on a lattice. Other values are
  rounded to a lattice with 4,096 steps per standard error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from passk_cli.arrays import ArrayLike, Floats, Indices, NDArray
from passk_cli.inference.rounding import common_denominator

STANDARD_NORMAL = NormalDist()
# _FIRST_INTEGRATION_STEP is the first step of the trapezoidal rule. The step is halved, at most
# _MAX_STEP_HALVINGS times, until the sums for two successive steps differ by a relative
# _INTEGRATION_TOLERANCE or less. The trapezoidal rule converges geometrically, so the relative
# error of the last sum is about _SUM_TOLERANCE².
_FIRST_INTEGRATION_STEP = 0.1875
_MAX_STEP_HALVINGS = 10
_INTEGRATION_TOLERANCE = 1e-9
# Parts of an integrand below exp(−36) = 2e-16 of its maximum are neglected.
_NEGLIGIBLE_EXPONENT = 36.0
_NEAR, _PLACES = 3.0, np.array([1.0, 1.25, 1.5, 2.0, 2.5, 3.0])
_MAX_BLOCK_CELLS = 1 << 21
# A block of distributions has at most _ATOMS atoms, and _THREADS threads compute blocks.
_ATOMS, _THREADS = 1 << 12, 2
# passk caches the quantiles of a set of distributions only if the set needs at most
# _MAX_CACHED_INPUT_BYTES bytes.
_MAX_CACHED_INPUT_BYTES = 1 << 12
# Two distributions are treated as equal if their totals agree in _EQUALITY_BITS bits.
_EQUALITY_BITS = 44
# Atoms are merged if their distance is below _ATOM_TOLERANCE times the span of all atoms.
_ATOM_TOLERANCE = 1e-15
# An FFT has at most _MAX_LATTICE_FFT_CELLS cells if the values are on a lattice. If the values are
# not on a lattice, an FFT has about _OFF_LATTICE_FFT_CELLS cells.
_OFF_LATTICE_FFT_CELLS = 1 << 16
_MAX_LATTICE_FFT_CELLS = 1 << 20
# The span of the values has at most _MAX_LATTICE_STEPS lattice steps.
_MAX_LATTICE_STEPS = 100_000


def distinct_values_and_counts_per_row(values: Floats) -> tuple[Floats, ...]:
    """The distinct values (atoms) of each row and their counts, as two arrays (rows × atoms).

    Values that differ only by rounding, for example 0.3 − 0.1 and 0.2, are merged. If a row has
    fewer atoms than other rows, it is filled with its smallest value and counts of 0.

    values : finite values, (rows × tasks).

    >>> rows = np.array([[0.5, 0.0, 0.5], [1.0, 1.0, 1.0]])
    >>> [part.tolist() for part in distinct_values_and_counts_per_row(rows)]
    [[[0.0, 0.5], [1.0, 1.0]], [[1.0, 2.0], [3.0, 0.0]]]
    """
    ordered = np.sort(values, axis=1)
    rows = len(ordered)
    nearest = _ATOM_TOLERANCE * (ordered[:, -1:] - ordered[:, :1])
    distinct = np.diff(ordered, axis=1) > nearest
    place = np.zeros(ordered.shape, dtype=np.int64)
    np.cumsum(distinct, axis=1, out=place[:, 1:])
    most = int(place[:, -1].max()) + 1
    cell = place + most * np.arange(rows)[:, None]
    counts = np.bincount(cell.ravel(), minlength=rows * most).reshape(rows, most)
    atoms = np.repeat(ordered[:, :1], most, axis=1)
    atoms.ravel()[cell[:, ::-1].ravel()] = ordered[:, ::-1].ravel()
    return atoms, counts.astype(np.float64)


def dirichlet_quantiles(totals: Floats, weights: Floats, p: ArrayLike, sizes: Floats) -> Floats:
    """For each row, the quantile q with P(Σ G_i a_i / Σ G_i b_i ≤ q) = p and G_i ~ Gamma(α_i).

    The random weights G_i are independent. If all sizes b are 1, q is a quantile of the
    Dirichlet(α)-weighted mean of the a's. If the sizes differ, q is a quantile of a ratio, which is
    needed for clusters of unequal size.

    totals, weights, sizes : the numbers a, α ≥ ½ and b > 0 in the formula, (distributions × atoms).
    p : probability in (0, 1), one for all distributions or one per distribution.
    Returns one quantile per distribution. The distribution function at the quantile differs from p
        by less than 1e-11, or by as little as doubles allow. If all ratios a_i/b_i are equal, q is
        this ratio.
    Source: Imhof 1961 (inversion for weighted sums of gammas); Helstrom 1996 (saddle-point path).

    >>> totals, weights = np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([[1.0, 1.0], [2.0, 1.0]])
    >>> dirichlet_quantiles(totals, weights, 0.5, np.ones((2, 2))).round(9).tolist()
    [0.5, 0.292893219]
    """
    laws = np.stack([totals, weights, sizes], axis=1)
    shares = np.full(len(laws), p, dtype=np.float64)
    if laws.nbytes > _MAX_CACHED_INPUT_BYTES:
        return _quantiles_of_distinct_rows(laws, shares)
    # Groups with few tasks often have the same distributions, so their quantiles are cached.
    return _cached_quantiles(laws.tobytes(), shares.tobytes(), laws.shape[2]).copy()


@lru_cache(4096)
def _cached_quantiles(laws: bytes, shares: bytes, atoms: int) -> Floats:
    return _quantiles_of_distinct_rows(
        np.frombuffer(laws).reshape(-1, 3, atoms), np.frombuffer(shares)
    )


def _quantiles_of_distinct_rows(laws: Floats, shares: Floats) -> Floats:
    totals, weights, sizes = laws.swapaxes(0, 1)
    _, exponent = np.frexp(np.abs(totals).max(axis=1, keepdims=True))
    rounded = np.rint(np.ldexp(totals, _EQUALITY_BITS - exponent))
    keys = np.concatenate([rounded, exponent, weights, sizes, shares[:, None]], axis=1)
    _, first_places, index = np.unique(
        keys.view([("", np.void, keys.shape[1] * keys.itemsize)]), return_index=True,
        return_inverse=True,
    )  # fmt: skip
    laws, shares = laws[first_places], shares[first_places]
    lengths = laws.shape[2] - np.argmax(laws[:, 1, ::-1] > 0, axis=1)
    order, cuts, q = np.argsort(lengths, kind="stable"), [0], np.empty(len(laws))
    ordered = lengths[order]
    while (first := cuts[-1]) < len(order):
        next_cut = int(np.searchsorted(ordered, 2 * ordered[first], side="right"))
        cuts.append(min(next_cut, first + max(1, _ATOMS // int(ordered[first]))))
    blocks = np.split(order, cuts[1:-1])

    def solve(block: Indices) -> Floats:
        a, alpha, b = laws[block, :, : int(lengths[block[-1]])].swapaxes(0, 1)
        real = alpha > 0
        ratios = np.where(real, a, 0.0) / np.where(real, b, 1.0)
        start: Floats = np.where(real, ratios, np.inf).min(axis=1)
        width = np.where(real, ratios, -np.inf).max(axis=1) - start
        wide = np.flatnonzero(width > 1e-15 * np.abs(ratios).max(axis=1))
        q = start.copy()
        if len(wide):
            a, alpha, b, real = a[wide], alpha[wide], b[wide], real[wide]
            scaled = np.where(real, (a - start[wide, None] * b) / width[wide, None], 0.0)
            p = shares[block[wide]]
            q[wide] += width[wide] * _quantiles_between_0_and_1(
                scaled, alpha, np.where(real, b, 0.0), p
            )
        return q

    if len(blocks) == 1:
        q[order] = solve(order)
        return q[index.ravel()]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_THREADS) as pool:
        for block, part in zip(blocks, pool.map(solve, blocks), strict=True):
            q[block] = part
    return q[index.ravel()]


def _quantiles_between_0_and_1(a: Floats, alpha: Floats, b: Floats, p: Floats) -> Floats:
    deviate, count = _normal_deviates(p), len(a)
    total = (alpha * b).sum(axis=1)
    mean = (alpha * a).sum(axis=1) / total
    away = a - mean[:, None] * b
    spread = np.sqrt((alpha * away**2).sum(axis=1) / (total * (total + 1)))
    third = 2 * (alpha * away**3).sum(axis=1) / (total * (total + 1) * (total + 2))
    # The first quantile is a Cornish–Fisher expansion, which is accurate to about 0.01 normal
    # deviates.
    bend = third / spread**3 * (deviate**2 - 1) / 6
    q: Floats = np.clip(mean + (deviate + bend) * spread, 1e-3, 1.0 - 1e-3)
    low, high, slope = np.zeros(count), np.ones(count), 1.0 / spread
    last_q, last_miss = np.full(count, np.nan), np.full(count, np.nan)
    rows = np.arange(count)
    for _ in range(100):
        below, above = _tail_probabilities_at_zero(a[rows] - q[rows, None] * b[rows], alpha[rows])
        signs = np.where(below <= above, 1.0, -1.0)
        tails = np.maximum(np.minimum(below, above), 1e-300)
        miss = signs * _normal_deviates(tails) - deviate[rows]
        going = np.abs(miss) >= 1e-13 * (1 + np.abs(deviate[rows]))
        going &= high[rows] - low[rows] >= 4e-16 * high[rows]
        rows, miss = rows[going], miss[going]
        high[rows] = np.where(miss > 0, q[rows], high[rows])
        low[rows] = np.where(miss > 0, low[rows], q[rows])
        enough = np.abs(miss * last_miss[rows]) < 1e-12
        with np.errstate(all="ignore"):
            secant = (miss - last_miss[rows]) / (q[rows] - last_q[rows])
            defined = ~np.isnan(last_miss[rows]) & (last_miss[rows] != miss)
            slope[rows] = np.where(defined, secant, slope[rows])
            step = q[rows] - miss / slope[rows]
        step = np.where((slope[rows] > 0) & np.isfinite(slope[rows]), step, np.nan)
        last_q[rows], last_miss[rows] = q[rows], miss
        inside = (low[rows] < step) & (step < high[rows])
        following = np.where(inside, step, (low[rows] + high[rows]) / 2)
        stays = following == q[rows]
        q[rows] = following
        rows = rows[~(stays | (enough & inside))]
        if not len(rows):
            break
    return q


def _normal_deviates(p: Floats) -> Floats:
    return np.array([STANDARD_NORMAL.inv_cdf(share) for share in p.tolist()])


def _tail_probabilities_at_zero(d: Floats, alpha: Floats) -> tuple[Floats, Floats]:
    """P(Y ≤ 0) and P(Y > 0) for Y = Σ G_i d_i in each row. The smaller probability is accurate."""
    above = np.where(d.max(axis=1) <= 0, 0.0, 1.0)
    mixed = np.flatnonzero((d.max(axis=1) > 0) & (d.min(axis=1) < 0))
    below = 1.0 - above
    if len(mixed):
        sign = np.where((alpha[mixed] * d[mixed]).sum(axis=1) <= 0, 1.0, -1.0)
        tail = _upper_tail_probabilities_at_zero(sign[:, None] * d[mixed], alpha[mixed])
        above[mixed] = np.where(sign > 0, tail, 1.0 - tail)
        below[mixed] = np.where(sign > 0, 1.0 - tail, tail)
    return below, above


def _upper_tail_probabilities_at_zero(d: Floats, alpha: Floats) -> Floats:
    """The probability P(Y > 0) for Y = Σ G_i d_i in each row.

    The mean of Y must be at most 0, and the d_i must have both signs. The probability is (1/2πi) ∫
    exp(L(z)) dz with L(z) = −Σ α log(1 − z d) − log z, along a path through the saddle point c > 0
    of L: the hyperbola z = c + σ (i sinh u + b (cosh u − 1)). In this formula, 1/σ² is the second
    derivative of L at c. The number b is a third of the skewness of L at c, so that the path has
    the curvature of steepest descent. The limit |b| ≤ 1 keeps the path away from the singularities,
    which are on the real axis. The trapezoidal rule converges geometrically.
    """
    scaled = d / d.max(axis=1, keepdims=True)
    c = _saddle_points(scaled, alpha)
    e = scaled / (1.0 - c[:, None] * scaled)
    sigma = 1.0 / np.sqrt((alpha * e * e).sum(axis=1) + (1.0 / c) ** 2)
    skew = 2.0 * ((alpha * (e * sigma[:, None]) ** 3).sum(axis=1) - (sigma / c) ** 3)
    paths = _straighten_rising_paths(
        _IntegrationPaths(c, e, alpha, sigma, np.clip(skew / 3.0, -1.0, 1.0))
    )
    height = -(alpha * np.log1p(-c[:, None] * scaled)).sum(axis=1)
    tails, ends = np.empty(len(d)), _integration_ends(paths)
    # passk does not use np.unique, because np.unique would import numpy.ma, which is slow.
    for end in sorted({*ends.tolist()}):
        rows = np.flatnonzero(ends == end)
        tails[rows] = np.clip(_integrals(paths.select(rows), height[rows], end), 0.0, 1.0)
    return tails


class _IntegrationPaths(NamedTuple):
    """Integration paths with saddle points c, terms d/(1 − c d), atom weights, widths and bends.

    K(c) = −Σ α log(1 − c d) is the logarithm of a constant factor of the integrand.
    """

    saddle_points: Floats
    atom_terms: Floats
    atom_weights: Floats
    path_scales: Floats
    path_curvatures: Floats

    def select(self, rows: Indices) -> _IntegrationPaths:
        return _IntegrationPaths(*(field[rows] for field in self))

    def log_absolute_integrand(self, u: Floats) -> Floats:
        """The logarithm of the absolute integrand at the points u, without the factor exp(K(c))."""
        across, along, factor = self._atom_coordinates_and_factor(u)
        sizes: Floats = self._log_modulus_of_atom_product(across, along) + np.log(np.abs(factor))
        return sizes

    def integrand(self, u: Floats, top: Floats) -> Floats:
        """The integrand at the points u, (rows × points), for the value `top` of K(c)."""
        across, along, factor = self._atom_coordinates_and_factor(u)
        turn = (np.arctan2(across, 1.0 - along) @ self.atom_weights[:, :, None])[:, :, 0]
        size = self._log_modulus_of_atom_product(across, along) + top[:, None]
        heights: Floats = (factor * np.exp(1j * turn)).imag * np.exp(size)
        return heights

    def _atom_coordinates_and_factor(self, u: Floats) -> tuple[NDArray[Any], ...]:
        sinh, cosh = np.sinh(u), np.cosh(u)
        x, s = (
            (self.path_scales * self.path_curvatures)[:, None] * (cosh - 1.0),
            self.path_scales[:, None] * sinh,
        )
        across, along = (
            s[:, :, None] * self.atom_terms[:, None],
            x[:, :, None] * self.atom_terms[:, None],
        )
        step = self.path_scales[:, None] * (1j * cosh + self.path_curvatures[:, None] * sinh)
        return across, along, step / (self.saddle_points[:, None] + x + 1j * s)

    def _log_modulus_of_atom_product(self, across: Floats, along: Floats) -> Floats:
        square = across * across
        square += along * (along - 2.0)
        logs = np.log1p(square, out=square) @ (-0.5 * self.atom_weights)[:, :, None]
        return logs[:, :, 0]


def _integrals(paths: _IntegrationPaths, top: Floats, end: float) -> Floats:
    step, rows = _FIRST_INTEGRATION_STEP, np.arange(len(top))
    heights = paths.integrand(np.arange(0.0, end, step), top)
    heights[:, 0] *= 0.5
    sums, before = heights.sum(axis=1), 2.0 * heights[:, ::2].sum(axis=1)
    areas: Floats = sums * step / math.pi
    for _ in range(_MAX_STEP_HALVINGS):
        unsettled = np.abs(sums - before) > _INTEGRATION_TOLERANCE * np.abs(sums)
        rows, sums = rows[unsettled], sums[unsettled]
        if not len(rows):
            break
        before = 2.0 * sums
        between = np.arange(0.5 * step, end, step)
        parts = np.array_split(
            between, 1 + len(rows) * len(between) * paths.atom_terms.shape[1] // _MAX_BLOCK_CELLS
        )
        for part in parts:
            sums = sums + paths.select(rows).integrand(part, top[rows]).sum(axis=1)
        step *= 0.5
        areas[rows] = sums * step / math.pi
    return areas


def _straighten_rising_paths(paths: _IntegrationPaths) -> _IntegrationPaths:
    checked = np.flatnonzero(
        paths.log_absolute_integrand(np.array([_NEAR]))[:, 0] > -_NEGLIGIBLE_EXPONENT
    )
    sizes = paths.select(checked).log_absolute_integrand(_NEAR * _PLACES)
    rising = (np.diff(sizes, axis=1) > 0.0) & (sizes[:, :-1] > -_NEGLIGIBLE_EXPONENT)
    bend = paths.path_curvatures.copy()
    bend[checked[rising.any(axis=1)]] = 0.0
    return paths._replace(path_curvatures=bend)


def _integration_ends(paths: _IntegrationPaths) -> Floats:
    low, ends = _NEAR, np.full(len(paths.saddle_points), np.nan)
    ends[paths.log_absolute_integrand(np.array([low]))[:, 0] <= -_NEGLIGIBLE_EXPONENT] = low
    while np.isnan(ends).any():
        rows = np.flatnonzero(np.isnan(ends))
        places = low * _PLACES
        small = paths.select(rows).log_absolute_integrand(places) <= -_NEGLIGIBLE_EXPONENT
        last = small.any(axis=1) | (low > 100.0)
        reached = np.where(small.any(axis=1), places[np.argmax(small, axis=1)], places[-1])
        ends[rows[last]] = reached[last]
        low = float(places[-1])
    return ends


def _saddle_points(d: Floats, alpha: Floats) -> Floats:
    """For each row, the number c in (0, 1/max d) with K'(c) = 1/c, from bracketed Newton steps."""
    low, high = np.zeros(len(d)), 1.0 / d.max(axis=1)
    mean, variance = (alpha * d).sum(axis=1), (alpha * d * d).sum(axis=1)
    start = (-mean + np.sqrt(mean * mean + 4 * variance)) / (2 * variance)
    c: Floats = np.minimum(start, 0.9 * high)
    rows = np.arange(len(d))
    for _ in range(200):
        current, terms = c[rows], d[rows]
        e = terms / (1.0 - current[:, None] * terms)
        weighted = alpha[rows] * e
        miss = weighted.sum(axis=1) - 1.0 / current
        high[rows] = np.where(miss < 0, high[rows], current)
        low[rows] = np.where(miss < 0, current, low[rows])
        step = current - miss / ((weighted * e).sum(axis=1) + (1.0 / current) ** 2)
        inside = (low[rows] < step) & (step < high[rows])
        c[rows] = np.where(inside, step, 0.5 * (low[rows] + high[rows]))
        rows = rows[np.abs(c[rows] - current) > 1e-3 * current]
        if not len(rows):
            break
    return c


@dataclass(frozen=True, eq=False, repr=False)
class OrdinaryBootstrapMeanDistribution:
    """The distribution of the mean of T draws with replacement from T values.

    The accuracy is 1e-12 if the values are on a common lattice, for example 0 and 1, or c/n with
    equal n. Other values are rounded to a lattice with 4,096 steps per standard error, with an
    unchanged mean. The rounding changes a quantile by less than 0.001 standard errors.

    >>> means = OrdinaryBootstrapMeanDistribution(np.array([0.0, 0.0, 1.0]))
    >>> round(means.cdf(0.0), 12) == round((2 / 3) ** 3, 12)
    True
    """

    values: Floats

    @cached_property
    def _lattice_distribution(self) -> tuple[float, float, Floats]:
        x, times = np.unique(self.values, return_counts=True)
        count = len(self.values)
        if len(x) == 1:
            return float(x[0]), 1.0, np.ones(1)
        share = times / count
        width = float(x[-1] - x[0])
        variance = float(share @ (x - share @ x) ** 2) * count
        reach = width * 10 + math.sqrt((width * 10) ** 2 + 60 * variance)
        window = min(2 * reach, count * width)
        cells = common_denominator((x - x[0]) / width, _MAX_LATTICE_STEPS, 1e-13)
        step = width / cells if cells else 0.0
        if not step or window / step > _MAX_LATTICE_FFT_CELLS:
            step = max(window / _OFF_LATTICE_FFT_CELLS, math.sqrt(variance) / 4096 / 16)
        cells = 1 << max(4, math.ceil(math.log2(window / step + 2)))
        place = np.rint((x - x[0]) / step)
        mass = np.zeros(cells)
        np.add.at(mass, place.astype(np.int64) % cells, share)
        probabilities = np.fft.irfft(np.fft.rfft(mass) ** count, cells)
        probabilities = np.maximum(probabilities, 0.0)
        centre = float(share @ place) * count
        first = max(0, math.floor(centre - cells / 2))
        probabilities = np.roll(probabilities, -(first % cells))
        offset = float(share @ (x - x[0])) - float(share @ place) * step
        origin = float(x[0]) + (first * step) / count + offset
        return origin, step / count, probabilities / probabilities.sum()

    def cdf(self, q: float, *, strict: bool = False) -> float:
        """The probability P(mean ≤ q), or P(mean < q) if `strict` is true.

        A possible mean within 1e-6 lattice steps of q counts as equal to q.
        """
        first, step, probabilities = self._lattice_distribution
        place = (q - first) / step
        nearest = round(place)
        on_point = abs(place - nearest) < 1e-6
        last = nearest - (1 if strict else 0) if on_point else math.floor(place)
        return float(probabilities[: max(0, min(last + 1, len(probabilities)))].sum())

    def quantile(self, p: float) -> float:
        """The p-quantile: the smallest mean q with P(mean ≤ q) ≥ p."""
        first, step, probabilities = self._lattice_distribution
        cumulative = np.cumsum(probabilities)
        place = int(np.searchsorted(cumulative, p - 1e-12))
        return first + step * min(place, len(probabilities) - 1)
