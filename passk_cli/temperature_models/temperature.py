"""Estimate the best temperature as a function of k, from pass@k at a few temperatures."""

from __future__ import annotations

import math

import numpy as np

from passk_cli.arrays import Floats, Ints

# A line fit needs at least FEWEST_TEMPERATURES temperatures, because a line needs two points at
# which the best temperature changes.
FEWEST_TEMPERATURES = 3


def best_temperature_index_by_k(values: Floats) -> Ints:
    """The index of the best temperature at each k. If several temperatures are equally good, the
    result is the index of the lowest one.

    values : pass@k at each temperature and k, with shape (…, temperatures, k's). The temperatures
        must be in increasing order.
    Returns integer indices with shape (…, k's).

    >>> best_temperature_index_by_k(np.array([[0.5, 0.5, 0.5], [0.2, 0.5, 0.9]])).tolist()
    [0, 0, 1]
    """
    highest = values.max(axis=-2, keepdims=True)
    places: Ints = (values >= highest - 1e-12).argmax(axis=-2)
    return places


def fit_power_law_to_switches(
    temperatures: Floats, ks: Ints, values: Floats
) -> tuple[Floats, Floats]:
    """Fit the power law T* = factor · k^exponent to the switches of the best temperature.

    If only a few temperatures were measured, the best temperature T*(k) is a step function of k.
    The first and the last step give only bounds on T*, but the switches between steps are
    informative. If T* switches from T to T' between k and the next k', the curve T*(k) has the
    value √(T·T') near √(k·k'). The power law is the least-squares line through the logarithms of
    these points. Switches from or to T = 0 are left out, because 0 has no logarithm.

    temperatures, ks : arrays in increasing order.
    values : pass@k with shape (resamples, temperatures, k's).
    Returns (exponents, factors), two arrays with one value per resample. Both values are NaN if the
    best temperature of the resample takes fewer than three different values above 0.

    >>> at = np.array([[[0.9, 0.8, 0.7, 0.6], [0.8, 0.9, 0.9, 0.7], [0.7, 0.8, 0.8, 0.8]]])
    >>> temperatures, ks = np.array([0.2, 0.4, 0.8]), np.array([1, 4, 8, 16])
    >>> exponent, factor = fit_power_law_to_switches(temperatures, ks, at)
    >>> exponent.round(6).tolist(), factor.round(6).tolist()
    ([0.4], [0.214355])
    """
    best = best_temperature_index_by_k(values)
    with np.errstate(divide="ignore"):
        logs = np.log(temperatures)[best]
    finite = np.isfinite(logs)
    x = (np.log(ks[1:]) + np.log(ks[:-1])) / 2
    pairs = (best[:, 1:] != best[:, :-1]) & finite[:, 1:] & finite[:, :-1]
    y = np.where(pairs, np.where(finite, logs, 0.0)[:, 1:] + np.where(finite, logs, 0.0)[:, :-1], 0)
    y = y / 2
    count = np.maximum(pairs.sum(axis=1), 1)
    x_mean, y_mean = (pairs * x).sum(axis=1) / count, y.sum(axis=1) / count
    across = np.where(pairs, x - x_mean[:, None], 0.0)
    square = (across**2).sum(axis=1)
    distinct = sum((best == t).any(axis=1) for t in range(len(temperatures)) if temperatures[t] > 0)
    enough = (distinct >= FEWEST_TEMPERATURES) & (square > 0)
    exponents = np.where(enough, (across * y).sum(axis=1) / np.where(enough, square, 1.0), math.nan)
    return exponents, np.exp(y_mean - exponents * x_mean)
