"""The temperatures of one model at one metric, and which of them is best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.laws.temperature import best_by_k
from passk_cli.report.model import Cell, Column, Estimate, Table
from passk_cli.report.pairs import BETTER, Comparison
from passk_cli.report.resampled_lead import shared_tasks, shares_of_lead
from passk_cli.report.samples import Measured, Uncertainty

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from passk_cli.metrics.registry import Metric
    from passk_cli.outcomes.counts import Counts

Pairs = list[tuple[Measured, Measured]]


@dataclass(frozen=True)
class Rivals:
    """One model (and group) at one metric: its temperatures that have values, increasing.

    model : the model and its groups, without the temperature.
    tasks : those that every temperature has; T* and shares of the lead rest on them.
    """

    model: tuple[str, ...]
    metric: Metric
    measured: tuple[Measured, ...]
    tasks: NDArray[np.int64]

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """(tasks × temperatures)."""
        columns = [np.asarray(one.values)[np.isin(one.tasks, self.tasks)] for one in self.measured]
        return np.stack(columns, axis=1)

    @cached_property
    def best(self) -> Measured:
        """T*: the highest mean; of equal ones, the lowest temperature."""
        means = self.values.mean(axis=0)
        return self.measured[int(best_by_k(means[:, None])[0])]

    @property
    def ranked(self) -> list[Measured]:
        """The best first."""
        order = np.argsort(-self.values.mean(axis=0), kind="stable")
        rest = [self.measured[i] for i in order if self.measured[i] is not self.best]
        return [self.best, *rest]

    def shares(self, counts: Counts, how: Uncertainty) -> dict[tuple[str, ...], float | None]:
        """Series → share of the resamples of the tasks in which its temperature is in the lead.

        None where attempts differ between the temperatures.
        """
        names = [one.series for one in self.measured]
        return dict(zip(names, shares_of_lead(counts, self.measured, how), strict=True))


@dataclass(frozen=True)
class Verdict:
    """T* against the other temperatures of the same model at the same metric.

    against : the best against each other one, the runner-up first.
    """

    rivals: Rivals
    shares: dict[tuple[str, ...], float | None]
    against: tuple[Comparison, ...]

    @property
    def alike(self) -> list[str]:
        """The temperatures that cannot be told apart from T*, increasing."""
        same = [heat(c.second) for c in self.against if c.verdict != BETTER]
        return sorted(same, key=float)


def heat(one: Measured) -> str:
    """The temperature, which is the first group."""
    return one.series[1]


def model_of(one: Measured) -> tuple[str, ...]:
    """The model and its groups, without the temperature."""
    return (one.series[0], *one.series[2:])


def gather(measured: Sequence[Measured]) -> list[Rivals]:
    """Per model and metric the temperatures that have values, where there are two or more."""
    cells: dict[tuple[tuple[str, ...], Metric], list[Measured]] = {}
    for one in measured:
        if one.values is not None:
            cells.setdefault((model_of(one), one.metric), []).append(one)
    found = []
    for (model, metric), mine in cells.items():
        mine.sort(key=lambda one: float(heat(one)))
        shared = shared_tasks(mine)
        if len(mine) > 1 and len(shared):
            found.append(Rivals(model, metric, tuple(mine), shared))
    return found


def temperature_pairs(found: Sequence[Rivals]) -> Pairs:
    """Every two temperatures of a model at a metric, the better one first."""
    return [
        (a, b)
        for rivals in found
        for i, a in enumerate(rivals.ranked)
        for b in rivals.ranked[i + 1 :]
    ]


def judge(
    counts: Counts, found: Sequence[Rivals], compared: Sequence[Comparison], how: Uncertainty
) -> list[Verdict]:
    """T* of each, with the comparisons that are about it."""
    own = {(c.first.metric, c.first.series, c.second.series): c for c in compared}
    verdicts = []
    for rivals in found:
        best, *others = rivals.ranked
        against = tuple(own[rivals.metric, best.series, one.series] for one in others)
        verdicts.append(Verdict(rivals, rivals.shares(counts, how), against))
    return verdicts


def best_table(counts: Counts, verdicts: Sequence[Verdict]) -> Table:
    """T*(k) of each model, and how it stands against the next best temperature."""
    columns = (
        Column("model"), *(Column(g) for g in counts.group_names[1:]), Column("metric"),
        Column("T*"), Column("leads", "share"), Column("next"),
        Column("difference", "share", True), Column("p", "p", True),
        Column("not told apart"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for v in verdicts:
        best, runner_up = v.rivals.best, v.against[0]
        limits = runner_up.interval
        low, high = (None, None) if limits is None else (limits.low, limits.high)
        shown = Estimate(runner_up.difference, low=low, high=high, signed=True)
        rows.append(
            (
                *v.rivals.model, v.rivals.metric.name, heat(best), v.shares[best.series],
                heat(runner_up.second), shown,
                runner_up.adjusted if runner_up.testable else None, ", ".join(v.alike),
            )
        )  # fmt: skip
    return Table(
        columns,
        tuple(rows),
        "best temperature T*, its share of resamples in the lead, its difference to the next",
    )
