"""The models that say how pass@k goes on beyond the attempts there are, under one roof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from passk_cli.arrays import ArrayLike, Floats
from passk_cli.inference.projection import FailureCurve, Weighed
from passk_cli.laws import beta_binomial, ex_gaussian, scaling
from passk_cli.laws.ex_gaussian import Misfit
from passk_cli.laws.smooth_tail import SmoothTail
from passk_cli.metrics.pass_k import hat_pairs

# The default; and all of MODELS at once, each as much as it weighs.
EX_GAUSSIAN, WEIGHED = "ex-gaussian", "weighed"
# Tasks that passed more often than this tell the law no more than that: where easy tasks are not
# spread by it, they would bend it where tasks are hard.
HARD = 2
# The part of the law's draws in which some of the unsolved tasks, any share of them, never pass.
DOUBT = 0.05


@dataclass(frozen=True)
class CurveFit:
    """A model fitted to tasks.

    once : to the tasks as they are: one curve, or several with their shares of the estimate.
    again : to as many resamples of the tasks as there are.
    """

    once: FailureCurve
    again: FailureCurve
    shares: Floats = field(default_factory=lambda: np.ones(1))


@dataclass(frozen=True)
class Doubted:
    """Curves under which some tasks that failed all of their attempts never pass.

    curve : before the doubt.  attempts : how many those tasks failed.
    never : (fits,) share of those tasks that never pass, in [0, 1).
    """

    curve: FailureCurve
    attempts: int
    never: Floats

    def failure(self, ks: ArrayLike) -> Floats:
        """e + (1 − e) Q(k), with e such that Q(k) / Q(n) becomes never + (1 − never) Q(k) / Q(n).

        >>> half = Doubted(Doubted(scaling.fit("power", np.array([1, 2]), np.array([[0.2, 0.3]])),
        ...                9, np.zeros(1)), 9, np.full(1, 0.5))
        >>> before, after = (one.failure([9, 90])[0] for one in (half.curve, half))
        >>> bool(np.isclose(after[1] / after[0], 0.5 + 0.5 * before[1] / before[0]))
        True
        """
        fails, share = self.curve.failure(ks), self.never[:, None]
        failing = self.curve.failure([self.attempts])
        more = share * failing / (1 - share + share * failing)
        return more + (1 - more) * fails


Model = Callable[[Weighed, np.random.Generator], CurveFit]


def _ex_gaussian(data: Weighed, rng: np.random.Generator) -> CurveFit:
    """The posterior by the hard tasks, with a doubt that no data refutes; draws also allow for
    hardness without an exponential tail, and are of as many tasks as clusters are worth."""
    tasks, attempts, count = data.once[0], int(data.n.max()), len(data.again)
    law = ex_gaussian.posterior(data.n, data.c, tasks, most=HARD)
    worth = partial(ex_gaussian.posterior, data.n, data.c, tasks * data.worth, most=HARD)
    wider = law if data.worth == 1 else worth()
    draws = ex_gaussian.either(wider, worth(bell=True), count, rng)
    never = np.where(rng.random(count) < DOUBT, rng.random(count), 0.0)
    mean = np.full(len(law.shares), DOUBT / 2)
    return CurveFit(Doubted(law, attempts, mean), Doubted(draws, attempts, never), law.shares)


def _smooth(data: Weighed, rng: np.random.Generator) -> CurveFit:
    model = SmoothTail(data.n, data.c)
    settled = model.settle(data.once)
    return CurveFit(model.mean(data.once, settled), model.draws(data.again, settled, rng))


def _beta(
    data: Weighed, rng: np.random.Generator, *, never: bool = False, always: bool = False
) -> CurveFit:
    fit = partial(beta_binomial.fit, data.n, data.c, never=never, always=always)
    once = fit(data.once)
    return CurveFit(once, fit(data.again, start=once))


def _line(data: Weighed, rng: np.random.Generator, *, kind: str) -> CurveFit:
    ks = scaling.spaced(int(data.n.min()))
    fails = np.stack([hat_pairs(data.n, data.n - data.c, k) for k in ks.tolist()], axis=1)

    def lines(weights: Floats) -> FailureCurve:
        share = weights @ fails / weights.sum(axis=1, keepdims=True)
        return scaling.fit(kind, ks, 1 - share)

    return CurveFit(lines(data.once), lines(data.again))


# Name → model, those that are weighed.  A new one is one function and one line here.
MODELS: dict[str, Model] = {
    "smooth": _smooth,
    "beta": _beta,
    "beta+0": partial(_beta, never=True),
    "beta+0+1": partial(_beta, never=True, always=True),
    "power": partial(_line, kind="power"),
    "log-logit": partial(_line, kind="log-logit"),
}

# What can be asked for by name.
FITS: tuple[str, ...] = (EX_GAUSSIAN, WEIGHED, *MODELS)


def fit_of(name: str, data: Weighed, rng: np.random.Generator) -> CurveFit:
    """The model of that name, fitted to these tasks."""
    return _ex_gaussian(data, rng) if name == EX_GAUSSIAN else MODELS[name](data, rng)


def misfit_of(name: str, data: Weighed) -> Misfit | None:
    """How the ex-Gaussian law fits the counts of all tasks; None for models without that check."""
    if name != EX_GAUSSIAN:
        return None
    tasks = data.once[0]
    law = ex_gaussian.posterior(data.n, data.c, tasks)
    return ex_gaussian.misfit(law, data.n, data.c, tasks, data.worth)
