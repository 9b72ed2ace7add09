"""Straight lines through pass@k: log k against its logit, or against log(−log pass@k)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from passk_cli.arrays import Floats, Ints

# How many k's a line is laid through, evenly in log k.
_KS = 24
KINDS = ("log-logit", "power")


@dataclass(frozen=True)
class LogLine:
    """height = intercept + slope · log k, for each fit; see `fit`."""

    kind: str
    intercept: Floats
    slope: Floats

    def failure(self, ks: ArrayLike) -> Floats:
        """1 − pass@k at any k ≥ 1: (fits × k); NaN where no line could be laid.

        log-logit: 1 / (1 + e^height).  power: 1 − exp(−e^height), so −log pass@k = e^a k^slope.
        """
        logs = np.log(np.asarray(ks, dtype=np.float64))
        height = self.intercept[:, None] + self.slope[:, None] * logs
        if self.kind == "power":
            return -np.expm1(-np.exp(np.minimum(height, 700.0)))
        from scipy.special import expit

        failing: Floats = expit(-height)
        return failing


def spaced(k_max: int) -> Ints:
    """k's from 1 to k_max that are about even in log k, at most 24.

    >>> spaced(10).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    """
    return np.unique(np.geomspace(1, k_max, _KS).round().astype(np.int64))


def fit(kind: str, ks: ArrayLike, pass_at: Floats) -> LogLine:
    """The least-squares line through pass@k for each row of pass_at.

    kind : "log-logit" (the logit of pass@k is straight in log k) or "power" (−log pass@k is a
        power of k).  ks : (k's,).  pass_at : (fits × k's); values of 0 and 1 have no height and
        are left out.
    Edge cases: NaN coefficients where fewer than two values lie strictly between 0 and 1.
    Source: Brown et al. 2024, "Large language monkeys", eq. 2 (power).

    >>> line = fit("power", [1, 10, 100], np.exp(-2.0 * np.array([[1, 10, 100]]) ** -0.5))
    >>> line.slope.round(6).tolist(), line.failure([10_000]).round(6).tolist()
    ([-0.5], [[0.019801]])
    """
    logs = np.log(np.asarray(ks, dtype=np.float64))
    inside = (pass_at > 0) & (pass_at < 1)
    share = np.where(inside, pass_at, 0.5)
    straight = np.log(-np.log(share)) if kind == "power" else np.log(share) - np.log1p(-share)
    heights = np.where(inside, straight, 0.0)
    count = inside.sum(axis=1)
    points = np.where(count >= 2, count, np.nan)
    middle = (inside @ logs) / points
    away = np.where(inside, logs - middle[:, None], 0.0)
    mean = heights.sum(axis=1) / points
    slope = (away * heights).sum(axis=1) / (away**2).sum(axis=1)
    return LogLine(kind, mean - slope * middle, slope)
