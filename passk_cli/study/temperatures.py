"""Temperatures of models: the best at each metric, models against each other, the power law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.activity import steps
from passk_cli.errors import ParameterError
from passk_cli.inference.weights import bootstrap_means
from passk_cli.laws.temperature import FEWEST_TEMPERATURES, best_by_k, power_laws
from passk_cli.metrics.pass_k import curve
from passk_cli.metrics.registry import Metric
from passk_cli.report.model import Estimate
from passk_cli.report.words import plural
from passk_cli.study.comparison import Comparison
from passk_cli.study.confidence import Confidence
from passk_cli.study.fact import Fact, Size
from passk_cli.study.lead import on_shared_tasks, shares_of_lead
from passk_cli.study.pairs import BETTER, WORSE, compare_pairs
from passk_cli.study.study import Study
from passk_cli.study.values import Series, TaskValues

if TYPE_CHECKING:
    from numpy.typing import NDArray

Pairs = list[tuple[TaskValues, TaskValues]]

# k's at which T* is taken for a power law: all of them up to about twenty, then so many per curve.
_KS = 64
# An interval needs the law in nearly every resample, else it would be one of the lucky ones.
_MOSTLY = 0.95
# Differences closer to zero are rounding: the two means are equal.
_EQUAL = 1e-12


@dataclass(frozen=True)
class Rivals:
    """One model (and group) at one metric: its temperatures that have values, increasing.

    model : the model and its groups, without the temperature.
    shared : each on the tasks that all of them have; T* and shares of the lead rest on these.
    """

    model: Series
    metric: Metric
    temperatures: tuple[TaskValues, ...]
    shared: tuple[TaskValues, ...]

    @property
    def best(self) -> TaskValues:
        """T*: the highest mean; of equal ones, the lowest temperature."""
        return self.ranked[0]

    @cached_property
    def ranked(self) -> list[TaskValues]:
        """T* first, the others by their means."""
        means = np.stack([rates.values for rates in self.shared], axis=1).mean(axis=0)
        best = best_by_k(means[:, None])[0]
        others = (i for i in np.argsort(-means, kind="stable") if i != best)
        return [self.temperatures[i] for i in (best, *others)]


@dataclass(frozen=True)
class Verdict:
    """T* against the other temperatures of the same model at the same metric.

    shares : series → share of the resamples of the tasks in which its temperature comes first;
        None where attempts differ between the temperatures.
    against : the best against each other one, the runner-up first; lead : the first as a fact.
    """

    rivals: Rivals
    shares: dict[Series, float | None]
    against: tuple[Comparison, ...]
    lead: Fact

    @property
    def series(self) -> Series:
        """The model and its groups, without the temperature."""
        return self.rivals.model

    @property
    def best(self) -> tuple[str, ...]:
        """The temperatures with the highest mean: one, or several that are equal; increasing."""
        differences = ((heat(c.second), c.difference) for c in self.against)
        equal = [other for other, d in differences if d is not None and abs(d) < _EQUAL]
        return tuple(sorted((heat(self.rivals.best), *equal), key=float))

    @property
    def alike(self) -> list[str]:
        """The temperatures that tie with T*, as they are not significantly worse, increasing."""
        return sorted((heat(c.second) for c in self.against if c.verdict != BETTER), key=float)


def heat(rates: TaskValues) -> str:
    """The temperature, which is the first group."""
    return rates.series[1]


def model_of(series: Series) -> Series:
    """The model and its groups, without the temperature."""
    return (series[0], *series[2:])


def gather(values: Sequence[TaskValues]) -> list[Rivals]:
    """Per model and metric the temperatures that have values, where there are two or more."""
    cells: dict[tuple[Series, Metric], list[TaskValues]] = {}
    for rates in values:
        if rates.there:
            cells.setdefault((model_of(rates.series), rates.metric), []).append(rates)
    rivals = []
    for (model, metric), temperatures in cells.items():
        temperatures.sort(key=lambda rates: float(heat(rates)))
        shared = on_shared_tasks(temperatures)
        if len(temperatures) > 1 and len(shared[0].tasks):
            rivals.append(Rivals(model, metric, tuple(temperatures), tuple(shared)))
    return rivals


def temperature_pairs(rivals: Sequence[Rivals]) -> Pairs:
    """Every two temperatures of a model at a metric, the better one first."""
    return [
        (a, b)
        for model in rivals
        for i, a in enumerate(model.ranked)
        for b in model.ranked[i + 1 :]
    ]


def judge(
    rivals: Sequence[Rivals], comparisons: Sequence[Comparison], confidence: Confidence
) -> list[Verdict]:
    """T* of each, with the comparisons that are about it."""
    own = {(c.first.metric, c.first.series, c.second.series): c for c in comparisons}
    verdicts = []
    for model in rivals:
        best, *others = model.ranked
        against = tuple(own[model.metric, best.series, other.series] for other in others)
        shares = shares_of_lead(model.temperatures, confidence)
        series = (temperature.series for temperature in model.temperatures)
        lead = against[0].fact(confidence)
        verdicts.append(Verdict(model, dict(zip(series, shares, strict=True)), against, lead))
    return verdicts


@dataclass(frozen=True)
class Lead:
    """Two models (of one group) at every metric and temperature that both have.

    same : at one temperature.  own : metric → each at its own best one, first − second.
    """

    first: Series
    second: Series
    same: tuple[Comparison, ...]
    own: dict[Metric, Comparison]

    def where(self, verdict: str) -> list[Comparison]:
        """The (k, T) with this verdict of the first."""
        return [c for c in self.same if c.verdict == verdict]

    @property
    def flips(self) -> bool:
        """Whether each of the two leads somewhere."""
        return bool(self.where(BETTER) and self.where(WORSE))


def model_pairs(values: Sequence[TaskValues], rivals: Sequence[Rivals]) -> Pairs:
    """Two models of a group at each metric: at the same temperature, and each at its best.

    The model that is better over all its metrics and temperatures comes first.
    """
    alike: dict[tuple[Metric, Series], list[TaskValues]] = {}
    means: dict[str, list[float]] = {}
    for rates in values:
        if rates.there:
            alike.setdefault((rates.metric, rates.series[1:]), []).append(rates)
            means.setdefault(rates.series[0], []).append(rates.mean)
    for model in rivals:
        alike.setdefault((model.metric, ("best", *model.model[1:])), []).append(model.best)
    order = {model: (-sum(each) / len(each), model) for model, each in means.items()}
    pairs: dict[tuple[Metric, Series, Series], tuple[TaskValues, TaskValues]] = {}
    for (metric, _), models in alike.items():
        for a, b in combinations(sorted(models, key=lambda rates: order[rates.series[0]]), 2):
            pairs.setdefault((metric, a.series, b.series), (a, b))
    return list(pairs.values())


def leads_of(comparisons: Sequence[Comparison], rivals: Sequence[Rivals]) -> list[Lead]:
    """The comparisons of `model_pairs`, per pair of models; pairs that flip first."""
    best = {(rival.model, rival.metric): rival.best.series for rival in rivals}
    by_pair: dict[tuple[Series, Series], list[Comparison]] = {}
    for c in comparisons:
        pair = (model_of(c.first.series), model_of(c.second.series))
        by_pair.setdefault(pair, []).append(c)
    leads = []
    for (first, second), each in by_pair.items():
        same = [c for c in each if heat(c.first) == heat(c.second)]
        same.sort(key=lambda c: float(heat(c.first)))
        own = {
            c.first.metric: c
            for c in each
            if best.get((first, c.first.metric)) == c.first.series
            and best.get((second, c.first.metric)) == c.second.series
        }
        leads.append(Lead(first, second, tuple(same), own))
    return sorted(leads, key=lambda lead: not lead.flips)


@dataclass(frozen=True)
class Law:
    """T* = factor · k^exponent of one model, or why there is none.

    best : the temperatures that are T* at some k, increasing.  k_max : up to which k.
    exponent : with its limits, and why there are none.
    """

    best: tuple[str, ...]
    k_max: int
    exponent: Fact

    @property
    def series(self) -> Series:
        """The model and its groups, without the temperature."""
        return model_of(self.exponent.series)


def laws_of(values: Sequence[TaskValues], confidence: Confidence) -> list[Law]:
    """The power law of pass@k's best temperature, for each model with two temperatures or more.

    T*(k) is taken at every k up to the fewest attempts any of the temperatures has (64 of them
    when they are more); temperatures with one attempt somewhere have no k to vary and are left
    out.  The limits are those of resampled tasks.
    """
    models: dict[Series, dict[str, TaskValues]] = {}
    for rates in values:
        if rates.n.min() > 1:
            models.setdefault(model_of(rates.series), {}).setdefault(heat(rates), rates)
    laws = []
    for temperatures in steps(models.values(), "computing", "models"):
        increasing = sorted(temperatures.values(), key=lambda rates: float(heat(rates)))
        k_max = min(int(rates.n.min()) for rates in increasing)
        shared = on_shared_tasks(increasing)
        if len(shared) > 1 and len(shared[0].tasks):
            laws.append(_law(shared, k_max, confidence))
    return laws


def _law(shared: Sequence[TaskValues], k_max: int, confidence: Confidence) -> Law:
    ks = np.unique(np.geomspace(1, k_max, _KS).round().astype(np.int64))
    curves = [curve(rates.n, rates.c, k_max)[0][:, ks - 1] for rates in shared]
    values = np.stack(curves, axis=1)  # tasks × temperatures × k's
    temperatures = np.array([float(heat(rates)) for rates in shared])
    means = values.mean(axis=0)
    best = tuple(heat(shared[i]) for i in np.unique(best_by_k(means)))
    exponent, factor = (float(rates[0]) for rates in power_laws(temperatures, ks, means[None]))
    n = np.concatenate([rates.n for rates in shared])
    model, _, *groups = shared[0].series
    fact = Fact(
        (model, "", *groups), "pass@k", None, Estimate(None, reason=_why_not(best), share=False),
        size=Size(len(values), int(n.min()), int(n.max())), method="percentile",
        level=confidence.level, more={"fact": "power law", "factor": None},
    )  # fmt: skip
    if math.isnan(exponent):
        return Law(best, k_max, fact)
    draws = bootstrap_means(
        values.reshape(len(values), -1), confidence.resamples, confidence.seed,
        clusters=shared[0].clusters,
    ).reshape(-1, *means.shape)  # fmt: skip
    estimate = _with_limits(exponent, power_laws(temperatures, ks, draws)[0], confidence.level)
    return Law(best, k_max, replace(fact, estimate=estimate, more={**fact.more, "factor": factor}))


def _with_limits(exponent: float, draws: NDArray[np.float64], level: float) -> Estimate:
    """The exponent with the limits that its draws give, or why they give none."""
    finite = np.isfinite(draws)
    if finite.mean() < _MOSTLY:
        reason = (
            f"without an interval: in {100 * (1 - finite.mean()):.0f} % of the resamples T* takes"
            f" fewer than {FEWEST_TEMPERATURES} temperatures"
        )
        return Estimate(exponent, reason=reason, share=False)
    tail = (1 - level) / 2
    low, high = np.quantile(draws[finite], [tail, 1 - tail])
    return Estimate(exponent, low=float(low), high=float(high), share=False)


def _why_not(best: Sequence[str]) -> str:
    return (
        f"not fitted: T* takes {plural(len(best), 'value')} ({', '.join(best)}); a power law needs"
        f" {FEWEST_TEMPERATURES} above 0"
    )


@dataclass(frozen=True)
class Temperatures:
    """Temperatures of models, judged together.

    values : of each series × metric.  facts : their means.  compared : all comparisons, of two
    temperatures of a model and of two models.  verdicts, leads, laws : see there.
    """

    values: list[TaskValues]
    facts: list[Fact]
    compared: list[Comparison]
    verdicts: list[Verdict]
    leads: list[Lead]
    laws: list[Law]


def temperatures_of(study: Study) -> Temperatures:
    """Best temperatures with their tests, models against each other, power laws.

    study : of counts with the temperature as first group, as `by_temperature` makes them.
    All comparisons, of temperatures and of models, are adjusted together.
    Errors: ParameterError when no model has values at two temperatures.
    """
    confidence = study.confidence
    values = study.values(only=_order(study))
    rivals = gather(values)
    if not rivals:
        raise ParameterError(_nothing(values))
    own = temperature_pairs(rivals)
    compared = compare_pairs([*own, *model_pairs(values, rivals)], confidence, study.rules)
    verdicts = judge(rivals, compared[: len(own)], confidence)
    leads = leads_of(compared[len(own) :], rivals)
    rates = any(metric.family == "pass@" for metric in study.metrics)
    laws = laws_of(values, confidence) if rates else []
    facts = _estimates(study.facts_of(values), verdicts)
    return Temperatures(values, facts, compared, verdicts, leads, laws)


def _nothing(values: Sequence[TaskValues]) -> str:
    """Why no two temperatures can be compared."""
    heats = {heat(rates) for rates in values}
    if len(heats) == 1:
        return f"nothing to compare: the only temperature is {heats.pop()}"
    reasons = [rates.reason for rates in values if not rates.there]
    why = reasons[0] if reasons else "no model has two, or no task is shared by them"
    return f"nothing to compare between temperatures: {why}; passk estimate shows what there is"


def _order(study: Study) -> list[int]:
    """Series by model, the one with the best pass rate at some temperature first, then by the
    number the temperature is."""
    series = study.counts.series
    best: dict[Series, float] = {}
    for name, rate in zip(series, study.pass_rates, strict=True):
        best[model_of(name)] = max(rate, best.get(model_of(name), 0.0))
    keys = [(-best[model_of(name)], model_of(name), float(name[1])) for name in series]
    return sorted(range(len(series)), key=keys.__getitem__)


def _estimates(facts: Sequence[Fact], verdicts: Sequence[Verdict]) -> list[Fact]:
    """The estimates with the shares of resamples in which they come first; best temperatures say
    so, and are marked when they are significantly better than every other."""
    shares = {(v.rivals.metric.name, series): s for v in verdicts for series, s in v.shares.items()}
    alone = {(v.rivals.metric.name, v.rivals.best.series): not v.alike for v in verdicts}
    words = {None: "", False: "best", True: "best, alone"}
    return [
        replace(
            fact,
            estimate=replace(fact.estimate, marked=alone.get((fact.name, fact.series), False)),
            verdict=words[alone.get((fact.name, fact.series))],
            more={"fact": "estimate", "leads": shares.get((fact.name, fact.series))},
        )
        for fact in facts
    ]
