"""Tests whether sampling of attempts stopped because of outcomes, so that n depends on outcomes.

If the attempts at a task end at the first pass, easy tasks have few attempts, and solved tasks have
a pass rate of at least 1/n. For example, the mean of c/n may then be 0.36 although only 20 % of the
attempts pass.

There are three kinds of stopping. In the following, m is the largest number of attempts at a task:

- First pass: Every task has at most one pass, every task with fewer than m attempts has one pass,
  and no attempt is known to follow a pass.
- Once passed (for example in batches): Every task with fewer than m attempts has a pass.
- Replaced: A failure is replaced by a retry, so the attempt numbers have gaps. At every task with a
  last attempt number below m, the last attempt passes.

Such data are evidence of stopping if the probability of the data without stopping is below
`OPTIONAL_STOPPING_LEVEL`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import Bools, Ints
from passk_cli.inference.compatible_rates import (
    maximum_log_likelihood_and_masses,
    rate_grid,
    relative_count_likelihoods,
)

# Attempts are evidence that sampling stopped early if their probability without early stopping is
# below OPTIONAL_STOPPING_LEVEL.
OPTIONAL_STOPPING_LEVEL = 0.01
FIRST_PASS, ONCE_PASSED, REPLACED = "first pass", "once passed", "replaced"
UNKNOWN_LAST_OUTCOME = -1
_TINY, _FEWEST_ZEROS = 1e-300, 0.25


@dataclass(frozen=True, eq=False, repr=False)
class OptionalStoppingEvidence:
    """How sampling seems to have stopped, and what can still be estimated.

    kind : FIRST_PASS, ONCE_PASSED or REPLACED.
    max_data_probability_if_n_fixed : upper bound for the probability of these data if n was fixed
        beforehand.
    largest_n : m, the largest number of attempts at a task.
    short_tasks : number of tasks with fewer than m attempts.
    first_attempt_pass_share : share of tasks that pass at the first attempt; None if it is unknown.
    solved_share_of_all_tasks : share of tasks solved within m attempts.
    tasks_continued_after_pass : number of tasks with an attempt that is known to follow a pass.
    """

    kind: str
    max_data_probability_if_n_fixed: float
    largest_n: int
    short_tasks: int
    first_attempt_pass_share: float | None
    solved_share_of_all_tasks: float
    tasks_continued_after_pass: int = 0


def detect_optional_stopping(
    n: Ints, c: Ints, numbered: Ints | None = None, last: Ints | None = None
) -> OptionalStoppingEvidence | None:
    """How sampling seems to have stopped because of outcomes, or None without a sign of stopping.

    n, c : number of attempts in the data (n ≥ 1) and number of passes at each task.
    numbered : number of attempts at each task according to the attempt numbers, at least n, or None
        without attempt numbers.
    last : for each task, 1 if the last attempt passed, 0 if it failed, or UNKNOWN_LAST_OUTCOME.

    Three bounds for the probability of the data are valid for any success rates:

    - Fisher: S of T tasks have a pass, and these S tasks include all s short tasks (tasks with
      fewer than m attempts). The bound is C(T−s, S−s) / C(T, S). Fisher's bound is exact if the
      number of attempts is unrelated to whether a task is solved. If n is fixed beforehand, the
      bound is conservative, because more attempts solve more tasks.
    - One pass at each solved task: The bound is C(T−s, T−S) Π (1 − 1/n)^(n−1). The first factor is
      the number of ways to choose the unsolved tasks. Each factor of the product is the largest
      probability of one pass in n attempts.
    - Order of the attempts, if it is known: The only pass at a task is the last attempt. Given n
      and c, the bound is Π 1/n.

    The smaller of the first two bounds is multiplied by the third bound. If tasks have several
    passes, the result of `_missing_zeros_p` replaces the first two bounds.

    >>> n, c = np.array([10] * 20 + [1, 2, 2, 3, 7]), np.array([0] * 20 + [1] * 5)
    >>> evidence = detect_optional_stopping(n, c)
    >>> shares = evidence.first_attempt_pass_share, evidence.solved_share_of_all_tasks
    >>> evidence.kind, round(evidence.max_data_probability_if_n_fixed, 6), *shares
    ('first pass', 1.9e-05, 0.04, 0.2)
    >>> detect_optional_stopping(np.full(25, 10), np.arange(25) % 2) is None
    True
    """
    numbered = n if numbered is None else numbered
    last = np.full(n.shape, UNKNOWN_LAST_OUTCOME) if last is None else last
    solved = c > 0
    early, passed = numbered < numbered.max(), last == 1
    if np.any(numbered > n) and early.any() and np.all(passed[early]):
        chance, first = math.exp(_log_fisher_probability(early, passed)), (numbered == 1) & solved
        return OptionalStoppingEvidence(
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
        several = n[solved & (n > 1)].astype(np.float64)
        one_each = _log_choose(int((~short).sum()), int((~solved).sum()))
        one_each += float(((several - 1) * np.log1p(-1 / several)).sum())
        logs = min(_log_fisher_probability(short, solved), one_each)
    elif passes_only:
        logs = math.log(_missing_zeros_p(n[short], c[short]))
    if ordered:
        logs -= float(np.log(n[solved]).sum())
    at_once = float(np.mean((n == 1) & solved)) if single else None
    kind = FIRST_PASS if single else ONCE_PASSED
    beyond = int(((c > 1) | (solved & (last == 0))).sum())
    return OptionalStoppingEvidence(
        kind, math.exp(logs), int(n.max()), int(short.sum()), at_once, float(solved.mean()), beyond
    )


def has_optional_stopping(
    n: Ints, c: Ints, numbered: Ints | None = None, last: Ints | None = None
) -> bool:
    """Whether there is evidence that sampling stopped because of outcomes.

    >>> has_optional_stopping(np.array([10] * 20 + [1, 2, 2, 3, 7]), np.array([0] * 20 + [1] * 5))
    True
    """
    evidence = detect_optional_stopping(n, c, numbered, last)
    return (
        evidence is not None and evidence.max_data_probability_if_n_fixed < OPTIONAL_STOPPING_LEVEL
    )


def _missing_zeros_p(n: Ints, c: Ints) -> float:
    """The p-value of the hypothesis that n was fixed beforehand, for tasks that all have passes.

    The first model contains no tasks with 0 passes, and the second model contains such tasks. The
    statistic is twice the difference in log-likelihood, Σ log P(c)/P(c ≥ 1) − Σ log P(c). Each of
    the two models has the distribution of rates that fits best. The p-value is half the tail
    probability of χ² with one degree of freedom (benchmarks/stopping.md). The p-value is ½ if
    almost no task with 0 passes is expected at the rates c/n.
    """
    if ((1 - c / n) ** n).sum() < _FEWEST_ZEROS:
        return 0.5
    gain = 0.0
    for size in np.unique(n).tolist():
        passes, tasks = np.unique(c[n == size], return_counts=True)
        rates = rate_grid(size, size)[1:]
        chance = relative_count_likelihoods(np.full(len(passes), size), passes, rates)
        any_pass = 1 - (1 - rates) ** size
        (truncated, *_), (free, *_) = (
            maximum_log_likelihood_and_masses(chances, tasks.astype(np.float64))
            for chances in (chance / any_pass, chance)
        )
        gain += truncated - free
    return max(math.erfc(math.sqrt(max(gain, 0.0))) / 2, _TINY)


def _log_fisher_probability(short: Bools, passed: Bools) -> float:
    """The logarithm of Fisher's bound, log C(T−s, S−s)/C(T, S); see `detect_optional_stopping`."""
    tasks, short_tasks, passing_tasks = len(short), int(short.sum()), int(passed.sum())
    return _log_choose(tasks - short_tasks, passing_tasks - short_tasks) - _log_choose(
        tasks, passing_tasks
    )


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
