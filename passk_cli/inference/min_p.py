"""Adjusts the p-values of several tests on the same tasks with the min-P method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from passk_cli.arrays import ArrayLike, Floats, Indices, Ints, NDArray, row_blocks
from passk_cli.inference.paired_tests import RESAMPLES_PER_RANDOM_STREAM, random_bits

# If there are at most _MAX_ENUMERATED_UNITS units (tasks or clusters), passk enumerates all sign
# patterns.
_MAX_ENUMERATED_UNITS = 13
# A block has at most _MAX_BLOCK_ELEMENTS array elements, so that it fits into the processor's
# cache.
_MAX_BLOCK_ELEMENTS = 1 << 16
# While an adjusted p-value is within _CLEAR_DECISION_ERRORS Monte-Carlo errors of the level, passk
# draws more sign patterns, up to _MAX_DRAW_MULTIPLE times the resamples and up to
# _MAX_DRAW_ELEMENTS array elements. Without the limits _MAX_DRAW_MULTIPLE and _MAX_DRAW_ELEMENTS,
# the draws for thousands of pairs would never end, because some p-values are always close to the
# level.
_CLEAR_DECISION_ERRORS = 3.0
# A p-value and the smallest p-value of a draw are treated as equal if their relative difference is
# at most _P_TIE_TOLERANCE.
_P_TIE_TOLERANCE = 1e-9
_MAX_DRAW_MULTIPLE = 16
_MAX_DRAW_ELEMENTS = 1 << 26


class ModelValuesAndPairs(NamedTuple):
    """The differences of pairs of models. Column j is values[:, first_j] − values[:, second_j].

    To save time, passk multiplies the values of m models by the random signs s_t, instead of the
    differences of about m²/2 pairs. The result is the same, because Σ_t s_t (a_t − b_t) = Σ_t s_t
    a_t − Σ_t s_t b_t.

    values : the value of each model at each task, (tasks × models).
    first_models, second_models : for each column, the indices of the two models.
    """

    values: Floats
    first_models: Indices
    second_models: Indices


@dataclass(frozen=True)
class MinPDistribution:
    """The distribution of the smallest p-value of several tests, if all models are equally good.

    test_count : number of tests.  draws : smallest p-value of each draw, ascending.
    exact : whether all sign patterns were enumerated, so that there is no Monte-Carlo error.
    """

    test_count: int
    draws: Floats
    exact: bool = False

    def adjusted(self, p: ArrayLike) -> Floats:
        """The adjusted p-values: the probability that the smallest p of a draw is at most p.

        If b of m draws are at most p, the estimate is (b + 1)/(m + 1), or b/m if all sign patterns
        were enumerated. An adjusted p-value is at least p, and at most p times the number of tests.
        """
        p = np.asarray(p, dtype=np.float64)
        if self.test_count < 2:
            return p.copy()
        reached = np.searchsorted(self.draws, p * (1 + _P_TIE_TOLERANCE), side="right")
        more = 0 if self.exact else 1
        share = (reached + more) / (len(self.draws) + more)
        adjusted: Floats = np.minimum(np.maximum(p, np.minimum(share, self.test_count * p)), 1.0)
        return np.where(np.isnan(p), np.nan, adjusted)

    def adjusted_one_sided(self, p: ArrayLike) -> Floats:
        """The adjusted p-values of one-sided tests.

        The adjusted value of a p-value p is the result of `adjusted` for 2p, but at most p times
        the number of tests.
        """
        p = np.asarray(p, dtype=np.float64)
        twice: Floats = np.minimum(self.adjusted(2 * p), max(self.test_count, 1) * p)
        return np.minimum(twice, 1.0)

    def adjusted_p_monte_carlo_errors(self, p: ArrayLike) -> Floats:
        """The Monte-Carlo standard error of each adjusted p-value, or 0 if the p-value does not
        depend on random draws."""
        p, adjusted = np.asarray(p, dtype=np.float64), self.adjusted(p)
        simulated = (
            (self.test_count > 1)
            & (not self.exact)
            & (adjusted > p)
            & (adjusted < self.test_count * p)
        )
        noise = np.sqrt(adjusted * (1.0 - adjusted) / max(len(self.draws), 1))
        return np.where(simulated, noise, 0.0)

    def level_per_test(self, alpha: float) -> float:
        """The largest p-value of one test for which the adjusted p-value is at most alpha.

        >>> MinPDistribution(2, np.array([0.01, 0.02, 0.5, 0.9])).level_per_test(0.5)
        0.25
        """
        if self.test_count < 2:
            return alpha
        more = 0 if self.exact else 1
        reached = int(np.floor(alpha * (len(self.draws) + more) + 1e-9)) - more
        below = 0.0
        if reached >= len(self.draws):
            below = alpha
        elif reached >= 0:
            below = float(np.nextafter(self.draws[reached] / (1 + _P_TIE_TOLERANCE), 0.0))
        return min(alpha, max(below, alpha / self.test_count))


class SharedLevelTests(NamedTuple):
    """A family of tests that share one significance level, with one test per column of differences.

    differences : an array (units × columns), or `ModelValuesAndPairs`. The units are tasks or
        clusters. Each test is about the mean of one column.
    unit_task_counts : number of tasks in each unit.
    present_units : for each unit and column, whether both models of the column have the unit,
        (units × columns), or None if no unit is missing.
    p : the p-values to be adjusted.
    """

    differences: ArrayLike | ModelValuesAndPairs
    unit_task_counts: ArrayLike = 1.0
    present_units: ArrayLike | None = None
    p: ArrayLike = ()


def draw_min_p(
    families: Sequence[SharedLevelTests],
    *,
    alpha: float = 0.05,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[MinPDistribution]:
    """The distributions of the smallest p-values of several families of tests.

    A residual e_tj is a difference in column j minus the mean of the column. Each draw multiplies
    the residuals of a task by one random sign s_t. The statistic z_j = |Σ s_t e_tj| / √(Σ e_tj²) of
    each column j gives a p-value of Student's t-test. The smallest p-value of a draw is one value
    of the distribution. The columns are as correlated in the draws as in the data, so the tests
    lose less power than with Bonferroni's method.

    alpha : significance level. If an adjusted p-value is close to alpha, passk makes up to 16 times
    as many draws.
    resamples : number of draws. If there are at most 13 units, passk enumerates all sign patterns
    instead.
    seed : integer ≥ 0. Families with the same number of units get the same random signs.
    The random signs do not depend on the names or on the order of the units. The distribution of a
    family does not depend on the other families.
    Source: Westfall & Young 1993, single-step min-P; Liu 1988, wild bootstrap, for random signs.

    >>> together = np.array([[0.3, 0.3], [0.1, 0.1], [-0.2, -0.2], [0.4, 0.4]])
    >>> draw_min_p([SharedLevelTests(together)])[0].adjusted([0.125, 0.6]).tolist()
    [0.125, 0.625]
    """
    distributions = [MinPDistribution(_test_count(tests), np.empty(0)) for tests in families]
    by_units: dict[int, list[tuple[int, _ResidualsForSignFlips]]] = {}
    for at, tests in enumerate(families):
        if distributions[at].test_count > 1:
            residuals = _ResidualsForSignFlips.from_family(tests)
            by_units.setdefault(len(residuals.model_residuals), []).append((at, residuals))
    for units, members in by_units.items():
        if units <= _MAX_ENUMERATED_UNITS:
            patterns = np.arange(1 << (units - 1))[:, None]
            bits = ((patterns >> np.arange(units)) & 1).astype(np.uint8)
            for (at, _), smallest in zip(
                members, _yield_smallest_ps_per_family(members, bits), strict=True
            ):
                distributions[at] = MinPDistribution(
                    distributions[at].test_count, np.sort(smallest), exact=True
                )
            continue
        draws: dict[int, list[Floats]] = {at: [] for at, _ in members}
        least, times, blocks_ = (
            -(-resamples // RESAMPLES_PER_RANDOM_STREAM) * RESAMPLES_PER_RANDOM_STREAM,
            1,
            0,
        )
        while members:
            length = least * times
            for block in range(blocks_, length // RESAMPLES_PER_RANDOM_STREAM):
                bits = np.unpackbits(random_bits(units, seed, block), axis=1, count=units)
                for (at, _), smallest in zip(
                    members, _yield_smallest_ps_per_family(members, bits), strict=True
                ):
                    draws[at].append(smallest)
            blocks_, times, unsure = length // RESAMPLES_PER_RANDOM_STREAM, times * 4, []
            noise = _CLEAR_DECISION_ERRORS * np.sqrt(alpha * (1 - alpha) / length)
            for at, residuals in members:
                distribution = MinPDistribution(
                    distributions[at].test_count, np.sort(np.concatenate(draws[at]))
                )
                distributions[at] = distribution
                undecided = (np.abs(distribution.adjusted(families[at].p) - alpha) <= noise).any()
                if (
                    undecided
                    and times <= _MAX_DRAW_MULTIPLE
                    and times * resamples * distribution.test_count <= _MAX_DRAW_ELEMENTS
                ):
                    unsure.append((at, residuals))
            members = unsure
    return distributions


def _test_count(tests: SharedLevelTests) -> int:
    differences = tests.differences
    if isinstance(differences, ModelValuesAndPairs):
        return len(differences.first_models)
    return int(np.shape(np.atleast_2d(differences))[1])


@dataclass(frozen=True)
class _ResidualsForSignFlips:
    """The residuals (differences minus column means), in a form for fast multiplication by signs.

    model_residuals : the residuals of each model, (units × models). The order of the units does not
        depend on names.
    first_models, second_models : for each column, the indices of the two models. `second_models` is
        None if `model_residuals` already contains the columns.
    inverse_norms : for each column, 1/√(Σ e²) with the residuals e, or 0 if all residuals are 0.
    degrees : number of units of each column, minus 1.
    """

    model_residuals: Floats
    first_models: Indices
    second_models: Indices | None
    inverse_norms: Floats
    degrees: Ints

    @classmethod
    def from_family(cls, tests: SharedLevelTests) -> _ResidualsForSignFlips:
        differences, sizes, shared = (
            tests.differences,
            np.asarray(tests.unit_task_counts, float),
            tests.present_units,
        )
        if isinstance(differences, ModelValuesAndPairs):
            models, first, second = differences
        else:
            models = np.atleast_2d(np.asarray(differences, dtype=np.float64))
            first, second = np.arange(models.shape[1]), None
        present = np.ones(models.shape, bool) if shared is None else np.asarray(shared, bool)
        weight = (
            np.broadcast_to(sizes.reshape(-1, 1) if sizes.ndim else sizes, models.shape) * present
        )
        models = (models - models.sum(axis=0) / weight.sum(axis=0) * weight) * present
        # The order of units must not depend on names or on the order of the input. Therefore,
        # models are ordered by moments of their residuals, and units are sorted by their residuals.
        moments = [np.round((models**power).sum(axis=0), 9) for power in (1, 2, 3, 4)]
        columns = np.lexsort(moments)
        models = models[np.lexsort(np.round(models[:, columns[::-1]], 9).T)]
        square = (models**2).sum(axis=0)
        if second is None:
            square, units = square, present.sum(axis=0)
        else:
            products = models.T @ models
            square = square[first] + square[second] - 2 * products[first, second]
            square[square < 1e-12 * products.max(initial=0.0)] = 0.0
            units = np.full(len(first), len(models))
        root = np.sqrt(square)
        scale = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
        return cls(models, first, second, scale, units - 1)

    def smallest_p(self, sums: Floats) -> Floats:
        """The smallest p-value in each sign pattern.

        sums : for each model and sign pattern, the sum of the residuals after multiplication by the
            signs, (models × patterns).
        """
        p = []
        for degrees in np.unique(self.degrees).tolist():
            places, largest = np.flatnonzero(self.degrees == degrees), np.zeros(sums.shape[1])
            for block in row_blocks(len(places), sums.shape[1], _MAX_BLOCK_ELEMENTS):
                part = places[block]
                z = sums[self.first_models[part]]
                if self.second_models is not None:
                    z -= sums[self.second_models[part]]
                np.abs(z, out=z)
                z *= self.inverse_norms[part, None]
                np.maximum(largest, z.max(axis=0), out=largest)
            p.append(_p_from_normalized_sum(largest, degrees))
        smallest: Floats = np.min(p, axis=0)
        return smallest


def _yield_smallest_ps_per_family(
    members: Sequence[tuple[int, _ResidualsForSignFlips]], bits: NDArray[np.uint8]
) -> Iterator[Floats]:
    all_models = [residuals.model_residuals for _, residuals in members]
    models = all_models[0] if len(all_models) == 1 else np.concatenate(all_models, axis=1)
    sums = models.T @ bits.astype(np.float64).T
    sums *= 2.0
    sums -= models.sum(axis=0)[:, None]
    ends = np.cumsum([family_models.shape[1] for family_models in all_models])
    for (_, residuals), family_sums in zip(members, np.split(sums, ends[:-1]), strict=True):
        yield residuals.smallest_p(family_sums)


def _p_from_normalized_sum(z: Floats, degrees: int) -> Floats:
    from passk_cli.scipy_special import stdtr

    if degrees < 1:
        return np.ones(len(z))
    square = z**2
    with np.errstate(divide="ignore"):
        t = np.sqrt(square * degrees / np.maximum(degrees + 1 - square, 0.0))
    p: Floats = 2 * stdtr(degrees, -t)
    return p
