"""Hardness of tasks in cells: what counts say of it, and how likely any spread can make them.

A task's hardness is x = −log odds of its success rate; for hard tasks that is −log p.  Cells are
0.1 wide, from p = 0.9999 to p = 2e-15; one more cell holds the tasks that are never solved.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from passk_cli.arrays import Floats, Ints

CELL = 0.1
CENTRES = np.asarray(-9.0 + CELL * np.arange(431), dtype=np.float64)
EDGES = np.append(CENTRES - CELL / 2, CENTRES[-1] + CELL / 2)
_TINY = 1e-300
# The free likelihood is known to this much; steps of its climb; the longest of them, which leaves
# no counts without a chance.
_GAP, _STEPS, _LONGEST = 0.05, 60, 0.999
# Row of the least-squares problem that holds the sum of the masses at 1.
_SUM = 1e3


def failure(ks: ArrayLike) -> Floats:
    """(1 − p)^k in each cell: ((cells + 1) × k).  A task never solved always fails."""
    k = np.asarray(ks, dtype=np.float64)
    fails = np.exp(np.outer(-np.logaddexp(0.0, -CENTRES), k))
    return np.concatenate([fails, np.ones((1, len(k)))])


def likelihood(n: Ints, c: Ints) -> Floats:
    """How likely c of n attempts pass in each cell, up to a factor per row: (pairs × (cells + 1)).

    The mean over the cell where some attempts pass and some fail, by the incomplete beta function,
    so that no n is too large for the cells; else the value at the cell's centre.
    n, c : (pairs,), best distinct.

    >>> likelihood(np.array([9, 9]), np.array([0, 3]))[:, -1].tolist()
    [1.0, 0.0]
    """
    from scipy.special import betainc

    chance = np.zeros((len(n), len(CENTRES) + 1))
    none, every = c == 0, c == n
    mixed = ~(none | every)
    rates = np.exp(-np.logaddexp(0.0, EDGES))
    below = betainc(c[mixed, None], (n - c)[mixed, None], rates)
    chance[mixed, :-1] = np.maximum(below[:, :-1] - below[:, 1:], 0.0)
    chance[none, :-1] = np.exp(np.outer(-n[none], np.logaddexp(0.0, -CENTRES)))
    chance[every, :-1] = np.exp(np.outer(-n[every], np.logaddexp(0.0, CENTRES)))
    chance[none, -1] = 1.0
    relative: Floats = chance / chance.max(axis=1, keepdims=True)
    return relative


def bins(n: Ints | int, c: Ints) -> Ints:
    """(low, high) of the bin of c: 0; 1; 2–3; 4–7; … to n/2; and the rest: (pairs × 2).

    The bins are fine where tasks are hard, which is where they say how pass@k goes on.

    >>> bins(np.full(5, 20), np.array([0, 3, 8, 10, 20])).tolist()
    [[0, 0], [2, 3], [8, 9], [10, 20], [10, 20]]
    """
    half = (n + 1) // 2
    low = np.where(c > 0, 2 ** np.frexp(np.maximum(c, 1))[1].astype(np.int64) // 2, 0)
    high = np.minimum(np.maximum(2 * low - 1, 0), half - 1)
    easy = c >= half
    return np.stack([np.where(easy, half, low), np.where(easy, n, high)], axis=1)


def bin_likelihood(n: Ints, ends: Ints) -> Floats:
    """P(low ≤ c ≤ high) at the centre of each cell: (bins × (cells + 1)).

    n : (bins,).  ends : (bins × 2), of `bins`.
    """
    from scipy.special import betainc

    rates, n = np.append(np.exp(-np.logaddexp(0.0, CENTRES)), 0.0), n[:, None]

    def at_least(c: Ints) -> Floats:
        inside = np.clip(c, 1, n)
        sure = np.where(c <= 0, 1.0, betainc(inside, n - inside + 1, rates))
        return np.where(c > n, 0.0, sure)

    return np.maximum(at_least(ends[:, :1]) - at_least(ends[:, 1:] + 1), 0.0)


def free_likelihood(chance: Floats, tasks: Floats) -> float:
    """The highest log-likelihood that any spread of hardness over the cells gives the counts.

    max over masses w of Σ tasks log(chance @ w).  The constrained Newton method: each step solves
    the quadratic approximation by nonnegative least squares, then one step of EM.  It ends when
    the derivative shows that less than 0.05 can still be gained.

    chance : (pairs × cells), of `likelihood`.  tasks : (pairs,) > 0, how many have these counts.
    Source: Lindsay 1983 (nonparametric maximum likelihood); Wang 2007 (constrained Newton method).

    >>> two = np.array([[1.0, 0.2], [0.2, 1.0]])
    >>> round(free_likelihood(two, np.array([3.0, 3.0])) / 6, 3)  # log 0.6
    -0.511
    """
    from scipy.optimize import nnls

    total, root = tasks.sum(), np.sqrt(tasks)
    mass = np.full(chance.shape[1], 1 / chance.shape[1])
    for _ in range(_STEPS):
        own = chance @ mass
        gain = (tasks / own) @ chance
        if gain.max() - total < _GAP:
            break
        # The masses of highest quadratic approximation, on the cells in use and where gains peak.
        around = np.concatenate([[-np.inf], gain, [-np.inf]])
        peak = (gain >= around[:-2]) & (gain >= around[2:])
        support = np.flatnonzero((mass > 1e-9) | peak)
        rows = root[:, None] * chance[:, support] / own[:, None]
        left = np.concatenate([rows, np.full((1, len(support)), _SUM)])
        target = np.zeros_like(mass)
        target[support] = nnls(left, np.append(2 * root, _SUM), maxiter=10_000)[0]
        target /= target.sum()
        # As far towards them, halving, as climbs.
        height, share = tasks @ np.log(np.maximum(own, _TINY)), _LONGEST
        while share > 1e-4:
            next_mass = mass + share * (target - mass)
            if tasks @ np.log(np.maximum(chance @ next_mass, _TINY)) > height:
                mass = next_mass
                break
            share /= 2
        mass *= (tasks / (chance @ mass)) @ chance / total
    return float(tasks @ np.log(chance @ mass))
