"""The ways to spend a budget of attempts on tasks × attempts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

# A split this close to the best counts as good, and the one with the most tasks is taken.
_AS_GOOD = 1.01

Split = tuple[int, int]


def splits(budget: int, least: int, most_tasks: int | None = None) -> list[Split]:
    """(tasks, attempts) that spend a budget of attempts, with n ≥ least and at least two tasks.

    n in steps of 5 % from the least to 4 times that or 200 (little is left of luck by then), and
    the n that spends most on most_tasks.  What does not divide evenly stays unspent.

    >>> splits(10, 2)
    [(5, 2), (3, 3), (2, 4), (2, 5)]
    """
    steps = math.ceil(math.log(max(4.0, 200.0 / least)) / math.log(1.05))
    ns = {math.floor(least * 1.05**i) for i in range(steps + 1)}
    if most_tasks is not None:
        ns.add(budget // most_tasks)
    pairs = ((min(budget // n, most_tasks or budget), n) for n in sorted(ns) if n >= least)
    return [(tasks, n) for tasks, n in pairs if tasks >= 2]


def best_splits(
    options: Sequence[Split], errors: Mapping[str, Sequence[float]]
) -> dict[str, Split]:
    """The best split for each metric, and for "all" of several at once.

    Best is the smallest standard error; of splits within 1 % of it the one with the most tasks,
    then the fewest attempts.  For all at once, the smallest excess of any metric over its own best.
    options : (tasks, attempts) of each split.  errors : metric → standard error in each; infinite
    where there is none.  A metric without any has no best split, and then there is none for all.

    >>> best_splits([(10, 1), (5, 2)], {"pass@1": [0.1, 0.12], "pass@2": [math.inf, 0.2]})
    {'pass@1': (10, 1), 'pass@2': (5, 2), 'all': (5, 2)}
    """
    best: dict[str, Split] = {}
    excess = [0.0] * len(options)
    for name, those in errors.items():
        least = min(those, default=math.inf)
        if math.isfinite(least):
            best[name] = _as_good(options, those)
        ratios = [error / least if math.isfinite(least) else math.inf for error in those]
        excess = [max(pair) for pair in zip(excess, ratios, strict=True)]
    if len(errors) > 1 and math.isfinite(min(excess, default=math.inf)):
        best["all"] = _as_good(options, excess)
    return best


def _as_good(options: Sequence[Split], errors: Sequence[float]) -> Split:
    least = min(errors)
    good = [o for o, e in zip(options, errors, strict=True) if e <= _AS_GOOD * least]
    return min(good, key=lambda option: (-option[0], option[1]))
