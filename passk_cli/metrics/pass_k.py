"""pass@k and pass^k from n attempts of which c passed, for many cells at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from passk_cli.arrays import ArrayLike, Floats, Ints, row_blocks
from passk_cli.limits import MOST_ATTEMPTS

MetricOfCountsFunction = Callable[[Ints, Ints, int], Floats]

# A block of a product has at most _BLOCK_TERMS terms, which need about 32 MB.
_BLOCK_TERMS = 1 << 22
# A block of _CPU_CACHE_TERMS terms fits into the processor's cache. Computations in the cache are
# ten times as fast.
_CPU_CACHE_TERMS = 1 << 15
_FEW_PAIRS, _SETS = 256, 1024
_NEGLIGIBLE_LOG = -40.0


def pass_at_k(n: ArrayLike, c: ArrayLike, k: ArrayLike) -> Floats:
    """Probability that at least one of k attempts passes: 1 − C(n−c, k) / C(n, k).

    The k attempts are drawn without replacement from the n observed attempts. The estimate of E[1 −
    (1−p)^k] is unbiased if the attempts are exchangeable.

    n, c, k : integer arrays, which are broadcast, with 0 ≤ c ≤ n ≤ 10⁹ and 1 ≤ k ≤ 10⁹.
    Returns probabilities with a relative error of at most 1e-12. The result is NaN if n < k,
    because there are too few attempts.
    For failure probabilities near zero, use `pass_hat_k(n, n − c, k)` instead of 1 − pass@k.
    Errors: ValueError if c is outside [0, n], n or k is above 10⁹, k < 1, or a value is not a whole
    number.
    Source: Chen and others 2021, "Evaluating large language models trained on code", equation 1.

    >>> pass_at_k(3, 1, [1, 2, 3]).round(6).tolist()
    [0.333333, 0.666667, 1.0]
    """
    return _values_by_unique_pair(*_checked_n_c_k(n, c, k), pass_at_k_per_pair)


def pass_hat_k(n: ArrayLike, c: ArrayLike, k: ArrayLike) -> Floats:
    """Probability that k attempts drawn without replacement all pass: C(c, k) / C(n, k).

    The estimate of E[p**k] is unbiased if the n attempts are exchangeable. The result is NaN if n <
    k, because there are too few attempts.

    The arguments and errors are the same as for `pass_at_k`.
    Returns probabilities with a relative error of at most 1e-12 down to the smallest normal number.
    Source: Yao and others 2024, "tau-bench", the estimator of pass^k.

    >>> pass_hat_k(4, 3, [1, 2, 4, 5]).tolist()
    [0.75, 0.5, 0.0, nan]
    """
    return _values_by_unique_pair(*_checked_n_c_k(n, c, k), pass_hat_k_per_pair)


def unique_pairs(n: Ints, c: Ints) -> tuple[Ints, Ints, Ints]:
    """The distinct pairs (un, uc) of n and c, and `index` with n == un[index] and c == uc[index].

    If all n are equal and small, the function returns a pair for each c from 0 to n, because this
    needs no sorting.
    Errors: ValueError for n above 10⁹, because keys would not fit into 64 bits.
    """
    if n.size and int(n.max()) > MOST_ATTEMPTS:
        raise ValueError(f"n must be at most {MOST_ATTEMPTS:,}")
    if n.size and (top := int(n.max())) == int(n.min()) and top <= 4 * n.size + 1024:
        return np.full(top + 1, top, dtype=np.int64), np.arange(top + 1, dtype=np.int64), c
    width = int(n.max(initial=0)) + 1
    keys, index = np.unique(n * width + c, return_inverse=True)
    return keys // width, keys % width, index.reshape(n.shape)


def cached_values_of_few_pairs(
    function: Callable[..., Floats], of: Any, n: Ints, c: Ints
) -> Floats:
    """The result of function(of, n, c). For few pairs, the result is cached and read-only."""
    if len(n) > _FEW_PAIRS:
        return function(of, n, c)
    return _cached_pair_values(function, of, n.tobytes(), c.tobytes())


@lru_cache(maxsize=_SETS)
def _cached_pair_values(function: Callable[..., Floats], of: Any, n: bytes, c: bytes) -> Floats:
    values = function(of, np.frombuffer(n, np.int64), np.frombuffer(c, np.int64))
    values.flags.writeable = False
    return values


def pass_at_k_per_pair(n: Ints, c: Ints, k: int) -> Floats:
    """pass@k of each (n, c) pair for one k; see `pass_at_k`."""
    value = np.where(n >= k, 1.0, np.nan)
    open_ = (n >= k) & (c <= n - k)
    value[open_] = 0.0 - np.expm1(_miss_probability(n[open_], c[open_], k, logs=True))
    return value


def pass_hat_k_per_pair(n: Ints, c: Ints, k: int) -> Floats:
    """pass^k of each (n, c) pair for one k; see `pass_hat_k`."""
    value = np.where(n >= k, 0.0, np.nan)
    open_ = (n >= k) & (c >= k)
    # A product keeps the relative accuracy of tiny values, but a sum of logarithms would lose it.
    value[open_] = _miss_probability(n[open_], n[open_] - c[open_], k, logs=False)
    return value


def pass_rate_ignoring_k_and_share(n: Ints, c: Ints, k: int, share: object) -> Floats:
    """Pass rate of each (n, c) pair, for metrics that are known only as a range.

    The function ignores `k` and `share`.
    """
    return pass_at_k_per_pair(n, c, 1)


def gain_at_k_per_pair(n: Ints, c: Ints, k: int) -> Floats:
    """Gain of k attempts over one attempt: pass@k − pass@1 of each (n, c) pair, in [0, 1).

    >>> gain_at_k_per_pair(np.array([4]), np.array([2]), 2).round(6).tolist()
    [0.333333]
    """
    return np.maximum(pass_at_k_per_pair(n, c, k) - c / np.maximum(n, 1), 0.0)


def _miss_probability(n: Ints, m: Ints, k: int, *, logs: bool) -> Floats:
    """The probability C(n−m, k) / C(n, k) that k of n attempts include none of m given attempts.

    The probability is a product of m factors 1 − k/(n−j), and also a product of k factors 1 −
    m/(n−j). The function computes the shorter of the two products, and requires n − m ≥ k. If
    `logs` is true, the result is the logarithm of the probability.
    """
    terms, size = np.minimum(m, k)[:, None], np.maximum(m, k)[:, None]
    longest = int(terms.max(initial=0))
    total = np.zeros(n.shape) if logs else np.ones(n.shape)
    width = max(1, _BLOCK_TERMS // max(n.size, 1))
    settled = _NEGLIGIBLE_LOG if logs else 0.0
    for start in range(0, longest, width):
        if not np.any((terms[:, 0] > start) & (total > settled)):
            break  # The remaining factors cannot change a digit of the product.
        j = np.arange(start, min(start + width, longest))
        for rows in row_blocks(n.size, len(j), _CPU_CACHE_TERMS):
            base, in_product = n[rows, None] - j, j < terms[rows]
            if logs:
                parts = np.divide(-size[rows], base, out=np.zeros(base.shape), where=in_product)
                total[rows] += np.log1p(parts, out=parts, where=in_product).sum(axis=1)
            else:
                parts = np.divide(
                    base - size[rows], base, out=np.ones(base.shape), where=in_product
                )
                total[rows] *= parts.prod(axis=1)
    return total


def pass_at_and_hat_curves(n: Ints, c: Ints, k_max: int) -> tuple[Floats, Floats]:
    """pass@k and pass^k of each cell for every k from 1 to k_max: two (cells × k_max) arrays.

    The values are NaN if n < k.

    >>> at, hat = pass_at_and_hat_curves(np.array([4]), np.array([3]), 4)
    >>> at.round(3).tolist(), hat.tolist()
    ([[0.75, 1.0, 1.0, 1.0]], [[0.75, 0.5, 0.25, 0.0]])
    """
    n, c, _ = _checked_n_c_k(n, c, k_max)
    at, hat = np.empty((2, n.size, k_max))
    for columns, *block in pass_at_and_hat_curve_blocks(n, c, np.arange(1, k_max + 1)):
        at[:, columns], hat[:, columns] = (values.T for values in block)
    return at, hat


def pass_at_and_hat_curve_blocks(
    n: Ints, c: Ints, ks: Ints
) -> Iterator[tuple[slice, Floats, Floats]]:
    """pass@k and pass^k of each cell at many k's, in blocks that limit the memory.

    The cumulative products run over all k, so all k's together take as long as the largest k.

    n, c : number of attempts and of passes of each cell.  ks : increasing values of k, at least 1.
    Each tuple contains a slice of `ks`, and pass@k and pass^k at these values of k. Both metrics
    are arrays (k's of the slice × cells), which are NaN if n < k.
    The relative error is at most 1e-12 up to k = 10⁵.
    """
    un, uc, index = unique_pairs(n, c)
    present = np.bincount(index, minlength=len(un)) > 0
    un, uc, index = un[present], uc[present], (np.cumsum(present) - 1)[index]
    logs, product = np.zeros(len(un)), np.ones(len(un))
    last = int(ks[-1])
    width = max(1, _BLOCK_TERMS // (8 * max(len(un), n.size)))
    for start in range(0, last, width):
        i = np.arange(start, min(start + width, last))[:, None]
        remaining = un - i
        base = np.maximum(remaining, 1)
        certain = remaining <= uc
        logs_to = logs + np.cumsum(np.log1p(np.where(certain, 0.0, -uc / base)), axis=0)
        products = product * np.cumprod(np.maximum(uc - i, 0) / base, axis=0)
        logs, product = logs_to[-1], products[-1]
        first, end = np.searchsorted(ks, [start + 1, start + width + 1])
        rows = ks[first:end] - 1 - start
        at = np.where(certain[rows], 1.0, 0.0 - np.expm1(logs_to[rows]))
        hat = products[rows]
        at[remaining[rows] < 1] = hat[remaining[rows] < 1] = np.nan
        yield slice(int(first), int(end)), at.take(index, axis=1), hat.take(index, axis=1)


def _checked_n_c_k(n: ArrayLike, c: ArrayLike, k: ArrayLike) -> tuple[Ints, Ints, Ints]:
    integers = []
    for name, value in (("n", n), ("c", c), ("k", k)):
        array = np.asarray(value)
        # Very large numbers would overflow silently when they are converted to 64-bit integers.
        if name != "c" and np.any(array > MOST_ATTEMPTS):
            raise ValueError(f"{name} must be at most {MOST_ATTEMPTS:,}")
        if array.dtype.kind not in "iub":
            if not np.all(np.equal(np.mod(array, 1), 0)):
                raise ValueError(f"{name} must be whole numbers")
            array = array.astype(np.int64)
        integers.append(array.astype(np.int64, copy=False))
    n_, c_, k_ = integers
    if np.any(c_ < 0) or np.any(c_ > n_):
        raise ValueError("c must be between 0 and n")
    if np.any(k_ < 1):
        raise ValueError("k must be at least 1")
    return n_, c_, k_


def _values_by_unique_pair(n: Ints, c: Ints, k: Ints, form: MetricOfCountsFunction) -> Floats:
    if k.ndim == 0 and n.shape == c.shape:
        un, uc, index = unique_pairs(n, c)
        return form(un, uc, int(k))[index]
    n, c, k = np.broadcast_arrays(n, c, k)
    out = np.empty(n.shape)
    for k_value in np.unique(k):
        at_k = k == k_value
        un, uc, index = unique_pairs(n[at_k], c[at_k])
        out[at_k] = form(un, uc, int(k_value))[index]
    return out
