"""Every interval method behind one function and one registry."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.errors import ParameterError
from passk_cli.inference.exact import (
    NORMAL,
    BootstrapLaw,
    dirichlet_cdf,
    dirichlet_quantiles,
    distinct_of_rows,
)
from passk_cli.inference.hull import Passes
from passk_cli.inference.populations import NEW_TASKS, THESE_TASKS
from passk_cli.inference.roots import crossing
from passk_cli.inference.rounding import ROUNDING, constant
from passk_cli.inference.weights import bootstrap_means, cluster_totals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.inference.difference import DifferenceLaw

    Floats = NDArray[np.float64]

# The narrowest method that holds everywhere on the grids of benchmarks/coverage.md; differences
# have a law that their test shares (benchmarks/difference.md).
DEFAULT = {NEW_TASKS: "guard", THESE_TASKS: "hull"}
GUARDED_T = "guarded-t"
DEFAULT_OF_DIFFERENCES = {NEW_TASKS: GUARDED_T, THESE_TASKS: "hull"}
# The method of differences of −1, 0 and 1.
TANGO = "tango"
# Values of samples whose intervals are computed together.
_VALUES_TOGETHER = 1 << 21
# Between these p of equivalence is looked for.
_SMALLEST, _LARGEST = 1e-8, 0.499


@dataclass(frozen=True)
class Sample:
    """Data of an interval: the values of one metric over tasks.

    values : (tasks,) finite.  low, high : bounds no value can pass; infinite where none are known.
    attempts : attempts per task, where the values are of pass/fail outcomes; else None.
    within : (tasks,) variance of each value over repeated attempts, for "these tasks"; else None.
    clusters : a code 0 … G−1 per task, or None.
    draws : means under repeated attempts, for "these tasks" with `percentile`; else None.
    mixed : number of tasks whose attempts differ among themselves, for "these tasks".
    passes : what values of counts were computed from, for "these tasks": one, or two whose
        difference they are; none where they are of more than counts.
    floor : of differences: the least variance of the mean that is believed; between : their lowest
        and highest values where outcomes are missing (both as `difference_law` takes them).
    resamples, seed : for the methods that need draws.
    """

    values: NDArray[np.float64]
    low: float = 0.0
    high: float = 1.0
    attempts: NDArray[np.int64] | None = None
    within: NDArray[np.float64] | None = None
    clusters: NDArray[np.int64] | None = None
    draws: NDArray[np.float64] | None = None
    mixed: int = 0
    passes: tuple[Passes, ...] = ()
    floor: float = 0.0
    between: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    resamples: int = 10_000
    seed: int = 0

    @cached_property
    def mean(self) -> float:
        """The estimate: every task counts once."""
        return float(self.values.mean())

    @cached_property
    def totals(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sum of the values and number of tasks of each cluster (of each task without clusters)."""
        totals, sizes = cluster_totals(self.values[:, None], self.clusters)
        return totals[:, 0], sizes

    @cached_property
    def atoms(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Distinct (total, size) of the clusters, and how many there are of each."""
        totals, sizes = self.totals
        if np.all(sizes == sizes[0]):
            distinct, counts = np.unique(totals, return_counts=True)
            return distinct, np.full(len(distinct), sizes[0]), counts.astype(np.float64)
        return totals, sizes, np.ones(len(totals))

    @property
    def guard_size(self) -> float:
        """Size of a guard atom, in tasks: Σ m² / Σ m, the cluster that an average task is in.

        1 without clusters, m where all clusters have m tasks.  Few large clusters decide how far a
        mean may be off, and the atom stands for one of them: with the average cluster's size
        intervals over lognormal and Pareto sizes cover 88 to 95 %, and nothing between the two
        held 94.5 % everywhere (benchmarks/coverage.md).
        """
        sizes = self.totals[1]
        return float(sizes @ sizes / sizes.sum())

    @property
    def units(self) -> int:
        """Clusters, or tasks without clusters: what is drawn."""
        return len(self.totals[1])

    @cached_property
    def se(self) -> float | None:
        """Standard error over new tasks (clustered where there are clusters); None for one unit.

        √(G/(G−1) Σ_g (S_g − m_g x̄)²) / T; without clusters s/√T.  Source: Miller 2024, eq. 4.
        """
        totals, sizes = self.totals
        if self.units < 2:
            return None
        spread = float(((totals - sizes * self.mean) ** 2).sum())
        return math.sqrt(self.units / (self.units - 1) * spread) / len(self.values)

    @cached_property
    def law(self) -> BootstrapLaw | NDArray[np.float64]:
        """The bootstrap law of the mean: exact for tasks, sorted draws for clusters."""
        if self.clusters is None:
            return BootstrapLaw(self.values)
        column = self.values[:, None]
        means = bootstrap_means(column, self.resamples, self.seed, clusters=self.clusters)
        return np.sort(means[:, 0])


@dataclass(frozen=True)
class Interval:
    """Limits with what they are: level, method, population; None limits carry the reason."""

    low: float | None
    high: float | None
    level: float
    method: str
    population: str
    reason: str = ""

    def hull(self, other: Interval) -> Interval:
        """The smallest interval that holds both, of one level, method and population.

        >>> one, other = (Interval(*limits, 0.95, "t", "new-tasks") for limits in ((0, 2), (1, 3)))
        >>> hull = one.hull(other)
        >>> hull.low, hull.high
        (0, 3)
        """
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return replace(self, low=low, high=high, reason=self.reason or other.reason)


Limits = tuple[float, float]

BOUNDS_REMEDY = (
    "the lowest and highest possible score (--bounds LOW,HIGH); give them if you can: with 30 tasks"
    " or fewer bca covers 18 to 92 % where 95 % is asked for"
)


def interval(
    sample: Sample, method: str | None = None, level: float = 0.95, population: str = NEW_TASKS
) -> Interval:
    """The interval of a mean over tasks.

    method : a name in METHODS; the population's default when None.
    level : coverage wanted, in (0, 1).
    population : "new-tasks" (the tasks are a sample of those it is about) or "these-tasks" (the
        tasks are what it is about; only the attempts could have gone otherwise).
    Edge cases: a method that cannot answer returns None limits and the reason, as for "these tasks"
    where it sees no spread though attempts at one task differ; where scores have no known bounds,
    methods that lean on bounds give way to BCa and say so; `hull` gives way to the jackknife, which
    the result names, for values of more than counts.
    Errors: ParameterError for a method that does not exist or answers the other question.

    >>> limits = interval(Sample(np.array([0.0, 0.5, 1.0, 1.0])), "guard")
    >>> round(limits.low, 3), round(limits.high, 3)
    (0.18, 0.946)
    """
    return intervals([sample], method, level, population)[0]


def intervals(
    samples: Sequence[Sample],
    method: str | None = None,
    level: float = 0.95,
    population: str = NEW_TASKS,
) -> list[Interval]:
    """`interval` of each sample; methods that can make many do so in one pass.

    The samples beside it change a limit by rounding alone, 1e-12.

    >>> samples = [Sample(np.array([0.0, 0.5, -1.0]), low=-1.0), Sample(np.ones(3), low=-1.0)]
    >>> [round(each.low, 3) for each in intervals(samples, "jeffreys")]
    [-0.783, -0.279]
    """
    name = check(method, level, population)
    places: dict[str, list[int]] = {}
    for at, sample in enumerate(samples):
        places.setdefault(METHODS[name].suited(name, sample), []).append(at)
    answers: dict[int, Interval] = {}
    for used, together in places.items():
        limits = METHODS[used].limits([samples[at] for at in together], (1.0 - level) / 2.0)
        for at, each in zip(together, limits, strict=True):
            if not isinstance(each, _Undefined):
                each = _seen(samples[at], population, used, each)
            if isinstance(each, _Undefined):
                answers[at] = Interval(None, None, level, used, population, str(each))
                continue
            instead = METHODS[name].bounded and used != name
            reasons = (
                f"{used}, since {name} needs {BOUNDS_REMEDY}" if instead else "",
                _degenerate(samples[at], population, used),
            )
            reason = "; ".join(filter(None, reasons))
            answers[at] = Interval(*each, level, used, population, reason)
    return [answers[at] for at in range(len(samples))]


def equivalences(
    samples: Sequence[Sample], margin: float, method: str, population: str = NEW_TASKS
) -> list[float]:
    """The p of two one-sided tests that each mean difference does not lie within ±margin.

    It is the smallest α whose interval of level 1 − 2α lies within ±margin, to 1e-6 of itself and
    no smaller than 1e-8 where a method has no law of its own; 1 where no interval does, NaN where
    there is none.

    margin : > 0.
    Source: Schuirmann 1987, "A comparison of the two one-sided tests procedure".

    >>> samples = [Sample(np.array([0.1, -0.1, 0.0, 0.05, -0.1, 0.1]), low=-1.0)]
    >>> [round(p, 4) for p in equivalences(samples, 0.2, GUARDED_T)]
    [0.0028]
    """
    if method == GUARDED_T:
        answers = np.empty(len(samples))
        for places, law in difference_laws(samples):
            answers[places] = law.equivalence(margin)
        return answers.tolist()
    if method != TANGO:
        return [_equivalence(sample, margin, method, population) for sample in samples]
    from passk_cli.inference.discordance import tango_equivalence

    limits = intervals(samples, method, population=population)
    return [
        math.nan if each.low is None
        else tango_equivalence(len(d), int((d > 0).sum()), int((d < 0).sum()), margin)
        for each, d in zip(limits, (sample.values for sample in samples), strict=True)
    ]  # fmt: skip


def _equivalence(sample: Sample, margin: float, method: str, population: str) -> float:
    """By the limits at many levels; see `equivalences`."""

    def room(log: float) -> float:
        limits = interval(sample, method, 1.0 - 2 * math.exp(log), population)
        if limits.low is None or limits.high is None:
            return math.nan
        return min(limits.low + margin, margin - limits.high)

    low, high = math.log(_SMALLEST), math.log(_LARGEST)
    least, most = room(low), room(high)
    if math.isnan(least) or math.isnan(most):
        return math.nan
    if most <= 0:
        return 1.0
    return _SMALLEST if least >= 0 else math.exp(crossing(room, low, high, 1e-6))


def check(method: str | None, level: float, population: str) -> str:
    """The method's name; ParameterError when it, the level or the population makes no sense."""
    if population not in DEFAULT:
        raise ParameterError(f"population {population!r}; choose one of {', '.join(DEFAULT)}")
    if not 0.0 < level < 1.0:
        raise ParameterError(f"level {level:g} must lie between 0 and 1, as 0.95 does")
    name = method or DEFAULT[population]
    if name not in METHODS:
        raise ParameterError(f"no interval {name!r}; there are {', '.join(METHODS)}")
    if population not in METHODS[name].populations:
        fitting = [m for m, method in METHODS.items() if population in method.populations]
        raise ParameterError(
            f"{name} is not for {population}; use one of {', '.join(fitting)}",
            name="invalid-method",
        )
    return name


class _Undefined(Exception):
    """A method's formula has no value for this sample."""


def _seen(sample: Sample, population: str, method: str, limits: Limits) -> Limits | _Undefined:
    """The limits, or why they do not show how attempts at these tasks vary."""
    if population != THESE_TASKS:
        return limits
    if METHODS[method].resampled and sample.draws is None:
        return _Undefined(f"{method} for these tasks needs draws of new attempts; use hull")
    if limits[1] - limits[0] > ROUNDING or not sample.mixed:
        return limits
    tasks = f"{sample.mixed} task{'s' * (sample.mixed > 1)}"
    return _Undefined(
        f"the attempts differ at {tasks}, but too few to change the metric:"
        " no spread is seen, which is not certainty; more attempts per task give an interval"
    )


# A guard atom weighs half an observation where values vary smoothly, and up to this where they are
# lumps, such as 0 and 1: the smallest weight at which the exact coverage of 0/1 values is at least
# 89, 94.5 and 98.9 % at levels of 90, 95 and 99 %, for every number of tasks from 2 to 500 and
# every success rate (benchmarks/coverage.md).  1 would be Clopper-Pearson's interval.
_HEAVIEST = 0.93
_SMOOTHING = 8.0


def guard_weight(sample: Sample, bound: float) -> float:
    """Dirichlet weight of the guard atom at a bound: ½, or up to 0.93 where values are lumps.

    ½ + 0.43 exp(−8 ρ).  ρ says how far the values are from being two lumps, one at the bound and
    one at v: the sum of squared distances to the nearer lump, in units of the distance between
    the two, ρ = Σ min(y, |v − y|)² / v² for y = |x − bound| and v = Σ y² / Σ y.  0 where all values
    are 0 or 1, or all are equal.  Two lumps make a lattice of sums, whose steps the law of the
    sample does not know; a spread of ρ = ¼ hides the steps.  (With clusters y is the sum over a
    cluster of m tasks, v is m times the same, and the unit is a cluster of average size.)

    bound : sample.low or sample.high, finite.  Returns a float in [0.5, 0.93].
    Source: benchmarks/coverage.md.

    >>> guard_weight(Sample(np.array([0.0, 1.0, 1.0])), bound=0.0)
    0.93
    >>> round(guard_weight(Sample(np.array([0.0, 0.25, 0.5, 1.0])), bound=0.0), 2)
    0.53
    """
    return GUARD.weight(sample, bound)


def lump_weights(away: Floats, sizes: Floats, counts: Floats) -> Floats:
    """The weights of `guard_weight` of many samples from what they depend on.

    away : (… × units) distance of each unit's total from the bound times its size, ≥ 0; as
        `distances` has it.  Only its ratios matter, however small it is.
    sizes, counts : (… × units) tasks in a unit > 0, and how many units are like it, ≥ 0.
    Returns (…) floats.

    >>> lump_weights(np.array([0.0, 1.0]), np.ones(2), np.array([1.0, 2.0])).tolist()
    0.93
    """
    # The square of a distance of 1e-200 is 0: the largest distance is the unit.
    largest = np.where(counts > 0.0, away, 0.0).max(axis=-1)
    none = largest == 0.0
    away = away / np.where(none, 1.0, largest)[..., None]
    total = (counts * sizes * away).sum(axis=-1)
    lump = sizes * ((counts * away * away).sum(axis=-1) / np.where(none, 1.0, total))[..., None]
    nearer = np.minimum(away, np.abs(lump - away))
    unit = (counts * lump).sum(axis=-1) / counts.sum(axis=-1)
    spread = (counts * nearer * nearer).sum(axis=-1) / np.where(none, 1.0, unit**2)
    return np.where(none, _HEAVIEST, 0.5 + (_HEAVIEST - 0.5) * np.exp(-_SMOOTHING * spread))


def distances(totals: Floats, sizes: Floats, near: Floats | float, far: Floats | float) -> Floats:
    """Distance of each total from the bound `near` times its size; 0 where it is rounding.

    Rounding differs from processor to processor, and the weight of a guard atom depends on ratios
    of distances: those of values that lie on the bound would be noise.

    totals, sizes : (… × units).  near, far : the two bounds, finite.

    >>> distances(np.array([1.0 - 1e-16, 0.5]), np.ones(2), near=1.0, far=0.0).tolist()
    [0.0, 0.5]
    """
    away = np.abs(totals - sizes * near)
    return np.where(away > ROUNDING * sizes * np.abs(far - near), away, 0.0)


@dataclass(frozen=True)
class Guards:
    """The Dirichlet laws behind two limits: an atom per task (or cluster), and guard atoms.

    near : the atoms' `away`, sizes and counts, as `lump_weights` takes them → weights of the atom
        at the bound that a limit looks towards.
    far : of the one at the other bound; 0 for none.
    """

    near: Callable[[Floats, Floats, Floats], Floats]
    far: float = 0.0

    def weight(self, sample: Sample, bound: float) -> float:
        """Of the atom at a bound, for the limit that looks towards it."""
        totals, sizes = sample.totals
        far = sample.high if bound == sample.low else sample.low
        away = distances(totals, sizes, bound, far)
        return float(self.near(away, sizes, np.ones_like(sizes)))

    def limits(self, samples: Sequence[Sample], tail: float) -> list[Limits]:
        """Of each sample the quantile `tail` of the law guarded below, and 1 − `tail` of the one
        guarded above; laws are inverted together."""
        shapes: dict[tuple[bool, int], list[int]] = {}
        for at, sample in enumerate(samples):
            shapes.setdefault((sample.clusters is None, sample.units), []).append(at)
        answers: dict[int, Limits] = {}
        for (_, units), places in shapes.items():
            together = max(1, _VALUES_TOGETHER // units)
            for first in range(0, len(places), together):
                part = places[first : first + together]
                limits = self._limits_of_rows([samples[at] for at in part], tail)
                answers |= zip(part, limits, strict=True)
        return [answers[at] for at in range(len(samples))]

    def _limits_of_rows(self, samples: Sequence[Sample], tail: float) -> list[Limits]:
        """Limits of samples of as many tasks, or of as many clusters."""
        if samples[0].clusters is None:
            atoms, counts = distinct_of_rows(np.stack([sample.values for sample in samples]))
            sizes = np.ones_like(atoms)
        else:
            atoms, sizes = map(np.stack, zip(*(s.totals for s in samples), strict=True))
            counts = np.ones_like(atoms)
        size = np.array([[sample.guard_size] for sample in samples])
        low, high = (np.array([[getattr(s, end)] for s in samples]) for end in ("low", "high"))
        limits = []
        for near, far, p in ((low, high, tail), (high, low, 1.0 - tail)):
            weights = self.near(distances(atoms, sizes, near, far), sizes, counts)[:, None]
            guards = [(near, weights), *[(far, np.full_like(far, self.far))] * bool(self.far)]
            a = np.concatenate([*(size * bound for bound, _ in guards), atoms], axis=1)
            alpha = np.concatenate([*(weight for _, weight in guards), counts], axis=1)
            b = np.concatenate([*[size] * len(guards), sizes], axis=1)
            limits.append(dirichlet_quantiles(a, alpha, p, b).tolist())
        # A limit whose values all lie on its bound is the bound.
        return [
            (s.low if _at(s, s.low) else lower, s.high if _at(s, s.high) else upper)
            for s, lower, upper in zip(samples, *limits, strict=True)
        ]

    def p(self, sample: Sample, mean: float) -> float:
        """Twice the smaller tail beyond a mean: ≤ α where the interval at 1 − α leaves it out."""
        return min(1.0, 2 * min(self.tails(sample, mean)))

    def tails(self, sample: Sample, mean: float) -> tuple[float, float]:
        """(P(≤ mean) by the law guarded below, P(≥ mean) by the law guarded above).

        The lower limit lies above the mean where the first is less than its tail, the upper limit
        below it where the second is.
        """
        totals, weights, sizes = self._atoms(sample, sample.low, sample.high)
        below = dirichlet_cdf(totals, weights, mean, sizes)
        # The other tail by its mirror image, which keeps all digits of a small one.
        totals, weights, sizes = self._atoms(sample, sample.high, sample.low)
        above = dirichlet_cdf(-totals, weights, -mean, sizes)
        return below, above

    def _atoms(
        self, sample: Sample, near: float, far: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """(totals, weights, sizes) of the law of the limit that looks towards the near bound."""
        totals, sizes, counts = sample.atoms
        size = sample.guard_size
        guards = {near: self.weight(sample, near)} | ({far: self.far} if self.far else {})
        return (
            np.append(totals, [size * bound for bound in guards]),
            np.append(counts, list(guards.values())),
            np.append(sizes, [size] * len(guards)),
        )


GUARD, GAFFKE = Guards(lump_weights), Guards(lambda away, sizes, counts: np.ones(away.shape[:-1]))
JEFFREYS = Guards(lump_weights, far=0.5)


def _at(sample: Sample, bound: float) -> bool:
    """Whether all values lie on a bound but for rounding."""
    width = sample.high - sample.low
    near = ROUNDING * width if math.isfinite(width) else 0.0
    return bool(np.abs(sample.values - bound).max() <= near)


def _quantile(sample: Sample, p: float) -> float:
    law = sample.law
    if isinstance(law, BootstrapLaw):
        return law.quantile(p)
    return float(law[min(max(math.ceil(p * len(law)) - 1, 0), len(law) - 1)])


def _percentile(sample: Sample, tail: float) -> Limits:
    """Quantiles of the bootstrap law (of repeated attempts for "these tasks")."""
    if sample.draws is not None:
        low, high = np.quantile(sample.draws, [tail, 1 - tail])
        return float(low), float(high)
    return _quantile(sample, tail), _quantile(sample, 1 - tail)


def _basic(sample: Sample, tail: float) -> Limits:
    """The percentile limits mirrored at the estimate."""
    low, high = _percentile(sample, tail)
    return 2 * sample.mean - high, 2 * sample.mean - low


def _bca(sample: Sample, tail: float) -> Limits:
    """Bias-corrected and accelerated.  Source: Efron & Tibshirani 1993, chapter 14."""
    _standard_error(sample)  # Refuses a single task.
    law, mean = sample.law, sample.mean
    if isinstance(law, BootstrapLaw):
        below = (law.cdf(mean, strict=True) + law.cdf(mean)) / 2
    else:
        below = float((law < mean).mean() + (law <= mean).mean()) / 2
    if not 0.0 < below < 1.0:
        raise _Undefined("BCa has no value: all bootstrap means lie on one side of the estimate")
    bias, skew = NORMAL.inv_cdf(below), acceleration(sample)
    limits = []
    for z in (NORMAL.inv_cdf(tail), NORMAL.inv_cdf(1 - tail)):
        deviate = bias + (bias + z) / (1 - skew * (bias + z))
        limits.append(_quantile(sample, NORMAL.cdf(deviate)))
    return limits[0], limits[1]


def acceleration(sample: Sample) -> float:
    """BCa's acceleration from the jackknife over tasks (or clusters).

    Σ d³ / (6 (Σ d²)^1.5), d = mean of the leave-one-out estimates minus each of them.
    Without clusters d is proportional to x − x̄.  0 where all d are 0.
    """
    totals, sizes = sample.totals
    means = (totals.sum() - totals) / (sizes.sum() - sizes)
    d = means.mean() - means
    # In units of the largest: squares and cubes of small numbers are 0.
    largest = float(np.abs(d).max())
    if largest == 0.0:
        return 0.0
    d = d / largest
    square = float((d**2).sum())
    return float((d**3).sum() / (6 * square**1.5))


def _t(sample: Sample, tail: float) -> Limits:
    """Student's t with the (clustered) standard error; not held inside the bounds."""
    from scipy.special import stdtrit

    reach = float(stdtrit(sample.units - 1, 1 - tail)) * _standard_error(sample)
    return sample.mean - reach, sample.mean + reach


def _jackknife(sample: Sample, tail: float) -> Limits:
    """Normal limits with the jackknife variance over attempts, held inside the bounds."""
    if sample.within is None or np.isnan(sample.within).any():
        raise _Undefined(
            "no attempt can be left out: n = k on some task (it needs n > k), or order matters"
        )
    reach = NORMAL.inv_cdf(1 - tail) * math.sqrt(float(sample.within.sum())) / len(sample.values)
    return max(sample.mean - reach, sample.low), min(sample.mean + reach, sample.high)


def _hull(sample: Sample, tail: float) -> Limits:
    """Limits of a hierarchical posterior and of a pivot, whichever lie further out; see `Hull`.

    Of a difference by the variances that the limits of both imply, (limit − estimate)².
    Source: Zou & Donner 2008 for differences.
    """
    limits = [one.limits(tail) for one in sample.passes]
    if len(limits) == 1:
        return limits[0]
    (low, high), (other_low, other_high) = limits
    first, second = (one.mean for one in sample.passes)
    difference = first - second
    below = math.hypot(first - low, other_high - second)
    above = math.hypot(high - first, second - other_low)
    return max(difference - below, sample.low), min(difference + above, sample.high)


def _wilson(sample: Sample, tail: float) -> Limits:
    """Wilson's score interval of a proportion.  Source: Wilson 1927."""
    _require_one_attempt(sample)
    z, count, mean = NORMAL.inv_cdf(1 - tail), len(sample.values), sample.mean
    centre = (mean + z * z / (2 * count)) / (1 + z * z / count)
    inside = mean * (1 - mean) / count + z * z / (4 * count * count)
    reach = z * math.sqrt(inside) / (1 + z * z / count)
    return max(centre - reach, 0.0), min(centre + reach, 1.0)


def _clopper_pearson(sample: Sample, tail: float) -> Limits:
    """The exact binomial interval.  Source: Clopper & Pearson 1934."""
    _require_one_attempt(sample)
    from scipy.special import betaincinv

    count = len(sample.values)
    passes = round(float(sample.values.sum()))
    low = 0.0 if passes == 0 else float(betaincinv(passes, count - passes + 1, tail))
    high = 1.0 if passes == count else float(betaincinv(passes + 1, count - passes, 1 - tail))
    return low, high


def _tango(sample: Sample, tail: float) -> Limits:
    """The score interval of a mean of −1, 0 and 1; see `discordance.tango`."""
    d = sample.values
    if sample.clusters is not None or (sample.low, sample.high) != (-1.0, 1.0):
        raise _Undefined("needs differences of two models in passing, and no clusters")
    if not np.isin(d, (-1.0, 0.0, 1.0)).all():
        raise _Undefined("needs differences of −1, 0 and 1: n = 1 or k = n")
    from passk_cli.inference.discordance import tango

    return tango(len(d), int((d > 0).sum()), int((d < 0).sum()), 1 - 2 * tail)


def difference_laws(samples: Sequence[Sample]) -> Iterator[tuple[list[int], DifferenceLaw]]:
    """Laws of the mean differences: those over the same tasks in one, with their places."""
    from passk_cli.inference.difference import difference_law

    alike: dict[tuple[int, bytes, float, bool], list[int]] = {}
    for at, sample in enumerate(samples):
        codes = b"" if sample.clusters is None else sample.clusters.tobytes()
        key = len(sample.values), codes, sample.high, sample.between is not None
        alike.setdefault(key, []).append(at)
    for (tasks, _, reach, _), places in alike.items():
        size = max(1, _VALUES_TOGETHER // tasks)
        for first in range(0, len(places), size):
            part = [samples[at] for at in places[first : first + size]]
            values = np.stack([sample.values for sample in part])
            floors = [sample.floor for sample in part]
            ranges = [sample.between for sample in part if sample.between]
            between = np.stack(ranges, axis=1) if ranges else None
            law = difference_law(values, reach, floors, part[0].clusters, between)
            yield places[first : first + size], law


def _guarded_t(samples: Sequence[Sample], tail: float) -> list[Limits | _Undefined]:
    """Limits of mean differences by the law that their test has; see `difference_law`."""
    answers: dict[int, Limits | _Undefined] = {}
    for at, sample in enumerate(samples):
        if sample.low != -sample.high:
            answers[at] = _Undefined("needs differences of two models")
        elif math.isinf(sample.high) and sample.units < 2:
            answers[at] = _too_few(sample)
    there = [at for at in range(len(samples)) if at not in answers]
    for places, law in difference_laws([samples[at] for at in there]):
        limits = (each.tolist() for each in law.limits(2 * tail))
        answers |= zip((there[at] for at in places), zip(*limits, strict=True), strict=True)
    return [answers[at] for at in range(len(samples))]


def _too_few(sample: Sample) -> _Undefined:
    return _Undefined(f"needs at least 2 {'tasks' if sample.clusters is None else 'clusters'}")


def _standard_error(sample: Sample) -> float:
    if sample.se is None:
        raise _too_few(sample)
    return sample.se


def _require_one_attempt(sample: Sample) -> None:
    single = sample.attempts is not None and bool(np.all(sample.attempts == 1))
    if not single or sample.clusters is not None:
        raise _Undefined("needs k = 1, one attempt per task and no clusters")


def _degenerate(sample: Sample, population: str, method: str) -> str:
    """Remark on limits of data without spread."""
    if method == "hull":
        return ""
    if population == THESE_TASKS:
        if sample.within is not None and not sample.within.any() and not sample.mixed:
            return "every task passes always or never: a width of 0 is not certainty"
        return ""
    if not constant(sample.values):
        return ""
    words = f"every task has the value {sample.values[0]:g}"
    at_bound = _at(sample, sample.low) or _at(sample, sample.high)
    return f"{words}: the interval is one-sided" if at_bound else words


def _each(
    limits: Callable[[Sample, float], Limits],
) -> Callable[[Sequence[Sample], float], list[Limits | _Undefined]]:
    """Limits of one sample as those of several; a refusal stands in their place."""

    def of_each(samples: Sequence[Sample], tail: float) -> list[Limits | _Undefined]:
        answers: list[Limits | _Undefined] = []
        for sample in samples:
            try:
                answers.append(limits(sample, tail))
            except _Undefined as undefined:
                answers.append(undefined)
        return answers

    return of_each


@dataclass(frozen=True)
class Method:
    """One interval method: its limits and the question it answers.

    limits : samples, tail → limits of each, or _Undefined with the reason.
    resampled : whether it needs draws for clusters or for "these tasks".
    steady : whether its limits rise with the values, or nearly so.  Those of the others can turn
        back, as a spread does: benchmarks/missing.md.
    bounded : whether it has to know the bounds of values.  counted : whether it has to know the
        passes that values were computed from.  instead : the method in its place where it does not.
    differences : whether it is for differences of two models; binary : of −1, 0 and 1 alone.
    """

    limits: Callable[[Sequence[Sample], float], Sequence[Limits | _Undefined]]
    populations: tuple[str, ...] = (NEW_TASKS,)
    resampled: bool = False
    steady: bool = True
    bounded: bool = False
    counted: bool = False
    instead: str = ""
    differences: bool = False
    binary: bool = False

    def suited(self, name: str, sample: Sample) -> str:
        """The method's name, or that of the one in its place for this sample."""
        unbounded = not (math.isfinite(sample.low) and math.isfinite(sample.high))
        lacking = (self.bounded and unbounded) or (self.counted and not sample.passes)
        return self.instead if lacking else name


# Name → method.  A new one is one function and one line here.
METHODS: dict[str, Method] = {
    "guard": Method(GUARD.limits, bounded=True, instead="bca"),
    "gaffke": Method(GAFFKE.limits, bounded=True, instead="bca"),
    "jeffreys": Method(JEFFREYS.limits, bounded=True, instead="bca"),
    GUARDED_T: Method(_guarded_t, differences=True),
    "percentile": Method(_each(_percentile), (NEW_TASKS, THESE_TASKS), resampled=True),
    "basic": Method(_each(_basic), resampled=True, steady=False),
    "bca": Method(_each(_bca), resampled=True, steady=False),
    "t": Method(_each(_t), steady=False),
    "wilson": Method(_each(_wilson)),
    "clopper-pearson": Method(_each(_clopper_pearson)),
    TANGO: Method(_each(_tango), differences=True, binary=True),
    "hull": Method(_each(_hull), (THESE_TASKS,), counted=True, instead="jackknife"),
    "jackknife": Method(_each(_jackknife), (THESE_TASKS,), steady=False),
}
# The methods that can be chosen.
NAMES = (*METHODS, "none")
# Methods that put atoms on the bounds, and so have to know them.
GUARDED = tuple(name for name, method in METHODS.items() if method.bounded)
