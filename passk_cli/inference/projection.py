"""Tasks and a fitted curve → pass@k beyond the attempts there are, for resampled tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from passk_cli.arrays import ArrayLike, Floats, Ints
from passk_cli.limits import refuse_many_draws
from passk_cli.metrics.choice import hypergeometric
from passk_cli.metrics.pass_k import hat_pairs

# Weight of a task of which nothing is known, as in the guard intervals.
_GUARD = 0.5


class FailureCurve(Protocol):
    """A fitted model: what it says of failing."""

    def failure(self, ks: ArrayLike) -> Floats:
        """E (1 − p)^k, the chance that all of k attempts at a random task fail: (fits × k)."""


@dataclass(frozen=True)
class Weighed:
    """Cells (n, c), how many tasks are behind each, and resampled weightings of them.

    n, c : (cells,).  once : (1 × cells).  again : (resamples × cells).
    guard : (resamples,) weight, as a share of all, of one more task of which nothing is known.
    worth : of how many independent tasks each says as much: 1, and with clusters of m tasks
        Σm / Σm², as if those of a cluster were all alike.
    """

    n: Ints
    c: Ints
    once: Floats
    again: Floats
    guard: Floats
    worth: float = 1.0

    @classmethod
    def of(
        cls, n: Ints, c: Ints, clusters: Ints | None, resamples: int, rng: np.random.Generator
    ) -> Weighed:
        """The distinct cells of tasks, with Bayesian-bootstrap weights.

        n, c : (tasks,).  clusters : a code 0 … G−1 per task, or None; whole clusters are weighed.
        """
        width = int(n.max()) + 1
        keys, index = np.unique(n * width + c, return_inverse=True)
        once = np.bincount(index).astype(np.float64)[None]
        worth = 1.0
        if clusters is None:
            units = len(n)
            refuse_many_draws(resamples, len(keys))
            again = rng.standard_gamma(once[0], (resamples, len(keys)))
        else:
            units = int(clusters.max()) + 1
            refuse_many_draws(resamples, units)
            members = np.zeros((units, len(keys)))
            np.add.at(members, (clusters, index), 1.0)
            again = rng.standard_exponential((resamples, units)) @ members
            worth = len(n) / float((np.bincount(clusters) ** 2).sum())
        again *= len(n) / again.sum(axis=1, keepdims=True)
        guard = rng.beta(_GUARD, units, resamples)
        return cls(keys // width, keys % width, once, again, guard, worth)

    def few(self, known: int, size: int) -> Weighed:
        """Expected counts of `size` of the attempts, over all ways to choose them.

        Of the tasks with n ≥ known: expected numbers of tasks with a passes among `size` attempts.
        """
        long = self.n >= known
        chance = hypergeometric(self.n[long], self.c[long], size)
        once, again = self.once[:, long] @ chance, self.again[:, long] @ chance
        sizes = np.full(size + 1, size, dtype=np.int64)
        return Weighed(sizes, np.arange(size + 1), once, again, self.guard, self.worth)

    def failed(self, ks: Ints, known: int) -> tuple[Floats, Floats]:
        """1 − pass@k of the tasks with n ≥ known, k ≤ known: once (1 × ks), and resampled."""
        long = self.n >= known
        fails = _failing(self.n[long], self.c[long], ks)
        once, again = self.once[:, long], self.again[:, long]
        return (
            once @ fails / once.sum(axis=1, keepdims=True),
            again @ fails / again.sum(axis=1, keepdims=True),
        )


class Projection:
    """pass@k of weighed tasks at some ks, given what a curve says of those never solved.

    A task that has n ≥ k attempts counts by its unbiased estimate.  With fewer, it counts as
    solved when it was solved at all, and else it fails all of k with probability Q(k) / Q(n).
    """

    def __init__(self, tasks: Weighed, ks: Ints) -> None:
        self.tasks, self.ks = tasks, ks
        self.fails = _failing(tasks.n, tasks.c, ks)
        self.fails[np.isnan(self.fails)] = 0.0
        self.sizes = np.unique(tasks.n)
        unsolved = tasks.c == 0
        self.open = (tasks.n[:, None] == self.sizes) & unsolved[:, None]
        self.beyond = ks > self.sizes[:, None]

    def passing(self, weights: Floats, curve: FailureCurve) -> Floats:
        """pass@k under each weighting and its fit: (fits × ks)."""
        ahead, at_n = curve.failure(self.ks), curve.failure(self.sizes)
        still_open = (weights @ self.open / at_n) @ self.beyond
        fails = weights @ self.fails + still_open * ahead
        means: Floats = 1 - fails / weights.sum(axis=1, keepdims=True)
        return means

    def on_new_tasks(self, curve: FailureCurve) -> tuple[Floats, Floats]:
        """Draws of pass@k on new tasks for the lower and for the upper limit: (resamples × ks).

        The one more task counts as never solved for the lower limit, as solved for the upper one.
        """
        low = self.passing(self.tasks.again, curve) * (1 - self.tasks.guard[:, None])
        return low, low + self.tasks.guard[:, None]

    def on_these_tasks(self, curve: FailureCurve, rng: np.random.Generator) -> Floats:
        """Draws of the share of these very tasks solved when attempts go on to k."""
        ahead, at_n = curve.failure(self.ks), curve.failure(self.sizes)
        fails = np.tile(self.tasks.once @ self.fails, (len(ahead), 1))
        for place, count in enumerate((self.tasks.once[0] @ self.open).astype(int).tolist()):
            chance = np.where(self.beyond[place], ahead / at_n[:, place, None], 0.0)
            # A task fails up to k when its own uniform number lies below the chance of that.
            luck = np.sort(rng.random((len(ahead), count)), axis=1)
            for row in range(len(ahead)):
                fails[row] += np.searchsorted(luck[row], chance[row])
        means: Floats = 1 - fails / self.tasks.once.sum()
        return means


def _failing(n: Ints, c: Ints, ks: Ints) -> Floats:
    """Chances that k of the n attempts all fail, NaN where n < k: (cells × ks)."""
    return np.stack([hat_pairs(n, n - c, k) for k in ks.tolist()], axis=1)
