"""Posterior of success rates in a model with a Beta distribution and point masses at 0 and 1.

The success rate p_t of task t is 0 with probability ν, 1 with probability ω, and otherwise has the
distribution Beta(s·m, s·(1−m)). The number of passes is c_t ~ Binomial(n_t, p_t). The posterior of
(m, s, ν, ω) is computed on a grid that is finer near the maximum. Given the four parameters m, s, ν
and ω, the rates of the tasks are independent, and the moments of the rates have closed forms. The
posterior needs no random draws and no seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.metrics.pass_k import unique_pairs
from passk_cli.metrics.polynomials import SuccessRatePolynomial

# The first grid has separate points for logit m and for log s. The grid points of ν and ω are the
# same.
_LOGIT_MEAN_GRID = np.linspace(-8.0, 8.0, 17)
_LOG_SIZE_GRID = np.linspace(np.log(0.05), np.log(3000.0), 10)
_POINT_MASS_GRID = np.linspace(0.0, 0.8, 5)
_REFINED_GRID_POINTS = (9, 9, 5, 5)
_GRID_ROUNDS = 3
_REFINED_RANGE_WEIGHT_RATIO = 2e-3
_KEPT_WEIGHT_RATIO = 1e-3
# _PRIOR_CENTRE_OF_SIZE is the centre of the logistic prior of log s. Under the logistic prior of
# log s, widely spread rates and nearly equal rates are both plausible. A flat prior would cut off
# the tail of the posterior if rates are near 1.
_PRIOR_CENTRE_OF_SIZE = 5.0
# _PRIOR_CHANCE_OF_NO_POINT_MASS is the prior probability that the model has no point mass at 0. The
# prior probability of no point mass at 1 is the same.
_PRIOR_CHANCE_OF_NO_POINT_MASS = 0.5


@dataclass(frozen=True, eq=False)
class CountHistogram:
    """The distinct pairs (n, c) of attempts and passes, and the number of tasks with each pair."""

    n: Ints
    c: Ints
    task_counts: Floats

    @cached_property
    def key(self) -> tuple[bytes, ...]:
        """The bytes of the arrays, so that equal histograms have equal keys."""
        return self.n.tobytes(), self.c.tobytes(), self.task_counts.tobytes()

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, value: object) -> bool:
        return isinstance(value, CountHistogram) and self.key == value.key

    @property
    def task_count(self) -> float:
        """Number of tasks."""
        return float(self.task_counts.sum())


def count_histogram(n: Ints, c: Ints) -> CountHistogram:
    """Count how many tasks have each distinct pair (n, c) of attempts and passes.

    >>> count_histogram(np.array([2, 2, 3]), np.array([1, 1, 0])).task_counts.tolist()
    [2.0, 1.0]
    """
    un, uc, index = unique_pairs(n, c)
    times = np.bincount(index, minlength=len(un))
    return CountHistogram(un[times > 0], uc[times > 0], times[times > 0].astype(np.float64))


@dataclass(frozen=True)
class RatePosterior:
    """The posterior of the success rates of tasks, as grid points with weights.

    a, b : parameters of each Beta distribution.
    beta_index_by_grid_point : index of the Beta distribution of each grid point.
    never_share_by_grid_point, always_share_by_grid_point : probabilities of the rates 0 and 1 (ν
        and ω) at each grid point.
    posterior_weights : posterior probability of each grid point.
    """

    histogram: CountHistogram
    a: Floats
    b: Floats
    beta_index_by_grid_point: Ints
    never_share_by_grid_point: Floats
    always_share_by_grid_point: Floats
    posterior_weights: Floats

    def polynomial_mean_and_variance(self, value: SuccessRatePolynomial) -> tuple[Floats, Floats]:
        """The mean and the variance of the average of a polynomial over tasks, at each grid
        point."""
        first, second = self.expectation_sums([value, value.square])
        tasks = self.histogram.task_count
        return first[0] / tasks, np.maximum(first[1] - second[0], 0.0) / tasks**2

    def expectation_sums(self, values: Sequence[SuccessRatePolynomial]) -> tuple[Floats, Floats]:
        """The sum over tasks of the expectation of each polynomial, and the sum of the squared
        expectation.

        Both arrays have the shape (polynomials × grid points).
        """
        t = self.histogram
        a, b = self.a[:, None] + t.c, self.b[:, None] + (t.n - t.c)
        sums, squares = np.empty((2, len(values), len(self.posterior_weights)))
        inside = (t.c > 0) & (t.c < t.n)
        lumps = [self._point_mass_share_and_rate(at) for at in np.flatnonzero(~inside).tolist()]
        for i, value in enumerate(values):
            expectations = value.beta_expectation(a, b)
            sums[i] = (expectations[:, inside] @ t.task_counts[inside])[
                self.beta_index_by_grid_point
            ]
            squares[i] = (expectations[:, inside] ** 2 @ t.task_counts[inside])[
                self.beta_index_by_grid_point
            ]
            for at, share, rate in lumps:
                mixed = (
                    share * float(value.value_at(rate))
                    + (1.0 - share) * expectations[self.beta_index_by_grid_point, at]
                )
                sums[i] += t.task_counts[at] * mixed
                squares[i] += t.task_counts[at] * mixed**2
        return sums, squares

    def _point_mass_share_and_rate(self, at: int) -> tuple[int, Floats, float]:
        t = self.histogram
        passing = bool(t.c[at])
        lump = self.always_share_by_grid_point if passing else self.never_share_by_grid_point
        logs = _log_likelihoods(self.a, self.b, t.n[at : at + 1], t.c[at : at + 1])[
            self.beta_index_by_grid_point, 0
        ]
        smooth = (1.0 - self.never_share_by_grid_point - self.always_share_by_grid_point) * np.exp(
            logs
        )
        return at, lump / (lump + smooth), float(passing)


@lru_cache(maxsize=64)
def rate_posterior(tasks: CountHistogram) -> RatePosterior:
    """The posterior of the success rates of the given tasks, from a cache if possible.

    >>> posterior = rate_posterior(count_histogram(np.full(40, 10), np.full(40, 3)))
    >>> from passk_cli.metrics.polynomials import pass_hat_k_polynomial
    >>> mean, _ = posterior.polynomial_mean_and_variance(pass_hat_k_polynomial(1))
    >>> round(float(posterior.posterior_weights @ mean), 2)
    0.3
    """
    axes = [_LOGIT_MEAN_GRID, _LOG_SIZE_GRID, _POINT_MASS_GRID, _POINT_MASS_GRID]
    for grid in range(_GRID_ROUNDS):
        a, b, weights = _grid_posterior_weights(tasks, axes)
        if grid == _GRID_ROUNDS - 1:
            break
        closer = []
        for axis, (values, points) in enumerate(zip(axes, _REFINED_GRID_POINTS, strict=True)):
            weight = weights.sum(
                axis=tuple(summed_axis for summed_axis in range(4) if summed_axis != axis)
            )
            places = np.flatnonzero(weight > _REFINED_RANGE_WEIGHT_RATIO * weight.max())
            first, end = max(places[0] - 1, 0), min(places[-1] + 1, len(values) - 1)
            closer.append(np.linspace(values[first], values[end], points))
        axes = closer
    weights = weights.reshape(len(a), len(axes[2]), len(axes[3]))
    cell, never, always = np.nonzero(weights > _KEPT_WEIGHT_RATIO * weights.max())
    weight = weights[cell, never, always]
    return RatePosterior(tasks, a, b, cell, axes[2][never], axes[3][always], weight / weight.sum())


def draw_rates(n: Ints, c: Ints, draws: int, generator: np.random.Generator) -> Floats:
    """Draw success rates of tasks from the posterior, as an array (draws × tasks).

    For each draw, the function first chooses a grid point with a probability equal to the weight of
    the point. Then it chooses a rate for each task: 0, 1 or a draw from Beta(a + c, b + n − c).

    n, c : numbers of attempts and passes per task, with n ≥ 1.
    Edge case: If every task has one attempt, the spread of the rates comes only from the prior.

    >>> rates = draw_rates(np.full(40, 10), np.full(40, 3), 200, np.random.default_rng(0))
    >>> rates.shape, round(float(rates.mean()), 1)
    ((200, 40), 0.3)
    """
    posterior = rate_posterior(count_histogram(n, c))
    point = generator.choice(len(posterior.posterior_weights), draws, p=posterior.posterior_weights)
    a, b = (
        posterior.a[posterior.beta_index_by_grid_point[point]],
        posterior.b[posterior.beta_index_by_grid_point[point]],
    )
    rates = generator.beta(a[:, None] + c, b[:, None] + (n - c))
    place = generator.random(rates.shape)
    tasks = posterior.histogram
    for at in np.flatnonzero((tasks.c == 0) | (tasks.c == tasks.n)).tolist():
        _, share, rate = posterior._point_mass_share_and_rate(at)
        same = np.flatnonzero((n == tasks.n[at]) & (c == tasks.c[at]))
        rates[:, same] = np.where(place[:, same] < share[point][:, None], rate, rates[:, same])
    return rates


def _grid_posterior_weights(
    tasks: CountHistogram, axes: Sequence[Floats]
) -> tuple[Floats, Floats, Floats]:
    from passk_cli.scipy_special import expit

    means, sizes, never, always = axes
    s = np.exp(sizes)
    a, b = (expit(sign * means)[:, None] * s for sign in (1, -1))
    a, b = a.ravel(), b.ravel()
    logs = _log_likelihoods(a, b, tasks.n, tasks.c)
    smooth = np.maximum(1.0 - never[:, None] - always, 0.0)
    zero, full = tasks.c == 0, tasks.c == tasks.n
    inside = ~(zero | full)
    with np.errstate(divide="ignore"):
        many = tasks.task_counts[inside].sum()
        total = (logs[:, inside] @ tasks.task_counts[inside])[:, None, None]
        if many:
            total = total + many * np.log(smooth)
        for at in np.flatnonzero(~inside):
            lump = never[:, None] if zero[at] else always
            chance = smooth * np.exp(logs[:, at])[:, None, None] + lump
            total = total + tasks.task_counts[at] * np.log(chance)
    total = total.reshape(len(means), len(sizes), len(never), len(always)) + _log_prior(axes)
    weights = np.exp(total - total.max())
    return a, b, weights / weights.sum()


def _log_likelihoods(a: Floats, b: Floats, n: Ints, c: Ints) -> Floats:
    """The log probability of the outcomes of each pair (n, c) in each grid cell, if p ~ Beta(a,
    b)."""
    from passk_cli.scipy_special import betaln

    logs: Floats = betaln(a[:, None] + c, b[:, None] + (n - c)) - betaln(a, b)[:, None]
    return logs


def _log_prior(axes: Sequence[Floats]) -> Floats:
    """The log prior of the parameters. The prior of m is Beta(½, ½), and the prior of log s is
    logistic. Each of ν and ω is 0 or uniform, with ν + ω ≤ 1."""
    means, sizes, *lumps = axes
    distance = np.abs(sizes - np.log(_PRIOR_CENTRE_OF_SIZE))
    shares = []
    for lump in lumps:
        log = np.full(
            len(lump), np.log((1.0 - _PRIOR_CHANCE_OF_NO_POINT_MASS) * (lump[1] - lump[0]))
        )
        if lump[0] == 0.0:
            log[0] = np.log(_PRIOR_CHANCE_OF_NO_POINT_MASS)
        shares.append(log)
    return np.asarray(
        (-np.abs(means) / 2 - np.log1p(np.exp(-np.abs(means))))[:, None, None, None]
        + (-distance - 2 * np.log1p(np.exp(-distance)))[:, None, None]
        + shares[0][:, None]
        + shares[1]
        + np.where(lumps[0][:, None] + lumps[1] > 1.0 + 1e-12, -np.inf, 0.0)
    )
