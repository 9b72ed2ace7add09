"""Predictions of one series at larger k, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from passk_cli.inference.extrapolation import Extrapolation, default_fit, extrapolate, largest_known
from passk_cli.inference.futures import EX_GAUSSIAN, WEIGHED
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.metrics.registry import Metric
from passk_cli.report.model import Cell, Estimate, Limits
from passk_cli.study.fact import Fact, Size
from passk_cli.study.study import Study
from passk_cli.study.values import Series, TaskValues

# Points of a curve: up to the largest k drawn, and from there to the farthest a target is sought.
_DRAWN, _STEPS = 48, 64
# A target is sought up to here, in digits and in words.
SOUGHT, SOUGHT_WORDS = 1_000_000, "more than 10⁶"
# Where limits are from: the law's posterior; that and the weighed models' refits; refits.
_POSTERIOR, _HULL, _REFITS = "posterior", "hull", "refits"


@dataclass(frozen=True)
class Aim:
    """The question: curves, k's, target and fit.

    curves : of "pass@k" and "pass^k".  ks : where to predict, increasing.
    target : a value in (0, 1) whose k is sought, or None.
    fit : a model's name; None for the ex-Gaussian law, and for pass^k the weighed models.
    """

    curves: tuple[str, ...]
    ks: tuple[int, ...]
    target: float | None = None
    fit: str | None = None

    def fit_of(self, family: str) -> str:
        """The fit of "pass@" or "pass^", by name."""
        return self.fit or default_fit(mirrored=family == "pass^")


@dataclass(frozen=True)
class _FittedCurve:
    """The curve that is asked for: rates are the tasks of its series at k = 1."""

    rates: TaskValues

    @property
    def series(self) -> Series:
        """The model and its groups."""
        return self.rates.series

    @property
    def family(self) -> str:
        """ "pass@" or "pass^"."""
        return self.rates.metric.family


@dataclass(frozen=True)
class Refusal(_FittedCurve):
    """A curve of which nothing can be predicted.  facts : the reason, at each k asked for."""

    reason: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Prediction(_FittedCurve):
    """The predictions of one curve.

    ahead : the curve, and those of the models.
    numbers : k → the number there, at the largest k known and at those asked for; as `passk
        estimate` has it where every task has n ≥ k.
    reaches : the k that reaches the target, in whole attempts; empty without a target.
    bound : what the value beyond the attempts lies in, without a law.
    """

    ahead: Extrapolation
    numbers: Mapping[int, Fact]
    reaches: tuple[Fact, ...]
    bound: Limits

    @property
    def sign(self) -> str:
        """From which side the assumption-free bound holds beyond the attempts."""
        return "≥ " if self.family == "pass@" else "≤ "

    @property
    def limit(self) -> float:
        """The assumption-free bound: of pass@k a lower limit, of pass^k an upper one."""
        passing = self.family == "pass@"
        end, free = (self.bound.low, 0.0) if passing else (self.bound.high, 1.0)
        return free if end is None else end

    @property
    def measured(self) -> Fact:
        """The number at the largest k that nearly all tasks have attempts for."""
        return self.numbers[self.ahead.known]

    @property
    def open(self) -> int:
        """Tasks that never passed; for pass^k, that never failed."""
        settled = self.rates.c > 0 if self.family == "pass@" else self.rates.c < self.rates.n
        return int((~settled).sum())

    @property
    def facts(self) -> Iterator[Fact]:
        """Its numbers, each model's own beside those that are weighed, and the target's k."""
        for k, number in self.numbers.items():
            yield number
            yield from self.parts(k)
        yield from self.reaches

    @property
    def target(self) -> tuple[Cell, Cell, Cell]:
        """The k that reaches the target and its limits, as people see them."""
        [fact] = self.reaches
        e, up = fact.estimate, self.family == "pass@"
        rounded = ((e.value, up), (e.low, False), (e.high, True))
        k, low, high = (two_digits(k, self.ahead.known, up=up) for k, up in rounded)
        return k, low, high

    @property
    def contradicted(self) -> bool:
        """Whether the counts speak against the law that the interval assumes."""
        return self.ahead.misfit is not None and self.ahead.misfit.fails

    def parts(self, k: int) -> Iterator[Fact]:
        """The parts of a predicted number: the law, the weighed models, and each of these alone.

        Under names of their own, as "pass@100 by beta", and with k in `fit_k`: a k has one answer.
        """
        ahead, number = self.ahead, replace(self.numbers[k], k=None)
        if number.values is not None:
            return
        fit_k = {**number.more, "fit_k": k}
        for name, method, part in (
            (EX_GAUSSIAN, _POSTERIOR, ahead.law), (WEIGHED, _REFITS, ahead.weighed)
        ):  # fmt: skip
            if part is not None:
                value, low, high = part.at(k)
                more: dict[str, Cell] = {**fit_k, "fit": name, "backtest": part.error}
                estimate = Estimate(value, low=low, high=high)
                own = f"{number.name} by {name}"
                yield replace(number, name=own, estimate=estimate, method=method, more=more)
        for model in self.ahead.models if number.more["fit"] == WEIGHED else ():
            more = {**fit_k, "fit": model.name, "weight": model.weight, "backtest": model.error}
            estimate = Estimate(float(model.values[ahead.ks == k][0]))
            own = f"{number.name} by {model.name}"
            yield replace(number, name=own, estimate=estimate, method="none", level=None, more=more)


def two_digits(k: float | None, known: int, *, up: bool) -> Cell:
    """A target's k as people see it: beyond the attempts to two digits, rounded up or down."""
    if k is None:
        return SOUGHT_WORDS
    unit = 10 ** max(0, math.floor(math.log10(max(k, 1))) - 1)
    return int(k) if k <= known else unit * (math.ceil if up else math.floor)(k / unit)


def predict(study: Study, rates: TaskValues, aim: Aim) -> Prediction | Refusal:
    """The predictions of a series.  rates : its values of the family's metric at k = 1.

    Errors: ParameterError for more draws than can be held.
    """
    family, n, confidence = rates.metric.family, rates.n, study.confidence
    fit, attempts = aim.fit_of(family), largest_known(n)
    blank = Fact(
        rates.series, "", None, Estimate(None), size=Size(len(n), *rates.span),
        method=_POSTERIOR if fit == EX_GAUSSIAN else _REFITS, level=confidence.level,
        more={"fit": fit},
    )  # fmt: skip
    farthest = max(*aim.ks, attempts)
    ks = {*aim.ks, attempts, *_spaced(1, farthest, _DRAWN)}
    if aim.target is not None:
        ks |= {*_spaced(min(farthest, SOUGHT), SOUGHT, _STEPS)}
    try:
        ahead = extrapolate(
            n, rates.c, sorted(ks), mirrored=family == "pass^", fit=fit, level=confidence.level,
            population=confidence.population, clusters=rates.clusters, **confidence.draws,
        )  # fmt: skip
    except ValueError as error:
        nothing = replace(blank, estimate=Estimate(None, reason=str(error)))
        facts = (replace(nothing, name=f"{family}{k}", k=k) for k in aim.ks)
        return Refusal(rates, str(error), tuple(facts))
    bound = _bound(study, rates, next((k for k in aim.ks if k > attempts), attempts))
    tested: dict[str, Cell] = {
        "fit": WEIGHED if ahead.law else fit, "weight": 1.0, "backtest": ahead.error,
        "backtest_k": attempts, "backtest_from": ahead.few, "rare_low": bound.low,
        "rare_high": bound.high,
    }  # fmt: skip
    if ahead.misfit is not None:
        tested |= {"misfit": ahead.misfit.excess, "misfit_limit": ahead.misfit.limit}
    blank = replace(blank, more=tested, method=_HULL if ahead.law else blank.method)
    numbers = _numbers(study, rates, ahead, blank, sorted({attempts, *aim.ks}))
    reaches = () if aim.target is None else (_reach(blank, family, ahead, aim.target),)
    return Prediction(rates, ahead, numbers, reaches, bound)


def _bound(study: Study, rates: TaskValues, k: int) -> Limits:
    """The assumption-free bound: what pass@k lies in at this k and beyond.

    No task passes less with more attempts: from the lower limit of the mean over tasks of pass@k
    at the attempts there are, at most k of them, to 1.  pass^k: from 0 to the upper limit.  For
    these tasks that mean itself, which is certain, takes the limit's place.
    """
    metric, n, c = Metric(rates.metric.family, k), rates.n, rates.c
    passing = metric.family == "pass@"
    values = metric.values(np.maximum(n, k), c)
    values = np.where(n >= k, values, c > 0 if passing else c == n)
    estimate = Estimate(float(values.mean()), low=float(values.mean()), high=float(values.mean()))
    if study.confidence.population == NEW_TASKS:
        estimate = study.fact(replace(rates, metric=metric, values=values)).estimate
    return Limits(estimate.low, 1.0) if passing else Limits(0.0, estimate.high)


def _numbers(
    study: Study, rates: TaskValues, ahead: Extrapolation, blank: Fact, ks: Sequence[int]
) -> dict[int, Fact]:
    """k → the number there, measured where attempts suffice, else predicted."""
    numbers: dict[int, Fact] = {}
    for k in ks:
        metric = Metric(rates.metric.family, k)
        more = {**blank.more, "beyond": "yes" if k > ahead.known else "no"}
        if k <= rates.n.min() and study.confidence.population == NEW_TASKS:
            values = metric.values(rates.n, rates.c)
            fact = study.fact(replace(rates, metric=metric, values=values))
            numbers[k] = replace(fact, more=more)
            continue
        value, low, high = ahead.at(k)
        # pass@k never falls with k, nor does pass^k rise: nor may their limits.
        measured = numbers.get(ahead.known, blank).estimate
        if metric.family == "pass@":
            low = max(low, measured.low or 0.0)
        elif measured.high is not None:
            high = min(high, measured.high)
        estimate = Estimate(value, low=low, high=high)
        numbers[k] = replace(blank, name=metric.name, k=k, estimate=estimate, more=more)
    return numbers


def _reach(blank: Fact, family: str, ahead: Extrapolation, target: float) -> Fact:
    """The k of the target and its limits as attempts: rounded up, for pass^k down."""
    exact = ahead.reach(target, falling=family == "pass^")
    ks = {"estimate": exact.k, "low": exact.low, "high": exact.high}
    whole = math.ceil if family == "pass@" else math.floor
    k, low, high = (None if end is None or end > SOUGHT else whole(end) for end in ks.values())
    beyond = ", ".join(name for name, end in zip(ks, (k, low, high), strict=True) if end is None)
    return replace(
        blank,
        name=f"k for {family}k = {target:g}",
        estimate=Estimate(k, low=low, high=high, unit="score"),
        flaw=f"{beyond}: {SOUGHT_WORDS}" if beyond else "",
    )


def _spaced(low: int, high: int, count: int) -> list[int]:
    ks: list[int] = np.unique(np.geomspace(low, high, count).round().astype(np.int64)).tolist()
    return ks
