"""Analyses repeated runs of one setup: run effects on pass@1, and changes of pass@1 over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import Bools, Floats, Ints, row_blocks
from passk_cli.inference.random_streams import named_generator
from passk_cli.inference.roots import find_root
from passk_cli.inference.rounding import ROUNDING_TOLERANCE

# The random draws of a test have at most _CELLS array elements. A test uses at least _FEWEST and at
# most _MOST draws.
_CELLS, _FEWEST, _MOST = 2_000_000, 499, 9_999
# A history has at most MAX_RUNS_FOR_FALSE_ALARM_RATE runs, because the false-alarm rate is valid
# for this number of runs.
MAX_RUNS_FOR_FALSE_ALARM_RATE = 365
# _CHANGE_DEVIATE_LIMIT_BY_ALPHA maps a false-alarm rate to a threshold. In a history of
# MAX_RUNS_FOR_FALSE_ALARM_RATE runs without a change, the largest deviate exceeds the threshold
# with a probability equal to the false-alarm rate. The thresholds are quantiles of 20,000 simulated
# histories.
_CHANGE_DEVIATE_LIMIT_BY_ALPHA = {0.10: 4.073, 0.05: 4.255, 0.01: 4.614}
# passk assumes a correlation of at most _MAX_CONSECUTIVE_RUN_CORRELATION between consecutive runs.
_MAX_CONSECUTIVE_RUN_CORRELATION = 0.95
_MIN_NONOVERLAPPING_RUNS_PER_SIDE = 4


@dataclass(frozen=True)
class RunToRunEffect:
    """The differences in pass@1 between runs that chance within tasks does not explain.

    run_means, chance_variances : for each run, pass@1 and the variance of pass@1 due to chance
        within tasks.
    p : p-value of the hypothesis that the run has no effect on the means.
    p_of_run_effects_on_tasks : p-value of the hypothesis that the run has no effect on single
        tasks. With one attempt per task and run, `p_of_run_effects_on_tasks` is 1.
    effect_variance, low, high : variance of the run effect on pass@1, with the lower and the upper
        limit of the variance.
    expected_flips_between_runs, expected_flips_within_run : expected number of tasks at which two
        attempts have different outcomes, for attempts from different runs and for attempts from one
        run. Both numbers are NaN if no run attempts a task twice.
    """

    run_means: Floats
    chance_variances: Floats
    p: float
    p_of_run_effects_on_tasks: float
    effect_variance: float
    low: float
    high: float
    expected_flips_between_runs: float
    expected_flips_within_run: float


def run_effect(n: Ints, c: Ints, *, level: float = 0.95, seed: int = 0) -> RunToRunEffect:
    """A test and an estimate of how much the run affects pass@1, from repeated runs of one setup.

    Hypothesis: The attempts at a task are exchangeable over runs. Given the passes at a task, the
    numbers of passes in the runs then have a multivariate hypergeometric distribution, whatever the
    numbers of attempts are. The statistic for the means m_r of the runs is Q = Σ_r (m_r − m̄)² /
    v_r with v_r = Σ_t s_t² / (n_rt T²), and s_t² is the variance of all attempts at task t.
    The statistic for single tasks is Σ_tr n_rt (c_rt / n_rt − C_t / N_t)² with the total numbers of
    passes C_t and of attempts N_t over all runs. The p-values are (b + 1)/(m + 1) if b of m draws
    reach the statistic.
    The size of the effect is the variance τ² for which Q(τ²) = Σ (m_r − m̄)² / (v_r + τ²) equals
    R − 1 for R runs. At the limits of τ², Q(τ²) equals quantiles of χ² with R − 1 degrees of
    freedom (Q-profile). The upper limit of τ² is at most ¼.

    n, c : numbers of attempts (n ≥ 1) and of passes in R ≥ 2 runs, (runs × tasks).
    level : confidence level of the limits, in (0, 1).
    Edge cases: If all attempts at each task have the same outcome, there is no effect, p is 1, and
    the limits are 0.
    Errors: ValueError for fewer than two runs, or a task without an attempt in a run.
    Source: Paule & Mandel 1982; Viechtbauer 2007 (Q-profile).

    >>> n = np.full((3, 4), 2)
    >>> effect = run_effect(n, np.array([[0, 1, 2, 1], [1, 1, 1, 1], [0, 2, 1, 1]]))
    >>> effect.p > 0.5, effect.effect_variance
    (True, 0.0)
    """
    from passk_cli.scipy_special import chdtri

    if n.ndim != 2 or len(n) < 2 or n.size == 0 or (n < 1).any():
        raise ValueError(
            "the data must have at least two runs, with an attempt at each task in each run"
        )
    runs, tasks = n.shape
    attempts, passes = n.sum(axis=0), c.sum(axis=0)
    rates, rate = c / n, passes / attempts
    spread = rate * (1 - rate) * attempts / np.maximum(attempts - 1, 1)
    variances: Floats = (spread / n).sum(axis=1) / tasks**2
    means: Floats = rates.mean(axis=1)
    repeated = n > 1
    within = np.divide(2 * c * (n - c), n * (n - 1), where=repeated, out=np.zeros(n.shape))
    with_repeats = repeated.any(axis=0)
    together = rates.sum(axis=0) * (1 - rates).sum(axis=0) - (rates * (1 - rates)).sum(axis=0)
    if not variances.max() > 0:
        return RunToRunEffect(means, variances, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    p, p_tasks = _permutation_p_of_means_and_tasks(n, c, variances, seed)

    def excess(tau2: float, target: float) -> float:
        weights = 1 / (variances + tau2)
        middle = np.average(means, weights=weights)
        return float(weights @ (means - middle) ** 2) - target

    def solved(target: float) -> float:
        if excess(0.0, target) <= 0:
            return 0.0
        largest = float(np.var(means) * runs / target + variances.max())
        return find_root(lambda tau2: excess(tau2, target), 0.0, largest, largest * 1e-9)

    tail = (1 - level) / 2
    return RunToRunEffect(
        means,
        variances,
        p,
        p_tasks,
        effect_variance=solved(runs - 1),
        low=solved(float(chdtri(runs - 1, tail))),
        high=min(solved(float(chdtri(runs - 1, 1 - tail))), 0.25),
        expected_flips_between_runs=float((2 * together / (runs * (runs - 1)))[with_repeats].sum())
        if with_repeats.any()
        else np.nan,
        expected_flips_within_run=float(
            (within.sum(axis=0) / np.maximum(repeated.sum(axis=0), 1))[with_repeats].sum()
        )
        if with_repeats.any()
        else np.nan,
    )


def run_effect_draw_count(n: Ints) -> int:
    """Number of random draws for the p-values of `run_effect`.

    n : number of attempts of each run at each task, (runs × tasks).

    >>> run_effect_draw_count(np.full((5, 50), 4)), run_effect_draw_count(np.full((60, 100), 4))
    (8000, 499)
    """
    return int(np.clip(_CELLS // n.size, _FEWEST, _MOST))


def _permutation_p_of_means_and_tasks(
    n: Ints, c: Ints, variances: Floats, seed: int
) -> tuple[float, float]:
    runs, tasks = n.shape
    draws = run_effect_draw_count(n)
    random = named_generator(seed, "runs")
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
    slack = 1 - 1e-9
    observed = float(spread((c / n).mean(axis=1)))
    of_means = 1 + int((spread(totals / tasks) >= observed * slack).sum())
    tasks_seen = float((n * (c / n - rate) ** 2).sum())
    return of_means / (draws + 1), (1 + int((of_tasks >= tasks_seen * slack).sum())) / (draws + 1)


def run_and_chance_variances(values: Floats) -> tuple[float, float]:
    """The variance M_r / T of the run means, and the part M_tr / T that is due to chance.

    M_r = T Σ_r (v_·r − v)² / (R − 1) is the mean square of the R runs.
    M_tr = Σ_tr (v_tr − v_t· − v_·r + v)² / ((R − 1)(T − 1)) is the mean square of residuals.
    In these formulas, v_t·, v_·r and v are the means of a task, of a run and of all values.

    values : the value v_tr of each of T ≥ 2 tasks in each of R ≥ 2 runs, (runs × tasks).
    Errors: ValueError for fewer than two runs or tasks.
    Source: Searle, Casella & McCulloch 1992, two-way crossed random effects.
    """
    runs, tasks = values.shape
    if runs < 2 or tasks < 2:
        raise ValueError("values must have at least two runs and two tasks")
    means = values.mean(axis=1)
    residuals = values - means[:, None] - values.mean(axis=0) + values.mean()
    by_chance = float((residuals**2).sum()) / ((runs - 1) * (tasks - 1) * tasks)
    return float(means.var(ddof=1)), by_chance


def run_effect_variance(values: Floats) -> float:
    """The variance of the run effect that is common to all tasks of a run, at least 0.

    values : the same as in `run_and_chance_variances`.

    >>> values = np.array([[0.1, 0.5, 0.3], [0.3, 0.7, 0.5], [0.2, 0.6, 0.4]])
    >>> round(run_effect_variance(values), 6)
    0.01
    """
    of_means, by_chance = run_and_chance_variances(values)
    return max(of_means - by_chance, 0.0)


def largest_run_effect_difference(
    variance: float, runs: int, history: int, level: float = 0.95
) -> float:
    """The largest difference that run effects may cause between a new run and the mean of R runs.

    Run effects give this difference the variance σ² (1 + 1/R). The largest difference is therefore
    t_{H−1} σ √(1 + 1/R), with a quantile t_{H−1} of Student's t.

    variance : the variance σ² of run effects, estimated from H runs.
    runs : number R of averaged runs.  history : number H of runs.
    Errors: ValueError for H < 2.

    >>> round(largest_run_effect_difference(0.02**2, 5, 20), 4)
    0.0459
    """
    from passk_cli.scipy_special import stdtrit

    if history < 2:
        raise ValueError("the history must contain at least 2 runs")
    return float(-stdtrit(history - 1, (1 - level) / 2) * np.sqrt(variance * (1 + 1 / runs)))


def widen_by_run_effect(
    estimate: float, low: float, high: float, reach: float
) -> tuple[float, float]:
    """The limits of a difference between two runs, widened to include run effects.

    The new distance of each limit from the estimate is √(distance² + reach²). The number `reach` is
    the largest difference that run effects may cause.
    Source: Zou & Donner 2008. benchmarks/trend.md shows the coverage of the limits.

    >>> largest = largest_run_effect_difference(0.02**2, 5, 20)
    >>> low, high = widen_by_run_effect(0.0, -0.03, 0.03, largest)
    >>> round(low, 4), round(high, 4)
    (-0.0548, 0.0548)
    """
    return (
        float(estimate - np.hypot(estimate - low, reach)),
        float(estimate + np.hypot(high - estimate, reach)),
    )


@dataclass(frozen=True)
class ChangePoint:
    """A point in a history at which the mean of the runs changes.

    first_run : index of the first run after the change.
    detected_run : index of the run after which the change was first significant.
    mean_before, mean_after : mean of the runs before the change, and mean of the runs after it.
    """

    first_run: int
    detected_run: int
    mean_before: float
    mean_after: float


def chance_variances(n: Ints, c: Ints | Floats, squares: Floats | None = None) -> Floats:
    """The variance of a run's mean due to chance within tasks, estimated again after each run.

    The estimate after run r is Σ_t s_t² h_t / T². In this formula, s_t² is the variance of all
    attempts at task t up to run r, and h_t is the mean of 1/n over the runs up to run r.

    n, c : for each run and task, the number of attempts and the sum of their values (or the number
    of passes), (runs × tasks).
    squares : for each run and task, the sum of the squared values, or None if values are 0 or 1.
    Returns one variance per run. The variance is 0 after one run with one attempt per task.

    >>> chance_variances(np.full((3, 2), 2), np.array([[1, 2], [1, 2], [1, 2]])).round(4).tolist()
    [0.0625, 0.0417, 0.0375]
    """
    runs, tasks = n.shape
    attempts, total = np.maximum(n.cumsum(axis=0), 1), c.cumsum(axis=0)
    square = total if squares is None else squares.cumsum(axis=0)
    spread = np.maximum(square - total**2 / attempts, 0.0) / np.maximum(attempts - 1, 1)
    sizes = (1 / np.maximum(n, 1)).cumsum(axis=0) / np.arange(1, runs + 1)[:, None]
    variances: Floats = (spread * sizes).sum(axis=1) / tasks**2
    return variances


def run_mean_logs_and_variances(n: Ints, logs: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """The mean logarithm of the amounts in each run, with a lower bound for the mean's variance.

    The mean of run r is m_r = ā + mean_t (L_rt − a_t). In this formula, L_rt is the mean logarithm
    of the amounts of run r at task t. The number a_t is the mean of L_rt over the runs with an
    amount, and ā is the mean of a_t over tasks. Means of logarithms have a nearly normal
    distribution, but means of skewed amounts, such as prices, do not. The means m_r do not depend
    on the numbers of attempts.

    n : number of amounts above 0, (runs × tasks), with at least one per run and one per task.
    logs, squares : for each run and task, the sum of the logarithms and the sum of the squared
        logarithms.
    Returns one mean per run, and one variance per run as computed by `chance_variances`.

    >>> n, logs = np.array([[1, 2], [1, 0]]), np.array([[0.0, 4.0], [1.0, 0.0]])
    >>> squares = logs**2 / np.maximum(n, 1)
    >>> [each.tolist() for each in run_mean_logs_and_variances(n, logs, squares)]
    [[1.0, 1.75], [0.0, 0.125]]
    """
    means = np.where(n > 0, logs, np.nan) / np.maximum(n, 1)
    of_tasks = np.nanmean(means, axis=0)
    run_means = of_tasks.mean() + np.nanmean(means - of_tasks, axis=1)
    return run_means, chance_variances(n, logs, squares)


def are_amounts_above_task_divider(tasks: Ints, amounts: Floats, counts: Ints) -> Bools:
    """Whether each amount is above the dividing amount of the task; see `exact_change_p`.

    The dividing amount of a task is the amount for which the share of attempts above it is closest
    to one half. For example, if 27 attempts have 30 turns and one attempt has 29 turns, the
    dividing amount is 29 turns.

    tasks, amounts, counts : for each amount at a task, the code of the task, the amount, and the
        number of attempts with this amount.
    Edge cases: If all amounts of a task are equal, no amount is above the dividing amount.

    >>> amounts = np.array([3.0, 1.0, 2.0, 5.0])
    >>> are_amounts_above_task_divider(np.array([0, 0, 0, 1]), amounts, np.ones(4, int)).tolist()
    [True, False, False, False]
    """
    order = np.lexsort((amounts, tasks))
    task, amount, weight = tasks[order], amounts[order], counts[order]
    total = np.bincount(task, weight)[task]
    share = (np.cumsum(weight) - np.cumsum(np.bincount(task, weight))[task] + total) / total
    last = np.append((task[1:] != task[:-1]) | (amount[1:] > amount[:-1]), True)
    away = np.where(last, np.abs(share - 0.5), np.inf)
    best = np.lexsort((away, task))[np.searchsorted(task, np.arange(int(task[-1]) + 1))]
    above = np.empty(len(tasks), dtype=bool)
    above[order] = amount > amount[best][task]
    return above


def change_points(
    means: Floats, floors: Floats | float = 0.0, *, counts: tuple[Ints, Ints] | None = None,
    alpha: float = 0.05,
) -> list[ChangePoint]:  # fmt: skip
    """Changes of the mean in a history of runs, with one false-alarm rate for the whole history.

    After each run r, the runs since the last change are split after the first s runs. The split
    with the largest t is used: t = (mean after − mean before) / (sd √(1/s + 1/(r−s))). The sd is
    the pooled standard deviation, with r − 2 degrees of freedom. Then t is converted to a normal
    deviate. The threshold for the normal deviate is the 1 − α quantile of the largest deviate in a
    history of 365 runs without a change. A split is a change if the deviate exceeds the threshold
    and all four checks confirm the change:

    - The sd is at least the standard deviation of the runs' means due to chance within tasks. Runs
      that are nearly equal by accident therefore show no change.
    - Successive runs may be correlated, so `correlated_t` must exceed the threshold too.
    - Means of runs near 0 or 1 have skewed distributions, in which a few low means are not a
      change. Therefore, the deviate of the normal scores of the R runs, Φ⁻¹((rank − 3/8) / (R +
      1/4)), must exceed the threshold at the same split. The check also passes if each side of the
      split has at least four runs, and all means of one side are above all means of the other side.
    - A few attempts may be the cause of the whole change. Therefore, the exact p-value of the
      counts before and after the split (`exact_change_p`) must be as small as the threshold
      implies.

    At α = 0.05, at most one in twenty histories without a change has a false alarm, however often
    the history is checked. benchmarks/trend.md shows when correlated runs raise this rate.

    floors : smallest possible variance of a run's mean, as one number for all runs or as one number
        after each run.
    counts : two arrays (runs × tasks) with the numbers of attempts and of passes, or None to skip
        the last check.
    alpha : the false-alarm rate: 0.1, 0.05 or 0.01.
    Edge cases: There is no change if there are fewer than five runs since the last change, or if
    all runs are equal.
    Source: Hinkley 1970; James, James & Siegmund 1987 (the maximal t over splits).

    >>> level = np.array([0.8, 0.81, 0.79, 0.8, 0.82, 0.79, 0.8, 0.6, 0.61, 0.59, 0.6])
    >>> [(change.first_run, round(change.mean_after, 1)) for change in change_points(level)]
    [(7, 0.6)]
    """
    from passk_cli.scipy_special import ndtr

    threshold = _CHANGE_DEVIATE_LIMIT_BY_ALPHA[alpha]
    rare = 2 * float(ndtr(-threshold))
    offset = max(len(means) - MAX_RUNS_FOR_FALSE_ALARM_RATE, 0)
    least = np.broadcast_to(floors, len(means)).tolist()
    start = offset
    points: list[tuple[int, int]] = []
    for end in range(offset + 5, len(means) + 1):
        if end - start < 5:
            continue
        stretch = means[start:end]
        split, t = _split_with_largest_t(stretch, least[end - 1])
        if _normal_deviate_of_t(t, len(stretch) - 2) <= threshold:
            continue
        if _normal_deviate_of_t(correlated_t(stretch, split), len(stretch) - 2) <= threshold:
            continue
        if not _ranks_confirm_change(stretch, split, threshold):
            continue
        if counts is not None and exact_change_p(*counts, start, start + split, end) > rare:
            continue
        start += split
        points.append((start, end - 1))
    edges = [offset, *(first for first, _ in points), len(means)]
    return [
        ChangePoint(
            first, detected, float(means[begin:first].mean()), float(means[first:stop].mean())
        )
        for (first, detected), begin, stop in zip(points, edges[:-2], edges[2:], strict=True)
    ]


def _ranks_confirm_change(means: Floats, split: int, threshold: float) -> bool:
    from passk_cli.scipy_special import ndtri

    runs = len(means)
    _, place, ties = np.unique(means.round(12), return_inverse=True, return_counts=True)
    rank = (np.cumsum(ties) - (ties - 1) / 2)[place]
    before, after = np.split(rank, [split])
    if min(split, runs - split) >= _MIN_NONOVERLAPPING_RUNS_PER_SIDE and (
        before.max() < after.min() or after.max() < before.min()
    ):
        return True
    sides = np.split(ndtri((rank - 3 / 8) / (runs + 1 / 4)), [split])
    variance = sum(float(side.var()) * len(side) for side in sides) / (runs - 2)
    change = abs(float(sides[1].mean() - sides[0].mean()))
    error = (variance * (1 / split + 1 / (runs - split))) ** 0.5
    return (
        _normal_deviate_of_t(change / error, runs - 2) > threshold
        if error > ROUNDING_TOLERANCE
        else change > ROUNDING_TOLERANCE
    )


def correlated_t(means: Floats, split: int) -> float:
    """The absolute t of a change of the mean, for runs that may be correlated with earlier runs.

    Generalized least squares with correlation r^lag give |t|, which is then divided by √f. The
    correlation r is the lag-1 correlation of the residuals, plus 2/R for the bias and 1/√R for the
    standard error, limited to [0, 0.95]. The residuals are the differences of the runs from the
    means before and after the change. The bias and the standard error are added because a few runs
    cannot exclude correlation. The factor f is at least 1 if the correlation decreases more slowly
    than r^lag, for example for a lasting effect plus chance within tasks. The formula is f = (1 +
    2r / (1 − φ)) (1 − r) / (1 + r). If the lag-1 correlation r₁ is two standard errors above 0,
    φ is (r₂ + r₃) / (r₁ + r₂), from the correlations at the lags 1, 2 and 3. Otherwise, φ is r.

    means : the mean of each of R ≥ 5 runs.
    split : number of runs before the change, from 1 to R − 1.
    Source: Prais & Winsten 1954; Box & Jenkins 1970 (autocorrelations of ARMA(1, 1)).

    >>> drift = np.sin(np.arange(60) / 10)  # plain t: 11.9
    >>> round(correlated_t(drift, 30), 1)
    2.0
    """
    change, error = _change_and_error_if_correlated(means, split)
    return abs(change) / error if error > 0 else np.inf


def _change_and_error_if_correlated(means: Floats, split: int) -> tuple[float, float]:
    runs = len(means)
    residuals = np.concatenate([part - part.mean() for part in np.split(means, [split])])
    square = float(residuals @ residuals)
    if not square > 0:
        return float(means[split] - means[0]), 0.0
    lag_1, lag_2, lag_3 = (
        float(residuals[lag:] @ residuals[:-lag]) / square + 2 / runs for lag in (1, 2, 3)
    )
    r = min(max(lag_1 + runs**-0.5, 0.0), _MAX_CONSECUTIVE_RUN_CORRELATION)
    clear = lag_1 > 2 * runs**-0.5 and lag_1 + lag_2 > 0
    falls = (
        max(r, min((lag_2 + lag_3) / (lag_1 + lag_2), _MAX_CONSECUTIVE_RUN_CORRELATION))
        if clear
        else r
    )
    f = (1 + 2 * r / (1 - falls)) * (1 - r) / (1 + r)
    rows = np.stack([np.ones(runs), np.arange(runs) >= split, means - means.mean()], axis=1)
    rows[1:] -= r * rows[:-1]
    rows[0] *= (1 - r**2) ** 0.5
    design, response = rows[:, :2], rows[:, 2]
    inverse = np.linalg.inv(design.T @ design)
    level, change = inverse @ (design.T @ response)
    errors = response - design @ np.array([level, change])
    return float(change), float(np.sqrt(inverse[1, 1] * (errors @ errors) / (runs - 2) * f))


def least_detectable_change(
    means: Floats, floors: Floats | float = 0.0, *, alpha: float = 0.05
) -> float:
    """The smallest change of the mean that could be detected at the last run of a history.

    With this change, t and `correlated_t` exceed the threshold at a split with enough runs for the
    test of ranks. The calculation assumes that the noise of the runs stays the same.

    means, floors, alpha : the same as in `change_points`, but only for the runs since the last
        change.
    Edge cases: The change is infinite for fewer than eight runs, and 0 if all runs are equal and
    the floor is 0.

    >>> nights = np.random.default_rng(1).normal(0.8, 0.02, 100)
    >>> [round(least_detectable_change(nights[:runs]), 3) for runs in (8, 12, 25, 100)]
    [0.188, 0.065, 0.039, 0.017]
    """
    runs = len(means)
    if runs < 5:
        return np.inf
    floor, degrees = float(np.broadcast_to(floors, runs)[-1]), runs - 2
    deviate = _CHANGE_DEVIATE_LIMIT_BY_ALPHA[alpha] * (8 * degrees + 3) / (8 * degrees + 1)
    t = float(np.sqrt(degrees * np.expm1(deviate**2 / degrees)))
    least, separated = np.inf, np.arange(runs, dtype=np.float64)
    for split in range(1, runs):
        if not _ranks_confirm_change(separated, split, _CHANGE_DEVIATE_LIMIT_BY_ALPHA[alpha]):
            continue
        square = sum(float(part.var()) * len(part) for part in np.split(means, [split]))
        plain = np.sqrt(max(square / degrees, floor) * (1 / split + 1 / (runs - split)))
        least = min(least, t * max(float(plain), _change_and_error_if_correlated(means, split)[1]))
    return float(least)


def lag_1_run_correlation(means: Floats) -> float:
    """The lag-1 correlation of R runs, plus 1/R to correct the bias.

    The result is 0 if there are fewer than five runs, or if all runs are equal.

    >>> round(lag_1_run_correlation(np.array([0.0, 1.0, 2.0, 1.0, 0.0, -1.0, -2.0, -1.0])), 3)
    0.792
    """
    residuals = means - means.mean()
    square = float(residuals @ residuals)
    if len(means) < 5 or not square > 0:
        return 0.0
    return float(residuals[1:] @ residuals[:-1]) / square + 1 / len(means)


def exact_change_p(n: Ints, c: Ints, start: int, split: int, end: int) -> float:
    """Exact two-sided p-value of the hypothesis that pass rates are equal before and after a split.

    The test is conditional on the total passes per task. Under the hypothesis, the attempts at a
    task are exchangeable over the runs, and the passes after the split have a hypergeometric
    distribution. A convolution gives the distribution of the sum S of these passes over tasks. The
    p-value is min(1, 2 min(P(S* ≥ S), P(S* ≤ S))).

    n, c : numbers of attempts and of passes, (runs × tasks). For amounts, c is the number of
        amounts above the dividing amount (`are_amounts_above_task_divider`).
    start, split, end : runs start … split − 1 are before the split, and runs split … end − 1 are
        after it.
    Accuracy: The absolute error is at most 1e-9.
    Source: Fisher 1935.

    >>> n, c = np.full((28, 1), 3), np.full((28, 1), 3)
    >>> c[27] = 2
    >>> round(exact_change_p(n, c, 0, 27, 28), 4)  # one failure after 27 green nights: 3/84, twice
    0.0714
    """
    from passk_cli.scipy_special import gammaln

    (attempts, passed), (attempts_after, passed_after) = (
        [counts[first:end].sum(axis=0) for counts in (n, c)] for first in (start, split)
    )
    kinds, times = np.unique([attempts, passed, attempts_after], axis=1, return_counts=True)
    size, total, after = (row[:, None] for row in kinds)
    least, most = np.maximum(0, after + total - size), np.minimum(after, total)
    mean = after * total / size
    spread = np.sqrt(mean * (size - total) * (size - after) / (size * np.maximum(size - 1, 1)))
    least = np.maximum(least, np.floor(mean - 12 * spread - 40).astype(np.int64))
    most = np.minimum(most, np.ceil(mean + 12 * spread + 40).astype(np.int64))
    away = np.arange(int((most - least).max()) + 1)
    k = np.minimum(least + away, most)
    ways = [(k, after - k), (total - k, size - after - total + k)]
    logs = -sum(gammaln(part + 1.0) for pair in ways for part in pair)
    task_chances = np.exp(logs - logs.max(axis=1, keepdims=True)) * (least + away <= most)
    task_chances /= task_chances.sum(axis=1, keepdims=True)
    at, middle = int(passed_after.sum()), float(mean[:, 0] @ times)
    reach = 12 * float(np.sqrt(spread[:, 0] ** 2 @ times)) + abs(at - middle) + 40
    first, sum_range = int(least[:, 0] @ times), int((most - least)[:, 0] @ times) + 1
    length = 1 << (max(min(sum_range, 2 * int(reach) + 2), len(away)) - 1).bit_length()
    spectrum = np.ones(length // 2 + 1, dtype=complex)
    for part in row_blocks(len(task_chances), length, _CELLS):
        spectrum *= (np.fft.rfft(task_chances[part], length) ** times[part, None]).prod(axis=0)
    low = first if length >= sum_range else round(middle) - length // 2
    chances = np.roll(np.maximum(np.fft.irfft(spectrum, length), 0.0), first - low)
    at -= low
    return min(1.0, 2 * float(min(chances[: at + 1].sum(), chances[at:].sum())))


def largest_change_deviate(history: Floats, floors: Floats | float = 0.0) -> float:
    """The largest normal deviate in a history, over all splits that are tested after each run.

    Unlike `change_points`, the function also uses runs from before a change.

    history : the mean of each of R ≥ 5 runs.  floors : the same as in `change_points`.

    >>> round(largest_change_deviate(np.array([0.1, 0.0, 0.1, 0.0, 0.1, 0.0])), 2)
    0.89
    """
    least = np.broadcast_to(floors, len(history)).tolist()
    return max(
        _normal_deviate_of_t(_split_with_largest_t(history[:end], least[end - 1])[1], end - 2)
        for end in range(5, len(history) + 1)
    )


def _split_with_largest_t(means: Floats, floor: float = 0.0) -> tuple[int, float]:
    runs = len(means)
    before = np.arange(1, runs)
    centred = means - means.mean()
    sums = np.cumsum(centred)[:-1]
    between = sums**2 * runs / (before * (runs - before))
    residual = np.maximum((centred**2).sum() - between, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.sqrt(between / np.maximum(residual / (runs - 2), floor))
    t = np.where(between > 1e-24, t, 0.0)
    split = int(np.argmax(t))
    return split + 1, float(t[split])


def _normal_deviate_of_t(t: float, degrees: int) -> float:
    """The normal deviate with the tail probability of t (error ≤ 0.02 for 3 or more degrees)."""
    share = (8 * degrees + 1) / (8 * degrees + 3)
    return share * float(np.sqrt(degrees * np.log1p(t**2 / degrees)))
