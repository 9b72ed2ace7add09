"""A test of whether sampling stopped because of outcomes, so that the number of attempts is a
result.

If attempts at a task end with its first pass, easy tasks have few attempts and a rate of 1/n or
more. pass@1 by c/n is then, for example, 0.36 although only 0.20 of the attempts pass. These data
still show the share of tasks solved within k attempts.

Let m be the largest number of attempts at a task. Sampling is taken to have stopped

- at the first pass, if every task has at most one pass, the tasks with fewer than m attempts have
  one, and no pass is known to be followed by another attempt;
- once a task had passed (as in batches), if the tasks with fewer than m attempts have passes;
- with failures replaced by retries, if attempt numbers have gaps, and the last attempt passed at
  every task whose numbers end below m;

and if attempts whose number did not depend on outcomes would look like this with a chance below
`LEVEL`. Equal numbers of attempts without gaps never do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import Bools, Ints
from passk_cli.inference.compatible_rates import count_likelihood, maximum_likelihood, rate_grid

# Below this chance, a relation between numbers of attempts and outcomes is not an accident.
LEVEL = 0.01
FIRST_PASS, ONCE_PASSED, REPLACED = "first pass", "once passed", "replaced"
# The value for a task whose last attempt is unknown.
UNKNOWN = -1
_TINY, _FEWEST_ZEROS = 1e-300, 0.25


@dataclass(frozen=True, eq=False, repr=False)
class OptionalStopping:
    """How sampling seems to have stopped, and what can still be estimated.

    kind : FIRST_PASS, ONCE_PASSED or REPLACED.
    chance : an upper bound of the probability of these data if the number of attempts is fixed
        beforehand.
    most : m, the largest number of attempts at a task.  short : tasks with fewer.
    at_once : share of tasks whose first attempt passed; None if it is unknown.
    solved : share of tasks solved within m attempts.
    beyond : tasks in which an attempt is known to follow a pass.
    """

    kind: str
    chance: float
    most: int
    short: int
    at_once: float | None
    solved: float
    beyond: int = 0


def detect_optional_stopping(
    n: Ints, c: Ints, numbered: Ints | None = None, last: Ints | None = None
) -> OptionalStopping | None:
    """How sampling seems to have stopped, with its chance; None if nothing suggests that it did.

    n, c : (tasks,), attempts kept and passes; n ≥ 1, 0 ≤ c ≤ n.
    numbered : (tasks,), attempts made according to their numbers, ≥ n; n if these are unknown.
    last : (tasks,), whether the last attempt passed: 1, 0, or UNKNOWN.

    Three bounds of the chance hold for any rates of the tasks:

    - Fisher: S of T tasks have a pass, and all s short ones are among them: C(T−s, S−s) / C(T, S).
      It is exact for numbers of attempts unrelated to outcomes, and too large for honest ones, as
      more attempts solve more tasks.
    - One pass at each of the solved tasks: Π (1 − 1/n)^(n−1), the largest probability with n
      attempts, times the C(T−s, T−S) ways to choose the unsolved tasks among those with m attempts.
    - If the order is known, one pass in the last place: Π 1/n, given n and c.

    The smaller of the first two is multiplied by the third. If tasks have several passes, the
    chance is that of `_missing_zeros_p` instead.

    >>> n, c = np.array([10] * 20 + [1, 2, 2, 3, 7]), np.array([0] * 20 + [1] * 5)
    >>> evidence = detect_optional_stopping(n, c)
    >>> evidence.kind, round(evidence.chance, 6), evidence.at_once, evidence.solved
    ('first pass', 1.9e-05, 0.04, 0.2)
    >>> detect_optional_stopping(np.full(25, 10), np.arange(25) % 2) is None
    True
    """
    numbered = n if numbered is None else numbered
    last = np.full(n.shape, UNKNOWN) if last is None else last
    solved = c > 0
    early, passed = numbered < numbered.max(), last == 1
    if np.any(numbered > n) and early.any() and np.all(passed[early]):
        # At every task whose numbers end early, the last attempt passed.
        chance, first = math.exp(_log_fisher(early, passed)), (numbered == 1) & solved
        return OptionalStopping(
            REPLACED, chance, int(numbered.max()), int(early.sum()), float(first.mean()),
            float(solved.mean()),
        )  # fmt: skip
    short = n < n.max()
    if not short.any():
        return None
    passes_only = bool(np.all(solved[short]))
    single = bool(np.all(c <= 1) and np.all(last[solved] != 0))
    ordered = single and bool(np.all(last[solved] == 1))
    if not passes_only and not ordered:
        return None
    logs = 0.0
    if passes_only and single:
        # This is the largest probability that no task has two passes and the short ones have one.
        several = n[solved & (n > 1)].astype(np.float64)
        one_each = _log_choose(int((~short).sum()), int((~solved).sum()))
        one_each += float(((several - 1) * np.log1p(-1 / several)).sum())
        logs = min(_log_fisher(short, solved), one_each)
    elif passes_only:
        logs = math.log(_missing_zeros_p(n[short], c[short]))
    if ordered:
        logs -= float(np.log(n[solved]).sum())
    at_once = float(np.mean((n == 1) & solved)) if single else None
    kind = FIRST_PASS if single else ONCE_PASSED
    beyond = int(((c > 1) | (solved & (last == 0))).sum())
    return OptionalStopping(
        kind, math.exp(logs), int(n.max()), int(short.sum()), at_once, float(solved.mean()), beyond
    )


def stopped_on_outcome(
    n: Ints, c: Ints, numbered: Ints | None = None, last: Ints | None = None
) -> bool:
    """Whether sampling stopped because of outcomes, beyond reasonable doubt; see
    `detect_optional_stopping`.

    >>> stopped_on_outcome(np.array([10] * 20 + [1, 2, 2, 3, 7]), np.array([0] * 20 + [1] * 5))
    True
    """
    evidence = detect_optional_stopping(n, c, numbered, last)
    return evidence is not None and evidence.chance < LEVEL


def _missing_zeros_p(n: Ints, c: Ints) -> float:
    """p of the hypothesis that these tasks, all with passes, had n fixed beforehand.

    The statistic is twice the gain in log-likelihood from leaving out counts of 0, Σ log P(c)/P(c ≥
    1) − Σ log P(c), each with the distribution of rates that fits best. It is treated as half a χ²
    of one degree (benchmarks/stopping.md). p is ½ if next to no zeros would be missing at rates of
    c/n.
    """
    if ((1 - c / n) ** n).sum() < _FEWEST_ZEROS:
        return 0.5
    gain = 0.0
    for size in np.unique(n).tolist():
        passes, tasks = np.unique(c[n == size], return_counts=True)
        rates = rate_grid(size, size)[1:]
        chance = count_likelihood(np.full(len(passes), size), passes, rates)
        any_pass = 1 - (1 - rates) ** size
        (truncated, *_), (free, *_) = (
            maximum_likelihood(chances, tasks.astype(np.float64))
            for chances in (chance / any_pass, chance)
        )
        gain += truncated - free
    return max(math.erfc(math.sqrt(max(gain, 0.0))) / 2, _TINY)


def _log_fisher(short: Bools, passed: Bools) -> float:
    """log C(T−s, S−s) / C(T, S): that all s short tasks are among the S of T that passed."""
    tasks, short_tasks, passing_tasks = len(short), int(short.sum()), int(passed.sum())
    return _log_choose(tasks - short_tasks, passing_tasks - short_tasks) - _log_choose(
        tasks, passing_tasks
    )


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
