"""The temperatures of one model at one metric, and which of them is best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from passk_cli.laws.temperature import best_by_k
from passk_cli.metrics.registry import Metric
from passk_cli.report.model import Cell, Column, Table
from passk_cli.study.comparison import Comparison
from passk_cli.study.confidence import Confidence
from passk_cli.study.lead import on_shared_tasks, shares_of_lead
from passk_cli.study.pairs import BETTER
from passk_cli.study.pivot import head
from passk_cli.study.values import Series, TaskValues

Pairs = list[tuple[TaskValues, TaskValues]]


@dataclass(frozen=True)
class Rivals:
    """One model (and group) at one metric: its temperatures that have values, increasing.

    model : the model and its groups, without the temperature.
    shared : the same on the tasks that all of them have; T* and shares of the lead rest on these.
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
    against : the best against each other one, the runner-up first.
    """

    rivals: Rivals
    shares: dict[Series, float | None]
    against: tuple[Comparison, ...]

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
        verdicts.append(Verdict(model, dict(zip(series, shares, strict=True)), against))
    return verdicts


def best_table(groups: Sequence[str], verdicts: Sequence[Verdict], confidence: Confidence) -> Table:
    """T*(k) of each model, and how it stands against the next best temperature."""
    columns = (
        *head(groups), Column("metric"), Column("T*"), Column("leads", "share"), Column("next"),
        Column("difference", "share", True), Column("p", "p", True), Column("tied with T*"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for v in verdicts:
        best, runner_up = v.rivals.best, v.against[0]
        difference = runner_up.fact(confidence)
        rows.append(
            (
                *v.rivals.model, v.rivals.metric.name, heat(best), v.shares[best.series],
                heat(runner_up.second), difference.estimate, difference.p_adjusted,
                ", ".join(v.alike),
            )
        )  # fmt: skip
    return Table(
        columns,
        tuple(rows),
        "Best temperature T*, and its difference to the next best",
    )
