"""Bootstrap distributions: every metric of every model, with the limits of several methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from passk_cli.inference.intervals import GUARDED, GUARDED_T, METHODS, TANGO, check
from passk_cli.inference.populations import NEW_TASKS, THESE_TASKS
from passk_cli.inference.ranking import lead_shares
from passk_cli.metrics.registry import Metric
from passk_cli.outcomes.counts import Counts
from passk_cli.report.model import Limits
from passk_cli.study.confidence import Confidence
from passk_cli.study.fact import Fact
from passk_cli.study.lead import attempts_agree, on_shared_tasks, resampled_means
from passk_cli.study.study import Study
from passk_cli.study.values import Series, TaskValues

Draws = NDArray[np.float64]

USUAL = {
    NEW_TASKS: ("guard", "percentile", "bca", "t"),
    THESE_TASKS: ("hull", "jackknife", "percentile"),
}


@dataclass(frozen=True)
class Distribution:
    """A model × metric: its draws and what follows from them.

    estimates : its mean with the limits of each method.
    leads : share of the draws in which the model is first at this metric (in its group), ties
        shared; None where attempts differ between the models.
    """

    values: TaskValues
    draws: Draws
    estimates: tuple[Fact, ...]
    leads: float | None = None

    @property
    def series(self) -> Series:
        """The model and its groups."""
        return self.values.series

    @property
    def rivals(self) -> tuple[object, ...]:
        """The metric and the group, which models that are compared share."""
        return (self.values.metric, *self.values.series[1:])

    @property
    def bias(self) -> float:
        """Mean of the draws minus the estimate."""
        return float(self.draws.mean()) - self.values.mean

    @property
    def se(self) -> float:
        """Standard deviation of the draws."""
        return float(self.draws.std(ddof=1))

    @property
    def shares(self) -> tuple[float | None, float | None]:
        """Shares of the variance from tasks and from attempts; None where unknown."""
        within = self.values.share_within
        return (None if within is None else 1 - within), within

    def limits(self, method: str) -> Limits | None:
        """The limits that a method gives."""
        for fact in self.estimates:
            if fact.method == method:
                return Limits(fact.estimate.low, fact.estimate.high, fact.flaw)
        return None

    @property
    def facts(self) -> Iterator[Fact]:
        """Its tidy rows, one per method."""
        tasks, attempts = self.shares
        more = {"bias": self.bias, "leads": self.leads, "share_tasks": tasks,
                "share_attempts": attempts}  # fmt: skip
        return (replace(fact, se=self.se, more=more) for fact in self.estimates)


def choose_methods(counts: Counts, names: Sequence[str], confidence: Confidence) -> tuple[str, ...]:
    """Methods of intervals: those named, "all" that apply, or the usual ones without names."""
    population, level = confidence.population, confidence.level
    if tuple(names) == ("all",):
        single = int(counts.n.max()) == 1 and counts.clusters is None
        suitable = [m for m, method in METHODS.items() if population in method.populations]
        others = () if single else ("wilson", "clopper-pearson")
        return tuple(m for m in suitable if m not in (GUARDED_T, TANGO, *others))
    if not names:
        return USUAL[population]
    return tuple(check(name, level, population) for name in names)


def applicable(metric: Metric, methods: Sequence[str], confidence: Confidence) -> tuple[str, ...]:
    """The methods that a metric allows; without known bounds BCa replaces those that need them."""
    if metric.bounds is not None or confidence.bounds is not None:
        return tuple(methods)
    return tuple(dict.fromkeys("bca" if m in GUARDED else m for m in methods))


def distributions(
    study: Study, values: Iterable[TaskValues], methods: Sequence[str], kind: str
) -> list[Distribution]:
    """The distributions of all numbers that have a value, in their order.

    methods : of intervals.  kind : of the weights of resamples.
    """
    confidence = study.confidence
    estimable = [rates for rates in values if rates.there]
    draws = _draws(estimable, confidence, kind)
    distributions = []
    for rates, means in zip(estimable, draws, strict=True):
        suitable = applicable(rates.metric, methods, confidence)
        estimates = (study.fact(rates, replace(confidence, interval=method)) for method in suitable)
        distributions.append(Distribution(rates, means, tuple(estimates)))
    return _with_leads(distributions, confidence, kind)


def _draws(values: Sequence[TaskValues], confidence: Confidence, kind: str) -> list[Draws]:
    """Draws of each number; numbers over the same tasks share the weights of tasks."""
    if confidence.population != NEW_TASKS:
        return [rates.attempt_draws(confidence) for rates in values]
    together: dict[bytes, list[int]] = {}
    for i, rates in enumerate(values):
        together.setdefault(rates.tasks.tobytes(), []).append(i)
    draws: dict[int, Draws] = {}
    for places in together.values():
        means = resampled_means([values[i] for i in places], confidence, kind)
        draws |= dict(zip(places, means.T, strict=True))
    return [draws[i] for i in range(len(values))]


def _with_leads(
    distributions: Sequence[Distribution], confidence: Confidence, kind: str
) -> list[Distribution]:
    """Distributions with the share of the draws in which each is first in its group at its metric.

    None where attempts differ between models: see `lead.attempts_agree`.
    """
    leads: dict[int, float] = {}
    for places in rivals_of(distributions).values():
        models = [distributions[i].values for i in places]
        if len(places) < 2 or not attempts_agree(models):
            continue
        draws = np.stack([distributions[i].draws for i in places], axis=1)
        if confidence.population == NEW_TASKS and len({m.tasks.tobytes() for m in models}) > 1:
            shared = on_shared_tasks(models)
            if not len(shared[0].tasks):
                continue
            draws = resampled_means(shared, confidence, kind)
        leads |= dict(zip(places, lead_shares(draws).tolist(), strict=True))
    return [replace(d, leads=leads.get(i)) for i, d in enumerate(distributions)]


def rivals_of(distributions: Sequence[Distribution]) -> dict[tuple[object, ...], list[int]]:
    """Metric and group → the places of the distributions that are compared with each other."""
    rivals: dict[tuple[object, ...], list[int]] = {}
    for i, d in enumerate(distributions):
        rivals.setdefault(d.rivals, []).append(i)
    return rivals


def draw_columns(counts: Counts, distributions: Sequence[Distribution]) -> dict[str, Any]:
    """The draws as columns: resample, model, groups, metric, value; one row per draw."""
    count = len(distributions[0].draws) if distributions else 0

    def repeated(texts: list[str]) -> NDArray[np.object_]:
        return np.repeat(np.array(texts, dtype=object), count)

    columns: dict[str, Any] = {"resample": np.tile(np.arange(count), len(distributions))}
    for place, name in enumerate(("model", *counts.group_names)):
        columns[name] = repeated([d.values.series[place] for d in distributions])
    columns["metric"] = repeated([d.values.metric.name for d in distributions])
    draws = [d.draws for d in distributions]
    return {**columns, "value": np.concatenate(draws) if draws else np.empty(0)}
