"""A permutation test of two models at fixed tasks, with attempts permuted within each task."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.inference.attempt_permutation import (
    DIFFERENCE_TOLERANCE,
    DifferenceStratum,
    PossibleDifferences,
    possible_differences_from_attempts,
    possible_differences_from_counts,
)
from passk_cli.inference.random_streams import named_generator
from passk_cli.inference.rounding import common_denominator
from passk_cli.metrics.registry import Metric
from passk_cli.outcomes.attempts import AttemptValuesByCell

# An exact distribution has at most _EXACT_CELLS lattice cells, and the product of cells and strata
# is at most _EXACT_STEPS.
_EXACT_CELLS, _EXACT_STEPS = 1 << 18, 1 << 23
_MAX_DENOMINATOR = 20_000
_BLOCK_CELLS = 1 << 20


@dataclass(frozen=True)
class PermutationResult:
    """A p-value, the smallest p-value that the attempts allow, and whether p is exact."""

    p: float
    smallest_possible_p: float
    exact: bool


def permutation_test_within_tasks(
    metric: Metric, first: tuple[Ints, Ints], second: tuple[Ints, Ints], *, resamples: int = 10_000,
    seed: int = 0,
) -> PermutationResult:  # fmt: skip
    """The two-sided p-value of the mean difference, from permutations of the attempts within tasks.

    Hypothesis: Both models have the same pass probability at every one of these tasks. Under this
    hypothesis, the n_A + n_B attempts at a task are exchangeable. Given the C passes at a task, the
    number of passes of the first model has a hypergeometric distribution, whatever the numbers of
    attempts are.
    The statistic is S = Σ_t f(n_A, c_A) − f(n_B, C − c_A) for a metric f. With the statistic S* of
    a random permutation, the p-value is min(1, 2·min(P(S* ≥ S), P(S* ≤ S))). A significant result
    in one direction therefore has a probability of at most α/2.

    The p-value is exact if the values of the metric are on a lattice, as for k = 1 and for most k
    and n up to 10. Otherwise, the test draws m random permutations. If b of these permutations
    reach S, the tail probability is (b+1)/(m+1).
    Chernoff's bound for the exact p is 2·min_θ E exp(θ(S* − S)). If this bound is below the
    smallest p that m draws can give, the function returns the bound, because a large family of
    tests needs smaller p-values.

    The test is not valid for new tasks, because two models with equal means over tasks may have
    different pass probabilities at each task.

    metric : a metric that needs only n and c.
    first, second : for each model, integer arrays with the numbers of attempts (n ≥ k) and of
        passes at each task.
    resamples : number m ≥ 1 of random permutations.  seed : integer ≥ 0.
    Edge cases: The p-value is 1 if there are no tasks, or if every task has only one possible
    difference.
    Errors: ValueError for a metric that needs more than n and c.
    Source: Fisher 1935; Phipson & Smyth 2010 ((b+1)/(m+1)); Chernoff 1952.

    >>> from passk_cli.metrics.registry import parse_metric
    >>> n = np.array([3, 3])
    >>> always, never = np.array([3, 3]), np.array([0, 0])
    >>> round(permutation_test_within_tasks(parse_metric("pass@1"), (n, always), (n, never)).p, 12)
    0.005
    """
    if metric.definition.required_attempt_data:
        raise ValueError(
            f"{metric.name} cannot be computed from counts of attempts and passes only"
        )
    observed = float((metric.values(*first) - metric.values(*second)).sum())
    return _permutation_test_of_sum(
        possible_differences_from_counts(metric, first, second), observed, resamples, seed
    )


def permutation_test_of_attempt_values(
    metric: Metric,
    first: AttemptValuesByCell,
    second: AttemptValuesByCell,
    *,
    resamples: int = 10_000,
    seed: int = 0,
) -> PermutationResult:
    """The test of `permutation_test_within_tasks`, for metrics of scores, answers or solutions.

    Hypothesis: At every one of these tasks, the attempts of both models have the same distribution
    of all data that the metric uses. Two models that are equally often right but give different
    answers violate the hypothesis, even if the metric shows no difference.

    metric : a metric that does not depend on the order of attempts (`definition.exchangeable`).
    first, second : the attempts of each model at the same tasks, with at least k attempts per task.
    Errors: ValueError if the metric needs only n and c, or depends on the order of attempts.

    >>> from passk_cli.metrics.registry import parse_metric
    >>> from passk_cli.outcomes.attempts import AttemptValuesByCell
    >>> better = AttemptValuesByCell.from_rows([0, 1], [0.9, 0.8], [3, 3], [0, 0], cells=2)
    >>> worse = AttemptValuesByCell.from_rows([0, 1], [0.2, 0.1], [3, 3], [0, 0], cells=2)
    >>> round(permutation_test_of_attempt_values(parse_metric("best@2"), better, worse).p, 12)
    0.005
    """
    if not metric.definition.required_attempt_data or not metric.definition.exchangeable:
        raise ValueError(
            f"{metric.name} cannot be tested by permuting attempts, because it depends on the"
            " order of attempts, or only on counts of passes"
        )
    observed = float(
        (metric.values_from_attempts(first) - metric.values_from_attempts(second)).sum()
    )
    return _permutation_test_of_sum(
        possible_differences_from_attempts(metric, first, second, seed), observed, resamples, seed
    )


def _permutation_test_of_sum(
    deals: PossibleDifferences, observed: float, resamples: int, seed: int
) -> PermutationResult:
    distribution = _SumDistribution(deals.strata)
    observed -= deals.sum_of_constant_differences
    smallest = distribution.smallest_possible_p
    tails = distribution.exact_tails(observed)
    if tails is not None:
        p = min(1.0, 2 * min(tails))
        return PermutationResult(max(p, smallest), smallest, exact=deals.all_enumerated)
    reached = _count_permutations_on_each_side(deals.strata, observed, resamples, seed)
    p = min(1.0, 2 * (min(reached) + 1) / (resamples + 1))
    bound = 2 * math.exp(min(distribution.tilt_log_bound_and_chances(observed)[1], 0.0))
    p = bound if bound < 1 / (resamples + 1) else p
    return PermutationResult(p, min(p, smallest), exact=False)


class _SumDistribution:
    def __init__(self, strata: list[DifferenceStratum]) -> None:
        self.strata = strata
        self._values: Floats = np.concatenate(
            [np.empty(0), *(stratum.possible_differences for stratum in strata)]
        )
        chances = np.concatenate([np.empty(0), *(each.chances for each in strata)])
        self._logs: Floats = np.log(chances)
        self._sizes = np.array([len(each.possible_differences) for each in strata], dtype=np.int64)
        self._counts = np.array([each.task_count for each in strata], dtype=np.int64)
        self._ends = np.cumsum(self._sizes)
        self._starts = self._ends - self._sizes

    @property
    def smallest_possible_p(self) -> float:
        """The smallest p-value of any outcomes, which occurs if all differences are extreme."""
        ends = []
        for sign in (1.0, -1.0):
            log = 0.0
            for stratum in self.strata:
                values = sign * stratum.possible_differences
                chance = stratum.chances[values >= values.max() - DIFFERENCE_TOLERANCE].sum()
                log += stratum.task_count * math.log(chance)
            ends.append(math.exp(log))
        return min(1.0, 2 * min(ends))

    def exact_tails(self, observed: float) -> tuple[float, float] | None:
        """The exact P(S* ≤ S) and P(S* ≥ S) by FFT, or None if the computation takes too long."""
        if not self.strata:
            return 1.0, 1.0
        values = np.unique(np.round(np.append(self._values, 0.0), 13))
        denominator = common_denominator(values, _MAX_DENOMINATOR, 1e-12)
        if denominator is None:
            return None
        step = 1 / denominator
        places = np.rint(self._values / step).astype(np.int64)
        low = np.minimum.reduceat(places, self._starts)
        spans = np.maximum.reduceat(places, self._starts) - low
        cells = 1 + int(self._counts @ spans)
        if cells > _EXACT_CELLS or cells * len(self.strata) > _EXACT_STEPS:
            return None
        theta, height, chances = self.tilt_log_bound_and_chances(observed)
        size = 1 << (cells - 1).bit_length()
        spectrum = np.ones(size // 2 + 1, dtype=complex)
        for i, (start, end) in enumerate(zip(self._starts, self._ends, strict=True)):
            mass = np.bincount(places[start:end] - low[i], chances[start:end])
            spectrum *= np.fft.rfft(mass, size) ** self._counts[i]
        probabilities = np.maximum(np.fft.irfft(spectrum, size)[:cells], 0.0)
        at = round(observed / step) - int(self._counts @ low)
        away: Floats = (np.arange(cells) - at) * np.float64(step)
        side, beyond = (slice(at, None), slice(at + 1, None)) if theta >= 0 else (
            slice(None, at + 1), slice(None, at)
        )  # fmt: skip
        scale = math.exp(height)
        tail = scale * float(probabilities[side] @ np.exp(-theta * away[side]))
        other_tail = 1.0 - scale * float(probabilities[beyond] @ np.exp(-theta * away[beyond]))
        return (other_tail, tail) if theta >= 0 else (tail, other_tail)

    def tilt_log_bound_and_chances(self, observed: float) -> tuple[float, float, Floats]:
        """The tilt θ at which the sum has the mean S, K(θ) − θS, and the tilted probabilities.

        K is the cumulant generating function of the sum.
        """
        reach = 30.0 / float(np.abs(self._values).max())
        low, high, theta = -reach, reach, 0.0
        for _ in range(60):
            mean, variance, _, _ = self._tilted_moments(theta)
            low, high = (theta, high) if mean < observed else (low, theta)
            step = theta + (observed - mean) / variance if variance > 0 else math.nan
            theta, before = (step if low < step < high else (low + high) / 2), theta
            if abs(theta - before) <= 1e-6 * reach:
                break
        _, _, cumulant, chances = self._tilted_moments(theta)
        return theta, cumulant - theta * observed, chances

    def _tilted_moments(self, theta: float) -> tuple[float, float, float, Floats]:
        exponents = theta * self._values + self._logs
        tops = np.maximum.reduceat(exponents, self._starts)
        weights = np.exp(exponents - np.repeat(tops, self._sizes))
        totals = np.add.reduceat(weights, self._starts)
        chances = weights / np.repeat(totals, self._sizes)
        means = np.add.reduceat(chances * self._values, self._starts)
        away = self._values - np.repeat(means, self._sizes)
        variances = np.add.reduceat(chances * away**2, self._starts)
        cumulant = float(self._counts @ (tops + np.log(totals)))
        return float(self._counts @ means), float(self._counts @ variances), cumulant, chances


def _count_permutations_on_each_side(
    strata: list[DifferenceStratum], observed: float, resamples: int, seed: int
) -> tuple[int, int]:
    slack = DIFFERENCE_TOLERANCE * sum(
        s.task_count * float(np.abs(s.possible_differences).max()) for s in strata
    )
    rows = max(1, min(_BLOCK_CELLS // max(s.task_count for s in strata), resamples))
    below = above = 0
    for block in range(-(-resamples // rows)):
        rng = named_generator(seed, "permutations within tasks", block)
        size = min(rows, resamples - block * rows)
        sums = np.zeros(size)
        for stratum in strata:
            ends = np.cumsum(stratum.chances)[:-1]
            deal = np.searchsorted(
                ends, rng.random((rows, stratum.task_count))[:size], side="right"
            )
            sums += stratum.possible_differences[deal].sum(axis=1)
        below += int((sums <= observed + slack).sum())
        above += int((sums >= observed - slack).sum())
    return below, above
