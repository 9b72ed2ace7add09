"""The metrics gpass@k (at least a share of k attempts pass) and mgpass@k (mean of gpass@k)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from passk_cli.arrays import Floats, Ints, row_blocks
from passk_cli.metrics.pass_k import pass_at_k_per_pair, pass_hat_k_per_pair

# A block has at most _BLOCK_TERMS probabilities, which need about 32 MB.
_BLOCK_TERMS = 1 << 20
_UNDERFLOW_EXPONENT = 746.0


def passes_needed(k: int, share: Fraction) -> int:
    """The number of attempts among k that must pass: ⌈share · k⌉, but at least 1.

    share : an exact fraction in [0, 1]. In floating-point numbers, 0.28 · 25 would be
        7.000000000000001, so 8 passes would be needed.

    >>> from fractions import Fraction
    >>> passes_needed(25, Fraction("0.28")), passes_needed(25, Fraction(0))
    (7, 1)
    """
    return max(1, math.ceil(share * k))


def gpass_per_pair(n: Ints, c: Ints, k: int, share: Fraction) -> Floats:
    """Probability that at least ⌈share · k⌉ of k attempts pass, drawn from n without replacement.

    The value is Σ_{j ≥ ⌈share·k⌉} C(c, j) C(n−c, k−j) / C(n, k), the upper tail of a hypergeometric
    distribution. A share of 0 gives pass@k (at least one), and a share of 1 gives pass^k (all).

    n, c : integer arrays of one shape, with 0 ≤ c ≤ n.  k : at least 1.  share : in [0, 1].
    Returns probabilities, which are NaN if n < k. The relative error is at most 1e-12 down to the
    smallest normal number.
    Source: Liu and others 2024, "Are your LLMs capable of stable reasoning?", G-Pass@k.

    >>> from fractions import Fraction
    >>> gpass_per_pair(np.array([4]), np.array([2]), 2, Fraction(1, 2)).round(6).tolist()
    [0.833333]
    """
    return at_least_m_of_k_per_pair(n, c, k, passes_needed(k, share))


def mgpass_per_pair(n: Ints, c: Ints, k: int) -> Floats:
    """Mean of gpass@k over the shares above one half: (2/k) Σ_{i=⌈k/2⌉+1..k} gpass@k:i/k.

    The value equals (2/k) E max(0, X − ⌈k/2⌉), where X is the number of passes among k attempts.

    n, c, k : the same as in `gpass_per_pair`. The result has the same accuracy, and is NaN if n <
        k.
    The sum has k − ⌈k/2⌉ terms of at most 1. The maximum of mgpass@k is therefore 1 for even k and
    1 − 1/k for odd k. For
        k = 1, the sum is 0.
    Source: Liu and others 2024, mG-Pass@k.

    >>> mgpass_per_pair(np.array([4, 4]), np.array([2, 4]), 2).round(6).tolist()
    [0.166667, 1.0]
    """
    half = -(-k // 2)
    value = np.where(n >= k, 0.0, np.nan)
    open_ = (n >= k) & (c > half)
    value[open_] = 2.0 / k * _tail_probability_or_excess(n[open_], c[open_], k, half, excess=True)
    return value


def at_least_m_of_k_per_pair(n: Ints, c: Ints, k: int, least: int) -> Floats:
    """Probability that at least `least` of k attempts pass, drawn from n attempts with c passes."""
    if least == 1:
        return pass_at_k_per_pair(n, c, k)
    if least == k:
        return pass_hat_k_per_pair(n, c, k)
    certain = (n >= k) & (k - (n - c) >= least)
    value = np.where(n >= k, certain.astype(np.float64), np.nan)
    open_ = (n >= k) & (c >= least) & ~certain
    value[open_] = _tail_probability_or_excess(n[open_], c[open_], k, least, excess=False)
    return value


def _tail_probability_or_excess(n: Ints, c: Ints, k: int, least: int, *, excess: bool) -> Floats:
    """The probability P(X ≥ least), or the mean of max(0, X − least), from ratios of probabilities.

    Products of ratios are accurate to the last digits. Logarithms of factorials would lose digits.
    """

    def credit(x: Ints) -> Ints:
        return np.maximum(x - least, 0) if excess else (x >= least).astype(np.int64)

    # By Hoeffding's bound, probabilities farther than `width` steps from the mode are below the
    # smallest double. The distribution stays the same if k and c are swapped. The distribution is
    # mirrored if k is replaced by n−k, or c by n−c.
    draws = int(np.minimum(np.minimum(c, n - c), np.minimum(k, n - k)).max(initial=0))
    width = min(
        draws, math.ceil(math.sqrt(draws / 2 * (_UNDERFLOW_EXPONENT + math.log(k + 1)))) + 2
    )
    steps = np.arange(width)
    out = np.empty(n.shape)
    for block in row_blocks(n.size, width, _BLOCK_TERMS):
        passes, fails = c[block, None], (n - c)[block, None]
        mode = (k + 1) * (passes + 1) // (passes + fails + 2)
        mode = np.clip(mode, k - fails, np.minimum(passes, k))
        x = mode + steps
        more = np.maximum(passes - x, 0) * np.maximum(k - x, 0)
        up = np.cumprod(more / ((x + 1) * (fails - k + x + 1)), axis=1)
        y = mode - steps
        fewer = np.maximum(y, 0) * np.maximum(fails - k + y, 0)
        down = np.cumprod(fewer / ((passes - y + 1) * (k - y + 1)), axis=1)
        total = up.sum(axis=1) + down.sum(axis=1) + 1.0
        part = (up * credit(x + 1)).sum(axis=1) + (down * credit(y - 1)).sum(axis=1)
        part += credit(mode)[:, 0]
        out[block] = part / total
    return out
