"""pass@k beyond the attempts there are: prediction, backtest, weights of models, intervals.

Every model is one curve Q(k) = E (1 − p)^k.  A task solved once counts as solved beyond its n
attempts; one never solved in them fails all of k with probability Q(k) / Q(n).  So the prediction
starts from the unbiased estimate at k = n, and the models only say how many of the tasks never
solved so far will be.  pass^k is the same with passes and failures exchanged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.errors import ParameterError
from passk_cli.inference.futures import EX_GAUSSIAN, FITS, MODELS, WEIGHED, fit_of, misfit_of
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.inference.projection import Projection, Weighed
from passk_cli.inference.stopping import stopped
from passk_cli.inference.streams import stream
from passk_cli.laws.ex_gaussian import Misfit
from passk_cli.near import meant
from passk_cli.settle import Given

FEWEST_ATTEMPTS, FEWEST_TASKS = 5, 10
FARTHEST = 1_000_000_000
# Of ten tasks, those that must have as many attempts as the largest k that counts as known.
_MOST_TASKS = 9
TOO_FEW_AT_SOME = (
    f"more than one task in ten has fewer than {FEWEST_ATTEMPTS} attempts, too few to fit a"
    " distribution of success rates"
)
# What the smooth model is worth to 1 of each other: it is right wherever one of them is.
_TRUST = 10.0
# At so many k's, evenly in log k, a model has to fit what was seen.
_BACKTEST_KS = 5
_LEAST_NOISE = 1e-4


@dataclass(frozen=True)
class Candidate:
    """One model: its weight, its prediction, and how it did in the backtest.

    values : (ks,).  error : predicted minus observed at the largest k known, from a fit on few
        attempts.  error_sd : how far off its own view of the noise lets it be.
    misfit : mean square of its fit minus pass@k seen at k ≤ n, in units of the noise.
    check : of the ex-Gaussian law, against rates spread in any way; None for other models.
    """

    name: str
    weight: float
    values: Floats
    error: float
    error_sd: float
    misfit: float
    check: Misfit | None = None


@dataclass(frozen=True)
class Reach:
    """The k that reaches a target, and its limits; None for beyond the largest k looked at.

    0 where pass^k lies below the target at k = 1 already.
    """

    k: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Extrapolation:
    """pass@k (or pass^k) at ks, with limits, and where it comes from.

    ks : increasing.  values, low, high : (ks,).  known : the largest k that nine tasks in ten
    have as many attempts for.  few : attempts per task the backtest was fitted on.
    models : the one or more used.  left_out : models that cannot be fitted to these tasks.
    law, weighed : what each says where the counts speak against the ex-Gaussian law: the estimate
        is the weighed models' and the limits are the hull; else None.
    """

    ks: Ints
    values: Floats
    low: Floats
    high: Floats
    known: int
    few: int
    models: tuple[Candidate, ...]
    left_out: tuple[str, ...] = ()
    law: Extrapolation | None = None
    weighed: Extrapolation | None = None

    def reach(self, target: float, *, falling: bool = False) -> Reach:
        """The k at which the value is `target`, between the ks by straight lines in log k.

        falling : pass^k; the k up to which it stays at `target` or above.
        """
        limits = (self.low, self.high) if falling else (self.high, self.low)
        k, low, high = (self._crossing(v, target, falling) for v in (self.values, *limits))
        return Reach(k, low, high)

    def _crossing(self, values: Floats, target: float, falling: bool) -> float | None:
        past = values < target if falling else values >= target
        if not past.any():
            return None
        place = int(np.argmax(past))
        if place == 0:
            return 0.0 if falling else float(self.ks[0])
        share = (target - values[place - 1]) / (values[place] - values[place - 1])
        before, after = np.log(self.ks[place - 1]), np.log(self.ks[place])
        return float(np.exp(before + share * (after - before)))

    @property
    def misfit(self) -> Misfit | None:
        """How the ex-Gaussian law fits; None where it was not asked for."""
        return (self.law or self).models[0].check

    @property
    def error(self) -> float:
        """The weighted models' error in the backtest: predicted minus observed."""
        return sum(m.weight * m.error for m in self.models)

    def at(self, k: int) -> tuple[float, float, float]:
        """(estimate, low, high) at one of the ks."""
        place = int(np.searchsorted(self.ks, k))
        return float(self.values[place]), float(self.low[place]), float(self.high[place])


def extrapolate(
    n: Ints, c: Ints, ks: Sequence[int], *, mirrored: bool = False, fit: str | None = None,
    level: float = 0.95, population: str = NEW_TASKS, clusters: Ints | None = None,
    resamples: int = 400, seed: int = 0,
) -> Extrapolation:  # fmt: skip
    """Predict pass@k at every k of ks, whether attempts reach so far or not.

    n, c : (tasks,), attempts and passes.  ks : whole numbers from 1 up.
    mirrored : pass^k instead.
    fit : one of FITS; None for `default_fit`.  "ex-gaussian" is that law; where the counts of
        pass@k speak against it, the weighed models' estimate with the hull of both intervals.
        "weighed" is all of MODELS, see `_with_weights`.
    population : NEW_TASKS; or THESE_TASKS, the share of them solved when attempts go on to k.
    clusters : a code 0 … G−1 per task, or None.
    resamples : refits of every model.
    Errors: ParameterError for an unknown fit; ValueError where `refusal` has a reason, or the
    one model asked for cannot be fitted.

    >>> rng = np.random.default_rng(0)
    >>> n = np.full(200, 50)
    >>> prediction = extrapolate(n, rng.binomial(n, rng.beta(0.3, 2, 200)), [50, 500])
    >>> value, low, high = prediction.at(500)
    >>> bool(low < value < high), prediction.known, prediction.few
    (True, 50, 8)
    """
    fit = fit or default_fit(mirrored=mirrored)
    if fit not in FITS:
        raise ParameterError(Given("--fit", fit), f"no such law; {meant(fit, FITS)}")
    if reason := refusal(n, c):
        raise ValueError(reason)
    rng = stream(seed, "extrapolate tasks")
    tasks = Weighed.of(n, n - c if mirrored else c, clusters, resamples, rng)
    at, known = np.unique(np.asarray(ks, dtype=np.int64)), largest_known(n)
    few = max(math.ceil(known / 10), math.ceil(math.sqrt(known)))
    forecast = _Forecast(tasks, Projection(tasks, at), known, few, population, seed, len(n), level)
    result = forecast.by(tuple(MODELS) if fit == WEIGHED else (fit,))
    # The law's priors are of hardness: of failures the check says nothing.
    law = fit == EX_GAUSSIAN and not mirrored
    if law and result.misfit is not None and result.misfit.fails:
        weighed = forecast.by(tuple(MODELS))
        low, high = np.minimum(result.low, weighed.low), np.maximum(result.high, weighed.high)
        result = replace(weighed, low=low, high=high, law=result, weighed=weighed)
    return _mirror(result) if mirrored else result


def default_fit(*, mirrored: bool = False) -> str:
    """The ex-Gaussian law; for pass^k all models, because the law's priors are of hardness.

    >>> default_fit(), default_fit(mirrored=True)
    ('ex-gaussian', 'weighed')
    """
    return WEIGHED if mirrored else EX_GAUSSIAN


def refusal(n: Ints, c: Ints) -> str:
    """Why nothing can be said of k beyond the attempts of these tasks; "" when it can.

    >>> refusal(np.full(12, 4), np.arange(12) % 5)
    '4 attempts per task are too few to fit a distribution of success rates; at least 5 are needed'
    """
    known = largest_known(n)
    if len(n) < FEWEST_TASKS:
        return (
            f"{len(n)} task{'s are' if len(n) != 1 else ' is'} too few to fit a distribution of"
            f" success rates; at least {FEWEST_TASKS} are needed"
        )
    if stopped(n, c):
        usable, short = int(n.min()), int((n < n.max()).sum())
        seen = (
            f"sampling seems to have stopped when a task passed ({short:,} of {len(n):,} tasks have"
            f" fewer than {n.max():,} attempts), so the number of attempts depends on the outcomes"
        )
        if usable < FEWEST_ATTEMPTS:
            return f"{seen}; make equally many attempts at every task, {FEWEST_ATTEMPTS} or more"
        return (
            f"{seen}; usable are the first {usable:,} attempts at every task: keep these alone, or"
            f" make {n.max():,} at every task"
        )
    if known < FEWEST_ATTEMPTS <= n.max():
        return TOO_FEW_AT_SOME
    if known < FEWEST_ATTEMPTS:
        return (
            f"{known} attempt{'s' * (known != 1)} per task {'are' if known != 1 else 'is'} too few"
            " to fit a distribution of"
            f" success rates; at least {FEWEST_ATTEMPTS} are needed"
        )
    if np.any((c > 0) & (c < n)):
        return ""
    if not c.any():
        return "no attempt passed; it takes more of them to tell a rate just above 0 from 0"
    if np.all(c == n):
        return "every attempt passed; it takes more of them to tell a rate just below 1 from 1"
    return "every task passes always or never: more attempts at it add nothing to the first one"


def largest_known(n: Ints) -> int:
    """The largest k that nine tasks in ten have as many attempts for."""
    tasks = -(-_MOST_TASKS * len(n) // 10)
    return int(np.sort(n)[::-1][tasks - 1])


@dataclass(frozen=True)
class _Forecast:
    """The question put to every model: tasks, ks, and the size of the backtest."""

    tasks: Weighed
    projection: Projection
    known: int
    few: int
    population: str
    seed: int
    size: int
    level: float

    def by(self, names: Sequence[str]) -> Extrapolation:
        """Joint prediction of these models; ValueError where one alone cannot be fitted."""
        answers = [answer for name in names if (answer := self.of(name)) is not None]
        if not answers:
            raise ValueError(f"{names[0]} cannot be fitted: pass@k is 0 or 1 at all but one k")
        models = _with_weights([candidate for candidate, _, _ in answers])
        weights = np.array([m.weight for m in models])
        count = len(self.tasks.again)
        shares, tail = np.repeat(weights / count, count), (1 - self.level) / 2
        mean = weights @ np.stack([m.values for m in models])
        low = _quantiles(np.concatenate([draws for _, draws, _ in answers]), shares, tail)
        high = _quantiles(np.concatenate([draws for _, _, draws in answers]), shares, 1 - tail)
        # Less than one task that is never solved cannot be told from none.
        high = np.where((1 - high) * self.size < 1 - 1e-9, 1.0, high)
        left_out = tuple(name for name in names if name not in {m.name for m in models})
        return Extrapolation(
            self.projection.ks, mean, np.minimum(low, mean), np.maximum(high, mean), self.known,
            self.few, models, left_out,
        )  # fmt: skip

    def of(self, name: str) -> tuple[Candidate, Floats, Floats] | None:
        """A model, not weighed yet, with draws for the lower and for the upper limit.

        None when it cannot be fitted.
        """
        # A stream of its own: what a model says does not depend on which others are asked.
        rng = stream(self.seed, f"extrapolate {name}")
        fit = fit_of(name, self.tasks, rng)
        values = fit.shares @ self.projection.passing(self.tasks.once, fit.once)
        error, sd = self._backtest(name)
        if not (np.isfinite(values).all() and math.isfinite(error)):
            return None
        # Mean square of fitted minus observed pass@k up to k = known, in units of its noise.
        ks = np.unique(np.geomspace(1, self.known, _BACKTEST_KS).round().astype(np.int64))
        failed, resampled = self.tasks.failed(ks, self.known)
        off = fit.shares @ fit.once.failure(ks) - failed[0]
        noise = (fit.again.failure(ks) - resampled).std(axis=0)
        misfit = float(np.mean((off / np.maximum(noise, _LEAST_NOISE)) ** 2))
        candidate = Candidate(name, 1.0, values, error, sd, misfit, misfit_of(name, self.tasks))
        if self.population == NEW_TASKS:
            return candidate, *self.projection.on_new_tasks(fit.again)
        draws = self.projection.on_these_tasks(fit.again, rng)
        return candidate, draws, draws

    def _backtest(self, name: str) -> tuple[float, float]:
        """Fit on few attempts, predict pass@known: the error, and how far off it may well be."""
        subset = self.tasks.few(self.known, self.few)
        fit = fit_of(name, subset, stream(self.seed, f"backtest {name}"))
        at = np.array([self.known])
        ahead = Projection(subset, at)
        failed, resampled = self.tasks.failed(at, self.known)
        error = fit.shares @ ahead.passing(subset.once, fit.once) - (1 - failed)[0]
        off = ahead.passing(subset.again, fit.again) - (1 - resampled)
        return float(error[0]), float(off.std())


def _with_weights(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The models with what each is worth: its trust, less what fit and backtest hold against it.

    e^(−(misfit + z²) / 2), z the backtest's error by the model's own view of the noise.  Nothing is
    held against the smooth model: it follows any counts, and few attempts show it little.
    """
    logs = []
    for m in candidates:
        if m.name == "smooth":
            logs.append(math.log(_TRUST))
            continue
        z = m.error / max(m.error_sd, _LEAST_NOISE)
        logs.append(-min(m.misfit + z * z, 1e4) / 2)
    shares = np.exp(np.array(logs) - max(logs))
    shares /= shares.sum()
    return tuple(replace(m, weight=float(w)) for m, w in zip(candidates, shares, strict=True))


def _quantiles(draws: Floats, shares: Floats, p: float) -> Floats:
    """The p-quantile of each column when rows count by their shares."""
    order = np.argsort(draws, axis=0, kind="stable")
    place = np.argmax(np.cumsum(shares[order], axis=0) >= p, axis=0)
    rows = order[place, np.arange(draws.shape[1])]
    quantiles: Floats = draws[rows, np.arange(draws.shape[1])]
    return quantiles


def _mirror(law: Extrapolation) -> Extrapolation:
    """pass^k of the tasks from pass@k of their failures."""
    models = tuple(replace(m, values=1 - m.values, error=-m.error) for m in law.models)
    return replace(
        law, values=1 - law.values, low=1 - law.high, high=1 - law.low, models=models,
        law=None if law.law is None else _mirror(law.law),
        weighed=None if law.weighed is None else _mirror(law.weighed),
    )  # fmt: skip
