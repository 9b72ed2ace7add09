"""Binomial coefficients as logarithms, and the binomial and hypergeometric distributions."""

from __future__ import annotations

import numpy as np

from passk_cli.arrays import ArrayLike, Floats, Ints


def log_choose(n: ArrayLike, k: ArrayLike) -> Floats:
    """The logarithm of C(n, k) for whole numbers n ≥ 0, or −∞ if k < 0 or k > n.

    >>> np.exp(log_choose(4, [-1, 0, 2, 5])).round(9).tolist()
    [0.0, 1.0, 6.0, 0.0]
    """
    from passk_cli.scipy_special import gammaln

    n, k = np.asarray(n, np.float64), np.asarray(k, np.float64)
    logs: Floats = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return logs


def binomial_probabilities(n: ArrayLike, c: ArrayLike, rate: ArrayLike) -> Floats:
    """The probability that c of n attempts pass at a success rate in [0, 1]. Arrays are broadcast.

    >>> binomial_probabilities(2, [0, 1, 2], 0.5).round(9).tolist()
    [0.25, 0.5, 0.25]
    >>> binomial_probabilities(2, 2, 1.0).tolist()
    1.0
    """
    from passk_cli.scipy_special import xlog1py, xlogy

    n, c, rate = np.asarray(n), np.asarray(c), np.asarray(rate)
    chances: Floats = np.exp(log_choose(n, c) + xlogy(c, rate) + xlog1py(n - c, -rate))
    return chances


def hypergeometric_probabilities(n: Ints, c: Ints, size: int) -> Floats:
    """The probability that x of `size` attempts pass, for x = 0, 1, …, size.

    The attempts are drawn without replacement from n attempts, of which c pass.

    n, c : number of attempts (n ≥ size) and of passes of each cell.
    Returns an array with one row per cell and one column per x.

    >>> hypergeometric_probabilities(np.array([4]), np.array([3]), 2).round(9).tolist()
    [[0.0, 0.5, 0.5]]
    """
    n, c, x = n[:, None], c[:, None], np.arange(size + 1)
    return np.exp(log_choose(c, x) + log_choose(n - c, size - x) - log_choose(n, size))
