"""The numbers of a comparison by code of their own, from the formulas of docs/statistics.md.

Only numpy is used, and nothing of passk but what it prints: a referee could have written this.
"""

from __future__ import annotations

import math
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest

import passk_cli
from passk_cli.arrays import Floats, Ints

NODES, WEIGHTS = np.polynomial.legendre.leggauss(100)
GRID = np.sin(np.pi * np.arange(257) / 512) ** 2


def two_sided(t: float, degrees: int) -> float:
    """P(|T| ≥ t) of Student's T: with t = √ν tan θ its density is that of cosᵛ⁻¹ θ."""
    start = math.atan(t / math.sqrt(degrees))
    tail, density = (
        (end / 2) * (WEIGHTS @ np.sin((NODES + 1) * end / 2) ** (degrees - 1))
        for end in (math.pi / 2 - start, math.pi / 2)
    )
    return float(tail / density)


def quantile(alpha: float, degrees: int) -> float:
    low, high = 0.0, 1e6
    while high - low > 1e-15 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided(middle, degrees) > alpha else (low, middle)
    return high


def values(n: Ints, c: Ints, k: int) -> Floats:
    ways = [1 - math.comb(a - b, k) / math.comb(a, k) for a, b in zip(n, c, strict=True)]
    return np.array(ways)


@cache
def noise(n: int, k: int) -> list[float]:
    """Variance of a task's value at the success rates of the grid."""
    c = np.arange(n + 1)
    ways = np.array([float(math.comb(n, int(i))) for i in c])
    v = values(np.full(n + 1, n), c, k)
    spreads = []
    for p in GRID:
        share = ways * p**c * (1 - p) ** (n - c)
        spreads.append(share @ (v - share @ v) ** 2)
    return spreads


def floor(n: Ints, c: Ints, k: int) -> float:
    """n, c : (2 models × tasks)."""
    attempts, passed, tasks = n.sum(axis=0), c.sum(axis=0), n.shape[1]
    mu = (passed.sum() + 0.5) / (attempts.sum() + 1)
    v = (passed / attempts).var(ddof=1) / (mu * (1 - mu))
    rho = min(max((v - (1 / attempts).mean()) / (1 - (1 / attempts).mean()), 0.5), 1.0)
    s = min(max(1 / rho - 1, 0.02), 1.0)
    rate = (passed + s * mu) / (attempts + s)
    w = np.mean(
        [sum(np.interp(rate[t], GRID, noise(int(m[t]), k)) for m in n) for t in range(tasks)]
    )
    believed = 0.5 if (n[0] == n[1]).all() else 1.0
    return float(believed * w / tasks * (1.959963984540054 / quantile(0.05, tasks - 1)) ** 2)


def errors(d: Floats, least: float) -> tuple[float, float, float, float]:
    """Standard errors below, above and without a lump, and the relative error of the last."""
    tasks = len(d)
    kurtosis = tasks * ((d - d.mean()) ** 4).sum() / ((d - d.mean()) ** 2).sum() ** 2
    unsure = 0.5 * math.sqrt(max(kurtosis - (tasks - 3) / (tasks - 1), 0) / tasks)
    square = max(d.var(ddof=1) / tasks, least)
    m = (d**2).sum() ** 2 / (d**4).sum()
    kappa = (d**3).sum() / (abs(d) ** 3).sum()
    tail, hits = (min(max(x, 0), 1) for x in ((5 - m) / 3, max(2 - m, (6 - tasks) / 3)))
    below, above = (square + 2 * max(tail * x, hits) / tasks**2 for x in (-kappa, kappa))
    return math.sqrt(below), math.sqrt(above), math.sqrt(square), unsure


def moderated(spread: Floats, unsure: Floats) -> Floats:
    v = np.maximum((2.5 * unsure) ** 2, 1e-6)
    y = 2 * np.log(spread) + v / 2
    w = 1 / v
    excess = (w * (y - (w @ y) / w.sum()) ** 2).sum() - (len(y) - 1)
    between = max(0.0, excess / (w.sum() - (w @ w) / w.sum()))
    w = 1 / (v + between)
    likelihood = np.exp((y * between + (w @ y) / w.sum() * v) / (between + v) / 2)
    return np.maximum(spread, likelihood)


def referee(n: Ints, c: Ints, k: int) -> dict[tuple[int, int], list[float]]:
    """Difference, limits, p and adjusted p of all pairs.  n, c : (models × tasks)."""
    v = np.array([values(*counts, k) for counts in zip(n, c, strict=True)])
    tasks, pairs = v.shape[1], [(a, b) for a in range(len(v)) for b in range(len(v)) if a < b]
    d = np.array([v[a] - v[b] for a, b in pairs])
    floors = [floor(n[[a, b]], c[[a, b]], k) for a, b in pairs]
    below, above, spread, unsure = np.array(list(map(errors, d, floors))).T
    if len(pairs) > 2:
        more = moderated(spread, unsure) ** 2 - spread**2
        below, above = np.sqrt(below**2 + more), np.sqrt(above**2 + more)
    mean = d.mean(axis=1)
    t = np.abs(mean) / np.where(mean > 0, below, above)
    p = np.array([two_sided(x, tasks - 1) for x in t])
    adjusted, level = p, 0.05
    if len(pairs) > 1:
        signs = 1 - 2 * (np.arange(1 << (tasks - 1))[:, None] >> np.arange(tasks) & 1)
        e = d - mean[:, None]
        z = np.abs(signs @ e.T) / np.sqrt((e**2).sum(axis=1))
        largest = np.minimum(z.max(axis=1), math.sqrt(tasks) * (1 - 1e-15)) ** 2
        p_values = [two_sided(math.sqrt(x * (tasks - 1) / (tasks - x)), tasks - 1) for x in largest]
        smallest = np.sort(p_values)
        share = np.array([(smallest <= x * (1 + 1e-9)).mean() for x in p])
        adjusted = np.minimum(np.maximum(p, np.minimum(share, len(p) * p)), 1)
        level = max(smallest[int(0.05 * len(smallest))] / (1 + 1e-9), 0.05 / len(p))
    q = quantile(min(level, 0.05), tasks - 1)
    low, high = np.maximum(mean - q * below, -1), np.minimum(mean + q * above, 1)
    rows = zip(mean, low, high, p, adjusted, strict=True)
    return {pair: [float(x) for x in row] for pair, row in zip(pairs, rows, strict=True)}


@pytest.mark.parametrize(
    ("sizes", "tasks", "k"),
    [
        ((8, 8), 40, 1),
        ((8, 3), 25, 1),
        ((10, 6), 6, 3),
        ((9, 9, 4, 9, 6), 11, 2),
        ((5,) * 6, 12, 1),
    ],
)
def test_a_referee_gets_the_same_numbers(sizes: tuple[int, ...], tasks: int, k: int) -> None:
    random = np.random.default_rng(tasks)
    n = np.repeat(np.array(sizes)[:, None], tasks, axis=1)
    rates = random.beta(1, 1, tasks) * np.linspace(1, 0.4, len(sizes))[:, None]
    c = random.binomial(n, rates)
    frame = pd.DataFrame({
        "model": np.repeat([f"m{i}" for i in range(len(sizes))], tasks),
        "task": np.tile(np.arange(tasks), len(sizes)), "n": n.ravel(), "c": c.ravel(),
    })  # fmt: skip
    with warnings.catch_warnings():
        # Of numbers of attempts that differ.
        warnings.simplefilter("ignore", passk_cli.PasskWarning)
        report = passk_cli.compare(frame, f"pass@{k}")
    rows = report.frame.query("against == against and p == p")
    expected, rows_seen = referee(n, c, k), 0
    for row in rows.itertuples():
        first, second = int(row.model[1:]), int(row.against[1:])
        mean, low, high, p, adjusted = expected[min(first, second), max(first, second)]
        if first > second:
            mean, low, high = -mean, -high, -low
        numbers = [row.estimate, row.low, row.high, row.p, row.p_adjusted]
        np.testing.assert_allclose(numbers, [mean, low, high, p, adjusted], rtol=1e-10, atol=1e-10)
        rows_seen += 1
    assert rows_seen == len(expected)
