"""The k at which the curve of one model crosses the curve of another model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from passk_cli.arrays import Floats
from passk_cli.inference.bootstrap_weights import bootstrap_means
from passk_cli.inference.ranking import first_k_of_lead_change
from passk_cli.limits import refuse_many_attempts
from passk_cli.metrics.pass_k import pass_at_and_hat_curves
from passk_cli.metrics.registry import task_values
from passk_cli.report.data_types import Column
from passk_cli.report.phrases import SeriesName
from passk_cli.report.plot import Plot, curves
from passk_cli.study.answer import Answer
from passk_cli.study.comparison import Comparison
from passk_cli.study.confidence import Confidence
from passk_cli.study.section import (
    AGAINST_MODEL_COLUMN,
    GROUP_VALUES_COLUMN,
    MODEL_COLUMN,
    ReportSection,
)
from passk_cli.study.values import SeriesKey, TaskValues
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix


@dataclass(frozen=True)
class Crossing:
    """The k at which the curve of one model overtakes the curve of another model.

    k : first k at which the lead changes, or infinity if the curves do not cross up to k_max.
    low, high : confidence limits of k.  The limits are NaN if the models have different numbers of
        attempts, because resampled curves would then cross too often.
    mean_curves : values of both curves at k = 1 … k_max.
    """

    series: SeriesKey
    against: str
    family: str
    k: float
    low: float
    high: float
    k_max: int
    mean_curves: tuple[Floats, Floats]

    @property
    def k_text(self) -> str:
        return f"none up to k = {self.k_max}" if math.isinf(self.k) else f"k = {self.k:.0f}"

    @property
    def limits_text(self) -> str | None:
        if math.isnan(self.low):
            return None
        low, high = (f"{v:.0f}" if math.isfinite(v) else "none" for v in (self.low, self.high))
        return f"none up to k = {self.k_max}" if low == high == "none" else f"[{low}, {high}]"

    @property
    def sentence_fields(self) -> dict[str, Any]:
        return {
            "curve": f"{self.family}k", "model": SeriesName((self.against, *self.series[1:])),
            "against": SeriesName(self.series), "k": int(self.k), "limits": self.limits_text,
        }  # fmt: skip


def find_crossings(
    comparisons: Sequence[Comparison], confidence: Confidence
) -> dict[tuple[SeriesKey, SeriesKey, str], Crossing]:
    crossings: dict[tuple[SeriesKey, SeriesKey, str], Crossing] = {}
    tail = (1 - confidence.level) / 2
    for c in comparisons:
        family = c.first.metric.family
        key = (c.first.series, c.second.series, family)
        if key in crossings or c.reason or not c.first.metric.definition.has_k:
            continue
        shared = [rates.restrict(c.tasks) for rates in (c.first, c.second)]
        k_max = min(int(rates.n.min()) for rates in shared)
        refuse_many_attempts(
            OptionWithValue("--crossings"), k_max, SuggestedFix({"--crossings": None})
        )
        first, second = (_metric_over_k(rates, k_max) for rates in shared)
        gap, low, high = first - second, math.nan, math.nan
        if not c.attempts_differ:
            draws = (confidence.resamples, confidence.seed)
            crossed = first_k_of_lead_change(bootstrap_means(gap, *draws, clusters=c.clusters))
            low, high = np.quantile(crossed, [tail, 1 - tail], method="inverted_cdf").tolist()
        at = float(first_k_of_lead_change(gap.mean(axis=0, keepdims=True))[0])
        crossings[key] = Crossing(
            c.first.series, c.second.series[0], family, at, low, high, k_max,
            (first.mean(axis=0), second.mean(axis=0)),
        )  # fmt: skip
    return crossings


def _metric_over_k(rates: TaskValues, k_max: int) -> Floats:
    metric = rates.metric
    if metric.family in ("pass@", "pass^"):
        at, hat = pass_at_and_hat_curves(rates.n, rates.c, k_max)
        return at if metric.family == "pass@" else hat
    metrics_over_k = [replace(metric, k=k) for k in range(1, k_max + 1)]
    attempts = (
        {} if rates.attempts is None else {metric.definition.required_attempt_data: rates.attempts}
    )
    return task_values(metrics_over_k, rates.n, rates.c, attempts).T


_OVERTAKES_CLAUSE = "On {curve}, {model} overtakes {against} at k = {k}{?limits| {limits}}"


class CrossingTable(ReportSection[Crossing]):
    """A row per pair of models and kind of curve, with the k at which the two curves cross."""

    title = "The k at which one model overtakes the other"
    columns = (
        MODEL_COLUMN, AGAINST_MODEL_COLUMN, GROUP_VALUES_COLUMN,
        Column("curve", meaning="The metric at every k.",
            cell_of_record=lambda cross: f"{cross.family}k"),
        Column("crosses at", meaning="First k at which the other model is ahead.",
               cell_of_record=lambda cross: cross.k_text),
        Column("interval", meaning="Interval of the k at which the curves cross, from resamples of"
               " the tasks. none means that one model is ahead at every k. The cell is empty if the"
               " models have different numbers of attempts.",
               cell_of_record=lambda cross: cross.limits_text),
    )  # fmt: skip

    answers = (
        Answer("no-crossing", lambda section: not section.crossings_found,
               "No two curves cross up to k = {most}.",
               lambda section: {"most": max(cross.k_max for cross in section.records)}),
        Answer("crossing", lambda _: True, _OVERTAKES_CLAUSE + "{?more|; {more:more crossing}}.",
               lambda section: {
                   **section.crossings_found[0].sentence_fields,
                   "more": 0 if section.has_two_crossing_pairs
                   else len(section.crossings_found) - 1}),
    )  # fmt: skip
    further_answers = (
        Answer("second-crossing", lambda section: section.has_two_crossing_pairs,
            _OVERTAKES_CLAUSE + ".",
               lambda section: section.crossings_found[1].sentence_fields),
    )  # fmt: skip

    @property
    def crossings_found(self) -> list[Crossing]:
        return [cross for cross in self.records if math.isfinite(cross.k)]

    @property
    def has_two_crossing_pairs(self) -> bool:
        return len(self.crossings_found) == 2

    def footer_parts(self) -> Iterator[str]:
        if any(math.isnan(cross.low) for cross in self.records):
            yield "–: different numbers of attempts"

    def plots(self) -> tuple[Plot, ...]:
        curves_of: dict[tuple[str, str], Floats] = {}
        points = []
        for cross in self.records:
            model, *groups = cross.series
            names = [SeriesName((name, *groups)) for name in (model, cross.against)]
            for name, means in zip(names, cross.mean_curves, strict=True):
                curves_of.setdefault((f"{cross.family}k", name), means)
            if math.isfinite(cross.k):
                height = float(cross.mean_curves[1][int(cross.k) - 1])
                points.append({"curve": f"{cross.family}k", "model": names[1], "k": int(cross.k),
                               "value": height})  # fmt: skip
        rows = [
            {"curve": curve, "model": name, "k": k, "value": float(value)}
            for (curve, name), means in curves_of.items()
            for k, value in enumerate(means, 1)
        ]
        several = len({curve for curve, _ in curves_of}) > 1
        title, subtitle = self.title, "" if points else "no curve crosses another"
        return (
            curves(
                rows, x="k", y="value", colour="model", facet="curve" if several else "",
                hollow=points, keys={"points": "overtakes another"} if points else {},
                marked=[1, 10, 100, 1000, *{cross.k_max for cross in self.records}],
                title=title, subtitle=subtitle, x_title="k (attempts)",
                y_title="" if several else next(iter(curves_of))[0],
            ),
        )  # fmt: skip
