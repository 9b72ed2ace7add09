"""Runs of one setup: does the run itself move pass@1, by how much, and when did it change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.roots import crossing
from passk_cli.inference.streams import stream

# Draws of a test: so many cells at most, between so many draws.
_CELLS, _FEWEST, _MOST = 2_000_000, 499, 9_999
# Runs of a history for which the rate of false alarms is stated; the last ones are looked at.
HORIZON = 365
# By that rate: the deviate that is exceeded at some split of some night of a quiet history of
# HORIZON runs; quantiles of 20,000 histories (`largest_deviate` draws one).
_THRESHOLDS = {0.10: 4.073, 0.05: 4.255, 0.01: 4.614}


@dataclass(frozen=True)
class RunEffect:
    """Effect of the run on the mean of its tasks, beside what chance within tasks explains.

    means, variances : (runs,), pass@1 of each run and its variance by chance within tasks.
    p : of no effect on the means.  p_tasks : of no effect on single tasks; 1 with one attempt a
    task and run, which say nothing of it.  variance, low, high : of the effect, in squared units of
    pass@1.  between, within : tasks on which two attempts differ, of two runs and of one; NaN where
    no run attempts a task twice.
    """

    means: Floats
    variances: Floats
    p: float
    p_tasks: float
    variance: float
    low: float
    high: float
    between: float
    within: float


def run_effect(n: Ints, c: Ints, *, level: float = 0.95, seed: int = 0) -> RunEffect:
    """Test, size and limits of the effect of a run, from repeated runs of one setup.

    Hypothesis: the attempts at a task are exchangeable over runs.  Then, given a task's passes,
    those of each run are multivariate hypergeometric, for any numbers of attempts.  Statistic of
    the means: Q = Σ_r (m_r − m̄)² / v_r with v_r = Σ_t s_t² / (n_rt T²) and s_t² the variance of all
    attempts at task t; of single tasks: Σ_tr n_rt (c_rt / n_rt − C_t / N_t)².  p = (b + 1)/(m + 1)
    over m draws.  Size: the variance τ² for which Q(τ²) = Σ (m_r − m̄)² / (v_r + τ²) equals R − 1;
    limits where it equals the quantiles of χ² with R − 1 degrees of freedom (Q-profile), at most
    ¼, the largest variance of what lies in [0, 1].

    n, c : (runs, tasks), R ≥ 2, every task attempted in every run.  level in (0, 1).
    Edge cases: every attempt of every task alike: no effect, p = 1, limits 0.
    Errors: ValueError for fewer than two runs, or a task without an attempt in a run.
    Source: Paule & Mandel 1982; Viechtbauer 2007 (Q-profile).

    >>> n = np.full((3, 4), 2)
    >>> effect = run_effect(n, np.array([[0, 1, 2, 1], [1, 1, 1, 1], [0, 2, 1, 1]]))
    >>> effect.p > 0.5, effect.variance
    (True, 0.0)
    """
    from scipy.special import chdtri

    if n.ndim != 2 or len(n) < 2 or n.size == 0 or (n < 1).any():
        raise ValueError("two runs or more, and an attempt at each task in each of them")
    runs, tasks = n.shape
    attempts, passes = n.sum(axis=0), c.sum(axis=0)
    rates, rate = c / n, passes / attempts
    spread = rate * (1 - rate) * attempts / np.maximum(attempts - 1, 1)
    variances: Floats = (spread / n).sum(axis=1) / tasks**2
    means: Floats = rates.mean(axis=1)
    repeated = n > 1
    within = np.divide(2 * c * (n - c), n * (n - 1), where=repeated, out=np.zeros(n.shape))
    seen = repeated.any(axis=0)
    together = rates.sum(axis=0) * (1 - rates).sum(axis=0) - (rates * (1 - rates)).sum(axis=0)
    if not variances.max() > 0:
        return RunEffect(means, variances, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    p, p_tasks = _permuted(n, c, variances, seed)

    def excess(tau2: float, target: float) -> float:
        weights = 1 / (variances + tau2)
        middle = np.average(means, weights=weights)
        return float(weights @ (means - middle) ** 2) - target

    def solved(target: float) -> float:
        if excess(0.0, target) <= 0:
            return 0.0
        largest = float(np.var(means) * runs / target + variances.max())
        return crossing(lambda tau2: excess(tau2, target), 0.0, largest, largest * 1e-9)

    tail = (1 - level) / 2
    return RunEffect(
        means,
        variances,
        p,
        p_tasks,
        variance=solved(runs - 1),
        low=solved(float(chdtri(runs - 1, tail))),
        high=min(solved(float(chdtri(runs - 1, 1 - tail))), 0.25),
        between=float((2 * together / (runs * (runs - 1)))[seen].sum()) if seen.any() else np.nan,
        within=float((within.sum(axis=0) / np.maximum(repeated.sum(axis=0), 1))[seen].sum())
        if seen.any()
        else np.nan,
    )


def draws_of(n: Ints) -> int:
    """Number of draws that the p-values of `run_effect` rest on.

    n : (runs, tasks), attempts.

    >>> draws_of(np.full((5, 50), 4)), draws_of(np.full((60, 100), 4))
    (8000, 499)
    """
    return int(np.clip(_CELLS // n.size, _FEWEST, _MOST))


def _permuted(n: Ints, c: Ints, variances: Floats, seed: int) -> tuple[float, float]:
    """p of the means and of the tasks, over attempts dealt anew to the runs within each task."""
    runs, tasks = n.shape
    draws = draws_of(n)
    random = stream(seed, "runs")
    weights = 1 / variances
    rate = c.sum(axis=0) / n.sum(axis=0)

    def spread(means: Floats) -> Floats:
        middle = means @ weights / weights.sum()
        distances: Floats = (means - middle[..., None]) ** 2 @ weights
        return distances

    strata, member = np.unique(np.vstack([n, c.sum(axis=0)]), axis=1, return_inverse=True)
    totals, of_tasks = np.zeros((draws, runs)), np.zeros(draws)
    for at, count in enumerate(np.bincount(member.ravel())):
        sizes, passes = strata[:-1, at], int(strata[-1, at])
        centre = passes / sizes.sum()
        for _ in range(count):
            dealt = random.multivariate_hypergeometric(sizes, passes, size=draws) / sizes
            totals += dealt
            of_tasks += (dealt - centre) ** 2 @ sizes
    # A tie of sums taken in another order counts as a tie.
    slack = 1 - 1e-9
    observed = float(spread((c / n).mean(axis=1)))
    of_means = 1 + int((spread(totals / tasks) >= observed * slack).sum())
    tasks_seen = float((n * (c / n - rate) ** 2).sum())
    return of_means / (draws + 1), (1 + int((of_tasks >= tasks_seen * slack).sum())) / (draws + 1)


def run_variance(values: Floats) -> float:
    """Variance of the effect of a run on the mean of its tasks, from crossed tasks × runs.

    (M_r − M_tr) / T, at least 0, with the mean squares of runs, M_r = T Σ_r (v_·r − v)² / (R − 1),
    and of the rest, M_tr = Σ_tr (v_tr − v_t· − v_·r + v)² / ((R − 1)(T − 1)): what a run does to
    all tasks alike, beyond what attempts and single tasks explain.  For any metric.

    values : (runs, tasks), R ≥ 2, T ≥ 2, of the same tasks.
    Errors: ValueError for fewer.
    Source: Searle, Casella & McCulloch 1992, two-way crossed random effects.

    >>> values = np.array([[0.1, 0.5, 0.3], [0.3, 0.7, 0.5], [0.2, 0.6, 0.4]])
    >>> round(run_variance(values), 6)
    0.01
    """
    runs, tasks = values.shape
    if runs < 2 or tasks < 2:
        raise ValueError("two runs or more of two tasks or more")
    means = values.mean(axis=1)
    rest = values - means[:, None] - values.mean(axis=0) + values.mean()
    by_chance = float((rest**2).sum()) / ((runs - 1) * (tasks - 1) * tasks)
    return float(max(float(means.var(ddof=1)) - by_chance, 0.0))


def reach_of_runs(variance: float, runs: int, history: int, level: float = 0.95) -> float:
    """How far a single run and the mean of several differ by the effect of the run alone.

    They owe σ² (1 + 1/R) to runs: h = t_{H−1} σ √(1 + 1/R).

    variance : σ², estimated from H runs (history).  runs : R, those that are averaged.
    Errors: ValueError for H < 2.

    >>> round(reach_of_runs(0.02**2, 5, 20), 4)
    0.0459
    """
    from scipy.special import stdtrit

    if history < 2:
        raise ValueError("two runs or more")
    return float(-stdtrit(history - 1, (1 - level) / 2) * np.sqrt(variance * (1 + 1 / runs)))


def widened(estimate: float, low: float, high: float, reach: float) -> tuple[float, float]:
    """Limits of a difference with the effect of the run: distances from the estimate and the reach
    of runs add in squares (variances recovered from limits).

    Source: Zou & Donner 2008.  Coverage: benchmarks/trend.md.

    >>> low, high = widened(0.0, -0.03, 0.03, reach_of_runs(0.02**2, 5, 20))
    >>> round(low, 4), round(high, 4)
    (-0.0548, 0.0548)
    """
    return (
        float(estimate - np.hypot(estimate - low, reach)),
        float(estimate + np.hypot(high - estimate, reach)),
    )


@dataclass(frozen=True)
class ChangePoint:
    """A change of level: the first run after it, the run that showed it, the means around it."""

    first: int
    shown: int
    before: float
    after: float


def chance(n: Ints, c: Ints | Floats, squares: Floats | None = None) -> Floats:
    """Variance of the mean of a run by chance within tasks, as it is known after each run.

    After run r: Σ_t s_t² h_t / T², with s_t² the variance of all attempts at task t so far and h_t
    the mean of their 1 / n.

    n, c : (runs, tasks), attempts and the sums of what is averaged, passes where they are 0 and 1.
    squares : sums of its squares; None for passes, whose squares they are.
    Returns (runs,); 0 after one run of one attempt.

    >>> chance(np.full((3, 2), 2), np.array([[1, 2], [1, 2], [1, 2]])).round(4).tolist()
    [0.0625, 0.0417, 0.0375]
    """
    runs, tasks = n.shape
    made, total = np.maximum(n.cumsum(axis=0), 1), c.cumsum(axis=0)
    square = total if squares is None else squares.cumsum(axis=0)
    spread = np.maximum(square - total**2 / made, 0.0) / np.maximum(made - 1, 1)
    sizes = (1 / np.maximum(n, 1)).cumsum(axis=0) / np.arange(1, runs + 1)[:, None]
    variances: Floats = (spread * sizes).sum(axis=1) / tasks**2
    return variances


def log_means(n: Ints, logs: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Mean logarithm of the amounts of each run, every task alike, and its floor for `changes`.

    m_r = ā + mean_t (L_rt − a_t), with L_rt the mean logarithm of the amounts of run r at task t
    and a_t that of L_rt over the runs that have one.  Amounts are skewed to the right, as prices
    are: means of few of them jump with one attempt, those of logarithms are near normal.  A mean of
    logarithms does not depend on the number of attempts, a logarithm of a mean does.

    n : (runs, tasks), amounts above 0; every run and every task has one.  logs, squares : sums of
    their logarithms, and of the squares of these.
    Returns two of (runs,): means, and `chance` of logarithms.

    >>> n, logs = np.array([[1, 2], [1, 0]]), np.array([[0.0, 4.0], [1.0, 0.0]])
    >>> [each.tolist() for each in log_means(n, logs, logs**2 / np.maximum(n, 1))]
    [[1.0, 1.75], [0.0, 0.125]]
    """
    means = np.where(n > 0, logs, np.nan) / np.maximum(n, 1)
    of_tasks = np.nanmean(means, axis=0)
    own = of_tasks.mean() + np.nanmean(means - of_tasks, axis=1)
    return own, chance(n, logs, squares)


def changes(
    means: Floats, floors: Floats | float = 0.0, *, alpha: float = 0.05
) -> list[ChangePoint]:
    """Changes of the mean over a history of runs, with one false-alarm rate for all its nights.

    After each run r the split s of the runs since the last change is sought for which
    t = (mean after − mean before) / (sd √(1/s + 1/(r−s))) is largest, sd pooled, r − 2 degrees of
    freedom, carried to the normal scale by its tail.  It is a change where it exceeds the 1 − α
    quantile of its largest value over all splits of all nights of a history of `HORIZON` runs in
    which nothing changes.  So of twenty histories without a change at most one has a false alarm,
    however often it was looked at.  sd is of run means as they are: an effect of the run is part of
    it; and at least what chance within tasks alone gives, which few runs that are alike by accident
    would deny.  A history that is longer is looked at from its last `HORIZON` runs on.

    means : (runs,).  floors : least variance of a run's mean, one or after each run, as `chance`
    gives it.  alpha : one of 0.1, 0.05, 0.01.
    Edge cases: fewer than five runs since the last change, or runs that are all alike: none.
    Source: Hinkley 1970; James, James & Siegmund 1987 (the maximal t over splits).

    >>> level = np.array([0.8, 0.81, 0.79, 0.8, 0.82, 0.79, 0.8, 0.6, 0.61, 0.59, 0.6])
    >>> [(change.first, round(change.after, 1)) for change in changes(level)]
    [(7, 0.6)]
    """
    threshold = _THRESHOLDS[alpha]
    offset = max(len(means) - HORIZON, 0)
    least = np.broadcast_to(floors, len(means)).tolist()
    start = offset
    shown: list[tuple[int, int]] = []
    for end in range(offset + 5, len(means) + 1):
        if end - start < 5:
            continue
        split, deviate = _largest(means[start:end], least[end - 1])
        if deviate > threshold:
            start += split
            shown.append((start, end - 1))
    edges = [offset, *(first for first, _ in shown), len(means)]
    return [
        ChangePoint(first, seen, float(means[left:first].mean()), float(means[first:right].mean()))
        for (first, seen), left, right in zip(shown, edges[:-2], edges[2:], strict=True)
    ]


def largest_deviate(history: Floats) -> float:
    """The largest deviate over all splits of all nights of one history, nothing started anew.

    history : (runs,), R ≥ 5.

    >>> round(largest_deviate(np.array([0.1, 0.0, 0.1, 0.0, 0.1, 0.0])), 2)
    0.89
    """
    return max(_largest(history[:end])[1] for end in range(5, len(history) + 1))


def _largest(means: Floats, floor: float = 0.0) -> tuple[int, float]:
    """The split of a stretch of runs with the largest |t|, on the normal scale."""
    runs = len(means)
    before = np.arange(1, runs)
    centred = means - means.mean()
    sums = np.cumsum(centred)[:-1]
    between = sums**2 * runs / (before * (runs - before))
    rest = np.maximum((centred**2).sum() - between, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.sqrt(between / np.maximum(rest / (runs - 2), floor))
    t, degrees = np.where(between > 1e-24, t, 0.0), runs - 2
    # The normal deviate with the tail of t, without loss far out: Wallace's approximation, within
    # 0.02 of the exact deviate for 3 degrees or more.
    share = (8 * degrees + 1) / (8 * degrees + 3)
    z = share * np.sqrt(degrees * np.log1p(t**2 / degrees))
    split = int(np.argmax(z))
    return split + 1, float(z[split])
