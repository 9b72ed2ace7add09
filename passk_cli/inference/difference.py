"""The distribution of two models' mean difference, for the p-value and the limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from passk_cli.arrays import ArrayLike, Bools, Floats, Ints
from passk_cli.inference.rounding import ROUNDING_TOLERANCE

# A missed difference is a large difference at rare tasks that are not in the sample. Each of the
# following pairs contains two numbers of tasks (or clusters). The allowance for missed differences
# is full up to the second number of a pair, and is 0 from the first number on.
# _LONG_TAIL_ALLOWANCE_TASK_COUNTS (for the limit in the direction of the longer tail) and
# _TWO_SIDED_ALLOWANCE_TASK_COUNTS (for both limits) are effective numbers of tasks, and
# _FEW_TASKS_ALLOWANCE_TASK_COUNTS are numbers of all tasks.
_LONG_TAIL_ALLOWANCE_TASK_COUNTS = (5.0, 2.0)
_TWO_SIDED_ALLOWANCE_TASK_COUNTS = (2.0, 1.0)
_FEW_TASKS_ALLOWANCE_TASK_COUNTS = (6.0, 3.0)
# The standard error of a log variance is multiplied by _SPREAD_ERROR_FACTOR, because the estimated
# error is too small if only a few tasks have large differences.
_SPREAD_ERROR_FACTOR = 1.25
# _LEAST_ERROR is the minimum variance of a log variance. Variances are moderated only if there are
# at least _FEWEST_ROWS rows.
_LEAST_ERROR, _FEWEST_ROWS = 1e-6, 3
_MISSED_DIFFERENCE_VARIANCE_FACTOR = 2.0


@dataclass(frozen=True, eq=False, repr=False)
class StudentDifferenceDistribution:
    """Student's t distributions of mean differences, with one standard error per direction.

    Every array has one element per mean difference. A mean difference is also called a row.

    lower_limit_standard_error, upper_limit_standard_error : standard errors for the lower and for
        the upper limits.
    degrees : degrees of freedom, at most the number of units (tasks or clusters) minus 1; 0 if
        there is only one unit.
    largest_difference : largest possible difference; infinite if there is no bound.
    is_constant : whether all differences of a row are equal.
    standard_error_without_allowance : standard errors without the allowance for missed differences.
    relative_error_of_standard_error : relative standard errors of
        `standard_error_without_allowance`.
    """

    estimate: Floats
    lower_limit_standard_error: Floats
    upper_limit_standard_error: Floats
    degrees: Ints
    largest_difference: float
    is_constant: Bools
    standard_error_without_allowance: Floats
    relative_error_of_standard_error: Floats

    @staticmethod
    def combine_selected_rows(
        parts: Sequence[tuple[StudentDifferenceDistribution, Ints]],
    ) -> StudentDifferenceDistribution:
        """Combine the selected rows of several distributions into one distribution, in the given
        order."""
        names = [field.name for field in fields(StudentDifferenceDistribution)]
        names.remove("largest_difference")
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(law, name)[rows] for law, rows in parts])
            for name in names
        }
        return StudentDifferenceDistribution(
            **columns, largest_difference=parts[0][0].largest_difference
        )

    def with_moderated_errors(self) -> StudentDifferenceDistribution:
        """A copy in which small standard errors of rows are raised towards the standard errors of
        the other rows.

        If there are many pairs of models, the observed spread of some pairs is far too small by
        chance. Let the spread be the base standard error. The log variance of a task's difference,
        y = log(spread² · units), is an estimate with the variance v = (2 · 1.25 · uncertainty)².
        The variance of the true log variances between rows is τ² (DerSimonian and Laird). The
        moderated log variance of a row is a weighted mean of y + v/2 and the mean of all rows. The
        weights depend on τ² and v. A row gets the moderated log variance only if it is larger than
        y. If the true spreads of the rows differ strongly, the spreads hardly change.

        Rows with equal differences, one unit or an unknown spread are excluded. The spreads change
        only if at least three rows remain.
        Source: Smyth 2004; DerSimonian & Laird 1986. Coverage: benchmarks/families.md.

        >>> rows = [[0.1, -0.1, 0, 0, 0], [0.5, -0.5, 0.5, -0.4, 0], [0, 0.4, -0.4, 0, 1]]
        >>> law = difference_distribution(rows, reach=1.0)
        >>> (law.standard_error_without_allowance.round(2).tolist(),
        ...  law.with_moderated_errors().standard_error_without_allowance.round(2).tolist())
        ([0.03, 0.21, 0.24], [0.05, 0.22, 0.25])
        """
        usable = (self.standard_error_without_allowance > 0) & ~self.is_constant
        usable &= np.isfinite(self.standard_error_without_allowance) & np.isfinite(
            self.relative_error_of_standard_error
        )
        if usable.sum() < _FEWEST_ROWS:
            return self
        units = self.degrees[usable] + 1.0
        error = np.maximum(
            (2 * _SPREAD_ERROR_FACTOR * self.relative_error_of_standard_error[usable]) ** 2,
            _LEAST_ERROR,
        )
        log = 2 * np.log(self.standard_error_without_allowance[usable]) + np.log(units) + error / 2
        weights = 1 / error
        mean = weights @ log / weights.sum()
        excess = weights @ (log - mean) ** 2 - (len(log) - 1)
        between = max(0.0, excess / (weights.sum() - weights @ weights / weights.sum()))
        weights = 1 / (error + between)
        mean = weights @ log / weights.sum()
        shrunk = np.exp((log * between + mean * error) / (between + error) / 2) / np.sqrt(units)
        spread = self.standard_error_without_allowance.copy()
        spread[usable] = np.maximum(spread[usable], shrunk)
        added = np.zeros_like(self.standard_error_without_allowance)
        added[usable] = spread[usable] ** 2 - self.standard_error_without_allowance[usable] ** 2
        return replace(
            self, standard_error_without_allowance=spread,
            lower_limit_standard_error=np.sqrt(self.lower_limit_standard_error**2 + added),
            upper_limit_standard_error=np.sqrt(self.upper_limit_standard_error**2 + added),
        )  # fmt: skip

    def p(self, null: ArrayLike = 0.0) -> Floats:
        """The two-sided p-value of the hypothesis that the mean difference is `null`.

        The p-value is P(|t| ≥ |estimate − null| / error). The error is the standard error for the
        limit on the side of `null`. Therefore, p ≤ α if and only if the limits at α exclude `null`.
        The p-value is 1 if there is only one task (or cluster), or if the estimate equals `null`.
        """
        from passk_cli.scipy_special import stdtr

        gap = self.estimate - np.asarray(null, dtype=np.float64)
        error = np.where(gap > 0, self.lower_limit_standard_error, self.upper_limit_standard_error)
        steps = np.divide(np.abs(gap), error, out=np.where(gap == 0, 0.0, np.inf), where=error > 0)
        p = 2 * stdtr(np.maximum(self.degrees, 1), -steps)
        return np.where((self.degrees < 1) | (gap == 0), 1.0, p)

    def equivalence_p(self, margin: float) -> Floats:
        """The larger p-value of two one-sided tests. The hypotheses are mean ≤ −margin and mean ≥
        margin.

        The result is at most α if and only if the limits of level 1 − 2α are within ±margin. The
        p-value is 1 if there is only one task (or cluster).
        Source: Schuirmann 1987.
        """
        low, high = self.p(-margin) / 2, self.p(margin) / 2
        low = np.where(self.estimate > -margin, low, 1 - low)
        high = np.where(self.estimate < margin, high, 1 - high)
        return np.where(self.degrees < 1, 1.0, np.maximum(low, high))

    def limits(self, alpha: ArrayLike) -> tuple[Floats, Floats]:
        """Lower and upper limits of level 1 − alpha, limited to ±`largest_difference`.

        If there is only one task (or cluster), the limits are ±`largest_difference`. The limits
        exclude 0 if and only if p ≤ alpha, even if rounding errors suggest otherwise.

        alpha : significance level in (0, 1), one for all rows or one per row.
        """
        from passk_cli.scipy_special import stdtrit

        alpha = np.asarray(alpha, dtype=np.float64)
        steps = -stdtrit(np.maximum(self.degrees, 1), alpha / 2)
        steps = np.where(self.degrees < 1, np.inf, steps)
        with np.errstate(invalid="ignore"):
            low, high = (
                self.estimate - steps * self.lower_limit_standard_error,
                self.estimate + steps * self.upper_limit_standard_error,
            )
        low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
        significant, least = self.p() <= alpha, np.nextafter(0.0, 1.0)
        near_limit, far_limit = np.where(self.estimate > 0, (low, -high), (-high, low))
        near_limit = np.where(
            significant, np.maximum(near_limit, least), np.minimum(near_limit, 0.0)
        )
        low, high = np.where(self.estimate > 0, (near_limit, -far_limit), (far_limit, -near_limit))
        return np.clip(low, -self.largest_difference, self.largest_difference), np.clip(
            high, -self.largest_difference, self.largest_difference
        )


def difference_distribution(
    differences: ArrayLike,
    reach: float = np.inf,
    floor: ArrayLike = 0.0,
    clusters: Ints | None = None,
    between: ArrayLike | None = None,
    hidden: ArrayLike = 0.0,
    degrees: ArrayLike | None = None,
) -> StudentDifferenceDistribution:
    """The distribution of the mean difference over tasks, for each row of differences.

    The differences d_t of the T tasks have the mean d̄ and the variance s² (with divisor T − 1).
    The squared standard error of the mean difference d̄ is

        max(s² / T, floor)  +  hidden  +  2 g L² / T²

    In this formula, the floor is the variance of d̄ due to attempts (`difference_variance_floor`).
    With few tasks, s² / T may be below the floor. The term 2 g L² / T² allows for a difference of
    size L that the sample of tasks may have missed. The weight g depends on the effective number of
    tasks, m = (Σ d²)² / Σ d⁴ (T/3 in a normal sample), and on the skewness κ = Σ d³ / Σ |d|³. For
    the limit in the direction of the longer tail, the weight g is |κ| if m ≤ 2, and decreases to 0
    at m = 5. For both limits, g is at least 1 if m ≤ 1 or T ≤ 3. This minimum decreases to 0 as m
    increases to 2 and T increases to 6. If all differences d_t are equal, and the floor and
    `hidden` are 0, the weight g is 1.

    differences : one finite difference per task, or an array (rows × tasks).
    reach : largest possible absolute difference. The size L of a missed difference is `reach`, or
        the largest observed |d| if `reach` is infinite.
    floor : variance of d̄ due to attempts, one number for all rows or one per row.
    clusters : a cluster code 0 … G−1 per task, or None. With clusters, the variance of d̄ is
        computed from total − size·d̄ of each cluster. L is then the total difference of a cluster
        of Σ size² / Σ size tasks.
    hidden : part of the variance of d̄ that the differences do not show, one number for all rows or
        one per row.
    degrees : largest allowed degrees of freedom, one number for all rows or one per row. The
        degrees of freedom are never above the number of units minus 1.
    between : the smallest and the largest possible differences if outcomes are missing, as two
        arrays like `differences`. The standard errors are large enough for all differences between
        the two.
    Hypothesis: Both models have the same mean over the population of tasks.
    Errors: ValueError if there is no task.
    For size, coverage, power and width, see benchmarks/difference.md.
    Source: Student 1908; Bell & Dean 1970 for the participation ratio m.

    >>> law = difference_distribution([0.2, 0.4, 0.3, 0.5, 0.4, 0.1], reach=1.0)
    >>> law.p().round(6).tolist(), [limit.round(3).tolist() for limit in law.limits(0.05)]
    ([0.003273], [[0.162], [0.686]])
    """
    d = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    if not d.shape[1]:
        raise ValueError("differences must contain at least one task")
    sizes = np.ones(d.shape[1]) if clusters is None else np.bincount(clusters).astype(np.float64)
    mean, most = d.mean(axis=1), np.full(len(d), len(sizes) - 1)
    degrees = most if degrees is None else np.minimum(most, np.asarray(degrees))
    if len(sizes) == 1:
        unknown = np.full(len(d), np.inf)
        all_true = np.full(len(d), True)
        return StudentDifferenceDistribution(
            mean, unknown, unknown, degrees, reach, all_true, unknown, unknown
        )
    given_ends = [d] if between is None else np.asarray(between, dtype=np.float64)
    ends = [np.atleast_2d(end) for end in given_ends]
    largest = np.max([np.abs(end).max(axis=1) for end in ends], axis=0)
    unit = np.full(len(d), reach) if np.isfinite(reach) else np.where(largest > 0, largest, 1.0)
    low = _scaled_unit_totals(ends[0], unit, clusters)
    high = low if between is None else _scaled_unit_totals(ends[1], unit, clusters)
    square, unsure = _largest_variance_and_its_error(low, high, sizes)
    spread = np.hypot(np.maximum(unit * np.sqrt(square), np.sqrt(floor)), np.sqrt(hidden))
    carrying, few = (
        _effective_unit_count_by_row(low, high),
        _few_units_allowance_weight(np.float64(len(sizes)), _FEW_TASKS_ALLOWANCE_TASK_COUNTS),
    )
    symmetric = np.maximum(
        _few_units_allowance_weight(carrying, _TWO_SIDED_ALLOWANCE_TASK_COUNTS), few
    )
    constant = (low / sizes).max(axis=1) <= (high / sizes).min(axis=1) + ROUNDING_TOLERANCE
    symmetric[constant & (np.asarray(floor) == 0) & (np.asarray(hidden) == 0)] = 1.0
    tail, lump = (
        _few_units_allowance_weight(carrying, _LONG_TAIL_ALLOWANCE_TASK_COUNTS),
        largest / unit if np.isinf(reach) else 1.0,
    )
    missed_lump = unit * lump * _sum_of_squared_size_shares(sizes)
    below, above = (
        np.hypot(
            spread,
            missed_lump
            * np.sqrt(_MISSED_DIFFERENCE_VARIANCE_FACTOR * np.maximum(tail * side, symmetric)),
        )
        for side in (-_skew(low), _skew(high))
    )
    return StudentDifferenceDistribution(
        mean, below, above, degrees, reach, constant, spread, unsure
    )


def least_p_for_unit_sizes(sizes: Floats) -> float:
    """The smallest p-value that a number of tasks (or clusters) allows for any differences.

    sizes : number of tasks in each unit.

    >>> [round(least_p_for_unit_sizes(np.ones(tasks)), 4) for tasks in (1, 2, 3, 4, 5, 6)]
    [1.0, 0.3918, 0.1679, 0.0405, 0.0036, 0.0]
    """
    from passk_cli.scipy_special import stdtr

    units = len(sizes)
    if units < 2:
        return 1.0
    few = float(_few_units_allowance_weight(np.float64(units), _FEW_TASKS_ALLOWANCE_TASK_COUNTS))
    return float(
        2
        * stdtr(
            units - 1,
            -1
            / (
                np.sqrt(_MISSED_DIFFERENCE_VARIANCE_FACTOR * few)
                * _sum_of_squared_size_shares(sizes)
            ),
        )
        if few
        else 0.0
    )


def _scaled_unit_totals(d: Floats, unit: Floats, clusters: Ints | None) -> Floats:
    d = d / unit[:, None]
    d = np.where(np.abs(d) > ROUNDING_TOLERANCE, d, 0.0)
    if clusters is None:
        return d
    totals = np.zeros((len(d), int(clusters.max()) + 1))
    np.add.at(totals.T, clusters, d.T)
    return totals


def _sum_of_squared_size_shares(sizes: Floats) -> float:
    return float((sizes**2).sum() / sizes.sum() ** 2)


def _largest_variance_and_its_error(
    low: Floats, high: Floats, sizes: Floats
) -> tuple[Floats, Floats]:
    """An upper bound for the variance of a mean of differences that are between low and high.

    The second result is the relative standard error of the square root of this variance. For U
    units, this relative standard error is ½ √((kurtosis − (U − 3) / (U − 1)) / U) (delta method).
    This relative error is infinite if the variance is 0. The relative error is too small if nearly
    all of the difference comes from a few tasks.
    """
    units, tasks = len(sizes), sizes.sum()
    middle = (low.sum(axis=1) + high.sum(axis=1)) / (2 * tasks)
    square = (low - middle[:, None] * sizes) ** 2
    if high is not low:
        square = np.maximum(square, (high - middle[:, None] * sizes) ** 2)
    total = square.sum(axis=1)
    fourth = np.einsum("ij,ij->i", square, square)
    kurtosis = np.divide(units * fourth, total**2, out=np.full(len(total), np.inf), where=total > 0)
    unsure = 0.5 * np.sqrt(np.maximum(kurtosis - (units - 3) / (units - 1), 0.0) / units)
    if high is not low:
        uneven, shift = sizes.var() * units, (high.sum(axis=1) - low.sum(axis=1)) / (2 * tasks)
        total = total + 2 * shift * np.sqrt(uneven * total)
        total += shift**2 * max(uneven - tasks**2 / units, 0.0)
    return total * (units / (units - 1)) / tasks**2, unsure


def _effective_unit_count_by_row(low: Floats, high: Floats) -> Floats:
    least = most = low * low
    if high is not low:
        least, most = np.minimum(least, high * high), np.maximum(least, high * high)
        least = np.where(low * high < 0, 0.0, least)
    total, square = least.sum(axis=1), (least * least).sum(axis=1)
    if high is not low:
        steepest = np.where(most > least, most + least, 0.0).max(axis=1)
        most_added = (most - least).sum(axis=1)
        slope = np.where(steepest > 0, steepest, np.inf)
        added = np.clip(total - 2 * square / slope, 0.0, most_added)
        total, square = total + added, square + steepest * added
    carrying: Floats = np.divide(total**2, square, out=np.zeros_like(total), where=square > 0)
    return carrying


def _skew(d: Floats) -> Floats:
    cubes = d * d * d
    total, size = cubes.sum(axis=1), np.abs(cubes).sum(axis=1)
    skew: Floats = np.divide(total, size, out=np.zeros_like(total), where=size > 0)
    return skew


def _few_units_allowance_weight(
    units: Floats | np.float64, thresholds: tuple[float, float]
) -> Floats:
    """The weight of a missed difference. The weight is 0 above the first threshold, 1 below the
    second threshold, and linear in between."""
    none_from, full_to = thresholds
    share: Floats = np.clip((none_from - np.asarray(units)) / (none_from - full_to), 0.0, 1.0)
    return share
